//! Tests of the example's shaders on the first Vulkan device. Without one they are skipped, with a
//! line on the terminal.

use assay::{Error, ShaderCheck};
use std::io::Write;
use std::path::Path;

fn shader(name: &str) -> ShaderCheck {
    assay::shader(Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders").join(name))
}

#[test]
fn blur_conforms_with_generated_inputs() -> Result<(), Error> {
    let Some(outcome) = shader("blur.wgsl").check_or_skip()? else { return Ok(()) };
    outcome.assert_conformant();
    Ok(())
}

#[test]
fn blur_averages_three_neighbours() -> Result<(), Error> {
    let pixels = [0.0f32, 3.0, 6.0, 0.0];
    let check = assay::shader_text("blur.wgsl", assay_example::BLUR);
    let check = check.input("src", &pixels).elements("dst", 4).workgroups([1, 1, 1]);
    let Some(outcome) = check.check_or_skip()? else { return Ok(()) };
    outcome.assert_conformant();
    // The specification permits an error of 2.5 ulp in a division, so the test has a tolerance.
    for (blurred, expected) in outcome.values::<f32>("dst")?.into_iter().zip([1.0, 3.0, 3.0, 2.0]) {
        assert!((blurred - expected).abs() < 1e-6, "{blurred} is not {expected}");
    }
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::NoUninit)]
struct Parameters {
    count: u32,
    factor: f32,
}

/// GLSL needs an installed compiler.
#[test]
fn scale_leaves_the_elements_after_the_count() -> Result<(), Error> {
    let check = shader("scale.comp").define("SCALE", "2.0").input("0", &[1.0f32; 64]);
    let check = check.push(&Parameters { count: 3, factor: 4.0 }).workgroups([1, 1, 1]);
    match check.check_or_skip() {
        Err(Error::Check(error)) if error.to_string().contains("none of its compilers is installed") => {
            // Past the capture of the test harness: a skipped test must be seen.
            _ = writeln!(std::io::stderr(), "SKIPPED {error}");
        }
        outcome => {
            let Some(outcome) = outcome? else { return Ok(()) };
            outcome.assert_conformant();
            assert_eq!(outcome.values::<f32>("0")?[..5], [8.0, 8.0, 8.0, 1.0, 1.0]);
        }
    }
    Ok(())
}

#[test]
fn mistakes_are_errors_not_outcomes() {
    let wrong = |check: ShaderCheck| check.check().expect_err("a mistake").to_string();
    let unknown = wrong(shader("blur.wgsl").input("sauce", &[0.0f32]));
    assert!(unknown.contains("sauce") && unknown.contains("src"), "{unknown}");
    assert!(wrong(shader("blur.wgsl").input_from("src", "1..")).contains("1.."));
    assert!(wrong(shader("none.wgsl")).contains("cannot read"));
}
