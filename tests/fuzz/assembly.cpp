// Micro-kernels: any bytes give a program or diagnostics, and what is accepted prints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/assembly/assembly.hpp"
#include "kernels/ir/listing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto program = noteg::kernels::parse_assembly(text, "fuzz.nsass");
  if (program) static_cast<void>(noteg::kernels::to_text(*program));
  return 0;
}
