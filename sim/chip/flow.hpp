// CTAs with long main loops follow each other through an SM at rates that depend on how many of them are at work: how
// long `ctas` of them take, worked out from those rates.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace noteg::chip {

struct FlowRequest {
  // CTA slots whose warps lie on the same sub-cores are a group: slot i belongs to group i % groups.
  std::size_t groups = 1;
  // Trips per cycle of all CTAs of a group, where so many of each group are at work, all in their loops; positive.
  std::function<double(std::size_t, const std::vector<int>&)> rate;
  double alone = 0;            // of one CTA that has the SM to itself
  std::vector<double> shares;  // of each CTA slot in them, where all are; positive
  std::vector<double> done;    // trips by CTA slot at `began`, when all are in their loops
  double began = 0;            // cycles
  double trips = 0;            // of each CTA
  // Cycles from a CTA's last trip to its successor's first, and from its last trip to its end.
  struct Outside {
    double alone = 0;                 // of a CTA that has the SM to itself
    double together = 0;              // of one with all others beside it, on the same way
    std::vector<double> among_loops;  // of one with all others in their loops, by CTA slot
  } gap, end;
  double gap_trips = 0;   // what is executed in the gap, in trips
  std::int64_t ctas = 0;  // in all, at least as many as there are slots
};

struct FlowTime {
  double cycles = 0;         // from the start to the end of the last CTA
  int emptied_together = 0;  // core::SmResult
};

[[nodiscard]] FlowTime flow_time(const FlowRequest& request);

}  // namespace noteg::chip
