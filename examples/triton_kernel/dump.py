"""Compiles a Triton kernel and keeps its listing; needs a machine with Triton and the GPU that it compiles for."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(o, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + row * stride + at, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride + at, e / tl.sum(e, 0), mask=mask)


x = torch.randn(4096, 1024, device="cuda")
o = torch.empty_like(x)
kernel = softmax[(4096,)](o, x, 1024, 1024, BLOCK=1024, num_warps=4)
with open(sys.argv[1] if len(sys.argv) > 1 else "softmax.sass", "w") as file:
    file.write(kernel.asm["sass"])
print("block:", 32 * kernel.metadata.num_warps, "dynamic_shared:", kernel.metadata.shared, "registers:", kernel.n_regs)
