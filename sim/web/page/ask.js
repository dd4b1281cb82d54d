// From what is chosen to questions, and from answers to what is shown. A move is answered at once by worker 0, with the
// limiter estimated; when the hand rests, the others find the limits by experiment, sweep, and watch.
import { effect } from "@preact/signals";
import { readRun } from "./engine.js";
import {
  about, answers, compareWords, comparison, isBusy, isListing, kindOf, occupancy, pastedFile, pastedLaunch, pastedSass,
  shipped, state, sweeps, toHash, watched, wordsFor,
} from "./state.js";

const restAfter = 140;  // ms without a move
const pointsAtATime = 4, pointsOfASweep = 128;

export const sweepRange = (s) => {
  const least = Math.max(1024, s[s.axis] * 1.02);
  return 2 ** Math.ceil(Math.log2(least) - 1e-9);
};

const withoutAxis = (s, i) => wordsFor({ ...s, [s.axis]: 0 }, i, shipped.value);
export const sweepKey = (s, i) => [s.axis, pasted(s), ...withoutAxis(s, i)].join(" ");
// Files that the visitor's texts stand for.
const pasted = (s) => {
  if (isListing(s)) return [[pastedSass, s.kernel], [pastedLaunch, s.launch]];
  return kindOf(s.kernel, shipped.value) === "configuration" ? [[pastedFile, s.kernel]] : [];
};

// From coarse to fine, so that the whole curve is there at once and gets sharper.
function sweepOrder(range) {
  const step = Math.max(1, range / pointsOfASweep), out = [], seen = new Set();
  for (let stride = 16; stride >= 1; stride /= 2)
    for (let i = stride; i <= pointsOfASweep; i += stride) {
      const x = Math.max(1, Math.round(i * step));
      if (!seen.has(x)) { seen.add(x); out.push(x); }
    }
  return out;
}

export class Asker {
  constructor(engine) {
    this.engine = engine;
    this.round = 0;
    this.kept = new Map();  // by path
    this.moves = [];  // milliseconds from a move to its answer on the page, for the tests
  }

  follow() {
    effect(() => { this.moved(state.value, about.value); });
  }

  async moved(s, all) {
    if (!all) return;
    const round = ++this.round, began = performance.now();
    clearTimeout(this.rest);
    isBusy.value = true;
    for (const [path, text] of pasted(s)) {
      if (this.kept.get(path) === text) continue;
      this.kept.set(path, text);
      await this.engine.keep(path, text.endsWith("\n") ? text : text + "\n");
    }
    if (round !== this.round) return;
    const questions = s.gpus.map((_, i) => ({ ask: "run", depth: "fast", words: wordsFor(s, i, shipped.value) }));
    const texts = await this.engine.now(questions);
    if (!texts || round !== this.round) return;
    answers.value = texts.map((each, i) => ({ ...readRun(each), isEstimate: true, words: questions[i].words }));
    this.moves.push(performance.now() - began);
    this.rest = setTimeout(() => this.rested(s, round), restAfter);
  }

  async rested(s, round) {
    const wanted = () => round === this.round;
    history.replaceState(null, "", toHash(s));
    const settled = s.gpus.map((_, i) => this.explain(s, i, wanted));
    const details = [this.details(s, wanted)];
    for (let i = 0; i < s.gpus.length; ++i) details.push(this.sweep(s, i, wanted));
    await Promise.all(settled);
    await Promise.all(details);
    if (wanted()) isBusy.value = false;
  }

  async explain(s, i, wanted) {
    if (answers.value[i]?.errors) return;
    const words = wordsFor(s, i, shipped.value);
    const text = await this.engine.later({ ask: "run", depth: "explain", words }, wanted, true);
    if (!text || !wanted()) return;
    answers.value = answers.value.map((each, at) => (at === i ? { ...readRun(text), isEstimate: false, words } : each));
  }

  async sweep(s, i, wanted) {
    if (answers.value[i]?.errors || isListing(s)) return;
    const key = sweepKey(s, i), words = wordsFor(s, i, shipped.value);
    const have = sweeps.value[key] ?? new Map();
    const missing = sweepOrder(sweepRange(s)).filter((x) => !have.has(x));
    const pieces = [];
    for (let at = 0; at < missing.length; at += pointsAtATime)
      pieces.push(missing.slice(at, at + pointsAtATime));
    await Promise.all(pieces.map(async (values) => {
      const text = await this.engine.later({ ask: "points", axis: s.axis, values, words }, wanted);
      if (!text) return;
      const { points = [] } = JSON.parse(text);
      const now = new Map(sweeps.value[key] ?? []);
      for (const point of points) now.set(point.at, point);
      const recent = Object.entries({ ...sweeps.value, [key]: now }).slice(-24);
      sweeps.value = Object.fromEntries(recent);
    }));
  }

  // What one GPU's charts and the open tab need.
  async details(s, wanted) {
    const words = wordsFor(s, s.focus, shipped.value), key = JSON.stringify([pasted(s), words]);
    if (answers.value[s.focus]?.errors) return;
    const tasks = [this.engine.later({ ask: "occupancy", words }, wanted, true).then((text) => {
      if (text && wanted()) occupancy.value = JSON.parse(text);
    })];
    if (["timeline", "source"].includes(s.tab) && watched.value?.key !== key)
      tasks.push(this.engine.later({ ask: "watch", first: 2, last: 3, words }, wanted, true).then((text) => {
        if (text && wanted()) watched.value = { key, data: JSON.parse(text) };
      }));
    const both = compareWords(s, shipped.value), pair = JSON.stringify([pasted(s), both]);
    if (s.tab === "compare" && !isListing(s) && both.filter((word) => word === "--arch").length > 1 && comparison.value?.key !== pair)
      tasks.push(this.engine.later({ ask: "compare", words: both }, wanted).then((text) => {
        if (text && wanted()) comparison.value = { key: pair, data: JSON.parse(text), text };
      }));
    await Promise.all(tasks);
  }
}
