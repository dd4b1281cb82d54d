#include "sim/learn/write_html.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace noteg::learn {
namespace {

constexpr std::size_t most_points = 2000;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string plot(Scatter scatter) {
  const std::size_t step = std::max<std::size_t>(1, (scatter.points.size() + most_points - 1) / most_points);
  std::vector<std::pair<double, double>> kept;
  for (std::size_t i = 0; i < scatter.points.size(); i += step) kept.push_back(scatter.points[i]);
  return to_svg({escaped(scatter.title), escaped(scatter.unit), std::move(kept)});
}

}  // namespace

std::string training_html(const Training& training, const std::string& text, const std::vector<Scatter>& more) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>noteg "
      "train</title></head><body>\n<pre>" +
      escaped(text) + "</pre>\n";
  for (const HeldOut& held : training.held_out) {
    page += fmt::format("<h3>held out by {}; features: {}</h3>\n", escaped(held.split), escaped(held.features));
    for (std::size_t t = 0; t < held.targets.size(); ++t) {
      const Target* target = training.model.find_target(held.targets[t]);
      Scatter scatter{held.targets[t], target == nullptr ? "" : target->unit, {}};
      for (const Point& point : held.points[t]) scatter.points.emplace_back(point.truth, point.predicted);
      page += plot(std::move(scatter));
    }
  }
  if (!more.empty()) page += "<h3>measured rows</h3>\n";
  for (const Scatter& scatter : more) page += plot(scatter);
  return page + "</body></html>\n";
}

}  // namespace noteg::learn
