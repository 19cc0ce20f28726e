// Arithmetic on two halfwords or four bytes packed in a 32-bit integer.
#pragma once

#define __GEMMVIZ_SIMD1(NAME)                \
  extern "C" unsigned int NAME##2(unsigned int); \
  extern "C" unsigned int NAME##4(unsigned int);
#define __GEMMVIZ_SIMD2(NAME)                              \
  extern "C" unsigned int NAME##2(unsigned int, unsigned int); \
  extern "C" unsigned int NAME##4(unsigned int, unsigned int);
__GEMMVIZ_SIMD1(__vabs)
__GEMMVIZ_SIMD1(__vabsss)
__GEMMVIZ_SIMD1(__vneg)
__GEMMVIZ_SIMD1(__vnegss)
__GEMMVIZ_SIMD2(__vabsdiffs)
__GEMMVIZ_SIMD2(__vabsdiffu)
__GEMMVIZ_SIMD2(__vadd)
__GEMMVIZ_SIMD2(__vaddss)
__GEMMVIZ_SIMD2(__vaddus)
__GEMMVIZ_SIMD2(__vavgs)
__GEMMVIZ_SIMD2(__vavgu)
__GEMMVIZ_SIMD2(__vhaddu)
__GEMMVIZ_SIMD2(__vmaxs)
__GEMMVIZ_SIMD2(__vmaxu)
__GEMMVIZ_SIMD2(__vmins)
__GEMMVIZ_SIMD2(__vminu)
__GEMMVIZ_SIMD2(__vsads)
__GEMMVIZ_SIMD2(__vsadu)
__GEMMVIZ_SIMD2(__vsub)
__GEMMVIZ_SIMD2(__vsubss)
__GEMMVIZ_SIMD2(__vsubus)
#define __GEMMVIZ_COMPARISON(NAME) __GEMMVIZ_SIMD2(__vcmp##NAME) __GEMMVIZ_SIMD2(__vset##NAME)
__GEMMVIZ_COMPARISON(eq)
__GEMMVIZ_COMPARISON(ne)
__GEMMVIZ_COMPARISON(ges)
__GEMMVIZ_COMPARISON(geu)
__GEMMVIZ_COMPARISON(gts)
__GEMMVIZ_COMPARISON(gtu)
__GEMMVIZ_COMPARISON(les)
__GEMMVIZ_COMPARISON(leu)
__GEMMVIZ_COMPARISON(lts)
__GEMMVIZ_COMPARISON(ltu)
extern "C" {
int __viaddmax_s32(int, int, int);
int __viaddmin_s32(int, int, int);
int __vimax3_s32(int, int, int);
int __vimin3_s32(int, int, int);
unsigned int __vimax3_u32(unsigned int, unsigned int, unsigned int);
unsigned int __vimin3_u32(unsigned int, unsigned int, unsigned int);
}
