//! Types in names of C++, and the arguments of templates, which mostly are types.

use super::*;

impl Names<'_> {
    /// A parameter of the template: what it stands for.
    pub(super) fn parameter(&mut self) -> Option<Form> {
        self.rest = self.rest.strip_prefix(b"T")?;
        let number = self.number(10)?;
        self.parameter = self.end()? + 1;
        if self.is_lambda {
            let digit = u8::try_from(number).ok().filter(|number| *number < 9)? + b'1';
            self.text += "auto:";
            self.text.0.push(digit);
            return Some(Form::Plain);
        }
        self.is_named.then_some(())?;
        let mut argument = *self.arguments.list[..self.arguments.count].get(number)?;
        if let Some((element, (first, end))) = self.element.zip(argument.pack) {
            let packed = &self.arguments.packed[usize::from(first)..usize::from(end)];
            if *self.elements.get_or_insert(packed.len()) != packed.len() {
                return None;
            }
            // Of none there is nothing to be seen.
            argument = packed.get(element).copied().unwrap_or_default();
        }
        // Several stand for one parameter only where it says that there are some.
        let Argument { start, end, form, pack: None } = argument else { return None };
        self.again(Part { start, end, ..Part::default() })?;
        Some(form)
    }

    /// The arguments of a template; those of the name itself are what parameters stand for.
    pub(super) fn arguments(&mut self, are_own: bool) -> Option<()> {
        self.rest = self.rest.strip_prefix(b"I")?;
        if self.text.0.last() == Some(&b'<') {
            return None;
        }
        self.text.0.push(b'<');
        let mut list = Arguments::default();
        while !self.take(b'E') {
            if list.count > 0 {
                self.text += ", ";
            }
            let start = self.end()?;
            let argument = if self.take(b'J') { self.pack(&mut list)? } else { self.argument()? };
            *list.list.get_mut(list.count)? = Argument { start, end: self.end()?, ..argument };
            list.count += 1;
        }
        if list.count == 0 {
            return None;
        }
        self.text += if self.text.0.last() == Some(&b'>') { " >" } else { ">" };
        if are_own {
            self.arguments = list;
        }
        Some(())
    }

    fn argument(&mut self) -> Option<Argument> {
        let start = self.end()?;
        let form = match self.rest {
            [b'L', ..] => {
                self.literal()?;
                Form::Plain
            }
            // A parameter that is a value.
            [b'X', b'T', rest @ ..] => {
                let end = memchr::memchr(b'_', rest).filter(|end| rest.get(end + 1) == Some(&b'E'))?;
                self.rest = &self.rest[1..];
                let form = self.parameter()?;
                self.rest = &rest[end + 2..];
                form
            }
            [b'X', rest @ ..] => {
                self.rest = rest;
                self.expression()?;
                self.take(b'E').then_some(())?;
                Form::Plain
            }
            _ => self.one_type()?,
        };
        Some(Argument { start, end: self.end()?, form, pack: None })
    }

    /// A name that depends on a parameter of the template, or `nt` and one that is true or not.
    fn expression(&mut self) -> Option<()> {
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= DEEPEST)?;
        let is_not = self.rest.starts_with(b"nt");
        if is_not {
            self.rest = &self.rest[2..];
            self.text += "!(";
        }
        if let Some(rest) = self.rest.strip_prefix(b"sr") {
            self.rest = rest;
            loop {
                self.word_with_arguments()?;
                self.text += "::";
                if self.take(b'E') {
                    break;
                }
            }
        }
        self.word_with_arguments()?;
        self.text += if is_not { ")" } else { "" };
        self.depth -= 1;
        Some(())
    }

    /// A name in an expression, which nothing refers to later.
    fn word_with_arguments(&mut self) -> Option<()> {
        self.rest.first()?.is_ascii_digit().then_some(())?;
        // It is whole, without tags.
        let (start, end) = self.word()?;
        (end > start && end == self.end()?).then_some(())?;
        if self.rest.first() == Some(&b'I') {
            self.arguments(false)?;
        }
        Some(())
    }

    /// The rest of several arguments, which are for one parameter.
    fn pack(&mut self, list: &mut Arguments) -> Option<Argument> {
        let first = list.packed_count;
        let mut form = Form::Pack;
        while !self.take(b'E') {
            if list.packed_count > first {
                self.text += ", ";
            }
            let argument = self.argument()?;
            form = argument.form;
            *list.packed.get_mut(list.packed_count)? = argument;
            list.packed_count += 1;
        }
        let count = list.packed_count - first;
        let form = if count == 1 { form } else { Form::Pack };
        Some(Argument { form, pack: Some((first as u8, list.packed_count as u8)), ..Argument::default() })
    }

    /// A type for each of several arguments, which `Dp` was in front of.
    fn expansion(&mut self) -> Option<Form> {
        if self.element.is_some() || self.is_lambda {
            return None;
        }
        let (rest, count) = (self.rest, self.count);
        (self.element, self.elements) = (Some(0), None);
        let start = self.end()?;
        let form = self.one_type()?;
        let elements = self.elements?;
        for element in 1..elements {
            self.text += ", ";
            (self.rest, self.count, self.element) = (rest, count, Some(element));
            self.one_type()?;
        }
        self.element = None;
        if elements == 1 {
            return Some(form);
        }
        for part in &mut self.parts[count..self.count] {
            part.form = Form::Absent;
        }
        if elements == 0 {
            self.text.0.truncate(usize::from(start));
            self.parameter = self.parameter.min(start);
        }
        Some(Form::Pack)
    }

    /// A number, a truth value, or a value of an enumeration.
    fn literal(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix(b"L")?;
        match self.rest {
            [b'b', value @ (b'0' | b'1'), b'E', rest @ ..] => {
                self.text += if *value == b'0' { "false" } else { "true" };
                self.rest = rest;
                return Some(());
            }
            [b'i', rest @ ..] => self.rest = rest,
            [
                b'a'
                | b'c'
                | b'h'
                | b's'
                | b't'
                | b'j'
                | b'l'
                | b'm'
                | b'x'
                | b'y'
                | b'N'
                | b'S'
                | b'0'..=b'9',
                ..,
            ] => {
                self.text.0.push(b'(');
                self.one_type()?;
                self.text.0.push(b')');
            }
            _ => return None,
        }
        if self.take(b'n') {
            self.text.0.push(b'-');
        }
        let digits = digits(self.rest);
        self.text.0.extend_from_slice(&self.rest[..digits]);
        self.rest = &self.rest[digits..];
        (digits > 0 && self.take(b'E')).then_some(())
    }

    pub(super) fn one_type(&mut self) -> Option<Form> {
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= DEEPEST)?;
        let at = (self.end()?, self.place());
        let first = *self.rest.first()?;
        self.note_unknown();
        let mut form = Form::Plain;
        match first {
            b'P' | b'R' | b'O' | b'K' => form = self.modified(at, first)?,
            b'F' | b'A' => {
                self.around("")?;
                form = Form::Around;
                self.remember_type(at, (0, 0), form)?;
            }
            b'S' if !self.rest.starts_with(b"St") => {
                let (own, found) = self.substitute()?;
                form = found;
                if self.rest.first() == Some(&b'I') {
                    (form == Form::Plain).then_some(())?;
                    self.arguments(false)?;
                    self.remember_type(at, own, form)?;
                }
            }
            b'N' | b'S' | b'Z' | b'0'..=b'9' => {
                let count = self.count;
                self.name(Use::Type)?;
                // The type itself comes last.
                if self.count > count {
                    self.parts[self.count - 1].source = (at.1, self.place());
                }
            }
            b'T' => {
                form = self.parameter()?;
                self.remember_type(at, (0, 0), form)?;
                if self.rest.first() == Some(&b'I') {
                    return None;
                }
            }
            b'D' if self.rest.starts_with(b"Dp") => {
                self.rest = &self.rest[2..];
                form = self.expansion()?;
                let is_nothing = self.end()? == at.0;
                self.remember_type(at, (0, 0), if is_nothing { Form::Absent } else { form })?;
            }
            _ => self.plain_type()?,
        }
        self.depth -= 1;
        Some(form)
    }

    /// A pointer, a reference, or what is constant.
    fn modified(&mut self, at: (u16, u16), first: u8) -> Option<Form> {
        self.rest = &self.rest[1..];
        let mark = match first {
            b'P' => "*",
            b'R' => "&",
            b'O' => "&&",
            _ => " const",
        };
        if matches!(self.rest.first()?, b'F' | b'A') {
            (first != b'K').then_some(())?;
            let inner = self.place();
            self.around(mark)?;
            self.remember_type((at.0, inner), (0, 0), Form::Absent)?;
            let form = if first == b'P' { Form::Around } else { Form::AroundReference };
            self.remember_type(at, (0, 0), form)?;
            return Some(form);
        }
        let inner = self.one_type()?;
        let form = match inner {
            Form::AroundReference => inner,
            _ if matches!(first, b'R' | b'O') => Form::Reference,
            _ => Form::Plain,
        };
        match inner {
            Form::Plain => {
                if first == b'K' && self.text.0.ends_with(b" const") {
                    return None;
                }
                self.text += mark;
            }
            // A reference to a reference is that, but for one to the other kind.
            Form::Reference if first == b'O' || first == b'R' && !self.text.0.ends_with(b"&&") => {}
            Form::AroundReference if first == b'O' => {}
            _ => return None,
        }
        self.remember_type(at, (0, 0), form)?;
        Some(form)
    }

    /// A function or an array, with a mark in its middle if it is not that itself but what leads to it.
    fn around(&mut self, mark: &str) -> Option<()> {
        let middle = |text: &mut Text, space: &str| {
            *text += " ";
            if !mark.is_empty() {
                *text += "(";
                *text += mark;
                *text += ")";
                *text += space;
            }
        };
        if self.take(b'F') {
            (!matches!(self.one_type()?, Form::Around | Form::AroundReference)).then_some(())?;
            middle(&mut self.text, "");
            self.text.0.push(b'(');
            self.parameter_types()?;
            self.text.0.push(b')');
            return self.take(b'E').then_some(());
        }
        self.rest = self.rest.strip_prefix(b"A")?;
        let digits = digits(self.rest);
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest.strip_prefix(b"_").filter(|_| digits > 0)?;
        (self.one_type()? == Form::Plain).then_some(())?;
        middle(&mut self.text, " ");
        self.text.0.push(b'[');
        self.text.0.extend_from_slice(number);
        self.text.0.push(b']');
        Some(())
    }

    /// A type that the language has.
    fn plain_type(&mut self) -> Option<()> {
        if let [b'D', kind, rest @ ..] = self.rest {
            self.text += match kind {
                b'n' => "std::nullptr_t",
                b'a' => "auto",
                b'c' => "decltype(auto)",
                b'i' => "char32_t",
                b's' => "char16_t",
                b'u' => "char8_t",
                _ => return None,
            };
            self.rest = rest;
            return Some(());
        }
        let word = match self.rest.first()? {
            b'v' => "void",
            b'w' => "wchar_t",
            b'b' => "bool",
            b'c' => "char",
            b'a' => "signed char",
            b'h' => "unsigned char",
            b's' => "short",
            b't' => "unsigned short",
            b'i' => "int",
            b'j' => "unsigned int",
            b'l' => "long",
            b'm' => "unsigned long",
            b'x' => "long long",
            b'y' => "unsigned long long",
            b'n' => "__int128",
            b'o' => "unsigned __int128",
            b'f' => "float",
            b'd' => "double",
            b'e' => "long double",
            b'g' => "__float128",
            b'z' => "...",
            _ => return None,
        };
        self.rest = &self.rest[1..];
        self.text += word;
        Some(())
    }
}
