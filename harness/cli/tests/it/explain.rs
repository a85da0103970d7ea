//! `assay explain`: text output, JSON output and exit codes.

use crate::support::assay;
use assay_precision::{Call, Modes, Op};
use serde_json::{Value, json};

const EXP2: [&str; 6] = ["explain", "Exp2", "--format", "f32", "--in", "0x3f9d70a4"];

fn object(arguments: &[&str]) -> (i32, Value) {
    let output = assay(&[arguments, &["--json"]].concat());
    (output.code, serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("JSON: {output:?}")))
}

#[test]
fn an_explanation_has_value_rule_clause_set_and_verdict() {
    let output = assay(&[&EXP2[..], &["--got", "0x40161f7c"]].concat());
    assert_eq!(output.code, 1, "{output:?}");
    for said in [
        "0x3f9d70a4 = 1.23 = 0x1.3ae148p+0",
        "2.345669929",
        "3 + 2 * |x| ULP",
        "precision-of-glsl-std-450-instructions",
        "from 0x40161f70  2.3456688  0x1.2c3eep+1",
        "to 0x40161f7a  2.3456712  0x1.2c3ef4p+1  11 values",
        "0x40161f7c = 2.3456717 = 0x1.2c3ef8p+1",
        "Fail, FewUlp",
        "margin 1.32",
    ] {
        assert!(output.stdout.contains(said), "{said}: {}", output.stdout);
    }
}

#[test]
fn the_exit_code_follows_the_verdict() {
    assert_eq!(assay(&EXP2).code, 0);
    assert_eq!(assay(&[&EXP2[..], &["--got", "0x40161f7a"]].concat()).code, 0);
    assert_eq!(assay(&[&EXP2[..], &["--got", "nan"]].concat()).code, 1);
    // A result that only the lenient reading of a 64-bit row permits is not a failure.
    let (code, lenient) = object(&["explain", "Sqrt", "--format", "f64", "--in", "2", "--got", "1.4142135"]);
    assert_eq!((code, &lenient["got"]["permitted"], &lenient["got"]["lenient"]), (0, &json!(false), &json!(true)));
}

#[test]
fn the_json_object_has_its_keys_in_order() {
    let output = assay(&[&EXP2[..], &["--got", "0x40161f70", "--json"]].concat());
    let keys = ["op", "format", "inputs", "modes", "exact", "rule", "clause", "permitted", "nan", "any", "got"];
    let places: Vec<_> = keys.iter().map(|key| output.stdout.find(&format!("\n  \"{key}\": ")).expect(key)).collect();
    assert!(places.is_sorted(), "{}", output.stdout);
    let object: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(object.as_object().unwrap().len(), keys.len());
    assert_eq!(object["permitted"], json!([["0x40161f70", "0x40161f7a"]]));
    assert_eq!((&object["nan"], &object["any"], &object["modes"]), (&json!(false), &json!(false), &json!([])));
    assert_eq!((&object["got"]["bits"], &object["got"]["permitted"]), (&json!("0x40161f70"), &json!(true)));
    assert!(object["got"]["margin"].as_f64().unwrap() < 1.0);
    assert_eq!(self::object(&EXP2).1["got"], Value::Null);
}

#[test]
fn ranges_ascend_and_a_wrong_exact_result_has_an_infinite_margin() {
    let (code, object) = object(&["explain", "FSign", "--in", "0x80000001", "--got", "5"]);
    assert_eq!(object["permitted"], json!([["0xbf800000", "0xbf800000"], ["0x80000000", "0x00000000"]]));
    assert_eq!((code, &object["got"]["margin"]), (1, &json!("inf")));
}

#[test]
fn operands_accept_every_notation_and_sign() {
    let bits = |arguments: &[&str]| object(&[&["explain"][..], arguments].concat()).1["inputs"].clone();
    assert_eq!(bits(&["OpFAdd", "--in", "1.5,0x1.8p-3"]), json!(["0x3fc00000", "0x3e400000"]));
    assert_eq!(bits(&["OpFAdd", "--in", "-1.5", "-0x1p3"]), json!(["0xbfc00000", "0xc1000000"]));
    assert_eq!(
        bits(&["OpFAdd", "--in", "-inf", "--got", "-inf", "--in", "-1e-3"]),
        json!(["0xff800000", "0xba83126f"])
    );
    assert_eq!(bits(&["OpFAdd", "--in", "-2,-nan"]), json!(["0xc0000000", "0xffc00000"]));
    assert_eq!(bits(&["Ldexp", "--format", "f16", "--in", "1,-14"]), json!(["0x3c00", "0xfffffff2"]));
    let rounded = assay(&["explain", "Exp2", "--in", "0.1"]);
    assert!(rounded.stderr.contains("0.1 is not a value of f32; the nearest is 0x3dcccccd"), "{rounded:?}");
}

#[test]
fn the_shape_follows_from_the_operands_or_must_be_given() {
    let (code, vector) = object(&["explain", "Normalize", "--in", "3", "4", "0", "--got", "0.6,0.8,0"]);
    let list = vector.as_array().expect("an array for several results");
    assert_eq!((code, list.len()), (0, 3));
    assert_eq!(list[1]["got"]["bits"], json!("0x3f4ccccd"));
    let twelve = ["1"; 12];
    let ambiguous = assay(&[&["explain", "OpMatrixTimesVector", "--in"][..], &twelve].concat());
    assert_eq!(ambiguous.code, 2);
    assert!(ambiguous.stderr.contains("--shape (mat3x3, mat4x2)"), "{ambiguous:?}");
    let named = [&["explain", "OpMatrixTimesVector", "--shape", "mat4x2", "--in"][..], &twelve].concat();
    assert_eq!(object(&named).1.as_array().map(Vec::len), Some(2));
}

#[test]
fn modes_change_the_permitted_set_and_are_printed() {
    let (_, object) = object(&["explain", "OpFAdd", "--in", "1", "0x1p-30", "--mode", "roundingmodertz"]);
    assert_eq!(
        (&object["modes"], &object["permitted"]),
        (&json!(["RoundingModeRTZ"]), &json!([["0x3f800000", "0x3f800000"]]))
    );
}

const SATURATED: &str = "SaturatedToLargestFloat8NormalConversionEXT";

/// A number out of range for float8 converts to NaN in E4M3, to infinity in E5M2, or to the largest
/// finite number.
#[test]
fn conversions_to_float8_are_derived() {
    for (format, mode, got, code, said) in [
        ("f8e4m3", "None", "nan", 0, "permitted      any NaN"),
        ("f8e4m3", "None", "448", 0, "in doubt"),
        ("f8e4m3", "None", "416", 1, "Fail"),
        ("f8e5m2", "None", "inf", 0, "only 0x7c"),
        ("f8e4m3", &format!("None+{SATURATED}"), "448", 0, "only 0x7e"),
        ("f8e4m3", &format!("None+{SATURATED}"), "nan", 1, "Fail"),
    ] {
        let arguments = ["explain", "OpFConvert", "--format", format, "--from", "f32", "--mode", mode, "--in", "1e6"];
        let output = assay(&[&arguments[..], &["--got", got]].concat());
        assert_eq!(output.code, code, "{format} {mode} {got}: {output:?}");
        assert!(output.stdout.contains(said), "{format} {mode} {got}: {}", output.stdout);
    }
}

#[test]
fn operands_that_an_instruction_does_not_take_are_refused() {
    for (arguments, said) in [
        (&["Exp2", "--format", "f64", "--in", "1"][..], "Exp2 of f64 is not in Assay's table; it takes"),
        (&["Exp2", "--shape", "mat2", "--in", "1"], "it takes scalar, vec2, vec3, vec4"),
        (&["Exp2", "--shape", "vec2", "--in", "1"], "Exp2 takes 2 operand scalars here (vec2<f32>), not 1"),
        (&["OpFDiv", "--in", "1"], "it takes 2 as scalar, 4 as vec2"),
        (&["Exp2", "--in", "1", "--got", "1", "2"], "Exp2 returns 1 scalar here (f32), but --got has 2"),
        (&["OpFConvert", "--in", "1"], "needs the type that it converts from"),
        (&["Exp2", "--in", "0x1ffffffff"], "--in: `0x1ffffffff` has more than the 32 bits of f32"),
        (&["Exp2", "--in", "1", "--got", "one"], "--got: `one` is not a number"),
        (&["Ldexp", "--in", "1", "1.5"], "`1.5` is not an integer"),
        (
            &["OpFConvert", "--format", "bf16", "--from", "f32", "--mode", SATURATED, "--in", "1"],
            "decorates no OpFConvert to bf16, only OpFConvert, OpConvertSToF and OpConvertUToF to f8e4m3 and f8e5m2",
        ),
    ] {
        let output = assay(&[&["explain"][..], arguments].concat());
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(said), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn every_instruction_can_be_explained_on_every_type() {
    for &op in Op::ALL {
        for &scalar in Call::scalars(op) {
            let source = Call::sources(op).iter().copied().map(Some).chain([None]).next().flatten();
            let shape = Call::shapes(op)[0];
            let Ok(call) = Call::new(op, scalar, shape, source, Modes::default()) else { continue };
            let (scalar, shape) = (scalar.to_string(), shape.to_string());
            let from = source.map(|source| source.to_string());
            let mut arguments = vec!["explain", op.name(), "--format", &scalar, "--shape", &shape];
            arguments.extend(from.iter().flat_map(|from| ["--from", from]));
            arguments.push("--in");
            arguments.extend(call.operand_slots().map(|_| "1"));
            let output = assay(&arguments);
            assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{arguments:?}");
            assert!(output.stdout.contains("permitted"), "{arguments:?}: {}", output.stdout);
        }
    }
}

#[test]
fn both_apis_give_one_json_document() {
    let one = |api: &str| -> Value {
        let output = assay(&["explain", "Acos", "--in", "0.999", "--json", "--api", api]);
        assert_eq!(output.code, 0, "{output:?}");
        serde_json::from_str(&output.stdout).expect("one document")
    };
    let (vulkan, wgpu, both) = (one("vulkan"), one("wgpu"), one("both"));
    assert!(vulkan["op"] == "Acos" && vulkan["permitted"] != wgpu["permitted"], "{both}");
    assert_eq!(both, serde_json::json!({ "vulkan": vulkan, "wgpu": wgpu }));
}

#[test]
fn an_instruction_without_a_row_is_distinguished_from_a_misspelt_one() {
    for (op, said) in
        [("OpIAdd", "`assay check`"), ("OpPhi", "no row in the precision table"), ("Exp3", "did you mean Exp")]
    {
        let output = assay(&["explain", op, "--in", "1", "2"]);
        assert!(output.code == 2 && output.stderr.contains(said), "{output:?}");
    }
}
