#include "sim/operators/memory_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/families/build.hpp"
#include "sim/memory/tile_reuse.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/support/text.hpp"

namespace noteg::operators {
namespace {

constexpr int widest = 16;  // bytes of an access
constexpr int usual_threads = 128, most_threads = 1024, most_caching_threads = 512;
constexpr int vectors_of_thread = 4, most_vectors = 16;  // elementwise: as PyTorch unrolls; of a row: at most
constexpr double most_extent = 1e12;

using kernels::DataType;

const std::vector<MemoryKind>& kinds() {
  static const std::vector<MemoryKind> list = [] {
    const auto kind = [](std::string_view name, std::string_view meaning, MemoryKernel usual) {
      usual.name = name;
      return MemoryKind{name, meaning, usual};
    };
    return std::vector<MemoryKind>{
        kind("elementwise", "one value in, one out", {}),
        kind("add", "two values in, one out", {.inputs = 2}),
        kind("silu_mul", "two values in, x / (1 + exp(-x)) times the other",
             {.inputs = 2, .operations = 4, .special = 2}),
        kind("gelu", "one value in, its Gauss error unit", {.operations = 12, .special = 2}),
        kind("softmax", "largest of a row, exponentials, their sum", {.operations = 4, .special = 1, .reductions = 2}),
        kind("layer_norm", "mean and deviation of a row, scaled", {.operations = 6, .reductions = 2}),
        kind("rms_norm", "root of the mean square of a row, scaled", {.operations = 4, .reductions = 1}),
        kind("rotary", "pairs turned by an angle that is read", {.inputs = 2, .operations = 4}),
        kind("quantise", "largest of a row, then 8 bits each",
             {.out = DataType::f8e4m3, .operations = 4, .reductions = 1}),
        kind("transpose", "rows become columns", {.operations = 0, .turns = true}),
        kind("gather", "rows that a table names", {.operations = 0, .scatters = true}),
        kind("cast", "a copy to another type (PyTorch's .to)", {.in = DataType::s8, .operations = 0, .casts = true}),
        kind("cache_write", "a token's keys, then values, to a page (vLLM)", {.operations = 0, .caches = true}),
    };
  }();
  return list;
}

// How the values are dealt to CTAs.
struct Dealt {
  kernels::MemoryWork work;
  std::optional<kernels::RowCopyWork> copy;  // in place of it
  std::int64_t ctas = 1;
};

Dealt deal(const MemoryKernel& k) {
  Dealt out;
  kernels::MemoryWork& w = out.work;
  if (k.one_cta) {  // a word of each thread at a time
    w.threads = most_threads;
    w.load_bytes = w.store_bytes = 4;
    w.operations = k.operations;
    w.rounds = static_cast<std::int64_t>(std::max(1.0, std::ceil(k.rows * k.columns / most_threads)));
    return out;
  }
  if (k.caches) {  // a thread for each value of a key, as far as threads go
    kernels::RowCopyWork& copy = out.copy.emplace();
    copy.threads = static_cast<int>(std::min<double>(most_caching_threads, std::ceil(k.columns / copy.streams)));
    const double bytes = k.columns * kernels::bytes_of(k.in) / copy.streams;
    copy.vectors = static_cast<std::int64_t>(std::ceil(bytes / kernels::row_vector_bytes));
    out.ctas = std::llround(k.rows);
    return out;
  }
  if (k.casts) {  // launch_unrolled_kernel: four values of a thread, a CTA's width apart
    w.threads = usual_threads;
    w.loads = w.stores = vectors_of_thread;
    w.load_bytes = std::max(1, static_cast<int>(kernels::bytes_of(k.in)));
    w.store_bytes = std::max(1, static_cast<int>(kernels::bytes_of(k.out)));
    w.casts = true;
    out.ctas = std::llround(std::ceil(k.rows * k.columns / (w.threads * vectors_of_thread)));
    return out;
  }
  const double widest_value = std::max(kernels::bytes_of(k.in), kernels::bytes_of(k.out));
  const int values = std::max(1, static_cast<int>(widest / widest_value));  // of a vector
  w.load_bytes = std::max(1, static_cast<int>(values * kernels::bytes_of(k.in)));
  w.store_bytes = std::max(1, static_cast<int>(values * kernels::bytes_of(k.out)));
  const double all = k.reductions > 0 ? k.columns : k.rows * k.columns;
  const double vectors = std::max(1.0, std::ceil(all / values));
  double each = vectors_of_thread;
  if (k.reductions > 0) {
    w.threads = static_cast<int>(std::clamp(std::ceil(vectors / 32) * 32, 32.0, double{most_threads}));
    each = std::clamp(std::ceil(vectors / w.threads), 1.0, double{most_vectors});
    out.ctas = static_cast<std::int64_t>(k.rows * std::ceil(vectors / (each * w.threads)));
  } else {
    w.threads = usual_threads;
    if (vectors < w.threads * each) each = 1;
    out.ctas = std::max<std::int64_t>(1, std::llround(std::ceil(vectors / (w.threads * each))));
  }
  w.stores = static_cast<int>(each);
  w.loads = std::max(1, static_cast<int>(std::lround(each * k.inputs)));
  w.operations = k.operations * values * w.stores / w.loads;
  w.special = k.special * values * w.stores / w.loads;
  w.reductions = k.reductions;
  w.turns = k.turns;
  w.scatters = k.scatters;
  return out;
}

gpu::Traffic traffic_of(const arch::GpuSpec& gpu, const MemoryKernel& k, gpu::L2State l2) {
  gpu::Traffic out;
  const double in = k.bytes_in(), written = k.bytes_out();
  const memory::Capacity capacity = memory::capacity_of(gpu.l2);
  const double kept = l2 == gpu::L2State::warm ? memory::retained_fraction(in + written, capacity) : 0.0;
  out.l2_read_bytes = out.compulsory_bytes = in;
  out.l2_write_bytes = out.result_bytes = written;
  out.l2_lookups = (in + written) / gpu.l2.sector.value;
  out.l2_hit_rate = (in * kept + written) / std::max(1.0, in + written);
  out.dram_read_bytes = in * (1 - kept);
  const double stays = l2 == gpu::L2State::empty ? std::min(1.0, capacity.bytes / std::max(1.0, in + written)) : kept;
  out.dram_write_bytes = written * (1 - stays);
  out.footprint_bytes = in + written;
  out.waiting_steps = 1 - kept;
  return out;
}

Diagnostic wrong(std::string key, std::string expected, std::string found) {
  return {"", 0, 0, std::move(key), std::move(expected), "\"" + std::move(found) + "\""};
}

std::optional<Diagnostic> set_key(MemoryKernel& k, const std::string& key, const std::string& value) {
  if (key == "in" || key == "out") {
    const auto type = kernels::data_type_from(value);
    if (!type) return wrong(key, "a type, for example bf16, f32 or f8e4m3", value);
    (key == "in" ? k.in : k.out) = *type;
    return std::nullopt;
  }
  double* const field = key == "rows"         ? &k.rows
                        : key == "columns"    ? &k.columns
                        : key == "inputs"     ? &k.inputs
                        : key == "operations" ? &k.operations
                        : key == "special"    ? &k.special
                                              : nullptr;
  const std::optional<double> number = parse_number(value);
  if (field == nullptr && key != "reductions")
    return wrong(key, "rows, columns, in, out, inputs, operations, special or reductions", key);
  const bool is_extent = key == "rows" || key == "columns";
  const double least = is_extent ? 1 : key == "inputs" ? 0.01 : 0, most = is_extent ? most_extent : 1000;
  if (!number || *number < least || *number > most)
    return wrong(key, "a number from " + format_number(least) + " to " + format_number(most), value);
  if (field != nullptr)
    *field = *number;
  else
    k.reductions = static_cast<int>(std::min(16.0, *number));
  return std::nullopt;
}

}  // namespace

const std::vector<MemoryKind>& memory_kinds() { return kinds(); }

std::vector<LineWord> words_of_line(std::string_view line) {
  std::vector<LineWord> out;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t,"));
    line.remove_prefix(word.size());
    const std::size_t at = word.find('=');
    if (at == std::string_view::npos)
      out.push_back({std::string(word), "", false});
    else
      out.push_back({std::string(word.substr(0, at)), std::string(word.substr(at + 1)), true});
  }
  return out;
}

Diagnostics repeated_keys(const std::vector<LineWord>& words) {
  Diagnostics errors;
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto same = [&](const LineWord& other) { return other.has_value && other.key == word->key; };
    if (word->has_value && std::count_if(words.begin(), word, same) == 1)
      errors.push_back({"", 0, 0, word->key, "it once", "it again"});
  }
  return errors;
}

Result<MemoryKernel> memory_kernel_from(std::string_view line) {
  const std::vector<LineWord> words = words_of_line(line);
  const std::string first = words.empty() ? "" : words.front().key;
  const auto known = std::ranges::find_if(kinds(), [&](const MemoryKind& kind) { return kind.name == first; });
  if (known == kinds().end()) {
    std::string names;
    for (const MemoryKind& kind : kinds()) names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return wrong("--memory", names, first);
  }
  MemoryKernel out = known->usual;
  Diagnostics errors = repeated_keys(words);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].has_value)
      errors.push_back(wrong("--memory", "key=value", words[i].key));
    else if (const auto error = set_key(out, words[i].key, words[i].value))
      errors.push_back(*error);
  }
  for (const char* key : {"rows", "columns"})
    if (std::ranges::find(words, key, &LineWord::key) == words.end())
      errors.push_back({"", 0, 0, key, "a number such as " + std::string(key) + "=4096", "nothing"});
  if (errors.empty() && out.bytes_in() + out.bytes_out() > 1e15)
    errors.push_back(wrong("--memory", "at most 1e15 bytes", std::string(line)));
  if (!errors.empty()) return errors;
  return out;
}

Result<gpu::KernelLaunch> memory_launch(const arch::GpuSpec& gpu, const MemoryKernel& kernel, gpu::L2State l2) {
  const Dealt dealt = deal(kernel);
  const kernels::LatencyModel latency = sm::latency_model(gpu.sm);
  Result<kernels::Program> program =
      dealt.copy ? kernels::build_row_copy(*dealt.copy, latency) : kernels::build_memory(dealt.work, latency);
  if (!program) return program.errors();
  gpu::KernelLaunch out;
  out.resources = {program->threads, program->registers, program->shared_bytes};
  Result<gpu::SmOccupancy> occupancy = gpu::occupancy_of(gpu.sm.occupancy, out.resources);
  if (!occupancy) return occupancy.errors();
  out.occupancy = *occupancy;
  out.geometry.sms = gpu.sms;
  out.geometry.ctas = dealt.ctas;
  out.geometry.all_tiles = static_cast<double>(dealt.ctas);
  out.traffic = traffic_of(gpu, kernel, l2);
  out.arithmetic.operations = kernel.rows * kernel.columns * (kernel.operations + kernel.special);
  out.arithmetic.macs_per_cycle = static_cast<double>(gpu.sm.sub_cores) * gpu.sm.pipes.fma.lanes;
  if (program->roles.empty())  // all warps run the same code
    out.warp_instructions = static_cast<double>(kernels::executed_instructions(*program, 1) * program->warps) *
                            static_cast<double>(dealt.ctas);
  out.program = std::make_shared<const kernels::Program>(std::move(*program));
  return out;
}

Result<gpu::SimReport> simulate_memory(const arch::GpuSpec& gpu, const MemoryKernel& kernel,
                                       const gpu::SimOptions& options, gpu::SmCache& cache) {
  const Result<gpu::KernelLaunch> launch = memory_launch(gpu, kernel, options.l2);
  if (!launch) return launch.errors();
  return gpu::simulate_launch(gpu, *launch, options, cache);
}

}  // namespace noteg::operators
