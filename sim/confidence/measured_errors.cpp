#include "sim/confidence/measured_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

#include "sim/support/arithmetic.hpp"
#include "sim/support/text.hpp"

namespace noteg::embedded {

extern const unsigned char measured_errors_csv[];
extern const std::size_t measured_errors_csv_size;

}  // namespace noteg::embedded

namespace noteg::gpu {
namespace {

// What a difference costs in distance: an octave of a quantity, or another thing altogether. Judgements, as is the
// growth; the conformal factors make up for what they miss. Boards that the power limit holds to a third of their
// clock err unlike any other.
constexpr double octave = 0.5, byte_octave = 1, clock_octave = 2, another_thing = 1;
constexpr double growth = 0.05;
// By how many powers of e a measured row counts less for a unit of distance. With 1 the thousands of rows of other
// machines outweigh the fifty near ones: RTX 4070 kept 98 % in its 90 % interval and L4 77; with 2 they keep 93 and 87.
constexpr double fading = 2;
// Of what errors of the other direction say of this one.
constexpr double shared = 0.125;
// No kernel is known better than this.
constexpr double finest = 0.01;

Evidence evidence_of(const Situation& asked, const Situation& measured) {
  if (measured.family != asked.family) return Evidence::nothing;
  if (measured.gpu != asked.gpu) return Evidence::other_gpu;
  return measured.same_kernel(asked) ? Evidence::kernel : Evidence::family;
}

}  // namespace

bool Situation::same_kernel(const Situation& other) const {
  const auto key = [](const Situation& s) {
    return std::tuple(s.family, s.tile.m, s.tile.n, s.tile.k, s.stages, s.operand_bytes);
  };
  return key(*this) == key(other);
}

MeasuredErrors::MeasuredErrors(std::vector<MeasuredError> rows) : rows_(std::move(rows)) {
  for (const MeasuredError& row : rows_) places_.push_back(place_of(row.at));
}

MeasuredErrors::Place MeasuredErrors::place_of(const Situation& at) {
  const double least = 1e-9;  // of any quantity: no logarithm of nothing
  const auto octaves = [least](double value) { return portable::log2(std::max(value, least)); };
  return {octave * octaves(at.time_us),
          octave * octaves(at.waves),
          octave * octaves(at.iterations),
          octave * octaves(static_cast<double>(at.tile.m) * at.tile.n),
          octave * octaves(at.stages),
          octave * octaves(at.slices),
          byte_octave * octaves(at.operand_bytes),
          clock_octave * octaves(at.clock_share)};
}

double MeasuredErrors::distance(const Situation& at, const Place& place, std::size_t row) const {
  const Situation& other = rows_[row].at;
  double sum = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) sum += std::abs(place[axis] - places_[row][axis]);
  for (const bool differs :
       {at.gpu != other.gpu, at.generation != other.generation, at.family != other.family, at.chosen != other.chosen})
    sum += differs ? another_thing : 0;
  return sum;
}

std::vector<double> MeasuredErrors::distances(const Situation& at) const {
  const Place place = place_of(at);
  std::vector<double> all(rows_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = distance(at, place, i);
  return all;
}

std::optional<Spread> MeasuredErrors::spread(const Situation& at, const std::vector<bool>& left_out) const {
  const std::vector<double> far = distances(at);
  const auto counts = [&](std::size_t i) { return left_out.empty() || !left_out[i]; };
  Spread out;
  out.distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (!counts(i)) continue;
    out.distance = std::min(out.distance, far[i]);
    out.evidence = std::min(out.evidence, evidence_of(at, rows_[i].at));
  }
  if (std::isinf(out.distance)) return std::nullopt;
  double weights = 0, up = 0, down = 0;
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (!counts(i)) continue;
    const double weight = portable::exp(fading * (out.distance - far[i])), error = rows_[i].error;
    weights += weight;
    (error > 0 ? up : down) += weight * error * error;
  }
  const double rest = finest * finest + growth * growth * out.distance * out.distance;
  const auto side = [&](double own, double other) {
    return std::sqrt(((1 - shared) * own + shared * other) / weights + rest);
  };
  out.up = side(up, down);
  out.down = side(down, up);
  return out;
}

namespace {

constexpr std::array<std::string_view, evidence_count> evidence_names{"kernel", "family", "other_gpu", "nothing"};

constexpr std::string_view head =
    "# Errors of the model on measured runs, and what intervals were made of them. Made by `./dev confidence`; do not\n"
    "# edit. factor: evidence, then factors of the spread for 50, 80 and 90 %. coverage: what was left out, of which\n"
    "# GPU, rows, shares inside, mean over groups of the last, its typical half width. kernel: source, GPU, "
    "generation,\n"
    "# family, tile, stages, bytes of an operand, whether the model chose it. Below it a line per run: time in us, "
    "waves,\n"
    "# iterations, slices of K, share of the boost clock, log(measured / predicted).\n";

std::string kernel_line(const MeasuredError& row) {
  const Situation& s = row.at;
  return fmt::format("kernel,{},{},{},{},{}x{}x{},{},{},{}\n", row.source, s.gpu, s.generation, name_of(s.family),
                     s.tile.m, s.tile.n, s.tile.k, s.stages, s.operand_bytes, s.chosen ? 1 : 0);
}

// One line of the file, field by field; `good` falls when one is not what it should be.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  std::string_view text() {
    const std::size_t comma = rest_.find(',');
    const std::string_view field = rest_.substr(0, comma);
    rest_.remove_prefix(comma == std::string_view::npos ? rest_.size() : comma + 1);
    return field;
  }
  double number() {
    const std::optional<double> value = parse_number(text());
    good = good && value.has_value();
    return value.value_or(0);
  }
  int whole() { return static_cast<int>(number()); }

  bool good = true;

 private:
  std::string_view rest_;
};

MeasuredError read_kernel(LineReader& line) {
  MeasuredError row;
  row.source = line.text();
  row.at.gpu = line.text();
  row.at.generation = line.text();
  const std::optional<kernels::Family> family = kernels::family_from(line.text());
  const std::optional<kernels::GemmShape> tile = kernels::shape_from(line.text());
  line.good = line.good && family && tile;
  if (!line.good) return row;
  row.at.family = *family;
  row.at.tile = {static_cast<int>(tile->m), static_cast<int>(tile->n), static_cast<int>(tile->k)};
  row.at.stages = line.whole();
  row.at.operand_bytes = line.number();
  row.at.chosen = line.whole() != 0;
  return row;
}

MeasuredError read_run(LineReader& line, MeasuredError row) {
  row.at.time_us = line.number();
  row.at.waves = line.number();
  row.at.iterations = line.number();
  row.at.slices = line.whole();
  row.at.clock_share = line.number();
  row.error = line.number();
  return row;
}

Coverage read_coverage(LineReader& line) {
  Coverage coverage;
  coverage.left_out = line.text();
  coverage.of = line.text();
  coverage.rows = line.whole();
  for (double& held : coverage.held) held = line.number();
  coverage.mean_over_groups = line.number();
  coverage.half_width = line.number();
  return coverage;
}

}  // namespace

std::string to_text(const ErrorTable& table) {
  std::string text(head);
  for (std::size_t e = 0; e < evidence_count; ++e)
    text += fmt::format("factor,{},{:.4g}\n", evidence_names[e], fmt::join(table.factors[e], ","));
  for (const Coverage& c : table.coverage)
    text += fmt::format("coverage,{},{},{},{:.4f},{:.4f},{:.4f}\n", c.left_out, c.of, c.rows, fmt::join(c.held, ","),
                        c.mean_over_groups, c.half_width);
  std::string kernel;
  for (const MeasuredError& row : table.errors.rows()) {
    if (std::string line = kernel_line(row); line != kernel) text += kernel = std::move(line);
    const Situation& s = row.at;
    text += fmt::format("{:.4g},{:.3g},{:.4g},{},{:.3g},{:.3f}\n", s.time_us, s.waves, s.iterations, s.slices,
                        s.clock_share, row.error);
  }
  return text;
}

Result<ErrorTable> read_error_table(std::string_view text) {
  ErrorTable table;
  std::vector<MeasuredError> rows;
  MeasuredError kernel;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    if (whole.empty() || whole.starts_with('#')) continue;
    LineReader line(whole);
    const std::string_view kind = whole.substr(0, whole.find(','));
    if (kind == "kernel") {
      line.text();
      kernel = read_kernel(line);
    } else if (kind == "coverage") {
      line.text();
      table.coverage.push_back(read_coverage(line));
    } else if (kind == "factor") {
      line.text();
      const auto evidence = std::ranges::find(evidence_names, line.text());
      line.good = evidence != evidence_names.end();
      for (std::size_t share = 0; line.good && share < interval_shares.size(); ++share)
        table.factors[static_cast<std::size_t>(evidence - evidence_names.begin())][share] = line.number();
    } else {
      rows.push_back(read_run(line, kernel));
    }
    if (!line.good)
      return Diagnostic{
          "", number, 1, "measured errors", "a line as described at the top", std::string(whole.substr(0, 80))};
  }
  table.errors = MeasuredErrors(std::move(rows));
  return table;
}

const ErrorTable& shipped_errors() {
  static const ErrorTable table = [] {
    const auto* bytes = reinterpret_cast<const char*>(embedded::measured_errors_csv);  // bytes of a text file
    Result<ErrorTable> read = read_error_table({bytes, embedded::measured_errors_csv_size});
    assert(read);
    return read ? std::move(*read) : ErrorTable{};
  }();
  return table;
}

}  // namespace noteg::gpu
