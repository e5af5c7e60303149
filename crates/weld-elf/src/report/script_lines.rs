//! What a linker script says, as lines of a map: each where it takes effect.

use std::collections::HashMap;

use crate::ids::*;
use crate::layout::scripted::{Inside, Note};
use crate::synth::image::Image;

/// Lines of a script's assignments, and of what else a map has of it.
#[derive(Default)]
pub struct ScriptLines {
    /// By the output section that they stand in front of.
    before: HashMap<OutputSectionId, String>,
    /// By the output section that they stand in, each with the number of members before it.
    inside: HashMap<OutputSectionId, Vec<(usize, String)>>,
    /// After all.
    pub last: String,
}

impl ScriptLines {
    /// `line` writes what has a line, and says where it stands.
    pub fn of(image: &Image, line: impl Fn(&Note, &mut String) -> Option<Inside>) -> ScriptLines {
        let mut lines = ScriptLines::default();
        let Some(script) = &image.layout.script else { return lines };
        for note in script.notes() {
            if let Note::Section(out) = note {
                lines.before.insert(out, std::mem::take(&mut lines.last));
                continue;
            }
            let mut text = String::new();
            match line(&note, &mut text) {
                Some(Some((out, members))) => lines.inside.entry(out).or_default().push((members, text)),
                Some(None) => lines.last.push_str(&text),
                None => {}
            }
        }
        lines
    }

    pub fn before(&self, out: OutputSectionId) -> &str {
        self.before.get(&out).map_or("", |lines| lines)
    }

    pub fn inside(&self, out: OutputSectionId) -> &[(usize, String)] {
        self.inside.get(&out).map_or(&[], |list| list)
    }
}
