// Copies to shared memory through L1 against the counters of an H200: 64 copies of 4 bytes a lane, one warp, each of
// lines that L1 does not hold; t_output_wavefronts and data_pipe_lsu_wavefronts_mem_shared.
#include "kernels/access/wavefronts.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

enum class Write { straight, transposed, padded, rows_collide, one_bank, halves, eighths, pairs };

struct Measured {
  std::uint32_t pitch, width;  // bytes between rows, words of a row
  Write write;
  std::uint64_t step;  // bytes from one copy to the next
  double lookups, wavefronts;
};

std::ostream& operator<<(std::ostream& out, const Measured& m) {
  return out << "pitch " << m.pitch << " width " << m.width << " write " << static_cast<int>(m.write) << " step "
             << m.step;
}

constexpr Measured measured[] = {
    {4096, 8, Write::straight, 12416, 101, 256},     {4096, 8, Write::transposed, 12416, 101, 963},
    {4096, 8, Write::padded, 12416, 101, 256},       {4096, 8, Write::transposed, 32, 64, 704},
    {4000, 8, Write::straight, 12032, 150, 150},     {4000, 8, Write::transposed, 12032, 150, 1200},
    {4000, 8, Write::transposed, 32, 153, 1224},     {4128, 8, Write::transposed, 12416, 101, 808},
    {4160, 8, Write::transposed, 12544, 124, 1023},  {4192, 8, Write::transposed, 12672, 145, 1160},
    {4224, 8, Write::transposed, 12800, 167, 1425},  {2220, 8, Write::transposed, 6784, 129, 1076},
    {1024, 8, Write::transposed, 3200, 106, 998},    {512, 8, Write::transposed, 1664, 105, 991},
    {128, 8, Write::transposed, 512, 64, 704},       {64, 8, Write::transposed, 256, 64, 576},
    {96, 8, Write::transposed, 384, 73, 584},        {160, 8, Write::transposed, 512, 64, 512},
    {8192, 8, Write::transposed, 24704, 100, 956},   {8224, 8, Write::transposed, 24704, 100, 800},
    {16384, 8, Write::transposed, 49280, 105, 991},  {65536, 8, Write::transposed, 128, 64, 704},
    {65568, 8, Write::transposed, 128, 64, 512},     {3072, 8, Write::transposed, 9344, 130, 1166},
    {12288, 8, Write::transposed, 36992, 136, 1208}, {16000, 8, Write::transposed, 48128, 122, 1110},
    {4096, 8, Write::one_bank, 12416, 101, 2048},    {4096, 8, Write::eighths, 12416, 101, 512},
    {4096, 8, Write::pairs, 12416, 101, 357},        {4000, 8, Write::rows_collide, 12032, 150, 256},
    {4128, 8, Write::halves, 12416, 101, 155},       {4096, 16, Write::straight, 4224, 73, 128},
    {4096, 16, Write::transposed, 4224, 73, 1223},   {4000, 16, Write::transposed, 4096, 64, 1600},
    {4128, 16, Write::transposed, 4224, 73, 1663},   {0, 32, Write::straight, 128, 64, 64},
    {0, 32, Write::one_bank, 128, 64, 2048},
};

std::uint32_t shared_offset(const Measured& m, std::uint32_t lane) {
  const std::uint32_t along = lane % m.width, row = lane / m.width;
  switch (m.write) {
    case Write::straight: return lane * 4;
    case Write::transposed: return along * 512 + row * 4;
    case Write::padded: return along * (512 + 4 * (32 / m.width)) + row * 4;
    case Write::rows_collide: return along * 4 + row * 128;
    case Write::one_bank: return lane * 128;
    case Write::halves: return lane * 8;
    case Write::eighths: return lane * 32;
    case Write::pairs: return lane / 2 * 4 + lane % 2 * 128;
  }
  return 0;
}

AccessPattern pattern_of(const Measured& m) {
  AccessPattern p;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    p.offset[lane] = lane / m.width * m.pitch + lane % m.width * 4;
    p.shared_offset[lane] = shared_offset(m, lane);
  }
  return p;
}

class CopyPassesOf : public testing::TestWithParam<Measured> {};

TEST_P(CopyPassesOf, AreTheCountedOnes) {
  const AccessPattern pattern = pattern_of(GetParam());
  CopyPasses sum;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const CopyPasses one = copy_passes(pattern, i * GetParam().step);
    sum.lookups += one.lookups;
    sum.wavefronts += one.wavefronts;
  }
  EXPECT_EQ(sum.lookups, GetParam().lookups);
  EXPECT_EQ(sum.wavefronts, GetParam().wavefronts);
}

INSTANTIATE_TEST_SUITE_P(H200, CopyPassesOf, testing::ValuesIn(measured));

AccessPattern transposing() {
  AccessPattern p;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    p.offset[lane] = lane / 8 * nominal_pitch + lane % 8 * 4;
    p.shared_offset[lane] = lane % 8 * 512 + lane / 8 * 4;
  }
  return p;
}

// Counters of CUTLASS's 128x128x8 kernel, both operands along K: 10.0 conflicts per copy at K = 1024, 2048 and 4096;
// 16.0 with 2.35 look-ups at K = 1000.
TEST(MeanCopyPasses, OfMatrices) {
  for (const std::uint64_t k : {1024U, 2048U, 4096U}) {
    EXPECT_EQ(mean_copy_passes(transposing(), 4 * k).wavefronts, 11) << k;
    EXPECT_EQ(mean_copy_passes(transposing(), 4 * k).lookups, 1) << k;
  }
  const CopyPasses odd = mean_copy_passes(transposing(), 4000);
  EXPECT_NEAR(odd.lookups, 2.35, 0.05);
  EXPECT_NEAR(odd.wavefronts - odd.lookups, 16.0, 0.4);
}

TEST(MeanCopyPasses, IdleLanesTakeNone) {
  AccessPattern p = transposing();
  p.active_mask = 0;
  EXPECT_EQ(mean_copy_passes(p, 4096).wavefronts, 0);
  p.active_mask = 1;
  EXPECT_EQ(mean_copy_passes(p, 4096).wavefronts, 1);
}

TEST(AlikePitch, StandsForItself) {
  for (const std::uint64_t pitch : {4096U, 4128U, 3072U, 4224U}) EXPECT_EQ(alike_pitch(pitch), pitch);
  EXPECT_EQ(alike_pitch(8192), nominal_pitch);
  EXPECT_EQ(alike_pitch(4000), 3072U);
}

// 16 bytes a lane, rows of so many bytes, so far apart in shared memory (h100_sm_micro, copy_requests).
AccessPattern wide_rows(std::uint32_t bytes, std::uint32_t apart) {
  AccessPattern p;
  p.bytes_per_lane = 16;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane * 16 / bytes, place = lane * 16 % bytes;
    p.offset[lane] = row * nominal_pitch + place;
    p.shared_offset[lane] = row * apart + place;
  }
  return p;
}

struct MeasuredCopy {
  std::uint32_t row, apart;
  double cycles;   // of one SM
  double arrived;  // sectors
  double at_l2;
};
constexpr MeasuredCopy measured_copies[] = {
    {16, 32, 34.55, 32.0, 32.0},   {32, 32, 17.25, 16.0, 16.0},  {32, 48, 24.02, 24.0, 16.01},
    {32, 64, 16.01, 16.0, 16.0},   {64, 64, 8.02, 16.0, 16.0},   {64, 80, 15.02, 24.0, 20.03},
    {64, 96, 10.02, 16.0, 16.0},   {64, 128, 8.01, 16.0, 16.0},  {128, 128, 4.26, 16.0, 16.0},
    {128, 144, 10.53, 24.0, 24.0}, {128, 160, 7.01, 16.0, 16.0}, {128, 192, 6.01, 16.0, 16.0},
    {256, 256, 4.34, 16.0, 16.0},  {512, 512, 4.33, 16.0, 16.0}};

// A warp's rows lie in one place or another of shared memory's lines: the mean over places that rows of so many bytes,
// so far apart, come to.
TEST(CopyRequests, AreWhatAnSmTakesCyclesFor) {
  for (const MeasuredCopy& m : measured_copies) {
    double requests = 0, sectors = 0, at_l2 = 0;
    constexpr int places = 8;
    for (std::uint32_t place = 0; place < places; ++place) {
      AccessPattern p = wide_rows(m.row, m.apart);
      for (std::uint32_t& offset : p.shared_offset) offset += place * (512 / m.row) * m.apart;
      const CopyRequests of = copy_requests(p);
      requests += static_cast<double>(of.requests) / places;
      sectors += static_cast<double>(of.sectors) / places;
      at_l2 += static_cast<double>(of.at_l2) / places;
    }
    EXPECT_NEAR(requests / m.cycles, 1, 0.08) << m.row << " " << m.apart;
    EXPECT_EQ(sectors, m.arrived) << m.row << " " << m.apart;
    EXPECT_NEAR(at_l2, m.at_l2, 0.05) << m.row << " " << m.apart;
  }
}

TEST(CopyRequests, SwizzledRowsAreWhole) {
  AccessPattern p = wide_rows(128, 128);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    p.shared_offset[lane] = lane / 8 * 128 + ((lane % 8) ^ (lane / 8)) * 16;
  EXPECT_EQ(copy_requests(p).requests, 4);
  EXPECT_EQ(copy_requests(p).whole, 16);
  EXPECT_EQ(copy_requests(wide_rows(128, 160)).whole, 4);  // the first of four rows
}

}  // namespace
}  // namespace noteg::kernels
