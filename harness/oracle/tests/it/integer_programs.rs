//! Integer programs with known results: control flow, functions, pointers, memory of every kind.

use crate::support::*;

#[test]
fn collatz_lengths() {
    let module = wgsl(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn steps(start: u32) -> u32 {
            var n = start;
            var i = 0u;
            loop {
                if n <= 1u { break; }
                if n % 2u == 0u { n = n / 2u; } else { n = 3u * n + 1u; }
                i++;
            }
            return i;
        }
        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = steps(data[id.x]); }",
    );
    let numbers: Vec<u32> = (1..=16).collect();
    let expected: Vec<u32> = numbers
        .iter()
        .map(|n| {
            std::iter::successors(Some(*n), |n| (*n > 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 })).count()
                as u32
                - 1
        })
        .collect();
    assert_eq!(exact(&run(&module, [2, 1, 1], vec![words(&numbers)]), 0), expected);
}

#[test]
fn switch_with_fall_through_of_lanes_and_early_return() {
    let module = wgsl(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
        fn pick(x: u32) -> u32 {
            switch x {
                case 0u: { return 100u; }
                case 1u, 2u: { if x == 2u { break; } return 200u; }
                case 5u: { for (var i = 0u; i < 10u; i++) { if i == x { return 300u + i; } } }
                default: { return 7u; }
            }
            return 400u;
        }
        @compute @workgroup_size(16)
        fn main(@builtin(local_invocation_index) i: u32) { out[i] = pick(i); }",
    );
    let mut expected = vec![7u32; 16];
    expected[..6].copy_from_slice(&[100, 200, 400, 7, 7, 305]);
    assert_eq!(exact(&run(&module, [1; 3], vec![words(&[0; 16])]), 0), expected);
}

#[test]
fn workgroup_sum_through_barriers() {
    let module = wgsl(
        "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        var<workgroup> part: array<u32, 64>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
            part[i] = a[g.x * 64u + i];
            workgroupBarrier();
            for (var step = 32u; step > 0u; step = step / 2u) {
                if i < step { part[i] += part[i + step]; }
                workgroupBarrier();
            }
            if i == 0u { out[g.x] = part[0]; }
        }",
    );
    let a: Vec<u32> = (0..256).map(|i| i * i).collect();
    let sums: Vec<u32> = a.chunks(64).map(|c| c.iter().sum()).collect();
    assert_eq!(exact(&run(&module, [4, 1, 1], vec![words(&a), words(&[0; 4])]), 1), sums);
}

#[test]
fn local_arrays_pointers_and_structures() {
    let module = wgsl(
        "struct P { a: u32, v: vec3<u32>, m: array<vec2<u32>, 3> }
        @group(0) @binding(0) var<storage, read_write> data: array<P, 4>;
        fn bump(p: ptr<function, u32>, by: u32) { *p = *p + by; }
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32) {
            var table = array<u32, 8>(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
            var x = table[i * 2u];
            bump(&x, 10u);
            table[i] = x;
            var p = data[i];
            p.v[i % 3u] = table[i];
            p.m[2].y = table[7u - i];
            p.a = p.v.x + p.v.y + p.v.z;
            data[i] = p;
        }",
    );
    // A structure of 56 bytes, padded to 64: a, v at 16, m at 32.
    let mut memory = vec![1u32; 64];
    let outcome = run(&module, [1; 3], vec![words(&memory)]);
    for i in 0..4usize {
        let mut table = [1u32, 2, 3, 4, 5, 6, 7, 8];
        table[i] = table[i * 2] + 10;
        let p = &mut memory[i * 16..][..16];
        p[4 + i % 3] = table[i];
        p[8 + 5] = table[7 - i];
        p[0] = p[4] + p[5] + p[6];
    }
    assert_eq!(exact(&outcome, 0), memory);
}

#[test]
fn commutative_atomics_are_exact_and_results_depend_on_order() {
    let module = wgsl(
        "@group(0) @binding(0) var<storage, read_write> sum: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> seen: array<u32, 16>;
        @group(0) @binding(2) var<storage, read_write> own: array<atomic<u32>, 16>;
        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            seen[id.x] = atomicAdd(&sum, id.x);
            atomicMax(&own[id.x], 5u);
            atomicStore(&own[id.x], atomicAdd(&own[id.x], 1u) + 20u);
        }",
    );
    let outcome = run(&module, [2, 1, 1], vec![words(&[7]), words(&[0; 16]), words(&[3; 16])]);
    assert_eq!(exact_at(&outcome, 0), [7 + 120]);
    assert_eq!(cause(&outcome, 1, 3), assay_oracle::CauseKind::Order);
    assert_eq!(cause(&outcome, 1, 0), assay_oracle::CauseKind::Order);
    assert_eq!(exact_at(&outcome, 2), [25; 16]);
}

fn exact_at(outcome: &assay_oracle::Outcome, binding: u32) -> Vec<u32> {
    let n = outcome.memory[&assay_oracle::Slot::new(0, binding)].bytes().len() / 4;
    let exact = |i| match word(outcome, binding, i) {
        assay_oracle::Expected::Exact(bits) => bits as u32,
        other => panic!("word {i}: {other:?}"),
    };
    (0..n).map(exact).collect()
}

#[test]
fn exchanges_of_several_invocations_leave_nothing_certain() {
    let module = wgsl(
        "@group(0) @binding(0) var<storage, read_write> last: atomic<u32>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32) { atomicStore(&last, i); }",
    );
    let outcome = run(&module, [1; 3], vec![words(&[7])]);
    assert_eq!(outcome.faults, []);
    assert_eq!(cause(&outcome, 0, 0), assay_oracle::CauseKind::Order);
}

#[test]
fn specialisation_sets_sizes() {
    let shader = Shader {
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks")],
        decorations: "OpDecorate %n SpecId 3\nOpDecorate %size BuiltIn WorkgroupSize",
        declared: "%v3 = OpTypeVector %uint 3
            %n = OpSpecConstant %uint 4
            %twice = OpSpecConstantOp %uint IMul %n %two
            %size = OpSpecConstantComposite %v3 %twice %one %one",
        body: "%i = OpLoad %uint %index
            %p = OpAccessChain %puint %data %zero %i
            OpStore %p %twice",
        ..Shader::default()
    };
    let spec = assay_oracle::SpecValues::from([(3, 6)]);
    let program = assay_oracle::Program::new(&shader.module(), "main", &spec).expect("a program");
    assert_eq!(program.workgroup_size(), [12, 1, 1]);
    let outcome = run_program(&program, [1; 3], vec![words(&[0; 14])]);
    let mut expected = vec![12; 14];
    expected[12..].fill(0);
    assert_eq!(exact(&outcome, 0), expected);
}
