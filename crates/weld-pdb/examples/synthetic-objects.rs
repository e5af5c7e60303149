//! Writes COFF objects with as much CodeView, and as alike, as those of a large game: for measurements.
//!
//!     synthetic-objects DIRECTORY COUNT
//!
//! Each object has about 6.3 MB: 84 000 type records of 52 bytes on average, of which 94 in 100 are in other
//! objects too (at other numbers); functions in sections of their own with unwind information, lines and
//! symbols, of which 400 are its own and have 11 000 symbols, and the others are copies of those in other
//! objects; 5600 global symbols; tables of addresses. 48 of them have 300 MB, 480 have 3 GB, and the game had
//! 4169. They can be linked and run: `entry` is the entry point, which calls a function of each object, and
//! these some others. What it returns depends on all their numbers, data and addresses, so a linker that
//! mixes them up is found out.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_testkit::codeview::{Body, INT, Section, Symbols, Types};

const RECORDS: u32 = 84_000;
/// Records that only this object has.
const OWN_RECORDS: u32 = 7_000;
/// Classes of headers that all objects include, of about 20 records each: every object has most of them.
const SHARED_CLASSES: u32 = 4_100;
/// Functions that only this object has, and how many symbols each has at least.
const OWN_FUNCTIONS: u32 = 400;
const VARIABLES: u32 = 9;
/// Functions of headers, of which each object has some.
const HEADER_FUNCTIONS: u32 = 6_000;
const COPIED_FUNCTIONS: u32 = 1_000;
const FILES: u32 = 300;
const CONSTANTS: u32 = 2_900;
const NAMES_OF_TYPES: u32 = 2_300;
/// Words with addresses of functions, and numbers that functions read.
const ADDRESSES: u32 = 500;
const NUMBERS: u32 = 256;
/// Code, two of unwind information, debug information.
const SECTIONS_OF_FUNCTION: u16 = 4;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(directory), Some(count)) = (args.next(), args.next().and_then(|count| count.parse().ok()))
    else {
        eprintln!("usage: synthetic-objects DIRECTORY COUNT");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&directory)?;
    let next = AtomicU32::new(0);
    let work = || -> io::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            std::fs::write(
                Path::new(&directory).join(format!("object{number:04}.obj")),
                object(number, count),
            )?;
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker"))
    })
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
    for _ in 0..2 + chance.below(7) {
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

    /// A class with members, methods and all that goes with them. Returns its number and that of one method's
    /// id.
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

fn object(number: u32, count: u32) -> Vec<u8> {
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
    let mut object = Object { coff: Coff::default(), number, made, numbers: 0, functions: HashMap::new() };
    object.coff.section(".debug$T", 0x4210_0040, classes.types.finish(), &[]);
    object.coff.section(".debug$S", 0x4210_0040, object.module_symbols(), &[]);
    let mut chance = Chance(u64::from(number) + 99);
    let numbers = (0..NUMBERS).flat_map(|_| (chance.below(1 << 30) + 1).to_le_bytes()).collect();
    let data = object.coff.section(".data", 0xc030_0040, numbers, &[]);
    object.numbers = object.coff.symbol("numbers", data, 0, 3, 0);
    let own = (0..OWN_FUNCTIONS).map(Function::Own);
    let copied = (0..COPIED_FUNCTIONS).map(|i| Function::Header(header_function(number, i)));
    let functions: Vec<_> = own.chain(copied).collect();
    let symbols: Vec<_> = functions.iter().enumerate().map(|(i, f)| object.define(*f, i as u16)).collect();
    for (&function, symbol) in functions.iter().zip(symbols) {
        object.function(function, symbol, count);
    }
    object.addresses();
    if number == 0 {
        object.entry(count);
    }
    object.coff.finish()
}

/// Which header function is the `i`th of an object: a run of all, each once.
fn header_function(object: u32, i: u32) -> u32 {
    (object * 577 + i * 5) % HEADER_FUNCTIONS
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Function {
    Own(u32),
    Header(u32),
}

/// Code that is given its numbers, and the places in it that are relocated.
#[derive(Default)]
struct Code {
    bytes: Vec<u8>,
    relocs: Vec<Reloc>,
}

impl Code {
    fn put(&mut self, bytes: &[u8]) -> &mut Code {
        self.bytes.extend(bytes);
        self
    }

    /// A distance of four bytes to a symbol.
    fn to(&mut self, symbol: u32, addend: u32) -> &mut Code {
        self.relocs.push((self.bytes.len() as u32, symbol, REL32));
        self.put(&addend.to_le_bytes())
    }
}

/// An object in the making.
struct Object {
    coff: Coff,
    number: u32,
    /// Classes: the number of each and that of a method's id.
    made: Vec<(u32, u32)>,
    /// The symbol of the numbers.
    numbers: u32,
    /// Symbols of functions that are mentioned.
    functions: HashMap<String, u32>,
}

impl Object {
    fn module_symbols(&self) -> Vec<u8> {
        let (number, made) = (self.number, &self.made);
        let mut symbols = Symbols::new();
        symbols
            .record(0x1101, Body::new().u32(0).text(&format!("d:\\game\\intermediate\\object{number}.obj")));
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
            (0..FILES).map(|i| format!("d:\\game\\engine\\source\\file{}.h", i * 5 + number % 50)).collect();
        section.files(&files.iter().map(String::as_str).collect::<Vec<_>>());
        section.0
    }

    fn name(&self, function: Function, object: u32) -> String {
        match function {
            Function::Own(i) => format!("?Method{i}@FUnit{object}Component@Gameplay@@QEAAHAEBVFVector@@@Z"),
            Function::Header(i) => format!("?Inline{i}@?$TSharedTemplate@VFArgument{i}@@@Engine@@QEAAHXZ"),
        }
    }

    /// The symbol of a function, of this object or another one.
    fn mention(&mut self, function: Function, object: u32) -> u32 {
        let name = self.name(function, object);
        match self.functions.get(&name) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.coff.symbol(&name, 0, 0x20, 2, 0);
                self.functions.insert(name, symbol);
                symbol
            }
        }
    }

    /// What a function does: it adds a number of its own and one that it reads; asked to, it calls three
    /// others, which it does not ask to.
    fn code(&mut self, function: Function, count: u32) -> Code {
        let mut code = Code::default();
        let (own, salt) = match function {
            Function::Own(i) => (true, i * 7919 + self.number * 31),
            Function::Header(i) => (false, i * 104_729),
        };
        let mut chance = Chance(salt.into());
        code.put(&[0x53, 0x48, 0x83, 0xec, 0x20]); // push rbx; sub rsp, 32
        code.put(&[0xbb]).put(&chance.below(1 << 30).to_le_bytes()); // mov ebx, number
        if own {
            code.put(&[0x03, 0x1d]).to(self.numbers, chance.below(NUMBERS) * 4); // add ebx, [number]
            let neighbour = (self.number + 1 + chance.below(7)) % count;
            let called = [
                (Function::Own(chance.below(OWN_FUNCTIONS)), neighbour),
                (Function::Own(chance.below(OWN_FUNCTIONS)), self.number),
                (Function::Header(header_function(self.number, chance.below(COPIED_FUNCTIONS))), 0),
            ];
            code.put(&[0x85, 0xc9, 0x74, 15 * 3]); // test ecx, ecx; jz behind the calls
            for (callee, object) in called {
                let symbol = self.mention(callee, object);
                code.put(&[0x31, 0xc9, 0xe8]).to(symbol, 0); // xor ecx, ecx; call
                code.put(&[0x69, 0xdb, 31, 0, 0, 0, 0x01, 0xc3]); // imul ebx, ebx, 31; add ebx, eax
            }
        }
        // As much as real functions have, never reached: mov eax, ebx; add rsp, 32; pop rbx; ret.
        code.put(&[0x89, 0xd8, 0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3]);
        let len = code.bytes.len() + chance.below(if own { 300 } else { 60 }) as usize;
        code.bytes.resize(len, 0xcc);
        code
    }

    /// The symbols of the `i`th function of this object, which are to stand before all others that mention
    /// it: of its section, which is a copy of others', and of itself.
    fn define(&mut self, function: Function, i: u16) -> u32 {
        let text = self.coff.sections + SECTIONS_OF_FUNCTION * i + 1;
        let section = self.coff.section_symbol(text, 0, None);
        let name = self.name(function, self.number);
        let symbol = self.coff.symbol(&name, text, 0x20, 2, 0);
        self.functions.insert(name, symbol);
        section
    }

    /// A function in a section of its own, whose symbol is there already, with what belongs to it.
    fn function(&mut self, function: Function, selection: u32, count: u32) {
        let code = self.code(function, count);
        let size = code.bytes.len() as u32;
        let text = self.coff.section(".text", 0x6050_1020, code.bytes, &code.relocs);
        self.coff.set_size(selection, size);
        let symbol = self.mention(function, self.number);
        // push rbx at 1, sub rsp at 5.
        let unwind = vec![1, 5, 2, 0, 5, 0x32, 1, 0x30];
        let unwind_section = self.coff.section(".xdata", 0x4030_1040, unwind, &[]);
        let unwind_symbol = self.coff.section_symbol(unwind_section, 8, Some(text));
        let mut entry = vec![0; 12];
        entry[4..8].copy_from_slice(&size.to_le_bytes());
        let relocs = [(0, selection, ADDR32NB), (4, selection, ADDR32NB), (8, unwind_symbol, ADDR32NB)];
        let entry = self.coff.section(".pdata", 0x4030_1040, entry, &relocs);
        self.coff.section_symbol(entry, 12, Some(text));
        let (debug, relocs) = self.debug(function, size, symbol);
        let len = debug.len() as u32;
        let debug = self.coff.section(".debug$S", 0x4210_1040, debug, &relocs);
        self.coff.section_symbol(debug, len, Some(text));
    }

    /// The symbols and lines of a function: variables, of which some are in blocks and in functions that are
    /// inline.
    fn debug(&self, function: Function, size: u32, symbol: u32) -> (Vec<u8>, Vec<Reloc>) {
        let (own, number) = match function {
            Function::Own(i) => (true, i),
            Function::Header(i) => (false, i),
        };
        let (class, id) = self.made[number as usize * 7 % self.made.len()];
        let mut symbols = Symbols::new();
        let mut places = Vec::new();
        let name = match function {
            Function::Own(i) => format!("Gameplay::FUnit{}Component::Method{i}", self.number),
            Function::Header(i) => format!("Engine::TSharedTemplate<FArgument{i}>::Inline{i}"),
        };
        places.push(symbols.procedure(&name, id, size) as u32 + 32);
        symbols.record(0x1012, Body::new().u32(40).u32(0).u32(0).u32(0).u32(0).u16(0).u32(0x14200));
        for i in 0..if own { VARIABLES } else { 2 } {
            let name = ["this", "Index", "DeltaSeconds", "Result", "OutHit"][i as usize % 5];
            match i % 4 {
                2 => {
                    let block = Body::new().u32(0).u32(0).u32(size / 2).u32(0).u16(0).text("");
                    places.push(symbols.record(0x1103, block) as u32 + 16);
                    symbols.record(0x1111, Body::new().u32(32).u32(INT).u16(335).text(name));
                    symbols.record(0x0006, Body::new());
                }
                3 => {
                    let inlinee = self.made[(number + i) as usize * 11 % self.made.len()].1;
                    symbols.record(0x114d, Body::new().u32(0).u32(0).u32(inlinee).bytes(&[6, 3, 4, 9]));
                    symbols.record(0x113e, Body::new().u32(INT).u16(1).text(name));
                    symbols.record(0x1144, Body::new().u32(24 + 4 * i));
                    symbols.record(0x114e, Body::new());
                }
                _ => {
                    symbols.record(0x113e, Body::new().u32(class).u16(1).text(name));
                    symbols.record(0x1144, Body::new().u32(24 + 4 * i));
                }
            }
        }
        symbols.end_procedure();
        let mut section = Section::new();
        let start = section.subsection(0xf1, &symbols.0) as u32;
        places.iter_mut().for_each(|place| *place += start);
        let lines: Vec<_> = (0..size / 12).map(|i| (i * 12, number + i * 2)).collect();
        places.push(section.lines(number % FILES, size, &lines) as u32);
        let relocs = places.iter().flat_map(|&place| [(place, symbol, SECREL), (place + 4, symbol, SECTION)]);
        (section.0, relocs.collect())
    }

    /// Words with addresses of functions, as tables of virtual functions have them.
    fn addresses(&mut self) {
        let mut chance = Chance(u64::from(self.number) + 7);
        let relocs: Vec<Reloc> = (0..ADDRESSES)
            .map(|i| (8 * i, self.mention(Function::Own(chance.below(OWN_FUNCTIONS)), self.number), ADDR64))
            .collect();
        let table = self.coff.section(".rdata", 0x4040_0040, vec![0; 8 * ADDRESSES as usize], &relocs);
        let name = format!("??_7FUnit{}Component@Gameplay@@6B@", self.number);
        self.coff.symbol(&name, table, 0, 2, 0);
    }

    /// The entry point. It returns eight bits of what the functions say.
    fn entry(&mut self, count: u32) {
        let mut code = Code::default();
        code.put(&[0x53, 0x48, 0x83, 0xec, 0x20, 0x31, 0xdb]); // push rbx; sub rsp, 32; xor ebx, ebx
        for object in 0..count {
            let symbol = self.mention(Function::Own(object % OWN_FUNCTIONS), object);
            code.put(&[0xb9, 1, 0, 0, 0, 0xe8]).to(symbol, 0); // mov ecx, 1; call
            code.put(&[0x69, 0xdb, 31, 0, 0, 0, 0x01, 0xc3]); // imul ebx, ebx, 31; add ebx, eax
        }
        // mov eax, ebx; shr eax, 16; xor eax, ebx; movzx eax, al; then as above.
        code.put(&[0x89, 0xd8, 0xc1, 0xe8, 16, 0x31, 0xd8, 0x0f, 0xb6, 0xc0]);
        code.put(&[0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3]);
        let text = self.coff.section(".text$entry", 0x6050_0020, code.bytes, &code.relocs);
        self.coff.symbol("entry", text, 0x20, 2, 0);
    }
}

const ADDR64: u16 = 1;
const ADDR32NB: u16 = 3;
const REL32: u16 = 4;
const SECTION: u16 = 10;
const SECREL: u16 = 11;

/// A relocation: place, symbol, type.
type Reloc = (u32, u32, u16);

#[derive(Default)]
struct Coff {
    headers: Vec<u8>,
    body: Vec<u8>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
    sections: u16,
    /// Places of the offsets of contents and relocations in `headers`, which are moved by what comes before
    /// them.
    moved: Vec<usize>,
}

impl Coff {
    fn section(&mut self, name: &str, characteristics: u32, data: Vec<u8>, relocs: &[Reloc]) -> u16 {
        let mut short = [0; 8];
        match name.len() {
            ..=8 => short[..name.len()].copy_from_slice(name.as_bytes()),
            _ => {
                let place = format!("/{}", self.strings.len() + 4);
                short[..place.len()].copy_from_slice(place.as_bytes());
                self.strings.extend(name.as_bytes());
                self.strings.push(0);
            }
        }
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

    /// Says how large a section is that got its symbol before.
    fn set_size(&mut self, symbol: u32, size: u32) {
        let at = (symbol as usize + 1) * 18;
        self.symbols[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }

    /// The symbol of a section that is a copy of others', or belongs to one (`parent`).
    fn section_symbol(&mut self, section: u16, size: u32, parent: Option<u16>) -> u32 {
        let number = self.symbol("s", section, 0, 3, 1);
        let mut aux = [0; 18];
        aux[..4].copy_from_slice(&size.to_le_bytes());
        aux[12..14].copy_from_slice(&parent.unwrap_or(0).to_le_bytes());
        aux[14] = if parent.is_some() { 5 } else { 2 };
        self.symbols.extend(aux);
        number
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
