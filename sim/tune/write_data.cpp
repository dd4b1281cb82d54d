#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/write.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/number_text.hpp"
#include "sim/tune/cutlass_profiler.hpp"
#include "sim/tune/write.hpp"

namespace noteg::tune {

using Json = nlohmann::ordered_json;

std::string to_json(const Results& results, const arch::GpuSpec& gpu) {
  Json problems = Json::array();
  for (const Tuned& tuned : results.tuned) {
    Json top = Json::array();
    for (const gpu::SimReport& r : tuned.top) {
      Json one{{"configuration", configuration_text(r.kernel)},
               {"cutlass_profiler", cutlass_profiler_line(gpu, r.kernel, tuned.problem.shape)}};
      one.update(Json::parse(report::to_json(r)));
      top.push_back(std::move(one));
    }
    Json ranked = Json::array();
    for (const Scored& one : tuned.ranked)
      ranked.push_back({{"configuration", configuration_text(one.config)},
                        {"estimated_time_us", one.time_us},
                        {"estimated_energy_mj", one.energy_mj}});
    const kernels::GemmShape& s = tuned.problem.shape;
    problems.push_back({{"m", s.m},
                        {"n", s.n},
                        {"k", s.k},
                        {"batch", s.batch},
                        {"count", tuned.count},
                        {"combinations", tuned.considered},
                        {"valid", tuned.valid},
                        {"simulated", tuned.simulated},
                        {"pruned", tuned.pruned},
                        {"stopped", tuned.stopped},
                        {"why", tuned.why},
                        {"top", std::move(top)},
                        {"ranked", std::move(ranked)}});
  }
  return Json{{"arch", results.arch_id}, {"objective", name_of(results.objective)}, {"problems", std::move(problems)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string to_csv(const Results& results) {
  std::string text =
      "arch,m,n,k,batch,count,rank,configuration,time_us,time_low_us,time_high_us,tflops,power_w,energy_mj,limiter,l2_"
      "hit_rate\n";
  for (const Tuned& tuned : results.tuned) {
    std::size_t place = 0;
    for (const gpu::SimReport& r : tuned.top) {
      const kernels::GemmShape& s = tuned.problem.shape;
      text +=
          csv_line({results.arch_id, std::to_string(s.m), std::to_string(s.n), std::to_string(s.k),
                    std::to_string(s.batch), std::to_string(tuned.count), std::to_string(++place),
                    configuration_text(r.kernel), format_number(r.time_us), format_number(r.confidence.widest().low_us),
                    format_number(r.confidence.widest().high_us), format_number(r.tflops), format_number(r.power_w),
                    format_number(r.energy_mj), r.bottleneck.name, format_number(r.memory.l2_hit_rate)});
    }
  }
  return text;
}

}  // namespace noteg::tune
