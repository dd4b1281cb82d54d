// A made-up data set: the time of a kernel that is bound by arithmetic or by memory, on four GPUs or more.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/dataset/table.hpp"
#include "sim/forest/random.hpp"
#include "sim/learn/training.hpp"

namespace noteg::learn::test {

inline dataset::Table sample_table(std::size_t rows, std::uint32_t gpus = 4) {
  using dataset::Group;
  dataset::Table table;
  table.file = "made up";
  table.rows = rows;
  const auto add = [&](const char* name, Group group, bool text) -> dataset::Values& {
    return table.columns.emplace_back(dataset::Values{{name, "", "", group}, text, {}, {}, {}});
  };
  for (const char* name : {"kernel.m", "kernel.n", "kernel.k", "arch.sms", "physics.roofline_us", "time_us", "power_w"})
    add(name,
        std::string(name).starts_with("kernel")  ? Group::config
        : std::string(name).starts_with("arch.") ? Group::arch
        : std::string(name).starts_with("phys")  ? Group::physics
                                                 : Group::target,
        false);
  dataset::Values& names = add("arch", Group::config, true);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) names.words.emplace_back(1, static_cast<char>('a' + gpu));
  add("kernel.family", Group::config, true).words = {"naive", "simt"};
  forest::Random random(3);
  for (std::size_t i = 0; i < rows; ++i) {
    const double m = 64.0 * (1 + random.below(60)), n = 64.0 * (1 + random.below(60)),
                 k = 64.0 * (1 + random.below(30));
    const std::uint32_t gpu = random.below(gpus), family = random.below(2);
    const double sms = 40 + 20.0 * gpu;
    const double bound = 2 + m * n * k / (sms * 5e5);
    const double time = bound * (family == 0 ? 2.5 : 1.2) * (1 + 0.02 * std::sin(m));
    const double values[] = {m, n, k, sms, bound, time, 50 + sms * (family == 0 ? 1 : 1.5)};
    for (std::size_t c = 0; c < 7; ++c) table.columns[c].numbers.push_back(values[c]);
    table.columns[7].codes.push_back(static_cast<std::int32_t>(gpu));
    table.columns[8].codes.push_back(static_cast<std::int32_t>(family));
  }
  return table;
}

inline TrainingRequest sample_request() {
  TrainingRequest request;
  request.problem.targets = {{"time_us", "power_w"}};
  request.problem.anchors = {{"time_us", "physics.roofline_us"}};
  request.problem.leave_out = {gpu_column};
  request.forest.trees = 20;
  return request;
}

}  // namespace noteg::learn::test
