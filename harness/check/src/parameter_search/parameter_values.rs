//! Values of the parameters of a shader in the rounds of a check.

use super::open_parameter::{Parameter, all_parameters};
use crate::check::Check;
use crate::memory_layout::read_bits;
use assay_oracle::{Dispatch, Resource};
use assay_precision::Scalar;
use std::fmt;

/// Largest number of parameters that a text lists.
const LISTED: usize = 12;

/// Parameters of a shader, integers first, without elements of matrices, with their values in all
/// rounds.
pub(crate) struct ParameterValues {
    parameters: Vec<Parameter>,
    /// Values by round and parameter.
    rounds: Vec<Vec<String>>,
}

impl ParameterValues {
    /// Returns the values in all rounds of a check; `None` if the shader has no parameters, or an input is not
    /// there any more.
    pub(crate) fn of(check: &Check<'_>) -> Option<ParameterValues> {
        let mut parameters = all_parameters(check);
        parameters.retain(|parameter| !parameter.in_matrix);
        parameters.sort_by_key(|parameter| !parameter.is_integer());
        let mut values = ParameterValues { parameters, rounds: Vec::new() };
        if values.parameters.is_empty() {
            return None;
        }
        (0..check.setup.rounds).try_for_each(|round| check.setup.dispatch(round).map(|of| values.add(&of))).ok()?;
        Some(values)
    }

    /// Adds the values of a round.
    fn add(&mut self, dispatch: &Dispatch) {
        let value = |parameter: &Parameter| {
            value_in(parameter, dispatch).map_or_else(|| "?".to_owned(), |bits| number_text(parameter, bits))
        };
        self.rounds.push(self.parameters.iter().take(LISTED).map(value).collect());
    }
}

/// Lists the parameters in the notation of the command line: `size=16 scale=0.5/1.25`.
impl fmt::Display for ParameterValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (at, parameter) in self.parameters.iter().take(LISTED).enumerate() {
            let mut values: Vec<&str> = self.rounds.iter().map(|round| round[at].as_str()).collect();
            if values.iter().all(|value| *value == values[0]) {
                values.truncate(1);
            }
            write!(f, "{separator}{}={}", parameter.shown, values.join("/"))?;
            separator = ", ";
        }
        match self.parameters.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Returns the bits of a parameter in a dispatch; `None` if it is not there.
pub(super) fn value_in(parameter: &Parameter, dispatch: &Dispatch) -> Option<u64> {
    let memory = match parameter.slot.map(|slot| dispatch.bindings.get(&slot)) {
        None => &dispatch.push_constants,
        Some(Some(Resource::Buffer(buffer))) => &buffer.data,
        Some(_) => return None,
    };
    read_bits(memory, parameter.element.offset, parameter.element.scalar.width())
}

/// Returns the number that the bits of a parameter stand for.
fn number_text(parameter: &Parameter, bits: u64) -> String {
    let scalar = parameter.element.scalar;
    match (scalar, scalar.width()) {
        (Scalar::Int { signed: true, .. }, width) => {
            let unused = 64 - width;
            ((bits << unused).cast_signed() >> unused).to_string()
        }
        (Scalar::Int { .. }, _) => bits.to_string(),
        (_, 32) => format!("{:?}", f32::from_bits(bits as u32)),
        (_, 64) => format!("{:?}", f64::from_bits(bits)),
        (_, width) => format!("0x{bits:0digits$x}", digits = width as usize / 4),
    }
}
