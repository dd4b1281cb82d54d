// From lines to a Program: labels, loops, roles, parts.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/assembly/assembly.hpp"
#include "kernels/assembly/state.hpp"
#include "kernels/assembly/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t most_loops = 8;
constexpr std::size_t most_mistakes = 50;

bool is_label(std::string_view text) {
  return text.ends_with(":") && text.front() != '[' && text.find(' ') == std::string_view::npos;
}

void read_line(AssemblyState& state, const SourceLine& line) {
  state.mistakes.enter(line.text, line.number);
  const LineParts parts = parts_of(line.text);
  if (parts.body.empty()) return;
  if (parts.body.front() == '.' && !is_label(parts.body)) return read_directive(state, parts.body);
  if (is_label(parts.body)) {
    const std::string_view name = parts.body.substr(0, parts.body.size() - 1);
    if (!state.labels.emplace(name, state.here()).second && !line.is_copy)
      state.mistakes.add(name, "each label once", fmt::format("{} again", name));
    return;
  }
  if (!parts.address.empty()) {
    const auto value = whole_number("0x" + std::string(parts.address));
    if (!value) {
      state.mistakes.add(parts.address, "a hexadecimal address");
    } else if (!state.addresses.emplace(*value, state.here()).second && !line.is_copy) {
      state.mistakes.add(parts.address, "each address once");
    }
  }
  read_instruction(state, parts.body);
}

// Where a branch goes; nothing where it leaves the text, which stands for a branch that is not taken.
std::optional<std::int32_t> target_of(AssemblyState& state, const PendingBranch& branch) {
  if (const auto found = state.labels.find(branch.target); found != state.labels.end()) return found->second;
  if (branch.target.starts_with("`")) return std::nullopt;
  const auto value = whole_number(branch.target);
  if (!value) {
    state.mistakes.add(branch.target, "a label of this file or an address");
    return std::nullopt;
  }
  if (const auto found = state.addresses.find(*value); found != state.addresses.end()) return found->second;
  const auto own = std::ranges::find_if(state.addresses, [&](const auto& entry) { return entry.second == branch.at; });
  const bool lies_ahead = own == state.addresses.end() || *value > own->first;
  if (!lies_ahead) state.mistakes.add(branch.target, "the address of a line of this file, or one further on");
  return std::nullopt;
}

void resolve_branches(AssemblyState& state) {
  Program& p = state.program;
  std::vector<Loop> loops;
  for (const PendingBranch& branch : state.branches) {
    state.mistakes.enter(branch.line, branch.line_number);
    const auto target = target_of(state, branch);
    if (target && *target == branch.at + 1) p.code[static_cast<std::size_t>(branch.at)].taken = true;
    if (!target || *target > branch.at) continue;
    const auto is_here = [&](const Role& role) { return role.begin <= branch.at && branch.at < role.end; };
    const auto role = std::ranges::find_if(p.roles, is_here);
    if (role != p.roles.end() && *target < role->begin)
      state.mistakes.add(branch.target, "a target within role " + role->name);
    loops.push_back({*target, branch.at, branch.iterations, branch.is_main});
    if (loops.size() == most_loops + 1) state.mistakes.add(branch.target, "at most 8 loops", "another one");
  }
  // Outer loops first, as builders open them.
  std::ranges::stable_sort(
      loops, [](const Loop& a, const Loop& b) { return a.begin != b.begin ? a.begin < b.begin : a.branch > b.branch; });
  for (std::size_t i = 0; i < loops.size(); ++i)
    p.code[static_cast<std::size_t>(loops[i].branch)].loop = static_cast<std::int16_t>(i);
  p.loops = std::move(loops);
}

Instruction exit_instruction() {
  Instruction out;
  out.op = Opcode::exit;
  return out;
}

// Every stream ends with EXIT: the last one here, those of other roles as they end.
void add_missing_exit(AssemblyState& state) {
  Program& p = state.program;
  const bool is_open = p.code.empty() || p.code.back().op != Opcode::exit;
  if (is_open) p.code.push_back(exit_instruction());
  if (!p.roles.empty()) p.roles.back().end = state.here();
}

void check_roles(AssemblyState& state) {
  const Program& p = state.program;
  for (const Role& role : p.roles) {
    const bool ends = role.end > role.begin && p.code[static_cast<std::size_t>(role.end) - 1].op == Opcode::exit;
    if (!ends) state.mistakes.add(state.mistakes.line(), "EXIT at the end of role " + role.name, "none");
  }
}

// Warps from .warps, the roles or .threads, in this order; the others must agree.
void set_size(AssemblyState& state) {
  Program& p = state.program;
  const int of_roles = p.roles.empty() ? 0 : p.roles.back().first_warp + p.roles.back().warps;
  const int of_threads = state.threads ? (*state.threads + 31) / 32 : 0;
  p.warps = state.warps.value_or(of_roles > 0 ? of_roles : of_threads > 0 ? of_threads : 1);
  p.threads = state.threads.value_or(p.warps * 32);
  if (of_roles > 0 && of_roles != p.warps)
    state.mistakes.add({}, fmt::format("roles for all {} warps", p.warps), fmt::format("roles for {}", of_roles));
  if (of_threads > 0 && of_threads != p.warps)
    state.mistakes.add({}, fmt::format("threads that fill {} warps", p.warps), fmt::format("{}", *state.threads));
}

// The parts that directives did not name: around the main loop of the first warp.
void set_parts(AssemblyState& state) {
  Program& p = state.program;
  const std::int32_t end = p.roles.empty() ? state.here() : p.roles.front().end;
  p.mainloop_begin = p.epilogue_begin = end;
  for (const Loop& loop : p.loops) {
    if (!loop.is_main || loop.branch >= end) continue;
    p.epilogue_begin = p.mainloop_begin == end ? loop.branch + 1 : std::max(p.epilogue_begin, loop.branch + 1);
    p.mainloop_begin = std::min(p.mainloop_begin, loop.begin);
  }
  p.mainloop_begin = state.mainloop_begin.value_or(p.mainloop_begin);
  p.epilogue_begin = state.epilogue_begin.value_or(p.epilogue_begin);
}

}  // namespace

void finish_program(AssemblyState& state) {
  if (!state.program.roles.empty()) state.program.roles.back().end = state.here();
  resolve_branches(state);
  if (state.program.code.empty() && state.mistakes.size() == 0)
    state.mistakes.add({}, "at least one instruction", "none");
  add_missing_exit(state);
  check_roles(state);
  set_size(state);
  set_parts(state);
}

Result<Program> parse_assembly(std::string_view text, std::string_view name) {
  AssemblyState state(name);
  const std::vector<SourceLine> lines = expanded_lines(text, state.mistakes);
  for (const SourceLine& line : lines) {
    if (state.mistakes.size() > most_mistakes) break;
    read_line(state, line);
  }
  finish_program(state);
  if (state.mistakes.size() > 0) return state.mistakes.list();
  return std::move(state.program);
}

}  // namespace noteg::kernels
