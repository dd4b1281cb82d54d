// Loops of everyday arithmetic: generators, ciphers, hashes, conversions, activations, FP64.
#include <cuda_fp16.h>
#include <stdint.h>
typedef unsigned long long u64; typedef unsigned u32;
#define K(name) extern "C" __global__ void __launch_bounds__(1024) name(u64* out,int iters,u32 s0)
#define ID u32 id=blockIdx.x*blockDim.x+threadIdx.x+s0
#define L _Pragma("unroll 1") for(int it=0;it<iters;it++)
K(a_lcgjump){ID;u64 A=6364136223846793005ull,C=1442695040888963407ull,am=1,cm=0;u64 k=id*0x9e3779b97f4a7c15ull|1ull<<63;
  L{ if(k&1){am*=A;cm=cm*A+C;} C*=A+1;A*=A;k=(k>>1)|(k<<63);} out[id-s0]=am^cm;}
K(b_lcgmain){ID;u64 x=id;float acc=0;
  L{x=x*6364136223846793005ull+1442695040888963407ull;u32 hi=(u32)(x>>32),lo=(u32)x;float u=(hi+1.f)*2.3283064e-10f,v=lo*2.3283064e-10f,r=sqrtf(-2.f*__logf(fminf(u,1.f))),s,c;__sincosf(6.2831853f*v,&s,&c);acc+=r*c-r*s;}
  out[id-s0]=__float_as_uint(acc);}
K(c_mandel){ID;double cr=id*1e-9,ci=id*2e-9,x=0,y=0,xx=0,yy=0;int n=0;
  L{y=(x+x)*y+ci;x=xx-yy+cr;xx=x*x;yy=y*y;if(xx+yy<=4.0)n++;} out[id-s0]=__double_as_longlong(x+y)+n;}
#define QR(a,b,c,d) a+=b;d^=a;d=(d<<16)|(d>>16);c+=d;b^=c;b=(b<<12)|(b>>20);a+=b;d^=a;d=(d<<8)|(d>>24);c+=d;b^=c;b=(b<<7)|(b>>25);
K(d_chacha){ID;u32 x[16];for(int k=0;k<16;k++)x[k]=id*(k+3);
  L{QR(x[0],x[4],x[8],x[12])QR(x[1],x[5],x[9],x[13])QR(x[2],x[6],x[10],x[14])QR(x[3],x[7],x[11],x[15])}
  u32 s=0;for(int k=0;k<16;k++)s^=x[k];out[id-s0]=s;}
K(e_mul64){ID;u64 a=id,b=id*3,c=id*5,d=id*7;
  L{a=a*0x5851f42d4c957f2dull+11;b=b*0x5851f42d4c957f2dull+13;c=c*a;d=d*b;} out[id-s0]=a^b^c^d;}
K(f_philox){ID;uint4 c=make_uint4(id,s0,3,4);u32 k0=id,k1=s0;
  L{u32 h0=__umulhi(0xD2511F53u,c.x),l0=0xD2511F53u*c.x,h1=__umulhi(0xCD9E8D57u,c.z),l1=0xCD9E8D57u*c.z;c=make_uint4(h1^c.y^k0,l1,h0^c.w^k1,l0);k0+=0x9E3779B9u;k1+=0xBB67AE85u;}
  out[id-s0]=c.x^c.y^c.z^c.w;}
K(g_dfma){ID;double a[6];for(int k=0;k<6;k++)a[k]=id*(1e-6*k);double m=1.0+1e-9*s0,b=1e-7*s0;
  L{for(int k=0;k<6;k++)a[k]=a[k]*m+b;} double s=0;for(int k=0;k<6;k++)s+=a[k];out[id-s0]=__double_as_longlong(s);}
K(h_dmix){ID;double a=id,b=id*1e-3,c=id*1e-5,d=1.0+id;
  L{a=a+b;b=b*d;c=c*a+b;d=d-c;a=a*d;b=fmax(b,1e-9);} out[id-s0]=__double_as_longlong(a+b+c+d);}
#define RR(x,n) __funnelshift_l(x,x,n)
K(i_sha){ID;u32 a=id,b=id*3,c=id*5,d=id*7,e=id*11,f=id*13,g=id*17,h=id*19,w=id;
  L{
  #pragma unroll
  for(int q=0;q<4;q++){u32 S1=RR(e,26)^RR(e,21)^RR(e,7),ch=(e&f)^(~e&g),t1=h+S1+ch+w,S0=RR(a,30)^RR(a,19)^RR(a,10),mj=(a&b)^(a&c)^(b&c),t2=S0+mj;h=g;g=f;f=e;e=d+t1;d=c;c=b;b=a;a=t1+t2;w+=S0;}} out[id-s0]=a^b^c^d^e^f^g^h;}
K(j_dequant){ID;u32 w=id*0x9e3779b9;half2 acc0=__float2half2_rn(0.f),acc1=acc0,sc=__float2half2_rn(1.f+id);half2 x0=sc,x1=acc0;
  L{
  #pragma unroll
  for(int q=0;q<2;q++){u32 t0=(w&0x000f000f)|0x64006400,t1=(w&0x00f000f0)|0x64006400,t2=((w>>8)&0x000f000f)|0x64006400,t3=((w>>8)&0x00f000f0)|0x64006400;
   half2 h0=__hsub2(*(half2*)&t0,sc),h1=__hfma2(*(half2*)&t1,sc,x1),h2=__hsub2(*(half2*)&t2,sc),h3=__hfma2(*(half2*)&t3,sc,x1);
   acc0=__hfma2(h0,x0,acc0);acc1=__hfma2(h1,x0,acc1);acc0=__hfma2(h2,x0,acc0);acc1=__hfma2(h3,x0,acc1);w=w*1664525u+1013904223u;}} half2 s=__hadd2(acc0,acc1);out[id-s0]=*(u32*)&s;}
K(k_nbody){ID;float x=id,y=id*2,z=id*3,ax=0,ay=0,az=0,px=id*1e-3,py=1,pz=2;
  L{
  #pragma unroll
  for(int q=0;q<2;q++){float dx=px-x,dy=py-y,dz=pz-z,r2=dx*dx+dy*dy+dz*dz+1e-3f,iv=rsqrtf(r2),i3=iv*iv*iv;ax+=dx*i3;ay+=dy*i3;az+=dz*i3;px+=.5f;py-=.25f;pz+=.125f;}} out[id-s0]=__float_as_uint(ax+ay+az);}
K(l_popc){ID;u32 a=id,b=id*3,s=0;
  L{a=a*5+1;b^=a;s+=__popc(a^b);s+=__clz(b);b=(b<<3)|(b>>29);s^=a&b;} out[id-s0]=s;}
K(m_conv){ID;float a=id;int b=id;float s=0;
  L{int t=(int)a;a=t*1.25f+.5f;b+=t;float q=(float)(b&0xffff);s+=q*a;a=fminf(a,1e6f);} out[id-s0]=__float_as_uint(s)+b;}
K(n_dp4a){ID;int a=id,b=id*3,c=0,d=0;
  L{c=__dp4a(a,b,c);d=__dp4a(b,c,d);a=a+0x01010101;b=b^a;c+=__vabsdiffu4(a,b);d=max(d,c);} out[id-s0]=c^d;}
K(o_minmax){ID;float a=id,b=id*2,c=id*3,m=0,n=1e9;
  L{a=a*1.0001f+.1f;b=b*.9999f-.1f;c=fabsf(a-b);m=fmaxf(m,c);n=fminf(n,c);if(a>b)m+=.5f;b=(c>3.f)?b+a:b-c;n=n*1.5f+c;} out[id-s0]=__float_as_uint(m+n+a+b);}
K(p_fft){ID;float r[8],i[8];for(int k=0;k<8;k++){r[k]=id*k;i[k]=id+k;}
  L{
  #pragma unroll
  for(int k=0;k<4;k++){float tr=r[k+4]*.7f-i[k+4]*.3f,ti=r[k+4]*.3f+i[k+4]*.7f,ar=r[k],ai=i[k];r[k]=ar+tr;i[k]=ai+ti;r[k+4]=ar-tr;i[k+4]=ai-ti;}
  float t=r[1];r[1]=r[4];r[4]=t;t=i[3];i[3]=i[6];i[6]=t;} float s=0;for(int k=0;k<8;k++)s+=r[k]*i[k];out[id-s0]=__float_as_uint(s);}
K(q_gelu){ID;float x=id*1e-3f,y=id*2e-3f,s=0,t=0;
  L{float u=.79788456f*x*(1+.044715f*x*x),e=__expf(2*u),th=1-2*__fdividef(1.f,e+1);s+=.5f*x*(1+th);float z=__expf(-y);t+=__fdividef(y,1+z);x+=.01f;y-=.01f;} out[id-s0]=__float_as_uint(s+t);}
K(r_hash){ID;u32 h=id,g=id*7;
  L{h^=h>>16;h*=0x85ebca6b;h^=h>>13;h*=0xc2b2ae35;h^=h>>16;g=(g<<5)+g+h;g^=h>>3;h+=it;} out[id-s0]=h^g;}
K(s_div){ID;u32 a=id*77777,b=id%97+3,s=0;
  L{s+=a/1000003u;s^=a%1009u;a=a*1664525u+b;} out[id-s0]=s;}
K(t_bf16){ID;u32 w=id*0x9e3779b9;float a0=0,a1=0,a2=0,a3=0,x=id;
  L{float f0=__uint_as_float(w<<16),f1=__uint_as_float(w&0xffff0000u);a0=f0*x+a0;a1=f1*x+a1;u32 v=w^0x80008000u;float f2=__uint_as_float(v<<16),f3=__uint_as_float(v&0xffff0000u);a2=f2*x+a2;a3=f3*x+a3;w+=0x00010001u;} out[id-s0]=__float_as_uint(a0+a1+a2+a3);}

// Six FP64 numbers of three kinds: what a loop does with each of them, beside them before and after it.
#define SIX for(int q=0;q<6;q++)
#define D(name,before,each,after) K(name){ID;double a[6],b[6],c[6];SIX{a[q]=id*(1e-6*q+1);b[q]=1.0+id*1e-9*(q+1);c[q]=id*1e-12*(q+2);}before \
  L{_Pragma("unroll") SIX{each}} double s=0;SIX s+=a[q]+b[q]*3+c[q]*5;out[id-s0]=__double_as_longlong(s);after}
#define INTS u32 x[6];u32 y[6];SIX{x[q]=id*(q+3);y[q]=id*(q+7);}
#define INTS_OUT u32 t=0;SIX t^=x[q]+y[q];out[id-s0+4096*64]=t;
#define FLOATS float x[6];float y[6];float z[6];SIX{x[q]=id*q;y[q]=id+q;z[q]=id-q;}
#define FLOATS_OUT float t=0;SIX t+=x[q]+z[q];out[id-s0+4096*64]=__float_as_uint(t);
D(d1,,a[q]=fma(a[q],a[q],a[q]);,)
D(d2,,a[q]=fma(a[q],a[q],b[q]);,)
D(d2r,,a[q]=fma(a[q],a[q],b[0]);,)
D(d3,,a[q]=fma(a[q],b[q],c[q]);,)
D(d3r,,a[q]=fma(a[q],b[0],c[0]);,)
D(d3r1,,a[q]=fma(a[q],b[0],c[q]);,)
D(add1,,a[q]=a[q]+a[q];,)
D(add2,,a[q]=a[q]+b[q];,)
D(mul2,,a[q]=a[q]*b[q];,)
D(addmul,,a[q]=a[q]+b[q];c[q]=c[q]*b[q];,)
D(d3lop1,INTS,a[q]=fma(a[q],b[q],c[q]);x[q]=(x[q]^y[q])+5;,INTS_OUT)
D(d1lop1,INTS,a[q]=fma(a[q],a[q],a[q]);x[q]=(x[q]^y[q])+5;,INTS_OUT)
D(d3ffma,FLOATS,a[q]=fma(a[q],b[q],c[q]);x[q]=fmaf(x[q],y[q],z[q]);z[q]=fmaf(z[q],y[q],x[q]);,FLOATS_OUT)
D(dset,int n=0;,n+=a[q]>b[q];a[q]=a[q]+c[q];,out[id-s0+4096*64]=n;)
D(lds_d,__shared__ double sh[1024];sh[threadIdx.x]=id;__syncthreads();,a[q]=fma(sh[(it*32+q*32+(threadIdx.x&31))&1023],b[q],a[q]);,)
