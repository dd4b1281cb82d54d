#include "sim/validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sim/support/arithmetic.hpp"
#include "sim/validate/metrics.hpp"

namespace noteg::validate {
namespace {

using gpu::Evidence;
using gpu::MeasuredError;

constexpr double most_of_host = 0.2;
constexpr std::size_t folds_of_many = 10;  // shapes and kernels are dealt out to as many folds

// L4's voltage was fitted on every fourth row of neusight of at least 20 ms, from the first on, whatever became of
// them.
std::vector<bool> voltage_rows(const MeasuredData& data) {
  constexpr double shortest_ms = 20;
  std::vector<bool> fitted(data.rows.size(), false);
  std::size_t place = 0;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    RowView row(data, data.rows[i]);
    if (row.text("source") == "neusight" && row.text("gpu") == "L4" && row.positive("time_ms") >= shortest_ms)
      fitted[i] = place++ % 4 == 0;
  }
  return fitted;
}

// Rows on which arch files and host_time.cpp say that a constant was fitted: the half of the shapes called fitted, and
// the small results and 64x128 tiles of our own wgmma kernels.
bool was_fitted_on(const std::string& source, const Outcome& outcome) {
  const gpu::Situation& at = outcome.prediction.situation;
  if (source == "neusight" || source == "vidur") return outcome.prediction.half == Half::fitted;
  if (source != "measured") return false;
  if (at.family == kernels::Family::simt || at.family == kernels::Family::blocked)
    return outcome.prediction.half == Half::fitted;
  if (at.family != kernels::Family::wgmma) return false;
  const std::int64_t rows_of_c = outcome.prediction.shape.m;
  return rows_of_c <= 128 || (at.tile.m == 64 && at.tile.n == 128 && rows_of_c >= 2048);
}

// The smallest score that at least the share of them reach, were there one more than the largest.
double conformal_quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 1;
  const double rank = std::ceil(share * static_cast<double>(sorted.size() + 1));
  return sorted[std::min(static_cast<std::size_t>(rank), sorted.size()) - 1];
}

// One way of leaving rows out, and what the rows are judged at by it.
class LeftOut {
 public:
  LeftOut(std::string name, const gpu::MeasuredErrors& errors, const std::vector<std::string>& groups, bool few)
      : name_(std::move(name)), errors_(errors), few_(few) {
    std::map<std::string, std::size_t> numbers;
    for (const std::string& group : groups) group_.push_back(numbers.emplace(group, numbers.size()).first->second);
    size_.assign(numbers.size(), 0);
    for (const std::size_t group : group_) ++size_[group];
    score();
  }

  [[nodiscard]] std::array<double, 3> factors() const { return factors_without(none); }

  void add_coverage(std::vector<gpu::Coverage>& out) {
    std::map<std::size_t, std::array<double, 3>> of_fold;
    std::map<std::string, Sum> sums;
    std::vector<double> held_of_group(size_.size());
    std::vector<double> widths;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      const std::size_t fold = fold_of(i);
      if (!of_fold.contains(fold)) of_fold[fold] = factors_without(fold);
      const std::array<double, 3>& factor = of_fold[fold];
      for (const std::string& key : {std::string("all"), errors_.rows()[i].at.gpu}) sums[key].add(scores_[i], factor);
      if (scores_[i] <= factor.back()) held_of_group[group_[i]] += 1.0 / static_cast<double>(size_[group_[i]]);
      widths.push_back(factor.back() * half_width_[i]);
    }
    for (const auto& [key, sum] : sums) {
      gpu::Coverage coverage{name_, key, static_cast<int>(sum.rows), {}, 0, 0};
      for (std::size_t share = 0; share < 3; ++share) coverage.held[share] = sum.held[share] / sum.rows;
      if (key == "all") {
        for (const double held : held_of_group) coverage.mean_over_groups += held / static_cast<double>(size_.size());
        coverage.half_width = quantile(widths, 0.5);
      }
      out.push_back(std::move(coverage));
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct Sum {
    double rows = 0;
    std::array<double, 3> held{};
    void add(double score, const std::array<double, 3>& factor) {
      ++rows;
      for (std::size_t share = 0; share < 3; ++share) held[share] += score <= factor[share] ? 1 : 0;
    }
  };

  // How far each row lies from its prediction, in spreads that the rows outside its group tell.
  void score() {
    std::vector<std::vector<std::size_t>> members(size_.size());
    for (std::size_t i = 0; i < group_.size(); ++i) members[group_[i]].push_back(i);
    scores_.resize(group_.size());
    half_width_.resize(group_.size());
    std::vector<bool> left_out(group_.size(), false);
    for (const std::vector<std::size_t>& group : members) {
      for (const std::size_t i : group) left_out[i] = true;
      for (const std::size_t i : group) {
        const MeasuredError& row = errors_.rows()[i];
        const std::optional<gpu::Spread> spread = errors_.spread(row.at, left_out);
        scores_[i] = !spread ? 0 : row.error > 0 ? row.error / spread->up : -row.error / spread->down;
        half_width_[i] = spread ? (spread->up + spread->down) / 2 : 0;
      }
      for (const std::size_t i : group) left_out[i] = false;
    }
  }

  [[nodiscard]] std::size_t fold_of(std::size_t row) const { return few_ ? group_[row] : group_[row] % folds_of_many; }

  [[nodiscard]] std::array<double, 3> factors_without(std::size_t fold) const {
    std::vector<double> scores;
    for (std::size_t i = 0; i < scores_.size(); ++i)
      if (fold_of(i) != fold) scores.push_back(scores_[i]);
    std::ranges::sort(scores);
    std::array<double, 3> out{};
    for (std::size_t share = 0; share < out.size(); ++share)
      out[share] = conformal_quantile(scores, gpu::interval_shares[share]);
    return out;
  }

  std::string name_;
  const gpu::MeasuredErrors& errors_;
  bool few_;
  std::vector<std::size_t> group_, size_;
  std::vector<double> scores_, half_width_;
};

std::string kernel_key(const gpu::Situation& s) {
  return fmt::format("{} {}x{}x{} {} {}", name_of(s.family), s.tile.m, s.tile.n, s.tile.k, s.stages, s.operand_bytes);
}

}  // namespace

std::vector<CountedRow> counted_rows(const Validation& validation) {
  std::vector<CountedRow> rows;
  const std::vector<bool> voltage = voltage_rows(validation.data);
  for (std::size_t i = 0; i < validation.outcomes.size(); ++i) {
    const Outcome& outcome = validation.outcomes[i];
    if (outcome.status != Status::predicted || !outcome.time_ms) continue;
    const Prediction& p = outcome.prediction;
    const std::string source(RowView(validation.data, validation.data.rows[i]).text("source"));
    if (voltage[i] || was_fitted_on(source, outcome)) continue;
    const double host_ms = p.time_ms - p.situation.time_us * 1e-3;
    if (p.other_kernels || host_ms > most_of_host * p.time_ms) continue;
    const kernels::GemmShape& s = p.shape;
    rows.push_back({{p.situation, source, std::log(outcome.time_ms->measured / outcome.time_ms->predicted)},
                    fmt::format("{}x{}x{}x{}", s.batch, s.m, s.n, s.k)});
  }
  // Rows of a kernel stand together in the file, in the order of the data otherwise.
  std::ranges::stable_sort(rows, {}, [](const CountedRow& r) {
    const gpu::Situation& s = r.row.at;
    return std::tuple(s.gpu, r.row.source, kernel_key(s), s.chosen);
  });
  return rows;
}

gpu::ErrorTable error_table(const std::vector<CountedRow>& rows) {
  std::vector<MeasuredError> errors;
  for (const CountedRow& row : rows) errors.push_back(row.row);
  // As it is read back: what the file rounds, the factors know.
  gpu::ErrorTable table;
  table.errors = gpu::MeasuredErrors(std::move(errors));
  table = *gpu::read_error_table(gpu::to_text(table));
  const auto groups = [&](const auto& key) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(key(rows[i].shape, table.errors.rows()[i].at));
    return all;
  };
  const auto leave_out = [&](Evidence evidence, const char* name, bool few, const auto& key) {
    LeftOut left_out(name, table.errors, groups(key), few);
    table.factors[static_cast<std::size_t>(evidence)] = left_out.factors();
    left_out.add_coverage(table.coverage);
  };
  using gpu::Situation;
  leave_out(Evidence::kernel, "shape", false, [](const std::string& shape, const Situation&) { return shape; });
  leave_out(Evidence::family, "kernel", false, [](const std::string&, const Situation& s) { return kernel_key(s); });
  leave_out(Evidence::nothing, "family", true,
            [](const std::string&, const Situation& s) { return std::string(name_of(s.family)); });
  leave_out(Evidence::other_gpu, "gpu", true, [](const std::string&, const Situation& s) { return s.gpu; });
  return table;
}

}  // namespace noteg::validate
