//! Lowered kernels are legal in Vulkan by our rules and by spirv-val, and contain no
//! kernel features; errors name unsupported features.

use assay_spirv::kernel_call::{Argument, DescriptorPosition, ImageHandle, KernelCall, SamplerHandle};
use assay_spirv::tables::{Dim, ImageFormat};
use assay_spirv::{Module, Style, disassemble};
use assay_spirv_lower::LowerError;
use assay_spirv_lower::bindless::{DescriptorIndexing, lower};
use assay_spirv_rules::requirements::Requirements;
use assay_testkit::spirv;

use crate::support::{broken, refused};

const KERNEL: &str = include_str!("../lower/bindless.spvasm");

fn module(wide: bool, body: &str) -> Module {
    let (size, width) = if wide { ("%long", "64") } else { ("%uint", "32") };
    let text = KERNEL.replace("BODY", body).replace("%SIZE", size).replace("WIDTH", width).replace("MODE\n", "");
    spirv(&text)
}

fn image(handle: u64, (binding, element): (u32, u32), dim: Dim, format: ImageFormat) -> ImageHandle {
    ImageHandle {
        handle,
        at: DescriptorPosition { set: 1, binding, element },
        dim,
        arrayed: false,
        format,
        storage: false,
    }
}

/// A call with two images of each kind.
fn call() -> KernelCall {
    let mut call = KernelCall {
        arguments: vec![
            Argument::Buffer { set: 0, binding: 0 },
            Argument::Buffer { set: 0, binding: 1 },
            Argument::Buffer { set: 0, binding: 2 },
            Argument::Value { offset: 0 },
            Argument::Value { offset: 8 },
            Argument::Value { offset: 12 },
        ],
        ..KernelCall::default()
    };
    let mut next = 0x1000;
    for element in 0..2 {
        let kinds = [
            (0, Dim::Dim2D, ImageFormat::Rgba32ui),
            (1, Dim::Dim2D, ImageFormat::R32f),
            (2, Dim::Dim1D, ImageFormat::Rgba8ui),
            (3, Dim::Dim3D, ImageFormat::Rgba16i),
            (4, Dim::Buffer, ImageFormat::R32ui),
            (5, Dim::Dim2D, ImageFormat::Rg16ui),
            (6, Dim::Dim1D, [ImageFormat::R32f, ImageFormat::Rgba8][element as usize]),
            (7, Dim::Dim2D, ImageFormat::Rgba8ui),
        ];
        for (binding, dim, format) in kinds {
            next += 1;
            let mut one = image(next, (binding, element), dim, format);
            one.storage = matches!(binding, 5 | 6);
            one.arrayed = binding == 7;
            call.images.push(one);
        }
        call.samplers.push(SamplerHandle { handle: next, at: DescriptorPosition { set: 1, binding: 8, element } });
        call.sampled_images.push(image(next, (9, element), Dim::Dim2D, ImageFormat::Rgba8ui));
    }
    call
}

const MADE: &str = "%made = OpConvertHandleToImageINTEL %image %handle\n";

/// Bodies of the kernel, each with an instruction of the lowered module.
const BODIES: [(&str, &str); 18] = [
    ("%texel = OpImageRead %v4uint %made %at", "OpImageFetch"),
    ("%texel = OpImageFetch %v4uint %made %at Lod %u0", "OpImageFetch"),
    ("%float4 = OpImageRead %v4float %made %at4\n%texel = OpBitcast %v4uint %float4", "OpVectorShuffle"),
    ("%l = OpConvertHandleToImageINTEL %line %handle\n%texel = OpImageRead %v4uint %l %at", "OpImageFetch"),
    ("%l = OpConvertHandleToImageINTEL %volume %handle\n%texel = OpImageRead %v4uint %l %at4", "OpBitcast"),
    ("%l = OpConvertHandleToImageINTEL %layers %handle\n%texel = OpImageRead %v4uint %l %at4", "OpImageFetch"),
    ("%l = OpConvertHandleToImageINTEL %texels %handle\n%texel = OpImageRead %v4uint %l %u1", "OpImageFetch"),
    ("%w = OpConvertHandleToImageINTEL %written %handle\n%texel = OpConstantNull_ %v4uint", "OpImageWrite"),
    (
        "%b = OpConvertHandleToImageINTEL %both %handle\n%texel = OpImageRead %v4uint %b %at\nOpImageWrite %b %at %texel",
        "OpImageRead",
    ),
    (
        "%w = OpConvertHandleToImageINTEL %drawn %handle\n%f = OpCompositeConstruct %v4float %f1 %f1 %f0 %f1\n\
         OpImageWrite %w %u1 %f\n%texel = OpBitcast %v4uint %f",
        "StorageImageWriteWithoutFormat",
    ),
    (
        "%s = OpConvertHandleToSamplerINTEL %sampler %handle\n%c = OpSampledImage %sampled %made %s\n\
         %texel = OpImageSampleExplicitLod %v4uint %c %centre Lod %f0",
        "OpSampledImage",
    ),
    (
        "%c = OpConvertHandleToSampledImageINTEL %sampled %handle\n\
         %texel = OpImageSampleExplicitLod %v4uint %c %centre Lod %f0",
        "OpImageSampleExplicitLod",
    ),
    (
        "%c = OpConvertHandleToSampledImageINTEL %sampled %handle\n%i = OpImage %image %c\n\
         %texel = OpImageRead %v4uint %i %at",
        "OpImage ",
    ),
    (
        "%q = OpImageQuerySizeLod %v2uint %made %u0\n%texel = OpVectorShuffle %v4uint %q %q 0 1 0 1",
        "OpImageQuerySizeLod",
    ),
    (
        "%w = OpConvertHandleToImageINTEL %written %handle\n%q = OpImageQuerySize %v2uint %w\n%texel = OpVectorShuffle %v4uint %q %q 0 1 0 1",
        "OpImageQuerySize",
    ),
    // An image passed to a function and through a variable.
    (
        "OpStore %box %made\n%again = OpLoad %image %box\n%texel = OpFunctionCall %v4uint %read %again %at",
        "OpFunctionCall",
    ),
    (
        "%which = OpIEqual %bool %number %u1\nOpSelectionMerge %met None\nOpBranchConditional %which %then %met\n\
         %then = OpLabel\n%second = OpConvertHandleToImageINTEL %image %one\nOpBranch %met\n%met = OpLabel\n\
         %picked = OpPhi %image %made %start %second %then\n%texel = OpImageRead %v4uint %picked %at",
        "OpPhi",
    ),
    (
        "%p = OpInBoundsPtrAccessChain %to_handle %place %s1\n%q = OpPtrAccessChain %to_pair %pairs %x\n\
         %m = OpAccessChain %to_handle %q %u1\n%h = OpLoad %SIZE %m Aligned 4\n%k = OpLoad %SIZE %p\n%first = OpLoad %SIZE %handles\n\
         %sum = OpIAdd %SIZE %h %k\n%all_of = OpIAdd %SIZE %sum %first\n%i = OpConvertHandleToImageINTEL %image %all_of\n%texel = OpImageRead %v4uint %i %at",
        "OpIAdd",
    ),
];

fn bodies() -> impl Iterator<Item = (String, &'static str)> {
    BODIES.iter().map(|(body, sign)| {
        let write = "%texel = OpCompositeConstruct %v4uint %u1 %u1 %u0 %u0\nOpImageWrite %w %at %texel";
        (format!("{MADE}{}", body.replace("%texel = OpConstantNull_ %v4uint", write)), *sign)
    })
}

#[test]
fn lowered_kernels_are_core() {
    for wide in [false, true] {
        for (body, sign) in bodies() {
            let native = module(wide, &body);
            assert_eq!(broken(native.words()), [""; 0], "{body}");
            for how in [DescriptorIndexing::NonUniform, DescriptorIndexing::Switch] {
                let words = lower(&native, &call(), how).unwrap_or_else(|e| panic!("{e}\n{body}"));
                let text = disassemble(&words, Style::default()).unwrap();
                assert_eq!(broken(&words), [""; 0], "{text}");
                assert_eq!(refused(&words, "vulkan1.3"), None, "{text}");
                for gone in ["INTEL", "Kernel", "CrossWorkgroup", "Physical"] {
                    assert!(!text.contains(gone), "{gone}: {text}");
                }
                assert!(text.contains(sign), "{sign}: {text}");
                assert_eq!(text.contains("NonUniform"), how == DescriptorIndexing::NonUniform);
                assert!(text.contains("OpSwitch") || how == DescriptorIndexing::NonUniform);
            }
        }
    }
}

/// Non-uniform indexing adds device requirements, a switch does not.
#[test]
fn requirements_depend_on_the_indexing() {
    let needs = |how| {
        let words = lower(&module(false, &format!("{MADE}{}", BODIES[0].0)), &call(), how).unwrap();
        let requirements = Requirements::of(&Module::parse(words).unwrap());
        requirements.items.iter().map(|item| item.expression.to_string()).collect::<Vec<_>>().join("; ")
    };
    assert!(needs(DescriptorIndexing::NonUniform).contains("shaderSampledImageArrayNonUniformIndexing"));
    assert!(!needs(DescriptorIndexing::Switch).contains("Indexing"), "{}", needs(DescriptorIndexing::Switch));
}

#[test]
fn contraction_off_becomes_no_contraction() {
    let text = |mode: &str| {
        let text = KERNEL.replace("BODY", &format!("{MADE}{}", BODIES[0].0)).replace("%SIZE", "%uint");
        let text = text.replace("WIDTH", "32").replace("MODE\n", mode);
        let module = spirv(&text);
        disassemble(&lower(&module, &call(), DescriptorIndexing::Switch).unwrap(), Style::default()).unwrap()
    };
    assert!(text("OpExecutionMode %main ContractionOff\n").contains("NoContraction"));
    assert!(!text("").contains("NoContraction"));
}

/// Kernels with a changed word or a missing instruction are rejected or lowered without a panic.
#[test]
fn damaged_kernels_never_panic() {
    let mut state = 11u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
    let (call, mut lowered) = (call(), 0);
    let kernels: Vec<Module> = bodies().map(|(body, _)| module(true, &body)).collect();
    for round in 0..6_000 {
        let kernel = &kernels[round % kernels.len()];
        let mut words = kernel.words().to_vec();
        for _ in 0..=random(3) {
            let at: Vec<usize> = kernel.instructions().map(|i| i.at).collect();
            match random(6) {
                0 if words.len() == kernel.words().len() => {
                    let i = random(at.len() - 1);
                    words.drain(at[i]..at[i + 1]);
                }
                1 => words[3] = random(usize::MAX) as u32,
                _ => {
                    let place = 5 + random(words.len() - 5);
                    words[place] = match random(4) {
                        0 => random(usize::MAX) as u32,
                        1 => random(90) as u32,
                        _ => words[5 + random(words.len() - 5)],
                    };
                }
            }
        }
        let Ok(broken) = Module::parse(words) else { continue };
        for how in [DescriptorIndexing::NonUniform, DescriptorIndexing::Switch] {
            if let Ok(words) = lower(&broken, &call, how) {
                lowered += 1;
                let _any = Module::parse(words);
            }
        }
    }
    assert!(lowered > 500, "{lowered}");
}

fn error(body: &str, change: impl Fn(&mut KernelCall)) -> String {
    let mut call = call();
    change(&mut call);
    lower(&module(true, &format!("{MADE}{body}")), &call, DescriptorIndexing::Switch).unwrap_err().to_string()
}

#[test]
fn unsupported_features_are_named_in_errors() {
    let read = BODIES[0].0;
    for (body, said) in [
        ("%q = OpImageQueryFormat %uint %made\n%texel = OpImageRead %v4uint %made %at", "OpImageQueryFormat"),
        ("%texel = OpImageRead %v4uint %made %at ConstOffset %at", "OpImageRead with these image operands"),
        ("%texel = OpImageRead %v4uint %made %u1", "at 1 of 2 required coordinates"),
        ("%n = OpConvertPtrToU %long %to\n%texel = OpImageRead %v4uint %made %at", "OpConvertPtrToU"),
        (
            "%n = OpPtrEqual %bool %to %result\n%texel = OpImageRead %v4uint %made %at",
            "a pointer to global memory or to a built-in in OpPtrEqual",
        ),
        ("OpControlBarrier %u1 %u1 %u0\n%texel = OpImageRead %v4uint %made %at", "OpControlBarrier of a kernel"),
        (
            "%which = OpIEqual %bool %number %u1\nOpBranchConditional %which %then %met\n%then = OpLabel\nOpBranch %met\n\
             %met = OpLabel\n%texel = OpImageRead %v4uint %made %at",
            "unstructured control flow",
        ),
    ] {
        let found = error(body, |_| ());
        assert!(found.contains(said), "{found}");
    }
    for (change, said) in [
        ((|c| c.arguments.truncate(2)) as fn(&mut KernelCall), "2 arguments for a kernel with 6 parameters"),
        (|c| c.arguments[0] = Argument::Value { offset: 0 }, "for this parameter"),
        (|c| c.images[1].at.binding = 0, "the descriptors of a binding have different types"),
        (|c| c.images[1].handle = 0x1001, "denotes two images"),
        (|c| c.images[0].dim = Dim::Rect, "unsupported dimensionality Rect"),
        (|c| c.images.clear(), "a conversion of a handle, as no image has a handle"),
        (|c| c.images.retain(|i| i.storage), "OpImageRead of storage images of different formats"),
    ] {
        // The remaining images with float texels have two formats.
        let line = "%l = OpConvertHandleToImageINTEL %line %handle\n%f = OpImageRead %v4float %l %u1\n%texel = OpBitcast %v4uint %f";
        let body = if said.contains("formats") { line } else { read };
        let found = error(body, change);
        assert!(found.contains(said), "{found}");
    }
    let core = spirv("OpCapability Shader\nOpMemoryModel Logical GLSL450");
    assert!(matches!(lower(&core, &call(), DescriptorIndexing::Switch), Err(LowerError::UnusedExtension(_))));
    let mut long = call();
    long.images[0].handle = 1 << 32;
    let found =
        lower(&module(false, &format!("{MADE}{read}")), &long, DescriptorIndexing::Switch).unwrap_err().to_string();
    assert!(found.contains("a 64-bit handle under addressing model Physical32"), "{found}");
}
