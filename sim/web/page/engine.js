// The workers: number 0 answers what the visitor is moving, and only the latest of it; where there are cores enough a
// second one takes every other GPU from it. The others sweep, explain and
// watch, piece by piece, so that what is no longer wanted is dropped between two pieces.
import * as Comlink from "comlink";

async function moduleOf(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export class Engine {
  constructor(workerText, packed) {
    this.url = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    this.module = moduleOf(packed);
    this.first = this.start();
    this.others = [];
    this.files = new Map();
    this.waiting = [];      // pieces for the others: {question, wanted, done}
    this.latest = null;     // the newest batch for worker 0
    this.isAnswering = false;
  }

  async start() {
    const worker = Comlink.wrap(new Worker(this.url));
    await worker.start(await this.module);
    return worker;
  }

  // After the first answer: until then they would only be in its way.
  startOthers() {
    if (this.others.length) return;
    const cores = navigator.hardwareConcurrency || 2, count = Math.min(3, Math.max(1, cores - 1));
    if (cores >= 4) this.second = this.start().then(async (worker) => {
      for (const [path, text] of this.files) await worker.keep(path, text);
      return worker;
    });
    this.others = Array.from({ length: count }, async () => {
      const worker = await this.start();
      for (const [path, text] of this.files) await worker.keep(path, text);
      this.serve(worker);
      return worker;
    });
  }

  async keep(path, text) {
    this.files.set(path, text);
    await (await this.first).keep(path, text);
    for (const each of [this.second, ...this.others]) await (await each)?.keep(path, text);
  }

  // Questions of one move; resolves to null where a later move came in between.
  now(questions) {
    this.latest?.done(null);
    return new Promise((done) => {
      this.latest = { questions, done };
      this.answerLatest();
    });
  }

  async answerLatest() {
    if (this.isAnswering) return;
    this.isAnswering = true;
    const worker = await this.first.catch(() => null);
    while (this.latest) {
      const { questions, done } = this.latest;
      this.latest = null;
      const movers = [worker, await this.second].filter(Boolean);
      const texts = worker ? await Promise.all(questions.map((question, i) => movers[i % movers.length].ask(question))) : null;
      done(texts);
    }
    this.isAnswering = false;
  }

  // A piece of work for later; wanted() false: it is dropped and resolves to null. Urgent ones go first.
  later(question, wanted = () => true, isUrgent = false) {
    this.startOthers();
    return new Promise((done) => {
      const piece = { question, wanted, done };
      if (isUrgent) this.waiting.unshift(piece);
      else this.waiting.push(piece);
      this.wake?.splice(0).forEach((each) => each());
    });
  }

  async serve(worker) {
    for (;;) {
      const piece = this.waiting.shift();
      if (!piece) {
        await new Promise((resume) => { (this.wake ??= []).push(resume); });
      } else if (!piece.wanted()) {
        piece.done(null);
      } else {
        piece.done(await worker.ask(piece.question));
      }
    }
  }
}

// Facts on the first line, behind it what the command prints.
export function readRun(text) {
  const end = text.indexOf("\n");
  if (text.startsWith('{"errors"')) return { errors: JSON.parse(text).errors };
  const json = text.slice(end + 1);
  return { facts: JSON.parse(text.slice(0, end)), text: json, report: JSON.parse(json) };
}
