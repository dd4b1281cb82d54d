// The bytes of texts that strangers wrote: which of them are no text, and what a terminal may be shown of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

}  // namespace noteg
