#include "sim/cli/options.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <cassert>

#include "sim/report/write.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace po = boost::program_options;

namespace {

constexpr int style =
    po::command_line_style::unix_style & ~po::command_line_style::allow_guessing & ~po::command_line_style::allow_short;

const Option* find(const std::vector<Option>& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

// Collects what one command line says and everything that is wrong with it.
class ArgumentReader {
 public:
  ArgumentReader(const std::vector<Option>& options, const Positional& positional)
      : options_(options), positional_(positional) {}

  Result<Arguments> read(const std::vector<std::string>& words) {
    for ([[maybe_unused]] const Option& option : options_)
      assert(option.value != "FILE" || option.use != FileUse::none);
    for (const std::string& word : words)
      if (const std::size_t at = first_non_text(word); at != std::string::npos)
        error("\"" + word + "\"", "text in UTF-8", describe_byte(word, at));
    if (!errors_.empty()) return errors_;
    for (const po::basic_option<char>& parsed : parse(words)) accept(parsed);
    check_count();
    if (errors_.empty()) errors_ = file_errors(arguments_, options_, positional_);
    if (!errors_.empty()) return errors_;
    return arguments_;
  }

 private:
  void error(std::string key, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, std::move(key), std::move(expected), std::move(found)});
  }

  // The parser stops at the first option whose value is missing or not wanted; that word is reported and taken out,
  // until the rest can be read.
  std::vector<po::basic_option<char>> parse(std::vector<std::string> words) {
    po::options_description description;
    for (const Option& option : options_) {
      if (option.value.empty())
        description.add_options()(option.name.c_str(), "");
      else
        description.add_options()(option.name.c_str(), po::value<std::string>(), "");
    }
    while (true) {
      try {
        return po::command_line_parser(words).options(description).style(style).allow_unregistered().run().options;
      } catch (const po::error_with_option_name& wrong) {
        if (!take_out(words, wrong.get_option_name())) throw;
      }
    }
  }

  bool take_out(std::vector<std::string>& words, std::string name) {
    name = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const auto is_it = [&](const std::string& word) {
      return word == "--" + name || word.starts_with("--" + name + "=");
    };
    const auto found = std::find_if(words.rbegin(), words.rend(), is_it);
    if (found == words.rend()) return false;
    const Option* option = find(options_, name);
    if (option != nullptr && option->value.empty())
      error("--" + name, "no value", "\"" + *found + "\"");
    else
      error("--" + name, option != nullptr ? option->value : "a value", "nothing");
    words.erase(std::next(found).base());
    return true;
  }

  void accept(const po::basic_option<char>& parsed) {
    if (parsed.position_key >= 0) {
      for (const std::string& word : parsed.value) arguments_.positional_.push_back(word);
      return;
    }
    const Option* option = parsed.unregistered ? nullptr : find(options_, parsed.string_key);
    if (option == nullptr) {
      unknown(parsed);
      return;
    }
    if (!option->repeatable && arguments_.has(option->name)) error("--" + option->name, "it once", "it again");
    arguments_.given_.emplace_back(option->name, parsed.value.empty() ? "" : parsed.value.front());
  }

  void unknown(const po::basic_option<char>& parsed) {
    const std::string word = parsed.original_tokens.empty() ? parsed.string_key : parsed.original_tokens.front();
    const std::string typed = word.substr(0, word.find('='));
    std::vector<std::string> names;
    for (const Option& option : options_) names.push_back("--" + option.name);
    const std::vector<std::string> near = nearest_names(typed, names, 2);
    error(typed, "a known option",
          near.empty() ? "an unknown one" : "an unknown one (did you mean " + join_or(near) + "?)");
  }

  void check_count() {
    const std::size_t count = arguments_.positional_.size();
    if (count < positional_.least) error(positional_.name, "a value", "nothing");
    for (std::size_t i = positional_.most; i < count; ++i)
      error("\"" + arguments_.positional_[i] + "\"", "an option or nothing", "an argument that no option takes");
  }

  const std::vector<Option>& options_;
  const Positional& positional_;
  Arguments arguments_;
  Diagnostics errors_;
};

bool Arguments::has(std::string_view name) const {
  return std::ranges::any_of(given_, [&](const auto& option) { return option.first == name; });
}

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

std::vector<std::string> listed(const Arguments& arguments, std::string_view name) {
  std::vector<std::string> parts;
  for (const std::string& text : arguments.texts(name))
    for (std::string& part : comma_list(text)) parts.push_back(std::move(part));
  return parts;
}

Result<Arguments> parse_arguments(const std::vector<std::string>& words, const std::vector<Option>& options,
                                  const Positional& positional) {
  return ArgumentReader(options, positional).read(words);
}

std::string help_of(const std::vector<Option>& options) {
  constexpr std::size_t width = 26;
  std::string text;
  for (const Option& option : options) {
    std::string head = fmt::format("  --{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
    if (head.size() >= width) {
      text += head + "\n";
      head.clear();
    }
    for (const std::string& line : report::wrap(option.help + (option.repeatable ? " (repeatable)" : ""), 80 - width)) {
      text += fmt::format("{:<{}}{}\n", head, width, line);
      head.clear();
    }
  }
  return text;
}

}  // namespace noteg::cli
