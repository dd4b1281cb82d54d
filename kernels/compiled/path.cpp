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

void PathNodes::count(const EmulatedCode& code, const std::vector<std::int32_t>& path,
                      std::map<std::int32_t, std::int64_t>& times, std::int64_t factor) const {
  for (const std::int32_t each : path) {
    const auto& [block, body, repeated] = (*this)[each];
    if (block < 0) {
      count(code, body, times, factor * repeated);
      continue;
    }
    const Block& of = code.blocks[static_cast<std::size_t>(block)];
    for (std::int32_t i = of.begin; i < of.end; ++i) times[i] += factor;
  }
}

std::vector<std::int32_t> PathBuilder::closed(std::size_t from) const {
  std::vector<std::int32_t> out;
  for (std::size_t i = from; i < path_.size(); ++i) {
    const auto [node, count] = path_[i];
    out.push_back((*nodes_)[node].block >= 0 ? node : nodes_->of_loop((*nodes_)[node].body, count));
  }
  return out;
}

bool PathBuilder::is(const Part& part, std::int32_t node) const {
  const auto& [block, body, count] = (*nodes_)[node];
  return block >= 0 ? part.node == node : part.count == count && (*nodes_)[part.node].body == body;
}

void PathBuilder::enter(std::int32_t block) {
  path_.push_back({nodes_->of_block(block), 1});
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
    const PathNode& tail = (*nodes_)[path_.back().node];
    if (tail.block < 0 && tail.body == body) {
      path_.back().count += count;
      return;
    }
  }
  loop(std::move(body), count);
  while (fold()) {}
}

// The last parts repeat the ones before them, or the body of the loop before them.
bool PathBuilder::fold() {
  int tried = 0;
  for (std::size_t period = 1; period <= longest_body && period < path_.size() && tried < candidates; ++period) {
    const auto end = path_.end();
    const auto size = static_cast<std::ptrdiff_t>(period);
    Part& before = *(end - size - 1);
    const PathNode& node = (*nodes_)[before.node];
    if (node.block < 0 && node.body.size() == period &&
        std::equal(end - size, end, node.body.begin(), [this](const Part& a, std::int32_t b) { return is(a, b); })) {
      ++before.count;
      path_.resize(path_.size() - period);
      return true;
    }
    if (before != path_.back() || 2 * period > path_.size()) continue;
    ++tried;
    if (!std::equal(end - size, end, end - 2 * size)) continue;
    std::vector<std::int32_t> body = closed(path_.size() - period);
    path_.resize(path_.size() - 2 * period);
    loop(std::move(body), 2);
    return true;
  }
  return false;
}

}  // namespace noteg::compiled
