#include "sim/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arch/field.hpp"
#include "sim/gpu/limits/explain.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compare {
namespace {

// Where the next ":KEY=" begins; npos where none does.
std::size_t next_change(const std::string& text, std::size_t from) {
  for (std::size_t colon = text.find(':', from); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const std::size_t equals = text.find('=', colon);
    if (equals == std::string::npos) return std::string::npos;
    const std::string key = text.substr(colon + 1, equals - colon - 1);
    if (!key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos)
      return colon;
  }
  return std::string::npos;
}

bool sets(const arch::Overrides& overrides, std::string_view key) {
  return std::ranges::any_of(
      overrides, [&](const auto& one) { return one.first == key || one.first == "arch." + std::string(key); });
}

std::string text_of(const arch::Overrides& changes) {
  std::string text;
  for (const auto& [key, value] : changes) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  return text;
}

std::string label_of(const std::vector<Variant>& before, const arch::GpuSpec& gpu) {
  const auto same = std::ranges::count_if(before, [&](const Variant& other) { return other.gpu.id == gpu.id; });
  return same == 0 ? gpu.id : fmt::format("{} ({})", gpu.id, same + 1);
}

}  // namespace

Result<WhatIf> parse_what_if(const std::string& text) {
  WhatIf out;
  std::size_t colon = next_change(text, 0);
  out.arch = text.substr(0, colon);
  if (out.arch.empty()) return Diagnostic{"", 0, 0, "--arch", "ARCH or ARCH:KEY=VALUE...", "\"" + text + "\""};
  while (colon != std::string::npos) {
    const std::size_t end = next_change(text, colon + 1);
    const std::string change = text.substr(colon + 1, end == std::string::npos ? end : end - colon - 1);
    const std::size_t equals = change.find('=');
    out.changes.emplace_back(change.substr(0, equals), change.substr(equals + 1));
    colon = end;
  }
  return out;
}

Result<arch::GpuSpec> load_what_if(const WhatIf& what_if, const arch::Overrides& for_all) {
  arch::Overrides all = for_all;
  all.insert(all.end(), what_if.changes.begin(), what_if.changes.end());
  if (!sets(what_if.changes, "clock.boost") || sets(all, "clock.sustained")) return arch::load_gpu(what_if.arch, all);
  const Result<arch::GpuSpec> as_is = arch::load_gpu(what_if.arch, for_all);
  if (!as_is) return as_is.errors();
  Result<arch::GpuSpec> changed = arch::load_gpu(what_if.arch, all);
  if (!changed) return changed.errors();
  const double factor = changed->clock.boost / as_is->clock.boost;
  changed->clock.sustained = Hertz{as_is->clock.sustained.value * factor};
  return changed;
}

Result<std::vector<Variant>> load_variants(const std::vector<std::string>& texts, const arch::Overrides& for_all) {
  std::vector<Variant> out;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const Result<WhatIf> what_if = parse_what_if(text);
    if (!what_if) {
      errors.insert(errors.end(), what_if.errors().begin(), what_if.errors().end());
      continue;
    }
    Result<arch::GpuSpec> gpu = load_what_if(*what_if, for_all);
    if (!gpu) {
      errors.insert(errors.end(), gpu.errors().begin(), gpu.errors().end());
      continue;
    }
    std::string label = label_of(out, *gpu);
    out.push_back({std::move(label), text_of(what_if->changes), std::move(*gpu)});
  }
  if (!errors.empty()) return errors;
  return out;
}

namespace {

struct Ran {
  kernels::KernelConfig kernel;  // as it was asked for
  std::optional<gpu::SimReport> report;
  Diagnostics errors;
};

Ran run_on(const Variant& variant, const KernelFor& kernel_for, const kernels::GemmShape& shape,
           const gpu::SimOptions& sim, gpu::SmCache& cache) {
  Ran out;
  const Result<kernels::KernelConfig> kernel = kernel_for(variant.gpu);
  if (kernel) {
    out.kernel = *kernel;
    const Result<gpu::Explanation> explained =
        gpu::explain(variant.gpu, *kernel, shape, sim, cache, gpu::Experiments::decisive);
    if (explained)
      out.report = explained->report;
    else
      out.errors = explained.errors();
  } else {
    out.errors = kernel.errors();
  }
  for (Diagnostic& error : out.errors) error.key = variant.label + ": " + error.key;
  return out;
}

RunKernel run_with(const gpu::SimOptions& sim, const kernels::GemmShape& shape, gpu::SmCache& cache) {
  return [&cache, sim, shape](const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel) -> Result<double> {
    const Result<gpu::SimReport> report = gpu::simulate(gpu, kernel, shape, sim, cache);
    if (!report) return report.errors();
    return report->time_us;
  };
}

Runs runs_of(const kernels::GemmShape& shape, const gpu::SimOptions& sim, gpu::SmCache& cache) {
  gpu::SimOptions burst = sim;
  burst.clock_mode = power::ClockMode::burst;
  const bool is_free = !sim.sm_clock_mhz && sim.clock_mode != power::ClockMode::burst && sim.switches.power;
  return {run_with(sim, shape, cache), is_free ? run_with(burst, shape, cache) : RunKernel{}};
}

}  // namespace

Result<Comparison> compare(std::vector<Variant> variants, const KernelFor& kernel_for, const kernels::GemmShape& shape,
                           const CompareOptions& options, gpu::SmCache& cache) {
  std::vector<Ran> ran(variants.size());
  share_work(ran.size(), options.jobs, {},
             [&](std::size_t i) { ran[i] = run_on(variants[i], kernel_for, shape, options.sim, cache); });
  Comparison out;
  Diagnostics errors;
  for (Ran& one : ran) {
    errors.insert(errors.end(), one.errors.begin(), one.errors.end());
    if (one.report) out.reports.push_back(std::move(*one.report));
  }
  if (!errors.empty()) return errors;

  std::vector<const arch::GpuSpec*> gpus;
  for (const Variant& variant : variants) gpus.push_back(&variant.gpu);
  out.differences = arch::differences(gpus);
  if (options.waterfalls && variants.size() > 1) {
    const Runs run = runs_of(shape, options.sim, cache);
    const auto side = [&](std::size_t i) {
      return Side{variants[i].label, gpus[i], ran[i].kernel, out.reports[i].time_us};
    };
    out.waterfalls.resize(variants.size() - 1);
    share_work(out.waterfalls.size(), options.jobs, {},
               [&](std::size_t i) { out.waterfalls[i] = waterfall(side(0), side(i + 1), run); });
  }
  out.variants = std::move(variants);
  return out;
}

}  // namespace noteg::compare
