// The page: starts a worker, asks what there is, and draws what is chosen.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Answers } from "./answers.jsx";
import { Asker } from "./ask.js";
import { Bar } from "./bar.jsx";
import { Limits, MemoryChart, Occupancy, Roofline, Waves } from "./charts.jsx";
import { Engine, readRun } from "./engine.js";
import { Footer } from "./footer.jsx";
import { about, answers, change, fromHash, isBusy, state, sweeps, toHash } from "./state.js";
import { Sweep } from "./sweep.jsx";
import { Tabs } from "./tabs.jsx";

const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.theme = wantsDark.matches ? "dark" : "light";

function Page() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  useEffect(() => {
    const follow = () => setTheme(wantsDark.matches ? "dark" : "light");
    wantsDark.addEventListener("change", follow);
    return () => wantsDark.removeEventListener("change", follow);
  }, []);
  document.documentElement.dataset.theme = theme;
  return (
    <>
      <a class="skip sr" href="#answer-start">to the answer</a>
      <Bar theme={theme} onTheme={() => setTheme(theme === "dark" ? "light" : "dark")} />
      <main id="answer-start" tabIndex={-1} aria-busy={isBusy.value}>
        <Answers />
        <div class="grid">
          <Sweep key={theme} /><Roofline />
          <MemoryChart /><Limits />
          <Waves /><Occupancy />
          <Tabs key={`tabs-${theme}`} />
        </div>
      </main>
      <Footer />
    </>
  );
}

async function start() {
  const text = (id) => document.getElementById(id).textContent.trim();
  const engine = new Engine(text("worker"), text("simulator"));
  const known = JSON.parse(text("about"));
  state.value = fromHash(location.hash, known.gpus);
  about.value = known;
  const asker = new Asker(engine);
  asker.follow();
  const place = document.getElementById("app");
  place.textContent = "";
  render(<Page />, place);
  // For scripts and tests: the same questions as the page's own (sim/web/live.hpp).
  window.noteg = { ask: (question) => engine.later(question, undefined, true), readRun, change, state, answers, sweeps, isBusy, moves: asker.moves };
  await engine.first;
  window.addEventListener("hashchange", () => {
    if (location.hash !== toHash(state.value)) state.value = fromHash(location.hash, known.gpus);
  });
}

start().catch((error) => {
  document.getElementById("app").innerHTML = "<main><p>NoteG could not start. It needs WebAssembly with exceptions and DecompressionStream: Chrome 95, Firefox 113, Safari 16.4 or newer.</p></main>";
  console.error(error);
});
