//! JSON output of `assay explain`.

use super::{ApiExplanation, Request};
use assay_float::Set;
use assay_precision::{Explanation, Scalar, Verdict};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Output for one result scalar.
#[derive(Serialize)]
struct ResultObject<'a> {
    op: &'a str,
    format: String,
    inputs: Vec<String>,
    modes: Vec<&'a str>,
    exact: &'a str,
    rule: &'a str,
    clause: &'a str,
    permitted: Vec<[String; 2]>,
    nan: bool,
    any: bool,
    got: Option<Got>,
}

#[derive(Serialize)]
struct Got {
    bits: String,
    permitted: bool,
    lenient: bool,
    /// A number, `"inf"`, or null if no distance exists.
    margin: Value,
}

/// Output for one API.
#[derive(Serialize)]
#[serde(untagged)]
enum ApiDocument<'a> {
    Single(Box<ResultObject<'a>>),
    /// Operation with several result scalars.
    Several(Vec<ResultObject<'a>>),
}

/// Returns the JSON text: the document of a single API, or an object of documents by API name.
pub(super) fn render(all: &[ApiExplanation]) -> serde_json::Result<String> {
    let mut documents = all.iter().map(|of| (of.api.name(), document(&of.request, &of.explanations)));
    let mut text = match (documents.next(), documents.next()) {
        (Some((_, only)), None) => serde_json::to_string_pretty(&only)?,
        (first, second) => {
            let by_name: BTreeMap<&str, ApiDocument<'_>> = first.into_iter().chain(second).chain(documents).collect();
            serde_json::to_string_pretty(&by_name)?
        }
    };
    text.push('\n');
    Ok(text)
}

fn document<'a>(request: &Request, explanations: &'a [Explanation]) -> ApiDocument<'a> {
    let slots = request.call.result_slots();
    let mut objects: Vec<ResultObject<'a>> = explanations
        .iter()
        .zip(slots)
        .enumerate()
        .map(|(index, (explanation, slot))| object(request, explanation, slot, index))
        .collect();
    match (objects.pop(), objects.is_empty()) {
        (Some(one), true) => ApiDocument::Single(Box::new(one)),
        (last, _) => ApiDocument::Several(objects.into_iter().chain(last).collect()),
    }
}

fn object<'a>(request: &Request, explanation: &'a Explanation, slot: Scalar, index: usize) -> ResultObject<'a> {
    let call = &request.call;
    let set = &explanation.permitted.usual;
    let verdict = explanation.judgement.map_or(Verdict::Unchecked, |judgement| judgement.verdict);
    ResultObject {
        op: call.op.name(),
        format: request.scalar.to_string(),
        inputs: request
            .inputs
            .iter()
            .zip(call.operand_slots())
            .map(|(&bits, slot)| assay_runner::hex(slot, bits))
            .collect(),
        modes: call.modes.names(),
        exact: &explanation.exact,
        rule: &explanation.rule,
        clause: explanation.clause,
        permitted: ranges(set, slot),
        nan: set.has_nan(),
        any: set.is_anything(),
        got: request.got.as_ref().map(|got| Got {
            bits: assay_runner::hex(slot, got[index]),
            permitted: matches!(verdict, Verdict::Pass | Verdict::Unchecked),
            lenient: verdict != Verdict::Fail,
            margin: margin(explanation.judgement.and_then(|judgement| judgement.margin)),
        }),
    }
}

/// Returns the margin as JSON, which has no infinity.
fn margin(margin: Option<f64>) -> Value {
    match margin {
        Some(margin) if margin.is_infinite() => "inf".into(),
        Some(margin) => margin.into(),
        None => Value::Null,
    }
}

fn ranges(set: &Set, scalar: Scalar) -> Vec<[String; 2]> {
    let end = |rank| assay_runner::hex(scalar, scalar.bits_of_rank(rank));
    set.ranges().iter().map(|range| [end(range.lo), end(range.hi)]).collect()
}
