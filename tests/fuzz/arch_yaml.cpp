// Architecture files: any bytes give a specification or diagnostics.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "arch/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/tmp/noteg_fuzz_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path, std::ios::binary) << std::string(data, data + size);
  static_cast<void>(noteg::arch::check_file(path));
  static_cast<void>(noteg::arch::load_gpu(path));
  return 0;
}
