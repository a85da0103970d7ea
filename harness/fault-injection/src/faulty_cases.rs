//! The cases of a run.

use crate::Fault;
use assay_events::{CaseResult, CheckResult, Event, FailedChunk, Status};
use assay_isolate::Cases;
use assay_reports::NameArena;
use std::{
    hash::{BuildHasher, RandomState},
    rc::Rc,
};

/// Cases with faults, by index.
#[derive(Clone, Debug)]
pub struct FaultyCases(Rc<NameArena>);

impl FaultyCases {
    /// Creates a case for each of these faults, in this order.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> FaultyCases {
        let names = faults.into_iter().enumerate().map(|(number, fault)| format!("mock.{fault}.{number:07}"));
        FaultyCases(Rc::new(names.collect()))
    }

    /// Creates `count` cases, of which about one in `each` has a fault. The seed chooses the
    /// faults.
    pub fn random(count: u32, each: u32, seed: u64) -> FaultyCases {
        let mut state = seed;
        let mut next = move |below: u64| {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % below
        };
        FaultyCases::new((0..count).map(|_| match next(u64::from(each)) {
            0 => Fault::ALL[next(Fault::ALL.len() as u64) as usize],
            _ => Fault::None,
        }))
    }

    /// Returns the names.
    pub fn names(&self) -> &Rc<NameArena> {
        &self.0
    }
}

impl Cases for FaultyCases {
    fn name(&self, case: u32) -> &str {
        self.0.get(case as usize)
    }

    fn not_run(&self, case: u32, status: Status, reason: String) -> Event {
        let name = self.name(case);
        match Fault::of(name) {
            // Only the shaders of checks may have undefined behaviour.
            Some(Fault::Undefined) => {
                Event::CheckFinished(Box::new(CheckResult::not_run(name.to_owned(), status, reason, 0)))
            }
            _ => result(name, status, Some(reason)),
        }
    }
}

/// Returns the result of a case.
pub fn result(name: &str, status: Status, reason: Option<String>) -> Event {
    let text = |text: &str| text.to_owned();
    Event::CaseFinished(Box::new(CaseResult {
        reason,
        instruction: text("OpNop"),
        types: text("f32 <- f32"),
        rule: text("as the name says"),
        clause: text("none"),
        inputs_tested: u64::from(status == Status::Pass),
        inputs_possible: text("1"),
        coverage: text("every input"),
        failing_inputs: u64::from(status == Status::Fail),
        warning_inputs: u64::from(status == Status::QualityWarning),
        scalars_checked: 1,
        ..CaseResult::not_run(text(name), status, 0)
    }))
}

/// Number of chunks of a case with several, inputs of each chunk, and chunks with wrong results.
const CHUNKS: u64 = 100;
const INPUTS: u64 = 10;
const WRONG: [u64; 2] = [3, 57];

/// Returns the result of a case with wrong results in some chunks of inputs, if `chunks` are run;
/// `None` means all.
pub(crate) fn result_with_wrong_chunks(name: &str, fault: Fault, chunks: Option<&[u64]>) -> Event {
    let run = chunks.map_or_else(|| (0..CHUNKS).collect(), <[u64]>::to_vec);
    let wrong = WRONG.iter().filter(|chunk| match fault {
        // As if the preceding chunk had left a side effect.
        Fault::Late => run.contains(chunk) && run.contains(&(**chunk - 1)),
        _ => run.contains(chunk),
    });
    let bits = if fault == Fault::Restless { RandomState::new().hash_one(name) } else { 7 };
    let failed = |&chunk| FailedChunk { chunk, inputs: 1, fingerprint: format!("{bits:016x}") };
    let failed_chunks: Vec<FailedChunk> = wrong.map(failed).collect();
    let status = if failed_chunks.is_empty() { Status::Pass } else { Status::Fail };
    let mut event = result(name, status, (status == Status::Fail).then(|| "wrong in places".to_owned()));
    if let Event::CaseFinished(case) = &mut event {
        case.inputs_tested = run.len() as u64 * INPUTS;
        case.failing_inputs = failed_chunks.len() as u64;
        case.failed_chunks = failed_chunks;
    }
    event
}
