//! Lowering of a fragment shader with tile shading to a compute shader with tile shading.
//!
//! The result is that of a draw which covers the render area with one triangle at depth zero,
//! without blending or tests.
//!
//! * Each texel of the tile gets one invocation, with a shading rate of one texel. Invocations
//!   outside the render area return at once.
//! * `FragCoord` is computed from the tile offset and the invocation's position in the tile.
//! * Outputs become private variables. At the end of the invocation they are stored to the texel of
//!   their attachments, unless the fragment was discarded.
//!
//! If the shader also loads from the attachment of an output, both use the same image variable. So
//! a load of a texel that another invocation writes, which a draw does not order, is detected as a
//! data race. Natively a fragment may be shaded more than once, and helper invocations may exist;
//! the result of a shader must not depend on either.

use super::{LowerError, class_of, entry_point, interface_at, uses};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, ScalarOrVector, instruction};
use assay_spirv::grammar::Version;
use assay_spirv::module::{Instruction, Section};
use assay_spirv::reflect::decoration;
use assay_spirv::tables::{
    BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, FunctionControl, ImageFormat, Op,
    SelectionControl, StorageClass,
};

/// The storage image that represents a colour attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorImage {
    /// Its descriptor set.
    pub set: u32,
    /// Its binding in the set.
    pub binding: u32,
    /// Its format.
    pub format: ImageFormat,
}

/// Properties of the draw.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// Colour attachments by location; `None` for locations without one.
    pub colors: &'a [Option<ColorImage>],
    /// Offset and extent of the render area.
    pub area: [[u32; 2]; 2],
    /// Set for a draw in per-tile execution. Otherwise the tile built-ins are zero.
    pub per_tile: bool,
}

/// Returns the locations of the colour outputs of a module with one fragment entry point, in order.
pub fn locations(module: &Module) -> Vec<u32> {
    let outputs = variables(module, StorageClass::Output).filter_map(|variable| variable.result());
    let mut locations: Vec<u32> = outputs.filter_map(|word| decoration(module, word, Decoration::Location)).collect();
    locations.sort_unstable();
    locations.dedup();
    locations
}

/// Lowers a fragment module with tile shading to a compute module with tile shading.
///
/// # Errors
/// The module does not use tile shading, does not have exactly one entry point, or that is not a
/// fragment shader; or it uses features of rasterisation: inputs other than `FragCoord` and the
/// tile built-ins, outputs other than vectors of four 32-bit numbers at the locations of `colors`,
/// derivatives, helper invocations.
pub fn lower(module: &Module, draw: &Draw<'_>) -> Result<Vec<u32>, LowerError> {
    let declared =
        module.section(Section::Capabilities).any(|i| i.operand(0) == Some(Capability::TileShadingQCOM.word()));
    if !declared {
        return Err(LowerError::UnusedExtension(Capability::TileShadingQCOM));
    }
    let entry = entry_point(module)?;
    if entry.operand(0) != Some(ExecutionModel::Fragment.word()) {
        return Err(LowerError::at(entry, "an entry point that is not Fragment"));
    }
    let mut pass = Pass {
        module,
        editor: Editor::new(module),
        entry,
        private: Vec::new(),
        inputs: Vec::new(),
        others: Vec::new(),
    };
    let inputs = pass.inputs(draw.per_tile)?;
    let outputs = pass.outputs(draw.colors)?;
    pass.modes()?;
    let discarded = pass.body()?;
    let wrapper = pass.wrapper(draw.area, &inputs, &outputs, discarded)?;
    pass.retarget(wrapper);
    Ok(pass.editor.finish())
}

fn variables(module: &Module, class: StorageClass) -> impl Iterator<Item = Instruction<'_>> {
    module.section(Section::Globals).filter(move |i| i.op == Some(Op::Variable) && class_of(*i) == Some(class))
}

/// Initial values of an invocation's inputs.
struct Inputs {
    /// The variable of `FragCoord`.
    position: Option<u32>,
    /// Variables that are zero, each with its type.
    zero: Vec<(u32, u32)>,
    /// The built-in `TileOffsetQCOM`, with its type.
    tile_offset: (u32, u32),
}

/// A colour output.
struct Output {
    /// Its variable, with the type of its value.
    value: (u32, u32),
    /// The storage image that it is stored to, with the type of the image.
    image: (u32, u32),
}

struct Pass<'a> {
    module: &'a Module,
    editor: Editor<'a>,
    entry: Instruction<'a>,
    /// Variables that were inputs or outputs.
    private: Vec<u32>,
    /// New inputs.
    inputs: Vec<u32>,
    /// Other new variables, which SPIR-V 1.4 and later require in the interface.
    others: Vec<u32>,
}

impl<'a> Pass<'a> {
    /// Makes a variable private. Only loads, stores and access chains may use it. Returns it with
    /// the type of its value.
    fn privatise(&mut self, variable: Instruction<'a>) -> Result<(u32, u32), LowerError> {
        let module = self.module;
        let word = variable.result().unwrap_or_default();
        let plain = |user: &Instruction<'_>, pointer: u32| {
            user.op == Some(Op::Load) || (user.op == Some(Op::Store) && user.operand(0) == Some(pointer))
        };
        for user in uses(module, word).filter(|user| !plain(user, word)) {
            let is_chain = matches!(user.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
            let part = user.result().filter(|_| is_chain);
            if !part.is_some_and(|part| uses(module, part).all(|further| plain(&further, part))) {
                return Err(LowerError::at(user, "a pointer to an input or output that is passed on"));
            }
        }
        self.editor.set_storage_class(variable, StorageClass::Private);
        self.undecorate(word, |_| true);
        self.private.push(word);
        Ok((word, module.pointee(variable).unwrap_or_default()))
    }

    /// Removes decorations of an id for which `which` returns true.
    fn undecorate(&mut self, word: u32, which: impl Fn(u32) -> bool) {
        for i in self.module.section(Section::Annotations).filter(|i| i.operand(0) == Some(word)) {
            if i.operand(1).is_some_and(&which) {
                self.editor.replace(i.at, Vec::new());
            }
        }
    }

    fn inputs(&mut self, per_tile: bool) -> Result<Inputs, LowerError> {
        let module = self.module;
        let (mut position, mut zero, mut tile_offset) = (None, Vec::new(), None);
        for variable in variables(module, StorageClass::Input) {
            let word = variable.result().unwrap_or_default();
            let built_in = decoration(module, word, Decoration::BuiltIn).and_then(BuiltIn::from_word);
            match built_in {
                Some(BuiltIn::FragCoord) => position = Some(self.privatise(variable)?.0),
                Some(BuiltIn::TileOffsetQCOM | BuiltIn::TileDimensionQCOM | BuiltIn::TileApronSizeQCOM)
                    if !per_tile =>
                {
                    zero.push(self.privatise(variable)?);
                }
                Some(BuiltIn::TileOffsetQCOM) => {
                    tile_offset = Some((word, module.pointee(variable).unwrap_or_default()))
                }
                Some(BuiltIn::TileDimensionQCOM | BuiltIn::TileApronSizeQCOM) => {}
                _ => return Err(LowerError::at(variable, "an input other than FragCoord and the tile built-ins")),
            }
            // Interpolation decorations are not permitted outside fragment shaders.
            self.undecorate(word, |decoration| decoration == Decoration::Flat.word());
        }
        let tile_offset = match tile_offset {
            Some(known) => known,
            None => self.built_in(BuiltIn::TileOffsetQCOM, 2),
        };
        Ok(Inputs { position, zero, tile_offset })
    }

    /// Declares a built-in with `count` unsigned components. Returns it with its type.
    fn built_in(&mut self, built_in: BuiltIn, count: u32) -> (u32, u32) {
        let uint = self.editor.uint(32);
        let ty = self.editor.vector(uint, count);
        let pointer = self.editor.pointer(StorageClass::Input, ty);
        let variable = self.editor.variable(pointer, StorageClass::Input);
        self.editor.annotate(Op::Decorate, &[variable, Decoration::BuiltIn.word(), built_in.word()]);
        self.inputs.push(variable);
        (variable, ty)
    }

    fn outputs(&mut self, colors: &[Option<ColorImage>]) -> Result<Vec<Output>, LowerError> {
        let module = self.module;
        let mut outputs = Vec::new();
        for variable in variables(module, StorageClass::Output) {
            let word = variable.result().unwrap_or_default();
            let location = decoration(module, word, Decoration::Location);
            let partial = [Decoration::Component, Decoration::Index];
            let whole = !partial.into_iter().any(|wanted| decoration(module, word, wanted).is_some_and(|n| n != 0));
            let color = location.filter(|_| whole).and_then(|location| colors.get(location as usize)?.as_ref());
            let Some(color) = color else {
                return Err(LowerError::at(variable, "an output that is not a colour attachment"));
            };
            let held = module.pointee(variable).and_then(|ty| module.type_declared(ty));
            let Some(plain) =
                held.and_then(|ty| ScalarOrVector::of(module, ty)).filter(|p| p.count == 4 && p.width == 32)
            else {
                return Err(LowerError::at(variable, "an output that is not a vector of four 32-bit numbers"));
            };
            let image = self.image(variable, color, plain)?;
            outputs.push(Output { value: self.privatise(variable)?, image });
        }
        Ok(outputs)
    }

    /// Returns the storage image of a colour attachment, with its type: the module's own variable
    /// at that binding, or a new one.
    fn image(
        &mut self,
        output: Instruction<'a>,
        color: &ColorImage,
        value: ScalarOrVector,
    ) -> Result<(u32, u32), LowerError> {
        let module = self.module;
        let operands = [value.component, Dim::Dim2D.word(), 0, 0, 0, 2, color.format.word()];
        let same = |i: &Instruction<'_>| i.op == Some(Op::TypeImage) && i.words.get(2..) == Some(&operands[..]);
        let declared = module.section(Section::Globals).find(same).and_then(|i| i.result());
        let known = variables(module, StorageClass::TileAttachmentQCOM).find(|variable| {
            let of = |wanted| decoration(module, variable.result().unwrap_or_default(), wanted);
            of(Decoration::DescriptorSet) == Some(color.set) && of(Decoration::Binding) == Some(color.binding)
        });
        if let Some(variable) = known {
            let word = variable.result().unwrap_or_default();
            let ty = module.pointee(variable).filter(|ty| Some(*ty) == declared);
            let Some(ty) = ty else {
                return Err(LowerError::at(output, "an output to an attachment that is declared as another image"));
            };
            self.undecorate(word, |decoration| decoration == Decoration::NonWritable.word());
            return Ok((word, ty));
        }
        let ty = declared.unwrap_or_else(|| self.editor.declare(Op::TypeImage, &operands));
        let class = StorageClass::TileAttachmentQCOM;
        let pointer = self.editor.pointer(class, ty);
        let variable = self.editor.variable(pointer, class);
        self.editor.annotate(Op::Decorate, &[variable, Decoration::DescriptorSet.word(), color.set]);
        self.editor.annotate(Op::Decorate, &[variable, Decoration::Binding.word(), color.binding]);
        self.others.push(variable);
        Ok((variable, ty))
    }

    /// Removes execution modes of fragment shaders.
    fn modes(&mut self) -> Result<(), LowerError> {
        for mode in self.module.section(Section::ExecutionModes) {
            use ExecutionMode::{EarlyFragmentTests, NonCoherentTileAttachmentReadQCOM, OriginUpperLeft};
            match mode.operand(1).and_then(ExecutionMode::from_word) {
                Some(OriginUpperLeft | NonCoherentTileAttachmentReadQCOM | EarlyFragmentTests) => {
                    self.editor.replace(mode.at, Vec::new());
                }
                _ => return Err(LowerError::at(mode, "this execution mode of a fragment shader")),
            }
        }
        Ok(())
    }

    /// Rejects instructions that only fragment shaders may use. Replaces instructions that discard
    /// the fragment by a return that sets a flag. Returns the variable of the flag, if there is
    /// one.
    fn body(&mut self) -> Result<Option<u32>, LowerError> {
        let module = self.module;
        let main = self.entry.operand(1).unwrap_or_default();
        let own = module.function(main).map(|function| function.instructions.clone()).unwrap_or_default();
        let mut discarded = None;
        for i in module.section(Section::Functions) {
            match i.op {
                Some(Op::Kill | Op::TerminateInvocation) if own.contains(&i.index.0) => {
                    let bool_ty = self.editor.bool();
                    let flag = match discarded {
                        Some(flag) => flag,
                        None => {
                            let pointer = self.editor.pointer(StorageClass::Private, bool_ty);
                            self.editor.variable(pointer, StorageClass::Private)
                        }
                    };
                    discarded = Some(flag);
                    let mut words = instruction(Op::Store, &[flag, self.editor.boolean(bool_ty, true)]);
                    words.extend(instruction(Op::Return, &[]));
                    self.editor.replace(i.at, words);
                }
                Some(op @ (Op::Kill | Op::TerminateInvocation)) => {
                    return Err(LowerError::at(i, format!("{op} outside the entry point's function")));
                }
                Some(op) if is_fragment_only(op) => return Err(LowerError::at(i, op.to_string())),
                _ => {}
            }
        }
        self.others.extend(discarded);
        Ok(discarded)
    }

    /// Adds the function that shades a fragment and stores its outputs. Returns its id.
    fn wrapper(
        &mut self,
        [first, extent]: [[u32; 2]; 2],
        inputs: &Inputs,
        outputs: &[Output],
        discarded: Option<u32>,
    ) -> Result<u32, LowerError> {
        let module = self.module;
        let main = self.entry.operand(1).unwrap_or_default();
        let Some(definition) = module.definition_of(main) else {
            return Err(LowerError::at(self.entry, "an entry point without a function"));
        };
        if let Some(call) = uses(module, main).find(|i| i.op == Some(Op::FunctionCall)) {
            return Err(LowerError::at(call, "a call of the entry point"));
        }
        let (void, function) =
            (definition.result_type().unwrap_or_default(), definition.operand(1).unwrap_or_default());
        let editor = &mut self.editor;
        let (uint, bool_ty) = (editor.uint(32), editor.bool());
        let (offset, two) = inputs.tile_offset;
        let bools = editor.vector(bool_ty, 2);
        let mut corner = |corner: [u32; 2]| {
            let parts = corner.map(|n| editor.constant(uint, 32, u64::from(n)));
            editor.composite(two, &parts)
        };
        let begin = corner(first);
        let end = corner(std::array::from_fn(|i| first[i].saturating_add(extent[i])));
        let (id, three) = self.built_in(BuiltIn::GlobalInvocationId, 3);
        let editor = &mut self.editor;
        let [wrapper, entry, own, place, tile, at, above, below, both, covered, run, called, done] =
            std::array::from_fn(|_| editor.id());
        let mut words = [
            instruction(Op::Function, &[void, wrapper, FunctionControl::NONE.0, function]),
            instruction(Op::Label, &[entry]),
            instruction(Op::Load, &[three, own, id]),
            instruction(Op::VectorShuffle, &[two, place, own, own, 0, 1]),
            instruction(Op::Load, &[two, tile, offset]),
            instruction(Op::IAdd, &[two, at, tile, place]),
            instruction(Op::UGreaterThanEqual, &[bools, above, at, begin]),
            instruction(Op::ULessThan, &[bools, below, at, end]),
            instruction(Op::LogicalAnd, &[bools, both, above, below]),
            instruction(Op::All, &[bool_ty, covered, both]),
            instruction(Op::SelectionMerge, &[done, SelectionControl::NONE.0]),
            instruction(Op::BranchConditional, &[covered, run, done]),
            instruction(Op::Label, &[run]),
        ]
        .concat();
        if let Some(variable) = inputs.position {
            // FragCoord is a vector of four floats.
            let held = module.definition_of(variable).and_then(|v| module.pointee(v));
            let plain = held.and_then(|ty| ScalarOrVector::of(module, module.type_declared(ty)?));
            let Some(plain) = plain else { return Err(LowerError::at(self.entry, "a FragCoord that is not a vector")) };
            let float = plain.component;
            let floats = editor.vector(float, 2);
            let mut constant = |value: f32| editor.constant(float, 32, u64::from(value.to_bits()));
            let (half, zero, one) = (constant(0.5), constant(0.0), constant(1.0));
            let halves = editor.composite(floats, &[half, half]);
            let [corner, centre, position] = std::array::from_fn(|_| editor.id());
            words.extend(instruction(Op::ConvertUToF, &[floats, corner, at]));
            words.extend(instruction(Op::FAdd, &[floats, centre, corner, halves]));
            words.extend(instruction(Op::CompositeConstruct, &[plain.ty, position, centre, zero, one]));
            words.extend(instruction(Op::Store, &[variable, position]));
        }
        for (variable, ty) in &inputs.zero {
            words.extend(instruction(Op::Store, &[*variable, editor.null(*ty)]));
        }
        if let Some(flag) = discarded {
            words.extend(instruction(Op::Store, &[flag, editor.boolean(bool_ty, false)]));
        }
        words.extend(instruction(Op::FunctionCall, &[void, called, main]));
        let mut stores = Vec::new();
        for Output { value: (variable, ty), image: (image, image_ty) } in outputs {
            let [value, target] = std::array::from_fn(|_| editor.id());
            stores.extend(instruction(Op::Load, &[*ty, value, *variable]));
            stores.extend(instruction(Op::Load, &[*image_ty, target, *image]));
            stores.extend(instruction(Op::ImageWrite, &[target, at, value]));
        }
        if let Some(flag) = discarded {
            let [gone, keep, kept] = std::array::from_fn(|_| editor.id());
            words.extend(instruction(Op::Load, &[bool_ty, gone, flag]));
            words.extend(instruction(Op::SelectionMerge, &[kept, SelectionControl::NONE.0]));
            words.extend(instruction(Op::BranchConditional, &[gone, kept, keep]));
            words.extend(instruction(Op::Label, &[keep]));
            words.extend(stores);
            words.extend(instruction(Op::Branch, &[kept]));
            words.extend(instruction(Op::Label, &[kept]));
        } else {
            words.extend(stores);
        }
        words.extend(instruction(Op::Branch, &[done]));
        words.extend(instruction(Op::Label, &[done]));
        words.extend(instruction(Op::Return, &[]));
        words.extend(instruction(Op::FunctionEnd, &[]));
        if let Some(last) = module.instructions().next_back() {
            editor.insert_after(last.at, &words);
        }
        Ok(wrapper)
    }

    /// Changes the entry point's execution model, function and interface, and sets a shading rate
    /// of one texel.
    fn retarget(&mut self, wrapper: u32) {
        let entry = self.entry;
        let from = interface_at(entry);
        let mut words = entry.words.get(..from).unwrap_or_default().to_vec();
        (words[1], words[2]) = (ExecutionModel::GLCompute.word(), wrapper);
        let global = self.module.version() >= Version { major: 1, minor: 4 };
        let interface = entry.words.get(from..).unwrap_or_default();
        words.extend(interface.iter().filter(|id| global || !self.private.contains(id)));
        words.extend(&self.inputs);
        words.extend(self.others.iter().filter(|_| global));
        words[0] = (words.len() as u32) << 16 | Op::EntryPoint as u32;
        self.editor.replace(entry.at, words);
        let rate = [wrapper, ExecutionMode::TileShadingRateQCOM.word(), 1, 1, 1];
        self.editor.insert_after(entry.at, &instruction(Op::ExecutionMode, &rate));
    }
}

/// Returns true if an instruction is restricted to fragment shaders: it uses neighbouring fragments
/// or helper invocations.
fn is_fragment_only(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        DPdx | DPdy
            | Fwidth
            | DPdxFine
            | DPdyFine
            | FwidthFine
            | DPdxCoarse
            | DPdyCoarse
            | FwidthCoarse
            | ImageSampleImplicitLod
            | ImageSampleDrefImplicitLod
            | ImageSampleProjImplicitLod
            | ImageSampleProjDrefImplicitLod
            | ImageSparseSampleImplicitLod
            | ImageSparseSampleDrefImplicitLod
            | ImageQueryLod
            | DemoteToHelperInvocation
            | IsHelperInvocationEXT
            | BeginInvocationInterlockEXT
            | EndInvocationInterlockEXT
    )
}
