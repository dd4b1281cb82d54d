#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "sim/support/yaml_reader.hpp"

namespace noteg {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string mistake(std::string_view text) {
  const Result<YamlDocument> document = read_yaml_text(text, "f.yaml");
  return document ? "none" : document.errors().front().to_string();
}

TEST(YamlReader, ScalarsStayTexts) {
  const Result<YamlDocument> document = read_yaml_text("a: 010\nb: .nan\nc: 36 MiB\nd: yes\n", "f.yaml");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root.find("a")->text, "010");
  EXPECT_EQ(document->root.find("b")->text, ".nan");
  EXPECT_EQ(document->root.find("c")->text, "36 MiB");
  EXPECT_EQ(document->root.find("d")->text, "yes");
}

TEST(YamlReader, PositionsCountFromOne) {
  const Result<YamlDocument> document = read_yaml_text("a:\n  b: 12\n  c: [1, 2]\n", "f.yaml");
  ASSERT_TRUE(document);
  const YamlNode& a = *document->root.find("a");
  EXPECT_EQ(a.find("b")->position.line, 2);
  EXPECT_EQ(a.find("b")->position.column, 6);
  EXPECT_EQ(a.entries.front().key_position.column, 3);
  EXPECT_EQ(a.find("c")->items.at(1).position.column, 10);
}

TEST(YamlReader, KeepsRepeatedKeysInOrder) {
  const Result<YamlDocument> document = read_yaml_text("a: 1\na: 2\n", "f.yaml");
  ASSERT_TRUE(document);
  ASSERT_EQ(document->root.entries.size(), 2U);
  EXPECT_EQ(document->root.entries[1].value.text, "2");
  EXPECT_EQ(document->root.find("a")->text, "1");
}

TEST(YamlReader, KeyWithoutValueIsNothing) {
  const Result<YamlDocument> document = read_yaml_text("a:\nb: 1\n", "f.yaml");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root.find("a")->kind, YamlNode::Kind::nothing);
}

TEST(YamlReader, RefusesWhatIsNotAMapping) {
  EXPECT_EQ(mistake(""), "f.yaml:1:1: expected a mapping of keys to values, found an empty file");
  EXPECT_EQ(mistake("# only a comment\n"), "f.yaml:1:1: expected a mapping of keys to values, found an empty file");
  EXPECT_EQ(mistake("- 1\n"), "f.yaml:1:1: expected a mapping of keys to values, found a sequence");
  EXPECT_EQ(mistake("hello"), "f.yaml:1:1: expected a mapping of keys to values, found \"hello\"");
  EXPECT_EQ(mistake("a: 1\n---\nb: 2\n"), "f.yaml:1:1: expected one YAML document, found several");
}

TEST(YamlReader, SyntaxErrorsHaveAPosition) {
  EXPECT_EQ(mistake("a: [1, 2\n"), "f.yaml:2:1: expected YAML, found a syntax error (end of sequence flow not found)");
  EXPECT_EQ(mistake("a: 1\n\tb: 2\n").substr(0, 23), "f.yaml:2:1: expected YA");
}

TEST(YamlReader, RefusesAnchorsAliasesAndTags) {
  EXPECT_EQ(mistake("a: &x 1\nb: *x\n"),
            "f.yaml:1:4: expected a value written out, found an anchor (anchors and aliases are not supported)");
  EXPECT_NE(mistake("b: *x\n"), "none");
  EXPECT_NE(mistake("a: !!int 3\n"), "none");
}

TEST(YamlReader, RefusesKeysThatAreNotTexts) {
  EXPECT_EQ(mistake("[1, 2]: 3\n"), "f.yaml:1:1: expected a text as key, found a sequence");
  EXPECT_EQ(mistake("? {a: 1}\n: 2\n"), "f.yaml:1:3: expected a text as key, found a mapping");
}

TEST(YamlReader, NestingHasALimit) {
  EXPECT_EQ(mistake(repeated("- ", 33) + "1"), "f.yaml:1:65: expected at most 32 levels of nesting, found more");
  EXPECT_NE(mistake(repeated("- ", 33) + "1"), mistake(repeated("- ", 32) + "1"));
}

TEST(YamlReader, RefusesBinaryLargeAndForeignBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(mistake("a: \0b"sv), "f.yaml:1:4: expected text in UTF-8, found the control character 0x00");
  EXPECT_EQ(mistake("a: \xff\xfe"), "f.yaml:1:4: expected text in UTF-8, found the byte 0xff");
  EXPECT_EQ(mistake("a: b\nc: \"\\e[2J\""), "f.yaml:2:4: expected a text, found the control character 0x1b in it");
  EXPECT_EQ(mistake(std::string((1 << 20) + 1, '#')), "f.yaml: expected a file of at most 1 MiB, found a larger one");
  EXPECT_NE(mistake(std::string(1 << 20, '#')), mistake(std::string((1 << 20) + 1, '#')));
  EXPECT_EQ(mistake("a: \xc2\xb5s\n"), "none");
}

TEST(YamlReader, HostileTextsEndQuickly) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* piece :
       {"[", "{", "- ", "? ", "a: ", "a: {", "!", "&a ", "*a ", ": \n", "a: |\n", "\"", "%", ",", "\n"}) {
    const std::string text = repeated(piece, 100000);
    EXPECT_FALSE(mistake(text).empty());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(YamlReader, MissingFileAndDirectoryAreNamed) {
  const std::string none = "no/such/file.yaml";
  EXPECT_EQ(read_yaml_file(none).errors().front().to_string(), "no/such/file.yaml: expected a file, found none");
  EXPECT_EQ(read_yaml_file("/").errors().front().to_string(), "/: expected a file, found a directory");
  EXPECT_EQ(read_yaml_file("/dev/zero").errors().front().expected, "a file of at most 1 MiB");
}

}  // namespace
}  // namespace noteg
