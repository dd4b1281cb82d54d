#include "arch/field.hpp"

#include <iterator>

#include "arch/field_row.hpp"
#include "sim/support/text.hpp"

namespace noteg::arch {
namespace {

std::vector<Field> all_fields() {
  std::vector<Field> all = detail::chip_fields();
  for (std::vector<Field> more : {detail::power_fields(), detail::sm_resource_fields(), detail::sm_pipe_fields(),
                                  detail::sm_tensor_fields(), detail::sm_async_fields(), detail::sm_energy_fields()}) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

std::string format_number_of(const Field& field, double value) {
  return field.has_unit() ? format_quantity(value, field.unit) : format_number(value);
}

Diagnostic wrong(const Field& field, std::string_view text) {
  Diagnostic error;
  error.expected = expectation(field);
  error.found = "\"" + std::string(text.substr(0, 60)) + "\"";
  return error;
}

Result<Value> in_range(const Field& field, double value, std::string_view text) {
  if (value < field.low || value > field.high) return wrong(field, text);
  return Value{value};
}

}  // namespace

std::span<const Field> fields() {
  static const std::vector<Field> table = all_fields();
  return table;
}

std::optional<std::size_t> find_field(std::string_view key) {
  const std::span<const Field> table = fields();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].key == key) return i;
  }
  return std::nullopt;
}

std::string expectation(const Field& field) {
  const std::string range =
      " from " + format_number_of(field, field.low) + " to " + format_number_of(field, field.high);
  switch (field.kind) {
    case Kind::count: return "an integer" + range;
    case Kind::fraction: return "a number" + range;
    case Kind::flag: return "true or false";
    case Kind::quantity: return std::string(describe(field.unit)) + "," + range;
    case Kind::sizes: return "sizes such as [0 KiB, 64 KiB], each" + range;
    case Kind::energies: return "names with energies such as {f16_f32: 1.6 pJ}, each" + range;
    case Kind::forms: return "forms such as {m16n8k16_f16_f32: {latency: 24 cycles, interval: 8 cycles}}, each" + range;
    case Kind::text: return "a text";
  }
  return {};
}

Result<Value> parse_scalar(const Field& field, std::string_view text) {
  switch (field.kind) {
    case Kind::count: {
      const std::optional<long long> value = parse_integer(text);
      if (!value) return wrong(field, text);
      return in_range(field, static_cast<double>(*value), text);
    }
    case Kind::fraction: {
      const std::optional<double> value = parse_number(text);
      if (!value) return wrong(field, text);
      return in_range(field, *value, text);
    }
    case Kind::flag:
      if (text != "true" && text != "false") return wrong(field, text);
      return Value{text == "true"};
    case Kind::quantity:
    case Kind::sizes:
    case Kind::energies:
    case Kind::forms: {
      const Result<double> value = parse_quantity(text, field.unit);
      if (!value) return value.errors();
      return in_range(field, *value, text);
    }
    case Kind::text:
      if (text.empty()) return wrong(field, text);
      return Value{std::string(text)};
  }
  return wrong(field, text);
}

std::string format_value(const Field& field, const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  if (const double* number = std::get_if<double>(&value)) return format_number_of(field, *number);
  std::string list;
  if (const auto* energies = std::get_if<std::vector<NamedEnergy>>(&value)) {
    for (const NamedEnergy& one : *energies) {
      list += (list.empty() ? "" : ", ") + one.name + "=" + format_number_of(field, one.energy.value);
    }
    return list;
  }
  if (const auto* forms = std::get_if<std::vector<TensorFormSpec>>(&value)) {
    for (const TensorFormSpec& one : *forms) {
      list += (list.empty() ? "" : ", ") + one.name + "=" + format_number(one.latency.value) + "/" +
              format_number_of(field, one.interval.value);
    }
    return list;
  }
  for (const double size : std::get<std::vector<double>>(value)) {
    list += (list.empty() ? "" : ", ") + format_number_of(field, size);
  }
  return list;
}

}  // namespace noteg::arch
