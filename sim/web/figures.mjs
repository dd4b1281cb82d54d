// The figure at the head of a page of the site that has no picture of its own (those that the program writes): what
// comes from what, as boxes with arrows between them, in the words of the page. The others are tests/tools/draw_pictures.py's.
const rows = {
  "reports": ["command", "results", "charts and tables", "one HTML file", "live page"],
  "switches": ["a limit", "taken away", "run again", "time gained"],
  "validation": ["measured rows", "each predicted or skipped", "error by group", "bias, order of rows"],
  "leave-one-out": ["one GPU left out", "constants fitted on the others", "its rows predicted", "error of an unmeasured GPU"],
  "measured-files": ["CSV with columns by name", "explicit values", "from the kernel's name", "family's defaults"],
  "architecture-reference": ["SM generation", "GPU file (base)", "overrides", "checked table", "GpuSpec"],
  "kernel-reference": ["family", "tile, warps, stages", "types, layout", "resolved configuration"],
  "library-catalogue": ["problem", "kernels of cuBLAS", "pilot runs", "--kernel auto"],
  "report-reference": ["table of counters", "text", "JSON", "CSV", "this page"],
  "dataset-reference": ["table of columns", "SQLite", "CSV", "this page"],
};

const boxWidth = 148, boxHeight = 46, gap = 26, perRow = 5;

// A box's words on at most two lines.
function lines(text) {
  if (text.length <= 19) return [text];
  const words = text.split(" ");
  let best = 1;
  for (let i = 1; i < words.length; ++i)
    if (Math.abs(words.slice(0, i).join(" ").length - text.length / 2) < Math.abs(words.slice(0, best).join(" ").length - text.length / 2)) best = i;
  return [words.slice(0, best).join(" "), words.slice(best).join(" ")];
}

export function figureOf(id, title, escaped) {
  const boxes = rows[id];
  if (!boxes) return "";
  const across = Math.min(perRow, boxes.length), down = Math.ceil(boxes.length / perRow);
  const width = across * boxWidth + (across - 1) * gap + 4, height = down * (boxHeight + gap) - gap + 4;
  const drawn = boxes.map((text, i) => {
    const x = 2 + (i % perRow) * (boxWidth + gap), y = 2 + Math.floor(i / perRow) * (boxHeight + gap), parts = lines(text);
    const words = parts.map((line, at) => `<text x="${x + boxWidth / 2}" y="${y + boxHeight / 2 + 4 + (at - (parts.length - 1) / 2) * 15}">${escaped(line)}</text>`).join("");
    const isLast = i + 1 === boxes.length, turns = (i + 1) % perRow === 0;
    const arrow = isLast ? "" : turns
      ? `<path d="M${x + boxWidth / 2} ${y + boxHeight}V${y + boxHeight + gap / 2}H${2 + boxWidth / 2}v${gap / 2 - 2}" marker-end="url(#tip)"/>`
      : `<path d="M${x + boxWidth} ${y + boxHeight / 2}h${gap - 3}" marker-end="url(#tip)"/>`;
    return `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="7"${isLast ? ' class="end"' : ""}/>${words}${arrow}`;
  }).join("");
  const says = `${title}: ${boxes.join(", then ")}`;
  return `<figure class="flow"><svg viewBox="0 0 ${width} ${height}" style="max-width:${width}px" role="img" aria-label="${escaped(says)}"><defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>${drawn}</svg></figure>\n`;
}
