//! An explanation as JSON.

use super::{Request, operand};
use assay_float::{Rank, Set};
use assay_precision::{Explanation, Scalar, Verdict};
use serde::Serialize;
use serde_json::Value;

/// What `assay explain --json` prints for one result scalar.
#[derive(Serialize)]
struct Object<'a> {
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
    /// A number, `"inf"`, or null.
    margin: Value,
}

/// The object, or an array of objects for several results.
pub(super) fn render(request: &Request, explanations: &[Explanation]) -> serde_json::Result<String> {
    let call = &request.call;
    let inputs: Vec<String> =
        request.inputs.iter().zip(call.operand_slots()).map(|(&bits, slot)| operand::hex(bits, slot)).collect();
    let object = |(index, (explanation, slot)): (usize, (&'_ Explanation, Scalar))| {
        let set = &explanation.permitted.usual;
        let got = request.got.as_ref().map(|got| Got {
            bits: operand::hex(got[index], slot),
            permitted: matches!(verdict(explanation), Verdict::Pass | Verdict::Unchecked),
            lenient: verdict(explanation) != Verdict::Fail,
            margin: margin(explanation.judgement.and_then(|judgement| judgement.margin)),
        });
        serde_json::to_value(Object {
            op: call.op.name(),
            format: request.scalar.to_string(),
            inputs: inputs.clone(),
            modes: call.modes.names(),
            exact: &explanation.exact,
            rule: &explanation.rule,
            clause: explanation.clause,
            permitted: ranges(set, slot),
            nan: set.has_nan(),
            any: set.is_anything(),
            got,
        })
    };
    let objects = explanations.iter().zip(call.result_slots()).enumerate().map(object);
    let mut objects = objects.collect::<serde_json::Result<Vec<Value>>>()?;
    match objects.len() {
        1 => serde_json::to_string_pretty(&objects.remove(0)),
        _ => serde_json::to_string_pretty(&objects),
    }
}

fn verdict(explanation: &Explanation) -> Verdict {
    explanation.judgement.map_or(Verdict::Unchecked, |judgement| judgement.verdict)
}

/// JSON has no infinity.
fn margin(margin: Option<f64>) -> Value {
    match margin {
        Some(margin) if margin.is_infinite() => "inf".into(),
        Some(margin) => margin.into(),
        None => Value::Null,
    }
}

/// The bits of a rank of a result's type; integers are their own ranks.
pub(super) fn bits(rank: Rank, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Float(format) => format.bits(rank),
        Scalar::Int { .. } | Scalar::Bool => rank.cast_unsigned() & (u64::MAX >> (64 - scalar.width())),
    }
}

fn ranges(set: &Set, scalar: Scalar) -> Vec<[String; 2]> {
    let end = |rank| operand::hex(bits(rank, scalar), scalar);
    set.ranges().iter().map(|range| [end(range.lo), end(range.hi)]).collect()
}
