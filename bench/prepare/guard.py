"""The links that `bench/guard` counts: small, made in half a minute, the same wherever they are made.

They lie below `~/.cache/weld/guard/`, each under a name that ends in a hash of what makes it: the code
of `bench/prepare` and the versions of the compilers. So a new compiler makes new inputs, and the ledger
notices by their digest.
"""

import hashlib
import random

from . import captured, generated
from .common import BENCH, CACHE, REPOSITORY, Workload, run

PLACE = CACHE / "guard"


def hello(workload):
    """C hello world as gcc links it: PIE, dynamic."""
    captured.hello(workload)


def cpp_debug(workload):
    """320 C++ objects of a debug build, made from 8 units."""
    generated.cpp_debug(workload, 320, 8)


def rust_debug(workload):
    """A Rust program of 40 modules, as rustc links it for a debug build, with the standard library."""
    source = workload.build / "program.rs"
    source.write_text(rust_program(40))
    workload.capture("rustc", *captured.RUSTC_CAPTURE, "-g", "-Ccodegen-units=16", f"--remap-path-prefix={workload.build}=.",
                     source, "-o", workload.build / "program", cwd=REPOSITORY)
    workload.expect_output()


def shared_library(workload):
    """A shared library that exports 20 000 symbols."""
    generated.so_100k(workload, 20_000, 8)


LINKS = {"hello": hello, "cpp-debug": cpp_debug, "rust-debug": rust_debug, "shared-library": shared_library}


def prepared(name):
    """The directory of the link `name`, made first if it is not there."""
    directory = PLACE / f"{name}-{recipe()}"
    if not (directory / "about.json").exists():
        workload = Workload(directory.name, LINKS[name].__doc__.strip(), PLACE)
        LINKS[name](workload)
        workload.finish()
    return directory


def recipe():
    """A hash of what makes the inputs."""
    digest = hashlib.sha256()
    for source in sorted([*(BENCH / "prepare").glob("*.py"), BENCH / "capture.py"]):
        digest.update(source.read_bytes())
    for compiler in ("gcc", "clang-22", "rustc"):
        digest.update(run(compiler, "--version", cwd=REPOSITORY, capture_output=True).encode())
    return digest.hexdigest()[:12]


def inputs(directory):
    """How many bytes the inputs in `directory` have, and a digest of them, whatever the directories are called."""
    digest, total = hashlib.sha256(), 0
    files = (p for p in (directory / "root", directory / "obj") if p.exists())
    for content in sorted(p.read_bytes() for top in files for p in top.rglob("*") if p.is_file()):
        digest.update(content)
        total += len(content)
    return total, digest.hexdigest()[:12]


def rust_program(modules):
    """Rust source with collections, traits, closures, formatting and generics in each module."""
    rng = random.Random(1)
    text = "".join(f"mod part{number} {{{rust_module(rng, number)}}}\n" for number in range(modules))
    calls = "".join(f"    total = total.wrapping_mul(31).wrapping_add(part{number}::entry({number + 2}));\n"
                    for number in range(modules))
    return f"{text}fn main() {{\n    let mut total = 0u64;\n{calls}    println!(\"{{total}}\");\n}}\n"


def rust_module(rng, number):
    """One module. What it uses of the standard library is instantiated for its own types."""
    shapes = "".join(
        f"    pub struct Shape{i} {{ pub side: u32, pub label: String }}\n"
        f"    impl Area for Shape{i} {{ fn area(&self) -> u64 {{ u64::from(self.side) * {rng.randrange(2, 99)} + self.label.len() as u64 }} }}\n"
        for i in range(rng.randint(2, 6)))
    made = "".join(
        f"        if n % {i + 2} == 0 {{ list.push(Box::new(Shape{i} {{ side: n, label: format!(\"shape {i} of {number}: {{n}}\") }})); }}\n"
        for i in range(shapes.count("pub struct")))
    return f"""
    use std::collections::{{BTreeMap, HashMap, VecDeque}};
    #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Key {{ Number(u32), Text(String), Pair(u8, Box<Key>) }}
    pub trait Area {{ fn area(&self) -> u64; }}
{shapes}
    pub fn entry(count: u32) -> u64 {{
        let mut list: Vec<Box<dyn Area>> = Vec::new();
        for n in 0..count * 3 {{
{made}        }}
        let mut sorted: BTreeMap<Key, u64> = BTreeMap::new();
        let mut hashed: HashMap<Key, VecDeque<u64>> = HashMap::new();
        for (i, shape) in list.iter().enumerate() {{
            let key = if i % 3 == 0 {{ Key::Number(i as u32) }} else if i % 3 == 1 {{ Key::Text(i.to_string()) }} else {{ Key::Pair(7, Box::new(Key::Number(i as u32))) }};
            *sorted.entry(key.clone()).or_default() += shape.area();
            hashed.entry(key).or_default().push_back(shape.area());
        }}
        let text: Vec<String> = sorted.iter().map(|(key, value)| format!("{{key:?}}={{value}}")).collect();
        let most = hashed.values().filter_map(|queue| queue.iter().max()).copied().max().unwrap_or({number});
        text.join(",").bytes().fold(most, |sum, byte| sum.wrapping_mul(33) ^ u64::from(byte))
    }}
"""
