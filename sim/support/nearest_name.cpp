#include "sim/support/nearest_name.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace noteg {
namespace {

constexpr std::size_t longest = 128;  // names are short; a long paste must not cost quadratic time

}  // namespace

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');  // ASCII only: names of machines, no locale
  }
  return lower;
}

int edit_distance(std::string_view a_text, std::string_view b_text) {
  const std::string a = to_lower(a_text.substr(0, longest));
  const std::string b = to_lower(b_text.substr(0, longest));
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& names,
                                       std::size_t most) {
  const std::string wanted = to_lower(typed);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& name : names) {
    const int limit = static_cast<int>(std::min(std::max(typed.size(), name.size()), longest)) / 3;
    const bool holds = wanted.size() >= 2 && to_lower(name).find(wanted) != std::string::npos;
    const auto compared = [](std::string_view text) { return static_cast<int>(std::min(text.size(), longest)); };
    if (!holds && std::abs(compared(typed) - compared(name)) > limit) continue;  // each letter more is a change
    const int distance = edit_distance(typed, name);
    if (distance <= limit || holds) near.emplace_back(holds ? std::min(distance, limit) : distance, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : near) {
    if (nearest.size() < most) nearest.push_back(name);
  }
  return nearest;
}

std::string join_or(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace noteg
