#include "sim/calibrate/constants.hpp"

#include <algorithm>
#include <cmath>

#include "arch/provenance.hpp"
#include "arch/validate.hpp"
#include "sim/calibrate/calibrate.hpp"
#include "sim/support/nearest_name.hpp"

namespace noteg::calibrate {
namespace {

constexpr double widest = 4;  // factor from the start value

Diagnostic wrong_constant(const std::string& expected, const std::string& found) {
  return {"", 0, 0, "--set", expected, found};
}

std::string without_prefix(const std::string& name) { return name.starts_with("arch.") ? name.substr(5) : name; }

// Fitted numbers of the GPU's own file.
Fields fitted_fields(const arch::SourcedGpu& gpu) {
  Fields fitted;
  for (std::size_t i = 0; i < arch::fields().size(); ++i)
    if (gpu.provenance[i].file == gpu.gpu.file && !gpu.provenance[i].fitted.empty())
      fitted.push_back(&arch::fields()[i]);
  return fitted;
}

// A file keeps what it has fitted unless that is fitted anew.
std::optional<Diagnostic> too_many(const arch::SourcedGpu& gpu, const Fields& constants) {
  std::string kept;
  std::size_t count = constants.size();
  for (const arch::Field* field : fitted_fields(gpu)) {
    if (std::ranges::find(constants, field) != constants.end()) continue;
    kept += (kept.empty() ? "" : ", ") + std::string(field->key);
    ++count;
  }
  if (count <= arch::max_fitted_per_gpu) return std::nullopt;
  return wrong_constant(
      "at most " + std::to_string(arch::max_fitted_per_gpu) + " fitted numbers in a file, those among them that it has",
      std::to_string(constants.size()) + " beside " + (kept.empty() ? "none" : kept) + " of " + gpu.gpu.id);
}

}  // namespace

std::vector<std::string> fittable_keys() {
  std::vector<std::string> keys;
  for (const arch::Field& field : arch::fields())
    if (field.fittable) keys.emplace_back(field.key);
  return keys;
}

std::vector<std::string> default_keys(const arch::SourcedGpu& gpu) {
  std::vector<std::string> keys;
  for (const arch::Field* field : fitted_fields(gpu))
    if (field->fittable) keys.emplace_back(field->key);
  for (const char* key : {"clock.sustained", "power.idle", "sm.energy.fma"})
    if (keys.size() < arch::max_fitted_per_gpu && std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
  return keys;
}

Result<Fields> chosen_fields(const arch::SourcedGpu& gpu, const std::vector<std::string>& names) {
  Fields constants;
  Diagnostics errors;
  for (const std::string& name : names) {
    const std::optional<std::size_t> index = arch::find_field(without_prefix(name));
    const arch::Field* field = index ? &arch::fields()[*index] : nullptr;
    if (field == nullptr || !field->fittable) {
      const std::string what = field == nullptr ? "" : " (a fact of the product, not a constant to fit)";
      const std::vector<std::string> near = nearest_names(without_prefix(name), fittable_keys(), 2);
      const std::string hint = near.empty() || field != nullptr ? what : " (did you mean " + join_or(near) + "?)";
      errors.push_back(
          wrong_constant("a constant that may be fitted: " + join_or(fittable_keys()), "\"" + name + "\"" + hint));
    } else if (std::ranges::find(constants, field) != constants.end()) {
      errors.push_back(wrong_constant("each constant once", "\"" + name + "\" twice"));
    } else if (std::get<double>(field->get(gpu.gpu)) == 0) {
      errors.push_back(wrong_constant("a constant whose start value is not 0", "\"" + name + "\" of 0"));
    } else {
      constants.push_back(field);
    }
  }
  if (const std::optional<Diagnostic> error = too_many(gpu, constants)) errors.push_back(*error);
  if (!errors.empty()) return errors;
  return constants;
}

// The first three as in sim/adapt. Energies and watts of the boards here that were fitted lie a quarter apart from
// those that siblings would have given them.
double uncertainty_of(const arch::Field& field) {
  if (field.key == "clock.sustained") return 0.05;
  if (field.key == "dram.read_efficiency" || field.key == "dram.mixed_efficiency") return 0.04;
  if (field.key == "power.voltage_floor" || field.key == "power.floor_clock") return 0.1;
  return 0.25;
}

Eigen::VectorXd values_of(const arch::GpuSpec& gpu, const Fields& constants) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(constants.size()));
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values[i] = std::get<double>(constants[static_cast<std::size_t>(i)]->get(gpu));
  return values;
}

Box box_of(const Eigen::VectorXd& values, const Fields& constants) {
  Box box{values / widest, values * widest};
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const arch::Field& field = *constants[static_cast<std::size_t>(i)];
    box.low[i] = std::max(box.low[i], field.low);
    box.high[i] = std::min(box.high[i], field.high);
  }
  return box;
}

std::optional<arch::GpuSpec> with_values(const arch::GpuSpec& gpu, const Fields& constants,
                                         const Eigen::VectorXd& values) {
  arch::GpuSpec changed = gpu;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    constants[static_cast<std::size_t>(i)]->set(changed, arch::Value{values[i]});
  const bool valid = std::ranges::all_of(arch::rules(), [&](const arch::Rule& rule) { return rule.holds(changed); });
  return valid ? std::optional(changed) : std::nullopt;
}

}  // namespace noteg::calibrate
