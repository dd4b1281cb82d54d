// A kernel's code made ready for emulation: semantics by instruction, basic blocks, and which instructions matter for
// control flow and for addresses (slice.cpp): only those are carried out, the others are counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compiled/listing/instruction.hpp"
#include "kernels/compiled/listing/listing.hpp"
#include "kernels/compiled/listing/opcodes.hpp"

namespace noteg::compiled {

// What the emulation is to find out.
enum class Wanted : std::uint8_t { path, global_addresses, addresses };

struct Step {
  const Instruction* in = nullptr;
  Semantics semantics = Semantics::opaque;
  std::uint8_t bytes = 0;         // per lane, memory instructions
  std::uint8_t destinations = 0;  // leading operands that are written
  std::uint8_t width = 1;         // registers that the first register destination takes
  bool uniform = false;           // on the uniform datapath
  bool carried_out = false;
  bool is_memory = false;     // its addresses are wanted
  bool by_window = false;     // of shared memory, by a generic address: a peer's where there are clusters
  bool acts = false;          // on asynchronous units or named barriers, and that is wanted
  bool data_matters = false;  // of a store to shared memory: what it writes decides something
  bool polls = false;         // looks at what others write, again and again (Poll)
  bool is_read = false;       // what it writes is read by something that is carried out
  // Branches: over a call and over no other branch, as of a slow path; over one to which numbers that were loaded lead
  // by chance alone; out of a loop, where what other CTAs have written decides.
  bool passes_a_call = false, passes_what_chance_calls = false, ends_a_search = false;

  // A load whose result decides nothing goes to its addresses, no more.
  [[nodiscard]] bool changes_registers() const {
    const bool loads = semantics == Semantics::load_shared || semantics == Semantics::load_global;
    return is_read || !loads;
  }
};

struct Block {
  std::int32_t begin = 0, end = 0;  // instructions
  std::vector<std::int32_t> steps;  // those to carry out
};

// Where BRX and calls of pointers go: constants by their offset, and the instructions that each may lead to.
struct JumpTables {
  std::map<std::int64_t, std::uint32_t> entries;
  std::map<std::int32_t, std::vector<std::int32_t>> places;
};

// A loop that goes back to look again at what others write: all that it asks of memory are loads that see the writes of
// other CTAs, or atomic operations that answer.
struct Poll {
  const Operand* until = nullptr;  // what the value that it looks at is compared with; null: none was found
};

struct EmulatedCode {
  const Listing* listing = nullptr;
  const Code* code = nullptr;
  std::vector<Step> steps;
  std::vector<Block> blocks;
  std::vector<std::int32_t> block_of;            // instruction
  std::vector<std::int16_t> live, live_uniform;  // registers that what is carried out writes
  JumpTables tables;
  std::map<std::int32_t, Poll> polls;  // by the branch that goes back
  int registers = 0;                   // highest register of the code, and one
  std::int64_t frame = 0;              // bytes of a thread in local memory
  bool keeps_shared = false;           // values pass through shared memory and decide something
};

// `entry` addresses that only the data tell (BRX tables) begin no block of their own: the block is entered in its
// middle.
[[nodiscard]] EmulatedCode prepare(const Listing& listing, const Code& code, Wanted wanted);

// Whether lanes of it go to addresses of their own, and whether a unit copies or reduces a whole box.
[[nodiscard]] bool has_addresses(Semantics semantics);
[[nodiscard]] inline bool is_bulk(Semantics s) { return s == Semantics::bulk_load || s == Semantics::bulk_store; }
// Whether lanes go to memory beyond the SM. Stores to local memory do; loads of it are taken to find all in L1.
[[nodiscard]] bool asks_global(Semantics semantics);
[[nodiscard]] inline bool is_store(Semantics s) { return s == Semantics::store_global || s == Semantics::store_local; }

// An integer that CTAs add to, of which the code wants to know what was there: a ticket, places in a list.
[[nodiscard]] bool is_counter(const Step& step);

// The address in brackets, the first (0) or a later one; null: there are fewer.
[[nodiscard]] const Operand* memory_operand(const Instruction& in, std::size_t which);

// The last operand that names a place in the code; null: none does.
[[nodiscard]] const Operand* target_of(const Instruction& in);
// The instruction there.
[[nodiscard]] std::optional<std::int32_t> target_at(const EmulatedCode& code, std::int32_t at);

// Sees what other SMs have written: L1, which is coherent within an SM alone, does not answer.
[[nodiscard]] bool is_coherent_beyond_sm(const Step& step);

// Operands that an instruction reads and writes, as sets of registers: bit r of R0 to R254, then UR, P, UP.
struct RegisterSet {
  std::array<std::uint64_t, 10> word{};  // 0-3 R, 4-7 UR, 8 P, 9 UP
  void add(const Operand& operand, int width);
  [[nodiscard]] bool meets(const RegisterSet& other) const;
  void remove(const RegisterSet& other);
  void keep(const RegisterSet& other);   // what is in both
  bool merge(const RegisterSet& other);  // whether anything is new
};
// Blocks to which control may go behind each block.
[[nodiscard]] std::vector<std::vector<std::int32_t>> successors_of(const EmulatedCode& code);
[[nodiscard]] RegisterSet written(const Step& step);
[[nodiscard]] RegisterSet read(const Step& step);

// Which instructions decide where warps go and what addresses they ask for: backward from branches and memory
// instructions through what they read. Marks steps; sets keeps_shared.
void slice(EmulatedCode& code, Wanted wanted);

// How many registers of a thread hold a value that something still reads, before each instruction: backward over the
// basic blocks until nothing changes. Widths of operands are those of the opcode table.
[[nodiscard]] std::vector<int> live_registers(const EmulatedCode& code);

// Guessed from the order of the code (jump_tables.cpp).
[[nodiscard]] JumpTables jump_tables(const EmulatedCode& code);

}  // namespace noteg::compiled
