#include <fmt/format.h>

#include "sim/pages/reports.hpp"
#include "sim/pages/roofline_chart.hpp"
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
           "The same names as in the JSON output and in docs/report-reference.md.");
  page.footer(fmt::format(
      "Simulated, not measured. {}.",
      r.confidence.validated_mape >= 0
          ? fmt::format("Mean error of the model on {}: {}", r.confidence.on, figure_of(r, "confidence.validated_mape"))
          : "No measurement of this kind has validated the model: " + r.confidence.on));
  page.footer(fmt::format("Power: {}. Engine: {}, {} of one SM stepped through.", r.power_note,
                          r.engine.exact ? "exact" : "extrapolated", figure_of(r, "engine.simulated_cycles")));
  return page.take();
}

}  // namespace noteg::pages
