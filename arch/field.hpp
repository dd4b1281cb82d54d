// One row per key of an architecture file. Loading, range checks, overrides, the JSON Schema, `arch show` and the
// reference page all read this table, so that a key is described in one place only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/spec.hpp"
#include "sim/support/quantity_text.hpp"
#include "sim/support/result.hpp"

namespace noteg::arch {

enum class Kind : std::uint8_t {
  count,     // integer: int member
  fraction,  // plain number: double member
  flag,      // true or false
  quantity,  // number with a unit, in base units
  sizes,     // sequence of quantities in bytes
  energies,  // names with an energy each
  forms,     // tensor forms with a latency and an interval each
  text,      // needs no source
};

// A value on its way between a file and a spec; the alternative follows from the kind
// (double: count, fraction, quantity).
using Value =
    std::variant<bool, double, std::string, std::vector<double>, std::vector<NamedEnergy>, std::vector<TensorFormSpec>>;

struct Field {
  std::string_view key;  // dotted path, equal in files, in --set arch.KEY and in errors
  Kind kind = Kind::count;
  Unit unit = Unit::bytes;   // of quantity, sizes, energies and forms
  double low = 0, high = 0;  // inclusive range in base units; no meaning for flag and text
  std::string_view doc;      // one sentence
  std::string_view used_by;  // which part of the model reads it
  bool fittable = false;     // `noteg calibrate` may fit it: a property of the single board or of its circuits
  bool optional = false;     // may be left out: a generation that lacks the unit has nothing to say of it
  Value (*get)(const GpuSpec&) = nullptr;
  void (*set)(GpuSpec&, const Value&) = nullptr;

  // SM keys stand in the base file of the generation and may be overridden by a GPU; the others are the GPU's.
  [[nodiscard]] bool of_sm() const { return key.starts_with("sm."); }
  [[nodiscard]] bool needs_source() const { return kind != Kind::text; }
  [[nodiscard]] bool has_unit() const {
    return kind == Kind::quantity || kind == Kind::sizes || kind == Kind::energies || kind == Kind::forms;
  }
};

// Every field: chip keys first, then SM keys, in the order of the reference page.
[[nodiscard]] std::span<const Field> fields();

[[nodiscard]] std::optional<std::size_t> find_field(std::string_view key);

// What the value must be, for errors and documentation: "an integer from 1 to 256".
[[nodiscard]] std::string expectation(const Field& field);

// One scalar of the field (for sizes: one element) read and checked against the range. Error without position.
[[nodiscard]] Result<Value> parse_scalar(const Field& field, std::string_view text);

// The value as a person writes it: 36 MiB, 0.92, true.
[[nodiscard]] std::string format_value(const Field& field, const Value& value);

}  // namespace noteg::arch
