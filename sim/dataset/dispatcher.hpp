// Hands units out so that a worker stays with its kernel while that has units left: its engine runs are used again, and
// two workers seldom find out the same. Towards the end workers help each other. Safe for many threads.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/dataset/plan.hpp"

namespace noteg::dataset {

class Dispatcher {
 public:
  explicit Dispatcher(const std::vector<Unit>& units);  // units of a group lie together; they must outlive this object

  [[nodiscard]] const Unit* next(int worker);  // null: nothing left

 private:
  struct Group {
    std::size_t next = 0, end = 0;  // units
    [[nodiscard]] std::size_t left() const { return end - next; }
  };
  [[nodiscard]] std::optional<std::size_t> group_for(int worker);

  const std::vector<Unit>& units_;
  std::mutex mutex_;
  std::vector<Group> groups_;
  std::size_t untouched_ = 0;            // first group that nobody has begun
  std::map<int, std::size_t> group_of_;  // of each worker
};

}  // namespace noteg::dataset
