// The state of one warp and the rules by which instructions change it: integers, predicates, addresses, conversions.
// Floating-point values are followed only where they are known (arguments, integer division through a reciprocal).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "kernels/compiled/emulator/code.hpp"
#include "kernels/compiled/emulator/lanes.hpp"
#include "kernels/compiled/launch_file.hpp"

namespace noteg::compiled {

// What a launch looks like to its code: constant bank 0 and where the buffers lie.
class LaunchMemory {
 public:
  static constexpr std::uint32_t stack_top = 0xfffdc0;  // of local memory

  LaunchMemory(const Launch& launch, int sm);

  struct Buffer {
    std::string name;
    std::uint64_t base = 0;
    std::int64_t bytes = 0;
    Content content = Content::unknown;
    std::int64_t below = 0;
    int integer_bytes = 4;
  };

  // A tensor map among the arguments, or behind a pointer among them.
  struct Map {
    std::uint64_t descriptor = 0;  // its address
    std::uint64_t base = 0;        // of the tensor
    TensorMap map;
  };
  [[nodiscard]] const Map* map_at(std::uint64_t descriptor) const;

  // 32 bits of bank 0; nothing where the launch does not say.
  [[nodiscard]] std::optional<std::uint32_t> constant(std::int64_t offset) const;
  [[nodiscard]] std::span<const Buffer> buffers() const { return buffers_; }
  // Index of the buffer that holds an address; -1 none.
  [[nodiscard]] int buffer_at(std::uint64_t address) const;
  // 32 bits that a load brings, where the content is known.
  [[nodiscard]] std::optional<std::uint32_t> load(std::uint64_t address, int bytes, int word) const;
  // A buffer holds random numbers: by chance alone they lead to roots of negative ones and failed assertions.
  [[nodiscard]] bool has_numbers() const;
  // First address of shared memory that a kernel's own variables take.
  [[nodiscard]] std::uint32_t shared_begin() const { return sm_ >= 90 ? 1024 : 0; }

 private:
  // Tensor maps that lie within a structure.
  void find_maps(std::int64_t offset, const std::string& raw);
  void put(std::int64_t offset, std::uint64_t value, int bytes);

  int sm_, parameters_;
  std::vector<std::uint8_t> bank_, known_;
  std::vector<Buffer> buffers_;
  std::vector<Map> maps_;
};

struct CtaPlace {
  std::array<std::uint32_t, 3> id{};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t rank = 0;  // in its cluster
};

// Shared memory of a CTA, as far as its contents are known: words and parts of them, by bytes.
class SharedWords {
 public:
  [[nodiscard]] std::optional<std::uint32_t> at(std::uint32_t address, int bytes = 4) const {
    const std::size_t i = address / 4;
    const std::uint32_t wanted = mask(address, bytes);
    if (wanted == 0 || i >= known_.size() || (known_[i] & wanted) != wanted) return std::nullopt;
    return (value_[i] & wanted) >> (8 * (address % 4));
  }
  void put(std::uint32_t address, std::uint32_t value, int bytes = 4) {
    const std::size_t i = address / 4;
    const std::uint32_t changed = mask(address, bytes);
    if (changed == 0 || i >= most) return;
    if (i >= known_.size()) known_.resize(i + 1), value_.resize(i + 1);
    words_ += known_[i] == 0;
    known_[i] |= changed;
    value_[i] = (value_[i] & ~changed) | (value << (8 * (address % 4)) & changed);
  }
  void forget(std::uint32_t address, int bytes = 4) {
    const std::size_t i = address / 4;
    if (i >= known_.size() || known_[i] == 0) return;
    known_[i] &= ~mask(address, bytes);
    words_ -= known_[i] == 0;
  }
  [[nodiscard]] bool none_known() const { return words_ == 0; }

 private:
  // The bits of a word in which so many bytes lie; none where they do not lie within one.
  static std::uint32_t mask(std::uint32_t address, int bytes) {
    const std::uint32_t begin = address % 4;
    if (begin % static_cast<std::uint32_t>(bytes) != 0) return 0;
    return (bytes >= 4 ? ~0u : (1u << (8 * bytes)) - 1) << (8 * begin);
  }
  static constexpr std::size_t most = (std::size_t{1} << 20) / 4;  // no SM has so much
  std::vector<std::uint32_t> value_, known_;
  std::size_t words_ = 0;  // of which something is known
};

// How often a CTA has come to an atomic operation whose result it wants, by address of the instruction.
using Turns = std::map<std::uint64_t, std::uint32_t>;

// What the lanes of a CTA bring to a barrier that reduces a predicate (BAR.RED), and what the last one gave.
struct Ballots {
  struct Count {
    std::uint32_t ones = 0, zeros = 0, unknown = 0;  // lanes
    const Instruction* at = nullptr;
  };
  Count coming, last;
  std::int64_t number = 0;  // of the last
};

struct Registers {
  std::array<Lanes, 256> r;
  std::array<Lanes, 256> u;
  std::array<Predicate, 8> p, up;
  std::map<std::uint32_t, Lanes> local;  // by offset
  std::bitset<256> bent,
      bent_uniform;  // made from a mask or a shift: need not change evenly from iteration to iteration
  Registers();
};

// What decides: differences of compared values, and how far sums are from carrying, in the order of execution. Where
// they change by a constant from one period of a loop to the next, they say for how long nothing else will happen.
struct Decisions {
  struct Entry {
    const Instruction* in = nullptr;
    std::uint32_t known = 0;
    std::array<std::int64_t, 32> difference{};
    bool is_bent = false;  // a compared value that comes out of such an operation: it must not change at all
    bool bends = false;    // goes into an operation that is no sum (a mask, a shift): `difference` is its value
  };
  std::vector<Entry> entries;
};

// What carries out one instruction needs besides the registers.
struct Surroundings {
  const LaunchMemory* memory = nullptr;
  const Launch* launch = nullptr;
  const CtaPlace* place = nullptr;
  SharedWords* shared = nullptr;
  Turns* turns = nullptr;
  Ballots* ballots = nullptr;
  int warp = 0;
  Decisions* decisions = nullptr;
  const std::map<std::int64_t, std::uint32_t>* tables = nullptr;  // entries of JumpTables
};

// Lanes in which the guard holds, and those of which that is not known.
struct Guard {
  std::uint32_t holds = 0, unknown = 0;
};
[[nodiscard]] Guard guard_of(const Registers& registers, const Instruction& in, std::uint32_t active);
[[nodiscard]] Predicate predicate_of(const Registers& registers, const Operand& operand);
[[nodiscard]] Lanes value_of(const Registers& registers, const Surroundings& around, const Operand& operand);

// Changes the registers as the instruction does in `active` lanes. Control flow is the warp's (warp.hpp).
void carry_out(Registers& registers, const Surroundings& around, const Step& step, std::uint32_t active);

// Byte addresses of a memory instruction; global ones are 64 bits wide.
[[nodiscard]] Wide address_of(const Registers& registers, const Operand& operand, bool is_global);

// Lanes whose generic address of shared memory is that of another CTA of the cluster.
[[nodiscard]] std::uint32_t lanes_of_peers(const Registers& registers, const Operand& operand, std::uint32_t own_rank);

// Whether a guard that is not known holds where numbers are what they mostly are (machine.cpp); nothing where that does
// not tell.
[[nodiscard]] std::optional<bool> by_ordinary_numbers(const EmulatedCode& code, std::int32_t at);

}  // namespace noteg::compiled
