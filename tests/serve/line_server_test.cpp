#include "sim/serve/service.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace noteg::serve {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  void close_write() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

void write_all(int to, std::string text) {
  while (!text.empty()) {
    const ssize_t put = ::write(to, text.data(), text.size());
    if (put <= 0) return;
    text.erase(0, static_cast<std::size_t>(put));
  }
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> block{};
  for (ssize_t got = 0; (got = ::read(from, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(got));
  return text;
}

// What comes out for what goes in.
std::string served(const std::string& input, unsigned jobs, const std::function<std::string(std::string_view)>& answer,
                   std::size_t longest = 1 << 22) {
  Pipe in, out;
  std::string text;
  std::jthread writer([&] {
    write_all(in.ends[1], input);
    in.close_write();
  });
  std::jthread reader([&] { text = read_all(out.ends[0]); });
  EXPECT_EQ(serve_lines({in.ends[0], out.ends[1], jobs, longest, "too long"}, answer), Ended::input_ended);
  out.close_write();
  reader.join();
  return text;
}

TEST(LineServer, AnswersComeInTheOrderOfTheLinesWhoeverIsFirst) {
  std::string input, expected;
  for (int i = 0; i < 500; ++i) {
    input += std::to_string(i) + "\n";
    expected += "<" + std::to_string(i) + ">\n";
  }
  const auto slow_at_times = [](std::string_view line) {
    if (line.back() == '3') std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return "<" + std::string(line) + ">";
  };
  for (const unsigned jobs : {1U, 2U, 8U}) EXPECT_EQ(served(input, jobs, slow_at_times), expected) << jobs;
}

TEST(LineServer, ALineOfAMegabyteIsALineAndOneBeyondTheLimitIsSkipped) {
  const auto size = [](std::string_view line) { return std::to_string(line.size()); };
  EXPECT_EQ(served(std::string(1 << 20, 'x') + "\nab\n", 2, size), "1048576\n2\n");
  EXPECT_EQ(served(std::string(1 << 20, 'x') + "\nab\n", 2, size, 1000), "too long\n2\n");
  EXPECT_EQ(served(std::string(1001, 'x') + "\n" + std::string(1000, 'x') + "\n", 2, size, 1000), "too long\n1000\n");
}

TEST(LineServer, ALastLineMayLackItsNewlineAndEmptyOnesGetNoAnswer) {
  const auto echo = [](std::string_view line) { return std::string(line); };
  EXPECT_EQ(served("\n \r\na\n\nb", 2, echo), "a\nb\n");
  EXPECT_EQ(served("", 2, echo), "");
}

TEST(LineServer, AnAnswerIsWrittenBeforeTheNextLineComes) {
  Pipe in, out;
  std::jthread server([&] {
    (void)serve_lines({in.ends[0], out.ends[1], 2, 1000, ""}, [](std::string_view line) { return std::string(line); });
  });
  std::array<char, 16> block{};
  for (const std::string& line : {std::string("a\n"), std::string("b\n")}) {
    write_all(in.ends[1], line);
    EXPECT_EQ(::read(out.ends[0], block.data(), block.size()), 2);
    EXPECT_EQ(block[0], line[0]);
  }
  in.close_write();
}

TEST(LineServer, EndsWhenNobodyReadsAnyMore) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out;
  out.close_read();
  std::jthread writer([&] {
    for (int i = 0; i < 100000; ++i) write_all(in.ends[1], "line\n");
    in.close_write();
  });
  const Ended ended =
      serve_lines({in.ends[0], out.ends[1], 2, 1000, ""}, [](std::string_view line) { return std::string(line); });
  EXPECT_EQ(ended, Ended::nobody_reads);
  in.close_read();  // so that the writer ends, too
}

}  // namespace
}  // namespace noteg::serve
