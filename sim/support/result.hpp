// Errors that point at the line. A user's mistake is a Diagnostic; a function that reads user input
// returns a Result: the value, or every diagnostic found (never only the first).
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace noteg {

struct Diagnostic {
  std::string file;      // empty: the command line or an API call
  int line = 0;          // from 1; 0: no position
  int column = 0;        // from 1; 0: no position
  std::string key;       // dotted path, for example l2.bandwidth
  std::string expected;  // what was expected
  std::string found;     // what was found; may be empty

  // file:line:column: key: expected ..., found ...; one line, control characters shown, each part cut at 2,000 bytes.
  [[nodiscard]] std::string to_string() const;
};

using Diagnostics = std::vector<Diagnostic>;

// That many are told; more hide what the first ones say.
inline constexpr std::size_t most_told = 100;

// Every diagnostic on a line of its own; of more than most_told, how many more there are.
[[nodiscard]] std::string to_string(const Diagnostics& list);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                          // NOLINT: implicit on purpose
  Result(Diagnostic error) : errors_{std::move(error)} {}                                // NOLINT
  Result(Diagnostics errors) : errors_(std::move(errors)) { assert(!errors_.empty()); }  // NOLINT

  [[nodiscard]] explicit operator bool() const { return value_.has_value(); }
  [[nodiscard]] T& operator*() {
    assert(value_);
    return *value_;
  }
  [[nodiscard]] const T& operator*() const {
    assert(value_);
    return *value_;
  }
  [[nodiscard]] T* operator->() {
    assert(value_);
    return &*value_;
  }
  [[nodiscard]] const T* operator->() const {
    assert(value_);
    return &*value_;
  }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  std::optional<T> value_;
  Diagnostics errors_;
};

}  // namespace noteg
