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
  enum class State : std::uint8_t { in_loop, between, empty };
  State state = State::in_loop;
  double left = 0;   // trips, in the loop
  double until = 0;  // cycle, between two CTAs
  double began = 0;  // cycle in which its CTA came into the loop
};

class Flow {
 public:
  explicit Flow(const FlowRequest& request) : r_(request), now_(request.began), speed_(request.shares.size(), 0) {
    for (const double done : r_.done) slots_.push_back({Slot::State::in_loop, r_.trips - done, 0, 0});
    widest_ = *std::ranges::max_element(r_.rates);
  }

  FlowTime run() {
    const auto resident = static_cast<std::int64_t>(slots_.size());
    ctas_ = r_.ctas > followed ? followed + (r_.ctas - followed) % resident : r_.ctas;
    launched_ = resident;
    const std::int64_t from = ctas_ / 4, rounds = ctas_ / 2 / resident;
    double early = 0, late = 0;
    for (std::int64_t finished = 0; finished < ctas_;) {
      set_speeds();
      go_on_to(next_change());
      for (Slot& slot : slots_) {
        if (slot.state == Slot::State::between && slot.until <= now_)
          slot = {Slot::State::in_loop, r_.trips, 0, now_};
        else if (slot.state == Slot::State::in_loop && slot.left <= 1e-9 * r_.trips) {
          ++finished;
          if (finished == from) early = now_;
          if (finished == from + rounds * resident) late = now_;
          end(slot);
        }
      }
    }
    FlowTime out{now_ + r_.end, emptied_together_};
    if (r_.ctas > ctas_)
      out.cycles += (late - early) / static_cast<double>(rounds * resident) * static_cast<double>(r_.ctas - ctas_);
    return out;
  }

 private:
  // What CTAs execute between their loops takes its part of what the SM can do.
  void set_speeds() {
    std::size_t running = 0;
    double between = 0, shares = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].state == Slot::State::between) ++between;
      if (slots_[i].state != Slot::State::in_loop) continue;
      ++running;
      shares += r_.shares[i];
    }
    if (running == 0) return;
    const double alone = r_.rates[running - 1], taken = r_.gap > 0 ? between * r_.gap_trips / r_.gap : 0;
    const double rate = std::max(0.5 * alone, std::min(alone, widest_ - taken));
    for (std::size_t i = 0; i < slots_.size(); ++i) speed_[i] = rate * r_.shares[i] / shares;
  }

  [[nodiscard]] double next_change() const {
    double next = far_off;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].state == Slot::State::in_loop) next = std::min(next, now_ + slots_[i].left / speed_[i]);
      if (slots_[i].state == Slot::State::between) next = std::min(next, slots_[i].until);
    }
    return next;
  }

  void go_on_to(double next) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].state == Slot::State::in_loop) slots_[i].left -= (next - now_) * speed_[i];
    now_ = next;
  }

  void end(Slot& slot) {
    if (launched_ < ctas_) {
      ++launched_;
      last_refill_ = now_;
      slot.state = Slot::State::between;
      slot.until = now_ + r_.gap;
      return;
    }
    slot.state = Slot::State::empty;
    if (now_ - last_refill_ < core::in_step * (now_ - slot.began)) ++emptied_together_;
  }

  const FlowRequest& r_;
  std::vector<Slot> slots_;
  double now_, widest_ = 0, last_refill_ = 0;
  std::vector<double> speed_;  // trips per cycle, by slot
  std::int64_t ctas_ = 0, launched_ = 0;
  int emptied_together_ = 0;
};

}  // namespace

FlowTime flow_time(const FlowRequest& request) { return Flow(request).run(); }

}  // namespace noteg::chip
