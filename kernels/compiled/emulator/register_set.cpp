// Registers of both files and predicates as a set of bits: what slices and live ranges are made of.
#include <algorithm>

#include "kernels/compiled/emulator/code.hpp"

namespace noteg::compiled {

void RegisterSet::add(const Operand& operand, int width) {
  const auto put = [&](std::size_t base, int from, int count, int limit) {
    for (int r = from; r < std::min(from + count, limit); ++r)
      if (r >= 0) word[base + static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
  };
  switch (operand.kind) {
    case Kind::reg: put(0, operand.index, std::max(width, operand.wide ? 2 : 1), 255); break;
    case Kind::ureg: put(4, operand.index, std::max(width, operand.wide ? 2 : 1), 255); break;
    case Kind::pred: put(8, operand.index, 1, 7); break;
    case Kind::upred: put(9, operand.index, 1, 7); break;
    case Kind::memory:
      if (operand.index != zero_register) put(0, operand.index, operand.wide ? 2 : 1, 255);
      if (operand.uniform >= 0) put(4, operand.uniform, 2, 255);
      break;
    case Kind::constant:
      if (operand.uniform >= 0) put(4, operand.uniform, 2, 255);
      if (operand.descriptor >= 0) put(0, operand.descriptor, 1, 255);
      break;
    case Kind::none:
    case Kind::barrier:
    case Kind::integer:
    case Kind::special:
    case Kind::label:
    case Kind::other: break;
  }
}

void RegisterSet::remove(const RegisterSet& other) {
  for (std::size_t i = 0; i < word.size(); ++i) word[i] &= ~other.word[i];
}

void RegisterSet::keep(const RegisterSet& other) {
  for (std::size_t i = 0; i < word.size(); ++i) word[i] &= other.word[i];
}

bool RegisterSet::meets(const RegisterSet& other) const {
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((word[i] & other.word[i]) != 0) return true;
  return false;
}

bool RegisterSet::merge(const RegisterSet& other) {
  bool fresh = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    fresh = fresh || (other.word[i] & ~word[i]) != 0;
    word[i] |= other.word[i];
  }
  return fresh;
}

}  // namespace noteg::compiled
