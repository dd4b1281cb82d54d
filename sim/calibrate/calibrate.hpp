// Fits constants of one GPU to measured rows. Four shapes in five are fitted on, the fifth judges; which is decided by
// a hash of the shape. A constant that no row depends on stays as it was.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "sim/validate/measured_file.hpp"
#include "sim/validate/metrics.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::calibrate {

struct Request {
  std::vector<std::string> constants;  // keys of fittable fields, "arch." may lead; empty: the default ones
  unsigned jobs = 1;
  validate::Chooser chooser = {};  // of rows that record no kernel, asked once; empty: they are left out
};

// The fittable keys of the field table.
[[nodiscard]] std::vector<std::string> fittable_keys();

// What is fitted where no constants are named: those that the file has fitted already, then, as far as a file may have
// fitted numbers, clock.sustained, power.idle and sm.energy.fma.
[[nodiscard]] std::vector<std::string> default_keys(const arch::SourcedGpu& gpu);

struct Constant {
  std::string key;
  double before = 0, after = 0;  // in base units
  bool moved = false;            // false: no row depends on it
};

struct Errors {
  std::optional<validate::Metrics> time, power, energy;  // absent where no row has the measurement
  std::size_t rows = 0;
};

struct Calibration {
  std::vector<Constant> constants;
  std::size_t fitted_rows = 0, held_out_rows = 0, other_rows = 0;  // other: another GPU's
  std::map<std::string, std::size_t> skipped;  // rows of this GPU that cannot be expressed, by reason
  Errors before, after;                        // on the held-out rows
  Errors fitted_before, fitted_after;          // on the rows that were fitted on
  arch::SourcedGpu gpu;                        // with the constants and their marks
};

// Rows belong to the GPU where their gpu column is one of its names or its id.
// Errors: constants that are unknown, not fittable, named twice or together with the file's other fitted numbers more
// than a GPU may have; no rows, too few, none held out; no constant that a row depends on.
[[nodiscard]] Result<Calibration> calibrate(const arch::SourcedGpu& gpu, const validate::MeasuredData& data,
                                            const Request& request, const validate::Simulator& simulator);

}  // namespace noteg::calibrate
