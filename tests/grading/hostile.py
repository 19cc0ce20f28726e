"""Hand-ins that are made to escape, to hang, or to fill memory or a disk; and the ids of what is found in them."""

from tests.grading.planted import base_text

_KERNEL = base_text("naive")
_BODY = "C[row * N + col] = sum;"
_HEAD = "#include <cstdio>"


def _in_body(text: str) -> str:
    assert _BODY in _KERNEL
    return _KERNEL.replace(_BODY, f"{text}\n        {_BODY}")


def _in_front(text: str) -> str:
    assert _HEAD in _KERNEL
    return _KERNEL.replace(_HEAD, f"{text}\n{_HEAD}")


_DOUBLED = "\n".join(f"#define X{n + 1} X{n} X{n}" for n in range(40))
_DEEP = "(" * 5000 + "1" + ")" * 5000

HOSTILE: dict[str, tuple[str, str]] = {
    # what is read
    "include of a system file": (_in_front('#include "/etc/passwd"'), ""),
    "include of a parent folder": (_in_front('#include "../../../../../../etc/passwd"'), ""),
    "include by a macro": (_in_front('#define F "/etc/passwd"\n#include F'), ""),
    "include by a split line": (_in_front('#inc\\\nlude "/etc/passwd"'), ""),
    "embedded file": (_in_front('const unsigned char s[] = {\n#embed "/etc/passwd"\n};'), "source"),
    "include next": (_in_front("#include_next </etc/passwd>"), ""),
    "include of a device": (_in_front('#include "/dev/zero"'), ""),
    "include of itself": (_in_front('#include "base.cu"'), "source"),
    "assembler that includes": (_in_front('asm(".incbin \\"/etc/passwd\\"");'), ""),
    # what is read for ever
    "endless template": (_in_front("template <int N> struct F { static const int v = F<N + 1>::v; };\nint x = F<0>::v;"), "source"),
    "wide template": (
        _in_front("template <int N, int M> struct F { static const int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
                  "template <int M> struct F<0, M> { static const int v = M; };\nint x = F<24, 1>::v;"),
        "source",
    ),
    "endless constexpr": (_in_front("constexpr int f(int n) { for (;;) n++; return n; }\nconstexpr int x = f(0);"), "source"),
    "macro bomb": (_in_front(f"#define X0 0,\n{_DOUBLED}\nint x[] = {{ X40 0 }};"), "source"),
    "deep brackets": (_in_front(f"int x = {_DEEP};"), "source"),
    "deep blocks": (_in_front("void f() {" + "{" * 20000 + "}" * 20000 + "}"), "source"),
    "large array type": (_in_front("int x[1LL << 40];"), ""),
    # what runs for ever
    "while true": (_in_body("while (true) {}"), "step-budget"),
    "goto": (_in_body("again: goto again;"), "unsupported"),
    "a counter that overflows": (_in_body("for (unsigned i = 1; i != 0; ++i) sum += 1;"), "step-budget"),
    "a loop that accesses for ever": (_in_body("for (;;) C[row * N + col] = sum;"), "step-budget"),
    "nested loops": (_in_body("for (int a = 0; a < 100000; ++a) for (int b = 0; b < 100000; ++b) sum += b;"), "step-budget"),
    "recursion": (_KERNEL.replace("// Each thread", "__device__ int f(int n) { return f(n + 1); }\n// Each thread").replace(_BODY, "sum += f(0);\n" + _BODY), "unsupported"),
    "a loop that waits": (_in_body("volatile float *p = C; while (p[0] != -1.0f) {}"), "step-budget"),
    # what fills memory
    "a large array in each thread": (_in_body("float big[1 << 22]; big[row] = 1; sum += big[row] - 1;"), "source"),
    "large shared memory": (_in_body("__shared__ float big[1 << 28]; big[0] = 1;"), "shared-memory"),
    "a huge grid": (_KERNEL.replace("dim3 blocks((N", "dim3 blocks(1000000 + (N"), "setting"),
    "a grid of all numbers": (_KERNEL.replace("dim3 blocks((N + threads.x - 1) / threads.x", "dim3 blocks(2147483647"), "setting"),
    "malloc in a kernel": (_in_body("float *p = (float *)malloc(1 << 30); p[0] = 1;"), "unsupported"),
    "printf for ever": (_in_body('for (int i = 0; i < 1000000; ++i) printf("%d\\n", i);'), "step-budget"),
    # what runs on the host
    "system calls": (_KERNEL.replace("int M = 100", 'system("touch /tmp/escaped"); fopen("/tmp/escaped", "w"); int M = 100'), ""),
    "a constructor": (_in_front('#include <cstdlib>\nstruct E { E() { system("touch /tmp/escaped"); } } e;'), ""),
    # names
    "a kernel with markup": (_KERNEL.replace("// Each thread", "// <script>alert(1)</script></script><img src=x onerror=alert(1)>\n// Each"), ""),
}  # fmt: skip
