//! Names of C++ as most are, demangled in one pass over their bytes.
//!
//! The library makes a tree of a name and writes that, which takes ten times as long; a report of everything that is in a
//! program spells a million. Here a name is written while it is read, because all that is known here is written in the
//! order in which it is mangled: names in names, templates with packs, constructors, operators, lambdas, what is local to
//! a function, pointers, references, functions and arrays as types. What may come back by number (`S_`, `T_`) is remembered
//! by where it stands in the text; where it is another text then, because it has parameters of a template in it that stand
//! for something else, it is read again ([`Names::part`]). Only the type that a function template returns has to move.
//!
//! Whatever else there is (most expressions, members as types) is `None`, and left to the library, which says the
//! same of all that is said here but for what it gets wrong (see the tests). It is not asked for what newer compilers write
//! and it does not know: requirements, and parameters of templates where arguments should be.

#[cfg(test)]
mod tests;
mod types;

/// More of a kind are left to the library, as are texts and names in names beyond these.
const SUBSTITUTES: usize = 64;
const ARGUMENTS: usize = 16;
const LONGEST: usize = 8 << 10;
const HIGHEST: usize = 1000;
const DEEPEST: u32 = 24;

/// A part of the text that may come again: where it stands, and in it the name that constructors have.
#[derive(Clone, Copy, Default)]
struct Part {
    start: u16,
    end: u16,
    own: (u16, u16),
    form: Form,
    /// If parameters of a template are in it, the scope that has them: they are others elsewhere.
    scope: u8,
    /// Of a type, where it stands in the name: it is read again where its text is not what is wanted.
    source: (u16, u16),
}

/// What a type is to those made of it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Plain,
    Reference,
    /// A function or an array, or made of one: what is made of it has something in its middle.
    Around,
    /// A reference to one.
    AroundReference,
    /// It does not stand in the text, or is something else each time.
    Absent,
    /// Several arguments, or none.
    Pack,
}

/// What a name is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is the name of a function or a variable.
    Thing,
    /// It is a type.
    Type,
    /// It ends the name of a type that is local to a function, and nothing refers to it alone.
    LocalType,
}

/// An argument of a template: where it stands in the text, and if it is several (a pack) where these stand in
/// [`Arguments::packed`].
#[derive(Clone, Copy, Default)]
struct Argument {
    start: u16,
    end: u16,
    form: Form,
    pack: Option<(u8, u8)>,
}

/// The arguments of a template, by number.
#[derive(Clone, Copy, Default)]
struct Arguments {
    list: [Argument; ARGUMENTS],
    count: usize,
    packed: [Argument; ARGUMENTS],
    packed_count: usize,
}

/// What a name ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// `St`, which nothing can refer to.
    Std,
    Name,
    Operator,
    /// To a type.
    Conversion,
    Constructor,
    /// Arguments of a template, but for one whose name is a constructor's.
    Arguments,
    ConstructorArguments,
}

/// What names of things are made of: letters, digits, `_`; of those that compilers make, `$`.
const IN_WORDS: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$');
        byte += 1;
    }
    all
};

/// How many digits `bytes` begin with.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// What is written: ASCII, which is looked at once, when it is whole.
struct Text(Vec<u8>);

impl Text {
    /// Whether the older scheme of Rust may spell it otherwise.
    fn has_odd(&self) -> bool {
        memchr::memmem::find(&self.0, b"(anonymous").is_some() || memchr::memchr(b'$', &self.0).is_some()
    }
}

impl std::ops::AddAssign<&str> for Text {
    fn add_assign(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

struct Names<'n> {
    name: &'n [u8],
    rest: &'n [u8],
    text: Text,
    parts: [Part; SUBSTITUTES],
    count: usize,
    /// Those of the name that is demangled, and whether that is read.
    arguments: Arguments,
    is_named: bool,
    depth: u32,
    /// The function, or the lambda, that is read, and how many there are.
    scope: u8,
    scopes: u8,
    is_lambda: bool,
    /// Where in the text, and one more, a parameter of a template was last put.
    parameter: u16,
    /// Which of several arguments a parameter stands for, and how many there are.
    element: Option<usize>,
    elements: Option<usize>,
    /// If it ends without a text, who has none.
    unsaid: Unsaid,
}

/// Who does not say what a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsaid {
    /// It is not said here, but may be by a library.
    Here,
    /// No library knows it.
    Anywhere,
}

/// `name` demangled, if it is a common one of C++.
pub(super) fn demangle(name: &[u8]) -> Result<String, Unsaid> {
    let rest = name.strip_prefix(b"_Z").ok_or(Unsaid::Here)?;
    let mut names = Names {
        name,
        rest,
        // What comes back by number is longer as a text.
        text: Text(Vec::with_capacity(4 * name.len() + 64)),
        parts: [Part::default(); SUBSTITUTES],
        count: 0,
        arguments: Arguments::default(),
        is_named: false,
        depth: 0,
        scope: 0,
        scopes: 0,
        is_lambda: false,
        parameter: 0,
        element: None,
        elements: None,
        unsaid: Unsaid::Here,
    };
    let is_whole = names.whole().is_some() && names.rest.is_empty();
    let text = if is_whole { String::from_utf8(names.text.0).ok() } else { None };
    text.ok_or(names.unsaid)
}

impl Names<'_> {
    fn whole(&mut self) -> Option<()> {
        let (words, rest) = match self.rest {
            [b'T', b'V', rest @ ..] => ("vtable for ", rest),
            [b'T', b'T', rest @ ..] => ("VTT for ", rest),
            [b'T', b'I', rest @ ..] => ("typeinfo for ", rest),
            [b'T', b'S', rest @ ..] => ("typeinfo name for ", rest),
            [b'G', b'V', rest @ ..] => ("guard variable for ", rest),
            [b'T', b'W', rest @ ..] => ("TLS wrapper function for ", rest),
            [b'T', b'H', rest @ ..] => ("TLS init function for ", rest),
            [b'T', b'h', rest @ ..] => ("non-virtual thunk to ", rest),
            _ => {
                // In a namespace without a name it may be one of Rust's older scheme.
                let may_be_rust = self.rest.first() == Some(&b'N');
                let is_variable = self.encoding()?;
                return (!is_variable || !may_be_rust || !self.text.has_odd()).then_some(());
            }
        };
        let kind = self.rest[1];
        self.rest = rest;
        self.text += words;
        match kind {
            b'h' => {
                self.take(b'n');
                let digits = digits(self.rest);
                self.rest = self.rest[digits..].strip_prefix(b"_").filter(|_| digits > 0)?;
                self.encoding()?;
            }
            b'W' | b'H' => self.variable()?,
            b'V' if words.starts_with('g') => self.variable()?,
            _ => self.type_of_class()?,
        }
        Some(())
    }

    fn variable(&mut self) -> Option<()> {
        let (last, qualifiers) = self.name(Use::Thing)?;
        (matches!(last, Last::Name | Last::Arguments) && qualifiers.is_empty()).then_some(())
    }

    /// Whether all is read of a function or a variable.
    fn is_over(&self) -> bool {
        matches!(self.rest.first(), None | Some(b'E'))
    }

    /// A function with its parameters, or a variable; whether it is that.
    fn encoding(&mut self) -> Option<bool> {
        let first = self.text.0.len();
        let (last, qualifiers) = self.name(Use::Thing)?;
        // Without parameters it is a variable.
        if self.is_over() {
            return (matches!(last, Last::Name | Last::Arguments) && qualifiers.is_empty()).then_some(true);
        }
        self.is_named = true;
        let (name_end, mut start) = (self.text.0.len(), 0);
        if last == Last::Arguments {
            // What else a function returns stands around its name.
            matches!(self.one_type()?, Form::Plain | Form::Reference).then_some(())?;
            self.text.0.push(b' ');
            start = self.text.0.len();
        }
        self.text.0.push(b'(');
        self.parameter_types()?;
        self.text.0.push(b')');
        self.text += qualifiers;
        if start > 0 {
            self.text.0[first..start].rotate_left(name_end - first);
            if !self.rest.is_empty() {
                self.turned(first, name_end, start)?;
            }
        }
        Some(false)
    }

    /// To be called when what stood from `middle` to `end` has moved to `first`, which is in front of what stood there.
    fn turned(&mut self, first: usize, middle: usize, end: usize) -> Option<()> {
        self.end()?;
        let [first, middle, end] = [first, middle, end].map(|place| place as u16);
        for Part { start, end: part_end, own, .. } in &mut self.parts[..self.count] {
            let step = match *start {
                place if place >= first && place < middle => end - middle,
                place if place >= middle && place < end => (middle - first).wrapping_neg(),
                _ => continue,
            };
            let places = [start, part_end].into_iter();
            let own = if *own == (0, 0) { [None, None] } else { [Some(&mut own.0), Some(&mut own.1)] };
            places.chain(own.into_iter().flatten()).for_each(|place| *place = place.wrapping_add(step));
        }
        if self.parameter > first {
            self.parameter = self.end()?;
        }
        Some(())
    }

    /// Types of parameters up to an `E` or the end. Nothing is there alone or not at all.
    fn parameter_types(&mut self) -> Option<()> {
        if self.take(b'v') {
            self.note_unknown();
            return self.is_over().then_some(());
        }
        let first = self.text.0.len();
        loop {
            let end = self.text.0.len();
            if end > first {
                self.text += ", ";
            }
            let start = self.text.0.len();
            self.parameter_type()?;
            // Of no arguments there are no types.
            if self.text.0.len() == start {
                self.text.0.truncate(end);
            }
            if self.is_over() {
                return Some(());
            }
        }
    }

    fn parameter_type(&mut self) -> Option<Form> {
        if self.rest.first() == Some(&b'v') { None } else { self.one_type() }
    }

    /// To be called where a type or an end is: takes note of what no library knows there.
    fn note_unknown(&mut self) {
        // Requirements; what parameter of a template an argument is for; a parameter of a template in another one.
        if matches!(self.rest, [b'Q', ..] | [b'T', b'n' | b'y' | b't' | b'p' | b'k' | b'L', ..]) {
            self.unsaid = Unsaid::Anywhere;
        }
    }

    fn type_of_class(&mut self) -> Option<()> {
        matches!(self.rest.first()?, b'N' | b'S' | b'Z' | b'0'..=b'9').then_some(())?;
        self.one_type()?;
        Some(())
    }

    /// Has `read` read what has parameters of its own.
    fn inside<T>(&mut self, is_lambda: bool, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.scopes = Some(self.scopes + 1).filter(|scopes| *scopes < u8::MAX)?;
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= DEEPEST)?;
        let outer = (self.scope, self.is_lambda, self.is_named);
        let arguments = self.arguments;
        (self.scope, self.is_lambda, self.is_named) = (self.scopes, is_lambda, false);
        let found = read(self)?;
        (self.scope, self.is_lambda, self.is_named) = outer;
        self.arguments = arguments;
        self.depth -= 1;
        Some(found)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    /// Where the text ends.
    fn end(&self) -> Option<u16> {
        (self.text.0.len() <= LONGEST).then_some(self.text.0.len() as u16)
    }

    /// Remembers the text from `start` on.
    fn remember(&mut self, start: u16, own: (u16, u16)) -> Option<()> {
        self.remember_part(Part { start, own, ..Part::default() })
    }

    /// Remembers a type, whose text and whose place in the name begin at `start`.
    fn remember_type(&mut self, (start, from): (u16, u16), own: (u16, u16), form: Form) -> Option<()> {
        self.remember_part(Part { start, own, form, source: (from, self.place()), ..Part::default() })
    }

    fn remember_part(&mut self, part: Part) -> Option<()> {
        let scope = if self.parameter > part.start { self.scope + 1 } else { 0 };
        *self.parts.get_mut(self.count)? = Part { end: self.end()?, scope, ..part };
        self.count += 1;
        Some(())
    }

    /// Where what is next stands in the name.
    fn place(&self) -> u16 {
        (self.name.len() - self.rest.len()) as u16
    }

    /// Appends a type that was remembered; where its own name is then.
    fn part(&mut self, part: Part) -> Option<((u16, u16), Form)> {
        // Among several arguments a parameter is another each time.
        let is_same = part.scope == 0 || part.scope == self.scope + 1 && self.element.is_none();
        if part.form != Form::Absent && is_same {
            if part.scope > 0 {
                self.parameter = self.end()? + 1;
            }
            return self.again(part).map(|own| (own, part.form));
        }
        let (from, to) = part.source;
        if to == 0 {
            return None;
        }
        let (rest, count) = (self.rest, self.count);
        self.rest = &self.name[usize::from(from)..usize::from(to)];
        let form = self.one_type()?;
        let is_whole = self.rest.is_empty();
        (self.rest, self.count) = (rest, count);
        is_whole.then_some(((0, 0), form))
    }

    /// Appends what stands from one place of the text to another.
    fn copy(&mut self, (start, end): (u16, u16)) -> Option<()> {
        let range = usize::from(start)..usize::from(end);
        self.text.0.get(range.clone())?;
        self.text.0.extend_from_within(range);
        Some(())
    }

    /// Appends a part of the text; where its own name is then.
    fn again(&mut self, part: Part) -> Option<(u16, u16)> {
        let at = self.end()?;
        self.copy((part.start, part.end))?;
        self.end()?;
        let moved = |place: u16| place.wrapping_sub(part.start).wrapping_add(at);
        Some(if part.own == (0, 0) { (0, 0) } else { (moved(part.own.0), moved(part.own.1)) })
    }

    /// The name of a function or a variable, or of a type. What it ends with, and what is said of the object behind the
    /// parameters.
    fn name(&mut self, what: Use) -> Option<(Last, &'static str)> {
        let is_type = what != Use::Thing;
        match self.rest.first()? {
            b'N' => {
                self.rest = &self.rest[1..];
                return self.nested(what);
            }
            b'Z' => {
                self.rest = &self.rest[1..];
                return self.local(what);
            }
            _ => {}
        }
        let start = self.end()?;
        if let Some(rest) = self.rest.strip_prefix(b"St") {
            self.rest = rest;
            self.text += "std::";
        } else if self.rest.first() == Some(&b'S') {
            let (own, form) = self.substitute()?;
            // Nothing but a template has the name of another thing.
            if self.rest.first() == Some(&b'I') {
                self.arguments(!is_type)?;
                if what == Use::Type {
                    self.remember(start, own)?;
                }
                return Some((Last::Arguments, ""));
            }
            return (what == Use::Type && form == Form::Plain).then_some((Last::Name, ""));
        }
        let mut last = Last::Name;
        let mut own = (0, 0);
        match self.rest.first()? {
            b'0'..=b'9' => own = self.word()?,
            b'L' if what != Use::Type => own = self.word()?,
            b'U' => self.unnamed()?,
            _ if is_type => return None,
            _ => last = self.operator()?,
        }
        let is_template = self.rest.first() == Some(&b'I');
        if what == Use::Type || is_template {
            self.remember(start, own)?;
        }
        if is_template {
            (last != Last::Conversion).then_some(())?;
            self.arguments(!is_type)?;
            last = Last::Arguments;
            if what == Use::Type {
                self.remember(start, own)?;
            }
        }
        Some((last, ""))
    }

    /// The rest of what is local to a function, behind the `Z`.
    fn local(&mut self, what: Use) -> Option<(Last, &'static str)> {
        let (start, from) = (self.end()?, self.place() - 1);
        self.inside(false, Names::encoding)?;
        self.take(b'E').then_some(())?;
        // Texts, what is in the value of a parameter that has one, and nothing that there is.
        if matches!(self.rest.first()?, b's' | b'd' | b'Z') {
            return None;
        }
        self.text += "::";
        let found = self.name(if what == Use::Thing { what } else { Use::LocalType })?;
        // Which of those with this name.
        if let Some(rest) = self.rest.strip_prefix(b"__") {
            let digits = digits(rest);
            self.rest = rest[digits..].strip_prefix(b"_").filter(|_| digits > 1)?;
        } else if let [b'_', b'0'..=b'9', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if what == Use::Type {
            self.remember_type((start, from), (0, 0), Form::Plain)?;
        }
        Some(found)
    }

    /// A lambda.
    fn unnamed(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix(b"Ul")?;
        self.text += "{lambda(";
        self.inside(true, Names::parameter_types)?;
        self.take(b'E').then_some(())?;
        let number = Some(self.number(10)? + 1).filter(|number| *number < HIGHEST)?;
        self.text += ")#";
        self.text += &number.to_string();
        self.text += "}";
        Some(())
    }

    /// The rest of a name in names, behind the `N`.
    fn nested(&mut self, what: Use) -> Option<(Last, &'static str)> {
        let is_type = what != Use::Thing;
        let qualifiers = self.qualifiers()?;
        if is_type && !qualifiers.is_empty() {
            return None;
        }
        let start = self.end()?;
        let (mut last, mut own) = (Last::Nothing, (0, 0));
        loop {
            let mut is_known = false;
            match *self.rest.first()? {
                b'S' if last == Last::Nothing => {
                    is_known = true;
                    if let Some(rest) = self.rest.strip_prefix(b"St") {
                        self.rest = rest;
                        self.text += "std";
                        last = Last::Std;
                    } else {
                        (own, _) = self.substitute().filter(|(_, form)| *form == Form::Plain)?;
                        last = Last::Name;
                    }
                }
                b'T' if last == Last::Nothing && is_type => {
                    (self.parameter()? == Form::Plain).then_some(())?;
                    last = Last::Name;
                }
                b'I' if matches!(last, Last::Name | Last::Operator | Last::Constructor) => {
                    self.arguments(!is_type)?;
                    last =
                        if last == Last::Constructor { Last::ConstructorArguments } else { Last::Arguments };
                }
                b'C' | b'D' if matches!(last, Last::Name | Last::Arguments) && !is_type => {
                    self.constructor(own)?;
                    last = Last::Constructor;
                }
                _ => {
                    if last != Last::Nothing {
                        self.text += "::";
                    }
                    (last, own) = self.component(is_type)?;
                }
            }
            let is_over = self.take(b'E');
            if !is_known && (what == Use::Type || !is_over) {
                self.remember(start, own)?;
            }
            if is_over {
                // A namespace without a name is not what is named.
                if last == Last::Name && own == (0, 0) && self.text.0.ends_with(b")") {
                    return None;
                }
                return (last != Last::Std && !(is_known && is_type)).then_some((last, qualifiers));
            }
        }
    }

    /// What is said of the object of a function, in front of its name.
    fn qualifiers(&mut self) -> Option<&'static str> {
        let is_const = self.take(b'K');
        let qualifiers = match self.rest.first()? {
            b'R' if is_const => " const &",
            b'O' if is_const => " const &&",
            b'R' => " &",
            b'O' => " &&",
            _ if is_const => " const",
            _ => "",
        };
        if matches!(self.rest.first()?, b'R' | b'O') {
            self.rest = &self.rest[1..];
        }
        Some(qualifiers)
    }

    /// A name in a name, and where it is if constructors have it.
    fn component(&mut self, is_type: bool) -> Option<(Last, (u16, u16))> {
        match self.rest.first()? {
            b'0'..=b'9' | b'L' => Some((Last::Name, self.word()?)),
            b'U' => self.unnamed().map(|()| (Last::Name, (0, 0))),
            b'a'..=b'z' if !is_type => Some((self.operator()?, (0, 0))),
            _ => None,
        }
    }

    /// A name with its length in front; where it is.
    fn word(&mut self) -> Option<(u16, u16)> {
        // Internal linkage.
        self.take(b'L');
        let mut length = 0usize;
        while let Some(digit) = self.rest.first().filter(|byte| byte.is_ascii_digit()) {
            length = (length * 10 + usize::from(digit - b'0')).min(1 << 20);
            self.rest = &self.rest[1..];
        }
        let (word, rest) = self.rest.split_at_checked(length).filter(|_| length > 0)?;
        self.rest = rest;
        let start = self.end()?;
        if word == b"_GLOBAL__N_1" {
            self.text += "(anonymous namespace)";
            return Some((0, 0));
        }
        // What has a name of its own, or may be the hash of a name of Rust.
        let is_odd = word.starts_with(b"_GLOBAL_") || length == 17 && word[0] == b'h';
        // All are looked at, so that no processor guesses how many.
        if is_odd || !word.iter().fold(true, |all, byte| all & IN_WORDS[usize::from(*byte)]) {
            return None;
        }
        self.text.0.extend_from_slice(word);
        let end = self.end()?;
        if self.rest.first() == Some(&b'B') {
            self.tags()?;
        }
        Some((start, end))
    }

    /// Tags of a name.
    #[cold]
    fn tags(&mut self) -> Option<()> {
        while self.take(b'B') {
            let digits = digits(self.rest);
            let length = std::str::from_utf8(&self.rest[..digits]).ok()?.parse().ok()?;
            let (word, rest) = self.rest[digits..].split_at_checked(length)?;
            word.iter().all(|byte| IN_WORDS[usize::from(*byte)]).then_some(())?;
            self.text += "[abi:";
            self.text.0.extend_from_slice(word);
            self.text.0.push(b']');
            self.rest = rest;
        }
        Some(())
    }

    /// A constructor or destructor of what is called by a part of the text.
    fn constructor(&mut self, own: (u16, u16)) -> Option<()> {
        if let [b'C', b'I', b'1' | b'2', rest @ ..] = self.rest {
            self.rest = rest;
            return self.inherited();
        }
        let [kind, number, rest @ ..] = self.rest else { return None };
        let is_one = matches!((kind, number), (b'C', b'1'..=b'3') | (b'D', b'0'..=b'2'));
        (is_one && own != (0, 0)).then_some(())?;
        self.rest = rest;
        self.text += if *kind == b'C' { "::" } else { "::~" };
        self.copy(own)
    }

    /// A constructor that a class has from the one that it is derived from, which is next.
    fn inherited(&mut self) -> Option<()> {
        self.text += "::";
        let (start, count, parameter) = (self.text.0.len(), self.count, self.parameter);
        let (own, _) = match self.rest.first()? {
            b'S' if !self.rest.starts_with(b"St") => {
                let at = (self.end()?, self.place());
                let (own, form) = self.substitute()?;
                if self.rest.first() == Some(&b'I') {
                    self.arguments(false)?;
                    self.remember_type(at, own, form)?;
                }
                (own, form)
            }
            _ => {
                self.one_type()?;
                (self.parts[..self.count].last()?.own, Form::Plain)
            }
        };
        (own != (0, 0)).then_some(())?;
        // What is known of it does not stand in the text.
        self.parts[count..self.count].iter_mut().for_each(|part| part.form = Form::Absent);
        let end = self.text.0.len();
        self.copy(own)?;
        self.text.0.drain(start..end);
        self.parameter = parameter;
        Some(())
    }

    fn operator(&mut self) -> Option<Last> {
        let (code, rest) = self.rest.split_first_chunk::<2>()?;
        if code == b"cv" {
            self.rest = rest;
            self.text += "operator ";
            self.one_type()?;
            return Some(Last::Conversion);
        }
        let operator = match code {
            b"nw" => " new",
            b"na" => " new[]",
            b"dl" => " delete",
            b"da" => " delete[]",
            b"ng" | b"mi" => "-",
            b"ad" | b"an" => "&",
            b"de" | b"ml" => "*",
            b"co" => "~",
            b"ps" | b"pl" => "+",
            b"dv" => "/",
            b"rm" => "%",
            b"or" => "|",
            b"eo" => "^",
            b"aS" => "=",
            b"pL" => "+=",
            b"mI" => "-=",
            b"mL" => "*=",
            b"dV" => "/=",
            b"aN" => "&=",
            b"oR" => "|=",
            b"eO" => "^=",
            b"ls" => "<<",
            b"rs" => ">>",
            b"eq" => "==",
            b"ne" => "!=",
            b"lt" => "<",
            b"gt" => ">",
            b"le" => "<=",
            b"ge" => ">=",
            b"nt" => "!",
            b"aa" => "&&",
            b"oo" => "||",
            b"pp" => "++",
            b"mm" => "--",
            b"cm" => ",",
            b"pt" => "->",
            b"cl" => "()",
            b"ix" => "[]",
            b"ss" => "<=>",
            _ => return None,
        };
        self.rest = rest;
        self.text += "operator";
        self.text += operator;
        Some(Last::Operator)
    }

    /// What has come before, or is so common that it has a letter; where its own name is.
    fn substitute(&mut self) -> Option<((u16, u16), Form)> {
        let [b'S', kind, rest @ ..] = self.rest else { return None };
        let word = match kind {
            b'a' => "std::allocator",
            b'b' => "std::basic_string",
            b's' => "std::string",
            b'i' => "std::basic_istream<char, std::char_traits<char> >",
            b'o' => "std::ostream",
            b'd' => "std::basic_iostream<char, std::char_traits<char> >",
            _ => {
                self.rest = &self.rest[1..];
                let number = self.number(36)?;
                let part = *self.parts[..self.count].get(number)?;
                return self.part(part);
            }
        };
        self.rest = rest;
        self.text += word;
        let end = self.end()?;
        let own =
            if word.ends_with('>') || *kind == b'o' { (0, 0) } else { (end - word.len() as u16 + 5, end) };
        Some((own, Form::Plain))
    }

    /// A number with `_` behind it, which alone is 0.
    fn number(&mut self, base: usize) -> Option<usize> {
        let mut number = 0;
        let mut is_first = true;
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let digit = match byte {
                b'_' if is_first => return Some(0),
                b'_' => return Some(number + 1),
                b'0'..=b'9' => byte - b'0',
                b'A'..=b'Z' if base == 36 => byte - b'A' + 10,
                _ => return None,
            };
            is_first = false;
            number = (number * base + usize::from(digit)).min(HIGHEST);
        }
    }
}
