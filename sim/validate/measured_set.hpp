// What each collection of measurements means by its columns: how it writes layouts, whether L2 was warm, what its times
// hold beside the kernel. One row per value of the `source` column; docs of the sets are in tests/data/README.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_file.hpp"

namespace noteg::validate {

// What the letters of the `layout` column mean, and in which frame M and N are.
enum class Convention : std::uint8_t {
  row_major,         // ours: A then B, n = not transposed; C is row-major. Files of unknown origin are read like this
  blas_swapped,      // suffix of a kernel that was given C^T = B^T A^T; M and N already row-major (PyTorch)
  blas_storage,      // n / t say that A and B are stored column- / row-major, C is row-major; rr = both row-major
  blas_column_major  // the same letters, but C is column-major too: the kernel solves the transposed problem
};

struct MeasuredSet {
  std::string_view source;
  Convention convention = Convention::row_major;
  gpu::L2State l2 = gpu::L2State::warm;
  bool host_included = false;    // times from before the host dispatches the operator: see measured_source.hpp
  bool power_is_kernels = true;  // power_w is the board's power while the kernel runs
  bool fused_bias = false;       // op linear adds a bias in the epilogue
  std::string_view note;         // one sentence, for reports
  power::ClockMode clock_mode = power::ClockMode::sustained;  // of rows without a clock
  std::optional<int> launches = std::nullopt;                 // cool: up to the last one that the time is taken from
  int warm_up = 0;                                            // of the launches: before the first one timed
  std::string_view limited_gpus = "";  // "a,b": what ran before had heated them and filled the limiter: no free start
  double operand_activity = 1;         // how much the operands' bits change, 1: random (power::Toggling)
  int buffers = 0;                     // sets of operands that the launches go round: L2 is warm where all fit
  bool before_nvjet = false;           // a cuBLAS of 2023: of Hopper's kernels only those of xmma
};

// Random activations on weights that nobody wrote: operand_activity of such rows. FITTED: median time over that of the
// twin with random weights, rows over 0.5 ms of A100, H100 and B200. Chosen while looking at all of these twins, so
// they do not validate it.
inline constexpr double unwritten_weights = 0.8;

[[nodiscard]] std::span<const MeasuredSet> measured_sets();

// A source that is not in the table has our own conventions, warm L2 and pure kernel times.
[[nodiscard]] MeasuredSet measured_set_of(std::string_view source);

// Those that the rows name and the table lacks, in order of appearance.
[[nodiscard]] std::vector<std::string> unknown_sources(const MeasuredData& data);

// The letters in the row-major reading of the problem as the file states M and N.
[[nodiscard]] std::optional<kernels::Layout> layout_of(Convention convention, std::string_view letters);

// What was measured, and under which conditions: the row's columns as its set means them.
void read_measurement(RowView& row, const MeasuredSet& set, TimeColumn time, MeasuredCase& measured);

}  // namespace noteg::validate
