// Rates of loads that hit L1 or shared memory: GPUB gpu-strides on H200 (cycles per warp load by stride), UB4090,
// LUO24, GPUB and H100R (bytes per clock and SM), as cycles per warp instruction of the whole SM.
#include <fmt/format.h>

#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

struct Rate {
  const char* name;
  const char* gpu;
  const char* mnemonic;
  const char* lanes;
  double cycles;
  const char* source;
};

constexpr int warps = 16;

double cycles_per_instruction(const Rate& rate) {
  std::string body;
  const std::string mnemonic = rate.mnemonic;
  for (int i = 0; i < 8; ++i) body += ins(fmt::format("{} R{}, [R2]", mnemonic, 8 + 4 * i));
  const int bytes = mnemonic.ends_with("128") ? 16 : mnemonic.ends_with("64") ? 8 : 4;
  const std::string head = fmt::format(".warps {}\n.access R2 {} {} {}\n", warps,
                                       mnemonic.starts_with("LDS") ? "shared" : "global", bytes, rate.lanes);
  return cycles_per_copy(head, body, 8, rate.gpu) / (8.0 * warps);
}

constexpr const char* strides = "GPUB gpu-strides, H200";

constexpr const char* hits = "H200M: 16 warps, loads that hit L1";

constexpr Rate rates[] = {
    {"LDG stride 1 sm_90", gh100, "LDG.E", "lane*4", 1.0, strides},
    {"LDG stride 2 sm_90", gh100, "LDG.E", "lane*8", 2.0, strides},
    {"LDG stride 3 sm_90", gh100, "LDG.E", "lane*12", 1.6, strides},
    {"LDG stride 4 sm_90", gh100, "LDG.E", "lane*16", 4.0, strides},
    {"LDG stride 5 sm_90", gh100, "LDG.E", "lane*20", 2.0, strides},
    {"LDG stride 6 sm_90", gh100, "LDG.E", "lane*24", 2.3, strides},
    {"LDG stride 7 sm_90", gh100, "LDG.E", "lane*28", 2.4, strides},
    {"LDG stride 8 sm_90", gh100, "LDG.E", "lane*32", 8.0, strides},
    {"LDG stride 9 sm_90", gh100, "LDG.E", "lane*36", 3.0, strides},
    {"LDG.64 stride 8 sm_90", gh100, "LDG.E.64", "lane*64", 16.0, strides},
    {"LDG.64 stride 1 sm_90", gh100, "LDG.E.64", "lane*8", 2.01, strides},
    {"LDG.64 of one address sm_90", gh100, "LDG.E.64", "0", 2.01, hits},
    {"LDG.128 of one address sm_90", gh100, "LDG.E.128", "0", 4.03, hits},
    {"LDG.64 half warps alike sm_90", gh100, "LDG.E.64", "lane%16*8", 2.02, hits},
    {"LDG.64 half warps alike, stride 2 sm_90", gh100, "LDG.E.64", "lane%16*16", 4.01, hits},
    {"LDG.64 half warps alike, stride 4 sm_90", gh100, "LDG.E.64", "lane%16*32", 8.02, hits},
    {"LDG.128 half warps alike sm_90", gh100, "LDG.E.128", "lane%16*16", 4.04, hits},
    {"LDG.128 quarters alike, stride 2 sm_90", gh100, "LDG.E.128", "lane%8*32", 8.01, hits},
    {"LDG two addresses sm_90", gh100, "LDG.E", "lane/16*128", 2.02, hits},
    {"LDS.128 of one address sm_90", gh100, "LDS.128", "0", 2.03, hits},
    {"LDG stride 1 sm_80", ga100, "LDG.E", "lane*4", 1.02, "GPUB gpu-strides, A100"},
    {"LDG.64 stride 1 sm_80", ga100, "LDG.E.64", "lane*8", 2.01, "GPUB gpu-strides, A100"},
    {"LDS.64 sm_80", ga100, "LDS.64", "lane*8", 2.0, "LUO24: 128 B/clk/SM"},
    {"LDG.128 sm_80", ga100, "LDG.E.128", "lane*16", 512 / 125.6, "GPUB: 125.6 B/clk/SM"},
    {"LDG stride 1 sm_86", ga102, "LDG.E", "lane*4", 2.0, "GPUB gpu-strides, A40"},
    {"LDS sm_89", ada, "LDS", "lane*4", 128 / 63.84, "UB4090: 63.84 B/clk/SM"},
    {"LDS.64 sm_89", ada, "LDS.64", "lane*8", 256 / 127.9, "UB4090: 127.9 B/clk/SM"},
    {"LDG sm_89", ada, "LDG.E", "lane*4", 128 / 62.96, "UB4090: 62.96 B/clk/SM"},
    {"LDG.64 sm_89", ada, "LDG.E.64", "lane*8", 256 / 111.06, "UB4090: 111.06 B/clk/SM"},
    {"LDG.128 sm_89", ada, "LDG.E.128", "lane*16", 512 / 121.2, "LUO24: 121.2 B/clk/SM"},
    {"LDS sm_90", gh100, "LDS", "lane*4", 128 / 127.53, "H100R: 127.53 B/clk/SM"},
    {"LDG.128 sm_90", gh100, "LDG.E.128", "lane*16", 512 / 125.7, "H100R: 125.7 B/clk/SM"},
};

}  // namespace

std::vector<MeasuredRow> memory_throughput_rows() {
  std::vector<MeasuredRow> rows;
  for (const Rate& rate : rates) {
    rows.push_back({fmt::format("memory rate: {}", rate.name), rate.cycles, rate.source,
                    [=] { return cycles_per_instruction(rate); }});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(MemoryRate, HardwareTable, testing::ValuesIn(memory_throughput_rows()), test_name);

}  // namespace noteg::sm::tables
