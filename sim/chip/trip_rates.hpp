// Trips of main loops that pass per cycle, by how many CTAs are at work and on which sub-cores they lie: some numbers
// are measured, what lies between is worked out.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace noteg::chip {

// Of all CTAs at work, and of those of each group of slots (see FlowRequest).
struct MeasuredRate {
  double all = 0;
  std::vector<double> by_group;
};

class TripRates {
 public:
  // So many CTAs at work, trips per cycle of all of them; one CTA is the first, all resident ones are the last.
  struct Number {
    double ctas = 1, rate = 0;
  };
  // Measures so many CTAs of each group at work, the group with most of them first.
  using Measure = std::function<MeasuredRate(const std::vector<int>&)>;

  // all: all resident CTAs at work. apart: whether groups that differ in how many are at work are told apart.
  TripRates(std::vector<Number> numbers, std::size_t groups, MeasuredRate all, bool apart, Measure measure);

  // Trips per cycle of a group where so many of each are at work.
  [[nodiscard]] double operator()(std::size_t group, const std::vector<int>& at_work);
  // The same of all CTAs, wherever they lie.
  [[nodiscard]] double of_number(double at_work) const;

 private:
  [[nodiscard]] double of_group_alone(int at_work);
  [[nodiscard]] double measured(std::size_t group, const std::vector<int>& at_work);

  std::vector<Number> numbers_;
  std::size_t groups_;
  bool apart_;
  Measure measure_;
  std::map<std::vector<int>, MeasuredRate> measured_;  // by CTAs at work, most first
  int in_a_group_;
  double full_group_ = 0;  // a group with the SM to itself; 0: not measured yet
};

}  // namespace noteg::chip
