//! Variables whose floats are integers in a variant of a shader.
//!
//! Atomic loads and stores of floats take a feature of the device (`shaderBufferFloat32Atomics`,
//! `shaderSharedFloat32Atomics`) that many lack; those of integers do not. So the variant declares such
//! variables with a type in which an integer stands for each float, and accesses the bits.

use crate::base_variable::base_variable;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, substituted};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Declares variables with integers in place of floats, and lets the access chains into them have matching
/// types. Their loads and stores are left to the caller, who has given the loaded values new ids.
///
/// # Errors
/// The memory has floats of other than 32 bits or matrices in rows, or is used by more than accesses.
pub(crate) fn declare(
    module: &Module,
    editor: &mut Editor<'_>,
    (variables, loaded): (&BTreeSet<u32>, &BTreeMap<u32, u32>),
) -> Result<(), String> {
    let mut types = IntegerTypes { module, made: BTreeMap::new() };
    for variable in variables {
        let unknown = || "memory that invocations share has no known variable".to_owned();
        let declared = module.definition_of(*variable).ok_or_else(unknown)?;
        let ty = module.type_of(*variable).and_then(|ty| module.pointer(ty)).ok_or_else(unknown)?;
        let (class, Some(pointee)) = ty else { return Err(unknown()) };
        let pointee = types.of(editor, pointee, None)?;
        let pointer = editor.pointer(class, pointee);
        // The types stand behind all declarations of the module.
        editor.replace(declared.at, Vec::new());
        let mut operands = vec![pointer, *variable, class.word()];
        if class == StorageClass::Workgroup {
            operands.push(editor.null(pointee));
        }
        editor.append_global(Op::Variable, &operands);
    }
    for i in module.instructions() {
        if let Some(words) = types.adapted(editor, i, variables)? {
            editor.replace(i.at, substituted(module, &i, words, loaded));
        }
    }
    Ok(())
}

/// Types in which an integer stands for each float.
struct IntegerTypes<'a> {
    module: &'a Module,
    /// The types, as raw ids, by the original and the stride of matrices in it.
    made: BTreeMap<(TypeId, Option<u32>), u32>,
}

impl IntegerTypes<'_> {
    /// Returns the type for a type; the type itself if it contains no float. `stride` is that of the columns of
    /// matrices.
    fn of(&mut self, editor: &mut Editor<'_>, ty: TypeId, stride: Option<u32>) -> Result<u32, String> {
        let declared = self.module.type_definition(ty).result().unwrap_or_default();
        if let Some(made) = self.made.get(&(ty, stride)) {
            return Ok(*made);
        }
        let made = match *self.module.ty(ty) {
            Type::Float { width: 32, .. } => editor.uint(32),
            Type::Float { .. } => {
                return Err("memory that invocations share has floats of other than 32 bits".to_owned());
            }
            Type::Vector { component, count } => {
                let component = self.of(editor, component, None)?;
                editor.vector(component, count)
            }
            Type::Matrix { column, count } => {
                let (column, uint) = (self.of(editor, column, None)?, editor.uint(32));
                let (array, count) = (editor.id(), editor.constant(uint, 32, count.into()));
                editor.append_global(Op::TypeArray, &[array, column, count]);
                if let Some(stride) = stride {
                    editor.annotate(Op::Decorate, &[array, Decoration::ArrayStride.word(), stride]);
                }
                array
            }
            Type::Array { element, .. } | Type::RuntimeArray { element } => {
                let part = self.of(editor, element, stride)?;
                let array = self.module.type_definition(ty);
                match Some(part) == self.module.type_definition(element).result() {
                    true => declared,
                    false => self.with_parts(editor, &array, array.operands().get(1).copied(), &[part]),
                }
            }
            Type::Struct { .. } => self.structure(editor, ty, declared)?,
            _ => declared,
        };
        self.made.insert((ty, stride), made);
        Ok(made)
    }

    /// Declares a type like another one, with other parts.
    fn with_parts(&self, editor: &mut Editor<'_>, like: &Instruction<'_>, length: Option<u32>, parts: &[u32]) -> u32 {
        let id = editor.id();
        let op = like.op.unwrap_or(Op::TypeStruct);
        editor.append_global(op, &[&[id], parts, length.as_slice()].concat());
        editor.copy_decorations(like.result().unwrap_or_default(), id);
        id
    }

    fn structure(&mut self, editor: &mut Editor<'_>, ty: TypeId, declared: u32) -> Result<u32, String> {
        let module = self.module;
        let decorations = || module.decorations(declared).filter(|d| d.member.is_some());
        if decorations().any(|d| d.decoration == Some(Decoration::RowMajor)) {
            return Err("memory that invocations share has matrices in rows".to_owned());
        }
        let mut parts = Vec::new();
        for (member, part) in (0..).zip(module.members(ty)) {
            parts.push(self.of(editor, *part, self.matrix_stride(declared, member))?);
        }
        if module.type_definition(ty).operands() == parts {
            return Ok(declared);
        }
        let made = self.with_parts(editor, &module.type_definition(ty), None, &parts);
        for decorated in decorations() {
            let (Some(member), Some(decoration)) = (decorated.member, decorated.decoration) else { continue };
            if !matches!(decoration, Decoration::MatrixStride | Decoration::ColMajor) {
                let operands = [&[made, member, decoration.word()], decorated.operands].concat();
                editor.annotate(Op::MemberDecorate, &operands);
            }
        }
        Ok(made)
    }

    /// Returns the words of an access chain into a variable, which point to the new type of its part; `None` for
    /// an instruction that stays.
    ///
    /// # Errors
    /// The instruction uses a pointer into a variable in a way that fits floats only.
    fn adapted(
        &mut self,
        editor: &mut Editor<'_>,
        i: Instruction<'_>,
        variables: &BTreeSet<u32>,
    ) -> Result<Option<Vec<u32>>, String> {
        let leads =
            |id: &u32| base_variable(self.module, *id).is_some_and(|(variable, _)| variables.contains(&variable));
        match i.op {
            Some(Op::AccessChain | Op::InBoundsAccessChain) if i.operand(0).as_ref().is_some_and(leads) => {}
            Some(Op::Load | Op::Store | Op::CopyMemory | Op::ArrayLength | Op::EntryPoint | Op::Variable) => {
                return Ok(None);
            }
            // Debug information may name a variable.
            Some(Op::ExtInst) => return Ok(None),
            Some(op) if op.name().starts_with("OpAtomic") => {
                let value = i.operands().iter().filter_map(|id| self.module.type_of(*id));
                let of_floats = value.chain(i.result_type().and_then(|ty| self.module.type_declared(ty)));
                let is_float = of_floats.into_iter().any(|ty| matches!(self.module.ty(ty), Type::Float { .. }));
                return match is_float && i.operands().iter().any(leads) {
                    true => Err("memory that invocations share has atomics on floats".to_owned()),
                    false => Ok(None),
                };
            }
            _ if self.module.function_at(i.index).is_some() && self.module.id_operands(i).iter().any(leads) => {
                return Err("a pointer to memory that invocations share is no operand of an access".to_owned());
            }
            _ => return Ok(None),
        }
        let pointer = i.result_type().and_then(|ty| self.module.pointer(self.module.type_declared(ty)?));
        let part = i.result().and_then(|result| self.part(result));
        let (Some((class, _)), Some((ty, stride))) = (pointer, part) else { return Ok(None) };
        let pointee = self.of(editor, ty, stride)?;
        let mut words = i.words.to_vec();
        words[1] = editor.pointer(class, pointee);
        Ok(Some(words))
    }

    /// Returns the stride of the matrices in a member of a structure.
    fn matrix_stride(&self, structure: u32, member: u32) -> Option<u32> {
        let mut decorations = self.module.decorations(structure);
        let found = decorations.find(|d| d.member == Some(member) && d.decoration == Some(Decoration::MatrixStride));
        found.and_then(|d| d.operands.first().copied())
    }

    /// Returns the type to which a pointer into a variable points, with the stride of matrices in it.
    fn part(&self, pointer: u32) -> Option<(TypeId, Option<u32>)> {
        let module = self.module;
        let (variable, indices) = base_variable(module, pointer)?;
        let mut part = (module.pointer(module.type_of(variable)?)?.1?, None);
        for index in indices {
            part = match *module.ty(part.0) {
                Type::Struct { .. } => {
                    let member = u32::try_from(module.constant_int(index)?).ok()?;
                    let structure = module.type_definition(part.0).result()?;
                    (*module.members(part.0).get(member as usize)?, self.matrix_stride(structure, member))
                }
                Type::Array { element, .. } | Type::RuntimeArray { element } => (element, part.1),
                Type::Matrix { column, .. } => (column, None),
                Type::Vector { component, .. } => (component, None),
                _ => return None,
            };
        }
        Some(part)
    }
}
