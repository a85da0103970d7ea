//! Lowered modules are legal by our rules and by spirv-val.

use crate::support::{broken, refused};
use assay_spirv::Module;
use assay_spirv::tables::{Capability, ImageFormat};
use assay_spirv_lower::fragment::{self, ColorImage, Draw};
use assay_spirv_lower::gather::{self, GatherStates};
use assay_spirv_lower::{LowerError, tile};
use assay_testkit::spirv;
use assay_texture::AddressMode;

const GATHER: &str = include_str!("../lower/gather.spvasm");
const TILE: &str = include_str!("../lower/tile.spvasm");
const FRAGMENT: &str = include_str!("../lower/fragment.spvasm");

#[test]
fn lowered_tile_module_is_core() {
    let native = spirv(TILE);
    assert_eq!(broken(native.words()), [""; 0]);
    let lowered = tile::lower(&native, [8, 4, 1]).unwrap();
    assert_eq!(broken(&lowered.words), [""; 0]);
    assert_eq!(refused(&lowered.words, "vulkan1.3"), None);
    let text = assay_spirv::disassemble(&lowered.words, assay_spirv::Style::default()).unwrap();
    assert!(!text.contains("QCOM"), "{text}");
    assert!(text.contains("LocalSize 8 4 1") && !text.contains("TileShading"), "{text}");
    // The 20 bytes of the native module, then the tile's push constants at the next multiple of 16.
    assert_eq!(lowered.push_bytes(), 32 + 44);
    let values = tile::TilePushConstants { offset: [16, 32], size: [7, 9, 2], apron: [3, 1] };
    let words = |bytes: Vec<u8>| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    assert_eq!(
        words(lowered.push_constants(&[1; 20], &values)),
        [[0x0101_0101; 5].as_slice(), &[0; 3], &[16, 32, 3, 1, 7, 9, 2, 0, 4, 5, 2]].concat()
    );
    assert_eq!(lowered.groups(&values), Some([1, 2, 2]));
}

#[test]
fn unsupported_features_are_named_in_errors() {
    let core = "OpCapability Shader\nOpMemoryModel Logical GLSL450";
    let nothing = tile::lower(&spirv(core), [1; 3]).unwrap_err();
    assert_eq!(nothing, LowerError::UnusedExtension(Capability::TileShadingQCOM));
    let twice = TILE.replace("OpExecutionMode", "OpEntryPoint GLCompute %main \"again\"\nOpExecutionMode");
    assert_eq!(tile::lower(&spirv(&twice), [1; 3]).unwrap_err(), LowerError::EntryPointCount(2));
    let whole = TILE.replace("%area_at = ", "%whole = OpLoad %Push %push\n%area_at = ");
    let error = tile::lower(&spirv(&whole), [1; 3]).unwrap_err().to_string();
    assert!(error.contains("the whole block of push constants"), "{error}");
    let copied = TILE.replace("%width_at = ", "%copy = OpCopyObject %pointer_in3 %tile_size\n%width_at = ");
    let error = tile::lower(&spirv(&copied), [1; 3]).unwrap_err().to_string();
    assert!(error.contains("a pointer to a built-in that is passed on"), "{error}");
}

#[test]
fn modules_with_barriers_get_workgroups_of_one_invocation() {
    let barrier = TILE.replace("OpReturn\n", "OpControlBarrier %2 %2 %0\nOpReturn\n");
    assert_eq!(tile::lower(&spirv(&barrier), [8, 8, 1]).unwrap().local_size, [1; 3]);
}

/// Lowers a fragment shader for a draw to one attachment, the storage image at this binding.
fn drawn(text: &str, binding: u32, per_tile: bool) -> Result<Vec<u32>, LowerError> {
    let color = ColorImage { set: 0, binding, format: ImageFormat::R32ui };
    fragment::lower(&spirv(text), &Draw { colors: &[Some(color)], area: [[3, 2], [20, 10]], per_tile })
}

#[test]
fn lowered_fragment_module_is_compute_and_then_core() {
    assert_eq!(broken(spirv(FRAGMENT).words()), [""; 0]);
    assert_eq!(fragment::locations(&spirv(FRAGMENT)), [0]);
    // With and without global variables in the interface; with an image that the shader also loads
    // from, and with a separate one.
    let old = FRAGMENT.replace(" %target %source %marks", "");
    for text in [FRAGMENT, &format!("; Version: 1.3\n{old}")] {
        for (binding, per_tile) in [(0, true), (0, false), (5, true)] {
            let compute = Module::parse(drawn(text, binding, per_tile).unwrap()).unwrap();
            assert_eq!(broken(compute.words()), [""; 0]);
            let shown = assay_spirv::disassemble(compute.words(), assay_spirv::Style::default()).unwrap();
            for gone in ["Fragment", "OriginUpperLeft", "NonCoherent", "FragCoord", "Flat", "Location", "OpKill"] {
                assert!(!shown.contains(gone), "{gone}: {shown}");
            }
            assert!(shown.contains("TileShadingRateQCOM 1 1 1"), "{shown}");
            assert_eq!(shown.contains("Binding 5"), binding == 5, "{shown}");
            // The image that is written is no longer read-only; the other one still is.
            assert_eq!(shown.matches("NonWritable").count(), if binding == 0 { 1 } else { 2 }, "{shown}");
            let lowered = tile::lower(&compute, [8, 4, 1]).unwrap();
            assert_eq!(broken(&lowered.words), [""; 0]);
            assert_eq!(refused(&lowered.words, "vulkan1.3"), None);
        }
    }
}

#[test]
fn features_of_rasterisation_are_named_in_errors() {
    let load = "%centre = OpLoad %v4float %position\n";
    let changes = [
        ("BuiltIn FragCoord", "BuiltIn PointCoord", "an input other than FragCoord and the tile built-ins"),
        ("Location 0", "Location 1", "an output that is not a colour attachment"),
        (
            "OpDecorate %color Location 0",
            "OpDecorate %color BuiltIn FragDepth",
            "an output that is not a colour attachment",
        ),
        ("%image = OpTypeImage %uint 2D 0 0 0 2 R32ui", "%image = OpTypeImage %uint 2D 0 0 0 2 R32i", "another image"),
        ("NonCoherentTileAttachmentReadQCOM", "DepthReplacing", "this execution mode of a fragment shader"),
        (load, "%centre = OpLoad %v4float %position\n%slope = OpDPdx %v4float %centre\n", "OpDPdx"),
        (load, "%copy = OpCopyObject %pointer_position %position\n%centre = OpLoad %v4float %copy\n", "passed on"),
        ("OpEntryPoint Fragment", "OpEntryPoint GLCompute", "an entry point that is not Fragment"),
    ];
    for (from, to, expected) in changes {
        assert!(FRAGMENT.contains(from), "{from}");
        let error = drawn(&FRAGMENT.replacen(from, to, 1), 0, true).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let core = drawn("OpCapability Shader\nOpMemoryModel Logical GLSL450", 0, true).unwrap_err();
    assert_eq!(core, LowerError::UnusedExtension(Capability::TileShadingQCOM));
}

fn gather(call: &str) -> Module {
    let text = GATHER.replace("COMPONENT", "2").replace("OFFSET_X", "-8").replace("OFFSET_Y", "7");
    spirv(&text.replace("GATHER", call))
}

#[test]
fn lowered_gathers_are_core() {
    let mut tried = 0;
    for mode in 0..4 {
        for operands in ["", "ConstOffset %offset", "Offset %offset"] {
            let native = gather(&format!("OpImageGatherQCOM %v4uint %both %at %component %uint_{mode} {operands}"));
            let extended = "OpImageGatherQCOM with an offset needs ImageGatherExtended";
            let found = broken(native.words());
            assert!(found.is_empty() || operands.starts_with("Offset"), "{extended}: {found:?}");
            for address in AddressMode::ALL {
                for offsets in [None, Some((-8, 7)), Some((-32, 31))] {
                    let states =
                        GatherStates { address: [address; 2], unnormalized: false, border: [0, 0, 0, 1], offsets };
                    let words = gather::lower(&native, &states).unwrap();
                    if found.is_empty() {
                        assert_eq!(broken(&words), [""; 0], "{mode} {operands} {address} {offsets:?}");
                    }
                    let text = assay_spirv::disassemble(&words, assay_spirv::Style::default()).unwrap();
                    assert!(!text.contains("QCOM"), "{text}");
                    // Offsets beyond the device's limits are not used.
                    let fits = mode >= 2
                        && match operands {
                            "" => offsets.is_some(),
                            // The offset is a constant, whichever operand it is.
                            _ => offsets == Some((-32, 31)),
                        };
                    assert_eq!(text.matches("OpImageGather ").count(), usize::from(fits), "{text}");
                    assert_eq!(text.matches("OpImageFetch").count(), if fits { 0 } else { 4 }, "{text}");
                    if (mode + tried) % 7 == 0 {
                        assert_eq!(refused(&words, "vulkan1.3"), None);
                    }
                    tried += 1;
                }
            }
        }
    }
}

#[test]
fn unsupported_gathers_are_named_in_errors() {
    let states = GatherStates { address: [AddressMode::Repeat; 2], unnormalized: false, border: [0; 4], offsets: None };
    let error = |module: &Module| gather::lower(module, &states).unwrap_err();
    let core = spirv("OpCapability Shader\nOpMemoryModel Logical GLSL450");
    assert!(matches!(error(&core), LowerError::UnusedExtension(_)));
    let lod = gather("OpImageGatherQCOM %v4uint %both %at %component %uint_1 Lod %offset");
    assert!(error(&lod).to_string().contains("image operands"));
    let five = gather("OpImageGatherQCOM %v4uint %both %at %component %offset_y");
    assert!(error(&five).to_string().contains("plain constant"));
}
