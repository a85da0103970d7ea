//! Tests with a few random shaders on the drivers; `cargo run --release -p assay-check --example
//! random` runs any number of them.

use crate::support::{on_each_driver, wgsl};
use assay_check::{Check, CheckError, Options, ShaderSource};
use assay_events::Status;

#[path = "../../examples/random/generate.rs"]
mod generate;

#[test]
fn random_shaders_are_legal_determined_and_permitted() {
    on_each_driver(|target| {
        let (mut checked, mut open) = (0, 0);
        for seed in 0..24 {
            let shader = wgsl(&generate::shader(seed));
            let inputs = vec![("0.2".parse().unwrap(), "-8..8".parse().unwrap())];
            let options = Options { rounds: 1, seed, groups: Some([2, 1, 1]), inputs, ..Options::default() };
            let result = Check::new(&shader, &options).unwrap().run(target).unwrap();
            // A driver may lack a feature, such as 64-bit integers.
            let settled = matches!(result.status, Status::Pass | Status::NotSupported);
            assert!(settled, "{seed}: {:?} {:?}", result.status, result.reason);
            checked += result.elements_checked;
            open += result.elements_undetermined;
        }
        assert!(checked > 10_000 && open * 10 < checked, "{checked}, {open} not determined");
    });
}

#[test]
fn a_seed_determines_the_random_shader() {
    assert_eq!(generate::shader(7), generate::shader(7));
    assert_ne!(generate::shader(7), generate::shader(8));
}

#[test]
fn a_shader_on_which_naga_panics_is_refused_with_a_message() {
    let text = "fn bump(x: ptr<function, u32>) { *x = *x + 1u; }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var list = array<u32, 2>(1u, 2u);
            bump(&list[id.x & 1u]);
            out[id.x] = list[0];
        }";
    match ShaderSource::read("element.wgsl", text.as_bytes()) {
        Err(CheckError::Shader { what, .. }) => assert!(what.contains("panicked"), "{what}"),
        other => panic!("{other:?}"),
    }
}
