"""A zip file of a JSON header and NumPy arrays.

Members are stored, not compressed. A small file can therefore not unpack to a large one, and
reading takes no more memory than the file has bytes. Arrays hold only plain numbers and characters,
so nothing in a file is ever executed. Arrays begin at multiples of 64 bytes, so that they can be
mapped into memory.
"""

import json
import mmap
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError, ModelFileError

_HEADER = "header.json"
_LONGEST_HEADER = 1 << 24
_MOST_ARRAYS = 1000
_NPY_PREFIX = 1 << 12  # bytes; the prefix of a plain array is always shorter
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that the same model gives the same bytes
_LARGE = 1 << 30  # larger members need zip64
_ALIGNMENT = 64  # bytes
_ALIGNMENT_FIELD = 0xD935  # the number of zip's extra field for padding
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")  # of a member, before its name and extra fields
_ZIP64_FIELD = 20  # bytes
_PIECE = 1 << 20  # bytes to read at a time
SMALLEST_MAPPED = 1 << 16  # bytes; smaller arrays are read

# The errors that zipfile raises for the various kinds of damage.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    EOFError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)

Arrays = dict[str, NDArray[Any]]

# The functions that encode and decode the parts of an object, such as the steps of a pipeline.
EncodePart = Callable[[Any], tuple[dict[str, Any], Arrays]]
DecodePart = Callable[[Any, Arrays], Any]


def write_archive(
    stream: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays; the header also gets the type and shape of each array."""
    if len(arrays) > _MOST_ARRAYS:
        raise InvalidParameterError(
            f"a file holds up to {_MOST_ARRAYS:,} arrays, not {len(arrays):,}: save it in parts"
        )
    little = {name: _little_endian(array) for name, array in arrays.items()}
    listed = {name: {"dtype": a.dtype.str, "shape": list(a.shape)} for name, a in little.items()}
    text = json.dumps({**header, "arrays": listed}, indent=1, sort_keys=True, allow_nan=False)
    if len(text) > _LONGEST_HEADER:
        raise InvalidParameterError(
            f"the parameters take {len(text):,} bytes, more than the {_LONGEST_HEADER:,} that a "
            "file holds: use shorter lists and tables as parameters"
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(_HEADER), text.encode())
        for name, array in sorted(little.items()):
            info, is_large = _member(_file_name(name)), array.nbytes > _LARGE
            info.extra = _padding(archive, info, is_large)
            with archive.open(info, "w", force_zip64=is_large) as member:
                npy.write_array(member, array, version=(1, 0), allow_pickle=False)


@contextmanager
def open_archive(stream: IO[bytes], *, mapped: bool = False) -> Iterator["ArchiveReader"]:
    """Yield a reader of a file that :func:`write_archive` wrote; damage raises ModelFileError.

    If `mapped`, arrays stay in the file, are read-only, and their checksums are not checked.
    """
    with _damage_told(), zipfile.ZipFile(stream) as archive:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if mapped else None
        yield ArchiveReader(archive, content)


class ArchiveReader:
    """The header and the arrays that it lists. Other members of the archive are ignored."""

    def __init__(self, archive: zipfile.ZipFile, mapped: mmap.mmap | None = None) -> None:
        self._archive = archive
        self._mapped = mapped
        self._size = _size(archive)
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        for info in archive.infolist():
            self._members.setdefault(info.filename, []).append(info)
        self.header = self._read_header()

    def declared(self) -> dict[str, Any]:
        """Return the entries of the header that describe arrays, by the names of the arrays."""
        listed = self.header.get("arrays")
        if not isinstance(listed, dict):
            raise ModelFileError("the header does not list the arrays")
        if len(listed) > _MOST_ARRAYS:
            raise ModelFileError(f"the header lists {len(listed):,} arrays, which is too many")
        return listed

    def arrays(self) -> Arrays:
        """Read or map the arrays that the header lists."""
        listed = self.declared()
        infos = {name: self._array_info(name) for name in listed}
        # In a crafted file, members may overlap: each one fits into the file, but all do not.
        if sum(info.file_size for info in infos.values()) > self._size:
            raise ModelFileError("the arrays together claim to be longer than the file")
        return {name: self._array(name, listed[name], info) for name, info in infos.items()}

    def array(self, name: str) -> NDArray[Any]:
        """Read one of the arrays that the header lists."""
        return self._array(name, self.declared()[name], self._array_info(name))

    def _read_header(self) -> dict[str, Any]:
        info = self._info(
            _HEADER, "this zip file is not a Filbert model: its header.json is missing"
        )
        if info.file_size > _LONGEST_HEADER:
            raise ModelFileError(f"the header is {info.file_size:,} bytes long, which is too large")
        try:
            header = json.loads(self._archive.read(info), parse_constant=_refuse_constant)
        except (UnicodeDecodeError, RecursionError, ValueError) as error:
            raise ModelFileError(f"the header is not JSON: {error}") from None
        if not isinstance(header, dict):
            raise ModelFileError("the header is not a JSON object")
        return header

    def _array(self, name: str, entry: Any, info: zipfile.ZipInfo) -> NDArray[Any]:
        dtype, shape = declared_type(name, entry)
        n_bytes = dtype.itemsize * int(np.prod(shape, dtype=object))
        if not n_bytes < info.file_size <= n_bytes + _NPY_PREFIX:
            raise ModelFileError(f"the array {name!r} is not as long as the header says")
        by_columns, n_prefix = self._prefix(name, info, dtype, shape)
        if n_prefix + n_bytes != info.file_size:
            raise ModelFileError(f"the array {name!r} does not have as many bytes as it needs")
        if self._mapped is not None and n_bytes >= max(SMALLEST_MAPPED, 1):
            place = self._data_of(info) + n_prefix
            array = _array_at(self._mapped, place, dtype, shape, "F" if by_columns else "C")
        else:
            with self._archive.open(info) as member:
                member.read(n_prefix)
                content = _read_all(member, n_bytes)
                member.read(1)  # zipfile checks the CRC at the end of a member
            array = np.ndarray(shape, dtype, content, order="F" if by_columns else "C")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def _prefix(
        self, name: str, info: zipfile.ZipInfo, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[bool, int]:
        """Return whether an array is stored column by column, and the length of its prefix.

        The prefix is nearly always the one that NumPy writes for this type and shape, and reading
        others takes time.
        """
        usual = _usual_prefix(dtype, shape)
        if self._mapped is not None:
            place = self._data_of(info)
            if self._mapped[place : place + len(usual)] == usual:
                return False, len(usual)
        # Opened twice, because zipfile stops checking the CRC after a seek in a member.
        with self._archive.open(info) as member:
            if member.read(len(usual)) == usual:
                return False, len(usual)
        with self._archive.open(info) as member, catch_warnings():
            simplefilter("ignore")  # NumPy warns about prefixes that Python 2 wrote
            by_columns = _check_prefix(name, member, dtype, shape)
            return by_columns, member.tell()

    def _data_of(self, info: zipfile.ZipInfo) -> int:
        """Return the place in the file at which a member's content begins."""
        assert self._mapped is not None
        fields = _LOCAL_HEADER.unpack_from(self._mapped, info.header_offset)
        place = info.header_offset + _LOCAL_HEADER.size + int(fields[-2]) + int(fields[-1])
        if place + info.file_size > self._size:
            raise ModelFileError(f"{info.filename} claims to be longer than the file")
        return place

    def _array_info(self, name: str) -> zipfile.ZipInfo:
        return self._info(_file_name(name), f"the array {name!r} is missing")

    def _info(self, name: str, missing: str) -> zipfile.ZipInfo:
        found = self._members.get(name, [])
        if len(found) != 1:
            raise ModelFileError(missing if not found else f"{name} occurs {len(found)} times")
        [info] = found
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise ModelFileError(f"{name} is compressed or encrypted, which Filbert never does")
        if not 0 <= info.file_size == info.compress_size <= self._size:
            raise ModelFileError(f"{name} claims to be longer than the file")
        return info


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except ModelFileError:
        raise
    except _ZIP_ERRORS as error:
        raise ModelFileError(f"the file is damaged or not a model: {error}") from None


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system = 3  # Unix, on every platform: see _EPOCH
    info.external_attr = 0o644 << 16
    return info


def _padding(archive: zipfile.ZipFile, info: zipfile.ZipInfo, is_large: bool) -> bytes:
    """Return an extra field after which the content of the next member is aligned."""
    assert archive.fp is not None
    name = len(info.filename.encode()) + (_ZIP64_FIELD if is_large else 0)
    begin = archive.fp.tell() + _LOCAL_HEADER.size + name + 6  # of this field without padding
    n = -begin % _ALIGNMENT
    return struct.pack("<HHH", _ALIGNMENT_FIELD, 2 + n, _ALIGNMENT) + bytes(n)


def _read_all(member: IO[bytes], n_bytes: int) -> bytearray:
    """Read bytes, in pieces, so that none of them are in memory twice."""
    content = bytearray(n_bytes)
    done = 0
    while done < n_bytes:
        piece = member.read(min(n_bytes - done, _PIECE))
        if not piece:
            raise EOFError("an array ends early")
        content[done : done + len(piece)] = piece
        done += len(piece)
    return content


def _array_at(
    content: mmap.mmap, place: int, dtype: np.dtype[Any], shape: tuple[int, ...], order: Any
) -> NDArray[Any]:
    """Return a view of a mapped file, or a copy if the array is not aligned."""
    array = np.frombuffer(content, dtype, int(np.prod(shape, dtype=object)), place)
    return (array if array.flags.aligned else array.copy()).reshape(shape, order=order)


def _file_name(array: str) -> str:
    return f"{array}.npy"


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _size(archive: zipfile.ZipFile) -> int:
    stream = archive.fp
    assert stream is not None
    return stream.seek(0, 2)


def declared_type(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the type and shape that the header declares for an array."""
    text = entry.get("dtype") if isinstance(entry, dict) else None
    shape = entry.get("shape") if isinstance(entry, dict) else None
    sizes_right = isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**48 for n in shape)
    if not isinstance(text, str) or not isinstance(shape, list) or not sizes_right:
        raise ModelFileError(f"the header has no type and shape for the array {name!r}")
    # A table of the plain types. NumPy's parser accepts many more, including objects.
    kind, width = text[:2], text[2:]
    widths = {"<i": "1248", "<u": "1248", "|i": "1", "|u": "1", "<f": "248", "|b": "1"}
    is_plain = kind in widths and len(width) == 1 and width in widths[kind]
    is_text = kind == "<U" and width.isascii() and width.isdecimal() and len(width) < 9
    if not (is_plain or is_text) or len(shape) not in (1, 2):
        raise ModelFileError(f"the array {name!r} has the type {text[:20]!r}, which is not allowed")
    return np.dtype(text), tuple(shape)


def _usual_prefix(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the prefix that NumPy writes for an array that is stored row by row."""
    stream = BytesIO()
    npy.write_array_header_1_0(stream, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def _check_prefix(
    name: str, member: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> bool:
    """Compare an array's own prefix with the header before memory is allocated for it.

    Return whether the array is stored column by column.
    """
    try:
        version = npy.read_magic(member)
        found = npy.read_array_header_1_0(member) if version == (1, 0) else None
    except Exception as error:  # NumPy evaluates a literal, and a crafted one can raise anything
        raise ModelFileError(f"the array {name!r} is not a NumPy array: {error}") from None
    if found is None or found[0] != shape or found[2] != dtype:
        raise ModelFileError(f"the array {name!r} does not have the type and shape in the header")
    return found[1]


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")
