#include <gtest/gtest.h>

#include "sim/support/yaml_reader.hpp"

namespace noteg {
namespace {

// A document that lives as long as the mapping that walks it.
struct Fixture {
  explicit Fixture(std::string_view text) : document(*read_yaml_text(text, "f.yaml")) {}

  YamlMapping top() { return YamlMapping(document.file, document.root, "", errors); }
  [[nodiscard]] std::string mistakes() const { return to_string(errors); }

  YamlDocument document;
  Diagnostics errors;
};

TEST(YamlMapping, GoodValuesLeaveNoMistakes) {
  Fixture f("name: sgemm\ncount: 12\nshare: 0.5\non: true\nkind: b\nlist: [x, y]\n");
  YamlMapping top = f.top();
  EXPECT_EQ(top.text("name"), "sgemm");
  EXPECT_EQ(top.integer("count", 1, 12), 12);
  EXPECT_EQ(top.number("share", 0, 1), 0.5);
  EXPECT_EQ(top.boolean("on"), true);
  EXPECT_EQ(top.choice("kind", {"a", "b"}), "b");
  EXPECT_EQ(top.texts("list"), (std::vector<std::string>{"x", "y"}));
  top.report_unknown();
  EXPECT_EQ(f.mistakes(), "");
}

TEST(YamlMapping, RepeatedKeyPointsAtTheSecond) {
  Fixture f("a: 1\nb: 2\na: 3\n");
  (void)f.top();
  EXPECT_EQ(f.mistakes(), "f.yaml:3:1: a: expected each key once, found it again (first on line 1)\n");
}

TEST(YamlMapping, UnknownKeySuggestsTheNearest) {
  Fixture f("tile_nn: 1\n");
  YamlMapping top = f.top();
  EXPECT_FALSE(top.has("tile_n"));
  top.report_unknown();
  EXPECT_EQ(f.mistakes(), "f.yaml:1:1: tile_nn: expected a known key, found an unknown key (did you mean tile_n?)\n");
}

TEST(YamlMapping, MissingKeyPointsAtTheMapping) {
  Fixture f("l2:\n  line: 1\n");
  YamlMapping top = f.top();
  std::optional<YamlMapping> l2 = top.mapping("l2");
  ASSERT_TRUE(l2);
  EXPECT_EQ(l2->integer("size", 1, 2), std::nullopt);
  EXPECT_EQ(f.mistakes(), "f.yaml:2:3: l2.size: expected an integer from 1 to 2, found no such key\n");
}

TEST(YamlMapping, RangeIncludesItsEnds) {
  Fixture f("a: 0\nb: 1\nc: 4\nd: 5\n");
  YamlMapping top = f.top();
  EXPECT_EQ(top.integer("a", 1, 4), std::nullopt);
  EXPECT_EQ(top.integer("b", 1, 4), 1);
  EXPECT_EQ(top.integer("c", 1, 4), 4);
  EXPECT_EQ(top.integer("d", 1, 4), std::nullopt);
  EXPECT_EQ(f.errors.size(), 2U);
}

TEST(YamlMapping, WrongKindsAreAllReported) {
  Fixture f("a: {x: 1}\nb: [1]\nc:\nd: yes\ne: 1\nf: z\n");
  YamlMapping top = f.top();
  EXPECT_EQ(top.text("a"), std::nullopt);
  EXPECT_EQ(top.integer("b", 0, 9), std::nullopt);
  EXPECT_EQ(top.number("c", 0, 9), std::nullopt);
  EXPECT_EQ(top.boolean("d"), std::nullopt);
  EXPECT_EQ(top.texts("e"), std::nullopt);
  EXPECT_EQ(top.choice("f", {"x", "y"}), std::nullopt);
  EXPECT_EQ(f.mistakes(),
            "f.yaml:1:4: a: expected a text, found a mapping\n"
            "f.yaml:2:4: b: expected an integer from 0 to 9, found a sequence\n"
            "f.yaml:3:1: c: expected a number from 0 to 9, found nothing\n"
            "f.yaml:4:4: d: expected true or false, found \"yes\"\n"
            "f.yaml:5:4: e: expected a sequence of texts, found \"1\"\n"
            "f.yaml:6:4: f: expected x or y, found \"z\"\n");
}

}  // namespace
}  // namespace noteg
