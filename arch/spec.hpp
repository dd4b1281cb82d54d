// What a GPU is, as plain aggregates filled from YAML by arch/load and never changed afterwards.
// One SmSpec per SM generation (sm_80 to sm_120), one GpuSpec per product.
// Latencies are "issue of the producer to earliest issue of a dependent instruction" in SM cycles.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/support/units.hpp"

namespace noteg::arch {

// Residency limits of one SM and the rules by which CTAs take its resources (CUDA occupancy rules).
struct OccupancySpec {
  int max_warps = 0;
  int max_threads = 0;
  int max_ctas = 0;
  int max_threads_per_cta = 1024;
  int registers = 65536;  // 32-bit registers per SM
  int max_registers_per_thread = 255;
  int register_allocation_unit = 256;  // registers, per warp
  int warp_allocation_granularity = 4;
  Bytes unified_l1_shared;            // L1 + shared SRAM per SM
  std::vector<Bytes> shared_configs;  // carve-outs the driver can choose
  Bytes max_shared_per_cta;
  Bytes shared_reserved_per_cta;  // taken by the system from each CTA's share
  Bytes shared_allocation_unit;

  bool operator==(const OccupancySpec&) const = default;
};

// Fetch, instruction buffers, instruction and constant caches.
struct FrontEndSpec {
  int instruction_buffer_entries = 3;  // per warp
  Bytes instruction_bytes;             // size of one SASS instruction
  Bytes icache_line;
  Bytes l0_icache;                     // per sub-core
  Bytes l1_icache;                     // per SM
  Cycles l1_icache_latency;            // L0 miss served by L1
  Cycles l2_icache_latency;            // L1 instruction miss served by L2
  bool longest_waiting_first = false;  // of the oldest CTA, after a stall; otherwise the youngest warp
  int prefetch_lines = 8;              // that the stream buffer runs ahead; 0: off
  Cycles constant_miss_delay;          // issue delay of an ALU constant operand that misses its L0
  Cycles constant_fill_interval{};     // of a GPC: between lines that go to its L0 constant caches; 0: not known
  Cycles branch_redirect;              // taken branch: cycles until the next instruction can issue
  Cycles convergence;                  // BSYNC: the same

  bool operator==(const FrontEndSpec&) const = default;
};

struct RegisterFileSpec {
  int banks = 2;                  // per sub-core, bank = register number mod banks
  int read_ports = 1;             // per bank, one warp register per cycle each
  int read_window = 3;            // cycles in which all operands of a fixed-latency instruction are read
  bool cache = true;              // register file cache: one entry per bank and operand position
  int cache_slots = 3;            // operand positions cached per bank
  BytesPerCycle load_write_back;  // per sub-core, load data into the register file

  bool operator==(const RegisterFileSpec&) const = default;
};

// One execution pipe of a sub-core, or of the SM where shared is true: its lanes then are those of the SM.
struct PipeSpec {
  int lanes = 0;  // per sub-core; initiation interval = 32 / lanes
  Cycles latency;
  bool shared = false;  // one pipe for the SM: interval counted over all sub-cores

  bool operator==(const PipeSpec&) const = default;
};

struct PipesSpec {
  PipeSpec fma;        // FP32 FFMA / FADD / FMUL
  PipeSpec fma_heavy;  // the half of the FP32 lanes that also runs IMAD
  PipeSpec alu;        // INT32 add, logic, shift, compare, select, move
  PipeSpec half;       // packed FP16
  PipeSpec fp64;
  PipeSpec mufu;     // transcendental, conversions
  PipeSpec uniform;  // uniform datapath
  PipeSpec branch;
  int variable_queue = 2;         // instructions that may wait before MUFU or a shared FP64 pipe
  Cycles cross_pipe_penalty;      // producer and consumer in different ALU pipes
  Cycles memory_address_penalty;  // bypass does not reach variable-latency consumers
  Cycles predicate_to_branch;     // predicate writer to guard or branch

  bool operator==(const PipesSpec&) const = default;
};

// Accesses that a queue before the data stage may hold at most.
inline constexpr int max_data_queue = 63;

// The load/store path: sub-core queue, the SM-shared front, and hit latencies.
struct MemoryPipeSpec {
  int queue_entries = 4;     // per sub-core, plus one dispatch latch
  Cycles address_cycles;     // per sub-core: cycles per global access, regular-register address
  Cycles shared_cycles;      // per sub-core: cycles per access to shared memory, one wavefront or less
  BytesPerCycle link_width;  // per sub-core: data from and to L1 and shared memory
  Cycles shared_interval;    // SM-wide: cycles between memory instructions accepted
  int data_queue = 0;        // accesses of all sub-cores that may wait for the data stage
  int copy_requests = 0;     // of 16-byte copies, that may wait for L2's port
  BytesPerCycle data_width;  // L1/shared data path per SM
  int shared_banks = 32;
  Bytes shared_bank_width;
  Cycles lds_latency;          // LDS.32 RAW, regular address
  Cycles lds_wide_extra;       // added for 128-bit
  Cycles lds_wide_interval;    // sub-core: between 128-bit loads, at least
  Cycles ldg_latency;          // LDG.32 RAW, L1 hit
  Cycles ldg_wide_extra;       // added for 128-bit
  Cycles ldg_line_extra;       // beyond L1: added for each line behind the first
  Cycles ldg_wide_miss_extra;  // beyond L1: added for 128-bit
  Cycles ldgsts_latency;       // LDGSTS RAW with an L1 hit
  Cycles lds_war;              // source registers free again, LDS
  Cycles sts_war;              // STS.32; wider adds register reads
  Cycles ldg_war;
  Cycles stg_war;
  Cycles ldgsts_war;
  Cycles ldc_latency;          // immediate address
  Cycles ldg_uniform_latency;  // the same with a uniform register or immediate as the address
  Cycles ldg_uniform_war;
  Cycles lds_uniform_latency;
  Cycles sts_uniform_war;
  Cycles stg_uniform_war;
  Cycles ldc_war;               // immediate address
  Cycles ldc_register_latency;  // register address: RAW and WAR
  Cycles shfl_latency;
  Cycles membar_cta, membar_gpu, membar_system;
  int l1_tags_per_cycle = 4;  // distinct 128-byte lines looked up per cycle
  Bytes l1_line;
  Bytes sector;
  int max_outstanding_requests = 1024;  // per SM, global
  int prt_entries = 128;                // pending request table
  Cycles barrier_latency;               // BAR.SYNC: last arrival to first issue after it
  Cycles barrier_interval;              // between warps at the barrier unit
  Cycles constant_interval;             // for each address of an LDC

  bool operator==(const MemoryPipeSpec&) const = default;
};

// Bulk tensor copies (TMA), barriers in shared memory and clusters; all zero where has_tma is false.
struct TmaSpec {
  Cycles latency;                // of a box, beyond that of a load from the same place
  Cycles descriptor_latency;     // first copy through a descriptor
  Cycles store_latency;          // store issued to the first of its bytes leaving the SM
  Cycles box_store_latency;      // likewise, of a store through a tensor map
  Cycles barrier_latency;        // phase complete to the first issue after a wait for it
  Cycles cluster_latency;        // of an access to the shared memory of another CTA of the cluster
  Cycles cluster_barrier;        // of a barrier of a whole cluster, of one warp
  BytesPerCycle fill_bandwidth;  // whole chip: parts of boxes outside the matrix

  bool operator==(const TmaSpec&) const = default;
};

// Multiplications of a warpgroup; their rate follows from the shape.
struct WgmmaSpec {
  Cycles shared_latency;    // end of the last of a group to the use of its result, both operands in shared memory
  Cycles register_latency;  // with A in registers
  Cycles beside;            // what an instruction of another pipe takes longer while one runs
  Cycles beside_mufu;       // the same of MUFU
  Cycles mufu_beside;       // what MUFU takes longer for each instruction of another pipe, while one runs

  bool operator==(const WgmmaSpec&) const = default;
};

// One form of a matrix instruction: m16n8k16_f16_f32 names shape, operand type and accumulator type; sp_ in front: A
// is 2:4 sparse and k counts its zeros; e4m3 stands for both 8-bit float types. A form that is not in the table does
// not exist on this generation.
struct TensorFormSpec {
  std::string name;
  Cycles latency;   // issue to a dependent instruction on the same accumulators
  Cycles interval;  // between instructions of one sub-core (wgmma: of one warp group over all sub-cores)

  bool operator==(const TensorFormSpec&) const = default;
};

// Multiplications of one thread into tensor memory, and the way out of it; nothing where there is none.
struct Tcgen05Spec {
  std::vector<TensorFormSpec> forms;  // for N = 256 and the 128 rows of one CTA; both times are proportional to N
  Cycles latency;                     // end of a multiplication to the barrier that its commit tells
  Cycles load_latency;                // LDTM of one register: issue to use
  BytesPerCycle load_bandwidth;       // per sub-core, out of tensor memory

  bool operator==(const Tcgen05Spec&) const = default;
};

// The tensor cores, one per sub-core.
struct TensorSpec {
  std::vector<TensorFormSpec> mma;     // mma.sync, as the data-centre or professional part runs it
  std::vector<TensorFormSpec> wgmma;   // for N = 256; both times are proportional to N
  double f32_accumulate_slowdown = 1;  // GeForce parts: 2 for forms that add in f32
  double clock_share = 1;              // of clock.sustained: the highest clock of kernels that use the tensor cores

  bool operator==(const TensorSpec&) const = default;
};

// A table of names with an energy each, in file order: data that grows by rows.
struct NamedEnergy {
  std::string name;
  Joules energy;

  bool operator==(const NamedEnergy&) const = default;
};

// Energy of one event in the SM and on the way to L2, at 1 V and with random operands (sim/power says which event is
// counted how). Per lane: of one active lane of a warp instruction, its result write included.
struct EnergySpec {
  Joules issue;                     // fetch, decode, schedule, control of a warp instruction
  Joules operand;                   // one 32-lane operand from a register bank
  Joules cached_operand;            // one from the register file cache
  Joules fma;                       // lane of FFMA, FADD, FMUL
  Joules alu;                       // lane of an integer, logic, move or conversion-free instruction, IMAD included
  Joules half;                      // lane of a packed FP16 instruction
  Joules mufu;                      // lane of a transcendental or conversion
  Joules fp64;                      // lane of an FP64 instruction
  double static_operands = 1;       // share of lane and operand energies that remains when operands do not change
  Joules data_pass;                 // one wavefront of up to 128 bytes through the shared-memory and L1 data array
  Joules data_byte;                 // one byte from there into registers, or back
  Joules l2_byte;                   // one byte between SM and L2: NoC and L2 array
  double bf16_data = 1;             // energies of moved normal bf16 numbers over those of hashed words
  double static_data = 1;           // share of the energies of moved data, up to DRAM, that remains when it is constant
  Joules clock_tree;                // one cycle of one SM's clock tree
  std::vector<NamedEnergy> tensor;  // one multiply-accumulate of a tensor form: f16_f32, s8_s32 ...
  double static_tensor = 1;         // share of these that remains when operands are constant
  double padded_activity = 1;       // of operands, where rows beyond the matrix are multiplied

  bool operator==(const EnergySpec&) const = default;
};

// Two SMs that share a way to L2: of what both ask for, the part that merges there is merge + merge_growth times the
// share of their reads that they have in common.
struct TpcSpec {
  double merge = 0, merge_growth = 0;

  bool operator==(const TpcSpec&) const = default;
};

struct SmSpec {
  std::string name;                // sm_89
  std::string compute_capability;  // 8.9
  int sub_cores = 4;
  OccupancySpec occupancy;
  FrontEndSpec front_end;
  RegisterFileSpec register_file;
  PipesSpec pipes;
  TensorSpec tensor;
  MemoryPipeSpec memory;
  EnergySpec energy;
  TmaSpec tma;
  WgmmaSpec wgmma;
  Tcgen05Spec tcgen05;
  TpcSpec tpc;
  Cycles cta_launch;               // free slot to first issue of the next CTA
  double drift_warps = 0;          // on a sub-core: with so many, a wave drifts apart by a whole CTA's duration
  double drift_warps_waiting = 0;  // the same where every k tile waits for its loads
  double drift_power = 1;          // of the warps, with which the drift grows
  double drift_steps = 1;          // how much further apart neighbours are than an even spread over K puts them
  double drift_full_l2 = 0;        // of a CTA's duration a wave, where SMs want more than L2 delivers
  double l2_even_below = 1;        // of L2's rate: what SMs may want and still get alike
  double l2_uneven_above = 1;      // likewise: from here on they get shares that drift_full_l2 holds for
  double lockstep_waves = 1;       // of CTAs, in which SMs read C all at once
  bool fills_together = false;     // CTA slots that fall empty together are filled together
  double cluster_share = 1;        // of the SMs, those on which clusters of more than two CTAs find room
  bool has_async_copy = true;      // LDGSTS
  bool has_tma = false;

  bool operator==(const SmSpec&) const = default;
};

struct L2Spec {
  Bytes size;
  int partitions = 1;            // GA100 / GH100: 2, far half reached through the near one
  bool own_clock = false;        // keeps its bytes per second where the SM clock falls
  BytesPerCycle read_bandwidth;  // whole chip, SM clock
  BytesPerCycle write_bandwidth;
  BytesPerCycle sm_bandwidth;          // L2 to one SM
  BytesPerCycle sm_write_bandwidth{};  // one SM to L2; 0: as fast
  Cycles latency;                      // L2 hit (near partition), load to use
  Cycles far_latency;                  // far partition; equal to latency where there is one partition
  Bytes sector;
  Bytes translation_reach{};        // of the pages that are translated without asking further; 0: not known
  double translation_reads = 0;     // of two sectors: what the translation of a line in another page takes
  double kept_below = 0.9;          // of the capacity: distances up to which everything is found again
  double gone_above = 1.15;         // and from which nothing is
  double store_mask = 0;            // that goes before sectors that are filled in part, over a sector; 0: not known
  double modified_read = 0;         // of a store: what reading what was stored takes on the way of stores; 0: not known
  double slowest_sm = 0;            // how much longer than the mean of all SMs the worst one waits; 0: not known
  double slowest_rate = 0;          // how much less of what L2 delivers it gets; 0: not known
  Cycles service{};                 // of a request, in the queues that loads stand in where L2 is busy; 0: not known
  double filled = 0.85;             // of a store: what L2 takes to keep what DRAM brings (H200M, replayed)
  Seconds atomic_interval{0.7e-9};  // one atomic operation on a sector to the next (H200M, l2_atomics)
  Seconds atomic_sum{1.757e-9};     // one sum of floating-point numbers in a sector to the next (H200M, l2_atomics)
  double atomic_units = 70;         // that work at once where the addresses are many
  Bytes atomic_interleave{512};     // addresses so close together lie in one unit
};

struct DramSpec {
  std::string type;  // GDDR6X, HBM3 ...
  Bytes size;
  int bus_bits = 0;
  BytesPerSecond bandwidth;       // pin bandwidth
  double read_efficiency = 0.0;   // fraction of pin bandwidth that reads reach
  double mixed_efficiency = 0.0;  // with writes mixed in
  Seconds latency;                // SM to data, unloaded (the whole round trip)
  Seconds service;                // of one access: unit of the queue, spread of latencies where it was not measured
  Seconds spread{};               // mean spread of latencies of accesses that are waited for together; 0: as service
  Bytes granule;                  // brought into L2 by one miss
  double tile_efficiency = 1.0;   // of the rate of one long stream, what tiles reach, whose rows lie far apart
  int channel_bits = 64;          // of the bus: a channel
  int banks = 16;                 // of a channel
  double busy_banks = 1.0;        // share of the banks that random places keep busy
  Seconds row_cycle;              // one row of a bank to the next
  Seconds write_drain{};          // that reads wait where DRAM does nothing but write; 0: not known
};

struct ClockSpec {
  Hertz boost;
  Hertz sustained;  // default clock of a simulation until power solves for it
  Hertz lowest;     // under load, whatever the limits
  Hertz rest;       // of a board that had nothing to do, and while it wakes; 0: it always stands ready
  Seconds wake;     // load until it leaves clock.rest
};

struct LaunchSpec {
  Seconds kernel;       // back-to-back kernel launch and drain cost on the GPU
  Cycles cta_rate;      // between ends of CTAs that the chip takes notice of; each GPC starts one as often
  Seconds drain{};      // of `kernel`, behind the last CTA: goes on while the chip sees CTAs end
  Seconds memory{};     // that a kernel on all SMs takes longer which uses memory, likewise behind its last CTA
  Seconds constants{};  // that a launch takes longer whose module has constants of its own
};

// Board power: limit, what an idle board takes, leakage, the way from watts to temperature, and the voltage that each
// clock needs. Voltages are relative: the energies of the generation are stated at 1 V.
struct PowerSpec {
  Watts limit;
  double burst_share = 1;            // of limit: what tensor cores draw before the slow limiter acts
  Watts idle;                        // with a context, leakage included
  Watts leakage;                     // part of idle that grows with temperature and voltage
  double leakage_growth = 0;         // per kelvin, exponential
  Celsius ambient;                   // air that cools the board
  KelvinPerWatt thermal_resistance;  // GPU to that air
  Celsius slowdown;                  // GPU temperature beyond which the clock falls, whatever the power limit says
  Seconds thermal_time;              // time constant of the temperature
  Seconds averaging;                 // window of the meter and of the power limiter
  Volts voltage_max;                 // at clock.boost
  Volts voltage_floor;               // at floor_clock and below
  Hertz floor_clock;
  Joules dram_byte;        // one byte read from DRAM: controller, bus, memory
  Joules dram_write_byte;  // one byte written to it
};

struct GpuSpec {
  std::string id;                    // file name without .yaml: rtx4070
  std::string name;                  // GeForce RTX 4070
  std::vector<std::string> names;    // as tools and measured files print it
  std::string chip;                  // AD104
  std::string file;                  // where it was read from
  bool shipped = false;              // the file is one of those that come with the program
  std::vector<std::string> changed;  // keys with another value than the file's: set on the command line
  int sms = 0;
  int gpcs = 0;
  SmSpec sm;
  L2Spec l2;
  DramSpec dram;
  ClockSpec clock;
  LaunchSpec launch;
  PowerSpec power;
};

}  // namespace noteg::arch
