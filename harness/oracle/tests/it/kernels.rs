//! Kernels with handles: arguments, memory, named objects, and refusals.

use assay_oracle::{
    Dispatch, FaultKind, Image, Limits, Outcome, Program, ProgramError, Resource, RunError, Slot, SpecValues,
};
use assay_spirv::Module;
use assay_spirv::kernel_call::{Argument, DescriptorPosition, ImageHandle, KernelCall, SamplerHandle};
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{AddressMode, ImageView, Sampler};

use crate::support::{Shader, spirv, words};

const KERNEL: &str = include_str!("kernel.spvasm");

/// Handles that differ in their upper half only, if they have one.
const HIGH: u64 = 0x7f3a_0000_0000_0040;

fn text(wide: bool, body: &str) -> String {
    let text = KERNEL.replace("BODY", body);
    match wide {
        true => text.replace("WIDTH", "64").replace("%SIZE", "%long").replace("ALIGN", "8"),
        false => text.replace("WIDTH", "32").replace("%SIZE", "%uint").replace("ALIGN", "4"),
    }
}

fn at(binding: u32, element: u32) -> DescriptorPosition {
    DescriptorPosition { set: 1, binding, element }
}

fn image(element: u32) -> Image {
    let data = (0..12u32).flat_map(|i| (element * 1000 + i * 10).to_le_bytes()).collect();
    let extent = [4, 3, 1];
    Image {
        dim: Dim::Dim2D,
        extent,
        layers: 1,
        levels: 1,
        samples: 1,
        format: ImageFormat::R32ui,
        depth: false,
        view: ImageView::ALL,
        data,
    }
}

fn handle(handle: u64, at: DescriptorPosition) -> ImageHandle {
    ImageHandle { handle, at, dim: Dim::Dim2D, arrayed: false, format: ImageFormat::R32ui, storage: false }
}

/// Three images, two samplers, an image with its sampler. Arguments: the addresses of handles and
/// texels, a handle, 5.
fn dispatch(wide: bool, handles: [u64; 4]) -> Dispatch {
    let mut dispatch = Dispatch::default();
    let memory: Vec<u32> = match wide {
        true => handles.iter().flat_map(|h| [*h as u32, (*h >> 32) as u32]).collect(),
        false => handles.iter().map(|h| *h as u32).collect(),
    };
    dispatch.bindings.insert(Slot::new(0, 0), words(&memory));
    dispatch.bindings.insert(Slot::new(0, 1), words(&[7; 16]));
    for element in 0..3 {
        dispatch.bindings.insert(Slot { set: 1, binding: 0, element }, Resource::Image(image(element)));
    }
    let repeat = Sampler { address: [AddressMode::Repeat; 3], ..Sampler::NEAREST };
    for (element, sampler) in (0..).zip([Sampler::NEAREST, repeat]) {
        dispatch.bindings.insert(Slot { set: 1, binding: 1, element }, Resource::Sampler(sampler));
    }
    dispatch.bindings.insert(Slot::new(1, 2), Resource::CombinedImageSampler(image(9), Sampler::NEAREST));
    dispatch.push_constants = HIGH.to_le_bytes().into_iter().chain(5u32.to_le_bytes()).collect();
    let names: [u64; 3] = if wide { [HIGH, HIGH + (1 << 32), HIGH + (2 << 32)] } else { [0x40, 0x41, 0x42] };
    dispatch.kernel = Some(KernelCall {
        arguments: vec![
            Argument::Buffer { set: 0, binding: 0 },
            Argument::Buffer { set: 0, binding: 1 },
            Argument::Value { offset: 0 },
            Argument::Value { offset: 8 },
        ],
        images: (0..).zip(names).map(|(element, name)| handle(name, at(0, element))).collect(),
        // The same names as the first images.
        samplers: (0..)
            .zip(&names[..2])
            .map(|(element, name)| SamplerHandle { handle: *name, at: at(1, element) })
            .collect(),
        sampled_images: vec![handle(names[0], at(2, 0))],
    });
    dispatch
}

fn run(wide: bool, body: &str, handles: [u64; 4]) -> Outcome {
    let program = Program::new(&spirv(&text(wide, body)), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    program.run(&dispatch(wide, handles), &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The first words of the texels after the run.
fn left(outcome: &Outcome) -> Vec<u32> {
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let memory = &outcome.memory[&Slot::new(0, 1)];
    assert!(memory.cells().is_empty(), "{:?}", memory.cells());
    memory.bytes().chunks_exact(16).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

const READ: &str = "%made = OpConvertHandleToImageINTEL %image %handle\n%texel = OpImageRead %v4uint %made %at";

#[test]
fn each_invocation_reads_the_image_that_its_handle_names() {
    let wide = run(true, READ, [HIGH + (2 << 32), HIGH, HIGH + (1 << 32), HIGH]);
    assert_eq!(left(&wide), [2010, 10, 1010, 10]);
    assert_eq!(left(&run(false, READ, [0x42, 0x40, 0x41, 0x41])), [2010, 10, 1010, 1010]);
}

#[test]
fn arguments_are_values_of_their_width() {
    let body = "%made = OpConvertHandleToImageINTEL %image %one\n%y = OpUMod %uint %number %number\n\
                %there = OpCompositeConstruct %v2uint %u1 %y\n%texel = OpImageRead %v4uint %made %there";
    assert_eq!(left(&run(true, body, [0; 4])), [10; 4]);
}

/// Names of one kind are not names of another: the second sampler has the name of the second image.
#[test]
fn kinds_of_handles_are_apart() {
    let body = "%by = OpConvertHandleToSamplerINTEL %sampler %handle\n%made = OpConvertHandleToImageINTEL %image %handle\n\
                %both = OpSampledImage %sampled %made %by\n%texel = OpImageSampleExplicitLod %v4uint %both %far Lod %f0";
    // Clamped in the first, repeated in the second.
    assert_eq!(left(&run(false, body, [0x40, 0x41, 0x40, 0x41])), [30, 1020, 30, 1020]);
    let body = "%both = OpConvertHandleToSampledImageINTEL %sampled %handle\n\
                %texel = OpImageSampleExplicitLod %v4uint %both %far Lod %f0";
    assert_eq!(left(&run(false, body, [0x40; 4])), [9030; 4]);
}

#[test]
fn undefined_handles_are_the_shaders_fault() {
    let faults = |wide, body: &str, handles| -> Vec<(FaultKind, Option<u32>, [u32; 3], String)> {
        let outcome = run(wide, body, handles);
        outcome.faults.into_iter().map(|f| (f.kind, f.at.line, f.invocation, f.detail)).collect()
    };
    let found = faults(false, READ, [0x40, 0x43, 0x41, 0x42]);
    assert_eq!(found, [(FaultKind::Handle, Some(12), [1, 0, 0], "handle 0x43 names no image".to_owned())]);
    // Its lower half is that of another handle.
    let found = faults(true, READ, [HIGH, HIGH & 0xffff_ffff, HIGH, HIGH]);
    assert_eq!(found[0].3, "handle 0x40 names no image");
    let other = READ.replace("INTEL %image", "INTEL %line").replace("%made %at", "%made %u1");
    assert_eq!(faults(false, &other, [0x41; 4])[0].3, "the image that handle 0x41 names is 2D, not 1D");
    // The converted handle is unused.
    let unused = format!("{READ}\n%by = OpConvertHandleToSamplerINTEL %sampler %handle");
    assert_eq!(faults(false, &unused, [0x40, 0x41, 0x42, 0x40])[0].3, "handle 0x42 names no sampler");
}

#[test]
fn features_that_are_not_implemented_are_refused_by_name() {
    let refused = |body: &str, from: &str, to: &str| {
        let module = spirv(&text(true, body).replace(from, to));
        match Program::new(&module, "main", &SpecValues::new()).unwrap_err() {
            ProgramError::Unsupported { what, .. } => what,
            other => panic!("{other}"),
        }
    };
    let cast = format!("{READ}\n%address = OpConvertPtrToU %long %from");
    assert_eq!(refused(&cast, "", ""), "OpConvertPtrToU between a kernel's pointer and what is none");
    assert_eq!(refused(READ, "CrossWorkgroup %v4uint", "UniformConstant %v4uint"), "a kernel's constant memory");
    let three = refused(READ, "%v4uint = OpTypeVector %uint 4", "%v4uint = OpTypeVector %uint 3");
    assert_eq!(three, "a kernel's memory with vectors of 3, or vectors in structures");
}

/// Kernels with changed words are refused or interpreted, but never panic.
#[test]
fn changed_words_never_panic() {
    let mut state = 3u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
    let limits = Limits { blocks_per_group: 2_000, state_bytes: 1 << 24, ..Limits::default() };
    let mut ran = 0;
    for round in 0..4_000 {
        let mut words = spirv(&text(round % 2 == 0, READ)).into_words();
        for _ in 0..=random(3) {
            let place = 5 + random(words.len() - 5);
            words[place] = match random(3) {
                0 => random(70) as u32,
                1 => words[5 + random(words.len() - 5)],
                _ => words[place].wrapping_add(1),
            };
        }
        let Ok(module) = Module::parse(words) else { continue };
        let Ok(program) = Program::new(&module, "main", &SpecValues::new()) else { continue };
        let given = dispatch(round % 2 == 0, [HIGH, 0x40, 0x41, HIGH + (1 << 32)]);
        ran += usize::from(program.run(&given, &limits).is_ok());
    }
    assert!(ran > 300, "{ran}");
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let program = Program::new(&spirv(&text(false, READ)), "main", &SpecValues::new()).unwrap();
    let refused = |change: fn(&mut Dispatch)| {
        let mut dispatch = dispatch(false, [0x40; 4]);
        change(&mut dispatch);
        match program.run(&dispatch, &Limits::default()).unwrap_err() {
            RunError::Dispatch(what) => what,
            other => panic!("{other}"),
        }
    };
    fn call(dispatch: &mut Dispatch) -> &mut KernelCall {
        dispatch.kernel.as_mut().expect("it has one")
    }
    assert_eq!(refused(|d| d.kernel = None), "a kernel without arguments and handles");
    assert!(refused(|d| call(d).arguments.truncate(3)).contains("3 arguments for a kernel with 4 parameters"));
    assert!(refused(|d| call(d).arguments.swap(1, 2)).contains("argument 1"));
    assert!(refused(|d| call(d).arguments[3] = Argument::Value { offset: 12 }).contains("argument 3"));
    assert!(refused(|d| call(d).images[1].handle = 0x40).contains("denotes two images"));
    assert!(refused(|d| call(d).images[1].at.binding = 2).contains("where no image is bound"));
    let shader = Program::new(&Shader::default().module(), "main", &SpecValues::new()).unwrap();
    let error = shader.run(&dispatch(false, [0x40; 4]), &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("for a shader that is none"), "{error}");
}
