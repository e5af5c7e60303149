//! Ranges that cover a file, each byte once.
//!
//! Tables of files overlap: symbols have aliases, headers of damaged files lie. Of ranges that share bytes, the
//! one that starts first has them, of those that start together the longest, of equal ones the first that was
//! given. What nobody claims is a gap.

/// Bytes that somebody claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<T> {
    pub offset: u64,
    pub size: u64,
    pub what: T,
}

/// The ranges that `0..total` is cut into, in order: how many bytes, and whose they are. Claims without bytes
/// have none; all others have what is left for them, which may be nothing.
pub fn cover<T: Copy>(total: u64, mut claims: Vec<Claim<T>>) -> Vec<(u64, Option<T>)> {
    claims.retain(|claim| claim.size > 0);
    claims.sort_by_key(|claim| (claim.offset, std::cmp::Reverse(claim.size)));
    let mut ranges = Vec::with_capacity(claims.len() + 1);
    let mut done = 0;
    for claim in claims {
        let start = claim.offset.max(done);
        let end = claim.offset.saturating_add(claim.size).min(total);
        if start >= end {
            continue;
        }
        if start > done {
            ranges.push((start - done, None));
        }
        ranges.push((end - start, Some(claim.what)));
        done = end;
    }
    if done < total {
        ranges.push((total - done, None));
    }
    ranges
}

/// Gives a size to claims without one, as of symbols in assembly, which say where something starts and not how
/// large it is: it goes on to the next claim, or to `end`. The list is sorted by offsets.
pub fn give_sizes<T>(claims: &mut [Claim<T>], end: u64) {
    let mut next = end;
    for i in (0..claims.len()).rev() {
        if claims[i].size == 0 {
            claims[i].size = next.saturating_sub(claims[i].offset);
        }
        if i > 0 && claims[i - 1].offset < claims[i].offset {
            next = claims[i].offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_without_sizes() {
        let claim = |offset, size| Claim { offset, size, what: () };
        let mut claims = [claim(0, 0), claim(0, 4), claim(4, 0), claim(9, 0)];
        give_sizes(&mut claims, 12);
        assert_eq!(claims.map(|claim| claim.size), [4, 4, 5, 3]);
    }

    fn check(total: u64, claims: &[(u64, u64, char)], want: &[(u64, Option<char>)]) {
        let claims = claims.iter().map(|&(offset, size, what)| Claim { offset, size, what }).collect();
        let ranges = cover(total, claims);
        assert_eq!(ranges, want);
        assert_eq!(ranges.iter().map(|range| range.0).sum::<u64>(), total);
    }

    #[test]
    fn gaps_and_overlaps() {
        check(0, &[(0, 5, 'a')], &[]);
        check(10, &[], &[(10, None)]);
        check(10, &[(4, 2, 'b'), (0, 2, 'a')], &[(2, Some('a')), (2, None), (2, Some('b')), (4, None)]);
        check(10, &[(0, 6, 'a'), (2, 2, 'b'), (4, 4, 'c')], &[(6, Some('a')), (2, Some('c')), (2, None)]);
        check(10, &[(0, 4, 'a'), (0, 9, 'b'), (0, 9, 'c')], &[(9, Some('b')), (1, None)]);
        check(4, &[(2, u64::MAX, 'a'), (u64::MAX, 1, 'b'), (1, 0, 'c')], &[(2, None), (2, Some('a'))]);
    }
}
