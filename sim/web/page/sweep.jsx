// TFLOP/s over M, N or K: the saw-tooth of waves, with the run on it as a dot that can be dragged.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { about, answers, change, isListing, state, sweeps } from "./state.js";
import { Card, colourOf, digits, gpuColour, useWidth } from "./parts.jsx";
import { sweepKey, sweepRange } from "./ask.js";

const height = 262;

function columns(s, range) {
  const all = s.gpus.map((_, i) => sweeps.value[sweepKey(s, i)] ?? new Map());
  const xs = [...new Set(all.flatMap((points) => [...points.keys()]))].filter((x) => x <= range).sort((a, b) => a - b);
  return [xs, ...all.map((points) => xs.map((x) => points.get(x)?.tflops ?? null))];
}

function options(s, width, range, drawn) {
  const ink = colourOf("--ink-3"), grid = colourOf("--grid");
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, font: "11.5px system-ui" };
  return {
    width, height, legend: { show: false }, cursor: { show: false }, hooks: { draw: [drawn] }, padding: [10, 12, 0, 0],
    scales: { x: { time: false, range: [0, range] }, y: { range: (_, __, top) => [0, Math.max(1e-6, top * 1.08)] } },
    axes: [{ ...axis, label: s.axis.toUpperCase(), labelSize: 18, labelFont: "12px system-ui", size: 30 },
      { ...axis, label: "TFLOP/s", labelSize: 18, labelFont: "12px system-ui", size: 48 }],
    series: [{}, ...s.gpus.map((_, i) => ({ stroke: colourOf(`--g${i + 1}`), width: 2, spanGaps: true, points: { show: false },
      dash: i % 2 ? [7, 3] : undefined }))],
  };
}

function Dot({ plot, range, index }) {
  const s = state.value, report = answers.value[index]?.report;
  if (!plot || !report || s[s.axis] > range) return null;
  const box = plot.over, left = box.offsetLeft + plot.valToPos(s[s.axis], "x");
  const top = box.offsetTop + Math.max(0, plot.valToPos(report.tflops, "y"));
  const take = (value) => change({ [s.axis]: Math.max(1, Math.min(1000000, Math.round(value))) });
  const step = Math.max(1, Math.round(range / 128));
  const keys = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -8, PageUp: 8 };
  return (
    <>
      {index === s.focus && <i class="rule" style={{ left, top: box.offsetTop, height: box.clientHeight }} />}
      <div class="handle" style={{ left, top, "--g": gpuColour(index), zIndex: index === s.focus ? 3 : 2 }}
        role="slider" tabIndex={index === s.focus ? 0 : -1} aria-label={`${s.axis.toUpperCase()} of the run, on the sweep`}
        aria-valuemin={1} aria-valuemax={range} aria-valuenow={s[s.axis]}
        aria-valuetext={`${s[s.axis]}, ${digits(report.tflops)} TFLOP/s`}
        onKeyDown={(event) => {
          if (!(event.key in keys)) return;
          event.preventDefault();
          take(s[s.axis] + keys[event.key] * step);
        }}
        onPointerDown={(event) => { event.preventDefault(); event.currentTarget.setPointerCapture(event.pointerId); }}
        onPointerMove={(event) => {
          if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
          const from = box.getBoundingClientRect().left, value = plot.posToVal(event.clientX - from, "x");
          take(Math.max(step, Math.min(range, Math.round(value / 8) * 8 || 8)));
        }} />
    </>
  );
}

export function Sweep() {
  if (isListing(state.value))
    return <Card id="sweep" span="w8" title="Compiled code" note="Its size is in its launch: change that above. The timeline and the source view below show the listing's instructions." />;
  return <SweepChart />;
}

function SweepChart() {
  const s = state.value, range = sweepRange(s);
  const [place, width] = useWidth(800);
  const plot = useRef(null), holder = useRef(null);
  const [drawn, setDrawn] = useState(0);  // the dots stand where the scales of this drawing put them
  const data = columns(s, range);
  const look = document.documentElement.dataset.theme + s.gpus.join() + s.axis + range + width;
  const last = useRef("");
  useEffect(() => {
    if (last.current !== look) {
      plot.current?.destroy();
      plot.current = new uPlot(options(s, width, range, () => setDrawn((times) => times + 1)), data, holder.current);
      plot.current.root.querySelector("canvas").setAttribute("aria-hidden", "true");
      last.current = look;
    } else {
      plot.current.setData(data);
    }
  }, [look, sweeps.value]);
  const table = () => ({
    caption: `TFLOP/s over ${s.axis.toUpperCase()}`,
    head: [s.axis.toUpperCase(), ...s.gpus],
    rows: data[0].map((x, row) => [x, ...s.gpus.map((_, i) => (data[i + 1][row] == null ? "–" : digits(data[i + 1][row], 4)))]),
  });
  const tools = (
    <fieldset class="segments" style={{ padding: 0, margin: 0 }}>
      <legend class="sr">Sweep over</legend>
      {["m", "n", "k"].map((axis) => (
        <label><input type="radio" name="axis" checked={s.axis === axis} onChange={() => change({ axis })} />{axis.toUpperCase()}<span class="sr"> axis of the sweep</span></label>
      ))}
    </fieldset>
  );
  return (
    <Card id="sweep" span="w8" tools={tools} table={table} title={`Throughput over ${s.axis.toUpperCase()}`}
      note="Each tooth is a wave of CTAs: behind its edge, a few tiles wait for a round of their own. Drag the dot, or move it with the arrow keys.">
      <div class="plot" ref={place} style={{ height: height + 4 }}>
        <div ref={holder} />
        {s.gpus.map((id, i) => <Dot plot={plot.current} drawn={drawn} range={range} index={i} key={id} />)}
      </div>
    </Card>
  );
}
