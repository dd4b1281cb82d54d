// The rules of the wgmma family: warp groups of 128 threads, TMA into swizzled shared memory.
#include <algorithm>

#include "kernels/defaults.hpp"
#include "kernels/resolve_tensor.hpp"

namespace noteg::kernels {

Result<KernelConfig> resolve_wgmma(const KernelConfig& given, const GemmShape& shape) {
  KernelConfig config = given;
  Diagnostics errors = check_tensor_basics(config, shape);
  if (!errors.empty()) return errors;
  if (config.instruction == Tile{}) config.instruction = default_instruction(config);
  if (!config.schedule) config.schedule = Schedule::ws;
  if (!config.persistent) config.persistent = *config.schedule != Schedule::ws;
  if (!config.stages) config.stages = default_stages(config.family, config.flavor);
  if (!config.async_copy) config.async_copy = true;
  const int consumers = *config.schedule == Schedule::ws ? 1 : 2;
  if (!config.threads) config.threads = 128 * (1 + consumers);
  settle_tensor_alignment(config, shape, errors);
  if (!errors.empty()) return errors;
  if (!config.registers) config.registers = default_registers(config);
  if (!config.shared_bytes) config.shared_bytes = default_shared_bytes(config);
  return config;
}

}  // namespace noteg::kernels
