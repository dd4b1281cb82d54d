// tl.dot of f32 operands without TF32: thread tiles of 4 x 4 elements, repeated over the block, from plain shared
// memory. The whole block of K is unrolled; neighbouring words are loaded together where they lie together, along K or
// along the other dimension.
#include <algorithm>

#include "kernels/families/triton/triton.hpp"

namespace noteg::kernels {
namespace {

constexpr int widest_load = 4;  // words of a load

// One operand: its elements for the values of k that are under way.
struct Side {
  bool along_k = true;
  int elements = 1, size = 4;
  Value address;
  int pattern = -1;
  std::vector<std::vector<Value>> at;    // [k][element]
  std::vector<std::vector<Value>> ring;  // vectors that are loaded into again, where registers are short
};

// Values of k that are loaded together: vectors along K take most registers and are shortened where these are few.
int values_at_once(const TritonPlan& plan) {
  constexpr int most = 226;  // beside addresses and counters
  const int m = plan.threads.thread_m(), n = plan.threads.thread_n();
  const auto words = [&](int depth) {
    return m * n + 2 * m * (reads_along_k(plan, true) ? depth : 1) + 2 * n * (reads_along_k(plan, false) ? depth : 1);
  };
  int depth = widest_load;
  while (plan.is_tight && depth > 1 && words(depth) > most) depth /= 2;
  return depth;
}

class Dot {
 public:
  Dot(Emitter& e, const TritonPlan& plan, const TritonState& state)
      : e_(e),
        state_(state),
        is_tight_(plan.is_tight),
        depth_(values_at_once(plan)),
        pieces_(plan.mma.tile.k / depth_),
        a_(side_of(plan, true)),
        b_(side_of(plan, false)) {}

  // The first piece is loaded at once, the others one piece ahead; where registers are short two sets go round.
  int run() {
    const int per_value = a_.elements * b_.elements;
    for (int value = 0; value < pieces_ * depth_; ++value) {
      const int k = value % depth_;
      for (Side* side : {&a_, &b_}) {
        if (side->along_k && k != 0) continue;
        const int ahead = !is_tight_ || side->along_k ? depth_ : 1;
        e_.release_after(std::max(0, value - ahead) * per_value);
        side->along_k ? load_along_k(*side, value / depth_) : load_slice(*side, value);
      }
      const auto at = static_cast<std::size_t>(k);
      emit_serpentine(e_, {a_.at[at], b_.at[at], state_.tile});
    }
    return std::max(0, (pieces_ - 1) * depth_ * per_value);
  }

 private:
  Value load(const Side& side, int words, std::vector<Value>& ring, std::size_t place) {
    if (!is_tight_ || place >= ring.size()) ring.resize(std::max(ring.size(), place + 1));
    Value& v = ring[place];
    if (!is_tight_ || v.first == rz) v = e_.fresh(words);
    e_.memory(Opcode::lds, width_suffix(4 * words), reg(v), {reg(side.address)}, 4 * words, side.pattern);
    return v;
  }

  // One vector along K for each element.
  void load_along_k(Side& side, int piece) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(side.elements); ++i) {
      const Value v = load(side, depth_, side.ring[static_cast<std::size_t>(piece % 2)], i);
      for (int k = 0; k < depth_; ++k) side.at[static_cast<std::size_t>(k)][i] = v.part(k);
    }
  }

  // One value of k: vectors of neighbouring elements; two values go round.
  void load_slice(Side& side, int value) {
    std::vector<Value>& row = side.at[static_cast<std::size_t>(value % depth_)];
    for (int i = 0; i < side.elements; i += side.size) {
      const Value v = load(side, side.size, side.ring[static_cast<std::size_t>(value % 2)],
                           static_cast<std::size_t>(i / side.size));
      for (int j = 0; j < side.size; ++j) row[static_cast<std::size_t>(i + j)] = v.part(j);
    }
  }

  Side side_of(const TritonPlan& plan, bool of_a) {
    Side s;
    s.along_k = reads_along_k(plan, of_a);
    s.elements = of_a ? plan.threads.thread_m() : plan.threads.thread_n();
    s.size = plan.threads.size;
    s.address = of_a ? state_.read_a : state_.read_b;
    s.pattern = e_.add_pattern(triton_ffma_pattern(plan, of_a, 4 * (s.along_k ? depth_ : s.size)));
    s.at.assign(static_cast<std::size_t>(depth_), std::vector<Value>(static_cast<std::size_t>(s.elements)));
    s.ring.resize(2);
    return s;
  }

  Emitter& e_;
  const TritonState& state_;
  bool is_tight_;
  int depth_, pieces_;
  Side a_, b_;
};

}  // namespace

int emit_triton_ffma(Emitter& e, const TritonPlan& plan, const TritonState& state) { return Dot(e, plan, state).run(); }

}  // namespace noteg::kernels
