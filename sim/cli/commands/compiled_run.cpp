#include "sim/cli/commands/runs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <thread>

#include "arch/load.hpp"
#include "kernels/compiled/listing/accelsim_trace.hpp"
#include "kernels/compiled/listing/cubin.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/compiled/compare_listings.hpp"
#include "sim/compiled/measured_launches.hpp"
#include "sim/compiled/source_view.hpp"
#include "sim/compiled/write_json.hpp"
#include "sim/pages/reports.hpp"
#include "sim/report/write.hpp"

namespace noteg::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t trace_interval = 32;  // cycles between two samples of a trace

struct CompiledInput {
  compiled::Listing listing;
  compiled::Launch launch;
};

Result<CompiledInput> input_of(const Arguments& arguments) {
  Diagnostics errors;
  if (arguments.has("sass") == arguments.has("cubin"))
    errors.push_back({"", 0, 0, "--sass", "one of --sass and --cubin", arguments.has("sass") ? "both" : "neither"});
  if (!arguments.has("launch"))
    errors.push_back({"", 0, 0, "--launch", "a file that says how the kernel is launched", "nothing"});
  if (!errors.empty()) return errors;
  Result<compiled::Launch> launch = compiled::read_launch_file(*arguments.text("launch"));
  if (!launch) errors = launch.errors();
  Result<compiled::Listing> listing = arguments.has("sass") ? compiled::read_listing(*arguments.text("sass"))
                                                            : compiled::disassemble(*arguments.text("cubin"));
  if (!listing) errors.insert(errors.end(), listing.errors().begin(), listing.errors().end());
  if (!errors.empty()) return errors;
  if (arguments.has("cubin"))
    if (const Diagnostics wrong = compiled::apply_cubin(*arguments.text("cubin"), *launch); !wrong.empty())
      return wrong;
  return CompiledInput{std::move(*listing), std::move(*launch)};
}

// The report's own text, with the kernel in place of a GEMM's configuration.
std::string text_of(const compiled::CompiledRun& run, const compiled::Launch& launch) {
  const gpu::SimReport& r = run.report;
  std::string out = fmt::format(
      "{:<14}{} ({})\n{:<14}{}\n{:<14}grid {}x{}x{}, block {}x{}x{}, {} registers, {} bytes of shared memory\n", "GPU",
      r.arch_name, r.arch_id, "kernel", run.profile.code.code->name, "launch", launch.grid[0], launch.grid[1],
      launch.grid[2], launch.block[0], launch.block[1], launch.block[2], r.registers_per_thread,
      r.shared_bytes_per_cta);
  const std::string all = report::to_text(r);
  const std::size_t body = all.find("\n\n");
  out += body == std::string::npos ? all : all.substr(body + 1);
  for (const std::string& each : run.notes) out += fmt::format("note          {}\n", each);
  for (const std::string& each : run.assumptions) out += fmt::format("assumed       {}\n", each);
  return out;
}

}  // namespace

std::vector<Option> compiled_options(bool several) {
  return {{"sass", "FILE",
           several ? "compiled code: a listing of nvdisasm -hex -c, cuobjdump -sass or Triton (.gz too); twice: before "
                     "and after a change"
                   : "compiled code: a listing of nvdisasm -hex -c, cuobjdump -sass or Triton (.gz too)",
           several, FileUse::input},
          {"cubin", "FILE", "compiled code: a cubin, through nvdisasm", false, FileUse::input},
          {"launch", "FILE", "with --sass or --cubin: grid, block and arguments (docs/compiled-kernels.md)", false,
           FileUse::input},
          {"strict", "", "with --sass or --cubin: refuse opcodes that the table does not have", false}};
}

bool names_compiled(const Arguments& arguments) {
  return arguments.has("sass") || arguments.has("cubin") || arguments.has("launch");
}

namespace {

// Two listings of a kernel, launched alike.
int compare_listings(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::SimOptions& options) {
  const std::vector<std::string> files = arguments.texts("sass");
  Diagnostics errors;
  if (files.size() != 2) errors.push_back({"", 0, 0, "--sass", "one listing, or two", fmt::format("{}", files.size())});
  if (!arguments.has("launch"))
    errors.push_back({"", 0, 0, "--launch", "a file that says how the kernel is launched", "nothing"});
  if (!errors.empty()) return refuse("compare", errors);
  const Result<compiled::Launch> launch = compiled::read_launch_file(*arguments.text("launch"));
  if (!launch) return refuse("compare", launch.errors());
  std::vector<compiled::Listing> listings;
  for (const std::string& file : files) {
    Result<compiled::Listing> listing = compiled::read_listing(file);
    if (!listing) return refuse("compare", listing.errors());
    listings.push_back(std::move(*listing));
  }
  std::vector<compiled::CompiledRun> runs;
  std::vector<compiled::ListingSide> sides(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Result<compiled::CompiledRun> run =
        compiled::simulate_compiled({&listings[i], *launch, &gpu, options, arguments.has("strict")});
    if (!run) return refuse("compare", run.errors());
    runs.push_back(std::move(*run));
    sides[i].name = files[i];
    sides[i].rows = compiled::source_rows(compiled::source_view(runs[i], gpu, options), runs[i]);
  }
  for (std::size_t i = 0; i < 2; ++i) sides[i].run = &runs[i];
  return print(compiled::compare_text(sides[0], sides[1]));
}

Diagnostics trace_for_accelsim(const CompiledInput& input, const compiled::CompiledRun& run,
                               const std::string& folder) {
  const Result<const compiled::Code*> code = input.listing.kernel(input.launch.kernel);
  if (!code) return code.errors();
  const compiled::LaunchMemory memory(input.launch, input.listing.sm != 0 ? input.listing.sm : 90);
  return compiled::write_accelsim_trace({&input.listing, *code, &input.launch, &memory, run.report.registers_per_thread,
                                         static_cast<std::int64_t>(run.report.shared_bytes_per_cta)},
                                        folder);
}

// A window of the run that the source view is made of.
Result<gpu::Recording> record(const compiled::CompiledRun& run, const compiled::WatchedRun& watched,
                              const gpu::IterationWindow& window) {
  gpu::Recording whole;
  whole.run = run.report.sm_run;
  whole.port = watched.port;
  whole.log = watched.log;
  // The loop of the whole kernel, with the iterations that were watched.
  const kernels::Loop* loop = gpu::main_loop(whole.program());
  whole.iterations = 1;
  if (loop != nullptr) {
    const std::ptrdiff_t place = loop - whole.program().loops.data();
    whole.iterations = watched.program->loops[static_cast<std::size_t>(place)].iterations;
  }
  for (const std::int32_t from : run.origin) {
    if (from < 0) {  // what stands for a pause, and was not in the listing
      whole.shown.push_back({0, "(pause)"});
      continue;
    }
    const auto& in = *run.profile.code.steps[static_cast<std::size_t>(from)].in;
    whole.shown.push_back({in.address, std::string(in.text)});
  }
  const std::int64_t all = whole.iterations;
  return gpu::cut_out(std::move(whole), watched.result, all, window);
}

}  // namespace

int simulate_compiled_kernel(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::SimOptions& options,
                             Format format) {
  const Result<CompiledInput> input = input_of(arguments);
  if (!input) return refuse("simulate", input.errors());
  const compiled::CompiledRequest request{&input->listing, input->launch, &gpu, options, arguments.has("strict")};
  const Result<compiled::CompiledRun> run = compiled::simulate_compiled(request);
  if (!run) return refuse("simulate", run.errors());
  if (const auto folder = arguments.text("accelsim-trace"))
    if (const Diagnostics wrong = trace_for_accelsim(*input, *run, *folder); !wrong.empty())
      return refuse("simulate", wrong);
  const auto stalls = arguments.text("stalls");
  const bool is_traced = arguments.has("trace") || arguments.has("timeline");
  std::optional<compiled::WatchedRun> watched;
  std::vector<compiled::SourceLine> view;
  if (stalls || is_traced || format == Format::text || arguments.has("report")) {
    watched = is_traced ? compiled::watch(*run, gpu, options, trace_interval) : compiled::watch(*run, gpu, options);
    view = compiled::source_view(*run, *watched);
  }
  int status =
      write_report("simulate", arguments, [&] { return pages::compiled_report(gpu, *run, input->launch, view); });
  if (stalls) status = std::max(status, write_file(*stalls, compiled::to_csv(view, *run)));
  if (stalls && *stalls == "-") return status;
  std::string timeline;
  status = std::max(status,
                    trace_run(
                        arguments, run->report, gpu,
                        [&](const gpu::IterationWindow& window) { return record(*run, *watched, window); }, timeline));
  switch (format) {
    case Format::text:
      return std::max(status, print(text_of(*run, input->launch) + compiled::hottest(view, *run, 12) + timeline));
    case Format::json: return std::max(status, print(compiled::to_json(*run, input->launch)));
    case Format::csv: return std::max(status, print(report::to_csv({run->report})));
  }
  return failed;
}

int compare_compiled_kernel(const Arguments& arguments, const std::vector<arch::GpuSpec>& gpus,
                            const gpu::SimOptions& options, Format format) {
  if (arguments.texts("sass").size() > 1) return compare_listings(arguments, gpus.front(), options);
  const Result<CompiledInput> input = input_of(arguments);
  if (!input) return refuse("compare", input.errors());
  Json rows = Json::array();
  std::string text = fmt::format("{:<24} {:>12} {:>12} {:>10} {:>8} {:>10}  {}\n", "GPU", "time us", "cycles",
                                 "clock MHz", "CTAs/SM", "power W", "limited by");
  std::string csv = "gpu,time_us,cycles,sm_clock_mhz,ctas_per_sm,power_w,bottleneck\n";
  std::vector<std::string> notes;
  double first = 0;
  for (const arch::GpuSpec& gpu : gpus) {
    const Result<compiled::CompiledRun> run =
        compiled::simulate_compiled({&input->listing, input->launch, &gpu, options, arguments.has("strict")});
    if (!run) return refuse("compare", run.errors());
    const gpu::SimReport& r = run->report;
    if (first <= 0) first = r.time_us;
    text += fmt::format("{:<24} {:>12.3f} {:>12.0f} {:>10.0f} {:>8} {:>10.1f}  {} ({:.2f} times the first)\n",
                        r.arch_id, r.time_us, r.cycles, r.sm_clock_mhz, r.occupancy.ctas_per_sm, r.power_w,
                        r.bottleneck.name, r.time_us / first);
    csv += fmt::format("{},{:.6g},{:.6g},{:.6g},{},{:.6g},{}\n", r.arch_id, r.time_us, r.cycles, r.sm_clock_mhz,
                       r.occupancy.ctas_per_sm, r.power_w, r.bottleneck.name);
    rows.push_back(Json::parse(compiled::to_json(*run, input->launch)));
    for (const std::string& note : run->notes)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  switch (format) {
    case Format::text: return print(text);
    case Format::json: return print(Json{{"gpus", rows}}.dump(2) + "\n");
    case Format::csv: return print(csv);
  }
  return failed;
}

std::optional<int> validate_compiled_launches(const Arguments& arguments, Format format) {
  const std::vector<std::string> files = arguments.texts("data");
  if (files.size() != 1) return std::nullopt;
  const Result<CsvTable> table = read_csv(files.front());
  if (!table || !compiled::holds_launches(*table)) return std::nullopt;
  const std::vector<std::string> names = arguments.texts("gpu");
  std::string name = names.empty() ? "" : names.front();
  if (name.empty())
    if (const auto column = table->column("gpu"); column && !table->rows.empty()) name = table->rows.at(0, *column);
  const Result<arch::GpuSpec> gpu = arch::load_gpu(name.empty() ? "h200-sxm-141gb" : name, arch_overrides(arguments));
  if (!gpu) return refuse("validate", gpu.errors());
  Diagnostics errors;
  const unsigned jobs = jobs_option(arguments, errors);
  if (!errors.empty()) return refuse("validate", errors);
  if (names.empty() && !arguments.has("quiet"))
    tell(fmt::format("rows name no GPU: taken as measured on {} (--gpu says another)", gpu->name));
  const Result<compiled::LaunchValidation> validation =
      compiled::validate_launches(files.front(), {&*gpu, arguments.has("exact"), jobs});
  if (!validation) return refuse("validate", validation.errors());
  int status = done;
  if (const auto path = arguments.text("predictions"))
    status = write_file(*path, compiled::predictions_csv(*validation));
  switch (format) {
    case Format::text: return std::max(status, print(compiled::to_text(*validation)));
    case Format::json: return std::max(status, print(compiled::to_json(*validation)));
    case Format::csv: return std::max(status, print(compiled::predictions_csv(*validation)));
  }
  return failed;
}

Result<kernels::KernelConfig> kernel_for(const KernelRequest& request, const arch::GpuSpec& gpu,
                                         const gpu::SimOptions& sim, tune::KernelChooser& chooser) {
  if (!request.choose) return request.config;
  return chooser.best(gpu, {request.shape, request.config}, sim);
}

validate::Chooser library_kernels(tune::KernelChooser& chooser) {
  return [&chooser](const arch::GpuSpec& gpu, const kernels::KernelConfig& frame, const kernels::GemmShape& shape,
                    const gpu::SimOptions& sim) {
    return chooser.best(gpu, {shape, frame}, sim);
  };
}

}  // namespace noteg::cli
