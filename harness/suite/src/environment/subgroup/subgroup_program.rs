//! A program of subgroup instructions: it records the subgroup layout and stores the result of each
//! instruction for each invocation.

use super::super::bit_preservation::FloatMode;
use super::super::operand_rows::Ty;
use crate::bytes::{bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, UNSIGNED};
use crate::{Case, CaseSubject, Program};
use assay_check::Options;
use assay_oracle::{Dispatch, Slot};
use std::collections::BTreeMap;

/// Bindings: layout records, values, results.
const RECORDS: u32 = 0;
const VALUES: u32 = 1;
const RESULTS: u32 = 2;

const U32: Ty = Ty::Int { width: 32, signed: UNSIGNED };

/// The component type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Number(Ty),
    /// A boolean, stored as a word that is 0 or 1.
    Bool,
}

impl ValueType {
    pub(super) fn name(self) -> String {
        match self {
            ValueType::Number(ty) => ty.name(),
            ValueType::Bool => "bool".to_owned(),
        }
    }

    fn stored(self) -> Ty {
        match self {
            ValueType::Number(ty) => ty,
            ValueType::Bool => U32,
        }
    }
}

/// Ids for emitting an instruction.
pub(super) struct InstructionIds {
    /// The invocation's own value, and its type.
    pub(super) value: String,
    pub(super) ty: String,
    /// `LocalInvocationIndex`, `SubgroupLocalInvocationId`, `SubgroupSize`.
    pub(super) lane: String,
    pub(super) own: String,
    pub(super) size: String,
    /// The scope.
    pub(super) scope: String,
    values: String,
    shape: u32,
    of: ValueType,
}

impl InstructionIds {
    /// Emits a load of the value at another index of the workgroup's values. Invocations with equal
    /// indices load equal values.
    pub(super) fn value_at(&self, shader: &mut ModuleBuilder, index: &str) -> String {
        load(shader, (self.of, self.shape), &self.values, index)
    }

    /// Emits a select: `found` where the condition holds, otherwise the invocation's own value.
    pub(super) fn select(&self, shader: &mut ModuleBuilder, condition: &str, found: &str) -> String {
        let bool = shader.bool();
        let conditions = shader.vector(&bool, self.shape);
        let condition = match self.shape {
            1 => condition.to_owned(),
            n => {
                let parts = vec![condition; n as usize].join(" ");
                shader.op(&conditions, "OpCompositeConstruct", parts)
            }
        };
        shader.op(&self.ty, "OpSelect", format_args!("{condition} {found} {}", self.value))
    }
}

/// The active invocations of a subgroup, for the independent reference.
pub(super) struct ActiveInvocations<'a> {
    /// The subgroup's size, including inactive invocations.
    pub(super) size: u32,
    /// Local index and value of each active invocation, by its place in the subgroup.
    pub(super) members: BTreeMap<u32, (u32, Vec<u64>)>,
    /// Number of subgroups in the workgroup.
    pub(super) count: u32,
    /// The workgroup's values, by local index.
    pub(super) all: &'a [Vec<u64>],
}

impl ActiveInvocations<'_> {
    pub(super) fn value(&self, place: u32) -> Vec<u64> {
        self.members.get(&place).map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

type EmitResult = dyn Fn(&mut ModuleBuilder, &InstructionIds) -> String + Send + Sync;
type Semantics = dyn Fn(&ActiveInvocations<'_>, u32) -> Vec<u64> + Send + Sync;

/// One result for each invocation.
pub(super) struct SubgroupResult {
    /// The smallest subgroup size for which the result is defined; smaller subgroups do not execute
    /// it.
    least: u32,
    write: Box<EmitResult>,
    /// The expected components of the result for the invocation at a place.
    semantics: Box<Semantics>,
}

impl SubgroupResult {
    pub(super) fn new(
        write: impl Fn(&mut ModuleBuilder, &InstructionIds) -> String + Send + Sync + 'static,
        semantics: impl Fn(&ActiveInvocations<'_>, u32) -> Vec<u64> + Send + Sync + 'static,
    ) -> SubgroupResult {
        SubgroupResult { least: 1, write: Box::new(write), semantics: Box::new(semantics) }
    }

    /// Restricts the result to subgroups of at least this size.
    pub(super) fn for_size_at_least(self, least: u32) -> SubgroupResult {
        SubgroupResult { least, ..self }
    }
}

/// The invocations that execute the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Participation {
    /// All invocations of full subgroups.
    All,
    /// All invocations of a workgroup that is smaller than its subgroups.
    Few,
    /// All invocations of a three-dimensional workgroup that does not divide into full subgroups.
    Rows,
    /// The invocations on each side of a branch separately; maximal reconvergence determines the
    /// tangles.
    Apart,
}

impl Participation {
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Participation::All => "",
            Participation::Few => ".few",
            Participation::Rows => ".rows",
            Participation::Apart => ".apart",
        }
    }

    fn local(self) -> [u32; 3] {
        match self {
            // No subgroup is larger than 128.
            Participation::All | Participation::Apart => [128, 1, 1],
            Participation::Few => [21, 1, 1],
            Participation::Rows => [7, 3, 2],
        }
    }
}

/// The side of the branch of [`Participation::Apart`], by local index.
fn is_first_side(lane: u32) -> bool {
    lane * 7 % 5 < 2
}

/// Definition of a case.
pub(super) struct SubgroupCase {
    pub(super) name: String,
    pub(super) subject: CaseSubject,
    pub(super) capabilities: &'static [&'static str],
    pub(super) extension: Option<&'static str>,
    pub(super) version: &'static str,
    pub(super) participation: Participation,
    /// The value's type and number of components, and the bits of each component by number.
    pub(super) value: (ValueType, u32),
    pub(super) bits: fn(Ty, u32) -> u64,
    /// Declared for the value's width; `None` unless the value is a float.
    pub(super) mode: FloatMode,
    /// The type of the results.
    pub(super) result: (ValueType, u32),
    /// Builds the results; called for each program.
    pub(super) parts: Box<dyn Fn() -> Vec<SubgroupResult> + Send + Sync>,
}

const GROUPS: u32 = 2;

impl SubgroupCase {
    pub(super) fn case(self) -> Case {
        let (name, subject) = (self.name.clone(), self.subject.clone());
        Case::core(name, subject, move || self.program())
    }

    fn lanes(&self) -> u32 {
        self.participation.local().iter().product()
    }

    fn program(&self) -> Program {
        let parts = (self.parts)();
        let outputs = parts.len() as u32;
        let invocations = self.lanes() * GROUPS;
        let mut shader = ModuleBuilder::new(self.participation.local());
        shader.version(self.version);
        self.capabilities.iter().for_each(|name| shader.capability(name));
        if let Some(extension) = self.extension {
            shader.extension(extension);
        }
        if let ValueType::Number(ty) = self.value.0 {
            self.mode.declare(&mut shader, ty.width());
        }
        if self.participation == Participation::Apart {
            shader.extension("SPV_KHR_maximal_reconvergence");
            shader.mode("MaximallyReconvergesKHR");
        }
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let lane = builtin(&mut shader, "LocalInvocationIndex");
        let group = shader.builtin_component("WorkgroupId", 0);
        let lanes = shader.constant_u32(self.lanes());
        let first = shader.op(&u32, "OpIMul", format_args!("{group} {lanes}"));
        let place = shader.op(&u32, "OpIAdd", format_args!("{first} {lane}"));
        let [own, size] = record(&mut shader, &place, invocations);

        let (of, shape) = self.value;
        let scalar = of.stored().declare(&mut shader);
        let values = array(&mut shader, &scalar, of.stored(), self.lanes() * shape, VALUES);
        let (of_result, wide) = self.result;
        let stored = of_result.stored().declare(&mut shader);
        let results = array(&mut shader, &stored, of_result.stored(), invocations * outputs * wide, RESULTS);
        let ty = match of {
            ValueType::Bool => shader.bool(),
            ValueType::Number(_) => shader.vector(&scalar, shape),
        };
        let value = load(&mut shader, self.value, &values, &lane);
        let scope = shader.constant_u32(3);
        let ids = InstructionIds { value, ty, lane, own, size, scope, values, shape, of };
        let first = shader.constant_u32(outputs * wide);
        let first = shader.op(&u32, "OpIMul", format_args!("{place} {first}"));
        let all = |shader: &mut ModuleBuilder| {
            for (part, at) in parts.iter().zip((0..).step_by(wide as usize)) {
                let at = shader.constant_u32(at);
                let at = shader.op(&u32, "OpIAdd", format_args!("{first} {at}"));
                let leave = |shader: &mut ModuleBuilder| {
                    let result = (part.write)(shader, &ids);
                    store(shader, self.result, &results, (&at, &zero), &result);
                };
                if part.least == 1 {
                    leave(shader);
                } else {
                    let (bool, least) = (shader.bool(), shader.constant_u32(part.least));
                    let is = shader.op(&bool, "OpUGreaterThanEqual", format_args!("{} {least}", ids.size));
                    branch(shader, &is, leave, |_| ());
                }
            }
        };
        if self.participation == Participation::Apart {
            let [seven, five, two] = [7, 5, 2].map(|n| shader.constant_u32(n));
            let bool = shader.bool();
            let many = shader.op(&u32, "OpIMul", format_args!("{} {seven}", ids.lane));
            let rest = shader.op(&u32, "OpUMod", format_args!("{many} {five}"));
            let is = shader.op(&bool, "OpULessThan", format_args!("{rest} {two}"));
            branch(&mut shader, &is, all, all);
        } else {
            all(&mut shader);
        }

        let bytes = invocations * outputs * wide * of_result.stored().bytes();
        let mut options = Options {
            groups: Some([GROUPS, 1, 1]),
            padding: true,
            subgroups: Some(Slot::new(0, RECORDS).into()),
            ..Options::default()
        };
        options.inputs.push(records_input(invocations));
        let held = self.values();
        let contents = held.iter().flatten().flat_map(|bits| le_bytes(*bits, of.stored()));
        options.inputs.push(crate::bytes::bytes_input(VALUES, contents.collect()));
        let before = pattern(bytes, 0x51);
        options.inputs.push(crate::bytes::bytes_input(RESULTS, before.clone()));
        let reference = SubgroupReference {
            parts,
            held,
            before,
            lanes: self.lanes(),
            participation: self.participation,
            result: self.result,
        };
        Program::new(shader.finish(), options).with_reference(move |dispatch| reference.memory(dispatch))
    }

    /// The components of a workgroup's values, by local index.
    fn values(&self) -> Vec<Vec<u64>> {
        let (of, shape) = self.value;
        let bits = |number: u32| match of {
            ValueType::Bool => u64::from(number * 13 % 7 < 4),
            ValueType::Number(ty) => (self.bits)(ty, number),
        };
        (0..self.lanes()).map(|lane| (0..shape).map(|c| bits(lane * shape + c)).collect()).collect()
    }
}

fn records_input(invocations: u32) -> (assay_check::BindingName, assay_check::BindingSource) {
    bytes_input(RECORDS, pattern(invocations * 12, 0x0c))
}

/// Emits a load of a one-word built-in.
pub(super) fn builtin(shader: &mut ModuleBuilder, name: &str) -> String {
    let u32 = shader.u32();
    let variable = shader.builtin(name, &u32);
    shader.op(&u32, "OpLoad", variable)
}

/// Stores the invocation's layout record; returns its place in the subgroup and the subgroup's
/// size.
fn record(shader: &mut ModuleBuilder, place: &str, invocations: u32) -> [String; 2] {
    shader.capability("GroupNonUniform");
    let u32 = shader.u32();
    let records = array(shader, &u32, U32, invocations * 3, RECORDS);
    let (zero, three) = (shader.constant_u32(0), shader.constant_u32(3));
    let first = shader.op(&u32, "OpIMul", format_args!("{place} {three}"));
    let names = ["SubgroupId", "SubgroupLocalInvocationId", "SubgroupSize"];
    let [_, own, size] = std::array::from_fn(|i| {
        let word = builtin(shader, names[i]);
        let i = shader.constant_u32(i as u32);
        let at = shader.op(&u32, "OpIAdd", format_args!("{first} {i}"));
        let to = shader.access("StorageBuffer", &u32, &records, &[&zero, &at]);
        shader.run(format_args!("OpStore {to} {word}"));
        word
    });
    [own, size]
}

fn array(shader: &mut ModuleBuilder, scalar: &str, ty: Ty, count: u32, binding: u32) -> String {
    let array = shader.array(scalar, count, Some(ty.bytes()));
    let block = shader.block(&[(array, 0)], "Block");
    shader.resource("StorageBuffer", &block, binding)
}

/// Emits a load of the value at a place, whose components are consecutive.
fn load(shader: &mut ModuleBuilder, (of, shape): (ValueType, u32), values: &str, place: &str) -> String {
    let scalar = of.stored().declare(shader);
    let (u32, zero, count) = (shader.u32(), shader.constant_u32(0), shader.constant_u32(shape));
    let first = shader.op(&u32, "OpIMul", format_args!("{place} {count}"));
    let mut parts = Vec::new();
    for i in 0..shape {
        let i = shader.constant_u32(i);
        let at = shader.op(&u32, "OpIAdd", format_args!("{first} {i}"));
        let from = shader.access("StorageBuffer", &scalar, values, &[&zero, &at]);
        parts.push(shader.op(&scalar, "OpLoad", from));
    }
    match (of, shape) {
        (ValueType::Bool, _) => {
            let bool = shader.bool();
            shader.op(&bool, "OpINotEqual", format_args!("{} {zero}", parts[0]))
        }
        (ValueType::Number(_), 1) => parts.remove(0),
        (ValueType::Number(_), n) => {
            let vector = shader.vector(&scalar, n);
            shader.op(&vector, "OpCompositeConstruct", parts.join(" "))
        }
    }
}

fn store(
    shader: &mut ModuleBuilder,
    (of, shape): (ValueType, u32),
    results: &str,
    (at, zero): (&str, &str),
    result: &str,
) {
    let (scalar, u32) = (of.stored().declare(shader), shader.u32());
    for i in 0..shape {
        let part = match (of, shape) {
            (ValueType::Bool, _) => {
                let one = shader.constant_u32(1);
                shader.op(&u32, "OpSelect", format_args!("{result} {one} {zero}"))
            }
            (ValueType::Number(_), 1) => result.to_owned(),
            (ValueType::Number(_), _) => shader.op(&scalar, "OpCompositeExtract", format_args!("{result} {i}")),
        };
        let i = shader.constant_u32(i);
        let place = shader.op(&u32, "OpIAdd", format_args!("{at} {i}"));
        let to = shader.access("StorageBuffer", &scalar, results, &[zero, &place]);
        shader.run(format_args!("OpStore {to} {part}"));
    }
}

/// Emits both sides of a branch.
fn branch(
    shader: &mut ModuleBuilder,
    condition: &str,
    yes: impl FnOnce(&mut ModuleBuilder),
    no: impl FnOnce(&mut ModuleBuilder),
) {
    let [then, other, end] = [0; 3].map(|_| shader.label());
    shader.run(format_args!(
        "OpSelectionMerge {end} None\nOpBranchConditional {condition} {then} {other}\n{then} = OpLabel"
    ));
    yes(shader);
    shader.run(format_args!("OpBranch {end}\n{other} = OpLabel"));
    no(shader);
    shader.run(format_args!("OpBranch {end}\n{end} = OpLabel"));
}

fn le_bytes(bits: u64, ty: Ty) -> Vec<u8> {
    bits.to_le_bytes()[..ty.bytes() as usize].to_vec()
}

/// The independent reference. It lays subgroups out in an unusual way: invocations are dealt out in
/// turn, from the last place down.
struct SubgroupReference {
    parts: Vec<SubgroupResult>,
    held: Vec<Vec<u64>>,
    before: Vec<u8>,
    lanes: u32,
    participation: Participation,
    result: (ValueType, u32),
}

impl SubgroupReference {
    fn memory(&self, dispatch: &Dispatch) -> BTreeMap<Slot, Vec<u8>> {
        let (size, lanes) = (dispatch.subgroup_size, self.lanes);
        let count = lanes.div_ceil(size);
        let position = |lane: u32| (lane % count, size - 1 - lane / count);
        let (mut records, mut results) = (Vec::new(), self.before.clone());
        let (of, wide) = self.result;
        let bytes = of.stored().bytes() as usize;
        for invocation in 0..lanes * GROUPS {
            let lane = invocation % lanes;
            let (subgroup, place) = position(lane);
            [subgroup, place, size].iter().for_each(|word| records.extend_from_slice(&word.to_le_bytes()));
            let together = |other: &u32| {
                let apart = self.participation == Participation::Apart && is_first_side(*other) != is_first_side(lane);
                position(*other).0 == subgroup && !apart
            };
            let members = (0..lanes).filter(together);
            let members =
                members.map(|other| (position(other).1, (other, self.held[other as usize].clone()))).collect();
            let active = ActiveInvocations { size, members, count, all: &self.held };
            for (i, part) in self.parts.iter().enumerate().filter(|(_, part)| part.least <= size) {
                let first = (invocation as usize * self.parts.len() + i) * wide as usize;
                for (c, bits) in (part.semantics)(&active, place).into_iter().enumerate() {
                    let at = (first + c) * bytes;
                    results[at..at + bytes].copy_from_slice(&le_bytes(bits, of.stored()));
                }
            }
        }
        [(Slot::new(0, RECORDS), records), (Slot::new(0, RESULTS), results)].into()
    }
}
