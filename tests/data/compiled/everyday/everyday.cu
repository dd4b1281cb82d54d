// CUDA kernels of everyday work: frameworks, device-wide algorithms, serving, Hopper units, numerical codes.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;
typedef unsigned char u8;
typedef unsigned long long u64;

// ------------------------------------------------------------------ helpers
__device__ __forceinline__ float wsum(float v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}
__device__ __forceinline__ float wmaxf(float v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    return v;
}
__device__ __forceinline__ uint4 philox10(uint4 c, unsigned k0, unsigned k1)
{
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}
__device__ __forceinline__ unsigned hash32(unsigned x)
{
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    return x;
}
__device__ __forceinline__ unsigned smem_u32(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void cpa16(unsigned dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src));
}
__device__ __forceinline__ void cpa_commit() { asm volatile("cp.async.commit_group;"); }
template <int N> __device__ __forceinline__ void cpa_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
__device__ __forceinline__ void ldsm4(unsigned &a, unsigned &b, unsigned &c, unsigned &d, unsigned addr)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(addr));
}
__device__ __forceinline__ void ldsm4t(unsigned &a, unsigned &b, unsigned &c, unsigned &d, unsigned addr)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(addr));
}
__device__ __forceinline__ void mma16816(float *c, const unsigned *a, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned packh(float a, float b)
{
    __half2 h = __floats2half2_rn(a, b);
    return *(unsigned *)&h;
}

__device__ __forceinline__ void mma16816bf(float *c, const unsigned *a, unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned packbf(float a, float b)
{
    __nv_bfloat162 h = __floats2bfloat162_rn(a, b);
    return *(unsigned *)&h;
}
__device__ __forceinline__ float2 unbf(unsigned v)
{
    return make_float2(__uint_as_float(v << 16), __uint_as_float(v & 0xffff0000u));
}
// sum over a block of up to 1024 threads, known to all
__device__ __forceinline__ float bsum(float v, float *sh)
{
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = (blockDim.x + 31) >> 5;
    v = wsum(v);
    __syncthreads();
    if (lane == 0) sh[wid] = v;
    __syncthreads();
    v = lane < nw ? sh[lane] : 0.f;
    return wsum(v);
}
__device__ __forceinline__ float2 bsum2(float2 v, float2 *sh)
{
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = (blockDim.x + 31) >> 5;
    v.x = wsum(v.x);
    v.y = wsum(v.y);
    __syncthreads();
    if (lane == 0) sh[wid] = v;
    __syncthreads();
    v = lane < nw ? sh[lane] : make_float2(0, 0);
    v.x = wsum(v.x);
    v.y = wsum(v.y);
    return v;
}

// ------------------------------------------------------------------ a framework's operators

// out = a * b + c, a contiguous, b and c broadcast through strides; the offsets by magic numbers
__device__ __forceinline__ unsigned fdiv(unsigned n, unsigned m, int s) { return (__umulhi(n, m) + n) >> s; }
extern "C" __global__ void __launch_bounds__(128) bcast_fma_4d(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ out, int n,
                                                               int d0, unsigned m0, int s0, int d1, unsigned m1, int s1, int d2, unsigned m2, int s2,
                                                               int b0, int b1, int b2, int b3, int c0, int c1, int c2, int c3)
{
    int base = blockIdx.x * 512 + threadIdx.x;
    float va[4], vb[4], vc[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = base + j * 128;
        if (i >= n) break;
        unsigned q0 = fdiv(i, m0, s0), r0 = i - q0 * d0;
        unsigned q1 = fdiv(q0, m1, s1), r1 = q0 - q1 * d1;
        unsigned q2 = fdiv(q1, m2, s2), r2 = q1 - q2 * d2;
        va[j] = a[i];
        vb[j] = b[r0 * b0 + r1 * b1 + r2 * b2 + q2 * b3];
        vc[j] = c[r0 * c0 + r1 * c1 + r2 * c2 + q2 * c3];
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = base + j * 128;
        if (i < n) out[i] = va[j] * vb[j] + vc[j];
    }
}

extern "C" __global__ void __launch_bounds__(256) gelu_tanh_bwd_bf16(const uint4 *__restrict__ dy, const uint4 *__restrict__ x, uint4 *__restrict__ dx, int n8)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n8) return;
    uint4 g = dy[i], v = x[i], o;
    unsigned *pg = &g.x, *pv = &v.x, *po = &o.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 gg = unbf(pg[k]), xx = unbf(pv[k]), r;
        float *xi = &xx.x, *gi = &gg.x, *ri = &r.x;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            float t = xi[j], t2 = t * t;
            float in = 0.7978845608f * (t + 0.044715f * t2 * t);
            float th = tanhf(in);
            float left = 0.5f * (1.f + th), dth = 1.f - th * th;
            ri[j] = gi[j] * (left + 0.5f * t * dth * 0.7978845608f * (1.f + 3.f * 0.044715f * t2));
        }
        po[k] = packbf(r.x, r.y);
    }
    dx[i] = o;
}

// Welford over a row, then the row once more
extern "C" __global__ void __launch_bounds__(256) layernorm_fwd_bf16(const uint4 *__restrict__ x, const uint4 *__restrict__ w, const uint4 *__restrict__ b, uint4 *__restrict__ y,
                                                                     float *__restrict__ mean, float *__restrict__ rstd, int d8, float eps)
{
    __shared__ float sm[8], s2[8], sc[8];
    const uint4 *row = x + (size_t)blockIdx.x * d8;
    float m = 0, M2 = 0, cnt = 0;
    for (int i = threadIdx.x; i < d8; i += 256) {
        uint4 v = row[i];
        unsigned *pv = &v.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = unbf(pv[k]);
            cnt += 1.f;
            float dl = f.x - m;
            m += __fdividef(dl, cnt);
            M2 += dl * (f.x - m);
            cnt += 1.f;
            dl = f.y - m;
            m += __fdividef(dl, cnt);
            M2 += dl * (f.y - m);
        }
    }
    auto merge = [&](float mb, float Mb, float cb) {
        float c = cnt + cb, dl = mb - m;
        float r = c > 0 ? __fdividef(cb, c) : 0.f;
        m += dl * r;
        M2 += Mb + dl * dl * cnt * r;
        cnt = c;
    };
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        float mb = __shfl_xor_sync(~0u, m, o), Mb = __shfl_xor_sync(~0u, M2, o), cb = __shfl_xor_sync(~0u, cnt, o);
        merge(mb, Mb, cb);
    }
    int wid = threadIdx.x >> 5;
    if ((threadIdx.x & 31) == 0) { sm[wid] = m; s2[wid] = M2; sc[wid] = cnt; }
    __syncthreads();
    m = sm[0]; M2 = s2[0]; cnt = sc[0];
#pragma unroll
    for (int k = 1; k < 8; k++) merge(sm[k], s2[k], sc[k]);
    float rs = rsqrtf(M2 / (d8 * 8) + eps);
    if (threadIdx.x == 0) { mean[blockIdx.x] = m; rstd[blockIdx.x] = rs; }
    uint4 *out = y + (size_t)blockIdx.x * d8;
    for (int i = threadIdx.x; i < d8; i += 256) {
        uint4 v = row[i], g = w[i], h = b[i], o;
        unsigned *pv = &v.x, *pg = &g.x, *ph = &h.x, *po = &o.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = unbf(pv[k]), gg = unbf(pg[k]), hh = unbf(ph[k]);
            po[k] = packbf((f.x - m) * rs * gg.x + hh.x, (f.y - m) * rs * gg.y + hh.y);
        }
        out[i] = o;
    }
}

extern "C" __global__ void layernorm_bwd_dx(const float4 *__restrict__ dy, const float4 *__restrict__ x, const float4 *__restrict__ w, const float *__restrict__ mean, const float *__restrict__ rstd,
                                            float4 *__restrict__ dx, int d4)
{
    __shared__ float2 sh[32];
    size_t off = (size_t)blockIdx.x * d4;
    float mu = mean[blockIdx.x], rs = rstd[blockIdx.x];
    float2 s = make_float2(0, 0);
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        float4 g = dy[off + i], v = x[off + i], ww = w[i];
        float a = g.x * ww.x, b = g.y * ww.y, c = g.z * ww.z, d = g.w * ww.w;
        s.x += a + b + c + d;
        s.y += a * (v.x - mu) + b * (v.y - mu) + c * (v.z - mu) + d * (v.w - mu);
    }
    s.y *= rs;
    s = bsum2(s, sh);
    float inv = 1.f / (4 * d4), k1 = s.x * inv, k2 = s.y * inv * rs;
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        float4 g = dy[off + i], v = x[off + i], ww = w[i];
        dx[off + i] = make_float4(rs * (g.x * ww.x - k1 - (v.x - mu) * k2), rs * (g.y * ww.y - k1 - (v.y - mu) * k2),
                                  rs * (g.z * ww.z - k1 - (v.z - mu) * k2), rs * (g.w * ww.w - k1 - (v.w - mu) * k2));
    }
}

// GroupNorm and SiLU over NCHW halves, a block a group
extern "C" __global__ void __launch_bounds__(512) groupnorm_silu_nchw(const uint4 *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, uint4 *__restrict__ y, int groups, int cpg, int hw8, float eps)
{
    __shared__ float2 sh[32];
    int g = blockIdx.x % groups, n8 = cpg * hw8;
    size_t off = (size_t)blockIdx.x * n8;
    float2 s = make_float2(0, 0);
    for (int i = threadIdx.x; i < n8; i += 512) {
        uint4 v = x[off + i];
        __half2 *h = (__half2 *)&v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(h[k]);
            s.x += f.x + f.y;
            s.y += f.x * f.x + f.y * f.y;
        }
    }
    s = bsum2(s, sh);
    float inv = 1.f / ((float)n8 * 8), mu = s.x * inv, rs = rsqrtf(s.y * inv - mu * mu + eps);
    for (int i = threadIdx.x; i < n8; i += 512) {
        int c = g * cpg + i / hw8;
        float a = rs * w[c], bb = b[c] - mu * a;
        uint4 v = x[off + i];
        __half2 *h = (__half2 *)&v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(h[k]);
            f.x = f.x * a + bb;
            f.y = f.y * a + bb;
            f.x = __fdividef(f.x, 1.f + __expf(-f.x));
            f.y = __fdividef(f.y, 1.f + __expf(-f.y));
            h[k] = __float22half2_rn(f);
        }
        y[off + i] = v;
    }
}

// BatchNorm backward: the two sums of a channel, a block a channel, then dx in the same block
extern "C" __global__ void __launch_bounds__(512) bn_bwd_nchw(const float *__restrict__ dy, const float *__restrict__ x, const float *__restrict__ mean, const float *__restrict__ invstd, const float *__restrict__ w,
                                                              float *__restrict__ dx, float *__restrict__ dw, float *__restrict__ db, int n, int c, int hw)
{
    __shared__ float2 sh[32];
    int ch = blockIdx.x, tx = threadIdx.x & 31, ty = threadIdx.x >> 5;
    float mu = mean[ch], is = invstd[ch];
    float2 s = make_float2(0, 0);
    for (int b = ty; b < n; b += 16) {
        size_t off = ((size_t)b * c + ch) * hw;
        for (int i = tx; i < hw; i += 32) {
            float g = dy[off + i];
            s.x += g;
            s.y += g * (x[off + i] - mu);
        }
    }
    s = bsum2(s, sh);
    if (threadIdx.x == 0) { db[ch] = s.x; dw[ch] = s.y * is; }
    float norm = 1.f / ((float)n * hw), gm = s.x * norm, pj = s.y * norm * is * is, gs = is * w[ch];
    for (int b = ty; b < n; b += 16) {
        size_t off = ((size_t)b * c + ch) * hw;
        for (int i = tx; i < hw; i += 32) dx[off + i] = (dy[off + i] - (x[off + i] - mu) * pj - gm) * gs;
    }
}

// a warp takes rows of 1024, two at a time, as the persistent softmax does
extern "C" __global__ void __launch_bounds__(128) softmax_bwd_warp1024(const __nv_bfloat162 *__restrict__ dy, const __nv_bfloat162 *__restrict__ y, __nv_bfloat162 *__restrict__ dx, int rows)
{
    int row0 = (blockIdx.x * 4 + (threadIdx.x >> 5)) * 2, lane = threadIdx.x & 31;
    if (row0 >= rows) return;
    int cnt = min(rows - row0, 2);
    float2 g[2][16], o[2][16];
    float s[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (r >= cnt) break;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            size_t i = (size_t)(row0 + r) * 512 + k * 32 + lane;
            o[r][k] = __bfloat1622float2(y[i]);
            float2 d = __bfloat1622float2(dy[i]);
            g[r][k] = make_float2(d.x * o[r][k].x, d.y * o[r][k].y);
            s[r] += g[r][k].x + g[r][k].y;
        }
    }
#pragma unroll
    for (int of = 16; of; of >>= 1)
#pragma unroll
        for (int r = 0; r < 2; r++) s[r] += __shfl_xor_sync(~0u, s[r], of);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (r >= cnt) break;
#pragma unroll
        for (int k = 0; k < 16; k++)
            dx[(size_t)(row0 + r) * 512 + k * 32 + lane] = __floats2bfloat162_rn(g[r][k].x - o[r][k].x * s[r], g[r][k].y - o[r][k].y * s[r]);
    }
}

__device__ __forceinline__ void online(float &m, float &s, float m2, float s2)
{
    float M = fmaxf(m, m2);
    s = s * __expf(m - M) + s2 * __expf(m2 - M);
    m = M;
}
__device__ __forceinline__ void online_block(float &m, float &s, float *shm, float *shs)
{
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
#pragma unroll
    for (int o = 16; o; o >>= 1) online(m, s, __shfl_xor_sync(~0u, m, o), __shfl_xor_sync(~0u, s, o));
    if (lane == 0) { shm[wid] = m; shs[wid] = s; }
    __syncthreads();
    m = lane < nw ? shm[lane] : -1e30f;
    s = lane < nw ? shs[lane] : 0.f;
#pragma unroll
    for (int o = 16; o; o >>= 1) online(m, s, __shfl_xor_sync(~0u, m, o), __shfl_xor_sync(~0u, s, o));
}
extern "C" __global__ void softmax_online_f32(const float4 *__restrict__ x, float4 *__restrict__ y, int d4)
{
    __shared__ float shm[32], shs[32];
    const float4 *row = x + (size_t)blockIdx.x * d4;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        float4 v = row[i];
        float vm = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
        if (vm > m) { s *= __expf(m - vm); m = vm; }
        s += __expf(v.x - m) + __expf(v.y - m) + __expf(v.z - m) + __expf(v.w - m);
    }
    online_block(m, s, shm, shs);
    float inv = 1.f / s;
    float4 *out = y + (size_t)blockIdx.x * d4;
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        float4 v = row[i];
        out[i] = make_float4(__expf(v.x - m) * inv, __expf(v.y - m) * inv, __expf(v.z - m) * inv, __expf(v.w - m) * inv);
    }
}

// loss and gradient in place of the logits, as fused cross entropies do
extern "C" __global__ void __launch_bounds__(1024) xent_fused_bf16(const uint4 *__restrict__ logits, const int *__restrict__ target, uint4 *__restrict__ grad, float *__restrict__ loss, int v8, float scale)
{
    __shared__ float shm[32], shs[32];
    const uint4 *row = logits + (size_t)blockIdx.x * v8;
    int tgt = target[blockIdx.x];
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < v8; i += 1024) {
        uint4 v = row[i];
        unsigned *pv = &v.x;
        float f[8], vm = m;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 t = unbf(pv[k]);
            f[2 * k] = t.x;
            f[2 * k + 1] = t.y;
            vm = fmaxf(vm, fmaxf(t.x, t.y));
        }
        s *= __expf(m - vm);
        m = vm;
#pragma unroll
        for (int k = 0; k < 8; k++) s += __expf(f[k] - m);
    }
    online_block(m, s, shm, shs);
    float lse = m + __logf(s);
    if (threadIdx.x == 0) loss[blockIdx.x] = lse - __bfloat162float(((const __nv_bfloat16 *)row)[tgt]);
    uint4 *out = grad + (size_t)blockIdx.x * v8;
    for (int i = threadIdx.x; i < v8; i += 1024) {
        uint4 v = row[i];
        unsigned *pv = &v.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 t = unbf(pv[k]);
            int j = i * 8 + 2 * k;
            float a = __expf(t.x - lse) - (j == tgt), b = __expf(t.y - lse) - (j + 1 == tgt);
            pv[k] = packbf(a * scale, b * scale);
        }
        out[i] = v;
    }
}

extern "C" __global__ void embedding_bwd_atomic(const long long *__restrict__ ids, const uint2 *__restrict__ grad, float *__restrict__ wg, int tokens, int d4, long long pad)
{
    int t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t >= tokens) return;
    long long id = ids[t];
    if (id == pad) return;
    for (int i = threadIdx.x; i < d4; i += blockDim.x) {
        uint2 g = grad[(size_t)t * d4 + i];
        float2 a = unbf(g.x), b = unbf(g.y);
        float *p = wg + (size_t)id * d4 * 4 + i * 4;
        atomicAdd(p, a.x);
        atomicAdd(p + 1, a.y);
        atomicAdd(p + 2, b.x);
        atomicAdd(p + 3, b.y);
    }
}

extern "C" __global__ void index_select_rows16(const uint4 *__restrict__ src, const long long *__restrict__ idx, uint4 *__restrict__ out, int n, int d16)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int r = i / d16, c = i - r * d16;
        out[i] = src[(size_t)idx[r] * d16 + c];
    }
}

// dim 0 of a matrix: an index an element
extern "C" __global__ void scatter_add_dim0_i64(const float *__restrict__ src, const long long *__restrict__ idx, float *__restrict__ out, int n, int d)
{
    int base = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = base + j * 256;
        if (i >= n) break;
        int c = i % d;
        atomicAdd(out + (size_t)idx[i] * d + c, src[i]);
    }
}

extern "C" __global__ void gather_dim1_i64(const __half *__restrict__ src, const long long *__restrict__ idx, __half *__restrict__ out, int n, int cols_src, int cols_out)
{
    int base = blockIdx.x * 1024 + threadIdx.x;
    long long id[4];
#pragma unroll
    for (int j = 0; j < 4; j++) id[j] = base + j * 256 < n ? idx[base + j * 256] : 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = base + j * 256;
        if (i >= n) break;
        out[i] = src[(size_t)(i / cols_out) * cols_src + id[j]];
    }
}

// three inputs go behind each other along channels; blockIdx.y is the input
extern "C" __global__ void cat3_dim1_f4(const float4 *__restrict__ a, const float4 *__restrict__ b, const float4 *__restrict__ c, float4 *__restrict__ out, int n, int ca, int cb, int cc, int hw4)
{
    const float4 *in = blockIdx.y == 0 ? a : blockIdx.y == 1 ? b : c;
    int ch = blockIdx.y == 0 ? ca : blockIdx.y == 1 ? cb : cc;
    int first = blockIdx.y == 0 ? 0 : blockIdx.y == 1 ? ca : ca + cb;
    int per = ch * hw4, total = n * per, all = (ca + cb + cc) * hw4;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        int im = i / per, r = i - im * per;
        out[(size_t)im * all + first * hw4 + r] = in[i];
    }
}

extern "C" __global__ void permute_bshd_bhsd(const uint4 *__restrict__ in, uint4 *__restrict__ out, int n, int s, int h, int d8)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int d = i % d8, t = i / d8;
    int q = t % s;
    t /= s;
    int hh = t % h, b = t / h;
    out[i] = in[(((size_t)b * s + q) * h + hh) * d8 + d];
}

// NCHW to NHWC through a 64 x 64 tile of halves
extern "C" __global__ void __launch_bounds__(256) nchw_to_nhwc_half(const __half *__restrict__ in, __half *__restrict__ out, int c, int hw)
{
    __shared__ __half tile[64][66];
    int p0 = blockIdx.x * 64, c0 = blockIdx.y * 64, tx = threadIdx.x & 31, ty = threadIdx.x >> 5;
    const __half *src = in + (size_t)blockIdx.z * c * hw;
    __half *dst = out + (size_t)blockIdx.z * c * hw;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int cc = ty + 8 * k;
        if (c0 + cc < c && p0 + 2 * tx < hw) *(__half2 *)&tile[cc][2 * tx] = *(const __half2 *)(src + (size_t)(c0 + cc) * hw + p0 + 2 * tx);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int p = ty + 8 * k;
        if (p0 + p < hw && c0 + 2 * tx < c) *(__half2 *)(dst + (size_t)(p0 + p) * c + c0 + 2 * tx) = __halves2half2(tile[2 * tx][p], tile[2 * tx + 1][p]);
    }
}

extern "C" __global__ void upsample_bilinear_fwd(const float *__restrict__ in, float *__restrict__ out, int planes, int ih, int iw, int oh, int ow, float rh, float rw)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float fy = fmaxf(rh * (y + 0.5f) - 0.5f, 0.f), fx = fmaxf(rw * (x + 0.5f) - 0.5f, 0.f);
    int y0 = (int)fy, x0 = (int)fx, dy = y0 < ih - 1, dx = x0 < iw - 1;
    float ly = fy - y0, lx = fx - x0, hy = 1.f - ly, hx = 1.f - lx;
    for (int p = blockIdx.z; p < planes; p += gridDim.z) {
        const float *s = in + ((size_t)p * ih + y0) * iw + x0;
        float v = hy * (hx * s[0] + lx * s[dx]) + ly * (hx * s[dy * iw] + lx * s[dy * iw + dx]);
        out[((size_t)p * oh + y) * ow + x] = v;
    }
}
extern "C" __global__ void upsample_bilinear_bwd(const float *__restrict__ go, float *__restrict__ gi, int n, int ih, int iw, int oh, int ow, float rh, float rw)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int t = i, x = t % ow;
        t /= ow;
        int y = t % oh, p = t / oh;
        float fy = fmaxf(rh * (y + 0.5f) - 0.5f, 0.f), fx = fmaxf(rw * (x + 0.5f) - 0.5f, 0.f);
        int y0 = (int)fy, x0 = (int)fx, dy = y0 < ih - 1, dx = x0 < iw - 1;
        float ly = fy - y0, lx = fx - x0, hy = 1.f - ly, hx = 1.f - lx, g = go[i];
        float *s = gi + ((size_t)p * ih + y0) * iw + x0;
        atomicAdd(s, hy * hx * g);
        atomicAdd(s + dx, hy * lx * g);
        atomicAdd(s + dy * iw, ly * hx * g);
        atomicAdd(s + dy * iw + dx, ly * lx * g);
    }
}

extern "C" __global__ void adaptive_avgpool2d(const float *__restrict__ in, float *__restrict__ out, int ih, int iw, int oh, int ow)
{
    const float *src = in + (size_t)blockIdx.x * ih * iw;
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < oh; y += gridDim.y * blockDim.y) {
        int ys = y * ih / oh, ye = ((y + 1) * ih + oh - 1) / oh;
        for (int x = threadIdx.x; x < ow; x += blockDim.x) {
            int xs = x * iw / ow, xe = ((x + 1) * iw + ow - 1) / ow;
            float s = 0;
            for (int j = ys; j < ye; j++)
                for (int i = xs; i < xe; i++) s += src[j * iw + i];
            out[((size_t)blockIdx.x * oh + y) * ow + x] = s / (ye - ys) / (xe - xs);
        }
    }
}

extern "C" __global__ void maxpool3s2_indices(const float *__restrict__ in, float *__restrict__ out, long long *__restrict__ ind, int n, int ih, int iw, int oh, int ow)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % ow, t = i / ow, y = t % oh, p = t / oh;
    int hs = y * 2 - 1, ws = x * 2 - 1, he = min(hs + 3, ih), we = min(ws + 3, iw);
    hs = max(hs, 0);
    ws = max(ws, 0);
    const float *s = in + (size_t)p * ih * iw;
    float best = -3.4e38f;
    int at = hs * iw + ws;
    for (int h = hs; h < he; h++)
        for (int w = ws; w < we; w++) {
            float v = s[h * iw + w];
            if (v > best) { best = v; at = h * iw + w; }
        }
    out[i] = best;
    ind[i] = at;
}

// an output bin a thread, 2 x 2 samples a bin
extern "C" __global__ void __launch_bounds__(256) roi_align_fwd(const float *__restrict__ feat, const float4 *__restrict__ rois, const int *__restrict__ batch, float *__restrict__ out, int n, int c, int h, int w, int pool, float spatial)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int t = i, px = t % pool;
        t /= pool;
        int py = t % pool;
        t /= pool;
        int ch = t % c, r = t / c;
        float4 b = rois[r];
        float x1 = (b.x * 0.5f + 0.5f) * spatial * 0.6f - 0.5f, y1 = (b.y * 0.5f + 0.5f) * spatial * 0.6f - 0.5f;
        float bw = ((b.z * 0.5f + 0.5f) * spatial * 0.4f + 1.f) / pool, bh = ((b.w * 0.5f + 0.5f) * spatial * 0.4f + 1.f) / pool;
        const float *f = feat + ((size_t)batch[r] * c + ch) * h * w;
        float acc = 0;
#pragma unroll
        for (int iy = 0; iy < 2; iy++) {
            float y = y1 + py * bh + (iy + 0.5f) * bh * 0.5f;
#pragma unroll
            for (int ix = 0; ix < 2; ix++) {
                float x = x1 + px * bw + (ix + 0.5f) * bw * 0.5f;
                if (y < -1.f || y > h || x < -1.f || x > w) continue;
                float yy = fmaxf(y, 0.f), xx = fmaxf(x, 0.f);
                int yl = min((int)yy, h - 1), xl = min((int)xx, w - 1), yh = min(yl + 1, h - 1), xh = min(xl + 1, w - 1);
                float ly = yy - yl, lx = xx - xl, hy = 1.f - ly, hx = 1.f - lx;
                acc += hy * hx * f[yl * w + xl] + hy * lx * f[yl * w + xh] + ly * hx * f[yh * w + xl] + ly * lx * f[yh * w + xh];
            }
        }
        out[i] = acc * 0.25f;
    }
}

extern "C" __global__ void __launch_bounds__(256) cumsum_rows_f32(const float4 *__restrict__ x, float4 *__restrict__ y, int d4)
{
    __shared__ float ws[8];
    const float4 *row = x + (size_t)blockIdx.x * d4;
    float4 *out = y + (size_t)blockIdx.x * d4;
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    float carry = 0;
    for (int base = 0; base < d4; base += 256) {
        int i = base + threadIdx.x;
        float4 v = i < d4 ? row[i] : make_float4(0, 0, 0, 0);
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        float t = v.w;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            float u = __shfl_up_sync(~0u, t, o);
            if (lane >= o) t += u;
        }
        if (lane == 31) ws[wid] = t;
        __syncthreads();
        float pre = carry + t - v.w, tot = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float u = ws[k];
            if (k < wid) pre += u;
            tot += u;
        }
        carry += tot;
        if (i < d4) out[i] = make_float4(v.x + pre, v.y + pre, v.z + pre, v.w + pre);
        __syncthreads();
    }
}

// the k largest of a row: four digits of eight bits pick the k-th, then they are gathered
extern "C" __global__ void __launch_bounds__(512) topk_radix_row(const float *__restrict__ x, float *__restrict__ vals, int *__restrict__ inds, int d, int k)
{
    __shared__ int hist[256], pick, left, cnt_gt, cnt_eq;
    const float *row = x + (size_t)blockIdx.x * d;
    auto key = [](float f) { unsigned u = __float_as_uint(f); return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u); };
    unsigned want = 0, mask = 0;
    int need = k;
    for (int shift = 24; shift >= 0; shift -= 8) {
        if (threadIdx.x < 256) hist[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < d; i += 512) {
            unsigned u = key(row[i]);
            if ((u & mask) == want) atomicAdd(&hist[(u >> shift) & 255], 1);
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            int s[8], t = 0;
#pragma unroll
            for (int j = 0; j < 8; j++) { s[j] = hist[255 - (threadIdx.x * 8 + j)]; t += s[j]; }
            int inc = t;
#pragma unroll
            for (int o = 1; o < 32; o <<= 1) {
                int u = __shfl_up_sync(~0u, inc, o);
                if ((int)threadIdx.x >= o) inc += u;
            }
            int before = inc - t;
            if (before < need && inc >= need) {
                int j = 0;
                while (before + s[j] < need) before += s[j++];
                pick = 255 - (threadIdx.x * 8 + j);
                left = need - before;
            }
        }
        __syncthreads();
        want |= (unsigned)pick << shift;
        mask |= 255u << shift;
        need = left;
        __syncthreads();
    }
    if (threadIdx.x == 0) { cnt_gt = 0; cnt_eq = 0; }
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += 512) {
        float v = row[i];
        unsigned u = key(v);
        int slot = -1;
        if (u > want) slot = atomicAdd(&cnt_gt, 1);
        else if (u == want) {
            int e = atomicAdd(&cnt_eq, 1);
            if (e < need) slot = k - need + e;
        }
        if (slot >= 0) {
            vals[(size_t)blockIdx.x * k + slot] = v;
            inds[(size_t)blockIdx.x * k + slot] = i;
        }
    }
}

// Adam over many tensors behind each other: a block finds its tensor, then takes a chunk of it
extern "C" __global__ void __launch_bounds__(512) adam_multi_tensor(float4 *__restrict__ w, const float4 *__restrict__ g, float4 *__restrict__ m, float4 *__restrict__ v, const int *__restrict__ start4, const float *__restrict__ wds,
                                                                    int tensors, int per, float lr, float b1, float b2, float eps, float c1, float c2)
{
    int ten = blockIdx.x / per, chunk = blockIdx.x % per;
    if (ten >= tensors) return;
    int s = start4[ten], e = start4[ten + 1];
    float wd = fabsf(wds[ten]) * 0.01f;
    for (int i = s + chunk * 512 + threadIdx.x; i < e; i += per * 512) {
        float4 W = w[i], G = g[i], Mo = m[i], V = v[i];
        float *pw = &W.x, *pg = &G.x, *pm = &Mo.x, *pv = &V.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float gr = pg[k] + wd * pw[k];
            pm[k] = b1 * pm[k] + (1.f - b1) * gr;
            pv[k] = b2 * pv[k] + (1.f - b2) * gr * gr;
            pw[k] -= lr * (pm[k] * c1) / (sqrtf(fabsf(pv[k]) * c2) + eps);
        }
        w[i] = W;
        m[i] = Mo;
        v[i] = V;
    }
}

// ------------------------------------------------------------------ device-wide primitives

// tickets grow from launch to launch: the epoch in each state word keeps old words apart
__device__ __forceinline__ u64 ld_acquire64(const u64 *p)
{
    u64 v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ void st_release64(u64 *p, u64 v) { asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
__device__ __forceinline__ u64 state_word(unsigned epoch, unsigned kind, unsigned v) { return ((u64)(epoch << 2 | kind) << 32) | v; }

// warp 0 looks back over the tiles before; returns the sum before this tile
__device__ __forceinline__ unsigned look_back(u64 *state, int tile, unsigned epoch)
{
    unsigned sum = 0;
    int lane = threadIdx.x & 31;
    for (int at = tile - 1;; at -= 32) {
        int mine = at - lane;
        unsigned kind, val;
        do {
            u64 s = mine >= 0 ? ld_acquire64(state + mine) : state_word(epoch, 2, 0);
            unsigned hi = (unsigned)(s >> 32);
            kind = (hi >> 2) == epoch ? hi & 3 : 0;
            val = (unsigned)s;
        } while (__any_sync(~0u, kind == 0));
        unsigned full = __ballot_sync(~0u, kind == 2);
        int stop = full ? __ffs(full) - 1 : 31;
        unsigned v = lane <= stop ? val : 0;
        sum += __reduce_add_sync(~0u, v);
        if (full) break;
    }
    return sum;
}

// inclusive sum of unsigneds in one pass: 256 threads, 12 items each
extern "C" __global__ void __launch_bounds__(256) scan_decoupled_u32(const unsigned *__restrict__ in, unsigned *__restrict__ out, u64 *state, unsigned *ticket, int n, int tiles)
{
    constexpr int IT = 12, TILE = 256 * IT;
    __shared__ unsigned buf[TILE], ws[8], tk, pre;
    int t = threadIdx.x, lane = t & 31, wid = t >> 5;
    if (t == 0) tk = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = tk % tiles;
    unsigned epoch = tk / tiles + 1;
    int base = tile * TILE;
#pragma unroll
    for (int j = 0; j < IT; j++) {
        int i = base + j * 256 + t;
        buf[j * 256 + t] = i < n ? in[i] : 0;
    }
    __syncthreads();
    unsigned v[IT];
    const uint4 *b4 = (const uint4 *)buf;
#pragma unroll
    for (int j = 0; j < IT / 4; j++) {
        uint4 q = b4[t * (IT / 4) + j];
        v[4 * j] = q.x; v[4 * j + 1] = q.y; v[4 * j + 2] = q.z; v[4 * j + 3] = q.w;
    }
#pragma unroll
    for (int j = 1; j < IT; j++) v[j] += v[j - 1];
    unsigned inc = v[IT - 1];
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        unsigned u = __shfl_up_sync(~0u, inc, o);
        if (lane >= o) inc += u;
    }
    if (lane == 31) ws[wid] = inc;
    __syncthreads();
    unsigned before = inc - v[IT - 1], total = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (k < wid) before += ws[k];
        total += ws[k];
    }
    if (wid == 0) {
        if (tile == 0) {
            if (lane == 0) { st_release64(state, state_word(epoch, 2, total)); pre = 0; }
        } else {
            if (lane == 0) st_release64(state + tile, state_word(epoch, 1, total));
            unsigned s = look_back(state, tile, epoch);
            if (lane == 0) { st_release64(state + tile, state_word(epoch, 2, s + total)); pre = s; }
        }
    }
    __syncthreads();
    before += pre;
    uint4 *o4 = (uint4 *)buf;
#pragma unroll
    for (int j = 0; j < IT / 4; j++) o4[t * (IT / 4) + j] = make_uint4(v[4 * j] + before, v[4 * j + 1] + before, v[4 * j + 2] + before, v[4 * j + 3] + before);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) {
        int i = base + j * 256 + t;
        if (i < n) out[i] = buf[j * 256 + t];
    }
}

extern "C" __global__ void __launch_bounds__(256) select_if_lookback(const float *__restrict__ in, float *__restrict__ out, u64 *state, unsigned *ticket, int *count, int n, int tiles, float limit)
{
    constexpr int IT = 8, TILE = 256 * IT;
    __shared__ unsigned wc[8], tk, pre;
    __shared__ float stage[TILE];
    int t = threadIdx.x, lane = t & 31, wid = t >> 5;
    if (t == 0) tk = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = tk % tiles;
    unsigned epoch = tk / tiles + 1;
    int base = tile * TILE + wid * (32 * IT);
    float v[IT];
    unsigned bal[IT], mine = 0;
#pragma unroll
    for (int j = 0; j < IT; j++) {
        int i = base + j * 32 + lane;
        v[j] = i < n ? in[i] : 3.4e38f;
    }
#pragma unroll
    for (int j = 0; j < IT; j++) {
        bal[j] = __ballot_sync(~0u, v[j] < limit);
        mine += __popc(bal[j]);
    }
    if (lane == 0) wc[wid] = mine;
    __syncthreads();
    unsigned off = 0, total = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (k < wid) off += wc[k];
        total += wc[k];
    }
    if (wid == 0) {
        if (tile == 0) {
            if (lane == 0) { st_release64(state, state_word(epoch, 2, total)); pre = 0; }
        } else {
            if (lane == 0) st_release64(state + tile, state_word(epoch, 1, total));
            unsigned s = look_back(state, tile, epoch);
            if (lane == 0) { st_release64(state + tile, state_word(epoch, 2, s + total)); pre = s; }
        }
    }
#pragma unroll
    for (int j = 0; j < IT; j++) {
        if (v[j] < limit) stage[off + __popc(bal[j] & ((1u << lane) - 1))] = v[j];
        off += __popc(bal[j]);
    }
    __syncthreads();
    unsigned first = pre;
    for (unsigned i = t; i < total; i += 256) out[first + i] = stage[i];
    if (tile == tiles - 1 && t == 0) *count = first + total;
}

// all four digit histograms of 32-bit keys in one read
extern "C" __global__ void __launch_bounds__(128) radix_hist_4digits(const unsigned *__restrict__ keys, unsigned *__restrict__ hist, int n)
{
    __shared__ unsigned h[4][256];
    for (int i = threadIdx.x; i < 1024; i += 128) h[i >> 8][i & 255] = 0;
    __syncthreads();
    int stride = gridDim.x * 128 * 8;
    for (int base = blockIdx.x * 1024; base < n; base += stride) {
        unsigned k[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int i = base + j * 128 + threadIdx.x;
            k[j] = i < n ? keys[i] : 0xffffffffu;
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (base + j * 128 + (int)threadIdx.x < n)
#pragma unroll
                for (int d = 0; d < 4; d++) atomicAdd(&h[d][(k[j] >> (8 * d)) & 255], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 128) {
        unsigned c = h[i >> 8][i & 255];
        if (c) atomicAdd(hist + i, c);
    }
}

// a pass of a radix sort: ranks by match, digits' bases by look-back of a whole column, scatter through shared memory
extern "C" __global__ void __launch_bounds__(256) onesweep_pass_kv(const unsigned *__restrict__ keys, const unsigned *__restrict__ vals, unsigned *__restrict__ kout, unsigned *__restrict__ vout, u64 *state, unsigned *ticket,
                                                                   const int *__restrict__ bases, int tiles, int n, int shift)
{
    constexpr int IT = 12, TILE = 256 * IT;
    __shared__ unsigned wh[8][256], gofs[256], ws[8], tk, skey[TILE];
    int t = threadIdx.x, lane = t & 31, wid = t >> 5;
    if (t == 0) tk = atomicAdd(ticket, 1);
#pragma unroll
    for (int k = 0; k < 8; k++) wh[k][t] = 0;
    __syncthreads();
    int tile = tk % tiles;
    unsigned epoch = tk / tiles + 1;
    int base = tile * TILE + wid * 32 * IT;
    unsigned k[IT], rank[IT];
#pragma unroll
    for (int j = 0; j < IT; j++) k[j] = keys[base + j * 32 + lane];
#pragma unroll
    for (int j = 0; j < IT; j++) {
        unsigned d = (k[j] >> shift) & 255;
        unsigned same = ~0u;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            bool bit = (d >> b) & 1;
            unsigned m = __ballot_sync(~0u, bit);
            same &= bit ? m : ~m;
        }
        unsigned below = __popc(same & ((1u << lane) - 1)), first = 0;
        int leader = __ffs(same) - 1;
        if (lane == leader) { first = wh[wid][d]; wh[wid][d] = first + __popc(same); }
        __syncwarp();
        rank[j] = __shfl_sync(~0u, first, leader) + below;
    }
    __syncthreads();
    // thread t owns digit t
    unsigned cnt = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        unsigned c = wh[w][t];
        wh[w][t] = cnt;
        cnt += c;
    }
    st_release64(state + (size_t)tile * 256 + t, state_word(epoch, tile ? 1 : 2, cnt));
    unsigned inc = cnt;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        unsigned u = __shfl_up_sync(~0u, inc, o);
        if (lane >= o) inc += u;
    }
    if (lane == 31) ws[wid] = inc;
    __syncthreads();
    unsigned ex = inc - cnt;
#pragma unroll
    for (int w = 0; w < 8; w++)
        if (w < wid) ex += ws[w];
    unsigned sum = 0;
    for (int at = tile - 1; at >= 0;) {
        u64 s = ld_acquire64(state + (size_t)at * 256 + t);
        unsigned hi = (unsigned)(s >> 32), kind = (hi >> 2) == epoch ? hi & 3 : 0;
        if (kind == 0) continue;
        sum += (unsigned)s;
        if (kind == 2) break;
        at--;
    }
    if (tile) st_release64(state + (size_t)tile * 256 + t, state_word(epoch, 2, sum + cnt));
    gofs[t] = bases[t] + sum - ex;
#pragma unroll
    for (int w = 0; w < 8; w++) wh[w][t] += ex;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) {
        rank[j] += wh[wid][(k[j] >> shift) & 255];
        skey[rank[j]] = k[j];
    }
    __syncthreads();
    unsigned dst[IT];
#pragma unroll
    for (int j = 0; j < IT; j++) {
        unsigned q = skey[j * 256 + t];
        dst[j] = min(gofs[(q >> shift) & 255] + j * 256 + t, (unsigned)n - 1);
        kout[dst[j]] = q;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) skey[rank[j]] = vals[base + j * 32 + lane];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) vout[dst[j]] = skey[j * 256 + t];
}

extern "C" __global__ void __launch_bounds__(256) segmented_max_block(const float *__restrict__ x, const int *__restrict__ off, float *__restrict__ out, int segs)
{
    __shared__ float sh[8];
    int seg = blockIdx.x;
    if (seg >= segs) return;
    int s = off[seg], e = off[seg + 1];
    float m = -3.4e38f;
    int i = s + threadIdx.x;
    for (; i + 768 < e; i += 1024) {
        float a = x[i], b = x[i + 256], c = x[i + 512], d = x[i + 768];
        m = fmaxf(m, fmaxf(fmaxf(a, b), fmaxf(c, d)));
    }
    for (; i < e; i += 256) m = fmaxf(m, x[i]);
    m = wmaxf(m);
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x >> 5] = m;
    __syncthreads();
    if (threadIdx.x < 8) {
        m = sh[threadIdx.x];
#pragma unroll
        for (int o = 4; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffu, m, o));
        if (threadIdx.x == 0) out[seg] = m;
    }
}

// sums of runs of equal sorted keys; a run that crosses a tile's edge goes by atomics
extern "C" __global__ void __launch_bounds__(256) reduce_by_key_sorted(const int *__restrict__ keys, const float *__restrict__ vals, float *__restrict__ sums, int n)
{
    constexpr int IT = 8;
    __shared__ int lastk[8];
    __shared__ float lastv[8];
    int t = threadIdx.x, lane = t & 31, wid = t >> 5, i0 = (blockIdx.x * 256 + t) * IT;
    int k[IT];
    float v[IT];
    if (i0 + IT <= n) {
        int4 a = *(const int4 *)(keys + i0), b = *(const int4 *)(keys + i0 + 4);
        float4 c = *(const float4 *)(vals + i0), d = *(const float4 *)(vals + i0 + 4);
        k[0] = a.x; k[1] = a.y; k[2] = a.z; k[3] = a.w; k[4] = b.x; k[5] = b.y; k[6] = b.z; k[7] = b.w;
        v[0] = c.x; v[1] = c.y; v[2] = c.z; v[3] = c.w; v[4] = d.x; v[5] = d.y; v[6] = d.z; v[7] = d.w;
    } else {
#pragma unroll
        for (int j = 0; j < IT; j++) {
            k[j] = i0 + j < n ? keys[i0 + j] : -1;
            v[j] = i0 + j < n ? vals[i0 + j] : 0.f;
        }
    }
    // the thread's own runs: the first stays open to the left, the last to the right
    float acc = v[0], head = 0;
    bool split = false;
#pragma unroll
    for (int j = 1; j < IT; j++) {
        if (k[j] != k[j - 1]) {
            if (!split) { head = acc; split = true; }
            else if (k[j - 1] >= 0) atomicAdd(sums + k[j - 1], acc);
            acc = 0;
        }
        acc += v[j];
    }
    // tails flow over the warp while keys go on
    int tailk = k[IT - 1];
    float tail = acc;
    int prevk = __shfl_up_sync(~0u, tailk, 1);
    bool flag = split || prevk != k[0] || lane == 0;
    float carry = tail;
    bool f = flag;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        float u = __shfl_up_sync(~0u, carry, o);
        bool g = __shfl_up_sync(~0u, (int)f, o);
        if (lane >= o && !f) { carry += u; f = g; }
    }
    float in = __shfl_up_sync(~0u, carry, 1);
    int ink = __shfl_up_sync(~0u, tailk, 1);
    if (split && k[0] >= 0) atomicAdd(sums + k[0], head + (lane && ink == k[0] ? in : 0.f));
    if (lane && ink != k[0] && ink >= 0) atomicAdd(sums + ink, in);
    if (lane == 31) { lastk[wid] = tailk; lastv[wid] = carry; }
    __syncthreads();
    if (t == 0) {
        float s = lastv[0];
        for (int w = 1; w < 8; w++) {
            if (lastk[w] != lastk[w - 1]) {
                if (lastk[w - 1] >= 0) atomicAdd(sums + lastk[w - 1], s);
                s = 0;
            }
            s += lastv[w];
        }
        if (lastk[7] >= 0) atomicAdd(sums + lastk[7], s);
    }
}

// merge of two sorted arrays: a block finds its diagonal, then each thread its own in shared memory
extern "C" __global__ void __launch_bounds__(256) merge_path_tile(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ out, int na, int nb)
{
    constexpr int IT = 7, TILE = 256 * IT;
    __shared__ int sh[TILE], cut[2];
    int total = na + nb, d0 = blockIdx.x * TILE, d1 = min(d0 + TILE, total), t = threadIdx.x;
    if (t < 2) {
        int d = t ? d1 : d0, lo = max(0, d - nb), hi = min(d, na);
        while (lo < hi) {
            int m = (lo + hi) >> 1;
            if (a[m] <= b[d - 1 - m]) lo = m + 1;
            else hi = m;
        }
        cut[t] = lo;
    }
    __syncthreads();
    int a0 = cut[0], la = cut[1] - a0, b0 = d0 - a0, lb = (d1 - d0) - la;
#pragma unroll
    for (int j = 0; j < IT; j++) {
        int i = j * 256 + t;
        if (i < la + lb) sh[i] = i < la ? a[a0 + i] : b[b0 + i - la];
    }
    __syncthreads();
    int d = min(t * IT, la + lb), lo = max(0, d - lb), hi = min(d, la);
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (sh[m] <= sh[la + d - 1 - m]) lo = m + 1;
        else hi = m;
    }
    int p = lo, q = d - lo, r[IT];
#pragma unroll
    for (int j = 0; j < IT; j++) {
        bool ta = p < la && (q >= lb || sh[p] <= sh[la + q]);
        int at = ta ? p : la + q;
        r[j] = sh[min(at, TILE - 1)];
        if (ta) p++;
        else q++;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) sh[t * IT + j] = r[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < IT; j++) {
        int i = j * 256 + t;
        if (d0 + i < d1) out[d0 + i] = sh[i];
    }
}

// ------------------------------------------------------------------ serving of language models

// a partition of 512 tokens of a sequence's paged cache for one query head; pages of 16 tokens, heads of 128, bf16
extern "C" __global__ void __launch_bounds__(128) paged_v2_part_bf16(const uint4 *__restrict__ q, const uint4 *__restrict__ kc, const uint4 *__restrict__ vc, const int *__restrict__ table, const int *__restrict__ lens,
                                                                     float *__restrict__ pmax, float *__restrict__ psum, float *__restrict__ pout, int heads, int kvh, int maxpages, int base_len, float scale)
{
    constexpr int PART = 512;
    __shared__ float lg[PART], red[4], acc[4][128];
    int head = blockIdx.x, seq = blockIdx.y, part = blockIdx.z, t = threadIdx.x, lane = t & 31, wid = t >> 5, kh = head / (heads / kvh);
    int len = base_len + lens[seq], s0 = part * PART, e0 = min(s0 + PART, len);
    if (s0 >= len) return;
    // two lanes a token: each dots 64 of 128
    const uint4 *qp = q + ((size_t)seq * heads + head) * 16;
    int half = lane & 1;
    uint4 qv[8];
#pragma unroll
    for (int k = 0; k < 8; k++) qv[k] = qp[2 * k + half];
    float mx = -1e30f;
    for (int pg = wid; pg < (e0 - s0 + 15) / 16; pg += 4) {
        int phys = table[seq * maxpages + s0 / 16 + pg], tok = lane >> 1;
        const uint4 *kp = kc + (((size_t)phys * kvh + kh) * 16 + tok) * 16;
        float d = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            uint4 kk = kp[2 * k + half];
            const unsigned *pa = &qv[k].x, *pb = &kk.x;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 a = unbf(pa[j]), b = unbf(pb[j]);
                d += a.x * b.x + a.y * b.y;
            }
        }
        d += __shfl_xor_sync(~0u, d, 1);
        int at = pg * 16 + tok;
        bool ok = s0 + at < e0;
        d = ok ? d * scale : -1e30f;
        if (half == 0) lg[at] = d;
        mx = fmaxf(mx, d);
    }
    mx = wmaxf(mx);
    if (lane == 0) red[wid] = mx;
    __syncthreads();
    mx = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    float s = 0;
    for (int i = t; i < e0 - s0; i += 128) {
        float p = __expf(lg[i] - mx);
        lg[i] = p;
        s += p;
    }
    s = wsum(s);
    __syncthreads();
    if (lane == 0) red[wid] = s;
    __syncthreads();
    s = red[0] + red[1] + red[2] + red[3];
    // V: 16 lanes take a row, two rows a warp at a time
    int col = lane & 15, sub = lane >> 4;
    float o[8] = {};
    for (int pg = wid; pg < (e0 - s0 + 15) / 16; pg += 4) {
        int phys = table[seq * maxpages + s0 / 16 + pg];
        const uint4 *vp = vc + ((size_t)phys * kvh + kh) * 256;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            int tok = 2 * r + sub, at = pg * 16 + tok;
            float p = s0 + at < e0 ? lg[at] : 0.f;
            uint4 v = vp[tok * 16 + col];
            const unsigned *pv = &v.x;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 f = unbf(pv[j]);
                o[2 * j] += p * f.x;
                o[2 * j + 1] += p * f.y;
            }
        }
    }
#pragma unroll
    for (int j = 0; j < 8; j++) o[j] += __shfl_xor_sync(~0u, o[j], 16);
    if (sub == 0)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[wid][col * 8 + j] = o[j];
    __syncthreads();
    size_t slot = ((size_t)seq * heads + head) * gridDim.z + part;
    pout[slot * 128 + t] = __fdividef(acc[0][t] + acc[1][t] + acc[2][t] + acc[3][t], s);
    if (t == 0) { pmax[slot] = mx; psum[slot] = s; }
}

// neox rotary embedding of q in place and of k into the paged cache, v copied along; a block a token
extern "C" __global__ void rope_kv_write_bf16(__nv_bfloat16 *__restrict__ qkv, const float *__restrict__ cosc, const float *__restrict__ sinc, const int *__restrict__ pos, const int *__restrict__ slot,
                                              __nv_bfloat16 *__restrict__ kc, __nv_bfloat16 *__restrict__ vc, int heads, int kvh)
{
    constexpr int HD = 128;
    int tok = blockIdx.x, p = pos[tok], sl = slot[tok];
    __nv_bfloat16 *row = qkv + (size_t)tok * (heads + 2 * kvh) * HD;
    const float *cs = cosc + (size_t)p * 64, *sn = sinc + (size_t)p * 64;
    for (int i = threadIdx.x; i < (heads + kvh) * 64; i += blockDim.x) {
        int h = i >> 6, d = i & 63;
        float c = cs[d], s = sn[d];
        float x = __bfloat162float(row[h * HD + d]), y = __bfloat162float(row[h * HD + d + 64]);
        __nv_bfloat16 a = __float2bfloat16(x * c - y * s), b = __float2bfloat16(y * c + x * s);
        if (h < heads) {
            row[h * HD + d] = a;
            row[h * HD + d + 64] = b;
        } else {
            __nv_bfloat16 *k = kc + ((size_t)sl * kvh + h - heads) * HD;
            k[d] = a;
            k[d + 64] = b;
        }
    }
    const uint4 *v = (const uint4 *)(row + (heads + kvh) * HD);
    uint4 *vo = (uint4 *)(vc + (size_t)sl * kvh * HD);
    for (int i = threadIdx.x; i < kvh * HD / 8; i += blockDim.x) vo[i] = v[i];
}

// RMSNorm, then e4m3 with a scale a token; the row stays in registers
extern "C" __global__ void __launch_bounds__(256) rmsnorm_fp8_dyn(const uint4 *__restrict__ x, const uint4 *__restrict__ w, uint2 *__restrict__ q, float *__restrict__ scale, int d8, float eps)
{
    __shared__ float sh[32];
    constexpr int MAXV = 4;
    float f[MAXV][8], s = 0;
    const uint4 *row = x + (size_t)blockIdx.x * d8;
#pragma unroll
    for (int j = 0; j < MAXV; j++) {
        int i = threadIdx.x + j * 256;
        if (i < d8) {
            uint4 v = row[i];
            const unsigned *p = &v.x;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 t = unbf(p[k]);
                f[j][2 * k] = t.x;
                f[j][2 * k + 1] = t.y;
                s += t.x * t.x + t.y * t.y;
            }
        }
    }
    s = bsum(s, sh);
    float rs = rsqrtf(s / (d8 * 8) + eps), mx = 0;
#pragma unroll
    for (int j = 0; j < MAXV; j++) {
        int i = threadIdx.x + j * 256;
        if (i < d8) {
            uint4 v = w[i];
            const unsigned *p = &v.x;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 t = unbf(p[k]);
                f[j][2 * k] *= rs * t.x;
                f[j][2 * k + 1] *= rs * t.y;
                mx = fmaxf(mx, fmaxf(fabsf(f[j][2 * k]), fabsf(f[j][2 * k + 1])));
            }
        }
    }
    mx = wmaxf(mx);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x >> 5] = mx;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) mx = fmaxf(mx, sh[k]);
    float sc = fmaxf(mx, 1e-10f) / 448.f, inv = 1.f / sc;
    if (threadIdx.x == 0) scale[blockIdx.x] = sc;
#pragma unroll
    for (int j = 0; j < MAXV; j++) {
        int i = threadIdx.x + j * 256;
        if (i < d8) {
            unsigned r[4];
#pragma unroll
            for (int k = 0; k < 4; k++) r[k] = __nv_cvt_float2_to_fp8x2(make_float2(f[j][2 * k] * inv, f[j][2 * k + 1] * inv), __NV_SATFINITE, __NV_E4M3);
            q[(size_t)blockIdx.x * d8 + i] = make_uint2(r[0] | r[1] << 16, r[2] | r[3] << 16);
        }
    }
}

extern "C" __global__ void token_quant_int8(const uint4 *__restrict__ x, uint2 *__restrict__ q, float *__restrict__ scale, int d8)
{
    __shared__ float sh[32];
    const uint4 *row = x + (size_t)blockIdx.x * d8;
    __half2 m2 = __float2half2_rn(0.f);
    for (int i = threadIdx.x; i < d8; i += blockDim.x) {
        uint4 v = row[i];
        const __half2 *h = (const __half2 *)&v;
#pragma unroll
        for (int k = 0; k < 4; k++) m2 = __hmax2(m2, __habs2(h[k]));
    }
    float mx = wmaxf(fmaxf(__low2float(m2), __high2float(m2)));
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x >> 5] = mx;
    __syncthreads();
    for (int k = 0; k < blockDim.x / 32; k++) mx = fmaxf(mx, sh[k]);
    float inv = 127.f / fmaxf(mx, 1e-8f);
    if (threadIdx.x == 0) scale[blockIdx.x] = mx / 127.f;
    for (int i = threadIdx.x; i < d8; i += blockDim.x) {
        uint4 v = row[i];
        const __half2 *h = (const __half2 *)&v;
        unsigned o[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(h[k]);
            int a = __float2int_rn(f.x * inv), b = __float2int_rn(f.y * inv);
            a = max(-128, min(127, a));
            b = max(-128, min(127, b));
            o[k >> 1] |= ((a & 255) | (b & 255) << 8) << (16 * (k & 1));
        }
        q[(size_t)blockIdx.x * d8 + i] = make_uint2(o[0], o[1]);
    }
}

// 256 experts in 8 groups: sigmoid, the best 4 groups by their two best, then 8 experts of these; a warp a token
extern "C" __global__ void __launch_bounds__(128) grouped_topk_sigmoid(const float4 *__restrict__ logits, const float4 *__restrict__ bias, float *__restrict__ wgt, int *__restrict__ ids, int tokens, float rscale)
{
    int tok = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (tok >= tokens) return;
    // lane holds experts 8 lane .. 8 lane + 7: four lanes are a group
    float s[8], c[8];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float4 v = logits[(size_t)tok * 64 + lane * 2 + h], b = bias[lane * 2 + h];
        const float *pv = &v.x, *pb = &b.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            s[4 * h + k] = __fdividef(1.f, 1.f + __expf(-pv[k]));
            c[4 * h + k] = s[4 * h + k] + pb[k];
        }
    }
    float a = -1e30f, b = -1e30f;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        b = fmaxf(b, fminf(a, c[k]));
        a = fmaxf(a, c[k]);
    }
#pragma unroll
    for (int o = 1; o < 4; o <<= 1) {
        float a2 = __shfl_xor_sync(~0u, a, o), b2 = __shfl_xor_sync(~0u, b, o);
        b = fmaxf(fminf(a, a2), fmaxf(b, b2));
        a = fmaxf(a, a2);
    }
    float gs = a + b;
    int g = lane >> 2, better = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float o = __shfl_sync(~0u, gs, k * 4);
        better += o > gs || (o == gs && k < g);
    }
    if (better >= 4)
#pragma unroll
        for (int k = 0; k < 8; k++) c[k] = -1e30f;
    float sum = 0, myw = 0;
    int myid = 0;
#pragma unroll 1
    for (int r = 0; r < 8; r++) {
        float m = c[0];
        int at = 0;
#pragma unroll
        for (int k = 1; k < 8; k++)
            if (c[k] > m) { m = c[k]; at = k; }
        int id = lane * 8 + at;
#pragma unroll
        for (int o = 16; o; o >>= 1) {
            float m2 = __shfl_xor_sync(~0u, m, o);
            int i2 = __shfl_xor_sync(~0u, id, o);
            if (m2 > m || (m2 == m && i2 < id)) { m = m2; id = i2; }
        }
        float w = 0;
        if (id >> 3 == lane)
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (k == (id & 7)) { w = s[k]; c[k] = -1e30f; }
        w = __shfl_sync(~0u, w, id >> 3);
        sum += w;
        if (lane == r) { myw = w; myid = id; }
    }
    if (lane < 8) {
        wgt[tok * 8 + lane] = myw / sum * rscale;
        ids[tok * 8 + lane] = myid;
    }
}

// one block sorts token slots by expert and pads each expert to tiles of 16
extern "C" __global__ void __launch_bounds__(1024) moe_align_block16(const int *__restrict__ ids, int *__restrict__ sorted, int *__restrict__ tile_expert, int *__restrict__ total, int n, int experts, int cap)
{
    extern __shared__ int ash[]; // counts, starts, cursors
    int *cnt = ash, *start = ash + experts, *cur = ash + 2 * experts + 1;
    for (int e = threadIdx.x; e < experts; e += 1024) { cnt[e] = 0; cur[e] = 0; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 1024) atomicAdd(&cnt[ids[i]], 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        int carry = 0;
        for (int b = 0; b < experts; b += 32) {
            int e = b + threadIdx.x, v = e < experts ? (cnt[e] + 15) & ~15 : 0, inc = v;
#pragma unroll
            for (int o = 1; o < 32; o <<= 1) {
                int u = __shfl_up_sync(~0u, inc, o);
                if ((int)threadIdx.x >= o) inc += u;
            }
            if (e < experts) start[e] = carry + inc - v;
            carry += __shfl_sync(~0u, inc, 31);
        }
        if (threadIdx.x == 0) { start[experts] = carry; *total = carry; }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += 1024)
        for (int i = start[e]; i < start[e + 1]; i += 16) tile_expert[i >> 4] = e;
    for (int i = threadIdx.x; i < cap; i += 1024) sorted[i] = n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 1024) {
        int e = ids[i];
        sorted[start[e] + atomicAdd(&cur[e], 1)] = i;
    }
}

// rows of tokens go to their experts' places; a token's row is read once and written topk times
extern "C" __global__ void moe_permute_rows(const uint4 *__restrict__ x, const int *__restrict__ dest, uint4 *__restrict__ out, int tokens, int topk, int d16)
{
    for (int t = blockIdx.x; t < tokens; t += gridDim.x)
        for (int i = threadIdx.x; i < d16; i += blockDim.x) {
            uint4 v = __ldg(x + (size_t)t * d16 + i);
            for (int k = 0; k < topk; k++) out[(size_t)dest[t * topk + k] * d16 + i] = v;
        }
}

// speculative sampling: accepts drafted tokens by p/q, then draws from the positive part of p - q; a block a request
extern "C" __global__ void __launch_bounds__(1024) spec_reject_sample(const float4 *__restrict__ target, const float4 *__restrict__ draft, const int *__restrict__ tokens, const float *__restrict__ u, int *__restrict__ out, int *__restrict__ accepted, int steps, int v4)
{
    __shared__ float sh[32], wsums[32];
    __shared__ int choice;
    int r = blockIdx.x, t = threadIdx.x, lane = t & 31, wid = t >> 5, n = 0;
    for (; n < steps; n++) {
        int tok = tokens[r * steps + n];
        float p = fabsf(((const float *)(target + ((size_t)r * (steps + 1) + n) * v4))[tok]), q = fabsf(((const float *)(draft + ((size_t)r * steps + n) * v4))[tok]);
        if (fabsf(u[r * (steps + 1) + n]) * q > p) break;
        if (t == 0) out[r * (steps + 1) + n] = tok;
    }
    const float4 *pt = target + ((size_t)r * (steps + 1) + n) * v4, *pq = n < steps ? draft + ((size_t)r * steps + n) * v4 : nullptr;
    if (t == 0) choice = v4 * 4 - 1;
    float s = 0;
    for (int i = t; i < v4; i += 1024) {
        float4 a = pt[i], b = pq ? pq[i] : make_float4(0, 0, 0, 0);
        s += fmaxf(fabsf(a.x) - fabsf(b.x), 0.f) + fmaxf(fabsf(a.y) - fabsf(b.y), 0.f) + fmaxf(fabsf(a.z) - fabsf(b.z), 0.f) + fmaxf(fabsf(a.w) - fabsf(b.w), 0.f);
    }
    float want = bsum(s, sh) * fabsf(u[r * (steps + 1) + n]), run = 0;
    for (int base = 0; base < v4; base += 1024) {
        int i = base + t;
        float4 a = i < v4 ? pt[i] : make_float4(0, 0, 0, 0), b = pq && i < v4 ? pq[i] : make_float4(0, 0, 0, 0);
        float c[4] = {fmaxf(fabsf(a.x) - fabsf(b.x), 0.f), fmaxf(fabsf(a.y) - fabsf(b.y), 0.f), fmaxf(fabsf(a.z) - fabsf(b.z), 0.f), fmaxf(fabsf(a.w) - fabsf(b.w), 0.f)};
        float x = c[0] + c[1] + c[2] + c[3], inc = x;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            float v = __shfl_up_sync(~0u, inc, o);
            if (lane >= o) inc += v;
        }
        if (lane == 31) wsums[wid] = inc;
        __syncthreads();
        float w = wsums[lane];
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            float v = __shfl_up_sync(~0u, w, o);
            if (lane >= o) w += v;
        }
        float tot = __shfl_sync(~0u, w, 31), wb = __shfl_sync(~0u, w, max(wid - 1, 0));
        float pre = run + (wid ? wb : 0.f) + inc - x;
        if (pre <= want && pre + x > want) {
            int k = 0;
            float z = pre + c[0];
            while (k < 3 && z <= want) z += c[++k];
            choice = i * 4 + k;
        }
        run += tot;
        if (__syncthreads_or(run > want)) break;
    }
    __syncthreads();
    if (t == 0) { out[r * (steps + 1) + n] = choice; accepted[r] = n; }
}

// repetition, frequency and presence penalties, temperature; counts of the vocabulary a request
extern "C" __global__ void __launch_bounds__(256) logit_penalties(float4 *__restrict__ logits, const uchar4 *__restrict__ prompt_cnt, const uchar4 *__restrict__ out_cnt, const float *__restrict__ rep, const float *__restrict__ freq, const float *__restrict__ pres, const float *__restrict__ temp, int v4)
{
    int r = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= v4) return;
    float rp = 1.f + fabsf(rep[r]) * 0.3f, fp = freq[r], pp = pres[r], it = 1.f / (0.5f + fabsf(temp[r]));
    size_t o = (size_t)r * v4 + i;
    float4 l = logits[o];
    uchar4 a = prompt_cnt[o], b = out_cnt[o];
    float *pl = &l.x;
    const u8 *pa = &a.x, *pb = &b.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float x = pl[k];
        if (pa[k] > 128 || pb[k] > 128) x = x > 0 ? x / rp : x * rp;
        x -= fp * (pb[k] >> 6);
        x -= pb[k] > 128 ? pp : 0.f;
        pl[k] = fminf(fmaxf(x * it, -1e4f), 1e4f);
    }
    logits[o] = l;
}

// beams: each thread keeps the best 4 of its part of a beam's vocabulary, the block merges to 8
extern "C" __global__ void __launch_bounds__(256) beam_top8(const __half *__restrict__ logp, const float *__restrict__ cum, float *__restrict__ score, int *__restrict__ tok, int vocab)
{
    __shared__ float rv[8];
    __shared__ int ri[8];
    const __half *row = logp + (size_t)blockIdx.x * vocab;
    float v[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
    int id[4] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < vocab; i += 256) {
        float x = __half2float(row[i]);
        if (x > v[3]) {
            v[3] = x;
            id[3] = i;
#pragma unroll
            for (int k = 3; k > 0; k--)
                if (v[k] > v[k - 1]) {
                    float a = v[k]; v[k] = v[k - 1]; v[k - 1] = a;
                    int b = id[k]; id[k] = id[k - 1]; id[k - 1] = b;
                }
        }
    }
    float base = cum[blockIdx.x];
    for (int r = 0; r < 8; r++) {
        float m = v[0];
        int who = threadIdx.x;
#pragma unroll
        for (int o = 16; o; o >>= 1) {
            float m2 = __shfl_xor_sync(~0u, m, o);
            int w2 = __shfl_xor_sync(~0u, who, o);
            if (m2 > m || (m2 == m && w2 < who)) { m = m2; who = w2; }
        }
        if ((threadIdx.x & 31) == 0) { rv[threadIdx.x >> 5] = m; ri[threadIdx.x >> 5] = who; }
        __syncthreads();
        m = rv[0];
        who = ri[0];
#pragma unroll
        for (int k = 1; k < 8; k++)
            if (rv[k] > m) { m = rv[k]; who = ri[k]; }
        if ((int)threadIdx.x == who) {
            score[blockIdx.x * 8 + r] = base + m;
            tok[blockIdx.x * 8 + r] = id[0];
            v[0] = v[1]; v[1] = v[2]; v[2] = v[3]; v[3] = -1e30f;
            id[0] = id[1]; id[1] = id[2]; id[2] = id[3];
        }
        __syncthreads();
    }
}

// pages copied for beams: a block a pair a layer
extern "C" __global__ void kv_copy_pages(uint4 *__restrict__ kc, uint4 *__restrict__ vc, const int *__restrict__ from, const int *__restrict__ to, int page16, int pages, int offset)
{
    size_t layer = (size_t)blockIdx.y * pages * page16;
    const size_t s = layer + (size_t)from[blockIdx.x] * page16, d = layer + (size_t)(to[blockIdx.x] + offset) * page16;
    for (int i = threadIdx.x; i < page16; i += blockDim.x) {
        kc[d + i] = kc[s + i];
        vc[d + i] = vc[s + i];
    }
}

// y[rank] += x[h] . A[adapter][rank][h], the hidden dimension split over blocks
extern "C" __global__ void __launch_bounds__(256) lora_shrink_splitk(const uint4 *__restrict__ x, const uint4 *__restrict__ A, const int *__restrict__ adapter, float *__restrict__ y, int h8, int rank, int chunk8)
{
    extern __shared__ uint4 xs[];
    int tok = blockIdx.x, k0 = blockIdx.y * chunk8, lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    int kn = min(chunk8, h8 - k0);
    for (int i = threadIdx.x; i < kn; i += 256) xs[i] = x[(size_t)tok * h8 + k0 + i];
    __syncthreads();
    const uint4 *a = A + (size_t)adapter[tok] * rank * h8 + k0;
    for (int r = wid; r < rank; r += 8) {
        float s = 0;
        for (int i = lane; i < kn; i += 32) {
            uint4 w = a[(size_t)r * h8 + i], v = xs[i];
            const unsigned *pw = &w.x, *pv = &v.x;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 p = unbf(pw[k]), q = unbf(pv[k]);
                s += p.x * q.x + p.y * q.y;
            }
        }
        s = wsum(s);
        if (lane == 0) atomicAdd(y + tok * rank + r, s);
    }
}
extern "C" __global__ void __launch_bounds__(256) lora_expand_add(const float *__restrict__ y, const uint4 *__restrict__ B, const int *__restrict__ adapter, __nv_bfloat16 *__restrict__ out, int h, float scale)
{
    __shared__ float ys[16];
    int tok = blockIdx.y, o = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 16) ys[threadIdx.x] = y[tok * 16 + threadIdx.x] * scale;
    __syncthreads();
    if (o >= h) return;
    const uint4 *b = B + ((size_t)adapter[tok] * h + o) * 2;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint4 w = b[k];
        const unsigned *p = &w.x;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 f = unbf(p[j]);
            s += f.x * ys[k * 8 + 2 * j] + f.y * ys[k * 8 + 2 * j + 1];
        }
    }
    __nv_bfloat16 *q = out + (size_t)tok * h + o;
    *q = __float2bfloat16(__bfloat162float(*q) + s);
}

// ------------------------------------------------------------------ tensor cores by mma.sync

// tiles of 64-byte rows: the 16-byte chunk c of row r lies at c ^ (r / 2 & 3)
__device__ __forceinline__ unsigned sw64(int r, int c) { return r * 64 + ((c ^ ((r >> 1) & 3)) << 4); }
template <int ROWS, int THREADS> __device__ __forceinline__ void load_tile64(unsigned dst, const char *src, size_t ld)
{
#pragma unroll
    for (int i = 0; i < ROWS * 4 / THREADS; i++) {
        int q = threadIdx.x + i * THREADS, r = q >> 2, c = q & 3;
        cpa16(dst + sw64(r, c), src + (size_t)r * ld + c * 16);
    }
}

// C = A B^T in bf16, 128 x 128 tiles of k 32, four stages; A is M x K, B is N x K
extern "C" __global__ void __launch_bounds__(256) bf16_nt_128x128_4st(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ B, __nv_bfloat16 *__restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(128) char dsm[];
    unsigned sb = smem_u32(dsm);
    constexpr int ST = 4, SZ = 16384;
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, wm = (wid >> 2) * 64, wn = (wid & 3) * 32;
    const char *a = (const char *)(A + (size_t)blockIdx.y * 128 * K), *b = (const char *)(B + (size_t)blockIdx.x * 128 * K);
    int kt = K / 32;
    float acc[4][4][4] = {};
    auto load = [&](int s, int k) {
        load_tile64<128, 256>(sb + s * SZ, a + k * 64, (size_t)K * 2);
        load_tile64<128, 256>(sb + s * SZ + 8192, b + k * 64, (size_t)K * 2);
    };
#pragma unroll
    for (int s = 0; s < ST - 1; s++) {
        if (s < kt) load(s, s);
        cpa_commit();
    }
    for (int k = 0; k < kt; k++) {
        cpa_wait<ST - 2>();
        __syncthreads();
        int nx = k + ST - 1;
        if (nx < kt) load(nx & 3, nx);
        cpa_commit();
        unsigned as = sb + (k & 3) * SZ, bs = as + 8192;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) ldsm4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], as + sw64(wm + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 2; j++) ldsm4(fb[j][0], fb[j][1], fb[j][2], fb[j][3], bs + sw64(wn + j * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma16816bf(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            size_t r = blockIdx.y * 128 + wm + i * 16 + (lane >> 2), c = blockIdx.x * 128 + wn + j * 8 + (lane & 3) * 2;
            *(unsigned *)(C + r * N + c) = packbf(acc[i][j][0], acc[i][j][1]);
            *(unsigned *)(C + (r + 8) * N + c) = packbf(acc[i][j][2], acc[i][j][3]);
        }
}

// 64 x 64 tiles, K split over blockIdx.z, float sums by atomics; three stages
extern "C" __global__ void __launch_bounds__(128) bf16_nt_splitk_3st(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ B, float *__restrict__ C, int M, int N, int K, int kchunk)
{
    __shared__ __align__(128) char ssm[3 * 8192];
    unsigned sb = smem_u32(ssm);
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, wm = (wid >> 1) * 32, wn = (wid & 1) * 32, k0 = blockIdx.z * kchunk;
    const char *a = (const char *)(A + (size_t)blockIdx.y * 64 * K + k0), *b = (const char *)(B + (size_t)blockIdx.x * 64 * K + k0);
    int kt = min(kchunk, K - k0) / 32;
    float acc[2][4][4] = {};
    auto load = [&](int s, int k) {
        load_tile64<64, 128>(sb + s * 8192, a + k * 64, (size_t)K * 2);
        load_tile64<64, 128>(sb + s * 8192 + 4096, b + k * 64, (size_t)K * 2);
    };
    load(0, 0);
    cpa_commit();
    if (kt > 1) load(1, 1);
    cpa_commit();
    int rs = 0, wsg = 2;
    for (int k = 0; k < kt; k++) {
        cpa_wait<1>();
        __syncthreads();
        if (k + 2 < kt) load(wsg, k + 2);
        cpa_commit();
        unsigned as = sb + rs * 8192, bs = as + 4096;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) ldsm4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], as + sw64(wm + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 2; j++) ldsm4(fb[j][0], fb[j][1], fb[j][2], fb[j][3], bs + sw64(wn + j * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma16816bf(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
        }
        rs = rs == 2 ? 0 : rs + 1;
        wsg = wsg == 2 ? 0 : wsg + 1;
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            size_t r = blockIdx.y * 64 + wm + i * 16 + (lane >> 2), c = blockIdx.x * 64 + wn + j * 8 + (lane & 3) * 2;
            atomicAdd(C + r * N + c, acc[i][j][0]);
            atomicAdd(C + r * N + c + 1, acc[i][j][1]);
            atomicAdd(C + (r + 8) * N + c, acc[i][j][2]);
            atomicAdd(C + (r + 8) * N + c + 1, acc[i][j][3]);
        }
}

// C bf16 = (A s8 . B s8) * sa[m] * sb[n]: rows of 64 bytes are k 64
extern "C" __global__ void __launch_bounds__(256) w8a8_nt_128x128(const signed char *__restrict__ A, const signed char *__restrict__ B, const float *__restrict__ sa, const float *__restrict__ sbn, __nv_bfloat16 *__restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(128) char dsm[];
    unsigned sb = smem_u32(dsm);
    constexpr int SZ = 16384;
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, wm = (wid >> 1) * 32, wn = (wid & 1) * 64;
    const char *a = (const char *)(A + (size_t)blockIdx.y * 128 * K), *b = (const char *)(B + (size_t)blockIdx.x * 128 * K);
    int kt = K / 64;
    int acc[2][8][4] = {};
    auto load = [&](int s, int k) {
        load_tile64<128, 256>(sb + s * SZ, a + k * 64, K);
        load_tile64<128, 256>(sb + s * SZ + 8192, b + k * 64, K);
    };
#pragma unroll
    for (int s = 0; s < 2; s++) {
        if (s < kt) load(s, s);
        cpa_commit();
    }
    int rs = 0, wsg = 2;
    for (int k = 0; k < kt; k++) {
        cpa_wait<1>();
        __syncthreads();
        if (k + 2 < kt) load(wsg, k + 2);
        cpa_commit();
        unsigned as = sb + rs * SZ, bs = as + 8192;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned fa[2][4], fb[4][4];
#pragma unroll
            for (int i = 0; i < 2; i++) ldsm4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], as + sw64(wm + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 4; j++) ldsm4(fb[j][0], fb[j][1], fb[j][2], fb[j][3], bs + sw64(wn + j * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    int *c = acc[i][j];
                    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j >> 1][(j & 1) * 2]), "r"(fb[j >> 1][(j & 1) * 2 + 1]));
                }
        }
        rs = rs == 2 ? 0 : rs + 1;
        wsg = wsg == 2 ? 0 : wsg + 1;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int r = blockIdx.y * 128 + wm + i * 16 + (lane >> 2);
        float s0 = sa[r], s1 = sa[r + 8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int c = blockIdx.x * 128 + wn + j * 8 + (lane & 3) * 2;
            float2 t = *(const float2 *)(sbn + c);
            *(unsigned *)(C + (size_t)r * N + c) = packbf(acc[i][j][0] * s0 * t.x, acc[i][j][1] * s0 * t.y);
            *(unsigned *)(C + (size_t)(r + 8) * N + c) = packbf(acc[i][j][2] * s1 * t.x, acc[i][j][3] * s1 * t.y);
        }
    }
}

// four-bit weights, packed for the fragments: a word holds a lane's eight values of n 8 and k 32
__device__ __forceinline__ void dq4(unsigned q, unsigned sc, unsigned *o)
{
    const unsigned MG = 0x64006400u, Z = 0x64086408u;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned v;
        asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(v) : "r"(q >> (4 * k)), "r"(0x000f000fu), "r"(MG));
        __half2 h = __hmul2(__hsub2(*(__half2 *)&v, *(const __half2 *)&Z), *(__half2 *)&sc);
        o[k] = *(unsigned *)&h;
    }
}
extern "C" __global__ void __launch_bounds__(256) w4a16_64x128_4st(const __half *__restrict__ A, const unsigned *__restrict__ W, const __half *__restrict__ scale, __half *__restrict__ C, int M, int N, int K)
{
    constexpr int SA = 4096, SZ = 4096 + 2048, ST = 4; // A 64 x 32 halves, W 16 n-blocks x 32 lanes
    __shared__ __align__(128) char ssm[ST * SZ];
    unsigned sb = smem_u32(ssm);
    int t = threadIdx.x, lane = t & 31, wid = t >> 5, wm = (wid >> 2) * 32, wn = (wid & 3) * 4;
    const char *a = (const char *)(A + (size_t)blockIdx.y * 64 * K);
    int kt = K / 32, nb = N / 8;
    const char *w = (const char *)(W + (size_t)blockIdx.x * 16 * 32);
    float acc[2][4][4] = {};
    auto load = [&](int s, int k) {
        load_tile64<64, 256>(sb + s * SZ, a + k * 64, (size_t)K * 2);
        if (t < 128) cpa16(sb + s * SZ + SA + t * 16, w + (size_t)k * nb * 128 + t * 16);
    };
#pragma unroll
    for (int s = 0; s < ST - 1; s++) {
        if (s < kt) load(s, s);
        cpa_commit();
    }
    unsigned sc[4];
    for (int k = 0; k < kt; k++) {
        cpa_wait<ST - 2>();
        __syncthreads();
        if (k + ST - 1 < kt) load((k + ST - 1) & 3, k + ST - 1);
        cpa_commit();
        if ((k & 3) == 0)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                __half2 h = __half2half2(scale[(size_t)(k >> 2) * N + blockIdx.x * 128 + (wn + j) * 8 + (lane >> 2)]);
                sc[j] = *(unsigned *)&h;
            }
        unsigned as = sb + (k & 3) * SZ;
        const unsigned *ws = (const unsigned *)(ssm + (k & 3) * SZ + SA);
        unsigned fb[4][4];
#pragma unroll
        for (int j = 0; j < 4; j++) dq4(ws[(wn + j) * 32 + lane], sc[j], fb[j]);
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned fa[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) ldsm4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], as + sw64(wm + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma16816(acc[i][j], fa[i], fb[j][kk * 2], fb[j][kk * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            size_t r = blockIdx.y * 64 + wm + i * 16 + (lane >> 2), c = blockIdx.x * 128 + (wn + j) * 8 + (lane & 3) * 2;
            *(unsigned *)(C + r * N + c) = packh(acc[i][j][0], acc[i][j][1]);
            *(unsigned *)(C + (r + 8) * N + c) = packh(acc[i][j][2], acc[i][j][3]);
        }
}

// GPTQ order: a word is eight k of one column; zeros packed too; a thread two columns, K over the block's warps and blockIdx.y
extern "C" __global__ void __launch_bounds__(256) gptq_gemv_zeros(const unsigned *__restrict__ qw, const unsigned *__restrict__ qz, const __half *__restrict__ scale, const __half *__restrict__ x, float *__restrict__ y, int N, int K, int kblock)
{
    extern __shared__ float xsh[];
    __shared__ float2 part[4][64];
    int t = threadIdx.x, cp = t & 63, ks = t >> 6, n = (blockIdx.x * 64 + cp) * 2, k0 = blockIdx.y * kblock;
    for (int i = t; i < kblock; i += 256) xsh[i] = __half2float(x[k0 + i]);
    __syncthreads();
    float2 s = make_float2(0, 0);
    for (int kw = ks; kw < kblock / 8; kw += 4) {
        int k = k0 + kw * 8, g = k >> 7;
        uint2 w = *(const uint2 *)(qw + (size_t)(k >> 3) * N + n);
        unsigned z = qz[(size_t)g * (N / 8) + (n >> 3)] >> ((n & 7) * 4);
        float2 sc = __half22float2(*(const __half2 *)(scale + (size_t)g * N + n));
        int z0 = (z & 15) + 1, z1 = ((z >> 4) & 15) + 1;
        float a = 0, b = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float xv = xsh[kw * 8 + j];
            a += (float)((int)((w.x >> (4 * j)) & 15) - z0) * xv;
            b += (float)((int)((w.y >> (4 * j)) & 15) - z1) * xv;
        }
        s.x += a * sc.x;
        s.y += b * sc.y;
    }
    part[ks][cp] = s;
    __syncthreads();
    if (t < 64) {
        float2 r = part[0][t];
#pragma unroll
        for (int k = 1; k < 4; k++) { r.x += part[k][t].x; r.y += part[k][t].y; }
        atomicAdd(y + n, r.x);
        atomicAdd(y + n + 1, r.y);
    }
}

// silu(A G^T) * (A U^T): 128 rows x 64 columns of both
extern "C" __global__ void __launch_bounds__(256) mlp_gate_up_silu(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ G, const __nv_bfloat16 *__restrict__ U, __nv_bfloat16 *__restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(128) char dsm[];
    unsigned sb = smem_u32(dsm);
    constexpr int SZ = 16384, ST = 3;
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, wm = (wid >> 1) * 32, wn = (wid & 1) * 32;
    // neighbours in blockIdx.x share weights: rows run fastest
    const char *a = (const char *)(A + (size_t)blockIdx.x * 128 * K), *g = (const char *)(G + (size_t)blockIdx.y * 64 * K), *u = (const char *)(U + (size_t)blockIdx.y * 64 * K);
    int kt = K / 32;
    float ag[2][4][4] = {}, au[2][4][4] = {};
    auto load = [&](int s, int k) {
        load_tile64<128, 256>(sb + s * SZ, a + k * 64, (size_t)K * 2);
        load_tile64<64, 256>(sb + s * SZ + 8192, g + k * 64, (size_t)K * 2);
        load_tile64<64, 256>(sb + s * SZ + 12288, u + k * 64, (size_t)K * 2);
    };
#pragma unroll
    for (int s = 0; s < ST - 1; s++) {
        if (s < kt) load(s, s);
        cpa_commit();
    }
    int rs = 0, wsg = 2;
    for (int k = 0; k < kt; k++) {
        cpa_wait<ST - 2>();
        __syncthreads();
        if (k + 2 < kt) load(wsg, k + 2);
        cpa_commit();
        unsigned as = sb + rs * SZ;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned fa[2][4], fg[2][4], fu[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) ldsm4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], as + sw64(wm + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned o = sw64(wn + j * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1));
                ldsm4(fg[j][0], fg[j][1], fg[j][2], fg[j][3], as + 8192 + o);
                ldsm4(fu[j][0], fu[j][1], fu[j][2], fu[j][3], as + 12288 + o);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    mma16816bf(ag[i][j], fa[i], fg[j >> 1][(j & 1) * 2], fg[j >> 1][(j & 1) * 2 + 1]);
                    mma16816bf(au[i][j], fa[i], fu[j >> 1][(j & 1) * 2], fu[j >> 1][(j & 1) * 2 + 1]);
                }
        }
        rs = rs == 2 ? 0 : rs + 1;
        wsg = wsg == 2 ? 0 : wsg + 1;
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            size_t r = blockIdx.x * 128 + wm + i * 16 + (lane >> 2), c = blockIdx.y * 64 + wn + j * 8 + (lane & 3) * 2;
            float o[4];
#pragma unroll
            for (int k = 0; k < 4; k++) o[k] = __fdividef(ag[i][j][k], 1.f + __expf(-ag[i][j][k])) * au[i][j][k];
            *(unsigned *)(C + r * N + c) = packbf(o[0], o[1]);
            *(unsigned *)(C + (r + 8) * N + c) = packbf(o[2], o[3]);
        }
}

// causal attention, heads of 64, bf16, GQA; 128 rows of q a block, eight warps of 16 rows; K and V double buffered
// layout: q [head][seq][64], k and v [kv head][seq][64]
__device__ __forceinline__ unsigned sw128(int r, int c) { return r * 128 + ((c ^ (r & 7)) << 4); }
extern "C" __global__ void __launch_bounds__(256) fa2_causal_gqa_bf16(const __nv_bfloat16 *__restrict__ Q, const __nv_bfloat16 *__restrict__ Kp, const __nv_bfloat16 *__restrict__ Vp, __nv_bfloat16 *__restrict__ O, int seq, int group, float scale_log2)
{
    extern __shared__ __align__(128) char dsm[]; // q 16 K, then two stages of k 8 K and v 8 K
    unsigned sq = smem_u32(dsm), skv = sq + 16384;
    int t = threadIdx.x, lane = t & 31, wid = t >> 5, qb = gridDim.x - 1 - blockIdx.x, head = blockIdx.y;
    const char *q = (const char *)(Q + ((size_t)head * seq + qb * 128) * 64);
    const char *kp = (const char *)(Kp + (size_t)(head / group) * seq * 64), *vp = (const char *)(Vp + (size_t)(head / group) * seq * 64);
    auto loadkv = [&](int s, int j) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = t + i * 256, r = c >> 3;
            cpa16(skv + s * 16384 + sw128(r, c & 7), kp + (size_t)j * 8192 + c * 16);
            cpa16(skv + s * 16384 + 8192 + sw128(r, c & 7), vp + (size_t)j * 8192 + c * 16);
        }
    };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int c = t + i * 256;
        cpa16(sq + sw128(c >> 3, c & 7), q + c * 16);
    }
    loadkv(0, 0);
    cpa_commit();
    int nblk = qb * 2 + 2;
    unsigned fq[4][4];
    float o[8][4] = {}, m[2] = {-1e30f, -1e30f}, l[2] = {0, 0};
    for (int j = 0; j < nblk; j++) {
        if (j + 1 < nblk) loadkv((j + 1) & 1, j + 1);
        cpa_commit();
        cpa_wait<1>();
        __syncthreads();
        if (j == 0)
#pragma unroll
            for (int k = 0; k < 4; k++) ldsm4(fq[k][0], fq[k][1], fq[k][2], fq[k][3], sq + sw128(wid * 16 + (lane & 15), k * 2 + (lane >> 4)));
        unsigned ks = skv + (j & 1) * 16384, vs = ks + 8192;
        float s[8][4] = {};
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                unsigned b[4];
                ldsm4(b[0], b[1], b[2], b[3], ks + sw128(n * 16 + (lane & 7) + ((lane >> 4) << 3), k * 2 + ((lane >> 3) & 1)));
                mma16816bf(s[2 * n], fq[k], b[0], b[1]);
                mma16816bf(s[2 * n + 1], fq[k], b[2], b[3]);
            }
        int row = qb * 128 + wid * 16 + (lane >> 2);
        if (j * 64 + 63 > qb * 128 + wid * 16)
#pragma unroll
            for (int n = 0; n < 8; n++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int c = j * 64 + n * 8 + (lane & 3) * 2 + (e & 1);
                    if (c > row + (e >> 1) * 8) s[n][e] = -1e30f;
                }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float mx = m[h];
#pragma unroll
            for (int n = 0; n < 8; n++) mx = fmaxf(mx, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
            mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1));
            mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 2));
            float cor = exp2f((m[h] - mx) * scale_log2), ms = mx * scale_log2, sum = 0;
            m[h] = mx;
#pragma unroll
            for (int n = 0; n < 8; n++) {
                s[n][2 * h] = exp2f(s[n][2 * h] * scale_log2 - ms);
                s[n][2 * h + 1] = exp2f(s[n][2 * h + 1] * scale_log2 - ms);
                sum += s[n][2 * h] + s[n][2 * h + 1];
                o[n][2 * h] *= cor;
                o[n][2 * h + 1] *= cor;
            }
            l[h] = l[h] * cor + sum;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned p[4] = {packbf(s[2 * k][0], s[2 * k][1]), packbf(s[2 * k][2], s[2 * k][3]), packbf(s[2 * k + 1][0], s[2 * k + 1][1]), packbf(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                unsigned b[4];
                ldsm4t(b[0], b[1], b[2], b[3], vs + sw128(k * 16 + (lane & 15), n * 2 + (lane >> 4)));
                mma16816bf(o[2 * n], p, b[0], b[1]);
                mma16816bf(o[2 * n + 1], p, b[2], b[3]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        l[h] += __shfl_xor_sync(~0u, l[h], 1);
        l[h] += __shfl_xor_sync(~0u, l[h], 2);
        l[h] = 1.f / l[h];
    }
    __nv_bfloat16 *op = O + ((size_t)head * seq + qb * 128 + wid * 16 + (lane >> 2)) * 64 + (lane & 3) * 2;
#pragma unroll
    for (int n = 0; n < 8; n++) {
        *(unsigned *)(op + n * 8) = packbf(o[n][0] * l[0], o[n][1] * l[0]);
        *(unsigned *)(op + 8 * 64 + n * 8) = packbf(o[n][2] * l[1], o[n][3] * l[1]);
    }
}

// ------------------------------------------------------------------ state spaces and linear attention

// Mamba's forward scan: a block a channel of a batch, 128 threads x 4 steps at a time, 16 states
extern "C" __global__ void __launch_bounds__(128) mamba_scan_fwd(const float4 *__restrict__ u, const float4 *__restrict__ delta, const float *__restrict__ A, const float4 *__restrict__ Bm, const float4 *__restrict__ Cm, const float *__restrict__ Dv, const float4 *__restrict__ z, float4 *__restrict__ y, int D, int L)
{
    __shared__ float2 wagg[4], run[16];
    int d = blockIdx.x, b = blockIdx.y, t = threadIdx.x, lane = t & 31, wid = t >> 5, L4 = L / 4;
    const size_t ro = ((size_t)b * D + d) * L4;
    if (t < 16) run[t] = make_float2(1.f, 0.f);
    __syncthreads();
    for (int base = 0; base < L4; base += 128) {
        int i = base + t;
        bool ok = i < L4;
        float4 uu = ok ? u[ro + i] : make_float4(0, 0, 0, 0), dd = ok ? delta[ro + i] : make_float4(0, 0, 0, 0);
        float uv[4] = {uu.x, uu.y, uu.z, uu.w}, dv[4] = {dd.x, dd.y, dd.z, dd.w}, out[4], du[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            dv[k] = dv[k] <= 20.f ? log1pf(__expf(dv[k])) : dv[k];
            if (!ok) dv[k] = 0;
            du[k] = dv[k] * uv[k];
            out[k] = Dv[d] * uv[k];
        }
        for (int n = 0; n < 16; n++) {
            float an = -fabsf(A[d * 16 + n]) * 1.44269504f;
            float4 bb = ok ? Bm[((size_t)b * 16 + n) * L4 + i] : make_float4(0, 0, 0, 0), cc = ok ? Cm[((size_t)b * 16 + n) * L4 + i] : make_float4(0, 0, 0, 0);
            float bv[4] = {bb.x, bb.y, bb.z, bb.w}, cv[4] = {cc.x, cc.y, cc.z, cc.w};
            float2 p[4];
#pragma unroll
            for (int k = 0; k < 4; k++) p[k] = make_float2(exp2f(dv[k] * an), du[k] * bv[k]);
#pragma unroll
            for (int k = 1; k < 4; k++) p[k] = make_float2(p[k].x * p[k - 1].x, p[k].x * p[k - 1].y + p[k].y);
            float2 s = p[3];
#pragma unroll
            for (int o = 1; o < 32; o <<= 1) {
                float px = __shfl_up_sync(~0u, s.x, o), py = __shfl_up_sync(~0u, s.y, o);
                if (lane >= o) s = make_float2(s.x * px, s.x * py + s.y);
            }
            if (lane == 31) wagg[wid] = s;
            float ex = __shfl_up_sync(~0u, s.x, 1), ey = __shfl_up_sync(~0u, s.y, 1);
            if (lane == 0) { ex = 1.f; ey = 0.f; }
            __syncthreads();
            float2 pre = run[n];
#pragma unroll
            for (int w = 0; w < 3; w++)
                if (w < wid) pre = make_float2(wagg[w].x * pre.x, wagg[w].x * pre.y + wagg[w].y);
            float h0 = ex * pre.y + ey;
#pragma unroll
            for (int k = 0; k < 4; k++) out[k] += (p[k].x * h0 + p[k].y) * cv[k];
            __syncthreads();
            if (t == 127) run[n] = make_float2(s.x * pre.x, s.x * pre.y + s.y);
        }
        if (ok) {
            float4 zz = z[ro + i];
            float zv[4] = {zz.x, zz.y, zz.z, zz.w};
#pragma unroll
            for (int k = 0; k < 4; k++) out[k] *= __fdividef(zv[k], 1.f + __expf(-zv[k]));
            y[ro + i] = make_float4(out[0], out[1], out[2], out[3]);
        }
        __syncthreads();
    }
}

// retention: a block a head, chunks of 64 steps, the 64 x 64 state in shared memory, 256 threads of 4 x 4
extern "C" __global__ void __launch_bounds__(256) linattn_chunk64(const float4 *__restrict__ q, const float4 *__restrict__ k, const float4 *__restrict__ v, float4 *__restrict__ o, int L, float decay_log2)
{
    extern __shared__ float ls[]; // q^T, k^T (d major), v, p^T and the state, rows of 68
    constexpr int P = 68;
    float *qt = ls, *kt = ls + 64 * P, *vs = ls + 128 * P, *pt = ls + 192 * P, *st = ls + 256 * P, *kn = ls + 320 * P;
    int t = threadIdx.x, tx = t & 15, ty = t >> 4;
    float lam = decay_log2 * (1 + (blockIdx.x & 7));
    size_t base = (size_t)blockIdx.x * L * 16;
    for (int i = t; i < 64 * P; i += 256) st[i] = 0;
    for (int c = 0; c < L; c += 64) {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int i = t + j * 256, r = i >> 4, cc = (i & 15) * 4;
            float4 a = q[base + (size_t)c * 16 + i], b = k[base + (size_t)c * 16 + i], w = v[base + (size_t)c * 16 + i];
            qt[cc * P + r] = a.x; qt[(cc + 1) * P + r] = a.y; qt[(cc + 2) * P + r] = a.z; qt[(cc + 3) * P + r] = a.w;
            kt[cc * P + r] = b.x; kt[(cc + 1) * P + r] = b.y; kt[(cc + 2) * P + r] = b.z; kt[(cc + 3) * P + r] = b.w;
            float f = exp2f(lam * (63 - r));
            *(float4 *)(kn + r * P + cc) = make_float4(b.x * f, b.y * f, b.z * f, b.w * f);
            *(float4 *)(vs + r * P + cc) = w;
        }
        __syncthreads();
        auto mm = [&](float (&acc)[4][4], const float *a, const float *b) {
#pragma unroll 8
            for (int x = 0; x < 64; x++) {
                float4 u = *(const float4 *)(a + x * P + ty * 4), w = *(const float4 *)(b + x * P + tx * 4);
                float uu[4] = {u.x, u.y, u.z, u.w}, ww[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++) acc[i][j] += uu[i] * ww[j];
            }
        };
        float s[4][4] = {}, y[4][4] = {};
        mm(s, qt, kt);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int r = ty * 4 + i, cc = tx * 4 + j;
                pt[cc * P + r] = cc <= r ? s[i][j] * exp2f(lam * (r - cc)) : 0.f;
            }
        mm(y, qt, st);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float f = exp2f(lam * (ty * 4 + i + 1));
#pragma unroll
            for (int j = 0; j < 4; j++) y[i][j] *= f;
        }
        __syncthreads();
        mm(y, pt, vs);
        float n[4][4] = {};
        mm(n, kn, vs);
        float f = exp2f(lam * 64);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float4 *p = (float4 *)(st + (ty * 4 + i) * P + tx * 4), w = *p;
            *p = make_float4(w.x * f + n[i][0], w.y * f + n[i][1], w.z * f + n[i][2], w.w * f + n[i][3]);
            o[base + (size_t)(c + ty * 4 + i) * 16 + tx] = make_float4(y[i][0], y[i][1], y[i][2], y[i][3]);
        }
    }
}

// ------------------------------------------------------------------ sm_90: wgmma, bulk copies, clusters

__device__ __forceinline__ u64 wg_desc(unsigned addr) { return (u64)((addr & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; } // K-major, rows of 128 bytes, 128-byte swizzle
// nvcc also makes plain compute_90 PTX of an executable, where these do not exist
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WG_ASM(...)
#else
#define WG_ASM(...) asm volatile(__VA_ARGS__)
#endif
__device__ __forceinline__ void wg_fence() { WG_ASM("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { WG_ASM("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wg_wait() { WG_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void wgmma_m64n128_bf16(float *d, u64 a, u64 b)
{
    WG_ASM("{ wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, 1, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void wgmma_m64n128_e4m3(float *d, u64 a, u64 b)
{
    WG_ASM("{ wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, 1, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void wgmma_m64n64_bf16(float *d, u64 a, u64 b)
{
    WG_ASM("{ wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
                 "}, %32, %33, 1, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// 128 x 128 tiles of 128-byte rows, two warpgroups, filled by cp.async two stages ahead
extern "C" __global__ void __launch_bounds__(256) wgmma_bf16_cpasync(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ B, __nv_bfloat16 *__restrict__ C, int M, int N, int K)
{
    extern __shared__ char raw[];
    unsigned sb = (smem_u32(raw) + 1023) & ~1023u;
    constexpr int SZ = 32768;
    int t = threadIdx.x, g = t >> 7, wt = t & 127;
    size_t ld = (size_t)K * sizeof(__nv_bfloat16);
    const char *a = (const char *)A + (size_t)blockIdx.y * 128 * ld, *b = (const char *)B + (size_t)blockIdx.x * 128 * ld;
    int kt = K / 64;
    float acc[64] = {};
    auto load = [&](int k) {
        unsigned s = sb + (k & 3) * SZ;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = t + i * 256, r = q >> 3, c = q & 7;
            cpa16(s + sw128(r, c), a + r * ld + (size_t)k * 128 + c * 16);
            cpa16(s + 16384 + sw128(r, c), b + r * ld + (size_t)k * 128 + c * 16);
        }
    };
    load(0);
    cpa_commit();
    if (kt > 1) load(1);
    cpa_commit();
    for (int k = 0; k < kt; k++) {
        cpa_wait<1>();
        proxy_fence();
        __syncthreads();
        if (k + 2 < kt) load(k + 2);
        cpa_commit();
        unsigned s = sb + (k & 3) * SZ;
        u64 da = wg_desc(s + g * 8192), db = wg_desc(s + 16384);
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_m64n128_bf16(acc, da + kk * 2, db + kk * 2);
        wg_commit();
        wg_wait<1>();
    }
    wg_wait<0>();
    int row = blockIdx.y * 128 + g * 64 + (wt >> 5) * 16 + ((wt & 31) >> 2), col = blockIdx.x * 128 + (wt & 3) * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *(unsigned *)(C + (size_t)row * N + col + j * 8) = packbf(acc[4 * j], acc[4 * j + 1]);
        *(unsigned *)(C + (size_t)(row + 8) * N + col + j * 8) = packbf(acc[4 * j + 2], acc[4 * j + 3]);
    }
}

extern "C" __global__ void __launch_bounds__(256) wgmma_e4m3_cpasync(const u8 *__restrict__ A, const u8 *__restrict__ B, __nv_bfloat16 *__restrict__ C, int M, int N, int K, float alpha)
{
    extern __shared__ char raw[];
    unsigned sb = (smem_u32(raw) + 1023) & ~1023u;
    constexpr int SZ = 32768;
    int t = threadIdx.x, g = t >> 7, wt = t & 127;
    size_t ld = (size_t)K * sizeof(u8);
    const char *a = (const char *)A + (size_t)blockIdx.y * 128 * ld, *b = (const char *)B + (size_t)blockIdx.x * 128 * ld;
    int kt = K / 128;
    float acc[64] = {};
    auto load = [&](int k) {
        unsigned s = sb + (k & 3) * SZ;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = t + i * 256, r = q >> 3, c = q & 7;
            cpa16(s + sw128(r, c), a + r * ld + (size_t)k * 128 + c * 16);
            cpa16(s + 16384 + sw128(r, c), b + r * ld + (size_t)k * 128 + c * 16);
        }
    };
    load(0);
    cpa_commit();
    if (kt > 1) load(1);
    cpa_commit();
    for (int k = 0; k < kt; k++) {
        cpa_wait<1>();
        proxy_fence();
        __syncthreads();
        if (k + 2 < kt) load(k + 2);
        cpa_commit();
        unsigned s = sb + (k & 3) * SZ;
        u64 da = wg_desc(s + g * 8192), db = wg_desc(s + 16384);
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_m64n128_e4m3(acc, da + kk * 2, db + kk * 2);
        wg_commit();
        wg_wait<1>();
    }
    wg_wait<0>();
    int row = blockIdx.y * 128 + g * 64 + (wt >> 5) * 16 + ((wt & 31) >> 2), col = blockIdx.x * 128 + (wt & 3) * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *(unsigned *)(C + (size_t)row * N + col + j * 8) = packbf(acc[4 * j] * alpha, acc[4 * j + 1] * alpha);
        *(unsigned *)(C + (size_t)(row + 8) * N + col + j * 8) = packbf(acc[4 * j + 2] * alpha, acc[4 * j + 3] * alpha);
    }
}

// 64 tokens x 64 outputs a block: weights of one byte are widened on their way through registers into swizzled shared memory
extern "C" __global__ void __launch_bounds__(128) wgmma_w8a16_stshared(const uint4 *__restrict__ A, const uint4 *__restrict__ W, const float *__restrict__ scale, __nv_bfloat16 *__restrict__ C, int N, int K)
{
    __shared__ __align__(1024) char ssm[2 * 16384];
    unsigned sb = smem_u32(ssm);
    int t = threadIdx.x, kt = K / 64;
    const uint4 *a = A + (size_t)blockIdx.y * 64 * (K / 8), *w = W + (size_t)blockIdx.x * 64 * (K / 16);
    uint4 ra[4], rw[2];
    auto get = [&](int k) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = t + i * 128;
            ra[i] = a[(size_t)(q >> 3) * (K / 8) + k * 8 + (q & 7)];
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int q = t + i * 128;
            rw[i] = w[(size_t)(q >> 2) * (K / 16) + k * 4 + (q & 3)];
        }
    };
    auto put = [&](int s) {
        char *p = ssm + s * 16384;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = t + i * 128;
            *(uint4 *)(p + sw128(q >> 3, q & 7)) = ra[i];
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int q = t + i * 128;
            const unsigned *v = &rw[i].x;
            unsigned o[8];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                o[2 * j] = packbf((float)(signed char)(v[j] & 255), (float)(signed char)((v[j] >> 8) & 255));
                o[2 * j + 1] = packbf((float)(signed char)((v[j] >> 16) & 255), (float)(signed char)(v[j] >> 24));
            }
            *(uint4 *)(p + 8192 + sw128(q >> 2, (q & 3) * 2)) = make_uint4(o[0], o[1], o[2], o[3]);
            *(uint4 *)(p + 8192 + sw128(q >> 2, (q & 3) * 2 + 1)) = make_uint4(o[4], o[5], o[6], o[7]);
        }
    };
    float acc[32] = {};
    get(0);
    for (int k = 0; k < kt; k++) {
        put(k & 1);
        proxy_fence();
        __syncthreads();
        if (k + 1 < kt) get(k + 1);
        u64 da = wg_desc(sb + (k & 1) * 16384), db = wg_desc(sb + (k & 1) * 16384 + 8192);
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_m64n64_bf16(acc, da + kk * 2, db + kk * 2);
        wg_commit();
        wg_wait<0>();
    }
    int row = blockIdx.y * 64 + (t >> 5) * 16 + ((t & 31) >> 2), col = blockIdx.x * 64 + (t & 3) * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        float2 s = *(const float2 *)(scale + col + j * 8);
        *(unsigned *)(C + (size_t)row * N + col + j * 8) = packbf(acc[4 * j] * s.x, acc[4 * j + 1] * s.y);
        *(unsigned *)(C + (size_t)(row + 8) * N + col + j * 8) = packbf(acc[4 * j + 2] * s.x, acc[4 * j + 3] * s.y);
    }
}

__device__ __forceinline__ void mb_init(unsigned bar, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n) : "memory"); }
__device__ __forceinline__ void mb_expect(unsigned bar, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void mb_arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ __forceinline__ void mb_wait(unsigned bar, int ph)
{
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(ph) : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(unsigned dst, const void *src, int bytes, unsigned bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}

// rows of 2 KB are gathered by bulk copies in and out; one thread drives eight slots, four loads ahead
extern "C" __global__ void __launch_bounds__(32) bulk_gather_rows2k(const char *__restrict__ table, const int *__restrict__ idx, char *__restrict__ out, int n)
{
    constexpr int S = 8, DEPTH = 4, ROW = 2048;
    __shared__ __align__(128) char slot[S * ROW];
    __shared__ __align__(8) u64 full[S];
    if (threadIdx.x) return;
    for (int s = 0; s < S; s++) mb_init(smem_u32(&full[s]), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    int per = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * per, cnt = min(per, n - first);
    if (cnt <= 0) return;
    for (int j = 0; j < cnt + DEPTH; j++) {
        if (j < cnt) {
            asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
            unsigned bar = smem_u32(&full[j & 7]);
            mb_expect(bar, ROW);
            bulk_load(smem_u32(slot + (j & 7) * ROW), table + (size_t)idx[first + j] * ROW, ROW, bar);
        }
        int i = j - DEPTH;
        if (i >= 0) {
            mb_wait(smem_u32(&full[i & 7]), (i >> 3) & 1);
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + (size_t)(first + i) * ROW), "r"(smem_u32(slot + (i & 7) * ROW)), "r"(ROW) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// sums and sums of squares of 2048 columns: a producer warp feeds four stages of two rows, eight warps consume
extern "C" __global__ void __launch_bounds__(288) bulk_colstats_ws(const float *__restrict__ x, float *__restrict__ sum, float *__restrict__ sq, int rows2)
{
    extern __shared__ __align__(128) float4 ring[]; // 4 stages of 16 KB
    __shared__ __align__(8) u64 full[4], empty[4];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 4; s++) {
            mb_init(smem_u32(&full[s]), 1);
            mb_init(smem_u32(&empty[s]), 8);
        }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    if (t >= 256) {
        if (t == 256) {
            int s = 0, ph = 1;
            for (int r = blockIdx.x; r < rows2; r += gridDim.x) {
                mb_wait(smem_u32(&empty[s]), ph);
                mb_expect(smem_u32(&full[s]), 16384);
                bulk_load(smem_u32(ring + s * 1024), x + (size_t)r * 4096, 16384, smem_u32(&full[s]));
                if (++s == 4) { s = 0; ph ^= 1; }
            }
        }
        return;
    }
    float4 a[2] = {}, b[2] = {};
    int s = 0, ph = 0;
    for (int r = blockIdx.x; r < rows2; r += gridDim.x) {
        mb_wait(smem_u32(&full[s]), ph);
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float4 v = ring[s * 1024 + h * 512 + k * 256 + t];
                a[k].x += v.x; a[k].y += v.y; a[k].z += v.z; a[k].w += v.w;
                b[k].x += v.x * v.x; b[k].y += v.y * v.y; b[k].z += v.z * v.z; b[k].w += v.w * v.w;
            }
        __syncwarp();
        if ((t & 31) == 0) mb_arrive(smem_u32(&empty[s]));
        if (++s == 4) { s = 0; ph ^= 1; }
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int c = (k * 256 + t) * 4;
        atomicAdd(sum + c, a[k].x); atomicAdd(sum + c + 1, a[k].y); atomicAdd(sum + c + 2, a[k].z); atomicAdd(sum + c + 3, a[k].w);
        atomicAdd(sq + c, b[k].x); atomicAdd(sq + c + 1, b[k].y); atomicAdd(sq + c + 2, b[k].z); atomicAdd(sq + c + 3, b[k].w);
    }
}

// a row of 65536 floats stays in the shared memory of eight CTAs: read once, normalised, written once
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) cluster_rmsnorm_resident(const float4 *__restrict__ x, const float4 *__restrict__ w, float4 *__restrict__ y, float eps)
{
    extern __shared__ float4 keep[]; // 2048
    __shared__ float sh[32], part[8];
    cg::cluster_group cl = cg::this_cluster();
    cl.barrier_arrive();
    int rank = cl.block_rank(), t = threadIdx.x;
    size_t off = (size_t)(blockIdx.x >> 3) * 16384 + rank * 2048;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 v = x[off + t + k * 512];
        keep[t + k * 512] = v;
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    s = bsum(s, sh);
    cl.barrier_wait();
    if (t < 8) *cl.map_shared_rank(&part[rank], t) = s;
    cl.sync();
    s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += part[k];
    float rs = rsqrtf(s / 65536.f + eps);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 v = keep[t + k * 512], g = w[rank * 2048 + t + k * 512];
        y[off + t + k * 512] = make_float4(v.x * rs * g.x, v.y * rs * g.y, v.z * rs * g.z, v.w * rs * g.w);
    }
}

// y = W x for 8 vectors: each of four CTAs loads a quarter of the vectors and writes it to all; then a warp a row
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) cluster_bcast_gemv8(const uint4 *__restrict__ W, const uint4 *__restrict__ x, float *__restrict__ y, int rows, int k8)
{
    extern __shared__ uint4 xs[]; // 8 vectors x k8
    cg::cluster_group cl = cg::this_cluster();
    int rank = cl.block_rank(), lane = threadIdx.x & 31, wid = threadIdx.x >> 5, q = 2 * k8;
    uint4 *peer[4];
#pragma unroll
    for (int p = 0; p < 4; p++) peer[p] = cl.map_shared_rank(xs, p);
    cl.sync();
    for (int i = threadIdx.x; i < q; i += 256) {
        uint4 v = x[rank * q + i];
#pragma unroll
        for (int p = 0; p < 4; p++) peer[p][rank * q + i] = v;
    }
    cl.sync();
    for (int r = blockIdx.x * 8 + wid; r < rows; r += gridDim.x * 8) {
        float s[8] = {};
        for (int i = lane; i < k8; i += 32) {
            uint4 w = W[(size_t)r * k8 + i];
            const unsigned *pw = &w.x;
#pragma unroll
            for (int v = 0; v < 8; v++) {
                uint4 xx = xs[v * k8 + i];
                const unsigned *px = &xx.x;
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    float2 a = unbf(pw[k]), b = unbf(px[k]);
                    s[v] += a.x * b.x + a.y * b.y;
                }
            }
        }
#pragma unroll
        for (int v = 0; v < 8; v++) s[v] = wsum(s[v]);
        if (lane == 0)
#pragma unroll
            for (int v = 0; v < 8; v++) y[(size_t)v * rows + r] = s[v];
    }
}

// forces within cells of 1024 bodies: a cluster a cell, each CTA keeps 256 bodies and reads the others' over the cluster
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) cluster_ring_forces(const float4 *__restrict__ pos, float4 *__restrict__ acc, float eps2)
{
    __shared__ float4 mine[256];
    cg::cluster_group cl = cg::this_cluster();
    int rank = cl.block_rank(), i = blockIdx.x * 256 + threadIdx.x;
    float4 p = pos[i];
    mine[threadIdx.x] = p;
    cl.sync();
    float ax = 0, ay = 0, az = 0;
    for (int r = 0; r < 4; r++) {
        const float4 *o = cl.map_shared_rank(mine, (rank + r) & 3);
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float4 b = o[j];
            float dx = b.x - p.x, dy = b.y - p.y, dz = b.z - p.z;
            float d = dx * dx + dy * dy + dz * dz + eps2, inv = rsqrtf(d);
            float f = b.w * inv * inv * inv;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
    }
    cl.sync();
    acc[i] = make_float4(ax, ay, az, 0);
}

// ------------------------------------------------------------------ grids and particles

// eighth-order Laplacian step: a queue along z in registers, the plane in shared memory; halos of four all around
extern "C" __global__ void __launch_bounds__(512) wave3d_o8_queue(const float *__restrict__ u, const float *__restrict__ vel, float *__restrict__ up, int nx, int ny, int nz, int zchunk)
{
    constexpr float C0 = -2.847222f, C1 = 1.6f, C2 = -0.2f, C3 = 0.025397f, C4 = -0.001785f;
    __shared__ float pl[16 + 8][32 + 8];
    int tx = threadIdx.x, ty = threadIdx.y, px = nx + 8, py = ny + 8, z0 = blockIdx.z * zchunk, z1 = min(z0 + zchunk, nz);
    size_t plane = (size_t)px * py, at = (size_t)z0 * plane + (size_t)(blockIdx.y * 16 + ty + 4) * px + blockIdx.x * 32 + tx + 4;
    float q[9];
#pragma unroll
    for (int k = 0; k < 8; k++) q[k + 1] = u[at + k * plane];
    size_t cur = at + 4 * plane;
    for (int z = z0; z < z1; z++) {
#pragma unroll
        for (int k = 0; k < 8; k++) q[k] = q[k + 1];
        q[8] = u[cur + 4 * plane];
        __syncthreads();
        pl[ty + 4][tx + 4] = q[4];
        if (tx < 4) {
            pl[ty + 4][tx] = u[cur - 4];
            pl[ty + 4][tx + 36] = u[cur + 32];
        }
        if (ty < 4) {
            pl[ty][tx + 4] = u[cur - 4 * px];
            pl[ty + 20][tx + 4] = u[cur + 16 * (size_t)px];
        }
        __syncthreads();
        float s = 3.f * C0 * q[4];
        s += C1 * (q[3] + q[5] + pl[ty + 4][tx + 3] + pl[ty + 4][tx + 5] + pl[ty + 3][tx + 4] + pl[ty + 5][tx + 4]);
        s += C2 * (q[2] + q[6] + pl[ty + 4][tx + 2] + pl[ty + 4][tx + 6] + pl[ty + 2][tx + 4] + pl[ty + 6][tx + 4]);
        s += C3 * (q[1] + q[7] + pl[ty + 4][tx + 1] + pl[ty + 4][tx + 7] + pl[ty + 1][tx + 4] + pl[ty + 7][tx + 4]);
        s += C4 * (q[0] + q[8] + pl[ty + 4][tx] + pl[ty + 4][tx + 8] + pl[ty][tx + 4] + pl[ty + 8][tx + 4]);
        up[cur] = 2.f * q[4] - up[cur] + vel[cur] * s * 0.01f;
        cur += plane;
    }
}

// four heat steps in one pass over a 64 x 64 tile, 56 x 56 come out
extern "C" __global__ void __launch_bounds__(256) heat2d_4steps(const float *__restrict__ in, float *__restrict__ out, int w, int h, float k)
{
    __shared__ float t[2][64][65];
    int x0 = blockIdx.x * 56 - 4, y0 = blockIdx.y * 56 - 4, tx = threadIdx.x & 63, ty = threadIdx.x >> 6;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        int y = ty + 4 * j, gx = min(max(x0 + tx, 0), w - 1), gy = min(max(y0 + y, 0), h - 1);
        t[0][y][tx] = in[(size_t)gy * w + gx];
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 4; s++) {
        int lo = s + 1, hi = 62 - s;
        if (tx >= lo && tx <= hi)
#pragma unroll 4
            for (int j = 0; j < 16; j++) {
                int y = ty + 4 * j;
                if (y >= lo && y <= hi) {
                    float c = t[s & 1][y][tx];
                    t[~s & 1][y][tx] = c + k * (t[s & 1][y][tx - 1] + t[s & 1][y][tx + 1] + t[s & 1][y - 1][tx] + t[s & 1][y + 1][tx] - 4.f * c);
                }
            }
        __syncthreads();
    }
    if (tx < 4 || tx >= 60 || x0 + tx >= w) return;
#pragma unroll
    for (int j = 1; j < 15; j++) {
        int y = ty + 4 * j;
        if (y0 + y < h) out[(size_t)(y0 + y) * w + x0 + tx] = t[0][y][tx];
    }
}

__device__ __forceinline__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ void bfly(float2 &a, float2 &b) { float2 t = a; a = make_float2(t.x + b.x, t.y + b.y); b = make_float2(t.x - b.x, t.y - b.y); }
__device__ __forceinline__ void dft8(float2 *v)
{
    const float h = 0.70710678f;
    bfly(v[0], v[4]); bfly(v[1], v[5]); bfly(v[2], v[6]); bfly(v[3], v[7]);
    v[5] = make_float2(h * (v[5].x + v[5].y), h * (v[5].y - v[5].x));
    v[6] = make_float2(v[6].y, -v[6].x);
    v[7] = make_float2(h * (v[7].y - v[7].x), -h * (v[7].x + v[7].y));
    bfly(v[0], v[2]); bfly(v[1], v[3]); bfly(v[4], v[6]); bfly(v[5], v[7]);
    v[3] = make_float2(v[3].y, -v[3].x);
    v[7] = make_float2(v[7].y, -v[7].x);
    bfly(v[0], v[1]); bfly(v[2], v[3]); bfly(v[4], v[5]); bfly(v[6], v[7]);
    float2 t = v[1]; v[1] = v[4]; v[4] = t;
    t = v[3]; v[3] = v[6]; v[6] = t;
}
extern "C" __global__ void __launch_bounds__(512) fft4096_stockham8(const float2 *__restrict__ in, float2 *__restrict__ out)
{
    __shared__ float2 sh[4096 + 256];
    int j = threadIdx.x;
    const float2 *src = in + (size_t)blockIdx.x * 4096;
    float2 *dst = out + (size_t)blockIdx.x * 4096, v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = src[j + k * 512];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        const int Ns = 1 << (3 * p);
        if (p) {
#pragma unroll
            for (int k = 0; k < 8; k++) { int i = j + k * 512; v[k] = sh[i + (i >> 4)]; }
            float2 w1, w;
            __sincosf(-6.2831853f * (j & (Ns - 1)) / (Ns * 8), &w1.y, &w1.x);
            w = w1;
#pragma unroll
            for (int k = 1; k < 8; k++) { v[k] = cmul(v[k], w); w = cmul(w, w1); }
        }
        dft8(v);
        if (p < 3) {
            __syncthreads();
            int d = (j / Ns) * Ns * 8 + (j & (Ns - 1));
#pragma unroll
            for (int k = 0; k < 8; k++) { int i = d + k * Ns; sh[i + (i >> 4)] = v[k]; }
            __syncthreads();
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) dst[j + k * 512] = v[k];
}

extern "C" __global__ void __launch_bounds__(256) nbody_tiled(const float4 *__restrict__ pos, float4 *__restrict__ vel, int n, float dt, float eps2)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 p = pos[min(i, n - 1)];
    float ax = 0, ay = 0, az = 0;
    for (int b = 0; b < n; b += 256) {
        tile[threadIdx.x] = b + (int)threadIdx.x < n ? pos[b + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < 256; j++) {
            float4 q = tile[j];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
            float f = q.w * r * r * r;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        float4 v = vel[i];
        vel[i] = make_float4(v.x + dt * ax, v.y + dt * ay, v.z + dt * az, v.w);
    }
}

extern "C" __global__ void __launch_bounds__(256) lbm_d2q9_bgk(const float *__restrict__ f, float *__restrict__ g, const u8 *__restrict__ solid, int nx, int ny, float omega, float force)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    int xm = x ? x - 1 : nx - 1, xp = x + 1 < nx ? x + 1 : 0, ym = y ? y - 1 : ny - 1, yp = y + 1 < ny ? y + 1 : 0;
    size_t n = (size_t)nx * ny, i = (size_t)y * nx + x;
    float a[9];
    a[0] = f[i];
    a[1] = f[n + (size_t)y * nx + xm];
    a[2] = f[2 * n + (size_t)ym * nx + x];
    a[3] = f[3 * n + (size_t)y * nx + xp];
    a[4] = f[4 * n + (size_t)yp * nx + x];
    a[5] = f[5 * n + (size_t)ym * nx + xm];
    a[6] = f[6 * n + (size_t)ym * nx + xp];
    a[7] = f[7 * n + (size_t)yp * nx + xp];
    a[8] = f[8 * n + (size_t)yp * nx + xm];
    if (solid[i] < 13) {
        g[i] = a[0];
        g[n + i] = a[3]; g[3 * n + i] = a[1];
        g[2 * n + i] = a[4]; g[4 * n + i] = a[2];
        g[5 * n + i] = a[7]; g[7 * n + i] = a[5];
        g[6 * n + i] = a[8]; g[8 * n + i] = a[6];
        return;
    }
    float rho = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8], ir = 1.f / rho;
    float ux = (a[1] - a[3] + a[5] - a[6] - a[7] + a[8]) * ir + force, uy = (a[2] - a[4] + a[5] + a[6] - a[7] - a[8]) * ir;
    float us = 1.f - 1.5f * (ux * ux + uy * uy);
    const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float w = k == 0 ? 4.f / 9 : k < 5 ? 1.f / 9 : 1.f / 36, cu = cx[k] * ux + cy[k] * uy;
        g[k * n + i] = a[k] + omega * (w * rho * (us + 3.f * cu + 4.5f * cu * cu) - a[k]);
    }
}

// a block a cell of g^3, particles sorted by cell; neighbours' particles pass through shared memory
extern "C" __global__ void __launch_bounds__(64) md_cell_force(const int *__restrict__ start, const float4 *__restrict__ pos, float4 *__restrict__ force, int g, float rc2)
{
    __shared__ float4 sh[64];
    int c = blockIdx.x, cx = c % g, cy = c / g % g, cz = c / g / g;
    int s = start[c], e = start[c + 1];
    for (int b = s; b < e; b += 64) {
        int i = b + threadIdx.x;
        float4 p = pos[min(i, e - 1)];
        float fx = 0, fy = 0, fz = 0, pe = 0;
        for (int d = 0; d < 27; d++) {
            int x = cx + d % 3 - 1, y = cy + d / 3 % 3 - 1, z = cz + d / 9 - 1;
            x = x < 0 ? x + g : x >= g ? x - g : x;
            y = y < 0 ? y + g : y >= g ? y - g : y;
            z = z < 0 ? z + g : z >= g ? z - g : z;
            int q = (z * g + y) * g + x, ns = start[q], ne = start[q + 1];
            for (int nb = ns; nb < ne; nb += 64) {
                int m = min(64, ne - nb);
                __syncthreads();
                if ((int)threadIdx.x < m) sh[threadIdx.x] = pos[nb + threadIdx.x];
                __syncthreads();
                for (int k = 0; k < m; k++) {
                    float4 o = sh[k];
                    float dx = p.x - o.x, dy = p.y - o.y, dz = p.z - o.z, r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 < rc2 && r2 > 1e-6f) {
                        float i2 = 1.f / r2, i6 = i2 * i2 * i2, f = i6 * (48.f * i6 - 24.f) * i2;
                        fx += f * dx;
                        fy += f * dy;
                        fz += f * dz;
                        pe += 4.f * i6 * (i6 - 1.f);
                    }
                }
            }
        }
        if (i < e) force[i] = make_float4(fx, fy, fz, pe);
    }
}

// linear tetrahedra: gradients, K u of an element, sums at nodes by atomics
extern "C" __global__ void __launch_bounds__(128) fem_tet_residual(const int4 *__restrict__ tet, const float4 *__restrict__ node, const float *__restrict__ kappa, float *__restrict__ res, int n)
{
    int e = blockIdx.x * 128 + threadIdx.x;
    if (e >= n) return;
    int4 t = tet[e];
    float4 p0 = node[t.x], p1 = node[t.y], p2 = node[t.z], p3 = node[t.w];
    float a[3] = {p1.x - p0.x, p1.y - p0.y, p1.z - p0.z}, b[3] = {p2.x - p0.x, p2.y - p0.y, p2.z - p0.z}, c[3] = {p3.x - p0.x, p3.y - p0.y, p3.z - p0.z};
    float g[4][3];
    g[1][0] = b[1] * c[2] - b[2] * c[1]; g[1][1] = b[2] * c[0] - b[0] * c[2]; g[1][2] = b[0] * c[1] - b[1] * c[0];
    g[2][0] = c[1] * a[2] - c[2] * a[1]; g[2][1] = c[2] * a[0] - c[0] * a[2]; g[2][2] = c[0] * a[1] - c[1] * a[0];
    g[3][0] = a[1] * b[2] - a[2] * b[1]; g[3][1] = a[2] * b[0] - a[0] * b[2]; g[3][2] = a[0] * b[1] - a[1] * b[0];
    float det = a[0] * g[1][0] + a[1] * g[1][1] + a[2] * g[1][2];
    float inv = 1.f / (fabsf(det) + 1e-3f);
#pragma unroll
    for (int k = 0; k < 3; k++) g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
    float u[4] = {p0.w, p1.w, p2.w, p3.w}, du[3];
#pragma unroll
    for (int k = 0; k < 3; k++) du[k] = u[0] * g[0][k] + u[1] * g[1][k] + u[2] * g[2][k] + u[3] * g[3][k];
    float s = kappa[e] * inv * (1.f / 6.f);
    int id[4] = {t.x, t.y, t.z, t.w};
#pragma unroll
    for (int i = 0; i < 4; i++) atomicAdd(res + id[i], s * (g[i][0] * du[0] + g[i][1] * du[1] + g[i][2] * du[2]));
}

// ------------------------------------------------------------------ sparse and small dense algebra

extern "C" __global__ void __launch_bounds__(256) spmv_csr_vector8(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val, const float *__restrict__ x, float *__restrict__ y, int rows)
{
    int r = (blockIdx.x * 256 + threadIdx.x) >> 3, l = threadIdx.x & 7;
    float s = 0;
    if (r < rows)
        for (int i = ptr[r] + l, e = ptr[r + 1]; i < e; i += 8) s += val[i] * __ldg(x + col[i]);
#pragma unroll
    for (int o = 4; o; o >>= 1) s += __shfl_down_sync(~0u, s, o, 8);
    if (r < rows && l == 0) y[r] = s;
}

// merge-based: eight steps of the path over row ends and nonzeros a thread
extern "C" __global__ void __launch_bounds__(128) spmv_merge_csr(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val, const float *__restrict__ x, float *__restrict__ y, int rows, int nnz)
{
    constexpr int IT = 8;
    int d = (blockIdx.x * 128 + threadIdx.x) * IT, total = rows + nnz;
    if (d >= total) return;
    int lo = max(0, d - nnz), hi = min(d, rows);
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (ptr[m + 1] <= d - 1 - m) lo = m + 1;
        else hi = m;
    }
    int r = lo, k = d - lo;
    float s = 0;
    bool first = true;
#pragma unroll
    for (int j = 0; j < IT; j++) {
        if (d + j >= total) break;
        if (r < rows && ptr[r + 1] <= k) {
            if (first) atomicAdd(y + r, s);
            else y[r] = s;
            first = false;
            s = 0;
            r++;
        } else {
            s += val[k] * x[col[k]];
            k++;
        }
    }
    if (r < rows && s != 0.f) atomicAdd(y + r, s);
}

// a warp a row, 64 columns of B
extern "C" __global__ void __launch_bounds__(256) spmm_csr_n64(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val, const float2 *__restrict__ B, float2 *__restrict__ C, int rows)
{
    int r = (blockIdx.x * 256 + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows) return;
    int s = ptr[r], e = ptr[r + 1];
    float2 acc = make_float2(0, 0);
    for (int b = s; b < e; b += 32) {
        int i = b + lane, c = i < e ? col[i] : 0, m = min(32, e - b);
        float v = i < e ? val[i] : 0.f;
        for (int k = 0; k < m; k++) {
            float w = __shfl_sync(~0u, v, k);
            float2 q = B[(size_t)__shfl_sync(~0u, c, k) * 32 + lane];
            acc.x += w * q.x;
            acc.y += w * q.y;
        }
    }
    C[(size_t)r * 32 + lane] = acc;
}

// C = A A by rows: products into a hash of 1024 slots in shared memory, then written compact
extern "C" __global__ void __launch_bounds__(128) spgemm_hash_row(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val, int *__restrict__ ccol, float *__restrict__ cval, int *__restrict__ cnnz, int rows, int cap)
{
    __shared__ int key[1024], cnt;
    __shared__ float acc[1024];
    int r = blockIdx.x, lane = threadIdx.x & 15, grp = threadIdx.x >> 4;
    for (int i = threadIdx.x; i < 1024; i += 128) { key[i] = -1; acc[i] = 0; }
    if (threadIdx.x == 0) cnt = 0;
    __syncthreads();
    for (int i = ptr[r] + grp, e = ptr[r + 1]; i < e; i += 8) {
        int k = col[i];
        float a = val[i];
        for (int j = ptr[k] + lane, f = ptr[k + 1]; j < f; j += 16) {
            int c = col[j];
            unsigned h = (unsigned)c * 2654435761u >> 22;
            for (int probe = 0; probe < 1024; probe++) {
                int old = atomicCAS(&key[h], -1, c);
                if (old == -1 || old == c) {
                    atomicAdd(&acc[h], a * val[j]);
                    break;
                }
                h = (h + 1) & 1023;
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 128) {
        if (key[i] >= 0) {
            int p = atomicAdd(&cnt, 1);
            if (p < cap) {
                ccol[(size_t)r * cap + p] = key[i];
                cval[(size_t)r * cap + p] = acc[i];
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) cnnz[r] = min(cnt, cap);
}

// cyclic reduction of 1024 unknowns in shared memory
extern "C" __global__ void __launch_bounds__(512) tridiag_cr1024(const float *__restrict__ ga, const float *__restrict__ gb, const float *__restrict__ gc, const float *__restrict__ gd, float *__restrict__ gx)
{
    __shared__ float a[1024], b[1024], c[1024], d[1024], x[1024];
    int t = threadIdx.x;
    size_t o = (size_t)blockIdx.x * 1024;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int i = t + k * 512;
        a[i] = i ? ga[o + i] : 0.f;
        b[i] = gb[o + i] + 3.f;
        c[i] = i < 1023 ? gc[o + i] : 0.f;
        d[i] = gd[o + i];
    }
    int stride = 1, act = 512;
    for (int lv = 0; lv < 9; lv++, stride *= 2, act >>= 1) {
        __syncthreads();
        if (t < act) {
            int i = 2 * stride * t + 2 * stride - 1, l = i - stride, r = min(i + stride, 1023);
            float k1 = __fdividef(a[i], b[l]), k2 = r == i ? 0.f : __fdividef(c[i], b[r]);
            float nb = b[i] - c[l] * k1 - a[r] * k2, nd = d[i] - d[l] * k1 - d[r] * k2;
            a[i] = -a[l] * k1;
            c[i] = -c[r] * k2;
            b[i] = nb;
            d[i] = nd;
        }
    }
    __syncthreads();
    if (t < 2) {
        int l = 511, r = 1023;
        float det = b[l] * b[r] - c[l] * a[r];
        if (t == 0) x[l] = (b[r] * d[l] - c[l] * d[r]) / det;
        else x[r] = (d[r] * b[l] - d[l] * a[r]) / det;
    }
    for (act = 2, stride = 256; stride; stride >>= 1, act <<= 1) {
        __syncthreads();
        if (t < act) {
            int i = 2 * stride * t + stride - 1;
            float v = d[i] - c[i] * x[i + stride];
            if (i >= stride) v -= a[i] * x[i - stride];
            x[i] = __fdividef(v, b[i]);
        }
    }
    __syncthreads();
    gx[o + t] = x[t];
    gx[o + t + 512] = x[t + 512];
}

// 48 x 48 Cholesky, a block a matrix, right-looking in shared memory
extern "C" __global__ void __launch_bounds__(128) potrf48_batched(const float *__restrict__ A, float *__restrict__ Lm)
{
    constexpr int N = 48;
    __shared__ float s[N][N + 1];
    int t = threadIdx.x;
    const float *a = A + (size_t)blockIdx.x * N * N;
    for (int i = t; i < N * N; i += 128) s[i / N][i % N] = a[i] + (i / N == i % N ? 64.f : 0.f);
    __syncthreads();
    for (int k = 0; k < N; k++) {
        float inv = rsqrtf(s[k][k]);
        __syncthreads();
        if (t >= k && t < N) s[t][k] *= inv;
        __syncthreads();
        int m = N - k - 1;
        for (int i = t; i < m * m; i += 128) {
            int r = k + 1 + i / m, c = k + 1 + i % m;
            if (c <= r) s[r][c] -= s[r][k] * s[c][k];
        }
        __syncthreads();
    }
    for (int i = t; i < N * N; i += 128) Lm[(size_t)blockIdx.x * N * N + i] = i % N <= i / N ? s[i / N][i % N] : 0.f;
}

// one-sided Jacobi SVD of 8 x 8: eight lanes hold the columns, xor pairs make a sweep
extern "C" __global__ void __launch_bounds__(128) svd8_jacobi(const float4 *__restrict__ A, float4 *__restrict__ U, float *__restrict__ sv, int n, int sweeps)
{
    int g = blockIdx.x * 128 + threadIdx.x, l = g & 7;
    if ((g >> 3) >= n) return;
    float4 p = A[g * 2], q = A[g * 2 + 1];
    float v[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
    for (int s = 0; s < sweeps; s++)
#pragma unroll 1
        for (int o = 1; o < 8; o++) {
            float w[8], aa = 0, bb = 0, ab = 0;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                w[k] = __shfl_xor_sync(~0u, v[k], o);
                aa += v[k] * v[k];
                bb += w[k] * w[k];
                ab += v[k] * w[k];
            }
            bool low = l < (l ^ o);
            float al = low ? aa : bb, be = low ? bb : aa;
            float z = __fdividef(be - al, 2.f * ab + (ab >= 0 ? 1e-20f : -1e-20f));
            float t = copysignf(1.f, z) / (fabsf(z) + sqrtf(1.f + z * z)), c = rsqrtf(1.f + t * t), sn = c * t;
            float m = low ? -sn : sn;
#pragma unroll
            for (int k = 0; k < 8; k++) v[k] = c * v[k] + m * w[k];
        }
    float nn = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) nn += v[k] * v[k];
    float r = rsqrtf(nn + 1e-30f);
    sv[g] = nn * r;
    U[g * 2] = make_float4(v[0] * r, v[1] * r, v[2] * r, v[3] * r);
    U[g * 2 + 1] = make_float4(v[4] * r, v[5] * r, v[6] * r, v[7] * r);
}

// ------------------------------------------------------------------ random numbers, tables, strings

// a block a bootstrap sample of n draws: its mean and variance
extern "C" __global__ void __launch_bounds__(256) bootstrap_moments(const float *__restrict__ data, float2 *__restrict__ out, int n, unsigned seed)
{
    __shared__ float2 sh[32];
    float2 s = make_float2(0, 0);
    for (int i = threadIdx.x; i < n / 4; i += 256) {
        uint4 r = philox10(make_uint4(i, blockIdx.x, 0, 0), seed, 0x1234u);
        float a = data[__umulhi(r.x, n)], b = data[__umulhi(r.y, n)], c = data[__umulhi(r.z, n)], d = data[__umulhi(r.w, n)];
        s.x += a + b + c + d;
        s.y += a * a + b * b + c * c + d * d;
    }
    s = bsum2(s, sh);
    if (threadIdx.x == 0) {
        float m = s.x / n;
        out[blockIdx.x] = make_float2(m, s.y / n - m * m);
    }
}

// 64-bit LCG with skip-ahead, normals by Box-Muller
extern "C" __global__ void lcg64_normals(float2 *__restrict__ out, int per, u64 seed)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    u64 A = 6364136223846793005ull, Cc = 1442695040888963407ull, am = 1, cm = 0, x = seed;
    for (u64 k = (u64)id * per; k; k >>= 1) {
        if (k & 1) { am *= A; cm = cm * A + Cc; }
        Cc *= A + 1;
        A *= A;
    }
    x = am * x + cm;
    for (int i = 0; i < per; i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        unsigned hi = (unsigned)(x >> 32), lo = (unsigned)x;
        float u = (hi + 1.f) * 2.3283064e-10f, v = lo * 2.3283064e-10f, r = sqrtf(-2.f * __logf(fminf(u, 1.f))), s, c;
        __sincosf(6.2831853f * v, &s, &c);
        out[(size_t)i * threads + id] = make_float2(r * c, r * s);
    }
}

// open addressing with CAS, values added to what is there; keys from 1
extern "C" __global__ void hash_upsert_cas(const unsigned *__restrict__ keys, const unsigned *__restrict__ vals, unsigned *tkey, unsigned *tval, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = keys[i] + 1, h = hash32(k) & mask;
    for (unsigned probe = 0; probe <= mask; probe++) {
        unsigned old = atomicCAS(tkey + h, 0u, k);
        if (old == 0 || old == k) {
            atomicAdd(tval + h, vals[i]);
            return;
        }
        h = (h + 1) & mask;
    }
}

// a table automaton of 256 states in shared memory walks 256 bytes a thread
extern "C" __global__ void __launch_bounds__(512) dfa_walk256(const uint4 *__restrict__ text, const uint4 *__restrict__ table, unsigned *__restrict__ hits, int n)
{
    extern __shared__ u8 tab[];
    for (int i = threadIdx.x; i < 4096; i += 512) ((uint4 *)tab)[i] = table[i];
    __syncthreads();
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
        unsigned st = 0, c = 0;
        for (int b = 0; b < 16; b++) {
            uint4 v = text[(size_t)i * 16 + b];
            const unsigned *p = &v.x;
#pragma unroll
            for (int w = 0; w < 4; w++)
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    st = tab[st << 8 | ((p[w] >> (8 * k)) & 255)];
                    c += st >= 250;
                }
        }
        hits[i] = c;
    }
}

// Levenshtein by anti-diagonals: a block a pair, three diagonals in shared memory
extern "C" __global__ void __launch_bounds__(256) levenshtein_diag(const u8 *__restrict__ a, const u8 *__restrict__ b, int *__restrict__ dist, int m, int n)
{
    extern __shared__ int dg[];
    int *p2 = dg, *p1 = dg + m + 1, *p0 = dg + 2 * (m + 1);
    const u8 *sa = a + (size_t)blockIdx.x * m, *sb = b + (size_t)blockIdx.x * n;
    for (int d = 0; d <= m + n; d++) {
        int lo = max(0, d - n), hi = min(d, m);
        for (int i = lo + threadIdx.x; i <= hi; i += 256) {
            int j = d - i, v;
            if (i == 0) v = j;
            else if (j == 0) v = i;
            else v = min(min(p1[i - 1], p1[i]) + 1, p2[i - 1] + (((sa[i - 1] ^ sb[j - 1]) & 3) != 0));
            p0[i] = v;
        }
        __syncthreads();
        int *t = p2;
        p2 = p1;
        p1 = p0;
        p0 = t;
    }
    if (threadIdx.x == 0) dist[blockIdx.x] = p1[m];
}

// a warp a pair: 128 query letters four a lane, the target flows through the lanes
extern "C" __global__ void __launch_bounds__(128) smith_waterman_warp(const unsigned *__restrict__ query, const u8 *__restrict__ target, int *__restrict__ score, int pairs, int tlen)
{
    int w = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (w >= pairs) return;
    unsigned q = query[w * 32 + lane];
    const u8 *tg = target + (size_t)w * tlen;
    int H[4] = {0, 0, 0, 0}, E[4] = {-99, -99, -99, -99}, best = 0, diagin = 0, outH = 0, outF = -99, letter = 0;
    for (int s = 0; s < tlen + 31; s++) {
        int upH = __shfl_up_sync(~0u, outH, 1), upF = __shfl_up_sync(~0u, outF, 1), lt = __shfl_up_sync(~0u, letter, 1);
        if (lane == 0) { upH = 0; upF = -99; lt = s < tlen ? tg[s] & 3 : 0; }
        letter = lt;
        int j = s - lane;
        if (j >= 0 && j < tlen) {
            int diag = diagin, f = upF, up = upH;
            diagin = upH;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int m = (((q >> (8 * k)) & 3) == (unsigned)lt) ? 5 : -4;
                E[k] = max(E[k] - 1, H[k] - 7);
                f = max(f - 1, up - 7);
                int h = max(max(diag + m, 0), max(E[k], f));
                diag = H[k];
                H[k] = h;
                up = h;
                best = max(best, h);
            }
            outH = up;
            outF = f;
        }
    }
    best = __reduce_max_sync(~0u, best);
    if (lane == 0) score[w] = best;
}

__constant__ unsigned c_sha[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ unsigned rotr(unsigned x, int n) { return __funnelshift_r(x, x, n); }
// a message a thread, its words interleaved with the others'
extern "C" __global__ void __launch_bounds__(128) sha256_messages(const unsigned *__restrict__ msg, unsigned *__restrict__ dig, int n, int blocks)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int b = 0; b < blocks; b++) {
        unsigned w[16], s[8];
#pragma unroll
        for (int k = 0; k < 16; k++) w[k] = __byte_perm(msg[(size_t)(b * 16 + k) * n + i], 0, 0x0123);
#pragma unroll
        for (int k = 0; k < 8; k++) s[k] = h[k];
#pragma unroll
        for (int r = 0; r < 64; r++) {
            if (r >= 16) {
                unsigned a = w[(r + 1) & 15], c = w[(r + 14) & 15];
                w[r & 15] += (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) + w[(r + 9) & 15] + (rotr(c, 17) ^ rotr(c, 19) ^ (c >> 10));
            }
            unsigned t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + c_sha[r] + w[r & 15];
            unsigned t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t1;
            s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t1 + t2;
        }
#pragma unroll
        for (int k = 0; k < 8; k++) h[k] += s[k];
    }
#pragma unroll
    for (int k = 0; k < 8; k++) dig[(size_t)k * n + i] = h[k];
}

// AES-128 in counter mode with four T tables in shared memory, two blocks a thread at a time
extern "C" __global__ void __launch_bounds__(256) aes128_ctr_tables(const unsigned *__restrict__ tables, const uint4 *__restrict__ rk, const uint4 *__restrict__ in, uint4 *__restrict__ out, int n)
{
    __shared__ unsigned T[4][256];
    __shared__ uint4 key[11];
    int t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) T[k][t] = tables[k * 256 + t];
    if (t < 11) key[t] = rk[t];
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        uint4 k0 = key[0];
        unsigned a = k0.x, b = k0.y, c = k0.z, d = k0.w ^ i;
#pragma unroll
        for (int r = 1; r < 10; r++) {
            uint4 k = key[r];
            unsigned e = T[0][a & 255] ^ T[1][(b >> 8) & 255] ^ T[2][(c >> 16) & 255] ^ T[3][d >> 24] ^ k.x;
            unsigned f = T[0][b & 255] ^ T[1][(c >> 8) & 255] ^ T[2][(d >> 16) & 255] ^ T[3][a >> 24] ^ k.y;
            unsigned g = T[0][c & 255] ^ T[1][(d >> 8) & 255] ^ T[2][(a >> 16) & 255] ^ T[3][b >> 24] ^ k.z;
            unsigned h = T[0][d & 255] ^ T[1][(a >> 8) & 255] ^ T[2][(b >> 16) & 255] ^ T[3][c >> 24] ^ k.w;
            a = e; b = f; c = g; d = h;
        }
        uint4 k = key[10], v = in[i];
        auto sub = [&](unsigned p, unsigned q, unsigned r, unsigned s) {
            return (T[1][p & 255] & 0xff) | (T[2][(q >> 8) & 255] & 0xff00) | (T[3][(r >> 16) & 255] & 0xff0000) | (T[0][s >> 24] & 0xff000000u);
        };
        out[i] = make_uint4(v.x ^ sub(a, b, c, d) ^ k.x, v.y ^ sub(b, c, d, a) ^ k.y, v.z ^ sub(c, d, a, b) ^ k.z, v.w ^ sub(d, a, b, c) ^ k.w);
    }
}

// a warp expands a chunk of tokens: bits 0-3 literals, 4-8 a match's length less 4, 9-18 its distance less 1
extern "C" __global__ void __launch_bounds__(128) lz_expand_warp(const unsigned *__restrict__ tokens, const u8 *__restrict__ lits, u8 *out, int *__restrict__ sizes, int chunks, int per)
{
    int w = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (w >= chunks) return;
    const unsigned *tk = tokens + (size_t)w * per;
    const u8 *lp = lits + (size_t)w * per * 15;
    volatile u8 *o = out + (size_t)w * per * 50;
    int pos = 0, lpos = 0;
    for (int b = 0; b < per; b += 32) {
        unsigned mine = b + lane < per ? tk[b + lane] : 0;
        int m = min(32, per - b);
        for (int k = 0; k < m; k++) {
            unsigned t = __shfl_sync(~0u, mine, k);
            int nl = t & 15, ml = ((t >> 4) & 31) + 4, ds = min((int)((t >> 9) & 1023) + 1, pos + nl);
            if (lane < nl) o[pos + lane] = lp[lpos + lane];
            pos += nl;
            lpos += nl;
            __syncwarp();
            if (ds > 0) {
                for (int j = lane; j < ml; j += 32) o[pos + j] = o[pos - ds + (ds >= ml ? j : j % ds)];
                pos += ml;
            }
            __syncwarp();
        }
    }
    if (lane == 0) sizes[w] = pos;
}

// prefix codes of 3 to 10 bits by a table of 1024; a thread a stream, 32 bits of refill
extern "C" __global__ void __launch_bounds__(128) huffman_lut_decode(const unsigned *__restrict__ bits, const unsigned short *__restrict__ lut, unsigned *__restrict__ out, int streams, int words, int quads)
{
    __shared__ unsigned short tab[1024];
    for (int i = threadIdx.x; i < 1024; i += 128) tab[i] = lut[i];
    __syncthreads();
    int s = blockIdx.x * 128 + threadIdx.x;
    if (s >= streams) return;
    const unsigned *p = bits + (size_t)s * words;
    u64 buf = (u64)p[0] | (u64)p[1] << 32;
    int have = 64, next = 2;
    for (int q = 0; q < quads; q++) {
        unsigned r = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned e = tab[(unsigned)buf & 1023];
            int len = ((e >> 8) & 7) + 3;
            r |= (e & 255) << (8 * k);
            buf >>= len;
            have -= len;
            if (have <= 32 && next < words) {
                buf |= (u64)p[next++] << have;
                have += 32;
            }
        }
        out[(size_t)q * streams + s] = r;
    }
}

// ------------------------------------------------------------------ learning on tables

// sums of members of 32 clusters of 32 features: shared sums, then global atomics
extern "C" __global__ void __launch_bounds__(256) kmeans_update32(const float *__restrict__ x, const int *__restrict__ label, float *__restrict__ sum, int *__restrict__ count, int n)
{
    __shared__ float s[32 * 32];
    __shared__ int c[32];
    for (int i = threadIdx.x; i < 1024; i += 256) s[i] = 0;
    if (threadIdx.x < 32) c[threadIdx.x] = 0;
    __syncthreads();
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    for (int r = blockIdx.x * 8 + wid; r < n; r += gridDim.x * 8) {
        int l = label[r];
        atomicAdd(&s[l * 32 + lane], x[(size_t)r * 32 + lane]);
        if (lane == 0) atomicAdd(&c[l], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256) atomicAdd(sum + i, s[i]);
    if (threadIdx.x < 32) atomicAdd(count + threadIdx.x, c[threadIdx.x]);
}

// gradient histograms: four features of a row in a word, 64 bins each a pair of sums; rows of a node by index
extern "C" __global__ void __launch_bounds__(256) gbdt_hist4x64(const unsigned *__restrict__ bins, const int *__restrict__ rowidx, const float2 *__restrict__ gh, float *__restrict__ hist, int n, int rows)
{
    __shared__ float h[4 * 64 * 2];
    for (int i = threadIdx.x; i < 512; i += 256) h[i] = 0;
    __syncthreads();
    const unsigned *b = bins + (size_t)blockIdx.y * rows;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        int r = rowidx[i];
        unsigned w = b[r];
        float2 g = gh[r];
#pragma unroll
        for (int f = 0; f < 4; f++) {
            int q = (f * 64 + ((w >> (8 * f)) & 63)) * 2;
            atomicAdd(&h[q], g.x);
            atomicAdd(&h[q + 1], g.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) atomicAdd(hist + (size_t)blockIdx.y * 512 + i, h[i]);
}

// ------------------------------------------------------------------ rays and fractals

extern "C" __global__ void __launch_bounds__(128) ray_spheres_nearest(const float4 *__restrict__ sph, float *__restrict__ depth, int *__restrict__ id, int w, int h, int n)
{
    __shared__ float4 s[128];
    int x = blockIdx.x * 16 + (threadIdx.x & 15), y = blockIdx.y * 8 + (threadIdx.x >> 4);
    float dx = (x - w * 0.5f) / w, dy = (y - h * 0.5f) / w, il = rsqrtf(dx * dx + dy * dy + 1.f);
    dx *= il;
    dy *= il;
    float dz = il, best = 1e30f;
    int who = -1;
    for (int b = 0; b < n; b += 128) {
        __syncthreads();
        if (b + (int)threadIdx.x < n) s[threadIdx.x] = sph[b + threadIdx.x];
        __syncthreads();
        int m = min(128, n - b);
#pragma unroll 4
        for (int k = 0; k < m; k++) {
            float4 q = s[k];
            float cz = q.z + 3.f, r = 0.02f + 0.03f * fabsf(q.w);
            float t = q.x * dx + q.y * dy + cz * dz, d = q.x * q.x + q.y * q.y + cz * cz - t * t, disc = r * r - d;
            if (disc > 0) {
                float hit = t - sqrtf(disc);
                if (hit > 0 && hit < best) { best = hit; who = b + k; }
            }
        }
    }
    if (x < w && y < h) {
        depth[(size_t)y * w + x] = best;
        id[(size_t)y * w + x] = who;
    }
}

// an implicit binary tree of boxes, a stack in local memory, triangles at the leaves
extern "C" __global__ void __launch_bounds__(128) bvh_closest_hit(const float4 *__restrict__ box, const float4 *__restrict__ tri, const float4 *__restrict__ rays, float *__restrict__ hit, int n, int depth)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float4 o4 = rays[2 * i], d4 = rays[2 * i + 1];
    float ox = o4.x, oy = o4.y, oz = -3.f, dx = d4.x * 0.3f, dy = d4.y * 0.3f, dz = 1.f;
    float ix = 1.f / (fabsf(dx) > 1e-6f ? dx : 1e-6f), iy = 1.f / (fabsf(dy) > 1e-6f ? dy : 1e-6f), iz = 1.f;
    int first_leaf = (1 << depth) - 1, stack[24], sp = 0, at = 0;
    float best = 1e30f;
    while (true) {
        if (at >= first_leaf) {
            const float4 *t = tri + (size_t)(at - first_leaf) * 3;
            float4 a = t[0], e1 = t[1], e2 = t[2];
            float px = dy * e2.z - dz * e2.y, py = dz * e2.x - dx * e2.z, pz = dx * e2.y - dy * e2.x;
            float det = e1.x * px + e1.y * py + e1.z * pz, inv = 1.f / (fabsf(det) > 1e-8f ? det : 1e-8f);
            float sx = ox - a.x, sy = oy - a.y, sz = oz - a.z, u = (sx * px + sy * py + sz * pz) * inv;
            float qx = sy * e1.z - sz * e1.y, qy = sz * e1.x - sx * e1.z, qz = sx * e1.y - sy * e1.x;
            float v = (dx * qx + dy * qy + dz * qz) * inv, tt = (e2.x * qx + e2.y * qy + e2.z * qz) * inv;
            if (u >= 0 && v >= 0 && u + v <= 1 && tt > 0 && tt < best) best = tt;
        } else {
            int l = 2 * at + 1, go[2];
            float near[2];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float4 b = box[l + k];
                float e = 0.3f + 0.3f * fabsf(b.w);
                float x0 = (b.x - e - ox) * ix, x1 = (b.x + e - ox) * ix, y0 = (b.y - e - oy) * iy, y1 = (b.y + e - oy) * iy, z0 = (b.z - e - oz) * iz, z1 = (b.z + e - oz) * iz;
                float tn = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.f)), tf = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), best));
                go[k] = tn <= tf;
                near[k] = tn;
            }
            if (go[0] | go[1]) {
                if (go[0] & go[1]) {
                    int far = near[0] <= near[1];
                    stack[sp++] = l + far;
                    at = l + 1 - far;
                } else at = l + go[1];
                continue;
            }
        }
        if (sp == 0) break;
        at = stack[--sp];
    }
    hit[i] = best;
}

extern "C" __global__ void mandelbrot_f64(unsigned short *__restrict__ out, int w, int h, double x0, double y0, double step, int maxit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0, xx = 0, yy = 0;
    int it = 0;
    while (it < maxit && xx + yy <= 4.0) {
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        it++;
    }
    out[(size_t)py * w + px] = it;
}

// ------------------------------------------------------------------ graphs

// Shiloach-Vishkin hooking: edges between components lower the larger one's parent
extern "C" __global__ void cc_hook_edges(const int2 *__restrict__ edge, const int *__restrict__ comp, int *__restrict__ parent, int m)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
        int2 e = edge[i];
        int a = __ldg(comp + e.x), b = __ldg(comp + e.y);
        if (a != b) atomicMin(parent + max(a, b), min(a, b));
    }
}
extern "C" __global__ void cc_pointer_jump(const int *__restrict__ comp, int *__restrict__ out, int n, int jumps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = comp[i];
    for (int k = 0; k < jumps; k++) p = comp[p];
    out[i] = p;
}

extern "C" __global__ void __launch_bounds__(256) pagerank_push_warp(const int *__restrict__ ptr, const int *__restrict__ nbr, const float *__restrict__ rank, float *__restrict__ next, int n, float damp)
{
    int v = (blockIdx.x * 256 + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (v >= n) return;
    int s = ptr[v], e = ptr[v + 1];
    if (s == e) return;
    float c = damp * rank[v] / (e - s);
    for (int i = s + lane; i < e; i += 32) atomicAdd(next + nbr[i], c);
}

// a thread a vertex of the frontier; found vertices go to a queue in shared memory, then to a ring in global memory
extern "C" __global__ void __launch_bounds__(256) bfs_topdown_queues(const int *__restrict__ ptr, const int *__restrict__ nbr, const int *__restrict__ front, const unsigned *__restrict__ seen, int *__restrict__ queue, unsigned *tail, int n, unsigned qmask)
{
    __shared__ int q[2048];
    __shared__ unsigned cnt, base;
    if (threadIdx.x == 0) cnt = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        int v = front[i];
        for (int k = ptr[v], e = ptr[v + 1]; k < e; k++) {
            int u = nbr[k];
            if (!((seen[u >> 5] >> (u & 31)) & 1)) {
                unsigned p = atomicAdd(&cnt, 1u);
                if (p < 2048) q[p] = u;
                else queue[atomicAdd(tail, 1u) & qmask] = u;
            }
        }
    }
    __syncthreads();
    unsigned m = min(cnt, 2048u);
    if (threadIdx.x == 0) base = atomicAdd(tail, m);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < m; k += 256) queue[(base + k) & qmask] = q[k];
}

// ------------------------------------------------------------------ images

// box filter down the columns by running sums, a strip of rows a block row
extern "C" __global__ void box_columns_running(const float *__restrict__ in, float *__restrict__ out, int w, int h, int r, int strip)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * strip, y1 = min(y0 + strip, h);
    if (x >= w) return;
    float s = 0, inv = 1.f / (2 * r + 1);
    for (int y = y0 - r; y < y0 + r; y++) s += in[(size_t)min(max(y, 0), h - 1) * w + x];
    for (int y = y0; y < y1; y++) {
        s += in[(size_t)min(y + r, h - 1) * w + x];
        out[(size_t)y * w + x] = s * inv;
        s -= in[(size_t)max(y - r, 0) * w + x];
    }
}

__constant__ float c_g7[7] = {0.0702f, 0.1311f, 0.1907f, 0.2161f, 0.1907f, 0.1311f, 0.0702f};
extern "C" __global__ void __launch_bounds__(256) gauss7_u8_shared(const u8 *__restrict__ in, u8 *__restrict__ out, int w, int h)
{
    __shared__ float t[38][38 + 1], m[38][33];
    int x0 = blockIdx.x * 32 - 3, y0 = blockIdx.y * 32 - 3, tid = threadIdx.y * 32 + threadIdx.x;
    for (int i = tid; i < 38 * 38; i += 256) {
        int y = i / 38, x = i % 38;
        t[y][x] = in[(size_t)min(max(y0 + y, 0), h - 1) * w + min(max(x0 + x, 0), w - 1)];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 38; y += 8) {
        float s = 0;
#pragma unroll
        for (int k = 0; k < 7; k++) s += c_g7[k] * t[y][threadIdx.x + k];
        m[y][threadIdx.x] = s;
    }
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int ly = threadIdx.y + 8 * j, y = blockIdx.y * 32 + ly;
        float s = 0.5f;
#pragma unroll
        for (int k = 0; k < 7; k++) s += c_g7[k] * m[ly + k][threadIdx.x];
        if (x < w && y < h) out[(size_t)y * w + x] = (u8)s;
    }
}

// Sobel, then the maximum along the gradient's direction
extern "C" __global__ void __launch_bounds__(256) canny_sobel_nms(const float *__restrict__ in, u8 *__restrict__ edge, int w, int h, float lo, float hi)
{
    __shared__ float p[12][36], mag[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 32 + tx, x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 8 - 2;
    for (int i = tid; i < 12 * 36; i += 256) {
        int y = i / 36, x = i % 36;
        p[y][x] = in[(size_t)min(max(y0 + y, 0), h - 1) * w + min(max(x0 + x, 0), w - 1)];
    }
    __syncthreads();
    for (int i = tid; i < 10 * 34; i += 256) {
        int y = i / 34 + 1, x = i % 34 + 1;
        float gx = p[y - 1][x + 1] + 2.f * p[y][x + 1] + p[y + 1][x + 1] - p[y - 1][x - 1] - 2.f * p[y][x - 1] - p[y + 1][x - 1];
        float gy = p[y + 1][x - 1] + 2.f * p[y + 1][x] + p[y + 1][x + 1] - p[y - 1][x - 1] - 2.f * p[y - 1][x] - p[y - 1][x + 1];
        mag[y - 1][x - 1] = sqrtf(gx * gx + gy * gy);
    }
    __syncthreads();
    int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    if (x >= w || y >= h) return;
    int cy = ty + 2, cx = tx + 2;
    float gx = p[cy - 1][cx + 1] + 2.f * p[cy][cx + 1] + p[cy + 1][cx + 1] - p[cy - 1][cx - 1] - 2.f * p[cy][cx - 1] - p[cy + 1][cx - 1];
    float gy = p[cy + 1][cx - 1] + 2.f * p[cy + 1][cx] + p[cy + 1][cx + 1] - p[cy - 1][cx - 1] - 2.f * p[cy - 1][cx] - p[cy - 1][cx + 1];
    float m = mag[ty + 1][tx + 1], ax = fabsf(gx), ay = fabsf(gy), a, b;
    if (ay < 0.4142f * ax) { a = mag[ty + 1][tx]; b = mag[ty + 1][tx + 2]; }
    else if (ay > 2.4142f * ax) { a = mag[ty][tx + 1]; b = mag[ty + 2][tx + 1]; }
    else {
        int s = (gx * gy > 0) ? 1 : -1;
        a = mag[ty][tx + 1 - s];
        b = mag[ty + 2][tx + 1 + s];
    }
    edge[(size_t)y * w + x] = m >= a && m >= b ? (m > hi ? 255 : m > lo ? 128 : 0) : 0;
}

// equalisation: every block sums the histogram into a table, then maps 16 pixels a thread at a time
extern "C" __global__ void __launch_bounds__(256) histeq_lut_apply(const uint4 *__restrict__ in, const unsigned *__restrict__ hist, uint4 *__restrict__ out, int n16)
{
    __shared__ unsigned ws[8], lut[256];
    int t = threadIdx.x, lane = t & 31, wid = t >> 5;
    unsigned v = hist[t];
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        unsigned u = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += u;
    }
    if (lane == 31) ws[wid] = v;
    __syncthreads();
    unsigned tot = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (k < wid) v += ws[k];
        tot += ws[k];
    }
    lut[t] = min(255u, (unsigned)(255.f * v / max(tot, 1u)));
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n16; i += gridDim.x * 256) {
        uint4 p = in[i];
        unsigned *q = &p.x;
#pragma unroll
        for (int k = 0; k < 4; k++) q[k] = lut[q[k] & 255] | lut[(q[k] >> 8) & 255] << 8 | lut[(q[k] >> 16) & 255] << 16 | lut[q[k] >> 24] << 24;
        out[i] = p;
    }
}

extern "C" __global__ void __launch_bounds__(256) warp_affine_f32x3(const float *__restrict__ src, float *__restrict__ dst, int w, int h, float a, float b, float c, float d, float e, float f)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    float sx = a * x + b * y + c, sy = d * x + e * y + f, fx = floorf(sx), fy = floorf(sy);
    int x0 = (int)fx, y0 = (int)fy;
    float wx = sx - fx, wy = sy - fy;
    size_t n = (size_t)w * h, o = (size_t)y * w + x;
    bool i00 = x0 >= 0 && x0 < w && y0 >= 0 && y0 < h, i01 = x0 + 1 >= 0 && x0 + 1 < w && y0 >= 0 && y0 < h;
    bool i10 = x0 >= 0 && x0 < w && y0 + 1 >= 0 && y0 + 1 < h, i11 = x0 + 1 >= 0 && x0 + 1 < w && y0 + 1 >= 0 && y0 + 1 < h;
#pragma unroll
    for (int p = 0; p < 3; p++) {
        const float *s = src + p * n + (ptrdiff_t)y0 * w + x0;
        float v00 = i00 ? s[0] : 0.f, v01 = i01 ? s[1] : 0.f, v10 = i10 ? s[w] : 0.f, v11 = i11 ? s[w + 1] : 0.f;
        dst[p * n + o] = (1.f - wy) * ((1.f - wx) * v00 + wx * v01) + wy * ((1.f - wx) * v10 + wx * v11);
    }
}

// 16 x 16 DCT by two products with the basis in shared memory; a block does two tiles
extern "C" __global__ void __launch_bounds__(512) dct16_tiles(const float *__restrict__ in, float *__restrict__ out, int w)
{
    __shared__ float bs[16][17], x[2][16][17], y[2][16][17];
    int tx = threadIdx.x & 15, ty = (threadIdx.x >> 4) & 15, z = threadIdx.x >> 8;
    if (z == 0) bs[ty][tx] = (ty ? 0.35355339f : 0.25f) * cospif((2 * tx + 1) * ty / 32.f);
    size_t at = (size_t)(blockIdx.y * 16 + ty) * w + (blockIdx.x * 2 + z) * 16 + tx;
    x[z][ty][tx] = in[at];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) s += bs[ty][k] * x[z][k][tx];
    y[z][ty][tx] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) s += y[z][ty][k] * bs[tx][k];
    out[at] = s;
}
