// The textual form of the IR: instructions as disassembly listings print them, with decoded control bits,
// plus a few directives, so that a micro-kernel is a short file and a loop cut out of a real listing runs with
// the compiler's own control bits.
//
//   [B0-----:R-:W0:-:S02] LDS.128 R4, [R8+0x10] ;      an instruction; B wait mask, R/W counters, Y yield, S stall
//   .warps 8                                            warps per CTA (default 1)
//   .trips main | 16                                    trips of the backward branch that follows (default main)
//   .access R8 shared 16 (lane/16)*32                   memory operands based on R8: space, bytes per lane,
//                                                       byte offset of each lane (+ - * / % & ^ and parentheses)
//   .mask 0x0000ffff                                    active lanes of the accesses that follow
//   .unroll 4 ... .end                                  repeats the lines between
//   label:                                              a branch target (hexadecimal addresses in /*0010*/ also are)
#pragma once

#include <string>
#include <string_view>

#include "kernels/ir.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// Reads a whole file's text; name is used in diagnostics. Adds EXIT where the text does not end with one.
[[nodiscard]] Result<Program> parse_assembly(std::string_view text, std::string_view name);

}  // namespace noteg::kernels
