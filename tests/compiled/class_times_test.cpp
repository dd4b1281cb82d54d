// Launches whose CTAs are of several classes.
#include "sim/compiled/class_times.hpp"

#include <gtest/gtest.h>

#include "tests/compiled/small_run.hpp"

namespace noteg::compiled {
namespace {

// Each CTA below the bound of the second argument copies 16 KB; the others leave at once.
double microseconds(std::int64_t ctas, std::int64_t bound) {
  std::string code =
      "S2R R0, SR_CTAID.X\nLDC R1, c[0x0][0x220]\nISETP.GE.AND P0, PT, R0, R1, PT\n@P0 EXIT\nS2R R2, SR_TID.X\n"
      "LEA R3, R0, R2, 0x8\nLDC.64 R4, c[0x0][0x210]\nLDC.64 R6, c[0x0][0x218]\nIMAD.WIDE R4, R3, 0x40, R4\n"
      "IMAD.WIDE R6, R3, 0x40, R6\n";
  for (const char* at : {"", "+0x10", "+0x20", "+0x30"})
    code += "LDG.E.128 R8, desc[UR4][R4.64" + std::string(at) + "]\nSTG.E.128 desc[UR4][R6.64" + at + "], R8\n";
  Small kernel(code + "EXIT\n", {buffer(1 << 30), buffer(1 << 30), i32(bound)}, {256, 1, 1}, {ctas, 1, 1});
  kernel.launch.arguments[1].name = "b";
  const gpu::SimReport report = simulated(kernel, 1980);
  return report.time_us - report.phases_us.launch;
}

// What a CTA does not ask for it does not wait for, and what it asks for is not shared out to others.
TEST(ClassTimes, CtasThatLeaveAtOnceTakeAsLongAsInALaunchOfTheirOwn) {
  const double working = microseconds(16384, 16384), leaving = microseconds(49152, 0);
  EXPECT_GT(leaving, 0.1 * working);
  EXPECT_NEAR(microseconds(65536, 16384), working + leaving, 0.06 * (working + leaving));
}

}  // namespace
}  // namespace noteg::compiled
