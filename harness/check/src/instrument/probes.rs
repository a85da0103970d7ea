//! Probes of instructions that compute numbers from numbers or from images.

use super::emit::{Recorder, to_words};
use super::recheck;
use super::record_layout::RecordPosition;
use super::recorded_value::{RecordedValue, ValueLayout};
use super::{TraceReader, UNWRITTEN, name, subgroup_probes};
use crate::compare::{hex, ranges};
use crate::image_handles::{ImageHandle, WrittenImages};
use assay_events::{Blame, BlameExample, DerivationStep};
use assay_oracle::Standing;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, instruction};
use assay_spirv::module::{Instruction, InstructionIndex, Section};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Decoration, ExecutionMode, FPFastMathMode, Kind, Op, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// Places in a row where the operands and the result of an instruction are recorded.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Index of the instruction in the module.
    pub(super) index: u32,
    /// Word offset of the instruction in the module.
    pub(super) at: usize,
    /// Word of the row that holds the time of execution of the block, or 0.
    pub(super) executed: u32,
    /// Operands that are not constants.
    pub(super) operands: Vec<RecordedValue>,
    /// Results of the instructions that produce its image and sampler operands.
    pub(super) handles: Vec<u32>,
    pub(super) result: RecordedValue,
    /// Set if the result depends on other invocations of the subgroup.
    pub(super) across_subgroup: bool,
    /// First word that this probe stores. Lower ones are stored by earlier probes of the block.
    first_new_word: u32,
}

/// Recorded results of an instruction, compared with the permitted ones.
#[derive(Default)]
pub(crate) struct JudgedProbe {
    /// Scalar results that could have come out wrong.
    pub(crate) results: u64,
    /// Scalar results that only a lenient reading permits.
    pub(crate) lenient: u64,
    /// The instruction: `OpFDiv at blur.comp:3:4`.
    pub(crate) title: String,
    /// Set if one is not permitted.
    pub(crate) blame: Option<Blame>,
}

impl Probe {
    /// The recorded values.
    pub(super) fn values(&self) -> impl Iterator<Item = &RecordedValue> {
        self.operands.iter().chain([&self.result])
    }

    /// Inserts code after the instruction that records it, and forbids its contraction.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: RecordPosition) {
        self.forbid_contraction(editor);
        let mut code = Vec::new();
        if self.executed >= self.first_new_word {
            recorder.word(editor, &mut code, here.row, self.executed, here.time);
        }
        for value in self.operands.iter().chain([&self.result]).filter(|value| value.word >= self.first_new_word) {
            let words = to_words(editor, &mut code, value.id, &value.layout);
            for (offset, word) in (value.word..).zip(words) {
                recorder.word(editor, &mut code, here.row, offset, word);
            }
        }
        editor.insert_after(self.at, &code);
    }

    /// Forbids contraction, which the recorded operands would not explain: in the fast-math flags
    /// of the instruction, or else with the default of its type. `NoContraction` is the decoration
    /// for modules without either, as it cannot be combined with them.
    pub(super) fn forbid_contraction(&self, editor: &mut Editor<'_>) {
        let module = editor.module();
        if !may_contract(module, self) {
            return;
        }
        let allowing =
            FPFastMathMode::ALLOW_CONTRACT.0 | FPFastMathMode::ALLOW_REASSOC.0 | FPFastMathMode::ALLOW_TRANSFORM.0;
        let target = self.result.id;
        let strict = |target: u32, mode: u32| [target, Decoration::FPFastMathMode.word(), mode & !allowing];
        let own = module.decorations(target).find(|d| d.decoration == Some(Decoration::FPFastMathMode));
        if let Some((mode, decorated)) = own.and_then(|d| Some((*d.operands.first()?, d.instruction))) {
            // A decoration group may apply to other instructions too; they also get fewer permitted
            // results.
            let group = decorated.operand(0).unwrap_or(target);
            editor.replace(decorated.at, instruction(Op::Decorate, &strict(group, mode)));
        } else if let Some(mode) = self.default_mode(module) {
            editor.annotate(Op::Decorate, &strict(target, mode));
        } else {
            editor.annotate(Op::Decorate, &[target, Decoration::NoContraction.word()]);
        }
    }

    /// Returns the default fast-math flags of the entry point for the type of the result.
    fn default_mode(&self, module: &Module) -> Option<u32> {
        let ty = self.result.layout.scalars.first()?.plain.ty;
        let mode = module
            .section(Section::ExecutionModes)
            .find(|i| i.operand(1) == Some(ExecutionMode::FPFastMathDefault.word()) && i.operand(2) == Some(ty))?;
        u32::try_from(module.constant_int(mode.operand(3)?)?).ok()
    }
}

impl TraceReader<'_> {
    /// Checks the recorded results of an instruction for their recorded operands, in about this
    /// number of rows. Returns `None` if it was not executed.
    pub(super) fn judge(&self, probe: &Probe, rows: u64) -> Option<JudgedProbe> {
        let executed: Vec<u64> = self.executed(0..self.instrumented.rows.count(), probe.executed).collect();
        if executed.is_empty() {
            return None;
        }
        let Some(results) = recheck::permitted_results(self, probe, rows) else { return Some(JudgedProbe::default()) };
        let (mut judged, mut lenient, mut wrong, mut example) = (0, 0, 0, None);
        let is_known =
            |row: u64| !self.is_out_of_bounds(row, probe.executed, probe.index) && self.is_written(row, probe);
        for &row in executed.iter().filter(|row| is_known(**row)) {
            let outside = self.scalars(row, &probe.result).enumerate().find_map(|(component, (scalar, got))| {
                let permitted = results.permitted(row, component)?;
                judged += u64::from(permitted.can_be_wrong(scalar.width()));
                let standing = permitted.judge(got);
                lenient += u64::from(standing == Standing::Lenient);
                (standing == Standing::Outside).then_some((component, scalar, got, permitted))
            });
            let Some((component, scalar, got, permitted)) = outside else { continue };
            wrong += 1;
            example.get_or_insert_with(|| BlameExample {
                invocation: self.instrumented.rows.invocation(row),
                operands: probe.operands.iter().map(|operand| self.hex(row, operand)).collect(),
                component,
                got: hex(scalar, got),
                permitted: ranges(scalar, &permitted.expected),
                scalar: scalar.to_string(),
            });
        }
        let name = name(&self.module.instruction(InstructionIndex(probe.index)));
        let place = (self.place)(probe.index);
        let title = format!("{name} at {place}");
        let blame = example.map(|example| Blame {
            instruction: probe.index,
            name,
            place,
            wrong,
            recorded: executed.len() as u64,
            example,
        });
        Some(JudgedProbe { results: judged, lenient, title, blame })
    }

    /// Returns whether the device stored the operands and the result of an execution.
    fn is_written(&self, row: u64, probe: &Probe) -> bool {
        let mut words = probe.values().flat_map(|value| value.word..value.word + value.layout.words());
        words.all(|word| self.word(row, word) != u64::from(UNWRITTEN))
    }

    /// Returns the derivation step of an instruction in a row.
    pub(super) fn derived(&self, probe: &Probe, row: u64) -> DerivationStep {
        let results = recheck::permitted_results(self, probe, u64::MAX);
        let mut within = Some(true);
        let mut permitted = Vec::new();
        for (component, (scalar, got)) in self.scalars(row, &probe.result).enumerate() {
            let set = results.as_ref().and_then(|results| results.permitted(row, component));
            match set.as_ref().map(|set| set.judge(got)) {
                Some(Standing::Within | Standing::Lenient) => {}
                Some(Standing::Outside) => within = Some(false),
                Some(Standing::Open(_)) | None => within = within.filter(|within| !within),
            }
            permitted.push(set.map_or_else(Vec::new, |set| ranges(scalar, &set.expected)));
        }
        let scalar = probe.result.layout.scalars.first().map(|part| part.scalar().to_string());
        DerivationStep {
            name: name(&self.module.instruction(InstructionIndex(probe.index))),
            place: (self.place)(probe.index),
            operands: probe.operands.iter().map(|operand| self.hex(row, operand)).collect(),
            result: self.hex(row, &probe.result),
            scalar: scalar.unwrap_or_default(),
            permitted,
            within,
        }
    }

    fn hex(&self, row: u64, value: &RecordedValue) -> Vec<String> {
        self.scalars(row, value).map(|(scalar, bits)| hex(scalar, bits)).collect()
    }
}

/// Returns probes of the instructions that `wanted` selects, and the number of words in a row.
/// Aggregates in `undefined` are left out: a component that the shader does not use may be
/// undefined.
///
/// All instructions of a block are executed equally often, so one time word serves the block. A
/// value that several probes of the block use is stored once. Both together halve the code that a
/// device compiles.
pub(super) fn find(
    module: &Module,
    usage: &EntryPointUses,
    undefined: &BTreeSet<u32>,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Probe>, u32) {
    let written = WrittenImages::find(module, usage);
    let (mut probes, mut next) = (Vec::new(), 0);
    for function in usage.functions.iter().filter_map(|f| module.functions().get(*f)) {
        let (mut executed, mut stored) = (None, BTreeMap::new());
        for i in module.instructions_in(function.instructions.clone()) {
            if i.op == Some(Op::Label) {
                (executed, stored) = (None, BTreeMap::new());
            }
            let Some(result) = i.result().filter(|id| wanted(*id)) else { continue };
            let across_subgroup = i.op.is_some_and(subgroup_probes::is_subgroup_operation);
            if across_subgroup && !subgroup_probes::is_uniform(module, usage, i.index) {
                continue;
            }
            let Some(Computation { operands, handles, layout }) = recordable(module, &i, &written) else { continue };
            let aggregate =
                layout.is_aggregate(module) || operands.iter().any(|(_, layout)| layout.is_aggregate(module));
            if aggregate && undefined.contains(&result) {
                continue;
            }
            let first_new_word = next;
            let executed = *executed.get_or_insert_with(|| {
                next += 1;
                next - 1
            });
            let mut value = |(id, layout): (u32, ValueLayout)| {
                let word = *stored.entry(id).or_insert_with(|| {
                    next += layout.words();
                    next - layout.words()
                });
                RecordedValue { id, layout, word }
            };
            let operands = operands.into_iter().map(&mut value).collect();
            let result = value((result, layout));
            probes.push(Probe {
                index: i.index.0,
                at: i.at,
                executed,
                operands,
                handles,
                result,
                across_subgroup,
                first_new_word,
            });
        }
    }
    (probes, next)
}

/// Returns probes of the atomics on integers that have a result: of that result and of the value
/// operand. Also returns the number of words in a row.
pub(super) fn atomics(module: &Module, usage: &EntryPointUses) -> (Vec<Probe>, u32) {
    let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let (mut probes, mut next) = (Vec::new(), 0);
    for i in functions.flat_map(|f| module.instructions_in(f.instructions.clone())) {
        let atomic = i.op.is_some_and(|op| op.name().starts_with("OpAtomic"));
        let found = i.result().filter(|_| atomic).and_then(|id| Some((id, ValueLayout::of_value(module, id)?)));
        let integer = |layout: &ValueLayout| matches!(layout.scalars[..], [ref part] if matches!(part.plain.kind, ComponentKind::Int { .. }));
        let Some((id, layout)) = found.filter(|(_, layout)| integer(layout)) else { continue };
        let executed = next;
        next += 1;
        let mut value = |id: u32, layout: ValueLayout| {
            next += layout.words();
            RecordedValue { id, word: next - layout.words(), layout }
        };
        let result = value(id, layout);
        let given = atomic_operand(module, &i).and_then(|id| Some((id, ValueLayout::of_value(module, id)?)));
        let operands = given.into_iter().map(|(id, layout)| value(id, layout)).collect();
        let handles = Vec::new();
        let (index, at, across_subgroup, first_new_word) = (i.index.0, i.at, false, executed);
        probes.push(Probe { index, at, executed, operands, handles, result, across_subgroup, first_new_word });
    }
    (probes, next)
}

/// Returns the value operand of an atomic instruction, if it is not a constant.
fn atomic_operand(module: &Module, atomic: &Instruction<'_>) -> Option<u32> {
    let mut ids = Vec::new();
    let walked = module.operands(*atomic, |operand| {
        if operand.kind == Kind::IdRef {
            ids.push(atomic.words[operand.at]);
        }
    });
    walked.ok()?;
    // The operand after the pointer, the first of two in a compare-exchange.
    let value = *ids.get(1)?;
    module.definition_of(value).is_some_and(|made| module.function_at(made.index).is_some()).then_some(value)
}

/// Operands and result of an instruction that can be recorded.
struct Computation {
    /// Operands that are not constants, without repetition.
    operands: Vec<(u32, ValueLayout)>,
    /// Results of the instructions that produce its image and sampler operands.
    handles: Vec<u32>,
    /// Layout of the result.
    layout: ValueLayout,
}

/// Returns whether an instruction computes its result from its operands: it does not access memory,
/// and does not communicate with other invocations, unless by a subgroup operation.
fn computes(op: Op) -> bool {
    let excluded_prefixes = ["OpGroup", "OpSubgroup", "OpAtomic", "OpRead", "OpCooperative"];
    let excluded = matches!(
        op,
        Op::Function | Op::Phi | Op::FunctionParameter | Op::Undef | Op::Variable | Op::FunctionCall | Op::Load
    );
    !excluded
        && (subgroup_probes::is_subgroup_operation(op)
            || !excluded_prefixes.iter().any(|prefix| op.name().starts_with(prefix)))
}

/// Returns operands and result of an instruction that computes numbers from numbers, and from
/// images that the shader does not write; `None` for other instructions.
fn recordable(module: &Module, i: &Instruction<'_>, written: &WrittenImages) -> Option<Computation> {
    let op = i.op.filter(|op| computes(*op))?;
    // A query depends on the image's size, not on its texels.
    let queries = op.name().starts_with("OpImageQuery");
    let layout = ValueLayout::of_value(module, i.result()?)?;
    let inside = |id: u32| module.definition_of(id).is_some_and(|d| module.function_at(d.index).is_some());
    let (mut numbers, mut handles) = (Vec::new(), Vec::new());
    let mut suits = true;
    let walked = module.operands(*i, |operand| {
        let word = i.words[operand.at];
        match operand.kind {
            // Constants and imports of extended instruction sets exist in every variant.
            Kind::IdRef if !inside(word) => {
                let extended = module.extended_set(word).is_some();
                suits &= extended || ValueLayout::of_value(module, word).is_some();
            }
            Kind::IdRef => match ImageHandle::find(module, word) {
                Some(handle) => {
                    suits &= queries || handle.is_only_read(module, written);
                    numbers.extend(handle.indices);
                    handles.extend(handle.instructions);
                }
                None => numbers.push(word),
            },
            Kind::IdScope => {
                let subgroup = module.constant_int(word) == Some(Scope::Subgroup as i64);
                suits &= subgroup && subgroup_probes::is_subgroup_operation(op);
            }
            Kind::IdMemorySemantics => suits = false,
            _ => {}
        }
    });
    walked.ok().filter(|()| suits)?;
    let mut operands: Vec<(u32, ValueLayout)> = Vec::new();
    for id in numbers {
        if operands.iter().all(|(known, _)| *known != id) {
            operands.push((id, ValueLayout::of_value(module, id)?));
        }
    }
    let mut made = BTreeSet::new();
    handles.retain(|id| made.insert(*id));
    Some(Computation { operands, handles, layout })
}

/// Returns whether an instruction may be contracted: it is an arithmetic instruction without
/// `NoContraction`.
fn may_contract(module: &Module, probe: &Probe) -> bool {
    let arithmetic = matches!(
        module.instruction(InstructionIndex(probe.index)).op,
        Some(
            Op::FAdd
                | Op::FSub
                | Op::FMul
                | Op::FDiv
                | Op::FNegate
                | Op::FRem
                | Op::FMod
                | Op::VectorTimesScalar
                | Op::MatrixTimesScalar
                | Op::VectorTimesMatrix
                | Op::MatrixTimesVector
                | Op::MatrixTimesMatrix
                | Op::OuterProduct
                | Op::Dot
        )
    );
    arithmetic && !module.decorations(probe.result.id).any(|d| d.decoration == Some(Decoration::NoContraction))
}
