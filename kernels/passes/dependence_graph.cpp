#include "kernels/passes/dependence_graph.hpp"

#include <algorithm>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <map>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

struct Edge {
  int from = 0, to = 0;  // instructions of the program
  int latency = 1;
  DependenceKind kind = DependenceKind::raw;
};

// Collects edges while walking the code once.
class Walker {
 public:
  Walker(const Program& program, const LatencyModel& model) : program_(program), model_(model) {}

  // Where one stream copies and multiplies, multiplications of warpgroups and waits for them keep their places among
  // the accesses to shared memory, which they read by themselves.
  [[nodiscard]] MemoryOrder order_at(Opcode op) const {
    if (program_.roles.empty() && (op == Opcode::hgmma || op == Opcode::warpgroup)) return MemoryOrder::fence;
    return opcode_info(op).order;
  }

  void visit(int at) {
    const Instruction& ins = program_.code[static_cast<std::size_t>(at)];
    for (const Operand& o : ins.src) {
      for_each_resource(o, [&](int r) { read(at, r, false); });
    }
    for_each_resource(ins.guard, [&](int r) { read(at, r, true); });
    for_each_write(ins, [&](int r) { write(at, r); });
    order_memory(at, ins.op);
    // Behind the main loop the accumulators fill the register file: address arithmetic of later rows must not be
    // pulled up over the barriers between rows, or it runs out of registers.
    if (at >= program_.epilogue_begin && fence_ >= 0 && fence_ != at && order_at(ins.op) == MemoryOrder::none) {
      edges_.push_back({fence_, at, 1, DependenceKind::order});
    }
  }

  std::vector<Edge> take() { return std::move(edges_); }

 private:
  const Instruction& code(int at) const { return program_.code[static_cast<std::size_t>(at)]; }

  int latency(int from, int to, int resource, bool as_guard) const {
    const Opcode producer = code(from).op;
    if (const OpcodeInfo& info = opcode_info(producer); info.variable_latency) return info.planned_latency;
    return fixed_latency(model_, producer, code(to).op, resource, as_guard);
  }

  void read(int at, int resource, bool as_guard) {
    const auto writer = writer_.find(resource);
    if (writer != writer_.end()) {
      edges_.push_back({writer->second, at, latency(writer->second, at, resource, as_guard), DependenceKind::raw});
    }
    readers_[resource].push_back(at);
  }

  void write(int at, int resource) {
    for (const int reader : readers_[resource]) {
      if (reader != at) edges_.push_back({reader, at, 1, DependenceKind::war});
    }
    readers_[resource].clear();
    const auto writer = writer_.find(resource);
    if (writer != writer_.end()) {
      // A guarded write keeps the older value in some lanes, so it waits like a reader.
      const int distance = is_guarded(code(at)) ? latency(writer->second, at, resource, false) : 1;
      edges_.push_back({writer->second, at, distance, DependenceKind::waw});
    }
    writer_[resource] = at;
  }

  void order(std::vector<int>& before, int at) {
    for (const int b : before) edges_.push_back({b, at, 1, DependenceKind::order});
  }

  // Loads of one space may pass each other; stores keep their place among loads and stores of their space,
  // copies keep their place around commits, and nothing passes a barrier.
  void order_memory(int at, Opcode op) {
    const MemoryOrder c = order_at(op);
    if (c == MemoryOrder::none) return;
    if (fence_ >= 0) edges_.push_back({fence_, at, 1, DependenceKind::order});
    switch (c) {
      case MemoryOrder::shared_load: order(stores_, at); break;
      case MemoryOrder::shared_store: order(stores_, at), order(loads_, at); break;
      case MemoryOrder::copy: order(commits_, at); break;
      case MemoryOrder::commit: order(copies_, at), copies_.clear(); break;
      case MemoryOrder::fence: order(since_fence_, at); break;
      case MemoryOrder::global:
      case MemoryOrder::none: break;
    }
    record(at, c);
  }

  void record(int at, MemoryOrder c) {
    since_fence_.push_back(at);
    switch (c) {
      case MemoryOrder::shared_load: loads_.push_back(at); break;
      case MemoryOrder::shared_store: stores_ = {at}, loads_.clear(); break;
      case MemoryOrder::copy: copies_.push_back(at); break;
      case MemoryOrder::commit: commits_ = {at}; break;
      case MemoryOrder::fence:
        fence_ = at;
        since_fence_.clear();
        loads_.clear(), stores_.clear(), copies_.clear(), commits_.clear();
        break;
      case MemoryOrder::global:
      case MemoryOrder::none: break;
    }
  }

  const Program& program_;
  const LatencyModel& model_;
  std::vector<Edge> edges_;
  std::map<int, int> writer_;
  std::map<int, std::vector<int>> readers_;
  std::vector<int> loads_, stores_, copies_, commits_, since_fence_;
  int fence_ = -1;
};

// Vertices so that each comes behind all that it leads to.
std::vector<std::size_t> sinks_first(const DependenceGraph::Graph& graph) {
  std::vector<std::size_t> order;
  order.reserve(boost::num_vertices(graph));
  boost::topological_sort(graph, std::back_inserter(order));
  return order;
}

}  // namespace

std::string_view name_of(DependenceKind kind) {
  switch (kind) {
    case DependenceKind::raw: return "read after write";
    case DependenceKind::war: return "write after read";
    case DependenceKind::waw: return "write after write";
    case DependenceKind::order: return "order";
  }
  return "?";
}

DependenceGraph::DependenceGraph(const Program& program, int begin, int end, const LatencyModel& model)
    : begin_(begin), graph_(static_cast<std::size_t>(end - begin)) {
  Walker walker(program, model);
  for (int at = begin; at < end; ++at) walker.visit(at);
  for (const Edge& e : walker.take())
    boost::add_edge(static_cast<std::size_t>(e.from - begin), static_cast<std::size_t>(e.to - begin),
                    Dependence{e.latency, e.kind}, graph_);
}

std::vector<int> DependenceGraph::path_to_end() const {
  std::vector<int> length(boost::num_vertices(graph_), 1);
  for (const std::size_t v : sinks_first(graph_)) {
    for (const auto& e : boost::make_iterator_range(boost::out_edges(v, graph_)))
      length[v] = std::max(length[v], graph_[e].latency + length[boost::target(e, graph_)]);
  }
  return length;
}

std::vector<int> DependenceGraph::earliest() const {
  std::vector<int> cycle(boost::num_vertices(graph_), 0);
  const std::vector<std::size_t> order = sinks_first(graph_);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    for (const auto& e : boost::make_iterator_range(boost::out_edges(*v, graph_))) {
      int& to = cycle[boost::target(e, graph_)];
      to = std::max(to, cycle[*v] + graph_[e].latency);
    }
  }
  return cycle;
}

int DependenceGraph::critical_length() const {
  const std::vector<int> length = path_to_end();
  return length.empty() ? 0 : *std::max_element(length.begin(), length.end());
}

std::vector<int> DependenceGraph::critical_chain() const {
  const std::vector<int> length = path_to_end();
  std::vector<int> chain;
  if (length.empty()) return chain;
  auto at = static_cast<std::size_t>(std::max_element(length.begin(), length.end()) - length.begin());
  for (bool goes_on = true; goes_on;) {
    chain.push_back(static_cast<int>(at));
    goes_on = false;
    for (const auto& e : boost::make_iterator_range(boost::out_edges(at, graph_))) {
      const std::size_t to = boost::target(e, graph_);
      if (length[at] != graph_[e].latency + length[to]) continue;
      at = to;
      goes_on = true;
      break;
    }
  }
  return chain;
}

int critical_path(const Program& program, int begin, int end, const LatencyModel& model) {
  return DependenceGraph(program, begin, end, model).critical_length();
}

}  // namespace noteg::kernels
