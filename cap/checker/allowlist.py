"""What programs may name: builtins, the library that is there without a hint, listed modules.

Only names are listed here; the worker imports what stands behind them. Every module is shown
through an allow-list: nothing that reads, writes, loads, maps memory, evaluates text or leads to
another module. The standard modules are those that programs may import, each with the names they
may use of it. Pure computation only; left out on purpose is what fetches attributes by name
(string.Formatter), makes classes of any names (dataclasses.make_dataclass), evaluates annotations
(typing.get_type_hints), reads files (hashlib.file_digest), writes into the memory of others
(struct.pack_into) or hands out its own module. Some names have a stand-in in the worker.
"""

from __future__ import annotations

import math
from functools import cache

from cap.errors import ROBOT_ERRORS


def names(text: str) -> tuple[str, ...]:
    """Split a list written as words."""
    return tuple(text.split())


SHAPELY_GEOMETRY = names(
    """
    GeometryCollection LinearRing LineString MultiLineString MultiPoint MultiPolygon Point
    Polygon box
    """
)
SHAPELY_AFFINITY = names("affine_transform rotate scale skew translate")
SHAPELY_OPS = names("nearest_points unary_union")
TYPING = names("Any Callable Dict Iterable List Optional Sequence Set Tuple Union")
STANDARD = ("math",)
NUMPY = ("np", "numpy")

LIBRARY_NAMES: frozenset[str] = frozenset(
    [*NUMPY, *STANDARD, *SHAPELY_GEOMETRY, *SHAPELY_AFFINITY, *SHAPELY_OPS, "affinity", *TYPING]
)

HOMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SHAPELY_GEOMETRY, ("shapely.geometry", "shapely")),
    **dict.fromkeys(SHAPELY_AFFINITY, ("shapely.affinity",)),
    **dict.fromkeys(SHAPELY_OPS, ("shapely.ops", "shapely")),
    **dict.fromkeys(TYPING, ("typing", "collections.abc")),
    "affinity": ("shapely",),
}
"""Where the library's names come from: an import from there binds the very same."""
SAFE_BUILTINS = names(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod
    enumerate filter float format frozenset getattr hasattr hash hex id int isinstance issubclass
    iter len list map max min next object oct ord pow print property range repr reversed round set
    setattr slice
    sorted staticmethod str sum super tuple type zip ArithmeticError AssertionError
    AttributeError BaseException BufferError EOFError Exception FileNotFoundError
    FloatingPointError GeneratorExit ImportError IndexError KeyError KeyboardInterrupt
    LookupError MemoryError NameError NotImplemented NotImplementedError OSError OverflowError
    PermissionError RecursionError RuntimeError StopIteration SystemExit TimeoutError TypeError
    UnboundLocalError UnicodeError UserWarning ValueError Warning ZeroDivisionError Ellipsis
    UnicodeDecodeError UnicodeEncodeError SyntaxError IOError ModuleNotFoundError FileExistsError
    RuntimeWarning DeprecationWarning StopAsyncIteration BlockingIOError BrokenPipeError
    BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
    ConnectionResetError EncodingWarning EnvironmentError FutureWarning ImportWarning
    IndentationError InterruptedError IsADirectoryError NotADirectoryError
    PendingDeprecationWarning ProcessLookupError ReferenceError ResourceWarning SyntaxWarning
    SystemError TabError UnicodeTranslateError UnicodeWarning BaseExceptionGroup ExceptionGroup
    True False None vars
    """
)
BUILTIN_NAMES = frozenset([*SAFE_BUILTINS, *ROBOT_ERRORS, "LMPFailed", "print", "__name__"])
EVERYWHERE = LIBRARY_NAMES | BUILTIN_NAMES
"""Every name a program may read without a hint."""

FORBIDDEN_BUILTINS = frozenset(
    names(
        """
        aiter anext breakpoint compile copyright credits delattr dir eval exec exit globals help
        input license locals memoryview open quit
        """
    )
)

_NUMPY = frozenset(
    names(
        """
        False_ True_ abs absolute acos acosh add all allclose amax amin angle any append
        apply_along_axis arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
        argpartition argsort argwhere around array array2string array_equal array_equiv array_repr
        array_split array_str asanyarray asarray ascontiguousarray asin asinh astype atan atan2
        atanh atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr bincount
        bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast_arrays broadcast_shapes
        broadcast_to busday_count busday_offset byte bytes_ c_ can_cast cbrt cdouble ceil choose
        clip clongdouble column_stack common_type complex128 complex256 complex64 complexfloating
        compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef correlate
        cos cosh count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum
        datetime64 datetime_as_string deg2rad degrees delete diag diag_indices diag_indices_from
        diagflat diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d
        einsum empty empty_like equal euler_gamma exp exp2 expand_dims expm1 extract eye fabs
        fill_diagonal finfo fix flatiter flatnonzero flip fliplr flipud float128 float16 float32
        float64 float_ float_power floating floor floor_divide fmax fmin fmod
        format_float_positional format_float_scientific frexp fromiter full full_like gcd generic
        geomspace gradient greater greater_equal half hamming hanning heaviside histogram
        histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo imag in1d
        index_exp indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp
        intersect1d intp invert is_busday isclose iscomplex iscomplexobj isdtype isfinite isfortran
        isin isinf isnan isnat isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_
        kaiser kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2
        logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace long longdouble
        longlong mask_indices matmul matrix_transpose matvec max maximum mean median meshgrid mgrid
        min min_scalar_type minimum mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin
        nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
        nanstd nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis nextafter nonzero
        not_equal number object_ ogrid ones ones_like outer packbits pad partition percentile
        permute_dims pi piecewise place poly poly1d polyadd polyder polydiv polyfit polyint polymul
        polysub polyval positive pow power prod promote_types ptp put put_along_axis putmask
        quantile r_ rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder
        repeat reshape resize result_type right_shift rint roll rollaxis roots rot90 round round_
        row_stack s_ searchsorted select setdiff1d setxor1d shape short sign signbit signedinteger
        sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std str_
        subtract sum swapaxes take take_along_axis tan tanh tensordot tile timedelta64 trace
        transpose trapezoid trapz tri tril tril_indices tril_indices_from trim_zeros triu
        triu_indices triu_indices_from true_divide trunc ubyte uint uint16 uint32 uint64 uint8 uintc
        uintp ulong ulonglong union1d unique unique_all unique_counts unique_inverse unique_values
        unpackbits unravel_index unsignedinteger unstack unwrap ushort vander var vdot vecdot vecmat
        vectorize vsplit vstack where zeros zeros_like
        c_ fft linalg r_ random
        errstate get_printoptions printoptions set_printoptions
        """
    )
)
"""Left out on purpose: files (load, save, fromfile, memmap), text that is evaluated (matrix, bmat,
fromregex), raw memory (frombuffer, nditer, lib), settings but for how arrays are printed and what a
division by zero does, and every other module."""
_LINALG = names(
    """
    LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul
    matrix_norm matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet
    solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm
    """
)
_FFT = names(
    """
    fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn
    rfft rfft2 rfftfreq rfftn
    """
)
_RANDOM = names(
    """
    choice default_rng exponential normal permutation rand randint randn random
    random_sample seed shuffle standard_normal uniform
    """
)
_SUBMODULES = {"linalg": frozenset(_LINALG), "fft": frozenset(_FFT), "random": frozenset(_RANDOM)}


MODULES: dict[str, tuple[str, ...]] = {
    "abc": names("ABC ABCMeta abstractmethod"),
    "base64": names(
        """
        a85decode a85encode b16decode b16encode b32decode b32encode b64decode b64encode b85decode
        b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode
        urlsafe_b64encode
        """
    ),
    "bisect": names("bisect bisect_left bisect_right insort insort_left insort_right"),
    "calendar": names(
        """
        FRIDAY MONDAY SATURDAY SUNDAY THURSDAY TUESDAY WEDNESDAY day_abbr day_name isleap leapdays
        month_abbr month_name monthcalendar monthrange weekday
        """
    ),
    "cmath": names(
        """
        acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log
        log10 nan nanj phase pi polar rect sin sinh sqrt tan tanh tau
        """
    ),
    "collections": names("ChainMap Counter OrderedDict abc defaultdict deque namedtuple"),
    "collections.abc": names(
        """
        Callable Collection Container Generator Hashable ItemsView Iterable Iterator KeysView
        Mapping MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView
        """
    ),
    "colorsys": names("hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb"),
    "contextlib": names(
        """
        AbstractContextManager ContextDecorator ExitStack closing contextmanager nullcontext
        redirect_stdout suppress
        """
    ),
    "copy": names("copy deepcopy"),
    "csv": names(
        """
        DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC reader
        writer
        """
    ),
    "dataclasses": names(
        """
        FrozenInstanceError InitVar KW_ONLY asdict astuple dataclass field fields is_dataclass
        replace
        """
    ),
    "datetime": names("MAXYEAR MINYEAR UTC date datetime time timedelta timezone"),
    "decimal": names(
        """
        Context Decimal DivisionByZero InvalidOperation ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP getcontext localcontext
        """
    ),
    "difflib": names("SequenceMatcher get_close_matches ndiff unified_diff"),
    "enum": names("Enum Flag IntEnum IntFlag StrEnum auto unique"),
    "fractions": names("Fraction"),
    "functools": names(
        """
        cache cached_property cmp_to_key lru_cache partial partialmethod reduce singledispatch
        singledispatchmethod total_ordering update_wrapper wraps
        """
    ),
    "graphlib": names("CycleError TopologicalSorter"),
    "hashlib": names("blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512"),
    "heapq": names("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "io": names("BytesIO StringIO"),
    "itertools": names(
        """
        accumulate batched chain combinations combinations_with_replacement compress count cycle
        dropwhile filterfalse groupby islice pairwise permutations product repeat starmap takewhile
        tee zip_longest
        """
    ),
    "json": names("JSONDecodeError JSONEncoder dumps loads"),
    "logging": names(
        """
        CRITICAL DEBUG ERROR INFO NOTSET WARNING basicConfig critical debug disable error exception
        getLevelName getLogger info log root warn warning
        """
    ),
    "numbers": names("Complex Integral Number Rational Real"),
    "operator": names(
        """
        abs add and_ attrgetter concat contains countOf delitem eq floordiv ge getitem gt iadd
        iand imul index indexOf inv invert ior is_ is_not isub itemgetter ixor le lshift lt matmul
        methodcaller mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
        """
    ),
    "pprint": names("pformat pprint"),
    "random": names(
        """
        Random betavariate choice choices expovariate gammavariate gauss getrandbits lognormvariate
        normalvariate paretovariate randbytes randint random randrange sample seed shuffle
        triangular uniform vonmisesvariate weibullvariate
        """
    ),
    "re": names(
        """
        A ASCII DOTALL I IGNORECASE M MULTILINE Match Pattern S U UNICODE VERBOSE X compile error
        escape findall finditer fullmatch match search split sub subn
        """
    ),
    "statistics": names(
        """
        NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev
        pvariance quantiles stdev variance
        """
    ),
    "string": names(
        """
        Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits
        printable punctuation whitespace
        """
    ),
    "struct": names("calcsize error iter_unpack pack unpack unpack_from"),
    "sys": names(
        """
        byteorder exit float_info getrecursionlimit maxsize maxunicode setrecursionlimit
        stderr stdout version_info
        """
    ),
    "textwrap": names("dedent fill indent shorten wrap"),
    "time": names(
        """
        asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns
        process_time process_time_ns strftime strptime struct_time time time_ns
        """
    ),
    "types": names(
        """
        BuiltinFunctionType FunctionType GeneratorType LambdaType MappingProxyType MethodType
        ModuleType NoneType SimpleNamespace
        """
    ),
    "typing": names(
        """
        AbstractSet Annotated Any AnyStr Callable ClassVar Collection Container Counter DefaultDict
        Deque Dict Final FrozenSet Generator Generic Hashable Iterable Iterator List Literal Mapping
        MutableMapping MutableSequence MutableSet NamedTuple NoReturn Optional Protocol Reversible
        Self Sequence Set Sized TYPE_CHECKING Text Tuple Type TypeAlias TypeVar TypedDict Union cast
        final overload
        """
    ),
    "unicodedata": names(
        """
        bidirectional category combining decimal decomposition digit east_asian_width is_normalized
        lookup mirrored name normalize numeric unidata_version
        """
    ),
    "zlib": names("adler32 compress crc32 decompress error"),
    "shapely": names("affinity box geometry ops")
    + tuple(name for name in (*SHAPELY_GEOMETRY, "unary_union") if name != "box"),
    "shapely.affinity": SHAPELY_AFFINITY,
    "shapely.geometry": SHAPELY_GEOMETRY,
    "shapely.ops": SHAPELY_OPS,
}
BENCHMARK_MODULES = frozenset(
    [*MODULES, "math", "numpy", "numpy.fft", "numpy.linalg", "numpy.random"]
)
ROBOT_MODULES = BENCHMARK_MODULES - {"time", "datetime", "calendar"}
"""What robots' programs may import: all but the machine's clock, which is not the robot's time."""
BENCHMARK_BUILTINS = frozenset(["eval"])
"""Builtins that programs of benchmarks may use besides; what is evaluated passes the check."""


@cache
def numpy_names(submodule: str = "") -> frozenset[str]:
    """Return the attributes programs may use of `np`, or of one of its submodules.

    Both lists are cut down to what the installed numpy has.
    """
    import numpy as np

    if submodule:
        return _SUBMODULES[submodule] & set(dir(getattr(np, submodule)))
    return _NUMPY & set(dir(np))


@cache
def module_names(module: str) -> frozenset[str] | None:
    """Return what programs may use of a module, by its full name; None if it is not listed."""
    top, _, rest = module.partition(".")
    if top == "numpy" and (not rest or rest in _SUBMODULES):
        return numpy_names(rest)
    listed = {
        "math": [name for name in dir(math) if not name.startswith("_")],
        "affinity": SHAPELY_AFFINITY,
        **MODULES,
    }
    return frozenset(listed[module]) if module in listed else None
