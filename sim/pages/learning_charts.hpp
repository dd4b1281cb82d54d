// Charts that set predictions beside what is true: points about the diagonal, shares of rows by error, errors by group.
#pragma once

#include <string>
#include <vector>

#include "sim/pages/chart.hpp"

namespace noteg::pages {

struct Compared {
  double truth = 0, predicted = 0;  // both positive
  std::string label;
};

struct ComparedGroup {
  std::string name;
  std::vector<Compared> pairs;
};

// At most 1500 points are drawn, every nth of each group; groups beyond the seven largest share a colour. Bands: 10 %
// and 25 %.
[[nodiscard]] Chart diagonal_chart(std::string id, std::string title, const std::string& unit,
                                   const std::string& true_word, std::vector<ComparedGroup> groups);

// Share of rows whose error is below 2 %, 5 % ...
[[nodiscard]] Chart error_shares_chart(std::string id, std::string title, const std::vector<ComparedGroup>& groups);

struct GroupError {
  std::string name;
  double mape = 0;  // fraction
  std::size_t rows = 0;
};

[[nodiscard]] Chart errors_chart(std::string id, std::string title, std::string head,
                                 const std::vector<GroupError>& errors);

[[nodiscard]] std::string percent_text(double fraction);  // "4.2 %"

}  // namespace noteg::pages
