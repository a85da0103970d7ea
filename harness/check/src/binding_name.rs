//! Names of bindings.

use crate::CheckError;
use assay_oracle::Slot;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Name of a binding: `SET.BINDING`, `BINDING` (of set 0), or the variable's name; with `[ELEMENT]`
/// for one element of a descriptor array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingName(String);

impl FromStr for BindingName {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<BindingName, CheckError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(CheckError::option("expected a binding: SET.BINDING, BINDING, or a variable's name"));
        }
        Ok(BindingName(text.to_owned()))
    }
}

impl From<Slot> for BindingName {
    fn from(slot: Slot) -> BindingName {
        BindingName(format!("{}.{}[{}]", slot.set, slot.binding, slot.element))
    }
}

impl fmt::Display for BindingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BindingName {
    /// Returns whether it selects one element of a descriptor array.
    pub fn is_element(&self) -> bool {
        self.0.contains('[')
    }

    /// Returns whether it selects elements of the binding at a slot, of a variable with this name.
    pub(crate) fn names_binding(&self, slot: Slot, variable: Option<&str>) -> bool {
        let base = self.0.split('[').next().unwrap_or_default();
        BindingName(base.to_owned()).names(slot, variable)
    }

    /// Returns whether it selects the descriptor at a slot, of a variable with this name. Without
    /// `[ELEMENT]` it selects all elements of a descriptor array.
    pub fn names(&self, slot: Slot, variable: Option<&str>) -> bool {
        let (base, element) = match self.0.split_once('[') {
            Some((base, rest)) => match rest.trim_end_matches(']').parse::<u32>() {
                Ok(element) => (base, Some(element)),
                Err(_) => return false,
            },
            None => (self.0.as_str(), None),
        };
        if element.is_some_and(|element| element != slot.element) {
            return false;
        }
        let by_number = match base.split_once('.') {
            Some((set, binding)) => set.parse() == Ok(slot.set) && binding.parse() == Ok(slot.binding),
            None => slot.set == 0 && base.parse() == Ok(slot.binding),
        };
        by_number || variable == Some(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_selected_by_number_or_name() {
        let slot = Slot { set: 1, binding: 2, element: 3 };
        for name in ["1.2", "1.2[3]", "data", "data[3]"] {
            assert!(name.parse::<BindingName>().unwrap().names(slot, Some("data")), "{name}");
        }
        for name in ["2", "1.2[2]", "other", "1.2[x]"] {
            assert!(!name.parse::<BindingName>().unwrap().names(slot, Some("data")), "{name}");
        }
        assert!("2".parse::<BindingName>().unwrap().names(Slot::new(0, 2), None));
        assert!("".parse::<BindingName>().is_err());
    }
}
