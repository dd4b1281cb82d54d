#include "sim/compare/compare.hpp"

#include <gtest/gtest.h>

namespace noteg::compare {
namespace {

TEST(WhatIf, SplitsOffEveryChange) {
  const Result<WhatIf> parsed = parse_what_if("l4:l2.size=24MiB:clock.boost=1.5GHz");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->arch, "l4");
  ASSERT_EQ(parsed->changes.size(), 2U);
  EXPECT_EQ(parsed->changes[0], (std::pair<std::string, std::string>{"l2.size", "24MiB"}));
  EXPECT_EQ(parsed->changes[1], (std::pair<std::string, std::string>{"clock.boost", "1.5GHz"}));
}

TEST(WhatIf, AColonWithoutAKeyBelongsToThePath) {
  const Result<WhatIf> parsed = parse_what_if("/a:b/c.yaml:sms=4");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->arch, "/a:b/c.yaml");
  EXPECT_EQ(parsed->changes.size(), 1U);
  EXPECT_FALSE(parse_what_if(":sms=4"));
}

TEST(WhatIf, ANewBoostClockMovesTheSustainedOne) {
  const Result<std::vector<Variant>> gpus =
      load_variants({"a100-pcie-40gb", "a100-pcie-40gb:clock.boost=1.128GHz"}, {});
  ASSERT_TRUE(gpus);
  const arch::ClockSpec &as_is = gpus->at(0).gpu.clock, &slower = gpus->at(1).gpu.clock;
  EXPECT_NEAR(slower.sustained / as_is.sustained, slower.boost / as_is.boost, 1e-12);
  EXPECT_EQ(gpus->at(1).label, "a100-pcie-40gb (2)");
  EXPECT_EQ(gpus->at(1).what_if, "clock.boost=1.128GHz");
  EXPECT_EQ(gpus->at(0).what_if, "");
}

TEST(WhatIf, EveryMistakeIsTold) {
  const Result<std::vector<Variant>> gpus = load_variants({"l4:l2.sise=24MiB", "l44", "tiny:sms=none"}, {});
  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.errors().size(), 3U);
  EXPECT_NE(gpus.errors()[0].to_string().find("did you mean l2.size"), std::string::npos);
}

}  // namespace
}  // namespace noteg::compare
