// The page and its parts, whatever they hold.
#include <gtest/gtest.h>

#include "sim/pages/assets.hpp"
#include "sim/pages/page.hpp"
#include "tests/pages/page_reader.hpp"

namespace noteg::test {
namespace {

pages::Chart chart_of_two(const std::string& label) {
  pages::Chart chart;
  chart.id = "two";
  chart.title = "Two " + label;
  chart.labels = {label, "b"};
  chart.series.resize(1);
  chart.series[0].bars = {{1.5, "1.5 W", "", 0}, {0.1, "0.1 W", "", 0}};
  return chart;
}

std::string page_with(const pages::Chart& chart, const std::string& text) {
  pages::Page page("kicker", text, text);
  page.section(text, text);
  page.add(chart);
  page.footer(text);
  return page.take();
}

TEST(HtmlPage, TextOfUsersCannotBecomeMarkup) {
  const std::string nasty = "</script><img src=x onerror=alert(1)>\"'&";
  const std::string page = without_library(page_with(chart_of_two(nasty), nasty));
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(charts_of(page)[0]["labels"][0], nasty);
}

TEST(HtmlPage, BytesThatAreNotUtf8AreReplaced) {
  const std::string page = page_with(chart_of_two("\xff\xfe"), "\xff\xfe");
  EXPECT_NE(page.find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_NO_THROW(charts_of(page));
}

TEST(HtmlPage, EveryChartHasItsFiguresAsATable) {
  const std::string page = page_with(chart_of_two("a"), "title");
  EXPECT_EQ(table_figures(page, "two"), (std::vector<double>{1.5, 0.1}));
  EXPECT_EQ(chart_figures(charts_of(page)[0]), table_figures(page, "two"));
}

TEST(HtmlPage, AsksNoNetworkForAnything) {
  const std::string page = without_library(page_with(chart_of_two("a"), "title"));
  for (const char* loads : {"http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket"})
    EXPECT_EQ(page.find(loads), std::string::npos) << loads;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlPage, IsMadeForPhonesAndForBothColourSchemes) {
  const std::string page = page_with(chart_of_two("a"), "title");
  EXPECT_NE(page.find("width=device-width"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(HtmlPage, FillsEveryPlaceOfItsTemplate) {
  pages::Page page("{{body}}", "{{title}}", "");
  const std::string text = page.take();
  EXPECT_EQ(pages::page_template().find("{{"), pages::page_template().find("{{title}}"));
  EXPECT_NE(text.find("<h1>{{title}}</h1>"), std::string::npos) << "a user's braces are text";
}

TEST(HtmlPage, FiguresThatAreNotFiniteBecomeZero) {
  pages::Chart chart = chart_of_two("a");
  chart.series[0].bars[0].value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(nlohmann::json::parse(pages::to_json(chart))["series"][0]["bars"][0]["value"], 0);
}

}  // namespace
}  // namespace noteg::test
