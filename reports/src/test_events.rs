//! Events for tests of the reporters, and the console's text.

use crate::{Console, ConsoleOptions, ResultDirWriter};
use assay_events::{
    CaseResult, CheckResult, ClassCount, DeviceInfo, Event, Example, ExampleCall, FailedChunk, Mismatch, RegionCount,
    Reporter, RunInfo, SCHEMA, Status, Times, UndeterminedElements,
};
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) fn run(cases: usize) -> RunInfo {
    RunInfo {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        specification: "Vulkan 1.4.360".to_owned(),
        device: DeviceInfo {
            name: "test device".to_owned(),
            api: "vulkan".to_owned(),
            kind: "cpu".to_owned(),
            vendor_id: 0x10005,
            uuid: "00".repeat(16),
            driver_name: "testpipe".to_owned(),
            driver_info: "Mesa 22.3.6".to_owned(),
            driver_version: 1,
            api_version: "1.3.230".to_owned(),
            conformance_version: "1.3.1.1".to_owned(),
            features: vec!["shaderFloat16".to_owned()],
            properties: [("shaderDenormPreserveFloat32".to_owned(), "false".to_owned())].into(),
            host_cpu: "a processor".to_owned(),
            ..DeviceInfo::default()
        },
        budget: "quick".to_owned(),
        seed: 0,
        cases,
        command: vec!["assay".to_owned(), "run".to_owned()],
        settings: Some(Box::default()),
        started: "2026-11-21T11:21:47.25Z".to_owned(),
        host: "node1".to_owned(),
        selection: String::new(),
        part: None,
    }
}

fn example(operand: &str, got: &str, margin: f64) -> Example {
    Example {
        operands: vec![operand.to_owned()],
        slot: 0,
        scalar: None,
        got: got.to_owned(),
        permitted: vec![["0x40161f70".to_owned(), "0x40161f7c".to_owned()]],
        margin: Some(margin),
        call: Some(ExampleCall {
            op: "Exp2".to_owned(),
            format: "f32".to_owned(),
            shape: "scalar".to_owned(),
            ..ExampleCall::default()
        }),
    }
}

/// Returns a case of `Exp2` on f32 with this status.
pub(crate) fn case(name: &str, status: Status) -> CaseResult {
    let checked = matches!(status, Status::Pass | Status::QualityWarning | Status::Fail);
    let fails = status == Status::Fail;
    let warns = status == Status::QualityWarning;
    let worst = example("0x3f9d70a4", "0x40161f99", if fails { 3.214 } else { 0.8734 });
    CaseResult {
        name: name.to_owned(),
        status,
        reason: match status {
            Status::Pass => None,
            Status::NotSupported => Some("shaderDenormPreserveFloat32 is false".to_owned()),
            Status::Fail => Some("12 inputs outside the permitted set".to_owned()),
            Status::QualityWarning => {
                Some("2 of 65536 inputs have results that only a lenient reading permits".to_owned())
            }
            other => Some(format!("{other:?} for a reason")),
        },
        instruction: "Exp2".to_owned(),
        types: "f32 <- f32".to_owned(),
        modes: "default".to_owned(),
        source: "buffer".to_owned(),
        api: "vulkan".to_owned(),
        path: "native".to_owned(),
        rule: "3 + 2 * |x| ULP".to_owned(),
        clause: "spirvenv-precision-operation".to_owned(),
        inputs_tested: if checked { 65_536 } else { 0 },
        inputs_possible: "4294967296".to_owned(),
        coverage: "specials, 512 of longer lists, 1472 at random".to_owned(),
        failing_inputs: if fails { 12 } else { 0 },
        warning_inputs: if warns { 2 } else { 0 },
        scalars_checked: if checked { 65_000 } else { 0 },
        scalars_unchecked: if checked { 536 } else { 0 },
        classes: if fails || warns {
            vec![ClassCount {
                status,
                class: "FewUlp".to_owned(),
                count: if fails { 12 } else { 2 },
                examples: vec![worst.clone()],
                regions: vec![RegionCount {
                    region: "Moderate".to_owned(),
                    count: if fails { 12 } else { 2 },
                    example: worst.clone(),
                }],
            }]
        } else {
            Vec::new()
        },
        worst: checked.then_some(worst),
        failed_chunks: if fails {
            vec![FailedChunk { chunk: 3, inputs: 12, fingerprint: "0123456789abcdef".to_owned() }]
        } else {
            Vec::new()
        },
        growth: Vec::new(),
        profile: None,
        picture: None,
        seed: 0,
        partial: false,
        repeat: None,
        times: Times { wall: 1.5, build: 0.1, device: 0.9, check: 1.3, overlap: 0.15, search: 0.0 },
    }
}

/// Writes the result directory of a run of these cases.
pub(crate) fn folder(path: &Path, cases: &[CaseResult]) -> PathBuf {
    folder_of(path, run(cases.len()), cases, false)
}

/// Writes the result directory of a given run.
pub(crate) fn folder_of(path: &Path, run: RunInfo, cases: &[CaseResult], interrupted: bool) -> PathBuf {
    let mut folder = ResultDirWriter::create(path).unwrap();
    folder.event(&Event::RunStarted(Box::new(run))).unwrap();
    for case in cases {
        folder.event(&Event::CaseFinished(Box::new(case.clone()))).unwrap();
    }
    folder.event(&Event::RunFinished { interrupted, wall: 2.5 }).unwrap();
    path.to_owned()
}

/// Returns a check of a shader with this status.
pub(crate) fn check(status: Status) -> CheckResult {
    CheckResult {
        name: "a.wgsl".into(),
        status,
        reason: (status != Status::Pass).then(|| "2 of 8 elements are not permitted".into()),
        entry: "main".into(),
        workgroups: [4, 2, 1],
        workgroup_size: [8, 8, 1],
        rounds: 2,
        rounds_checked: 2,
        unjudged: Vec::new(),
        seed: 0,
        elements_checked: 8,
        elements_undetermined: 3,
        elements_failing: 2,
        elements_warning: 0,
        writes: None,
        mismatches: vec![Mismatch {
            status: Status::Fail,
            round: 1,
            buffer: "set 0 binding 1 (sums)".into(),
            element: "[3].x".into(),
            offset: 24,
            scalar: "f32".into(),
            invocation: Some(7),
            before: "0x00000000".into(),
            got: "0x3f800001".into(),
            permitted: vec![["0x3f800000".into(), "0x3f800000".into()], ["nan".into(), "nan".into()]],
            class: "FewUlp".into(),
            by: "specification".into(),
        }],
        classes: Vec::new(),
        undetermined: vec![UndeterminedElements { cause: "a race".into(), place: "a.wgsl:3:1".into(), elements: 3 }],
        blamed: Vec::new(),
        derivation: Vec::new(),
        notes: vec!["round 0 was not run".into()],
        instructions: 100,
        partial: false,
        repeat: None,
        picture: None,
        executed: None,
        mutations: None,
        possible_fault: None,
        excused: None,
        traced: None,
        chosen: None,
        parameters: Some("count=64, scale=0.5/-8.0".into()),
        compiler: None,
        sampled: None,
        times: Times::default(),
    }
}

/// Bytes that a console and a test share.
#[derive(Clone, Default)]
pub(crate) struct SharedOutput(pub(crate) Rc<RefCell<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the console's text of a run.
pub(crate) fn console_text(cases: &[CaseResult], verbose: bool, interrupted: bool) -> String {
    let out = SharedOutput::default();
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
