// The same bits as another type, without underscores.
#pragma once

int float_as_int(float);
unsigned int float_as_uint(float);
float int_as_float(int);
float uint_as_float(unsigned int);
