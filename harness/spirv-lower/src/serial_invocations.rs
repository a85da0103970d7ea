//! Execution of all invocations of a dispatch one after another, in one invocation.

use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::grammar::{InstructionClass, Version};
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::{BuiltIn, Decoration, ExecutionMode, Op, StorageClass};

/// A dispatch of the original shader.
#[derive(Clone, Copy, Debug)]
pub struct SerialDispatch {
    /// Invocations of a workgroup along x, y and z.
    pub local: [u32; 3],
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
}

impl SerialDispatch {
    /// Returns the number of its invocations.
    pub fn invocations(&self) -> u64 {
        self.local.iter().chain(&self.groups).map(|n| u64::from(*n)).product()
    }
}

/// Returns the module's words with an entry point of one invocation that executes those of a
/// dispatch in the order of their workgroups and local indices; `None` if that is not possible: the
/// shader synchronises invocations, or uses inputs of subgroups.
///
/// Invocations that race have undefined behaviour. One after another, they have the behaviour of one
/// permitted order, so that a device can be judged by the code of a shader that races.
///
/// # Limits
/// Private variables without an initialiser keep the value of the invocation before.
pub fn with_serial_invocations(module: &Module, entry: &str, dispatch: SerialDispatch) -> Option<Vec<u32>> {
    let entry = module.section(Section::EntryPoints).find(|i| module.string_at(*i, 2) == entry)?;
    let main = entry.operand(1)?;
    if module.section(Section::EntryPoints).count() > 1 || synchronises(module) {
        return None;
    }
    let invocations = u32::try_from(dispatch.invocations()).ok()?;
    let mut editor = Editor::new(module);
    let inputs = private_inputs(&mut editor, module)?;
    let serial = Loop { dispatch, invocations, inputs, main }.define(&mut editor, module)?;
    replace_entry_point(&mut editor, module, entry, serial.id);
    let mut words = editor.finish();
    words.extend(serial.function);
    Some(words)
}

/// Returns true if invocations depend on each other other than by memory.
fn synchronises(module: &Module) -> bool {
    use InstructionClass::{Derivative, Group, NonUniform};
    module.instructions().any(|i| {
        let class = i.op.map(|op| op.info().class);
        let is_shared = i.op == Some(Op::Variable) && i.operand(0) == Some(StorageClass::Workgroup.word());
        i.op == Some(Op::ControlBarrier)
            || is_shared
            || class.is_some_and(|c| [Derivative, Group, NonUniform].contains(&c))
    })
}

/// An input of an invocation.
struct Input {
    built_in: BuiltIn,
    variable: u32,
    ty: ScalarOrVector,
}

/// Makes the inputs private variables. Returns `None` if there is one that no order defines.
fn private_inputs(editor: &mut Editor<'_>, module: &Module) -> Option<Vec<Input>> {
    use BuiltIn::{
        GlobalInvocationId, LocalInvocationId, LocalInvocationIndex, NumWorkgroups, WorkgroupId, WorkgroupSize,
    };
    let mut inputs = Vec::new();
    for i in module.section(Section::Annotations).filter(|i| i.op == Some(Op::Decorate)) {
        let [variable, decoration, built_in] = *i.operands() else { continue };
        if decoration != Decoration::BuiltIn.word() {
            continue;
        }
        // The size of a workgroup stays a constant.
        editor.replace(i.at, Vec::new());
        if built_in == WorkgroupSize.word() {
            continue;
        }
        let known = [GlobalInvocationId, LocalInvocationId, LocalInvocationIndex, NumWorkgroups, WorkgroupId];
        let built_in = known.into_iter().find(|known| known.word() == built_in)?;
        let definition = module.definition_of(variable)?;
        let pointee = module.pointee(definition)?;
        let ty = ScalarOrVector::of(module, module.type_declared(pointee)?)?;
        if !matches!(ty.kind, ComponentKind::Int { .. }) || ty.width != 32 {
            return None;
        }
        editor.set_storage_class(definition, StorageClass::Private);
        inputs.push(Input { built_in, variable, ty });
    }
    let is_input = |i: &Instruction<'_>| i.op == Some(Op::Variable) && i.operand(0) == Some(StorageClass::Input.word());
    let mut others = module.section(Section::Globals).filter(is_input);
    others.all(|i| inputs.iter().any(|input| i.result() == Some(input.variable))).then_some(inputs)
}

/// The entry point that executes the invocations.
struct Loop {
    dispatch: SerialDispatch,
    invocations: u32,
    inputs: Vec<Input>,
    /// The function of the original entry point.
    main: u32,
}

/// A new function.
struct NewFunction {
    id: u32,
    function: Vec<u32>,
}

/// Code of the loop's body.
struct Body<'a, 'm> {
    editor: &'a mut Editor<'m>,
    code: Vec<u32>,
    uint: u32,
}

impl Body<'_, '_> {
    fn emit(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.editor.id();
        self.code.extend(instruction(op, &[&[ty, id], operands].concat()));
        id
    }

    fn number(&mut self, value: u32) -> u32 {
        self.editor.constant(self.uint, 32, value.into())
    }

    /// Returns the coordinates of an element by its index.
    fn coordinates(&mut self, index: u32, sizes: [u32; 3]) -> [u32; 3] {
        let mut rest = index;
        std::array::from_fn(|axis| {
            let size = self.number(sizes[axis]);
            let is_last = sizes[axis + 1..].iter().all(|size| *size == 1);
            match sizes[axis] {
                1 => self.number(0),
                _ if is_last => rest,
                _ => {
                    let coordinate = self.emit(Op::UMod, self.uint, &[rest, size]);
                    rest = self.emit(Op::UDiv, self.uint, &[rest, size]);
                    coordinate
                }
            }
        })
    }

    /// Stores a number or a vector to an input.
    fn store(&mut self, input: &Input, components: &[u32]) {
        let value = match components {
            [one] => *one,
            all => {
                let vector = self.editor.vector(self.uint, all.len() as u32);
                self.emit(Op::CompositeConstruct, vector, all)
            }
        };
        let is_signed = input.ty.kind == ComponentKind::Int { signed: true };
        let value = if is_signed { self.emit(Op::Bitcast, input.ty.ty, &[value]) } else { value };
        self.code.extend(instruction(Op::Store, &[input.variable, value]));
    }
}

impl Loop {
    /// Defines the function; returns `None` if an input has an unusual type.
    fn define(&self, editor: &mut Editor<'_>, module: &Module) -> Option<NewFunction> {
        let (void, uint, bool) = (editor.void(), editor.uint(32), editor.bool());
        let function_type = editor.function_type(void, &[]);
        let [id, start, header, condition, continued, merge] = std::array::from_fn(|_| editor.id());
        let [index, next, is_left, body, called] = std::array::from_fn(|_| editor.id());
        let [zero, one, all] = [0, 1, self.invocations].map(|n| editor.constant(uint, 32, n.into()));
        let invocation = self.body(&mut Body { editor, code: Vec::new(), uint }, module, index)?;
        let mut function = Vec::new();
        let mut emit = |op, operands: &[u32]| function.extend(instruction(op, operands));
        emit(Op::Function, &[void, id, 0, function_type]);
        emit(Op::Label, &[start]);
        emit(Op::Branch, &[header]);
        emit(Op::Label, &[header]);
        emit(Op::Phi, &[uint, index, zero, start, next, continued]);
        emit(Op::LoopMerge, &[merge, continued, 0]);
        emit(Op::Branch, &[condition]);
        emit(Op::Label, &[condition]);
        emit(Op::ULessThan, &[bool, is_left, index, all]);
        emit(Op::BranchConditional, &[is_left, body, merge]);
        emit(Op::Label, &[body]);
        function.extend(invocation);
        let mut emit = |op, operands: &[u32]| function.extend(instruction(op, operands));
        emit(Op::FunctionCall, &[void, called, self.main]);
        emit(Op::Branch, &[continued]);
        emit(Op::Label, &[continued]);
        emit(Op::IAdd, &[uint, next, index, one]);
        emit(Op::Branch, &[header]);
        emit(Op::Label, &[merge]);
        emit(Op::Return, &[]);
        emit(Op::FunctionEnd, &[]);
        Some(NewFunction { id, function })
    }

    /// Returns the code that sets the inputs and the private variables of an invocation.
    fn body(&self, body: &mut Body<'_, '_>, module: &Module, index: u32) -> Option<Vec<u32>> {
        let SerialDispatch { local, groups } = self.dispatch;
        let size = body.number(local.iter().product());
        let local_index = body.emit(Op::UMod, body.uint, &[index, size]);
        let group_index = body.emit(Op::UDiv, body.uint, &[index, size]);
        let at = body.coordinates(local_index, local);
        let group = body.coordinates(group_index, groups);
        for input in &self.inputs {
            let global = |body: &mut Body<'_, '_>, axis: usize| match (local[axis], groups[axis]) {
                (_, 1) => at[axis],
                (1, _) => group[axis],
                (size, _) => {
                    let size = body.number(size);
                    let first = body.emit(Op::IMul, body.uint, &[group[axis], size]);
                    body.emit(Op::IAdd, body.uint, &[first, at[axis]])
                }
            };
            let components = match input.built_in {
                BuiltIn::LocalInvocationIndex => vec![local_index],
                BuiltIn::LocalInvocationId => at.to_vec(),
                BuiltIn::WorkgroupId => group.to_vec(),
                BuiltIn::NumWorkgroups => groups.map(|n| body.number(n)).to_vec(),
                _ => (0..3).map(|axis| global(body, axis)).collect(),
            };
            if components.len() != input.ty.count as usize {
                return None;
            }
            body.store(input, &components);
        }
        for variable in module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)) {
            if let [class, initial] = *variable.operands()
                && class == StorageClass::Private.word()
            {
                body.code.extend(instruction(Op::Store, &[variable.result()?, initial]));
            }
        }
        Some(std::mem::take(&mut body.code))
    }
}

/// Gives the entry point another function of one invocation.
fn replace_entry_point(editor: &mut Editor<'_>, module: &Module, entry: Instruction<'_>, function: u32) {
    let main = entry.operand(1).unwrap_or_default();
    let at = super::interface_at(entry);
    let mut words = entry.words[..at].to_vec();
    words[2] = function;
    // Earlier interfaces have inputs and outputs only.
    if module.version() >= (Version { major: 1, minor: 4 }) {
        words.extend_from_slice(&entry.words[at..]);
    }
    words[0] = (words.len() as u32) << 16 | Op::EntryPoint as u32;
    editor.replace(entry.at, words);
    let is_size = |mode: Option<u32>| {
        [ExecutionMode::LocalSize, ExecutionMode::LocalSizeId].iter().any(|size| mode == Some(size.word()))
    };
    let mut has_size = false;
    for mode in module.section(Section::ExecutionModes).filter(|i| i.operand(0) == Some(main)) {
        let mut words = mode.words.to_vec();
        words[1] = function;
        if is_size(mode.operand(1)) {
            words = match has_size {
                true => Vec::new(),
                false => instruction(Op::ExecutionMode, &[function, ExecutionMode::LocalSize.word(), 1, 1, 1]),
            };
            has_size = true;
        }
        editor.replace(mode.at, words);
    }
}
