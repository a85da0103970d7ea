//! `bindless.*`: SPV_INTEL_bindless_images, kernels that get images and samplers as numbers.
//!
//! How a kernel comes by a handle (arguments, memory, arithmetic, branches, functions), what it does with the image, every
//! dimensionality that kernels have, formats, and handles of 32 and of 64 bits: one or two of these vary in a group of cases. No
//! Vulkan driver takes such kernels, so that they run lowered, or as the reference.

mod form;
mod kernel;
mod program;
mod second;

use crate::{About, Case, RunPath, Suite};
use assay_spirv::tables::ImageFormat;
use form::{Access, Arrays, Form, Names, Pick, Samplers, Shape};

/// The suite.
#[derive(Debug)]
pub(crate) struct Bindless;

impl Suite for Bindless {
    fn name(&self) -> &'static str {
        "bindless"
    }

    fn why(&self) -> &'static str {
        "images and samplers that are numbers: which one each invocation gets, however it came by the number"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for wide in [false, true] {
            shapes(&mut cases, wide);
            picks(&mut cases, wide);
            names(&mut cases, wide);
            formats(&mut cases, wide);
            samplers(&mut cases, wide);
        }
        // What came later stands behind, so that the others are thinned as they were.
        for wide in [false, true] {
            cubes(&mut cases, wide);
            projections(&mut cases, wide);
            runtime_arrays(&mut cases, wide);
        }
        cases
    }
}

fn add(cases: &mut Vec<Case>, name: &str, rule: &'static str, form: Form) {
    let instruction = match form.access {
        Access::Project => "OpImageSampleProjExplicitLod",
        Access::Sample if form.samplers == Samplers::Unnormalized => "OpConvertHandleToSamplerINTEL",
        Access::Sampled | Access::TakenOut => "OpConvertHandleToSampledImageINTEL",
        _ => "OpConvertHandleToImageINTEL",
    };
    let bits = if form.wide { 64 } else { 32 };
    let kind = if form.float() { "f32" } else { "u32" };
    let about = About {
        instruction,
        types: format!("{kind} of {:?}, handles of {bits} bits", form.format),
        rule,
        clause: "SPV_INTEL_bindless_images",
    };
    let name = format!("bindless.p{bits}.{name}");
    // Two of four, so that nothing that alternates is always left out.
    let number = cases.len();
    let thinned = (number ^ number >> 1) & 1 == 1;
    let case = Case::extension(name, about, move |path| program::program(form, path == RunPath::Lowered));
    cases.push(case.thinned(thinned));
}

/// Whether there is such an access: texel buffers have no samplers.
fn is_there(shape: Shape, access: Access) -> bool {
    let sampler = access.samples() || access.brings_sampler();
    match access {
        // Neither layers nor faces are divided.
        Access::Project => matches!(shape, Shape::Line | Shape::Plane | Shape::Volume),
        // An image that brings a sampler is no storage image, which reads of cubes ask for.
        Access::TakenOut if shape.cubes() => false,
        _ => shape != Shape::Texels || !sampler,
    }
}

/// Cubes and arrays of them, in every access.
fn cubes(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a direction leads to the texel of the face that it meets, of the cube that the handle names";
    for access in Access::ALL {
        for shape in Shape::CUBES.into_iter().filter(|shape| is_there(*shape, access)) {
            for pick in [Pick::Table, Pick::Argument, Pick::Select, Pick::Own] {
                let name = format!("{}.{}.{}", access.name(), shape.name(), pick.name());
                add(cases, &name, RULE, Form { shape, pick, ..Form::plain(wide, access) });
            }
        }
    }
    for format in [ImageFormat::Rgba8, ImageFormat::R32f, ImageFormat::Rgba16i] {
        for access in [Access::Sample, Access::Sampled] {
            let name = format!("{}.cube.format.{}", access.name(), format!("{format:?}").to_lowercase());
            add(cases, &name, RULE, Form { shape: Shape::Cube, format, ..Form::plain(wide, access) });
        }
    }
}

/// Coordinates that are divided by their last component, which differs between invocations and is negative in some.
fn projections(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "coordinates are divided by the one behind them before a texel is looked up";
    for shape in [Shape::Line, Shape::Plane, Shape::Volume] {
        for pick in [Pick::Table, Pick::Argument, Pick::Halves] {
            let name = format!("project.{}.{}", shape.name(), pick.name());
            add(cases, &name, RULE, Form { shape, pick, ..Form::plain(wide, Access::Project) });
        }
    }
    for format in [ImageFormat::Rgba8, ImageFormat::R32f] {
        let name = format!("project.format.{}", format!("{format:?}").to_lowercase());
        add(cases, &name, RULE, Form { format, ..Form::plain(wide, Access::Project) });
    }
}

/// Descriptors from arrays of no stated length, where a device has such.
fn runtime_arrays(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a descriptor is the same out of an array whose length the layout says";
    for access in Access::ALL {
        for shape in [Shape::Plane, Shape::Planes, Shape::Texels, Shape::Cube] {
            if is_there(shape, access) {
                let name = format!("{}.runtime.{}", access.name(), shape.name());
                add(cases, &name, RULE, Form { shape, arrays: Arrays::Runtime, ..Form::plain(wide, access) });
            }
        }
    }
}

/// Every dimensionality in every access, by a handle that differs and one that does not.
fn shapes(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "an image of each dimensionality that kernels have is the one that its handle names";
    for access in Access::ALL {
        for shape in Shape::ALL.into_iter().filter(|shape| is_there(*shape, access)) {
            for pick in [Pick::Table, Pick::Argument] {
                let (how, form) = (pick.name(), Form::plain(wide, access));
                let name = format!("{}.{}.{how}", access.name(), shape.name());
                add(cases, &name, RULE, Form { shape, pick, ..form });
            }
        }
    }
}

/// Every way to a handle, for each kind of what it is converted to.
fn picks(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a handle names the same image however a kernel comes by it";
    for access in [Access::Read, Access::Write, Access::Sample, Access::Sampled] {
        for pick in Pick::ALL {
            let there = match pick {
                Pick::Loop | Pick::Function => access == Access::Read,
                Pick::Images => access != Access::Sampled,
                // Those of `shapes`.
                Pick::Table | Pick::Argument => false,
                _ => true,
            };
            if there {
                let name = format!("{}.from.{}", access.name(), pick.name());
                add(cases, &name, RULE, Form { pick, ..Form::plain(wide, access) });
            }
        }
    }
    for shape in [Shape::Line, Shape::Volume, Shape::Planes, Shape::Texels] {
        for pick in [Pick::Function, Pick::Images, Pick::Loop] {
            let name = format!("read.{}.{}", shape.name(), pick.name());
            add(cases, &name, RULE, Form { shape, pick, ..Form::plain(wide, Access::Read) });
        }
    }
}

/// Handles that differ in few bits.
fn names(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "every bit of a handle counts";
    for names in Names::ALL.into_iter().filter(|names| *names != Names::Apart) {
        for access in [Access::Read, Access::Write, Access::Copy, Access::Sample, Access::Sampled] {
            for pick in [Pick::Table, Pick::Stride, Pick::Halves, Pick::Own] {
                let name = format!("{}.names.{}.{}", access.name(), names.name(), pick.name());
                add(cases, &name, RULE, Form { names, pick, ..Form::plain(wide, access) });
            }
        }
    }
}

/// Formats, read, written and looked up.
fn formats(cases: &mut Vec<Case>, wide: bool) {
    use ImageFormat as F;
    const RULE: &str = "a kernel has texels as their format says, whatever else handles name";
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
        for access in [Access::Read, Access::Write, Access::ReadWrite, Access::Sample, Access::Sampled] {
            // Of one channel there is nothing to reverse, and the plain one is elsewhere.
            let reverses = access != Access::ReadWrite || second::layout(format).0 == 4;
            if reverses && format != F::Rgba32ui {
                let name = format!("{}.format.{}", access.name(), format!("{format:?}").to_lowercase());
                add(cases, &name, RULE, Form { format, ..Form::plain(wide, access) });
            }
        }
    }
}

/// Samplers whose handles differ, on an image that does not, and samplers with coordinates in texels.
fn samplers(cases: &mut Vec<Case>, wide: bool) {
    const RULE: &str = "a sampler is the one that its handle names";
    let plain = Form::plain(wide, Access::Sample);
    for shape in Shape::ALL.into_iter().filter(|shape| is_there(*shape, Access::Sample)) {
        for pick in [Pick::Constant, Pick::Memory] {
            let name = format!("sampler.{}.{}", shape.name(), pick.name());
            add(cases, &name, RULE, Form { shape, pick, ..plain });
        }
    }
    for shape in [Shape::Line, Shape::Plane] {
        for pick in [Pick::Table, Pick::Argument] {
            let name = format!("sampler.unnormalized.{}.{}", shape.name(), pick.name());
            add(cases, &name, RULE, Form { shape, pick, samplers: Samplers::Unnormalized, ..plain });
        }
    }
}
