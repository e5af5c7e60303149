//! The program as its callers see it: names, options that print, messages and exit codes.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use weld_common::host::Host;

const WELD: &str = env!("CARGO_BIN_EXE_weld");

/// Exit code, standard output, standard error.
type Result = (i32, String, String);

fn run(program: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result {
    let output = Command::new(program).args(args).env("TERM", "xterm").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn weld(line: &str) -> Result {
    run(Path::new(WELD), line.split_whitespace())
}

/// A directory that goes away with its test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("weld-command-line-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn version_as_configure_scripts_want_it() {
    for line in ["--version", "-v", "--version a.o", "-flavor gnu --version"] {
        let (code, out, err) = weld(line);
        assert_eq!((code, err.as_str()), (0, ""), "{line}");
        assert!(out.starts_with("GNU ld (weld-") && out.lines().count() == 1, "{out}");
    }
}

/// The answer is that of the linker whose name weld is called by.
#[test]
fn version_by_name() {
    let dir = Dir::new("compat_mode");
    let answers = [
        ("ld", "GNU ld (weld-"),
        ("foo", "GNU ld (weld-"),
        ("ld.bfd", "GNU ld (weld-"),
        ("x86_64-linux-gnu-ld", "GNU ld (weld-"),
        ("ld.lld", "LLD 22."),
        ("ld.gold", "GNU gold (weld-"),
        ("ld.mold", "mold 2."),
    ];
    for (name, start) in answers {
        symlink(WELD, dir.0.join(name)).unwrap();
        let (code, out, err) = run(&dir.0.join(name), ["--version"]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        assert!(out.starts_with(start) && out.contains("weld-"), "{name}: {out}");
        let (_, again, _) = run(&dir.0.join(name), ["-v"]);
        assert_eq!(again, out, "{name}");
    }
}

#[test]
fn help_as_libtool_wants_it() {
    let (code, out, err) = weld("--help");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.lines().any(|line| line.contains(": supported targets:") && line.contains(" elf")));
    for option in ["--as-needed", "--version-script", "-z relro", "--shared", "--build-id", "--eh-frame-hdr"]
    {
        assert!(out.contains(option), "{option}");
    }
}

#[test]
fn unknown_options_are_errors() {
    let (code, out, err) = weld("a.o --gc-section");
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err, "weld: error: unknown option '--gc-section'; did you mean '--gc-sections'?\n");
    assert!(weld("").2.starts_with("weld: error: no input files\n"));
}

#[test]
fn colours_and_limits_count_even_if_parsing_fails() {
    let (_, _, err) = weld("--x1 --x2 --x3 --color-diagnostics --error-limit=1");
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    assert!(lines[0].contains("\x1b[") && lines[1].contains("2 more errors are not shown"));
    assert!(!weld("--x1").2.contains('\x1b'));
}

#[test]
fn response_files() {
    let dir = Dir::new("response");
    let inner = dir.file("inner", "'--no such option'");
    let outer = dir.file("outer", &format!("--error-limit=0 @{}", inner.display()));
    let (code, _, err) = weld(&format!("@{}", outer.display()));
    assert_eq!((code, err.as_str()), (1, "weld: error: unknown option '--no such option'\n"));
    let circle = dir.0.join("circle");
    dir.file("circle", &format!("@{}", circle.display()));
    let (code, _, err) = weld(&format!("@{}", circle.display()));
    let text = format!("weld: error: cannot read response file {}: it includes itself\n", circle.display());
    assert_eq!((code, err), (1, text));
}

#[test]
fn flavours_by_name_and_option() {
    let dir = Dir::new("flavours");
    for name in ["ld.lld", "lld-link"] {
        symlink(WELD, dir.0.join(name)).unwrap();
    }
    let (code, _, err) = run(&dir.0.join("ld.lld"), ["--bogus"]);
    assert_eq!((code, err.as_str()), (1, "ld.lld: error: unknown option '--bogus'\n"));
    let (code, _, err) = run(&dir.0.join("lld-link"), ["/out:x.exe"]);
    assert_eq!((code, err.as_str()), (1, "lld-link: error: no input files\n"));
    let (code, _, err) = weld("-flavor link /bogus");
    assert_eq!(
        (code, err.as_str()),
        (1, "weld: error: could not open '/bogus': No such file or directory\n")
    );
    assert_eq!(
        weld("-flavor wasm").2,
        "weld: error: -flavor: 'wasm' is not supported; it is gnu, link or mingw\n"
    );
    assert_eq!(weld("-m i386pep").2, "weld: error: no input files\n");
    assert_eq!(
        weld("-flavor mingw a.o -lb").2.lines().last(),
        Some("weld: error: unable to find library -lb")
    );
}

#[test]
fn alone_it_says_what_it_is() {
    let (code, _, err) = run(Path::new(WELD), [] as [&str; 0]);
    assert_eq!(code, 1);
    assert!(err.starts_with("weld: error: no input files\n") && err.contains("install-links DIR"), "{err}");
}

#[test]
fn links_are_installed_once_and_replace_nothing() {
    let dir = Dir::new("install");
    let links = dir.0.join("bin");
    let install = || weld(&format!("install-links {}", links.display()));
    for _ in 0..2 {
        let (code, out, err) = install();
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("ld.lld") && out.contains("gcc -B"));
    }
    assert!(run(&links.join("ld"), ["--version"]).1.contains("weld-"));
    std::fs::remove_file(links.join("ld")).unwrap();
    std::fs::write(links.join("ld"), "precious").unwrap();
    let (code, _, err) = install();
    assert!(code == 1 && err.contains("exists and is no link"), "{err}");
    assert_eq!(std::fs::read_to_string(links.join("ld")).unwrap(), "precious");
    assert_eq!(weld("install-links").2, "weld: error: usage: weld install-links DIR [--all | NAME...]\n");
}

#[test]
fn links_of_other_names_are_made_if_asked() {
    let dir = Dir::new("install-names");
    let made = |what: &str| {
        let mut names: Vec<String> = std::fs::read_dir(dir.0.join(what))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.join(" ")
    };
    let install = |what: &str, rest: &str| weld(&format!("install-links {}/{what} {rest}", dir.0.display()));
    assert_eq!(install("a", "ld.gold x86_64-linux-gnu-ld").0, 0);
    assert_eq!(made("a"), "ld.gold x86_64-linux-gnu-ld");
    assert_eq!(install("b", "--all").0, 0);
    assert_eq!(made("b"), "bfd gold ld ld.bfd ld.gold ld.lld ld.mold ld.weld lld lld-link mold weld-link");
    let all_first = weld(&format!("install-links --all {}/e", dir.0.display()));
    assert_eq!((all_first.0, made("e")), (0, made("b")));
    assert_eq!(weld(&format!("install-links --some {}/f", dir.0.display())).0, 1);
    let (code, _, err) = install("c", "cc");
    assert!(code == 1 && err.contains("'cc' is no name of a linker"), "{err}");
    assert!(!dir.0.join("c").exists());
    // A copy under a name of its own can do it as well. Not copied by this process: another test may start a
    // program meanwhile, which holds the copy open for writing until it runs, and then the copy cannot be
    // run.
    assert!(Command::new("cp").arg(WELD).arg(dir.0.join("foo")).status().unwrap().success());
    let (code, out, err) = run(&dir.0.join("foo"), ["install-links", dir.0.join("d").to_str().unwrap()]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}

#[test]
fn links_are_removed_and_nothing_else() {
    let dir = Dir::new("uninstall");
    let links = dir.0.join("bin");
    let shown = links.display();
    assert_eq!(weld(&format!("install-links {shown}")).0, 0);
    symlink("/bin/true", links.join("ld.gold")).unwrap();
    symlink(WELD, links.join("mine")).unwrap();
    std::fs::write(links.join("ld.bfd"), "").unwrap();
    let removed = weld(&format!("uninstall-links {shown}"));
    assert_eq!(
        removed,
        (0, format!("Removed ld, ld.lld, ld.weld, lld-link, weld-link from {shown}.\n"), String::new())
    );
    for name in ["ld.gold", "mine", "ld.bfd"] {
        std::fs::remove_file(links.join(name)).unwrap();
    }
    assert_eq!(std::fs::read_dir(&links).unwrap().count(), 0);
    let (code, out, _) = weld(&format!("uninstall-links {shown}"));
    assert!(code == 0 && out.starts_with("No links to ") && !links.exists(), "{out}");
    let (code, _, err) = weld(&format!("uninstall-links {shown}"));
    assert!(code == 1 && err.contains("cannot read "), "{err}");
    assert_eq!(weld("uninstall-links").2, "weld: error: usage: weld uninstall-links DIR\n");
}

#[test]
fn help_shows_pages() {
    let (code, out, _) = weld("help");
    assert!(code == 0 && out.contains("\n  options-mingw "), "{out}");
    let (code, out, _) = weld("help linker-scripts");
    assert!(code == 0 && out.starts_with("LINKER SCRIPTS\n") && !out.contains('\x1b'), "{out}");
    let (code, out, _) = weld("help options");
    assert!(code == 0 && out.contains("\n  --output, -o FILE\n      Write FILE"), "{out}");
    assert_eq!(
        weld("help scripts").2,
        "weld: error: there is no page 'scripts'; weld help lists the pages\n"
    );
    assert_eq!(weld("help a b").2, "weld: error: usage: weld help [TOPIC] | weld help --man DIR\n");
    let dir = Dir::new("help");
    let (code, names, _) = weld(&format!("help --man {}", dir.0.display()));
    assert!(code == 0 && names.starts_with("man1/weld.1\n") && names.contains("\nman7/weld-machines.7\n"));
    for name in names.lines() {
        let page = std::fs::read_to_string(dir.0.join(name)).unwrap();
        assert!(page.contains("\n.SH NAME\n"), "{name}");
    }
}

/// bash is asked what it offers.
#[test]
fn command_lines_are_completed() {
    let dir = Dir::new("completions");
    let script = dir.file("weld", &weld("completions bash").1);
    dir.file("a.o", "");
    let offered = |function: &str, line: &str| {
        let ask = format!(
            "cd {} && . {} && COMP_WORDS=({line}) && COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)) && {{ {function}; echo ${{COMPREPLY[@]}}; }}",
            dir.0.display(),
            script.display(),
        );
        let (code, out, err) = run(Path::new("bash"), ["-c", &ask]);
        assert_eq!((code, err.as_str()), (0, ""), "{line}");
        out.trim_end().to_owned()
    };
    assert_eq!(offered("_weld", "weld uni"), "uninstall-links");
    assert_eq!(offered("_weld", "weld help linker"), "linker-scripts");
    assert_eq!(offered("_weld", "ld.weld --gdb-i"), "--gdb-index");
    assert_eq!(offered("_weld", "ld.weld a.o -z nos"), "noseparate-code nostart-stop-gc nosectionheader");
    assert_eq!(offered("_weld", "ld.weld -o a"), "a.o");
    assert_eq!(offered("_weld_link", "weld-link /out"), "/out: /output-def:");
    assert_eq!(weld("completions").2, "weld: error: usage: weld completions bash|zsh|fish\n");
}

/// A directory with a file and a directory, and the script of a shell in a directory of its own.
fn with_completions(shell: &str, script: &str) -> Dir {
    let dir = Dir::new(&format!("completions-{shell}"));
    for name in ["home", "work", "work/sub"] {
        std::fs::create_dir(dir.0.join(name)).unwrap();
    }
    dir.file(script, &weld(&format!("completions {shell}")).1);
    dir.file("work/own.o", "");
    dir
}

/// What a shell that talks to a person, on a terminal that `script` makes, has written to the file `lines` at its end.
fn on_terminal(dir: &Dir, shell: &str, keys: &str) -> Vec<String> {
    let keys = std::fs::File::open(dir.file("keys", keys)).unwrap();
    let mut script = Command::new("script");
    script.args(["-qec", shell, "/dev/null"]).current_dir(dir.0.join("work")).env("HOME", dir.0.join("home"));
    let shown = script.env("ZDOTDIR", &dir.0).env("TERM", "dumb").stdin(keys).output().unwrap();
    let lines = std::fs::read_to_string(dir.0.join("lines"));
    let lines = lines.unwrap_or_else(|e| panic!("{shell}: {e}\n{}", String::from_utf8_lossy(&shown.stdout)));
    lines.lines().map(|line| line.trim_end_matches(' ').to_owned()).collect()
}

/// What bash makes of what has been typed when the tabulator key is pressed. A key of the test's keeps the line.
#[test]
fn bash_completes() {
    let dir = with_completions("bash", "weld");
    let rc = r#". ../weld
keep() { printf '%s\n' "$READLINE_LINE" >> ../lines; READLINE_LINE=; }
bind -x '"\C-t": keep'
bind 'set bell-style none'
"#;
    dir.file("rc", rc);
    let expected = [
        ("weld uni", "weld uninstall-links"),
        ("weld install-links ", "weld install-links sub/"),
        ("weld run --ch", "weld run --check"),
        ("ld.weld --gdb-i", "ld.weld --gdb-index"),
        // No backslash before these, nor a space after them.
        ("ld.weld --Ma", "ld.weld --Map="),
        ("ld.weld -z max-p", "ld.weld -z max-page-size="),
        ("ld.weld --Map=o", "ld.weld --Map=own.o"),
        ("ld.weld ow", "ld.weld own.o"),
        ("weld-link /output-d", "weld-link /output-def:"),
        ("weld-link -output-d", "weld-link -output-def:"),
        ("weld-link /out:o", "weld-link /out:own.o"),
    ];
    let keys: String = expected.iter().map(|(typed, _)| format!("{typed}\t\x14")).collect();
    let lines = on_terminal(&dir, "bash --noprofile --rcfile ../rc -i", &format!("{keys}exit\n"));
    assert_eq!(lines, expected.map(|(_, line)| line));
}

/// All that zsh offers, put into the line.
#[test]
fn zsh_completes() {
    let dir = with_completions("zsh", "_weld");
    let expected = [
        ("weld uni", "weld uninstall-links"),
        ("weld install-links ", "weld install-links sub/"),
        ("weld run --ch", "weld run --check"),
        ("weld run --check readel", "weld run --check readelf"),
        ("weld help linker", "weld help linker-scripts"),
        ("ld.weld --gc", "ld.weld --gc-keep-exported --gc-sections"),
        ("ld.weld -z nos", "ld.weld -z nosectionheader noseparate-code nostart-stop-gc"),
        ("ld.weld --Map=o", "ld.weld --Map=own.o"),
        ("ld.weld -o ", "ld.weld -o own.o sub/"),
        ("weld-link /out", "weld-link /out: /output-def:"),
        ("weld-link -out", "weld-link -out: -output-def:"),
        ("weld-link /out:o", "weld-link /out:own.o"),
        ("weld-link o", "weld-link own.o"),
    ];
    let typed: Vec<String> = expected.iter().map(|(typed, _)| format!("'{typed}'")).collect();
    let rc = r"
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -D -u
all() { _main_complete; compstate[insert]=all; compstate[list]=; }
zle -C all complete-word all
zle-line-init() {
  for BUFFER in TYPED; do
    CURSOR=$#BUFFER
    zle all
    print -r -- $BUFFER >> ../lines
  done
  exit
}
zle -N zle-line-init
";
    dir.file(".zshrc", &rc.replace("TYPED", &typed.join(" ")));
    assert_eq!(on_terminal(&dir, "zsh -d -i", ""), expected.map(|(_, line)| line));
}

/// fish says what it offers without a terminal.
#[test]
fn fish_completes() {
    let dir = with_completions("fish", "weld.fish");
    let expected: [(&str, &[&str]); 12] = [
        ("weld uni", &["uninstall-links"]),
        ("weld install-links ", &["sub/"]),
        ("weld run --ch", &["--check"]),
        ("weld run --check readel", &["readelf"]),
        ("weld help linker", &["linker-scripts"]),
        ("weld help --gc", &[]),
        ("ld.weld --gc", &["--gc-keep-exported", "--gc-sections"]),
        ("ld.weld -z nos", &["nosectionheader", "noseparate-code", "nostart-stop-gc"]),
        ("ld.weld -o ", &["own.o", "sub/"]),
        ("weld own.o --gdb-i", &["--gdb-index"]),
        ("weld-link /out", &["/out:", "/output-def:"]),
        ("weld-link -out", &["-out:", "-output-def:"]),
    ];
    let mut fish = Command::new("fish");
    fish.args(["--no-config", "-c", ". ../weld.fish; for line in $argv; complete -C $line; echo ===; end"]);
    fish.args(expected.map(|(typed, _)| typed))
        .current_dir(dir.0.join("work"))
        .env("HOME", dir.0.join("home"));
    let output = fish.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let offered = String::from_utf8(output.stdout).unwrap();
    for ((typed, words), offered) in expected.iter().zip(offered.split_terminator("===\n")) {
        // What it is for stands behind a tabulator.
        let offered: Vec<&str> = offered.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(offered, *words, "{typed}");
    }
}

/// A link that waits for an input for longer than a second, on a terminal that `script` makes.
#[test]
fn long_links_say_what_they_do() {
    let dir = Dir::new("progress");
    let source = dir.file("a.c", "int _start;");
    let object = dir.0.join("a.o");
    assert!(Command::new("gcc").arg("-c").arg(&source).arg("-o").arg(&object).status().unwrap().success());
    let shown = |name: &str, options: &str, ci: bool| {
        let late = dir.0.join(name);
        assert!(Command::new("mkfifo").arg(&late).status().unwrap().success());
        let line = format!("{WELD} {options} {name} -shared -o out");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(&dir.0).env("TERM", "xterm").env_remove("CI");
        if ci {
            script.env("CI", "true");
        }
        let script = script.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        // Opening it waits for weld, which waits for what is in it.
        let mut pipe = std::fs::OpenOptions::new().write(true).open(&late).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        std::io::Write::write_all(&mut pipe, &std::fs::read(&object).unwrap()).unwrap();
        drop(pipe);
        let output = script.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    std::thread::scope(|scope| {
        let plain = scope.spawn(|| shown("plain", "", false));
        let off = scope.spawn(|| shown("off", "--no-progress", false));
        let ci = scope.spawn(|| shown("ci", "", true));
        let plain = plain.join().unwrap();
        assert!(plain.contains("weld: open inputs, 1 s") && plain.ends_with("\r\x1b[K"), "{plain:?}");
        assert_eq!((off.join().unwrap(), ci.join().unwrap()), (String::new(), String::new()));
    });
}

/// Hears which steps a link tells, and what it prints.
#[derive(Default)]
struct Listener {
    steps: Mutex<Vec<&'static str>>,
    text: Mutex<Vec<u8>>,
}

impl Host for Listener {
    fn print(&self, text: &[u8]) -> std::io::Result<()> {
        self.text.lock().unwrap().extend(text);
        Ok(())
    }

    fn step(&self, name: &'static str) {
        self.steps.lock().unwrap().push(name);
    }
}

/// What the line on the terminal names as the step is the one that runs: all that `--stats` has.
#[test]
fn each_phase_is_told_when_it_begins() {
    let dir = Dir::new("phases");
    let source = dir.file("a.c", "int main(void) { return 0; } int _start;");
    let object = dir.0.join("a.o").display().to_string();
    assert!(
        Command::new("gcc").args(["-g", "-c"]).arg(&source).args(["-o", &object]).status().unwrap().success()
    );
    let host = Listener::default();
    let output = dir.0.join("out").display().to_string();
    let map = format!("-Map={output}.map");
    let page = format!("--explore={output}.html");
    let args =
        [&object, "-o", &output, "--stats", "--gdb-index", "--debug-names", &map, &page].map(OsString::from);
    weld_elf::link::link(&args, &host).unwrap();
    let text = String::from_utf8(host.text.into_inner().unwrap()).unwrap();
    let rows = text.lines().skip(1).take_while(|line| !line.starts_with("total"));
    let phases: Vec<&str> =
        rows.filter(|row| !row.starts_with(' ')).map(|row| row[..38].trim_end()).collect();
    let steps = host.steps.into_inner().unwrap();
    for phase in ["merge strings and constants", "layout", "map", "explore"] {
        assert!(phases.contains(&phase), "{phase}: {text}");
    }
    assert!(phases.iter().all(|phase| steps.contains(phase)), "{phases:?}\n{steps:?}");
}

#[test]
fn closed_outputs_are_no_crash() {
    // `true` does not read, so the pipe is closed when weld writes.
    let closed = |args: &str, fd: &str| {
        let script = format!("{WELD} {args} {fd}; exit $?");
        Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
    };
    assert_eq!(closed("--bogus", "2>&-").code(), Some(1));
    assert_eq!(closed("--bogus", "2>&1 | true").code(), Some(0));
    assert_eq!(closed("--help", "| true").code(), Some(0));
    let full = format!("{WELD} --help >/dev/full");
    let output = Command::new("sh").args(["-c", &full]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"));
}

#[cfg(target_os = "linux")]
#[test]
fn engines_are_told_of_and_nothing_is_built_unasked() {
    let (code, out, _) = weld("lto-engine --help");
    assert!(code == 0 && out.starts_with("usage: weld lto-engine [build"), "{out}");
    for wrong in ["lto-engine x", "lto-engine build x", "lto-engine build --output"] {
        let (code, _, err) = weld(wrong);
        assert!(code == 1 && err.contains("usage: weld lto-engine"), "{wrong}: {err}");
    }
    let (code, _, err) = weld("lto-engine build --llvm-config=/none");
    assert!(code == 1 && err.contains("/none: it cannot tell --version"), "{err}");
}

/// weld is the process that compilers run in when it is told so and nothing else. It ends with who started
/// it.
#[cfg(target_os = "linux")]
#[test]
fn an_engine_that_is_given_no_order_ends() {
    let output = Command::new(WELD).arg("-weld-lto-engine").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no order has come"));
    let (code, _, err) = weld("-weld-lto-engine a.o");
    assert!(code == 1 && err.contains("-weld-lto-engine"), "{err}");
}

/// Whatever a command links is linked by weld, by whichever driver, and what other machines' linkers do is
/// theirs.
#[test]
fn what_a_command_links_is_linked_by_weld() {
    let dir = Dir::new("run");
    dir.file("a.c", "int main(void) { return 0; }\n");
    std::fs::write(dir.0.join("a.rs"), "fn main() {}\n").unwrap();
    let linked = |line: &str| {
        let out = dir.0.join("out");
        let _ = std::fs::remove_file(&out);
        let output = Command::new(WELD)
            .arg("run")
            .args(line.split_whitespace())
            .current_dir(&dir.0)
            .env("XDG_CACHE_HOME", dir.0.join("cache"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(out).unwrap();
        bytes.windows(12).any(|part| part == b"Linker: weld")
    };
    for line in [
        "gcc a.c -o out",
        "gcc -fuse-ld=bfd a.c -o out",
        "clang-22 a.c -o out",
        "clang-22 -fuse-ld=lld a.c -o out",
        "clang-22 --ld-path=/usr/bin/ld.lld-22 a.c -o out",
        "aarch64-linux-gnu-gcc a.c -o out",
        "env A=b gcc a.c -o out",
        // Those that start programs with an environment of their own, and in a sandbox.
        "env -i PATH=/usr/bin:/bin gcc a.c -o out",
        "env -u LD_PRELOAD env LD_PRELOAD= gcc a.c -o out",
        "rustc a.rs -o out",
    ] {
        assert!(linked(line), "{line}");
    }
    // In a namespace that has other numbers for processes, where the system lets users make one.
    let space = "unshare --user --map-root-user --pid --fork --mount-proc";
    if Command::new("unshare").args(space.split_whitespace().skip(1)).arg("true").status().unwrap().success()
    {
        assert!(linked(&format!("{space} env -i PATH=/usr/bin:/bin gcc a.c -o out")));
    }
    // The way out.
    assert!(!linked("env -i PATH=/usr/bin:/bin WELD_RUN= gcc a.c -o out"));
    // Nothing but the library is left.
    let left: Vec<_> = std::fs::read_dir(dir.0.join("cache/weld")).unwrap().flatten().collect();
    assert!(left.len() == 1 && left[0].path().extension().is_some_and(|end| end == "so"), "{left:?}");
    // The GNU C library has dlsym in a library of its own before 2.34; without, no program would start there.
    let needed = Command::new("readelf").arg("-d").arg(left[0].path()).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&needed).contains("[libdl.so.2]"));
    let run_in = |line: &str| {
        let words = line.split_whitespace();
        let output = Command::new(WELD)
            .arg("run")
            .args(words)
            .current_dir(&dir.0)
            .env("XDG_CACHE_HOME", dir.0.join("cache"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, said, _) = run_in("--check env -i PATH=/usr/bin:/bin gcc a.c -o out");
    assert!(code == Some(0) && said.contains("1 file linked by weld:\n"), "{said}");
    let (code, said, _) = run_in("--check gcc a.c -o out");
    assert_eq!(code, Some(0));
    assert!(said.contains("1 file linked by weld:\n") && said.contains("/out\n"), "{said}");
    assert!(!said.contains("not linked by weld"), "{said}");
    // What was linked elsewhere, and only moved to where it stays, as Go and Bazel do.
    std::fs::write(dir.0.join("move.sh"), "gcc a.c -o $1.tmp && strip $1.tmp && mv $1.tmp moved\n").unwrap();
    let (_, said, _) = run_in("--check sh move.sh out");
    assert!(
        said.contains("1 file linked by weld, of which 0 left:\n") && said.contains("/moved (a copy)\n"),
        "{said}"
    );
    // For a machine that weld lacks, the linker that was meant links.
    std::fs::write(dir.0.join("sh4-ld"), "#!/bin/sh\necho \"linked: $*\"; touch other\n").unwrap();
    let (_, _, err) = run_in("chmod +x sh4-ld");
    assert_eq!(err, "");
    let (code, said, _) = run_in("--check env ./sh4-ld -m shlelf_linux -o other a.o");
    assert!(code == Some(0) && said.contains("linked: -m shlelf_linux -o other a.o"), "{said}");
    assert!(said.contains("other (by ./sh4-ld: weld has no -m shlelf_linux)"), "{said}");
    assert_eq!(run_in("false").0, Some(1));
    let (code, _, err) = run_in("no-such-program");
    assert!(code == Some(1) && err.contains("no-such-program: there is no such program"), "{err}");
    let (code, _, err) = run_in("--unknown");
    assert!(code == Some(1) && err.contains("usage: weld run"), "{err}");
}

/// Exit codes, tables and pages of `weld explore`; what pages hold is tested where they are made.
#[test]
fn binaries_are_explored_and_compared() {
    let dir = Dir::new("explore");
    let small = dir.file("small.c", "int main(void) { return 0; }\n");
    let large = dir.file("large.c", "char table[5000] = {1}; int main(void) { return table[7]; }\n");
    for (source, program) in [(&small, "small"), (&large, "large")] {
        let output = dir.0.join(program);
        let status = Command::new("gcc").args(["-g", "-O1"]).arg(source).arg("-o").arg(output).status();
        assert!(status.unwrap().success());
    }
    let explore = |line: &str| {
        let output =
            Command::new(WELD).arg("explore").args(line.split(' ')).current_dir(&dir.0).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(explore("small"), (0, "small.html\n".to_owned(), String::new()));
    assert!(std::fs::read_to_string(dir.0.join("small.html")).unwrap().contains("id=\"weld-meta\""));
    let (code, out, _) = explore("small large");
    assert!(code == 0 && out.contains("+5,000") && out.contains("  table\n"), "{out}");
    // A page is as good as the file; what has not grown needs no budget.
    let (code, out, _) = explore("small.html small --max-growth=0 --format=json");
    assert!(code == 0 && out.contains("\"growth\":0,") && out.contains("\"symbols\":[]"), "{out}");
    let (code, out, _) = explore("small.html large --max-growth=4K --format=markdown -o growth.html");
    assert!(
        code == 1 && out.contains("| `table` | 0 | 5,000 | +5,000 | new |") && out.contains("--max-growth"),
        "{out}"
    );
    assert!(dir.0.join("growth.html").exists());
    assert_eq!(explore("large small --max-growth=0").0, 0, "smaller is no growth");
    for (line, error) in [
        (
            "small.c",
            "weld: error: small.c: it is neither an ELF file, nor a PE image, nor a page that weld has written\n",
        ),
        ("missing", "weld: error: missing: No such file or directory\n"),
        (
            "--map=small.c small",
            "weld: error: small: the map says nothing of it: either another file was linked with it, or it is in none of the forms that weld reads (GNU ld, gold, ld.lld, mold, link.exe, lld-link)\n",
        ),
    ] {
        assert_eq!(explore(line), (2, String::new(), error.to_owned()));
    }
    for line in ["--max-growth=1 small", "--format=xml small large", "--wrong small", "a b c"] {
        let (code, _, error) = explore(line);
        assert!(code == 2 && error.contains("usage: weld explore "), "{line}: {error}");
    }
}
