#include "kernels/compiled/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace noteg::compiled {
namespace {

using S = Semantics;

std::string text_of(const EmulatedCode& code, std::int32_t at) {
  const Instruction& in = *code.steps[static_cast<std::size_t>(at)].in;
  return fmt::format("/*{:04x}*/ {} (line {})", in.address, in.text, in.line);
}

void tell_tables(Profile& out) {
  for (const auto& [at, places] : out.code.tables.places)
    if (out.counts[static_cast<std::size_t>(at)].warps > 0)
      out.assumptions.push_back(
          fmt::format("{}: its table is not in the listing; its entries are the {} places that nothing else leads to, "
                      "in their order, by turns where the entry is not known",
                      text_of(out.code, at), places.size()));
}

void tell_counters(Profile& out) {
  for (std::size_t i = 0; i < out.counts.size(); ++i)
    if (is_counter(out.code.steps[i]) && out.counts[i].warps > 0)
      out.assumptions.push_back(text_of(out.code, static_cast<std::int32_t>(i)) +
                                ": brings what CTAs before have added, in the order of the grid");
}

void tell_matches(Profile& out, const Launch& launch) {
  for (std::size_t i = 0; i < out.counts.size(); ++i) {
    const Step& step = out.code.steps[i];
    if (step.semantics != S::match || out.counts[i].warps <= 0) continue;
    out.assumptions.push_back(fmt::format("{}: {} different values among its lanes",
                                          text_of(out.code, static_cast<std::int32_t>(i)),
                                          values_matched(*step.in, launch)));
  }
}

}  // namespace

int values_matched(const Instruction& in, const Launch& launch) {
  constexpr int lanes = 32, half = 16;
  if (in.has("ALL")) return 1;
  const auto given = launch.assumptions.find(in.address);
  if (given == launch.assumptions.end() || !given->second.value) return half;
  return static_cast<int>(std::clamp<std::int64_t>(*given->second.value, 1, lanes));
}

void tell_guesses(Profile& out, const Guesses& guesses, const Launch& launch) {
  std::set<std::string> told(out.assumptions.begin(), out.assumptions.end());
  const auto tell = [&](std::string text) {
    if (told.insert(text).second && out.assumptions.size() < 100) out.assumptions.push_back(std::move(text));
  };
  for (const auto& [at, taken] : guesses.decisions) {
    const bool given = launch.assumptions.contains(out.code.steps[static_cast<std::size_t>(at)].in->address);
    const bool waits = !taken && !given && out.code.polls.contains(at);
    if (waits && out.last_turn && at == out.last_turn->wait)
      tell(fmt::format("{}: waits for its turn, behind up to {} others", text_of(out.code, at), out.last_turn->before));
    else if (waits)
      tell(text_of(out.code, at) + ": a wait for other CTAs; taken to end at once, so the time may be too short");
    else
      tell(fmt::format("{}: decided by a value that is not known; taken as {}{}", text_of(out.code, at),
                       taken ? "taken" : "not taken", given ? ", as the launch file says" : ""));
  }
  for (const std::int32_t at : guesses.unknown_addresses) {
    const Step& step = out.code.steps[static_cast<std::size_t>(at)];
    tell(fmt::format("{}: its address depends on a value that is not known; {}", text_of(out.code, at),
                     is_thrown(step.semantics)     ? "its lanes are taken to go to banks at random"
                     : is_coherent_beyond_sm(step) ? "it waits for a sector of L2"
                                                   : "it moves no data"));
  }
  for (const std::int32_t at : guesses.guessed_addresses)
    tell(text_of(out.code, at) + ": its address depends on a value that is not known; it goes where one like it would");
}

void tell_of_data(Profile& out, const Launch& launch) {
  tell_tables(out);
  tell_counters(out);
  tell_matches(out, launch);
}

}  // namespace noteg::compiled
