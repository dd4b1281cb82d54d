// Kernels of a few lines, in the form that Triton keeps: no addresses, labels by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/compiled/listing/listing.hpp"
#include "kernels/compiled/profile.hpp"

namespace noteg::compiled {

// A line is an instruction, or a label where it ends with a colon.
inline Listing small_listing(const std::string& code) {
  std::string text = "code for sm_90\nFunction:k\n";
  for (std::size_t from = 0, end = 0; from < code.size(); from = end + 1) {
    end = std::min(code.find('\n', from), code.size());
    const std::string line = code.substr(from, end - from);
    if (!line.empty()) text += line.back() == ':' ? line + "\n" : "--:-:-:-:1\t" + line + ";\n";
  }
  Result<Listing> read = parse_listing(text, "small.sass");
  EXPECT_TRUE(read) << to_string(read.errors());
  return std::move(*read);
}

// A launch of such a kernel.
struct Small {
  Listing listing;
  Launch launch;
  std::optional<Profile> profile;

  explicit Small(const std::string& code, std::vector<Argument> arguments = {}, Extent block = {32, 1, 1},
                 Extent grid = {1, 1, 1}) {
    listing = small_listing(code);
    launch.block = block;
    launch.grid = grid;
    launch.arguments = std::move(arguments);
  }

  const InstructionCounts& at(std::size_t instruction) {
    if (!profile) {
      const LaunchMemory memory(launch, listing.sm);
      Result<Profile> result = noteg::compiled::profile(listing, listing.kernels.at(0), launch, memory);
      EXPECT_TRUE(result) << to_string(result.errors());
      profile = std::move(*result);
    }
    return profile->counts.at(instruction);
  }
};

inline Argument i32(std::int64_t value) {
  Argument out;
  out.value = value;
  return out;
}

inline Argument buffer(std::int64_t bytes) {
  Argument out;
  out.kind = ArgumentKind::buffer;
  out.name = "a";
  out.bytes = bytes;
  return out;
}

}  // namespace noteg::compiled
