// What the compiler decides about a CLBlast kernel: how far it unrolls the loop over k, how many registers it takes and
// how far ahead it loads. Rules read off nvcc 13's translations of CLBlast's source for sm_86, 262 configurations drawn
// from its tuning space: no measured time is behind them.
#pragma once

#include "kernels/families/clblast/clblast_plan.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// k values of one iteration of the inner loop: all of the tile or about as many as the source unrolls (97 % of the
// configurations).
[[nodiscard]] int unrolled_steps(const ClblastPlan& plan);

// Registers that a thread may have: as many as leave room for the CTAs that shared memory and the least registers that
// the kernel can do with let an SM hold (86 % of the configurations hold as many CTAs as so predicted).
[[nodiscard]] int register_budget(const ClblastPlan& plan, const LatencyModel& model);

// Elements on their way to shared memory at once.
[[nodiscard]] int copied_at_once(const ClblastPlan& plan, int budget);

// Steps of k by which loads of an operand that is not staged run ahead of their products, in a loop without iterations.
[[nodiscard]] int steps_ahead(const ClblastPlan& plan, const ClblastOperand& operand, int budget);

}  // namespace noteg::kernels
