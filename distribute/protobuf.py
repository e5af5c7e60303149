"""Messages of Protocol Buffers, as far as remote execution needs them: written and read by tables.

A message is a dictionary. A table has `number: (name, kind)`; a kind is `str`, `bytes`, `int`, `bool`, another table,
or a list of one of these for a field that repeats. What is not in a message has the value that its kind has without
anything (`""`, `0`, `{}`, `[]`); what is in a message and not in its table is skipped. Fields are written in the order
of numbers and without values that mean nothing, so equal messages have equal bytes.

Source: protobuf.dev, "Encoding".
"""

VARINT, I64, LEN, I32 = 0, 1, 2, 5


class Malformed(Exception):
    """Bytes that are no message."""


def write(table, message):
    out = bytearray()
    for number in sorted(table):
        name, kind = table[number]
        value = message.get(name)
        if isinstance(kind, list):
            for item in value or []:
                field(out, number, kind[0], item)
        elif value or (isinstance(kind, dict) and value is not None):
            field(out, number, kind, value)
    return bytes(out)


def field(out, number, kind, value):
    if kind in (int, bool):
        varint(out, number << 3 | VARINT)
        varint(out, int(value) & (1 << 64) - 1)
        return
    data = write(kind, value) if isinstance(kind, dict) else value.encode() if kind is str else value
    varint(out, number << 3 | LEN)
    varint(out, len(data))
    out += data


def varint(out, value):
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def empty(kind):
    return [] if isinstance(kind, list) else {} if isinstance(kind, dict) else kind()


def read(table, data):
    message = {name: empty(kind) for name, kind in table.values()}
    at = 0
    while at < len(data):
        tag, at = number_at(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = number_at(data, at)
        else:
            size, at = number_at(data, at) if wire == LEN else ({I64: 8, I32: 4}.get(wire, -1), at)
            if size < 0 or at + size > len(data):
                raise Malformed(f"field {number} of wire type {wire}")
            value, at = bytes(data[at:at + size]), at + size
        if number in table:
            name, kind = table[number]
            single = kind[0] if isinstance(kind, list) else kind
            values = of(single, wire, value)
            message[name] = message[name] + values if isinstance(kind, list) else values[-1]
    return message


def of(kind, wire, value):
    """The values of a field: one, or those of a list of numbers that is packed."""
    if kind in (int, bool):
        if wire == VARINT:
            return [kind(value - (1 << 64) if value >> 63 else value)]
        values, at = [], 0
        while wire == LEN and at < len(value):
            number, at = number_at(value, at)
            values.append(kind(number))
        return values or [kind()]
    if wire != LEN:
        raise Malformed("a number where there should be a text")
    if isinstance(kind, dict):
        return [read(kind, value)]
    return [value.decode(errors="replace") if kind is str else value]


def number_at(data, at):
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
    raise Malformed("a number without an end")
