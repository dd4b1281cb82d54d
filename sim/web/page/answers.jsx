// The answer, a card a GPU: how long, how fast, how near the roof, how hot, and what limits it on two levels.
import { about, answers, state } from "./state.js";
import { Value, digits, gpuColour, inWords, time } from "./parts.jsx";

const interval = (r) => {
  const { time_low_us: low, time_high_us: high } = r.confidence;
  return low == null ? "no measurements to say how sure" : `90 %: ${time(low, 3)} to ${time(high, 3)}`;
};

function limits(r) {
  const b = r.bottleneck, parts = [];
  parts.push(`${digits(b.share_of_roof_pct)} % of the ${inWords(b.roof)} roof`);
  if (b.below_roof_by) parts.push(`below it by ${inWords(b.below_roof_by)}`);
  return [parts.join(", "), b.clock_held_by && b.clock_held_by !== "none"
    ? `the clock is held to ${digits(r.sm_clock_mhz, 4)} of ${digits(b.highest_clock_mhz, 4)} MHz by ${inWords(b.clock_held_by)}`
    : `nothing holds the clock of ${digits(r.sm_clock_mhz, 4)} MHz`];
}

function Card({ answer, index }) {
  const s = state.value, gpu = about.value.gpus.find((each) => each.id === s.gpus[index]);
  const changed = index === s.focus && Object.keys(s.whatif).length > 0;
  const head = <h2>{gpu?.name ?? s.gpus[index]}{changed ? " (changed)" : ""}<span>{gpu?.chip} {gpu?.sm}</span></h2>;
  const style = { "--g": gpuColour(index) };
  if (!answer) return <article class="answer" style={style}>{head}<p class="note">…</p></article>;
  if (answer.errors)
    return <article class="answer" style={style}>{head}{answer.errors.map((each) => <p class="errors">{each}</p>)}</article>;
  const r = answer.report, [roof, clock] = limits(r), pending = answer.isEstimate ? "estimate" : "";
  return (
    <article class={`answer ${index === s.focus && s.gpus.length > 1 ? "focus" : ""}`} style={style} data-gpu={s.gpus[index]}>
      {head}
      <div class="time"><Value of={r.time_us} name="time_us" text={time(r.time_us)} />
        <span class="range" title={r.confidence.because}>{pending ? "estimate, " : ""}{interval(r)}</span></div>
      <dl>
        <div><dt class="sr">throughput</dt><dd><Value of={r.tflops} name="tflops" text={`${digits(r.tflops)} TFLOP/s`} /></dd></div>
        <div><dt>of peak</dt><dd><Value of={r.pct_of_peak} name="pct_of_peak" text={`${digits(r.pct_of_peak)} %`} /></dd></div>
        <div><dt>power</dt><dd><Value of={r.power_w} name="power_w" text={`${digits(r.power_w)} W`} /></dd></div>
        <div><dt>energy</dt><dd><Value of={r.energy_mj} name="energy_mj" text={`${digits(r.energy_mj)} mJ`} /></dd></div>
      </dl>
      <p class={`because ${pending}`}><b>{inWords(r.bottleneck.name)}</b>: {roof}; {clock}.</p>
    </article>
  );
}

const sentence = (s) => answers.value.map((answer, i) => {
  const name = about.value.gpus.find((gpu) => gpu.id === s.gpus[i])?.name ?? s.gpus[i];
  if (!answer) return "";
  if (answer.errors) return `${name}: ${answer.errors.join(" ")}`;
  const r = answer.report;
  return `${name}: ${time(r.time_us)}, ${digits(r.tflops)} TFLOP/s, limited by ${inWords(r.bottleneck.name)}.`;
}).join(" ");

export function Answers() {
  const s = state.value, settled = answers.value.length > 0 && answers.value.every((each) => each && !each.isEstimate);
  return (
    <section aria-label="Answer">
      <div class="answers">{s.gpus.map((id, i) => <Card answer={answers.value[i]} index={i} key={id} />)}</div>
      <p class="sr" aria-live="polite" id="spoken">{settled ? sentence(s) : ""}</p>
    </section>
  );
}
