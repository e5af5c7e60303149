//! Applying the relocations of a section to its bytes in the image.

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic, HasCause};

use crate::address::Rva;
use crate::arch::{Fault, Place, Rules, Target, with_rules};
use crate::coff::object::Relocation;
use crate::ids::SectionId;
use crate::sections::{Kind, Section};
use crate::symbols::Kind as SymbolKind;
use crate::synth::image::Image;
use crate::synth::image::fault::fault;

/// Copies a section of an object into its place and applies its relocations.
pub fn write(image: &Image, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
    let section = image.sections.get(id);
    let contents = image.contents(section);
    let (own, rest) = bytes.split_at_mut(contents.len().min(bytes.len()));
    own.copy_from_slice(&contents[..own.len()]);
    rest.fill(0);
    with_rules!(image.resolved.machine, relocate(image, id, bytes, sink));
}

/// Relocations that a symbol is asked for ahead.
const TARGET_AHEAD: usize = 6;

fn relocate<R: Rules>(image: &Image, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
    let section = image.sections.get(id);
    let rva = image.layout.rva(id);
    let relocations = image.relocations(section);
    let object = image.object(section.object);
    for (i, relocation) in relocations.iter().enumerate() {
        if let Some(later) = relocations.get(i + TARGET_AHEAD) {
            image.symbols.prefetch_target(object, later.symbol_table_index.get(LE));
        }
        if let Err(problem) = one::<R>(image, section, bytes, rva, relocation) {
            sink.push(problem);
        }
    }
}

#[inline]
fn one<R: Rules>(
    image: &Image,
    section: &Section,
    bytes: &mut [u8],
    rva: Rva,
    relocation: &Relocation,
) -> Result<(), Diagnostic> {
    let typ = relocation.typ.get(LE).0;
    let offset = relocation.virtual_address.get(LE);
    let fail = |cause, what: &str| Err(fault(image, section, relocation, cause, what));
    let fault = |what: Fault| fault(image, section, relocation, what.cause(), &what.to_string());
    let Some(size) = R::size(typ) else { return Err(fault(Fault::Unknown(typ))) };
    let Some(place) = bytes.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..size)) else {
        return Err(fault(Fault::BeyondEnd));
    };
    let symbol = image.target(section.object, relocation);
    if symbol.kind == SymbolKind::Undefined {
        if !image.object(section.object).is_symbol(relocation.symbol_table_index.get(LE)) {
            return fail(Cause::MalformedRelocation, "relocation against a symbol that does not exist");
        }
        // Whoever links in spite of undefined symbols gets places as they are.
        return if image.options.force.unresolved {
            Ok(())
        } else {
            fail(Cause::UndefinedSymbol, "undefined symbol")
        };
    }
    let mut to = image.place(symbol);
    let part = if R::counts_in_section(typ) { image.part(symbol) } else { None };
    if R::BRANCHES
        && !image.branches.is_empty()
        && let Some(thunk) = image.thunk_at(section, offset)
    {
        if R::branch_addend(typ, place) != 0 {
            return fail(Cause::RelocationOutOfRange, "a branch to what lies beside a symbol does not reach");
        }
        to = Place::At(image.layout.rva(thunk));
    }
    let target = Target { place: to, part, base: image.base, sections: image.layout };
    if target.place == Place::Gone {
        // What debuggers read may speak of what is not there any more, and so may what GNU compilers make for
        // functions.
        if section.kind == Kind::Dwarf || is_of_functions(image, section) {
            if section.kind == Kind::Dwarf {
                place.fill(0);
            }
            return Ok(());
        }
        return fail(Cause::DiscardedSymbol, "relocation against symbol in discarded section");
    }
    let rva = rva.wrapping_add(offset);
    match R::apply(typ, place, rva, &target) {
        // GNU's compiler calls weak functions that may not be there, at address 0 then, after a test whether
        // they are. Such a call gets the lower half of its target, which is in no image, as by other linkers.
        Err(Fault::OutOfRange)
            if image.options.mingw.on
                && to == Place::Absolute(0)
                && R::is_call(typ, &bytes[..offset as usize]) =>
        {
            let low = Place::Absolute(rva.in_memory(image.base).wrapping_add(1 << 31) & !0xffff_ffff);
            let place = &mut bytes[offset as usize..][..size];
            R::apply(typ, place, rva, &Target { place: low, ..target })
        }
        result => result,
    }
    .map_err(fault)
}

/// What GNU compilers make for functions and do not leave out with them.
fn is_of_functions(image: &Image, section: &Section) -> bool {
    let name = &image.sections.parts[section.part as usize].name;
    // Tables of jumps are beside the function that is another object's.
    let tables: &[&[u8]] = if image.options.mingw.on { &[b".gcc_except_table", b".rdata"] } else { &[] };
    name.starts_with(b".eh_frame") || tables.iter().any(|kind| name.starts_with(kind))
}
