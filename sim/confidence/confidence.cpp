#include "sim/confidence/confidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "sim/support/arithmetic.hpp"

namespace noteg::gpu {
namespace {

constexpr std::size_t nearest_told = 50;
constexpr double shortest_told_us = 50;

// Of how the prediction missed: |predicted / measured - 1|.
double miss_of(const MeasuredError& row) { return std::abs(portable::exp(-row.error) - 1); }

std::vector<std::string> changes_of(const SimReport& report, const arch::GpuSpec& gpu) {
  std::vector<std::string> changes;
  for (const std::string& key : gpu.changed) changes.push_back("arch." + key);
  for (const auto& [name, value] : report.switches) changes.push_back(name + "=" + value);
  return changes;
}

// Why nobody can have measured this machine; empty where somebody can.
std::string what_if(const SimReport& report, const arch::GpuSpec& gpu) {
  const std::vector<std::string> changes = changes_of(report, gpu);
  if (changes.size() > 4)
    return fmt::format("{} and {} more keys changed", fmt::join(changes.begin(), changes.begin() + 3, ", "),
                       changes.size() - 3);
  if (!changes.empty()) return fmt::format("{} changed", fmt::join(changes, ", "));
  return gpu.shipped ? "" : "its file is none of those that come with the program";
}

// The nearest runs of the best evidence that there is.
struct Nearest {
  double mape = 0;
  std::size_t rows = 0, of = 0;  // those told of, and all of that evidence
  std::set<std::string> gpus, sources, families;
};

Nearest nearest_of(const MeasuredErrors& errors, const Situation& at, Evidence evidence) {
  const std::vector<MeasuredError>& rows = errors.rows();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool gpu = rows[i].at.gpu == at.gpu, family = rows[i].at.family == at.family;
    const bool wanted = evidence == Evidence::kernel      ? gpu && rows[i].at.same_kernel(at)
                        : evidence == Evidence::family    ? gpu && family
                        : evidence == Evidence::other_gpu ? family
                                                          : true;
    if (wanted) order.push_back(i);
  }
  Nearest out;
  out.of = order.size();
  const std::vector<double> far = errors.distances(at);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return far[i]; });
  order.resize(std::min(order.size(), nearest_told));
  out.rows = order.size();
  for (const std::size_t i : order) {
    out.mape += miss_of(rows[i]) / static_cast<double>(order.size());
    out.gpus.insert(rows[i].at.gpu);
    out.sources.insert(rows[i].source);
    out.families.insert(std::string(name_of(rows[i].at.family)));
  }
  return out;
}

std::string because_of(const Situation& at, Evidence evidence, const Nearest& nearest) {
  const std::string_view family = name_of(at.family);
  const std::string were = fmt::format("were {:.2g} % off", 100 * nearest.mape);
  switch (evidence) {
    case Evidence::kernel:
      return fmt::format("the {} nearest measured runs of this kernel on this GPU {}", nearest.rows, were);
    case Evidence::family:
      return fmt::format("this kernel was not measured on this GPU; the {} nearest runs of other {} kernels {}",
                         nearest.rows, family, were);
    case Evidence::other_gpu:
      return fmt::format("no measured {} kernel of this GPU; the {} nearest, on {}, {}", family, nearest.rows,
                         fmt::join(nearest.gpus, ", "), were);
    case Evidence::nothing:
      return fmt::format("no measured {} kernel of any GPU; the {} nearest, {} on {}, {}", family, nearest.rows,
                         fmt::join(nearest.families, ", "), fmt::join(nearest.gpus, ", "), were);
  }
  return "";
}

void widen(std::array<TimeRange, interval_shares.size()>& ranges, double time_us, const Spread& spread,
           const ConformalFactors& factors) {
  for (std::size_t share = 0; share < ranges.size(); ++share) {
    const double factor = factors[static_cast<std::size_t>(spread.evidence)][share];
    TimeRange& range = ranges[share];
    const double low = time_us * portable::exp(-factor * spread.down),
                 high = time_us * portable::exp(factor * spread.up);
    range = range.high_us > 0 ? TimeRange{std::min(range.low_us, low), std::max(range.high_us, high)}
                              : TimeRange{low, high};
  }
}

}  // namespace

Situation situation_of(const SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options) {
  const kernels::KernelConfig& kernel = report.kernel;
  Situation at;
  at.gpu = gpu.id;
  at.generation = gpu.sm.name;
  at.family = kernel.family;
  at.tile = kernel.tile;
  at.stages = kernel.stages.value_or(1);
  at.operand_bytes = kernels::bytes_of(kernel.dtype_in);
  at.slices = kernel.split_k;
  at.chosen = options.kernel_chosen;
  at.time_us = report.time_us;
  at.waves = report.occupancy.waves;
  const double step = std::max(1.0, static_cast<double>(kernel.tile.k) * kernel.split_k * kernel.sliced_k.value_or(1));
  at.iterations = std::max(1.0, static_cast<double>(report.shape.k) / step);
  // Bursts stand among the measured runs as if nothing held their clock.
  if (report.throttled && !report.in_burst) at.clock_share = report.sm_clock_mhz * 1e6 / gpu.clock.boost.value;
  return at;
}

Confidence confidence_of(const SimReport& report, const arch::GpuSpec& gpu, const SimOptions& options,
                         const ErrorTable& table) {
  Situation at = situation_of(report, gpu, options);
  Confidence out;
  const std::optional<Spread> own = table.errors.spread(at);
  if (!own) {
    out.on = out.because = "none: nothing was measured";
    return out;
  }
  widen(out.intervals, report.time_us, *own, table.factors);
  Evidence evidence = own->evidence;
  const std::string changed = what_if(report, gpu);
  if (!changed.empty()) {  // as of a GPU that was not measured, and never narrower than that of the GPU it is like
    at.gpu.clear();
    if (const std::optional<Spread> unseen = table.errors.spread(at)) {
      widen(out.intervals, report.time_us, *unseen, table.factors);
      evidence = unseen->evidence;
    }
  }
  const Nearest nearest = nearest_of(table.errors, at, evidence);
  out.because = because_of(at, evidence, nearest);
  if (!changed.empty()) {
    const std::string machine =
        changes_of(report, gpu).empty() ? "a file of your own" : fmt::format("a what-if machine ({})", changed);
    out.because = machine + ", so at least as wide as for a GPU that nobody measured";
    out.on = fmt::format("none: not validated, {}", changed);
  } else if (evidence <= Evidence::family) {
    out.validated_mape = nearest.mape;
    out.on =
        fmt::format("the nearest {} of {} rows of {}{}", nearest.rows, nearest.of, fmt::join(nearest.sources, ", "),
                    evidence == Evidence::kernel ? ", this kernel" : ", other kernels of this family");
  } else {
    out.on = fmt::format("none: no measured {} kernels of this GPU", name_of(at.family));
  }
  return out;
}

arch::ValidatedGpus validated_gpus(const ErrorTable& table) {
  arch::ValidatedGpus gpus;
  for (const MeasuredError& row : table.errors.rows()) {
    if (row.at.time_us < shortest_told_us) continue;
    arch::Validated& gpu = gpus[row.at.gpu];
    gpu.mape += (miss_of(row) - gpu.mape) / ++gpu.rows;
  }
  return gpus;
}

}  // namespace noteg::gpu
