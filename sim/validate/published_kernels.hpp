// Hand-written kernels whose names stand in published tables and say neither family nor register block. Only what their
// authors document is listed; a kernel whose tile is not recorded in the row is skipped, not guessed.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernels/config/config.hpp"

namespace noteg::validate {

// Of a row that a library ran: no tile, but a menu from which it chose.
inline constexpr std::string_view library_call = "library call: its kernel was not recorded";

struct PublishedKernel {
  std::string_view source, name;
  kernels::Family family = kernels::Family::naive;
  int thread_m = 1, thread_n = 1;
  int align = 4;                   // elements per global access
  std::string_view inexpressible;  // not empty: why the model has no such kernel
};

[[nodiscard]] std::optional<PublishedKernel> published_kernel(std::string_view source, std::string_view name);

}  // namespace noteg::validate
