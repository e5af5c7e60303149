"""Edits of the sources of cpp-debug workloads, compiled: what `bench/relink` puts in the place of objects.

An edit is a change of a unit's source, or of the header of its module (`cpp_source`), as somebody makes it who works on
the program. The unit is compiled with it, and stamped as the object that it is to take the place of.
"""

import re

from . import cpp_source, generated

PER_MODULE = 50


def constant(source):
    """A number that a function adds is another one."""
    return re.sub(r"return n \* (\d+) \+ 1;", r"return n * \1 + 7;", source, count=1)


def line(source):
    """A comment of one line, above all functions."""
    return source.replace("int leaf_OBJNEXT", "// A line more.\nint leaf_OBJNEXT", 1)


def function(source):
    """A statement more in a function."""
    return source.replace("  return common::mix(sum, leaf_OBJNEXT", "  sum = sum * 3 + n;\n  return common::mix(sum, leaf_OBJNEXT", 1)


def instance(source):
    """A function template has an instance more, which most likely nobody has had."""
    use = "  sum += std::max<short>(short(n), 3);\n"
    return source.replace("  return common::mix(sum, leaf_OBJNEXT", use + "  return common::mix(sum, leaf_OBJNEXT", 1)


def container(source):
    """A class template of a type of the object's own, which is new: fifty functions, 100 KB of object."""
    source = source.replace("static int run(int n) {", "struct Fresh { int a = 1; };\nstatic int run(int n) {", 1)
    use = "  common::Arena<Fresh> fresh; sum += fresh.make().a + int(fresh.size());\n"
    return source.replace("  return common::mix(sum, leaf_OBJNEXT", use + "  return common::mix(sum, leaf_OBJNEXT", 1)


def header(text):
    """An inline function of a module's header has another constant."""
    return text.replace("r.value = i * 7;", "r.value = i * 9;", 1)


UNIT_EDITS = [constant, line, function, instance, container]


class Edits:
    """Compiles into a directory that is kept."""

    def __init__(self, build, count):
        self.build, self.count = build, count
        build.mkdir(parents=True, exist_ok=True)

    def template(self, number, edit=None):
        """The compiled unit, with an edit."""
        name = edit.__name__ if edit else "plain"
        place = self.build / name
        kept = place / f"{number}.o"
        if not kept.exists():
            place.mkdir(exist_ok=True)
            (place / "common.h").write_text(cpp_source.COMMON_H)
            (place / "module.h").write_text(edit(cpp_source.MODULE_H) if edit is header else cpp_source.MODULE_H)
            source = cpp_source.unit(number)
            edited = edit(source) if edit and edit is not header else source
            assert not edit or (edited, cpp_source.MODULE_H) != (source, (place / "module.h").read_text()), f"{name} changes nothing"
            kept.write_bytes(generated.cpp_template(place, number, (), edited))
        return kept.read_bytes()

    def object(self, i, edit=None):
        """Object `i` of the workload."""
        return cpp_source.stamp(self.template(i % generated.CPP_UNITS, edit), i, self.count)

    def module(self, i):
        """The numbers of the objects that include the same header as object `i`."""
        first = i - i % PER_MODULE
        return range(first, min(first + PER_MODULE, self.count))
