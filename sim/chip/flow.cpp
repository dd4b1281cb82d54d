#include "sim/chip/flow.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/core/engine.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::chip {

namespace {

// CTAs that are followed one by one; of more, those in the middle take what the others do.
constexpr std::int64_t followed = 2048;

// CTAs that started together and that nobody favours leave their loops within so many trips, in no order but luck's
// (--exact: 2.6 to 3.8 of 57 to 75 trips, six CTAs on a Hopper SM).
constexpr double trips_of_luck = 3.5;

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

  // How much of the way outside the loops a CTA comes on in a cycle: others hold it up, wherever they are, and most
  // where they are in their loops, which always have an instruction ready.
  [[nodiscard]] double speed_of(const FlowRequest::Outside& way, std::size_t slot, double others,
                                double looping) const {
    const double all = std::max(1.0, static_cast<double>(slots_.size()) - 1.0);
    const double cycles = way.alone + std::max(0.0, way.together - way.alone) * (others - looping) / all +
                          std::max(0.0, way.among_loops[slot] - way.alone) * looping / all;
    return cycles > 0 ? 1.0 / cycles : far_off;
  }

  void set_speeds() {
    std::ranges::fill(in_loop_, 0);
    std::ranges::fill(at_work_, 0);
    std::ranges::fill(shares_, 0.0);
    double others = -1, looping = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      const std::size_t group = i % r_.groups;
      if (slot.state == Slot::State::empty) continue;
      ++others;
      if (slot.state == Slot::State::ending) continue;
      ++at_work_[group];
      if (slot.state != Slot::State::in_loop) continue;
      ++in_loop_[group];
      ++looping;
      shares_[group] += r_.shares[i];
    }
    for (std::size_t group = 0; group < r_.groups; ++group) {
      double between = 0;
      for (std::size_t i = group; i < slots_.size(); i += r_.groups) {
        Slot& slot = slots_[i];
        if (slot.state == Slot::State::in_loop) slot.speed = 0;
        if (slot.state == Slot::State::ending) slot.speed = speed_of(r_.end, i, others, looping);
        if (slot.state == Slot::State::between) between += slot.speed = speed_of(r_.gap, i, others, looping);
      }
      share_out(group, in_loop_[group] > 0 ? rate_of(group, between) : 0);
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

  // Of a group's CTAs that are in their loops. What the others of it execute meanwhile is not what these leave idle,
  // but takes its part of what they alone would do (two CTAs of 8 warps: as many trips less as it is long, however long
  // it takes), if not all. Of several groups only those at work are told apart.
  [[nodiscard]] double rate_of(std::size_t group, double between) const {
    const double all = r_.rate(group, r_.groups == 1 ? in_loop_ : at_work_);
    const double most = std::min(all, in_loop_[group] * r_.alone);
    const double taken = between < far_off ? r_.gap_trips * between : 0;
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

  // Whether a CTA follows the one that leaves its loop. The last ones come to lie where slots fall empty first; of
  // those that do so together, most likely evenly over the groups.
  [[nodiscard]] bool is_refilled(const Slot& slot) const {
    if (r_.groups == 1) return true;
    const auto group_of = [this](const Slot& each) {
      return static_cast<std::size_t>(&each - slots_.data()) % r_.groups;
    };
    std::vector<int> load(r_.groups, 0), leaving(r_.groups, 0);
    for (const Slot& each : slots_) {
      if (&each == &slot || each.state == Slot::State::empty || each.state == Slot::State::ending) continue;
      const bool leaves = each.state == Slot::State::in_loop && each.left <= trips_of_luck;
      ++(leaves ? leaving : load)[group_of(each)];
    }
    const std::int64_t more = ctas_ - launched_, staying = std::accumulate(load.begin(), load.end(), 0);
    if (std::accumulate(leaving.begin(), leaving.end(), 0) < more) return true;
    return load[group_of(slot)] < ceil_div(staying + more, static_cast<std::int64_t>(r_.groups));
  }

  void leave_loop(Slot& slot) {
    ++through_loop_;
    slot.left = 1;
    if (launched_ < ctas_ && is_refilled(slot)) {
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
