#include "sim/workload/operation.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "sim/support/csv.hpp"
#include "sim/support/text.hpp"

namespace noteg::workload {
namespace {

constexpr std::int64_t most = 2147483647;
constexpr std::string_view type_words = "f32, tf32, f16, bf16, f8e4m3, f8e5m2, s8 or s4, or two of them as f16xs4";

struct Place {
  std::string file;
  int line = 0, column = 0;
};

// One line, whatever kind of file it is from. Empty texts are absent.
struct Line {
  std::function<std::optional<std::string>(std::string_view)> text;
  std::function<Place(std::string_view)> place;
};

// key=value;key=value, as the notes of measured files have it.
std::optional<std::string> note(const Line& line, std::string_view key) {
  const std::string notes = line.text("notes").value_or("");
  for (std::size_t begin = 0; begin < notes.size();) {
    const std::size_t end = std::min(notes.find(';', begin), notes.size());
    const std::string part = notes.substr(begin, end - begin);
    const std::size_t from = part.find_first_not_of(' ');
    if (from != std::string::npos && part.substr(from).starts_with(std::string(key) + "="))
      return part.substr(from + key.size() + 1);
    begin = end + 1;
  }
  return std::nullopt;
}

// Reads one line; the mistakes go to `errors`.
class OperationReader {
 public:
  OperationReader(const Line& line, Diagnostics& errors) : line_(line), errors_(errors) {}

  Operation read() {
    Operation o;
    o.op = read_op();
    o.name = line_.text("name").value_or(std::string(name_of(o.op)));
    read_types(o);
    read_layout(o);
    const bool has_k = o.op != Op::elementwise && o.op != Op::all_reduce;
    o.m = count("M", std::nullopt, most);
    o.n = count("N", std::nullopt, most);
    o.k = has_k ? count("K", std::nullopt, most) : 1;
    o.batch = count("batch", 1, most);
    o.count = count("count", 1, 1000000000);
    o.heads = static_cast<int>(count("heads", 1, 65535));
    o.kv_heads = static_cast<int>(count("kv_heads", o.heads, 65535));
    o.top_k = static_cast<int>(count("top_k", note_count("topk").value_or(1), 65535));
    o.ranks = static_cast<int>(count("ranks", 1, 65535));
    o.causal = flag("causal", o.op == Op::attention_prefill);
    o.gated = flag("gated", true);
    o.reads = static_cast<double>(count("reads", 1, 1000));
    o.writes = static_cast<double>(count("writes", 1, 1000));
    check(o);
    return o;
  }

 private:
  void wrong(std::string_view key, std::string expected, std::string found) {
    const Place at = line_.place(key);
    errors_.push_back({at.file, at.line, at.column, std::string(key), std::move(expected), std::move(found)});
  }

  Op read_op() {
    const std::string text = line_.text("op").value_or("linear");
    const std::optional<Op> op = op_from(text);
    if (!op) wrong("op", join_or(op_names()), "\"" + text + "\"");
    return op.value_or(Op::linear);
  }

  // fp16xint4: activations, then weights.
  void read_types(Operation& o) {
    const std::string text = line_.text("dtype_in").value_or("f16");
    const std::size_t cross = text.find('x');
    const bool mixed = cross != std::string::npos && o.op == Op::gemm_weight_only;
    const auto known = kernels::data_type_from(text.substr(0, mixed ? cross : text.size()));
    const std::string narrow = mixed ? text.substr(cross + 1) : "s4";
    const auto weight = kernels::data_type_from(narrow == "uint8" ? "int8" : narrow);
    if (!known || !weight) return wrong("dtype_in", std::string(type_words), "\"" + text + "\"");
    set_types(o, *known);
    if (o.op == Op::gemm_weight_only) o.weight_bytes = kernels::bytes_of(*weight);
  }

  // The letters of measured files: as a library that is given the transposed problem names its kernels.
  void read_layout(Operation& o) {
    const std::string text = line_.text("layout").value_or(o.op == Op::bmm || o.op == Op::gemm ? "nn" : "tn");
    const std::optional<kernels::Layout> layout =
        text == "rr" ? kernels::Layout::nn : kernels::layout_from_blas(text, true);
    if (layout)
      o.frame.layout = *layout;
    else
      wrong("layout", "nn, nt, tn, tt or rr", "\"" + text + "\"");
  }

  std::optional<std::int64_t> note_count(std::string_view key) {
    const std::optional<long long> value = parse_integer(note(line_, key).value_or(""));
    return value && *value >= 1 ? std::optional<std::int64_t>(*value) : std::nullopt;
  }

  std::int64_t count(std::string_view key, std::optional<std::int64_t> otherwise, std::int64_t largest) {
    const std::optional<std::string> text = line_.text(key);
    if (!text) {
      if (const std::optional<std::int64_t> noted = note_count(key); noted && otherwise) return *noted;
      if (!otherwise) wrong(key, "an integer of at least 1", "nothing");
      return otherwise.value_or(1);
    }
    const std::optional<long long> value = parse_integer(*text);
    if (value && *value >= 1 && *value <= largest) return *value;
    wrong(key, "an integer from 1 to " + std::to_string(largest), "\"" + *text + "\"");
    return 1;
  }

  bool flag(std::string_view key, bool otherwise) {
    std::optional<std::string> text = line_.text(key);
    if (!text) text = note(line_, key);
    if (!text) return otherwise;
    if (*text == "1" || *text == "true") return true;
    if (*text != "0" && *text != "false") wrong(key, "true or false", "\"" + *text + "\"");
    return false;
  }

  void check(const Operation& o) {
    if (o.heads % o.kv_heads != 0)
      wrong("kv_heads", "a divisor of heads, " + std::to_string(o.heads), std::to_string(o.kv_heads));
    if (o.op == Op::moe && o.top_k > o.batch)
      wrong("top_k", "at most batch, the experts: " + std::to_string(o.batch), std::to_string(o.top_k));
    if (o.op == Op::elementwise || o.op == Op::all_reduce) return;
    for (const Diagnostic& error : kernels::check_shape({o.m, o.n, o.k, o.batch}))
      wrong(error.key.empty() ? "M" : error.key, error.expected, error.found);
  }

  const Line& line_;
  Diagnostics& errors_;
};

Result<std::vector<Operation>> operations_of(const CsvTable& table) {
  Diagnostics errors;
  std::vector<Operation> out;
  for (const char* needed : {"M", "N"})
    if (!table.column(needed)) errors.push_back({table.file, 1, 1, needed, "a column of that name", "none"});
  if (!errors.empty()) return errors;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const Line line{[&](std::string_view key) -> std::optional<std::string> {
                      const std::optional<std::size_t> column = table.column(key);
                      if (!column || table.rows.at(row, *column).empty()) return std::nullopt;
                      return std::string(table.rows.at(row, *column));
                    },
                    [&](std::string_view key) {
                      const int column = static_cast<int>(table.column(key).value_or(0)) + 1;
                      return Place{table.file, table.lines[row], column};
                    }};
    out.push_back(OperationReader(line, errors).read());
  }
  if (out.empty()) errors.push_back({table.file, 1, 1, "operations", "at least one row", "none"});
  if (!errors.empty()) return errors;
  return out;
}

void read_item(const YamlDocument& document, const YamlNode& item, std::size_t place, Diagnostics& errors,
               std::vector<Operation>& out) {
  if (!item.is_mapping()) {
    errors.push_back({document.file, item.position.line, item.position.column, "operations",
                      "a mapping such as {op: linear, M: 16, N: 4096, K: 4096}", item.describe()});
    return;
  }
  YamlMapping keys(document.file, item, "operations." + std::to_string(place), errors);
  for (const Column& column : columns()) (void)keys.has(column.name);
  keys.report_unknown();
  const Line line{[&](std::string_view key) -> std::optional<std::string> {
                    const YamlNode* node = item.find(key);
                    return node != nullptr && node->is_scalar() ? std::optional(node->text) : std::nullopt;
                  },
                  [&](std::string_view key) {
                    const YamlNode* node = item.find(key);
                    const YamlPosition at = node != nullptr ? node->position : item.position;
                    return Place{document.file, at.line, at.column};
                  }};
  out.push_back(OperationReader(line, errors).read());
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"name", "a text", "the operation", "How the operation is called in the output."},
      {"op", "linear, bmm, gemm ...", "linear", "What it is."},
      {"M", "an integer", "", "Rows of the result; queries of each sequence; tokens of an MoE layer."},
      {"N", "an integer", "", "Columns of the result; keys of each sequence; intermediate size of an expert."},
      {"K", "an integer", "", "What is summed over; head dimension; hidden size. Not of elementwise, all_reduce."},
      {"batch", "an integer", "1", "Independent products; sequences; experts."},
      {"dtype_in", "f16, bf16, s8 ...", "f16", "Type of the operands; of gemm_weight_only both: f16xs4."},
      {"layout", "nn, nt, tn, tt or rr", "tn; nn of bmm, gemm",
       "As the library's kernel is named; rr: both row-major."},
      {"count", "an integer", "1", "How often the operation comes."},
      {"heads", "an integer", "1", "Of attention, in each sequence."},
      {"kv_heads", "a divisor of heads", "heads", "Heads of the keys and values."},
      {"causal", "true or false", "true of attention_prefill", "Whether a query sees only the keys before it."},
      {"top_k", "an integer", "1", "Of moe: experts that a token goes to."},
      {"gated", "true or false", "true", "Of moe: two matrices lead to the intermediate size."},
      {"reads", "an integer", "1", "Of elementwise: arrays of M x N that are read."},
      {"writes", "an integer", "1", "Of elementwise: arrays that are written."},
      {"ranks", "an integer", "1", "Of all_reduce: GPUs."},
      {"notes", "key=value;...", "",
       "As in measured files: heads, kv_heads, causal and topk are taken from there too."},
  };
  return all;
}

Result<std::vector<Operation>> read_operations_csv(const std::string& path) {
  const Result<CsvTable> table = read_csv(path);
  if (!table) return table.errors();
  return operations_of(*table);
}

Result<std::vector<Operation>> parse_operations_csv(std::string_view text, const std::string& file) {
  const Result<CsvTable> table = parse_csv(text, file);
  if (!table) return table.errors();
  return operations_of(*table);
}

Result<std::vector<Operation>> operations_of(const YamlDocument& document) {
  Diagnostics errors;
  YamlMapping top(document.file, document.root, "", errors);
  std::vector<Operation> out;
  const YamlNode* list = top.required("operations", "a sequence of operations");
  top.report_unknown();
  if (list != nullptr && !list->is_sequence())
    top.report(*list, "operations", "a sequence of operations", list->describe());
  else if (list != nullptr)
    for (std::size_t i = 0; i < list->items.size(); ++i) read_item(document, list->items[i], i, errors, out);
  if (errors.empty() && out.empty() && list != nullptr) top.report(*list, "operations", "at least one", "none");
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace noteg::workload
