"""Whether two images with PDBs are the same program, whatever lies where. Independent of weld: sections of objects are found by
the PDB's contributions, and references are told by what they lead to."""
import collections, re, struct, subprocess, zlib
from pathlib import Path
u16 = lambda b, a: struct.unpack_from("<H", b, a)[0]
u32 = lambda b, a: struct.unpack_from("<I", b, a)[0]
i32 = lambda b, a: struct.unpack_from("<i", b, a)[0]
u64 = lambda b, a: struct.unpack_from("<Q", b, a)[0]
crc = lambda b: zlib.crc32(b) ^ 0xffffffff

class Obj:
    def __init__(self, path):
        b = Path(path).read_bytes()
        n, sym, nsym = u16(b, 2), u32(b, 8), u32(b, 12)
        self.sections = collections.defaultdict(list)
        for i in range(n):
            h = 20 + 40 * i
            size, at, ra, nr, ch = u32(b, h+16), u32(b, h+20), u32(b, h+24), u16(b, h+32), u32(b, h+36)
            data = b"" if ch & 0x80 else b[at:at+size]
            rel = sorted((u32(b, ra+10*k), u16(b, ra+10*k+8)) for k in range(nr))
            self.sections[crc(data), size].append((tuple(rel), ch, b[h:h+8].rstrip(b"\0")))

SIZES = {1: 8, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4, 7: 4, 8: 4, 9: 4, 10: 2, 11: 4}

class Image:
    def __init__(self, exe, pdb, place):
        self.b = b = Path(exe).read_bytes()
        pe = u32(b, 0x3c); self.opt = opt = pe + 24
        n = u16(b, pe+6); so = opt + u16(b, pe+20)
        self.base = u64(b, opt+24); self.entry = u32(b, opt+16)
        self.secs = [(u32(b, so+40*i+12), u32(b, so+40*i+8), u32(b, so+40*i+16), u32(b, so+40*i+20)) for i in range(n)]
        self.dirs = [(u32(b, opt+112+8*i), u32(b, opt+116+8*i)) for i in range(16)]
        text = subprocess.run(["llvm-pdbutil-22", "dump", "-section-contribs", "-publics", "-modules", pdb], capture_output=True, text=True, check=True).stdout
        mods = dict((int(m[1]), Path(m[2]).name) for m in re.finditer(r"Mod (\d+) \| `([^`]*)`", text))
        self.contribs = []
        pat = re.compile(r"SC\[[^\]]*\]\s*\| mod = (\d+), (\d+):(\d+), size = (\d+), data crc = (\d+), reloc crc = \d+\s+(.*)")
        for m in pat.finditer(text):
            mod, sec, off, size, c = map(int, m.groups()[:5])
            self.contribs.append((self.secs[sec-1][0] + off, size, mods.get(mod, "?"), c))
        assert self.contribs, text[:2000]
        self.contribs.sort()
        self.publics = {}
        for m in re.finditer(r"S_PUB32 \[size = \d+\] `([^`]*)`\s+flags = (.*), addr = (\d+):(\d+)", text):
            self.publics[m[1]] = self.secs[int(m[3])-1][0] + int(m[4])
        self.at = collections.defaultdict(list)
        # Ends of functions may be where others begin.
        self.ends = {n: r - self.publics.get("as" + n[3:], 0) for n, r in self.publics.items() if re.fullmatch(r"end\d+", n)}
        for n in self.ends: del self.publics[n]
        for name, rva in self.publics.items(): self.at[rva].append(name)
        self.starts = [c[0] for c in self.contribs]
        self.place = place
    def off(self, rva):
        for va, vs, rs, ra in self.secs:
            if va <= rva < va + max(vs, rs): return ra + rva - va if rva - va < rs else None
        return None
    def ident(self, rva):
        import bisect
        k = bisect.bisect_right(self.starts, rva) - 1
        best = None
        while k >= 0:
            s, size, mod, c = self.contribs[k]
            if s <= rva < s + size: best = (s, size, mod, c); break
            if rva == s + size and size and best is None: best = (s, size, mod, c)
            if rva - s > 0x4000: break
            k -= 1
        names = tuple(sorted(self.at.get(rva, [])))
        if best is None: return ("nowhere", names)
        s, size, mod, c = best
        if mod.startswith("*"): return ("linker", size, rva - s, names)
        return (mod, c, size, rva - s, tuple(sorted(self.at.get(s, []))), names)
    def content(self, objs):
        out = collections.Counter()
        for s, size, mod, c in self.contribs:
            if mod.startswith("*") or mod not in objs or not size: continue
            found = objs[mod].sections.get((c, size))
            if not found:
                # members of libraries, or uninitialised
                continue
            rel, ch, name = found[0]
            if any(f[0] != rel for f in found): 
                if len(set(f[2] for f in found)) == 1 or True: pass
            at = self.off(s)
            if at is None or ch & 0x80:
                out[(mod, c, size, "bss", tuple(sorted(self.at.get(s, []))))] += 1; continue
            if name.startswith(b".pdata"): continue
            data = bytearray(self.b[at:at+size]); ids = []
            for o, t in rel:
                w = SIZES.get(t, 4)
                if t == 1: tgt = u64(data, o) - self.base
                elif t in (3,): tgt = u32(data, o)
                elif 4 <= t <= 9: tgt = (s + o + 4 + (t - 4) + i32(data, o)) & 0xffffffff
                elif t == 2: tgt = (u32(data, o) - self.base) & 0xffffffff
                else: tgt = None
                ids.append((o, t, self.ident(tgt) if tgt is not None else None))
                data[o:o+w] = bytes(w)
            out[(mod, name, size, bytes(data), tuple(ids), tuple(sorted(self.at.get(s, []))))] += 1
        return out
    def pdata(self):
        rva, size = self.dirs[3]; at = self.off(rva) if size else 0
        rows = [struct.unpack_from("<III", self.b, at + 12*i) for i in range(size // 12)]
        assert rows == sorted(rows), "unsorted .pdata"
        return collections.Counter((self.ident(a), b - a, self.ident(c)[:4]) for a, b, c in rows)
    def relocs(self):
        rva, size = self.dirs[5]; out = collections.Counter()
        if not size: return out
        at = self.off(rva); end = at + size
        while at < end:
            page, n = u32(self.b, at), u32(self.b, at+4)
            for k in range((n - 8) // 2):
                e = u16(self.b, at + 8 + 2*k)
                if e >> 12: out[e >> 12, self.ident(page + (e & 0xfff))] += 1
            at += n
        return out
    def exports(self):
        rva, size = self.dirs[0]
        if not size: return {}
        at = self.off(rva); f = lambda k: u32(self.b, at + k)
        n = f(24); out = {}
        for k in range(n):
            name = self.off(u32(self.b, self.off(f(32)) + 4*k)); o = u16(self.b, self.off(f(36)) + 2*k)
            out[self.b[name:self.b.index(0, name)]] = self.ident(u32(self.b, self.off(f(28)) + 4*o))
        return out

def short(c, d):
    r = []
    for k in list((c - d)) [:3]: r.append(f"only relinked: {str(k)[:600]}")
    for k in list((d - c)) [:3]: r.append(f"only full: {str(k)[:600]}")
    return r

def compare(a, b, objs):
    out = []
    pa = {n: a.ident(r) for n, r in a.publics.items()}; pb = {n: b.ident(r) for n, r in b.publics.items()}
    for n in sorted(set(pa) | set(pb)):
        if pa.get(n) != pb.get(n): out.append(f"public {n}: relinked {pa.get(n)}, full {pb.get(n)}")
    if a.ends != b.ends: out.append(f"ends {a.ends} {b.ends}")
    if a.ident(a.entry) != b.ident(b.entry): out.append("entry")
    if a.exports() != b.exports(): out.append(f"exports {a.exports()} {b.exports()}")
    out += ["pdata " + x for x in short(a.pdata(), b.pdata())]
    out += ["relocs " + x for x in short(a.relocs(), b.relocs())]
    out += ["content " + x for x in short(a.content(objs), b.content(objs))]
    return out

def pdb_facts(pdb):
    text = subprocess.run(["llvm-pdbutil-22", "dump", "-types", "-ids", "-symbols", "-globals", pdb], capture_output=True, text=True, check=True).stdout
    types, ids = {}, []
    recs = re.split(r"\n +(?=0x[0-9A-F]+ \| LF_)", text)
    lists = {}
    for r in recs[1:]:
        m = re.match(r"(0x[0-9A-F]+) \| (LF_\w+) \[size = \d+\](?: `(.*)`)?", r)
        if not m: continue
        n, kind, name = m.groups()
        if kind == "LF_FIELDLIST" : lists[n] = re.sub(r"0x[0-9A-F]+", "T", re.sub(r"\[size = \d+\]", "", r.split("\n", 1)[1] if "\n" in r else ""))
        if kind == "LF_UDT_SRC_LINE":
            ids.append(re.search(r"udt = (0x[0-9A-F]+), file = (?:0x)?[0-9A-F]+, line = (\d+)", r).groups())
        if kind in ("LF_STRUCTURE", "LF_CLASS", "LF_UNION", "LF_ENUM") and "forward ref" not in r:
            u = re.search(r"unique name: `(.*)`", r)
            f = re.search(r"field list: (0x[0-9A-F]+)", r)
            types[n] = (u[1] if u else name, re.sub(r"0x[0-9A-F]+", "T", r.split("\n", 1)[1].split("\n\n")[0]), f and f[1])
    by = collections.defaultdict(list)
    for n, (name, t, f) in types.items(): by[name].append((t.strip(), lists.get(f, "")))
    lines = collections.defaultdict(list)
    for udt, line in ids: lines[types.get(udt, (udt,))[0]].append(line)
    syms = re.split(r"\n +\d+ \| ", text)
    plain = (re.sub(r"0x[0-9A-F]+|\[\d+:\d+|start = \S+|addr = \S+|offset = \d+|parent = \d+|end = \d+|\s+", " ", r.split("\n\n")[0]) for r in syms)
    return by, lines, collections.Counter(r for r in plain if r.startswith("S_") and not r.startswith(("S_COFFGROUP", "S_SECTION", "S_UDT", "S_CONSTANT"))), set(re.sub(r"\[size.*?\]|original type = ", "", r) for r in (re.sub(r"0x[0-9A-F]+|\s+", " ", r.split("\n\n")[0]) for r in syms) if r.startswith(("S_UDT", "S_CONSTANT")))

def compare_pdb(a, b):
    (ta, la, sa, ua), (tb, lb, sb, ub) = pdb_facts(a), pdb_facts(b)
    out = []
    for n in tb:
        if sorted(ta.get(n, [])) != sorted(tb[n]): out.append(f"type {n}: relinked {ta.get(n)} full {tb[n]}"[:1500])
    for n in lb:
        if sorted(la.get(n, [])) != sorted(lb[n]): out.append(f"lines of {n}: relinked {la.get(n)} full {lb[n]}")
    out += ["symbols " + x for x in short(sa, sb)]
    if ub - ua: out.append(f"S_UDT {list(ub - ua)[:3]}")
    more = [u for u in ua - ub if re.search(r"`(.*?)`", u) and any(re.search(r"`(.*?)`", v)[1] == re.search(r"`(.*?)`", u)[1] for v in ub)]
    if more: out.append(f"S_UDT twice {more[:3]}")
    return out
