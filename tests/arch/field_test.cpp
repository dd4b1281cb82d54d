// Laws of the table of keys, and of what one value may be.
#include "arch/field.hpp"

#include <gtest/gtest.h>

#include <set>

#include "arch/provenance.hpp"
#include "arch/read_spec.hpp"

namespace noteg::arch {
namespace {

TEST(Fields, KeysAreUniqueAndDescribed) {
  std::set<std::string_view> keys;
  for (const Field& field : fields()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    EXPECT_TRUE(field.doc.ends_with(".")) << field.key;
    EXPECT_FALSE(field.used_by.empty()) << field.key;
    if (field.kind != Kind::flag && field.kind != Kind::text) {
      EXPECT_LT(field.low, field.high) << field.key;
    }
  }
}

TEST(Fields, NoKeyIsASectionOfAnother) {
  for (const Field& a : fields()) {
    for (const Field& b : fields()) EXPECT_FALSE(b.key.starts_with(std::string(a.key) + ".")) << a.key << " " << b.key;
  }
}

TEST(Fields, WhatIsSetIsRead) {
  for (const Field& field : fields()) {
    GpuSpec gpu;
    Value value;
    switch (field.kind) {
      case Kind::count: value = 7.0; break;
      case Kind::fraction:
      case Kind::quantity: value = 0.625; break;
      case Kind::flag: value = !std::get<bool>(field.get(gpu)); break;
      case Kind::sizes: value = std::vector<double>{1, 2}; break;
      case Kind::energies: value = std::vector<NamedEnergy>{{"x", Joules{1}}}; break;
      case Kind::forms: value = std::vector<TensorFormSpec>{{"x", Cycles{2}, Cycles{1}}}; break;
      case Kind::text: value = std::string("x"); break;
    }
    field.set(gpu, value);
    EXPECT_EQ(field.get(gpu), value) << field.key;
    // Only this member has changed: two keys never share one.
    const GpuSpec fresh;
    for (const Field& other : fields()) {
      if (&other != &field) {
        EXPECT_EQ(other.get(gpu), other.get(fresh)) << field.key << " changes " << other.key;
      }
    }
  }
}

TEST(Fields, RangeIncludesItsEnds) {
  const Field& sms = fields()[*find_field("sms")];
  EXPECT_FALSE(parse_scalar(sms, "0"));
  EXPECT_TRUE(parse_scalar(sms, "1"));
  EXPECT_TRUE(parse_scalar(sms, "1024"));
  EXPECT_FALSE(parse_scalar(sms, "1025"));
}

TEST(Fields, ValuesReadBackAsWritten) {
  for (const auto& [key, text] : {std::pair{"l2.size", "36 MiB"}, std::pair{"dram.bandwidth", "504 GB/s"},
                                  std::pair{"dram.read_efficiency", "0.92"}, std::pair{"sm.has_tma", "true"},
                                  std::pair{"sm.pipes.fma.lanes", "32"}}) {
    const Field& field = fields()[*find_field(key)];
    const Result<Value> value = parse_scalar(field, text);
    ASSERT_TRUE(value) << key;
    EXPECT_EQ(format_value(field, *value), text);
  }
}

TEST(Rules, NameKnownKeys) {
  for (const Rule& rule : rules()) {
    ASSERT_FALSE(rule.keys.empty());
    for (const std::string_view key : rule.keys) EXPECT_TRUE(find_field(key)) << key;
  }
}

TEST(Sources, StartWithKnownKeys) {
  EXPECT_EQ(wrong_source("WP"), std::nullopt);
  EXPECT_EQ(wrong_source("WP, GPUB: figure"), std::nullopt);
  EXPECT_EQ(wrong_source("WP: a: b, c"), std::nullopt);
  EXPECT_EQ(wrong_source("MICRO25-art:x"), std::nullopt);
  EXPECT_EQ(wrong_source("WPX: figure"), "\"WPX\"");
  EXPECT_EQ(wrong_source("WP,"), "\"\"");
  EXPECT_EQ(wrong_source(": figure"), "\"\"");
}

}  // namespace
}  // namespace noteg::arch
