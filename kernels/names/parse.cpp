// Kernel names, one scheme after the other. Each reader takes the whole name or nothing: a name with a part that is not
// understood is refused, for that part may change the kernel.
#include <algorithm>

#include "kernels/config/config_file.hpp"
#include "kernels/names/tokens.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t longest_name = 512;

Diagnostic not_understood(std::string found) {
  return names::refused("a kernel name such as ampere_sgemm_128x64_tn or cutlass_simt_sgemm_128x128_8x4_tn_align1",
                        std::move(found));
}

std::vector<std::string> nearest(std::string_view name) {
  const auto known = names::well_known_names();
  return nearest_names(name, {known.begin(), known.end()}, 1);
}

std::string quoted_with(std::string_view name, const std::vector<std::string>& near) {
  std::string found = "\"" + std::string(name) + "\"";
  if (!near.empty()) found += " (did you mean " + near.front() + "?)";
  return found;
}

// A part that is not understood may be a slip of a few letters; names that are far from all known ones have parts of
// their own.
Diagnostics with_a_slip(std::string_view name, Diagnostics refusals) {
  const std::vector<std::string> near = nearest(name);
  const auto slip = static_cast<int>(std::max<std::size_t>(2, name.size() / 20));
  if (near.empty() || edit_distance(name, near.front()) > slip) return refusals;
  refusals.front().found += " in " + quoted_with(name, near);
  return refusals;
}

Result<ParsedName> read(std::string_view kernel_name) {
  for (const auto reader : {names::read_attention, names::read_flash3, names::read_low_bit, names::read_triton})
    if (names::Reading reading = reader(kernel_name)) return *std::move(reading);
  if (const auto other = names::not_a_gemm(kernel_name)) return *other;
  const names::Tokens tokens = names::split_name(names::template_argument(kernel_name));
  for (const auto reader : {names::read_own, names::read_cublas, names::read_cutlass, names::read_cutlass3,
                            names::read_xmma, names::read_nvjet}) {
    names::Reading reading = reader(tokens);
    if (!reading) continue;
    if (*reading) return *std::move(reading);
    return with_a_slip(kernel_name, reading->errors());
  }
  return not_understood(quoted_with(kernel_name, nearest(kernel_name)));
}

}  // namespace

Result<ParsedName> parse_kernel_name(std::string_view kernel_name) {
  if (kernel_name.empty()) return not_understood("an empty name");
  if (kernel_name.size() > longest_name)
    return not_understood("a name of " + std::to_string(kernel_name.size()) + " characters");
  if (std::any_of(kernel_name.begin(), kernel_name.end(), [](char c) { return c < ' ' || c > '~'; }))
    return not_understood("a name with bytes that are not printable");
  Result<ParsedName> parsed = read(kernel_name);
  if (!parsed) return parsed;
  KernelConfig& config = parsed->config;
  config.name = std::string(kernel_name);
  const bool of_library = parsed->swapped || config.flavor == Flavor::xmma;
  if (of_library && multiplies_by_warps(config) && config.swizzle_log2 == 0) config.swizzle_log2 = cta_swizzle_log2;
  return parsed;
}

Result<KernelConfig> config_from_name(std::string_view kernel_name) {
  const Result<ParsedName> parsed = parse_kernel_name(kernel_name);
  if (!parsed) return parsed.errors();
  return parsed->config;
}

}  // namespace noteg::kernels
