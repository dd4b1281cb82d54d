#include "sim/serve/service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace noteg::serve {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return text;
}

// Answers with the words that it was given, as text.
Ran echo(const std::string& command, const std::vector<std::string>& words) {
  return {0, command + "\n" + joined(words), ""};
}

TEST(Service, KeysBecomeOptionsAndTheIdComesBack) {
  Service service(echo);
  EXPECT_EQ(
      service.answer(R"({"id": [1, "x"], "command": "simulate", "clock_mode": "burst", "exact": true, "quiet": false,
                               "shape": [1, 2, 3], "family": ["simt", "mma"], "batch": 4, "set": {"arch.sms": 3}})"),
      R"({"id":[1,"x"],"status":0,"text":"simulate\n--clock-mode=burst\n--exact\n--shape=1x2x3\n--family=simt\n)"
      R"(--family=mma\n--batch=4\n--set=arch.sms=3\n"})");
  EXPECT_EQ(service.answer(R"({"command": "workload", "arguments": ["gpt-2"]})"),
            R"({"id":null,"status":0,"text":"workload\ngpt-2\n"})");
}

TEST(Service, AnIdComesBackAsItIsWritten) {
  Service service(echo);
  for (const char* id : {"12345678901234567890123", "1.50", "-0e1", R"("a \"b\\ , \u00e4")", R"({"id":[1,{}]})"})
    EXPECT_EQ(service.answer(std::string(R"({"x":[{"id":3}],"\u0069d" : )") + id + R"(,"command":"tune"})")
                  .find("{\"id\":" + std::string(id) + ",\"status\":"),
              0u)
        << id;
}

TEST(Service, AKeyThatARequestHasTwiceIsAMistakeOfThatRequest) {
  Service service(echo);
  EXPECT_EQ(service.answer(R"({"id":7,"command":"simulate","arch":"l4","arch":"l40s"})"),
            R"({"id":7,"status":2,"error":"arch: expected it once, found it again"})");
  EXPECT_EQ(service.answer(R"({"command":"simulate","set":{"arch.sms":3,"arch.sms":4}})"),
            R"({"id":null,"status":2,"error":"arch.sms: expected it once, found it again"})");
  EXPECT_EQ(service.answer(R"({"command":"simulate","set":{"a":1},"b":{"a":1}})").find("{\"id\":null,\"status\":0"),
            0u);
}

TEST(Service, ExtentsThatAreNoIntegersAreOneShapeStill) {
  Service service(echo);
  EXPECT_EQ(service.answer(R"({"command":"simulate","shape":[64,64,64.5]})"),
            R"({"id":null,"status":0,"text":"simulate\n--shape=64x64x64.5\n"})");
}

TEST(Service, OtherNumbersSideBySideAreAListWithCommas) {
  Service service(echo);
  EXPECT_EQ(service.answer(R"({"command":"workload","tokens":[1,16],"tile":[64,64,8]})"),
            R"({"id":null,"status":0,"text":"workload\n--tokens=1,16\n--tile=64x64x8\n"})");
}

TEST(Service, AResultIsTheCommandsJsonWithoutBlanks) {
  Service service([](const std::string&, const std::vector<std::string>&) {
    return Ran{0, "{\n  \"time_us\": 1.50,\n  \"a\": [1, 2]\n}\n", "a remark\n"};
  });
  EXPECT_EQ(service.answer(R"({"command":"simulate"})"),
            R"({"id":null,"status":0,"result":{"time_us":1.5,"a":[1,2]},"error":"a remark\n"})");
}

TEST(Service, ASecondRequestOfTheSameKindIsNotRunAgain) {
  std::atomic<int> runs = 0;
  Service service([&runs](const std::string&, const std::vector<std::string>&) {
    ++runs;
    return Ran{0, "{}", ""};
  });
  EXPECT_EQ(service.answer(R"({"id": 1, "command": "simulate"})"), R"({"id":1,"status":0,"result":{}})");
  EXPECT_EQ(service.answer(R"({"command": "simulate", "id": 2})"), R"({"id":2,"status":0,"result":{}})");
  EXPECT_EQ(runs, 1);
}

TEST(Service, WhatFailedIsTriedAgain) {
  std::atomic<int> runs = 0;
  Service service([&runs](const std::string&, const std::vector<std::string>&) {
    ++runs;
    return Ran{2, "", "wrong\n"};
  });
  EXPECT_EQ(service.answer(R"({"command":"simulate"})"), R"({"id":null,"status":2,"error":"wrong\n"})");
  (void)service.answer(R"({"command":"simulate"})");
  EXPECT_EQ(runs, 2);
}

TEST(Service, EveryLineGetsAnAnswer) {
  Service service(echo);
  for (const std::string& line :
       {std::string(), std::string("{"), std::string("[1]"), std::string("null"), std::string("\xc3\x28"),
        std::string("{\"command\": 3}"), std::string(R"({"command":"simulate","shape":[[1]]})"),
        std::string(R"({"command":"simulate","set":{"a":{}}})"), std::string(1 << 20, '['), std::string(1 << 20, 'x'),
        "{\"command\":" + std::string(1 << 20, '{') + "}", std::string(longest_line + 1, ' ')}) {
    const std::string answer = service.answer(line);
    EXPECT_NE(answer.find("\"status\":2,\"error\":\""), std::string::npos)
        << line.substr(0, 40) << answer.substr(0, 200);
    EXPECT_EQ(answer.find('\n'), std::string::npos);
  }
  EXPECT_NE(service.answer("{\"command\":\"simulate\",\"kernel_name\":\"" + std::string(1 << 20, 'x') + "\"}")
                .find("\"status\":0"),
            std::string::npos);
}

TEST(Service, ThreadsGetTheAnswersToTheirOwnRequests) {
  Service service(echo);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string id = std::to_string(t * 1000 + i);
        const std::string answer =
            service.answer("{\"id\":" + id + ",\"command\":\"simulate\",\"batch\":" + std::to_string(i % 10) + "}");
        if (answer.rfind("{\"id\":" + id + ",", 0) != 0 ||
            answer.find("--batch=" + std::to_string(i % 10)) == std::string::npos)
          ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace noteg::serve
