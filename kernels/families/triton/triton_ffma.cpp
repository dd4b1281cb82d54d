// tl.dot of f32 operands without TF32: thread tiles of 4 x 4 elements, repeated over the block, from plain shared
// memory. The whole block of K is unrolled; neighbouring words are loaded together where they lie together, along K or
// along the other dimension.
#include <algorithm>

#include "kernels/families/triton/triton_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int depth = 4;  // values of k that are loaded together

// Elements [k][i] of one operand for `depth` values of k.
using Fragment = std::vector<std::vector<Value>>;

struct Side {
  bool along_k = true;
  int elements = 1, size = 4;
  Value address;
  int pattern = -1;
};

Fragment load_fragment(Emitter& e, const Side& side) {
  Fragment out(depth, std::vector<Value>(static_cast<std::size_t>(side.elements)));
  const auto load = [&](int words) {
    const Value v = e.fresh(words);
    e.memory(Opcode::lds, width_suffix(4 * words), reg(v), {reg(side.address)}, 4 * words, side.pattern);
    return v;
  };
  if (side.along_k) {
    for (int i = 0; i < side.elements; ++i) {
      const Value v = load(depth);
      for (int k = 0; k < depth; ++k) out[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)] = v.part(k);
    }
    return out;
  }
  for (int k = 0; k < depth; ++k) {
    for (int i = 0; i < side.elements; i += side.size) {
      const Value v = load(side.size);
      for (int j = 0; j < side.size; ++j) out[static_cast<std::size_t>(k)][static_cast<std::size_t>(i + j)] = v.part(j);
    }
  }
  return out;
}

Side side_of(Emitter& e, const TritonPlan& plan, const TritonState& state, bool of_a) {
  Side s;
  s.along_k = reads_along_k(plan, of_a);
  s.elements = of_a ? plan.threads.thread_m() : plan.threads.thread_n();
  s.size = plan.threads.size;
  s.address = of_a ? state.read_a : state.read_b;
  s.pattern = e.add_pattern(triton_ffma_pattern(plan, of_a, 4 * (s.along_k ? depth : s.size)));
  return s;
}

}  // namespace

int emit_triton_ffma(Emitter& e, const TritonPlan& plan, const TritonState& state) {
  const Side a = side_of(e, plan, state, true), b = side_of(e, plan, state, false);
  const int pieces = plan.mma.tile.k / depth;
  const int each = depth * a.elements * b.elements;
  Fragment left = load_fragment(e, a), right = load_fragment(e, b);
  for (int piece = 0; piece < pieces; ++piece) {
    Fragment next_left, next_right;
    if (piece + 1 < pieces) {
      e.release_after(piece * each);
      next_left = load_fragment(e, a);
      next_right = load_fragment(e, b);
    }
    for (std::size_t k = 0; k < depth; ++k) emit_serpentine(e, {left[k], right[k], state.tile});
    left = std::move(next_left);
    right = std::move(next_right);
  }
  return std::max(0, (pieces - 1) * each);
}

}  // namespace noteg::kernels
