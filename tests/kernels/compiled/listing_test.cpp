#include "kernels/compiled/listing/listing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "kernels/compiled/emulator/machine.hpp"
#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/listing/cubin.hpp"
#include "kernels/compiled/listing/opcodes.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::compiled {
namespace {

constexpr std::string_view two_words = R"(
	.section	.text.k,"ax",@progbits
k:
        /*0000*/                   IMAD.WIDE.U32 R2, R9.reuse, 0x4, R2 ;     /* 0x0000000409027825 */
                                                                             /* 0x001fcc00078e0202 */
.L_x_1:
        /*0010*/              @!P0 BRA `(.L_x_1) ;                           /* 0xfffffffc00fc7947 */
                                                                             /* 0x000fea000383ffff */
        /*0020*/                   EXIT ;                                    /* 0x000000000000794d */
                                                                             /* 0x000fea0003800000 */
)";

TEST(Listing, TakesControlBitsFromTheSecondWord) {
  const auto listing = parse_listing(std::string(two_words), "k.sass");
  ASSERT_TRUE(listing) << to_string(listing.errors());
  const Instruction& in = listing->kernels.at(0).instructions.at(0);
  EXPECT_EQ(in.control.stall, 6);
  EXPECT_FALSE(!in.control.yield);
  EXPECT_EQ(in.control.write_barrier, -1);
  EXPECT_EQ(in.control.wait_mask, 1);
  EXPECT_TRUE(in.operand.at(1).reuse);
  EXPECT_TRUE(in.has("WIDE"));
  EXPECT_FALSE(in.has("HI"));
}

TEST(Listing, ResolvesLabelsToAddresses) {
  const auto listing = parse_listing(std::string(two_words), "k.sass");
  ASSERT_TRUE(listing);
  const Instruction& branch = listing->kernels.at(0).instructions.at(1);
  EXPECT_EQ(branch.operand.at(0).value, 0x10);
  EXPECT_TRUE(branch.guard_negated);
  EXPECT_EQ(branch.guard, 0);
}

TEST(Listing, ReadsEachFormOfTheCorpus) {
  for (const std::string name : {"nvdisasm", "cuobjdump", "triton", "bracketed"}) {
    const auto listing = read_listing(std::string(NOTEG_SOURCE_DIR "/tests/fuzz/corpus/sass/") + name + ".sass");
    ASSERT_TRUE(listing) << name << to_string(listing.errors());
    EXPECT_GE(listing->kernels.at(0).instructions.size(), 3u) << name;
  }
}

TEST(Listing, HasNoOpcodeWithoutClass) {
  for (const std::string name : {"compiled/own_sm90a.sass.gz", "sass/m_copy4_sm80.sass"}) {
    const auto listing = read_listing(std::string(NOTEG_SOURCE_DIR "/tests/data/") + name);
    ASSERT_TRUE(listing) << to_string(listing.errors());
    for (const Code& code : listing->kernels) EXPECT_TRUE(unknown_opcodes(*listing, code).empty()) << code.name;
  }
}

TEST(Listing, NamesAnUnknownOpcodeWithItsLine) {
  std::string text(two_words);
  text.replace(text.find("IMAD.WIDE.U32"), 13, "FROBNICATE.U3");
  const auto listing = parse_listing(text, "k.sass");
  ASSERT_TRUE(listing);
  const Diagnostics unknown = unknown_opcodes(*listing, listing->kernels.at(0));
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown.at(0).line, 4);
  EXPECT_EQ(unknown.at(0).key, "FROBNICATE");
}

// nvdisasm without -c lists data beside the code.
TEST(Listing, PassesDataOfOtherSectionsBy) {
  const std::string data =
      "\t.section\t.debug_frame,\"\",@progbits\n.debug_frame:\n        /*0000*/ \t.byte\t0xff, 0x24\n";
  const auto listing = parse_listing(data + std::string(two_words), "k.sass");
  ASSERT_TRUE(listing) << to_string(listing.errors());
  EXPECT_EQ(listing->kernels.size(), 1u);
}

TEST(Listing, RefusesWhatIsCutOffMixedOrNoListing) {
  const auto fails = [](std::string text) { return !parse_listing(std::move(text), "k.sass"); };
  std::string cut(two_words);
  cut.resize(cut.rfind("/* 0x000fea"));
  EXPECT_TRUE(fails(cut));
  EXPECT_TRUE(fails("hello\n"));
  EXPECT_TRUE(fails(""));
  EXPECT_TRUE(fails("\t.target\tsm_80\n\t.target\tsm_90\n" + std::string(two_words)));
  EXPECT_TRUE(fails(std::string(two_words) + std::string(two_words)));
  std::string wrong_address(two_words);
  wrong_address.replace(wrong_address.find("/*0010*/"), 8, "/*0030*/");
  EXPECT_TRUE(fails(wrong_address));
  std::string no_label(two_words);
  no_label.replace(no_label.find("`(.L_x_1)"), 9, "`(.L_x_7)");
  EXPECT_TRUE(fails(no_label));
}

TEST(Listing, EndsAKernelWhereNoThreadGoesOn) {
  const auto errors = [](const std::string& last) {
    return to_string(
        parse_listing("code for sm_90\nFunction:k\nL:\n--:-:-:-:1\tMOV R1, R2;\n--:-:-:-:1\t" + last + ";\n", "k.sass")
            .errors());
  };
  for (const char* end : {"EXIT", "@PT EXIT", "BRA L", "BRA `(L)", "RET.REL.NODEC R2", "BRA L;\n--:-:-:-:0\tNOP"})
    EXPECT_EQ(errors(end), "") << end;
  for (const char* within : {"@P0 EXIT", "@!PT EXIT", "@!P0 BRA L", "BRA.DIV UR4, L", "BRA.U !UP0, L", "MOV R2, R3"})
    EXPECT_NE(
        errors(within).find("k.sass:5: expected the kernel's code down to an EXIT, RET or BRA that ends it, found "
                            "the end in the midst of k"),
        std::string::npos)
        << within << errors(within);
}

TEST(Listing, RefusesAPackedFileThatIsCutOff) {
  const Result<std::string> whole = read_file(NOTEG_SOURCE_DIR "/tests/data/compiled/own_sm90a.sass.gz", 1 << 20);
  ASSERT_TRUE(whole);
  const std::string path = testing::TempDir() + "cut.sass.gz";
  for (const std::size_t kept : {whole->size() - 4, whole->size() - 86, whole->size() / 2}) {
    std::ofstream(path, std::ios::binary) << whole->substr(0, kept);
    const Result<Listing> listing = read_listing(path);
    ASSERT_FALSE(listing) << kept;
    EXPECT_EQ(to_string(listing.errors()), path + ": expected a whole gzip stream, found a truncated one\n");
  }
}

TEST(LaunchFile, PointsAtEveryMistake) {
  const auto launch =
      parse_launch("grid: [0, 1, 1]\nblock: [2000]\nargs: [{i33: 1}, {buffer: A}]\nfrob: 1\n", "l.yaml");
  ASSERT_FALSE(launch);
  std::string all = to_string(launch.errors());
  for (const std::string_view place : {"l.yaml:1:", "l.yaml:2:", "l.yaml:3:", "l.yaml:4:"})
    EXPECT_NE(all.find(place), std::string::npos) << all;
}

TEST(LaunchFile, AGridHasNoMoreCtasThanCanBeCounted) {
  const auto launch = [](const std::string& grid) {
    return parse_launch("grid: " + grid + "\nblock: [32]\nargs: []\n", "l.yaml");
  };
  EXPECT_TRUE(launch("[2147483647, 65535, 1]"));
  EXPECT_TRUE(launch("[65536, 65535, 65535]"));
  EXPECT_NE(to_string(launch("[2147483647, 65535, 65535]").errors())
                .find("l.yaml:1:7: grid: expected at most 281474976710656 CTAs in all, found more"),
            std::string::npos);
  EXPECT_FALSE(launch_from_row({"k", "2147483647x2147483647x2147483647", "32x1x1", "", "", "", ""}, "rows.csv", 2));
}

TEST(LaunchFile, AKernelMayHaveNoParameters) {
  for (const std::string args : {"args:\n", "args: []\n"}) {
    const auto launch = parse_launch("grid: [1, 1, 1]\nblock: [32, 1, 1]\n" + args, "l.yaml");
    ASSERT_TRUE(launch) << args << to_string(launch.errors());
    EXPECT_TRUE(launch->arguments.empty());
  }
}

TEST(LaunchFile, SaysTheSameAsAMeasuredRow) {
  const auto file = parse_launch(
      "kernel: k\ngrid: [4, 2]\nblock: [32, 8, 1]\ndynamic_shared: 48 KiB\nargs: [{i32: -1}, {f32: 0.5}, {buffer: A, "
      "bytes: 1 KiB, content: idx7}]\ncluster: [2, 1, 1]\n",
      "l.yaml");
  ASSERT_TRUE(file) << to_string(file.errors());
  const auto row =
      launch_from_row({"k", "4x2x1", "32x8x1", "49152", "i=-1 f=0.5 p=A:1024:idx7", "", "", "2x1x1"}, "rows.csv", 2);
  ASSERT_TRUE(row) << to_string(row.errors());
  EXPECT_EQ(file->cluster, row->cluster);
  EXPECT_EQ(file->grid, row->grid);
  EXPECT_EQ(file->block, row->block);
  EXPECT_EQ(file->dynamic_shared, row->dynamic_shared);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(file->arguments.at(i).value, row->arguments.at(i).value);
    EXPECT_EQ(file->arguments.at(i).bytes, row->arguments.at(i).bytes);
    EXPECT_EQ(file->arguments.at(i).below, row->arguments.at(i).below);
  }
}

TEST(LaunchFile, IndicesMayBeOf64Bits) {
  const auto content = [](const std::string& text) {
    return parse_launch("kernel: k\ngrid: [1]\nblock: [32]\nargs: [{buffer: A, bytes: 1 KiB, content: " + text + "}]\n",
                        "l.yaml");
  };
  const auto launch = content("i64idx50");
  ASSERT_TRUE(launch) << to_string(launch.errors());
  const LaunchMemory memory(*launch, 90);
  const std::uint64_t base = memory.buffers().front().base;
  bool differ = false;
  for (std::uint64_t at = 0; at < 512; at += 8) {
    EXPECT_LT(memory.load(base + at, 8, 0).value(), 50U);
    EXPECT_EQ(memory.load(base + at, 8, 1).value(), 0U);
    EXPECT_EQ(memory.load(base + at + 4, 4, 0).value(), 0U);
    differ = differ || memory.load(base + at, 8, 0) != memory.load(base, 8, 0);
  }
  EXPECT_TRUE(differ);
  EXPECT_FALSE(content("i64zero"));
}

TEST(LaunchFile, ARowsClusterIsExtents) {
  const auto row = launch_from_row({"k", "4x2x1", "32x8x1", "", "", "", "", "two"}, "rows.csv", 2);
  ASSERT_FALSE(row);
  EXPECT_NE(to_string(row.errors()).find("cluster"), std::string::npos);
}

TEST(Cubin, RefusesOtherFilesAndThoseCutOff) {
  EXPECT_FALSE(parse_cubin("", "a"));
  EXPECT_FALSE(
      parse_cubin("\x7f"
                  "ELF",
                  "a"));
  std::string header(64, '\0');
  header.replace(0, 6,
                 std::string("\x7f"
                             "ELF\2\1",
                             6));
  header[18] = static_cast<char>(190);
  header[58] = 64;
  header[60] = 3;
  header[40] = 64;  // section headers begin where the file ends
  EXPECT_FALSE(parse_cubin(header, "a"));
}

}  // namespace
}  // namespace noteg::compiled
