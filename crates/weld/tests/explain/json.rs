//! JSON, and as much of JSON Schema as `docs/error-format.schema.json` uses: a keyword that is not known here
//! is a failure, so that the schema claims nothing that is not tested.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a whole text; panics where it is none.
    pub fn parse(text: &str) -> Json {
        let mut reader = Reader { text, rest: text };
        let value = reader.value();
        reader.skip_blanks();
        assert!(reader.rest.is_empty(), "more after the value: {text}");
        value
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(object) => object.get(key),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "{token} is missing before {:?} in {}", self.rest, self.text);
    }

    fn value(&mut self) -> Json {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.take(word) {
                return value;
            }
        }
        if self.take("[") {
            return Json::List(self.items("]", |reader| reader.value()));
        }
        if self.take("{") {
            let entries = self.items("}", |reader| {
                let key = reader.string();
                reader.expect(":");
                (key, reader.value())
            });
            let count = entries.len();
            let object: BTreeMap<_, _> = entries.into_iter().collect();
            assert_eq!(object.len(), count, "a key is there twice in {}", self.text);
            return Json::Object(object);
        }
        if self.rest.starts_with('"') {
            return Json::Text(self.string());
        }
        let end = self.rest.find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'));
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Json::Number(number.parse().unwrap_or_else(|_| panic!("{number:?} is no value in {}", self.text)))
    }

    fn items<T>(&mut self, end: &str, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut list = Vec::new();
        if self.take(end) {
            return list;
        }
        loop {
            list.push(one(self));
            if self.take(end) {
                return list;
            }
            self.expect(",");
        }
    }

    fn string(&mut self) -> String {
        self.expect("\"");
        let mut out = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next().expect("the text ends inside of a string") {
                '"' => break,
                '\\' => match chars.next().expect("the text ends inside of a string") {
                    c @ ('"' | '\\' | '/') => out.push(c),
                    'u' => {
                        let digits: String = chars.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&digits, 16).expect("four digits");
                        out.push(char::from_u32(code).expect("no surrogate"));
                    }
                    c => panic!("\\{c} in {}", self.text),
                },
                c => {
                    assert!(c >= ' ', "a control character in {}", self.text);
                    out.push(c);
                }
            }
        }
        self.rest = chars.as_str();
        out
    }
}

/// Holds `value` to a schema, and to having no key that the schema does not know.
pub fn check(root: &Json, schema: &Json, value: &Json) {
    let Json::Object(rules) = schema else { panic!("a schema is an object") };
    for (keyword, rule) in rules {
        match (keyword.as_str(), rule) {
            ("$schema" | "title" | "$defs", _) => {}
            ("$ref", Json::Text(path)) => {
                let parts = path.strip_prefix("#/").expect("a reference in the schema").split('/');
                let target =
                    parts.fold(root, |at, part| at.get(part).expect("the reference leads somewhere"));
                check(root, target, value);
            }
            ("type", Json::Text(name)) => assert!(is_a(value, name), "{value:?} is no {name}"),
            ("enum", Json::List(choices)) => assert!(choices.contains(value), "{value:?}"),
            ("minimum", Json::Number(least)) => assert!(matches!(value, Json::Number(n) if n >= least)),
            ("minItems", Json::Number(least)) => {
                assert!(matches!(value, Json::List(list) if list.len() as f64 >= *least));
            }
            // Of codes: the caller looks them up.
            ("pattern", _) => assert!(value.text().is_some_and(|text| !text.is_empty())),
            ("required", Json::List(keys)) => {
                keys.iter().for_each(|key| {
                    assert!(value.get(key.text().unwrap()).is_some(), "{key:?} in {value:?}")
                });
            }
            ("properties", of_key) => {
                let Json::Object(object) = value else { continue };
                for (key, value) in object {
                    check(
                        root,
                        of_key.get(key).unwrap_or_else(|| panic!("the schema does not have {key}")),
                        value,
                    );
                }
            }
            ("items", schema) => {
                let Json::List(list) = value else { continue };
                list.iter().for_each(|value| check(root, schema, value));
            }
            (keyword, _) => panic!("the schema has {keyword}, which is not tested"),
        }
    }
}

fn is_a(value: &Json, name: &str) -> bool {
    match value {
        Json::Text(_) => name == "string",
        Json::Number(n) => name == "integer" && n.fract() == 0.0,
        Json::List(_) => name == "array",
        Json::Object(_) => name == "object",
        Json::Null | Json::Bool(_) => false,
    }
}
