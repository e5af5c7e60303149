//! Checks that hold for every PE image: what a loader, an unwinder or a tool relies on.
//!
//! The image is read by the crate `object`, which shares no code with the linker.

use super::Problems;
use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile, PeFile32, PeFile64};

/// Whether `bytes` are a PE image.
pub fn is_image(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MZ")
}

/// Everything that is wrong with the image.
pub fn verify(bytes: &[u8]) -> Vec<String> {
    let mut problems = Problems::default();
    let read = match PeFile64::parse(bytes) {
        Ok(file) => verify_file(&file, bytes, &mut problems),
        Err(_) => match PeFile32::parse(bytes) {
            Ok(file) => verify_file(&file, bytes, &mut problems),
            Err(e) => Err(e.to_string()),
        },
    };
    problems.part("image", read);
    problems.0
}

fn verify_file<P: ImageNtHeaders>(file: &PeFile<P>, bytes: &[u8], p: &mut Problems) -> Result<(), String> {
    let optional = file.nt_headers().optional_header();
    headers(file, bytes, p);
    let sections = file.section_table();
    let entry = optional.address_of_entry_point();
    let code = |rva: u32| {
        let found = sections.iter().find(|s| {
            let start = s.virtual_address.get(LE);
            (start..start + s.virtual_size.get(LE)).contains(&rva)
        });
        found.is_some_and(|s| s.characteristics.get(LE).0 & pe::IMAGE_SCN_MEM_EXECUTE.0 != 0)
    };
    p.check(entry == 0 || code(entry), || format!("the entry point {entry:#x} is not in code"));
    directories(file, bytes, p);
    imports(file, p).map_err(|e| format!("imports: {e}"))?;
    exports(file, p).map_err(|e| format!("exports: {e}"))?;
    base_relocations(file, bytes, p).map_err(|e| format!("base relocations: {e}"))?;
    functions(file, bytes, p, code);
    Ok(())
}

/// Sections follow one another in memory and in the file, aligned, and fill the image.
fn headers<P: ImageNtHeaders>(file: &PeFile<P>, bytes: &[u8], p: &mut Problems) {
    let optional = file.nt_headers().optional_header();
    let (align, file_align) = (optional.section_alignment(), optional.file_alignment());
    let headers = optional.size_of_headers();
    let mut rva = headers.next_multiple_of(align);
    let mut offset = headers;
    p.check(headers.is_multiple_of(file_align), || format!("the headers have {headers:#x} bytes"));
    for section in file.section_table().iter() {
        let name = String::from_utf8_lossy(section.raw_name()).into_owned();
        let (start, size) = (section.virtual_address.get(LE), section.virtual_size.get(LE));
        p.check(start == rva, || format!("{name} is at {start:#x}, not at {rva:#x}"));
        p.check(size > 0, || format!("{name} is empty"));
        rva = (start + size).next_multiple_of(align);
        let (at, raw) = (section.pointer_to_raw_data.get(LE), section.size_of_raw_data.get(LE));
        p.check(raw.is_multiple_of(file_align), || format!("{name} has {raw:#x} bytes in the file"));
        if raw > 0 {
            p.check(at == offset, || format!("{name} is at {at:#x} in the file, not at {offset:#x}"));
            p.check(raw <= size.next_multiple_of(file_align), || {
                format!("{name} has more bytes than memory")
            });
            offset = at + raw;
        }
    }
    let image = optional.size_of_image();
    p.check(image == rva, || format!("the image's size is {image:#x}, not {rva:#x}"));
    p.check(bytes.len() as u64 >= u64::from(offset), || "the file is too short".to_owned());
}

/// What directories lead to lies in one section.
fn directories<P: ImageNtHeaders>(file: &PeFile<P>, _: &[u8], p: &mut Problems) {
    for (index, directory) in file.data_directories().iter().enumerate() {
        let (start, size) = directory.address_range();
        if start == 0 && size == 0 || index == pe::IMAGE_DIRECTORY_ENTRY_SECURITY {
            continue;
        }
        let inside = file.section_table().iter().any(|s| {
            let at = s.virtual_address.get(LE);
            at <= start
                && u64::from(start) + u64::from(size) <= u64::from(at) + u64::from(s.virtual_size.get(LE))
        });
        p.check(inside, || {
            format!("directory {index} at {start:#x} with {size:#x} bytes lies in no section")
        });
    }
}

fn imports<P: ImageNtHeaders>(file: &PeFile<P>, p: &mut Problems) -> Result<(), String> {
    let say = |e: object::read::Error| e.to_string();
    let Some(table) = file.import_table().map_err(say)? else { return Ok(()) };
    let mut descriptors = table.descriptors().map_err(say)?;
    while let Some(descriptor) = descriptors.next().map_err(say)? {
        let name = table.name(descriptor.name.get(LE)).map_err(say)?;
        let name = String::from_utf8_lossy(name).into_owned();
        p.check(!name.is_empty(), || "a DLL without a name".to_owned());
        let mut lookups = table.thunks(descriptor.original_first_thunk.get(LE)).map_err(say)?;
        let mut slots = table.thunks(descriptor.first_thunk.get(LE)).map_err(say)?;
        loop {
            let (lookup, slot) = (lookups.next::<P>().map_err(say)?, slots.next::<P>().map_err(say)?);
            let raw = |thunk: Option<P::ImageThunkData>| thunk.map(object::read::pe::ImageThunkData::raw);
            p.check(raw(lookup) == raw(slot), || format!("{name}: a slot differs from its lookup"));
            let Some(lookup) = lookup else { break };
            table.import::<P>(lookup).map_err(|e| format!("{name}: {e}"))?;
        }
    }
    Ok(())
}

/// Names are sorted: the loader searches them.
fn exports<P: ImageNtHeaders>(file: &PeFile<P>, p: &mut Problems) -> Result<(), String> {
    let Some(table) = file.export_table().map_err(|e| e.to_string())? else { return Ok(()) };
    let mut last: Option<Vec<u8>> = None;
    for (pointer, _) in table.name_iter() {
        let name = table.name_from_pointer(pointer).map_err(|e| e.to_string())?.to_vec();
        p.check(last.as_ref().is_none_or(|last| *last < name), || {
            format!("the export {} is not sorted", String::from_utf8_lossy(&name))
        });
        last = Some(name);
    }
    table.exports().map(|_| ()).map_err(|e| e.to_string())
}

/// Blocks and their places are sorted, and each place holds the address of something in the image.
fn base_relocations<P: ImageNtHeaders>(
    file: &PeFile<P>,
    bytes: &[u8],
    p: &mut Problems,
) -> Result<(), String> {
    let sections = file.section_table();
    let say = |e: object::read::Error| e.to_string();
    let Some(mut blocks) = file.data_directories().relocation_blocks(bytes, &sections).map_err(say)? else {
        return Ok(());
    };
    let base = file.nt_headers().optional_header().image_base();
    let size = u64::from(file.nt_headers().optional_header().size_of_image());
    let mut last = 0;
    while let Some(block) = blocks.next().map_err(say)? {
        for place in block.filter(|place| place.typ != pe::IMAGE_REL_BASED_ABSOLUTE) {
            let at = place.virtual_address;
            p.check(at > last, || format!("the base relocation at {at:#x} is not sorted"));
            last = at;
            let Some(data) = sections.pe_data_at(bytes, at) else {
                p.add(format!("the base relocation at {at:#x} is in no section"));
                continue;
            };
            let address = match place.typ {
                pe::IMAGE_REL_BASED_DIR64 => data.first_chunk().map(|b| u64::from_le_bytes(*b)),
                pe::IMAGE_REL_BASED_HIGHLOW => data.first_chunk().map(|b| u32::from_le_bytes(*b).into()),
                _ => continue,
            };
            let inside = address.is_some_and(|address| address.wrapping_sub(base) <= size);
            p.check(inside, || format!("the base relocation at {at:#x} is of {address:#x?}"));
        }
    }
    Ok(())
}

/// Functions for unwinding are sorted, do not overlap, and are code.
fn functions<P: ImageNtHeaders>(
    file: &PeFile<P>,
    bytes: &[u8],
    p: &mut Problems,
    code: impl Fn(u32) -> bool,
) {
    let machine = file.nt_headers().file_header().machine.get(LE);
    let directory = file.data_directories().get(pe::IMAGE_DIRECTORY_ENTRY_EXCEPTION);
    let Some(directory) = directory.filter(|_| machine == pe::IMAGE_FILE_MACHINE_AMD64) else { return };
    let Ok(data) = directory.data(bytes, &file.section_table()) else { return };
    let mut last = 0;
    for entry in data.as_chunks::<12>().0 {
        let word = |i: usize| u32::from_le_bytes([entry[i], entry[i + 1], entry[i + 2], entry[i + 3]]);
        let (start, end) = (word(0), word(4));
        p.check(start >= last && start < end, || format!("the function at {start:#x} is not sorted"));
        p.check(code(start), || format!("the function at {start:#x} is not code"));
        last = end;
    }
}
