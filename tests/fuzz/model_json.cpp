// Model files: any bytes give a model or diagnostics; a model that is accepted writes itself, reads itself back and
// answers for a row inside its domain, one outside and a blank one.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "sim/learn/estimate.hpp"
#include "sim/learn/model_file.hpp"

namespace {

using noteg::dataset::Table;
using noteg::dataset::Values;

Values column_of(const noteg::learn::Feature& feature) {
  Values values;
  values.column = feature.column;
  values.is_text = feature.kind == noteg::forest::FeatureKind::category;
  if (values.is_text) {
    values.words = feature.categories;
    values.words.emplace_back("never seen");
    values.codes = {0, static_cast<std::int32_t>(feature.categories.size()), -1};
  } else {
    values.numbers = {feature.low, feature.high * 2 + 1, std::numeric_limits<double>::quiet_NaN()};
  }
  return values;
}

Table three_rows(const noteg::learn::Model& model) {
  Table table{"fuzz", 3, {}, {}};
  for (const noteg::learn::Feature& feature : model.features) table.columns.push_back(column_of(feature));
  for (const noteg::learn::Part& part : model.parts)
    for (const noteg::learn::Target& target : part.targets)
      if (!target.anchor.empty() && table.find(target.anchor) == nullptr)
        table.columns.push_back({{target.anchor, "", "", noteg::dataset::Group::other}, false, {1, 0, 2}, {}, {}});
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes as text
  const auto model = noteg::learn::parse_model(text, "fuzz.json");
  if (!model) return 0;
  const std::string written = noteg::learn::to_json(*model);
  const auto again = noteg::learn::parse_model(written, "fuzz.json");
  if (!again || noteg::learn::to_json(*again) != written) std::abort();
  const auto rows = noteg::learn::Estimator(*model).estimate(three_rows(*model), true, 1);
  if (rows && rows->size() != 3) std::abort();
  return 0;
}
