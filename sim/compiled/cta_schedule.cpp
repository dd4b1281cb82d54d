#include "sim/compiled/cta_schedule.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace noteg::compiled {
namespace {

constexpr double together = 1e-9;  // of the time: ends so close are one

// CTAs of one SM share it evenly: each has done `progress` of its length since the start, whenever it came.
struct Sm {
  double progress = 0, now = 0;
  std::vector<double> ends;  // progress at which each CTA is done

  [[nodiscard]] double slowness(const CtaSlots& slots) const {
    return std::max(slots.alone, static_cast<double>(ends.size()) / slots.resident);
  }
  void advance(double to, const CtaSlots& slots) {
    if (!ends.empty()) progress += (to - now) / slowness(slots);
    now = to;
  }
  // Those that are done by then leave.
  void end(double at, const CtaSlots& slots) {
    advance(at, slots);
    const double first = *std::ranges::min_element(ends);
    std::erase_if(ends, [&](double each) { return each <= std::max(first, progress * (1 + together)); });
  }
  [[nodiscard]] double next_end(const CtaSlots& slots) const {
    return now + std::max(0.0, *std::ranges::min_element(ends) - progress) * slowness(slots);
  }
};

}  // namespace

double makespan(std::span<const double> lengths, const CtaSlots& slots) {
  std::vector<Sm> sms(static_cast<std::size_t>(std::max(1, slots.sms)));
  const std::size_t at_once = std::min(lengths.size(), sms.size() * static_cast<std::size_t>(slots.resident));
  std::size_t next = 0;
  for (; next < at_once; ++next) sms[next % sms.size()].ends.push_back(lengths[next]);
  using Event = std::pair<double, std::size_t>;  // the SM's first CTA that ends; one for each SM
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (std::size_t i = 0; i < sms.size(); ++i)
    if (!sms[i].ends.empty()) events.emplace(sms[i].next_end(slots), i);
  double last = 0;
  while (!events.empty()) {
    last = events.top().first;
    std::vector<std::size_t> open;  // SMs with slots that fall empty now: the emptiest is filled first
    for (; !events.empty() && events.top().first <= last * (1 + together); events.pop()) {
      open.push_back(events.top().second);
      sms[open.back()].end(last, slots);
    }
    while (next < lengths.size()) {
      const auto emptiest =
          std::ranges::min_element(open, {}, [&](std::size_t i) { return std::pair(sms[i].ends.size(), i); });
      Sm& sm = sms[*emptiest];
      if (sm.ends.size() >= static_cast<std::size_t>(slots.resident)) break;
      sm.ends.push_back(sm.progress + lengths[next++]);
    }
    for (const std::size_t i : open)
      if (!sms[i].ends.empty()) events.emplace(sms[i].next_end(slots), i);
  }
  return last;
}

std::vector<double> lengths_of_ctas(const CtaCells& cells, const Launch& launch, std::span<const double> of_class) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(launch.ctas()));
  std::array<std::size_t, 3> cell{};
  const auto find = [&](std::size_t axis, std::int64_t at) {
    if (at == 0) cell[axis] = 0;
    const std::vector<std::uint32_t>& begins = cells.begins[axis];
    while (cell[axis] + 1 < begins.size() && begins[cell[axis] + 1] <= at) ++cell[axis];
  };
  for (std::int64_t z = 0; z < launch.grid[2]; ++z) {
    find(2, z);
    for (std::int64_t y = 0; y < launch.grid[1]; ++y) {
      find(1, y);
      for (std::int64_t x = 0; x < launch.grid[0]; ++x) {
        find(0, x);
        const std::array<std::int64_t, 3> id{x, y, z};
        const CtaCells::Ends& ends =
            cells.cells[cell[0] + cells.begins[0].size() * (cell[1] + cells.begins[1].size() * cell[2])];
        double way = 0, axes = 0;  // from the cell's first CTA to its last, along axes on which CTAs differ
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::vector<std::uint32_t>& begins = cells.begins[axis];
          const std::int64_t begin = begins[cell[axis]];
          const std::int64_t end = cell[axis] + 1 < begins.size() ? begins[cell[axis] + 1] : launch.grid[axis];
          if (begins.size() < 2 || end - begin < 2) continue;
          way += static_cast<double>(id[axis] - begin) / static_cast<double>(end - 1 - begin);
          axes += 1;
        }
        const double part = axes > 0 ? way / axes : 0.0;
        out.push_back((1 - part) * of_class[ends.first] + part * of_class[ends.last]);
      }
    }
  }
  return out;
}

}  // namespace noteg::compiled
