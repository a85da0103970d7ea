//! Modules with random changed words are refused or interpreted, but never panic.

use crate::support::*;
use assay_oracle::{Dispatch, Limits, Program, Resource, Slot, SpecValues};
use assay_spirv::Module;
use assay_spirv::tables::ImageFormat;
use assay_texture::Sampler;

const SHADERS: [&str; 4] = [
    "struct P { a: vec3<f32>, b: array<mat2x3<f32>, 2>, c: u32 }
    @group(0) @binding(0) var<storage, read_write> d: array<P>;
    var<workgroup> w: array<vec2<u32>, 8>;
    fn f(p: ptr<function, P>, k: u32) -> f32 { var q = *p; q.a[k % 3u] += 1.5; *p = q; return dot(q.a, q.b[k & 1u][1]); }
    @compute @workgroup_size(4)
    fn main(@builtin(local_invocation_index) i: u32) {
        var p = d[i & 1u];
        w[i] = vec2(i, p.c);
        workgroupBarrier();
        for (var k = 0u; k < 3u; k++) { if f(&p, k) > 2.0 { continue; } p.c += w[k].x; }
        switch p.c { case 1u: { p.a = normalize(p.a); } case 2u, 3u: { p.a.x = f32(p.c) / 3.0; } default: {} }
        if i < 2u { d[i].a = p.a; }
    }",
    "@group(0) @binding(0) var<storage, read_write> d: array<atomic<u32>>;
    @group(0) @binding(1) var t: texture_storage_2d<rgba8unorm, read_write>;
    var<private> own: array<u32, 5>;
    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) i: vec3<u32>, @builtin(subgroup_invocation_id) s: u32) {
        own[i.x] = atomicAdd(&d[i.x], 3u);
        let texel = textureLoad(t, vec2(i.x, 0u));
        textureStore(t, vec2(i.x, 0u), texel.wzyx * 0.5);
        atomicMax(&d[0], subgroupAdd(own[(i.x + 1u) % 5u]) + subgroupBroadcast(s, 1u));
        let m = modf(texel.x); let e = frexp(texel.y);
        atomicStore(&d[1], pack4x8unorm(vec4(m.fract, e.fract, f32(e.exp), 1.0)));
    }",
    "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
    fn g(x: u32) -> vec4<u32> { return vec4(x, extractBits(x, 3u, 7u), countLeadingZeros(x), x / 7u); }
    @compute @workgroup_size(2)
    fn main(@builtin(local_invocation_index) i: u32) {
        var v = g(d[i]); v[i] = insertBits(v.x, v.y, i, 4u); v = select(v, v.wzyx, v > vec4(4u));
        let q = unpack2x16float(v.x) + unpack4x8snorm(v.y).xy;
        loop { if v.x < 9u || any(v == vec4(3u)) { break; } v >>= vec4(1u); continuing { v.y ^= 5u; } }
        d[i] = v.x + u32(clamp(q.x, 0.0, 9.0)) + arrayLength(&d);
    }",
    "@group(0) @binding(0) var<storage, read_write> d: array<vec4<f32>>;
    @group(0) @binding(1) var t: texture_2d<f32>;
    @group(0) @binding(2) var s: sampler;
    @compute @workgroup_size(4)
    fn main(@builtin(local_invocation_index) i: u32) {
        let at = vec2(f32(i) * 0.3, 0.5);
        let a = textureSampleLevel(t, s, at, 1.5, vec2(1, -1)) + textureSampleGrad(t, s, at, at, at);
        d[i] = a + textureGather(2, t, s, at.yx) + textureLoad(t, vec2(i, 0u), 0);
    }",
];

#[test]
fn changed_words_never_panic() {
    let mut state = 7u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let image = plane(ImageFormat::Rgba8, [4, 1, 1], (0..16).map(|i| i * 16).collect());
    let sampler = Sampler { linear: true, ..Sampler::NEAREST };
    let bindings = [
        (Slot::new(0, 0), floats(&[1.25; 64])),
        (Slot::new(0, 1), image),
        (Slot::new(0, 2), Resource::Sampler(sampler)),
    ];
    let dispatch =
        Dispatch { bindings: bindings.into(), layout: assay_oracle::SubgroupLayout::Linear, ..Dispatch::default() };
    let limits = Limits { blocks_per_group: 2_000, undecided_blocks: 200, state_bytes: 1 << 24, ..Limits::default() };
    let (mut read, mut ran) = (0, 0);
    for text in SHADERS {
        let whole = wgsl(text).into_words();
        let program = Program::new(&Module::parse(whole.clone()).expect("a module"), "main", &SpecValues::new());
        let outcome =
            program.unwrap_or_else(|e| panic!("{e}")).run(&dispatch, &limits).unwrap_or_else(|e| panic!("{e}"));
        assert!(outcome.instructions > 0);
        for _ in 0..700 {
            let mut words = whole.clone();
            for _ in 0..1 + random(3) {
                let at = 5 + random(words.len() - 5);
                words[at] = match random(4) {
                    0 => words[5 + random(words.len() - 5)],
                    1 => words[at].wrapping_add(1),
                    2 => random(64) as u32,
                    _ => words[at] ^ 1 << random(32),
                };
            }
            let Ok(module) = Module::parse(words) else { continue };
            read += 1;
            let Ok(program) = Program::new(&module, "main", &SpecValues::new()) else { continue };
            ran += u32::from(program.run(&dispatch, &limits).is_ok());
        }
    }
    assert!(read > 300 && ran > 100, "{read} modules read, {ran} run");
}
