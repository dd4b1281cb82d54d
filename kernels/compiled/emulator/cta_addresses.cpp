#include "kernels/compiled/emulator/cta_addresses.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {

using S = Semantics;

namespace {

std::array<std::uint32_t, 3> place_in(std::int64_t x, std::int64_t y, std::int64_t index) {
  return {static_cast<std::uint32_t>(index % x), static_cast<std::uint32_t>(index / x % y),
          static_cast<std::uint32_t>(index / x / y)};
}

}  // namespace

std::array<std::uint32_t, 3> cta_at(const Launch& launch, std::int64_t index) {
  return place_in(launch.grid[0], launch.grid[1], index);
}

std::array<std::uint32_t, 3> cta_by_cluster(const Launch& launch, std::int64_t index) {
  const auto along = [&](std::size_t axis) { return launch.cluster_along(axis); };
  const std::int64_t each = launch.cluster_ctas();
  std::array<std::uint32_t, 3> out = place_in(launch.grid[0] / along(0), launch.grid[1] / along(1), index / each);
  const std::array<std::uint32_t, 3> rank = place_in(along(0), along(1), index % each);
  for (std::size_t axis = 0; axis < 3; ++axis)
    out[axis] = out[axis] * static_cast<std::uint32_t>(along(axis)) + rank[axis];
  return out;
}

bool is_global_atomic(const Step& step) {
  return step.semantics == S::atomic_global || step.in->base == "RED" || step.in->base == "REDG";
}

double mean_run(const std::set<std::uint64_t>& sectors) {
  std::size_t runs = 0;
  std::uint64_t before = 0;
  for (const std::uint64_t each : sectors) {
    runs += each != before + 1 || runs == 0 ? 1 : 0;
    before = each;
  }
  return runs == 0 ? sector : static_cast<double>(sector * sectors.size()) / static_cast<double>(runs);
}

namespace {

// Where each warp goes with each instruction first; what repeats is skipped.
class FirstAddresses : public WarpWatcher {
 public:
  explicit FirstAddresses(const std::vector<bool>& wanted) : first(wanted.size()), wanted_(wanted) {}
  void enters(int warp, std::int32_t block, std::uint32_t lanes) override { log_[warp].emplace_back(block, lanes); }
  void assumes(std::int32_t, bool) override {}
  std::optional<std::size_t> position(int warp) const override {
    const auto at = log_.find(warp);
    return at == log_.end() ? 0 : at->second.size();
  }
  bool repeats(int warp, std::size_t a, std::size_t b, std::size_t c) const override {
    const auto at = log_.find(warp);
    if (c - b != b - a || at == log_.end() || c > at->second.size()) return false;
    const auto place = [&](std::size_t i) { return at->second.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::equal(place(a), place(b), place(b));
  }
  void repeat(int, std::size_t, std::size_t, std::int64_t) override {}
  void accesses(int warp, const Access& access) override {
    const std::uint32_t lanes = access.lanes & access.address.known;
    if (lanes != 0 && !access.reads_nothing && asks_global(access.step->semantics))
      note(access.at, warp, {lanes, access.address.value});
  }
  void acts(int warp, const AsyncAct& act) override {
    if (act.copy.is_known) note(act.at, warp, {1, {act.copy.address}});
  }
  std::vector<AddressesByWarp> first;
  std::size_t found = 0;

 private:
  const std::vector<bool>& wanted_;
  std::map<int, std::vector<std::pair<std::int32_t, std::uint32_t>>> log_;  // blocks with their lanes, by warp
  void note(std::int32_t at, int warp, const LaneAddresses& lanes) {
    if (!wanted_[static_cast<std::size_t>(at)]) return;
    AddressesByWarp& place = first[static_cast<std::size_t>(at)];
    found += place.empty() ? 1 : 0;
    place.try_emplace(warp, lanes);
  }
};

std::vector<AddressesByWarp> first_addresses(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                                             const std::array<std::uint32_t, 3>& id, const std::vector<bool>& wanted) {
  FirstAddresses watcher(wanted);
  EmulatedCta cta(code, launch, memory, id);
  const auto all = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true));
  // A bounded walk, in which loops are skipped.
  for (int rounds = 0; rounds < 2000 && !cta.finished() && watcher.found < all; ++rounds) cta.run_round(watcher);
  return std::move(watcher.first);
}

// How far apart two CTAs go with an instruction: of a lane that takes part in both, since others stay away at the edge
// of a matrix. Nullopt: no such lane.
std::optional<std::int64_t> distance(const AddressesByWarp& from, const AddressesByWarp& to) {
  for (const auto& [warp, lanes] : from) {
    const auto other = to.find(warp);
    const std::uint32_t both = other == to.end() ? 0 : lanes.known & other->second.known;
    if (both == 0) continue;
    const auto lane = static_cast<std::size_t>(std::countr_zero(both));
    return static_cast<std::int64_t>(other->second.address[lane] - lanes.address[lane]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::array<std::int64_t, 3>> AddressSamples::affine_steps(std::size_t at) const {
  std::array<std::int64_t, 3> step{};
  std::int64_t expected = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (beside[axis].empty()) continue;
    const auto moved = distance(origin[at], beside[axis][at]);
    if (!moved) return std::nullopt;
    step[axis] = *moved;
    expected += step[axis] * (std::int64_t{far[axis]} - std::int64_t{amid[axis]});
  }
  const auto seen = distance(origin[at], proof[at]);
  if (seen && *seen != expected) return std::nullopt;
  return step;
}

AddressSamples sample_addresses(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                                const std::vector<bool>& wanted, unsigned jobs) {
  AddressSamples out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // Both are first in their clusters: these alone make what one CTA does for all.
    const std::int64_t ranks = launch.cluster_along(axis);
    const auto first_of_cluster = [&](std::int64_t at) { return static_cast<std::uint32_t>(at - at % ranks); };
    out.amid[axis] = first_of_cluster((launch.grid[axis] - 1) / 2);
    out.far[axis] = first_of_cluster(launch.grid[axis] * 3 / 4);
  }
  std::vector<std::pair<std::array<std::uint32_t, 3>, std::vector<AddressesByWarp>*>> walks{{out.amid, &out.origin}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] < 2) continue;
    walks.emplace_back(out.amid, &out.beside[axis]);
    ++walks.back().first[axis];
  }
  if (launch.ctas() > 1) walks.emplace_back(out.far, &out.proof);
  share_work(walks.size(), jobs, {},
             [&](std::size_t i) { *walks[i].second = first_addresses(code, launch, memory, walks[i].first, wanted); });
  if (launch.ctas() == 1) out.proof = out.origin;
  return out;
}

Neighbours::Neighbours(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                       const std::vector<bool>& wanted, const std::array<std::uint32_t, 3>& amid, std::int64_t live,
                       unsigned jobs) {
  constexpr std::int64_t most = 128;
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;
  const std::int64_t first = launch.before(amid);
  const std::int64_t last = std::min({launch.ctas(), first + most, first + live});
  ctas_.resize(static_cast<std::size_t>(last - first));
  share_work(ctas_.size(), jobs, {}, [&](std::size_t i) {
    ctas_[i] = first_addresses(code, launch, memory, cta_at(launch, first + static_cast<std::int64_t>(i)), wanted);
  });
}

Together Neighbours::operator()(std::size_t at, const AddressesByWarp& origin, std::uint64_t bytes) const {
  const int warp = origin.begin()->first;
  std::map<std::uint64_t, std::uint32_t> touched;  // bytes of a sector
  double asked = 0;
  const AddressesByWarp* before = nullptr;
  int up = 0, down = 0;
  for (const std::vector<AddressesByWarp>& cta : ctas_) {
    const auto lanes = cta[at].find(warp);
    if (lanes == cta[at].end()) continue;
    const std::int64_t moved = before != nullptr ? distance(*before, cta[at]).value_or(0) : 0;
    up += moved > 0;
    down += moved < 0;
    before = &cta[at];
    std::set<std::uint64_t> sectors;
    for (std::size_t i = 0; i < 32; ++i) {
      if ((lanes->second.known >> i & 1) == 0) continue;
      for (std::uint64_t b = lanes->second.address[i]; b < lanes->second.address[i] + bytes; ++b) {
        touched[b / sector] |= 1u << b % sector;
        sectors.insert(b / sector);
      }
    }
    asked += static_cast<double>(sectors.size());
  }
  if (touched.empty()) return {};
  std::set<std::uint64_t> all;
  double filled = 0;
  for (const auto& [place, mask] : touched) {
    all.insert(place);
    filled += std::popcount(mask);
  }
  const auto different = static_cast<double>(all.size());
  const auto span = static_cast<double>((*all.rbegin() - *all.begin() + 1) * sector);
  // Of places at random the next lies as often above as below.
  const bool ascends = 4 * std::max(up, down) > 3 * (up + down);
  return {asked / different, filled / (different * sector), mean_run(all), span, ascends};
}

}  // namespace noteg::compiled
