#include "sim/pages/assets.hpp"

#include <cstddef>

namespace noteg::embedded {

extern const unsigned char page_html[], report_css[], report_js[], chart_js[];
extern const std::size_t page_html_size, report_css_size, report_js_size, chart_js_size;

}  // namespace noteg::embedded

namespace noteg::pages {
namespace {

std::string_view text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};  // bytes of a text file
}

}  // namespace

std::string_view page_template() { return text(embedded::page_html, embedded::page_html_size); }
std::string_view style_sheet() { return text(embedded::report_css, embedded::report_css_size); }
std::string_view script() { return text(embedded::report_js, embedded::report_js_size); }
std::string_view chart_library() { return text(embedded::chart_js, embedded::chart_js_size); }

}  // namespace noteg::pages
