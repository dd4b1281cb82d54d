// Draws every chart of the page from its description (sim/pages/chart.hpp). All texts and figures come from
// there; what is decided here is only how they look at the width and in the colours that the reader has.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  if (typeof Chart === "undefined") {
    document.body.classList.add("no-charts");
    document.querySelectorAll("figure details").forEach((each) => { each.open = true; });
    return;
  }

  const style = () => getComputedStyle(document.documentElement);
  const colour = (name) => (name === "none" ? "transparent" : style().getPropertyValue("--" + name).trim());
  const faint = (name, alpha) => {
    if (name === "none") return "transparent";
    const [r, g, b] = colour(name).match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
    return `rgba(${r}, ${g}, ${b}, ${alpha})`;
  };
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const font = (size, weight) => `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;

  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const compact = (value) => {
    const size = Math.abs(value);
    for (const [factor, letter] of prefixes)
      if (size >= factor) return Number((value / factor).toPrecision(3)) + letter;
    return String(Number(value.toPrecision(3)));
  };

  const tick_text = {
    "": compact,
    share: (value) => Number((100 * value).toPrecision(3)) + " %",
    us: (value) => (value === 0 ? "0" : value >= 1e6 ? compact(value / 1e6) + " s"
      : value >= 1e3 ? compact(value / 1e3) + " ms" : compact(value) + " us"),
    B: (value) => (value === 0 ? "0" : compact(value).replace(/([kMGT]?)$/, " $1B")),
    mJ: (value) => (value === 0 ? "0" : value >= 1e3 ? compact(value / 1e3) + " J" : compact(value) + " mJ"),
  };

  const pen = document.createElement("canvas").getContext("2d");
  const width_of = (text, weight) => {
    pen.font = font(12, weight);
    return pen.measureText(text).width;
  };
  const cut = (text, most) => {
    if (width_of(text, 400) <= most + 1) return text;
    let length = text.length;
    while (length > 1 && width_of(text.slice(0, length) + "\u2026", 400) > most) --length;
    return text.slice(0, length) + "\u2026";
  };

  // Figures stand at the ends of bars, so that reading one takes neither the axis nor a pointer.
  const bar_figures = {
    id: "bar_figures",
    afterDatasetsDraw(chart) {
      const spec = chart.options.spec;
      if (spec.kind !== "bars" || spec.series.length !== 1) return;
      const { ctx } = chart;
      ctx.save();
      ctx.font = font(12, 500);
      ctx.fillStyle = colour("ink-2");
      ctx.textBaseline = "middle";
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        const end = Math.max(bar.x, bar.base);
        ctx.fillText(spec.series[0].bars[i].text, end + 6, bar.y);
      });
      ctx.restore();
    },
  };

  // Names beside the few points that have one.
  const point_names = {
    id: "point_names",
    afterDatasetsDraw(chart) {
      const spec = chart.options.spec;
      const { ctx, chartArea: area } = chart;
      ctx.save();
      ctx.font = font(12, 600);
      ctx.textBaseline = "middle";
      ctx.lineJoin = "round";
      ctx.lineWidth = 4;
      ctx.strokeStyle = colour("surface");
      ctx.fillStyle = colour("ink");
      spec.series.forEach((series, s) => {
        if (!series.labelled || !chart.isDatasetVisible(s)) return;
        chart.getDatasetMeta(s).data.forEach((point, i) => {
          const name = series.dots[i].label;
          const width = ctx.measureText(name).width;
          const left = point.x + 12 + width > area.right;
          const x = Math.max(area.left + 2, left ? point.x - 12 - width : point.x + 12);
          const y = left ? Math.min(point.y + 18, area.bottom - 8) : point.y;
          ctx.strokeText(name, x, y);
          ctx.fillText(name, x, y);
        });
      });
      ctx.restore();
    },
  };

  function scale(axis, narrow) {
    const out = {
      type: axis.log ? "logarithmic" : "linear",
      title: { display: axis.title !== "", text: axis.title, color: colour("ink-2"), font: { size: 12 } },
      grid: { color: colour("grid"), borderColor: colour("axis"), tickLength: 0 },
      ticks: { color: colour("ink-3"), font: { size: 11.5 }, padding: 6, maxRotation: 0, maxTicksLimit: narrow ? 5 : 8,
        callback: (value) => tick_text[axis.unit](value) },
    };
    if (axis.min !== null) out.min = axis.min;
    if (axis.max !== null) out.max = axis.max;
    if (axis.log) {
      const decades = axis.min && axis.max ? Math.log10(axis.max / axis.min) : 3;
      const wanted = decades < 2.2 ? [1, 2, 5] : [1];
      out.ticks.autoSkip = false;
      out.ticks.maxTicksLimit = undefined;
      out.afterBuildTicks = (drawn) => {
        drawn.ticks = [];
        for (let power = Math.floor(Math.log10(drawn.min)); power <= Math.ceil(Math.log10(drawn.max)); ++power)
          for (const digit of wanted) {
            const value = digit * 10 ** power;
            if (value >= drawn.min * 0.999 && value <= drawn.max * 1.001) drawn.ticks.push({ value });
          }
      };
    }
    return out;
  }

  const label_font = 12;

  function bar_config(spec, width) {
    const narrow = width < 480;
    const single = spec.series.length === 1 && spec.kind === "bars";
    const room = single ? Math.max(...spec.series[0].bars.map((bar) => width_of(bar.text, 500))) + 14 : 8;
    const most = Math.min(width * 0.45, Math.max(...spec.labels.map((label) => width_of(label, 400))));
    return {
      type: "bar",
      data: {
        labels: spec.labels,
        datasets: spec.series.map((series) => ({
          label: series.name,
          data: series.bars.map((bar) => (bar.from === 0 ? bar.value : [bar.from, bar.value])),
          backgroundColor: series.bars.map((bar) => colour(bar.colour || series.colour)),
          borderColor: colour("surface"),
          borderWidth: spec.kind === "stacked" ? { right: 1 } : 0,
          borderRadius: spec.kind === "stacked" ? 0 : 3,
          borderSkipped: false,
          barThickness: spec.kind === "stacked" ? 22 : undefined,
          maxBarThickness: 20,
          categoryPercentage: 0.86,
          barPercentage: 0.86,
        })),
      },
      options: {
        indexAxis: "y",
        layout: { padding: { right: room } },
        scales: {
          x: { ...scale(spec.value, narrow), stacked: spec.kind === "stacked", beginAtZero: true },
          y: {
            stacked: spec.kind === "stacked",
            afterFit(axis) { axis.width = most + 14; },
            grid: { display: false, borderColor: colour("axis") },
            ticks: { color: colour("ink"), font: { size: label_font }, autoSkip: false, padding: 6,
              callback(value) { return cut(this.getLabelForValue(value), most); } },
          },
        },
      },
      height: spec.labels.length * (spec.kind === "bars" && spec.series.length > 1 ? 14 * spec.series.length + 14 : 30) +
        (spec.value.title ? 58 : 40) + (spec.series.length > 1 ? 40 + 16 * Math.floor(spec.series.length / (narrow ? 2 : 5)) : 0),
    };
  }

  function xy_config(spec, width) {
    const narrow = width < 480;
    const many = spec.series.reduce((sum, each) => sum + (each.mark === "points" ? each.dots.length : 0), 0) > 60;
    return {
      type: "scatter",
      data: {
        datasets: spec.series.map((series) => {
          const dots = series.mark === "points", marked = series.mark === "marked";
          return {
            label: series.name,
            data: series.dots.map((dot) => ({ x: dot.x, y: dot.y })),
            showLine: !dots,
            borderColor: dots ? (many ? "transparent" : colour("surface")) : colour(series.colour),
            backgroundColor: series.mark === "band" ? faint(series.colour, 0.13) : many ? faint(series.colour, 0.55) : colour(series.colour),
            borderWidth: dots ? (many ? 0 : 2) : series.mark === "band" ? 0 : 2,
            borderDash: series.mark === "dashes" ? [5, 4] : [],
            fill: series.mark === "band" ? "+1" : false,
            pointStyle: dots || marked ? "circle" : "line",
            pointRadius: dots ? (many ? 3 : 7) : marked ? 4 : 0,
            pointBackgroundColor: dots && many ? faint(series.colour, 0.55) : colour(series.colour),
            pointHoverRadius: dots ? (many ? 5 : 9) : marked ? 6 : 0,
            pointHitRadius: dots || marked ? 6 : 0,
            tension: 0,
            order: dots ? 0 : 1,
          };
        }),
      },
      options: { scales: { x: scale(spec.x, narrow), y: scale(spec.value, narrow) } },
      height: narrow ? 320 : 380,
    };
  }

  function tooltip(spec) {
    return {
      backgroundColor: colour("surface"), titleColor: colour("ink"), bodyColor: colour("ink-2"),
      borderColor: colour("axis"), borderWidth: 1, padding: 10, cornerRadius: 6, boxPadding: 5, usePointStyle: true,
      filter: (item) => !spec.series[item.datasetIndex].reference,
      callbacks: {
        title: (items) => (items.length === 0 ? "" : spec.kind === "xy"
          ? spec.series[items[0].datasetIndex].dots[items[0].dataIndex].label || spec.series[items[0].datasetIndex].name
          : spec.labels[items[0].dataIndex]),
        label: (item) => {
          const series = spec.series[item.datasetIndex];
          if (spec.kind === "xy") {
            const dot = series.dots[item.dataIndex];
            return [`${spec.x.title}: ${dot.x_text}`, `${spec.value.title}: ${dot.y_text}`];
          }
          const text = series.bars[item.dataIndex].text;
          return spec.series.length > 1 ? `${series.name}: ${text}` : text;
        },
      },
    };
  }

  let drawn = [];
  function draw() {
    drawn.forEach((chart) => chart.destroy());
    drawn = charts.map((spec) => {
      const figure = document.getElementById(spec.id);
      const plot = figure.querySelector(".plot");
      const config = spec.kind === "xy" ? xy_config(spec, plot.clientWidth) : bar_config(spec, plot.clientWidth);
      plot.style.height = config.height + "px";
      const named = spec.series.filter((series) => series.legend).length;
      return new Chart(figure.querySelector("canvas"), {
        type: config.type,
        data: config.data,
        plugins: [bar_figures, point_names],
        options: {
          ...config.options,
          spec,
          animation: false,
          responsive: true,
          maintainAspectRatio: false,
          interaction: { mode: spec.kind === "xy" ? "nearest" : "index", axis: spec.kind === "xy" ? "xy" : "y", intersect: spec.kind === "xy" },
          plugins: {
            legend: {
              display: named > 1, position: "top", align: "start",
              labels: { color: colour("ink-2"), usePointStyle: true, boxWidth: 12, boxHeight: 8, padding: 12, font: { size: 12 },
                filter: (item) => spec.series[item.datasetIndex].legend },
            },
            tooltip: tooltip(spec),
          },
        },
      });
    });
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let width = window.innerWidth;
  addEventListener("resize", () => {
    if ((window.innerWidth < 620) !== (width < 620)) draw();
    width = window.innerWidth;
  });
})();

// A table is sorted by the column whose heading is pressed: figures by their exact value, the larger first, texts by
// their letters; pressed again, the other way round. Rows alike keep their order.
(() => {
  const key = (row, column) => {
    const cell = row.cells[column], data = cell?.querySelector("data");
    return data ? Number(data.value) : (cell?.textContent ?? "");
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;  // what has no figure comes behind the figures
    return a < b ? 1 : a > b ? -1 : 0;
  };
  for (const head of document.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const body = head.closest("table").tBodies[0], column = head.cellIndex;
      const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => sign * order(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  }
})();
