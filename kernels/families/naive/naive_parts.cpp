#include "kernels/families/naive/naive_parts.hpp"

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int compiled_registers = 32;  // nvcc's allocation for every T; it sets how many CTAs fit

}  // namespace

AccessPattern naive_lanes(int tile, Space space, Matrix matrix, bool store, int bytes, int row_step, int column_step) {
  AccessPattern p;
  p.space = space;
  p.matrix = matrix;
  p.store = store;
  p.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  p.active_mask = lane_mask(tile * tile);
  const int pitch = space == Space::global ? static_cast<int>(nominal_pitch) : tile * f32_bytes;
  for (int lane = 0; lane < 32; ++lane) {
    p.offset[static_cast<std::size_t>(lane)] =
        static_cast<std::uint32_t>(lane / tile * row_step * pitch + lane % tile * column_step * f32_bytes);
  }
  return p;
}

void describe_naive(Program& program, int tile, const KernelConfig& config) {
  program.name = config.name.empty() ? "naive" : config.name;
  program.threads = tile * tile;
  program.warps = (program.threads + 31) / 32;
  program.shared_bytes = std::int64_t{2} * f32_bytes * tile * tile;
  program.k_per_iteration = tile;
  program.stages = 1;
  program.a_bytes_per_iteration = program.b_bytes_per_iteration = static_cast<double>(f32_bytes) * tile * tile;
}

Result<Program> finish_naive(Emitter& emitter, const BuildRequest& request) {
  auto program = finish(emitter, request);
  if (program && !request.config.registers) program->registers = compiled_registers;
  return program;
}

}  // namespace noteg::kernels
