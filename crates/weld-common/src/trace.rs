//! Where a link's time goes: `--time-trace=FILE` and `--stats`.
//!
//! Two kinds of span. A *phase* is opened by the thread that runs the link, one after or inside the
//! other; besides its wall time it records the CPU time and page faults of the whole process. A *task*
//! is a long piece of work on any thread and has wall time only. Both end when their guard is dropped.
//!
//! Switched off, a span is one branch and nothing is allocated.
//!
//! The JSON is Chrome's trace event format ("Trace Event Format", complete events `X`), for
//! `chrome://tracing` and Perfetto.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Records spans from any thread.
pub struct Trace(Option<Box<Recorder>>);

struct Recorder {
    start: Instant,
    /// Phases that are open.
    depth: AtomicUsize,
    spans: Mutex<Vec<Record>>,
    notes: Mutex<Vec<(&'static str, String)>>,
}

struct Record {
    name: &'static str,
    detail: String,
    /// 0: outside the pool, else the pool thread's index plus 1.
    thread: usize,
    start: Duration,
    wall: Duration,
    phase: Option<Phase>,
}

/// The number of threads that are not the pool's. Pools are smaller.
const OTHER_THREAD: usize = 1000;

struct Phase {
    /// How many phases it is inside of.
    depth: usize,
    usage: Usage,
}

/// Ends when dropped.
#[must_use = "a span ends when its guard is dropped"]
pub struct Span<'a>(Option<Open<'a>>);

struct Open<'a> {
    recorder: &'a Recorder,
    name: &'static str,
    detail: String,
    start: Duration,
    phase: Option<Phase>,
}

impl Trace {
    pub fn new(enabled: bool) -> Trace {
        Trace(enabled.then(|| {
            Box::new(Recorder {
                start: Instant::now(),
                depth: AtomicUsize::new(0),
                spans: Mutex::default(),
                notes: Mutex::default(),
            })
        }))
    }

    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Opens a phase. Phases are opened and closed like brackets, by one thread at a time.
    pub fn span(&self, name: &'static str) -> Span<'_> {
        Span(self.0.as_deref().map(|recorder| {
            let depth = recorder.depth.fetch_add(1, Ordering::Relaxed);
            recorder.open(name, String::new(), Some(Phase { depth, usage: Usage::now() }))
        }))
    }

    /// Opens a task, on any thread. `detail` says on what, and is not asked if nothing is recorded.
    pub fn task(&self, name: &'static str, detail: impl FnOnce() -> String) -> Span<'_> {
        Span(self.0.as_deref().map(|recorder| recorder.open(name, detail(), None)))
    }

    /// Records a task that is over, of a thread that had no business with the trace while it ran.
    pub fn past_task(&self, name: &'static str, detail: &str, times: Range<Instant>) {
        if let Some(recorder) = &self.0 {
            let start = times.start.saturating_duration_since(recorder.start);
            let wall = times.end.saturating_duration_since(times.start);
            let record =
                Record { name, detail: detail.to_owned(), thread: OTHER_THREAD, start, wall, phase: None };
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

    /// The phases that have ended as a table, milliseconds and page faults, then the notes. Empty if
    /// nothing is recorded.
    pub fn stats(&self) -> String {
        let Some(recorder) = &self.0 else { return String::new() };
        recorder.sort();
        let mut table =
            format!("{:<32}{:>10}{:>10}{:>10}{:>10}\n", "phase", "wall ms", "user ms", "sys ms", "faults");
        let mut total = (Duration::ZERO, Usage::default());
        for span in recorder.spans.lock().unwrap().iter() {
            let Some(phase) = &span.phase else { continue };
            let name = format!("{:indent$}{}", "", span.name, indent = 2 * phase.depth);
            write_row(&mut table, &name, span.wall, &phase.usage);
            if phase.depth == 0 {
                total.0 += span.wall;
                total.1.user += phase.usage.user;
                total.1.system += phase.usage.system;
                total.1.faults += phase.usage.faults;
            }
        }
        write_row(&mut table, "total", total.0, &total.1);
        for (name, text) in recorder.notes.lock().unwrap().iter() {
            _ = writeln!(table, "{name}: {text}");
        }
        table
    }
}

impl Recorder {
    fn open(&self, name: &'static str, detail: String, phase: Option<Phase>) -> Open<'_> {
        Open { recorder: self, name, detail, start: self.start.elapsed(), phase }
    }

    /// Spans are recorded when they end; put them in the order in which they began.
    fn sort(&self) {
        let depth = |span: &Record| span.phase.as_ref().map_or(usize::MAX, |phase| phase.depth);
        self.spans.lock().unwrap().sort_by_key(|span| (span.start, depth(span)));
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        let Some(Open { recorder, name, detail, start, phase }) = self.0.take() else { return };
        let wall = recorder.start.elapsed().saturating_sub(start);
        let phase = phase.map(|Phase { depth, usage }| {
            recorder.depth.fetch_sub(1, Ordering::Relaxed);
            Phase { depth, usage: Usage::now().since(&usage) }
        });
        let thread = rayon::current_thread_index().map_or(0, |index| index + 1);
        recorder.spans.lock().unwrap().push(Record { name, detail, thread, start, wall, phase });
    }
}

impl Record {
    fn write_json(&self, json: &mut String) {
        let micros = |d: Duration| d.as_nanos() as f64 / 1000.0;
        json.push_str("{\"ph\":\"X\",\"pid\":1,\"name\":");
        write_json_string(json, self.name);
        let (start, wall) = (micros(self.start), micros(self.wall));
        _ = write!(json, ",\"tid\":{},\"ts\":{start:.3},\"dur\":{wall:.3}", self.thread);
        if let Some(Phase { usage, .. }) = &self.phase {
            let (user, system) = (micros(usage.user), micros(usage.system));
            _ = write!(
                json,
                ",\"args\":{{\"user us\":{user:.0},\"sys us\":{system:.0},\"faults\":{}}}",
                usage.faults
            );
        } else if !self.detail.is_empty() {
            json.push_str(",\"args\":{\"detail\":");
            write_json_string(json, &self.detail);
            json.push('}');
        }
        json.push('}');
    }
}

fn write_row(table: &mut String, name: &str, wall: Duration, usage: &Usage) {
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    let (wall, user, system) = (ms(wall), ms(usage.user), ms(usage.system));
    _ = writeln!(table, "{name:<32}{wall:>10.2}{user:>10.2}{system:>10.2}{:>10}", usage.faults);
}

fn write_json_string(json: &mut String, text: &str) {
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
        drop(trace.span("a"));
        drop(trace.task("b", || unreachable!()));
        trace.note("c", || unreachable!());
        assert!(!trace.is_enabled());
        assert_eq!(trace.stats(), "");
        assert_eq!(trace.to_json(), "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[]}\n");
    }

    #[test]
    fn phases_in_order_with_nesting() {
        let trace = Trace::new(true);
        {
            let _link = trace.span("link");
            drop(trace.span("read"));
            drop(trace.span("write"));
            drop(trace.task("section", || "x".into()));
        }
        drop(trace.span("close"));
        trace.note("symbols", || "12".into());
        let stats = trace.stats();
        let names: Vec<_> = stats.lines().map(|line| line.get(..32).unwrap_or(line).trim_end()).collect();
        assert_eq!(names, ["phase", "link", "  read", "  write", "close", "total", "symbols: 12"]);
    }

    #[test]
    fn json_has_all_spans_and_is_escaped() {
        let trace = Trace::new(true);
        let phase = trace.span("phase \"1\"");
        std::thread::scope(|s| _ = s.spawn(|| drop(trace.task("task", || "a\\b\n".into()))));
        drop(phase);
        let now = Instant::now();
        trace.past_task("other", "twice", now..now + Duration::from_micros(5));
        trace.note("engine", || "streaming".into());
        let json = trace.to_json();
        assert!(json.contains(r#""name":"phase \"1\"","tid":0,"ts":"#), "{json}");
        assert!(json.contains(r#""args":{"detail":"a\\b\u000a"}"#), "{json}");
        assert!(json.contains("\"user us\":"), "{json}");
        assert!(json.contains(r#""name":"other","tid":1000,"ts":"#), "{json}");
        assert!(json.contains(r#","dur":5.000,"args":{"detail":"twice"}"#), "{json}");
        assert!(json.contains("\"engine\":\"streaming\""), "{json}");
        assert!(json.find("phase").unwrap() < json.find("task").unwrap());
    }
}
