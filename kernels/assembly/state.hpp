// What the assembler knows while it walks over the lines of a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/assembly/text.hpp"
#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// .access: what the memory operands based on one register mean from here on.
struct AccessRule {
  int line = 0;
  Space space = Space::shared;
  std::optional<int> bytes;           // absent: as the instruction says
  std::optional<std::uint32_t> mask;  // absent: the .mask in force
  Matrix matrix = Matrix::none;
  std::array<std::uint32_t, 32> offset{};
};

struct PendingBranch {
  std::int32_t at = 0;
  std::string_view target;
  std::string_view line;
  int line_number = 0;
  std::int64_t iterations = 1;
  bool is_main = true;
};

struct AssemblyState {
  explicit AssemblyState(std::string_view name) : mistakes(name) { program.name = std::string(name); }

  Program program;
  Mistakes mistakes;
  std::map<std::string, std::int32_t, std::less<>> labels;
  std::map<std::int64_t, std::int32_t> addresses;
  std::map<std::string, AccessRule, std::less<>> access;
  std::vector<PendingBranch> branches;
  std::optional<int> warps, threads;
  std::optional<std::int32_t> mainloop_begin, epilogue_begin;
  std::uint32_t mask = 0xffffffffu;
  std::int64_t iterations = 1;
  bool iterations_are_main = true;

  [[nodiscard]] std::int32_t here() const { return static_cast<std::int32_t>(program.code.size()); }
};

// A line that begins with a dot.
void read_directive(AssemblyState& state, std::string_view text);

// .access BASE shared|global BYTES OFFSETS [matrix=a|b|c] [mask=0x...]
void read_access(AssemblyState& state, std::string_view text);

// An instruction, with or without control bits.
void read_instruction(AssemblyState& state, std::string_view text);

// The lane pattern of a memory instruction whose address operands have these base registers.
void attach_pattern(AssemblyState& state, Instruction& in, const std::vector<std::string_view>& bases);

// Loops, roles, parts and the exits that are missing, once all lines are read.
void finish_program(AssemblyState& state);

}  // namespace noteg::kernels
