// The operators that allocate and free memory. They follow the saved headers: clang ends at a delete in host code where it knows
// the implicit ones of a saved header alone, and doesn't find the implicit ones that allocate.
#pragma once

void* operator new(decltype(sizeof(0)));
void* operator new[](decltype(sizeof(0)));
void operator delete(void*) noexcept;
void operator delete[](void*) noexcept;

namespace std {
struct nothrow_t {};
constexpr nothrow_t nothrow{};
}  // namespace std

void* operator new(decltype(sizeof(0)), const std::nothrow_t&) noexcept;
void* operator new[](decltype(sizeof(0)), const std::nothrow_t&) noexcept;
