//! Planted errors (mutation testing): the device runs another module than the one that is checked,
//! so that users and tests can see that a check, a trace and a reduction find the error.

use crate::CheckError;
use crate::changing_target::{ChangingTarget, ModuleChange};
use crate::composite_types::parts;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::{Instruction, InstructionIndex, Type, TypeId};
use assay_spirv::reflect::static_uses;
use assay_spirv::tables::{Decoration, Op};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Kind of a planted error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MutationKind {
    /// Adds this number to the bits of a float result, which moves it by as many representable
    /// values.
    Ulp(i32),
    /// Flips the sign of a zero result.
    SignOfZero,
    /// Adds one to an integer result.
    OffByOne,
    /// Negates a boolean result.
    Negation,
    /// Replaces a signed instruction by the unsigned one, or vice versa.
    Signedness,
    /// Replaces a read-modify-write atomic by an atomic load.
    LostAtomic,
    /// Removes a barrier.
    MissingBarrier,
}

impl MutationKind {
    /// Returns the instructions that it changes, or the part of them, in words.
    fn target(self) -> &'static str {
        match self {
            MutationKind::Ulp(_) | MutationKind::SignOfZero => "floating-point results",
            MutationKind::OffByOne => "integer results",
            MutationKind::Negation => "boolean results",
            MutationKind::Signedness => "instructions with a signed and an unsigned form",
            MutationKind::LostAtomic => "atomics that read and write",
            MutationKind::MissingBarrier => "control barriers",
        }
    }
}

/// A planted error, with the instruction that it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutation {
    /// Kind of the error.
    pub kind: MutationKind,
    /// The instruction: `%ID`, `word N` (offset of its first word in the module), a number (index
    /// in the module), a name (the first instruction of that name), or `last`. `None` stands for
    /// the first instruction that the kind applies to.
    pub at: Option<String>,
}

impl FromStr for Mutation {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Mutation, CheckError> {
        let (kind, at) = match text.split_once('@') {
            Some((kind, at)) => (kind, Some(at.to_owned())),
            None => (text, None),
        };
        let kind = match kind.split_once(':') {
            Some(("ulp", steps)) => steps.parse().ok().filter(|steps| *steps != 0).map(MutationKind::Ulp),
            Some(_) => None,
            None => match kind {
                "ulp" => Some(MutationKind::Ulp(1)),
                "rounding" => Some(MutationKind::Ulp(-1)),
                "sign-of-zero" => Some(MutationKind::SignOfZero),
                "off-by-one" => Some(MutationKind::OffByOne),
                "negation" => Some(MutationKind::Negation),
                "signedness" => Some(MutationKind::Signedness),
                "lost-atomic" => Some(MutationKind::LostAtomic),
                "missing-barrier" => Some(MutationKind::MissingBarrier),
                _ => None,
            },
        };
        let kind = kind.ok_or_else(|| {
            CheckError::option(format!(
                "`{text}`: expected KIND or KIND@INSTRUCTION, where KIND is one of ulp, ulp:N, rounding, sign-of-zero, \
                 off-by-one, negation, signedness, lost-atomic, missing-barrier"
            ))
        })?;
        Ok(Mutation { kind, at })
    }
}

/// Selects the last instruction that the kind applies to.
const LAST: &str = "last";

/// Prefix of a word offset.
const WORD: &str = "word ";

/// An instruction with a planted error, which can be found again in variants of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedError {
    kind: MutationKind,
    site: Site,
    /// Index of the instruction in the original module.
    pub instruction: u32,
    /// Word offset of the instruction in the original module.
    pub word: usize,
}

/// Identity of an instruction across variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// Id of its result.
    Result(u32),
    /// Index among the control barriers.
    Barrier(usize),
}

impl Mutation {
    /// Finds the instruction.
    ///
    /// # Errors
    /// No instruction matches to which the kind applies.
    pub fn plant(&self, module: &Module, entry: &str) -> Result<PlantedError, CheckError> {
        let sites = self.sites(module, entry);
        let found = if self.at.as_deref() == Some(LAST) { sites.last() } else { sites.into_iter().next() };
        if let Some(planted) = found {
            return Ok(planted);
        }
        let kind = Mutation { at: None, ..self.clone() };
        let at = self.at.as_ref().map_or_else(|| " of the shader".to_owned(), |at| format!(" at `{at}`"));
        let why =
            instructions(module, entry).filter(|i| self.selects(module, i)).find_map(|i| self.undeclared(module, &i));
        let why = why.map_or_else(String::new, |width| {
            format!(", and it requires an integer type of {width} bits, which the module does not declare")
        });
        let elsewhere = self.alternatives(module, entry, None);
        let elsewhere = elsewhere.map_or_else(String::new, |places| format!("; it can be planted with {places}"));
        let what = self.kind.target();
        Err(CheckError::option(format!("{kind} applies to no instruction{at}: it changes {what}{why}{elsewhere}")))
    }

    /// Returns the matching instructions to which the kind applies, in the order of functions.
    fn sites<'a>(&'a self, module: &'a Module, entry: &str) -> impl Iterator<Item = PlantedError> + use<'a> {
        instructions(module, entry).filter(|i| self.selects(module, i)).filter_map(|i| {
            let planted = PlantedError::of(self.kind, module, &i)?;
            planted.change(module).is_some().then_some(planted)
        })
    }

    /// Returns whether an instruction matches `at`.
    fn selects(&self, module: &Module, i: &Instruction<'_>) -> bool {
        let Some(at) = self.at.as_deref().filter(|at| *at != LAST) else { return true };
        if let Some(word) = at.strip_prefix(WORD) {
            return word.parse() == Ok(i.at);
        }
        let by_id = at.strip_prefix('%').is_some_and(|id| {
            let named = || i.result().is_some_and(|result| module.names().of(result).as_deref() == Some(id));
            id.parse().map_or_else(|_| named(), |id: u32| i.result() == Some(id))
        });
        by_id
            || at.parse() == Ok(i.index.0)
            || i.op.is_some_and(|op| op.name() == at)
            || crate::instrument::name(i) == at
    }

    /// Returns options that plant the error in other instructions than `but`; `None` if there are
    /// none.
    pub fn alternatives(&self, module: &Module, entry: &str, but: Option<&PlantedError>) -> Option<String> {
        /// Largest number of instructions listed.
        const MAX_LISTED: usize = 4;
        let anywhere = Mutation { at: None, ..self.clone() };
        let others = anywhere.sites(module, entry).filter(|planted| Some(planted) != but);
        let option = |planted: PlantedError| {
            let i = module.instruction(InstructionIndex(planted.instruction));
            format!("'{}' ({})", self.at_word(planted.word), crate::instrument::name(&i))
        };
        let listed: Vec<String> = others.take(MAX_LISTED).map(option).collect();
        (!listed.is_empty()).then(|| format!("--mutate {}", listed.join(" or ")))
    }

    /// Returns this mutation of the instruction at a word offset.
    #[must_use]
    pub fn at_word(&self, word: usize) -> Mutation {
        Mutation { kind: self.kind, at: Some(format!("{WORD}{word}")) }
    }

    /// Returns the width of the integer type that the mutation requires and the module does not
    /// declare.
    fn undeclared(&self, module: &Module, i: &Instruction<'_>) -> Option<u32> {
        let plain = ScalarOrVector::of_value(module, i.result()?)?;
        let of_floats = matches!(self.kind, MutationKind::Ulp(_) | MutationKind::SignOfZero);
        let suits = of_floats && plain.kind == ComponentKind::Float;
        (suits && !declares_ints(module, plain.width)).then_some(plain.width)
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            MutationKind::Ulp(-1) => f.write_str("rounding"),
            MutationKind::Ulp(steps) => write!(f, "ulp:{steps}"),
            MutationKind::SignOfZero => f.write_str("sign-of-zero"),
            MutationKind::OffByOne => f.write_str("off-by-one"),
            MutationKind::Negation => f.write_str("negation"),
            MutationKind::Signedness => f.write_str("signedness"),
            MutationKind::LostAtomic => f.write_str("lost-atomic"),
            MutationKind::MissingBarrier => f.write_str("missing-barrier"),
        }?;
        self.at.as_ref().map_or(Ok(()), |at| write!(f, "@{at}"))
    }
}

/// Returns the instructions of the functions that an entry point may call.
fn instructions<'a>(module: &'a Module, entry: &str) -> impl Iterator<Item = Instruction<'a>> + use<'a> {
    let usage = static_uses(module).into_iter().find(|usage| usage.name == entry);
    let functions = usage.map(|usage| usage.functions).into_iter().flatten();
    let functions = functions.filter_map(|function| module.functions().get(function));
    functions.flat_map(|function| module.instructions_in(function.instructions.clone()))
}

/// Returns an identity of an instruction that survives edits of the module: its result id, or its
/// number among the control barriers. `None` if it has no result and is not a control barrier.
fn site(module: &Module, i: &Instruction<'_>) -> Option<Site> {
    match i.result() {
        Some(result) => Some(Site::Result(result)),
        None if i.op == Some(Op::ControlBarrier) => {
            let before = module.instructions().take_while(|other| other.index < i.index);
            Some(Site::Barrier(before.filter(|other| other.op == Some(Op::ControlBarrier)).count()))
        }
        None => None,
    }
}

impl PlantedError {
    /// Returns an error of an instruction; `None` if it has no identity in variants of the module.
    pub(crate) fn of(kind: MutationKind, module: &Module, i: &Instruction<'_>) -> Option<PlantedError> {
        Some(PlantedError { kind, site: site(module, i)?, instruction: i.index.0, word: i.at })
    }

    /// Finds the instruction in the module or a variant of it; `None` if it is not there.
    pub fn find<'a>(&self, module: &'a Module) -> Option<Instruction<'a>> {
        match self.site {
            Site::Result(result) => module.definition_of(result),
            Site::Barrier(number) => module.instructions().filter(|i| i.op == Some(Op::ControlBarrier)).nth(number),
        }
    }

    /// Returns the words of the module with the error planted, for the oracle; `None` if it does not
    /// apply. An error of `n` ulp is a product with the number `n` ulp above 1, a relative error of the
    /// same size: the oracle does not follow a set of floats through its bit patterns.
    pub(crate) fn change_for_oracle(&self, module: &Module) -> Option<Vec<u32>> {
        let MutationKind::Ulp(steps) = self.kind else { return self.change(module) };
        let i = self.find(module)?;
        let mut editor = Editor::new(module);
        scale(&mut editor, &i, steps)?;
        Some(editor.finish())
    }

    /// Returns the words of the module with the error planted; `None` if it does not apply.
    fn change(&self, module: &Module) -> Option<Vec<u32>> {
        let i = self.find(module)?;
        let mut editor = Editor::new(module);
        match self.kind {
            MutationKind::Ulp(steps) => add_to_bits(&mut editor, &i, ComponentKind::Float, i64::from(steps))?,
            MutationKind::OffByOne => add_to_bits(&mut editor, &i, ComponentKind::Int { signed: false }, 1)?,
            MutationKind::Negation => negate(&mut editor, &i)?,
            MutationKind::SignOfZero => sign_of_zero(&mut editor, &i)?,
            MutationKind::Signedness => {
                let mut words = i.words.to_vec();
                words[0] = words[0] & 0xffff_0000 | other_signedness(i.op?)? as u32;
                editor.replace(i.at, words);
            }
            MutationKind::LostAtomic => {
                let (ty, result) = (i.result_type()?, i.result()?);
                let [pointer, scope, ..] = *i.operands() else { return None };
                if !is_update(i.op?) {
                    return None;
                }
                let uint = editor.uint(32);
                let relaxed = editor.constant(uint, 32, 0);
                editor.replace(i.at, instruction(Op::AtomicLoad, &[ty, result, pointer, scope, relaxed]));
            }
            MutationKind::MissingBarrier => {
                if i.op != Some(Op::ControlBarrier) {
                    return None;
                }
                editor.replace(i.at, Vec::new());
            }
        }
        Some(editor.finish())
    }
}

/// Changes the result of an instruction: gives the original result a new id, and defines its id as
/// the changed value. In an aggregate, the first scalar or vector that can be changed is. Returns
/// `None` if there is none, or the instruction has no computed result.
fn divert(editor: &mut Editor<'_>, i: &Instruction<'_>, change: &EmitChange<'_>) -> Option<()> {
    let op = i.op?;
    let module = editor.module();
    let ty = module.type_declared(i.result_type()?)?;
    if matches!(op, Op::Phi | Op::Function | Op::FunctionParameter | Op::Undef | Op::Variable)
        || !in_function(module, i)
    {
        return None;
    }
    editor.wrap_result(i, |editor, new, result| {
        let mut code = Vec::new();
        change_value(editor, &mut code, ty, (new, result), change)?;
        Some(code)
    })
}

/// Emits code that defines the second id as the changed value of the first, a scalar or vector;
/// `None` if that is not possible.
type EmitChange<'a> = dyn Fn(&mut Editor<'_>, &mut Vec<u32>, ScalarOrVector, (u32, u32)) -> Option<()> + 'a;

/// Emits code that changes a value of any type.
fn change_value(
    editor: &mut Editor<'_>,
    code: &mut Vec<u32>,
    ty: TypeId,
    (value, result): (u32, u32),
    change: &EmitChange<'_>,
) -> Option<()> {
    let module = editor.module();
    let word = |ty: TypeId| module.type_definition(ty).result();
    if let Some(plain) = ScalarOrVector::of(module, ty) {
        return change(editor, code, plain, (value, result));
    }
    (0..).zip(parts(module, ty)?).find_map(|(index, part)| {
        let ([old, new], mut inner) = ([editor.id(), editor.id()], Vec::new());
        inner.extend(instruction(Op::CompositeExtract, &[word(part)?, old, value, index]));
        change_value(editor, &mut inner, part, (old, new), change)?;
        inner.extend(instruction(Op::CompositeInsert, &[word(ty)?, result, new, value, index]));
        code.extend(inner);
        Some(())
    })
}

fn in_function(module: &Module, i: &Instruction<'_>) -> bool {
    module.function_at(i.index).is_some()
}

/// Returns whether integers of a width are available without another capability.
fn declares_ints(module: &Module, width: u32) -> bool {
    width == 32 || module.types().any(|(_, ty)| matches!(ty, Type::Int { width: w, .. } if *w == width))
}

/// Adds a number to the bits of each component of the result.
fn add_to_bits(editor: &mut Editor<'_>, i: &Instruction<'_>, wanted: ComponentKind, number: i64) -> Option<()> {
    divert(editor, i, &|editor, code, plain, (value, result)| {
        let ScalarOrVector { ty, kind, width, count, .. } = plain;
        let fits = matches!(
            (kind, wanted),
            (ComponentKind::Float, ComponentKind::Float) | (ComponentKind::Int { .. }, ComponentKind::Int { .. })
        );
        if !fits || !declares_ints(editor.module(), width) {
            return None;
        }
        let uint = editor.uint(width);
        let uints = editor.vector(uint, count);
        let mask = if width >= 64 { u64::MAX } else { (1u64 << width.max(32)) - 1 };
        let one = editor.constant(uint, width, number as u64 & mask);
        let addend = editor.splat(uints, one, count);
        if ty == uints {
            code.extend(instruction(Op::IAdd, &[ty, result, value, addend]));
        } else {
            let [bits, sum] = [editor.id(), editor.id()];
            code.extend(instruction(Op::Bitcast, &[uints, bits, value]));
            code.extend(instruction(Op::IAdd, &[uints, sum, bits, addend]));
            code.extend(instruction(Op::Bitcast, &[ty, result, sum]));
        }
        Some(())
    })
}

/// Multiplies each component of a float result by the number that many representable values above 1.
fn scale(editor: &mut Editor<'_>, i: &Instruction<'_>, steps: i32) -> Option<()> {
    divert(editor, i, &|editor, code, plain, (value, result)| {
        let ScalarOrVector { ty, component, kind: ComponentKind::Float, width, count } = plain else { return None };
        let one: i64 = match width {
            16 => 0x3c00,
            32 => 0x3f80_0000,
            64 => 0x3ff0 << 48,
            _ => return None,
        };
        let factor = editor.constant(component, width, (one + i64::from(steps)) as u64);
        let factor = editor.splat(ty, factor, count);
        code.extend(instruction(Op::FMul, &[ty, result, value, factor]));
        editor.annotate(Op::Decorate, &[result, Decoration::NoContraction.word()]);
        Some(())
    })
}

/// Negates each component of a boolean result.
fn negate(editor: &mut Editor<'_>, i: &Instruction<'_>) -> Option<()> {
    divert(editor, i, &|_, code, plain, (value, result)| {
        let is_bool = plain.kind == ComponentKind::Bool;
        code.extend(is_bool.then(|| instruction(Op::LogicalNot, &[plain.ty, result, value]))?);
        Some(())
    })
}

/// Flips the sign of each component of the result that is zero. It operates on the bits, so that no
/// driver can simplify it.
fn sign_of_zero(editor: &mut Editor<'_>, i: &Instruction<'_>) -> Option<()> {
    divert(editor, i, &|editor, code, plain, (value, result)| {
        let ScalarOrVector { ty, kind: ComponentKind::Float, width, count, .. } = plain else { return None };
        if !declares_ints(editor.module(), width) {
            return None;
        }
        let (uint, bool) = (editor.uint(width), editor.bool());
        let (uints, bools) = (editor.vector(uint, count), editor.vector(bool, count));
        let mut constant = |bits: u64| {
            let value = editor.constant(uint, width, bits);
            editor.splat(uints, value, count)
        };
        let sign_bit = 1 << (width - 1);
        let (zero, magnitude, sign) = (constant(0), constant(sign_bit - 1), constant(sign_bit));
        let [bits, size, is_zero, flipped, chosen] = std::array::from_fn(|_| editor.id());
        for words in [
            instruction(Op::Bitcast, &[uints, bits, value]),
            instruction(Op::BitwiseAnd, &[uints, size, bits, magnitude]),
            instruction(Op::IEqual, &[bools, is_zero, size, zero]),
            instruction(Op::BitwiseXor, &[uints, flipped, bits, sign]),
            instruction(Op::Select, &[uints, chosen, is_zero, flipped, bits]),
            instruction(Op::Bitcast, &[ty, result, chosen]),
        ] {
            code.extend(words);
        }
        Some(())
    })
}

/// Returns the corresponding instruction for the other signedness.
fn other_signedness(op: Op) -> Option<Op> {
    const PAIRS: [(Op, Op); 10] = [
        (Op::SConvert, Op::UConvert),
        (Op::ShiftRightArithmetic, Op::ShiftRightLogical),
        (Op::SDiv, Op::UDiv),
        (Op::BitFieldSExtract, Op::BitFieldUExtract),
        (Op::ConvertSToF, Op::ConvertUToF),
        (Op::SLessThan, Op::ULessThan),
        (Op::SGreaterThan, Op::UGreaterThan),
        (Op::SLessThanEqual, Op::ULessThanEqual),
        (Op::SGreaterThanEqual, Op::UGreaterThanEqual),
        (Op::AtomicSMax, Op::AtomicUMax),
    ];
    PAIRS.iter().find_map(|&(signed, unsigned)| match op {
        _ if op == signed => Some(unsigned),
        _ if op == unsigned => Some(signed),
        _ => None,
    })
}

/// Returns whether an instruction is a read-modify-write atomic on integers whose first operands
/// are pointer, scope and semantics.
fn is_update(op: Op) -> bool {
    let other = matches!(op, Op::AtomicLoad | Op::AtomicStore | Op::AtomicCompareExchange);
    !other && assay_oracle::left_by_atomic(op, 32, 0, &[]).is_some()
}

/// A target that runs modules with a planted error.
pub type MutatingTarget<T> = ChangingTarget<T, PlantedError>;

impl ModuleChange for PlantedError {
    fn changed(&self, module: &Module) -> Result<Vec<u32>, String> {
        self.change(module).ok_or_else(|| "the instruction with the planted error is missing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_round_trip_through_text() {
        for text in [
            "ulp:4@OpFMul",
            "rounding",
            "sign-of-zero@%12",
            "lost-atomic",
            "missing-barrier@3",
            "missing-barrier@word 420",
        ] {
            assert_eq!(text.parse::<Mutation>().unwrap().to_string(), text);
        }
        for text in ["", "ulp:x", "typo", "typo:3"] {
            assert!(text.parse::<Mutation>().is_err(), "{text}");
        }
    }
}
