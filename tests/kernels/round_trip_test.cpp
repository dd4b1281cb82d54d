// What to_text() prints, parse_assembly() reads back to the same program: everything that timing can depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/access/wavefronts.hpp"
#include "kernels/assembly/assembly.hpp"
#include "kernels/config/config_file.hpp"
#include "kernels/families/build.hpp"
#include "kernels/ir/listing.hpp"

namespace noteg::kernels {
namespace {

namespace fs = std::filesystem;

Program built(const KernelConfig& config) {
  BuildRequest request;
  const Result<KernelConfig> resolved = resolve(config, {4096, 4096, 4096, 1});
  EXPECT_TRUE(resolved) << to_string(resolved.errors());
  if (!resolved) return {};
  request.config = *resolved;
  Result<Program> program = build_program(request);
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : Program{};
}

// Patterns are compared by what they say: their numbers are only names. The shared side counts for copies alone.
AccessPattern pattern_of(const Program& p, const Instruction& in) {
  if (in.pattern < 0) return {};
  AccessPattern pattern = p.patterns[static_cast<std::size_t>(in.pattern)];
  if (in.op != Opcode::ldgsts) pattern.shared_offset = {};
  pattern.store = false;  // follows from the opcode
  if (in.op == Opcode::lds && pattern.active_mask == 0) pattern.matrix = Matrix::none;
  return pattern;
}

// A constant takes no port, however wide it is.
std::array<Operand, 4> sources(const Instruction& in) {
  std::array<Operand, 4> out = in.src;
  for (Operand& o : out) {
    if (o.kind == OperandKind::constant) o.count = 1;
  }
  return out;
}

void expect_same_instruction(const Program& a, const Program& b, int at) {
  const Instruction& x = a.code[static_cast<std::size_t>(at)];
  const Instruction& y = b.code[static_cast<std::size_t>(at)];
  const bool is_same = x.op == y.op && x.modifiers == y.modifiers && x.guard == y.guard && x.dst == y.dst &&
                       sources(x) == sources(y) && x.control == y.control && x.access_bytes == y.access_bytes &&
                       x.loop == y.loop && x.taken == y.taken && x.depbar_count == y.depbar_count &&
                       (x.pattern < 0) == (y.pattern < 0) && pattern_of(a, x) == pattern_of(b, y);
  EXPECT_TRUE(is_same) << at << "\n" << to_text(a, at) << "\n" << to_text(b, at);
}

void expect_same_program(const Program& a, const Program& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.loops, b.loops);
  EXPECT_EQ(a.roles, b.roles);
  EXPECT_EQ(a.mainloop_begin, b.mainloop_begin);
  EXPECT_EQ(a.epilogue_begin, b.epilogue_begin);
  EXPECT_EQ(a.warps, b.warps);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.shared_bytes, b.shared_bytes);
  EXPECT_EQ(a.k_per_iteration, b.k_per_iteration);
  EXPECT_EQ(a.stages, b.stages);
  EXPECT_EQ(a.peeled_tiles, b.peeled_tiles);
  EXPECT_EQ(a.prologue_tiles, b.prologue_tiles);
  EXPECT_EQ(a.a_bytes_per_iteration, b.a_bytes_per_iteration);
  EXPECT_EQ(a.b_bytes_per_iteration, b.b_bytes_per_iteration);
  ASSERT_EQ(a.code.size(), b.code.size());
  for (int at = 0; at < static_cast<int>(a.code.size()); ++at) {
    expect_same_instruction(a, b, at);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_round_trip(const Program& program) {
  const std::string text = to_text(program);
  const Result<Program> read = parse_assembly(text, "printed.nsass");
  ASSERT_TRUE(read) << to_string(read.errors());
  expect_same_program(program, *read);
  EXPECT_TRUE(to_text(*read) == text);
}

std::vector<std::string> shipped_kernels() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(NOTEG_SOURCE_DIR "/kernels/library"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class PrintedShippedKernel : public testing::TestWithParam<std::string> {};

TEST_P(PrintedShippedKernel, ReadsBackTheSame) {
  const Result<KernelConfig> config = load_kernel_file(NOTEG_SOURCE_DIR "/kernels/library/" + GetParam() + ".yaml");
  ASSERT_TRUE(config) << to_string(config.errors());
  if (config->family == Family::wgmma) GTEST_SKIP() << "barriers, boxes and warpgroups are not part of the text";
  expect_round_trip(built(*config));
}

INSTANTIATE_TEST_SUITE_P(Kernels, PrintedShippedKernel, testing::ValuesIn(shipped_kernels()),
                         [](const auto& tested) { return tested.param; });

class PrintedNamedKernel : public testing::TestWithParam<const char*> {};

TEST_P(PrintedNamedKernel, ReadsBackTheSame) {
  const Result<KernelConfig> config = config_from_name(GetParam());
  ASSERT_TRUE(config) << to_string(config.errors());
  expect_round_trip(built(*config));
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, PrintedNamedKernel,
    testing::Values("ampere_sgemm_128x64_tn", "ampere_sgemm_32x128_nn", "ampere_sgemm_64x32_sliced1x4_tn",
                    "cutlass_80_simt_sgemm_256x128_8x4_tn_align1", "cutlass_80_simt_sgemm_128x128_8x5_nt_align1",
                    "cutlass_simt_sgemm_128x128_8x2_nn_align1", "cutlass_simt_sgemm_64x64_8x3_nn_align1",
                    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_"
                    "execute_kernel__5x_cublas",
                    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_"
                    "execute_kernel__5x_cublas"));

class PrintedNaiveTile : public testing::TestWithParam<int> {};

TEST_P(PrintedNaiveTile, ReadsBackTheSame) {
  KernelConfig config;
  config.family = Family::naive;
  config.tile = {GetParam(), GetParam(), GetParam()};
  expect_round_trip(built(config));
}

INSTANTIATE_TEST_SUITE_P(Kernels, PrintedNaiveTile, testing::Values(1, 2, 3, 5, 7, 8, 12, 13, 18, 24, 31, 32));

TEST(RoundTrip, TextThatSomebodyWroteIsStableOnceItIsPrinted) {
  const Result<Program> read = parse_assembly(R"(
.warps 4
.access R8 shared 16 (lane ^ lane/8)*16
top:
[B0-----:R-:W0:-:S02] LDS.128 R4, [R8+0x10] ;
[B------:R-:W1:-:S02] LDG.E R20, desc[UR10][R12.64+-0x4] ;
[B01----:R-:W-:Y:S04] FFMA R0, -R4.reuse, |R20|, R0 ;
[B------:R-:W-:-:S02] FMUL R1, R1, 1.5 ;
[B------:R-:W2:-:S02] S2R R30, SR_LANEID ;
[B------:R-:W-:-:S02] LOP3.LUT P2, RZ, R2, 0x3, RZ, 0xc0, !PT ;
[B------:R-:W-:-:S02] ISETP.GE.AND P0, PT, R1, R2, PT ;
[B------:R-:W-:-:S05] @P0 BRA top ;
)",
                                              "by_hand.nsass");
  ASSERT_TRUE(read) << to_string(read.errors());
  expect_round_trip(*read);
}

TEST(RoundTrip, RolesKeepTheirWarpsAndStreams) {
  const Result<Program> read = parse_assembly(R"(
.role copy warps=0-0 registers=40
.access R4 shared 16 lane*16
.access R8 global 16 lane*16 mask=0xff
a:
LDGSTS.E.BYPASS.128 [R4], [R8.64]
LDGDEPBAR
BRA a
EXIT
.role math warps=1-4
b:
FFMA R0, R1, R2, R0
BRA b
)",
                                              "roles.nsass");
  ASSERT_TRUE(read) << to_string(read.errors());
  ASSERT_EQ(read->roles.size(), 2U);
  EXPECT_EQ(read->roles[0], (Role{"copy", 0, 4, 0, 1, 40}));
  EXPECT_EQ(read->roles[1], (Role{"math", 4, 7, 1, 4, 0}));
  EXPECT_EQ(read->warps, 5);
  expect_round_trip(*read);
}

// Whatever form is chosen gives every lane its offset.
void expect_form(const std::array<std::uint32_t, 32>& offset, std::string_view form) {
  const std::string text = lane_form(offset);
  EXPECT_EQ(text, form);
  if (text.front() == '[') return;
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(evaluate_lane_expression(text, lane), offset[lane]) << lane;
}

template <class Function>
std::array<std::uint32_t, 32> lanes(Function f) {
  std::array<std::uint32_t, 32> out{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) out[lane] = f(lane);
  return out;
}

TEST(LaneForm, FindsTheFormsOfTilesAndSwizzles) {
  expect_form(lanes([](auto) { return 0U; }), "0");
  expect_form(lanes([](auto) { return 16U; }), "16");
  expect_form(lanes([](auto l) { return l * 4; }), "lane*4");
  expect_form(lanes([](auto l) { return l / 12 * 4096 + l % 12 * 4; }), "lane/12*4096 + lane%12*4");
  expect_form(lanes([](auto l) { return l / 16 * 32 + l % 2 * 16; }), "lane/16*32 + lane%2*16");
  expect_form(lanes([](auto l) { return l % 8 * 16 + l / 8 % 2 * 1024 + 64; }), "lane/8%2*1024 + lane%8*16 + 64");
  expect_form(lanes([](auto l) { return (l ^ l / 8) * 16; }),
              "lane/16*288 ^ lane/8%2*144 ^ lane/4%2*64 ^ lane/2%2*32 ^ lane%2*16");
}

TEST(LaneForm, ListsWhatFollowsNoForm) {
  const auto squares = lanes([](auto l) { return l * l * 4; });
  EXPECT_EQ(lane_form(squares).substr(0, 12), "[0 4 16 36 6");
}

}  // namespace
}  // namespace noteg::kernels
