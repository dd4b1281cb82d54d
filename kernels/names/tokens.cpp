#include "kernels/names/tokens.hpp"

#include <algorithm>
#include <charconv>

namespace noteg::kernels::names {
namespace {

// _ZN7cutlass7Kernel2I66cutlass_80_...: a length, then as many characters.
std::optional<std::string_view> mangled_argument(std::string_view name) {
  for (const std::string_view kernel : {"7Kernel2I", "6KernelI"}) {
    const std::size_t at = name.find(kernel);
    if (!name.starts_with("_ZN") || at == std::string_view::npos) continue;
    const std::string_view rest = name.substr(at + kernel.size());
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error == std::errc{} && length <= rest.size() - digits) return rest.substr(digits, length);
  }
  return std::nullopt;
}

}  // namespace

Tokens split_name(std::string_view name) {
  Tokens tokens;
  while (true) {
    const std::size_t end = name.find('_');
    tokens.push_back(name.substr(0, end));
    if (end == std::string_view::npos) return tokens;
    name.remove_prefix(end + 1);
  }
}

std::optional<std::vector<int>> extents(std::string_view token, std::size_t count) {
  std::vector<int> values;
  while (values.size() < count) {
    const bool last = values.size() + 1 == count;
    const std::size_t end = last ? token.size() : token.find('x');
    if (end == std::string_view::npos) return std::nullopt;
    int value = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + end, value);
    if (error != std::errc{} || stop != token.data() + end || value < 1 || value > 99999) return std::nullopt;
    values.push_back(value);
    token.remove_prefix(last ? end : end + 1);
  }
  return values;
}

std::optional<std::vector<int>> prefixed(std::string_view token, std::string_view prefix, std::size_t count) {
  if (!token.starts_with(prefix)) return std::nullopt;
  return extents(token.substr(prefix.size()), count);
}

std::string_view template_argument(std::string_view name) {
  if (const auto argument = mangled_argument(name)) return *argument;
  const std::size_t kernel = name.find("cutlass");
  const std::size_t open = name.find("::Kernel", kernel == std::string_view::npos ? name.size() : kernel);
  const std::size_t from = open == std::string_view::npos ? open : name.find('<', open);
  const std::size_t argument = from == std::string_view::npos ? 0 : from + 1;  // some tools print NAME>(NAME::Params)
  const std::size_t to = name.find('>', argument);
  if (to == std::string_view::npos || (argument == 0 && !name.starts_with("cutlass_"))) return name;
  return name.substr(argument, to - argument);
}

void set_tile(ParsedName& parsed, int a, int b, int k) {
  parsed.config.tile = parsed.swapped ? Tile{b, a, k} : Tile{a, b, k};
}

void set_library_frame(ParsedName& parsed) { parsed.config.raster = Raster::along_n; }

std::optional<InstructionName> instruction_name(std::string_view token) {
  if (token.size() < 6 || !token.ends_with("gemm")) return std::nullopt;
  InstructionName name;
  switch (token.front()) {
    case 's': name.acc = DataType::f32; break;
    case 'h': name.acc = DataType::f16; break;
    case 'i': name.acc = DataType::s32; break;
    default: return std::nullopt;
  }
  token = token.substr(1, token.size() - 5);
  const std::size_t digits = std::min(token.find_first_not_of("0123456789"), token.size());
  if (digits < 3) return std::nullopt;
  name.shape = token.substr(0, digits);
  name.rounded = token.substr(digits);
  return name;
}

std::optional<DataType> operand_type(const InstructionName& instruction, std::optional<DataType> named) {
  if (instruction.rounded == "tf32" && (!named || named == DataType::f32)) return DataType::tf32;
  if (!instruction.rounded.empty()) return std::nullopt;  // f32 in memory, multiplied as f16 or bf16
  if (named) return *named == DataType::f32 ? DataType::tf32 : *named;
  switch (instruction.acc) {
    case DataType::f16: return DataType::f16;  // half throughout
    case DataType::f32: return instruction.shape == "1688" ? std::optional(DataType::tf32) : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<Tile> mma_shape(std::string_view shape) {
  if (shape == "161616") return Tile{16, 8, 16};
  int depth = 0;
  if (!shape.starts_with("168")) return std::nullopt;
  const std::string_view k = shape.substr(3);
  const auto [end, error] = std::from_chars(k.data(), k.data() + k.size(), depth);
  if (error != std::errc{} || end != k.data() + k.size() || (depth != 8 && depth != 16 && depth != 32 && depth != 64))
    return std::nullopt;
  return Tile{16, 8, depth};
}

Diagnostic refused(std::string expected, std::string found) {
  return {"", 0, 0, "kernel_name", std::move(expected), std::move(found)};
}

}  // namespace noteg::kernels::names
