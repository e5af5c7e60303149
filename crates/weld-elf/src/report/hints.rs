//! Why a symbol may be undefined.
//!
//! A misspelling; a library that was not named; a class without its key function; a definition that
//! is there but cannot be taken. The lists name what programmers meet: they need not be complete.

use std::collections::{HashMap, HashSet};

use weld_common::par;
use weld_common::suggest::suggest;
use weld_common::text;

use super::undefined::Undefined;
use crate::elf::*;
use crate::ids::*;
use crate::input::shared::Shared;
use crate::symbol_names::symver::plain;
use crate::symbol_names::{Entry, Rank, flag};
use crate::wording::place;

/// What starts the names of a library, and what to do about it.
const PREFIXES: &[(&str, &str)] = &[
    ("_ZNSt3__1", "is -lc++ missing (link with clang++ -stdlib=libc++)?"),
    ("_ZNKSt3__1", "is -lc++ missing (link with clang++ -stdlib=libc++)?"),
    ("_ZSt", CXX),
    ("_ZNSt", CXX),
    ("_ZNKSt", CXX),
    ("_ZTVSt", CXX),
    ("_ZTISt", CXX),
    ("_ZTVN10__cxxabiv1", CXX),
    ("_ZTIN10__cxxabiv1", CXX),
    ("_Znw", CXX),
    ("_Zna", CXX),
    ("_Zdl", CXX),
    ("_Zda", CXX),
    ("__cxa_", CXX),
    ("__gxx_personality", CXX),
    ("_Unwind_", "is -lgcc_s or -lgcc_eh missing (link with the compiler)?"),
    ("pthread_", "is -pthread missing?"),
    ("sem_", "is -pthread missing?"),
    ("dl_iterate_phdr", "is -ldl missing?"),
    ("mq_", "is -lrt missing?"),
    ("timer_", "is -lrt missing?"),
    ("GOMP_", "is -fopenmp missing?"),
    ("omp_", "is -fopenmp missing?"),
    ("__kmpc_", "is -fopenmp missing?"),
    ("_gfortran_", "is -lgfortran missing (link with gfortran)?"),
    ("__atomic_", "is -latomic missing?"),
    ("__asan_", "is -fsanitize=address missing?"),
    ("__tsan_", "is -fsanitize=thread missing?"),
    ("__msan_", "is -fsanitize=memory missing?"),
    ("__ubsan_", "is -fsanitize=undefined missing?"),
    ("__gcov_", "is --coverage missing?"),
    ("__llvm_profile_", "is -fprofile-instr-generate missing?"),
];

const CXX: &str = "is -lstdc++ missing (link with g++ or clang++)?";

/// Functions of small libraries. `f` and `l` at the end (`sinf`, `sinl`) are understood for the first.
const FUNCTIONS: &[(&str, &[&str])] = &[
    (
        "is -lm missing?",
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "cbrt",
            "ceil",
            "cos",
            "cosh",
            "erf",
            "erfc",
            "exp",
            "exp10",
            "exp2",
            "expm1",
            "fabs",
            "fdim",
            "floor",
            "fma",
            "fmax",
            "fmin",
            "fmod",
            "hypot",
            "ilogb",
            "lgamma",
            "llrint",
            "llround",
            "log",
            "log10",
            "log1p",
            "log2",
            "logb",
            "lrint",
            "lround",
            "modf",
            "nearbyint",
            "nextafter",
            "pow",
            "remainder",
            "remquo",
            "rint",
            "round",
            "sin",
            "sincos",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
            "tgamma",
            "trunc",
            "cexp",
            "clog",
            "cpow",
            "csqrt",
            "cabs",
            "carg",
        ],
    ),
    ("is -ldl missing?", &["dlopen", "dlsym", "dlclose", "dlerror", "dladdr", "dlvsym", "dlmopen", "dlinfo"]),
    (
        "is -lrt missing?",
        &["shm_open", "shm_unlink", "clock_gettime", "clock_nanosleep", "aio_read", "aio_write"],
    ),
    ("is -lcrypt missing?", &["crypt", "crypt_r"]),
    ("is -lutil missing?", &["openpty", "forkpty", "login_tty"]),
    (
        "is -lgcc missing (link with the compiler)?",
        &["__udivti3", "__umodti3", "__divti3", "__modti3", "__multi3", "__popcountdi2", "__cpu_model"],
    ),
    (
        "TLS code in a form that no linker rewrites calls it, and a static glibc has none; link dynamically?",
        &["__tls_get_addr"],
    ),
    ("a program needs a function main; is its object missing, or is -shared?", &["main"]),
];

/// What may not have been written or not be linked, judged by the name alone.
pub fn missing(name: &[u8]) -> Option<String> {
    let name = plain(name);
    if let Some(library) = library(name) {
        return Some(library.to_owned());
    }
    let text = "the vtable symbol may be undefined because the class is missing its key function: its first \
                virtual member function that is neither pure nor inline has no definition";
    name.starts_with(b"_ZTV").then(|| text.to_owned())
}

/// Definitions that exist and cannot be used.
pub fn out_of_reach(undefined: &Undefined, entry: &Entry, elsewhere: &Elsewhere) -> Vec<String> {
    let mut notes = Vec::new();
    let resolved = undefined.resolved;
    let restricted = entry.flags & flag::INSIDE != 0;
    if entry.rank() == Rank::Provided && entry.flags & flag::DEF_SHARED != 0 && restricted {
        let index = resolved.index_of_file[entry.file().index()];
        if let Some(dso) = resolved.shared.get(index as usize).filter(|d| d.file == entry.file()) {
            notes.push(format!(
                "{} defines it, but the declaration's visibility asks for a definition in this output",
                dso.name
            ));
        }
        return notes;
    }
    notes.extend(elsewhere.libraries.get(entry.name).into_iter().flatten().cloned());
    if let Some(id) = elsewhere.locals.get(entry.name) {
        let name = &resolved.objects[id.index()].name;
        notes.push(format!("{name} defines it, but only for itself (static)"));
    }
    notes
}

/// Definitions of undefined names that are not for others. Every input is looked through once, for all
/// names that are asked for.
pub struct Elsewhere<'n> {
    /// The first object that defines a name as a local symbol.
    locals: HashMap<&'n [u8], ObjectId>,
    /// What shared objects have, in their order.
    libraries: HashMap<&'n [u8], Vec<String>>,
}

impl<'n> Elsewhere<'n> {
    pub fn look(undefined: &Undefined, names: &[&'n [u8]]) -> Elsewhere<'n> {
        let locals = local_definitions(undefined, names.to_vec());
        let mut libraries: HashMap<&[u8], Vec<String>> = HashMap::new();
        if names.is_empty() {
            return Elsewhere { locals, libraries };
        }
        let spelled: HashSet<&[u8]> = names.iter().copied().collect();
        let plain_names: HashSet<&[u8]> = names.iter().map(|name| plain(name)).collect();
        for dso in &undefined.resolved.shared {
            let versions = versions_in(dso, &plain_names);
            let inside = defined_inside(dso, &spelled);
            for name in &spelled {
                let note = if let Some(list) = versions.get(plain(name)) {
                    format!("{} defines only {}", dso.name, list.join(", "))
                } else if inside.contains(name) {
                    format!("{} defines it, but does not export it (hidden)", dso.name)
                } else {
                    continue;
                };
                libraries.entry(name).or_default().push(note);
            }
        }
        Elsewhere { locals, libraries }
    }
}

fn local_definitions<'n>(undefined: &Undefined, names: Vec<&'n [u8]>) -> HashMap<&'n [u8], ObjectId> {
    // In a link that goes well, local symbols are not looked at.
    if names.is_empty() {
        return HashMap::new();
    }
    let wanted: HashSet<&[u8]> = names.iter().copied().collect();
    let objects = &undefined.resolved.objects;
    let search = |object: usize| -> Vec<u32> {
        let object = &objects[object];
        let local = 1..object.first_global;
        let found = |i: &u32| {
            let name = object.symbol_name(*i);
            !name.is_empty() && wanted.contains(name) && place::section_of(object, *i).is_some()
        };
        local.filter(found).collect()
    };
    let lists = par::map(undefined.parallel, objects.len(), search);
    let mut first: HashMap<&[u8], ObjectId> = HashMap::new();
    for (o, list) in lists.iter().enumerate() {
        for &i in list {
            first.entry(objects[o].symbol_name(i)).or_insert(ObjectId(o as u32));
        }
    }
    names.into_iter().filter_map(|n| first.get(n).map(|id| (n, *id))).collect()
}

/// `name@VERSION` of each definition of the names that are wanted.
fn versions_in<'d>(dso: &Shared<'d>, wanted: &HashSet<&[u8]>) -> HashMap<&'d [u8], Vec<String>> {
    let mut found: HashMap<&[u8], Vec<String>> = HashMap::new();
    for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
        let name = dso.symbol_name(i as u32);
        if symbol.st_shndx() == SHN_UNDEF || !wanted.contains(name) {
            continue;
        }
        if let Some(version) = dso.version_name(i as u32) {
            found.entry(name).or_default().push(format!("{}@{}", text::text(name), text::text(version)));
        }
    }
    found
}

/// The wanted names that a library's full symbol table, if it has one, defines. Names that it exports need
/// no hint.
fn defined_inside<'d>(dso: &Shared<'d>, wanted: &HashSet<&[u8]>) -> HashSet<&'d [u8]> {
    let Some(shdr) = dso.shdrs.iter().find(|s| s.sh_type() == SHT_SYMTAB) else { return HashSet::new() };
    let strings = dso.shdrs.get(shdr.sh_link() as usize);
    let strings = strings.and_then(|s| slice(dso.data, s.sh_offset(), s.sh_size())).unwrap_or(&[]);
    let count = shdr.sh_size() / dso.format.size::<Sym>();
    let syms = records::<Sym>(dso.data, dso.format, shdr.sh_offset(), count).unwrap_or_default();
    let ours = |s: &&Sym| matches!(s.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC | STT_TLS);
    let here = syms.iter().filter(ours).filter(|s| s.st_shndx() != SHN_UNDEF);
    here.filter_map(|s| string(strings, s.st_name())).filter(|name| wanted.contains(name)).collect()
}

/// The library that a well-known name belongs to.
fn library(name: &[u8]) -> Option<&'static str> {
    let name = std::str::from_utf8(name).ok()?;
    for (hint, functions) in FUNCTIONS {
        let base = if *hint == FUNCTIONS[0].0 { name.strip_suffix(['f', 'l']).unwrap_or(name) } else { name };
        if functions.contains(&name) || functions.contains(&base) {
            return Some(hint);
        }
    }
    PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|p| p.1)
}

/// A defined name that may have been meant.
pub fn similar(undefined: &Undefined, entry: &Entry) -> Option<String> {
    let defined = undefined
        .resolved
        .names
        .iter()
        .filter(|(i, e)| e.rank() < Rank::Undefined && !undefined.symbols[*i].is_undefined());
    let found = suggest(entry.name, defined.map(|(_, e)| e.name))?;
    Some(format!("did you mean: {found}"))
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn well_known_names() {
        let check =
            |name: &str, part: &str| assert!(library(name.as_bytes()).unwrap().contains(part), "{name}");
        check("sin", "-lm");
        check("sinf", "-lm");
        check("lgammal", "-lm");
        check("dlopen", "-ldl");
        check("_ZSt4cout", "-lstdc++");
        check("_ZNSt3__14coutE", "-lc++");
        check("pthread_create", "-pthread");
        check("main", "-shared");
        assert_eq!(library(b"dlopenf"), None);
        assert_eq!(library(b"sing"), None);
        assert_eq!(library(b"foo"), None);
    }
}
