// A CTA for each row of n numbers. Passes over it, as softmax and norms do.
#include <cuda_fp16.h>
__device__ float block(float v, float* part) { for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v; __syncthreads(); float s = 0; for (int i = 0; i < blockDim.x / 32; i++) s += part[i]; __syncthreads(); return s; }
extern "C" __global__ void k_reads(int n, const float* a, float* b, int passes) { // passes of reads, one result
  __shared__ float part[32]; const float* r = a + (size_t)blockIdx.x * n; float t = 0;
  for (int p = 0; p < passes; p++) { float s = 0; for (int i = threadIdx.x; i < n; i += blockDim.x) s += r[i]; t += block(s, part); }
  if (!threadIdx.x) b[blockIdx.x] = t;
}
extern "C" __global__ void k_softmax(int n, const float* a, float* b, int) { // in, in, in to out
  __shared__ float part[32]; const float* r = a + (size_t)blockIdx.x * n; float s = 0, t = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += r[i]; s = block(s, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) t += __expf(r[i] - s); t = 1 / block(t, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) b[(size_t)blockIdx.x * n + i] = __expf(r[i] - s) * t;
}
extern "C" __global__ void k_llmc(int n, const float* a, float* b, int) { // in, in to out, out, out to out
  __shared__ float part[32]; const float* r = a + (size_t)blockIdx.x * n; float* o = b + (size_t)blockIdx.x * n; float s = 0, t = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += r[i]; s = block(s, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = __expf(r[i] - s);
  for (int i = threadIdx.x; i < n; i += blockDim.x) t += o[i]; t = 1 / block(t, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = o[i] * t;
}
extern "C" __global__ void k_norm(int n, const float* a, float* b, int) { // in, in to out, out to out
  __shared__ float part[32]; const float* r = a + (size_t)blockIdx.x * n; float* o = b + (size_t)blockIdx.x * n; float s = 0, t = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += r[i]; s = block(s, part) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float v = r[i] - s; o[i] = v; t += v * v; } t = rsqrtf(block(t, part) / n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] *= t;
}
extern "C" __global__ void k_half(int n, const __half2* a, __half2* b, int) { // softmax of halves, two at a time
  __shared__ float part[32]; const __half2* r = a + (size_t)blockIdx.x * n; float s = 0, t = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float2 v = __half22float2(r[i]); s += v.x + v.y; } s = block(s, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float2 v = __half22float2(r[i]); t += __expf(v.x - s) + __expf(v.y - s); } t = 1 / block(t, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float2 v = __half22float2(r[i]); b[(size_t)blockIdx.x * n + i] = __floats2half2_rn(__expf(v.x - s) * t, __expf(v.y - s) * t); }
}
extern "C" __global__ void k_wide(int n, const float4* a, float4* b, int) { // a norm, four at a time
  __shared__ float part[32]; const float4* r = a + (size_t)blockIdx.x * n; float s = 0, t = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float4 v = r[i]; s += v.x + v.y + v.z + v.w; } s = block(s, part) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float4 v = r[i]; t += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; } t = rsqrtf(block(t, part) / n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float4 v = r[i]; v.x = (v.x - s) * t; v.y = (v.y - s) * t; v.z = (v.z - s) * t; v.w = (v.w - s) * t; b[(size_t)blockIdx.x * n + i] = v; }
}
