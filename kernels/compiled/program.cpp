#include "kernels/compiled/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/access/wavefronts.hpp"
#include "kernels/assembly/mnemonics.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;
using O = kernels::Opcode;
using IrKind = kernels::OperandKind;

kernels::Operand ir_operand(const Operand& o) {
  kernels::Operand out;
  out.reuse = o.reuse;
  out.negated = o.negated;
  out.index = o.index == zero_register || o.index < 0 ? kernels::rz : o.index;
  switch (o.kind) {
    case Kind::reg: out.kind = IrKind::reg; break;
    case Kind::ureg: out.kind = IrKind::ureg; break;
    case Kind::pred: out.kind = IrKind::pred; break;
    case Kind::upred: out.kind = IrKind::upred; break;
    case Kind::integer:
      out.kind = IrKind::immediate, out.value = static_cast<std::int32_t>(o.value), out.index = kernels::rz;
      break;
    case Kind::constant:
      out.kind = IrKind::constant;
      out.value = o.descriptor >= 0 || o.uniform >= 0 ? -1 : static_cast<std::int32_t>(o.value);
      break;
    case Kind::special: out.kind = IrKind::special; break;
    case Kind::memory:
      out.kind = o.index != zero_register ? IrKind::reg : o.uniform >= 0 ? IrKind::ureg : IrKind::immediate;
      if (out.kind == IrKind::ureg) out.index = o.uniform;
      out.count = o.wide ? 2 : 1;
      break;
    case Kind::none:
    case Kind::barrier:
    case Kind::label:
    case Kind::other: out = {}; break;
  }
  return out;
}

// The access that stands for all executions of an instruction, with their mean of wavefronts where it differs from its
// own; where no address is known, lanes beside each other.
kernels::AccessPattern pattern_for(const Step& step, const AccessShape* shape) {
  if (shape != nullptr && shape->executions > 0) {
    kernels::AccessPattern out = shape->pattern;
    const bool varies = step.semantics == S::load_shared || step.semantics == S::store_shared ||
                        step.semantics == S::load_matrix || step.semantics == S::store_matrix;
    const double mean = std::max(1.0, shape->wavefronts / shape->executions);
    const auto parts = static_cast<std::uint16_t>(std::lround(mean * kernels::wavefront_parts));
    if (varies && parts != kernels::wavefront_parts * std::max(1, kernels::shared_wavefronts(out)))
      out.mean_wavefronts = parts;
    out.joins = static_cast<std::uint8_t>(std::ranges::max_element(shape->joins) - shape->joins.begin());
    return out;
  }
  kernels::AccessPattern out;
  const bool shared = step.semantics == S::load_shared || step.semantics == S::store_shared ||
                      step.semantics == S::load_matrix || step.semantics == S::store_matrix ||
                      step.semantics == S::atomic_shared;
  out.space = shared ? kernels::Space::shared : kernels::Space::global;
  out.store = is_store(step.semantics) || step.semantics == S::store_shared;
  out.bytes_per_lane = std::max<std::uint8_t>(step.bytes, 1);
  for (std::uint32_t i = 0; i < 32; ++i) out.offset[i] = out.shared_offset[i] = i * out.bytes_per_lane;
  return out;
}

// What an access keeps the SM's load/store unit, in wavefronts of a cycle, if that share of its lanes goes to shared
// memory of peers. H200M, peer_share, all SMs in clusters of two: an atomic operation of 0, 8, 16, 24, 32 lanes on
// peers takes 4.5, 26.5, 52.6, 78.6, 104.7 cycles, each lane in a sector of its own. H100M, peer_shared: on one
// word 6.4 to 7.0 cycles, on a line 14.8 to 18, on 32 words at random of 2048 (30 sectors, which meet in banks) 122 to
// 139; a load or a store of a line 7.6 to 8.8, of such words (25 lines) 92 to 102. In a cluster alone a tenth less.
double peer_cycles(const Step& step, const kernels::AccessPattern& pattern, double peers) {
  constexpr double atomic = 2.6, atomic_sector = 3.2, line = 1.9, sector = 1.6;
  const kernels::GlobalCost cost = kernels::global_cost(pattern);
  const double of_peers = step.semantics == S::atomic_shared ? atomic + atomic_sector * peers * cost.sectors
                                                             : peers * (line * cost.lines + sector * cost.sectors);
  return std::max(1.0, of_peers + (1 - peers) * kernels::shared_wavefronts(pattern));
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Profile& profile, const CtaClass& cta, const Launch& launch,
                 const std::vector<L1Behaviour>& loads, const std::map<std::int32_t, L1Turns>& turns)
      : profile_(profile), cta_(cta), launch_(launch), loads_(loads), turns_(turns) {
    for (const Step& step : profile.code.steps) flushes_ = flushes_ || step.in->base == "UTMACMDFLUSH";
  }

  Result<TimedProgram> build() {
    kernels::Program& program = out_.program;
    program.rings = cta_.async.rings;
    program.turns = cta_.async.turns;
    program.name = profile_.code.code->name;
    program.warps = launch_.warps();
    program.threads = static_cast<int>(launch_.threads());
    for (const WarpClass& group : cta_.warps) {
      group_ = &group;
      patterns_.clear();
      apart_.clear();
      const auto begin = static_cast<std::int32_t>(program.code.size());
      for (std::size_t i = 0; i < group.path.size() && fits(); ++i)
        emit_node(group.path[i], i + 1 == group.path.size());
      if (!fits())
        return refused(fmt::format("ways of at most {} instructions, loops once", most_program_code), "a longer one");
      if (program.code.empty() || program.code.back().op != O::exit) emit_plain(O::exit);
      add_roles(group, begin);
    }
    if (program.loops.size() > most_loops)
      return refused(fmt::format("ways of at most {} loops in all", most_loops),
                     fmt::format("{}", program.loops.size()));
    if (deepest_ > most_nested_loops)
      return refused(fmt::format("at most {} loops in each other", most_nested_loops), fmt::format("{}", deepest_));
    std::ranges::sort(program.roles, {}, &kernels::Role::first_warp);
    kernels::mark_main_loop(out_.program);
    if (cta_.warps.size() == 1) program.roles.clear();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Diagnostic refused(std::string expected, std::string found) const {
    return {profile_.code.listing->file, profile_.code.code->line, 0, "kernel", std::move(expected), std::move(found)};
  }

  [[nodiscard]] bool fits() const { return out_.program.code.size() <= most_program_code; }

  void emit_node(std::int32_t id, bool is_last) {
    const PathNode& node = profile_.nodes[id];
    if (node.block >= 0) return emit_block(node.block, is_last);
    std::int64_t count = node.count;
    if (depth_ == 0 && count > 1 && has_first_turn(node)) {
      in_first_turn_ = true;
      emit_body(node);
      in_first_turn_ = false;
      if (--count == 1) return emit_body(node);
    }
    const auto begin = static_cast<std::int32_t>(out_.program.code.size());
    deepest_ = std::max(deepest_, ++depth_);
    emit_body(node);
    --depth_;
    if (out_.program.code.back().op != O::bra || out_.program.code.back().loop >= 0) emit_plain(O::bra);
    kernels::Instruction& branch = out_.program.code.back();
    branch.taken = false;
    branch.loop = static_cast<std::int16_t>(out_.program.loops.size());
    out_.program.loops.push_back({begin, static_cast<std::int32_t>(out_.program.code.size()) - 1, count, false, false});
  }

  void emit_body(const PathNode& node) {
    for (const std::int32_t each : node.body)
      if (fits()) emit_node(each, false);
  }

  // Whether loads in it fare otherwise in its first turn, and none was in such a turn before.
  bool has_first_turn(const PathNode& node) {
    if (turns_.empty()) return false;
    std::map<std::int32_t, std::int64_t> times;
    profile_.nodes.count(profile_.code, node.body, times);
    bool any = false;
    for (const auto& [at, of_it] : turns_) any = (times.contains(at) && apart_.insert(at).second) || any;
    return any;
  }

  void emit_plain(O op) {
    kernels::Instruction in;
    in.op = op;
    in.control.stall = 1;
    out_.program.code.push_back(in);
    out_.origin.push_back(-1);
    std::vector<std::int32_t>& places = out_.program.places;  // beside the one before it
    places.push_back(places.empty() ? 0 : places.back());
  }

  void emit_block(std::int32_t block, bool is_last) {
    const Block& b = profile_.code.blocks[static_cast<std::size_t>(block)];
    // A block that does not follow the one before it was jumped to.
    if (!out_.origin.empty() && out_.origin.back() >= 0 && out_.origin.back() + 1 != b.begin) {
      kernels::Instruction& before = out_.program.code.back();
      if (before.loop < 0 && before.op == O::bra) before.taken = true;
    }
    for (std::int32_t i = b.begin; i < b.end; ++i) {
      emit(i, is_last && i + 1 == b.end);
    }
  }

  void emit(std::int32_t at, bool is_last) {
    const Step& step = profile_.code.steps[static_cast<std::size_t>(at)];
    const Instruction& from = *step.in;
    kernels::Instruction in;
    const bool brings = step.semantics == S::atomic_global && answers(step);  // what was there, as a load does
    in.op = brings                                 ? O::ldg
            : !step.by_window                      ? timed_as(from)
            : step.semantics == S::load_shared     ? O::lds
            : from.base == "ATOM" && answers(step) ? O::lds
                                                   : O::sts;
    in.modifiers = from.modifiers;
    in.control = from.control;
    if (from.base == "PREEXIT") out_.program.starts_dependents = true;
    if (in.op == O::exit && !is_last) in.op = O::nop;  // lanes leave, the warp goes on
    if (from.guard >= 0) {
      in.guard.kind = from.guard_uniform ? IrKind::upred : IrKind::pred;
      in.guard.index = from.guard;
      in.guard.negated = from.guard_negated;
    }
    std::size_t destination = 0, source = 0;
    for (std::size_t i = 0; i < from.operands; ++i) {
      const kernels::Operand o = ir_operand(from.operand[i]);
      if (i < step.destinations) {
        if (destination < in.dst.size()) in.dst[destination++] = o;
      } else if (source < in.src.size() && (o.kind != IrKind::none || from.operand[i].kind == Kind::reg)) {
        in.src[source++] = o;
      }
    }
    in.dst[0].count = step.width;
    set_operand_widths(in, step);
    if (in.op == O::depbar) set_depbar(in, from);
    if (in.op == O::utmacmdflush) in.control.read_barrier = in.control.write_barrier = -1;  // its group stands for it
    set_async(in, at);
    if (step.bytes > 0 && is_memory(step.semantics)) {
      in.access_bytes = step.bytes;
      in.pattern = pattern(at, step);
    }
    if (step.semantics == S::match) {
      in.access_bytes = 4;
      in.pattern = match_pattern(from);
    }
    out_.program.code.push_back(std::move(in));
    out_.origin.push_back(at);
    out_.program.places.push_back(at);
  }

  static bool answers(const Step& step) {
    return std::any_of(step.in->operand.begin(), step.in->operand.begin() + step.destinations,
                       [](const Operand& o) { return o.kind == Kind::reg && o.index != zero_register; });
  }

  static bool is_memory(S s) {
    switch (s) {
      case S::load_shared:
      case S::load_global:
      case S::load_local:
      case S::store_shared:
      case S::store_global:
      case S::store_local:
      case S::copy_to_shared:
      case S::load_matrix:
      case S::store_matrix:
      case S::atomic_shared:
      case S::atomic_global:
      case S::load_indexed: return true;
      default: return false;
    }
  }

  static void set_operand_widths(kernels::Instruction& in, const Step& step) {
    if (in.op == O::hmma || in.op == O::imma || in.op == O::qmma) {
      const auto count = [&in](kernels::Place place, std::size_t position) {
        return static_cast<std::uint8_t>(kernels::registers_of(in, place, position));
      };
      in.dst[0].count = count(kernels::Place::destination, 0);
      for (std::size_t i = 0; i < 3; ++i) in.src[i].count = count(kernels::Place::source, i);
    } else if (is_store(step.semantics) || step.semantics == S::store_shared) {
      in.src[1].count = static_cast<std::uint8_t>(std::max(1, step.bytes / 4));
    } else if (in.op == O::imad_wide) {
      in.src[2].count = 2;
    } else if (in.op == O::dfma) {
      for (kernels::Operand& o : in.src) o.count = 2;
    }
  }

  // Each instruction of the listing has one operation, however often it stands in the program.
  void set_async(kernels::Instruction& in, std::int32_t at) {
    const auto op = cta_.async.ops.find(at);
    if (op == cta_.async.ops.end()) {
      const bool is_fence = in.op == O::membar && profile_.code.steps[static_cast<std::size_t>(at)].acts;
      if (in.op == O::utmaldg || in.op == O::utmastg || in.op == O::syncs || is_fence) in.op = O::nop;
      return;
    }
    const auto [known, is_new] = async_.try_emplace(at, static_cast<std::int16_t>(out_.program.async.size()));
    if (is_new) out_.program.async.push_back(op->second);
    in.async = known->second;
    if (in.op == O::hgmma) in.control.read_barrier = in.control.write_barrier = -1;
  }

  // DEPBAR.LE SB0, 0x1: groups of copies, or counts of a counter, that may be outstanding.
  void set_depbar(kernels::Instruction& in, const Instruction& from) const {
    in.src = {};
    for (std::size_t i = 0; i < from.operands; ++i) {
      const std::string_view text = from.operand[i].text;
      if (text.size() == 3 && text.starts_with("SB") && !flushes_) {
        in.src[0].kind = IrKind::immediate;
        in.src[0].value = text[2] - '0';
      } else if (from.operand[i].kind == Kind::integer) {
        in.depbar_count = static_cast<std::int16_t>(from.operand[i].value);
      }
    }
  }

  std::int16_t pattern(std::int32_t at, const Step& step) {
    const auto known = patterns_.find({at, in_first_turn_});
    if (known != patterns_.end()) return known->second;
    const auto shape = group_->shapes.find(at);
    kernels::AccessPattern p = pattern_for(step, shape == group_->shapes.end() ? nullptr : &shape->second);
    if (step.semantics == S::load_local) p.matrix = kernels::Matrix::a;
    if (step.semantics == S::load_global && static_cast<std::size_t>(at) < loads_.size()) {
      const bool asks_l2 = profile_.counts[static_cast<std::size_t>(at)].sectors > 0;
      const auto turns = turns_.find(at);
      const L1Behaviour& load = turns == turns_.end() ? loads_[static_cast<std::size_t>(at)]
                                : in_first_turn_      ? turns->second.first
                                                      : turns->second.later;
      p.matrix = asks_l2 ? l1_class(load) : kernels::Matrix::a;
      p.in_l2 = load.in_l2;
    }
    const bool is_known = shape != group_->shapes.end() && shape->second.lanes > 0;
    const double peers = !step.by_window || !has_peers() ? 0
                         : is_known                      ? shape->second.of_peers / shape->second.lanes
                                                         : 1;
    if (peers > 0) {
      p.of_peer = true;
      p.mean_wavefronts =
          static_cast<std::uint16_t>(std::lround(kernels::wavefront_parts * peer_cycles(step, p, peers)));
    }
    const auto index = static_cast<std::int16_t>(out_.program.patterns.size());
    out_.program.patterns.push_back(p);
    patterns_[{at, in_first_turn_}] = index;
    return index;
  }

  [[nodiscard]] bool has_peers() const { return launch_.cluster_ctas() > 1; }

  // MATCH goes through the values one after the other: two cycles of the load/store unit for each (H200M, match).
  std::int16_t match_pattern(const Instruction& from) {
    constexpr int cycles = 2, lanes = 32;
    kernels::AccessPattern p;
    p.space = kernels::Space::shared;
    p.bytes_per_lane = 4;
    const int words = std::min(lanes, cycles * values_matched(from, launch_));
    p.active_mask = words == lanes ? ~0u : (1u << words) - 1;
    for (std::uint32_t i = 0; i < lanes; ++i) p.offset[i] = i * 128;
    out_.program.patterns.push_back(p);
    return static_cast<std::int16_t>(out_.program.patterns.size() - 1);
  }

  void add_roles(const WarpClass& group, std::int32_t begin) {
    const auto end = static_cast<std::int32_t>(out_.program.code.size());
    for (std::size_t i = 0; i < group.warps.size();) {
      std::size_t next = i + 1;
      while (next < group.warps.size() && group.warps[next] == group.warps[next - 1] + 1) ++next;
      kernels::Role role;
      role.name = fmt::format("warps_{}", group.warps[i]);
      role.begin = begin;
      role.end = end;
      role.first_warp = group.warps[i];
      role.warps = static_cast<int>(next - i);
      out_.program.roles.push_back(role);
      i = next;
    }
  }

  const Profile& profile_;
  const CtaClass& cta_;
  const Launch& launch_;
  const std::vector<L1Behaviour>& loads_;
  const std::map<std::int32_t, L1Turns>& turns_;
  const WarpClass* group_ = nullptr;
  std::map<std::int32_t, std::int16_t> async_;                      // index by instruction of the listing
  bool flushes_ = false;                                            // DEPBAR waits for groups of bulk stores
  std::map<std::pair<std::int32_t, bool>, std::int16_t> patterns_;  // by instruction, in a first turn or not
  std::set<std::int32_t> apart_;                                    // loads whose first turn stands in the program
  bool in_first_turn_ = false;
  int depth_ = 0, deepest_ = 0;  // of loops in loops
  TimedProgram out_;
};

}  // namespace

kernels::Matrix l1_class(const L1Behaviour& load) {
  constexpr double all = 0.975, most = 0.6, nothing = 0.025;  // half a step of sm::SharedSectors from all and nothing
  return load.hit_rate > all && !load.joins() ? kernels::Matrix::a
         : load.hit_rate > most               ? kernels::Matrix::b
         : load.hit_rate > nothing            ? kernels::Matrix::c
                                              : kernels::Matrix::none;
}

Result<TimedProgram> program_of(const Profile& profile, const CtaClass& cta, const Launch& launch,
                                const std::vector<L1Behaviour>& loads, const std::map<std::int32_t, L1Turns>& turns) {
  return ProgramBuilder(profile, cta, launch, loads, turns).build();
}

}  // namespace noteg::compiled
