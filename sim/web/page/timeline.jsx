// What the warps of an SM do, cycle by cycle, beside the listing: an issue lights its line, and the lines whose results
// it waited for. The source view is the same listing with its stalls.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { watched } from "./state.js";
import { Legend, Table, Value, colourOf, inWords, percent, useWidth } from "./parts.jsx";

// Kinds of units in the order of kernels::Unit.
const kinds = ["fma", "fma", "alu", "fma", "alu", "fma", "alu", "other", "memory", "tensor", "other", "other"];
const kindNames = [["fma", "floating point"], ["tensor", "tensor"], ["memory", "memory"], ["alu", "integer"], ["other", "control"]];
const rowHeight = 15, head = 20, leftOf = 56;

export const at = signal(null);  // {pc, from: pcs, text}: what is looked at

const producersOf = (data, pc) => data.code[pc]?.from ?? [];

// also: other places of the same instruction of a listing.
function look(data, pc, says = "", also = []) {
  at.value = pc == null ? null : { pc, also, from: producersOf(data, pc), says };
}

// Where a warp is at a cycle: its issue, or its wait and the instruction that waits.
function stateAt(data, warp, cycle) {
  const { issues, waits } = warp;
  let next = 0;
  while (next < issues.length && issues[next] < cycle) next += 2;
  if (issues[next] === cycle) return { pc: issues[next + 1], says: "issues" };
  for (let i = 0; i < waits.length; i += 3)
    if (waits[i] <= cycle && cycle < waits[i + 1]) {
      const reason = data.reasons[waits[i + 2]];
      return { pc: issues[next + 1], reason, says: `waits: ${reason.says} (${waits[i + 1] - waits[i]} cycles)` };
    }
  return null;
}

function draw(canvas, data, warps, view, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const g = canvas.getContext("2d"), perCycle = (width - leftOf) / (view.to - view.from);
  g.scale(ratio, ratio);
  g.font = "11px system-ui";
  const unit = Object.fromEntries(kindNames.map(([name]) => [name, colourOf(`--u-${name}`)]));
  const wait = colourOf("--wait"), design = colourOf("--sunk"), ink = colourOf("--ink-2"), grid = colourOf("--grid"), tail = colourOf("--tail");
  const x = (cycle) => leftOf + (cycle - view.from) * perCycle;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((each) => each * perCycle >= 60) ?? 20000;
  g.fillStyle = ink;
  for (let cycle = Math.ceil(view.from / step) * step; cycle < view.to; cycle += step) {
    g.fillStyle = grid; g.fillRect(x(cycle), head - 6, 1, height);
    g.fillStyle = ink; g.fillText(String(cycle - data.begin), x(cycle) + 2, 11);
  }
  warps.forEach((warp, row) => {
    const y = head + row * rowHeight;
    g.fillStyle = ink;
    g.fillText(`${warp.sub} · ${warp.warp}`, 2, y + 11);
    for (let i = 0; i < warp.waits.length; i += 3) {
      const from = Math.max(view.from, warp.waits[i]), until = Math.min(view.to, warp.waits[i + 1]);
      if (until <= from) continue;
      const name = data.reasons[warp.waits[i + 2]].name;
      const isMemory = ["long_scoreboard", "async_copy"].includes(name);
      g.globalAlpha = isMemory ? 0.35 : 1;
      g.fillStyle = isMemory ? tail : ["by_design", "drained", "not_selected"].includes(name) ? design : wait;
      g.fillRect(x(from), y + 5, Math.max(0.4, (until - from) * perCycle), 4);
    }
    g.globalAlpha = 1;
    for (let i = 0; i < warp.issues.length; i += 2) {
      const cycle = warp.issues[i];
      if (cycle < view.from || cycle >= view.to) continue;
      const pc = warp.issues[i + 1], isIt = at.value && (at.value.pc === pc || at.value.also.includes(pc)), lit = isIt || at.value?.from.includes(pc);
      g.fillStyle = unit[kinds[data.code[pc].unit]];
      g.fillRect(x(cycle), y + (lit ? 0 : 1.5), Math.max(0.8, perCycle - (perCycle > 3 ? 0.6 : 0)), lit ? 14 : 11);
      if (lit) { g.fillStyle = isIt ? ink : tail; g.fillRect(x(cycle), y + 13, Math.max(1.5, perCycle), 2); }
    }
  });
}

const order = (data) => [...data.warps].sort((a, b) => a.sub - b.sub || a.warp - b.warp).filter((each) => each.issues.length || each.waits.length).slice(0, 32);

export function Timeline() {
  const data = watched.value?.data;
  const [place, width] = useWidth(760), canvas = useRef(null);
  const [view, setView] = useState(null), [cursor, setCursor] = useState(0);
  useEffect(() => { if (data?.begin != null) setView({ from: data.begin, to: Math.min(data.end, data.begin + 400) }); at.value = null; }, [data]);
  const isReady = data?.code && view, warps = isReady ? order(data) : [];
  const height = head + warps.length * rowHeight + 2;
  useEffect(() => { if (isReady) draw(canvas.current, data, warps, view, width, height); });
  if (!data) return <p class="note" ref={place}>The warps are watched…</p>;
  if (data.errors) return <p class="errors" ref={place}>{data.errors.join(" ")}</p>;
  if (!isReady) return <p ref={place} />;
  const span = view.to - view.from;
  const move = (by) => { const from = Math.max(data.begin, Math.min(data.end - span, view.from + by)); setView({ from, to: from + span }); };
  const zoom = (factor) => {
    const wide = Math.max(20, Math.min(data.end - data.begin, span * factor)), middle = (view.from + view.to) / 2;
    const from = Math.max(data.begin, Math.min(data.end - wide, middle - wide / 2));
    setView({ from, to: from + wide });
  };
  const find = (row, cycle) => {
    const warp = warps[row], found = warp && stateAt(data, warp, Math.floor(cycle));
    look(data, found?.pc, found ? `cycle ${Math.floor(cycle) - data.begin}, warp ${warp.warp} of sub-core ${warp.sub}: ${found.says}` : "");
  };
  const hover = (event) => {
    const box = canvas.current.getBoundingClientRect();
    find(Math.floor((event.clientY - box.top - head) / rowHeight), view.from + ((event.clientX - box.left - leftOf) / (width - leftOf)) * span);
  };
  const jump = (steps) => {  // the first warp's issues, one after the other
    const issues = warps[0]?.issues ?? [], next = Math.max(0, Math.min(issues.length / 2 - 1, cursor + steps));
    setCursor(next);
    const cycle = issues[2 * next];
    if (cycle < view.from || cycle >= view.to) { const from = Math.max(data.begin, Math.min(data.end - span, cycle - span / 3)); setView({ from, to: from + span }); }
    find(0, cycle);
  };
  return (
    <div class="split">
      <div ref={place}>
        <div class="tools">
          <button class="button" onClick={() => move(-span / 3)}>← earlier</button><button class="button" onClick={() => move(span / 3)}>later →</button>
          <button class="button" onClick={() => zoom(0.5)} aria-label="closer">+</button><button class="button" onClick={() => zoom(2)} aria-label="wider">−</button>
          <button class="button" onClick={() => jump(-1)}>previous issue</button><button class="button" onClick={() => jump(1)}>next issue</button>
          <Legend items={[...kindNames.map(([name, says]) => [`var(--u-${name})`, says]), ["var(--wait)", "waits"], ["color-mix(in srgb, var(--tail) 40%, transparent)", "waits for memory"]]} />
        </div>
        <canvas ref={canvas} class="canvas" style={{ height }} role="img" aria-label="Warps over cycles: what each issues and waits for; the table below and the listing say the same"
          onPointerMove={hover} onPointerLeave={() => look(data, null)}
          onWheel={(event) => { if (event.ctrlKey || event.shiftKey) { event.preventDefault(); event.shiftKey ? move(Math.sign(event.deltaY || event.deltaX) * span / 8) : zoom(event.deltaY > 0 ? 1.25 : 0.8); } }} />
        <p class="said" aria-live="polite">{at.value?.says || `${data.hot ? "The first wave of CTAs" : "Iterations 2 and 3 of the main loop"}, cycles 0 to ${data.end - data.begin} of one SM; a row is a warp (sub-core · warp). Hover, or step from issue to issue.`}</p>
        <details class="table"><summary>Table</summary><WarpTable data={data} warps={warps} /></details>
      </div>
      {data.hot ? <Hot data={data} /> : <Listing data={data} />}
    </div>
  );
}

function WarpTable({ data, warps }) {
  const rows = warps.map((warp) => {
    const sums = {};
    for (let i = 0; i < warp.waits.length; i += 3) {
      const name = data.reasons[warp.waits[i + 2]].name;
      sums[name] = (sums[name] ?? 0) + warp.waits[i + 1] - warp.waits[i];
    }
    const most = Object.entries(sums).sort((a, b) => b[1] - a[1])[0];
    return [`sub-core ${warp.sub}, warp ${warp.warp}`, warp.issues.length / 2, Object.values(sums).reduce((a, b) => a + b, 0), most ? `${inWords(most[0])} (${most[1]})` : "–"];
  });
  return <Table caption="Each warp in the window" head={["warp", "issues", "cycles waiting", "most of it"]} rows={rows} />;
}

function rowClass(pc) {
  return at.value?.pc === pc ? "at" : at.value?.from.includes(pc) ? "from" : "";
}

function Listing({ data }) {
  const box = useRef(null), pc = at.value?.pc;
  useEffect(() => {
    const row = box.current?.querySelector("tr.at");
    if (row && !box.current.matches(":hover")) box.current.scrollTop = row.offsetTop - box.current.clientHeight / 2;
  }, [pc]);
  return (
    <div class="listing mono" ref={box} tabIndex={0} role="region" aria-label="Listing">
      <table><thead><tr><th scope="col">instruction</th><th scope="col">issues</th></tr></thead>
        <tbody>{data.code.map((each, i) => (each.issues > 0 || rowClass(i)) && (
          <tr class={rowClass(i)} onPointerEnter={() => look(data, i, `instruction ${i}`)}><td>{each.text}</td><td class="n">{each.issues}</td></tr>
        ))}</tbody></table>
    </div>
  );
}

// The instructions of a pasted listing by the warp cycles that they cost in the launch, linked with the timeline.
function Hot({ data }) {
  const [byHeat, setByHeat] = useState(true), box = useRef(null), pc = at.value?.pc;
  useEffect(() => {
    const row = box.current?.querySelector("tr.at");
    if (row && !box.current.matches(":hover")) box.current.scrollTop = row.offsetTop - box.current.clientHeight / 2;
  }, [pc]);
  const all = Math.max(1, data.hot.reduce((sum, each) => sum + each.samples, 0)), most = Math.max(1, ...data.hot.map((each) => each.samples));
  const shown = byHeat ? [...data.hot].sort((a, b) => b.samples - a.samples) : data.hot;
  const lights = (each) => (each.at.includes(pc) ? "at" : each.at.some((place) => at.value?.from.includes(place)) ? "from" : "");
  const seen = (each) => look(data, each.at[0], `${each.address} ${each.text}: ${percent(each.samples / all)} of all warp cycles`, each.at);
  const reasons = (each) => Object.entries(each.waits).filter(([name]) => name !== "selected").sort((a, b) => b[1] - a[1]).slice(0, 2);
  return (
    <div>
      <div class="tools" style={{ marginBottom: 6 }}>
        <button class="button" aria-pressed={byHeat} onClick={() => setByHeat(!byHeat)}>{byHeat ? "in the order of the listing" : "dearest first"}</button>
      </div>
      <div class="listing mono" ref={box} tabIndex={0} role="region" aria-label="Instructions of the listing with what they cost">
        <table>
          <thead><tr><th scope="col">address</th><th scope="col">share</th><th scope="col">instruction</th><th scope="col">waits for</th><th scope="col" class="n">warp cycles</th><th scope="col" class="n">executions</th></tr></thead>
          <tbody>{shown.map((each) => (
            <tr key={each.address} class={lights(each)} tabIndex={0} onPointerEnter={() => seen(each)} onFocus={() => seen(each)}>
              <td>{each.address}</td><td><i class="heat" style={{ width: `${(40 * each.samples) / most}px` }} /> {percent(each.samples / all)}</td>
              <td>{each.text}</td><td>{reasons(each).map(([name, cycles]) => `${inWords(name)} ${percent(cycles / Math.max(1, each.samples), 0)}`).join(", ")}</td>
              <td class="n"><Value of={each.samples} name={`hot.${each.address}`} text={Math.round(each.samples)} /></td><td class="n">{each.executions}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </div>
  );
}

export function Source() {
  const data = watched.value?.data;
  const [byHeat, setByHeat] = useState(true);
  if (!data?.code) return <p class={data?.errors ? "errors" : "note"}>{data?.errors?.join(" ") ?? "The warps are watched…"}</p>;
  if (data.hot) return <Hot data={data} />;
  const lines = data.code.map((each, pc) => {
    const waits = Object.entries(each.waits).filter(([name]) => !["by_design", "drained", "not_selected"].includes(name)).sort((a, b) => b[1] - a[1]);
    return { ...each, pc, waits, sum: waits.reduce((all, [, cycles]) => all + cycles, 0) };
  }).filter((each) => each.issues > 0 || each.sum > 0);
  const all = Math.max(1, lines.reduce((sum, each) => sum + each.sum, 0)), most = Math.max(1, ...lines.map((each) => each.sum));
  const shown = byHeat ? [...lines].sort((a, b) => b.sum - a.sum || a.pc - b.pc) : lines;
  const where = (pc) => (pc < data.mainloop ? "prologue" : pc < data.epilogue ? "loop" : "epilogue");
  return (
    <>
      <div class="tools" style={{ marginBottom: 8 }}>
        <button class="button" aria-pressed={byHeat} onClick={() => setByHeat(!byHeat)}>{byHeat ? "in the order of the program" : "most waited at first"}</button>
        <span class="note">Warp cycles that warps waited before an instruction, in iterations 2 and 3. A line lights those whose results it needs.</span>
      </div>
      <div class="listing mono" role="region" aria-label="Source with stalls" tabIndex={0}>
        <table>
          <thead><tr><th scope="col">#</th><th scope="col">instruction</th><th scope="col" class="n">issues</th><th scope="col" class="n">waits</th><th scope="col">share</th><th scope="col">for what</th><th scope="col">after</th><th scope="col">part</th></tr></thead>
          <tbody>{shown.map((each) => (
            <tr key={each.pc} class={rowClass(each.pc)} tabIndex={0} onPointerEnter={() => look(data, each.pc)} onFocus={() => look(data, each.pc)}>
              <td class="n">{each.pc}</td><td>{each.text}</td><td class="n">{each.issues}</td>
              <td class="n"><Value of={each.sum} name={`waits.${each.pc}`} text={each.sum} /></td>
              <td><i class="heat" style={{ width: `${(90 * each.sum) / most}px` }} /> {percent(each.sum / all)}</td>
              <td>{each.waits.slice(0, 2).map(([name, cycles]) => `${inWords(name)} ${cycles}`).join(", ")}</td>
              <td>{each.from.slice(0, 4).join(" ")}</td><td>{where(each.pc)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}
