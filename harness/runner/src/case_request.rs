//! Cases and calls as data.

use assay_case::{Case, OperandSource};
use assay_events::ExampleCall;
use assay_precision::{Call, Modes, Op, Scalar, Specification};
use serde::{Deserialize, Serialize};

/// A case in a form that is sent to another process, without its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseRequest {
    call: ExampleCall,
    /// Source of the operands.
    source: String,
}

impl CaseRequest {
    /// Returns the request for a case.
    pub fn of(case: &Case) -> CaseRequest {
        CaseRequest { call: example_call(case), source: case.source.to_string() }
    }

    /// Returns the case with a name.
    ///
    /// # Errors
    /// This version does not know a part of the request.
    pub fn case(self, name: String) -> Result<Case, String> {
        let CaseRequest { call: ExampleCall { op, format, from, shape, modes, wgsl, .. }, source } = self;
        let unknown = |what: &str, value: &str| format!("{name}: unknown {what} `{value}`");
        let of_name = |text: &str| Scalar::from_name(text).ok_or_else(|| unknown("type", text));
        let op = Op::from_name(&op).map_err(|error| format!("{name}: {error}"))?;
        let (scalar, from) = (of_name(&format)?, from.as_deref().map(of_name).transpose()?);
        let known = Call::shapes(op).iter().find(|known| known.to_string() == shape);
        let shape = *known.ok_or_else(|| unknown("shape", &shape))?;
        let modes = Modes::from_names(modes.iter().map(String::as_str)).map_err(|error| format!("{name}: {error}"))?;
        let known = OperandSource::ALL.into_iter().find(|known| known.name() == source);
        let source = known.ok_or_else(|| unknown("source", &source))?;
        // A case may have modes that a single call may not be explained with.
        let call = Call::new(op, scalar, shape, from, Modes::default()).map_err(|error| format!("{name}: {error}"))?;
        let specification = if wgsl { Specification::Wgsl } else { call.specification };
        let call = Call { modes, specification, ..call };
        Ok(Case { name, call, scalar, from, shape, source, quick: true, family: "".into() })
    }
}

/// Returns the call of a case as data.
pub fn example_call(case: &Case) -> ExampleCall {
    let Case { call, scalar, from, shape, .. } = case;
    ExampleCall {
        op: call.op.to_string(),
        format: scalar.to_string(),
        from: from.map(|from| from.to_string()),
        shape: shape.to_string(),
        modes: call.modes.names().into_iter().map(str::to_owned).collect(),
        wgsl: call.specification == Specification::Wgsl,
        several_results: call.result_slots().count() != 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_case_survives_as_data() {
        for case in assay_case::load().unwrap() {
            let read = CaseRequest::of(&case).case(case.name.clone()).unwrap();
            let parts = |case: &Case| (case.call.clone(), case.scalar, case.from, case.shape, case.source);
            assert_eq!(parts(&read), parts(&case), "{}", case.name);
            if let Ok(call) = case.call.in_wgsl() {
                let case = Case { call, ..case };
                assert_eq!(parts(&CaseRequest::of(&case).case(String::new()).unwrap()), parts(&case), "{}", case.name);
            }
        }
    }

    #[test]
    fn unknown_parts_are_refused_by_name() {
        let request = CaseRequest::of(&assay_case::load().unwrap()[0]);
        for (request, what) in [
            (CaseRequest { source: "file".to_owned(), ..request.clone() }, "p: unknown source `file`"),
            (
                CaseRequest {
                    call: ExampleCall { shape: "vec9".to_owned(), ..request.call.clone() },
                    ..request.clone()
                },
                "p: unknown shape `vec9`",
            ),
            (
                CaseRequest {
                    call: ExampleCall { format: "f7".to_owned(), ..request.call.clone() },
                    ..request.clone()
                },
                "p: unknown type `f7`",
            ),
        ] {
            assert_eq!(request.case("p".to_owned()).unwrap_err(), what);
        }
    }
}
