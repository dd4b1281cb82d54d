// Keys of the SM: execution pipes and the load/store path.
#include "arch/field_row.hpp"

namespace noteg::arch::detail {

namespace {

constexpr Range lanes{1, 32};
constexpr Range latency{0, 1000};
constexpr Range war{0, 1000};

}  // namespace

std::vector<Field> sm_pipe_fields() {
  const auto lanes_of = [](std::string_view key, auto access, std::string_view doc) {
    return row(key, access, lanes, doc,
               "pipe rates; a warp instruction occupies its pipe for 32 / lanes cycles, rounded up");
  };
  const auto latency_of = [](std::string_view key, auto access, std::string_view doc) {
    return row(key, access, latency, doc, "stall counts, dependent issue");
  };
  const auto shared_of = [](std::string_view key, auto access, std::string_view doc) {
    return row(key, access, {}, doc, "pipe rates");
  };
  const auto memory = [](std::string_view key, auto access, Range range, std::string_view doc) {
    return row(key, access, range, doc, "load/store path");
  };
  return {
      lanes_of("sm.pipes.fma.lanes", NOTEG_MEMBER(sm.pipes.fma.lanes), "Lanes of the FP32 pipe per sub-core."),
      latency_of("sm.pipes.fma.latency", NOTEG_MEMBER(sm.pipes.fma.latency),
                 "SM cycles from FFMA to a dependent FFMA."),
      shared_of("sm.pipes.fma.shared", NOTEG_MEMBER(sm.pipes.fma.shared), "One FP32 pipe for the whole SM."),
      lanes_of("sm.pipes.fma_heavy.lanes", NOTEG_MEMBER(sm.pipes.fma_heavy.lanes),
               "Lanes per sub-core of that part of the FP32 pipe that also multiplies integers (IMAD)."),
      latency_of("sm.pipes.fma_heavy.latency", NOTEG_MEMBER(sm.pipes.fma_heavy.latency),
                 "SM cycles from IMAD to a dependent IMAD."),
      shared_of("sm.pipes.fma_heavy.shared", NOTEG_MEMBER(sm.pipes.fma_heavy.shared),
                "One IMAD pipe for the whole SM."),
      lanes_of("sm.pipes.alu.lanes", NOTEG_MEMBER(sm.pipes.alu.lanes),
               "Lanes per sub-core of the pipe for integer add, logic, shift, compare, select and move."),
      latency_of("sm.pipes.alu.latency", NOTEG_MEMBER(sm.pipes.alu.latency),
                 "SM cycles from IADD3 to a dependent IADD3."),
      shared_of("sm.pipes.alu.shared", NOTEG_MEMBER(sm.pipes.alu.shared), "One integer pipe for the whole SM."),
      lanes_of("sm.pipes.half.lanes", NOTEG_MEMBER(sm.pipes.half.lanes),
               "Lanes per sub-core of the packed FP16 pipe; each lane does two FP16 operations."),
      latency_of("sm.pipes.half.latency", NOTEG_MEMBER(sm.pipes.half.latency),
                 "SM cycles from HFMA2 to a dependent HFMA2."),
      shared_of("sm.pipes.half.shared", NOTEG_MEMBER(sm.pipes.half.shared), "One FP16 pipe for the whole SM."),
      lanes_of("sm.pipes.fp64.lanes", NOTEG_MEMBER(sm.pipes.fp64.lanes),
               "Lanes of the FP64 pipe, per sub-core, or of the whole SM where it is shared."),
      latency_of("sm.pipes.fp64.latency", NOTEG_MEMBER(sm.pipes.fp64.latency),
                 "SM cycles from DFMA to a dependent DFMA."),
      shared_of("sm.pipes.fp64.shared", NOTEG_MEMBER(sm.pipes.fp64.shared), "One FP64 pipe for the whole SM."),
      lanes_of("sm.pipes.mufu.lanes", NOTEG_MEMBER(sm.pipes.mufu.lanes),
               "Lanes per sub-core of the pipe for transcendental functions and conversions."),
      latency_of("sm.pipes.mufu.latency", NOTEG_MEMBER(sm.pipes.mufu.latency),
                 "SM cycles from MUFU to a dependent instruction."),
      shared_of("sm.pipes.mufu.shared", NOTEG_MEMBER(sm.pipes.mufu.shared), "One MUFU pipe for the whole SM."),
      lanes_of("sm.pipes.uniform.lanes", NOTEG_MEMBER(sm.pipes.uniform.lanes),
               "Rate of the uniform datapath, as lanes per sub-core: 16 is one instruction in two cycles."),
      latency_of("sm.pipes.uniform.latency", NOTEG_MEMBER(sm.pipes.uniform.latency),
                 "SM cycles from a uniform instruction to a dependent vector instruction."),
      shared_of("sm.pipes.uniform.shared", NOTEG_MEMBER(sm.pipes.uniform.shared),
                "One uniform datapath for the whole SM."),
      lanes_of("sm.pipes.branch.lanes", NOTEG_MEMBER(sm.pipes.branch.lanes),
               "Rate of the branch unit, as lanes per sub-core: 32 is one instruction per cycle."),
      latency_of("sm.pipes.branch.latency", NOTEG_MEMBER(sm.pipes.branch.latency),
                 "SM cycles from a branch that is not taken to the next issue of the warp, at least."),
      shared_of("sm.pipes.branch.shared", NOTEG_MEMBER(sm.pipes.branch.shared), "One branch unit for the whole SM."),
      row("sm.pipes.variable_queue", NOTEG_MEMBER(sm.pipes.variable_queue), {0, 64},
          "Instructions of a sub-core that may wait before the MUFU pipe or a shared FP64 pipe.", "pipe rates"),
      latency_of("sm.pipes.cross_pipe_penalty", NOTEG_MEMBER(sm.pipes.cross_pipe_penalty),
                 "SM cycles added when producer and consumer are in different fixed-latency pipes."),
      latency_of("sm.pipes.memory_address_penalty", NOTEG_MEMBER(sm.pipes.memory_address_penalty),
                 "SM cycles added when the consumer is a memory instruction, which the bypass does not reach."),
      latency_of("sm.pipes.predicate_to_branch", NOTEG_MEMBER(sm.pipes.predicate_to_branch),
                 "SM cycles from the writer of a predicate to a branch or a guarded instruction that reads it."),

      memory("sm.memory.queue_entries", NOTEG_MEMBER(sm.memory.queue_entries), {1, 64},
             "Memory instructions that a sub-core's queue holds, beside one dispatch latch."),
      memory("sm.memory.address_cycles", NOTEG_MEMBER(sm.memory.address_cycles), {0.25, 64},
             "SM cycles per global access of one sub-core, register address."),
      memory("sm.memory.shared_cycles", NOTEG_MEMBER(sm.memory.shared_cycles), {0.25, 64},
             "SM cycles per access of one sub-core to shared memory that takes one wavefront."),
      memory("sm.memory.link_width", NOTEG_MEMBER(sm.memory.link_width), {8, 4096},
             "Bytes per SM clock between a sub-core and L1 or shared memory; a single warp gets half a wavefront."),
      memory("sm.memory.shared_interval", NOTEG_MEMBER(sm.memory.shared_interval), {0.25, 64},
             "SM cycles between memory instructions that the SM accepts from its sub-cores."),
      memory("sm.memory.data_queue", NOTEG_MEMBER(sm.memory.data_queue), {0, max_data_queue},
             "Accesses of all sub-cores that may wait for the data stage of L1 and shared memory."),
      memory("sm.memory.copy_requests", NOTEG_MEMBER(sm.memory.copy_requests), {0, 4096},
             "Requests of 16-byte copies to shared memory that may wait for L2's port, which takes one a cycle; with "
             "more, the SM accepts no memory instruction."),
      memory("sm.memory.data_width", NOTEG_MEMBER(sm.memory.data_width), {8, 4096},
             "Bytes per SM clock of the data path of L1 and shared memory."),
      memory("sm.memory.shared_banks", NOTEG_MEMBER(sm.memory.shared_banks), {1, 256}, "Banks of shared memory."),
      memory("sm.memory.shared_bank_width", NOTEG_MEMBER(sm.memory.shared_bank_width), {1, 64},
             "Bytes that a bank of shared memory delivers per cycle."),
      memory("sm.memory.lds_latency", NOTEG_MEMBER(sm.memory.lds_latency), latency,
             "SM cycles from a 32-bit shared load to its consumer, register address."),
      memory("sm.memory.lds_wide_extra", NOTEG_MEMBER(sm.memory.lds_wide_extra), latency,
             "SM cycles added for a 128-bit shared load."),
      memory("sm.memory.lds_wide_interval", NOTEG_MEMBER(sm.memory.lds_wide_interval), {1, 64},
             "SM cycles between 128-bit shared loads of a sub-core at least, which fill four registers each."),
      memory("sm.memory.ldg_latency", NOTEG_MEMBER(sm.memory.ldg_latency), latency,
             "SM cycles from a 32-bit global load that hits L1 to its consumer, register address."),
      memory("sm.memory.ldg_wide_extra", NOTEG_MEMBER(sm.memory.ldg_wide_extra), latency,
             "SM cycles added for a 128-bit global load."),
      memory(
          "sm.memory.ldg_line_extra", NOTEG_MEMBER(sm.memory.ldg_line_extra), latency,
          "SM cycles added for each line behind the first of a load or copy beyond L1, beside its turn in the port."),
      memory("sm.memory.ldg_wide_miss_extra", NOTEG_MEMBER(sm.memory.ldg_wide_miss_extra), latency,
             "SM cycles added for a 128-bit load or copy beyond L1, beside ldg_wide_extra."),
      memory("sm.memory.ldgsts_latency", NOTEG_MEMBER(sm.memory.ldgsts_latency), latency,
             "SM cycles of a copy from global to shared memory that hits L1."),
      memory("sm.memory.lds_war", NOTEG_MEMBER(sm.memory.lds_war), war,
             "SM cycles until the source registers of a shared load may be overwritten."),
      memory("sm.memory.sts_war", NOTEG_MEMBER(sm.memory.sts_war), war,
             "SM cycles until the source registers of a 32-bit shared store may be overwritten."),
      memory("sm.memory.ldg_war", NOTEG_MEMBER(sm.memory.ldg_war), war,
             "SM cycles until the source registers of a global load may be overwritten."),
      memory("sm.memory.stg_war", NOTEG_MEMBER(sm.memory.stg_war), war,
             "SM cycles until the source registers of a 32-bit global store may be overwritten."),
      memory("sm.memory.ldgsts_war", NOTEG_MEMBER(sm.memory.ldgsts_war), war,
             "SM cycles until the address registers of an asynchronous copy may be overwritten."),
      memory("sm.memory.ldc_latency", NOTEG_MEMBER(sm.memory.ldc_latency), latency,
             "SM cycles from a constant load with immediate address to its consumer."),
      memory("sm.memory.ldg_uniform_latency", NOTEG_MEMBER(sm.memory.ldg_uniform_latency), latency,
             "SM cycles from a 32-bit global load that hits L1 to its consumer, uniform address."),
      memory("sm.memory.ldg_uniform_war", NOTEG_MEMBER(sm.memory.ldg_uniform_war), war,
             "SM cycles until the uniform address of a global load may be overwritten."),
      memory("sm.memory.lds_uniform_latency", NOTEG_MEMBER(sm.memory.lds_uniform_latency), latency,
             "SM cycles from a 32-bit shared load to its consumer, uniform address."),
      memory("sm.memory.sts_uniform_war", NOTEG_MEMBER(sm.memory.sts_uniform_war), war,
             "SM cycles until the source registers of a 32-bit shared store may be overwritten, uniform address."),
      memory("sm.memory.stg_uniform_war", NOTEG_MEMBER(sm.memory.stg_uniform_war), war,
             "SM cycles until the source registers of a 32-bit global store may be overwritten, uniform address."),
      memory("sm.memory.ldc_war", NOTEG_MEMBER(sm.memory.ldc_war), war,
             "SM cycles until the sources of a constant load with immediate address may be overwritten."),
      memory("sm.memory.ldc_register_latency", NOTEG_MEMBER(sm.memory.ldc_register_latency), latency,
             "SM cycles from a constant load with register address to its consumer, and until that register may be "
             "overwritten."),
      memory("sm.memory.shfl_latency", NOTEG_MEMBER(sm.memory.shfl_latency), latency,
             "SM cycles from a shuffle to its consumer."),
      memory("sm.memory.membar_cta", NOTEG_MEMBER(sm.memory.membar_cta), {0, 100000},
             "SM cycles of a memory barrier of CTA scope."),
      memory("sm.memory.membar_gpu", NOTEG_MEMBER(sm.memory.membar_gpu), {0, 100000},
             "SM cycles of a memory barrier of GPU scope."),
      memory("sm.memory.membar_system", NOTEG_MEMBER(sm.memory.membar_system), {0, 100000},
             "SM cycles of a memory barrier of system scope."),
      memory("sm.memory.l1_tags_per_cycle", NOTEG_MEMBER(sm.memory.l1_tags_per_cycle), {1, 64},
             "Distinct L1 lines that are looked up per cycle."),
      memory("sm.memory.l1_line", NOTEG_MEMBER(sm.memory.l1_line), {32, 1024}, "Bytes of an L1 line."),
      memory("sm.memory.sector", NOTEG_MEMBER(sm.memory.sector), {16, 1024},
             "Bytes of an L1 sector, the unit of a fill."),
      memory("sm.memory.max_outstanding_requests", NOTEG_MEMBER(sm.memory.max_outstanding_requests), {1, 65536},
             "Global requests that an SM can have in flight."),
      memory("sm.memory.prt_entries", NOTEG_MEMBER(sm.memory.prt_entries), {1, 65536},
             "Entries of the pending request table, which coalesces the accesses of a warp."),
      memory("sm.memory.barrier_latency", NOTEG_MEMBER(sm.memory.barrier_latency), latency,
             "SM cycles from the last arrival at a barrier to the first issue after it."),
      memory("sm.memory.barrier_interval", NOTEG_MEMBER(sm.memory.barrier_interval), {1, 1000},
             "SM cycles between two warps at the barrier unit."),
      memory("sm.memory.constant_interval", NOTEG_MEMBER(sm.memory.constant_interval), {1, 1000},
             "SM cycles for each address of a constant load."),
  };
}

// Keys of the SM: bulk tensor copies, barriers in shared memory, clusters, warpgroup multiplications, reads that the
// SMs of a TPC have in common. A generation without the first ones leaves their sections out.

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
          "SM cycles from a bulk store to the first of its bytes leaving the SM."),
      tma("sm.tma.box_store_latency", NOTEG_MEMBER(sm.tma.box_store_latency), cycles,
          "The same of a store through a tensor map."),
      tma("sm.tma.barrier_latency", NOTEG_MEMBER(sm.tma.barrier_latency), cycles,
          "SM cycles from the completion of a barrier phase in shared memory to the first issue behind a wait for it."),
      tma("sm.tma.cluster_latency", NOTEG_MEMBER(sm.tma.cluster_latency), cycles,
          "SM cycles of a load from the shared memory of another CTA of the cluster, and of an arrival at a barrier "
          "there."),
      tma("sm.tma.cluster_barrier", NOTEG_MEMBER(sm.tma.cluster_barrier), cycles,
          "SM cycles from the last arrival at the barrier of a cluster to the next issue, for one warp."),
      tma("sm.tma.fill_bandwidth", NOTEG_MEMBER(sm.tma.fill_bandwidth), {0, 1e6},
          "Bytes per SM clock, whole chip, at which the parts of boxes that lie outside the matrix come."),
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
      tma("sm.wgmma.beside", NOTEG_MEMBER(sm.wgmma.beside), {0, 64},
          "SM cycles that an instruction keeps its pipe longer while a warpgroup multiplication runs, whose "
          "accumulators "
          "take the register file's ports."),
      tma("sm.wgmma.beside_mufu", NOTEG_MEMBER(sm.wgmma.beside_mufu), {0, 64}, "The same of MUFU."),
      tma("sm.wgmma.mufu_beside", NOTEG_MEMBER(sm.wgmma.mufu_beside), {0, 64},
          "SM cycles that MUFU is kept longer by each instruction of another pipe, while a warpgroup multiplication "
          "runs."),
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

// Keys of the SM: tensor cores.

std::vector<Field> sm_tensor_fields() {
  constexpr Range cycles{0.25, 10000};
  return {
      row("sm.tensor.mma", NOTEG_MEMBER(sm.tensor.mma), cycles,
          "Forms of mma.sync: SM cycles from issue to a dependent one on the same accumulators, and between two of a "
          "sub-core; sp_ marks a 2:4 sparse A. Forms that are not listed do not exist.",
          "tensor pipe, mma family"),
      row("sm.tensor.wgmma", NOTEG_MEMBER(sm.tensor.wgmma), cycles,
          "Forms of wgmma with N = 256, as for mma.sync, per warp group; times are proportional to N.",
          "tensor pipe, wgmma family"),
      row("sm.tensor.f32_accumulate_slowdown", NOTEG_MEMBER(sm.tensor.f32_accumulate_slowdown), {1, 8},
          "Factor on the interval of mma forms that accumulate in f32: 2 on GeForce parts.", "tensor pipe"),
      row("sm.tensor.clock_share", NOTEG_MEMBER(sm.tensor.clock_share), {0.5, 1},
          "Share of clock.sustained that kernels with tensor multiply-accumulates do not exceed, however little power "
          "they take.",
          "upper end of the solved clock"),
  };
}

}  // namespace noteg::arch::detail
