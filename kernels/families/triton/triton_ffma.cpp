// tl.dot of f32 operands without TF32: thread tiles of 4 x 4 elements, repeated over the block, from plain shared
// memory. The whole block of K is unrolled; neighbouring words are loaded together where they lie together, along K or
// along the other dimension.
#include <algorithm>

#include "kernels/families/common.hpp"
#include "kernels/families/triton/triton.hpp"

namespace noteg::kernels {
namespace {

constexpr int values_at_once = 4;  // of k: a vector along K

// One operand: a part of its elements for the values of k that are under way.
struct Side {
  bool along_k = true;
  int elements = 1;  // of the thread
  int part = 1;      // of them that are loaded together
  int size = 4;      // neighbours
  Value address;
  int pattern = -1;
  int next = 0;  // of the two sets that are loaded into by turns

  using Fragment = std::array<std::vector<Value>, values_at_once>;  // [k][element]
  std::array<std::vector<Value>, 2> sets;                           // vectors
};

// ptxas holds what a thread reads of the operand of which it has less, and goes along the other one by four elements,
// each for four values of k, so that all loads are four words wide whatever the layout: 288 LDS.128 for 4096 FFMAs of
// 128x128x32 on four warps in all four layouts (Triton 3.6 for sm_80).
class Dot {
 public:
  Dot(Emitter& e, const TritonPlan& plan, const TritonState& state)
      : e_(e),
        state_(state),
        pieces_(plan.mma.tile.k / values_at_once),
        a_(side_of(plan, true)),
        b_(side_of(plan, false)) {
    Side& longer = a_.elements > b_.elements ? a_ : b_;
    longer.part = std::min(longer.elements, values_at_once);
  }

  int run() {
    const bool along_m = a_.part < a_.elements;
    const Side& along = along_m ? a_ : b_;
    const int per_part = a_.part * b_.part * values_at_once, parts = along.elements / along.part;
    int done = 0;
    const auto load_ahead = [&](Side& side, int products) {
      e_.release_after(std::max(0, done - products));
      return load(side);
    };
    for (int piece = 0; piece < pieces_; ++piece) {
      Side::Fragment a, b;
      for (int part = 0; part < parts; ++part, done += per_part) {
        if (part == 0 || along_m) a = load_ahead(a_, along_m ? per_part : per_part * parts);
        if (part == 0 || !along_m) b = load_ahead(b_, along_m ? per_part * parts : per_part);
        for (std::size_t k = 0; k < values_at_once; ++k) emit_serpentine(e_, {a[k], b[k], sums(along_m, part)});
      }
    }
    return std::max(0, done - per_part * parts);
  }

 private:
  // Those of a part of one operand with all elements of the other one.
  [[nodiscard]] std::vector<Value> sums(bool along_m, int part) const {
    const int row = along_m ? part * a_.part : 0, column = along_m ? 0 : part * b_.part;
    std::vector<Value> out;
    for (int i = row; i < row + a_.part; ++i)
      for (int j = column; j < column + b_.part; ++j)
        out.push_back(state_.tile[static_cast<std::size_t>(i * b_.elements + j)]);
    return out;
  }

  Side::Fragment load(Side& side) {
    std::vector<Value>& set = side.sets[static_cast<std::size_t>(side.next)];
    side.next = 1 - side.next;
    const int words = side.along_k ? values_at_once : side.size;
    const int vectors = side.part * values_at_once / words;
    while (std::ssize(set) < vectors) set.push_back(e_.fresh(words));
    for (const Value& v : set)
      e_.memory(Opcode::lds, width_suffix(4 * words), reg(v), {reg(side.address)}, 4 * words, side.pattern);
    Side::Fragment out;
    for (int k = 0; k < values_at_once; ++k)
      for (int i = 0; i < side.part; ++i) {
        const int at = side.along_k ? i : (k * side.part + i) / words;
        out[static_cast<std::size_t>(k)].push_back(
            set[static_cast<std::size_t>(at)].part(side.along_k ? k : i % words));
      }
    return out;
  }

  Side side_of(const TritonPlan& plan, bool of_a) {
    Side s;
    s.along_k = reads_along_k(plan, of_a);
    s.elements = s.part = of_a ? plan.threads.thread_m() : plan.threads.thread_n();
    s.size = plan.threads.size;
    s.address = of_a ? state_.read_a : state_.read_b;
    s.pattern = e_.add_pattern(triton_ffma_pattern(plan, of_a, 4 * (s.along_k ? values_at_once : s.size)));
    return s;
  }

  Emitter& e_;
  const TritonState& state_;
  int pieces_;
  Side a_, b_;
};

}  // namespace

int emit_triton_ffma(Emitter& e, const TritonPlan& plan, const TritonState& state) { return Dot(e, plan, state).run(); }

}  // namespace noteg::kernels
