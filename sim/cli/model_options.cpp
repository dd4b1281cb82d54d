#include "sim/cli/model_options.hpp"

#include <algorithm>
#include <thread>

#include "sim/cli/kernel_options.hpp"

namespace noteg::cli {

std::vector<std::string> comma_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

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

unsigned jobs_option(const Arguments& arguments, Diagnostics& errors) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(count_option(arguments, "jobs", cores, 4096, errors));
}

}  // namespace noteg::cli
