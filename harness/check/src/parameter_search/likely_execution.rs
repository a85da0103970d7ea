//! Parameters with which a device is likely to execute more of a shader.
//!
//! The interpreter gives up a shader whose branches depend on results with several permitted values, and
//! sees little of it with any parameters. Its instructions can be checked by themselves
//! ([`crate::instruction_check`]), those that the device executes. This search interprets candidates
//! with one result of each instruction ([`FollowedResults::One`]), which decides every branch, and takes the
//! parameters with which most is executed.

use super::candidate::{Candidate, Judged, Score, UNUSABLE, unusable};
use super::effort::Effort;
use super::specializations::specialised_options;
use super::{COST, ParameterSearch, Search};
use crate::CheckError;
use crate::check::Check;
use crate::chosen_parameters::{ChosenParameters, SearchExtent};
use crate::options::Options;
use assay_exec::Target;
use assay_oracle::{AtomicOrder, FollowedResults};

/// Cost of this search, beyond that of the others.
const LIKELY_COST: u64 = COST;

/// Tenths of the instructions that suffice.
pub(super) const ENOUGH: u64 = 9;

/// Returns a candidate with which more is likely to be executed than with the given one, and whose instructions
/// can be checked by themselves; `None` if there is none.
///
/// # Errors
/// As [`super::search_parameters`].
pub(super) fn search(
    (check, options, target): (&Check<'_>, &Options, &dyn Target),
    effort: &mut Effort<'_>,
    given: &Candidate,
) -> Result<Option<Candidate>, CheckError> {
    let ChosenParameters { specs, robustness, benign_races, .. } = given.chosen.clone();
    let options = specialised_options(options, given, &specs);
    let specialised = Check::new(check.shader, &options)?;
    let Some(mut search) = Search::new(&specialised, &options, target, effort) else { return Ok(None) };
    (search.results, search.atomic_order) = (FollowedResults::One, AtomicOrder::Interpreted);
    search.limit = LIKELY_COST;
    search.sizes = given.chosen.sizes();
    let first = search.once(given.chosen.as_start())?;
    let before = first.score;
    // Usual values first: positions within bounds and views, and the other side of a branch on an integer.
    let found = search.with_simple_data(Judged::Output, first)?;
    let found = search.with_skipped_code(found)?;
    let found = if search.is_good(&found) { found } else { search.best_from(found)? };
    effort.add(&search.effort);
    let says_more = found.score > before && found.score.judged > Judged::Little && found.score.defined == search.rounds;
    if !says_more || found.chosen == given.chosen.as_start() {
        return Ok(None);
    }
    if given.score.faults == UNUSABLE {
        let chosen = ChosenParameters { specs, robustness, benign_races, ..found.chosen };
        return Ok(Some(Candidate { chosen, ..found }));
    }
    // The specification may permit an execution that leads to undefined behaviour, but not require it.
    (search.results, search.atomic_order) = (FollowedResults::All, AtomicOrder::Any);
    search.limit = search.effort.cost + LIKELY_COST;
    let permitted = search.candidate(found.chosen.clone())?;
    if permitted.score.defined < search.rounds || permitted.is_doubtful {
        return Ok(None);
    }
    let chosen = ChosenParameters { specs, robustness, benign_races, ..permitted.chosen.clone() };
    let judged = permitted.score.judged.max(Judged::Instructions);
    let score = Score { judged, instructions: found.score.instructions, ..permitted.score };
    Ok(Some(Candidate { chosen, score, ..permitted }))
}

/// Chooses parameters for a shader that takes too much work with all permitted results, as noise functions of
/// wide sets do.
///
/// # Errors
/// As [`super::search_parameters`].
pub(super) fn search_heavy(
    (check, options, target): (&Check<'_>, &Options, &dyn Target),
    effort: &mut Effort<'_>,
) -> Result<ParameterSearch, CheckError> {
    let Some(found) = search((check, options, target), effort, &unusable(ChosenParameters::default()))? else {
        return Ok(ParameterSearch::NotNeeded);
    };
    let extent = SearchExtent { candidates: effort.candidates, ..SearchExtent::default() };
    Ok(ParameterSearch::Found(Box::new(ChosenParameters {
        reason: "the interpretation of a workgroup takes too long".to_owned(),
        has_given: options.gives_parameters(),
        extent,
        ..found.chosen
    })))
}
