// The trace keeps to the Trace Event Format as viewers read it.
#include "sim/trace/views.hpp"

#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/support/output_file.hpp"
#include "tests/trace/watched.hpp"

namespace noteg::test {
namespace {

using Json = nlohmann::json;

Json trace_of(const gpu::SimReport& report, const gpu::Recording& recording, const std::string& gpu) {
  return Json::parse(trace::chrome_trace(recording, report, *arch::load_gpu(gpu)));
}

std::set<std::string> known_names() {
  std::set<std::string> names;
  for (std::size_t i = 0; i < sm::opcode_count; ++i)
    names.insert(std::string(kernels::opcode_info(static_cast<kernels::Opcode>(i)).mnemonic));
  for (std::size_t i = 0; i < sm::stall_count; ++i) names.insert(std::string(sm::name_of(static_cast<sm::Stall>(i))));
  return names;
}

struct Traced {
  gpu::Recording recording;
  Json trace;
};

using Kernel = std::pair<const char*, kernels::Family>;

// Simulated once for all laws.
const Traced& traced(const Kernel& kernel) {
  static std::map<kernels::Family, Traced> known;
  if (const auto found = known.find(kernel.second); found != known.end()) return found->second;
  const gpu::SimReport report = simulated(kernel.first, kernel.second);
  gpu::Recording recording = watched(report, {2, 2});
  Json trace = trace_of(report, recording, kernel.first);
  return known.emplace(kernel.second, Traced{std::move(recording), std::move(trace)}).first->second;
}

class Traces : public testing::TestWithParam<Kernel> {
 protected:
  const gpu::Recording& recording = traced(GetParam()).recording;
  const Json& trace = traced(GetParam()).trace;
};

using Track = std::pair<int, int>;
Track track_of(const Json& event) { return {event["pid"].get<int>(), event["tid"].get<int>()}; }

TEST_P(Traces, EveryEventHasWhatItsKindNeeds) {
  ASSERT_TRUE(trace["traceEvents"].is_array());
  std::uint64_t last = 0;
  for (const Json& event : trace["traceEvents"]) {
    for (const char* key : {"ph", "ts", "pid", "tid", "name"}) ASSERT_TRUE(event.contains(key)) << event;
    ASSERT_TRUE(event["ts"].is_number_unsigned() && event["pid"].is_number_integer() &&
                event["tid"].is_number_integer());
    const std::string kind = event["ph"];
    ASSERT_TRUE(kind == "M" || kind == "X" || kind == "C" || kind == "s" || kind == "f") << event;
    if (kind == "X") {
      ASSERT_GT(event["dur"].get<std::int64_t>(), 0) << event;
    }
    if (kind == "C") {
      ASSERT_TRUE(event["args"].begin()->is_number()) << event;
    }
    ASSERT_GE(event["ts"].get<std::uint64_t>(), last) << "out of order: " << event;
    last = event["ts"];
  }
}

TEST_P(Traces, EveryTrackHasAName) {
  std::set<Track> named;
  std::set<int> processes;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") named.insert(track_of(event));
    if (event["name"] == "process_name") processes.insert(event["pid"].get<int>());
    if (event["ph"] != "X") continue;
    ASSERT_TRUE(named.contains(track_of(event))) << event;
    ASSERT_TRUE(processes.contains(event["pid"].get<int>())) << event;
  }
  EXPECT_EQ(processes.size(), 5u) << "the SM and its four sub-cores";
}

TEST_P(Traces, NamesAreKnown) {
  const std::set<std::string> names = known_names();
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] == "iteration" || event["cat"] == "cta") continue;
    ASSERT_TRUE(names.contains(event["name"].get<std::string>())) << event;
  }
}

TEST_P(Traces, SlicesOfATrackDoNotOverlapAndLieInTheWindow) {
  std::map<Track, std::uint64_t> busy_until;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const auto from = event["ts"].get<std::uint64_t>(), until = from + event["dur"].get<std::uint64_t>();
    std::uint64_t& busy = busy_until[track_of(event)];
    ASSERT_GE(from, busy) << event;
    ASSERT_GE(from, recording.begin);
    ASSERT_LE(until, recording.end);
    busy = until;
  }
}

TEST_P(Traces, HasOneSlicePerInstructionOfTheWindow) {
  std::size_t issued = 0, slices = 0;
  for (const sm::IssueRecord& issue : recording.log.issues)
    if (issue.cycle >= recording.begin && issue.cycle < recording.end) ++issued;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "issue") ++slices;
  EXPECT_GT(issued, 0u);
  EXPECT_EQ(slices, issued);
}

TEST_P(Traces, AnArrowLeadsFromAnEarlierInstructionOfTheSameWarp) {
  std::map<std::int64_t, const Json*> begun;
  std::size_t ended = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") begun[event["id"].get<std::int64_t>()] = &event;
    if (event["ph"] != "f") continue;
    ++ended;
    const auto from = begun.find(event["id"].get<std::int64_t>());
    ASSERT_NE(from, begun.end()) << event;
    EXPECT_LT((*from->second)["ts"].get<std::uint64_t>(), event["ts"].get<std::uint64_t>());
    EXPECT_EQ(track_of(*from->second), track_of(event));
  }
  EXPECT_EQ(begun.size(), ended);
}

TEST_P(Traces, CountOccupancyBandwidthAndWatts) {
  std::set<std::string> counters;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "C") counters.insert(event["name"].get<std::string>());
  for (const char* name : {"occupancy", "L2 traffic", "board power"}) EXPECT_TRUE(counters.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Traces,
                         testing::Values(std::pair{"rtx4070", kernels::Family::simt},
                                         std::pair{"a100-pcie-40gb", kernels::Family::mma},
                                         std::pair{"h100-sxm5-80gb", kernels::Family::wgmma}),
                         [](const auto& test) { return std::string(kernels::name_of(test.param.second)); });

std::string unzipped(const std::string& bytes, std::size_t size) {
  std::string out(size + 16, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, GivesTheTextBackAndTheSameBytesEachTime) {
  for (const std::size_t size : {0u, 1u, 70000u, 1000000u}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i * i % 23);
    EXPECT_EQ(unzipped(gzipped(text), size), text);
    EXPECT_EQ(gzipped(text), gzipped(text));
  }
}

}  // namespace
}  // namespace noteg::test
