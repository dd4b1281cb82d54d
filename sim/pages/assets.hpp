// The fixed parts of an HTML report, embedded into the program at build time (cmake/embed.cmake): nothing is read when
// a report is written, and a report needs no file beside it.
#pragma once

#include <string_view>

namespace noteg::pages {

[[nodiscard]] std::string_view page_template();  // with {{title}}, {{style}}, {{body}} ...
[[nodiscard]] std::string_view style_sheet();
[[nodiscard]] std::string_view script();

// Chart.js as the distribution packages it, its licence notice in front. Empty where it was missing at build time.
[[nodiscard]] std::string_view chart_library();

}  // namespace noteg::pages
