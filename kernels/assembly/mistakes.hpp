// Collects what is wrong with an assembly text, each mistake at its line and column.
#pragma once

#include <string>
#include <string_view>

#include "sim/support/result.hpp"

namespace noteg::kernels {

class Mistakes {
 public:
  explicit Mistakes(std::string_view file) : file_(file) {}

  // The line that following mistakes are on; views given to add() point into it.
  void enter(std::string_view line, int number) {
    line_ = line;
    number_ = number;
  }

  // A mistake at the text `where`, which is what was found unless `found` says otherwise. A text outside the line
  // stands for its beginning.
  void add(std::string_view where, std::string expected) { add(where, std::move(expected), std::string(where)); }
  void add(std::string_view where, std::string expected, std::string found);

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] const Diagnostics& list() const { return list_; }
  [[nodiscard]] int line_number() const { return number_; }
  [[nodiscard]] std::string_view line() const { return line_; }

 private:
  std::string file_;
  std::string_view line_;
  int number_ = 0;
  Diagnostics list_;
};

}  // namespace noteg::kernels
