//! Tests of chains of operations that drivers rearrange across instructions that do not compute.

use crate::support::{SyntheticTarget, on_each_driver, wgsl};
use assay_check::{Check, Options, ShaderSource};
use assay_events::Status;
use assay_testkit::Shader;

/// These drivers compute `x * 0.1 + x * 2` as `x * (0.1 + 2)`, whatever the first product passes
/// through.
#[test]
fn rearranged_chains_are_permitted_on_every_driver() {
    for first in [
        "x * 0.1",
        "through_shared(x * 0.1, l)",
        "through_buffer(x * 0.1, id.x)",
        "mix(0.0, x, 0.1)",
        "mix(x * 0.1, 3.0, 0.0)",
        "max(x * 0.1, x * 0.1)",
        "min(x * 0.1, 1e30)",
        "ldexp(x * 0.1, 0)",
        "-abs(abs(x) * -0.1)",
    ] {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> a: array<f32>;
            @group(0) @binding(1) var<storage, read_write> o: array<f32>;
            @group(0) @binding(2) var<storage, read_write> kept: array<f32>;
            var<workgroup> s: array<f32, 64>;
            fn through_shared(x: f32, i: u32) -> f32 {{ s[i] = x; return s[i]; }}
            fn through_buffer(x: f32, i: u32) -> f32 {{ kept[i] = x; return kept[i]; }}
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) l: u32) {{
                let x = a[id.x];
                o[id.x] = {first} + x * 2.0;
            }}"
        );
        let shader = wgsl(&text);
        let inputs = vec![("0.0".parse().unwrap(), "-8..8".parse().unwrap())];
        let options = Options { rounds: 1, groups: Some([4, 1, 1]), inputs, ..Options::default() };
        let check = Check::new(&shader, &options).unwrap();
        on_each_driver(|target| {
            let result = check.run(target).unwrap();
            assert_eq!(
                (result.status, result.elements_undetermined),
                (Status::Pass, 0),
                "{first}: {:?}",
                result.reason
            );
        });
    }
}

/// A product that overflows binary64 has an infinite bound, whose rounding is not determined.
#[test]
fn rounding_of_an_overflowing_product_is_undetermined() {
    let shader = Shader {
        head: "OpCapability Float64\n%glsl = OpExtInstImport \"GLSL.std.450\"",
        inputs: &[("%id", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks")],
        declared: "%double = OpTypeFloat 64\n%large = OpConstant %double 1e200",
        body: "%i = OpLoad %uint %id
            %zero_or_more = OpConvertUToF %double %i
            %x = OpFAdd %double %large %zero_or_more
            %square = OpFMul %double %x %x
            %rounded = OpExtInst %double %glsl Round %square
            %single = OpFConvert %float %rounded
            %word = OpBitcast %uint %single
            %to = OpAccessChain %puint %data %zero %i
            OpStore %to %word",
        ..Shader::default()
    };
    let shader = ShaderSource::read("test.spvasm", shader.text().as_bytes()).unwrap();
    let result = Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default()).unwrap();
    assert_eq!((result.status, result.elements_checked), (Status::Undetermined, 0), "{:?}", result.reason);
}
