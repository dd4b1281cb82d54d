#include "sim/compare/waterfall.hpp"

#include <algorithm>
#include <optional>

namespace noteg::compare {
namespace {

using arch::FieldGroup;

int fields_that_differ(const arch::GpuSpec& a, const arch::GpuSpec& b, FieldGroup group) {
  int count = 0;
  for (const arch::Field& field : arch::fields())
    if (arch::group_of(field) == group && field.get(a) != field.get(b)) ++count;
  return count;
}

// The path from one side to the other; a step whose machine cannot run the kernel joins the next one.
class Path {
 public:
  Path(const Side& from, const Side& to, const RunKernel& run)
      : to_(to), run_(run), machine_(*from.gpu), kernel_(from.kernel) {
    out_.from = from.label;
    out_.to = to.label;
    out_.from_us = last_us_ = from.time_us;
    out_.to_us = to.time_us;
  }

  // Nothing where some step fails in the end: the other order may still do.
  std::optional<Waterfall> walk(bool kernel_first) {
    const bool same_kernel = kernel_ == to_.kernel;
    if (!same_kernel && kernel_first) exchange_kernel();
    for (std::size_t i = 0; i < arch::field_group_count; ++i) {
      const auto group = static_cast<FieldGroup>(i);
      const int changed = fields_that_differ(machine_, *to_.gpu, group);
      arch::take_group(machine_, *to_.gpu, group);
      const bool end = i + 1 == arch::field_group_count && (same_kernel || kernel_first);
      take_step(std::string(arch::name_of(group)), changed, end);
    }
    if (!same_kernel && !kernel_first) {
      kernel_ = to_.kernel;
      take_step("kernel", 0, true);
    }
    if (!pending_.empty()) return std::nullopt;
    return out_;
  }

 private:
  void exchange_kernel() {
    kernel_ = to_.kernel;
    take_step("kernel", 0, false);
  }

  // end: the machine is the other side, whose time is known.
  void take_step(const std::string& name, int changed, bool end) {
    pending_ += (pending_.empty() ? "" : " + ") + name;
    pending_changes_ += changed;
    std::optional<double> time;
    if (end) {
      time = to_.time_us;
    } else if (changed == 0 && pending_changes_ == 0 && name != "kernel" && !stuck_) {
      time = last_us_;  // the same machine
    } else if (const Result<double> ran = run_(machine_, kernel_)) {
      time = *ran;
    }
    stuck_ = !time;
    if (!time) return;
    out_.steps.push_back({pending_, pending_changes_, *time, *time / last_us_});
    last_us_ = *time;
    pending_.clear();
    pending_changes_ = 0;
  }

  const Side& to_;
  const RunKernel& run_;
  arch::GpuSpec machine_;
  kernels::KernelConfig kernel_;
  Waterfall out_;
  double last_us_ = 0;
  std::string pending_;
  int pending_changes_ = 0;
  bool stuck_ = false;
};

}  // namespace

Waterfall waterfall(const Side& from, const Side& to, const RunKernel& run) {
  const bool runs_to_the_end = from.kernel == to.kernel || run(*to.gpu, from.kernel);
  return *Path(from, to, run).walk(!runs_to_the_end);
}

}  // namespace noteg::compare
