// Geometry of CLBlast's Xgemm: who loads what, in CLBlast's own M (along which memory runs) and N.
#pragma once

#include "kernels/config/config.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// One operand as the kernel sees it: `extent` elements per k, `width` of them per vector.
struct ClblastOperand {
  Matrix matrix = Matrix::none;  // of the row-major problem
  int extent = 0;                // MWG or NWG
  int width = 1;                 // VWM or VWN
  bool is_staged = false;        // SA, SB
  bool is_strided = false;       // STRM, STRN
  int threads = 1;               // MDIMC or NDIMC
  bool is_fastest = false;       // neighbouring lanes lie along it
  int copy_threads = 1;          // MDIMA or NDIMB

  [[nodiscard]] int per_thread() const { return extent / threads; }  // MWI or NWI
};

struct ClblastPlan {
  Tile tile;
  ClblastOperand a, b;  // CLBlast's
  int threads = 0;
  int kwi = 1;

  [[nodiscard]] int accumulators() const { return a.per_thread() * b.per_thread(); }
};

[[nodiscard]] ClblastPlan plan_clblast(const KernelConfig& resolved);

// Elements of one access to global memory or of a copy: the vector of the source, 16 bytes at most.
[[nodiscard]] int access_width(const ClblastOperand& operand);

// Elements of one load of a thread's own elements. Neighbours in shared memory merge into vectors of up to 16 bytes
// where the compiler knows them aligned. It knows that of B alone, behind an array of A's vectors, and as far as a
// thread's own elements of A reach: measured times of kernels that differ in VWN alone follow the wavefronts so
// counted, within 4 to 8 % (kerneltuner rows of an RTX 3090, on which the rule was found).
[[nodiscard]] int private_width(const ClblastPlan& plan, const ClblastOperand& operand);

// The same of a store that copies to shared memory.
[[nodiscard]] int copied_width(const ClblastPlan& plan, const ClblastOperand& operand);

// Elements from a vector of a thread to its next.
[[nodiscard]] int vector_step(const ClblastOperand& operand);

// Vectors of one k as the threads take them for products, from shared memory or straight from global memory.
// bytes: of one access; a vector of 8 takes two.
[[nodiscard]] AccessPattern private_pattern(const ClblastPlan& plan, const ClblastOperand& operand, int bytes);

// Copies to shared memory: their global side and their shared side.
[[nodiscard]] AccessPattern copy_from(const ClblastPlan& plan, const ClblastOperand& operand, int bytes);
[[nodiscard]] AccessPattern copy_to(const ClblastPlan& plan, const ClblastOperand& operand, int bytes);

// Of C, read and written.
[[nodiscard]] AccessPattern result_pattern(const ClblastPlan& plan, int bytes, bool store);

// What the compiler decides about a CLBlast kernel: how far it unrolls the loop over k, how many registers it takes and
// how far ahead it loads. Rules read off nvcc 13's translations of CLBlast's source for sm_86, 262 configurations drawn
// from its tuning space: no measured time is behind them.

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
