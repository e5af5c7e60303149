//! The options of sharing, as rows of the tables of all command lines.

use super::{LinkSlots, Sharing};
use crate::args::Value::Required;
use crate::args::{Context, Spec, ValueError, take};

/// What a parser of command lines fills.
pub trait Holder: Context<Error: From<ValueError>> + 'static {
    fn sharing(&mut self) -> &mut Sharing;
}

pub const fn link_slots<S: Holder>() -> Spec<S> {
    take(
        &["link-slots"],
        Required("auto|off|N"),
        "How many large links of this user run at once on this machine; others wait, also for memory. Default: auto, or \
         the value of WELD_LINK_SLOTS.",
        |s: &mut S, v| {
            let slots = LinkSlots::parse(v.text()?);
            s.sharing().slots = Some(slots.ok_or(ValueError::Expected("auto, off or a number of links"))?);
            Ok(())
        },
    )
}

pub const fn memory<S: Holder>() -> Spec<S> {
    take(
        &["memory"],
        Required("SIZE"),
        "Use fewer threads and read less ahead to stay within SIZE bytes of memory (K, M or G behind the number: of 1024 \
         each), and end with an error if that does not do.",
        |s: &mut S, v| {
            let size = size(v.text()?);
            s.sharing().memory = Some(size.ok_or(ValueError::Expected("a size, such as 1500M or 2G"))?);
            Ok(())
        },
    )
}

/// Bytes that a number and a letter stand for.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(
            (size("1"), size("3k"), size("1500M"), size("2G")),
            (Some(1), Some(3072), Some(1500 << 20), Some(2 << 30))
        );
        assert_eq!(
            [size(""), size("0"), size("M"), size("1T"), size("1.5G"), size("99999999999G")],
            [None; 6]
        );
    }
}
