#include "sim/gpu/coarse.hpp"

#include <cmath>

namespace noteg::gpu {

namespace {

constexpr double latency_step = 1.15, rate_step = 1.08;

double coarse(double value, double step) {
  return value > 0 ? std::pow(step, std::round(std::log(value) / std::log(step))) : value;
}

}  // namespace

sm::MemoryEnvironment coarse(sm::MemoryEnvironment environment) {
  environment.latency = std::round(coarse(environment.latency, latency_step));
  environment.read_bytes_per_cycle = coarse(environment.read_bytes_per_cycle, rate_step);
  environment.write_bytes_per_cycle = coarse(environment.write_bytes_per_cycle, rate_step);
  for (sm::BoxTraffic& box : environment.boxes) box = {coarse(box.bytes, rate_step), coarse(box.cycles, rate_step)};
  return environment;
}

sm::SmWork coarse(sm::SmWork work) {
  work.launch_interval = std::round(coarse(work.launch_interval, latency_step));
  return work;
}

}  // namespace noteg::gpu
