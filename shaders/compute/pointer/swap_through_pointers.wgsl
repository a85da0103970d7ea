// A function swaps two values through pointers.

@group(0) @binding(0) var<storage, read> a: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

fn swap(p: ptr<function, u32>, q: ptr<function, u32>) {
    let old = *p;
    *p = *q;
    *q = old;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = a[i].x;
    var y = a[i].y;
    if (x > y) { swap(&x, &y); }
    out[i] = vec2<u32>(x, y);
}
