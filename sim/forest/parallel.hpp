// Independent items by several threads. Every item writes to its own place, so that the number of threads never shows.
#pragma once

#include <cstddef>
#include <functional>

namespace noteg::forest {

// work(0) ... work(count - 1), each once. The first exception is thrown again when all threads have ended.
void share(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace noteg::forest
