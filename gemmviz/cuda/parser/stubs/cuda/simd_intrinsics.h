// Arithmetic on two halfwords or four bytes packed in a 32-bit integer.
#pragma once

extern "C" {
unsigned int __vabsss2(unsigned int);
unsigned int __vabsss4(unsigned int);
unsigned int __vnegss2(unsigned int);
unsigned int __vnegss4(unsigned int);
int __viaddmax_s32(int, int, int);
int __viaddmin_s32(int, int, int);
int __vimax3_s32(int, int, int);
int __vimin3_s32(int, int, int);
unsigned int __vimax3_u32(unsigned int, unsigned int, unsigned int);
unsigned int __vimin3_u32(unsigned int, unsigned int, unsigned int);
}
