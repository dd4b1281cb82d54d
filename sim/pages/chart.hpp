// One chart of a report as data: what is shown, in which units, with which words. The page draws it with the embedded
// chart library (assets/report.js) and holds the same figures as a table; both are made from this description, so that
// they cannot drift apart. Colours are names of the style sheet: s1 ... s8, muted, good, bad, ink.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/pages/table.hpp"

namespace noteg::pages {

struct Axis {
  std::string title;
  bool log = false;
  std::optional<double> min = std::nullopt, max = std::nullopt;
  std::string unit = "";  // how ticks are written: share (0..1 as percent), us, B, mJ; empty: plain numbers
};

enum class Kind : std::uint8_t {
  bars,     // one row per label, a bar per series in it
  stacked,  // one row per label, series end to end
  xy,       // points and lines
};

struct Bar {
  double value = 0;
  std::string text;    // the value with its unit
  std::string colour;  // empty: the series'
  double from = 0;     // where the bar begins: steps of a waterfall
};

struct Dot {
  double x = 0, y = 0;
  std::string x_text, y_text, label;
};

enum class Mark : std::uint8_t { points, line, dashes, marked, band };  // marked: a line with points on it
// A band is filled down to the series after it.

struct Series {
  std::string name;
  std::string colour = "s1";
  std::vector<Bar> bars;  // parallel to the chart's labels
  Mark mark = Mark::points;
  std::vector<Dot> dots;
  bool labelled = false;   // labels of dots are written beside them
  bool reference = false;  // a line to compare with, no figures of the run: not in the table
  bool legend = true;      // named in the legend, if there are several
};

struct Chart {
  Kind kind = Kind::bars;
  std::string id;                   // unique in the page: letters, digits, hyphens
  std::string title;                // what it shows
  std::string note;                 // what to see in it, one sentence; may be empty
  std::string label_head = "part";  // heading of the labels' column in the table
  std::vector<std::string> labels;
  Axis value;  // of bars along the page, of points upwards
  Axis x;
  std::vector<Series> series;
  bool wide = false;  // takes a whole row of the page
};

[[nodiscard]] Table table_of(const Chart& chart);

// The description for the page's script: one JSON object. Numbers are finite, what is absent is null.
[[nodiscard]] std::string to_json(const Chart& chart);

// The figure with its caption, the place for the drawing, and the table behind it.
[[nodiscard]] std::string to_html(const Chart& chart);

}  // namespace noteg::pages
