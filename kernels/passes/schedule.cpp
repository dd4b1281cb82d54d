#include "kernels/passes/passes.hpp"

#include <algorithm>
#include <optional>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/dependence_graph.hpp"

namespace noteg::kernels {
namespace {

bool ends_block(Opcode op) { return opcode_info(op).ends_block; }

// What a kernel is there for keeps its order, and everything else is placed between.
bool is_main_line(Opcode op) { return op == Opcode::ffma || opcode_info(op).unit == Unit::tensor; }

struct Node {
  int open_predecessors = 0;
  int earliest = 0;  // cycle at which all dependences are met
  int priority = 0;  // longest path to the end of the block
  int release = 0;
  bool is_ffma = false;
  std::size_t pipe = 0;
};

// One basic block, scheduled cycle by cycle.
class BlockScheduler {
 public:
  BlockScheduler(const Program& program, BasicBlock block, const std::vector<int>& releases, const LatencyModel& model,
                 HeldBack held_back)
      : program_(program),
        block_(block),
        model_(model),
        held_back_(held_back),
        dependences_(program, block.begin, block.end, model),
        nodes_(static_cast<std::size_t>(block.end - block.begin)) {
    const std::vector<int> length = dependences_.path_to_end();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto at = static_cast<std::size_t>(block.begin) + i;
      nodes_[i].priority = length[i];
      nodes_[i].release = releases[at];
      nodes_[i].is_ffma = is_main_line(program.code[at].op);
      nodes_[i].pipe = static_cast<std::size_t>(opcode_info(program.code[at].op).pipe);
      if (nodes_[i].is_ffma) ffmas_.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      nodes_[i].open_predecessors = static_cast<int>(boost::in_degree(i, dependences_.graph()));
  }

  std::vector<int> run() {
    const int last = static_cast<int>(nodes_.size()) - 1;
    const bool has_tail = last >= 0 && ends_block(op_of(last));  // the branch stays last
    const auto movable = nodes_.size() - (has_tail ? 1u : 0u);
    for (int i = 0; i < static_cast<int>(movable); ++i) {
      if (nodes_[static_cast<std::size_t>(i)].open_predecessors == 0) open(i);
    }
    while (order_.size() < movable) {
      ffma_is_blocked_ = is_ffma_blocked();
      if (const std::optional<int> best = pick(has_tail ? last : -1)) {
        issue(*best);
      }
      ++now_;
    }
    if (has_tail) order_.push_back(last);
    return std::move(order_);
  }

 private:
  Opcode op_of(int node) const { return program_.code[static_cast<std::size_t>(block_.begin + node)].op; }

  bool is_ready(int node) const {
    return nodes_[static_cast<std::size_t>(node)].earliest <= now_ &&
           pipe_free_[nodes_[static_cast<std::size_t>(node)].pipe] <= now_;
  }

  // Every dependence has issued. FFMAs have their turns and are not looked for.
  void open(int node) {
    if (!nodes_[static_cast<std::size_t>(node)].is_ffma) open_.push_back(node);
  }

  bool is_ffma_blocked() const {
    return ffmas_issued_ == ffmas_.size() ||
           nodes_[static_cast<std::size_t>(ffmas_[ffmas_issued_])].open_predecessors > 0;
  }

  // Where no FFMA is left, or the next one may depend on something that is still held back, that goes as well.
  std::optional<int> pick(int tail) const {
    std::optional<int> best, held;
    if (!ffma_is_blocked_ && is_ready(ffmas_[ffmas_issued_])) best = ffmas_[ffmas_issued_];
    for (const int i : open_) {
      if (i == tail || !is_ready(i)) continue;
      const bool is_free = static_cast<int>(ffmas_issued_) >= nodes_[static_cast<std::size_t>(i)].release;
      if (!is_free && held_back_ == HeldBack::barriers_stay && op_of(i) == Opcode::bar_sync) continue;
      const bool waits = !is_free && (held_back_ == HeldBack::passes_last || !ffma_is_blocked_);
      std::optional<int>& one = waits ? held : best;
      if (!one || goes_before(i, *one)) one = i;
    }
    return best || !ffma_is_blocked_ ? best : held;
  }

  bool goes_before(int a, int b) const {
    const Node& x = nodes_[static_cast<std::size_t>(a)];
    const Node& y = nodes_[static_cast<std::size_t>(b)];
    if (x.is_ffma != y.is_ffma) return !x.is_ffma;
    if (x.priority != y.priority) return x.priority > y.priority;
    return a < b;
  }

  void issue(int node) {
    Node& n = nodes_[static_cast<std::size_t>(node)];
    order_.push_back(node);
    if (n.is_ffma)
      ++ffmas_issued_;
    else
      open_.erase(std::find(open_.begin(), open_.end(), node));
    pipe_free_[n.pipe] = now_ + issue_interval(model_, op_of(node));
    const DependenceGraph::Graph& graph = dependences_.graph();
    for (const auto& e : boost::make_iterator_range(boost::out_edges(static_cast<std::size_t>(node), graph))) {
      const std::size_t to = boost::target(e, graph);
      nodes_[to].earliest = std::max(nodes_[to].earliest, now_ + graph[e].latency);
      if (--nodes_[to].open_predecessors == 0) open(static_cast<int>(to));
    }
  }

  const Program& program_;
  BasicBlock block_;
  const LatencyModel& model_;
  HeldBack held_back_;
  DependenceGraph dependences_;
  std::vector<Node> nodes_;
  std::vector<int> ffmas_;
  std::vector<int> open_;  // no FFMAs among them
  std::vector<int> order_;
  std::size_t ffmas_issued_ = 0;
  bool ffma_is_blocked_ = false;
  int now_ = 0;
  std::array<int, pipe_count> pipe_free_{};
};

}  // namespace

std::vector<BasicBlock> basic_blocks(const Program& program) {
  const int n = static_cast<int>(program.code.size());
  std::vector<bool> starts(static_cast<std::size_t>(n) + 1, false);
  starts[0] = true;
  for (const Loop& loop : program.loops) starts[static_cast<std::size_t>(loop.begin)] = true;
  for (int i : {program.mainloop_begin, program.epilogue_begin}) {
    if (i >= 0 && i <= n) starts[static_cast<std::size_t>(i)] = true;
  }
  for (int i = 0; i < n; ++i) {
    if (ends_block(program.code[static_cast<std::size_t>(i)].op)) starts[static_cast<std::size_t>(i) + 1] = true;
  }
  std::vector<BasicBlock> blocks;
  for (int begin = 0, i = 1; i <= n; ++i) {
    if (i == n || starts[static_cast<std::size_t>(i)]) {
      blocks.push_back({begin, i});
      begin = i;
    }
  }
  return blocks;
}

void schedule(Program& program, const std::vector<int>& releases, const LatencyModel& model, HeldBack held_back) {
  std::vector<Instruction> result;
  result.reserve(program.code.size());
  for (const BasicBlock& block : basic_blocks(program)) {
    for (const int i : BlockScheduler(program, block, releases, model, held_back).run()) {
      result.push_back(program.code[static_cast<std::size_t>(block.begin + i)]);
    }
  }
  program.code = std::move(result);
}

std::vector<int> two_iteration_walk(const Program& program) {
  std::vector<int> trace;
  std::vector<bool> repeated(program.loops.size(), false);
  for (int at = 0; at < static_cast<int>(program.code.size()); ++at) {
    trace.push_back(at);
    const int loop = program.code[static_cast<std::size_t>(at)].loop;
    if (loop < 0) continue;
    const auto index = static_cast<std::size_t>(loop);
    if (repeated[index]) {
      repeated[index] = false;  // an outer loop may come here again
      continue;
    }
    repeated[index] = true;
    at = program.loops[index].begin - 1;
  }
  return trace;
}

}  // namespace noteg::kernels
