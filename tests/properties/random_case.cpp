#include "tests/properties/random_case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "sim/support/csv.hpp"

namespace noteg::properties {
namespace {

using Settings = kernels::KernelOverrides;

std::string times(std::int64_t m, std::int64_t n) { return fmt::format("{}x{}", m, n); }

template <class List>
std::string text_of(const List& list, Random& random) {
  return fmt::format("{}", one_of(list, random));
}

bool one_in(int n, Random& random) { return random() % static_cast<unsigned>(n) == 0; }

void add_tile(Settings& s, Random& random, int least, int most, std::vector<int> depths) {
  const auto side = [&] { return std::int64_t{1} << whole(random, least, most); };
  const std::int64_t m = side(), n = side();
  s.emplace_back("tile", fmt::format("{}x{}x{}", m, n, one_of(depths, random)));
}

void add_warp_tile(Settings& s, Random& random) {
  static constexpr const char* warps[] = {"16x32", "32x16", "32x32", "32x64", "64x32", "64x64"};
  if (!one_in(3, random)) s.emplace_back("warp_tile", one_of(warps, random));
}

// How the CTAs of a tensor-core or simt kernel share the problem.
void add_grid(Settings& s, Random& random) {
  if (one_in(4, random)) {
    s.emplace_back("split_k", std::to_string(whole(random, 2, 16)));
    s.emplace_back("split_k_mode", one_in(2, random) ? "parallel" : "serial");
  }
  if (one_in(2, random)) s.emplace_back("swizzle_log2", std::to_string(whole(random, 0, 4)));
  if (one_in(2, random)) s.emplace_back("raster", "along_n");
  if (one_in(4, random)) s.emplace_back("reads_c", "true");
  if (one_in(4, random)) s.emplace_back("bias", "true");
}

Settings naive(Random& random) {
  const auto edge = whole(random, 1, 32);
  Settings s{{"family", "naive"}, {"tile", fmt::format("{0}x{0}x{0}", edge)}};
  if (one_in(3, random)) s.emplace_back("static_tile", "true");
  return s;
}

Settings blocked(Random& random) {
  Settings s{{"family", "blocked"}};
  add_tile(s, random, 5, 7, {8, 16});
  const auto threads = [&] { return whole(random, 1, 2) * 4; };
  if (!one_in(3, random)) s.emplace_back("thread_tile", times(threads(), threads()));
  s.emplace_back("stages", std::to_string(whole(random, 1, 2)));
  return s;
}

Settings clblast(Random& random) {
  Settings s{{"family", "clblast"}};
  add_tile(s, random, 5, 7, {16, 32});
  static constexpr int dimensions[] = {8, 16, 32}, vectors[] = {1, 2, 4, 8};
  for (const char* key : {"mdimc", "ndimc", "mdima", "ndimb"}) s.emplace_back(key, text_of(dimensions, random));
  for (const char* key : {"vwm", "vwn", "kwi"}) s.emplace_back(key, text_of(vectors, random));
  for (const char* key : {"strm", "strn", "sa", "sb"}) s.emplace_back(key, one_in(2, random) ? "true" : "false");
  return s;
}

Settings simt(Random& random) {
  static constexpr const char* flavors[] = {"generic", "cutlass", "cublas", "xmma"};
  Settings s{{"family", "simt"}, {"flavor", one_of(flavors, random)}};
  add_tile(s, random, 5, 8, {8, 8, 16, 32});
  add_warp_tile(s, random);
  s.emplace_back("stages", std::to_string(whole(random, 2, 5)));
  if (one_in(6, random)) s.emplace_back("sliced_k", one_in(2, random) ? "2" : "4");
  add_grid(s, random);
  return s;
}

Settings mma(Random& random) {
  static constexpr const char* types[] = {"f16", "bf16", "tf32", "s8", "f16", "bf16", "f8e4m3", "s4"};
  static constexpr const char* layouts[] = {"swizzled", "swizzled", "swizzled", "padded", "plain"};
  Settings s{{"family", "mma"}, {"dtype", one_of(types, random)}};
  add_tile(s, random, 5, 8, {16, 32, 32, 64, 128});
  add_warp_tile(s, random);
  s.emplace_back("stages", std::to_string(whole(random, 2, 6)));
  s.emplace_back("shared_layout", one_of(layouts, random));
  if (one_in(8, random)) s.emplace_back("sparse", "true");
  add_grid(s, random);
  return s;
}

Settings wgmma(Random& random) {
  static constexpr const char* types[] = {"f16", "bf16", "f16", "f8e4m3", "tf32", "s8"};
  static constexpr const char* schedules[] = {"ws", "coop", "pingpong"};
  static constexpr const char* clusters[] = {"1x1", "2x1", "1x2", "2x2"};
  Settings s{{"family", "wgmma"}, {"dtype", one_of(types, random)}};
  add_tile(s, random, 6, 8, {32, 64, 64, 128});
  s.emplace_back("cluster", one_of(clusters, random));
  s.emplace_back("schedule", one_of(schedules, random));
  if (one_in(4, random)) s.emplace_back("stages", std::to_string(whole(random, 2, 6)));
  if (one_in(4, random)) s.emplace_back("persistent", one_in(2, random) ? "true" : "false");
  if (one_in(8, random)) s.emplace_back("a_in_registers", "true");
  add_grid(s, random);
  return s;
}

Settings gemv(Random& random) {
  static constexpr const char* types[] = {"f16", "bf16", "f8e4m3", "s8"};
  Settings s{{"family", "gemv"}};
  s.emplace_back("tile", fmt::format("{}x{}x{}", whole(random, 1, 8), whole(random, 1, 4), 512 * whole(random, 1, 4)));
  s.emplace_back("dtype", one_of(types, random));
  return s;
}

// The kernels of the measured rows, by name.
const std::vector<std::string>& names() {
  static const std::vector<std::string> all = [] {
    std::set<std::string> found;
    for (const char* file : {"tests/data/library_subset.csv", "tests/data/measured_subset.csv"}) {
      const Result<CsvTable> table = read_csv(std::string(NOTEG_SOURCE_DIR "/") + file);
      const std::size_t column = *table->column("kernel_name");
      for (std::size_t i = 0; i < table->rows.size(); ++i) {
        const std::string name(table->rows.at(i, column));
        if (!name.empty() && kernels::config_from_name(name)) found.insert(name);
      }
    }
    return std::vector<std::string>(found.begin(), found.end());
  }();
  return all;
}

std::int64_t extent(Random& random) {
  const auto size = static_cast<std::int64_t>(by_octave(random, 16, 12000));
  switch (random() % 4) {
    case 0: return size;
    case 1: return (size + 7) / 8 * 8;
    default: return (size + 63) / 64 * 64;
  }
}

}  // namespace

std::int64_t whole(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

double by_octave(Random& random, double low, double high) {
  const double share = static_cast<double>(random() % 1000003) / 1000002;
  return low * std::pow(high / low, share);
}

Case draw_case(std::size_t kind, Random& random) {
  static const std::vector<std::string> gpus = arch::list_gpu_ids();
  constexpr Settings (*families[])(Random&) = {naive, blocked, clblast, simt, mma, wgmma, gemv};
  static_assert(std::size(families) + 1 == kinds);
  static constexpr const char* layouts[] = {"nn", "nt", "tn", "tt"};
  constexpr gpu::L2State states[] = {gpu::L2State::warm, gpu::L2State::cold, gpu::L2State::empty};
  Case c;
  c.gpu = one_of(gpus, random);
  c.shape = {extent(random), extent(random), extent(random), one_in(4, random) ? whole(random, 2, 24) : 1};
  c.clock_mhz = static_cast<double>(whole(random, 60, 240)) * 10;
  c.l2 = one_of(states, random);
  if (kind < std::size(families)) {
    c.settings = families[kind](random);
    c.settings.emplace_back("layout", one_of(layouts, random));
  } else {
    c.kernel_name = one_of(names(), random);
  }
  return c;
}

std::string command_of(const Case& c) {
  std::string text = "noteg simulate --arch " + c.gpu;
  if (!c.kernel_name.empty()) text += " --kernel-name '" + c.kernel_name + "'";
  for (const auto& [key, value] : c.settings) {
    const bool is_option = key == "family" || key == "tile";
    text += (is_option ? " --" + key + " " : " --set " + key + "=") + value;
  }
  text += fmt::format(" --shape {}x{}x{}", c.shape.m, c.shape.n, c.shape.k);
  if (c.shape.batch > 1) text += fmt::format(" --batch {}", c.shape.batch);
  constexpr const char* states[] = {"empty", "cold", "warm"};
  text += fmt::format(" --clock {}MHz --l2 {}", c.clock_mhz, states[static_cast<std::size_t>(c.l2)]);
  for (const auto& [key, value] : c.arch) text += fmt::format(" --set 'arch.{}={}'", key, value);
  return text;
}

std::size_t asked(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::size_t>(std::strtoull(text, nullptr, 10)) : otherwise;
}

Result<arch::GpuSpec> gpu_of(const Case& c) { return arch::load_gpu(c.gpu, c.arch); }

Result<gpu::SimReport> simulate(const Case& c, const arch::GpuSpec& gpu, gpu::SmCache& cache, bool exact) {
  kernels::KernelConfig config;
  if (!c.kernel_name.empty()) {
    const Result<kernels::KernelConfig> named = kernels::config_from_name(c.kernel_name);
    if (!named) return named.errors();
    config = *named;
  }
  const Result<kernels::KernelConfig> set = kernels::apply_overrides(config, c.settings);
  if (!set) return set.errors();
  gpu::SimOptions options;
  options.sm_clock_mhz = c.clock_mhz;
  options.l2 = c.l2;
  options.exact = exact;
  return gpu::simulate(gpu, *set, c.shape, options, cache);
}

}  // namespace noteg::properties
