// What a training found as a page for a browser: the tables of training_text(), and predicted against true values.
#pragma once

#include <string>
#include <vector>

#include "sim/learn/scatter.hpp"
#include "sim/learn/training.hpp"

namespace noteg::learn {

// text: the report as text, shown above the plots; more: plots of measured rows, shown behind those of held-out rows.
// At most some thousand points per plot.
[[nodiscard]] std::string training_html(const Training& training, const std::string& text,
                                        const std::vector<Scatter>& more);

}  // namespace noteg::learn
