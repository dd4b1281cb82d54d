// Kernel names, as profilers print them: any text is understood or refused; what is understood resolves and builds.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/build_kernel.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto config = noteg::kernels::config_from_name(text);
  if (config) noteg::fuzz::build(*config);
  return 0;
}
