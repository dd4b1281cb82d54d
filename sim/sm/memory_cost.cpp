#include "sim/sm/decoded.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/access/wavefronts.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::sm {

namespace {

using kernels::AccessPattern;
using kernels::Instruction;
using kernels::Opcode;
using kernels::OperandKind;
using kernels::wavefront_parts;

int whole(Cycles c) { return static_cast<int>(c.value); }

kernels::SharedBanks banks_of(const arch::MemoryPipeSpec& m) {
  return {static_cast<std::uint32_t>(m.shared_banks), static_cast<std::uint32_t>(m.shared_bank_width.value)};
}

// Wavefronts that the distinct words alone would need: what is above it is bank conflicts.
int least_wavefronts(const AccessPattern& pattern, kernels::SharedBanks banks) {
  const int words = kernels::distinct_words(pattern, banks), count = static_cast<int>(banks.count);
  return std::max(1, (words + count - 1) / count);
}

// Register reads beyond the first data register delay a store's source release (MICRO25: +2 for 64, +6 for 128 bit) and
// the next one of its warp (our H200: STS.64 6.8 and STS.128 10.9 cycles apart; of zeros, which no register holds, 4
// and 8).
int wide_store_extra(const Instruction& in, int bytes_per_lane) {
  const bool zeros = in.src[1].kind == OperandKind::reg && in.src[1].index == kernels::rz;
  return zeros ? 0 : bytes_per_lane >= 16 ? 6 : bytes_per_lane >= 8 ? 2 : 0;
}

int active_bytes(const AccessPattern& pattern) {
  return std::popcount(pattern.active_mask) * static_cast<int>(pattern.bytes_per_lane);
}

std::uint16_t narrow(int v) { return static_cast<std::uint16_t>(std::clamp(v, 0, 65535)); }

// The address needs no vector register: a uniform register or an immediate. MICRO25 measured such accesses apart.
bool has_uniform_address(const Instruction& in) {
  const kernels::Operand& address = in.src[0];
  return address.kind == OperandKind::ureg || address.kind == OperandKind::immediate;
}

// Load data enter the registers at half a warp register per cycle: 64 bits come 4 cycles before 128, but never
// before 32 (H200: LDS 23, 25, 29; MICRO25 for GA102: 24, 24, 26).
int wide_load_extra(int width, int extra_for_128) {
  return width >= 16 ? extra_for_128 : width >= 8 ? std::max(0, extra_for_128 - 4) : 0;
}

double wavefront_bytes(const arch::MemoryPipeSpec& m) { return m.shared_banks * m.shared_bank_width.value; }

// The way between a sub-core and L1 or shared memory: each access takes its turn, and its data the width of the link,
// of which one warp alone gets half a wavefront a cycle (our H200, shared_rate: LDS.128 and STS.128 of one warp every 8
// cycles, of eight warps every 4).
void take_link(MemoryCost& cost, int turn, double bytes, const arch::MemoryPipeSpec& m) {
  cost.sub_core_cycles = narrow(std::max(turn, static_cast<int>(bytes / m.link_width.value)));
  cost.warp_cycles = narrow(std::max<int>(cost.sub_core_cycles, static_cast<int>(2 * bytes / wavefront_bytes(m))));
}

// Generic addresses of shared memory (LD, ST) are looked up before: a load is there 11 cycles later, a store holds the
// front for a cycle more (H200M, generic_shared).
constexpr int lookup_latency = 11, lookup_cycles = 1;

bool is_generic(const Instruction& in) { return in.modifiers.starts_with(".E"); }

void shared_cost(MemoryCost& cost, const Instruction& in, const AccessPattern& pattern, const arch::MemoryPipeSpec& m,
                 bool bank_conflicts) {
  const kernels::SharedBanks banks = banks_of(m);
  const int least_of_words = least_wavefronts(pattern, banks);
  const int one_way = pattern.mean_wavefronts == 0 ? kernels::shared_wavefronts(pattern, banks)
                                                   : std::max(1, pattern.mean_wavefronts / wavefront_parts);
  const int wavefronts = bank_conflicts ? one_way : least_of_words;
  const int conflicts = std::max(0, wavefronts - std::max(least_of_words, pattern.bytes_per_lane >= 16 ? 2 : 1));
  const bool uniform = has_uniform_address(in);
  // LDSM: lanes name rows of 16 bytes, each lane receives 4 bytes per matrix.
  const int width = in.op == Opcode::ldsm ? active_bytes(pattern) / 32 : pattern.bytes_per_lane;
  cost.wavefronts = narrow(wavefronts);
  cost.conflict_wavefronts = narrow(conflicts);
  cost.front_cycles = narrow(std::max(1, wavefronts));
  if (cost.kind == MemoryKind::store_shared) {
    const int reads = wide_store_extra(in, width);
    take_link(cost, whole(m.shared_cycles), wavefronts * wavefront_bytes(m), m);
    cost.warp_cycles = std::max(cost.warp_cycles, narrow(whole(m.address_cycles) + reads));
    cost.read_release = narrow(whole(uniform ? m.sts_uniform_war : m.sts_war) + reads + 2 * conflicts);
    cost.latency = cost.read_release;
    if (is_generic(in)) cost.front_cycles = narrow(cost.front_cycles + lookup_cycles);
  } else {
    take_link(cost, whole(width >= 16 ? m.lds_wide_interval : m.shared_cycles), wavefronts * wavefront_bytes(m), m);
    cost.read_release = narrow(whole(m.lds_war));
    cost.latency =
        narrow(whole(uniform ? m.lds_uniform_latency : m.lds_latency) +
               wide_load_extra(width, whole(m.lds_wide_extra)) + 2 * conflicts + (is_generic(in) ? lookup_latency : 0));
  }
}

// Passes of an access of so many lines that comes from beyond L1: one for each, of 16-byte accesses for each line of a
// quarter warp.
int line_passes(const AccessPattern& pattern, int lines, std::uint32_t line) {
  if (pattern.bytes_per_lane < 16) return lines;
  int passes = 0;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    std::vector<std::uint32_t> lines_of_it;
    for (std::size_t lane = quarter * 8; lane < quarter * 8 + 8; ++lane) {
      if ((pattern.active_mask >> lane & 1u) != 0) lines_of_it.push_back(pattern.offset[lane] / line);
    }
    passes += count_distinct(lines_of_it);
  }
  return passes;
}

// What an access beyond L1 costs the load/store front on our H200, where LDS keep it busy: one cycle when it comes, and
// one for each pass of its data through the data stage later. LDG of one, two and four 128-byte lines takes 1.9, 3.0
// and 4.6 to 4.9 cycles, of 8 and 16 lines (LDG.128, by quarter warps) 8.7 and 16.8; STG of one line 1.5, of four 4.6
// to 5.4; a 4-byte copy of four wavefronts 5.3. A hit takes its pass only.
constexpr int slot = 1;

int whole_passes(const AccessPattern& copy, const AddressFacts& facts, kernels::SharedBanks banks,
                 kernels::LineSizes sizes) {
  return static_cast<int>(std::lround(kernels::mean_copy_passes(copy, facts.row_pitch, banks, sizes).wavefronts));
}

void global_cost(MemoryCost& cost, const Instruction& in, const AccessPattern& pattern, const arch::MemoryPipeSpec& m,
                 const AddressFacts& facts, bool bank_conflicts) {
  const kernels::LineSizes sizes = line_sizes(m);
  const kernels::GlobalCost g = kernels::global_cost(pattern, sizes);
  const int width = pattern.bytes_per_lane;
  const int tag_cycles = std::max(1, (g.lines + m.l1_tags_per_cycle - 1) / std::max(1, m.l1_tags_per_cycle));
  const int bank_passes = kernels::l1_wavefronts(pattern, banks_of(m));
  const int data_cycles = static_cast<int>(active_bytes(pattern) / std::max(1.0, m.data_width.value));
  const bool uniform = has_uniform_address(in);
  cost.matrix = static_cast<std::uint8_t>(pattern.matrix);
  cost.in_l2 = pattern.in_l2;
  cost.sectors = narrow(g.sectors);
  cost.requests = narrow(g.lines);
  cost.front_cycles = narrow(std::max(tag_cycles, data_cycles));
  cost.pass_latency = narrow(tag_cycles - 1 + 2 * std::max(0, bank_passes - (width + 3) / 4));
  const int passes = line_passes(pattern, g.lines, sizes.line);
  cost.miss_cycles = narrow(slot + passes);
  cost.line_latency = narrow(static_cast<int>(std::lround(m.ldg_line_extra.value * (passes - 1))) +
                             (width >= 16 ? whole(m.ldg_wide_miss_extra) : 0));
  take_link(cost, whole(m.address_cycles), cost.kind != MemoryKind::async_copy ? active_bytes(pattern) : 0, m);
  if (cost.kind == MemoryKind::store_global) {
    cost.joins = pattern.joins;
    if (in.op == Opcode::red) {  // what L2 does to its words does not go into L1, nor needs a mask (H200M, l2_atomics)
      cost.front_cycles = cost.miss_cycles;
      cost.pass_latency = 0;
    } else {
      cost.masked = narrow(kernels::masked_lines(pattern, sizes));
      cost.front_cycles = narrow(std::max(tag_cycles, bank_passes + (cost.masked > 0 ? bank_passes : slot)));
    }
    cost.read_release = narrow(whole(uniform ? m.stg_uniform_war : m.stg_war) + wide_store_extra(in, width));
    cost.latency = cost.read_release;
  } else if (cost.kind == MemoryKind::async_copy) {
    const AccessPattern write = kernels::shared_side(pattern);
    const kernels::SharedBanks banks = banks_of(m);
    const int least = least_wavefronts(write, banks);
    const int wavefronts = !bank_conflicts ? least
                           : width >= 16   ? kernels::shared_wavefronts(write, banks)
                                           : whole_passes(pattern, facts, banks, sizes);
    cost.wavefronts = narrow(wavefronts);
    cost.conflict_wavefronts = narrow(std::max(0, wavefronts - least));
    // 16-byte copies bypass L1 and take the passes that write their 512 bytes (our H200: 3.5 to 4.3 cycles each beside
    // LDS.128 and LDSM, 5.1 beside LDS; the same for 4 rows of 128 and 8 of 64 bytes). Narrower ones take their
    // wavefronts, or one for each line that arrives, behind the cycle in which they come (alone 11.8 cycles for 11
    // wavefronts, 12.9 for 12, 1.2 beside LDS for one line).
    const int sectors_of_line = static_cast<int>(sizes.line / sizes.sector);
    const kernels::CopyRequests asked = kernels::copy_requests(pattern, sizes);
    cost.front_cycles = narrow(width >= 16 ? std::max({1, wavefronts, asked.sectors / sectors_of_line})
                                           : slot + std::max(wavefronts, g.lines));
    cost.miss_cycles = cost.front_cycles;
    cost.sectors = narrow(asked.sectors);
    cost.requests = narrow(asked.requests);
    if (width >= 16) cost.port_cycles = cost.requests;
    cost.read_release = narrow(whole(m.ldgsts_war));
    cost.extra_latency = static_cast<std::int16_t>(whole(m.ldgsts_latency - m.ldg_latency));
  } else {
    cost.read_release = narrow(whole(uniform ? m.ldg_uniform_war : m.ldg_war));
    cost.l1_bank_cycles = narrow(bank_passes);
    // Counted from the latency of a 32-bit load with a register address, which the memory port gives.
    cost.extra_latency = static_cast<std::int16_t>(wide_load_extra(width, whole(m.ldg_wide_extra)) +
                                                   (uniform ? whole(m.ldg_uniform_latency - m.ldg_latency) : 0));
  }
}

// MICRO25 table 2: with an immediate address the sources are free early, with a register only when the data is there.
void constant_cost(MemoryCost& cost, const Instruction& in, int addresses, const arch::MemoryPipeSpec& m) {
  const bool by_register = std::any_of(in.src.begin(), in.src.end(), [](const kernels::Operand& o) {
    return o.kind == OperandKind::reg && o.index != kernels::rz;
  });
  cost.latency = narrow(whole(by_register ? m.ldc_register_latency : m.ldc_latency));
  cost.read_release = narrow(whole(by_register ? m.ldc_register_latency : m.ldc_war));
  // One unit of the SM serves one address after the other (H200M, constants).
  cost.front_cycles = narrow(whole(m.constant_interval) * addresses);
}

// A memory barrier. One of CTA scope takes 9 cycles, 84 to 105 for 32 warps together; one of GPU scope 265, for 16
// warps too, behind the answers to all that the CTA has asked for (H200M, fences).
void fence_cost(MemoryCost& cost, const Instruction& in, const arch::MemoryPipeSpec& m) {
  constexpr std::uint16_t interval = 3;
  const auto has = [&](const char* scope) { return in.modifiers.find(scope) != std::string::npos; };
  cost.latency = narrow(whole(has(".SYS") ? m.membar_system : has(".CTA") ? m.membar_cta : m.membar_gpu));
  cost.read_release = cost.latency;
  cost.front_cycles = interval;
  cost.bytes = 0;
}

// Lane addresses of an instruction that carries none: consecutive.
AccessPattern pattern_of(const Instruction& in, const kernels::Program& program) {
  AccessPattern pattern;
  if (in.pattern >= 0) {
    pattern = program.patterns[static_cast<std::size_t>(in.pattern)];
    if (in.op == Opcode::ldsm) {  // lanes 0 to 8n - 1 name the 16-byte rows of n matrices
      const int matrices = in.modifiers.ends_with(".4") ? 4 : in.modifiers.ends_with(".2") ? 2 : 1;
      if (matrices < 4) pattern.active_mask &= (1u << 8 * matrices) - 1;
    }
    return pattern;
  }
  pattern.bytes_per_lane = in.access_bytes == 0 ? std::uint8_t{4} : in.access_bytes;
  for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.offset[lane] = lane * pattern.bytes_per_lane;
  pattern.shared_offset = pattern.offset;
  return pattern;
}

// Out of tensor memory, past the load/store front: each sub-core reads its own 32 lanes.
void tensor_memory_cost(MemoryCost& cost, const Instruction& in, const arch::SmSpec& sm) {
  constexpr double lanes = 32, register_bytes = 4;
  const double bytes = lanes * std::max<double>(in.access_bytes, register_bytes);
  const double cycles = bytes / std::max(1.0, sm.tcgen05.load_bandwidth.value);
  cost.bytes = static_cast<std::uint32_t>(bytes);
  cost.address_cycles = cost.front_cycles = 1;
  cost.sub_core_cycles = cost.warp_cycles = narrow(static_cast<int>(std::ceil(cycles)));
  cost.read_release = narrow(whole(sm.memory.lds_war));
  cost.latency = narrow(whole(sm.tcgen05.load_latency) + static_cast<int>(std::ceil(cycles)));
}

}  // namespace

kernels::LineSizes line_sizes(const arch::MemoryPipeSpec& memory) {
  return {static_cast<std::uint32_t>(memory.sector.value), static_cast<std::uint32_t>(memory.l1_line.value)};
}

MemoryCost one_wavefront_more(MemoryCost cost, const arch::MemoryPipeSpec& memory) {
  cost.next_share = 0;
  ++cost.wavefronts;
  ++cost.conflict_wavefronts;
  cost.front_cycles = std::max(cost.front_cycles, cost.wavefronts);
  cost.latency = narrow(cost.latency + 2);
  const std::uint16_t least = cost.warp_cycles;
  take_link(cost, cost.sub_core_cycles, cost.wavefronts * wavefront_bytes(memory), memory);
  cost.warp_cycles = std::max(cost.warp_cycles, least);
  if (cost.kind == MemoryKind::store_shared) cost.read_release = narrow(cost.read_release + 2);
  return cost;
}

MemoryKind memory_kind(Opcode op) { return kernels::opcode_info(op).memory; }

MemoryCost memory_cost(const Instruction& in, const kernels::Program& program, const arch::SmSpec& sm,
                       const AddressFacts& facts, bool bank_conflicts) {
  MemoryCost cost;
  cost.kind = memory_kind(in.op);
  if (in.op == Opcode::ldtm) {
    tensor_memory_cost(cost, in, sm);
    return cost;
  }
  const AccessPattern pattern = pattern_of(in, program);
  cost.bytes = static_cast<std::uint32_t>(active_bytes(pattern));
  cost.address_cycles = narrow(whole(sm.memory.shared_interval));
  switch (cost.kind) {
    case MemoryKind::load_shared:
    case MemoryKind::store_shared:
      shared_cost(cost, in, pattern, sm.memory, bank_conflicts);
      if (pattern.of_peer && cost.kind == MemoryKind::load_shared) cost.latency = narrow(whole(sm.tma.cluster_latency));
      if (bank_conflicts) cost.next_share = static_cast<std::uint8_t>(pattern.mean_wavefronts % wavefront_parts);
      break;
    case MemoryKind::load_global:
    case MemoryKind::store_global:
    case MemoryKind::async_copy: global_cost(cost, in, pattern, sm.memory, facts, bank_conflicts); break;
    case MemoryKind::barrier:
      // Beside LDS that keep the front busy a barrier costs one cycle per warp (our H200: 1.0 with 4 and 8 warps). CTAs
      // of one and two warps took 4 and 2 there, but main loops of many such CTAs do not. It brings no addresses.
      cost.address_cycles = 0;
      cost.front_cycles = 1;
      cost.sub_core_cycles = cost.warp_cycles = 2;
      cost.bytes = 0;
      break;
    case MemoryKind::shuffle:
      // Through the crossbar of shared memory, one warp per cycle and SM on every generation (CPG: 32 lanes).
      cost.address_cycles = cost.front_cycles = 1;
      take_link(cost, whole(sm.memory.shared_cycles), wavefront_bytes(sm.memory), sm.memory);
      cost.read_release = narrow(whole(sm.memory.lds_war));
      cost.latency = narrow(whole(sm.memory.shfl_latency));
      cost.bytes = 0;
      break;
    case MemoryKind::texture:
      // The texture unit of an SM filters four texels a cycle (CPG; H200M: filters of 17 taps take 1.1 times as long),
      // beside the data stage: 108 TEX and 1,309 shared wavefronts of a warp take 1,539 cycles. Where texels lie nobody
      // knows.
      cost.address_cycles = 0;
      cost.front_cycles = 32 / 4;
      take_link(cost, whole(sm.memory.shared_cycles), wavefront_bytes(sm.memory), sm.memory);
      cost.read_release = narrow(whole(sm.memory.lds_war));
      cost.latency = narrow(whole(sm.memory.lds_latency) + 4);
      cost.bytes = 0;
      break;
    case MemoryKind::special_register:
      // Queues with shared accesses and takes a place at the arbiter, but none in the data stage (h100_sm_micro,
      // special_behind, special_beside: 8 LDS and 8 S2R of 16 warps take 256 cycles, 8 LDS.128 as many with as
      // without). Left out: alone the SM does one in two cycles.
      cost.front_cycles = 0;
      cost.sub_core_cycles = cost.warp_cycles = narrow(whole(sm.memory.address_cycles));
      cost.read_release = narrow(whole(sm.memory.lds_war));
      cost.latency = narrow(whole(sm.memory.lds_latency) + 4);
      cost.bytes = 0;
      break;
    case MemoryKind::fence: fence_cost(cost, in, sm.memory); break;
    case MemoryKind::constant:
    case MemoryKind::none:
      constant_cost(cost, in, in.pattern >= 0 ? kernels::distinct_addresses(pattern) : 1, sm.memory);
      break;
  }
  return cost;
}

}  // namespace noteg::sm
