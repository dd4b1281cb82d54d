// The tabs below the charts: timeline, source, energy and stalls, a changed GPU, the comparison.
import { scaleLinear } from "d3-scale";
import { about, change, comparison, focused, state } from "./state.js";
import { Table, Value, digits, energy, inWords, percent, time, useWidth } from "./parts.jsx";
import { Source, Timeline } from "./timeline.jsx";

// Bars of one measure, largest first, the text behind each.
function Bars({ items, label, colour = "var(--u-fma)" }) {
  const [place, width] = useWidth(560);
  const names = Math.min(150, width * 0.34), most = Math.max(1e-12, ...items.map((each) => each.value)), row = 21;
  const x = scaleLinear([0, most], [0, width - names - 150]);
  return (
    <div class="plot" ref={place}>
      <svg viewBox={`0 0 ${width} ${items.length * row + 4}`} role="img" aria-label={label}>
        {items.map((each, i) => (
          <g>
            <text x={names - 8} y={i * row + 15} text-anchor="end">{inWords(each.name)}</text>
            <rect x={names} y={i * row + 4} width={Math.max(1, x(each.value))} height={row - 7} rx={2} fill={each.colour ?? colour} />
            <text x={names + x(each.value) + 6} y={i * row + 15}>{each.text}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}

const largest = (group) => Object.entries(group).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);

function Energy() {
  const r = focused.value?.report;
  if (!r) return null;
  const parts = largest(r.energy_by_component_mj), waits = largest(r.stalls), pipes = Object.entries(r.pipes);
  return (
    <div class="split">
      <div>
        <h3>Energy: <Value of={r.energy_mj} name="energy_mj" text={energy(r.energy_mj)} />, {digits(r.tflops_per_w)} TFLOP/s a watt</h3>
        <Bars label="Energy by part of the board" colour="var(--g4)" items={parts.map(([name, mj]) => ({ name, value: mj, text: `${energy(mj)}  ${percent(mj / r.energy_mj)}` }))} />
        <p class="note">{r.power_note}; {digits(r.temperature_c)} °C at {digits(r.power_w)} W.</p>
        <details class="table"><summary>Table</summary><Table caption="Energy by part" head={["part", "energy", "share"]}
          rows={parts.map(([name, mj]) => [inWords(name), <Value of={mj} name={`energy_by_component_mj.${name}`} text={energy(mj)} />, percent(mj / r.energy_mj)])} /></details>
      </div>
      <div>
        <h3>What resident warps do</h3>
        <Bars label="Shares of warp cycles" items={waits.map(([name, share]) => ({ name, value: share, text: percent(share), colour: name === "selected" ? "var(--good)" : name === "by_design" ? "var(--muted)" : "var(--tail)" }))} />
        <h3>How busy the pipes are</h3>
        <Bars label="Busy share of the pipes" items={pipes.map(([name, share]) => ({ name, value: share, text: percent(share) }))} />
        <details class="table"><summary>Table</summary><Table caption="Warp states and pipes" head={["what", "share"]}
          rows={[...waits.map(([name, share]) => [inWords(name), <Value of={share} name={`stalls.${name}`} text={percent(share)} />]),
            ...pipes.map(([name, share]) => [`${name} pipe`, <Value of={share} name={`pipes.${name}`} text={percent(share)} />])]} /></details>
      </div>
    </div>
  );
}

const dials = [
  { key: "l2.size", name: "L2 size", of: (gpu) => gpu.l2_mib, text: (v) => `${Math.round(v)} MiB`, value: (v) => `${Math.max(1, Math.round(v))}MiB` },
  { key: "dram.bandwidth", name: "DRAM", of: (gpu) => gpu.dram_gb_per_s, text: (v) => `${Math.round(v)} GB/s`, value: (v) => `${Math.round(v)}GB/s` },
  { key: "sms", name: "SMs", of: (gpu) => gpu.sms, text: (v) => String(Math.round(v)), value: (v) => String(Math.max(1, Math.round(v))) },
  { key: "power.limit", name: "Power limit", of: (gpu) => gpu.power_w, text: (v) => `${Math.round(v)} W`, value: (v) => `${Math.round(v)}W` },
  { key: "clock.boost", name: "Boost clock", of: (gpu) => gpu.boost_mhz, text: (v) => `${Math.round(v)} MHz`, value: (v) => `${Math.round(v)}MHz` },
];
const factors = [0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4];

function WhatIf() {
  const s = state.value, gpu = about.value.gpus.find((each) => each.id === s.gpus[s.focus]);
  const set = (dial, factor) => {
    const rest = Object.fromEntries(Object.entries(s.whatif).filter(([key]) => key !== dial.key));
    change({ whatif: factor === 1 ? rest : { ...rest, [dial.key]: dial.value(dial.of(gpu) * factor) } });
  };
  const factorOf = (dial) => {
    const now = parseFloat(s.whatif[dial.key]);
    return Number.isFinite(now) ? factors.reduce((best, each, i) => (Math.abs(each - now / dial.of(gpu)) < Math.abs(factors[best] - now / dial.of(gpu)) ? i : best), 0) : factors.indexOf(1);
  };
  // A value that no notch of the slider has, from an address or a command, is shown as it is written.
  const textOf = (dial) => {
    const factor = factors[factorOf(dial)], own = s.whatif[dial.key], value = dial.of(gpu) * factor;
    return own === undefined || own === dial.value(value) ? `${dial.text(value)} (${factor}×)` : own;
  };
  const others = Object.entries(s.whatif).filter(([key]) => !dials.some((dial) => dial.key === key));
  return (
    <>
      <p class="note">The {gpu.name} with another L2, memory, SM count, power limit or clock. The answer above changes at once; every other number stays as in its file.</p>
      <div class="what" style={{ marginTop: 10 }}>
        {dials.map((dial) => (
          <label key={dial.key}><span>{dial.name}</span>
            <input type="range" min={0} max={factors.length - 1} value={factorOf(dial)} aria-valuetext={textOf(dial)}
              onInput={(event) => set(dial, factors[Number(event.currentTarget.value)])} />
            <output>{textOf(dial)}</output></label>
        ))}
      </div>
      {others.length > 0 && <p class="note">Changed too: {others.map(([key, value]) => `${key} = ${value}`).join(", ")}.</p>}
      <p style={{ marginTop: 10 }}><button class="button" disabled={Object.keys(s.whatif).length === 0} onClick={() => change({ whatif: {} })}>as in the file again</button></p>
    </>
  );
}

function Waterfall({ fall }) {
  const [place, width] = useWidth(560);
  const steps = [{ group: fall.from, time_us: fall.from_time_us, total: true }, ...fall.steps, { group: fall.to, time_us: fall.to_time_us, total: true }];
  const most = Math.max(...steps.map((each) => each.time_us)), names = 150, row = 24, x = scaleLinear([0, most], [names, width - 120]);
  return (
    <div class="plot" ref={place}>
      <svg viewBox={`0 0 ${width} ${steps.length * row + 4}`} role="img" aria-label={`From ${fall.from} to ${fall.to}, a group of differences at a time`}>
        {steps.map((each, i) => {
          const before = i === 0 || each.total ? 0 : steps[i - 1].time_us, low = Math.min(before, each.time_us), high = Math.max(before, each.time_us);
          return (
            <g>
              <text class={each.total ? "strong" : ""} x={names - 8} y={i * row + 16} text-anchor="end">{each.group}</text>
              <rect x={x(low)} y={i * row + 4} width={Math.max(1, x(high) - x(low))} height={row - 8} rx={2} fill={each.total ? "var(--muted)" : each.time_us > before ? "var(--tail)" : "var(--good)"} />
              <text x={x(high) + 6} y={i * row + 16}>{time(each.time_us, 3)}{each.total ? "" : `  ×${digits(each.ratio)}`}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function Compare() {
  const data = comparison.value?.data;
  if (state.value.gpus.length < 2 && Object.keys(state.value.whatif).length === 0)
    return <p class="note">Take a second GPU, or change this one in "What-if GPU".</p>;
  if (!data) return <p class="note">The machines between them run…</p>;
  if (data.errors) return <p class="errors">{data.errors.join(" ")}</p>;
  const labels = data.gpus.map((each) => each.label);
  return (
    <div class="split">
      <div>{data.waterfalls.map((fall) => (
        <section key={fall.to}>
          <h3>From {fall.from} to {fall.to}: {digits(fall.ratio)} times the time</h3>
          <Waterfall fall={fall} />
          <details class="table"><summary>Table</summary><Table caption="Steps" head={["step", "keys", "time after", "ratio"]}
            rows={fall.steps.map((step) => [step.group, step.keys_changed, <Value of={step.time_us} name={`step.${step.group}`} text={time(step.time_us)} />, digits(step.ratio, 4)])} /></details>
        </section>
      ))}</div>
      <div><h3>What differs in their files</h3>
        <Table caption="Keys that differ" head={["key", ...labels]} rows={data.differences.map((each) => [each.key, ...labels.map((label) => each.values[label] ?? "–")])} /></div>
    </div>
  );
}

const tabs = { timeline: ["Timeline", Timeline], source: ["Source", Source], energy: ["Energy and stalls", Energy], whatif: ["What-if GPU", WhatIf], compare: ["Comparison", Compare] };

export function Tabs() {
  const s = state.value, open = s.tab in tabs ? s.tab : "timeline", Body = tabs[open][1], ids = Object.keys(tabs);
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = ids[(ids.indexOf(open) + by + ids.length) % ids.length];
    change({ tab: next });
    document.getElementById(`tab-${next}`).focus();
  };
  return (
    <section class="card w12" aria-label="Details">
      <div class="tabs" role="tablist" onKeyDown={move}>
        {ids.map((id) => <button role="tab" id={`tab-${id}`} aria-selected={id === open} aria-controls="panel" tabIndex={id === open ? 0 : -1} onClick={() => change({ tab: id })}>{tabs[id][0]}</button>)}
      </div>
      <div role="tabpanel" id="panel" aria-labelledby={`tab-${open}`}><Body /></div>
    </section>
  );
}
