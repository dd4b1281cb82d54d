#include "sim/compiled/compare_listings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace noteg::compiled {
namespace {

std::string_view mnemonic(const SourceRow& row) {
  std::string_view text = row.sass;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
  return text.substr(0, text.find(' '));
}

// Longest common subsequence within a band around the diagonal: code that moved far is a loss and a gain.
constexpr std::int64_t widest = 600;

class Matcher {
 public:
  Matcher(const std::vector<SourceRow>& before, const std::vector<SourceRow>& after) : before_(before), after_(after) {
    n_ = std::ssize(before);
    m_ = std::ssize(after);
    band_ = std::min<std::int64_t>(widest, std::max(n_, m_)) + std::abs(n_ - m_);
    longest_.resize(static_cast<std::size_t>(n_ + 1));
    for (std::int64_t i = n_; i >= 0; --i) {
      longest_[static_cast<std::size_t>(i)].assign(static_cast<std::size_t>(2 * band_ + 3), 0);
      for (std::int64_t j = std::min(m_, i + band_); j >= std::max<std::int64_t>(0, i - band_); --j) set(i, j);
    }
  }

  [[nodiscard]] std::vector<MovedLine> lines() const {
    std::vector<MovedLine> out;
    std::int64_t i = 0, j = 0;
    const auto samples = [](const std::vector<SourceRow>& rows, std::int64_t at) {
      return at < 0 ? 0.0 : rows[static_cast<std::size_t>(at)].samples;
    };
    while (i < n_ || j < m_) {
      MovedLine line;
      if (i < n_ && j < m_ && same(i, j)) {
        line = {i++, j++, 0, 0};
      } else if (j >= m_ || (i < n_ && get(i + 1, j) >= get(i, j + 1))) {
        line.before = i++;
      } else {
        line.after = j++;
      }
      line.samples_before = samples(before_, line.before);
      line.samples_after = samples(after_, line.after);
      out.push_back(line);
    }
    return out;
  }

 private:
  [[nodiscard]] bool same(std::int64_t i, std::int64_t j) const {
    return mnemonic(before_[static_cast<std::size_t>(i)]) == mnemonic(after_[static_cast<std::size_t>(j)]);
  }
  [[nodiscard]] std::int32_t get(std::int64_t i, std::int64_t j) const {
    if (i > n_ || j > m_ || std::abs(i - j) > band_) return 0;
    return longest_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j - i + band_ + 1)];
  }
  void set(std::int64_t i, std::int64_t j) {
    std::int32_t& here = longest_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j - i + band_ + 1)];
    if (i < n_ && j < m_) here = same(i, j) ? get(i + 1, j + 1) + 1 : std::max(get(i + 1, j), get(i, j + 1));
  }

  const std::vector<SourceRow>&before_, &after_;
  std::int64_t n_ = 0, m_ = 0, band_ = 0;
  std::vector<std::vector<std::int32_t>> longest_;
};

std::map<std::string_view, double> stalls_of(const std::vector<SourceRow>& rows) {
  std::map<std::string_view, double> out;
  for (const SourceRow& row : rows)
    for (const auto& [reason, cycles] : row.stalls) out[reason] += cycles;
  return out;
}

double total_of(const std::vector<SourceRow>& rows) {
  double sum = 0;
  for (const SourceRow& row : rows) sum += row.samples;
  return std::max(sum, 1.0);
}

std::string heads(const ListingSide& before, const ListingSide& after) {
  std::string out = fmt::format("{:<26} {:>16} {:>16} {:>9}\n", "", "before", "after", "change");
  const auto line = [&](std::string_view name, double a, double b) {
    out += fmt::format("{:<26} {:>16.6g} {:>16.6g} {:>+8.1f}%\n", name, a, b, a > 0 ? 100 * (b / a - 1) : 0.0);
  };
  const gpu::SimReport &a = before.run->report, &b = after.run->report;
  line("time us", a.time_us, b.time_us);
  line("cycles", a.cycles, b.cycles);
  line("warp instructions", before.run->cold.warp_instructions, after.run->cold.warp_instructions);
  line("instructions", static_cast<double>(before.rows.size()), static_cast<double>(after.rows.size()));
  line("registers per thread", a.registers_per_thread, b.registers_per_thread);
  line("shared wavefronts", before.run->cold.shared_wavefronts, after.run->cold.shared_wavefronts);
  line("L2 sectors", before.run->cold.l2_sectors, after.run->cold.l2_sectors);
  std::map<std::string_view, double> stalls = stalls_of(before.rows), others = stalls_of(after.rows);
  for (const auto& [reason, cycles] : others) stalls.try_emplace(reason, 0.0);
  for (const auto& [reason, cycles] : stalls) {
    const double now = others.contains(reason) ? others.at(reason) : 0;
    if (std::max(cycles, now) > 0.01 * total_of(before.rows)) line(fmt::format("warp cycles, {}", reason), cycles, now);
  }
  return out;
}

}  // namespace

std::vector<MovedLine> match_listings(const std::vector<SourceRow>& before, const std::vector<SourceRow>& after) {
  return Matcher(before, after).lines();
}

std::string compare_text(const ListingSide& before, const ListingSide& after, std::size_t most) {
  std::string out =
      fmt::format("before        {}\nafter         {}\n\n", before.name, after.name) + heads(before, after);
  std::vector<MovedLine> lines = match_listings(before.rows, after.rows);
  std::ranges::stable_sort(lines, std::greater{},
                           [](const MovedLine& line) { return std::abs(line.samples_after - line.samples_before); });
  lines.resize(std::min(lines.size(), most));
  out += "\nwhat moved most (warp cycles, share of all before)\n";
  const double total = total_of(before.rows);
  const auto text = [](const std::vector<SourceRow>& rows, std::int64_t at) {
    return at < 0 ? std::string("-")
                  : fmt::format("{:04x} {}", rows[static_cast<std::size_t>(at)].address,
                                rows[static_cast<std::size_t>(at)].sass);
  };
  for (const MovedLine& line : lines) {
    if (line.samples_before == line.samples_after) continue;
    out +=
        fmt::format("  {:>+7.2f} %  {:<44.44}  {:<44.44}\n", 100 * (line.samples_after - line.samples_before) / total,
                    text(before.rows, line.before), text(after.rows, line.after));
  }
  return out;
}

}  // namespace noteg::compiled
