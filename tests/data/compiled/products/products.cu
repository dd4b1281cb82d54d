// Products and attention in many styles, measured before the model saw them (README.md).
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>
#include <mma.h>
#include <cuda_pipeline_primitives.h>
#define DYN(name, al) extern __shared__ __align__(al) unsigned char name[]
__device__ __forceinline__ uint32_t s2u(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp16(uint32_t dst, const void* src) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory"); }
__device__ __forceinline__ void cp16l2(uint32_t dst, const void* src) { asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory"); }
__device__ __forceinline__ void cp16z(uint32_t dst, const void* src, bool ok) { int n = ok ? 16 : 0; asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(n) : "memory"); }
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }
__device__ __forceinline__ void ldsm_x4(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d, uint32_t p) { asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p) : "memory"); }
__device__ __forceinline__ void ldsm_x2(uint32_t& a, uint32_t& b, uint32_t p) { asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n" : "=r"(a), "=r"(b) : "r"(p) : "memory"); }
__device__ __forceinline__ void ldsm_x4t(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d, uint32_t p) { asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p) : "memory"); }
#define MMA_F32(name, kind) \
  __device__ __forceinline__ void name(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { \
    asm volatile("mma.sync.aligned." kind " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); }
MMA_F32(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32")
MMA_F32(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_F32(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA_F32(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
__device__ __forceinline__ void mma_s8(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); }
__device__ __forceinline__ void mma_hh(uint32_t (&d)[2], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};\n" : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); }
__device__ __forceinline__ uint32_t to_tf32(float x) { uint32_t r; asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(r) : "f"(x)); return r; }
__device__ __forceinline__ float ex2(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
template <int N> __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }
#define R8(o) "%" #o "0,%" #o "1,%" #o "2,%" #o "3,%" #o "4,%" #o "5,%" #o "6,%" #o "7,%" #o "8,%" #o "9,"
#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
__device__ __forceinline__ void wgmma_n128(float (&d)[64], uint64_t da, uint64_t db) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," R8(1) R8(2) R8(3) R8(4) R8(5) "%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;\n"
               : F4(0), F4(4), F4(8), F4(12), F4(16), F4(20), F4(24), F4(28), F4(32), F4(36), F4(40), F4(44), F4(48), F4(52), F4(56), F4(60) : "l"(da), "l"(db)); }
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
typedef __nv_bfloat16 bf16;
__device__ __forceinline__ uint32_t pack_h(float x, float y) { half2 h = __floats2half2_rn(x, y); return *reinterpret_cast<uint32_t*>(&h); }
__device__ __forceinline__ uint32_t pack_b(float x, float y) { __nv_bfloat162 h = __floats2bfloat162_rn(x, y); return *reinterpret_cast<uint32_t*>(&h); }

// 1. sgemm 64x64x16, 4x4 a thread, one buffer. C = alpha A B + beta C
KERNEL(256) v_sgemm64x64x16(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K, float alpha, float beta) {
  __shared__ __align__(16) float sA[16][68];
  __shared__ __align__(16) float sB[16][64];
  const int t = threadIdx.x, ty = t >> 4, tx = t & 15;
  const float* pa = A + (size_t)(blockIdx.y * 64 + (t >> 2)) * K + (t & 3) * 4;
  const float* pb = B + (size_t)(t >> 4) * N + blockIdx.x * 64 + (t & 15) * 4;
  float acc[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) acc[i][j] = 0.f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    float4 va = *reinterpret_cast<const float4*>(pa), vb = *reinterpret_cast<const float4*>(pb);
    pa += 16; pb += (size_t)16 * N;
    int c = (t & 3) * 4, r = t >> 2;
    sA[c][r] = va.x; sA[c + 1][r] = va.y; sA[c + 2][r] = va.z; sA[c + 3][r] = va.w;
    *reinterpret_cast<float4*>(&sB[t >> 4][(t & 15) * 4]) = vb;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 a = *reinterpret_cast<const float4*>(&sA[k][ty * 4]), b = *reinterpret_cast<const float4*>(&sB[k][tx * 4]);
      float ar[4] = {a.x, a.y, a.z, a.w}, br[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(ar[i], br[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float4* p = reinterpret_cast<float4*>(C + (size_t)(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 4);
    float4 o = *p;
    o.x = alpha * acc[i][0] + beta * o.x; o.y = alpha * acc[i][1] + beta * o.y; o.z = alpha * acc[i][2] + beta * o.z; o.w = alpha * acc[i][3] + beta * o.w;
    *p = o;
  }
}

// 2. sgemm 128x64x8, 128 threads, 8x8 a thread as 2x2 quads, shared and fragments double buffered
KERNEL(128) v_sgemm128x64_db(int K, const float* __restrict__ A, int lda, const float* __restrict__ B, int ldb, float* __restrict__ C, int ldc) {
  __shared__ __align__(16) float sa[2][8][132];
  __shared__ __align__(16) float sb[2][8][64];
  const int t = threadIdx.x, ty = t / 8, tx = t % 8, lr = t / 2, lc = (t % 2) * 4, br = t / 16, bc = (t % 16) * 4;
  const float* ga = A + (size_t)blockIdx.x * 128 * lda + (size_t)lr * lda + lc;
  const float* gb = B + (size_t)br * ldb + (size_t)blockIdx.y * 64 + bc;
  float4 ra0 = *(const float4*)ga, ra1 = *(const float4*)(ga + (size_t)64 * lda), rb = *(const float4*)gb;
  float fa[2][8], fb[2][8], acc[8][8] = {};
  auto put = [&](int s) {
    sa[s][lc][lr] = ra0.x; sa[s][lc + 1][lr] = ra0.y; sa[s][lc + 2][lr] = ra0.z; sa[s][lc + 3][lr] = ra0.w;
    sa[s][lc][lr + 64] = ra1.x; sa[s][lc + 1][lr + 64] = ra1.y; sa[s][lc + 2][lr + 64] = ra1.z; sa[s][lc + 3][lr + 64] = ra1.w;
    *(float4*)&sb[s][br][bc] = rb;
  };
  auto frag = [&](int s, int k, int f) {
    *(float4*)&fa[f][0] = *(const float4*)&sa[s][k][ty * 4]; *(float4*)&fa[f][4] = *(const float4*)&sa[s][k][64 + ty * 4];
    *(float4*)&fb[f][0] = *(const float4*)&sb[s][k][tx * 4]; *(float4*)&fb[f][4] = *(const float4*)&sb[s][k][32 + tx * 4];
  };
  put(0); __syncthreads(); frag(0, 0, 0);
  int cur = 0;
  for (int k = 8; k <= K; k += 8) {
    bool more = k < K;
    if (more) { ga += 8; gb += (size_t)8 * ldb; ra0 = *(const float4*)ga; ra1 = *(const float4*)(ga + (size_t)64 * lda); rb = *(const float4*)gb; }
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      if (p < 7) frag(cur, p + 1, (p + 1) & 1);
      else if (more) { put(cur ^ 1); __syncthreads(); cur ^= 1; frag(cur, 0, 0); }
      if (p < 7) {
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j) acc[i][j] += fa[p & 1][i] * fb[p & 1][j];
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j) acc[i][j] += fa[1][i] * fb[1][j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int row = blockIdx.x * 128 + (i / 4) * 64 + ty * 4 + i % 4, col = blockIdx.y * 64 + h * 32 + tx * 4;
      *(float4*)(C + (size_t)row * ldc + col) = make_float4(acc[i][h * 4], acc[i][h * 4 + 1], acc[i][h * 4 + 2], acc[i][h * 4 + 3]);
    }
}

// 3. sgemm 128x128x16, 256 threads, 8x8, cp.async (4 bytes for A transposed, 16 for B), 2 stages
KERNEL(256) v_sgemm128_async(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ __align__(16) float As[2][16][132];
  __shared__ __align__(16) float Bs[2][16][128];
  const int tid = threadIdx.x, m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
  const int ak = tid % 16, am = tid / 16, bk = tid / 32, bn = tid % 32 * 4;
  auto issue = [&](int s, int k0) {
#pragma unroll
    for (int i = 0; i < 8; i++) __pipeline_memcpy_async(&As[s][ak][am + 16 * i], A + (size_t)(m0 + am + 16 * i) * K + k0 + ak, 4);
#pragma unroll
    for (int i = 0; i < 2; i++) __pipeline_memcpy_async(&Bs[s][bk + 8 * i][bn], B + (size_t)(k0 + bk + 8 * i) * N + n0 + bn, 16);
    __pipeline_commit();
  };
  const int w = tid / 32, l = tid % 32, rm = (w / 2) * 32 + (l / 8) * 4, rn = (w % 2) * 64 + (l % 8) * 4;
  float acc[64];
#pragma unroll
  for (int i = 0; i < 64; i++) acc[i] = 0;
  issue(0, 0);
  for (int k0 = 0, s = 0; k0 < K; k0 += 16, s ^= 1) {
    if (k0 + 16 < K) { issue(s ^ 1, k0 + 16); __pipeline_wait_prior(1); } else __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 16; k++) {
      float4 a0 = *(float4*)&As[s][k][rm], a1 = *(float4*)&As[s][k][rm + 16], b0 = *(float4*)&Bs[s][k][rn], b1 = *(float4*)&Bs[s][k][rn + 32];
      float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 64; i++) acc[i] = fmaf(a[i / 8], b[i % 8], acc[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float* p = C + (size_t)(m0 + rm + (i / 4) * 16 + i % 4) * N + n0 + rn;
    *(float4*)p = make_float4(acc[8 * i], acc[8 * i + 1], acc[8 * i + 2], acc[8 * i + 3]);
    *(float4*)(p + 32) = make_float4(acc[8 * i + 4], acc[8 * i + 5], acc[8 * i + 6], acc[8 * i + 7]);
  }
}

// 4. C = A^T B (A is [K,M]), 96x96x8, 6x6 a thread, scalar loads
KERNEL(256) v_sgemm_tn96(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ __align__(8) float a_s[8 * 96], b_s[8 * 96];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, t = threadIdx.x;
  float acc[6][6] = {{0}};
  for (int k = 0; k < K; k += 8) {
#pragma unroll
    for (int i = 0; i < 3; i++) {
      int e = t + 256 * i, kk = e / 96, c = e % 96;
      a_s[e] = A[(size_t)(k + kk) * M + blockIdx.y * 96 + c];
      b_s[e] = B[(size_t)(k + kk) * N + blockIdx.x * 96 + c];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 8; kk++) {
      float2 a[3], b[3];
#pragma unroll
      for (int i = 0; i < 3; i++) { a[i] = *(float2*)&a_s[kk * 96 + i * 32 + ty * 2]; b[i] = *(float2*)&b_s[kk * 96 + i * 32 + tx * 2]; }
#pragma unroll
      for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
          acc[2 * i][2 * j] += a[i].x * b[j].x; acc[2 * i][2 * j + 1] += a[i].x * b[j].y;
          acc[2 * i + 1][2 * j] += a[i].y * b[j].x; acc[2 * i + 1][2 * j + 1] += a[i].y * b[j].y;
        }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 6; i++)
#pragma unroll
    for (int j = 0; j < 3; j++)
      *(float2*)&C[(size_t)(blockIdx.y * 96 + i / 2 * 32 + ty * 2 + i % 2) * N + blockIdx.x * 96 + j * 32 + tx * 2] = make_float2(acc[i][2 * j], acc[i][2 * j + 1]);
}

// 5. sgemm 32x32, 16x16 threads, 2x2 each, k 32, padded shared
KERNEL(256) v_sgemm32_pad(const float* A, const float* B, float* C, int n, int k) {
  __shared__ float ta[32][33];
  __shared__ float tb[32][33];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32;
  float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
  for (int p = 0; p < k; p += 32) {
    ta[y][x] = A[(size_t)(row + y) * k + p + x]; ta[y][x + 16] = A[(size_t)(row + y) * k + p + x + 16];
    ta[y + 16][x] = A[(size_t)(row + y + 16) * k + p + x]; ta[y + 16][x + 16] = A[(size_t)(row + y + 16) * k + p + x + 16];
    tb[y][x] = B[(size_t)(p + y) * n + col + x]; tb[y][x + 16] = B[(size_t)(p + y) * n + col + x + 16];
    tb[y + 16][x] = B[(size_t)(p + y + 16) * n + col + x]; tb[y + 16][x + 16] = B[(size_t)(p + y + 16) * n + col + x + 16];
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 32; q++) {
      float a0 = ta[y][q], a1 = ta[y + 16][q], b0 = tb[q][x], b1 = tb[q][x + 16];
      c00 += a0 * b0; c01 += a0 * b1; c10 += a1 * b0; c11 += a1 * b1;
    }
    __syncthreads();
  }
  C[(size_t)(row + y) * n + col + x] = c00; C[(size_t)(row + y) * n + col + x + 16] = c01;
  C[(size_t)(row + y + 16) * n + col + x] = c10; C[(size_t)(row + y + 16) * n + col + x + 16] = c11;
}

// 6. naive
KERNEL(256) v_sgemm_naive(int M, int N, int K, const float* A, const float* B, float* C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M || c >= N) return;
  float s = 0;
#pragma unroll 4
  for (int k = 0; k < K; k++) s += __ldg(A + r * K + k) * __ldg(B + k * N + c);
  C[r * N + c] = s;
}

// 7. hgemm 64x128x64, NN, 4 warps of 32x64, XOR swizzle, 4 stages
KERNEL(128) v_hgemm64x128x64_s4(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K) {
  DYN(smem, 128);
  constexpr uint32_t STG = 8192 + 16384;
  const uint32_t base = s2u(smem);
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wm = (warp >> 1) * 32, wn = (warp & 1) * 64, m0 = blockIdx.y * 64, n0 = blockIdx.x * 128;
  const int nk = K / 64;
  auto fetch = [&](int kt) {
    uint32_t sA = base + (kt & 3) * STG, sB = sA + 8192;
#pragma unroll
    for (int i = 0; i < 4; ++i) { int e = tid + i * 128, r = e >> 3, c = e & 7; cp16l2(sA + r * 128 + ((c ^ (r & 7)) << 4), A + (size_t)(m0 + r) * K + kt * 64 + c * 8); }
#pragma unroll
    for (int i = 0; i < 8; ++i) { int e = tid + i * 128, r = e >> 4, c = e & 15; cp16l2(sB + r * 256 + ((c ^ (r & 7)) << 4), B + (size_t)(kt * 64 + r) * N + n0 + c * 8); }
  };
  float acc[2][8][4] = {};
  for (int s = 0; s < 3; ++s) { if (s < nk) fetch(s); cp_commit(); }
  for (int kt = 0; kt < nk; ++kt) {
    cp_wait<2>(); __syncthreads();
    if (kt + 3 < nk) fetch(kt + 3);
    cp_commit();
    uint32_t sA = base + (kt & 3) * STG, sB = sA + 8192;
#pragma unroll
    for (int ks = 0; ks < 4; ++ks) {
      uint32_t a[2][4], b[8][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) { int r = wm + i * 16 + (lane & 15), c = ks * 2 + (lane >> 4); ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], sA + r * 128 + ((c ^ (r & 7)) << 4)); }
#pragma unroll
      for (int j = 0; j < 4; ++j) { int r = ks * 16 + (lane & 15), c = wn / 8 + j * 2 + (lane >> 4); ldsm_x4t(b[2 * j][0], b[2 * j][1], b[2 * j + 1][0], b[2 * j + 1][1], sB + r * 256 + ((c ^ (r & 7)) << 4)); }
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) mma_f16(acc[i][j], a[i], b[j][0], b[j][1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      half* p = C + (size_t)(m0 + wm + i * 16 + (lane >> 2)) * N + n0 + wn + j * 8 + (lane & 3) * 2;
      *(uint32_t*)p = pack_h(acc[i][j][0], acc[i][j][1]); *(uint32_t*)(p + (size_t)8 * N) = pack_h(acc[i][j][2], acc[i][j][3]);
    }
}

// 8. bf16 256x128x32, NT, 8 warps of 64x64, 3 stages, fragments double buffered, CTAs in groups of 4 rows
KERNEL(256) v_bgemm256x128x32_s3(int M, int N, int K, const bf16* A, const bf16* B, bf16* C) {
  DYN(buf, 128);
  constexpr int STG = (256 + 128) * 64;
  int pm = M / 256, pn = N / 128, pid = blockIdx.x, per = 4 * pn, first = pid / per * 4, gs = min(pm - first, 4);
  int bm = first + (pid % per) % gs, bn = (pid % per) / gs;
  uint32_t base = s2u(buf);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wr = warp % 4 * 64, wc = warp / 4 * 64;
  int r0 = threadIdx.x / 4, ch = threadIdx.x % 4; // 64 rows a pass, 4 chunks of 16 bytes a row
  const bf16* ga = A + (size_t)(bm * 256 + r0) * K + ch * 8;
  const bf16* gb = B + (size_t)(bn * 128 + r0) * K + ch * 8;
  uint32_t so = r0 * 64 + ((ch ^ ((r0 >> 1) & 3)) << 4);
  auto load = [&](int slot) {
    uint32_t d = base + slot * STG + so;
#pragma unroll
    for (int i = 0; i < 4; i++) cp16(d + i * 4096, ga + (size_t)i * 64 * K);
#pragma unroll
    for (int i = 0; i < 2; i++) cp16(d + 16384 + i * 4096, gb + (size_t)i * 64 * K);
    ga += 32; gb += 32;
  };
  uint32_t a[2][4][4], b[2][8][2];
  auto frag = [&](int slot, int ks, int f) {
    uint32_t pa = base + slot * STG, pb = pa + 16384;
#pragma unroll
    for (int i = 0; i < 4; i++) { int r = wr + i * 16 + lane % 16, c = ks * 2 + lane / 16; ldsm_x4(a[f][i][0], a[f][i][1], a[f][i][2], a[f][i][3], pa + r * 64 + ((c ^ ((r >> 1) & 3)) << 4)); }
#pragma unroll
    for (int j = 0; j < 4; j++) { int r = wc + j * 16 + lane % 8 + (lane & 16) / 2, c = ks * 2 + (lane >> 3 & 1); ldsm_x4(b[f][2 * j][0], b[f][2 * j][1], b[f][2 * j + 1][0], b[f][2 * j + 1][1], pb + r * 64 + ((c ^ ((r >> 1) & 3)) << 4)); }
  };
  float acc[4][8][4] = {};
  int nk = K / 32, rd = 0, wrs = 2;
  load(0); cp_commit(); if (nk > 1) load(1); cp_commit();
  cp_wait<1>(); __syncthreads(); frag(0, 0, 0);
  for (int t = 0; t < nk; t++) {
#pragma unroll
    for (int ks = 0; ks < 2; ks++) {
      if (ks == 0) {
        frag(rd, 1, 1);
        if (t + 2 < nk) load(wrs);
        cp_commit();
        wrs = wrs == 2 ? 0 : wrs + 1;
      } else {
        cp_wait<1>(); __syncthreads();
        rd = rd == 2 ? 0 : rd + 1;
        if (t + 1 < nk) frag(rd, 0, 0);
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) mma_bf16(acc[i][j], a[ks][i], b[ks][j][0], b[ks][j][1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      bf16* p = C + (size_t)(bm * 256 + wr + i * 16 + h * 8 + lane / 4) * N + bn * 128 + wc + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < 8; j++) *(uint32_t*)(p + j * 8) = pack_b(acc[i][j][h * 2], acc[i][j][h * 2 + 1]);
    }
}

// 9. bf16 64x64x32, NT, single stage, padded plain shared loads, global prefetch in registers, fp32 out
KERNEL(128) v_bgemm64_plain(const bf16* A, const bf16* B, float* C, int N, int K) {
  __shared__ __align__(16) bf16 sa[64][40];
  __shared__ __align__(16) bf16 sb[64][40];
  int t = threadIdx.x, lane = t & 31, g = lane >> 2, q = (lane & 3) * 2, wm = (t >> 6) * 32, wn = ((t >> 5) & 1) * 32;
  int r = t >> 2, c = (t & 3) * 8;
  const bf16 *ga = A + (size_t)(blockIdx.y * 64 + r) * K + c, *gb = B + (size_t)(blockIdx.x * 64 + r) * K + c;
  uint4 ra0 = *(const uint4*)ga, ra1 = *(const uint4*)(ga + (size_t)32 * K), rb0 = *(const uint4*)gb, rb1 = *(const uint4*)(gb + (size_t)32 * K);
  float acc[2][4][4] = {};
  for (int k = 0; k < K; k += 32) {
    *(uint4*)&sa[r][c] = ra0; *(uint4*)&sa[r + 32][c] = ra1; *(uint4*)&sb[r][c] = rb0; *(uint4*)&sb[r + 32][c] = rb1;
    __syncthreads();
    if (k + 32 < K) { ga += 32; gb += 32; ra0 = *(const uint4*)ga; ra1 = *(const uint4*)(ga + (size_t)32 * K); rb0 = *(const uint4*)gb; rb1 = *(const uint4*)(gb + (size_t)32 * K); }
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      uint32_t a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        a[i][0] = *(uint32_t*)&sa[wm + i * 16 + g][kk + q]; a[i][1] = *(uint32_t*)&sa[wm + i * 16 + g + 8][kk + q];
        a[i][2] = *(uint32_t*)&sa[wm + i * 16 + g][kk + q + 8]; a[i][3] = *(uint32_t*)&sa[wm + i * 16 + g + 8][kk + q + 8];
      }
#pragma unroll
      for (int j = 0; j < 4; j++) { b[j][0] = *(uint32_t*)&sb[wn + j * 8 + g][kk + q]; b[j][1] = *(uint32_t*)&sb[wn + j * 8 + g][kk + q + 8]; }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_bf16(acc[i][j], a[i], b[j][0], b[j][1]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float* p = C + (size_t)(blockIdx.y * 64 + wm + i * 16 + g) * N + blockIdx.x * 64 + wn + j * 8 + q;
      *(float2*)p = make_float2(acc[i][j][0], acc[i][j][1]); *(float2*)(p + (size_t)8 * N) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}

// 10. tf32 128x64x32, NN, 8 warps of 32x32, 2 stages
KERNEL(256) v_tf32_128x64x32_s2(int M, int N, int K, const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
  DYN(sraw, 16);
  float* sm = (float*)sraw;
  constexpr int LA = 36, LB = 72, SZ = 128 * LA + 32 * LB;
  int t = threadIdx.x, lane = t % 32, w = t / 32, wm = w % 4 * 32, wn = w / 4 * 32, g = lane / 4, q = lane % 4;
  A += (size_t)blockIdx.y * 128 * K; B += blockIdx.x * 64;
  auto load = [&](int s, int k) {
    uint32_t da = s2u(sm + s * SZ), db = da + 128 * LA * 4;
#pragma unroll
    for (int i = 0; i < 4; i++) { int r = t / 8 + i * 32, c = t % 8 * 4; cp16(da + (r * LA + c) * 4, A + (size_t)r * K + k + c); }
#pragma unroll
    for (int i = 0; i < 2; i++) { int r = t / 16 + i * 16, c = t % 16 * 4; cp16(db + (r * LB + c) * 4, B + (size_t)(k + r) * N + c); }
    cp_commit();
  };
  float acc[2][4][4] = {};
  load(0, 0);
  int s = 0;
  for (int k = 0; k < K; k += 32) {
    if (k + 32 < K) { load(s ^ 1, k + 32); cp_wait<1>(); } else cp_wait<0>();
    __syncthreads();
    const float *pa = sm + s * SZ + (wm + g) * LA + q, *pb = sm + s * SZ + 128 * LA + q * LB + wn + g;
#pragma unroll
    for (int kk = 0; kk < 4; kk++) {
      uint32_t a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        a[i][0] = to_tf32(pa[i * 16 * LA + kk * 8]); a[i][1] = to_tf32(pa[(i * 16 + 8) * LA + kk * 8]);
        a[i][2] = to_tf32(pa[i * 16 * LA + kk * 8 + 4]); a[i][3] = to_tf32(pa[(i * 16 + 8) * LA + kk * 8 + 4]);
      }
#pragma unroll
      for (int j = 0; j < 4; j++) { b[j][0] = to_tf32(pb[kk * 8 * LB + j * 8]); b[j][1] = to_tf32(pb[(kk * 8 + 4) * LB + j * 8]); }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_tf32(acc[i][j], a[i], b[j][0], b[j][1]);
    }
    __syncthreads();
    s ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        *(float2*)(C + (size_t)(blockIdx.y * 128 + wm + i * 16 + h * 8 + g) * N + blockIdx.x * 64 + wn + j * 8 + q * 2) = make_float2(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
}

// 11. s8 128x128x64, NT, 8 warps of 64x32, 3 stages, scaled to half
KERNEL(256) v_s8_128x128x64_s3(const int8_t* A, const int8_t* B, const float* sa, const float* sb, half* C, int M, int N, int K) {
  DYN(mem, 128);
  uint32_t base = s2u(mem);
  int t = threadIdx.x, lane = t & 31, warp = t >> 5, wm = (warp & 1) * 64, wn = (warp >> 1) * 32;
  int mB = blockIdx.y << 7, nB = blockIdx.x << 7, nk = K >> 6;
  auto load = [&](int kt) {
    uint32_t d = base + (kt % 3) * 16384;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int r = (t >> 2) + i * 64, c = t & 3; uint32_t o = r * 64 + ((c ^ ((r >> 1) & 3)) * 16);
      cp16(d + o, A + (size_t)(mB + r) * K + kt * 64 + c * 16); cp16(d + 8192 + o, B + (size_t)(nB + r) * K + kt * 64 + c * 16);
    }
  };
  int acc[4][4][4];
#pragma unroll
  for (int i = 0; i < 64; i++) acc[i / 16][i / 4 % 4][i % 4] = 0;
  load(0); cp_commit(); if (nk > 1) load(1); cp_commit();
  for (int kt = 0; kt < nk; kt++) {
    cp_wait<1>(); __syncthreads();
    if (kt + 2 < nk) load(kt + 2);
    cp_commit();
    uint32_t pa = base + (kt % 3) * 16384, pb = pa + 8192;
#pragma unroll
    for (int ks = 0; ks < 2; ks++) {
      uint32_t a[4][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 4; i++) { int r = wm + i * 16 + (lane & 15), c = ks * 2 + (lane >> 4); ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], pa + r * 64 + ((c ^ ((r >> 1) & 3)) * 16)); }
#pragma unroll
      for (int j = 0; j < 4; j++) { int r = wn + j * 8 + (lane & 7), c = ks * 2 + ((lane >> 3) & 1); ldsm_x2(b[j][0], b[j][1], pb + r * 64 + ((c ^ ((r >> 1) & 3)) * 16)); }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_s8(acc[i][j], a[i], b[j][0], b[j][1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int r = mB + wm + i * 16 + (lane >> 2); float s0 = sa[r], s1 = sa[r + 8];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int c = nB + wn + j * 8 + (lane & 3) * 2; float2 z = *(const float2*)(sb + c);
      *(uint32_t*)(C + (size_t)r * N + c) = pack_h(acc[i][j][0] * s0 * z.x, acc[i][j][1] * s0 * z.y);
      *(uint32_t*)(C + (size_t)(r + 8) * N + c) = pack_h(acc[i][j][2] * s1 * z.x, acc[i][j][3] * s1 * z.y);
    }
  }
}

// 12. f16 accumulators, 128x128x32, NT, 4 warps of 64x64, 2 stages, padded rows
KERNEL(128) v_hhgemm128_s2(int N, int K, const half* A, const half* B, half* C) {
  __shared__ __align__(16) half sh[2][256][40]; // rows 0..127 A, 128..255 B
  int t = threadIdx.x, lane = t % 32, wm = t / 64 * 64, wn = t / 32 % 2 * 64;
  auto load = [&](int s, int k) {
#pragma unroll
    for (int i = 0; i < 4; i++) { int r = i * 32 + t / 4, c = t % 4 * 8; __pipeline_memcpy_async(&sh[s][r][c], A + (size_t)(blockIdx.y * 128 + r) * K + k + c, 16); }
#pragma unroll
    for (int i = 0; i < 4; i++) { int r = i * 32 + t / 4, c = t % 4 * 8; __pipeline_memcpy_async(&sh[s][128 + r][c], B + (size_t)(blockIdx.x * 128 + r) * K + k + c, 16); }
    __pipeline_commit();
  };
  uint32_t acc[4][8][2] = {};
  load(0, 0);
  for (int k = 0; k < K; k += 32) {
    int s = k / 32 & 1;
    __pipeline_wait_prior(0); __syncthreads();
    if (k + 32 < K) load(s ^ 1, k + 32);
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      uint32_t a[4][4];
#pragma unroll
      for (int i = 0; i < 4; i++) ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], s2u(&sh[s][wm + i * 16 + lane % 16][kk + lane / 16 * 8]));
#pragma unroll
      for (int j = 0; j < 4; j++) {
        uint32_t b0, b1, b2, b3; ldsm_x4(b0, b1, b2, b3, s2u(&sh[s][128 + wn + j * 16 + lane % 16][kk + lane / 16 * 8]));
#pragma unroll
        for (int i = 0; i < 4; i++) { mma_hh(acc[i][2 * j], a[i], b0, b2); mma_hh(acc[i][2 * j + 1], a[i], b1, b3); }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) {
      uint32_t* p = (uint32_t*)(C + (size_t)(blockIdx.y * 128 + wm + i * 16 + lane / 4) * N + blockIdx.x * 128 + wn + j * 8 + lane % 4 * 2);
      p[0] = acc[i][j][0]; p[(size_t)4 * N] = acc[i][j][1];
    }
}

// 13. e4m3 128x128x64, NT, 8 warps of 64x32, 4 stages, fp32 accumulators, bf16 out
KERNEL(256) v_fp8_128x128x64_s4(const uint8_t* A, const uint8_t* B, bf16* C, int M, int N, int K, float scale) {
  DYN(pool, 128);
  uint32_t base = s2u(pool);
  int t = threadIdx.x, lane = t % 32, wm = (t / 128) * 64, wn = (t / 32 % 4) * 32, nk = K / 64;
  const uint8_t *ga = A + (size_t)(blockIdx.x * 128 + t / 4) * K + t % 4 * 16, *gb = B + (size_t)(blockIdx.y * 128 + t / 4) * K + t % 4 * 16;
  uint32_t so = (t / 4) * 64 + ((t % 4) ^ (t / 8 % 4)) * 16;
  auto load = [&](int kt) {
    uint32_t d = base + (kt & 3) * 16384 + so;
#pragma unroll
    for (int i = 0; i < 2; i++) { cp16(d + i * 4096, ga + (size_t)i * 64 * K + kt * 64); cp16(d + 8192 + i * 4096, gb + (size_t)i * 64 * K + kt * 64); }
  };
  float acc[4][4][4] = {};
#pragma unroll
  for (int s = 0; s < 3; s++) { if (s < nk) load(s); cp_commit(); }
#pragma unroll 1
  for (int kt = 0; kt < nk; kt++) {
    cp_wait<2>(); __syncthreads();
    if (kt + 3 < nk) load(kt + 3);
    cp_commit();
    uint32_t pa = base + (kt & 3) * 16384, pb = pa + 8192;
#pragma unroll
    for (int ks = 0; ks < 2; ks++) {
      uint32_t b[4][2];
#pragma unroll
      for (int j = 0; j < 2; j++) { int r = wn + j * 16 + lane % 8 + lane / 16 * 8, c = ks * 2 + lane / 8 % 2; ldsm_x4(b[2 * j][0], b[2 * j][1], b[2 * j + 1][0], b[2 * j + 1][1], pb + r * 64 + ((c ^ (r / 2 % 4)) << 4)); }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t a[4]; int r = wm + i * 16 + lane % 16, c = ks * 2 + lane / 16; ldsm_x4(a[0], a[1], a[2], a[3], pa + r * 64 + ((c ^ (r / 2 % 4)) << 4));
#pragma unroll
        for (int j = 0; j < 4; j++) mma_e4m3(acc[i][j], a, b[j][0], b[j][1]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        *(uint32_t*)(C + (size_t)(blockIdx.x * 128 + wm + i * 16 + h * 8 + lane / 4) * N + blockIdx.y * 128 + wn + j * 8 + lane % 4 * 2) = pack_b(acc[i][j][2 * h] * scale, acc[i][j][2 * h + 1] * scale);
}

// 14. WMMA API, 64x64x32, NN, 4 warps of 32x32
KERNEL(128) v_wmma64(const half* A, const half* B, float* C, int M, int N, int K) {
  using namespace nvcuda;
  __shared__ __align__(32) half As[64][40];
  __shared__ __align__(32) half Bs[32][72];
  int t = threadIdx.x, warp = t / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
  for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0.0f);
  for (int k = 0; k < K; k += 32) {
    for (int e = t; e < 256; e += 128) {
      *(uint4*)&As[e / 4][e % 4 * 8] = *(const uint4*)&A[(size_t)(blockIdx.y * 64 + e / 4) * K + k + e % 4 * 8];
      *(uint4*)&Bs[e / 8][e % 8 * 8] = *(const uint4*)&B[(size_t)(k + e / 8) * N + blockIdx.x * 64 + e % 8 * 8];
    }
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
      for (int i = 0; i < 2; i++) wmma::load_matrix_sync(a[i], &As[wr + i * 16][kk], 40);
      for (int j = 0; j < 2; j++) wmma::load_matrix_sync(b[j], &Bs[kk][wc + j * 16], 72);
      for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)
    wmma::store_matrix_sync(C + (size_t)(blockIdx.y * 64 + wr + i * 16) * N + blockIdx.x * 64 + wc + j * 16, acc[i][j], N, wmma::mem_row_major);
}

// 15. 4-bit weights: W as [N][K/64][4 lanes][2 words], scales [K/64][N], 64x128x64, 4 warps of 64x32, 3 stages
KERNEL(128) v_w4a16_64x128x64(const half* __restrict__ A, const uint32_t* __restrict__ W, const half* __restrict__ S, half* __restrict__ C, int M, int N, int K) {
  DYN(smem4, 128);
  uint32_t base = s2u(smem4);
  int t = threadIdx.x, lane = t & 31, wn = (t >> 5) * 32, m0 = blockIdx.y * 64, n0 = blockIdx.x * 128, nk = K / 64;
  auto load = [&](int kt, int slot) {
    uint32_t d = base + slot * 12288;
#pragma unroll
    for (int i = 0; i < 4; i++) { int e = t + i * 128, r = e >> 3, c = e & 7; cp16(d + r * 128 + ((c ^ (r & 7)) << 4), A + (size_t)(m0 + r) * K + kt * 64 + c * 8); }
#pragma unroll
    for (int i = 0; i < 2; i++) { int e = t + i * 128; cp16(d + 8192 + e * 16, W + ((size_t)(n0 + e / 2) * nk + kt) * 8 + (e & 1) * 4); }
  };
  float acc[4][4][4] = {};
  load(0, 0); cp_commit(); if (nk > 1) load(1, 1); cp_commit();
  int slot = 0, nxt = 2;
  for (int kt = 0; kt < nk; kt++) {
    half sc[4];
#pragma unroll
    for (int j = 0; j < 4; j++) sc[j] = __ldg(S + (size_t)kt * N + n0 + wn + j * 8 + (lane >> 2));
    cp_wait<1>(); __syncthreads();
    if (kt + 2 < nk) load(kt + 2, nxt);
    cp_commit();
    uint32_t pa = base + slot * 12288;
    const unsigned char* pw = smem4 + slot * 12288 + 8192;
    uint2 q[4];
#pragma unroll
    for (int j = 0; j < 4; j++) q[j] = *(const uint2*)(pw + (wn + j * 8 + (lane >> 2)) * 32 + (lane & 3) * 8);
#pragma unroll
    for (int ks = 0; ks < 4; ks++) {
      uint32_t a[4][4];
#pragma unroll
      for (int i = 0; i < 4; i++) { int r = i * 16 + (lane & 15), c = ks * 2 + (lane >> 4); ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], pa + r * 128 + ((c ^ (r & 7)) << 4)); }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        uint32_t w = (ks < 2 ? q[j].x : q[j].y) >> ((ks & 1) * 8), x0 = (w & 0x000f000fu) | 0x64006400u, x1 = ((w >> 4) & 0x000f000fu) | 0x64006400u;
        half2 off = __half2half2(__ushort_as_half(0x6408)), s2 = __half2half2(sc[j]);
        half2 h0 = __hmul2(__hsub2(*(half2*)&x0, off), s2), h1 = __hmul2(__hsub2(*(half2*)&x1, off), s2);
#pragma unroll
        for (int i = 0; i < 4; i++) mma_f16(acc[i][j], a[i], *(uint32_t*)&h0, *(uint32_t*)&h1);
      }
    }
    slot = slot == 2 ? 0 : slot + 1; nxt = nxt == 2 ? 0 : nxt + 1;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      half* p = C + (size_t)(m0 + i * 16 + (lane >> 2)) * N + n0 + wn + j * 8 + (lane & 3) * 2;
      *(uint32_t*)p = pack_h(acc[i][j][0], acc[i][j][1]); *(uint32_t*)(p + (size_t)8 * N) = pack_h(acc[i][j][2], acc[i][j][3]);
    }
}

// 16. gemm + bias + gelu, 128x128x32, NT, 16 warps of 32x32, 4 stages, epilogue through shared memory
KERNEL(512) v_gemm_bias_gelu(const half* X, const half* W, const half* bias, half* Y, int N, int K) {
  DYN(shm, 128);
  uint32_t base = s2u(shm);
  int t = threadIdx.x, lane = t % 32, w = t / 32, wm = w / 4 * 32, wn = w % 4 * 32, r0 = t / 4, c0 = t % 4, nk = K / 32;
  const half *gx = X + (size_t)(blockIdx.y * 128 + r0) * K + c0 * 8, *gw = W + (size_t)(blockIdx.x * 128 + r0) * K + c0 * 8;
  uint32_t so = base + r0 * 64 + ((c0 ^ (r0 / 2 % 4)) * 16);
  float acc[2][4][4] = {};
#pragma unroll
  for (int s = 0; s < 3; s++) { if (s < nk) { cp16(so + s * 16384, gx + s * 32); cp16(so + s * 16384 + 8192, gw + s * 32); } cp_commit(); }
#pragma unroll 2
  for (int kt = 0; kt < nk; kt++) {
    cp_wait<2>(); __syncthreads();
    int f = kt + 3;
    if (f < nk) { cp16(so + (f & 3) * 16384, gx + f * 32); cp16(so + (f & 3) * 16384 + 8192, gw + f * 32); }
    cp_commit();
    uint32_t pa = base + (kt & 3) * 16384, pb = pa + 8192;
#pragma unroll
    for (int ks = 0; ks < 2; ks++) {
      uint32_t a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++) { int r = wm + i * 16 + lane % 16, c = ks * 2 + lane / 16; ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], pa + r * 64 + ((c ^ (r / 2 % 4)) * 16)); }
#pragma unroll
      for (int j = 0; j < 2; j++) { int r = wn + j * 16 + lane % 8 + lane / 16 * 8, c = ks * 2 + lane / 8 % 2; ldsm_x4(b[2 * j][0], b[2 * j][1], b[2 * j + 1][0], b[2 * j + 1][1], pb + r * 64 + ((c ^ (r / 2 % 4)) * 16)); }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_f16(acc[i][j], a[i], b[j][0], b[j][1]);
    }
  }
  cp_wait<0>(); __syncthreads();
  half* st = (half*)shm; // [128][136]
#pragma unroll
  for (int j = 0; j < 4; j++) {
    int c = wn + j * 8 + lane % 4 * 2; float2 bv = __half22float2(*(const half2*)(bias + blockIdx.x * 128 + c));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float x = acc[i][j][2 * h] + bv.x, y = acc[i][j][2 * h + 1] + bv.y;
        x = 0.5f * x * (1.f + erff(x * 0.70710678f)); y = 0.5f * y * (1.f + erff(y * 0.70710678f));
        *(uint32_t*)(st + (wm + i * 16 + h * 8 + lane / 4) * 136 + c) = pack_h(x, y);
      }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; i++) { int r = t / 16 + i * 32, c = t % 16 * 8; *(uint4*)(Y + (size_t)(blockIdx.y * 128 + r) * N + blockIdx.x * 128 + c) = *(const uint4*)(st + r * 136 + c); }
}

// 17. 3x3 convolution, NHWC, padding 1, implicit GEMM 128 pixels x 64 channels x 32, weights [Ko][3][3][C], 8 warps of 32x32
KERNEL(256) v_conv3x3_nhwc(const half* X, const half* Wt, half* Y, int H, int W, int C, int Ko) {
  __shared__ __align__(16) half sa[2][128][40];
  __shared__ __align__(16) half sb[2][64][40];
  int t = threadIdx.x, lane = t % 32, w = t / 32, wm = w % 4 * 32, wn = w / 4 * 32, r = t / 4, ch = t % 4 * 8;
  int px[2], py[2]; size_t pi[2];
#pragma unroll
  for (int i = 0; i < 2; i++) { int p = blockIdx.y * 128 + r + i * 64; pi[i] = p; px[i] = p % W; py[i] = p / W % H; }
  const half* gw = Wt + (size_t)(blockIdx.x * 64 + r) * 9 * C + ch;
  int fr = -1, fs = -1, fc = 0; // next tile to fetch
  auto fetch = [&](int s) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int y = py[i] + fr, x = px[i] + fs; bool ok = (unsigned)y < (unsigned)H && (unsigned)x < (unsigned)W;
      const half* src = ok ? X + (pi[i] + fr * W + fs) * C + fc + ch : X;
      cp16z(s2u(&sa[s][r + i * 64][ch]), src, ok);
    }
    cp16(s2u(&sb[s][r][ch]), gw); gw += 32;
    cp_commit();
    fc += 32; if (fc == C) { fc = 0; if (++fs == 2) { fs = -1; ++fr; } }
  };
  float acc[2][4][4] = {};
  int n = 9 * C / 32;
  fetch(0);
  for (int k = 0; k < n; k++) {
    int s = k & 1;
    cp_wait<0>(); __syncthreads();
    if (k + 1 < n) fetch(s ^ 1);
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], s2u(&sa[s][wm + i * 16 + lane % 16][kk + lane / 16 * 8]));
        ldsm_x4(b[i][0], b[i][1], b[i][2], b[i][3], s2u(&sb[s][wn + i * 16 + lane % 16][kk + lane / 16 * 8]));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_f16(acc[i][j], a[i], b[j / 2][j % 2], b[j / 2][j % 2 + 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        *(uint32_t*)(Y + (size_t)(blockIdx.y * 128 + wm + i * 16 + h * 8 + lane / 4) * Ko + blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2) = pack_h(fmaxf(acc[i][j][2 * h], 0.f), fmaxf(acc[i][j][2 * h + 1], 0.f));
}

// 18. experts: rows of A by an index list, B [E][K][N] bf16, 64x128x32, 8 warps of 32x32, 3 stages
KERNEL(256) v_moe_gather(const bf16* A, const int* rows, const float* gate, const bf16* B, bf16* C, int N, int K, int cap) {
  DYN(sm_moe, 128);
  uint32_t base = s2u(sm_moe);
  int t = threadIdx.x, lane = t & 31, warp = t >> 5, wm = (warp >> 2) * 32, wn = (warp & 3) * 32, e = blockIdx.z;
  int slot0 = e * cap + blockIdx.y * 64, n0 = blockIdx.x * 128, nk = K / 32;
  int ar = t >> 2, ac = t & 3, br = t >> 4, bc = t & 15;
  const bf16* ga = A + (size_t)rows[slot0 + ar] * K + ac * 8;
  const bf16* gb = B + ((size_t)e * K + br) * N + n0 + bc * 8;
  auto load = [&](int kt) {
    uint32_t d = base + kt % 3 * 12288;
    cp16(d + ar * 64 + ((ac ^ (ar >> 1 & 3)) << 4), ga + kt * 32);
#pragma unroll
    for (int i = 0; i < 2; i++) { int r = br + 16 * i; cp16(d + 4096 + r * 256 + ((bc ^ (r & 7)) << 4), gb + (size_t)(kt * 32 + 16 * i) * N); }
  };
  float acc[2][4][4] = {};
  load(0); cp_commit(); if (nk > 1) load(1); cp_commit();
  for (int kt = 0; kt < nk; kt++) {
    cp_wait<1>(); __syncthreads();
    if (kt + 2 < nk) load(kt + 2);
    cp_commit();
    uint32_t pa = base + kt % 3 * 12288, pb = pa + 4096;
#pragma unroll
    for (int ks = 0; ks < 2; ks++) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        int r = wm + i * 16 + (lane & 15), c = ks * 2 + (lane >> 4); ldsm_x4(a[i][0], a[i][1], a[i][2], a[i][3], pa + r * 64 + ((c ^ (r >> 1 & 3)) << 4));
        int rb = ks * 16 + (lane & 15), cb = wn / 8 + i * 2 + (lane >> 4); ldsm_x4t(b[i][0], b[i][1], b[i][2], b[i][3], pb + rb * 256 + ((cb ^ (rb & 7)) << 4));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_bf16(acc[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int r = slot0 + wm + i * 16 + h * 8 + (lane >> 2); float g = gate[r];
#pragma unroll
      for (int j = 0; j < 4; j++) *(uint32_t*)(C + (size_t)r * N + n0 + wn + j * 8 + (lane & 3) * 2) = pack_b(acc[i][j][2 * h] * g, acc[i][j][2 * h + 1] * g);
    }
}

// 19. split-k sgemm, 64x64x8, 64 threads, 8x8 each, atomics
KERNEL(64) v_sgemm_splitk(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ __align__(16) float as[8][64];
  __shared__ __align__(16) float bs[8][64];
  int t = threadIdx.x, tx = t & 7, ty = t >> 3, kc = K / gridDim.z, kb = blockIdx.z * kc;
  const float* a = A + (size_t)(blockIdx.y * 64 + t) * K + kb;
  const float* b = B + (size_t)(kb + t / 16) * N + blockIdx.x * 64 + t % 16 * 4;
  float acc[8][8] = {};
  for (int k = 0; k < kc; k += 8, a += 8, b += (size_t)8 * N) {
    float4 x = *(const float4*)a, y = *(const float4*)(a + 4), z0 = *(const float4*)b, z1 = *(const float4*)(b + (size_t)4 * N);
    __syncthreads();
    as[0][t] = x.x; as[1][t] = x.y; as[2][t] = x.z; as[3][t] = x.w; as[4][t] = y.x; as[5][t] = y.y; as[6][t] = y.z; as[7][t] = y.w;
    *(float4*)&bs[t / 16][t % 16 * 4] = z0; *(float4*)&bs[t / 16 + 4][t % 16 * 4] = z1;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; q++) {
      float u[8], v[8];
#pragma unroll
      for (int i = 0; i < 8; i++) { u[i] = as[q][ty * 8 + i]; v[i] = bs[q][i * 8 + tx]; }
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] += u[i] * v[j];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) atomicAdd(C + (size_t)(blockIdx.y * 64 + ty * 8 + i) * N + blockIdx.x * 64 + j * 8 + tx, acc[i][j]);
}

// 20. gemv, a warp for a row; and four rows a warp with x in shared memory
__device__ __forceinline__ float dot8(uint4 a, uint4 b, float s) {
  const half2 *p = (const half2*)&a, *q = (const half2*)&b;
#pragma unroll
  for (int i = 0; i < 4; i++) { float2 u = __half22float2(p[i]), v = __half22float2(q[i]); s = fmaf(u.x, v.x, s); s = fmaf(u.y, v.y, s); }
  return s;
}
KERNEL(256) v_gemv_f16(const half* W, const half* x, half* y, int K) {
  int lane = threadIdx.x & 31, row = blockIdx.x * 8 + (threadIdx.x >> 5);
  const uint4 *w = (const uint4*)(W + (size_t)row * K), *v = (const uint4*)x;
  float s = 0;
#pragma unroll 4
  for (int i = lane; i < K / 8; i += 32) s = dot8(w[i], __ldg(v + i), s);
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) y[row] = __float2half(s);
}
KERNEL(128) v_gemv_rows4(const half* __restrict__ W, const half* __restrict__ x, const half* __restrict__ bias, half* __restrict__ y, int K) {
  DYN(xs, 16);
  uint4* xv = (uint4*)xs;
  for (int i = threadIdx.x; i < K / 8; i += 128) xv[i] = ((const uint4*)x)[i];
  __syncthreads();
  int lane = threadIdx.x % 32, row = blockIdx.x * 16 + threadIdx.x / 32 * 4;
  const uint4* w = (const uint4*)(W + (size_t)row * K); size_t ld = K / 8;
  float s[4] = {0, 0, 0, 0};
  for (int i = lane; i < K / 8; i += 32) {
    uint4 c = xv[i];
#pragma unroll
    for (int r = 0; r < 4; r++) s[r] = dot8(w[r * ld + i], c, s[r]);
  }
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int o = 16; o; o /= 2) s[r] += __shfl_down_sync(~0u, s[r], o);
  if (lane < 4) { float v = lane == 0 ? s[0] : lane == 1 ? s[1] : lane == 2 ? s[2] : s[3]; y[row + lane] = __float2half(v + __half2float(bias[row + lane])); }
}

// 21. flash attention forward d=64, [B][L][H][64] halves, Br 128, Bc 64, 4 warps of 32 rows, K and V double buffered
KERNEL(128) v_flash64_br128(const half* Q, const half* Kg, const half* V, half* O, int L, int H, float sl2) {
  DYN(fs, 128);
  uint32_t base = s2u(fs), sK = base + 16384, sV = sK + 16384;
  int t = threadIdx.x, lane = t & 31, warp = t >> 5; size_t ld = (size_t)H * 64, off = ((size_t)blockIdx.z * L * H + blockIdx.y) * 64;
  int r0 = t >> 3, c0 = t & 7;
  const half *qg = Q + off + (size_t)blockIdx.x * 128 * ld, *kg = Kg + off + (size_t)r0 * ld + c0 * 8, *vg = V + off + (size_t)r0 * ld + c0 * 8;
  const uint32_t so = r0 * 128 + ((c0 ^ (r0 & 7)) << 4);
#pragma unroll
  for (int i = 0; i < 8; i++) { int r = r0 + i * 16; cp16(base + r * 128 + ((c0 ^ (r & 7)) << 4), qg + (size_t)r * ld + c0 * 8); }
  auto kv = [&](int j) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t d = so + (j & 1) * 8192 + i * 2048;
      cp16(sK + d, kg); cp16(sV + d, vg); kg += 16 * ld; vg += 16 * ld;
    }
    cp_commit();
  };
  kv(0);
  float o[2][8][4] = {}, m[2][2], l[2][2]; uint32_t q[2][4][4];
#pragma unroll
  for (int i = 0; i < 4; i++) { m[i / 2][i % 2] = -INFINITY; l[i / 2][i % 2] = 0.f; }
  int n = L / 64;
#pragma unroll 1
  for (int j = 0; j < n; j++) {
    if (j + 1 < n) { kv(j + 1); cp_wait<1>(); } else cp_wait<0>();
    __syncthreads();
    if (j == 0) {
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int k = 0; k < 4; k++) { int r = warp * 32 + i * 16 + (lane & 15), c = k * 2 + (lane >> 4); ldsm_x4(q[i][k][0], q[i][k][1], q[i][k][2], q[i][k][3], base + r * 128 + ((c ^ (r & 7)) << 4)); }
    }
    float s[2][8][4] = {};
    uint32_t pk = sK + (j & 1) * 8192, pv = sV + (j & 1) * 8192;
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int b = 0; b < 4; b++) {
        uint32_t x0, x1, x2, x3; int r = b * 16 + (lane & 7) + ((lane >> 4) << 3), c = k * 2 + ((lane >> 3) & 1); ldsm_x4(x0, x1, x2, x3, pk + r * 128 + ((c ^ (r & 7)) << 4));
#pragma unroll
        for (int i = 0; i < 2; i++) { mma_f16(s[i][2 * b], q[i][k], x0, x1); mma_f16(s[i][2 * b + 1], q[i][k], x2, x3); }
      }
    uint32_t p[2][4][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float mx = m[i][h];
#pragma unroll
        for (int b = 0; b < 8; b++) mx = fmaxf(mx, fmaxf(s[i][b][2 * h], s[i][b][2 * h + 1]));
        mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 1)); mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, 2));
        float ms = mx * sl2, cor = ex2(m[i][h] * sl2 - ms), sum = 0.f; m[i][h] = mx;
#pragma unroll
        for (int b = 0; b < 8; b++) {
          s[i][b][2 * h] = ex2(fmaf(s[i][b][2 * h], sl2, -ms)); s[i][b][2 * h + 1] = ex2(fmaf(s[i][b][2 * h + 1], sl2, -ms));
          sum += s[i][b][2 * h] + s[i][b][2 * h + 1]; o[i][b][2 * h] *= cor; o[i][b][2 * h + 1] *= cor;
        }
        l[i][h] = l[i][h] * cor + sum;
      }
#pragma unroll
      for (int k = 0; k < 4; k++) { p[i][k][0] = pack_h(s[i][2 * k][0], s[i][2 * k][1]); p[i][k][1] = pack_h(s[i][2 * k][2], s[i][2 * k][3]); p[i][k][2] = pack_h(s[i][2 * k + 1][0], s[i][2 * k + 1][1]); p[i][k][3] = pack_h(s[i][2 * k + 1][2], s[i][2 * k + 1][3]); }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int b = 0; b < 4; b++) {
        uint32_t x0, x1, x2, x3; int r = k * 16 + (lane & 15), c = b * 2 + (lane >> 4); ldsm_x4t(x0, x1, x2, x3, pv + r * 128 + ((c ^ (r & 7)) << 4));
#pragma unroll
        for (int i = 0; i < 2; i++) { mma_f16(o[i][2 * b], p[i][k], x0, x1); mma_f16(o[i][2 * b + 1], p[i][k], x2, x3); }
      }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float z = l[i][h]; z += __shfl_xor_sync(0xffffffffu, z, 1); z += __shfl_xor_sync(0xffffffffu, z, 2); z = __fdividef(1.f, z);
      half* p = O + off + (size_t)(blockIdx.x * 128 + warp * 32 + i * 16 + h * 8 + (lane >> 2)) * ld + (lane & 3) * 2;
#pragma unroll
      for (int b = 0; b < 8; b++) *(uint32_t*)(p + b * 8) = pack_h(o[i][b][2 * h] * z, o[i][b][2 * h + 1] * z);
    }
}

// 22. flash attention d=128 causal, [H][L][128] bf16, Br 64, Bc 64, 4 warps; K and V single buffers, each fetched while the other is used
KERNEL(128) v_flash128_causal(const bf16* Q, const bf16* Kg, const bf16* V, bf16* O, float* lse, int L, float scale) {
  DYN(fa, 128);
  uint32_t sQ = s2u(fa), sK = sQ + 16384, sV = sK + 16384;
  int t = threadIdx.x, lane = t % 32, warp = t / 32, qb = gridDim.x - 1 - blockIdx.x; // long rows first
  size_t head = (size_t)blockIdx.y * L * 128;
  auto tile = [&](uint32_t d, const bf16* g) {
#pragma unroll
    for (int i = 0; i < 8; i++) { int e = t + i * 128, r = e / 16, c = e % 16; cp16(d + r * 256 + ((c ^ (r % 8)) * 16), g + r * 128 + c * 8); }
    cp_commit();
  };
  tile(sQ, Q + head + (size_t)qb * 64 * 128); tile(sK, Kg + head);
  float o[16][4] = {}, m0 = -1e30f, m1 = -1e30f, l0 = 0, l1 = 0;
  const float c2 = scale * 1.44269504f;
#pragma unroll 1
  for (int j = 0; j <= qb; j++) {
    cp_wait<0>(); __syncthreads();
    tile(sV, V + head + (size_t)j * 8192);
    float s[8][4] = {};
#pragma unroll
    for (int k = 0; k < 8; k++) {
      uint32_t a[4]; { int r = warp * 16 + lane % 16, c = k * 2 + lane / 16; ldsm_x4(a[0], a[1], a[2], a[3], sQ + r * 256 + ((c ^ (r % 8)) * 16)); }
#pragma unroll
      for (int b = 0; b < 4; b++) {
        uint32_t x[4]; int r = b * 16 + lane % 16, c = k * 2 + lane / 16; ldsm_x4(x[0], x[1], x[2], x[3], sK + r * 256 + ((c ^ (r % 8)) * 16));
        mma_bf16(s[2 * b], a, x[0], x[2]); mma_bf16(s[2 * b + 1], a, x[1], x[3]);
      }
    }
    if (j == qb) {
      int row = warp * 16 + lane / 4;
#pragma unroll
      for (int b = 0; b < 8; b++)
#pragma unroll
        for (int i = 0; i < 4; i++) if (b * 8 + lane % 4 * 2 + (i & 1) > row + (i >> 1) * 8) s[b][i] = -1e30f;
    }
    float n0 = m0, n1 = m1;
#pragma unroll
    for (int b = 0; b < 8; b++) { n0 = fmaxf(n0, fmaxf(s[b][0], s[b][1])); n1 = fmaxf(n1, fmaxf(s[b][2], s[b][3])); }
#pragma unroll
    for (int x = 1; x < 4; x *= 2) { n0 = fmaxf(n0, __shfl_xor_sync(~0u, n0, x)); n1 = fmaxf(n1, __shfl_xor_sync(~0u, n1, x)); }
    float f0 = exp2f((m0 - n0) * c2), f1 = exp2f((m1 - n1) * c2);
    m0 = n0; m1 = n1; l0 *= f0; l1 *= f1;
    uint32_t p[8][2];
#pragma unroll
    for (int b = 0; b < 8; b++) {
      float x = ex2((s[b][0] - n0) * c2), y = ex2((s[b][1] - n0) * c2), z = ex2((s[b][2] - n1) * c2), w = ex2((s[b][3] - n1) * c2);
      l0 += x + y; l1 += z + w; p[b][0] = pack_b(x, y); p[b][1] = pack_b(z, w);
    }
#pragma unroll
    for (int b = 0; b < 16; b++) { o[b][0] *= f0; o[b][1] *= f0; o[b][2] *= f1; o[b][3] *= f1; }
    cp_wait<0>(); __syncthreads();
    if (j < qb) tile(sK, Kg + head + (size_t)(j + 1) * 8192);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t a[4] = {p[2 * k][0], p[2 * k][1], p[2 * k + 1][0], p[2 * k + 1][1]};
#pragma unroll
      for (int b = 0; b < 8; b++) {
        uint32_t x[4]; int r = k * 16 + lane % 16, c = b * 2 + lane / 16; ldsm_x4t(x[0], x[1], x[2], x[3], sV + r * 256 + ((c ^ (r % 8)) * 16));
        mma_bf16(o[2 * b], a, x[0], x[1]); mma_bf16(o[2 * b + 1], a, x[2], x[3]);
      }
    }
  }
#pragma unroll
  for (int x = 1; x < 4; x *= 2) { l0 += __shfl_xor_sync(~0u, l0, x); l1 += __shfl_xor_sync(~0u, l1, x); }
  int row = qb * 64 + warp * 16 + lane / 4;
  float i0 = 1.f / l0, i1 = 1.f / l1;
#pragma unroll
  for (int b = 0; b < 16; b++) {
    bf16* p = O + head + (size_t)row * 128 + b * 8 + lane % 4 * 2;
    *(uint32_t*)p = pack_b(o[b][0] * i0, o[b][1] * i0); *(uint32_t*)(p + 1024) = pack_b(o[b][2] * i1, o[b][3] * i1);
  }
  if (lane % 4 == 0) { lse[(size_t)blockIdx.y * L + row] = m0 * scale + __logf(l0); lse[(size_t)blockIdx.y * L + row + 8] = m1 * scale + __logf(l1); }
}

// 23. decode, split KV: Q [B][KVH*G][128], cache [B][L][KVH][128], grid (splits, KVH, B), partial sums in fp32
template <int G> __device__ __forceinline__ void decode(const half* Q, const half* Kc, const half* Vc, float* Op, float* ML, int L, int chunk, float scale) {
  __shared__ __align__(16) float so[8][G][128];
  __shared__ float sm[8][G], sl[8][G];
  int t = threadIdx.x, hw = t / 16, ln = t % 16, split = blockIdx.x, kvh = blockIdx.y, b = blockIdx.z, KVH = gridDim.y;
  float q[G][8], acc[G][8], m[G], l[G];
#pragma unroll
  for (int g = 0; g < G; g++) {
    uint4 v = *(const uint4*)(Q + ((size_t)(b * KVH + kvh) * G + g) * 128 + ln * 8); const half2* h = (const half2*)&v;
#pragma unroll
    for (int i = 0; i < 4; i++) { float2 f = __half22float2(h[i]); q[g][2 * i] = f.x * scale; q[g][2 * i + 1] = f.y * scale; acc[g][2 * i] = acc[g][2 * i + 1] = 0; }
    m[g] = -1e30f; l[g] = 0;
  }
  size_t ld = (size_t)KVH * 128;
  const half *kp = Kc + ((size_t)b * L + (size_t)split * chunk + hw) * ld + kvh * 128 + ln * 8, *vp = Vc + ((size_t)b * L + (size_t)split * chunk + hw) * ld + kvh * 128 + ln * 8;
#pragma unroll 2
  for (int i = 0; i < chunk; i += 8, kp += 8 * ld, vp += 8 * ld) {
    uint4 kr = *(const uint4*)kp, vr = *(const uint4*)vp; float kf[8], vf[8];
#pragma unroll
    for (int x = 0; x < 4; x++) { float2 f = __half22float2(((const half2*)&kr)[x]), e = __half22float2(((const half2*)&vr)[x]); kf[2 * x] = f.x; kf[2 * x + 1] = f.y; vf[2 * x] = e.x; vf[2 * x + 1] = e.y; }
#pragma unroll
    for (int g = 0; g < G; g++) {
      float s = 0;
#pragma unroll
      for (int x = 0; x < 8; x++) s += q[g][x] * kf[x];
#pragma unroll
      for (int x = 8; x; x /= 2) s += __shfl_xor_sync(~0u, s, x);
      float n = fmaxf(m[g], s), c = __expf(m[g] - n), p = __expf(s - n);
      m[g] = n; l[g] = l[g] * c + p;
#pragma unroll
      for (int x = 0; x < 8; x++) acc[g][x] = acc[g][x] * c + p * vf[x];
    }
  }
#pragma unroll
  for (int g = 0; g < G; g++) {
    *(float4*)&so[hw][g][ln * 8] = make_float4(acc[g][0], acc[g][1], acc[g][2], acc[g][3]); *(float4*)&so[hw][g][ln * 8 + 4] = make_float4(acc[g][4], acc[g][5], acc[g][6], acc[g][7]);
    if (ln == 0) { sm[hw][g] = m[g]; sl[hw][g] = l[g]; }
  }
  __syncthreads();
  for (int g = 0; g < G; g++) {
    float M = sm[0][g], S = 0, o = 0;
#pragma unroll
    for (int i = 1; i < 8; i++) M = fmaxf(M, sm[i][g]);
#pragma unroll
    for (int i = 0; i < 8; i++) { float f = __expf(sm[i][g] - M); S += f * sl[i][g]; o += f * so[i][g][t]; }
    size_t d = ((size_t)(b * KVH + kvh) * G + g) * gridDim.x + split;
    Op[d * 128 + t] = o;
    if (t == 0) { ML[2 * d] = M; ML[2 * d + 1] = S; }
  }
}
KERNEL(128) v_decode_g4(const half* Q, const half* Kc, const half* Vc, float* Op, float* ML, int L, int chunk, float scale) { decode<4>(Q, Kc, Vc, Op, ML, L, chunk, scale); }
KERNEL(128) v_decode_g8(const half* Q, const half* Kc, const half* Vc, float* Op, float* ML, int L, int chunk, float scale) { decode<8>(Q, Kc, Vc, Op, ML, L, chunk, scale); }

// 24. naive attention in fp32: 16 queries a CTA, all scores in shared memory, [H][L][64]
KERNEL(256) v_attn_naive(int L, float scale, const float* Q, const float* K, const float* V, float* O) {
  DYN(ns, 16);
  float *sq = (float*)ns, *ss = sq + 1024; // ss [16][L]
  int t = threadIdx.x; size_t head = (size_t)blockIdx.y * L * 64;
  Q += head + (size_t)blockIdx.x * 1024; O += head + (size_t)blockIdx.x * 1024; K += head; V += head;
  for (int i = t; i < 1024; i += 256) sq[i] = Q[i] * scale;
  __syncthreads();
  for (int j = t; j < L; j += 256) {
    float s[16] = {}; const float4* kr = (const float4*)(K + (size_t)j * 64);
#pragma unroll 4
    for (int d = 0; d < 16; d++) {
      float4 k = kr[d];
#pragma unroll
      for (int i = 0; i < 16; i++) { float4 q = *(float4*)&sq[i * 64 + d * 4]; s[i] += q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w; }
    }
#pragma unroll
    for (int i = 0; i < 16; i++) ss[i * L + j] = s[i];
  }
  __syncthreads();
  float *row = ss + t / 16 * L, mx = -1e30f, sum = 0;
  for (int j = t % 16; j < L; j += 16) mx = fmaxf(mx, row[j]);
  for (int x = 8; x; x >>= 1) mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, x));
  for (int j = t % 16; j < L; j += 16) { float e = expf(row[j] - mx); row[j] = e; sum += e; }
  for (int x = 8; x; x >>= 1) sum += __shfl_xor_sync(~0u, sum, x);
  sum = 1 / sum;
  for (int j = t % 16; j < L; j += 16) row[j] *= sum;
  __syncthreads();
  int d = t % 64, g = t / 64; float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
#pragma unroll 4
  for (int j = 0; j < L; j++) { float v = V[(size_t)j * 64 + d]; a0 += ss[g * L + j] * v; a1 += ss[(g + 4) * L + j] * v; a2 += ss[(g + 8) * L + j] * v; a3 += ss[(g + 12) * L + j] * v; }
  O[g * 64 + d] = a0; O[(g + 4) * 64 + d] = a1; O[(g + 8) * 64 + d] = a2; O[(g + 12) * 64 + d] = a3;
}

// 25. batched 64x64x64, a product a CTA, 128 threads, 4x8 each
KERNEL(128) v_batched64(const float* A, const float* B, float* C, float alpha) {
  __shared__ __align__(16) float sa[64][68];
  __shared__ __align__(16) float sb[64][64];
  int t = threadIdx.x, tx = t & 7, ty = t >> 3; size_t off = (size_t)blockIdx.x * 4096;
  const float4 *a4 = (const float4*)(A + off), *b4 = (const float4*)(B + off);
#pragma unroll
  for (int i = 0; i < 8; i++) { int e = t + i * 128; *(float4*)&sa[e / 16][e % 16 * 4] = a4[e]; *(float4*)&sb[e / 16][e % 16 * 4] = b4[e]; }
  __syncthreads();
  float c[4][8] = {};
#pragma unroll 4
  for (int k = 0; k < 64; k += 4) {
    float a[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) *(float4*)a[i] = *(const float4*)&sa[i * 16 + ty][k];
#pragma unroll
    for (int q = 0; q < 4; q++) {
      float4 b0 = *(const float4*)&sb[k + q][tx * 4], b1 = *(const float4*)&sb[k + q][32 + tx * 4];
      float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) c[i][j] += a[i][q] * b[j];
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float* p = C + off + (i * 16 + ty) * 64 + tx * 4;
    *(float4*)p = make_float4(alpha * c[i][0], alpha * c[i][1], alpha * c[i][2], alpha * c[i][3]);
    *(float4*)(p + 32) = make_float4(alpha * c[i][4], alpha * c[i][5], alpha * c[i][6], alpha * c[i][7]);
  }
}

// 26. wgmma m64n128k16 bf16, NT, 128x128x64, two warpgroups, cp.async into 128-byte swizzle, 4 slots
__device__ __forceinline__ uint64_t desc128(uint32_t addr) { return (uint64_t)((addr & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62); }
KERNEL(256) v_wgmma128x128x64(const bf16* A, const bf16* B, bf16* C, int M, int N, int K) {
  DYN(wsm, 1024);
  uint32_t base = (s2u(wsm) + 1023) & ~1023u;
  int t = threadIdx.x, lane = t % 32, wg = t / 128, warp = t / 32 % 4, nk = K / 64, r0 = t / 8, c0 = t % 8;
  const bf16 *ga = A + (size_t)(blockIdx.y * 128 + r0) * K + c0 * 8, *gb = B + (size_t)(blockIdx.x * 128 + r0) * K + c0 * 8;
  uint32_t so = base + r0 * 128 + ((c0 ^ (r0 & 7)) << 4);
  auto load = [&](int kt) {
    uint32_t d = so + (kt & 3) * 32768;
#pragma unroll
    for (int i = 0; i < 4; i++) { cp16(d + i * 4096, ga + (size_t)i * 32 * K + kt * 64); cp16(d + 16384 + i * 4096, gb + (size_t)i * 32 * K + kt * 64); }
  };
  float d[64];
#pragma unroll
  for (int i = 0; i < 64; i++) d[i] = 0.f;
  load(0); cp_commit(); if (nk > 1) load(1); cp_commit();
  for (int kt = 0; kt < nk; kt++) {
    cp_wait<1>(); fence_async(); __syncthreads();
    uint32_t sA = base + (kt & 3) * 32768 + wg * 8192, sB = base + (kt & 3) * 32768 + 16384;
    wg_fence();
#pragma unroll
    for (int ks = 0; ks < 4; ks++) wgmma_n128(d, desc128(sA + ks * 32), desc128(sB + ks * 32));
    wg_commit();
    if (kt + 2 < nk) load(kt + 2);
    cp_commit();
    wg_wait<1>();
  }
  wg_wait<0>();
#pragma unroll
  for (int j = 0; j < 16; j++) {
    bf16* p = C + (size_t)(blockIdx.y * 128 + wg * 64 + warp * 16 + lane / 4) * N + blockIdx.x * 128 + j * 8 + lane % 4 * 2;
    *(uint32_t*)p = pack_b(d[4 * j], d[4 * j + 1]); *(uint32_t*)(p + (size_t)8 * N) = pack_b(d[4 * j + 2], d[4 * j + 3]);
  }
}

// 27. half2 FMA product, NN, 64x64x16, 128 threads, 4x8 each
KERNEL(128) v_hfma2_64(const half* A, const half* B, half* C, int M, int N, int K) {
  __shared__ __align__(16) half2 sa[16][68];
  __shared__ __align__(16) half sb[16][64];
  int t = threadIdx.x, tx = t % 8, ty = t / 8;
  const half *ga = A + (size_t)(blockIdx.y * 64 + t / 2) * K + t % 2 * 8, *gb = B + (size_t)ty * N + blockIdx.x * 64 + tx * 8;
  half2 acc[4][4];
#pragma unroll
  for (int i = 0; i < 16; i++) acc[i / 4][i % 4] = __float2half2_rn(0.f);
  for (int k = 0; k < K; k += 16) {
    uint4 a = *(const uint4*)ga, b = *(const uint4*)gb; ga += 16; gb += (size_t)16 * N;
    const half* h = (const half*)&a;
#pragma unroll
    for (int i = 0; i < 8; i++) sa[t % 2 * 8 + i][t / 2] = __half2half2(h[i]);
    *(uint4*)&sb[ty][tx * 8] = b;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; q++) {
      uint4 u = *(const uint4*)&sa[q][ty * 4], v = *(const uint4*)&sb[q][tx * 8]; const half2 *x = (const half2*)&u, *y = (const half2*)&v;
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] = __hfma2(x[i], y[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++) *(uint4*)(C + (size_t)(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 8) = *(uint4*)acc[i];
}

// 28. dp4a int8, NT, 64x64x64 bytes, 8x8 threads, 8x8 each
KERNEL(64) v_dp4a_64(const int* A, const int* B, int* C, int N, int K4) { // K4: words in a row
  __shared__ __align__(16) int sa[16][68];
  __shared__ __align__(16) int sb[16][68];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx;
  int acc[8][8] = {};
  for (int k = 0; k < K4; k += 16) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      int r = t / 4 + i * 16, c = t % 4 * 4;
      int4 a = *(const int4*)(A + (size_t)(blockIdx.y * 64 + r) * K4 + k + c), b = *(const int4*)(B + (size_t)(blockIdx.x * 64 + r) * K4 + k + c);
      sa[c][r] = a.x; sa[c + 1][r] = a.y; sa[c + 2][r] = a.z; sa[c + 3][r] = a.w; sb[c][r] = b.x; sb[c + 1][r] = b.y; sb[c + 2][r] = b.z; sb[c + 3][r] = b.w;
    }
    __syncthreads();
#pragma unroll 4
    for (int q = 0; q < 16; q++) {
      int4 a0 = *(int4*)&sa[q][ty * 4], a1 = *(int4*)&sa[q][32 + ty * 4], b0 = *(int4*)&sb[q][tx * 4], b1 = *(int4*)&sb[q][32 + tx * 4];
      int a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] = __dp4a(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    int* p = C + (size_t)(blockIdx.y * 64 + i / 4 * 32 + ty * 4 + i % 4) * N + blockIdx.x * 64 + tx * 4;
    *(int4*)p = make_int4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]); *(int4*)(p + 32) = make_int4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
  }
}
