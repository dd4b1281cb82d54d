#include "sim/cli/clock_options.hpp"

#include "sim/cli/kernel_options.hpp"
#include "sim/support/quantity_text.hpp"

namespace noteg::cli {

std::vector<Option> clock_options() {
  return {
      {"clock", "HZ", "SM clock such as 1.4GHz instead of the one that the power limit allows", false},
      {"clock-mode", "MODE",
       "sustained (default): settled under the power limit; cool: under it for seconds; burst: a few ms at the highest "
       "clock",
       false},
      {"launches", "N", "launches that follow each other on a board that had nothing to do: the mean clock of these",
       false},
      {"operands", "WHAT", "random (default) or zeros: how much the operands' bits change, for power", false},
  };
}

void apply_clock_options(const Arguments& arguments, chip::SimOptions& options, Diagnostics& errors) {
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
  if (const std::optional<std::string> operands = arguments.text("operands")) {
    if (*operands == "zeros")
      options.operands.activity = 0;
    else if (*operands != "random")
      errors.push_back({"", 0, 0, "--operands", "random or zeros", "\"" + *operands + "\""});
  }
}

}  // namespace noteg::cli
