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
  return words;
}

const quoted = (word) => (/^[\w./:=%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
export const commandLine = (words, command = "simulate") =>
  ["noteg", command, ...words].map(quoted).join(" ").replaceAll(pastedFile, "kernel.yaml").replaceAll(pastedSass, "kernel.sass").replaceAll(pastedLaunch, "launch.yaml");

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
  if (Object.keys(s.whatif).length) out.set("what-if", Object.entries(s.whatif).map(([k, v]) => `${k}=${v}`).join(","));
  return "#" + out.toString();
}

const whole = (text, otherwise, most = 2147483647) => {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= most ? number : otherwise;
};

// A command line as a report carries it: its words, and what they choose. What the page does not know is left out.
const wordsOf = (line) => [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, inQuotes, plain]) => plain ?? inQuotes.replaceAll("'\\''", "'"));

function fromCommand(line, known) {
  const words = wordsOf(line), s = { ...usual, gpus: [], off: [], whatif: {} };
  for (let i = 0; i + 1 < words.length; ++i) {
    const value = words[i + 1], at = value.indexOf("=");
    if (words[i] === "--arch" && known.includes(value) && s.gpus.length < mostGpus) s.gpus.push(value);
    if (words[i] === "--kernel") s.kernel = value.replace(/^.*\//, "").replace(/\.yaml$/, "");
    if (words[i] === "--kernel-name") s.kernel = value;
    if (words[i] === "--shape" && /^\d+x\d+x\d+$/.test(value)) [s.m, s.n, s.k] = value.split("x").map(Number);
    if (words[i] === "--batch") s.batch = whole(value, 1);
    if (words[i] === "--clock-mode" && ["sustained", "cool", "burst"].includes(value)) s.clock = value;
    if (words[i] === "--set" && at > 0 && value.startsWith("arch.")) s.whatif[value.slice(5, at)] = value.slice(at + 1);
    else if (words[i] === "--set" && at > 0) s.off.push(value);
  }
  return { ...s, gpus: s.gpus.length ? s.gpus : usual.gpus };
}

export function fromHash(hash, known) {
  const read = new URLSearchParams(hash.replace(/^#/, ""));
  if (read.get("command")) return fromCommand(read.get("command"), known);
  const s = { ...usual };
  const gpus = (read.get("gpu") ?? "").split(",").filter((id) => known.includes(id)).slice(0, mostGpus);
  if (gpus.length) s.gpus = gpus;
  if (read.get("kernel")) s.kernel = read.get("kernel");
  const shape = (read.get("shape") ?? "").split("x");
  if (shape.length === 3) ["m", "n", "k"].forEach((axis, i) => { s[axis] = whole(shape[i], s[axis]); });
  s.batch = whole(read.get("batch"), 1);
  if (["sustained", "cool", "burst"].includes(read.get("clock"))) s.clock = read.get("clock");
  if (["m", "n", "k"].includes(read.get("axis"))) s.axis = read.get("axis");
  if (read.get("tab")) s.tab = read.get("tab");
  s.focus = Math.min(Math.max(0, Number(read.get("focus")) || 0), s.gpus.length - 1);
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
