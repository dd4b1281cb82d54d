// Numbers written by users: the whole text must be one plain decimal number. No hexadecimal, no leading plus,
// no infinity, no NaN, no octal surprise (010 is ten).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace noteg {

[[nodiscard]] std::optional<long long> parse_integer(std::string_view text);
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// The shortest decimal text that reads back as the same double; independent of the locale.
[[nodiscard]] std::string format_number(double value);

}  // namespace noteg
