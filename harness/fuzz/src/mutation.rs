//! Mutants of shaders.
//!
//! A mutant keeps the dispatch and the inputs of its shader. Each change leaves the module legal.
//! Whether its behaviour stays defined is left to the interpreter, so more of these programs are
//! dropped than of others.

use crate::crossing::crossed;
use crate::instruction_choice::{chosen_instruction, id_text};
use assay_check::{Options, ShaderSource};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::tables::{GlslStd450, Op};
use assay_spirv::{Module, Style, disassemble};
use assay_suite::{Case, Program, RunPath};
use fastrand::Rng;
use std::sync::LazyLock;

/// Largest number of changes of a mutant.
const CHANGES: u32 = 4;

/// Number of times that another change is tried in place of one that breaks a rule.
const TRIES: u32 = 12;

/// Instructions that replace each other, since their types are the same.
const ALIKE: [&[Op]; 9] = [
    &[Op::IAdd, Op::ISub, Op::IMul, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor],
    &[Op::FAdd, Op::FSub, Op::FMul],
    &[Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic],
    &[Op::IEqual, Op::INotEqual, Op::ULessThan, Op::SLessThan, Op::UGreaterThanEqual, Op::SGreaterThanEqual],
    &[Op::FOrdEqual, Op::FOrdLessThan, Op::FUnordLessThan, Op::FOrdGreaterThanEqual, Op::FUnordNotEqual],
    &[Op::LogicalAnd, Op::LogicalOr, Op::LogicalEqual, Op::LogicalNotEqual],
    &[Op::ConvertSToF, Op::ConvertUToF],
    &[Op::SNegate, Op::Not],
    &[Op::BitFieldSExtract, Op::BitFieldUExtract],
];

/// Extended instructions that replace each other.
const ALIKE_EXTENDED: [&[GlslStd450]; 5] = [
    &[GlslStd450::FMin, GlslStd450::FMax, GlslStd450::NMin, GlslStd450::NMax, GlslStd450::Step],
    &[GlslStd450::SMin, GlslStd450::SMax, GlslStd450::UMin, GlslStd450::UMax],
    &[GlslStd450::SClamp, GlslStd450::UClamp],
    &[GlslStd450::Floor, GlslStd450::Ceil, GlslStd450::Trunc, GlslStd450::RoundEven, GlslStd450::Fract],
    &[GlslStd450::FindSMsb, GlslStd450::FindUMsb, GlslStd450::FindILsb],
];

/// The cases of the compute suite.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let compute = assay_suite::all().into_iter().filter(|suite| suite.name() == "compute");
    compute.flat_map(|suite| suite.cases()).collect()
});

/// Returns a random mutant of a shader of the compute suite.
pub(crate) fn mutant_of_suite(rng: &mut Rng) -> Program {
    let [case, other] = [0; 2].map(|_| &CASES[rng.usize(..CASES.len())]);
    let program = case.program(RunPath::Native).expect("the suite has programs");
    let source = |case: &Case, program: &Program| {
        let shader = ShaderSource::read(&format!("{}.{}", case.name, program.ending), program.text.as_bytes());
        shader.expect("the suite's shaders compile")
    };
    let donor = source(other, &other.program(RunPath::Native).expect("the suite has programs"));
    let text = mutant(&source(case, &program), &donor, &case.name, rng);
    // The values that the case expects are those of the original.
    Program::new(text, Options { expectations: Vec::new(), ..program.options })
}

/// Returns a random mutant of a shader as SPIR-V text, with its changes in comments. Some of its
/// computations may come from the donor.
pub(crate) fn mutant(shader: &ShaderSource, donor: &ShaderSource, name: &str, rng: &mut Rng) -> String {
    let mut module = Module::parse(shader.source.module.words().to_vec()).expect("a module");
    let mut log = String::new();
    for _ in 0..rng.u32(1..=CHANGES) {
        let changed = (0..TRIES).find_map(|_| changed(&module, &donor.source.module, rng));
        if let Some((next, what)) = changed {
            (module, log) = (next, format!("{log}; {what}\n"));
        }
    }
    let text = disassemble(module.words(), Style::Plain).expect("a module");
    format!("{text}; Mutant of {name}:\n{log}")
}

/// Returns the module after a random change, with a description; `None` if the change breaks a rule.
fn changed(module: &Module, donor: &Module, rng: &mut Rng) -> Option<(Module, String)> {
    let (words, what) = match rng.u32(..8) {
        0 | 1 => other_opcode(module, rng),
        2 | 3 => other_operand(module, rng),
        4 => other_constant(module, rng),
        5 => decorated(module, rng),
        _ => crossed(module, donor, rng),
    }?;
    let module = Module::parse(words).ok()?;
    let bytes: Vec<u8> = module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let shader = ShaderSource::read("mutant.spv", &bytes).ok()?;
    shader.must_be_legal(false).ok()?;
    Some((module, what))
}

/// Replaces an instruction by a similar one.
fn other_opcode(module: &Module, rng: &mut Rng) -> Option<(Vec<u32>, String)> {
    let group = |one: &Instruction<'_>| ALIKE.iter().find(|group| one.op.is_some_and(|op| group.contains(&op)));
    let extended = |one: &Instruction<'_>| {
        let op = (one.op == Some(Op::ExtInst)).then(|| GlslStd450::from_word(one.operand(1)?)).flatten()?;
        ALIKE_EXTENDED.iter().find(|group| group.contains(&op))
    };
    let one = chosen_instruction(module, rng, |one| group(one).is_some() || extended(one).is_some())?;
    let mut words = module.words().to_vec();
    let name = match (group(&one), extended(&one)) {
        (Some(group), _) => {
            let op = rng.choice(*group).filter(|op| Some(**op) != one.op)?;
            words[one.at] = words[one.at] & 0xffff_0000 | *op as u32;
            op.name().to_owned()
        }
        (None, Some(group)) => {
            let op = rng.choice(*group).filter(|op| **op as u32 != words[one.at + 4])?;
            words[one.at + 4] = *op as u32;
            format!("{op:?}")
        }
        (None, None) => return None,
    };
    Some((words, format!("{} is now {name}", id_text(&one))))
}

/// Replaces an operand of an instruction by a constant of its type, or by a result of its block.
fn other_operand(module: &Module, rng: &mut Rng) -> Option<(Vec<u32>, String)> {
    // The limits of a clamp, in order, and the numbers of bits of a shift or a field are in a range.
    let has_limits = |one: &Instruction<'_>| {
        let clamps = [GlslStd450::FClamp, GlslStd450::NClamp, GlslStd450::SClamp, GlslStd450::UClamp];
        let extended = (one.op == Some(Op::ExtInst)).then(|| GlslStd450::from_word(one.operand(1)?)).flatten();
        let bits = [
            Op::ShiftLeftLogical,
            Op::ShiftRightLogical,
            Op::ShiftRightArithmetic,
            Op::BitFieldInsert,
            Op::BitFieldSExtract,
            Op::BitFieldUExtract,
        ];
        extended.is_some_and(|op| clamps.contains(&op)) || one.op.is_some_and(|op| bits.contains(&op))
    };
    let is_number = |id: u32| {
        module.type_of(id).is_some_and(|ty| {
            matches!(module.ty(ty), Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Vector { .. })
        })
    };
    let one = chosen_instruction(module, rng, |one| {
        let moves = matches!(one.op, Some(Op::Phi | Op::AccessChain | Op::FunctionCall | Op::Load));
        !moves && !has_limits(one) && one.result().is_some_and(is_number)
    })?;
    let mut operands = Vec::new();
    module.uses(one, |id| operands.extend(is_number(id).then_some(id)));
    let from = rng.choice(operands)?;
    let ty = module.type_of(from);
    let block = module.block(module.block_at(one.index)?);
    let constants = module.section(Section::Globals).filter(|other| other.op != Some(Op::Undef));
    let before = module.instructions_in(block.instructions.start..one.index.0);
    let others = constants.chain(before).filter_map(|other| other.result()).filter(|id| module.type_of(*id) == ty);
    let to = rng.choice(others.collect::<Vec<u32>>())?;
    let mut words = module.words().to_vec();
    let place = (one.at + 3..one.at + one.words.len()).find(|at| words[*at] == from)?;
    words[place] = to;
    Some((words, format!("{} takes %{to} in place of %{from}", id_text(&one))))
}

/// Replaces the value of a 32-bit constant.
fn other_constant(module: &Module, rng: &mut Rng) -> Option<(Vec<u32>, String)> {
    let is = |one: &Instruction<'_>| one.op == Some(Op::Constant) && one.words.len() == 4;
    let constants: Vec<Instruction<'_>> = module.section(Section::Globals).filter(is).collect();
    let one = rng.choice(constants)?;
    let is_float = one.result().and_then(|id| module.type_of(id)).map(|ty| module.ty(ty));
    let value = match is_float {
        Some(Type::Float { width: 32, .. }) => rng.choice([1.0_f32, -1.0, 0.5, 1.5, 3.0, 0.1, -0.75, 10.0])?.to_bits(),
        Some(Type::Int { width: 32, .. }) => {
            rng.choice([0, 1, 2, 3, 4, 7, 8, 31, 32, 255, 0x7fff_ffff, 0x8000_0000, u32::MAX])?
        }
        _ => return None,
    };
    let mut words = module.words().to_vec();
    words[one.at + 3] = value;
    Some((words, format!("{} has the bits {value:#010x}", id_text(&one))))
}

/// Decorates a result as NoContraction or RelaxedPrecision.
fn decorated(module: &Module, rng: &mut Rng) -> Option<(Vec<u32>, String)> {
    let float = |id: u32| {
        let mut ty = module.ty(module.type_of(id)?);
        if let Type::Vector { component, .. } = ty {
            ty = module.ty(*component);
        }
        matches!(ty, Type::Float { width: 32, .. }).then_some(())
    };
    let is_arithmetic = |one: &Instruction<'_>| matches!(one.op, Some(Op::FAdd | Op::FSub | Op::FMul | Op::FDiv));
    let one = chosen_instruction(module, rng, |one| {
        is_arithmetic(one) && one.result().is_some_and(|id| float(id).is_some())
    })?;
    let (name, decoration) = rng.choice([("RelaxedPrecision", 0), ("NoContraction", 42)])?;
    let id = one.result()?;
    let at = module.section(Section::Globals).next()?.at;
    let mut words = module.words().to_vec();
    words.splice(at..at, [3 << 16 | Op::Decorate as u32, id, decoration]);
    Some((words, format!("%{id} is {name}")))
}
