//! What code generation calls although no symbol table mentions it.
