//! What can be asked for, and how it is explained.

use crate::exit;
use assay_case::{Budget, InputRange, Partition};
use assay_precision::Modes;
use assay_suite::RunPath;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Checks what a GPU driver computes, bit by bit, against what the Vulkan specification permits.
#[derive(Debug, Parser)]
#[command(
    name = "assay",
    version,
    max_term_width = 90,
    arg_required_else_help = true,
    infer_subcommands = false,
    after_help = "Start with `assay run`. Colours follow NO_COLOR and CLICOLOR_FORCE.",
    after_long_help = format!(
        "{START}\n\n{}\n\nColours follow NO_COLOR and CLICOLOR_FORCE.",
        exit::help()
    )
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows the Vulkan devices of this machine
    ///
    /// Drivers, versions, and the features and float-controls properties that decide which cases a device can run.
    Devices(DevicesArgs),
    /// Lists case names, one a line
    #[command(after_help = FILTERS)]
    List(ListArgs),
    /// Runs cases on a device and reports what it got wrong
    #[command(
        after_help = "See `assay run --help` for filters, ranges, and what the output folder holds.",
        after_long_help = format!("{FILTERS}\n\n{}\n\n{RUN}", crate::lists::HELP)
    )]
    Run(RunArgs),
    /// Checks a shader of your own: every result against what the specification permits
    #[command(
        after_help = "See `assay check --help` for files, inputs and examples.",
        after_long_help = crate::check::HELP
    )]
    Check(Box<crate::check::CheckArgs>),
    /// Runs a bundle of `assay check --out` here, and says whether it happens on this machine
    Repro(crate::check::ReproArgs),
    /// Derives what one operation may return, step by step
    #[command(
        after_help = "See `assay explain --help` for how operands are written.",
        after_long_help = EXPLAIN
    )]
    Explain(ExplainArgs),
    /// Says what a SPIR-V module declares, needs and violates, and on which devices it may run
    #[command(after_help = crate::inspect::HELP)]
    Inspect(crate::inspect::InspectArgs),
    /// Writes what covers each statement of the specification, and what nothing covers
    #[command(after_help = crate::coverage::HELP)]
    Coverage(crate::coverage::CoverageArgs),
    /// Writes the HTML page of one or several result folders
    #[command(after_help = crate::folders::REPORT_HELP)]
    Report(crate::folders::ReportArgs),
    /// Keeps results of many runs in one file and shows how margins went
    #[command(after_help = crate::folders::HISTORY_HELP)]
    History {
        /// What to do with it.
        #[command(subcommand)]
        command: crate::folders::HistoryCommand,
    },
    /// Joins the result folders of the parts of a run
    #[command(after_help = crate::folders::MERGE_HELP)]
    Merge(crate::folders::MergeArgs),
    /// Says what changed from one run to another, margins included
    #[command(after_help = crate::folders::DIFF_HELP)]
    Diff(crate::folders::DiffArgs),
    /// A process of a run that holds a device; `assay run` starts it
    #[command(hide = true)]
    Worker,
    /// Prints a completion script for a shell
    #[command(after_help = "Example: assay completions bash > ~/.local/share/bash-completion/completions/assay")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Everything that is known of each device, as a JSON array of what device.json holds
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Which cases; all without one
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Which cases; all without one
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,

    /// How many inputs: quick (the whole audit in minutes), sampled (2^24 a case) or exhaustive (all up to 2^32)
    #[arg(long, default_value = "quick", hide_possible_values = true)]
    pub(crate) budget: Budget,

    /// The device: its index in `assay devices`, a part of its name, its UUID, `lavapipe`, or `all`
    ///
    /// all: at the same time, each with workers and a folder of its own in that of --out (with --isolate no, one after
    /// another). Default: the first discrete GPU, else integrated, virtual, CPU.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,

    /// What the cases are run through: vulkan, wgpu (as WGSL, judged by WGSL's rules) or both, one after the other
    ///
    /// both: each with a folder of its own in that of --out, `vulkan` and `wgpu`, and at the end what differs.
    #[arg(long, value_name = "API", default_value = "vulkan", hide_possible_values = true)]
    pub(crate) api: Api,

    /// Goes on with the run of this folder, which was killed or interrupted, as it was begun
    ///
    /// Only what is missing is run. Of other options, --jobs, --workers, --memory, -v and -q may differ from then.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,

    /// The folder for results; those of an earlier run in it are replaced
    ///
    /// Default: assay-out/DATE-TIME, in the current folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Threads that check results and build pipelines, of all workers of all devices together
    ///
    /// Devices that are run at the same time divide them; those of one that is done are for the others. A software driver of
    /// Mesa's computes on as many (LP_NUM_THREADS), if this or --workers is given. Default: one for each core.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Worker processes at a time for each device, each with the device open
    ///
    /// Default: 1; with the quick budget on a software driver, as many as --jobs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) workers: Option<u16>,

    /// Whether the device is opened in processes of their own, so that nothing it does ends the run: yes or no
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) isolate: Isolate,

    /// Whether cases that fail are run again alone, each in a new process: yes or no
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) confirm: Confirm,

    /// Resident memory that a worker may have, in MiB [default: 80 % of the machine's, divided among the workers]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    pub(crate) memory: Option<u64>,

    /// How long the device may take over one submission, in seconds; a worker that it keeps longer is killed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive_seconds)]
    pub(crate) timeout: f64,

    /// The seed of the sampled inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Only this part of the first operand's values, ends included
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    pub(crate) range: Option<InputRange>,

    /// Only this part of the cases, for one of several machines: hash:M/N or slice:M/N, M from 1 to N
    ///
    /// hash keeps a case in its part when other cases come or go; slice makes parts of one size. `assay merge` joins
    /// the folders. A part into which no case falls ends with 0.
    #[arg(long, value_name = "PART")]
    pub(crate) partition: Option<Partition>,

    #[command(flatten)]
    pub(crate) lists: crate::lists::ListsArgs,

    /// How the cases of suites are run: native, lowered (to core SPIR-V) or reference (no device: the oracle against the
    /// suite's own reference)
    ///
    /// Default: native where the device has what a case needs, else lowered where the case can be.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<RunPath>,

    /// Run under the Vulkan validation layer; what it objects to is an InternalError
    #[arg(long)]
    pub(crate) validation: bool,

    /// Show every case as it ends with its times and checking rate, and a row for every mode
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Show failures and the last line only, and no progress
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

/// What results come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Api {
    /// Vulkan itself.
    Vulkan,
    /// wgpu, over Vulkan.
    Wgpu,
    /// One after the other.
    Both,
}

impl Api {
    /// The APIs that it stands for, in order.
    pub(crate) fn each(self) -> &'static [Api] {
        match self {
            Api::Vulkan => &[Api::Vulkan],
            Api::Wgpu => &[Api::Wgpu],
            Api::Both => &[Api::Vulkan, Api::Wgpu],
        }
    }

    /// `vulkan`, `wgpu`, `both`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::Vulkan => "vulkan",
            Api::Wgpu => "wgpu",
            Api::Both => "both",
        }
    }
}

/// Whether the device is opened in processes of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Isolate {
    Yes,
    No,
}

/// Whether failures are run again alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Confirm {
    Yes,
    No,
}

impl Confirm {
    pub(crate) fn is_yes(self) -> bool {
        self == Confirm::Yes
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The instruction as SPIR-V spells it, in any case: OpFDiv, Exp2
    #[arg(value_name = "OP")]
    pub(crate) op: String,

    /// The type: f16, bf16, f32, f64, f8e4m3, f8e5m2, i8 .. i64, u8 .. u64; for a conversion the type of its result
    #[arg(long, short, value_name = "TYPE", default_value = "f32")]
    pub(crate) format: String,

    /// The operands, component by component
    #[arg(long = "in", short, value_name = "OPERAND", required = true, num_args = 1.., value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,

    /// What a device returned, to be judged
    #[arg(long, short, value_name = "RESULT", num_args = 1.., value_delimiter = ',')]
    pub(crate) got: Option<Vec<String>>,

    /// A mode or decoration in force, as SPIR-V spells it; may be given several times
    #[arg(long, short, value_name = "NAME", value_delimiter = ',', long_help = format!(
        "A mode or decoration in force, as SPIR-V spells it; may be given several times, or several joined by + or \
         commas: {}. (None declares that no flag of FPFastMathMode is set.)",
        Modes::NAMES.join(", ")
    ))]
    pub(crate) mode: Vec<String>,

    /// For a conversion, the type that it converts from
    #[arg(long, value_name = "TYPE")]
    pub(crate) from: Option<String>,

    /// The shape of the widest operand: scalar, vec2 .. vec4, mat2x3 (columns x rows) ..
    ///
    /// Default: the one that the number of operands fits.
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<String>,

    /// Whose rules: vulkan, wgpu (those of WGSL) or both, one after the other
    #[arg(long, value_name = "API", default_value = "vulkan", hide_possible_values = true)]
    pub(crate) api: Api,

    /// Print a JSON object; for several results (vectors, ModfStruct) an array of them; with --api both an object of `vulkan` and `wgpu`
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("expected a number of seconds above 0 and at most 1e9".to_owned()),
    }
}

const START: &str = "\
Start with:
  assay run
      the audit of the best device, in minutes
  assay run 'precision.f32.exp2.*' --budget exhaustive
      every 32-bit input of one instruction
  assay explain Exp2 --format f32 --in 1.23
      what one operation may return, and why";

const FILTERS: &str = "\
Filters:
  precision.f32
      a group: every case whose name begins with these components
  precision.f32.exp2.scalar.default
      one case, and its likes with .constant and .specconstant for operands
  'precision.*.exp2.*'
      a pattern for whole names; * stands for anything, dots too
  family.toml
      a case file of your own, in the form of those under cases/precision
  storage8, 'environment.*'
      the cases of a suite: generated programs
  A case is chosen if any filter matches it.";

const RUN: &str = "\
Ranges:
  Ends are bits (0x3f800000), hex floats (0x1.8p-3) or decimals (-1.5e3, inf),
  in the order of the type from -inf to +inf:
  --range 0x1p-126..1.5   --range -inf..-0   --range 0x00000001..0x007fffff

The output folder holds:
  results.jsonl  one JSON object a line: the run, then every case with all that
                 is known of it, last how the run ended
  results.csv    name,status,seconds     as deqp-runner writes it
  failures.csv   name,status             as deqp-runner writes it: a baseline
  junit.xml      for CI systems
  report.html    for people: everything in one page
  standings.jsonl  how cases stand to the lists, and why; which are flaky
  device.json    the device, its driver and what it depends on

Statuses:
  Pass            every checked result is permitted
  QualityWarning  only a lenient reading of the specification permits some
  Fail            some results are not permitted
  NotSupported    the device lacks what the case needs
  Undetermined    nothing that was checked could be decided
  Crash, Timeout, DeviceLost, InternalError
  A margin is error over bound: 1 is the limit, more is a failure.

Examples:
  assay run
  assay run 'precision.f32.exp2.*' --budget exhaustive -v
  assay run precision.f16 --device lavapipe --out lavapipe
  assay run 'precision.f32.*' --api both --out both
  assay run precision.f32.log2 --budget sampled --range 0.5..2";

const EXPLAIN: &str = "\
Operands and results:
  0x3f9d70a4     bits: 0x without an exponent, at most as wide as the type
  0x1.8p-3       a hex float: 0x with p
  1.23, -2e-3    a decimal; inf, nan, -inf
  A number that the type cannot hold is rounded to nearest, and that is said.
  Several are separated by spaces or commas, in the order of the operands,
  vectors component by component, matrices column by column. Each has the type
  of its operand: the exponent of Ldexp is an integer.

The verdict:
  Pass, QualityWarning (only a lenient reading of the specification permits the
  result) or Fail, and the margin, error over bound: 1 is the limit.

The JSON object:
  {\"op\", \"format\", \"inputs\": [bits], \"modes\": [names],
   \"exact\", \"rule\", \"clause\",
   \"permitted\": [[lowest bits, highest bits], ..], \"nan\": bool, \"any\": bool,
   \"got\": {\"bits\", \"permitted\": bool, \"lenient\": bool, \"margin\": number}}
  Ranges ascend from -inf to +inf, -0 before +0. nan: any NaN is permitted; any:
  nothing is required. permitted is the usual reading, lenient the laxest.
  got is null without --got; an infinite margin is \"inf\", and it is null where
  no distance is measured (an infinity, a NaN, nothing required).
  Several results (vectors, ModfStruct) are an array of such objects, and with
  --api both it is {\"vulkan\": .., \"wgpu\": ..}, each as it is alone.

Exit code: 0, or 1 if a result given with --got is outside every reading.

Examples:
  assay explain Exp2 --format f32 --in 0x3f9d70a4 --got 0x40161f7c
  assay explain OpFDiv --format f16 --in 1 3 --mode RoundingModeRTZ
  assay explain OpFConvert --format f16 --from f32 --in 65519.9
  assay explain Ldexp --in 1.5,-126 --mode DenormPreserve
  assay explain Acos --in 0.999 --api both
  assay explain OpDot --shape vec3 --in 1,2,3,4,5,6 --json";
