// Builds a Field from a member: the kind and the unit follow from the member's type, so a row cannot disagree with
// the spec. Only for the files that hold the table.
#pragma once

#include <type_traits>

#include "arch/field.hpp"

namespace noteg::arch::detail {

template <class Tag>
Unit unit_for(const Quantity<Tag>&) {
  return unit_of<Quantity<Tag>>;
}

template <class T>
struct is_quantity : std::false_type {};
template <class Tag>
struct is_quantity<Quantity<Tag>> : std::true_type {};

template <class Access, class Spec>
using member_of = std::remove_cvref_t<decltype(Access{}(std::declval<Spec&>()))>;

template <class T>
Value to_value(const T& member) {
  if constexpr (std::is_same_v<T, std::vector<Bytes>>) {
    std::vector<double> sizes;
    for (const Bytes size : member) sizes.push_back(size.value);
    return sizes;
  } else if constexpr (is_quantity<T>::value) {
    return member.value;
  } else if constexpr (std::is_same_v<T, int>) {
    return static_cast<double>(member);
  } else {
    return member;
  }
}

template <class T>
void from_value(T& member, const Value& value) {
  if constexpr (std::is_same_v<T, std::vector<Bytes>>) {
    member.clear();
    for (const double size : std::get<std::vector<double>>(value)) member.emplace_back(size);
  } else if constexpr (is_quantity<T>::value) {
    member = T{std::get<double>(value)};
  } else if constexpr (std::is_same_v<T, int>) {
    member = static_cast<int>(std::get<double>(value));
  } else {
    member = std::get<T>(value);
  }
}

template <class T>
constexpr Kind kind_for() {
  if constexpr (std::is_same_v<T, int>)
    return Kind::count;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::fraction;
  else if constexpr (std::is_same_v<T, bool>)
    return Kind::flag;
  else if constexpr (std::is_same_v<T, std::string>)
    return Kind::text;
  else if constexpr (std::is_same_v<T, std::vector<Bytes>>)
    return Kind::sizes;
  else if constexpr (std::is_same_v<T, std::vector<NamedEnergy>>)
    return Kind::energies;
  else if constexpr (std::is_same_v<T, std::vector<TensorFormSpec>>)
    return Kind::forms;
  else
    return Kind::quantity;
}

struct Range {
  double low = 0, high = 0;
};

// access: a captureless [](auto& gpu) -> auto& { return gpu.member; }
template <class Access>
Field row(std::string_view key, Access, Range range, std::string_view doc, std::string_view used_by) {
  using T = member_of<Access, GpuSpec>;
  Field field;
  field.key = key;
  field.kind = kind_for<T>();
  if constexpr (is_quantity<T>::value) field.unit = unit_of<T>;
  if constexpr (std::is_same_v<T, std::vector<NamedEnergy>>) field.unit = Unit::joules;
  if constexpr (std::is_same_v<T, std::vector<TensorFormSpec>>) field.unit = Unit::cycles;
  field.low = range.low;
  field.high = range.high;
  field.doc = doc;
  field.used_by = used_by;
  field.get = [](const GpuSpec& gpu) { return to_value(Access{}(gpu)); };
  field.set = [](GpuSpec& gpu, const Value& value) { from_value(Access{}(gpu), value); };
  return field;
}

// Marks a row that `noteg calibrate` may fit.
inline Field fittable(Field field) {
  field.fittable = true;
  return field;
}

// Marks a row of a unit that not every generation has.
inline Field optional(Field field) {
  field.optional = true;
  return field;
}

[[nodiscard]] std::vector<Field> chip_fields();
[[nodiscard]] std::vector<Field> sm_resource_fields();  // occupancy, front end, register file
[[nodiscard]] std::vector<Field> power_fields();        // board power
[[nodiscard]] std::vector<Field> sm_energy_fields();    // energy per event
[[nodiscard]] std::vector<Field> sm_tensor_fields();    // tensor cores
[[nodiscard]] std::vector<Field> sm_async_fields();     // bulk copies, clusters, warpgroups
[[nodiscard]] std::vector<Field> sm_pipe_fields();      // execution pipes, load/store path, the rest of the SM

}  // namespace noteg::arch::detail

// The member named once, for reading and for writing.
#define NOTEG_MEMBER(path) \
  [](auto& gpu) -> auto& { return gpu.path; }
