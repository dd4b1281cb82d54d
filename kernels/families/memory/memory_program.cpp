#include "kernels/families/build.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/families/common.hpp"
#include "kernels/families/pipeline_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int index_instructions = 24;  // of PyTorch's vectorised kernels before their first load, about

// Of a switch over types as nvcc compiles PyTorch's copies (LoadWithCast, StoreWithCast): 209 instructions a warp that
// casts four values of each thread, a quarter of them branches.
constexpr int branches_of_switch = 6, address_of_switch = 8;

class MemoryBuilder {
 public:
  MemoryBuilder(Emitter& e, const MemoryWork& work) : e_(e), work_(work), pointer_(e.fresh(2)), shared_(e.fresh()) {}

  void run() {
    emit_index_arithmetic(e_, index_instructions);
    if (work_.scatters) read_table();
    if (work_.casts) return cast();
    const int loop = work_.rounds > 1 ? e_.begin_loop(false, work_.rounds) : -1;
    load();
    if (loop < 0) e_.program().mainloop_begin = e_.position();
    compute();
    if (loop >= 0) {
      e_.end_loop(loop, pred(0));
      e_.program().mainloop_begin = e_.position();
    }
    for (int i = 0; i < work_.reductions; ++i) reduce();
    e_.program().epilogue_begin = e_.position();
    if (work_.turns) turn();
    store();
    e_.emit(Opcode::exit, "", {}, {});
  }

 private:
  // Each value is waited for before the next is asked for.
  void cast() {
    const int from = e_.add_pattern(contiguous(Space::global, Matrix::none, false, work_.load_bytes, 1 << 16));
    const int to = e_.add_pattern(contiguous(Space::global, Matrix::none, true, work_.store_bytes, 1 << 16));
    for (int i = 0; i < work_.loads; ++i) {
      const Value address = switch_over_types();
      values_.push_back(e_.fresh());
      e_.memory(Opcode::ldg, work_.load_bytes == 1 ? ".E.S8" : ".E", reg(values_.back()), {reg(address)},
                work_.load_bytes, from);
      e_.emit(Opcode::i2f, ".S16", {reg(values_.back())}, {reg(values_.back())});
      e_.emit(Opcode::f2fp, ".F16.F32.PACK_AB", {reg(values_.back())}, {reg(zero_value), reg(values_.back())});
    }
    e_.program().mainloop_begin = e_.program().epilogue_begin = e_.position();
    for (const Value& v : values_) {
      const Value address = switch_over_types();
      e_.memory(Opcode::stg, work_.store_bytes == 2 ? ".E.U16" : ".E", {}, {reg(address), reg(v)}, work_.store_bytes,
                to);
    }
    e_.emit(Opcode::exit, "", {}, {});
  }

  Value switch_over_types() {
    const Value address = e_.fresh(2);
    for (int i = 0; i < address_of_switch; ++i)
      e_.emit(i % 2 == 0 ? Opcode::imad : Opcode::iadd3, "", {reg(address.part(i % 2))},
              {reg(shared_), constant(0x160), reg(pointer_.part(i % 2))});
    for (int i = 0; i < branches_of_switch; ++i) {
      e_.emit(Opcode::isetp, ".GT.AND", {Operand{}, pred(0)}, {reg(address.part(0)), imm(i)});
      e_.emit(Opcode::bra, "", {}, {}).guard = pred(0);
    }
    return address;
  }

  void read_table() {
    const Value row = e_.fresh();
    const int pattern = e_.add_pattern(contiguous(Space::global, Matrix::none, false, 4, 128));
    e_.memory(Opcode::ldg, ".E", reg(row), {reg(pointer_)}, 4, pattern);
    e_.emit(Opcode::imad_wide, "", {reg(pointer_)}, {reg(row), constant(0x1a0), constant(0x1a8)});
  }

  void load() {
    const int pattern = e_.add_pattern(contiguous(Space::global, Matrix::none, false, work_.load_bytes, 1 << 16));
    for (int i = 0; i < work_.loads; ++i) {
      values_.push_back(e_.fresh(std::max(1, work_.load_bytes / 4)));
      const Value address = e_.fresh(2);
      e_.emit(Opcode::imad_wide, "", {reg(address)}, {reg(shared_), constant(0x160), reg(pointer_)});
      e_.memory(Opcode::ldg, ".E" + width_suffix(work_.load_bytes), reg(values_.back()), {reg(address)},
                work_.load_bytes, pattern);
    }
  }

  void compute() {
    const auto times = [&](double each) { return static_cast<int>(std::lround(each * work_.loads)); };
    const std::vector<Value> words = elements_of(values_);
    for (int i = 0; i < times(work_.operations); ++i) {
      const Value v = words[static_cast<std::size_t>(i) % words.size()];
      e_.emit(Opcode::ffma, "", {reg(v)}, {reg(v), constant(0x1b0), reg(v)});
    }
    for (int i = 0; i < times(work_.special); ++i) {
      const Value v = words[static_cast<std::size_t>(i) % words.size()];
      e_.emit(Opcode::mufu, ".EX2", {reg(v)}, {reg(v)});
    }
  }

  // Over the words of a thread, its warp's lanes, and the warps by way of shared memory.
  void reduce() {
    const std::vector<Value> words = elements_of(values_);
    const Value sum = e_.fresh(), other = e_.fresh();
    e_.emit(Opcode::mov, "", {reg(sum)}, {reg(words.front())});
    for (const Value& v : words) e_.emit(Opcode::fadd, "", {reg(sum)}, {reg(sum), reg(v)});
    const auto over_lanes = [&] {
      emit_over_lanes(e_, sum, other, [&](Value to, Value from) {
        e_.emit(Opcode::fadd, "", {reg(to)}, {reg(to), reg(from)});
      });
    };
    over_lanes();
    if (work_.threads > 32) {
      const int write = e_.add_pattern(contiguous(Space::shared, Matrix::none, true, 4, 128));
      const int read = e_.add_pattern(contiguous(Space::shared, Matrix::none, false, 4, 128));
      e_.memory(Opcode::sts, "", {}, {reg(shared_), reg(sum)}, 4, write);
      emit_barrier(e_);
      e_.memory(Opcode::lds, "", reg(sum), {reg(shared_)}, 4, read);
      over_lanes();
      emit_barrier(e_);
    }
    for (const Value& v : words) e_.emit(Opcode::fadd, "", {reg(v)}, {reg(v), reg(sum)});
  }

  void turn() {
    const int write = e_.add_pattern(contiguous(Space::shared, Matrix::none, true, 4, 128));
    const int read = e_.add_pattern(contiguous(Space::shared, Matrix::none, false, 4, 128));
    for (const Value& v : elements_of(values_)) e_.memory(Opcode::sts, "", {}, {reg(shared_), reg(v)}, 4, write);
    emit_barrier(e_);
    for (const Value& v : elements_of(values_)) e_.memory(Opcode::lds, "", reg(v), {reg(shared_)}, 4, read);
  }

  void store() {
    const int pattern = e_.add_pattern(contiguous(Space::global, Matrix::none, true, work_.store_bytes, 1 << 16));
    for (int i = 0; i < work_.stores; ++i) {
      const Value from = values_[static_cast<std::size_t>(i) % values_.size()];
      e_.memory(Opcode::stg, ".E" + width_suffix(work_.store_bytes), {}, {reg(pointer_), reg(from)}, work_.store_bytes,
                pattern);
    }
  }

  Emitter& e_;
  const MemoryWork& work_;
  Value pointer_, shared_;
  std::vector<Value> values_;
};

}  // namespace

Result<Program> build_memory(const MemoryWork& work, const LatencyModel& latency) {
  Emitter e;
  MemoryBuilder(e, work).run();
  Program& program = e.program();
  program.name = "memory";
  program.warps = std::max(1, work.threads / 32);
  program.threads = work.threads;
  program.shared_bytes = work.turns            ? std::int64_t{work.threads} * work.loads * (work.load_bytes + 4)
                         : work.reductions > 0 ? 4 * 32
                                               : 0;
  BuildRequest request;
  request.latency = latency;
  return finish(e, request);
}

}  // namespace noteg::kernels
