"""A static library of many COFF objects like those of a numeric library: for links that take it whole.

Each member has 16 KB: code that refers to constants, to functions of other members and, here and there, to some that nobody
defines (links need /force); unwind information, constants, a directive. Nothing is COMDAT. The library has the indices that
lib.exe writes.
"""

import random
import struct

TEXT, RDATA, PDATA, XDATA, DIRECTIVES = range(1, 6)
FLAGS = {TEXT: 0x60500020, RDATA: 0x40500040, PDATA: 0x40300040, XDATA: 0x40300040, DIRECTIVES: 0x100A00}
NAMES = {TEXT: b".text", RDATA: b".rdata", PDATA: b".pdata", XDATA: b".xdata", DIRECTIVES: b".drectve"}
AMD64, REL32, ADDR32NB, EXTERNAL, STATIC = 0x8664, 4, 3, 2, 3
FUNCTIONS = 4
CALLED = 8
# One reference in this many is to one of so many names that there are not.
MISSING_ONE_IN, MISSING_NAMES = 40, 300


def function(member, number):
    return f"mkl_{('blas', 'lapack', 'dft', 'vml')[number]}_avx512_xkernel_{member:06d}_opt{number}".encode()


def member(number, count):
    """An object, and the names it defines."""
    rng = random.Random(number)
    body = [rng.randrange(1500, 4000) & ~15 for _ in range(FUNCTIONS)]
    starts = [sum(body[:i]) for i in range(FUNCTIONS + 1)]
    text = bytearray(rng.randbytes(starts[-1]))
    symbols, strings, index = bytearray(), bytearray(4), {}

    def symbol(name, value, section, storage, aux=b""):
        field = name.ljust(8, b"\0")
        if len(name) > 8:
            field = struct.pack("<II", 0, len(strings))
            strings.extend(name + b"\0")
        index[name] = len(symbols) // 18
        symbols.extend(struct.pack("<8sIhHBB", field, value, section, 0x20 if storage == EXTERNAL else 0, storage, len(aux) // 18) + aux)

    constants = rng.randbytes(1024)
    contents = {TEXT: text, RDATA: constants, PDATA: bytes(12 * FUNCTIONS), XDATA: b"\1\0\0\0\0\0\0\0" * FUNCTIONS,
                DIRECTIVES: b" /failifmismatch:\"interface=ilp64\" "}
    symbol(b"@feat.00", 0x11, -1, STATIC)
    for section, data in contents.items():
        symbol(NAMES[section], 0, section, STATIC, struct.pack("<IHHIHB3x", len(data), 0, 0, 0, 0, 0))
    own = [function(number, i) for i in range(FUNCTIONS)]
    for name, start in zip(own, starts):
        symbol(name, start, TEXT, EXTERNAL)
    called = []
    for _ in range(CALLED):
        name = function(rng.randrange(count), rng.randrange(FUNCTIONS))
        if rng.randrange(MISSING_ONE_IN) == 0:
            name = f"mkl_serv_there_is_no_function_{rng.randrange(MISSING_NAMES):03d}".encode()
        if name not in index:
            symbol(name, 0, 0, EXTERNAL)
            called.append(name)
    places = range(8, len(text) - 8, len(text) // 64)
    targets = [own[0], NAMES[RDATA], NAMES[RDATA], *called]
    relocations = {TEXT: [(at, index[rng.choice(targets)], REL32) for at in places], PDATA: []}
    for i, name in enumerate(own):
        struct.pack_into("<III", pdata := bytearray(12), 0, 0, body[i], 8 * i)
        contents[PDATA] = contents[PDATA][:12 * i] + bytes(pdata) + contents[PDATA][12 * i + 12:]
        relocations[PDATA] += [(12 * i, index[name], ADDR32NB), (12 * i + 4, index[name], ADDR32NB),
                               (12 * i + 8, index[NAMES[XDATA]], ADDR32NB)]
    for at in places:
        text[at:at + 4] = bytes(4)
    strings[:4] = struct.pack("<I", len(strings))
    return pack(contents, relocations, symbols, strings), own


def pack(contents, relocations, symbols, strings):
    headers, data, start = b"", b"", 20 + 40 * len(contents)
    for section, content in contents.items():
        at = start + len(data)
        data += content
        fixups = relocations.get(section, [])
        where = start + len(data) if fixups else 0
        data += b"".join(struct.pack("<IIH", *fixup) for fixup in fixups)
        headers += struct.pack("<8sIIIIIIHHI", NAMES[section], 0, 0, len(content), at, where, 0, len(fixups), 0, FLAGS[section])
    header = struct.pack("<HHIIIHH", AMD64, len(contents), 0, start + len(data), len(symbols) // 18, 0, 0)
    return header + headers + data + symbols + strings


def header(name, size):
    return b"%-16s%-12d%-6s%-6s%-8s%-10d`\n" % (name, 0, b"", b"", b"100644", size)


def write(path, count):
    """Writes a library of `count` members."""
    sizes, names = [], []
    parts = path.with_suffix(".members")
    with open(parts, "wb") as out:
        for number in range(count):
            data, own = member(number, count)
            data += b"\0" * (len(data) % 2)
            out.write(header(b"part%06d.obj/" % number, len(data)) + data)
            sizes.append(60 + len(data))
            names += [(name, number) for name in own]
    texts = b"".join(name + b"\0" for name, _ in names)
    texts += b"\0" * (len(texts) % 2)
    ordered = sorted(names)
    sorted_texts = b"".join(name + b"\0" for name, _ in ordered)
    sorted_texts += b"\0" * (len(sorted_texts) % 2)
    first, second = 4 + 4 * len(names) + len(texts), 8 + 4 * count + 2 * len(names) + len(sorted_texts)
    second += second % 2
    offset, offsets = 8 + 120 + first + second, []
    for size in sizes:
        offsets.append(offset)
        offset += size
    with open(path, "wb") as out:
        out.write(b"!<arch>\n" + header(b"/", first) + struct.pack(f">I{len(names)}I", len(names), *(offsets[n] for _, n in names)) + texts)
        index = struct.pack(f"<I{count}II{len(names)}H", count, *offsets, len(names), *(n + 1 for _, n in ordered)) + sorted_texts
        out.write(header(b"/", second) + index.ljust(second, b"\0"))
        out.write(parts.read_bytes())
    parts.unlink()
