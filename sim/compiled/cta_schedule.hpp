// How long CTAs of different lengths take together: the chip hands them out in the order of the grid, each to the first
// slot that falls empty. So a grid whose last CTAs are its longest ends late (causal attention, triangular products).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/profile.hpp"

namespace noteg::compiled {

struct CtaSlots {
  int sms = 1;
  int resident = 1;  // CTAs on an SM
  // Of the time that a CTA takes on a full SM, what it takes alone there: 1 / resident where the SM's units are the
  // limit, 1 where latencies are. Of n CTAs each takes max(alone, n / resident) on the mean.
  double alone = 1;
};

// lengths: of the CTAs in the order of the grid, on a full SM, in any unit; so is the result. Each CTA starts when the
// one before it has started and a slot is empty.
[[nodiscard]] double makespan(std::span<const double> lengths, const CtaSlots& slots);

// The CTAs in the order of the grid: visit(ends of its cell, how far the CTA lies from the first to the last, 0..1).
void for_each_cta(const CtaCells& cells, const Launch& launch,
                  const std::function<void(const CtaCells::Ends&, double)>& visit);

// Of each CTA in the order of the grid, from those of the classes: between the ends of a cell they lie on a line.
[[nodiscard]] std::vector<double> lengths_of_ctas(const CtaCells& cells, const Launch& launch,
                                                  std::span<const double> of_class);

}  // namespace noteg::compiled
