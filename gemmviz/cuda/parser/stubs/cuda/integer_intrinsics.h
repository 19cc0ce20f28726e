// Integer intrinsics, dot products of packed bytes, and the clock.
#pragma once

extern "C" {
int __hadd(int, int);
unsigned int __fns(unsigned int, unsigned int, int);
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
