// The bar: which GPUs, which kernel, which sizes, which clock.
import { useEffect, useState } from "preact/hooks";
import { about, batches, change, isListing, kindOf, lineOf, mostGpus, nearest, shipped, sizes, state, usual } from "./state.js";
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
  configuration: "a configuration", listing: "a listing of compiled code; its launch stands in the field below",
};

function Kernel() {
  const s = state.value;
  const [text, setText] = useState(s.kernel);
  useEffect(() => setText(s.kernel), [s.kernel]);
  const isLong = text.includes("\n") || text.length > 90;
  // Without a kernel the words beside it name one (--family, --tile), which a kernel's name then replaces.
  const choose = (kernel) => change(state.value.kernel ? { kernel } : { kernel, more: [] });
  const take = (value) => {
    if (!value.trim()) setText(state.value.kernel);
    else if (value !== state.value.kernel) choose(value);
  };
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
        onChange={(event) => event.currentTarget.value && choose(event.currentTarget.value)}>
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

// What a command line said beside what the controls show, and what of it this page cannot do.
function Beside() {
  const s = state.value;
  if (s.more.length + s.left.length === 0) return null;
  return (
    <p class="note" id="beside">
      {s.more.length > 0 && <>Also: <code>{lineOf(s.more)}</code>. </>}
      {s.left.length > 0 && <>Left out, for this page cannot do it: <code>{s.left.join(", ")}</code>. </>}
      <button class="button" onClick={() => change({ more: [], left: [], kernel: s.kernel || usual.kernel })}>without these</button>
    </p>
  );
}

// How a pasted listing is launched: the file that --launch takes.
function Launch() {
  const s = state.value, [text, setText] = useState(s.launch);
  useEffect(() => setText(s.launch), [s.launch]);
  const take = (value) => { if (value !== state.value.launch) change({ launch: value }); };
  return (
    <div class="kernel">
      <label for="launch">Launch</label>
      <textarea id="launch" class="tall mono" rows={4} spellcheck={false} value={text} autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)} onBlur={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); take(event.currentTarget.value); } }} />
      <button class="button" onClick={() => take(document.getElementById("launch").value)}>Run</button>
    </div>
  );
}

function Slider({ axis, list, most }) {
  const value = state.value[axis], name = axis === "batch" ? "batch" : axis.toUpperCase();
  const take = (field) => {
    const number = Math.round(Number(field.value));
    if (number >= 1 && number <= most) change({ [axis]: number });
    else field.value = value;  // the field says what is simulated
  };
  return (
    <div class="slider">
      <b aria-hidden="true">{name}</b>
      <input type="range" min={0} max={list.length - 1} value={nearest(list, value)} aria-label={`${name}, slider`}
        aria-valuetext={String(value)} onInput={(event) => change({ [axis]: list[Number(event.currentTarget.value)] })} />
      <input class="field" type="number" min={1} max={most} value={value} aria-label={name}
        onChange={(event) => take(event.currentTarget)} />
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
      <Beside />
      {isListing(s) ? <div><Launch /></div> : <div class="sliders">
        {["m", "n", "k"].map((axis) => <Slider axis={axis} list={sizes} most={1000000} key={axis} />)}
        <Slider axis="batch" list={batches} most={65535} />
      </div>}
    </header>
  );
}
