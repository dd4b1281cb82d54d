// A dependence graph as text for Graphviz, and as a picture of its own: the instructions from top to bottom, arcs on
// the right from producers to consumers, the wider the longer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ir/listing.hpp"
#include "kernels/passes/dependence_graph.hpp"

namespace noteg::kernels {
namespace {

struct DrawnEdge {
  int from = 0, to = 0;  // instructions of the block
  Dependence dependence;
  bool is_critical = false;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// One edge for each pair of instructions: the longest; of equal ones that of registers.
std::vector<DrawnEdge> drawn_edges(const DependenceGraph& graph) {
  std::vector<DrawnEdge> edges;
  for (const auto& e : boost::make_iterator_range(boost::edges(graph.graph())))
    edges.push_back({static_cast<int>(boost::source(e, graph.graph())),
                     static_cast<int>(boost::target(e, graph.graph())), graph.graph()[e]});
  std::ranges::sort(edges, [](const DrawnEdge& a, const DrawnEdge& b) {
    if (a.from != b.from) return a.from < b.from;
    if (a.to != b.to) return a.to < b.to;
    if (a.dependence.latency != b.dependence.latency) return a.dependence.latency > b.dependence.latency;
    return a.dependence.kind < b.dependence.kind;
  });
  const auto same = [](const DrawnEdge& a, const DrawnEdge& b) { return a.from == b.from && a.to == b.to; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  const std::vector<int> chain = graph.critical_chain();
  for (DrawnEdge& edge : edges) {
    const auto at = std::ranges::find(chain, edge.from);
    edge.is_critical = at != chain.end() && at + 1 != chain.end() && *(at + 1) == edge.to;
  }
  return edges;
}

std::string_view colour_of(DependenceKind kind) {
  switch (kind) {
    case DependenceKind::raw: return "#1f6f8b";
    case DependenceKind::war: return "#8a5a00";
    case DependenceKind::waw: return "#7a3b8f";
    case DependenceKind::order: return "#777777";
  }
  return "#777777";
}

}  // namespace

std::string to_dot(const DependenceGraph& graph, const Program& program) {
  std::string text = "digraph dependences {\n  node [shape=box, fontname=monospace];\n";
  const std::vector<int> chain = graph.critical_chain();
  for (int at = 0; at < graph.size(); ++at) {
    std::string label = to_text(program, graph.begin() + at);
    for (std::size_t i = label.find('"'); i != std::string::npos; i = label.find('"', i + 2)) label.insert(i, 1, '\\');
    const bool is_critical = std::ranges::find(chain, at) != chain.end();
    text += fmt::format("  i{} [label=\"{}\"{}];\n", graph.begin() + at, label, is_critical ? ", penwidth=2" : "");
  }
  for (const DrawnEdge& edge : drawn_edges(graph))
    text += fmt::format("  i{} -> i{} [label=\"{}\", tooltip=\"{}\", color=\"{}\"{}];\n", graph.begin() + edge.from,
                        graph.begin() + edge.to, edge.dependence.latency, name_of(edge.dependence.kind),
                        colour_of(edge.dependence.kind), edge.is_critical ? ", penwidth=3" : "");
  return text + "}\n";
}

std::string to_svg(const DependenceGraph& graph, const Program& program) {
  constexpr double row = 16, character = 7.3, margin = 24;
  std::vector<std::string> lines;
  std::size_t widest = 0;
  const std::vector<int> earliest = graph.earliest();
  for (int at = 0; at < graph.size(); ++at) {
    lines.push_back(
        fmt::format("{:>5}  {}", earliest[static_cast<std::size_t>(at)], to_text(program, graph.begin() + at)));
    widest = std::max(widest, lines.back().size());
  }
  const double left = 2 * margin + static_cast<double>(widest) * character;
  const double reach = 14 * std::sqrt(static_cast<double>(std::max(1, graph.size())));
  const double width = left + reach + 3 * margin, height = (graph.size() + 4) * row;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"monospace\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2:.0f}\" y=\"{3:.0f}\">earliest cycle, instruction; critical chain of {4} cycles in bold</text>\n",
      width, height, margin, 1.5 * row, graph.critical_length());
  const std::vector<int> chain = graph.critical_chain();
  const auto y_of = [&](int at) { return (at + 3) * row; };
  for (int at = 0; at < graph.size(); ++at) {
    const bool is_critical = std::ranges::find(chain, at) != chain.end();
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" xml:space=\"preserve\"{}>{}</text>\n", margin, y_of(at),
                        is_critical ? " font-weight=\"bold\"" : "", escaped(lines[static_cast<std::size_t>(at)]));
  }
  for (const DrawnEdge& edge : drawn_edges(graph)) {
    const double from = y_of(edge.from) - 4, to = y_of(edge.to) - 4;
    const double out = left + 14 * std::sqrt(static_cast<double>(edge.to - edge.from));
    text += fmt::format(
        "<path d=\"M{0:.0f} {1:.0f} C{2:.0f} {1:.0f} {2:.0f} {3:.0f} {0:.0f} {3:.0f}\" fill=\"none\" stroke=\"{4}\" "
        "stroke-width=\"{5}\"><title>{6}, {7} cycles</title></path>\n",
        left, from, out, to, colour_of(edge.dependence.kind), edge.is_critical ? "2.5" : "0.8",
        name_of(edge.dependence.kind), edge.dependence.latency);
  }
  return text + "</svg>\n";
}

}  // namespace noteg::kernels
