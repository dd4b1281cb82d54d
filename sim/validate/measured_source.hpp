// What is known of measured sets beside their rows: the host's part of their times, the kernels behind their names, and
// the halves of their shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/config/config.hpp"
#include "kernels/config/shape.hpp"

namespace noteg::validate {

struct HostTime {
  double floor_us = 0;          // the host's own time for one operator: a kernel shorter than this does not show
  double lead_us = 0;           // start event to kernel start when the GPU is the slower side
  double second_launch_us = 0;  // what the floor grows by where the operator launches a second kernel
};

// One row per (source, operator, GPU) that was measured with host dispatch inside.
struct HostTimeRow {
  std::string_view source, op, gpu;
  HostTime time;
};

[[nodiscard]] std::span<const HostTimeRow> host_times();

// Zero for every set without host dispatch.
[[nodiscard]] HostTime host_time_of(std::string_view source, std::string_view op, std::string_view gpu);

// Time that the measurement would show for `kernels` kernels that keep the GPU busy for gpu_us in all.
[[nodiscard]] double with_host(const HostTime& host, double gpu_us, int kernels = 1);

// Hand-written kernels whose names stand in published tables and say neither family nor register block. Only what their
// authors document is listed; a kernel whose tile is not recorded in the row is skipped, not guessed.

// Of a row that a library ran: no tile, but a catalogue from which it chose.
inline constexpr std::string_view library_call = "library call: its kernel was not recorded";

struct PublishedKernel {
  std::string_view source, name;
  kernels::Family family = kernels::Family::naive;
  int thread_m = 1, thread_n = 1;
  int align = 4;                   // elements per global access
  std::string_view inexpressible;  // not empty: why the model has no such kernel
};

[[nodiscard]] std::optional<PublishedKernel> published_kernel(std::string_view source, std::string_view name);

// Shapes divided into two halves by a hash, so that a constant of a measured set is fitted on one half and judged on
// the other. Every row of one shape is in the same half, on every GPU.

enum class Half : std::uint8_t { fitted, judged };

[[nodiscard]] constexpr std::uint64_t shape_hash(const kernels::GemmShape& shape) {
  std::uint64_t hash = 0;
  for (const std::int64_t extent : {shape.batch, shape.m, shape.n, shape.k}) {
    hash = (hash ^ static_cast<std::uint64_t>(extent)) * 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

[[nodiscard]] constexpr Half half_of(const kernels::GemmShape& shape) {
  return (shape_hash(shape) & 1) == 0 ? Half::fitted : Half::judged;
}

// One shape in five, by other bits of the hash than the halves.
[[nodiscard]] constexpr bool in_held_out_fifth(const kernels::GemmShape& shape) {
  return (shape_hash(shape) >> 1) % 5 == 0;
}

[[nodiscard]] constexpr std::string_view name_of(Half half) { return half == Half::fitted ? "fitted" : "judged"; }

}  // namespace noteg::validate
