// How many different things came since something came last: what a cache that drops the longest unused has to hold for
// it to be found again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace noteg::memory {

// Each thing keeps the time at which it came last. O(log n) each (Bennett and Kruskal 1975).
class StackDistance {
 public:
  // It comes for the first time: its time.
  std::uint32_t comes() {
    const std::uint32_t now = ++time_;
    if (now >= tree_.size()) grow();
    add(now, 1);
    return now;
  }

  // It comes again; `last` becomes the time of now. Different others since.
  std::uint32_t comes_again(std::uint32_t& last) {
    const std::uint32_t others = count(time_) - count(last);
    add(last, -1);
    last = comes();
    return others;
  }

 private:
  void add(std::uint32_t at, int change) {
    for (; at < tree_.size(); at += at & -at) tree_[at] += static_cast<std::uint32_t>(change);
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t until) const {
    std::uint32_t out = 0;
    for (; until > 0; until -= until & -until) out += tree_[until];
    return out;
  }
  // To twice the times; the new half's root holds all that there are.
  void grow() {
    const std::size_t size = tree_.size();
    tree_.resize(2 * size);
    tree_[size] = count(static_cast<std::uint32_t>(size - 1));
  }

  std::vector<std::uint32_t> tree_ = std::vector<std::uint32_t>(1024);  // Fenwick's, of the times that count
  std::uint32_t time_ = 0;
};

}  // namespace noteg::memory
