#include "kernels/families/triton/triton.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>

#include "kernels/config/config_file.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::array<std::string_view, 12> words_without_effect{"EVEN_K",
                                                                "ACC_TYPE",
                                                                "ALLOW_TF32",
                                                                "B_PROLOGUE_CAST_TYPE",
                                                                "USE_FAST_ACCUM",
                                                                "num_ctas",
                                                                "maxnreg",
                                                                "num_buffers_warp_spec",
                                                                "num_consumer_groups",
                                                                "reg_dec_producer",
                                                                "reg_inc_consumer",
                                                                "pre_hook"};

Diagnostic wrong(std::string key, std::string expected, std::string found) {
  return {"", 0, 0, std::move(key), std::move(expected), std::move(found)};
}

KernelConfig usual() {
  KernelConfig config;
  config.family = Family::triton;
  config.raster = Raster::along_n;
  config.swizzle_log2 = 3;
  return config;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view around = " \t\n\r\"'{}";
  while (!text.empty() && around.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && around.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

// BLOCK_M, BLOCK_SIZE_M and block_m are one word.
std::string plain(std::string_view word) {
  std::string out;
  for (const char c : word) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (const std::size_t at = out.find("_size"); at != std::string::npos) out.erase(at, 5);
  return out;
}

std::optional<Diagnostic> set_word(KernelConfig& config, std::string_view word, std::string_view value) {
  if (std::ranges::find(words_without_effect, word) != words_without_effect.end()) return std::nullopt;
  const std::string key = plain(word);
  int* const block = key == "block_m"   ? &config.tile.m
                     : key == "block_n" ? &config.tile.n
                     : key == "block_k" ? &config.tile.k
                                        : nullptr;
  if (block == nullptr) {
    if (key == "group_m" || key == "num_warps" || key == "num_stages") return set_kernel_key(config, key, value);
    return wrong(std::string(word), "BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, num_warps or num_stages", "an unknown word");
  }
  const std::optional<long long> number = parse_integer(value);
  if (!number || *number < 1 || *number > 1024)
    return wrong(std::string(word), "an integer from 1 to 1024", "\"" + std::string(value) + "\"");
  *block = static_cast<int>(*number);
  return std::nullopt;
}

// The end of the part that begins at 0: a comma outside of quotes and brackets.
std::size_t part_end(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return text.size();
}

// BLOCK_M, BLOCK_N, BLOCK_K, num_stages, num_warps
struct Listed {
  int m, n, k, stages, warps;
};
// mm_kernel_configs and extra_mm_kernel_configs of torch/_inductor/kernel/mm_common.py, versions 2.4 to 2.6.
constexpr std::array<Listed, 29> inductor{
    {{32, 32, 16, 1, 2},   {32, 32, 128, 2, 4},  {32, 64, 32, 5, 8},   {64, 32, 32, 5, 8},   {64, 32, 128, 5, 4},
     {64, 64, 16, 2, 4},   {64, 64, 32, 2, 4},   {64, 64, 64, 3, 8},   {64, 64, 128, 5, 4},  {64, 128, 32, 3, 4},
     {64, 128, 32, 4, 8},  {64, 128, 64, 3, 4},  {64, 128, 128, 4, 4}, {128, 64, 32, 3, 4},  {128, 64, 32, 4, 8},
     {128, 64, 64, 3, 8},  {128, 64, 128, 4, 8}, {128, 128, 32, 2, 8}, {128, 128, 32, 3, 4}, {128, 128, 32, 4, 4},
     {128, 128, 64, 3, 4}, {128, 128, 64, 5, 8}, {16, 32, 16, 3, 2},   {16, 32, 32, 4, 2},   {16, 32, 32, 5, 2},
     {64, 64, 128, 3, 4},  {128, 64, 32, 2, 2},  {128, 128, 64, 3, 8}, {128, 128, 64, 5, 4}}};

KernelConfig config_of(const Listed& l) {
  KernelConfig config = usual();
  config.tile = {l.m, l.n, l.k};
  config.stages = l.stages;
  config.threads = 32 * l.warps;
  return config;
}

}  // namespace

Result<KernelConfig> triton_from_text(std::string_view text) {
  KernelConfig config = usual();
  Diagnostics errors;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t end = part_end(text);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t between = part.find_first_of("=:");
    if (between == std::string_view::npos) {
      if (!trimmed(part).empty())
        errors.push_back(wrong("config", "WORD=NUMBER, ...", "\"" + std::string(part) + "\""));
      continue;
    }
    const std::string_view value = trimmed(part.substr(between + 1));
    if (const auto error = set_word(config, trimmed(part.substr(0, between)), value)) errors.push_back(*error);
  }
  if (errors.empty() && (config.tile.m == 0 || config.tile.n == 0 || config.tile.k == 0))
    errors.push_back(wrong("config", "BLOCK_M, BLOCK_N and BLOCK_K", "not all of them"));
  if (!errors.empty()) return errors;
  return config;
}

std::string triton_text(const KernelConfig& c) {
  const auto word = [](const char* name, int value) { return std::string(name) + "=" + std::to_string(value); };
  return word("BLOCK_K", c.tile.k) + ", " + word("BLOCK_M", c.tile.m) + ", " + word("BLOCK_N", c.tile.n) + ", " +
         word("GROUP_M", c.raster == Raster::along_n ? 1 << c.swizzle_log2 : 1) + ", " +
         word("num_stages", c.stages.value_or(3)) + ", " + word("num_warps", c.threads.value_or(128) / 32);
}

Result<std::vector<KernelConfig>> triton_from_json(std::string_view text) {
  std::vector<KernelConfig> out;
  Diagnostics errors;
  const auto first = text.find('[');
  const auto last = text.rfind(']');
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first)
    return wrong("--space", "a JSON list of configurations", "none");
  text = text.substr(first + 1, last - first - 1);
  while (true) {
    const std::size_t begin = text.find_first_of("[{");
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(text[begin] == '[' ? ']' : '}', begin);
    if (end == std::string_view::npos) return wrong("--space", "closed brackets", "an open one");
    std::string part(text.substr(begin + 1, end - begin - 1));
    if (text[begin] == '[') {  // by place
      constexpr std::array<const char*, 5> words{"BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps"};
      std::string named;
      std::string_view rest = part;
      for (std::size_t i = 0; i < words.size() && !rest.empty(); ++i) {
        const std::size_t comma = part_end(rest);
        named += std::string(words[i]) + "=" + std::string(rest.substr(0, comma)) + ",";
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
      part = named;
    }
    Result<KernelConfig> config = triton_from_text(part);
    if (config)
      out.push_back(std::move(*config));
    else
      for (const Diagnostic& error : config.errors()) errors.push_back(error);
    text.remove_prefix(end + 1);
  }
  if (!errors.empty()) return errors;
  if (out.empty()) return wrong("--space", "at least one configuration", "none");
  return out;
}

std::vector<KernelConfig> inductor_configs(const GemmShape& shape) {
  const auto fit = [](int block, std::int64_t extent) {
    const auto most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent)));
    return static_cast<int>(std::max<std::int64_t>(16, std::min<std::int64_t>(block, most)));
  };
  std::vector<KernelConfig> out;
  for (Listed l : inductor) {
    l.m = fit(l.m, shape.m);
    l.n = fit(l.n, shape.n);
    l.k = fit(l.k, shape.k);
    l.warps = std::max(1, std::min(l.warps, l.m * l.n / 256));
    const KernelConfig config = config_of(l);
    if (std::ranges::find(out, config) == out.end()) out.push_back(config);
  }
  return out;
}

}  // namespace noteg::kernels
