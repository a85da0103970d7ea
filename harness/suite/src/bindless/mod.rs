//! `bindless.*`: kernels that obtain images and samplers from handles (SPV_INTEL_bindless_images).
//!
//! The cases vary the source of a handle (arguments, memory, arithmetic, branches, functions), the
//! operation on the image, the dimensionality, the format, and the width of handles (32 and 64
//! bits). One or two of these vary in a group of cases. No Vulkan driver accepts such kernels, so
//! they run lowered or as the reference.

mod bindless_params;
mod bindless_program;
mod bindless_reference;
mod kernel_builder;

use crate::{Case, CaseSubject, RunPath, Suite};
use assay_spirv::tables::ImageFormat;
use bindless_params::{
    ArrayKind, BindlessParams, Dimensionality, HandleSource, HandleSpacing, ImageOperation, SamplerSet,
};

/// The suite.
#[derive(Debug)]
pub(crate) struct Bindless;

impl Suite for Bindless {
    fn name(&self) -> &'static str {
        "bindless"
    }

    fn purpose(&self) -> &'static str {
        "images and samplers from integer handles: each invocation must access the right one, however it obtained the handle"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for wide in [false, true] {
            shapes(&mut cases, wide);
            sources(&mut cases, wide);
            spacing(&mut cases, wide);
            formats(&mut cases, wide);
            samplers(&mut cases, wide);
        }
        // Groups that were added later come last, so that the quick budget's choice of the earlier
        // cases stays.
        for wide in [false, true] {
            cubes(&mut cases, wide);
            projections(&mut cases, wide);
            runtime_arrays(&mut cases, wide);
        }
        cases
    }
}

fn add(cases: &mut Vec<Case>, name: &str, rule: &'static str, params: BindlessParams) {
    let instruction = match params.access {
        ImageOperation::Project => "OpImageSampleProjExplicitLod",
        ImageOperation::Sample if params.samplers == SamplerSet::Unnormalized => "OpConvertHandleToSamplerINTEL",
        ImageOperation::Sampled | ImageOperation::Extracted => "OpConvertHandleToSampledImageINTEL",
        _ => "OpConvertHandleToImageINTEL",
    };
    let bits = if params.wide { 64 } else { 32 };
    let kind = if params.float() { "f32" } else { "u32" };
    let subject = CaseSubject {
        instruction,
        types: format!("{kind} of {:?}, handles of {bits} bits", params.format),
        rule,
        clause: "SPV_INTEL_bindless_images",
    };
    let name = format!("bindless.p{bits}.{name}");
    // A pattern with period four, two of which are kept, so that alternating properties are not
    // always left out.
    let number = cases.len();
    let thinned = (number ^ number >> 1) & 1 == 1;
    let case = Case::extension(name, subject, move |path| bindless_program::program(params, path == RunPath::Lowered));
    cases.push(case.thinned(thinned));
}

/// Returns true if the combination exists: texel buffers have no samplers.
fn exists(shape: Dimensionality, access: ImageOperation) -> bool {
    let sampler = access.samples() || access.brings_sampler();
    match access {
        // Layers and faces cannot be projected.
        ImageOperation::Project => {
            matches!(shape, Dimensionality::Line | Dimensionality::Plane | Dimensionality::Volume)
        }
        // An image with a sampler is not a storage image, which reading a cube requires.
        ImageOperation::Extracted if shape.cubes() => false,
        _ => shape != Dimensionality::Texels || !sampler,
    }
}

/// Cubes and cube arrays, in every operation.
fn cubes(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str =
        "sampling a cube returns the texel in the given direction, from the cube that the handle denotes";
    for access in ImageOperation::ALL {
        for shape in Dimensionality::CUBES.into_iter().filter(|shape| exists(*shape, access)) {
            for source in [HandleSource::Table, HandleSource::Argument, HandleSource::Select, HandleSource::Own] {
                let name = format!("{}.{}.{}", access.name(), shape.name(), source.name());
                add(cases, &name, RULE, BindlessParams { shape, source, ..BindlessParams::plain(wide, access) });
            }
        }
    }
    for format in [ImageFormat::Rgba8, ImageFormat::R32f, ImageFormat::Rgba16i] {
        for access in [ImageOperation::Sample, ImageOperation::Sampled] {
            let name = format!("{}.cube.format.{}", access.name(), format!("{format:?}").to_lowercase());
            add(
                cases,
                &name,
                RULE,
                BindlessParams { shape: Dimensionality::Cube, format, ..BindlessParams::plain(wide, access) },
            );
        }
    }
}

/// Projective coordinates. The divisor differs between invocations and is negative for some.
fn projections(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "projective sampling divides the coordinates by the last component";
    for shape in [Dimensionality::Line, Dimensionality::Plane, Dimensionality::Volume] {
        for source in [HandleSource::Table, HandleSource::Argument, HandleSource::Halves] {
            let name = format!("project.{}.{}", shape.name(), source.name());
            add(
                cases,
                &name,
                RULE,
                BindlessParams { shape, source, ..BindlessParams::plain(wide, ImageOperation::Project) },
            );
        }
    }
    for format in [ImageFormat::Rgba8, ImageFormat::R32f] {
        let name = format!("project.format.{}", format!("{format:?}").to_lowercase());
        add(cases, &name, RULE, BindlessParams { format, ..BindlessParams::plain(wide, ImageOperation::Project) });
    }
}

/// Descriptors from runtime arrays, on devices that support them.
fn runtime_arrays(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a handle denotes the same descriptor in a runtime array";
    for access in ImageOperation::ALL {
        for shape in [Dimensionality::Plane, Dimensionality::Planes, Dimensionality::Texels, Dimensionality::Cube] {
            if exists(shape, access) {
                let name = format!("{}.runtime.{}", access.name(), shape.name());
                add(
                    cases,
                    &name,
                    RULE,
                    BindlessParams { shape, arrays: ArrayKind::Runtime, ..BindlessParams::plain(wide, access) },
                );
            }
        }
    }
}

/// Every dimensionality in every operation, with a varying and a uniform handle.
fn shapes(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "an image of any dimensionality is the one that its handle denotes";
    for access in ImageOperation::ALL {
        for shape in Dimensionality::ALL.into_iter().filter(|shape| exists(*shape, access)) {
            for source in [HandleSource::Table, HandleSource::Argument] {
                let (how, params) = (source.name(), BindlessParams::plain(wide, access));
                let name = format!("{}.{}.{how}", access.name(), shape.name());
                add(cases, &name, RULE, BindlessParams { shape, source, ..params });
            }
        }
    }
}

/// Every source of a handle, for each type that handles are converted to.
fn sources(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a handle denotes the same image however the kernel obtained it";
    for access in [ImageOperation::Read, ImageOperation::Write, ImageOperation::Sample, ImageOperation::Sampled] {
        for source in HandleSource::ALL {
            let there = match source {
                HandleSource::Loop | HandleSource::Function => access == ImageOperation::Read,
                HandleSource::Images => access != ImageOperation::Sampled,
                // Covered by `shapes`.
                HandleSource::Table | HandleSource::Argument => false,
                _ => true,
            };
            if there {
                let name = format!("{}.from.{}", access.name(), source.name());
                add(cases, &name, RULE, BindlessParams { source, ..BindlessParams::plain(wide, access) });
            }
        }
    }
    for shape in [Dimensionality::Line, Dimensionality::Volume, Dimensionality::Planes, Dimensionality::Texels] {
        for source in [HandleSource::Function, HandleSource::Images, HandleSource::Loop] {
            let name = format!("read.{}.{}", shape.name(), source.name());
            add(
                cases,
                &name,
                RULE,
                BindlessParams { shape, source, ..BindlessParams::plain(wide, ImageOperation::Read) },
            );
        }
    }
}

/// Handles that differ in few bits.
fn spacing(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "all bits of a handle are significant";
    for spacing in HandleSpacing::ALL.into_iter().filter(|spacing| *spacing != HandleSpacing::Apart) {
        for access in [
            ImageOperation::Read,
            ImageOperation::Write,
            ImageOperation::Copy,
            ImageOperation::Sample,
            ImageOperation::Sampled,
        ] {
            for source in [HandleSource::Table, HandleSource::Stride, HandleSource::Halves, HandleSource::Own] {
                let name = format!("{}.names.{}.{}", access.name(), spacing.name(), source.name());
                add(cases, &name, RULE, BindlessParams { spacing, source, ..BindlessParams::plain(wide, access) });
            }
        }
    }
}

/// Formats that are read, written and sampled.
fn formats(cases: &mut Vec<Case>, wide: bool) {
    use ImageFormat as F;
    const RULE: &str = "a kernel reads and writes texels in the format of the image that the handle denotes";
    const FORMATS: [ImageFormat; 12] = [
        F::R32ui,
        F::R32i,
        F::R32f,
        F::Rgba8ui,
        F::Rgba8i,
        F::Rgba8,
        F::Rgba16ui,
        F::Rgba16i,
        F::Rgba16f,
        F::Rgba32i,
        F::Rgba32f,
        F::Rgba32ui,
    ];
    for format in FORMATS {
        for access in [
            ImageOperation::Read,
            ImageOperation::Write,
            ImageOperation::ReadWrite,
            ImageOperation::Sample,
            ImageOperation::Sampled,
        ] {
            // With one channel there is nothing to reverse. `Rgba32ui` is the plain format of the
            // other groups.
            let reverses = access != ImageOperation::ReadWrite || bindless_reference::layout(format).channels == 4;
            if reverses && format != F::Rgba32ui {
                let name = format!("{}.format.{}", access.name(), format!("{format:?}").to_lowercase());
                add(cases, &name, RULE, BindlessParams { format, ..BindlessParams::plain(wide, access) });
            }
        }
    }
}

/// Samplers with varying handles on one image, and samplers with unnormalised coordinates.
fn samplers(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a sampler is the one that its handle denotes";
    let plain = BindlessParams::plain(wide, ImageOperation::Sample);
    for shape in Dimensionality::ALL.into_iter().filter(|shape| exists(*shape, ImageOperation::Sample)) {
        for source in [HandleSource::Constant, HandleSource::Memory] {
            let name = format!("sampler.{}.{}", shape.name(), source.name());
            add(cases, &name, RULE, BindlessParams { shape, source, ..plain });
        }
    }
    for shape in [Dimensionality::Line, Dimensionality::Plane] {
        for source in [HandleSource::Table, HandleSource::Argument] {
            let name = format!("sampler.unnormalized.{}.{}", shape.name(), source.name());
            add(cases, &name, RULE, BindlessParams { shape, source, samplers: SamplerSet::Unnormalized, ..plain });
        }
    }
}
