// Words, numbers, lines, operands and control bits of an assembly text, and what is wrong with it, each mistake at its
// line and column. All views point into the text that was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ir/ir.hpp"
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

// Words, numbers and lines of an assembly text. All views point into the text that was given.

// Without blanks at either end, and without the semicolon that ends an instruction.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Takes the first word off the text; empty at the end.
[[nodiscard]] std::string_view take_word(std::string_view& text);

// A whole text that is a number: decimal or 0x hexadecimal, with an optional minus.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

struct SourceLine {
  std::string_view text;  // as in the file
  int number = 0;         // from 1
  bool is_copy = false;   // the second or a later copy that .unroll makes
};

// The lines of a text with the lines between .unroll N and .end repeated N times.
[[nodiscard]] std::vector<SourceLine> expanded_lines(std::string_view text, Mistakes& mistakes);

// An instruction or directive line taken apart: what stands before comments, and the address in /*0120*/.
struct LineParts {
  std::string_view body;
  std::string_view address;  // digits, empty if there is none
};
[[nodiscard]] LineParts parts_of(std::string_view line);

// Operands of listings: R8.reuse, !P0, -UR4, c[0x0][0x28], SR_TID.X, 0x10, [R8.64+0x10], desc[UR10][R8.64].

// The parts between commas outside brackets.
[[nodiscard]] std::vector<std::string_view> split_operands(std::string_view text);

// A register, predicate, constant, special register or number. A register may say how many registers it stands for
// where the mnemonic does not (R8:2); count 0: it does not say. Nothing after a mistake.
[[nodiscard]] std::optional<Operand> read_operand(std::string_view text, Mistakes& mistakes);

struct Address {
  Operand operand;        // the base register, value = the offset in bytes
  std::string_view base;  // its name: R8, UR4, RZ
};

[[nodiscard]] bool is_address(std::string_view text);
[[nodiscard]] std::optional<Address> read_address(std::string_view text, Mistakes& mistakes);

// Special registers by the index that an Operand holds; nothing for other names.
[[nodiscard]] std::optional<std::int16_t> special_register(std::string_view name);
[[nodiscard]] std::string_view special_name(int index);

// The control bits of a listing line, decoded: [B0-----:R-:W0:-:S02].

// `text` is what stands between the brackets. Nothing after a mistake.
[[nodiscard]] std::optional<Control> read_control(std::string_view text, Mistakes& mistakes);

}  // namespace noteg::kernels
