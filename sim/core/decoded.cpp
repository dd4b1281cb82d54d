#include "sim/core/decoded.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "kernels/wavefronts.hpp"

namespace noteg::core {

namespace {

using kernels::AccessPattern;
using kernels::Instruction;
using kernels::Opcode;
using kernels::OperandKind;
using kernels::Unit;

int as_int(Cycles c) { return static_cast<int>(c.value); }

// Wavefronts that the distinct words alone would need: what is above it is bank conflicts.
int least_wavefronts(const AccessPattern& pattern) {
  std::set<std::uint32_t> words;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((pattern.active_mask >> lane & 1u) == 0) continue;
    for (std::uint32_t b = 0; b < pattern.bytes_per_lane; b += 4) words.insert((pattern.offset[lane] + b) / 4);
  }
  return std::max(1, static_cast<int>((words.size() + 31) / 32));
}

// Register reads beyond the first data register delay a store's source release (MICRO25: +2 for 64, +6 for 128 bit).
int wide_store_extra(int bytes_per_lane) { return bytes_per_lane >= 16 ? 6 : bytes_per_lane >= 8 ? 2 : 0; }

int active_bytes(const AccessPattern& pattern) {
  return std::popcount(pattern.active_mask) * static_cast<int>(pattern.bytes_per_lane);
}

std::uint16_t narrow(int v) { return static_cast<std::uint16_t>(std::clamp(v, 0, 65535)); }

void shared_cost(MemoryCost& cost, const AccessPattern& pattern, const arch::MemoryPipeSpec& m, bool store,
                 bool bank_conflicts) {
  const int wavefronts = bank_conflicts ? kernels::shared_wavefronts(pattern) : least_wavefronts(pattern);
  const int conflicts =
      std::max(0, wavefronts - std::max(least_wavefronts(pattern), pattern.bytes_per_lane >= 16 ? 2 : 1));
  const int width = pattern.bytes_per_lane;
  cost.wavefronts = narrow(wavefronts);
  cost.conflict_wavefronts = narrow(conflicts);
  cost.front_cycles = narrow(std::max(as_int(m.shared_interval), wavefronts));
  if (store) {
    cost.sub_core_cycles = narrow(as_int(m.address_cycles) + wide_store_extra(width));
    cost.read_release = narrow(as_int(m.sts_war) + wide_store_extra(width) + 2 * conflicts);
    cost.latency = cost.read_release;
  } else {
    // The sub-core's link takes half a wavefront a cycle (our H200: one warp, n-way conflict: 2n cycles).
    cost.sub_core_cycles = narrow(std::max({as_int(m.address_cycles), 2 * wavefronts, active_bytes(pattern) / 64}));
    cost.read_release = narrow(as_int(m.lds_war));
    cost.latency = narrow(as_int(m.lds_latency) + (width >= 16 ? as_int(m.lds_wide_extra) : 0) + 2 * conflicts);
  }
}

// Passes of a global access through the L1 data stage. 16-byte accesses go by quarter warps and take one pass per
// line of each (our H200 counters: LDG.128 of 16 rows of 32 bytes 16, of four whole lines 4); narrower ones take
// up to four lines a pass.
int global_passes(const AccessPattern& pattern, int lines, int tags_per_cycle) {
  if (pattern.bytes_per_lane < 16) return (lines + tags_per_cycle - 1) / std::max(1, tags_per_cycle);
  int passes = 0;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    std::set<std::uint32_t> seen;
    for (std::size_t lane = quarter * 8; lane < quarter * 8 + 8; ++lane) {
      if ((pattern.active_mask >> lane & 1u) != 0) seen.insert(pattern.offset[lane] / 128);
    }
    passes += static_cast<int>(seen.size());
  }
  return passes;
}

void global_cost(MemoryCost& cost, const AccessPattern& pattern, const arch::MemoryPipeSpec& m,
                 const AddressFacts& facts, bool bank_conflicts) {
  const kernels::GlobalCost g = kernels::global_cost(pattern);
  const int width = pattern.bytes_per_lane;
  const int tag_cycles = global_passes(pattern, g.lines, m.l1_tags_per_cycle);
  const int data_cycles = static_cast<int>(active_bytes(pattern) / std::max(1.0, m.data_width.value));
  cost.sectors = narrow(g.sectors);
  cost.front_cycles = narrow(std::max({as_int(m.shared_interval), tag_cycles, data_cycles}));
  cost.sub_core_cycles = narrow(as_int(m.address_cycles) + std::max(0, width * 32 / 64 - 2));
  if (cost.kind == MemoryKind::store_global) {
    cost.read_release = narrow(as_int(m.stg_war) + wide_store_extra(width));
    cost.latency = cost.read_release;
  } else if (cost.kind == MemoryKind::async_copy) {
    const AccessPattern write = kernels::shared_side(pattern);
    const int wavefronts = bank_conflicts ? kernels::shared_wavefronts(write) : least_wavefronts(write);
    cost.wavefronts = narrow(wavefronts);
    cost.conflict_wavefronts = narrow(std::max(0, wavefronts - least_wavefronts(write)));
    // 16-byte copies bypass L1 and take one pass (our H200 counters, mma.sync kernels: 0.7 to 1.0). Narrower ones
    // take the bank-conflict wavefronts of their shared-memory write and one more for each further line read: 4-byte
    // copies of one line 1.2, of four rows stored transposed 11.0 where the rows arrive together. Rows from several
    // L2 slices arrive apart and repeat their conflicts: 18.5 (K = 1000; our micro-benchmark over row pitches: 14
    // cycles at powers of two, 18 to 22 elsewhere, no difference where the write is free of conflicts).
    const int arrivals = facts.rows_arrive_together || g.lines < 2 ? 1 : 2;
    const int passes = (wavefronts - 1) * arrivals + g.lines;
    cost.front_cycles = narrow(std::max(as_int(m.shared_interval), width >= 16 ? 1 : passes));
    cost.read_release = narrow(as_int(m.ldgsts_war));
    cost.latency = narrow(as_int(m.ldgsts_latency) - as_int(m.ldg_latency));
  } else {
    cost.read_release = narrow(as_int(m.ldg_war));
    cost.latency = narrow(width >= 16 ? as_int(m.ldg_wide_extra) : width >= 8 ? 2 : 0);
  }
}

MemoryKind kind_of(Opcode op) {
  switch (op) {
    case Opcode::lds:
    case Opcode::ldsm: return MemoryKind::load_shared;
    case Opcode::sts: return MemoryKind::store_shared;
    case Opcode::ldg: return MemoryKind::load_global;
    case Opcode::stg:
    case Opcode::red: return MemoryKind::store_global;
    case Opcode::ldgsts: return MemoryKind::async_copy;
    case Opcode::ldc: return MemoryKind::constant;
    case Opcode::bar_sync: return MemoryKind::barrier;
    default: return MemoryKind::none;
  }
}

MemoryCost cost_of(const Instruction& in, const kernels::Program& program, const arch::SmSpec& sm,
                   const AddressFacts& facts, bool bank_conflicts) {
  MemoryCost cost;
  cost.kind = kind_of(in.op);
  AccessPattern pattern;
  if (in.pattern >= 0) {
    pattern = program.patterns[static_cast<std::size_t>(in.pattern)];
  } else {
    pattern.bytes_per_lane = in.access_bytes == 0 ? std::uint8_t{4} : in.access_bytes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.offset[lane] = lane * pattern.bytes_per_lane;
    pattern.shared_offset = pattern.offset;
  }
  cost.bytes = static_cast<std::uint32_t>(active_bytes(pattern));
  switch (cost.kind) {
    case MemoryKind::load_shared: shared_cost(cost, pattern, sm.memory, false, bank_conflicts); break;
    case MemoryKind::store_shared: shared_cost(cost, pattern, sm.memory, true, bank_conflicts); break;
    case MemoryKind::load_global:
    case MemoryKind::store_global:
    case MemoryKind::async_copy: global_cost(cost, pattern, sm.memory, facts, bank_conflicts); break;
    case MemoryKind::barrier:
      // Two cycles for each arriving warp (our H200: back-to-back BAR.SYNC cost 12.3 + 2 cycles per warp).
      cost.front_cycles = 2;
      cost.sub_core_cycles = 2;
      cost.bytes = 0;
      break;
    case MemoryKind::constant:
    case MemoryKind::none:
      cost.front_cycles = narrow(as_int(sm.memory.shared_interval));
      cost.latency = narrow(as_int(sm.memory.ldc_latency));
      break;
  }
  return cost;
}

Action action_of(const Instruction& in) {
  switch (in.op) {
    case Opcode::bra: return in.loop >= 0 ? Action::branch : Action::control;
    case Opcode::exit: return Action::exit;
    case Opcode::bar_sync: return Action::barrier;
    default: break;
  }
  switch (kernels::opcode_info(in.op).unit) {
    case Unit::fma: return Action::fma;
    case Unit::fma_heavy: return Action::fma_heavy;
    case Unit::alu: return Action::alu;
    case Unit::half: return Action::half;
    case Unit::mufu: return Action::mufu;
    case Unit::fp64: return Action::fp64;
    case Unit::uniform: return Action::uniform;
    case Unit::memory: return kind_of(in.op) == MemoryKind::none ? Action::control : Action::memory;
    case Unit::branch:
    case Unit::barrier:
    case Unit::tensor:
    case Unit::control: return Action::control;
  }
  return Action::control;
}

void decode_reads(DecodedInstruction& out, const Instruction& in, const arch::RegisterFileSpec& rf) {
  for (std::size_t position = 0; position < in.src.size(); ++position) {
    const kernels::Operand& operand = in.src[position];
    if (operand.kind != OperandKind::reg || operand.index == kernels::rz) continue;
    ReadPort port;
    const int banks = std::clamp(rf.banks, 1, 2);
    port.bank = static_cast<std::uint8_t>(operand.index % banks);
    port.cached = position < static_cast<std::size_t>(rf.cache_slots) && rf.cache_slots <= 4 ? 1 : 0;
    port.slot = static_cast<std::uint8_t>(port.bank * rf.cache_slots + static_cast<int>(position));
    port.reuse = operand.reuse ? 1 : 0;
    port.reg = static_cast<std::uint16_t>(operand.index);
    if (port.slot >= 8) port.cached = 0;
    for (std::uint8_t i = 0; i < out.reads; ++i) {
      if (out.read[i].reg == port.reg) port.repeated = 1;
    }
    out.read[out.reads++] = port;
  }
}

// Completion of variable-latency instructions outside the load/store path.
int variable_latency(Opcode op, const arch::SmSpec& sm) {
  const int mufu = std::max(1, as_int(sm.pipes.mufu.latency));
  return op == Opcode::s2r || op == Opcode::s2ur ? std::max(20, mufu) : mufu;
}

DecodedInstruction decode_one(const Instruction& in, const kernels::Program& program, const arch::SmSpec& sm) {
  DecodedInstruction out;
  out.action = action_of(in);
  out.opcode = static_cast<std::uint8_t>(in.op);
  out.stall = std::max<std::uint8_t>(in.control.stall, 1);
  out.yield = in.control.yield ? 1 : 0;
  out.write_barrier = in.control.write_barrier;
  out.read_barrier = in.control.read_barrier;
  for (int i = 0; i < 6; ++i) {
    if ((in.control.wait_mask >> i & 1) != 0) out.wait_bits |= std::uint64_t{0xff} << (8 * i);
  }
  if (in.op == Opcode::depbar) out.depbar = static_cast<std::uint8_t>(std::clamp<int>(in.depbar_count, 0, 15));
  if (in.op == Opcode::ldgdepbar) {
    // Commit: tracked as a copy group, not as a counter.
    out.commit = 1;
    out.write_barrier = -1;
    out.read_barrier = -1;
  }
  // DEPBAR names the counter of the commits it waits for; groups stand for it here.
  if (in.loop >= 0 && out.action == Action::branch) {
    out.loop = in.loop;
    out.target = program.loops[static_cast<std::size_t>(in.loop)].begin;
  }
  if (in.taken) {
    // The code that a taken forward branch skips is left out; what remains of it is the new fetch.
    out.stall = std::max(out.stall, static_cast<std::uint8_t>(std::min(255, as_int(sm.front_end.branch_redirect))));
  }
  out.latency = static_cast<std::uint8_t>(std::min(255, variable_latency(in.op, sm)));
  decode_reads(out, in, sm.register_file);
  return out;
}

}  // namespace

DecodedProgram decode(const kernels::Program& program, const arch::SmSpec& sm, const AddressFacts& facts,
                      const CoreSwitches& switches) {
  DecodedProgram out;
  out.warps = std::max(1, program.warps);
  out.start.assign(static_cast<std::size_t>(out.warps), 0);
  for (const kernels::Role& role : program.roles) {
    std::fill_n(out.start.begin() + role.first_warp, role.warps, role.begin);
  }
  out.mainloop_begin = program.mainloop_begin;
  out.epilogue_begin = program.epilogue_begin;
  for (const kernels::Loop& loop : program.loops) out.loops.push_back({loop.trips, loop.is_main});
  out.code.reserve(program.code.size());
  for (const Instruction& in : program.code) {
    DecodedInstruction decoded = decode_one(in, program, sm);
    if (decoded.action == Action::memory || decoded.action == Action::barrier) {
      decoded.memory = static_cast<std::int16_t>(out.memory.size());
      out.memory.push_back(cost_of(in, program, sm, facts, switches.bank_conflicts));
    }
    out.code.push_back(decoded);
  }
  return out;
}

}  // namespace noteg::core
