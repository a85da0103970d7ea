//! Instruction-lanes per second. The interpreter promises rates for integer code and float
//! operations on the fast path.

use assay_oracle::{Buffer, Dispatch, Limits, Outcome, Program, Resource, Slot, SpecValues};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const INTEGERS: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(256)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        var x = data[id.x];
        for (var i = 0u; i < 256u; i++) {
            x ^= x << 13u;
            x ^= x >> 17u;
            x ^= x << 5u;
            x = x * 747796405u + 2891336453u;
        }
        data[id.x] = x;
    }";

const FLOATS: &str = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
    @compute @workgroup_size(256)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let c = data[id.x] * 0.001;
        var x = 0.5 + c;
        for (var i = 0u; i < 32u; i++) {
            x = max(x * c, -1.0) + 0.25;
            x = min(x, 0.75) - c;
        }
        data[id.x] = x;
    }";

const MATRIX: &str = "@group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> c: array<f32>;
    @compute @workgroup_size(8, 8)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        var sum = 0.0;
        for (var k = 0u; k < 32u; k++) { sum += a[id.y * 32u + k] * b[k * 32u + id.x]; }
        c[id.y * 32u + id.x] = sum;
    }";

fn program(text: &str) -> Program {
    Program::new(&assay_testkit::wgsl(text), "main", &SpecValues::new()).expect("a program")
}

fn run(program: &Program, groups: [u32; 3], buffers: u32, words: u32) -> Outcome {
    let data: Vec<u8> = (0..words).flat_map(|i| (0.5 + i as f32 * 1e-3).to_bits().to_le_bytes()).collect();
    let buffer = || Resource::Buffer(Buffer { data: data.clone(), address: None });
    let bindings = (0..buffers).map(|i| (Slot::new(0, i), buffer())).collect();
    let dispatch = Dispatch { groups, bindings, ..Dispatch::default() };
    let outcome = program.run(&dispatch, &Limits::default()).expect("runs");
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    outcome
}

fn throughput(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("instruction-lanes");
    group.sample_size(20);
    for (name, text, groups, buffers, words) in [
        ("integers", INTEGERS, [4, 1, 1], 1, 1024),
        ("floats", FLOATS, [4, 1, 1], 1, 1024),
        ("matrix 32x32x32", MATRIX, [4, 4, 1], 3, 1024),
    ] {
        let program = program(text);
        group.throughput(Throughput::Elements(run(&program, groups, buffers, words).instructions));
        group.bench_function(name, |bencher| bencher.iter(|| run(&program, groups, buffers, words)));
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
