//! Binary data as text in an element of a page: seven bits a character, highest first, and zeroes after the last ones.
//!
//! A character is the one whose number the bits are. Three that HTML reads otherwise in an element (NUL, carriage
//! return, `<`) are those 128 further, which take two bytes of UTF-8: so data take 1.17 of their size, where base64
//! takes 1.33.

/// What cannot stand in an element.
const fn is_special(septet: u8) -> bool {
    matches!(septet, 0 | b'\r' | b'<')
}

/// The first byte in UTF-8 of the characters from 128 to 191, whose numbers the second byte is.
const LEAD: u8 = 0xc2;

/// Appends `bytes` to `out`.
pub fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + bytes.len() / 5);
    let (groups, rest) = bytes.as_chunks::<7>();
    for group in groups {
        let mut all = [0; 8];
        all[1..].copy_from_slice(group);
        let septets = spread(u64::from_be_bytes(all));
        if any_special(septets) {
            put_all(out, septets.to_be_bytes());
        } else {
            out.extend_from_slice(&septets.to_be_bytes());
        }
    }
    if !rest.is_empty() {
        let mut all = [0; 8];
        all[1..=rest.len()].copy_from_slice(rest);
        let septets = spread(u64::from_be_bytes(all)).to_be_bytes();
        for septet in &septets[..(rest.len() * 8).div_ceil(7)] {
            if is_special(*septet) {
                out.extend([LEAD, septet | 0x80]);
            } else {
                out.push(*septet);
            }
        }
    }
}

/// Appends septets of which some are special. Each is written in both forms, and the one that it does not have is
/// overwritten: no processor guesses which they are.
fn put_all(out: &mut Vec<u8>, septets: [u8; 8]) {
    let (mut text, mut at) = ([0; 17], 0);
    for septet in septets {
        let special = is_special(septet);
        text[at] = if special { LEAD } else { septet };
        text[at + 1] = septet | 0x80;
        at += 1 + usize::from(special);
    }
    out.extend_from_slice(&text[..at]);
}

/// Whether one of eight septets is special.
fn any_special(septets: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The highest bit of each byte that is none of them, which is that of a sum without a carry.
    let differ = |byte: u8| (septets ^ (ONES * u64::from(byte))) + ONES * 0x7f;
    differ(0) & differ(b'\r') & differ(b'<') & (ONES * 0x80) != ONES * 0x80
}

/// The lowest 56 bits of a number, seven in each byte.
fn spread(bits: u64) -> u64 {
    let halves = bits & 0xfff_ffff | (bits & 0xff_ffff_f000_0000) << 4;
    let quarters = halves & 0x3fff_0000_3fff | (halves & 0xfff_c000_0fff_c000) << 2;
    quarters & 0x7f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

/// The bytes that `text` stands for; `None` if none could be written so.
pub fn get(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 8 * 7);
    let mut text = text.iter().copied();
    let (mut bits, mut have) = (0u32, 0);
    while let Some(byte) = text.next() {
        let septet = match byte {
            LEAD => text.next().filter(|next| *next & 0x80 != 0 && is_special(next & 0x7f))? & 0x7f,
            _ if byte < 0x80 && !is_special(byte) => byte,
            _ => return None,
        };
        bits = bits << 7 & 0x7fff | u32::from(septet);
        have += 7;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    (have < 7 && bits & ((1 << have) - 1) == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str) {
        let mut out = Vec::new();
        put(&mut out, bytes);
        assert_eq!(out, text.as_bytes());
        assert_eq!(get(text.as_bytes()).as_deref(), Some(bytes));
    }

    #[test]
    fn examples() {
        check(b"", "");
        check(&[0], "\u{80}\u{80}");
        check(&[0xff], "\x7f@");
        check(&[0xff; 7], &"\x7f".repeat(8));
        check(&[0x1a, 0xf0], "\u{8d}\u{bc}\u{80}");
    }

    #[test]
    fn there_and_back() {
        let bytes: Vec<u8> = (0..4000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for length in (0..40).chain([bytes.len()]) {
            let mut out = Vec::new();
            put(&mut out, &bytes[..length]);
            assert_eq!(get(&out).as_deref(), Some(&bytes[..length]));
            assert!(std::str::from_utf8(&out).is_ok_and(|text| !text.contains(['\0', '\r', '<'])));
        }
    }

    #[test]
    fn what_nobody_has_written() {
        for text in ["a", "aa<", "\0\0", "\x7f\x7f", "\u{81}a", "äa", "\u{2028}a"] {
            assert_eq!(get(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(get(&[b'a', LEAD]), None);
    }
}
