// An array of matrices with three-component columns is copied as a whole and read element by element.
@group(0) @binding(0) var<storage, read> matrices: array<mat4x3<f32>, 2>;
@group(0) @binding(1) var<storage, read_write> elements: array<f32>;

@compute @workgroup_size(24)
fn main(@builtin(local_invocation_index) i: u32) {
    var copy = matrices;
    elements[i] = copy[i / 12u][(i % 12u) / 3u][i % 3u];
}
