// What `noteg generate` runs: GPUs (also perturbed ones), kernels, shapes, and how rows are taken from them. Read from
// a YAML file; every mistake in one result, at file:line:column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

enum class Method : std::uint8_t { grid, random, latin_hypercube, sobol };

[[nodiscard]] std::string_view name_of(Method method);

// Integers between two bounds, evenly spread in value or in logarithm. All are multiples of the step, the bounds
// too.
struct Span {
  std::int64_t low = 1, high = 1, multiple_of = 1;
  bool logarithmic = false;

  [[nodiscard]] std::int64_t at(double share) const;  // share: 0..1
};

// One extent of the problem: given numbers, or anything in a span.
struct ExtentAxis {
  std::vector<std::int64_t> values;
  std::optional<Span> span;
};

struct ShapeSpace {
  std::vector<kernels::GemmShape> list;  // where the file lists whole shapes; the axes are then unused
  ExtentAxis m, n, k, batch;
  double layers = 0, convolutions = 0;  // shares of the rows of a sampled sweep whose shapes models make
};

struct KernelAxis {
  std::string key;  // of kernels/config/config_keys.hpp
  std::vector<std::string> values;
};

// Kernels that share their axes: every base with every combination of values.
struct KernelBlock {
  std::vector<kernels::KernelConfig> bases;  // at least one
  std::vector<KernelAxis> axes;
  std::vector<std::size_t> gpus;  // indices into Sweep::gpus
};

// A number of the GPU is multiplied by a factor between these bounds, evenly spread in logarithm.
struct Jitter {
  std::size_t field = 0;  // index into arch::fields()
  double low = 1, high = 1;
};

struct Sweep {
  std::string file;
  std::string text;       // as written
  std::string canonical;  // path = value, a line each: what two files with the same meaning share
  Method method = Method::grid;
  std::size_t rows = 0;  // of a sampled sweep; of a grid they follow from the axes
  std::uint64_t seed = 1;
  std::vector<arch::GpuSpec> gpus;
  std::size_t copies = 0;  // perturbed copies of each GPU, beside the GPU itself
  std::vector<Jitter> jitter;
  ShapeSpace shapes;
  std::vector<KernelBlock> kernels;
  std::vector<std::string> labels{""};                   // rows that differ in nothing else: replicas
  std::vector<gpu::SimOptions> runs{gpu::SimOptions{}};  // with which options each row is run
};

inline constexpr std::size_t largest_sweep = 20'000'000;  // rows
inline constexpr std::size_t largest_axis = 100'000;      // values of one axis
inline constexpr std::size_t most_named = 1'000;          // GPUs or kernels that one list names

[[nodiscard]] Result<Sweep> load_sweep(const std::filesystem::path& path);
[[nodiscard]] Result<Sweep> read_sweep_text(std::string_view text, std::string name);

}  // namespace noteg::dataset
