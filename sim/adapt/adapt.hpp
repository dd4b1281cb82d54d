// From few measured rows of a card to a better model of it. First the constants of its file that the rows can tell,
// with what is known of them beforehand; then a model of what is left: half a Gaussian process, half a forest, both
// believed as far as whole shapes held out confirm them. At worst nothing is believed, and the simulator stays as it
// is.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "sim/learn/model.hpp"
#include "sim/validate/measured_file.hpp"
#include "sim/validate/validate.hpp"

namespace noteg::adapt {

struct Request {
  unsigned jobs = 1;
  std::size_t rows = 0;  // taken at random of those there are; 0: all
  std::uint64_t seed = 1;
  bool constants = true;                      // may constants of the file move?
  std::string name;                           // of the file to be written, without its ending: the model answers for it
  validate::Chooser chooser;                  // of rows that record no kernel
  std::optional<dataset::Table> others = {};  // rows of other GPUs beside their simulations: what GPUs share
  std::function<void(const std::string&)> tell = {};  // what is being done
};

struct Constant {
  std::string key, unit;
  double before = 0, after = 0;     // in base units
  double prior = 0, deviation = 0;  // of its logarithm: before the rows were known, and after
  bool moved = false;
};

struct Adaptation {
  arch::SourcedGpu gpu;
  learn::Model model;
  std::vector<Constant> constants;
  bool constants_helped = false;  // were held-out shapes told better with other constants?
  std::size_t rows = 0, shapes = 0, hidden = 0, other_gpus = 0;  // hidden: behind the host's dispatch
  std::vector<std::pair<std::string, std::size_t>> skipped;
  double simulator = 0, adapted = 0;  // mean |predicted / measured - 1| of the run times, whole shapes held out
  double process_share = 0, forest_share = 0;  // how far each half is believed
  bool others = false;                         // is what other GPUs have in common in the process?
};

// Rows belong to the GPU where their gpu column is one of its names or its id. Errors: of measured_table(); fewer than
// four rows with a time that the GPU itself took.
[[nodiscard]] Result<Adaptation> adapt(const arch::SourcedGpu& gpu, const validate::MeasuredData& data,
                                       const Request& request, const validate::Simulator& simulator);

}  // namespace noteg::adapt
