#include "sim/forest/bins.hpp"

#include <algorithm>
#include <cmath>

#include "sim/support/work_sharing.hpp"

namespace noteg::forest {

std::uint8_t FeatureBins::bin_of(double value) const {
  if (std::isnan(value)) return missing_bin;
  if (kind == FeatureKind::category)
    return value >= 0 && value < static_cast<double>(categories) ? static_cast<std::uint8_t>(value) : missing_bin;
  const double* first = edges.data();
  std::size_t left = edges.size();
  while (left > 0) {  // the first edge that is not below the value, without branches that guess
    const std::size_t half = left / 2;
    const bool above = first[half] < value;
    first += above ? half + 1 : 0;
    left = above ? left - half - 1 : half;
  }
  return static_cast<std::uint8_t>(first - edges.data());
}

FeatureBins make_bins(std::span<const double> values, FeatureKind kind) {
  FeatureBins bins;
  bins.kind = kind;
  std::vector<double> sorted;
  for (const double value : values)
    if (!std::isnan(value)) sorted.push_back(value);
  std::ranges::sort(sorted);
  if (kind == FeatureKind::category) {
    const double last = sorted.empty() ? -1 : sorted.back();
    bins.categories = static_cast<std::size_t>(std::clamp(last + 1, 0.0, static_cast<double>(most_bins)));
    return bins;
  }
  std::vector<double> distinct;
  std::ranges::unique_copy(sorted, std::back_inserter(distinct));
  const bool each_its_own = distinct.size() <= most_bins;
  const std::vector<double>& places = each_its_own ? distinct : sorted;
  const std::size_t parts = each_its_own ? distinct.size() : most_bins;
  for (std::size_t i = 1; i < parts; ++i) {
    const std::size_t at = i * places.size() / parts;
    const double edge = places[at - 1] + 0.5 * (places[at] - places[at - 1]);
    // Between neighbours that halving cannot part, the lower one itself is the edge.
    const double below = edge < places[at] ? edge : places[at - 1];
    if (places[at - 1] < places[at] && (bins.edges.empty() || bins.edges.back() < below)) bins.edges.push_back(below);
  }
  return bins;
}

BinnedColumns bin_columns(const Eigen::MatrixXd& x, const std::vector<FeatureBins>& features, unsigned threads) {
  BinnedColumns out;
  out.rows = static_cast<std::size_t>(x.rows());
  out.bins.resize(out.rows * features.size());
  share_work(features.size(), threads, {}, [&](std::size_t f) {
    const double* const values = x.col(static_cast<Eigen::Index>(f)).data();
    BinSearch(features[f]).bins_of({values, out.rows}, out.bins.data() + f * out.rows);
  });
  return out;
}

}  // namespace noteg::forest
