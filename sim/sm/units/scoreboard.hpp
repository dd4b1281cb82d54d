// The alternative to control bits: hardware that watches registers itself. Each warp has an entry per register that
// counts outstanding writes and reads of variable-latency instructions and remembers the last fixed-latency producer.
// An instruction waits until nobody is to write its sources or to read or write its destinations. Control bits are
// ignored; the schedule of the compiler stays.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::sm {

class Scoreboard {
 public:
  Scoreboard(const kernels::Program& program, const kernels::LatencyModel& model);
  void resize(std::size_t warps);

  struct Hold {
    bool pending = false;        // until a variable-latency instruction completes
    bool global = false;         // of these, one is an access to global memory
    std::uint64_t ready_at = 0;  // otherwise: cycle from which fixed latencies are over
  };
  [[nodiscard]] bool is_pending(std::size_t warp) const;  // any variable-latency instruction
  [[nodiscard]] Hold hold(std::size_t warp, std::int32_t pc) const;

  void issued(std::size_t warp, std::int32_t pc, std::uint64_t now);
  void written(std::size_t warp, std::int32_t pc);  // a variable-latency instruction has written its results
  void read(std::size_t warp, std::int32_t pc);     // ... has read its sources
  void reset(std::size_t warp);

  [[nodiscard]] bool is_variable(std::int32_t pc) const { return at(pc).variable; }

 private:
  // Registers of all files in one range: vector, uniform, predicates, uniform predicates.
  static constexpr std::size_t slots = 256 + 64 + 8 + 8;

  struct Uses {
    std::uint32_t begin = 0, guards = 0, writes = 0, end = 0;  // [begin, guards) sources, then guard, then results
    kernels::Opcode op = kernels::Opcode::nop;
    bool variable = false, global = false;
  };
  struct Entry {
    std::uint64_t issued = 0;
    kernels::Opcode producer = kernels::Opcode::nop;
    std::uint8_t writes = 0, reads = 0;
    bool by_global = false;
  };

  [[nodiscard]] const Uses& at(std::int32_t pc) const { return uses_[static_cast<std::size_t>(pc)]; }
  [[nodiscard]] const Entry& entry(std::size_t warp, std::uint32_t use) const {
    return entries_[warp * slots + resources_[use]];
  }
  [[nodiscard]] Entry& entry(std::size_t warp, std::uint32_t use) { return entries_[warp * slots + resources_[use]]; }

  kernels::LatencyModel model_;
  std::vector<Uses> uses_;
  std::vector<std::uint16_t> resources_;    // slot of each use
  std::vector<std::int32_t> resource_ids_;  // its number in kernels/passes/resources.hpp
  std::vector<Entry> entries_;
};

}  // namespace noteg::sm
