//! Targets by their names (`x86_64-unknown-linux-gnu`): what a file of bitcode says of the machine that it is for.
