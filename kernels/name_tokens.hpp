// Pieces of kernel names: profilers print fields joined by underscores, and extents joined by x.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/config.hpp"

namespace noteg::kernels {

using Tokens = std::vector<std::string_view>;

[[nodiscard]] Tokens split_name(std::string_view name);  // at underscores; "a__b" has an empty token

// 128x64x8 with exactly `count` extents of 1 to 99999; nothing for anything else.
[[nodiscard]] std::optional<std::vector<int>> extents(std::string_view token, std::size_t count);

// The token after a fixed prefix, as extents: prefixed("w64x64", "w", 2).
[[nodiscard]] std::optional<std::vector<int>> prefixed(std::string_view token, std::string_view prefix,
                                                       std::size_t count);

// A over B of a library's name, laid along this program's M and N.
void set_tile(ParsedName& parsed, int a, int b, int k);

// Tensor-core kernels: what their names say. Nothing where the name is of another kind.
[[nodiscard]] std::optional<ParsedName> parse_tensor_name(const Tokens& tokens);

// nvjet_sm90_*, cutlass3x_sm90_*: an error names the part that is not modelled. Nothing where the name is of another
// kind.
[[nodiscard]] std::optional<Result<ParsedName>> parse_hopper_name(const Tokens& tokens);

}  // namespace noteg::kernels
