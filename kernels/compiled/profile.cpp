#include "kernels/compiled/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/compiled/assumptions.hpp"
#include "kernels/compiled/cta_classes.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

struct CtaRun {
  PathNodes nodes;
  CtaClass found;
  Guesses guesses;
  bool ends = true;
};

void run_cta(CtaRun& out, const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
             const ProfileLimits& limits, const CtaId& id) {
  EmulatedCta cta(code, launch, memory, id);
  CtaRecorder recorder(code, out.nodes, launch, memory.shared_begin());
  while (!cta.finished() && out.ends) {
    cta.run_round(recorder);
    out.ends = cta.blocks_run() <= limits.blocks;
  }
  out.found = recorder.finish(id);
  if (std::optional<SemaphoreTurn>& turn = out.found.turn; turn && turn->window > 1)
    turn->before = launch.before(id) / turn->window;
  out.guesses = recorder.guesses();
}

// Who waits longest: in order, whoever comes to the highest value; at a lock the last of all who take the same.
std::optional<SemaphoreTurn> last_turn(const std::vector<CtaRun>& runs, const std::vector<CtaClasses::Class>& cells,
                                       const std::map<std::int32_t, std::int64_t>& waits, std::int64_t ctas) {
  std::optional<SemaphoreTurn> out;
  double taken = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].found.turn) continue;
    SemaphoreTurn turn = *runs[i].found.turn;
    if (const auto all = waits.find(turn.wait); turn.in_order && all != waits.end()) turn.before = all->second;
    if (!out || std::pair(turn.window, turn.before) > std::pair(out->window, out->before)) out = turn;
    if (out->semaphore == turn.semaphore) taken += cells[i].ctas * static_cast<double>(turn.taken);
  }
  if (out && out->window > 1) out->before = ctas / out->window;
  if (out && !out->in_order) out->before = static_cast<std::int64_t>(taken) - 1;
  return out;
}

}  // namespace

void InstructionCounts::add(const InstructionCounts& o, double factor) {
  warps += o.warps * factor;
  threads += o.threads * factor;
  wavefronts += o.wavefronts * factor;
  ideal_wavefronts += o.ideal_wavefronts * factor;
  sectors += o.sectors * factor;
  ideal_sectors += o.ideal_sectors * factor;
  lines += o.lines * factor;
  masked += o.masked * factor;
  again += o.again * factor;
  split += o.split * factor;
}

double Profile::warp_instructions() const {
  double sum = 0;
  for (const InstructionCounts& c : counts) sum += c.warps;
  return sum;
}

Result<Profile> profile(const Listing& listing, const Code& code, const Launch& launch, const LaunchMemory& memory,
                        const ProfileLimits& limits) {
  Profile out;
  out.code = prepare(listing, code, Wanted::addresses);
  const EmulatedCode paths = prepare(listing, code, Wanted::path);
  const Diagnostic endless{
      listing.file,
      code.line,
      0,
      "kernel",
      fmt::format("a kernel that ends within {} basic blocks for a CTA (assume: says how often a loop runs)",
                  limits.blocks),
      code.name + ", which does not"};
  const CtaClasses classes = find_classes(paths, launch, memory, limits);
  const std::vector<CtaClasses::Class>& cells = classes.found;
  if (classes.endless) return endless;
  out.cells = classes.cells;
  out.sampled = classes.sampled;
  if (out.sampled)
    out.assumptions.push_back(
        fmt::format("CTAs take many ways: {} of them stand for all {}", cells.size(), launch.ctas()));
  out.counts.resize(out.code.steps.size());
  std::vector<CtaRun> runs(cells.size());
  share_work(cells.size(), limits.jobs, {},
             [&](std::size_t i) { run_cta(runs[i], out.code, launch, memory, limits, cells[i].id); });
  out.last_turn = last_turn(runs, cells, classes.waits, launch.ctas());
  if (out.last_turn && !out.last_turn->in_order) {  // a lock of each CTA's own holds up nobody
    const Extent& grid = launch.grid;
    CtaId last{};
    for (std::size_t axis = 0; axis < 3; ++axis) last[axis] = static_cast<std::uint32_t>(grid[axis] - 1);
    CtaRun other;
    run_cta(other, out.code, launch, memory, limits, last == cells.front().id ? CtaId{} : last);
    if (!other.found.turn || other.found.turn->semaphore != out.last_turn->semaphore) out.last_turn.reset();
  }
  for (std::size_t each = 0; each < cells.size(); ++each) {
    const CtaClasses::Class& cell = cells[each];
    if (!runs[each].ends) return endless;
    CtaClass found = std::move(runs[each].found);
    for (WarpClass& warps : found.warps) warps.path = out.nodes.adopt(runs[each].nodes, warps.path);
    found.ctas = cell.ctas;
    for (const std::string& text : found.async.assumptions)
      if (std::ranges::find(out.assumptions, text) == out.assumptions.end()) out.assumptions.push_back(text);
    for (std::size_t i = 0; i < found.counts.size(); ++i) out.counts[i].add(found.counts[i], cell.ctas);
    out.bulk_sectors.resize(out.counts.size());
    for (const auto& [at, copies] : found.async.copies)
      out.bulk_sectors[static_cast<std::size_t>(at)] +=
          cell.ctas * found.counts[static_cast<std::size_t>(at)].warps * copies.share * copies.bytes / 32;
    tell_guesses(out, runs[each].guesses, launch);
    out.classes.push_back(std::move(found));
  }
  tell_of_data(out, launch);
  return out;
}

}  // namespace noteg::compiled
