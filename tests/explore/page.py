"""Reads a page of --explore as crates/weld-explore/format.md describes it, for tests.

What it gives: `meta`, the description; `names`, all texts, of which the first `stored` are the page's, and those behind
them what input sections are called that have two for it; `tables`, columns of numbers by table and column; and `text`,
the page itself.
"""

import gzip
import json
import re


def septets(text):
    """The bytes of text of seven bits a character."""
    bits = "".join(f"{ord(c) & 127:07b}" for c in text)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits) - 7, 8))


def unzigzag(number):
    return number >> 1 ^ -(number & 1)


def planes(raw, count):
    """Numbers whose lengths come first, then their lowest bytes, their second ones, and so on."""
    lengths, rest, values = raw[:count], iter(raw[count:]), [0] * count
    for place in range(8):
        for row, length in enumerate(lengths):
            if length > place:
                values[row] |= next(rest) << 8 * place
    assert next(rest, None) is None
    return values


def texts(words, numbered, codes):
    """The texts that codes for words stand for."""
    words = words.split(b"\0")[:-1]
    others, codes = iter(words[numbered:]), iter(codes)
    all_texts, text = [], b""
    for code in codes:
        if code == 0:
            all_texts.append(text)
            text = b""
        elif code == 1:
            text += next(others)
        elif code == 2:
            text += all_texts[-1]
        elif code < 195:
            text += words[code - 3]
        elif code < 255:
            text += words[192 + (code - 195) * 256 + next(codes)]
        else:
            text += words[192 + 60 * 256 + sum(next(codes) << shift for shift in (0, 8, 16))]
    assert text == b"" and next(others, None) is None
    return [text.decode() for text in all_texts]


def numbers(raw):
    """LEB128."""
    values, at = [], 0
    while at < len(raw):
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        values.append(value)
    return values


def column(raw, encoding, count):
    if encoding == "planes":
        return planes(raw, count)
    stored, values, before = numbers(raw), [], 0
    encoding, _, runs = encoding.partition("-")
    assert encoding in ("uleb", "delta", "sparse") and runs in ("", "runs"), encoding
    if runs:
        stored = [value for value, more in zip(stored[::2], stored[1::2], strict=True) for _ in range(more + 1)]
    for value in stored:
        if encoding == "delta":
            before = value = before + unzigzag(value) & (1 << 64) - 1
        elif encoding == "sparse" and value:
            before = value = before + unzigzag(value - 1)
        values.append(value)
    return values


class Page:
    def __init__(self, path):
        # Carriage returns and line feeds are data.
        with open(path, encoding="utf-8", newline="") as file:
            self.text = file.read()
        self.meta = json.loads(self.element("meta"))
        blobs = {name: gzip.decompress(septets(self.element(name)))
                 for name in {"words", "names", *(c["blob"] for c in self.meta["columns"])}}
        self.names = texts(blobs["words"], self.meta["words"], blobs["names"])
        self.stored = len(self.names)
        assert self.stored == self.meta["names"]
        self.tables = {}
        for c in self.meta["columns"]:
            values = column(blobs[c["blob"]][c["offset"]:c["offset"] + c["bytes"]], c["encoding"], c["count"])
            assert len(values) == c["count"], c
            self.tables[c["table"], c["column"]] = values
        self.tables["input_sections", "name"] = self.section_names()

    def section_names(self):
        """Numbers of whole names of input sections, which are added to the names if they are put together."""
        first = {}
        for section, name in zip(self.tables["pieces", "input_section"], self.tables["pieces", "name"]):
            first.setdefault(section - 1, name)
        numbers = {name: number for number, name in enumerate(self.names)}
        names = self.tables["input_sections", "name"]
        for row, symbol in enumerate(self.tables["input_sections", "symbol"]):
            if symbol:
                name = self.names[names[row]] + self.names[first[row] if symbol == 1 else symbol - 1]
                names[row] = numbers.setdefault(name, len(self.names))
                if names[row] == len(self.names):
                    self.names.append(name)
        return names

    def element(self, name):
        return re.search(r'id="weld-%s">(.*?)</script>' % name, self.text, re.S).group(1)

    def table(self, name):
        """The columns of a table."""
        return {c: values for (t, c), values in self.tables.items() if t == name}

    def pieces(self):
        """The pieces, with their bytes in memory."""
        pieces = self.table("pieces")
        pieces["memory"] = [size + unzigzag(step) for size, step in zip(pieces["size"], pieces["memory_step"])]
        return pieces

    def references(self):
        """The sections that each one refers to."""
        steps = iter(self.tables["references", "step"])
        lists = []
        for row, count in enumerate(self.tables["input_sections", "references"]):
            rows = []
            for number in range(count):
                rows.append(rows[-1] + next(steps) if number else row + unzigzag(next(steps)))
            lists.append(rows)
        assert next(steps, None) is None
        return lists

    def dominators(self):
        """The section without which each one would go; None if there is none."""
        lists, roots = self.references(), sorted(set(self.tables["roots", "input_section"]))
        # Sections in reverse postorder behind -1, which leads to the roots.
        order, seen, stack = [], set(), [(-1, iter(roots))]
        while stack:
            at, targets = stack[-1]
            target = next((row for row in targets if row not in seen), None)
            if target is None:
                order.append(stack.pop()[0])
            else:
                seen.add(target)
                stack.append((target, iter(lists[target])))
        order.reverse()
        place = {row: number for number, row in enumerate(order)}
        from_whom = {row: [] for row in order}
        for row in order:
            for target in roots if row == -1 else lists[row]:
                from_whom[target].append(row)
        above = {-1: -1}

        def common(a, b):
            while a != b:
                if place[a] < place[b]:
                    a, b = b, a
                a = above[a]
            return a

        changed = True
        while changed:
            changed = False
            for row in order[1:]:
                known = [who for who in from_whom[row] if who in above]
                new = known[0]
                for who in known[1:]:
                    new = common(new, who)
                changed |= above.get(row) != new
                above[row] = new
        return [above[row] if above.get(row, -1) >= 0 else None for row in range(len(lists))]

    def keeps(self):
        """Bytes of the file that would go with each section."""
        dominators = self.dominators()
        keeps = [0] * len(dominators)
        for row, size in zip(self.tables["pieces", "input_section"], self.tables["pieces", "size"]):
            at = row - 1 if row else None
            while at is not None:
                keeps[at] += size
                at = dominators[at]
        return keeps
