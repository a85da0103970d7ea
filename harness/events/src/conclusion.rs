//! The conclusion of a check in one sentence.

use crate::{CheckResult, TracedInstructions, Writes, group_digits};

impl CheckResult {
    /// Returns the conclusion in one line: the reason for any status but `Pass`; otherwise the share
    /// of the written elements that was checked, or the check of the instructions by themselves where
    /// the output says little.
    pub fn conclusion(&self) -> String {
        if let Some(reason) = &self.reason {
            return reason.lines().next().unwrap_or_default().to_owned();
        }
        let by_instructions = self.traced.as_ref().filter(|traced| traced.is_meaningful());
        match (by_instructions, &self.writes) {
            (Some(traced), _) => self.of_instructions(traced),
            (None, Some(writes)) if writes.written > 0 => {
                let says_little = if self.is_meaningful() { "" } else { "this says little about the shader: " };
                format!("{says_little}{}", of_output(writes))
            }
            _ => format!("{} elements checked, all permitted", group_digits(self.elements_checked)),
        }
    }

    /// Returns the conclusion of a passing check of the instructions.
    fn of_instructions(&self, traced: &TracedInstructions) -> String {
        let because = self.weakness().map_or_else(String::new, |weakness| format!(" ({weakness})"));
        format!("{traced} checked one by one, all permitted; the output alone says little{because}")
    }

    /// Returns the reason why the output says little about the shader.
    fn weakness(&self) -> Option<&'static str> {
        let CheckResult { writes, executed, mutations, .. } = self;
        let Some(writes) = writes.as_ref().filter(|writes| writes.falsifiable > 0) else {
            return Some("none of its elements could have come out wrong");
        };
        if writes.narrow() == 0 {
            return Some("all of its elements may vary by more than a factor of two");
        }
        if !Writes::is_enough(writes.written, writes.elements) {
            return Some("it has few of the elements that the shader may write");
        }
        if !Writes::is_enough(writes.narrow(), writes.elements) {
            return Some("few of its elements could have come out wrong");
        }
        if writes.thin_modes > 0 {
            return Some("in a round with parameters of its own, few of its elements could have come out wrong");
        }
        if !writes.is_varied() {
            return Some("few of its values differ");
        }
        if executed.as_ref().is_some_and(|executed| !executed.is_meaningful()) {
            return Some("the shader executed less than half of its instructions");
        }
        let score = mutations.as_ref().filter(|score| !score.is_meaningful())?;
        Some(match (score.is_known(), score.hidden_kinds()) {
            (false, _) => "how many wrong computations it would show is not known",
            (true, [true, false]) => "it hides most wrong float computations",
            (true, [false, true]) => "it hides most wrong integer computations",
            (true, _) => "it hides most wrong computations",
        })
    }
}

/// Returns the conclusion of a passing check of the output.
fn of_output(writes: &Writes) -> String {
    let Writes { written, falsifiable, .. } = *writes;
    let all = group_digits(written);
    if falsifiable >= written {
        format!("all {all} written elements checked, all permitted")
    } else {
        format!("{} of {all} written elements checked, all permitted", group_digits(falsifiable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    fn pass(written: u64, falsifiable: u64) -> CheckResult {
        let writes = Writes { elements: 2048, written, falsifiable, ..Writes::default() };
        CheckResult {
            writes: Some(writes),
            reason: None,
            ..CheckResult::not_run("a".to_owned(), Status::Pass, String::new(), 0)
        }
    }

    #[test]
    fn conclusion_names_the_checked_share_of_the_written_elements() {
        assert_eq!(pass(2000, 2000).conclusion(), "all 2,000 written elements checked, all permitted");
        assert_eq!(pass(2000, 1500).conclusion(), "1,500 of 2,000 written elements checked, all permitted");
        let little = "this says little about the shader: 50 of 2,000 written elements checked, all permitted";
        assert_eq!(pass(2000, 50).conclusion(), little);
    }

    #[test]
    fn conclusion_rests_on_instructions_if_most_of_them_were_checked() {
        let conclusion = |instructions| {
            let traced = TracedInstructions { instructions, of: 10, results: 1200, ..TracedInstructions::default() };
            CheckResult { traced: Some(traced), ..pass(2000, 1) }.conclusion()
        };
        let nine = conclusion(9);
        let said = "9 of 10 computations (1,200 results) checked one by one, all permitted; the output alone says little \
                    (few of its elements could have come out wrong)";
        assert_eq!(nine, said);
        let traced = TracedInstructions {
            instructions: 9,
            of: 10,
            results: 1200,
            unexecuted: 1,
            ..TracedInstructions::default()
        };
        let unexecuted = CheckResult { traced: Some(traced), ..pass(2000, 1) }.conclusion();
        assert!(unexecuted.starts_with("9 of 10 computations (1,200 results; 1 did not run) checked"), "{unexecuted}");
        assert!(conclusion(2).contains("1 of 2,000 written elements"));
    }

    #[test]
    fn conclusion_is_the_first_line_of_the_reason() {
        let reason = Some("2 elements are not permitted\nmore".to_owned());
        let result = CheckResult { reason, ..pass(10, 10) };
        assert_eq!(result.conclusion(), "2 elements are not permitted");
    }
}
