// Kernel files: one flat YAML mapping, its keys those of kernels/config/config_keys.hpp. Every mistake in one result,
// at file:line:column; rules between keys are checked too (on a shape that every alignment divides).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/config/config.hpp"
#include "kernels/config/config_keys.hpp"

namespace noteg::kernels {

// KEY=VALUE of --set, in order; the last one of a key wins.
using KernelOverrides = std::vector<std::pair<std::string, std::string>>;

// Every kernel that NAME can be, in alphabetical order.
[[nodiscard]] std::vector<std::string> shipped_kernels();

// Where a kernel may be: the path as given, then NAME or NAME.yaml in NOTEG_KERNEL_PATH (colon-separated), in the
// source tree's kernels/, and in share/noteg/kernels beside the executable. Error: the nearest names.
[[nodiscard]] Result<std::filesystem::path> find_kernel_file(std::string_view name_or_path);

// The file, then the overrides, not resolved. Errors: no such file, not YAML, unknown or repeated keys, values out of
// range, rules that resolve() checks.
[[nodiscard]] Result<KernelConfig> load_kernel_file(std::string_view name_or_path,
                                                    const KernelOverrides& overrides = {});
[[nodiscard]] Result<KernelConfig> read_kernel_text(std::string_view text, std::string name,
                                                    const KernelOverrides& overrides = {});

// Errors carry the key, no position. Rules between keys are left to resolve().
[[nodiscard]] Result<KernelConfig> apply_overrides(KernelConfig config, const KernelOverrides& overrides);

// A configuration as the text of a kernel file: reading it again gives the same configuration.

// Keys at their default are left out; what resolve() filled in is written. comment: the lines above, without '#'.
[[nodiscard]] std::string to_yaml(const KernelConfig& config, const std::string& comment = "");

}  // namespace noteg::kernels
