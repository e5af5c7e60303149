//! `weld completions bash|zsh|fish`: what lets a shell complete weld's command lines, from the tables of
//! options.
//!
//! MinGW's linker is called `ld` as any other, so its options are not offered.

use std::ffi::OsString;
use std::fmt::{self, Write};

use weld_common::args::Value;
use weld_common::args::help::Name;
use weld_common::diag::Cause;

use crate::flavour::COMMANDS;
use crate::pages::topics::TOPICS;

/// Names of programs that are weld and nothing else, by the options they have.
const ELF_PROGRAMS: &str = "weld ld.weld";
const COFF_PROGRAMS: &str = "weld-link lld-link";

/// Values that are files or directories.
const FILES: [&str; 3] = ["FILE", "PATH", "DIR"];

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// No shell, or another one.
#[derive(Debug)]
pub struct UsageError;

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "usage: weld completions {}", SHELLS.join("|"))
    }
}

impl std::error::Error for UsageError {}

/// The script for a shell.
pub fn run(args: &[OsString]) -> Result<String, UsageError> {
    let [shell] = args else { return Err(UsageError) };
    match shell.to_str() {
        Some("bash") => Ok(bash()),
        Some("zsh") => Ok(zsh()),
        Some("fish") => Ok(fish()),
        _ => Err(UsageError),
    }
}

/// Names of options and keywords of `-z`, apart.
fn elf_names() -> (Vec<Name>, Vec<Name>) {
    let (keywords, options): (Vec<Name>, Vec<Name>) =
        weld_elf::args::option_names().into_iter().partition(|name| name.spelling.starts_with("-z "));
    (options, keywords)
}

fn keyword(name: &Name) -> &str {
    name.spelling.trim_start_matches("-z ")
}

/// Whether the value stands behind the name in the same word: then there is no space after it.
fn is_joined(name: &Name) -> bool {
    name.spelling.starts_with("--") && matches!(name.value, Value::Required(_))
}

fn takes_file(name: &Name) -> bool {
    matches!(name.value, Value::Required(value) | Value::Separate(value) if FILES.contains(&value))
}

fn topics() -> String {
    TOPICS.iter().map(|topic| topic.name).collect::<Vec<_>>().join(" ")
}

fn codes() -> String {
    Cause::ALL.iter().map(|cause| cause.code()).collect::<Vec<_>>().join(" ")
}

fn commands() -> String {
    COMMANDS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" ")
}

/// Words as bash has them: `--name=` where a value follows.
fn bash_words(names: &[Name], equals: &str) -> String {
    let word = |name: &Name| {
        let needs_value =
            if equals == "=" { is_joined(name) } else { matches!(name.value, Value::Required(_)) };
        format!("{}{}", name.spelling, if needs_value { equals } else { "" })
    };
    names.iter().map(word).collect::<Vec<_>>().join("\n")
}

fn bash() -> String {
    let (options, keywords) = elf_names();
    let of_files: Vec<&str> =
        options.iter().filter(|name| takes_file(name)).map(|name| name.spelling.as_str()).collect();
    let keywords: Vec<String> = keywords
        .iter()
        .map(|name| format!("{}{}", keyword(name), if name.value == Value::None { "" } else { "=" }))
        .collect();
    format!(
        r#"# Completion of weld's command lines for bash.

_weld_options='{options}'
_weld_keywords='{keywords}'
_weld_link_options='{link_options}'

_weld_words() {{
    local IFS=$'\n'
    COMPREPLY=($(compgen -W "$1" -- "$2"))
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
}}

# Of files alone, because bash puts a backslash before the = of what it takes for a file.
_weld_files() {{
    local IFS=$'\n'
    COMPREPLY=($(compgen "$1" -- "$2"))
    compopt -o filenames 2>/dev/null
}}

_weld() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
    COMPREPLY=()
    if [[ ${{COMP_WORDS[0]##*/}} == weld ]]; then
        if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
            _weld_files -f "$current"
            COMPREPLY+=($(compgen -W '{commands}' -- "$current"))
            return
        fi
        case $command in
            help) COMPREPLY=($(compgen -W '{topics}' -- "$current")); return ;;
            explain) COMPREPLY=($(compgen -W '{codes}' -- "$current")); return ;;
            completions) COMPREPLY=($(compgen -W '{shells}' -- "$current")); return ;;
            install-links|uninstall-links|relink) _weld_files -d "$current"; return ;;
            run)
                if [[ $COMP_CWORD -eq 2 && $current == -* ]]; then _weld_words --check "$current"; return; fi
                local at=2
                if [[ ${{COMP_WORDS[2]}} == --check ]]; then at=3; fi
                if declare -F _command_offset >/dev/null; then _command_offset $at; else COMPREPLY=($(compgen -c -- "$current")); fi
                return ;;
        esac
    fi
    case $before in
        -z) _weld_words "$_weld_keywords" "$current"; return ;;
        {of_files}) _weld_files -f "$current"; return ;;
    esac
    case $current in
        =) _weld_files -f '' ;;
        -*) _weld_words "$_weld_options" "$current" ;;
        *) _weld_files -f "$current" ;;
    esac
}}

_weld_link() {{
    local current=${{COMP_WORDS[COMP_CWORD]}}
    case $current in
        /*/*) _weld_files -f "$current" ;;
        /*) _weld_words "$_weld_link_options" "$current" ;;
        -*) _weld_words "${{_weld_link_options//\//-}}" "$current" ;;
        *) _weld_files -f "${{current#:}}" ;;
    esac
}}

complete -F _weld {ELF_PROGRAMS}
complete -F _weld_link {COFF_PROGRAMS}
"#,
        options = bash_words(&options, "="),
        keywords = keywords.join("\n"),
        link_options = bash_words(&weld_coff::args::option_names(), ":"),
        commands = commands(),
        topics = topics(),
        codes = codes(),
        shells = SHELLS.join(" "),
        of_files = of_files.join("|"),
    )
}

/// A text within single quotes of a shell.
fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}

/// What `_arguments` of zsh takes for an option.
fn zsh_spec(name: &Name, spelling: &str, between: &str) -> String {
    let escape = |text: &str| {
        quoted(&text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:"))
    };
    let action = |value: &str| if FILES.contains(&value) { "_files" } else { " " };
    let value = match name.value {
        Value::None => String::new(),
        Value::Required(value) | Value::Separate(value) => format!(":{}:{}", escape(value), action(value)),
        Value::Optional(value) => format!("::{}:{}", escape(value), action(value)),
        Value::Suffix(value) => format!("::{}:{}", escape(value), action(value)),
    };
    let between = match name.value {
        Value::None => "",
        Value::Required(_) => between,
        Value::Separate(_) => "",
        Value::Optional(_) if between == "+" => "-",
        Value::Optional(_) if between == "=" => "=-",
        Value::Optional(_) => between,
        Value::Suffix(_) => "-",
    };
    format!("    '*{}{between}[{}]{value}'\n", spelling.replace(':', "\\:"), escape(name.help))
}

fn zsh() -> String {
    let (options, keywords) = elf_names();
    let mut out =
        format!("#compdef {ELF_PROGRAMS} {COFF_PROGRAMS}\n\n_weld_commands() {{\n  local -a commands=(\n");
    for (name, _, what) in COMMANDS {
        _ = writeln!(out, "    '{name}:{}'", quoted(what));
    }
    out.push_str(
        "  )\n  _describe command commands\n  _files\n}\n\n_weld_keywords() {\n  local -a keywords=(\n",
    );
    for name in &keywords {
        _ = writeln!(out, "    '{}:{}'", keyword(name), quoted(name.help));
    }
    out.push_str("  )\n  _describe keyword keywords\n}\n\nlocal -a options=(\n");
    for name in options.iter().filter(|name| name.spelling != "-z") {
        let between = if name.spelling.starts_with("--") { "=" } else { "+" };
        out.push_str(&zsh_spec(name, &name.spelling, between));
    }
    out.push_str("    '*-z+[Choose a variant]:keyword:_weld_keywords'\n)\nlocal -a link_options=(\n");
    for name in weld_coff::args::option_names() {
        // `_arguments` knows options by `-`, which may stand for `/`.
        let dashed = name.spelling.replacen('/', "-", 1);
        let between = if name.value == Value::None { "" } else { "\\:-" };
        out.push_str(&zsh_spec(&name, &dashed, between));
    }
    out.push_str(")\nlocal -a slashed=(\n");
    for name in weld_coff::args::option_names() {
        let colon = if name.value == Value::None { "" } else { "\\:" };
        _ = writeln!(out, "    '{}{colon}:{}'", name.spelling, quoted(name.help));
    }
    _ = write!(
        out,
        r#")

case $service in
  weld-link|lld-link)
    if [[ $PREFIX == /* && $PREFIX != /*[/:]* ]]; then _describe option slashed -S ''; fi
    if compset -P '/[a-z0-9-]##:'; then _files; return; fi
    _arguments $link_options '*:file:_files'
    return ;;
esac
if [[ $service == weld ]]; then
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _weld_commands
    return
  fi
  case $words[2] in
    help) compadd {topics}; return ;;
    explain) compadd {codes}; return ;;
    completions) compadd {shells}; return ;;
    install-links|uninstall-links|relink) _files -/; return ;;
    run)
      if (( CURRENT == 3 )) && [[ $words[3] == -* ]]; then compadd -- --check; return; fi
      if [[ $words[3] == --check ]]; then shift words; (( CURRENT -= 1 )); fi
      shift 2 words; (( CURRENT -= 2 )); _normal; return ;;
  esac
fi
_arguments $options '*:file:_files'
"#,
        topics = topics(),
        codes = codes(),
        shells = SHELLS.join(" "),
    );
    out
}

/// What follows those of weld's own commands that take no options of the linker.
const FISH_COMMANDS: &str = r"set -g _weld_commands run install-links uninstall-links relink help explain completions
complete -c weld -n '__fish_seen_subcommand_from run' -f -l check
complete -c weld -n '__fish_seen_subcommand_from run' -f -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c weld -n '__fish_seen_subcommand_from install-links uninstall-links relink' -f -a '(__fish_complete_directories)'
";

fn fish() -> String {
    let (options, keywords) = elf_names();
    let mut out = String::new();
    for (name, _, what) in COMMANDS {
        _ = writeln!(out, "complete -c weld -n __fish_use_subcommand -a {name} -d '{}'", fish_quoted(what));
    }
    out.push_str(FISH_COMMANDS);
    _ = writeln!(out, "complete -c weld -n '__fish_seen_subcommand_from help' -f -a '{}'", topics());
    _ = writeln!(out, "complete -c weld -n '__fish_seen_subcommand_from explain' -f -a '{}'", codes());
    _ = writeln!(
        out,
        "complete -c weld -n '__fish_seen_subcommand_from completions' -f -a '{}'",
        SHELLS.join(" ")
    );
    for program in ELF_PROGRAMS.split(' ') {
        let links =
            if program == "weld" { " -n 'not __fish_seen_subcommand_from $_weld_commands'" } else { "" };
        for name in &options {
            let (flag, text) = match name.spelling.strip_prefix("--") {
                Some(text) => ("-l", text),
                None => ("-s", &name.spelling[1..]),
            };
            let value = match name.value {
                Value::Required(_) | Value::Separate(_) if takes_file(name) => " -r -F",
                Value::Required(_) | Value::Separate(_) => " -x",
                _ => "",
            };
            // fish knows short options of letters and digits.
            if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
                _ = writeln!(
                    out,
                    "complete -c {program}{links} {flag} {text}{value} -d '{}'",
                    fish_quoted(name.help)
                );
            }
        }
        let words: Vec<&str> = keywords.iter().map(keyword).collect();
        _ = writeln!(out, "complete -c {program}{links} -s z -x -a '{}'", words.join(" "));
    }
    for program in COFF_PROGRAMS.split(' ') {
        for name in weld_coff::args::option_names() {
            let colon = if matches!(name.value, Value::Required(_)) { ":" } else { "" };
            let text = fish_quoted(name.help);
            let spelling = name.spelling.trim_start_matches('/');
            _ = writeln!(out, "complete -c {program} -a '/{spelling}{colon}' -d '{text}'");
            // An option by `-` is not offered where nothing has been typed.
            let typed = "string match -q -- \"-*\" (commandline -ct)";
            _ = writeln!(out, "complete -c {program} -n '{typed}' -a '-{spelling}{colon}' -d '{text}'");
        }
    }
    out
}

/// A text within single quotes of fish.
fn fish_quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}
