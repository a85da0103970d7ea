//! Rules of the documents: their names in the text, and how each is treated.

use assay_spirv_rules::requirements::REQUIREMENT_RULES;
use assay_spirv_rules::rules::{self, IMPLIED, UNCHECKED_RUNTIME, UNCHECKED_STANDALONE};
use std::collections::BTreeMap;

/// Treatment of a rule of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleDisposition {
    /// Checked statically; the rule's short name.
    Checked(&'static str),
    /// Part of a module's requirements.
    Requirement,
    /// Checked at run time; the function that does so.
    RunTime(assay_oracle::RuleEnforcement),
    /// Implied by another rule.
    Implied(&'static str),
    /// Not checked; the reason.
    NotChecked(&'static str),
}

impl RuleDisposition {
    /// Returns the planted violation that every rule with this disposition has, in words.
    pub(crate) fn proof(self) -> Option<&'static str> {
        match self {
            RuleDisposition::Checked(_) => Some("the rule's own module"),
            RuleDisposition::RunTime(assay_oracle::RuleEnforcement::Enforced(_)) => Some("the rule's own dispatch"),
            RuleDisposition::RunTime(_)
            | RuleDisposition::Requirement
            | RuleDisposition::Implied(_)
            | RuleDisposition::NotChecked(_) => None,
        }
    }
}

/// A rule of the text.
#[derive(Clone, Debug)]
pub(crate) struct RuleEvidence {
    /// Its name in the text.
    pub(crate) id: String,
    /// The requirement; empty if it is not checked.
    pub(crate) requirement: &'static str,
    /// Its treatment.
    pub(crate) disposition: RuleDisposition,
}

/// The rules of the documents.
#[derive(Debug)]
pub struct DocumentRules {
    /// Every rule, in the order of the lists.
    pub(crate) list: Vec<RuleEvidence>,
    /// Places in `list`, by the number of a VUID or by the whole name of a clause.
    by_key: BTreeMap<String, usize>,
}

impl DocumentRules {
    /// Collects the rules from the crates that check or list them.
    pub fn new() -> DocumentRules {
        let list = every_rule();
        let mut by_key = BTreeMap::new();
        for (place, rule) in list.iter().enumerate() {
            for key in lookup_keys(&rule.id) {
                by_key.entry(key).or_insert(place);
            }
        }
        DocumentRules { list, by_key }
    }

    /// Finds a rule by its full name in the text, else by the number in the name.
    pub(crate) fn find(&self, id: &str) -> Option<&RuleEvidence> {
        if let Some(rule) = self.list.iter().find(|rule| rule.id == id) {
            return Some(rule);
        }
        let key = lookup_keys(id).into_iter().next()?;
        self.by_key.get(&key).map(|place| &self.list[*place])
    }

    /// Returns the short name of a statically checked rule, by its name in the text.
    pub fn name_of(&self, id: &str) -> Option<&'static str> {
        match self.find(id)?.disposition {
            RuleDisposition::Checked(name) => Some(name),
            RuleDisposition::Requirement
            | RuleDisposition::RunTime(_)
            | RuleDisposition::Implied(_)
            | RuleDisposition::NotChecked(_) => None,
        }
    }
}

impl Default for DocumentRules {
    fn default() -> DocumentRules {
        DocumentRules::new()
    }
}

/// Returns the lookup keys of a name in the text: the numbers of its VUIDs, which are unique, else
/// the name.
fn lookup_keys(id: &str) -> Vec<String> {
    if !id.starts_with("VUID-") {
        return vec![id.to_owned()];
    }
    let number = |word: &str| word.rsplit('-').next().map(str::to_owned);
    let words = id.split([' ', ',', '(', ')']).filter(|word| word.contains('-'));
    words.filter_map(number).filter(|number| number.len() == 5).collect()
}

fn every_rule() -> Vec<RuleEvidence> {
    let checked = rules::all_rules().map(|rule| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.requirement,
        disposition: RuleDisposition::Checked(rule.name),
    });
    let needs = REQUIREMENT_RULES.iter().map(|rule| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.text,
        disposition: RuleDisposition::Requirement,
    });
    let watched = assay_oracle::run_time_rules();
    let running = watched.map(|(rule, watch)| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.requirement,
        disposition: RuleDisposition::RunTime(watch),
    });
    let implied = IMPLIED.iter().map(|(id, by)| RuleEvidence {
        id: format!("VUID-RuntimeSpirv-{id}"),
        requirement: "",
        disposition: RuleDisposition::Implied(by),
    });
    let of = |prefix: &'static str, list: &'static [(&str, &[&str])]| {
        list.iter().flat_map(move |(why, ids)| {
            ids.iter().map(move |id| RuleEvidence {
                id: format!("{prefix}{id}"),
                requirement: "",
                disposition: RuleDisposition::NotChecked(why),
            })
        })
    };
    let unchecked =
        of("VUID-StandaloneSpirv-", UNCHECKED_STANDALONE).chain(of("VUID-RuntimeSpirv-", UNCHECKED_RUNTIME));
    checked.chain(needs).chain(running).chain(implied).chain(unchecked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vuids_are_found_by_number_and_clauses_by_name() {
        let id = "VUID-TileOffsetQCOM-TileOffsetQCOM-10626, TileDimensionQCOM-10629, TileApronSizeQCOM-10632";
        assert_eq!(lookup_keys(id), ["10626", "10629", "10632"]);
        assert_eq!(
            lookup_keys("SPV_KHR_8bit_storage, StoragePushConstant8"),
            ["SPV_KHR_8bit_storage, StoragePushConstant8"]
        );
    }
}
