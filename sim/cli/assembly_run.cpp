#include "sim/cli/assembly_run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/assembly.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/core/engine.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::cli {
namespace {

struct Slope {
  double cycles = 0;        // per trip of all CTAs side by side
  double instructions = 0;  // per trip and warp
  core::CoreCounters counters;
  int warps = 0, ctas = 0;
};

constexpr std::int64_t few_trips = 16, many_trips = 48;

Result<Slope> measure(const kernels::Program& program, const arch::SmSpec& sm, int ctas) {
  const core::DecodedProgram decoded = core::decode(program, sm);
  core::SmWork work;
  work.resident = ctas;
  work.ctas = ctas;
  const core::MemoryEnvironment environment;
  work.trips = few_trips;
  const core::SmResult few = core::run_sm(decoded, sm, {}, environment, work);
  work.trips = many_trips;
  const core::SmResult many = core::run_sm(decoded, sm, {}, environment, work);
  if (few.deadlock || many.deadlock) {
    return Diagnostic{
        program.name, 0, 0, "", "warps that can always go on", "warps that wait for ever: a counter is never released"};
  }
  Slope out;
  const double trips = many_trips - few_trips;
  out.warps = program.warps;
  out.ctas = ctas;
  out.cycles = (many.cycles - few.cycles) / trips;
  out.counters = many.counters;
  out.counters += few.counters * -1.0;
  out.instructions = out.counters.warp_instructions / (trips * program.warps * ctas);
  return out;
}

std::string to_text(const Slope& s, const arch::GpuSpec& gpu) {
  std::string text = fmt::format(
      "{}: {} CTA{} of {} warp{} on one SM\n{:.2f} cycles per trip of the main loop, {:.1f} instructions per warp in "
      "it, {:.2f} "
      "issued per cycle\n\nwhat warps do (share of warp cycles)\n",
      gpu.name, s.ctas, s.ctas == 1 ? "" : "s", s.warps, s.warps == 1 ? "" : "s", s.cycles, s.instructions,
      s.cycles > 0 ? s.instructions * s.warps * s.ctas / s.cycles : 0);
  const std::array<double, core::stall_count> shares = s.counters.stall_shares();
  for (std::size_t i = 0; i < core::stall_count; ++i) {
    if (shares[i] >= 0.0005)
      text += fmt::format("  {:<18} {:5.1f} %\n", core::name_of(static_cast<core::Stall>(i)), 100 * shares[i]);
  }
  return text;
}

std::string to_json(const Slope& s, const arch::GpuSpec& gpu) {
  nlohmann::ordered_json json;
  json["arch"] = gpu.id;
  json["ctas"] = s.ctas;
  json["warps_per_cta"] = s.warps;
  json["cycles_per_trip"] = s.cycles;
  json["instructions_per_trip_and_warp"] = s.instructions;
  const std::array<double, core::stall_count> shares = s.counters.stall_shares();
  for (std::size_t i = 0; i < core::stall_count; ++i) {
    json["stalls"][std::string(core::name_of(static_cast<core::Stall>(i)))] = shares[i];
  }
  return json.dump(2) + "\n";
}

}  // namespace

std::vector<Option> assembly_options() {
  return {{"asm", "FILE", "run this assembly on one SM instead of a kernel", false},
          {"warps", "N", "with --asm: warps per CTA, instead of the file's .warps", false},
          {"ctas", "N", "with --asm: CTAs on the SM (default 1)", false}};
}

int run_assembly(const Arguments& arguments, const arch::GpuSpec& gpu, Format format) {
  Diagnostics errors;
  const auto warps = static_cast<int>(count_option(arguments, "warps", 0, 32, errors));
  const auto ctas = static_cast<int>(count_option(arguments, "ctas", 1, 32, errors));
  const std::string file = *arguments.text("asm");
  const Result<std::string> text = read_text_file(file);
  if (!text) return refuse("simulate", text.errors());
  Result<kernels::Program> program = kernels::parse_assembly(*text, file);
  if (!program) return refuse("simulate", program.errors());
  if (warps > 0) program->warps = warps;
  if (program->warps * ctas > gpu.sm.occupancy.max_warps) {
    errors.push_back({"", 0, 0, "--ctas",
                      fmt::format("at most {} warps on an SM of {}", gpu.sm.occupancy.max_warps, gpu.name),
                      fmt::format("{}", program->warps * ctas)});
  }
  if (!errors.empty()) return refuse("simulate", errors);
  const Result<Slope> slope = measure(*program, gpu.sm, ctas);
  if (!slope) return refuse("simulate", slope.errors());
  return print(format == Format::json ? to_json(*slope, gpu) : to_text(*slope, gpu));
}

}  // namespace noteg::cli
