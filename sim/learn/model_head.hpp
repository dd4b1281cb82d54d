// What JSON and binary model files share: everything but the lists that are as long as rows or nodes. For the readers
// and writers of models only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/learn/checked_json.hpp"
#include "sim/learn/model.hpp"

namespace noteg::learn {

inline constexpr std::size_t most_trees = 10000;
inline constexpr std::size_t most_nodes = std::size_t{1} << 28;  // of a tree

// Fills y, weights, bins and trees of a part whose head was read; throws WrongModel.
using ReadLists = std::function<void(const Checked& at, Part& part)>;

[[nodiscard]] Result<Model> parse_head(std::string_view text, const std::string& file, const ReadLists& lists);

// Whatever mean of the training rows the model tells is a number, and every row weighs something. Throws WrongModel.
void check_training_rows(const Checked& at, const Part& part);

// The document with the members that `lists` has for each part.
[[nodiscard]] std::string head_text(const Model& model, const std::function<std::string(const Part&)>& lists);

}  // namespace noteg::learn
