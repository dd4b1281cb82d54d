// Charts of the run: roofline, memory, limits, waves, occupancy. Drawn as SVG from the report and the facts beside it;
// each has the same figures as a table.
import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { about, answers, change, focused, occupancy, state } from "./state.js";
import { Card, Legend, Value, bytes, count, digits, gpuColour, inWords, percent, rate, time, useWidth } from "./parts.jsx";

const nameOf = (id) => about.value.gpus.find((gpu) => gpu.id === id)?.name.replace(/^NVIDIA |GeForce /g, "") ?? id;

const tickText = (n) => (n >= 1000 ? `${n / 1000} k` : String(n));

// ---- roofline
const highest = ({ facts, report }) => Math.max(report.sm_clock_mhz, report.bottleneck.highest_clock_mhz || facts.boost_mhz);

function roofsOf({ facts, report }) {
  const flops = report.tflops * report.time_us * 1e6;
  const moved = {
    DRAM: report.memory.dram_read_bytes + report.memory.dram_write_bytes,
    L2: report.memory.l2_bytes,
    shared: report.memory.shared_bytes,
  };
  const bandwidth = { DRAM: facts.dram_read_gb_per_s, L2: facts.l2_gb_per_s, shared: facts.shared_gb_per_s };
  return Object.entries(bandwidth).map(([name, gb]) => ({
    name, gb, at: moved[name] > 0 ? flops / moved[name] : null,
  }));
}

export function Roofline() {
  const [place, width] = useWidth(420);
  const runs = answers.value.map((answer, i) => ({ answer, i })).filter(({ answer }) => answer?.report);
  const main = runs.find(({ i }) => i === state.value.focus) ?? runs[0];
  const rows = () => runs.flatMap(({ answer, i }) => [
    [`${nameOf(state.value.gpus[i])}: peak at ${digits(answer.report.sm_clock_mhz, 4)} MHz`, "", `${digits(answer.facts.peak_tflops, 4)} TFLOP/s`],
    ...roofsOf(answer).map((roof) => [`${nameOf(state.value.gpus[i])}: ${roof.name}, ${rate(roof.gb)}`,
      roof.at ? `${digits(roof.at, 4)} FLOP/B` : "–", roof.at ? `${digits(Math.min(answer.facts.peak_tflops, roof.at * roof.gb * 1e-3), 4)} TFLOP/s` : "–"]),
  ]);
  return (
    <Card id="roofline" span="w4" title="Roofline" table={() => ({ caption: "Roofs, and the run's operations per byte under each", head: ["roof", "run at", "roof there"], rows: rows() })}>
      <div class="plot" ref={place}>{main && <RooflineDrawing runs={runs} main={main} width={width} />}</div>
      <p class="note">Roofs of DRAM (solid), L2 (dashed), shared memory (dotted); the run under each.</p>
    </Card>
  );
}

function RooflineDrawing({ runs, main, width }) {
  const height = 250, left = 42, right = 10, top = 10, bottom = 30;
  const all = runs.flatMap(({ answer }) => roofsOf(answer));
  const xs = [...all.map((roof) => roof.at), ...runs.flatMap(({ answer }) => roofsOf(answer).map((roof) => (answer.facts.peak_tflops * 1e3) / roof.gb))].filter(Boolean);
  const peaks = runs.map(({ answer }) => answer.facts.peak_tflops * (highest(answer) / answer.report.sm_clock_mhz));
  const x = scaleLog([Math.min(...xs) / 4, Math.max(...xs) * 3], [left, width - right]);
  const y = scaleLog([Math.min(...runs.map(({ answer }) => answer.report.tflops)) / 8, Math.max(...peaks) * 1.5], [height - bottom, top]);
  const decades = (scale) => scale.ticks().filter((tick) => Number.isInteger(Math.log10(tick)) || scale.ticks().length < 6);
  const path = (gb, peak) => {
    const ridge = (peak * 1e3) / gb, [low, high] = x.domain();
    return line()([[low, low * gb * 1e-3], [Math.min(ridge, high), Math.min(peak, high * gb * 1e-3)], [high, Math.min(peak, high * gb * 1e-3)]].map(([a, b]) => [x(a), y(b)]));
  };
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label="Roofline: operations per byte against TFLOP/s, both logarithmic; the figures are in the table">
      <clipPath id="roof-area"><rect x={left} y={top} width={width - left - right} height={height - top - bottom} /></clipPath>
      {decades(x).map((tick) => <g class="tick"><line x1={x(tick)} x2={x(tick)} y1={top} y2={height - bottom} /><text x={x(tick)} y={height - bottom + 14} text-anchor="middle">{tickText(tick)}</text></g>)}
      {decades(y).map((tick) => <g class="tick"><line x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} /><text x={left - 5} y={y(tick) + 4} text-anchor="end">{tickText(tick)}</text></g>)}
      <text x={width - right} y={height - 2} text-anchor="end">FLOP per byte</text>
      <text x={left + 4} y={top + 10}>TFLOP/s</text>
      <g clip-path="url(#roof-area)">
        {runs.map(({ answer, i }) => roofsOf(answer).map((roof, at) => (i === main.i || at === 0) && (
          <path d={path(roof.gb, answer.facts.peak_tflops)} fill="none" stroke={gpuColour(i)} stroke-width={i === main.i ? 2 : 1.3}
            stroke-dasharray={["", "6 4", "2 3"][at]} opacity={i === main.i ? 1 : 0.8} />
        )))}
        <line x1={left} x2={width - right} y1={y(peaks[runs.indexOf(main)])} y2={y(peaks[runs.indexOf(main)])} stroke="var(--ink-3)" stroke-width={1} stroke-dasharray="1 3" />
      </g>
      <text x={width - right - 2} y={y(peaks[runs.indexOf(main)]) - 4} text-anchor="end">at {digits(highest(main.answer), 4)} MHz</text>
      {runs.map(({ answer, i }) => roofsOf(answer).map((roof, at) => roof.at && (i === main.i || at === 0) && (
        <g>
          <circle cx={x(roof.at)} cy={y(answer.report.tflops)} r={at === 0 ? 6 : 4.5} fill={at === 0 ? gpuColour(i) : "var(--surface)"} stroke={gpuColour(i)} stroke-width={2}>
            <title>{`${nameOf(state.value.gpus[i])}: ${digits(answer.report.tflops)} TFLOP/s at ${digits(roof.at)} FLOP per byte of ${roof.name}`}</title>
          </circle>
          {i === main.i && <text x={x(roof.at)} y={y(answer.report.tflops) + (at === 1 ? -10 : 18)} text-anchor="middle">{roof.name}</text>}
        </g>
      )))}
    </svg>
  );
}

// ---- memory chart
export function MemoryChart() {
  const [place, width] = useWidth(600);
  const answer = focused.value;
  if (!answer?.report) return <Card id="memory" span="w8" title="Memory" />;
  const { report: r, facts } = answer, m = r.memory, seconds = r.time_us * 1e-6;
  const share = (moved, gb) => moved / seconds / (gb * 1e9);
  const l1Hit = m.l1_bytes > 0 ? Math.max(0, 1 - m.l2_bytes / m.l1_bytes) : null;
  const links = [
    { from: "Registers", to: "Shared memory", key: "memory.shared_bytes", moved: m.shared_bytes, peak: facts.shared_gb_per_s, note: `${count(m.shared_conflict_wavefronts)} conflict wavefronts` },
    { from: "Registers", to: "L1", key: "memory.l1_bytes", moved: m.l1_bytes, peak: facts.shared_gb_per_s, note: "" },
    { from: "L1", to: "L2", key: "memory.l2_bytes", moved: m.l2_bytes, peak: facts.l2_gb_per_s, note: l1Hit == null ? "" : `${percent(l1Hit)} stay in L1` },
    { from: "L2", to: "DRAM", key: "dram", moved: m.dram_read_bytes + m.dram_write_bytes, peak: facts.dram_gb_per_s, note: `${percent(m.l2_hit_rate)} hit L2` },
  ];
  const rows = () => links.map((l) => [`${l.from} and ${l.to}`, bytes(l.moved), rate(l.moved / seconds * 1e-9), rate(l.peak), percent(share(l.moved, l.peak))]);
  return (
    <Card id="memory" span="w8" title={`Memory: ${nameOf(state.value.gpus[state.value.focus])}`}
      note="What moves over each link in the run, and its share of what the link could carry at the run's clock."
      table={() => ({ caption: "Traffic over each link", head: ["link", "bytes", "rate", "peak", "share of peak"], rows: rows() })}>
      <div class="plot" ref={place}><MemoryDrawing links={links} share={share} facts={facts} report={r} width={width} /></div>
      <p class="sr">{links.map((l) => <Value of={l.moved} name={l.key} text={`${l.from} and ${l.to}: ${bytes(l.moved)}. `} />)}
        <Value of={m.dram_read_bytes} name="memory.dram_read_bytes" text={`read from DRAM ${bytes(m.dram_read_bytes)}`} />
        <Value of={m.dram_write_bytes} name="memory.dram_write_bytes" text={`, written ${bytes(m.dram_write_bytes)}`} /></p>
    </Card>
  );
}

function MemoryDrawing({ links, share, facts, report, width }) {
  const small = width < 520, w = width, h = small ? 330 : 196;
  const box = small ? { w: w - 16, h: 40 } : { w: 108, h: 62 };
  const step = small ? 0 : (w - box.w - 8) / 3;
  const at = small
    ? { Registers: [8, 4], "Shared memory": [8, 96], L1: [8 + w * 0.52, 96], L2: [8, 190], DRAM: [8, 284] }
    : { Registers: [4, 66], "Shared memory": [4 + step, 6], L1: [4 + step, 126], L2: [4 + 2 * step, 126], DRAM: [4 + 3 * step, 126] };
  const size = (name) => (small && ["Shared memory", "L1"].includes(name) ? { w: w * 0.48 - 16, h: box.h } : box);
  const says = { Registers: `${facts.registers_per_thread} a thread`, "Shared memory": `${bytes(facts.shared_bytes_per_cta)} a CTA`, L1: "", L2: `${digits(facts.l2_mib)} MiB`, DRAM: rate(facts.dram_gb_per_s) };
  return (
    <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label="Memory chart: registers, shared memory and L1, L2, DRAM, with the traffic on each link; the figures are in the table">
      {links.map((l) => {
        const [ax, ay] = at[l.from], [bx, by] = at[l.to], a = size(l.from), b = size(l.to), busy = share(l.moved, l.peak);
        const [x1, y1, x2, y2] = small
          ? [l.from === "Registers" ? bx + b.w / 2 : ax + a.w / (l.from === "L1" ? 2 : 2), ay + a.h, l.from === "L1" ? ax + a.w / 2 : bx + b.w / 2, by]
          : [ax + a.w, ay + a.h / 2, bx, by + b.h / 2];
        const mx = (x1 + x2) / 2, my = (y1 + y2) / 2, thick = 2 + 14 * Math.min(1, busy);
        // Three lines of text: above a link that rises, below one that falls, about one that is level.
        const lines = [bytes(l.moved), `${percent(busy, 0)} of peak`, small ? "" : l.note].filter(Boolean);
        const first = small ? my - 2 : l.to === "Shared memory" ? 16 : l.from === "Registers" ? my + 30 : my - 16;
        const anchor = small ? (mx > w * 0.6 ? "end" : "start") : "middle";
        const tx = small ? (mx > w * 0.6 ? mx - 12 : mx + 12) : l.from === "Registers" ? mx - 30 : mx;
        return (
          <g>
            <line x1={x1} y1={y1} x2={x2} y2={y2} stroke={busy > 0.8 ? "var(--tail)" : "var(--muted)"} stroke-width={thick} />
            {lines.map((text, i) => <text class={i ? "" : "strong"} x={tx} text-anchor={anchor}
              y={first + 14 * i + (i > 0 && !small && l.from !== "Registers" ? 22 : 0)}>{text}</text>)}
          </g>
        );
      })}
      {Object.entries(at).map(([name, [x, y]]) => (
        <g><rect x={x} y={y} width={size(name).w} height={size(name).h} rx={7} fill="var(--sunk)" stroke="var(--axis)" />
          <text class="strong" x={x + size(name).w / 2} y={y + size(name).h / 2 - (says[name] ? 3 : -4)} text-anchor="middle">{name}</text>
          <text x={x + size(name).w / 2} y={y + size(name).h / 2 + 13} text-anchor="middle">{says[name]}</text></g>
      ))}
    </svg>
  );
}

// ---- limits with switches
export function Limits() {
  const s = state.value, answer = focused.value, costs = answer?.report?.explain;
  const shown = (costs ?? []).filter((each, i) => each.gain_pct >= 0.05 || i < 4).slice(0, 9);
  const most = Math.max(5, ...shown.map((each) => each.gain_pct));
  const nameOfSwitch = (each) => each.split("=")[0];
  const flip = (removed) => change({ off: s.off.includes(removed) ? s.off.filter((each) => each !== removed)
    : [...s.off.filter((each) => nameOfSwitch(each) !== nameOfSwitch(removed)), removed] });
  const rows = () => (costs ?? []).map((each) => [inWords(each.limit), `--set ${each.removed}`, time(each.time_us), `${digits(each.gain_pct)} %`, `${digits(each.clock_mhz, 4)} MHz`]);
  return (
    <Card id="limits" span="w4" title="What limits it"
      note="Time gained with one limit taken away. A switch takes it away for good and everything is run anew."
      table={() => ({ caption: "What each limit costs", head: ["limit", "removed by", "time without", "gain", "clock"], rows: rows() })}>
      <ul class="limits" style={{ marginTop: 6 }}>
        {s.off.map((each) => (
          <li key={each}><input type="checkbox" class="toggle" role="switch" checked={false} aria-label={`${each}: put the limit back`} onChange={() => flip(each)} />
            <span class="off">{each}</span><span class="track" /><span class="gain">off</span></li>
        ))}
        {shown.filter((each) => !s.off.includes(each.removed)).map((each) => (
          <li key={each.limit}><input type="checkbox" class="toggle" role="switch" checked={true} aria-label={`${inWords(each.limit)}, gains ${each.gain_pct.toFixed(1)} % when taken away`} onChange={() => flip(each.removed)} />
            <span>{inWords(each.limit)}</span><span class="track"><i style={{ width: `${100 * each.gain_pct / most}%` }} /></span>
            <span class="gain"><Value of={each.gain_pct} name={`explain.${each.limit}`} text={`${each.gain_pct.toFixed(1)} %`} /></span></li>
        ))}
        {!costs && answer?.report?.kernel.grid && <li><span /><span class="note">by estimate, for compiled code: {inWords(answer.report.bottleneck.name)}</span></li>}
        {!costs && !answer?.report?.kernel.grid && <li><span /><span class="note">experiments run…</span></li>}
      </ul>
    </Card>
  );
}

// ---- waves
export function Waves() {
  const [place, width] = useWidth(380);
  const answer = focused.value;
  if (!answer?.report) return <Card id="waves" span="w6" title="Waves" />;
  const { report: r, facts } = answer, waves = r.occupancy.waves, full = Math.floor(waves + 1e-9), rest = waves - full;
  const p = r.phases_us, busy = r.time_us - p.launch - p.tail;
  const rows = () => [["CTAs", count(facts.grid_ctas)], ["CTAs an SM at a time", String(r.occupancy.ctas_per_sm)], ["waves", digits(waves, 4)],
    ...Object.entries(p).map(([name, us]) => [name, time(us)])];
  const grid = r.kernel.grid;  // of compiled code, whose tiles nobody names
  const tiles = grid ? [grid[1] * grid[2], grid[0]] : [Math.ceil(r.kernel.m / facts.tile[0]), Math.ceil(r.kernel.n / facts.tile[1])];
  const wasted = grid ? 0 : 1 - (r.kernel.m * r.kernel.n) / (tiles[0] * facts.tile[0] * tiles[1] * facts.tile[1]);
  return (
    <Card id="waves" span="w6" title="Waves and tiles"
      note={`${plural2(facts.grid_ctas, "CTA")} on ${facts.sms} SMs, ${r.occupancy.ctas_per_sm} at a time on each: ${digits(waves)} waves. Edge tiles waste ${percent(wasted)} of the arithmetic.`}
      table={() => ({ caption: "Waves and phases", head: ["what", "figure"], rows: rows() })}>
      <div class="plot" ref={place}><WavesDrawing {...{ r, facts, full, rest, busy, tiles, width }} /></div>
      <Legend items={[["var(--muted)", "launch"], ["var(--u-fma)", "full waves"], ["var(--tail)", "last wave"], ["var(--wait)", "SMs without work"]]} />
      <p class="sr"><Value of={waves} name="occupancy.waves" text={`${digits(waves)} waves`} />
        {Object.entries(p).map(([name, us]) => <Value of={us} name={`phases_us.${name}`} text={`, ${name} ${time(us)}`} />)}</p>
    </Card>
  );
}

const plural2 = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

// Time from left to right, SMs from top to bottom. Waves are drawn equally long, as they are but for the spread of CTAs.
function WavesDrawing({ r, facts, full, rest, busy, tiles, width }) {
  const h = 168, tileSide = width < 420 ? 96 : 150, left = 4, w = width - tileSide - 34, top = 6, bottom = 24;
  const x = scaleLinear([0, r.time_us], [left, w]), area = h - top - bottom, launch = r.phases_us.launch;
  const whole = rest > 1e-9 ? full + 1 : full, each = (r.time_us - launch) / Math.max(1, whole);
  const many = full > 40;
  const cells = many ? [[launch, launch + each * full]] : Array.from({ length: full }, (_, i) => [launch + i * each, launch + (i + 1) * each]);
  const perSm = facts.sms * r.occupancy.ctas_per_sm, last = Math.min(1, Math.max(rest * perSm / facts.sms, 1 / facts.sms));
  const [tm, tn] = tiles, most = 40, side = Math.min(tileSide / Math.min(tn, most), (h - 26) / Math.min(tm, most));
  const edgeM = r.kernel.m % facts.tile[0], edgeN = r.kernel.n % facts.tile[1], ox = width - tileSide - 4;
  const showN = Math.min(tn, most), showM = Math.min(tm, most);
  return (
    <svg viewBox={`0 0 ${width} ${h}`} role="img" aria-label={`${full} full waves${rest > 1e-9 ? " and a last one in which part of the SMs work" : ""}; C in ${tm} by ${tn} tiles`}>
      <defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" fill="var(--sunk)" /><line x1="0" y1="0" x2="0" y2="5" stroke="var(--tail)" stroke-width="2" /></pattern></defs>
      <rect x={x(0)} y={top} width={Math.max(1, x(launch) - x(0))} height={area} fill="var(--muted)" />
      {cells.map(([a, b], i) => <rect x={x(a)} y={top} width={Math.max(0.5, x(b) - x(a) - (many ? 0 : 1))} height={area} fill="var(--u-fma)" opacity={i % 2 ? 0.8 : 1} />)}
      {many && <text class="strong" x={(x(launch) + x(r.time_us)) / 2} y={top + area / 2} text-anchor="middle" style={{ fill: "var(--surface)" }}>{full} waves</text>}
      {rest > 1e-9 && <>
        <rect x={x(launch + full * each)} y={top} width={Math.max(1, x(r.time_us) - x(launch + full * each))} height={area} fill="var(--wait)" />
        <rect x={x(launch + full * each)} y={top} width={Math.max(1, x(r.time_us) - x(launch + full * each))} height={area * last} fill="var(--tail)" /></>}
      <text x={left} y={h - 6}>0</text><text x={w} y={h - 6} text-anchor="end">{time(r.time_us)}</text>
      <text x={(left + w) / 2} y={h - 6} text-anchor="middle">{facts.sms} SMs over time</text>
      {Array.from({ length: showM * showN }, (_, i) => {
        const row = Math.floor(i / showN), col = i % showN, isEdge = (edgeM && row === showM - 1) || (edgeN && col === showN - 1);
        return isEdge ? null : <rect x={ox + col * side} y={top + row * side} width={Math.max(0.5, side - 0.7)} height={Math.max(0.5, side - 0.7)} fill="var(--u-fma)" opacity={0.75} />;
      })}
      {edgeN > 0 && Array.from({ length: showM }, (_, row) => <EdgeTile x={ox + (showN - 1) * side} y={top + row * side} side={side} usedX={edgeN / facts.tile[1]} usedY={row === showM - 1 && edgeM ? edgeM / facts.tile[0] : 1} />)}
      {edgeM > 0 && Array.from({ length: showN - (edgeN ? 1 : 0) }, (_, col) => <EdgeTile x={ox + col * side} y={top + (showM - 1) * side} side={side} usedX={1} usedY={edgeM / facts.tile[0]} />)}
      <text x={ox} y={Math.min(h - 6, top + showM * side + 13)}>C: {tm} × {tn} tiles{tm > most || tn > most ? ", a part" : ""}</text>
    </svg>
  );
}

const EdgeTile = ({ x, y, side, usedX, usedY }) => (
  <g><rect x={x} y={y} width={side - 0.7} height={side - 0.7} fill="url(#hatch)" />
    <rect x={x} y={y} width={(side - 0.7) * usedX} height={(side - 0.7) * usedY} fill="var(--u-fma)" opacity={0.75} /></g>
);

// ---- occupancy
const curves = [["registers", "registers a thread"], ["shared_bytes", "shared memory a CTA"], ["threads", "threads a CTA"]];

export function Occupancy() {
  const data = occupancy.value;
  const [place, width] = useWidth(600);
  if (!data || data.errors) return <Card id="occupancy" span="w6" title="Occupancy" />;
  const rows = () => [...data.limits.map((each) => [`${inWords(each.resource)} alone`, `${each.ctas} CTAs`]),
    ...curves.flatMap(([key, says]) => data[key].filter((_, i) => i % 4 === 0).map(([at, warps]) => [`${says}: ${key === "shared_bytes" ? bytes(at) : at}`, `${warps} warps`]))];
  const across = width < 460 ? 1 : 3, w = width / across - 6, h = 150;
  return (
    <Card id="occupancy" span="w6" title="Occupancy"
      note={`${data.warps} of ${data.max_warps} warps an SM, limited by ${inWords(data.limiter)}. CTAs that each alone would allow: ${data.limits.map((each) => `${inWords(each.resource)} ${each.ctas}`).join(", ")}.`}
      table={() => ({ caption: "Warps an SM, by what a CTA takes", head: ["with", "an SM holds"], rows: rows() })}>
      <div class="plot" ref={place}>
        <svg viewBox={`0 0 ${width} ${across === 1 ? h * 3 : h}`} role="img" aria-label="Warps an SM over registers, shared memory and threads of a CTA; the figures are in the table">
          {curves.map(([key, says], i) => <Curve key={key} data={data} name={key} says={says} w={w} h={h}
            left={across === 1 ? 0 : i * (width / 3)} top={across === 1 ? i * h : 0} />)}
        </svg>
      </div>
    </Card>
  );
}

function Curve({ data, name, says, w, h, left, top }) {
  const points = data[name], x = scaleLinear([0, points.at(-1)[0]], [left + 26, left + w]), y = scaleLinear([0, data.max_warps], [top + h - 34, top + 8]);
  const path = points.map(([a, b], i) => `${i ? `H${x(a).toFixed(1)}V` : `M${x(a).toFixed(1)},`}${y(b).toFixed(1)}`).join("");
  const at = data.at[name];
  return (
    <g>
      {[0, data.max_warps / 2, data.max_warps].map((tick) => <g class="tick"><line x1={left + 26} x2={left + w} y1={y(tick)} y2={y(tick)} /><text x={left + 22} y={y(tick) + 4} text-anchor="end">{tick}</text></g>)}
      <path d={path} fill="none" stroke="var(--u-fma)" stroke-width={2} />
      <circle cx={x(at)} cy={y(data.warps)} r={5.5} fill="var(--tail)" stroke="var(--surface)" stroke-width={2} />
      <text x={left + w} y={top + h - 20} text-anchor="end">{name === "shared_bytes" ? bytes(points.at(-1)[0]) : points.at(-1)[0]}</text>
      <text class="strong" x={left + 26} y={top + h - 20}>{name === "shared_bytes" ? bytes(at) : at}</text>
      <text x={left + 26} y={top + h - 5}>{says}</text>
    </g>
  );
}
