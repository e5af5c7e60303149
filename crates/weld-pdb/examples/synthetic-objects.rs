//! Writes COFF objects with as much CodeView, and as alike, as those of a large game: for measurements.
//!
//!     synthetic-objects DIRECTORY COUNT
//!
//! Each object has 84 000 type records of 52 bytes on average, of which 94 in 100 are in other objects too (at other numbers), 3000 functions
//! in sections of their own with 11 000 symbols and their lines, and 5600 global symbols. It has about 6.5 MB; 48 of
//! them have 300 MB. They can be linked: `entry` is the entry point.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use weld_testkit::codeview::{Body, INT, Section, Symbols, Types};

const RECORDS: u32 = 84_000;
/// Records that only this object has.
const OWN_RECORDS: u32 = 3_500;
/// Classes of headers that all objects include, of about 20 records each: every object has most of them.
const SHARED_CLASSES: u32 = 4_100;
const FUNCTIONS: u32 = 3_000;
const CONSTANTS: u32 = 1_500;
const NAMES_OF_TYPES: u32 = 1_100;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(directory), Some(count)) = (args.next(), args.next().and_then(|count| count.parse().ok()))
    else {
        eprintln!("usage: synthetic-objects DIRECTORY COUNT");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&directory)?;
    for i in 0..count {
        std::fs::write(Path::new(&directory).join(format!("object{i:04}.obj")), object(i))?;
    }
    Ok(())
}

/// Numbers that look like chance and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// The types of an object, in the making.
struct Classes {
    types: Types,
    /// Declarations that there are.
    forward: HashMap<String, u32>,
    records: u32,
}

/// A name as long as those of templates in namespaces.
fn class_name(owner: &str, i: u32) -> String {
    let mut chance = Chance(u64::from(i) * 7919 + owner.len() as u64);
    let parts = ["Engine", "Render", "TArray", "Physics", "TSharedPtr", "Detail", "Component", "Allocator"];
    let mut name = format!("{owner}{i}");
    for _ in 0..1 + chance.below(6) {
        name = format!("{}<{name}>", parts[chance.below(8) as usize]);
    }
    name
}

impl Classes {
    fn declare(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.forward.get(name) {
            return index;
        }
        self.records += 1;
        let index = self.types.forward(name);
        self.forward.insert(name.to_string(), index);
        index
    }

    /// A class with members, methods and all that goes with them. Returns its number and that of one method's id.
    fn class(&mut self, owner: &str, i: u32, others: u32) -> (u32, u32) {
        let mut chance = Chance(u64::from(i) << 8 | owner.len() as u64);
        let name = class_name(owner, i);
        let forward = self.declare(&name);
        let this = self.types.pointer(forward);
        let constant = self.types.record(0x1001, Body::new().u32(forward).u16(1));
        let reference = self.types.pointer(constant);
        let mut members = vec![("Count", INT), ("Next", this)];
        for member in ["OwningComponent", "ParentAttachment", "CachedTransformOwner"] {
            let other = self.declare(&class_name(owner, chance.below(others)));
            members.push((member, self.types.pointer(other)));
        }
        let plain = [
            "bReplicatesMovement",
            "RelativeLocationX",
            "PrimaryTickGroup",
            "LastRenderTimeOnScreen",
            "NetUpdateFrequency",
        ];
        members.extend(plain.map(|member| (member, 0x40)));
        members.extend(plain.map(|member| (&member[1..], INT)));
        let mut methods = Vec::new();
        for n in 0..4 {
            let other = self.declare(&class_name(owner, chance.below(others)));
            let arguments = self.types.arguments(&[reference, other, INT][..1 + n % 3]);
            let body = Body::new().u32(INT).u32(forward).u32(this).u16(0).u16(1).u32(arguments).u32(0);
            methods.push(self.types.record(0x1009, body));
        }
        let fields = self.types.fields(&members);
        let class = self.types.structure(&name, fields, members.len() as u16);
        let file = self
            .types
            .string_id(&format!("d:\\game\\engine\\source\\runtime\\{}\\public\\header{i}.h", i % 37));
        self.types.record(0x1606, Body::new().u32(class).u32(file).u32(i));
        let ids = ["Update", "Construct"].map(|method| {
            self.types.record(0x1602, Body::new().u32(forward).u32(methods[0]).text(&format!("{method}{i}")))
        });
        self.records += 3 + 3 + 8 + 4 + 2;
        (class, ids[0])
    }
}

fn object(number: u32) -> Vec<u8> {
    let mut classes = Classes { types: Types::new(), forward: HashMap::new(), records: 0 };
    let mut made = Vec::new();
    // Objects include headers in different orders.
    let start = number * 997 % SHARED_CLASSES;
    let mut i = 0;
    while classes.records < RECORDS - OWN_RECORDS && i < SHARED_CLASSES {
        made.push(classes.class("FShared", (start + i) % SHARED_CLASSES, SHARED_CLASSES));
        i += 1;
    }
    let own = format!("FUnit{number}_");
    let mut i = 0;
    while classes.records < RECORDS {
        made.push(classes.class(&own, i, 200));
        i += 1;
    }
    let mut coff = Coff::default();
    coff.section(".debug$T", 0x4210_0040, classes.types.finish(), &[]);
    coff.section(".debug$S", 0x4210_0040, module_symbols(number, &made), &[]);
    for function in 0..FUNCTIONS {
        coff.function(number, function, made[(function as usize * 7) % made.len()]);
    }
    coff.finish()
}

fn module_symbols(number: u32, made: &[(u32, u32)]) -> Vec<u8> {
    let mut symbols = Symbols::new();
    symbols.record(0x1101, Body::new().u32(0).text(&format!("d:\\game\\intermediate\\object{number}.obj")));
    for i in 0..NAMES_OF_TYPES {
        let class = made[i as usize * 31 % made.len()].0;
        symbols.udt(&format!("FSharedName{}", i + number % 7), class);
    }
    for i in 0..CONSTANTS {
        symbols.constant(&format!("EConstants::Value{i}_{}", i * 3), INT, i as u16);
    }
    let mut section = Section::new();
    section.subsection(0xf1, &symbols.0);
    let files: Vec<String> =
        (0..300).map(|i| format!("d:\\game\\engine\\source\\file{}.h", i * 5 + number % 50)).collect();
    section.files(&files.iter().map(String::as_str).collect::<Vec<_>>());
    section.0
}

/// A relocation: place, symbol, type.
type Reloc = (u32, u32, u16);

#[derive(Default)]
struct Coff {
    headers: Vec<u8>,
    body: Vec<u8>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
    sections: u16,
    /// Places of the offsets of contents and relocations in `headers`, which are moved by what comes before them.
    moved: Vec<usize>,
}

impl Coff {
    fn section(&mut self, name: &str, characteristics: u32, data: Vec<u8>, relocs: &[Reloc]) -> u16 {
        let mut short = [0; 8];
        short[..name.len()].copy_from_slice(name.as_bytes());
        self.headers.extend(short);
        let at = self.body.len() as u32;
        let relocs_at = at + data.len() as u32;
        self.moved.extend([self.headers.len() + 12, self.headers.len() + 16]);
        [0, 0, data.len() as u32, at, relocs_at, 0]
            .iter()
            .for_each(|word| self.headers.extend(word.to_le_bytes()));
        [relocs.len() as u16, 0].iter().for_each(|half| self.headers.extend(half.to_le_bytes()));
        self.headers.extend(characteristics.to_le_bytes());
        self.body.extend(data);
        for (place, symbol, kind) in relocs {
            self.body.extend(place.to_le_bytes());
            self.body.extend(symbol.to_le_bytes());
            self.body.extend(kind.to_le_bytes());
        }
        self.sections += 1;
        self.sections
    }

    fn symbol_count(&self) -> u32 {
        self.symbols.len() as u32 / 18
    }

    fn symbol(&mut self, name: &str, section: u16, kind: u16, class: u8, aux: u8) -> u32 {
        let number = self.symbol_count();
        self.symbols.extend([0; 4]);
        self.symbols.extend((self.strings.len() as u32 + 4).to_le_bytes());
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        self.symbols.extend(0u32.to_le_bytes());
        self.symbols.extend(section.to_le_bytes());
        self.symbols.extend(kind.to_le_bytes());
        self.symbols.extend([class, aux]);
        number
    }

    /// The symbol of a section that is a copy of others', or belongs to one (`parent`).
    fn section_symbol(&mut self, section: u16, size: u32, parent: Option<u16>) {
        self.symbol("s", section, 0, 3, 1);
        let mut aux = [0; 18];
        aux[..4].copy_from_slice(&size.to_le_bytes());
        aux[12..14].copy_from_slice(&parent.unwrap_or(0).to_le_bytes());
        aux[14] = if parent.is_some() { 5 } else { 2 };
        self.symbols.extend(aux);
    }

    /// A function in a section of its own, with its symbols and lines. Two of three are in all objects.
    fn function(&mut self, object: u32, number: u32, (class, id): (u32, u32)) {
        let owner = if number.is_multiple_of(3) { format!("Unit{object}") } else { "Shared".to_string() };
        let name = if (object, number) == (0, 0) {
            "entry".into()
        } else {
            format!("?Method{number}@F{owner}Component@@QEAAHXZ")
        };
        let text = self.section(".text", 0x6050_1020, vec![0xc3; 16], &[]);
        self.section_symbol(text, 16, None);
        let symbol = self.symbol(&name, text, 0x20, 2, 0);
        let mut symbols = Symbols::new();
        let at = symbols.procedure(&format!("F{owner}Component::Method{number}"), id, 16) as u32;
        symbols.record(0x1012, Body::new().u32(40).u32(0).u32(0).u32(0).u32(0).u16(0).u32(0x14200));
        // A local every third time.
        if number % 3 != 1 {
            symbols.record(0x113e, Body::new().u32(class).u16(1).text("this"));
        }
        symbols.end_procedure();
        let mut section = Section::new();
        let start = section.subsection(0xf1, &symbols.0) as u32 + at;
        let lines = section.lines(
            number % 300,
            16,
            &[(0, number), (4, number + 1), (8, number + 3), (12, number + 4)],
        );
        let (secrel, index) = (0xb, 0xa);
        let lines = lines as u32;
        let relocs = [
            (start + 32, symbol, secrel),
            (start + 36, symbol, index),
            (lines, symbol, secrel),
            (lines + 4, symbol, index),
        ];
        let size = section.0.len() as u32;
        let debug = self.section(".debug$S", 0x4210_1040, section.0, &relocs);
        self.section_symbol(debug, size, Some(text));
    }

    fn finish(mut self) -> Vec<u8> {
        let start = 20 + self.headers.len() as u32;
        for at in self.moved {
            let place = u32::from_le_bytes(self.headers[at..at + 4].try_into().unwrap()) + start;
            self.headers[at..at + 4].copy_from_slice(&place.to_le_bytes());
        }
        let mut file = 0x8664u16.to_le_bytes().to_vec();
        file.extend(self.sections.to_le_bytes());
        file.extend(0u32.to_le_bytes());
        file.extend((start + self.body.len() as u32).to_le_bytes());
        file.extend((self.symbols.len() as u32 / 18).to_le_bytes());
        file.extend([0; 4]);
        file.extend(self.headers);
        file.extend(self.body);
        file.extend(self.symbols);
        file.extend((self.strings.len() as u32 + 4).to_le_bytes());
        file.extend(self.strings);
        file
    }
}
