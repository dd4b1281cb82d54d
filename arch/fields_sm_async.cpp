// Keys of the SM: bulk tensor copies, barriers in shared memory, clusters, warpgroup multiplications, reads that the
// SMs of a TPC have in common. A generation without the first ones leaves their sections out.
#include "arch/field_row.hpp"

namespace noteg::arch::detail {

std::vector<Field> sm_async_fields() {
  constexpr Range cycles{0, 100000};
  const auto tma = [](std::string_view key, auto access, Range range, std::string_view doc) {
    return optional(row(key, access, range, doc, "wgmma kernels"));
  };
  return {
      tma("sm.tma.latency", NOTEG_MEMBER(sm.tma.latency), cycles,
          "SM cycles that a bulk tensor copy takes beyond the latency of a load from the same place."),
      tma("sm.tma.descriptor_latency", NOTEG_MEMBER(sm.tma.descriptor_latency), cycles,
          "SM cycles that the first copy through a descriptor waits for it."),
      tma("sm.tma.store_latency", NOTEG_MEMBER(sm.tma.store_latency), cycles,
          "SM cycles from a bulk store to the reading of its box from shared memory."),
      tma("sm.tma.barrier_latency", NOTEG_MEMBER(sm.tma.barrier_latency), cycles,
          "SM cycles from the completion of a barrier phase in shared memory to the first issue behind a wait for it."),
      tma("sm.tma.cluster_latency", NOTEG_MEMBER(sm.tma.cluster_latency), cycles,
          "SM cycles from an arrival to its effect on a barrier of another CTA of the cluster."),
      tma("sm.tma.fill_bandwidth", NOTEG_MEMBER(sm.tma.fill_bandwidth), {0, 1e6},
          "Bytes per SM clock, whole chip, at which the parts of boxes that lie outside the matrix come."),
      tma("sm.tma.gpc_runs", NOTEG_MEMBER(sm.tma.gpc_runs), {0, 64},
          "The CTAs of a GPC are one run of the grid and so many others: rows of tiles that it needs beyond those of "
          "one "
          "run."),
      row("sm.tpc.merge", NOTEG_MEMBER(sm.tpc.merge), {0, 1},
          "Part that reaches L2 once of what both SMs of a TPC ask for, where they have nothing else in common.",
          "L2 bandwidth limit"),
      row("sm.tpc.merge_growth", NOTEG_MEMBER(sm.tpc.merge_growth), {0, 1},
          "What that part grows by up to where they have all reads in common.", "L2 bandwidth limit"),
      tma("sm.wgmma.shared_latency", NOTEG_MEMBER(sm.wgmma.shared_latency), cycles,
          "SM cycles from the end of a group of warpgroup multiplications to the use of its result, A in shared "
          "memory."),
      tma("sm.wgmma.register_latency", NOTEG_MEMBER(sm.wgmma.register_latency), cycles,
          "The same with A in registers."),
      optional(row("sm.tcgen05.forms", NOTEG_MEMBER(sm.tcgen05.forms), {0.25, 10000},
                   "Forms of tcgen05.mma with N = 256 and the 128 rows of one CTA, on their SM; times are proportional "
                   "to N.",
                   "tensor pipe, tcgen05 family")),
      optional(
          row("sm.tcgen05.latency", NOTEG_MEMBER(sm.tcgen05.latency), cycles,
              "SM cycles from the end of a multiplication into tensor memory to the barrier that its commit tells.",
              "tcgen05 kernels")),
      optional(row("sm.tcgen05.load_latency", NOTEG_MEMBER(sm.tcgen05.load_latency), cycles,
                   "SM cycles from a load out of tensor memory to the use of its first register.", "tcgen05 kernels")),
      optional(row("sm.tcgen05.load_bandwidth", NOTEG_MEMBER(sm.tcgen05.load_bandwidth), {1, 1e4},
                   "Bytes per SM clock that one sub-core reads from tensor memory.", "tcgen05 kernels")),
  };
}

}  // namespace noteg::arch::detail
