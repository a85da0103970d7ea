//! Search for values of specialisation constants that are 0, 1 or false by default.
//!
//! Such a value often stands for one that the application states: a guard or a bound of all work,
//! or a size or stride. Or it excludes code. Each choice of values is interpreted once, and the
//! parameters are searched for the most promising ones.

use super::{COST, Candidate, Effort, Score, Search, all_parameters};
use crate::CheckError;
use crate::check::Check;
use crate::chosen_parameters::ChosenParameters;
use crate::options::Options;
use assay_exec::Target;
use assay_oracle::ExecutedBlocks;
use assay_spirv::Module;
use assay_spirv::reflect::{Reflection, SpecConstant, TypeLayout};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Values that all open specialisation constants take. The first of equally good ones is taken.
const SPEC_LADDER: [u64; 4] = [16, 4, 64, 1];

/// Largest default that other constants take: the size of a tile.
const LARGEST: u64 = 1024;

/// Largest number of specialisation constants that take a value alone.
const SPECS: usize = 8;

/// Largest number of choices of values for which the parameters are searched.
const SEARCHED: usize = 3;

/// Values of specialisation constants in the notation of the command line, by id.
type Specs = Vec<(String, String)>;

/// Rank of a choice of values before the search: the instructions that it executes, if it is accepted
/// as it is; whether it writes elements, whether it is faulty, and its score. Work that is undefined
/// yet may become defined; no work stays none.
type Promise = (u64, bool, bool, Score);

/// Aim of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// A better candidate than the given one.
    Better,
    /// One that executes more of the shader and says no less: the values that it has exclude code.
    MoreCode,
}

impl Aim {
    /// Returns whether a candidate is to replace the known one.
    fn accepts(self, candidate: &Candidate, known: &Candidate) -> bool {
        let says_no_less = || candidate.score.says_no_less(&known.score) && candidate.work <= COST.max(known.work);
        match self {
            Aim::Better => candidate.score > known.score,
            Aim::MoreCode => candidate.score.executed > known.score.executed && says_no_less(),
        }
    }
}

/// Searches with other values of the specialisation constants, unless the given candidate has some,
/// and adds the effort of that. Returns the best candidate, which may be the given one.
///
/// # Errors
/// As [`super::search_parameters`].
pub(super) fn search(
    (check, options, target): (&Check<'_>, &Options, &dyn Target),
    effort: &mut Effort<'_>,
    given: Candidate,
    aim: Aim,
) -> Result<Candidate, CheckError> {
    if !given.chosen.specs.is_empty() {
        return Ok(given);
    }
    let mut ranked: Vec<(Promise, Specs)> = Vec::new();
    for specs in choices(&check.shader.source.module, &open_constants(check)) {
        let options = specialised_options(options, &given, &specs);
        // The shader may not permit the value, as the size of an array for example.
        let Ok(specialised) = Check::new(check.shader, &options) else { continue };
        let executes_all = given.score.executed == reachable(check);
        if aim == Aim::MoreCode && executes_all && reachable(&specialised) <= reachable(check) {
            continue;
        }
        let Some(mut search) = Search::new(&specialised, &options, target, effort) else { continue };
        let chosen = if aim == Aim::MoreCode { given.chosen.as_start() } else { ChosenParameters::default() };
        let candidate = search.candidate(chosen)?;
        effort.add(&search.effort);
        let is_accepted = aim == Aim::MoreCode && aim.accepts(&candidate, &given);
        let executed = if is_accepted { candidate.score.executed } else { 0 };
        let promise = (executed, candidate.score.narrow > 0, !candidate.faults.is_empty(), candidate.score);
        ranked.push((promise, specs));
    }
    ranked.sort_by_key(|(promise, _)| Reverse(*promise));
    let ChosenParameters { robustness, benign_races, .. } = given.chosen;
    let mut best = given;
    for (_, specs) in ranked.into_iter().take(SEARCHED) {
        let options = specialised_options(options, &best, &specs);
        let specialised = Check::new(check.shader, &options)?;
        let Some(mut search) = Search::new(&specialised, &options, target, effort) else { break };
        let candidate = search.candidate(best.chosen.as_start())?;
        let found = search.best_from(candidate)?;
        effort.add(&search.effort);
        let is_good = search.is_good(&found);
        if aim.accepts(&found, &best) {
            let chosen = ChosenParameters { specs, robustness, benign_races, ..found.chosen };
            best = Candidate { chosen, ..found };
        }
        if is_good {
            break;
        }
    }
    Ok(best)
}

/// Returns the number of instructions that the specialisation constants do not exclude.
pub(super) fn reachable(check: &Check<'_>) -> u64 {
    check.program.coverage(&ExecutedBlocks::default()).instructions
}

/// Returns the constants whose values are open and may stand for others.
fn open_constants(check: &Check<'_>) -> Vec<SpecConstant> {
    let is_set = |id: u32| check.setup.specs.iter().any(|spec| spec.id == id);
    // A shader reads a push constant in place of a constant of that name that is 0.
    let pushed = all_parameters(check).into_iter().filter(|p| p.slot.is_none());
    let pushed: Vec<String> = pushed.map(|p| p.name).collect();
    let is_replaced = |c: &SpecConstant| c.default == 0 && c.name.as_ref().is_some_and(|name| pushed.contains(name));
    let has_open_value = |c: &SpecConstant| c.default == 0 || c.default == 1 && !matches!(*c.shape, TypeLayout::Bool);
    let is_open = |c: &SpecConstant| has_open_value(c) && !is_replaced(c);
    // Several constants may have one id.
    let mut ids = BTreeSet::new();
    let is_first = |c: &SpecConstant| ids.insert(c.spec_id);
    let constants = Reflection::new(&check.shader.source.module).spec_constants.into_iter();
    constants.filter(|c| is_open(c) && !is_set(c.spec_id)).filter(is_first).collect()
}

/// Returns the choices of values: all constants take a value of the ladder or the largest default of
/// any, those that are 0 take it alone, then each takes one alone.
fn choices(module: &Module, open: &[SpecConstant]) -> Vec<Specs> {
    let defaults = Reflection::new(module).spec_constants.into_iter().map(|c| c.default);
    let largest = defaults.filter(|default| (2..=LARGEST).contains(default) && !SPEC_LADDER.contains(default)).max();
    let zeros: Vec<&SpecConstant> = open.iter().filter(|c| c.default == 0).collect();
    let every = |constants: &[&SpecConstant], value| constants.iter().map(|c| spec_option(c, value)).collect();
    let all: Vec<&SpecConstant> = open.iter().collect();
    let together = SPEC_LADDER.into_iter().chain(largest).flat_map(|value| [every(&all, value), every(&zeros, value)]);
    let alone = open.iter().take(SPECS).map(|c| vec![spec_option(c, if c.default == 0 { 1 } else { 4 })]);
    let mut choices: Vec<Specs> = Vec::new();
    for choice in together.chain(alone) {
        if !choice.is_empty() && !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

/// Returns the options of a check with the given values and what a candidate permits.
pub(super) fn specialised_options(options: &Options, Candidate { chosen, .. }: &Candidate, specs: &Specs) -> Options {
    let mut options = Options { robustness: chosen.robustness.or(options.robustness), ..options.clone() };
    options.benign_races |= chosen.benign_races;
    options.specs.extend(specs.iter().cloned());
    options
}

/// Returns the name and the value of a specialisation constant in the notation of the command line.
fn spec_option(constant: &SpecConstant, value: u64) -> (String, String) {
    let is_bool = matches!(*constant.shape, TypeLayout::Bool);
    (constant.spec_id.to_string(), if is_bool { "true".to_owned() } else { value.to_string() })
}
