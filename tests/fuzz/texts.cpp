// The fuzz targets: any bytes, as a user or a stranger may write them, give what they mean or diagnostics. NOTEG_TARGET
// is the function that this program feeds.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "arch/load.hpp"
#include "kernels/assembly/assembly.hpp"
#include "kernels/compiled/listing/cubin.hpp"
#include "kernels/compiled/profile.hpp"
#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/support/csv.hpp"

namespace noteg::fuzz {

// The file that inputs are written to; it goes with the process.
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("noteg_fuzz_" + std::to_string(getpid()) + ".yaml")).string();
  ~File() { std::remove(path.c_str()); }
};

void arch_yaml(const std::string& text) {
  static const File file;
  std::ofstream(file.path, std::ios::binary) << text;
  static_cast<void>(arch::check_file(file.path));
  static_cast<void>(arch::load_gpu(file.path));
}

// What a configuration that was accepted must survive: its rules and its builder.
void build(const kernels::KernelConfig& config) {
  static const arch::GpuSpec gpu = *arch::load_gpu("h100-sxm5-80gb");
  const Result<kernels::KernelConfig> resolved = kernels::resolve(config, {512, 512, 512, 1});
  if (!resolved) return;
  // A tile of a million products unrolls to as many instructions: correct, and too slow for a fuzzer.
  if (std::int64_t{resolved->tile.m} * resolved->tile.n * resolved->tile.k > 128 * 128 * 64) return;
  kernels::BuildRequest request;
  request.config = *resolved;
  request.latency = sm::latency_model(gpu.sm);
  static_cast<void>(kernels::build_program(request));
}

void kernel_yaml(const std::string& text) {
  if (const auto config = kernels::read_kernel_text(text, "fuzz.yaml")) build(*config);
}

// As profilers print them.
void kernel_name(const std::string& text) {
  if (const auto config = kernels::config_from_name(text)) build(*config);
}

// A table that is written out reads back the same.
void csv(const std::string& text) {
  const auto table = parse_csv(text, "fuzz.csv");
  if (!table) return;
  std::string again = csv_line(table->columns);
  for (std::size_t i = 0; i < table->rows.size(); ++i) again += csv_line(table->rows.row(i));
  const auto second = parse_csv(again, "again.csv");
  if (!second || second->columns != table->columns || second->rows.size() != table->rows.size()) std::abort();
  for (std::size_t i = 0; i < table->rows.size(); ++i)
    if (second->rows.row(i) != table->rows.row(i)) std::abort();
}

// What is accepted prints.
void assembly(const std::string& text) {
  const auto program = kernels::parse_assembly(text, "fuzz.nsass");
  if (program) static_cast<void>(kernels::to_text(*program));
}

// What is read is made ready and emulated for a while.
void sass(const std::string& text) {
  const auto listing = compiled::parse_listing(text, "fuzz.sass");
  if (!listing) return;
  compiled::Launch launch;
  launch.grid = {3, 1, 1};
  launch.block = {48, 1, 1};
  launch.arguments.resize(4);
  const compiled::LaunchMemory memory(launch, listing->sm);
  for (const compiled::Code& code : listing->kernels) {
    static_cast<void>(unknown_opcodes(*listing, code));
    static_cast<void>(profile(*listing, code, launch, memory, {2000, 4}));
  }
}

void cubin(const std::string& bytes) { static_cast<void>(compiled::parse_cubin(bytes, "fuzz.cubin")); }

}  // namespace noteg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  noteg::fuzz::NOTEG_TARGET(std::string(data, data + size));
  return 0;
}
