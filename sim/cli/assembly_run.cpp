#include "sim/cli/assembly_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/assembly/assembly.hpp"
#include "sim/cli/assembly_view.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::cli {
namespace {

constexpr long long usual_trips = 48, most_trips = 1'000'000;

// One SM of an otherwise idle GPU, with everything it reads in L2.
sm::MemoryPort alone(const arch::GpuSpec& gpu) {
  gpu::PortRequest request;
  request.gpu = &gpu;
  return gpu::port_to_l2(request, gpu.clock.sustained);
}

Result<AssemblyView> measure(const kernels::Program& program, const arch::GpuSpec& gpu, int ctas, std::int64_t trips,
                             const gpu::Switches& switches) {
  const sm::DecodedProgram decoded = sm::decode(program, gpu.sm, {}, switches.core);
  const sm::MemoryPort port = alone(gpu);
  sm::SmWork work;
  work.resident = ctas;
  work.ctas = ctas;
  AssemblyView out;
  out.gpu = gpu.name;
  out.arch = gpu.id;
  out.switches = gpu::changed_switches(switches);
  out.warps = program.warps;
  out.ctas = ctas;
  out.trips = trips;
  const bool has_main_loop = std::ranges::any_of(program.loops, &kernels::Loop::is_main);
  if (has_main_loop) out.few_trips = trips / 3;
  for (const std::int64_t count : {trips, out.few_trips}) {
    if (count == 0) continue;
    work.trips = count;
    const sm::SmResult result = sm::run_sm(decoded, gpu.sm, switches.core, port, work);
    if (result.deadlock) {
      return Diagnostic{program.name,
                        0,
                        0,
                        "",
                        "warps that can always go on",
                        "warps that wait for ever: a counter is never released"};
    }
    (count == trips ? out.run : out.shorter) = result;
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
          {"trips", "N", "with --asm: trips of the main loop (default 48)", false}};
}

int run_assembly(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::Switches& switches, Format format) {
  Diagnostics errors;
  const auto warps = static_cast<int>(count_option(arguments, "warps", 0, 32, errors));
  const auto ctas = static_cast<int>(count_option(arguments, "ctas", 1, 32, errors));
  const long long trips = count_option(arguments, "trips", usual_trips, most_trips, errors);
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
  const Result<AssemblyView> view = measure(*program, gpu, ctas, trips, switches);
  if (!view) return refuse("simulate", view.errors());
  switch (format) {
    case Format::text: return print(view_text(*view));
    case Format::json: return print(view_json(*view));
    case Format::csv: return print(view_csv(*view));
  }
  return failed;
}

}  // namespace noteg::cli
