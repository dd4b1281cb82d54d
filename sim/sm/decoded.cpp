#include "sim/sm/decoded.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/ir/tensor_form.hpp"
#include "sim/sm/decoded_async.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::sm {

namespace {

using kernels::Instruction;
using kernels::Opcode;
using kernels::OperandKind;
using kernels::Unit;

Action action_of(const Instruction& in) {
  if (in.async >= 0) return Action::asynchronous;
  switch (in.op) {
    case Opcode::bra: return in.loop >= 0 ? Action::branch : Action::control;
    case Opcode::exit: return Action::exit;
    case Opcode::bar_sync: return Action::barrier;
    case Opcode::ldc: return Action::constant_load;
    case Opcode::utmacmdflush:
    case Opcode::uldc: return Action::control;  // beside the uniform pipe (h200_memory_micro, uniform_rate)
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
    case Unit::memory: return memory_kind(in.op) == MemoryKind::none ? Action::control : Action::memory;
    case Unit::tensor: return in.async >= 0 || in.op == Opcode::hgmma ? Action::control : Action::tensor;
    case Unit::branch:
    case Unit::barrier:
    case Unit::control: return Action::control;
  }
  return Action::control;
}

// IMAD.WIDE and IMAD.HI of compiled code, whose modifiers say so.
bool is_two_passes(const Instruction& in) {
  const auto says = [&](std::string_view what) { return in.modifiers.find(what) != std::string::npos; };
  return in.op == Opcode::imad_wide && (says("WIDE") || says("HI"));
}

void decode_reads(DecodedInstruction& out, const Instruction& in, const arch::RegisterFileSpec& rf) {
  if (in.async >= 0) return;  // accumulators of a warpgroup do not come through the read ports of single instructions
  for (std::size_t position = 0; position < in.src.size(); ++position) {
    const kernels::Operand& operand = in.src[position];
    if (operand.kind != OperandKind::reg || operand.index == kernels::rz) continue;
    ReadPort port;
    const int banks = std::clamp(rf.banks, 1, most_banks);
    const int bank = operand.index % banks;
    port.reg = static_cast<std::uint16_t>(operand.index);
    const int slot = bank * rf.cache_slots + static_cast<int>(position);
    if (static_cast<int>(position) < rf.cache_slots && rf.cache_slots <= 4 && slot < uncached_slot) {
      port.slot = static_cast<std::uint8_t>(slot);
      port.keep = operand.reuse ? ~0u : 0;
    }
    bool is_first = true;
    for (std::uint8_t i = 0; i < out.reads; ++i) is_first = is_first && out.read[i].reg != port.reg;
    // Of a pair, the other register lies in the next bank; not of products that we write (further_cycles).
    const int read = operand.count == 2 && (in.op != Opcode::imad_wide || is_two_passes(in)) ? 2 : 1;
    // MUFU and conversions read each operand of one register twice (docs/compiled-kernels.md, What dispatch does).
    const std::uint64_t times = out.action == Action::mufu && operand.count < 2 ? 2 : 1;
    for (int i = 0; is_first && i < read; ++i) port.need += times << (16 * ((bank + i) % banks));
    out.read[out.reads++] = port;
  }
}

TensorCost tensor_cost(const Instruction& in, const arch::SmSpec& sm) {
  TensorCost cost;
  if (const auto form = kernels::tensor_form_from(in.op, in.modifiers)) {
    const std::optional<TensorTiming> timing = tensor_timing(sm, *form);
    cost.interval = timing ? timing->interval : 1;
    cost.kind = kernels::tensor_kind(*form);
    cost.macs = kernels::macs_of(*form);
  }
  // Where A and B, one register a cycle, or C take as long as the instruction itself, ports are never free beside it
  // (h100_sm_micro, mma_loop: m16n8k16 takes 6 cycles, m16n8k8 four, and what others read comes on top).
  const auto registers = [](const kernels::Operand& o) { return o.kind == OperandKind::reg ? o.count : 0; };
  const int gathered = std::max(registers(in.src[0]) + registers(in.src[1]), registers(in.src[2]));
  if (gathered >= static_cast<int>(cost.interval)) {
    cost.need.fill(static_cast<unsigned>(gathered));
    return cost;
  }
  for (const kernels::Operand& operand : in.src) {
    if (operand.kind != OperandKind::reg || operand.index == kernels::rz) continue;
    for (int i = 0; i < operand.count; ++i)
      ++cost.need[static_cast<std::size_t>((operand.index + i) % std::clamp(sm.register_file.banks, 1, most_banks))];
  }
  return cost;
}

// The counter that DEPBAR names, unless commits of asynchronous copies use it: groups stand for those.
std::int8_t counter_of(const Instruction& depbar, const kernels::Program& program) {
  if (depbar.src[0].kind != OperandKind::immediate || depbar.src[0].value < 0 || depbar.src[0].value > 5) return -1;
  const auto counter = static_cast<std::int8_t>(depbar.src[0].value);
  for (const Instruction& in : program.code) {
    if (in.op == Opcode::ldgdepbar && (in.control.write_barrier < 0 || in.control.write_barrier == counter)) return -1;
  }
  return counter;
}

// Two combinations mean something else (MICRO25, section 4.1): more than 11 cycles without yield hold for two only, and
// none with yield for 45.
std::uint8_t hold_cycles(const kernels::Control& control) {
  if (control.stall == 0) return control.yield ? 45 : 1;
  if (control.stall > 11 && !control.yield) return 2;
  return std::max<std::uint8_t>(control.stall, control.yield ? 2 : 1);
}

// BAR.SYNC.DEFER_BLOCKING: the warp goes on with arithmetic of vector registers, HMMA too, until its first other
// instruction, and that one waits (H200M, H100M: barrier samples lie there, none on what comes between).
bool is_vector_arithmetic(Action action) {
  return action == Action::fma || action == Action::fma_heavy || action == Action::alu || action == Action::half ||
         action == Action::tensor;
}

// Line of the constant operand, numbered by bank and offset.
std::uint16_t constant_line(const Instruction& in) {
  for (const kernels::Operand& o : in.src) {
    if (o.kind != OperandKind::constant) continue;
    if (o.value < 0) return no_constant;
    return static_cast<std::uint16_t>((std::max<int>(o.index == kernels::rz ? 0 : o.index, 0) % 32) * 1024 +
                                      std::min(o.value, 65535) / 64);
  }
  return no_constant;
}

// Cycles for which an instruction keeps its pipe beyond those of others there. IMAD.HI and IMAD.WIDE pass it twice
// (H200M, pipe_mix: IMAD.HI 4.0 cycles, 6.0 with an IMAD): of compiled code, whose modifiers say so, since those that
// we write are scheduled for the interval of other products. A matrix product of FP64 passes eight times for 8 x 8 x 4,
// at half the rate of the larger ones on sm_90 (H200M, dmma: 16.0 cycles, and 32.3 for 16 x 8 x 8).
int further_cycles(const Instruction& in, const arch::SmSpec& sm) {
  if (in.op == Opcode::imad_wide) return is_two_passes(in) ? 2 : 0;
  if (in.op != Opcode::dfma) return 0;
  const auto says = [&](std::string_view what) { return in.modifiers.find(what) != std::string::npos; };
  const int passes = says("8x8x4") || says("16x8x4") ? 8 : says("16x8x8") ? 16 : says("16x8x16") ? 32 : 1;
  return (passes - 1) * static_cast<int>(pipe_interval(sm.pipes.fp64.lanes));
}

// Until the result of a matrix product of FP64 is there: 26.0 and 50.0 cycles in chains of these (H200M, dmma).
int latency_of(const Instruction& in, int further, const arch::SmSpec& sm) {
  const int latency = variable_latency(in.op, sm);
  return in.op == Opcode::dfma && further > 0 ? latency + 3 * further / 2 - 3 : latency;
}

DecodedInstruction decode_one(const Instruction& in, const kernels::Program& program, const arch::SmSpec& sm) {
  DecodedInstruction out;
  out.action = action_of(in);
  out.opcode = static_cast<std::uint8_t>(in.op);
  (in.op == Opcode::ldc ? out.loaded_line : out.constant_line) = constant_line(in);
  out.hold = hold_cycles(in.control);
  out.yields = in.control.yield;
  out.write_barrier = in.control.write_barrier;
  out.read_barrier = in.control.read_barrier;
  for (int i = 0; i < 6; ++i) {
    if ((in.control.wait_mask >> i & 1) != 0) out.wait_bits |= std::uint64_t{0xff} << (8 * i);
  }
  if (in.op == Opcode::depbar) {
    out.depbar = static_cast<std::uint8_t>(std::clamp<int>(in.depbar_count, 0, 63));
    out.depbar_counter = counter_of(in, program);
  }
  out.async = in.async;
  if (in.op == Opcode::utmacmdflush) out.commit = 1;
  if (in.op == Opcode::ldgdepbar) {
    // Commit: tracked as a copy group, not as a counter.
    out.commit = 1;
    out.write_barrier = -1;
    out.read_barrier = -1;
  }
  if (in.loop >= 0 && out.action == Action::branch) {
    out.loop = in.loop;
    out.target = program.loops[static_cast<std::size_t>(in.loop)].begin;
  }
  if (in.op == Opcode::bra)
    out.hold = std::max(out.hold, static_cast<std::uint8_t>(std::min(255, as_int(sm.pipes.branch.latency))));
  if (in.taken) {
    // The code that a taken forward branch skips is left out; what remains of it is the new fetch.
    out.hold = 1;
    out.redirect = static_cast<std::uint8_t>(std::min(255, as_int(sm.front_end.branch_redirect)));
  }
  if (in.op == Opcode::bsync) out.redirect = static_cast<std::uint8_t>(std::min(255, as_int(sm.front_end.convergence)));
  out.passes_barrier = is_vector_arithmetic(out.action);
  const int further = further_cycles(in, sm);
  out.further_cycles = static_cast<std::uint16_t>(further);
  // The second pass is dispatched two cycles behind the first and nothing else between them; stall counts begin there
  // (H200M, dispatch loops: IMAD.HI among 38 to 57 instructions of other pipes 3.0 cycles, 6 from itself in one warp).
  if (is_two_passes(in)) {
    out.held_dispatch = static_cast<std::uint8_t>(further);
    out.hold = static_cast<std::uint8_t>(std::min(255, out.hold + further));
  }
  out.latency = static_cast<std::uint8_t>(std::min(255, latency_of(in, further, sm)));
  if (out.action != Action::tensor) decode_reads(out, in, sm.register_file);
  return out;
}

// Which loop lies in which.
void decode_loops(DecodedProgram& out, const kernels::Program& program) {
  for (const kernels::Loop& loop : program.loops)
    out.loops.push_back({loop.iterations, loop.is_main, loop.is_tiles, loop.begin, loop.branch});
  const auto size = [](const DecodedLoop& loop) { return loop.branch - loop.begin; };
  std::vector<int> by_size(out.loops.size());
  for (std::size_t i = 0; i < by_size.size(); ++i) by_size[i] = static_cast<int>(i);
  const auto at = [&](int i) -> DecodedLoop& { return out.loops[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(by_size, [&](int a, int b) { return size(at(a)) > size(at(b)); });
  out.innermost.assign(program.code.size(), -1);
  for (const int i : by_size) {
    DecodedLoop& loop = at(i);
    loop.parent = out.innermost[static_cast<std::size_t>(loop.begin)];
    if (loop.parent >= 0) loop.depth = at(loop.parent).depth + 1;
    std::fill(out.innermost.begin() + loop.begin, out.innermost.begin() + loop.branch + 1,
              static_cast<std::int16_t>(i));
  }
}

// Behind `at` a warp may find that no tile is its own, and go elsewhere.
bool enters_tiles(const DecodedProgram& program, std::size_t at) {
  return std::ranges::any_of(program.tiles,
                             [&](const TileShare& t) { return t.loop == static_cast<std::int32_t>(at + 1); });
}

bool is_simple(const DecodedInstruction& in) {
  switch (in.action) {
    case Action::fma:
    case Action::fma_heavy:
    case Action::alu:
    case Action::half:
    case Action::tensor:
    case Action::uniform:
    case Action::control:
      return in.write_barrier < 0 && in.read_barrier < 0 && in.commit == 0 && in.async < 0 && in.redirect == 0 &&
             in.constant_line == no_constant;
    case Action::mufu:
    case Action::fp64:
    case Action::memory:
    case Action::constant_load:
    case Action::branch:
    case Action::barrier:
    case Action::asynchronous:
    case Action::exit: return false;
  }
  return false;
}

std::uint8_t held_by(const DecodedInstruction& in) {
  if (in.simple && in.action < static_cast<Action>(pipes)) return static_cast<std::uint8_t>(in.action);
  const bool queues = in.action == Action::memory || in.action == Action::barrier;
  return queues && in.constant_line == no_constant ? queue_place : no_single_wait;
}

bool is_wide_fence(const Instruction& in) {
  return in.op == Opcode::membar && in.modifiers.find(".CTA") == std::string::npos;
}

// What memory barriers wait for beside their own way, and who waits for them.
void order_fences(DecodedProgram& out, const kernels::Program& program) {
  // Longer where the warp has stored to shared memory since the last one (H100M, bulk_store: eight warps that each
  // store four times lose 112 cycles between these and a BAR.SYNC).
  constexpr int behind_stores = 27;
  bool has_stored = false;
  for (std::size_t at = 0; at < out.code.size(); ++at) {
    DecodedInstruction& in = out.code[at];
    if (in.memory < 0) continue;
    MemoryCost& cost = out.memory[static_cast<std::size_t>(in.memory)];
    has_stored = has_stored || cost.kind == MemoryKind::store_shared;
    out.joins_stores = out.joins_stores || cost.joins > 0;
    if (cost.kind != MemoryKind::fence) continue;
    out.has_fences = true;
    if (std::exchange(has_stored, false))
      cost.read_release = cost.latency = static_cast<std::uint16_t>(cost.latency + behind_stores);
    if (!is_wide_fence(program.code[at])) continue;
    in.write_barrier = fence_counter;
    if (at + 1 < out.code.size()) out.code[at + 1].wait_bits |= std::uint64_t{0xff} << (8 * fence_counter);
  }
}

// DEPBAR issues at once, and the instruction behind it waits (H200M, H100M: stall samples lie there, none on DEPBAR).
// Where that is entered from elsewhere too, it waits itself.
void hold_behind_depbar(DecodedProgram& out) {
  const auto is_entered = [&](std::int32_t place) {
    return std::ranges::find(out.start, place) != out.start.end() ||
           std::ranges::any_of(out.loops,
                               [&](const DecodedLoop& l) { return place == l.begin || place == l.branch + 1; }) ||
           std::ranges::any_of(out.tiles, [&](const TileShare& t) { return place == t.loop || place == t.exit; });
  };
  for (std::size_t at = out.code.size(); at-- > 1;) {
    DecodedInstruction& in = out.code[at - 1];
    if (in.depbar == 0xff || is_entered(static_cast<std::int32_t>(at))) continue;
    out.code[at].depbar = std::exchange(in.depbar, std::uint8_t{0xff});
    out.code[at].depbar_counter = std::exchange(in.depbar_counter, std::int8_t{-1});
  }
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
  out.lead_warp = program.lead_warp;
  out.mainloop_begin = program.mainloop_begin;
  out.epilogue_begin = program.epilogue_begin;
  if (switches.dependence == Dependence::scoreboard)
    out.scoreboard.emplace(program, latency_model(sm, tensor_form_in(program)));
  decode_loops(out, program);
  out.code.reserve(program.code.size());
  std::vector<int> copy_cost(program.patterns.size(), -1);  // of LDGSTS, by pattern: long to count, the same for all
  for (const Instruction& in : program.code) {
    DecodedInstruction decoded = decode_one(in, program, sm);
    decoded.queues = decoded.action == Action::memory || is_wide_fence(in) ||
                     (decoded.action == Action::barrier && switches.barriers);
    if (decoded.queues || decoded.action == Action::constant_load || decoded.action == Action::barrier) {
      decoded.memory = static_cast<std::int16_t>(out.memory.size());
      int* known =
          in.op == Opcode::ldgsts && in.pattern >= 0 ? &copy_cost[static_cast<std::size_t>(in.pattern)] : nullptr;
      out.memory.push_back(known != nullptr && *known >= 0
                               ? out.memory[static_cast<std::size_t>(*known)]
                               : memory_cost(in, program, sm, facts, switches.bank_conflicts));
      if (known != nullptr) *known = decoded.memory;
      if (out.memory.back().next_share > 0) out.memory.push_back(one_wavefront_more(out.memory.back(), sm.memory));
    }
    if (decoded.action == Action::tensor) {
      decoded.tensor = static_cast<std::int16_t>(out.tensor.size());
      out.tensor.push_back(tensor_cost(in, sm));
    }
    out.code.push_back(decoded);
  }
  if (!program.async.empty()) decode_asynchronous(out, program, sm);
  order_fences(out, program);
  hold_behind_depbar(out);
  for (std::size_t at = 0; at < out.code.size(); ++at) {
    DecodedInstruction& in = out.code[at];
    const auto place = static_cast<std::int32_t>(at);
    in.region = static_cast<std::uint8_t>((place >= out.mainloop_begin) + (place >= out.epilogue_begin));
    in.simple = is_simple(in) && !enters_tiles(out, at);
    in.held_by = held_by(in);
    // Behind an asynchronous instruction its warp may have to wait as well.
    in.waits = in.wait_bits != 0 || in.depbar != 0xff || in.depbar_counter >= 0 || in.action == Action::exit ||
               in.async >= 0 || (at > 0 && out.code[at - 1].async >= 0);
  }
  decode_other_main_loops(out, program);
  out.places = program.places;
  if (out.places.empty()) {
    out.places.resize(out.code.size());
    std::iota(out.places.begin(), out.places.end(), 0);
  }
  return out;
}

}  // namespace noteg::sm
