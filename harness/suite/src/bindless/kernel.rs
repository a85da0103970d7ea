//! The kernel of a case: how it comes by its handles, and what it does with them.

use super::form::{Access, Form, IMAGES, INVOCATIONS, Pick, Samplers, Shape, direction};
use super::program::others;
use super::second;
use crate::bytes::given;
use crate::write::{Shader, UNSIGNED};
use assay_check::{BindingName, Source};
use assay_spirv::kernel::Argument;

/// A kernel that is being written.
pub(super) struct Writer {
    form: Form,
    pub(super) shader: Shader,
    pub(super) arguments: Vec<Argument>,
    pub(super) push: Vec<u8>,
    pub(super) inputs: Vec<(BindingName, Source)>,
    /// The unsigned integers of 32 bits and as wide as an address.
    u32: String,
    size: String,
    /// The invocation's number, as wide as an address.
    pub(super) index: String,
    /// The four words that tell an invocation what to do: a coordinate, and what it selects.
    place: String,
}

/// What the places of invocations hold: the texel, in numbers or halves of texels, and in the last word the selector and eight
/// bits further the sampler's.
fn places(form: &Form) -> Vec<u8> {
    let places = (0..INVOCATIONS).flat_map(|i| {
        let mut words = [0u32; 4];
        let sides = form.shape.sides(form.image(i));
        let axes = sides.len() - usize::from(form.shape.layered());
        let divisor = if form.access == Access::Project { f64::from(Form::divisor(i)) } else { 1.0 };
        for (k, (at, side)) in form.texel(i).into_iter().zip(sides.clone()).enumerate() {
            let centre = at as f64 + 0.5;
            let unnormalized = form.samplers == Samplers::Unnormalized;
            words[k] = match (form.access.samples(), k < axes, unnormalized) {
                (false, ..) => at as u32,
                (true, true, false) => ((centre / f64::from(side) * divisor) as f32).to_bits(),
                // VUID-vkCmdDispatch-None-08610: there are no projections of these.
                (true, true, true) => (centre as f32).to_bits(),
                (true, false, _) => (at as f32).to_bits(),
            };
        }
        if form.access.samples() && form.shape.cubes() {
            let at = form.texel(i);
            let place = [0, 1].map(|k| (at[k] as f64 + 0.5) / f64::from(sides[k]));
            words[..3].copy_from_slice(&direction(at[2] % 6, place, i).map(f32::to_bits));
        }
        words[3] = Form::selector(i) as u32 | (Form::by(i) as u32) << 8;
        words
    });
    places.flat_map(u32::to_le_bytes).collect()
}

impl Writer {
    pub(super) fn new(form: Form) -> Writer {
        let mut shader = Shader::kernel([INVOCATIONS as u32 / 2, 1, 1], form.wide);
        shader.version("1.2");
        shader.extension("SPV_INTEL_bindless_images");
        shader.capability("BindlessImagesINTEL");
        shader.capability("ImageBasic");
        match form.shape {
            Shape::Line | Shape::Lines => shader.capability("Sampled1D"),
            Shape::Texels => shader.capability("SampledBuffer"),
            Shape::Cube => shader.capability("Shader"),
            Shape::Cubes => {
                shader.capability("Shader");
                shader.capability("SampledCubeArray");
                shader.capability("ImageCubeArray");
            }
            Shape::Plane | Shape::Volume | Shape::Planes => {}
        }
        let u32 = shader.u32();
        let size = shader.int(if form.wide { 64 } else { 32 }, UNSIGNED);
        let mut writer = Writer {
            form,
            shader,
            arguments: Vec::new(),
            push: Vec::new(),
            inputs: Vec::new(),
            u32,
            size,
            index: String::new(),
            place: String::new(),
        };
        let v3 = writer.shader.vector(&writer.size, 3);
        let variable = writer.shader.builtin("GlobalInvocationId", &v3);
        let ids = writer.shader.op(&v3, "OpLoad", variable);
        writer.index = writer.shader.op(&writer.size, "OpCompositeExtract", format_args!("{ids} 0"));
        let words = writer.words();
        let from = writer.buffer(&words, places(&form));
        writer.place = writer.load(&words, &from, &writer.index.clone(), 16);
        writer
    }

    /// Four unsigned integers.
    pub(super) fn words(&mut self) -> String {
        self.shader.vector(&self.u32, 4)
    }

    /// What texels are to the kernel.
    fn texel(&mut self) -> String {
        let scalar = if self.form.float() { self.shader.float(32) } else { self.u32.clone() };
        self.shader.vector(&scalar, 4)
    }

    /// A parameter that points to elements of a type, which are those bytes before the dispatch.
    pub(super) fn buffer(&mut self, element: &str, bytes: Vec<u8>) -> String {
        let binding = self.arguments.len() as u32;
        self.arguments.push(Argument::Buffer { set: 0, binding });
        self.inputs.push(given(binding, bytes));
        let pointer = self.shader.pointer("CrossWorkgroup", element);
        self.shader.parameter(&pointer)
    }

    /// A parameter that is a value.
    fn value(&mut self, ty: &str, bytes: &[u8]) -> String {
        let offset = self.push.len().next_multiple_of(bytes.len());
        self.push.resize(offset, 0xee);
        self.push.extend_from_slice(bytes);
        self.arguments.push(Argument::Value { offset: offset as u32 });
        self.shader.parameter(ty)
    }

    /// A pointer to an element of what a parameter points to.
    pub(super) fn at(&mut self, element: &str, from: &str, index: &str) -> String {
        let pointer = self.shader.pointer("CrossWorkgroup", element);
        self.shader.op(&pointer, "OpInBoundsPtrAccessChain", format_args!("{from} {index}"))
    }

    fn load(&mut self, element: &str, from: &str, index: &str, aligned: u32) -> String {
        let at = self.at(element, from, index);
        self.shader.op(element, "OpLoad", format_args!("{at} Aligned {aligned}"))
    }

    /// A handle's bytes, as they lie in memory.
    fn bytes(&self, handle: u64) -> Vec<u8> {
        handle.to_le_bytes()[..if self.form.wide { 8 } else { 4 }].to_vec()
    }

    fn constant(&mut self, handle: u64) -> String {
        let size = self.size.clone();
        self.shader.constant(&size, handle)
    }

    /// 32 bits as wide as an address.
    fn widened(&mut self, word: &str) -> String {
        match self.form.wide {
            true => self.shader.op(&self.size, "OpUConvert", word),
            false => word.to_owned(),
        }
    }

    /// A part of the last word of the invocation's place: two bits from there on.
    fn part(&mut self, shift: u32) -> String {
        let u32 = self.u32.clone();
        let word = self.shader.op(&u32, "OpCompositeExtract", format_args!("{} 3", self.place));
        let (shift, mask) = (self.shader.constant_u32(shift), self.shader.constant_u32(3));
        let word = self.shader.op(&u32, "OpShiftRightLogical", format_args!("{word} {shift}"));
        self.shader.op(&u32, "OpBitwiseAnd", format_args!("{word} {mask}"))
    }

    /// Whether the selector is odd.
    fn odd(&mut self) -> String {
        let (u32, bool) = (self.u32.clone(), self.shader.bool());
        let [zero, one] = [0, 1].map(|n| self.shader.constant_u32(n));
        let selector = self.part(0);
        let low = self.shader.op(&u32, "OpBitwiseAnd", format_args!("{selector} {one}"));
        self.shader.op(&bool, "OpINotEqual", format_args!("{low} {zero}"))
    }

    /// The table of all handles in memory: the parameter.
    fn table(&mut self, handles: &[u64]) -> String {
        let (size, bytes) = (self.size.clone(), handles.iter().flat_map(|handle| self.bytes(*handle)).collect());
        self.buffer(&size, bytes)
    }

    fn aligned(&self) -> u32 {
        if self.form.wide { 8 } else { 4 }
    }

    /// The handle of an invocation, chosen from some by the form's way.
    fn handle(&mut self, handles: [u64; IMAGES], pick: Pick) -> String {
        let (size, aligned) = (self.size.clone(), self.aligned());
        match pick {
            Pick::Argument => {
                // Others stand before and after it.
                let all = handles.map(|handle| self.value(&size, &handle.to_le_bytes()[..aligned as usize]));
                all[pick.chosen(0)].clone()
            }
            Pick::Constant => self.constant(handles[pick.chosen(0)]),
            Pick::Memory => {
                let (table, at) = (self.table(&handles), self.constant(pick.chosen(0) as u64));
                self.load(&size, &table, &at, aligned)
            }
            Pick::Uniform => {
                let table = self.table(&handles);
                let u32 = self.u32.clone();
                let at = self.value(&u32, &(pick.chosen(0) as u32).to_le_bytes());
                let at = self.widened(&at);
                self.load(&size, &table, &at, aligned)
            }
            // Images that meet, functions and loops take theirs from a table.
            Pick::Table | Pick::Images | Pick::Function | Pick::Loop => {
                let (table, selector) = (self.table(&handles), self.part(0));
                let at = self.widened(&selector);
                self.load(&size, &table, &at, aligned)
            }
            Pick::Own => {
                let own: Vec<u64> = (0..INVOCATIONS).map(|i| handles[Form::selector(i)]).collect();
                let (table, index) = (self.table(&own), self.index.clone());
                self.load(&size, &table, &index, aligned)
            }
            Pick::Member => self.member(handles),
            Pick::Halves => self.halves(handles),
            Pick::Stride => {
                let selector = self.part(0);
                let (k, step) = (self.widened(&selector), self.constant(handles[1] - handles[0]));
                let first = self.value(&size, &handles[0].to_le_bytes()[..aligned as usize]);
                let more = self.shader.op(&size, "OpIMul", format_args!("{k} {step}"));
                self.shader.op(&size, "OpIAdd", format_args!("{first} {more}"))
            }
            Pick::Bits => {
                // The table has what each differs from the first in.
                let bits = handles.map(|handle| handle ^ handles[0]);
                let (table, selector) = (self.table(&bits), self.part(0));
                let (at, first) = (self.widened(&selector), self.constant(handles[0]));
                let bits = self.load(&size, &table, &at, aligned);
                self.shader.op(&size, "OpBitwiseXor", format_args!("{first} {bits}"))
            }
            Pick::Select => {
                let odd = self.odd();
                let [even, other] =
                    [0, 1].map(|s| self.value(&size, &handles[pick.chosen(s)].to_le_bytes()[..aligned as usize]));
                self.shader.op(&size, "OpSelect", format_args!("{odd} {other} {even}"))
            }
            Pick::Branch => {
                let table = self.table(&handles);
                self.branch(&size, |writer, selector| {
                    let at = writer.constant(pick.chosen(selector) as u64);
                    writer.load(&writer.size.clone(), &table, &at, aligned)
                })
            }
        }
    }

    /// A value made differently on both ways of a branch.
    fn branch(&mut self, ty: &str, mut way: impl FnMut(&mut Writer, usize) -> String) -> String {
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

    /// A structure's member, between others.
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

    /// The lower halves in one array and the upper ones in another.
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

    /// The type of images of the form's dimensionality.
    fn image_type(&mut self, access: &str) -> String {
        let void = self.shader.declare("OpTypeVoid");
        let dim = match self.form.shape {
            Shape::Line | Shape::Lines => "1D",
            Shape::Plane | Shape::Planes => "2D",
            Shape::Volume => "3D",
            Shape::Texels => "Buffer",
            Shape::Cube | Shape::Cubes => "Cube",
        };
        let arrayed = u32::from(self.form.shape.arrayed());
        self.shader.declare(&format!("OpTypeImage {void} {dim} 0 {arrayed} 0 0 Unknown {access}"))
    }

    /// The coordinate of an invocation that is divided by its last component, or of an array of cubes: what comes behind the others is
    /// in memory.
    fn longer_coordinate(&mut self) -> String {
        let float = self.shader.float(32);
        let (form, index) = (self.form, self.index.clone());
        let last = (0..INVOCATIONS).map(|i| match form.access {
            Access::Project => Form::divisor(i),
            _ => (form.texel(i)[2] / 6) as f32,
        });
        let table = self.buffer(&float, last.flat_map(f32::to_le_bytes).collect());
        let last = self.load(&float, &table, &index, 4);
        let axes = if form.shape.cubes() { 3 } else { form.shape.sides(0).len() as u32 };
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

    /// The invocation's coordinate: integers, or floats for a sampler.
    fn coordinate(&mut self) -> String {
        if self.form.access == Access::Project || (self.form.access.samples() && self.form.shape == Shape::Cubes) {
            return self.longer_coordinate();
        }
        let (n, samples) = (self.form.shape.components(), self.form.access.samples());
        let scalar = if samples { self.shader.float(32) } else { self.u32.clone() };
        let words = match n {
            1 => self.shader.op(&self.u32, "OpCompositeExtract", format_args!("{} 0", self.place)),
            2 => {
                let ty = self.shader.vector(&self.u32, 2);
                self.shader.op(&ty, "OpVectorShuffle", format_args!("{0} {0} 0 1", self.place))
            }
            // The fourth is nobody's.
            _ => self.place.clone(),
        };
        let ty = self.shader.vector(&scalar, n);
        if samples { self.shader.op(&ty, "OpBitcast", words) } else { words }
    }

    fn convert(&mut self, what: &str, ty: &str, handle: &str) -> String {
        self.shader.op(ty, &format!("OpConvertHandleTo{what}INTEL"), handle)
    }

    /// The image of the invocation.
    fn image(&mut self, ty: &str) -> String {
        let handles = self.form.names.handles(self.form.wide);
        let pick = self.form.pick;
        if pick != Pick::Images {
            let handle = self.handle(handles, pick);
            return self.convert("Image", ty, &handle);
        }
        let table = self.table(&handles);
        let (size, aligned) = (self.size.clone(), self.aligned());
        self.branch(ty, |writer, selector| {
            let at = writer.constant(pick.chosen(selector) as u64);
            let handle = writer.load(&size, &table, &at, aligned);
            writer.convert("Image", ty, &handle)
        })
    }

    /// What the invocation finds; nothing where it writes.
    pub(super) fn found(&mut self) -> Option<String> {
        let (form, texel, words) = (self.form, self.texel(), self.words());
        let lod = |writer: &mut Writer| {
            let float = writer.shader.float(32);
            writer.shader.constant(&float, 0)
        };
        Some(match form.access {
            Access::Read => {
                let ty = self.image_type("ReadOnly");
                match form.pick {
                    Pick::Loop => self.sum(&ty),
                    Pick::Function => self.by_function(&ty),
                    _ => {
                        let (image, at) = (self.image(&ty), self.coordinate());
                        self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"))
                    }
                }
            }
            Access::Write => {
                let ty = self.image_type("WriteOnly");
                let texels = (0..INVOCATIONS)
                    .flat_map(|i| second::components(form.format, &second::raw(form.format, IMAGES, i)));
                let texels = self.buffer(&words, texels.flat_map(u32::to_le_bytes).collect());
                let index = self.index.clone();
                let mut value = self.load(&words, &texels, &index, 16);
                if form.float() {
                    value = self.shader.op(&texel, "OpBitcast", value);
                }
                let (image, at) = (self.image(&ty), self.coordinate());
                self.shader.run(format_args!("OpImageWrite {image} {at} {value}"));
                return None;
            }
            Access::ReadWrite => {
                self.shader.capability("ImageReadWrite");
                let ty = self.image_type("ReadWrite");
                let (image, at) = (self.image(&ty), self.coordinate());
                let value = self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"));
                let value = self.shader.op(&texel, "OpVectorShuffle", format_args!("{value} {value} 3 2 1 0"));
                self.shader.run(format_args!("OpImageWrite {image} {at} {value}"));
                return None;
            }
            Access::Copy => {
                let ty = self.image_type("ReadOnly");
                let (image, at) = (self.image(&ty), self.coordinate());
                let value = self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"));
                let to = self.handle(others(&form), form.pick);
                let ty = self.image_type("WriteOnly");
                let to = self.convert("Image", &ty, &to);
                self.shader.run(format_args!("OpImageWrite {to} {at} {value}"));
                return None;
            }
            Access::Sample | Access::Project => {
                let ty = self.image_type("ReadOnly");
                let (image, at) = (self.image(&ty), self.coordinate());
                let table = self.table(&form.names.handles(form.wide));
                let by = self.part(8);
                let (by, size, aligned) = (self.widened(&by), self.size.clone(), self.aligned());
                let by = self.load(&size, &table, &by, aligned);
                let sampler = self.shader.declare("OpTypeSampler");
                let by = self.convert("Sampler", &sampler, &by);
                let both = self.shader.declare(&format!("OpTypeSampledImage {ty}"));
                let both = self.shader.op(&both, "OpSampledImage", format_args!("{image} {by}"));
                let lod = lod(self);
                let op = if form.access == Access::Project {
                    self.shader.capability("Shader");
                    "OpImageSampleProjExplicitLod"
                } else {
                    "OpImageSampleExplicitLod"
                };
                self.shader.op(&texel, op, format_args!("{both} {at} Lod {lod}"))
            }
            Access::Sampled | Access::TakenOut => {
                let ty = self.image_type("ReadOnly");
                let both = self.shader.declare(&format!("OpTypeSampledImage {ty}"));
                let handle = self.handle(form.names.handles(form.wide), form.pick);
                let (sampled, at) = (self.convert("SampledImage", &both, &handle), self.coordinate());
                if form.access == Access::TakenOut {
                    let image = self.shader.op(&ty, "OpImage", sampled);
                    self.shader.op(&texel, "OpImageRead", format_args!("{image} {at}"))
                } else {
                    let lod = lod(self);
                    self.shader.op(&texel, "OpImageSampleExplicitLod", format_args!("{sampled} {at} Lod {lod}"))
                }
            }
            Access::Size => {
                let ty = self.image_type("ReadOnly");
                let image = self.image(&ty);
                let n = form.shape.sides(0).len() as u32 - u32::from(form.shape == Shape::Cube);
                let size = self.shader.vector(&self.u32, n);
                let zero = self.shader.constant_u32(0);
                let size = match form.shape {
                    Shape::Texels => self.shader.op(&size, "OpImageQuerySize", image),
                    _ => self.shader.op(&size, "OpImageQuerySizeLod", format_args!("{image} {zero}")),
                };
                let rest = vec![zero; 4 - n as usize].join(" ");
                return Some(self.shader.op(&words, "OpCompositeConstruct", format_args!("{size} {rest}")));
            }
        })
        .map(|found| match form.float() {
            true => self.shader.op(&words, "OpBitcast", found),
            false => found,
        })
    }

    /// A texel, from a function that is given the image.
    fn by_function(&mut self, ty: &str) -> String {
        let (texel, image, at) = (self.texel(), self.image(ty), self.coordinate());
        let at_type = self.shader.vector(&self.u32.clone(), self.form.shape.components());
        let function = self.shader.declare(&format!("OpTypeFunction {texel} {ty} {at_type}"));
        let [read, given, place, label, found] = [(); 5].map(|()| self.shader.label());
        self.shader.function(format_args!(
            "{read} = OpFunction {texel} None {function}\n{given} = OpFunctionParameter {ty}\n\
             {place} = OpFunctionParameter {at_type}\n{label} = OpLabel\n{found} = OpImageRead {texel} {given} {place}\n\
             OpReturnValue {found}\nOpFunctionEnd"
        ));
        self.shader.op(&texel, "OpFunctionCall", format_args!("{read} {image} {at}"))
    }

    /// The sum of what is at one place in all images.
    fn sum(&mut self, ty: &str) -> String {
        let (words, u32, bool) = (self.words(), self.u32.clone(), self.shader.bool());
        let (size, aligned) = (self.size.clone(), self.aligned());
        let table = self.table(&self.form.names.handles(self.form.wide));
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
