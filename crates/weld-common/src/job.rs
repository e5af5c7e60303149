//! What every step of a link may use, whatever is linked: options, host, inputs, diagnostics, trace, and the
//! way to a finished output.
//!
//! A linker makes one job a link. It hands it to its steps, which find here what belongs to none of them. `O`
//! is the type of its options.

use std::path::Path;

use crate::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use crate::host::Host;
use crate::io;
use crate::io::input::InputStore;
use crate::io::output::reports::Reports;
use crate::io::output::{self, ClosedOutput, OutputFile, OutputOptions};
use crate::jobserver::{Jobserver, Tokens};
use crate::link_slots::{self, Sharing, Turn};
use crate::memory_limits;
use crate::par::{self, Pool};
use crate::reproduce::Recorder;
use crate::text;
use crate::trace::{Span, Trace};

/// From this many inputs on, they are opened by several threads.
const MANY_INPUTS: usize = 256;

/// What each thread takes for itself, in bytes.
const THREAD_MEMORY: u64 = 6 << 20;

/// How large a link is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Bytes of the files that it reads.
    pub input: u64,
    /// Bytes of the tables that it will make of them, about.
    pub tables: u64,
}

/// What a link holds that others wait for; given back when this is dropped, also after errors.
pub struct Shares<'j> {
    /// In front of the turn: who waits for that may want a token at once.
    _tokens: Option<Tokens<'j>>,
    _turn: Turn,
}

pub struct Job<'j, O> {
    pub options: &'j O,
    pub host: &'j dyn Host,
    pub sink: &'j DiagSink,
    pub store: &'j InputStore<'j>,
    pub trace: &'j Trace,
    /// `--reproduce`.
    pub record: Option<&'j Recorder>,
    /// The build that this link is part of.
    pub jobserver: Option<&'j Jobserver>,
    /// How the link takes part in what the machine has.
    pub sharing: Sharing,
    /// Texts for files that are written with the output.
    pub reports: &'j Reports,
}

/// The jobserver of the build that this link is part of.
pub fn connect(host: &dyn Host) -> Option<Jobserver> {
    host.makeflags().iter().find_map(|flags| Jobserver::connect(flags))
}

/// Drops a large value, or leaves that to the end of the process.
pub fn done_with<T>(host: &dyn Host, value: T) {
    if host.exits_soon() {
        std::mem::forget(value);
    }
}

/// Prints to standard output.
///
/// # Errors
/// If that cannot be written to.
pub fn print(host: &dyn Host, text: &str) -> Result<(), Diagnostics> {
    host.print(&text::bytes(text)).map_err(|e| {
        let text = format!("cannot write to standard output: {}", io::reason(&e));
        Diagnostic::error(Cause::CannotWriteFile, text).into()
    })
}

impl<'j, O> Job<'j, O> {
    /// The threads of this link for so many bytes of input, but no more than `most`, or as many as were asked
    /// for. All but one of them need a token if the build has a jobserver; they are given back when the second
    /// value is dropped, also after errors.
    fn threads(&self, requested: Option<usize>, input_bytes: u64, most: usize) -> (Pool, Option<Tokens<'j>>) {
        let useful = par::choose_threads(requested, input_bytes);
        let useful = if requested.is_none() { useful.min(most) } else { useful };
        let server = self.jobserver.filter(|_| useful > 1);
        let tokens = server.map(|server| server.take(useful - 1, self.host));
        let threads = tokens.as_ref().map_or(useful, |tokens| tokens.count() + 1);
        self.trace.note("threads", || match self.jobserver {
            Some(_) => format!("{threads} of {useful} useful (the build has a jobserver)"),
            None => threads.to_string(),
        });
        (Pool::new(threads, self.trace), tokens)
    }

    /// Has `open` open `count` inputs, by several threads if they are many. What it made, with the threads
    /// for the rest of the link, which are as many as its size is worth, or `requested`: from here on the link
    /// takes memory, so a large one first waits until it may ([`link_slots`]).
    ///
    /// # Errors
    /// Those of `open`.
    pub fn opened<I: Send, E: Send>(
        &self,
        requested: Option<usize>,
        count: usize,
        open: impl Fn(bool) -> Result<I, E> + Send + Sync,
        size: impl Fn(&I) -> Size,
    ) -> Result<(I, Pool, Shares<'j>), E> {
        let (inputs, mut threads) = match count <= MANY_INPUTS {
            true => (open(false)?, None),
            false => {
                let (pool, tokens) = self.threads(requested, u64::MAX, usize::MAX);
                let inputs = pool.install(|| open(pool.threads() > 1))?;
                (inputs, Some((pool, tokens)))
            }
        };
        let size = size(&inputs);
        let processors = par::choose_threads(requested, size.input);
        let need = size.tables + THREAD_MEMORY * processors as u64;
        let turn = link_slots::turn(&self.sharing, (size.input, need), self.host, || drop(threads.take()));
        if let Some(mistake) = turn.is_shared().then(|| self.sharing.mistake(self.host)).flatten() {
            self.sink.push(Diagnostic::warning(Cause::BadOption, mistake));
        }
        let most = self.most_threads(&turn, processors, size);
        self.note_memory(&turn, need);
        let (pool, tokens) = match threads {
            Some((pool, tokens)) if requested.is_some() || pool.threads() <= most => (pool, tokens),
            early => {
                drop(early);
                self.threads(requested, size.input, most)
            }
        };
        Ok((inputs, pool, Shares { _tokens: tokens, _turn: turn }))
    }

    /// No more threads than links beside this one leave processors, and memory is there for.
    fn most_threads(&self, turn: &Turn, processors: usize, size: Size) -> usize {
        let share = (processors / (turn.others + 1)).max(1);
        let Some(memory) = [self.sharing.memory, turn.available].into_iter().flatten().min() else {
            return share;
        };
        let fitting = memory.saturating_sub(size.tables) / THREAD_MEMORY;
        share.min(usize::try_from(fitting).unwrap_or(usize::MAX)).max(1)
    }

    fn note_memory(&self, turn: &Turn, need: u64) {
        self.trace.note("memory", || {
            let expected = format!("about {} MiB expected", need >> 20);
            let available = match turn.available.unwrap_or_else(memory_limits::available) {
                u64::MAX => String::new(),
                available => format!(", {} MiB available", available >> 20),
            };
            let waited = match turn.waited.as_millis() {
                0 => String::new(),
                waited => format!(", waited {waited} ms for other links"),
            };
            let others =
                if turn.others > 0 { format!(", {} links beside it", turn.others) } else { String::new() };
            format!("{expected}{available}{others}{waited}")
        });
    }

    /// That the link has kept to its limit so far.
    fn check_memory(&self) -> Result<(), Diagnostic> {
        let Some(limit) = self.sharing.memory else { return Ok(()) };
        if memory_limits::own_use() <= limit {
            return Ok(());
        }
        let text =
            format!("the link takes more memory than --memory allows ({} MiB)", limit.div_ceil(1 << 20));
        Err(Diagnostic::error(Cause::MemoryLimit, text))
    }

    /// Runs a step of the link, which the trace shows as `name`.
    #[inline(always)]
    pub fn step<T>(&self, name: &'static str, step: impl FnOnce() -> T) -> T {
        let _span = self.phase(name);
        step()
    }

    /// The same for a step that ends when what is returned is dropped.
    pub fn phase(&self, name: &'static str) -> Span {
        self.host.step(name);
        self.trace.span(name)
    }

    /// Prints to standard output.
    ///
    /// # Errors
    /// If that cannot be written to.
    pub fn print(&self, text: &str) -> Result<(), Diagnostics> {
        print(self.host, text)
    }

    /// Keeps a report for `path` until the output is complete; `-` is standard output, at once.
    ///
    /// # Errors
    /// If standard output cannot be written to.
    pub fn report(&self, path: &Path, text: &str) -> Result<(), Diagnostics> {
        if path == Path::new("-") {
            return self.print(text);
        }
        self.reports.add(path, text::bytes(text).into_owned());
        Ok(())
    }

    /// The same with a report that is UTF-8 as it is.
    ///
    /// # Errors
    /// If standard output cannot be written to.
    pub fn report_bytes(&self, path: &Path, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        if path == Path::new("-") {
            return self.print(&String::from_utf8_lossy(&bytes));
        }
        self.reports.add(path, bytes);
        Ok(())
    }

    /// `--stats` and `--time-trace`.
    ///
    /// # Errors
    /// If standard output cannot be written to.
    pub fn report_trace(&self, stats: bool, time_trace: Option<&Path>) -> Result<(), Diagnostics> {
        if self.trace.is_enabled() {
            let (text, times) = self.store.readahead().summary();
            if let Some(times) = times {
                self.trace.past_task("prefetch", &text, times);
            }
            self.trace.note("prefetch", || text);
        }
        if stats {
            self.print(&self.trace.stats())?;
        }
        if let Some(path) = time_trace {
            self.report(path, &self.trace.to_json())?;
        }
        Ok(())
    }

    /// The output file, `size` bytes long. `verbose`: says how it is written.
    ///
    /// # Errors
    /// If there is no room for it, or it cannot be created.
    pub fn create_output(
        &self,
        path: &Path,
        size: u64,
        options: &OutputOptions,
        verbose: bool,
    ) -> Result<OutputFile<'j>, Diagnostics> {
        self.check_memory()?;
        let file = OutputFile::create(path, size, options, self.host)
            .map_err(|e| Diagnostics::from(Diagnostic::from(e)))?;
        self.host.output_begins(size);
        self.trace.note("output bytes", || size.to_string());
        let (engine, why) = file.engine();
        self.trace.note("output engine", || format!("{engine:?} ({why})"));
        if verbose {
            self.print(&format!("output engine: {engine:?} ({why})\n"))?;
        }
        Ok(file)
    }

    /// The last step: all that the link has to say, the last of it by `reports`, is written and checked; then
    /// the output takes its place.
    ///
    /// # Errors
    /// If an input has changed since it was opened, or something cannot be written. The output is then as it
    /// was before.
    pub fn finish(
        &self,
        file: OutputFile,
        executable: bool,
        parallel: bool,
        reports: impl FnOnce() -> Result<(), Diagnostics>,
    ) -> Result<(), Diagnostics> {
        self.finish_all(file, Vec::new(), executable, parallel, reports)
    }

    /// The same for an output with others `beside` it, such as its debug information: they take their places
    /// right before it, when all of them are complete.
    ///
    /// # Errors
    /// As above.
    pub fn finish_all(
        &self,
        file: OutputFile,
        beside: Vec<OutputFile>,
        executable: bool,
        parallel: bool,
        reports: impl FnOnce() -> Result<(), Diagnostics>,
    ) -> Result<(), Diagnostics> {
        if let Some(record) = self.record {
            record.finish(self.store, self.host)?;
        }
        self.check_memory()?;
        // Inputs are not read any more.
        if let Some(path) = self.step("have inputs changed", || self.store.changed(parallel)) {
            return Err(changed_input(&path).into());
        }
        reports()?;
        let output = file.close(executable).map_err(Diagnostic::from)?;
        let beside: Result<Vec<ClosedOutput>, _> = beside.into_iter().map(|file| file.close(false)).collect();
        let beside = beside.map_err(Diagnostic::from)?;
        let reports = self.reports.write(self.host).map_err(Diagnostic::from)?;
        let all = reports.into_iter().chain(beside).chain([output]);
        output::commit_all(all.collect()).map_err(|e| Diagnostic::from(e).into())
    }

    /// Writes the reports of a link whose output is written in another way.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write_reports(&self) -> Result<(), Diagnostic> {
        let complete = self.reports.write(self.host).map_err(Diagnostic::from)?;
        output::commit_all(complete).map_err(Diagnostic::from)
    }

    /// What a link that failed has to say: why, and the reports that it has come to.
    pub fn failed(&self, mut diagnostics: Diagnostics) -> Diagnostics {
        let is_said = |text: &Diagnostic, list: &[Diagnostic]| list.iter().any(|d| d.message == text.message);
        // What is wrong with such an input may never have been in the file.
        if let Some(changed) = self.store.changed(false).map(|path| changed_input(&path))
            && !is_said(&changed, &diagnostics.list)
        {
            diagnostics.list.insert(0, changed);
        }
        let recorded = self.record.map_or(Ok(()), |record| record.finish(self.store, self.host));
        let mut more = recorded.err().map_or(Vec::new(), |diagnostics| diagnostics.list);
        more.extend(self.write_reports().err());
        more.retain(|text| !is_said(text, &diagnostics.list));
        diagnostics.list.append(&mut more);
        diagnostics
    }
}

/// An input that somebody wrote to while it was being linked.
fn changed_input(path: &Path) -> Diagnostic {
    Diagnostic::error(
        Cause::InputChanged,
        format!("input file {} changed while it was being linked", text::path(path)),
    )
}
