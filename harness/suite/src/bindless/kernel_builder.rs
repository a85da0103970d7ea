//! Builder of a case's kernel: it obtains handles and uses the images.

use super::bindless_params::{
    BindlessParams, Dimensionality, HandleSource, IMAGES, INVOCATIONS, ImageOperation, SamplerSet, direction,
};
use super::bindless_program::others;
use super::bindless_reference;
use crate::bytes::bytes_input;
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use assay_check::{BindingName, BindingSource};
use assay_spirv::kernel_call::Argument;

/// A kernel under construction.
pub(super) struct KernelBuilder {
    params: BindlessParams,
    pub(super) shader: ModuleBuilder,
    pub(super) arguments: Vec<Argument>,
    pub(super) push: Vec<u8>,
    pub(super) inputs: Vec<(BindingName, BindingSource)>,
    /// The 32-bit unsigned type, and the unsigned type with the width of an address.
    u32: String,
    size: String,
    /// The invocation index, as wide as an address.
    pub(super) index: String,
    /// The invocation's four input words: a coordinate, and its selectors.
    place: String,
}

/// The input words of all invocations: the texel as integers or as float coordinates, and in the
/// last word the image selector in bits 0 and 1 and the sampler's index from bit 8 on.
fn places(params: &BindlessParams) -> Vec<u8> {
    let places = (0..INVOCATIONS).flat_map(|i| {
        let mut words = [0u32; 4];
        let sides = params.shape.sides(params.image(i));
        let axes = sides.len() - usize::from(params.shape.layered());
        let divisor =
            if params.access == ImageOperation::Project { f64::from(BindlessParams::divisor(i)) } else { 1.0 };
        for (k, (at, side)) in params.texel(i).into_iter().zip(sides.clone()).enumerate() {
            let centre = at as f64 + 0.5;
            let unnormalized = params.samplers == SamplerSet::Unnormalized;
            words[k] = match (params.access.samples(), k < axes, unnormalized) {
                (false, ..) => at as u32,
                (true, true, false) => ((centre / f64::from(side) * divisor) as f32).to_bits(),
                // VUID-vkCmdDispatch-None-08610 forbids projections with unnormalised coordinates.
                (true, true, true) => (centre as f32).to_bits(),
                (true, false, _) => (at as f32).to_bits(),
            };
        }
        if params.access.samples() && params.shape.cubes() {
            let at = params.texel(i);
            let place = [0, 1].map(|k| (at[k] as f64 + 0.5) / f64::from(sides[k]));
            words[..3].copy_from_slice(&direction(at[2] % 6, place, i).map(f32::to_bits));
        }
        words[3] = BindlessParams::selector(i) as u32 | (BindlessParams::sampler_index(i) as u32) << 8;
        words
    });
    places.flat_map(u32::to_le_bytes).collect()
}

impl KernelBuilder {
    pub(super) fn new(params: BindlessParams) -> KernelBuilder {
        let mut shader = ModuleBuilder::kernel([INVOCATIONS as u32 / 2, 1, 1], params.wide);
        shader.version("1.2");
        shader.extension("SPV_INTEL_bindless_images");
        shader.capability("BindlessImagesINTEL");
        shader.capability("ImageBasic");
        match params.shape {
            Dimensionality::Line | Dimensionality::Lines => shader.capability("Sampled1D"),
            Dimensionality::Texels => shader.capability("SampledBuffer"),
            Dimensionality::Cube => shader.capability("Shader"),
            Dimensionality::Cubes => {
                shader.capability("Shader");
                shader.capability("SampledCubeArray");
                shader.capability("ImageCubeArray");
            }
            Dimensionality::Plane | Dimensionality::Volume | Dimensionality::Planes => {}
        }
        let u32 = shader.u32();
        let size = shader.int(if params.wide { 64 } else { 32 }, UNSIGNED);
        let mut kernel = KernelBuilder {
            params,
            shader,
            arguments: Vec::new(),
            push: Vec::new(),
            inputs: Vec::new(),
            u32,
            size,
            index: String::new(),
            place: String::new(),
        };
        let v3 = kernel.shader.vector(&kernel.size, 3);
        let variable = kernel.shader.builtin("GlobalInvocationId", &v3);
        let ids = kernel.shader.op(&v3, "OpLoad", variable);
        kernel.index = kernel.shader.op(&kernel.size, "OpCompositeExtract", format_args!("{ids} 0"));
        let words = kernel.words();
        let from = kernel.buffer(&words, places(&params));
        kernel.place = kernel.load(&words, &from, &kernel.index.clone(), 16);
        kernel
    }

    /// A vector of four unsigned integers.
    pub(super) fn words(&mut self) -> String {
        self.shader.vector(&self.u32, 4)
    }

    /// The texel type in the kernel.
    fn texel(&mut self) -> String {
        let scalar = if self.params.float() { self.shader.float(32) } else { self.u32.clone() };
        self.shader.vector(&scalar, 4)
    }

    /// Adds a parameter that points to an array of elements with these initial bytes.
    pub(super) fn buffer(&mut self, element: &str, bytes: Vec<u8>) -> String {
        let binding = self.arguments.len() as u32;
        self.arguments.push(Argument::Buffer { set: 0, binding });
        self.inputs.push(bytes_input(binding, bytes));
        let pointer = self.shader.pointer("CrossWorkgroup", element);
        self.shader.parameter(&pointer)
    }

    /// Adds a parameter that is a value.
    fn value(&mut self, ty: &str, bytes: &[u8]) -> String {
        let offset = self.push.len().next_multiple_of(bytes.len());
        self.push.resize(offset, 0xee);
        self.push.extend_from_slice(bytes);
        self.arguments.push(Argument::Value { offset: offset as u32 });
        self.shader.parameter(ty)
    }

    /// Emits a pointer to an element of a parameter's array.
    pub(super) fn at(&mut self, element: &str, from: &str, index: &str) -> String {
        let pointer = self.shader.pointer("CrossWorkgroup", element);
        self.shader.op(&pointer, "OpInBoundsPtrAccessChain", format_args!("{from} {index}"))
    }

    fn load(&mut self, element: &str, from: &str, index: &str, aligned: u32) -> String {
        let at = self.at(element, from, index);
        self.shader.op(element, "OpLoad", format_args!("{at} Aligned {aligned}"))
    }

    /// The bytes of a handle in memory.
    fn bytes(&self, handle: u64) -> Vec<u8> {
        handle.to_le_bytes()[..if self.params.wide { 8 } else { 4 }].to_vec()
    }

    fn constant(&mut self, handle: u64) -> String {
        let size = self.size.clone();
        self.shader.constant(&size, handle)
    }

    /// Emits the conversion of a 32-bit word to the width of an address.
    fn widened(&mut self, word: &str) -> String {
        match self.params.wide {
            true => self.shader.op(&self.size, "OpUConvert", word),
            false => word.to_owned(),
        }
    }

    /// Emits an extraction of two bits of the last input word.
    fn part(&mut self, shift: u32) -> String {
        let u32 = self.u32.clone();
        let word = self.shader.op(&u32, "OpCompositeExtract", format_args!("{} 3", self.place));
        let (shift, mask) = (self.shader.constant_u32(shift), self.shader.constant_u32(3));
        let word = self.shader.op(&u32, "OpShiftRightLogical", format_args!("{word} {shift}"));
        self.shader.op(&u32, "OpBitwiseAnd", format_args!("{word} {mask}"))
    }

    /// Emits a test for an odd selector.
    fn odd(&mut self) -> String {
        let (u32, bool) = (self.u32.clone(), self.shader.bool());
        let [zero, one] = [0, 1].map(|n| self.shader.constant_u32(n));
        let selector = self.part(0);
        let low = self.shader.op(&u32, "OpBitwiseAnd", format_args!("{selector} {one}"));
        self.shader.op(&bool, "OpINotEqual", format_args!("{low} {zero}"))
    }

    /// Adds a parameter with a table of handles.
    fn table(&mut self, handles: &[u64]) -> String {
        let (size, bytes) = (self.size.clone(), handles.iter().flat_map(|handle| self.bytes(*handle)).collect());
        self.buffer(&size, bytes)
    }

    fn aligned(&self) -> u32 {
        if self.params.wide { 8 } else { 4 }
    }

    /// Emits the invocation's handle, obtained in this way.
    fn handle(&mut self, handles: [u64; IMAGES], source: HandleSource) -> String {
        let (size, aligned) = (self.size.clone(), self.aligned());
        match source {
            HandleSource::Argument => {
                // All handles are arguments; the chosen one has others around it.
                let all = handles.map(|handle| self.value(&size, &handle.to_le_bytes()[..aligned as usize]));
                all[source.chosen(0)].clone()
            }
            HandleSource::Constant => self.constant(handles[source.chosen(0)]),
            HandleSource::Memory => {
                let (table, at) = (self.table(&handles), self.constant(source.chosen(0) as u64));
                self.load(&size, &table, &at, aligned)
            }
            HandleSource::Uniform => {
                let table = self.table(&handles);
                let u32 = self.u32.clone();
                let at = self.value(&u32, &(source.chosen(0) as u32).to_le_bytes());
                let at = self.widened(&at);
                self.load(&size, &table, &at, aligned)
            }
            // Images in a phi, functions and loops take their handles from a table.
            HandleSource::Table | HandleSource::Images | HandleSource::Function | HandleSource::Loop => {
                let (table, selector) = (self.table(&handles), self.part(0));
                let at = self.widened(&selector);
                self.load(&size, &table, &at, aligned)
            }
            HandleSource::Own => {
                let own: Vec<u64> = (0..INVOCATIONS).map(|i| handles[BindlessParams::selector(i)]).collect();
                let (table, index) = (self.table(&own), self.index.clone());
                self.load(&size, &table, &index, aligned)
            }
            HandleSource::Member => self.member(handles),
            HandleSource::Halves => self.halves(handles),
            HandleSource::Stride => {
                let selector = self.part(0);
                let (k, step) = (self.widened(&selector), self.constant(handles[1] - handles[0]));
                let first = self.value(&size, &handles[0].to_le_bytes()[..aligned as usize]);
                let more = self.shader.op(&size, "OpIMul", format_args!("{k} {step}"));
                self.shader.op(&size, "OpIAdd", format_args!("{first} {more}"))
            }
            HandleSource::Bits => {
                // The table holds the exclusive or of each handle with the first.
                let bits = handles.map(|handle| handle ^ handles[0]);
                let (table, selector) = (self.table(&bits), self.part(0));
                let (at, first) = (self.widened(&selector), self.constant(handles[0]));
                let bits = self.load(&size, &table, &at, aligned);
                self.shader.op(&size, "OpBitwiseXor", format_args!("{first} {bits}"))
            }
            HandleSource::Select => {
                let odd = self.odd();
                let [even, other] =
                    [0, 1].map(|s| self.value(&size, &handles[source.chosen(s)].to_le_bytes()[..aligned as usize]));
                self.shader.op(&size, "OpSelect", format_args!("{odd} {other} {even}"))
            }
            HandleSource::Branch => {
                let table = self.table(&handles);
                self.branch(&size, |kernel, selector| {
                    let at = kernel.constant(source.chosen(selector) as u64);
                    kernel.load(&kernel.size.clone(), &table, &at, aligned)
                })
            }
        }
    }

    /// Emits a phi of values from two arms of a branch.
    fn branch(&mut self, ty: &str, mut way: impl FnMut(&mut KernelBuilder, usize) -> String) -> String {
        let odd = self.odd();
        let [even, other, merge] = [(); 3].map(|()| self.shader.label());
        self.shader.run(format_args!("OpSelectionMerge {merge} None\nOpBranchConditional {odd} {other} {even}"));
        self.shader.run(format_args!("{even} = OpLabel"));
        let first = way(self, 0);
        self.shader.run(format_args!("OpBranch {merge}\n{other} = OpLabel"));
        let second = way(self, 1);
        self.shader.run(format_args!("OpBranch {merge}\n{merge} = OpLabel"));
        self.shader.op(ty, "OpPhi", format_args!("{first} {even} {second} {other}"))
    }

    /// Emits a load of a handle that is a structure's member between others.
    fn member(&mut self, handles: [u64; IMAGES]) -> String {
        let (size, aligned) = (self.size.clone(), self.aligned());
        let ty = self.shader.declare_new(&format!("OpTypeStruct {} {size} {}", self.u32, self.u32));
        let mut bytes = Vec::new();
        for handle in handles {
            bytes.extend(0xdead_beefu32.to_le_bytes());
            bytes.resize(bytes.len().next_multiple_of(aligned as usize), 0);
            bytes.extend(self.bytes(handle));
            bytes.extend(0xdead_beefu32.to_le_bytes());
            bytes.resize(bytes.len().next_multiple_of(aligned as usize), 0);
        }
        let (all, selector) = (self.buffer(&ty, bytes), self.part(0));
        let (at, one) = (self.widened(&selector), self.shader.constant_u32(1));
        let at = self.at(&ty, &all, &at);
        let pointer = self.shader.pointer("CrossWorkgroup", &size);
        let at = self.shader.op(&pointer, "OpInBoundsAccessChain", format_args!("{at} {one}"));
        self.shader.op(&size, "OpLoad", format_args!("{at} Aligned {aligned}"))
    }

    /// Emits a handle assembled from an array of lower halves and an array of upper halves.
    fn halves(&mut self, handles: [u64; IMAGES]) -> String {
        let (size, u32, bits) = (self.size.clone(), self.u32.clone(), self.aligned() * 4);
        let mask = (1u64 << bits) - 1;
        let parts = [0, bits].map(|shift| {
            let words = handles.iter().flat_map(|handle| ((handle >> shift & mask) as u32).to_le_bytes()).collect();
            let (table, selector) = (self.buffer(&u32, words), self.part(0));
            let at = self.widened(&selector);
            let half = self.load(&u32, &table, &at, 4);
            self.widened(&half)
        });
        let shift = self.constant(u64::from(bits));
        let high = self.shader.op(&size, "OpShiftLeftLogical", format_args!("{} {shift}", parts[1]));
        self.shader.op(&size, "OpBitwiseOr", format_args!("{} {high}", parts[0]))
    }

    /// The image type of the case's dimensionality.
    fn image_type(&mut self, access: &str) -> String {
        let void = self.shader.declare("OpTypeVoid");
        let dim = match self.params.shape {
            Dimensionality::Line | Dimensionality::Lines => "1D",
            Dimensionality::Plane | Dimensionality::Planes => "2D",
            Dimensionality::Volume => "3D",
            Dimensionality::Texels => "Buffer",
            Dimensionality::Cube | Dimensionality::Cubes => "Cube",
        };
        let arrayed = u32::from(self.params.shape.arrayed());
        self.shader.declare(&format!("OpTypeImage {void} {dim} 0 {arrayed} 0 0 Unknown {access}"))
    }

    /// Emits a coordinate with a component more than the input words hold: the divisor of a
    /// projection, or the layer of a cube array. That component is loaded from memory.
    fn longer_coordinate(&mut self) -> String {
        let float = self.shader.float(32);
        let (params, index) = (self.params, self.index.clone());
        let last = (0..INVOCATIONS).map(|i| match params.access {
            ImageOperation::Project => BindlessParams::divisor(i),
            _ => (params.texel(i)[2] / 6) as f32,
        });
        let table = self.buffer(&float, last.flat_map(f32::to_le_bytes).collect());
        let last = self.load(&float, &table, &index, 4);
        let axes = if params.shape.cubes() { 3 } else { params.shape.sides(0).len() as u32 };
        let mut parts: Vec<String> = (0..axes)
            .map(|k| {
                let word = self.shader.op(&self.u32, "OpCompositeExtract", format_args!("{} {k}", self.place));
                self.shader.op(&float, "OpBitcast", word)
            })
            .collect();
        parts.push(last);
        let ty = self.shader.vector(&float, axes + 1);
        self.shader.op(&ty, "OpCompositeConstruct", parts.join(" "))
    }

    /// Emits the invocation's coordinate: integers, or floats for a sampler.
    fn coordinate(&mut self) -> String {
        if self.params.access == ImageOperation::Project
            || (self.params.access.samples() && self.params.shape == Dimensionality::Cubes)
        {
            return self.longer_coordinate();
        }
        let (n, samples) = (self.params.shape.components(), self.params.access.samples());
        let scalar = if samples { self.shader.float(32) } else { self.u32.clone() };
        let words = match n {
            1 => self.shader.op(&self.u32, "OpCompositeExtract", format_args!("{} 0", self.place)),
            2 => {
                let ty = self.shader.vector(&self.u32, 2);
                self.shader.op(&ty, "OpVectorShuffle", format_args!("{0} {0} 0 1", self.place))
            }
            // The fourth component is unused.
            _ => self.place.clone(),
        };
        let ty = self.shader.vector(&scalar, n);
        if samples { self.shader.op(&ty, "OpBitcast", words) } else { words }
    }

    fn convert(&mut self, what: &str, ty: &str, handle: &str) -> String {
        self.shader.op(ty, &format!("OpConvertHandleTo{what}INTEL"), handle)
    }

    /// Emits the invocation's image.
    fn image(&mut self, ty: &str) -> String {
        let handles = self.params.spacing.handles(self.params.wide);
        let source = self.params.source;
        if source != HandleSource::Images {
            let handle = self.handle(handles, source);
            return self.convert("Image", ty, &handle);
        }
        let table = self.table(&handles);
        let (size, aligned) = (self.size.clone(), self.aligned());
        self.branch(ty, |kernel, selector| {
            let at = kernel.constant(source.chosen(selector) as u64);
            let handle = kernel.load(&size, &table, &at, aligned);
            kernel.convert("Image", ty, &handle)
        })
    }

    /// Emits the operation. Returns the result as four words; `None` if the operation writes.
    pub(super) fn emit(&mut self) -> Option<String> {
        let (params, texel, words) = (self.params, self.texel(), self.words());
        let lod = |kernel: &mut KernelBuilder| {
            let float = kernel.shader.float(32);
            kernel.shader.constant(&float, 0)
        };
        Some(match params.access {
            ImageOperation::Read => {
                let ty = self.image_type("ReadOnly");
                match params.source {
                    HandleSource::Loop => self.sum(&ty),
                    HandleSource::Function => self.by_function(&ty),
                    _ => {
                        let (image, at) = (self.image(&ty), self.coordinate());
                        self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"))
                    }
                }
            }
            ImageOperation::Write => {
                let ty = self.image_type("WriteOnly");
                let texels = (0..INVOCATIONS).flat_map(|i| {
                    bindless_reference::components(params.format, &bindless_reference::raw(params.format, IMAGES, i))
                });
                let texels = self.buffer(&words, texels.flat_map(u32::to_le_bytes).collect());
                let index = self.index.clone();
                let mut value = self.load(&words, &texels, &index, 16);
                if params.float() {
                    value = self.shader.op(&texel, "OpBitcast", value);
                }
                let (image, at) = (self.image(&ty), self.coordinate());
                self.shader.run(format_args!("OpImageWrite {image} {at} {value}"));
                return None;
            }
            ImageOperation::ReadWrite => {
                self.shader.capability("ImageReadWrite");
                let ty = self.image_type("ReadWrite");
                let (image, at) = (self.image(&ty), self.coordinate());
                let value = self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"));
                let value = self.shader.op(&texel, "OpVectorShuffle", format_args!("{value} {value} 3 2 1 0"));
                self.shader.run(format_args!("OpImageWrite {image} {at} {value}"));
                return None;
            }
            ImageOperation::Copy => {
                let ty = self.image_type("ReadOnly");
                let (image, at) = (self.image(&ty), self.coordinate());
                let value = self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"));
                let to = self.handle(others(&params), params.source);
                let ty = self.image_type("WriteOnly");
                let to = self.convert("Image", &ty, &to);
                self.shader.run(format_args!("OpImageWrite {to} {at} {value}"));
                return None;
            }
            ImageOperation::Sample | ImageOperation::Project => {
                let ty = self.image_type("ReadOnly");
                let (image, at) = (self.image(&ty), self.coordinate());
                let table = self.table(&params.spacing.handles(params.wide));
                let by = self.part(8);
                let (by, size, aligned) = (self.widened(&by), self.size.clone(), self.aligned());
                let by = self.load(&size, &table, &by, aligned);
                let sampler = self.shader.declare("OpTypeSampler");
                let by = self.convert("Sampler", &sampler, &by);
                let both = self.shader.declare(&format!("OpTypeSampledImage {ty}"));
                let both = self.shader.op(&both, "OpSampledImage", format_args!("{image} {by}"));
                let lod = lod(self);
                let op = if params.access == ImageOperation::Project {
                    self.shader.capability("Shader");
                    "OpImageSampleProjExplicitLod"
                } else {
                    "OpImageSampleExplicitLod"
                };
                self.shader.op(&texel, op, format_args!("{both} {at} Lod {lod}"))
            }
            ImageOperation::Sampled | ImageOperation::Extracted => {
                let ty = self.image_type("ReadOnly");
                let both = self.shader.declare(&format!("OpTypeSampledImage {ty}"));
                let handle = self.handle(params.spacing.handles(params.wide), params.source);
                let (sampled, at) = (self.convert("SampledImage", &both, &handle), self.coordinate());
                if params.access == ImageOperation::Extracted {
                    let image = self.shader.op(&ty, "OpImage", sampled);
                    self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"))
                } else {
                    let lod = lod(self);
                    self.shader.op(&texel, "OpImageSampleExplicitLod", format_args!("{sampled} {at} Lod {lod}"))
                }
            }
            ImageOperation::Size => {
                let ty = self.image_type("ReadOnly");
                let image = self.image(&ty);
                let n = params.shape.sides(0).len() as u32 - u32::from(params.shape == Dimensionality::Cube);
                let size = self.shader.vector(&self.u32, n);
                let zero = self.shader.constant_u32(0);
                let size = match params.shape {
                    Dimensionality::Texels => self.shader.op(&size, "OpImageQuerySize", image),
                    _ => self.shader.op(&size, "OpImageQuerySizeLod", format_args!("{image} {zero}")),
                };
                let rest = vec![zero; 4 - n as usize].join(" ");
                return Some(self.shader.op(&words, "OpCompositeConstruct", format_args!("{size} {rest}")));
            }
        })
        .map(|found| match params.float() {
            true => self.shader.op(&words, "OpBitcast", found),
            false => found,
        })
    }

    /// Emits a read in a function that takes the image as a parameter.
    fn by_function(&mut self, ty: &str) -> String {
        let (texel, image, at) = (self.texel(), self.image(ty), self.coordinate());
        let at_type = self.shader.vector(&self.u32.clone(), self.params.shape.components());
        let function = self.shader.declare(&format!("OpTypeFunction {texel} {ty} {at_type}"));
        let [read, given, place, label, found] = [(); 5].map(|()| self.shader.label());
        self.shader.function(format_args!(
            "{read} = OpFunction {texel} None {function}\n{given} = OpFunctionParameter {ty}\n\
             {place} = OpFunctionParameter {at_type}\n{label} = OpLabel\n{found} = OpImageRead {texel} {given} {place}\n\
             OpReturnValue {found}\nOpFunctionEnd"
        ));
        self.shader.op(&texel, "OpFunctionCall", format_args!("{read} {image} {at}"))
    }

    /// Emits the sum of one texel over all images.
    fn sum(&mut self, ty: &str) -> String {
        let (words, u32, bool) = (self.words(), self.u32.clone(), self.shader.bool());
        let (size, aligned) = (self.size.clone(), self.aligned());
        let table = self.table(&self.params.spacing.handles(self.params.wide));
        let at = self.coordinate();
        let none = self.shader.declare(&format!("OpConstantNull {words}"));
        let [zero, one, all] = [0, 1, IMAGES as u32].map(|n| self.shader.constant_u32(n));
        let [before, head, body, next, after, k, sum, more, total] = [(); 9].map(|()| self.shader.label());
        self.shader.run(format_args!("OpBranch {before}\n{before} = OpLabel\nOpBranch {head}\n{head} = OpLabel"));
        self.shader.run(format_args!("{k} = OpPhi {u32} {zero} {before} {more} {next}"));
        self.shader.run(format_args!("{sum} = OpPhi {words} {none} {before} {total} {next}"));
        let goes_on = self.shader.op(&bool, "OpULessThan", format_args!("{k} {all}"));
        self.shader.run(format_args!("OpLoopMerge {after} {next} None"));
        self.shader.run(format_args!("OpBranchConditional {goes_on} {body} {after}\n{body} = OpLabel"));
        let place = self.widened(&k);
        let handle = self.load(&size, &table, &place, aligned);
        let image = self.convert("Image", ty, &handle);
        let texel = self.shader.op(&words, "OpImageRead", format_args!("{image} {at}"));
        self.shader.run(format_args!("{total} = OpIAdd {words} {sum} {texel}\nOpBranch {next}\n{next} = OpLabel"));
        self.shader.run(format_args!("{more} = OpIAdd {u32} {k} {one}\nOpBranch {head}\n{after} = OpLabel"));
        sum
    }
}
