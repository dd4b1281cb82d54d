// Who listens to an exact run: writes down issues, waits, uses of units, CTAs and samples of the counters
// (recorder.hpp). The units tell it what they do; asked for nothing, it costs one comparison with null.
#pragma once

#include <cstdint>

#include "sim/sm/recorder.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

class Machine;

class Observer {
 public:
  explicit Observer(Recorder* log) : log_(log) {}

  [[nodiscard]] bool listens() const { return log_ != nullptr; }
  // A warp issues, before that is counted; its instruction has been put into its pipe.
  void issues(Machine& sm, const Warp& warp, std::uint64_t now);
  void piped(const Machine& sm, const Warp& warp, std::uint64_t now);
  void use(RecordedUnit unit, std::uint16_t warp, std::int32_t pc, std::uint64_t from, std::uint64_t until,
           std::uint64_t ready);
  void cta_starts(std::size_t slot, std::uint64_t now);
  void cta_ends(std::size_t slot, std::uint64_t now);

 private:
  Recorder* log_;
};

}  // namespace noteg::sm
