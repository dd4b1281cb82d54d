#include "sim/cli/kernel_options.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "kernels/config/config_file.hpp"
#include "kernels/families/family.hpp"
#include "kernels/families/triton/triton.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/limits/switches.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

using kernels::KernelConfig;

constexpr std::string_view arch_prefix = "arch.";

Diagnostic wrong(std::string option, std::string expected, std::string found) {
  return {"", 0, 0, "--" + std::move(option), std::move(expected), std::move(found)};
}

std::string found_text(const std::string& text) { return "\"" + text.substr(0, 80) + "\""; }

// The --set KEY=VALUE ones whose key is wanted, in the order given.
template <class Wanted>
std::vector<std::pair<std::string, std::string>> settings(const Arguments& arguments, Wanted wanted) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& setting : arguments.texts("set")) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string key = setting.substr(0, equals);
    if (wanted(key)) found.emplace_back(key, setting.substr(equals + 1));
  }
  return found;
}

bool is_arch(std::string_view key) { return key.starts_with(arch_prefix); }

std::vector<std::pair<std::string, std::string>> kernel_overrides(const Arguments& arguments) {
  return settings(arguments, [](std::string_view key) { return !is_arch(key) && !gpu::is_switch_name(key); });
}

// A value of a closed choice; a diagnostic naming the choices where it is none of them.
template <class Value, class From>
void choose(const Arguments& arguments, std::string option, const std::vector<std::string>& choices, From from,
            Value& value, Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text(option);
  if (!text) return;
  if (const auto chosen = from(*text)) {
    value = *chosen;
    return;
  }
  errors.push_back(wrong(std::move(option), join_or(choices), found_text(*text)));
}

// --config, as what makes such kernels prints it: Inductor and Triton.
Result<KernelConfig> from_own_text(const Arguments& arguments, kernels::Family family) {
  const auto from_text = kernels::family_of(family).from_text;
  if (from_text == nullptr)
    return wrong("config", "--family triton beside it", "\"" + std::string(kernels::name_of(family)) + "\"");
  if (arguments.has("tile")) return wrong("tile", "no value beside --config, which says it", "one");
  return from_text(*arguments.text("config"));
}

Result<KernelConfig> from_family(const Arguments& arguments) {
  KernelConfig config;
  Diagnostics errors;
  choose(arguments, "family", family_values(), kernels::family_from, config.family, errors);
  if (errors.empty() && arguments.has("config")) return from_own_text(arguments, config.family);
  if (!arguments.has("tile")) errors.push_back(wrong("tile", "MxNxK with --family", "nothing"));
  if (!errors.empty()) return errors;
  return config;
}

// From exactly one of the three ways to name a kernel.
Result<KernelConfig> base_config(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> ways{"kernel", "kernel-name", "family"};
  const auto given = std::ranges::count_if(ways, [&](std::string_view way) { return arguments.has(way); });
  if (given != 1)
    return Diagnostic{
        "", 0, 0, "--kernel, --kernel-name, --family", "exactly one of them", given == 0 ? "none" : "several"};
  if (arguments.has("kernel")) return kernels::load_kernel_file(*arguments.text("kernel"));
  if (arguments.has("kernel-name")) return kernels::config_from_name(*arguments.text("kernel-name"));
  return from_family(arguments);
}

std::string types_text(const KernelConfig& config) {
  return std::string(kernels::name_of(config.dtype_in)) + " (" + std::string(kernels::name_of(config.dtype_acc)) +
         " sums, " + std::string(kernels::name_of(config.dtype_out)) + " results)";
}

void apply_type(const Arguments& arguments, KernelConfig& config, Diagnostics& errors) {
  if (!arguments.has("dtype")) return;
  kernels::DataType type = kernels::DataType::f32;
  choose(arguments, "dtype", dtype_values(), kernels::data_type_from, type, errors);
  if (arguments.has("kernel-name")) {  // its name says what it adds in and stores, too
    if (errors.empty() && type != config.dtype_in)
      errors.push_back(wrong("dtype", types_text(config) + ", as the kernel's name says, or nothing",
                             std::string(kernels::name_of(type))));
    return;
  }
  const bool whole = type == kernels::DataType::s8 || type == kernels::DataType::s4;
  config.dtype_in = type;
  config.dtype_acc = whole ? kernels::DataType::s32 : kernels::DataType::f32;
  config.dtype_out = whole ? kernels::DataType::s32 : type == kernels::DataType::tf32 ? kernels::DataType::f32 : type;
}

void apply_options(const Arguments& arguments, KernelConfig& config, Diagnostics& errors) {
  if (const std::optional<std::string> text = arguments.text("tile")) {
    const std::optional<kernels::GemmShape> tile = kernels::shape_from(*text);
    constexpr std::int64_t largest = 4096;
    const auto fits = [](std::int64_t extent) { return extent >= 1 && extent <= largest; };
    if (tile && fits(tile->m) && fits(tile->n) && fits(tile->k))
      config.tile = {static_cast<int>(tile->m), static_cast<int>(tile->n), static_cast<int>(tile->k)};
    else
      errors.push_back(wrong("tile", "MxNxK such as 128x128x8, each from 1 to 4096", found_text(*text)));
  }
  choose(arguments, "layout", layout_values(), kernels::layout_from, config.layout, errors);
  apply_type(arguments, config, errors);
  config.split_k = static_cast<int>(count_option(arguments, "split-k", config.split_k, 65535, errors));
  if (config.split_k > 1 && config.split_k_mode == kernels::SplitKMode::none)
    config.split_k_mode = kernels::SplitKMode::serial;
}

// Keys that say what is computed, not how (tune::Problem).
constexpr std::string_view of_problem[] = {"dtype",     "dtype_in", "dtype_b", "dtype_acc",
                                           "dtype_out", "layout",   "bias",    "reads_c"};

// auto settles what these options would.
void check_automatic(const Arguments& arguments, bool automatic, Diagnostics& errors) {
  if (!automatic)
    errors.push_back(wrong("kernel",
                           "a kernel by name, file or --family (auto goes with noteg simulate, and with noteg compare "
                           "but for --power-limits)",
                           "\"auto\""));
  for (const char* option : {"kernel-name", "family", "tile", "config", "split-k"})
    if (arguments.has(option)) errors.push_back(wrong(option, "nothing beside --kernel auto, which decides it", "it"));
  for (const auto& [key, value] : kernel_overrides(arguments))
    if (std::ranges::find(of_problem, key) == std::end(of_problem))
      errors.push_back(wrong("set", "types, layout, bias or reads_c beside --kernel auto, which decides the others",
                             found_text(key)));
}

// A name may say that CTAs share K, but no name says how many.
void check_slices(const Arguments& arguments, const KernelConfig& config, Diagnostics& errors) {
  if (config.split_k_mode == kernels::SplitKMode::none || config.split_k > 1 || arguments.has("split-k")) return;
  errors.push_back(wrong("split-k",
                         "how many CTAs share K: the kernel's name says that some do (" +
                             std::string(kernels::name_of(config.split_k_mode)) + "), not how many",
                         "nothing"));
}

kernels::GemmShape shape_option(const Arguments& arguments, const std::optional<kernels::GemmShape>& otherwise,
                                Diagnostics& errors) {
  kernels::GemmShape shape = otherwise.value_or(kernels::GemmShape{1, 1, 1, 1});
  const std::optional<std::string> text = arguments.text("shape");
  if (!text && !otherwise) errors.push_back(wrong("shape", "MxNxK such as 4096x4096x4096", "nothing"));
  if (text) {
    if (const std::optional<kernels::GemmShape> given = kernels::shape_from(*text))
      shape = *given;
    else
      errors.push_back(wrong("shape", "MxNxK such as 4096x4096x4096", found_text(*text)));
  }
  shape.batch = count_option(arguments, "batch", 1, 2147483647, errors);
  if (errors.empty()) add(errors, kernels::check_shape(shape));
  return shape;
}

}  // namespace

std::vector<Option> kernel_options() {
  return {
      {"kernel", "FILE", "kernel configuration, a YAML file; auto: the best that a library has for the GPU", false,
       FileUse::kernel, kernel_values},
      {"kernel-name", "NAME", "a kernel's name as profilers print it", false},
      {"family", "F", kernels::family_list() + ", with --tile", false, FileUse::none, family_values},
      {"tile", "MxNxK", "CTA tile", false},
      {"config", "TEXT", "of a Triton kernel, as Inductor and Triton print it: BLOCK_M=64, BLOCK_N=64, ...", false},
      {"shape", "MxNxK", "C (M x N) = A (M x K) x B (K x N), row-major reading", false},
      {"batch", "B", "independent products in one launch, 1 if absent", false},
      {"split-k", "S", "CTAs that share one tile of C", false},
      {"layout", "L", "nn, nt, tn or tt: A then B, n is not transposed", false, FileUse::none, layout_values},
      {"dtype", "T", "type of A and B: f32 ...", false, FileUse::none, dtype_values},
      {"set", "KEY=VALUE",
       "overrides a key of the kernel, of the GPU where it begins with arch., or a switch (--list-switches)", true,
       FileUse::none, setting_values},
  };
}

Result<KernelRequest> kernel_request(const Arguments& arguments, const std::optional<kernels::GemmShape>& default_shape,
                                     bool automatic) {
  Diagnostics errors;
  KernelRequest request;
  request.choose = arguments.text("kernel") == "auto";
  if (request.choose) check_automatic(arguments, automatic, errors);
  Result<KernelConfig> base = request.choose ? KernelConfig{} : base_config(arguments);
  if (!base) add(errors, base.errors());
  KernelConfig config = base ? *base : KernelConfig{};
  apply_options(arguments, config, errors);
  const Result<KernelConfig> overridden = kernels::apply_overrides(config, kernel_overrides(arguments));
  if (overridden)
    request.config = *overridden;
  else
    add(errors, overridden.errors());
  if (arguments.has("kernel-name") && errors.empty()) check_slices(arguments, request.config, errors);
  Diagnostics shape_errors;
  request.shape = shape_option(arguments, default_shape, shape_errors);
  add(errors, shape_errors);
  if (!errors.empty()) return errors;
  return request;
}

arch::Overrides arch_overrides(const Arguments& arguments) {
  arch::Overrides overrides = settings(arguments, is_arch);
  for (auto& [key, value] : overrides) key.erase(0, arch_prefix.size());
  return overrides;
}

gpu::Switches switch_options(const Arguments& arguments, Diagnostics& errors) {
  gpu::Switches switches;
  for (const auto& [key, value] : settings(arguments, gpu::is_switch_name)) {
    const Result<gpu::Switches> changed = gpu::with_switch(switches, key, value);
    if (changed)
      switches = *changed;
    else
      add(errors, changed.errors());
  }
  return switches;
}

void refuse_switches(const Arguments& arguments, Diagnostics& errors) {
  for (const auto& [key, value] : settings(arguments, gpu::is_switch_name))
    errors.push_back(
        wrong("set", "a key of the kernel or arch.KEY; switches belong to noteg simulate", found_text(key)));
}

void refuse_kernel_settings(const Arguments& arguments, const std::string& why, Diagnostics& errors) {
  for (const auto& [key, value] : kernel_overrides(arguments))
    errors.push_back(wrong("set", "arch.KEY or a switch: " + why, found_text(key)));
}

Diagnostics set_errors(const Arguments& arguments) {
  Diagnostics errors;
  for (const std::string& setting : arguments.texts("set")) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) errors.push_back(wrong("set", "KEY=VALUE", found_text(setting)));
  }
  return errors;
}

long long count_option(const Arguments& arguments, std::string_view name, long long otherwise, long long most,
                       Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text(name);
  if (!text) return otherwise;
  const std::optional<long long> value = parse_integer(*text);
  if (value && *value >= 1 && *value <= most) return *value;
  errors.push_back(wrong(std::string(name), "an integer from 1 to " + std::to_string(most), found_text(*text)));
  return otherwise;
}

unsigned jobs_option(const Arguments& arguments, Diagnostics& errors) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(count_option(arguments, "jobs", cores, 4096, errors));
}

Format format_option(const Arguments& arguments, Diagnostics& errors) {
  Format format = Format::text;
  const auto from = [](const std::string& text) -> std::optional<Format> {
    if (text == "text") return Format::text;
    if (text == "json") return Format::json;
    if (text == "csv") return Format::csv;
    return std::nullopt;
  };
  choose(arguments, "format", format_values(), from, format, errors);
  return format;
}

std::vector<Option> clock_options() {
  return {
      {"clock", "HZ", "SM clock such as 1.4GHz instead of the one that the power limit allows", false},
      {"clock-mode", "MODE",
       "sustained (default): settled under the power limit; cool: under it for seconds; burst: a few ms at the highest "
       "clock",
       false, FileUse::none,
       [] {
         return std::vector<std::string>{power::clock_mode_names.begin(), power::clock_mode_names.end()};
       }},
      {"launches", "N", "launches that follow each other on a board that had nothing to do: the mean clock of these",
       false},
      {"l2", "STATE",
       "what L2 holds before. warm (default): what the same launch before left; steady: what layers around this one "
       "left, weights come from DRAM; cold: other data; empty: nothing, as profilers flush it",
       false, FileUse::none, l2_values},
      {"operands", "WHAT", "random (default) or zeros: how much the operands' bits change, for power", false,
       FileUse::none,
       [] {
         return std::vector<std::string>{"random", "zeros"};
       }},
  };
}

std::optional<gpu::L2State> l2_option(const Arguments& arguments, Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text("l2");
  if (!text) return std::nullopt;
  const std::optional<gpu::L2State> state = gpu::l2_state_from(*text);
  if (!state) errors.push_back({"", 0, 0, "--l2", join_or(l2_values()), "\"" + *text + "\""});
  return state;
}

void apply_clock_options(const Arguments& arguments, gpu::SimOptions& options, Diagnostics& errors) {
  if (const std::optional<std::string> clock = arguments.text("clock")) {
    const Result<Hertz> value = parse_quantity_as<Hertz>(*clock);
    constexpr double least = 1e6, most = 1e10;
    if (!value)
      errors.push_back({"", 0, 0, "--clock", value.errors().front().expected, value.errors().front().found});
    else if (value->value < least || value->value > most)
      errors.push_back({"", 0, 0, "--clock", "1 MHz to 10 GHz", "\"" + *clock + "\""});
    else
      options.sm_clock_mhz = value->value * 1e-6;
  }
  if (const std::optional<std::string> mode = arguments.text("clock-mode")) {
    if (*mode == "burst")
      options.clock_mode = power::ClockMode::burst;
    else if (*mode == "cool")
      options.clock_mode = power::ClockMode::cool;
    else if (*mode != "sustained")
      errors.push_back({"", 0, 0, "--clock-mode", "burst, cool or sustained", "\"" + *mode + "\""});
  }
  if (arguments.has("launches")) {
    const std::string mode = arguments.text("clock-mode").value_or("cool");
    if (mode != "cool")
      errors.push_back({"", 0, 0, "--launches", "no other --clock-mode than cool", "\"" + mode + "\""});
    options.clock_mode = power::ClockMode::cool;
    options.launches = static_cast<int>(count_option(arguments, "launches", 1, 1'000'000'000, errors));
  }
  options.l2 = l2_option(arguments, errors).value_or(options.l2);
  if (const std::optional<std::string> operands = arguments.text("operands")) {
    if (*operands == "zeros")
      options.operands.activity = 0;
    else if (*operands != "random")
      errors.push_back({"", 0, 0, "--operands", "random or zeros", "\"" + *operands + "\""});
  }
}

}  // namespace noteg::cli
