// "Did you mean ...?": names close to one that a user typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace noteg {

// Number of single-character insertions, removals, replacements and neighbour swaps between two texts, case ignored.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// At most `most` of the names, nearest first, ties in the given order; only those near enough to be a slip
// (distance up to a third of the longer name) or holding the typed text.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& names,
                                                     std::size_t most);

[[nodiscard]] std::string to_lower(std::string_view text);

// a, b or c
[[nodiscard]] std::string join_or(const std::vector<std::string>& words);

}  // namespace noteg
