// What `noteg simulate --asm` tells of a micro-kernel: counters of the whole run, and per iteration of the main loop
// from the difference of two runs, so that start and end drop out.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/assembly/assembly.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/commands/runs.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/sm/sm.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::cli {

struct AssemblyView {
  std::string gpu, arch;
  int warps = 1, ctas = 1;                          // warps per CTA
  std::int64_t iterations = 0, few_iterations = 0;  // of the main loop; few 0: there is none, or the run is too short
  std::vector<std::pair<std::string, std::string>> switches;  // changed ones: name, value
  sm::SmResult run, shorter;
};

[[nodiscard]] std::string view_text(const AssemblyView& view);
[[nodiscard]] std::string view_json(const AssemblyView& view);
[[nodiscard]] std::string view_csv(const AssemblyView& view);  // one figure a row

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

std::optional<double> per_iteration(const AssemblyView& view, const Figure& figure) {
  if (view.few_iterations == 0 || view.few_iterations >= view.iterations) return std::nullopt;
  return (figure.of(view.run) - figure.of(view.shorter)) / static_cast<double>(view.iterations - view.few_iterations);
}

// Shares of warp cycles in the iterations between the two runs, or of the whole run where there is only one.
std::array<double, sm::stall_count> stall_shares(const AssemblyView& view) {
  sm::CoreCounters counters = view.run.counters;
  if (view.few_iterations > 0) counters += view.shorter.counters * -1.0;
  return counters.stall_shares();
}

double warps_in_all(const AssemblyView& view) { return static_cast<double>(view.warps) * view.ctas; }

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string view_text(const AssemblyView& view) {
  std::string text = fmt::format("{}: {} of {} on one SM, {} iterations of the main loop\n", view.gpu,
                                 plural(view.ctas, "CTA"), plural(view.warps, "warp"), view.iterations);
  for (const auto& [name, value] : view.switches) text += fmt::format("switch {}={}\n", name, value);
  const auto cycles = per_iteration(view, figures[0]), instructions = per_iteration(view, figures[1]);
  if (cycles && instructions && *cycles > 0) {
    text += fmt::format(
        "{:.2f} cycles per iteration of the main loop, {:.1f} instructions per warp in it, {:.2f} issued per cycle\n",
        *cycles, *instructions / warps_in_all(view), *instructions / *cycles);
  }
  text += fmt::format("\n{:<34} {:>14} {:>14}\n", "", "whole run", "per iteration");
  for (const Figure& figure : figures) {
    const auto iteration = per_iteration(view, figure);
    if (figure.of(view.run) == 0) continue;
    text += fmt::format("{:<34} {:>14.0f} {:>14}\n", figure.name, figure.of(view.run),
                        iteration ? fmt::format("{:.2f}", *iteration) : "");
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
      {"arch", view.arch}, {"ctas", view.ctas}, {"warps_per_cta", view.warps}, {"iterations", view.iterations}};
  for (const auto& [name, value] : view.switches) json["switches"][name] = value;
  const auto cycles = per_iteration(view, figures[0]), instructions = per_iteration(view, figures[1]);
  if (cycles && instructions) {
    json["cycles_per_iteration"] = *cycles;
    json["instructions_per_iteration_and_warp"] = *instructions / warps_in_all(view);
    json["issued_per_cycle"] = *cycles > 0 ? *instructions / *cycles : 0;
  }
  for (const Figure& figure : figures) json["run"][std::string(figure.key)] = figure.of(view.run);
  for (const Figure& figure : figures) {
    if (const auto iteration = per_iteration(view, figure)) json["per_iteration"][std::string(figure.key)] = *iteration;
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
  std::string text = csv_line({"figure", "whole_run", "per_iteration"});
  for (const Figure& figure : figures) {
    const auto iteration = per_iteration(view, figure);
    text += csv_line(
        {std::string(figure.key), format_number(figure.of(view.run)), iteration ? format_number(*iteration) : ""});
  }
  const auto shares = stall_shares(view);
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    text += csv_line({"stall_" + std::string(sm::name_of(static_cast<sm::Stall>(i))), format_number(shares[i]), ""});
  return text;
}

namespace {

constexpr long long usual_iterations = 48, most_iterations = 1'000'000;

// One SM of an otherwise idle GPU, with everything it reads in L2.
sm::MemoryPort alone(const arch::GpuSpec& gpu) {
  gpu::PortRequest request;
  request.gpu = &gpu;
  return gpu::port_to_l2(request, gpu.clock.sustained);
}

Result<AssemblyView> measure(const kernels::Program& program, const arch::GpuSpec& gpu, int ctas,
                             std::int64_t iterations, const gpu::Switches& switches, sm::Fidelity fidelity) {
  const sm::DecodedProgram decoded = sm::decode(program, gpu.sm, {}, switches.core);
  const sm::MemoryPort port = alone(gpu);
  sm::SmWork work;
  work.resident = ctas;
  work.ctas = ctas;
  work.fidelity = fidelity;
  AssemblyView out;
  out.gpu = gpu.name;
  out.arch = gpu.id;
  out.switches = gpu::changed_switches(switches);
  out.warps = program.warps;
  out.ctas = ctas;
  out.iterations = iterations;
  const bool has_main_loop = std::ranges::any_of(program.loops, &kernels::Loop::is_main);
  if (has_main_loop) out.few_iterations = iterations / 3;
  for (const std::int64_t count : {iterations, out.few_iterations}) {
    if (count == 0) continue;
    work.iterations = count;
    const sm::SmResult result = sm::run_sm(decoded, gpu.sm, switches.core, port, work);
    if (result.deadlock) {
      return Diagnostic{program.name,
                        0,
                        0,
                        "",
                        "warps that can always go on",
                        "warps that wait for ever: a counter is never released"};
    }
    (count == iterations ? out.run : out.shorter) = result;
  }
  return out;
}

// --warps instead of the file's: each warp runs the same code, so that a file with roles cannot be changed.
void set_warps(kernels::Program& program, int warps, Diagnostics& errors) {
  if (warps <= 0 || warps == program.warps) return;
  if (!program.roles.empty()) {
    errors.push_back(
        {"", 0, 0, "--warps", fmt::format("{}, as the roles of the file say", program.warps), std::to_string(warps)});
  }
  program.warps = warps;
}

}  // namespace

std::vector<Option> assembly_options() {
  return {{"asm", "FILE", "run this assembly on one SM instead of a kernel", false, FileUse::input},
          {"warps", "N", "with --asm: warps per CTA, instead of the file's .warps", false},
          {"ctas", "N", "with --asm: CTAs on the SM (default 1)", false},
          {"iterations", "N", "with --asm: iterations of the main loop (default 48)", false}};
}

int run_assembly(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::Switches& switches, Format format) {
  Diagnostics errors;
  const auto warps = static_cast<int>(count_option(arguments, "warps", 0, 32, errors));
  const auto ctas = static_cast<int>(count_option(arguments, "ctas", 1, 32, errors));
  const long long iterations = count_option(arguments, "iterations", usual_iterations, most_iterations, errors);
  const std::string file = *arguments.text("asm");
  const Result<std::string> text = read_text_file(file);
  if (!text) return refuse("simulate", text.errors());
  Result<kernels::Program> program = kernels::parse_assembly(*text, file);
  if (!program) return refuse("simulate", program.errors());
  set_warps(*program, warps, errors);
  if (program->warps * ctas > gpu.sm.occupancy.max_warps) {
    errors.push_back({"", 0, 0, "--ctas",
                      fmt::format("at most {} warps on an SM of {}", gpu.sm.occupancy.max_warps, gpu.name),
                      fmt::format("{}", program->warps * ctas)});
  }
  if (!errors.empty()) return refuse("simulate", errors);
  const Result<AssemblyView> view = measure(*program, gpu, ctas, iterations, switches,
                                            arguments.has("exact") ? sm::Fidelity::exact : sm::Fidelity::sampled);
  if (!view) return refuse("simulate", view.errors());
  switch (format) {
    case Format::text: return print(view_text(*view));
    case Format::json: return print(view_json(*view));
    case Format::csv: return print(view_csv(*view));
  }
  return failed;
}

}  // namespace noteg::cli
