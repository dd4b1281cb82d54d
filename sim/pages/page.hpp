// A report as one HTML file that needs nothing else: style, script, chart library and data are inside, and a content
// security policy keeps the browser from asking any network. The same input gives the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/pages/chart.hpp"
#include "sim/pages/table.hpp"

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

}  // namespace noteg::pages
