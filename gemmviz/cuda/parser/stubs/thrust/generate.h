// See thrust/device_vector.h.
#pragma once

#include <thrust/device_vector.h>
