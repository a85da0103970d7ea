//! Instructions that compute numbers from numbers, recorded with what they were given.

use super::alone::{self, Judged};
use super::code::{Recorder, as_words, words_of};
use super::rows::Here;
use super::{Reading, fits, name, scalar_of};
use crate::verdict::{Permitted, hex, ranges};
use assay_oracle::Standing;
use assay_runner::{Blame, BlameExample, Derived};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, Plain};
use assay_spirv::module::{Index, Instruction, Type};
use assay_spirv::tables::{Decoration, Kind, Op};
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
    /// What it is given that is no constant: id, type, and first word.
    pub(super) operands: Vec<(u32, Plain, u32)>,
    pub(super) result: (u32, Plain, u32),
    /// The words before this one are stored with earlier records of its block.
    own: u32,
}

impl Record {
    /// Puts code behind the instruction that records it, and forbids a contraction that its operands would not explain.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: Here) {
        if may_contract(editor.module(), self) {
            editor.annotate(Op::Decorate, &[self.result.0, Decoration::NoContraction.word()]);
        }
        let mut code = Vec::new();
        if self.executed >= self.own {
            recorder.word(editor, &mut code, here.row, self.executed, here.time);
        }
        let own = |(_, _, offset): &&(u32, Plain, u32)| *offset >= self.own;
        for (value, plain, offset) in self.operands.iter().chain([&self.result]).filter(own) {
            let words = as_words(editor, &mut code, *value, plain);
            for (offset, word) in (*offset..).zip(words) {
                recorder.word(editor, &mut code, here.row, offset, word);
            }
        }
        editor.after(self.at, &code);
    }
}

impl Reading<'_> {
    /// What there is to blame of an instruction, if its results are not all permitted for the operands that the device had.
    pub(super) fn blame(&self, record: &Record) -> Option<Blame> {
        let executed: Vec<u64> = self.executed(0..self.traced.rows.count(), record.executed).collect();
        if executed.is_empty() {
            return None;
        }
        let (_, plain, result) = record.result;
        let Judged { memory, element } = alone::judge(self, record)?;
        let scalar = scalar_of(&plain);
        let (mut wrong, mut example) = (0, None);
        for &row in &executed {
            let outside = (0..plain.count).find_map(|component| {
                let at = (row * u64::from(plain.count) + u64::from(component)) * u64::from(element / 8);
                let permitted = Permitted::of(&memory, at, element)?;
                let got = self.component(row, &plain, result, component);
                (permitted.judge(got) == Standing::Outside).then_some((component, got, permitted))
            });
            let Some((component, got, permitted)) = outside else { continue };
            wrong += 1;
            example.get_or_insert_with(|| BlameExample {
                invocation: self.traced.rows.invocation(row),
                operands: record.operands.iter().map(|(_, plain, offset)| self.hex(row, plain, *offset)).collect(),
                component: component as usize,
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
        let (_, plain, result) = record.result;
        let judged = alone::judge(self, record);
        let mut within = Some(true);
        let mut permitted = Vec::new();
        for component in 0..plain.count {
            let set = judged.as_ref().and_then(|judged| {
                let place = row * u64::from(plain.count) + u64::from(component);
                Permitted::of(&judged.memory, place * u64::from(judged.element / 8), judged.element)
            });
            match set.as_ref().map(|set| set.judge(self.component(row, &plain, result, component))) {
                Some(Standing::Within | Standing::Lenient) => {}
                Some(Standing::Outside) => within = Some(false),
                Some(Standing::Open(_)) | None => within = within.filter(|within| !within),
            }
            permitted.push(set.map_or_else(Vec::new, |set| ranges(scalar_of(&plain), &set.expected)));
        }
        Derived {
            name: name(&self.module.instruction(Index(record.index))),
            place: (self.place)(record.index),
            operands: record.operands.iter().map(|(_, plain, offset)| self.hex(row, plain, *offset)).collect(),
            result: self.hex(row, &plain, result),
            scalar: scalar_of(&plain).to_string(),
            permitted,
            within,
        }
    }

    fn hex(&self, row: u64, plain: &Plain, offset: u32) -> Vec<String> {
        (0..plain.count).map(|c| hex(scalar_of(plain), self.component(row, plain, offset, c))).collect()
    }
}

/// What is recorded, the names of instructions that compute something and cannot be, and the words that it takes.
///
/// What was executed last in a block was executed with all of the block, so that one word says so for all of it, and a value that
/// several of its instructions are given, or that one makes for another, is stored once: a device compiles a good half less.
pub(super) fn find(
    module: &Module,
    functions: impl Iterator<Item = usize>,
    wanted: impl Fn(u32) -> bool,
) -> (Vec<Record>, BTreeSet<String>, u32) {
    let mut next = 0;
    let (mut records, mut unseen) = (Vec::new(), BTreeSet::new());
    for function in functions {
        let Some(function) = module.functions().get(function) else { continue };
        let (mut executed, mut stored) = (None, BTreeMap::new());
        for i in module.instructions_in(function.instructions.clone()) {
            if i.op == Some(Op::Label) {
                (executed, stored) = (None, BTreeMap::new());
            }
            if !i.result().is_some_and(&wanted) {
                continue;
            }
            let (operands, result, plain) = match recordable(module, &i) {
                Ok(computation) => computation,
                Err(Unfit::Opaque) => {
                    unseen.insert(name(&i));
                    continue;
                }
                Err(Unfit::Other) => continue,
            };
            let own = next;
            let executed = *executed.get_or_insert_with(|| {
                next += 1;
                next - 1
            });
            let mut place = |id: u32, plain: &Plain| {
                *stored.entry(id).or_insert_with(|| {
                    next += words_of(plain);
                    next - words_of(plain)
                })
            };
            let operands = operands.into_iter().map(|(id, plain)| (id, plain, place(id, &plain))).collect();
            let result = (result, plain, place(result, &plain));
            records.push(Record { index: i.index.0, at: i.at, executed, operands, result, own });
        }
    }
    (records, unseen, next)
}

/// Operands that are no constants, result, and the result's type.
type Computation = (Vec<(u32, Plain)>, u32, Plain);

/// Why an instruction is not recorded.
enum Unfit {
    /// What it is given or makes is no vector or scalar of numbers.
    Opaque,
    /// It computes nothing from numbers of its own invocation, or is judged otherwise.
    Other,
}

/// What an instruction is given and makes, if it computes numbers from numbers of its own invocation.
fn recordable(module: &Module, i: &Instruction<'_>) -> Result<Computation, Unfit> {
    let op = i.op.ok_or(Unfit::Other)?;
    let between = ["OpGroup", "OpSubgroup", "OpAtomic", "OpRead", "OpCooperative"];
    let excluded = matches!(
        op,
        Op::Function | Op::Phi | Op::FunctionParameter | Op::Undef | Op::Variable | Op::FunctionCall | Op::Load
    );
    let result = i.result().ok_or(Unfit::Other)?;
    let handle = module.type_of(result).is_none_or(|ty| {
        let of_numbers = matches!(module.ty(ty), Type::Matrix { .. } | Type::Struct { .. } | Type::Array { .. });
        !of_numbers && Plain::of(module, ty).is_none()
    });
    if excluded || handle || between.iter().any(|start| op.name().starts_with(start)) {
        return Err(Unfit::Other);
    }
    let plain = Plain::of_value(module, result).filter(|plain| fits(module, plain)).ok_or(Unfit::Opaque)?;
    let mut operands: Vec<(u32, Plain)> = Vec::new();
    let mut suits = true;
    let walked = module.operands(*i, |operand| {
        let word = i.words[operand.at];
        match operand.kind {
            Kind::IdRef => {
                let Some(definition) = module.definition_of_word(word) else { return suits = false };
                if definition.op == Some(Op::ExtInstImport) {
                    return;
                }
                match Plain::of_value(module, word).filter(|plain| fits(module, plain)) {
                    // Constants are there in every variant.
                    Some(_) if module.function_at(definition.index).is_none() => {}
                    Some(_) if operands.iter().any(|(known, _)| *known == word) => {}
                    Some(plain) => operands.push((word, plain)),
                    None => suits = false,
                }
            }
            Kind::IdScope | Kind::IdMemorySemantics => suits = false,
            _ => {}
        }
    });
    if walked.is_err() || !suits {
        return Err(Unfit::Opaque);
    }
    Ok((operands, result, plain))
}

/// Whether an instruction can be contracted, and is not forbidden to be.
pub(super) fn may_contract(module: &Module, record: &Record) -> bool {
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
                | Op::Dot
        )
    );
    arithmetic && !module.decorations(record.result.0).any(|d| d.decoration == Some(Decoration::NoContraction))
}
