#include <gtest/gtest.h>

#include "kernels/compiled/emulator/code.hpp"
#include "tests/kernels/compiled/small_listing.hpp"

namespace noteg::compiled {
namespace {

// Whether what the code loads from shared memory decides where it goes or what it asks for.
bool follows_shared(const std::string& code) {
  const Listing listing = small_listing(code);
  return prepare(listing, listing.kernels.at(0), Wanted::addresses).keeps_shared;
}

const std::string load = "S2R R9, SR_TID.X\nISETP.LT.AND P0, PT, R9, 0x5, PT\nLDS R4, [R9]\nFADD R4, R4, R4\n";
const std::string end = "EXIT\n";

TEST(Slice, AnAddressThatWasLoadedFromSharedMemoryIsFollowed) {
  EXPECT_TRUE(follows_shared(load + "LDG.E R5, desc[UR4][R4.64]\n" + end));
  EXPECT_TRUE(follows_shared("S2R R9, SR_TID.X\nLDS R9, [R9]\nLDS R9, [R9]\n" + end)) << "a table of places";
  EXPECT_FALSE(follows_shared(load + "STG.E desc[UR4][R2.64], R4\n" + end)) << "data of a store";
}

TEST(Slice, WhatARegisterHeldDoesNotMatterWhereItIsWrittenUnderThePredicateOfItsUse) {
  const std::string write = "@P0 IMAD.WIDE R4, R9, 0x4, R6\n", use = "@P0 LDG.E R5, desc[UR4][R4.64]\n";
  EXPECT_FALSE(follows_shared(load + write + use + end));
  EXPECT_TRUE(follows_shared(load + write + "LDG.E R5, desc[UR4][R4.64]\n" + end)) << "used everywhere";
  EXPECT_TRUE(follows_shared(load + "@!P0 IMAD.WIDE R4, R9, 0x4, R6\n" + use + end)) << "written elsewhere";
  EXPECT_TRUE(follows_shared(load + write + "ISETP.LT.AND P0, PT, R9, 0x6, PT\n" + use + end)) << "another P0";
  EXPECT_FALSE(follows_shared(load + write + "@!P0 IMAD.WIDE R4, R9, 0x8, R6\nLDG.E R5, desc[UR4][R4.64]\n" + end))
      << "written on both sides";
}

TEST(Slice, LanesWhosePredicateIsFalseMayBeAskedByOthers) {
  EXPECT_TRUE(follows_shared(load + "@P0 IMAD R4, R9, 0x4, R6\n@P0 SHFL.IDX PT, R2, R4, R9, 0x1f\n" +
                             "LDG.E R5, desc[UR4][R2.64]\n" + end));
}

// Only what is added to a wide product is a pair.
TEST(Slice, AProductOfWordsReadsNoPairs) {
  const std::string load_pair = "S2R R9, SR_TID.X\nLDS R5, [R9]\n", use = "LDG.E R1, desc[UR4][R2.64]\n";
  EXPECT_FALSE(follows_shared(load_pair + "IMAD R2, R8, R4, R4\nMOV R3, RZ\n" + use + end));
  EXPECT_FALSE(follows_shared(load_pair + "IMAD.WIDE R2, R4, R4, R6\n" + use + end));
  EXPECT_TRUE(follows_shared(load_pair + "IMAD.WIDE R2, R8, R8, R4\n" + use + end));
}

TEST(Slice, WhatIsSpilledIsStoredWhereItComesBack) {
  const Listing listing = small_listing(
      "S2R R9, SR_CTAID.X\nSTL [R1+0x4], R9\nMOV R9, RZ\nLDL R8, [R1+0x4]\nISETP.LT.AND P0, PT, R8, 0x5, PT\n"
      "@P0 EXIT\nSTL [R1+0x8], R9\nEXIT\n");
  for (const Wanted wanted : {Wanted::path, Wanted::addresses})
    EXPECT_TRUE(prepare(listing, listing.kernels.at(0), wanted).steps.at(1).carried_out);
}

TEST(Slice, PredicatesOutsideTheMaskStayWhatTheyAre) {
  const Listing listing =
      small_listing("S2R R9, SR_TID.X\nISETP.LT.AND P6, PT, R9, 0x5, PT\nR2P PR, R9, 0x6\n@P6 EXIT\nEXIT\n");
  EXPECT_TRUE(prepare(listing, listing.kernels.at(0), Wanted::path).steps.at(1).carried_out);
}

}  // namespace
}  // namespace noteg::compiled
