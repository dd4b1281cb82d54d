// noteg generate: a sweep into a data set.
#include <fmt/format.h>

#include <chrono>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/dataset/generate.hpp"
#include "sim/dataset/store.hpp"
#include "sim/support/text.hpp"

namespace noteg::cli {
namespace {

dataset::Shard shard_option(const Arguments& arguments, Diagnostics& errors) {
  const std::optional<std::string> text = arguments.text("shard");
  if (!text) return {};
  const std::size_t slash = text->find('/');
  if (slash != std::string::npos) {
    const auto index = parse_integer(text->substr(0, slash)), count = parse_integer(text->substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count && *count <= 1'000'000)
      return {static_cast<std::size_t>(*index), static_cast<std::size_t>(*count)};
  }
  errors.push_back({"", 0, 0, "--shard", "I/N such as 3/16, from 1/N to N/N", "\"" + *text + "\""});
  return {};
}

std::string dry_run(const dataset::Sweep& sweep) {
  return fmt::format("{} rows, {}\n", sweep.rows, dataset::name_of(sweep.method));
}

int report(const dataset::Generated& result, const std::string& out, double seconds, bool quiet) {
  if (!quiet) {
    const double rate = seconds > 0 ? static_cast<double>(result.written) / seconds : 0;
    tell(fmt::format("{}: {} of {} rows, {} written now in {:.1f} s ({:.0f}/s)", out, result.before + result.written,
                     result.rows, result.written, seconds, rate));
    if (result.failed > 0)
      tell(fmt::format("{} rows are runs that are impossible; their column error says why", result.failed));
  }
  if (result.complete()) return done;
  tell("stopped before the end; the same command goes on from there");
  return failed;
}

}  // namespace

std::vector<Option> generate_options() {
  return {
      {"sweep", "FILE", "what to run: a YAML file (docs/sweeps.md)", false, FileUse::input},
      {"out", "FILE", "data set: an SQLite file, or .csv", false, FileUse::database},
      {"shard", "I/N", "only part I of N, for job arrays; `noteg dataset merge` puts the parts together", false},
      {"dry-run", "", "check the sweep and say how many rows it has", false},
      {"jobs", "N", "threads, as many as there are cores if absent", false},
      {"quiet", "", "no progress bar, no remarks", false},
  };
}

std::string generate_help() {
  return "usage: noteg generate --sweep S.yaml --out D.db [options]\n\n"
         "Simulates every row of a sweep and writes a data set. Interrupted, it goes on where it was: a killed run\n"
         "loses only the rows that were being simulated. Rows are the same for any number of threads and ranks.\n\n" +
         help_of(generate_options());
}

int run_generate(const std::vector<std::string>& words) {
  const dataset::Ranks ranks;
  const auto refused = [&](const Diagnostics& errors) {  // told once, not by every process
    return ranks.is_writer() ? refuse("generate", errors) : wrong_input;
  };
  const Result<Arguments> arguments = parse_arguments(words, generate_options(), {});
  if (!arguments) return refused(arguments.errors());
  Diagnostics errors;
  const bool quiet = arguments->has("quiet") || !ranks.is_writer(), dry = arguments->has("dry-run");
  if (!arguments->has("sweep")) errors.push_back({"", 0, 0, "--sweep", "a sweep file", "nothing"});
  if (!arguments->has("out") && !dry) errors.push_back({"", 0, 0, "--out", "a file to write", "nothing"});
  dataset::GenerateOptions request;
  request.shard = shard_option(*arguments, errors);
  request.jobs = jobs_option(*arguments, errors);
  if (!errors.empty()) return refused(errors);

  const Result<dataset::Sweep> sweep = dataset::load_sweep(*arguments->text("sweep"));
  const bool same = ranks.same_everywhere(sweep ? dataset::fingerprint_of(*sweep) : "");
  if (!sweep) return refused(sweep.errors());
  if (!same)
    return refused({{"", 0, 0, "--sweep", "the same sweep and GPU files on every node", "others on one of them"}});
  if (dry) return ranks.is_writer() ? print(dry_run(*sweep)) : done;
  const std::string out = *arguments->text("out");
  const auto start = std::chrono::steady_clock::now();
  const Result<dataset::Generated> result = [&] {
    ProgressBar bar(!quiet);
    request.progress = [&bar](std::size_t rows, std::size_t total) { bar.update(rows, total); };
    request.stop = &stop_on_signal();
    return dataset::generate(*sweep, out, request, ranks);
  }();
  if (!ranks.is_writer()) return done;
  if (!result) return refuse("generate", result.errors());
  return report(*result, out, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), quiet);
}

}  // namespace noteg::cli
