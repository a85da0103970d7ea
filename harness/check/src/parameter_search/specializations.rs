//! Search for values of specialisation constants that are 0, 1 or false by default.
//!
//! Such a value often stands for one that the application states: a guard or a bound of all work,
//! or a size or stride. Each choice of values is interpreted once, and the parameters are searched
//! for the best one.

use super::{Candidate, Effort, Score, Search, all_parameters};
use crate::CheckError;
use crate::check::Check;
use crate::chosen_parameters::ChosenParameters;
use crate::options::Options;
use assay_exec::Target;
use assay_spirv::reflect::{Reflection, SpecConstant, TypeLayout};
use std::collections::BTreeSet;

/// Values that all open specialisation constants take.
const SPEC_LADDER: [u64; 4] = [1, 4, 16, 64];

/// Largest number of specialisation constants that take a value alone.
const SPECS: usize = 8;

/// Rank of a choice of values before the search: whether it writes elements, whether it is faulty,
/// and its score.
type Promise = (bool, bool, Score);

/// Searches with other values of the specialisation constants, and adds the effort of that. Returns
/// the best candidate, if there is any.
///
/// # Errors
/// As [`super::search_parameters`].
pub(super) fn search(
    (check, options, target): (&Check<'_>, &Options, &dyn Target),
    effort: &mut Effort<'_>,
    best: &Candidate,
) -> Result<Option<Candidate>, CheckError> {
    let is_set = |id: u32| check.setup.specs.iter().any(|spec| spec.id == id);
    let constants = Reflection::new(&check.shader.source.module).spec_constants;
    // A shader reads a push constant in place of a constant of that name that is 0.
    let pushed = all_parameters(check).into_iter().filter(|p| p.slot.is_none());
    let pushed: Vec<String> = pushed.map(|p| p.name).collect();
    let is_replaced = |c: &SpecConstant| c.default == 0 && c.name.as_ref().is_some_and(|name| pushed.contains(name));
    let has_open_value = |c: &SpecConstant| c.default == 0 || c.default == 1 && !matches!(*c.shape, TypeLayout::Bool);
    let is_open = |c: &SpecConstant| has_open_value(c) && !is_replaced(c);
    // Several constants may have one id.
    let mut ids = BTreeSet::new();
    let is_first = |c: &SpecConstant| ids.insert(c.spec_id);
    let open: Vec<SpecConstant> =
        constants.into_iter().filter(|c| is_open(c) && !is_set(c.spec_id)).filter(is_first).collect();
    let all = SPEC_LADDER.iter().map(|value| open.iter().map(|c| (c, *value)).collect::<Vec<_>>());
    // A single constant is covered by the ladder.
    let alone = if open.len() > 1 { &open[..open.len().min(SPECS)] } else { &[] };
    let choices = all.chain(alone.iter().map(|c| vec![(c, if c.default == 0 { 1 } else { 4 })]));
    let ChosenParameters { robustness, benign_races, .. } = best.chosen;
    let mut options = Options { robustness: robustness.or(options.robustness), ..options.clone() };
    options.benign_races |= benign_races;
    let mut first: Option<(Promise, Vec<(String, String)>)> = None;
    for choice in choices.filter(|choice| !choice.is_empty()) {
        let specs: Vec<(String, String)> = choice.iter().map(|(c, value)| spec_option(c, *value)).collect();
        let mut options = options.clone();
        options.specs.extend(specs.iter().cloned());
        // The shader may not permit the value, as the size of an array for example.
        let Ok(specialised) = Check::new(check.shader, &options) else { continue };
        let Some(mut search) = Search::new(&specialised, &options, target, effort) else { continue };
        let candidate = search.candidate(ChosenParameters::default())?;
        effort.add(&search.effort);
        // Work that is undefined yet may become defined; no work stays none.
        let promise = (candidate.score.narrow > 0, !candidate.faults.is_empty(), candidate.score);
        if first.as_ref().is_none_or(|(known, _)| promise > *known) {
            first = Some((promise, specs));
        }
    }
    let Some((_, specs)) = first else { return Ok(None) };
    options.specs.extend(specs.iter().cloned());
    let specialised = Check::new(check.shader, &options)?;
    let Some(mut search) = Search::new(&specialised, &options, target, effort) else { return Ok(None) };
    let candidate = search.candidate(best.chosen.clone())?;
    let found = search.best_from(candidate)?;
    effort.add(&search.effort);
    Ok(Some(Candidate { chosen: ChosenParameters { specs, robustness, benign_races, ..found.chosen }, ..found }))
}

/// Returns the name and the value of a specialisation constant in the notation of the command line.
fn spec_option(constant: &SpecConstant, value: u64) -> (String, String) {
    let is_bool = matches!(*constant.shape, TypeLayout::Bool);
    (constant.spec_id.to_string(), if is_bool { "true".to_owned() } else { value.to_string() })
}
