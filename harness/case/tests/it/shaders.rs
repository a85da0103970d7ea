//! Every kind of shader is valid SPIR-V: it assembles, and `spirv-val` accepts every third (all with `ASSAY_FULL`).

#![expect(clippy::print_stdout, reason = "a skipped part must be seen")]

use assay_case::{Case, CaseShader, Columns, OperandSource};
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns a case for every instruction with every type, shape and source, and for every
/// environment.
fn samples() -> Vec<Case> {
    let mut seen = HashSet::new();
    let mut cases = assay_case::load().unwrap();
    cases.retain(|case| {
        let call = &case.call;
        seen.insert(if call.modes.names().is_empty() {
            format!("{} {:?} {:?} {}", call.op, call.operands, call.results, case.source)
        } else {
            format!("{} {}", call.op, call.modes)
        })
    });
    cases
}

fn shader(case: &Case) -> CaseShader {
    if case.source == OperandSource::Buffer {
        return CaseShader::buffer(case, 1024);
    }
    let mut constants = Columns::new(case.call.operand_slots(), 3);
    constants.set_rows(3);
    // Zeros, and patterns that are infinities, NaNs and denormals of several types.
    for (row, bits) in [0, 0x7ff0_0000_7f80_7c00, 0xfff0_0001_ff80_0001].into_iter().enumerate() {
        for (slot, scalar) in case.call.operand_slots().enumerate() {
            let width = if scalar == assay_precision::Scalar::Bool { 1 } else { scalar.width() };
            constants.set(slot, row, bits >> (64 - width));
        }
    }
    CaseShader::constant(case, &constants)
}

fn validator() -> Option<&'static str> {
    let found = Command::new("spirv-val").arg("--version").output().is_ok_and(|output| output.status.success());
    found.then_some("spirv-val")
}

/// Returns true for extensions that the validator of Debian bookworm does not know.
fn is_newer(text: &str) -> bool {
    ["SPV_KHR_float_controls2", "SPV_KHR_fma", "SPV_KHR_bfloat16", "SPV_EXT_float8"]
        .iter()
        .any(|name| text.contains(name))
}

#[test]
fn shaders_assemble_and_validate() {
    let validator = validator();
    if validator.is_none() {
        println!("SKIPPED in part: no spirv-val (Debian: spirv-tools), shaders are assembled but not validated");
    }
    // Each validation is a process of its own.
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { 3 };
    let cases = samples();
    let mut validated = 0;
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let shader = shader(case);
        let words = match assay_spirv::assemble(&shader.text) {
            Ok(words) => words,
            Err(error) => {
                wrong.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        let is_chosen = number.is_multiple_of(each) && !is_newer(&shader.text);
        let Some(validator) = validator.filter(|_| is_chosen) else { continue };
        let mut child = Command::new(validator)
            .args(["--target-env", "vulkan1.1", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        validated += 1;
        if !output.status.success() {
            wrong.push(format!("{}: {}", case.name, String::from_utf8_lossy(&output.stderr).trim()));
        }
    }
    println!("{} shaders assembled, {validated} validated", cases.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong[..wrong.len().min(40)].join("\n"));
}
