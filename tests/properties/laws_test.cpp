// Laws of physics, on cases drawn at random: a report adds up, no limit of the machine is passed, and more of a
// resource makes hardly any kernel slower. NOTEG_RANDOM_CASES says how many (200), NOTEG_RANDOM_SEED from where (1),
// NOTEG_RANDOM_JOBS with how many threads (1). What breaks a law is printed worst first, with the commands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "sim/gpu/memory_port.hpp"
#include "sim/support/work_sharing.hpp"
#include "tests/properties/random_case.hpp"

namespace noteg::properties {
namespace {

// A law that a case broke: by how much (1.1: a tenth), and the two runs, or the one.
struct Violation {
  std::string law;
  double factor = 1;
  std::string text;
};

// The case with more of one resource; nothing where the machine cannot have more.
struct Resource {
  const char* name;
  void (*grow)(Case&, const arch::GpuSpec&, double factor);
};

std::string scaled(double value, double factor, const char* unit) {
  return fmt::format("{:.0f} {}", std::ceil(value * factor), unit);
}

constexpr Resource resources[] = {
    {"SMs",
     [](Case& c, const arch::GpuSpec& gpu, double factor) {
       const int more = std::clamp(static_cast<int>(gpu.sms * factor), gpu.sms + 1, 1024);
       c.arch.emplace_back("sms", std::to_string(more));
     }},
    {"L2 bandwidth",
     [](Case& c, const arch::GpuSpec& gpu, double factor) {
       c.arch.emplace_back("l2.read_bandwidth", scaled(gpu.l2.read_bandwidth.value, factor, "B/clk"));
       c.arch.emplace_back("l2.write_bandwidth", scaled(gpu.l2.write_bandwidth.value, factor, "B/clk"));
     }},
    {"DRAM bandwidth",
     [](Case& c, const arch::GpuSpec& gpu, double factor) {
       c.arch.emplace_back("dram.bandwidth", scaled(gpu.dram.bandwidth.value * 1e-9, factor, "GB/s"));
     }},
    {"L2 size", [](Case& c, const arch::GpuSpec& gpu,
                   double factor) { c.arch.emplace_back("l2.size", scaled(gpu.l2.size.value / 1024, factor, "KiB")); }},
    {"clock", [](Case& c, const arch::GpuSpec&, double factor) { c.clock_mhz = std::ceil(c.clock_mhz * factor); }},
};

// Bytes per second of L2, for reads or writes, at the clock that the run had.
double l2_rate(const arch::GpuSpec& gpu, const gpu::SimReport& r, BytesPerCycle rate) {
  const double clock = r.sm_clock_mhz * 1e6;
  return rate.value * (gpu.l2.own_clock ? std::max(clock, gpu.clock.boost.value) : clock);
}

void check_sums(const Case& c, const gpu::SimReport& r, std::vector<Violation>& found) {
  const auto equal = [&](const char* law, double value, double wanted) {
    const double factor = value / wanted;
    if (!(std::abs(factor - 1) <= 1e-6))
      found.push_back({law, std::abs(factor - 1), fmt::format("{} instead of {}\n  {}", value, wanted, command_of(c))});
  };
  equal("phases sum to the time", r.phases_us.total(), r.time_us);
  equal("stalls sum to 1", std::accumulate(r.stalls.begin(), r.stalls.end(), 0.0), 1);
  equal("energy is power x time", r.energy_mj, r.power_w * r.time_us * 1e-3);
  equal("cycles are time x clock", r.cycles, r.time_us * r.sm_clock_mhz);
  const double figures[] = {r.time_us, r.power_w, r.energy_mj, r.cycles, r.tflops, r.warp_instructions};
  for (const double figure : figures)
    if (!(figure > 0) || !std::isfinite(figure))
      found.push_back({"figures are above zero", 1, fmt::format("{}\n  {}", figure, command_of(c))});
  const gpu::Phases& p = r.phases_us;
  const gpu::MemoryTraffic& m = r.memory;
  for (const double figure : {p.launch, p.prologue, p.mainloop, p.epilogue, p.tail + 1e-6 * r.time_us, r.pipes.fma,
                              r.pipes.alu, r.pipes.tensor, r.pipes.lsu, r.pipes.issue, m.l1_bytes, m.l2_bytes,
                              m.shared_bytes, m.l2_hit_rate, m.dram_read_bytes, m.dram_write_bytes})
    if (!(figure >= 0) || !std::isfinite(figure))
      found.push_back({"figures are not below zero", 1, fmt::format("{}\n  {}", figure, command_of(c))});
}

// No run is shorter than its bytes or its operations take at the peak.
void check_bounds(const Case& c, const arch::GpuSpec& gpu, const gpu::SimReport& r, std::vector<Violation>& found) {
  const auto least = [&](const char* law, double least_us) {
    if (!(r.time_us * 1.001 >= least_us))
      found.push_back({law, least_us / r.time_us,
                       fmt::format("{:.4g} us, {:.4g} us at least\n  {}", r.time_us, least_us, command_of(c))});
  };
  const gpu::MemoryTraffic& m = r.memory;
  least("DRAM bandwidth", (m.dram_read_bytes + m.dram_write_bytes) / gpu.dram.bandwidth.value * 1e6);
  least("L2 read bandwidth", m.l2_read_bytes / l2_rate(gpu, r, gpu.l2.read_bandwidth) * 1e6);
  least("L2 write bandwidth", m.l2_write_bytes / l2_rate(gpu, r, gpu.l2.write_bandwidth) * 1e6);
  least("peak rate", r.pct_of_peak / 100 * r.time_us);
}

void check_growth(const Case& c, const arch::GpuSpec& gpu, const gpu::SimReport& r, Random& random,
                  std::vector<Violation>& found) {
  for (const Resource& resource : resources) {
    Case more = c;
    resource.grow(more, gpu, by_octave(random, 1.02, resource.name == std::string("clock") ? 1.5 : 4));
    const Result<arch::GpuSpec> larger = gpu_of(more);
    if (!larger) continue;
    gpu::SmCache cache;
    const Result<gpu::SimReport> after = simulate(more, *larger, cache);
    if (!after) {
      found.push_back({resource.name, 100, "refused with more of it:\n  " + command_of(more)});
    } else if (!(after->time_us <= 1.01 * r.time_us)) {
      found.push_back({std::string("more ") + resource.name, after->time_us / r.time_us,
                       fmt::format("{:.4g} us -> {:.4g} us\n  {}\n  {}", r.time_us, after->time_us, command_of(c),
                                   command_of(more))});
    }
  }
}

using Law = void (*)(const Case&, const arch::GpuSpec&, const gpu::SimReport&, Random&, std::vector<Violation>&);

// Draws until a case of the kind runs, and holds it against a law. Every case has a seed of its own.
std::vector<Violation> check_case(std::size_t kind, std::uint64_t seed, Law law) {
  std::vector<Violation> found;
  Random random(seed);
  for (int tries = 0; tries < 1000; ++tries) {
    const Case c = draw_case(kind, random);
    const Result<arch::GpuSpec> gpu = gpu_of(c);
    if (!gpu) continue;
    gpu::SmCache cache;
    const Result<gpu::SimReport> report = simulate(c, *gpu, cache);
    if (!report) continue;
    law(c, *gpu, *report, random, found);
    return found;
  }
  return {{"a case in a thousand draws", 1, std::to_string(seed)}};
}

// `allowed`: violations for each case, where the law has exceptions.
void expect_of_all(Law law, double allowed = 0) {
  const std::size_t cases = asked("NOTEG_RANDOM_CASES", 200), seed = asked("NOTEG_RANDOM_SEED", 1);
  const auto jobs = static_cast<unsigned>(asked("NOTEG_RANDOM_JOBS", 1));
  std::vector<std::vector<Violation>> found(cases);
  share_work(cases, jobs, {}, [&](std::size_t i) { found[i] = check_case(i % kinds, seed * 1000003 + i, law); });
  std::vector<Violation> all;
  for (const std::vector<Violation>& some : found) all.insert(all.end(), some.begin(), some.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.factor > b.factor; });
  std::map<std::string, int> laws;
  for (const Violation& v : all) {
    ++laws[v.law];
    std::cout << fmt::format("{:.3f} {}: {}\n", v.factor, v.law, v.text);
  }
  for (const auto& [name, count] : laws) std::cout << name << ": " << count << " of " << cases << " cases\n";
  EXPECT_LE(static_cast<double>(all.size()), allowed * static_cast<double>(cases)) << "violations";
}

TEST(RandomCases, ReportsAddUp) {
  expect_of_all([](const Case& c, const arch::GpuSpec&, const gpu::SimReport& r, Random&, auto& found) {
    check_sums(c, r, found);
  });
}

TEST(RandomCases, NothingIsFasterThanTheMachine) {
  expect_of_all([](const Case& c, const arch::GpuSpec& gpu, const gpu::SimReport& r, Random&, auto& found) {
    check_bounds(c, gpu, r, found);
  });
}

// Two CTAs of an SM that take turns overlap what two in lockstep do not, by up to an eighth of short loops, and a
// little more of any resource can tip the one into the other, step by step or not. And with more SMs fewer CTAs that
// read the same lie side by side on one: where vectors are multiplied, L2 has to give up to 1.6 times as much, and a
// grid that L2 limits takes up to 1.3 times as long. So it is one pair of runs in a hundred at most (five pairs a case)
// that is more than 1 % slower with more.
TEST(RandomCases, MoreOfAResourceIsHardlyEverSlower) { expect_of_all(check_growth, 0.01 * std::size(resources)); }

}  // namespace
}  // namespace noteg::properties
