#include "sim/chip/flow.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/engine.hpp"

namespace noteg::chip {

namespace {

// CTAs that are followed one by one; of more, those in the middle take what the others do.
constexpr std::int64_t followed = 2048;

constexpr double far_off = std::numeric_limits<double>::infinity();

struct Slot {
  enum class State : std::uint8_t { in_loop, between, ending, empty };
  State state = State::in_loop;
  double left = 0;   // of what the state says: trips of a loop, or a part of the way between two or to the end
  double speed = 0;  // of that, per cycle
  double began = 0;  // cycle in which its CTA came into the loop
};

class Flow {
 public:
  explicit Flow(const FlowRequest& request)
      : r_(request),
        now_(request.began),
        in_loop_(request.groups, 0),
        at_work_(request.groups, 0),
        shares_(request.groups, 0) {
    for (const double done : r_.done) slots_.push_back({Slot::State::in_loop, r_.trips - done, 0, 0});
  }

  FlowTime run() {
    const auto resident = static_cast<std::int64_t>(slots_.size());
    ctas_ = r_.ctas > followed ? followed + (r_.ctas - followed) % resident : r_.ctas;
    launched_ = resident;
    const std::int64_t from = ctas_ / 4, until = from + ctas_ / 2 / resident * resident;
    double early = 0, late = 0;
    while (ended_ < ctas_) {
      set_speeds();
      go_on_to(next_change());
      for (Slot& slot : slots_) {
        if (slot.state == Slot::State::empty || !is_through(slot)) continue;
        const std::int64_t before = through_loop_;
        change(slot);
        if (through_loop_ > before && through_loop_ == from) early = now_;
        if (through_loop_ > before && through_loop_ == until) late = now_;
      }
    }
    FlowTime out{now_, emptied_together_};
    if (r_.ctas > ctas_)
      out.cycles += (late - early) / static_cast<double>(until - from) * static_cast<double>(r_.ctas - ctas_);
    return out;
  }

 private:
  // But for what rounding leaves: in long runs a cycle has few digits behind the point.
  static bool is_through(const Slot& slot) {
    constexpr double no_time = 1e-3;  // cycles
    return slot.left <= 0 || slot.left <= no_time * slot.speed;
  }

  // How much of the way outside the loops a CTA comes on in a cycle: others hold it up, wherever they are.
  [[nodiscard]] double speed_of(const FlowRequest::Outside& way, double others) const {
    const double all = std::max(1.0, static_cast<double>(slots_.size()) - 1.0);
    const double cycles = way.alone + std::max(0.0, way.among_all - way.alone) * others / all;
    return cycles > 0 ? 1.0 / cycles : far_off;
  }

  void set_speeds() {
    std::ranges::fill(in_loop_, 0);
    std::ranges::fill(at_work_, 0);
    std::ranges::fill(shares_, 0.0);
    double busy = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      const std::size_t group = i % r_.groups;
      if (slot.state == Slot::State::empty) continue;
      ++busy;
      if (slot.state == Slot::State::ending) continue;
      ++at_work_[group];
      if (slot.state != Slot::State::in_loop) continue;
      ++in_loop_[group];
      shares_[group] += r_.shares[i];
    }
    const double between = speed_of(r_.gap, busy - 1), ending = speed_of(r_.end, busy - 1);
    for (std::size_t group = 0; group < r_.groups; ++group) {
      const double rate = in_loop_[group] > 0 ? rate_of(group, between) : 0;
      for (std::size_t i = group; i < slots_.size(); i += r_.groups) {
        Slot& slot = slots_[i];
        if (slot.state == Slot::State::in_loop) slot.speed = 0;
        if (slot.state == Slot::State::between) slot.speed = between;
        if (slot.state == Slot::State::ending) slot.speed = ending;
      }
      share_out(group, rate);
    }
  }

  // No CTA is faster among others than alone: what it leaves is the others'.
  void share_out(std::size_t group, double rate) {
    double shares = shares_[group];
    bool more = true;
    while (more) {
      more = false;
      for (std::size_t i = group; i < slots_.size(); i += r_.groups) {
        Slot& slot = slots_[i];
        if (slot.state != Slot::State::in_loop || slot.speed > 0 || rate * r_.shares[i] <= r_.alone * shares) continue;
        slot.speed = r_.alone;
        rate -= r_.alone;
        shares -= r_.shares[i];
        more = true;
      }
    }
    for (std::size_t i = group; i < slots_.size(); i += r_.groups)
      if (slots_[i].state == Slot::State::in_loop && slots_[i].speed <= 0)
        slots_[i].speed = rate * r_.shares[i] / shares;
  }

  // Of a group's CTAs that are in their loops: what the others of it execute meanwhile takes its part of what the SM
  // can do, but not all.
  [[nodiscard]] double rate_of(std::size_t group, double speed_between) const {
    const double all = r_.rate(group, at_work_), most = std::min(all, in_loop_[group] * r_.alone);
    const int between = at_work_[group] - in_loop_[group];
    const double taken = between > 0 && speed_between < far_off ? between * r_.gap_trips * speed_between : 0;
    return std::clamp(all - taken, 0.5 * most, most);
  }

  [[nodiscard]] double next_change() const {
    double next = far_off;
    for (const Slot& slot : slots_)
      if (slot.state != Slot::State::empty) next = std::min(next, now_ + slot.left / slot.speed);
    return next;
  }

  void go_on_to(double next) {
    for (Slot& slot : slots_)
      if (slot.state != Slot::State::empty) slot.left -= slot.speed < far_off ? (next - now_) * slot.speed : slot.left;
    now_ = next;
  }

  void change(Slot& slot) {
    switch (slot.state) {
      case Slot::State::in_loop: return leave_loop(slot);
      case Slot::State::between:
        ++ended_;
        slot = {Slot::State::in_loop, r_.trips, 0, now_};
        return;
      case Slot::State::ending:
        ++ended_;
        slot.state = Slot::State::empty;
        return;
      case Slot::State::empty: return;
    }
  }

  void leave_loop(Slot& slot) {
    ++through_loop_;
    slot.left = 1;
    if (launched_ < ctas_) {
      ++launched_;
      last_refill_ = now_;
      slot.state = Slot::State::between;
      return;
    }
    slot.state = Slot::State::ending;
    if (now_ - last_refill_ < core::in_step * (now_ - slot.began)) ++emptied_together_;
  }

  const FlowRequest& r_;
  std::vector<Slot> slots_;
  double now_, last_refill_ = 0;
  std::vector<int> in_loop_, at_work_;  // CTAs by group; at work: in their loops or between two
  std::vector<double> shares_;          // of those in their loops
  std::int64_t ctas_ = 0, launched_ = 0, through_loop_ = 0, ended_ = 0;
  int emptied_together_ = 0;
};

}  // namespace

FlowTime flow_time(const FlowRequest& request) { return Flow(request).run(); }

}  // namespace noteg::chip
