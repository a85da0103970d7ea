//! Device addresses: pointers that memory holds, joined by selections, branches and loops, and the
//! buffers behind them.

use super::memory::UNKNOWN;
use super::types::{Scalar, Type, U32};
use super::{ADDRESSES, AddressedInput, Generator, INPUTS};

/// Names of the buffers behind the addresses: two to read, and one in which each invocation has
/// elements of its own.
const NAMES: [&str; 3] = ["left", "right", "own"];

/// The declarations that accesses by address need.
#[derive(Clone, Debug)]
pub(super) struct Addressed {
    /// Type of the elements.
    scalar: Scalar,
    /// Type of a pointer to the block, and of one to an element.
    block_pointer: String,
    element_pointer: String,
    /// Variable of the addresses.
    variable: String,
}

impl Generator {
    /// Declares the buffer of the addresses.
    pub(super) fn declare_addresses(&mut self) {
        let scalar = if self.features.floats && self.chance(2) { Scalar::Float(32) } else { U32 };
        self.module.capability("PhysicalStorageBufferAddresses");
        self.module.extension("SPV_KHR_physical_storage_buffer");
        self.module.memory_model("PhysicalStorageBuffer64 GLSL450");
        let element = self.scalar_id(scalar);
        let array = self.module.runtime_array(&element, 4);
        let block = self.module.block(&[(array, 0)], "Block");
        let block_pointer = self.module.pointer("PhysicalStorageBuffer", &block);
        let element_pointer = self.module.pointer("PhysicalStorageBuffer", &element);
        let members = (0..NAMES.len() as u32).map(|index| (block_pointer.clone(), 8 * index));
        let holder = self.module.block(&members.collect::<Vec<_>>(), "Block");
        let variable = self.module.resource("StorageBuffer", &holder, ADDRESSES);
        self.module.decorate(format!("{variable} NonWritable"));
        self.addressed = Some(Addressed { scalar, block_pointer, element_pointer, variable });
    }

    /// Returns the buffers behind the addresses, for this many invocations.
    pub(super) fn addressed_inputs(&mut self, invocations: u64) -> Vec<AddressedInput> {
        let Some(Addressed { scalar, .. }) = self.addressed else { return Vec::new() };
        let ty = if scalar == U32 { "u32" } else { "f32" };
        let input = |(index, name): (usize, &'static str)| AddressedInput {
            name,
            shape: format!("{}*{ty}", u64::from(INPUTS) * invocations),
            word: format!("0.{ADDRESSES}@{}", 8 * index),
            contents: self.mixed_contents(),
        };
        NAMES.into_iter().enumerate().map(input).collect()
    }

    /// Adds an access by address: to an element of one of two buffers, which a value, a branch or the
    /// turns of a loop select, or to the invocation's own elements.
    pub(super) fn reach(&mut self) {
        let Some(addressed) = self.addressed.clone() else { return };
        let ty = Type::Scalar(addressed.scalar);
        if self.chance(4) {
            return self.own_element(&addressed, &ty);
        }
        let [left, right] = [0, 1].map(|index| self.address(&addressed, index));
        let pointer = &addressed.block_pointer;
        let base = match self.rng.u32(..5) {
            0 => left,
            1 => {
                let condition = self.exact_operand(&Type::Scalar(Scalar::Bool)).id;
                let id = self.module.label();
                self.line(&format!("{id} = OpSelect {pointer} {condition} {left} {right}"));
                id
            }
            2 => {
                let condition = self.exact_operand(&Type::Scalar(Scalar::Bool)).id;
                let [other, merge, id] = std::array::from_fn(|_| self.module.label());
                let before = self.block.clone();
                self.line(&format!("OpSelectionMerge {merge} None\nOpBranchConditional {condition} {other} {merge}"));
                self.start_block(&other);
                self.line(&format!("OpBranch {merge}"));
                self.start_block(&merge);
                self.line(&format!("{id} = OpPhi {pointer} {left} {before} {right} {other}"));
                id
            }
            3 => return self.alternation(&addressed, [&left, &right]),
            _ => {
                let to = self.module.pointer("Function", pointer);
                let [id, loaded] = std::array::from_fn(|_| self.module.label());
                self.declared[0] += &format!("{id} = OpVariable {to} Function\n");
                self.module.decorate(format!("{id} AliasedPointer"));
                self.line(&format!("OpStore {id} {right}\n{loaded} = OpLoad {pointer} {id}"));
                loaded
            }
        };
        let index = self.index_below(INPUTS * self.local);
        let id = self.load_at(&addressed, &base, &index);
        self.push(id, ty, 0);
    }

    /// Adds a loop that reads the two buffers in turn: the sum of integers, the last one of floats.
    fn alternation(&mut self, addressed: &Addressed, [left, right]: [&str; 2]) {
        let (u32, ty) = (Type::Scalar(U32), Type::Scalar(addressed.scalar));
        let (u32_id, ty_id, pointer) = (self.module.u32(), self.type_id(&ty), &addressed.block_pointer);
        let (zero, one, first) = (self.module.constant_u32(0), self.module.constant_u32(1), self.literal(&ty, "0"));
        let (turns, index) = (self.index_below(8), self.index_below(INPUTS * self.local));
        let [header, again, merge, here, there, turn, next, value, new] = std::array::from_fn(|_| self.module.label());
        let before = self.block.clone();
        self.line(&format!("OpBranch {header}"));
        self.start_block(&header);
        self.line(&format!("{here} = OpPhi {pointer} {left} {before} {there} {again}"));
        self.line(&format!("{there} = OpPhi {pointer} {right} {before} {here} {again}"));
        self.line(&format!("{turn} = OpPhi {u32_id} {zero} {before} {next} {again}"));
        self.line(&format!("{value} = OpPhi {ty_id} {first} {before} {new} {again}"));
        let more = self.op(&Type::Scalar(Scalar::Bool), "OpULessThan", format!("{turn} {turns}"));
        self.line(&format!("OpLoopMerge {merge} {again} None\nOpBranchConditional {more} {again} {merge}"));
        self.start_block(&again);
        let element = self.load_at(addressed, &here, &index);
        self.line(&match addressed.scalar {
            Scalar::Float(_) => format!("{new} = OpCopyObject {ty_id} {element}"),
            _ => format!("{new} = OpIAdd {ty_id} {value} {element}"),
        });
        self.line(&format!("{next} = OpIAdd {u32_id} {turn} {one}\nOpBranch {header}"));
        self.start_block(&merge);
        self.push(turn, u32, 0);
        self.push(value, ty, 0);
    }

    /// Reads or writes an element that belongs to the invocation.
    fn own_element(&mut self, addressed: &Addressed, ty: &Type) {
        let base = self.address(addressed, 2);
        let (u32, part) = (Type::Scalar(U32), self.index_below(INPUTS));
        let (count, invocation) = (self.module.constant_u32(INPUTS), self.global_index.clone());
        let first = self.op(&u32, "OpIMul", format!("{invocation} {count}"));
        let index = self.op(&u32, "OpIAdd", format!("{first} {part}"));
        if self.chance(2) {
            let id = self.load_at(addressed, &base, &index);
            return self.push(id, ty.clone(), UNKNOWN);
        }
        let value = self.operand(ty).id;
        let at = self.element_at(addressed, &base, &index);
        self.line(&format!("OpStore {at} {value} Aligned 4"));
    }

    /// Loads the address of a buffer.
    fn address(&mut self, addressed: &Addressed, index: u32) -> String {
        let Addressed { block_pointer, variable, .. } = addressed;
        let (to, index) = (self.module.pointer("StorageBuffer", block_pointer), self.module.constant_u32(index));
        let [at, id] = std::array::from_fn(|_| self.module.label());
        self.line(&format!("{at} = OpAccessChain {to} {variable} {index}\n{id} = OpLoad {block_pointer} {at}"));
        id
    }

    /// Returns a pointer to an element of the buffer at an address.
    fn element_at(&mut self, addressed: &Addressed, base: &str, index: &str) -> String {
        let (zero, id) = (self.module.constant_u32(0), self.module.label());
        self.line(&format!("{id} = OpAccessChain {} {base} {zero} {index}", addressed.element_pointer));
        id
    }

    fn load_at(&mut self, addressed: &Addressed, base: &str, index: &str) -> String {
        let at = self.element_at(addressed, base, index);
        self.op(&Type::Scalar(addressed.scalar), "OpLoad", format!("{at} Aligned 4"))
    }
}
