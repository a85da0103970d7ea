//! Parameters that a search chose for a check.

use crate::CheckError;
use crate::options::{BindingSource, ONE_OF, Options};
use assay_case::{InputRange, Mixture};
use assay_events::group_digits;
use assay_oracle::Robustness;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Contents of a buffer whose integers serve as indices: 0, 1, 2, ..
pub(crate) const INDEX: &str = "index";

/// Parameters that a search chose, in the notation of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenParameters {
    /// Specialisation constants, with their values.
    pub(crate) specs: Vec<(String, String)>,
    /// Robustness to accesses out of bounds.
    pub(crate) robustness: Option<Robustness>,
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
    /// Defect of the check without these parameters, as a clause.
    pub(crate) reason: String,
    /// The candidates of the search.
    pub(crate) extent: SearchExtent,
}

/// The candidates of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchExtent {
    /// Number of candidates, of which the first has the defaults.
    pub candidates: u32,
    /// Number of candidates with undefined behaviour, after its commonest kind, if most have any.
    pub(crate) obstacle: Option<(String, u32)>,
}

impl fmt::Display for SearchExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a search over {} candidates", group_digits(self.candidates))?;
        match &self.obstacle {
            Some((kind, number)) => {
                let number = if *number == self.candidates { "all".to_owned() } else { group_digits(number) };
                write!(f, ", {number} of which have undefined behaviour ({kind}),")
            }
            None => Ok(()),
        }
    }
}

impl ChosenParameters {
    /// Sets the parameters in the options of a check.
    ///
    /// # Errors
    /// A name is not one of a binding.
    pub fn apply(&self, options: &mut Options) -> Result<(), CheckError> {
        options.specs.extend(self.specs.iter().cloned());
        options.robustness = self.robustness.or(options.robustness);
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
        Ok(())
    }

    /// Returns a note with the options that set the same parameters.
    pub fn note(&self) -> String {
        let robust = self.robustness.map_or("", |_| ", without which accesses out of bounds are undefined behaviour");
        format!("with the defaults {}; {} chose{self}{robust}", self.reason, self.extent)
    }
}

impl fmt::Display for ChosenParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = |(name, value): &(String, String)| format!("{name}={value}");
        if let Some(robustness) = self.robustness {
            write!(f, " --robustness {}", robustness.name())?;
        }
        for spec in &self.specs {
            write!(f, " --spec {}", pair(spec))?;
        }
        if !self.push.is_empty() {
            write!(f, " --push {}", self.push.iter().map(pair).collect::<Vec<_>>().join(","))?;
        }
        for input in &self.inputs {
            write!(f, " --input {}", pair(input))?;
        }
        for (binding, elements) in &self.elements {
            write!(f, " --elements {binding}={elements}")?;
        }
        for (binding, size) in &self.image_sizes {
            let sides: Vec<String> = size.iter().map(u32::to_string).collect();
            write!(f, " --image-size {binding}={}", sides.join("x"))?;
        }
        self.groups.map_or(Ok(()), |[x, y, z]| write!(f, " --workgroups {x},{y},{z}"))
    }
}
