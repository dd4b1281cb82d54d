// The bar: which GPUs, which kernel, which sizes, which clock.
import { useEffect, useState } from "preact/hooks";
import { about, batches, change, kindOf, mostGpus, nearest, shipped, sizes, state } from "./state.js";
import { gpuColour } from "./parts.jsx";

const generations = { sm_80: "Ampere, data centre", sm_86: "Ampere", sm_89: "Ada", sm_90: "Hopper" };

function Gpus() {
  const s = state.value, all = about.value.gpus;
  const names = Object.fromEntries(all.map((gpu) => [gpu.id, gpu.name.replace(/^NVIDIA |GeForce /g, "")]));
  const groups = [...new Set(all.map((gpu) => gpu.sm))].sort().reverse();
  const drop = (index) => {
    const gpus = s.gpus.filter((_, i) => i !== index);
    change({ gpus, focus: Math.min(s.focus, gpus.length - 1), whatif: index === s.focus ? {} : s.whatif });
  };
  return (
    <div class="chips" role="group" aria-label="GPUs">
      {s.gpus.map((id, i) => (
        <span class="chip" style={{ "--g": gpuColour(i) }} aria-current={i === s.focus ? "true" : undefined} key={id}>
          <button onClick={() => change({ focus: i, whatif: i === s.focus ? s.whatif : {} })}
            aria-label={`${names[id]}: show its details`} aria-pressed={i === s.focus}><i aria-hidden="true" />{names[id]}</button>
          {s.gpus.length > 1 && <button onClick={() => drop(i)} aria-label={`take ${names[id]} away`}>×</button>}
        </span>
      ))}
      {s.gpus.length < mostGpus && (
        <select aria-label="add a GPU" value="" onChange={(event) => {
          if (event.currentTarget.value) change({ gpus: [...s.gpus, event.currentTarget.value] });
        }}>
          <option value="">+ GPU</option>
          {groups.map((sm) => (
            <optgroup label={`${generations[sm] ?? "other"} (${sm})`}>
              {all.filter((gpu) => gpu.sm === sm && !s.gpus.includes(gpu.id)).map((gpu) => <option value={gpu.id}>{gpu.name}</option>)}
            </optgroup>
          ))}
        </select>
      )}
    </div>
  );
}

const kinds = {
  none: "empty", shipped: "a kernel that NoteG ships", name: "a kernel's name as profilers print it",
  configuration: "a configuration", listing: "a listing: compiled kernels are not in this page yet",
};

function Kernel() {
  const s = state.value;
  const [text, setText] = useState(s.kernel);
  useEffect(() => setText(s.kernel), [s.kernel]);
  const isLong = text.includes("\n") || text.length > 90;
  const take = (value) => { if (value.trim() && value !== state.value.kernel) change({ kernel: value }); };
  return (
    <div class="kernel">
      <label for="kernel">Kernel</label>
      <textarea id="kernel" class={isLong ? "tall mono" : ""} rows={1} spellcheck={false} value={text}
        aria-describedby="kernel-kind" autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={() => setTimeout(() => take(document.getElementById("kernel").value))}
        onBlur={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (!isLong || event.ctrlKey)) { event.preventDefault(); take(event.currentTarget.value); }
        }} />
      <span class="sr" id="kernel-kind">{kinds[kindOf(text, shipped.value)]}. A name, a configuration as in kernels/library/*.yaml, or a listing; Enter takes it.</span>
      <select aria-label="a kernel that NoteG ships" value={shipped.value.includes(s.kernel) ? s.kernel : ""}
        onChange={(event) => event.currentTarget.value && change({ kernel: event.currentTarget.value })}>
        <option value="">shipped…</option>
        {about.value.kernels.map((each) => <option value={each.name}>{each.name} ({each.family}, {each.dtype})</option>)}
      </select>
      <button class="button" aria-label="show the kernel's configuration to change it" onClick={() => {
        const known = about.value.kernels.find((each) => each.name === s.kernel);
        if (known) change({ kernel: known.text });
      }} disabled={!shipped.value.includes(s.kernel)}>Edit</button>
    </div>
  );
}

function Slider({ axis, list, most }) {
  const value = state.value[axis], name = axis === "batch" ? "batch" : axis.toUpperCase();
  const take = (text) => {
    const number = Math.round(Number(text));
    if (number >= 1 && number <= most) change({ [axis]: number });
  };
  return (
    <div class="slider">
      <b aria-hidden="true">{name}</b>
      <input type="range" min={0} max={list.length - 1} value={nearest(list, value)} aria-label={`${name}, slider`}
        aria-valuetext={String(value)} onInput={(event) => change({ [axis]: list[Number(event.currentTarget.value)] })} />
      <input class="field" type="number" min={1} max={most} value={value} aria-label={name}
        onChange={(event) => take(event.currentTarget.value)} />
    </div>
  );
}

const clocks = { sustained: "settled under the power limit", cool: "under load for seconds", burst: "a few ms at the highest clock" };

export function Bar({ theme, onTheme }) {
  const s = state.value;
  return (
    <header class="bar">
      <div>
        <h1 class="brand">NoteG<small>how a GEMM kernel runs on a GPU that you do not have</small></h1>
        <Gpus />
        <button class="button" onClick={onTheme} aria-label={`change to ${theme === "dark" ? "light" : "dark"} colours`}>{theme === "dark" ? "☀" : "☾"}</button>
      </div>
      <div>
        <Kernel />
        <fieldset class="segments" style={{ padding: 0, margin: 0 }}>
          <legend class="sr">Clock</legend>
          {Object.entries(clocks).map(([mode, says]) => (
            <label title={says}><input type="radio" name="clock" value={mode} checked={s.clock === mode}
              onChange={() => change({ clock: mode })} />{mode}<span class="sr"> clock: {says}</span></label>
          ))}
        </fieldset>
      </div>
      <div class="sliders">
        {["m", "n", "k"].map((axis) => <Slider axis={axis} list={sizes} most={1000000} key={axis} />)}
        <Slider axis="batch" list={batches} most={65535} />
      </div>
    </header>
  );
}
