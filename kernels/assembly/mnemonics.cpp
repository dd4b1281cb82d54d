#include "kernels/assembly/mnemonics.hpp"

#include <utility>

#include "kernels/ir/tensor_form.hpp"

namespace noteg::kernels {
namespace {

// Mnemonics that take the same pipe as an opcode of the table.
constexpr std::pair<std::string_view, Opcode> aliases[] = {
    {"IMNMX", Opcode::iadd3}, {"VIADDMNMX", Opcode::iadd3}, {"VOTEU", Opcode::uisetp}, {"I2FP", Opcode::iabs},
    {"FSETP", Opcode::isetp}, {"FSEL", Opcode::sel},        {"CALL", Opcode::nop},     {"RET", Opcode::nop},
    {"FMNMX", Opcode::fadd},  {"P2R", Opcode::mov},         {"R2P", Opcode::mov},      {"VOTE", Opcode::plop3},
    {"POPC", Opcode::mufu},   {"FLO", Opcode::mufu},        {"BREV", Opcode::mufu},    {"DADD", Opcode::dfma},
    {"DMUL", Opcode::dfma}};

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == '.');
}

// D, A, B, C and, of sparse forms, the places of A's values.
int registers_of_matrix(const Instruction& in, Place place, std::size_t position) {
  const std::optional<TensorForm> form = tensor_form_from(in.op, in.modifiers);
  if (!form) return 1;
  const FormRegisters r = registers_of(*form);
  if (place == Place::destination) return position == 0 ? r.c : 1;
  return position == 0 ? r.a : position == 1 ? r.b : position == 2 ? r.c : 1;
}

}  // namespace

std::optional<Mnemonic> read_mnemonic(std::string_view text) {
  // Only the waiting form of BAR is modelled.
  if (begins_with_word(text, "BAR") && text != "BAR" && !begins_with_word(text, "BAR.SYNC")) return std::nullopt;
  std::optional<Mnemonic> best;
  std::size_t length = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Opcode::count_); ++i) {
    const OpcodeInfo& info = opcode_info(static_cast<Opcode>(i));
    const std::string_view base = info.mnemonic.substr(0, info.mnemonic.find('.'));
    for (const std::string_view form : {info.mnemonic, base}) {
      if (!begins_with_word(text, form) || form.size() <= length) continue;
      length = form.size();
      best = Mnemonic{info.op, std::string(text.substr(form.size()))};
    }
  }
  if (best) return best;
  for (const auto& [name, op] : aliases) {
    if (begins_with_word(text, name)) return Mnemonic{op, ""};
  }
  return std::nullopt;
}

std::optional<int> bytes_per_lane(Opcode op, std::string_view modifiers) {
  if (op == Opcode::ldsm) return std::nullopt;
  if (modifiers.find(".128") != std::string_view::npos) return 16;
  return modifiers.find(".64") != std::string_view::npos ? 8 : 4;
}

int registers_of(const Instruction& in, Place place, std::size_t position) {
  const int words = bytes_per_lane(in.op, in.modifiers).value_or(4) / 4;
  const bool is_first_destination = place == Place::destination && position == 0;
  const bool is_data = place == Place::source && position == address_operands(in.op);
  switch (in.op) {
    case Opcode::lds:
    case Opcode::ldg: return is_first_destination ? words : 1;
    case Opcode::ldsm:
      return !is_first_destination ? 1 : in.modifiers.ends_with(".4") ? 4 : in.modifiers.ends_with(".2") ? 2 : 1;
    case Opcode::hmma:
    case Opcode::imma:
    case Opcode::qmma: return registers_of_matrix(in, place, position);
    case Opcode::ldc:
    case Opcode::uldc: return position == 0 ? words : 1;
    case Opcode::sts:
    case Opcode::stsm:
    case Opcode::stg: return is_data ? words : 1;
    case Opcode::imad_wide: return is_first_destination || (place == Place::source && position == 2) ? 2 : 1;
    default: return 1;
  }
}

std::size_t address_operands(Opcode op) {
  switch (op) {
    case Opcode::lds:
    case Opcode::ldsm:
    case Opcode::sts:
    case Opcode::ldg:
    case Opcode::stg:
    case Opcode::red: return 1;
    case Opcode::ldgsts: return 2;
    default: return 0;
  }
}

Space space_of(Opcode op) {
  return op == Opcode::lds || op == Opcode::sts || op == Opcode::ldsm ? Space::shared : Space::global;
}

bool is_store(Opcode op) { return op == Opcode::sts || op == Opcode::stg || op == Opcode::red; }

std::string_view implied_source(Opcode op) {
  switch (op) {
    case Opcode::cs2r: return "SRZ";
    case Opcode::s2r: return "SR_TID.X";
    case Opcode::s2ur: return "SR_CTAID.X";
    default: return "";
  }
}

bool writes_predicates_only(Opcode op) { return op == Opcode::isetp || op == Opcode::uisetp || op == Opcode::plop3; }

bool has_no_destination(Opcode op) {
  switch (op) {
    case Opcode::sts:
    case Opcode::stg:
    case Opcode::red:
    case Opcode::ldgsts:
    case Opcode::ldgdepbar:
    case Opcode::depbar:
    case Opcode::membar:
    case Opcode::bar_sync:
    case Opcode::bra:
    case Opcode::exit:
    case Opcode::nop:
    case Opcode::bssy:
    case Opcode::bsync:
    case Opcode::warpsync:
    case Opcode::utchmma:
    case Opcode::utcqmma:
    case Opcode::utcomma:
    case Opcode::utcbar:
    case Opcode::warpgroup:
    case Opcode::utmaldg:
    case Opcode::utmastg:
    case Opcode::utmacmdflush:
    case Opcode::utmacctl:
    case Opcode::usetmaxreg:
    case Opcode::fence:
    case Opcode::syncs: return true;
    default: return false;
  }
}

}  // namespace noteg::kernels
