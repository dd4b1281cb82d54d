// Kernels whose CTAs wait for each other (sums added in order, locks, barriers of the grid, the last CTA), and kernels
// that use what few others do. Measured on an H200; turns_sm90a.sass.gz is their listing.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
using namespace nvcuda;

// Sums of chunks, added in order: tile t, slice s.
__global__ void ordered_sum(const float* __restrict__ x, float* y, int* lock, int len, int slices) {
  int t = blockIdx.x, s = blockIdx.y;
  float v = 0;
  const float* p = x + ((size_t)t * slices + s) * len * blockDim.x + threadIdx.x;
  for (int i = 0; i < len; i++) v += p[(size_t)i * blockDim.x];
  if (threadIdx.x == 0)
    while (atomicAdd(&lock[t], 0) != s)
      ;
  __syncthreads();
  volatile float* o = y + t * blockDim.x + threadIdx.x;
  *o = s ? *o + v : v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&lock[t], s + 1 == slices ? 0 : s + 1);
}
__global__ void ordered_ld(const float* __restrict__ x, float* y, int* lock, int len, int slices) {
  int t = blockIdx.x, s = blockIdx.y;
  float v = 0;
  const float* p = x + ((size_t)t * slices + s) * len * blockDim.x + threadIdx.x;
  for (int i = 0; i < len; i++) v += p[(size_t)i * blockDim.x];
  if (threadIdx.x == 0) {
    int got;
    do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(got) : "l"(lock + t));
    while (got != s);
  }
  __syncthreads();
  float* o = y + t * blockDim.x + threadIdx.x;
  *o = s ? __ldcg(o) + v : v;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(lock + t), "r"(s + 1 == slices ? 0 : s + 1));
  }
}
__global__ void last_block(const float* __restrict__ x, float* part, float* out, unsigned* count, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int w = 128; w; w >>= 1) {
    if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) v += __ldcg(part + i);
    s[threadIdx.x] = v;
    __syncthreads();
    for (int w = 128; w; w >>= 1) {
      if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
      __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
  }
}
__global__ void jacobi(float* a, float* b, int n, int steps) {
  auto g = cg::this_grid();
  for (int k = 0; k < steps; k++) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < n - 1; i += gridDim.x * blockDim.x)
      b[i] = 0.3f * a[i - 1] + 0.4f * a[i] + 0.3f * a[i + 1];
    g.sync();
    float* t = a;
    a = b;
    b = t;
  }
}
__global__ void own_barrier(float* a, unsigned* count, int n, int steps, unsigned base) {
  for (int k = 0; k < steps; k++) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = a[i] * 0.99f + 1.f;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      unsigned old = atomicAdd(count, 1);
      unsigned goal = (old / gridDim.x + 1) * gridDim.x;
      while (*(volatile unsigned*)count < goal)
        ;
      __threadfence();
    }
    __syncthreads();
  }
}
__global__ void mutex_add(int* lock, float* acc, const float* __restrict__ x, int len) {
  float v = 0;
  for (int i = 0; i < len; i++) v += x[((size_t)blockIdx.x * len + i) * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0)
    while (atomicCAS(lock, 0, 1) != 0)
      ;
  __syncthreads();
  volatile float* o = acc + threadIdx.x;
  *o = *o + v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(lock, 0);
}

__global__ void f_sync_count(const int* x, int* out, int n) {
  int s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    s += __syncthreads_count(x[i] > 0);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
__global__ void f_sync_or(const int* x, int* out, int n) {
  int it = 0, i = threadIdx.x;
  do {
    i += blockDim.x;
    ++it;
  } while (__syncthreads_or(i < n + (int)threadIdx.x * 8));
  out[blockIdx.x * blockDim.x + threadIdx.x] = it + x[i & 1023];
}
__global__ void f_agg(const int* x, int* cnt, int* out, int n) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (x[i] & 1) {
      auto a = cg::coalesced_threads();
      int p;
      if (a.thread_rank() == 0) p = atomicAdd(cnt, a.size());
      p = a.shfl(p, 0) + a.thread_rank();
      out[p & (n - 1)] = x[i];
    }
    w.sync();
  }
}
__global__ void f_cgreduce(const float* x, float* o, int n) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  s = cg::reduce(w, s, cg::plus<float>());
  if (w.thread_rank() == 0) atomicAdd(o, s);
}
__global__ void f_redux(const int* x, int* o, int n) {
  int s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int m = __reduce_max_sync(~0u, x[i]);
    s += m;
  }
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void f_pipe(const float4* x, float4* y, int n) {
  __shared__ float4 s[4][256];
  int base = blockIdx.x * 256 * 16;
  for (int k = 0; k < 3; k++) {
    __pipeline_memcpy_async(&s[k][threadIdx.x], &x[base + k * 256 + threadIdx.x], 16);
    __pipeline_commit();
  }
  for (int k = 0; k < 16; k++) {
    if (k + 3 < 16) __pipeline_memcpy_async(&s[(k + 3) & 3][threadIdx.x], &x[base + (k + 3) * 256 + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    __syncthreads();
    float4 v = s[k & 3][255 - threadIdx.x];
    v.x = v.x * 2 + v.y;
    y[base + k * 256 + threadIdx.x] = v;
    __syncthreads();
  }
}
__global__ void f_wmma(const half* a, const half* b, float* c, int n) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, t = n / 16;
  int r = w / t, q = w % t;
  if (r >= t) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + r * 16 * n + k, n);
    wmma::load_matrix_sync(fb, b + q * 16 * n + k, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + r * 16 * n + q * 16, fc, n, wmma::mem_row_major);
}
__global__ void f_double(const double* x, double* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = sin(x[i]) * exp(x[i]) + sqrt(fabs(x[i]));
}
__global__ void f_div(const int* x, const int* d, int* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[i] / (d[i & 255] | 1) + x[i] % 7;
}
__global__ void f_i64(const long long* x, long long* y, long long m, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] / m + x[i] * m;
}
__global__ void f_local(const float* x, float* y, int n) {
  float a[64];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 64; i++) a[i] = x[(t * 64 + i) % n];
  float s = 0;
  for (int i = 0; i < 256; i++) {
    int j = (int)(fabsf(a[i & 63]) * 63) & 63;
    s += a[j];
    a[(i * 7) & 63] = s;
  }
  y[t] = s;
}
__global__ void f_switch(const int* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = y[i];
    switch (x[i] & 7) {
      case 0: v = sinf(v); break;
      case 1: v = v * v; break;
      case 2: v = expf(v); break;
      case 3: v = 1 / (v + 2); break;
      case 4: v = sqrtf(fabsf(v)); break;
      case 5: v = logf(fabsf(v) + 1); break;
      case 6: v = v + 3; break;
      default: v = tanhf(v);
    }
    y[i] = v;
  }
}
__device__ float fn_a(float v) { return v * 2 + 1; }
__device__ float fn_b(float v) { return v * v; }
typedef float (*fnp)(float);
__device__ fnp table_[2] = {fn_a, fn_b};
__global__ void f_fnptr(float* y, int n, int k) {
  fnp f = table_[k & 1];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f(y[i]);
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void f_recurse(int* y, int k) { y[blockIdx.x * blockDim.x + threadIdx.x] = fib(k); }
__global__ void f_bsearch(const int* k, const int* q, int* o, int n, int m) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
    int lo = 0, hi = n;
    int v = q[i];
    while (lo < hi) {
      int mid = (lo + hi) >> 1;
      if (k[mid] < v)
        lo = mid + 1;
      else
        hi = mid;
    }
    o[i] = lo;
  }
}
__global__ void f_csr(const int* off, const int* col, const float* val, const float* x, float* y, int rows) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
  if (w >= rows) return;
  float s = 0;
  for (int j = off[w] + l; j < off[w + 1]; j += 32) s += val[j] * x[col[j]];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (l == 0) y[w] = s;
}
__global__ void f_bitonic(int* x) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int k = 2; k <= 1024; k <<= 1)
    for (int j = k >> 1; j; j >>= 1) {
      int p = t ^ j;
      if (p > t) {
        int a = s[t], b = s[p];
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;
          s[p] = a;
        }
      }
      __syncthreads();
    }
  x[blockIdx.x * 1024 + t] = s[t];
}
__global__ void f_fft(float2* x) {
  __shared__ float2 s[1024];
  int t = threadIdx.x;
  float2 a = x[blockIdx.x * 1024 + t], b = x[blockIdx.x * 1024 + t + 512];
  for (int k = 512; k; k >>= 1) {
    float2 u = {a.x + b.x, a.y + b.y}, v = {a.x - b.x, a.y - b.y};
    float ang = -3.14159265f * (t & (k - 1)) / k, c, sn;
    __sincosf(ang, &sn, &c);
    v = {v.x * c - v.y * sn, v.x * sn + v.y * c};
    s[t] = u;
    s[t + 512] = v;
    __syncthreads();
    int i = (t & ~(k / 2 - 1)) * 2 | (t & (k / 2 - 1));
    a = s[i & 1023];
    b = s[(i + max(k / 2, 1)) & 1023];
    __syncthreads();
  }
  x[blockIdx.x * 1024 + t] = a;
  x[blockIdx.x * 1024 + t + 512] = b;
}
__global__ void f_nbody(const float4* p, float4* o, int n) {
  __shared__ float4 s[256];
  float4 me = p[blockIdx.x * 256 + threadIdx.x];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 256) {
    s[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; j++) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      r = r * r * r * s[j].w;
      ax += dx * r;
      ay += dy * r;
      az += dz * r;
    }
    __syncthreads();
  }
  o[blockIdx.x * 256 + threadIdx.x] = {ax, ay, az, 0};
}
__global__ void f_mandel(int* o, int w, int it) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float cr = x * 3.f / w - 2, ci = y * 3.f / w - 1.5f, a = 0, b = 0;
  int k = 0;
  while (k < it && a * a + b * b < 4) {
    float t = a * a - b * b + cr;
    b = 2 * a * b + ci;
    a = t;
    k++;
  }
  o[y * w + x] = k;
}
__global__ void f_barrier(const float* x, float* y, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float s[2][256];
  auto b = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  b.sync();
  for (int i = 0; i < 16; i++) {
    cuda::memcpy_async(b, s[i & 1], x + (blockIdx.x * 16 + i) * 256, sizeof(float) * 256, bar);
    bar.arrive_and_wait();
    y[(blockIdx.x * 16 + i) * 256 + threadIdx.x] = s[i & 1][threadIdx.x ^ 1] * 2;
    b.sync();
  }
}
__global__ void f_ticketq(const float* __restrict__ x, float* y, unsigned* next, unsigned* done, unsigned tiles,
                          int len) {
  __shared__ unsigned t;
  while (true) {
    if (threadIdx.x == 0) t = atomicAdd(next, 1);
    __syncthreads();
    unsigned u = t;
    if (u >= tiles) break;
    float v = 0;
    for (int i = 0; i < len; i++) v += x[((size_t)u * len + i) * blockDim.x + threadIdx.x];
    y[u * blockDim.x + threadIdx.x] = v;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) {
      *next = 0;
      *done = 0;
    }
  }
}
__global__ void f_chain(int* p, int n) {
  int v = 0;
  for (int i = 0; i < n; i++) v = atomicAdd(p + (v & 1), 2);
  p[4] = v;
}
__global__ void f_chainld(int* p, int n) {
  int v = 0;
  for (int i = 0; i < n; i++) asm volatile("ld.relaxed.gpu.global.b32 %0,[%1];" : "=r"(v) : "l"(p + (v & 1)));
  p[4] = v;
}
__device__ unsigned short loaded(const unsigned short* p) {
  unsigned short v;
  asm volatile("ld.global.u16 %0,[%1];" : "=h"(v) : "l"(p));
  return v;
}
__device__ unsigned loaded(const unsigned* p) {
  unsigned v;
  asm volatile("ld.global.u32 %0,[%1];" : "=r"(v) : "l"(p));
  return v;
}
// All lanes of a warp load the same, eight loads together.
template <class T, class Sum, class Add>
__device__ void sum_up(const T* A, Sum* C, int n, int st, Add add) {
  Sum s = 0;
  const T* p = A + (threadIdx.x / 32) * st;
  for (int i = 0; i < n; i += 8) {
#pragma unroll
    for (int u = 0; u < 8; u++) add(s, loaded(p + i + u));
  }
  C[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
struct AddFloat {
  __device__ void operator()(float& s, unsigned v) const { s += __uint_as_float(v << 16); }
};
struct Xor {
  __device__ void operator()(int& s, unsigned v) const { s ^= v; }
};
__global__ void f_u16(const unsigned short* A, float* C, int n, int st) { sum_up(A, C, n, st, AddFloat{}); }
__global__ void f_u16i(const unsigned short* A, int* C, int n, int st) { sum_up(A, C, n, st, Xor{}); }
__global__ void f_u32(const unsigned* A, float* C, int n, int st) { sum_up(A, C, n, st, AddFloat{}); }
__global__ void f_u32i(const unsigned* A, int* C, int n, int st) { sum_up(A, C, n, st, Xor{}); }
__global__ void f_naiveh(const half* A, const half* B, half* C, int N) {
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int k = 0; k < N; k++) s += __half2float(A[r * N + k]) * __half2float(B[k * N + c]);
  C[r * N + c] = __float2half(s);
}
__global__ void f_naivef(const float* A, const float* B, float* C, int N) {
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int k = 0; k < N; k++) s += A[r * N + k] * B[k * N + c];
  C[r * N + c] = s;
}
