// What every part of the page is made of: figures as text, exact values behind them, a frame with a table.
import { useLayoutEffect, useState } from "preact/hooks";

export const digits = (value, count = 3) => {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(6, Math.max(0, count - 1 - size)));
};
const scaled = (value, steps, count) => {
  const [factor, unit] = steps.find(([least]) => Math.abs(value) >= least) ?? steps.at(-1);
  return `${digits(value / factor, count)} ${unit}`;
};
export const time = (us, count = 4) => scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]], count);
export const bytes = (b) => scaled(b, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]], 3);
export const rate = (gb) => scaled(gb, [[1e3, "TB/s"], [1, "GB/s"]], 3);
export const count = (n) => scaled(n, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]], 3).trim();
export const energy = (mj) => scaled(mj, [[1e3, "J"], [1, "mJ"], [1e-3, "µJ"]], 3);
export const percent = (share, places = 1) => `${(100 * share).toFixed(places)} %`;
export const inWords = (name) => String(name).replaceAll("_", " ");
export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// The text shown, with the exact value and the key of the JSON beside it.
export const Value = ({ of, name, text }) => <data value={of} data-key={name}>{text}</data>;

export const gpuColour = (index) => `var(--g${(index % 4) + 1})`;

// A colour of the style sheet as the canvas needs it.
export const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Table({ head, rows, caption }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="sr">{caption}</caption>
        <thead><tr>{head.map((each, i) => <th scope="col" class={i ? "n" : ""}>{each}</th>)}</tr></thead>
        <tbody>{rows.map((row) => (
          <tr>{row.map((cell, i) => (i ? <td class="n">{cell}</td> : <th scope="row">{cell}</th>))}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

// A chart in its card: title, what to see in it, the drawing, the table behind it.
export function Card({ id, title, note, span = "w6", tools, table, children }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class={`card ${span}`} id={id} aria-labelledby={`${id}-title`}>
      <header><h2 id={`${id}-title`}>{title}</h2>{tools}</header>
      {note && <p class="note">{note}</p>}
      {children}
      {table && (
        <details class="table" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Table</summary>
          {isOpen && <Table {...table()} />}
        </details>
      )}
    </section>
  );
}

// Width of an element as it changes; the element may come later.
export function useWidth(usual = 600) {
  const [place, setPlace] = useState(null);
  const [width, setWidth] = useState(usual);
  useLayoutEffect(() => {
    if (!place) return undefined;
    const look = () => setWidth(Math.max(240, Math.round(place.clientWidth)));
    look();
    const watch = new ResizeObserver(look);
    watch.observe(place);
    return () => watch.disconnect();
  }, [place]);
  return [setPlace, width];
}

export const Legend = ({ items }) => (
  <div class="legend">{items.map(([colour, name]) => <span><i style={{ "--c": colour }} />{name}</span>)}</div>
);

export function save(name, type, content) {
  const link = document.createElement("a");
  link.href = content instanceof Blob ? URL.createObjectURL(content) : URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
