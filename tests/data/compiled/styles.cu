// Kernels that performance engineers write, unlike those that the model's laws were found on: products in other styles,
// attention of one query, column reductions, scans, sorts, transforms, distributed shared memory.
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -cubin styles.cu; nvdisasm -hex -c styles.cubin
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdint>
#define D __device__ __forceinline__
D uint32_t sm(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void cpa(uint32_t d, const void* s) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(d), "l"(s)); }
D void commit() { asm volatile("cp.async.commit_group;"); }
template <int N>
D void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
}
D void ldm4(uint32_t* r, uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(a));
}
D void ldm4t(uint32_t* r, uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(a));
}
D void ldm2(uint32_t* r, uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(a));
}
D void mma16(float* c, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
D void mma8(float* c, uint32_t a0, uint32_t a1, uint32_t b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a0), "r"(a1), "r"(b));
}
D void mmah(uint32_t* c, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%0,%1};"
               : "+r"(c[0]), "+r"(c[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
D void mmas8(int* c, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// ---------- 64 x 64 x 32, one stage, rows of 64 bytes without a swizzle: fragments meet in banks ----------
extern "C" __global__ void __launch_bounds__(128)
    p_plain64(int M, int N, int K, const half* A, const half* B, float* C) {
  __shared__ __align__(128) half as[64 * 32], bs[64 * 32];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32, wm = w / 2 * 32, wn = w % 2 * 32;
  A += (size_t)blockIdx.y * 64 * K;
  B += (size_t)blockIdx.x * 64 * K;
  float acc[2][4][4] = {};
  for (int k = 0; k < K; k += 32) {
#pragma unroll
    for (int i = threadIdx.x; i < 256; i += 128) {
      *(uint4*)&as[i * 8] = *(const uint4*)&A[(size_t)(i / 4) * K + k + i % 4 * 8];
      *(uint4*)&bs[i * 8] = *(const uint4*)&B[(size_t)(i / 4) * K + k + i % 4 * 8];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; kk++) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) ldm4(a[i], sm(&as[(wm + i * 16 + lane % 16) * 32 + kk * 16 + lane / 16 * 8]));
#pragma unroll
      for (int j = 0; j < 2; j++)
        ldm4(b[j], sm(&bs[(wn + j * 16 + lane % 8 + lane / 16 * 8) * 32 + kk * 16 + lane / 8 % 2 * 8]));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma16(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      size_t r = (size_t)blockIdx.y * 64 + wm + i * 16 + lane / 4;
      int c = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
      *(float2*)&C[r * N + c] = make_float2(acc[i][j][0], acc[i][j][1]);
      *(float2*)&C[(r + 8) * N + c] = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}
// ---------- 128 x 64 x 16, m16n8k8, the next tile in registers, two buffers of padded rows, B row-major [K, N]
// ----------
extern "C" __global__ void __launch_bounds__(128) p_reg2(int M, int N, int K, const half* A, const half* B, half* C) {
  __shared__ __align__(16) half as[2][128][24], bs[2][16][72];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32, wm = w / 2 * 64, wn = w % 2 * 32;
  A += (size_t)blockIdx.y * 128 * K;
  B += blockIdx.x * 64;
  uint4 ra[2], rb;
  float acc[4][4][4] = {};
  auto fetch = [&](int k) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int t = threadIdx.x + i * 128;
      ra[i] = *(const uint4*)&A[(size_t)(t / 2) * K + k + t % 2 * 8];
    }
    rb = *(const uint4*)&B[(size_t)(k + threadIdx.x / 8) * N + threadIdx.x % 8 * 8];
  };
  auto put = [&](int s) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int t = threadIdx.x + i * 128;
      *(uint4*)&as[s][t / 2][t % 2 * 8] = ra[i];
    }
    *(uint4*)&bs[s][threadIdx.x / 8][threadIdx.x % 8 * 8] = rb;
  };
  fetch(0);
  put(0);
  __syncthreads();
  int n = K / 16;
  for (int t = 0; t < n; t++) {
    if (t + 1 < n) fetch((t + 1) * 16);
    int s = t & 1;
    uint32_t a[4][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 4; i++) ldm4(a[i], sm(&as[s][wm + i * 16 + lane % 16][lane / 16 * 8]));
#pragma unroll
    for (int j = 0; j < 2; j++) ldm4t(b[j], sm(&bs[s][lane % 16][wn + j * 16 + lane / 16 * 8]));
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma8(acc[i][j], a[i][2 * h], a[i][2 * h + 1], b[j / 2][j % 2 * 2 + h]);
    if (t + 1 < n) put(s ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      size_t r = (size_t)blockIdx.y * 128 + wm + i * 16 + lane / 4;
      int c = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
      *(half2*)&C[r * N + c] = __floats2half2_rn(acc[i][j][0], acc[i][j][1]);
      *(half2*)&C[(r + 8) * N + c] = __floats2half2_rn(acc[i][j][2], acc[i][j][3]);
    }
}
// ---------- 64 x 64 x 64, slices of K in z, results added by atomic operations ----------
extern "C" __global__ void __launch_bounds__(128)
    p_splitk(int M, int N, int K, int slice, const half* A, const half* B, float* C) {
  __shared__ __align__(128) char smem[2 * 16384];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32, wm = w / 2 * 32, wn = w % 2 * 32;
  A += (size_t)blockIdx.y * 64 * K + blockIdx.z * slice;
  B += (size_t)blockIdx.x * 64 * K + blockIdx.z * slice;
  uint32_t base = sm(smem);
  float acc[2][4][4] = {};
  auto load = [&](int s, int k) {
    uint32_t da = base + s * 16384, db = da + 8192;
#pragma unroll
    for (int i = threadIdx.x; i < 512; i += 128) {
      int r = i / 8, ch = (i % 8) ^ (r % 8);
      cpa(da + r * 128 + ch * 16, A + (size_t)r * K + k + i % 8 * 8);
      cpa(db + r * 128 + ch * 16, B + (size_t)r * K + k + i % 8 * 8);
    }
    commit();
  };
  load(0, 0);
  int n = slice / 64;
  for (int t = 0; t < n; t++) {
    if (t + 1 < n) {
      load((t + 1) & 1, (t + 1) * 64);
      wait<1>();
    } else
      wait<0>();
    __syncthreads();
    uint32_t pa = base + (t & 1) * 16384, pb = pa + 8192;
#pragma unroll
    for (int kk = 0; kk < 4; kk++) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        int r = wm + i * 16 + lane % 16, ch = (kk * 2 + lane / 16) ^ (r % 8);
        ldm4(a[i], pa + r * 128 + ch * 16);
      }
#pragma unroll
      for (int j = 0; j < 2; j++) {
        int r = wn + j * 16 + lane % 8 + lane / 16 * 8, ch = (kk * 2 + lane / 8 % 2) ^ (r % 8);
        ldm4(b[j], pb + r * 128 + ch * 16);
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma16(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      size_t r = (size_t)blockIdx.y * 64 + wm + i * 16 + lane / 4;
      int c = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
      atomicAdd(&C[r * N + c], acc[i][j][0]);
      atomicAdd(&C[r * N + c + 1], acc[i][j][1]);
      atomicAdd(&C[(r + 8) * N + c], acc[i][j][2]);
      atomicAdd(&C[(r + 8) * N + c + 1], acc[i][j][3]);
    }
}
// ---------- bytes: 128 x 128 x 64, three stages, eight warps ----------
extern "C" __global__ void __launch_bounds__(256) p_s8(int M, int N, int K, const int8_t* A, const int8_t* B, int* C) {
  extern __shared__ __align__(128) char smem[];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32, wm = w / 4 * 64, wn = w % 4 * 32;
  A += (size_t)blockIdx.y * 128 * K;
  B += (size_t)blockIdx.x * 128 * K;
  uint32_t base = sm(smem);
  int acc[4][4][4] = {};
  auto load = [&](int s, int k) {
    uint32_t da = base + s * 16384, db = da + 8192;
#pragma unroll
    for (int i = threadIdx.x; i < 512; i += 256) {
      int r = i / 4, ch = (i % 4) ^ (r / 2 % 4);
      cpa(da + r * 64 + ch * 16, A + (size_t)r * K + k + i % 4 * 16);
      cpa(db + r * 64 + ch * 16, B + (size_t)r * K + k + i % 4 * 16);
    }
    commit();
  };
  int n = K / 64;
  load(0, 0);
  load(1, 64);
  for (int t = 0; t < n; t++) {
    wait<1>();
    __syncthreads();
    if (t + 2 < n)
      load((t + 2) % 3, (t + 2) * 64);
    else
      commit();
    uint32_t pa = base + t % 3 * 16384, pb = pa + 8192;
#pragma unroll
    for (int kk = 0; kk < 2; kk++) {
      uint32_t a[4][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int r = wm + i * 16 + lane % 16, ch = (kk * 2 + lane / 16) ^ (r / 2 % 4);
        ldm4(a[i], pa + r * 64 + ch * 16);
      }
#pragma unroll
      for (int j = 0; j < 2; j++) {
        int r = wn + j * 16 + lane % 8 + lane / 16 * 8, ch = (kk * 2 + lane / 8 % 2) ^ (r / 2 % 4);
        ldm4(b[j], pb + r * 64 + ch * 16);
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mmas8(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      size_t r = (size_t)blockIdx.y * 128 + wm + i * 16 + lane / 4;
      int c = blockIdx.x * 128 + wn + j * 8 + lane % 4 * 2;
      *(int2*)&C[r * N + c] = make_int2(acc[i][j][0], acc[i][j][1]);
      *(int2*)&C[(r + 8) * N + c] = make_int2(acc[i][j][2], acc[i][j][3]);
    }
}
// ---------- 64 x 256 x 32, accumulators of 16 bits, four stages, B row-major [K, N], results through shared memory
// ----------
extern "C" __global__ void __launch_bounds__(256)
    p_h64x256(int M, int N, int K, const half* A, const half* B, half* C) {
  extern __shared__ __align__(128) char smem[];
  constexpr int SA = 64 * 64, SB = 32 * 512;
  int lane = threadIdx.x % 32, w = threadIdx.x / 32, wm = w / 4 * 32, wn = w % 4 * 64;
  A += (size_t)blockIdx.y * 64 * K;
  B += blockIdx.x * 256;
  uint32_t base = sm(smem);
  uint32_t acc[2][8][2] = {};
  auto load = [&](int s, int k) {
    uint32_t da = base + s * (SA + SB), db = da + SA;
    int r = threadIdx.x / 4;
    cpa(da + r * 64 + (((threadIdx.x % 4) ^ (r / 2 % 4)) * 16), A + (size_t)r * K + k + threadIdx.x % 4 * 8);
#pragma unroll
    for (int i = threadIdx.x; i < 1024; i += 256) {
      int q = i / 32, ch = i % 32;
      cpa(db + q * 512 + ((ch ^ (q % 8)) * 16), B + (size_t)(k + q) * N + ch * 8);
    }
    commit();
  };
  int n = K / 32;
  load(0, 0);
  load(1, 32);
  load(2, 64);
  for (int t = 0; t < n; t++) {
    wait<2>();
    __syncthreads();
    if (t + 3 < n)
      load((t + 3) % 4, (t + 3) * 32);
    else
      commit();
    uint32_t pa = base + t % 4 * (SA + SB), pb = pa + SA;
#pragma unroll
    for (int kk = 0; kk < 2; kk++) {
      uint32_t a[2][4], b[4][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        int r = wm + i * 16 + lane % 16, ch = (kk * 2 + lane / 16) ^ (r / 2 % 4);
        ldm4(a[i], pa + r * 64 + ch * 16);
      }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        int q = kk * 16 + lane % 16, ch = (wn + j * 16) / 8 + lane / 16;
        ldm4t(b[j], pb + q * 512 + ((ch ^ (q % 8)) * 16));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) mmah(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
  wait<0>();
  __syncthreads();
  half* out = (half*)smem;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) {
      int r = wm + i * 16 + lane / 4, c = wn + j * 8 + lane % 4 * 2;
      *(uint32_t*)&out[r * 264 + c] = acc[i][j][0];
      *(uint32_t*)&out[(r + 8) * 264 + c] = acc[i][j][1];
    }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x; i < 64 * 32; i += 256)
    *(uint4*)&C[((size_t)blockIdx.y * 64 + i / 32) * N + blockIdx.x * 256 + i % 32 * 8] =
        *(uint4*)&out[i / 32 * 264 + i % 32 * 8];
}
// ---------- batch of 32 x 32 x 32 halves, a warp each ----------
extern "C" __global__ void __launch_bounds__(128) p_batch32(const half* A, const half* B, half* C) {
  __shared__ __align__(16) half as[4][32][40], bs[4][32][40];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  size_t at = ((size_t)blockIdx.x * 4 + w) * 1024;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int t = lane + i * 32;
    *(uint4*)&as[w][t / 4][t % 4 * 8] = *(const uint4*)&A[at + t * 8];
    *(uint4*)&bs[w][t / 4][t % 4 * 8] = *(const uint4*)&B[at + t * 8];
  }
  __syncwarp();
  float acc[2][4][4] = {};
#pragma unroll
  for (int kk = 0; kk < 2; kk++) {
    uint32_t a[2][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) ldm4(a[i], sm(&as[w][i * 16 + lane % 16][kk * 16 + lane / 16 * 8]));
#pragma unroll
    for (int j = 0; j < 2; j++) ldm4t(b[j], sm(&bs[w][kk * 16 + lane % 16][j * 16 + lane / 16 * 8]));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) mma16(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int r = i * 16 + lane / 4, c = j * 8 + lane % 4 * 2;
      *(half2*)&C[at + r * 32 + c] = __floats2half2_rn(acc[i][j][0], acc[i][j][1]);
      *(half2*)&C[at + (r + 8) * 32 + c] = __floats2half2_rn(acc[i][j][2], acc[i][j][3]);
    }
}
// ---------- bytes by dp4a: 64 x 64 tiles, 4 x 4 a thread, K in words ----------
extern "C" __global__ void __launch_bounds__(256) p_dp4a(int M, int N, int K4, const int* A, const int* B, int* C) {
  __shared__ int as[16][65], bs[16][65];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int acc[4][4] = {};
  A += (size_t)blockIdx.y * 64 * K4;
  B += (size_t)blockIdx.x * 64 * K4;
  for (int k = 0; k < K4; k += 16) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      as[tx][ty + 16 * i] = A[(size_t)(ty + 16 * i) * K4 + k + tx];
      bs[tx][ty + 16 * i] = B[(size_t)(ty + 16 * i) * K4 + k + tx];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; p++) {
      int a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        a[i] = as[p][ty + 16 * i];
        b[i] = bs[p][tx + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] = __dp4a(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      C[((size_t)blockIdx.y * 64 + ty + 16 * i) * N + blockIdx.x * 64 + tx + 16 * j] = acc[i][j];
}
// ---------- y = A x, halves, a warp a row, 16-byte loads; x through the cache ----------
extern "C" __global__ void __launch_bounds__(256) v_row(int rows, int cols, const uint4* A, const uint4* x, half* y) {
  int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const uint4* a = A + (size_t)r * (cols / 8);
  float s = 0;
#pragma unroll 4
  for (int c = lane; c < cols / 8; c += 32) {
    uint4 u = a[c], v = x[c];
    const half2 *p = (const half2*)&u, *q = (const half2*)&v;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float2 f = __half22float2(p[i]), g = __half22float2(q[i]);
      s = fmaf(f.x, g.x, s);
      s = fmaf(f.y, g.y, s);
    }
  }
#pragma unroll
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (!lane) y[r] = __float2half(s);
}
// ---------- y = W x, weights of four bits, a scale for each 128 of a row; 4 rows a CTA of 128, x in shared memory
// ----------
extern "C" __global__ void __launch_bounds__(128)
    v_int4(int rows, int cols, const uint4* W, const half* scale, const half* x, half* y) {
  extern __shared__ half xs[];
  for (int i = threadIdx.x; i < cols / 8; i += 128) ((uint4*)xs)[i] = ((const uint4*)x)[i];
  __syncthreads();
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint4* w = W + (size_t)r * (cols / 32);
  float s = 0;
  for (int c = lane; c < cols / 32; c += 32) {
    uint4 u = w[c];
    float sc = __half2float(scale[(size_t)r * (cols / 128) + c / 4]), t = 0;
    const uint32_t* q = &u.x;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint4 xv = *(const uint4*)&xs[c * 32 + i * 8];
      const half2* h = (const half2*)&xv;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float2 f = __half22float2(h[j]);
        t += f.x * (float)(int(q[i] >> (8 * j) & 15) - 8) + f.y * (float)(int(q[i] >> (8 * j + 4) & 15) - 8);
      }
    }
    s += t * sc;
  }
#pragma unroll
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (!lane) y[r] = __float2half(s);
}
// ---------- attention of one query: a CTA a head, 128 threads, head dimension 128, scores in shared memory ----------
extern "C" __global__ void __launch_bounds__(128)
    a_decode(int L, float scale, const half* Q, const half* Kc, const half* V, half* O) {
  extern __shared__ float sc[];
  __shared__ float part[4], q[128];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  size_t head = blockIdx.x;
  q[threadIdx.x] = __half2float(Q[head * 128 + threadIdx.x]) * scale;
  __syncthreads();
  const uint4* k = (const uint4*)(Kc + head * L * 128);
  float mx = -1e30f;
  int sub = lane / 16, li = lane % 16;
  float qr[8];
#pragma unroll
  for (int i = 0; i < 8; i++) qr[i] = q[li * 8 + i];
  for (int t = w * 2 + sub; t < L; t += 8) {
    uint4 u = k[(size_t)t * 16 + li];
    const half2* h = (const half2*)&u;
    float s = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float2 f = __half22float2(h[i]);
      s += f.x * qr[2 * i] + f.y * qr[2 * i + 1];
    }
#pragma unroll
    for (int d = 8; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (!li) sc[t] = s;
    mx = fmaxf(mx, s);
  }
  mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 16));
  if (!lane) part[w] = mx;
  __syncthreads();
  mx = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
  float sum = 0;
  __syncthreads();
  for (int t = threadIdx.x; t < L; t += 128) {
    float e = __expf(sc[t] - mx);
    sc[t] = e;
    sum += e;
  }
#pragma unroll
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (!lane) part[w] = sum;
  __syncthreads();
  sum = part[0] + part[1] + part[2] + part[3];
  const half* v = V + head * L * 128 + threadIdx.x;
  float o = 0;
#pragma unroll 8
  for (int t = 0; t < L; t++) o += sc[t] * __half2float(v[(size_t)t * 128]);
  O[head * 128 + threadIdx.x] = __float2half(o / sum);
}
// ---------- causal attention, head dimension 128, tiles of 64 queries and 32 keys, one buffer ----------
extern "C" __global__ void __launch_bounds__(128)
    a_causal128(int L, float scale, const half* Q, const half* Kp, const half* V, half* O) {
  extern __shared__ __align__(128) char smem[];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  size_t head = (size_t)blockIdx.y * L * 128;
  int row0 = blockIdx.x * 64;
  uint32_t sk = sm(smem), sv = sk + 8192, sq = sv + 8192;
  auto tile = [&](uint32_t d, const half* g, int rows) {
    for (int i = threadIdx.x; i < rows * 16; i += 128) {
      int r = i / 16;
      cpa(d + r * 256 + (((i % 16) ^ (r % 8)) * 16), g + r * 128 + i % 16 * 8);
    }
  };
  tile(sq, Q + head + (size_t)row0 * 128, 64);
  commit();
  wait<0>();
  __syncthreads();
  uint32_t q[8][4];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    int r = w * 16 + lane % 16, ch = (k * 2 + lane / 16) ^ (r % 8);
    ldm4(q[k], sq + r * 256 + ch * 16);
  }
  float o[16][4] = {}, mx[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
  for (int t = 0; t < (row0 + 64) / 32; t++) {
    tile(sk, Kp + head + (size_t)t * 32 * 128, 32);
    tile(sv, V + head + (size_t)t * 32 * 128, 32);
    commit();
    wait<0>();
    __syncthreads();
    float s[4][4] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
#pragma unroll
      for (int j = 0; j < 2; j++) {
        uint32_t b[4];
        int r = j * 16 + lane % 8 + lane / 16 * 8, ch = (k * 2 + lane / 8 % 2) ^ (r % 8);
        ldm4(b, sk + r * 256 + ch * 16);
        mma16(s[2 * j], q[k], b[0], b[1]);
        mma16(s[2 * j + 1], q[k], b[2], b[3]);
      }
    if (t * 32 + 31 > row0) {
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (t * 32 + j * 8 + lane % 4 * 2 + e % 2 > row0 + w * 16 + lane / 4 + e / 2 * 8) s[j][e] = -1e30f;
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float m = mx[h];
#pragma unroll
      for (int j = 0; j < 4; j++) m = fmaxf(m, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
      float f = exp2f((mx[h] - m) * scale), l = 0;
      mx[h] = m;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        s[j][2 * h] = exp2f((s[j][2 * h] - m) * scale);
        s[j][2 * h + 1] = exp2f((s[j][2 * h + 1] - m) * scale);
        l += s[j][2 * h] + s[j][2 * h + 1];
      }
      sum[h] = sum[h] * f + l;
#pragma unroll
      for (int j = 0; j < 16; j++) {
        o[j][2 * h] *= f;
        o[j][2 * h + 1] *= f;
      }
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      uint32_t p[4];
      half2 x;
      x = __floats2half2_rn(s[2 * k][0], s[2 * k][1]);
      p[0] = *(uint32_t*)&x;
      x = __floats2half2_rn(s[2 * k][2], s[2 * k][3]);
      p[1] = *(uint32_t*)&x;
      x = __floats2half2_rn(s[2 * k + 1][0], s[2 * k + 1][1]);
      p[2] = *(uint32_t*)&x;
      x = __floats2half2_rn(s[2 * k + 1][2], s[2 * k + 1][3]);
      p[3] = *(uint32_t*)&x;
#pragma unroll
      for (int j = 0; j < 8; j++) {
        uint32_t b[4];
        int r = k * 16 + lane % 16, ch = (j * 2 + lane / 16) ^ (r % 8);
        ldm4t(b, sv + r * 256 + ch * 16);
        mma16(o[2 * j], p, b[0], b[1]);
        mma16(o[2 * j + 1], p, b[2], b[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float l = sum[h];
    l += __shfl_xor_sync(~0u, l, 1);
    l += __shfl_xor_sync(~0u, l, 2);
    l = 1 / l;
#pragma unroll
    for (int j = 0; j < 16; j++)
      *(half2*)&O[head + (size_t)(row0 + w * 16 + lane / 4 + h * 8) * 128 + j * 8 + lane % 4 * 2] =
          __floats2half2_rn(o[j][2 * h] * l, o[j][2 * h + 1] * l);
  }
}
// ---------- LayerNorm backward: sums down the columns, 32 columns x 8 rows of threads, float atomics at the end
// ----------
extern "C" __global__ void __launch_bounds__(256) n_lnbwd(int rows, int cols, const float* dy, const float* x,
                                                          const float* mean, const float* rstd, float* dg, float* db) {
  __shared__ float pg[8][33], pb[8][33];
  int c = blockIdx.x * 32 + threadIdx.x % 32, ty = threadIdx.x / 32;
  float g = 0, b = 0;
  for (int r = blockIdx.y * 8 + ty; r < rows; r += gridDim.y * 8) {
    float d = dy[(size_t)r * cols + c];
    g += d * (x[(size_t)r * cols + c] - mean[r]) * rstd[r];
    b += d;
  }
  pg[ty][threadIdx.x % 32] = g;
  pb[ty][threadIdx.x % 32] = b;
  __syncthreads();
  if (ty == 0) {
    g = b = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      g += pg[i][threadIdx.x];
      b += pb[i][threadIdx.x];
    }
    atomicAdd(&dg[c], g);
    atomicAdd(&db[c], b);
  }
}
// ---------- SwiGLU over rows [gate | up], halves by 16 bytes ----------
extern "C" __global__ void __launch_bounds__(256) n_swiglu(int cols8, const uint4* in, uint4* out) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < cols8; c += 256) {
    uint4 g = in[(size_t)r * 2 * cols8 + c], u = in[(size_t)r * 2 * cols8 + cols8 + c], o;
    const half2 *p = (const half2*)&g, *q = (const half2*)&u;
    half2* w = (half2*)&o;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float2 a = __half22float2(p[i]), b = __half22float2(q[i]);
      a.x = a.x / (1 + __expf(-a.x)) * b.x;
      a.y = a.y / (1 + __expf(-a.y)) * b.y;
      w[i] = __floats2half2_rn(a.x, a.y);
    }
    out[(size_t)r * cols8 + c] = o;
  }
}
// ---------- cross entropy of rows of logits: maximum and sum in one pass, one label a row ----------
extern "C" __global__ void __launch_bounds__(512) n_xent(int n8, const uint4* logits, const int* label, float* loss) {
  __shared__ float pm[16], ps[16];
  const uint4* row = logits + (size_t)blockIdx.x * n8;
  float m = -1e30f, s = 0;
  for (int i = threadIdx.x; i < n8; i += 512) {
    uint4 u = row[i];
    const half2* h = (const half2*)&u;
    float f[8], t = m;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float2 v = __half22float2(h[j]);
      f[2 * j] = v.x;
      f[2 * j + 1] = v.y;
      t = fmaxf(t, fmaxf(v.x, v.y));
    }
    s *= __expf(m - t);
    m = t;
#pragma unroll
    for (int j = 0; j < 8; j++) s += __expf(f[j] - m);
  }
#pragma unroll
  for (int d = 16; d; d /= 2) {
    float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d), t = fmaxf(m, om);
    s = s * __expf(m - t) + os * __expf(om - t);
    m = t;
  }
  if (threadIdx.x % 32 == 0) {
    pm[threadIdx.x / 32] = m;
    ps[threadIdx.x / 32] = s;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    m = -1e30f;
    s = 0;
    for (int i = 0; i < 16; i++) {
      float t = fmaxf(m, pm[i]);
      s = s * __expf(m - t) + ps[i] * __expf(pm[i] - t);
      m = t;
    }
    loss[blockIdx.x] = m + __logf(s) - __half2float(((const half*)row)[label[blockIdx.x]]);
  }
}
// ---------- inclusive scan of 2048 numbers a CTA: 8 a thread, shuffles, sums of warps ----------
extern "C" __global__ void __launch_bounds__(256) s_scan(int n, const int4* a, int4* b, int* total) {
  __shared__ int ws[8];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  size_t at = ((size_t)blockIdx.x * 256 + threadIdx.x) * 2;
  int4 x = a[at], y = a[at + 1];
  x.y += x.x;
  x.z += x.y;
  x.w += x.z;
  y.x += x.w;
  y.y += y.x;
  y.z += y.y;
  y.w += y.z;
  int s = y.w;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(~0u, s, d);
    if (lane >= d) s += o;
  }
  if (lane == 31) ws[w] = s;
  __syncthreads();
  if (w == 0) {
    int v = lane < 8 ? ws[lane] : 0;
#pragma unroll
    for (int d = 1; d < 8; d *= 2) {
      int o = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += o;
    }
    if (lane < 8) ws[lane] = v;
  }
  __syncthreads();
  int off = s - y.w + (w ? ws[w - 1] : 0);
  x.x += off;
  x.y += off;
  x.z += off;
  x.w += off;
  y.x += off;
  y.y += off;
  y.z += off;
  y.w += off;
  b[at] = x;
  b[at + 1] = y;
  if (threadIdx.x == 255) total[blockIdx.x] = y.w;
}
// ---------- transposition of halves, 64 x 64 tiles, pairs along both ----------
extern "C" __global__ void __launch_bounds__(256) t_half(int n, const half2* a, half2* b) {
  __shared__ half t[64][66];
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < 8; i++)
    *(half2*)&t[y + 8 * i][2 * x] = a[(size_t)(blockIdx.y * 64 + y + 8 * i) * (n / 2) + blockIdx.x * 32 + x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; i++)
    b[(size_t)(blockIdx.x * 64 + y + 8 * i) * (n / 2) + blockIdx.y * 32 + x] =
        __halves2half2(t[2 * x][y + 8 * i], t[2 * x + 1][y + 8 * i]);
}
// ---------- rows of a table by index plus rows by position, halves, a warp a row ----------
extern "C" __global__ void __launch_bounds__(256)
    e_rows(int rows, int cols8, int period, const int* id, const uint4* table, const uint4* pos, uint4* out) {
  int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  size_t from = (size_t)id[r] * cols8;
  for (int c = lane; c < cols8; c += 32) {
    uint4 u = table[from + c], v = pos[(size_t)(r % period) * cols8 + c];
    half2 *p = (half2*)&u, *q = (half2*)&v;
#pragma unroll
    for (int i = 0; i < 4; i++) p[i] = __hadd2(p[i], q[i]);
    out[(size_t)r * cols8 + c] = u;
  }
}
// ---------- bitonic sort of 2048 numbers in shared memory ----------
extern "C" __global__ void __launch_bounds__(512) o_bitonic(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[2048];
  size_t at = (size_t)blockIdx.x * 2048;
  for (int i = threadIdx.x; i < 2048; i += 512) s[i] = a[at + i];
  for (int k = 2; k <= 2048; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int t = threadIdx.x + 512 * h, i = 2 * t - (t & (j - 1)), p = i + j;
        unsigned u = s[i], v = s[p], lo = min(u, v), hi = max(u, v);
        bool up = (i & k) == 0;
        s[i] = up ? lo : hi;
        s[p] = up ? hi : lo;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 2048; i += 512) b[at + i] = s[i];
}
// ---------- digits of eight bits counted in shared memory, a table for each pair of warps ----------
extern "C" __global__ void __launch_bounds__(256) h_digits(int n4, int shift, const uint4* a, int* hist) {
  __shared__ int h[4][256];
  for (int i = threadIdx.x; i < 1024; i += 256) ((int*)h)[i] = 0;
  __syncthreads();
  int* mine = h[threadIdx.x / 64];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += gridDim.x * 256) {
    uint4 u = a[i];
    atomicAdd(&mine[u.x >> shift & 255], 1);
    atomicAdd(&mine[u.y >> shift & 255], 1);
    atomicAdd(&mine[u.z >> shift & 255], 1);
    atomicAdd(&mine[u.w >> shift & 255], 1);
  }
  __syncthreads();
  int i = threadIdx.x;
  hist[(size_t)i * gridDim.x + blockIdx.x] = h[0][i] + h[1][i] + h[2][i] + h[3][i];
}
// ---------- the eight largest of rows of 1024, a warp a row, 32 numbers a lane ----------
extern "C" __global__ void __launch_bounds__(128) k_top8(const float* a, float* val, int* idx) {
  int lane = threadIdx.x % 32;
  size_t r = (size_t)blockIdx.x * 4 + threadIdx.x / 32;
  float v[32];
#pragma unroll
  for (int i = 0; i < 32; i++) v[i] = a[r * 1024 + i * 32 + lane];
#pragma unroll 1
  for (int k = 0; k < 8; k++) {
    float m = v[0];
    int at = lane;
#pragma unroll
    for (int i = 1; i < 32; i++)
      if (v[i] > m) {
        m = v[i];
        at = i * 32 + lane;
      }
#pragma unroll
    for (int d = 16; d; d /= 2) {
      float om = __shfl_xor_sync(~0u, m, d);
      int oa = __shfl_xor_sync(~0u, at, d);
      bool take = om > m || (om == m && oa < at);
      m = take ? om : m;
      at = take ? oa : at;
    }
#pragma unroll
    for (int i = 0; i < 32; i++)
      if (i * 32 + lane == at) v[i] = -1e30f;
    if (!lane) {
      val[r * 8 + k] = m;
      idx[r * 8 + k] = at;
    }
  }
}
// ---------- seven points in space: planes through registers and shared memory, up along z ----------
extern "C" __global__ void __launch_bounds__(256) f_star7(int n, int nz, const float* a, float* b) {
  __shared__ float p[10][34];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32, x = blockIdx.x * 32 + tx + 1, y = blockIdx.y * 8 + ty + 1;
  size_t plane = (size_t)n * n, at = (size_t)y * n + x + (size_t)blockIdx.z * nz * plane;
  float below = a[at], here = a[at + plane];
  for (int z = 1; z <= nz; z++) {
    size_t i = at + z * plane;
    float above = a[i + plane];
    p[ty + 1][tx + 1] = here;
    if (ty == 0) p[0][tx + 1] = a[i - n];
    if (ty == 7) p[9][tx + 1] = a[i + n];
    if (tx == 0) p[ty + 1][0] = a[i - 1];
    if (tx == 31) p[ty + 1][33] = a[i + 1];
    __syncthreads();
    b[i] = 0.4f * here + 0.1f * (below + above + p[ty][tx + 1] + p[ty + 2][tx + 1] + p[ty + 1][tx] + p[ty + 1][tx + 2]);
    __syncthreads();
    below = here;
    here = above;
  }
}
// ---------- Fourier transform of 1024 points, radix 4, 256 threads, shared memory between steps ----------
D float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
extern "C" __global__ void __launch_bounds__(256) f_fft1024(const float2* a, float2* b) {
  __shared__ float2 s[1024];
  int t = threadIdx.x;
  size_t at = (size_t)blockIdx.x * 1024;
  float2 v[4];
#pragma unroll
  for (int i = 0; i < 4; i++) v[i] = a[at + t + i * 256];
#pragma unroll
  for (int step = 0; step < 5; step++) {
    int ns = 1 << (2 * step), k = t & (ns - 1);
    float ang = -6.2831853f * k / (4.0f * ns);
#pragma unroll
    for (int i = 1; i < 4; i++) {
      float sn, cs;
      __sincosf(ang * i, &sn, &cs);
      v[i] = cmul(v[i], make_float2(cs, sn));
    }
    float2 p = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), q = make_float2(v[0].x - v[2].x, v[0].y - v[2].y),
           r = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), u = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    v[0] = make_float2(p.x + r.x, p.y + r.y);
    v[2] = make_float2(p.x - r.x, p.y - r.y);
    v[1] = make_float2(q.x + u.x, q.y + u.y);
    v[3] = make_float2(q.x - u.x, q.y - u.y);
    if (step < 4) {
      int d = (t - k) * 4 + k;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 4; i++) s[d + i * ns] = v[i];
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 4; i++) v[i] = s[t + i * 256];
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) b[at + t + i * 256] = v[i];
}
// ---------- Winograd F(2 x 2, 3 x 3): 4 x 4 patches of an image to 16 planes ----------
extern "C" __global__ void __launch_bounds__(256) w_input(int w, int h, const float* in, float* out) {
  int tx = blockIdx.x * 32 + threadIdx.x % 32, ty = blockIdx.y * 8 + threadIdx.x / 32, tw = w / 2, th = h / 2;
  const float* p = in + (size_t)blockIdx.z * (w + 2) * (h + 2);
  float d[4][4], e[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) d[i][j] = p[(size_t)(2 * ty + i) * (w + 2) + 2 * tx + j];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    e[0][j] = d[0][j] - d[2][j];
    e[1][j] = d[1][j] + d[2][j];
    e[2][j] = d[2][j] - d[1][j];
    e[3][j] = d[1][j] - d[3][j];
  }
  float* q = out + (size_t)blockIdx.z * tw * th + (size_t)ty * tw + tx;
  size_t st = (size_t)gridDim.z * tw * th;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    q[st * (4 * i)] = e[i][0] - e[i][2];
    q[st * (4 * i + 1)] = e[i][1] + e[i][2];
    q[st * (4 * i + 2)] = e[i][2] - e[i][1];
    q[st * (4 * i + 3)] = e[i][1] - e[i][3];
  }
}
// ---------- norm of rows longer than a CTA's share: four CTAs of a cluster add through each other's shared memory
// ----------
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) c_norm(int n4, const float4* a, float4* b) {
  __shared__ float part[8], all;
  auto cl = cooperative_groups::this_cluster();
  int rank = cl.block_rank();
  size_t row = (size_t)(blockIdx.x / 4) * n4 + rank * (n4 / 4);
  float s = 0;
  for (int i = threadIdx.x; i < n4 / 4; i += 256) {
    float4 v = a[row + i];
    s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
#pragma unroll
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    s = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) s += part[i];
    all = s;
  }
  cl.sync();
  s = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) s += *cl.map_shared_rank(&all, i);
  s = rsqrtf(s / (4 * n4) + 1e-6f);
  for (int i = threadIdx.x; i < n4 / 4; i += 256) {
    float4 v = a[row + i];
    b[row + i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
  }
  cl.sync();
}
