#include "kernels/passes/dependence_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <map>

#include "kernels/passes/latency.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

struct EdgeLatency {
  int latency = 0;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeLatency>;

enum class MemoryClass : std::uint8_t { none, shared_load, shared_store, copy, global, commit, fence };

MemoryClass class_of(Opcode op) {
  switch (op) {
    case Opcode::lds:
    case Opcode::ldsm: return MemoryClass::shared_load;
    case Opcode::sts:
    case Opcode::stsm: return MemoryClass::shared_store;
    case Opcode::ldgsts: return MemoryClass::copy;
    case Opcode::ldg:
    case Opcode::stg:
    case Opcode::red: return MemoryClass::global;
    case Opcode::ldgdepbar: return MemoryClass::commit;
    case Opcode::bar_sync:
    case Opcode::depbar:
    case Opcode::membar: return MemoryClass::fence;
    default: return MemoryClass::none;
  }
}

// Collects edges while walking the code once.
class Walker {
 public:
  Walker(const Program& program, const LatencyModel& model) : program_(program), model_(model) {}

  // Where one stream copies and multiplies, multiplications of warpgroups and waits for them keep their places among
  // the accesses to shared memory, which they read by themselves.
  [[nodiscard]] MemoryClass class_at(Opcode op) const {
    if (program_.roles.empty() && (op == Opcode::hgmma || op == Opcode::warpgroup)) return MemoryClass::fence;
    return class_of(op);
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
    if (at >= program_.epilogue_begin && fence_ >= 0 && fence_ != at && class_at(ins.op) == MemoryClass::none) {
      edges_.push_back({fence_, at, 1, DependenceKind::order});
    }
  }

  std::vector<Dependence> take() { return std::move(edges_); }

 private:
  const Instruction& code(int at) const { return program_.code[static_cast<std::size_t>(at)]; }

  int latency(int from, int to, int resource, bool as_guard) const {
    const Opcode producer = code(from).op;
    if (opcode_info(producer).variable_latency) return planning_latency(producer);
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
    const MemoryClass c = class_at(op);
    if (c == MemoryClass::none) return;
    if (fence_ >= 0) edges_.push_back({fence_, at, 1, DependenceKind::order});
    switch (c) {
      case MemoryClass::shared_load: order(stores_, at); break;
      case MemoryClass::shared_store: order(stores_, at), order(loads_, at); break;
      case MemoryClass::copy: order(commits_, at); break;
      case MemoryClass::commit: order(copies_, at), copies_.clear(); break;
      case MemoryClass::fence: order(since_fence_, at); break;
      case MemoryClass::global:
      case MemoryClass::none: break;
    }
    record(at, c);
  }

  void record(int at, MemoryClass c) {
    since_fence_.push_back(at);
    switch (c) {
      case MemoryClass::shared_load: loads_.push_back(at); break;
      case MemoryClass::shared_store: stores_ = {at}, loads_.clear(); break;
      case MemoryClass::copy: copies_.push_back(at); break;
      case MemoryClass::commit: commits_ = {at}; break;
      case MemoryClass::fence:
        fence_ = at;
        since_fence_.clear();
        loads_.clear(), stores_.clear(), copies_.clear(), commits_.clear();
        break;
      case MemoryClass::global:
      case MemoryClass::none: break;
    }
  }

  const Program& program_;
  const LatencyModel& model_;
  std::vector<Dependence> edges_;
  std::map<int, int> writer_;
  std::map<int, std::vector<int>> readers_;
  std::vector<int> loads_, stores_, copies_, commits_, since_fence_;
  int fence_ = -1;
};

}  // namespace

std::vector<Dependence> dependences(const Program& program, int begin, int end, const LatencyModel& model) {
  Walker walker(program, model);
  for (int at = begin; at < end; ++at) walker.visit(at);
  return walker.take();
}

std::vector<int> path_to_end(int begin, int end, const std::vector<Dependence>& edges) {
  const auto n = static_cast<std::size_t>(end - begin);
  Graph graph(n);
  for (const Dependence& e : edges) {
    boost::add_edge(static_cast<std::size_t>(e.from - begin), static_cast<std::size_t>(e.to - begin),
                    EdgeLatency{e.latency}, graph);
  }
  std::vector<std::size_t> sinks_first;
  sinks_first.reserve(n);
  boost::topological_sort(graph, std::back_inserter(sinks_first));
  std::vector<int> length(n, 1);
  for (const std::size_t v : sinks_first) {
    for (const auto& e : boost::make_iterator_range(boost::out_edges(v, graph))) {
      length[v] = std::max(length[v], graph[e].latency + length[boost::target(e, graph)]);
    }
  }
  return length;
}

int critical_path(const Program& program, int begin, int end, const LatencyModel& model) {
  const std::vector<int> length = path_to_end(begin, end, dependences(program, begin, end, model));
  return length.empty() ? 0 : *std::max_element(length.begin(), length.end());
}

}  // namespace noteg::kernels
