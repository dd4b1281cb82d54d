// How many different values there are; these come first afterwards, in order.
#pragma once

#include <algorithm>
#include <vector>

namespace noteg {

template <typename T>
[[nodiscard]] int count_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<int>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace noteg
