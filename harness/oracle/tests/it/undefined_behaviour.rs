//! Planted undefined behaviour is reported with its line; defined behaviour is not reported.

use crate::support::*;
use assay_oracle::{CauseKind, FaultKind, Outcome, Resource};

fn of(body: &str, buffers: Vec<Resource>) -> Vec<(FaultKind, u32)> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> out: array<u32>;\n\
         var<workgroup> shared_words: array<u32, 64>;\n\
         var<private> own: array<u32, 4>;\n\
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) g: vec3<u32>) {{\n\
         {body}\n\
         }}"
    );
    faults(&run(&wgsl(&text), [2, 1, 1], buffers))
}

fn two() -> Vec<Resource> {
    vec![words(&(0..16).collect::<Vec<_>>()), words(&[0; 16])]
}

#[test]
fn accesses_out_of_bounds_are_faults_with_their_line() {
    assert_eq!(of("let x = 1u;\nout[g.x + x] = 1u;", two()), [(FaultKind::OutOfBounds, 7)]);
    assert_eq!(of("var t = array<u32, 4>(1u, 2u, 3u, 4u);\nout[g.x] = t[g.x];", two()), [(FaultKind::OutOfBounds, 7)]);
    assert_eq!(of("out[g.x] = data[g.x];", two()), []);
}

#[test]
fn races() {
    // All invocations write one word.
    assert_eq!(of("\nout[0] = i;", two()), [(FaultKind::DataRace, 7)]);
    // Invocations of two workgroups write one word each.
    assert_eq!(of("\nout[i] = 1u;", two()), [(FaultKind::DataRace, 7)]);
    // A neighbour's word without a barrier.
    let neighbour = |barrier: &str| format!("shared_words[i] = i;\n{barrier}\nout[g.x] = shared_words[(i + 1u) % 8u];");
    assert_eq!(of(&neighbour(""), two()), [(FaultKind::DataRace, 8)]);
    assert_eq!(of(&neighbour("workgroupBarrier();"), two()), []);
    // A barrier for buffers does not order workgroup memory.
    assert_eq!(of(&neighbour("storageBarrier();"), two()), [(FaultKind::DataRace, 8)]);
    // A neighbour has read it, a barrier, and then nobody but its writer.
    let read_first = |barrier: &str| {
        format!(
            "let base = g.x - i;\nlet x = out[base + (i ^ 1u)] + out[g.x];\n{barrier}\nlet y = out[g.x];\n\
             out[g.x] = x + y;"
        )
    };
    assert_eq!(of(&read_first("storageBarrier();"), two()), []);
    assert_eq!(of(&read_first(""), two()), [(FaultKind::DataRace, 10)]);
    // Another workgroup has read it, which no barrier orders.
    let abroad = "let x = out[(g.x + 8u) % 16u] + out[g.x];\nstorageBarrier();\nlet y = out[g.x];\nout[g.x] = x + y;";
    assert_eq!(of(abroad, two()), [(FaultKind::DataRace, 6), (FaultKind::DataRace, 9)]);
    // Reading and overwriting in one step.
    let shift =
        "shared_words[i] = i;\nworkgroupBarrier();\nshared_words[i] = shared_words[(i + 1u) % 8u];\nout[g.x] = i;";
    assert_eq!(of(shift, two()), [(FaultKind::DataRace, 8)]);
}

/// The last of three workgroups to take a ticket adds up the values that all have stored. The order
/// of tickets is undetermined, and therefore the sum.
#[test]
fn the_last_invocation_to_take_a_ticket_is_undetermined() {
    let text = "@group(0) @binding(0) var<storage, read_write> tickets: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> left: array<u32, 3>;
        @group(0) @binding(2) var<storage, read_write> sums: array<u32, 3>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3<u32>) {
            left[group.x] = group.x + 1u;
            storageBarrier();
            let ticket = atomicAdd(&tickets, 1u);
            storageBarrier();
            if ticket == 2u { sums[group.x] = left[0] + left[1] + left[2]; }
        }";
    let outcome = run(&wgsl(text), [3, 1, 1], vec![words(&[0]), words(&[0; 3]), words(&[9; 3])]);
    assert_eq!(faults(&outcome), []);
    for group in 0..3 {
        assert_ne!(word(&outcome, 2, group).permits(6), Some(false), "of workgroup {group}");
        assert_ne!(word(&outcome, 2, group).permits(9), Some(false), "of workgroup {group}");
    }
    assert!((0..3).any(|group| word(&outcome, 2, group).permits(6).is_none()));
}

#[test]
fn divergent_barrier() {
    assert_eq!(of("if i < 4u {\nworkgroupBarrier();\n}\nout[g.x] = 1u;", two()), [(FaultKind::DivergentBarrier, 7)]);
    assert_eq!(of("if g.x < 100u {\nworkgroupBarrier();\n}\nout[g.x] = 1u;", two()), []);
}

#[test]
fn uninitialised_workgroup_memory() {
    // Unwritten, read, but without consequence, or in memory: an undefined value there is no
    // undefined behaviour.
    assert_eq!(of("let x = shared_words[i];\nout[g.x] = 1u;", two()), []);
    assert_eq!(of("\nout[g.x] = shared_words[i];", two()), []);
    assert_eq!(of("shared_words[i + 32u] = shared_words[i];\nout[g.x] = 1u;", two()), []);
    // It decides a branch: either way may be taken.
    assert_eq!(of("\nif shared_words[i] == 0u {\nout[g.x] = 1u;\n}", two()), []);
    // It decides where to.
    assert_eq!(of("\nout[shared_words[i]] = 1u;", two()), [(FaultKind::Uninitialized, 7)]);
}

#[test]
fn endless_loop() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @compute @workgroup_size(1) fn main() { var i = 0u; loop { if d[0] == 9u { break; } i++; } if i > 0u { d[0] = i; } }";
    let program = assay_oracle::Program::new(&wgsl(text), "main", &Default::default()).expect("a program");
    let bindings = std::collections::BTreeMap::from([(assay_oracle::Slot::new(0, 0), words(&[1]))]);
    let dispatch = assay_oracle::Dispatch { bindings, ..Default::default() };
    let limits = assay_oracle::Limits { blocks_per_group: 10_000, ..Default::default() };
    let outcome = program.run(&dispatch, &limits).expect("runs");
    assert_eq!(faults(&outcome), [(FaultKind::Endless, 2)]);
    assert_eq!(word(&outcome, 0, 0).permits(5), None);
    // By instructions in all invocations as well: and no other workgroup is run then.
    let limits = assay_oracle::Limits { work_per_group: 10_000, ..Default::default() };
    let dispatch = assay_oracle::Dispatch { groups: [1000, 1, 1], ..dispatch };
    let outcome = program.run(&dispatch, &limits).expect("runs");
    let [(kind, _)] = faults(&outcome)[..] else { panic!("{outcome:?}") };
    assert_eq!((kind, outcome.fault_count), (FaultKind::Endless, 1));
    assert!(outcome.instructions < 10_000);
    // By the work of all workgroups together, which refuses the dispatch.
    let limits = assay_oracle::Limits { blocks_per_group: 100, work: 5000, ..Default::default() };
    assert_eq!(program.run(&dispatch, &limits).err(), None, "an endless workgroup ends the run before");
    let bindings = std::collections::BTreeMap::from([(assay_oracle::Slot::new(0, 0), words(&[9]))]);
    let ends = assay_oracle::Dispatch { bindings, ..dispatch.clone() };
    assert_eq!(program.run(&ends, &limits).err(), Some(assay_oracle::RunError::TooMuchWork { limit: 5000 }));
    let limits = assay_oracle::Limits { work: 1 << 20, ..limits };
    assert_eq!(program.run(&ends, &limits).err(), None);
}

/// Details of the faults of four invocations that load by `pointer`, in a shader with an array of
/// three pairs at an address and one in workgroup memory.
fn detail_of(body: &str) -> Vec<String> {
    at_address(body, "").faults.into_iter().map(|fault| fault.detail).collect()
}

/// Returns the outcome of such a shader, with these definitions. The array contains the words from
/// 5 to 10.
fn at_address(body: &str, defined: &str) -> Outcome {
    let declared = format!(
        "%ulong = OpTypeInt 64 0
        %3 = OpConstant %uint 3
        %address = OpConstant %ulong 65536
        %length = OpConstant %ulong 24
        {defined}
        %pair = OpTypeStruct %uint %uint
        %pairs = OpTypeArray %pair %3
        %There = OpTypeStruct %pairs
        %to_there = OpTypePointer PhysicalStorageBuffer %There
        %to_pair = OpTypePointer PhysicalStorageBuffer %pair
        %to_uint = OpTypePointer PhysicalStorageBuffer %uint
        %plain = OpTypeStruct %uint %uint
        %group = OpTypeArray %plain %3
        %to_group = OpTypePointer Workgroup %group
        %to_plain = OpTypePointer Workgroup %plain
        %to_shared = OpTypePointer Workgroup %uint
        %shared = OpVariable %to_group Workgroup"
    );
    let body = format!(
        "%i = OpLoad %uint %index
        %there = OpConvertUToPtr %to_there %address
        {body}
        %to = OpAccessChain %puint %out %zero %i
        OpStore %to %result"
    );
    let shader = Shader {
        head: "OpCapability Int64
            OpCapability PhysicalStorageBufferAddresses
            OpExtension \"SPV_KHR_physical_storage_buffer\"",
        memory_model: "PhysicalStorageBuffer64 GLSL450",
        interface: "%shared",
        local_size: 4,
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%out", "%ublocks")],
        decorations: "OpDecorate %pairs ArrayStride 8
            OpDecorate %to_pair ArrayStride 8
            OpMemberDecorate %pair 0 Offset 0
            OpMemberDecorate %pair 1 Offset 4
            OpDecorate %There Block
            OpMemberDecorate %There 0 Offset 0",
        declared: &declared,
        body: &body,
        ..Shader::default()
    };
    let Resource::Buffer(buffer) = words(&[5, 6, 7, 8, 9, 10]) else { unreachable!("words are a buffer") };
    let there = Resource::Buffer(assay_oracle::Buffer { address: Some(0x10000), ..buffer });
    run(&shader.module(), [1; 3], vec![words(&[0; 4]), there])
}

/// Also through chains of chains, and after an in-bounds chain of an address.
#[test]
fn an_index_beyond_an_array_is_named() {
    let whole = "%at = OpInBoundsAccessChain %to_uint %there %zero %i %one\n%result = OpLoad %uint %at Aligned 4";
    let parts = "%element = OpInBoundsAccessChain %to_pair %there %zero %i\n%at = OpAccessChain %to_uint %element %one\n\
                 %result = OpLoad %uint %at Aligned 4";
    let shared = "%element = OpAccessChain %to_plain %shared %i\n%at = OpAccessChain %to_shared %element %one\n\
                  OpStore %at %i\n%result = OpIAdd %uint %i %i";
    for body in [whole, parts, shared] {
        assert_eq!(detail_of(body), ["index 3 of an array of 3"], "{body}");
    }
}

/// An index of a physical pointer is arithmetic, in an array or not. Only the accessed memory must
/// be in a buffer.
#[test]
fn an_address_may_be_beyond_its_array() {
    let back = "%end = OpAccessChain %to_pair %there %zero %3\n%before = OpConvertPtrToU %ulong %end\n\
                %first = OpISub %ulong %before %length\n%again = OpConvertUToPtr %to_pair %first\n\
                %at = OpAccessChain %to_uint %again %one\n%result = OpLoad %uint %at Aligned 4";
    assert_eq!(detail_of(back), [] as [String; 0]);
    let beyond = "%at = OpAccessChain %to_uint %there %zero %i %one\n%result = OpLoad %uint %at Aligned 4";
    let [detail] = &detail_of(beyond)[..] else { panic!("one fault of a load beyond the buffer") };
    assert!(detail.starts_with("4 bytes at address 0x1001c lie in no buffer"), "{detail}");
}

/// At any distance: index times stride is computed modulo 2^64, like addresses.
#[test]
fn an_index_of_an_address_keeps_all_its_bits() {
    for far in [1_u64 << 28, 1 << 33, 1 << 36, 1 << 50, 1 << 60, 1 << 63] {
        // The base is as far away as the index leads back; the access is one element further on.
        let (index, base) = (far.wrapping_add(1), 65536_u64.wrapping_sub(far.wrapping_mul(8)));
        let outcome = at_address(
            "%base = OpConvertUToPtr %to_pair %start\n%at = OpPtrAccessChain %to_uint %base %far %one\n\
             %result = OpLoad %uint %at Aligned 4",
            &format!("%far = OpConstant %ulong {index}\n%start = OpConstant %ulong {base}"),
        );
        assert_eq!(outcome.faults, [], "{far:#x}");
        assert_eq!(exact(&outcome, 0), [8; 4], "{far:#x}");
    }
}

/// An index beyond an array of a logical pointer is wrong, whether there is an access through it or
/// not.
#[test]
fn a_logical_pointer_stays_in_its_array() {
    let dynamic = "%element = OpAccessChain %to_plain %shared %i\n%result = OpIAdd %uint %i %i";
    assert_eq!(detail_of(dynamic), ["index 3 of an array of 3"]);
    let fixed = "%element = OpAccessChain %to_plain %shared %3\n%result = OpIAdd %uint %i %i";
    assert_eq!(detail_of(fixed), ["index 3 of an array of 3"]);
}

/// Outcome of SPIR-V that computes from the float `%x` and stores to a vector of two.
fn stored(body: &str, x: f32) -> Outcome {
    let body = format!(
        "%local = OpVariable %locals Function
        %at = OpAccessChain %pfloat %data %one
        %to = OpAccessChain %ppairs %data %zero
        %x = OpLoad %float %at
        {body}"
    );
    let shader = Shader {
        buffers: &[("%data", "%blocks")],
        decorations: "OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %block 1 Offset 8",
        declared: "%pair = OpTypeVector %float 2
            %f0 = OpConstant %float 0
            %f1 = OpConstant %float 1
            %block = OpTypeStruct %pair %float
            %blocks = OpTypePointer StorageBuffer %block
            %ppairs = OpTypePointer StorageBuffer %pair
            %locals = OpTypePointer Function %float
            %undefined = OpUndef %pair
            %undef = OpUndef %bool
            %number = OpUndef %uint",
        body: &body,
        ..Shader::default()
    };
    run(&shader.module(), [1; 3], vec![floats(&[7.0, 7.0, x])])
}

/// A branch on an `OpUndef` is undefined behaviour. A branch on a value computed from it goes
/// either way.
#[test]
fn only_a_branch_on_an_undef_itself_is_undefined_behaviour() {
    let branch = "%part = OpCompositeExtract %float %undefined 0
        %above = OpFOrdGreaterThan %bool %part %f0
        OpSelectionMerge %merge None
        OpBranchConditional %above %then %merge
        %then = OpLabel
        OpStore %at %f1
        OpBranch %merge
        %merge = OpLabel";
    let outcome = stored(branch, 3.0);
    assert_eq!(outcome.faults, []);
    assert!(permits(&outcome, 0, 2, 1.0) && permits(&outcome, 0, 2, 3.0) && !permits(&outcome, 0, 2, 2.0));
    let outcome = stored(&branch.replace("BranchConditional %above", "BranchConditional %undef"), 3.0);
    let kinds: Vec<_> = outcome.faults.iter().map(|fault| fault.kind).collect();
    assert_eq!(kinds, [FaultKind::Uninitialized]);
    let switch = "%bits = OpBitcast %uint %x
        %sum = OpIAdd %uint %bits %number
        OpSelectionMerge %merge None
        OpSwitch %sum %merge 1 %then
        %then = OpLabel
        OpStore %at %f1
        OpBranch %merge
        %merge = OpLabel";
    let outcome = stored(switch, 3.0);
    assert_eq!(outcome.faults, []);
    assert!(permits(&outcome, 0, 2, 1.0) && permits(&outcome, 0, 2, 3.0));
    let outcome = stored(&switch.replace("OpSwitch %sum", "OpSwitch %number"), 3.0);
    let kinds: Vec<_> = outcome.faults.iter().map(|fault| fault.kind).collect();
    assert_eq!(kinds, [FaultKind::Uninitialized]);
}

/// An undefined value may be stored, as a part or as a whole. It is undetermined, and other values
/// are not.
#[test]
fn an_undefined_value_may_be_stored() {
    let outcome = stored("%some = OpCompositeInsert %pair %x %undefined 0\n OpStore %to %some", 3.0);
    assert_eq!(outcome.faults, []);
    assert!(permits(&outcome, 0, 0, 3.0));
    assert_eq!(cause(&outcome, 0, 1), CauseKind::Uninitialized);
    let outcome = stored("OpStore %to %undefined", 3.0);
    assert_eq!(outcome.faults, []);
    assert_eq!([0, 1].map(|at| cause(&outcome, 0, at)), [CauseKind::Uninitialized; 2]);
    assert!(permits(&outcome, 0, 2, 3.0));
}

/// A denormal may or may not be above zero: memory that is written only under that condition is
/// undefined in one of the two cases.
#[test]
fn memory_that_may_be_written_is_undetermined_not_undefined() {
    let body = "%above = OpFOrdGreaterThan %bool %x %f0
        OpSelectionMerge %merge None
        OpBranchConditional %above %then %merge
        %then = OpLabel
        OpStore %local %x
        OpBranch %merge
        %merge = OpLabel
        %loaded = OpLoad %float %local
        %chosen = OpSelect %float %above %loaded %f1
        %to0 = OpAccessChain %pfloat %data %zero %zero
        OpStore %to0 %chosen";
    for x in [f32::from_bits(9), 2.0, -2.0] {
        let outcome = stored(body, x);
        assert_eq!(outcome.faults, [], "{x}");
        let right = if x > 1.0 { x } else { 1.0 };
        assert_ne!(word(&outcome, 0, 0).permits(u64::from(right.to_bits())), Some(false), "{x}");
    }
    let outcome =
        stored(&body.replace("%chosen = OpSelect %float %above %loaded %f1", "").replace("%chosen", "%loaded"), -2.0);
    assert_eq!(cause(&outcome, 0, 0), CauseKind::Uninitialized);
}

/// A constant is evaluated once, not by every invocation.
#[test]
fn a_constant_that_divides_by_zero_is_one_fault() {
    let shader = Shader {
        local_size: 64,
        decorations: "OpDecorate %none SpecId 0",
        declared: "%none = OpSpecConstant %uint 0\n%quotient = OpSpecConstantOp %uint UDiv %none %none",
        ..Shader::default()
    };
    let outcome = run(&shader.module(), [2, 1, 1], Vec::new());
    assert_eq!((faults(&outcome), outcome.fault_count), (vec![(FaultKind::Division, 0)], 1));
}

#[test]
fn an_array_has_an_element() {
    let shader = Shader {
        interface: "%all",
        decorations: "OpDecorate %n SpecId 0",
        declared: "%n = OpSpecConstant %uint 1
            %array = OpTypeArray %uint %n
            %arrays = OpTypePointer Private %array
            %all = OpVariable %arrays Private",
        body: "%whole = OpLoad %array %all",
        ..Shader::default()
    };
    let module = shader.module();
    let of = |n| assay_oracle::Program::new(&module, "main", &assay_oracle::SpecValues::from([(0, n)])).map(drop);
    assert_eq!(of(1), Ok(()));
    assert!(of(0).is_err_and(|error| error.to_string().contains("an array whose length is zero")));
}

/// A loop whose state repeats is found long before the limits; one that counts is not taken for it.
#[test]
fn a_repeated_state_is_an_endless_loop() {
    let outcome = |body: &str, limits: &assay_oracle::Limits| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
            fn next(x: u32) -> u32 {{ var y = x; for (var k = 0u; k < 3u; k++) {{ y ^= k; }} return y; }}
            @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"
        );
        let program = assay_oracle::Program::new(&wgsl(&text), "main", &Default::default()).expect("a program");
        let bindings = std::collections::BTreeMap::from([(assay_oracle::Slot::new(0, 0), words(&[1, 2, 3, 4]))]);
        let dispatch = assay_oracle::Dispatch { bindings, ..Default::default() };
        program.run(&dispatch, limits).expect("runs")
    };
    let limits = assay_oracle::Limits { blocks_per_group: 1 << 17, ..Default::default() };
    for body in [
        "loop { d[i] = 1u; }",
        "loop { d[i] = 1u - d[i]; }",
        "if i == 2u { loop { d[i] = d[3]; } } d[i] = 1u;",
        "loop { d[i] = next(next(d[i])); }",
        "var k = 0u; loop { k = (k + 1u) % 7u; if k == 9u { break; } d[i] = k; }",
    ] {
        let outcome = outcome(body, &limits);
        assert_eq!(
            outcome.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(),
            [FaultKind::Repetition],
            "{body}"
        );
        assert_eq!(word(&outcome, 0, 0).permits(1), None, "{body}");
    }
    let counts = "var k = 0u; loop { k++; if k == 20000u { break; } d[i] = k % 3u; }";
    let ends = outcome(counts, &limits);
    assert_eq!((ends.fault_count, word(&ends, 0, 0).permits(1)), (0, Some(true)));
    let memory = "loop { d[i]++; if d[i] > 20000u { break; } }";
    let ends = outcome(memory, &limits);
    assert_eq!((ends.fault_count, word(&ends, 0, 0).permits(20001)), (0, Some(true)));
    // Another workgroup may set what an atomic waits for.
    let text = "@group(0) @binding(0) var<storage, read_write> d: atomic<u32>;
        @compute @workgroup_size(1) fn main() { loop { if atomicLoad(&d) == 9u { break; } } }";
    let program = assay_oracle::Program::new(&wgsl(text), "main", &Default::default()).expect("a program");
    let bindings = std::collections::BTreeMap::from([(assay_oracle::Slot::new(0, 0), words(&[1]))]);
    let waits = program.run(&assay_oracle::Dispatch { bindings, ..Default::default() }, &limits).expect("runs");
    assert_eq!(waits.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::Endless]);
    // A counter of 32 bits takes longer than the limit: that is not a proof.
    let gives_up = outcome("var k = 0u; loop { k++; if k == 0u { break; } d[i] = 1u; }", &limits);
    assert_eq!(gives_up.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::Endless]);
}
