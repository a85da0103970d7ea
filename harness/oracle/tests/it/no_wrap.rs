//! Integer operations decorated not to wrap.

use crate::support::*;
use assay_oracle::{CauseKind, FaultKind, Outcome};

/// Four invocations that store the result of `body` on their number `%i` and their word `%x`. `%a`
/// may not wrap.
fn of(decoration: &str, body: &str, data: [u32; 4]) -> Outcome {
    let decorations = format!("OpDecorate %a {decoration}");
    let body = format!(
        "%i = OpLoad %uint %index
        %at = OpAccessChain %puint %data %zero %i
        %x = OpLoad %uint %at
        %s = OpBitcast %int %x
        {body}
        %result = OpBitcast %uint %a
        OpStore %at %result"
    );
    let module = Shader {
        head: "%glsl = OpExtInstImport \"GLSL.std.450\"",
        local_size: 4,
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks")],
        decorations: &decorations,
        declared: "%most = OpConstant %uint 31
            %big = OpConstant %int 1500000000
            %least = OpConstant %int -2147483648",
        body: &body,
        ..Shader::default()
    }
    .module();
    run(&module, [1; 3], vec![words(&data)])
}

fn wraps(decoration: &str, body: &str, data: [u32; 4]) -> Vec<[u32; 3]> {
    let outcome = of(decoration, body, data);
    assert!(outcome.faults.iter().all(|fault| fault.kind == FaultKind::Wrap), "{:?}", outcome.faults);
    outcome.faults.iter().map(|fault| fault.invocation).collect()
}

#[test]
fn a_decorated_operation_that_wraps_is_a_fault() {
    let signed = "NoSignedWrap";
    let multiply = "%a = OpIMul %int %s %big";
    assert_eq!(wraps(signed, multiply, [0, 1, 2, 3]), [[2, 0, 0]]);
    assert_eq!(exact(&of(signed, multiply, [0, 1, u32::MAX, 0]), 0), [0, 1_500_000_000, 2_794_967_296, 0]);
    assert_eq!(wraps(signed, "%a = OpIAdd %int %s %big", [0, 1, 2, 0x4000_0000]), [[3, 0, 0]]);
    assert_eq!(wraps(signed, "%a = OpISub %int %s %big", [0, 0x9000_0000, 0, 1]), [[1, 0, 0]]);
    assert_eq!(wraps(signed, "%a = OpSNegate %int %s", [0, 1, 2, 1 << 31]), [[3, 0, 0]]);
    assert_eq!(wraps(signed, "%a = OpExtInst %int %glsl SAbs %s", [0, 1, 1 << 31, 0]), [[2, 0, 0]]);
    assert_eq!(wraps(signed, "%a = OpShiftLeftLogical %int %s %one", [1 << 29, 1 << 30, 0, 0]), [[1, 0, 0]]);
    let unsigned = "NoUnsignedWrap";
    assert_eq!(wraps(unsigned, "%a = OpISub %uint %x %one", [9, 9, 0, 9]), [[2, 0, 0]]);
    assert_eq!(wraps(unsigned, "%a = OpShiftLeftLogical %uint %x %most", [0, 1, 2, 0]), [[2, 0, 0]]);
    // One decoration does not imply the other.
    assert_eq!(wraps(unsigned, "%a = OpIAdd %uint %x %one", [0x7fff_ffff; 4]), [[0; 3]; 0]);
    assert_eq!(wraps(signed, "%a = OpIAdd %uint %x %one", [u32::MAX; 4]), [[0; 3]; 0]);
    assert_eq!(wraps(signed, "%other = OpIMul %int %s %big\n%a = OpIAdd %uint %x %one", [2; 4]), [[0; 3]; 0]);
}

/// A shift by too much has no value, decorated or not.
#[test]
fn a_shift_too_far_only_has_no_value() {
    let outcome = of("NoUnsignedWrap", "%a = OpShiftLeftLogical %uint %one %x", [0, 31, 32, 1]);
    assert_eq!(outcome.faults, []);
    assert_eq!(cause(&outcome, 0, 2), CauseKind::Unspecified);
    assert_eq!(word(&outcome, 0, 1).permits(1 << 31), Some(true));
}

/// A denormal may be above zero or not, so the sum may or may not wrap.
#[test]
fn a_decorated_operation_that_may_wrap_is_undetermined() {
    let body = "%f = OpBitcast %float %x
        %fzero = OpBitcast %float %zero
        %above = OpFOrdGreaterThan %bool %f %fzero
        %chosen = OpSelect %int %above %big %least
        %a = OpIAdd %int %chosen %big";
    let outcome = of("NoSignedWrap", body, [9, 0, 0, 0]);
    assert_eq!(outcome.faults, []);
    assert_eq!(cause(&outcome, 0, 0), CauseKind::Precision);
    assert_eq!(word(&outcome, 0, 1).permits(3_647_483_648), Some(true));
}
