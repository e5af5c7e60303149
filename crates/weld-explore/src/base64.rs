//! Base64 (RFC 4648, section 4): binary data in an element of a page.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` to `out`.
pub fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    let (whole, rest) = bytes.as_chunks::<3>();
    for &[a, b, c] in whole {
        out.extend(digits(a, b, c));
    }
    match *rest {
        [a] => {
            let [first, second, ..] = digits(a, 0, 0);
            out.extend([first, second, b'=', b'=']);
        }
        [a, b] => {
            let [first, second, third, _] = digits(a, b, 0);
            out.extend([first, second, third, b'=']);
        }
        _ => {}
    }
}

fn digits(a: u8, b: u8, c: u8) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    [18, 12, 6, 0].map(|shift| DIGITS[(bits >> shift & 63) as usize])
}

/// The bytes that `text` stands for; `None` if it is no base64.
pub fn get(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = [64u8; 256];
    (0..).zip(DIGITS).for_each(|(number, digit)| value[*digit as usize] = number);
    let text = text.trim_ascii();
    let (groups, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(groups.len() * 3);
    for (number, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|digit| **digit == b'=').count();
        if padding > 2 || padding > 0 && number + 1 != groups.len() {
            return None;
        }
        let mut bits = 0u32;
        for digit in &group[..4 - padding] {
            let digit = value[*digit as usize];
            if digit == 64 {
                return None;
            }
            bits = bits << 6 | u32::from(digit);
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_specification() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in examples {
            let mut out = Vec::new();
            put(&mut out, bytes.as_bytes());
            assert_eq!(out, text.as_bytes());
            assert_eq!(get(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn what_is_no_base64() {
        for text in ["Z", "Zg=", "Z===", "Zg==Zg==", "Zm9<", "Z=9v"] {
            assert_eq!(get(text.as_bytes()), None, "{text}");
        }
    }
}
