#include <fmt/format.h>

#include <algorithm>

#include "kernels/families/family.hpp"
#include "kernels/families/triton/triton_text.hpp"

#include "sim/report/counters.hpp"
#include "sim/report/format.hpp"
#include "sim/report/write.hpp"
#include "sim/tune/write.hpp"

namespace noteg::tune {
namespace {

using report::figure;
using report::three_digits;

std::string problem_text(const Tuned& tuned) {
  const kernels::GemmShape& s = tuned.problem.shape;
  const kernels::KernelConfig& f = tuned.problem.frame;
  return fmt::format("{}x{}x{}{}{}, {} -> {}, layout {}", s.m, s.n, s.k,
                     s.batch > 1 ? fmt::format(", batch {}", s.batch) : "",
                     tuned.count > 1 ? fmt::format(", {} times", tuned.count) : "", name_of(f.dtype_in),
                     name_of(f.dtype_out), name_of(f.layout));
}

std::string table(const Tuned& tuned) {
  std::string text = fmt::format("{:>3} {:<46}{:>10}{:>9}{:>7}{:>7}  {}\n", "", "configuration", "time", "TFLOP/s", "W",
                                 "mJ", "limited by (estimate)");
  std::size_t place = 0;
  for (const gpu::SimReport& r : tuned.top)
    text += fmt::format("{:>3} {:<46}{:>10}{:>9}{:>7.0f}{:>7}  {}\n", ++place, configuration_text(r.kernel),
                        figure(r.time_us, report::Unit::microseconds), three_digits(r.tflops), r.power_w,
                        three_digits(r.energy_mj), r.bottleneck.name);
  return text;
}

// As Inductor's autotuner prints its list: the name, the time, how close to the best, the configuration; and what 90 %
// of measured times lie between.
std::string triton_table(const Tuned& tuned) {
  std::string text;
  const double best = tuned.top.front().time_us;
  for (const gpu::SimReport& r : tuned.top) {
    const gpu::TimeRange& range = r.confidence.widest();
    text += fmt::format(
        "  triton_mm {:.4f} ms {:.1f}% {}{}\n", r.time_us * 1e-3, 100 * best / r.time_us,
        kernels::triton_text(r.kernel),
        range.high_us > 0 ? fmt::format("  [{:.4f}, {:.4f}] ms", range.low_us * 1e-3, range.high_us * 1e-3) : "");
  }
  return text;
}

bool is_triton_list(const Tuned& tuned) {
  return !tuned.top.empty() &&
         std::ranges::all_of(tuned.top, [](const auto& r) { return family_of(r.kernel.family).to_text != nullptr; });
}

std::string totals(const Results& results) {
  double time_us = 0, energy_mj = 0, flops = 0;
  for (const Tuned& tuned : results.tuned) {
    if (tuned.top.empty()) continue;
    const auto count = static_cast<double>(tuned.count);
    time_us += count * tuned.top.front().time_us;
    energy_mj += count * tuned.top.front().energy_mj;
    flops += count * tuned.problem.shape.flops();
  }
  return fmt::format("\nall {} problems with their best kernels: {}, {}, {} TFLOP/s\n", results.tuned.size(),
                     figure(time_us, report::Unit::microseconds), figure(energy_mj, report::Unit::millijoules),
                     three_digits(time_us > 0 ? flops / (time_us * 1e6) : 0));
}

}  // namespace

std::string configuration_text(const kernels::KernelConfig& k) {
  if (const auto own_text = family_of(k.family).to_text) return "triton_mm " + own_text(k);
  std::string text = fmt::format("{} {}x{}x{}", name_of(k.family), k.tile.m, k.tile.n, k.tile.k);
  if (k.warp_m && k.warp_n) text += fmt::format(" w{}x{}", *k.warp_m, *k.warp_n);
  if (k.schedule) text += fmt::format(" {}", name_of(*k.schedule));
  if (k.cluster_m * k.cluster_n > 1) text += fmt::format(" c{}x{}", k.cluster_m, k.cluster_n);
  if (k.stages) text += fmt::format(" s{}", *k.stages);
  if (k.split_k > 1) text += fmt::format(" K/{}", k.split_k);
  if (k.swizzle_log2 > 0) text += fmt::format(" z{}", k.swizzle_log2);
  if (k.raster == kernels::Raster::along_n) text += " N first";
  return text;
}

std::string to_text(const Results& results) {
  std::string text =
      fmt::format("GPU      {} ({}), ranked by {}\n", results.arch_name, results.arch_id, name_of(results.objective));
  for (const Tuned& tuned : results.tuned) {
    text += fmt::format("\nproblem  {}\n", problem_text(tuned));
    text += fmt::format("searched {} combinations, {} valid: {} simulated, {} ruled out by their bound{}{}\n",
                        tuned.considered, tuned.valid, tuned.simulated, tuned.pruned,
                        tuned.failed > 0 ? fmt::format(", {} could not run", tuned.failed) : "",
                        tuned.stopped ? "; stopped early" : "");
    text += is_triton_list(tuned) ? triton_table(tuned) : table(tuned);
    if (!tuned.top.empty())
      for (const std::string& line : report::wrap(
               fmt::format("90 % interval of the first: {} ({}): {}", report::interval_text(tuned.top.front()),
                           report::relative_interval_text(tuned.top.front()), tuned.top.front().confidence.because),
               98))
        text += line + "\n";
    for (const std::string& line : report::wrap("why: " + tuned.why, 98)) text += line + "\n";
  }
  text +=
      "\nw: tile of a warp, c: cluster, s: stages, K/: slices of K, z: log2 of the swizzle, N first: CTAs follow along "
      "N\n";
  if (results.from_file) text += totals(results);
  return text;
}

}  // namespace noteg::tune
