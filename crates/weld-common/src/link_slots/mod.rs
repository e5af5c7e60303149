//! Links of one user on one machine share its memory and processors by themselves: what does not fit waits.
//!
//! A large link says what it will need before it takes anything (inputs are mapped, which takes nothing), in a
//! directory that its user's links have ([`directory`]), and begins when it may ([`admission`]). There is no
//! program in the background, and no lock that outlives its process; a link that waits holds nothing that
//! another one waits for, and one that is stopped is waited for by nobody. Where there is no such directory, or
//! it cannot be used, links begin as if they were alone. Small links, whatever is there, do not even ask.

mod admission;
mod directory;
pub mod rows;

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::admission::{Link, Wait, may_begin};
use self::directory::{Directory, Found, Place};
use crate::host::Host;
use crate::memory_limits::{self, Scope};
use crate::text;

/// A link of less input takes too little to be worth a question: bytes.
const SMALL: u64 = 64 << 20;

/// How long a link that waits does not look, at first, and later if few wait. Each looks at all others, so the
/// more there are the longer that is, but never longer than the last of these.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LATER_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Nobody waits for a link that runs for longer: it may hang.
const PATIENCE: Duration = Duration::from_secs(600);

/// Nobody waits for a link that waits and has not looked for so long: it is stopped.
const ABSENCE: Duration = Duration::from_secs(5);

/// The slots of all links of a build.
const VARIABLE: &str = "WELD_LINK_SLOTS";

/// How many links may run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkSlots {
    /// As many as there are processors, and as fit into memory.
    #[default]
    Auto,
    /// This link waits for nobody, and nobody for it.
    Off,
    /// No more than so many, and as fit into memory.
    Most(usize),
}

/// How a link takes part in what its machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    pub slots: Option<LinkSlots>,
    /// Bytes of memory that the link may take.
    pub memory: Option<u64>,
}

impl Sharing {
    /// The slots that are asked for by option, or by `WELD_LINK_SLOTS`. A value there that is none counts as
    /// `auto`, since no command line can be blamed for it; [`Sharing::mistake`] tells of it.
    fn slots(&self, host: &dyn Host) -> LinkSlots {
        let variable = || LinkSlots::parse(host.variable(VARIABLE)?.to_str()?);
        self.slots.or_else(variable).unwrap_or_default()
    }

    /// What is wrong with `WELD_LINK_SLOTS`, if it counts.
    pub fn mistake(&self, host: &dyn Host) -> Option<String> {
        let value = host.variable(VARIABLE).filter(|value| self.slots.is_none() && !value.is_empty())?;
        let text = text::path(Path::new(&value));
        LinkSlots::parse(&text).is_none().then(|| {
            format!("the environment variable {VARIABLE} is '{text}', which is none of auto, off and a number; it counts as auto")
        })
    }
}

impl LinkSlots {
    /// `auto`, `off`, or a number above 0.
    pub fn parse(text: &str) -> Option<LinkSlots> {
        match text {
            "auto" => Some(LinkSlots::Auto),
            "off" => Some(LinkSlots::Off),
            _ if !text.bytes().all(|byte| byte.is_ascii_digit()) => None,
            _ => Some(match text.parse().ok()? {
                0 => LinkSlots::Off,
                count => LinkSlots::Most(count),
            }),
        }
    }
}

/// A link among others: from when it asks until this is dropped.
pub struct Turn {
    place: Option<Place>,
    /// Links that ran beside it when it began.
    pub others: usize,
    /// How long it has waited.
    pub waited: Duration,
    /// Bytes that were available when it began, if that was asked for.
    pub available: Option<u64>,
}

impl Turn {
    /// Of a link that has nobody to share with.
    pub fn alone() -> Turn {
        Turn { place: None, others: 0, waited: Duration::ZERO, available: None }
    }

    /// Whether others see this link.
    pub fn is_shared(&self) -> bool {
        self.place.is_some()
    }
}

/// Asks for the turn of a link that has `input_bytes` of input and will take `need` bytes of memory, and waits
/// for it. `before_waiting` is called if it has to wait, so that it can let go of what it has.
pub fn turn(
    sharing: &Sharing,
    (input_bytes, need): (u64, u64),
    host: &dyn Host,
    before_waiting: impl FnOnce(),
) -> Turn {
    let slots = match sharing.slots(host) {
        LinkSlots::Off => return Turn::alone(),
        _ if input_bytes < SMALL => return Turn::alone(),
        LinkSlots::Auto => std::thread::available_parallelism().map_or(1, |count| count.get()),
        LinkSlots::Most(count) => count,
    };
    let Some(directory) = host.link_directory() else { return Turn::alone() };
    let scopes = memory_limits::scopes();
    let link = Link {
        need,
        used: 0,
        since: now(),
        number: u64::from(std::process::id()),
        slots,
        scopes: scopes.iter().map(|scope| scope.id).collect(),
    };
    // Whatever goes wrong there is no reason not to link.
    Queue { host, link }.pass(&directory, scopes, before_waiting).unwrap_or_else(|_| Turn::alone())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// A link that wants to begin.
struct Queue<'q> {
    host: &'q dyn Host,
    link: Link,
}

impl Queue<'_> {
    /// `scopes` are as they are now.
    fn pass(
        &self,
        path: &Path,
        mut scopes: Vec<Scope>,
        before_waiting: impl FnOnce(),
    ) -> std::io::Result<Turn> {
        let directory = Directory::open(path)?;
        let mut before_waiting = Some(before_waiting);
        let mut place: Option<Place> = None;
        let start = Instant::now();
        let mut pause = FIRST_LOOK;
        loop {
            let guard = directory.look()?;
            if let Some(place) = &place {
                place.show()?;
            }
            let mut found = guard.links(place.as_ref())?;
            found.running.retain(|seen| seen.silent <= PATIENCE && !seen.is_stopped());
            found.waiting.retain(|seen| seen.silent <= ABSENCE);
            let (others, queue) = (found.running.len(), found.waiting.len());
            if self.decide(found, &scopes).is_ok() {
                let place = match place {
                    Some(mut place) => {
                        place.say(&self.link, true)?;
                        place
                    }
                    None => guard.enter(&self.link, true)?,
                };
                let available = scopes.iter().map(|scope| scope.available).min();
                return Ok(Turn { place: Some(place), others, waited: start.elapsed(), available });
            }
            if place.is_none() {
                place = Some(guard.enter(&self.link, false)?);
            }
            drop(guard);
            if let Some(before_waiting) = before_waiting.take() {
                before_waiting();
                self.host.step("wait for other links");
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LATER_LOOK * (1 + queue as u32 / 8)).min(LAST_LOOK);
            scopes = memory_limits::scopes();
        }
    }

    fn decide(&self, found: Found, scopes: &[Scope]) -> Result<(), Wait> {
        let space = directory::process_space();
        let running: Vec<Link> = found
            .running
            .into_iter()
            .map(|seen| {
                let used = (seen.space == space).then(|| memory_limits::used_by(&seen.process.to_string()));
                Link { used: used.flatten().unwrap_or(0), ..seen.link }
            })
            .collect();
        let waiting: Vec<Link> = found.waiting.into_iter().map(|seen| seen.link).collect();
        may_begin(&self.link, &running, &waiting, scopes, now())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::io::testdir::TestDir;

    struct Shared(PathBuf);

    impl Host for Shared {
        fn print(&self, _text: &[u8]) -> std::io::Result<()> {
            Ok(())
        }

        fn link_directory(&self) -> Option<PathBuf> {
            Some(self.0.clone())
        }
    }

    const LARGE: (u64, u64) = (SMALL, 1 << 20);

    #[test]
    fn values_of_the_option() {
        let of = LinkSlots::parse;
        assert_eq!(
            [of("auto"), of("off"), of("0"), of("00")],
            [LinkSlots::Auto, LinkSlots::Off, LinkSlots::Off, LinkSlots::Off].map(Some)
        );
        assert_eq!([of("+3"), of("3 "), of("99999999999999999999")], [None; 3]);
        assert_eq!((of("3"), of("-1"), of("many"), of("")), (Some(LinkSlots::Most(3)), None, None, None));
    }

    #[test]
    fn small_links_and_those_that_do_not_want_to_share_ask_nobody() {
        let dir = TestDir::new("turn-small");
        let host = Shared(dir.join("links"));
        let ask = |slots, size| turn(&Sharing { slots, memory: None }, size, &host, || ());
        assert!(!ask(None, (SMALL - 1, 1)).is_shared() && !ask(Some(LinkSlots::Off), LARGE).is_shared());
        assert!(!dir.join("links").exists());
        assert!(ask(None, LARGE).is_shared());
        // A directory that cannot be had is no error.
        let host = Shared(dir.join("no/such"));
        assert!(!turn(&Sharing::default(), LARGE, &host, || ()).is_shared());
    }

    /// One that waits and is stopped, and one that runs for too long.
    #[test]
    fn nobody_waits_for_the_silent() {
        let dir = TestDir::new("turn-silent");
        let host = Shared(dir.join("links"));
        let sharing = Sharing { slots: Some(LinkSlots::Most(2)), memory: None };
        let link = Link { need: 0, used: 0, since: 0, number: 0, slots: 2, scopes: Vec::new() };
        let directory = Directory::open(&dir.join("links")).unwrap();
        let guard = directory.look().unwrap();
        let places = [guard.enter(&link, false).unwrap(), guard.enter(&link, true).unwrap()];
        drop(guard);
        let long_ago = SystemTime::now() - 2 * PATIENCE;
        for entry in std::fs::read_dir(dir.join("links")).unwrap() {
            let file = std::fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        let turn = turn(&sharing, LARGE, &host, || panic!("it waits"));
        assert!(turn.is_shared() && turn.others == 0);
        drop(places);
    }

    #[test]
    fn one_after_the_other() {
        let dir = TestDir::new("turn-order");
        let host = Shared(dir.join("links"));
        let sharing = Sharing { slots: Some(LinkSlots::Most(1)), memory: None };
        let (running, most, let_go) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let turn = turn(&sharing, LARGE, &host, || _ = let_go.fetch_add(1, Ordering::Relaxed));
                    assert!(turn.is_shared() && turn.others == 0);
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((most.into_inner(), let_go.into_inner()), (1, 3));
        assert_eq!(std::fs::read_dir(dir.join("links")).unwrap().count(), 1, "the lock's file only");
    }
}
