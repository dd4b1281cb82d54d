// Our H200 micro-benchmarks (tests/data/h200_micro.csv): one row per measured number.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace noteg::sm::tables {

struct MicroBenchmark {
  std::string name;
  std::string params;  // as in the file: "width=32;warps=1"
  double value = 0;
  std::string unit;

  // Throws std::out_of_range where the parameter is missing.
  [[nodiscard]] std::string text(const std::string& parameter) const { return parameters.at(parameter); }
  [[nodiscard]] int number(const std::string& parameter) const { return std::stoi(text(parameter)); }
  [[nodiscard]] bool has(const std::string& parameter) const { return parameters.contains(parameter); }

  std::map<std::string, std::string> parameters;
};

[[nodiscard]] std::vector<MicroBenchmark> micro_benchmarks();

}  // namespace noteg::sm::tables
