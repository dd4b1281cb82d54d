#include "sim/dataset/dispatcher.hpp"

#include <algorithm>

namespace noteg::dataset {

Dispatcher::Dispatcher(const std::vector<Unit>& units) : units_(units) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (u == 0 || units[u].group != units[u - 1].group) groups_.push_back({u, u});
    groups_.back().end = u + 1;
  }
}

std::optional<std::size_t> Dispatcher::group_for(int worker) {
  const auto own = group_of_.find(worker);
  if (own != group_of_.end() && groups_[own->second].left() > 0) return own->second;
  if (untouched_ < groups_.size()) return untouched_++;
  const auto most = std::ranges::max_element(groups_, {}, &Group::left);
  if (most == groups_.end() || most->left() == 0) return std::nullopt;
  return static_cast<std::size_t>(most - groups_.begin());
}

const Unit* Dispatcher::next(int worker) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::size_t> group = group_for(worker);
  if (!group) return nullptr;
  group_of_[worker] = *group;
  return &units_[groups_[*group].next++];
}

}  // namespace noteg::dataset
