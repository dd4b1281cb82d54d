#include "kernels/compiled/emulator/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace noteg::compiled {
namespace {

// Of a load of fewer than four bytes.
std::uint32_t extended(const Instruction& in, std::uint32_t v) {
  const bool byte = in.has("U8") || in.has("S8"), half = in.has("U16") || in.has("S16");
  if (!byte && !half) return v;
  const int keep = byte ? 24 : 16;
  const bool is_signed = in.has("S8") || in.has("S16");
  return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(v << keep) >> keep) : v << keep >> keep;
}

}  // namespace

void load_shared(const Work& w) {
  const int words = std::max(1, w.step.bytes / 4);
  const Operand* from = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    if (w.in.operand[i].kind == Kind::memory) from = &w.in.operand[i];
  const bool is_kept = from != nullptr && w.around.shared != nullptr && !w.around.shared->none_known();
  const int bytes = std::min<int>(w.step.bytes, 4);
  const Wide address = is_kept ? address_of(w.to, *from, false) : Wide{};
  for (int n = 0; n < words; ++n) {
    Lanes out = Lanes::unknown();
    if (is_kept) {
      for (std::size_t i = 0; i < 32; ++i) {
        if ((address.known >> i & 1) == 0) continue;
        const std::uint32_t place = static_cast<std::uint32_t>(address.value[i]) + 4 * static_cast<std::uint32_t>(n);
        const auto word = w.around.shared->at(place, bytes);
        if (!word) continue;
        out.value[i] = extended(w.in, *word);
        out.known |= 1u << i;
      }
    }
    w.set(out, n);
  }
}

void store_shared(const Work& w) {
  if (w.around.shared == nullptr || w.in.operands < 2 || w.in.operand[0].kind != Kind::memory) return;
  const int bytes = std::min<int>(w.step.bytes, 4);
  const Wide address = address_of(w.to, w.in.operand[0], false);
  for (int n = 0; n < std::max(1, w.step.bytes / 4); ++n) {
    Operand data = w.in.operand[1];
    if (data.index != zero_register) data.index = static_cast<std::int16_t>(data.index + n);
    const Lanes v = value_of(w.to, w.around, data);
    for (std::size_t i = 0; i < 32; ++i) {
      if ((w.lanes >> i & 1) == 0 || (address.known >> i & 1) == 0) continue;
      const std::uint32_t at = static_cast<std::uint32_t>(address.value[i]) + 4 * static_cast<std::uint32_t>(n);
      if ((v.known >> i & 1) != 0)
        w.around.shared->put(at, v.value[i], bytes);
      else
        w.around.shared->forget(at, bytes);
    }
  }
}

namespace {

std::uint32_t combined_with(const Instruction& in, std::uint32_t old, std::uint32_t v) {
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    return in.has("S32") ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
  };
  if (in.has("POPC")) return old + 1;  // lanes of a word are added up
  if (in.has("ADD")) return old + v;
  if (in.has("MIN")) return less(v, old) ? v : old;
  if (in.has("MAX")) return less(old, v) ? v : old;
  if (in.has("AND")) return old & v;
  if (in.has("XOR")) return old ^ v;
  if (in.has("OR")) return old | v;
  return v;  // EXCH
}

// CAS and CAST: of the lanes that go to one word, the first finds what it expects there, or what is known to be there;
// the others find what that has left. CAST tells who has swapped, CAS what was there.
void compare_and_swap(const Work& w, const Operand& at, const Operand& expected, const Operand& fresh) {
  const Wide address = address_of(w.to, at, false);
  const Lanes compared = value_of(w.to, w.around, expected), swapped = value_of(w.to, w.around, fresh);
  const bool tells = w.in.has("CAST");
  std::set<std::uint32_t> words;
  Lanes out = Lanes::unknown();
  for (std::size_t i = 0; i < 32; ++i) {
    const auto is_known = [i](std::uint32_t known) { return (known >> i & 1) != 0; };
    if (!is_known(w.lanes) || !is_known(address.known)) continue;
    const auto place = static_cast<std::uint32_t>(address.value[i]);
    const auto word = w.around.shared->at(place);
    const bool is_first = words.insert(place).second;
    const bool succeeds = word && is_known(compared.known) ? *word == compared.value[i] : is_first;
    if (tells || word || (succeeds && is_known(compared.known))) {
      out.value[i] = tells ? (succeeds ? 1u : 0u) : word ? *word : compared.value[i];
      out.known |= 1u << i;
    }
    if (!succeeds) continue;
    if (is_known(swapped.known) && !is_known(w.unknown))
      w.around.shared->put(place, swapped.value[i]);
    else
      w.around.shared->forget(place);
  }
  w.set(out);
}

}  // namespace

// Lane after lane, where the word and what is done to it are known.
void atomic_shared(const Work& w) {
  const bool swaps = w.in.has("CAS") || w.in.has("CAST");
  const bool is_plain = !w.in.has("INC") && !w.in.has("DEC");
  const bool counts = w.in.has("POPC");
  const Operand* at = nullptr;
  const Operand* data = nullptr;
  for (std::size_t i = w.first(); i < w.in.operands; ++i)
    (w.in.operand[i].kind == Kind::memory ? at : data) = &w.in.operand[i];
  if (w.around.shared == nullptr || at == nullptr || w.step.bytes > 4) return opaque(w);
  if (swaps && w.sources() < 3) return opaque(w);
  if (swaps) return compare_and_swap(w, *at, w.source(1), w.source(2));
  const Wide address = address_of(w.to, *at, false);
  const Lanes v = counts ? Lanes::of(1) : data != nullptr ? value_of(w.to, w.around, *data) : Lanes::unknown();
  Lanes out = Lanes::unknown();
  for (std::size_t i = 0; i < 32; ++i) {
    if ((w.lanes >> i & 1) == 0 || (address.known >> i & 1) == 0) continue;
    const auto place = static_cast<std::uint32_t>(address.value[i]);
    const auto word = w.around.shared->at(place);
    if (!word) continue;
    out.value[i] = *word;
    out.known |= 1u << i;
    if ((is_plain || counts) && (v.known >> i & 1) != 0 && (w.unknown >> i & 1) == 0)
      w.around.shared->put(place, combined_with(w.in, *word, v.value[i]));
    else
      w.around.shared->forget(place);
  }
  w.set(out);
}

// A counter of the grid: CTAs come in their order, turn by turn, and each adds what this one adds.
void atomic_global(const Work& w) {
  opaque(w);
  if (!is_counter(w.step)) return;
  const Operand& data = w.in.operand[static_cast<std::size_t>(w.in.operands - 1)];
  const Launch& launch = *w.around.launch;
  const std::int64_t before = launch.before(w.around.place->id) + launch.ctas() * (*w.around.turns)[w.in.address]++;
  const Lanes v = value_of(w.to, w.around, data);
  std::uint32_t sum = 0, so_far = 0;
  for (std::size_t i = 0; i < 32; ++i) sum += (w.lanes >> i & 1) != 0 ? v.value[i] : 0;
  Lanes out = Lanes::unknown();
  for (std::size_t i = 0; i < 32; ++i) {
    if ((w.lanes >> i & 1) == 0) continue;
    out.value[i] = static_cast<std::uint32_t>(before) * sum + so_far;
    so_far += v.value[i];
  }
  if (std::popcount(w.lanes) == 1 && w.unknown == 0) out.known = w.lanes & v.known;
  w.set(out);
}

// Spills: one offset for all lanes.
void local(const Work& w, bool loads) {
  const Operand* where = nullptr;
  const Operand* data = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    (w.in.operand[i].kind == Kind::memory ? where : data) = &w.in.operand[i];
  for (int n = 0; n < std::max(1, w.step.bytes / 4); ++n) {
    const Wide address = where != nullptr ? address_of(w.to, *where, false) : Wide{};
    const bool same = address.known == all_lanes &&
                      std::ranges::all_of(address.value, [&](std::uint64_t v) { return v == address.value[0]; });
    const std::uint32_t at = static_cast<std::uint32_t>(address.value[0]) + 4 * static_cast<std::uint32_t>(n);
    if (loads) {
      const auto known = w.to.local.find(at);
      w.set(same && w.step.bytes >= 4 && known != w.to.local.end() ? known->second : Lanes::unknown(), n);
    } else if (!same) {
      w.to.local.clear();
    } else if (data != nullptr) {
      Operand each = *data;
      if (each.index != zero_register) each.index = static_cast<std::int16_t>(each.index + n);
      Lanes v = value_of(w.to, w.around, each);
      if (w.step.bytes < 4) v.known = 0;
      if (w.lanes != all_lanes) v.known &= w.lanes;
      w.to.local[at] = v;
    }
  }
}

void load_global(const Work& w) {
  const Operand* from = nullptr;
  for (std::size_t i = 0; i < w.in.operands; ++i)
    if (w.in.operand[i].kind == Kind::memory) from = &w.in.operand[i];
  const auto assumed = w.around.launch->assumptions.find(w.in.address);
  const int words = std::max(1, w.step.bytes / 4);
  const Wide address = from != nullptr ? address_of(w.to, *from, true) : Wide{{}, 0};
  for (int n = 0; n < words; ++n) {
    Lanes out = Lanes::unknown();
    if (assumed != w.around.launch->assumptions.end() && assumed->second.value) {
      out = Lanes::of(static_cast<std::uint32_t>(*assumed->second.value >> (32 * std::min(n, 1))));
    } else {
      for (std::size_t i = 0; i < 32; ++i) {
        if ((address.known & w.lanes) >> i % 32 == 0 || ((address.known & w.lanes) >> i & 1) == 0) continue;
        // What others write meanwhile is not known (volatile, acquire).
        const auto v = w.in.has("STRONG") ? std::nullopt : w.around.memory->load(address.value[i], w.step.bytes, n);
        out.value[i] = v.value_or(0);
        out.known |= static_cast<std::uint32_t>(v.has_value()) << i;
      }
    }
    w.set(out, n);
  }
}

void load_constant(const Work& w) {
  const Operand& from = w.source(0);
  for (int n = 0; n < w.step.width; ++n) {
    Operand each = from;
    each.value += 4 * n;
    Lanes v = each.kind == Kind::constant ? value_of(w.to, w.around, each) : Lanes::unknown();
    w.set(map(v, [&](std::uint32_t x) { return extended(w.in, x); }), n);
  }
}

}  // namespace noteg::compiled
