//! Layout to a fixpoint: addresses depend on sizes, and a few sizes on addresses.
//!
//! Each round gives everything its address, and then asks everyone whose size depends on that ([`Adaptive`]): packed
//! relocations today; where code cannot reach, what has to be put in between, and what a script computes, are
//! of the same sort. When nobody has changed anything the layout is final. Whoever takes part sees to it that this
//! ends: sizes only grow after the first rounds. If it does not, that is an error and not a wrong file.

use super::{Layout, members};
use crate::ids::*;
use crate::sections::Sections;

/// Rounds after which a layout that still changes is given up. Three or four are usual.
const ROUNDS: usize = 64;

/// Something whose size depends on addresses.
pub trait Adaptive {
    /// What it is, for messages.
    fn name(&self) -> &str;

    /// Looks at the addresses and says what size it needs; `None` if it is content.
    fn needs(&self, layout: &Layout, sections: &Sections) -> Option<Resize>;
}

/// A chunk that needs another size, in bytes.
pub struct Resize {
    pub chunk: ChunkId,
    pub size: u64,
}

/// Repeats `assign`, which gives everything its address, until nobody needs another size.
///
/// # Errors
/// Those of `assign`, or if there is no end.
pub fn settle<'a>(
    layout: &mut Layout<'a>,
    sections: &mut Sections<'a>,
    all: &[&dyn Adaptive],
    mut assign: impl FnMut(&mut Layout<'a>, &mut Sections<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let mut last = "";
    for _ in 0..ROUNDS {
        assign(layout, sections)?;
        let mut changed = false;
        for one in all {
            if let Some(Resize { chunk, size }) = one.needs(layout, sections) {
                layout.chunks[chunk.index()].size = size;
                if !layout.is_by_script() {
                    members::place_again(layout, sections, layout.chunks[chunk.index()].out);
                }
                (changed, last) = (true, one.name());
            }
        }
        if !changed {
            return Ok(());
        }
    }
    Err(format!("the layout does not settle: the size of {last} still changes after {ROUNDS} rounds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::*;
    use crate::layout::{Chunk, ChunkKind, Member, OutputSection};

    /// Two chunks of one section, and a section behind it.
    fn layout() -> Layout<'static> {
        let mut layout = Layout::default();
        for id in 0..2 {
            let mut out = OutputSection::new((&b".relr.dyn"[..]).into(), SHT_RELR, SHF_ALLOC, 8);
            out.members = (0..2).map(|i| Member::chunk(ChunkId(2 * id + i))).collect();
            layout.sections.push(out);
        }
        let chunk = |id: u32| Chunk {
            kind: ChunkKind::Relr,
            size: 8,
            align: 8,
            address: 0,
            out: OutputSectionId(id / 2),
        };
        layout.chunks = (0..4).map(chunk).collect();
        layout
    }

    /// Asks for as many bytes as the section behind the first has in its address, up to a limit.
    struct Greedy(u64);

    impl Adaptive for Greedy {
        fn name(&self) -> &str {
            "it"
        }

        fn needs(&self, layout: &Layout, _: &Sections) -> Option<Resize> {
            let size = layout.sections[1].address.min(self.0);
            (size > layout.chunks[0].size).then_some(Resize { chunk: ChunkId(0), size })
        }
    }

    fn run(limit: u64) -> (Layout<'static>, Result<(), String>) {
        let mut layout = layout();
        let mut sections = Sections { list: Vec::new(), objects: Vec::new(), bins: Vec::new() };
        for id in [0, 1] {
            members::place_again(&mut layout, &mut sections, OutputSectionId(id));
        }
        let result = settle(&mut layout, &mut sections, &[&Greedy(limit)], |layout, _| {
            layout.sections[1].address = layout.sections[0].size;
            Ok(())
        });
        (layout, result)
    }

    #[test]
    fn rounds_go_on_until_nobody_changes_anything() {
        let (layout, result) = run(50);
        assert_eq!(result, Ok(()));
        // The second chunk has moved behind the first, and the section behind both.
        assert_eq!((layout.chunks[0].size, layout.chunks[1].address), (50, 56));
        assert_eq!((layout.sections[0].size, layout.sections[1].address), (64, 64));
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        let error = run(u64::MAX).1.unwrap_err();
        assert!(error.contains("the size of it still changes after 64 rounds"), "{error}");
    }
}
