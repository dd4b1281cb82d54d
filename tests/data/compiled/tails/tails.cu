// Products on FP32 lanes in grids of one to three waves: how long, and when each SM's CTAs end. nvcc -O3 -arch=sm_90.
// Prints a line for each launch: the shortest of all, and means over the CTAs of the first wave of each SM.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>
struct Rec {
  unsigned sm;
  unsigned long long begin, end;
  long long c0, c1;
};
__device__ inline unsigned long long gt() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__device__ inline unsigned smid() {
  unsigned s;
  asm volatile("mov.u32 %0, %smid;" : "=r"(s));
  return s;
}
template <int BM, int BN, int BK, int TM, int TN, int DB, int MB>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), MB)
    gemm(const float* A, const float* B, float* C, int M, int N, int K, Rec* rec) {
  constexpr int T = (BM / TM) * (BN / TN), LA = BM * BK / T, LB = BN * BK / T;
  __shared__ float As[DB + 1][BK][BM], Bs[DB + 1][BK][BN];
  const int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
  Rec r;
  if (t == 0) {
    r.sm = smid();
    r.begin = gt();
    r.c0 = clock64();
  }
  const float* a = A + (size_t)blockIdx.y * BM * K;
  const float* b = B + (size_t)blockIdx.x * BN;
  float acc[TM][TN] = {};
  float ra[LA], rb[LB];
  auto load = [&](int k0) {
#pragma unroll
    for (int i = 0; i < LA; ++i) {
      int e = t + i * T;
      ra[i] = a[(size_t)(e / BK) * K + k0 + e % BK];
    }
#pragma unroll
    for (int i = 0; i < LB; ++i) {
      int e = t + i * T;
      rb[i] = b[(size_t)(k0 + e / BN) * N + e % BN];
    }
  };
  auto store = [&](int s) {
#pragma unroll
    for (int i = 0; i < LA; ++i) {
      int e = t + i * T;
      As[s][e % BK][e / BK] = ra[i];
    }
#pragma unroll
    for (int i = 0; i < LB; ++i) {
      int e = t + i * T;
      Bs[s][e / BN][e % BN] = rb[i];
    }
  };
  auto compute = [&](int s) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float fa[TM], fb[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) fa[i] = As[s][k][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) fb[j] = Bs[s][k][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += fa[i] * fb[j];
    }
  };
  if (DB) {
    load(0);
    store(0);
    __syncthreads();
    int s = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
      if (k0 + BK < K) load(k0 + BK);
      compute(s);
      if (k0 + BK < K) store(s ^ 1);
      __syncthreads();
      s ^= 1;
    }
  } else {
    for (int k0 = 0; k0 < K; k0 += BK) {
      load(k0);
      store(0);
      __syncthreads();
      compute(0);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      C[((size_t)blockIdx.y * BM + ty * TM + i) * N + blockIdx.x * BN + tx * TN + j] = acc[i][j];
  __syncthreads();
  if (t == 0) {
    r.end = gt();
    r.c1 = clock64();
    rec[blockIdx.y * gridDim.x + blockIdx.x] = r;
  }
}
float *A, *B, *C;
Rec* rec;
int sms;
template <int BM, int BN, int BK, int TM, int TN, int DB, int MB>
void go(int M, int N, int K) {
  auto k = gemm<BM, BN, BK, TM, TN, DB, MB>;
  const int T = (BM / TM) * (BN / TN);
  int per = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, k, T, 0);
  dim3 g(N / BN, M / BM);
  int n = g.x * g.y;
  cudaEvent_t e0, e1;
  cudaEventCreate(&e0);
  cudaEventCreate(&e1);
  float best = 1e9;
  std::map<int, int> hist;
  double within = 0, across = 0, life = 0, shift = 0;
  int reps = 12;
  for (int r = 0; r < reps; ++r) {
    cudaEventRecord(e0);
    k<<<g, T>>>(A, B, C, M, N, K, rec);
    cudaEventRecord(e1);
    cudaDeviceSynchronize();
    float ms;
    cudaEventElapsedTime(&ms, e0, e1);
    best = std::min(best, ms);
    if (r < 2) continue;
    std::vector<Rec> v(rec, rec + n);
    std::vector<std::vector<Rec>> by(256);
    unsigned long long first = ~0ull;
    for (auto& x : v) first = std::min(first, x.begin);
    for (auto& x : v) by[x.sm].push_back(x);
    // first wave: the `per` earliest on each SM
    double mean = 0, mean2 = 0, w = 0, l = 0;
    int count = 0;
    std::map<int, int> h;
    for (auto& s : by) {
      if (s.empty()) continue;
      std::sort(s.begin(), s.end(), [](const Rec& a, const Rec& b) { return a.begin < b.begin; });
      int f = std::min<int>(per, s.size());
      double m = 0, lo = 1e18, hi = 0;
      for (int i = 0; i < f; ++i) {
        double e = (double)(s[i].end - first);
        m += e / f;
        lo = std::min(lo, e);
        hi = std::max(hi, e);
        l += (double)(s[i].c1 - s[i].c0) / f;
      }
      mean += m;
      mean2 += m * m;
      w += hi - lo;
      ++count;
      h[(int)s.size() - f]++;
    }
    mean /= count;
    across += std::sqrt(std::max(0.0, mean2 / count - mean * mean));
    within += w / count;
    life += l / count;
    shift += mean;
    hist = h;
  }
  int q = reps - 2;
  printf(
      "%dx%dx%d t%dx%d %s, %dx%dx%d, ctas %d, per_sm %d, waves %.2f, ms %.4f, life_cycles %.0f, end_ns %.0f, within_ns "
      "%.0f, across_sd_ns %.0f, later:",
      BM, BN, BK, TM, TN, DB ? "db" : "sb", M, N, K, n, per, (double)n / per / sms, best, life / q, shift / q,
      within / q, across / q);
  for (auto& x : hist) printf(" %d:%d", x.first, x.second);
  printf("\n");
}
template <int BM, int BN, int BK, int TM, int TN, int DB, int MB>
void all() {
  for (int K : {512, 1024, 2048, 4096}) go<BM, BN, BK, TM, TN, DB, MB>(2048, 2048, K);
  go<BM, BN, BK, TM, TN, DB, MB>(2560, 2560, 2560);
  go<BM, BN, BK, TM, TN, DB, MB>(3072, 2048, 1024);
  go<BM, BN, BK, TM, TN, DB, MB>(1536, 2048, 2048);
  go<BM, BN, BK, TM, TN, DB, MB>(2304, 2560, 2048);
  go<BM, BN, BK, TM, TN, DB, MB>(3072, 2048, 512);
  go<BM, BN, BK, TM, TN, DB, MB>(2560, 2048, 2048);
}
int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  sms = p.multiProcessorCount;
  printf("%s %d\n", p.name, sms);
  cudaMalloc(&A, 4096ull * 4096 * 4);
  cudaMalloc(&B, 4096ull * 4096 * 4);
  cudaMalloc(&C, 4096ull * 4096 * 4);
  cudaMemset(A, 0, 4096ull * 4096 * 4);
  cudaMemset(B, 0, 4096ull * 4096 * 4);
  cudaMallocManaged(&rec, sizeof(Rec) << 18);
  all<128, 64, 16, 8, 4, 0, 3>();
  all<128, 64, 16, 8, 4, 1, 2>();
  all<128, 128, 8, 8, 8, 0, 2>();
  all<128, 128, 8, 8, 8, 1, 2>();
  all<64, 64, 8, 8, 8, 0, 6>();
  all<64, 64, 8, 8, 8, 1, 6>();
  all<64, 64, 16, 4, 4, 0, 4>();
  all<64, 64, 16, 4, 4, 1, 4>();
  all<32, 32, 16, 4, 4, 0, 16>();
}
