#include "sim/cli/clock_options.hpp"

#include "sim/cli/completion.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/support/nearest_name.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::cli {

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
