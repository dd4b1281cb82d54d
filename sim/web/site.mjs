// The site: the live page as its front, the pages of docs/ as HTML with navigation and search. No server is needed and
// nothing is loaded from elsewhere: node site.mjs ROOT NODE_FOLDER LIVE.html OUT
import { createRequire } from "node:module";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { figureOf } from "./figures.mjs";

const [root, node, live, out] = process.argv.slice(2).map((each) => resolve(each));
const require = createRequire(join(node, "node_modules/"));
const { marked } = await import(pathToFileURL(require.resolve("marked")));

// Groups of the navigation, in the order in which a newcomer reads; what is in none comes last.
const groups = [
  ["Start", ["overview", "faq", "files-and-limits"]],
  ["Use", ["reports", "live-page", "trace", "compare", "tune", "workloads", "compiled-kernels", "sweeps", "learning", "serve", "python", "switches", "cluster", "assembly"]],
  ["The model", ["model", "validation", "leave-one-out", "performance", "power", "tensor-memory", "triton-and-attention"]],
  ["Extend", ["adding-a-gpu", "adding-a-kernel-family", "measured-files"]],
  ["Reference", ["architecture-reference", "kernel-reference", "kernel-names", "library-catalogue", "report-reference", "dataset-reference"]],
];

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const plain = (html) => html.replace(/<[^>]+>/g, " ").replace(/&(amp|lt|gt|quot|#39);/g, (_, c) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[c]);
const anchor = (text) => plain(text).toLowerCase().replace(/[^\w\- ]+/g, "").trim().replaceAll(" ", "-");

const files = ["docs", "docs/reference"].flatMap((folder) => readdirSync(join(root, folder)).filter((each) => each.endsWith(".md")).map((file) => join(folder, file)));
const pages = files.map((file) => {
  // On the site all pages lie in one folder.
  const text = readFileSync(join(root, file), "utf8").replaceAll("](../images/", "](images/"), id = basename(file, ".md");
  return { id, text, title: /^# (.+)$/m.exec(text)?.[1] ?? id };
}).sort((a, b) => a.id.localeCompare(b.id));
const listed = groups.flatMap(([, ids]) => ids);
const others = pages.filter((page) => !listed.includes(page.id)).map((page) => page.id);
if (others.length) groups.push(["More", others]);

// Links between pages lead to pages; those into the sources are left as text, for the site has no sources.
function render(page) {
  const heads = [];
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens), id = anchor(html);
        if (depth === 2) heads.push([id, plain(html)]);
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens), local = /^(?:\.\.\/|reference\/)?([\w-]+)\.md(#.*)?$/.exec(href);
        if (local) return `<a href="${local[1]}.html${local[2] ?? ""}">${text}</a>`;
        return /^(https?:|#)/.test(href) ? `<a href="${escaped(href)}">${text}</a>` : text;
      },
      table(token) {
        const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${token.rows.map((cells) => row(cells, "td")).join("\n")}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parse(page.text), heads };
}

const navigation = (here) => groups.map(([name, ids]) => {
  const items = ids.map((id) => pages.find((page) => page.id === id)).filter(Boolean);
  return `<h2>${name}</h2><ul>${items.map((page) => `<li><a href="${page.id}.html"${page.id === here ? ' aria-current="page"' : ""}>${escaped(page.title.split(":")[0])}</a></li>`).join("")}</ul>`;
}).join("");

const style = readFileSync(join(root, "sim/web/page/site.css"), "utf8");
const script = readFileSync(join(root, "sim/web/page/site.js"), "utf8");
const frame = (page, body, heads) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} - NoteG</title><link rel="icon" href="data:,"><link rel="stylesheet" href="site.css"></head>
<body><a class="skip" href="#text">to the text</a>
<header><a class="brand" href="../index.html">NoteG</a><a href="../index.html">live page</a>
<form role="search"><label class="skip" for="search">Search the documentation</label><input id="search" type="search" placeholder="Search" autocomplete="off"><ol id="found" hidden></ol></form></header>
<div class="columns"><nav aria-label="Pages">${navigation(page.id)}</nav>
<main id="text">${body}</main>
<aside aria-label="On this page">${heads.length > 1 ? `<h2>On this page</h2><ul>${heads.map(([id, text]) => `<li><a href="#${id}">${escaped(text)}</a></li>`).join("")}</ul>` : ""}</aside></div>
<script src="index.js"></script><script src="site.js"></script></body></html>
`;

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "docs"), { recursive: true });
cpSync(live, join(out, "index.html"));
if (existsSync(join(root, "docs/images"))) cpSync(join(root, "docs/images"), join(out, "docs/images"), { recursive: true });
writeFileSync(join(out, "docs/site.css"), style);
writeFileSync(join(out, "docs/site.js"), script);
const index = [];
for (const page of pages) {
  const { html: plainHtml, heads } = render(page);
  const figure = plainHtml.includes("<img") ? "" : figureOf(page.id, page.title, escaped);
  const html = plainHtml.replace("</h1>\n", `</h1>\n${figure}`);
  writeFileSync(join(out, "docs", `${page.id}.html`), frame(page, html, heads));
  for (const part of html.split(/(?=<h[123] id=)/)) {
    const head = /^<h[123] id="([^"]*)">(.*?)<\/h/.exec(part);
    index.push({ page: page.id, title: page.title, at: head?.[1] ?? "", head: head ? plain(head[2]).trim() : page.title, text: plain(part.replace(/^<h[123].*?<\/h[123]>/, "")).replace(/\s+/g, " ").trim() });
  }
}
writeFileSync(join(out, "docs/index.js"), `window.noteg_index = ${JSON.stringify(index).replaceAll("<", "\\u003c")};\n`);
console.error(`${out}: ${pages.length} pages`);
