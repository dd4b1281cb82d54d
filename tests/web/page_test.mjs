// The live page in headless Chromium: node page_test.mjs NOTEG WEB_FOLDER [--pictures FOLDER] [--only WORD]
// WEB_FOLDER is what ./dev web builds (build/web). Exit status 77 where page, browser or packages are missing.
import { createRequire } from "node:module";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { loadavg, cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [noteg, folder, ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const web = resolve(folder), file = join(web, "noteg.html"), pictures = option("--pictures"), only = option("--only");
const skip = (why) => { console.log(`skipped: ${why}`); process.exit(77); };

const chromium = [process.env.NOTEG_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((each) => each && existsSync(each));
if (!existsSync(file)) skip(`no live page (${file}); ./dev web builds it`);
if (!chromium) skip("no Chromium");
const require = createRequire(join(web, "node/node_modules/"));
let puppeteer;
try { puppeteer = require("puppeteer-core"); } catch { skip("no puppeteer-core; ./dev web installs it"); }
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let failures = 0;
const check = (holds, text) => {
  console.log(`${holds ? "ok    " : "FAILED"} ${text}`);
  if (!holds) ++failures;
};
const isBusy = () => loadavg()[0] > 0.75 * cpus().length;
const load = () => `load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`;
// A time is a claim about a machine that has nothing else to do; elsewhere it is said, not judged.
const timed = (holds, text) => check(holds || isBusy(), `${text}${isBusy() ? `, not judged: ${load()}` : ""}`);

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"], protocolTimeout: 240000 });
const address = pathToFileURL(file).href;

async function open({ hash = "", width = 1280, height = 900, dark = false } = {}) {
  const page = await browser.newPage();
  const wrong = [], requests = [];
  page.on("console", (message) => { if (["error", "warn"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) requests.push(request.url()); });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  page.setDefaultTimeout(240000);  // on a machine that is busy with other things
  const began = Date.now();
  await page.goto(address + hash, { timeout: 240000 });
  await page.waitForSelector('[data-key="time_us"]', { timeout: 240000 });
  return { page, wrong, requests, first: Date.now() - began };
}
const settle = (page) => page.waitForFunction("!window.noteg.isBusy.value && window.noteg.answers.value.every((each) => each && (each.errors || !each.isEstimate))", { timeout: 240000, polling: 50 });
const native = (words) => spawnSync(noteg, ["simulate", ...words, "--format", "json"], { encoding: "utf8" });

async function opensFromDisk() {
  const { page, wrong, requests, first } = await open();
  await settle(page);
  check(statSync(file).size <= 1.5 * 1024 * 1024, `one file of ${(statSync(file).size / 1048576).toFixed(2)} MiB, at most 1.5`);
  timed(first < 1500, `the first answer after ${first} ms, below 1500`);
  check(wrong.length === 0, `no error, no warning${wrong.length ? ": " + wrong.join("; ") : ""}`);
  check(requests.length === 0, `no request${requests.length ? ": " + requests.join(" ") : ""}`);
  await page.close();
}

// Moves of a hand: one each 16 ms, the answer to a move on the page when the next frame is drawn.
async function drags() {
  const { page } = await open({ hash: "#gpu=rtx4090,h100-sxm5-80gb&kernel=hgemm_128x128x32&shape=4096x4096x4096" });
  await settle(page);
  const times = await page.evaluate(async () => {
    const { change, moves, isBusy } = window.noteg, frame = () => new Promise(requestAnimationFrame);
    moves.length = 0;
    for (const axis of ["m", "n", "k"])
      for (let i = 0; i < 40; ++i) {
        const before = moves.length;
        change({ [axis]: 1024 + 64 * i });
        do await frame(); while (moves.length === before);
      }
    return [...moves];
  });
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
  timed(at(0.5) < 33 && at(0.95) < 100, `dragging M, N, K with two GPUs: median ${at(0.5).toFixed(1)} ms (below 33), 95 of 100 below ${at(0.95).toFixed(1)} ms (100), ${times.length} moves`);
  await page.close();
}

// The same draws every time: a linear congruence.
function draws(seed) {
  let state = seed;
  return (list) => { state = (state * 1103515245 + 12345) % 2147483648; return list[Math.floor((state / 2147483648) * list.length)]; };
}

function randomCase(draw) {
  const kernels = { sm_90: ["hgemm_128x128x32", "sgemm_128x128x8", "cublas_128x128"], other: ["hgemm_128x128x32", "sgemm_128x128x8", "blocked_128x128x8", "cublas_128x128", "igemm_256x128x64"] };
  const gpu = draw(["rtx4070", "rtx4090", "l4", "a100-pcie-40gb", "h100-sxm5-80gb", "h200-sxm-141gb", "rtx3090", "a10", "l40s", "a30"]);
  const sizes = [1, 17, 64, 100, 128, 256, 384, 512, 777, 1000, 1024, 1536, 2048, 3000, 4096, 5120];
  const words = ["--arch", gpu, "--kernel", draw(gpu.startsWith("h") ? kernels.sm_90 : kernels.other), "--shape", `${draw(sizes) * 8}x${draw(sizes) * 8}x${draw(sizes) * 8}`.replace(/\d{6,}/g, "32768")];
  if (draw([0, 0, 0, 1])) words.push("--batch", String(draw([2, 3, 8])));
  if (draw([0, 0, 1])) words.push("--clock-mode", draw(["burst", "cool"]));
  if (draw([0, 0, 0, 1])) words.push("--set", draw(["dram=infinite", "power=infinite", "arch.l2.size=16MiB", "core.rfc=off"]));
  return words;
}

async function saysWhatTheProgramSays() {
  const { page } = await open();
  await settle(page);
  const draw = draws(20261124);
  let same = 0, refused = 0;
  const differ = [];
  for (let i = 0; i < 40; ++i) {
    const words = randomCase(draw), here = native(words);
    const there = await page.evaluate((all) => window.noteg.ask({ ask: "run", depth: "full", words: all }), words);
    const text = there.startsWith('{"errors"') ? null : there.slice(there.indexOf("\n") + 1);
    if (text === null && here.status === 2) ++refused;
    if (text === null ? here.status === 2 : text === here.stdout) ++same;
    else differ.push(words.join(" "));
  }
  check(same === 40, `JSON of 40 random cases as the program's: ${same} (${refused} refused by both)${differ.length ? "; not: " + differ.join("; ") : ""}`);
  await page.close();
}

// Each figure of the page has its key and exact value beside it; the command in the footer gives the same.
async function figuresAreTheJson() {
  for (const hash of ["#gpu=rtx4070&kernel=sgemm_128x128x8&shape=3000x2000x1024&tab=energy", "#gpu=h200-sxm-141gb&kernel=hgemm_128x128x32&shape=4096x4096x4096&clock=burst&tab=energy"]) {
    const { page } = await open({ hash });
    await settle(page);
    for (const summary of await page.$$("details.table > summary")) await summary.click();
    const { command, values } = await page.evaluate(() => ({
      command: document.getElementById("command").textContent,
      values: [...document.querySelectorAll("data[data-key]")].map((each) => [each.dataset.key, Number(each.value)]),
    }));
    const words = command.replace(/^noteg simulate /, "").split(" ").map((word) => word.replace(/^'|'$/g, ""));
    const report = JSON.parse(execFileSync(noteg, ["simulate", ...words, "--explain", "--format", "json"], { encoding: "utf8" }));
    const expected = (key) => {
      if (key === "dram") return report.memory.dram_read_bytes + report.memory.dram_write_bytes;
      if (key.startsWith("explain.")) return report.explain.find((each) => each.limit === key.slice(8))?.gain_pct;
      return key.split(".").reduce((value, part) => value?.[part], report);
    };
    const wrong = values.filter(([key, value]) => expected(key) !== value);
    check(values.length > 30 && wrong.length === 0, `${values.length} figures are the JSON of "${command}"${wrong.length ? "; not: " + wrong.map(([key, value]) => `${key} ${value} ${expected(key)}`).join("; ") : ""}`);
    await page.close();
  }
}

const data = join(fileURLToPath(import.meta.url), "../../data/compiled");
const launch = `kernel: g_smem32
grid: [16, 16, 1]
block: [32, 32, 1]
args: [{i32: 512}, {i32: 512}, {i32: 512}, {buffer: A, bytes: 1 MiB}, {buffer: B, bytes: 1 MiB}, {buffer: C, bytes: 1 MiB}]
`;

// A listing pasted into the kernel field: the program's figures, its dear instructions, and these on the timeline.
async function runsAListing() {
  const listing = gunzipSync(readFileSync(join(data, "own_sm90a.sass.gz"))).toString(), folder = mkdtempSync(join(tmpdir(), "noteg-"));
  writeFileSync(join(folder, "kernel.sass"), listing);
  writeFileSync(join(folder, "launch.yaml"), launch);
  const { page, wrong } = await open({ hash: "#gpu=h200-sxm-141gb&shape=1024x1024x1024" });
  await settle(page);
  await page.evaluate((kernel, how) => window.noteg.change({ kernel, launch: how }), listing, launch);
  await page.waitForSelector(".listing tr[tabindex]", { timeout: 240000 });
  await settle(page);
  const here = JSON.parse(native(["--arch", "h200-sxm-141gb", "--sass", join(folder, "kernel.sass"), "--launch", join(folder, "launch.yaml")]).stdout);
  const there = await page.evaluate(() => window.noteg.answers.value[0].report);
  check(JSON.stringify(here) === JSON.stringify(there), `a pasted listing: ${there?.time_us} us, the JSON of the program`);
  const rows = await page.$$(".listing tr[tabindex]");
  const shares = await page.$$eval(".listing tr[tabindex] data", (all) => all.map((each) => Number(each.value)));
  check(rows.length > 10 && shares.every((each, i) => i === 0 || each <= shares[i - 1]), `${rows.length} instructions, dearest first`);
  await rows[0].focus();
  await page.waitForSelector(".listing tr.at");
  check((await page.$eval(".said", (each) => each.textContent)).includes("of all warp cycles"), "an instruction lights itself on the timeline");
  const box = await (await page.$("canvas.canvas")).boundingBox();
  let lit = 0;
  for (let i = 0; i < 40 && !lit; ++i) {
    await page.mouse.move(box.x + 60 + 16 * i, box.y + 28);
    lit = (await page.$$(".listing tr.at")).length;
  }
  check(lit > 0, "the timeline lights an instruction");
  check(wrong.length === 0, `no error with a listing${wrong.length ? ": " + wrong.join("; ") : ""}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
  check(serious.length === 0, `axe-core, a listing: no serious violation${serious.map((each) => `; ${each.id}`).join("")}`);
  if (pictures) mkdirSync(pictures, { recursive: true });
  if (pictures) await page.screenshot({ path: join(pictures, "listing.png"), fullPage: true });
  await page.close();
}

// The link of a report carries its command.
async function opensACommand() {
  const command = "noteg simulate --arch l4 --kernel kernels/library/sgemm_128x128x8.yaml --shape 512x640x768 --batch 2 --clock-mode burst --set arch.l2.size=24MiB --set dram=infinite";
  const { page } = await open({ hash: `#command=${encodeURIComponent(command)}` });
  await settle(page);
  const line = await page.$eval("#command", (each) => each.textContent);
  check(line === command.replace("kernels/library/sgemm_128x128x8.yaml", "sgemm_128x128x8").replace(" --set arch.l2.size=24MiB --set dram=infinite", " --set dram=infinite --set arch.l2.size=24MiB"), `a report's command opens: ${line}`);
  await page.close();
}

// What no control shows stays in the command; what the page cannot do is told.
async function keepsTheWordsOfACommand() {
  for (const words of [
    "--arch L4 --family simt --tile 64x64x8 --layout tn --shape 512x640x768 --split-k 2 --l2 cold",
    "--arch 'NVIDIA L4' --kernel-name ampere_sgemm_128x64_tn --shape 512x640x768 --clock 1.2GHz --operands zeros",
  ]) {
    const { page } = await open({ hash: `#command=${encodeURIComponent(`noteg simulate ${words} --explain`)}` });
    await settle(page);
    const here = JSON.parse(native(words.split(/ (?=--)/).flatMap((each) => [each.slice(0, each.indexOf(" ")), each.slice(each.indexOf(" ") + 1).replaceAll("'", "")])).stdout);
    const there = await page.evaluate(() => window.noteg.answers.value.map((each) => each.report?.time_us));
    check(there.length === 1 && there[0] === here.time_us, `"${words}": ${there} us, the program's ${here.time_us}`);
    const hash = await page.evaluate(() => location.hash);
    await page.goto(address + hash);
    await page.reload();
    await page.waitForSelector('[data-key="time_us"]');
    await settle(page);
    check((await page.evaluate(() => window.noteg.answers.value[0].report?.time_us)) === here.time_us, "its permalink says the same");
    await page.close();
  }
  const { page } = await open({ hash: `#command=${encodeURIComponent("noteg compare --arch l4 --arch mine.yaml --arch l4:l2.size=0.01GiB --kernel sgemm_128x128x8 --shape 512x640x768")}&tab=whatif` });
  await settle(page);
  check((await page.$eval("#beside", (each) => each.textContent)).includes("--arch mine.yaml"), "a GPU file of one's own is told to be left out");
  await page.evaluate(() => window.noteg.change({ tab: "whatif" }));
  await page.waitForSelector(".what output");
  check((await page.$eval(".what output", (each) => each.textContent)) === "0.01GiB", "a what-if value is shown as it was written");
  for (const wrong of ["0", "-3", "2000000", "1e99", ""]) {
    await page.$eval('input[aria-label="M"]', (field, text) => { field.value = text; field.dispatchEvent(new Event("change", { bubbles: true })); }, wrong);
    check((await page.$eval('input[aria-label="M"]', (field) => field.value)) === "512", `"${wrong}" is no M: the field says what is simulated`);
  }
  await page.close();
}

async function obeysTheKeyboard() {
  const { page } = await open({ hash: "#gpu=rtx4070,l4&kernel=sgemm_128x128x8&shape=2048x2048x2048" });
  await settle(page);
  const seen = [];
  for (let i = 0; i < 160; ++i) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return null;
      const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent.trim() || e.getAttribute("aria-labelledby");
      const style = getComputedStyle(e);
      return { tag: e.tagName, id: e.id, type: e.type, name: (name ?? "").slice(0, 60), ring: style.outlineStyle !== "none" || e.closest(".segments") !== null };
    });
    if (!at) break;
    seen.push(at);
  }
  const names = seen.map((each) => each.name).join(" | ");
  check(seen.every((each) => each.name), `every stop of ${seen.length} has a name${seen.filter((each) => !each.name).map((each) => " " + each.tag).join("")}`);
  check(seen.every((each) => each.ring), "every stop shows that it has the focus");
  for (const wanted of ["show its details", "Kernel", "M, slider", "batch", "M of the run, on the sweep", "gains", "Timeline", "the command", "Copy", "JSON"])
    check(names.includes(wanted), `the keyboard reaches "${wanted}"`);
  const before = await page.evaluate(() => window.noteg.state.value.m);
  await page.focus('input[aria-label="M, slider"]');
  await page.keyboard.press("ArrowRight");
  const slid = await page.evaluate(() => window.noteg.state.value.m);
  check(slid > before, `an arrow on the slider moves M from ${before} to ${slid}`);
  await page.focus('[role="slider"]');
  await page.keyboard.press("ArrowLeft");
  check((await page.evaluate(() => window.noteg.state.value.m)) < slid, "an arrow on the dot of the sweep moves M back");
  await page.focus("#tab-timeline");
  await page.keyboard.press("ArrowRight");
  check((await page.evaluate(() => window.noteg.state.value.tab)) === "source", "an arrow goes to the next tab");
  await settle(page);  // the list of limits is drawn anew with the answer
  await page.focus(".toggle");
  await page.keyboard.press("Space");
  check((await page.evaluate(() => window.noteg.state.value.off.length)) === 1, "the space bar takes a limit away");
  await settle(page);
  check((await page.$eval("#spoken", (each) => each.textContent)).includes("TFLOP/s"), "the answer is spoken");
  const hash = await page.evaluate(() => location.hash);
  check(/off=/.test(hash) && /tab=source/.test(hash), `the address holds it all: ${hash}`);
  await page.close();
}

async function isAccessible() {
  for (const [dark, tab] of [[false, "timeline"], [true, "source"], [false, "energy"], [true, "whatif"], [false, "compare"]]) {
    const { page } = await open({ dark, hash: `#gpu=rtx4070,l4&kernel=sgemm_128x128x8&shape=2048x2048x2048&tab=${tab}` });
    await settle(page);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
    check(serious.length === 0, `axe-core, ${dark ? "dark" : "light"}, ${tab}: no serious violation${serious.map((each) => `; ${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" ")}`).join("")}`);
    await page.close();
  }
}

async function takesPictures() {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  for (const [name, width, height, dark] of [["wide-light", 1280, 900, false], ["wide-dark", 1280, 900, true], ["phone-light", 390, 844, false], ["phone-dark", 390, 844, true]]) {
    const { page } = await open({ width, height, dark });
    await settle(page);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(over <= 0, `${name}: nothing sticks out (${over} pixels)`);
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    await page.close();
  }
}

for (const test of [opensFromDisk, drags, saysWhatTheProgramSays, figuresAreTheJson, runsAListing, opensACommand, keepsTheWordsOfACommand, obeysTheKeyboard, isAccessible, takesPictures])
  if (!only || test.name.includes(only)) {
    console.log(`-- ${test.name}`);
    try { await test(); } catch (error) { check(false, error.stack); }
  }
await browser.close();
console.log(failures ? `${failures} failed` : "all passed");
process.exit(failures ? 1 : 0);
