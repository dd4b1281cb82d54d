// Loops are found, not declared: a way through the code that repeats itself is folded as soon as it does.
#include <algorithm>

#include "kernels/compiled/profile.hpp"

namespace noteg::compiled {
namespace {

constexpr std::size_t longest_body = 4096;  // nodes
constexpr int candidates = 8;               // earlier places of the same node that may begin a repetition

}  // namespace

std::int32_t PathNodes::of_block(std::int32_t block) {
  const auto [at, is_new] = blocks_.try_emplace(block, static_cast<std::int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({block, {}, 1});
  return at->second;
}

std::int32_t PathNodes::of_loop(std::vector<std::int32_t> body, std::int64_t count) {
  const auto [at, is_new] = loops_.try_emplace({body, count}, static_cast<std::int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({-1, std::move(body), count});
  return at->second;
}

std::vector<std::int32_t> PathNodes::adopt(const PathNodes& others, const std::vector<std::int32_t>& path) {
  std::vector<std::int32_t> out;
  for (const std::int32_t each : path) {
    const auto& [block, body, count] = others[each];
    out.push_back(block >= 0 ? of_block(block) : of_loop(adopt(others, body), count));
  }
  return out;
}

void PathBuilder::enter(std::int32_t block) {
  path_.push_back(nodes_->of_block(block));
  while (fold()) {}
}

void PathBuilder::repeat(std::vector<std::int32_t> body, std::int64_t times) {
  // A period of several equal iterations is a loop of its own.
  std::int64_t count = times;
  if (body.size() == 1 && (*nodes_)[body[0]].block < 0) {
    const PathNode inner = (*nodes_)[body[0]];
    count *= inner.count;
    body = inner.body;
  }
  if (!path_.empty()) {
    const PathNode tail = (*nodes_)[path_.back()];
    if (tail.block < 0 && tail.body == body) {
      path_.back() = nodes_->of_loop(std::move(body), tail.count + count);
      return;
    }
  }
  path_.push_back(nodes_->of_loop(std::move(body), count));
  while (fold()) {}
}

// The last nodes repeat the ones before them, or the body of the loop before them.
bool PathBuilder::fold() {
  const std::int32_t last = path_.back();
  int tried = 0;
  for (std::size_t period = 1; period <= longest_body && period < path_.size() && tried < candidates; ++period) {
    const std::size_t before = path_.size() - period - 1;
    const std::int32_t other = path_[before];
    const PathNode& node = (*nodes_)[other];
    if (node.block < 0 && node.body.size() == period &&
        std::equal(node.body.begin(), node.body.end(), path_.end() - static_cast<std::ptrdiff_t>(period))) {
      const std::int64_t count = node.count + 1;
      std::vector<std::int32_t> body = node.body;
      path_.resize(before);
      path_.push_back(nodes_->of_loop(std::move(body), count));
      return true;
    }
    if (other != last || 2 * period > path_.size()) continue;
    ++tried;
    const auto end = path_.end();
    const auto size = static_cast<std::ptrdiff_t>(period);
    if (!std::equal(end - size, end, end - 2 * size)) continue;
    std::vector<std::int32_t> body(end - size, end);
    path_.resize(path_.size() - 2 * period);
    path_.push_back(nodes_->of_loop(std::move(body), 2));
    return true;
  }
  return false;
}

}  // namespace noteg::compiled
