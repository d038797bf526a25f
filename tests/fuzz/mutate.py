"""Mutations of bytes: the same for the same seed, on every machine."""

from random import Random

# What formats give a meaning to: brackets, quotes, ends of lines, numbers, encodings, compression.
_TOKENS = (
    b"(", b")", b"\\", b"\n", b"\r\n", b"\t", b" ", b"\x00", b'"', b"'", b"{", b"}", b"[", b"]",
    b"<", b">", b"</", b"&", b"&#x110000;", b"<!--", b"<![CDATA[", b"|BT|", b"|ET|", b"|EV|", b":",
    b",", b";", b"#", b"0", b"-1", b"1e999", b"NaN", b"18446744073709551616", b"\xff\xfe", b"\xc3",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd", b"\\u0000", b"\\ud800", b"(a" * 50, b"[" * 200, b"A" * 300,
)  # fmt: skip


def mutated(rng: Random, data: bytes, others: tuple[bytes, ...], most: int = 1 << 15) -> bytes:
    """Return some bytes with up to six random changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        place = rng.randint(0, len(changed))
        end = min(len(changed), place + rng.choice((1, 1, 2, 4, 16, 64)))
        kind = rng.randrange(7)
        if kind == 0 and changed:
            changed[min(place, len(changed) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[place:end] = rng.randbytes(end - place)
        elif kind == 2:
            del changed[place:end]
        elif kind == 3:
            changed[place:place] = changed[place:end] * rng.choice((1, 2, 30))
        elif kind == 4:
            changed[place:place] = rng.choice(_TOKENS)
        elif kind == 5:
            other = rng.choice(others)
            begin = rng.randint(0, len(other))
            changed[place:end] = other[begin : begin + rng.randint(0, 64)]
        else:
            del changed[place:]
    return bytes(changed[:most])
