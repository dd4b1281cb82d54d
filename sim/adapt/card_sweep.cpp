#include "sim/adapt/card_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "arch/load.hpp"
#include "kernels/names/library_name.hpp"
#include "sim/support/comma_list.hpp"
#include "sim/tune/menu.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::adapt {
namespace {

// A shape that every kernel of a menu takes: what is asked of it is its name.
constexpr kernels::GemmShape any_shape{4096, 4096, 4096, 1};

// The menu's kernels of a type by name, those layouts that libraries are asked for most: operands as they are stored,
// and weights transposed.
std::vector<std::string> library_names(const arch::GpuSpec& gpu, kernels::DataType type) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const kernels::Layout layout : {kernels::Layout::nn, kernels::Layout::tn}) {
    kernels::KernelConfig frame;
    tune::set_types(frame, type);
    frame.layout = layout;
    for (const kernels::KernelConfig& kernel : tune::library_kernels(gpu, frame)) {
      Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, any_shape);
      if (!resolved) continue;
      kernels::name_as_library(*resolved);
      if (kernels::config_from_name(resolved->name) && known.insert(resolved->name).second)
        names.push_back(resolved->name);
    }
  }
  return names;
}

std::string sequence(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + fmt::format("\"{}\"", word);
  return "[" + text + "]";
}

// K whole in five of eight rows: a library cuts it only where the grid leaves SMs idle.
std::string blocks_of(const std::string& gpu, const std::vector<std::string>& names) {
  const std::string common = fmt::format("gpus: \"{}\", kernel_name: {}", gpu, sequence(names));
  return fmt::format("  - {{{0}}}\n  - {{{0}, split_k: [1, 2, 4, 8]}}\n", common);
}

// What the CUTLASS profiler runs in f32, beside the library's own kernels.
std::string cutlass_block(const std::string& gpu) {
  return fmt::format(
      "  - {{gpus: \"{}\", family: simt, tile: [128x128x8, 128x64x8, 64x128x8, 64x64x8, 256x128x8], stages: [2, 3, 4, "
      "5],\n     layout: [nn, nt, tn, tt], swizzle_log2: [0, 1, 2], reads_c: [false, true]}}\n",
      gpu);
}

}  // namespace

Result<std::string> card_sweep(const CardSweep& wanted) {
  std::string kernels;
  Diagnostics errors;
  for (const std::string& name : wanted.gpus) {
    const Result<arch::GpuSpec> gpu = arch::load_gpu(name);
    if (!gpu) {
      errors.insert(errors.end(), gpu.errors().begin(), gpu.errors().end());
      continue;
    }
    for (const kernels::DataType type : wanted.types) {
      const std::vector<std::string> names = library_names(*gpu, type);
      if (!names.empty()) kernels += blocks_of(name, names);
      if (type == kernels::DataType::f32) kernels += cutlass_block(name);
      if (names.empty() && type != kernels::DataType::f32)
        errors.push_back({"", 0, 0, "--dtype", "types that the libraries have kernels of for " + gpu->name,
                          std::string(kernels::name_of(type))});
    }
  }
  if (!errors.empty()) return errors;
  return fmt::format(
      "method: sobol\nrows: {}\nseed: {}\ngpus: {}\n"
      "shape:\n  layers: 0.4\n  convolutions: 0.1\n"
      "  m: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  n: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  k: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  batch: {{from: 1, to: 64, scale: log}}\n"
      "kernels:\n{}"
      "run: {{clock_mode: [sustained, cool, burst], launches: [10, 100, 1000], operands: [1, 0.7, 0.4, 0],\n"
      "      l2: [warm, cold, steady]}}\n",
      wanted.rows, wanted.seed, sequence(wanted.gpus), kernels);
}

}  // namespace noteg::adapt
