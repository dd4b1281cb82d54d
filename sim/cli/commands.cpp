#include "sim/cli/command.hpp"

namespace noteg::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"simulate", "one kernel on one GPU", simulate_help, run_simulate, simulate_options},
      {"compare", "one kernel on several GPUs side by side, or under several power limits", compare_help, run_compare,
       compare_options},
      {"tune", "the best kernel configurations for a problem", tune_help, run_tune, tune_options},
      {"workload", "a whole model, or a list of operations, on one or several GPUs", workload_help, run_workload,
       workload_options},
      {"validate", "the simulator against real measurements", validate_help, run_validate, validate_options},
      {"calibrate", "constants of a GPU fitted to real measurements", calibrate_help, run_calibrate, calibrate_options},
      {"adapt", "few measured rows of a card into a better model of it", adapt_help, run_adapt, adapt_options},
      {"generate", "a data set of simulated runs from a sweep", generate_help, run_generate, generate_options},
      {"dataset",
       "what a data set holds, as CSV, put together from shards",
       dataset_help,
       run_dataset,
       dataset_options,
       {"info", "describe", "export", "merge"}},
      {"train", "a forest from a data set, or from measured rows beside simulations", train_help, run_train,
       train_options},
      {"predict", "what a trained model says, with intervals", predict_help, run_predict, predict_options},
      {"export", "a model as binary, JSON, ONNX, C++ header, C or shared library", export_help, run_export,
       export_options},
      {"serve", "answers requests, a line of JSON each, with caches kept", serve_help, run_serve, serve_options},
      {"arch",
       "the GPUs known, their numbers and sources, mistakes of a file",
       arch_help,
       run_arch,
       arch_options,
       {"list", "show", "check", "schema", "new", "scale"}},
      {"kernel",
       "the instruction list of a kernel, its dependences as a graph",
       kernel_help,
       run_kernel,
       kernel_command_options,
       {"show", "graph"}},
  };
  return all;
}

}  // namespace noteg::cli
