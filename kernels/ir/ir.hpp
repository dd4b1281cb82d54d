// The kernel IR: a SASS-like instruction list with registers, control bits and address patterns.
// One Program is what the warps of a CTA run: flat code, loops given by their backward branch.
// It knows nothing of GPUs; latencies reach the control-bit pass through LatencyModel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ir/async.hpp"

namespace noteg::kernels {

// One enumerator per SASS base mnemonic that the kernels here use. opcode_info() is the one table.
enum class Opcode : std::uint8_t {
  ffma,
  fmul,
  fadd,
  hfma2,
  hadd2,
  mufu,
  i2f,
  f2i,
  iadd3,
  imad,
  imad_wide,
  idp,
  hadd2_f32,
  lop3,
  shf,
  lea,
  isetp,
  plop3,
  sel,
  mov,
  prmt,
  iabs,
  cs2r,
  f2fp,
  viadd,
  s2r,
  s2ur,
  r2ur,
  uiadd3,
  uimad,
  ulop3,
  ushf,
  ulea,
  umov,
  usel,
  uisetp,
  uldc,
  ldc,
  ldg,
  stg,
  lds,
  sts,
  stsm,
  ldsm,
  ldgsts,
  ldgdepbar,
  depbar,
  red,
  membar,
  bar_sync,
  bra,
  exit,
  nop,
  bssy,
  bsync,
  warpsync,
  shfl,
  tex,
  dfma,
  hmma,
  imma,
  qmma,
  hgmma,
  utchmma,
  utcqmma,
  utcomma,
  utcbar,
  ldtm,
  warpgroup,
  usetmaxreg,
  utmaldg,
  utmastg,
  utmacmdflush,
  utmacctl,
  syncs,
  fence,
  count_
};

// Which hardware unit executes an opcode.
enum class Unit : std::uint8_t {
  fma,
  fma_heavy,
  alu,
  half,
  mufu,
  fp64,
  uniform,
  branch,
  memory,
  tensor,
  barrier,
  control
};

// Instructions of one warp that compete for one issue interval.
enum class Pipe : std::uint8_t { fma, alu, memory, uniform, tensor, other };
inline constexpr int pipe_count = 6;

// What the load/store path of an SM does for it.
enum class MemoryKind : std::uint8_t {
  none,
  load_shared,
  store_shared,
  load_global,
  store_global,
  async_copy,
  constant,
  shuffle,
  texture,
  special_register,  // S2R
  fence,             // MEMBAR
  barrier
};

// Among which others it keeps its place. Loads of one space may pass each other; nothing passes a fence.
enum class MemoryOrder : std::uint8_t { none, shared_load, shared_store, copy, global, commit, fence };

// Whose least stall count compilers give it by itself.
enum class LeastStall : std::uint8_t { none, barrier, branch, depbar, warpgroup };

struct OpcodeInfo {
  Opcode op;
  std::string_view mnemonic;  // FFMA
  Unit unit;                  // energies go by it too
  bool variable_latency;      // completion is signalled through a dependence counter
  Pipe pipe = Pipe::other;
  MemoryKind memory = MemoryKind::none;
  MemoryOrder order = MemoryOrder::none;
  int planned_latency = 10;  // cycles that the list scheduler expects of a variable one
  LeastStall least_stall = LeastStall::none;
  bool ends_block = false;    // a basic block ends behind it
  bool is_decoupled = false;  // fed without an address unit in between
};

[[nodiscard]] const OpcodeInfo& opcode_info(Opcode op);

enum class OperandKind : std::uint8_t { none, reg, ureg, pred, upred, immediate, constant, special };

inline constexpr std::int16_t rz = 255;  // RZ, URZ, PT: reads as zero / true, uses no port

struct Operand {
  OperandKind kind = OperandKind::none;
  std::int16_t index = rz;  // register number; constants: bank
  std::uint8_t count = 1;   // consecutive 32-bit registers (64-bit: 2, 128-bit: 4)
  bool reuse = false;       // keep in the register file cache
  bool negated = false;     // -R, !P
  std::int32_t value = 0;   // immediate, address offset, or that of a constant (-1: a register tells)

  bool operator==(const Operand&) const = default;
};

inline constexpr int greatest_stall = 15;  // cycles

// Control bits, as the compiler writes them into each instruction word.
struct Control {
  std::uint8_t stall = 1;  // 0 to greatest_stall
  bool yield = false;
  std::int8_t write_barrier = -1;  // dependence counter released at write-back; -1 none
  std::int8_t read_barrier = -1;   // released when the sources were read; -1 none
  std::uint8_t wait_mask = 0;      // bit i: wait until counter i is zero

  bool operator==(const Control&) const = default;
};

struct Instruction {
  Opcode op = Opcode::nop;
  std::string modifiers;          // .E.128.CONSTANT, printed as it is
  Operand guard;                  // predicate guard, kind none if always
  std::array<Operand, 2> dst;     // destination register, destination predicate
  std::array<Operand, 4> src;     // position in this array = operand position for the register file cache
  std::uint8_t access_bytes = 0;  // per lane, memory instructions (4, 8, 16)
  std::int16_t pattern = -1;      // index into Program::patterns
  std::int16_t loop = -1;         // bra: index into Program::loops, whose guard it is if before it; -1: forward
  bool taken = false;             // forward branch that is taken: the code that it skips is left out
  std::int16_t async = -1;        // index into Program::async
  std::int16_t depbar_count = 0;  // depbar: proceed when the counter / commit groups outstanding <= this
  Control control;
};

enum class Space : std::uint8_t { shared, global };
enum class Matrix : std::uint8_t { none, a, b, c };

inline constexpr int wavefront_parts = 16;  // of AccessPattern::mean_wavefronts

// Lane addresses of a memory instruction for one representative warp; from these the model counts
// bank-conflict wavefronts (shared) and sectors and lines (global). active_mask 0: predicated off in every
// lane, so it takes an issue slot and a place in the queue but moves no data.
inline constexpr std::size_t stores_looked_back = 8;  // of a warp, for those that go to the same sectors

struct AccessPattern {
  Space space = Space::shared;
  Matrix matrix = Matrix::none;
  bool store = false;
  bool of_peer = false;  // in shared memory of another CTA of the cluster
  std::uint8_t bytes_per_lane = 4;
  std::uint32_t active_mask = 0xffffffffu;
  std::array<std::uint32_t, 32> offset{};  // bytes, relative to the operand's base
  // LDGSTS: shared-memory side of the copy (bytes); unused otherwise.
  std::array<std::uint32_t, 32> shared_offset{};
  // Shared memory: the mean over executions whose lanes lie differently, in sixteenths of a wavefront; 0: as above.
  std::uint16_t mean_wavefronts = 0;
  std::uint8_t joins = 0;  // global stores: the warp's store so many before goes to the same sectors; 0: none does
  bool in_l2 = false;      // global loads: L2 has what L1 does not

  bool operator==(const AccessPattern&) const = default;
};

// A backward branch: code [begin, branch] runs `iterations` times; the main loop's iterations come from the problem,
// and those of a loop over tiles (persistent kernels) from the grid.
struct Loop {
  std::int32_t begin = 0;
  std::int32_t branch = 0;
  std::int64_t iterations = 1;
  bool is_main = false;
  bool is_tiles = false;

  bool operator==(const Loop&) const = default;
};

// Warps of a CTA that run a stream of their own (warp specialisation): code [begin, end) for warps
// [first_warp, first_warp + warps).
struct Role {
  std::string name;
  std::int32_t begin = 0, end = 0;
  int first_warp = 0, warps = 0;
  int registers = 0;                    // per thread; 0: as the program
  int first_tile = 0, tile_stride = 1;  // of the CTA's tiles, those that the role takes

  bool operator==(const Role&) const = default;
};

// Which part of a kernel an instruction belongs to: [0, mainloop_begin) prologue,
// [mainloop_begin, epilogue_begin) main loop, the rest epilogue.
struct Program {
  std::string name;
  std::vector<Instruction> code;
  std::vector<AccessPattern> patterns;
  std::vector<Loop> loops;
  std::vector<BarrierRing> rings;
  std::vector<AsyncOp> async;
  std::vector<BarrierTurns> turns;
  std::vector<std::int32_t> places;  // where each instruction lies in the kernel's code, of which several ways through
                                     // it share lines; empty: in the order of `code`
  bool starts_dependents = false;    // CTAs say when the next kernel may begin (griddepcontrol.launch_dependents)
  bool is_persistent = false;        // a CTA takes tile after tile: loops with is_tiles
  int lead_warp = 0;                 // whose progress tells prologue, main loop and epilogue apart
  std::vector<Role> roles;           // empty: all warps run the whole code; otherwise every warp has one
  std::int32_t mainloop_begin = 0;
  std::int32_t epilogue_begin = 0;

  int warps = 0;                  // per CTA
  int threads = 0;                // per CTA
  int registers = 0;              // per thread
  std::int64_t shared_bytes = 0;  // per CTA
  int k_per_iteration = 0;        // K covered by one iteration of the main loop
  int stages = 1;
  int peeled_tiles = 0;  // k tiles whose arithmetic stands outside the main loop (in the epilogue)
  int prologue_tiles =
      0;  // k tiles copied before the main loop; in the last so many iterations the copies are predicated off

  // Bytes of A and B that a CTA requests from global memory per main-loop iteration, useful lanes only.
  double a_bytes_per_iteration = 0, b_bytes_per_iteration = 0;
};

// Tells prologue, main loop and epilogue of a program apart: by the loop in which most instructions are executed. Where
// it reads nothing, by the warps that read most often: the main loop goes from their first load to the first
// instruction that waits for their last one, not before the loops around that are over.
void mark_main_loop(Program& program);

// A branch that names a loop and stands before it: behind the loop's own branch it goes on where that has no iteration.
[[nodiscard]] inline bool is_guard(const Instruction& branch, std::int32_t at, const std::vector<Loop>& loops) {
  return branch.loop >= 0 && at < loops[static_cast<std::size_t>(branch.loop)].begin;
}

// Iterations that a main loop has at least: none where it is guarded.
[[nodiscard]] std::int64_t least_iterations(const Program& program);

// Iterations of the main loop for a problem depth K (a partial last k tile counts as a whole one).
[[nodiscard]] std::int64_t main_iterations(const Program& program, std::int64_t k);

// Warp instructions that one warp executes for a problem depth K, nested loops included.
[[nodiscard]] std::int64_t executed_instructions(const Program& program, std::int64_t k);

}  // namespace noteg::kernels
