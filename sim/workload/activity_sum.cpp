#include "sim/workload/activity_sum.hpp"

#include <algorithm>

namespace noteg::workload {
namespace {

// Adds up, and keeps what the means are weighed with.
class Sum {
 public:
  void add(const power::Activity& a) {
    double warp_instructions = 0, macs = 0;
    for (std::size_t i = 0; i < a.issued.size(); ++i) {
      sum_.issued[i] += a.issued[i];
      warp_instructions += a.issued[i];
    }
    for (const auto& [form, count] : a.tensor_macs) {
      add_macs(form, count);
      macs += count;
    }
    sum_.time += a.time;
    sum_.operands += a.operands;
    sum_.cached_operands += a.cached_operands;
    sum_.data_passes += a.data_passes;
    sum_.data_bytes += a.data_bytes;
    sum_.l2_bytes += a.l2_bytes;
    sum_.dram_read_bytes += a.dram_read_bytes;
    sum_.dram_write_bytes += a.dram_write_bytes;
    sum_.sm_cycles += a.sm_cycles;
    lanes_.add(a.active_lanes, warp_instructions);
    moves_.add(a.moved_activity, a.data_bytes.value);
    padding_.add(a.tensor_padding, macs);
  }

  power::Activity take() {
    sum_.active_lanes = lanes_.mean(sum_.active_lanes);
    sum_.moved_activity = moves_.mean(sum_.moved_activity);
    sum_.tensor_padding = padding_.mean(sum_.tensor_padding);
    return std::move(sum_);
  }

 private:
  struct Mean {
    double sum = 0, weight = 0;
    void add(double value, double by) {
      sum += value * by;
      weight += by;
    }
    [[nodiscard]] double mean(double otherwise) const { return weight > 0 ? sum / weight : otherwise; }
  };

  void add_macs(const std::string& form, double count) {
    const auto found = std::ranges::find(sum_.tensor_macs, form, &std::pair<std::string, double>::first);
    if (found == sum_.tensor_macs.end())
      sum_.tensor_macs.emplace_back(form, count);
    else
      found->second += count;
  }

  power::Activity sum_;
  Mean lanes_, moves_, padding_;
};

}  // namespace

power::Activity sum_at(const std::vector<CountedActivity>& parts, Hertz clock) {
  Sum sum;
  for (const auto& [count, activity_at] : parts) sum.add(activity_at(clock) * count);
  return sum.take();
}

}  // namespace noteg::workload
