#include "sim/compiled/semaphores.hpp"

#include <algorithm>

#include "kernels/compiled/program.hpp"
#include "sim/compiled/source_view.hpp"

namespace noteg::compiled {
namespace {

// One whose turn is passed on and lies between others'; else the first, which finds nothing to add to.
const CtaClass* passes_on(const Profile& profile) {
  const CtaClass* out = nullptr;
  if (!profile.last_turn) return out;
  for (const CtaClass& each : profile.classes) {
    if (!each.turn || each.turn->before >= profile.last_turn->before) continue;
    if (out == nullptr || each.turn->before > out->turn->before) out = &each;
  }
  return out;
}

// Whether the word of an instruction is polled behind it, by the registers that hold its address.
bool is_polled(const std::vector<Step>& steps, std::size_t at) {
  const Operand* word = memory_operand(*steps[at].in, 0);
  const auto polls_it = [word](const Step& step) {
    const Operand* polled = memory_operand(*step.in, 0);
    return step.polls && word != nullptr && polled != nullptr && polled->index == word->index &&
           polled->value == word->value;
  };
  return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end(), polls_it);
}

}  // namespace

double turns_at_barriers(const Profile& profile, const Footprints& footprints) {
  double turns = 0;
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    const Step& step = profile.code.steps[i];
    if (!is_global_atomic(step) || step.polls || !is_polled(profile.code.steps, i)) continue;
    const InstructionCounts& counts = profile.counts[i];
    if (counts.threads > 1.5 * counts.warps) continue;  // at a barrier one lane comes for its CTA
    const auto is_known = [&](const FootprintGroup& group) {
      return group.buffer >= 0 && std::ranges::find(group.members, i) != group.members.end();
    };
    const bool is_counted = std::ranges::any_of(footprints.groups, is_known);
    turns += counts.warps * (is_counted ? 1 : 2);
  }
  return turns;
}

Result<double> cycles_of_turns(const CompiledRequest& request, const Profile& profile, const Footprints& footprints,
                               const sm::MemoryPort& port) {
  const CtaClass* cta = passes_on(profile);
  if (cta == nullptr) return 0.0;
  const Result<TimedProgram> timed = program_of(profile, *cta, request.launch, footprints.loads, footprints.turns);
  if (!timed) return timed.errors();
  const WatchedRun alone = watch_cta(timed->program, port, *request.gpu, request.options);
  std::uint64_t looked = 0, waited = 0, released = 0;
  for (const sm::IssueRecord& each : alone.log.issues) {
    const auto pc = static_cast<std::size_t>(each.pc);
    const std::int32_t at = pc < timed->origin.size() ? timed->origin[pc] : -1;
    if (at == cta->turn->look) looked = each.cycle;
    if (at == cta->turn->wait) waited = each.cycle;
    if (at == cta->turn->release && each.cycle > waited && released <= waited) released = each.cycle;
  }
  if (waited == 0 || released <= waited) return 0.0;
  // Who looks back goes on from window to window until it comes to a sum of all before: a look is a turn.
  if (cta->turn->window > 1)
    return static_cast<double>(waited - looked) * static_cast<double>(profile.last_turn->before);
  const arch::L2Spec& l2 = request.gpu->l2;
  const double turn = static_cast<double>(released - waited) + l2.far_latency.value + l2.latency.value;
  return turn * static_cast<double>(profile.last_turn->before);
}

}  // namespace noteg::compiled
