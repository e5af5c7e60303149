//! Where output sections go that a script does not name.
//!
//! One in memory goes behind the last section that the default layout would have before it or beside it; one that is not, to the end.
//! Assignments behind that section stay with it, but for those to `.`, which are meant for what follows.

use super::*;

/// The place in `steps` for an orphan of this rank. `ranks` are those of blocks that lie in memory; of others `None`.
pub(super) fn place(steps: &[Step], ranks: &[Option<u32>], rank: u32) -> usize {
    let of = |block: usize| ranks.get(block).copied().flatten();
    let ends = || {
        steps.iter().enumerate().filter_map(|(at, step)| match step {
            Step::End(block) => Some((at, of(*block)?)),
            _ => None,
        })
    };
    // The nearest before it, and of several the last.
    let nearest = ends().map(|(_, other)| other).filter(|other| *other <= rank).max();
    let mut at = match nearest {
        Some(nearest) => ends().rfind(|(_, other)| *other == nearest).map_or(0, |(at, _)| at + 1),
        None => return before_first(steps, ranks),
    };
    while let Some(step) = steps.get(at) {
        match step {
            Step::Assign { name, .. } if name != "." => at += 1,
            Step::EndOverlay | Step::Assert { .. } => at += 1,
            _ => break,
        }
    }
    // Not in the middle of an overlay.
    let open = steps[..at].iter().filter(|step| matches!(step, Step::BeginOverlay { .. })).count();
    let closed = steps[..at].iter().filter(|step| matches!(step, Step::EndOverlay)).count();
    if open > closed {
        at += steps[at..].iter().position(|step| matches!(step, Step::EndOverlay)).map_or(0, |end| end + 1);
    }
    at
}

/// In front of the first section in memory, but behind the address that a script begins with.
fn before_first(steps: &[Step], ranks: &[Option<u32>]) -> usize {
    let first = steps.iter().position(
        |step| matches!(step, Step::Begin(block) if ranks.get(*block).is_some_and(|rank| rank.is_some())),
    );
    let Some(first) = first else {
        // Nothing is in memory so far.
        return steps.iter().position(|step| matches!(step, Step::Begin(_))).unwrap_or(steps.len());
    };
    match steps[..first].iter().rposition(|step| matches!(step, Step::BeginOverlay { .. })) {
        Some(overlay) if !steps[overlay..first].iter().any(|step| matches!(step, Step::EndOverlay)) => {
            overlay
        }
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(name: &str) -> Step {
        let place = Place { path: "t".into(), line: 1, column: 1 };
        let value = Expr { code: Vec::new(), place: place.clone() };
        Step::Assign { name: name.into(), target: None, value, place }
    }

    #[test]
    fn orphans_lie_behind_their_like() {
        let block = |number: usize| [Step::Begin(number), Step::End(number)];
        let mut steps = vec![assign(".")];
        steps.extend(block(0));
        steps.push(assign("end"));
        steps.push(assign("."));
        steps.extend(block(1));
        let ranks = [Some(7), Some(20)];
        // Behind the first with what is assigned behind it, but not what is meant for the next.
        assert_eq!(place(&steps, &ranks, 7), 4);
        assert_eq!(place(&steps, &ranks, 10), 4);
        assert_eq!(place(&steps, &ranks, 30), 7);
        // In front of all, behind the address that the script begins with.
        assert_eq!(place(&steps, &ranks, 1), 1);
        assert_eq!(place(&[], &[], 1), 0);
    }

    #[test]
    fn orphans_lie_in_no_overlay() {
        let start = || Step::BeginOverlay { address: None, load_address: None };
        let steps = [start(), Step::Begin(0), Step::End(0), Step::Begin(1), Step::End(1), Step::EndOverlay];
        assert_eq!(place(&steps, &[Some(5), Some(9)], 5), 6);
        assert_eq!(place(&steps, &[Some(5), Some(9)], 1), 0);
    }
}
