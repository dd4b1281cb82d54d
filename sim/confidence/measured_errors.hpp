// How far the model was off on measured runs, and from that how far it may be off on another run. A run has a place:
// logarithms of its time, waves, iterations, tile, stages and so on. The nearer a measured run, the more its error
// says; the farther even the nearest of them, the wider the spread:
//   w_i = exp(-fading * distance to i)
//   spread^2 = sum(w_i error_i^2) / sum(w_i) + (growth * distance to the nearest)^2     for errors up and down apart
// A conformal factor, one for each way in which measured runs can be missing, makes an interval of the spread: it was
// chosen so that the stated share of the runs left out in that way lay inside (sim/validate/error_table.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config/config.hpp"
#include "sim/support/result.hpp"

namespace noteg::gpu {

// Shares of the measured times that intervals are to hold.
inline constexpr std::array<double, 3> interval_shares{0.5, 0.8, 0.9};

// What the error of a run may depend on.
struct Situation {
  std::string gpu, generation;  // l4, sm_89
  kernels::Family family = kernels::Family::simt;
  kernels::Tile tile;
  int stages = 1;
  double operand_bytes = 4;  // of an element of A
  int slices = 1;            // of K
  bool chosen = false;       // the model chose the kernel, nobody named it
  double time_us = 1, waves = 1, iterations = 1;
  double clock_share = 1;  // of the boost clock that the power limit left; 1 where it took nothing

  [[nodiscard]] bool same_kernel(const Situation& other) const;
};

struct MeasuredError {
  Situation at;
  std::string source;  // the collection of measurements
  double error = 0;    // log(measured / predicted)
};

// The nearest of the measured runs that are there.
enum class Evidence : std::uint8_t {
  kernel,     // of this kernel on this GPU
  family,     // of this family on this GPU
  other_gpu,  // of this family on other GPUs
  nothing,    // of other families
};
inline constexpr std::size_t evidence_count = 4;

struct Spread {
  double down = 0, up = 0;  // of log(measured / predicted), below and above 0
  double distance = 0;      // to the nearest
  Evidence evidence = Evidence::nothing;
};

// Per evidence and share: by what the spread is multiplied.
using ConformalFactors = std::array<std::array<double, interval_shares.size()>, evidence_count>;

// What cross-validation found for one way of leaving measured runs out.
struct Coverage {
  std::string left_out;  // shape, kernel, family or gpu
  std::string of;        // a GPU, or "all"
  int rows = 0;
  std::array<double, interval_shares.size()> held{};  // share of the rows inside
  double mean_over_groups = 0;                        // of the widest interval, each group left out counting alike
  double half_width = 0;                              // typical one, of the widest interval: 0.1 is 10 %
};

class MeasuredErrors {
 public:
  MeasuredErrors() = default;
  explicit MeasuredErrors(std::vector<MeasuredError> rows);

  [[nodiscard]] const std::vector<MeasuredError>& rows() const { return rows_; }

  // left_out: rows that do not count, parallel to rows(); empty: all count. Nothing where no row counts.
  [[nodiscard]] std::optional<Spread> spread(const Situation& at, const std::vector<bool>& left_out = {}) const;

  // Distances of all rows to a place.
  [[nodiscard]] std::vector<double> distances(const Situation& at) const;

 private:
  static constexpr std::size_t axes = 8;
  using Place = std::array<double, axes>;
  [[nodiscard]] static Place place_of(const Situation& at);
  [[nodiscard]] double distance(const Situation& at, const Place& place, std::size_t row) const;

  std::vector<MeasuredError> rows_;
  std::vector<Place> places_;
};

struct ErrorTable {
  MeasuredErrors errors;
  ConformalFactors factors{};
  std::vector<Coverage> coverage;
};

// The table as a file: CSV whose first column says what a line is. Reading it back gives the same intervals.
[[nodiscard]] std::string to_text(const ErrorTable& table);
[[nodiscard]] Result<ErrorTable> read_error_table(std::string_view text);

// The one that the program was built with: sim/confidence/measured_errors.csv.
[[nodiscard]] const ErrorTable& shipped_errors();

}  // namespace noteg::gpu
