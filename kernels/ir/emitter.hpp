// Writes instructions with virtual registers into a Program. Builders say what the code does; the passes decide
// its order, its registers and its control bits. Uniform registers and predicates are named by the builder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {

// Register-file banks are the parity of the register number (MICRO25).
enum class Bank : std::uint8_t { any, even, odd };

// Virtual registers [first, first + count) that must lie next to each other, aligned to their count.
struct VirtualGroup {
  int first = 0;
  int count = 1;
  Bank bank = Bank::any;  // wish for the first register; kept where there is room
};

inline constexpr int first_virtual = 256;  // below are physical registers and RZ

struct Value {
  int first = rz;
  int count = 1;
  [[nodiscard]] Value part(int i) const { return {first + i, 1}; }
  [[nodiscard]] Value range(int i, int n) const { return {first + i, n}; }
};

inline constexpr Value zero_value{rz, 1};

[[nodiscard]] Operand reg(Value v);
[[nodiscard]] Operand ureg(int index, int count = 1);
[[nodiscard]] Operand pred(int index, bool negated = false);
[[nodiscard]] Operand upred(int index);
[[nodiscard]] Operand imm(std::int32_t value);
[[nodiscard]] Operand constant(std::int32_t offset, int count = 1);
[[nodiscard]] Operand never();  // guard @!PT

class Emitter {
 public:
  [[nodiscard]] Value fresh(int count = 1, Bank bank = Bank::any);

  // One instruction; destinations: register, then predicate (either may be a default Operand).
  Instruction& emit(Opcode op, std::string_view modifiers, std::initializer_list<Operand> dst,
                    std::initializer_list<Operand> src);
  // A memory instruction with its lane addresses.
  Instruction& memory(Opcode op, std::string_view modifiers, const Operand& dst, std::initializer_list<Operand> src,
                      int bytes, int pattern);

  [[nodiscard]] int add_pattern(const AccessPattern& pattern);

  // Loops: begin_loop() opens one at the next instruction; end_loop() writes the backward branch.
  [[nodiscard]] int begin_loop(bool is_main, std::int64_t iterations);
  // A main loop that may have no iteration: a forward branch before it, its guard, leaves it out then.
  [[nodiscard]] int begin_guarded_loop(const Operand& guard);
  void end_loop(int loop, const Operand& guard);

  // Instructions may be placed by hand: the scheduler keeps this instruction behind the first `ffma_count`
  // FFMAs of its block (software pipelining spreads memory traffic over the arithmetic this way).
  void release_after(int ffma_count) { release_ = ffma_count; }

  Program& program() { return program_; }
  [[nodiscard]] const std::vector<VirtualGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<int>& releases() const { return releases_; }
  [[nodiscard]] int position() const { return static_cast<int>(program_.code.size()); }

 private:
  Program program_;
  std::vector<VirtualGroup> groups_;
  std::vector<int> releases_;  // one per instruction
  int next_ = first_virtual;
  int release_ = 0;
};

}  // namespace noteg::kernels
