#include "sim/learn/why.hpp"

#include <cmath>
#include <numeric>

#include "sim/forest/explain.hpp"
#include "sim/forest/predictor.hpp"
#include "sim/learn/problem.hpp"

namespace noteg::learn {
namespace {

// The first prefix that fits says what a feature is about.
struct Prefix {
  std::string_view text;
  std::size_t group;
};
constexpr std::size_t problem = 0, tile = 1, compute = 2, waves = 3, dram = 4, power = 5, other = 6;
constexpr std::array prefixes{Prefix{"kernel.grid", waves},
                              Prefix{"kernel.split_k", waves},
                              Prefix{"kernel.m", problem},
                              Prefix{"kernel.n", problem},
                              Prefix{"kernel.k", problem},
                              Prefix{"kernel.batch", problem},
                              Prefix{"kernel.layout", problem},
                              Prefix{"kernel.dtype", problem},
                              Prefix{"kernel.", tile},
                              Prefix{"physics.ctas", waves},
                              Prefix{"physics.warps", waves},
                              Prefix{"physics.wave", waves},
                              Prefix{"physics.useful", tile},
                              Prefix{"physics.trips", tile},
                              Prefix{"physics.iterations", tile},
                              Prefix{"physics.shared", tile},
                              Prefix{"physics.arithmetic", dram},
                              Prefix{"physics.l2", dram},
                              Prefix{"physics.dram", dram},
                              Prefix{"physics.clock", power},
                              Prefix{"physics.power", power},
                              Prefix{"physics.energy", power},
                              Prefix{"physics.", compute},
                              Prefix{"arch.sms", waves},
                              Prefix{"arch.sm.occupancy", waves},
                              Prefix{"arch.sm.cta", waves},
                              Prefix{"arch.launch", waves},
                              Prefix{"arch.l2", dram},
                              Prefix{"arch.dram", dram},
                              Prefix{"arch.clock", power},
                              Prefix{"arch.power", power},
                              Prefix{"arch.sm.energy", power},
                              Prefix{"arch.sm.", compute},
                              Prefix{"occupancy", waves},
                              Prefix{"memory.dram", dram},
                              Prefix{"memory.l2", dram},
                              Prefix{"pipes.", compute},
                              Prefix{"instructions", compute},
                              Prefix{"power", power},
                              Prefix{"energy", power},
                              Prefix{"sm_clock", power}};

}  // namespace

std::size_t physics_group(std::string_view feature) {
  for (const Prefix& prefix : prefixes)
    if (feature.starts_with(prefix.text)) return prefix.group;
  return other;
}

double Why::value() const {
  const double sum = std::accumulate(parts.begin(), parts.end(), base);
  return log ? std::exp(sum) : sum;
}

Result<std::vector<Why>> why(const Model& model, const dataset::Table& row) {
  const Result<Eigen::MatrixXd> x = feature_matrix(row, model.features);
  if (!x) return x.errors();
  std::vector<std::size_t> group_of;
  for (const Feature& feature : model.features) group_of.push_back(physics_group(feature.column.name));
  std::vector<Why> all;
  for (const Part& part : model.parts) {
    const Result<Eigen::MatrixXd> offset = anchor_offsets(row, part.targets);
    if (!offset) return offset.errors();
    std::vector<std::uint8_t> bins;
    for (std::size_t f = 0; f < model.features.size(); ++f)
      bins.push_back(part.forest.features[f].bin_of((*x)(0, static_cast<Eigen::Index>(f))));
    const forest::Explanation found = forest::explain(part.forest, bins, group_of, physics_groups.size());
    for (std::size_t t = 0; t < part.targets.size(); ++t) {
      const Target& target = part.targets[t];
      Why& one = all.emplace_back(Why{target.name, target.log, target.shrink * found.base[t], target.anchor, {}});
      if (target.log) one.base += std::log(target.smearing) + (*offset)(0, static_cast<Eigen::Index>(t));
      for (const std::vector<double>& values : found.parts) one.parts.push_back(target.shrink * values[t]);
    }
    for (const GaussianProcess& base : part.base) {  // what was measured near by; such a part has one target
      const Result<Places> places = places_of(row, base.coordinates);
      if (!places) return places.errors();
      all.back().parts[other] += base.mean(*places)[0];
    }
  }
  return all;
}

}  // namespace noteg::learn
