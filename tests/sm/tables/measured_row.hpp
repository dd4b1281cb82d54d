// One measured number of real hardware and how to obtain the same number from the engine. A row passes when the model
// is within one cycle or 3 % of the measurement; rows that are known to fail stand in known_exceptions() with their
// reason, and then must fail.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace noteg::sm::tables {

enum class Allowed { one_cycle_or_3_percent, only_3_percent, five_percent };

struct MeasuredRow {
  std::string id;  // "table: row", unique
  double measured = 0;
  std::string source;
  std::function<double()> modelled;
  Allowed allowed = Allowed::one_cycle_or_3_percent;
};

struct KnownException {
  std::string id;
  std::string reason;
};

// Every table of this folder.
std::vector<MeasuredRow> issue_cycle_rows();
std::vector<MeasuredRow> memory_latency_rows();
std::vector<MeasuredRow> register_port_rows();
std::vector<MeasuredRow> compiler_latency_rows();
std::vector<MeasuredRow> generation_latency_rows();
std::vector<MeasuredRow> memory_throughput_rows();
std::vector<MeasuredRow> micro_benchmark_rows();
std::vector<MeasuredRow> arithmetic_throughput_rows();
std::vector<MeasuredRow> tensor_rows();

std::vector<KnownException> known_exceptions();

[[nodiscard]] bool fits(const MeasuredRow& row, double modelled);

// Test names may hold letters, digits and underscores only.
[[nodiscard]] std::string test_name(const testing::TestParamInfo<MeasuredRow>& info);

class HardwareTable : public testing::TestWithParam<MeasuredRow> {};

void PrintTo(const MeasuredRow& row, std::ostream* out);

}  // namespace noteg::sm::tables
