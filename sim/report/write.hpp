// A simulation's report as text, JSON or CSV. All three are made from the table of counters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/gpu/limits/explain.hpp"
#include "sim/gpu/report.hpp"
#include "sim/report/counters.hpp"

namespace noteg::report {

// For people: at most 80 columns, units beside every figure, plain ASCII so that any terminal shows it.
[[nodiscard]] std::string to_text(const gpu::SimReport& report);

// "C[512x512] = A[512x64] B[64x512], f16 -> f16, layout tn", and "mma 128x128x32, 256 threads, 4 stages ...": what was
// run, in the words of the text.
[[nodiscard]] std::string problem_text(const gpu::SimReport& report);
[[nodiscard]] std::string kernel_text(const gpu::SimReport& report);
// "1024 CTAs in 22.3 waves", or the tiles of persistent CTAs.
[[nodiscard]] std::string grid_text(const gpu::SimReport& report);

// The interval that holds 90 % of measured times: "6.03 ms to 6.43 ms"; "unknown" where nothing was measured. And
// relative to the predicted time: "-3 % to +4 %".
[[nodiscard]] std::string interval_text(const gpu::SimReport& report);
[[nodiscard]] std::string relative_interval_text(const gpu::SimReport& report);

// One JSON object, two-space indented, ending in a newline. Numbers are finite; what is absent is null.
[[nodiscard]] std::string to_json(const gpu::SimReport& report);

// A header and one row per report. Columns are the counters with dots, and by opcode a text "FFMA=1;LDS=2".
[[nodiscard]] std::string to_csv(const std::vector<gpu::SimReport>& reports);

// What each limit costs, as text, JSON or CSV.

[[nodiscard]] std::string explanation_text(const gpu::Explanation& explanation);  // the report, then the table
[[nodiscard]] std::string explanation_json(const gpu::Explanation& explanation);  // the report with "explain": [...]
[[nodiscard]] std::string explanation_csv(const gpu::Explanation& explanation);   // the table alone

// Figures and bars as people read them: three significant digits, a prefix, a unit. Plain ASCII.

// 0.0123 -> "0.0123", 12.345 -> "12.3", 1234.5 -> "1234"; three significant digits, never an exponent below 1e15.
[[nodiscard]] std::string three_digits(double value);

// A value with its unit: 1536 bytes -> "1.54 kB", 0.25 fraction -> "25.0 %", 1.2e6 us -> "1.2 s".
[[nodiscard]] std::string figure(const Value& value, Unit unit);

// A bar of `width` characters filled to `share` (0..1, clamped): "#####.....".
[[nodiscard]] std::string bar(double share, std::size_t width);

// Breaks a sentence between words into lines of at most `width` characters; a longer word goes
// on in the next line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace noteg::report
