#include <cstddef>

#include "kernels/ir/ir.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t opcode_count = static_cast<std::size_t>(Opcode::count_);

// Units and completion as the compiler's control bits show them: an instruction that carries a dependence
// counter in listings is variable, one that is covered by stall counts is fixed.
constexpr std::array<OpcodeInfo, opcode_count> table = {{
    {Opcode::ffma, "FFMA", Unit::fma, false},
    {Opcode::fmul, "FMUL", Unit::fma, false},
    {Opcode::fadd, "FADD", Unit::fma, false},
    {Opcode::hfma2, "HFMA2", Unit::half, false},
    {Opcode::hadd2, "HADD2", Unit::half, false},
    {Opcode::mufu, "MUFU", Unit::mufu, true},
    {Opcode::i2f, "I2F", Unit::mufu, true},
    {Opcode::f2i, "F2I", Unit::mufu, true},
    {Opcode::iadd3, "IADD3", Unit::alu, false},
    {Opcode::imad, "IMAD", Unit::fma_heavy, false},
    {Opcode::imad_wide, "IMAD.WIDE", Unit::fma_heavy, false},
    {Opcode::lop3, "LOP3.LUT", Unit::alu, false},
    {Opcode::shf, "SHF", Unit::alu, false},
    {Opcode::lea, "LEA", Unit::alu, false},
    {Opcode::isetp, "ISETP", Unit::alu, false},
    {Opcode::plop3, "PLOP3.LUT", Unit::alu, false},
    {Opcode::sel, "SEL", Unit::alu, false},
    {Opcode::mov, "MOV", Unit::alu, false},
    {Opcode::prmt, "PRMT", Unit::alu, false},
    {Opcode::iabs, "IABS", Unit::alu, false},
    {Opcode::cs2r, "CS2R", Unit::alu, false},
    {Opcode::f2fp, "F2FP", Unit::alu, false},
    {Opcode::viadd, "VIADD", Unit::alu, false},
    {Opcode::s2r, "S2R", Unit::memory, true},
    {Opcode::s2ur, "S2UR", Unit::memory, true},
    {Opcode::r2ur, "R2UR", Unit::memory, true},
    {Opcode::uiadd3, "UIADD3", Unit::uniform, false},
    {Opcode::uimad, "UIMAD", Unit::uniform, false},
    {Opcode::ulop3, "ULOP3.LUT", Unit::uniform, false},
    {Opcode::ushf, "USHF", Unit::uniform, false},
    {Opcode::ulea, "ULEA", Unit::uniform, false},
    {Opcode::umov, "UMOV", Unit::uniform, false},
    {Opcode::usel, "USEL", Unit::uniform, false},
    {Opcode::uisetp, "UISETP", Unit::uniform, false},
    {Opcode::uldc, "ULDC", Unit::uniform, false},
    {Opcode::ldc, "LDC", Unit::memory, true},
    {Opcode::ldg, "LDG", Unit::memory, true},
    {Opcode::stg, "STG", Unit::memory, true},
    {Opcode::lds, "LDS", Unit::memory, true},
    {Opcode::sts, "STS", Unit::memory, true},
    {Opcode::stsm, "STSM", Unit::memory, true},
    {Opcode::ldsm, "LDSM", Unit::memory, true},
    {Opcode::ldgsts, "LDGSTS", Unit::memory, true},
    {Opcode::ldgdepbar, "LDGDEPBAR", Unit::memory, true},
    {Opcode::depbar, "DEPBAR", Unit::control, false},
    {Opcode::red, "RED", Unit::memory, true},
    {Opcode::membar, "MEMBAR", Unit::memory, true},
    {Opcode::bar_sync, "BAR.SYNC", Unit::barrier, false},
    {Opcode::bra, "BRA", Unit::branch, false},
    {Opcode::exit, "EXIT", Unit::branch, false},
    {Opcode::nop, "NOP", Unit::control, false},
    {Opcode::bssy, "BSSY", Unit::branch, false},
    {Opcode::bsync, "BSYNC", Unit::branch, false},
    {Opcode::warpsync, "WARPSYNC", Unit::branch, false},
    {Opcode::shfl, "SHFL", Unit::memory, true},
    {Opcode::dfma, "DFMA", Unit::fp64, true},
    {Opcode::hmma, "HMMA", Unit::tensor, false},
    {Opcode::imma, "IMMA", Unit::tensor, false},
    {Opcode::qmma, "QMMA", Unit::tensor, false},
    // Warpgroup multiplications are waited for by groups (WARPGROUP.DEPBAR), not through dependence counters.
    {Opcode::hgmma, "HGMMA", Unit::tensor, false},
    // One thread multiplies out of shared memory into tensor memory; a commit (UTCBAR) tells a barrier when all is
    // done.
    {Opcode::utchmma, "UTCHMMA", Unit::tensor, false},
    {Opcode::utcqmma, "UTCQMMA", Unit::tensor, false},
    {Opcode::utcomma, "UTCOMMA", Unit::tensor, false},
    {Opcode::utcbar, "UTCBAR", Unit::control, false},
    {Opcode::ldtm, "LDTM", Unit::memory, true},
    {Opcode::warpgroup, "WARPGROUP", Unit::control, false},
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
