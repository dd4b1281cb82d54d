// Dependences between the instructions of a basic block, with the latency each one asks for: one graph, which the list
// scheduler, the critical path, the static facts and `noteg kernel graph` share. Registers and predicates give
// read-after-write, write-after-read and write-after-write edges; memory and barriers give order edges. Loops are not
// entered: a block ends at a branch. Live ranges cross blocks and are found by the register allocator's own walk.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <string>
#include <vector>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

enum class DependenceKind : std::uint8_t { raw, war, waw, order };
[[nodiscard]] std::string_view name_of(DependenceKind kind);

// latency: least issue distance in cycles; a planning figure behind variable-latency producers.
struct Dependence {
  int latency = 1;
  DependenceKind kind = DependenceKind::raw;
};

class DependenceGraph {
 public:
  // Vertices are instructions, counted from the block's begin.
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, Dependence>;

  // Of instructions [begin, end).
  DependenceGraph(const Program& program, int begin, int end, const LatencyModel& model);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] int begin() const { return begin_; }
  [[nodiscard]] int size() const { return static_cast<int>(boost::num_vertices(graph_)); }

  // Longest latency path from each instruction to the end of the block, in cycles.
  [[nodiscard]] std::vector<int> path_to_end() const;

  // Cycle in which each instruction may issue at the earliest where nothing else holds it up.
  [[nodiscard]] std::vector<int> earliest() const;

  // Length in cycles of the longest chain, and the instructions of one such chain in order.
  [[nodiscard]] int critical_length() const;
  [[nodiscard]] std::vector<int> critical_chain() const;

 private:
  int begin_ = 0;
  Graph graph_;
};

// Length in cycles of the longest dependence chain of [begin, end).
[[nodiscard]] int critical_path(const Program& program, int begin, int end, const LatencyModel& model);

// The graph for Graphviz, and as a picture by itself: instructions in their order, an arc for each dependence, the
// critical chain in bold. order edges are left out of the picture where registers say the same.
[[nodiscard]] std::string to_dot(const DependenceGraph& graph, const Program& program);
[[nodiscard]] std::string to_svg(const DependenceGraph& graph, const Program& program);

}  // namespace noteg::kernels
