// The sharing of work among threads, under the name by which this folder and its users know it.
#pragma once

#include "sim/support/work_sharing.hpp"

namespace noteg::validate {

using noteg::share_work;

}  // namespace noteg::validate
