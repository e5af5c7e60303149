//! `--oformat=srec`, `ihex` and `verilog`: the loaded bytes of the image as text, for programmers of flash
//! memory and for simulators.
//!
//! The image is made as an ELF file, in a temporary file that never gets a name; what its sections load is
//! then written as text in its place. So addresses are those of the ELF file, and the text is what `objcopy
//! -O FORMAT` makes of that. All three have 16 bytes a line, each section begins a line, and lines end as in
//! DOS.
//!
//! Sources: Motorola S-record and Intel hexadecimal object file formats; IEEE 1364, `$readmemh`.

use weld_common::diag::{Cause, Diagnostic};
use weld_common::io::output::{OutputError, OutputFile};

use crate::address::Address;
use crate::elf::*;
use crate::layout::{Layout, OutputSection};
use crate::options::TextFormat;

/// Bytes a line.
const LINE: usize = 16;

/// What is loaded, where, and where the program starts.
struct Loaded<'l> {
    /// By load address.
    sections: Vec<&'l OutputSection<'l>>,
    entry: u64,
}

/// The text of the image that `file` holds. `name` is what the output is called.
///
/// # Errors
/// If the file cannot be read, or the format has no such addresses.
pub fn text(
    format: TextFormat,
    layout: &Layout,
    file: &OutputFile,
    name: &str,
) -> Result<Vec<u8>, Diagnostic> {
    let mut header = vec![0; layout.format.size::<Ehdr>() as usize];
    file.read_at(0, &mut header)?;
    let entry = layout.format.get(&header[24..24 + layout.format.word() as usize]);
    let has_bytes = |s: &&OutputSection| s.is_alloc() && s.file_size() > 0;
    let mut sections: Vec<&OutputSection> = layout.sections.iter().filter(has_bytes).collect();
    sections.sort_by_key(|section| section.load_address);
    let loaded = Loaded { sections, entry };
    match format {
        TextFormat::Srec => loaded.srec(file, name),
        TextFormat::Ihex => loaded.ihex(file),
        TextFormat::Verilog => loaded.verilog(file),
    }
}

impl Loaded<'_> {
    /// The bytes of a section.
    fn bytes(file: &OutputFile, section: &OutputSection) -> Result<Vec<u8>, OutputError> {
        let mut bytes = vec![0; section.file_size() as usize];
        file.read_at(section.offset.0, &mut bytes)?;
        Ok(bytes)
    }

    /// Both formats with checksums have addresses of 32 bits. Those of kernels are written without the upper
    /// half, which is all ones.
    fn check_width(&self, format: &str) -> Result<(), Diagnostic> {
        let fits = |address: Address| {
            u32::try_from(address.get()).is_ok() || i32::try_from(address.get() as i64).is_ok()
        };
        let last = |s: &OutputSection| s.load_address.wrapping_add(s.file_size() - 1);
        match self.sections.iter().find(|s| !fits(s.load_address) || !fits(last(s))) {
            Some(section) => Err(Diagnostic::error(
                Cause::ImageTooLarge,
                format!(
                    "section {} is loaded at {:#x}, which {format} cannot say: its addresses have 32 bits",
                    String::from_utf8_lossy(&section.name),
                    section.load_address
                ),
            )),
            None => Ok(()),
        }
    }

    /// S-records: addresses are as wide throughout as the highest one needs.
    fn srec(&self, file: &OutputFile, name: &str) -> Result<Vec<u8>, Diagnostic> {
        self.check_width("srec")?;
        /// Letters of the name in the first record.
        const NAME: usize = 40;
        let last = self.sections.iter().map(|s| s.load_address.wrapping_add(s.file_size() - 1)).max();
        let width = match last.map_or(0, Address::get) {
            0..=0xffff => 2,
            0x1_0000..=0xff_ffff => 3,
            _ => 4,
        };
        let mut out = Vec::new();
        let name = name.as_bytes();
        srec_line(&mut out, b'0', 2, 0, &name[..name.len().min(NAME)]);
        for section in &self.sections {
            let bytes = Self::bytes(file, section)?;
            for (i, line) in bytes.chunks(LINE).enumerate() {
                let address = section.load_address.wrapping_add((i * LINE) as u64);
                srec_line(&mut out, b'0' + width as u8 - 1, width, address.get(), line);
            }
        }
        srec_line(&mut out, b'0' + 11 - width as u8, width, self.entry, &[]);
        Ok(out)
    }

    /// Intel's: addresses of lines have 16 bits, and records in between say what is above: up to a megabyte
    /// in the manner of the 8086.
    fn ihex(&self, file: &OutputFile) -> Result<Vec<u8>, Diagnostic> {
        self.check_width("ihex")?;
        let mut out = Vec::new();
        // What the last records of the two kinds have said.
        let (mut segment, mut upper) = (0u64, 0u64);
        // In the order of what is written: the upper half of addresses is not.
        let mut sections = self.sections.clone();
        sections.sort_by_key(|section| section.load_address.get() as u32);
        for section in sections {
            let bytes = Self::bytes(file, section)?;
            let mut bytes = &bytes[..];
            let mut address = u64::from(section.load_address.get() as u32);
            while !bytes.is_empty() {
                let base = segment + upper;
                // Below it is what overlaps the section before.
                if !(base..=base + 0xffff).contains(&address) {
                    if address <= 0xf_ffff {
                        if std::mem::take(&mut upper) != 0 {
                            ihex_line(&mut out, 4, 0, &[0, 0]);
                        }
                        segment = address & 0xf_0000;
                        ihex_line(&mut out, 2, 0, &((segment >> 4) as u16).to_be_bytes());
                    } else {
                        if std::mem::take(&mut segment) != 0 {
                            ihex_line(&mut out, 2, 0, &[0, 0]);
                        }
                        upper = address & 0xffff_0000;
                        ihex_line(&mut out, 4, 0, &((upper >> 16) as u16).to_be_bytes());
                    }
                }
                let offset = address - (segment + upper);
                // No line goes beyond what is above its first byte.
                let size = bytes.len().min(LINE).min((0x1_0000 - offset) as usize);
                let (line, rest) = bytes.split_at(size);
                ihex_line(&mut out, 0, offset as u16, line);
                (address, bytes) = (address + size as u64, rest);
            }
        }
        let entry = self.entry as u32;
        match entry {
            0 => {}
            1..=0xf_ffff => {
                let segment = ((entry & 0xf_0000) >> 4) as u16;
                ihex_line(&mut out, 3, 0, &[segment.to_be_bytes(), (entry as u16).to_be_bytes()].concat());
            }
            _ => ihex_line(&mut out, 5, 0, &entry.to_be_bytes()),
        }
        ihex_line(&mut out, 1, 0, &[]);
        Ok(out)
    }

    /// Verilog's: a line with the address before each section.
    fn verilog(&self, file: &OutputFile) -> Result<Vec<u8>, Diagnostic> {
        let mut out = Vec::new();
        for section in &self.sections {
            out.push(b'@');
            let address = section.load_address.get().to_be_bytes();
            let narrow = section.load_address.get() <= u64::from(u32::MAX);
            hex(&mut out, if narrow { &address[4..] } else { &address });
            out.extend_from_slice(b"\r\n");
            for line in Self::bytes(file, section)?.chunks(LINE) {
                for (i, byte) in line.iter().enumerate() {
                    if i > 0 {
                        out.push(b' ');
                    }
                    hex(&mut out, &[*byte]);
                }
                out.extend_from_slice(b"\r\n");
            }
        }
        Ok(out)
    }
}

fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend(bytes.iter().flat_map(|b| [DIGITS[(b >> 4) as usize], DIGITS[(b & 15) as usize]]));
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// `S`, the kind, how many bytes follow, the address in so many bytes, data, and the complement of their sum.
fn srec_line(out: &mut Vec<u8>, kind: u8, width: usize, address: u64, data: &[u8]) {
    let mut record = vec![(width + data.len() + 1) as u8];
    record.extend_from_slice(&address.to_be_bytes()[8 - width..]);
    record.extend_from_slice(data);
    record.push(!sum(&record));
    out.extend_from_slice(&[b'S', kind]);
    hex(out, &record);
    out.extend_from_slice(b"\r\n");
}

/// A colon, how many bytes of data there are, the address, the kind, the data, and what makes the sum 0.
fn ihex_line(out: &mut Vec<u8>, kind: u8, address: u16, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let mut record = vec![data.len() as u8, high, low, kind];
    record.extend_from_slice(data);
    record.push(sum(&record).wrapping_neg());
    out.push(b':');
    hex(out, &record);
    out.extend_from_slice(b"\r\n");
}
