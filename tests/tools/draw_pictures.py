#!/usr/bin/env python3
"""Draws the pictures at the heads of the documentation's pages: tests/tools/draw_pictures.py writes docs/images/NAME.svg.

Most are flows: what comes from what, as boxes with arrows between them, in the words of the page. The machine of
docs/model.md and the timeline of docs/performance.md have drawings of their own. Light and dark follow the reader's
system.
"""

import pathlib
from xml.sax.saxutils import escape

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images"
STYLE = """<style>
text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1c2733}.small{font-size:11px;fill:#4a5a6a}
.left{text-anchor:start}.box{fill:#eef4fa;stroke:#3b6ea5}.end{fill:#fdf1dc;stroke:#b5771a}.frame{fill:none;stroke:#7b8a99}
.line{fill:none;stroke:#3b6ea5;stroke-width:1.5}.tip{fill:#3b6ea5}.skip{fill:#e3e7eb;stroke:#7b8a99}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#a9b7c4}.box{fill:#16273a;stroke:#6ea8e0}
.end{fill:#33270f;stroke:#e0a850}.frame{stroke:#8696a5}.line{stroke:#6ea8e0}.tip{fill:#6ea8e0}.skip{fill:#2a323a}}
</style><defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>"""

FLOWS = {
    "overview": ["GPU file + kernel", "launch, traffic", "SM runs", "clock, power, DRAM", "report"],
    "faq": ["question", "command", "figure", "interval", "measurements behind it"],
    "files-and-limits": ["file", "line : column : key", "expected, found", "exit status 2"],
    "live-page": ["hand moves", "worker 0: latest move", "answer", "hand rests", "others: limits, sweep, warps"],
    "trace": ["run of the report", "stretch run again", "issues, waits, units", "timeline, trace"],
    "compare": ["GPU A", "burst clock", "SM core, SM count, clock", "L2, DRAM", "power", "GPU B"],
    "tune": ["space of configurations", "lower bound", "pilot runs", "best timed in full", "ranking"],
    "sweeps": ["sweep.yaml", "rows by seed", "runs in parallel", "data set", "resumed where it stopped"],
    "learning": ["data set", "analytic features", "forest", "held-out errors", "prediction with interval"],
    "python": ["import noteg", "simulate, compare, tune", "dicts and arrays", "notebook, plots"],
    "cluster": ["sweep", "shards or mpirun", "rows of each rank", "one data set"],
    "assembly": ["text", "parsed program", "control bits", "one SM", "cycles"],
    "serve": ["request, a line", "caches kept", "run", "answer, a line"],
    "workloads": ["model or list of operations", "launches", "distinct runs", "sums", "time, energy, tokens"],
    "compiled-kernels": ["listing + launch", "emulation", "profile, footprints", "SM runs, traffic",
                         "time, stalls by line"],
    "triton-and-attention": ["tl.dot, attention", "plan", "instruction list", "SM and GPU", "time"],
    "operators": ["one line of text", "values dealt to CTAs, or launches", "loads, arithmetic, stores", "SM, L2, DRAM, clock",
                  "time, energy"],
    "tensor-memory": ["TMA", "shared memory", "tcgen05.mma", "tensor memory", "epilogue"],
    "power": ["events of the run", "energy of each", "watts", "clock under the limit", "again until both agree"],
    "adding-a-gpu": ["data sheet, measurements", "gpu.yaml with sources", "arch check", "simulate", "calibrate"],
    "adding-a-kernel-family": ["configuration", "rules", "plan", "instruction list", "passes"],
    "kernel-names": ["name as a profiler prints it", "library and family", "tile, stages, type", "configuration"],
}

WIDTH, HEIGHT, GAP, PER_ROW = 148, 46, 26, 5


def two_lines(text):
    """Words of a box on at most two lines, broken nearest to the middle."""
    if len(text) <= 19:
        return [text]
    words = text.split(" ")
    breaks = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return list(min(breaks, key=lambda parts: abs(len(parts[0]) - len(text) / 2))) if breaks else [text]


def box(x, y, width, height, text, kind="box", small=""):
    parts = two_lines(text)
    lines = len(parts) + bool(small)
    out = f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
    for at, line in enumerate(parts + ([small] if small else [])):
        down = y + height / 2 + 4.5 + (at - (lines - 1) / 2) * 15
        size = ' class="small"' if at == len(parts) else ""
        out += f'<text x="{x + width / 2}" y="{down}"{size}>{escape(line)}</text>'
    return out


def arrow(path):
    return f'<path class="line" d="{path}" marker-end="url(#tip)"/>'


def page(width, height, says, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img" aria-label="{escape(says)}">{STYLE}{body}</svg>\n')


def flow(boxes):
    across, down = min(PER_ROW, len(boxes)), -(-len(boxes) // PER_ROW)
    width, height = across * (WIDTH + GAP) - GAP + 4, down * (HEIGHT + GAP) - GAP + 4
    body = ""
    for i, text in enumerate(boxes):
        x, y = 2 + (i % PER_ROW) * (WIDTH + GAP), 2 + (i // PER_ROW) * (HEIGHT + GAP)
        last = i + 1 == len(boxes)
        body += box(x, y, WIDTH, HEIGHT, text, "end" if last else "box")
        if not last and (i + 1) % PER_ROW:
            body += arrow(f"M{x + WIDTH} {y + HEIGHT / 2}h{GAP - 3}")
        elif not last:
            body += arrow(f"M{x + WIDTH / 2} {y + HEIGHT}v{GAP / 2}H{2 + WIDTH / 2}v{GAP / 2 - 3}")
    return page(width, height, ", then ".join(boxes), body)


def machine():
    """The units of an SM, and what it sees of the rest of the GPU through its memory port."""
    body = '<rect class="frame" x="2" y="2" width="640" height="250" rx="8"/>'
    body += '<text class="small left" x="12" y="20">SM</text>'
    for s in range(4):
        x = 14 + s * 156
        body += f'<rect class="frame" x="{x}" y="28" width="148" height="130" rx="6"/>'
        body += f'<text class="small left" x="{x + 6}" y="42">sub-core {s}</text>'
        for row, text in enumerate(("warp scheduler", "register file + cache", "execution pipes")):
            body += box(x + 8, 48 + row * 36, 132, 30, text)
            if row:
                body += arrow(f"M{x + 74} {42 + row * 36}v4")
    for i, (text, kind) in enumerate((("CTA slots", "box"), ("instruction and constant caches", "box"),
                                      ("load/store unit", "box"), ("async units: TMA, cp.async", "box"))):
        body += box(14 + i * 156, 186, 148, 48, text, kind)
        body += arrow(f"M{88 + i * 156} 158v24")
    body += arrow("M404 234v40") + arrow("M560 234v40")
    body += box(326, 278, 312, 32, "memory port: latency, bandwidth, hit rate", "end")
    body += box(14, 278, 140, 32, "L2") + box(170, 278, 140, 32, "DRAM")
    body += arrow("M326 294h-12") + arrow("M170 294h-12")
    return page(646, 314, "An SM: four sub-cores with warp scheduler, register file and pipes above the units that they "
                "share; the memory port stands for L2 and DRAM", body)


def timeline():
    """What of a run is stepped through, and what is skipped at a known rate."""
    parts = (("fill", 70, "box"), ("windows: rate measured", 170, "box"), ("iterations skipped", 180, "skip"),
             ("CTA turnover", 100, "box"), ("waves skipped", 130, "skip"), ("drain, tail wave", 120, "box"))
    body, x = "", 2
    for text, width, kind in parts:
        body += box(x, 2, width, 44, text, kind)
        x += width + 3
    body += arrow(f"M2 62H{x - 8}") + f'<text class="small" x="{x / 2}" y="80">cycles of the SM; grey is not stepped through</text>'
    return page(x, 88, "A run: stepped through at its start, its turnovers and its end, skipped in between", body)


def main():
    pictures = {name: flow(boxes) for name, boxes in FLOWS.items()}
    pictures["model"] = machine()
    pictures["performance"] = timeline()
    for name, text in pictures.items():
        (PICTURES / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
