"""Reads and writes the ledger: what is known of each test, a line each.

    TEST pass
    TEST CLASS DETAIL

A tab stands behind names that have spaces in them. Lines that start with `#` are comments. `= KEY TEXT` explains a detail that many tests share.
"""

import hashlib
import re
from dataclasses import dataclass

# Class: what its detail is.
CLASSES = {
    "pass": None,
    "wording": "a test of weld's own",
    "layout": "a key",
    "deliberate": "a heading of docs/compatibility.md, as a link names it",
    "format": None,
    "machine": None,
    "open": "a key",
}


@dataclass
class Entry:
    kind: str
    detail: str


@dataclass
class Book:
    path: object
    keys: dict
    entries: dict


def read(path):
    book = Book(path, {}, {})
    for line in path.read_text().splitlines():
        if line.startswith("= "):
            key, text = line[2:].split(None, 1)
            book.keys[key] = text
        elif line and not line.startswith(("#", " ")):
            name, said = divided(line)
            kind, *detail = said.split(None, 1)
            book.entries[name] = Entry(kind, " ".join(detail))
    return book


def divided(line):
    """The name of a line's test, and what it says of it."""
    name, tab, said = line.partition("\t")
    return (name, said) if tab else tuple(line.split(None, 1))


def anchors(text):
    """The names by which links refer to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_test(repository, own, name):
    """A file below the directory with weld's own tests, or Rust code with tests in it."""
    code = repository / name
    return (repository / own / name).is_file() or (code.is_file() and "#[test]" in code.read_text())


def problems(book, repository, own):
    """What is wrong with the ledger itself."""
    headings = anchors((repository / "docs/compatibility.md").read_text())
    known = {
        "a test of weld's own": lambda d: is_test(repository, own, d),
        "a heading of docs/compatibility.md, as a link names it": lambda d: d in headings,
        "a key": lambda d: d in book.keys,
    }
    found = []
    for name, entry in book.entries.items():
        if entry.kind not in CLASSES:
            found.append(f"{book.path.name}: {name}: there is no class {entry.kind}")
        elif (wanted := CLASSES[entry.kind]) and not known[wanted](entry.detail):
            found.append(f"{book.path.name}: {name}: {entry.detail!r} is not {wanted}")
        elif not wanted and entry.detail:
            found.append(f"{book.path.name}: {name}: nothing belongs behind {entry.kind}")
    names = list(book.entries)
    if names != sorted(names):
        found.append(f"{book.path.name}: the lines are not sorted")
    used = {entry.detail for entry in book.entries.values()}
    found += [f"{book.path.name}: nothing has the key {key}" for key in book.keys if key not in used]
    return found


def sample(book, count):
    """So many of the tests that pass, spread over all families, and the same until the ledger changes."""
    passing = [name for name, entry in book.entries.items() if entry.kind == "pass"]
    return sorted(sorted(passing, key=lambda name: hashlib.sha256(name.encode()).digest())[:count])


def counts(book):
    kinds = [entry.kind for entry in book.entries.values()]
    return [(kind, kinds.count(kind)) for kind in CLASSES if kind in kinds]


def write(book, better):
    """Makes tests `pass`, and leaves out keys that nothing needs any more."""
    for name in better:
        book.entries[name] = Entry("pass", "")
    used = {entry.detail for entry in book.entries.values()}
    lines = []
    for line in book.path.read_text().splitlines():
        if line.startswith("= "):
            if line[2:].split(None, 1)[0] not in used:
                continue
        elif line and not line.startswith(("#", " ")):
            name, _ = divided(line)
            entry = book.entries[name]
            space = "\t" if " " in name else " "
            line = f"{name}{space}{entry.kind} {entry.detail}".rstrip()
        lines.append(line)
    book.path.write_text("\n".join(lines) + "\n")
