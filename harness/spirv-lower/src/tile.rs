//! Lowering of `SPV_QCOM_tile_shading` to core SPIR-V: a compute shader that is dispatched once for
//! each tile.
//!
//! * The tile built-ins and the size of its block grid become push constants, appended to those of
//!   the module.
//! * Tile attachments become storage images, sampled images or combined image samplers at their
//!   bindings.
//! * The shading rate becomes a local size. Invocations outside the tile's grid of blocks return at
//!   once. If the module has control barriers, the local size is one, so that all invocations of a
//!   workgroup run.
//!
//! The caller dispatches the result for each tile, over images with the texels that *this tile*
//! sees. Accesses are not rewritten. Each tile gets its own copies of the attachments, taken before
//! any tile runs, and afterwards the caller copies back the texels inside the tile. So a tile does
//! not see the stores of another, and stores outside the tile can be detected.

use super::{LowerError, built_in_variable, class_of, drop_extension, entry_point, interface_at, uses};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::grammar::Version;
use assay_spirv::module::{Instruction, Section};
use assay_spirv::reflect::{ExecutionModeUse, Layouts, Modes};
use assay_spirv::tables::{
    BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, Op, SelectionControl, StorageClass,
};
use std::collections::{BTreeMap, BTreeSet};

/// A lowered module, with the parameters of its dispatches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoweredTileShader {
    /// The module's words.
    pub words: Vec<u32>,
    /// The native module's shading rate.
    pub rate: Option<[u32; 3]>,
    /// Local size: that of the native module or, if it has a shading rate, the chosen one.
    pub local_size: [u32; 3],
    /// Offset of the tile's push constants, after those of the native module.
    offset: u32,
}

/// Values of the tile's push constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePushConstants {
    /// `TileOffsetQCOM`.
    pub offset: [u32; 2],
    /// `TileDimensionQCOM`.
    pub size: [u32; 3],
    /// `TileApronSizeQCOM`.
    pub apron: [u32; 2],
}

/// Offsets relative to the first of the tile's push constants, and the end.
const OFFSET: u32 = 0;
const APRON: u32 = 8;
const DIMENSION: u32 = 16;
const BLOCKS: u32 = 32;
const END: u32 = 44;

impl LoweredTileShader {
    /// Returns the size of the push constants in bytes.
    pub fn push_bytes(&self) -> u32 {
        self.offset + END
    }

    /// Returns the push constants for a tile's dispatch: those of the native module, followed by
    /// the tile's.
    pub fn push_constants(&self, native: &[u8], tile: &TilePushConstants) -> Vec<u8> {
        let mut bytes = native.to_vec();
        bytes.resize(self.push_bytes() as usize, 0);
        let mut put = |at: u32, words: &[u32]| {
            let from = (self.offset + at) as usize;
            let to = from + words.len() * 4;
            bytes[from..to].copy_from_slice(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        };
        put(OFFSET, &tile.offset);
        put(APRON, &tile.apron);
        put(DIMENSION, &tile.size);
        put(BLOCKS, &self.blocks(tile));
        bytes
    }

    /// Returns the size of a tile's grid of blocks; a shading rate of one counts if the module has
    /// none.
    fn blocks(&self, tile: &TilePushConstants) -> [u32; 3] {
        let rate = self.rate.unwrap_or([1; 3]);
        std::array::from_fn(|i| tile.size[i].div_ceil(rate[i].max(1)))
    }

    /// Returns the number of workgroups of a tile's dispatch. `None` if the native module has no
    /// shading rate: then the native dispatch determines it.
    pub fn groups(&self, tile: &TilePushConstants) -> Option<[u32; 3]> {
        let blocks = self.rate.map(|_| self.blocks(tile))?;
        Some(std::array::from_fn(|i| blocks[i].div_ceil(self.local_size[i].max(1))))
    }
}

/// The tile built-ins, with the offsets of their push constants.
const BUILT_INS: [(BuiltIn, u32); 3] =
    [(BuiltIn::TileOffsetQCOM, OFFSET), (BuiltIn::TileApronSizeQCOM, APRON), (BuiltIn::TileDimensionQCOM, DIMENSION)];

/// Lowers a compute module with tile shading. `local_size` applies if the module has a shading
/// rate, in which case implementations choose the size; every size must give the same results.
///
/// # Errors
/// The module does not use tile shading, is not a compute shader, does not have exactly one entry
/// point, or uses a built-in or its push constants in ways that compilers do not generate (passing
/// pointers on, copying the whole block).
pub fn lower(module: &Module, local_size: [u32; 3]) -> Result<LoweredTileShader, LowerError> {
    let declared =
        module.section(Section::Capabilities).any(|i| i.operand(0) == Some(Capability::TileShadingQCOM.word()));
    if !declared {
        return Err(LowerError::UnusedExtension(Capability::TileShadingQCOM));
    }
    let entry = entry_point(module)?;
    if entry.operand(0) != Some(ExecutionModel::GLCompute.word()) {
        return Err(LowerError::at(entry, "tile shading outside GLCompute"));
    }
    let mut pass = Pass { module, editor: Editor::new(module), entry, push: 0, base: 0, members: 0 };
    pass.attachments();
    pass.push_constants()?;
    let mut gone = BTreeSet::new();
    for (i, (built_in, _)) in BUILT_INS.into_iter().enumerate() {
        if let Some(variable) = built_in_variable(module, built_in) {
            pass.built_in(variable, pass.members + i as u32)?;
            gone.extend(variable.result());
        }
    }
    let function = entry.operand(1).unwrap_or_default();
    let modes = Modes::new(module);
    let rate = modes.of(function).iter().find(|mode| mode.mode == Some(ExecutionMode::TileShadingRateQCOM));
    let rate = rate.and_then(|mode| <[u32; 3]>::try_from(&mode.operands[..]).ok());
    let local_size = match rate {
        Some(_) if module.instructions().any(|i| i.op == Some(Op::ControlBarrier)) => [1; 3],
        Some(_) => local_size,
        None => modes.workgroup_size(module, function).map_or([1; 3], |size| size.size),
    };
    if rate.is_some()
        && let Some(variable) = built_in_variable(module, BuiltIn::WorkgroupSize)
    {
        pass.workgroup_size(variable, local_size)?;
        gone.extend(variable.result());
    }
    pass.editor.remove_references(&gone);
    let (mut target, mut inputs) = (function, Vec::new());
    if rate.is_some() {
        let (wrapper, id) = pass.guard(function)?;
        (target, inputs) = (wrapper, vec![id]);
    }
    pass.retarget(target, &inputs, &gone, modes.of(function), local_size);
    drop_extension(&mut pass.editor, Capability::TileShadingQCOM, &[Capability::Shader], "SPV_QCOM_tile_shading");
    let offset = pass.base;
    Ok(LoweredTileShader { words: pass.editor.finish(), rate, local_size, offset })
}

struct Pass<'a> {
    module: &'a Module,
    editor: Editor<'a>,
    entry: Instruction<'a>,
    /// The push constant variable.
    push: u32,
    /// Offset of the tile's push constants.
    base: u32,
    /// Number of members of the block before them.
    members: u32,
}

impl Pass<'_> {
    /// Changes the storage class of tile attachments and of pointers to them.
    fn attachments(&mut self) {
        let tile = Some(StorageClass::TileAttachmentQCOM.word());
        for i in self.module.section(Section::Globals) {
            let at = match i.op {
                Some(Op::TypePointer) => 2,
                Some(Op::Variable) => 3,
                _ => continue,
            };
            if i.words.get(at).copied() == tile {
                let mut words = i.words.to_vec();
                words[at] = StorageClass::UniformConstant.word();
                self.editor.replace(i.at, words);
            }
        }
    }

    /// Builds the block of push constants: the members of the module's own block, if any, followed
    /// by the tile's.
    fn push_constants(&mut self) -> Result<(), LowerError> {
        let module = self.module;
        let own = module
            .section(Section::Globals)
            .find(|i| i.op == Some(Op::Variable) && class_of(*i) == Some(StorageClass::PushConstant));
        let mut types = Vec::new();
        let block = self.editor.id();
        self.push = match own {
            None => self.editor.id(),
            Some(variable) => {
                let word = variable.result().unwrap_or_default();
                let ty = module.type_of(word).and_then(|ty| module.pointer(ty)).and_then(|(_, ty)| ty);
                let Some(ty) = ty else { return Err(LowerError::at(variable, "push constants without a type")) };
                // The block's type changes, which matters only to uses of the whole block.
                for i in uses(module, word) {
                    let chain = matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
                    if !chain || i.operand(0) != Some(word) || i.operands().len() < 2 {
                        return Err(LowerError::at(i, "a use of the whole block of push constants"));
                    }
                }
                let size = u32::try_from(Layouts::new(module).type_layout(ty).size()).ok();
                let Some(base) = size.and_then(|size| size.checked_next_multiple_of(16)) else {
                    return Err(LowerError::at(variable, "push constants of 4 GiB or more"));
                };
                self.base = base;
                types.extend(module.members(ty).iter().filter_map(|member| module.type_definition(*member).result()));
                let old = module.type_definition(ty).result().unwrap_or_default();
                for decorated in module.decorations(old) {
                    let (Some(member), Some(decoration)) = (decorated.member, decorated.decoration) else { continue };
                    let mut operands = vec![block, member, decoration.word()];
                    operands.extend_from_slice(decorated.operands);
                    self.editor.annotate(Op::MemberDecorate, &operands);
                }
                self.editor.replace(variable.at, Vec::new());
                word
            }
        };
        self.members = types.len() as u32;
        let uint = self.editor.uint(32);
        let (two, three) = (self.editor.vector(uint, 2), self.editor.vector(uint, 3));
        for (i, (built_in, at)) in BUILT_INS.into_iter().enumerate() {
            let declared = built_in_variable(module, built_in).and_then(|variable| module.pointee(variable));
            types.push(declared.unwrap_or(if built_in == BuiltIn::TileDimensionQCOM { three } else { two }));
            let operands = [block, self.members + i as u32, Decoration::Offset.word(), self.base + at];
            self.editor.annotate(Op::MemberDecorate, &operands);
        }
        types.push(three);
        let blocks = [block, self.members + BUILT_INS.len() as u32, Decoration::Offset.word(), self.base + BLOCKS];
        self.editor.annotate(Op::MemberDecorate, &blocks);
        self.editor.annotate(Op::Decorate, &[block, Decoration::Block.word()]);
        let mut operands = vec![block];
        operands.extend(types);
        self.editor.append_global(Op::TypeStruct, &operands);
        let pointer = self.editor.id();
        let class = StorageClass::PushConstant.word();
        self.editor.append_global(Op::TypePointer, &[pointer, class, block]);
        self.editor.append_global(Op::Variable, &[pointer, self.push, class]);
        Ok(())
    }

    /// Replaces reads of a built-in by reads of a member of the push constants.
    fn built_in(&mut self, variable: Instruction<'_>, member: u32) -> Result<(), LowerError> {
        let module = self.module;
        let word = variable.result().unwrap_or_default();
        let uint = self.editor.uint(32);
        let index = self.editor.constant(uint, 32, u64::from(member));
        for i in uses(module, word) {
            let result = i.result().unwrap_or_default();
            match i.op {
                Some(Op::Load) => {
                    let ty = i.result_type().unwrap_or_default();
                    let (pointer, chain) = (self.editor.pointer(StorageClass::PushConstant, ty), self.editor.id());
                    let mut words = instruction(Op::AccessChain, &[pointer, chain, self.push, index]);
                    words.extend(instruction(Op::Load, &[ty, result, chain]));
                    self.editor.replace(i.at, words);
                }
                Some(op @ (Op::AccessChain | Op::InBoundsAccessChain)) if i.operand(0) == Some(word) => {
                    let passed_on = uses(module, result).find(|user| user.op != Some(Op::Load));
                    if let Some(user) = passed_on {
                        return Err(LowerError::at(user, "a pointer into a built-in that is passed on"));
                    }
                    let part = module.pointee(i).unwrap_or_default();
                    let pointer = self.editor.pointer(StorageClass::PushConstant, part);
                    let mut operands = vec![pointer, result, self.push, index];
                    operands.extend(i.operands().iter().skip(1));
                    self.editor.replace(i.at, instruction(op, &operands));
                }
                _ => return Err(LowerError::at(i, "a pointer to a built-in that is passed on")),
            }
        }
        self.editor.replace(variable.at, Vec::new());
        Ok(())
    }

    /// Replaces loads of `WorkgroupSize`, an input if there is a shading rate, by the chosen size.
    fn workgroup_size(&mut self, variable: Instruction<'_>, size: [u32; 3]) -> Result<(), LowerError> {
        let ty = self.module.pointee(variable).unwrap_or_default();
        let uint = self.editor.uint(32);
        let parts = size.map(|n| self.editor.constant(uint, 32, u64::from(n)));
        let three = self.editor.vector(uint, 3);
        let value = self.editor.composite(three, &parts);
        for i in uses(self.module, variable.result().unwrap_or_default()) {
            match (i.op, i.result_type(), i.result()) {
                (Some(Op::Load), Some(loaded), Some(result)) if loaded == ty && ty == three => {
                    self.editor.replace(i.at, instruction(Op::CopyObject, &[ty, result, value]));
                }
                _ => {
                    return Err(LowerError::at(
                        i,
                        "a use of WorkgroupSize other than a load of three unsigned integers",
                    ));
                }
            }
        }
        self.editor.replace(variable.at, Vec::new());
        Ok(())
    }

    /// Adds a function that calls the entry point's function if the invocation is inside the tile's
    /// grid of blocks. Returns its id and that of the input variable that it uses.
    fn guard(&mut self, function: u32) -> Result<(u32, u32), LowerError> {
        let module = self.module;
        let Some(definition) = module.definition_of(function) else {
            return Err(LowerError::at(self.entry, "an entry point without a function"));
        };
        if let Some(call) = uses(module, function).find(|i| i.op == Some(Op::FunctionCall)) {
            return Err(LowerError::at(call, "a call of the entry point"));
        }
        let (void, ty) = (definition.result_type().unwrap_or_default(), definition.operand(1).unwrap_or_default());
        let uint = self.editor.uint(32);
        let three = self.editor.vector(uint, 3);
        let bool_ty = self.editor.bool();
        let bools = self.editor.vector(bool_ty, 3);
        let (id, id_ty) = match built_in_variable(module, BuiltIn::GlobalInvocationId) {
            Some(variable) => {
                (variable.result().unwrap_or_default(), self.module.pointee(variable).unwrap_or_default())
            }
            None => {
                let pointer = self.editor.pointer(StorageClass::Input, three);
                let id = self.editor.variable(pointer, StorageClass::Input);
                let built_in = [id, Decoration::BuiltIn.word(), BuiltIn::GlobalInvocationId.word()];
                self.editor.annotate(Op::Decorate, &built_in);
                (id, three)
            }
        };
        let index = self.editor.constant(uint, 32, u64::from(self.members + BUILT_INS.len() as u32));
        let pointer = self.editor.pointer(StorageClass::PushConstant, three);
        let [wrapper, first, own, chain, blocks, less, all, run, called, end] =
            std::array::from_fn(|_| self.editor.id());
        let words = [
            instruction(Op::Function, &[void, wrapper, FunctionControl::NONE.0, ty]),
            instruction(Op::Label, &[first]),
            instruction(Op::Load, &[id_ty, own, id]),
            instruction(Op::AccessChain, &[pointer, chain, self.push, index]),
            instruction(Op::Load, &[three, blocks, chain]),
            instruction(Op::ULessThan, &[bools, less, own, blocks]),
            instruction(Op::All, &[bool_ty, all, less]),
            instruction(Op::SelectionMerge, &[end, SelectionControl::NONE.0]),
            instruction(Op::BranchConditional, &[all, run, end]),
            instruction(Op::Label, &[run]),
            instruction(Op::FunctionCall, &[void, called, function]),
            instruction(Op::Branch, &[end]),
            instruction(Op::Label, &[end]),
            instruction(Op::Return, &[]),
            instruction(Op::FunctionEnd, &[]),
        ];
        if let Some(last) = module.instructions().next_back() {
            self.editor.insert_after(last.at, &words.concat());
        }
        Ok((wrapper, id))
    }

    /// Changes the entry point's function and interface, and its execution modes.
    fn retarget(
        &mut self,
        target: u32,
        inputs: &[u32],
        gone: &BTreeSet<u32>,
        all: &[ExecutionModeUse],
        local_size: [u32; 3],
    ) {
        let entry = self.entry;
        let from = interface_at(entry);
        let mut words = entry.words.get(..from).unwrap_or_default().to_vec();
        words[2] = target;
        let interface = entry.words.get(from..).unwrap_or_default();
        words.extend(interface.iter().filter(|id| !gone.contains(id)));
        let global = self.module.version() >= Version { major: 1, minor: 4 };
        for id in inputs.iter().copied().chain(global.then_some(self.push)) {
            if !interface.contains(&id) {
                words.push(id);
            }
        }
        words[0] = (words.len() as u32) << 16 | Op::EntryPoint as u32;
        self.editor.replace(entry.at, words);
        let by_word: BTreeMap<usize, &ExecutionModeUse> = all.iter().map(|mode| (mode.at, mode)).collect();
        for i in self.module.section(Section::ExecutionModes) {
            let Some(mode) = by_word.get(&i.at) else { continue };
            let words = if mode.mode == Some(ExecutionMode::TileShadingRateQCOM) {
                let [x, y, z] = local_size;
                instruction(Op::ExecutionMode, &[target, ExecutionMode::LocalSize.word(), x, y, z])
            } else {
                let mut words = i.words.to_vec();
                words[1] = target;
                words
            };
            self.editor.replace(i.at, words);
        }
    }
}
