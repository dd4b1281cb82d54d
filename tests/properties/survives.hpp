// Work in a process of its own: a crash or a hang of it is a finding, not the end of all tests.
#pragma once

#include <functional>
#include <string>

namespace noteg::properties {

// Empty where the work ended by itself within so many seconds of processor time and found nothing wrong; else what it
// said, the signal that ended it, or that it went on for too long.
[[nodiscard]] std::string survives(int seconds, const std::function<std::string()>& work);

}  // namespace noteg::properties
