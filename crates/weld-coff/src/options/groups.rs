//! Options that belong together: how the image is loaded, what lies where in it, and what there is beside it.

use std::path::PathBuf;

use super::{Manifest, Verbose};

/// How the image is loaded: what its header and its load configuration tell the system.
#[derive(Clone, Debug)]
pub struct Loading {
    /// `/base`: the address that the image is made for.
    pub base: Option<u64>,
    /// `/base:ADDRESS,SIZE`: the image is to be no larger.
    pub greatest_size: Option<u64>,
    pub fixed: bool,
    pub dynamic_base: Option<bool>,
    pub high_entropy_va: bool,
    pub nx_compat: bool,
    pub large_address_aware: Option<bool>,
    pub ts_aware: Option<bool>,
    pub app_container: bool,
    pub allow_bind: bool,
    pub allow_isolation: bool,
    pub integrity_check: bool,
    pub no_seh: bool,
    pub dependent_load_flags: u16,
    pub driver: bool,
    pub driver_wdm: bool,
    pub driver_up_only: bool,
    pub swap_run_cd: bool,
    pub swap_run_net: bool,
}

impl Default for Loading {
    fn default() -> Self {
        Loading {
            base: None,
            greatest_size: None,
            fixed: false,
            dynamic_base: None,
            high_entropy_va: true,
            nx_compat: true,
            large_address_aware: None,
            ts_aware: None,
            app_container: false,
            allow_bind: true,
            allow_isolation: true,
            integrity_check: false,
            no_seh: false,
            dependent_load_flags: 0,
            driver: false,
            driver_wdm: false,
            driver_up_only: false,
            swap_run_cd: false,
            swap_run_net: false,
        }
    }
}

/// `/manifest` and its kin.
#[derive(Clone, Debug)]
pub struct ManifestOptions {
    pub kind: Option<Manifest>,
    /// `/manifestuac`: level and access to the desktop of others.
    pub rights: Option<(String, String)>,
    pub path: Option<PathBuf>,
    /// `/manifestinput`
    pub inputs: Vec<PathBuf>,
}

impl Default for ManifestOptions {
    fn default() -> Self {
        ManifestOptions {
            kind: None,
            rights: Some(("'asInvoker'".to_owned(), "'false'".to_owned())),
            path: None,
            inputs: Vec::new(),
        }
    }
}

/// Which warnings there are; `/ignore` takes some away.
#[derive(Clone, Debug)]
pub struct Warnings {
    pub imported_locals: bool,
    pub long_names: bool,
    /// Of types that are in files which are not there.
    pub missing_types: bool,
    /// Of functions in `/order` that there are not.
    pub missing_order: bool,
    /// Of libraries that `/disallowlib` speaks of.
    pub disallowed_libs: bool,
}

impl Default for Warnings {
    fn default() -> Self {
        Warnings {
            imported_locals: true,
            long_names: true,
            missing_types: true,
            missing_order: true,
            disallowed_libs: true,
        }
    }
}

/// What is told of the link.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    pub print_search_paths: bool,
    /// `/print-symbol-order`
    pub symbol_order: Option<PathBuf>,
    /// `/map`, `/lldmap`: where to, if that was said.
    pub map: Option<Option<PathBuf>>,
    pub lld_map: Option<Option<PathBuf>>,
    /// `/explore`: a page of what the image is made of.
    pub explore: Option<PathBuf>,
    /// `/mapinfo:exports`
    pub map_exports: bool,
    pub verbose: Verbose,
    pub time: bool,
    /// `/summary`
    pub summary: bool,
    pub time_trace: Option<PathBuf>,
    pub time_trace_beside_output: bool,
}

/// The library by which other modules use what the image exports.
#[derive(Clone, Debug, Default)]
pub struct ImportLibrary {
    pub path: Option<PathBuf>,
    /// `/noimplib`: there is none.
    pub is_refused: bool,
    /// One that would not change stays as it is.
    pub is_kept: bool,
}

/// What lies where in the image.
#[derive(Clone, Debug)]
pub struct LayoutOptions {
    pub align: u64,
    pub file_align: u64,
    /// `/order:@`
    pub order: Option<PathBuf>,
    pub call_graph_file: Option<PathBuf>,
    pub call_graph_sort: bool,
    /// `/sectionlayout`
    pub section_layout: Option<PathBuf>,
    /// `/functionpadmin`: bytes in front of functions; the machine decides how many if none are given.
    pub function_pad: Option<Option<u32>>,
    /// `/branch-reach`: branches that go further get thunks, although they might reach.
    pub branch_reach: Option<u32>,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions {
            align: 4096,
            file_align: 512,
            order: None,
            call_graph_file: None,
            call_graph_sort: true,
            section_layout: None,
            function_pad: None,
            branch_reach: None,
        }
    }
}

impl Loading {
    /// Whether the image may be loaded elsewhere.
    pub fn is_relocatable(&self) -> bool {
        !self.fixed
    }

    /// Whether the system may choose the address.
    pub fn dynamic_base(&self) -> bool {
        self.dynamic_base.unwrap_or(!self.fixed)
    }
}
