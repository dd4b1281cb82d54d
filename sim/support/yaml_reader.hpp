// YAML files as a tree of texts with positions. The only user of yaml-cpp: reads the event stream, so that
// repeated keys stay visible (a yaml-cpp node hides them), and never interprets a scalar (010 is not 8 here).
// Left out on purpose: anchors, aliases, merge keys, tags and several documents in one file; each is an error.
// Limits: 1 MiB of text, 32 levels of nesting.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg {

struct YamlPosition {
  int line = 0;    // from 1
  int column = 0;  // from 1
};

struct YamlEntry;

// A scalar, a mapping, a sequence, or nothing at all ("key:" with no value).
struct YamlNode {
  enum class Kind { nothing, scalar, mapping, sequence };

  Kind kind = Kind::nothing;
  YamlPosition position;
  std::string text;                // scalar
  bool quoted = false;             // scalar written in quotes
  std::vector<YamlEntry> entries;  // mapping, in file order, repeated keys included
  std::vector<YamlNode> items;     // sequence

  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }

  // First entry with this key; null where there is none.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;

  // What is here, in words for "found ...": the text "12", a mapping, a sequence, nothing.
  [[nodiscard]] std::string describe() const;
};

struct YamlEntry {
  std::string key;
  YamlPosition key_position;
  YamlNode value;
};

// One document whose top level is a mapping.
struct YamlDocument {
  std::string file;  // as shown in errors
  YamlNode root;
};

// Errors: missing or unreadable file, over 1 MiB, binary, not YAML, empty, top level not a mapping, the features left
// out.
[[nodiscard]] Result<YamlDocument> read_yaml_file(const std::filesystem::path& path);
[[nodiscard]] Result<YamlDocument> read_yaml_text(std::string_view text, std::string name);

// Walks one mapping and collects what is wrong with it. Repeated keys are reported at construction, wrong or
// missing values when asked for, unknown keys by report_unknown(). Paths in errors are dotted: l2.size.
//
//   YamlMapping top(document.file, document.root, "", errors);
//   std::optional<std::string> family = top.text("family");       // required
//   if (top.has("stages")) stages = top.integer("stages", 1, 16);
//   top.report_unknown();
class YamlMapping {
 public:
  // node must be a mapping; node and errors must outlive this object.
  YamlMapping(std::string file, const YamlNode& node, std::string path, Diagnostics& errors);

  // Present or not; marks the key as known, so that it is not reported by report_unknown().
  [[nodiscard]] bool has(std::string_view key);

  // The value of a key, or nullptr when absent. Marks the key as known.
  [[nodiscard]] const YamlNode* optional(std::string_view key);

  // The value of a key; reports its absence. what: for "expected WHAT", for example "a quantity".
  [[nodiscard]] const YamlNode* required(std::string_view key, std::string_view what);

  // Required values of one kind; nullopt and a diagnostic where missing or wrong.
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<long long> integer(std::string_view key, long long low, long long high);
  [[nodiscard]] std::optional<double> number(std::string_view key, double low, double high);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);  // true or false
  [[nodiscard]] std::optional<std::string> choice(std::string_view key, const std::vector<std::string>& choices);
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key);  // a sequence of scalars
  [[nodiscard]] std::optional<YamlMapping> mapping(std::string_view key);

  // Every key that nobody asked for becomes an error that names the nearest known key.
  void report_unknown();

  // Adds an error at a node of this file.
  void report(const YamlNode& at, std::string_view key, std::string expected, std::string found);

  [[nodiscard]] const YamlNode& node() const { return *node_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string path_of(std::string_view key) const;  // "" gives the path of the mapping itself

 private:
  const YamlNode* scalar(std::string_view key, std::string_view what);

  std::string file_;
  const YamlNode* node_;
  std::string path_;
  Diagnostics* errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace noteg
