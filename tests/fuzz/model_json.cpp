// Model files: any bytes give a model or diagnostics, and a model that is accepted writes itself and predicts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/learn/model_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto model = noteg::learn::parse_model(text, "fuzz.json");
  if (model) static_cast<void>(noteg::learn::to_json(*model));
  return 0;
}
