//! x86-64: relocation types and constants.
//!
//! Specification: "System V Application Binary Interface, AMD64 Architecture Processor Supplement",
//! chapters 4.4 (relocation) and 5.2 (PLT), and "ELF Handling For Thread-Local Storage".

pub mod apply;
pub mod plt;
pub mod relax;
pub mod scan;

pub const R_NONE: u32 = 0;
pub const R_64: u32 = 1;
pub const R_PC32: u32 = 2;
pub const R_GOT32: u32 = 3;
pub const R_PLT32: u32 = 4;
pub const R_COPY: u32 = 5;
pub const R_GLOB_DAT: u32 = 6;
pub const R_JUMP_SLOT: u32 = 7;
pub const R_RELATIVE: u32 = 8;
pub const R_GOTPCREL: u32 = 9;
pub const R_32: u32 = 10;
pub const R_32S: u32 = 11;
pub const R_16: u32 = 12;
pub const R_PC16: u32 = 13;
pub const R_8: u32 = 14;
pub const R_PC8: u32 = 15;
pub const R_DTPMOD64: u32 = 16;
pub const R_DTPOFF64: u32 = 17;
pub const R_TPOFF64: u32 = 18;
pub const R_TLSGD: u32 = 19;
pub const R_TLSLD: u32 = 20;
pub const R_DTPOFF32: u32 = 21;
pub const R_GOTTPOFF: u32 = 22;
pub const R_TPOFF32: u32 = 23;
pub const R_PC64: u32 = 24;
pub const R_GOTOFF64: u32 = 25;
pub const R_GOTPC32: u32 = 26;
pub const R_GOT64: u32 = 27;
pub const R_GOTPCREL64: u32 = 28;
pub const R_GOTPC64: u32 = 29;
pub const R_GOTPLT64: u32 = 30;
pub const R_PLTOFF64: u32 = 31;
pub const R_SIZE32: u32 = 32;
pub const R_SIZE64: u32 = 33;
pub const R_GOTPC32_TLSDESC: u32 = 34;
pub const R_TLSDESC_CALL: u32 = 35;
pub const R_TLSDESC: u32 = 36;
pub const R_IRELATIVE: u32 = 37;
pub const R_GOTPCRELX: u32 = 41;
pub const R_REX_GOTPCRELX: u32 = 42;
pub const R_CODE_4_GOTPCRELX: u32 = 43;
pub const R_CODE_4_GOTTPOFF: u32 = 44;
pub const R_CODE_4_GOTPC32_TLSDESC: u32 = 45;
pub const R_CODE_5_GOTPCRELX: u32 = 46;
pub const R_CODE_5_GOTTPOFF: u32 = 47;
pub const R_CODE_5_GOTPC32_TLSDESC: u32 = 48;
pub const R_CODE_6_GOTPCRELX: u32 = 49;
pub const R_CODE_6_GOTTPOFF: u32 = 50;
pub const R_CODE_6_GOTPC32_TLSDESC: u32 = 51;

/// What a relocation asks of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    None,
    Abs64,
    /// 32 bits or fewer.
    Abs32,
    Pc,
    Plt,
    PltOff,
    GotPc,
    GotPcRelax,
    /// Offset of the GOT entry from the GOT's base.
    GotSlot,
    GotOff,
    GotBase,
    Size,
    TlsGd,
    TlsLd,
    DtpOff,
    GotTp,
    TpOff,
    TpOff64,
    TlsDesc,
    TlsDescCall,
    Unknown,
}

impl Class {
    /// Whether the addend is added to the symbol's own value, so that the symbol may be exchanged for
    /// another one with a different addend.
    pub fn counts_from_symbol(self) -> bool {
        !matches!(
            self,
            Class::GotPc
                | Class::GotPcRelax
                | Class::GotSlot
                | Class::Size
                | Class::TlsGd
                | Class::TlsLd
                | Class::GotTp
                | Class::TlsDesc
                | Class::TlsDescCall
        )
    }
}

/// Class and width in bytes of each type.
const TYPES: [(Class, u8, &str); 52] = {
    let mut t = [(Class::Unknown, 0, ""); 52];
    t[0] = (Class::None, 0, "R_X86_64_NONE");
    t[1] = (Class::Abs64, 8, "R_X86_64_64");
    t[2] = (Class::Pc, 4, "R_X86_64_PC32");
    t[3] = (Class::GotSlot, 4, "R_X86_64_GOT32");
    t[4] = (Class::Plt, 4, "R_X86_64_PLT32");
    t[9] = (Class::GotPc, 4, "R_X86_64_GOTPCREL");
    t[10] = (Class::Abs32, 4, "R_X86_64_32");
    t[11] = (Class::Abs32, 4, "R_X86_64_32S");
    t[12] = (Class::Abs32, 2, "R_X86_64_16");
    t[13] = (Class::Pc, 2, "R_X86_64_PC16");
    t[14] = (Class::Abs32, 1, "R_X86_64_8");
    t[15] = (Class::Pc, 1, "R_X86_64_PC8");
    t[17] = (Class::DtpOff, 8, "R_X86_64_DTPOFF64");
    t[18] = (Class::TpOff64, 8, "R_X86_64_TPOFF64");
    t[19] = (Class::TlsGd, 4, "R_X86_64_TLSGD");
    t[20] = (Class::TlsLd, 4, "R_X86_64_TLSLD");
    t[21] = (Class::DtpOff, 4, "R_X86_64_DTPOFF32");
    t[22] = (Class::GotTp, 4, "R_X86_64_GOTTPOFF");
    t[23] = (Class::TpOff, 4, "R_X86_64_TPOFF32");
    t[24] = (Class::Pc, 8, "R_X86_64_PC64");
    t[25] = (Class::GotOff, 8, "R_X86_64_GOTOFF64");
    t[26] = (Class::GotBase, 4, "R_X86_64_GOTPC32");
    t[27] = (Class::GotSlot, 8, "R_X86_64_GOT64");
    t[28] = (Class::GotPc, 8, "R_X86_64_GOTPCREL64");
    t[29] = (Class::GotBase, 8, "R_X86_64_GOTPC64");
    t[30] = (Class::GotSlot, 8, "R_X86_64_GOTPLT64");
    t[31] = (Class::PltOff, 8, "R_X86_64_PLTOFF64");
    t[32] = (Class::Size, 4, "R_X86_64_SIZE32");
    t[33] = (Class::Size, 8, "R_X86_64_SIZE64");
    t[34] = (Class::TlsDesc, 4, "R_X86_64_GOTPC32_TLSDESC");
    t[35] = (Class::TlsDescCall, 0, "R_X86_64_TLSDESC_CALL");
    t[41] = (Class::GotPcRelax, 4, "R_X86_64_GOTPCRELX");
    t[42] = (Class::GotPcRelax, 4, "R_X86_64_REX_GOTPCRELX");
    t[43] = (Class::GotPcRelax, 4, "R_X86_64_CODE_4_GOTPCRELX");
    t[44] = (Class::GotTp, 4, "R_X86_64_CODE_4_GOTTPOFF");
    t[45] = (Class::TlsDesc, 4, "R_X86_64_CODE_4_GOTPC32_TLSDESC");
    t[46] = (Class::GotPcRelax, 4, "R_X86_64_CODE_5_GOTPCRELX");
    t[47] = (Class::GotTp, 4, "R_X86_64_CODE_5_GOTTPOFF");
    t[48] = (Class::TlsDesc, 4, "R_X86_64_CODE_5_GOTPC32_TLSDESC");
    t[49] = (Class::GotPcRelax, 4, "R_X86_64_CODE_6_GOTPCRELX");
    t[50] = (Class::GotTp, 4, "R_X86_64_CODE_6_GOTTPOFF");
    t[51] = (Class::TlsDesc, 4, "R_X86_64_CODE_6_GOTPC32_TLSDESC");
    t
};

/// What relocation type `kind` asks.
#[inline(always)]
pub fn class(kind: u32) -> Class {
    match TYPES.get(kind as usize) {
        Some(t) => t.0,
        None => Class::Unknown,
    }
}

/// The number of bytes that relocation type `kind` writes.
#[inline(always)]
pub fn width(kind: u32) -> usize {
    TYPES.get(kind as usize).map_or(0, |t| t.1 as usize)
}

/// The name of relocation type `kind` for messages.
pub fn type_name(kind: u32) -> String {
    match TYPES.get(kind as usize) {
        Some(t) if !t.2.is_empty() => t.2.to_owned(),
        _ => format!("relocation type {kind}"),
    }
}
