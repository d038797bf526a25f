"""Files that are not text, or no trees, by their first bytes."""

from typing import NamedTuple

from filbert.read.files import Input


class Binary(NamedTuple):
    """What a binary file is, what to do about it, and its format if it can be read."""

    name: str = ""
    hint: str = ""
    format: str | None = None
    is_text: bool = False
    line: int = 1  # of the first byte that shows it
    column: int = 1


_OWN = "if it is a model of Filbert, use filbert.load; otherwise unpack it first"
_COMPRESSED = "pass the path of the file, or decompress the stream"
_STARTS = {
    b"\x1f\x8b": Binary("data that gzip has compressed", _COMPRESSED),  # paths are decompressed
    b"\xfd7zXZ\x00": Binary("data that xz has compressed", _COMPRESSED),
    b"BZh91AY&SY": Binary("data that bzip2 has compressed", _COMPRESSED),
    b"\x28\xb5\x2f\xfd": Binary("data that zstd has compressed", _COMPRESSED),
    b"PAR1": Binary("a Parquet table", "pass format='parquet'", "parquet"),
    b"ARROW1": Binary("an Arrow table", "pass format='arrow'", "arrow"),
    b"FEA1": Binary("an old Feather table", "write it again as Feather version 2"),
    b"PK\x03\x04": Binary("a zip archive", f"{_OWN}; export a spreadsheet as CSV"),
    b"%PDF": Binary("a PDF document", "pass a file of trees"),
    b"SQLite format 3": Binary("an SQLite database", "export its table as CSV"),
    b"\x89PNG": Binary("an image", "pass a file of trees"),
    b"\x89HDF": Binary("an HDF5 file", "export its table as Parquet or CSV"),
    b"\x93NUMPY": Binary("a NumPy array", "pass a file of trees"),
    b"7z\xbc\xaf": Binary("a 7z archive", "unpack it first"),
    b"\xff\xfe\0\0": Binary("text in UTF-32", "convert it to UTF-8"),
    b"\0\0\xfe\xff": Binary("text in UTF-32", "convert it to UTF-8"),
    b"\xff\xfe": Binary("text in UTF-16", "convert it to UTF-8"),
    b"\xfe\xff": Binary("text in UTF-16", "convert it to UTF-8"),
    b"version https://": Binary(
        "a pointer of Git LFS in the place of the file",
        "fetch the file, such as by git lfs pull",
        is_text=True,
    ),
    b"\xff\xff\xff\xff": Binary("an Arrow stream", "write it as an Arrow file (Feather)"),
    **{
        bytes([0x80, protocol]): Binary(
            "a pickle, which Filbert does not open for safety", "load it yourself and pass the data"
        )
        for protocol in range(2, 6)
    },
}


def binary_of(start: bytes) -> Binary:
    """Return what a file is that begins with certain bytes, and an empty Binary for text."""
    for magic, binary in _STARTS.items():
        if start.startswith(magic):
            return binary
    if b"ustar" in start[:512]:
        return Binary("a tar archive", "unpack it first")
    return Binary()


def named_binary(source: Input) -> Binary:
    """Return what a source is if it is not text, and an empty Binary for text."""
    start = source.start
    found = binary_of(start)
    if not found.name:
        found = binary_of(source.first_line[:512])
    if found.name:
        return found
    before, zeros, _ = start.partition(b"\0\0")
    if not zeros:
        return Binary()
    lines = before.decode(errors="replace").split("\n")
    return Binary(
        "a binary file", "pass a file of text", line=len(lines), column=len(lines[-1]) + 1
    )
