//! `assay explain`: derivation of the permitted set of one operation.

mod explanation_json;
mod explanation_text;
mod operand_text;

use crate::{
    common_args::Api,
    exit::{self, Failure, WithCode, usage},
    note, print,
};
use assay_events::{Example, ExampleCall};
use assay_float::Format;
use assay_precision::{Call, CallError, Explanation, Modes, Op, Scalar, Shape, Verdict, nearest};
use assay_reports::counted;
use assay_spirv::grammar::instruction_named;
use clap::Args;

/// End of `assay explain --help`.
pub(crate) const HELP: &str = "\
Operands and results:
  0x3f9d70a4     bits: 0x without an exponent, at most as wide as the type
  0x1.8p-3       a hex float: 0x with p
  1.23, -2e-3    a decimal; inf, nan, -inf
  A number that the type cannot represent is rounded to nearest, with a note.
  Separate operands by spaces or commas, in operand order; vectors component by
  component, matrices column by column. Each value has the type of its operand:
  the exponent of Ldexp is an integer.

The verdict:
  Pass, QualityWarning (the result is permitted by a lenient reading only) or
  Fail, with the margin: error divided by bound, 1 is the limit.

The JSON object:
  {\"op\", \"format\", \"inputs\": [bits], \"modes\": [names],
   \"exact\", \"rule\", \"clause\",
   \"permitted\": [[lowest bits, highest bits], ..], \"nan\": bool, \"any\": bool,
   \"got\": {\"bits\", \"permitted\": bool, \"lenient\": bool, \"margin\": number}}
  Ranges ascend from -inf to +inf, with -0 before +0. nan: any NaN is permitted.
  any: every value is permitted. permitted: by the usual reading; lenient: by
  the most lenient one. got is null without --got. An infinite margin is
  \"inf\"; the margin is null where no distance exists (an infinity, a NaN, or
  no requirement). Vectors and structures give an array of such objects.
  --api both gives {\"vulkan\": .., \"wgpu\": ..}.

Exit code: 0, or 1 if no reading permits the result given with --got.

Examples:
  assay explain Exp2 --format f32 --in 0x3f9d70a4 --got 0x40161f7c
  assay explain OpFDiv --format f16 --in 1 3 --mode RoundingModeRTZ
  assay explain OpFConvert --format f16 --from f32 --in 65519.9
  assay explain Ldexp --in 1.5,-126 --mode DenormPreserve
  assay explain Acos --in 0.999 --api both
  assay explain OpDot --shape vec3 --in 1,2,3,4,5,6 --json";

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Instruction in SPIR-V spelling, case-insensitive: OpFDiv, Exp2
    #[arg(value_name = "OP")]
    pub(crate) op: String,

    /// Type: f16, bf16, f32, f64, f8e4m3, f8e5m2, i8 to i64, u8 to u64; for a conversion the result
    /// type
    #[arg(long, short, value_name = "TYPE", default_value = "f32")]
    pub(crate) format: String,

    /// Operands, component by component
    #[arg(long = "in", short, value_name = "OPERAND", required = true, num_args = 1.., value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,

    /// Result of a device, to be compared with the permitted set
    #[arg(long, short, value_name = "RESULT", num_args = 1.., value_delimiter = ',')]
    pub(crate) got: Option<Vec<String>>,

    /// Execution mode or decoration in force, in SPIR-V spelling; repeatable
    #[arg(long, short, value_name = "NAME", value_delimiter = ',', long_help = format!(
        "Execution mode or decoration in force, in SPIR-V spelling; repeatable, or joined by + or commas: {}. (None \
         declares FPFastMathMode without flags.)",
        Modes::NAMES.join(", ")
    ))]
    pub(crate) mode: Vec<String>,

    /// Operand type of a conversion
    #[arg(long, value_name = "TYPE")]
    pub(crate) from: Option<String>,

    /// Shape of the widest operand: scalar, vec2 to vec4, mat2x3 (columns x rows) and so on
    ///
    /// [default: the shape that fits the number of operands]
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<String>,

    /// Specification: vulkan, wgpu (WGSL) or both
    #[arg(long, value_name = "API", default_value = "vulkan", hide_possible_values = true)]
    pub(crate) api: Api,

    /// Print JSON; `assay explain --help` shows the object
    #[arg(long)]
    pub(crate) json: bool,
}

/// A parsed request.
struct Request {
    call: Call,
    shape: Shape,
    /// Type given with `--format`.
    scalar: Scalar,
    inputs: Vec<u64>,
    got: Option<Vec<u64>>,
}

/// An operation explained by the rules of one API.
struct ApiExplanation {
    api: Api,
    request: Request,
    /// One for each result scalar.
    explanations: Vec<Explanation>,
}

/// Derives the permitted set for each selected API.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut failed = false;
    let mut all = Vec::new();
    for (i, &api) in args.api.each().iter().enumerate() {
        let request = parse_request(args, api)?;
        if i == 0
            && args.shape.is_none()
            && request.shape != Shape::Scalar
            && Call::shapes(request.call.op).contains(&Shape::Scalar)
        {
            let (operands, shape) = (counted(request.inputs.len(), "operand scalar"), request.shape);
            note(&format!("{operands} after --in: taken as {shape}, as with --shape {shape}"));
        }
        let explanations = request.call.explain(&request.inputs, request.got.as_deref());
        failed |= explanations.iter().any(is_failure);
        if args.json {
            all.push(ApiExplanation { api, request, explanations });
        } else {
            let between = if i > 0 { "\n" } else { "" };
            print(format!("{between}{}", explanation_text::render(&request, &explanations)).as_bytes())?;
        }
    }
    if args.json {
        print(explanation_json::render(&all).code(exit::INTERNAL)?.as_bytes())?;
    }
    Ok(if failed { exit::FAILURES } else { exit::OK })
}

/// Returns the derivation of the permitted set of an example, as `assay explain` prints it, without
/// colours; `None` for an example without a call, or with one that this version does not know.
pub(crate) fn derivation(example: &Example) -> Option<String> {
    let ExampleCall { op, format, from, shape, modes, wgsl, several_results } = example.call.clone()?;
    let args = ExplainArgs {
        op,
        format,
        inputs: example.operands.clone(),
        got: (!several_results).then(|| vec![example.got.clone()]),
        mode: modes,
        from,
        shape: Some(shape),
        api: if wgsl { Api::Wgpu } else { Api::Vulkan },
        json: false,
    };
    let request = parse_request(&args, args.api).ok()?;
    let explanations = request.call.explain(&request.inputs, request.got.as_deref());
    Some(anstream::adapter::strip_str(&explanation_text::render(&request, &explanations)).to_string())
}

fn is_failure(explanation: &Explanation) -> bool {
    explanation.judgement.is_some_and(|judgement| judgement.verdict == Verdict::Fail)
}

fn parse_request(args: &ExplainArgs, api: Api) -> Result<Request, Failure> {
    let op = op(&args.op)?;
    let scalar = scalar(&args.format)?;
    let from = args.from.as_deref().map(self::scalar).transpose()?;
    if from.is_some() && Call::sources(op).is_empty() {
        return Err(usage(format!("{op} is not a conversion; remove --from")));
    }
    let modes = modes(&args.mode)?;
    let given: Vec<String> = args.inputs.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
    let (call, shape) = match &args.shape {
        Some(text) => {
            let shape = shape(text, op)?;
            (Call::new(op, scalar, shape, from, modes).code(exit::USAGE)?, shape)
        }
        None => fitting(op, scalar, from, modes, given.len())?,
    };
    let call = if api == Api::Wgpu { call.in_wgsl().code(exit::USAGE)? } else { call };
    let inputs = values("--in", &given, call.operand_slots().collect())
        .map_err(|wrong| wrong.unwrap_or_else(|slots| count_of_operands(&call, &slots, given.len())))?;
    let got = match &args.got {
        None => None,
        Some(texts) => {
            let values = values("--got", texts, call.result_slots().collect());
            Some(
                values
                    .map_err(|wrong| wrong.unwrap_or_else(|slots| count_of_results(&call, slots.len(), texts.len())))?,
            )
        }
    };
    Ok(Request { call, shape, scalar, inputs, got })
}

/// Parses an instruction's name.
fn op(name: &str) -> Result<Op, Failure> {
    Op::from_name(name).map_err(|unknown| match instruction_named(name) {
        Some(_) => usage(format!(
            "{name} has no row in the precision table, so `assay explain` cannot derive it; check a shader that uses it with \
             `assay check`"
        )),
        None => usage(unknown),
    })
}

/// Parses a type's name.
fn scalar(name: &str) -> Result<Scalar, Failure> {
    Scalar::from_name(name).ok_or_else(|| {
        let formats = Format::ALL.iter().map(|format| format.name);
        let others = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"];
        let near = nearest(name, formats.chain(others));
        usage(format!("unknown type `{name}`; the nearest are {}", near.join(", ")))
    })
}

/// Parses mode names; each may be several names joined by `+`.
fn modes(names: &[String]) -> Result<Modes, Failure> {
    let names = names.iter().flat_map(|name| name.split('+')).map(str::trim);
    Modes::from_names(names).map_err(|error| usage(error.to_string()))
}

/// Parses a shape's name.
///
/// # Errors
/// The instruction does not take the shape.
fn shape(text: &str, op: Op) -> Result<Shape, Failure> {
    let lower = text.to_ascii_lowercase();
    let size = |digits: &str| digits.parse::<u32>().ok();
    let shape = match (lower.strip_prefix("vec"), lower.strip_prefix("mat")) {
        (Some(rows), _) => size(rows).map(Shape::Vector),
        (None, Some(rest)) => {
            let (columns, rows) = rest.split_once('x').unwrap_or((rest, rest));
            size(columns).zip(size(rows)).map(|(columns, rows)| Shape::Matrix { columns, rows })
        }
        (None, None) => (lower == "scalar").then_some(Shape::Scalar),
    };
    let taken = Call::shapes(op);
    shape.filter(|shape| taken.contains(shape)).ok_or_else(|| {
        let names: Vec<String> = taken.iter().map(Shape::to_string).collect();
        usage(format!("{op} does not take the shape `{text}`; it takes {}", names.join(", ")))
    })
}

/// Returns the call and shape with the given number of operand scalars.
///
/// # Errors
/// No shape fits, or several do.
fn fitting(op: Op, scalar: Scalar, from: Option<Scalar>, modes: Modes, given: usize) -> Result<(Call, Shape), Failure> {
    let mut refused: Option<CallError> = None;
    let mut calls = Vec::new();
    for &shape in Call::shapes(op) {
        match Call::new(op, scalar, shape, from, modes) {
            Ok(call) => calls.push((call, shape)),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let mut fit: Vec<(Call, Shape)> = Vec::new();
    for (call, shape) in &calls {
        if call.operand_slots().count() == given {
            fit.push((call.clone(), *shape));
        }
    }
    match (fit.len(), refused) {
        (1, _) => Ok(fit.remove(0)),
        (0, Some(refused)) if calls.is_empty() => Err(refused).code(exit::USAGE),
        (0, _) => {
            let counts = calls.iter().map(|(call, shape)| format!("{} as {shape}", call.operand_slots().count()));
            let counts = counts.collect::<Vec<_>>().join(", ");
            Err(usage(format!("{op} does not take {given} operand scalars after --in; it takes {counts}")))
        }
        _ => {
            let names: Vec<String> = fit.iter().map(|(_, shape)| shape.to_string()).collect();
            Err(usage(format!(
                "{given} operand scalars fit several shapes of {op}; give one with --shape ({})",
                names.join(", ")
            )))
        }
    }
}

/// Parses operands or results. If their number is wrong, the inner error has the expected types.
fn values(flag: &str, texts: &[String], slots: Vec<Scalar>) -> Result<Vec<u64>, Result<Failure, Vec<Scalar>>> {
    if texts.len() != slots.len() {
        return Err(Err(slots));
    }
    let mut bits = Vec::with_capacity(slots.len());
    for (text, &slot) in texts.iter().zip(&slots) {
        let value = operand_text::parse(text.trim(), slot).map_err(|error| Ok(usage(format!("{flag}: {error}"))))?;
        if !value.exact {
            let (hex, float) = (assay_runner::hex(slot, value.bits), operand_text::hex_float(value.bits, slot));
            note(&format!("{text} is not a value of {slot}; the nearest is {hex} = {float}"));
        }
        bits.push(value.bits);
    }
    Ok(bits)
}

fn count_of_operands(call: &Call, slots: &[Scalar], given: usize) -> Failure {
    let types: Vec<String> = call.operands.iter().map(ToString::to_string).collect();
    let error = CallError::Operands { op: call.op, expected: slots.len(), types: types.join(", "), given };
    Failure { code: exit::USAGE, error: error.into() }
}

fn count_of_results(call: &Call, expected: usize, given: usize) -> Failure {
    let types: Vec<String> = call.results.iter().map(ToString::to_string).collect();
    usage(format!(
        "{} returns {} here ({}), but --got has {given}",
        call.op,
        counted(expected, "scalar"),
        types.join(", ")
    ))
}

/// Returns the call's types, such as `f32 <- f32, f32`.
fn types(call: &Call) -> String {
    let side = |types: &[assay_precision::Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("{} <- {}", side(&call.results), side(&call.operands))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivation_of_an_example_has_no_colours() {
        let example = |op: &str, operands: &[&str]| Example {
            operands: operands.iter().map(|&operand| operand.to_owned()).collect(),
            slot: 0,
            scalar: None,
            got: "0x40161f7c".to_owned(),
            permitted: Vec::new(),
            margin: None,
            call: Some(ExampleCall {
                op: op.to_owned(),
                format: "f32".to_owned(),
                shape: "scalar".to_owned(),
                ..ExampleCall::default()
            }),
        };
        let text = derivation(&example("Exp2", &["0x3f9d70a4"])).unwrap();
        assert!(text.contains("permitted") && text.contains("0x40161f7c") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(derivation(&example("Nothing", &["0x3f9d70a4"])), None);
        assert_eq!(derivation(&example("Exp2", &[])), None);
        assert_eq!(derivation(&Example { call: None, ..example("Exp2", &["0x3f9d70a4"]) }), None);
    }

    #[test]
    fn modes_that_exclude_each_other_are_refused() {
        let of = |names: &[&str]| modes(&names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]).unwrap(), Modes::default());
        assert_eq!(of(&["default"]).unwrap(), Modes::default());
        assert_eq!(
            of(&["denormpreserve+RoundingModeRTE"]).unwrap().names(),
            of(&["DenormPreserve", "RoundingModeRTE"]).unwrap().names()
        );
        // An instruction may be decorated where the module declares the other.
        assert!(of(&["None", "SignedZeroInfNanPreserve"]).is_ok());
        for wrong in [
            &["DenormPreserve", "DenormFlushToZero"][..],
            &["RoundingModeRTE", "RoundingModeRTZ"],
            &["None", "NSZ"],
            &["NSZ", "NoContraction"],
            &["DenormsPreserve"],
        ] {
            assert_eq!(of(wrong).unwrap_err().code, exit::USAGE, "{wrong:?}");
        }
        assert!(of(&["DenormsPreserve"]).unwrap_err().to_string().contains("DenormPreserve"));
    }

    #[test]
    fn an_unknown_type_suggests_near_names() {
        assert!(scalar("f23").unwrap_err().to_string().contains("f32"));
        assert_eq!(scalar("F16").unwrap(), Scalar::Float(assay_float::F16));
    }
}
