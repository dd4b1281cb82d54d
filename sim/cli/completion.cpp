#include "sim/cli/options.hpp"

#include <algorithm>

#include "arch/field.hpp"
#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/cli/command.hpp"
#include "sim/gpu/simulate.hpp"
#include "sim/workload/model.hpp"

namespace noteg::cli {
namespace {

struct Candidate {
  std::string text, remark;
};

// The names of an enumeration whose name_of() answers "?" behind its last value.
template <class Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (unsigned i = 0;; ++i) {
    const std::string_view name = name_of(static_cast<Enum>(i));
    if (name == "?") return names;
    names.emplace_back(name);
  }
}

std::vector<Candidate> plain(const std::vector<std::string>& texts) {
  std::vector<Candidate> out;
  for (const std::string& text : texts) out.push_back({text, ""});
  return out;
}

std::vector<Candidate> command_names() {
  std::vector<Candidate> out;
  for (const Command& command : commands()) out.push_back({std::string(command.name), std::string(command.summary)});
  for (const char* option : {"--help", "--version", "--man"}) out.push_back({option, ""});
  return out;
}

const Option* option_of(const std::vector<Option>& options, std::string_view word) {
  const auto found = std::ranges::find_if(options, [&](const Option& option) { return word == "--" + option.name; });
  return found == options.end() ? nullptr : &*found;
}

std::vector<Candidate> values_of(const Option& option, const std::string& before = "") {
  std::vector<Candidate> out;
  if (option.values == nullptr) return out;
  for (const std::string& value : option.values()) out.push_back({before + value, ""});
  return out;
}

std::vector<Candidate> in_command(const Command& command, const std::vector<std::string>& words) {
  if (!command.actions.empty() && words.size() == 2) return plain(command.actions);
  const std::vector<Option> options = command.options();
  const std::string &typed = words.back(), &before = words[words.size() - 2];
  if (const Option* option = option_of(options, before); option != nullptr && !option->value.empty())
    return values_of(*option);
  if (const std::size_t equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    const Option* option = option_of(options, typed.substr(0, equals));
    return option == nullptr ? std::vector<Candidate>{} : values_of(*option, typed.substr(0, equals + 1));
  }
  if (typed.starts_with("-")) {
    std::vector<Candidate> out;
    for (const Option& option : options) out.push_back({"--" + option.name, option.help});
    out.push_back({"--help", ""});
    return out;
  }
  if (command.name == "arch" && (words[1] == "show" || words[1] == "scale")) return plain(arch_values());
  if (command.name == "workload") return plain(workload::shipped_models());
  return {};
}

}  // namespace

std::string completions(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::vector<Candidate> candidates;
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  if (words.size() == 1)
    candidates = command_names();
  else if (command != commands().end())
    candidates = in_command(*command, words);
  std::string lines;
  for (const Candidate& candidate : candidates) {
    if (!candidate.text.starts_with(words.back())) continue;
    lines += candidate.text + (candidate.remark.empty() ? "" : "\t" + candidate.remark) + "\n";
  }
  return lines;
}

std::vector<std::string> arch_values() { return arch::list_gpu_ids(); }

std::vector<std::string> kernel_values() {
  std::vector<std::string> names = kernels::shipped_kernels();
  names.insert(names.begin(), "auto");
  return names;
}

std::vector<std::string> family_values() { return names_of<kernels::Family>(); }

std::vector<std::string> dtype_values() {
  std::vector<std::string> names = names_of<kernels::DataType>();
  std::erase(names, kernels::name_of(kernels::DataType::s32));  // of accumulators only
  return names;
}

std::vector<std::string> layout_values() { return names_of<kernels::Layout>(); }
std::vector<std::string> l2_values() { return {gpu::l2_state_names.begin(), gpu::l2_state_names.end()}; }
std::vector<std::string> format_values() { return {"text", "json", "csv"}; }
std::vector<std::string> page_values() { return {"text", "json"}; }

std::vector<std::string> arch_set_values() {
  std::vector<std::string> keys;
  for (const arch::Field& field : arch::fields()) keys.push_back("arch." + std::string(field.key) + "=");
  return keys;
}

// The words of a key that takes one of some, as its documentation lists them ("nn, nt, tn or tt"); none of other keys.
std::vector<std::string> words_of(const std::string& accepts) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < accepts.size();) {
    const std::size_t end = std::min({accepts.find(", ", at), accepts.find(" or ", at), accepts.size()});
    words.push_back(accepts.substr(at, end - at));
    if (words.back().find(' ') != std::string::npos) return {};
    at = end + (accepts.compare(end, 4, " or ") == 0 ? 4 : 2);
  }
  return words.size() > 1 ? words : std::vector<std::string>{};
}

std::vector<std::string> setting_values() {
  std::vector<std::string> settings;
  for (const kernels::KernelKeyDoc& key : kernels::kernel_keys()) {
    settings.push_back(key.key + "=");
    for (const std::string& word : words_of(key.accepts)) settings.push_back(key.key + "=" + word);
  }
  for (const gpu::SwitchInfo& row : gpu::switch_table())
    for (const std::string_view value : row.values)
      settings.push_back(std::string(row.name) + "=" + std::string(value));
  for (std::string& key : arch_set_values()) settings.push_back(std::move(key));
  return settings;
}

}  // namespace noteg::cli
