// The command line that gives the same figures, the address of this very state, the figures as files, and how far to
// trust them.
import { useState } from "preact/hooks";
import { about, answers, commandLine, focused, isListing, shipped, state, toHash, wordsFor } from "./state.js";
import { digits, percent, save, time } from "./parts.jsx";

const flat = (value, path = "", out = {}) => {
  for (const [key, each] of Object.entries(value)) {
    const name = path ? `${path}.${key}` : key;
    if (key === "explain" || key === "roof_to_run_us") continue;
    if (each !== null && typeof each === "object") flat(each, name, out);
    else out[name] = each;
  }
  return out;
};
const cell = (value) => (value == null ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

function csv() {
  const rows = answers.value.filter((each) => each?.report).map((each) => flat(each.report));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names.map(cell).join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n") + "\n";
}

function json() {
  const texts = answers.value.filter((each) => each?.report).map((each) => each.text);
  return texts.length === 1 ? texts[0] : `[\n${texts.map((text) => text.trimEnd()).join(",\n")}\n]\n`;
}

// The sweep as drawn, under a title that says what it shows.
function png() {
  const from = document.querySelector("#sweep canvas"), ratio = window.devicePixelRatio || 1, s = state.value;
  if (!from) return;
  const to = document.createElement("canvas"), style = getComputedStyle(document.documentElement), head = 70 * ratio;
  to.width = from.width + 24 * ratio;
  to.height = from.height + head + 12 * ratio;
  const g = to.getContext("2d");
  g.fillStyle = style.getPropertyValue("--surface");
  g.fillRect(0, 0, to.width, to.height);
  g.fillStyle = style.getPropertyValue("--ink");
  g.font = `600 ${15 * ratio}px system-ui`;
  g.fillText(`${s.kernel.split("\n")[0]}, ${s.m} x ${s.n} x ${s.k}, batch ${s.batch}`, 12 * ratio, 24 * ratio);
  g.font = `${12.5 * ratio}px system-ui`;
  answers.value.forEach((each, i) => {
    if (!each?.report) return;
    g.fillStyle = style.getPropertyValue(`--g${i + 1}`);
    const x = (12 + i * 230) * ratio;
    g.fillRect(x, 38 * ratio, 10 * ratio, 10 * ratio);
    g.fillStyle = style.getPropertyValue("--ink");
    g.fillText(`${each.facts.name}: ${time(each.report.time_us)}, ${digits(each.report.tflops)} TFLOP/s`, x + 15 * ratio, 47 * ratio);
  });
  g.drawImage(from, 12 * ratio, head);
  to.toBlob((blob) => save("noteg.png", "image/png", blob));
}

export function Footer() {
  const s = state.value, r = focused.value?.report, [said, setSaid] = useState("");
  const line = commandLine(wordsFor(s, s.focus, shipped.value));
  const copy = (text, what) => navigator.clipboard?.writeText(text).then(() => setSaid(`${what} copied`), () => setSaid("the browser does not let a page copy here"));
  const trust = r && (r.confidence.validated_mape == null ? `Not validated: ${r.confidence.on.replace(/^none: (not validated, )?/, "")}` : `Validated on ${r.confidence.on}, mean error ${percent(r.confidence.validated_mape)}`);
  return (
    <footer>
      <div class="line"><pre id="command" tabIndex={0} aria-label="the command that prints these figures">{line}</pre>
        <button class="button" onClick={() => copy(line, "the command")}>Copy</button></div>
      <div class="tools">
        <a class="permalink" href={toHash(s)}>Permalink</a>
        <button class="button" onClick={() => copy(location.href.split("#")[0] + toHash(s), "the address")}>Copy link</button>
        <button class="button" onClick={() => save("noteg.json", "application/json", json())}>JSON</button>
        <button class="button" onClick={() => save("noteg.csv", "text/csv", csv())}>CSV</button>
        <button class="button" onClick={png}>PNG</button>
        {isListing(s) && <span class="note">The listing is not in the link: it stays in this page.</span>}
        <span role="status">{said}</span>
      </div>
      {r && <p id="trust">{r.confidence.on ? `${trust}; ${r.confidence.because}.` : "Compiled code: no measured runs say how sure."} {r.engine.exact ? "Every cycle was stepped through." : `${digits(r.engine.simulated_cycles)} cycles of an SM were stepped through, the rest extrapolated.`}</p>}
      <p>NoteG simulates {about.value.gpus.length} GPUs in this page; nothing is sent anywhere. The charts use uPlot, d3 and preact (MIT, ISC), the workers Comlink (Apache-2.0).</p>
    </footer>
  );
}
