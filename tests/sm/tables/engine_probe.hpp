// Short questions to the engine, as a micro-benchmark would put them to hardware.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sm/micro_kernel.hpp"

namespace noteg::sm::tables {

inline constexpr const char* ga102 = "rtx-a6000";  // sm_86, the GPU of MICRO25
inline constexpr const char* ga100 = "a100-pcie-40gb";
inline constexpr const char* ada = "rtx4070";
inline constexpr const char* gh100 = "h200-sxm-141gb";

// "[bits] text ;"
[[nodiscard]] std::string ins(std::string_view control, std::string_view text);
// "[B------:R-:W-:-:S01] text ;"
[[nodiscard]] std::string ins(std::string_view text);
[[nodiscard]] std::string repeated(const std::string& text, int times);

// All loads hit L1.
[[nodiscard]] MemoryPort l1_hits(const std::string& gpu);

// Every issue of one run, in order.
[[nodiscard]] std::vector<IssueRecord> issues(const std::string& text, const std::string& gpu);

// Cycles between the first issue of two instructions of warp 0.
[[nodiscard]] double cycles_between(const std::string& text, std::int32_t from, std::int32_t to,
                                    const std::string& gpu);

// Cycles per copy of `body` in a loop that holds `copies` of it, the loop's own cost left out by the difference between
// two lengths.
[[nodiscard]] double cycles_per_copy(const std::string& head, const std::string& body, int copies,
                                     const std::string& gpu);

// The text with stall counts and dependence counters as the compiler pass gives them for that GPU.
[[nodiscard]] double cycles_per_compiled_copy(const std::string& body, int copies, const std::string& gpu);

}  // namespace noteg::sm::tables
