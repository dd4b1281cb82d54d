#include "kernels/compiled/listing/opcodes.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace noteg::compiled {
namespace {

using S = Semantics;
using O = kernels::Opcode;

// Mnemonics of sm_80 to sm_120 as NVIDIA's "CUDA Binary Utilities" lists them (instruction set reference). The unit
// behind each is that of the IR's opcode (kernels/ir/opcodes.cpp).
constexpr std::array table = {
    OpcodeRow{"ACQBULK", S::nothing, O::nop},
    OpcodeRow{"ACQSHMINIT", S::nothing, O::nop},
    OpcodeRow{"ARRIVES", S::mbarrier, O::syncs},
    OpcodeRow{"ATOM", S::atomic_global, O::red},
    OpcodeRow{"ATOMG", S::atomic_global, O::red},
    OpcodeRow{"ATOMS", S::atomic_shared, O::lds},
    OpcodeRow{"B2R", S::barrier_result, O::s2r},
    OpcodeRow{"BAR", S::barrier, O::bar_sync},
    OpcodeRow{"BGMMA", S::opaque, O::hgmma},
    OpcodeRow{"BMMA", S::opaque, O::imma},
    OpcodeRow{"BMOV", S::move_convergence, O::bssy},
    OpcodeRow{"BMSK", S::bit_mask, O::lop3},
    OpcodeRow{"BPT", S::nothing, O::nop},
    OpcodeRow{"BRA", S::branch, O::bra},
    OpcodeRow{"BREAK", S::leave_convergence, O::bssy},
    OpcodeRow{"BREV", S::reverse_bits, O::mufu},
    OpcodeRow{"BRX", S::branch_indexed, O::bra},
    OpcodeRow{"BRXU", S::branch_indexed, O::bra},
    OpcodeRow{"BSSY", S::push_convergence, O::bssy},
    OpcodeRow{"BSYNC", S::converge, O::bsync},
    OpcodeRow{"CALL", S::call, O::bra},
    OpcodeRow{"CCTL", S::nothing, O::nop},
    OpcodeRow{"CGAERRBAR", S::nothing, O::nop},
    OpcodeRow{"CCTLL", S::nothing, O::nop},
    OpcodeRow{"CCTLT", S::nothing, O::nop},
    OpcodeRow{"CREDUX", S::opaque, O::s2r},
    OpcodeRow{"CS2R", S::zero_or_clock, O::cs2r},
    OpcodeRow{"CS2UR", S::zero_or_clock, O::s2ur},
    OpcodeRow{"DADD", S::double_arithmetic, O::dfma},
    OpcodeRow{"DEPBAR", S::nothing, O::depbar},
    OpcodeRow{"DFMA", S::double_arithmetic, O::dfma},
    OpcodeRow{"DMMA", S::opaque, O::dfma},
    OpcodeRow{"DMUL", S::double_arithmetic, O::dfma},
    OpcodeRow{"DSETP", S::double_compare, O::dfma},
    OpcodeRow{"ELECT", S::elect, O::isetp},
    OpcodeRow{"ENDCOLLECTIVE", S::nothing, O::bsync},
    OpcodeRow{"ERRBAR", S::nothing, O::nop},
    OpcodeRow{"EXIT", S::exit, O::exit},
    OpcodeRow{"F2F", S::convert_number, O::f2i},
    OpcodeRow{"F2FP", S::opaque, O::f2fp},
    OpcodeRow{"F2I", S::float_to_int, O::f2i},
    OpcodeRow{"F2IP", S::opaque, O::f2fp},
    OpcodeRow{"FADD", S::fadd, O::fadd},
    OpcodeRow{"FADD2", S::opaque, O::fadd},
    OpcodeRow{"FCHK", S::check_division, O::mufu},
    OpcodeRow{"FENCE", S::nothing, O::fence},
    OpcodeRow{"FFMA", S::ffma, O::ffma},
    OpcodeRow{"FFMA2", S::opaque, O::ffma},
    OpcodeRow{"FFMA32I", S::opaque, O::ffma},
    OpcodeRow{"FLO", S::find_leading_one, O::mufu},
    OpcodeRow{"FMNMX", S::number_minmax, O::isetp},
    OpcodeRow{"FMNMX3", S::opaque, O::isetp},
    OpcodeRow{"FMUL", S::fmul, O::fmul},
    OpcodeRow{"FMUL2", S::opaque, O::fmul},
    OpcodeRow{"FMUL32I", S::opaque, O::fmul},
    OpcodeRow{"FRND", S::number_round, O::f2i},
    OpcodeRow{"FSEL", S::number_select, O::sel},
    OpcodeRow{"FSET", S::opaque, O::isetp},
    OpcodeRow{"FSETP", S::fsetp, O::isetp},
    OpcodeRow{"FSWZADD", S::opaque, O::fadd},
    OpcodeRow{"GETLMEMBASE", S::opaque, O::s2r},
    OpcodeRow{"HADD2", S::half_constant, O::hadd2},
    OpcodeRow{"HFMA2", S::half_constant, O::hfma2},
    OpcodeRow{"HGMMA", S::opaque, O::hgmma},
    OpcodeRow{"HMMA", S::opaque, O::hmma},
    OpcodeRow{"HMNMX2", S::opaque, O::isetp},
    OpcodeRow{"HMUL2", S::opaque, O::hfma2},
    OpcodeRow{"HSET2", S::opaque, O::isetp},
    OpcodeRow{"HSETP2", S::opaque, O::isetp},
    OpcodeRow{"I2F", S::int_to_float, O::i2f},
    OpcodeRow{"I2FP", S::int_to_float, O::f2fp},
    OpcodeRow{"I2I", S::opaque, O::f2i},
    OpcodeRow{"I2IP", S::opaque, O::f2fp},
    OpcodeRow{"IABS", S::iabs, O::iabs},
    OpcodeRow{"IADD3", S::iadd, O::iadd3},
    OpcodeRow{"IADD", S::iadd, O::iadd3},
    OpcodeRow{"IDP", S::opaque, O::imad},
    OpcodeRow{"IDP4A", S::opaque, O::imad},
    OpcodeRow{"IGMMA", S::opaque, O::hgmma},
    OpcodeRow{"IMAD", S::imad, O::imad},
    OpcodeRow{"IMMA", S::opaque, O::imma},
    OpcodeRow{"IMNMX", S::minmax, O::isetp},
    OpcodeRow{"ISBERD", S::opaque, O::ldc},
    OpcodeRow{"ISETP", S::isetp, O::isetp},
    OpcodeRow{"JMP", S::branch, O::bra},
    OpcodeRow{"JMX", S::branch_indexed, O::bra},
    OpcodeRow{"KILL", S::nothing, O::nop},
    OpcodeRow{"LD", S::load_global, O::ldg},
    OpcodeRow{"LDC", S::load_constant, O::ldc},
    OpcodeRow{"LDCU", S::load_constant, O::ldc},
    OpcodeRow{"LDG", S::load_global, O::ldg},
    OpcodeRow{"LDGDEPBAR", S::nothing, O::ldgdepbar},
    OpcodeRow{"LDGMC", S::load_global, O::ldg},
    OpcodeRow{"LDGSTS", S::copy_to_shared, O::ldgsts},
    OpcodeRow{"LDL", S::load_local, O::ldg},
    OpcodeRow{"LDS", S::load_shared, O::lds},
    OpcodeRow{"LDSM", S::load_matrix, O::ldsm},
    OpcodeRow{"LEA", S::lea, O::lea},
    OpcodeRow{"LEPC", S::opaque, O::mov},
    OpcodeRow{"LOP3", S::lop3, O::lop3},
    OpcodeRow{"MATCH", S::match, O::lds},
    OpcodeRow{"MEMBAR", S::fence, O::membar},
    OpcodeRow{"MOV", S::mov, O::mov},
    OpcodeRow{"MOVM", S::opaque, O::s2r},
    OpcodeRow{"MUFU", S::mufu, O::mufu},
    OpcodeRow{"NANOSLEEP", S::nothing, O::nop},
    OpcodeRow{"NOP", S::nothing, O::nop},
    OpcodeRow{"OMMA", S::opaque, O::qmma},
    OpcodeRow{"P2R", S::register_from_predicates, O::lop3},
    OpcodeRow{"PLOP3", S::plop3, O::plop3},
    OpcodeRow{"PMTRIG", S::nothing, O::nop},
    OpcodeRow{"POPC", S::popc, O::mufu},
    OpcodeRow{"PREEXIT", S::nothing, O::nop},
    OpcodeRow{"PRMT", S::prmt, O::prmt},
    OpcodeRow{"QGMMA", S::opaque, O::hgmma},
    OpcodeRow{"QMMA", S::opaque, O::qmma},
    OpcodeRow{"QSPC", S::opaque, O::s2r},
    OpcodeRow{"R2B", S::nothing, O::nop},
    OpcodeRow{"R2P", S::predicates_from_register, O::isetp},
    OpcodeRow{"R2UR", S::to_uniform, O::r2ur},
    OpcodeRow{"RED", S::store_global, O::red},
    OpcodeRow{"REDAS", S::store_shared, O::sts},
    OpcodeRow{"REDG", S::store_global, O::red},
    OpcodeRow{"REDUX", S::reduce, O::s2ur},
    OpcodeRow{"RET", S::ret, O::bra},
    OpcodeRow{"RPCMOV", S::nothing, O::nop},
    OpcodeRow{"S2R", S::special_register, O::s2r},
    OpcodeRow{"S2UR", S::special_register, O::s2ur},
    OpcodeRow{"SEL", S::sel, O::sel},
    OpcodeRow{"SETCTAID", S::nothing, O::nop},
    OpcodeRow{"SETLMEMBASE", S::nothing, O::nop},
    OpcodeRow{"SETMAXREG", S::try_alloc, O::usetmaxreg},
    OpcodeRow{"SGXT", S::sign_extend, O::shf},
    OpcodeRow{"SHF", S::shift, O::shf},
    OpcodeRow{"SHFL", S::shuffle, O::shfl},
    OpcodeRow{"ST", S::store_global, O::stg},
    OpcodeRow{"STAS", S::store_shared, O::sts},
    OpcodeRow{"STG", S::store_global, O::stg},
    OpcodeRow{"STL", S::store_local, O::stg},
    OpcodeRow{"STS", S::store_shared, O::sts},
    OpcodeRow{"STSM", S::store_matrix, O::stsm},
    OpcodeRow{"SYNCS", S::mbarrier, O::syncs},
    OpcodeRow{"SYNCSU", S::mbarrier, O::syncs},
    OpcodeRow{"TLD", S::opaque, O::tex},
    OpcodeRow{"TLD4", S::opaque, O::tex},
    OpcodeRow{"TEX", S::opaque, O::tex},
    OpcodeRow{"TMML", S::opaque, O::tex},
    OpcodeRow{"TXD", S::opaque, O::tex},
    OpcodeRow{"TXQ", S::opaque, O::ldg},
    OpcodeRow{"UBLKCP", S::bulk_load, O::utmaldg},
    OpcodeRow{"UBLKPF", S::nothing, O::nop},
    OpcodeRow{"UBLKRED", S::bulk_store, O::utmastg},
    OpcodeRow{"UBMSK", S::bit_mask, O::ulop3},
    OpcodeRow{"UBREV", S::reverse_bits, O::ulop3},
    OpcodeRow{"UCGABAR_ARV", S::cluster_arrive, O::syncs},
    OpcodeRow{"UCGABAR_WAIT", S::cluster_wait, O::syncs},
    OpcodeRow{"UCLEA", S::opaque, O::ulea},
    OpcodeRow{"UF2FP", S::opaque, O::ulop3},
    OpcodeRow{"UFLO", S::find_leading_one, O::ulop3},
    OpcodeRow{"UIADD3", S::iadd, O::uiadd3},
    OpcodeRow{"UIMAD", S::imad, O::uimad},
    OpcodeRow{"UIMNMX", S::minmax, O::uisetp},
    OpcodeRow{"UISETP", S::isetp, O::uisetp},
    OpcodeRow{"ULDC", S::load_constant, O::uldc},
    OpcodeRow{"ULEA", S::lea, O::ulea},
    OpcodeRow{"ULEPC", S::opaque, O::umov},
    OpcodeRow{"ULOP3", S::lop3, O::ulop3},
    OpcodeRow{"UMOV", S::mov, O::umov},
    OpcodeRow{"UP2UR", S::register_from_predicates, O::ulop3},
    OpcodeRow{"UPLOP3", S::plop3, O::ulop3},
    OpcodeRow{"UPOPC", S::popc, O::ulop3},
    OpcodeRow{"UPRMT", S::prmt, O::ulop3},
    OpcodeRow{"UR2UP", S::predicates_from_register, O::uisetp},
    OpcodeRow{"UREDGR", S::nothing, O::nop},
    OpcodeRow{"USEL", S::sel, O::usel},
    OpcodeRow{"USETMAXREG", S::try_alloc, O::usetmaxreg},
    OpcodeRow{"USGXT", S::sign_extend, O::ushf},
    OpcodeRow{"USHF", S::shift, O::ushf},
    OpcodeRow{"UTCBAR", S::nothing, O::nop},
    OpcodeRow{"UTCHMMA", S::nothing, O::nop},
    OpcodeRow{"UTMACCTL", S::nothing, O::utmacctl},
    OpcodeRow{"UTMACMDFLUSH", S::nothing, O::utmacmdflush},
    OpcodeRow{"UTMALDG", S::bulk_load, O::utmaldg},
    OpcodeRow{"UTMAPF", S::nothing, O::nop},
    OpcodeRow{"UTMAREDG", S::bulk_store, O::utmastg},
    OpcodeRow{"UTMASTG", S::bulk_store, O::utmastg},
    OpcodeRow{"UVIADD", S::iadd, O::uiadd3},
    OpcodeRow{"UVIMNMX", S::minmax, O::uisetp},
    OpcodeRow{"VABSDIFF", S::opaque, O::isetp},
    OpcodeRow{"VABSDIFF4", S::opaque, O::isetp},
    OpcodeRow{"VHMNMX", S::opaque, O::isetp},
    OpcodeRow{"VIADD", S::iadd, O::viadd},
    OpcodeRow{"VIADDMNMX", S::add_minmax, O::isetp},
    OpcodeRow{"VIMNMX", S::minmax, O::isetp},
    OpcodeRow{"VIMNMX3", S::opaque, O::isetp},
    OpcodeRow{"VOTE", S::vote, O::isetp},
    OpcodeRow{"VOTEU", S::vote, O::uisetp},
    OpcodeRow{"WARPGROUP", S::nothing, O::warpgroup},
    OpcodeRow{"WARPGROUPSET", S::nothing, O::nop},
    OpcodeRow{"WARPSYNC", S::warp_sync, O::warpsync},
    OpcodeRow{"YIELD", S::nothing, O::nop},
};

const auto& sorted_table() {
  static const auto sorted = [] {
    auto copy = table;
    std::ranges::sort(copy, {}, &OpcodeRow::base);
    return copy;
  }();
  return sorted;
}

constexpr OpcodeRow unknown{"", S::opaque, O::mov};

}  // namespace

const OpcodeRow* find_opcode(std::string_view base) {
  const auto& rows = sorted_table();
  const auto at = std::ranges::lower_bound(rows, base, {}, &OpcodeRow::base);
  return at != rows.end() && at->base == base ? &*at : nullptr;
}

const OpcodeRow& unknown_opcode() { return unknown; }

kernels::Opcode timed_as(const Instruction& in) {
  const OpcodeRow* row = find_opcode(in.base);
  if (row == nullptr) return unknown.timed_as;
  if (row->base == "IMAD" && (in.has("WIDE") || in.has("HI"))) return O::imad_wide;
  // One half to FP32: where IMAD runs and as fast (H100M: 3.98 cycles for one of each, 2.0 for one and a LOP3).
  if (row->base == "HADD2" && in.has("F32")) return O::imad;
  if (row->base == "I2F" || row->base == "F2I") return row->timed_as;
  // HFMA2.MMA runs on the FMA pipe's heavy half (counters of an H200: inst_executed_pipe_fmaheavy).
  if (row->base == "HFMA2" && in.has("MMA")) return O::imad;
  return row->timed_as;
}

int access_bytes(const Instruction& in) {
  if (in.base == "LDSM" || in.base == "STSM" || in.has("128")) return 16;
  if (in.has("64") || (in.has("F64") && (in.base == "RED" || in.base == "REDG" || in.base.starts_with("ATOM"))))
    return 8;
  if (in.has("U8") || in.has("S8")) return 1;
  if (in.has("U16") || in.has("S16")) return 2;
  return 4;
}

Diagnostics unknown_opcodes(const Listing& listing, const Code& code) {
  Diagnostics out;
  std::set<std::string_view> told;
  for (const Instruction& in : code.instructions) {
    if (find_opcode(in.base) != nullptr || !told.insert(in.base).second) continue;
    out.push_back({listing.file, in.line, 0, std::string(in.base),
                   "an opcode of the table (kernels/compiled/listing/opcodes.cpp)",
                   "an unknown one: its results are taken as not known, and it is timed as an ALU instruction"});
  }
  return out;
}

}  // namespace noteg::compiled
