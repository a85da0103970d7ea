//! Variant of a shader whose invocations share memory by atomics only, so that no data race is left.
//!
//! Guards ([`crate::operand_guards`]) exclude undefined behaviour of one invocation. A data race takes two
//! of them, and its consequences reach all that observe the memory. In this variant each load and each
//! store of memory by which invocations observe each other ([`Communication`]) becomes relaxed atomic
//! loads and stores of its scalars, which never race ("Memory Model", "Data Race"). The values of the
//! variant are others than the shader's, but each computation is defined for its own operands.
//!
//! | in the shader | in the variant |
//! |---|---|
//! | `OpLoad`, `OpStore`, `OpCopyMemory` | `OpAtomicLoad` and `OpAtomicStore` of each scalar, of a float as an integer ([`integer_memory`]) |
//! | variable of a workgroup | zeros at first, since it may be read before it is written |
//! | zeros stored to an array of a workgroup that is too large to be split | removed |
//! | `OpControlBarrier` that some invocation may not reach | removed |
//! | atomic of a narrow scope | the same with the scope of all that share the memory |
//!
//! # Limits
//!
//! Scalars have 32 bits. Texels of images have no atomic access of all components, and physical pointers have
//! no variable.

use crate::base_variable::base_variable;
use crate::communication::Communication;
use crate::composite_types::parts;
use crate::integer_memory;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction, substituted};
use assay_spirv::module::{Instruction, Section, TypeId};
use assay_spirv::tables::{Capability, Decoration, Op, Scope, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of scalars of one access.
const MOST_SCALARS: usize = 256;

/// Creates the variant for a dispatch with `size` invocations along each axis. Its new ids lie above the
/// bound of the module.
///
/// # Errors
/// Some memory that the invocations share has no atomic access.
pub(crate) fn with_atomic_accesses(module: &Module, entry: &str, size: [u32; 3]) -> Result<Module, String> {
    let communication = Communication::find(module, entry, size);
    let mut accesses = AtomicAccesses::new(module);
    let functions = || module.functions().iter().flat_map(|f| module.instructions_in(f.instructions.clone()));
    let observed = || functions().filter(|i| is_access(i) && communication.is_observed(i));
    for i in observed() {
        accesses.retype(i)?;
    }
    let mut replaced = BTreeSet::new();
    for i in functions() {
        let words = match i.op {
            Some(Op::ControlBarrier) if communication.may_miss_barrier() => Vec::new(),
            Some(op) if op.name().starts_with("OpAtomic") => accesses.widened(i),
            _ if is_access(&i) && (communication.is_observed(&i) || accesses.is_retyped(&i)) => accesses.access(i)?,
            _ => continue,
        };
        accesses.editor.replace(i.at, words);
        replaced.insert(i.at);
    }
    let AtomicAccesses { mut editor, loaded, retyped, .. } = accesses;
    for i in functions().filter(|i| !replaced.contains(&i.at)) {
        if i.operands().iter().any(|id| loaded.contains_key(id)) {
            editor.replace(i.at, substituted(module, &i, i.words.to_vec(), &loaded));
        }
    }
    // The index of a chain may be a loaded value.
    integer_memory::declare(module, &mut editor, (&retyped, &loaded))?;
    for variable in module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)) {
        let is_other = variable.result().is_some_and(|id| !retyped.contains(&id));
        if is_other && *variable.operands() == [StorageClass::Workgroup.word()] {
            zero_at_first(module, &mut editor, variable);
        }
    }
    editor.remove_references(&loaded.keys().copied().collect::<BTreeSet<u32>>());
    let made = Module::parse(editor.finish()).map_err(|error| error.to_string())?;
    match Communication::find(&made, entry, size).can_exclude_all() {
        true => Ok(made),
        false => Err("texels, by which invocations observe each other, have no atomic access".to_owned()),
    }
}

/// Returns true for an instruction that loads or stores.
fn is_access(i: &Instruction<'_>) -> bool {
    matches!(i.op, Some(Op::Load | Op::Store | Op::CopyMemory))
}

/// Returns the pointers by which an instruction loads or stores.
fn pointers(i: Instruction<'_>) -> impl Iterator<Item = u32> {
    let count = if i.op == Some(Op::CopyMemory) { 2 } else { 1 };
    i.operands().iter().copied().take(count)
}

/// Lets a variable of a workgroup hold zeros at first.
fn zero_at_first(module: &Module, editor: &mut Editor<'_>, variable: Instruction<'_>) {
    let Some(pointee) = module.pointee(variable) else { return };
    // The constant must stand before the variable, so it is not one of the editor's.
    let null = editor.id();
    let mut words = instruction(Op::ConstantNull, &[pointee, null]);
    let [_, pointer, result, class] = *variable.words else { return };
    words.extend(instruction(Op::Variable, &[pointer, result, class, null]));
    editor.replace(variable.at, words);
}

/// Scalar of a value.
struct Leaf {
    /// Constant indices that lead to it.
    path: Vec<u32>,
    ty: u32,
    is_float: bool,
}

/// The atomic accesses of a module.
struct AtomicAccesses<'a> {
    module: &'a Module,
    editor: Editor<'a>,
    /// New ids of loaded values, by the results of the loads.
    loaded: BTreeMap<u32, u32>,
    /// Variables that are declared with integers in place of floats.
    retyped: BTreeSet<u32>,
    /// Largest scope of an atomic.
    device: Scope,
}

impl<'a> AtomicAccesses<'a> {
    fn new(module: &'a Module) -> AtomicAccesses<'a> {
        let has = |wanted: Capability| {
            let mut capabilities = module.section(Section::Capabilities);
            capabilities.any(|i| i.operand(0) == Some(wanted.word()))
        };
        // The device scope takes a feature of its own in the Vulkan memory model.
        let is_narrow = has(Capability::VulkanMemoryModel) && !has(Capability::VulkanMemoryModelDeviceScope);
        let device = if is_narrow { Scope::QueueFamily } else { Scope::Device };
        let (editor, loaded, retyped) = (Editor::new(module), BTreeMap::new(), BTreeSet::new());
        AtomicAccesses { module, editor, loaded, retyped, device }
    }

    /// Lets the variables of an access hold integers in place of floats, if it accesses floats.
    fn retype(&mut self, i: Instruction<'_>) -> Result<(), String> {
        for pointer in pointers(i) {
            let has_floats = self.leaves(pointer).is_ok_and(|(leaves, _)| leaves.iter().any(|leaf| leaf.is_float));
            if has_floats {
                let base = base_variable(self.module, pointer);
                let (variable, _) = base.ok_or("an access to floats at an unknown pointer has no atomic access")?;
                self.retyped.insert(variable);
            }
        }
        Ok(())
    }

    /// Returns true if an instruction accesses a variable with integers in place of floats.
    fn is_retyped(&self, i: &Instruction<'_>) -> bool {
        pointers(*i).any(|pointer| self.is_in_retyped(pointer))
    }

    fn is_in_retyped(&self, pointer: u32) -> bool {
        base_variable(self.module, pointer).is_some_and(|(variable, _)| self.retyped.contains(&variable))
    }

    /// Returns the words of an atomic with the scope of the others: accesses from outside of a narrower one
    /// would race.
    fn widened(&mut self, i: Instruction<'_>) -> Vec<u32> {
        let order = i.operand(0).map(|pointer| self.order(pointer));
        let mut words = substituted(self.module, &i, i.words.to_vec(), &self.loaded);
        let scope = if i.result().is_some() { 4 } else { 2 };
        if let (Some([wide, _]), Some(scope)) = (order, words.get_mut(scope)) {
            *scope = wide;
        }
        words
    }

    /// Returns the atomic accesses in place of a load, a store or a copy.
    fn access(&mut self, i: Instruction<'_>) -> Result<Vec<u32>, String> {
        let no_access = || format!("{} of this type has no atomic access", i.op.map_or("?", Op::name));
        let operand = |at: usize| i.operand(at).ok_or_else(no_access);
        let mut code = Vec::new();
        match i.op {
            Some(Op::Load) => {
                let value = self.load(&mut code, operand(0)?)?;
                self.loaded.insert(i.result().ok_or_else(no_access)?, value);
            }
            Some(Op::Store) => {
                let (pointer, value) = (operand(0)?, operand(1)?);
                let is_null = self.module.definition_of(value).is_some_and(|made| made.op == Some(Op::ConstantNull));
                match self.leaves(pointer) {
                    // The variable holds zeros at first.
                    Err(_) if is_null && self.class(pointer) == Some(StorageClass::Workgroup) => {}
                    _ => self.store(&mut code, pointer, value)?,
                }
            }
            _ => {
                let value = self.load(&mut code, operand(1)?)?;
                self.store(&mut code, operand(0)?, value)?;
            }
        }
        Ok(code)
    }

    /// Emits atomic loads of a value's scalars; returns the value.
    fn load(&mut self, code: &mut Vec<u32>, pointer: u32) -> Result<u32, String> {
        let (leaves, pointee) = self.leaves(pointer)?;
        let mut values = Vec::new();
        for leaf in &leaves {
            let place = self.place(code, pointer, leaf);
            let [scope, relaxed] = self.order(pointer);
            let bits = self.memory_type(pointer, leaf);
            let loaded = self.emit(code, Op::AtomicLoad, bits, &[place, scope, relaxed]);
            values.push(if bits == leaf.ty { loaded } else { self.emit(code, Op::Bitcast, leaf.ty, &[loaded]) });
        }
        Ok(self.composed(code, pointee, &mut values.into_iter()))
    }

    /// Emits atomic stores of a value's scalars.
    fn store(&mut self, code: &mut Vec<u32>, pointer: u32, value: u32) -> Result<(), String> {
        let (leaves, _) = self.leaves(pointer)?;
        let value = self.current(value);
        for leaf in &leaves {
            let part = match leaf.path[..] {
                [] => value,
                _ => self.emit(code, Op::CompositeExtract, leaf.ty, &[&[value], &leaf.path[..]].concat()),
            };
            let bits = self.memory_type(pointer, leaf);
            let part = if bits == leaf.ty { part } else { self.emit(code, Op::Bitcast, bits, &[part]) };
            let place = self.place(code, pointer, leaf);
            let [scope, relaxed] = self.order(pointer);
            code.extend(instruction(Op::AtomicStore, &[place, scope, relaxed, part]));
        }
        Ok(())
    }

    /// Returns the id that holds the value of an id of the module.
    fn current(&self, id: u32) -> u32 {
        self.loaded.get(&id).copied().unwrap_or(id)
    }

    /// Emits an instruction with a result; returns its id.
    fn emit(&mut self, code: &mut Vec<u32>, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.editor.id();
        code.extend(instruction(op, &[&[ty, id], operands].concat()));
        id
    }

    /// Returns a constant of 32 bits.
    fn word(&mut self, value: u32) -> u32 {
        let uint = self.editor.uint(32);
        self.editor.constant(uint, 32, value.into())
    }

    /// Returns the scope and the semantics of an atomic at a pointer.
    fn order(&mut self, pointer: u32) -> [u32; 2] {
        let scope = match self.class(pointer) {
            Some(StorageClass::Workgroup) => Scope::Workgroup,
            _ => self.device,
        };
        [self.word(scope as u32), self.word(0)]
    }

    fn class(&self, pointer: u32) -> Option<StorageClass> {
        self.module.type_of(pointer).and_then(|ty| Some(self.module.pointer(ty)?.0))
    }

    /// Returns the type in memory of a scalar.
    fn memory_type(&mut self, pointer: u32, leaf: &Leaf) -> u32 {
        if leaf.is_float && self.is_in_retyped(pointer) { self.editor.uint(32) } else { leaf.ty }
    }

    /// Emits a pointer to a scalar.
    fn place(&mut self, code: &mut Vec<u32>, pointer: u32, leaf: &Leaf) -> u32 {
        let pointer = self.current(pointer);
        let class = self.class(pointer).filter(|_| !leaf.path.is_empty());
        let Some(class) = class else { return pointer };
        let bits = self.memory_type(pointer, leaf);
        let ty = self.editor.pointer(class, bits);
        let path: Vec<u32> = leaf.path.iter().map(|index| self.word(*index)).collect();
        let place = self.emit(code, Op::AccessChain, ty, &[&[pointer], &path[..]].concat());
        if self.module.decorations(pointer).any(|d| d.decoration == Some(Decoration::NonUniform)) {
            self.editor.annotate(Op::Decorate, &[place, Decoration::NonUniform.word()]);
        }
        place
    }

    /// Returns the scalars of the value at a pointer, in order, and its type.
    fn leaves(&self, pointer: u32) -> Result<(Vec<Leaf>, TypeId), String> {
        let pointee = self.module.type_of(pointer).and_then(|ty| self.module.pointer(ty)?.1);
        let pointee = pointee.ok_or("an access at an unknown pointer has no atomic access")?;
        let mut leaves = Vec::new();
        self.find_leaves(pointee, &mut Vec::new(), &mut leaves)?;
        Ok((leaves, pointee))
    }

    fn find_leaves(&self, ty: TypeId, path: &mut Vec<u32>, leaves: &mut Vec<Leaf>) -> Result<(), String> {
        if let Some(parts) = parts(self.module, ty) {
            for (index, part) in (0..).zip(parts) {
                path.push(index);
                self.find_leaves(part, path, leaves)?;
                path.pop();
            }
            return Ok(());
        }
        let scalar = ScalarOrVector::of(self.module, ty).filter(|of| of.count == 1 && of.width == 32);
        let scalar =
            scalar.ok_or("memory that invocations share has scalars of other than 32 bits, or a large array")?;
        if leaves.len() == MOST_SCALARS {
            return Err(format!("an access to memory that invocations share has more than {MOST_SCALARS} scalars"));
        }
        let is_float = scalar.kind == ComponentKind::Float;
        leaves.push(Leaf { path: path.clone(), ty: scalar.ty, is_float });
        Ok(())
    }

    /// Emits a value of a type from its scalars.
    fn composed(&mut self, code: &mut Vec<u32>, ty: TypeId, scalars: &mut impl Iterator<Item = u32>) -> u32 {
        let Some(types) = parts(self.module, ty) else { return scalars.next().unwrap_or_default() };
        let values: Vec<u32> = types.into_iter().map(|part| self.composed(code, part, scalars)).collect();
        let declared = self.module.type_definition(ty).result().unwrap_or_default();
        self.emit(code, Op::CompositeConstruct, declared, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::{
        AtomicOrder, Buffer, Dispatch, FaultKind, Limits, Outcome, Program, Resource, Slot, SpecValues,
    };
    use assay_testkit::{spirv_val, wgsl};

    /// A shader whose invocations exchange values of many types, in a given way.
    fn shader(at: &str, barrier: &str) -> Module {
        wgsl(&format!(
            "struct Inner {{ turn: mat3x2<f32>, parts: array<vec3<f32>, 2>, count: u32 }}
            struct Cell {{ place: vec4<f32>, inner: Inner, sign: i32 }}
            struct Header {{ scale: f32, cells: array<Cell> }}
            @group(0) @binding(0) var<storage, read_write> memory: Header;
            @group(0) @binding(1) var<storage, read_write> turns: array<mat4x3<f32>>;
            var<workgroup> sums: array<vec2<f32>, 64>;
            var<workgroup> total: atomic<i32>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
                let other = {at};
                sums[i] = vec2(memory.cells[i].place.y, f32(i));
                atomicAdd(&total, memory.cells[i].sign);
                {barrier}
                let sum = sums[other].x + sums[other].y * memory.scale;
                turns[i] = turns[i] * 2.0;
                let turned = memory.cells[other].inner.turn;
                let copy = memory.cells[i].inner;
                {barrier}
                memory.cells[i].place = vec4(sum, turned[1], copy.turn[2].x);
                memory.cells[i].inner.parts[1] = copy.parts[0] + vec3(f32(arrayLength(&memory.cells)));
                turns[other][1].z = 3.0;
            }}"
        ))
    }

    fn run(module: &Module) -> Outcome {
        let program = Program::new(module, "main", &SpecValues::default()).unwrap();
        let memory = |bytes: u16| {
            let words = (0..bytes / 4).map(f32::from).flat_map(f32::to_le_bytes).collect();
            Resource::Buffer(Buffer { data: words, address: None })
        };
        let bindings = [(Slot::new(0, 0), memory(16 + 8 * 112)), (Slot::new(0, 1), memory(8 * 64))].into();
        let dispatch = Dispatch { bindings, atomic_order: AtomicOrder::Interpreted, ..Dispatch::default() };
        program.run(&dispatch, &Limits::default()).unwrap()
    }

    fn variant(module: &Module) -> Module {
        let made = with_atomic_accesses(module, "main", [8, 1, 1]).unwrap();
        // An old validator does not know that the source is WGSL.
        let mut editor = Editor::new(&made);
        made.instructions().filter(|i| i.op == Some(Op::Source)).for_each(|i| editor.replace(i.at, Vec::new()));
        if let Some(valid) = spirv_val(&editor.finish(), &["--target-env", "vulkan1.3"]) {
            valid.unwrap();
        }
        made
    }

    #[test]
    fn the_variant_of_a_shader_without_races_gives_its_results() {
        let module = shader("(i + 3u) % 8u", "workgroupBarrier(); storageBarrier();");
        let (before, after) = (run(&module), run(&variant(&module)));
        assert_eq!((&before.faults[..], &after.faults[..]), (&[][..], &[][..]));
        for slot in [Slot::new(0, 0), Slot::new(0, 1)] {
            let [before, after] = [&before, &after].map(|outcome| &outcome.memory[&slot]);
            assert_eq!((before.bytes(), before.cells()), (after.bytes(), after.cells()), "{slot:?}");
        }
    }

    #[test]
    fn the_variant_of_a_shader_with_races_has_none() {
        let module = shader("0u", "");
        let kinds: BTreeSet<FaultKind> = run(&module).faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::DataRace].into());
        assert_eq!(run(&variant(&module)).faults, []);
    }

    /// Accesses of another workgroup would race with an atomic of the scope of one.
    #[test]
    fn atomics_get_the_scope_of_all_that_share_the_memory() {
        let shader = assay_testkit::Shader {
            buffers: &[("%data", "%ublocks")],
            body: "%first = OpAccessChain %puint %data %zero %zero
                %old = OpAtomicIAdd %uint %first %two %zero %one
                OpAtomicStore %first %two %zero %old
                %value = OpLoad %uint %first
                OpStore %first %value",
            ..assay_testkit::Shader::default()
        };
        let made = with_atomic_accesses(&shader.module(), "main", [8, 1, 1]).unwrap();
        let scope = |i: Instruction<'_>| made.constant_int(i.operand(1).unwrap());
        let atomics = made.instructions().filter(|i| i.op.is_some_and(|op| op.name().starts_with("OpAtomic")));
        let scopes: Vec<Option<i64>> = atomics.map(scope).collect();
        assert_eq!(scopes, [Some(Scope::Device as i64); 4]);
    }

    /// Some invocations wait at a barrier that the others do not reach.
    #[test]
    fn barriers_that_may_be_missed_are_removed() {
        let module = shader("i", "if memory.scale > f32(i) { workgroupBarrier(); }");
        let barriers = |module: &Module| module.instructions().filter(|i| i.op == Some(Op::ControlBarrier)).count();
        assert!(barriers(&module) > barriers(&variant(&module)));
        assert_eq!(barriers(&variant(&module)), 0);
    }

    #[test]
    fn memory_without_atomic_accesses_is_refused() {
        let refused = |text: &str| with_atomic_accesses(&wgsl(text), "main", [8, 1, 1]).unwrap_err();
        let texels = "@group(0) @binding(0) var image: texture_storage_2d<r32float, read_write>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
                let texel = textureLoad(image, vec2(i + 1u, 0u));
                textureStore(image, vec2(i, 0u), texel);
            }";
        assert!(refused(texels).contains("texels"), "{}", refused(texels));
        let halves = "enable f16; @group(0) @binding(0) var<storage, read_write> data: array<f16>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { data[i] = data[i + 1u]; }";
        assert!(refused(halves).contains("32 bits"), "{}", refused(halves));
    }
}
