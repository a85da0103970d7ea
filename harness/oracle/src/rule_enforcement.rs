//! Enforcement of the run-time rules (`assay_spirv_rules::rules::RUN_TIME_RULES`), one line for
//! each rule.

use assay_spirv_rules::rules::{RUN_TIME_RULES, RunTimeRule};

/// The place where a run-time rule is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleEnforcement {
    /// A function of this crate detects violations: the dispatch has a fault, or is refused, under
    /// the rule's name. For each rule `tests/it/run_time_rules.rs` has a dispatch that breaks it
    /// and a nearest one that does not.
    Enforced(&'static str),
    /// A function of this workspace implements the rule when it computes permitted results.
    Followed(&'static str),
    /// A function of another crate refuses modules that would break the rule.
    Elsewhere(&'static str),
    /// Modules that could break the rule are refused as not implemented, under this name.
    Refused(&'static str),
    /// Nothing that can be bound or run breaks the rule, for this reason.
    Cannot(&'static str),
    /// Not enforced, for this reason.
    Open(&'static str),
}

use RuleEnforcement::{Cannot, Elsewhere, Enforced, Followed, Open, Refused};

const ONE_OF: &str = "oracle::run::control::uniformity::chosen_uniformly";
const SAME: &str = "oracle::run::control::uniformity::same_in_subgroup";
const OFFSET: &str = "oracle::run::control::uniformity::offset_within";
const ATTACHMENTS: &str = "vulkan::tile::pass_rules::attachments";
const MATRICES: &str = "cooperative matrices";
const VECTORS: &str = "cooperative vectors";
const BARRIERS: &str = "split barriers";
const SUB_ARRAYS: &str = "OpExtractSubArrayQCOM";
const NO_YCBCR: &str = "no view or sampler that converts Y'CbCr is made";
const NO_FRAGMENT: &str = "InterpolateAtOffset is of fragment shaders: this project runs compute";

/// Keyed by the number of the VUID, or by the end of the clause's name.
const WATCHES: &[(&str, RuleEnforcement)] = &[
    ("10134", Enforced(ONE_OF)),
    ("10135", Enforced(ONE_OF)),
    ("10136", Enforced(ONE_OF)),
    ("10137", Enforced(ONE_OF)),
    ("10138", Cannot("input attachments are of fragment shaders: this project runs compute")),
    ("10139", Enforced(ONE_OF)),
    ("10140", Enforced(ONE_OF)),
    ("04745", Enforced("oracle::run::control::uniformity::pushed_uniformly")),
    ("10148", Enforced(ONE_OF)),
    ("10149", Enforced(ONE_OF)),
    ("06276", Enforced(SAME)),
    ("06277", Enforced(SAME)),
    ("06315", Enforced("oracle::run::memory::address::physical_target")),
    ("11819", Enforced("oracle::run::memory::address::physical_target")),
    ("10834", Enforced("oracle::run::memory::address::target")),
    ("06376", Enforced(OFFSET)),
    ("06377", Enforced(OFFSET)),
    ("06435", Enforced(OFFSET)),
    ("06436", Enforced(OFFSET)),
    ("10718", Cannot(NO_YCBCR)),
    ("10700", Enforced("oracle::run::setup::check")),
    ("10701", Enforced("oracle::run::setup::check")),
    ("10704", Enforced("oracle::run::setup::check")),
    ("10705", Enforced("oracle::run::setup::check")),
    ("10707", Elsewhere(ATTACHMENTS)),
    ("10708", Elsewhere(ATTACHMENTS)),
    ("10709", Elsewhere(ATTACHMENTS)),
    ("10710", Elsewhere(ATTACHMENTS)),
    ("10711", Elsewhere(ATTACHMENTS)),
    ("10712", Refused("the image processing instructions of VK_QCOM_image_processing and _2")),
    ("10713", Enforced("oracle::run::images::in_tile")),
    ("10714", Enforced("oracle::run::images::in_tile")),
    ("10163", Refused(MATRICES)),
    ("10060", Refused(MATRICES)),
    ("10165", Refused(MATRICES)),
    ("10166", Refused(MATRICES)),
    ("10167", Refused(MATRICES)),
    ("10770", Refused(MATRICES)),
    ("08986", Refused(MATRICES)),
    ("10089", Refused(VECTORS)),
    ("10092", Refused(VECTORS)),
    ("10093", Refused(VECTORS)),
    ("10095", Refused(VECTORS)),
    ("10096", Refused(VECTORS)),
    ("10097", Refused(VECTORS)),
    ("10098", Refused(VECTORS)),
    ("10099", Refused(VECTORS)),
    ("10100", Refused(VECTORS)),
    ("10101", Refused(VECTORS)),
    ("11808", Refused(VECTORS)),
    ("11809", Refused(VECTORS)),
    ("07117", Cannot("task shaders: this project runs compute")),
    ("07118", Cannot("mesh shaders: this project runs compute")),
    ("06344", Cannot(NO_FRAGMENT)),
    ("06345", Cannot(NO_FRAGMENT)),
    ("06346", Cannot(NO_FRAGMENT)),
    ("06347", Cannot(NO_FRAGMENT)),
    ("10141", Enforced(ONE_OF)),
    ("10142", Enforced(ONE_OF)),
    ("10143", Enforced(ONE_OF)),
    ("10144", Enforced(ONE_OF)),
    ("10145", Cannot("input attachments are of fragment shaders: this project runs compute")),
    ("10146", Enforced(ONE_OF)),
    ("10147", Enforced(ONE_OF)),
    ("11166", Refused("untyped pointers")),
    ("08725", Enforced("oracle::run::setup::add_image")),
    ("08726", Enforced("oracle::run::setup::add_image")),
    ("13558", Refused(BARRIERS)),
    ("13559", Refused(BARRIERS)),
    ("13560", Refused(BARRIERS)),
    ("13561", Refused(BARRIERS)),
    ("13562", Refused(BARRIERS)),
    ("10168", Refused(MATRICES)),
    ("10090", Refused(VECTORS)),
    ("12203", Cannot(NO_YCBCR)),
    ("12204", Cannot(NO_YCBCR)),
    ("12205", Cannot(NO_YCBCR)),
    ("12206", Cannot(NO_YCBCR)),
    ("12207", Cannot(NO_YCBCR)),
    ("12208", Cannot(NO_YCBCR)),
    ("12352", Refused(SUB_ARRAYS)),
    ("12353", Refused(SUB_ARRAYS)),
    ("12354", Refused(SUB_ARRAYS)),
    ("13382", Refused(MATRICES)),
    ("13383", Refused(MATRICES)),
    ("12429", Refused(MATRICES)),
    ("12379", Refused(MATRICES)),
    ("OpSRem and OpSMod", Followed("oracle::integer::eval")),
    ("denormalized values", Followed("precision::evaluate::environment_effects::flush")),
    ("float8 conversions", Refused("OpTypeFloat 8")),
    ("Precision of Individual Operations", Followed("precision::instructions::row")),
    ("Image Dimensions and Vulkan ImageView Types", Enforced("oracle::run::setup::add_image")),
    ("Image Formats and Vulkan Formats", Enforced("oracle::run::setup::add_image")),
    ("Tensor Element Types And Vulkan Formats", Refused("tensors")),
    ("unformatted accesses", Enforced("oracle::run::images::access_fits")),
    ("ClusterSize", Enforced("oracle::run::control::uniformity::cluster_fits")),
    ("OpGroupNonUniformInverseBallot: Value", Enforced(SAME)),
    ("OpGroupNonUniformRotateKHR: Delta", Enforced(SAME)),
    ("OpAssumeTrueKHR: Condition", Enforced("oracle::run::control::uniformity::assume")),
    ("without Aliased", Enforced("oracle::run::memory::aliasing::accessed_as")),
];

/// Every run-time rule with the place of its enforcement.
pub fn run_time_rules() -> impl Iterator<Item = (&'static RunTimeRule, RuleEnforcement)> {
    RUN_TIME_RULES.iter().map(|rule| (rule, of(rule)))
}

fn of(rule: &RunTimeRule) -> RuleEnforcement {
    let found = WATCHES.iter().find(|(end, _)| rule.id.ends_with(end));
    found.map_or(Open("nobody has looked at it yet"), |(_, watch)| *watch)
}

/// The full name of the rule with that number.
pub(crate) fn named(number: &str) -> &'static str {
    RUN_TIME_RULES.iter().map(|rule| rule.id).find(|id| id.ends_with(number)).unwrap_or("a rule without name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_one_line_and_every_line_a_rule() {
        assert_eq!(WATCHES.len(), RUN_TIME_RULES.len());
        for rule in RUN_TIME_RULES {
            let lines = WATCHES.iter().filter(|(end, _)| rule.id.ends_with(end)).count();
            assert_eq!(lines, 1, "{}", rule.id);
        }
    }
}
