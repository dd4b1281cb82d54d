#include "sim/tune/catalogue.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/config/config_file.hpp"
#include "kernels/families/family.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/tune/bound.hpp"
#include "sim/tune/candidates.hpp"
#include "sim/tune/libraries.hpp"

namespace noteg::tune {

namespace {

// A library has kernels for operands of the same alignment only: the widest access that both take.
void align_operands(kernels::KernelConfig& kernel, const kernels::GemmShape& shape) {
  const kernels::FamilyTraits& traits = traits_of(kernel);
  if (!traits.has_library_kernels || traits.arithmetic != kernels::Arithmetic::tensor_cores) return;
  const std::int64_t a = kernels::a_contiguous_in_k(kernel.layout) ? shape.k : shape.m;
  const std::int64_t b = kernels::b_contiguous_in_n(kernel.layout) ? shape.n : shape.k;
  int fits = static_cast<int>(16 / kernels::bytes_of(kernel.dtype_in));
  while (fits > 1 && (a % fits != 0 || b % fits != 0)) fits /= 2;
  kernel.align_a = kernel.align_b = fits;
}

// By how much a kernel must be faster than one of tiles of 256x128 to be taken. cuBLAS before nvjet keeps to large
// tiles where smaller ones would fill the last wave better: of half the area they must be 7 % faster. Fitted, one
// exponent, on the bf16 rows of the A100 SXM4 in aiconfigurator_gemm; rows of A40 and L40S gain too. It holds for
// nvjet: of 46 products of bf16 on our H100 cuBLAS 13.0 runs the kernel chosen here, or its mirror image, 24 times, 19
// times without it.
double reluctance(gpu::Library library, const kernels::KernelConfig& kernel) {
  constexpr double exponent = 0.1, area = 256.0 * 128;
  const bool of_cublas = library == gpu::Library::cublas || library == gpu::Library::cublas_before_nvjet;
  if (!of_cublas || !(kernels::multiplies_by_warps(kernel) || kernels::is_hopper_nvjet(kernel))) return 1;
  return std::pow(area / (static_cast<double>(kernel.tile.m) * kernel.tile.n), exponent);
}

// Up to three slices take turns at C, more of them or a second kernel adds; nvjet knows the second kernel only (splitK
// in its names).
std::vector<kernels::SplitKMode> ways_to_add(const kernels::KernelConfig& kernel, int slices) {
  using kernels::SplitKMode;
  constexpr int from = 4;
  if (slices == 1) return {kernel.split_k_mode};
  if (kernels::is_hopper_nvjet(kernel)) return {SplitKMode::parallel};
  if (slices < from) return {SplitKMode::serial};
  return {SplitKMode::serial, SplitKMode::parallel};
}

// Tensor cores take operands of 8 and 4 bits only with K contiguous in both.
Diagnostic none_found(const arch::GpuSpec& gpu, const kernels::KernelConfig& frame) {
  const std::string type(kernels::name_of(frame.dtype_in));
  std::string wanted = "a kernel of the catalogue (docs/tune.md) that takes " + type + " on " + gpu.sm.name;
  if (kernels::bytes_of(frame.dtype_in) < 2 && frame.layout != kernels::Layout::nt)
    wanted += " (" + type + " needs --layout nt)";
  return {"", 0, 0, "kernel auto", wanted, "none for layout " + std::string(kernels::name_of(frame.layout))};
}

}  // namespace

std::vector<kernels::KernelConfig> library_choices(const arch::GpuSpec& gpu, const Problem& problem,
                                                   gpu::Library library) {
  if (std::vector<kernels::KernelConfig> own = public_choices(library, gpu, problem); !own.empty()) return own;
  std::vector<kernels::KernelConfig> out;
  // Library and plugin kernels of s8 take all of K in one CTA (aiconfigurator: 32x64x16384 takes 56 us on an H200, the
  // time of one tile along all of K).
  const bool splits = problem.frame.dtype_in != kernels::DataType::s8;
  for (kernels::KernelConfig& kernel :
       library_kernels(gpu, problem.frame, library == gpu::Library::cublas_before_nvjet)) {
    align_operands(kernel, problem.shape);
    for (const int slices : slice_counts(kernel, problem.shape, gpu.sms)) {
      if (slices > 1 && !splits) break;
      for (const kernels::SplitKMode mode : ways_to_add(kernel, slices)) {
        out.push_back(kernel);
        out.back().split_k = slices;
        out.back().split_k_mode = mode;
      }
    }
  }
  return out;
}

Result<kernels::KernelConfig> KernelChooser::best(const arch::GpuSpec& gpu, const Problem& problem,
                                                  const gpu::SimOptions& given) {
  if (const auto error = gpu::beyond_memory(gpu, problem.frame, problem.shape)) return *error;
  gpu::SimOptions sim = given;
  sim.exact = false;
  sim.pilot = true;
  const auto [timed, l2] = comparison_of(given, problem);
  sim.l2 = l2;
  gpu::SimOptions all_in_l2 = sim;
  all_in_l2.waits_for_dram = false;
  gpu::Library library = given.library;
  std::vector<Candidate> candidates = candidates_of(gpu, library_choices(gpu, problem, library), timed, sim);
  if (candidates.empty() && library != gpu::Library::cublas) {  // it calls cuBLAS for what it has no kernel for
    library = gpu::Library::cublas;
    candidates = candidates_of(gpu, library_choices(gpu, problem, library), timed, sim);
  }
  const Candidate* best = candidates.size() == 1 ? &candidates.front() : nullptr;
  double best_us = 0;  // times its reluctance
  // The first of the fastest. A candidate that cannot be as fast as the best so far is not run; first comes what it
  // takes at least, where it finds everything in L2.
  const auto look_at = [&](const Candidate& candidate) {
    const double reluctant = reluctance(library, candidate.config);
    const Result<gpu::KernelLaunch> launch = gpu::launch_of(gpu, candidate.config, timed, sim, cache_);
    if (!launch) return;
    if (best != nullptr) {
      if (gpu::least_time(gpu, *launch, sim, cache_).value * 1e6 * reluctant > best_us) return;
      const Result<gpu::SimReport> least = gpu::simulate_launch(gpu, *launch, all_in_l2, cache_);
      if (!least || least->time_us * reluctant > best_us) return;
    }
    const Result<gpu::SimReport> report = gpu::simulate_launch(gpu, *launch, sim, cache_);
    if (!report) return;
    const double us = report->time_us * reluctant;
    if (best != nullptr && (us > best_us || (us == best_us && &candidate > best))) return;
    best = &candidate;
    best_us = us;
  };
  if (candidates.size() > 1) {
    // A good one first.
    look_at(*std::ranges::min_element(candidates, {}, [&](const Candidate& one) {
      return estimate(gpu, one.config, timed, sim, nullptr).value * reluctance(library, one.config);
    }));
    for (const Candidate& candidate : candidates) {
      if (best != nullptr && candidate.bound.value * 1e6 * reluctance(library, candidate.config) > best_us) continue;
      look_at(candidate);
    }
  }
  if (best != nullptr) {
    kernels::KernelConfig config = best->config;
    kernels::name_as_library(config);
    return config;
  }
  return none_found(gpu, problem.frame);
}

}  // namespace noteg::tune
