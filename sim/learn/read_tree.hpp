// One tree out of a model file, checked: breadth-first order that reaches every node, features, cuts and sets that
// exist, leaves that hold training rows.
#pragma once

#include "sim/learn/checked_json.hpp"
#include "sim/learn/model.hpp"

namespace noteg::learn {

// Without the values of leaves. features: their bins. Throws WrongModel.
[[nodiscard]] forest::Tree read_tree(const Checked& json, const std::vector<forest::FeatureBins>& features,
                                     std::size_t rows);

[[nodiscard]] std::uint64_t read_hex(const Checked& at, std::string_view digits);

}  // namespace noteg::learn
