#include "kernels/config/defaults.hpp"

#include <algorithm>

#include "kernels/config/known_kernels.hpp"
#include "kernels/config/known_mma.hpp"
#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

constexpr int element_bytes = 4;  // the FFMA families take f32 only
constexpr int row_padding = 4;    // elements added to a row of a transposed operand: 16 bytes keep LDS.128 aligned

// How many times longer the long side is than the short one.
double elongation(int a, int b) { return static_cast<double>(std::max(a, b)) / static_cast<double>(std::min(a, b)); }

// Elements per row (one k) of padding that each transposed operand gets in shared memory.
int padding_elements(const KernelConfig& config) {
  if (config.family == Family::naive) return 0;
  if (config.family == Family::blocked) return row_padding;
  switch (config.flavor) {
    case Flavor::cublas:
    case Flavor::xmma: return row_padding;
    case Flavor::generic:
    case Flavor::cutlass:
      // CUTLASS pads so that the 32 threads that store a column hit 32 banks; cp.async instances are not padded.
      return config.async_copy.value_or(false) ? 0 : std::max(1, 32 / config.tile.k);
  }
  return 0;
}

// xmma stages the output tile through shared memory, 32 rows per row of warps at a time.
std::int64_t epilogue_bytes(const KernelConfig& config) {
  if (config.family != Family::simt || config.flavor != Flavor::xmma || !config.warp_m) return 0;
  const std::int64_t rows = std::min(config.tile.m, 32 * (config.tile.m / *config.warp_m));
  return rows * (config.tile.n + row_padding) * element_bytes;
}

int registers_of_xmma(int accumulators) {
  if (accumulators <= 16) return 80;
  if (accumulators <= 32) return 126;
  return accumulators <= 64 ? 222 : 255;
}

// Accumulators, two sets of fragments, and what addresses, loop and predicates took in the kernels that were read.
int registers_of_simt(const KernelConfig& config) {
  const int thread_m = config.thread_m.value_or(1);
  const int thread_n = config.thread_n.value_or(1);
  const int accumulators = thread_m * thread_n;
  const int operands = accumulators + 2 * (thread_m + thread_n);
  if (config.flavor == Flavor::xmma) return registers_of_xmma(accumulators);
  if (config.flavor == Flavor::cublas) return std::min(255, operands + 24);
  if (accumulators >= 128) return 254;
  const int mixed_layout = k_contiguous_operands(config.layout) == 1 ? 4 : 0;
  const int staged_loads = config.async_copy.value_or(false) ? 0 : 5;
  return std::min(255, operands + 32 + mixed_layout + staged_loads);
}

int registers_of_blocked(const KernelConfig& config) {
  const int thread_m = config.thread_m.value_or(1);
  const int thread_n = config.thread_n.value_or(1);
  const int staged = (config.tile.m + config.tile.n) * config.tile.k / std::max(1, config.threads.value_or(32));
  return std::clamp(thread_m * thread_n + thread_m + thread_n + staged + 32, 32, 255);
}

// Accumulators, two sets of fragments, and what is left: fits the compiled kernels of known_mma within 3.
int registers_of_mma(const KernelConfig& config) {
  if (const std::optional<int> known = known_mma_registers(config)) return *known;
  const FormRegisters form = registers_of(tensor_form_of(config));
  const Tile& i = config.instruction;
  const int rows = config.warp_m.value_or(i.m) / i.m, columns = config.warp_n.value_or(i.n) / i.n;
  const int fragments = rows * (form.a + form.meta) + columns * form.b;
  const int accumulators = rows * columns * form.c;
  const int deep = config.tile.k / config.sliced_k.value_or(1) / i.k >= 4 && fragments > 16 ? 14 : 0;
  return std::clamp(accumulators + 2 * fragments + 28 + fragments / 4 + deep, 40, 255);
}

// Bytes of one operand tile of `extent` rows along K (or `k` rows where K is not contiguous).
std::int64_t operand_bytes(const KernelConfig& config, int extent, bool along_k, double share_of_k, double bytes) {
  const double k = config.tile.k * share_of_k;
  const double rows = along_k ? extent : k;
  const double row = (along_k ? k : extent) * bytes;
  const double padding = config.shared_layout == SharedLayout::padded ? 16 : 0;
  return static_cast<std::int64_t>(rows * (row + padding));
}

std::int64_t shared_of_tensor(const KernelConfig& config) {
  const std::int64_t a = operand_bytes(config, config.tile.m, a_contiguous_in_k(config.layout),
                                       config.sparse ? 0.5 : 1.0, bytes_of(config.dtype_in));
  const std::int64_t b =
      operand_bytes(config, config.tile.n, !b_contiguous_in_n(config.layout), 1.0, bytes_of_b(config));
  // Two bits for each value that is kept.
  const std::int64_t meta = config.sparse ? std::int64_t{config.tile.m} * config.tile.k / 8 : 0;
  return config.stages.value_or(1) * (a + b + meta);
}

}  // namespace

int default_tensor_depth(const KernelConfig& config) {
  const double bytes = copies_in_bulk(config.family) ? 128 : 64;
  return static_cast<int>(bytes / bytes_of(config.dtype_in)) * (config.sparse ? 2 : 1) * config.sliced_k.value_or(1);
}

Tile default_instruction(const KernelConfig& config) {
  const int k = static_cast<int>(32 / bytes_of(config.dtype_in)) * (config.sparse ? 2 : 1);
  if (config.family == Family::wgmma) {
    const bool rows_along_n = config.tile.m % 64 != 0 && config.tile.n % 64 == 0;
    if (rows_along_n) return {std::clamp(config.tile.m, 8, 256), 64, k};
    return {64, std::clamp(config.tile.n, 8, 256), k};
  }
  if (config.family == Family::tcgen05) {  // a pair of CTAs where the cluster has one along the rows
    KernelConfig one = config;
    one.instruction = {config.tile.m, config.tile.n, k};
    const MemoryFrame frame = memory_frame(one).value_or(MemoryFrame{});
    if (frame.rows_along_m && config.cluster_m % 2 == 0) one.instruction.m *= 2;
    if (!frame.rows_along_m && config.cluster_n % 2 == 0) one.instruction.n *= 2;
    return one.instruction;
  }
  return {16, 8, k};
}

int default_stages(Family family, Flavor flavor) {
  if (family == Family::naive) return 1;
  if (family == Family::mma || copies_in_bulk(family)) return flavor == Flavor::xmma ? 3 : 4;
  if (family == Family::blocked || flavor == Flavor::cublas) return 2;
  return flavor == Flavor::xmma ? 3 : 4;
}

bool default_async_copy(Family family, Flavor flavor, int stages) {
  if (family == Family::mma) return stages != 2;
  return family == Family::simt && flavor != Flavor::cublas && stages >= 3;
}

std::optional<WarpGrid> default_warp_grid(const Tile& tile, int warps) {
  std::optional<WarpGrid> best;
  for (int along_m = warps; along_m >= 1; --along_m) {  // more warps along M first: strictly better replaces
    if (warps % along_m != 0) continue;
    const WarpGrid grid{along_m, warps / along_m};
    if (tile.m % grid.m != 0 || tile.n % grid.n != 0) continue;
    if (!best) {
      best = grid;
      continue;
    }
    const double shape = elongation(tile.m / grid.m, tile.n / grid.n);
    const double best_shape = elongation(tile.m / best->m, tile.n / best->n);
    if (shape < best_shape || (shape == best_shape && elongation(grid.m, grid.n) < elongation(best->m, best->n)))
      best = grid;
  }
  return best;
}

int default_threads(const KernelConfig& config) {
  if (config.family == Family::naive) return config.tile.m * config.tile.n;
  if (config.family == Family::blocked)
    return config.tile.m / config.thread_m.value_or(1) * (config.tile.n / config.thread_n.value_or(1));
  const int slices = config.sliced_k.value_or(1);
  if (config.warp_m && config.warp_n)
    return 32 * slices * (config.tile.m / *config.warp_m) * (config.tile.n / *config.warp_n);
  if (config.family == Family::mma)  // 4096 results per warp as far as four warps go
    return 32 * slices * std::clamp(config.tile.m * config.tile.n / 4096, 4, 8);
  if (const KnownKernel* known = find_known_kernel(config)) return known->threads;
  const int per_slice = std::clamp(config.tile.m * config.tile.n / 64, 32, std::max(32, 256 / slices));
  return per_slice / 32 * 32 * slices;
}

int default_registers(const KernelConfig& config) {
  if (config.family == Family::naive) return 32;
  if (copies_in_bulk(config.family)) return 168;
  if (config.family == Family::mma) return registers_of_mma(config);
  if (const KnownKernel* known = find_known_kernel(config); known != nullptr && known->registers != any)
    return known->registers;
  return config.family == Family::blocked ? registers_of_blocked(config) : registers_of_simt(config);
}

std::int64_t default_shared_bytes(const KernelConfig& config) {
  if (on_tensor_cores(config)) return shared_of_tensor(config);
  const KnownKernel* known = find_known_kernel(config);
  if (known != nullptr && known->shared_bytes != any) return known->shared_bytes;
  const std::int64_t padding = padding_elements(config);
  const std::int64_t row = config.tile.m + config.tile.n + padding * k_contiguous_operands(config.layout);
  const std::int64_t main_loop = config.stages.value_or(1) * config.tile.k * row * element_bytes;
  return std::max(main_loop, epilogue_bytes(config));
}

}  // namespace noteg::kernels
