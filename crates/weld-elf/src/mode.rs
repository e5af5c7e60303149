//! What the options and inputs together make of the output; the questions that phases ask.

use weld_common::diag::{Cause, Diagnostic, Diagnostics};

use crate::arch::Machine;
use crate::arch::facts::{Facts, TurnedCode, WITHOUT_PREFIXES};
use crate::options::{HashStyle, Options, OutputKind};

#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub machine: Machine,
    pub relocatable: bool,
    pub shared: bool,
    /// Addresses are known only up to the load address.
    pub pic: bool,
    /// There is a dynamic section and a dynamic symbol table.
    pub dynamic: bool,
    /// A loader named by `PT_INTERP` runs before the program.
    pub interp: bool,
    /// References that nothing defines may be left to the loader.
    pub dynamic_undefined: bool,
    /// What code may be used, as attributes of objects say it in bits of the machine's own.
    pub features: u32,
    /// `--be8`: the bytes of instructions are turned.
    pub turns_code: bool,
}

impl Mode {
    pub fn new(options: &Options, machine: Machine, has_shared_inputs: bool) -> Mode {
        let shared = options.kind == OutputKind::Shared;
        let relocatable = options.kind == OutputKind::Relocatable;
        let pic = shared || options.kind == OutputKind::Pie;
        let dynamic = Mode::is_dynamic(options, has_shared_inputs);
        let interp = dynamic
            && !shared
            && !options.dynamic.no_dynamic_linker
            && options.dynamic.dynamic_linker.is_some();
        // Libraries have a loader, whether the program names it or not.
        let no_loader = options.dynamic.no_dynamic_linker && !shared;
        let weak_default = shared || interp || has_shared_inputs && !no_loader;
        let asked = options.symbols.dynamic_undefined_weak.unwrap_or(weak_default);
        // Without a loader nobody looks; ld.lld takes the program's word that it looks itself.
        let dynamic_undefined = dynamic && asked && !(no_loader && options.compat_mode.is_gnu_ld());
        // Where attributes say nothing of it.
        let of_options = machine.facts().attributes.is_none() && options.layout.without_prefixes;
        let features = if of_options { WITHOUT_PREFIXES } else { 0 };
        // Objects have instructions in the order of data.
        let turns_code = options.layout.be8 && !relocatable;
        Mode { machine, relocatable, shared, pic, dynamic, interp, dynamic_undefined, features, turns_code }
    }

    /// Whether there is a dynamic section.
    pub fn is_dynamic(options: &Options, has_shared_inputs: bool) -> bool {
        // As GNU ld: who says that no loader comes, and what is exported, has somebody else who looks.
        let symbols = &options.symbols;
        let listed = !symbols.dynamic_lists.is_empty() || symbols.dynamic_list_data;
        let is_looked_at = options.dynamic.no_dynamic_linker && options.compat_mode.is_gnu_ld();
        let exports = (symbols.export_dynamic || is_looked_at && listed) && !options.static_link;
        match options.kind {
            OutputKind::Relocatable => false,
            OutputKind::Shared | OutputKind::Pie => true,
            OutputKind::Exec => has_shared_inputs || exports,
        }
    }

    /// Whether the program itself applies its dynamic relocations, after it has started.
    pub fn relocates_itself(&self) -> bool {
        self.pic && !self.shared && !self.interp
    }

    /// Refuses what the machine's loaders do not know.
    pub fn check(&self, options: &Options) -> Result<(), Diagnostics> {
        let machine = self.facts();
        if self.dynamic && !machine.dynamic.has_loader() {
            let what = match () {
                () if self.shared => "-shared is",
                () if self.pic => "-pie is",
                () if options.symbols.export_dynamic => "--export-dynamic is",
                () => "shared objects are",
            };
            let text = format!("{what} not supported for {}, whose programs nobody loads", machine.name);
            return Err(Diagnostic::error(Cause::UnsupportedOption, text).into());
        }
        let has = machine.dynamic.with_addends;
        if options.relocs.with_addends.is_some_and(|wanted| wanted != has) {
            let (option, place) = if has { ("rel", "beside them") } else { ("rela", "where they apply to") };
            let text = format!(
                "-z {option} is not supported for {}, whose relocations have addends {place}",
                machine.name
            );
            return Err(Diagnostic::error(Cause::UnsupportedOption, text).into());
        }
        let hashed = matches!(options.dynamic.hash_style, HashStyle::Gnu | HashStyle::Both);
        if hashed && self.dynamic && machine.loader_got.is_some() {
            let text = format!(
                "--hash-style: there is no .gnu.hash for {}, where the GOT decides on the order of symbols",
                machine.name
            );
            return Err(Diagnostic::error(Cause::UnsupportedOption, text).into());
        }
        if options.layout.be8 && machine.turned_code.is_none() {
            let text = format!("--be8 is for ARM (big endian), not for {}", machine.name);
            return Err(Diagnostic::error(Cause::UnsupportedOption, text).into());
        }
        if options.gateways.library && machine.gateways.is_none() {
            let text = format!("--cmse-implib is for ARM, not for {}", machine.name);
            return Err(Diagnostic::error(Cause::UnsupportedOption, text).into());
        }
        let relocs = &options.relocs;
        let of_x86_64 = [
            (relocs.unmark, "-z rewrite-endbr"),
            (relocs.skip_jumps, "--branch-to-branch"),
            (relocs.call_padding.is_some(), "-z call-nop"),
        ];
        for (_, option) in of_x86_64.iter().filter(|(asked, _)| *asked) {
            let why = match (self.relocatable, machine.name) {
                (true, _) => "with -r".to_owned(),
                (_, "x86-64") => continue,
                (_, "i386") if *option == "-z call-nop" => continue,
                (_, name) => format!("for {name}"),
            };
            return Err(Diagnostic::error(
                Cause::UnsupportedOption,
                format!("{option} is not supported {why}"),
            )
            .into());
        }
        Ok(())
    }

    /// How the bytes of instructions are turned, if they are.
    pub fn turned_code(&self) -> Option<&'static TurnedCode> {
        self.facts().turned_code.as_ref().filter(|_| self.turns_code)
    }

    /// What is known of the machine.
    pub fn facts(&self) -> &'static Facts {
        self.machine.facts()
    }
}
