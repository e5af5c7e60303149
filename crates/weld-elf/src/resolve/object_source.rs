//! Which object a file is: what is in it, or for intermediate code an object that stands for it.

use std::sync::atomic::Ordering;

use weld_lto::told;

use super::read::Reader;
use crate::arch;
use crate::ids::FileId;
use crate::input::Reading as Settings;
use crate::input::identify;
use crate::input::ir;
use crate::input::object::Object;
use crate::input::unusable::Unusable;

impl<'a> Reader<'a, '_> {
    /// An object or member.
    pub fn object(&self, file: FileId) -> Result<Object<'a>, Unusable> {
        self.parsed(file, self.inputs.bytes(file)?, self.inputs.reading(false))
    }

    /// The object that a file is, or that stands for its intermediate code.
    pub(super) fn parsed(
        &self,
        file: FileId,
        data: &'a [u8],
        settings: Settings<'a>,
    ) -> Result<Object<'a>, Unusable> {
        let name = self.inputs.name(file);
        match identify::identify(data) {
            identify::Kind::Bitcode => {
                let code = told::read_or_ask(data, &self.options.lto, settings.store)?;
                self.has_code.store(true, Ordering::Relaxed);
                return ir::standing_for(&code, file, name, settings);
            }
            kind => identify::check_relocatable(kind)?,
        }
        let object = Object::parse(file, name, settings.store.standing_for(data), settings)?;
        if self.search == ir::Search::default() {
            return Ok(object);
        }
        match ir::inside(&object, self.search)? {
            Some(code) if !(self.is_compiled && code.is_fat) => {
                self.has_code.store(true, Ordering::Relaxed);
                ir::standing_for(&code, file, object.name, settings)
            }
            _ => Ok(object),
        }
    }

    pub(super) fn settings(&self) -> Settings<'a> {
        self.inputs.reading(self.parallel)
    }

    /// Whether an object for another machine has no symbols that anybody could ask for. C libraries have such
    /// members, so that there is an archive of some name.
    #[cold]
    pub(super) fn offers_nothing(&self, file: FileId, data: &'a [u8]) -> bool {
        let Some(machine) = arch::of_file(data) else { return false };
        let settings = Settings { machine: machine.facts(), ..self.settings() };
        Object::parse(file, self.inputs.name(file), data, settings).is_ok_and(|object| object.records() == 0)
    }
}
