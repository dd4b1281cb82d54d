#include "kernels/families/clblast/clblast_plan.hpp"

#include <algorithm>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int register_file = 65536, register_unit = 8, most_registers = 255;
constexpr int other_registers = 18;  // addresses, counters

int vectors(const ClblastOperand& o) { return o.per_thread() / o.width; }

// Of one step: all of A, of B those whose products are due and the next, half of them where they are many.
int fragment_registers(const ClblastPlan& plan) {
  return plan.a.per_thread() + std::max(std::min(plan.b.per_thread(), 4), plan.b.per_thread() / 2);
}

int whole_units(int registers) { return registers / register_unit * register_unit; }

int ctas_in_shared_memory(const ClblastPlan& plan, const LatencyModel& model) {
  const int staged = (plan.a.is_staged ? plan.a.extent : 0) + (plan.b.is_staged ? plan.b.extent : 0);
  const int most = std::min(model.most_ctas, model.most_threads / plan.threads);
  if (staged == 0) return most;
  return std::min(most, model.shared_memory / (f32_bytes * plan.tile.k * staged + model.shared_memory_reserved));
}

bool unrolls_fully(const ClblastPlan& plan) { return unrolled_steps(plan) == plan.tile.k; }

}  // namespace

// A loop of constant length goes where what is left of it is small. Behind an address that is then a constant a load
// from shared memory leaves less than it was; one from global memory leaves its address, a multiple of the pitch.
int unrolled_steps(const ClblastPlan& plan) {
  constexpr int per_product = 2, per_global = 9, saved_per_shared = 6;
  constexpr int most = 94 * 32, most_unstaged = 40 * 32;  // of a tile of 32 k
  int local = 0, global = 0;
  for (const ClblastOperand* o : {&plan.a, &plan.b}) (o->is_staged ? local : global) += vectors(*o);
  const int step = per_product * plan.accumulators() + per_global * global - saved_per_shared * local;
  const bool is_staged = local > 0;
  if (step * plan.tile.k < (is_staged ? most : most_unstaged)) return plan.tile.k;
  constexpr int partly = 8;
  if (!is_staged && step * 32 < most && plan.tile.k % partly == 0) return std::max(plan.kwi, partly);
  return plan.kwi;
}

int register_budget(const ClblastPlan& plan, const LatencyModel& model) {
  const int steps = unrolls_fully(plan) ? 2 : 1;  // whose fragments are alive
  const int least = std::min(most_registers, plan.accumulators() + steps * fragment_registers(plan) + other_registers);
  const int by_registers = register_file / ((least + register_unit - 1) / register_unit * register_unit * plan.threads);
  const int ctas = std::max(1, std::min(ctas_in_shared_memory(plan, model), by_registers));
  return std::min(most_registers, whole_units(register_file / (ctas * plan.threads)));
}

int copied_at_once(const ClblastPlan& plan, int budget) {
  return std::max(8, budget - plan.accumulators() - other_registers);
}

// Six in ten of the registers that are left hold such loads, fewer where many threads share the file, and it is no more
// than 16 steps.
int steps_ahead(const ClblastPlan& plan, const ClblastOperand& o, int budget) {
  if (!unrolls_fully(plan)) return 0;
  const int left = budget - plan.accumulators() - fragment_registers(plan) - other_registers;
  const int in_flight = std::min(left * 6 / 10, 6 + 768 / plan.threads);
  return std::clamp(in_flight / o.per_thread(), 1, std::min(16, plan.tile.k));
}

}  // namespace noteg::kernels
