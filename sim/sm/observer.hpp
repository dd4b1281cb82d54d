// What a watched run of an SM writes down, for traces and timelines: every issue, what each warp waited for before it,
// which unit worked for it and when, CTAs, and counters at even intervals. A run that is not watched pays one
// comparison with null per issue; nothing of this is in its way.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/sm/counters.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

// One issue.
struct IssueRecord {
  std::uint64_t cycle = 0;
  std::uint16_t warp = 0;  // of the SM
  std::int32_t pc = 0;

  bool operator==(const IssueRecord&) const = default;
};

// Cycles [from, until) in which a warp did not issue. With its issues they are the warp's whole time, without gaps.
struct WaitRecord {
  std::uint16_t warp = 0;
  Stall reason = Stall::wait;
  std::uint64_t from = 0, until = 0;
};

enum class RecordedUnit : std::uint8_t {
  fma,
  alu,
  half,
  mufu,
  fp64,
  tensor,
  uniform,
  load_store,  // the SM-wide front of the load/store path
  warpgroup,   // tensor cores of all sub-cores, working for one warpgroup
  bulk_copy,   // a box on its way from L2
  count_
};
inline constexpr std::size_t recorded_unit_count = static_cast<std::size_t>(RecordedUnit::count_);

[[nodiscard]] std::string_view name_of(RecordedUnit unit);
[[nodiscard]] bool is_of_sub_core(RecordedUnit unit);  // else one for the SM

// Cycles [from, until) in which a unit was busy with an instruction.
struct UseRecord {
  RecordedUnit unit = RecordedUnit::fma;
  std::uint16_t warp = 0;
  std::int32_t pc = 0;
  std::uint64_t from = 0, until = 0;
  std::uint64_t ready = 0;  // the result is there; 0: not known when the unit begins
};

// A CTA in its slot. ended: 0 while it runs.
struct CtaRecord {
  std::uint16_t slot = 0;
  std::uint64_t started = 0, ended = 0;
};

struct Sample {
  std::uint64_t cycle = 0;
  CoreCounters count;  // up to there
};

struct Recorder {
  std::vector<IssueRecord> issues;
  std::vector<WaitRecord> waits;
  std::vector<UseRecord> uses;
  std::vector<CtaRecord> ctas;
  std::vector<Sample> samples;
  std::uint64_t sample_interval = 32, next_sample = 0;
};

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
