// The kernel of quant4_sm90 and quant4_sm100a: 16-bit numbers to 4 bits, a scale of 8 bits for each 16 of them, as
// NVIDIA's formats of blocks store them: 128 rows of scales lie beside each other. As libraries launch it, min(K / 8,
// 512) threads a CTA and CTAs for full SMs, which take row after row. Below sm_100 as many conversions stand in.
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90,code=sm_90 -cubin quant4.cu; nvdisasm -hex -c quant4.cubin
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstring>

extern "C" __global__ void __launch_bounds__(512, 4)
quant4(int rows, int cols, const uint4* __restrict__ in, const float* gscale, uint32_t* out, uint8_t* sf) {
  const float g = gscale ? gscale[0] : 1.f;
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int c = threadIdx.x; c < cols / 8; c += blockDim.x) {
      int64_t at = (int64_t)r * (cols / 8) + c;
      uint4 raw = in[at];
      __nv_bfloat162 v[4];
      memcpy(v, &raw, 16);
      __nv_bfloat162 m = __habs2(v[0]);
#pragma unroll
      for (int i = 1; i < 4; i++) m = __hmax2(m, __habs2(v[i]));
      m = __hmax2(__shfl_xor_sync(~0u, m, 1), m);
      float top = float(__hmax(m.x, m.y));
      float six; asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(six) : "f"(6.0f));
      float s = g * (top * six);
      __nv_fp8_e4m3 s8 = __nv_fp8_e4m3(s);
      s = float(s8);
      float ginv, o = 0.f;
      asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(ginv) : "f"(g));
      if (s != 0) asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(o) : "f"(s * ginv));
      if (threadIdx.x % 2 == 0) {
        int k = c / 2, tiles = (cols + 63) / 64;
        int64_t off = (int64_t)(r / 128) * tiles * 512 + (k / 4) * 512 + (r % 32) * 16 + ((r % 128) / 32) * 4 + k % 4;
        sf[off] = *reinterpret_cast<uint8_t*>(&s8);
      }
      float f[8];
#pragma unroll
      for (int i = 0; i < 4; i++) { float2 t = __bfloat1622float2(v[i]); f[2*i] = t.x * o; f[2*i+1] = t.y * o; }
      uint32_t res;
#if __CUDA_ARCH__ >= 1000
      asm volatile("{.reg .b8 a,b,c,d; cvt.rn.satfinite.e2m1x2.f32 a,%2,%1; cvt.rn.satfinite.e2m1x2.f32 b,%4,%3;"
        "cvt.rn.satfinite.e2m1x2.f32 c,%6,%5; cvt.rn.satfinite.e2m1x2.f32 d,%8,%7; mov.b32 %0,{a,b,c,d};}"
        : "=r"(res) : "f"(f[0]),"f"(f[1]),"f"(f[2]),"f"(f[3]),"f"(f[4]),"f"(f[5]),"f"(f[6]),"f"(f[7]));
#else
      uint16_t h[4];  // as many conversions of pairs
#pragma unroll
      for (int i = 0; i < 4; i++) asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0,%2,%1;" : "=h"(h[i]) : "f"(f[2*i]), "f"(f[2*i+1]));
      res = (h[0] & 0xf) | (h[1] & 0xf) << 8 | (h[2] & 0xf) << 16 | (uint32_t)(h[3] & 0xf) << 24;
#endif
      out[at] = res;
    }
}
