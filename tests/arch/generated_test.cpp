// Files in the repository that the program writes are what it would write now. NOTEG_UPDATE_GENERATED=1 writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arch/field.hpp"
#include "arch/print.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::arch {
namespace {

void expect_up_to_date(const std::string& relative, const std::string& content) {
  const std::string path = std::string(NOTEG_SOURCE_DIR) + "/" + relative;
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path, std::ios::binary) << content;
  const Result<std::string> found = read_text_file(path);
  ASSERT_TRUE(found) << to_string(found.errors());
  EXPECT_TRUE(*found == content) << relative << " is out of date: run test_arch with NOTEG_UPDATE_GENERATED=1";
}

TEST(Generated, ReferencePageIsUpToDate) {
  expect_up_to_date("docs/reference/architecture-reference.md", reference_page());
}

TEST(Generated, SchemaIsUpToDate) { expect_up_to_date("arch/architecture.schema.json", json_schema()); }

TEST(Generated, ReferencePageNamesEveryKey) {
  const std::string page = reference_page();
  for (const Field& field : fields()) {
    EXPECT_NE(page.find("| `" + std::string(field.key) + "` |"), std::string::npos) << field.key;
  }
}

TEST(Generated, SchemaIsJsonAndResolvesItsReferences) {
  const nlohmann::json schema = nlohmann::json::parse(json_schema());
  std::vector<const nlohmann::json*> open{&schema};
  while (!open.empty()) {
    const nlohmann::json& node = *open.back();
    open.pop_back();
    if (node.is_object() && node.contains("$ref")) {
      const std::string name = node["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
      EXPECT_TRUE(schema["$defs"].contains(name)) << name;
    }
    if (node.is_structured()) {
      for (const nlohmann::json& child : node) open.push_back(&child);
    }
  }
}

TEST(Generated, SchemaDescribesEveryKey) {
  const nlohmann::json schema = nlohmann::json::parse(json_schema());
  for (const Field& field : fields()) EXPECT_TRUE(schema["$defs"].contains(std::string(field.key))) << field.key;
  EXPECT_TRUE(schema["$defs"]["gpu"]["properties"]["l2"]["properties"].contains("size"));
  EXPECT_TRUE(schema["$defs"]["gpu"]["properties"]["sm"]["required"].empty());
  EXPECT_FALSE(schema["$defs"]["sm"]["properties"]["sm"]["required"].empty());
}

}  // namespace
}  // namespace noteg::arch
