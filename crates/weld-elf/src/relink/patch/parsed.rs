//! Objects of which a relink wants to know something before it begins, or beside what it writes.

use crate::arch;
use crate::input::object::Object;
use crate::job::Job;
use crate::relink_state::outline::is_renamed;
use crate::relink_state::rewrite_section;

/// The object with these bytes; `None` if there is something wrong with it, which is for others to say.
pub fn object<'j>(job: &Job<'j>, data: &'j [u8]) -> Option<Object<'j>> {
    arch::of_file(data).and_then(|machine| rewrite_section::parse(data, machine, job.store).ok())
}

/// The same if its symbols bear their own names whatever options say.
pub fn with_its_names<'j>(job: &Job<'j>, data: &'j [u8]) -> Option<Object<'j>> {
    object(job, data).filter(|object| !is_renamed(object, job.options))
}
