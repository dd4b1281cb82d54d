#include "sim/support/yaml_reader.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <utility>

#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg {
namespace {

constexpr std::size_t deepest = 32;

YamlPosition position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Thrown inside the parser's callbacks only, to leave yaml-cpp at the first thing that this reader refuses;
// caught in read_yaml_text.
struct Refused {
  YamlPosition at;
  std::string expected, found;
};

// Builds the tree from parser events. Containers that are open form a stack; a mapping at the top takes keys and
// values in turn.
class TreeBuilder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    YamlNode node;
    node.position = position_of(mark);
    add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{position_of(mark), "a value written out", "an alias (anchors and aliases are not supported)"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    // Escapes such as "\e" bring control characters into a file that holds none.
    if (const std::size_t at = first_non_text(value); at != std::string::npos)
      throw Refused{position_of(mark), "a text", describe_byte(value, at) + " in it"};
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.position = position_of(mark);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::mapping);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] YamlNode& root() { return root_; }

 private:
  struct Open {
    YamlNode node;
    std::string key;
    YamlPosition key_position;
    bool key_read = false;
  };

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    throw Refused{position_of(mark), "a value written out", "an anchor (anchors and aliases are not supported)"};
  }

  // yaml-cpp gives "?" to plain scalars and collections, "!" to quoted scalars.
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refused{position_of(mark), "a plain value", "the tag " + tag};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (stack_.size() >= deepest) {
      throw Refused{position_of(mark), "at most " + std::to_string(deepest) + " levels of nesting", "more"};
    }
    if (!stack_.empty() && stack_.back().node.is_mapping() && !stack_.back().key_read) {
      throw Refused{position_of(mark), "a text as key", kind == YamlNode::Kind::mapping ? "a mapping" : "a sequence"};
    }
    Open opened;
    opened.node.kind = kind;
    opened.node.position = position_of(mark);
    stack_.push_back(std::move(opened));
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.is_sequence()) {
      top.node.items.push_back(std::move(node));
    } else if (top.key_read) {
      top.key_read = false;
      // yaml-cpp places an absent value at the token that follows, which may be lines away.
      if (node.kind == YamlNode::Kind::nothing) node.position = top.key_position;
      top.node.entries.push_back({std::move(top.key), top.key_position, std::move(node)});
    } else {
      if (!node.is_scalar() || node.text.empty()) throw Refused{node.position, "a text as key", node.describe()};
      top.key = std::move(node.text);
      top.key_position = node.position;
      top.key_read = true;
    }
  }

  YamlNode root_;
  std::vector<Open> stack_;
};

constexpr std::size_t longest_shown = 60;  // bytes of a value in a message

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string YamlNode::describe() const {
  switch (kind) {
    case Kind::nothing: return "nothing";
    case Kind::scalar: return "\"" + printable_line(text, longest_shown) + "\"";
    case Kind::mapping: return "a mapping";
    case Kind::sequence: return "a sequence";
  }
  return {};
}

Result<YamlDocument> read_yaml_file(const std::filesystem::path& path) {
  Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return read_yaml_text(*text, path.string());
}

Result<YamlDocument> read_yaml_text(std::string_view text, std::string name) {
  if (std::optional<Diagnostic> wrong = check_text(text, name)) return std::move(*wrong);
  const auto error = [&name](YamlPosition at, std::string expected, std::string found) {
    return Diagnostic{name, at.line, at.column, "", std::move(expected), std::move(found)};
  };
  TreeBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return error({1, 1}, "a mapping of keys to values", "an empty file");
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) return error({1, 1}, "one YAML document", "several");
  } catch (const Refused& refused) {
    return error(refused.at, refused.expected, refused.found);
  } catch (const YAML::Exception& wrong) {
    return error(position_of(wrong.mark), "YAML", "a syntax error (" + wrong.msg + ")");
  }
  YamlNode& root = builder.root();
  if (root.kind == YamlNode::Kind::nothing) return error({1, 1}, "a mapping of keys to values", "an empty file");
  if (!root.is_mapping()) return error(root.position, "a mapping of keys to values", root.describe());
  return YamlDocument{std::move(name), std::move(root)};
}

}  // namespace noteg
