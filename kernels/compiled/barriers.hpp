// Barriers of a CTA as its warps use them: transaction barriers in shared memory, named barriers, those of a cluster.
// Recorded while the CTA is emulated, then written as rings of one barrier and turns of each instruction
// (ir/async.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/compiled/emulator/async_acts.hpp"
#include "kernels/ir/async.hpp"

namespace noteg::compiled {

// What a timed program needs of them.
struct AsyncPlan {
  std::vector<kernels::BarrierRing> rings;
  std::vector<kernels::BarrierTurns> turns;
  std::map<std::int32_t, kernels::AsyncOp> ops;  // by instruction of the listing
  struct Copies {
    double bytes = 0;  // of one box
    double share = 1;  // of the instruction's executions, those that copy
  };
  std::map<std::int32_t, Copies> copies;  // by instruction of the listing
  std::vector<std::string> assumptions;
};

class BarrierLog {
 public:
  BarrierLog(int warps, std::int64_t cluster)
      : warps_(static_cast<std::size_t>(warps)), cluster_(static_cast<double>(cluster)) {}

  // A number that is the same for acts that do the same at the same barrier.
  std::uint32_t note(int warp, const AsyncAct& act);
  // The warp does these again, so many times, as it did last.
  void repeat(int warp, const std::vector<std::uint32_t>& numbers, std::int64_t times);
  [[nodiscard]] AsyncPlan plan(const EmulatedCode& code) const;
  [[nodiscard]] bool empty() const { return numbers_.empty(); }

 private:
  static constexpr std::size_t longest = 2048;  // executions of an instruction by a warp that are remembered
  struct Use {
    ActKind kind = ActKind::nothing;
    std::int32_t barrier = -1;
    int arrivals = 0;
    bool expects = false, consumes = true;
    bool operator==(const Use&) const = default;
  };
  struct Barrier {
    std::int64_t count = 0;     // arrivals that complete a phase, where an instruction said it
    std::int64_t expected = 0;  // bytes, last seen
    double arrivals = 0, expects = 0, copies = 0, waits = 0;
    double awaited = 0;          // bytes that expectations say
    double own = 0, shared = 0;  // of copies; of multicasts, as if each CTA of the cluster made one
    bool starts_complete = false, of_peers = false;
    std::map<int, std::uint32_t> seen;  // by warp: phases known to be complete
    std::map<int, double> arrives;      // by warp
  };
  struct Instruction {
    ActKind kind = ActKind::nothing;
    std::map<int, std::vector<Use>> uses;  // by warp
    double bytes = 0, executions = 0;
    bool has_map = false;
    int peers = 1;
  };

  [[nodiscard]] bool consumes(Barrier& barrier, int warp, std::int64_t parity) const;
  [[nodiscard]] kernels::BarrierTurns turns_of(const Instruction& in, const std::map<std::int32_t, int>& rings) const;
  void add_rings(AsyncPlan& plan, std::map<std::int32_t, int>& rings) const;
  [[nodiscard]] double box_bytes(const Instruction& in) const;
  // Of what a copy brings, as if each CTA of the cluster made one, what this CTA receives; how many CTAs bring it.
  struct Received {
    double share = 1, copiers = 1;
  };
  [[nodiscard]] Received received(const Instruction& in) const;
  [[nodiscard]] static double share_of(const Instruction& in);

  std::size_t warps_;
  double cluster_;  // CTAs
  std::map<std::int32_t, Barrier> barriers_;
  std::map<std::int32_t, Instruction> instructions_;
  std::map<std::tuple<ActKind, std::int32_t, std::int32_t, std::int64_t, int>, std::uint32_t> numbers_;
  std::vector<std::pair<std::int32_t, Use>> last_;  // by number: instruction, and what it did last
};

}  // namespace noteg::compiled
