//! Where a link's time goes: `--time-trace=FILE` and `--stats`.
//!
//! Four kinds of span, which end when their guard is dropped (and tasks of foreign threads, told when over):
//! - a *phase* is opened by the thread that runs the link, one after or inside the other; besides its wall
//!   time it records the CPU time and page faults of the whole process;
//! - a *stretch* is work on one thread that is worth a name of its own;
//! - a *region* is a parallel loop, from the thread that starts it, and
//! - a *task* is what one thread does of a region without handing over.
//!
//! Phases are opened through [`Trace`], the others through functions ([`stretch`], [`region`]) that find the
//! link's recorder by the thread they run on: a loop deep inside a phase need not be handed anything. All
//! record the CPU time of their own thread, so that a trace taken with more threads than the machine has
//! tells how long each would take alone; `bench/critical-path` replays such a trace for any number of cores.
//!
//! Switched off, a span is one branch (and a region or a stretch a thread-local load before it), and nothing
//! is allocated.
//!
//! The JSON is Chrome's trace event format ("Trace Event Format", complete events `X`), for
//! `chrome://tracing` and Perfetto.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Records spans from any thread.
pub struct Trace(Option<Arc<Recorder>>);

struct Recorder {
    start: Instant,
    /// Phases that are open.
    depth: AtomicUsize,
    /// Regions so far.
    regions: AtomicUsize,
    spans: Mutex<Vec<Record>>,
    notes: Mutex<Vec<(&'static str, String)>>,
}

struct Record {
    name: &'static str,
    kind: Kind,
    /// 0: outside the pool, else the pool thread's index plus 1.
    thread: usize,
    start: Duration,
    wall: Duration,
    /// CPU time of the thread, when the span began and in it; zero if foreign.
    cpu: (Duration, Duration),
    /// On what, if foreign; empty otherwise.
    detail: String,
}

/// Characters in a line of the table, which terminals have, and of names in it.
const WIDTH: usize = 80;
const NAMES: usize = 38;

/// The number of threads that are not the pool's. Pools are smaller.
const OTHER_THREAD: usize = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Phase {
        /// How many phases it is inside of.
        depth: usize,
        usage: Usage,
    },
    Stretch,
    /// Its number.
    Region(usize),
    /// The region's number.
    Task(usize),
    /// By a thread that is not the link's.
    Foreign,
}

/// Ends when dropped, on the thread where it began.
#[must_use = "a span ends when its guard is dropped"]
pub struct Span(Option<Box<Open>>);

struct Open {
    recorder: Arc<Recorder>,
    name: &'static str,
    kind: Kind,
    start: Duration,
    cpu: Duration,
}

thread_local! {
    /// The recorder of the link that the thread works for, if it records.
    static CURRENT: RefCell<Option<Arc<Recorder>>> = const { RefCell::new(None) };
}

/// Ends what [`Trace::enter`] began when dropped.
#[must_use = "the thread works for the link until this is dropped"]
pub struct Entered {
    before: Option<Arc<Recorder>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// Opens a stretch.
pub fn stretch(name: &'static str) -> Span {
    Span(CURRENT.with_borrow(|current| current.as_ref().map(|r| r.open(name, Kind::Stretch))))
}

/// Opens a region: do it right before the loop, and let what is done for each item open a
/// [task](Region::task).
pub fn region(name: &'static str) -> Region {
    Region(CURRENT.with_borrow(|current| {
        let recorder = current.as_ref()?;
        let number = recorder.regions.fetch_add(1, Ordering::Relaxed);
        Some(Span(Some(recorder.open(name, Kind::Region(number)))))
    }))
}

/// A parallel loop, which ends when this is dropped.
#[must_use = "a region ends when its guard is dropped"]
pub struct Region(Option<Span>);

impl Region {
    /// Opens a task on any thread.
    #[inline]
    pub fn task(&self) -> Span {
        let Some(Span(Some(open))) = &self.0 else { return Span(None) };
        let Kind::Region(number) = open.kind else { return Span(None) };
        Span(Some(open.recorder.open(open.name, Kind::Task(number))))
    }
}

impl Trace {
    pub fn new(enabled: bool) -> Trace {
        Trace(enabled.then(|| {
            Arc::new(Recorder {
                start: Instant::now(),
                depth: AtomicUsize::new(0),
                regions: AtomicUsize::new(0),
                spans: Mutex::default(),
                notes: Mutex::default(),
            })
        }))
    }

    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Makes the calling thread work for this link until the answer is dropped.
    pub fn enter(&self) -> Entered {
        Entered { before: CURRENT.replace(self.0.clone()) }
    }

    /// What makes each thread that calls it work for this link, for good: for threads that the link starts.
    pub fn starter(&self) -> impl Fn() + Send + Sync + 'static {
        let recorder = self.0.clone();
        move || CURRENT.set(recorder.clone())
    }

    /// Opens a phase. Phases are opened and closed like brackets, by one thread at a time.
    pub fn span(&self, name: &'static str) -> Span {
        Span(self.0.as_ref().map(|recorder| {
            let depth = recorder.depth.fetch_add(1, Ordering::Relaxed);
            recorder.open(name, Kind::Phase { depth, usage: Usage::now() })
        }))
    }

    /// Records a task that is over, of a thread that had no business with the trace while it ran.
    pub fn past_task(&self, name: &'static str, detail: &str, times: Range<Instant>) {
        if let Some(recorder) = &self.0 {
            let start = times.start.saturating_duration_since(recorder.start);
            let wall = times.end.saturating_duration_since(times.start);
            let (kind, thread, cpu) = (Kind::Foreign, OTHER_THREAD, Default::default());
            let record = Record { name, kind, thread, start, wall, cpu, detail: detail.to_owned() };
            recorder.spans.lock().unwrap().push(record);
        }
    }

    /// Records a fact about the link, such as a count or which way something was decided and why.
    pub fn note(&self, name: &'static str, text: impl FnOnce() -> String) {
        if let Some(recorder) = &self.0 {
            recorder.notes.lock().unwrap().push((name, text()));
        }
    }

    /// The spans that have ended, and the notes, as Chrome trace JSON.
    pub fn to_json(&self) -> String {
        let mut json = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
        let Some(recorder) = &self.0 else { return json + "]}\n" };
        recorder.sort();
        for (i, span) in recorder.spans.lock().unwrap().iter().enumerate() {
            json.push_str(if i == 0 { "\n" } else { ",\n" });
            span.write_json(&mut json);
        }
        json.push_str("\n],\"otherData\":{");
        for (i, (name, text)) in recorder.notes.lock().unwrap().iter().enumerate() {
            json.push_str(if i == 0 { "\n" } else { ",\n" });
            write_json_string(&mut json, name);
            json.push(':');
            write_json_string(&mut json, text);
        }
        json + "\n}}\n"
    }

    /// The phases that have ended as a table, milliseconds and page faults, and under each one the loops and
    /// stretches in it, by name, with the CPU time that they took by themselves; then the notes.
    /// Empty if nothing is recorded.
    pub fn stats(&self) -> String {
        let Some(recorder) = &self.0 else { return String::new() };
        recorder.sort();
        let mut table = format!(
            "{:<NAMES$}{:>10}{:>9}{:>9}{:>8}{:>6}\n",
            "phase", "wall ms", "user ms", "sys ms", "faults", "tasks"
        );
        let mut total = (Duration::ZERO, Usage::default());
        let spans = recorder.spans.lock().unwrap();
        let parts = parts(&spans);
        for (number, span) in spans.iter().enumerate() {
            let Kind::Phase { depth, usage } = &span.kind else { continue };
            let name = format!("{:indent$}{}", "", span.name, indent = 2 * depth);
            write_row(&mut table, &name, span.wall, usage);
            for part in parts.iter().filter(|part| part.phase == number) {
                let name = format!("{:indent$}{}", "", part.name, indent = 2 * depth + 2);
                let (wall, cpu) = (milliseconds(part.wall), milliseconds(part.cpu));
                _ = writeln!(table, "{name:<NAMES$}{wall:>10.2}{cpu:>9.2}{:>23}", part.count);
            }
            if *depth == 0 {
                total.0 += span.wall;
                total.1.user += usage.user;
                total.1.system += usage.system;
                total.1.faults += usage.faults;
            }
        }
        write_row(&mut table, "total", total.0, &total.1);
        for (name, text) in recorder.notes.lock().unwrap().iter() {
            write_note(&mut table, name, text);
        }
        table
    }
}

impl Recorder {
    fn open(self: &Arc<Self>, name: &'static str, kind: Kind) -> Box<Open> {
        let recorder = self.clone();
        Box::new(Open { recorder, name, kind, start: self.start.elapsed(), cpu: thread_time() })
    }

    /// Spans are recorded when they end; put them in the order in which they began.
    fn sort(&self) {
        let rank = |span: &Record| match span.kind {
            Kind::Phase { depth, .. } => depth,
            _ => usize::MAX,
        };
        self.spans.lock().unwrap().sort_by_key(|span| (span.start, rank(span)));
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open { recorder, name, mut kind, start, cpu } = *open;
        let wall = recorder.start.elapsed().saturating_sub(start);
        let cpu = (cpu, thread_time().saturating_sub(cpu));
        if let Kind::Phase { usage, .. } = &mut kind {
            recorder.depth.fetch_sub(1, Ordering::Relaxed);
            *usage = Usage::now().since(usage);
        }
        let thread = rayon::current_thread_index().map_or(0, |index| index + 1);
        recorder.spans.lock().unwrap().push(Record {
            name,
            kind,
            thread,
            start,
            wall,
            cpu,
            detail: String::new(),
        });
    }
}

impl Record {
    /// `cpu` and `cpu from` are of the thread, in nanoseconds.
    fn write_json(&self, json: &mut String) {
        let micros = |d: Duration| d.as_nanos() as f64 / 1000.0;
        json.push_str("{\"ph\":\"X\",\"pid\":1,\"name\":");
        write_json_string(json, self.name);
        let (start, wall) = (micros(self.start), micros(self.wall));
        let category = match self.kind {
            Kind::Phase { .. } => "phase",
            Kind::Stretch => "stretch",
            Kind::Region(_) => "region",
            Kind::Task(_) => "task",
            Kind::Foreign => "foreign",
        };
        _ = write!(json, ",\"cat\":\"{category}\",\"tid\":{}", self.thread);
        _ = write!(json, ",\"ts\":{start:.3},\"dur\":{wall:.3}");
        let (from, cpu) = (self.cpu.0.as_nanos(), self.cpu.1.as_nanos());
        _ = write!(json, ",\"args\":{{\"cpu from\":{from},\"cpu\":{cpu}");
        match self.kind {
            Kind::Phase { usage, .. } => {
                let (user, system) = (micros(usage.user), micros(usage.system));
                _ = write!(json, ",\"user us\":{user:.0},\"sys us\":{system:.0},\"faults\":{}", usage.faults);
            }
            Kind::Stretch => {}
            Kind::Foreign => {
                json.push_str(",\"detail\":");
                write_json_string(json, &self.detail);
            }
            Kind::Region(number) | Kind::Task(number) => _ = write!(json, ",\"region\":{number}"),
        }
        json.push_str("}}");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn write_row(table: &mut String, name: &str, wall: Duration, usage: &Usage) {
    let (wall, user, system) = (milliseconds(wall), milliseconds(usage.user), milliseconds(usage.system));
    _ = writeln!(table, "{name:<NAMES$}{wall:>10.2}{user:>9.2}{system:>9.2}{:>8}", usage.faults);
}

/// A note, in as many lines as it takes.
fn write_note(table: &mut String, name: &str, text: &str) {
    let mut width = name.len() + 1;
    _ = write!(table, "{name}:");
    for word in text.split(' ') {
        let length = word.chars().count();
        if width + 1 + length > WIDTH {
            table.push_str("\n ");
            width = 1;
        }
        _ = write!(table, " {word}");
        width += 1 + length;
    }
    table.push('\n');
}

/// All regions, or all stretches, of one name in a phase.
#[derive(Clone)]
struct Part {
    /// The phase's place among the spans.
    phase: usize,
    name: &'static str,
    /// From begin to end; of stretches on several threads, all together.
    wall: Duration,
    /// Less what stretches inside took.
    cpu: Duration,
    /// Tasks, or stretches.
    count: usize,
}

/// The parts of each phase, in the order in which they began. `spans` are in that order too.
fn parts(spans: &[Record]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut place_of = HashMap::new();
    // Of each thread, what is open: when it ends, and its place in `parts`.
    let mut open: HashMap<usize, Vec<(Duration, usize)>> = HashMap::new();
    let mut phases: Vec<(Duration, usize)> = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        phases.retain(|phase| phase.0 > span.start);
        match span.kind {
            Kind::Phase { .. } => phases.push((span.start + span.wall, number)),
            Kind::Foreign => {}
            Kind::Stretch | Kind::Region(_) | Kind::Task(_) => {
                let Some(&(_, phase)) = phases.last() else { continue };
                let place = *place_of.entry((phase, span.name)).or_insert_with(|| {
                    let name = span.name;
                    parts.push(Part { phase, name, wall: Duration::ZERO, cpu: Duration::ZERO, count: 0 });
                    parts.len() - 1
                });
                let cpu = span.cpu.1;
                match span.kind {
                    Kind::Task(_) => {}
                    _ => parts[place].wall += span.wall,
                }
                // A region's own thread does tasks too: only those are counted.
                if let Kind::Region(_) = span.kind {
                    continue;
                }
                parts[place].cpu += cpu;
                parts[place].count += 1;
                let around = open.entry(span.thread).or_default();
                around.retain(|outer| outer.0 > span.start);
                if let Some(&(_, outer)) = around.last() {
                    parts[outer].cpu = parts[outer].cpu.saturating_sub(cpu);
                }
                around.push((span.start + span.wall, place));
            }
        }
    }
    parts
}

/// Writes a text as JSON has it (RFC 8259, section 7).
pub fn write_json_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => _ = write!(json, "\\u{:04x}", c as u32),
            c => json.push(c),
        }
    }
    json.push('"');
}

/// CPU time that the calling thread has used.
#[cfg(unix)]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the answer.
    match unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}

/// What the process has used, or used in a phase.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    user: Duration,
    system: Duration,
    /// Page faults that needed no input or output.
    faults: u64,
}

impl Usage {
    #[cfg(unix)]
    fn now() -> Usage {
        let mut raw = std::mem::MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: room for the answer.
        if unsafe { libc::getrusage(libc::RUSAGE_SELF, raw.as_mut_ptr()) } != 0 {
            return Usage::default();
        }
        // SAFETY: the call filled it.
        let raw = unsafe { raw.assume_init() };
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        Usage { user: time(raw.ru_utime), system: time(raw.ru_stime), faults: raw.ru_minflt as u64 }
    }

    #[cfg(not(unix))]
    fn now() -> Usage {
        Usage::default()
    }

    fn since(&self, before: &Usage) -> Usage {
        Usage {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            faults: self.faults.saturating_sub(before.faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_records_nothing() {
        let trace = Trace::new(false);
        let _entered = trace.enter();
        drop(trace.span("a"));
        drop(stretch("b"));
        drop(region("c").task());
        trace.note("d", || unreachable!());
        assert!(!trace.is_enabled());
        assert_eq!(trace.stats(), "");
        assert_eq!(trace.to_json(), "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[]}\n");
    }

    #[test]
    fn phases_in_order_with_nesting() {
        let trace = Trace::new(true);
        let _entered = trace.enter();
        {
            let _link = trace.span("link");
            drop(trace.span("read"));
            drop(trace.span("write"));
            drop(region("sections").task());
        }
        drop(trace.span("close"));
        trace.note("symbols", || "12".into());
        let stats = trace.stats();
        let names: Vec<_> = stats.lines().map(|line| line.get(..NAMES).unwrap_or(line).trim_end()).collect();
        assert_eq!(
            names,
            ["phase", "link", "  sections", "  read", "  write", "close", "total", "symbols: 12"]
        );
    }

    #[test]
    fn a_table_is_for_80_columns() {
        let trace = Trace::new(true);
        let entered = trace.enter();
        drop(trace.span("a name of as many characters as any is"));
        trace.note("words", || "word ".repeat(30));
        trace.note("one", || "x".repeat(100));
        let stats = trace.stats();
        let [header, row, total, first, second, .., one, _] = &stats.lines().collect::<Vec<_>>()[..] else {
            panic!("{stats}")
        };
        assert_eq!((header.len(), row.len(), total.len()), (WIDTH, WIDTH - 6, WIDTH - 6), "{stats}");
        assert!(first.starts_with("words: word word") && first.len() <= WIDTH, "{stats}");
        assert!(second.starts_with("  word word") && second.len() <= WIDTH, "{stats}");
        // What has no spaces stays whole.
        assert_eq!(*one, "one:");
        drop(entered);
    }

    #[test]
    fn json_has_all_spans_and_is_escaped() {
        let trace = Trace::new(true);
        let entered = trace.enter();
        let phase = trace.span("phase \"1\"");
        let first = region("a");
        let second = region("b");
        std::thread::scope(|s| _ = s.spawn(|| drop(second.task())));
        drop((second, first, stretch("c"), phase));
        let now = Instant::now();
        trace.past_task("other", "a\\b\n", now..now + Duration::from_micros(5));
        trace.note("engine", || "streaming".into());
        let json = trace.to_json();
        assert!(json.contains(r#""name":"phase \"1\"","cat":"phase","tid":0,"ts":"#), "{json}");
        let kinds = |kind: &str| json.matches(&format!(r#""cat":"{kind}""#)).count();
        assert_eq!((kinds("stretch"), kinds("region"), kinds("task")), (1, 2, 1), "{json}");
        assert_eq!(json.matches(r#""region":1"#).count(), 2, "{json}");
        assert!(json.contains("\"user us\":") && json.contains("\"cpu from\":"), "{json}");
        assert!(json.contains(r#""name":"other","cat":"foreign","tid":1000,"ts":"#), "{json}");
        assert!(json.contains(r#""detail":"a\\b\u000a"}"#), "{json}");
        assert!(json.contains(r#","dur":5.000,"#), "{json}");
        assert!(json.contains("\"engine\":\"streaming\""), "{json}");
        assert!(json.find("phase").unwrap() < json.find("task").unwrap());
        drop(entered);
        assert!(stretch("outside").0.is_none());
    }

    #[test]
    fn threads_work_for_the_link_that_started_them() {
        let trace = Trace::new(true);
        let start = trace.starter();
        std::thread::scope(|s| {
            s.spawn(|| {
                start();
                drop(stretch("inside"));
            });
            s.spawn(|| drop(stretch("outside")));
        });
        let json = trace.to_json();
        assert!(json.contains("inside") && !json.contains("outside"), "{json}");
    }

    #[test]
    fn parts_of_a_phase_by_name() {
        let ms = Duration::from_millis;
        let span = |name, kind, thread, start, wall| {
            let (cpu, detail) = ((ms(start), ms(wall)), String::new());
            Record { name, kind, thread, start: ms(start), wall: ms(wall), cpu, detail }
        };
        let phase = || Kind::Phase { depth: 0, usage: Usage::default() };
        let spans = [
            span("first", phase(), 0, 0, 10),
            span("serial", Kind::Stretch, 0, 1, 2),
            span("serial", Kind::Stretch, 0, 4, 1),
            span("second", phase(), 0, 10, 20),
            span("loop", Kind::Region(0), 0, 10, 9),
            span("loop", Kind::Task(0), 0, 10, 9),
            span("loop", Kind::Task(0), 1, 11, 8),
            span("inside", Kind::Stretch, 1, 12, 5),
            span("serial", Kind::Stretch, 1, 25, 1),
        ];
        let found: Vec<_> = parts(&spans).iter().map(|p| (p.phase, p.name, p.wall, p.cpu, p.count)).collect();
        assert_eq!(
            found,
            [
                (0, "serial", ms(3), ms(3), 2),
                (3, "loop", ms(9), ms(12), 2),
                (3, "inside", ms(5), ms(5), 1),
                (3, "serial", ms(1), ms(1), 1),
            ]
        );
    }
}
