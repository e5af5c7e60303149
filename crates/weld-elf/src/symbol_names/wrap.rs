//! `--wrap`, and common symbols that are references: symbols that are not what they look like.

use weld_common::io::input::InputStore;

use crate::options::Options;

/// Names that undefined references are sent to instead.
#[derive(Default)]
pub struct Wrap<'a> {
    /// (from, to), sorted by `from`.
    map: Vec<(&'a [u8], &'a [u8])>,
    /// `--no-define-common`: common symbols are references.
    pub open_commons: bool,
}

impl<'a> Wrap<'a> {
    /// What options ask for: `foo` becomes `__wrap_foo`, `__real_foo` becomes `foo`.
    pub fn of(options: &Options, store: &'a InputStore<'a>) -> Self {
        let mut pairs = Vec::new();
        for name in &options.symbols.wrap {
            let keep = |text: String| -> &'a [u8] { store.keep(text.into_bytes()) };
            let plain = keep(name.clone());
            pairs.push((plain, keep(format!("__wrap_{name}"))));
            pairs.push((keep(format!("__real_{name}")), plain));
        }
        Wrap { open_commons: options.symbols.no_define_common, ..Wrap::new(pairs) }
    }

    /// `pairs` are (name, `__wrap_name`) and (`__real_name`, name) for every wrapped name.
    pub fn new(mut pairs: Vec<(&'a [u8], &'a [u8])>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        Wrap { map: pairs, open_commons: false }
    }

    /// Symbols are what they look like.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty() && !self.open_commons
    }

    /// (from, to), sorted by `from`.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + '_ {
        self.map.iter().copied()
    }

    pub fn rewrite(&self, name: &'a [u8]) -> &'a [u8] {
        match self.map.binary_search_by_key(&name, |p| p.0) {
            Ok(i) => self.map[i].1,
            Err(_) => name,
        }
    }
}
