#include "arch/write_gpu.hpp"

#include <fmt/format.h>

#include <vector>

#include "arch/field.hpp"

namespace noteg::arch {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string value_text(const Field& field, const Value& value) {
  Field one = field;
  one.kind = Kind::quantity;
  if (const auto* sizes = std::get_if<std::vector<double>>(&value)) {
    std::vector<std::string> items;
    for (const double size : *sizes) items.push_back(format_value(one, Value{size}));
    return "[" + list_of(items) + "]";
  }
  if (const auto* energies = std::get_if<std::vector<NamedEnergy>>(&value)) {
    std::vector<std::string> items;
    for (const NamedEnergy& energy : *energies)
      items.push_back(energy.name + ": " + format_value(one, Value{energy.energy.value}));
    return "{" + list_of(items) + "}";
  }
  if (const auto* forms = std::get_if<std::vector<TensorFormSpec>>(&value)) {
    std::vector<std::string> items;
    for (const TensorFormSpec& form : *forms)
      items.push_back(fmt::format("{}: {{latency: {}, interval: {}}}", form.name,
                                  format_value(one, Value{form.latency.value}),
                                  format_value(one, Value{form.interval.value})));
    return "{" + list_of(items) + "}";
  }
  return format_value(field, value);
}

std::string entry_text(const Field& field, const Value& value, const Provenance& from) {
  if (!field.needs_source()) return in_quotes(std::get<std::string>(value));
  std::vector<std::string> parts{"value: " + value_text(field, value)};
  if (!from.fitted.empty()) parts.push_back("fitted: " + in_quotes(from.fitted));
  if (!from.guess.empty()) parts.push_back("guess: " + in_quotes(from.guess));
  if (!from.source.empty()) parts.push_back("source: " + in_quotes(from.source));
  return "{" + list_of(parts) + "}";
}

std::vector<std::string_view> split(std::string_view key) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = key.find('.');
    parts.push_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    key.remove_prefix(dot + 1);
  }
}

// Keys below each other as nested sections; a section is opened where the key before was not in it.
class Sections {
 public:
  void add(std::string_view key, const std::string& entry) {
    const std::vector<std::string_view> parts = split(key);
    std::size_t shared = 0;
    while (shared + 1 < parts.size() && shared < open_.size() && open_[shared] == parts[shared]) ++shared;
    open_.assign(parts.begin(), parts.end() - 1);
    for (std::size_t i = shared; i + 1 < parts.size(); ++i) text_ += fmt::format("{:{}}{}:\n", "", 2 * i, parts[i]);
    text_ += fmt::format("{:{}}{}: {}\n", "", 2 * (parts.size() - 1), parts.back(), entry);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string_view> open_;
};

}  // namespace

std::string to_yaml(const SourcedGpu& sourced, const std::string& comment) {
  const GpuSpec& gpu = sourced.gpu;
  std::string text;
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    text += "# " + comment.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  std::vector<std::string> names;
  for (const std::string& name : gpu.names) names.push_back(in_quotes(name));
  text += fmt::format("base: {}\nname: {}\nnames: [{}]\nchip: {}\n", gpu.sm.name, in_quotes(gpu.name), list_of(names),
                      in_quotes(gpu.chip));
  Sections sections;
  for (std::size_t i = 0; i < fields().size(); ++i) {
    const Field& field = fields()[i];
    const Provenance& from = sourced.provenance[i];
    if (field.optional && from.is_absent()) continue;
    if (from.file == gpu.file || from.file.empty()) sections.add(field.key, entry_text(field, field.get(gpu), from));
  }
  return text + sections.text();
}

}  // namespace noteg::arch
