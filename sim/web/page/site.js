// Search in the pages of the site: every word must be there; headings count more than text. The index is a script,
// because a page opened from disk may not read files.
const field = document.getElementById("search"), list = document.getElementById("found");

function found(words) {
  return window.noteg_index.map((part) => {
    const head = part.head.toLowerCase(), text = part.text.toLowerCase();
    if (!words.every((word) => head.includes(word) || text.includes(word))) return null;
    const score = words.reduce((sum, word) => sum + (head.includes(word) ? 10 : 0) + Math.min(3, text.split(word).length - 1), 0);
    return { part, score };
  }).filter(Boolean).sort((a, b) => b.score - a.score).slice(0, 12);
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 50);
  return (at > 0 ? "…" : "") + text.slice(at, at + 150) + (text.length > at + 150 ? "…" : "");
}

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.hidden = words.length === 0;
  list.replaceChildren(...(words.length ? found(words) : []).map(({ part }) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
    link.href = `${part.page}.html${part.at ? "#" + part.at : ""}`;
    link.textContent = part.head === part.title ? part.title : `${part.title}: ${part.head}`;
    text.textContent = excerpt(part.text, words[0]);
    item.append(link, text);
    return item;
  }));
  if (words.length && !list.children.length) list.append(Object.assign(document.createElement("li"), { textContent: "nothing" }));
});
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  if (event.key === "Escape") list.hidden = true;
});
