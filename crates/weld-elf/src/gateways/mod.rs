//! Gateways: where code of another world may enter functions of this one (security extensions of ARMv8-M, CMSE).
//!
//! A compiler gives such a function two names of one place: `f`, and a special one (`__acle_se_f`). The linker makes a
//! gateway for it, an instruction that callers from outside must come by and a branch to the function, and `f` is where
//! the gateway is. Where the two names are at different places the program has a gateway of its own.
//!
//! ```text
//! .gnu.sgstubs    f:     SG               the only places that outsiders may call
//!                        B.W __acle_se_f
//!                 g:     SG
//!                        B.W __acle_se_g
//! ```
//!
//! All of them are one more object ([`object`]), which is linked as any other, and objects that define `f` only refer to
//! it. So names are resolved once more when it is known that there are gateways. Programs of the other world are linked
//! with a library of absolute symbols ([`library`], `--out-implib`). Where an earlier one is given (`--in-implib`),
//! gateways stay where it says: what has been linked with it goes on to work.
//!
//! Specification: "Arm v8-M Security Extensions: Requirements on Development Tools" (ARM-ECM-0359818), sections 4 and 5.4.

pub mod library;
mod object;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::resolve::Replacement;
use weld_common::text;

use crate::arch::facts::Gateways as Machine;
use crate::elf::*;
use crate::ids::*;
use crate::input::FileName;
use crate::input::load::Inputs;
use crate::input::object::{Object, SymbolPlace};
use crate::input::search::cannot_open;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::symbol_names::{Rank, flag};
use library::Known;

/// No program has gateways that are farther apart: branches do not reach farther.
const SPAN: u64 = 16 << 20;

/// A function that may be called from the other world.
#[derive(Debug)]
pub struct Entry<'a> {
    pub name: &'a [u8],
    /// `STB_GLOBAL` or `STB_WEAK`.
    pub binding: u8,
    /// Its gateway is made here.
    pub is_made: bool,
    /// Where the library of an earlier link says that the gateway is, without the bit for the instruction set.
    pub before: Option<u64>,
}

/// A function and its two names.
struct Found<'a> {
    entry: Entry<'a>,
    special: &'a [u8],
    /// What defines `entry.name`, and as which of its symbols.
    file: FileId,
    symbol: u32,
    other: u8,
}

/// What a link has of gateways, and what files become for their sake.
pub struct Gateways<'a> {
    pub entries: Vec<Entry<'a>>,
    pub replaced: Vec<Replacement>,
}

/// Finds the functions that want gateways, and makes these. `None` if there are none, or if something is wrong, which
/// has been said.
pub fn make<'a>(
    machine: &Machine,
    options: &Options,
    store: &'a InputStore<'a>,
    (inputs, resolved): (&mut Inputs<'a>, &Resolved<'a>),
    sink: &DiagSink,
) -> Option<Gateways<'a>> {
    let wanted = &options.gateways;
    let specials = specials(machine, resolved);
    if specials.is_empty() && !wanted.library {
        return None;
    }
    if !has_extensions(machine, resolved) {
        if wanted.library {
            let text = format!("--cmse-implib: no object says that it is for {}", machine.architectures);
            sink.push(Diagnostic::error(Cause::SecureGateway, text));
        }
        return None;
    }
    let mut found: Vec<Found> =
        specials.into_iter().filter_map(|special| check(machine, resolved, special, sink)).collect();
    let known = match &wanted.earlier {
        Some(path) => read(path, inputs, store, sink)?,
        None => Vec::new(),
    };
    recall(&mut found, &known, options, sink);
    let start = options.start_of(machine.section.as_bytes());
    let (offsets, size) = match places(machine, &found, &known, start) {
        Ok(places) => places,
        Err(text) => {
            sink.push(Diagnostic::error(Cause::SecureGateway, text));
            return None;
        }
    };
    let replaced = replace(machine, store, inputs, resolved, (&found, &offsets, size));
    let entries = found.into_iter().map(|found| found.entry).collect();
    Some(Gateways { entries, replaced })
}

/// The special names, in the order of the objects that define them, or else mention them.
fn specials(machine: &Machine, resolved: &Resolved) -> Vec<SymbolId> {
    let prefix = machine.prefix.as_bytes();
    let names = resolved.names.iter().filter(|(_, entry)| entry.name.starts_with(prefix));
    let mut specials: Vec<(FileId, u32, &[u8], SymbolId)> =
        names.map(|(id, entry)| (entry.file(), entry.sym(), entry.name, id)).collect();
    specials.sort_unstable();
    specials.into_iter().map(|(.., id)| id).collect()
}

/// Whether attributes of some object say that its processor has gateways.
fn has_extensions(machine: &Machine, resolved: &Resolved) -> bool {
    let Some(first) = resolved.objects.first() else { return false };
    let Some(attributes) = &first.machine.attributes else { return false };
    let Some(features) = attributes.features else { return false };
    let is_one = |shdr: &Shdr| shdr.sh_type() == attributes.section;
    let mut sections = resolved.objects.iter().flat_map(|object| {
        let indices = (0..object.shdrs.len()).filter(|index| is_one(&object.shdrs[*index]));
        indices.filter_map(|index| object.section_data(index))
    });
    features(&mut sections) & machine.feature != 0
}

/// What defines a name here: the object, the number of the symbol there, and the symbol.
fn definition<'r, 'a>(resolved: &'r Resolved<'a>, id: SymbolId) -> Option<(&'r Object<'a>, u32, &'a Sym)> {
    let entry = resolved.names.get(id);
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return None;
    }
    let index = *resolved.index_of_file.get(entry.file().index())?;
    let object = resolved.objects.get(index as usize)?;
    Some((object, entry.sym(), object.syms.get(entry.sym() as usize)?))
}

/// The section that a function of Thumb code lies in.
fn function(object: &Object, index: u32, symbol: &Sym) -> Option<u32> {
    let SymbolPlace::Section(section) = object.place(index, symbol) else { return None };
    (symbol.kind() == STT_FUNC && symbol.st_value() & 1 != 0).then_some(section)
}

/// The function of a special name, if both of its names are as they have to be.
fn check<'a>(
    machine: &Machine,
    resolved: &Resolved<'a>,
    special: SymbolId,
    sink: &DiagSink,
) -> Option<Found<'a>> {
    let shown = resolved.names.get(special).name;
    let wrong = |object: Option<&Object>, name: &[u8], what: &str| {
        let text = format!("{} {what}", text::text(name));
        sink.push(match object {
            Some(object) => object.whole().error(Cause::SecureGateway, text),
            None => Diagnostic::error(Cause::SecureGateway, text),
        });
        None
    };
    let Some((object, index, symbol)) = definition(resolved, special) else {
        return wrong(None, shown, "stands for an entry function and is not defined");
    };
    let Some(section) = function(object, index, symbol) else {
        return wrong(Some(object), shown, "stands for an entry function and is no function in Thumb code");
    };
    let name = &shown[machine.prefix.len()..];
    let Some(id) = resolved.names.find(name) else {
        let what = format!("stands for the entry function {}, which is not defined", text::text(name));
        return wrong(Some(object), shown, &what);
    };
    let Some((definer, own, entry)) = definition(resolved, id) else {
        let what = format!("stands for the entry function {}, which is not defined", text::text(name));
        return wrong(Some(object), shown, &what);
    };
    let Some(own_section) = function(definer, own, entry) else {
        return wrong(Some(definer), name, "is an entry function and is no function in Thumb code");
    };
    let is_same_place = definer.file == object.file && own_section == section;
    let entry_of = Entry {
        name,
        binding: entry.binding(),
        is_made: is_same_place && entry.st_value() == symbol.st_value(),
        before: None,
    };
    Some(Found { entry: entry_of, special: shown, file: definer.file, symbol: own, other: entry.st_other() })
}

/// What an earlier link had gateways for; `None` if that cannot be read.
fn read<'a>(
    path: &Path,
    inputs: &Inputs,
    store: &'a InputStore<'a>,
    sink: &DiagSink,
) -> Option<Vec<Known<'a>>> {
    let shown = text::path(path);
    let data = match store.open(path) {
        Ok(Some(data)) => data,
        Ok(None) => {
            sink.push(cannot_open(path));
            return None;
        }
        Err(error) => {
            sink.push(Diagnostic::from(error));
            return None;
        }
    };
    match library::read(store, data, inputs.machine.facts(), &shown, sink) {
        Ok(known) => Some(known),
        Err(error) => {
            sink.push(Diagnostic::error(Cause::MalformedObject, format!("{shown}: {error}")).in_file(shown));
            None
        }
    }
}

/// Has entries know where they were, and says which are gone or new.
fn recall(found: &mut [Found], known: &[Known], options: &Options, sink: &DiagSink) {
    if options.gateways.earlier.is_none() {
        return;
    }
    let of_name: HashMap<&[u8], u64> = known.iter().map(|known| (known.name, known.address)).collect();
    let warn = |text: String| sink.push(Diagnostic::warning(Cause::SecureGateway, text));
    for Found { entry, .. } in &mut *found {
        entry.before = of_name.get(entry.name).copied();
        if entry.before.is_none() && options.gateways.output.is_none() {
            let name = text::text(entry.name);
            warn(format!("{name} is a new entry function, and there is no --out-implib to say where it is"));
        }
    }
    let here: HashSet<&[u8]> = found.iter().map(|found| found.entry.name).collect();
    for gone in known.iter().filter(|known| !here.contains(known.name)) {
        let name = text::text(gone.name);
        warn(format!("{name} is an entry function in the library of --in-implib and no longer one here"));
    }
}

/// Where each gateway that is made lies in their section, and the section's size. Known ones stay where they were, if the
/// section is where it was, which is seen when all has its place; new ones come after all that the library has.
fn places(
    machine: &Machine,
    found: &[Found],
    known: &[Known],
    start: Option<u64>,
) -> Result<(Vec<u64>, u64), String> {
    let made = || found.iter().map(|found| &found.entry).filter(|entry| entry.is_made);
    let first = made().filter_map(|entry| entry.before).min();
    let base = start.or(first).unwrap_or(0);
    let size = machine.size();
    let mut taken: Vec<(u64, &[u8])> = Vec::new();
    for entry in made() {
        let Some(before) = entry.before else { continue };
        let name = text::text(entry.name);
        let offset = before.wrapping_sub(base);
        if offset >= SPAN {
            return Err(format!(
                "the gateway of {name} is at {before:#x} in the library of --in-implib, and {} begins at {base:#x}",
                machine.section
            ));
        }
        if !offset.is_multiple_of(4) {
            return Err(format!(
                "the gateway of {name} is at {before:#x} in the library of --in-implib, where none can be"
            ));
        }
        taken.push((offset, entry.name));
    }
    taken.sort_unstable();
    if let Some(pair) = taken.windows(2).find(|pair| pair[1].0 - pair[0].0 < size) {
        return Err(format!(
            "the gateways of {} and {} overlap in the library of --in-implib",
            text::text(pair[0].1),
            text::text(pair[1].1)
        ));
    }
    let before = known.iter().map(|known| known.address.wrapping_sub(base)).filter(|offset| *offset < SPAN);
    let mut end = before.max().map_or(0, |last| (last + size).next_multiple_of(size));
    if taken.is_empty() && start.is_none() {
        // Addresses that the library has may be of anything.
        end = 0;
    }
    let mut place = |entry: &Entry| match entry.before {
        Some(before) => before - base,
        None => {
            end += size;
            end - size
        }
    };
    let offsets: Vec<u64> = made().map(&mut place).collect();
    let size = offsets.iter().map(|offset| offset + size).max().unwrap_or(0);
    Ok((offsets, size))
}

/// The object with the gateways, and those that define the functions, in which these names are only mentioned now.
fn replace<'a>(
    machine: &Machine,
    store: &'a InputStore<'a>,
    inputs: &mut Inputs<'a>,
    resolved: &Resolved<'a>,
    (found, offsets, size): (&[Found], &[u64], u64),
) -> Vec<Replacement> {
    let made: Vec<&Found> = found.iter().filter(|found| found.entry.is_made).collect();
    if made.is_empty() {
        return Vec::new();
    }
    let target = inputs.machine.facts().target;
    let gateways = made.iter().zip(offsets).map(|(found, offset)| object::Gateway {
        name: found.entry.name,
        special: found.special,
        info: found.entry.binding << 4 | STT_FUNC,
        other: found.other,
        offset: *offset,
    });
    let bytes = object::object(machine, target, size, &gateways.collect::<Vec<_>>());
    let mut of_file: Vec<(FileId, u32)> = made.iter().map(|found| (found.file, found.symbol)).collect();
    of_file.sort_unstable();
    let mut replaced: Vec<Replacement> = Vec::new();
    for symbols in of_file.chunk_by(|a, b| a.0 == b.0) {
        let file = symbols[0].0;
        let object = &resolved.objects[resolved.index_of_file[file.index()] as usize];
        let numbers = symbols.iter().map(|(_, symbol)| *symbol);
        let bytes = store.keep(object::without_definitions(object, numbers));
        let new = inputs.add_object(object.name.clone(), bytes, object.excluded);
        replaced.push(Replacement { old: vec![file], new: vec![new] });
    }
    // They stand behind the last of the objects.
    let name = FileName { path: "<gateways>".into(), member: None };
    let gateways = inputs.add_object(name, store.keep(bytes), false);
    if let Some(last) = replaced.last_mut() {
        last.new.push(gateways);
    }
    replaced
}

/// Garbage collection leaves functions that are entered from outside, and their gateways.
pub fn keep(entries: &[Entry], resolved: &mut Resolved) {
    for entry in entries {
        if let Some(id) = resolved.names.find(entry.name) {
            resolved.names.get_mut(id).flags |= flag::KEEP;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::by_emulation;

    fn machine() -> &'static Machine {
        by_emulation("armelf").and_then(|arch| arch.facts().gateways.as_ref()).expect("ARM has gateways")
    }

    fn found(name: &'static [u8], is_made: bool, before: Option<u64>) -> Found<'static> {
        let entry = Entry { name, binding: STB_GLOBAL, is_made, before };
        Found { entry, special: b"", file: FileId(1), symbol: 1, other: 0 }
    }

    #[test]
    fn known_gateways_stay_and_new_ones_come_behind() {
        let all = [
            found(b"new", true, None),
            found(b"a", true, Some(0x2_0008)),
            found(b"own", false, Some(0x8000)),
            found(b"b", true, Some(0x2_0000)),
            found(b"newer", true, None),
        ];
        let known = [(b"a", 0x2_0008), (b"b", 0x2_0000), (b"c", 0x2_0010)]
            .map(|(name, address)| Known { name, address });
        let placed = places(machine(), &all, &known, Some(0x2_0000)).unwrap();
        assert_eq!(placed, (vec![0x18, 8, 0, 0x20], 0x28));
        // Nobody has said where the section begins: at the first of them.
        assert_eq!(places(machine(), &all, &known, None).unwrap(), placed);
        assert_eq!(places(machine(), &all[..1], &[], None).unwrap(), (vec![0], 8));
    }

    #[test]
    fn libraries_that_no_section_can_be_as() {
        let wrong = |addresses: [u64; 2], start| {
            let all = addresses.map(|address| found(b"f", true, Some(address)));
            places(machine(), &all, &[], start).unwrap_err()
        };
        assert!(wrong([0x2_0000, 0x2_0004], None).contains("overlap"));
        assert!(wrong([0x2_0000, 0x2_000a], None).contains("where none can be"));
        assert!(wrong([0, 0xffff_fff0], None).contains("begins at 0x0"));
        assert!(wrong([0x2_0000, 0x2_0008], Some(0x3_0000)).contains("begins at 0x30000"));
    }
}
