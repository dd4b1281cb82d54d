#include "sim/sm/sampling/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace noteg::sm {

namespace {

// Mean and twice its standard error.
struct Mean {
  double value = 0, doubt = 0;
};

template <class Each, class Of>
Mean mean_of(std::span<const Each> windows, Of of) {
  const auto n = static_cast<double>(windows.size());
  double sum = 0, squares = 0;
  for (const Each& window : windows) {
    const double each = of(window);
    sum += each;
    squares += each * each;
  }
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean) * n / (n - 1);
  return {mean, 2 * std::sqrt(variance / n)};
}

}  // namespace

void Window::operator+=(const Window& more) {
  cycles += more.cycles;
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i] += more.asked[i];
  count += more.count;
  for (std::size_t slot = 0; slot < advanced.size(); ++slot) advanced[slot] += more.advanced[slot];
}

Window Window::operator*(double times) const {
  Window out{cycles * times, asked, advanced, count * times};
  for (double& each : out.asked) each *= times;
  for (double& each : out.advanced) each *= times;
  return out;
}

bool SteadyState::learn(const SamplingRules& rules, bool spent, double waves) {
  const std::size_t all = windows_.size(), least = spent ? rules.windows / 2 : rules.windows;
  for (const std::size_t used : {all, (all + 1) / 2}) {
    if (used < least) break;
    used_ = used;
    const bool is_enough = (spent && used < all) || has_known_rate(rules.agreement);
    if (!is_enough) continue;
    sum_ = used_windows().front();
    for (const Window& window : used_windows().subspan(1)) sum_ += window;
    level_progress();
    is_known_ = spent || has_known_progress(rules.progress * waves);
    if (is_known_) return true;
  }
  return false;
}

bool SteadyState::has_known_rate(double agreement) const {
  const Mean rate = mean_of(used_windows(), [](const Window& w) { return w.cycles / w.instructions(); });
  return rate.doubt <= agreement * rate.value;
}

// Where CTAs get on at different rates, each share of the instructions has to be known, as a part of an even share.
bool SteadyState::has_known_progress(double agreement) const {
  const std::vector<double>& progress = sum_.advanced;
  const auto [least, most] = std::minmax_element(progress.begin(), progress.end());
  if (*least == *most) return true;
  const auto running = static_cast<double>(std::ranges::count_if(progress, [](double each) { return each > 0; }));
  for (std::size_t slot = 0; slot < progress.size(); ++slot) {
    if (progress[slot] <= 0) continue;
    const Mean share = mean_of(used_windows(), [&](const Window& w) { return w.advanced[slot] / w.instructions(); });
    const auto alike = static_cast<double>(std::ranges::count(progress, progress[slot]));
    if (share.doubt > agreement * std::sqrt(alike) / running) return false;
  }
  return true;
}

bool SteadyState::are_apart(std::size_t slot, std::size_t other) const {
  const Mean difference =
      mean_of(used_windows(), [&](const Window& w) { return w.advanced[other] - w.advanced[slot]; });
  return std::abs(difference.value) > difference.doubt;
}

// CTAs whose progress the windows cannot tell apart get on alike: each of them at the mean, but for its drift.
void SteadyState::level_progress() {
  const std::vector<double> measured = sum_.advanced;
  drift_.resize(measured.size());
  std::vector<std::size_t> slots(measured.size());
  std::iota(slots.begin(), slots.end(), std::size_t{0});
  std::ranges::stable_sort(slots, {}, [&](std::size_t slot) { return measured[slot]; });
  for (std::size_t first = 0; first < slots.size();) {
    std::size_t end = first + 1;
    while (end < slots.size() && !are_apart(slots[first], slots[end])) ++end;
    double mean = 0;
    for (std::size_t i = first; i < end; ++i) mean += measured[slots[i]] / static_cast<double>(end - first);
    for (; first < end; ++first) {
      sum_.advanced[slots[first]] = mean;
      drift_[slots[first]] = measured[slots[first]] - mean;
    }
  }
}

void Turnover::add(const SteadyState& rate, Window passed, double ctas, double outside) {
  const double in_loops = passed.instructions() - ctas * outside;
  passed += rate.sum() * (-in_loops / rate.sum().instructions());
  ctas_ += ctas;
  progress_ += in_loops;
  cycles_.push_back(passed.cycles / ctas);
  if (cycles_.size() == 1)
    sum_ = std::move(passed);
  else
    sum_ += passed;
}

bool Turnover::is_known(std::size_t least, double cycles) const {
  return cycles_.size() >= least &&
         mean_of(std::span<const double>(cycles_), [](double each) { return each; }).doubt <= cycles;
}

}  // namespace noteg::sm
