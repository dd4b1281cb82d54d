#include "tests/sm/tables/measured_row.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>

namespace noteg::sm::tables {

bool fits(const MeasuredRow& row, double modelled) {
  const double relative = (row.allowed == Allowed::five_percent ? 0.05 : 0.03) * row.measured;
  const double bound = row.allowed != Allowed::one_cycle_or_3_percent ? relative : std::max(1.0, relative);
  return std::abs(modelled - row.measured) <= bound + 1e-9;
}

std::string test_name(const testing::TestParamInfo<MeasuredRow>& info) {
  std::string out;
  for (const char c : info.param.id) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

void PrintTo(const MeasuredRow& row, std::ostream* out) { *out << row.id; }

TEST_P(HardwareTable, IsReproduced) {
  const MeasuredRow& row = GetParam();
  const double modelled = row.modelled();
  const bool as_measured = fits(row, modelled);
  const std::vector<KnownException> exceptions = known_exceptions();
  const auto known =
      std::find_if(exceptions.begin(), exceptions.end(), [&](const KnownException& e) { return e.id == row.id; });
  if (known == exceptions.end()) {
    EXPECT_TRUE(as_measured) << row.id << ": measured " << row.measured << ", modelled " << modelled << " ("
                             << row.source << ")";
  } else {
    EXPECT_FALSE(as_measured) << row.id << " is within bounds now: measured " << row.measured << ", modelled "
                              << modelled << ". It is no exception any more.";
  }
}

}  // namespace noteg::sm::tables
