//# about: --explore: every byte of the file is in one piece, as much as each section has; who brought it, why it is there, what it alone keeps, which shared libraries it needs; names cannot become markup
//# matrix: kind=pie,static,shared
//# only: weld -- others have no such option
//# lang: c++
//# cxxflags: -fPIC -g -ffunction-sections -fdata-sections
//# sh: ar rcs libm.a member.o && python3 hostile.py hostile.s && $AS hostile.s -o hostile.o
//# link: %{kind} explore.o hostile.o libm.a --gc-sections --explore=page.html
//# sh: PYTHONPATH={explore} python3 check.py out page.html {kind} && $LD explore out -o later.html && PYTHONPATH={explore} python3 check.py out later.html file
//# link: %{kind} explore.o hostile.o libm.a -o all --explore=all.html --icf=all --compress-debug-sections=zlib --emit-relocs
//# no-verify: relocations of compressed sections are kept
//# sh: PYTHONPATH={explore} python3 check.py all all.html sums
//# link: %{kind} explore.o hostile.o libm.a -o same --gc-sections --explore=one.html --threads=1
//# link: %{kind} explore.o hostile.o libm.a -o same --gc-sections --explore=four.html --threads=4
//# same: one.html four.html
int member(int);
extern "C" int puts(const char *);
int zeroes[1000];
template <class T> struct Box {
    T value;
    __attribute__((noinline)) T get(T more) { return value + more; }
};
__attribute__((noinline)) int twice(int n) { return n * 2 + Box<int>{n}.get(3) + int(Box<long>{n}.get(5)); }
__attribute__((constructor)) static void begin() { zeroes[7] = 1; }
__attribute__((noinline)) static int left(int n) { return n ^ 0x1234; }
__attribute__((noinline)) static int right(int n) { return n ^ 0x1234; }
extern "C" __attribute__((visibility("default"))) const char *exported() { return "a string"; }
int main(int argc, char **) { if (argc > 5) puts("many"); return twice(argc) - twice(argc) + member(0) + (exported()[0] != 'a') + zeroes[7] - 1 + left(argc) - right(argc); }
//--- member.cc
__attribute__((noinline)) static int only_here(int n) { return n * n; }
int member(int n) { return only_here(n); }
//--- hostile.py
import sys
name = "</script><script>alert(1)</script><!--"
open(sys.argv[1], "w").write(f"""
.section .text.hostile,"axR",@progbits
.globl "{name}"
.type "{name}", @function
"{name}": ret
.size "{name}", 1
.section .note.GNU-stack,"",@progbits
""")
//--- check.py
import os, re, struct, subprocess, sys
from page import Page

path, page, kind = sys.argv[1:]
page = Page(page)
meta, names, tables, html = page.meta, page.names, page.tables, page.text
data = html[html.index('<script type="application/json"'):html.index("</script>", html.rindex('" id="weld-'))]
tags = set(re.findall(r"<[^>]*>?", data))
assert all(re.fullmatch(r'</script>|<script type="application/(json|octet-stream)" id="weld-\w+">', t) for t in tags), tags
assert page.stored == meta["names"] and names[0] == ""
pieces, inputs, objects = page.pieces(), page.table("input_sections"), page.table("objects")
size = os.path.getsize(path)
assert meta["file_size"] == size == sum(pieces["size"]), (meta["file_size"], size, sum(pieces["size"]))

# Each section has as many bytes in pieces as its header says.
image = open(path, "rb").read()
shoff, = struct.unpack_from("<Q", image, 40)
count, strings = struct.unpack_from("<HH", image, 60)
headers = [struct.unpack_from("<IIQQQQIIQQ", image, shoff + 64 * i) for i in range(count)]
table = headers[strings][4]
shown = [names[n] for n in tables["output_sections", "name"]]
sums, memory = [0] * len(shown), [0] * len(shown)
for i, out in enumerate(pieces["output_section"]):
    if out:
        sums[out - 1] += pieces["size"][i]
        memory[out - 1] += pieces["memory"][i]
assert len(shown) == count - 1
for row, header in enumerate(headers[1:]):
    name = image[table + header[0]:image.index(b"\0", table + header[0])].decode()
    assert shown[row] == name, (shown[row], name)
    assert sums[row] == (0 if header[1] == 8 else header[5]), (name, sums[row], header[5])
    if header[2] & 2:
        assert memory[row] == header[5], (name, memory[row], header[5])
# The C library, who needs it, and what for: who does only the link knows.
libraries = [names[n] for n in tables.get(("libraries", "name"), [])]
imports = page.table("imports")
wanted = {(library and libraries[library - 1], names[symbol], section)
          for library, symbol, section in zip(*(imports.get(c, []) for c in ("library", "symbol", "input_section")))}
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.check_output(["readelf", "-dW", path], text=True))
assert libraries == needed, (libraries, needed)
if kind == "file":
    assert not needed or ("libc.so.6", "puts", 0) in wanted, wanted
    sys.exit()
if kind == "sums":
    assert meta["savings"]["icf"] > 0, meta["savings"]
    sys.exit()

# Symbols are as large as the symbol table says, and came with their objects.
of = {names[n]: i for i, n in enumerate(pieces["name"]) if n}
for line in subprocess.check_output(["nm", "-SC", path], text=True).splitlines():
    m = re.match(r"[0-9a-f]+ ([0-9a-f]+) [TtDdBb] (twice\(int\)|Box<int>::get\(int\)|main|zeroes)$", line)
    if m:
        piece = of[m.group(2)]
        assert max(pieces["size"][piece], pieces["memory"][piece]) == int(m.group(1), 16), line


def section(symbol):
    return pieces["input_section"][of[symbol]] - 1


def object_of(symbol):
    return inputs["object"][section(symbol)] - 1


assert names[objects["name"][object_of("twice(int)")]] == "explore.o"
member = object_of("member(int)")
assert names[objects["name"][member]] == "member.o"
assert names[tables["archives", "name"][objects["archive"][member] - 1]] == "libm.a"
assert names[objects["source"][member]].endswith("/member.cc"), names[objects["source"][member]]
assert meta["languages"][objects["language"][member]] == "C++"
assert names[objects["asked_for"][member]] == "member(int)"
assert names[objects["name"][objects["asked_by"][member] - 1]] == "explore.o"
assert names[pieces["instance"][of["Box<int>::get(int)"]]] == "Box<…>::get"
assert "</script><script>alert(1)</script><!--" in of, "the hostile name is there as what it is"

# Why is it there: twice(int) alone keeps both get(), and nobody alone keeps main.
to, above, keeps = page.references(), page.dominators(), page.keeps()
twice, get, main = section("twice(int)"), section("Box<int>::get(int)"), section("main")
assert get in to[twice]
assert (kind == "static") == (not needed) and (not needed or ("libc.so.6", "puts", main + 1) in wanted), wanted
own = [0] * (len(to) + 1)
for i, row in enumerate(pieces["input_section"]):
    own[row] += pieces["size"][i]
both = sum(own[section(f"Box<{t}>::get({t})") + 1] for t in ("int", "long"))
if kind != "shared":
    # A library exports all of them.
    assert above[get] == twice and above[twice] == main
    assert keeps[get] == own[get + 1] and keeps[twice] >= own[twice + 1] + both
# Exception frames and symbols are counted for the objects that they are of; frames live with their functions.
shares = {}
for i, row in enumerate(pieces["input_section"]):
    if row and inputs["object"][row - 1] == member + 1:
        name = shown[pieces["output_section"][i] - 1]
        shares[name] = shares.get(name, 0) + pieces["size"][i]
assert shares[".eh_frame"] > 20 and shares[".symtab"] >= 48 and shares[".strtab"] > 20, shares
frames = [i for i in range(len(inputs["object"])) if inputs["object"][i] == member + 1 and names[inputs["name"][i]] == ".eh_frame"]
of_member = section("member(int)")
assert len(frames) == 1 and frames[0] in to[of_member], frames
roots = zip(*(tables["roots", column] for column in ["input_section", "reason", "symbol"]))
reasons = {section: f"{names[reason]} {names[symbol]}".rstrip() for section, reason, symbol in roots}
if kind == "shared":
    assert reasons[main] == "exported main", reasons[main]
else:
    assert reasons[section("_start")] == "entry _start", reasons[section("_start")]
assert "constructors and destructors: .init_array" in reasons.values(), reasons
assert meta["savings"]["comdat"] >= 0 and meta["savings"]["icf"] == 0
