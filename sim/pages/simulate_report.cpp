#include <fmt/format.h>

#include <algorithm>

#include "sim/pages/reports.hpp"
#include "sim/pages/run_charts.hpp"
#include "sim/report/write.hpp"

namespace noteg::pages {

std::string simulate_report(const arch::GpuSpec& gpu, const gpu::SimReport& r,
                            const std::optional<gpu::Explanation>& explanation) {
  const std::string name = r.kernel.name.empty() ? std::string(kernels::name_of(r.kernel.family)) : r.kernel.name;
  Page page("NoteG simulation", fmt::format("{} on {}", name, r.arch_name),
            report::problem_text(r) + ". " + report::kernel_text(r) + ".");
  page.verdict(verdict_of(r));
  page.tiles(headline_tiles(r));

  page.section("Where it stands");
  Chart roofline = roofline_chart({{r.arch_id, &gpu, &r}});
  page.add(roofline);
  page.add(phases_chart(r));
  if (explanation) page.add(limits_chart(*explanation));

  page.section("Inside the SM");
  page.add(stalls_chart(r));
  page.add(pipes_chart(r));
  page.add(occupancy_chart(gpu, r));
  page.add(instructions_chart(r));

  page.section("Memory and energy");
  page.add(traffic_chart(r));
  page.add(energy_chart(r));

  page.section("Everything that was counted");
  page.add("All counters", counters_table(r), false,
           "The same names as in the JSON output and in docs/reference/report-reference.md.");
  page.footer(fmt::format(
      "Simulated, not measured. {}.",
      r.confidence.validated_mape >= 0
          ? fmt::format("Mean error of the model on {}: {}", r.confidence.on, figure_of(r, "confidence.validated_mape"))
          : "No measurement of this kind has validated the model: " + r.confidence.on));
  page.footer(fmt::format("Power: {}. Engine: {}, {} of one SM stepped through.", r.power_note,
                          r.engine.exact ? "exact" : "extrapolated", figure_of(r, "engine.simulated_cycles")));
  return page.take();
}

namespace {

using compiled::CompiledRun;
using compiled::SourceLine;

constexpr std::size_t instructions_drawn = 20, reasons_told = 2;

const compiled::Instruction& instruction_of(const CompiledRun& run, const SourceLine& line) {
  return *run.profile.code.steps[static_cast<std::size_t>(line.instruction)].in;
}

double sum_of(const std::vector<SourceLine>& view) {
  double sum = 0;
  for (const SourceLine& line : view) sum += line.samples;
  return std::max(1.0, sum);
}

// For what its warps wait most, issuing aside.
std::string reasons_text(const SourceLine& line) {
  std::vector<std::pair<double, std::string_view>> reasons;
  for (std::size_t i = 0; i < line.stalls.size(); ++i)
    if (compiled::stall_columns[i] != "selected" && line.stalls[i] > 0)
      reasons.emplace_back(-line.stalls[i], compiled::stall_columns[i]);
  std::ranges::stable_sort(reasons, {}, &std::pair<double, std::string_view>::first);
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons_told, reasons.size()); ++i)
    text += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", reasons[i].second, -100 * reasons[i].first / line.samples);
  return text;
}

Chart hot_chart(const CompiledRun& run, const std::vector<SourceLine>& view) {
  std::vector<const SourceLine*> lines;
  for (const SourceLine& line : view)
    if (line.samples > 0) lines.push_back(&line);
  std::ranges::stable_sort(lines, std::greater{}, &SourceLine::samples);
  lines.resize(std::min(lines.size(), instructions_drawn));
  Chart chart;
  chart.id = "hot";
  chart.title = "Where the warp cycles go";
  chart.note = "Warp cycles of the launch that warps spend before and at an instruction; the dearest ones.";
  chart.label_head = "instruction";
  chart.value = {"warp cycles", false, 0, std::nullopt};
  chart.wide = true;
  chart.series.emplace_back();
  chart.series.front().colour = "s2";
  for (const SourceLine* line : lines) {
    const compiled::Instruction& in = instruction_of(run, *line);
    chart.labels.push_back(fmt::format("{:04x} {}", in.address, in.text));
    chart.series.front().bars.push_back(
        {line->samples, fmt::format("{:.1f} %  {}", 100 * line->samples / sum_of(view), reasons_text(*line)), "", 0});
  }
  return chart;
}

Table source_table(const CompiledRun& run, const std::vector<SourceLine>& view) {
  Table table{{"address", "instruction", "executions", "warp cycles", "share", "waits for", "wavefronts", "sectors"},
              {}};
  const auto count = [](double value) { return Cell{report::figure(value, report::Unit::count), value}; };
  for (const SourceLine& line : view) {
    const compiled::Instruction& in = instruction_of(run, line);
    const double share = line.samples / sum_of(view);
    table.rows.push_back({{fmt::format("{:04x}", in.address)},
                          {std::string(in.text)},
                          count(line.counts.warps),
                          count(line.samples),
                          {fmt::format("{:.1f} %", 100 * share), share},
                          {line.samples > 0 ? reasons_text(line) : ""},
                          count(line.counts.wavefronts),
                          count(line.counts.sectors)});
  }
  return table;
}

}  // namespace

std::string compiled_report(const arch::GpuSpec& gpu, const CompiledRun& run, const compiled::Launch& launch,
                            const std::vector<SourceLine>& view) {
  const gpu::SimReport& r = run.report;
  Page page("NoteG simulation of compiled code", fmt::format("{} on {}", run.profile.code.code->name, r.arch_name),
            fmt::format("Grid {}x{}x{}, block {}x{}x{}, {} registers a thread, {} bytes of shared memory a CTA.",
                        launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                        launch.block[2], r.registers_per_thread, r.shared_bytes_per_cta));
  page.verdict(verdict_of(r));
  page.tiles(headline_tiles(r));
  page.section("Instructions");
  page.add(hot_chart(run, view));
  page.add("The listing", source_table(run, view), false,
           "Waits by the names of Nsight Compute. Executions are of warps; the run itself is one wave of CTAs.");
  page.section("Where it stands");
  page.add(roofline_chart({{r.arch_id, &gpu, &r}}));
  page.add(phases_chart(r));
  page.section("Inside the SM");
  page.add(stalls_chart(r));
  page.add(pipes_chart(r));
  page.add(occupancy_chart(gpu, r));
  page.section("Memory and energy");
  page.add(traffic_chart(r));
  page.add(energy_chart(r));
  for (const std::string& each : run.assumptions) page.footer("Assumed: " + each);
  for (const std::string& each : run.notes) page.footer("Note: " + each);
  page.footer("Simulated, not measured.");
  return page.take();
}

}  // namespace noteg::pages
