#include "sim/sm/units/scoreboard.hpp"

#include <algorithm>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::sm {

namespace {

using kernels::Opcode;

std::uint16_t slot_of(int resource) {
  if (resource >= kernels::upred_base) return static_cast<std::uint16_t>(328 + (resource - kernels::upred_base) % 8);
  if (resource >= kernels::pred_base) return static_cast<std::uint16_t>(320 + (resource - kernels::pred_base) % 8);
  if (resource >= kernels::ureg_base) return static_cast<std::uint16_t>(256 + (resource - kernels::ureg_base) % 64);
  return static_cast<std::uint16_t>(resource % 256);
}

bool goes_to_global(Opcode op) { return op == Opcode::ldg || op == Opcode::stg || op == Opcode::ldgsts; }

}  // namespace

Scoreboard::Scoreboard(const kernels::Program& program, const kernels::LatencyModel& model) : model_(model) {
  const auto add = [this](int resource) {
    resources_.push_back(slot_of(resource));
    resource_ids_.push_back(resource);
  };
  const auto here = [this] { return static_cast<std::uint32_t>(resources_.size()); };
  for (const kernels::Instruction& in : program.code) {
    Uses u;
    u.op = in.op;
    u.variable = kernels::opcode_info(in.op).variable_latency;
    u.global = goes_to_global(in.op);
    u.begin = here();
    for (const kernels::Operand& o : in.src) kernels::for_each_resource(o, add);
    u.guards = here();
    kernels::for_each_resource(in.guard, add);
    u.writes = here();
    kernels::for_each_write(in, add);
    u.end = here();
    uses_.push_back(u);
  }
}

void Scoreboard::resize(std::size_t warps) { entries_.assign(warps * slots, {}); }

void Scoreboard::reset(std::size_t warp) {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(warp * slots);
  std::fill(first, first + static_cast<std::ptrdiff_t>(slots), Entry{});
}

bool Scoreboard::is_pending(std::size_t warp) const {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(warp * slots);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(slots),
                     [](const Entry& e) { return e.writes != 0 || e.reads != 0; });
}

Scoreboard::Hold Scoreboard::hold(std::size_t warp, std::int32_t pc) const {
  Hold out;
  const Uses& u = at(pc);
  for (std::uint32_t i = u.begin; i < u.writes; ++i) {
    const Entry& e = entry(warp, i);
    if (e.writes != 0) {
      out.pending = true;
      out.global |= e.by_global;
    } else if (e.producer != Opcode::nop) {
      const int latency = kernels::fixed_latency(model_, e.producer, u.op, resource_ids_[i], i >= u.guards);
      out.ready_at = std::max(out.ready_at, e.issued + static_cast<std::uint64_t>(latency));
    }
  }
  for (std::uint32_t i = u.writes; i < u.end; ++i) {
    const Entry& e = entry(warp, i);
    if (e.writes != 0 || e.reads != 0) {
      out.pending = true;
      out.global |= e.by_global;
    }
  }
  return out;
}

void Scoreboard::issued(std::size_t warp, std::int32_t pc, std::uint64_t now) {
  const Uses& u = at(pc);
  if (u.variable) {
    for (std::uint32_t i = u.begin; i < u.guards; ++i) ++entry(warp, i).reads;
  }
  for (std::uint32_t i = u.writes; i < u.end; ++i) {
    Entry& e = entry(warp, i);
    if (u.variable) {
      ++e.writes;
      e.by_global = u.global;
      e.producer = Opcode::nop;
    } else {
      e.issued = now;
      e.producer = u.op;
    }
  }
}

void Scoreboard::written(std::size_t warp, std::int32_t pc) {
  const Uses& u = at(pc);
  for (std::uint32_t i = u.writes; i < u.end; ++i) {
    if (entry(warp, i).writes > 0) --entry(warp, i).writes;
  }
}

void Scoreboard::read(std::size_t warp, std::int32_t pc) {
  const Uses& u = at(pc);
  for (std::uint32_t i = u.begin; i < u.guards; ++i) {
    if (entry(warp, i).reads > 0) --entry(warp, i).reads;
  }
}

}  // namespace noteg::sm
