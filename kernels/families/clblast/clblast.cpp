// CLBlast's Xgemm (kernel GEMMK 0) as an OpenCL compiler for NVIDIA boards translates it: one buffer, two barriers per
// k tile where an operand is staged, an inner loop of unrolled k values that reads its operands from shared memory or,
// unstaged, from global memory through L1, and private arrays that become registers. Loads of an operand that is not
// staged run ahead where the loop is unrolled to its end; copies to shared memory never do.
// Kernels that do not fit into 255 registers would spill, which is not modelled: they are refused.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/clblast/clblast_plan.hpp"
#include "kernels/families/common.hpp"

namespace noteg::kernels {
namespace {

constexpr int loop_predicate = 6, k_predicate = 5;
constexpr int results_ahead = 16;  // of C, read before they are needed

class Clblast {
 public:
  Clblast(const ClblastPlan& plan, const KernelConfig& config, const LatencyModel& model)
      : plan_(plan),
        config_(config),
        budget_(register_budget(plan, model)),
        steps_(unrolled_steps(plan)),
        ahead_of_a_(plan.a.is_staged ? 0 : steps_ahead(plan, plan.a, budget_)),
        ahead_of_b_(plan.b.is_staged ? 0 : steps_ahead(plan, plan.b, budget_)) {
    for (Value* v : {&a_pointer_, &b_pointer_, &c_pointer_}) *v = e_.fresh(2);
    for (Value* v : {&read_a_, &read_b_, &write_a_, &write_b_, &k_, &inner_, &pitch_}) *v = e_.fresh();
    // Of each element of B the products with all of A follow one another: the bank depends on A's element.
    accumulators_ = fresh_accumulators(e_, plan.b.per_thread(), plan.a.per_thread(), Allocation::vector_loops);
    make_patterns();
  }

  Result<Program> build(const BuildRequest& request) {
    emit_prologue();
    e_.program().mainloop_begin = e_.position();
    const int loop = e_.begin_loop(true, 1);
    emit_first_loads();
    emit_copies();
    emit_products();
    if (staged()) emit_barrier();
    e_.emit(Opcode::iadd3, "", {reg(k_)}, {reg(k_), imm(plan_.tile.k), reg(zero_value)});
    e_.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(loop_predicate)}, {reg(k_), constant(0x168)});
    e_.end_loop(loop, pred(loop_predicate));
    e_.program().epilogue_begin = e_.position();
    emit_results();
    describe();
    Result<Program> program = finish(e_, request, HeldBack::passes_last);
    // The compiler computes addresses anew where they would cost a CTA.
    if (program && !config_.registers) program->registers = std::min(program->registers, budget_);
    return program;
  }

 private:
  struct Patterns {
    int read = -1, from = -1, to = -1;
  };

  bool staged() const { return plan_.a.is_staged || plan_.b.is_staged; }
  void make_patterns() {
    const auto patterns_of = [&](const ClblastOperand& o) {
      const int bytes = access_width(o) * f32_bytes;
      const int own = private_width(plan_, o) * f32_bytes;
      return Patterns{e_.add_pattern(private_pattern(plan_, o, own)), e_.add_pattern(copy_from(plan_, o, bytes)),
                      e_.add_pattern(copy_to(plan_, o, copied_width(plan_, o) * f32_bytes))};
    };
    of_a_ = patterns_of(plan_.a);
    of_b_ = patterns_of(plan_.b);
    const int bytes = access_width(plan_.a) * f32_bytes;
    load_c_ = e_.add_pattern(result_pattern(plan_, bytes, false));
    store_c_ = e_.add_pattern(result_pattern(plan_, bytes, true));
  }

  static std::string_view suffix(int width) { return width >= 4 ? ".128" : width == 2 ? ".64" : ""; }
  static std::string global_suffix(int width) { return ".E" + std::string(suffix(width)); }

  void emit_barrier() { e_.emit(Opcode::bar_sync, ".DEFER_BLOCKING", {}, {imm(0)}); }

  void emit_prologue() {
    emit_index_arithmetic(e_, 56);
    const Value tid = e_.fresh();
    e_.emit(Opcode::s2r, "", {reg(tid)}, {});
    for (const Value& v : {a_pointer_, b_pointer_, c_pointer_})
      e_.emit(Opcode::imad_wide, "", {reg(v)}, {reg(tid), constant(0x160), constant(0x170, 2)});
    for (const Value& v : {read_a_, read_b_, write_a_, write_b_, pitch_})
      e_.emit(Opcode::lea, "", {reg(v)}, {reg(tid), constant(0x180), imm(2)});
    e_.emit(Opcode::mov, "", {reg(k_)}, {reg(zero_value)});
    emit_zeroes(e_, accumulators_);
  }

  // All vectors of the tile that the thread copies, as many at once as registers hold.
  void emit_copies() {
    if (plan_.a.is_staged) emit_copy(plan_.a, of_a_, a_pointer_, write_a_);
    if (plan_.b.is_staged) emit_copy(plan_.b, of_b_, b_pointer_, write_b_);
    if (staged()) emit_barrier();
  }

  // Registers for the data are taken in turns: a load waits until what its registers held has been stored.
  void emit_copy(const ClblastOperand& o, const Patterns& patterns, Value pointer, Value write) {
    const int width = access_width(o), stored = copied_width(plan_, o);
    const int rows = plan_.tile.k / (plan_.threads / o.copy_threads);
    const int per_row = o.extent / o.copy_threads / stored;
    const int all = rows * per_row;
    std::vector<Value> data(static_cast<std::size_t>(std::min(all, copied_at_once(plan_, budget_) / stored)));
    for (Value& v : data) v = e_.fresh(stored);
    const auto at = [&](int i) { return data[static_cast<std::size_t>(i) % data.size()]; };
    const auto store = [&](int i) {
      e_.memory(Opcode::sts, suffix(stored), {}, {reg(write), reg(at(i))}, stored * f32_bytes, patterns.to);
    };
    const int turns = static_cast<int>(data.size());
    Value address;
    for (int i = 0; i < all; ++i) {
      if (i >= turns) store(i - turns);
      if (i % per_row == 0) {
        address = e_.fresh(2);
        e_.emit(Opcode::imad_wide, "", {reg(address)}, {reg(pitch_), imm(i / per_row), reg(pointer)});
      }
      for (int part = 0; part < stored; part += width)
        e_.memory(Opcode::ldg, global_suffix(width) + ".CONSTANT", reg(at(i).range(part, width)), {reg(address)},
                  width * f32_bytes, patterns.from);
    }
    for (int i = all - turns; i < all; ++i) store(i);
    e_.emit(Opcode::imad_wide, "", {reg(pointer)}, {reg(pitch_), imm(plan_.tile.k), reg(pointer)});
  }

  void emit_products() {
    e_.emit(Opcode::mov, "", {reg(inner_)}, {reg(zero_value)});
    const int iterations = plan_.tile.k / steps_;
    const int loop = iterations > 1 ? e_.begin_loop(false, iterations) : -1;
    for (int step = 0; step < steps_; ++step) emit_step(step);
    finish_iteration(plan_.a, read_a_, a_pointer_);
    finish_iteration(plan_.b, read_b_, b_pointer_);
    advance(inner_, steps_);
    e_.emit(Opcode::isetp, ".LT.AND", {Operand{}, pred(k_predicate)}, {reg(inner_), imm(plan_.tile.k)});
    if (loop >= 0) e_.end_loop(loop, pred(k_predicate));
  }

  void finish_iteration(const ClblastOperand& o, Value read, Value pointer) {
    if (o.is_staged)
      advance(read, steps_ * o.extent * f32_bytes);
    else
      e_.emit(Opcode::imad_wide, "", {reg(pointer)}, {reg(pitch_), imm(steps_), reg(pointer)});
  }

  void advance(Value v, int by) { e_.emit(Opcode::iadd3, "", {reg(v)}, {reg(v), imm(by), reg(zero_value)}); }

  // Loads of an unrolled step stand between the products of the step before, those that run ahead at the distance that
  // registers allow: their data has come when its turn has.
  void begin_loads(int step) {
    step_ = step;
    loads_ = 0;
    loads_of_step_ = 0;
    for (const ClblastOperand* o : {&plan_.a, &plan_.b}) loads_of_step_ += o->per_thread() / private_width(plan_, *o);
  }

  void place_load() {
    if (step_ > 0)
      e_.release_after((step_ - 1) * plan_.accumulators() + plan_.accumulators() * loads_++ / loads_of_step_);
  }

  // Those that run ahead of the first products run ahead of the barrier too.
  void emit_first_loads() {
    for (int step = 0; step < ahead_of_a_; ++step)
      fetched_a_.push_back(emit_fragment(plan_.a, of_a_, step, a_pointer_));
    for (int step = 0; step < ahead_of_b_; ++step)
      fetched_b_.push_back(emit_fragment(plan_.b, of_b_, step, b_pointer_));
  }

  // Elements of step `step`, of an operand whose loads run `ahead` steps ahead.
  std::vector<Value> fragment_ahead(const ClblastOperand& o, const Patterns& patterns, int step, Value pointer,
                                    int ahead, std::vector<std::vector<Value>>& fetched) {
    if (ahead == 0) return emit_fragment(o, patterns, step, pointer);
    if (step + ahead < plan_.tile.k) fetched.push_back(emit_fragment(o, patterns, step + ahead, pointer));
    return fetched[static_cast<std::size_t>(step)];
  }

  void emit_step(int step) {
    begin_loads(step);
    const std::vector<Value> a =
        fragment_ahead(plan_.a, of_a_, step, plan_.a.is_staged ? read_a_ : a_pointer_, ahead_of_a_, fetched_a_);
    const std::vector<Value> b =
        fragment_ahead(plan_.b, of_b_, step, plan_.b.is_staged ? read_b_ : b_pointer_, ahead_of_b_, fetched_b_);
    e_.release_after(0);
    int at = 0;
    for (const Value& along_n : b)
      for (const Value& along_m : a) {
        emit_product(along_m, along_n, at++);
      }
  }

  // A thread's elements of one k, from shared or global memory.
  std::vector<Value> emit_fragment(const ClblastOperand& o, const Patterns& patterns, int step, Value pointer) {
    const int width = private_width(plan_, o);
    std::vector<Value> vectors;
    Value row = pointer;
    if (!o.is_staged) {
      row = e_.fresh(2);
      e_.emit(Opcode::imad_wide, "", {reg(row)}, {reg(pitch_), imm(step), reg(pointer)});
    }
    for (int i = 0; i < o.per_thread() / width; ++i) {
      place_load();
      vectors.push_back(e_.fresh(width, i * width % 2 == 0 ? Bank::even : Bank::odd));
      const int offset =
          (o.is_strided ? i * width / o.width * vector_step(o) + i * width % o.width : i * width) * f32_bytes;
      if (o.is_staged)
        e_.memory(Opcode::lds, suffix(width), reg(vectors.back()), {reg(row)}, width * f32_bytes, patterns.read)
            .src[0]
            .value = offset + step * o.extent * f32_bytes;
      else
        e_.memory(Opcode::ldg, global_suffix(width) + ".CONSTANT", reg(vectors.back()), {reg(row)}, width * f32_bytes,
                  patterns.read)
            .src[0]
            .value = offset;
    }
    return elements_of(vectors);
  }

  void emit_product(Value a, Value b, int at) {
    const Value c = accumulators_[static_cast<std::size_t>(at)];
    e_.emit(Opcode::ffma, "", {reg(c)}, {reg(a), reg(b), reg(c)});
  }

  // C = alpha x sum + beta x C.
  void emit_results() {
    const int width = access_width(plan_.a);
    emit_index_arithmetic(e_, 12);
    for (int n = 0; n < plan_.b.per_thread(); ++n) {
      const Value address = e_.fresh(2);
      e_.emit(Opcode::imad_wide, "", {reg(address)}, {reg(pitch_), imm(n), reg(c_pointer_)});
      for (int m = 0; m < plan_.a.per_thread(); m += width) {
        const int first = n * plan_.a.per_thread() + m;
        if (config_.reads_c) e_.release_after(std::max(0, first - results_ahead));
        emit_result(address, first, width);
      }
    }
    e_.emit(Opcode::exit, "", {}, {});
  }

  void emit_result(Value address, int first, int width) {
    const Value old = e_.fresh(width), out = e_.fresh(width);
    if (config_.reads_c)
      e_.memory(Opcode::ldg, global_suffix(width), reg(old), {reg(address)}, width * f32_bytes, load_c_);
    for (int i = 0; i < width; ++i) {
      const Value sum = accumulators_[static_cast<std::size_t>(first + i)];
      e_.emit(Opcode::fmul, "", {reg(out.part(i))}, {reg(sum), constant(0x190)});
      if (config_.reads_c)
        e_.emit(Opcode::ffma, "", {reg(out.part(i))}, {reg(old.part(i)), constant(0x194), reg(out.part(i))});
    }
    e_.memory(Opcode::stg, global_suffix(width), {}, {reg(address), reg(out)}, width * f32_bytes, store_c_);
  }

  void describe() {
    Program& p = e_.program();
    p.name = config_.name.empty() ? "clblast" : config_.name;
    p.threads = plan_.threads;
    p.warps = plan_.threads / 32;
    p.shared_bytes = config_.shared_bytes.value_or(0);
    p.k_per_iteration = plan_.tile.k;
    p.stages = 1;
    p.a_bytes_per_iteration = static_cast<double>(f32_bytes) * plan_.tile.m * plan_.tile.k;
    p.b_bytes_per_iteration = static_cast<double>(f32_bytes) * plan_.tile.n * plan_.tile.k;
  }

  const ClblastPlan& plan_;
  const KernelConfig& config_;
  const int budget_;                   // registers of a thread
  const int steps_;                    // of k, unrolled
  const int ahead_of_a_, ahead_of_b_;  // steps by which loads run ahead
  Emitter e_;
  int step_ = 0, loads_ = 0, loads_of_step_ = 1;           // k of the iteration; its loads, those placed so far
  std::vector<std::vector<Value>> fetched_a_, fetched_b_;  // by step
  Value a_pointer_, b_pointer_, c_pointer_, read_a_, read_b_, write_a_, write_b_, k_, inner_, pitch_;
  std::vector<Value> accumulators_;
  Patterns of_a_, of_b_;
  int load_c_ = -1, store_c_ = -1;
};

}  // namespace

Result<Program> build_clblast(const BuildRequest& request) {
  const ClblastPlan plan = plan_clblast(request.config);
  return Clblast(plan, request.config, request.latency).build(request);
}

}  // namespace noteg::kernels
