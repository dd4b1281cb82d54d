#include "kernels/families/triton/triton.hpp"

#include <algorithm>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int widest = 16;                             // bytes of an access
constexpr int narrowest_async = 4;                     // bytes of a cp.async
constexpr int rows_of_block = 64, most_columns = 256;  // of wgmma

// Elements that a thread moves at a time along the contiguous dimension (Triton's Coalesce pass): as many as alignment
// allows, up to 16 bytes, and no more than a thread has of the tile.
int vector_elements(std::int64_t elements, int threads, int align, double bytes) {
  const auto each = std::max<std::int64_t>(1, elements / threads);
  return static_cast<int>(std::min<std::int64_t>({each, align, static_cast<std::int64_t>(widest / bytes)}));
}

MmaOperand operand_of(const KernelConfig& config, bool of_a, TritonCopy& copy) {
  MmaOperand o;
  o.matrix = of_a ? Matrix::a : Matrix::b;
  o.along_k = of_a ? a_contiguous_in_k(config.layout) : !b_contiguous_in_n(config.layout);
  const double bytes = bytes_of(of_a ? config.dtype_in : config.dtype_b.value_or(config.dtype_in));
  const int extent = of_a ? config.tile.m : config.tile.n;
  const int threads = config.threads.value_or(128);
  o.rows = o.along_k ? extent : config.tile.k;
  o.row_bytes = static_cast<int>((o.along_k ? config.tile.k : extent) * bytes);
  o.stride = o.row_bytes;
  const int align = (of_a ? config.align_a : config.align_b).value_or(1);
  // wgmma transposes 16-bit operands alone: words of others change places on their way.
  const bool turned = config.instruction.m == rows_of_block && bytes == 4 && !o.along_k;
  const int vector = turned ? 1 : vector_elements(std::int64_t{extent} * config.tile.k, threads, align, bytes);
  o.access_bytes = std::max(1, static_cast<int>(vector * bytes));
  o.copies = std::max(1, o.rows * o.row_bytes / (o.access_bytes * threads));
  o.by_matrix = bytes == 2 || o.along_k;
  copy.element_bytes = bytes;
  copy.elements = std::max(1, extent * config.tile.k / threads);
  copy.pointers = o.access_bytes < narrowest_async ? 0 : o.copies;  // narrower ones by an index each
  copy.is_widest = vector == vector_elements(std::int64_t{extent} * config.tile.k, threads, widest, bytes);
  copy.is_async = config.stages.value_or(1) > 1 && o.access_bytes >= narrowest_async;
  return o;
}

// Copies keep two registers of pointer each and as many of what else they need; 10 others: 58 to 218 where the twelve
// configurations of tests/data/triton_sm90.csv take 58 to 216.
TritonPlan plan_on_warpgroups(const KernelConfig& config, TritonPlan plan) {
  MmaPlan& m = plan.mma;
  m.form = tensor_form_of(config);
  m.regs = registers_of(m.form);
  const int groups = m.warps / 4;
  plan.blocks = std::max(1, config.tile.m * config.tile.n / (rows_of_block * config.instruction.n * groups));
  m.warp_rows = plan.blocks;
  m.warp_columns = 1;
  m.k_groups = std::max(1, config.tile.k / config.instruction.k);
  const int live = plan.blocks * m.regs.c + 4 * (m.a.copies + m.b.copies) + 10;
  plan.registers = std::clamp(live, 32, most_registers);
  plan.spilled_words = std::max(0, live - most_registers);
  return plan;
}

TritonThreads threads_of(const Tile& tile, int threads) {
  TritonThreads t;
  const int each = tile.m * tile.n / threads;
  t.size = each >= 16 ? 4 : each >= 4 ? 2 : 1;
  const int columns = std::max(1, tile.n / t.size), rows = std::max(1, tile.m / t.size);
  t.lanes_n = std::min(32, columns);
  t.lanes_m = 32 / t.lanes_n;
  const int warps = threads / 32;
  t.warps_n = std::clamp(columns / t.lanes_n, 1, warps);
  t.warps_m = warps / t.warps_n;
  t.repeats_n = std::max(1, columns / (t.lanes_n * t.warps_n));
  t.repeats_m = std::max(1, rows / (t.lanes_m * t.warps_m));
  return t;
}

}  // namespace

// Triton's warpsPerTile of mma layouts, version 2: warps go where more instructions (16 x 16 here) are left.
TritonGrid triton_warps(const Tile& tile, int warps) {
  TritonGrid g;
  while (g.warps_m * g.warps_n < warps) {
    const int left_m = tile.m / 16 / g.warps_m, left_n = tile.n / 16 / g.warps_n;
    if (left_m >= left_n && g.warps_m < tile.m / 16)
      g.warps_m *= 2;
    else
      g.warps_n *= 2;
  }
  return g;
}

// Warps of a group lie along M; further groups take further 64 rows, then further columns.
std::optional<Tile> triton_warpgroup_instruction(const KernelConfig& config) {
  const int warps = config.threads.value_or(128) / 32;
  const bool fits =
      config.dtype_in == DataType::f16 || config.dtype_in == DataType::bf16 || config.dtype_in == DataType::tf32;
  if (!fits || config.dtype_b || config.tile.m < rows_of_block || warps % 4 != 0) return std::nullopt;
  const int along_m = std::min(warps / 4, config.tile.m / rows_of_block);
  const int columns = std::min(most_columns, config.tile.n / (warps / 4 / along_m));
  if (columns < 8 || config.tile.n % columns != 0) return std::nullopt;
  return Tile{rows_of_block, columns, static_cast<int>(32 / bytes_of(config.dtype_in))};
}

TritonPlan plan_triton(const KernelConfig& config) {
  TritonPlan plan;
  MmaPlan& m = plan.mma;
  m.tile = config.tile;
  m.threads = config.threads.value_or(128);
  m.warps = m.threads / 32;
  m.stages = config.stages.value_or(3);
  plan.is_ffma = config.dtype_in == DataType::f32;
  plan.casts_b = config.dtype_b.has_value();
  plan.scales = is_float8(config.dtype_in);
  plan.gathers = config.gathers_rows || plan.scales;
  m.a = operand_of(config, true, plan.a);
  m.b = operand_of(config, false, plan.b);
  m.is_async = plan.a.is_async || plan.b.is_async;
  plan.buffers = std::max(1, m.stages - 1);
  m.shared_bytes = config.shared_bytes.value_or(0);
  int fragments = 0, accumulators = 0;
  plan.on_warpgroups = config.instruction.m == rows_of_block;
  if (plan.on_warpgroups) return plan_on_warpgroups(config, std::move(plan));
  if (plan.is_ffma) {
    m.layout = SharedLayout::plain;
    plan.threads = threads_of(config.tile, m.threads);
    accumulators = plan.threads.thread_m() * plan.threads.thread_n();
    fragments = 8 * (plan.threads.thread_m() + plan.threads.thread_n());
  } else {
    m.form = tensor_form_of(config);
    m.regs = registers_of(m.form);
    const TritonGrid grid = triton_warps(config.tile, m.warps);
    m.warp_rows = std::max(1, config.tile.m / grid.warps_m / m.form.shape.m);
    m.warp_columns = std::max(1, config.tile.n / grid.warps_n / m.form.shape.n);
    m.k_groups = config.tile.k / m.form.shape.k;
    m.a.registers = m.warp_rows * m.regs.a;
    m.b.registers = m.warp_columns * m.regs.b;
    accumulators = m.mma_per_group() * m.regs.c * (plan.scales ? 2 : 1);
    fragments = 2 * (m.a.registers + m.b.registers);
  }
  // Beside these addresses of the tile, the loop and the masks: 2 to 46 in the kernels of known_triton.cpp, 18 on
  // average.
  constexpr int most_ahead = 190, on_their_way = 48;  // copies by way of registers hold some
  plan.is_tight = accumulators + fragments + plan.a.pointers + plan.b.pointers + (plan.casts_b ? m.b.registers : 0) +
                      (plan.a.is_async && plan.b.is_async ? 0 : on_their_way) >
                  most_ahead;
  if (plan.is_ffma) fragments /= 2;
  const int staged = (plan.a.is_async ? 0 : m.a.copies * std::max(1, m.a.access_bytes / 4)) +
                     (plan.b.is_async ? 0 : m.b.copies * std::max(1, m.b.access_bytes / 4));
  const int live = accumulators + std::max(fragments, staged) + 2 * (plan.a.pointers + plan.b.pointers) + 18;
  const std::optional<TritonRegisters> known =
      plan.a.is_widest && plan.b.is_widest ? known_triton_registers(config) : std::nullopt;
  plan.registers = known ? known->registers : std::clamp(live, 32, most_registers);
  plan.spilled_words = known ? known->stack_bytes / 4 : std::max(0, live - most_registers);
  return plan;
}

std::int64_t triton_shared_bytes(const KernelConfig& config) {
  const TritonPlan plan = plan_triton(config);
  const auto tile = [&](const MmaOperand& o, const TritonCopy& copy) {
    const int buffers = plan.buffers + (plan.on_warpgroups ? 1 : 0);
    return std::int64_t{o.rows} * o.row_bytes * (copy.is_async ? buffers : 1);
  };
  const TritonStore store = plan_triton_store(config);
  return std::max(tile(plan.mma.a, plan.a) + tile(plan.mma.b, plan.b), std::int64_t{store.rows} * store.stride);
}

bool reads_along_k(const TritonPlan& plan, bool of_a) { return of_a ? plan.mma.a.along_k : plan.mma.b.along_k; }

AccessPattern triton_ffma_pattern(const TritonPlan& plan, bool of_a, int bytes) {
  const MmaOperand& o = of_a ? plan.mma.a : plan.mma.b;
  const TritonThreads& t = plan.threads;
  AccessPattern p;
  p.space = Space::shared;
  p.matrix = o.matrix;
  p.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const int place = (of_a ? lane / t.lanes_n : lane % t.lanes_n) * t.size;
    p.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(place * (o.along_k ? o.stride : 4));
  }
  return p;
}

// getScratchConfigForCvtLayout: the larger of both layouts' tiles in either dimension at a time, rows padded by 16
// bytes or a vector.
TritonStore plan_triton_store(const KernelConfig& config) {
  const TritonPlan plan = plan_triton(config);
  const int threads = plan.mma.threads;
  const int bytes = static_cast<int>(bytes_of(config.dtype_out));
  TritonStore s;
  const int vector =
      vector_elements(std::int64_t{config.tile.m} * config.tile.n, threads, config.align_c.value_or(1), bytes);
  s.vector_bytes = vector * bytes;
  const int lanes_n = std::clamp(config.tile.n / vector, 1, 32);
  const int warps_n = std::clamp(config.tile.n / (vector * lanes_n), 1, plan.mma.warps);
  const int out_rows = 32 / lanes_n * (plan.mma.warps / warps_n);
  int in_rows = 0, in_columns = 0;
  if (plan.is_ffma) {
    in_rows = plan.threads.size * plan.threads.lanes_m * plan.threads.warps_m;
    in_columns = plan.threads.size * plan.threads.lanes_n * plan.threads.warps_n;
  } else {
    const TritonGrid grid =
        plan.on_warpgroups ? TritonGrid{plan.mma.warps, 1} : triton_warps(config.tile, plan.mma.warps);
    in_rows = 16 * grid.warps_m;
    in_columns = 8 * grid.warps_n;
  }
  s.rows = std::min(config.tile.m, std::max(in_rows, out_rows));
  s.columns = std::min(config.tile.n, std::max(in_columns, vector * lanes_n * warps_n));
  s.steps = std::max(1, config.tile.m * config.tile.n / (s.rows * s.columns));
  const int width = plan.is_ffma ? plan.threads.size : 2;
  s.write_bytes = std::min(widest, width * bytes);
  s.stride = s.columns * bytes + std::max(s.write_bytes, s.vector_bytes);
  const int each = std::max(1, s.rows * s.columns / threads);
  s.writes = std::max(1, each / width);
  s.reads = std::max(1, each / vector);
  return s;
}

}  // namespace noteg::kernels
