//! What a distributor is given: a job for each module, in JSON.
//!
//! ```text
//! {"common":{"linker_output":…,"args":[…],"inputs":[…]},
//!  "jobs":[{"args":[…],"inputs":[…],"outputs":[…]},…]}
//! ```
//!
//! A command line is the common arguments and then the job's. Inputs are all files that a job reads: the
//! module, its index, and the modules that functions are taken from. Source: LLVM's `docs/DTLTO.rst`, and
//! what ld.lld 22 writes.

use weld_common::trace::write_json_string;

use super::command::Command;

/// A module that is compiled elsewhere.
pub struct Job {
    /// Its number in the request.
    pub module: usize,
    pub path: String,
    pub index: String,
    pub object: String,
    /// Paths of modules that it takes functions from.
    pub imports: Vec<String>,
}

/// What the distributor reads.
pub fn json<'j>(output: &str, command: &Command, jobs: impl Iterator<Item = &'j Job>) -> String {
    let mut json = String::from("{\"common\":{\"linker_output\":");
    write_json_string(&mut json, output);
    json.push_str(",\"args\":");
    list(&mut json, command.args.iter().map(String::as_str));
    json.push_str(",\"inputs\":");
    list(&mut json, command.inputs.iter().map(String::as_str));
    json.push_str("},\"jobs\":[");
    for (number, job) in jobs.enumerate() {
        json.push_str(if number == 0 { "{\"args\":" } else { ",{\"args\":" });
        let index = format!("-fthinlto-index={}", job.index);
        list(&mut json, [&*job.path, &index, "-o", &job.object].into_iter());
        json.push_str(",\"inputs\":");
        let imports = job.imports.iter().map(String::as_str);
        list(&mut json, [&*job.path, &job.index].into_iter().chain(imports));
        json.push_str(",\"outputs\":");
        list(&mut json, std::iter::once(&*job.object));
        json.push('}');
    }
    json.push_str("]}");
    json
}

fn list<'t>(json: &mut String, texts: impl Iterator<Item = &'t str>) {
    json.push('[');
    for (number, text) in texts.enumerate() {
        if number > 0 {
            json.push(',');
        }
        write_json_string(json, text);
    }
    json.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_written_as_lld_writes_them() {
        let command = Command { args: vec!["cc".to_owned(), "-c".to_owned()], inputs: vec!["p".to_owned()] };
        let job = |path: &str, imports: &[&str]| Job {
            module: 0,
            path: path.to_owned(),
            index: "i".to_owned(),
            object: "o".to_owned(),
            imports: imports.iter().map(|import| (*import).to_owned()).collect(),
        };
        let jobs = [job("a \"b\"", &["x", "y"]), job("c", &[])];
        let expected = r#"{"common":{"linker_output":"out","args":["cc","-c"],"inputs":["p"]},"jobs":[{"args":["a \"b\"","-fthinlto-index=i","-o","o"],"inputs":["a \"b\"","i","x","y"],"outputs":["o"]},{"args":["c","-fthinlto-index=i","-o","o"],"inputs":["c","i"],"outputs":["o"]}]}"#;
        assert_eq!(json("out", &command, jobs.iter()), expected);
        let nothing = json("out", &Command { args: vec![], inputs: vec![] }, [].iter());
        assert_eq!(nothing, r#"{"common":{"linker_output":"out","args":[],"inputs":[]},"jobs":[]}"#);
    }
}
