// A Program made ready for the cycle loop: everything that does not change per issue is looked up once
// here (pipe, register banks, wait masks, memory costs), so that the loop touches flat arrays only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/spec.hpp"
#include "kernels/access/wavefronts.hpp"
#include "kernels/ir/async.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/sm/units/scheduling_policy.hpp"
#include "sim/sm/units/scoreboard.hpp"

namespace noteg::sm {

// Which limits of the SM are modelled; a study turns them off one by one. The defaults are the hardware as we know it.
enum class Dependence : std::uint8_t { control_bits, scoreboard };
// In the order of the values of core.icache; cold, which no switch says: the L0 caches are empty at the start, as when
// another kernel ran before
enum class InstructionCache : std::uint8_t { modelled, no_prefetch, perfect, cold };

struct CoreSwitches {
  Scheduler scheduler = Scheduler::cggty;
  Dependence dependence = Dependence::control_bits;
  InstructionCache icache = InstructionCache::modelled;
  bool constant_cache = true;  // false: constant operands always hit
  bool rf_cache = true;
  int rf_read_ports = 0;       // per bank; 0: as the SM has
  bool rf_ideal = false;       // operands never wait
  bool memory_queue = true;    // false: the load/store queues never fill
  bool bank_conflicts = true;  // false: a shared-memory access takes the wavefronts that its bytes alone need
  bool barriers = true;        // false: BAR.SYNC does not wait
  bool one_issue = true;       // false: a sub-core issues from two of its warps in a cycle

  bool operator==(const CoreSwitches&) const = default;
};

// What the issue stage must do with an instruction.
enum class Action : std::uint8_t {
  fma,        // either half of the FP32 lanes
  fma_heavy,  // the half that also runs IMAD
  alu,
  half,
  mufu,
  fp64,
  tensor,
  uniform,
  memory,         // goes through the load/store queue
  constant_load,  // LDC, beside that queue
  control,        // no unit: NOP, forward branches, DEPBAR, commit
  branch,         // backward branch of a loop
  barrier,        // through the load/store queue too, behind the warp's earlier accesses
  asynchronous,   // barriers in shared memory, bulk copies, warpgroup multiplications
  exit,
};

inline constexpr std::uint8_t pipes = 8;  // the first of them
// What else an instruction may wait for at issue and nothing beside it, by an Action that stands for it: a place in the
// load/store queue, or it does not wait so.
inline constexpr auto queue_place = static_cast<std::uint8_t>(Action::memory);
inline constexpr auto no_single_wait = static_cast<std::uint8_t>(Action::control);
inline constexpr std::size_t actions = static_cast<std::size_t>(Action::exit) + 1;

using kernels::MemoryKind;

[[nodiscard]] inline bool is_global(MemoryKind kind) {
  return kind == MemoryKind::load_global || kind == MemoryKind::store_global || kind == MemoryKind::async_copy;
}

// Costs of a memory instruction, per warp instruction.
struct MemoryCost {
  MemoryKind kind = MemoryKind::none;
  std::uint16_t address_cycles = 1;   // SM-wide load/store front: until it takes the next one's addresses
  std::uint16_t front_cycles = 1;     // passes through the data stage behind it
  std::uint16_t sub_core_cycles = 4;  // until the sub-core may send its next one
  std::uint16_t warp_cycles = 4;      // until it may send the next one of the same warp
  std::uint16_t read_release = 9;     // issue to source registers free, unloaded
  std::uint16_t latency = 24;         // issue to data usable, unloaded; not for global loads and copies
  std::int16_t extra_latency = 0;     // of those: what is added to the latency of the memory port
  std::uint16_t line_latency = 0;     // and what the lines behind the first add, where they come from beyond L1
  std::uint16_t sectors = 0;          // 32-byte sectors asked of L1 / L2
  std::uint16_t requests = 0;         // distinct L1 lines of a global access; of a wide copy kernels::copy_requests
  std::uint16_t port_cycles = 0;      // of a wide copy: L2's port takes a request a cycle, and others wait behind it
  std::uint16_t masked = 0;           // lines of which a store fills sectors in part
  std::uint16_t l1_bank_cycles = 0;   // passes through the banks of L1 where the data is there
  std::uint16_t pass_latency = 0;     // what conflicts of banks and lines add until such data, or a store, is through
  std::uint16_t miss_cycles = 0;      // front_cycles where L1 has to be filled first
  std::uint16_t wavefronts = 0;       // shared-memory data wavefronts
  std::uint16_t conflict_wavefronts = 0;
  std::uint8_t matrix = 0;      // kernels::Matrix of a global access
  std::uint8_t joins = 0;       // AccessPattern::joins
  bool in_l2 = false;           // AccessPattern::in_l2
  std::uint8_t next_share = 0;  // so many sixteenths of the accesses cost what the entry behind this one says
  std::uint32_t bytes = 0;      // useful bytes, all lanes
};

inline constexpr int most_banks = 4;  // of the register file
using BankReads = std::array<unsigned, most_banks>;
inline constexpr std::uint8_t uncached_slot = 16;  // of operands that have no place in the register file cache

struct ReadPort {
  std::uint16_t reg = 0;
  std::uint8_t slot = uncached_slot;  // bank * cache_slots + operand position, index into the cache
  std::uint32_t keep = 0;             // all bits: it is to stay there
  // What it adds to the reads of the banks, 16 bits each: nothing where an earlier operand reads the same register.
  std::uint64_t need = 0;
};

// A matrix instruction, whose operands are several registers each and read over several cycles.
struct TensorCost {
  double interval = 1;   // of the sub-core's tensor core
  std::size_t kind = 0;  // kernels::tensor_kind
  double macs = 0;       // multiply-accumulates
  BankReads need{};      // registers per bank
};

inline constexpr std::uint16_t no_constant = 0xffff;

// Memory barriers beyond the CTA: the instruction behind one waits for it, by a counter that no control bits name.
inline constexpr std::int8_t fence_counter = 6;

struct DecodedInstruction {
  std::uint64_t wait_bits = 0;  // one byte per dependence counter, 0xff where waited for
  std::int32_t target = -1;     // branch
  std::int16_t loop = -1;
  std::int16_t memory = -1;                   // index into DecodedProgram::memory
  std::int16_t tensor = -1;                   // index into DecodedProgram::tensor
  std::int16_t async = -1;                    // index into DecodedProgram::async
  std::uint16_t constant_line = no_constant;  // 64-byte line of a constant operand
  std::uint16_t loaded_line = no_constant;    // LDC: the line that it loads from, where no register tells
  Action action = Action::control;
  std::uint8_t opcode = 0;
  std::uint8_t hold = 1;        // cycles until the warp's next one: its stall count, two at least where it yields
  std::uint8_t redirect = 0;    // cycles until the next one is fetched: taken forward branches, BSYNC
  bool passes_barrier = false;  // goes on while its warp waits at a barrier
  bool yields = false;
  bool queues = false;  // through the load/store queue
  std::int8_t write_barrier = -1;
  std::int8_t read_barrier = -1;
  std::uint8_t depbar = 0xff;       // DEPBAR: commit groups, or counts of depbar_counter, that may be outstanding
  std::int8_t depbar_counter = -1;  // DEPBAR on a counter that no commit uses
  std::uint8_t commit = 0;          // LDGDEPBAR
  std::uint8_t latency = 4;
  std::uint8_t reads = 0;
  std::uint8_t region = 0;                // before, in or after the main loop
  std::uint8_t held_by = no_single_wait;  // a pipe (by Action) or queue_place
  bool simple = false;               // fixed latency, no counter, no constant operand: only pipe and read ports matter
  bool waits = false;                // for counters, copy groups or asynchronous units; EXIT: for all
  std::uint16_t further_cycles = 0;  // of its pipe, beyond those of others there
  std::uint8_t held_dispatch = 0;    // cycles more in which its sub-core dispatches nothing else
  std::array<ReadPort, 4> read{};
};

// A backward branch and the code [begin, branch] that it repeats.
struct DecodedLoop {
  std::int64_t iterations = 1;
  bool is_main = false;
  bool is_tiles = false;
  std::int32_t begin = 0, branch = 0;
  int parent = -1;  // the loop around it
  int depth = 1;
};

// kernels::BarrierRing and AsyncOp with what the SM makes of them.
struct DecodedRing {
  int first = 0;  // of the CTA's barriers
  std::uint32_t count = 1;
  int arrivals = 1;
  std::size_t walk = 0;
  std::uint64_t latency = 1;        // last arrival to the next issue of who waits
  std::uint64_t arrival_delay = 0;  // from the peers of the cluster
  bool starts_complete = false;
};

struct DecodedAsync {
  kernels::AsyncKind kind = kernels::AsyncKind::wait;
  kernels::BoxOf box = kernels::BoxOf::a;
  std::uint8_t ring = 0;
  std::uint32_t places_back = 0, rounds_ahead = 0, groups = 0;
  int boxes = 0;
  std::uint32_t issuers = 4;  // of a multiplication: warps
  std::int16_t loop = -1;     // the main loop around it
  std::int16_t turns = -1;    // kernels::AsyncOp::turns
  bool not_first = false, one_warp = false, by_design = false, advances = false, closes_group = false;
  double bytes = 0;    // of a box; of a multiplication: read from shared memory
  double copiers = 1;  // of a box: CTAs that bring a part of it each
  double cycles = 0;   // of a multiplication, on the tensor core of each sub-core
  double latency = 0;  // from its end until another instruction can use the result
  double macs = 0;
  std::size_t tensor_kind = 0;
};

inline constexpr int max_walks = 5;

// Which of the CTA's tiles a warp takes; where it goes on to them, or leaves if there are none.
struct TileShare {
  int first = 0, stride = 1;
  std::int32_t loop = -1, exit = 0;
};

struct DecodedProgram {
  std::vector<DecodedInstruction> code;
  std::vector<MemoryCost> memory;
  std::vector<TensorCost> tensor;
  std::vector<DecodedLoop> loops;
  std::vector<std::int16_t> innermost;  // loop around each instruction, -1: none
  std::vector<std::int32_t> start;      // first instruction of each warp of a CTA
  std::vector<DecodedRing> rings;
  std::vector<DecodedAsync> async;
  std::vector<std::array<bool, max_walks>> walks;  // by warp of a CTA: the walks along rings that decide what it does
  std::vector<kernels::BarrierTurns> turns;
  std::vector<std::int32_t> places;  // in the kernel's code, of each instruction; instruction caches hold its lines
  std::vector<TileShare> tiles;      // of each warp of a CTA; empty: one tile per CTA
  int barriers = 0;
  int lead_warp = 0;
  std::vector<int> multiplying;  // of other warpgroups that have main loops of their own, the first warp
  std::int32_t mainloop_begin = 0;
  std::int32_t epilogue_begin = 0;
  int warps = 1;
  bool has_fences = false;               // memory barriers
  bool joins_stores = false;             // some go to sectors that the warp has stored to just before
  std::optional<Scoreboard> scoreboard;  // where control bits are not to be used
};

// Issue of a memory instruction to its arrival at the SM-wide front, unloaded (MICRO25, table of issue
// cycles: the sixth of back-to-back loads issues 11 cycles after the first).
inline constexpr int front_delay = 10;

// What the addresses of a problem add to a program's lane patterns.
struct AddressFacts {
  std::uint64_t row_pitch = 4096;  // bytes between rows (columns) of operands that copies transpose

  bool operator==(const AddressFacts&) const = default;
};

[[nodiscard]] DecodedProgram decode(const kernels::Program& program, const arch::SmSpec& sm,
                                    const AddressFacts& facts = {}, const CoreSwitches& switches = {});

// What a memory instruction costs on its way through the load/store path, from its lane addresses, its width and the
// kind of its address register (MICRO25, section 7 and table 2).
// Of L1, as patterns are counted by.
[[nodiscard]] kernels::LineSizes line_sizes(const arch::MemoryPipeSpec& memory);

// none: not a matter of the load/store path.
[[nodiscard]] MemoryKind memory_kind(kernels::Opcode op);

// bank_conflicts false: a shared-memory access takes the wavefronts that its bytes alone need.
[[nodiscard]] MemoryCost memory_cost(const kernels::Instruction& instruction, const kernels::Program& program,
                                     const arch::SmSpec& sm, const AddressFacts& facts, bool bank_conflicts);

// Of a shared-memory access that takes one wavefront more.
[[nodiscard]] MemoryCost one_wavefront_more(MemoryCost cost, const arch::MemoryPipeSpec& memory);

}  // namespace noteg::sm
