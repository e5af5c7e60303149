//! What kind of file to write, and where its parts go.

use weld_common::args::Value::{Optional, Required};
use weld_common::args::values::{number, number_up_to};
use weld_common::args::{Given, Group, Spec, ValueError, choice, flag, refused, take};
use weld_common::io::output::EngineChoice;
use weld_common::link_slots::rows;

use super::super::emulation;
use super::super::state::{State, Stop};
use super::super::values::{OptionError, address, hex_bytes, percent_decode};
use crate::arch;
use crate::options::{BuildId, Incremental, Magic, TextFormat};

pub const GROUP: Group<State> = Group { title: "Output", prefix: "", rows: ROWS };

/// The strictest alignment that may be asked for.
const MAX_ALIGN: u64 = 1 << 30;
/// More entries that say nothing than this are of no use to anybody.
const MAX_SPARE: u64 = 1 << 10;

const ROWS: &[Spec<State>] = &[
    take(&["output", "o"], Required("FILE"), "Write FILE (default: a.out).", |s, v| {
        if v.os().is_empty() {
            return Err(ValueError::NoFile.into());
        }
        s.o.output.path = v.os().into();
        s.o.output.path_given = true;
        Ok(())
    }),
    flag(&["shared", "Bshareable"], "Make a shared object.", |s| s.shared = true),
    flag(&["pie", "pic-executable"], "Make a position-independent executable.", |s| s.pie = true),
    flag(
        &["no-pie", "nopie", "no-pic-executable"],
        "Make an executable at a fixed address (default).",
        |s| s.pie = false,
    ),
    flag(
        &["relocatable", "r", "i", "Ur"],
        "Combine the inputs to one object that can be linked again.",
        |s| s.relocatable = true,
    ),
    take(
        &["m"],
        Required("EMULATION"),
        "Link for an architecture (default: that of the first object), by the name that GNU ld has for it: elf_x86_64, aarch64linux and the like; -m help lists them. -mips32r2 and the like say nothing that objects do not. With _fbsd after it, for FreeBSD.",
        |s, v| {
            if v.text()? == "help" {
                s.stop(Stop::Machines);
                return Ok(());
            }
            if emulation::is_instruction_set(v.text()?) {
                return Ok(());
            }
            // The last one counts, whatever others say: U-Boot has -m32 before it.
            let target = emulation::target(v.text()?);
            if let Ok((machine, os_abi)) = target {
                (s.o.inputs.machine, s.o.inputs.os_abi) = (Some(machine), os_abi);
            }
            s.wrong_emulation = target.err();
            Ok(())
        },
    ),
    take(
        &["entry", "e"],
        Required("SYMBOL"),
        "Start the program at SYMBOL (default: _start; MIPS: __start).",
        |s, v| {
            s.o.symbols.entry = Some(v.string()?);
            Ok(())
        },
    ),
    take(
        &["image-base"],
        Required("ADDRESS"),
        "Place the file's first byte at ADDRESS. Default: 0x200000 for executables at a fixed address, else 0.",
        |s, v| {
            s.o.layout.image_base = Some(number(v.text()?)?);
            Ok(())
        },
    ),
    take(
        &["section-start"],
        Required("SECTION=ADDRESS"),
        "Place SECTION at ADDRESS, which is hexadecimal.",
        |s, v| match v.text()?.rsplit_once('=') {
            Some((section, at)) if !section.is_empty() => {
                s.section_start(section, address(at)?);
                Ok(())
            }
            _ => Err(ValueError::Expected("SECTION=ADDRESS").into()),
        },
    ),
    take(
        &["Ttext"],
        Required("ADDRESS"),
        "The same for .text; other code, read-only data and data follow it.",
        |s, v| start(s, ".text", v),
    ),
    take(&["Tdata"], Required("ADDRESS"), "The same for .data.", |s, v| start(s, ".data", v)),
    take(&["Tbss"], Required("ADDRESS"), "The same for .bss.", |s, v| start(s, ".bss", v)),
    flag(&["check-sections"], "Report sections whose addresses overlap (default).", |s| {
        s.o.layout.check_sections = true;
    }),
    flag(&["no-check-sections"], "Allow sections whose addresses overlap.", |s| {
        s.o.layout.check_sections = false
    }),
    take(
        &["build-id"],
        Optional("STYLE"),
        "Write a build id: none, fast, md5, sha1 (also: tree), uuid or 0xHEX. Without a value: fast.",
        build_id,
    ),
    flag(&["no-build-id"], "Write no build id (default).", |s| s.o.notes.build_id = BuildId::None),
    take(
        &["package-metadata"],
        Optional("JSON"),
        "Write a .note.package section with this text; %XX stands for a byte. Empty: no note.",
        |s, v| {
            let text = percent_decode(v.text()?)?;
            s.o.notes.package_metadata = (!text.is_empty()).then_some(text);
            Ok(())
        },
    ),
    take(
        &["O", "optimize"],
        Required("LEVEL"),
        "Optimise the output: 0 does not merge strings, 1 does (default), 2 and more try harder.",
        |s, v| {
            s.o.sections.optimize = number(v.text()?)?.min(2) as u8;
            Ok(())
        },
    ),
    flag(&["noinhibit-exec"], "Keep the output even if there are errors.", |s| {
        s.o.reports.noinhibit_exec = true
    }),
    take(
        &["threads", "thread-count"],
        Required("N"),
        "Use N threads. Default: as many as the work is worth, the processors allow, and the jobserver of make or \
         cargo has tokens for.",
        |s, v| match number(v.text()?)? {
            0 => Err(ValueError::Expected("a number above 0").into()),
            n => {
                s.o.threads = Some(usize::try_from(n).unwrap_or(usize::MAX));
                Ok(())
            }
        },
    ),
    flag(&["no-threads"], "Use one thread.", |s| s.o.threads = Some(1)),
    rows::link_slots().two_dashes(),
    rows::memory().two_dashes(),
    flag(
        &["mmap-output-file"],
        "Write the output through a shared mapping. Default: by threads, size and file system.",
        |s| {
            s.o.output.engine = EngineChoice::Mapped;
        },
    ),
    flag(&["no-mmap-output-file"], "Write the output with write calls.", |s| {
        s.o.output.engine = EngineChoice::Streaming;
    }),
    take(
        &["oformat"],
        Required("FORMAT"),
        "The format of the output: elf (default); binary is the image without headers, which starts with the section \
         that has the lowest address; srec, ihex and verilog are the bytes that it loads as text.",
        |s, v| {
            let format = v.text()?;
            (s.o.output.raw, s.o.output.format_given) = (format == "binary", true);
            s.o.output.text = TextFormat::of(format);
            if !matches!(format, "elf" | "default" | "binary") && s.o.output.text.is_none() {
                let known = arch::object_format(format);
                s.o.inputs.output_format =
                    Some(known.ok_or_else(|| ValueError::unknown("output format", format))?);
            }
            Ok(())
        },
    ),
    flag(&["EL"], "Link little-endian objects, if the architecture has them.", |s| {
        s.o.inputs.big_endian = Some(false);
    }),
    flag(&["EB"], "Link big-endian objects, if the architecture has them.", |s| {
        s.o.inputs.big_endian = Some(true);
    }),
    flag(&["rosegment"], "Give read-only data a segment apart from code (default).", |s| {
        s.o.layout.rosegment = true;
    }),
    flag(&["no-rosegment"], "Put both into one, which is executable.", |s| s.o.layout.rosegment = false),
    flag(&["xosegment"], "AArch64: give code that nobody reads a segment apart from other code.", |s| {
        s.o.layout.xosegment = true;
    }),
    flag(&["no-xosegment"], "Code next to code that may be read may be, too (default).", |s| {
        s.o.layout.xosegment = false;
    }),
    flag(
        &["omagic", "N"],
        "Put all sections into one segment, closely and writable, for images that are not mapped by pages. \
         Implies -Bstatic, not -static.",
        |s| s.magic(Magic::Omagic),
    ),
    flag(
        &["nmagic", "n"],
        "Let segments follow one another as closely as sections do, for images that are not mapped by pages. \
         Implies -Bstatic, not -static.",
        |s| s.magic(Magic::Nmagic),
    ),
    flag(&["no-omagic", "no-nmagic"], "Segments start on pages of their own (default).", |s| {
        s.o.layout.magic = Magic::Paged;
    }),
    take(&["Ttext-segment"], Required("ADDRESS"), "The same as --image-base, in hexadecimal.", |s, v| {
        s.o.layout.image_base = Some(address(v.text()?)?);
        Ok(())
    }),
    refused(
        &["Trodata-segment"],
        Required("ADDRESS"),
        "use --section-start=.rodata=ADDRESS, or --image-base for the whole image",
    ),
    refused(&["Tldata-segment"], Required("ADDRESS"), "use --section-start=.ldata=ADDRESS"),
    take(
        &["physical-image-base"],
        Required("ADDRESS"),
        "Load the segments from ADDRESS on (p_paddr): where they run as long as that is ADDRESS and gaps are small, then \
         one after the other. __phys_start_X and __phys_stop_X are where a section X is loaded.",
        |s, v| {
            s.o.layout.physical_image_base = Some(number(v.text()?)?);
            Ok(())
        },
    ),
    take(&["section-align"], Required("SECTION=BYTES"), "Align the output section at least so.", |s, v| {
        let parts = v.text()?.rsplit_once('=').filter(|(section, _)| !section.is_empty());
        let (section, align) = parts.ok_or(ValueError::Expected("SECTION=BYTES"))?;
        let align = number(align)?;
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(OptionError::Alignment { align, limit: MAX_ALIGN });
        }
        s.section_align(section, align);
        Ok(())
    }),
    refused(&["section-order"], Required("LIST"), "use a linker script (-T), whose SECTIONS say the same"),
    take(
        &["separate-debug-file"],
        Optional("FILE"),
        "Put debug sections and the symbol table into FILE (default: the output's name and .dbg), which debuggers find by \
         .gnu_debuglink.",
        |s, v| {
            s.o.output.debug_file = Some(v.value.unwrap_or_default().into());
            s.o.output.debug_file_given = v.value.is_some();
            Ok(())
        },
    ),
    flag(&["no-separate-debug-file"], "Do not (default).", |s| s.o.output.debug_file = None),
    flag(&["execute-only"], "AArch64: let nobody read code.", |s| s.o.layout.execute_only = true),
    flag(&["no-execute-only"], "Only code that says so cannot be read (default).", |s| {
        s.o.layout.execute_only = false;
    }),
    take(
        &["directory", "C"],
        Required("DIR"),
        "Start in DIR: paths are relative to it, that of the output, too.",
        |s, v| {
            s.o.directory = Some(v.os().into());
            Ok(())
        },
    ),
    take(
        &["incremental"],
        Optional("off|on|verify|force-full"),
        "Keep beside the output what a later link needs to do only what has changed since. verify: link fully as well, and compare; force-full: link fully. A link that cannot be sure is a full one, and the log says why. Sections have room to grow, a few percent of the output. Default: off; without a value: on.",
        |s, v| {
            let modes = [
                ("off", Incremental::Off),
                ("on", Incremental::On),
                ("verify", Incremental::Verify),
                ("force-full", Incremental::ForceFull),
            ];
            s.o.output.incremental = match v.value {
                Some(_) => choice(v, &modes)?,
                None => Incremental::On,
            };
            Ok(())
        },
    ),
    flag(&["no-incremental"], "--incremental=off (default).", |s| {
        s.o.output.incremental = Incremental::Off;
    }),
    take(
        &["incremental-dir"],
        Required("DIR"),
        "Where --incremental keeps it (default: .NAME.weld beside the output NAME; weld relink --forget DIR removes it). DIR must be on the output's file system.",
        |s, v| {
            s.o.output.incremental_dir = Some(v.os().into());
            Ok(())
        },
    ),
    flag(
        &["detach", "fork"],
        "A full link with --incremental ends when its output is there, and a process that goes on for a moment writes what the next one needs (default outside containers; on Linux, without --stats and --time-trace).",
        |s| s.o.output.detach = Some(true),
    ),
    flag(
        &["no-detach", "no-fork"],
        "It ends when all is written. Without --incremental it always does.",
        |s| s.o.output.detach = Some(false),
    ),
    take(
        &["spare-dynamic-tags"],
        Required("N"),
        "Leave room for N entries in .dynamic, which tools such as patchelf count on (default: 5, as with GNU ld; 0 as ld.lld).",
        |s, v| {
            s.o.dynamic.spare_tags = number_up_to(v.text()?, u16::MAX.into())? as u16;
            Ok(())
        },
    ),
    take(
        &["spare-program-headers"],
        Required("N"),
        "End the program headers with N empty ones (PT_NULL), for tools that add some (default: 0).",
        |s, v| {
            s.o.layout.spare_headers = number_up_to(v.text()?, MAX_SPARE)? as usize;
            Ok(())
        },
    ),
];

fn start(s: &mut State, section: &str, v: Given<'_>) -> Result<(), OptionError> {
    s.section_start(section, address(v.text()?)?);
    Ok(())
}

fn build_id(s: &mut State, v: Given<'_>) -> Result<(), OptionError> {
    let id = match v.value.map(|_| v.text()).transpose()? {
        None | Some("fast") => BuildId::Fast,
        Some("sha1" | "tree") => BuildId::Sha1,
        Some("none") => BuildId::None,
        Some("md5") => BuildId::Md5,
        Some("uuid") => BuildId::Uuid,
        Some(hex) if hex.starts_with("0x") || hex.starts_with("0X") => BuildId::Hex(hex_bytes(&hex[2..])?),
        Some(_) => {
            choice(v, &["none", "fast", "md5", "sha1", "tree", "uuid", "0xHEX"].map(|name| (name, ())))
                .map(|()| BuildId::None)?
        }
    };
    s.o.notes.build_id = id;
    Ok(())
}
