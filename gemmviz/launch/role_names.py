"""Names that programmers give to arrays and sizes, by the role that they usually have: hints about what to try first."""

import re

_WHERE = "d|dev|device|g|gpu|cuda|global|p|ptr|mat|matrix|m|arr|array|vec"  # where an array lies, or that it is one
_AFFIXES = re.compile(rf"^({_WHERE})_+|_+({_WHERE})$")
_RESULTS = (
    "c mc matc matrixc cd dc devc p pd z r res result out output o odata prod product dst answer ans mat3 matrix3 c1 y d ab sum"
)
_SOURCES = "in input inp i idata a x src data one first in1 input1"

ARRAY_NAMES = {
    "A": "a ma mata matrixa ad da deva m md x lhs left first one in1 input1 input inp src1 mat1 matrix1 a1 q mat matrix",
    "B": "b mb matb matrixb bd db devb n nd y w rhs right second two in2 input2 weight weights src2 mat2 matrix2 b1 k",
    "C": _RESULTS,
    "in": _SOURCES,
    "out": _RESULTS,
    "bias": "bias b bi v",
    "filter": "filter mask kernel f w weights weight m k b in2",
    "x": "x v vec vector b in2 input2 xd",
    "y": _RESULTS,
}
_ROWS = "m rows row height h numrows numcrows numarows rowsa arows rowa ra ha heighta hc rowsc crows mm dimm am cm ny heightc"
_COLUMNS = (
    "n cols col columns width w numbcolumns numccolumns numbcols colsb bcols colb cb wb widthb wc "
    "colsc nn dimn bn cn nx widthc outfeatures"
)
SIZE_NAMES = {
    "M": _ROWS,
    "N": _COLUMNS,
    "K": "k inner common depth numacolumns numbrows numacols colsa acols cola ca wa widtha "
    "rowsb brows rowb hb kk dimk ak bk heightb infeatures",
    "rows": _ROWS,
    "columns": _COLUMNS,
    "n": "n size width length len count num numelements elements total",
    "radius": "radius r halo maskradius filterradius",
    "batch": "batch batchsize batchcount numbatches batches nbatch bs",
    "bins": "bins numbins nbins buckets",
}
LEADING = {"lda": ("K", "M"), "ldb": ("N", "K"), "ldc": ("N", "M")}  # stored by rows, by columns

KIND_WORDS = {
    "transpose": "transpos",
    "matrix_vector": "gemv mv matvec matrixvector mat_vec",
    "vector_add": "add sum",
    "reduction": "reduc sum",
    "scan": "scan prefix",
    "exclusive_scan": "scan prefix",
    "histogram": "hist",
    "stencil": "stencil",
    "convolution": "conv",
    "convolution_1d": "conv",
    "softmax": "softmax",
    "matrix_add": "add sum",
    "dot_product": "dot inner",
    "axpy": "axpy add",
    "scale": "scal copy",
    "scale_in_place": "scal",
    "relu": "relu",
    "transpose_in_place": "transpos",
    "multiply": "mul gemm matmul mm",
    "linear": "linear bias dense layer fc forward",
    "row_sums": "row",
    "column_sums": "col",
    "maximum": "max",
    "minimum": "min",
}


def bare_name(name: str) -> str:
    """A name without what only says where an array lies: "d_A" and "A_dev" give "a"."""
    bare, before = name.lower(), ""
    while bare != before:
        before, bare = bare, _AFFIXES.sub("", bare)
    return bare.replace("_", "")
