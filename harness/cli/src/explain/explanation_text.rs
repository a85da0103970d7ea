//! Text output of `assay explain`.

use super::{Request, operand_text, types};
use anstyle::{AnsiColor, Style};
use assay_float::Set;
use assay_precision::{Explanation, Judgement, Scalar, Specification, Verdict};
use assay_reports::{group_digits, margin};
use std::fmt::Write;

/// Width of the column of labels.
const LABEL: usize = 15;

/// Returns the whole explanation.
pub(super) fn render(request: &Request, explanations: &[Explanation]) -> String {
    let call = &request.call;
    let bold = Style::new().bold();
    let under = match call.specification {
        Specification::Vulkan => format!("modes: {}", call.modes),
        Specification::Wgsl => "under the rules of WGSL".to_owned(),
    };
    let mut text = format!("{bold}{}{bold:#}  {}  {}  {under}\n\n", call.op, types(call), request.shape);
    let operands: Vec<(u64, Scalar)> = request.inputs.iter().copied().zip(call.operand_slots()).collect();
    for (i, &(bits, slot)) in operands.iter().enumerate() {
        // Derivations name the operands x0, x1, ..
        line(&mut text, &format!("operand x{i}"), &operand_text::show(bits, slot));
    }
    if !call.is_defined(&request.inputs) {
        line(&mut text, "", "the behaviour is undefined for these operands; no case uses them");
    }
    let results: Vec<Scalar> = call.result_slots().collect();
    for (i, (explanation, &slot)) in explanations.iter().zip(&results).enumerate() {
        if results.len() > 1 {
            _ = write!(text, "\n{bold}result {} of {} ({slot}){bold:#}\n", i + 1, results.len());
        }
        render_result(&mut text, explanation, slot, request.got.as_ref().map(|got| got[i]));
    }
    text
}

/// Adds the explanation of one result scalar.
fn render_result(text: &mut String, explanation: &Explanation, slot: Scalar, got: Option<u64>) {
    line(text, "exact value", &explanation.exact);
    line(text, "rule", &explanation.rule);
    line(text, "clause", explanation.clause);
    if !explanation.steps.is_empty() {
        text.push('\n');
    }
    for (i, step) in explanation.steps.iter().enumerate() {
        let label = if i == 0 { "derivation" } else { "" };
        line(text, label, &format!("{}{}", "  ".repeat(step.depth), step.text));
    }
    text.push('\n');
    set(text, "permitted", &explanation.permitted.usual, slot);
    if let Some(lenient) = &explanation.permitted.lenient {
        set(text, "lenient", &lenient.set, slot);
        line(text, "", &format!("in doubt: {}", lenient.doubt));
    }
    if let (Some(bits), Some(judgement)) = (got, explanation.judgement) {
        text.push('\n');
        line(text, "got", &operand_text::show(bits, slot));
        line(text, "verdict", &verdict(judgement));
    }
}

fn line(text: &mut String, label: &str, value: &str) {
    let dim = Style::new().dimmed();
    let padded = format!("{label:<LABEL$}");
    _ = writeln!(text, "{dim}{padded}{dim:#}{}", value.trim_end());
}

/// Adds a permitted set: a line for each end of each range, with all notations in columns.
fn set(text: &mut String, label: &str, set: &Set, slot: Scalar) {
    let mut label = label;
    let mut put = |value: &str| line(text, std::mem::take(&mut label), value);
    if set.is_anything() {
        return put("anything: nothing is required of the result");
    }
    if set.is_empty() {
        return put("nothing");
    }
    let ends = set.ranges().iter().flat_map(|range| [range.lo, range.hi]).map(|rank| slot.bits_of_rank(rank));
    let ends: Vec<[String; 3]> = ends
        .map(|bits| {
            [assay_runner::hex(slot, bits), operand_text::decimal(bits, slot), operand_text::hex_float(bits, slot)]
        })
        .collect();
    let width = |column: usize| ends.iter().map(|end| end[column].len()).max().unwrap_or(0);
    let (decimals, floats) = (width(1), width(2));
    for (range, ends) in set.ranges().iter().zip(ends.chunks_exact(2)) {
        let columns = |end: &[String; 3]| format!("{}  {:<decimals$}  {:<floats$}", end[0], end[1], end[2]);
        if range.is_point() {
            put(&format!("only {}", columns(&ends[0])));
        } else {
            let members = range.hi.abs_diff(range.lo).saturating_add(1);
            put(&format!("from {}", columns(&ends[0])));
            put(&format!("  to {}  {} values", columns(&ends[1]), group_digits(members)));
        }
    }
    if set.has_nan() {
        put(if set.ranges().is_empty() { "any NaN" } else { "and any NaN" });
    }
}

fn verdict(judgement: Judgement) -> String {
    let colour = match judgement.verdict {
        Verdict::Unchecked => Style::new(),
        Verdict::Pass => AnsiColor::Green.on_default().bold(),
        Verdict::QualityWarning => AnsiColor::Yellow.on_default().bold(),
        Verdict::Fail => AnsiColor::Red.on_default().bold(),
    };
    let word = match judgement.verdict {
        Verdict::Unchecked => "not checked: nothing is required of the result",
        Verdict::Pass => "Pass",
        Verdict::QualityWarning => "QualityWarning: only the lenient reading permits it",
        Verdict::Fail => "Fail",
    };
    let mut text = format!("{colour}{word}{colour:#}");
    if let Some(class) = judgement.class.filter(|_| judgement.verdict == Verdict::Fail) {
        text += &format!(", {class:?}: {}", class.description());
    }
    if let Some(value) = judgement.margin {
        text += &format!("; margin {} (error over bound; 1 is the limit)", margin(value));
    }
    text
}
