// C = A B in FP32, row-major: tiles of BM x BN x BK, TM x TN results for each thread. The macros make a variant.
extern "C" __global__ void __launch_bounds__(BM / TM * (BN / TN)) gemm(int M, int N, int K, const float* A, const float* B, float* C) {
  constexpr int T = BM / TM * (BN / TN);
  __shared__ float as[BK][BM + 4], bs[BK][BN];
  int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
  A += (size_t)blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k = 0; k < K; k += BK) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK; i += T) as[i % BK][i / BK] = A[(size_t)(i / BK) * K + k + i % BK];
#pragma unroll
    for (int i = threadIdx.x; i < BK * BN; i += T) bs[i / BN][i % BN] = B[(size_t)(k + i / BN) * N + i % BN];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; p++)
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] += as[p][ty * TM + i] * bs[p][tx * TN + j];
    __syncthreads();
  }
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TN; j++) C[(size_t)(blockIdx.y * BM + ty * TM + i) * N + blockIdx.x * BN + tx * TN + j] = acc[i][j];
}
