// Bundles the live page into one HTML file: node build.mjs PAGE_FOLDER WASM_FOLDER NODE_FOLDER OUT.html
// The simulator goes in as gzip in base64; the browser unpacks it itself. What comes out depends on nothing but what
// goes in.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const [page, wasm, node, out] = process.argv.slice(2).map((each) => resolve(each));
const require = createRequire(join(node, "node_modules/"));
const esbuild = require("esbuild");

async function bundle(entry) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(page, entry)],
    bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none",
    jsx: "automatic", jsxImportSource: "preact",
    nodePaths: [join(node, "node_modules")],
    alias: { "noteg-wasm": join(wasm, "live.js") },
    external: ["fs", "path", "crypto"],
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

// What the page offers is asked once, here: reading all GPU files takes a browser a third of a second.
async function about() {
  const simulator = await require(join(wasm, "live.js"))({ wasmBinary: readFileSync(join(wasm, "live.wasm")) });
  const text = JSON.stringify({ ask: "about" }), length = simulator.lengthBytesUTF8(text) + 1, place = simulator._malloc(length);
  simulator.stringToUTF8(text, place, length);
  return simulator.UTF8ToString(simulator._noteg_answer(place));
}

// A script ends where "</script" is written, wherever that is.
const inScript = (text) => text.replaceAll("</script", "<\\/script");
const style = readFileSync(join(node, "node_modules/uplot/dist/uPlot.min.css"), "utf8") + readFileSync(join(page, "style.css"), "utf8");
const { code } = await esbuild.transform(style, { loader: "css", minify: true });
const parts = {
  style: code,
  script: inScript(await bundle("main.jsx")),
  worker: inScript(await bundle("worker.js")),
  about: inScript(await about()),
  simulator: gzipSync(readFileSync(join(wasm, "live.wasm")), { level: 9 }).toString("base64"),
};
const html = readFileSync(join(page, "index.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
writeFileSync(out, html);
for (const [name, text] of Object.entries(parts)) console.error(`${name.padEnd(10)} ${(text.length / 1024).toFixed(0)} KiB`);
console.error(`${out}: ${(html.length / 1024).toFixed(0)} KiB`);
