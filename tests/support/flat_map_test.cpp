#include "sim/support/flat_map.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

namespace noteg {
namespace {

TEST(FlatMap, HoldsWhatAMapOfTheLibraryHolds) {
  FlatMap<int> map;
  std::unordered_map<std::uint64_t, int> expected;
  std::uint64_t key = 1;
  for (int i = 0; i < 5000; ++i) {
    key = key * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t some = i % 3 == 0 ? static_cast<std::uint64_t>(i) : key >> 52;  // in rows, and again
    const auto [value, is_new] = map.try_emplace(some, i);
    EXPECT_EQ(is_new, expected.try_emplace(some, i).second);
    EXPECT_EQ(*value, expected.at(some));
    *value += 1;
    expected.at(some) += 1;
  }
  EXPECT_EQ(map.size(), expected.size());
  std::size_t seen = 0;
  map.each([&](std::uint64_t each, int value) {
    ++seen;
    EXPECT_EQ(value, expected.at(each));
    EXPECT_EQ(*map.find(each), value);
  });
  EXPECT_EQ(seen, expected.size());
  EXPECT_EQ(map.find(1ull << 63), nullptr);
  EXPECT_EQ(FlatMap<int>().find(0), nullptr);
}

}  // namespace
}  // namespace noteg
