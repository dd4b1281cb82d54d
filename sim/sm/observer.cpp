#include "sim/sm/observer.hpp"

#include <algorithm>
#include <array>

#include "sim/sm/machine.hpp"

namespace noteg::sm {

namespace {

constexpr std::array<std::string_view, recorded_unit_count> unit_names{
    "FMA", "ALU", "half", "MUFU", "FP64", "tensor core", "uniform", "load/store front", "tensor cores", "bulk copies"};

}  // namespace

std::string_view name_of(RecordedUnit unit) { return unit_names[static_cast<std::size_t>(unit)]; }

bool is_of_sub_core(RecordedUnit unit) { return unit < RecordedUnit::load_store; }

void Observer::issues(Machine& sm, const Warp& warp, std::uint64_t now) {
  for (; log_->next_sample <= now; log_->next_sample += log_->sample_interval)
    log_->samples.push_back({log_->next_sample, sm.total()});
  const std::uint16_t id = sm.id_of(warp);
  sm.split_wait(warp, now, [&](Stall reason, std::uint64_t from, std::uint64_t until) {
    if (!log_->waits.empty()) {
      WaitRecord& last = log_->waits.back();
      if (last.warp == id && last.reason == reason && last.until == from) {
        last.until = until;
        return;
      }
    }
    log_->waits.push_back({id, reason, from, until});
  });
  log_->issues.push_back({now, id, warp.pc});
}

void Observer::piped(const Machine& sm, const Warp& warp, std::uint64_t now) {
  const ExecutionPipes::Use use = sm.pipes.use_of(warp.sub, *warp.next, now);
  if (use.unit != RecordedUnit::count_)
    log_->uses.push_back({use.unit, sm.id_of(warp), warp.pc, use.from, use.until, now + warp.next->latency});
}

void Observer::use(RecordedUnit unit, std::uint16_t warp, std::int32_t pc, std::uint64_t from, std::uint64_t until,
                   std::uint64_t ready) {
  log_->uses.push_back({unit, warp, pc, from, std::max(from, until), ready});
}

void Observer::cta_starts(std::size_t slot, std::uint64_t now) {
  if (log_ != nullptr) log_->ctas.push_back({static_cast<std::uint16_t>(slot), now, 0});
}

void Observer::cta_ends(std::size_t slot, std::uint64_t now) {
  if (log_ == nullptr) return;
  for (CtaRecord& record : log_->ctas)
    if (record.slot == slot && record.ended == 0) record.ended = now + 1;
}

}  // namespace noteg::sm
