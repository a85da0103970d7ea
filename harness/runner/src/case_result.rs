//! Results of cases, from the counts of the checker.

use crate::case_request::example_call;
use assay_case::{Case, InputRange, possible_inputs};
use assay_events::{CaseResult, ClassCount, Example, FailedChunk, GrowthStep, Profile, RegionCount, Status, Times};
use assay_exec::ExecError;
use assay_precision::{CheckCounts, FailureClass, Observation, Reference, Scalar, Specification, Verdict};
use std::collections::BTreeMap;

/// Summary of a finished case.
pub(crate) struct CaseSummary<'a> {
    /// Counts and samples of the checker.
    pub(crate) counts: &'a CheckCounts,
    /// Failing results by chunk.
    pub(crate) failing: &'a BTreeMap<u64, ChunkFailures>,
    /// Reason for an early end.
    pub(crate) failure: Option<&'a ExecError>,
    /// Number of planned rows.
    pub(crate) planned: u64,
    /// Number of planned rows that were left out because their behaviour is undefined.
    pub(crate) undefined: u64,
    /// The part of the possible inputs that was planned, in words.
    pub(crate) coverage: String,
    /// The search for the worst inputs, if there was one.
    pub(crate) hunt: Option<&'a HuntSummary>,
    pub(crate) possible: String,
    pub(crate) seed: u64,
    pub(crate) times: Times,
}

/// Summary of a search for the worst inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct HuntSummary {
    /// Number of starting rows.
    pub(crate) starts: u64,
    pub(crate) generations: u64,
    /// Number of inputs that the search has learned from.
    pub(crate) inputs: u64,
    /// Growth of the greatest margin.
    pub(crate) growth: Vec<GrowthStep>,
    /// False if the run was interrupted.
    pub(crate) is_complete: bool,
}

/// Number of failing chunks that a result names: enough to reproduce the failure, few enough to
/// rerun quickly.
const MAX_NAMED_CHUNKS: usize = 16;

/// Failing results of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChunkFailures {
    inputs: u64,
    fingerprint: u64,
    /// The largest margin of a failing result; infinite if one has no margin.
    worst: f64,
}

impl ChunkFailures {
    /// Adds the counts of a part of the chunk.
    pub(crate) fn add(&mut self, counts: &CheckCounts) {
        self.inputs += counts.failing_inputs;
        self.fingerprint = self.fingerprint.wrapping_add(counts.fingerprint);
        let examples = counts.examples.iter().filter(|((verdict, _), _)| *verdict == Verdict::Fail);
        let margins = examples.flat_map(|(_, samples)| samples.first()).map(|s| s.margin.unwrap_or(f64::INFINITY));
        self.worst = margins.fold(self.worst, f64::max);
    }
}

/// Selects the chunks to name: half of them have the largest errors, the others are spread evenly
/// over the rest.
fn failed_chunks(failing: &BTreeMap<u64, ChunkFailures>) -> Vec<FailedChunk> {
    let mut order: Vec<u64> = failing.keys().copied().collect();
    order.sort_by(|a, b| failing[b].worst.total_cmp(&failing[a].worst));
    if order.len() > MAX_NAMED_CHUNKS {
        let mut rest = order.split_off(MAX_NAMED_CHUNKS / 2);
        rest.sort_unstable();
        order.extend((0..MAX_NAMED_CHUNKS / 2).map(|part| rest[part * (rest.len() - 1) / (MAX_NAMED_CHUNKS / 2 - 1)]));
    }
    order.sort_unstable();
    let named = |chunk| {
        let ChunkFailures { inputs, fingerprint, .. } = failing[&chunk];
        FailedChunk { chunk, inputs, fingerprint: format!("{fingerprint:016x}") }
    };
    order.into_iter().map(named).collect()
}

/// Returns the result of a case without any run, with the number of its possible inputs.
pub fn not_run(case: &Case, status: Status, reason: String, (seed, range): (u64, Option<&InputRange>)) -> CaseResult {
    let types = |types: &[assay_precision::Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    CaseResult {
        reason: Some(reason),
        instruction: case.call.op.name().to_owned(),
        types: format!("{} <- {}", types(&case.call.results), types(&case.call.operands)),
        modes: case.call.modes.to_string(),
        source: case.source.to_string(),
        api: match case.call.specification {
            Specification::Vulkan => "vulkan",
            Specification::Wgsl => "wgpu",
        }
        .to_owned(),
        rule: case.call.rule(),
        clause: case.call.clause().to_owned(),
        // A range that does not fit is rejected by the plan.
        inputs_possible: possible_inputs(case, range).unwrap_or_default(),
        ..CaseResult::not_run(case.name.clone(), status, seed)
    }
}

/// Returns the result of a case that was run completely or in part.
pub(crate) fn result(case: &Case, ended: CaseSummary<'_>) -> CaseResult {
    let CaseSummary { counts, failing, failure, mut planned, undefined, mut coverage, hunt, possible, seed, times } =
        ended;
    let count = |verdict| counts.verdicts.get(&verdict).copied().unwrap_or(0);
    let scalars_unchecked = count(Verdict::Unchecked);
    let scalars_checked = count(Verdict::Pass) + count(Verdict::QualityWarning) + count(Verdict::Fail);
    if undefined > 0 {
        coverage += &format!("; {undefined} of undefined behaviour left out");
    }
    if let Some(hunt) = hunt {
        planned = undefined + counts.inputs;
        coverage = format!("hunt: {} starts, then {} generations", hunt.starts, hunt.generations);
    }
    let is_cut_short = hunt.is_some_and(|hunt| !hunt.is_complete);
    let missing = planned.saturating_sub(undefined + counts.inputs);
    let partial = (missing > 0).then(|| format!("ended after {} of {} inputs", counts.inputs, planned - undefined));
    if let Some(partial) = &partial {
        coverage += &format!("; {partial}");
    }
    let (status, reason) = status(case, counts, failure, scalars_checked);
    let reason = match (reason, partial) {
        (Some(reason), Some(partial)) => Some(format!("{reason} ({partial})")),
        (reason, partial) => reason.or(partial),
    };
    let reference = case.call.reference();
    let example = |observation: &Observation| example(case, &reference, observation);
    let regions = |of: (Verdict, FailureClass)| {
        let those = counts.regions.iter().filter(move |((verdict, class, _), _)| (*verdict, *class) == of);
        those.map(|((.., region), counted)| RegionCount {
            region: region.name().to_owned(),
            count: counted.count,
            example: example(&counted.example),
        })
    };
    let classes = counts.classes.iter().map(|(&(verdict, class), &count)| ClassCount {
        status: if verdict == Verdict::Fail { Status::Fail } else { Status::QualityWarning },
        class: format!("{class:?}"),
        count,
        examples: counts.examples.get(&(verdict, class)).into_iter().flatten().map(example).collect(),
        regions: regions((verdict, class)).collect(),
    });
    CaseResult {
        reason,
        inputs_tested: counts.inputs,
        inputs_possible: possible,
        coverage,
        failing_inputs: counts.failing_inputs,
        warning_inputs: counts.warning_inputs,
        scalars_checked,
        scalars_unchecked,
        worst: counts.worst.as_ref().map(example),
        classes: classes.collect(),
        failed_chunks: failed_chunks(failing),
        profile: profile(case, counts),
        growth: hunt.map(|hunt| hunt.growth.clone()).unwrap_or_default(),
        partial: (missing > 0 || is_cut_short) && failure.is_none(),
        times,
        ..not_run(case, status, String::new(), (seed, None))
    }
}

/// Returns the distribution of the errors, if there are any.
fn profile(case: &Case, counts: &CheckCounts) -> Option<Profile> {
    let first = case.call.operand_slots().next().filter(|_| !counts.profile.is_empty())?;
    let digits = |margin: f32| {
        let margin = f64::from(margin).min(1e9);
        let short = format!("{margin:.2e}").parse().unwrap_or(margin);
        // Rounding never moves a margin onto the limit, from either side.
        if short == 1.0 { margin } else { short }
    };
    Some(Profile {
        operand: first.to_string(),
        worst: counts.profile.worst(first).map(|margin| margin.map(digits)).collect(),
        errors: counts.profile.errors().to_vec(),
    })
}

fn status(case: &Case, counts: &CheckCounts, failure: Option<&ExecError>, checked: u64) -> (Status, Option<String>) {
    let inputs = counts.inputs;
    if let Some(failure) = failure {
        return (failure.status(), Some(failure.to_string()));
    }
    if counts.failing_inputs > 0 {
        let what = format!("{} of {inputs} inputs have results that are not permitted", counts.failing_inputs);
        return (Status::Fail, Some(what));
    }
    if counts.warning_inputs > 0 {
        let what =
            format!("{} of {inputs} inputs have results that only a lenient reading permits", counts.warning_inputs);
        return (Status::QualityWarning, Some(what));
    }
    if case.call.is_measured_only() {
        return (Status::Undetermined, Some("the specification states no precision: measured only".to_owned()));
    }
    if checked == 0 {
        return (Status::Undetermined, Some("nothing is required of any result, so none was checked".to_owned()));
    }
    (Status::Pass, None)
}

fn example(case: &Case, reference: &Reference, observation: &Observation) -> Example {
    let result = case.call.result_slots().nth(observation.slot).unwrap_or(Scalar::Bool);
    let permitted = reference.permitted(observation.slot, &observation.operands).usual;
    let operands: Vec<String> =
        case.call.operand_slots().zip(&observation.operands).map(|(scalar, &bits)| hex(scalar, bits)).collect();
    let got = hex(result, observation.got);
    let mut ranges: Vec<[String; 2]> = permitted
        .ranges()
        .iter()
        .map(|range| [range.lo, range.hi].map(|rank| hex(result, result.bits_of_rank(rank))))
        .collect();
    if permitted.has_nan() {
        ranges.push(["nan".to_owned(), "nan".to_owned()]);
    }
    Example {
        call: Some(example_call(case)),
        operands,
        slot: observation.slot,
        scalar: None,
        got,
        permitted: ranges,
        margin: observation.margin,
    }
}

/// Returns bits in hexadecimal, with the digits of their type.
pub fn hex(scalar: Scalar, bits: u64) -> String {
    let digits = if scalar == Scalar::Bool { 1 } else { scalar.width() as usize / 4 };
    format!("0x{bits:0digits$x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_chunks_are_sampled_and_include_the_worst() {
        let worst = |chunk: u64| if chunk % 500 == 77 { chunk as f64 } else { 1.5 };
        let failing = |count: u64| -> BTreeMap<u64, ChunkFailures> {
            (0..count)
                .map(|chunk| (chunk, ChunkFailures { inputs: 1, fingerprint: chunk, worst: worst(chunk) }))
                .collect()
        };
        for count in [0, 1, 15, 16] {
            assert_eq!(failed_chunks(&failing(count)).len() as u64, count);
        }
        let named = failed_chunks(&failing(4_096));
        let chunks: Vec<u64> = named.iter().map(|failed| failed.chunk).collect();
        assert!(chunks.is_sorted() && chunks.len() == MAX_NAMED_CHUNKS);
        for worst in (577..4_096).step_by(500) {
            assert!(chunks.contains(&worst), "{worst} of {chunks:?}");
        }
        assert!(chunks.contains(&0) && chunks.contains(&4_095), "{chunks:?}");
        assert!(chunks.windows(2).all(|pair| pair[1] - pair[0] < 1_000), "{chunks:?}");
        assert_eq!(failed_chunks(&failing(17)).len(), MAX_NAMED_CHUNKS);
    }
}
