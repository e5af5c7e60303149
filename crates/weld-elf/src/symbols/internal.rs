//! Symbols that the linker defines: `_end`, `__ehdr_start`, `__start_X`, `--defsym`, …
//!
//! A reserved name is defined only where something refers to it and no object defines it. What it
//! stands for is kept as a [`Target`] and turned into an address after layout.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use weld_common::diag::{Cause, DiagSink, Diagnostic};

use super::assigned::{self, Original};
use super::{Symbols, symbol_flags, value_kinds};
use crate::arch;
use crate::arch::facts::Facts;
use crate::elf::SHN_UNDEF;
use crate::ids::*;
use crate::mode::Mode;
use crate::options::{DefsymValue, Options, OutputKind, Strip};
use crate::resolve::Resolved;
use crate::resolve::versioned::Shadowed;
use crate::script::commands::Command;
use crate::script::layout::LayoutScript;
use crate::script::sections::Assignment;
use crate::sections::Sections;
use crate::sections::descriptors;
use crate::sections::names::is_c_identifier;
use crate::sections::scripted::Rules;
use crate::symbol_names::symver;
use crate::symbol_names::{Rank, flag, pack};

/// What an internal symbol stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// First byte of, or first byte after, the output section of that name; the image's start if
    /// there is none.
    SectionStart(Vec<u8>),
    SectionEnd(Vec<u8>),
    /// The start of `.bss`, or of small data without contents in front of it; where the last contents end if
    /// there is neither.
    StartOfZeroes,
    /// Where the output section of that name is loaded, or after it; the image's start if there is none.
    SectionLoad {
        section: Vec<u8>,
        end: bool,
    },
    /// So far after the start of the output section of that name, or of the image if there is none.
    Pointer {
        section: Vec<u8>,
        offset: u64,
    },
    /// Where the image begins: the ELF header, if that is loaded.
    ImageStart,
    /// The ELF header. If it is not loaded, the name is not defined.
    Headers,
    /// The end of the last executable, initialised and of all sections.
    EndOfText,
    EndOfData,
    End,
    /// Where the linker addresses the GOT from.
    GotBase,
    Dynamic,
    /// `.eh_frame_hdr`; the image's start if there is none.
    FrameHeader,
    /// The relocations for IFUNCs of a static executable.
    RelaIpltStart,
    RelaIpltEnd,
    /// Offset 0 of the module's thread-local storage.
    TlsModuleBase,
    Absolute(u64),
    /// The code of a function with a descriptor: so far into an input section. `symbol` is what stands for it.
    Code {
        symbol: SymbolId,
        section: SectionId,
        offset: u64,
    },
    /// A version that the output defines.
    Version,
    /// Another symbol plus an offset.
    Alias(SymbolId, i64),
    /// What the layout by a script computes: a number that does not move with the image, or an address. If
    /// the script only gives another name to a symbol, that.
    Computed {
        absolute: bool,
        same: Option<SymbolId>,
    },
}

/// Commands of scripts, each with the script's path.
type Commands = [(Arc<str>, Command)];

pub struct Internal {
    pub id: SymbolId,
    pub target: Target,
    /// Who defines it, for messages: an option or a line of a script; empty for reserved names.
    pub origin: String,
    /// What was known of the name before: its best definition and flags.
    before: (u64, u32),
}

#[derive(Default)]
pub struct Internals {
    pub list: Vec<Internal>,
    /// A layout by a script: what expressions name and the table of names has.
    pub script_names: HashMap<String, SymbolId>,
    /// Those of them that a value depends on which there will be: no `PROVIDE` that nobody asks for.
    pub script_needs: Vec<SymbolId>,
    /// Symbols that the layout computes, with what objects define by their names, if they do.
    computed: HashMap<SymbolId, Option<Original>>,
    /// Which of a script's assignments to symbols take effect, in its order.
    in_effect: Vec<bool>,
}

/// What linker scripts say of symbols.
pub struct FromScripts<'s> {
    /// The commands of all.
    pub commands: &'s Commands,
    /// The one that lays out, and then computes all values itself.
    pub layout: Option<(&'s LayoutScript, &'s Rules)>,
}

impl Internals {
    /// Defines what is referred to. Call before symbols are frozen.
    pub fn define(
        resolved: &mut Resolved,
        sections: &Sections,
        options: &Options,
        scripts: FromScripts,
        sink: &DiagSink,
    ) -> Internals {
        let mut internals = Internals::default();
        let FromScripts { commands, layout: script } = scripts;
        match script {
            Some((script, rules)) => internals.computed_by(resolved, script, rules),
            None => internals.assigned(resolved, commands),
        }
        let own_layout = script.is_some_and(|(script, _)| script.has_sections && !script.adds_to_default);
        internals.linker_made(resolved, sections, options, own_layout, sink);
        if let Some((script, rules)) = script {
            let all = internals.effective(script.assignments_of(|section| !rules.is_disabled(section)));
            value_kinds::note(&mut internals, resolved, &all);
        }
        internals.follow_aliases(resolved, sink);
        internals
    }

    /// `--version-symbols`: a symbol for each version, unless an object defines the name or refers to it,
    /// which then means another symbol. Other modules see it whatever the output is.
    pub fn define_versions<'a>(
        &mut self,
        resolved: &mut Resolved<'a>,
        versions: impl IntoIterator<Item = &'a [u8]>,
    ) {
        for name in versions {
            let id = resolved.names.insert(name);
            let entry = resolved.names.get_mut(id);
            let is_free = entry.flags & (flag::REF_STRONG | flag::REF_WEAK) == 0;
            if entry.rank() >= Rank::Provided && is_free {
                let before = (entry.best, entry.flags);
                entry.flags |= flag::IS_VERSION | flag::REF_SHARED;
                entry.best = pack(Rank::Internal, FileId(0), self.list.len() as u32);
                self.list.push(Internal { id, target: Target::Version, origin: String::new(), before });
            }
        }
    }

    /// `--defsym`, and assignments in scripts.
    fn assigned(&mut self, resolved: &mut Resolved, scripts: &[(Arc<str>, Command)]) {
        let mut provided = Vec::new();
        for (_, command) in scripts {
            let Command::Define(definition) = command else { continue };
            let flags = if definition.hidden { flag::VIS_HIDDEN } else { 0 };
            let origin = definition.place.to_string();
            if definition.provide {
                let needs = match &definition.value {
                    DefsymValue::Symbol(other, _) => vec![&other[..]],
                    _ => Vec::new(),
                };
                let (name, value) = (&definition.name[..], Some(&definition.value));
                provided.push(Provided { name, needs, value, flags, origin });
            } else if let Some(target) = target_of(resolved, &definition.value) {
                self.assign(resolved, definition.name.as_bytes(), target, flags, origin);
            }
        }
        self.provide(resolved, &provided);
    }

    /// All assignments of a script that lays out.
    fn computed_by(&mut self, resolved: &mut Resolved, script: &LayoutScript, rules: &Rules) {
        let all = script.assignments_of(|section| !rules.is_disabled(section));
        self.in_effect = assigned::in_effect(resolved, &all);
        let all = self.effective(all);
        for (assignment, _) in all.iter().filter(|(assignment, _)| !assignment.provide) {
            let target = Target::Computed { absolute: false, same: None };
            let flags = if assignment.hidden { flag::VIS_HIDDEN } else { 0 };
            let name = assignment.name.as_bytes();
            let Some(id) = resolved.names.find(name) else { continue };
            let original = assigned::original(resolved, id);
            self.computed.entry(id).or_insert(original);
            self.assign(resolved, name, target, flags, assignment.place.to_string());
        }
        let provided =
            all.iter().filter(|(assignment, _)| assignment.provide).map(|(assignment, _)| Provided {
                name: &assignment.name,
                needs: assignment.value.symbols().collect(),
                value: None,
                flags: if assignment.hidden { flag::VIS_HIDDEN } else { 0 },
                origin: assignment.place.to_string(),
            });
        self.provide(resolved, &provided.collect::<Vec<_>>());
        let needs = |assignment: &&Assignment| {
            resolved.names.find(assignment.name.as_bytes()).is_some_and(|id| self.computed.contains_key(&id))
        };
        let provided = all.iter().map(|(a, _)| *a).filter(|a| a.provide).filter(needs).map(|a| &a.value);
        let values = script.expressions().into_iter().chain(provided);
        let named = values.flat_map(|value| value.symbols());
        self.script_needs = named.filter_map(|name| resolved.names.find(name.as_bytes())).collect();
        let names = script.expressions().into_iter().chain(all.iter().map(|(a, _)| &a.value));
        let symbols = names.flat_map(|value| value.names()).chain(all.iter().map(|(a, _)| a.name.as_str()));
        let known = symbols.filter_map(|name| Some((name.to_owned(), resolved.names.find(name.as_bytes())?)));
        self.script_names = known.collect();
    }

    /// `PROVIDE`: what is asked for and nobody defines. One that is needed may need others.
    fn provide(&mut self, resolved: &mut Resolved, all: &[Provided]) {
        let mut by_name: HashMap<&str, Vec<&Provided>> = HashMap::new();
        for one in all {
            by_name.entry(one.name).or_default().push(one);
        }
        // The first on top.
        let mut ready: Vec<&Provided> = all.iter().rev().collect();
        while let Some(one) = ready.pop() {
            if !self.provide_one(resolved, one) {
                continue;
            }
            for name in &one.needs {
                if let Some(id) = resolved.names.find(name.as_bytes()) {
                    resolved.names.get_mut(id).flags |= flag::REF_STRONG;
                    ready.extend(by_name.remove(name).into_iter().flatten().rev());
                }
            }
        }
    }

    /// Whether it is needed.
    fn provide_one(&mut self, resolved: &mut Resolved, one: &Provided) -> bool {
        let before = self.list.len();
        let target = match one.value {
            Some(value) => target_of(resolved, value),
            None => Some(Target::Computed { absolute: false, same: None }),
        };
        let Some(target) = target else { return false };
        self.optional(resolved, one.name.as_bytes(), target, one.flags);
        if self.list.len() == before {
            return false;
        }
        self.name_last(one.origin.clone());
        if one.value.is_none() {
            self.computed.insert(self.list[before].id, None);
        }
        true
    }

    /// Whether a layout by a script computes a symbol, and if so what an object defines by that name.
    pub fn computed(&self, id: SymbolId) -> Option<Option<Original>> {
        self.computed.get(&id).copied()
    }

    /// Whether an assignment of the script takes effect, by its number among those to symbols.
    pub fn takes_effect(&self, assignment: usize) -> bool {
        self.in_effect.get(assignment).copied().unwrap_or(true)
    }

    /// Those of all assignments of the script that take effect.
    fn effective<T>(&self, all: Vec<T>) -> Vec<T> {
        all.into_iter().zip(&self.in_effect).filter(|(_, takes)| **takes).map(|(one, _)| one).collect()
    }

    fn name_last(&mut self, origin: String) {
        if let Some(last) = self.list.last_mut().filter(|last| last.origin.is_empty()) {
            last.origin = origin;
        }
    }

    fn linker_made(
        &mut self,
        resolved: &mut Resolved,
        sections: &Sections,
        options: &Options,
        own_layout: bool,
        sink: &DiagSink,
    ) {
        let internals = self;
        if options.kind == OutputKind::Relocatable {
            return;
        }
        let machine = resolved.objects.first().map_or(arch::default().facts(), |object| object.machine);
        keep_got_base(resolved, machine, sink);
        announce_dynamic(resolved, options);
        // Bounds of the image that a script does not define are not there if it lays out.
        let is_bound = |target: &Target| {
            matches!(target, Target::EndOfText | Target::EndOfData | Target::End | Target::StartOfZeroes)
        };
        let is_dynamic = Mode::is_dynamic(options, !resolved.shared.is_empty());
        for (name, target, hidden) in reserved(machine) {
            // Who insists on a dynamic section where there is none has to be told so.
            let absent = matches!(target, Target::Dynamic) && !is_dynamic;
            if absent || own_layout && is_bound(&target) {
                continue;
            }
            internals.optional(resolved, name.as_bytes(), target, if hidden { flag::VIS_HIDDEN } else { 0 });
        }
        internals.rela_iplt(resolved, options);
        internals.data_pointer(resolved, options);
        internals.code_index(resolved);
        internals.codes(resolved, sections);
        let visibility = match options.symbols.start_stop_visibility {
            crate::elf::STV_DEFAULT => 0,
            crate::elf::STV_PROTECTED => flag::VIS_PROTECTED,
            crate::elf::STV_INTERNAL => flag::VIS_INTERNAL,
            _ => flag::VIS_HIDDEN,
        };
        for name in sections.bins.iter().filter(|n| is_c_identifier(n)) {
            internals.bounds(resolved, name, name, options, visibility);
        }
        if options.symbols.start_stop {
            internals.bounds_of_all(resolved, sections, options, visibility);
        }
    }

    /// The bounds of an output section by the name that C has for it.
    fn bounds(
        &mut self,
        resolved: &mut Resolved,
        section: &[u8],
        name: &[u8],
        options: &Options,
        visibility: u32,
    ) {
        let section = || section.to_vec();
        let load = |end| Target::SectionLoad { section: section(), end };
        let start = [b"__start_", name].concat();
        self.optional(resolved, &start, Target::SectionStart(section()), visibility);
        let stop = [b"__stop_", name].concat();
        self.optional(resolved, &stop, Target::SectionEnd(section()), visibility);
        if options.layout.physical_image_base.is_some() {
            let start = [b"__phys_start_", name].concat();
            self.optional(resolved, &start, load(false), visibility);
            let stop = [b"__phys_stop_", name].concat();
            self.optional(resolved, &stop, load(true), visibility);
        }
    }

    /// `--start-stop`: the bounds of sections whose names C cannot spell, if there is something in them.
    fn bounds_of_all(
        &mut self,
        resolved: &mut Resolved,
        sections: &Sections,
        options: &Options,
        visibility: u32,
    ) {
        let mut is_there = vec![false; sections.bins.len()];
        for section in sections.list.iter().filter(|section| section.in_image()) {
            is_there[section.bin().index()] = true;
        }
        for (name, _) in sections.bins.iter().zip(is_there).filter(|(_, is_there)| *is_there) {
            let spelled = name.strip_prefix(b".").unwrap_or(name);
            let letter = |byte: &u8| if byte.is_ascii_alphanumeric() { *byte } else { b'_' };
            let spelled: Vec<u8> = spelled.iter().map(letter).collect();
            self.bounds(resolved, name, &spelled, options, visibility);
        }
    }

    /// Lets an alias of an alias stand for what the other stands for.
    fn follow_aliases(&mut self, resolved: &Resolved, sink: &DiagSink) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            /// On the chain that is being followed.
            Here,
            Done,
            Circular,
        }
        let mut states = vec![State::New; self.list.len()];
        let mut chain = Vec::new();
        for start in 0..self.list.len() {
            let mut next = Some(start);
            while let Some(at) = next.filter(|at| states[*at] == State::New) {
                states[at] = State::Here;
                chain.push(at);
                next = self.behind(resolved, at);
            }
            let circular = next.is_some_and(|at| states[at] != State::Done);
            // From the end of the chain, so that each has only one step to go.
            for at in chain.drain(..).rev() {
                if circular {
                    states[at] = State::Circular;
                    sink.error(
                        Cause::SymbolAssignment,
                        format!("{}: the value depends on itself", self.list[at].origin),
                    );
                    continue;
                }
                states[at] = State::Done;
                if let Some(other) = self.behind(resolved, at)
                    && let (Target::Alias(_, offset), Target::Alias(end, more)) =
                        (&self.list[at].target, &self.list[other].target)
                {
                    self.list[at].target = Target::Alias(*end, offset.wrapping_add(*more));
                }
            }
        }
    }

    /// The definition that one stands for, if both are aliases.
    fn behind(&self, resolved: &Resolved, at: usize) -> Option<usize> {
        let Target::Alias(other, _) = self.list[at].target else { return None };
        let entry = resolved.names.get(other);
        let other = (entry.rank() == Rank::Internal).then(|| entry.sym() as usize)?;
        matches!(self.list[other].target, Target::Alias(..)).then_some(other)
    }

    /// The bounds (`__start_X`, `__stop_X`) of sections of which nothing is left in the output.
    pub fn without_section(&self, sections: &Sections, is_live: impl Fn(SectionId) -> bool) -> Vec<SymbolId> {
        let bounds = || {
            self.list.iter().filter_map(|internal| match &internal.target {
                Target::SectionStart(name) | Target::SectionEnd(name) if is_c_identifier(name) => {
                    Some((internal.id, &name[..]))
                }
                _ => None,
            })
        };
        if bounds().next().is_none() {
            return Vec::new();
        }
        let mut is_left = vec![false; sections.bins.len()];
        for (i, section) in sections.list.iter().enumerate() {
            if section.in_image() && is_live(SectionId(i as u32)) {
                is_left[section.bin().index()] = true;
            }
        }
        let left: HashSet<&[u8]> = sections
            .bins
            .iter()
            .zip(is_left)
            .filter(|(_, is_left)| *is_left)
            .map(|(name, _)| *name)
            .collect();
        bounds().filter(|(_, name)| !left.contains(name)).map(|(id, _)| id).collect()
    }

    /// The symbol that stands for the ELF header.
    pub fn start_of_headers(&self) -> Option<SymbolId> {
        let start = self.list.iter().find(|internal| internal.target == Target::Headers);
        start.map(|internal| internal.id)
    }

    /// Takes the definitions of `ids` back, as far as they are the linker's own.
    pub fn undefine(&mut self, resolved: &mut Resolved, ids: &[SymbolId]) {
        let ids: HashSet<&SymbolId> = ids.iter().collect();
        for internal in std::mem::take(&mut self.list) {
            let entry = resolved.names.get_mut(internal.id);
            if ids.contains(&internal.id) {
                (entry.best, entry.flags) = internal.before;
                continue;
            }
            entry.best = pack(Rank::Internal, FileId(0), self.list.len() as u32);
            self.list.push(internal);
        }
    }

    /// Marks definitions with fixed values as such, so that they are not taken for addresses.
    pub fn freeze(&self, symbols: &mut Symbols) {
        // Aliases may come before what they stand for.
        for _ in 0..2 {
            for internal in &self.list {
                if internal.target == Target::TlsModuleBase {
                    symbols[internal.id].add(symbol_flags::TLS);
                }
                let value = match internal.target {
                    Target::Absolute(value) => Some(value),
                    Target::Version => Some(0),
                    // Layout will say which.
                    Target::Computed { absolute: true, .. } => Some(0),
                    Target::Alias(other, offset) if symbols[other].kind() == symbol_flags::ABSOLUTE => {
                        Some(symbols[other].constant().wrapping_add(offset as u64))
                    }
                    _ => None,
                };
                if let Some(value) = value {
                    let assigned = match internal.target {
                        Target::Alias(other, _) => symbols[other].flags() & symbol_flags::ASSIGNED,
                        _ => symbol_flags::ASSIGNED,
                    };
                    let symbol = &mut symbols.list[internal.id.index()];
                    symbol.set_constant(value);
                    symbol.remove(symbol_flags::KIND);
                    let kind = if internal.target == Target::Version { symbol_flags::OBJECT } else { 0 };
                    symbol.add(symbol_flags::ABSOLUTE | assigned | kind);
                } else if let Target::Alias(other, _) | Target::Computed { same: Some(other), .. } =
                    internal.target
                {
                    // A function's alias is a function, and that of an IFUNC another IFUNC: the value is the
                    // resolver's address, which is not to be called.
                    const KINDS: u32 = symbol_flags::FUNC
                        | symbol_flags::TLS
                        | symbol_flags::OBJECT
                        | symbol_flags::IFUNC
                        | symbol_flags::OTHER;
                    let kind = symbols[other].flags() & KINDS;
                    symbols[internal.id].add(kind);
                }
            }
        }
    }

    /// Static executables apply their own `IRELATIVE` relocations between these; elsewhere the
    /// loader does, and the range is empty.
    fn rela_iplt(&mut self, resolved: &mut Resolved, options: &Options) {
        let own = options.kind == OutputKind::Exec && resolved.shared.is_empty();
        let end = if own { Target::RelaIpltEnd } else { Target::RelaIpltStart };
        let addends = resolved.objects.first().is_none_or(|object| object.machine.dynamic.with_addends);
        let names: [&[u8]; 2] = match addends {
            true => [b"__rela_iplt_start", b"__rela_iplt_end"],
            false => [b"__rel_iplt_start", b"__rel_iplt_end"],
        };
        self.optional(resolved, names[0], Target::RelaIpltStart, flag::VIS_HIDDEN);
        self.optional(resolved, names[1], end, flag::VIS_HIDDEN);
    }

    /// A register of programs, which they load with its address when they start.
    fn data_pointer(&mut self, resolved: &mut Resolved, options: &Options) {
        let machine = resolved.objects.first().map(|object| object.machine);
        let Some(pointer) = machine.and_then(|machine| machine.pointer.as_ref()) else { return };
        if options.kind != OutputKind::Shared {
            let target = Target::Pointer { section: pointer.section.to_vec(), offset: pointer.offset };
            self.optional(resolved, pointer.symbol.as_bytes(), target, 0);
        }
    }

    /// The bounds of the table by which code is unwound.
    fn code_index(&mut self, resolved: &mut Resolved) {
        let machine = resolved.objects.first().map(|object| object.machine);
        if let Some(index) = machine.and_then(|machine| machine.code_index.as_ref()) {
            let section = || index.name.as_bytes().to_vec();
            let (start, end) = (Target::SectionStart(section()), Target::SectionEnd(section()));
            self.optional(resolved, index.start.as_bytes(), start, flag::VIS_HIDDEN);
            self.optional(resolved, index.end.as_bytes(), end, flag::VIS_HIDDEN);
        }
    }

    /// Where functions have descriptors: names of code, those of functions with a dot in front, that no object defines.
    fn codes(&mut self, resolved: &mut Resolved, sections: &Sections) {
        if resolved.objects.first().is_none_or(|object| object.machine.descriptors.is_none()) {
            return;
        }
        let mut found = Vec::new();
        for object in &resolved.objects {
            for index in object.first_global..object.syms.len() as u32 {
                let name = object.symbol_name(index);
                if object.syms[index as usize].st_shndx() != SHN_UNDEF || name.first() != Some(&b'.') {
                    continue;
                }
                let function = resolved.names.find(&name[1..]);
                let code = function.and_then(|function| descriptors::code_of(resolved, sections, function));
                if let (Some(symbol), Some((section, offset))) = (resolved.names.find(name), code) {
                    found.push((name, Target::Code { symbol, section, offset }));
                }
            }
        }
        for (name, target) in found {
            self.optional(resolved, name, target, flag::VIS_HIDDEN);
        }
    }

    fn optional(&mut self, resolved: &mut Resolved, name: &[u8], target: Target, flags: u32) {
        let Some(id) = resolved.names.find(name) else { return };
        let entry = resolved.names.get_mut(id);
        let referenced =
            flag::REF_STRONG | flag::REF_WEAK | flag::REF_SHARED | flag::REF_SHARED_WEAK | flag::ROOT;
        if entry.rank() >= Rank::Provided && entry.flags & referenced != 0 {
            let before = (entry.best, entry.flags);
            entry.flags |= flags;
            entry.best = pack(Rank::Internal, FileId(0), self.list.len() as u32);
            self.list.push(Internal { id, target, origin: String::new(), before });
        }
    }

    /// Defines a name whatever defined it before; of two assignments the last counts.
    fn assign(&mut self, resolved: &mut Resolved, name: &[u8], target: Target, flags: u32, origin: String) {
        // Announced as a root, so it is in the table.
        let Some(id) = resolved.names.find(name) else { return };
        if let Some(spelled) = symver::split(resolved.names.get(id).name) {
            resolved.names.get_mut(id).flags |= flag::HAS_VERSION;
            let plain = resolved.names.find(spelled.name);
            let shadowed = |plain| Shadowed { id: plain, by: id, version: spelled.version, is_same: false };
            resolved.shadowed.extend(plain.map(shadowed));
        }
        let entry = resolved.names.get_mut(id);
        let before = (entry.best, entry.flags);
        entry.flags |= flags;
        if entry.rank() == Rank::Internal {
            self.list[entry.sym() as usize] = Internal { id, target, origin, before };
            return;
        }
        entry.best = pack(Rank::Internal, FileId(0), self.list.len() as u32);
        self.list.push(Internal { id, target, origin, before });
    }
}

/// A symbol that a script defines if somebody asks for it.
struct Provided<'s> {
    name: &'s str,
    /// The symbols of its value.
    needs: Vec<&'s str>,
    /// `None`: layout computes it.
    value: Option<&'s DefsymValue>,
    flags: u32,
    origin: String,
}

fn target_of(resolved: &Resolved, value: &DefsymValue) -> Option<Target> {
    Some(match value {
        DefsymValue::Absolute(value) => Target::Absolute(*value),
        // Announced as a root, too.
        DefsymValue::Symbol(other, offset) => Target::Alias(resolved.names.find(other.as_bytes())?, *offset),
        // Refused when it was read.
        DefsymValue::Computed(_) => return None,
    })
}

/// What code calls the GOT's base.
fn got_base_name(machine: &Facts) -> &'static str {
    machine.toc.as_ref().map_or("_GLOBAL_OFFSET_TABLE_", |toc| toc.symbol)
}

/// Code finds the GOT by this name, so it cannot mean anything else.
fn keep_got_base(resolved: &Resolved, machine: &Facts, sink: &DiagSink) {
    let name = got_base_name(machine);
    let Some(id) = resolved.names.find(name.as_bytes()) else { return };
    let entry = resolved.names.get(id);
    if matches!(entry.rank(), Rank::Strong | Rank::Weak | Rank::Common) {
        let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
        sink.push(
            Diagnostic::error(
                Cause::ReservedSymbol,
                format!("{}: defines {name}, which is the linker's own", object.name),
            )
            .in_file(&object.name),
        );
    }
}

/// The dynamic section has its name in `.symtab` whether the program refers to it or not: there debuggers
/// look for it.
fn announce_dynamic(resolved: &mut Resolved, options: &Options) {
    let is_dynamic = Mode::is_dynamic(options, !resolved.shared.is_empty());
    if !is_dynamic || options.symtab.strip == Strip::All {
        return;
    }
    let id = resolved.names.insert(b"_DYNAMIC");
    let entry = resolved.names.get_mut(id);
    if entry.rank() >= Rank::Provided {
        entry.flags |= flag::ROOT;
    }
}

/// Reserved names, what they mean, and whether they stay inside the output.
fn reserved(machine: &Facts) -> Vec<(&'static str, Target, bool)> {
    let start = |name: &str| Target::SectionStart(name.as_bytes().to_vec());
    // Where loaders fill the GOT by themselves, code has other names for its base.
    let bases = machine.loader_got.as_ref().map_or(&[][..], |got| got.names);
    let got = if bases.is_empty() { Target::GotBase } else { start(".got") };
    let end = |name: &str| Target::SectionEnd(name.as_bytes().to_vec());
    let mut list = vec![
        ("__ehdr_start", Target::Headers, true),
        ("__executable_start", Target::ImageStart, true),
        ("__dso_handle", Target::ImageStart, true),
        (got_base_name(machine), got, true),
        ("_DYNAMIC", Target::Dynamic, true),
        ("_TLS_MODULE_BASE_", Target::TlsModuleBase, true),
        ("__init_array_start", start(".init_array"), true),
        ("__init_array_end", end(".init_array"), true),
        ("__fini_array_start", start(".fini_array"), true),
        ("__fini_array_end", end(".fini_array"), true),
        ("__preinit_array_start", start(".preinit_array"), true),
        ("__preinit_array_end", end(".preinit_array"), true),
        ("__GNU_EH_FRAME_HDR", Target::FrameHeader, true),
        ("__bss_start", Target::StartOfZeroes, false),
        ("etext", Target::EndOfText, false),
        ("_etext", Target::EndOfText, false),
        ("__etext", Target::EndOfText, false),
        ("edata", Target::EndOfData, false),
        ("_edata", Target::EndOfData, false),
        ("end", Target::End, false),
        ("_end", Target::End, false),
    ];
    list.extend(bases.iter().map(|name| (*name, Target::GotBase, true)));
    list
}
