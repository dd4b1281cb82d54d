// The one table of kernel keys. Files, --set key=value and docs/kernel-reference.md all come from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"

namespace noteg::kernels {

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

}  // namespace noteg::kernels
