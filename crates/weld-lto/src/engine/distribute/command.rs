//! The command that compiles a module elsewhere, as far as it is the same for all of them.
//!
//! Its words and their order are ld.lld's, for distributors look into them. Where ld.lld leaves out what an
//! option of the link says of code (`-mcpu`, `-mllvm`, no position-independent code), there are more words
//! here, so that objects are the same wherever they are made; what no word of clang says is an error.

use std::ffi::OsStr;

use crate::answer::Fault;
use crate::bitcode;
use crate::options::{Distribution, Emit, Options, Remarks, SaveTemps};
use crate::request::{Machine, Output, Request};

/// What jobs have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// The compiler and its arguments, but for those of a module.
    pub args: Vec<String>,
    /// Files that every job reads.
    pub inputs: Vec<String>,
}

impl Command {
    /// # Errors
    /// If there is an option that cannot be carried out elsewhere.
    pub fn of(request: &Request<'_>, to: &Distribution) -> Result<Command, Fault> {
        let options = request.options;
        if to.compiler.as_os_str().is_empty() {
            return Err(Fault::Unsupported(
                "--thinlto-distributor needs --thinlto-remote-compiler=PROGRAM, the compiler that it is to run",
            ));
        }
        if let Some(option) = impossible(options) {
            let option = format!("{option} with --thinlto-distributor");
            return Err(Fault::Option { option, help: OBJECTS_ONLY });
        }
        let mut args = vec![utf8(to.compiler.as_os_str())?];
        for arg in &to.compiler_prepended_args {
            args.push(utf8(arg)?);
        }
        args.push("-c".to_owned());
        let first = request.files.iter().find(|file| file.is_thin(options));
        if let Some(code) = first.and_then(|file| bitcode::read(file.bytes).ok()) {
            args.push(format!("--target={}", String::from_utf8_lossy(code.triple)));
        }
        args.push(format!("-O{}", options.level.unwrap_or(super::super::words::DEFAULT_LEVEL)));
        args.extend(["-faddrsig", "-ffunction-sections", "-fdata-sections"].map(str::to_owned));
        args.extend(position(request).map(str::to_owned));
        let mut inputs = Vec::new();
        if let Some(profile) = &options.profile.sample {
            let profile = utf8(profile.as_os_str())?;
            args.push(format!("-fprofile-sample-use={profile}"));
            inputs.push(profile);
        }
        if let Machine::Coff { .. } = request.machine {
            // Else clang writes the time of the compilation into the object.
            args.push("-mno-incremental-linker-compatible".to_owned());
        }
        args.extend(more(options, &mut inputs));
        args.push("-Wno-unused-command-line-argument".to_owned());
        for arg in &to.compiler_args {
            args.push(utf8(arg)?);
        }
        Ok(Command { args, inputs })
    }
}

/// What to do about an option that only a compiler in this process can follow.
const OBJECTS_ONLY: &str = "compilations elsewhere leave an object and nothing else: link without one of the two, or \
                            give the compiler its own option by --thinlto-remote-compiler-arg";

/// An option that is set and that cannot be carried out elsewhere, as users know it.
fn impossible(options: &Options) -> Option<&'static str> {
    let set = |is_set: bool, name: &'static str| is_set.then_some(name);
    let level = options.level.unwrap_or(super::super::words::DEFAULT_LEVEL);
    let thin = &options.thin;
    set(options.emit == Emit::Assembly, "--lto-emit-asm")
        .or(set(options.emit == Emit::Bitcode, "--lto-emit-llvm"))
        .or(set(options.object_path.is_some(), "--lto-obj-path"))
        .or(set(options.remarks != Remarks::default(), "--opt-remarks-filename"))
        .or(set(options.profile.context_sensitive.is_some(), "--lto-cs-profile-file"))
        .or(set(options.profile.generate, "--lto-cs-profile-generate"))
        .or(set(options.passes.debug, "--lto-debug-pass-manager"))
        .or(set(options.passes.pipeline.is_some(), "--lto-newpm-passes"))
        .or(set(options.passes.alias_analysis.is_some(), "--lto-aa-pipeline"))
        .or(set(!options.passes.plugins.is_empty(), "--load-pass-plugin"))
        .or(set(
            options.codegen_level.is_some_and(|codegen| codegen != level),
            "--lto-CGO other than --lto-O",
        ))
        .or(set(level > 3, "a level of optimisation above 3"))
        .or(set(!options.profile.warn_mismatch, "--no-lto-pgo-warn-mismatch"))
        .or(set(matches!(options.save_temps, SaveTemps::Kinds(_)), "--save-temps= with a selection"))
        .or(set(!thin.single_modules.is_empty(), "--thinlto-single-module"))
        .or(set(thin.emit_index_files, "--thinlto-emit-index-files"))
        .or(set(thin.emit_imports_files, "--thinlto-emit-imports-files without --thinlto-index-only"))
        .or(set(options.dwo_directory.is_some(), "--plugin-opt=dwo_dir"))
        .or(set(options.statistics.is_some(), "--plugin-opt=stats-file"))
        .or(set(options.time_trace.is_some(), "--plugin-opt=time-trace"))
}

/// How code refers to symbols. Windows has one way for each machine, and what `-r` makes may become either.
fn position(request: &Request<'_>) -> Option<&'static str> {
    let model = request
        .options
        .llvm
        .iter()
        .filter_map(|word| super::super::words::relocation_model(word))
        .next_back();
    match (request.machine, request.output, model) {
        (Machine::Coff { .. }, ..) | (_, Output::Relocatable, _) => None,
        (_, _, Some("pic")) => Some("-fpic"),
        (_, _, Some(_)) | (_, Output::Executable, None) => Some("-fno-pic"),
        (_, Output::Pie | Output::Shared, None) => Some("-fpic"),
    }
}

/// What ld.lld does not pass on.
fn more(options: &Options, inputs: &mut Vec<String>) -> Vec<String> {
    let mut args = Vec::new();
    if let Some(cpu) = &options.cpu {
        args.extend(["-Xclang", "-target-cpu", "-Xclang", cpu].map(str::to_owned));
    }
    match options.blocks.sections.as_deref() {
        None => {}
        Some(kind @ ("all" | "none")) => args.push(format!("-fbasic-block-sections={kind}")),
        Some("labels") => args.push("-fbasic-block-address-map".to_owned()),
        Some(list) => {
            args.push(format!("-fbasic-block-sections=list={list}"));
            inputs.push(list.to_owned());
        }
    }
    if options.blocks.unique_names {
        args.push("-funique-basic-block-section-names".to_owned());
    }
    if options.blocks.address_map {
        args.push("-fbasic-block-address-map".to_owned());
    }
    for word in options.llvm.iter().filter(|word| super::super::words::relocation_model(word).is_none()) {
        args.extend(["-mllvm", word].map(str::to_owned));
    }
    args
}

/// JSON has no other texts.
fn utf8(text: &OsStr) -> Result<String, Fault> {
    match text.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Fault::Option {
            option: format!("'{}', which is no UTF-8, with --thinlto-distributor", text.display()),
            help: "distributors read names from JSON, which has UTF-8 only: use another name",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(output: Output, options: &Options) -> Result<String, Fault> {
        let request = Request::of_nothing(output, options);
        let to = Distribution {
            compiler: "clang".into(),
            compiler_prepended_args: vec!["first".into()],
            compiler_args: vec!["last".into()],
            ..Distribution::default()
        };
        Command::of(&request, &to).map(|command| command.args.join(" "))
    }

    #[test]
    fn words_are_those_of_lld() {
        let end = "-Wno-unused-command-line-argument last";
        let start = "clang first -c -O2 -faddrsig -ffunction-sections -fdata-sections";
        let options = Options::default();
        assert_eq!(of(Output::Pie, &options).unwrap(), format!("{start} -fpic {end}"));
        assert_eq!(of(Output::Executable, &options).unwrap(), format!("{start} -fno-pic {end}"));
        assert_eq!(of(Output::Relocatable, &options).unwrap(), format!("{start} {end}"));
    }

    #[test]
    fn options_of_code_are_passed_on_or_refused() {
        let mut options = Options { level: Some(3), cpu: Some("znver4".to_owned()), ..Options::default() };
        options.profile.sample = Some("p".into());
        options.llvm = vec!["-relocation-model=pic".to_owned(), "-x".to_owned()];
        let words = of(Output::Executable, &options).unwrap();
        let expected = "clang first -c -O3 -faddrsig -ffunction-sections -fdata-sections -fpic \
                        -fprofile-sample-use=p -Xclang -target-cpu -Xclang znver4 -mllvm -x \
                        -Wno-unused-command-line-argument last";
        assert_eq!(words, expected);
        options.emit = Emit::Assembly;
        let Err(Fault::Option { option, .. }) = of(Output::Pie, &options) else { panic!() };
        assert_eq!(option, "--lto-emit-asm with --thinlto-distributor");
    }
}
