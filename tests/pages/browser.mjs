// A headless Chromium spoken to over its debugging pipe: no package beside Node.js is needed.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"];

export function find_chromium() {
  const wanted = process.env.NOTEG_CHROMIUM ? [process.env.NOTEG_CHROMIUM] : names;
  return wanted.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
}

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "noteg-browser-"));
    const arguments_ = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
      "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb",
      `--user-data-dir=${this.profile}`, "--remote-debugging-pipe", "about:blank"];
    this.process = spawn(program, arguments_, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.listeners = [];
    this.number = 0;
    let rest = "";
    this.process.stdio[4].setEncoding("utf8");
    this.process.stdio[4].on("data", (text) => {
      const parts = (rest + text).split("\0");
      rest = parts.pop();
      for (const part of parts) this.receive(JSON.parse(part));
    });
    this.process.on("exit", () => {
      for (const { fail } of this.waiting.values()) fail(new Error("the browser ended"));
    });
  }

  receive(message) {
    if (message.id === undefined) {
      for (const listen of this.listeners) listen(message);
      return;
    }
    const { done, fail } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) fail(new Error(message.error.message));
    else done(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  // Its helpers may write for a moment longer than it lives.
  async close() {
    const is_gone = this.process.exitCode !== null || this.process.signalCode !== null;
    const ended = is_gone ? null : new Promise((done) => this.process.once("exit", done));
    const late = setTimeout(() => this.process.kill("SIGKILL"), 5000);
    this.send("Browser.close").catch(() => {});
    await ended;
    clearTimeout(late);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

// One page in its own tab, with everything that it complains of and asks for.
export class Tab {
  static async open(browser, { width, height, dark }) {
    const tab = new Tab();
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    tab.send = (method, params) => browser.send(method, params, sessionId);
    tab.complaints = [];
    tab.requests = [];
    tab.loaded = new Promise((done) => browser.listeners.push((message) => {
      if (message.sessionId !== sessionId) return;
      if (message.method === "Page.loadEventFired") done();
      tab.note(message);
    }));
    await tab.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: width < 600 ? 2 : 1, mobile: width < 600 });
    await tab.send("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await tab.send(domain + ".enable");
    return tab;
  }

  note({ method, params }) {
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
      this.complaints.push(params.args.map((each) => each.value ?? each.description).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level))
      this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  async go(url) {
    await this.send("Page.navigate", { url });
    await this.loaded;
    await new Promise((done) => setTimeout(done, 200));
  }

  async ask(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async picture(full) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: full });
    return Buffer.from(data, "base64");
  }
}
