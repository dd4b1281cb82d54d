#include "sim/report/counters.hpp"

#include <fmt/format.h>

namespace noteg::report {
namespace {

using gpu::SimReport;

template <class Number>
Value whole(Number number) {
  return static_cast<std::int64_t>(number);
}

// After resolve() nothing is absent that the family uses; what it does not use (a warp tile of a naive kernel) reads 0.
template <class Number>
Value whole(const std::optional<Number>& number) {
  return static_cast<std::int64_t>(number.value_or(0));
}

Value words(std::string_view text) { return std::string(text); }

std::vector<Counter> identity() {
  return {
      {"kernel.name", Unit::none, "name as given, empty if none was",
       [](const SimReport& r) -> Value { return r.kernel.name; }},
      {"kernel.family", Unit::none, "family of kernels that the instruction stream is built as",
       [](const SimReport& r) { return words(name_of(r.kernel.family)); }},
      {"kernel.flavor", Unit::none, "whose code generation the instruction stream imitates",
       [](const SimReport& r) { return words(name_of(r.kernel.flavor)); }},
      {"kernel.dtype_in", Unit::none, "type of A and B",
       [](const SimReport& r) { return words(name_of(r.kernel.dtype_in)); }},
      {"kernel.dtype_acc", Unit::none, "type of the accumulators",
       [](const SimReport& r) { return words(name_of(r.kernel.dtype_acc)); }},
      {"kernel.dtype_out", Unit::none, "type of C",
       [](const SimReport& r) { return words(name_of(r.kernel.dtype_out)); }},
      {"kernel.layout", Unit::none, "A then B in the row-major reading, n is not transposed",
       [](const SimReport& r) { return words(name_of(r.kernel.layout)); }},
      {"kernel.m", Unit::count, "rows of C", [](const SimReport& r) { return whole(r.shape.m); }},
      {"kernel.n", Unit::count, "columns of C", [](const SimReport& r) { return whole(r.shape.n); }},
      {"kernel.k", Unit::count, "depth of the product", [](const SimReport& r) { return whole(r.shape.k); }},
      {"kernel.batch", Unit::count, "independent products in one launch",
       [](const SimReport& r) { return whole(r.shape.batch); }},
  };
}

std::vector<Counter> tiling() {
  return {
      {"kernel.tile_m", Unit::count, "CTA tile along M", [](const SimReport& r) { return whole(r.kernel.tile.m); }},
      {"kernel.tile_n", Unit::count, "CTA tile along N", [](const SimReport& r) { return whole(r.kernel.tile.n); }},
      {"kernel.tile_k", Unit::count, "CTA tile along K", [](const SimReport& r) { return whole(r.kernel.tile.k); }},
      {"kernel.warp_m", Unit::count, "warp tile along M, 0 where warps have none",
       [](const SimReport& r) { return whole(r.kernel.warp_m); }},
      {"kernel.warp_n", Unit::count, "warp tile along N, 0 where warps have none",
       [](const SimReport& r) { return whole(r.kernel.warp_n); }},
      {"kernel.thread_m", Unit::count, "results of one thread along M",
       [](const SimReport& r) { return whole(r.kernel.thread_m); }},
      {"kernel.thread_n", Unit::count, "results of one thread along N",
       [](const SimReport& r) { return whole(r.kernel.thread_n); }},
      {"kernel.static_tile", Unit::claim, "a naive kernel's tile is known to the compiler",
       [](const SimReport& r) -> Value { return r.kernel.static_tile; }},
      {"kernel.threads", Unit::count, "threads of a CTA", [](const SimReport& r) { return whole(r.kernel.threads); }},
      {"kernel.stages", Unit::count, "shared-memory buffers in the pipeline, 1 is a single buffer",
       [](const SimReport& r) { return whole(r.kernel.stages); }},
      {"kernel.sliced_k", Unit::count, "groups of warps that split K inside the tile",
       [](const SimReport& r) { return whole(r.kernel.sliced_k); }},
      {"kernel.split_k", Unit::count, "CTAs that share one tile of C",
       [](const SimReport& r) { return whole(r.kernel.split_k); }},
      {"kernel.split_k_mode", Unit::none, "how those CTAs add up: none, serial or parallel",
       [](const SimReport& r) { return words(name_of(r.kernel.split_k_mode)); }},
  };
}

std::vector<Counter> details() {
  return {
      {"kernel.raster", Unit::none, "coordinate along which consecutive CTAs move",
       [](const SimReport& r) { return words(name_of(r.kernel.raster)); }},
      {"kernel.swizzle_log2", Unit::count, "log2 of the columns of tiles that the raster interleaves",
       [](const SimReport& r) { return whole(r.kernel.swizzle_log2); }},
      {"kernel.align_a", Unit::count, "elements of A in one global access",
       [](const SimReport& r) { return whole(r.kernel.align_a); }},
      {"kernel.align_b", Unit::count, "elements of B in one global access",
       [](const SimReport& r) { return whole(r.kernel.align_b); }},
      {"kernel.align_c", Unit::count, "elements of C in one global access",
       [](const SimReport& r) { return whole(r.kernel.align_c); }},
      {"kernel.async_copy", Unit::claim, "tiles are copied by LDGSTS instead of LDG and STS",
       [](const SimReport& r) -> Value { return r.kernel.async_copy.value_or(false); }},
      {"kernel.reads_c", Unit::claim, "beta is not 0: C is read too",
       [](const SimReport& r) -> Value { return r.kernel.reads_c; }},
      {"kernel.bias", Unit::claim, "a bias vector is added in the epilogue",
       [](const SimReport& r) -> Value { return r.kernel.bias; }},
      {"kernel.registers", Unit::count, "registers of a thread",
       [](const SimReport& r) { return whole(r.registers_per_thread); }},
      {"kernel.shared_bytes", Unit::bytes, "shared memory of a CTA",
       [](const SimReport& r) { return whole(r.shared_bytes_per_cta); }},
      {"kernel.grid_ctas", Unit::count, "CTAs in the grid", [](const SimReport& r) { return whole(r.grid_ctas); }},
  };
}

std::string extents_of(const kernels::Tile& tile) {
  return tile == kernels::Tile{} ? "" : fmt::format("{}x{}x{}", tile.m, tile.n, tile.k);
}

// Empty, false and 1x1 where the family has none.
std::vector<Counter> tensor() {
  return {
      {"kernel.instruction", Unit::none, "shape of one matrix instruction",
       [](const SimReport& r) -> Value { return extents_of(r.kernel.instruction); }},
      {"kernel.shared_layout", Unit::none, "how tiles lie in shared memory: swizzled, padded or plain",
       [](const SimReport& r) -> Value {
         return r.kernel.shared_layout ? std::string(name_of(*r.kernel.shared_layout)) : std::string();
       }},
      {"kernel.sparse", Unit::claim, "A is 2:4 sparse", [](const SimReport& r) -> Value { return r.kernel.sparse; }},
      {"kernel.cluster", Unit::none, "CTAs of a cluster along M and N",
       [](const SimReport& r) -> Value { return fmt::format("{}x{}", r.kernel.cluster_m, r.kernel.cluster_n); }},
      {"kernel.schedule", Unit::none, "how warp groups share the work: ws, coop or pingpong",
       [](const SimReport& r) -> Value {
         return r.kernel.schedule ? std::string(name_of(*r.kernel.schedule)) : std::string();
       }},
      {"kernel.persistent", Unit::claim, "CTAs take one tile after the other",
       [](const SimReport& r) -> Value { return r.kernel.persistent.value_or(false); }},
  };
}

}  // namespace

std::vector<Counter> kernel_counters() {
  std::vector<Counter> all = identity();
  for (std::vector<Counter>& part : std::vector{tiling(), tensor(), details()})
    for (Counter& counter : part) all.push_back(std::move(counter));
  return all;
}

}  // namespace noteg::report
