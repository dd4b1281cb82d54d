// What every command of the program is: a name, its help, and a function from words to an exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/options.hpp"
#include "sim/serve/service.hpp"
#include "sim/support/result.hpp"

namespace noteg::serve {
class Session;
}

namespace noteg::cli {

// Exit statuses: what the user can rely on in scripts.
inline constexpr int done = 0;
inline constexpr int failed = 1;       // the run failed
inline constexpr int wrong_input = 2;  // the user's input is wrong

struct Command {
  std::string_view name;
  std::string_view summary;  // one line of `noteg --help`
  std::string (*help)();
  int (*run)(const std::vector<std::string>& words);  // without the program's and the command's name
  std::vector<Option> (*options)();                   // of all its actions
  std::vector<std::string> actions = {};              // what may follow the command's name: list, show ...
};

[[nodiscard]] const std::vector<Command>& commands();

[[nodiscard]] int run_simulate(const std::vector<std::string>& words);
[[nodiscard]] int run_compare(const std::vector<std::string>& words);
[[nodiscard]] int run_tune(const std::vector<std::string>& words);
[[nodiscard]] int run_workload(const std::vector<std::string>& words);
[[nodiscard]] int run_validate(const std::vector<std::string>& words);
[[nodiscard]] int run_calibrate(const std::vector<std::string>& words);
[[nodiscard]] int run_adapt(const std::vector<std::string>& words);
[[nodiscard]] int run_generate(const std::vector<std::string>& words);
[[nodiscard]] int run_dataset(const std::vector<std::string>& words);
[[nodiscard]] int run_train(const std::vector<std::string>& words);
[[nodiscard]] int run_predict(const std::vector<std::string>& words);
[[nodiscard]] int run_export(const std::vector<std::string>& words);
[[nodiscard]] int run_serve(const std::vector<std::string>& words);
[[nodiscard]] int run_arch(const std::vector<std::string>& words);
[[nodiscard]] int run_kernel(const std::vector<std::string>& words);
// The same with what a process remembers between requests (noteg serve).
[[nodiscard]] int run_simulate(const std::vector<std::string>& words, serve::Session& session);
[[nodiscard]] int run_predict(const std::vector<std::string>& words, serve::Session& session);
[[nodiscard]] int run_workload(const std::vector<std::string>& words, serve::Session& session);
[[nodiscard]] std::string simulate_help();
[[nodiscard]] std::vector<Option> simulate_options();
[[nodiscard]] std::string compare_help();
[[nodiscard]] std::vector<Option> compare_options();
[[nodiscard]] std::string tune_help();
[[nodiscard]] std::vector<Option> tune_options();
[[nodiscard]] std::string workload_help();
[[nodiscard]] std::vector<Option> workload_options();
[[nodiscard]] std::string validate_help();
[[nodiscard]] std::vector<Option> validate_options();
[[nodiscard]] std::string calibrate_help();
[[nodiscard]] std::vector<Option> calibrate_options();
[[nodiscard]] std::string adapt_help();
[[nodiscard]] std::vector<Option> adapt_options();
[[nodiscard]] std::string generate_help();
[[nodiscard]] std::vector<Option> generate_options();
[[nodiscard]] std::string dataset_help();
[[nodiscard]] std::vector<Option> dataset_options();
[[nodiscard]] std::string train_help();
[[nodiscard]] std::vector<Option> train_options();
[[nodiscard]] std::string predict_help();
[[nodiscard]] std::vector<Option> predict_options();
[[nodiscard]] std::string export_help();
[[nodiscard]] std::vector<Option> export_options();
[[nodiscard]] std::string serve_help();
[[nodiscard]] std::vector<Option> serve_options();
[[nodiscard]] std::string arch_help();
[[nodiscard]] std::vector<Option> arch_options();
[[nodiscard]] std::string kernel_help();
[[nodiscard]] std::vector<Option> kernel_command_options();

// noteg serve, and what else answers requests with commands: the C interface, the Python module.

// Runs simulate, compare, tune, predict and workload as the command line would, with --format json and one thread where
// the request says nothing of them; what would write a file is refused. Copies share what they remember.
[[nodiscard]] serve::Runner request_runner();

}  // namespace noteg::cli
