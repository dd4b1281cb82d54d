#include <cstddef>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t opcode_count = static_cast<std::size_t>(Opcode::count_);

// Everything that an opcode says by itself: a new instruction is a row here and its enumerator. Units and completion as
// the compiler's control bits show them: an instruction that carries a dependence counter in listings is variable, one
// that is covered by stall counts is fixed. What a row leaves out is as OpcodeInfo has it.
constexpr std::array<OpcodeInfo, opcode_count> table = {{
    {Opcode::ffma, "FFMA", Unit::fma, false, Pipe::fma},
    {Opcode::fmul, "FMUL", Unit::fma, false, Pipe::fma},
    {Opcode::fadd, "FADD", Unit::fma, false, Pipe::fma},
    {Opcode::hfma2, "HFMA2", Unit::half, false},
    {Opcode::hadd2, "HADD2", Unit::half, false},
    {Opcode::mufu, "MUFU", Unit::mufu, true, Pipe::other, MemoryKind::none, MemoryOrder::none, 25, LeastStall::none,
     false, true},
    {Opcode::i2f, "I2F", Unit::mufu, true, Pipe::other, MemoryKind::none, MemoryOrder::none, 25, LeastStall::none,
     false, true},
    {Opcode::f2i, "F2I", Unit::mufu, true, Pipe::other, MemoryKind::none, MemoryOrder::none, 25, LeastStall::none,
     false, true},
    {Opcode::iadd3, "IADD3", Unit::alu, false, Pipe::alu},
    {Opcode::imad, "IMAD", Unit::fma_heavy, false, Pipe::fma},
    {Opcode::imad_wide, "IMAD.WIDE", Unit::fma_heavy, false, Pipe::fma},
    {Opcode::idp, "IDP.4A", Unit::fma_heavy, false, Pipe::fma},
    {Opcode::hadd2_f32, "HADD2.F32", Unit::fma_heavy, false, Pipe::fma},
    {Opcode::lop3, "LOP3.LUT", Unit::alu, false, Pipe::alu},
    {Opcode::shf, "SHF", Unit::alu, false, Pipe::alu},
    {Opcode::lea, "LEA", Unit::alu, false, Pipe::alu},
    {Opcode::isetp, "ISETP", Unit::alu, false, Pipe::alu},
    {Opcode::plop3, "PLOP3.LUT", Unit::alu, false, Pipe::alu},
    {Opcode::sel, "SEL", Unit::alu, false, Pipe::alu},
    {Opcode::mov, "MOV", Unit::alu, false, Pipe::alu},
    {Opcode::prmt, "PRMT", Unit::alu, false, Pipe::alu},
    {Opcode::iabs, "IABS", Unit::alu, false, Pipe::alu},
    {Opcode::cs2r, "CS2R", Unit::alu, false, Pipe::alu},
    {Opcode::f2fp, "F2FP", Unit::alu, false, Pipe::alu},
    {Opcode::viadd, "VIADD", Unit::fma_heavy, false, Pipe::fma},
    {Opcode::s2r, "S2R", Unit::memory, true, Pipe::other, MemoryKind::special_register, MemoryOrder::none, 25,
     LeastStall::none, false, true},
    {Opcode::s2ur, "S2UR", Unit::memory, true, Pipe::other, MemoryKind::none, MemoryOrder::none, 25},
    {Opcode::r2ur, "R2UR", Unit::memory, true},
    {Opcode::uiadd3, "UIADD3", Unit::uniform, false, Pipe::uniform},
    {Opcode::uimad, "UIMAD", Unit::uniform, false, Pipe::uniform},
    {Opcode::ulop3, "ULOP3.LUT", Unit::uniform, false, Pipe::uniform},
    {Opcode::ushf, "USHF", Unit::uniform, false, Pipe::uniform},
    {Opcode::ulea, "ULEA", Unit::uniform, false, Pipe::uniform},
    {Opcode::umov, "UMOV", Unit::uniform, false, Pipe::uniform},
    {Opcode::usel, "USEL", Unit::uniform, false, Pipe::uniform},
    {Opcode::uisetp, "UISETP", Unit::uniform, false, Pipe::uniform},
    {Opcode::uldc, "ULDC", Unit::uniform, false, Pipe::uniform},
    {Opcode::ldc, "LDC", Unit::memory, true, Pipe::other, MemoryKind::constant, MemoryOrder::none, 25, LeastStall::none,
     false, true},
    {Opcode::ldg, "LDG", Unit::memory, true, Pipe::memory, MemoryKind::load_global, MemoryOrder::global, 200},
    {Opcode::stg, "STG", Unit::memory, true, Pipe::memory, MemoryKind::store_global, MemoryOrder::global},
    {Opcode::lds, "LDS", Unit::memory, true, Pipe::memory, MemoryKind::load_shared, MemoryOrder::shared_load, 30},
    {Opcode::sts, "STS", Unit::memory, true, Pipe::memory, MemoryKind::store_shared, MemoryOrder::shared_store},
    {Opcode::stsm, "STSM", Unit::memory, true, Pipe::other, MemoryKind::store_shared, MemoryOrder::shared_store},
    {Opcode::ldsm, "LDSM", Unit::memory, true, Pipe::memory, MemoryKind::load_shared, MemoryOrder::shared_load, 30},
    {Opcode::ldgsts, "LDGSTS", Unit::memory, true, Pipe::memory, MemoryKind::async_copy, MemoryOrder::copy},
    {Opcode::ldgdepbar, "LDGDEPBAR", Unit::memory, true, Pipe::other, MemoryKind::none, MemoryOrder::commit},
    {Opcode::depbar, "DEPBAR", Unit::control, false, Pipe::other, MemoryKind::none, MemoryOrder::fence, 10,
     LeastStall::depbar},
    {Opcode::red, "RED", Unit::memory, true, Pipe::other, MemoryKind::store_global, MemoryOrder::global},
    {Opcode::membar, "MEMBAR", Unit::memory, true, Pipe::other, MemoryKind::fence, MemoryOrder::fence, 10,
     LeastStall::none, false, true},
    {Opcode::bar_sync, "BAR.SYNC", Unit::barrier, false, Pipe::other, MemoryKind::barrier, MemoryOrder::fence, 10,
     LeastStall::barrier},
    {Opcode::bra, "BRA", Unit::branch, false, Pipe::other, MemoryKind::none, MemoryOrder::none, 10, LeastStall::branch,
     true},
    {Opcode::exit, "EXIT", Unit::branch, false, Pipe::other, MemoryKind::none, MemoryOrder::none, 10,
     LeastStall::branch, true},
    {Opcode::nop, "NOP", Unit::control, false},
    {Opcode::bssy, "BSSY", Unit::branch, false, Pipe::other, MemoryKind::none, MemoryOrder::none, 10,
     LeastStall::branch, true},
    {Opcode::bsync, "BSYNC", Unit::branch, false, Pipe::other, MemoryKind::none, MemoryOrder::none, 10,
     LeastStall::branch, true},
    {Opcode::warpsync, "WARPSYNC", Unit::branch, false},
    {Opcode::shfl, "SHFL", Unit::memory, true, Pipe::other, MemoryKind::shuffle, MemoryOrder::none, 30},
    {Opcode::tex, "TEX", Unit::memory, true, Pipe::other, MemoryKind::texture, MemoryOrder::none, 30},
    {Opcode::dfma, "DFMA", Unit::fp64, true},
    {Opcode::hmma, "HMMA", Unit::tensor, false, Pipe::tensor},
    {Opcode::imma, "IMMA", Unit::tensor, false, Pipe::tensor},
    {Opcode::qmma, "QMMA", Unit::tensor, false, Pipe::tensor},
    // Warpgroup multiplications are waited for by groups (WARPGROUP.DEPBAR), not through dependence counters.
    {Opcode::hgmma, "HGMMA", Unit::tensor, false},
    // One thread multiplies out of shared memory into tensor memory; a commit (UTCBAR) tells a barrier when all is
    // done.
    {Opcode::utchmma, "UTCHMMA", Unit::tensor, false, Pipe::tensor},
    {Opcode::utcqmma, "UTCQMMA", Unit::tensor, false, Pipe::tensor},
    {Opcode::utcomma, "UTCOMMA", Unit::tensor, false, Pipe::tensor},
    {Opcode::utcbar, "UTCBAR", Unit::control, false},
    {Opcode::ldtm, "LDTM", Unit::memory, true, Pipe::other, MemoryKind::load_shared},
    {Opcode::warpgroup, "WARPGROUP", Unit::control, false, Pipe::other, MemoryKind::none, MemoryOrder::none, 10,
     LeastStall::warpgroup},
    {Opcode::usetmaxreg, "USETMAXREG", Unit::control, false},
    // Bulk copies and barriers in shared memory complete on barriers and in groups of their own.
    {Opcode::utmaldg, "UTMALDG", Unit::control, false},
    {Opcode::utmastg, "UTMASTG", Unit::control, false},
    {Opcode::utmacmdflush, "UTMACMDFLUSH", Unit::control, false},
    {Opcode::utmacctl, "UTMACCTL", Unit::control, false},
    {Opcode::syncs, "SYNCS", Unit::control, false},
    {Opcode::fence, "FENCE", Unit::control, false},
}};

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < opcode_count; ++i) {
    if (static_cast<std::size_t>(table[i].op) != i || table[i].mnemonic.empty()) return false;
  }
  return true;
}
static_assert(table_is_in_order(), "one row per Opcode, in the order of the enumeration");

}  // namespace

const OpcodeInfo& opcode_info(Opcode op) { return table[static_cast<std::size_t>(op)]; }

}  // namespace noteg::kernels
