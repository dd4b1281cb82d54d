// Many short texts in rows of equal length, in one buffer: each costs its bytes and four more, so that a table takes
// about as much memory as its file.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace noteg {

class TextRows {
 public:
  // The bounds of a table in memory: with both reached it takes half a gigabyte.
  static constexpr std::size_t most_bytes = std::size_t{1} << 28;
  static constexpr std::size_t most_texts = std::size_t{1} << 25;

  TextRows() = default;
  explicit TextRows(std::size_t columns) : columns_(columns) {}

  [[nodiscard]] std::size_t size() const { return columns_ == 0 ? 0 : ends_.size() / columns_; }  // whole rows
  [[nodiscard]] bool empty() const { return size() == 0; }

  [[nodiscard]] std::string_view at(std::size_t row, std::size_t column) const {
    const std::size_t place = row * columns_ + column;
    assert(column < columns_ && place < ends_.size());
    const std::size_t begin = place == 0 ? 0 : ends_[place - 1];
    return std::string_view(bytes_).substr(begin, ends_[place] - begin);
  }

  [[nodiscard]] std::vector<std::string> row(std::size_t index) const {
    std::vector<std::string> texts;
    for (std::size_t column = 0; column < columns_; ++column) texts.emplace_back(at(index, column));
    return texts;
  }

  // Row after row, column after column. false: the table is full, and stays as it is.
  [[nodiscard]] bool add(std::string_view text) {
    if (ends_.size() >= most_texts || bytes_.size() + text.size() > most_bytes) return false;
    bytes_ += text;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    return true;
  }

 private:
  static_assert(most_bytes <= std::numeric_limits<std::uint32_t>::max());
  std::size_t columns_ = 0;
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace noteg
