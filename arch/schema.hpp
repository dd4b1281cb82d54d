// JSON Schema (draft 2020-12) of architecture files, for editors. Generated from fields(), as the checks are; what a
// schema cannot say (rules between fields, fitted counts) only `noteg arch check` knows.
#pragma once

#include <string>

namespace noteg::arch {

[[nodiscard]] std::string json_schema();

}  // namespace noteg::arch
