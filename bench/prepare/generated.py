"""Workloads made for one property: very many objects, sections, dynamic symbols, GBs of debug link."""

import random

from . import cpp_source
from .common import run

CPP_UNITS = 60


def cpp_debug_100m(workload):
    """300 C++ objects of a debug build, 0.1 GiB: the smallest of three sizes."""
    cpp_debug(workload, 300)


def cpp_debug_5000(workload):
    """5000 C++ objects of a debug build, over 1 GB, half of it debug information."""
    cpp_debug(workload, 5000)


def cpp_debug_pubnames(workload):
    """cpp-debug-5000 compiled with -ggnu-pubnames: for --gdb-index, of which other linkers make little without."""
    cpp_debug(workload, 5000, flags=["-ggnu-pubnames"])


def cpp_debug_2g(workload):
    """6100 C++ objects of a debug build, 2 GiB: the middle of three sizes."""
    cpp_debug(workload, 6100)


def cpp_debug_4g(workload):
    """12 200 C++ objects of a debug build, 4 GiB: the largest of three sizes."""
    cpp_debug(workload, 12_200)


def cpp_debug(workload, count, units=CPP_UNITS, flags=()):
    """`count` C++ objects of a debug build with more `flags`, made from `units` compiled ones."""
    build = workload.build
    (build / "common.h").write_text(cpp_source.COMMON_H)
    (build / "module.h").write_text(cpp_source.MODULE_H)
    templates = [cpp_template(build, number, flags) for number in range(units)]
    names = [f"obj/{cpp_source.object_name(i)}.o" for i in range(count)]
    workload.capture_around(["obj/main.o", *names], "g++")
    for i, name in enumerate(names):
        stamped = cpp_source.stamp(templates[i % units], i, count)
        (workload.directory / name).write_bytes(stamped)
    (build / "main.cpp").write_text(cpp_source.main_source(count))
    run("clang++-22", "-g", f"-ffile-prefix-map={build}=.", "-c", "main.cpp", "-o", workload.directory / "obj/main.o", cwd=build)
    workload.expect_output()


def cpp_template(build, number, flags, text=None):
    """The compiled unit `number`, or another `text` of it. One in six is gcc's, half of the rest have function sections."""
    compiler = ["g++"] if number % 6 == 5 else ["clang++-22"]
    sections = ["-ffunction-sections", "-fdata-sections"] if number % 2 else []
    # The words of cpp_source.stamp are in the file names too, as these are in the debug information.
    source = build / f"unit{number:02d}_OBJSELF.cpp"
    source.write_text(text or cpp_source.unit(number))
    # The directory's name is not in the object, so that it is the same object wherever it is made.
    run(*compiler, "-std=c++20", "-g", "-O0", *flags, f"-ffile-prefix-map={build}=.", *sections, "-c", source.name, "-o", "unit.o",
        cwd=build)
    return (build / "unit.o").read_bytes()


def many_objects(workload, count=4000):
    """4000 small C objects, optimised, no debug information."""
    build, units = workload.build, 16
    templates = []
    for number in range(units):
        (build / "unit.c").write_text(small_unit(number))
        run("gcc", "-O2", "-c", "unit.c", cwd=build)
        templates.append((build / "unit.o").read_bytes())
    names = [f"obj/{cpp_source.object_name(i)}.o" for i in range(count)]
    workload.capture_around(["obj/main.o", *names], "gcc")
    for i, name in enumerate(names):
        (workload.directory / name).write_bytes(cpp_source.stamp(templates[i % units], i, count))
    calls = "".join(f"int entry_{cpp_source.object_name(i)}(int);\n" for i in range(count))
    table = ", ".join(f"entry_{cpp_source.object_name(i)}" for i in range(count))
    (build / "main.c").write_text(
        f"#include <stdio.h>\n{calls}static int (*const entries[])(int) = {{{table}}};\nint main(void) {{ unsigned sum = 0;\n"
        f'for (int i = 0; i < {count}; i++) sum = sum * 31 + entries[i](i); printf("sum %u\\n", sum); return 0; }}\n')
    run("gcc", "-O2", "-c", "main.c", "-o", workload.directory / "obj/main.o", cwd=build)
    workload.expect_output()


def many_objects_20k(workload):
    """20 000 tiny C objects, optimised, no debug information."""
    many_objects(workload, 20_000)


def small_unit(number):
    """C source for many_objects: a few functions, constants, data and calls to three other objects."""
    rng = random.Random(number)
    functions = "".join(
        f"int helper{i}_OBJSELF(int n) {{ return n * {rng.randrange(3, 99)} + state_OBJSELF[n & 3]; }}\n"
        for i in range(rng.randint(1, 8)))
    return f"""#include <string.h>
int leaf_OBJNEXT(int), leaf_OBJFAR1(int), leaf_OBJFAR2(int);
int state_OBJSELF[4] = {{1, 2, 3, {number}}};
static const char *const names[] = {{"OBJSELF", "unit {number}", "shared text"}};
{functions}int leaf_OBJSELF(int n) {{ return helper0_OBJSELF(n) + (int)strlen(names[n % 3]); }}
int entry_OBJSELF(int n) {{ return leaf_OBJNEXT(n) + leaf_OBJFAR1(n) * 3 + leaf_OBJFAR2(n); }}
"""


def many_sections(workload, counts=(70_000,) + (13_000,) * 10):
    """200 000 function sections, the first object with more than 65 280 sections, --gc-sections drops a third."""
    names = [f"obj/part{part}.o" for part in range(len(counts))]
    workload.capture_around(["obj/main.o", *names], "gcc", "-Wl,--gc-sections")
    live = [(part, i) for part, count in enumerate(counts) for i in range(count) if i % 3]
    after = dict(zip(live, live[1:]))
    for part, count in enumerate(counts):
        assemble(workload, f"part{part}", (section(part, i, after.get((part, i))) for i in range(count)))
    first = "f{}_{}".format(*live[0])
    (workload.build / "main.c").write_text(
        f'#include <stdio.h>\nint {first}(int);\nint main(void) {{ printf("%d\\n", {first}(0)); return 0; }}\n')
    run("gcc", "-c", "main.c", "-o", workload.directory / "obj/main.o", cwd=workload.build)
    total = sum(1 + i % 7 for _, i in live)
    workload.write_check(f'test "$("$1")" = {total}\n')


def object_1m_sections(workload):
    """One object with 1 000 000 sections, --gc-sections drops a third."""
    many_sections(workload, (500_000,))


def section(part, i, successor):
    """A function in a section of its own, which adds a little and jumps to the next that is alive."""
    jump = "jmp f{}_{}".format(*successor) if successor else "movl %edi, %eax\n ret"
    return (f'.section .text.f{part}_{i},"ax",@progbits\n.globl f{part}_{i}\n.type f{part}_{i},@function\n'
            f"f{part}_{i}:\n addl d{part}_{i}(%rip), %edi\n {jump}\n"
            f'.section .rodata.d{part}_{i},"a",@progbits\nd{part}_{i}: .long {1 + i % 7}\n')


def so_100k(workload, count=120_000, parts=24):
    """A shared library that exports 120 000 symbols; some call or address others, which may be preempted."""
    names = [f"obj/part{part}.o" for part in range(parts)]
    workload.capture_around(names, "gcc", "-shared")
    per_part = count // parts
    for part in range(parts):
        assemble(workload, f"part{part}", (export(i, count) for i in range(part * per_part, (part + 1) * per_part)))
    (workload.build / "look.c").write_text(LOOK_C % {"count": count})
    run("gcc", "-O2", "look.c", "-o", workload.directory / "look", "-ldl", cwd=workload.build)
    workload.write_check('test "$(./look "$(realpath "$1")")" = "all found"\n')


def so_500k(workload):
    """A shared library that exports 500 000 symbols; some call or address others, which may be preempted."""
    so_100k(workload, 500_000, 100)


def export_name(i):
    """A name of the length that C++ gives."""
    return f"_ZN6vendor9component{i % 997:04d}6Widget{i:06d}Ei"


def export(i, count):
    """Symbol `i` of so_100k. Every fourth is data; every tenth function goes on to another symbol."""
    name, size = export_name(i), ".size {0}, .-{0}\n".format(export_name(i))
    if i % 4 == 0:
        return f".data\n.globl {name}\n.type {name},@object\n{name}: .quad {i}\n{size}"
    other = export_name((i * 7919 + 1) // 4 * 4 % count)  # a datum
    if i % 10 == 1:
        body = f" movq {other}@GOTPCREL(%rip), %rax\n movl (%rax), %eax\n ret\n"
    elif i % 10 == 3 and (i + 2) % 4:
        body = f" jmp {export_name((i + 2) % count)}@PLT\n"
    else:
        body = f" movl ${i}, %eax\n ret\n"
    return f".text\n.globl {name}\n.type {name},@function\n{name}:\n{body}{size}"


# Looks up symbols all over the table. What a function returns follows from `export`.
LOOK_C = """\
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    if (!library) { puts(dlerror()); return 1; }
    for (long i = 0; i < %(count)d; i += 37) {
        char name[64];
        snprintf(name, sizeof name, "_ZN6vendor9component%%04ld6Widget%%06ldEi", i %% 997, i);
        void *symbol = dlsym(library, name);
        if (!symbol) { printf("%%s: not found\\n", name); return 1; }
        if (i %% 4 == 0 ? *(long *)symbol != i : i %% 10 == 1 || i %% 10 == 3 ? 0 : ((int (*)(void))symbol)() != i) {
            printf("%%s: wrong\\n", name);
            return 1;
        }
        if (i %% 4 && i %% 10 == 1 && ((int (*)(void))symbol)() != (i * 7919 + 1) / 4 * 4 %% %(count)d) {
            printf("%%s: wrong datum\\n", name);
            return 1;
        }
    }
    puts(dlsym(library, "_ZN6vendor9component0000") ? "one too many" : "all found");
    return 0;
}
"""


def assemble(workload, name, chunks):
    """Assembles the text in `chunks` to `obj/NAME.o`."""
    source = workload.build / f"{name}.s"
    with open(source, "w", encoding="ascii") as file:
        file.writelines(chunks)
        file.write('.section .note.GNU-stack,"",@progbits\n')
    run("clang-22", "-c", source, "-o", workload.directory / "obj" / f"{name}.o")
    source.unlink()
