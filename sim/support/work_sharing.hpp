// Independent items done by several threads; each item's result goes to its own place, so that the number of threads
// never shows in what comes out.
#pragma once

#include <cstddef>
#include <functional>

namespace noteg {

// Calls work(0) ... work(count - 1), each once, from `jobs` threads (0 and 1: the calling one). progress(done, count)
// is called under a lock after every item; it may be empty. The first exception is thrown again when all threads have
// ended.
void share_work(std::size_t count, unsigned jobs, const std::function<void(std::size_t, std::size_t)>& progress,
                const std::function<void(std::size_t)>& work);

}  // namespace noteg
