#include "sim/web/compiled_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/compiled/source_view.hpp"
#include "sim/support/text_file.hpp"
#include "sim/trace/recording.hpp"
#include "sim/web/live.hpp"

namespace noteg::web {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t jobs_kept = 12;
constexpr std::uint64_t cycles_shown = 6000;  // of the watched run: what a page can hold

// The watched run as a recording: the code that was stepped through, from its begin.
gpu::Recording recording_of(const compiled::CompiledRun& run, compiled::WatchedRun watched) {
  gpu::Recording out;
  auto sm_run = std::make_shared<gpu::SmRun>(*run.report.sm_run);
  sm_run->code = watched.program;
  out.port = sm_run->port();
  out.run = std::move(sm_run);
  out.log = std::move(watched.log);
  out.end = out.log.issues.empty() ? 0 : std::min(cycles_shown, out.log.issues.back().cycle + 1);
  return out;
}

Json line_json(const compiled::SourceLine& line, const compiled::CompiledRun& run,
               const std::vector<std::int32_t>& places) {
  const compiled::Instruction& in = *run.profile.code.steps[static_cast<std::size_t>(line.instruction)].in;
  Json waits = Json::object();
  for (std::size_t i = 0; i < line.stalls.size(); ++i)
    if (line.stalls[i] > 0) waits[std::string(compiled::stall_columns[i])] = line.stalls[i];
  return {{"address", fmt::format("{:04x}", in.address)},
          {"text", in.text},
          {"at", places},
          {"executions", line.counts.warps},
          {"samples", line.samples},
          {"waits", std::move(waits)}};
}

}  // namespace

Result<std::shared_ptr<const CompiledJob>> CompiledJobs::job(const std::vector<std::string>& words,
                                                             const std::string& sass, const std::string& launch,
                                                             const arch::GpuSpec& gpu, const gpu::SimOptions& options) {
  Diagnostics errors;
  const Result<std::string> code = read_text_file(sass), how = read_text_file(launch);
  if (!code) errors.insert(errors.end(), code.errors().begin(), code.errors().end());
  if (!how) errors.insert(errors.end(), how.errors().begin(), how.errors().end());
  if (!errors.empty()) return errors;
  std::string key = *how + "\n" + *code;
  for (const std::string& word : words) key += "\n" + word;
  if (const auto found = known_.find(key); found != known_.end()) return found->second;

  auto out = std::make_shared<CompiledJob>();
  out->gpu = gpu;
  out->options = options;
  Result<compiled::Listing> listing = compiled::parse_listing(*code, "kernel.sass");
  Result<compiled::Launch> read = compiled::parse_launch(*how, "launch.yaml");
  if (!listing) errors.insert(errors.end(), listing.errors().begin(), listing.errors().end());
  if (!read) errors.insert(errors.end(), read.errors().begin(), read.errors().end());
  if (!errors.empty()) return errors;
  out->listing = std::move(*listing);
  out->launch = std::move(*read);
  Result<compiled::CompiledRun> run =
      compiled::simulate_compiled({&out->listing, out->launch, &out->gpu, options, false});
  if (!run) return run.errors();
  out->run = std::move(*run);
  if (known_.size() >= jobs_kept) known_.clear();
  known_.emplace(std::move(key), out);
  return std::shared_ptr<const CompiledJob>(out);
}

std::string watched(const CompiledJob& job) {
  const compiled::CompiledRun& run = job.run;
  compiled::WatchedRun stretch = compiled::watch(run, job.gpu, job.options);
  const std::vector<compiled::SourceLine> view = compiled::source_view(run, stretch);
  Json out = Json::parse(watched(recording_of(run, std::move(stretch)), job.gpu));
  std::vector<std::vector<std::int32_t>> places(view.size());
  for (std::size_t pc = 0; pc < run.origin.size(); ++pc) {
    const std::int32_t at = run.origin[pc];
    if (at < 0 || static_cast<std::size_t>(at) >= places.size()) continue;
    places[static_cast<std::size_t>(at)].push_back(static_cast<std::int32_t>(pc));
    out["code"][pc]["text"] = run.profile.code.steps[static_cast<std::size_t>(at)].in->text;
  }
  Json hot = Json::array();
  for (const compiled::SourceLine& line : view)
    if (line.counts.warps > 0) hot.push_back(line_json(line, run, places[static_cast<std::size_t>(line.instruction)]));
  out["hot"] = std::move(hot);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace noteg::web
