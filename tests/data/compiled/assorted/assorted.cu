// A mixed bag of CUDA kernels.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda_pipeline.h>
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

// ------------------------------------------------------------------ images
__constant__ float c_spatial[33] = {1.f, .97f, .94f, .91f, .885f, .86f, .83f, .81f, .78f, .76f, .74f, .72f, .70f, .68f, .66f, .64f, .62f,
                                    .60f, .58f, .565f, .55f, .53f, .52f, .50f, .49f, .47f, .46f, .44f, .43f, .42f, .41f, .39f, .38f};

extern "C" __global__ void __launch_bounds__(256) bilateral_rgba_lut(const uchar4 *src, uchar4 *dst, int w, int h, float inv2sr)
{
    constexpr int R = 4, TW = 32, TH = 8, SW = TW + 2 * R, SH = TH + 2 * R;
    __shared__ uchar4 tile[SH][SW];
    __shared__ float lut[256];
    int tid = threadIdx.y * TW + threadIdx.x;
    lut[tid] = __expf(-(float)(tid * tid) * inv2sr);
    int x0 = blockIdx.x * TW - R, y0 = blockIdx.y * TH - R;
    for (int i = tid; i < SH * SW; i += 256) {
        int ty = i / SW, tx = i % SW;
        int gx = min(max(x0 + tx, 0), w - 1), gy = min(max(y0 + ty, 0), h - 1);
        tile[ty][tx] = src[gy * w + gx];
    }
    __syncthreads();
    int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TH + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 c = tile[threadIdx.y + R][threadIdx.x + R];
    float sr = 0, sg = 0, sb = 0, sw = 0;
#pragma unroll 1
    for (int dy = -R; dy <= R; dy++)
#pragma unroll
        for (int dx = -R; dx <= R; dx++) {
            uchar4 q = tile[threadIdx.y + R + dy][threadIdx.x + R + dx];
            int d = (abs(q.x - c.x) + abs(q.y - c.y) + abs(q.z - c.z)) / 3;
            float k = lut[d] * c_spatial[dy * dy + dx * dx];
            sr += k * q.x; sg += k * q.y; sb += k * q.z; sw += k;
        }
    float inv = __fdividef(1.f, sw);
    dst[y * w + x] = make_uchar4(sr * inv, sg * inv, sb * inv, c.w);
}

#define MM(a, b) { unsigned t_ = __vminu4(a, b); b = __vmaxu4(a, b); a = t_; }
extern "C" __global__ void median3_u8x4(const unsigned *src, unsigned *dst, int w4, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w4 || y >= h) return;
    unsigned p[9];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const unsigned *row = src + (size_t)min(max(y + r - 1, 0), h - 1) * w4;
        unsigned m = row[x], l = row[max(x - 1, 0)], n = row[min(x + 1, w4 - 1)];
        p[3 * r] = (m << 8) | (l >> 24);
        p[3 * r + 1] = m;
        p[3 * r + 2] = (m >> 8) | (n << 24);
    }
    MM(p[1], p[2]) MM(p[4], p[5]) MM(p[7], p[8]) MM(p[0], p[1]) MM(p[3], p[4]) MM(p[6], p[7]) MM(p[1], p[2]) MM(p[4], p[5]) MM(p[7], p[8])
    MM(p[0], p[3]) MM(p[5], p[8]) MM(p[4], p[7]) MM(p[3], p[6]) MM(p[1], p[4]) MM(p[2], p[5]) MM(p[4], p[7]) MM(p[4], p[2]) MM(p[6], p[4]) MM(p[4], p[2])
    dst[(size_t)y * w4 + x] = p[4];
}

// prefix of each row of a grey image, a CTA a row
extern "C" __global__ void __launch_bounds__(256) integral_rows_u8(const u8 *src, unsigned *dst, int w)
{
    __shared__ unsigned wtot[8];
    const uint2 *row = (const uint2 *)(src + (size_t)blockIdx.x * w);
    uint4 *out = (uint4 *)(dst + (size_t)blockIdx.x * w);
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    unsigned carry = 0;
    for (int base = 0; base < w; base += 2048) {
        int i = base / 8 + threadIdx.x;
        uint2 v = i * 8 < w ? row[i] : make_uint2(0, 0);
        unsigned s[8];
#pragma unroll
        for (int k = 0; k < 8; k++) s[k] = ((k < 4 ? v.x : v.y) >> (8 * (k & 3))) & 255;
#pragma unroll
        for (int k = 1; k < 8; k++) s[k] += s[k - 1];
        unsigned t = s[7];
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            unsigned n = __shfl_up_sync(~0u, t, o);
            if (lane >= o) t += n;
        }
        if (lane == 31) wtot[wid] = t;
        __syncthreads();
        unsigned before = carry, all = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            unsigned q = wtot[k];
            if (k < wid) before += q;
            all += q;
        }
        unsigned ex = before + t - s[7];
        if (i * 8 < w) {
            out[2 * i] = make_uint4(s[0] + ex, s[1] + ex, s[2] + ex, s[3] + ex);
            out[2 * i + 1] = make_uint4(s[4] + ex, s[5] + ex, s[6] + ex, s[7] + ex);
        }
        carry += all;
        __syncthreads();
    }
}

extern "C" __global__ void lanczos3_h_rgb8(const u8 *src, u8 *dst, int sw, int dw, int h, float scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= dw) return;
    float c = (x + 0.5f) * scale - 0.5f;
    int x0 = (int)floorf(c) - 2;
    float r = 0, g = 0, b = 0, ws = 0;
    const u8 *row = src + (size_t)y * sw * 3;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        float d = c - (x0 + k);
        float pd = 3.14159265f * d + 1e-6f;
        float wgt = 3.f * __sinf(pd) * __sinf(pd * (1.f / 3.f)) / (pd * pd);
        int sx = min(max(x0 + k, 0), sw - 1) * 3;
        r += wgt * row[sx]; g += wgt * row[sx + 1]; b += wgt * row[sx + 2]; ws += wgt;
    }
    float inv = 1.f / ws;
    u8 *o = dst + ((size_t)y * dw + x) * 3;
    o[0] = (u8)fminf(fmaxf(r * inv, 0.f), 255.f);
    o[1] = (u8)fminf(fmaxf(g * inv, 0.f), 255.f);
    o[2] = (u8)fminf(fmaxf(b * inv, 0.f), 255.f);
}

extern "C" __global__ void nv12_to_rgba(const u8 *yp, const uchar2 *uvp, uchar4 *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * x >= w || 2 * y >= h) return;
    uchar2 uv = uvp[y * (w / 2) + x];
    int u = uv.x - 128, v = uv.y - 128;
    int rr = 409 * v + 128, gg = -100 * u - 208 * v + 128, bb = 516 * u + 128;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        uchar2 l = *(const uchar2 *)(yp + (2 * y + j) * w + 2 * x);
        uchar4 px[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = 298 * ((i ? l.y : l.x) - 16);
            px[i] = make_uchar4(min(max((c + rr) >> 8, 0), 255), min(max((c + gg) >> 8, 0), 255), min(max((c + bb) >> 8, 0), 255), 255);
        }
        *(uint2 *)(out + (2 * y + j) * w + 2 * x) = make_uint2(*(unsigned *)&px[0], *(unsigned *)&px[1]);
    }
}

__constant__ float c_quant[64] = {
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
__constant__ u8 c_zigzag[64] = {0, 1, 5, 6, 14, 15, 27, 28, 2, 4, 7, 13, 16, 26, 29, 42, 3, 8, 12, 17, 25, 30, 41, 43, 9, 11, 18, 24, 31, 40, 44, 53,
                                10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};
__device__ __forceinline__ void dct8(float *v)
{
    float a0 = v[0] + v[7], a7 = v[0] - v[7], a1 = v[1] + v[6], a6 = v[1] - v[6], a2 = v[2] + v[5], a5 = v[2] - v[5], a3 = v[3] + v[4], a4 = v[3] - v[4];
    float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    v[0] = 0.35355339f * (b0 + b1);
    v[4] = 0.35355339f * (b0 - b1);
    v[2] = 0.46193977f * b3 + 0.19134172f * b2;
    v[6] = 0.19134172f * b3 - 0.46193977f * b2;
    v[1] = 0.49039264f * a7 + 0.41573481f * a6 + 0.27778512f * a5 + 0.09754516f * a4;
    v[3] = 0.41573481f * a7 - 0.09754516f * a6 - 0.49039264f * a5 - 0.27778512f * a4;
    v[5] = 0.27778512f * a7 - 0.49039264f * a6 + 0.09754516f * a5 + 0.41573481f * a4;
    v[7] = 0.09754516f * a7 - 0.27778512f * a6 + 0.41573481f * a5 - 0.49039264f * a4;
}
// 128 threads: 16 blocks side by side, eight threads each
extern "C" __global__ void __launch_bounds__(128) jpeg_fdct_quant(const u8 *img, short *coef, int w)
{
    __shared__ float t[16][8][9];
    int b = threadIdx.x >> 3, r = threadIdx.x & 7;
    int bx = blockIdx.x * 16 + b, by = blockIdx.y;
    float v[8];
    uint2 px = *(const uint2 *)(img + (size_t)(by * 8 + r) * w + bx * 8);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = (float)(((k < 4 ? px.x : px.y) >> (8 * (k & 3))) & 255) - 128.f;
    dct8(v);
#pragma unroll
    for (int k = 0; k < 8; k++) t[b][r][k] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = t[b][k][r];
    dct8(v);
    short *o = coef + ((size_t)by * (w / 8) + bx) * 64;
#pragma unroll
    for (int k = 0; k < 8; k++) o[c_zigzag[k * 8 + r]] = (short)__float2int_rn(v[k] / c_quant[k * 8 + r]);
}

extern "C" __global__ void __launch_bounds__(256) nlm_gray(const float *src, float *dst, int w, int h, float ih2)
{
    constexpr int S = 5, P = 1, T = 16, E = T + 2 * (S + P);
    __shared__ float t[E][E + 1];
    for (int i = threadIdx.y * T + threadIdx.x; i < E * E; i += T * T) {
        int gx = min(max((int)blockIdx.x * T - S - P + i % E, 0), w - 1), gy = min(max((int)blockIdx.y * T - S - P + i / E, 0), h - 1);
        t[i / E][i % E] = src[gy * w + gx];
    }
    __syncthreads();
    int cx = threadIdx.x + S + P, cy = threadIdx.y + S + P;
    float own[9], sum = 0, ws = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) own[k] = t[cy + k / 3 - 1][cx + k % 3 - 1];
    for (int dy = -S; dy <= S; dy++)
        for (int dx = -S; dx <= S; dx++) {
            float d = 0;
#pragma unroll
            for (int k = 0; k < 9; k++) {
                float e = t[cy + dy + k / 3 - 1][cx + dx + k % 3 - 1] - own[k];
                d = fmaf(e, e, d);
            }
            float k = __expf(-d * ih2);
            sum += k * t[cy + dy][cx + dx];
            ws += k;
        }
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x < w && y < h) dst[y * w + x] = sum / ws;
}

// ------------------------------------------------------------------ finance
extern "C" __global__ void __launch_bounds__(256) american_put_tree(const float *spot, const float *strike, float *price, int steps, float dt, float vol, float rate)
{
    extern __shared__ float val[];
    float s0 = spot[blockIdx.x], k = strike[blockIdx.x];
    float u = __expf(vol * sqrtf(dt)), d = 1.f / u, disc = __expf(-rate * dt);
    float pu = (__expf(rate * dt) - d) / (u - d) * disc, pd = disc - pu;
    float lu = vol * sqrtf(dt);
    for (int j = threadIdx.x; j <= steps; j += blockDim.x) val[j] = fmaxf(k - s0 * __expf(lu * (2 * j - steps)), 0.f);
    for (int t = steps - 1; t >= 0; t--) {
        for (int b = 0; b <= t; b += 256) {
            int j = b + threadIdx.x;
            __syncthreads();
            float v = 0;
            if (j <= t) v = fmaxf(pu * val[j + 1] + pd * val[j], k - s0 * __expf(lu * (2 * j - t)));
            __syncthreads();
            if (j <= t) val[j] = v;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) price[blockIdx.x] = val[0];
}

extern "C" __global__ void __launch_bounds__(128) asian_call_philox(float *sum, int steps4, unsigned seed, float s0, float k, float drift, float sig)
{
    __shared__ float part[4];
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    float ls = 0.f, acc = 0.f;
    for (int s = 0; s < steps4; s++) {
        uint4 r = philox10(make_uint4(id, s, 0, 0), seed, 0x1234567u);
        float u0 = (r.x + 1.f) * 2.3283064e-10f, u1 = r.y * 1.4629181e-9f, u2 = (r.z + 1.f) * 2.3283064e-10f, u3 = r.w * 1.4629181e-9f;
        float m0 = sqrtf(-2.f * __logf(u0)), m1 = sqrtf(-2.f * __logf(u2)), a, b, c, d;
        __sincosf(u1, &a, &b);
        __sincosf(u3, &c, &d);
        ls += drift + sig * m0 * a; acc += __expf(ls);
        ls += drift + sig * m0 * b; acc += __expf(ls);
        ls += drift + sig * m1 * c; acc += __expf(ls);
        ls += drift + sig * m1 * d; acc += __expf(ls);
    }
    float pay = fmaxf(s0 * acc / (4 * steps4) - k, 0.f);
    pay = wsum(pay);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = pay;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, part[0] + part[1] + part[2] + part[3]);
}

// ------------------------------------------------------------------ physics
extern "C" __global__ void fdtd3d_step_e(float *ex, float *ey, float *ez, const float *hx, const float *hy, const float *hz, int nx, int ny, int nz, float c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx || j >= ny) return;
    int pl = nx * ny, q = j * nx + i;
    float hxm = hx[q], hym = hy[q];
    for (int k = 1; k < nz; k++) {
        q += pl;
        float hx0 = hx[q], hy0 = hy[q], hz0 = hz[q];
        ex[q] += c * ((hz0 - hz[q - nx]) - (hy0 - hym));
        ey[q] += c * ((hx0 - hxm) - (hz0 - hz[q - 1]));
        ez[q] += c * ((hy0 - hy[q - 1]) - (hx0 - hx[q - nx]));
        hxm = hx0;
        hym = hy0;
    }
}

// compact checkerboard: rows of n/2 bytes for each colour, bit 0 is the spin
extern "C" __global__ void ising_metropolis(u8 *mine, const u8 *other, int n, int half, int black, unsigned seed, float beta2)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= half) return;
    int up = y ? y - 1 : n - 1, dn = y + 1 < n ? y + 1 : 0;
    int side = ((y & 1) ^ black) ? (x + 1 < half ? x + 1 : 0) : (x ? x - 1 : half - 1);
    int nb = (other[up * half + x] & 1) + (other[dn * half + x] & 1) + (other[y * half + x] & 1) + (other[y * half + side] & 1);
    u8 s = mine[y * half + x];
    int e = (2 * nb - 4) * ((s & 1) ? 1 : -1);
    float r = hash32(seed ^ (y * half + x)) * 2.3283064e-10f;
    s ^= r < __expf(-beta2 * e);
    mine[y * half + x] = s;
}

extern "C" __global__ void __launch_bounds__(128) lj_force_ell(const float4 *pos, const int *nbr, float4 *force, int n, int k, float rc2)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float4 p = pos[i];
    float fx = 0, fy = 0, fz = 0, pe = 0;
    for (int m = 0; m < k; m++) {
        float4 q = __ldg(&pos[nbr[m * n + i]]);
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
        float r2 = dx * dx + dy * dy + dz * dz + 1e-4f;
        float inv = r2 < rc2 ? 1.f / r2 : 0.f, i6 = inv * inv * inv;
        float f = 24.f * inv * i6 * (2.f * i6 - 1.f);
        fx += f * dx; fy += f * dy; fz += f * dz; pe += 4.f * i6 * (i6 - 1.f);
    }
    force[i] = make_float4(fx, fy, fz, pe);
}

extern "C" __global__ void cic_deposit(const int *cell, const float *fx, const float *fy, const float *fz, float *rho, int n, int nx, int nxy)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = fabsf(fx[i]), y = fabsf(fy[i]), z = fabsf(fz[i]);
        float *r = rho + cell[i];
        float a = (1 - x) * (1 - y), b = x * (1 - y), c = (1 - x) * y, d = x * y;
        atomicAdd(r, a * (1 - z)); atomicAdd(r + 1, b * (1 - z)); atomicAdd(r + nx, c * (1 - z)); atomicAdd(r + nx + 1, d * (1 - z));
        r += nxy;
        atomicAdd(r, a * z); atomicAdd(r + 1, b * z); atomicAdd(r + nx, c * z); atomicAdd(r + nx + 1, d * z);
    }
}

// a warp a cell of a two-dimensional grid, particles sorted by cell
extern "C" __global__ void sph_density_cells(const int *start, const float2 *pos, float *rho, int g, float h2, float coef)
{
    int cell = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (cell >= g * g) return;
    int cx = cell % g, cy = cell / g;
    int e0 = start[cell + 1];
    for (int i = start[cell] + lane; i < e0; i += 32) {
        float2 p = pos[i];
        float d = 0;
        for (int yy = max(cy - 1, 0); yy <= min(cy + 1, g - 1); yy++) {
            int b = start[yy * g + max(cx - 1, 0)], e = start[yy * g + min(cx + 1, g - 1) + 1];
            for (int j = b; j < e; j++) {
                float2 q = pos[j];
                float dx = p.x - q.x, dy = p.y - q.y;
                float w = fmaxf(h2 - dx * dx - dy * dy, 0.f);
                d += w * w * w;
            }
        }
        rho[i] = coef * d;
    }
}

__device__ constexpr int LX[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__device__ constexpr int LY[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__device__ constexpr int LZ[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
extern "C" __global__ void __launch_bounds__(128) lbm_d3q19_pull(const float *fin, float *fout, int nx, int ny, int nz, float omega)
{
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= nx) return;
    size_t n = (size_t)nx * ny * nz;
    float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int q = 0; q < 19; q++) {
        int sx = x - LX[q], sy = y - LY[q], sz = z - LZ[q];
        sx = sx < 0 ? nx - 1 : sx >= nx ? 0 : sx;
        sy = sy < 0 ? ny - 1 : sy >= ny ? 0 : sy;
        sz = sz < 0 ? nz - 1 : sz >= nz ? 0 : sz;
        f[q] = fin[q * n + ((size_t)sz * ny + sy) * nx + sx];
        rho += f[q]; ux += LX[q] * f[q]; uy += LY[q] * f[q]; uz += LZ[q] * f[q];
    }
    float ir = 1.f / rho;
    ux *= ir; uy *= ir; uz *= ir;
    float uu = 1.5f * (ux * ux + uy * uy + uz * uz);
    size_t o = ((size_t)z * ny + y) * nx + x;
#pragma unroll
    for (int q = 0; q < 19; q++) {
        float w = q == 0 ? 1.f / 3 : q < 7 ? 1.f / 18 : 1.f / 36;
        float cu = 3.f * (LX[q] * ux + LY[q] * uy + LZ[q] * uz);
        float eq = w * rho * (1.f + cu + 0.5f * cu * cu - uu);
        fout[q * n + o] = f[q] + omega * (eq - f[q]);
    }
}

extern "C" __global__ void redblack_sor_f64(double *u, const double *rhs, int n, int colour, double om)
{
    int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((j + colour) & 1);
    if (i >= n - 1 || j >= n - 1) return;
    size_t q = (size_t)j * n + i;
    double r = 0.25 * (u[q - 1] + u[q + 1] + u[q - n] + u[q + n] - rhs[q]);
    u[q] += om * (r - u[q]);
}

extern "C" __global__ void weno5_face_f64(const double *u, double *flux, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (i >= n - 2) return;
    double a = u[i - 2], b = u[i - 1], c = u[i], d = u[i + 1], e = u[i + 2];
    double t0 = a - 2 * b + c, t1 = b - 2 * c + d, t2 = c - 2 * d + e;
    double s0 = 13.0 / 12 * t0 * t0 + 0.25 * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
    double s1 = 13.0 / 12 * t1 * t1 + 0.25 * (b - d) * (b - d);
    double s2 = 13.0 / 12 * t2 * t2 + 0.25 * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
    double w0 = 0.1 / ((1e-6 + s0) * (1e-6 + s0)), w1 = 0.6 / ((1e-6 + s1) * (1e-6 + s1)), w2 = 0.3 / ((1e-6 + s2) * (1e-6 + s2));
    double r = w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e);
    flux[i] = r / (6.0 * (w0 + w1 + w2));
}

// ------------------------------------------------------------------ rays, fractals, noise
extern "C" __global__ void newton_cubic(uchar4 *img, int w, int h, float x0, float y0, float step, int maxit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float x = x0 + px * step, y = y0 + py * step;
    int it = 0;
    for (; it < maxit; it++) {
        float x2 = x * x, y2 = y * y, m = x2 + y2;
        float d = __fdividef(1.f, 3.f * m * m + 1e-20f);
        float nx = (2.f * x + 3.f * d * (x2 - y2)) * (1.f / 3), ny = (2.f * y - 6.f * d * x * y) * (1.f / 3);
        float e = fabsf(nx - x) + fabsf(ny - y);
        x = nx;
        y = ny;
        if (e < 1e-5f) break;
    }
    int root = x > 0 ? 0 : y > 0 ? 1 : 2;
    u8 v = 255 - 4 * min(it, 60);
    img[py * w + px] = make_uchar4(root == 0 ? v : 0, root == 1 ? v : 0, root == 2 ? v : 0, 255);
}

extern "C" __global__ void volume_mip_u8(const u8 *vol, float *img, int w, int h, int dim, int steps, float tilt)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float lim = dim - 2;
    float px = (float)x / w * lim, py = (float)y / h * lim, pz = 0.f, ds = lim / steps, best = 0;
    for (int s = 0; s < steps; s++) {
        float cx = fminf(fmaxf(px, 0.f), lim), cy = fminf(fmaxf(py, 0.f), lim), cz = fminf(fmaxf(pz, 0.f), lim);
        int ix = (int)cx, iy = (int)cy, iz = (int)cz;
        float fx = cx - ix, fy = cy - iy, fz = cz - iz;
        const u8 *v = vol + ((size_t)iz * dim + iy) * dim + ix;
        int p = dim * dim;
        float a = v[0] + fx * (v[1] - v[0]), b = v[dim] + fx * (v[dim + 1] - v[dim]);
        float c = v[p] + fx * (v[p + 1] - v[p]), d = v[p + dim] + fx * (v[p + dim + 1] - v[p + dim]);
        a += fy * (b - a);
        c += fy * (d - c);
        best = fmaxf(best, a + fz * (c - a));
        pz += ds;
        px += tilt;
    }
    img[y * w + x] = best;
}

extern "C" __global__ void collatz_len(unsigned *len, unsigned first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 v = first + i;
    unsigned c = 0;
    while (v != 1) {
        v = (v & 1) ? 3 * v + 1 : v >> 1;
        c++;
    }
    len[i] = c;
}

extern "C" __global__ void __launch_bounds__(256) perlin_fbm(const u8 *perm, float *out, int w, int h, float freq, int octaves)
{
    __shared__ u8 p[512];
    int t = threadIdx.y * 32 + threadIdx.x;
    p[t] = p[t + 256] = perm[t];
    __syncthreads();
    int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    if (px >= w || py >= h) return;
    float acc = 0, amp = 0.5f;
    for (int o = 0; o < octaves; o++, freq *= 2, amp *= 0.5f) {
        float x = px * freq, y = py * freq;
        int xi = (int)floorf(x), yi = (int)floorf(y);
        float fx = x - xi, fy = y - yi;
        xi &= 255; yi &= 255;
        float u = fx * fx * fx * (fx * (fx * 6 - 15) + 10), v = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
        float g[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int hsh = p[p[(xi + (k & 1)) & 255] + ((yi + (k >> 1)) & 255)];
            float gx = fx - (k & 1), gy = fy - (k >> 1);
            g[k] = ((hsh & 1) ? -gx : gx) + ((hsh & 2) ? -2 * gy : 2 * gy);
        }
        float a = g[0] + u * (g[1] - g[0]), b = g[2] + u * (g[3] - g[2]);
        acc += amp * (a + v * (b - a));
    }
    out[py * w + px] = acc;
}

// ------------------------------------------------------------------ linear algebra
extern "C" __global__ void __launch_bounds__(128) lu32_warp_shfl(float *a, int batch)
{
    int m = (blockIdx.x * 128 + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (m >= batch) return;
    float *p = a + (size_t)m * 1024 + lane;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; i++) v[i] = p[i * 32] + (i == lane ? 33.f : 0.f);
#pragma unroll
    for (int k = 0; k < 31; k++) {
        float rp = 1.f / __shfl_sync(~0u, v[k], k);
#pragma unroll
        for (int i = k + 1; i < 32; i++) {
            float l = __shfl_sync(~0u, v[i], k) * rp;
            if (lane == k) v[i] = l;
            if (lane > k) v[i] -= l * v[k];
        }
    }
#pragma unroll
    for (int i = 0; i < 32; i++) p[i * 32] = v[i] * 0.02f;
}

extern "C" __global__ void __launch_bounds__(64) qr6_mgs_f64(const double *a, double *q, double *r, int n)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    if (t >= n) return;
    double m[6][6];
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j < 6; j++) m[i][j] = a[(i * 6 + j) * (size_t)n + t];
#pragma unroll
    for (int j = 0; j < 6; j++) {
        double s = 0;
#pragma unroll
        for (int i = 0; i < 6; i++) s += m[i][j] * m[i][j];
        double nrm = sqrt(s), inv = 1.0 / nrm;
        r[(j * 6 + j) * (size_t)n + t] = nrm;
#pragma unroll
        for (int i = 0; i < 6; i++) m[i][j] *= inv;
#pragma unroll
        for (int k = j + 1; k < 6; k++) {
            double d = 0;
#pragma unroll
            for (int i = 0; i < 6; i++) d += m[i][j] * m[i][k];
            r[(j * 6 + k) * (size_t)n + t] = d;
#pragma unroll
            for (int i = 0; i < 6; i++) m[i][k] -= d * m[i][j];
        }
    }
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j < 6; j++) q[(i * 6 + j) * (size_t)n + t] = m[i][j];
}

extern "C" __global__ void thomas_interleaved(const float *a, const float *b, const float *c, const float *d, float *x, float *cp, int n, int batch)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch) return;
    float w = 1.f / (b[t] + 4.f), cc = c[t] * w, dd = d[t] * w;
    cp[t] = cc;
    x[t] = dd;
    for (int i = 1; i < n; i++) {
        size_t q = (size_t)i * batch + t;
        w = 1.f / (b[q] + 4.f - a[q] * cc);
        cc = c[q] * w;
        dd = (d[q] - a[q] * dd) * w;
        cp[q] = cc;
        x[q] = dd;
    }
    for (int i = n - 2; i >= 0; i--) {
        size_t q = (size_t)i * batch + t;
        dd = x[q] - cp[q] * dd;
        x[q] = dd;
    }
}

extern "C" __global__ void __launch_bounds__(512) pcr512(const float *ga, const float *gb, const float *gc, const float *gd, float *gx)
{
    __shared__ float a[512], b[512], c[512], d[512];
    int t = threadIdx.x;
    size_t q = (size_t)blockIdx.x * 512 + t;
    a[t] = t ? ga[q] : 0.f;
    c[t] = t < 511 ? gc[q] : 0.f;
    b[t] = gb[q] + 4.f;
    d[t] = gd[q];
    __syncthreads();
#pragma unroll
    for (int s = 1; s < 512; s <<= 1) {
        int l = max(t - s, 0), r = min(t + s, 511);
        float k1 = t >= s ? a[t] / b[l] : 0.f, k2 = t + s < 512 ? c[t] / b[r] : 0.f;
        float nb = b[t] - c[l] * k1 - a[r] * k2, nd = d[t] - d[l] * k1 - d[r] * k2;
        float na = -a[l] * k1, nc = -c[r] * k2;
        __syncthreads();
        a[t] = na; b[t] = nb; c[t] = nc; d[t] = nd;
        __syncthreads();
    }
    gx[q] = d[t] / b[t];
}

extern "C" __global__ void spmv_ell(const int *col, const float *val, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < width; k++) {
        size_t q = (size_t)k * rows + r;
        s += val[q] * __ldg(x + col[q]);
    }
    y[r] = s;
}

extern "C" __global__ void spmv_coo_segred(const int *row, const int *col, const float *val, const float *x, float *y, int nnz)
{
    int lane = threadIdx.x & 31;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x) {
        int r = row[i];
        float v = val[i] * x[col[i]];
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            float n = __shfl_down_sync(~0u, v, o);
            int rn = __shfl_down_sync(~0u, r, o);
            if (lane + o < 32 && rn == r) v += n;
        }
        int rp = __shfl_up_sync(~0u, r, 1);
        if (lane == 0 || rp != r) atomicAdd(y + r, v);
    }
}

extern "C" __global__ void spmv_bsr4(const int *ptr, const int *bcol, const float *val, const float *x, float *y, int brows)
{
    int br = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (br >= brows) return;
    int e = lane & 15;
    float s = 0;
    for (int k = ptr[br] + (lane >> 4); k < ptr[br + 1]; k += 2) s += val[(size_t)k * 16 + e] * x[bcol[k] * 4 + (e & 3)];
    s += __shfl_down_sync(~0u, s, 16);
    s += __shfl_xor_sync(~0u, s, 1);
    s += __shfl_xor_sync(~0u, s, 2);
    if (lane < 16 && (lane & 3) == 0) y[br * 4 + (lane >> 2)] = s;
}

extern "C" __global__ void __launch_bounds__(128) bgemm16_warp(const float *a, const float *b, float *c, int batch)
{
    __shared__ __align__(16) float sa[4][16][17];
    __shared__ __align__(16) float sb[4][16][16];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31;
    for (int m = blockIdx.x * 4 + w; m < batch; m += gridDim.x * 4) {
        const float4 *pa = (const float4 *)(a + (size_t)m * 256), *pb = (const float4 *)(b + (size_t)m * 256);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int i = lane + 32 * k;
            float4 va = pa[i], vb = pb[i];
            float *d = &sa[w][i >> 2][(i & 3) * 4];
            d[0] = va.x; d[1] = va.y; d[2] = va.z; d[3] = va.w;
            *(float4 *)&sb[w][i >> 2][(i & 3) * 4] = vb;
        }
        __syncwarp();
        int r = lane >> 1, c0 = (lane & 1) * 8;
        float acc[8] = {};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float x = sa[w][r][k];
            float4 b0 = *(float4 *)&sb[w][k][c0], b1 = *(float4 *)&sb[w][k][c0 + 4];
            acc[0] += x * b0.x; acc[1] += x * b0.y; acc[2] += x * b0.z; acc[3] += x * b0.w;
            acc[4] += x * b1.x; acc[5] += x * b1.y; acc[6] += x * b1.z; acc[7] += x * b1.w;
        }
        float4 *pc = (float4 *)(c + (size_t)m * 256 + r * 16 + c0);
        pc[0] = make_float4(acc[0], acc[1], acc[2], acc[3]);
        pc[1] = make_float4(acc[4], acc[5], acc[6], acc[7]);
        __syncwarp();
    }
}

// C = A B^T in double precision on tensor cores, 64 x 64 by four warps, K by 16
extern "C" __global__ void __launch_bounds__(128) dmma_nt_64x64(const double *A, const double *B, double *C, int M, int N, int K)
{
    __shared__ __align__(16) double sa[64][18];
    __shared__ __align__(16) double sb[64][18];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, wm = (w >> 1) * 32, wn = (w & 1) * 32;
    int g = lane >> 2, t = lane & 3;
    double acc[4][4][2] = {};
    const double *pa = A + (size_t)blockIdx.y * 64 * K, *pb = B + (size_t)blockIdx.x * 64 * K;
    for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = threadIdx.x + i * 128, r = q >> 3, c = (q & 7) * 2;
            *(double2 *)&sa[r][c] = *(const double2 *)(pa + (size_t)r * K + k0 + c);
            *(double2 *)&sb[r][c] = *(const double2 *)(pb + (size_t)r * K + k0 + c);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k += 4) {
            double fa[4], fb[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                fa[i] = sa[wm + i * 8 + g][k + t];
                fb[i] = sb[wn + i * 8 + g][k + t];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                                 : "+d"(acc[i][j][0]), "+d"(acc[i][j][1]) : "d"(fa[i]), "d"(fb[j]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            *(double2 *)(C + (size_t)(blockIdx.y * 64 + wm + i * 8 + g) * N + blockIdx.x * 64 + wn + j * 8 + 2 * t) = make_double2(acc[i][j][0], acc[i][j][1]);
}

// binary networks: agreement of rows of bits
extern "C" __global__ void __launch_bounds__(256) xnor_gemm_popc(const unsigned *A, const unsigned *B, int *C, int N, int kw)
{
    __shared__ __align__(16) unsigned sa[16][68];
    __shared__ __align__(16) unsigned sb[16][68];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    int acc[4][4] = {};
    for (int k0 = 0; k0 < kw; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = i * 16 + ty;
            sa[tx][r] = A[(size_t)(blockIdx.y * 64 + r) * kw + k0 + tx];
            sb[tx][r] = B[(size_t)(blockIdx.x * 64 + r) * kw + k0 + tx];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            uint4 a = *(uint4 *)&sa[k][ty * 4], b = *(uint4 *)&sb[k][tx * 4];
            unsigned av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += __popc(~(av[i] ^ bv[j]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(int4 *)(C + (size_t)(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 4) =
            make_int4(2 * acc[i][0] - 32 * kw, 2 * acc[i][1] - 32 * kw, 2 * acc[i][2] - 32 * kw, 2 * acc[i][3] - 32 * kw);
}

// C = A B, row-major, 64 x 128 x 8, next tile in registers
extern "C" __global__ void __launch_bounds__(256, 2) sgemm_64x128_regprefetch(const float *A, const float *B, float *C, int M, int N, int K, float alpha)
{
    __shared__ __align__(16) float sa[2][8][64 + 4];
    __shared__ __align__(16) float sb[2][8][128];
    int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4;
    int ar = tid >> 2, ac = (tid & 3) * 2, br = tid >> 5, bc = (tid & 31) * 4;
    const float *pa = A + (size_t)(blockIdx.y * 64 + ar) * K + ac;
    const float *pb = B + (size_t)br * N + blockIdx.x * 128 + bc;
    float2 ra = *(const float2 *)pa;
    float4 rb = *(const float4 *)pb;
    float acc[4][8] = {};
    sa[0][ac][ar] = ra.x;
    sa[0][ac + 1][ar] = ra.y;
    *(float4 *)&sb[0][br][bc] = rb;
    __syncthreads();
    int cur = 0;
    for (int k0 = 8;; k0 += 8) {
        bool more = k0 < K;
        if (more) {
            ra = *(const float2 *)(pa + k0);
            rb = *(const float4 *)(pb + (size_t)k0 * N);
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 a = *(float4 *)&sa[cur][k][ty * 4], b0 = *(float4 *)&sb[cur][k][tx * 4], b1 = *(float4 *)&sb[cur][k][64 + tx * 4];
            float av[4] = {a.x, a.y, a.z, a.w}, bv[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) acc[i][j] = fmaf(av[i], bv[j], acc[i][j]);
        }
        if (!more) break;
        cur ^= 1;
        sa[cur][ac][ar] = ra.x;
        sa[cur][ac + 1][ar] = ra.y;
        *(float4 *)&sb[cur][br][bc] = rb;
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float *o = C + (size_t)(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 128 + tx * 4;
        *(float4 *)o = make_float4(alpha * acc[i][0], alpha * acc[i][1], alpha * acc[i][2], alpha * acc[i][3]);
        *(float4 *)(o + 64) = make_float4(alpha * acc[i][4], alpha * acc[i][5], alpha * acc[i][6], alpha * acc[i][7]);
    }
}

// lower triangle of A A^T
extern "C" __global__ void __launch_bounds__(256) ssyrk_lower(const float *A, float *C, int n, int k)
{
    if (blockIdx.x > blockIdx.y) return;
    __shared__ float sa[16][65], sb[16][65];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int r = ty + 16 * i;
            sa[tx][r] = A[(size_t)(blockIdx.y * 64 + r) * k + k0 + tx];
            sb[tx][r] = A[(size_t)(blockIdx.x * 64 + r) * k + k0 + tx];
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 16; q++) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) { a[i] = sa[q][ty + 16 * i]; b[i] = sb[q][tx + 16 * i]; }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = blockIdx.y * 64 + ty + 16 * i, c = blockIdx.x * 64 + tx + 16 * j;
            if (c <= r) C[(size_t)r * n + c] = acc[i][j];
        }
}

// L x = b with a unit lower triangle of 64, a thread a column
extern "C" __global__ void __launch_bounds__(128) trsm_unit_lower64(const float *L, float *B, int n)
{
    __shared__ float l[64][64];
    for (int i = threadIdx.x; i < 4096; i += 128) l[i >> 6][i & 63] = L[i] * 0.05f;
    __syncthreads();
    int c = blockIdx.x * 128 + threadIdx.x;
    if (c >= n) return;
    float x[64];
#pragma unroll
    for (int i = 0; i < 64; i++) x[i] = B[(size_t)i * n + c];
#pragma unroll
    for (int i = 1; i < 64; i++)
#pragma unroll
        for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
#pragma unroll
    for (int i = 0; i < 64; i++) B[(size_t)i * n + c] = x[i];
}

extern "C" __global__ void gemv_t_rowsplit(const float4 *A, const float *x, float *y, int rows, int cols4, int chunk)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols4) return;
    int r0 = blockIdx.y * chunk, r1 = min(r0 + chunk, rows);
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int r = r0; r < r1; r++) {
        float4 a = A[(size_t)r * cols4 + c];
        float v = __ldg(x + r);
        s.x += a.x * v; s.y += a.y * v; s.z += a.z * v; s.w += a.w * v;
    }
    atomicAdd(y + 4 * c, s.x); atomicAdd(y + 4 * c + 1, s.y); atomicAdd(y + 4 * c + 2, s.z); atomicAdd(y + 4 * c + 3, s.w);
}

// 16 rows only: eight warps share K, 32 columns a CTA
extern "C" __global__ void __launch_bounds__(256) skinny_wmma_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int N, int K)
{
    using namespace nvcuda::wmma;
    __shared__ float red[8][16 * 32];
    int w = threadIdx.x >> 5;
    fragment<accumulator, 16, 16, 16, float> acc[2];
    fill_fragment(acc[0], 0.f);
    fill_fragment(acc[1], 0.f);
    int kc = K / 8;
    for (int k = w * kc; k < (w + 1) * kc; k += 16) {
        fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa;
        fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> fb0, fb1;
        load_matrix_sync(fa, A + k, K);
        load_matrix_sync(fb0, B + (size_t)k * N + blockIdx.x * 32, N);
        load_matrix_sync(fb1, B + (size_t)k * N + blockIdx.x * 32 + 16, N);
        mma_sync(acc[0], fa, fb0, acc[0]);
        mma_sync(acc[1], fa, fb1, acc[1]);
    }
    store_matrix_sync(&red[w][0], acc[0], 32, mem_row_major);
    store_matrix_sync(&red[w][16], acc[1], 32, mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) {
        float s = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) s += red[k][i];
        C[(size_t)(i >> 5) * N + blockIdx.x * 32 + (i & 31)] = s;
    }
}

// int8, fragments straight from global memory, 64 x 32 a warp
extern "C" __global__ void __launch_bounds__(128) s8_mma_direct(const int *A, const int *B, int *C, int N, int kw)
{
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    int m0 = blockIdx.y * 128 + (w >> 1) * 64, n0 = blockIdx.x * 64 + (w & 1) * 32;
    int acc[4][4][4] = {};
    const int *pa = A + (size_t)(m0 + g) * kw + t, *pb = B + (size_t)(n0 + g) * kw + t;
    for (int k = 0; k < kw; k += 8) {
        int a[4][4], b[4][2];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int *q = pa + (size_t)i * 16 * kw + k;
            a[i][0] = q[0]; a[i][1] = q[8 * kw]; a[i][2] = q[4]; a[i][3] = q[8 * kw + 4];
            const int *r = pb + (size_t)i * 8 * kw + k;
            b[i][0] = r[0]; b[i][1] = r[4];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+r"(acc[i][j][0]), "+r"(acc[i][j][1]), "+r"(acc[i][j][2]), "+r"(acc[i][j][3])
                             : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int *o = C + (size_t)(m0 + i * 16 + g) * N + n0 + j * 8 + 2 * t;
            *(int2 *)o = make_int2(acc[i][j][0], acc[i][j][1]);
            *(int2 *)(o + 8 * (size_t)N) = make_int2(acc[i][j][2], acc[i][j][3]);
        }
}

// C = A B^T, f16, 128 x 64 x 32, three stages of 16-byte copies, swizzled, four warps of 64 x 32
extern "C" __global__ void __launch_bounds__(128) hgemm_nt_128x64_ldsm(const __half *A, const __half *B, __half *C, int M, int N, int K)
{
    __shared__ __align__(128) __half sa[3][128 * 32];
    __shared__ __align__(128) __half sb[3][64 * 32];
    int tid = threadIdx.x, w = tid >> 5, lane = tid & 31, wm = (w & 1) * 64, wn = (w >> 1) * 32;
    const __half *pa = A + (size_t)blockIdx.y * 128 * K, *pb = B + (size_t)blockIdx.x * 64 * K;
    float acc[4][4][4] = {};
    auto load = [&](int st, int k0) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = tid + i * 128, r = q >> 2, c = q & 3;
            cpa16(smem_u32(&sa[st][r * 32 + ((c ^ ((r >> 1) & 3)) << 3)]), pa + (size_t)r * K + k0 + c * 8);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int q = tid + i * 128, r = q >> 2, c = q & 3;
            cpa16(smem_u32(&sb[st][r * 32 + ((c ^ ((r >> 1) & 3)) << 3)]), pb + (size_t)r * K + k0 + c * 8);
        }
    };
    int nk = K / 32;
    load(0, 0);
    cpa_commit();
    load(1, 32);
    cpa_commit();
    int st = 0;
    for (int kt = 0; kt < nk; kt++) {
        cpa_wait<1>();
        __syncthreads();
        if (kt + 2 < nk) load(st + 2 >= 3 ? st - 1 : st + 2, (kt + 2) * 32);
        cpa_commit();
#pragma unroll
        for (int ks = 0; ks < 2; ks++) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int r = wm + i * 16 + (lane & 15), c = ks * 2 + (lane >> 4);
                ldsm4(a[i][0], a[i][1], a[i][2], a[i][3], smem_u32(&sa[st][r * 32 + ((c ^ ((r >> 1) & 3)) << 3)]));
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                int r = wn + j * 16 + (lane & 7) + ((lane >> 4) << 3), c = ks * 2 + ((lane >> 3) & 1);
                ldsm4(b[j][0], b[j][1], b[j][2], b[j][3], smem_u32(&sb[st][r * 32 + ((c ^ ((r >> 1) & 3)) << 3)]));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma16816(acc[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
        }
        st = st == 2 ? 0 : st + 1;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            __half *o = C + (size_t)(blockIdx.y * 128 + wm + i * 16 + (lane >> 2)) * N + blockIdx.x * 64 + wn + j * 8 + (lane & 3) * 2;
            *(unsigned *)o = packh(acc[i][j][0], acc[i][j][1]);
            *(unsigned *)(o + 8 * (size_t)N) = packh(acc[i][j][2], acc[i][j][3]);
        }
}

// attention over 64 queries a CTA, heads of 64, keys by 64 in two buffers
extern "C" __global__ void __launch_bounds__(128) attn_fwd_mma_h64(const __half *Q, const __half *K, const __half *V, __half *O, int seq, float scale_log2)
{
    __shared__ __align__(128) __half sk[2][64 * 64];
    __shared__ __align__(128) __half sv[2][64 * 64];
    int tid = threadIdx.x, w = tid >> 5, lane = tid & 31;
    size_t head = (size_t)blockIdx.y * seq * 64;
    const __half *pk = K + head, *pv = V + head;
    auto sw = [](int r, int c) { return r * 64 + ((c ^ (r & 7)) << 3); };
    auto load = [&](__half *d, const __half *s) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int q = tid + i * 128, r = q >> 3, c = q & 7;
            cpa16(smem_u32(d + sw(r, c)), s + (size_t)r * 64 + c * 8);
        }
    };
    load(sk[1], Q + head + (size_t)blockIdx.x * 64 * 64);
    cpa_commit();
    load(sk[0], pk);
    load(sv[0], pv);
    cpa_commit();
    cpa_wait<1>();
    __syncthreads();
    unsigned q[4][4];
#pragma unroll
    for (int k = 0; k < 4; k++) ldsm4(q[k][0], q[k][1], q[k][2], q[k][3], smem_u32(&sk[1][sw(w * 16 + (lane & 15), k * 2 + (lane >> 4))]));
    __syncthreads();
    float o[8][4] = {}, m0 = -1e30f, m1 = -1e30f, l0 = 0, l1 = 0;
    int nt = seq / 64;
    for (int t = 0; t < nt; t++) {
        int b = t & 1;
        if (t + 1 < nt) {
            load(sk[b ^ 1], pk + (size_t)(t + 1) * 64 * 64);
            load(sv[b ^ 1], pv + (size_t)(t + 1) * 64 * 64);
        }
        cpa_commit();
        cpa_wait<1>();
        __syncthreads();
        float s[8][4] = {};
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned f[4];
                ldsm4(f[0], f[1], f[2], f[3], smem_u32(&sk[b][sw(j * 16 + (lane & 7) + ((lane >> 4) << 3), k * 2 + ((lane >> 3) & 1))]));
                mma16816(s[2 * j], q[k], f[0], f[1]);
                mma16816(s[2 * j + 1], q[k], f[2], f[3]);
            }
        float n0 = m0, n1 = m1;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            n0 = fmaxf(n0, fmaxf(s[j][0], s[j][1]));
            n1 = fmaxf(n1, fmaxf(s[j][2], s[j][3]));
        }
        n0 = fmaxf(n0, __shfl_xor_sync(~0u, n0, 1)); n0 = fmaxf(n0, __shfl_xor_sync(~0u, n0, 2));
        n1 = fmaxf(n1, __shfl_xor_sync(~0u, n1, 1)); n1 = fmaxf(n1, __shfl_xor_sync(~0u, n1, 2));
        float c0 = exp2f((m0 - n0) * scale_log2), c1 = exp2f((m1 - n1) * scale_log2);
        m0 = n0; m1 = n1; l0 *= c0; l1 *= c1;
        float k0 = n0 * scale_log2, k1 = n1 * scale_log2;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            s[j][0] = exp2f(s[j][0] * scale_log2 - k0); s[j][1] = exp2f(s[j][1] * scale_log2 - k0);
            s[j][2] = exp2f(s[j][2] * scale_log2 - k1); s[j][3] = exp2f(s[j][3] * scale_log2 - k1);
            l0 += s[j][0] + s[j][1]; l1 += s[j][2] + s[j][3];
            o[j][0] *= c0; o[j][1] *= c0; o[j][2] *= c1; o[j][3] *= c1;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned p[4] = {packh(s[2 * k][0], s[2 * k][1]), packh(s[2 * k][2], s[2 * k][3]), packh(s[2 * k + 1][0], s[2 * k + 1][1]), packh(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned f[4];
                ldsm4t(f[0], f[1], f[2], f[3], smem_u32(&sv[b][sw(k * 16 + (lane & 15), j * 2 + (lane >> 4))]));
                mma16816(o[2 * j], p, f[0], f[1]);
                mma16816(o[2 * j + 1], p, f[2], f[3]);
            }
        }
        __syncthreads();
    }
    l0 += __shfl_xor_sync(~0u, l0, 1); l0 += __shfl_xor_sync(~0u, l0, 2);
    l1 += __shfl_xor_sync(~0u, l1, 1); l1 += __shfl_xor_sync(~0u, l1, 2);
    l0 = 1.f / l0; l1 = 1.f / l1;
    __half *po = O + head + (size_t)(blockIdx.x * 64 + w * 16 + (lane >> 2)) * 64 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *(unsigned *)(po + j * 8) = packh(o[j][0] * l0, o[j][1] * l0);
        *(unsigned *)(po + 8 * 64 + j * 8) = packh(o[j][2] * l1, o[j][3] * l1);
    }
}

// ------------------------------------------------------------------ deep learning
// residual += x; row of 4096 normed and quantised to int8
extern "C" __global__ void __launch_bounds__(512) addrms_quant_i8(__nv_bfloat162 *res, const __nv_bfloat162 *x, const __nv_bfloat162 *gam, int2 *q, float *scale, float eps)
{
    __shared__ float red[2][16];
    int t = threadIdx.x, lane = t & 31, w = t >> 5;
    size_t row = (size_t)blockIdx.x * 512 + t;
    uint4 rr = ((uint4 *)res)[row], xx = ((const uint4 *)x)[row], gg = ((const uint4 *)gam)[t];
    float v[8], ss = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        __nv_bfloat162 s = __hadd2(((__nv_bfloat162 *)&rr)[k], ((__nv_bfloat162 *)&xx)[k]);
        ((__nv_bfloat162 *)&rr)[k] = s;
        float2 f = __bfloat1622float2(s);
        v[2 * k] = f.x;
        v[2 * k + 1] = f.y;
        ss += f.x * f.x + f.y * f.y;
    }
    ((uint4 *)res)[row] = rr;
    ss = wsum(ss);
    if (lane == 0) red[0][w] = ss;
    __syncthreads();
    ss = wsum(lane < 16 ? red[0][lane] : 0.f);
    float r = rsqrtf(ss * (1.f / 4096) + eps), mx = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 g = __bfloat1622float2(((__nv_bfloat162 *)&gg)[k]);
        v[2 * k] *= r * g.x;
        v[2 * k + 1] *= r * g.y;
        mx = fmaxf(mx, fmaxf(fabsf(v[2 * k]), fabsf(v[2 * k + 1])));
    }
    mx = wmaxf(mx);
    if (lane == 0) red[1][w] = mx;
    __syncthreads();
    mx = wmaxf(lane < 16 ? red[1][lane] : 0.f);
    float iq = 127.f / fmaxf(mx, 1e-8f);
    int p[8];
#pragma unroll
    for (int k = 0; k < 8; k++) p[k] = __float2int_rn(v[k] * iq) & 255;
    q[row] = make_int2(p[0] | p[1] << 8 | p[2] << 16 | p[3] << 24, p[4] | p[5] << 8 | p[6] << 16 | p[7] << 24);
    if (t == 0) scale[blockIdx.x] = mx * (1.f / 127);
}

extern "C" __global__ void swiglu_bf16_vec8(const uint4 *gate_up, uint4 *out, int d8)
{
    const uint4 *g = gate_up + (size_t)blockIdx.x * 2 * d8;
    for (int i = threadIdx.x; i < d8; i += blockDim.x) {
        uint4 a = g[i], b = g[i + d8], o;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 x = __bfloat1622float2(((__nv_bfloat162 *)&a)[k]), y = __bfloat1622float2(((__nv_bfloat162 *)&b)[k]);
            ((__nv_bfloat162 *)&o)[k] = __floats2bfloat162_rn(x.x / (1.f + __expf(-x.x)) * y.x, x.y / (1.f + __expf(-x.y)) * y.y);
        }
        out[(size_t)blockIdx.x * d8 + i] = o;
    }
}

// a warp a token, 128 experts, eight of them by turns
extern "C" __global__ void __launch_bounds__(256) route_softmax_top8(const float4 *logits, float *wgt, int *ids, int tokens)
{
    int t = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (t >= tokens) return;
    float4 v4 = logits[(size_t)t * 32 + lane];
    float v[4] = {v4.x, v4.y, v4.z, v4.w}, keepw = 0, tot = 0;
    int keep = 0;
    float m = wmaxf(fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3])));
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = __expf(v[k] - m);
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float best = v[0];
        int bi = lane * 4;
#pragma unroll
        for (int k = 1; k < 4; k++)
            if (v[k] > best) { best = v[k]; bi = lane * 4 + k; }
#pragma unroll
        for (int o = 16; o; o >>= 1) {
            float ob = __shfl_xor_sync(~0u, best, o);
            int oi = __shfl_xor_sync(~0u, bi, o);
            if (ob > best || (ob == best && oi < bi)) { best = ob; bi = oi; }
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (bi == lane * 4 + k) v[k] = -1.f;
        tot += best;
        if (lane == r) { keep = bi; keepw = best; }
    }
    if (lane < 8) {
        wgt[t * 8 + lane] = keepw / tot;
        ids[t * 8 + lane] = keep;
    }
}

// sums of rows of an embedding of 128 halves; half a warp a bag
extern "C" __global__ void embbag_mean_f16(const int *offs, const int *ids, const uint4 *table, uint4 *out, int bags)
{
    int b = (blockIdx.x * blockDim.x + threadIdx.x) >> 4, l = threadIdx.x & 15;
    if (b >= bags) return;
    int s = offs[b], e = offs[b + 1];
    float acc[8] = {};
    for (int i = s; i < e; i++) {
        uint4 v = __ldg(table + (size_t)ids[i] * 16 + l);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(((__half2 *)&v)[k]);
            acc[2 * k] += f.x;
            acc[2 * k + 1] += f.y;
        }
    }
    float inv = 1.f / max(e - s, 1);
    uint4 o;
#pragma unroll
    for (int k = 0; k < 4; k++) ((unsigned *)&o)[k] = packh(acc[2 * k] * inv, acc[2 * k + 1] * inv);
    out[(size_t)b * 16 + l] = o;
}

// gradients of a layer norm's scale and shift: columns
extern "C" __global__ void __launch_bounds__(256) ln_bwd_gamma_beta(const float *dy, const float *x, const float *mean, const float *rstd, float *dg, float *db, int rows, int c)
{
    __shared__ float sg[8][33], sb[8][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    float g = 0, b = 0;
#pragma unroll 4
    for (int r = blockIdx.y * 8 + threadIdx.y; r < rows; r += 8 * gridDim.y) {
        float d = dy[(size_t)r * c + col];
        g += d * (x[(size_t)r * c + col] - mean[r]) * rstd[r];
        b += d;
    }
    sg[threadIdx.y][threadIdx.x] = g;
    sb[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; k++) { g += sg[k][threadIdx.x]; b += sb[k][threadIdx.x]; }
        atomicAdd(dg + col, g);
        atomicAdd(db + col, b);
    }
}

// Lion with bf16 weights, rounded by chance
extern "C" __global__ void lion_sr_bf16(__nv_bfloat162 *w, const __nv_bfloat162 *grad, float2 *mom, int n2, float lr, float b1, float b2, float wd, unsigned seed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += gridDim.x * blockDim.x) {
        float2 p = __bfloat1622float2(w[i]), g = __bfloat1622float2(grad[i]), m = mom[i];
        float ux = b1 * m.x + (1 - b1) * g.x, uy = b1 * m.y + (1 - b1) * g.y;
        p.x -= lr * (copysignf(1.f, ux) + wd * p.x);
        p.y -= lr * (copysignf(1.f, uy) + wd * p.y);
        mom[i] = make_float2(b2 * m.x + (1 - b2) * g.x, b2 * m.y + (1 - b2) * g.y);
        unsigned h = hash32(seed + i);
        unsigned a = (__float_as_uint(p.x) + (h & 0xffff)) >> 16, b = (__float_as_uint(p.y) + (h >> 16)) & 0xffff0000u;
        ((unsigned *)w)[i] = a | b;
    }
}

// 3x3 depthwise, NHWC half2 channels, four pixels of a row a thread
extern "C" __global__ void dwconv3_nhwc_h2(const __half2 *in, const __half2 *wt, __half2 *out, int h, int w, int c2)
{
    int c = threadIdx.x + blockIdx.z * blockDim.x;
    int x0 = blockIdx.x * 4, y = blockIdx.y;
    if (c >= c2) return;
    __half2 acc[4] = {};
#pragma unroll
    for (int r = 0; r < 3; r++) {
        int yy = y + r - 1;
        if (yy < 0 || yy >= h) continue;
        __half2 v[6];
#pragma unroll
        for (int k = 0; k < 6; k++) {
            int xx = x0 + k - 1;
            v[k] = xx >= 0 && xx < w ? in[((size_t)yy * w + xx) * c2 + c] : __half2();
        }
#pragma unroll
        for (int s = 0; s < 3; s++) {
            __half2 f = wt[(r * 3 + s) * c2 + c];
#pragma unroll
            for (int k = 0; k < 4; k++) acc[k] = __hfma2(v[k + s], f, acc[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (x0 + k < w) out[((size_t)y * w + x0 + k) * c2 + c] = acc[k];
}

// F(4x4, 3x3): input tiles of 6x6, a thread each
__device__ __forceinline__ void bt6(float a, float b, float c, float d, float e, float f, float *o)
{
    o[0] = 4 * a - 5 * c + e;
    o[1] = -4 * (b + c) + d + e;
    o[2] = 4 * (b - c) - d + e;
    o[3] = 2 * (d - b) + e - c;
    o[4] = 2 * (b - d) + e - c;
    o[5] = 4 * b - 5 * d + f;
}
extern "C" __global__ void __launch_bounds__(128) wino_f43_input(const float *in, float *out, int h, int w, int tw, int tiles)
{
    int t = blockIdx.x * 128 + threadIdx.x, c = blockIdx.y, C = gridDim.y;
    if (t >= tiles) return;
    int ty = t / tw * 4 - 1, tx = t % tw * 4 - 1;
    float d[6][6], u[6][6];
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j < 6; j++) {
            int y = ty + i, x = tx + j;
            d[i][j] = y >= 0 && y < h && x >= 0 && x < w ? in[((size_t)c * h + y) * w + x] : 0.f;
        }
#pragma unroll
    for (int i = 0; i < 6; i++) bt6(d[i][0], d[i][1], d[i][2], d[i][3], d[i][4], d[i][5], u[i]);
#pragma unroll
    for (int j = 0; j < 6; j++) {
        float o[6];
        bt6(u[0][j], u[1][j], u[2][j], u[3][j], u[4][j], u[5][j], o);
#pragma unroll
        for (int i = 0; i < 6; i++) out[((size_t)(i * 6 + j) * C + c) * tiles + t] = o[i];
    }
}

// running mean and variance by Welford, a CTA a channel
extern "C" __global__ void __launch_bounds__(512) bn_welford_nchw(const float4 *x, float *mean, float *var, int n, int c, int hw4)
{
    __shared__ float sm[16], sq[16], sn[16];
    float m = 0, q = 0, cnt = 0;
    for (int b = 0; b < n; b++)
        for (int i = threadIdx.x; i < hw4; i += 512) {
            float4 v = x[((size_t)b * c + blockIdx.x) * hw4 + i];
            float e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                cnt += 1.f;
                float d = e[k] - m;
                m += __fdividef(d, cnt);
                q += d * (e[k] - m);
            }
        }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        float m2 = __shfl_xor_sync(~0u, m, o), q2 = __shfl_xor_sync(~0u, q, o), c2 = __shfl_xor_sync(~0u, cnt, o);
        float tot = fmaxf(cnt + c2, 1.f), d = m2 - m;
        m = (m * cnt + m2 * c2) / tot;
        q += q2 + d * d * cnt * c2 / tot;
        cnt += c2;
    }
    if ((threadIdx.x & 31) == 0) { sm[threadIdx.x >> 5] = m; sq[threadIdx.x >> 5] = q; sn[threadIdx.x >> 5] = cnt; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 16; k++) {
            float tot = fmaxf(cnt + sn[k], 1.f), d = sm[k] - m;
            m = (m * cnt + sm[k] * sn[k]) / tot;
            q += sq[k] + d * d * cnt * sn[k] / tot;
            cnt += sn[k];
        }
        mean[blockIdx.x] = m;
        var[blockIdx.x] = q / cnt;
    }
}

// int4 weights in groups of 128, a warp two rows of output, x in shared memory
extern "C" __global__ void __launch_bounds__(256) w4_gemv_g128(const uint4 *wq, const __half *scale, const __half2 *x, __half *y, int n, int k)
{
    extern __shared__ __align__(16) __half2 sx[];
    for (int i = threadIdx.x; i < k / 2; i += 256) sx[i] = x[i];
    __syncthreads();
    int lane = threadIdx.x & 31, r0 = (blockIdx.x * 8 + (threadIdx.x >> 5)) * 2;
    if (r0 >= n) return;
    float acc[2] = {};
    for (int i = lane; i < k / 32; i += 32) {
        const uint4 *xs = (const uint4 *)(sx + i * 16);
        uint4 xv[4] = {xs[0], xs[1], xs[2], xs[3]};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            uint4 q4 = __ldcs(wq + (size_t)(r0 + r) * (k / 32) + i);
            unsigned q[4] = {q4.x, q4.y, q4.z, q4.w};
            float part = 0;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const __half2 *xp = (const __half2 *)&xv[j];
                __half2 s = __half2();
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    unsigned u = ((q[j] >> (4 * e)) & 0x000f000fu) | 0x64006400u;
                    s = __hfma2(__hsub2(*(__half2 *)&u, __half2half2(__float2half(1032.f))), xp[e], s);
                }
                float2 f = __half22float2(s);
                part += f.x + f.y;
            }
            acc[r] += part * __half2float(scale[(size_t)(r0 + r) * (k / 128) + i / 4]);
        }
    }
    acc[0] = wsum(acc[0]);
    acc[1] = wsum(acc[1]);
    if (lane == 0) *(__half2 *)(y + r0) = __floats2half2_rn(acc[0], acc[1]);
}

extern "C" __global__ void dropout_add_philox(const uint2 *x, const uint2 *res, uint2 *out, unsigned *mask, int n4, float p, float inv_keep, unsigned seed, unsigned offs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uint4 r = philox10(make_uint4(i, 0, offs, 0), seed, 0xdeadbeefu);
    unsigned th = (unsigned)(p * 4294967295.f);
    uint2 a = x[i], b = res[i], o;
    unsigned rr[4] = {r.x, r.y, r.z, r.w}, bits = 0;
    float v[4];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        float2 f = __bfloat1622float2(((__nv_bfloat162 *)&a)[k]), g = __bfloat1622float2(((__nv_bfloat162 *)&b)[k]);
        bool k0 = rr[2 * k] >= th, k1 = rr[2 * k + 1] >= th;
        bits |= (k0 << (2 * k)) | (k1 << (2 * k + 1));
        v[2 * k] = g.x + (k0 ? f.x * inv_keep : 0.f);
        v[2 * k + 1] = g.y + (k1 ? f.y * inv_keep : 0.f);
    }
    ((__nv_bfloat162 *)&o)[0] = __floats2bfloat162_rn(v[0], v[1]);
    ((__nv_bfloat162 *)&o)[1] = __floats2bfloat162_rn(v[2], v[3]);
    out[i] = o;
    bits <<= 4 * (threadIdx.x & 7);
    bits |= __shfl_xor_sync(~0u, bits, 1); bits |= __shfl_xor_sync(~0u, bits, 2); bits |= __shfl_xor_sync(~0u, bits, 4);
    if ((threadIdx.x & 7) == 0) mask[i >> 3] = bits;
}

extern "C" __global__ void moe_combine_rows(const uint4 *exp_out, const int *slot, const float *wgt, uint4 *out, int d8, int topk)
{
    int t = blockIdx.x;
    for (int i = threadIdx.x; i < d8; i += blockDim.x) {
        float acc[8] = {};
        for (int k = 0; k < topk; k++) {
            uint4 v = exp_out[(size_t)slot[t * topk + k] * d8 + i];
            float w = wgt[t * topk + k];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 f = __half22float2(((__half2 *)&v)[j]);
                acc[2 * j] += w * f.x;
                acc[2 * j + 1] += w * f.y;
            }
        }
        out[(size_t)t * d8 + i] = make_uint4(packh(acc[0], acc[1]), packh(acc[2], acc[3]), packh(acc[4], acc[5]), packh(acc[6], acc[7]));
    }
}

// decoding over pages of 16 tokens; a CTA a sequence and a KV head, four query heads; head 128; each warp its pages
extern "C" __global__ void __launch_bounds__(128) paged_decode_gqa4(const __half *q, const __half *kc, const __half *vc, const int *table, __half *out, int pages, int kvh, float scale)
{
    __shared__ __align__(16) float sacc[4][4][128];
    __shared__ float sm[4][4], sl[4][4];
    int h = blockIdx.x, s = blockIdx.y, w = threadIdx.x >> 5, lane = threadIdx.x & 31;
    float qv[4][4], acc[4][4] = {}, m[4], l[4] = {};
#pragma unroll
    for (int g = 0; g < 4; g++) {
        uint2 u = *(const uint2 *)(q + ((size_t)(s * kvh + h) * 4 + g) * 128 + lane * 4);
        float2 a = __half22float2(*(__half2 *)&u.x), b = __half22float2(*(__half2 *)&u.y);
        qv[g][0] = a.x * scale; qv[g][1] = a.y * scale; qv[g][2] = b.x * scale; qv[g][3] = b.y * scale;
        m[g] = -1e30f;
    }
    for (int p = w; p < pages; p += 4) {
        size_t base = ((size_t)table[s * pages + p] * kvh + h) * 16 * 128 + lane * 4;
#pragma unroll 4
        for (int t = 0; t < 16; t++) {
            uint2 ku = *(const uint2 *)(kc + base + t * 128), vu = *(const uint2 *)(vc + base + t * 128);
            float2 a = __half22float2(*(__half2 *)&ku.x), b = __half22float2(*(__half2 *)&ku.y);
            float2 c = __half22float2(*(__half2 *)&vu.x), d = __half22float2(*(__half2 *)&vu.y);
#pragma unroll
            for (int g = 0; g < 4; g++) {
                float dot = wsum(qv[g][0] * a.x + qv[g][1] * a.y + qv[g][2] * b.x + qv[g][3] * b.y);
                float nm = fmaxf(m[g], dot), cr = __expf(m[g] - nm), e = __expf(dot - nm);
                m[g] = nm;
                l[g] = l[g] * cr + e;
                acc[g][0] = acc[g][0] * cr + e * c.x; acc[g][1] = acc[g][1] * cr + e * c.y;
                acc[g][2] = acc[g][2] * cr + e * d.x; acc[g][3] = acc[g][3] * cr + e * d.y;
            }
        }
    }
#pragma unroll
    for (int g = 0; g < 4; g++) {
        *(float4 *)&sacc[w][g][lane * 4] = make_float4(acc[g][0], acc[g][1], acc[g][2], acc[g][3]);
        if (lane == 0) { sm[w][g] = m[g]; sl[w][g] = l[g]; }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 128) {
        int g = i >> 7, e = i & 127;
        float M = fmaxf(fmaxf(sm[0][g], sm[1][g]), fmaxf(sm[2][g], sm[3][g])), a = 0, L = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float f = __expf(sm[k][g] - M);
            a += f * sacc[k][g][e];
            L += f * sl[k][g];
        }
        out[((size_t)(s * kvh + h) * 4 + g) * 128 + e] = __float2half(a / L);
    }
}

extern "C" __global__ void lstm_cell_pointwise(const float *gates, const float *bias, float *c, float *hout, int hid)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (j >= hid) return;
    const float *g = gates + (size_t)b * 4 * hid;
    float i = g[j] + bias[j], f = g[j + hid] + bias[j + hid], z = g[j + 2 * hid] + bias[j + 2 * hid], o = g[j + 3 * hid] + bias[j + 3 * hid];
    i = 1.f / (1.f + __expf(-i));
    f = 1.f / (1.f + __expf(-f));
    o = 1.f / (1.f + __expf(-o));
    float n = f * c[b * hid + j] + i * tanhf(z);
    c[b * hid + j] = n;
    hout[b * hid + j] = o * tanhf(n);
}

// h = a h + b along time, a thread a channel
extern "C" __global__ void linear_recurrence(const float *a, const float *b, float *h, int T, int c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= c) return;
    size_t base = (size_t)blockIdx.y * T * c + j;
    float s = 0;
#pragma unroll 4
    for (int t = 0; t < T; t++) {
        s = fmaf(0.9f * a[base + (size_t)t * c], s, b[base + (size_t)t * c]);
        h[base + (size_t)t * c] = s;
    }
}

// direct 3x3 convolution, eight output channels a thread, tile and weights in shared memory
extern "C" __global__ void __launch_bounds__(256) conv3x3_direct_oc8(const float *in, const float *wt, float *out, int h, int w, int ic)
{
    __shared__ float t[4][10][34];
    __shared__ __align__(16) float f[4][9][8];
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 32 + tx, x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1, oc0 = blockIdx.z * 8;
    float acc[8] = {};
    for (int c0 = 0; c0 < ic; c0 += 4) {
        for (int i = tid; i < 4 * 340; i += 256) {
            int c = i / 340, r = i % 340 / 34, s = i % 34;
            int y = y0 + r, x = x0 + s;
            t[c][r][s] = y >= 0 && y < h && x >= 0 && x < w ? in[((size_t)(c0 + c) * h + y) * w + x] : 0.f;
        }
        for (int i = tid; i < 288; i += 256) {
            int o = i & 7, k = (i >> 3) % 9;
            f[i / 72][k][o] = wt[((oc0 + o) * ic + c0 + i / 72) * 9 + k];
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
            for (int k = 0; k < 9; k++) {
                float v = t[c][ty + k / 3][tx + k % 3];
                float4 a = *(float4 *)&f[c][k][0], b = *(float4 *)&f[c][k][4];
                acc[0] += v * a.x; acc[1] += v * a.y; acc[2] += v * a.z; acc[3] += v * a.w;
                acc[4] += v * b.x; acc[5] += v * b.y; acc[6] += v * b.z; acc[7] += v * b.w;
            }
        __syncthreads();
    }
    int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    if (x < w && y < h)
#pragma unroll
        for (int o = 0; o < 8; o++) out[((size_t)(oc0 + o) * h + y) * w + x] = fmaxf(acc[o], 0.f);
}

// ------------------------------------------------------------------ data
extern "C" __global__ void __launch_bounds__(256) radix_count_warp8(const uint4 *keys, unsigned *count, int n4, int shift)
{
    __shared__ unsigned hist[8][256];
    for (int i = threadIdx.x; i < 2048; i += 256) ((unsigned *)hist)[i] = 0;
    __syncthreads();
    unsigned *h = hist[threadIdx.x >> 5];
    int per = (n4 + gridDim.x - 1) / gridDim.x, e = min((int)(blockIdx.x + 1) * per, n4);
    for (int i = blockIdx.x * per + threadIdx.x; i < e; i += 256) {
        uint4 k = keys[i];
        atomicAdd(h + ((k.x >> shift) & 255), 1); atomicAdd(h + ((k.y >> shift) & 255), 1);
        atomicAdd(h + ((k.z >> shift) & 255), 1); atomicAdd(h + ((k.w >> shift) & 255), 1);
    }
    __syncthreads();
    unsigned s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += hist[k][threadIdx.x];
    count[threadIdx.x * gridDim.x + blockIdx.x] = s;
}

extern "C" __global__ void bitonic_step_kv(const int *kin, const int *vin, int *kout, int *vout, int j, int k)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 2 * t - (t & (j - 1)), b = a + j;
    int ka = kin[a], kb = kin[b], va = vin[a], vb = vin[b];
    bool swap = (ka > kb) == ((a & k) == 0);
    kout[a] = swap ? kb : ka; kout[b] = swap ? ka : kb;
    vout[a] = swap ? vb : va; vout[b] = swap ? va : vb;
}

extern "C" __global__ void __launch_bounds__(256) compact_tile_ballot(const int *in, int *out, int *count, int limit)
{
    __shared__ int wc[32];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int *p = in + (size_t)blockIdx.x * 1024;
    int v[4], rank[4];
    bool keep[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = p[k * 256 + threadIdx.x];
        keep[k] = v[k] < limit;
        unsigned m = __ballot_sync(~0u, keep[k]);
        rank[k] = __popc(m & ((1u << lane) - 1));
        if (lane == 0) wc[k * 8 + w] = __popc(m);
    }
    __syncthreads();
    if (w == 0) {
        int c = wc[lane], s = c;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            int n = __shfl_up_sync(~0u, s, o);
            if (lane >= o) s += n;
        }
        wc[lane] = s - c;
        if (lane == 31) count[blockIdx.x] = s;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (keep[k]) out[(size_t)blockIdx.x * 1024 + wc[k * 8 + w] + rank[k]] = v[k];
}

// buckets of four keys; at most two are looked at
extern "C" __global__ void bucket_probe4(const int *keys, const int4 *bucket, const int *payload, int *out, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = keys[i], r = -1;
    unsigned b = hash32(k) & mask;
#pragma unroll 1
    for (int s = 0; s < 2; s++) {
        int4 q = bucket[b];
        int at = q.x == k ? 0 : q.y == k ? 1 : q.z == k ? 2 : q.w == k ? 3 : -1;
        if (at >= 0) { r = payload[b * 4 + at]; break; }
        b = (b + 1) & mask;
    }
    out[i] = r;
}

__device__ __forceinline__ unsigned b64c(unsigned v)
{
    return v < 26 ? v + 'A' : v < 52 ? v - 26 + 'a' : v < 62 ? v - 52 + '0' : v == 62 ? '+' : '/';
}
extern "C" __global__ void base64_enc12(const unsigned *in, uint4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    unsigned t[4] = {a & 0xffffff, (a >> 24) | ((b & 0xffff) << 8), (b >> 16) | ((c & 0xff) << 16), c >> 8}, o[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned v = __byte_perm(t[k], 0, 0x4012);
        o[k] = b64c((v >> 18) & 63) | b64c((v >> 12) & 63) << 8 | b64c((v >> 6) & 63) << 16 | b64c(v & 63) << 24;
    }
    out[i] = make_uint4(o[0], o[1], o[2], o[3]);
}

__constant__ u8 c_pat[8] = {'n', 'e', 'e', 'd', 'l', 'e', '4', '2'};
extern "C" __global__ void __launch_bounds__(256) strstr_count_tile(const u8 *text, int *hits, int plen)
{
    __shared__ __align__(16) u8 t[4096 + 16];
    const uint4 *p = (const uint4 *)(text + (size_t)blockIdx.x * 4096);
    ((uint4 *)t)[threadIdx.x] = p[threadIdx.x];
    if (threadIdx.x == 0) ((uint4 *)t)[256] = p[256];
    __syncthreads();
    int c = 0;
    for (int i = threadIdx.x; i < 4096; i += 256) {
        int k = 0;
        while (k < plen && t[i + k] == c_pat[k]) k++;
        c += k == plen;
    }
    c = __syncthreads_count(c);
    if (threadIdx.x == 0) hits[blockIdx.x] = c;
}

extern "C" __global__ void bloom_query4(const int *keys, const unsigned *bits, u8 *hit, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = hash32(keys[i]), d = hash32(h ^ 0x9e3779b9u) | 1, ok = 1;
#pragma unroll
    for (int k = 0; k < 4; k++, h += d) ok &= bits[(h >> 5) & mask] >> (h & 31);
    hit[i] = ok & 1;
}

// CRC-32 of messages, four tables in shared memory made at the start
extern "C" __global__ void __launch_bounds__(256) crc32_slice4(const uint4 *msg, unsigned *crc, int n, int len16)
{
    __shared__ unsigned t[4][256];
    unsigned c = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ (0xEDB88320u & -(c & 1));
    t[0][threadIdx.x] = c;
    __syncthreads();
#pragma unroll
    for (int k = 1; k < 4; k++) {
        c = (c >> 8) ^ t[0][c & 255];
        t[k][threadIdx.x] = c;
    }
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    c = ~0u;
    for (int k = 0; k < len16; k++) {
        uint4 v = msg[(size_t)k * n + i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            c ^= w[j];
            c = t[3][c & 255] ^ t[2][(c >> 8) & 255] ^ t[1][(c >> 16) & 255] ^ t[0][c >> 24];
        }
    }
    crc[i] = ~c;
}

#define QR(a, b, c, d) { a += b; d ^= a; d = __funnelshift_l(d, d, 16); c += d; b ^= c; b = __funnelshift_l(b, b, 12); a += b; d ^= a; d = __funnelshift_l(d, d, 8); c += d; b ^= c; b = __funnelshift_l(b, b, 7); }
extern "C" __global__ void chacha20_xor(const uint4 *in, uint4 *out, unsigned k0, unsigned k1, unsigned ctr, int blocks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, k0, k1, k0 ^ 0x55, k1 ^ 0xaa, k0 * 3, k1 * 5, k0 + 7, k1 + 11, ctr + i, 0, 1, 2}, x[16];
#pragma unroll
    for (int k = 0; k < 16; k++) x[k] = s[k];
#pragma unroll 1
    for (int r = 0; r < 10; r++) {
        QR(x[0], x[4], x[8], x[12]) QR(x[1], x[5], x[9], x[13]) QR(x[2], x[6], x[10], x[14]) QR(x[3], x[7], x[11], x[15])
        QR(x[0], x[5], x[10], x[15]) QR(x[1], x[6], x[11], x[12]) QR(x[2], x[7], x[8], x[13]) QR(x[3], x[4], x[9], x[14])
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = in[(size_t)i * 4 + k];
        out[(size_t)i * 4 + k] = make_uint4(v.x ^ (x[4 * k] + s[4 * k]), v.y ^ (x[4 * k + 1] + s[4 * k + 1]), v.z ^ (x[4 * k + 2] + s[4 * k + 2]), v.w ^ (x[4 * k + 3] + s[4 * k + 3]));
    }
}

__constant__ u64 c_rc[24] = {
    0x0000000000000001ull, 0x0000000000008082ull, 0x800000000000808Aull, 0x8000000080008000ull, 0x000000000000808Bull, 0x0000000080000001ull, 0x8000000080008081ull, 0x8000000000008009ull,
    0x000000000000008Aull, 0x0000000000000088ull, 0x0000000080008009ull, 0x000000008000000Aull, 0x000000008000808Bull, 0x800000000000008Bull, 0x8000000000008089ull, 0x8000000000008003ull,
    0x8000000000008002ull, 0x8000000000000080ull, 0x000000000000800Aull, 0x800000008000000Aull, 0x8000000080008081ull, 0x8000000000008080ull, 0x0000000080000001ull, 0x8000000080008008ull};
__device__ constexpr int KROT[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};
__device__ __forceinline__ u64 rol64(u64 v, int n) { return n ? (v << n) | (v >> (64 - n)) : v; }
extern "C" __global__ void __launch_bounds__(128) keccak_f1600(const u64 *in, u64 *out, int n, int rounds)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    u64 a[25], b[25];
#pragma unroll
    for (int k = 0; k < 25; k++) a[k] = k < 17 ? in[(size_t)k * n + i] : 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        u64 c[5];
#pragma unroll
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
        for (int x = 0; x < 5; x++) {
            u64 d = c[(x + 4) % 5] ^ rol64(c[(x + 1) % 5], 1);
#pragma unroll
            for (int y = 0; y < 5; y++) a[x + 5 * y] ^= d;
        }
#pragma unroll
        for (int x = 0; x < 5; x++)
#pragma unroll
            for (int y = 0; y < 5; y++) b[y + 5 * ((2 * x + 3 * y) % 5)] = rol64(a[x + 5 * y], KROT[x + 5 * y]);
#pragma unroll
        for (int y = 0; y < 5; y++)
#pragma unroll
            for (int x = 0; x < 5; x++) a[x + 5 * y] = b[x + 5 * y] ^ (~b[(x + 1) % 5 + 5 * y] & b[(x + 2) % 5 + 5 * y]);
        a[0] ^= c_rc[r];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) out[(size_t)k * n + i] = a[k];
}

// chains of Montgomery products of 256 bits
__constant__ unsigned c_mod[8] = {0xd87cfd47u, 0x3c208c16u, 0x6871ca8du, 0x97816a91u, 0x8181585du, 0xb85045b6u, 0xe131a029u, 0x30644e72u};
extern "C" __global__ void __launch_bounds__(128) mont256_chain(const unsigned *a, const unsigned *b, unsigned *out, int n, int reps)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    unsigned x[8], y[8];
#pragma unroll
    for (int k = 0; k < 8; k++) { x[k] = a[(size_t)k * n + i]; y[k] = b[(size_t)k * n + i]; }
#pragma unroll 1
    for (int r = 0; r < reps; r++) {
        unsigned t[10] = {};
#pragma unroll
        for (int j = 0; j < 8; j++) {
            u64 c = 0;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                c += (u64)x[k] * y[j] + t[k];
                t[k] = (unsigned)c;
                c >>= 32;
            }
            c += t[8];
            t[8] = (unsigned)c;
            t[9] = (unsigned)(c >> 32);
            unsigned m = t[0] * 0xe4866389u;
            c = (u64)m * c_mod[0] + t[0];
            c >>= 32;
#pragma unroll
            for (int k = 1; k < 8; k++) {
                c += (u64)m * c_mod[k] + t[k];
                t[k - 1] = (unsigned)c;
                c >>= 32;
            }
            c += t[8];
            t[7] = (unsigned)c;
            t[8] = t[9] + (unsigned)(c >> 32);
        }
#pragma unroll
        for (int k = 0; k < 8; k++) x[k] = t[k];
    }
#pragma unroll
    for (int k = 0; k < 8; k++) out[(size_t)k * n + i] = x[k];
}

// days and seconds since 1970 into a packed calendar
extern "C" __global__ void unix_to_civil(const long long *sec, int *ymd, int *hms, int n, int tz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long t = sec[i] + tz;
    long long z = t / 86400;
    int s = (int)(t - z * 86400);
    z += 719468;
    int era = (int)(z / 146097);
    unsigned doe = (unsigned)(z - (long long)era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    unsigned d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    ymd[i] = (yoe + era * 400 + (m <= 2)) << 9 | m << 5 | d;
    hms[i] = (s / 3600) << 12 | (s / 60 % 60) << 6 | s % 60;
}

// remainders by a divisor that only the launch knows: digits in any base
extern "C" __global__ void digits_in_base(const unsigned *v, u8 *out, int n, unsigned base, int digits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = v[i];
    for (int k = digits - 1; k >= 0; k--) {
        unsigned q = x / base;
        out[(size_t)k * n + i] = (u8)('0' + (x - q * base));
        x = q;
    }
}

// ------------------------------------------------------------------ graphs
extern "C" __global__ void bfs_bottom_up(const int *ptr, const int *nbr, const unsigned *seen, const unsigned *front, int *parent, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    if (seen[v >> 5] >> (v & 31) & 1) return;
    int e = ptr[v + 1];
    for (int k = ptr[v]; k < e; k++) {
        int u = nbr[k];
        if (front[u >> 5] >> (u & 31) & 1) {
            parent[v] = u;
            break;
        }
    }
}

extern "C" __global__ void pagerank_pull(const int *ptr, const int *nbr, const float *contrib, float *rank, int n, float base, float damp)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float s = 0;
    for (int k = ptr[v]; k < ptr[v + 1]; k++) s += contrib[nbr[k]];
    rank[v] = base + damp * s;
}

extern "C" __global__ void sssp_edge_relax(const int *src, const int *dst, const int *wgt, int *dist, int m)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += gridDim.x * blockDim.x) atomicMin(dist + dst[e], dist[src[e]] + wgt[e]);
}

// messages along edges, 64 features, 16 lanes an edge
extern "C" __global__ void gnn_scatter_add64(const int *src, const int *dst, const float *ew, const float4 *x, float *out, int m)
{
    int e = (blockIdx.x * blockDim.x + threadIdx.x) >> 4, l = threadIdx.x & 15;
    if (e >= m) return;
    float4 v = x[(size_t)src[e] * 16 + l];
    float w = ew[e];
    float *o = out + (size_t)dst[e] * 64 + l * 4;
    atomicAdd(o, w * v.x); atomicAdd(o + 1, w * v.y); atomicAdd(o + 2, w * v.z); atomicAdd(o + 3, w * v.w);
}

// ------------------------------------------------------------------ sequences
// affine gaps in a band of 16 kept in registers, a thread a pair; three-way maxima of DPX
extern "C" __global__ void __launch_bounds__(128) nw_affine_band16(const u8 *q, const u8 *r, int *score, int n, int len)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    if (t >= n) return;
    int H[17], E[17], best = 0;
    unsigned win[16];
#pragma unroll
    for (int k = 0; k < 17; k++) { H[k] = 0; E[k] = -1000; }
#pragma unroll
    for (int k = 0; k < 16; k++) win[k] = r[(size_t)k * n + t] & 3;
    for (int i = 0; i < len; i++) {
        unsigned c = q[(size_t)i * n + t] & 3;
        int F = -1000;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            int sub = H[k] + (c == win[k] ? 2 : -3);
            int up = __viaddmax_s32(H[k + 1], -5, E[k + 1] - 1);
            E[k] = up;
            int h = __vimax3_s32_relu(sub, up, F);
            F = __viaddmax_s32(h, -5, F - 1);
            H[k] = h;
            best = max(best, h);
        }
#pragma unroll
        for (int k = 0; k < 15; k++) win[k] = win[k + 1];
        win[15] = r[(size_t)(i + 16) * n + t] & 3;
    }
    score[t] = best;
}

// smallest hash of w k-mers of a read, reads in shared memory
extern "C" __global__ void __launch_bounds__(128) minimizers_k15(const u8 *reads, unsigned *out, int len, int w)
{
    extern __shared__ unsigned sh[];
    u8 *s = (u8 *)(sh + len);
    const u8 *r = reads + (size_t)blockIdx.x * len;
    for (int i = threadIdx.x; i < len; i += 128) s[i] = r[i] & 3;
    __syncthreads();
    for (int i = threadIdx.x; i < len - 14; i += 128) {
        unsigned f = 0, b = 0;
#pragma unroll
        for (int k = 0; k < 15; k++) {
            unsigned c = s[i + k];
            f = (f << 2) | c;
            b |= (3 - c) << (2 * k);
        }
        sh[i] = hash32(min(f, b));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < len - 14 - w; i += 128) {
        unsigned m = ~0u;
        for (int k = 0; k < w; k++) m = min(m, sh[i + k]);
        out[(size_t)blockIdx.x * len + i] = m;
    }
}

// Viterbi over 64 states, a CTA a sequence
extern "C" __global__ void __launch_bounds__(64) viterbi64(const float *trans, const float *emit, u8 *back, float *score, int T)
{
    __shared__ float d[2][64];
    float tr[64];
    int j = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 64; i++) tr[i] = trans[i * 64 + j];
    d[0][j] = 0;
    __syncthreads();
    int cur = 0;
    size_t base = (size_t)blockIdx.x * T * 64 + j;
    for (int t = 0; t < T; t++) {
        float e = emit[base + (size_t)t * 64], m = -1e30f;
        int arg = 0;
#pragma unroll
        for (int i = 0; i < 64; i++) {
            float v = d[cur][i] + tr[i];
            if (v > m) { m = v; arg = i; }
        }
        d[cur ^ 1][j] = m + e;
        back[base + (size_t)t * 64] = arg;
        cur ^= 1;
        __syncthreads();
    }
    score[blockIdx.x * 64 + j] = d[cur][j];
}

// ------------------------------------------------------------------ signals
__device__ __forceinline__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ float2 cadd(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 csub(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ void fft8(float2 *v)
{
    const float h = 0.70710678f;
    float2 a0 = cadd(v[0], v[4]), a1 = csub(v[0], v[4]), a2 = cadd(v[2], v[6]), a3 = csub(v[2], v[6]);
    float2 b0 = cadd(v[1], v[5]), b1 = csub(v[1], v[5]), b2 = cadd(v[3], v[7]), b3 = csub(v[3], v[7]);
    a3 = make_float2(a3.y, -a3.x);
    b3 = make_float2(b3.y, -b3.x);
    float2 e0 = cadd(a0, a2), e2 = csub(a0, a2), e1 = cadd(a1, a3), e3 = csub(a1, a3);
    float2 o0 = cadd(b0, b2), o2 = csub(b0, b2), o1 = cadd(b1, b3), o3 = csub(b1, b3);
    o1 = make_float2(h * (o1.x + o1.y), h * (o1.y - o1.x));
    o2 = make_float2(o2.y, -o2.x);
    o3 = make_float2(h * (o3.y - o3.x), -h * (o3.x + o3.y));
    v[0] = cadd(e0, o0); v[4] = csub(e0, o0); v[1] = cadd(e1, o1); v[5] = csub(e1, o1);
    v[2] = cadd(e2, o2); v[6] = csub(e2, o2); v[3] = cadd(e3, o3); v[7] = csub(e3, o3);
}
// 512 points by 64 threads, eight of them in registers, three rounds
extern "C" __global__ void __launch_bounds__(64) fft512_radix8(const float2 *in, float2 *out)
{
    __shared__ float sre[512 + 64], sim[512 + 64];
    int t = threadIdx.x;
    const float2 *p = in + (size_t)blockIdx.x * 512;
    float2 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = p[t + 64 * k];
    fft8(v);
#pragma unroll
    for (int s = 0; s < 2; s++) {
        int m = s ? (t >> 3) : t;
        float ang = -6.2831853f * m / (s ? 64.f : 512.f);
#pragma unroll
        for (int k = 1; k < 8; k++) {
            float2 w;
            __sincosf(ang * k, &w.y, &w.x);
            v[k] = cmul(v[k], w);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int q = s ? (t & 7) * 8 + k + (t >> 3) * 64 : t * 8 + k;
            q += q >> 3;
            sre[q] = v[k].x;
            sim[q] = v[k].y;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int q = t + 64 * k;
            q += q >> 3;
            v[k] = make_float2(sre[q], sim[q]);
        }
        fft8(v);
    }
    float2 *o = out + (size_t)blockIdx.x * 512;
#pragma unroll
    for (int k = 0; k < 8; k++) o[t + 64 * k] = v[k];
}

#define F8(a) a, a + .01f, a - .02f, a + .03f, a - .04f, a + .05f, a - .06f, a + .07f
__constant__ float c_fir[64] = {F8(.1f), F8(-.2f), F8(.3f), F8(.25f), F8(-.15f), F8(.05f), F8(.08f), F8(-.09f)};
// 64 taps, 16 outputs a thread, window in registers
extern "C" __global__ void __launch_bounds__(128) fir64_window16(const float4 *x, float4 *y, int n16)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n16) return;
    float v[80];
#pragma unroll
    for (int k = 0; k < 20; k++) {
        float4 q = x[(size_t)i * 4 + k];
        v[4 * k] = q.x; v[4 * k + 1] = q.y; v[4 * k + 2] = q.z; v[4 * k + 3] = q.w;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float a[4] = {};
#pragma unroll
        for (int t = 0; t < 64; t++)
#pragma unroll
            for (int j = 0; j < 4; j++) a[j] += c_fir[t] * v[4 * k + j + t];
        y[(size_t)i * 4 + k] = make_float4(a[0], a[1], a[2], a[3]);
    }
}

// uneven work: CTA b compares block b with those before it
extern "C" __global__ void __launch_bounds__(128) pair_energy_triangle(const float4 *p, float *e, int n)
{
    __shared__ float4 s[128];
    float4 a = p[blockIdx.x * 128 + threadIdx.x];
    float acc = 0;
    for (int b = 0; b <= blockIdx.x; b++) {
        __syncthreads();
        s[threadIdx.x] = p[b * 128 + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 128; k++) {
            float4 q = s[k];
            float dx = a.x - q.x, dy = a.y - q.y, dz = a.z - q.z;
            acc += a.w * q.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        }
    }
    if (blockIdx.x * 128 + threadIdx.x < n) e[blockIdx.x * 128 + threadIdx.x] = acc;
}

// ------------------------------------------------------------------ statistics and moves
extern "C" __global__ void __launch_bounds__(256) kmeans_assign16(const float4 *x, const float4 *cent, int *label, float *dist, int n, int k)
{
    extern __shared__ float4 sc[];
    for (int i = threadIdx.x; i < 4 * k; i += 256) sc[i] = cent[i];
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float4 a = x[(size_t)i * 4], b = x[(size_t)i * 4 + 1], c = x[(size_t)i * 4 + 2], d = x[(size_t)i * 4 + 3];
        float best = 1e30f;
        int arg = 0;
        for (int j = 0; j < k; j++) {
            float4 p = sc[4 * j], q = sc[4 * j + 1], r = sc[4 * j + 2], s = sc[4 * j + 3];
            float e = (a.x - p.x) * (a.x - p.x) + (a.y - p.y) * (a.y - p.y) + (a.z - p.z) * (a.z - p.z) + (a.w - p.w) * (a.w - p.w);
            e += (b.x - q.x) * (b.x - q.x) + (b.y - q.y) * (b.y - q.y) + (b.z - q.z) * (b.z - q.z) + (b.w - q.w) * (b.w - q.w);
            e += (c.x - r.x) * (c.x - r.x) + (c.y - r.y) * (c.y - r.y) + (c.z - r.z) * (c.z - r.z) + (c.w - r.w) * (c.w - r.w);
            e += (d.x - s.x) * (d.x - s.x) + (d.y - s.y) * (d.y - s.y) + (d.z - s.z) * (d.z - s.z) + (d.w - s.w) * (d.w - s.w);
            if (e < best) { best = e; arg = j; }
        }
        label[i] = arg;
        dist[i] = best;
    }
}

extern "C" __global__ void __launch_bounds__(256) hist2d_joint64(const u8 *a, const u8 *b, unsigned *out, int n16)
{
    __shared__ unsigned h[4096];
    for (int i = threadIdx.x; i < 4096; i += 256) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n16; i += gridDim.x * 256) {
        uint4 p = ((const uint4 *)a)[i], q = ((const uint4 *)b)[i];
        unsigned pw[4] = {p.x, p.y, p.z, p.w}, qw[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned x = (pw[k >> 2] >> (8 * (k & 3) + 2)) & 63, y = (qw[k >> 2] >> (8 * (k & 3) + 2)) & 63;
            atomicAdd(h + (y << 6 | x), 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 256)
        if (h[i]) atomicAdd(out + i, h[i]);
}

// bytes, 64 x 64, four by four turned in registers
extern "C" __global__ void __launch_bounds__(256) transpose_u8_prmt(const u8 *in, u8 *out, int w, int h)
{
    __shared__ unsigned t[64][17];
    int x = threadIdx.x & 15, y = threadIdx.x >> 4;
    unsigned r[4];
#pragma unroll
    for (int k = 0; k < 4; k++) r[k] = *(const unsigned *)(in + (size_t)(blockIdx.y * 64 + y * 4 + k) * w + blockIdx.x * 64 + x * 4);
    unsigned a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140), c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
    t[x * 4][y] = __byte_perm(a, b, 0x5410);
    t[x * 4 + 1][y] = __byte_perm(a, b, 0x7632);
    t[x * 4 + 2][y] = __byte_perm(c, d, 0x5410);
    t[x * 4 + 3][y] = __byte_perm(c, d, 0x7632);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) *(unsigned *)(out + (size_t)(blockIdx.x * 64 + k * 16 + y) * h + blockIdx.y * 64 + x * 4) = t[k * 16 + y][x];
}

// 5-point stencil, rows of 512 columns through a ring of four filled by asynchronous copies
extern "C" __global__ void __launch_bounds__(128) jacobi_async_rows(const float *in, float *out, int w, int h, int rows, float c0, float c1)
{
    __shared__ __align__(16) float ring[4][512 + 8];
    int x0 = blockIdx.x * 512, y0 = blockIdx.y * rows, t = threadIdx.x;
    auto fetch = [&](int y) {
        const float *r = in + (size_t)min(max(y, 0), h - 1) * w + x0;
        float *d = ring[(y + 4) & 3];
        __pipeline_memcpy_async(d + 4 + t * 4, r + t * 4, 16);
        if (t == 0) __pipeline_memcpy_async(d + 3, x0 ? r - 1 : r, 4);
        if (t == 1) __pipeline_memcpy_async(d + 516, x0 + 512 < w ? r + 512 : r + 511, 4);
        __pipeline_commit();
    };
    fetch(y0 - 1);
    fetch(y0);
    fetch(y0 + 1);
    for (int y = y0; y < y0 + rows; y++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        fetch(y + 2);
        const float *u = ring[(y + 3) & 3] + 4, *c = ring[(y + 4) & 3] + 4, *d = ring[(y + 5) & 3] + 4;
        float4 uc = *(const float4 *)(u + t * 4), cc = *(const float4 *)(c + t * 4), dc = *(const float4 *)(d + t * 4);
        float l = c[t * 4 - 1], r = c[t * 4 + 4];
        *(float4 *)(out + (size_t)y * w + x0 + t * 4) = make_float4(c0 * cc.x + c1 * (l + cc.y + uc.x + dc.x), c0 * cc.y + c1 * (cc.x + cc.z + uc.y + dc.y),
                                                                  c0 * cc.z + c1 * (cc.y + cc.w + uc.z + dc.z), c0 * cc.w + c1 * (cc.z + r + uc.w + dc.w));
        __syncthreads();
    }
    __pipeline_wait_prior(0);
}

// a row of 32768 floats is shared by a cluster of four; sums go through each other's shared memory
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(512) cluster_row_softmax(const float4 *x, float4 *y)
{
    __shared__ float red[16], stat[2];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x, lane = t & 31, w = t >> 5, rank = cl.block_rank();
    size_t base = (size_t)(blockIdx.x / 4) * 8192 + rank * 2048 + t;
    float4 v[4];
    float m = -1e30f, s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = x[base + k * 512];
        m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
    m = wmaxf(m);
    if (lane == 0) red[w] = m;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 16; k++) m = fmaxf(m, red[k]);
        stat[0] = m;
    }
    cl.sync();
#pragma unroll
    for (int r = 0; r < 4; r++) m = fmaxf(r ? m : -1e30f, *cl.map_shared_rank(&stat[0], r));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k].x = __expf(v[k].x - m); v[k].y = __expf(v[k].y - m); v[k].z = __expf(v[k].z - m); v[k].w = __expf(v[k].w - m);
        s += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    s = wsum(s);
    __syncthreads();
    if (lane == 0) red[w] = s;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 16; k++) s += red[k];
        stat[1] = s;
    }
    cl.sync();
    s = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) s += *cl.map_shared_rank(&stat[1], r);
    s = 1.f / s;
#pragma unroll
    for (int k = 0; k < 4; k++) y[base + k * 512] = make_float4(v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s);
    cl.sync();
}

// 16384 bins, half of them in each CTA of a pair
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512) cluster_hist_split(const int *v, unsigned *out, int n)
{
    extern __shared__ unsigned bins[];
    cg::cluster_group cl = cg::this_cluster();
    for (int i = threadIdx.x; i < 8192; i += 512) bins[i] = 0;
    cl.sync();
    unsigned *b0 = cl.map_shared_rank(bins, 0), *b1 = cl.map_shared_rank(bins, 1);
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
        int k = v[i];
        atomicAdd((k & 8192 ? b1 : b0) + (k & 8191), 1u);
    }
    cl.sync();
    unsigned *o = out + cl.block_rank() * 8192;
    for (int i = threadIdx.x; i < 8192; i += 512)
        if (bins[i]) atomicAdd(o + i, bins[i]);
}

// y = a x + y by CTAs that stay; ring of three pieces of 8 KB of each, bulk copies in and out
extern "C" __global__ void __launch_bounds__(256) bulk_axpy_ring(const float *x, float *y, float a, int tiles)
{
    extern __shared__ __align__(128) float ring[];
    __shared__ __align__(8) u64 full[3];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 3; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem_u32(&full[s])));
    asm volatile("fence.mbarrier_init.release.cluster;");
    __syncthreads();
    auto issue = [&](int tile, int s) {
        unsigned bar = smem_u32(&full[s]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(16384));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(ring + s * 4096)), "l"(x + (size_t)tile * 2048), "r"(8192), "r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(ring + s * 4096 + 2048)), "l"(y + (size_t)tile * 2048), "r"(8192), "r"(bar) : "memory");
    };
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            int tile = blockIdx.x + s * gridDim.x;
            if (tile < tiles) issue(tile, s);
        }
    int s = 0, ph = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned bar = smem_u32(&full[s]), done;
        do {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(ph) : "memory");
        } while (!done);
        float4 *px = (float4 *)(ring + s * 4096), *py = (float4 *)(ring + s * 4096 + 2048);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            float4 u = px[t + 256 * k], v = py[t + 256 * k];
            v.x += a * u.x; v.y += a * u.y; v.z += a * u.z; v.w += a * u.w;
            py[t + 256 * k] = v;
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + (size_t)tile * 2048), "r"(smem_u32(py)), "r"(8192) : "memory");
            asm volatile("cp.async.bulk.commit_group;");
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            int nx = tile + 2 * gridDim.x;
            if (nx < tiles) issue(nx, s == 0 ? 2 : s - 1);
        }
        if (++s == 3) { s = 0; ph ^= 1; }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// one chain a thread, hardly any threads
extern "C" __global__ void logistic_orbit(const float *x0, float *out, int iters, float r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = fabsf(x0[i]) * 0.9f + 0.05f;
#pragma unroll 4
    for (int k = 0; k < iters; k++) x = r * x * (1.f - x);
    out[i] = x;
}

extern "C" __global__ void kepler_solve_f64(const double *mean, const double *ecc, double *E, int n, int iters)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double m = mean[i], e = 0.5 * fabs(ecc[i]), x = m;
    for (int k = 0; k < iters; k++) {
        double s, c;
        sincos(x, &s, &c);
        x -= (x - e * s - m) / (1.0 - e * c);
    }
    E[i] = x;
}

extern "C" __global__ void __launch_bounds__(256) kde_gauss1d(const float *src, const float *at, float *out, int m, float ih2)
{
    __shared__ float s[256];
    float p = at[blockIdx.x * 256 + threadIdx.x], acc = 0;
    for (int b = 0; b < m; b += 256) {
        s[threadIdx.x] = src[b + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < 256; k++) {
            float d = p - s[k];
            acc += exp2f(-d * d * ih2);
        }
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = acc;
}

extern "C" __global__ void quat_rotate_aos3(const float *pts, const float4 *quat, float *out, int n, int per)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 q = quat[i / per];
    float x = pts[3 * i], y = pts[3 * i + 1], z = pts[3 * i + 2];
    float tx = 2 * (q.y * z - q.z * y), ty = 2 * (q.z * x - q.x * z), tz = 2 * (q.x * y - q.y * x);
    out[3 * i] = x + q.w * tx + q.y * tz - q.z * ty;
    out[3 * i + 1] = y + q.w * ty + q.z * tx - q.x * tz;
    out[3 * i + 2] = z + q.w * tz + q.x * ty - q.y * tx;
}

// life, 64 cells a word
extern "C" __global__ void life_bits64(const u64 *in, u64 *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    u64 s0[3], s1[3], mid = 0;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        int yy = y + r - 1;
        yy = yy < 0 ? h - 1 : yy >= h ? 0 : yy;
        const u64 *p = in + (size_t)yy * w;
        u64 m = p[x], l = p[x ? x - 1 : w - 1], n = p[x + 1 < w ? x + 1 : 0];
        l = (m << 1) | (l >> 63);
        n = (m >> 1) | (n << 63);
        if (r == 1) {
            mid = m;
            s0[r] = l ^ n;
            s1[r] = l & n;
        } else {
            s0[r] = l ^ m ^ n;
            s1[r] = (l & m) | (n & (l ^ m));
        }
    }
    u64 b0 = s0[0] ^ s0[1] ^ s0[2], c = (s0[0] & s0[1]) | (s0[2] & (s0[0] ^ s0[1]));
    u64 b1 = s1[0] ^ s1[1] ^ s1[2] ^ c, many = (s1[0] & s1[1]) | (s1[2] & c);
    out[(size_t)y * w + x] = b1 & ~many & (b0 | mid);
}

extern "C" __global__ void scale_bias_tiny(float *x, const float *b, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * s + b[i & 63];
}

// candidate neighbours: k slots in local memory, references go to them by turns
extern "C" __global__ void __launch_bounds__(128) knn_slots_local(const float4 *q, const float4 *ref, int *idx, int m, int k)
{
    float4 p = q[blockIdx.x * 128 + threadIdx.x];
    float bd[16];
    int bi[16];
    for (int j = 0; j < k; j++) { bd[j] = 1e30f; bi[j] = -1; }
    for (int r = 0; r < m; r++) {
        float4 c = __ldg(ref + r);
        float d = (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) + (p.z - c.z) * (p.z - c.z);
        // a slot by turns keeps the smaller one
        int s = r % k;
        float o = bd[s];
        bi[s] = d < o ? r : bi[s];
        bd[s] = fminf(d, o);
    }
    for (int j = 0; j < k; j++) idx[(blockIdx.x * 128 + threadIdx.x) * k + j] = bi[j];
}
