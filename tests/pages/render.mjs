// Opens reports in headless Chromium, light and dark, wide and as narrow as a phone, and checks that every chart is
// drawn, that nothing complains, that nothing is asked of any network, and that the page fits its width.
//   node render.mjs [--pictures FOLDER] REPORT.html ...
// Exit status: 0 all is well, 1 something is not, 77 no Chromium here (the test counts as skipped).
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, Tab, find_chromium } from "./browser.mjs";

const views = [
  { name: "light", width: 1280, height: 900, dark: false },
  { name: "dark", width: 1280, height: 900, dark: true },
  { name: "phone", width: 390, height: 844, dark: false },
  { name: "phone-dark", width: 390, height: 844, dark: true },
];

// Runs inside the page.
const examine = `(() => {
  const wrong = [];
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const drawn = typeof Chart === "undefined" ? 0 : Object.keys(Chart.instances).length;
  if (typeof Chart !== "undefined" && drawn !== specs.length) wrong.push(drawn + " of " + specs.length + " charts drawn");
  for (const figure of document.querySelectorAll("figure")) {
    if (!figure.querySelector("details table tbody tr")) wrong.push(figure.id + ": no table behind it");
    if (typeof Chart === "undefined") continue;
    const canvas = figure.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    if (!data.some((byte) => byte !== 0)) wrong.push(figure.id + ": nothing on the canvas");
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth + 1) wrong.push("the page is " + wide + " wide in a window of " + window.innerWidth);
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id is there twice");
  return { wrong, height: document.documentElement.scrollHeight };
})()`;

const words = process.argv.slice(2);
const pictures = words[0] === "--pictures" ? words.splice(0, 2)[1] : null;
const program = find_chromium();
if (!program) {
  console.log("skipped: no Chromium here (Debian: chromium; or name one in NOTEG_CHROMIUM)");
  process.exit(77);
}
if (pictures) mkdirSync(pictures, { recursive: true });

const browser = new Browser(program);
let failures = 0;
try {
  for (const file of words) {
    const url = pathToFileURL(resolve(file)).href;
    for (const view of views) {
      const tab = await Tab.open(browser, view);
      await tab.go(url);
      const { wrong, height } = await tab.ask(examine);
      const asked = tab.requests.filter((each) => each !== url && !each.startsWith("data:"));
      const found = [...wrong, ...tab.complaints, ...asked.map((each) => "asked for " + each)];
      console.log(`${basename(file)} ${view.name}: ${found.length === 0 ? "ok" : found.join("; ")}`);
      failures += found.length;
      if (!pictures) continue;
      await tab.send("Emulation.setDeviceMetricsOverride",
        { width: view.width, height, deviceScaleFactor: 1, mobile: view.width < 600 });
      writeFileSync(join(pictures, `${basename(file, ".html")}-${view.name}.png`), await tab.picture(true));
    }
  }
} finally {
  await browser.close();
}
process.exit(failures === 0 ? 0 : 1);
