#include "sim/cli/command.hpp"

namespace noteg::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"simulate", "one kernel on one GPU", simulate_help, run_simulate},
      {"compare", "one kernel on several GPUs side by side, or under several power limits", compare_help, run_compare},
      {"tune", "the best kernel configurations for a problem", tune_help, run_tune},
      {"validate", "the simulator against real measurements", validate_help, run_validate},
      {"calibrate", "constants of a GPU fitted to real measurements", calibrate_help, run_calibrate},
      {"generate", "a data set of simulated runs from a sweep", generate_help, run_generate},
      {"dataset", "what a data set holds, as CSV, put together from shards", dataset_help, run_dataset},
      {"train", "a forest from a data set, or from measured rows beside simulations", train_help, run_train},
      {"predict", "what a trained model says, with intervals", predict_help, run_predict},
      {"arch", "the GPUs known, their numbers and sources, mistakes of a file", arch_help, run_arch},
      {"kernel", "the instruction list of a kernel", kernel_help, run_kernel},
  };
  return all;
}

}  // namespace noteg::cli
