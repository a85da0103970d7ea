//! The command line: every command with its help. The arguments of a command are in its module, and
//! those of several commands in `common_args`.

use crate::{
    atlas, cases, check, coverage, devices, diff, exit, explain, fuzz, history, inspect, lab_lists, merge, report, run,
    table, worker,
};
use clap::{ColorChoice, Parser, Subcommand};
use std::path::PathBuf;

/// Checks GPU drivers bit by bit against the results that the Vulkan specification permits.
#[derive(Debug, Parser)]
#[command(
    name = "assay",
    version,
    max_term_width = 90,
    arg_required_else_help = true,
    infer_subcommands = false,
    after_help = "Start with `assay run`.",
    after_long_help = format!("{START}\n\n{}", exit::help())
)]
pub(crate) struct Cli {
    /// Colours: auto, always or never [default: auto: on a terminal, as NO_COLOR and CLICOLOR_FORCE
    /// say]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) color: ColorChoice,

    /// Profile of options in `assay.toml`, which the current folder may have [default: ASSAY_PROFILE]
    #[arg(long = "profile", value_name = "NAME", global = true)]
    _profile: Option<String>,

    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the Vulkan devices of this machine
    ///
    /// Shows drivers, versions, and the features and float-controls properties that decide which
    /// cases a device can run.
    Devices(devices::DevicesArgs),
    /// List case names, one per line
    #[command(after_help = cases::FILTERS)]
    List(cases::ListArgs),
    /// Run cases on a device and report results that the specification does not permit
    #[command(
        after_help = "See `assay run --help` for filters, ranges, and the contents of the result folder.",
        after_long_help = format!("{}\n\n{}\n\n{}", cases::FILTERS, lab_lists::HELP, run::HELP)
    )]
    Run(Box<run::RunArgs>),
    /// Check your own shader: compare every result with its permitted set
    #[command(
        after_help = "See `assay check --help` for files, inputs and examples.",
        after_long_help = check::HELP
    )]
    Check(Box<check::CheckArgs>),
    /// Run a campaign of random shaders, and reduce what fails
    #[command(
        after_help = "See `assay fuzz --help` for programs, groups of failures and examples.",
        after_long_help = fuzz::HELP
    )]
    Fuzz(Box<fuzz::FuzzArgs>),
    /// Rerun a bundle of `assay check --out` and report whether the failure occurs on this machine
    Repro(check::ReproArgs),
    /// Derive the permitted set of one operation, step by step
    #[command(
        after_help = "See `assay explain --help` for how operands are written.",
        after_long_help = explain::HELP
    )]
    Explain(explain::ExplainArgs),
    /// Report the declarations, requirements and violations of a SPIR-V module, and the devices
    /// that can run it
    #[command(after_help = inspect::HELP)]
    Inspect(inspect::InspectArgs),
    /// Print the accuracy rule of each instruction, and the places where the text can be read in
    /// two ways
    #[command(after_help = table::HELP)]
    Table(table::TableArgs),
    /// Write the coverage table: each statement of the specification with the rules and cases that
    /// check it
    #[command(after_help = coverage::HELP)]
    Coverage(coverage::CoverageArgs),
    /// Write the HTML report of one or more result folders
    #[command(after_help = report::REPORT_HELP)]
    Report(report::ReportArgs),
    /// Write the accuracy atlas of one or more result folders, a static web site
    #[command(
        after_help = "See `assay atlas --help` for the contents of the site.",
        after_long_help = atlas::HELP
    )]
    Atlas(atlas::AtlasArgs),
    /// Record runs in a database and show how statuses and margins changed
    #[command(after_help = history::HISTORY_HELP)]
    History {
        /// The history command.
        #[command(subcommand)]
        command: history::HistoryCommand,
    },
    /// Join the result folders of a partitioned run
    #[command(after_help = merge::MERGE_HELP)]
    Merge(merge::MergeArgs),
    /// Compare two runs: new failures, fixes, changed margins
    #[command(after_help = diff::DIFF_HELP)]
    Diff(diff::DiffArgs),
    /// Worker process that opens a device; `assay run` starts it
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example: assay completions bash > ~/.local/share/bash-completion/completions/assay")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    #[command(after_help = "Example: assay man ~/.local/share/man/man1 && man assay-check")]
    Man {
        /// The folder, which must exist.
        folder: PathBuf,
    },
}

const START: &str = "\
Start with:
  assay run
      audits the best device in minutes
  assay run 'precision.f32.exp2.*' --budget exhaustive
      checks every 32-bit input of one instruction
  assay check shader.wgsl
      checks your own shader
  assay explain Exp2 --format f32 --in 1.23
      derives the permitted set of one operation";
