"""The standard modules a benchmark's programs may import, each with the names they may use of it.

Pure computation only. Left out on purpose: what fetches attributes by name (operator.attrgetter,
string.Formatter), makes classes of any names (dataclasses.make_dataclass), evaluates annotations
(typing.get_type_hints), reads files (hashlib.file_digest) or hands out its own module.
"""

from __future__ import annotations


def names(text: str) -> tuple[str, ...]:
    """Split a list written as words."""
    return tuple(text.split())


MODULES: dict[str, tuple[str, ...]] = {
    "abc": names("ABC abstractmethod"),
    "bisect": names("bisect bisect_left bisect_right insort insort_left insort_right"),
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
    "copy": names("copy deepcopy"),
    "dataclasses": names("asdict astuple dataclass field fields is_dataclass replace"),
    "datetime": names("MAXYEAR MINYEAR UTC date datetime time timedelta timezone"),
    "decimal": names(
        """
        Context Decimal DivisionByZero InvalidOperation ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP getcontext localcontext
        """
    ),
    "enum": names("Enum Flag IntEnum IntFlag StrEnum auto unique"),
    "fractions": names("Fraction"),
    "functools": names(
        "cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps"
    ),
    "hashlib": names("blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512"),
    "heapq": names("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": names(
        """
        accumulate batched chain combinations combinations_with_replacement compress count cycle
        dropwhile filterfalse groupby islice pairwise permutations product repeat starmap takewhile
        tee zip_longest
        """
    ),
    "json": names("JSONDecodeError dumps loads"),
    "numbers": names("Complex Integral Number Rational Real"),
    "operator": names(
        """
        abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand imul index
        indexOf inv invert ior is_ is_not isub itemgetter ixor le lshift lt matmul mod mul ne neg
        not_ or_ pos pow rshift setitem sub truediv truth xor
        """
    ),
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
        ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
        punctuation whitespace
        """
    ),
    "sys": names("float_info maxsize"),
    "textwrap": names("dedent fill indent shorten wrap"),
    "typing": names(
        """
        Any Callable ClassVar Counter DefaultDict Deque Dict Final FrozenSet Generator Generic
        Hashable Iterable Iterator List Literal Mapping MutableMapping MutableSequence NamedTuple
        NoReturn Optional Sequence Set Text Tuple Type TypeVar Union cast
        """
    ),
}
BENCHMARK_MODULES = frozenset(
    [*MODULES, "math", "numpy", "numpy.fft", "numpy.linalg", "numpy.random"]
)
BENCHMARK_BUILTINS = frozenset(names("eval getattr hasattr id setattr"))
"""Builtins they may use besides; attributes by name, and what is evaluated, pass the check."""
