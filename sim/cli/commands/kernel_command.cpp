// noteg kernel show: the instruction list of a kernel with control bits, registers, static counts, critical path.
// noteg kernel graph: the dependences of one basic block, for Graphviz or as a picture.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/families/build.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"
#include "kernels/ir/listing.hpp"
#include "kernels/passes/dependence_graph.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/support/csv.hpp"

namespace noteg::cli {

struct KernelPart {  // prologue, main loop or epilogue: instructions [begin, end)
  std::string name;
  int begin = 0, end = 0;
  kernels::CodeFacts facts;
};

struct KernelView {
  kernels::KernelConfig config;  // resolved
  kernels::GemmShape shape;
  kernels::Program program;
  std::vector<KernelPart> parts;
  long long iterations = 0;  // of the main loop for this K
  long long executed = 0;    // warp instructions of one warp
};

[[nodiscard]] Result<KernelView> view_of(const KernelRequest& request, const kernels::LatencyModel& latency);

[[nodiscard]] std::string view_text(const KernelView& view);
[[nodiscard]] std::string view_json(const KernelView& view);
[[nodiscard]] std::string view_csv(const KernelView& view);  // one instruction a row

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
  view.iterations = kernels::main_iterations(view.program, depth);
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
                      view.iterations, view.executed);
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
               {"mainloop_iterations", view.iterations},
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

namespace {

constexpr kernels::GemmShape usual_shape{4096, 4096, 4096, 1};

std::vector<std::string> graph_formats() { return {"dot", "svg"}; }

Result<kernels::LatencyModel> latencies(const Arguments& arguments, const kernels::KernelConfig& config) {
  const std::optional<std::string> name = arguments.text("arch");
  if (!name) return kernels::LatencyModel{};
  const Result<arch::GpuSpec> gpu = arch::load_gpu(*name, arch_overrides(arguments));
  if (!gpu) return gpu.errors();
  const Result<kernels::KernelConfig> resolved = kernels::resolve(config, usual_shape);
  if (!resolved || !kernels::on_tensor_cores(*resolved)) return sm::latency_model(gpu->sm);
  return sm::latency_model(gpu->sm, kernels::tensor_form_of(*resolved));
}

// A kernel and the latencies that its control bits follow.
struct Asked {
  KernelView view;
  kernels::LatencyModel latency;
};

Result<Asked> asked_for(const Arguments& arguments, Diagnostics errors) {
  add(errors, set_errors(arguments));
  refuse_switches(arguments, errors);
  const Result<KernelRequest> kernel = kernel_request(arguments, usual_shape);
  if (!kernel) add(errors, kernel.errors());
  const Result<kernels::LatencyModel> latency = latencies(arguments, kernel ? kernel->config : kernels::KernelConfig{});
  if (!latency) add(errors, latency.errors());
  if (!errors.empty()) return errors;
  Result<KernelView> view = view_of(*kernel, *latency);
  if (!view) return view.errors();
  return Asked{std::move(*view), *latency};
}

std::vector<Option> graph_options() {
  std::vector<Option> all = kernel_command_options();
  for (Option& option : all) {
    if (option.name != "format") continue;
    option.help = "dot (default), for Graphviz, or svg, a picture";
    option.values = graph_formats;
  }
  return all;
}

// The basic block of the main loop with the longest chain; without a loop, of all code.
kernels::DependenceGraph graph_of(const Asked& asked) {
  const Program& program = asked.view.program;
  const bool has_loop = program.epilogue_begin > program.mainloop_begin;
  kernels::BasicBlock longest;
  int cycles = -1;
  for (const kernels::BasicBlock& block : kernels::basic_blocks(program)) {
    if (has_loop && (block.begin < program.mainloop_begin || block.end > program.epilogue_begin)) continue;
    const int chain = kernels::critical_path(program, block.begin, block.end, asked.latency);
    if (chain <= cycles) continue;
    longest = block;
    cycles = chain;
  }
  return {program, longest.begin, longest.end, asked.latency};
}

int draw(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, graph_options(), {});
  if (!arguments) return refuse("kernel", arguments.errors());
  const std::string format = arguments->text("format").value_or("dot");
  Diagnostics errors;
  if (format != "dot" && format != "svg") errors.push_back({"", 0, 0, "--format", "dot or svg", "\"" + format + "\""});
  const Result<Asked> asked = asked_for(*arguments, std::move(errors));
  if (!asked) return refuse("kernel", asked.errors());
  const kernels::DependenceGraph graph = graph_of(*asked);
  return print(format == "dot" ? to_dot(graph, asked->view.program) : to_svg(graph, asked->view.program));
}

int show(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, kernel_command_options(), {});
  if (!arguments) return refuse("kernel", arguments.errors());
  Diagnostics errors;
  const Format format = format_option(*arguments, errors);
  const Result<Asked> asked = asked_for(*arguments, std::move(errors));
  if (!asked) return refuse("kernel", asked.errors());
  const KernelView* view = &asked->view;
  switch (format) {
    case Format::text: return print(view_text(*view));
    case Format::json: return print(view_json(*view));
    case Format::csv: return print(view_csv(*view));
  }
  return failed;
}

}  // namespace

std::vector<Option> kernel_command_options() {
  std::vector<Option> all = kernel_options();
  all.push_back({"arch", "ARCH", "GPU whose latencies the control bits follow; generic ones if absent", false,
                 FileUse::gpu, arch_values});
  all.push_back({"format", "F", "text (default), json or csv", false, FileUse::none, format_values});
  all.push_back({"quiet", "", "nothing on standard error but mistakes", false});
  return all;
}

std::string kernel_help() {
  return "usage: noteg kernel show (--kernel FILE | --kernel-name NAME | --family F --tile MxNxK) [options]\n"
         "       noteg kernel graph (--kernel FILE | --kernel-name NAME | --family F --tile MxNxK) [--format "
         "dot|svg]\n\n"
         "show: the instruction list with control bits, registers, static counts and the critical path.\n"
         "graph: the dependences in the main loop's longest basic block, for Graphviz or as a picture.\n"
         "--shape is 4096x4096x4096 if absent: it decides vector widths, not the list's length.\n\n" +
         help_of(kernel_command_options());
}

int run_kernel(const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.front();
  if (word != "show" && word != "graph")
    return refuse("kernel", {{"", 0, 0, "kernel", "show or graph", word.empty() ? "nothing" : "\"" + word + "\""}});
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  return word == "show" ? show(rest) : draw(rest);
}

}  // namespace noteg::cli
