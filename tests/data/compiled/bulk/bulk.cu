// Kernels of bulk tensor copies, warpgroup products and clusters (tests/data/compiled/README.md).
#include "warpgroups.cuh"
template <int N> DI void put(float (&d)[N / 2], __nv_bfloat16* C, int row, int col, int ld, int t) {
  int r = row + (t / 32 % 4) * 16 + t % 32 / 4, c = col + t % 4 * 2;
#pragma unroll
  for (int i = 0; i < N / 8; i++) {
    *(uint32_t*)(C + (size_t)r * ld + c + i * 8) = pack(d[4 * i], d[4 * i + 1]);
    *(uint32_t*)(C + (size_t)(r + 8) * ld + c + i * 8) = pack(d[4 * i + 2], d[4 * i + 3]);
  }
}
extern __shared__ __align__(1024) uint8_t dyn[];
DI uint32_t base1024() { return (s2u(dyn) + 1023) & ~1023u; }

// One warpgroup copies and multiplies. KEEP products in flight.
template <int BM, int BN, int S, int KEEP, bool F8> DI void one(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* B, __nv_bfloat16* C) {
  constexpr int AB = BM * 128, BB = BN * 128, ST = AB + BB;
  __shared__ __align__(8) uint64_t full[S];
  uint32_t sm = base1024(); int t = threadIdx.x, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, steps = K / 64;
  if (t == 0) { for (int i = 0; i < S; i++) mb_init(s2u(&full[i]), 1); fence_async(); }
  __syncthreads();
  auto load = [&](int k) { int s = k % S; uint32_t b = s2u(&full[s]), p = sm + s * ST; mb_expect(b, ST); tma2(p, A, k * 64, m0, b); tma2(p + AB, B, k * 64, n0, b); };
  if (t == 0) for (int k = 0; k < S - KEEP && k < steps; k++) load(k);
  float d[BM / 64][BN / 2];
  for (int i = 0; i < BM / 64; i++) for (int j = 0; j < BN / 2; j++) d[i][j] = 0;
  for (int k = 0; k < steps; k++) {
    int s = k % S; mb_wait(s2u(&full[s]), k / S & 1); uint32_t p = sm + s * ST;
    wg_arrive();
#pragma unroll
    for (int kk = 0; kk < 4; kk++)
#pragma unroll
      for (int i = 0; i < BM / 64; i++) mm<BN, F8>(d[i], desc(p + i * 8192) + kk * 2, desc(p + AB) + kk * 2, 1);
    wg_commit(); wg_wait<KEEP>(); __syncthreads();
    int nx = k + S - KEEP; if (t == 0 && nx < steps) load(nx);
  }
  wg_wait<0>();
  for (int i = 0; i < BM / 64; i++) put<BN>(d[i], C, m0 + i * 64, n0, N, t);
}
// A producer warpgroup, G consumer warpgroups of BM/G rows. CL CTAs of a cluster along M share B. TS: through shared memory and a bulk store.
template <int BM, int BN, int S, int G, int CL, bool F8, bool TS, int PER> DI void ws(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* B, __nv_bfloat16* C, const CUtensorMap* CT) {
  constexpr int AB = BM * 128, BB = BN * 128, ST = AB + BB, R = BM / G;
  __shared__ __align__(8) uint64_t full[S], empty[S];
  uint32_t sm = base1024(); int t = threadIdx.x, w = t / 128, steps = K / 64; int rank = CL > 1 ? cl_rank() : 0;
  if (t == 0) { for (int i = 0; i < S; i++) { mb_init(s2u(&full[i]), 1); mb_init(s2u(&empty[i]), G * CL); } fence_async(); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  if (CL > 1) cl_sync(); else __syncthreads();
  int tm = M / BM, tn = N / BN, tiles = tm * tn, stride = PER ? gridDim.x : 1 << 30;
  auto place = [&](int id, int& m0, int& n0) { if (PER) { m0 = id % tm * BM; n0 = id / tm * BN; } else { m0 = blockIdx.x * BM; n0 = blockIdx.y * BN; } };
  int first = PER ? blockIdx.x : 0; if (!PER) tiles = 1;
  if (w == 0) {
    reg_dec<40>();
    if (t == 0) {
      int it = 0;
      for (int id = first; id < tiles; id += stride) {
        int m0, n0; place(id, m0, n0);
        for (int k = 0; k < steps; k++, it++) {
          int s = it % S; mb_wait(s2u(&empty[s]), (it / S & 1) ^ 1);
          uint32_t b = s2u(&full[s]), p = sm + s * ST; mb_expect(b, ST);
          tma2(p, A, k * 64, m0, b);
          if (CL > 1) tma2m(p + AB + rank * (BB / CL), B, k * 64, n0 + rank * (BN / CL), b, (1 << CL) - 1); else tma2(p + AB, B, k * 64, n0, b);
        }
      }
    }
  } else {
    reg_inc<232>();
    int it = 0;
    for (int id = first; id < tiles; id += stride) {
      int m0, n0; place(id, m0, n0);
      float d[R / 64][BN / 2];
      for (int i = 0; i < R / 64; i++) for (int j = 0; j < BN / 2; j++) d[i][j] = 0;
      for (int k = 0; k < steps; k++, it++) {
        int s = it % S; mb_wait(s2u(&full[s]), it / S & 1); uint32_t p = sm + s * ST;
        wg_arrive();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
          for (int i = 0; i < R / 64; i++) mm<BN, F8>(d[i], desc(p + ((w - 1) * R + i * 64) * 128) + kk * 2, desc(p + AB) + kk * 2, 1);
        wg_commit();
        if (k > 0) wg_wait<1>();
        if (k > 0 && t % 128 < CL) { uint32_t e = s2u(&empty[(it - 1) % S]); if (CL > 1) mb_arrive_at(e, t % 128); else mb_arrive(e); }
      }
      wg_wait<0>();
      if (t % 128 < CL) { uint32_t e = s2u(&empty[(it - 1) % S]); if (CL > 1) mb_arrive_at(e, t % 128); else mb_arrive(e); }
      if (TS) {
        uint32_t o = sm + S * ST + (w - 1) * R * BN * 2; int q = t % 128;
        asm volatile("bar.sync %0, 128;" ::"r"(w) : "memory");
        for (int i = 0; i < R / 64; i++)
          for (int j = 0; j < BN / 64; j++)
#pragma unroll
            for (int c = 0; c < 8; c += 2) {
              int row = i * 64 + q / 32 * 16 + q % 16, col = c + q % 32 / 16;
              uint32_t at = o + j * R * 128 + row * 128 + ((col ^ (row & 7)) * 16); float* f = d[i] + (j * 8 + c) * 4;
              asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(pack(f[0], f[1])), "r"(pack(f[2], f[3])), "r"(pack(f[4], f[5])), "r"(pack(f[6], f[7])) : "memory");
            }
        fence_async(); asm volatile("bar.sync %0, 128;" ::"r"(w) : "memory");
        if (q == 0) { for (int j = 0; j < BN / 64; j++) tma_st(CT, n0 + j * 64, m0 + (w - 1) * R, o + j * R * 128); st_commit(); st_wait_read<0>(); }
        if (PER) asm volatile("bar.sync %0, 128;" ::"r"(w) : "memory");
      } else {
        for (int i = 0; i < R / 64; i++) put<BN>(d[i], C, m0 + (w - 1) * R + i * 64, n0, N, t);
      }
    }
  }
  if (CL > 1) cl_sync();
}
// Attention: a warpgroup for 64 rows of Q, G of them share keys and values. H x L x D.
template <int D, int KB, int S, int G> DI void fa(int L, const CUtensorMap* Q, const CUtensorMap* Kt, const CUtensorMap* V, __nv_bfloat16* O) {
  constexpr int QB = 64 * D * 2 * G, KVB = KB * D * 2; constexpr int P = D / 64;
  __shared__ __align__(8) uint64_t full[S], empty[S], qf;
  uint32_t sm = base1024(), kv = sm + QB; int t = threadIdx.x, w = t / 128, steps = L / KB, row0 = blockIdx.y * L;
  if (t == 0) { mb_init(s2u(&qf), 1); for (int i = 0; i < S; i++) { mb_init(s2u(&full[i]), 1); mb_init(s2u(&empty[i]), G); } fence_async(); }
  __syncthreads();
  if (w == 0) {
    reg_dec<24>();
    if (t == 0) {
      mb_expect(s2u(&qf), QB);
      for (int g = 0; g < G; g++) for (int p = 0; p < P; p++) tma2(sm + g * 64 * D * 2 + p * 8192, Q, p * 64, row0 + (blockIdx.x * G + g) * 64, s2u(&qf));
      for (int k = 0; k < steps; k++) {
        int s = k % S; mb_wait(s2u(&empty[s]), (k / S & 1) ^ 1); uint32_t b = s2u(&full[s]), p0 = kv + s * 2 * KVB; mb_expect(b, 2 * KVB);
        for (int p = 0; p < P; p++) tma2(p0 + p * KB * 128, Kt, p * 64, row0 + k * KB, b);
        for (int p = 0; p < P; p++) tma2(p0 + KVB + p * KB * 128, V, p * 64, row0 + k * KB, b);
      }
    }
    return;
  }
  reg_inc<240>();
  float o[D / 2], mx[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
  for (int i = 0; i < D / 2; i++) o[i] = 0;
  mb_wait(s2u(&qf), 0); uint32_t q = sm + (w - 1) * 64 * D * 2;
  for (int k = 0; k < steps; k++) {
    int st = k % S; mb_wait(s2u(&full[st]), k / S & 1); uint32_t p0 = kv + st * 2 * KVB;
    float s[KB / 2];
    wg_arrive();
#pragma unroll
    for (int kk = 0; kk < D / 16; kk++) mm<KB, false>(s, desc(q + kk / 4 * 8192) + kk % 4 * 2, desc(p0 + kk / 4 * KB * 128) + kk % 4 * 2, kk > 0);
    wg_commit(); wg_wait<0>();
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float m = mx[h];
#pragma unroll
      for (int i = 0; i < KB / 8; i++) m = fmaxf(m, fmaxf(s[4 * i + 2 * h], s[4 * i + 2 * h + 1]));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 1)); m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
      float c = exp2f((mx[h] - m) * 0.18f); mx[h] = m; float a = 0;
#pragma unroll
      for (int i = 0; i < KB / 8; i++) for (int j = 0; j < 2; j++) { float& x = s[4 * i + 2 * h + j]; x = exp2f(x * 0.18f - m * 0.18f); a += x; }
      sum[h] = sum[h] * c + a;
#pragma unroll
      for (int i = 0; i < D / 8; i++) { o[4 * i + 2 * h] *= c; o[4 * i + 2 * h + 1] *= c; }
    }
    uint32_t a[KB / 16][4];
#pragma unroll
    for (int i = 0; i < KB / 16; i++) for (int j = 0; j < 4; j++) a[i][j] = pack(s[8 * i + 2 * j], s[8 * i + 2 * j + 1]);
    wg_arrive();
#pragma unroll
    for (int i = 0; i < KB / 16; i++) { uint64_t dv = desc(p0 + KVB) + i * 128; if constexpr (D == 64) mr64(o, a[i], dv, 1); else mr128(o, a[i], dv | ((uint64_t)(KB * 8) << 16), 1); }
    wg_commit(); wg_wait<0>();
    if (t % 128 == 0) mb_arrive(s2u(&empty[st]));
  }
#pragma unroll
  for (int h = 0; h < 2; h++) { float x = sum[h]; x += __shfl_xor_sync(~0u, x, 1); x += __shfl_xor_sync(~0u, x, 2); x = 1 / x;
    for (int i = 0; i < D / 8; i++) { o[4 * i + 2 * h] *= x; o[4 * i + 2 * h + 1] *= x; } }
  put<D>(o, O, row0 + (blockIdx.x * G + w - 1) * 64, 0, D, t);
}
// Bulk copies of BYTES through a ring of S.
template <int BYTES, int S> DI void bulk(const char* a, char* b, long long n) {
  __shared__ __align__(8) uint64_t full[S]; uint32_t sm = base1024(); int chunks = n / BYTES;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; i++) mb_init(s2u(&full[i]), 1); fence_async();
    int it = 0, id = blockIdx.x;
    auto ld = [&](int i, int c) { uint32_t f = s2u(&full[i % S]); mb_expect(f, BYTES); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sm + i % S * BYTES), "l"(a + (size_t)c * BYTES), "r"(BYTES), "r"(f) : "memory"); };
    for (int i = 0; i < S - 1; i++) if (id + i * gridDim.x < chunks) ld(i, id + i * gridDim.x);
    for (int c = id; c < chunks; c += gridDim.x, it++) {
      mb_wait(s2u(&full[it % S]), it / S & 1);
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(b + (size_t)c * BYTES), "r"(sm + it % S * BYTES), "r"(BYTES) : "memory"); st_commit();
      int nx = c + (S - 1) * gridDim.x; if (nx < chunks) { st_wait_read<0>(); ld(it + S - 1, nx); }
    }
    st_wait<0>();
  }
}
#define GEMM(name, T, B, ...) extern "C" __global__ void __launch_bounds__(T) name(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* Bm, __nv_bfloat16* C) { B<__VA_ARGS__>(M, N, K, A, Bm, C); }
#define GEMW(name, T, ...) extern "C" __global__ void __launch_bounds__(T, 1) name(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* Bm, __nv_bfloat16* C) { ws<__VA_ARGS__>(M, N, K, A, Bm, C, nullptr); }
#define GEMT(name, T, ...) extern "C" __global__ void __launch_bounds__(T, 1) name(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* Bm, const CUtensorMap* C) { ws<__VA_ARGS__>(M, N, K, A, Bm, nullptr, C); }
#define GEMC(name, T, ...) extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(T, 1) name(int M, int N, int K, const CUtensorMap* A, const CUtensorMap* Bm, __nv_bfloat16* C) { ws<__VA_ARGS__>(M, N, K, A, Bm, C, nullptr); }
GEMM(z_one64x128s4, 128, one, 64, 128, 4, 0, false)
GEMM(z_one64x256s3, 128, one, 64, 256, 3, 1, false)
GEMM(z_one128x128s4, 128, one, 128, 128, 4, 1, false)
GEMM(z_one64x64s6, 128, one, 64, 64, 6, 0, false)
GEMM(z_one64x128f8, 128, one, 64, 128, 4, 1, true)
GEMW(z_ws128x128s4, 384, 128, 128, 4, 2, 1, false, false, 0)
GEMW(z_ws128x256s3, 384, 128, 256, 3, 2, 1, false, false, 0)
GEMW(z_ws64x128s5, 256, 64, 128, 5, 1, 1, false, false, 0)
GEMT(z_wt128x128s4, 384, 128, 128, 4, 2, 1, false, true, 0)
GEMT(z_wp128x256s3, 384, 128, 256, 3, 2, 1, false, true, 1)
GEMW(z_ws128x128f8, 384, 128, 128, 4, 2, 1, true, false, 0)
GEMC(z_cl128x128s4, 384, 128, 128, 4, 2, 2, false, false, 0)
GEMC(z_cl128x256s3, 384, 128, 256, 3, 2, 2, false, false, 0)
GEMC(z_cl64x128s6, 256, 64, 128, 6, 1, 2, false, false, 0)
extern "C" __global__ void __launch_bounds__(256, 1) z_fa64(int L, const CUtensorMap* Q, const CUtensorMap* K, const CUtensorMap* V, __nv_bfloat16* O) { fa<64, 128, 2, 1>(L, Q, K, V, O); }
extern "C" __global__ void __launch_bounds__(384, 1) z_fa128(int L, const CUtensorMap* Q, const CUtensorMap* K, const CUtensorMap* V, __nv_bfloat16* O) { fa<128, 128, 2, 2>(L, Q, K, V, O); }
extern "C" __global__ void z_bulk8k(const char* a, char* b, long long n) { bulk<8192, 4>(a, b, n); }
extern "C" __global__ void z_bulk2k(const char* a, char* b, long long n) { bulk<2048, 8>(a, b, n); }
// Sum of a buffer: CTAs of a cluster add what the first of them then writes.
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) z_clsum(const float4* a, float* out, int n) {
  __shared__ float part[8], all; float s = 0; int t = threadIdx.x, r = cl_rank();
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) { float4 v = a[i]; s += v.x + v.y + v.z + v.w; }
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (t % 32 == 0) part[t / 32] = s; __syncthreads();
  if (t < 8) { s = part[t]; for (int o = 4; o > 0; o /= 2) s += __shfl_xor_sync(0xff, s, o); if (t == 0) all = s; }
  cl_sync();
  if (r == 0 && t < 4) { uint32_t p; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(p) : "r"(s2u(&all)), "r"(t)); float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(p)); atomicAdd(out + blockIdx.x / 4 % 64, v); }
  cl_sync();
}
// Each CTA reads the shared memory of its neighbour, round by round.
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) z_ring(const float* a, float* out, int rounds) {
  __shared__ float x[2][2048]; int t = threadIdx.x, r = cl_rank();
  for (int i = t; i < 2048; i += 256) x[0][i] = a[(blockIdx.x * 2048 + i) & 0xfffff];
  cl_sync(); float s = 0;
  for (int k = 0; k < rounds; k++) {
    uint32_t p; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(p) : "r"(s2u(&x[k & 1][0])), "r"((r + 1) % 4));
#pragma unroll
    for (int i = 0; i < 8; i++) { float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(p + (t + i * 256) * 4)); s += v; x[(k + 1) & 1][t + i * 256] = v * 0.5f; }
    cl_sync();
  }
  out[blockIdx.x * 256 + t] = s;
}
