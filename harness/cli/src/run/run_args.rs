//! Arguments of `assay run`, and their form as data.

use crate::{
    common_args::{Api, CheckPlace, CompileArgs, Confirm, Isolate, ViaArgs, positive_seconds, whole_number},
    lab_lists::ListsArgs,
    prefix::prefix_words,
};
use assay_case::{Budget, InputRange, Partition};
use assay_events::RunSettings;
use assay_runner::RunOptions;
use assay_suite::{ProgramSettings, RunPath};
use clap::{Args, ValueEnum};
use std::{num::NonZero, path::PathBuf, str::FromStr, thread, time::Duration};

/// End of `assay run --help`.
pub(crate) const HELP: &str = "\
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
  waivers.txt      waivers that were not needed
  device.json      the device, its driver and their properties

Statuses:
  Pass            every checked result is permitted
  QualityWarning  some results are permitted by a lenient reading only, or the
                  check avoids undefined behaviour of the shader
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
  assay run precision.f32.log2 --budget sampled --range 0.5..2
  assay run precision.f64.fdiv.scalar.default --budget hunt --time 60
  assay run --rerun-failed both/vulkan
  assay run precision.f32 --json | jq 'select(.status == \"Fail\") | .name'";

#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Case filters, and shaders or folders of shaders [default: all built-in cases]
    #[arg(value_name = "FILTER|FILE|DIR")]
    pub(crate) filters: Vec<String>,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    /// Number of inputs: quick (the whole audit in minutes), sampled (2^24 per case), exhaustive
    /// (up to all 2^32), or hunt (a search for the worst ones)
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

    /// Rerun the failing cases of the finished run in DIR with its original options
    ///
    /// The results go to a new folder. --jobs, --workers, --memory, --via, --check, -v and -q may
    /// differ from the original run.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) rerun_failed: Option<PathBuf>,

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
    /// [default: 1; with --via one per prefix; with the quick budget as many as --jobs on a
    /// software driver, half of that, at most 8, on a GPU]
    #[arg(long, value_name = "N", value_parser = whole_number::<u16>(1..=u64::from(u16::MAX)))]
    pub(crate) workers: Option<u16>,

    /// Open the device in worker processes, so that a crash or hang costs one case: yes or no
    /// [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) isolate: Isolate,

    /// Rerun each failing case alone in a new process before it counts: yes or no [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(crate) confirm: Confirm,

    /// Stop the run after this number of failing cases; --resume runs the others
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    pub(crate) max_fail: Option<u64>,

    /// Limit of a worker's resident memory, in MiB [default: 80 % of the machine's, divided among
    /// the workers]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<u64>(1..=u64::from(u32::MAX)))]
    pub(crate) memory: Option<u64>,

    /// Time limit of one submission, in seconds; a worker that exceeds it is killed. The driver may
    /// compile a user's shader for five times as long
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive_seconds)]
    pub(crate) timeout: f64,

    /// Seed of the sampled inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,

    /// Search for the worst inputs of each case for this time, in seconds
    ///
    /// Needs --budget hunt [default: 2^24 inputs]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) time: Option<f64>,

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
    pub(crate) lists: ListsArgs,

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

    /// Print the lines of results.jsonl to stdout as cases end, in place of the text
    #[arg(long, conflicts_with_all = ["verbose", "quiet"])]
    pub(crate) json: bool,

    /// Print the names of the cases that would run, one per line, and run none
    #[arg(long, conflicts_with_all = ["resume", "rerun_failed", "json"])]
    pub(crate) dry_run: bool,
}

impl RunArgs {
    /// Returns the options as data.
    pub(crate) fn settings(&self) -> RunSettings {
        let text = |value: Option<&dyn ToString>| value.map(|value| value.to_string());
        let RunArgs { compile, via, lists, .. } = self;
        RunSettings {
            filters: self.filters.clone(),
            budget: self.budget.to_string(),
            device: self.device.clone(),
            api: self.api.name().to_owned(),
            timeout: self.timeout,
            seed: self.seed,
            time: self.time,
            range: text(self.range.as_ref().map(|range| range as _)),
            partition: text(self.partition.as_ref().map(|partition| partition as _)),
            path: text(self.path.as_ref().map(|path| path as _)),
            validation: self.validation,
            isolate: self.isolate == Isolate::Yes,
            confirm: self.confirm == Confirm::Yes,
            target_env: text(compile.target_env.as_ref().map(|target| target as _)),
            define: compile.define.clone(),
            include: compile.include.clone(),
            exclude: lists.exclude.clone(),
            caselist: lists.caselist.clone(),
            skips: lists.skips.clone(),
            flakes: lists.flakes.clone(),
            baseline: lists.baseline.clone(),
            waivers: lists.waivers.clone(),
            jobs: self.jobs,
            workers: self.workers,
            memory: self.memory,
            via: via.via.iter().map(ToString::to_string).collect(),
            via_binary: via.via_binary.clone(),
            check: via.check.name().to_owned(),
        }
    }

    /// Returns the arguments with these settings, for a new result folder and the usual output.
    ///
    /// # Errors
    /// A value is invalid; the message names the option.
    pub(crate) fn from_settings(settings: RunSettings) -> Result<RunArgs, String> {
        fn parse<T: FromStr<Err: ToString>>(option: &str, text: &str) -> Result<T, String> {
            text.parse().map_err(|error: T::Err| format!("--{option} `{text}`: {}", error.to_string()))
        }
        fn optional<T: FromStr<Err: ToString>>(option: &str, text: Option<String>) -> Result<Option<T>, String> {
            text.map(|text| parse(option, &text)).transpose()
        }
        let RunSettings { exclude, caselist, skips, flakes, baseline, waivers, .. } = settings;
        Ok(RunArgs {
            filters: settings.filters,
            compile: CompileArgs {
                target_env: optional("target-env", settings.target_env)?,
                define: settings.define,
                include: settings.include,
            },
            budget: parse("budget", &settings.budget)?,
            device: settings.device,
            api: Api::from_str(&settings.api, false).map_err(|error| format!("--api `{}`: {error}", settings.api))?,
            resume: None,
            rerun_failed: None,
            out: None,
            jobs: settings.jobs,
            via: ViaArgs {
                via: settings.via.iter().map(|text| prefix_words(text)).collect::<Result<_, _>>()?,
                via_binary: settings.via_binary,
                push_binary: None,
                check: CheckPlace::from_str(&settings.check, false)
                    .map_err(|error| format!("--check `{}`: {error}", settings.check))?,
            },
            workers: settings.workers,
            isolate: if settings.isolate { Isolate::Yes } else { Isolate::No },
            confirm: if settings.confirm { Confirm::Yes } else { Confirm::No },
            max_fail: None,
            memory: settings.memory,
            timeout: settings.timeout,
            seed: settings.seed,
            time: settings.time,
            range: optional("range", settings.range)?,
            partition: optional("partition", settings.partition)?,
            lists: ListsArgs { exclude, caselist, skips, flakes, baseline, waivers },
            path: optional("path", settings.path)?,
            validation: settings.validation,
            verbose: false,
            quiet: false,
            json: false,
            dry_run: false,
        })
    }

    /// Returns the number of threads of a run, over all devices.
    pub(super) fn threads(&self) -> usize {
        self.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
    }

    /// Returns the runner's options, with or without worker processes.
    pub(super) fn run_options(&self, command: Vec<String>, started: String) -> RunOptions {
        RunOptions {
            budget: self.budget,
            seed: self.seed,
            range: self.range.clone(),
            time: self.time.map(Duration::from_secs_f64),
            partition: self.partition,
            jobs: self.threads(),
            command,
            settings: Some(self.settings()),
            started,
        }
    }

    /// Returns the settings for running suite programs on this many threads.
    pub(super) fn program_settings(&self, jobs: usize) -> ProgramSettings {
        // The validation layer's messages name the device but not the case, so only one program may
        // run at a time.
        let jobs = if self.validation { 1 } else { jobs };
        ProgramSettings { path: self.path, seed: self.seed, compile: self.compile.options(), jobs }
    }

    /// Returns the command line with these options, for display.
    pub(crate) fn command_line(&self) -> Vec<String> {
        let mut line = self.settings().command_line();
        line.extend(self.out.as_ref().map(|out| format!("--out={}", out.display())));
        line
    }
}

impl Default for RunArgs {
    /// Returns the arguments of `assay run` without options.
    fn default() -> RunArgs {
        RunArgs::from_settings(RunSettings::default()).expect("the defaults are valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses the options of a command line.
    fn parsed(line: &[&str]) -> RunArgs {
        use clap::FromArgMatches;
        let matches = RunArgs::augment_args(clap::Command::new("run")).try_get_matches_from([&["run"], line].concat());
        RunArgs::from_arg_matches(&matches.expect("valid options")).expect("valid options")
    }

    #[test]
    fn the_help_names_every_file_of_a_result_folder() {
        for name in assay_reports::result_file_names() {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }

    #[test]
    fn the_default_settings_are_those_of_the_command_line() {
        assert_eq!(parsed(&[]).settings(), RunSettings::default());
    }

    #[test]
    fn every_option_survives_as_data_and_in_the_command_line() {
        let line = [
            "precision.f32",
            "--budget=sampled",
            "--device=1",
            "--api=wgpu",
            "--jobs=3",
            "--workers=2",
            "--isolate=no",
            "--confirm=no",
            "--memory=64",
            "--timeout=2.5",
            "--seed=18446744073709551615",
            "--time=1.5",
            "--range=-inf..-0x1p-126",
            "--partition=hash:2/3",
            "--path=lowered",
            "--validation",
            "--target-env=vulkan1.2",
            "--define=A=1",
            "--define=B",
            "--include=inc",
            "--exclude=*.exp.*",
            "--caselist=c",
            "--skips=s",
            "--flakes=f",
            "--baseline=b",
            "--waivers=w",
            "--via=ssh 'a b'",
            "--via=srun -n1",
            "--via-binary=/bin/assay",
            "--check=here",
        ];
        let args = parsed(&line);
        let settings = args.settings();
        let defaults: serde_json::Value = serde_json::to_value(RunSettings::default()).unwrap();
        for (name, value) in serde_json::to_value(&settings).unwrap().as_object().unwrap() {
            assert_ne!(value, &defaults[name], "the command line sets every option");
        }
        assert_eq!(RunArgs::from_settings(settings.clone()).unwrap().settings(), settings);
        let shown = args.command_line();
        let shown: Vec<&str> = shown.iter().skip(2).map(String::as_str).collect();
        assert_eq!(parsed(&shown).settings(), settings, "{shown:?}");
        assert_eq!(shown.len(), line.len());
    }

    #[test]
    fn invalid_settings_are_refused_by_name() {
        for (settings, option) in [
            (RunSettings { budget: "huge".to_owned(), ..RunSettings::default() }, "--budget `huge`"),
            (RunSettings { api: "metal".to_owned(), ..RunSettings::default() }, "--api `metal`"),
            (RunSettings { range: Some("x".to_owned()), ..RunSettings::default() }, "--range `x`"),
        ] {
            let error = RunArgs::from_settings(settings).unwrap_err();
            assert!(error.contains(option), "{error}");
        }
    }
}
