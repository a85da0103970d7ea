use super::*;
use crate::test_events::{SharedOutput, case, console_text, run};
use assay_events::{ClassCount, Mismatch, class_names};
use std::rc::Rc;

fn named(name: &str, modes: &str, status: Status) -> CaseResult {
    CaseResult { modes: modes.to_owned(), ..case(name, status) }
}

#[test]
fn a_run_ends_with_the_causes_of_its_failures() {
    let fail = |shape: &str| named(&format!("precision.f32.exp2.{shape}.RTE.buffer"), "RoundingModeRTE", Status::Fail);
    let text = console_text(
        &[
            CaseResult { types: "vec2<f32> <- vec2<f32>".to_owned(), ..fail("vec2") },
            fail("scalar"),
            named("precision.f32.exp2.scalar.default.buffer", "default", Status::Pass),
            CaseResult {
                source: "constant".to_owned(),
                ..named("precision.f32.exp2.scalar.default.constant", "default", Status::Pass)
            },
            named("precision.f32.exp2.scalar.DenormPreserve.buffer", "DenormPreserve", Status::NotSupported),
        ],
        false,
        false,
    );
    let expected = "\
test device (cpu), driver testpipe Mesa 22.3.6, Vulkan 1.3.230
Assay 0.1.0, rules of Vulkan 1.4.360, 5 cases, budget quick, seed 0

Fail           precision.f32.exp2.vec2.RTE.buffer  12 of 65,536 inputs fail  margin 3.21 at 0x3f9d70a4 = 1.23

cases    5 of 5: 1 NotSupported, 2 Pass, 2 Fail
results  260,000 checked from 262,144 inputs (65,536 of them as constants in shaders); 2,144 not checked: unspecified or undetermined
NotSupported
        1  shaderDenormPreserveFloat32 is false
time     12.0 s; summed over cases: build 0.50 s, device 4.5 s, check 6.5 s on 2 cores, overlap 0.75 s, 40.0 k results/s per core
written  out: report.html, results.jsonl, causes.json, results.csv, failures.csv, junit.xml, device.json

causes of the failures
Exp2: moderate operands, FewUlp, 2 of 4 cases, f32
    24 of 130,000 results (0.02 %), margin up to 3.21; RoundingModeRTE, operands from a buffer
    precision.f32.exp2.scalar.RTE.buffer
      at 0x3f9d70a4 = 1.23: got 0x40161f99 = 2.3456786 = 0x1.2c3f32p+1, permitted 0x40161f70 = 2.3456688 = 0x1.2c3eep+1 .. 0x40161f7c = 2.3456717 = 0x1.2c3ef8p+1
      assay explain Exp2 --format f32 --shape scalar --in 0x3f9d70a4 --got 0x40161f99

FAIL: test device, testpipe Mesa 22.3.6: 2 of 4 checked cases return results that Vulkan 1.4.360 does not permit.
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn verbose_shows_every_case_with_its_times_and_a_row_for_every_mode() {
    let text = console_text(&[named("p.a", "default", Status::Pass), named("p.b", "NSZ", Status::Pass)], true, false);
    let line = "Pass           p.a  65,536 of 2^32 inputs  margin 0.873 at 0x3f9d70a4 = 1.23  \
                [1.5 s: build 0.10 s, device 0.90 s, check 1.3 s on 2 cores, overlap 0.15 s, 50.0 k results/s per core]\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("Exp2         f32    NSZ "), "{text}");
    assert!(text.ends_with("PASS: test device, testpipe Mesa 22.3.6: 2 checked cases conform to Vulkan 1.4.360.\n"));
}

#[test]
fn the_last_line_is_the_verdict() {
    let last = |statuses: &[Status], interrupted| {
        let cases: Vec<_> = statuses.iter().enumerate().map(|(i, &s)| named(&format!("p.{i}"), "default", s)).collect();
        console_text(&cases, false, interrupted).lines().last().unwrap().to_owned()
    };
    assert!(last(&[Status::NotSupported], false).starts_with("NOTHING CHECKED: "));
    assert!(last(&[], false).starts_with("NOTHING CHECKED: "));
    assert!(
        last(&[Status::QualityWarning], false).contains("PASS")
            && last(&[Status::QualityWarning], false).contains("with a QualityWarning")
    );
    let by = |path: &str| {
        let one = CaseResult { path: path.to_owned(), ..named("p.path", "default", Status::Pass) };
        console_text(&[one, named("p.native", "default", Status::Pass)], false, false)
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    assert!(by("lowered").ends_with(
        "2 checked cases conform to Vulkan 1.4.360, 1 of them lowered to core SPIR-V, which does not test native support."
    ));
    assert!(by("reference").ends_with(
        "1 checked case conforms to Vulkan 1.4.360; without the driver, the interpreter agrees with the independent \
         reference in 1 case."
    ));
    let stopped = last(&[Status::Pass], true);
    assert!(stopped.starts_with("INTERRUPTED: ") && stopped.ends_with("Interrupted after 1 of 2 cases."), "{stopped}");
    // Failures before an interruption are reported, without a verdict on the run.
    let failed = last(&[Status::Pass, Status::Crash], true);
    assert!(failed.starts_with("INTERRUPTED: "), "{failed}");
    assert!(failed.ends_with("1 case ended without a verdict. Interrupted after 2 of 3 cases."), "{failed}");
    let crash = last(&[Status::Crash, Status::Pass], false);
    assert!(crash.contains("FAIL: ") && crash.ends_with("1 case ended without a verdict."), "{crash}");
    // A crash is not a checked case.
    let both = last(&[Status::Crash, Status::Fail, Status::Pass], false);
    assert!(both.contains(": 1 of 2 checked cases returns results") && both.ends_with("without a verdict."), "{both}");
}

#[test]
fn possible_inputs_count_cases_from_buffers() {
    let of = |source: &str, tested: u64| CaseResult {
        source: source.to_owned(),
        inputs_tested: tested,
        inputs_possible: "4294967296".to_owned(),
        ..case("p.a", Status::Pass)
    };
    let row = |cases: &[CaseResult]| {
        let text = console_text(cases, true, false);
        text.lines().find(|line| line.starts_with("Exp2")).unwrap().to_owned()
    };
    let all = row(&[of("buffer", 1 << 32), of("constant", 64), of("buffer", 1 << 32)]);
    assert!(all.contains("  3  8,589,934,592  all 2 x 2^32  Pass"), "{all}");
    assert!(row(&[of("buffer", 1 << 32), of("specconstant", 64)]).contains("  2  4,294,967,296  all 2^32"));
    assert!(row(&[of("buffer", 1 << 32), of("buffer", 64)]).contains("  2  4,294,967,360  2 x 2^32"));
    // A row with constant operands only shows their inputs.
    assert!(row(&[of("constant", 64)]).contains("             64  2^32"));
}

#[test]
fn a_timeout_shows_its_reason_and_the_inputs_checked() {
    let reason = Some("the device did not finish within 3s".to_owned());
    let text = console_text(&[CaseResult { reason, inputs_tested: 512, ..case("p.a", Status::Timeout) }], false, false);
    let line = text.lines().find(|line| line.starts_with("Timeout")).unwrap();
    assert!(line.contains("of 2^32 inputs") && line.ends_with("  the device did not finish within 3s"), "{line}");
}

#[test]
fn a_skipped_case_that_the_baseline_expects_to_fail_fails_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("baseline.csv");
    std::fs::write(&list, "p.left,Fail\n").unwrap();
    let baseline = crate::deqp::Baseline::read(&list).unwrap();
    let expectations = Expectations::new(Some(baseline), crate::deqp::Patterns::empty(), crate::Waivers::default());
    let skipped = vec!["p.left".to_owned(), "p.other".to_owned()];
    let planned = Rc::new(["p.a"].iter().collect());
    let out = SharedOutput::default();
    let console = Console::new(anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>), Default::default());
    let mut console = console.with_expectations(Rc::new(expectations.for_run(planned, skipped)));
    console.event(&Event::RunStarted(Box::new(run(1)))).unwrap();
    console.event(&Event::CaseFinished(Box::new(case("p.a", Status::Pass)))).unwrap();
    console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
    assert_eq!(console.tally.outcome(), Outcome::Failures);
    let text = String::from_utf8(out.0.borrow().clone()).unwrap();
    assert!(text.contains("skipped  2 cases on the list of skips; the baseline expects p.left to fail\n"), "{text}");
    assert!(text.contains("lists    1 Expected, 1 Fixed\n"), "{text}");
    assert!(
        text.contains("FAIL: test device, testpipe Mesa 22.3.6: 1 case does better than the baseline expects"),
        "{text}"
    );
}

#[test]
fn a_part_without_cases_is_not_a_failure() {
    let part = assay_events::RunPart { of: vec!["hash:1/3".to_owned()], cases: 5, selection: String::new() };
    let out = SharedOutput::default();
    let mut console =
        Console::new(anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>), Default::default());
    console.event(&Event::RunStarted(Box::new(RunInfo { part: Some(part), ..run(0) }))).unwrap();
    console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
    assert_eq!(console.tally.outcome(), Outcome::EmptyPart);
    let text = String::from_utf8(out.0.borrow().clone()).unwrap();
    assert!(text.trim_end().ends_with("none of 5 cases falls into hash:1/3."), "{text}");
}

#[test]
fn a_run_without_a_device_describes_no_device() {
    let out = SharedOutput::default();
    let mut console =
        Console::new(anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>), Default::default());
    let mut info = run(1);
    (info.device.api, info.device.name) = ("none".to_owned(), "no device: the oracle alone".to_owned());
    console.event(&Event::RunStarted(Box::new(info))).unwrap();
    let reference = CaseResult { path: "reference".to_owned(), ..case("p.a", Status::Pass) };
    console.event(&Event::CaseFinished(Box::new(reference))).unwrap();
    console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
    let text = String::from_utf8(out.0.borrow().clone()).unwrap();
    assert!(text.starts_with("no device: the oracle alone\n"), "{text}");
    let verdict =
        "PASS: self-test, no driver involved: the interpreter agrees with the independent reference in 1 case.";
    assert!(text.trim_end().ends_with(verdict), "{text}");
}

#[test]
fn a_thousand_failures_stay_readable() {
    let cases: Vec<_> = (0..1_000).map(|i| named(&format!("p.{i}"), "default", Status::Fail)).collect();
    let text = console_text(&cases, false, false);
    assert!(text.contains("Exp2 (p): moderate operands, FewUlp, all 1,000 cases, f32\n"), "{text}");
    assert!(text.lines().count() < 20, "{text}");
    let text = console_text(&cases, true, false);
    assert!(text.contains("    and 992 more, listed in failures.csv\n"), "{text}");
    let of_own = |i: usize| CaseResult { instruction: format!("Op{i:03}"), ..cases[i].clone() };
    let text = console_text(&(0..100).map(of_own).collect::<Vec<_>>(), false, false);
    assert!(text.contains("and 60 more causes, in causes.json\n"), "{text}");
}

#[test]
fn a_closed_output_does_not_stop_the_run() {
    struct ClosedOutput;
    impl Write for ClosedOutput {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut console = Console::new(ClosedOutput, ConsoleOptions::default());
    console.event(&Event::RunStarted(Box::new(run(1)))).unwrap();
    console.event(&Event::CaseFinished(Box::new(case("p.a", Status::Fail)))).unwrap();
}

/// A failure with a planted error does not count against the device.
#[test]
fn the_verdict_names_a_planted_error() {
    let ended = |status| {
        let out = SharedOutput::default();
        let stream = anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>);
        let options = ConsoleOptions { planted: Some("off-by-one@last".to_owned()), ..ConsoleOptions::default() };
        let mut console = Console::new(stream, options);
        console.event(&Event::RunStarted(Box::new(run(1)))).unwrap();
        console.event(&Event::CheckFinished(Box::new(crate::test_events::check(status)))).unwrap();
        console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
        let bytes = out.0.borrow().clone();
        String::from_utf8(bytes).unwrap()
    };
    let (fails, passes) = (ended(Status::Fail), ended(Status::Pass));
    let blameless = "permit, but off-by-one@last was planted: the device is not at fault.\n";
    assert!(fails.ends_with(blameless), "{fails}");
    // It does not say how many elements the shader wrote.
    let thin =
        "that Vulkan 1.4.360 permits, although off-by-one@last was planted; 1 verdict says little about its shader.\n";
    assert!(passes.ends_with(thin), "{passes}");
}

/// A shader that did not compile must not be taken for one that passed.
#[test]
fn a_pass_counts_the_cases_that_could_not_be_checked() {
    let out = SharedOutput::default();
    let stream = anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>);
    let mut console = Console::new(stream, ConsoleOptions { threads: 2, ..ConsoleOptions::default() });
    console.event(&Event::RunStarted(Box::new(run(3)))).unwrap();
    for status in [Status::Pass, Status::Undetermined, Status::Undetermined] {
        console.event(&Event::CheckFinished(Box::new(crate::test_events::check(status)))).unwrap();
    }
    console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
    let text = String::from_utf8(out.0.borrow().clone()).unwrap();
    assert!(text.ends_with("; 2 cases could not be checked.\n"), "{text}");
}

/// A failure of a case file's own expectation is not reported as a violation of the specification.
#[test]
fn a_case_files_expectation_is_not_reported_as_the_specifications() {
    let ended = |by: &[&str]| {
        let out = SharedOutput::default();
        let stream = anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>);
        let mut console = Console::new(stream, ConsoleOptions { threads: 2, ..ConsoleOptions::default() });
        let mut check = crate::test_events::check(Status::Fail);
        let mismatch = |by: &&str| {
            // A result that only the lenient reading permits also has `by: specification`.
            let (by, status) =
                by.strip_prefix("lenient ").map_or((*by, Status::Fail), |by| (by, Status::QualityWarning));
            let class = if by == "case" { class_names::EXPECTATION } else { "FewUlp" };
            Mismatch { by: by.into(), status, class: class.into(), ..check.mismatches[0].clone() }
        };
        check.mismatches = by.iter().map(mismatch).collect();
        let one = |m: &Mismatch| ClassCount {
            status: m.status,
            class: m.class.clone(),
            count: 1,
            examples: vec![m.example()],
            regions: Vec::new(),
        };
        check.classes = check.mismatches.iter().map(one).collect();
        console.event(&Event::RunStarted(Box::new(run(1)))).unwrap();
        console.event(&Event::CheckFinished(Box::new(check))).unwrap();
        console.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
        let bytes = out.0.borrow().clone();
        String::from_utf8(bytes).unwrap()
    };
    let both = ended(&["case", "specification"]);
    for own in [ended(&["case"]), ended(&["lenient specification", "case"])] {
        assert!(
            own.contains("returns results that the case file does not expect") && !own.contains("does not permit"),
            "{own}"
        );
        assert!(own.contains("2 expectations not met"), "{own}");
    }
    let verdict = both.lines().last().unwrap();
    assert!(verdict.contains("does not permit") && !verdict.contains("case file"), "{both}");
}

#[test]
fn non_native_cases_name_their_path_and_an_empty_run_lists_no_statuses() {
    let lowered = CaseResult { path: "lowered".to_owned(), ..case("tile.a", Status::Pass) };
    let text = console_text(&[lowered, case("p.b", Status::Pass)], true, false);
    assert!(text.contains("tile.a  65,536 of 2^32 inputs  lowered  margin"), "{text}");
    assert!(text.contains("p.b  65,536 of 2^32 inputs  margin"), "{text}");
    assert!(console_text(&[], false, true).contains("cases    0 of 1\n"));
}

/// Elements of a program have their own types, independent of the types of the case.
#[test]
fn floats_of_a_program_are_shown_in_decimal() {
    let mut one = CaseResult { types: "64 invocations".to_owned(), ..case("compute.a", Status::Fail) };
    one.classes[0].regions.clear();
    one.classes[0].examples[0].scalar = Some("f32".to_owned());
    let text = console_text(&[one], false, false);
    assert!(text.contains("got 0x40161f99 = 2.3456"), "{text}");
}
