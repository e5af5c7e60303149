//! Which machine the link is for: what the command line says, or the first file that says it.

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::io::thin::member_bytes;

use super::Resolver;
use super::read::Rounds;
use crate::coff::identify::{self, Kind, identify};
use crate::coff::import::Import;
use crate::coff::machine::Machine;
use crate::coff::object::ObjectFile;
use crate::input::load::{Inputs, refusal};
use crate::input::unusable::Unusable;

/// Members of a library that are looked at for its machine.
const LOOKED_AT: usize = 16;

impl<'a> Resolver<'a, '_> {
    /// The machine, when all files have been read that nobody has to ask for.
    ///
    /// # Errors
    /// There is none, or it is not supported.
    pub(super) fn machine(&self, rounds: &mut Rounds<'a, '_, '_, '_>) -> Result<Machine, Diagnostics> {
        rounds.format.machine =
            rounds.format.machine.or_else(|| self.machine_of_libraries(rounds.format.inputs));
        let Some(machine) = rounds.format.machine else {
            self.refuse_other_code(rounds.format.inputs);
            self.sink.end_phase()?;
            return Err(Diagnostic::error(
                Cause::MachineUnknown,
                "no input says which machine to link for; use /machine",
            )
            .into());
        };
        if !machine.is_supported() {
            let text = format!("{} is not supported yet; x64, x86 and arm64 are", machine.name());
            return Err(Diagnostic::error(Cause::WrongMachine, text).into());
        }
        self.note_machine(rounds);
        Ok(machine)
    }

    /// Says so if nothing but code of a compiler is there that cannot be asked.
    fn refuse_other_code(&self, inputs: &Inputs) {
        for archive in &inputs.archives {
            let members = archive.archive.members().filter_map(Result::ok);
            let is_other = |data| identify(data) == Kind::MicrosoftBitcode;
            let mut data = members
                .take(LOOKED_AT)
                .filter_map(|member| member_bytes(self.store, &archive.path, &member).ok());
            if data.any(is_other) {
                self.sink.push(
                    Diagnostic::error(
                        Cause::LtoIncompatible,
                        format!("{}: {}", archive.path, refusal(Kind::MicrosoftBitcode)),
                    )
                    .in_file(&archive.path),
                );
            }
        }
    }

    /// Messages show names as this machine has them.
    pub(super) fn note_machine(&self, rounds: &Rounds<'_, '_, '_, '_>) {
        if let Some(machine) = rounds.format.machine {
            self.options.found_machine.get_or_init(|| machine);
        }
    }

    /// The machine of the first object or import in a library, if nothing but libraries is linked.
    fn machine_of_libraries(&self, inputs: &Inputs) -> Option<Machine> {
        inputs.archives.iter().find_map(|archive| {
            let members = archive.archive.members().filter_map(Result::ok);
            members.take(LOOKED_AT).find_map(|member| {
                let data = member_bytes(self.store, &archive.path, &member).ok()?;
                match identify(data) {
                    Kind::Bitcode => identify::machine(Kind::Bitcode, data),
                    Kind::Import => Some(Import::parse(data).ok()?.machine),
                    kind @ (Kind::Object | Kind::BigObject) => {
                        ObjectFile::parse(data, kind == Kind::BigObject).ok()?.machine
                    }
                    _ => None,
                }
            })
        })
    }
}

/// All files are for one machine; that of the first one if the command line does not say.
pub fn check(machine: Option<Machine>, all: &mut Option<Machine>) -> Result<(), Unusable> {
    match (machine, *all) {
        (Some(machine), Some(all)) if machine != all => Err(Unusable::Machine { own: machine, all }),
        (Some(machine), None) => {
            *all = Some(machine);
            Ok(())
        }
        _ => Ok(()),
    }
}
