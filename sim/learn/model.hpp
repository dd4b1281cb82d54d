// A trained model: which columns it asks for, what it tells, and the forests in between. Knows tables, not simulators.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/dataset/table.hpp"
#include "sim/forest/forest.hpp"
#include "sim/learn/gaussian_process.hpp"

namespace noteg::learn {

enum class ModelKind : std::uint8_t {
  direct,    // from what is known before a simulation to run time, power ...
  residual,  // from a simulation to measured over simulated time and power
};

// Intervals are told for these shares of the true values.
inline constexpr std::array<double, 3> interval_levels{0.8, 0.9, 0.95};

struct Feature {
  dataset::Column column;
  forest::FeatureKind kind = forest::FeatureKind::number;
  std::vector<std::string> categories;  // code c is categories[c]
  double low = 0, high = 0;             // of the numbers seen; low > high: none
};

// What the trees were fitted to is log(target / anchor), or the target itself where it is not positive throughout.
struct Target {
  using Factors = std::array<double, 3>;  // per level: quantiles are moved away from the prediction by these

  std::string name, unit;
  bool log = true;
  std::string anchor;   // a column that the target is told in units of; empty: 1
  double shrink = 1;    // share of the forest's mean that is believed: few rows are believed less
  double smearing = 1;  // mean of exp(true - fitted): takes the bias out of exp(mean of logs)
  Factors widen{1, 1, 1};
  std::map<std::string, Factors> widen_of;  // of kinds of runs (kinds_of) that were many enough to have their own
  std::optional<Factors> widen_new_gpu;     // the same for a GPU not trained on; absent: nobody knows

  [[nodiscard]] const Factors& factors(const std::string& kind, bool new_gpu) const {
    if (new_gpu && widen_new_gpu) return *widen_new_gpu;
    const auto own = widen_of.find(kind);
    return own == widen_of.end() ? widen : own->second;
  }
};

// Targets known for the same rows, in one forest.
struct Part {
  std::vector<Target> targets;
  forest::Forest forest;
  std::vector<std::uint8_t> training_bins;  // row-major
  std::vector<GaussianProcess> base;        // of a part with one target: what is added to the forest's mean
  double usual_distance = 0;                // that 99 % of the training rows keep: sim/forest/domain.hpp
};

struct Fingerprint {  // of the training data
  std::string files;
  std::size_t rows = 0;
  std::string hash;               // FNV-1a of every feature and target, 16 hexadecimal digits
  std::vector<std::string> gpus;  // by name; empty: not told
};

struct Model {
  ModelKind kind = ModelKind::direct;
  std::vector<Feature> features;
  std::vector<Feature> constants;  // of config: the same in every training row, so that no tree asks for them
  std::vector<Part> parts;
  Fingerprint trained_on;
  std::string metrics = "{}";  // a JSON object: what validation found

  [[nodiscard]] const Target* find_target(const std::string& name) const {
    for (const Part& part : parts)
      for (const Target& target : part.targets)
        if (target.name == name) return &target;
    return nullptr;
  }
};

}  // namespace noteg::learn
