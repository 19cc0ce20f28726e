// Integer intrinsics, dot products of packed bytes, and the clock.
#pragma once

extern "C" {
unsigned int __brev(unsigned int);
unsigned long long __brevll(unsigned long long);
unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
int __clz(int);
int __clzll(long long);
int __ffs(int);
int __ffsll(long long);
int __popc(unsigned int);
int __popcll(unsigned long long);
unsigned int __fns(unsigned int, unsigned int, int);
unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
unsigned int __funnelshift_lc(unsigned int, unsigned int, unsigned int);
unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
unsigned int __funnelshift_rc(unsigned int, unsigned int, unsigned int);
int __hadd(int, int);
int __rhadd(int, int);
unsigned int __uhadd(unsigned int, unsigned int);
unsigned int __urhadd(unsigned int, unsigned int);
int __mul24(int, int);
unsigned int __umul24(unsigned int, unsigned int);
int __mulhi(int, int);
unsigned int __umulhi(unsigned int, unsigned int);
long long __mul64hi(long long, long long);
unsigned long long __umul64hi(unsigned long long, unsigned long long);
unsigned int __sad(int, int, unsigned int);
unsigned int __usad(unsigned int, unsigned int, unsigned int);
long long clock64();
unsigned long long __globaltimer();
}
int __dp4a(int, int, int);
int __dp4a(char4, char4, int);
unsigned int __dp4a(unsigned int, unsigned int, unsigned int);
unsigned int __dp4a(uchar4, uchar4, unsigned int);
int __dp2a_lo(int, int, int);
unsigned int __dp2a_lo(unsigned int, unsigned int, unsigned int);
int __dp2a_hi(int, int, int);
unsigned int __dp2a_hi(unsigned int, unsigned int, unsigned int);
int mul24(int, int);
unsigned int umul24(unsigned int, unsigned int);
int mulhi(int, int);
