//! Lowering of the gathers of `SPV_QCOM_image_processing3` to core SPIR-V.
//!
//! * `GatherH2QCOM` and `GatherV2QCOM` have predefined offsets. They become `OpImageGather` with
//!   `ConstOffsets` if `shaderImageGatherExtended` is enabled and each offset, plus a constant
//!   offset of the instruction, is within the device's limits.
//! * All others become four fetches at coordinates that the shader computes: scaled, rounded down,
//!   offset, and wrapped by the sampler's address modes. For texels outside the image, the border
//!   colour is selected.
//!
//! A module does not contain the state of its samplers, so the caller supplies it
//! ([`GatherStates`]), one state for all gathers.

use super::{LowerError, drop_extension};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{Capability, ImageOperands, Op};
use assay_texture::{AddressMode, FootprintOrigin, GatherMode};
use std::collections::BTreeMap;

/// Sampler and view state for the gathers of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherStates {
    /// Address modes along u and v.
    pub address: [AddressMode; 2],
    /// Set if coordinates are in texels.
    pub unnormalized: bool,
    /// Border colour after the view's swizzle, as bits of the image's sampled type.
    pub border: [u32; 4],
    /// `minTexelGatherOffset` and `maxTexelGatherOffset` if `shaderImageGatherExtended` is enabled;
    /// with `None`, every gather becomes fetches.
    pub offsets: Option<(i32, i32)>,
}

/// Texel coordinates are clamped to this magnitude, which converts to an integer and is outside
/// every image.
const FAR: f32 = (1 << 30) as f32;

/// Lowers all `OpImageGatherQCOM` of a module.
///
/// # Errors
/// The module does not use the extension, or has a gather whose mode is not a constant or is a
/// specialisation constant, or with image operands that are not permitted.
pub fn lower(module: &Module, states: &GatherStates) -> Result<Vec<u32>, LowerError> {
    let capabilities = [Capability::ImageGatherLinearQCOM, Capability::ImageGatherExtendedModesQCOM];
    let declared =
        |wanted: Capability| module.section(Section::Capabilities).any(|i| i.operand(0) == Some(wanted.word()));
    if !capabilities.iter().any(|capability| declared(*capability)) {
        return Err(LowerError::UnusedExtension(capabilities[1]));
    }
    let mut editor = Editor::new(module);
    let (mut fetches, mut extended) = (false, false);
    for gather in module.instructions().filter(|i| i.op == Some(Op::ImageGatherQCOM)) {
        let gather = GatherInstruction::read(module, gather)?;
        match gather.as_offsets(states) {
            Some(offsets) => {
                extended = true;
                gather.replace_by_gather(&mut editor, offsets);
            }
            None => {
                fetches = true;
                gather.replace_by_fetches(&mut editor, states)?;
            }
        }
    }
    if !extended && !has_other_lookups(module) {
        // The capability was declared for the offsets of gathers that are gone.
        let gone = |i: &Instruction<'_>| i.operand(0) == Some(Capability::ImageGatherExtended.word());
        for i in module.section(Section::Capabilities).filter(gone) {
            editor.replace(i.at, Vec::new());
        }
    }
    let mut implied = Vec::new();
    implied.extend(fetches.then_some(Capability::ImageQuery));
    implied.extend(extended.then_some(Capability::ImageGatherExtended));
    for capability in capabilities {
        drop_extension(&mut editor, capability, &implied, "SPV_QCOM_image_processing3");
        if declared(capability) {
            implied.clear();
        }
    }
    Ok(editor.finish())
}

/// Returns true if a module has other image instructions, whose offsets may need
/// `ImageGatherExtended`.
fn has_other_lookups(module: &Module) -> bool {
    const NAMES: [&str; 5] = ["OpImageSample", "OpImageFetch", "OpImageGather", "OpImageDrefGather", "OpImageSparse"];
    let other = |op: Op| op != Op::ImageGatherQCOM && NAMES.iter().any(|name| op.name().starts_with(name));
    module.instructions().any(|i| i.op.is_some_and(other))
}

/// An `OpImageGatherQCOM`, decoded.
struct GatherInstruction<'a> {
    module: &'a Module,
    at: Instruction<'a>,
    /// Raw ids of result type, result, sampled image, coordinate and component.
    ids: [u32; 5],
    mode: GatherMode,
    /// Image operands without operands of their own.
    flags: u32,
    /// Raw id of an offset, and its value if it is a constant that cannot be specialised.
    offset: Option<(u32, Option<[i32; 2]>)>,
}

impl<'a> GatherInstruction<'a> {
    fn read(module: &'a Module, at: Instruction<'a>) -> Result<GatherInstruction<'a>, LowerError> {
        let wrong = |what: &str| LowerError::at(at, what);
        let [_, ty, id, sampled, coordinate, component, mode, ref rest @ ..] = *at.words else {
            return Err(wrong("an OpImageGatherQCOM without its operands"));
        };
        let specialised = module.definition_of(mode).is_none_or(|i| i.op != Some(Op::Constant));
        let value = module.constant_int(mode).and_then(|mode| u32::try_from(mode).ok());
        let mode = match value.and_then(GatherMode::from_qcom) {
            Some(mode) if !specialised => mode,
            _ => return Err(wrong("an OpImageGatherQCOM whose mode is not a plain constant")),
        };
        let mask = ImageOperands(rest.first().copied().unwrap_or(0));
        let plain = ImageOperands::NON_PRIVATE_TEXEL.0
            | ImageOperands::VOLATILE_TEXEL.0
            | ImageOperands::SIGN_EXTEND.0
            | ImageOperands::ZERO_EXTEND.0
            | ImageOperands::NONTEMPORAL.0;
        let offsets = ImageOperands::CONST_OFFSET.0 | ImageOperands::OFFSET.0;
        let offset = match (mask.0 & !plain, rest) {
            (0, _) => None,
            (one, [_, word]) if one & !offsets == 0 && one.count_ones() == 1 => Some((*word, constant(module, *word))),
            _ => return Err(wrong("an OpImageGatherQCOM with these image operands")),
        };
        let flags = mask.0 & plain;
        Ok(GatherInstruction { module, at, ids: [ty, id, sampled, coordinate, component], mode, flags, offset })
    }

    /// Returns the offsets of the four texels, if an `OpImageGather` may have them.
    fn as_offsets(&self, states: &GatherStates) -> Option<[[i32; 2]; 4]> {
        let (least, most) = states.offsets?;
        let constant = match self.offset {
            None => [0; 2],
            Some((_, value)) => value?,
        };
        // The other modes count offsets from another texel.
        if self.mode.origin() != FootprintOrigin::Linear {
            return None;
        }
        let [x, y] = constant;
        let all = self.mode.offsets().map(|[dx, dy]| [x.saturating_add(dx), y.saturating_add(dy)]);
        all.as_flattened().iter().all(|offset| (least..=most).contains(offset)).then_some(all)
    }

    /// Replaces the instruction by an `OpImageGather` with `ConstOffsets`.
    fn replace_by_gather(&self, editor: &mut Editor<'_>, offsets: [[i32; 2]; 4]) {
        let int = editor.int(32);
        let pair = editor.vector(int, 2);
        let uint = editor.uint(32);
        let four = editor.constant(uint, 32, 4);
        let array = editor.declare(Op::TypeArray, &[pair, four]);
        let pairs = offsets.map(|offset| {
            let parts = offset.map(|n| editor.constant(int, 32, u64::from(n.cast_unsigned())));
            editor.composite(pair, &parts)
        });
        let all = editor.composite(array, &pairs);
        let mut operands = self.ids.to_vec();
        operands.extend([ImageOperands::CONST_OFFSETS.0 | self.flags, all]);
        editor.replace(self.at.at, instruction(Op::ImageGather, &operands));
    }

    /// Replaces the instruction by four fetches.
    fn replace_by_fetches(&self, editor: &mut Editor<'a>, states: &GatherStates) -> Result<(), LowerError> {
        let module = self.module;
        let wrong = |what: &str| LowerError::at(self.at, what);
        let [result_type, result, sampled, coordinate, component] = self.ids;
        let word = |ty| module.type_definition(ty).result().ok_or_else(|| wrong("a gather of unknown types"));
        let of = |id: u32| module.type_of(id).map(|ty| module.ty(ty));
        let Some(Type::SampledImage { image }) = of(sampled) else {
            return Err(wrong("a gather whose operand is not an image"));
        };
        let Type::Image(image_type) = module.ty(*image) else {
            return Err(wrong("a gather whose operand is not an image"));
        };
        let Some(Type::Vector { component: float, .. }) = of(coordinate) else {
            return Err(wrong("a gather whose coordinate is not a vector"));
        };
        if *module.ty(*float) != (Type::Float { width: 32, encoding: None }) {
            return Err(wrong("a gather whose coordinate is not of 32-bit floats"));
        }
        let (image, float) = (word(*image)?, word(*float)?);
        let scalar = word(image_type.sampled_type)?;
        let int = editor.int(32);
        let axes = 2 + u32::from(image_type.arrayed);
        let integers = editor.vector(int, axes);
        let bool = editor.bool();
        let mut code = Emitter { editor, words: Vec::new(), int, float, bool };
        let image = {
            let id = code.op(Op::Image, image, &[sampled]);
            code.editor.copy_decorations(sampled, id);
            id
        };
        let first = code.integer(0);
        let size = code.op(Op::ImageQuerySizeLod, integers, &[image, first]);
        let layer = image_type.arrayed.then(|| {
            let at = code.op(Op::CompositeExtract, float, &[coordinate, 2]);
            let layers = code.op(Op::CompositeExtract, int, &[size, 2]);
            code.nearest_layer(at, layers)
        });
        let mut texels_along: Vec<BTreeMap<i32, (u32, Option<u32>)>> = Vec::new();
        for axis in 0..2u32 {
            let at = code.op(Op::CompositeExtract, float, &[coordinate, axis]);
            let texels = code.op(Op::CompositeExtract, int, &[size, axis]);
            let mut origin = code.origin(at, texels, self.mode.origin(), states.unnormalized);
            let mut constant_part = 0;
            match self.offset {
                None => {}
                Some((_, Some(value))) => constant_part = value[axis as usize],
                Some((offset, None)) => {
                    let Some(Type::Vector { component, .. }) = of(offset) else {
                        return Err(wrong("a gather whose offset is not a vector"));
                    };
                    let part = word(*component)?;
                    let offset = code.op(Op::CompositeExtract, part, &[offset, axis]);
                    origin = code.op(Op::IAdd, int, &[origin, offset]);
                }
            }
            let mut along = BTreeMap::new();
            for offset in self.mode.offsets().map(|offset| offset[axis as usize]) {
                along.entry(offset).or_insert_with(|| {
                    let delta = code.integer(offset.wrapping_add(constant_part));
                    let at = code.op(Op::IAdd, int, &[origin, delta]);
                    code.address(states.address[axis as usize], at, texels)
                });
            }
            texels_along.push(along);
        }
        let mut parts = vec![result_type, result];
        for [x, y] in self.mode.offsets() {
            let ((x, x_inside), (y, y_inside)) = (texels_along[0][&x], texels_along[1][&y]);
            let mut at = vec![x, y];
            at.extend(layer);
            let at = code.op(Op::CompositeConstruct, integers, &at);
            let mask = ImageOperands::LOD.0 | self.flags;
            let texel = code.op(Op::ImageFetch, result_type, &[image, at, mask, first]);
            let mut value = match self.plain_component() {
                Some(component) => code.op(Op::CompositeExtract, scalar, &[texel, component]),
                None => code.op(Op::VectorExtractDynamic, scalar, &[texel, component]),
            };
            for inside in [x_inside, y_inside].into_iter().flatten() {
                let border = self.border(&mut code, states, scalar, result_type);
                value = code.op(Op::Select, scalar, &[inside, value, border]);
            }
            parts.push(value);
        }
        code.words.extend(instruction(Op::CompositeConstruct, &parts));
        let words = code.words;
        editor.replace(self.at.at, words);
        Ok(())
    }

    /// Returns the component, unless it can be specialised.
    fn plain_component(&self) -> Option<u32> {
        let definition = self.module.definition_of(self.ids[4])?;
        let value = self.module.constant_int(self.ids[4])?;
        (definition.op == Some(Op::Constant) && (0..4).contains(&value)).then_some(value as u32)
    }

    /// Returns the border colour of the component.
    fn border(&self, code: &mut Emitter<'_, '_>, states: &GatherStates, scalar: u32, vector: u32) -> u32 {
        match self.plain_component() {
            Some(component) => code.editor.constant(scalar, 32, u64::from(states.border[component as usize])),
            None => {
                let parts = states.border.map(|bits| code.editor.constant(scalar, 32, u64::from(bits)));
                let all = code.editor.composite(vector, &parts);
                code.op(Op::VectorExtractDynamic, scalar, &[all, self.ids[4]])
            }
        }
    }
}

/// Returns the value of a constant pair of integers that cannot be specialised.
fn constant(module: &Module, word: u32) -> Option<[i32; 2]> {
    let definition = module.definition_of(word)?;
    match (definition.op?, definition.operands()) {
        (Op::ConstantNull, _) => Some([0; 2]),
        (Op::ConstantComposite, [x, y]) => {
            let part = |word: u32| {
                let plain = matches!(module.definition_of(word)?.op?, Op::Constant | Op::ConstantNull);
                module.constant_int(word).filter(|_| plain).map(|n| n as i32)
            };
            Some([part(*x)?, part(*y)?])
        }
        _ => None,
    }
}

/// Instructions that replace another one.
struct Emitter<'e, 'a> {
    editor: &'e mut Editor<'a>,
    words: Vec<u32>,
    int: u32,
    float: u32,
    bool: u32,
}

impl Emitter<'_, '_> {
    fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.editor.id();
        let mut all = vec![ty, id];
        all.extend_from_slice(operands);
        self.words.extend(instruction(op, &all));
        id
    }

    fn integer(&mut self, value: i32) -> u32 {
        self.editor.constant(self.int, 32, u64::from(value.cast_unsigned()))
    }

    fn real(&mut self, value: f32) -> u32 {
        self.editor.constant(self.float, 32, u64::from(value.to_bits()))
    }

    /// Returns `floor` as an integer. It does not use GLSL.std.450, which a module need not import.
    fn floor(&mut self, value: u32) -> u32 {
        let (int, float, bool) = (self.int, self.float, self.bool);
        let (low, high) = (self.real(-FAR), self.real(FAR));
        // The comparison is false for NaN, which is therefore replaced by the lower limit.
        let above = self.op(Op::FOrdGreaterThan, bool, &[value, low]);
        let value = self.op(Op::Select, float, &[above, value, low]);
        let below = self.op(Op::FOrdLessThan, bool, &[value, high]);
        let value = self.op(Op::Select, float, &[below, value, high]);
        let toward_zero = self.op(Op::ConvertFToS, int, &[value]);
        let whole = self.op(Op::ConvertSToF, float, &[toward_zero]);
        let larger = self.op(Op::FOrdLessThan, bool, &[value, whole]);
        let (one, none) = (self.integer(1), self.integer(0));
        let excess = self.op(Op::Select, int, &[larger, one, none]);
        self.op(Op::ISub, int, &[toward_zero, excess])
    }

    /// Returns the texel coordinate, along one axis, relative to which offsets count.
    fn origin(&mut self, coordinate: u32, texels: u32, origin: FootprintOrigin, unnormalized: bool) -> u32 {
        let float = self.float;
        let mut at = coordinate;
        if !unnormalized {
            let size = self.op(Op::ConvertSToF, float, &[texels]);
            at = self.op(Op::FMul, float, &[at, size]);
        }
        if origin == FootprintOrigin::Linear {
            let shift = self.real(origin.shift() as f32);
            at = self.op(Op::FSub, float, &[at, shift]);
        }
        self.floor(at)
    }

    /// Returns the nearest layer, clamped to the existing ones; halfway between two layers, the
    /// upper one.
    fn nearest_layer(&mut self, coordinate: u32, layers: u32) -> u32 {
        let half = self.real(0.5);
        let up = self.op(Op::FAdd, self.float, &[coordinate, half]);
        let layer = self.floor(up);
        self.clamp(layer, layers)
    }

    /// Returns `clamp(at, 0, count - 1)`.
    fn clamp(&mut self, at: u32, count: u32) -> u32 {
        let (int, bool) = (self.int, self.bool);
        let (none, one) = (self.integer(0), self.integer(1));
        let below = self.op(Op::SLessThan, bool, &[at, none]);
        let at = self.op(Op::Select, int, &[below, none, at]);
        let last = self.op(Op::ISub, int, &[count, one]);
        let beyond = self.op(Op::SGreaterThan, bool, &[at, last]);
        self.op(Op::Select, int, &[beyond, last, at])
    }

    /// Returns the coordinate reflected at -1/2, `at < 0 ? !at : at`, and whether it was negative.
    fn reflect(&mut self, at: u32) -> (u32, u32) {
        let none = self.integer(0);
        let negative = self.op(Op::SLessThan, self.bool, &[at, none]);
        let mirrored = self.op(Op::Not, self.int, &[at]);
        (self.op(Op::Select, self.int, &[negative, mirrored, at]), negative)
    }

    /// Returns the non-negative remainder. It avoids dividing negative numbers, for which results
    /// of devices differ.
    fn modulo(&mut self, at: u32, period: u32) -> u32 {
        let int = self.int;
        let (near, negative) = self.reflect(at);
        let uint = self.editor.uint(32);
        // `OpUMod` requires unsigned operands.
        let [near, of] = [near, period].map(|value| self.op(Op::Bitcast, uint, &[value]));
        let rest = self.op(Op::UMod, uint, &[near, of]);
        let rest = self.op(Op::Bitcast, int, &[rest]);
        let one = self.integer(1);
        let last = self.op(Op::ISub, int, &[period, one]);
        let other = self.op(Op::ISub, int, &[last, rest]);
        self.op(Op::Select, int, &[negative, other, rest])
    }

    /// Returns the texel that an address mode selects and, if the mode uses the border, whether the
    /// coordinate is inside the image.
    fn address(&mut self, mode: AddressMode, at: u32, texels: u32) -> (u32, Option<u32>) {
        let (int, bool) = (self.int, self.bool);
        match mode {
            AddressMode::Repeat => (self.modulo(at, texels), None),
            AddressMode::MirroredRepeat => {
                let period = self.op(Op::IAdd, int, &[texels, texels]);
                let at = self.modulo(at, period);
                let one = self.integer(1);
                let last = self.op(Op::ISub, int, &[period, one]);
                let back = self.op(Op::ISub, int, &[last, at]);
                let forth = self.op(Op::SLessThan, bool, &[at, texels]);
                (self.op(Op::Select, int, &[forth, at, back]), None)
            }
            AddressMode::ClampToEdge => (self.clamp(at, texels), None),
            AddressMode::MirrorClampToEdge => {
                let (near, _) = self.reflect(at);
                (self.clamp(near, texels), None)
            }
            AddressMode::ClampToBorder => {
                // Negative coordinates are large as unsigned numbers.
                let inside = self.op(Op::ULessThan, bool, &[at, texels]);
                (self.clamp(at, texels), Some(inside))
            }
        }
    }
}
