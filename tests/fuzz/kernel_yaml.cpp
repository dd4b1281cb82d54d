// Kernel files: any bytes give a configuration or diagnostics; what is accepted resolves and builds, or says why not.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/config/config_file.hpp"
#include "tests/fuzz/build_kernel.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto config = noteg::kernels::read_kernel_text(text, "fuzz.yaml");
  if (config) noteg::fuzz::build(*config);
  return 0;
}
