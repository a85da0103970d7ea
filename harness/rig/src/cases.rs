//! The cases of a run.

use crate::Fault;
use assay_isolate::Cases;
use assay_runner::{CaseResult, Event, Status};

/// Cases with faults, by number.
#[derive(Clone, Debug)]
pub struct Faulty(Vec<String>);

impl Faulty {
    /// A case for each of these faults, in this order.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Faulty {
        Faulty(faults.into_iter().enumerate().map(|(number, fault)| format!("mock.{fault}.{number:07}")).collect())
    }

    /// So many cases, of which about one in `each` has a fault, chosen by the seed from all that there are.
    pub fn random(count: u32, each: u32, seed: u64) -> Faulty {
        let mut state = seed;
        let mut next = move |below: u64| {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % below
        };
        Faulty::new((0..count).map(|_| match next(u64::from(each)) {
            0 => Fault::ALL[next(Fault::ALL.len() as u64) as usize],
            _ => Fault::None,
        }))
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl Cases for Faulty {
    fn name(&self, case: u32) -> &str {
        &self.0[case as usize]
    }

    fn blank(&self, case: u32, status: Status, reason: String) -> Event {
        result(self.name(case), status, Some(reason))
    }
}

/// The result of a case.
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
        ..CaseResult::blank(text(name), status, 0)
    }))
}
