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
  Path(const Side& from, const Side& to, const Runs& run)
      : to_(to), run_(run), machine_(*from.gpu), kernel_(from.kernel) {
    out_.from = from.label;
    out_.to = to.label;
    out_.from_us = last_us_ = from.time_us;
    out_.to_us = to.time_us;
  }

  // Nothing where some step fails in the end: the other order may still do.
  std::optional<Waterfall> walk(bool kernel_first) {
    const bool exchanges = !(kernel_ == to_.kernel);
    if (run_.at_burst) take_step("burst clock", 0, true);
    if (exchanges && kernel_first) exchange_kernel();
    for (std::size_t i = 0; i < arch::field_group_count; ++i) {
      const auto group = static_cast<FieldGroup>(i);
      const bool is_power = group == FieldGroup::power;
      if (is_power && exchanges && !kernel_first) exchange_kernel();
      const int changed = fields_that_differ(machine_, *to_.gpu, group);
      arch::take_group(machine_, *to_.gpu, group);
      is_power ? end(changed) : take_step(std::string(arch::name_of(group)), changed, changed > 0);
    }
    if (!pending_.empty()) return std::nullopt;
    return out_;
  }

 private:
  void exchange_kernel() {
    kernel_ = to_.kernel;
    take_step("kernel", 0, true);
  }

  // The machine is the other side, whose time is known.
  void end(int changed) {
    pending_ += (pending_.empty() ? "" : " + ") + std::string(arch::name_of(FieldGroup::power));
    pending_changes_ += changed;
    step(to_.time_us);
  }

  // differs: from the machine of the step before.
  void take_step(const std::string& name, int changed, bool differs) {
    pending_ += (pending_.empty() ? "" : " + ") + name;
    pending_changes_ += changed;
    pending_differs_ = pending_differs_ || differs;
    if (!pending_differs_) return step(last_us_);
    const Result<double> ran = (run_.at_burst ? run_.at_burst : run_.as_asked)(machine_, kernel_);
    if (ran) step(*ran);
  }

  void step(double time) {
    out_.steps.push_back({pending_, pending_changes_, time, time / last_us_});
    last_us_ = time;
    pending_.clear();
    pending_changes_ = 0;
    pending_differs_ = false;
  }

  const Side& to_;
  const Runs& run_;
  arch::GpuSpec machine_;
  kernels::KernelConfig kernel_;
  Waterfall out_;
  double last_us_ = 0;
  std::string pending_;
  int pending_changes_ = 0;
  bool pending_differs_ = false;
};

}  // namespace

Waterfall waterfall(const Side& from, const Side& to, const Runs& run) {
  const bool runs_to_the_end = from.kernel == to.kernel || run.as_asked(*to.gpu, from.kernel);
  return *Path(from, to, run).walk(!runs_to_the_end);
}

}  // namespace noteg::compare
