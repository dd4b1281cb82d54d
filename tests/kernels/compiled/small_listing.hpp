// Kernels of a few lines, in the form that Triton keeps: no addresses, labels by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/compiled/listing.hpp"

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

}  // namespace noteg::compiled
