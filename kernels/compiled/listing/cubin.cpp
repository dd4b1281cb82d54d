#include "kernels/compiled/listing/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "sim/support/text_file.hpp"

namespace noteg::compiled {
namespace {

constexpr std::size_t largest_cubin = std::size_t{256} << 20;

// Numbers at offsets of a file, nothing where it is too short.
class CubinBytes {
 public:
  explicit CubinBytes(std::string_view all) : all_(all) {}
  template <class T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > all_.size() || all_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, all_.data() + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::optional<std::string_view> part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > all_.size() || size > all_.size() - offset) return std::nullopt;
    return all_.substr(offset, size);
  }

 private:
  std::string_view all_;
};

struct Section {
  std::string name;
  std::uint32_t type = 0, info = 0;
  std::uint64_t offset = 0, size = 0;
};

// Attributes of .nv.info (cuobjdump -elf prints their names): EIATTR_KPARAM_INFO, EIATTR_CBANK_PARAM_SIZE.
constexpr std::uint8_t parameter_info = 0x17, parameter_size = 0x19;

void read_attributes(std::string_view info, CubinKernel& out) {
  const CubinBytes bytes(info);
  std::map<std::uint16_t, CubinKernel::Parameter> parameters;
  for (std::uint64_t at = 0; at + 4 <= info.size();) {
    const auto format = *bytes.at<std::uint8_t>(at);
    const auto attribute = *bytes.at<std::uint8_t>(at + 1);
    const auto value = *bytes.at<std::uint16_t>(at + 2);
    const std::uint64_t size = format == 0x04 ? value : 0;
    if (attribute == parameter_size && format == 0x03) out.parameter_bytes = value;
    if (attribute == parameter_info && format == 0x04 && size >= 12) {
      const auto ordinal = bytes.at<std::uint16_t>(at + 4 + 4), offset = bytes.at<std::uint16_t>(at + 4 + 6);
      const auto packed = bytes.at<std::uint32_t>(at + 4 + 8);
      if (ordinal && offset && packed) parameters[*ordinal] = {*offset, static_cast<std::int64_t>(*packed >> 18)};
    }
    at += 4 + size;
  }
  for (const auto& [ordinal, parameter] : parameters) out.parameters.push_back(parameter);
}

Diagnostic damaged(const std::string& file, std::string what) {
  return {file, 0, 0, "", "a whole cubin", std::move(what)};
}

}  // namespace

Result<Cubin> parse_cubin(std::string_view text, const std::string& file) {
  const CubinBytes bytes(text);
  if (!text.starts_with("\x7f"
                        "ELF"))
    return Diagnostic{file, 0, 0, "", "a cubin (an ELF file)", "another kind of file"};
  if (bytes.at<std::uint8_t>(4) != std::uint8_t{2} || bytes.at<std::uint8_t>(5) != std::uint8_t{1})
    return damaged(file, "an ELF file of 32 bits or another byte order");
  constexpr std::uint16_t cuda = 190;
  if (bytes.at<std::uint16_t>(18) != cuda)
    return Diagnostic{file, 0, 0, "", "machine code of a CUDA GPU (EM_CUDA)", "that of another machine"};
  const auto headers = bytes.at<std::uint64_t>(40);
  const auto flags = bytes.at<std::uint32_t>(48);
  const auto entry_size = bytes.at<std::uint16_t>(58), count = bytes.at<std::uint16_t>(60),
             names_at = bytes.at<std::uint16_t>(62);
  if (!headers || !flags || !entry_size || !count || !names_at || *entry_size < 64)
    return damaged(file, "a header that is cut off");
  std::vector<Section> sections;
  std::vector<std::uint32_t> name_offsets;
  for (std::uint16_t i = 0; i < *count; ++i) {
    const std::uint64_t at = *headers + std::uint64_t{i} * *entry_size;
    const auto name = bytes.at<std::uint32_t>(at), type = bytes.at<std::uint32_t>(at + 4),
               info = bytes.at<std::uint32_t>(at + 44);
    const auto offset = bytes.at<std::uint64_t>(at + 24), size = bytes.at<std::uint64_t>(at + 32);
    if (!name || !type || !info || !offset || !size) return damaged(file, "section headers that are cut off");
    sections.push_back({"", *type, *info, *offset, *size});
    name_offsets.push_back(*name);
  }
  if (*names_at >= sections.size()) return damaged(file, "no table of section names");
  const auto names = bytes.part(sections[*names_at].offset, sections[*names_at].size);
  if (!names) return damaged(file, "a table of section names beyond its end");
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (name_offsets[i] >= names->size()) continue;
    const std::string_view rest = names->substr(name_offsets[i]);
    sections[i].name = rest.substr(0, std::min(rest.find('\0'), std::size_t{4096}));
  }
  Cubin out;
  out.sm = static_cast<int>(*flags & 0xff);
  if (out.sm < 50) out.sm = static_cast<int>(*flags >> 8 & 0xff);
  const auto section = [&](const std::string& name) { return std::ranges::find(sections, name, &Section::name); };
  for (const Section& code : sections) {
    if (!code.name.starts_with(".text.")) continue;
    CubinKernel kernel;
    kernel.name = code.name.substr(6);
    kernel.registers = static_cast<int>(code.info >> 24);
    if (const auto shared = section(".nv.shared." + kernel.name); shared != sections.end())
      kernel.shared_bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(shared->size, 1 << 20));
    if (const auto info = section(".nv.info." + kernel.name); info != sections.end()) {
      const auto part = bytes.part(info->offset, info->size);
      if (!part) return damaged(file, info->name + " beyond its end");
      read_attributes(*part, kernel);
    }
    out.kernels.push_back(std::move(kernel));
  }
  if (out.kernels.empty()) return damaged(file, "no code (.text.NAME)");
  return out;
}

Result<Cubin> read_cubin(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path, largest_cubin);
  if (!bytes) return bytes.errors();
  return parse_cubin(*bytes, path.string());
}

Result<Listing> disassemble(const std::filesystem::path& path) {
  if (const Result<Cubin> cubin = read_cubin(path); !cubin) return cubin.errors();
  std::vector<std::filesystem::path> places;
  if (const char* home = std::getenv("CUDA_HOME"))
    places.emplace_back(std::filesystem::path(home) / "bin" / "nvdisasm");
  if (const char* all = std::getenv("PATH")) {
    std::string_view rest = all;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) places.emplace_back(std::filesystem::path(rest.substr(0, end)) / "nvdisasm");
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  const auto tool = std::ranges::find_if(places, [](const auto& each) {
    std::error_code none;
    return std::filesystem::is_regular_file(each, none);
  });
  if (tool == places.end())
    return Diagnostic{path.string(),
                      0,
                      0,
                      "--cubin",
                      "nvdisasm in PATH or CUDA_HOME/bin; where the CUDA toolkit is, run: nvdisasm -hex -c " +
                          path.filename().string() + " > kernel.sass, and pass that with --sass",
                      "none"};
  // The path goes to the shell in single quotes.
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  const std::string command = quoted(tool->string()) + " -hex -c " + quoted(path.string()) + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), [](FILE* f) { return pclose(f); });
  if (!pipe) return Diagnostic{path.string(), 0, 0, "--cubin", "nvdisasm that can be run", tool->string()};
  std::string text;
  std::array<char, 1 << 16> piece{};
  for (std::size_t got = 0;
       (got = fread(piece.data(), 1, piece.size(), pipe.get())) > 0 && text.size() <= largest_listing;)
    text.append(piece.data(), got);
  return parse_listing(std::move(text), path.string() + " (nvdisasm)");
}

Diagnostics apply_cubin(const std::filesystem::path& path, Launch& launch) {
  const Result<Cubin> cubin = read_cubin(path);
  if (!cubin) return cubin.errors();
  const auto kernel = std::ranges::find_if(cubin->kernels, [&](const CubinKernel& k) {
    return k.name == launch.kernel || (launch.kernel.empty() && cubin->kernels.size() == 1);
  });
  if (kernel == cubin->kernels.end()) return {};  // the listing says what there is
  if (!launch.registers && kernel->registers > 0) launch.registers = kernel->registers;
  if (!launch.static_shared) launch.static_shared = kernel->shared_bytes;
  Diagnostics errors;
  if (!kernel->parameters.empty() && kernel->parameters.size() != launch.arguments.size()) {
    errors.push_back({launch.file, 0, 0, "args",
                      fmt::format("{} arguments, as the parameters of {}", kernel->parameters.size(), kernel->name),
                      fmt::format("{}", launch.arguments.size())});
    return errors;
  }
  for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
    if (kernel->parameters[i].bytes != launch.arguments[i].size())
      errors.push_back({launch.file, 0, 0, fmt::format("args[{}]", i),
                        fmt::format("an argument of {} bytes", kernel->parameters[i].bytes),
                        fmt::format("one of {}", launch.arguments[i].size())});
  }
  return errors;
}

}  // namespace noteg::compiled
