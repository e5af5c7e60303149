//! What becomes of relocations, and of the code that they are for.

/// How a call that became one byte shorter is padded: with this byte in front, or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPadding {
    Prefix(u8),
    Suffix(u8),
}

/// What `R_ARM_TARGET1` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target1 {
    Address,
    Distance,
}

/// What `R_ARM_TARGET2` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target2 {
    Address,
    Distance,
    /// The distance of a slot of the GOT.
    Slot,
}

/// What becomes of relocations.
#[derive(Clone, Debug)]
pub struct RelocOptions {
    pub relax: bool,
    /// `--toc-optimize`, `--pcrel-optimize`: the same for loads from the TOC, and from slots by distance.
    pub toc_optimize: bool,
    pub pcrel_optimize: bool,
    /// `--mips-got-size`: how many bytes a GOT of MIPS may have, for code that reaches slots by 16 bits.
    pub mips_got_size: u64,
    /// `--target1-rel`, `--target2`: what relocation types stand for whose meaning is the platform's.
    pub target1: Target1,
    pub target2: Target2,
    /// `-z rewrite-endbr`: functions that are only called directly lose their marks.
    pub unmark: bool,
    /// `--branch-to-branch`: branches to jumps go where those go.
    pub skip_jumps: bool,
    /// `-z call-nop`: how calls that became shorter are padded.
    pub call_padding: Option<CallPadding>,
    /// `--relax-gp`: code may count from the register for data.
    pub relax_gp: bool,
    /// `-z text`: dynamic relocations of read-only sections are errors.
    pub text: bool,
    /// `-z rela`, `-z rel`: dynamic relocations have their addends beside them, or not.
    pub with_addends: Option<bool>,
    /// `-z combreloc`: dynamic relocations are sorted.
    pub combreloc: bool,
    /// `-z copyreloc`: variables of shared objects may be copied into an executable.
    pub copyreloc: bool,
    pub apply_dynamic_relocs: bool,
    pub pack_relr: bool,
    /// `-z pack-relative-relocs`: packed, and marked by a need for `GLIBC_ABI_DT_RELR` from the C
    /// library if that is a shared object of glibc. Its loader refuses RELR without the mark.
    pub relr_glibc_dep: bool,
    /// `--pack-dyn-relocs=android`, `android+relr`: the others are packed as Android does.
    pub pack_android: bool,
    /// `--use-android-relr-tags`: RELR by the names that it had before it was standardised.
    pub android_relr: bool,
    pub emit_relocs: bool,
}

impl Default for RelocOptions {
    fn default() -> Self {
        RelocOptions {
            relax: true,
            toc_optimize: true,
            pcrel_optimize: true,
            // So many are reached from 0x7ff0 bytes after its start.
            mips_got_size: 0xfff0,
            target1: Target1::Address,
            target2: Target2::Slot,
            unmark: false,
            skip_jumps: false,
            call_padding: None,
            relax_gp: false,
            text: true,
            with_addends: None,
            combreloc: true,
            copyreloc: true,
            apply_dynamic_relocs: false,
            pack_relr: false,
            relr_glibc_dep: false,
            pack_android: false,
            android_relr: false,
            emit_relocs: false,
        }
    }
}
