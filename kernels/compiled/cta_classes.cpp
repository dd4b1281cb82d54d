#include "kernels/compiled/cta_classes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>

#include "kernels/compiled/profile.hpp"
#include "sim/support/work_sharing.hpp"

namespace noteg::compiled {
namespace {

// CTAs of a cluster along an axis whose CTAs all belong to whole ones; else 1.
std::int64_t ranks_on(const Launch& launch, std::size_t axis) {
  const std::int64_t ranks = launch.cluster_along(axis);
  return launch.grid[axis] % ranks == 0 ? ranks : 1;
}

// Which CTAs take the same way: boundaries along each axis by bisection, then cells of the grid that are checked.
class Classes {
 public:
  Classes(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory, const ProfileLimits& limits)
      : code_(code), launch_(launch), memory_(memory), limits_(limits) {}

  using Cell = CtaClasses::Class;

  CtaClasses all() {
    CtaClasses out;
    out.found = find();
    out.cells = cells_;
    out.sampled = sampled_;
    out.endless = endless_;
    out.waits = waits_;
    return out;
  }

 private:
  // Representatives with the CTAs that they stand for, by signature. Where CTAs change from one end of a cell to the
  // other, both ends stand for half of them.
  std::vector<Cell> find() {
    std::array<std::vector<std::uint32_t>, 3>& begins = cells_.begins;
    for (std::size_t axis = 0; axis < 3; ++axis) begins[axis] = boundaries(axis);
    if (!sampled_) refine();
    std::vector<CtaId> corners;
    for_each_cell([&](const CtaId& first, const CtaId& last) {
      corners.insert(corners.end(), {first, last, amid(first, last)});
    });
    run(corners);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ends;
    std::map<std::uint64_t, Cell> by_signature;
    std::map<std::uint64_t, double> largest;  // cell of the signature
    for_each_cell([&](CtaId first, CtaId last) {
      double ctas = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) ctas *= last[axis] - first[axis] + 1.0;
      // A cell that a diagonal cuts is known by its other two corners.
      if (refined_ && at(first) == at(last) && at({first[0], last[1], first[2]}) != at(first))
        std::swap(first[1], last[1]);
      ends.emplace_back(at(first), last == first ? at(first) : at(last));
      if (ends.back().first != ends.back().second) sampled_ = true;
      for (const auto& [signature, id] : {std::pair(ends.back().first, first), std::pair(ends.back().second, last)}) {
        Cell& cell = by_signature[signature];
        // One that lies amid others: those at an edge may be the only ones without all of their lanes.
        if (largest[signature] < ctas) cell.id = at(amid(first, last)) == signature ? amid(first, last) : id;
        largest[signature] = std::max(largest[signature], ctas);
        cell.ctas += ctas / 2;
      }
    });
    std::vector<std::pair<Cell, std::uint64_t>> found;
    for (const auto& [signature, cell] : by_signature) found.emplace_back(cell, signature);
    std::ranges::sort(found, [](const auto& a, const auto& b) {
      return a.first.ctas != b.first.ctas ? a.first.ctas > b.first.ctas : a.first.id < b.first.id;
    });
    std::map<std::uint64_t, std::size_t> class_of;
    std::vector<Cell> out = found.size() > 4 * limits_.classes ? by_work(found, class_of) : std::vector<Cell>{};
    for (const auto& [cell, signature] : found)
      if (class_of.try_emplace(signature, out.size()).second) out.push_back(cell);
    for (Cell& cell : out) cell.id = cta_of(cell.id);
    for (const auto& [first, last] : ends) cells_.cells.push_back({class_of[first], class_of[last]});
    return out;
  }

  // Too many ways: in the order of what they do, those amid equal parts of all CTAs stand for theirs.
  std::vector<Cell> by_work(std::vector<std::pair<Cell, std::uint64_t>> found,
                            std::map<std::uint64_t, std::size_t>& class_of) {
    sampled_ = true;
    std::ranges::sort(found, {}, [&](const auto& each) { return std::pair(work_[each.second], each.first.id); });
    double all = 0, before = 0, last_part = -1;
    for (const auto& [cell, signature] : found) all += cell.ctas;
    std::vector<Cell> out;
    std::vector<double> from_middle;
    for (const auto& [cell, signature] : found) {
      const double middle = (before + cell.ctas / 2) / all * static_cast<double>(limits_.classes);
      before += cell.ctas;
      const double part = std::min(std::floor(middle), static_cast<double>(limits_.classes - 1));
      const double off = std::abs(middle - part - 0.5);
      if (part != last_part) {
        out.push_back({cell.id, 0});
        from_middle.push_back(off);
      }
      last_part = part;
      out.back().ctas += cell.ctas;
      if (off < from_middle.back()) out.back().id = cell.id, from_middle.back() = off;
      class_of[signature] = out.size() - 1;
    }
    return out;
  }

  // Of a cell. In a cluster the first CTA alone may do what one does for all.
  [[nodiscard]] CtaId amid(const CtaId& first, const CtaId& last) const {
    CtaId out = first;
    if (launch_.cluster_ctas() > 1) return out;
    for (std::size_t axis = 0; axis < 3; ++axis) out[axis] = std::midpoint(first[axis], last[axis]);
    return out;
  }

  std::uint32_t end_of(const std::vector<std::uint32_t>& begins, std::size_t i, std::size_t axis) const {
    return i + 1 < begins.size() ? begins[i + 1] : static_cast<std::uint32_t>(launch_.grid[axis]);
  }

  // Calls visit(first, last) for the outermost CTAs of each cell; x runs fastest.
  template <class Visit>
  void for_each_cell(Visit visit) {
    const std::array<std::vector<std::uint32_t>, 3>& begins = cells_.begins;
    for (std::size_t z = 0; z < begins[2].size(); ++z)
      for (std::size_t y = 0; y < begins[1].size(); ++y)
        for (std::size_t x = 0; x < begins[0].size(); ++x)
          visit(CtaId{begins[0][x], begins[1][y], begins[2][z]},
                CtaId{end_of(begins[0], x, 0) - 1, end_of(begins[1], y, 1) - 1, end_of(begins[2], z, 2) - 1});
  }

  std::vector<std::uint32_t> boundaries(std::size_t axis) {
    const auto n = static_cast<std::uint32_t>(launch_.grid[axis]);
    std::vector<std::uint32_t> samples;
    constexpr std::uint32_t parts = 4;
    for (std::uint32_t i = 0; i <= parts; ++i)
      samples.push_back(static_cast<std::uint32_t>(std::uint64_t{n - 1} * i / parts));
    if (n > 1) samples.push_back(1);
    std::ranges::sort(samples);
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    std::vector<CtaId> ids;
    for (const std::uint32_t each : samples) ids.push_back(id_on(axis, each));
    run(ids);
    std::vector<std::uint32_t> out{0};
    for (std::size_t i = 1; i < samples.size(); ++i) split(axis, samples[i - 1], samples[i], out);
    if (!sampled_ && alternates(axis, out)) {
      constexpr std::uint32_t most = 1024;  // CTAs to be run
      sampled_ = n > most;
      if (!sampled_) {
        out.resize(n);
        std::iota(out.begin(), out.end(), 0);
      }
    }
    return out;
  }

  // Whether two neighbours within a stretch go other ways than its ends, as where even and odd CTAs differ.
  bool alternates(std::size_t axis, const std::vector<std::uint32_t>& begins) {
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::uint32_t begin = begins[i], length = end_of(begins, i, axis) - begin;
      if (length < 4) continue;
      const std::uint32_t inside = begin + 1 + (length - 4) * 3 / 8;
      run({id_on(axis, inside), id_on(axis, inside + 1)});
      for (const std::uint32_t each : {inside, inside + 1})
        if (at(id_on(axis, each)) != at(id_on(axis, begin)) &&
            at(id_on(axis, begin)) == at(id_on(axis, begin + length - 1)))
          return true;
    }
    return false;
  }

  // Where ways depend on two coordinates together (a triangle of tiles, a picture), cells whose corners or middles
  // differ are halved.
  void refine() {
    constexpr std::size_t most = 1024;  // CTAs to be run
    const auto ctas = static_cast<std::size_t>(launch_.grid[0] * launch_.grid[1]);
    std::array<std::vector<std::uint32_t>, 3>& begins = cells_.begins;
    struct Corners {
      std::uint32_t x0, x1, y0, y1;
    };
    const auto corners = [&](std::size_t x, std::size_t y) {
      return Corners{begins[0][x], end_of(begins[0], x, 0) - 1, begins[1][y], end_of(begins[1], y, 1) - 1};
    };
    const auto corners_differ = [&](std::size_t x, std::size_t y, std::uint32_t least) {
      const auto [x0, x1, y0, y1] = corners(x, y);
      if (x1 - x0 < least || y1 - y0 < least) return false;
      const std::uint64_t way = at({x0, y0, 0});
      return at({x1, y0, 0}) != way || at({x0, y1, 0}) != way || at({x1, y1, 0}) != way ||
             at({x0 + (x1 - x0) / 2, y0 + (y1 - y0) / 2, 0}) != way;
    };
    bool halved = false;
    for (std::size_t y = 0; y < begins[1].size(); ++y)
      for (std::size_t x = 0; x < begins[0].size(); ++x) halved = halved || corners_differ(x, y, 1);
    while (halved && !endless_ && !is_spent()) {
      halved = false;
      std::array<std::set<std::uint32_t>, 2> middles;
      for (std::size_t y = 0; y < begins[1].size(); ++y)
        for (std::size_t x = 0; x < begins[0].size(); ++x) {
          if (!corners_differ(x, y, 0)) continue;
          const auto [x0, x1, y0, y1] = corners(x, y);
          if (x1 > x0) middles[0].insert(x0 + (x1 - x0 + 1) / 2);
          if (y1 > y0) middles[1].insert(y0 + (y1 - y0 + 1) / 2);
        }
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::size_t cells = begins[0].size() * begins[1].size() * 2;
        if (middles[axis].empty() || std::min(4 * cells, ctas) > most) continue;
        refined_ = true;
        begins[axis].insert(begins[axis].end(), middles[axis].begin(), middles[axis].end());
        std::ranges::sort(begins[axis]);
        halved = true;
      }
    }
  }

  [[nodiscard]] CtaId cta_of(const CtaId& place) const {
    CtaId out{};
    for (std::size_t axis = 0; axis < 3; ++axis) out[axis] = CtaCells::cta_at(launch_, axis, place[axis]);
    return out;
  }

  static CtaId id_on(std::size_t axis, std::uint32_t at_value) {
    CtaId id{};
    id[axis] = at_value;
    return id;
  }

  // Where the way changes between two CTAs of different ways. Where it changes with every CTA, quantiles stand for all.
  void split(std::size_t axis, std::uint32_t a, std::uint32_t b, std::vector<std::uint32_t>& out) {
    if (endless_ || at(id_on(axis, a)) == at(id_on(axis, b))) return;
    if (b - a == 1) {
      out.push_back(b);
      return;
    }
    if (out.size() >= limits_.classes || tried_ > 4 * limits_.classes || is_spent()) {
      sampled_ = true;
      out.push_back(a + (b - a) / 2);
      return;
    }
    const std::uint32_t middle = a + (b - a) / 2;
    split(axis, a, middle, out);
    split(axis, middle, b, out);
  }

  std::uint64_t at(const CtaId& id) {
    if (!known_.contains(id)) run({id});
    return known_[id];
  }

  [[nodiscard]] bool is_spent() const { return blocks_run_ > limits_.search_blocks; }

  // Those that have not been, side by side.
  void run(const std::vector<CtaId>& ids) {
    std::vector<CtaId> fresh;
    for (const CtaId& id : ids)
      if (!known_.contains(id) && std::ranges::find(fresh, id) == fresh.end()) fresh.push_back(id);
    tried_ += fresh.size();
    struct Run {
      PathNodes nodes;
      CtaRecorder::Ways ways;
      std::map<std::int32_t, std::int64_t> waits;
      std::uint64_t blocks = 0;
    };
    std::vector<Run> runs(fresh.size());
    std::atomic<bool> endless = endless_;
    share_work(fresh.size(), limits_.jobs, {}, [&](std::size_t i) {
      EmulatedCta cta(code_, launch_, memory_, cta_of(fresh[i]));
      CtaRecorder recorder(code_, runs[i].nodes, launch_, 0);
      for (std::uint64_t rounds = 1; !cta.finished() && !endless; ++rounds) {
        cta.run_round(recorder);
        if ((rounds & 1023) == 0 && cta.blocks_run() > limits_.blocks) endless = true;
      }
      runs[i].ways = recorder.ways();
      runs[i].waits = recorder.waits();
      runs[i].blocks = cta.blocks_run();
    });
    endless_ = endless;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      known_[fresh[i]] = signature_of(runs[i].nodes, runs[i].ways);
      work_[known_[fresh[i]]] = runs[i].blocks;
      blocks_run_ += runs[i].blocks;
      for (const auto& [wait, before] : runs[i].waits) waits_[wait] = std::max(waits_[wait], before);
    }
  }

  // Equal for CTAs whose warps take the same ways.
  std::uint64_t signature_of(const PathNodes& nodes, const CtaRecorder::Ways& ways) {
    std::uint64_t out = 0;
    const auto mix = [&](std::uint64_t v) { out = (out ^ v) * 0xbf58476d1ce4e5b9 + 7; };
    for (const std::vector<std::int32_t>& path : ways.paths)
      for (const std::int32_t node : nodes_.adopt(nodes, path)) mix(static_cast<std::uint64_t>(node));
    for (const double lanes : ways.lanes) mix(static_cast<std::uint64_t>(lanes));
    return out;
  }

  const EmulatedCode& code_;
  const Launch& launch_;
  const LaunchMemory& memory_;
  const ProfileLimits& limits_;
  PathNodes nodes_;
  CtaCells cells_;
  std::map<CtaId, std::uint64_t> known_;
  std::map<std::uint64_t, std::uint64_t> work_;  // blocks that CTAs run, by signature
  std::size_t tried_ = 0;
  std::uint64_t blocks_run_ = 0;
  std::map<std::int32_t, std::int64_t> waits_;
  bool sampled_ = false, endless_ = false, refined_ = false;
};

}  // namespace

CtaClasses find_classes(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                        const ProfileLimits& limits) {
  return Classes(code, launch, memory, limits).all();
}

std::uint32_t CtaCells::cta_at(const Launch& launch, std::size_t axis, std::uint32_t place) {
  const std::int64_t ranks = ranks_on(launch, axis), clusters = launch.grid[axis] / ranks;
  return static_cast<std::uint32_t>(place % clusters * ranks + place / clusters);
}

std::int64_t CtaCells::place_of(const Launch& launch, std::size_t axis, std::int64_t cta) {
  const std::int64_t ranks = ranks_on(launch, axis), clusters = launch.grid[axis] / ranks;
  return cta % ranks * clusters + cta / ranks;
}

}  // namespace noteg::compiled
