// Normalises rows of n floats (n a multiple of 4, at most 4096): a block for each row, which is read once.
extern "C" __global__ void __launch_bounds__(256) layernorm(int n, const float4* a, float4* b) {
  __shared__ float part[2][8];
  const float4* row = a + (size_t)blockIdx.x * (n / 4);
  float4 v[4];
  float s = 0, q = 0;
  int m = n / 4;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int c = threadIdx.x + i * 256;
    v[i] = c < m ? row[c] : make_float4(0, 0, 0, 0);
    s += v[i].x + v[i].y + v[i].z + v[i].w;
    q += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
  }
  for (int d = 16; d; d /= 2) {
    s += __shfl_xor_sync(~0u, s, d);
    q += __shfl_xor_sync(~0u, q, d);
  }
  if (threadIdx.x % 32 == 0) {
    part[0][threadIdx.x / 32] = s;
    part[1][threadIdx.x / 32] = q;
  }
  __syncthreads();
  s = q = 0;
  for (int i = 0; i < 8; i++) {
    s += part[0][i];
    q += part[1][i];
  }
  s /= n;
  q = rsqrtf(q / n - s * s + 1e-5f);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int c = threadIdx.x + i * 256;
    if (c < m)
      b[(size_t)blockIdx.x * m + c] =
          make_float4((v[i].x - s) * q, (v[i].y - s) * q, (v[i].z - s) * q, (v[i].w - s) * q);
  }
}
