//! Single instructions against the host: the correct value is permitted, and values near it are
//! not.

use crate::support::*;
use assay_oracle::CauseKind;

/// Runs an expression over `x`, `y` and `z` for one invocation.
fn evaluate(expression: &str, inputs: [f32; 3]) -> assay_oracle::Outcome {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {{
            let x = a[0]; let y = a[1]; let z = a[2];
            {expression}
        }}"
    );
    let outcome = run(&wgsl(&text), [1; 3], vec![floats(&inputs), floats(&[0.0; 16])]);
    assert_eq!(outcome.faults, [], "{expression}");
    outcome
}

/// Checks that the value is permitted, and values at a distance of `slack` are not.
fn close(expression: &str, inputs: [f32; 3], expected: f32, slack: f32) {
    let outcome = evaluate(&format!("out[0] = {expression};"), inputs);
    let found = word(&outcome, 1, 0);
    assert!(permits(&outcome, 1, 0, expected), "{expression} of {inputs:?}: {expected} not in {found:?}");
    for wrong in [expected + slack, expected - slack] {
        assert!(!permits(&outcome, 1, 0, wrong), "{expression} of {inputs:?}: {wrong} in {found:?}");
    }
}

#[test]
fn functions_of_one_and_more_operands() {
    let v = [0.7f32, 2.5, -1.25];
    let [x, y, z] = v;
    close("sqrt(y)", v, y.sqrt(), 1e-4);
    close("inverseSqrt(y)", v, 1.0 / y.sqrt(), 1e-4);
    close("exp(x)", v, x.exp(), 1e-4);
    close("exp2(z)", v, z.exp2(), 1e-4);
    close("log(y)", v, y.ln(), 1e-4);
    close("log2(y)", v, y.log2(), 1e-4);
    close("sin(x)", v, x.sin(), 0.01);
    close("cos(x)", v, x.cos(), 0.01);
    close("atan(z)", v, z.atan(), 0.01);
    close("atan2(z, y)", v, z.atan2(y), 0.01);
    close("tanh(x)", v, x.tanh(), 0.01);
    close("pow(y, x)", v, y.powf(x), 0.01);
    close("floor(z)", v, z.floor(), 1e-4);
    close("ceil(z)", v, z.ceil(), 1e-4);
    close("trunc(z)", v, z.trunc(), 1e-4);
    close("fract(z)", v, z - z.floor(), 1e-4);
    close("sign(z)", v, -1.0, 1e-4);
    close("abs(z)", v, 1.25, 1e-4);
    close("min(x, z)", v, z, 1e-4);
    close("clamp(y, z, x)", v, x, 1e-4);
    close("mix(x, y, 0.25)", v, x * 0.75 + y * 0.25, 1e-4);
    close("fma(x, y, z)", v, x.mul_add(y, z), 1e-4);
    close(
        "smoothstep(z, y, x)",
        v,
        {
            let t = (x - z) / (y - z);
            t * t * (3.0 - 2.0 * t)
        },
        1e-4,
    );
    close("step(x, y)", v, 1.0, 0.5);
    close("x / y", v, x / y, 1e-4);
    close("x % y", v, x % y, 1e-4);
    close("ldexp(x, 3)", v, x * 8.0, 1e-4);
    close("quantizeToF16(y)", v, 2.5, 0.01);
    close("radians(y)", v, y.to_radians(), 1e-4);
}

#[test]
fn vectors_and_matrices() {
    let v = [0.7f32, 2.5, -1.25];
    let [x, y, z] = v;
    close("dot(vec3(x, y, z), vec3(y, z, x))", v, x * y + y * z + z * x, 1e-3);
    close("length(vec3(x, y, z))", v, (x * x + y * y + z * z).sqrt(), 1e-3);
    close("distance(vec2(x, y), vec2(y, z))", v, ((x - y) * (x - y) + (y - z) * (y - z)).sqrt(), 1e-3);
    close("cross(vec3(x, y, z), vec3(1.0, 2.0, 3.0)).y", v, z - x * 3.0, 1e-3);
    close("normalize(vec3(x, y, z)).z", v, z / (x * x + y * y + z * z).sqrt(), 1e-3);
    close("reflect(vec2(x, y), vec2(0.0, 1.0)).y", v, -y, 1e-3);
    close("(mat2x3(x, y, z, 1.0, 2.0, 3.0) * vec2(y, x)).z", v, z * y + 3.0 * x, 1e-3);
    close("(vec2(x, y) * mat2x2(x, y, z, 1.0)).y", v, x * z + y, 1e-3);
    close("(mat2x2(x, y, z, 1.0) * mat2x2(1.0, x, y, z))[1].x", v, x * y + z * z, 1e-3);
    close("(transpose(mat2x3(x, y, z, 1.0, 2.0, 3.0)))[2].y", v, 3.0, 1e-3);
    close("(y * vec3(x, y, z)).z", v, y * z, 1e-3);
}

#[test]
fn parts_and_packing() {
    let outcome = evaluate(
        "let f = frexp(y); out[0] = f.fract; out[1] = f32(f.exp); let m = modf(z); out[2] = m.fract; out[3] = m.whole;
        out[4] = bitcast<f32>(pack2x16float(vec2(x, z))); let u = unpack2x16float(pack2x16float(vec2(y, z))); out[5] = u.x;
        out[6] = bitcast<f32>(pack4x8unorm(vec4(0.0, 1.0, 2.0, -1.0))); out[7] = unpack4x8snorm(0x7f81u).y;",
        [0.5, 2.5, -1.25],
    );
    for (i, expected) in [0.625, 2.0, -0.25, -1.0].into_iter().enumerate() {
        assert!(permits(&outcome, 1, i, expected), "{i}: {:?}", word(&outcome, 1, i));
    }
    assert_eq!(word(&outcome, 1, 4), assay_oracle::Expected::Exact(0xbd00_3800));
    assert!(permits(&outcome, 1, 5, 2.5));
    assert_eq!(word(&outcome, 1, 6), assay_oracle::Expected::Exact(0x00ff_ff00));
    assert!(permits(&outcome, 1, 7, 1.0) && !permits(&outcome, 1, 7, 0.5));
}

const POINTERS: &str = r#"
    OpCapability Shader
    OpCapability PhysicalStorageBufferAddresses
    OpCapability Int64
    OpExtension "SPV_KHR_physical_storage_buffer"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %args Block
    OpMemberDecorate %args 0 Offset 0
    OpMemberDecorate %args 1 Offset 8
    OpDecorate %list Block
    OpMemberDecorate %list 0 Offset 0
    OpMemberDecorate %list 1 Offset 8
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %u32 = OpTypeInt 32 0
    %u64 = OpTypeInt 64 0
    OpTypeForwardPointer %p_list PhysicalStorageBuffer
    %list = OpTypeStruct %p_list %u32
    %p_list = OpTypePointer PhysicalStorageBuffer %list
    %args = OpTypeStruct %p_list %u32
    %p_args = OpTypePointer PushConstant %args
    %pp_list = OpTypePointer PushConstant %p_list
    %ps_list = OpTypePointer PhysicalStorageBuffer %p_list
    %p_u32 = OpTypePointer PhysicalStorageBuffer %u32
    %zero = OpConstant %u32 0
    %one = OpConstant %u32 1
    %push = OpVariable %p_args PushConstant
    %main = OpFunction %void None %fn
    %entry = OpLabel
    %at = OpAccessChain %pp_list %push %zero
    %first = OpLoad %p_list %at
    %next_at = OpAccessChain %ps_list %first %zero
    %second = OpLoad %p_list %next_at Aligned 8
    %value_at = OpAccessChain %p_u32 %second %one
    %value = OpLoad %u32 %value_at Aligned 4
    %more = OpIAdd %u32 %value %one
    %to = OpAccessChain %p_u32 %first %one
    OpStore %to %more Aligned 4
    OpReturn
    OpFunctionEnd"#;

#[test]
fn physical_pointers_reach_buffers_by_address() {
    use assay_oracle::{Buffer, Dispatch, FaultKind, Limits, Program, Resource, Slot, SpecValues};
    let program = Program::new(&spirv(POINTERS), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let run = |next: u64| {
        let first = [next.to_le_bytes(), 0u64.to_le_bytes()].concat();
        let second = [0u64.to_le_bytes(), 41u64.to_le_bytes()].concat();
        let buffer = |data, address| Resource::Buffer(Buffer { data, address: Some(address) });
        let bindings = [(Slot::new(0, 0), buffer(first, 0x1000)), (Slot::new(0, 1), buffer(second, 0x2000))].into();
        let push_constants = [0x1000u64.to_le_bytes(), [0; 8]].concat();
        let dispatch = Dispatch { bindings, push_constants, ..Dispatch::default() };
        program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    let outcome = run(0x2000);
    assert_eq!(outcome.faults, []);
    assert_eq!(word(&outcome, 0, 2), assay_oracle::Expected::Exact(42));
    let kinds = |outcome: assay_oracle::Outcome| outcome.faults.iter().map(|f| f.kind).collect::<Vec<_>>();
    assert_eq!(kinds(run(0x3000)), [FaultKind::Pointer]);
    assert_eq!(kinds(run(0x2001)), [FaultKind::Pointer]);
}

#[test]
fn small_and_large_integers() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u64, 4>;
        @compute @workgroup_size(1) fn main() {
            d[2] = (d[0] * d[1]) >> 7u;
            d[3] = u64(countOneBits(u32(d[0]))) + u64(extractBits(0xabcdu, 4u, 8u)) + u64(firstLeadingBit(300u));
        }";
    let words64 = |v: &[u64]| words(&v.iter().flat_map(|v| [*v as u32, (*v >> 32) as u32]).collect::<Vec<_>>());
    let (a, b) = (0x1234_5678_9abc_def1u64, 0xfedc_ba98_7654_3210u64);
    let outcome = run(&wgsl(text), [1; 3], vec![words64(&[a, b, 0, 0])]);
    let found = exact(&outcome, 0);
    let at = |i: usize| u64::from(found[i * 2]) | u64::from(found[i * 2 + 1]) << 32;
    assert_eq!(at(2), a.wrapping_mul(b) >> 7);
    assert_eq!(at(3), u64::from((a as u32).count_ones()) + 0xbc + 8);
}

#[test]
fn robustness_determines_loads_beyond_a_buffer() {
    use assay_oracle::{Dispatch, Limits, Program, Robustness, Slot, SpecValues};
    let text = "@group(0) @binding(0) var<storage, read> d: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { out[0] = d[9]; out[77] = 5u; }";
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let run = |robustness| {
        let bindings = [(Slot::new(0, 0), words(&[1, 2])), (Slot::new(0, 1), words(&[8, 9]))].into();
        let dispatch = Dispatch { bindings, robustness, ..Dispatch::default() };
        program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    assert_eq!(exact(&run(Robustness::Access2), 1), [0, 9]);
    let open = run(Robustness::Access);
    assert_eq!((open.faults.len(), cause(&open, 1, 1)), (0, CauseKind::Robustness));
    assert_eq!(run(Robustness::None).faults.len(), 2);
}

#[test]
fn pointers_are_elements_apart() {
    let shader = Shader {
        head: "OpCapability VariablePointers",
        interface: "%shared",
        local_size: 4,
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks")],
        decorations: "OpDecorate %puint ArrayStride 4",
        declared: "%four = OpConstant %uint 4
            %three = OpConstant %uint 3
            %pair = OpTypeStruct %uint %uint
            %pairs = OpTypeArray %pair %four
            %p_pairs = OpTypePointer Workgroup %pairs
            %p_pair = OpTypePointer Workgroup %pair
            %shared = OpVariable %p_pairs Workgroup",
        body: "%i = OpLoad %uint %index
            %own = OpAccessChain %puint %data %zero %i
            %third = OpAccessChain %puint %data %zero %three
            %apart = OpPtrDiff %int %own %third
            %mine = OpAccessChain %p_pair %shared %i
            %first = OpAccessChain %p_pair %shared %one
            %beside = OpPtrDiff %uint %mine %first
            %cast = OpBitcast %uint %apart
            %sum = OpIMul %uint %beside %four
            %both = OpIAdd %uint %sum %cast
            OpStore %own %both",
        ..Shader::default()
    };
    let outcome = run(&shader.module(), [1; 3], vec![words(&[0; 4])]);
    // i - 3, and four times i - 1.
    assert_eq!(exact(&outcome, 0), (0..4).map(|i: i32| (5 * i - 7).cast_unsigned()).collect::<Vec<_>>());
}

/// An integer dot product of vectors of two words of these types, with an optional accumulator of
/// the first type.
fn dot(op: &str, types: [&str; 2], [a, b]: [[u32; 2]; 2], accumulator: Option<u32>) -> assay_oracle::Outcome {
    let [first, second] = types;
    let show = |ty: &str, bits: u32| if ty == "int" { bits.cast_signed().to_string() } else { bits.to_string() };
    let [a0, a1] = a.map(|bits| show(first, bits));
    let [b0, b1] = b.map(|bits| show(second, bits));
    let (c, last) = (show(first, accumulator.unwrap_or(0)), accumulator.map_or("", |_| "%c"));
    let declared = format!(
        "%v2uint = OpTypeVector %uint 2
        %v2int = OpTypeVector %int 2
        %a0 = OpConstant %{first} {a0}
        %a1 = OpConstant %{first} {a1}
        %b0 = OpConstant %{second} {b0}
        %b1 = OpConstant %{second} {b1}
        %c = OpConstant %{first} {c}
        %a = OpConstantComposite %v2{first} %a0 %a1
        %b = OpConstantComposite %v2{second} %b0 %b1"
    );
    let body = format!(
        "%r = {op} %{first} %a %b {last}
        %bits = OpBitcast %uint %r
        %to = OpAccessChain %puint %out %zero %zero
        OpStore %to %bits"
    );
    let shader = Shader {
        head: "OpCapability DotProduct
            OpCapability DotProductInputAll
            OpExtension \"SPV_KHR_integer_dot_product\"",
        buffers: &[("%out", "%ublocks")],
        declared: &declared,
        body: &body,
        ..Shader::default()
    };
    run(&shader.module(), [1; 3], vec![words(&[9])])
}

#[test]
fn only_the_last_sum_of_a_dot_product_saturates() {
    let minus = |x: i32| x.cast_unsigned();
    let (signed, unsigned, mixed) = (["int", "int"], ["uint", "uint"], ["int", "uint"]);
    let given = |op, types, factors, accumulator| exact(&dot(op, types, factors, accumulator), 0)[0];
    // The plain product has the low bits of the exact sum.
    assert_eq!(given("OpUDot", unsigned, [[0x1_0000, 1], [0x1_0000, 7]], None), 7);
    assert_eq!(given("OpUDotAccSat", unsigned, [[2, 1], [3, 7]], Some(u32::MAX)), u32::MAX);
    assert_eq!(given("OpSDotAccSat", signed, [[2, 1], [3, 7]], Some(minus(-20))), minus(-7));
    assert_eq!(given("OpSUDotAccSat", mixed, [[minus(-2), 1], [3, 1]], Some(minus(i32::MIN))), minus(i32::MIN));
    assert_eq!(given("OpSUDotAccSat", mixed, [[minus(-1), 0], [1 << 31, 7]], Some(5)), minus(i32::MIN + 5));
    // Neither the positive nor the negative products overflow, in any order.
    let far = [[i32::MAX as u32, minus(i32::MIN)], [1, 1]];
    assert_eq!(given("OpSDotAccSat", signed, far, Some(5)), 4);
    for (op, types, factors) in [
        ("OpUDotAccSat", unsigned, [[0x1_0000, 1], [0x1_0000, 7]]),
        ("OpUDotAccSat", unsigned, [[u32::MAX, 1], [1, 1]]),
        ("OpSDotAccSat", signed, [[minus(i32::MIN), 0], [minus(-1), 0]]),
        ("OpSDotAccSat", signed, [[0x4000_0000, 0x4000_0000], [1, 1]]),
        ("OpSUDotAccSat", mixed, [[1, 0], [u32::MAX, 0]]),
    ] {
        let outcome = dot(op, types, factors, Some(1));
        assert_eq!(cause(&outcome, 0, 0), CauseKind::Unspecified, "{op} {factors:?}");
    }
}

/// "If two masks are present, the first applies to Target (..), and the second applies to Source";
/// one applies to both.
#[test]
fn each_side_of_a_copy_has_its_own_memory_operands() {
    use assay_oracle::{Buffer, Dispatch, Expected, FaultKind, Limits, Program, Resource, Slot, SpecValues};
    let copied = |masks: &str| {
        let text = POINTERS.replace("OpStore %to %more Aligned 4", &format!("OpCopyMemory %to %value_at {masks}"));
        let program = Program::new(&spirv(&text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
        let buffer = |data: [u64; 2], address| {
            let data = data.iter().flat_map(|word| word.to_le_bytes()).collect();
            Resource::Buffer(Buffer { data, address: Some(address) })
        };
        // The target at 0x1008, the source at 0x200c.
        let bindings = [(Slot::new(0, 0), buffer([0x2004, 0], 0x1000)), (Slot::new(0, 1), buffer([0, 41], 0x2004))];
        let push_constants = [0x1000u64.to_le_bytes(), [0; 8]].concat();
        let dispatch = Dispatch { bindings: bindings.into(), push_constants, ..Dispatch::default() };
        program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
    };
    for masks in ["Aligned 4", "Aligned 8 Aligned 4", "Volatile|Aligned 8 Nontemporal|Aligned 4"] {
        let outcome = copied(masks);
        assert_eq!(outcome.faults, [], "{masks}");
        assert_eq!(word(&outcome, 0, 2), Expected::Exact(41), "{masks}");
    }
    for masks in ["Aligned 8", "Aligned 4 Aligned 8", "Aligned 16 Aligned 4"] {
        let kinds: Vec<FaultKind> = copied(masks).faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Pointer], "{masks}");
    }
}
