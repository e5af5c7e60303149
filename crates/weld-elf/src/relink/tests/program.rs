//! Programs that are edited: a description, from which objects are made.

use std::ffi::OsString;
use std::path::Path;

use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol, SymbolId};

#[derive(Clone)]
pub struct Program {
    pub units: Vec<Unit>,
    /// Members of an archive.
    pub library: Vec<Unit>,
    /// The archive has no index of symbols.
    pub without_index: bool,
    /// Arguments in front of the objects.
    pub first_flags: Vec<&'static str>,
}

#[derive(Clone, Default)]
pub struct Unit {
    pub functions: Vec<Function>,
    pub strings: Vec<String>,
    pub data: Vec<u8>,
    pub debug: Vec<u8>,
    pub frames: bool,
    /// Functions share a section, if no group has them.
    pub shares: bool,
}

#[derive(Clone)]
pub struct Function {
    pub name: String,
    /// Bytes of no meaning.
    pub code: Vec<u8>,
    pub refs: Vec<Ref>,
    pub weak: bool,
    pub comdat: bool,
    pub seen: Seen,
}

/// Who sees a name: all, other objects of the link, or its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    ByAll,
    InLink,
    ByItself,
}

#[derive(Clone)]
pub enum Ref {
    Call(String),
    /// By its slot; whether the instruction can do without.
    Slot(String, bool),
    String(usize),
    /// A pointer in data.
    Pointer(String),
    Local,
}

/// Bytes that no instruction of a relocation begins with, so that they mean nothing to anybody.
pub fn bytes(rng: &mut Rng, size: usize) -> Vec<u8> {
    (0..size).map(|_| rng.below(256) as u8).collect()
}

impl Program {
    pub fn new(units: usize, seed: u64) -> Program {
        let mut rng = Rng::new(seed);
        let mut all: Vec<Unit> = (0..=units).map(|unit| Unit::new(unit, units, &mut rng)).collect();
        let mut library = vec![all.pop().unwrap_or_default()];
        // What nobody wants.
        library.push(Unit::new(units + 1, units, &mut rng));
        Program { units: all, library, without_index: false, first_flags: Vec::new() }
    }

    /// The paths of its objects, after the first flags.
    pub fn names(&self, dir: &Path) -> Vec<OsString> {
        let mut args: Vec<OsString> = self.first_flags.iter().map(OsString::from).collect();
        args.extend((0..self.units.len()).map(|i| dir.join(format!("{i}.o")).into()));
        args.push(dir.join("lib.a").into());
        args
    }

    /// With one more member in the archive.
    pub fn with_member(mut self) -> Program {
        self.library.push(Unit::new(9, 2, &mut Rng::new(5)));
        self
    }

    /// Writes its objects. Returns them as arguments.
    pub fn write(&self, dir: &Path) -> Vec<OsString> {
        let put = |name: &str, bytes: &[u8]| {
            let path = dir.join(name);
            // A compiler writes its object whenever it runs; make does not run it without a reason.
            if std::fs::read(&path).ok().as_deref() != Some(bytes) {
                std::fs::write(&path, bytes).unwrap();
            }
        };
        (0..).zip(&self.units).for_each(|(i, unit): (usize, _)| put(&format!("{i}.o"), &unit.object()));
        let mut archive = Archive::new(ArchiveKind::Gnu);
        if self.without_index {
            archive = archive.without_index();
        }
        for (i, unit) in self.library.iter().enumerate() {
            let names: Vec<&str> = unit.functions.iter().map(|function| &*function.name).collect();
            archive = archive.member(&format!("{i}.o"), &unit.object(), &names);
        }
        put("lib.a", &archive.build());
        self.names(dir)
    }

    /// Writes its objects. Returns all arguments, in order.
    pub fn args(&self, dir: &Path, more: &[&str]) -> Vec<OsString> {
        let mut args = self.write(dir);
        args.extend(["-o".into(), dir.join("out").into()]);
        args.extend(more.iter().map(OsString::from));
        args
    }
}

impl Unit {
    fn new(number: usize, units: usize, rng: &mut Rng) -> Unit {
        let function = |i: usize, rng: &mut Rng| {
            let size = 8 + rng.below(40);
            let mut target = || format!("f{}_{}", rng.below(units + 1), rng.below(3));
            let refs = vec![
                Ref::Call(target()),
                Ref::Slot(target(), i.is_multiple_of(2)),
                Ref::String(i),
                Ref::Pointer(target()),
                Ref::Call(format!("shared{i}")),
                Ref::Local,
            ];
            Function {
                name: format!("f{number}_{i}"),
                code: bytes(rng, size),
                refs,
                weak: i == 2,
                comdat: false,
                seen: Seen::ByAll,
            }
        };
        let mut functions: Vec<Function> = (0..3).map(|i| function(i, rng)).collect();
        for i in 0..3 {
            // The same in all, but for the archive's.
            let code = vec![0xcc; 8 + i];
            functions.push(Function {
                name: format!("shared{i}"),
                code,
                refs: Vec::new(),
                weak: true,
                comdat: true,
                seen: Seen::ByAll,
            });
        }
        if number == 0 {
            functions[0].name = "_start".into();
            let mut alias = functions[1].clone();
            alias.name = "f0_0".into();
            functions.push(alias);
        }
        Unit {
            functions,
            strings: ["both", "one", "more"].map(|text| format!("{text}{}", number % 2)).to_vec(),
            data: bytes(rng, 20),
            debug: bytes(rng, 60),
            frames: true,
            shares: !number.is_multiple_of(2),
        }
    }

    fn object(&self) -> Vec<u8> {
        let mut obj = Obj::new();
        obj.section(Section::strings(".comment", 1).bytes(b"compiled\0"));
        let all: Vec<u8> = self.strings.iter().flat_map(|text| text.bytes().chain([0])).collect();
        let section = obj.section(Section::strings(".rodata.str1.1", 1).bytes(&all));
        let mut strings = Vec::new();
        for i in 0..self.strings.len() {
            let before = self.strings[..i].iter().map(|text| text.len() as u64 + 1).sum();
            strings.push(obj.symbol(Symbol::local(format!(".L{i}")).at(section, before)));
        }
        let pointers: usize = self.functions.iter().flat_map(|f| &f.refs).map(Ref::pointers).sum();
        let data = [
            self.data.clone(),
            vec![0; self.data.len().next_multiple_of(8) - self.data.len() + 8 * pointers],
        ];
        let mut next_pointer = self.data.len().next_multiple_of(8) as u64;
        let data = obj.section(Section::data(".data").bytes(&data.concat()).align(8));
        let local = obj.section_symbol(data);
        let unit = [&(self.debug.len() as u32).to_le_bytes()[..], &self.debug].concat();
        let debug = obj.section(Section::debug(".debug_info").bytes(&unit));
        // As assemblers have it for AArch64.
        obj.symbol(Symbol::local("$d").at(debug, 0));
        let mut known: Vec<(String, _)> = Vec::new();
        let (mut bodies, mut shared) = (Vec::new(), None);
        for function in &self.functions {
            let code = function.bytes();
            let shares = self.shares && !function.comdat;
            let (text, at) = match shared.filter(|_| shares) {
                Some((text, start)) => {
                    shared = Some((text, start + code.len() as u64));
                    (text, start)
                }
                None if shares => {
                    let text = obj.section(Section::text(".text").bytes(&self.shared()).align(16));
                    shared = Some((text, code.len() as u64));
                    (text, 0)
                }
                None => {
                    let name = format!(".text.{}", function.name);
                    (obj.section(Section::text(name).bytes(&code).align(16)), 0)
                }
            };
            let size = code.len() as u64;
            let symbol = match function.weak {
                _ if function.seen == Seen::ByItself => Symbol::local(&function.name),
                true => Symbol::weak(&function.name),
                false => Symbol::global(&function.name),
            };
            let symbol = symbol.function().at(text, at).size(size);
            let symbol = if function.seen == Seen::InLink { symbol.hidden() } else { symbol };
            let symbol = obj.symbol(symbol);
            if function.comdat {
                obj.comdat(symbol, &[text]);
            }
            known.push((function.name.clone(), symbol));
            bodies.push((text, at));
        }
        if self.frames {
            self.add_frames(&mut obj, &known);
        }
        for (function, (text, start)) in self.functions.iter().zip(bodies) {
            let mut at = start + function.code.len() as u64;
            for reference in &function.refs {
                let mut symbol = |name: &String| match known.iter().find(|(known, _)| known == name) {
                    Some((_, symbol)) => *symbol,
                    None => {
                        let symbol = obj.symbol(Symbol::undefined(name));
                        known.push((name.clone(), symbol));
                        symbol
                    }
                };
                match reference {
                    Ref::Call(name) => {
                        let symbol = symbol(name);
                        obj.reloc(text, at + 1, R_X86_64_PLT32, symbol, -4);
                    }
                    Ref::Slot(name, relaxable) => {
                        let kind = if *relaxable { R_X86_64_REX_GOTPCRELX } else { R_X86_64_GOTPCREL };
                        let symbol = symbol(name);
                        obj.reloc(text, at + 3, kind, symbol, -4);
                    }
                    Ref::String(i) => {
                        obj.reloc(text, at + 3, R_X86_64_PC32, strings[i % strings.len()], -4);
                    }
                    Ref::Pointer(name) => {
                        let symbol = symbol(name);
                        obj.reloc(data, next_pointer, R_X86_64_64, symbol, 0);
                        next_pointer += 8;
                    }
                    Ref::Local => obj.reloc(text, at + 3, R_X86_64_PC32, local, 0),
                }
                at += reference.instruction().len() as u64;
            }
        }
        if let Some((_, first)) = known.first() {
            obj.reloc(debug, 8, R_X86_64_64, *first, 1);
        }
        obj.build()
    }

    /// The functions that share a section.
    fn shared(&self) -> Vec<u8> {
        self.functions.iter().filter(|function| !function.comdat).flat_map(Function::bytes).collect()
    }

    /// Adds frames of all functions, in whose order `symbols` are. Those of long ones have longer operations.
    fn add_frames(&self, obj: &mut Obj, symbols: &[(String, SymbolId)]) {
        // A CIE that says that functions are known by their distance.
        let mut bytes = vec![16, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0];
        let mut places = Vec::new();
        for function in &self.functions {
            let size = function.size() as u8;
            let start = bytes.len();
            bytes.extend([0; 4]);
            bytes.extend((start as u32 + 4).to_le_bytes());
            places.push(bytes.len() as u64);
            bytes.extend([0, 0, 0, 0, size, 0, 0, 0, 0]);
            match size {
                0..64 => bytes.push(0x40 | size),
                _ => bytes.extend([2, size]),
            }
            bytes.extend([14, 16]);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let length = (bytes.len() - start - 4) as u32;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        let section = obj.section(Section::rodata(".eh_frame").bytes(&bytes).align(8));
        for (place, (_, symbol)) in places.into_iter().zip(symbols) {
            obj.reloc(section, place, R_X86_64_PC32, *symbol, 0);
        }
    }
}

impl Function {
    fn bytes(&self) -> Vec<u8> {
        let mut code = self.code.clone();
        self.refs.iter().for_each(|reference| code.extend_from_slice(reference.instruction()));
        code.push(0xc3);
        code
    }

    /// Of its code, in bytes.
    fn size(&self) -> usize {
        let references: usize = self.refs.iter().map(|reference| reference.instruction().len()).sum();
        self.code.len() + references + 1
    }
}

impl Ref {
    fn pointers(&self) -> usize {
        usize::from(matches!(self, Ref::Pointer(_)))
    }

    fn instruction(&self) -> &'static [u8] {
        match self {
            Ref::Call(_) => &[0xe8, 0, 0, 0, 0],
            Ref::Slot(_, true) => &[0x48, 0x8b, 5, 0, 0, 0, 0],
            // A comparison needs the slot.
            Ref::Slot(_, false) => &[0x48, 0x3b, 5, 0, 0, 0, 0],
            Ref::String(_) | Ref::Local => &[0x48, 0x8d, 5, 0, 0, 0, 0],
            Ref::Pointer(_) => &[0x90],
        }
    }
}
