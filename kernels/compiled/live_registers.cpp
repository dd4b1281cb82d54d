#include "kernels/compiled/live_registers.hpp"

#include <algorithm>
#include <bit>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

constexpr std::size_t words = 4;  // of R0 to R254
using Live = std::array<std::uint64_t, words>;

void put(Live& live, const Operand& operand, int width) {
  if (operand.kind != Kind::reg && operand.kind != Kind::memory) return;
  if (operand.index < 0 || operand.index == zero_register) return;
  for (int r = operand.index; r < std::min<int>(operand.index + width, zero_register); ++r)
    live[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
}

// Registers of A, B and the sums of a matrix instruction; of a multiplication of a warpgroup the sums alone.
kernels::FormRegisters fragments_of(const Step& step) {
  const auto form = kernels::tensor_form_from(timed_as(*step.in), step.in->modifiers);
  if (!form) return {};
  if (!form->warp_group) return kernels::registers_of(*form);
  const int sums = form->shape.n / 2 / (form->acc == kernels::DataType::f16 ? 2 : 1);
  return {4, 1, sums, 0};
}

int read_width(const Step& step, const Operand& operand, std::size_t which) {
  const Instruction& in = *step.in;
  if (operand.kind == Kind::memory) return operand.wide ? 2 : 1;
  if (const kernels::FormRegisters form = fragments_of(step); form.c > 0)
    return which == 0 ? form.a : which == 1 ? form.b : form.c;
  const bool stores = step.semantics == S::store_global || step.semantics == S::store_shared ||
                      step.semantics == S::store_local || step.semantics == S::store_matrix;
  if (stores) return std::max(1, in.base == "STSM" ? (in.has("4") ? 4 : in.has("2") ? 2 : 1) : step.bytes / 4);
  if (in.base == "IMAD" && in.has("WIDE") && which == 2) return 2;
  return in.base.starts_with("D") || in.has("64") ? 2 : 1;
}

void step_back(const Step& step, Live& live) {
  const Instruction& in = *step.in;
  const kernels::FormRegisters form = fragments_of(step);
  if (in.guard < 0) {
    Live written{};
    for (std::size_t i = 0; i < step.destinations; ++i) put(written, in.operand[i], form.c > 0 ? form.c : step.width);
    for (std::size_t i = 0; i < words; ++i) live[i] &= ~written[i];
  }
  std::size_t which = 0;
  for (std::size_t i = step.destinations; i < in.operands; ++i) {
    put(live, in.operand[i], read_width(step, in.operand[i], which));
    if (in.operand[i].kind != Kind::memory) ++which;
  }
}

}  // namespace

std::vector<int> live_registers(const EmulatedCode& code) {
  const std::vector<std::vector<std::int32_t>> next = successors_of(code);
  std::vector<Live> before(code.blocks.size());
  std::vector<int> out(code.steps.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = code.blocks.size(); b-- > 0;) {
      Live live{};
      for (const std::int32_t to : next[b])
        for (std::size_t i = 0; i < words; ++i) live[i] |= before[static_cast<std::size_t>(to)][i];
      for (std::int32_t i = code.blocks[b].end; i-- > code.blocks[b].begin;) {
        step_back(code.steps[static_cast<std::size_t>(i)], live);
        int count = 0;
        for (const std::uint64_t word : live) count += std::popcount(word);
        out[static_cast<std::size_t>(i)] = count;
      }
      changed = changed || live != before[b];
      before[b] = live;
    }
  }
  return out;
}

}  // namespace noteg::compiled
