// CTAs with long main loops follow each other through an SM at rates that depend on how many of them are in their
// loops: how long `ctas` of them take, worked out from those rates.
#pragma once

#include <cstdint>
#include <vector>

namespace noteg::chip {

struct FlowRequest {
  std::vector<double> rates;   // trips of all CTAs per cycle, where one, two ... of them are in their loops; positive
  std::vector<double> shares;  // of each CTA slot in them, where all are; positive
  std::vector<double> done;    // trips by CTA slot at `began`, when all are in their loops
  double began = 0;            // cycles
  double trips = 0;            // of each CTA
  double gap = 0;              // cycles from a CTA's last trip to its successor's first
  double gap_trips = 0;        // what is executed in the gap, in trips
  double end = 0;              // cycles from a CTA's last trip to its end
  std::int64_t ctas = 0;       // in all, at least as many as there are slots
};

struct FlowTime {
  double cycles = 0;         // from the start to the end of the last CTA
  int emptied_together = 0;  // core::SmResult
};

[[nodiscard]] FlowTime flow_time(const FlowRequest& request);

}  // namespace noteg::chip
