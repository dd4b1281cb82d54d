// The constants of a fit: which fields they are, their bounds, and how a spec gets new values.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "arch/field.hpp"
#include "arch/load.hpp"
#include "sim/calibrate/least_squares.hpp"

namespace noteg::calibrate {

using Fields = std::vector<const arch::Field*>;

// Errors: see calibrate().
[[nodiscard]] Result<Fields> chosen_fields(const arch::SourcedGpu& gpu, const std::vector<std::string>& names);

[[nodiscard]] Eigen::VectorXd values_of(const arch::GpuSpec& gpu, const Fields& constants);

// A factor of four either way, within the fields' ranges: a fit that wants more is about something else.
[[nodiscard]] Box box_of(const Eigen::VectorXd& values, const Fields& constants);

// nullopt: the values break a rule between fields.
[[nodiscard]] std::optional<arch::GpuSpec> with_values(const arch::GpuSpec& gpu, const Fields& constants,
                                                       const Eigen::VectorXd& values);

// How uncertain a constant is before a row of its board was seen: deviation of its logarithm.
[[nodiscard]] double uncertainty_of(const arch::Field& field);

}  // namespace noteg::calibrate
