//! Console reporter: the first failing case of each kind as it finishes, then the causes of the
//! failures, and a verdict in the last line. A verbose run prints every case and a table of all
//! instructions, too.

use crate::{
    Expectations, Outcome, Progress, Standing, Tally,
    block_output::BlockOutput,
    case_table::CaseNotes,
    cause_text,
    causes::CauseCollector,
    check_text, counted,
    end_reports::END_REPORTS,
    group_digits,
    humanize::share,
    margin, pass_limits, plural, reason_of,
    result_file::{DEVICE, PAGE, RESULTS},
    scalar_types::{describe, parse_types, result_type, value},
    seconds,
    summary_table::{self, SummaryTable, TableRow, style},
};
use anstyle::{AnsiColor, Style};
use assay_events::{
    CHECK_BUDGET, CaseResult, CheckResult, DeviceInfo, Event, Example, GrowthStep, Reporter, RunInfo, Status, Writes,
    rerun_command,
};
use std::{
    io::{self, Write},
    path::PathBuf,
    rc::Rc,
};

/// Standings in the order in which the summary lists them.
const STANDINGS: [Standing; 7] = [
    Standing::Expected,
    Standing::Waived,
    Standing::KnownFlake,
    Standing::Missing,
    Standing::Fixed,
    Standing::Flaky,
    Standing::Regression,
];

/// Largest number of shaders of a run whose checks are printed in full.
const FEW_SHADERS: u64 = 4;

/// Largest number of reasons listed for a status.
const REASONS: usize = 12;

/// Settings of the console.
#[derive(Clone, Debug, Default)]
pub struct ConsoleOptions {
    /// Print every case with its times and the checks of shaders in full, and a table of all
    /// instructions with a row for every mode.
    pub verbose: bool,
    /// Print failures and the verdict only.
    pub quiet: bool,
    /// Number of threads that check results; printed with the times.
    pub threads: usize,
    /// Result directory, named in the summary.
    pub folder: Option<PathBuf>,
    /// Number of leading results that come from an earlier run and were shown then. They are
    /// counted and not printed again.
    pub replayed: usize,
    /// Label of this run among concurrent runs; it precedes every case line.
    pub label: Option<String>,
    /// Name of the planted error, if any. Failures then do not count against the device.
    pub planted: Option<String>,
}

/// Reports a run to a person.
pub struct Console {
    out: BlockOutput,
    options: ConsoleOptions,
    run: Option<RunInfo>,
    tally: Tally,
    /// Rows of a verbose run.
    rows: SummaryTable,
    causes: CauseCollector,
    /// Set once a line of a case was printed.
    has_case_lines: bool,
}

impl Console {
    /// Returns a reporter that writes to `out` with colour escape sequences. Pass a stream that
    /// strips them if `out` is not a terminal.
    pub fn new(out: impl Write + 'static, options: ConsoleOptions) -> Console {
        Console {
            out: BlockOutput::new(out),
            options,
            run: None,
            tally: Tally::new(),
            rows: SummaryTable::default(),
            causes: CauseCollector::default(),
            has_case_lines: false,
        }
    }

    /// Suspends the progress bar on the same terminal while writing.
    #[must_use]
    pub fn with_progress(self, progress: &Progress) -> Console {
        Console { out: self.out.with_progress(progress), ..self }
    }

    /// Compares the results with a lab's expectations. Expected failures are not printed as
    /// failures.
    #[must_use]
    pub fn with_expectations(self, expectations: Rc<Expectations>) -> Console {
        Console { tally: self.tally.with_expectations(expectations), ..self }
    }

    fn started(&mut self, run: &RunInfo) {
        let device = &run.device;
        let kind = Style::new().bold();
        let on = match device.api.as_str() {
            "none" => String::new(),
            _ => format!(" ({}), driver {}, Vulkan {}", device.kind, driver(device), device.api_version),
        };
        let extent = match run.budget.as_str() {
            CHECK_BUDGET if run.cases == 1 => String::new(),
            budget => format!(" {}, budget {budget},", counted(run.cases, "case")),
        };
        let text = format!(
            "{kind}{}{kind:#}{on}\nAssay {}, rules of {},{extent} seed {}\n\n",
            device.name, run.version, run.specification, run.seed,
        );
        self.run = Some(run.clone());
        if !self.options.quiet {
            self.out.write(text.as_bytes());
        }
    }

    /// Shows a check: in full if it is the only one or fails, else as a line.
    fn finished_check(&mut self, event: &Event, check: &CheckResult) {
        let fails = !self.tally.expectations().judge_check(check).standing.is_success();
        self.causes.add_event(event, fails);
        let earlier = self.options.replayed > 0;
        self.options.replayed = self.options.replayed.saturating_sub(1);
        let is_alone = self.run.as_ref().is_none_or(|run| run.budget == CHECK_BUDGET);
        let is_few = (self.options.verbose || self.tally.planned() <= FEW_SHADERS) && !self.options.quiet;
        if is_alone || (is_few || check.status.is_failure()) && !earlier {
            self.out.write(check_text::text(check).as_bytes());
        } else if !earlier && !self.options.quiet {
            self.out.write(check_text::line(check).as_bytes());
        }
    }

    /// Returns whether the run is the check of one shader, whose text has its status and counts.
    fn is_only_check(&self) -> bool {
        let is_check = self.run.as_ref().is_some_and(|run| run.budget == CHECK_BUDGET);
        is_check && self.tally.planned() == 1 && self.tally.finished() == 1 && !self.tally.expectations().has_lists()
    }

    fn finished_case(&mut self, event: &Event, case: &CaseResult) {
        let expectations = self.tally.expectations();
        let judged = expectations.judge(case);
        let earlier = self.options.replayed > 0;
        self.options.replayed = self.options.replayed.saturating_sub(1);
        let fails = !judged.standing.is_success() && judged.standing != Standing::Missing;
        let added = self.causes.add_event(event, fails);
        // Further cases of a known kind are in the causes at the end.
        let hunted = !case.growth.is_empty() && !self.options.quiet;
        let new = fails && added.is_none_or(|added| added.is_new);
        let shown = !earlier && (self.options.verbose || hunted || new);
        let line = shown.then(|| {
            let mut line = case_line(case, &self.options, |worst| self.command(case, worst));
            if expectations.has_lists() {
                let why = judged.why.map_or_else(String::new, |why| format!(": {why}"));
                line.insert_str(line.len() - 1, &format!("  [{:?}{why}]", judged.standing));
            }
            line + &growth(&case.growth)
        });
        if self.options.verbose && case.status != Status::NotSupported {
            self.rows.add(case);
        }
        if let Some(line) = line {
            self.has_case_lines = true;
            self.out.write(line.as_bytes());
        }
    }

    fn finished_run(&mut self) -> io::Result<()> {
        let mut text = Vec::new();
        if self.options.quiet {
            let (style, verdict) = self.verdict();
            writeln!(text, "{style}{verdict}{style:#}")?;
            self.out.write(&text);
            return Ok(());
        }
        if self.has_case_lines {
            text.push(b'\n');
        }
        if !self.rows.is_empty() {
            let command = |case: &CaseResult, worst: &Example| self.command(case, worst);
            summary_table::write(&mut text, &self.rows, |out, row| expand(out, row, command))?;
            text.push(b'\n');
        }
        self.totals(&mut text)?;
        // The text of a single check says it all.
        if self.tally.rounds().is_none() || self.tally.planned() > 1 {
            cause_text::write(&mut text, &self.causes.causes().list, |name| self.rerun(name))?;
        }
        let (style, verdict) = self.verdict();
        writeln!(text, "{style}{verdict}{style:#}")?;
        self.out.write(&text);
        Ok(())
    }

    /// Returns the command that repeats a case.
    fn rerun(&self, name: &str) -> String {
        self.run.as_ref().map_or_else(String::new, |run| rerun_command(run, name))
    }

    /// Returns the command that derives the permitted set of an example; for a program, the command
    /// that repeats it.
    fn command(&self, case: &CaseResult, example: &Example) -> String {
        example.explain_command().unwrap_or_else(|| self.rerun(&case.name))
    }

    fn totals(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let tally = &self.tally;
        let statuses = tally.statuses().into_iter().map(|(status, cases)| {
            let style = style(status);
            format!("{} {style}{status:?}{style:#}", group_digits(cases))
        });
        let statuses = statuses.collect::<Vec<_>>().join(", ");
        let colon = if statuses.is_empty() { "" } else { ": " };
        if self.is_only_check() {
            // The text of the check has the rest.
            return writeln!(out, "time     {}\n", seconds(tally.wall()));
        }
        writeln!(
            out,
            "cases    {} of {}{colon}{statuses}",
            group_digits(tally.finished()),
            group_digits(tally.planned())
        )?;
        verdicts(out, tally)?;
        let of = match tally.rounds() {
            Some(rounds) => format!("in {}", counted(rounds, "round")),
            None => format!("from {}", counted(tally.inputs_tested(), "input")),
        };
        let of = match tally.constant_inputs() {
            0 => of,
            constants => format!("{of} ({} of them as constants in shaders)", group_digits(constants)),
        };
        writeln!(
            out,
            "results  {} checked {of}; {} not checked: unspecified or undetermined",
            group_digits(tally.scalars_checked()),
            group_digits(tally.scalars_unchecked())
        )?;
        for status in [Status::NotSupported, Status::Undetermined] {
            reasons(out, tally, status)?;
        }
        let times = tally.times();
        writeln!(
            out,
            "time     {}; summed over cases: {}build {}, device {}, check {} on {}, overlap {}{}",
            seconds(tally.wall()),
            if times.search >= check_text::LONG {
                format!("search {}, ", seconds(times.search))
            } else {
                String::new()
            },
            seconds(times.build),
            seconds(times.device),
            seconds(times.check),
            threads(self.options.threads),
            seconds(times.overlap),
            rate(tally.scalars_checked(), times.check)
        )?;
        if tally.expectations().has_lists() {
            let standings = STANDINGS.iter().map(|&standing| (standing, tally.standing(standing)));
            let standings = standings.filter(|&(_, cases)| cases > 0);
            let standings: Vec<_> =
                standings.map(|(standing, cases)| format!("{} {standing:?}", group_digits(cases))).collect();
            writeln!(out, "lists    {}", standings.join(", "))?;
        }
        let expectations = tally.expectations();
        if !expectations.skipped().is_empty() {
            let mut failures = expectations.skipped_failures();
            let first = failures.next();
            let failures = first.map(|first| match failures.count() {
                0 => format!("; the baseline expects {first} to fail"),
                more => format!("; the baseline expects {first} and {} more of them to fail", group_digits(more)),
            });
            let skipped = counted(expectations.skipped().len(), "case");
            writeln!(out, "skipped  {skipped} on the list of skips{}", failures.unwrap_or_default())?;
        }
        for waiver in tally.useless_waivers() {
            writeln!(out, "waiver   {waiver}")?;
        }
        if let Some(folder) = &self.options.folder {
            let reports = END_REPORTS.map(|report| report.name).join(", ");
            writeln!(out, "written  {}: {PAGE}, {RESULTS}, {reports}, {DEVICE}", folder.display())?;
        }
        writeln!(out)
    }

    /// Returns the verdict, the last line.
    fn verdict(&self) -> (Style, String) {
        let tally = &self.tally;
        let self_test = self.run.as_ref().is_some_and(|run| run.device.api == "none");
        let (device, specification) = match &self.run {
            Some(run) if self_test => ("self-test, no driver involved".to_owned(), run.specification.as_str()),
            Some(run) => (format!("{}, {}", run.device.name, driver(&run.device)), run.specification.as_str()),
            None => ("no device".to_owned(), "Vulkan"),
        };
        let (judged, failed) = (tally.judged(), tally.failed());
        let planted = self.options.planted.as_deref();
        let accused = planted
            .map_or_else(String::new, |planted| format!(", but {planted} was planted: the device is not at fault"));
        let despite = planted.map_or_else(String::new, |planted| format!(", although {planted} was planted"));
        // An interrupted run gets no verdict. Its line lists the failures found so far.
        let (fail, stopped) = match (tally.finished() < tally.planned(), tally.interrupted()) {
            (_, true) => {
                let planned = counted(tally.planned(), "case");
                ("INTERRUPTED", format!(" Interrupted after {} of {planned}.", group_digits(tally.finished())))
            }
            (true, false) => {
                let planned = counted(tally.planned(), "case");
                ("FAIL", format!(" Only {} of {planned} finished.", group_digits(tally.finished())))
            }
            (false, false) => ("FAIL", String::new()),
        };
        match tally.outcome() {
            Outcome::Failures if tally.expectations().has_lists() => {
                let of = |standing| tally.standing(standing);
                let (worse, better) = (of(Standing::Regression) + of(Standing::Flaky), of(Standing::Fixed));
                let mut parts = Vec::new();
                if worse > 0 {
                    parts.push(format!("{} {} not as expected", counted(worse, "case"), plural(worse, "is", "are")));
                }
                if better > 0 {
                    let (verb, its) = (plural(better, "does", "do"), plural(better, "its line", "their lines"));
                    parts.push(format!(
                        "{} {verb} better than the baseline expects; update {its} in the baseline \
                         (UnexpectedImprovement in failures.csv)",
                        counted(better, "case")
                    ));
                }
                let red = AnsiColor::Red.on_default().bold();
                (red, format!("{fail}: {device}: {}.{stopped}", parts.join("; ")))
            }
            Outcome::Failures => {
                let unexpected = tally.failed_by_case_file();
                let wrong = tally.with_status(Status::Fail) - unexpected;
                let other = failed - wrong - unexpected;
                let mut parts = Vec::new();
                let of_judged = |cases| format!("{} of {}", group_digits(cases), counted(judged, "checked case"));
                if unexpected > 0 {
                    let (of, verb) = (of_judged(unexpected), plural(unexpected, "returns", "return"));
                    parts.push(format!(
                        "{of} {verb} results that the case file does not expect, although {specification} permits them"
                    ));
                }
                if wrong > 0 && self_test {
                    let of = of_judged(wrong);
                    parts.push(format!("the interpreter disagrees with the independent reference in {of}"));
                } else if wrong > 0 {
                    let (of, verb) = (of_judged(wrong), plural(wrong, "returns", "return"));
                    parts.push(format!("{of} {verb} results that {specification} does not permit"));
                }
                if other > 0 {
                    parts.push(format!("{} ended without a verdict", counted(other, "case")));
                }
                let red = AnsiColor::Red.on_default().bold();
                (red, format!("{fail}: {device}: {}{accused}.{stopped}", parts.join("; ")))
            }
            Outcome::Incomplete => {
                let yellow = AnsiColor::Yellow.on_default().bold();
                let so_far = format!("nothing failed in {}", counted(judged, "checked case"));
                let word = if tally.interrupted() { fail } else { "INCOMPLETE" };
                (yellow, format!("{word}: {device}: {so_far}.{stopped}"))
            }
            Outcome::EmptyPart => {
                let part = tally.part().map(|part| (part.of.join(", "), counted(part.cases, "case")));
                let (of, cases) = part.unwrap_or_default();
                (Style::new().bold(), format!("EMPTY: {device}: none of {cases} falls into {of}."))
            }
            Outcome::NothingChecked => {
                let yellow = AnsiColor::Yellow.on_default().bold();
                let none = match tally.finished() {
                    1 => "the only case could not be checked".to_owned(),
                    cases => format!("none of {} could be checked", counted(cases, "case")),
                };
                (yellow, format!("NOTHING CHECKED: {device}: {none}; this is not a pass."))
            }
            Outcome::Pass => {
                let warnings = match tally.with_status(Status::QualityWarning) {
                    0 => String::new(),
                    n => format!(", {} of them with a QualityWarning", group_digits(n)),
                };
                let part = match tally.sampled() {
                    0 => "",
                    _ => " in the checked subset of the invocations",
                };
                let (lowered, reference) = (tally.by_path("lowered"), tally.by_path("reference"));
                // Cases that ran on the driver and passed.
                let passed = (tally.with_status(Status::Pass) + tally.with_status(Status::QualityWarning))
                    .saturating_sub(reference);
                let core = "lowered to core SPIR-V, which does not test native support";
                let lowered = match lowered {
                    0 => String::new(),
                    n if n == passed => format!(", {core}"),
                    n => format!(", {} of them {core}", group_digits(n)),
                };
                let expected = tally.standing(Standing::Waived) + tally.standing(Standing::KnownFlake);
                let by = if expected > 0 { "the lab's lists expect" } else { "the baseline expects" };
                let other = match failed {
                    0 => String::new(),
                    n => format!("; {} {} as {by}", counted(n, "case"), plural(n, "fails", "fail")),
                };
                let limits = pass_limits(tally.says_little().len() as u64, tally.with_status(Status::Undetermined));
                let conforms = (passed > 0 || reference == 0).then(|| {
                    let cases = counted(passed, "checked case");
                    // A shader of the user may do what its author did not intend.
                    let what = match tally.rounds() {
                        Some(_) => format!("{cases} gave results that {specification} permits"),
                        None => format!("{cases} {} to {specification}", plural(passed, "conforms", "conform")),
                    };
                    format!("{what}{part}{warnings}{lowered}")
                });
                let agrees = (reference > 0).then(|| {
                    let test = if self_test { "" } else { "without the driver, " };
                    let cases = counted(reference, "case");
                    format!("{test}the interpreter agrees with the independent reference in {cases}")
                });
                let passes = [conforms, agrees].into_iter().flatten().collect::<Vec<_>>().join("; ");
                let green = AnsiColor::Green.on_default().bold();
                (green, format!("PASS: {device}: {passes}{other}{despite}{limits}."))
            }
        }
    }
}

impl Reporter for Console {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.tally.event(event)?;
        match event {
            Event::RunStarted(run) => self.started(run),
            Event::CaseFinished(case) => self.finished_case(event, case),
            Event::CheckFinished(check) => self.finished_check(event, check),
            Event::RunFinished { .. } => self.finished_run()?,
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => {}
        }
        Ok(())
    }
}

fn driver(device: &DeviceInfo) -> String {
    format!("{} {}", device.driver_name, device.driver_info).trim().to_owned()
}

fn threads(n: usize) -> String {
    counted(n.max(1), "core")
}

fn rate(scalars: u64, check: f64) -> String {
    if check <= 0.0 || scalars == 0 {
        return String::new();
    }
    let rate = scalars as f64 / check;
    let (value, unit) = match rate {
        1e6.. => (rate / 1e6, "M "),
        1e3.. => (rate / 1e3, "k "),
        _ => (rate, ""),
    };
    format!(", {value:.1} {unit}results/s per core")
}

/// Formats one finished case as a line. `command` returns the command for its worst result.
fn case_line(case: &CaseResult, options: &ConsoleOptions, command: impl Fn(&Example) -> String) -> String {
    let style = style(case.status);
    let which = options.label.as_ref().map_or_else(String::new, |which| format!("{which}: "));
    let mut line = format!("{which}{style}{:<14}{style:#} {}", format!("{:?}", case.status), case.name);
    if case.inputs_tested > 0 {
        let possible = case.inputs_possible.parse().map(|p: crate::InputCount| p.to_string());
        let possible = possible.unwrap_or_else(|_| case.inputs_possible.clone());
        line += &match case.failing_inputs {
            0 => format!("  {} of {possible} inputs", group_digits(case.inputs_tested)),
            n => {
                let verb = plural(n, "fails", "fail");
                format!("  {} of {} {verb}", group_digits(n), counted(case.inputs_tested, "input"))
            }
        };
    }
    if let Some(path) = CaseNotes::of(None, &case.path, Some(case.status)).path {
        line += &format!("  {path}");
    }
    let (_, operands) = parse_types(&case.types);
    if let Some(worst) = &case.worst
        && let Some(value) = worst.margin
    {
        line += &format!("  margin {} at {}", margin(value), describe(&worst.operands, &operands));
    }
    // Wrong results are printed in full after the table.
    let wrong = case.status == Status::Fail && case.failing_inputs > 0;
    if case.status != Status::Pass && !wrong {
        line += &format!("  {}", reason_of(case));
    }
    if case.status == Status::QualityWarning
        && let Some(worst) = &case.worst
    {
        line += &format!("; see {}", command(worst));
    }
    if options.verbose && case.inputs_tested > 0 {
        let times = case.times;
        line += &format!(
            "  [{}: build {}, device {}, check {} on {}, overlap {}{}]",
            seconds(times.wall),
            seconds(times.build),
            seconds(times.device),
            seconds(times.check),
            threads(options.threads),
            seconds(times.overlap),
            rate(case.scalars_checked, times.check)
        );
    }
    line.push('\n');
    line
}

/// Returns a line with the growth of the greatest margin during a search: its first steps and the
/// last one.
fn growth(steps: &[GrowthStep]) -> String {
    const SHOWN: usize = 6;
    let Some((last, earlier)) = steps.split_last() else { return String::new() };
    let step = |step: &GrowthStep| {
        let margin = step.margin.map_or_else(String::new, margin);
        format!("{margin} after {}", group_digits(step.inputs))
    };
    let mut shown: Vec<String> = earlier.iter().take(SHOWN - 1).map(step).collect();
    if earlier.len() >= SHOWN {
        shown.push("..".to_owned());
    }
    shown.push(step(last));
    format!("                 greatest margin {} inputs\n", shown.join(", "))
}

/// Prints the failing cases of a table row in full. `command` returns the command for an example.
fn expand(out: &mut dyn Write, row: &TableRow, command: impl Fn(&CaseResult, &Example) -> String) -> io::Result<()> {
    for case in &row.failures {
        let style = style(case.status);
        writeln!(out, "    {style}{}{style:#}  {}", case.name, reason_of(case))?;
        let classes = case.classes.iter().map(|c| format!("{} {}", group_digits(c.count), c.class));
        let classes = classes.collect::<Vec<_>>().join(", ");
        if case.failing_inputs > 0 {
            let share = share(case.failing_inputs, case.inputs_tested);
            let tested = counted(case.inputs_tested, "input");
            writeln!(out, "      {} of {tested} ({share}): {classes}", group_digits(case.failing_inputs))?;
        }
        if let Some(worst) = &case.worst {
            write_example(out, case, worst)?;
            writeln!(out, "        see       {}", command(case, worst))?;
        }
    }
    match row.cases() - row.failures.len() as u64 {
        0 => Ok(()),
        more => writeln!(out, "    and {} more, listed in failures.csv", group_digits(more)),
    }
}

fn write_example(out: &mut dyn Write, case: &CaseResult, worst: &Example) -> io::Result<()> {
    let (results, operands) = parse_types(&case.types);
    let slot = result_type(worst, &case.types);
    let whole = |text: &str| value(slot, text);
    let place = if results.len() > 1 { format!(", component {}", worst.slot) } else { String::new() };
    writeln!(out, "      worst at {}{place}", describe(&worst.operands, &operands))?;
    writeln!(out, "        got       {}", whole(&worst.got))?;
    for (i, [lo, hi]) in worst.permitted.iter().enumerate() {
        let label = if i == 0 { "permitted" } else { "      and" };
        let range = if lo == hi { whole(lo) } else { format!("{} .. {}", whole(lo), whole(hi)) };
        writeln!(out, "        {label} {range}")?;
    }
    if let Some(value) = worst.margin {
        writeln!(out, "        margin    {} (error over bound; 1 is the limit)", margin(value))?;
    }
    Ok(())
}

/// Writes how many verdicts say enough about the shader, and lists the checks of the others.
fn verdicts(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let (verdicts, little) = (tally.verdicts(), tally.says_little());
    if verdicts < 2 {
        return Ok(());
    }
    writeln!(
        out,
        "verdicts {} of {} say enough: they rest on {} % of the elements that the shader may write, or more, with \
         varied values, and on half of its instructions, and would show an error in half of its computations; or half \
         of its computations were checked one by one",
        group_digits(verdicts - little.len() as u64),
        group_digits(verdicts),
        100 / Writes::MEANINGFUL
    )?;
    for name in little.iter().take(REASONS) {
        writeln!(out, "  little   {name}")?;
    }
    match little.len().saturating_sub(REASONS) {
        0 => Ok(()),
        more => writeln!(out, "  little   {} more, which results.jsonl lists", group_digits(more as u64)),
    }
}

/// Lists the reasons for a status, most frequent first.
fn reasons(out: &mut dyn Write, tally: &Tally, status: Status) -> io::Result<()> {
    let list = tally.reasons(status);
    let style = style(status);
    if !list.is_empty() {
        writeln!(out, "{style}{status:?}{style:#}")?;
    }
    for (reason, cases) in list.iter().take(REASONS) {
        writeln!(out, "  {:>7}  {reason}", group_digits(*cases))?;
    }
    if let Some(rest) = list.get(REASONS..).filter(|rest| !rest.is_empty()) {
        let cases: u64 = rest.iter().map(|&(_, cases)| cases).sum();
        writeln!(
            out,
            "  {:>7}  for {}, all in results.jsonl",
            group_digits(cases),
            counted(rest.len(), "other reason")
        )?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
