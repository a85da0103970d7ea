//! `SPV_QCOM_image_processing3`'s gathers in core SPIR-V.
//!
//! * `GatherH2QCOM` and `GatherV2QCOM` are predefined `ConstOffsets`: they become `OpImageGather` with these where
//!   `shaderImageGatherExtended` is there and each offset, with a constant one added, stays within the device's limits.
//! * Everything else becomes four fetches at coordinates that the shader computes: scaled, rounded down, offset, and brought
//!   inside as the sampler would; beyond a border the texel gives way to the border's colour.
//!
//! A module knows no samplers, so what they do is for the caller to say ([`GatherStates`]), for all gathers of the module
//! alike.

use super::{LowerError, drop_extension};
use crate::Module;
use crate::edit::{Editor, instruction};
use crate::module::{Instruction, Section, Type};
use crate::sampling::{AddressMode, GatherMode, Origin};
use crate::tables::{Capability, ImageOperands, Op};
use std::collections::BTreeMap;

/// The state of what a module gathers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherStates {
    /// Address modes along u and v.
    pub address: [AddressMode; 2],
    /// Whether coordinates count texels.
    pub unnormalized: bool,
    /// What the border is to each component after the view's swizzle: bits of the image's sampled type.
    pub border: [u32; 4],
    /// `minTexelGatherOffset` and `maxTexelGatherOffset` where `shaderImageGatherExtended` is enabled; `None` lowers to
    /// fetches only.
    pub offsets: Option<(i32, i32)>,
}

/// Coordinates in texels beyond this are taken for it: they convert to integers, and are far outside every image.
const FAR: f32 = (1 << 30) as f32;

/// Lowers every `OpImageGatherQCOM` of a module.
///
/// # Errors
/// The module does not use the extension, or has a gather whose mode is not known before specialisation, or whose image
/// operands no rule allows there.
pub fn lower(module: &Module, states: &GatherStates) -> Result<Vec<u32>, LowerError> {
    let capabilities = [Capability::ImageGatherLinearQCOM, Capability::ImageGatherExtendedModesQCOM];
    let declared =
        |wanted: Capability| module.section(Section::Capabilities).any(|i| i.operand(0) == Some(wanted.word()));
    if !capabilities.iter().any(|capability| declared(*capability)) {
        return Err(LowerError::NothingToDo(capabilities[1]));
    }
    let mut editor = Editor::new(module);
    let (mut fetches, mut extended) = (false, false);
    for gather in module.instructions().filter(|i| i.op == Some(Op::ImageGatherQCOM)) {
        let gather = Gather::read(module, gather)?;
        match gather.as_offsets(states) {
            Some(offsets) => {
                extended = true;
                gather.core(&mut editor, offsets);
            }
            None => {
                fetches = true;
                gather.fetches(&mut editor, states)?;
            }
        }
    }
    if !extended && !looks_up_otherwise(module) {
        // It was for the offsets of what is gone.
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

/// Whether a module has other instructions whose offsets may need `ImageGatherExtended`.
fn looks_up_otherwise(module: &Module) -> bool {
    const NAMES: [&str; 5] = ["OpImageSample", "OpImageFetch", "OpImageGather", "OpImageDrefGather", "OpImageSparse"];
    let other = |op: Op| op != Op::ImageGatherQCOM && NAMES.iter().any(|name| op.name().starts_with(name));
    module.instructions().any(|i| i.op.is_some_and(other))
}

/// One gather, taken apart.
struct Gather<'a> {
    module: &'a Module,
    at: Instruction<'a>,
    /// Words of result type, result, sampled image, coordinate and component.
    ids: [u32; 5],
    mode: GatherMode,
    /// Image operands that have no operands of their own.
    flags: u32,
    /// The word of an offset, and its value where that is a constant that nothing specialises.
    offset: Option<(u32, Option<[i32; 2]>)>,
}

impl<'a> Gather<'a> {
    fn read(module: &'a Module, at: Instruction<'a>) -> Result<Gather<'a>, LowerError> {
        let wrong = |what: &str| LowerError::at(at, what);
        let [_, ty, id, sampled, coordinate, component, mode, ref rest @ ..] = *at.words else {
            return Err(wrong("an OpImageGatherQCOM without its operands"));
        };
        let specialised = module.definition_of_word(mode).is_none_or(|i| i.op != Some(Op::Constant));
        let value = module.constant_int(mode).and_then(|mode| u32::try_from(mode).ok());
        let mode = match value.and_then(GatherMode::from_qcom) {
            Some(mode) if !specialised => mode,
            _ => return Err(wrong("an OpImageGatherQCOM whose mode is no plain constant")),
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
        Ok(Gather { module, at, ids: [ty, id, sampled, coordinate, component], mode, flags, offset })
    }

    /// The offsets of the four texels, where an `OpImageGather` may have them.
    fn as_offsets(&self, states: &GatherStates) -> Option<[[i32; 2]; 4]> {
        let (least, most) = states.offsets?;
        let constant = match self.offset {
            None => [0; 2],
            Some((_, value)) => value?,
        };
        // The others count from another texel.
        if self.mode.origin() != Origin::Linear {
            return None;
        }
        let [x, y] = constant;
        let all = self.mode.offsets().map(|[dx, dy]| [x.saturating_add(dx), y.saturating_add(dy)]);
        all.as_flattened().iter().all(|offset| (least..=most).contains(offset)).then_some(all)
    }

    /// Puts an `OpImageGather` with `ConstOffsets` in its place.
    fn core(&self, editor: &mut Editor<'_>, offsets: [[i32; 2]; 4]) {
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

    /// Puts four fetches in its place.
    fn fetches(&self, editor: &mut Editor<'a>, states: &GatherStates) -> Result<(), LowerError> {
        let module = self.module;
        let wrong = |what: &str| LowerError::at(self.at, what);
        let [result_type, result, sampled, coordinate, component] = self.ids;
        let word = |ty| module.type_definition(ty).result().ok_or_else(|| wrong("a gather of unknown types"));
        let of = |id: u32| module.type_of(id).map(|ty| module.ty(ty));
        let Some(Type::SampledImage { image }) = of(sampled) else { return Err(wrong("a gather from no image")) };
        let Type::Image(image_type) = module.ty(*image) else { return Err(wrong("a gather from no image")) };
        let Some(Type::Vector { component: float, .. }) = of(coordinate) else {
            return Err(wrong("a gather at no coordinate"));
        };
        if *module.ty(*float) != (Type::Float { width: 32, encoding: None }) {
            return Err(wrong("a gather at a coordinate that has not 32 bits"));
        }
        let (image, float) = (word(*image)?, word(*float)?);
        let scalar = word(image_type.sampled_type)?;
        let int = editor.int(32);
        let axes = 2 + u32::from(image_type.arrayed);
        let integers = editor.vector(int, axes);
        let bool = editor.bool();
        let mut code = Code { editor, words: Vec::new(), int, float, bool };
        let image = {
            let id = code.op(Op::Image, image, &[sampled]);
            code.editor.decorate_alike(sampled, id);
            id
        };
        let first = code.integer(0);
        let size = code.op(Op::ImageQuerySizeLod, integers, &[image, first]);
        let layer = image_type.arrayed.then(|| {
            let at = code.op(Op::CompositeExtract, float, &[coordinate, 2]);
            let layers = code.op(Op::CompositeExtract, int, &[size, 2]);
            code.nearest_layer(at, layers)
        });
        let mut placed: Vec<BTreeMap<i32, (u32, Option<u32>)>> = Vec::new();
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
                        return Err(wrong("a gather whose offset is no vector"));
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
            placed.push(along);
        }
        let mut parts = vec![result_type, result];
        for [x, y] in self.mode.offsets() {
            let ((x, x_inside), (y, y_inside)) = (placed[0][&x], placed[1][&y]);
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

    /// The component, where nothing specialises it.
    fn plain_component(&self) -> Option<u32> {
        let definition = self.module.definition_of_word(self.ids[4])?;
        let value = self.module.constant_int(self.ids[4])?;
        (definition.op == Some(Op::Constant) && (0..4).contains(&value)).then_some(value as u32)
    }

    /// What the border is to the component.
    fn border(&self, code: &mut Code<'_, '_>, states: &GatherStates, scalar: u32, vector: u32) -> u32 {
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

/// A pair of integers that is a constant which nothing specialises.
fn constant(module: &Module, word: u32) -> Option<[i32; 2]> {
    let definition = module.definition_of_word(word)?;
    match (definition.op?, definition.operands()) {
        (Op::ConstantNull, _) => Some([0; 2]),
        (Op::ConstantComposite, [x, y]) => {
            let part = |word: u32| {
                let plain = matches!(module.definition_of_word(word)?.op?, Op::Constant | Op::ConstantNull);
                module.constant_int(word).filter(|_| plain).map(|n| n as i32)
            };
            Some([part(*x)?, part(*y)?])
        }
        _ => None,
    }
}

/// Instructions that stand in place of one.
struct Code<'e, 'a> {
    editor: &'e mut Editor<'a>,
    words: Vec<u32>,
    int: u32,
    float: u32,
    bool: u32,
}

impl Code<'_, '_> {
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

    /// `floor`, as an integer: without the functions of GLSL.std.450, which a module need not have.
    fn floor(&mut self, value: u32) -> u32 {
        let (int, float, bool) = (self.int, self.float, self.bool);
        let (low, high) = (self.real(-FAR), self.real(FAR));
        // No number is below the lower end too.
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

    /// The texel that offsets count from, along an axis.
    fn origin(&mut self, coordinate: u32, texels: u32, origin: Origin, unnormalized: bool) -> u32 {
        let float = self.float;
        let mut at = coordinate;
        if !unnormalized {
            let size = self.op(Op::ConvertSToF, float, &[texels]);
            at = self.op(Op::FMul, float, &[at, size]);
        }
        if origin == Origin::Linear {
            let shift = self.real(origin.shift() as f32);
            at = self.op(Op::FSub, float, &[at, shift]);
        }
        self.floor(at)
    }

    /// The layer: the nearest, of two as near the upper one, and none but those that there are.
    fn nearest_layer(&mut self, coordinate: u32, layers: u32) -> u32 {
        let half = self.real(0.5);
        let up = self.op(Op::FAdd, self.float, &[coordinate, half]);
        let layer = self.floor(up);
        self.clamp(layer, layers)
    }

    /// `clamp(at, 0, count - 1)`.
    fn clamp(&mut self, at: u32, count: u32) -> u32 {
        let (int, bool) = (self.int, self.bool);
        let (none, one) = (self.integer(0), self.integer(1));
        let below = self.op(Op::SLessThan, bool, &[at, none]);
        let at = self.op(Op::Select, int, &[below, none, at]);
        let last = self.op(Op::ISub, int, &[count, one]);
        let beyond = self.op(Op::SGreaterThan, bool, &[at, last]);
        self.op(Op::Select, int, &[beyond, last, at])
    }

    /// Reflected at -1/2: `at < 0 ? !at : at`; also whether it was.
    fn reflect(&mut self, at: u32) -> (u32, u32) {
        let none = self.integer(0);
        let negative = self.op(Op::SLessThan, self.bool, &[at, none]);
        let mirrored = self.op(Op::Not, self.int, &[at]);
        (self.op(Op::Select, self.int, &[negative, mirrored, at]), negative)
    }

    /// The remainder as it is never negative, without a division of negative numbers, which not every device does alike.
    fn modulo(&mut self, at: u32, period: u32) -> u32 {
        let int = self.int;
        let (near, negative) = self.reflect(at);
        let uint = self.editor.uint(32);
        // The instruction is of unsigned integers only.
        let [near, of] = [near, period].map(|value| self.op(Op::Bitcast, uint, &[value]));
        let rest = self.op(Op::UMod, uint, &[near, of]);
        let rest = self.op(Op::Bitcast, int, &[rest]);
        let one = self.integer(1);
        let last = self.op(Op::ISub, int, &[period, one]);
        let other = self.op(Op::ISub, int, &[last, rest]);
        self.op(Op::Select, int, &[negative, other, rest])
    }

    /// The texel that an address mode selects, and whether it is inside at all where that is a question.
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
                // Negative ones are large without a sign.
                let inside = self.op(Op::ULessThan, bool, &[at, texels]);
                (self.clamp(at, texels), Some(inside))
            }
        }
    }
}
