//! Parameters that a search chose for a check.

use crate::CheckError;
use crate::options::{BindingSource, ONE_OF, Options};
use assay_case::{InputRange, Mixture};
use assay_events::{FaultExclusion, PossibleFault, group_digits};
use assay_oracle::{FaultKind, Robustness};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Contents of a buffer whose integers serve as indices: 0, 1, 2, ..
pub(crate) const INDEX: &str = "index";

/// Largest number of options that a note lists, and the number that it lists of more.
const LISTED: (usize, usize) = (24, 8);

/// Parameters that a search chose, in the notation of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenParameters {
    /// Specialisation constants, with their values.
    pub(crate) specs: Vec<(String, String)>,
    /// Robustness to accesses out of bounds.
    pub(crate) robustness: Option<Robustness>,
    /// Set if benign races are permitted.
    #[serde(default)]
    pub(crate) benign_races: bool,
    /// The race for which a variant of the shader executes invocations one after another.
    #[serde(default)]
    pub(crate) avoided_race: Option<AvoidedRace>,
    /// Undefined behaviour that guards exclude in a variant of the shader.
    #[serde(default)]
    pub(crate) guarded_fault: Option<GuardedFault>,
    /// The access out of bounds for which robustness was added.
    #[serde(default)]
    pub(crate) robust_access: Option<RobustAccess>,
    /// The access that is out of bounds if arrays have their usual lengths.
    #[serde(default)]
    pub(crate) long_access: Option<String>,
    /// Undefined behaviour with other parameters.
    #[serde(default)]
    pub(crate) other_fault: Option<CandidateFault>,
    /// Push constants by path, with their values.
    pub(crate) push: Vec<(String, String)>,
    /// Scalars of buffers with their values, and buffers with their contents.
    pub(crate) inputs: Vec<(String, String)>,
    /// Lengths of run-time arrays, by binding.
    pub(crate) elements: BTreeMap<String, u64>,
    /// Sizes of images in texels, by binding.
    pub(crate) image_sizes: BTreeMap<String, Vec<u32>>,
    /// Workgroups along x, y and z.
    pub(crate) groups: Option<[u32; 3]>,
    /// Number of invocations to check at least, if not all are.
    #[serde(default)]
    pub(crate) sample: Option<u64>,
    /// Defect of the check without these parameters, as a clause.
    pub(crate) reason: String,
    /// Set if the options of the user give some parameters.
    #[serde(default)]
    pub(crate) has_given: bool,
    /// The candidates of the search.
    pub(crate) extent: SearchExtent,
}

/// Clause on an action of a shader.
const UNDEFINED: &str = "which is undefined behaviour";

/// Advice to the author of a shader whose invocations race.
pub(crate) const LACKS_ORDER: &str =
    "if these inputs are valid, the shader lacks a barrier or an atomic between the two accesses";

/// Reason why a data race at a place that is not determined is possible.
const UNORDERED: &str = "the place of the access is not determined, and Assay knows of nothing that orders it and those of other \
                         invocations to the same memory";

/// Clause on a variant of the shader with guards.
const GUARDS: &str = "so a variant of the shader has guards: an index outside of an array, vector or matrix becomes 0, a divisor \
                      that is not permitted 1, and a float that does not fit an integer 0";

/// Advice to the author of a shader with an access outside of an array.
const UNLESS_EXCLUDED: &str = "unless valid inputs exclude it, that access is a mistake";

/// A fault of a shader in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultText {
    /// The instruction: ``blur.comp:53:5: `sums[i] = x` ``.
    pub(crate) place: String,
    /// The kind of fault, its memory and its invocation.
    pub(crate) what: String,
}

/// Undefined behaviour of a shader that a check avoids.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AvoidedFault {
    /// The fault and its conditions, as a sentence.
    pub(crate) fault: String,
    /// Details of the fault; `None` if none are known.
    pub(crate) details: Option<String>,
    /// The conditions under which the shader was checked, as the beginning of a sentence that the
    /// conclusion completes: `with the chosen parameters`.
    pub(crate) otherwise: &'static str,
}

impl AvoidedFault {
    /// Returns a fault that a check cannot rule out and with which its verdict begins: an access out of bounds
    /// that no variant excludes, if the verdict says little, or a data race, if the computations were checked with
    /// atomic accesses.
    pub(crate) fn possible(fault: &PossibleFault, says_little: bool, by_instructions: bool) -> Option<AvoidedFault> {
        let is_of = |kind: FaultKind| fault.kind == Some(kind.to_string());
        let (subject, otherwise) = match fault.excluded_by {
            None if says_little && is_of(FaultKind::OutOfBounds) => ("an access out of bounds", "apart from that"),
            // An access that may be out of bounds is at a place that is not determined, so that it may race.
            // Places that an atomic returns differ, as those of appended elements.
            Some(FaultExclusion::AtomicAccesses) if by_instructions && !fault.by_atomic => match () {
                () if is_of(FaultKind::DataRace) || is_of(FaultKind::OutOfBounds) => {
                    ("a data race", "with atomic accesses")
                }
                () => return None,
            },
            _ => return None,
        };
        let fault = format!("Assay cannot rule out {subject} at {}, {UNDEFINED}", fault.place);
        Some(AvoidedFault { fault, details: None, otherwise })
    }
}

/// An access out of bounds that robustness defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RobustAccess {
    /// The access; `None` if it is not certain that there is one.
    pub(crate) access: Option<FaultText>,
    /// Place of an access that may lie out of bounds, if none does for certain.
    #[serde(default)]
    pub(crate) possible: Option<String>,
    /// Set if it is before the beginning of memory, at a place that depends on no parameter and no data.
    pub(crate) is_fixed: bool,
}

/// Undefined behaviour that guards exclude in a variant of the shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GuardedFault {
    /// The first fault of the shader itself with the chosen parameters.
    pub(crate) fault: FaultText,
    /// The kind of fault as the subject of a sentence: `integer division`.
    pub(crate) subject: String,
    /// Clause on the parameters from which its operands are computed.
    pub(crate) sources: Option<String>,
    /// Set if guards lead several invocations to one element, in which they store one value.
    #[serde(default)]
    pub(crate) joins_invocations: bool,
}

/// A data race that a serial variant of the shader avoids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AvoidedRace {
    /// The inputs with which invocations race; empty if they race with the defaults, whatever the data.
    #[serde(default)]
    pub(crate) inputs: String,
    /// The race.
    pub(crate) race: FaultText,
    /// Set if Assay only cannot rule it out.
    #[serde(default)]
    pub(crate) is_possible: bool,
    /// Number of invocations that the variant executes, and of those of the dispatch.
    pub(crate) executed: [u64; 2],
}

/// Kind of a candidate's fault that tells something about the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CandidateFaultKind {
    /// A data race.
    Race,
    /// A data race in workgroup memory.
    SharedRace,
    /// A data race in workgroup memory that Assay cannot rule out.
    PossibleRace,
    /// An access outside of an array of fixed length.
    OutsideArray,
    /// An integer division whose divisor depends on no open parameter and no open data.
    Division,
}

/// Undefined behaviour of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CandidateFault {
    pub(crate) kind: CandidateFaultKind,
    /// Set if its place depends on no parameter and no data.
    pub(crate) is_fixed: bool,
    /// Options that set the parameters of the candidate; none for the defaults.
    pub(crate) options: String,
    /// The fault.
    pub(crate) fault: FaultText,
}

impl fmt::Display for AvoidedRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [executed, all] = self.executed.map(group_digits);
        write!(
            f,
            "so a variant of the shader executes {executed} of the {all} invocations one after another in one invocation"
        )
    }
}

/// The candidates of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchExtent {
    /// Number of candidates, of which the first has the defaults.
    pub candidates: u32,
    /// The first data race of a candidate.
    #[serde(default)]
    pub(crate) race: Option<CandidateFault>,
    /// The first data race in workgroup memory that Assay cannot rule out for a candidate.
    #[serde(default)]
    pub(crate) possible_race: Option<CandidateFault>,
    /// A data race at a place that is not determined, which Assay cannot rule out.
    #[serde(skip)]
    pub(crate) open_race: Option<CandidateFault>,
    /// Parameters of the candidate whose invocations race, or may race, that executes the most.
    #[serde(skip)]
    pub(crate) racing: Option<Box<ChosenParameters>>,
    /// Parameters of the best candidate.
    #[serde(skip)]
    pub(crate) best: Option<Box<ChosenParameters>>,
    /// The first access of a candidate outside of an array of fixed length that no open data explain.
    #[serde(default)]
    pub(crate) outside: Option<CandidateFault>,
    /// Set if a check with the best candidate is expected to say little about the shader.
    #[serde(default)]
    pub(crate) says_little: bool,
    /// Set if the defaults are defined and some written element could come out wrong.
    #[serde(default)]
    pub(crate) checks_defaults: bool,
    /// Number of candidates with a fault, after its term and its commonest kind, if most have any:
    /// `undefined behaviour (out of bounds)`.
    pub(crate) obstacle: Option<(String, u32)>,
}

impl fmt::Display for SearchExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.candidates == 1 { "" } else { "s" };
        write!(f, "a search over {} candidate{plural}", group_digits(self.candidates))?;
        match &self.obstacle {
            Some((fault, 1)) if self.candidates == 1 => write!(f, ", which has {fault},"),
            Some((fault, number)) => {
                let number = if *number == self.candidates { "all".to_owned() } else { group_digits(number) };
                write!(f, ", {number} of which have {fault},")
            }
            None => Ok(()),
        }
    }
}

impl SearchExtent {
    /// Returns a note on an access outside of an array of fixed length, which may be a mistake of the shader.
    pub(crate) fn note_on_arrays(&self) -> Option<String> {
        let CandidateFault { options, fault: FaultText { place, what }, .. } = self.outside.as_ref()?;
        let options = if options.is_empty() { "the defaults" } else { options };
        Some(format!(
            "with {options} the access at {place} is {what}; no length of a buffer permits it; {UNLESS_EXCLUDED}"
        ))
    }

    /// Returns a fault of candidates, where a check with the defaults says little.
    pub(crate) fn avoided_fault(&self) -> Option<AvoidedFault> {
        let first = self.race.as_ref().or(self.outside.as_ref()).or(self.possible_race.as_ref())?;
        let avoided = first.avoided(if first.options.is_empty() { "with other data" } else { "with the defaults" });
        let advice = match first.kind {
            CandidateFaultKind::OutsideArray => format!("no length of a buffer permits it; {UNLESS_EXCLUDED}"),
            CandidateFaultKind::PossibleRace | CandidateFaultKind::Division => return Some(avoided),
            CandidateFaultKind::Race | CandidateFaultKind::SharedRace => LACKS_ORDER.to_owned(),
        };
        let details = Some(avoided.details.map_or_else(String::new, |details| details + "\n") + &advice);
        Some(AvoidedFault { details, ..avoided })
    }
}

impl CandidateFault {
    /// Returns the fault as one that parameters described by `otherwise` avoid.
    fn avoided(&self, otherwise: &'static str) -> AvoidedFault {
        let CandidateFault { kind, options, fault: FaultText { place, what }, .. } = self;
        let options = if options.is_empty() { "the defaults" } else { options };
        let (subject, hint) = match kind {
            CandidateFaultKind::Race => ("data race", ""),
            CandidateFaultKind::SharedRace => ("data race", " (a barrier may be missing)"),
            CandidateFaultKind::OutsideArray => ("access outside of an array", ""),
            CandidateFaultKind::Division => ("integer division", ""),
            CandidateFaultKind::PossibleRace => {
                let fault = format!(
                    "Assay cannot rule out a data race on workgroup memory at {place} with {options} (a barrier may be \
                     missing)"
                );
                return AvoidedFault { fault, details: None, otherwise };
            }
        };
        let fault = format!("{subject} at {place}, {UNDEFINED}, with {options}{hint}");
        AvoidedFault { fault, details: Some(what.clone()), otherwise }
    }
}

impl ChosenParameters {
    /// Returns the sum of the numbers of push constants and buffers; the largest number without any.
    pub(crate) fn sum(&self) -> u64 {
        let numbers = self.push.iter().chain(&self.inputs).filter_map(|(_, value)| value.parse::<u64>().ok());
        numbers.reduce(u64::saturating_add).unwrap_or(u64::MAX)
    }

    /// Returns true if a subset of the invocations is all that was chosen.
    pub(crate) fn only_takes_subset(&self) -> bool {
        self.sample.is_some() && ChosenParameters { sample: None, ..self.clone() } == ChosenParameters::default()
    }

    /// Returns the parameters with which a search may begin again: without specialisation constants,
    /// robustness and permitted races, which the search itself has or chooses.
    pub(crate) fn as_start(&self) -> ChosenParameters {
        ChosenParameters { specs: Vec::new(), robustness: None, benign_races: false, ..self.clone() }
    }

    /// Returns the sizes of arrays and images alone.
    pub(crate) fn sizes(&self) -> ChosenParameters {
        let ChosenParameters { elements, image_sizes, .. } = self.clone();
        ChosenParameters { elements, image_sizes, ..ChosenParameters::default() }
    }

    /// Returns the parameters with the names of variables in place of those of their bindings; `names` has
    /// both.
    pub(crate) fn with_names(&self, names: &[(String, String)]) -> ChosenParameters {
        let named = |key: &String| {
            let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['.', '@']);
            let renamed = |(binding, name): &(String, String)| {
                key.strip_prefix(binding.as_str()).filter(|rest| is_end(rest)).map(|rest| format!("{name}{rest}"))
            };
            names.iter().find_map(renamed).unwrap_or_else(|| key.clone())
        };
        let mut chosen = self.clone();
        chosen.inputs.iter_mut().for_each(|(key, _)| *key = named(key));
        chosen.elements = self.elements.iter().map(|(key, value)| (named(key), *value)).collect();
        chosen.image_sizes = self.image_sizes.iter().map(|(key, value)| (named(key), value.clone())).collect();
        chosen
    }

    /// Returns the parameters with arrays and images that are as large as the other ones, too.
    pub(crate) fn with_larger_sizes(mut self, other: &ChosenParameters) -> ChosenParameters {
        for (binding, elements) in &other.elements {
            let known = self.elements.entry(binding.clone()).or_default();
            *known = (*known).max(*elements);
        }
        for (binding, size) in &other.image_sizes {
            let known = self.image_sizes.entry(binding.clone()).or_insert_with(|| size.clone());
            known.iter_mut().zip(size).for_each(|(known, side)| *known = (*known).max(*side));
        }
        self
    }

    /// Sets the parameters in the options of a check.
    ///
    /// # Errors
    /// A name is not one of a binding.
    pub fn apply(&self, options: &mut Options) -> Result<(), CheckError> {
        options.specs.extend(self.specs.iter().cloned());
        options.robustness = self.robustness.or(options.robustness);
        options.benign_races |= self.benign_races;
        options.push_values.extend(self.push.iter().cloned());
        for (name, value) in &self.inputs {
            let source = match value.parse::<InputRange>() {
                _ if value == INDEX || value.starts_with(ONE_OF) => BindingSource::parse(value, Path::new("")),
                Ok(range) => BindingSource::Mixture(Mixture::Range(range)),
                Err(_) => BindingSource::Number(value.clone()),
            };
            options.inputs.push((name.parse()?, source));
        }
        for (binding, elements) in &self.elements {
            options.elements.push((Some(binding.parse()?), *elements));
        }
        for (binding, size) in &self.image_sizes {
            options.image_sizes.push((binding.parse()?, size.clone()));
        }
        options.groups = self.groups.or(options.groups);
        options.checked_invocations = self.sample.or(options.checked_invocations);
        Ok(())
    }

    /// Returns true if the benign races of the variant that was checked come from its guards.
    pub(crate) fn joins_invocations(&self) -> bool {
        self.guarded_fault.as_ref().is_some_and(|guarded| guarded.joins_invocations)
    }

    /// Returns the undefined behaviour of the shader that the check avoids; `None` if none is known.
    pub(crate) fn avoided_fault(&self) -> Option<AvoidedFault> {
        let chooses_none = ChosenParameters { robustness: None, ..self.clone() }.options().is_empty();
        let inputs = if chooses_none { "these inputs" } else { "the chosen inputs" };
        if let Some(GuardedFault { fault: FaultText { place, what }, subject, sources, .. }) = &self.guarded_fault {
            let sources = sources.as_ref().map_or_else(String::new, |sources| format!("\n{sources}"));
            return Some(AvoidedFault {
                fault: format!("{subject} at {place} with {inputs}, {UNDEFINED}"),
                details: Some(what.clone() + &sources),
                otherwise: match self.avoided_race {
                    None => "with guards that exclude it",
                    Some(_) => "with guards that exclude it, and invocations executed one after another",
                },
            });
        }
        if let Some(AvoidedRace { inputs, race, is_possible, .. }) = &self.avoided_race {
            let with = if inputs.is_empty() { String::new() } else { format!(", with {inputs}") };
            let (fault, details) = match is_possible {
                true => (format!("Assay cannot rule out a data race at {}{with}", race.place), UNORDERED),
                false => (format!("data race at {}, {UNDEFINED}{with}", race.place), race.what.as_str()),
            };
            return Some(AvoidedFault {
                fault,
                details: Some(details.to_owned()),
                otherwise: "with invocations executed one after another",
            });
        }
        let is_fixed = self.robust_access.as_ref().is_some_and(|access| access.is_fixed);
        let robust = self.robust_access.as_ref().filter(|_| is_fixed || self.other_fault.is_none());
        if let Some(RobustAccess { access, possible, is_fixed }) = robust {
            const UNLESS: &str = "unless the application enables robustness";
            let fault = match (access, is_fixed) {
                (None, _) => {
                    let at = possible.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
                    format!("Assay cannot rule out an access out of bounds{at}, {UNDEFINED} {UNLESS}")
                }
                (Some(FaultText { place, .. }), true) => {
                    format!("access out of bounds at {place}, {UNDEFINED} {UNLESS}")
                }
                (Some(FaultText { place, .. }), false) => {
                    format!("access out of bounds at {place} with {inputs}, {UNDEFINED} {UNLESS}")
                }
            };
            let details = access.as_ref().map(|access| access.what.clone());
            return Some(AvoidedFault { fault, details, otherwise: "with robustness" });
        }
        let other = self.other_fault.as_ref()?;
        let is_skipped = other.is_fixed && other.kind == CandidateFaultKind::Race;
        Some(other.avoided(match is_skipped {
            true => "with the chosen parameters, which skip this access",
            false => "with the chosen parameters",
        }))
    }

    /// Returns a note with the options that set the same parameters, or the first ones of very many.
    pub fn note(&self) -> String {
        const NO_OTHERS: &str = "found no parameters that avoid that and say enough about the shader";
        let robust =
            self.robustness.map_or("", |_| "; without --robustness, accesses out of bounds are undefined behaviour");
        let racing = match (self.joins_invocations(), self.benign_races) {
            (true, _) => "; guards lead invocations to one element, in which they store one value",
            (_, true) => "; racing stores of one value are undefined behaviour otherwise",
            (_, false) => "",
        };
        let guards = self.guarded_fault.as_ref().map(|_| GUARDS.to_owned());
        let clauses: Vec<String> =
            guards.into_iter().chain(self.avoided_race.as_ref().map(AvoidedRace::to_string)).collect();
        let variant = (!clauses.is_empty()).then(|| clauses.join(", "));
        let chosen = match (variant, self.listed_options()) {
            (None, options) => format!("chose {options}"),
            (Some(variant), options) if options.is_empty() => format!("{NO_OTHERS}, {variant}"),
            (Some(variant), options) => format!("{NO_OTHERS}, {variant}, with {options}"),
        };
        let given = self.avoided_race.as_ref().map_or("", |race| &race.inputs);
        let given = match given {
            "" if self.has_given => "the given options alone",
            "" => "the defaults",
            given => given,
        };
        format!("with {given} {}; {} {chosen}{robust}{racing}", self.reason, self.extent)
    }

    /// Returns a note on arrays that are longer than usual, which may hide a mistake of the shader.
    pub(crate) fn note_on_lengths(&self) -> Option<String> {
        let at = self.long_access.as_ref()?;
        let lengths: Vec<String> = self.elements.iter().map(|(name, length)| format!("{name}={length}")).collect();
        Some(format!(
            "with an element for each invocation, the access at {at} is out of bounds, so Assay chose the lengths {}; if \
             these values are valid and the array is not meant to be longer, that access is a mistake",
            lengths.join(", ")
        ))
    }

    /// Returns the options that set the same parameters, or the first ones of very many.
    pub fn listed_options(&self) -> String {
        let options = self.options();
        let listed = if options.len() > LISTED.0 { LISTED.1 } else { options.len() };
        let more = match options.len() - listed {
            0 => String::new(),
            more => format!(" and {more} more options, which `assay check --out DIR` writes as a case file"),
        };
        options[..listed].join(" ") + &more
    }

    /// Returns the options of the command line that set the same parameters.
    fn options(&self) -> Vec<String> {
        let pair = |(name, value): &(String, String)| format!("{name}={value}");
        let push = self.push.iter().map(pair).collect::<Vec<_>>().join(",");
        let size = |size: &[u32]| size.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        let robustness = self.robustness.map(|robustness| format!("--robustness {}", robustness.name()));
        let races = self.benign_races.then(|| "--benign-races".to_owned());
        let specs = self.specs.iter().map(|spec| format!("--spec {}", pair(spec)));
        let push = (!push.is_empty()).then(|| format!("--push {push}"));
        let inputs = self.inputs.iter().map(|input| format!("--input {}", pair(input)));
        let elements = self.elements.iter().map(|(binding, elements)| format!("--elements {binding}={elements}"));
        let images = self.image_sizes.iter().map(|(binding, sides)| format!("--image-size {binding}={}", size(sides)));
        let groups = self.groups.map(|[x, y, z]| format!("--workgroups {x},{y},{z}"));
        let sample = self.sample.map(|invocations| format!("--sample {invocations}"));
        robustness
            .into_iter()
            .chain(races)
            .chain(specs)
            .chain(push)
            .chain(inputs)
            .chain(elements)
            .chain(images)
            .chain(groups)
            .chain(sample)
            .collect()
    }
}

impl fmt::Display for ChosenParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options().iter().try_for_each(|option| write!(f, " {option}"))
    }
}
