// The options by which every command names its kernel and its problem (KERNEL of the help), and what they mean.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "kernels/config/config.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::cli {

struct KernelRequest {
  bool choose = false;           // --kernel auto: config holds types, layout and epilogue only
  kernels::KernelConfig config;  // not resolved
  kernels::GemmShape shape;
};

// --kernel, --kernel-name, --family, --tile, --shape, --batch, --split-k, --layout, --dtype, --set.
[[nodiscard]] std::vector<Option> kernel_options();

// Every mistake of these options at once, those of a kernel file included. default_shape: what a missing --shape means;
// without one it is an error. automatic: whether --kernel auto is taken.
[[nodiscard]] Result<KernelRequest> kernel_request(const Arguments& arguments,
                                                   const std::optional<kernels::GemmShape>& default_shape = {},
                                                   bool automatic = false);

// The --set arch.KEY=VALUE ones, without "arch.". Those without '=' are reported by set_errors().
[[nodiscard]] arch::Overrides arch_overrides(const Arguments& arguments);

// The --set SWITCH=VALUE ones (noteg simulate --list-switches).
[[nodiscard]] gpu::Switches switch_options(const Arguments& arguments, Diagnostics& errors);

// For commands that run nothing: a switch is a mistake there.
void refuse_switches(const Arguments& arguments, Diagnostics& errors);

// For what is run without a configuration: --set of a kernel's key is a mistake there, and why.
void refuse_kernel_settings(const Arguments& arguments, const std::string& why, Diagnostics& errors);

// --set that is not KEY=VALUE.
[[nodiscard]] Diagnostics set_errors(const Arguments& arguments);

// A number of at least one; the default where the option is absent; a diagnostic where it is something else.
[[nodiscard]] long long count_option(const Arguments& arguments, std::string_view name, long long otherwise,
                                     long long most, Diagnostics& errors);

// As many as there are cores where --jobs is absent.
[[nodiscard]] unsigned jobs_option(const Arguments& arguments, Diagnostics& errors);

enum class Format : std::uint8_t { text, json, csv };
[[nodiscard]] Format format_option(const Arguments& arguments, Diagnostics& errors);

inline void add(Diagnostics& errors, const Diagnostics& more) { errors.insert(errors.end(), more.begin(), more.end()); }

// --clock, --clock-mode, --launches, --operands and --l2: how the SM clock is found, and what the operands and L2 hold.

[[nodiscard]] std::vector<Option> clock_options();

// --l2: nothing where it is absent, and with a diagnostic where it is no state.
[[nodiscard]] std::optional<gpu::L2State> l2_option(const Arguments& arguments, Diagnostics& errors);

// Sets the clock, its mode, the operands and the state of L2; a diagnostic for each value that is none.
void apply_clock_options(const Arguments& arguments, gpu::SimOptions& options, Diagnostics& errors);

}  // namespace noteg::cli
