use super::*;
use crate::testing::{case, run};
use std::{cell::RefCell, rc::Rc};

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn shown(cases: &[CaseResult], verbose: bool, interrupted: bool) -> String {
    let out = Shared::default();
    let options = ConsoleOptions { verbose, threads: 2, folder: Some("out".into()), ..ConsoleOptions::default() };
    let mut console = Console::new(anstream::StripStream::new(Box::new(out.clone()) as Box<dyn Write>), options);
    console.event(&Event::RunStarted(Box::new(run(cases.len() + usize::from(interrupted))))).unwrap();
    for case in cases {
        console.event(&Event::CaseFinished(Box::new(case.clone()))).unwrap();
    }
    console.event(&Event::RunFinished { interrupted, wall: 12.0 }).unwrap();
    let bytes = out.0.borrow().clone();
    String::from_utf8(bytes).unwrap()
}

fn named(name: &str, modes: &str, status: Status) -> CaseResult {
    CaseResult { modes: modes.to_owned(), ..case(name, status) }
}

#[test]
fn cases_that_agree_share_a_row_and_failures_come_last_and_whole() {
    let fail = named("precision.f32.exp2.vec2.RoundingModeRTE.buffer", "RoundingModeRTE", Status::Fail);
    let text = shown(
        &[
            fail,
            named("precision.f32.exp2.scalar.default.buffer", "default", Status::Pass),
            named("precision.f32.exp2.scalar.default.constant", "default", Status::Pass),
            named("precision.f32.exp2.scalar.NSZ.buffer", "NSZ", Status::Pass),
            named("precision.f32.exp2.scalar.DenormPreserve.buffer", "DenormPreserve", Status::NotSupported),
        ],
        false,
        false,
    );
    let expected = "\
test device (cpu), driver testpipe Mesa 22.3.6, Vulkan 1.3.230
Assay 0.1.0, rules of Vulkan 1.4.360, 5 cases, budget quick, seed 0

Fail           precision.f32.exp2.vec2.RoundingModeRTE.buffer  12 of 65,536 inputs fail  margin 3.21 at 0x3f9d70a4 = 1.23

instruction  width  modes            cases  inputs tested  of possible  verdict  failing  worst margin  at
Exp2         f32    default +1           3        196,608  2^32         Pass           -         0.873  0x3f9d70a4 = 1.23
Exp2         f32    RoundingModeRTE      1         65,536  2^32         Fail          12          3.21  0x3f9d70a4 = 1.23
    precision.f32.exp2.vec2.RoundingModeRTE.buffer  12 inputs outside the permitted set
      12 of 65,536 inputs (0.02 %): 12 FewUlp
      worst at 0x3f9d70a4 = 1.23
        got       0x40161f99 = 2.3456786 = 0x1.2c3f32p+1
        permitted 0x40161f70 = 2.3456688 = 0x1.2c3eep+1 .. 0x40161f7c = 2.3456717 = 0x1.2c3ef8p+1
        margin    3.21 (error over bound; 1 is the limit)
        see       assay explain Exp2 --format f32 --in 0x3f9d70a4 --got 0x40161f99

cases    5 of 5: 1 NotSupported, 3 Pass, 1 Fail
results  260,000 checked from 262,144 inputs; 2,144 not checked, as nothing is required of them
NotSupported
        1  shaderDenormPreserveFloat32 is false
time     12.0 s; added up over cases: build 0.50 s, device 4.5 s, check 6.5 s on 2 cores, overlap 0.75 s, 40.0 k results/s per core
written  out: results.jsonl, results.csv, failures.csv, junit.xml, device.json

FAIL: test device, testpipe Mesa 22.3.6: 1 of 4 checked cases returns results that Vulkan 1.4.360 does not permit.
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn verbose_shows_every_case_with_its_times_and_a_row_for_every_mode() {
    let text = shown(&[named("p.a", "default", Status::Pass), named("p.b", "NSZ", Status::Pass)], true, false);
    let line = "Pass           p.a  65,536 of 2^32 inputs  margin 0.873 at 0x3f9d70a4 = 1.23  \
                [1.5 s: build 0.10 s, device 0.90 s, check 1.3 s on 2 cores, overlap 0.15 s, 50.0 k results/s per core]\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("Exp2         f32    NSZ"), "{text}");
    assert!(text.ends_with("PASS: test device, testpipe Mesa 22.3.6: 2 checked cases are within Vulkan 1.4.360.\n"));
}

#[test]
fn the_last_line_says_what_the_run_came_to() {
    let last = |statuses: &[Status], interrupted| {
        let cases: Vec<_> = statuses.iter().enumerate().map(|(i, &s)| named(&format!("p.{i}"), "default", s)).collect();
        shown(&cases, false, interrupted).lines().last().unwrap().to_owned()
    };
    assert!(last(&[Status::NotSupported], false).starts_with("NOTHING CHECKED: "));
    assert!(last(&[], false).starts_with("NOTHING CHECKED: "));
    assert!(
        last(&[Status::QualityWarning], false).contains("PASS")
            && last(&[Status::QualityWarning], false).contains("lenient")
    );
    let stopped = last(&[Status::Pass], true);
    assert!(stopped.starts_with("INCOMPLETE: ") && stopped.ends_with("Interrupted after 1 of 2 cases."), "{stopped}");
    let crash = last(&[Status::Crash, Status::Pass], false);
    assert!(crash.contains("FAIL: ") && crash.ends_with("1 case ends without a verdict."), "{crash}");
}

#[test]
fn a_thousand_failures_stay_readable() {
    let cases: Vec<_> = (0..1_000).map(|i| named(&format!("p.{i}"), "default", Status::Fail)).collect();
    let text = shown(&cases, false, false);
    assert!(text.contains("    and 992 more, listed in failures.csv\n"), "{text}");
    assert!(text.lines().count() < 1_000 + 100);
}

#[test]
fn a_reader_that_has_gone_does_not_stop_the_run() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut console = Console::new(Gone, ConsoleOptions::default());
    console.event(&Event::RunStarted(Box::new(run(1)))).unwrap();
    console.event(&Event::CaseFinished(Box::new(case("p.a", Status::Fail)))).unwrap();
}
