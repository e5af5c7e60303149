//! What the machines of the x86 family share.

use super::facts::Rule;
use super::facts::{ControlFlow, Properties};

/// Source: Linux Extensions to gABI; x86-64 psABI, "Program Property". The first two types were used before
/// the psABI was settled.
pub const PROPERTIES: Properties = Properties {
    rules: &[
        (0xc000_0000..=0xc000_0000, Rule::OrAnd),
        (0xc000_0001..=0xc000_0001, Rule::Or),
        (FEATURE_1_AND..=0xc000_7fff, Rule::And),
        (0xc000_8000..=0xc000_ffff, Rule::Or),
        (0xc001_0000..=0xc001_7fff, Rule::OrAnd),
    ],
    control_flow: Some(ControlFlow {
        property: FEATURE_1_AND,
        ibt: 1,
        shstk: 2,
        lam_u48: 4,
        lam_u57: 8,
        isa_needed: ISA_1_NEEDED,
        isa_used: ISA_1_USED,
    }),
    landing: None,
    labels: None,
    signing: None,
};

const FEATURE_1_AND: u32 = 0xc000_0002;
const ISA_1_NEEDED: u32 = 0xc000_8002;
const ISA_1_USED: u32 = 0xc001_0002;
