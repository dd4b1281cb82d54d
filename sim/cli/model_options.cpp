#include "sim/cli/model_options.hpp"

#include "sim/support/comma_list.hpp"

namespace noteg::cli {

std::vector<dataset::Group> group_list(const std::string& text, Diagnostics& errors) {
  std::vector<dataset::Group> groups;
  for (const std::string& name : comma_list(text)) {
    const std::optional<dataset::Group> group = dataset::group_from(name);
    if (group && *group != dataset::Group::target && *group != dataset::Group::other)
      groups.push_back(*group);
    else
      errors.push_back({"", 0, 0, "--features", "config, arch, physics or counter, with commas", "\"" + name + "\""});
  }
  return groups;
}

std::optional<RuleText> rule_text(const std::string& text, Diagnostics& errors) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  if (first != std::string::npos && first < last) {
    const std::string sign = text.substr(last + 1);
    if (sign == "+" || sign == "-")
      return RuleText{text.substr(0, first), text.substr(first + 1, last - first - 1), sign == "+" ? 1 : -1};
  }
  errors.push_back({"", 0, 0, "--monotone", "TARGET:FEATURE:+ or TARGET:FEATURE:-", "\"" + text + "\""});
  return std::nullopt;
}

}  // namespace noteg::cli
