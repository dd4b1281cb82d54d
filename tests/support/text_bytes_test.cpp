// Bytes that are no text: where they are, and what is shown of them.
#include "sim/support/text.hpp"

#include <gtest/gtest.h>

#include "sim/support/result.hpp"

namespace noteg {
namespace {

TEST(TextBytes, FindsTheFirstByteThatNoTextHolds) {
  EXPECT_EQ(first_non_text("plain\ttext\r\n"), std::string_view::npos);
  EXPECT_EQ(first_non_text("\xc2\xb5s \xe2\x82\xac \xf0\x9f\x9a\x80"), std::string_view::npos);
  EXPECT_EQ(first_non_text("a\x1b[2J"), 1u);
  EXPECT_EQ(first_non_text("a\x7f"), 1u);
  EXPECT_EQ(first_non_text("caf\xe9"), 3u);
  EXPECT_EQ(first_non_text("\xc2\x9b"
                           "2J"),
            0u);                              // CSI as one character
  EXPECT_EQ(first_non_text("\xc0\xaf"), 0u);  // overlong
  EXPECT_EQ(first_non_text("\xe0\x80\xaf"), 0u);
  EXPECT_EQ(first_non_text("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(first_non_text("\xf4\x90\x80\x80"), 0u);  // beyond Unicode
  EXPECT_EQ(first_non_text("\xe2\x82"), 0u);          // cut off
}

TEST(TextBytes, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2J\n\tb"), "a\\u001b[2J\n\tb");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\r"),
            "\\u009b2J\\u000d");
  EXPECT_EQ(printable("caf\xe9 \xc2\xb5"), "caf\\u00e9 \xc2\xb5");
  EXPECT_EQ(printable_line("a\nb"), "a\\u000ab");
  EXPECT_EQ(printable_line(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

TEST(Diagnostics, AreLinesThatATerminalDoesNotObey) {
  const Diagnostic error{"f\x1b[1m.yaml", 1, 2, "k\ney", "x", "\x07"};
  EXPECT_EQ(error.to_string(), "f\\u001b[1m.yaml:1:2: k\\u000aey: expected x, found \\u0007");
}

TEST(Diagnostics, AreBoundedInNumberAndLength) {
  const std::string text = to_string(Diagnostics(1000, {"f", 1, 1, std::string(1 << 16, 'k'), "x", "y"}));
  EXPECT_LT(text.size(), 300'000u);
  EXPECT_TRUE(text.ends_with("and 900 mistakes more\n"));
}

}  // namespace
}  // namespace noteg
