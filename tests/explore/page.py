"""Reads a page of --explore as crates/weld-explore/format.md describes it, for tests.

What it gives: `meta`, the description; `names`, all texts; `tables`, columns of numbers by table and column; and `text`,
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


def column(raw, encoding):
    values, at, before = [], 0, 0
    while at < len(raw):
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
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
                 for name in {"names", *(c["blob"] for c in self.meta["columns"])}}
        self.names = []
        for name in blobs["names"].decode().split("\0")[:-1]:
            self.names.append(name[:-1] + self.names[-1] if name.endswith("\x01") else name)
        self.tables = {}
        for c in self.meta["columns"]:
            values = column(blobs[c["blob"]][c["offset"]:c["offset"] + c["bytes"]], c["encoding"])
            assert len(values) == c["count"], c
            self.tables[c["table"], c["column"]] = values

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
        steps = self.tables["input_sections", "dominator"]
        return [row + unzigzag(step) if step else None for row, step in enumerate(steps)]

    def keeps(self):
        """Bytes of the file that would go with each section."""
        keeps, dominators = [0] * len(self.dominators()), self.dominators()
        for row, size in zip(self.tables["pieces", "input_section"], self.tables["pieces", "size"]):
            at = row - 1 if row else None
            while at is not None:
                keeps[at] += size
                at = dominators[at]
        return keeps
