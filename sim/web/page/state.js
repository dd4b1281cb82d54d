// What the visitor has chosen, as one value: it is the address behind the # (a permalink), and it is the words of the
// command line. Nothing else decides what is shown.
import { computed, signal } from "@preact/signals";

export const usual = {
  gpus: ["rtx4090", "h100-sxm5-80gb"],
  kernel: "hgemm_128x128x32",
  launch: `grid: [16, 16, 1]
block: [32, 32, 1]
args: [{i32: 512}, {i32: 512}, {i32: 512}, {buffer: A, bytes: 1 MiB}, {buffer: B, bytes: 1 MiB}, {buffer: C, bytes: 1 MiB}]
`,            // of a listing
  m: 4096, n: 4096, k: 4096, batch: 1,
  clock: "sustained",
  axis: "m",
  focus: 0,
  tab: "timeline",
  off: [],      // switches: "dram=off"
  whatif: {},   // keys of the focused GPU's file: {"l2.size": "24MiB"}
  more: [],     // words of a command line that no control shows: ["--layout", "tn"]
  left: [],     // what a command line says that this page cannot show
};

export const state = signal(usual);
export const change = (part) => { state.value = { ...state.value, ...part }; };
export const mostGpus = 4;

// ---- sizes: a slider moves along these; the field beside it takes any number
const ladder = [[16, 512, 16], [512, 2048, 64], [2048, 8192, 128], [8192, 32768, 512]];
export const sizes = ladder.flatMap(([from, to, step]) =>
  Array.from({ length: (to - from) / step }, (_, i) => from + i * step)).concat([32768]);
export const batches = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
export const nearest = (list, value) =>
  list.reduce((best, each, i) => (Math.abs(each - value) < Math.abs(list[best] - value) ? i : best), 0);

// ---- the kernel field takes a shipped kernel's name, a profiler's name, a configuration, or a listing
export function kindOf(text, shipped) {
  const plain = text.trim();
  if (plain === "") return "none";
  if (/\/\*[0-9a-f]{4}\*\/|^\s*\.headerflags|Function\s*:/m.test(plain)) return "listing";
  if (plain.includes("\n") || /^[a-z_]+:\s/.test(plain)) return "configuration";
  return shipped.includes(plain) ? "shipped" : "name";
}

export const pastedFile = "/noteg/pasted.yaml", pastedSass = "/noteg/pasted.sass", pastedLaunch = "/noteg/launch.yaml";
export const isListing = (s) => kindOf(s.kernel, []) === "listing";

export function kernelWords(text, shipped) {
  const kind = kindOf(text, shipped);
  if (kind === "none") return [];  // more says it: --family, --tile
  if (kind === "configuration") return ["--kernel", pastedFile];
  if (kind === "listing") return ["--sass", pastedSass, "--launch", pastedLaunch];
  return [kind === "shipped" ? "--kernel" : "--kernel-name", text.trim()];
}

export function wordsFor(s, gpuIndex, shipped) {
  const words = ["--arch", s.gpus[gpuIndex], ...kernelWords(s.kernel, shipped)], isGemm = !isListing(s);
  if (isGemm) words.push("--shape", `${s.m}x${s.n}x${s.k}`);
  if (isGemm && s.batch !== 1) words.push("--batch", String(s.batch));
  if (s.clock !== "sustained") words.push("--clock-mode", s.clock);
  for (const each of s.off) words.push("--set", each);
  if (gpuIndex === s.focus)
    for (const [key, value] of Object.entries(s.whatif)) words.push("--set", `arch.${key}=${value}`);
  return [...words, ...(isGemm ? s.more : [])];
}

const quoted = (word) => (/^[\w./:=%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
export const lineOf = (words) => words.map(quoted).join(" ");
export const commandLine = (words, command = "simulate") =>
  lineOf(["noteg", command, ...words]).replaceAll(pastedFile, "kernel.yaml").replaceAll(pastedSass, "kernel.sass").replaceAll(pastedLaunch, "launch.yaml");

export function compareWords(s, shipped) {
  const words = wordsFor({ ...s, whatif: {} }, 0, shipped).slice(2);
  const labels = s.gpus.map((gpu, i) =>
    i === s.focus ? [gpu, ...Object.entries(s.whatif).map(([key, value]) => `${key}=${value}`)].join(":") : gpu);
  if (Object.keys(s.whatif).length > 0 && s.gpus.length === 1) labels.unshift(s.gpus[0]);
  return [...labels.flatMap((each) => ["--arch", each]), ...words];
}

// ---- the address
export function toHash(s) {
  const out = new URLSearchParams();
  out.set("gpu", s.gpus.join(","));
  if (!isListing(s)) out.set("kernel", s.kernel);  // a listing is longer than an address may be
  out.set("shape", `${s.m}x${s.n}x${s.k}`);
  for (const key of ["batch", "clock", "axis", "focus", "tab"])
    if (String(s[key]) !== String(usual[key])) out.set(key, s[key]);
  if (s.off.length) out.set("off", s.off.join(","));
  if (s.more.length) out.set("more", lineOf(s.more));
  if (Object.keys(s.whatif).length) out.set("what-if", Object.entries(s.whatif).map(([k, v]) => `${k}=${v}`).join(","));
  return "#" + out.toString();
}

const whole = (text, otherwise, most = 2147483647) => {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= most ? number : otherwise;
};

// A command line as a report carries it: its words, and what they choose. What no control shows stays a word of the
// command; what the page cannot say at all is told.
const wordsOf = (line) => [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, inQuotes, plain]) => plain ?? inQuotes.replaceAll("'\\''", "'"));
const isExtents = (text) => /^\d+x\d+x\d+$/.test(text) && text.split("x").every((each) => whole(each, 0) > 0);
const flags = ["--explain", "--estimate", "--exact", "--no-waterfall", "--quiet", "--strict", "--timeline"];
const beside = ["--explain", "--estimate", "--no-waterfall", "--quiet", "--format", "--jobs"];  // say nothing of the run

// "l4", "L4", "NVIDIA L4", or a copy with keys changed, "l4:l2.size=24MiB".
function gpuOf(text, gpus) {
  const [name, ...keys] = text.split(":"), wanted = name.toLowerCase();
  const gpu = gpus.find((each) => [each.id, each.name, ...each.names].some((known) => known.toLowerCase() === wanted));
  const pairs = keys.map((key) => [key.slice(0, key.indexOf("=")), key.slice(key.indexOf("=") + 1)]);
  return gpu && { id: gpu.id, whatif: Object.fromEntries(pairs) };
}

function fromCommand(line, gpus) {
  const words = wordsOf(line), s = { ...usual, kernel: "", gpus: [], off: [], whatif: {}, more: [], left: [] };
  const isCommand = words[0] === "noteg" && ["simulate", "compare"].includes(words[1]);
  for (let i = isCommand ? 2 : 0; i < words.length; ++i) {
    const at = words[i].indexOf("="), name = at < 0 ? words[i] : words[i].slice(0, at);
    const value = flags.includes(name) ? "" : at < 0 ? words[++i] ?? "" : words[i].slice(at + 1), pair = value.indexOf("=");
    if (name === "--arch") {
      const gpu = gpuOf(value, gpus), isChanged = gpu && Object.keys(gpu.whatif).length > 0;
      if (!gpu || s.gpus.length >= mostGpus || (isChanged && Object.keys(s.whatif).length > 0)) s.left.push(`--arch ${value}`);
      else if (!s.gpus.includes(gpu.id)) s.gpus.push(gpu.id);
      if (isChanged && Object.keys(s.whatif).length === 0) { s.whatif = gpu.whatif; s.focus = s.gpus.indexOf(gpu.id); }
    } else if (name === "--kernel" && value !== "auto") s.kernel = value.replace(/^.*\//, "").replace(/\.yaml$/, "");
    else if (name === "--kernel-name") s.kernel = value;
    else if (name === "--shape" && isExtents(value)) [s.m, s.n, s.k] = value.split("x").map(Number);
    else if (name === "--batch" && whole(value, 0) > 0) s.batch = whole(value, 1);
    else if (name === "--clock-mode" && ["sustained", "cool", "burst"].includes(value)) s.clock = value;
    else if (name === "--set" && value.startsWith("arch.") && pair > 0 && words[1] === "simulate") s.whatif[value.slice(5, pair)] = value.slice(pair + 1);
    else if (name === "--set" && pair > 0 && !value.startsWith("arch.")) s.off.push(value);
    else if (["--sass", "--cubin", "--launch", "--asm", "--memory", "--experts", "--power-limits"].includes(name) || value === "auto") s.left.push(`${name} ${value}`);
    else if (name.startsWith("--") && !beside.includes(name)) s.more.push(name, ...(flags.includes(name) ? [] : [value]));
  }
  if (!s.kernel && !s.more.includes("--family")) s.kernel = usual.kernel;
  return { ...s, gpus: s.gpus.length ? s.gpus : usual.gpus };
}

export function fromHash(hash, all) {
  const read = new URLSearchParams(hash.replace(/^#/, ""));
  if (read.get("command")) return fromCommand(read.get("command"), all);
  const s = { ...usual, more: wordsOf(read.get("more") ?? "") };
  const named = (read.get("gpu") ?? "").split(",").map((text) => gpuOf(text, all)?.id).filter(Boolean);
  const gpus = [...new Set(named)].slice(0, mostGpus);
  if (gpus.length) s.gpus = gpus;
  if (read.get("kernel") || s.more.includes("--family")) s.kernel = read.get("kernel") ?? "";
  const shape = (read.get("shape") ?? "").split("x");
  if (shape.length === 3) ["m", "n", "k"].forEach((axis, i) => { s[axis] = whole(shape[i], s[axis]); });
  s.batch = whole(read.get("batch"), 1);
  if (["sustained", "cool", "burst"].includes(read.get("clock"))) s.clock = read.get("clock");
  if (["m", "n", "k"].includes(read.get("axis"))) s.axis = read.get("axis");
  if (read.get("tab")) s.tab = read.get("tab");
  s.focus = Math.min(whole(read.get("focus"), 0), s.gpus.length - 1);
  s.off = (read.get("off") ?? "").split(",").filter(Boolean);
  for (const pair of (read.get("what-if") ?? "").split(",").filter(Boolean)) {
    const at = pair.indexOf("=");
    if (at > 0) s.whatif = { ...s.whatif, [pair.slice(0, at)]: pair.slice(at + 1) };
  }
  return s;
}

// ---- what came out
export const about = signal(null);
export const answers = signal([]);      // by GPU: {words, facts, report, text, errors, isEstimate}
export const sweeps = signal({});       // by key of sweepKey(): Map of x to point
export const watched = signal(null);    // {key, data}
export const occupancy = signal(null);
export const comparison = signal(null);
export const isBusy = signal(false);
export const shipped = computed(() => (about.value?.kernels ?? []).map((each) => each.name));
export const focused = computed(() => answers.value[state.value.focus] ?? null);
