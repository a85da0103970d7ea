//! Tests of the `assay` binary: commands, exit codes, files and texts.

mod amber;
mod api;
mod check;
mod check_folder;
mod check_isolated;
mod explain;
mod folders;
mod fuzz;
mod hostile;
mod inspect;
mod isolate;
mod lab;
mod lists;
mod native;
mod night;
mod output;
mod push_binary;
mod run;
mod shim;
mod slurm;
mod ssh;
mod support;
mod texts;
mod usage;
