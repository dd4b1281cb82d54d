// Parts of a sweep file: lists of values, extents, sets of kernels, options of the runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/dataset/sweep.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::dataset {

// A scalar, or the items of a sequence of scalars; anything else is reported.
struct Scalar {
  std::string text;
  const YamlNode* node = nullptr;
};
[[nodiscard]] std::vector<Scalar> scalars_of(YamlMapping& mapping, std::string_view key, const YamlNode& node);

// A number, a sequence of numbers, {from, to, times} or {from, to, step}; where spans may be used also
// {from, to, scale: log|linear, multiple_of}.
[[nodiscard]] ExtentAxis read_extent(YamlMapping& shape, std::string_view key, bool spans);

// Everything but `gpus`, which is left to the caller; unknown keys are reported here.
[[nodiscard]] KernelBlock read_kernel_block(YamlMapping& mapping, Diagnostics& errors);

[[nodiscard]] chip::SimOptions read_run_options(YamlMapping& run);

// path = value, a line for each scalar: comments, blanks, quotes and the form of sequences do not show.
[[nodiscard]] std::string canonical_text(const YamlNode& root);

}  // namespace noteg::dataset
