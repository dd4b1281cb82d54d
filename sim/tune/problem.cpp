#include "sim/tune/problem.hpp"

#include <sstream>

#include "kernels/families/family.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::tune {

bool wants_tensor_cores(kernels::DataType type) { return type != kernels::DataType::f32; }

bool is_tensor(kernels::Family family) {
  return family_of(family).traits.arithmetic == kernels::Arithmetic::tensor_cores;
}

namespace {

constexpr long long most_times = 1000000;

// One line's words, with the column of each.
struct Word {
  std::string text;
  int column;
};

std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> words;
  const std::string code = line.substr(0, line.find('#'));
  for (std::size_t begin = code.find_first_not_of(" \t\r"); begin != std::string::npos;) {
    const std::size_t end = std::min(code.find_first_of(" \t\r", begin), code.size());
    words.push_back({code.substr(begin, end - begin), static_cast<int>(begin) + 1});
    begin = code.find_first_not_of(" \t\r", end);
  }
  return words;
}

// What the value should have been; empty where it was taken.
std::string set(CountedProblem& out, std::string_view key, const std::string& value) {
  const auto whole = [&](long long most) -> std::optional<long long> {
    const std::optional<long long> number = parse_integer(value);
    return number && *number >= 1 && *number <= most ? number : std::nullopt;
  };
  if (key == "batch" || key == "times") {
    const bool batch = key == "batch";
    const std::optional<long long> number = whole(batch ? 2147483647 : most_times);
    if (!number) return batch ? "an integer from 1 to 2147483647" : "an integer from 1 to 1000000";
    (batch ? out.problem.shape.batch : out.count) = *number;
    return "";
  }
  if (key == "dtype") {
    const std::optional<kernels::DataType> type = kernels::data_type_from(value);
    if (!type) return "f32, tf32, f16, bf16, f8e4m3, f8e5m2, s8 or s4";
    set_types(out.problem.frame, *type);
    return "";
  }
  if (key != "layout") return "batch=B, times=N, dtype=T or layout=L";
  const std::optional<kernels::Layout> layout = kernels::layout_from(value);
  if (!layout) return "nn, nt, tn or tt";
  out.problem.frame.layout = *layout;
  return "";
}

}  // namespace

void set_types(kernels::KernelConfig& frame, kernels::DataType type) {
  const bool whole = type == kernels::DataType::s8 || type == kernels::DataType::s4;
  frame.dtype_in = type;
  frame.dtype_acc = whole ? kernels::DataType::s32 : kernels::DataType::f32;
  frame.dtype_out = whole ? kernels::DataType::s32 : type == kernels::DataType::tf32 ? kernels::DataType::f32 : type;
}

Result<std::vector<CountedProblem>> parse_shapes(const std::string& text, const std::string& file,
                                                 const kernels::KernelConfig& otherwise) {
  std::vector<CountedProblem> out;
  Diagnostics errors;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<Word> words = words_of(line);
    if (words.empty()) continue;
    CountedProblem one{{{}, otherwise}, 1};
    const std::optional<kernels::GemmShape> shape = kernels::shape_from(words.front().text);
    if (shape)
      one.problem.shape = *shape;
    else
      errors.push_back({file, number, words.front().column, "shape", "MxNxK such as 4096x4096x4096",
                        "\"" + words.front().text + "\""});
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t equals = std::min(words[i].text.find('='), words[i].text.size());
      const std::string key = words[i].text.substr(0, equals);
      const std::string value = words[i].text.substr(std::min(equals + 1, words[i].text.size()));
      if (const std::string expected = set(one, key, value); !expected.empty())
        errors.push_back({file, number, words[i].column, key, expected, "\"" + words[i].text + "\""});
    }
    if (shape)
      for (Diagnostic& error : kernels::check_shape(one.problem.shape)) {
        error.file = file;
        error.line = number;
        error.column = words.front().column;
        errors.push_back(std::move(error));
      }
    out.push_back(std::move(one));
  }
  if (out.empty() && errors.empty()) errors.push_back({file, 1, 1, "shape", "at least one line MxNxK", "none"});
  if (!errors.empty()) return errors;
  return out;
}

Result<std::vector<CountedProblem>> read_shapes(const std::string& path, const kernels::KernelConfig& otherwise) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return parse_shapes(*text, path, otherwise);
}

}  // namespace noteg::tune
