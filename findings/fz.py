#!/usr/bin/env python3
import argparse, collections, os, random, re, shutil, subprocess, sys, tempfile, time
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent)); import semcmp
ap = argparse.ArgumentParser()
ap.add_argument("--weld", required=True); ap.add_argument("--seed", type=int, default=1); ap.add_argument("--count", type=int, default=100)
ap.add_argument("--keep", action="store_true"); ap.add_argument("--wine", type=int, default=4, help="run each n-th edited one"); ap.add_argument("--opt", default="-O1")
ap.add_argument("--more", default="")
A = ap.parse_args()
rng = random.Random(A.seed)
FILES, ASM = 4, 2
LINK = ["-flavor", "link", "/nodefaultlib", "/debug", "/entry:start", "/subsystem:console", "/out:out.exe", "/export:expo", "main.obj"] + [f"c{i}.obj" for i in range(FILES)] + [f"s{i}.obj" for i in range(ASM)] + ["m.lib", "kernel32.lib"] + A.more.split()
HEAD = '''extern "C" int lib0(int);
namespace { struct Reg { Reg(int x); }; }
extern "C" int total;
'''
MAIN = '''
extern "C" { void *GetStdHandle(unsigned); int WriteFile(void *, const void *, unsigned, unsigned *, void *); void ExitProcess(unsigned);
int total; int _fltused;
__declspec(dllexport) int expo(int x) { return x + 3; }
DECLS
}
void operator delete(void *, unsigned long long) noexcept {} void operator delete(void *) noexcept {} void operator delete[](void *, unsigned long long) noexcept {} void operator delete[](void *) noexcept {}
typedef void (*V)(); typedef int (*I)(int);
#pragma section(".CRT$XCA", read)
#pragma section(".CRT$XCZ", read)
#pragma section(".tab$a", read)
#pragma section(".tab$z", read)
__declspec(allocate(".CRT$XCA")) V first[] = {(V)-1}; __declspec(allocate(".CRT$XCZ")) V last[] = {(V)-2};
__declspec(allocate(".tab$a")) I tfirst[] = {(I)-1}; __declspec(allocate(".tab$z")) I tlast[] = {(I)-2};
static void put(const char *name, unsigned v) {
  char b[40]; int n = 0; while (name[n]) { b[n] = name[n]; n++; } b[n++] = ' ';
  for (int i = 28; i >= 0; i -= 4) b[n++] = "0123456789abcdef"[v >> i & 15]; b[n++] = '\\n'; unsigned w;
  WriteFile(GetStdHandle(-11u), b, n, &w, 0);
}
extern "C" void start() {
  unsigned h = 0, n = 0, holes = 0;
  for (V volatile *p = (V*)first + 1; *p != (V)-2; p++) { if (*p) (*p)(); else holes++; n++; }
  put("ctors", total); put("nctors", n); put("holes", holes); h = n = holes = 0;
  for (I volatile *p = (I*)tfirst + 1; *p != (I)-2; p++) { if (*p) h = h * 31 + (*p)(n); else holes++; n++; }
  put("tab", h); put("ntab", n); put("tholes", holes);
  CALLS
  ExitProcess(0);
}
'''
class Item:
    """text, name (global, callable int(int)) or None, use: expression with x"""
    def __init__(s, kind, n, r):
        s.kind, s.n, s.v = kind, n, r.randrange(1, 1 << 20); s.extra = r.randrange(1, 4)
    def decl(s):
        k, n = s.kind, s.n
        return {"fn": f'extern "C" int fn{n}(int);', "big": f'extern "C" int fn{n}(int);', "var": f'extern "C" int var{n};', "bss": f'extern "C" int var{n};', "sel": f'extern "C" int var{n};', "weak": f'extern "C" int fn{n}(int);', "alias": f'extern "C" int fn{n}(int); extern "C" int al{n}(int);', "exp": f'extern "C" int fn{n}(int);'}.get(k)
    def names(s):
        k, n = s.kind, s.n
        return {"fn": [f"fn{n}"], "big": [f"fn{n}"], "weak": [f"fn{n}"], "alias": [f"fn{n}", f"al{n}"], "exp": [f"fn{n}"]}.get(k, [])
    def vars(s): return [f"var{s.n}"] if s.kind in ("var", "bss", "sel") else []
    def text(s, file, calls):
        k, n, v = s.kind, s.n, s.v
        c = "".join(f" ^ {e}" for e in calls)
        work = "".join(f" x = x * {v % 97 + 3 + j} + (x >> {j % 7 + 1});" for j in range(s.extra * 2))
        if k == "fn": return f'extern "C" __attribute__((noinline)) int fn{n}(int x) {{{work} return x * {v}{c}; }}'
        if k == "exp": return f'extern "C" __declspec(dllexport) __attribute__((noinline)) int fn{n}(int x) {{{work} return x * {v}{c}; }}'
        if k == "big": return f'extern "C" __attribute__((noinline)) int fn{n}(int x) {{ volatile int a[{40 + s.extra * 30}]; for (int i = 0; i < 20; i++) a[i] = x ^ {v}; {"".join(f"a[{i}] += x * {v + i};" for i in range(s.extra * 40))} return a[3]{c}; }}'
        if k == "inl": return f'inline __attribute__((noinline)) int inl{n}(int x) {{{work} return x + {v if file is None else v + file * 7}{c}; }}'
        if k == "tpl": return f'template <int N> __attribute__((noinline)) int tpl{n}(int x) {{ static int k = {v}; k += x; return N * k + (int)sizeof "{"s" * s.extra}{v % 5}"; }}'
        if k == "var": return f'extern "C" {{ int var{n} = {v}; }}'
        if k == "bss": return f'extern "C" {{ int var{n}; }}'
        if k == "sel": return f'extern "C" {{ __declspec(selectany) int var{n} = {v + (file or 0)}; }}'
        if k == "ctor": return f'static void ctor{n}() {{ total = total * 5 + {v}; }}\n__attribute__((section(".CRT$XCU"), used)) static void (*const pc{n})() = ctor{n};'
        if k == "tab": return f'static int tf{n}(int x) {{ return x ^ {v}; }}\n__attribute__((section(".tab$m"), used)) static int (*const pt{n})(int) = tf{n};'
        if k == "init": return f'static int init{n}() {{ total = total * 3 + {v}; return total; }}\nint iv{n} = init{n}();'
        if k == "ivar": return f'inline int inv{n} = (total = total * 7 + {v});'
        if k == "weak": return f'extern "C" __attribute__((weak, noinline)) int fn{n}(int x) {{{work} return x - {v}{c}; }}'
        if k == "alias": return f'extern "C" {{ __attribute__((noinline)) int fn{n}(int x) {{{work} return x - {v}{c}; }} int al{n}(int) __attribute__((alias("fn{n}"))); }}'
        if k == "class": return f'struct Cl{n} {{ int a; short b[{s.extra}]; Cl{n}(int x) : a(x) {{ b[0] = (short){v}; }} virtual int get() {{ return a ^ b[0]; }} virtual ~Cl{n}() {{ total++; }} }};'
        if k == "lambda": return f'static int lam{n}(int x) {{ {"".join(f"int q{j} = x + {v + j}; " for j in range(s.extra))} auto l = [=](int y) {{ return y {"".join(f"+ q{j}" for j in range(s.extra))}; }}; return l(x) + (int)sizeof l; }}'
        if k == "alt": return f'#pragma comment(linker, "/alternatename:alt{n}=ALTTO")\nextern "C" int alt{n}(int);'
        raise SystemExit(k)
    def use(s):
        n = s.n
        return {"inl": f"inl{n}(x)", "tpl": f"tpl{n}<{s.extra}>(x)", "class": f"Cl{n}(x).get()", "lambda": f"lam{n}(x)", "ivar": f"inv{n}"}.get(s.kind) or (f"fn{n}(x)" if s.kind in ("fn", "big", "weak", "alias", "exp") else f"(var{n} += x)" if s.vars() else "0")
KINDS = ["fn"] * 5 + ["big"] * 2 + ["inl"] * 4 + ["tpl"] * 2 + ["var", "bss", "sel", "sel"] + ["ctor", "tab", "init"] + ["ivar"] + ["weak", "alias"] + ["class", "lambda"]
class Cpp:
    def __init__(s, i): s.i, s.items, s.calls, s.lines = i, [], [], 0
    def source(s, prog):
        decls = sorted({i.decl() for f in prog.cpp for i in f.items if i.decl() and f is not s})
        out = ["//" for _ in range(s.lines)] + [HEAD] + decls + [i.decl() for i in s.items if i.decl() and i.kind not in ("sel", "weak")] + prog.asmdecls()
        for it in s.items: out.append(it.text(s.i if prog.odr else None, []))
        body = "".join(f"  x = x * 33 + {i.use()};\n" for i in s.items) + "".join(f"  x ^= {c};\n" for c in s.calls)
        out.append(f'extern "C" int run{s.i}(int x) {{\n{body}  return x + lib0(x);\n}}')
        return "\n".join(out) + "\n"
class Asm:
    """Functions with several labels, in rooms that are full, with and without .pdata"""
    def __init__(s, i): s.i, s.funs = i, []
    def source(s):
        out = []
        for f in s.funs:
            n, v, labels, pd, comdat, pad, end, inside = f["n"], f["v"], f["labels"], f["pd"], f["comdat"], f["pad"], f["end"], f["inside"]
            if comdat: out.append(f'.section .text,"xr",{comdat},as{n}')
            else: out.append(".text\n.p2align 4")
            out.append(f".globl as{n}")
            for l in labels: out.append(f".globl as{n}{l}")
            if pd: out.append(f".seh_proc as{n}")
            for l in labels[:len(labels) // 2]: out.append(f"as{n}{l}:")
            out.append(f"as{n}:")
            for l in labels[len(labels) // 2:]: out.append(f"as{n}{l}:")
            if pd: out.append("subq $40, %rsp\n.seh_stackalloc 40\n.seh_endprologue")
            out.append(f"leal {v}(%ecx), %eax")
            if inside and not pd: out.append(f".globl in{n}\nin{n}: xorl ${v % 77}, %eax")
            if pd: out.append("addq $40, %rsp")
            out.append("ret")
            if pad: out.append(f".p2align 7, 0x90")
            if end: out.append(f".globl end{n}\nend{n}:")
            if pd: out.append(".seh_endproc")
        return "\n".join(out) + "\n"
class Program:
    def __init__(s):
        s.cpp = [Cpp(i) for i in range(FILES)]; s.asm = [Asm(i) for i in range(ASM)]; s.next = 0; s.odr = rng.random() < .5; s.used = []
        for f in s.cpp:
            for _ in range(3): s.add(f)
        for a in s.asm:
            for _ in range(2): s.addasm(a)
    def fresh(s): s.next += 1; return s.next
    def add(s, f):
        r = rng.random()
        shared = [(g, i) for g in s.cpp for i in g.items if i.kind in ("inl", "sel", "tpl", "ivar", "class") and g is not f and all(j.n != i.n for j in f.items)]
        if r < .35 and shared:
            g, i = rng.choice(shared); j = Item(i.kind, i.n, rng); j.v, j.extra = i.v, i.extra
            if rng.random() < .15: j.v += 1
        elif r < .42 and s.used: j = Item(rng.choice(KINDS), rng.choice(s.used), rng)
        else: j = Item(rng.choice(KINDS), s.fresh(), rng)
        if any(i.n == j.n for i in f.items): return "nothing"
        f.items.insert(rng.randrange(len(f.items) + 1), j); return "+" + j.kind
    def addasm(s, a):
        n = s.fresh()
        a.funs.insert(rng.randrange(len(a.funs) + 1), dict(n=n, v=rng.randrange(1 << 20), labels=rng.choice(["", "a", "ab", "abc"]), pd=rng.random() < .4, comdat=rng.choice([None, None, "discard", "largest", "one_only", "same_size"]), pad=rng.random() < .5, end=rng.random() < .4, inside=rng.random() < .3))
        return "+asm"
    def asmnames(s, a): return [f"as{f['n']}{l}" for f in a.funs for l in ("", *f["labels"])] + [f"in{f['n']}" for f in a.funs if f["inside"] and not f["pd"]]
    def asmdecls(s): return [f'extern "C" int {n}(int);' for a in s.asm for n in s.asmnames(a)]
    def names(s, but=None): return [n for f in s.cpp if f is not but for i in f.items for n in i.names()]
    def prune(s):
        """Calls of what is gone go, mostly"""
        known = set(s.names()) | {n for a in s.asm for n in s.asmnames(a)}
        touched = set()
        for f in s.cpp:
            keep = [c for c in f.calls if re.match(r"(\w+)", c)[1] in known or c.startswith("lib") or (rng.random() < .1)]
            if keep != f.calls: f.calls = keep; touched.add(f)
        return touched
    def edit(s):
        f = rng.choice(s.cpp); a = rng.choice(s.asm); r = rng.random(); touched = set()
        if r < .25: return s.add(f), {f}
        if r < .45 and f.items:
            i = f.items.pop(rng.randrange(len(f.items))); s.used.append(i.n); return "-" + i.kind, {f} | s.prune()
        if r < .52 and f.items:
            i = rng.choice(f.items); i.v = rng.randrange(1, 1 << 20); return "value " + i.kind, {f}
        if r < .57 and f.items:
            i = rng.choice(f.items); i.extra = rng.randrange(1, 5); return "size " + i.kind, {f}
        if r < .62 and f.items:
            g = rng.choice(s.cpp); i = f.items.pop(rng.randrange(len(f.items)))
            if g is not f and all(j.n != i.n for j in g.items): g.items.append(i)
            return "move " + i.kind, {f, g} | s.prune()
        if r < .66 and f.items:
            i = rng.choice(f.items); i.kind = rng.choice(KINDS); return "kind " + i.kind, {f} | s.prune()
        if r < .69: f.lines = rng.randrange(4); return "lines", {f}
        if r < .78:
            names = s.names() + [n for b in s.asm for n in s.asmnames(b)]
            if names: f.calls.append(f"{rng.choice(names)}(x)")
            if len(f.calls) > 5: f.calls.pop(0)
            return "call", {f}
        if r < .80 and len(f.items) > 1: rng.shuffle(f.items); return "order", {f}
        if r < .85: return s.addasm(a), {a}
        if r < .90 and a.funs: a.funs.pop(rng.randrange(len(a.funs))); return "-asm", {a} | s.prune()
        if a.funs:
            x = rng.choice(a.funs); k = rng.choice(["v", "labels", "pd", "comdat", "pad", "end", "inside"])
            x[k] = {"v": lambda: rng.randrange(1 << 20), "labels": lambda: rng.choice(["", "a", "b", "ab", "ba", "abc"]), "comdat": lambda: rng.choice([None, "discard", "largest", "same_size"])}.get(k, lambda: not x[k])()
            return "asm " + k, {a} | s.prune()
        return "nothing", set()
place = Path(tempfile.mkdtemp(prefix="coff-nine-"))
print(place, flush=True)
CC = ["clang-22", "--target=x86_64-pc-windows-msvc", "-c", "-g", "-gcodeview", "-ffreestanding", "-fno-threadsafe-statics", "-w", "-Wno-everything"]
prog = Program()
def compile_(o):
    if isinstance(o, Cpp):
        (place / f"c{o.i}.cpp").write_text(o.source(prog))
        r = subprocess.run([*CC, A.opt, "-std=c++17", "-fno-rtti", "-fno-exceptions", f"c{o.i}.cpp", "-o", f"c{o.i}.new"], cwd=place, capture_output=True, text=True)
        name = f"c{o.i}"
    else:
        (place / f"s{o.i}.s").write_text(o.source())
        r = subprocess.run(["clang-22", "--target=x86_64-pc-windows-msvc", "-c", f"s{o.i}.s", "-o", f"s{o.i}.new"], cwd=place, capture_output=True, text=True)
        name = f"s{o.i}"
    if r.returncode: return r.stderr
    (place / f"{name}.new").rename(place / f"{name}.obj")
def sh(*c): subprocess.run(c, cwd=place, check=True)
(place / "k.def").write_text("LIBRARY KERNEL32.dll\nEXPORTS\n GetStdHandle\n WriteFile\n ExitProcess\n")
weld = str(Path(A.weld).resolve())
sh(weld, "-flavor", "link", "/lib", "/machine:x64", "/def:k.def", "/out:kernel32.lib")
(place / "m.cpp").write_text('extern "C" int lib0(int x) { return x * 77; }\n'); sh(*CC, "-O0", "m.cpp", "-o", "m.obj"); sh(weld, "-flavor", "link", "/lib", "m.obj", "/out:m.lib")
(place / "main.cpp").write_text(MAIN.replace("DECLS", "".join(f"int run{i}(int);" for i in range(FILES))).replace("CALLS", "".join(f'put("run{i}", run{i}({i + 3}));' for i in range(FILES))))
sh(*CC, "-O1", "-Wno-everything", "main.cpp", "-o", "main.obj")
for o in prog.cpp + prog.asm:
    e = compile_(o)
    if e: print(e)
state = place / ".out.exe.weld"
def link(mode):
    r = subprocess.run([weld, *LINK, mode], cwd=place, capture_output=True, text=True)
    return r.returncode, (r.stdout + r.stderr)
def log():
    return (state / "log").read_text().splitlines()[-1][20:]
env = os.environ | {"WINEPREFIX": str(Path.home() / ".cache/weld/objs/wine"), "WINEDEBUG": "-all"}
def run(exe):
    r = subprocess.run(["/usr/lib/wine/wine64", exe], cwd=place, env=env, capture_output=True, timeout=120)
    return r.returncode, r.stdout
def out(): return [(place / n).read_bytes() for n in ("out.exe", "out.pdb")]
stats, reasons = collections.Counter(), collections.Counter()
def fail(step, what, text):
    d = place / "failed"; shutil.rmtree(d, ignore_errors=True); d.mkdir()
    print(f"FAIL seed {A.seed} step {step} ({what}): {text}\n in {place}", flush=True); sys.exit(1)
print(link("/incremental")); edited = False; ran = 0; errors = 0
for step in range(A.count):
    saved = {p.name: p.read_bytes() for p in place.glob("[cs]?.obj")}
    import copy
    backup = copy.deepcopy(prog)
    what, todo = [], set()
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        w, t = prog.edit(); what.append(w); todo |= t
    what = ", ".join(what)
    for o in prog.cpp + prog.asm:
        if o not in todo: continue
        e = compile_(o)
        if e: break
    else: e = None
    def restore():
        global prog
        for n, b in saved.items(): (place / n).write_bytes(b)
        prog = backup
    if e: restore(); stats["no compile"] += 1; continue
    time.sleep(.03)
    verify = rng.random() < .25
    code, said = link("/incremental:verify" if verify else "/incremental")
    if "panicked" in said: fail(step, what, said)
    how = log() if state.exists() else "?"
    if not how.startswith("relinked") and not how.startswith("full link") : 
        # verify's remarks
        lines = (state / "log").read_text().splitlines()
        if "makes another" in how: fail(step, what, how)
    made = out() if not code else None
    kept = place / "kept"; shutil.rmtree(kept, ignore_errors=True)
    if state.exists(): state.rename(kept)
    fcode, fsaid = link("/incremental")
    full = out() if not fcode else None
    shutil.rmtree(state, ignore_errors=True)
    if kept.exists(): kept.rename(state)
    if code != fcode or (said != fsaid and not how.startswith("full link") ): fail(step, what, f"{how}: relink says {code} {said}; full link says {fcode} {fsaid}")
    if code:
        restore(); stats["error"] += 1; 
        shutil.rmtree(state, ignore_errors=True); link("/incremental"); edited = False
        continue
    relinked = how.startswith("relinked")
    stats[re.sub(r" .*", "", what) if "," not in what else "several", "relinked" if relinked else "full"] += 1
    if not relinked: reasons[re.sub(r"\S*/([cs])\d\.obj", r"\1.obj", re.sub(r"refers to \S+|, \S+ has moved|defines \S+|has \S+, of", "", how))] += 1
    edited = relinked and (edited or how.endswith("elsewhere"))
    if not relinked or not edited:
        edited = edited and relinked
        if made != full:
            (place / "relinked.exe").write_bytes(made[0]); (place / "relinked.pdb").write_bytes(made[1]); (place / "full.exe").write_bytes(full[0]); (place / "full.pdb").write_bytes(full[1])
            fail(step, what, f"{how}: not the bytes of a full link")
        continue
    (place / "relinked.exe").write_bytes(made[0]); (place / "relinked.pdb").write_bytes(made[1]); (place / "full.exe").write_bytes(full[0]); (place / "full.pdb").write_bytes(full[1])
    objs = {p.name: semcmp.Obj(p) for p in place.glob("*.obj")}
    a = semcmp.Image(place / "relinked.exe", place / "relinked.pdb", place); b = semcmp.Image(place / "full.exe", place / "full.pdb", place)
    d = semcmp.compare(a, b, objs) + semcmp.compare_pdb(place / "relinked.pdb", place / "full.pdb")
    if d: fail(step, what, how + ":\n  " + "\n  ".join(d[:8]))
    ran += 1
    if A.wine and ran % A.wine == 0:
        x, y = run("relinked.exe"), run("full.exe")
        x, y = [(c, o.split(b"Unhandled")[0]) for c, o in (x, y)]
        if x != y: fail(step, what, f"{how}: runs otherwise:\n{x}\n{y}")
        stats["run"] += 1
    # told
    code, said = link("/incremental:verify")
    if code or said: fail(step, what, f"{how}: verify says {said} {(state / 'log').read_text().splitlines()[-1]}")
for k, v in sorted(stats.items(), key=str): print(k, v)
for k, v in reasons.most_common(20): print(" ", v, "x", k)
if not A.keep: shutil.rmtree(place)
