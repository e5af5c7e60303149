//! Whether a link may begin: the rules, without files and clocks.
//!
//! - What does not fit into the memory that is left waits. What is left is what the machine and the control
//!   groups have, less what links that run will still take.
//! - As many links run as there are processors.
//! - Of links that wait, the one that needs least goes first, so the largest is last; but nobody overtakes one
//!   that has waited for [`LONG`].
//! - If no other link runs, one always begins, whatever it needs. So nothing waits for ever, if those that are
//!   told of here run and look.

use std::time::Duration;

use crate::memory_limits::Scope;

/// Who has waited for so long is not overtaken any more.
pub const LONG: Duration = Duration::from_secs(20);

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Bytes of memory that it will take in all.
    pub need: u64,
    /// Bytes of it that it has taken, as far as is known.
    pub used: u64,
    /// When it came, in nanoseconds of a clock that all links have.
    pub since: u64,
    /// Tells links apart that came at the same time.
    pub number: u64,
    /// How many links it lets run at once, itself included.
    pub slots: usize,
    /// Of what it takes memory: [`Scope::id`].
    pub scopes: Vec<u64>,
}

/// Why a link has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For memory that links use which run.
    Memory,
    /// For a processor.
    Slot,
    /// Another one is next.
    Turn,
}

/// Decides about `own`, which is none of the others, at the time `now`.
///
/// # Errors
/// Why it has to wait.
pub fn may_begin(
    own: &Link,
    running: &[Link],
    waiting: &[Link],
    scopes: &[Scope],
    now: u64,
) -> Result<(), Wait> {
    if running.is_empty() {
        // Several may find that at the same time: they look one after the other, and the first one runs then.
        return match waiting.iter().any(|other| is_before(other, own, now)) {
            true => Err(Wait::Turn),
            false => Ok(()),
        };
    }
    if running.len() >= own.slots {
        return Err(Wait::Slot);
    }
    if !fits(own, running, scopes) {
        return Err(Wait::Memory);
    }
    let blocks = |other: &&Link| {
        let may_begin = || running.len() < other.slots && fits(other, running, scopes);
        is_before(other, own, now) && (is_starved(other, now) || may_begin())
    };
    if waiting.iter().any(|other| blocks(&other)) { Err(Wait::Turn) } else { Ok(()) }
}

/// Whether there is room for a link beside those that run.
fn fits(link: &Link, running: &[Link], scopes: &[Scope]) -> bool {
    scopes.iter().filter(|scope| link.scopes.contains(&scope.id)).all(|scope| {
        let beside = running.iter().filter(|other| other.scopes.contains(&scope.id));
        let coming =
            beside.fold(0u64, |sum, other| sum.saturating_add(other.need.saturating_sub(other.used)));
        coming.saturating_add(link.need) <= scope.available
    })
}

fn is_starved(link: &Link, now: u64) -> bool {
    now.saturating_sub(link.since) >= LONG.as_nanos() as u64
}

/// Whether `link` has to begin before `other`.
fn is_before(link: &Link, other: &Link, now: u64) -> bool {
    let rank = |link: &Link| match is_starved(link, now) {
        true => (0, link.since, link.number),
        false => (1, link.need, link.number),
    };
    rank(link) < rank(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: u64 = 1;
    const GROUP: u64 = 2;

    fn link(number: u64, need: u64) -> Link {
        Link { need, used: 0, since: 0, number, slots: 8, scopes: vec![MACHINE] }
    }

    fn machine(available: u64) -> Vec<Scope> {
        vec![Scope { id: MACHINE, available }]
    }

    #[test]
    fn what_does_not_fit_waits() {
        let (running, scopes) = ([link(1, 60)], machine(100));
        let ask = |own: &Link| may_begin(own, &running, &[], &scopes, 1);
        assert_eq!(ask(&link(2, 40)), Ok(()));
        assert_eq!(ask(&link(2, 41)), Err(Wait::Memory));
        // What the other one has taken already is not available any more.
        let begun = [Link { used: 50, ..link(1, 60) }];
        assert_eq!(may_begin(&link(2, 90), &begun, &[], &scopes, 1), Ok(()));
    }

    #[test]
    fn alone_it_begins_whatever_it_needs() {
        assert_eq!(may_begin(&link(1, u64::MAX), &[], &[], &machine(10), 1), Ok(()));
    }

    #[test]
    fn as_many_as_there_are_slots() {
        let running = [link(1, 1), link(2, 1)];
        let ask = |slots, waiting: &[Link]| {
            may_begin(&Link { slots, ..link(3, 1) }, &running, waiting, &machine(100), 1)
        };
        assert_eq!((ask(2, &[]), ask(3, &[])), (Err(Wait::Slot), Ok(())));
        // Who is next and does not want to be beside others keeps nobody waiting.
        let next = |slots| Link { slots, ..link(2, 1) };
        assert_eq!((ask(3, &[next(1)]), ask(3, &[next(3)])), (Ok(()), Err(Wait::Turn)));
    }

    #[test]
    fn the_largest_is_last_and_not_for_ever() {
        let (running, scopes) = ([link(1, 10)], machine(100));
        let (small, large) = (link(2, 20), link(3, 80));
        let ask = |own: &Link, other: &Link, now| {
            may_begin(own, &running, std::slice::from_ref(other), &scopes, now)
        };
        assert_eq!((ask(&small, &large, 1), ask(&large, &small, 1)), (Ok(()), Err(Wait::Turn)));
        let late = LONG.as_nanos() as u64;
        let small = Link { since: late, ..small };
        assert_eq!((ask(&small, &large, late), ask(&large, &small, late)), (Err(Wait::Turn), Ok(())));
        // Who does not fit keeps nobody waiting, until it has waited for long.
        let large = link(3, 95);
        assert_eq!((ask(&small, &large, late - 1), ask(&small, &large, late)), (Ok(()), Err(Wait::Turn)));
    }

    #[test]
    fn groups_count_for_those_in_them() {
        let scopes = vec![Scope { id: MACHINE, available: 1000 }, Scope { id: GROUP, available: 50 }];
        let inside = |number, need| Link { scopes: vec![MACHINE, GROUP], ..link(number, need) };
        let ask = |own: &Link, other: Link| may_begin(own, &[other], &[], &scopes, 1);
        assert_eq!(ask(&inside(2, 40), link(1, 900)), Ok(()));
        assert_eq!(ask(&inside(2, 40), inside(1, 20)), Err(Wait::Memory));
        assert_eq!(ask(&inside(2, 60), link(1, 10)), Err(Wait::Memory));
    }

    /// Links come, run and end at random; each one that waits begins at last, and memory is never promised
    /// twice.
    #[test]
    fn nobody_starves_and_nothing_is_promised_twice() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let second = 1_000_000_000;
        let (mut running, mut waiting): (Vec<(Link, u64)>, Vec<Link>) = (Vec::new(), Vec::new());
        let mut longest = 0;
        for tick in 0..6000u64 {
            let now = tick * second;
            running.retain(|(_, end)| *end > tick);
            if tick < 4000 && random(4) == 0 {
                waiting.push(Link { since: now, slots: 4, ..link(tick, 1 + random(100)) });
            }
            let mut at = 0;
            while at < waiting.len() {
                let own = waiting.remove(at);
                let now_running: Vec<Link> = running.iter().map(|(link, _)| link.clone()).collect();
                match may_begin(&own, &now_running, &waiting, &machine(100), now) {
                    Ok(()) => {
                        longest = longest.max(now - own.since);
                        running.push((own, tick + 1 + random(12)));
                    }
                    Err(_) => {
                        waiting.insert(at, own);
                        at += 1;
                    }
                }
            }
            let promised: u64 = running.iter().map(|(link, _)| link.need).sum();
            assert!(running.len() <= 4 && (promised <= 100 || running.len() == 1));
        }
        assert!(waiting.is_empty(), "{waiting:?}");
        assert!(longest > LONG.as_nanos() as u64, "the test has no long waits");
    }
}
