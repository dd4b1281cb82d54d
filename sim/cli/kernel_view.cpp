#include "sim/cli/kernel_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/families/build.hpp"
#include "kernels/ir/print.hpp"
#include "sim/support/csv.hpp"

namespace noteg::cli {
namespace {

using kernels::Program;

KernelPart part_of(const Program& program, std::string name, int begin, int end, const kernels::LatencyModel& latency) {
  return {std::move(name), begin, end, kernels::facts_of(program, begin, end, latency)};
}

std::string mix_of(const kernels::CodeFacts& facts) {
  std::vector<std::pair<std::string, int>> mix(facts.by_mnemonic.begin(), facts.by_mnemonic.end());
  std::ranges::stable_sort(mix, std::greater{}, [](const auto& entry) { return entry.second; });
  std::string text;
  for (const auto& [opcode, count] : mix) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", opcode, count);
  return text;
}

}  // namespace

Result<KernelView> view_of(const KernelRequest& request, const kernels::LatencyModel& latency) {
  KernelView view;
  view.shape = request.shape;
  const Result<kernels::KernelConfig> config = kernels::resolve(request.config, request.shape);
  if (!config) return config.errors();
  view.config = *config;
  kernels::BuildRequest build;
  build.config = *config;
  build.latency = latency;
  Result<Program> program = kernels::build_program(build);
  if (!program) return program.errors();
  view.program = std::move(*program);
  const int end = static_cast<int>(view.program.code.size());
  view.parts = {part_of(view.program, "prologue", 0, view.program.mainloop_begin, latency),
                part_of(view.program, "mainloop", view.program.mainloop_begin, view.program.epilogue_begin, latency),
                part_of(view.program, "epilogue", view.program.epilogue_begin, end, latency)};
  const std::int64_t depth = (request.shape.k + config->split_k - 1) / config->split_k;
  view.trips = kernels::main_trips(view.program, depth);
  view.executed = kernels::executed_instructions(view.program, depth);
  return view;
}

std::string view_text(const KernelView& view) {
  const Program& program = view.program;
  std::string text =
      fmt::format("# {} {}x{}x{}, {} threads ({} warps), {} stage(s), {} registers, {} B shared memory\n",
                  name_of(view.config.family), view.config.tile.m, view.config.tile.n, view.config.tile.k,
                  program.threads, program.warps, program.stages, program.registers, program.shared_bytes);
  text += fmt::format("# K = {}: {} iterations of the main loop, {} instructions executed by a warp\n", view.shape.k,
                      view.trips, view.executed);
  for (const KernelPart& part : view.parts) {
    text += fmt::format("# {}: {} instructions, stall counts sum to {}, critical path {} cycles\n", part.name,
                        part.end - part.begin, part.facts.stall_sum, part.facts.critical_path);
    text += fmt::format("#   {}\n", mix_of(part.facts));
    if (part.facts.ffma > 0)
      text += fmt::format("#   {} of {} FFMA reuse an operand\n", part.facts.ffma_with_reuse, part.facts.ffma);
  }
  return text + kernels::to_text(program);
}

std::string view_json(const KernelView& view) {
  using Json = nlohmann::ordered_json;
  const Program& program = view.program;
  Json root = {{"family", name_of(view.config.family)},
               {"tile", {view.config.tile.m, view.config.tile.n, view.config.tile.k}},
               {"threads", program.threads},
               {"warps", program.warps},
               {"stages", program.stages},
               {"registers", program.registers},
               {"shared_bytes", program.shared_bytes},
               {"mainloop_trips", view.trips},
               {"warp_instructions", view.executed}};
  for (const KernelPart& part : view.parts)
    root["parts"].push_back({{"name", part.name},
                             {"instructions", part.end - part.begin},
                             {"stall_sum_cycles", part.facts.stall_sum},
                             {"critical_path_cycles", part.facts.critical_path},
                             {"ffma", part.facts.ffma},
                             {"ffma_with_reuse", part.facts.ffma_with_reuse},
                             {"by_opcode", part.facts.by_mnemonic}});
  for (int i = 0; i < static_cast<int>(program.code.size()); ++i) root["code"].push_back(kernels::to_text(program, i));
  return root.dump(2) + "\n";
}

std::string view_csv(const KernelView& view) {
  std::string text =
      csv_line({"index", "part", "opcode", "stall", "yield", "write_barrier", "read_barrier", "wait_mask", "text"});
  for (const KernelPart& part : view.parts) {
    for (int i = part.begin; i < part.end; ++i) {
      const kernels::Instruction& at = view.program.code[static_cast<std::size_t>(i)];
      const kernels::Control& c = at.control;
      text += csv_line({std::to_string(i), part.name, std::string(kernels::opcode_info(at.op).mnemonic),
                        std::to_string(c.stall), c.yield ? "1" : "0",
                        c.write_barrier < 0 ? "" : std::to_string(c.write_barrier),
                        c.read_barrier < 0 ? "" : std::to_string(c.read_barrier), std::to_string(c.wait_mask),
                        kernels::to_text(view.program, i)});
    }
  }
  return text;
}

}  // namespace noteg::cli
