// Cubins: any bytes give kernels or diagnostics.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/compiled/cubin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  static_cast<void>(noteg::compiled::parse_cubin(bytes, "fuzz.cubin"));
  return 0;
}
