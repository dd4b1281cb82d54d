#include "kernels/access/wavefronts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/support/arithmetic.hpp"

namespace noteg::kernels {
namespace {

bool is_active(const AccessPattern& p, unsigned lane) { return ((p.active_mask >> lane) & 1u) != 0; }

// Different words of lanes [first, first + count).
std::vector<std::uint32_t> words_of(const AccessPattern& p, unsigned first, unsigned count, SharedBanks banks) {
  std::vector<std::uint32_t> words;
  for (unsigned lane = first; lane < first + count; ++lane) {
    if (!is_active(p, lane)) continue;
    for (std::uint32_t b = 0; b < p.bytes_per_lane; b += banks.width)
      words.push_back((p.offset[lane] + b) / banks.width);
  }
  words.resize(static_cast<std::size_t>(count_distinct(words)));
  return words;
}

// Wavefronts for lanes [first, first + count): the busiest bank decides; equal words are broadcast.
int wavefronts_of(const AccessPattern& p, unsigned first, unsigned count, SharedBanks banks) {
  std::array<int, SharedBanks::most> load{};
  for (const std::uint32_t word : words_of(p, first, count, banks)) ++load[word % banks.count];
  return *std::max_element(load.begin(), load.end());
}

bool pairs_agree(const AccessPattern& p, unsigned flip) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (is_active(p, lane) && is_active(p, lane ^ flip) && p.offset[lane] != p.offset[lane ^ flip]) return false;
  }
  return true;
}

// Neighbouring parts of `part` lanes each, two by two where the addresses of all lanes allow it.
int served_in_parts(const AccessPattern& p, unsigned part, SharedBanks banks) {
  const bool merges = pairs_agree(p, 1) || pairs_agree(p, 2);
  const unsigned step = merges ? 2 * part : part;
  int sum = 0;
  for (unsigned first = 0; first < 32; first += step) sum += wavefronts_of(p, first, step, banks);
  return sum;
}

}  // namespace

int distinct_addresses(const AccessPattern& pattern) {
  std::vector<std::uint32_t> places;
  for (std::size_t lane = 0; lane < 32; ++lane)
    if ((pattern.active_mask >> lane & 1u) != 0) places.push_back(pattern.offset[lane]);
  return std::max(1, count_distinct(places));
}

int distinct_words(const AccessPattern& pattern, SharedBanks banks) {
  return static_cast<int>(words_of(pattern, 0, 32, banks).size());
}

int shared_wavefronts(const AccessPattern& pattern, SharedBanks banks) {
  if (pattern.active_mask == 0) return 0;
  if (pattern.bytes_per_lane <= 4) return wavefronts_of(pattern, 0, 32, banks);
  return served_in_parts(pattern, pattern.bytes_per_lane <= 8 ? 16 : 8, banks);
}

int l1_wavefronts(const AccessPattern& pattern, SharedBanks banks) {
  const unsigned part = pattern.bytes_per_lane <= 4 ? 32 : pattern.bytes_per_lane <= 8 ? 16 : 8;
  int sum = 0;
  for (unsigned first = 0; first < 32; first += part) sum += wavefronts_of(pattern, first, part, banks);
  return sum;
}

AccessPattern shared_side(const AccessPattern& copy) {
  AccessPattern p = copy;
  p.space = Space::shared;
  p.store = true;
  p.offset = copy.shared_offset;
  return p;
}

GlobalCost global_cost(const AccessPattern& pattern, LineSizes sizes) {
  const auto [sector, line] = sizes;
  std::vector<std::uint32_t> sectors, lines, starts;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_active(pattern, lane)) continue;
    const std::uint32_t begin = pattern.offset[lane];
    const std::uint32_t last = begin + pattern.bytes_per_lane - 1u;
    starts.push_back(begin);
    for (std::uint32_t s = begin / sector; s <= last / sector; ++s) sectors.push_back(s);
    for (std::uint32_t l = begin / line; l <= last / line; ++l) lines.push_back(l);
  }
  GlobalCost cost;
  cost.sectors = count_distinct(sectors);
  cost.lines = count_distinct(lines);
  cost.bytes = count_distinct(starts) * pattern.bytes_per_lane;
  return cost;
}

int masked_lines(const AccessPattern& store, LineSizes sizes) {
  std::map<std::uint32_t, std::set<std::uint32_t>> pieces_of;  // a sector's, by the first byte of each
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_active(store, lane)) continue;
    const std::uint32_t begin = store.offset[lane], last = begin + store.bytes_per_lane - 1u;
    for (std::uint32_t s = begin / sizes.sector; s <= last / sizes.sector; ++s)
      pieces_of[s].insert(std::max(begin, s * sizes.sector));
  }
  std::set<std::uint32_t> lines;
  for (const auto& [sector, pieces] : pieces_of)
    if (pieces.size() * store.bytes_per_lane < sizes.sector) lines.insert(sector * sizes.sector / sizes.line);
  return static_cast<int>(lines.size());
}

CopyRequests copy_requests(const AccessPattern& copy, LineSizes sizes) {
  constexpr std::uint32_t passes_by = 16;
  if (copy.bytes_per_lane < passes_by) {
    const GlobalCost cost = global_cost(copy, sizes);
    return {cost.lines, cost.sectors, cost.sectors, cost.sectors};
  }
  // Of a line of memory and one of shared memory: how often each sector is asked for, once for each that it goes to.
  std::map<std::uint32_t, std::map<std::uint32_t, std::map<std::uint32_t, int>>> times;
  std::set<std::pair<std::uint32_t, std::uint32_t>> ways;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_active(copy, lane)) continue;
    const std::uint32_t from = copy.offset[lane], to = copy.shared_offset[lane];
    if (ways.emplace(from / sizes.sector, to / sizes.sector).second)
      ++times[from / sizes.line][to / sizes.line][from / sizes.sector];
  }
  CopyRequests out;
  for (const auto& [line, targets] : times) {
    std::set<std::vector<std::uint32_t>> different;
    int requests = 0, sectors = 0;
    for (const auto& [target, of] : targets) {
      int most = 0;
      for (const auto& [sector, n] : of) most = std::max(most, n);
      for (int nth = 0; nth < most; ++nth) {
        std::vector<std::uint32_t> request;
        for (const auto& [sector, n] : of)
          if (n > nth) request.push_back(sector);
        const auto size = static_cast<int>(request.size());
        sectors += size;
        if (different.insert(request).second) out.at_l2 += size;
      }
      requests += most;
    }
    out.requests += requests;
    out.sectors += sectors;
    if (requests == 1) out.whole += sectors;
  }
  return out;
}

}  // namespace noteg::kernels
