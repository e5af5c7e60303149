//! What `-r` decides on the joining of its inputs (`relocatable`), for layout, symbol table and emission.

use std::collections::HashMap;

use super::commons::Common;
use super::groups::Group;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::members::Head;
use crate::layout::{ChunkKind, Layout};
use crate::live::{Live, SectionOwners};
use crate::resolve::Resolved;
use crate::sections::is_table;

/// How the inputs of `-r` are joined.
pub struct Joined {
    /// The header fields of the output section of each bin.
    pub heads: Vec<Option<Head>>,
    pub groups: Vec<Group>,
    /// Common symbols that stay so.
    pub commons: HashMap<SymbolId, Common>,
    /// What the names stand for that the command line defines by others.
    pub aliases: HashMap<SymbolId, SymbolId>,
    /// What `.note.GNU-stack` says; `None` if nobody says anything.
    pub executable_stack: Option<bool>,
    /// For each object, whether bytes at the places of its relocations may change.
    pub changes: Vec<bool>,
}

impl Joined {
    /// Whether bytes of an object may change at the places of relocations.
    #[inline]
    pub fn changes(&self, object: ObjectId) -> bool {
        self.changes[object.index()]
    }
}

/// Has input sections that speak of the symbol table name that of the output.
pub fn link_tables(layout: &mut Layout, resolved: &Resolved, owners: &SectionOwners) {
    let table = layout.header_of(ChunkKind::SymTab);
    for out in layout.sections.iter_mut().filter(|out| out.own.is_none() && out.flags & SHF_LINK_ORDER == 0) {
        let Some(first) = out.members.first().and_then(|member| member.as_section()) else { continue };
        let object = &resolved.objects[owners.object(first).index()];
        let link = object.shdrs[(first.0 - object.section_base) as usize].sh_link();
        if link != 0 && object.shdrs.get(link as usize).is_some_and(|s| s.sh_type() == SHT_SYMTAB) {
            out.link = table;
        }
    }
}

/// For each object, whether sections are left out that relocations of others might refer to.
pub fn lossy(objects: &[Object], live: &Live) -> Vec<bool> {
    let lossy = |object: &Object| {
        let ids = (object.section_base..).map(SectionId);
        ids.zip(object.shdrs).any(|(id, shdr)| !live.contains(id) && !is_table(shdr))
    };
    objects.iter().map(lossy).collect()
}
