"""What the kernels of the corpus compute: their buffers, sizes, and a loop of the host that checks the result."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Buffer:
    """An array: ``role`` is in, out, inout (its first values are index % 5), or zero (an output that starts at 0)."""

    name: str
    count: str
    role: str = "in"


@dataclass(frozen=True)
class Problem:
    """``check`` is host code: ``@A`` is an array, ``$M`` a size, ``EXPECT(got, wanted)`` one comparison."""

    sizes: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    check: str
    scalars: dict[str, str] = field(default_factory=dict)

    @property
    def multiplies(self) -> bool:
        return "K" in self.sizes or self.sizes == ("N",)


def _gemm(value: str, index: str = "i * $N + j", a: str = "i * $K + e", b: str = "e * $N + j", z: str = "") -> str:
    inner = f"""for (int i = 0; i < $M; i++) {{
    for (int j = 0; j < $N; j++) {{
        double s = 0;
        for (int e = 0; e < $K; e++) s += (double)@A[{z and "z * $M * $K + "}{a}] * (double)@B[{z and "z * $K * $N + "}{b}];
        EXPECT(@C[{z and "z * $M * $N + "}{index}], {value});
    }}
}}"""
    return f"for (int z = 0; z < $batch; z++)\n{inner}" if z else inner


def _matrices(c: str = "out", *more: Buffer) -> tuple[Buffer, ...]:
    return Buffer("A", "$M * $K"), Buffer("B", "$K * $N"), *more, Buffer("C", "$M * $N", c)


_MNK, _BIAS = ("M", "N", "K"), Buffer("bias", "$N")
_SQUARE = tuple(Buffer(name, "$N * $N", role) for name, role in (("A", "in"), ("B", "in"), ("C", "out")))
_SQUARE_CHECK = _gemm("s").replace("$M", "$N").replace("$K", "$N")
_AB = {"alpha": "1.5f", "beta": "0.5f"}
_BLEND = "$alpha * s + $beta * ((i * $N + j) % 5)"
_X = Buffer("X", "$n")


def _each(value: str, out: str = "Y") -> str:
    return f"for (int i = 0; i < $n; i++) {{\n    EXPECT(@{out}[i], {value});\n}}"


def _rows(body: str) -> str:
    return f"for (int i = 0; i < $M; i++) {{\n{body}\n}}"


PROBLEMS = {
    "gemm": Problem(_MNK, _matrices(), _gemm("s")),
    "gemm_macro": Problem(_MNK, _matrices(), _gemm("s")),
    "gemm_zero": Problem(_MNK, _matrices("zero"), _gemm("s")),
    "gemm_ab": Problem(_MNK, _matrices("inout"), _gemm(_BLEND), _AB),
    "gemm_ld": Problem(_MNK, _matrices("inout"), _gemm(_BLEND), {**_AB, "lda": "$K", "ldb": "$N", "ldc": "$N"}),
    "gemm_nt": Problem(_MNK, _matrices(), _gemm("s", b="j * $K + e")),
    "gemm_tn": Problem(_MNK, _matrices(), _gemm("s", a="e * $M + i")),
    "gemm_tt": Problem(_MNK, _matrices(), _gemm("s", a="e * $M + i", b="j * $K + e")),
    "gemm_col": Problem(_MNK, _matrices(), _gemm("s", "j * $M + i", "e * $M + i", "j * $K + e")),
    "gemm_bias": Problem(_MNK, _matrices("out", _BIAS), _gemm("s + @bias[j]")),
    "gemm_bias_relu": Problem(_MNK, _matrices("out", _BIAS), _gemm("s + @bias[j] > 0 ? s + @bias[j] : 0.0")),
    "gemm_nt_bias": Problem(_MNK, _matrices("out", _BIAS), _gemm("s + @bias[j]", b="j * $K + e")),
    "gemm_gelu": Problem(_MNK, _matrices(), _gemm("0.5 * s * (1.0 + tanh(0.7978845608 * (s + 0.044715 * s * s * s)))")),
    "batched": Problem(
        ("batch", *_MNK),
        (Buffer("A", "$batch * $M * $K"), Buffer("B", "$batch * $K * $N"), Buffer("C", "$batch * $M * $N", "out")),
        _gemm("s", z="z"),
    ),
    "square": Problem(("N",), _SQUARE, _SQUARE_CHECK),
    "square_const": Problem(("N",), _SQUARE, _SQUARE_CHECK),
    "vecadd": Problem(("n",), (Buffer("A", "$n"), Buffer("B", "$n"), Buffer("C", "$n", "out")), _each("@A[i] + @B[i]", "C")),
    "matadd": Problem(
        ("M", "N"),
        tuple(Buffer(name, "$M * $N", role) for name, role in (("A", "in"), ("B", "in"), ("C", "out"))),
        "for (int i = 0; i < $M * $N; i++) {\n    EXPECT(@C[i], @A[i] + @B[i]);\n}",
    ),
    "saxpy": Problem(("n",), (_X, Buffer("Y", "$n", "inout")), _each("2.0f * @X[i] + i % 5")),
    "axpby": Problem(("n",), (_X, Buffer("Y", "$n", "inout")), _each("$alpha * @X[i] + $beta * (i % 5)"), {"alpha": "2.5", "beta": "-0.5"}),
    "scale": Problem(("n",), (Buffer("Y", "$n", "inout"),), _each("3.0f * (i % 5)")),
    "copy": Problem(("n",), (_X, Buffer("Y", "$n", "out")), _each("@X[i]")),
    "relu": Problem(("n",), (_X, Buffer("Y", "$n", "out")), _each("@X[i] > 0 ? @X[i] : 0")),
    "transpose": Problem(
        ("M", "N"), (Buffer("X", "$M * $N"), Buffer("Y", "$M * $N", "out")),
        "for (int i = 0; i < $M; i++) {\n    for (int j = 0; j < $N; j++) {\n        EXPECT(@Y[j * $M + i], @X[i * $N + j]);\n    }\n}",
    ),
    "sum": Problem(
        ("n",), (_X, Buffer("S", "1", "zero")),
        "double s = 0;\nfor (int i = 0; i < $n; i++) s += @X[i];\nEXPECT(@S[0], s);",
    ),
    "partial_sums256": Problem(
        ("n",), (_X, Buffer("P", "($n + 511) / 512", "out")),
        "double s = 0, p = 0;\nfor (int i = 0; i < $n; i++) s += @X[i];\nfor (int i = 0; i < ($n + 511) / 512; i++) p += @P[i];\nEXPECT(p, s);",
    ),
    "dot": Problem(
        ("n",), (_X, Buffer("Y", "$n"), Buffer("S", "1", "zero")),
        "double s = 0;\nfor (int i = 0; i < $n; i++) s += (double)@X[i] * @Y[i];\nEXPECT(@S[0], s);",
    ),
    "max": Problem(
        ("n",), (_X, Buffer("S", "1", "zero")),
        "int s = @X[0];\nfor (int i = 0; i < $n; i++) s = @X[i] > s ? @X[i] : s;\nEXPECT(@S[0], s);",
    ),
    "rowsum": Problem(
        ("M", "N"), (Buffer("X", "$M * $N"), Buffer("Y", "$M", "out")),
        _rows("    double s = 0;\n    for (int j = 0; j < $N; j++) s += @X[i * $N + j];\n    EXPECT(@Y[i], s);"),
    ),
    "colsum": Problem(
        ("M", "N"), (Buffer("X", "$M * $N"), Buffer("Y", "$N", "out")),
        "for (int j = 0; j < $N; j++) {\n    double s = 0;\n    for (int i = 0; i < $M; i++) s += @X[i * $N + j];\n    EXPECT(@Y[j], s);\n}",
    ),
    "gemv": Problem(
        ("M", "N"), (Buffer("A", "$M * $N"), Buffer("X", "$N"), Buffer("Y", "$M", "out")),
        _rows("    double s = 0;\n    for (int j = 0; j < $N; j++) s += (double)@A[i * $N + j] * @X[j];\n    EXPECT(@Y[i], s);"),
    ),
    "softmax": Problem(
        ("M", "N"), (Buffer("X", "$M * $N"), Buffer("Y", "$M * $N", "out")),
        _rows(
            "    double top = -1e30, s = 0;\n"
            "    for (int j = 0; j < $N; j++) top = @X[i * $N + j] > top ? @X[i * $N + j] : top;\n"
            "    for (int j = 0; j < $N; j++) s += exp(@X[i * $N + j] - top);\n"
            "    for (int j = 0; j < $N; j++) {\n        EXPECT(@Y[i * $N + j], exp(@X[i * $N + j] - top) / s);\n    }"
        ),
    ),
    "histogram": Problem(
        ("n",), (_X, Buffer("H", "64", "zero")),
        "unsigned int count[64] = {0};\nfor (int i = 0; i < $n; i++) count[@X[i] % 64]++;\n"
        "for (int i = 0; i < 64; i++) {\n    EXPECT(@H[i], count[i]);\n}",
    ),
    "stencil3": Problem(
        ("n",), (_X, Buffer("Y", "$n", "out")),
        _each("i > 0 && i < $n - 1 ? 0.25f * @X[i - 1] + 0.5f * @X[i] + 0.25f * @X[i + 1] : @X[i]"),
    ),
    "heat2d": Problem(
        ("M", "N"), (Buffer("X", "$M * $N"), Buffer("Y", "$M * $N", "out")),
        """for (int i = 1; i < $M - 1; i++) {
    for (int j = 1; j < $N - 1; j++) {
        double s = @X[(i - 1) * $N + j] + @X[(i + 1) * $N + j] + @X[i * $N + j - 1] + @X[i * $N + j + 1];
        EXPECT(@Y[i * $N + j], @X[i * $N + j] + 0.1 * (s - 4.0 * @X[i * $N + j]));
    }
}""",
    ),
    "conv1d": Problem(
        ("n", "m"), (_X, Buffer("F", "$m"), Buffer("Y", "$n", "out")),
        _each("s").replace(
            "    EXPECT",
            "    int s = 0;\n    for (int j = 0; j < $m; j++) {\n        int p = i - $m / 2 + j;\n"
            "        if (p >= 0 && p < $n) s += @X[p] * @F[j];\n    }\n    EXPECT",
        ),
    ),
    "conv2d": Problem(
        ("M", "N", "R"), (Buffer("X", "$M * $N"), Buffer("F", "(2 * $R + 1) * (2 * $R + 1)"), Buffer("Y", "$M * $N", "out")),
        """for (int i = 0; i < $M; i++) {
    for (int j = 0; j < $N; j++) {
        double s = 0;
        for (int a = -$R; a <= $R; a++)
            for (int b = -$R; b <= $R; b++)
                if (i + a >= 0 && i + a < $M && j + b >= 0 && j + b < $N)
                    s += (double)@X[(i + a) * $N + j + b] * @F[(a + $R) * (2 * $R + 1) + b + $R];
        EXPECT(@Y[i * $N + j], s);
    }
}""",
    ),
    "scan_one_block": Problem(
        ("n",), (_X, Buffer("Y", "$n", "out")),
        "double s = 0;\nfor (int i = 0; i < $n; i++) {\n    s += @X[i];\n    EXPECT(@Y[i], s);\n}",
    ),
}  # fmt: skip
