// Series colours of the live page and of reports stay apart for people who see two of the three primaries: between
// neighbours, CIEDE2000 of at least 12 under simulated protanopia, deuteranopia and tritanopia, and as they are.
// The simulation: Machado, Oliveira, Fernandes 2009, severity 1, on linear light. node colours.mjs ROOT
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.argv[2], least = 12;
const sights = {
  usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const seen = (rgb, m) => [0, 3, 6].map((i) => Math.min(1, Math.max(0, m[i] * rgb[0] + m[i + 1] * rgb[1] + m[i + 2] * rgb[2])));

function lab([r, g, b]) {  // D65
  const f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
  const [x, y, z] = [(0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function ciede2000([l1, a1, b1], [l2, a2, b2]) {
  const rad = Math.PI / 180, mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const c1 = Math.hypot(a1 * (1 + g), b1), c2 = Math.hypot(a2 * (1 + g), b2);
  const angle = (a, b) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
  const h1 = angle(a1 * (1 + g), b1), h2 = angle(a2 * (1 + g), b2);
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * rad), l = (l1 + l2) / 2, c = (c1 + c2) / 2;
  let h = c1 * c2 === 0 ? h1 + h2 : (h1 + h2) / 2;
  if (c1 * c2 !== 0 && Math.abs(h1 - h2) > 180) h += h1 + h2 < 360 ? 180 : -180;
  const t = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2), sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const turn = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad);
  const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
  return Math.sqrt(x * x + y * y + z * z + turn * y * z);
}

// A style sheet's colours by the name of their variable: the light ones first, the dark ones behind them.
function palettes(file, prefix, names) {
  const text = readFileSync(join(root, file), "utf8");
  return [0, 1].map((which) => names.map((name) => [...text.matchAll(new RegExp(`--${prefix}${name}: (#[0-9a-f]{6})`, "g"))][which][1]));
}

const sets = [
  ["GPUs of the live page", ...palettes("sim/web/page/style.css", "g", [1, 2, 3, 4])],
  ["units of the timeline", ...palettes("sim/web/page/style.css", "u-", ["fma", "tensor", "memory", "alu", "other"])],
  ["series of reports", ...palettes("sim/pages/assets/report.css", "s", [1, 2, 3, 4, 5, 6, 7, 8])],
];
let failures = 0;
for (const [name, ...themes] of sets)
  themes.forEach((colours, dark) => {
    for (const [sight, matrix] of Object.entries(sights)) {
      const labs = colours.map((hex) => lab(seen(linear(hex), matrix)));
      const gaps = labs.slice(1).map((each, i) => ciede2000(labs[i], each)), worst = Math.min(...gaps), at = gaps.indexOf(worst);
      const holds = worst >= least;
      if (!holds) ++failures;
      console.log(`${holds ? "ok    " : "FAILED"} ${name}, ${dark ? "dark" : "light"}, ${sight}: ${worst.toFixed(1)} between ${colours[at]} and ${colours[at + 1]}`);
    }
  });
process.exit(failures ? 1 : 0);
