// Parts of a sweep file: lists of values, extents, sets of kernels, options of the runs.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dataset/sweep.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::dataset {

// A scalar, or the items of a sequence of at most `most` different scalars; anything else is reported.
struct Scalar {
  std::string text;
  const YamlNode* node = nullptr;
};
[[nodiscard]] std::vector<Scalar> scalars_of(YamlMapping& mapping, std::string_view key, const YamlNode& node,
                                             std::size_t most = largest_axis);

// The values of an axis as what they mean: one that comes again, written the same or otherwise (08 after 8, rtx4090
// after RTX4090), is reported where it stands.
template <class Value>
class Distinct {
 public:
  Distinct(YamlMapping& mapping, std::string key) : mapping_(mapping), key_(std::move(key)) {}
  bool add(Value value, const YamlNode& node) {
    const bool is_new = seen_.insert(std::move(value)).second;
    if (!is_new) mapping_.report(node, key_, "each value once", node.describe() + " again");
    return is_new;
  }

 private:
  YamlMapping& mapping_;
  std::string key_;
  std::set<Value> seen_;
};

// A number, a sequence of numbers, {from, to, times} or {from, to, step}; where spans may be used also
// {from, to, scale: log|linear, multiple_of}.
[[nodiscard]] ExtentAxis read_extent(YamlMapping& shape, std::string_view key, bool spans);

// Everything but `gpus`, which is left to the caller; unknown keys are reported here.
[[nodiscard]] KernelBlock read_kernel_block(YamlMapping& mapping, Diagnostics& errors);

// Every combination of the values of clock_mode, launches, operands and l2, each a value or a sequence of values.
// launches count in clock mode cool only. Rows are what noteg simulate says of them: runs of round numbers of k-tiles,
// with lines between them, pay from some 1500 shapes of one kernel on only.
[[nodiscard]] std::vector<gpu::SimOptions> read_run_options(YamlMapping& run);

// path = value, a line for each scalar: comments, blanks and the form of sequences do not show, quotes only where a
// text would read as something else without them.
[[nodiscard]] std::string canonical_text(const YamlNode& root);

}  // namespace noteg::dataset
