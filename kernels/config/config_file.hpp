// Kernel files: one flat YAML mapping, its keys those of kernels/config/config_keys.hpp. Every mistake in one result,
// at file:line:column; rules between keys are checked too (on a shape that every alignment divides).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/config/config.hpp"

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

// The one table of kernel keys. Files, --set key=value and docs/reference/kernel-reference.md all come from it.

struct KernelKeyDoc {
  std::string key;
  std::string accepts;   // 128x128x8, one of ..., an integer from ... to ...
  std::string fallback;  // what happens without it
  std::string meaning;
};

// In the order in which a file is best written.
[[nodiscard]] std::vector<KernelKeyDoc> kernel_keys();

// Sets one key from its text; a diagnostic (key, expected, found; no position) when the key is unknown or the
// text is not what it takes.
[[nodiscard]] std::optional<Diagnostic> set_kernel_key(KernelConfig& config, std::string_view key,
                                                       std::string_view text);

// The reference page, as Markdown.
[[nodiscard]] std::string kernel_reference();

// The other direction: how profilers would print a kernel that --kernel auto has chosen. Reading the name again gives
// the same kernel, all but what no name says: the number of K slices, and an epilogue that is not in its scheme.

// CTAs of nvjet kernels walk bands of eight tiles (H200M: bytes that DRAM reads in 36 launches of three tiles from 2048
// to 16384 cubed, tests/data/h200_nvjet_traffic.csv: bands of four or sixteen tiles would read 1.5 or 0.7 times as
// much).
inline constexpr int nvjet_band_log2 = 3;

// Kernels of tensor cores before nvjet walk two columns of tiles together (CTA swizzling of cublasLt, which no name
// tells): recognised on products of 20,000 columns and more of A40, A100 and L40S.
inline constexpr int cta_swizzle_log2 = 1;

// Kernels of tensor cores before nvjet: threads copy the operands, warps multiply.
[[nodiscard]] bool multiplies_by_warps(const KernelConfig& config);

// cuBLAS' own wgmma kernels on Hopper.
[[nodiscard]] bool is_hopper_nvjet(const KernelConfig& config);

// A resolved kernel of a library's families (simt, mma, wgmma), by the scheme of its flavor; wgmma kernels become nvjet
// ones where that scheme has their types and schedule, CUTLASS 3 ones elsewhere (their flavor follows).
void name_as_library(KernelConfig& config);

// By the families' own schemes; their descriptors point here.
void name_wgmma(KernelConfig& config);
void name_tcgen05(KernelConfig& config);

}  // namespace noteg::kernels
