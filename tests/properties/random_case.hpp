// A simulation drawn at random: any GPU, any family or a kernel's name, any shape, at a given clock. It is made of the
// words of a command line, so that what a law finds can be run again as it is printed.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/gpu/simulate.hpp"

namespace noteg::properties {

using Random = std::mt19937_64;

struct Case {
  std::string gpu;
  arch::Overrides arch;
  std::string kernel_name;            // empty: family, tile and settings say all
  kernels::KernelOverrides settings;  // "family" and "tile" first where there is no name
  kernels::GemmShape shape;
  double clock_mhz = 0;
  gpu::L2State l2 = gpu::L2State::warm;
};

// Kernels of one family, or by the names that profilers print.
inline constexpr std::size_t kinds = 8;

// Keys are drawn from what is usual; many draws break a rule of their family, and simulate() says so.
[[nodiscard]] Case draw_case(std::size_t kind, Random& random);

// noteg simulate ... of the case.
[[nodiscard]] std::string command_of(const Case& c);

[[nodiscard]] Result<arch::GpuSpec> gpu_of(const Case& c);
[[nodiscard]] Result<gpu::SimReport> simulate(const Case& c, const arch::GpuSpec& gpu, gpu::SmCache& cache,
                                              bool exact = false);

// What the environment variable says, or otherwise.
[[nodiscard]] std::size_t asked(const char* variable, std::size_t otherwise);

// An integer from low to high, both included.
[[nodiscard]] std::int64_t whole(Random& random, std::int64_t low, std::int64_t high);

// A number from low to high, as often between 1 and 2 as between 2 and 4.
[[nodiscard]] double by_octave(Random& random, double low, double high);

template <class List>
const auto& one_of(const List& list, Random& random) {
  return list[random() % std::size(list)];
}

// Work in a process of its own: a crash or a hang of it is a finding, not the end of all tests.

// Empty where the work ended by itself within so many seconds of processor time and found nothing wrong; else what it
// said, the signal that ended it, or that it went on for too long.
[[nodiscard]] std::string survives(int seconds, const std::function<std::string()>& work);

}  // namespace noteg::properties
