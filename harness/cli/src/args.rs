//! Command-line arguments of every command, with their help.

use crate::exit::{self, Failure, WithCode};
use assay_case::{Budget, InputRange, Partition};
use assay_check::CompileOptions;
use assay_isolate::Launch;
use assay_precision::Modes;
use assay_spirv::TargetEnv;
use assay_suite::RunPath;
use clap::{Args, Parser, Subcommand};
use serde_json::Value;
use std::{ffi::OsString, fmt, ops::RangeInclusive, path::PathBuf};

/// Checks GPU drivers bit by bit against the results that the Vulkan specification permits.
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
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of worker processes on other machines.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViaArgs {
    /// Start workers through this command prefix, on another machine; repeatable
    ///
    /// Examples: 'ssh board7', 'srun --gres=gpu:1 -n1', 'kubectl exec -i pod --', 'adb shell'. The
    /// prefix starts `assay worker` of the same version there. Several prefixes make a pool, whose
    /// machines must have the same device and driver. A lost link costs no result: its cases run
    /// again, and no device is blamed.
    #[arg(long, value_name = "PREFIX", value_parser = prefix_words)]
    pub(crate) via: Vec<Prefix>,

    /// Path of the binary where --via starts it
    #[arg(long, value_name = "PATH", default_value = "assay", requires = "via")]
    pub(crate) via_binary: PathBuf,
}

/// Words of a command prefix.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(pub(crate) Vec<OsString>);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell_words::join(self.0.iter().map(|word| word.to_string_lossy())))
    }
}

/// Splits a command prefix as a shell does.
fn prefix_words(text: &str) -> Result<Prefix, String> {
    let words = shell_words::split(text).map_err(|error| error.to_string())?;
    if words.is_empty() {
        return Err("expected a command, such as 'ssh board7'".to_owned());
    }
    Ok(Prefix(words.into_iter().map(OsString::from).collect()))
}

impl ViaArgs {
    /// Refuses the prefixes of a command that starts no workers.
    pub(crate) fn must_suit(&self, isolate: Isolate) -> Result<(), Failure> {
        if isolate == Isolate::No && !self.via.is_empty() {
            return Err(exit::usage("--via starts worker processes, so it excludes --isolate no"));
        }
        Ok(())
    }

    /// Returns the command that starts workers with this setup and these variables: this binary, or
    /// another one through the prefixes.
    pub(crate) fn launch(&self, environment: Vec<(OsString, OsString)>, setup: Value) -> Result<Launch, Failure> {
        let via: Vec<Vec<OsString>> = self.via.iter().map(|prefix| prefix.0.clone()).collect();
        let elsewhere = !via.is_empty();
        let program = if elsewhere { self.via_binary.clone() } else { std::env::current_exe().code(exit::INTERNAL)? };
        let arguments = if elsewhere { vec!["worker".into(), "--supervised".into()] } else { vec!["worker".into()] };
        Ok(Launch { via, program, arguments, environment, setup })
    }
}

/// Options of `assay worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Run the worker in a child process, and report its end
    #[arg(long)]
    pub(crate) supervised: bool,
}

/// Options of the compilation of a shader.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompileArgs {
    /// Target environment of SPIR-V text, GLSL, HLSL and Slang, which decides the version of SPIR-V:
    /// spv1.0 to spv1.6, vulkan1.0 to vulkan1.4
    ///
    /// [default: for SPIR-V text the `; Version:` comment at its start, else spv1.6 or, if the module
    /// breaks fewer rules in others, the lowest version in which it breaks the fewest; for the other
    /// languages vulkan1.1]
    #[arg(long, value_name = "ENV")]
    pub(crate) target_env: Option<TargetEnv>,

    /// Macro for GLSL, HLSL and Slang; repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// Folder of files that GLSL, HLSL or Slang includes; repeatable
    #[arg(long, value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
}

impl CompileArgs {
    /// Returns the options of the compiler.
    pub(crate) fn options(&self) -> CompileOptions {
        CompileOptions {
            target_env: self.target_env,
            defines: self.define.clone(),
            includes: self.include.clone(),
            ..CompileOptions::default()
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the Vulkan devices of this machine
    ///
    /// Shows drivers, versions, and the features and float-controls properties that decide which
    /// cases a device can run.
    Devices(DevicesArgs),
    /// List case names, one per line
    #[command(after_help = FILTERS)]
    List(ListArgs),
    /// Run cases on a device and report results that the specification does not permit
    #[command(
        after_help = "See `assay run --help` for filters, ranges, and the contents of the result folder.",
        after_long_help = format!("{FILTERS}\n\n{}\n\n{RUN}", crate::lab_lists::HELP)
    )]
    Run(Box<RunArgs>),
    /// Check your own shader: compare every result with its permitted set
    #[command(
        after_help = "See `assay check --help` for files, inputs and examples.",
        after_long_help = crate::check::HELP
    )]
    Check(Box<crate::check::CheckArgs>),
    /// Run a campaign of random shaders, and reduce what fails
    #[command(
        after_help = "See `assay fuzz --help` for programs, groups of failures and examples.",
        after_long_help = crate::fuzz::HELP
    )]
    Fuzz(Box<crate::fuzz::FuzzArgs>),
    /// Rerun a bundle of `assay check --out` and report whether the failure occurs on this machine
    Repro(crate::check::ReproArgs),
    /// Derive the permitted set of one operation, step by step
    #[command(
        after_help = "See `assay explain --help` for how operands are written.",
        after_long_help = EXPLAIN
    )]
    Explain(ExplainArgs),
    /// Report the declarations, requirements and violations of a SPIR-V module, and the devices
    /// that can run it
    #[command(after_help = crate::inspect::HELP)]
    Inspect(crate::inspect::InspectArgs),
    /// Print the accuracy rule of each instruction, and the places where the text can be read in two
    /// ways
    #[command(after_help = crate::table::HELP)]
    Table(crate::table::TableArgs),
    /// Write the coverage table: each statement of the specification with the rules and cases that
    /// check it
    #[command(after_help = crate::coverage::HELP)]
    Coverage(crate::coverage::CoverageArgs),
    /// Write the HTML report of one or more result folders
    #[command(after_help = crate::report::REPORT_HELP)]
    Report(crate::report::ReportArgs),
    /// Record runs in a database and show how statuses and margins changed
    #[command(after_help = crate::history::HISTORY_HELP)]
    History {
        /// The history command.
        #[command(subcommand)]
        command: crate::history::HistoryCommand,
    },
    /// Join the result folders of a partitioned run
    #[command(after_help = crate::merge::MERGE_HELP)]
    Merge(crate::merge::MergeArgs),
    /// Compare two runs: new failures, fixes, changed margins
    #[command(after_help = crate::diff::DIFF_HELP)]
    Diff(crate::diff::DiffArgs),
    /// Worker process that opens a device; `assay run` starts it
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example: assay completions bash > ~/.local/share/bash-completion/completions/assay")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Print a JSON array with the contents of device.json for each device
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Case filters [default: all cases]
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Case filters, and shaders or folders of shaders [default: all built-in cases]
    #[arg(value_name = "FILTER|FILE|DIR")]
    pub(crate) filters: Vec<String>,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    /// Number of inputs: quick (the whole audit in minutes), sampled (2^24 per case) or exhaustive
    /// (up to all 2^32)
    #[arg(long, default_value = "quick", hide_possible_values = true)]
    pub(crate) budget: Budget,

    /// Device: index in `assay devices`, part of the name, UUID, `lavapipe`, or `all`
    ///
    /// With `all`, every device runs at the same time, with its own workers and its own subfolder
    /// of --out (with --isolate no, one device after the other).
    ///
    /// [default: the first discrete GPU, else integrated, virtual, CPU]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,

    /// API: vulkan, wgpu (cases become WGSL and follow WGSL's rules) or both
    ///
    /// With `both`, the APIs run one after the other into the subfolders `vulkan` and `wgpu` of
    /// --out, and Assay prints the differences.
    #[arg(long, value_name = "API", default_value = "vulkan", hide_possible_values = true)]
    pub(crate) api: Api,

    /// Resume the interrupted run in DIR with its original options
    ///
    /// Only missing cases run. --jobs, --workers, --memory, -v and -q may differ from the original
    /// run.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,

    /// Result folder; replaces the results of an earlier run in it [default: assay-out/DATE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Threads that check results and build pipelines, over all workers of all devices [default:
    /// one per core]
    ///
    /// Concurrent devices share this budget; threads freed by a finished device go to the others.
    /// If --jobs or --workers is given, Mesa's software drivers compute with as many threads
    /// (LP_NUM_THREADS).
    #[arg(long, short, value_name = "N", value_parser = whole_number::<u16>(1..=u64::from(u16::MAX)))]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) via: ViaArgs,

    /// Concurrent worker processes per device
    ///
    /// [default: 1; with --via one per prefix; with the quick budget on a software driver, as many as --jobs]
    #[arg(long, value_name = "N", value_parser = whole_number::<u16>(1..=u64::from(u16::MAX)))]
    pub(crate) workers: Option<u16>,

    /// Open the device in worker processes, so that a crash or hang costs one case: yes or no
    /// [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) isolate: Isolate,

    /// Rerun each failing case alone in a new process before it counts: yes or no [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) confirm: Confirm,

    /// Limit of a worker's resident memory, in MiB [default: 80 % of the machine's, divided among
    /// the workers]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<u64>(1..=u64::from(u32::MAX)))]
    pub(crate) memory: Option<u64>,

    /// Time limit of one submission, in seconds; a worker that exceeds it is killed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive_seconds)]
    pub(crate) timeout: f64,

    /// Seed of the sampled inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,

    /// Restrict the first operand to a range of values, ends included
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    pub(crate) range: Option<InputRange>,

    /// Run one part of the cases, for one of several machines: hash:M/N or slice:M/N, M from 1 to N
    ///
    /// `hash` keeps a case in its part when other cases are added or removed; `slice` makes parts
    /// of equal size. `assay merge` joins the folders. A part without cases ends with exit code 0.
    #[arg(long, value_name = "PART")]
    pub(crate) partition: Option<Partition>,

    #[command(flatten)]
    pub(crate) lists: crate::lab_lists::ListsArgs,

    /// Path of suite cases: native, lowered (to core SPIR-V) or reference (no device: interpreter
    /// against an independent reference)
    ///
    /// [default: native where the device meets a case's requirements, else lowered where the case
    /// can be lowered]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<RunPath>,

    /// Run under the Vulkan validation layer; its errors are reported as InternalError
    #[arg(long)]
    pub(crate) validation: bool,

    /// Show every case with its times and checking rate, and a table of all instructions and modes
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Show only failures and the last line, without progress
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

/// API that a run or a check goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Api {
    /// Vulkan itself.
    Vulkan,
    /// wgpu, over Vulkan.
    Wgpu,
    /// Vulkan, then wgpu.
    Both,
}

impl Api {
    /// Returns the single APIs, in order.
    pub(crate) fn each(self) -> &'static [Api] {
        match self {
            Api::Vulkan => &[Api::Vulkan],
            Api::Wgpu => &[Api::Wgpu],
            Api::Both => &[Api::Vulkan, Api::Wgpu],
        }
    }

    /// Returns the value's name: `vulkan`, `wgpu` or `both`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::Vulkan => "vulkan",
            Api::Wgpu => "wgpu",
            Api::Both => "both",
        }
    }
}

/// Choice of worker processes or the coordinator's own process for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Isolate {
    Yes,
    No,
}

/// Choice of rerunning failures alone.
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
    /// Instruction in SPIR-V spelling, case-insensitive: OpFDiv, Exp2
    #[arg(value_name = "OP")]
    pub(crate) op: String,

    /// Type: f16, bf16, f32, f64, f8e4m3, f8e5m2, i8 to i64, u8 to u64; for a conversion the result
    /// type
    #[arg(long, short, value_name = "TYPE", default_value = "f32")]
    pub(crate) format: String,

    /// Operands, component by component
    #[arg(long = "in", short, value_name = "OPERAND", required = true, num_args = 1.., value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,

    /// Result of a device, to be compared with the permitted set
    #[arg(long, short, value_name = "RESULT", num_args = 1.., value_delimiter = ',')]
    pub(crate) got: Option<Vec<String>>,

    /// Execution mode or decoration in force, in SPIR-V spelling; repeatable
    #[arg(long, short, value_name = "NAME", value_delimiter = ',', long_help = format!(
        "Execution mode or decoration in force, in SPIR-V spelling; repeatable, or joined by + or commas: {}. (None \
         declares FPFastMathMode without flags.)",
        Modes::NAMES.join(", ")
    ))]
    pub(crate) mode: Vec<String>,

    /// Operand type of a conversion
    #[arg(long, value_name = "TYPE")]
    pub(crate) from: Option<String>,

    /// Shape of the widest operand: scalar, vec2 to vec4, mat2x3 (columns x rows) and so on
    ///
    /// [default: the shape that fits the number of operands]
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<String>,

    /// Specification: vulkan, wgpu (WGSL) or both
    #[arg(long, value_name = "API", default_value = "vulkan", hide_possible_values = true)]
    pub(crate) api: Api,

    /// Print JSON; `assay explain --help` shows the object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns a parser of whole numbers in a range. Its message names the range, or its start where
/// the end is only that of the type.
pub(crate) fn whole_number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match range.end() {
            &u64::MAX => format!("expected a whole number of at least {}", range.start()),
            end => format!("expected a whole number from {} to {end}", range.start()),
        })
    }
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
      audits the best device in minutes
  assay run 'precision.f32.exp2.*' --budget exhaustive
      checks every 32-bit input of one instruction
  assay check shader.wgsl
      checks your own shader
  assay explain Exp2 --format f32 --in 1.23
      derives the permitted set of one operation";

const FILTERS: &str = "\
Filters:
  precision.f32
      a group: every case whose name begins with these components
  precision.f32.exp2.scalar.default
      one case, and its variants .constant and .specconstant
  'precision.*.exp2.*'
      a pattern that matches whole names; * matches anything, including dots
  family.toml
      your own case family, in the format of the files in cases/precision
  storage8, 'environment.*'
      the cases of a conformance suite
  blur.wgsl, blur.toml, shaders/
      a shader of yours, its case file, or all of them below a folder (written
      with a /), each checked as `assay check` does
  A case runs if any filter matches it.";

const RUN: &str = "\
Ranges:
  Ends are bits (0x3f800000), hex floats (0x1.8p-3) or decimals (-1.5e3, inf),
  ordered from -inf to +inf:
  --range 0x1p-126..1.5   --range -inf..-0   --range 0x00000001..0x007fffff

The result folder contains:
  results.jsonl    one JSON object per line: the run, every case, the end
  causes.json      failures grouped by cause, as at the end of the output
  results.csv      name,status,seconds in deqp-runner's format
  failures.csv     name,status in deqp-runner's format: the next baseline, if
                   the run has none; in deqp-runner's words, DeviceLost is
                   Crash and InternalError is Fail
  junit.xml        for CI systems
  report.html      one page with everything, for people
  standings.jsonl  each case's status against the baseline, flakes and waivers
  device.json      the device, its driver and their properties

Statuses:
  Pass            every checked result is permitted
  QualityWarning  some results are permitted by a lenient reading only
  Fail            some results are not permitted
  NotSupported    the device lacks a feature that the case requires
  Undetermined    no checked result could be decided
  Crash, Timeout, DeviceLost, InternalError
  The margin is the error divided by the bound: 1 is the limit.

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
  A number that the type cannot represent is rounded to nearest, with a note.
  Separate operands by spaces or commas, in operand order; vectors component by
  component, matrices column by column. Each value has the type of its operand:
  the exponent of Ldexp is an integer.

The verdict:
  Pass, QualityWarning (the result is permitted by a lenient reading only) or
  Fail, with the margin: error divided by bound, 1 is the limit.

The JSON object:
  {\"op\", \"format\", \"inputs\": [bits], \"modes\": [names],
   \"exact\", \"rule\", \"clause\",
   \"permitted\": [[lowest bits, highest bits], ..], \"nan\": bool, \"any\": bool,
   \"got\": {\"bits\", \"permitted\": bool, \"lenient\": bool, \"margin\": number}}
  Ranges ascend from -inf to +inf, with -0 before +0. nan: any NaN is permitted.
  any: every value is permitted. permitted: by the usual reading; lenient: by
  the most lenient one. got is null without --got. An infinite margin is
  \"inf\"; the margin is null where no distance exists (an infinity, a NaN, or
  no requirement). Vectors and structures give an array of such objects.
  --api both gives {\"vulkan\": .., \"wgpu\": ..}.

Exit code: 0, or 1 if no reading permits the result given with --got.

Examples:
  assay explain Exp2 --format f32 --in 0x3f9d70a4 --got 0x40161f7c
  assay explain OpFDiv --format f16 --in 1 3 --mode RoundingModeRTZ
  assay explain OpFConvert --format f16 --from f32 --in 65519.9
  assay explain Ldexp --in 1.5,-126 --mode DenormPreserve
  assay explain Acos --in 0.999 --api both
  assay explain OpDot --shape vec3 --in 1,2,3,4,5,6 --json";
