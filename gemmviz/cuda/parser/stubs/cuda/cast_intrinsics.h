// Conversions with a rounding mode, and the same bits as another type.
#pragma once

#define __GEMMVIZ_CONVERSION(FROM, F, TO, T) \
  extern "C" T __##FROM##2##TO##_rn(F);      \
  extern "C" T __##FROM##2##TO##_rz(F);      \
  extern "C" T __##FROM##2##TO##_ru(F);      \
  extern "C" T __##FROM##2##TO##_rd(F);
__GEMMVIZ_CONVERSION(float, float, int, int)
__GEMMVIZ_CONVERSION(float, float, uint, unsigned int)
__GEMMVIZ_CONVERSION(float, float, ll, long long)
__GEMMVIZ_CONVERSION(float, float, ull, unsigned long long)
__GEMMVIZ_CONVERSION(double, double, int, int)
__GEMMVIZ_CONVERSION(double, double, uint, unsigned int)
__GEMMVIZ_CONVERSION(double, double, ll, long long)
__GEMMVIZ_CONVERSION(double, double, ull, unsigned long long)
__GEMMVIZ_CONVERSION(double, double, float, float)
__GEMMVIZ_CONVERSION(int, int, float, float)
__GEMMVIZ_CONVERSION(uint, unsigned int, float, float)
__GEMMVIZ_CONVERSION(ll, long long, float, float)
__GEMMVIZ_CONVERSION(ull, unsigned long long, float, float)
__GEMMVIZ_CONVERSION(ll, long long, double, double)
__GEMMVIZ_CONVERSION(ull, unsigned long long, double, double)
extern "C" {
double __int2double_rn(int);
double __uint2double_rn(unsigned int);
int __float_as_int(float);
unsigned int __float_as_uint(float);
float __int_as_float(int);
float __uint_as_float(unsigned int);
long long __double_as_longlong(double);
double __longlong_as_double(long long);
int __double2hiint(double);
int __double2loint(double);
double __hiloint2double(int, int);
}
int float_as_int(float);
unsigned int float_as_uint(float);
float int_as_float(int);
float uint_as_float(unsigned int);
