// What a training found, as text, as JSON (with the points for plots), and as the metrics that a model file keeps.
#pragma once

#include <string>

#include "sim/learn/training.hpp"

namespace noteg::learn {

[[nodiscard]] std::string training_text(const Training& training, const dataset::Table& table);
[[nodiscard]] std::string training_json(const Training& training, const dataset::Table& table);
[[nodiscard]] std::string metrics_json(const Training& training, const dataset::Table& table);

}  // namespace noteg::learn
