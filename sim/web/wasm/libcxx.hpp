// What the C++ library of emscripten 3.1.6 (libc++ 13) lacks of C++20 and the simulator uses: algorithms on ranges,
// text to double, threads that join. Put before every source of the WebAssembly build (-include); no other build sees
// it. Only the forms that are used are here: a projection is a member or a function, a comparison a function object.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#ifdef NOTEG_WITH_JTHREAD  // where it is used: the header is dear
#include <thread>
#endif

namespace std {

// A result may be shorter than what strtod would take as text: the text is cut where no number can go on.
inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format = chars_format::general) {
  const char* end = first;
  while (end != last && (isalnum(static_cast<unsigned char>(*end)) != 0 || strchr("+-.", *end) != nullptr)) ++end;
  const string text(first, end);
  if (text.empty() || text[0] == '+' || isspace(static_cast<unsigned char>(text[0])) != 0)
    return {first, errc::invalid_argument};
  const size_t digits = text[0] == '-' ? 1 : 0;
  const bool is_hexadecimal = text.size() > digits + 1 && text[digits] == '0' && (text[digits + 1] | 32) == 'x';
  if (is_hexadecimal) {  // general reads the 0 only
    value = 0;
    return {first + digits + 1, errc{}};
  }
  char* stop = nullptr;
  const double read = strtod(text.c_str(), &stop);
  if (stop == text.c_str()) return {first, errc::invalid_argument};
  const char* const behind = first + (stop - text.c_str());
  if (read == HUGE_VAL || read == -HUGE_VAL)
    if (text.find_first_of("iI") == string::npos) return {behind, errc::result_out_of_range};
  value = read;
  return {behind, errc{}};
}

// The shortest digits that read back as the same value, in scientific notation.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format) {
  char text[40];
  int length = 0;
  for (int digits = 0; digits <= 17; ++digits) {
    length = snprintf(text, sizeof text, "%.*e", digits, value);
    if (strtod(text, nullptr) == value) break;
  }
  if (length > last - first) return {last, errc::value_too_large};
  return {copy(text, text + length, first), errc{}};
}

template <class T, size_t N>
constexpr auto operator<=>(const array<T, N>& a, const array<T, N>& b) -> decltype(a[0] <=> b[0]) {
  for (size_t i = 0; i < N; ++i)
    if (const auto order = a[i] <=> b[i]; order != 0) return order;
  return decltype(a[0] <=> b[0])::equivalent;
}

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

#ifdef NOTEG_WITH_JTHREAD
class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};
#endif

namespace ranges {

struct identity_projection {
  template <class T>
  constexpr T&& operator()(T&& value) const {
    return forward<T>(value);
  }
};

template <class Range, class Order = less, class Projection = identity_projection>
constexpr auto by(Range&, Order& order, Projection& projection) {
  return [&](const auto& a, const auto& b) { return invoke(order, invoke(projection, a), invoke(projection, b)); };
}

template <class Range, class Order = less, class Projection = identity_projection>
void sort(Range&& range, Order order = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), by(range, order, projection));
}

template <class Range, class Order = less, class Projection = identity_projection>
void stable_sort(Range&& range, Order order = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), by(range, order, projection));
}

template <class Iterator, class Order = less, class Projection = identity_projection>
requires requires(Iterator i) { *i; }
void stable_sort(Iterator first, Iterator last, Order order = {}, Projection projection = {}) {
  std::stable_sort(first, last, by(order, order, projection));
}

template <class Range, class Order = less, class Projection = identity_projection>
auto min_element(Range&& range, Order order = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), by(range, order, projection));
}

template <class Range, class Order = less, class Projection = identity_projection>
auto max_element(Range&& range, Order order = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), by(range, order, projection));
}

template <class Range, class Order = less, class Projection = identity_projection>
auto min(Range&& range, Order order = {}, Projection projection = {}) {
  return *ranges::min_element(range, order, projection);
}

template <class Range, class Order = less, class Projection = identity_projection>
auto max(Range&& range, Order order = {}, Projection projection = {}) {
  return *ranges::max_element(range, order, projection);
}

template <class Range, class Test, class Projection = identity_projection>
auto find_if(Range&& range, Test test, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& each) { return invoke(test, invoke(projection, each)); });
}

template <class Range, class Value, class Projection = identity_projection>
auto find(Range&& range, const Value& value, Projection projection = {}) {
  return ranges::find_if(
      range, [&](const auto& each) { return each == value; }, projection);
}

template <class Range, class Test, class Projection = identity_projection>
bool any_of(Range&& range, Test test, Projection projection = {}) {
  return ranges::find_if(range, test, projection) != std::end(range);
}

template <class Range, class Test, class Projection = identity_projection>
bool all_of(Range&& range, Test test, Projection projection = {}) {
  return !ranges::any_of(
      range, [&](auto&& each) { return !invoke(test, each); }, projection);
}

template <class Range, class Test, class Projection = identity_projection>
bool none_of(Range&& range, Test test, Projection projection = {}) {
  return !ranges::any_of(range, test, projection);
}

template <class Range, class Test, class Projection = identity_projection>
auto count_if(Range&& range, Test test, Projection projection = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](auto&& each) { return invoke(test, invoke(projection, each)); });
}

template <class Range, class Value, class Projection = identity_projection>
auto count(Range&& range, const Value& value, Projection projection = {}) {
  return ranges::count_if(
      range, [&](const auto& each) { return each == value; }, projection);
}

template <class Range, class Value>
void replace(Range&& range, const Value& old, const Value& fresh) {
  std::replace(std::begin(range), std::end(range), old, fresh);
}

template <class Range, class Value>
void fill(Range&& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}

template <class Range, class Out, class Function>
void transform(Range&& range, Out out, Function function) {
  std::transform(std::begin(range), std::end(range), out, [&](auto&& each) { return invoke(function, each); });
}

template <class Range, class Out>
void copy(Range&& range, Out out) {
  std::copy(std::begin(range), std::end(range), out);
}

template <class Range>
void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}

template <class Range, class Value, class Order = less, class Projection = identity_projection>
auto upper_bound(Range&& range, const Value& value, Order order = {}, Projection projection = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value,
                          [&](const auto& v, const auto& each) { return invoke(order, v, invoke(projection, each)); });
}

template <class Range, class Value, class Order = less, class Projection = identity_projection>
constexpr auto lower_bound(Range&& range, const Value& value, Order order = {}, Projection projection = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value,
                          [&](const auto& each, const auto& v) { return invoke(order, invoke(projection, each), v); });
}

template <class A, class B>
bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

template <class A, class B>
struct in_in_result {
  A in1;
  B in2;
};

template <class A, class B>
auto mismatch(A&& a, B&& b) {
  const auto found = std::mismatch(std::begin(a), std::end(a), std::begin(b), std::end(b));
  return in_in_result<decltype(found.first), decltype(found.second)>{found.first, found.second};
}

template <class A, class B, class Out>
void set_intersection(A&& a, B&& b, Out out) {
  std::set_intersection(std::begin(a), std::end(a), std::begin(b), std::end(b), out);
}

template <class A, class B>
bool includes(A&& a, B&& b) {
  return std::includes(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

template <class Range, class Value>
bool binary_search(Range&& range, const Value& value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}

template <class Range, class Value>
bool contains(Range&& range, const Value& value) {
  return ranges::find(range, value) != std::end(range);
}

template <class Range, class Order = less, class Projection = identity_projection>
constexpr bool is_sorted(Range&& range, Order order = {}, Projection projection = {}) {
  return std::is_sorted(std::begin(range), std::end(range), by(range, order, projection));
}

}  // namespace ranges
}  // namespace std
