// The program as a user starts it: start-up, and one simulation of 1024, 4096 and 16384 cubed in each family as a whole
// process, with the peak of its memory. The aim is under 50 ms and 100 MB.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

std::string program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return self.substr(0, self.rfind('/')) + "/noteg";
}

// Runs the program with its output thrown away; peak resident bytes, or -1.
double run(const std::vector<std::string>& words) {
  std::vector<std::string> all{program()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv.front(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return -1;
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return -1;
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void process(benchmark::State& state, std::vector<std::string> words) {
  if (state.range(0) > 0) {
    const std::string edge = std::to_string(state.range(0));
    words.push_back("--shape");
    words.push_back(edge + "x" + edge + "x" + edge);
  }
  double peak = 0;
  for ([[maybe_unused]] auto iteration : state) {
    peak = run(words);
    if (peak < 0) return state.SkipWithError("the program failed");
  }
  state.counters["peak_mb"] = peak / 1e6;
}

using Words = std::vector<std::string>;

void start_up(benchmark::State& state) { process(state, {"--version"}); }
BENCHMARK(start_up)->Arg(0)->Unit(benchmark::kMillisecond)->UseRealTime();

const auto edges = [](benchmark::internal::Benchmark* b) {
  b->Arg(1024)->Arg(4096)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();
};
BENCHMARK_CAPTURE(process, naive, Words{"simulate", "--arch", "rtx4070", "--kernel", "naive_16"})->Apply(edges);
BENCHMARK_CAPTURE(process, blocked, Words{"simulate", "--arch", "rtx4070", "--kernel", "blocked_128x128x8"})
    ->Apply(edges);
BENCHMARK_CAPTURE(process, simt, Words{"simulate", "--arch", "rtx4070", "--kernel", "sgemm_128x128x8"})->Apply(edges);
BENCHMARK_CAPTURE(process, mma, Words{"simulate", "--arch", "a100-pcie-40gb", "--kernel", "hgemm_128x128x32"})
    ->Apply(edges);
BENCHMARK_CAPTURE(process, wgmma,
                  Words{"simulate", "--arch", "h100-sxm5-80gb", "--kernel", "wgmma_128x128x64_pingpong"})
    ->Apply(edges);

}  // namespace
