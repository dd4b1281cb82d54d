#include "sim/sm/units/front_end.hpp"

#include <algorithm>
#include <bit>

namespace noteg::sm {

namespace {

// Associativity in the MICRO25 artifact; capacities come from the architecture file.
constexpr std::int64_t l0_ways = 32, l1_ways = 16;

std::int64_t lines_in(Bytes size, const arch::FrontEndSpec& spec) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(size.value / std::max(1.0, spec.icache_line.value)));
}

std::int32_t instructions_in_line(const arch::FrontEndSpec& spec) {
  return std::max(1, static_cast<std::int32_t>(spec.icache_line.value / std::max(1.0, spec.instruction_bytes.value)));
}

std::int32_t last_of(std::span<const std::int32_t> places) {
  return places.empty() ? 0 : *std::ranges::max_element(places) + 1;
}

std::int64_t used_lines(std::span<const std::int32_t> places, std::int32_t per_line) {
  std::vector<bool> used(static_cast<std::size_t>(last_of(places) / per_line) + 1);
  for (const std::int32_t place : places) used[static_cast<std::size_t>(place / per_line)] = true;
  return std::ranges::count(used, true);
}

}  // namespace

InstructionCaches::Level::Level(std::int64_t capacity_lines, std::int64_t ways, std::int64_t lines, bool warm)
    : sets_(std::max<std::int64_t>(1, capacity_lines / ways)),
      ways_(std::min(ways, capacity_lines)),
      lines_(static_cast<std::size_t>(lines)) {
  // What the launch before left: the last lines of the program, as far as they fit.
  if (!warm) return;
  for (std::int64_t i = std::max<std::int64_t>(0, lines - sets_ * ways_); i < lines; ++i)
    lines_[static_cast<std::size_t>(i)].present = true;
}

void InstructionCaches::Level::insert(std::int32_t line, std::uint64_t ready, std::uint64_t now) {
  std::int64_t in_set = 0;
  Line* oldest = nullptr;
  for (std::size_t i = static_cast<std::size_t>(line % sets_); i < lines_.size();
       i += static_cast<std::size_t>(sets_)) {
    if (!lines_[i].present) continue;
    ++in_set;
    if (oldest == nullptr || lines_[i].used < oldest->used) oldest = &lines_[i];
  }
  if (in_set >= ways_ && oldest != nullptr) oldest->present = false;
  lines_[static_cast<std::size_t>(line)] = {ready, now, true};
}

InstructionCaches::InstructionCaches(const arch::FrontEndSpec& spec, InstructionCache mode, int sub_cores,
                                     std::span<const std::int32_t> places)
    : per_line_(instructions_in_line(spec)),
      shift_(std::has_single_bit(static_cast<std::uint32_t>(per_line_))
                 ? std::countr_zero(static_cast<std::uint32_t>(per_line_))
                 : -1),
      lead_(spec.instruction_buffer_entries),
      lines_(last_of(places) / per_line_ + 1),
      prefetch_(mode == InstructionCache::no_prefetch ? 0 : spec.prefetch_lines),
      l1_latency_(static_cast<std::uint64_t>(spec.l1_icache_latency.value)),
      l2_latency_(static_cast<std::uint64_t>(spec.l2_icache_latency.value)),
      never_misses_(
          mode == InstructionCache::perfect ||
          (mode != InstructionCache::cold && used_lines(places, per_line_) <= lines_in(spec.l0_icache, spec))),
      l1_(lines_in(spec.l1_icache, spec), l1_ways, never_misses_ ? 0 : lines_, true) {
  if (never_misses_) return;
  for (int i = 0; i < sub_cores; ++i)
    l0_.emplace_back(lines_in(spec.l0_icache, spec), l0_ways, lines_, mode != InstructionCache::cold);
}

std::uint64_t InstructionCaches::touch(int sub, std::int32_t line, std::uint64_t now) {
  if (line >= lines_) return now;
  Line& there = l0_[static_cast<std::size_t>(sub)][line];
  if (there.present) {
    there.used = now;
    return there.ready;
  }
  const std::uint64_t ready = request(sub, line, now);
  run_ahead(sub, line, now);
  return ready;
}

std::uint64_t InstructionCaches::enter(int sub, std::int32_t line, std::uint64_t now) {
  const std::uint64_t ready = touch(sub, line, now);
  run_ahead(sub, line, std::max(now, ready));
  return ready;
}

void InstructionCaches::run_ahead(int sub, std::int32_t line, std::uint64_t at) {
  const std::int32_t last = std::min(line + prefetch_, lines_ - 1);
  for (std::int32_t next = line + 1; next <= last; ++next)
    if (!l0_[static_cast<std::size_t>(sub)][next].present) request(sub, next, at);
}

std::uint64_t InstructionCaches::request(int sub, std::int32_t line, std::uint64_t at) {
  Line& in_l1 = l1_[line];
  const std::uint64_t ready = in_l1.present ? std::max(at + l1_latency_, in_l1.ready) : at + l2_latency_;
  if (in_l1.present)
    in_l1.used = at;
  else
    l1_.insert(line, ready, at);
  l0_[static_cast<std::size_t>(sub)].insert(line, ready, at);
  return ready;
}

}  // namespace noteg::sm
