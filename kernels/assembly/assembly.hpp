// The textual form of the IR: instructions as disassembly listings print them, with decoded control bits, plus
// directives for what a listing does not say. A micro-kernel is a short file, a loop cut out of a real listing runs
// with the compiler's own control bits, and to_text() of kernels/ir/listing.hpp writes what is read here.
// docs/assembly.md explains each directive with an example.
//
//   [B0-----:R-:W0:-:S02] LDS.128 R4, [R8+0x10] ; /*0120*/   B wait mask, R/W counters, Y yield, S stall; address
//   label:                                                   a branch target (addresses in /*0120*/ are, too)
//   .kernel NAME  .warps N  .threads N  .registers N  .shared BYTES  .k N  .stages N
//   .tiles prologue=N peeled=N  .traffic a=BYTES b=BYTES
//   .iterations main | N                          iterations of the backward branches that follow (default main)
//   .access R8 shared 16 (lane/16)*32        operands based on R8: space, bytes a lane (* any), byte offset of each
//           [matrix=a|b|c] [mask=0xffff]     lane: an expression (+ - * / % & ^ and parentheses) or 32 in brackets
//   .mask 0x0000ffff                         active lanes of the accesses that follow
//   .mainloop  .epilogue                     where these parts begin (default: around the main loop)
//   .role NAME warps=0-3 [registers=N]       what follows is the stream of these warps alone
//   .unroll 4 ... .end                       repeats the lines between
//
// Left out: what registers hold. A forward branch is taken if its target is the line that follows (the code that
// it skips is left out), and not taken otherwise; abs and scaled or uniform offsets are read over.
#pragma once

#include <string>
#include <string_view>

#include "kernels/ir/ir.hpp"
#include "sim/support/result.hpp"

namespace noteg::kernels {

// Reads a whole file's text; name is used in diagnostics. Adds EXIT where the text does not end with one.
// Errors: every bad line with its column, and labels, loops and roles that do not fit together.
[[nodiscard]] Result<Program> parse_assembly(std::string_view text, std::string_view name);

}  // namespace noteg::kernels
