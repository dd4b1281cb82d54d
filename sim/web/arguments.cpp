// The words of a command line without Boost.Program_options, which has no sources beside its headers: --name value,
// --name=value and flags. What an option means is read where the program reads it (sim/cli/kernel_options.cpp).
#include <algorithm>

#include "sim/cli/command.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/support/text.hpp"
#include "sim/web/live.hpp"

namespace noteg::cli {

class ArgumentReader {
 public:
  explicit ArgumentReader(const std::vector<Option>& options) : options_(options) {}

  Result<Arguments> read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) i += take(words, i);
    if (!errors_.empty()) return errors_;
    return arguments_;
  }

 private:
  void error(std::string key, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
  }

  // Returns how many words the option took beside its own.
  std::size_t take(const std::vector<std::string>& words, std::size_t at) {
    const std::string& word = words[at];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const auto option = std::ranges::find_if(options_, [&](const Option& each) { return "--" + each.name == name; });
    if (option == options_.end()) return unknown(name);
    if (!option->repeatable && arguments_.has(option->name)) error("--" + option->name, "it once", "it again");
    const bool takes = !option->value.empty(), inside = equals != std::string::npos;
    if (!takes && inside) error(name, "no value", "\"" + word + "\"");
    if (takes && !inside && at + 1 >= words.size()) error(name, option->value, "nothing");
    const bool next = takes && !inside && at + 1 < words.size();
    const std::string value = next ? words[at + 1] : inside ? word.substr(equals + 1) : "";
    arguments_.given_.emplace_back(option->name, value);
    return next ? 1 : 0;
  }

  std::size_t unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const Option& option : options_) names.push_back("--" + option.name);
    const std::vector<std::string> near = nearest_names(name, names, 2);
    error(name, "a known option",
          near.empty() ? "an unknown one" : "an unknown one (did you mean " + join_or(near) + "?)");
    return 0;
  }

  const std::vector<Option>& options_;
  Arguments arguments_;
  Diagnostics errors_;
};

bool Arguments::has(std::string_view name) const { return text(name).has_value(); }

std::optional<std::string> Arguments::text(std::string_view name) const {
  for (const auto& [key, value] : given_)
    if (key == name) return value;
  return std::nullopt;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : given_)
    if (key == name) values.push_back(value);
  return values;
}

Result<Arguments> parse_arguments(const std::vector<std::string>& words, const std::vector<Option>& options,
                                  const Positional&) {
  return ArgumentReader(options).read(words);
}

const std::vector<Command>& commands() {  // for completion, which the page has none of
  static const std::vector<Command> none;
  return none;
}

}  // namespace noteg::cli

namespace noteg::web {

std::vector<cli::Option> known_options() {
  std::vector<cli::Option> all{{"arch", "ARCH", "GPU: a name", true, cli::FileUse::gpu, cli::arch_values}};
  for (cli::Option& option : cli::kernel_options()) all.push_back(std::move(option));
  for (cli::Option& option : cli::clock_options()) all.push_back(std::move(option));
  all.push_back({"sass", "FILE", "compiled code: a listing", false});
  all.push_back({"launch", "FILE", "how it is launched", false});
  all.push_back({"exact", "", "step through everything, extrapolate nothing", false});
  return all;
}

}  // namespace noteg::web
