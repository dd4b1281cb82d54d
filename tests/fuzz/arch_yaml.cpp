// Architecture files: any bytes give a specification or diagnostics.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "arch/load.hpp"

namespace {

// The file that inputs are written to; it goes with the process.
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("noteg_fuzz_" + std::to_string(getpid()) + ".yaml")).string();
  ~File() { std::remove(path.c_str()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const File file;
  std::ofstream(file.path, std::ios::binary) << std::string(data, data + size);
  static_cast<void>(noteg::arch::check_file(file.path));
  static_cast<void>(noteg::arch::load_gpu(file.path));
  return 0;
}
