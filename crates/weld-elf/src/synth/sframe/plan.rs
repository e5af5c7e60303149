//! Which functions `.sframe` describes, in which version, and where their rows lie.
//!
//! A function counts if it is in the output: not those of sections that nothing needs, of COMDAT groups that
//! lost, or that others stand for. Tables without any such function do not count at all, whatever they say.
//!
//! The output has the newest version that an input has; what is said in an older one can be said in it, but
//! for a few cases. Functions in those are left out, with a warning. Conventions are the machine's: where
//! tables do not agree in them, that is an error.

use weld_common::diag::{Cause, DiagSink};
use weld_common::par;

use super::of_plt::{self, Function, Plt};
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::sframe::{self, Conventions, FRAME_POINTER, Fde, HEADER, PC_RELATIVE, REPEATS, SORTED, Version};
use crate::synth::functions::Functions;

/// Objects read in one go.
const RUN: usize = 16;
/// FDEs written in one go, at least.
const STEP: usize = 1 << 12;
/// Version 3 counts the rows of a function by so many bits.
const MAX_ROWS: u32 = u16::MAX as u32;

/// What a table of an object has for the output.
pub struct Part {
    pub object: ObjectId,
    /// The section, and where the table is in it.
    pub shndx: u32,
    at: u32,
    version: Version,
    flags: u8,
    conventions: Conventions,
    pub fdes: Vec<Fde>,
    /// Where its rows lie among all.
    pub rows: u64,
}

/// The section before functions have their addresses.
pub struct SFrames {
    pub version: Version,
    pub flags: u8,
    pub conventions: Conventions,
    /// In the order of objects.
    pub parts: Vec<Part>,
    pub n_fdes: u32,
    pub n_rows: u32,
    /// Those of the PLT, whose rows lie after all others, and where.
    pub of_plt: Vec<Function>,
    pub plt_rows: u32,
    /// Bytes of all rows.
    pub rows_size: u32,
}

pub struct Planner<'p, 'a> {
    pub objects: &'p [Object<'a>],
    pub functions: Functions<'p, 'a>,
    pub plt: Plt,
    pub sink: &'p DiagSink,
    pub parallel: bool,
}

impl Planner<'_, '_> {
    /// `None` if there is no function to describe.
    pub fn plan(&self) -> Option<SFrames> {
        let extra = &self.functions.sections.objects;
        let first = extra.iter().position(|object| !object.sframes.is_empty())?;
        let found = par::runs("read .sframe", self.parallel, extra.len() - first, RUN, |run| {
            let mut parts = Vec::new();
            run.for_each(|number| self.object(first + number, &mut parts));
            parts
        });
        let mut parts: Vec<Part> = found.into_iter().flatten().collect();
        let newest =
            parts.iter().max_by_key(|part| part.version).map(|part| (part.version, self.name(part)))?;
        let conventions = parts[0].conventions;
        if let Some(other) = parts.iter().find(|part| part.conventions != conventions) {
            self.disagree(&parts[0], other);
            return None;
        }
        let (version, with) = newest;
        parts.retain(|part| part.version == version || self.is_convertible(part, version, &with));
        self.put_together(version, conventions, parts)
    }

    fn name(&self, part: &Part) -> String {
        self.objects[part.object.index()].name.to_string()
    }

    /// Adds the tables of an object that describe functions of the output.
    fn object(&self, index: usize, parts: &mut Vec<Part>) {
        let (object, sections) = (&self.objects[index], self.functions.sections);
        for &shndx in &sections.objects[index].sframes {
            let section = sections.get(SectionId(object.section_base + shndx));
            let relocs = sections.relocs(object, index, section);
            let data = object.section_data(shndx as usize).unwrap_or(&[]);
            let error = |at: u64, message: String| {
                self.sink.push(object.at_byte(shndx, at).error(Cause::MalformedDebugInfo, message))
            };
            let tables = match sframe::parse(data, object.format(), relocs, |reloc| reloc.r_offset()) {
                Ok(tables) => tables,
                Err(e) => {
                    error(e.at, e.wrong.to_string());
                    continue;
                }
            };
            for mut table in tables {
                let of_fde = |fde: &Fde| fde.reloc.map(|number| &relocs[number as usize]);
                for reloc in table.fdes.iter().filter_map(of_fde) {
                    if let Some(message) = wrong_reloc(object, reloc, table.version) {
                        error(reloc.r_offset(), message);
                    }
                }
                table.fdes.retain(|fde| of_fde(fde).is_some_and(|reloc| self.functions.has(object, reloc)));
                if table.fdes.is_empty() {
                    continue;
                }
                let (number, target) = (table.conventions.abi, object.machine.target);
                if Conventions::abi_of(target.machine, target.format) != Some(number) {
                    error(
                        table.at.into(),
                        format!("SFrame ABI {number} is not that of {}", object.machine.name),
                    );
                }
                let sframe::Table { at, version, flags, conventions, fdes } = table;
                let object = ObjectId(index as u32);
                parts.push(Part { object, shndx, at, version, flags, conventions, fdes, rows: 0 });
            }
        }
    }

    #[cold]
    fn disagree(&self, one: &Part, other: &Part) {
        let say = |Conventions { abi, fixed_fp, fixed_ra }| {
            format!("ABI {abi}, frame pointer at {fixed_fp}, return address at {fixed_ra}")
        };
        let at = self.objects[other.object.index()].at_byte(other.shndx, other.at.into());
        let (here, there) = (say(other.conventions), say(one.conventions));
        self.sink.push(at.error(
            Cause::MalformedDebugInfo,
            format!("SFrame table has {here}, but that of {} has {there}", self.name(one)),
        ));
    }

    /// Whether a part can be said in a newer version, which file `with` has.
    fn is_convertible(&self, part: &Part, version: Version, with: &str) -> bool {
        let Some(obstacle) = obstacle(part, version) else { return true };
        let (from, to) = (part.version as u8, version as u8);
        let at = self.objects[part.object.index()].at_byte(part.shndx, part.at.into());
        self.sink.push(at.warning(Cause::MalformedDebugInfo, format!(
            "functions are left out of .sframe: {obstacle}, so version {from} does not go together with version \
             {to} of {with}"
        )));
        false
    }

    fn put_together(
        &self,
        version: Version,
        conventions: Conventions,
        mut parts: Vec<Part>,
    ) -> Option<SFrames> {
        let head = version.head_size() as u64;
        let (mut n_fdes, mut n_rows, mut rows_size) = (0u64, 0u64, 0u64);
        let mut flags = FRAME_POINTER;
        for part in &mut parts {
            part.rows = rows_size;
            n_fdes += part.fdes.len() as u64;
            n_rows += part.fdes.iter().map(|fde| u64::from(fde.n_rows)).sum::<u64>();
            rows_size += part.fdes.iter().map(|fde| head + u64::from(fde.rows_size)).sum::<u64>();
            // All functions keep the frame pointer if those of all parts do. Where one part says how
            // addresses are stored, readers will know what that means.
            flags = (flags & part.flags) | (flags | part.flags) & PC_RELATIVE;
        }
        if n_fdes == 0 {
            return None;
        }
        let plt_rows = rows_size;
        let of_plt = of_plt::functions(self.plt, version, conventions);
        for function in &of_plt {
            // It leaves the frame pointer as it is.
            flags &= !FRAME_POINTER;
            n_fdes += 1;
            n_rows += function.rows.len() as u64;
            rows_size += head + u64::from(of_plt::ROW) * function.rows.len() as u64;
        }
        if version == Version::Three {
            flags |= PC_RELATIVE;
        }
        let number = |number: u64| u32::try_from(number).ok();
        let all = [n_fdes, n_rows, plt_rows, rows_size].map(number);
        let [Some(n_fdes), Some(n_rows), Some(plt_rows), Some(rows_size)] = all else {
            self.sink
                .error(Cause::TooLarge, ".sframe has more functions or rows than it can count in 32 bits");
            return None;
        };
        if n_fdes as usize > u32::MAX as usize / version.fde_size() {
            self.sink.error(Cause::TooLarge, ".sframe has an index of more than 4 GiB");
            return None;
        }
        flags = (flags | SORTED) & version.flags();
        Some(SFrames { version, flags, conventions, parts, n_fdes, n_rows, of_plt, plt_rows, rows_size })
    }
}

/// What is wrong with the relocation of a function's address.
fn wrong_reloc(object: &Object, reloc: &Rela, version: Version) -> Option<String> {
    let (machine, kind, size) = (object.machine, reloc.kind(), version.address_size());
    if kind == machine.none {
        return None;
    }
    if machine.class(kind) != Class::Pc || machine.width(kind) != size {
        let name = machine.type_name(kind);
        return Some(format!(
            "{name} does not store a distance of {size} bytes, as an SFrame index has them"
        ));
    }
    let index = reloc.sym();
    (index as usize >= object.syms.len()).then(|| format!("relocation has a bad symbol index: {index}"))
}

/// Why functions of a part cannot be described in a newer version.
fn obstacle(part: &Part, version: Version) -> Option<&'static str> {
    const S390: u8 = 4;
    let has = |test: &dyn Fn(&Fde) -> bool| part.fdes.iter().any(test);
    if part.version == Version::One && has(&|fde| fde.info & REPEATS != 0) {
        return Some("a block of code repeats, and it is not said how large it is");
    }
    if version < Version::Three {
        return None;
    }
    if part.conventions.abi == S390 {
        return Some("rows name registers in another way");
    }
    has(&|fde| fde.n_rows > MAX_ROWS).then_some("a function has more than 65535 rows")
}

impl SFrames {
    /// Bytes of the whole section.
    pub fn size(&self) -> u64 {
        self.rows_start() + u64::from(self.rows_size)
    }

    /// Where rows begin in the section.
    pub fn rows_start(&self) -> u64 {
        (HEADER + self.n_fdes as usize * self.version.fde_size()) as u64
    }

    /// Where it may be cut: between FDEs, and between the rows of parts.
    pub fn borders(&self) -> Vec<u64> {
        let rows = self.rows_start();
        let index = (HEADER as u64..rows).step_by(STEP * self.version.fde_size()).skip(1);
        let parts = self.parts.iter().map(|part| part.rows);
        let last = (!self.of_plt.is_empty()).then_some(u64::from(self.plt_rows));
        index.chain(parts.chain(last).map(|at| rows + at)).collect()
    }
}
