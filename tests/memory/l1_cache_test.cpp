#include "sim/memory/l1_cache.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/memory/stack_distance.hpp"

namespace noteg::memory {
namespace {

using Cache = L1Cache<int>;
constexpr std::int64_t bytes = 224 * 1024, lines_per_kb = 8;

std::uint64_t sector_of(std::uint64_t line) { return line * Cache::line_sectors; }

// Share of the lines that are found, each of them asked for in turn.
double pass(Cache& cache, const std::vector<std::uint64_t>& lines) {
  double found = 0;
  for (const std::uint64_t line : lines) found += cache.touch(sector_of(line), 0).has_value();
  return found / static_cast<double>(lines.size());
}

std::vector<std::uint64_t> following(std::uint64_t first, std::int64_t kb) {
  std::vector<std::uint64_t> out;
  for (std::int64_t i = 0; i < kb * lines_per_kb; ++i) out.push_back(first + static_cast<std::uint64_t>(i));
  return out;
}

TEST(L1Cache, AllThatFitsIsFoundAgainAndNothingOfAPassOverMuchMore) {
  Cache small(bytes), large(bytes);
  EXPECT_EQ(pass(small, following(0, 96)), 0);
  EXPECT_EQ(pass(small, following(0, 96)), 1);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(pass(large, following(0, 400)), 0);
}

TEST(L1Cache, WhatWasFoundOnceOutlivesAnyStreamOfWhatIsNot) {
  Cache once(bytes), again(bytes);
  pass(once, following(0, 64));
  for (int i = 0; i < 2; ++i) pass(again, following(0, 64));
  for (Cache* cache : {&once, &again}) pass(*cache, following(1 << 20, 2048));
  EXPECT_EQ(pass(once, following(0, 64)), 0);
  EXPECT_EQ(pass(again, following(0, 64)), 1);
}

TEST(L1Cache, SectorsOfALineAreAskedForOneByOne) {
  Cache cache(bytes);
  EXPECT_FALSE(cache.touch(4, 1));
  EXPECT_FALSE(cache.touch(5, 2));
  EXPECT_EQ(cache.touch(4, 3), 1);
  EXPECT_EQ(cache.touch(5, 3), 2);
  cache.clear();
  EXPECT_FALSE(cache.touch(4, 4));
}

// Rows l1_kept of h200_memory_micro.csv: A, then B, then A again, in chunks of lines at random places. Of pieces that
// nearly fill it an H200 finds more, as its sets share them more evenly.
TEST(L1Cache, FindsWhatAnH200Finds) {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_memory_micro.csv");
  double off = 0;
  int rows = 0;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with("l1_kept,")) continue;
    int chunk = 0, a = 0, b = 0, passes = 0;
    double found = 0;
    ASSERT_EQ(std::sscanf(text.c_str(), "l1_kept,chunk=%d;a=%d;b=%d;passes=%d,%lf", &chunk, &a, &b, &passes, &found),
              5);
    std::mt19937 random(7);
    const auto lines_of = [&](int kb) {
      std::vector<std::uint64_t> out;
      for (int i = 0; i < kb * lines_per_kb; ++i)
        out.push_back(i % chunk == 0 ? std::uint64_t{random() % (1u << 24)} / static_cast<unsigned>(chunk) *
                                           static_cast<unsigned>(chunk)
                                     : out.back() + 1);
      return out;
    };
    Cache cache(bytes);
    const std::vector<std::uint64_t> of_a = lines_of(a), of_b = lines_of(b);
    for (int i = 0; i < passes; ++i) pass(cache, of_a);
    if (b > 0) pass(cache, of_b);
    off += std::abs(pass(cache, of_a) - found);
    ++rows;
  }
  EXPECT_EQ(rows, 192);
  EXPECT_LT(off / rows, 0.08);
}

// Rows l1_stored: reading and storing alike bring a line and find it again.
TEST(L1Cache, AnH200MakesNoDifferenceBetweenLoadsAndStores) {
  std::ifstream file(NOTEG_SOURCE_DIR "/tests/data/h200_memory_micro.csv");
  std::map<std::string, double> first;  // by how often A was gone to, by chunk and B
  int rows = 0;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with("l1_stored,")) continue;
    const std::size_t chunk = text.find(";chunk="), value = text.find(',', chunk);
    const std::string done = text.substr(0, text.find(";b="));
    const bool is_twice = done.ends_with("twice") || done.ends_with("then stored");
    const double found = std::stod(text.substr(value + 1));
    const std::string key = (is_twice ? "twice" : "once") + text.substr(chunk, value - chunk);
    EXPECT_NEAR(found, first.try_emplace(key, found).first->second, 0.01) << text;
    ++rows;
  }
  EXPECT_EQ(rows, 220);
}

// What came since, counted one by one, for a random sequence.
TEST(StackDistance, CountsTheDifferentOthersSinceSomethingCame) {
  StackDistance distance;
  std::map<std::uint32_t, std::uint32_t> last;
  std::vector<std::uint32_t> came;
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const auto it = static_cast<std::uint32_t>(random() % 700);
    const auto [known, is_new] = last.try_emplace(it, 0);
    if (is_new) {
      known->second = distance.comes();
    } else {
      std::set<std::uint32_t> others;
      for (auto at = came.rbegin(); *at != it; ++at) others.insert(*at);
      ASSERT_EQ(distance.comes_again(known->second), others.size());
    }
    came.push_back(it);
  }
}

}  // namespace
}  // namespace noteg::memory
