//! Outcomes of checks by the library. Without a Vulkan device they are skipped, with a line on the
//! terminal.

use assay::Error;
use std::panic::catch_unwind;

const NOTHING: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x > 100000u { data[0] = 1u; }
    }";

#[test]
fn a_shader_that_writes_nothing_is_not_conformant() -> Result<(), Error> {
    let check = assay::shader_text("nothing.wgsl", NOTHING).without_search();
    let Some(outcome) = check.check_or_skip()? else { return Ok(()) };
    assert!(!outcome.is_conformant());
    let panic = catch_unwind(|| outcome.assert_conformant()).expect_err("a panic");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.contains("nothing.wgsl") && message.contains("Undetermined"), "{message}");
    Ok(())
}

#[test]
fn undefined_behaviour_is_an_error() -> Result<(), Error> {
    let text = NOTHING.replace("id.x > 100000u", "id.x == 0u").replace("data[0]", "data[1000]");
    let check = assay::shader_text("far.wgsl", text).elements("0", 8).without_search();
    match check.check_or_skip() {
        Err(Error::Check(error)) => assert!(error.to_string().contains("out of bounds"), "{error}"),
        outcome => assert!(outcome?.is_none(), "undefined behaviour has no outcome"),
    }
    Ok(())
}

#[test]
fn outputs_are_found_by_binding_and_by_name() -> Result<(), Error> {
    let text = NOTHING.replace("if id.x > 100000u { data[0] = 1u; }", "data[id.x] = id.x * 3u;");
    let check = assay::shader_text("triple.wgsl", text).input("data", &[7u32; 8]).workgroups([2, 1, 1]);
    let Some(outcome) = check.check_or_skip()? else { return Ok(()) };
    outcome.assert_conformant();
    let expected: Vec<u32> = (0..8).map(|n| n * 3).collect();
    assert_eq!(outcome.values::<u32>("data")?, expected);
    assert_eq!(outcome.values::<u32>("0.0")?, expected);
    let missing = outcome.values::<u32>("date").unwrap_err().to_string();
    assert!(missing.contains("0.0") && missing.contains("data"), "{missing}");
    assert!(outcome.values::<[u8; 3]>("data").unwrap_err().to_string().contains("32 bytes"));
    Ok(())
}
