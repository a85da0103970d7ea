//! Instructions that compute numbers from numbers or from images, recorded with what they were given.

use super::alone;
use super::code::{Recorder, as_words};
use super::images::{Handle, Written};
use super::rows::Here;
use super::value::{Form, Value};
use super::{Reading, name, subgroups};
use crate::verdict::{hex, ranges};
use assay_oracle::Standing;
use assay_runner::{Blame, BlameExample, Derived};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, PlainKind, instruction};
use assay_spirv::module::{Index, Instruction, Section};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Decoration, ExecutionMode, FPFastMathMode, Kind, Op, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// Where an instruction's operands and result are recorded.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its place in the module.
    pub(super) index: u32,
    /// Its first word there.
    pub(super) at: usize,
    /// Word in the row: when its block was executed, or 0.
    pub(super) executed: u32,
    /// What it is given that is no constant.
    pub(super) operands: Vec<Value>,
    /// What makes the images and samplers that it is given, by results.
    pub(super) handles: Vec<u32>,
    pub(super) result: Value,
    /// Whether it takes values of other invocations of the subgroup.
    pub(super) between: bool,
    /// The words before this one are stored with earlier records of its block.
    own: u32,
}

impl Record {
    /// Puts code behind the instruction that records it, and forbids a contraction that its operands would not explain.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: Here) {
        self.forbid_contraction(editor);
        let mut code = Vec::new();
        if self.executed >= self.own {
            recorder.word(editor, &mut code, here.row, self.executed, here.time);
        }
        for value in self.operands.iter().chain([&self.result]).filter(|value| value.word >= self.own) {
            let words = as_words(editor, &mut code, value.id, &value.form);
            for (offset, word) in (value.word..).zip(words) {
                recorder.word(editor, &mut code, here.row, offset, word);
            }
        }
        editor.after(self.at, &code);
    }

    /// Forbids to contract it: by its fast math mode, or the default of its type, where there is one, for `NoContraction` goes with neither.
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
            // A group may say so, of others as well: less is permitted to these, too.
            let group = decorated.operand(0).unwrap_or(target);
            editor.replace(decorated.at, instruction(Op::Decorate, &strict(group, mode)));
        } else if let Some(mode) = self.default_mode(module) {
            editor.annotate(Op::Decorate, &strict(target, mode));
        } else {
            editor.annotate(Op::Decorate, &[target, Decoration::NoContraction.word()]);
        }
    }

    /// The fast math mode that the entry point states for its type.
    fn default_mode(&self, module: &Module) -> Option<u32> {
        let ty = self.result.form.parts.first()?.plain.ty;
        let mode = module
            .section(Section::ExecutionModes)
            .find(|i| i.operand(1) == Some(ExecutionMode::FPFastMathDefault.word()) && i.operand(2) == Some(ty))?;
        u32::try_from(module.constant_int(mode.operand(3)?)?).ok()
    }
}

impl Reading<'_> {
    /// What there is to blame of an instruction, if its results are not all permitted for the operands that the device had.
    pub(super) fn blame(&self, record: &Record) -> Option<Blame> {
        let executed: Vec<u64> = self.executed(0..self.traced.rows.count(), record.executed).collect();
        if executed.is_empty() {
            return None;
        }
        let judged = alone::judge(self, record)?;
        let (mut wrong, mut example) = (0, None);
        for &row in executed.iter().filter(|row| !self.is_astray(**row, record.executed, record.index)) {
            let outside = self.scalars(row, &record.result).enumerate().find_map(|(component, (scalar, got))| {
                let permitted = judged.permitted(row, component)?;
                (permitted.judge(got) == Standing::Outside).then_some((component, scalar, got, permitted))
            });
            let Some((component, scalar, got, permitted)) = outside else { continue };
            wrong += 1;
            example.get_or_insert_with(|| BlameExample {
                invocation: self.traced.rows.invocation(row),
                operands: record.operands.iter().map(|operand| self.hex(row, operand)).collect(),
                component,
                got: hex(scalar, got),
                permitted: ranges(scalar, &permitted.expected),
                scalar: scalar.to_string(),
            });
        }
        Some(Blame {
            instruction: record.index,
            name: name(&self.module.instruction(Index(record.index))),
            place: (self.place)(record.index),
            wrong,
            recorded: executed.len() as u64,
            example: example?,
        })
    }

    /// How an instruction's result came about in a row.
    pub(super) fn derived(&self, record: &Record, row: u64) -> Derived {
        let judged = alone::judge(self, record);
        let mut within = Some(true);
        let mut permitted = Vec::new();
        for (component, (scalar, got)) in self.scalars(row, &record.result).enumerate() {
            let set = judged.as_ref().and_then(|judged| judged.permitted(row, component));
            match set.as_ref().map(|set| set.judge(got)) {
                Some(Standing::Within | Standing::Lenient) => {}
                Some(Standing::Outside) => within = Some(false),
                Some(Standing::Open(_)) | None => within = within.filter(|within| !within),
            }
            permitted.push(set.map_or_else(Vec::new, |set| ranges(scalar, &set.expected)));
        }
        let scalar = record.result.form.parts.first().map(|part| part.scalar().to_string());
        Derived {
            name: name(&self.module.instruction(Index(record.index))),
            place: (self.place)(record.index),
            operands: record.operands.iter().map(|operand| self.hex(row, operand)).collect(),
            result: self.hex(row, &record.result),
            scalar: scalar.unwrap_or_default(),
            permitted,
            within,
        }
    }

    fn hex(&self, row: u64, value: &Value) -> Vec<String> {
        self.scalars(row, value).map(|(scalar, bits)| hex(scalar, bits)).collect()
    }
}

/// The wanted instructions that are recorded, and the words that it takes. None of what is made of parts is of `undefined` values:
/// a part of it that nobody needs may well be.
///
/// What was executed last in a block was executed with all of the block, so that one word says so for all of it, and a value that
/// several of its instructions are given, or that one makes for another, is stored once: a device compiles a good half less.
pub(super) fn find(
    module: &Module,
    usage: &Usage,
    undefined: &BTreeSet<u32>,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Record>, u32) {
    let written = Written::find(module, usage);
    let (mut records, mut next) = (Vec::new(), 0);
    for function in usage.functions.iter().filter_map(|f| module.functions().get(*f)) {
        let (mut executed, mut stored) = (None, BTreeMap::new());
        for i in module.instructions_in(function.instructions.clone()) {
            if i.op == Some(Op::Label) {
                (executed, stored) = (None, BTreeMap::new());
            }
            let Some(result) = i.result().filter(|id| wanted(*id)) else { continue };
            let between = i.op.is_some_and(subgroups::is_between);
            if between && !subgroups::is_uniform(module, usage, i.index) {
                continue;
            }
            let Some(Computation { operands, handles, form }) = recordable(module, &i, &written) else { continue };
            let aggregate = form.is_aggregate(module) || operands.iter().any(|(_, form)| form.is_aggregate(module));
            if aggregate && undefined.contains(&result) {
                continue;
            }
            let own = next;
            let executed = *executed.get_or_insert_with(|| {
                next += 1;
                next - 1
            });
            let mut value = |(id, form): (u32, Form)| {
                let word = *stored.entry(id).or_insert_with(|| {
                    next += form.words();
                    next - form.words()
                });
                Value { id, form, word }
            };
            let operands = operands.into_iter().map(&mut value).collect();
            let result = value((result, form));
            records.push(Record { index: i.index.0, at: i.at, executed, operands, handles, result, between, own });
        }
    }
    (records, next)
}

/// The atomic instructions on integers that say what they found, which is recorded of them and the value that they were given, from the first
/// word on; and the first word after that.
pub(super) fn atomics(module: &Module, usage: &Usage) -> (Vec<Record>, u32) {
    let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let (mut records, mut next) = (Vec::new(), 0);
    for i in functions.flat_map(|f| module.instructions_in(f.instructions.clone())) {
        let atomic = i.op.is_some_and(|op| op.name().starts_with("OpAtomic"));
        let found = i.result().filter(|_| atomic).and_then(|id| Some((id, Form::of_value(module, id)?)));
        let integer =
            |form: &Form| matches!(form.parts[..], [ref part] if matches!(part.plain.kind, PlainKind::Int { .. }));
        let Some((id, form)) = found.filter(|(_, form)| integer(form)) else { continue };
        let executed = next;
        next += 1;
        let mut value = |id: u32, form: Form| {
            next += form.words();
            Value { id, word: next - form.words(), form }
        };
        let result = value(id, form);
        let given = given(module, &i).and_then(|id| Some((id, Form::of_value(module, id)?)));
        let operands = given.into_iter().map(|(id, form)| value(id, form)).collect();
        let handles = Vec::new();
        let (index, at, between, own) = (i.index.0, i.at, false, executed);
        records.push(Record { index, at, executed, operands, handles, result, between, own });
    }
    (records, next)
}

/// What makes the value that an atomic instruction is given, if it is no constant.
fn given(module: &Module, atomic: &Instruction<'_>) -> Option<u32> {
    let mut ids = Vec::new();
    let walked = module.operands(*atomic, |operand| {
        if operand.kind == Kind::IdRef {
            ids.push(atomic.words[operand.at]);
        }
    });
    walked.ok()?;
    // Behind the pointer, and before the comparator.
    let value = *ids.get(1)?;
    module.definition_of_word(value).is_some_and(|made| module.function_at(made.index).is_some()).then_some(value)
}

/// What an instruction is given and makes.
struct Computation {
    /// Operands that are no constants, each once.
    operands: Vec<(u32, Form)>,
    /// What makes its images and samplers.
    handles: Vec<u32>,
    /// The result's.
    form: Form,
}

/// Whether an instruction computes something from what it is given: it moves nothing in memory, and takes no part in what others do but
/// subgroups.
fn computes(op: Op) -> bool {
    let between = ["OpGroup", "OpSubgroup", "OpAtomic", "OpRead", "OpCooperative"];
    let excluded = matches!(
        op,
        Op::Function | Op::Phi | Op::FunctionParameter | Op::Undef | Op::Variable | Op::FunctionCall | Op::Load
    );
    !excluded && (subgroups::is_between(op) || !between.iter().any(|start| op.name().starts_with(start)))
}

/// What an instruction is given and makes, if it computes numbers from numbers, of its invocation or its subgroup, and from images that nothing writes.
fn recordable(module: &Module, i: &Instruction<'_>, written: &Written) -> Option<Computation> {
    let op = i.op.filter(|op| computes(*op))?;
    // Of what an image is rather than of what it holds.
    let queries = op.name().starts_with("OpImageQuery");
    let form = Form::of_value(module, i.result()?)?;
    let inside = |id: u32| module.definition_of_word(id).is_some_and(|d| module.function_at(d.index).is_some());
    let (mut numbers, mut handles) = (Vec::new(), Vec::new());
    let mut suits = true;
    let walked = module.operands(*i, |operand| {
        let word = i.words[operand.at];
        match operand.kind {
            // Constants are there in every variant, and so are extended instructions.
            Kind::IdRef if !inside(word) => {
                let extended = module.extended_set(word).is_some();
                suits &= extended || Form::of_value(module, word).is_some();
            }
            Kind::IdRef => match Handle::find(module, word) {
                Some(handle) => {
                    suits &= queries || handle.is_only_read(module, written);
                    numbers.extend(handle.indices);
                    handles.extend(handle.made);
                }
                None => numbers.push(word),
            },
            Kind::IdScope => {
                let subgroup = module.constant_int(word) == Some(Scope::Subgroup as i64);
                suits &= subgroup && subgroups::is_between(op);
            }
            Kind::IdMemorySemantics => suits = false,
            _ => {}
        }
    });
    walked.ok().filter(|()| suits)?;
    let mut operands: Vec<(u32, Form)> = Vec::new();
    for id in numbers {
        if operands.iter().all(|(known, _)| *known != id) {
            operands.push((id, Form::of_value(module, id)?));
        }
    }
    let mut made = BTreeSet::new();
    handles.retain(|id| made.insert(*id));
    Some(Computation { operands, handles, form })
}

/// Whether an instruction can be contracted, and is not forbidden to be.
fn may_contract(module: &Module, record: &Record) -> bool {
    let arithmetic = matches!(
        module.instruction(Index(record.index)).op,
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
    arithmetic && !module.decorations(record.result.id).any(|d| d.decoration == Some(Decoration::NoContraction))
}
