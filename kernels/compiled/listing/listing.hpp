// Listings of machine code: what `nvdisasm -hex -c` and `cuobjdump -sass` print, and the form that Triton keeps.
// Several kernels in a file; labels, constants and -lineinfo comments. Which instructions mean what is opcodes.hpp's.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/compiled/listing/instruction.hpp"
#include "sim/support/result.hpp"

namespace noteg::compiled {

inline constexpr std::size_t largest_listing = std::size_t{256} << 20;  // bytes, unpacked
inline constexpr std::size_t most_instructions = 1'000'000;             // of a file

// One entry: its own code and that of the functions in its section (slow paths of libdevice).
struct Code {
  std::string name;
  int line = 0;
  std::optional<int> registers;                                 // per thread, where the listing says so
  std::vector<Instruction> instructions;                        // by address
  std::map<std::uint32_t, std::vector<std::uint32_t>> targets;  // of a BRX at an address, where the listing says so

  // Index of the instruction at an address; nullopt: none there.
  [[nodiscard]] std::optional<std::int32_t> at(std::uint64_t address) const;
};

struct Listing {
  std::string file;
  int sm = 0;  // 90 of sm_90a; 0: the file does not say
  std::vector<Code> kernels;
  std::vector<std::string> sources;         // of -lineinfo
  bool has_constants = false;               // a bank of its own, c[0x3]: what CUDA calls __constant__
  std::shared_ptr<const std::string> text;  // what the instructions' views look into

  [[nodiscard]] Result<const Code*> kernel(const std::string& name) const;
};

// The listing in a file, packed by gzip or not.
[[nodiscard]] Result<Listing> read_listing(const std::filesystem::path& path);
[[nodiscard]] Result<Listing> parse_listing(std::string text, std::string file);

}  // namespace noteg::compiled
