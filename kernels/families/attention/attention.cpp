// One iteration = one block of keys: scores, softmax, second product. K of the next block is copied while the scores
// are worked on, V of this block while they come about; a barrier stands before either product.
#include <algorithm>

#include "kernels/families/attention/attention_plan.hpp"
#include "kernels/families/build.hpp"
#include "kernels/families/pipeline_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int loop_predicate = 6;
constexpr int ring_ahead = 3;  // fragments that are loaded before they are needed
constexpr int quad_steps = 2;  // a row lies in four lanes: two exchanges reduce it

class AttentionBuilder {
 public:
  AttentionBuilder(Emitter& e, const AttentionPlan& plan, const KernelConfig& config)
      : e_(e), plan_(plan), config_(config), op_(opcode_of(plan.form)), modifiers_(modifiers_of(plan.form)) {
    make_pipeline_registers(e, s_);
    for (int i = 0; i < plan.bands * plan.head / 8; ++i) output_.push_back(e.fresh(4));
    for (int i = 0; i < plan.bands * 2; ++i) {
      most_.push_back(e.fresh());
      sum_.push_back(e.fresh());
    }
    for (int i = 0; i < 1 + ring_ahead; ++i) ring_.push_back(e.fresh(4));
    for (int i = 0; i < 2 * plan.bands; ++i) queries_.push_back(e.fresh(4));
    AccessPattern rows;  // four matrices of eight rows, chunks exchanged so that they lie in different banks
    rows.matrix = Matrix::b;
    rows.bytes_per_lane = 16;
    for (int lane = 0; lane < 32; ++lane)
      rows.offset[static_cast<std::size_t>(lane)] =
          static_cast<std::uint32_t>(lane % 16 * 128 + ((lane / 16) ^ (lane % 8)) * 16);
    read_ = e.add_pattern(rows);
    AccessPattern copy = contiguous(Space::global, Matrix::b, false, plan.copy_bytes, 2 * plan.head);
    for (int lane = 0; lane < 32; ++lane)
      copy.shared_offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(lane * plan.copy_bytes);
    copy_ = e.add_pattern(copy);
    copy.matrix = Matrix::c;  // queries are read by one CTA, as C is where it is read
    copy_queries_ = e.add_pattern(copy);
  }

  void run() {
    emit_pipeline_setup(e_, s_);
    copy_block(plan_.rows * plan_.copies / plan_.keys, copy_queries_);
    copy_block(plan_.copies, copy_);
    for (const Value& v : output_) emit_zeroes(e_, elements_of({v}));
    emit_zeroes(e_, most_);
    emit_zeroes(e_, sum_);
    e_.program().mainloop_begin = e_.position();
    block();
    e_.program().epilogue_begin = e_.position();
    epilogue();
  }

 private:
  // Copies of a block of K or V; a paged cache asks for the page of its rows first.
  void copy_block(int copies, int of) {
    Value page;
    if (config_.attention.page > 0) {
      page = e_.fresh();
      const int pattern = e_.add_pattern(words_in_l2());
      e_.memory(Opcode::ldg, ".E", reg(page), {reg(s_.b_pointer)}, 4, pattern);
      e_.emit(Opcode::imad_wide, "", {reg(s_.b_pointer)}, {reg(page), constant(0x1a0), constant(0x1a8)});
    }
    for (int i = 0; i < copies; ++i) {
      emit_pointer_step(e_, s_.b_pointer, s_.b_pointer, i, Opcode::imad);
      e_.memory(Opcode::ldgsts, ".E.BYPASS.LTC128B.128", {}, {reg(s_.write_offset), reg(s_.b_pointer)},
                plan_.copy_bytes, of)
          .guard = pred(i % 4);
    }
    e_.emit(Opcode::ldgdepbar, "", {}, {});
  }

  void wait_for_copies() {
    emit_copy_wait(e_, 2);
    emit_barrier(e_);
  }

  // Registers go round, so that no more loads run ahead than they allow.
  Value fragment(const char* modifiers, Value address, const std::vector<Value>& ring) {
    const Value v = ring[(&ring == &ring_ ? next_++ : next_query_++) % ring.size()];
    e_.memory(Opcode::ldsm, modifiers, reg(v), {reg(address)}, 16, read_);
    return v;
  }

  // scores += Q K^T over the head: fragments of Q one depth of 16 ahead, those of K as the ring allows.
  void scores(const std::vector<Value>& to) {
    const int columns = plan_.keys / 8, depths = plan_.head / 16;
    for (int depth = 0; depth < depths; ++depth) {
      std::vector<Value> q;
      e_.release_after(std::max(0, (depth - 1) * plan_.bands * columns));
      for (int i = 0; i < plan_.bands; ++i) q.push_back(fragment(".16.M88.4", s_.read_a, queries_));
      for (int pair = 0; pair < columns / 2; ++pair) {
        e_.release_after(std::max(0, 2 * plan_.bands * (depth * columns / 2 + pair - ring_ahead)));
        const Value k = fragment(".16.M88.4", s_.read_b, ring_);
        for (int i = 0; i < 2; ++i)
          for (int row = 0; row < plan_.bands; ++row)
            multiply(to[static_cast<std::size_t>(row * columns + 2 * pair + i)], q[static_cast<std::size_t>(row)],
                     k.range(2 * i, 2), depth == 0);
      }
    }
  }

  void multiply(Value to, Value a, Value b, bool first) {
    e_.emit(op_, modifiers_, {reg(to)}, {reg(a), reg(b), first ? reg(zero_value) : reg(to)});
  }

  // Largest of each row, weights = exp2(score - largest), their sum; the output so far is scaled to the new largest.
  std::vector<Value> softmax(const std::vector<Value>& score) {
    const int columns = plan_.keys / 8;
    std::vector<Value> packed;
    for (int row = 0; row < 2 * plan_.bands; ++row) {
      const int band = row / 2, half = row % 2 * 2;
      const auto each = [&](const auto& use) {
        for (int column = 0; column < columns; ++column)
          for (int i = 0; i < 2; ++i) use(score[static_cast<std::size_t>(band * columns + column)].part(half + i));
      };
      const Value most = most_[static_cast<std::size_t>(row)], old = e_.fresh(), scale = e_.fresh();
      e_.emit(Opcode::mov, "", {reg(old)}, {reg(most)});
      each([&](Value v) { e_.emit(Opcode::sel, "", {reg(most)}, {reg(most), reg(v), pred(4)}); });  // FMNMX
      reduce_row(most, Opcode::sel);
      e_.emit(Opcode::ffma, "", {reg(scale)}, {reg(old), constant(0x1b0), reg(most)});
      e_.emit(Opcode::mufu, ".EX2", {reg(scale)}, {reg(scale)});
      each([&](Value v) {
        e_.emit(Opcode::imad, "", {reg(v)}, {reg(v), constant(0x1b0), reg(most)});  // FFMA beside the products
        e_.emit(Opcode::mufu, ".EX2", {reg(v)}, {reg(v)});
      });
      const Value sum = sum_[static_cast<std::size_t>(row)];
      e_.emit(Opcode::fmul, "", {reg(sum)}, {reg(sum), reg(scale)});
      each([&](Value v) { e_.emit(Opcode::fadd, "", {reg(sum)}, {reg(sum), reg(v)}); });
      for (int column = 0; column < plan_.head / 8; ++column) {
        const Value o = output_[static_cast<std::size_t>(band * plan_.head / 8 + column)];
        for (int i = 0; i < 2; ++i)
          e_.emit(Opcode::fmul, "", {reg(o.part(half + i))}, {reg(o.part(half + i)), reg(scale)});
      }
    }
    for (int band = 0; band < plan_.bands; ++band)
      for (int depth = 0; depth < plan_.keys / 16; ++depth) {
        const Value p = score[static_cast<std::size_t>(band * columns + 2 * depth)];  // in place
        for (int i = 0; i < 4; ++i) {
          const Value from = score[static_cast<std::size_t>(band * columns + 2 * depth + i / 2)];
          e_.emit(Opcode::f2fp, ".PACK_AB", {reg(p.part(i))},
                  {reg(from.part(i % 2 * 2 + 1)), reg(from.part(i % 2 * 2))});
        }
        packed.push_back(p);
      }
    return packed;
  }

  void reduce_row(Value v, Opcode by) {
    for (int step = 0; step < quad_steps; ++step) {
      const Value other = e_.fresh();
      e_.emit(Opcode::shfl, ".BFLY", {reg(other)}, {reg(v), imm(1 << step), imm(0x1f)});
      e_.emit(by, "", {reg(v)}, {reg(v), reg(other), pred(4)});
    }
  }

  void weigh_values(const std::vector<Value>& weights) {
    const int columns = plan_.head / 8, depths = plan_.keys / 16;
    for (int depth = 0; depth < depths; ++depth)
      for (int pair = 0; pair < columns / 2; ++pair) {
        // Two fragments ahead.
        const int done =
            plan_.bands * (plan_.keys / 8 * plan_.head / 16 + 2 * (depth * columns / 2 + pair - ring_ahead));
        e_.release_after(done);
        const Value v = fragment(".16.MT88.4", s_.read_b, ring_);
        for (int i = 0; i < 2; ++i)
          for (int row = 0; row < plan_.bands; ++row)
            multiply(output_[static_cast<std::size_t>(row * columns + 2 * pair + i)],
                     weights[static_cast<std::size_t>(row * depths + depth)], v.range(2 * i, 2), false);
      }
  }

  void block() {
    const int loop = e_.begin_loop(true, 1);
    const int columns = plan_.keys / 8;
    e_.release_after(0);
    e_.emit(Opcode::iadd3, "", {reg(s_.iterations_left)}, {reg(s_.iterations_left), imm(-1), reg(zero_value)});
    e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(loop_predicate)}, {reg(s_.iterations_left), imm(0)});
    std::vector<Value> score;
    for (int i = 0; i < plan_.bands * columns; ++i) score.push_back(e_.fresh(4));
    wait_for_copies();
    copy_block(plan_.copies, copy_);  // V
    scores(score);
    const int first = plan_.bands * columns * plan_.head / 16;
    e_.release_after(first);
    wait_for_copies();
    copy_block(plan_.copies, copy_);  // K of the next block
    e_.release_after(0);
    const std::vector<Value> weights = softmax(score);
    weigh_values(weights);
    e_.end_loop(loop, pred(loop_predicate));
  }

  // O over the sum of its row, through shared memory into rows.
  void epilogue() {
    emit_index_arithmetic(e_, 60);
    const int write = e_.add_pattern(contiguous(Space::shared, Matrix::c, true, 4, 128));
    const int read = e_.add_pattern(contiguous(Space::shared, Matrix::c, false, 16, 256));
    const int store = e_.add_pattern(contiguous(Space::global, Matrix::c, true, 16, 2 * plan_.head));
    for (const Value& v : sum_) {
      reduce_row(v, Opcode::sel);
      e_.emit(Opcode::mufu, ".RCP", {reg(v)}, {reg(v)});
    }
    emit_barrier(e_);
    for (const Value& o : output_)
      for (int half = 0; half < 2; ++half) {
        const Value packed = e_.fresh();
        for (int i = 0; i < 2; ++i)
          e_.emit(Opcode::fmul, "", {reg(o.part(2 * half + i))}, {reg(o.part(2 * half + i)), reg(sum_.front())});
        e_.emit(Opcode::f2fp, ".PACK_AB", {reg(packed)}, {reg(o.part(2 * half)), reg(o.part(2 * half + 1))});
        e_.memory(Opcode::sts, "", {}, {reg(s_.write_offset), reg(packed)}, 4, write);
      }
    emit_barrier(e_);
    for (int i = 0; i < std::max(1, plan_.rows * plan_.head * 2 / (16 * plan_.warps * 32)); ++i) {
      const Value v = e_.fresh(4);
      e_.memory(Opcode::lds, ".128", reg(v), {reg(s_.read_a)}, 16, read);
      e_.memory(Opcode::stg, ".E.128", {}, {reg(s_.a_pointer), reg(v)}, 16, store);
    }
    e_.emit(Opcode::exit, "", {}, {});
  }

  Emitter& e_;
  const AttentionPlan& plan_;
  const KernelConfig& config_;
  Opcode op_;
  std::string modifiers_;
  PipelineState s_;
  std::vector<Value> output_, most_, sum_, ring_, queries_;
  std::size_t next_ = 0, next_query_ = 0;
  int read_ = -1, copy_ = -1, copy_queries_ = -1;
};

}  // namespace

Result<Program> build_attention(const BuildRequest& request) {
  const KernelConfig& config = request.config;
  const AttentionPlan plan = plan_attention(config);
  Emitter e;
  AttentionBuilder(e, plan, config).run();
  Program& program = e.program();
  program.name = config.name.empty() ? "attention" : config.name;
  program.warps = plan.warps;
  program.threads = 32 * plan.warps;
  program.shared_bytes = plan.shared_bytes;
  program.k_per_iteration = plan.keys;
  program.stages = 2;
  program.prologue_tiles = 0;
  program.b_bytes_per_iteration = 2.0 * plan.keys * plan.head * bytes_of(config.dtype_in);
  return finish(e, request);
}

}  // namespace noteg::kernels
