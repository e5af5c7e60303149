//! Calls from split-stack code to other code.
//!
//! A function compiled with `-fsplit-stack` asks for more stack only if what it needs itself is not there.
//! Code that was compiled without does not ask at all. So a caller of such code would have to ask for a lot
//! more in its place, which its first instructions can be rewritten to do; that is not done here.
//!
//! Source: GCC wiki, "Split Stacks".

use weld_common::diag::Cause;

use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::job::Job;
use crate::live::{Live, SectionOwners};
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::shown;

/// What the calls are looked for in.
pub struct SplitStack<'c, 'a> {
    pub job: &'c Job<'a>,
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
}

impl SplitStack<'_, '_> {
    /// Warns of the first call of each object.
    pub fn report(&self) {
        for (i, extra) in self.sections.objects.iter().enumerate() {
            if extra.has_split_stack {
                self.object(ObjectId(i as u32));
            }
        }
    }

    fn object(&self, id: ObjectId) {
        let object = &self.resolved.objects[id.index()];
        for shndx in 1..object.shdrs.len() as u32 {
            let section = SectionId(object.section_base + shndx);
            let code = object.shdrs[shndx as usize].sh_flags() & SHF_EXECINSTR != 0;
            if !code || !self.live.contains(section) {
                continue;
            }
            let relocs = self.sections.relocs(object, id.index(), self.sections.get(section));
            let class = |r: &Rela| object.machine.class(r.kind());
            let calls = relocs.iter().filter(|r| matches!(class(r), Class::Pc | Class::Plt));
            let globals = calls
                .map(|r| r.sym())
                .filter(|s| *s >= object.first_global && (*s as usize) < object.syms.len());
            let Some(callee) = globals.map(|s| object.global(s)).find(|s| self.is_ordinary(*s)) else {
                continue;
            };
            let name = shown(self.job.options, self.resolved.names.get(callee).name);
            let text = format!(
                "split-stack code calls '{name}', which is no such code and may need more stack than there is; \
                 the linker does not provide for that"
            );
            self.job.sink.push(object.whole().warning(Cause::IncompatibleObjects, text));
            return;
        }
    }

    /// Whether the symbol is a function that may have been compiled without `-fsplit-stack`.
    fn is_ordinary(&self, id: SymbolId) -> bool {
        let symbol = &self.symbols[id];
        if !symbol.has(symbol_flags::FUNC) || self.resolved.names.get(id).name.starts_with(b"__morestack") {
            return false;
        }
        match symbol.kind() {
            symbol_flags::SHARED => true,
            symbol_flags::DEFINED => {
                let owner = self.owners.object(SectionId(symbol.section));
                !self.sections.objects[owner.index()].has_split_stack
            }
            _ => false,
        }
    }
}
