// Measured data in memory and a simulator that answers at once, so that tests say what is theirs.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/support/csv.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::test {

inline validate::MeasuredData data_of(const std::string& text) {
  const Result<CsvTable> table = parse_csv(text, "test.csv");
  validate::MeasuredData data;
  data.files = {"test.csv"};
  data.columns = table->columns;
  for (std::size_t i = 0; i < table->rows.size(); ++i)
    data.rows.push_back({0, i + 1, table->rows.row(i), table->lines[i]});
  return data;
}

// A file that lives as long as the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_" + name)).string()) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One microsecond per million floating point operations; refuses tensor families as the model does.
inline Result<gpu::SimReport> fake_simulator(const arch::GpuSpec& gpu, const kernels::KernelConfig& config,
                                             const kernels::GemmShape& shape, const gpu::SimOptions& options) {
  if (config.family == kernels::Family::mma) return Diagnostic{"", 0, 0, "family", "naive, blocked or simt", "mma"};
  gpu::SimReport report;
  report.arch_id = gpu.id;
  report.kernel = config;
  report.shape = shape;
  report.time_us = shape.flops() * 1e-6;
  report.sm_clock_mhz = options.sm_clock_mhz.value_or(1000);
  report.occupancy.waves = static_cast<double>(shape.m) / 1024;
  report.warp_instructions = 10;
  report.memory.dram_read_bytes = 3;
  report.memory.dram_write_bytes = 4;
  return report;
}

}  // namespace noteg::test
