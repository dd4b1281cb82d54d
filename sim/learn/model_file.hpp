// A model as JSON: schema version, feature table, fingerprint of the training data, metrics, trees; or the same in
// binary (binary_model.hpp). Every index and count of a file is checked before it is used: a file may be cut off,
// edited or made to harm.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

inline constexpr int model_version = 1;
inline constexpr std::size_t largest_model_file = std::size_t{1} << 28;  // bytes

[[nodiscard]] std::string to_json(const Model& model);

// Why the text is too much to be read as a model: its size, what it would take in memory, or how deep it is nested.
// nullopt: it is not. What is written is checked too, since it would be of no use otherwise.
[[nodiscard]] std::optional<Diagnostic> check_bounds(std::string_view text, const std::string& file);

// What belongs into a file of that name: binary where it ends in .ngm, else JSON. Error: more than could be read again.
[[nodiscard]] Result<std::string> write_model(const Model& model, const std::string& path);

// Either kind, told by its first bytes.
[[nodiscard]] Result<Model> parse_model(std::string_view text, const std::string& file);
[[nodiscard]] Result<Model> read_model(const std::string& path);

}  // namespace noteg::learn
