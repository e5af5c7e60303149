//! What has grown and shrunk between two files, summed by what people ask for: sections, archives and objects,
//! directories of sources, symbols.

use std::collections::HashMap;

use crate::model::{Model, Piece, Role};

/// By what pieces are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Section,
    /// Archives, and objects that are in none.
    Object,
    /// Directories of source files.
    Source,
    Symbol,
}

impl By {
    pub const ALL: [By; 4] = [By::Section, By::Object, By::Source, By::Symbol];

    /// What a table of it is called.
    pub fn title(self) -> &'static str {
        match self {
            By::Section => "Section",
            By::Object => "Archive or object",
            By::Source => "Source directory",
            By::Symbol => "Symbol",
        }
    }

    /// The same for programs.
    pub fn key(self) -> &'static str {
        match self {
            By::Section => "sections",
            By::Object => "objects",
            By::Source => "sources",
            By::Symbol => "symbols",
        }
    }
}

/// Bytes before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub old: u64,
    pub new: u64,
}

impl Change {
    /// Bytes more, or fewer.
    pub fn delta(self) -> i128 {
        i128::from(self.new) - i128::from(self.old)
    }

    /// Whether it has grown by more than the budget allows.
    pub fn exceeds(self, budget: Budget) -> bool {
        match budget {
            Budget::Bytes(bytes) => self.delta() > i128::from(bytes),
            Budget::Millipercent(share) => self.delta() * 100_000 > i128::from(self.old) * i128::from(share),
        }
    }
}

/// How much a file may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    Bytes(u64),
    /// Thousandths of a percent of the old size.
    Millipercent(u64),
}

impl Budget {
    /// `1000`, `16K`, `2M`, `1%`, `0.5%`; `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Budget> {
        if let Some(share) = text.strip_suffix('%') {
            let (whole, rest) = share.split_once('.').unwrap_or((share, "0"));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number(whole) || !is_number(rest) || rest.len() > 3 {
                return None;
            }
            let rest: u64 = format!("{rest:0<3}").parse().ok()?;
            return Some(Budget::Millipercent(
                whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(rest)?,
            ));
        }
        let (digits, unit) = match text.as_bytes().last()? {
            b'K' | b'k' => (&text[..text.len() - 1], 1 << 10),
            b'M' => (&text[..text.len() - 1], 1 << 20),
            b'G' => (&text[..text.len() - 1], 1 << 30),
            _ => (text, 1),
        };
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u64>().ok()?.checked_mul(unit).map(Budget::Bytes)).flatten()
    }
}

/// The file as a whole.
pub fn total(comparison: &Model) -> Change {
    let old = comparison.old.as_ref().map_or(0, |old| old.file_size);
    Change { old, new: comparison.about.file_size }
}

/// What has changed, largest changes first; of equal ones in the order of their names.
pub fn changes(comparison: &Model, by: By) -> Vec<(String, Change)> {
    let mut sums: HashMap<String, Change> = HashMap::new();
    for piece in &comparison.pieces {
        let Some(name) = name_of(comparison, piece, by) else { continue };
        let sum = match sums.get_mut(&*name) {
            Some(sum) => sum,
            None => sums.entry(name.into_owned()).or_default(),
        };
        sum.old = sum.old.saturating_add(piece.old_size);
        sum.new = sum.new.saturating_add(piece.size);
    }
    let mut list: Vec<(String, Change)> = sums.into_iter().filter(|(_, sum)| sum.old != sum.new).collect();
    list.sort_unstable_by(|a, b| b.1.delta().abs().cmp(&a.1.delta().abs()).then_with(|| a.0.cmp(&b.0)));
    list
}

fn name_of<'m>(model: &'m Model, piece: &Piece, by: By) -> Option<std::borrow::Cow<'m, str>> {
    let made = || match piece.role {
        Role::Contents => "(not known)",
        role => role.word(),
    };
    let object = model.object_of(piece);
    Some(match by {
        By::Section => match piece.output.row() {
            Some(row) => model.names.get(model.outputs[row].name).into(),
            None => format!("({})", piece.role.word()).into(),
        },
        By::Object => match object {
            Some(object) => {
                let archive = object.archive.row().map(|row| model.archives[row]);
                model.names.get(archive.unwrap_or(object.name)).into()
            }
            None => format!("({})", made()).into(),
        },
        By::Source => {
            let source =
                if piece.source.is_none() { object.map(|object| object.source)? } else { piece.source };
            let source = model.names.get(source);
            let end = source.rfind(['/', '\\'])?;
            source[..end].into()
        }
        By::Symbol => Some(model.names.get(piece.name)).filter(|name| !name.is_empty())?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::InputSection;
    use crate::model::{Object, OutputSection, Ref};

    #[test]
    fn budgets() {
        let bytes = |text| Budget::parse(text);
        assert_eq!(bytes("1000"), Some(Budget::Bytes(1000)));
        assert_eq!((bytes("16K"), bytes("2M")), (Some(Budget::Bytes(16384)), Some(Budget::Bytes(2 << 20))));
        assert_eq!(
            (bytes("1%"), bytes("0.5%")),
            (Some(Budget::Millipercent(1000)), Some(Budget::Millipercent(500)))
        );
        for text in ["", "-1", "1.5", "%", "1.%", "+1%", "1.2345%", "K", "99999999999999999999"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        let change = Change { old: 1000, new: 1010 };
        assert!(change.exceeds(Budget::Bytes(9)) && !change.exceeds(Budget::Bytes(10)));
        assert!(change.exceeds(Budget::Millipercent(999)) && !change.exceeds(Budget::Millipercent(1000)));
        assert!(!Change { old: 10, new: 5 }.exceeds(Budget::Bytes(0)));
        assert!(Change { old: 0, new: 5 }.exceeds(Budget::Millipercent(u64::MAX)));
    }

    #[test]
    fn sums_by_group() {
        let mut model = Model::default();
        let names = ["/src/a.cc", ".text", "f", "a.o"].map(|text| model.names.add(text));
        model.outputs = vec![OutputSection { name: names[1], ..OutputSection::default() }];
        model.objects = vec![Object { name: names[3], source: names[0], ..Object::default() }];
        model.inputs = vec![InputSection { name: names[1], object: Ref::to(0), ..InputSection::default() }];
        let piece = Piece { input: Ref::to(0), output: Ref::to(0), ..Piece::default() };
        model.pieces = vec![
            Piece { name: names[2], size: 5, old_size: 2, ..piece },
            Piece { size: 5, old_size: 5, ..piece },
            Piece { role: Role::Header, size: 1, old_size: 9, ..Piece::default() },
        ];
        let of = |by| changes(&model, by);
        let change = |name: &str, old, new| (name.to_owned(), Change { old, new });
        assert_eq!(of(By::Section), [change("(header)", 9, 1), change(".text", 7, 10)]);
        assert_eq!(of(By::Object), [change("(header)", 9, 1), change("a.o", 7, 10)]);
        assert_eq!(of(By::Source), [change("/src", 7, 10)]);
        assert_eq!(of(By::Symbol), [change("f", 2, 5)]);
    }
}
