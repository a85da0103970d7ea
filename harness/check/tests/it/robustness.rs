//! Tests of accesses out of bounds on devices with `robustBufferAccess2` and `robustImageAccess2`.

use crate::support::{on_each_driver, wgsl};
use assay_check::{Check, Options};
use assay_events::Status;
use assay_oracle::Robustness;

/// lavapipe forwards the store, so the load gives 7.
#[test]
fn a_store_out_of_bounds_may_be_visible_to_a_load() {
    let buffer = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            d[id.x + 5000u] = 7u;
            out[id.x] = d[id.x + 5000u];
        }";
    let image = "@group(0) @binding(0) var d: texture_storage_2d<r32uint, read_write>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureStore(d, vec2(id.x + 5000u, 0u), vec4(7u));
            out[id.x] = textureLoad(d, vec2(id.x + 5000u, 0u)).x;
        }";
    for text in [buffer, image] {
        let shader = wgsl(text);
        let options = Options { robustness: Some(Robustness::Access2), groups: Some([1; 3]), ..Options::default() };
        let check = Check::new(&shader, &options).unwrap();
        on_each_driver(|target| {
            let result = check.run(target).unwrap();
            // All stored values are undetermined.
            assert!(matches!(result.status, Status::Undetermined | Status::NotSupported), "{result:?}");
            // The four words of each round.
            let rounds = result.unjudged.len() as u64;
            assert_eq!((result.elements_failing, result.elements_undetermined), (0, rounds * 4), "{result:?}");
        });
    }
}

/// The device states the alignment of the accessible range of a buffer.
#[test]
fn the_accessible_range_has_the_alignment_of_the_device() {
    let shader = wgsl(
        "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
         @compute @workgroup_size(1) fn main() { d[0] = 1u; }",
    );
    let options = Options { robustness: Some(Robustness::Access2), ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    on_each_driver(|target| {
        use assay_exec::Target;
        let says = |name: &str| target.capabilities().properties.get(name).copied();
        let alignment = check.dispatch(0, target).unwrap().robust_alignment;
        let has = |name: &str| target.capabilities().extensions.contains(name);
        let storage = says("robustStorageBufferAccessSizeAlignment");
        let uniform = says("robustUniformBufferAccessSizeAlignment");
        let offered = has("VK_EXT_robustness2") || has("VK_KHR_robustness2");
        assert!(!offered || storage.is_some() && uniform.is_some(), "{:?}", target.capabilities().properties);
        assert_eq!(u64::from(alignment.storage), storage.unwrap_or(4));
        assert_eq!(u64::from(alignment.uniform), uniform.unwrap_or(256));
    });
}
