#include "sim/compiled/cta_schedule.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace noteg::compiled {
namespace {

constexpr double together = 1e-9;  // of the time: ends so close are one

// Who came first on an SM has more of it: the oldest is ahead of the mean by so much, the youngest behind, so that
// slots fall empty one after the other (h100_sm_micro, product_ctas: by 0.4 to 0.7 in loops of products). What follows
// is the same from 0.05 to 0.4.
constexpr double lead = 0.2;

// The CTAs of one SM, in the order in which they came.
class Sm {
 public:
  explicit Sm(const CtaSlots& slots) : slots_(&slots) {}

  [[nodiscard]] std::size_t size() const { return left_.size(); }
  void start(double length) { left_.push_back(length); }

  // Those that are done by then leave.
  void end(double at) {
    const double time = at - now_;
    now_ = at;
    std::size_t kept = 0;
    for_each_rate([&](std::size_t i, double rate) {
      left_[kept] = left_[i] - time * rate;
      kept += left_[kept] > together * at;
    });
    left_.resize(kept);
  }

  [[nodiscard]] double next_end() const {
    double least = std::numeric_limits<double>::infinity();
    for_each_rate([&](std::size_t i, double rate) { least = std::min(least, left_[i] / rate); });
    return now_ + std::max(0.0, least);
  }

 private:
  // What each does of its length while a CTA on a full SM does one.
  template <class F>
  void for_each_rate(F&& f) const {
    const std::size_t count = left_.size();
    const auto n = static_cast<double>(count);
    const double most = 1 / slots_->alone, even = std::min(most, slots_->resident / n);
    const double ahead = std::min(lead, most / even - 1);
    for (std::size_t i = 0; i < count; ++i) {
      const double place = n > 1 ? 1 - 2 * static_cast<double>(i) / (n - 1) : 0;  // 1 the oldest, -1 the youngest
      f(i, even * (1 + ahead * place));
    }
  }

  const CtaSlots* slots_;
  double now_ = 0;
  std::vector<double> left_;  // of each length
};

}  // namespace

double makespan(std::span<const double> lengths, const CtaSlots& slots) {
  std::vector<Sm> sms(static_cast<std::size_t>(std::max(1, slots.sms)), Sm(slots));
  const std::size_t at_once = std::min(lengths.size(), sms.size() * static_cast<std::size_t>(slots.resident));
  std::size_t next = 0;
  for (; next < at_once; ++next) sms[next % sms.size()].start(lengths[next]);
  using Event = std::pair<double, std::size_t>;  // the SM's first CTA that ends; one for each SM
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (std::size_t i = 0; i < sms.size(); ++i)
    if (sms[i].size() > 0) events.emplace(sms[i].next_end(), i);
  double last = 0;
  while (!events.empty()) {
    last = events.top().first;
    std::vector<std::size_t> open;  // SMs with slots that fall empty now: the emptiest is filled first
    for (; !events.empty() && events.top().first <= last * (1 + together); events.pop()) {
      open.push_back(events.top().second);
      sms[open.back()].end(last);
    }
    while (next < lengths.size()) {
      const auto emptiest =
          std::ranges::min_element(open, {}, [&](std::size_t i) { return std::pair(sms[i].size(), i); });
      Sm& sm = sms[*emptiest];
      if (sm.size() >= static_cast<std::size_t>(slots.resident)) break;
      sm.start(lengths[next++]);
    }
    for (const std::size_t i : open)
      if (sms[i].size() > 0) events.emplace(sms[i].next_end(), i);
  }
  return last;
}

std::vector<double> lengths_of_ctas(const CtaCells& cells, const Launch& launch, std::span<const double> of_class) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(launch.ctas()));
  for_each_cta(cells, launch, [&](const CtaCells::Ends& ends, double part) {
    out.push_back((1 - part) * of_class[ends.first] + part * of_class[ends.last]);
  });
  return out;
}

void for_each_cta(const CtaCells& cells, const Launch& launch,
                  const std::function<void(const CtaCells::Ends&, double)>& visit) {
  std::array<std::size_t, 3> cell{};
  std::array<std::int64_t, 3> place{};
  const auto find = [&](std::size_t axis, std::int64_t cta) {
    place[axis] = CtaCells::place_of(launch, axis, cta);
    const std::vector<std::uint32_t>& begins = cells.begins[axis];
    while (cell[axis] > 0 && begins[cell[axis]] > place[axis]) --cell[axis];
    while (cell[axis] + 1 < begins.size() && begins[cell[axis] + 1] <= place[axis]) ++cell[axis];
  };
  for (std::int64_t z = 0; z < launch.grid[2]; ++z) {
    find(2, z);
    for (std::int64_t y = 0; y < launch.grid[1]; ++y) {
      find(1, y);
      for (std::int64_t x = 0; x < launch.grid[0]; ++x) {
        find(0, x);
        double way = 0, axes = 0;  // from the cell's first CTA to its last, along axes on which CTAs differ
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::vector<std::uint32_t>& begins = cells.begins[axis];
          const std::int64_t begin = begins[cell[axis]];
          const std::int64_t end = cell[axis] + 1 < begins.size() ? begins[cell[axis] + 1] : launch.grid[axis];
          if (begins.size() < 2 || end - begin < 2) continue;
          way += static_cast<double>(place[axis] - begin) / static_cast<double>(end - 1 - begin);
          axes += 1;
        }
        visit(cells.cells[cell[0] + cells.begins[0].size() * (cell[1] + cells.begins[1].size() * cell[2])],
              axes > 0 ? way / axes : 0.0);
      }
    }
  }
}

}  // namespace noteg::compiled
