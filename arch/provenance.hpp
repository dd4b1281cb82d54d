// Where a number comes from. Every number of an architecture file carries one of three marks:
//   source: "KEY, KEY: detail"   read there; the keys are those of source_keys()
//   fitted: "on which data"      chosen so that the model meets measurements; counted and limited
//   guess: "why this value"      neither; shown as such wherever the number is shown
// fitted and guess may carry a source too (where the idea comes from).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/support/yaml_reader.hpp"

namespace noteg::arch {

inline constexpr int max_fitted_per_sm = 12;
inline constexpr int max_fitted_per_gpu = 4;

struct Provenance {
  std::string file;  // "--set" for an override
  YamlPosition position;
  std::string source;
  std::string fitted;
  std::string guess;

  // Nothing said of a key that may be left out.
  [[nodiscard]] bool is_absent() const { return file.empty(); }

  // "WP: data sheet", "fitted on ...", "guess: ...".
  [[nodiscard]] std::string to_string() const;
};

struct SourceKey {
  std::string_view key;
  std::string_view what;
};

[[nodiscard]] std::span<const SourceKey> source_keys();

// What is wrong with the text of a source: no known key in front. nullopt: nothing.
[[nodiscard]] std::optional<std::string> wrong_source(std::string_view source);

}  // namespace noteg::arch
