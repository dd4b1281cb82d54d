#include "sim/chip/trip_rates.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/support/ceil_div.hpp"

namespace noteg::chip {

namespace {

// CTAs of a group whose rate is measured for each combination of groups.
constexpr int few_in_a_group = 3;

}  // namespace

TripRates::TripRates(std::vector<Number> numbers, std::size_t groups, MeasuredRate all, bool apart, Measure measure)
    : numbers_(std::move(numbers)), groups_(groups), apart_(apart), measure_(std::move(measure)) {
  const int resident = static_cast<int>(numbers_.back().ctas), count = static_cast<int>(groups_);
  in_a_group_ = static_cast<int>(ceil_div(resident, count));
  std::vector<int> at_work(groups_, in_a_group_), alone(groups_, 0);
  for (int less = in_a_group_ * count - resident; less > 0; --less) --at_work[groups_ - static_cast<std::size_t>(less)];
  measured_.emplace(std::move(at_work), std::move(all));
  alone[0] = 1;
  MeasuredRate one{numbers_.front().rate, std::vector<double>(groups_, 0)};
  one.by_group[0] = one.all;
  measured_.emplace(std::move(alone), std::move(one));
}

// Towards all of them the rate comes near to that of all ever more slowly.
double TripRates::of_number(double at_work) const {
  Number less = numbers_.front();
  for (std::size_t i = 1; i + 1 < numbers_.size(); ++i) {
    const Number& more = numbers_[i];
    if (at_work <= more.ctas)
      return less.rate + (more.rate - less.rate) * (at_work - less.ctas) / (more.ctas - less.ctas);
    less = more;
  }
  const Number& all = numbers_.back();
  const double left = std::max(0.0, all.ctas - at_work) / (all.ctas - less.ctas);
  return all.rate + (less.rate - all.rate) * left * left;
}

// A group with the SM to itself.
double TripRates::of_group_alone(int at_work) {
  if (at_work == 0) return 0;
  const double one = numbers_.front().rate;
  if (full_group_ <= 0) {
    std::vector<int> first(groups_, 0);
    first[0] = in_a_group_;
    full_group_ = std::max(one, measure_(first).all);
  }
  const double left = in_a_group_ > 1 ? static_cast<double>(in_a_group_ - at_work) / (in_a_group_ - 1) : 0;
  return full_group_ + (one - full_group_) * left * left;
}

// Groups are alike: which of them has more at work does not matter, and among those that have as many only luck makes a
// difference.
double TripRates::measured(std::size_t group, const std::vector<int>& at_work) {
  std::vector<int> sorted = at_work;
  std::ranges::sort(sorted, std::greater<>());
  auto found = measured_.find(sorted);
  if (found == measured_.end()) found = measured_.emplace(sorted, measure_(sorted)).first;
  double rate = 0;
  int alike = 0;
  for (std::size_t i = 0; i < groups_; ++i) {
    if (sorted[i] != at_work[group]) continue;
    rate += found->second.by_group[i];
    ++alike;
  }
  return rate / alike;
}

double TripRates::operator()(std::size_t group, const std::vector<int>& at_work) {
  if (groups_ == 1) return of_number(at_work[0]);
  const auto groups = static_cast<double>(groups_);
  if (!apart_) return of_number(at_work[group] * groups) / groups;
  const int together = std::accumulate(at_work.begin(), at_work.end(), 0);
  const Number& all = numbers_.back();
  if (together == static_cast<int>(all.ctas) || std::ranges::max(at_work) <= few_in_a_group)
    return measured(group, at_work);
  // Sub-cores bound a group, or what all share.
  double all_groups = 0;
  for (const int each : at_work) all_groups += of_group_alone(each);
  return of_group_alone(at_work[group]) * std::min(1.0, all.rate / all_groups);
}

}  // namespace noteg::chip
