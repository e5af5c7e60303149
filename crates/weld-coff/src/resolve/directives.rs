//! What objects ask for in their `.drectve` sections: exports, references, libraries, and what other options
//! may stand there.

use std::borrow::Cow;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::{text, trace};

use super::Resolver;
use super::file::CoffFile;
use super::read::Rounds;
use crate::args::values;
use crate::coff::directives::Directive;
use crate::ids::{FileId, SymbolId};
use crate::input::object::Object;
use crate::symbol_names::{Rank, flag};

impl<'a> Resolver<'a, '_> {
    /// Adds a reference to `name`, with these flags.
    pub(super) fn refer(&self, name: &str, bits: u32, rounds: &mut Rounds<'a, '_, '_, '_>) -> SymbolId {
        let keep = |name: &[u8]| self.store.keep(name.to_vec());
        let bits = Rank::Undefined as u32 | flag::NATIVE | bits;
        rounds.refer_to(&text::bytes(name), bits, keep)
    }

    /// Carries out what objects that have been read say, in the order of files. What has been said before is
    /// passed over: headers that export everything say the same in thousands of objects.
    pub(super) fn carry_out_directives(&self, files: &[FileId], rounds: &mut Rounds<'a, '_, '_, '_>) {
        let _stretch = trace::stretch("directives");
        let mut libraries = Vec::new();
        let mut includes = Vec::new();
        for &file in files {
            let Some(CoffFile::Object(object)) = rounds.files.get_mut(file) else { continue };
            let directives = std::mem::take(&mut object.directives);
            let name = object.name.clone();
            if self.options.reports.verbose.all {
                self.say_directives(object);
            }
            for directive in directives {
                let (kind, word) = match &directive {
                    Directive::Export(word) => (b'e', word),
                    Directive::Include(word) => (b'i', word),
                    Directive::DefaultLib(word) => (b'l', word),
                    Directive::Other(word) => (b'o', word),
                };
                let key = [&[kind], &word[..]].concat();
                if !rounds.format.done.insert(key) {
                    continue;
                }
                let word: Cow<str> = text::text(word);
                match kind {
                    b'e' => match values::export(&word) {
                        Ok(export) => rounds.format.demands.exports.push(export),
                        Err(e) => self.sink.push(
                            Diagnostic::error(
                                Cause::Directive,
                                format!("{name}: in its directives: /export: {e}"),
                            )
                            .in_file(&name),
                        ),
                    },
                    b'i' => includes.push(word.into_owned()),
                    b'l' => libraries.push(word.into_owned()),
                    _ => {
                        let problems = rounds.format.demands.directive(&word, &name.to_string());
                        problems.into_iter().for_each(|problem| self.sink.push(problem));
                    }
                }
            }
        }
        for include in includes {
            self.refer(&include, flag::REF | flag::ROOT, rounds);
        }
        self.add_libraries(libraries, rounds);
    }

    /// `/verbose`: what an object asks for.
    fn say_directives(&self, object: &Object) {
        for bytes in object.directive_texts().filter_map(Result::ok) {
            let shown = text::text(bytes.trim_ascii());
            self.sink.push(Diagnostic::said(format!("Directives: {}: {shown}", object.name)));
        }
        self.sink.settle();
    }
}
