// Words, numbers and bytes of texts that users and strangers wrote.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace noteg {

// Where the first byte is that no text holds: no UTF-8 (overlong forms and surrogates included), or a control character
// (U+0080 to U+009F included) other than tab, line feed and carriage return. npos: all of it is text.
[[nodiscard]] std::size_t first_non_text(std::string_view text);

// The byte there, for a message: "the byte 0xe9" or "the control character 0x1b".
[[nodiscard]] std::string describe_byte(std::string_view text, std::size_t at);

// A terminal obeys control characters, also U+0080 to U+009F. Those, and bytes that are no UTF-8, come out as \u001b:
// visible, and the same character once more inside a JSON string. Tabs and line feeds stay.
[[nodiscard]] std::string printable(std::string_view text);

// The same for a part of one line: line feeds are shown too; longer ones end in "..." after about `most` bytes.
[[nodiscard]] std::string printable_line(std::string_view text, std::size_t most = std::string_view::npos);

// Numbers written by users: the whole text must be one plain decimal number. No hexadecimal, no leading plus,
// no infinity, no NaN, no octal surprise (010 is ten).
[[nodiscard]] std::optional<long long> parse_integer(std::string_view text);
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// The shortest decimal text that reads back as the same double; independent of the locale.
[[nodiscard]] std::string format_number(double value);

// "a,b,c" taken apart.

// The parts between commas, empty ones too; an empty text has no parts.
[[nodiscard]] std::vector<std::string> comma_list(std::string_view text);

// "Did you mean ...?": names close to one that a user typed.

// Number of single-character insertions, removals, replacements and neighbour swaps between two texts, case ignored.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// At most `most` of the names, nearest first, ties in the given order; only those near enough to be a slip
// (distance up to a third of the longer name) or holding the typed text.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& names,
                                                     std::size_t most);

[[nodiscard]] std::string to_lower(std::string_view text);

// a, b or c
[[nodiscard]] std::string join_or(const std::vector<std::string>& words);

}  // namespace noteg
