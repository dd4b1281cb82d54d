// A report as one HTML file that needs nothing else: style, script, chart library and data are inside, and a content
// security policy keeps the browser from asking any network. The same input gives the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/pages/chart.hpp"

namespace noteg::pages {

// A headline figure.
struct Tile {
  std::string name, figure, more;
};

class Page {
 public:
  // kicker: what kind of report; lead: of what, one or two sentences.
  Page(std::string_view kicker, std::string_view title, std::string_view lead);

  void verdict(std::string_view text);  // the answer in a sentence, at the top
  void tiles(const std::vector<Tile>& tiles);
  void section(std::string_view title, std::string_view text = "");
  void add(const Chart& chart);
  void add(std::string_view title, const Table& table, bool open = true, std::string_view note = "");
  void footer(std::string_view text);

  [[nodiscard]] std::string take() const;

 private:
  void close_cards();
  void open_cards();
  std::string title_, header_, main_, footer_, charts_;
  bool in_cards_ = false;
};

// The page with the command that made it below its title. has_live: with a link to the live page, which is taken to lie
// beside the report as noteg.html and reads the command behind its #.
[[nodiscard]] std::string with_command(std::string page, std::string_view command, bool has_live);

// The fixed parts of an HTML report, embedded into the program at build time (cmake/embed.cmake): nothing is read when
// a report is written, and a report needs no file beside it.

[[nodiscard]] std::string_view page_template();  // with {{title}}, {{style}}, {{body}} ...
[[nodiscard]] std::string_view style_sheet();
[[nodiscard]] std::string_view script();

// Chart.js as the distribution packages it, its licence notice in front. Empty where it was missing at build time.
[[nodiscard]] std::string_view chart_library();

}  // namespace noteg::pages
