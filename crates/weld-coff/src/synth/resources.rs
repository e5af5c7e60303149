//! The tree of resources: by type, by name, by language; from files of compiled resources, and from objects
//! of GNU tools.
//!
//! Tables come first, level by level, then descriptions of data, then texts, then data. In a table texts
//! stand before numbers, each sorted; texts and data are in the order in which files have them. Source: "PE
//! Format", The .rsrc Section.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};

use super::section::{At, Sizes, Spec, Synthetic};
use super::{manifest, tables::Tables};
use crate::address::Rva;
use crate::coff::res::{self, Resource, ResourceId};
use crate::coff::{rsrc, u32_at};
use crate::ids::{ObjectId, SectionId};
use crate::input::FileName;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, PartialSection, Section, Sections};

/// A resource, the file that it comes from, and how many were there before it.
type Leaf<'a> = (Resource<'a>, String, u32);
/// Data of each language.
type Languages<'a> = BTreeMap<u16, Leaf<'a>>;
type Names<'a> = BTreeMap<ResourceId, Languages<'a>>;
type Types<'a> = BTreeMap<ResourceId, Names<'a>>;

/// Resources of objects.
type Trees<'a> = Vec<(FileName<'a>, Vec<Resource<'a>>)>;

pub struct Resources<'a> {
    types: Types<'a>,
    size: u32,
}

const TABLE: u32 = 16;
const ENTRY: u32 = 8;
const DESCRIPTION: u32 = 16;

/// Where data begins; each is a multiple of 8 bytes.
const DATA_ALIGN: u32 = 16;

/// Bytes of data. There is room for tables and texts in front of so much in any image.
const MOST: u64 = 2 << 30;

impl<'a> Resources<'a> {
    /// Reads resource files, and takes in what objects have.
    pub fn read(
        files: &[(FileName<'a>, &'a [u8])],
        trees: Trees<'a>,
        manifest: Option<(u16, &'a [u8])>,
        options: &Options,
        sink: &DiagSink,
    ) -> Resources<'a> {
        let (force, gnu) = (options.force.multiple_resources, options.mingw.on);
        let mut types: Types = BTreeMap::new();
        let mut count = 0;
        if let Some((number, data)) = manifest {
            let (typ, name) = (ResourceId::Number(manifest::RESOURCE_TYPE), ResourceId::Number(number));
            let language = manifest::LANGUAGE;
            let resource = Resource {
                typ: typ.clone(),
                name: name.clone(),
                language,
                version: 0,
                characteristics: 0,
                data,
            };
            let languages = BTreeMap::from([(language, (resource, "/manifest:embed".to_owned(), 0))]);
            types.insert(typ, BTreeMap::from([(name, languages)]));
        }
        let of_file = |(name, bytes): &(FileName<'a>, &'a [u8])| match res::parse(bytes) {
            Ok(list) => Some((name.clone(), list)),
            Err(e) => {
                sink.push(Diagnostic::error(Cause::Resources, format!("{name}: {e}")).in_file(name));
                None
            }
        };
        for (name, list) in files.iter().filter_map(of_file).chain(trees) {
            for resource in list {
                let languages =
                    types.entry(resource.typ.clone()).or_default().entry(resource.name.clone()).or_default();
                if let Some((old, first, _)) = languages.get(&resource.language) {
                    if gnu && is_default_manifest(old) {
                        continue;
                    }
                    let (typ, id, language) = (shown_type(&old.typ), shown(&old.name), old.language);
                    let which = format!("type {typ}/name {id}/language {language}");
                    let text = format!("duplicate resource: {which}, in {first} and in {name}");
                    sink.push(if force {
                        Diagnostic::warning(Cause::Resources, text)
                    } else {
                        Diagnostic::error(Cause::Resources, text)
                    });
                    continue;
                }
                count += 1;
                languages.insert(resource.language, (resource, name.to_string(), count));
            }
        }
        if gnu {
            drop_default_manifests(&mut types, sink);
        }
        let mut resources = Resources { types, size: 0 };
        let all = || resources.types.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        if all().map(|(resource, ..)| resource.data.len() as u64).sum::<u64>() > MOST {
            sink.error(Cause::Resources, "resources have more than 2 GiB");
            return resources;
        }
        resources.size = resources.bytes(Rva::ZERO).len() as u32;
        resources
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The tree, which lies at `rva`.
    fn bytes(&self, rva: Rva) -> Vec<u8> {
        let names = || self.types.values().flat_map(BTreeMap::values);
        let tables = 1 + self.types.len() + names().count();
        let leaves: usize = names().map(BTreeMap::len).sum();
        let entries = self.types.len() + names().count() + leaves;
        let descriptions_at = tables as u32 * TABLE + entries as u32 * ENTRY;
        let texts_at = descriptions_at + leaves as u32 * DESCRIPTION;
        let mut in_order: Vec<&Leaf> = names().flat_map(BTreeMap::values).collect();
        in_order.sort_by_key(|leaf| leaf.2);
        let texts = Texts::of(&in_order, texts_at);
        let mut writer =
            Writer { bytes: Vec::new(), texts: &texts, next_table: 0, next_leaf: descriptions_at };
        writer.next_table = TABLE + self.types.len() as u32 * ENTRY;
        writer.table(None, self.types.iter().map(|(id, names)| (id, names.len())));
        for (id, names) in &self.types {
            writer.table(Some(id), names.iter().map(|(id, languages)| (id, languages.len())));
        }
        for languages in names() {
            writer.leaves(languages.keys().copied());
        }
        let first_data = (texts_at + texts.bytes.len() as u32).next_multiple_of(DATA_ALIGN);
        let mut data_at = first_data;
        let mut places = HashMap::new();
        for (resource, _, number) in &in_order {
            places.insert(*number, data_at);
            data_at = (data_at + resource.data.len() as u32).next_multiple_of(8);
        }
        for (resource, _, number) in names().flat_map(BTreeMap::values) {
            for word in [(rva + places[number]).get(), resource.data.len() as u32, 0, 0] {
                writer.bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let mut bytes = writer.bytes;
        bytes.extend_from_slice(&texts.bytes);
        bytes.resize(first_data as usize, 0);
        for (resource, ..) in in_order {
            bytes.extend_from_slice(resource.data);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }
}

/// The tree in the image.
pub struct Tree;

impl Synthetic for Tree {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let resources = Some(&sizes.tables.resources).filter(|resources| !resources.is_empty());
        resources.map(|resources| Spec::read_only(b".rsrc", 3, resources.size))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(&at.tables().resources.bytes(at.rva()));
    }
}

fn is_default_manifest(resource: &Resource) -> bool {
    resource.typ == ResourceId::Number(manifest::RESOURCE_TYPE) && resource.language == 0
}

/// Compilers of MinGW add a manifest without a language to every program; one that the program has itself
/// takes its place.
fn drop_default_manifests(types: &mut Types, sink: &DiagSink) {
    for languages in
        types.get_mut(&ResourceId::Number(manifest::RESOURCE_TYPE)).into_iter().flat_map(BTreeMap::values_mut)
    {
        if languages.len() > 1 {
            languages.remove(&0);
        }
        let mut others = languages.iter();
        if let (Some((one, (_, first, _))), Some((other, (_, second, _)))) = (others.next(), others.next()) {
            sink.error(
                Cause::Manifest,
                format!(
                    "duplicate non-default manifests with languages {one} in {first} and {other} in {second}"
                ),
            );
        }
    }
}

/// Takes the resources out of objects of GNU tools, which have trees of them that are joined; their sections
/// then are not in the image.
pub fn take_from_objects<'a>(
    resolved: &Resolved<'a>,
    sections: &mut Sections,
    live: &Live,
    options: &Options,
    sink: &DiagSink,
) -> Trees<'a> {
    if !options.mingw.on {
        return Vec::new();
    }
    let is_tree = |section: &Section, parts: &[PartialSection]| {
        section.kind == Kind::Resource
            && matches!(&parts[section.part as usize].name[..], b".rsrc" | b".rsrc$01")
    };
    let all = (0..).map(SectionId).zip(&sections.list);
    let trees: Vec<Section> = all
        .filter(|(id, section)| is_tree(section, &sections.parts) && live.has(*id))
        .map(|(_, section)| *section)
        .collect();
    let mut found = Vec::new();
    for tree in trees {
        let object = &resolved.objects[tree.object.index()];
        let header = sections.header(&resolved.objects, &tree);
        let contents = object.coff.contents(header).unwrap_or_default();
        let targets: HashMap<u32, u32> = object
            .coff
            .relocations(header)
            .unwrap_or_default()
            .iter()
            .map(|relocation| (relocation.virtual_address.get(LE), relocation.symbol_table_index.get(LE)))
            .collect();
        let data = |at: u32| {
            let symbol = object.coff.symbols.get(*targets.get(&at)?)?;
            let header = object.coff.section(u32::try_from(symbol.section).ok()?)?;
            let addend = u32_at(contents, at as usize)?;
            object.coff.contents(header).ok()?.get(symbol.value.checked_add(addend)? as usize..)
        };
        match rsrc::parse(contents, object.coff.data.len(), data) {
            Ok(list) => found.push((object.name.clone(), list)),
            Err(e) => sink.push(
                Diagnostic::error(Cause::Resources, format!("{}: {e}", object.name))
                    .in_file(&object.name)
                    .of(object.file, tree.number),
            ),
        }
    }
    sections
        .list
        .iter_mut()
        .filter(|section| section.kind == Kind::Resource)
        .for_each(|section| section.kind = Kind::Discarded);
    found
}

/// Finds objects whose resources cannot be joined with others: they are laid out already.
pub fn check_objects(
    resolved: &Resolved,
    sections: &Sections,
    live: &Live,
    tables: &Tables,
    sink: &DiagSink,
) {
    if !sections.parts.iter().any(|part| part.name.starts_with(b".rsrc")) {
        return;
    }
    let all = (0..).map(SectionId).zip(&sections.list);
    let of_objects = all.filter(|(id, section)| section.kind == Kind::Resource && live.has(*id));
    let mut objects: Vec<_> = of_objects.map(|(_, section)| section.object).collect();
    objects.dedup();
    let name = |id: &ObjectId| resolved.objects[id.index()].name.to_string();
    let Some(first) = objects.first().map(name) else { return };
    let mut others: Vec<String> = objects[1..].iter().map(name).collect();
    if !tables.resources.is_empty() {
        others.push("internal .obj file created from .res files".to_owned());
    }
    for other in others {
        sink.error(
            Cause::Resources,
            format!("{other}: more than one resource obj file not allowed, already got {first}"),
        );
    }
}

/// Texts of types, and of names below a type, with their lengths in front.
struct Texts<'t> {
    bytes: Vec<u8>,
    /// Where each is.
    places: HashMap<(Option<&'t ResourceId>, &'t ResourceId), u32>,
}

impl<'t> Texts<'t> {
    /// The texts of resources that come in this order; they lie at `start`.
    fn of(leaves: &[&'t Leaf], start: u32) -> Texts<'t> {
        let mut texts = Texts { bytes: Vec::new(), places: HashMap::new() };
        for (resource, ..) in leaves {
            for key in [(None, &resource.typ), (Some(&resource.typ), &resource.name)] {
                if let ResourceId::Text(text) = key.1
                    && let Entry::Vacant(place) = texts.places.entry(key)
                {
                    place.insert(start + texts.bytes.len() as u32);
                    texts.bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
                    text.iter().for_each(|unit| texts.bytes.extend_from_slice(&unit.to_le_bytes()));
                }
            }
        }
        texts
    }
}

struct Writer<'w> {
    bytes: Vec<u8>,
    texts: &'w Texts<'w>,
    /// Where the next table of the level below lies, and the next description.
    next_table: u32,
    next_leaf: u32,
}

impl Writer<'_> {
    fn header(&mut self, texts: usize, numbers: usize) {
        self.bytes.extend_from_slice(&[0; 12]);
        self.bytes.extend_from_slice(&(texts as u16).to_le_bytes());
        self.bytes.extend_from_slice(&(numbers as u16).to_le_bytes());
    }

    fn entry(&mut self, id: u32, target: u32) {
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.bytes.extend_from_slice(&target.to_le_bytes());
    }

    /// A table of types, or of the names of a type, each with the number of entries below it.
    fn table<'i>(
        &mut self,
        typ: Option<&'i ResourceId>,
        entries: impl Iterator<Item = (&'i ResourceId, usize)> + Clone,
    ) {
        let texts = entries.clone().filter(|(id, _)| matches!(id, ResourceId::Text(_))).count();
        self.header(texts, entries.clone().count() - texts);
        for (id, below) in entries {
            let id = match id {
                ResourceId::Number(number) => u32::from(*number),
                // The first bit says that it is a text.
                ResourceId::Text(_) => self.texts.places.get(&(typ, id)).copied().unwrap_or(0) | 1 << 31,
            };
            self.entry(id, self.next_table | 1 << 31);
            self.next_table += TABLE + below as u32 * ENTRY;
        }
    }

    fn leaves(&mut self, languages: impl Iterator<Item = u16> + Clone) {
        self.header(0, languages.clone().count());
        for language in languages {
            self.entry(language.into(), self.next_leaf);
            self.next_leaf += DESCRIPTION;
        }
    }
}

/// Names of types by number.
const TYPES: [&str; 25] = [
    "",
    "CURSOR",
    "BITMAP",
    "ICON",
    "MENU",
    "DIALOG",
    "STRINGTABLE",
    "FONTDIR",
    "FONT",
    "ACCELERATOR",
    "RCDATA",
    "MESSAGETABLE",
    "GROUP_CURSOR",
    "",
    "GROUP_ICON",
    "",
    "VERSIONINFO",
    "DLGINCLUDE",
    "",
    "PLUGPLAY",
    "VXD",
    "ANICURSOR",
    "ANIICON",
    "HTML",
    "MANIFEST",
];

fn shown_type(id: &ResourceId) -> String {
    let name = match id {
        ResourceId::Number(number) => TYPES.get(usize::from(*number)).filter(|name| !name.is_empty()),
        ResourceId::Text(_) => None,
    };
    name.map_or_else(|| shown(id), |name| format!("{name} ({})", shown(id)))
}

fn shown(id: &ResourceId) -> String {
    match id {
        ResourceId::Number(number) => format!("ID {number}"),
        ResourceId::Text(text) => format!("\"{}\"", String::from_utf16_lossy(text)),
    }
}
