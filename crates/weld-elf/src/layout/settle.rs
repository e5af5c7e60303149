//! Layout to a fixpoint: addresses depend on sizes, and a few sizes on addresses.
//!
//! Each round gives everything its address, and then asks everyone whose size depends on that ([`Adaptive`]):
//! packed relocations, and what is put between code and what it does not reach. When nobody has changed
//! anything the layout is final. Whoever takes part sees to it that this ends: sizes only grow, and chunks
//! that are put somewhere ([`super::insert`]) stay there. If it does not, that is an error and not a wrong
//! file.

use super::error::LayoutError;
use super::{Layout, members};
use crate::ids::*;
use crate::sections::Sections;

/// Rounds after which a layout that still changes is given up. Three or four are usual.
const ROUNDS: usize = 64;

/// Something whose size depends on addresses.
pub trait Adaptive<'a> {
    /// What it is, for messages.
    fn name(&self) -> &str;

    /// Looks at the addresses, and changes sizes of chunks, or adds chunks, if it needs to; whether it did.
    /// Where no script lays out, what it changes also has its offsets again ([`resize`],
    /// [`members::place_again`]).
    fn adapt(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) -> bool;
}

/// Gives a chunk another size.
pub fn resize(layout: &mut Layout, sections: &mut Sections, chunk: ChunkId, size: u64) {
    layout.chunks[chunk.index()].size = size;
    if !layout.is_by_script() {
        members::place_again(layout, sections, layout.chunks[chunk.index()].out);
    }
}

/// Repeats `assign`, which gives everything its address, until nobody needs another size.
///
/// # Errors
/// Those of `assign`, or if there is no end.
pub fn settle<'a>(
    layout: &mut Layout<'a>,
    sections: &mut Sections<'a>,
    all: &mut [&mut dyn Adaptive<'a>],
    mut assign: impl FnMut(&mut Layout<'a>, &mut Sections<'a>) -> Result<(), LayoutError>,
) -> Result<(), LayoutError> {
    let mut last = 0;
    for _ in 0..ROUNDS {
        assign(layout, sections)?;
        // Who comes after one that has changed something would look at addresses of before.
        match all.iter_mut().position(|one| one.adapt(layout, sections)) {
            Some(changed) => last = changed,
            None => return Ok(()),
        }
    }
    let what = all.get(last).map_or("it", |one| one.name()).into();
    Err(LayoutError::Unsettled { what, rounds: ROUNDS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::elf::*;
    use crate::layout::{Chunk, ChunkKind, Member, OutputSection};

    /// Two chunks of one section, and a section after it.
    fn layout() -> Layout<'static> {
        let mut layout = Layout::default();
        for id in 0..2 {
            let mut out = OutputSection::new((&b".relr.dyn"[..]).into(), SHT_RELR, SHF_ALLOC, 8);
            out.members = (0..2).map(|i| Member::chunk(ChunkId(2 * id + i))).collect();
            layout.sections.push(out);
        }
        let chunk = |id: u32| Chunk::new(ChunkKind::Relr, 8, 8, OutputSectionId(id / 2));
        layout.chunks = (0..4).map(chunk).collect();
        layout
    }

    /// Asks for as many bytes as the section after the first has in its address, up to a limit.
    struct Greedy(u64);

    impl Adaptive<'_> for Greedy {
        fn name(&self) -> &str {
            "it"
        }

        fn adapt(&mut self, layout: &mut Layout, sections: &mut Sections) -> bool {
            let size = layout.sections[1].address.get().min(self.0);
            let grows = size > layout.chunks[0].size;
            if grows {
                resize(layout, sections, ChunkId(0), size);
            }
            grows
        }
    }

    fn run(limit: u64) -> (Layout<'static>, Result<(), LayoutError>) {
        let mut layout = layout();
        let mut sections = Sections::default();
        for id in [0, 1] {
            members::place_again(&mut layout, &mut sections, OutputSectionId(id));
        }
        let result = settle(&mut layout, &mut sections, &mut [&mut Greedy(limit)], |layout, _| {
            layout.sections[1].address = Address::new(layout.sections[0].size);
            Ok(())
        });
        (layout, result)
    }

    #[test]
    fn rounds_go_on_until_nobody_changes_anything() {
        let (layout, result) = run(50);
        assert_eq!(result, Ok(()));
        // The second chunk has moved after the first, and the section after both.
        assert_eq!((layout.chunks[0].size, layout.chunks[1].offset()), (50, 56));
        assert_eq!((layout.sections[0].size, layout.sections[1].address.get()), (64, 64));
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        let error = run(u64::MAX).1.unwrap_err().to_string();
        assert!(error.contains("the size of it still changes after 64 rounds"), "{error}");
    }
}
