//! Each check of the library as a test of its own.

macro_rules! checks {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() -> anyhow::Result<()> {
            cargo_debug::$name()
        })*
    };
}

checks! { formats unwinding threads network bytes text the_rest }

#[test]
#[should_panic(expected = "on purpose")]
fn panics_are_caught() {
    panic!("on purpose");
}
