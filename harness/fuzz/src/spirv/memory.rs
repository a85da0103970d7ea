//! Variables, memory of workgroups, atomics, subgroups, and buffers with explicit layout.

use super::types::{Scalar, Type, U32};
use super::{COUNTS, Generator, RECORDS, SCRATCH, UNIFORMS, Value, Variable};
use std::fmt::Write;

/// Roundings of a float that comes from memory: unknown, so that no condition depends on it.
pub(super) const UNKNOWN: u32 = 2;

/// Storage class of a block of inputs that are equal for all invocations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockClass {
    PushConstant,
    Uniform,
}

impl Generator {
    /// Adds an access to a variable of the invocation.
    pub(super) fn memory(&mut self) {
        if self.variables.len() < 2 || self.chance(6) {
            let ty = self.any_type(true);
            if self.chance(4) {
                self.private_variable(&ty);
            } else {
                self.fresh_variable(&ty);
            }
        }
        let variable = self.variables[self.rng.usize(..self.variables.len())].clone();
        match self.rng.u32(..8) {
            0 | 1 => {
                let value = self.operand(&variable.ty).id;
                self.line(&format!("OpStore {} {value}", variable.id));
            }
            2 => self.load(&variable.id, &variable.ty),
            3 => {
                let like = |other: &&Variable| other.ty == variable.ty && other.id != variable.id;
                if let Some(from) = self.variables.iter().find(like).map(|other| other.id.clone()) {
                    self.line(&format!("OpCopyMemory {} {from}", variable.id));
                }
            }
            4 | 5 => {
                let (pointer, ty) = self.part(&variable);
                let value = self.operand(&ty).id;
                self.line(&format!("OpStore {pointer} {value}"));
            }
            _ => {
                let (pointer, ty) = self.part(&variable);
                self.load(&pointer, &ty);
            }
        }
    }

    fn load(&mut self, pointer: &str, ty: &Type) {
        let id = self.op(ty, "OpLoad", pointer);
        let roundings = if ty.has_float() { UNKNOWN } else { 0 };
        self.push(id, ty.clone(), roundings);
    }

    /// Returns a pointer to a part of a variable, and its type.
    fn part(&mut self, variable: &Variable) -> (String, Type) {
        let (mut ty, mut path) = (variable.ty.clone(), String::new());
        while !ty.constituents().is_empty() && (path.is_empty() || !self.chance(3)) {
            let parts = ty.constituents();
            let (index, part) = if let Type::Struct(_) = ty {
                let index = self.rng.usize(..parts.len());
                (self.module.constant_u32(index as u32), parts[index].clone())
            } else {
                (self.index_below(parts.len() as u32), parts[0].clone())
            };
            _ = write!(path, " {index}");
            ty = part;
        }
        if path.is_empty() {
            return (variable.id.clone(), ty);
        }
        let to = self.type_id(&ty);
        let (pointer, id) = (self.module.pointer(variable.class, &to), self.module.label());
        let opcode = self.pick(&["OpAccessChain", "OpInBoundsAccessChain"]);
        self.line(&format!("{id} = {opcode} {pointer} {}{path}", variable.id));
        (id, ty)
    }

    /// Declares a variable of the current function. It has a value from the start of the function.
    pub(super) fn fresh_variable(&mut self, ty: &Type) -> Variable {
        let type_id = self.type_id(ty);
        let (pointer, id) = (self.module.pointer("Function", &type_id), self.module.label());
        let value = self.plain_constant(ty);
        let [variables, stores] = &mut self.declared;
        if self.rng.bool() {
            _ = writeln!(variables, "{id} = OpVariable {pointer} Function {value}");
        } else {
            _ = writeln!(variables, "{id} = OpVariable {pointer} Function");
            _ = writeln!(stores, "OpStore {id} {value}");
        }
        let variable = Variable { id, ty: ty.clone(), class: "Function" };
        self.variables.push(variable.clone());
        variable
    }

    /// Declares a variable in the Private storage class, with an initializer.
    fn private_variable(&mut self, ty: &Type) {
        let type_id = self.type_id(ty);
        let value = self.plain_constant(ty);
        let id = self.module.initialised_variable("Private", &type_id, &value);
        self.variables.push(Variable { id, ty: ty.clone(), class: "Private" });
    }

    /// Adds an atomic whose result is not used. Each word has operations of one kind, so that the
    /// order does not matter.
    pub(super) fn atomic(&mut self) {
        let u32 = Type::Scalar(U32);
        let u32_id = self.module.u32();
        let counts = match self.counts.clone() {
            Some(counts) => counts,
            None => {
                let array = self.module.array(&u32_id, 16, Some(4));
                let block = self.module.block(&[(array, 0)], "Block");
                let counts = self.module.resource("StorageBuffer", &block, COUNTS);
                self.counts.insert(counts).clone()
            }
        };
        let (opcode, word) = self.pick(&[
            ("OpAtomicIAdd", 0),
            ("OpAtomicISub", 1),
            ("OpAtomicIIncrement", 2),
            ("OpAtomicIDecrement", 3),
            ("OpAtomicUMax", 8),
            ("OpAtomicUMin", 9),
            ("OpAtomicSMax", 10),
            ("OpAtomicSMin", 11),
            ("OpAtomicXor", 12),
            ("OpAtomicOr", 13),
            ("OpAtomicAnd", 14),
        ]);
        let zero = self.module.constant_u32(0);
        let index = if word < 4 { self.index_below(8) } else { self.module.constant_u32(word) };
        let pointer_type = self.module.pointer("StorageBuffer", &u32_id);
        let pointer = self.module.label();
        self.line(&format!("{pointer} = OpAccessChain {pointer_type} {counts} {zero} {index}"));
        // Words 0 to 7 take any of the sums, which commute with each other.
        let scope = self.module.constant_u32(1);
        let value = if opcode.ends_with("crement") { String::new() } else { self.operand(&u32).id };
        self.op(&u32, opcode, format!("{pointer} {scope} {zero} {value}").trim_end());
    }

    /// Adds an atomic at any index of a small buffer. The buffer may have any contents afterwards, but
    /// no other memory may change.
    pub(super) fn wild_atomic(&mut self) {
        let u32 = Type::Scalar(U32);
        let scratch = match self.scratch.clone() {
            Some(scratch) => scratch,
            None => {
                let scratch = self.buffer(U32, SCRATCH, "");
                self.scratch.insert(scratch).clone()
            }
        };
        let opcode = self.pick(&["OpAtomicIAdd", "OpAtomicOr", "OpAtomicUMax", "OpAtomicExchange", "OpAtomicISub"]);
        let (index, value) = (self.operand(&u32).id, self.operand(&u32).id);
        let u32_id = self.module.u32();
        let (zero, scope) = (self.module.constant_u32(0), self.module.constant_u32(1));
        let (pointer_type, pointer) = (self.module.pointer("StorageBuffer", &u32_id), self.module.label());
        self.line(&format!("{pointer} = OpAccessChain {pointer_type} {scratch} {zero} {index}"));
        self.op(&u32, opcode, format!("{pointer} {scope} {zero} {value}"));
    }

    /// Adds an exchange of values between all invocations of a workgroup.
    pub(super) fn exchange(&mut self) {
        let ty = self.any_type(true);
        let value = self.operand(&ty);
        let element = self.type_id(&ty);
        let array = self.module.array(&element, self.local, None);
        let variable = self.module.variable("Workgroup", &array);
        let pointer_type = self.module.pointer("Workgroup", &element);
        let u32 = Type::Scalar(U32);
        let (own, index) = (self.module.label(), self.local_index.clone());
        self.line(&format!("{own} = OpAccessChain {pointer_type} {variable} {index}"));
        self.line(&format!("OpStore {own} {}", value.id));
        let (scope, semantics) = (self.module.constant_u32(2), self.module.constant_u32(0x108));
        self.line(&format!("OpControlBarrier {scope} {scope} {semantics}"));
        let distance = self.rng.u32(..self.local);
        let (distance, size) = (self.module.constant_u32(distance), self.module.constant_u32(self.local));
        let sum = self.op(&u32, "OpIAdd", format!("{index} {distance}"));
        let other = self.op(&u32, "OpUMod", format!("{sum} {size}"));
        let pointer = self.module.label();
        self.line(&format!("{pointer} = OpAccessChain {pointer_type} {variable} {other}"));
        let id = self.op(&ty, "OpLoad", pointer);
        self.push(id, ty, value.roundings);
    }

    /// Adds an operation of a subgroup whose result is decided: all invocations that execute it have
    /// the same value.
    pub(super) fn agreement(&mut self, uniform: &Value) {
        let scope = self.module.constant_u32(3);
        self.module.capability("GroupNonUniform");
        let (opcode, operation) = self.pick(&[
            ("OpGroupNonUniformBroadcastFirst", ""),
            ("OpGroupNonUniformUMax", "Reduce "),
            ("OpGroupNonUniformUMin", "InclusiveScan "),
            ("OpGroupNonUniformBitwiseOr", "Reduce "),
        ]);
        self.module.capability(if operation.is_empty() {
            "GroupNonUniformBallot"
        } else {
            "GroupNonUniformArithmetic"
        });
        let id = self.op(&uniform.ty, opcode, format!("{scope} {operation}{}", uniform.id));
        self.push(id, uniform.ty.clone(), 0);
    }

    /// Adds an operation of a subgroup. Its result depends on the layout of the subgroup, so it is
    /// only stored.
    pub(super) fn subgroup(&mut self) {
        let scope = self.module.constant_u32(3);
        let truth = Type::Scalar(Scalar::Bool);
        self.module.capability("GroupNonUniform");
        let (id, ty, roundings) = match self.rng.u32(..6) {
            0 => {
                let name = self.pick(&["SubgroupId", "NumSubgroups", "SubgroupSize", "SubgroupLocalInvocationId"]);
                let u32_id = self.module.u32();
                let variable = self.module.builtin(name, &u32_id);
                let u32 = Type::Scalar(U32);
                (self.op(&u32, "OpLoad", variable), u32, 0)
            }
            1 => {
                self.module.capability("GroupNonUniformVote");
                let opcode = self.pick(&["OpGroupNonUniformAll", "OpGroupNonUniformAny"]);
                let value = self.operand(&truth).id;
                (self.op(&truth, opcode, format!("{scope} {value}")), truth, 0)
            }
            2 => {
                self.module.capability("GroupNonUniformVote");
                let of = self.number().times(self.count());
                let value = self.open_operand(&of).id;
                (self.op(&truth, "OpGroupNonUniformAllEqual", format!("{scope} {value}")), truth, 0)
            }
            3 => {
                self.module.capability("GroupNonUniformBallot");
                let ty = self.number().times(self.count());
                let value = self.operand(&ty);
                let (opcode, lane) = if self.chance(2) {
                    ("OpGroupNonUniformBroadcastFirst", String::new())
                } else {
                    ("OpGroupNonUniformBroadcast", self.module.constant_u32(0))
                };
                let id = self.op(&ty, opcode, format!("{scope} {} {lane}", value.id).trim_end());
                (id, ty, value.roundings)
            }
            _ => {
                self.module.capability("GroupNonUniformArithmetic");
                let scalar = self.number();
                let ty = scalar.times(self.count());
                let opcode = match scalar {
                    // Nothing is required of a sum.
                    Scalar::Float(_) => self.pick(&["OpGroupNonUniformFMax", "OpGroupNonUniformFMin"]),
                    Scalar::Int { signed: false, .. } if self.chance(4) => {
                        self.pick(&["OpGroupNonUniformUMin", "OpGroupNonUniformUMax"])
                    }
                    _ => self.pick(&[
                        "OpGroupNonUniformIAdd",
                        "OpGroupNonUniformIMul",
                        "OpGroupNonUniformSMin",
                        "OpGroupNonUniformSMax",
                        "OpGroupNonUniformBitwiseAnd",
                        "OpGroupNonUniformBitwiseOr",
                        "OpGroupNonUniformBitwiseXor",
                    ]),
                };
                let operation = self.pick(&["Reduce", "InclusiveScan", "ExclusiveScan"]);
                let value = self.open_operand(&ty);
                let id = self.op(&ty, opcode, format!("{scope} {operation} {}", value.id));
                (id, ty, value.roundings + 1)
            }
        };
        self.results.push(Value { id, ty, roundings });
    }

    /// Declares push constants or a uniform buffer, and loads them.
    pub(super) fn read_block(&mut self, class: BlockClass) {
        let mut scalars = vec![U32, super::types::I32];
        if self.features.floats {
            scalars.push(Scalar::Float(32));
        }
        let (mut members, mut offset, mut types) = (Vec::new(), 0, Vec::new());
        for _ in 0..self.rng.u32(1..=6) {
            let count = self.count();
            let ty = self.pick(&scalars).times(count);
            offset = u32::next_multiple_of(offset, 4 * count.next_power_of_two());
            members.push((self.type_id(&ty), offset));
            offset += 4 * count;
            types.push((ty, None));
        }
        if class == BlockClass::Uniform {
            // The elements of an array stand 16 bytes apart in a uniform buffer.
            let (count, length) = (self.count(), self.rng.u32(2..=8));
            let ty = self.pick(&scalars).times(count);
            let element = self.type_id(&ty);
            members.push((self.module.array(&element, length, Some(16)), offset.next_multiple_of(16)));
            types.push((ty, Some(length)));
        }
        let block = self.module.block(&members, "Block");
        let (class, variable) = match class {
            BlockClass::PushConstant => ("PushConstant", self.module.variable("PushConstant", &block)),
            BlockClass::Uniform => ("Uniform", self.module.resource("Uniform", &block, UNIFORMS)),
        };
        for (index, (ty, length)) in types.into_iter().enumerate() {
            let (to, index) = (self.type_id(&ty), self.module.constant_u32(index as u32));
            let element = length.map(|length| self.index_below(length)).unwrap_or_default();
            let (pointer, id) = (self.module.pointer(class, &to), self.module.label());
            self.line(format!("{id} = OpAccessChain {pointer} {variable} {index} {element}").trim_end());
            self.load(&id, &ty);
        }
    }

    /// Declares a buffer of a structure with explicit layout, and loads parts of it.
    pub(super) fn read_records(&mut self) {
        let members = self.rng.usize(1..=4);
        let composites = std::mem::replace(&mut self.features.composites, true);
        let (ints, reals) = (self.features.ints.clone(), self.features.real_widths.clone());
        // Smaller types would need further features of the device.
        self.features.ints.retain(|width| *width >= 32);
        self.features.real_widths.retain(|width| *width >= 32);
        let ty = Type::Struct((0..members).map(|_| self.any_type(false)).collect());
        (self.features.ints, self.features.real_widths, self.features.composites) = (ints, reals, composites);
        let laid_out = self.laid_out(&ty, false).id;
        let is_block = self.features.new && self.chance(2);
        // A block that is copied as a whole, or a structure inside a block.
        let block = if is_block {
            self.module.decorate(format!("{laid_out} Block"));
            laid_out.clone()
        } else {
            self.module.block(&[(laid_out.clone(), 0)], "Block")
        };
        let variable = self.module.resource("StorageBuffer", &block, RECORDS);
        self.module.decorate(format!("{variable} NonWritable"));
        let prefix = if is_block { String::new() } else { format!(" {}", self.module.constant_u32(0)) };
        if self.features.new && self.chance(2) {
            let (whole, id) = (self.module.label(), self.module.label());
            let mut from = variable.clone();
            if !is_block {
                let pointer = self.module.pointer("StorageBuffer", &laid_out);
                self.line(&format!("{id} = OpAccessChain {pointer} {variable}{prefix}"));
                from = id;
            }
            self.line(&format!("{whole} = OpLoad {laid_out} {from}"));
            let plain = self.op(&ty, "OpCopyLogical", whole);
            self.push(plain, ty.clone(), 0);
        }
        for _ in 0..self.rng.u32(1..=4) {
            // Down to a scalar, vector or matrix, whose types have no layout of their own.
            let (mut at, mut path) = (ty.clone(), prefix.clone());
            while let Type::Struct(_) | Type::Array(..) = at {
                let parts = at.constituents();
                let (index, part) = if let Type::Struct(_) = at {
                    let index = self.rng.usize(..parts.len());
                    (self.module.constant_u32(index as u32), parts[index].clone())
                } else {
                    (self.index_below(parts.len() as u32), parts[0].clone())
                };
                _ = write!(path, " {index}");
                at = part;
            }
            let to = self.type_id(&at);
            let (pointer, id) = (self.module.pointer("StorageBuffer", &to), self.module.label());
            self.line(&format!("{id} = OpAccessChain {pointer} {variable}{path}"));
            let value = if let (Type::Matrix { .. }, true) = (&at, self.features.functions && self.chance(2)) {
                self.through_pointer(&id, &at)
            } else {
                self.op(&at, "OpLoad", id)
            };
            self.push(value, at, 0);
        }
    }

    /// Loads a matrix of a buffer in a function that takes a pointer to it.
    fn through_pointer(&mut self, pointer: &str, ty: &Type) -> String {
        self.module.capability("VariablePointersStorageBuffer");
        let value_type = self.type_id(ty);
        let pointer_type = self.module.pointer("StorageBuffer", &value_type);
        let signature = self.module.declare(&format!("OpTypeFunction {value_type} {pointer_type}"));
        let [function, parameter, label, value] = std::array::from_fn(|_| self.module.label());
        self.module.function(format!(
            "{function} = OpFunction {value_type} None {signature}\n{parameter} = OpFunctionParameter \
             {pointer_type}\n{label} = OpLabel\n{value} = OpLoad {value_type} {parameter}\nOpReturnValue \
             {value}\nOpFunctionEnd"
        ));
        self.op(ty, "OpFunctionCall", format!("{function} {pointer}"))
    }
}
