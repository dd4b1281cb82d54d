// The producer of FlashAttention-3. Keys that lie together come by boxes, which one warp asks for. Pages of a cache
// that are no whole blocks of keys are gathered by a warpgroup: every thread looks its rows' pages up, the lanes of a
// row share the addresses, 16 bytes a copy (paged_kv.h of the library). Rows behind the last key are not read.
// Of a tile with few keys the producer's own chain is the longest: which sequence, how long, which pages, which tile
// next. Its instructions are counted in the library's kernel as compiled for sm_90 (heads of 64 and 128, causal,
// paged): 111 to the look-up of the first page, 163 to the first copy of keys, 90 from the last of these to that of
// queries.
#include <algorithm>

#include "kernels/families/common.hpp"
#include "kernels/families/flash3/flash3_parts.hpp"
#include "kernels/families/wgmma/wgmma_parts.hpp"

namespace noteg::kernels {
namespace {

constexpr int common_prologue = 48;  // instructions, as in the kernels of the wgmma family
constexpr int copy_bytes = 16, gathering_threads = 128;
constexpr int row_arithmetic = 14;      // of a row: its token, then page and place in it by a division
constexpr int address_arithmetic = 35;  // of a page: 64-bit products
constexpr int query_arithmetic = 75;    // of a row of queries: token and head by a division, then 64-bit products
constexpr int scan_steps = 5;           // of a running sum over a warp
constexpr int divisions = 2;            // tile by blocks of rows, then by heads
constexpr int division_arithmetic = 20;

constexpr int instructions_of_parameter = 12;  // strides, divisors and pointers are the kernel's parameters

// Which sequence a tile is of, where that begins, how long it is; then its blocks.
constexpr int rounds_of_lengths = 4, arithmetic_of_round = 9, arithmetic_of_blocks = 40;

class Producer {
 public:
  Producer(Emitter& e, const Flash3Plan& plan) : e_(e), plan_(plan) {
    page_ = e.fresh();
    table_ = e.fresh(2);
    for (Value& pointer : pointers_) pointer = e.fresh(2);
    place_ = e.fresh(2);
    write_ = e.fresh();
    sequence_ = e.fresh();
    sum_ = e.fresh();
    ticket_ = e.fresh();
    add_patterns();
  }

  void run() {
    emit_flash3_start(e_, ".DEALLOC.CTAPOOL", plan_.producer_registers());
    emit_index_arithmetic(e_, flash3_role_prologue);
    const int tiles = open_tiles(e_, plan_.persistent);
    emit_flash3_lengths(e_, sequence_, table_, sequences_, false);
    look_up();
    copy(of_keys);
    queries();
    // Values take the place that the last tile's output was stored from.
    emit_async(e_, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
               {.kind = AsyncKind::wait, .ring = ring_output, .by_design = true, .advances = true});
    const int loop = e_.begin_guarded_loop(pred(0));
    look_up();
    copy(of_keys);
    copy(of_values);
    e_.end_loop(loop, pred(0));
    if (tiles >= 0) take_ticket();
    copy(of_values);
    if (tiles >= 0) find_next_tile();
    close_tiles(e_, tiles);
    e_.emit(Opcode::exit, "", {}, {});
  }

 private:
  enum Operand_ : std::uint8_t { of_keys, of_values, of_queries, operands };

  [[nodiscard]] int row_bytes() const { return 2 * plan_.head; }
  // Of a row, what the lanes that share its address copy at a time.
  [[nodiscard]] int piece_bytes() const { return row_bytes() % 128 == 0 ? 128 : 64; }
  [[nodiscard]] int lanes_of_row() const { return piece_bytes() / copy_bytes; }
  [[nodiscard]] int rows_at_once() const { return gathering_threads / lanes_of_row(); }

  void add_patterns() {
    const auto add_rows = [&](Matrix matrix) {
      AccessPattern rows = contiguous(Space::global, matrix, false, copy_bytes, piece_bytes());
      for (int lane = 0; lane < 32; ++lane)
        rows.shared_offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(lane * copy_bytes);
      return e_.add_pattern(rows);
    };
    rows_ = add_rows(Matrix::b);
    query_rows_ = add_rows(Matrix::c);
    AccessPattern table = words_in_l2();
    const int page = std::max(1, plan_.page);
    for (int lane = 0; lane < 32; ++lane) {
      const int row = lane % lanes_of_row() * rows_at_once() + lane / lanes_of_row();
      table.offset[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(row / page * 4);
    }
    pages_ = e_.add_pattern(table);
    sequences_ = add_flash3_lengths(e_);
    counter_ = e_.add_pattern(words_in_l2());
  }

  // The table of pages is read before each block of keys; its values lie in the same pages.
  void look_up() {
    if (!plan_.gathers) return;
    emit_flash3_chain(e_, table_.part(0), place_.part(0), row_arithmetic);
    e_.memory(Opcode::ldg, ".E", reg(page_), {reg(table_)}, 4, pages_);
    emit_flash3_chain(e_, page_, place_.part(0), address_arithmetic);
    for (const Value& pointer : pointers_)
      e_.emit(Opcode::imad_wide, "", {reg(pointer)}, {reg(page_), constant(0x1a0), constant(0x1a8)});
  }

  void copy(Operand_ of) {
    const int full = of == of_keys ? ring_full_k : ring_full_v, empty = of == of_keys ? ring_empty_k : ring_empty_v;
    emit_async(e_, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
               {.kind = AsyncKind::wait, .ring = empty, .by_design = true});
    if (plan_.gathers) return gather(pointers_[of], full);
    emit_async(e_, Opcode::syncs, ".ARRIVE.TRANS64", {.kind = AsyncKind::arrive, .ring = full, .boxes = 1});
    for (int i = 0; i < 4; ++i) e_.emit(Opcode::uiadd3, "", {ureg(8 + i)}, {ureg(4), imm(i)});
    emit_async(e_, Opcode::utmaldg, ".4D",
               {.kind = AsyncKind::load_box,
                .ring = full,
                .advances = true,
                .box = of == of_keys ? BoxOf::a : BoxOf::b,
                .bytes = 2.0 * plan_.keys * plan_.head});
  }

  void gather(Value pointer, int full) {
    copy_rows(pointer, plan_.keys, plan_.keys, rows_);
    emit_async(e_, Opcode::syncs, ".ARRIVES.LDGSTSBAR.64",
               {.kind = AsyncKind::arrive_copied, .ring = full, .advances = true});
  }

  // Copies of rows that there are none of are masked.
  void copy_rows(Value pointer, int rows, int live, int pattern) {
    for (int row = 0; row < rows; row += rows_at_once()) {
      share_address(pointer, row / rows_at_once());
      if (row >= live) continue;
      for (int at = 0; at < row_bytes(); at += piece_bytes())
        e_.memory(Opcode::ldgsts, ".E.BYPASS.LTC128B.128", {}, {reg(write_), reg(place_)}, copy_bytes, pattern).guard =
            pred(1);
    }
  }

  // Of the lanes that copy a row, one has worked its address out.
  void share_address(Value pointer, int pass) {
    for (int i = 0; i < 2; ++i)
      e_.emit(Opcode::shfl, ".IDX", {reg(place_.part(i))}, {reg(pointer.part(i)), imm(pass), imm(0x181f)});
    e_.emit(Opcode::lea, "", {reg(place_.part(0))}, {reg(place_.part(0)), constant(0x1b0), reg(zero_value)});
    e_.emit(Opcode::imad, ".X", {reg(place_.part(1))}, {reg(place_.part(1)), imm(1), reg(place_.part(0))});
    e_.emit(Opcode::isetp, ".GE.AND", {Operand{}, pred(1)}, {reg(sequence_), imm(16 * pass)});
  }

  // Queries are read by one CTA, as C is where it is read. Beside gathered keys the heads of a key head lie in the rows
  // by turns, and the warpgroup copies them too (PackGQA).
  void queries() {
    const Value pointer = pointers_[of_queries];
    if (plan_.gathers) emit_flash3_chain(e_, pointer.part(0), sequence_, query_arithmetic);
    emit_async(e_, Opcode::syncs, ".PHASECHK.TRANS64.TRYWAIT",
               {.kind = AsyncKind::wait, .ring = ring_empty_q, .by_design = true});
    if (plan_.gathers) {
      copy_rows(pointer, plan_.rows, plan_.query_rows, query_rows_);
      emit_async(e_, Opcode::syncs, ".ARRIVES.LDGSTSBAR.64", {.kind = AsyncKind::arrive_copied, .ring = ring_full_q});
      return;
    }
    emit_async(e_, Opcode::syncs, ".ARRIVE.TRANS64",
               {.kind = AsyncKind::arrive, .ring = ring_full_q, .boxes = 1, .one_warp = true});
    emit_async(e_, Opcode::utmaldg, ".4D",
               {.kind = AsyncKind::load_box,
                .ring = ring_full_q,
                .one_warp = true,
                .box = BoxOf::c,
                .bytes = 2.0 * plan_.rows * plan_.head});
  }

  // A counter in memory deals tiles out; its answer is waited for before values are copied.
  void take_ticket() {
    e_.memory(Opcode::ldg, ".E", reg(ticket_), {reg(table_)}, 4, counter_);  // ATOMG
    e_.emit(Opcode::shfl, ".IDX", {reg(sum_)}, {reg(ticket_), imm(0), imm(0x1f)});
    e_.emit(Opcode::iadd3, "", {reg(write_)}, {reg(sum_), reg(write_), reg(zero_value)});
    e_.emit(Opcode::iadd3, "", {reg(place_.part(0))}, {reg(write_), reg(place_.part(0)), reg(zero_value)});
  }

  // Sequences differ in length: running sums over the blocks of 31 of them at a time, from the last tile's on, tell
  // whose tile it is (VarlenDynamicPersistentTileScheduler).
  void find_next_tile() {
    const int loop = e_.begin_loop(false, plan_.scans);
    e_.memory(Opcode::ldg, ".E", reg(sequence_), {reg(table_)}, 4, sequences_);
    for (int i = 0; i < scan_steps; ++i) {
      e_.emit(Opcode::shfl, ".UP", {reg(sum_)}, {reg(sequence_), imm(1 << i), imm(0)});
      e_.emit(Opcode::sel, "", {reg(sum_)}, {reg(sum_), reg(zero_value), pred(1)});
      e_.emit(Opcode::iadd3, "", {reg(sequence_)}, {reg(sequence_), reg(sum_), reg(zero_value)});
    }
    e_.emit(Opcode::shfl, ".IDX", {reg(sum_)}, {reg(sequence_), imm(31), imm(0x1f)});
    e_.emit(Opcode::imad, "", {reg(table_.part(0))}, {reg(sum_), constant(0x1b0), reg(ticket_)});
    e_.end_loop(loop, pred(0));
    for (int i = 0; i < 2; ++i) e_.emit(Opcode::shfl, ".IDX", {reg(sum_)}, {reg(table_.part(0)), imm(i), imm(0x1f)});
    e_.emit(Opcode::iadd3, "", {reg(table_.part(0))}, {reg(table_.part(0)), reg(sum_), reg(zero_value)});
    e_.memory(Opcode::ldg, ".E", reg(sequence_), {reg(table_)}, 4, sequences_);
    for (int i = 0; i < divisions; ++i) {
      e_.emit(Opcode::i2f, ".RP", {reg(sum_)}, {reg(sequence_)});
      e_.emit(Opcode::mufu, ".RCP", {reg(sum_)}, {reg(sum_)});
      e_.emit(Opcode::iadd3, "", {reg(sum_)}, {reg(sum_), imm(-2), reg(zero_value)});
      e_.emit(Opcode::f2i, ".FTZ.U32.TRUNC", {reg(sequence_)}, {reg(sum_)});
      emit_flash3_chain(e_, sequence_, table_.part(0), division_arithmetic);
    }
    // Of the warps that gather one knows the next tile. The others hear of it with the consumers, when these have
    // multiplied; the one runs ahead, but copies nothing without them.
    if (plan_.gathers)
      emit_async(e_, Opcode::bar_sync, ".DEFER_BLOCKING", {.kind = AsyncKind::sync, .ring = ring_next});
    else
      emit_async(e_, Opcode::bar_sync, ".ARV", {.kind = AsyncKind::arrive, .ring = ring_next});
  }

  Emitter& e_;
  const Flash3Plan& plan_;
  Value page_, table_, place_, write_, sequence_, sum_, ticket_;
  Value pointers_[operands];
  int rows_ = -1, query_rows_ = -1, pages_ = -1, sequences_ = -1, counter_ = -1;
};

}  // namespace

void emit_flash3_start(Emitter& e, const char* registers_move, int registers) {
  emit_index_arithmetic(e, common_prologue);
  e.emit(Opcode::bar_sync, "", {}, {});
  e.emit(Opcode::usetmaxreg, registers_move, {}, {imm(registers)});
}

void emit_flash3_chain(Emitter& e, Value of, Value with, int instructions) {
  const Value parameter = e.fresh();
  for (int i = 0; i < instructions; ++i) {
    if (i % instructions_of_parameter == 0) {
      e.emit(Opcode::ldc, "", {reg(parameter)}, {constant(0x210 + 4 * i)});
      e.emit(Opcode::imad, "", {reg(of)}, {reg(of), reg(parameter), reg(with)});
    } else {
      e.emit(i % 3 == 2 ? Opcode::iadd3 : Opcode::imad, "", {reg(of)}, {reg(of), imm(i), reg(with)});
    }
  }
}

int add_flash3_lengths(Emitter& e) { return e.add_pattern(contiguous(Space::global, Matrix::a, false, 4, 128)); }

void emit_flash3_lengths(Emitter& e, Value length, Value address, int pattern, bool to_uniform) {
  for (int round = 0; round < rounds_of_lengths; ++round) {
    e.memory(Opcode::ldg, ".E", reg(length), {reg(address)}, 4, pattern);
    if (to_uniform) e.emit(Opcode::r2ur, "", {ureg(20)}, {reg(length)});
    emit_flash3_chain(e, address.part(0), length, arithmetic_of_round);
  }
  emit_flash3_chain(e, length, address.part(0), arithmetic_of_blocks);
}

void emit_flash3_producer(Emitter& e, const Flash3Plan& plan) { Producer(e, plan).run(); }

}  // namespace noteg::kernels
