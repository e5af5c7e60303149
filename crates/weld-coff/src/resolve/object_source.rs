//! What an object is read from: the file, or for intermediate code an object that stands for it.

use std::sync::atomic::Ordering;

use super::Resolver;
use super::read::Reader;
use crate::coff::identify::Kind;
use crate::coff::object::ObjectFile;
use crate::ids::FileId;
use crate::input::ir;
use crate::input::object::{ObjectError, Source};
use crate::input::unusable::Unusable;

impl<'a> Reader<'a, '_, '_> {
    /// What an object is read from; for intermediate code, the object that stands for it.
    pub(super) fn object_source(
        &self,
        file: FileId,
        data: &'a [u8],
        kind: Kind,
        is_lazy: bool,
    ) -> Result<Source<'a>, Unusable> {
        let Resolver { store, options, .. } = self.resolver;
        let parse = |data, is_big| ObjectFile::parse(data, is_big).map_err(ObjectError::from);
        let is_dissolved = self.resolver.compiled.is_some_and(|compiled| compiled.dissolves(file));
        let of = |coff, code| Source { coff, is_gnu: options.mingw.on, is_lazy, code, is_dissolved };
        let code = match kind {
            Kind::Bitcode => ir::of_bitcode(data, &options.lto, store)?,
            _ => {
                let coff = parse(data, kind == Kind::BigObject)?;
                match ir::in_object(&coff, ir::Search::of(&options.lto))? {
                    Some(code) => code,
                    None => return Ok(of(coff, None)),
                }
            }
        };
        if !is_lazy {
            self.has_code.store(true, Ordering::Relaxed);
        }
        let coff = parse(store.keep(ir::standing_for(&code.file, code.machine)), true)?;
        Ok(of(coff, Some(code.file.source)))
    }
}
