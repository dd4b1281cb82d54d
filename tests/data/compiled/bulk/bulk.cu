// Kernels of bulk tensor copies, warpgroup products and clusters (tests/data/compiled/README.md).
#include <cuda.h>
#include <cuda_bf16.h>
#include <cstdint>
#define DI __device__ __forceinline__
DI uint32_t s2u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
DI void mb_init(uint32_t b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
DI void mb_expect(uint32_t b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
DI void mb_arrive(uint32_t b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
DI void mb_arrive_at(uint32_t b, int cta) { asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];}" ::"r"(b), "r"(cta) : "memory"); }
DI void mb_wait(uint32_t b, int ph) { asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }" ::"r"(b), "r"(ph) : "memory"); }
DI void tma2(uint32_t dst, const CUtensorMap* m, int x, int y, uint32_t b) { asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(dst), "l"(m), "r"(x), "r"(y), "r"(b) : "memory"); }
DI void tma2m(uint32_t dst, const CUtensorMap* m, int x, int y, uint32_t b, uint16_t mask) { asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(dst), "l"(m), "r"(x), "r"(y), "r"(b), "h"(mask) : "memory"); }
DI void tma_st(const CUtensorMap* m, int x, int y, uint32_t src) { asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(m), "r"(x), "r"(y), "r"(src) : "memory"); }
DI void st_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> DI void st_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N> DI void st_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
DI void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DI void cl_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DI uint32_t cl_rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
DI void wg_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DI void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DI void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
template <int R> DI void reg_inc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R)); }
template <int R> DI void reg_dec() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R)); }
DI uint64_t desc(uint32_t a) { return (uint64_t)((a & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62); }
DI uint32_t pack(float x, float y) { __nv_bfloat162 v = __floats2bfloat162_rn(x, y); return *(uint32_t*)&v; }
DI int elected() { int p; asm volatile("{.reg .pred P; elect.sync _|P, 0xffffffff; selp.b32 %0, 1, 0, P;}" : "=r"(p)); return p; }
__device__ __forceinline__ void mm64(float (&d)[32], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mf64(float (&d)[32], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mm128(float (&d)[64], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, 0;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mf128(float (&d)[64], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mm256(float (&d)[128], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p, 1, 1, 0, 0;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]),"+f"(d[64]),"+f"(d[65]),"+f"(d[66]),"+f"(d[67]),"+f"(d[68]),"+f"(d[69]),"+f"(d[70]),"+f"(d[71]),"+f"(d[72]),"+f"(d[73]),"+f"(d[74]),"+f"(d[75]),"+f"(d[76]),"+f"(d[77]),"+f"(d[78]),"+f"(d[79]),"+f"(d[80]),"+f"(d[81]),"+f"(d[82]),"+f"(d[83]),"+f"(d[84]),"+f"(d[85]),"+f"(d[86]),"+f"(d[87]),"+f"(d[88]),"+f"(d[89]),"+f"(d[90]),"+f"(d[91]),"+f"(d[92]),"+f"(d[93]),"+f"(d[94]),"+f"(d[95]),"+f"(d[96]),"+f"(d[97]),"+f"(d[98]),"+f"(d[99]),"+f"(d[100]),"+f"(d[101]),"+f"(d[102]),"+f"(d[103]),"+f"(d[104]),"+f"(d[105]),"+f"(d[106]),"+f"(d[107]),"+f"(d[108]),"+f"(d[109]),"+f"(d[110]),"+f"(d[111]),"+f"(d[112]),"+f"(d[113]),"+f"(d[114]),"+f"(d[115]),"+f"(d[116]),"+f"(d[117]),"+f"(d[118]),"+f"(d[119]),"+f"(d[120]),"+f"(d[121]),"+f"(d[122]),"+f"(d[123]),"+f"(d[124]),"+f"(d[125]),"+f"(d[126]),"+f"(d[127]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mf256(float (&d)[128], uint64_t da, uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p, 1, 1;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]),"+f"(d[64]),"+f"(d[65]),"+f"(d[66]),"+f"(d[67]),"+f"(d[68]),"+f"(d[69]),"+f"(d[70]),"+f"(d[71]),"+f"(d[72]),"+f"(d[73]),"+f"(d[74]),"+f"(d[75]),"+f"(d[76]),"+f"(d[77]),"+f"(d[78]),"+f"(d[79]),"+f"(d[80]),"+f"(d[81]),"+f"(d[82]),"+f"(d[83]),"+f"(d[84]),"+f"(d[85]),"+f"(d[86]),"+f"(d[87]),"+f"(d[88]),"+f"(d[89]),"+f"(d[90]),"+f"(d[91]),"+f"(d[92]),"+f"(d[93]),"+f"(d[94]),"+f"(d[95]),"+f"(d[96]),"+f"(d[97]),"+f"(d[98]),"+f"(d[99]),"+f"(d[100]),"+f"(d[101]),"+f"(d[102]),"+f"(d[103]),"+f"(d[104]),"+f"(d[105]),"+f"(d[106]),"+f"(d[107]),"+f"(d[108]),"+f"(d[109]),"+f"(d[110]),"+f"(d[111]),"+f"(d[112]),"+f"(d[113]),"+f"(d[114]),"+f"(d[115]),"+f"(d[116]),"+f"(d[117]),"+f"(d[118]),"+f"(d[119]),"+f"(d[120]),"+f"(d[121]),"+f"(d[122]),"+f"(d[123]),"+f"(d[124]),"+f"(d[125]),"+f"(d[126]),"+f"(d[127]) : "l"(da),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mr64(float (&d)[32], const uint32_t (&a)[4], uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1, 1;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"l"(db),"r"(scale));
}
__device__ __forceinline__ void mr128(float (&d)[64], const uint32_t (&a)[4], uint64_t db, int scale) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, {%64,%65,%66,%67}, %68, p, 1, 1, 1;}\n" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "r"(a[0]),"r"(a[1]),"r"(a[2]),"r"(a[3]),"l"(db),"r"(scale));
}

template <int N, bool F8> DI void mm(float (&d)[N / 2], uint64_t a, uint64_t b, int s) {
  if constexpr (F8) { if constexpr (N == 64) mf64(d, a, b, s); else if constexpr (N == 128) mf128(d, a, b, s); else mf256(d, a, b, s); }
  else { if constexpr (N == 64) mm64(d, a, b, s); else if constexpr (N == 128) mm128(d, a, b, s); else mm256(d, a, b, s); }
}
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
