#include "sim/cli/assembly_view.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/support/csv.hpp"
#include "sim/support/number_text.hpp"

namespace noteg::cli {
namespace {

struct Figure {
  std::string_view key;   // in JSON and CSV
  std::string_view name;  // in text
  double (*of)(const sm::SmResult& run);
};

// Sums over all warps of the SM.
constexpr std::array figures = {
    Figure{"cycles", "cycles", [](const sm::SmResult& r) { return r.cycles; }},
    Figure{"warp_instructions", "warp instructions",
           [](const sm::SmResult& r) { return r.counters.warp_instructions; }},
    Figure{"issue_cycles", "issue slots used", [](const sm::SmResult& r) { return r.counters.issue_cycles; }},
    Figure{"fma_cycles", "FMA pipe cycles", [](const sm::SmResult& r) { return r.counters.fma_cycles; }},
    Figure{"alu_cycles", "ALU pipe cycles", [](const sm::SmResult& r) { return r.counters.alu_cycles; }},
    Figure{"tensor_cycles", "tensor pipe cycles", [](const sm::SmResult& r) { return r.counters.tensor_cycles; }},
    Figure{"lsu_cycles", "LSU data stage cycles", [](const sm::SmResult& r) { return r.counters.lsu_cycles; }},
    Figure{"rf_reads", "register reads", [](const sm::SmResult& r) { return r.counters.rf_reads; }},
    Figure{"rf_cache_hits", "of these from the register cache",
           [](const sm::SmResult& r) { return r.counters.rf_hits; }},
    Figure{"rf_bank_conflict_cycles", "cycles lost to register banks",
           [](const sm::SmResult& r) { return r.counters.rf_conflict_cycles; }},
    Figure{"shared_bytes", "shared memory bytes", [](const sm::SmResult& r) { return r.counters.shared_bytes; }},
    Figure{"shared_wavefronts", "shared memory wavefronts",
           [](const sm::SmResult& r) { return r.counters.shared_wavefronts; }},
    Figure{"shared_conflict_wavefronts", "of these for bank conflicts",
           [](const sm::SmResult& r) { return r.counters.shared_conflict_wavefronts; }},
    Figure{"l1_bytes", "global bytes", [](const sm::SmResult& r) { return r.counters.l1_bytes; }},
    Figure{"read_sectors", "sectors read", [](const sm::SmResult& r) { return r.counters.read_sectors; }},
    Figure{"write_sectors", "sectors written", [](const sm::SmResult& r) { return r.counters.write_sectors; }},
};

std::optional<double> per_trip(const AssemblyView& view, const Figure& figure) {
  if (view.few_trips == 0 || view.few_trips >= view.trips) return std::nullopt;
  return (figure.of(view.run) - figure.of(view.shorter)) / static_cast<double>(view.trips - view.few_trips);
}

// Shares of warp cycles in the trips between the two runs, or of the whole run where there is only one.
std::array<double, sm::stall_count> stall_shares(const AssemblyView& view) {
  sm::CoreCounters counters = view.run.counters;
  if (view.few_trips > 0) counters += view.shorter.counters * -1.0;
  return counters.stall_shares();
}

double warps_in_all(const AssemblyView& view) { return static_cast<double>(view.warps) * view.ctas; }

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string view_text(const AssemblyView& view) {
  std::string text = fmt::format("{}: {} of {} on one SM, {} iterations of the main loop\n", view.gpu,
                                 plural(view.ctas, "CTA"), plural(view.warps, "warp"), view.trips);
  for (const auto& [name, value] : view.switches) text += fmt::format("switch {}={}\n", name, value);
  const auto cycles = per_trip(view, figures[0]), instructions = per_trip(view, figures[1]);
  if (cycles && instructions && *cycles > 0) {
    text += fmt::format(
        "{:.2f} cycles per iteration of the main loop, {:.1f} instructions per warp in it, {:.2f} issued per cycle\n",
        *cycles, *instructions / warps_in_all(view), *instructions / *cycles);
  }
  text += fmt::format("\n{:<34} {:>14} {:>14}\n", "", "whole run", "per iteration");
  for (const Figure& figure : figures) {
    const auto trip = per_trip(view, figure);
    if (figure.of(view.run) == 0) continue;
    text += fmt::format("{:<34} {:>14.0f} {:>14}\n", figure.name, figure.of(view.run),
                        trip ? fmt::format("{:.2f}", *trip) : "");
  }
  text += fmt::format("\nwhat warps do{} (share of warp cycles)\n", cycles ? " in the main loop" : "");
  const auto shares = stall_shares(view);
  for (std::size_t i = 0; i < sm::stall_count; ++i) {
    if (shares[i] >= 0.0005)
      text += fmt::format("  {:<18} {:5.1f} %\n", sm::name_of(static_cast<sm::Stall>(i)), 100 * shares[i]);
  }
  return text;
}

std::string view_json(const AssemblyView& view) {
  nlohmann::ordered_json json = {
      {"arch", view.arch}, {"ctas", view.ctas}, {"warps_per_cta", view.warps}, {"trips", view.trips}};
  for (const auto& [name, value] : view.switches) json["switches"][name] = value;
  const auto cycles = per_trip(view, figures[0]), instructions = per_trip(view, figures[1]);
  if (cycles && instructions) {
    json["cycles_per_trip"] = *cycles;
    json["instructions_per_trip_and_warp"] = *instructions / warps_in_all(view);
    json["issued_per_cycle"] = *cycles > 0 ? *instructions / *cycles : 0;
  }
  for (const Figure& figure : figures) json["run"][std::string(figure.key)] = figure.of(view.run);
  for (const Figure& figure : figures) {
    if (const auto trip = per_trip(view, figure)) json["per_trip"][std::string(figure.key)] = *trip;
  }
  const auto shares = stall_shares(view);
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    json["stalls"][std::string(sm::name_of(static_cast<sm::Stall>(i)))] = shares[i];
  const auto& issued = view.run.counters.issued;
  for (std::size_t i = 0; i < issued.size(); ++i) {
    if (issued[i] > 0)
      json["by_opcode"][std::string(kernels::opcode_info(static_cast<kernels::Opcode>(i)).mnemonic)] = issued[i];
  }
  return json.dump(2) + "\n";
}

std::string view_csv(const AssemblyView& view) {
  std::string text = csv_line({"figure", "whole_run", "per_trip"});
  for (const Figure& figure : figures) {
    const auto trip = per_trip(view, figure);
    text += csv_line({std::string(figure.key), format_number(figure.of(view.run)), trip ? format_number(*trip) : ""});
  }
  const auto shares = stall_shares(view);
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    text += csv_line({"stall_" + std::string(sm::name_of(static_cast<sm::Stall>(i))), format_number(shares[i]), ""});
  return text;
}

}  // namespace noteg::cli
