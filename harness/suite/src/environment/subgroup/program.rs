//! A program of subgroup instructions: it records where each invocation is, and leaves what the instructions give each.

use super::super::apply::Ty;
use super::super::bits::Mode;
use crate::bytes::{given, pattern};
use crate::write::{Shader, UNSIGNED};
use crate::{About, Case, Program};
use assay_check::Options;
use assay_oracle::{Dispatch, Slot};
use std::collections::BTreeMap;

/// Bindings: where invocations are, values, results.
const RECORDS: u32 = 0;
const VALUES: u32 = 1;
const RESULTS: u32 = 2;

const U32: Ty = Ty::Int { width: 32, signed: UNSIGNED };

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Number(Ty),
    /// In memory a word that is 0 or 1.
    Bool,
}

impl Of {
    pub(super) fn name(self) -> String {
        match self {
            Of::Number(ty) => ty.name(),
            Of::Bool => "bool".to_owned(),
        }
    }

    fn stored(self) -> Ty {
        match self {
            Of::Number(ty) => ty,
            Of::Bool => U32,
        }
    }
}

/// What an instruction is written from.
pub(super) struct Given {
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
    of: Of,
}

impl Given {
    /// The value of another place of the workgroup's values: what all invocations with the same `index` have alike.
    pub(super) fn value_at(&self, shader: &mut Shader, index: &str) -> String {
        load(shader, (self.of, self.shape), &self.values, index)
    }

    /// `found` where the condition holds, else the invocation's own value.
    pub(super) fn select(&self, shader: &mut Shader, condition: &str, found: &str) -> String {
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

/// The invocations of a subgroup that take part, as the second reference sees them.
pub(super) struct Team<'a> {
    /// Invocations that there may be.
    pub(super) size: u32,
    /// By place: the local index, and the value's components.
    pub(super) members: BTreeMap<u32, (u32, Vec<u64>)>,
    /// Subgroups of the workgroup.
    pub(super) count: u32,
    /// The values of the workgroup's places.
    pub(super) all: &'a [Vec<u64>],
}

impl Team<'_> {
    pub(super) fn value(&self, place: u32) -> Vec<u64> {
        self.members.get(&place).map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

type Write = dyn Fn(&mut Shader, &Given) -> String + Send + Sync;
type Means = dyn Fn(&Team<'_>, u32) -> Vec<u64> + Send + Sync;

/// One result of each invocation.
pub(super) struct Part {
    /// The least subgroup in which it has a meaning; in smaller ones it is not executed.
    least: u32,
    write: Box<Write>,
    /// What it gives the invocation at a place: its components.
    means: Box<Means>,
}

impl Part {
    pub(super) fn new(
        write: impl Fn(&mut Shader, &Given) -> String + Send + Sync + 'static,
        means: impl Fn(&Team<'_>, u32) -> Vec<u64> + Send + Sync + 'static,
    ) -> Part {
        Part { least: 1, write: Box::new(write), means: Box::new(means) }
    }

    /// Only where subgroups have at least so many invocations.
    pub(super) fn of_at_least(self, least: u32) -> Part {
        Part { least, ..self }
    }
}

/// Who executes the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// All, in full subgroups.
    All,
    /// All of a workgroup that does not fill its subgroups.
    Few,
    /// All of a workgroup in several rows that are no whole subgroups.
    Rows,
    /// Those of either side of a branch apart, where structure says who is together.
    Apart,
}

impl Who {
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Who::All => "",
            Who::Few => ".few",
            Who::Rows => ".rows",
            Who::Apart => ".apart",
        }
    }

    fn local(self) -> [u32; 3] {
        match self {
            // No subgroup is larger.
            Who::All | Who::Apart => [128, 1, 1],
            Who::Few => [21, 1, 1],
            Who::Rows => [7, 3, 2],
        }
    }
}

/// The sides of [`Who::Apart`]: of invocations by their local index.
fn is_aside(lane: u32) -> bool {
    lane * 7 % 5 < 2
}

/// What a case is made of.
pub(super) struct Form {
    pub(super) name: String,
    pub(super) about: About,
    pub(super) capabilities: &'static [&'static str],
    pub(super) extension: Option<&'static str>,
    pub(super) version: &'static str,
    pub(super) who: Who,
    /// The value, its components, and the bits of a component of a place.
    pub(super) value: (Of, u32),
    pub(super) bits: fn(Ty, u32) -> u64,
    /// A mode of the value's width, which is then one of floats.
    pub(super) mode: Mode,
    /// What results are.
    pub(super) result: (Of, u32),
    /// The results; made anew for each program.
    pub(super) parts: Box<dyn Fn() -> Vec<Part> + Send + Sync>,
}

const GROUPS: u32 = 2;

impl Form {
    pub(super) fn case(self) -> Case {
        let (name, about) = (self.name.clone(), self.about.clone());
        Case::core(name, about, move || self.program())
    }

    fn lanes(&self) -> u32 {
        self.who.local().iter().product()
    }

    fn program(&self) -> Program {
        let parts = (self.parts)();
        let outputs = parts.len() as u32;
        let invocations = self.lanes() * GROUPS;
        let mut shader = Shader::new(self.who.local());
        shader.version(self.version);
        self.capabilities.iter().for_each(|name| shader.capability(name));
        if let Some(extension) = self.extension {
            shader.extension(extension);
        }
        if let Of::Number(ty) = self.value.0 {
            self.mode.declare(&mut shader, ty.width());
        }
        if self.who == Who::Apart {
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
            Of::Bool => shader.bool(),
            Of::Number(_) => shader.vector(&scalar, shape),
        };
        let value = load(&mut shader, self.value, &values, &lane);
        let scope = shader.constant_u32(3);
        let given = Given { value, ty, lane, own, size, scope, values, shape, of };
        let first = shader.constant_u32(outputs * wide);
        let first = shader.op(&u32, "OpIMul", format_args!("{place} {first}"));
        let all = |shader: &mut Shader| {
            for (part, at) in parts.iter().zip((0..).step_by(wide as usize)) {
                let at = shader.constant_u32(at);
                let at = shader.op(&u32, "OpIAdd", format_args!("{first} {at}"));
                let leave = |shader: &mut Shader| {
                    let result = (part.write)(shader, &given);
                    store(shader, self.result, &results, (&at, &zero), &result);
                };
                if part.least == 1 {
                    leave(shader);
                } else {
                    let (bool, least) = (shader.bool(), shader.constant_u32(part.least));
                    let is = shader.op(&bool, "OpUGreaterThanEqual", format_args!("{} {least}", given.size));
                    branch(shader, &is, leave, |_| ());
                }
            }
        };
        if self.who == Who::Apart {
            let [seven, five, two] = [7, 5, 2].map(|n| shader.constant_u32(n));
            let bool = shader.bool();
            let many = shader.op(&u32, "OpIMul", format_args!("{} {seven}", given.lane));
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
        options.inputs.push(given_records(invocations));
        let held = self.values();
        let contents = held.iter().flatten().flat_map(|bits| cut(*bits, of.stored()));
        options.inputs.push(crate::bytes::given(VALUES, contents.collect()));
        let before = pattern(bytes, 0x51);
        options.inputs.push(crate::bytes::given(RESULTS, before.clone()));
        let second = Second { parts, held, before, lanes: self.lanes(), who: self.who, result: self.result };
        Program::new(shader.finish(), options).with_second(move |dispatch| second.memory(dispatch))
    }

    /// The components of the values of a workgroup's places.
    fn values(&self) -> Vec<Vec<u64>> {
        let (of, shape) = self.value;
        let bits = |number: u32| match of {
            Of::Bool => u64::from(number * 13 % 7 < 4),
            Of::Number(ty) => (self.bits)(ty, number),
        };
        (0..self.lanes()).map(|lane| (0..shape).map(|c| bits(lane * shape + c)).collect()).collect()
    }
}

fn given_records(invocations: u32) -> (assay_check::BindingName, assay_check::Source) {
    given(RECORDS, pattern(invocations * 12, 0x0c))
}

/// A built-in input of one word.
pub(super) fn builtin(shader: &mut Shader, name: &str) -> String {
    let u32 = shader.u32();
    let variable = shader.builtin(name, &u32);
    shader.op(&u32, "OpLoad", variable)
}

/// Leaves where the invocation is; gives its place in the subgroup and the subgroup's size.
fn record(shader: &mut Shader, place: &str, invocations: u32) -> [String; 2] {
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

fn array(shader: &mut Shader, scalar: &str, ty: Ty, count: u32, binding: u32) -> String {
    let array = shader.array(scalar, count, Some(ty.bytes()));
    let block = shader.block(&[(array, 0)], "Block");
    shader.resource("StorageBuffer", &block, binding)
}

/// The value at a place: components side by side.
fn load(shader: &mut Shader, (of, shape): (Of, u32), values: &str, place: &str) -> String {
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
        (Of::Bool, _) => {
            let bool = shader.bool();
            shader.op(&bool, "OpINotEqual", format_args!("{} {zero}", parts[0]))
        }
        (Of::Number(_), 1) => parts.remove(0),
        (Of::Number(_), n) => {
            let vector = shader.vector(&scalar, n);
            shader.op(&vector, "OpCompositeConstruct", parts.join(" "))
        }
    }
}

fn store(shader: &mut Shader, (of, shape): (Of, u32), results: &str, (at, zero): (&str, &str), result: &str) {
    let (scalar, u32) = (of.stored().declare(shader), shader.u32());
    for i in 0..shape {
        let part = match (of, shape) {
            (Of::Bool, _) => {
                let one = shader.constant_u32(1);
                shader.op(&u32, "OpSelect", format_args!("{result} {one} {zero}"))
            }
            (Of::Number(_), 1) => result.to_owned(),
            (Of::Number(_), _) => shader.op(&scalar, "OpCompositeExtract", format_args!("{result} {i}")),
        };
        let i = shader.constant_u32(i);
        let place = shader.op(&u32, "OpIAdd", format_args!("{at} {i}"));
        let to = shader.access("StorageBuffer", &scalar, results, &[zero, &place]);
        shader.run(format_args!("OpStore {to} {part}"));
    }
}

/// Two sides of a condition.
fn branch(shader: &mut Shader, condition: &str, yes: impl FnOnce(&mut Shader), no: impl FnOnce(&mut Shader)) {
    let [then, other, end] = [0; 3].map(|_| shader.label());
    shader.run(format_args!(
        "OpSelectionMerge {end} None\nOpBranchConditional {condition} {then} {other}\n{then} = OpLabel"
    ));
    yes(shader);
    shader.run(format_args!("OpBranch {end}\n{other} = OpLabel"));
    no(shader);
    shader.run(format_args!("OpBranch {end}\n{end} = OpLabel"));
}

fn cut(bits: u64, ty: Ty) -> Vec<u8> {
    bits.to_le_bytes()[..ty.bytes() as usize].to_vec()
}

/// Plain Rust for the same, on subgroups that are laid out as few devices would: dealt out in turns, from the last place on.
struct Second {
    parts: Vec<Part>,
    held: Vec<Vec<u64>>,
    before: Vec<u8>,
    lanes: u32,
    who: Who,
    result: (Of, u32),
}

impl Second {
    fn memory(&self, dispatch: &Dispatch) -> BTreeMap<Slot, Vec<u8>> {
        let (size, lanes) = (dispatch.subgroup_size, self.lanes);
        let count = lanes.div_ceil(size);
        let seat = |lane: u32| (lane % count, size - 1 - lane / count);
        let (mut records, mut results) = (Vec::new(), self.before.clone());
        let (of, wide) = self.result;
        let bytes = of.stored().bytes() as usize;
        for invocation in 0..lanes * GROUPS {
            let lane = invocation % lanes;
            let (subgroup, place) = seat(lane);
            [subgroup, place, size].iter().for_each(|word| records.extend_from_slice(&word.to_le_bytes()));
            let together = |other: &u32| {
                let apart = self.who == Who::Apart && is_aside(*other) != is_aside(lane);
                seat(*other).0 == subgroup && !apart
            };
            let members = (0..lanes).filter(together);
            let members = members.map(|other| (seat(other).1, (other, self.held[other as usize].clone()))).collect();
            let team = Team { size, members, count, all: &self.held };
            for (i, part) in self.parts.iter().enumerate().filter(|(_, part)| part.least <= size) {
                let first = (invocation as usize * self.parts.len() + i) * wide as usize;
                for (c, bits) in (part.means)(&team, place).into_iter().enumerate() {
                    let at = (first + c) * bytes;
                    results[at..at + bytes].copy_from_slice(&cut(bits, of.stored()));
                }
            }
        }
        [(Slot::new(0, RECORDS), records), (Slot::new(0, RESULTS), results)].into()
    }
}
