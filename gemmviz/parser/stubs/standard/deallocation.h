// The operators that free memory. They follow the saved headers: clang ends at a delete in host code where it knows the
// implicit ones of a saved header alone.
#pragma once

void operator delete(void*) noexcept;
void operator delete[](void*) noexcept;
