//! `/manifestinput`: manifests made one.
//!
//! Elements of which a manifest has one (`assembly`, `trustInfo`, `application`, …) are united where both
//! have them, attributes too; all others are put after those that are there. The same element may be in
//! several name spaces, by the version of Windows that it came with; then the first one is kept. This is what
//! `mt.exe` does, and LLVM's tool of that name.
//!
//! Source: Microsoft, "Application Manifests"; "Namespaces in XML 1.0".

use std::fmt::{self, Write};

use roxmltree::{Document, Node};

/// Elements of which there is one at its place.
const SINGLE: [&str; 9] = [
    "application",
    "assembly",
    "assemblyIdentity",
    "compatibility",
    "noInherit",
    "requestedExecutionLevel",
    "requestedPrivileges",
    "security",
    "trustInfo",
];

/// The prefix that is bound in every document.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Elements in one another. Nobody writes so many, and each is a call in a call.
const DEEPEST: usize = 64;

struct Element {
    space: String,
    name: String,
    /// Name space, name and value.
    attributes: Vec<(String, String, String)>,
    children: Vec<Content>,
}

enum Content {
    Element(Element),
    Text(String),
}

/// Why a manifest cannot be merged with those before it.
#[derive(Debug)]
pub struct MergeError {
    /// Its number among those that are added.
    pub number: usize,
    /// It is the fault of the first manifest, which others are added to.
    is_first: bool,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Xml(roxmltree::Error),
    TooDeep,
    /// The outermost elements have different names.
    Name {
        wanted: String,
        found: String,
    },
    /// Elements that are to become one have different values.
    Attributes {
        element: String,
        name: String,
        values: [String; 2],
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_first {
            f.write_str("the manifest to merge it into: ")?;
        }
        match &self.why {
            Why::Xml(e) => e.fmt(f),
            Why::TooDeep => f.write_str("too many elements in one another"),
            Why::Name { wanted, found } => write!(f, "expected an element '{wanted}', but got '{found}'"),
            Why::Attributes { element, name, values: [known, value] } => {
                write!(f, "conflicting attributes for {element}: {name} is '{known}' and '{value}'")
            }
        }
    }
}

impl std::error::Error for MergeError {}

/// The manifest `first` with all `others` in it.
///
/// # Errors
/// If one is none, or says something else than those before it.
pub fn merge(first: &str, others: &[&str]) -> Result<String, MergeError> {
    // The linker's own text is well formed, but for rights that the user has given.
    let mut all = parse(first).map_err(|why| MergeError { number: 0, is_first: true, why })?;
    for (i, text) in others.iter().enumerate() {
        let located = |why| MergeError { number: i, is_first: false, why };
        let other = parse(text).map_err(located)?;
        if other.name != all.name {
            return Err(located(Why::Name { wanted: all.name, found: other.name }));
        }
        unite(&mut all, other).map_err(located)?;
    }
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n".to_owned();
    write(&all, "", 0, &mut out);
    Ok(out)
}

fn parse(text: &str) -> Result<Element, Why> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document::parse(text).map_err(Why::Xml)?;
    element(document.root_element(), 0)
}

fn element(node: Node, depth: usize) -> Result<Element, Why> {
    if depth > DEEPEST {
        return Err(Why::TooDeep);
    }
    let tag = node.tag_name();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let attributes =
        node.attributes().map(|a| (text(a.namespace()), a.name().to_owned(), a.value().to_owned()));
    let mut children = Vec::new();
    for child in node.children() {
        if child.is_element() {
            children.push(Content::Element(element(child, depth + 1)?));
        } else if let Some(text) = child.text().filter(|text| child.is_text() && !text.trim().is_empty()) {
            children.push(Content::Text(text.trim().to_owned()));
        }
    }
    let (space, name) = (text(tag.namespace()), tag.name().to_owned());
    Ok(Element { space, name, attributes: attributes.collect(), children })
}

fn unite(into: &mut Element, other: Element) -> Result<(), Why> {
    for (space, name, value) in other.attributes {
        match into.attributes.iter().find(|(s, n, _)| (s, n) == (&space, &name)) {
            Some((_, _, known)) if *known != value => {
                let values = [known.clone(), value];
                return Err(Why::Attributes { element: into.name.clone(), name, values });
            }
            Some(_) => {}
            None => into.attributes.push((space, name, value)),
        }
    }
    for child in other.children {
        let Content::Element(mut child) = child else {
            into.children.push(child);
            continue;
        };
        let is_same = |known: &&mut Element| known.name == child.name && SINGLE.contains(&&child.name[..]);
        let known = into.children.iter_mut().filter_map(|content| match content {
            Content::Element(element) => Some(element),
            Content::Text(_) => None,
        });
        match known.into_iter().find(is_same) {
            Some(known) => {
                move_to(&mut child, &known.space);
                unite(known, child)?;
            }
            None => into.children.push(Content::Element(child)),
        }
    }
    Ok(())
}

/// Puts an element, and what is in it and in the same name space, into another one.
fn move_to(element: &mut Element, space: &str) {
    let old = std::mem::replace(&mut element.space, space.to_owned());
    for child in &mut element.children {
        if let Content::Element(child) = child
            && child.space == old
        {
            move_to(child, space);
        }
    }
}

/// Writes an element; names without a prefix are in the name space `around` it.
fn write(element: &Element, around: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    _ = write!(out, "{indent}<{}", element.name);
    if element.space != around {
        _ = write!(out, " xmlns=\"{}\"", escaped(&element.space));
    }
    let mut spaces: Vec<&str> = Vec::new();
    for (space, name, value) in &element.attributes {
        let prefix = match &space[..] {
            "" => String::new(),
            XML => "xml:".to_owned(),
            space => {
                let number = spaces.iter().position(|known| *known == space).unwrap_or_else(|| {
                    _ = write!(out, " xmlns:ns{}=\"{}\"", spaces.len(), escaped(space));
                    spaces.push(space);
                    spaces.len() - 1
                });
                format!("ns{number}:")
            }
        };
        _ = write!(out, " {prefix}{name}=\"{}\"", escaped(value));
    }
    match &element.children[..] {
        [] => out.push_str("/>\n"),
        // White space would be part of the text.
        [Content::Text(text)] => _ = writeln!(out, ">{}</{}>", escaped(text), element.name),
        children => {
            out.push_str(">\n");
            for child in children {
                match child {
                    Content::Element(child) => write(child, &element.space, depth + 1, out),
                    Content::Text(text) => _ = writeln!(out, "{indent}  {}", escaped(text)),
                }
            }
            _ = writeln!(out, "{indent}</{}>", element.name);
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => _ = write!(out, "&#{};", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASM: &str = "xmlns=\"urn:schemas-microsoft-com:asm.v1\" manifestVersion=\"1.0\"";

    #[test]
    fn what_there_is_one_of_is_united() {
        let first = format!(
            "<assembly {ASM}><trustInfo xmlns=\"urn:3\"><security><a/></security></trustInfo></assembly>"
        );
        let second = format!(
            "\u{feff}<?xml version='1.0'?>\n<!-- c --><assembly {ASM}><dependency>x &lt; y</dependency>\n<t:trustInfo xmlns:t='urn:2'>\
             <t:security level='1'><t:b/><c xmlns=''/></t:security></t:trustInfo></assembly>"
        );
        let third = format!("<assembly {ASM} xmlns:p='urn:p' p:q='&quot;'><dependency/></assembly>");
        let want = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
             <assembly {ASM} xmlns:ns0=\"urn:p\" ns0:q=\"&quot;\">\n\
             \x20 <trustInfo xmlns=\"urn:3\">\n    <security level=\"1\">\n      <a/>\n      <b/>\n      <c xmlns=\"\"/>\n    \
             </security>\n  </trustInfo>\n  <dependency>x &lt; y</dependency>\n  <dependency/>\n</assembly>\n"
        );
        let merged = merge(&first, &[&second, &third]).unwrap();
        assert_eq!(merged, want);
        assert_eq!(merge(&merged, &[]).unwrap(), want);
    }

    #[test]
    fn what_cannot_be_merged() {
        let manifest = |level: &str| format!("<assembly {ASM}><noInherit level='{level}'/></assembly>");
        let (one, two) = (manifest("1"), manifest("2"));
        let error = merge(&one, &[&one, &two]).unwrap_err();
        assert_eq!(
            (error.number, &error.to_string()[..]),
            (1, "conflicting attributes for noInherit: level is '1' and '2'")
        );
        for wrong in ["", "<assembly>", "<other/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><assembly>&b;</assembly>"]
        {
            assert!(merge(&one, &[wrong]).is_err(), "{wrong}");
        }
        let deep = "<assembly>".repeat(1000) + &"</assembly>".repeat(1000);
        assert!(merge(&one, &[&deep]).is_err());
    }
}
