#include "sim/support/text.hpp"

#include <gtest/gtest.h>

namespace noteg {
namespace {

TEST(NearestName, DistanceCountsSingleSlips) {
  EXPECT_EQ(edit_distance("latency", "latency"), 0);
  EXPECT_EQ(edit_distance("latency", "LATENCY"), 0);
  EXPECT_EQ(edit_distance("latncy", "latency"), 1);
  EXPECT_EQ(edit_distance("latecny", "latency"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(NearestName, NearestComesFirstAndFarOnesAreLeftOut) {
  const std::vector<std::string> names{"rtx3090", "rtx4070", "l4", "h100-sxm5-80gb"};
  EXPECT_EQ(nearest_names("rtx4071", names, 3), (std::vector<std::string>{"rtx4070"}));
  EXPECT_EQ(nearest_names("h100", names, 3), (std::vector<std::string>{"h100-sxm5-80gb"}));
  EXPECT_TRUE(nearest_names("voodoo", names, 3).empty());
}

TEST(NearestName, AVeryLongTextCostsNothing) {
  EXPECT_TRUE(nearest_names(std::string(1000000, 'x'), {"rtx4070"}, 3).empty());
}

TEST(NearestName, JoinsAsASentence) {
  EXPECT_EQ(join_or({}), "");
  EXPECT_EQ(join_or({"a"}), "a");
  EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace noteg
