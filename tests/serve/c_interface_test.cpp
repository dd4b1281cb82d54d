#include <gtest/gtest.h>

#include <string>

#include "sim/serve/noteg.h"

namespace {

std::string ask(noteg_service* service, const char* request) {
  char* answer = noteg_ask(service, request);
  const std::string text = answer != nullptr ? answer : "";
  noteg_free(answer);
  return text;
}

TEST(CInterface, AnswersRequests) {
  noteg_service* service = noteg_open();
  ASSERT_NE(service, nullptr);
  const std::string request =
      R"({"id": "a", "command": "simulate", "arch": "l4", "family": "simt", "tile": "128x128x8", "shape": [256, 256, 64]})";
  const std::string answer = ask(service, request.c_str());
  EXPECT_EQ(answer.rfind(R"({"id":"a","status":0,"result":{"arch":"l4")", 0), 0U) << answer.substr(0, 200);
  EXPECT_EQ(ask(service, request.c_str()), answer);
  noteg_close(service);
}

TEST(CInterface, TakesAnythingForARequest) {
  noteg_service* service = noteg_open();
  for (const char* wrong : {"", "{", "[]", "{\"command\": \"rm\"}", "\xff\xfe"})
    EXPECT_NE(ask(service, wrong).find("\"status\":2"), std::string::npos) << wrong;
  EXPECT_NE(ask(service, nullptr).find("\"status\":2"), std::string::npos);
  EXPECT_NE(ask(nullptr, "{}").find("\"status\":2"), std::string::npos);
  noteg_close(service);
  noteg_close(nullptr);
  noteg_free(nullptr);
  EXPECT_NE(std::string(noteg_version()), "");
}

}  // namespace
