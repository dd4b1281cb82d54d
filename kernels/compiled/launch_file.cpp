#include "kernels/compiled/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>

#include "kernels/compiled/listing/operands.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/text.hpp"
#include "sim/support/units.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::compiled {
namespace {

constexpr std::int64_t most_threads = 1024, most_shared = 1 << 20, most_grid = 2147483647,
                       most_bytes = std::int64_t{1} << 46;
constexpr std::size_t most_structure = 32764;  // bytes, what a kernel may be given from sm_70 on
constexpr std::array<std::string_view, 10> kind_names{"i8",  "i16", "i32",    "i64",        "f16",
                                                      "f32", "f64", "buffer", "tensor_map", "file"};

std::optional<ArgumentKind> kind_from(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind_names[i] == name) return static_cast<ArgumentKind>(i);
  return std::nullopt;
}

// A number for a parameter of this kind, as bits. Integers as YAML or C write them.
std::optional<std::int64_t> value_bits(ArgumentKind kind, std::string_view text) {
  switch (kind) {
    case ArgumentKind::i8:
    case ArgumentKind::i16:
    case ArgumentKind::i32:
    case ArgumentKind::i64: {
      const auto n = parse_number(text);
      if (!n || n->is_float) return std::nullopt;
      const int bits = kind == ArgumentKind::i8 ? 8 : kind == ArgumentKind::i16 ? 16 : 32;
      if (kind != ArgumentKind::i64 &&
          (n->value < -(std::int64_t{1} << (bits - 1)) || n->value >= std::int64_t{1} << bits))
        return std::nullopt;
      return n->value;
    }
    case ArgumentKind::f16:
    case ArgumentKind::f32:
    case ArgumentKind::f64: {
      const std::optional<double> number = noteg::parse_number(text);
      if (!number) return std::nullopt;
      if (kind == ArgumentKind::f64) return std::bit_cast<std::int64_t>(*number);
      return std::bit_cast<std::uint32_t>(static_cast<float>(*number));
    }
    case ArgumentKind::buffer:
    case ArgumentKind::tensor_map:
    case ArgumentKind::bytes: return std::nullopt;
  }
  return std::nullopt;
}

// f32, f16, bf16, u8, zero, idx1000, off1000, i64idx1000, i64off1000.
bool set_content(Argument& out, std::string_view text) {
  const std::string_view name = text.substr(text.starts_with("i64") ? 3 : 0);
  if (name.starts_with("idx") || name.starts_with("off")) {
    out.integer_bytes = name != text ? 8 : 4;
    const auto n = parse_number(name.substr(3));
    if (!n || n->is_float || n->value < 1) return false;
    out.content = name.starts_with("idx") ? Content::index : Content::offsets;
    out.below = n->value;
    return true;
  }
  constexpr std::array<std::string_view, 8> names{"zero", "u8", "f32", "f16", "bf16", "f64", "f8", "unknown"};
  constexpr std::array of_names{Content::zero, Content::bytes_u8, Content::f32,
                                Content::f16,  Content::bf16,     Content::f64};  // others: unknown
  const auto at = static_cast<std::size_t>(std::ranges::find(names, text) - names.begin());
  out.content = at < of_names.size() ? of_names[at] : Content::unknown;
  return at < names.size();
}

class LaunchReader {
 public:
  explicit LaunchReader(const YamlDocument& document) : top_(document.file, document.root, "", errors_) {
    launch_.file = document.file;
  }

  Result<Launch> run() {
    if (top_.has("kernel")) launch_.kernel = top_.text("kernel").value_or("");
    launch_.grid = extent("grid", most_grid);
    if (const YamlNode* node = top_.optional("grid"); node != nullptr && !launch_.counts_its_ctas())
      top_.report(*node, "grid", fmt::format("at most {} CTAs in all", Launch::most_ctas), "more");
    launch_.block = extent("block", most_threads);
    if (const YamlNode* node = top_.optional("block"); node != nullptr && launch_.threads() > most_threads)
      top_.report(*node, "block", fmt::format("at most {} threads", most_threads), std::to_string(launch_.threads()));
    if (top_.has("cluster")) launch_.cluster = extent("cluster", 16);
    if (top_.has("dynamic_shared")) launch_.dynamic_shared = bytes(top_, "dynamic_shared", most_shared);
    if (top_.has("static_shared")) launch_.static_shared = bytes(top_, "static_shared", most_shared);
    if (top_.has("registers")) launch_.registers = static_cast<int>(top_.integer("registers", 1, 255).value_or(32));
    if (const YamlNode* node = top_.required("args", "a sequence of arguments")) arguments(*node);
    if (const YamlNode* node = top_.optional("assume")) assumptions(*node);
    top_.report_unknown();
    if (!errors_.empty()) return errors_;
    return std::move(launch_);
  }

 private:
  Extent extent(std::string_view key, std::int64_t most) {
    Extent out{1, 1, 1};
    const YamlNode* node = top_.required(key, "up to three integers, [x, y, z]");
    if (node == nullptr) return out;
    if (!node->is_sequence() || node->items.empty() || node->items.size() > 3) {
      top_.report(*node, key, "up to three integers, [x, y, z]", node->describe());
      return out;
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) {
      const auto n = parse_number(node->items[i].text);
      const std::int64_t largest = i == 0 ? most : std::min<std::int64_t>(most, 65535);
      if (!n || n->is_float || n->value < 1 || n->value > largest)
        top_.report(node->items[i], key, fmt::format("an integer from 1 to {}", largest), node->items[i].describe());
      else
        out[i] = n->value;
    }
    return out;
  }

  std::int64_t bytes(YamlMapping& map, std::string_view key, std::int64_t most) {
    const YamlNode* node = map.required(key, "a size such as 1 MiB");
    if (node == nullptr) return 0;
    const auto plain = node->is_scalar() ? parse_number(node->text) : std::nullopt;
    double value = -1;
    if (plain && !plain->is_float)
      value = static_cast<double>(plain->value);
    else if (node->is_scalar())
      if (const auto size = parse_quantity_as<Bytes>(node->text)) value = size->value;
    if (value < 0 || value > static_cast<double>(most)) {
      map.report(*node, key, fmt::format("a size up to {} bytes, such as 48 KiB", most), node->describe());
      return 0;
    }
    return static_cast<std::int64_t>(value);
  }

  void arguments(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::nothing) return;  // a kernel without parameters
    if (!node.is_sequence())
      return top_.report(node, "args", "a sequence such as [{i32: 512}, {buffer: A, bytes: 1 MiB}]", node.describe());
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (!node.items[i].is_mapping() || node.items[i].entries.empty()) {
        top_.report(node.items[i], "args", "an argument such as {i32: 512}", node.items[i].describe());
        continue;
      }
      launch_.arguments.push_back(argument(node.items[i], fmt::format("args[{}]", i)));
    }
  }

  Argument argument(const YamlNode& node, const std::string& path) {
    Argument out;
    const std::string& word = node.entries.front().key;
    const auto kind = kind_from(word);
    if (!kind) {
      top_.report(node, path, "i8, i16, i32, i64, f16, f32, f64, buffer, tensor_map or file", word);
      return out;
    }
    out.kind = *kind;
    YamlMapping map(launch_.file, node, path, errors_);
    const std::string text = map.text(word).value_or("");
    if (*kind == ArgumentKind::buffer) {
      out.name = text;
      out.bytes = bytes(map, "bytes", most_bytes);
      if (const YamlNode* content = map.optional("content"); content != nullptr && !set_content(out, content->text))
        map.report(*content, "content", "f32, f16, bf16, u8, zero, unknown, idxN, offN, i64idxN or i64offN",
                   content->describe());
    } else if (*kind == ArgumentKind::tensor_map) {
      out.name = text;
      out.map.rows = map.integer("rows", 1, most_grid).value_or(1);
      out.map.columns = map.integer("columns", 1, most_grid).value_or(1);
      out.map.box_rows = map.integer("box_rows", 1, 256).value_or(1);
      out.map.box_columns = map.integer("box_columns", 1, 256).value_or(1);
      if (map.has("element_bytes"))
        out.map.element_bytes = static_cast<int>(map.integer("element_bytes", 1, 16).value_or(2));
      if (map.has("by_value")) out.by_value = map.boolean("by_value").value_or(false);
      if (map.has("align")) out.aligned = map.integer("align", 1, 256).value_or(0);
      out.bytes = out.map.rows * out.map.columns * out.map.element_bytes;
    } else if (*kind == ArgumentKind::bytes) {
      read_structure(out, map, node, text);
    } else if (const auto bits = value_bits(*kind, text)) {
      out.value = *bits;
    } else {
      map.report(node.entries.front().value, word, "a number that fits the type",
                 node.entries.front().value.describe());
    }
    map.report_unknown();
    return out;
  }

  // A structure passed by value: its bytes lie in a file beside the launch file.
  void read_structure(Argument& out, YamlMapping& map, const YamlNode& node, const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(launch_.file).parent_path() / name;
    std::ifstream in(path, std::ios::binary);
    out.raw.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!in || out.raw.empty() || out.raw.size() > most_structure)
      map.report(node.entries.front().value, "file",
                 fmt::format("a file of at most {} bytes beside the launch file", most_structure), path.string());
    out.aligned = map.has("align") ? map.integer("align", 1, 256).value_or(8) : 8;
  }

  void assumptions(const YamlNode& node) {
    if (!node.is_sequence())
      return top_.report(node, "assume", "a sequence such as [{at: 0x350, taken: 3}]", node.describe());
    for (const YamlNode& item : node.items) {
      if (!item.is_mapping()) {
        top_.report(item, "assume", "an entry such as {at: 0x350, taken: 3}", item.describe());
        continue;
      }
      YamlMapping map(launch_.file, item, "assume", errors_);
      const YamlNode* at = map.required("at", "the address of an instruction, such as 0x350");
      const auto address = at != nullptr ? parse_number(at->text) : std::nullopt;
      if (at != nullptr && (!address || address->is_float || address->value < 0 || address->value > 0xffffffff))
        map.report(*at, "at", "the address of an instruction, such as 0x350", at->describe());
      Assumption out;
      if (const YamlNode* taken = map.optional("taken")) {
        const auto n = parse_number(taken->text);
        if (taken->text == "always")
          out.taken = -1;
        else if (n && !n->is_float && n->value >= 0)
          out.taken = n->value;
        else
          map.report(*taken, "taken", "how many times in a row the branch is taken, or always", taken->describe());
      }
      if (const YamlNode* value = map.optional("value")) {
        if (const auto n = parse_number(value->text))
          out.value = n->value;
        else
          map.report(*value, "value", "a number", value->describe());
      }
      map.report_unknown();
      if (address) launch_.assumptions[static_cast<std::uint32_t>(address->value)] = out;
    }
  }

  Diagnostics errors_;
  YamlMapping top_;
  Launch launch_;
};

Result<Launch> read(const Result<YamlDocument>& document) {
  if (!document) return document.errors();
  return LaunchReader(*document).run();
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(by), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

std::optional<std::int64_t> whole(std::string_view text) {
  const auto n = parse_number(text);
  return n && !n->is_float ? std::optional(n->value) : std::nullopt;
}

std::optional<Extent> extent_of(std::string_view text) {
  Extent out{1, 1, 1};
  const auto parts = split(text, 'x');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto n = whole(parts[i]);
    if (i >= out.size() || !n || *n < 1 || *n > most_grid) return std::nullopt;
    out[i] = *n;
  }
  return parts.empty() ? std::nullopt : std::optional(out);
}

// 0a1b: whole words of a structure, byte by byte; empty: they are none.
std::string bytes_of(std::string_view hex) {
  constexpr std::size_t word = 8;
  if (hex.size() % word != 0 || hex.size() / 2 > most_structure) return {};
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    if (std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16).ptr != hex.data() + i + 2) return {};
    out += static_cast<char>(value);
  }
  return out;
}

// i=512, l=7, f=0.18, p=NAME:BYTES:CONTENT, tm=NAME:ROWS:COLUMNS:BOX_ROWS:BOX_COLUMNS, x=HEX.
std::optional<Argument> argument_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, equals), value = text.substr(equals + 1);
  Argument out;
  if (kind == "i" || kind == "l" || kind == "f" || kind == "d") {
    out.kind = kind == "i"   ? ArgumentKind::i32
               : kind == "l" ? ArgumentKind::i64
               : kind == "f" ? ArgumentKind::f32
                             : ArgumentKind::f64;
    const auto bits = value_bits(out.kind, value);
    if (!bits) return std::nullopt;
    out.value = *bits;
    return out;
  }
  if (kind == "x") {
    out.kind = ArgumentKind::bytes;
    out.raw = bytes_of(value);
    out.aligned = 4;
    return out.raw.empty() ? std::nullopt : std::optional(out);
  }
  const auto parts = split(value, ':');
  if (kind == "p" && parts.size() == 3) {
    out.kind = ArgumentKind::buffer;
    out.name = parts[0];
    const auto bytes = whole(parts[1]);
    if (!bytes || *bytes < 0 || *bytes > most_bytes || !set_content(out, parts[2])) return std::nullopt;
    out.bytes = *bytes;
    return out;
  }
  if ((kind == "tm" || kind == "tv") && parts.size() == 5) {
    out.kind = ArgumentKind::tensor_map;
    out.name = parts[0];
    const auto rows = whole(parts[1]), columns = whole(parts[2]);
    const auto box_rows = whole(parts[3]), box_columns = whole(parts[4]);
    if (!rows || !columns || !box_rows || !box_columns || *rows < 1 || *columns < 1) return std::nullopt;
    out.map = {.rows = *rows, .columns = *columns, .box_rows = *box_rows, .box_columns = *box_columns};
    out.by_value = kind == "tv";
    out.bytes = *rows * *columns * 2;
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Argument::alignment() const {
  if (kind == ArgumentKind::bytes) return std::max<std::int64_t>(aligned, 1);
  constexpr std::int64_t of_maps = 128;  // CUDA 13; 64 before, and of Triton
  if (kind == ArgumentKind::tensor_map && by_value) return aligned != 0 ? aligned : of_maps;
  return size();
}

std::int64_t Argument::size() const {
  switch (kind) {
    case ArgumentKind::i8: return 1;
    case ArgumentKind::i16:
    case ArgumentKind::f16: return 2;
    case ArgumentKind::i32:
    case ArgumentKind::f32: return 4;
    case ArgumentKind::i64:
    case ArgumentKind::f64:
    case ArgumentKind::buffer: return 8;
    case ArgumentKind::tensor_map: return by_value ? 128 : 8;
    case ArgumentKind::bytes: return static_cast<std::int64_t>(raw.size());
  }
  return 4;
}

Result<Launch> read_launch_file(const std::filesystem::path& path) { return read(read_yaml_file(path)); }

Result<Launch> parse_launch(std::string_view text, std::string file) {
  return read(read_yaml_text(text, std::move(file)));
}

Result<Launch> launch_from_row(const LaunchText& row, const std::string& file, int line) {
  Diagnostics errors;
  const auto wrong = [&](std::string key, std::string expected, std::string_view found) {
    errors.push_back({file, line, 0, std::move(key), std::move(expected), std::string(found)});
  };
  Launch out;
  out.file = file;
  out.kernel = row.kernel;
  const auto read_extent = [&](Extent& to, const char* key, std::string_view text) {
    const auto extent = extent_of(text);
    if (!extent) return wrong(key, "extents such as 16x16x1", text);
    to = *extent;
  };
  read_extent(out.grid, "grid", row.grid);
  if (!out.counts_its_ctas()) wrong("grid", fmt::format("at most {} CTAs in all", Launch::most_ctas), row.grid);
  read_extent(out.block, "block", row.block);
  if (out.threads() > most_threads) wrong("block", "at most 1024 threads", row.block);
  if (!row.dynamic_shared.empty()) {
    const auto n = whole(row.dynamic_shared);
    if (!n || *n < 0 || *n > most_shared) wrong("dynamic_shared", "bytes", row.dynamic_shared);
    out.dynamic_shared = n.value_or(0);
  }
  if (!row.cluster.empty()) read_extent(out.cluster.emplace(), "cluster", row.cluster);
  if (const auto n = whole(row.static_shared)) out.static_shared = *n;
  if (const auto n = whole(row.registers)) out.registers = static_cast<int>(std::clamp<std::int64_t>(*n, 1, 255));
  for (const std::string_view text : split(row.arguments, ' ')) {
    if (const auto argument = argument_of(text))
      out.arguments.push_back(*argument);
    else
      wrong("args", "arguments such as i=512 f=0.5 p=A:1024:f32", text);
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace noteg::compiled
