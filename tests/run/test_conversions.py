"""Conversions of C, for one value of all threads and for one of each: known before the kernel runs, or worked out in it."""

import numpy as np
import pytest

from gemmviz.model.messages import KernelFault
from tests.conftest import kernel_from, left_in_c

BEFORE = "constexpr int W = 3; template <int N> __device__ int f(int x) { return N > 2 ? x : x / (N - 3); }"
EXPRESSIONS = {  # z is 0
    # ?: has the common type of both sides, whichever is chosen
    "(W > 2 ? 1 : 0.5f) / 4": 0.25,
    "(W < 2 ? 0.5f : 1) / 4": 0.25,
    "(z == 0 ? 1 : 0.5f) / 4": 0.25,
    "(W > 2 ? -1 : 1u) > 0": 1,
    "(W > 2 ? (short)-1 : (char)1) < 0": 1,
    "sizeof(W > 2 ? 'a' : (signed char)1)": 4,
    "sizeof(W > 2 ? 'a' : 'b')": 1,
    "sizeof(z ? 1 : 2.0)": 8,
    "sizeof(W > 2 ? 1 : 2ll)": 8,
    "(W > 2 ? 5 : 1 / 0)": 5,
    "(W < 2 && 1 / 0) + (W > 2 || 1 / 0)": 1,
    "f<4>(3) + f<2>(3 + z)": 0,
    "sizeof(1 / 0) + sizeof(C[1 << 30])": 12,
    # promotion and the usual conversions
    "-1 < 0u": 0,
    "-1ll < 0u": 1,
    "(short)(z - 1) < (unsigned short)z": 1,
    "(unsigned)(z - 1) / 2": 2**31 - 1,
    "(z - 1) / 2u": 2**31 - 1,
    "(unsigned char)(z + 200) + (unsigned char)100": 300,
    "-(signed char)(z - 128)": 128,
    "~(unsigned char)z": -1,
    "(bool)(z + 2) + true": 2,
    "'a' * 2 + z": 194,
    "(z + 1.0f) / 3 == (z + 1.0) / 3": 0,
    "(2147483647 + z) + 1": -(2**31),
    "(z + 4294967295u) + 1": 0,
    "(z + 9223372036854775807ll) + 1 < 0": 1,
    "(float)(z + 16777217)": 16777216,
    "(double)(z + 16777217)": 16777217,
    "(float)(z + 1152921573326323713ll) == 1152921642045800448.0f": 1,
    "(float)(z + 9223372586610589697ull) == 9223373136366403584.0f": 1,
    "(double)(z + 18446744073709551615ull) == 18446744073709551616.0": 1,
    # division rounds towards zero
    "(z - 7) / 2": -3,
    "(z - 7) % 2": -1,
    "(z - 7) / (2 - z) * 2 + (z - 7) % (2 - z)": -7,
    "(z - 9223372036854775807ll - 1) / 3 == -3074457345618258602ll": 1,
    "(z - 9223372036854775807ll - 1) % 10": -8,
    "(z - 2147483647 - 1) / (z - 1)": -(2**31),
    # shifts: of the promoted left side's type; amounts are clamped as by shl and shr
    "(unsigned char)(z + 255) << 8": 65280,
    "sizeof((char)1 << 1ll)": 4,
    "(z + 1ll) << 40 == 1099511627776": 1,
    "(z - 8) >> 1": -4,
    "(z + 4294967288u) >> 1": 2147483644,
    "(z + 5) << (z + 33)": 0,
    "(z - 5) >> (z + 33)": -1,
    "(z + 5u) >> (z - 1)": 0,
    "(z + 5) << (z + 4294967296ll)": 5,
    "(z + 5ll) << (z + 64)": 0,
    "(z - 5ll) >> (z - 1)": -1,
    # narrowing wraps, floats saturate
    "(char)(z + 200)": -56,
    "(unsigned short)(z - 1)": 65535,
    "(signed char)(z + 1e10f)": -1,
    "(unsigned char)(z - 5.5f)": 0,
    "(unsigned char)(z + 300.7)": 44,
    "(int)(z + 3e9f)": 2**31 - 1,
    "(unsigned)(z - 1.0)": 0,
    "(unsigned)(z + 3e9) == 3000000000u": 1,
    "(unsigned long long)(z + 1e19) == 10000000000000000000ull": 1,
    "(unsigned long long)(z + 1e20) == 18446744073709551615ull": 1,
    "(long long)(z - 1e19) < 0": 1,
    "(int)(0.0f / z)": 0,
    "(int)(0.0 / z)": -(2**31),
    "(bool)(0.0f / z) + !(z + 0.5f)": 1,
    # literals
    "0x1.8p1f + 0x.8p0 + 1'000 + 0b101 + 017 + z": 1023.5,
    "1.00000005960464477540f == 1.0f": 0,
    "sizeof(2147483648) + sizeof(0x80000000) + sizeof(4294967295u) + sizeof(1.f) + sizeof(1.) + sizeof('a')": 8 + 4 + 4 + 4 + 8 + 1,
    "(z, 5) + (4, z, 3)": 8,
    "'\\n' + '\\x41' + '\\101' + '\\0' + '\\''": 10 + 65 + 65 + 39,
    "'\\xff' + z": -1,
}  # fmt: skip
STATEMENTS = {
    "unsigned char c = 250 + z; c += 10; r = c;": 4,
    "unsigned char c = z; r = --c; r += c;": 510,
    "signed char c = 127 - z; c++; r = c;": -128,
    "int i = 7 + z; i *= 1.5f; r = i;": 10,
    "int i = 5 + z; i /= 2.0; r = i;": 2,
    "int i = 16777217 + z; i += 0.0f; r = i;": 16777216,
    "int i = z - 1; i /= 2u; r = i;": 2**31 - 1,
    "unsigned u = z + 1; u -= 2; r = u / 2;": 2**31 - 1,
    "short s = z - 1; s >>= 1; s &= 0xffff; r = s;": -1,
    "unsigned char c = z + 3; c <<= 7; r = c;": 128,
    "bool b = z + 2; b += 5; r = b;": 1,
    "bool b = z; b |= 4; r = b + b;": 2,
    "float x = z + 16777216; x++; r = x == 16777216.0f;": 1,
    "float x = z + 1; x += 1e-9; r = x == 1.0f;": 1,
    "long long l = z + 1; l <<= 40; r = l == 1ll << 40;": 1,
    "unsigned char c = z; int i = c--; r = i * 1000 + c;": 255,
    "int i = z + 300; unsigned char c; int j = (c = i); r = j;": 44,
    "unsigned char s[2] = {(unsigned char)(z + 255)}; s[0] += 2; s[1]--; r = s[0] + 1000 * s[1];": 255001,
    "float a[2] = {1, 2}; bool b = z == 0; r = a[b] + *(a + b);": 4,
    "const double* p = C + 5; unsigned long long m = z - 1ull; r = &p[m] - C;": 4,
    "int a[2][2] = {1, {2}, 3}; r = a[0][0] * 1000 + a[0][1] * 100 + a[1][0] * 10 + a[1][1];": 1230,
    "int a[][2] = {1, 2, 3}; r = a[1][0] * 10 + sizeof(a);": 46,
    "__shared__ unsigned char u[4]; u[threadIdx.x] = 254 + threadIdx.x; r = u[threadIdx.x] - (threadIdx.x < 2 ? 254 + threadIdx.x : threadIdx.x - 2);": 0,
}  # fmt: skip
ZEROS = {"of all": "0", "of each": "(int)threadIdx.x * 0"}


def assert_left(statements: dict[str, float]) -> None:
    """Four threads have these numbers in ``r`` after statements, each in a block of its own of one kernel."""
    blocks = (f"{{ double r = 0; {each} C[{4 * at} + threadIdx.x] = r; }}\n" for at, each in enumerate(statements))
    kernel = kernel_from(
        "".join(blocks), before=BEFORE, pointer="double*", parameters="// problem = { M = 32, N = 32, K = 32 }"
    )
    found = left_in_c(kernel)[: 4 * len(statements)].reshape(-1, 4)
    assert dict(zip(statements, found.tolist(), strict=True)) == {each: [number] * 4 for each, number in statements.items()}


@pytest.mark.parametrize("zero", ZEROS)
def test_expressions(zero: str) -> None:
    assert_left({f"int z = {ZEROS[zero]}; r = {each};": number for each, number in EXPRESSIONS.items()})


def test_constants() -> None:
    known = {each: number for each, number in EXPRESSIONS.items() if "z - 1) / (z" not in each}
    assert_left({f"const int z = 0; r = {each};": number for each, number in known.items()})


@pytest.mark.parametrize("zero", ZEROS)
def test_statements(zero: str) -> None:
    assert_left({f"int z = {ZEROS[zero]}; {each}": number for each, number in STATEMENTS.items()})


SHUFFLES = {  # as on an H100, with a width of 8 for the first 16 threads and of 16 for the others
    "__shfl_sync(~0u, t, 9, w)": [1] * 8 + [9] * 8 + [25] * 16,
    "__shfl_up_sync(~0u, t, 3, w)": [0, 1, 2, 0, 1, 2, 3, 4, 8, 9, 10, 8, 9, 10, 11, 12, 16, 17, 18, *range(16, 29)],
    "__shfl_down_sync(~0u, t, 35, w)": [3, 4, 5, 6, 7, 5, 6, 7, 11, 12, 13, 14, 15, 13, 14, 15, *range(19, 32), 29, 30, 31],
    "__shfl_xor_sync(~0u, t, 12, w)": [
        *range(8),
        4,
        5,
        6,
        7,
        0,
        1,
        2,
        3,
        28,
        29,
        30,
        31,
        24,
        25,
        26,
        27,
        20,
        21,
        22,
        23,
        16,
        17,
        18,
        19,
    ],
}


@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_the_width_of_a_shuffle_may_differ_by_thread(shuffle: str) -> None:
    body = f"int t = threadIdx.x, w = t < 16 ? 8 : 16; C[t] = {shuffle};"
    assert left_in_c(kernel_from(body, block='["32"]'))[:32].tolist() == SHUFFLES[shuffle]


def test_a_shuffle_of_what_differs_by_one_axis_of_blocks_from_lanes_that_differ_by_the_other() -> None:
    body = "int t = threadIdx.x; C[(blockIdx.y * 2 + blockIdx.x) * 4 + t] = __shfl_sync(~0u, t + 10 * (int)blockIdx.x, blockIdx.y + 1);"
    found = left_in_c(kernel_from(body, grid='["2", "2"]'))[:16].reshape(4, 4)
    assert found[:, 0].tolist() == [1, 11, 2, 12]
    assert (found == found[:, :1]).all()


def test_a_shuffle_gives_a_promoted_integer() -> None:
    body = "unsigned char c = 200 + threadIdx.x; C[threadIdx.x] = __shfl_sync(~0u, c, 3) * 2 + sizeof(__shfl_sync(~0u, c, 3));"
    assert left_in_c(kernel_from(body))[:4].tolist() == [410] * 4


@pytest.mark.parametrize("width", ["12", "64", "threadIdx.x + 1"])
def test_a_width_that_no_shuffle_has(width: str) -> None:
    with pytest.raises(KernelFault, match=r"10:24: this width is no power of two up to 32.*use 1, 2, 4, 8, 16 or 32"):
        left_in_c(kernel_from(f"C[threadIdx.x]       = __shfl_sync(~0u, 1, 0, {width});", block='["4"]'))


def test_what_integers_are_stored_into_a_tile_is_computed() -> None:
    """They are no tags: 7 is not the element 7 of A."""
    from gemmviz.model.trace import COMPUTED
    from tests.conftest import trace_of

    body = "__shared__ unsigned char u[4]; u[threadIdx.x] = threadIdx.x; C[threadIdx.x] = A[0];"
    assert (trace_of(kernel_from(body)).origin_array == COMPUTED).all()
    assert np.array_equal(left_in_c(kernel_from(body.replace("A[0]", "u[threadIdx.x]")))[:4], [0, 1, 2, 3])
