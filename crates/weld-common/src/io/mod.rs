//! Every byte that enters or leaves a link.
//!
//! [`input`] reads or maps what is linked, [`output`] writes the image, in [`units`]. Both say what went
//! wrong in one line that names the file, because only they know which call failed. [`readahead`] asks for
//! inputs that are not in memory before they are needed, [`identity`] tells whether two paths lead to one
//! file, [`stamp`] whether somebody has written to one, [`spare`] whether nobody else uses it.

pub mod anonymous;
pub mod identity;
pub mod input;
pub mod output;
pub mod page_cache;
pub mod readahead;
pub mod spare;
pub mod stamp;
pub mod thin;
pub mod units;

/// The system's words for `error`, without Rust's "(os error 28)" after them.
pub fn reason(error: &std::io::Error) -> String {
    let mut text = error.to_string();
    if let Some(code) = error.raw_os_error() {
        let tail = format!(" (os error {code})");
        if text.ends_with(&tail) {
            text.truncate(text.len() - tail.len());
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod testdir {
    //! A directory that goes away with its test.

    use std::path::{Path, PathBuf};

    pub struct TestDir(PathBuf);

    impl TestDir {
        /// `name` must be different for each test.
        pub fn new(name: &str) -> TestDir {
            let dir = std::env::temp_dir().join(format!("weld-test-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&dir);
            std::fs::create_dir_all(&dir).unwrap();
            TestDir(dir)
        }

        pub fn path(&self) -> &Path {
            &self.0
        }

        pub fn join(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        /// The names in the directory, sorted.
        pub fn list(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for TestDir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_error_number_is_left_out() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(super::reason(&error), "No such file or directory");
    }
}
