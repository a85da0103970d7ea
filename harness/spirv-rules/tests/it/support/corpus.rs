//! SPIR-V that naga generates for the shaders of `tests/corpus`, in several versions.

use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Name and text of each shader.
const SHADERS: &[(&str, &str)] = &[
    ("array_length", include_str!("../../corpus/array_length.wgsl")),
    ("atomics", include_str!("../../corpus/atomics.wgsl")),
    ("barriers", include_str!("../../corpus/barriers.wgsl")),
    ("bitonic_sort", include_str!("../../corpus/bitonic_sort.wgsl")),
    ("bits", include_str!("../../corpus/bits.wgsl")),
    ("blend", include_str!("../../corpus/blend.wgsl")),
    ("boolean_vectors", include_str!("../../corpus/boolean_vectors.wgsl")),
    ("branches", include_str!("../../corpus/branches.wgsl")),
    ("builtins", include_str!("../../corpus/builtins.wgsl")),
    ("composites", include_str!("../../corpus/composites.wgsl")),
    ("constants", include_str!("../../corpus/constants.wgsl")),
    ("conversions", include_str!("../../corpus/conversions.wgsl")),
    ("copy", include_str!("../../corpus/copy.wgsl")),
    ("cube_texture", include_str!("../../corpus/cube_texture.wgsl")),
    ("depth_texture", include_str!("../../corpus/depth_texture.wgsl")),
    ("determinant", include_str!("../../corpus/determinant.wgsl")),
    ("doubles", include_str!("../../corpus/doubles.wgsl")),
    ("float_arithmetic", include_str!("../../corpus/float_arithmetic.wgsl")),
    ("float_compare", include_str!("../../corpus/float_compare.wgsl")),
    ("functions", include_str!("../../corpus/functions.wgsl")),
    ("geometry", include_str!("../../corpus/geometry.wgsl")),
    ("half_floats", include_str!("../../corpus/half_floats.wgsl")),
    ("int_arithmetic", include_str!("../../corpus/int_arithmetic.wgsl")),
    ("integer_dot", include_str!("../../corpus/integer_dot.wgsl")),
    ("loops", include_str!("../../corpus/loops.wgsl")),
    ("mandelbrot", include_str!("../../corpus/mandelbrot.wgsl")),
    ("matrices", include_str!("../../corpus/matrices.wgsl")),
    ("matrix_multiply", include_str!("../../corpus/matrix_multiply.wgsl")),
    ("matrix_shapes", include_str!("../../corpus/matrix_shapes.wgsl")),
    ("nested_loops", include_str!("../../corpus/nested_loops.wgsl")),
    ("offset_samples", include_str!("../../corpus/offset_samples.wgsl")),
    ("overrides", include_str!("../../corpus/overrides.wgsl")),
    ("packing", include_str!("../../corpus/packing.wgsl")),
    ("pointers", include_str!("../../corpus/pointers.wgsl")),
    ("quantize", include_str!("../../corpus/quantize.wgsl")),
    ("rounding", include_str!("../../corpus/rounding.wgsl")),
    ("sampled_texture", include_str!("../../corpus/sampled_texture.wgsl")),
    ("shared_atomics", include_str!("../../corpus/shared_atomics.wgsl")),
    ("storage_texture", include_str!("../../corpus/storage_texture.wgsl")),
    ("structures", include_str!("../../corpus/structures.wgsl")),
    ("subgroups", include_str!("../../corpus/subgroups.wgsl")),
    ("switches", include_str!("../../corpus/switches.wgsl")),
    ("texture_dimensions", include_str!("../../corpus/texture_dimensions.wgsl")),
    ("transcendental", include_str!("../../corpus/transcendental.wgsl")),
    ("two_entry_points", include_str!("../../corpus/two_entry_points.wgsl")),
    ("uniforms", include_str!("../../corpus/uniforms.wgsl")),
    ("vectors", include_str!("../../corpus/vectors.wgsl")),
    ("wide_integers", include_str!("../../corpus/wide_integers.wgsl")),
    ("workgroup_memory", include_str!("../../corpus/workgroup_memory.wgsl")),
];

/// Versions that the shaders are compiled to: the oldest, and those with the largest changes to
/// modules.
const VERSIONS: [(u8, u8); 3] = [(1, 0), (1, 3), (1, 4)];

/// Returns name and words of each shader in each version.
pub(crate) fn modules() -> Vec<(String, Vec<u32>)> {
    let mut modules = Vec::new();
    for (name, text) in SHADERS {
        let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
        let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = validated.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
        for version in VERSIONS {
            let options = spv::Options { lang_version: version, ..spv::Options::default() };
            // Overrides without values keep their defaults.
            let processed =
                naga::back::pipeline_constants::process_overrides(&module, &info, None, &Default::default());
            let (module, info) = processed.unwrap_or_else(|e| panic!("{name}: {e}"));
            let words = match spv::write_vec(&module, &info, &options, None) {
                Ok(words) => words,
                // Some shaders use features of later versions.
                Err(_) if version < VERSIONS[2] => continue,
                Err(error) => panic!("{name}: {error}"),
            };
            modules.push((format!("{name} as SPIR-V {}.{}", version.0, version.1), words));
        }
    }
    modules
}
