//! The tested instruction: its kind of shader, and its text.

use super::module_text::ModuleText;
use assay_float::BF16;
use assay_precision::{Call, FastMath, Modes, Op, Scalar, SpirvForm, Type};

/// Declares the capabilities, extensions and execution modes that the call's environment and opcode
/// need.
pub(super) fn declare(module: &mut ModuleText, call: &Call) {
    let floats: Vec<Scalar> = float_types(call);
    for &scalar in &floats {
        execution_modes(module, call, scalar.width());
    }
    // Packing converts to binary16, which is not the type of an operand, but its modes apply as
    // well.
    if matches!(call.op, Op::PackHalf2x16 | Op::UnpackHalf2x16) {
        execution_modes(module, call, 16);
    }
    if let Some(flags) = call.modes.fast_math {
        module.capability("FloatControls2");
        module.extension("SPV_KHR_float_controls2");
        let mask = module.word(mask(flags));
        for scalar in floats {
            let ty = module.scalar(scalar);
            module.execution_modes += &format!("{:15}OpExecutionModeId %main FPFastMathDefault {ty} {mask}\n", "");
        }
    }
    let width = call.results.first().map_or(32, |ty| ty.scalar.width());
    let by_width = |names: [&'static str; 3]| names[width.ilog2().saturating_sub(4).min(2) as usize];
    match call.op {
        Op::FmaKHR => {
            module.capability("FMAKHR");
            module.extension("SPV_KHR_fma");
        }
        Op::Dot if call.results[0].scalar == Scalar::Float(BF16) => {
            module.capability("BFloat16DotProductKHR");
        }
        Op::GroupNonUniformAllEqual => {
            module.capability("GroupNonUniformVote");
        }
        Op::GroupNonUniformFMin | Op::GroupNonUniformFMax | Op::GroupNonUniformFAdd | Op::GroupNonUniformFMul => {
            module.capability("GroupNonUniformArithmetic");
        }
        Op::AtomicFAddEXT => {
            let capability = by_width(["AtomicFloat16AddEXT", "AtomicFloat32AddEXT", "AtomicFloat64AddEXT"]);
            module.capability(capability);
            module.extension(if width == 16 {
                "SPV_EXT_shader_atomic_float16_add"
            } else {
                "SPV_EXT_shader_atomic_float_add"
            });
        }
        Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
            let capability = by_width(["AtomicFloat16MinMaxEXT", "AtomicFloat32MinMaxEXT", "AtomicFloat64MinMaxEXT"]);
            module.capability(capability);
            module.extension("SPV_EXT_shader_atomic_float_min_max");
        }
        _ => {}
    }
    if call.op.form() == SpirvForm::Atomic && width == 16 {
        module.capability("StorageBuffer16BitAccess");
    }
}

/// Returns the types of operands and results in the shader. The parts of a packed word are not
/// among them.
pub(super) fn types_in_shader(call: &Call) -> impl Iterator<Item = Type> + '_ {
    let results = if call.op.form() == SpirvForm::Word { &[] } else { &call.results[..] };
    call.operands.iter().chain(results).copied()
}

/// Returns the distinct floating-point types of operands and results whose modes can be declared.
fn float_types(call: &Call) -> Vec<Scalar> {
    let mut types = Vec::new();
    for scalar in types_in_shader(call).map(|ty| ty.scalar) {
        let declarable = [Type::F16, Type::F32, Type::F64].iter().any(|ty| ty.scalar == scalar);
        if declarable && !types.contains(&scalar) {
            types.push(scalar);
        }
    }
    types
}

fn execution_modes(module: &mut ModuleText, call: &Call, width: u32) {
    for name in call.modes.names() {
        let with_width =
            ["DenormPreserve", "DenormFlushToZero", "RoundingModeRTE", "RoundingModeRTZ", "SignedZeroInfNanPreserve"];
        if !with_width.contains(&name) {
            continue;
        }
        module.capability(name);
        module.extension("SPV_KHR_float_controls");
        module.execution_modes += &format!("{:15}OpExecutionMode %main {name} {width}\n", "");
    }
}

/// Returns the mask of `FPFastMathMode`.
fn mask(flags: FastMath) -> u32 {
    let FastMath { not_nan, not_inf, nsz, allow_recip, allow_contract, allow_reassoc, allow_transform } = flags;
    let bits = [
        (not_nan, 0x1),
        (not_inf, 0x2),
        (nsz, 0x4),
        (allow_recip, 0x8),
        (allow_contract, 0x1_0000),
        (allow_reassoc, 0x2_0000),
        (allow_transform, 0x4_0000),
    ];
    bits.into_iter().filter_map(|(set, bit)| set.then_some(bit)).sum()
}

/// Results of an instruction.
pub(super) enum ComputedResults {
    /// One value for each result.
    Values(Vec<String>),
    /// A word whose parts are the result scalars, low bits first.
    Packed(String),
}

/// Writes the instruction with these operands.
pub(super) fn emit(module: &mut ModuleText, call: &Call, operands: &[String]) -> ComputedResults {
    let name = call.op.name();
    let arguments = operands.join(" ");
    if call.op.form() == SpirvForm::Word {
        let word = module.value("OpExtInst", "%u32", &format!("%glsl {name} {arguments}"));
        decorate(module, call, &word);
        return ComputedResults::Packed(word);
    }
    let types: Vec<String> = call.results.iter().map(|&ty| module.ty(ty)).collect();
    let result = match call.op.form() {
        SpirvForm::Operands | SpirvForm::Word if call.op.is_glsl() => {
            module.value("OpExtInst", &types[0], &format!("%glsl {name} {arguments}"))
        }
        SpirvForm::Operands | SpirvForm::Word | SpirvForm::Atomic => module.value(name, &types[0], &arguments),
        SpirvForm::Pointer => {
            let pointer = module
                .declare(format!("%function_{}", &types[1][1..]), || format!("OpTypePointer Function {}", types[1]));
            module.variables = format!("{:>12} = OpVariable {pointer} Function\n", "%second");
            let first = module.value("OpExtInst", &types[0], &format!("%glsl {name} {arguments} %second"));
            decorate(module, call, &first);
            return ComputedResults::Values(vec![first, module.value("OpLoad", &types[1], "%second")]);
        }
        SpirvForm::Struct => {
            let both = module.declare("%both".into(), || format!("OpTypeStruct {} {}", types[0], types[1]));
            let result = module.value("OpExtInst", &both, &format!("%glsl {name} {arguments}"));
            decorate(module, call, &result);
            let mut part = |i: usize| module.value("OpCompositeExtract", &types[i], &format!("{result} {i}"));
            return ComputedResults::Values(vec![part(0), part(1)]);
        }
        SpirvForm::Vote => module.value(name, &types[0], &format!("%scope {arguments}")),
        SpirvForm::Reduction => module.value(name, &types[0], &format!("%scope Reduce {arguments}")),
    };
    decorate(module, call, &result);
    ComputedResults::Values(vec![result])
}

fn decorate(module: &mut ModuleText, call: &Call, id: &str) {
    let Modes { no_contraction, relaxed, saturated, .. } = call.modes;
    for (set, name) in [
        (no_contraction, "NoContraction"),
        (relaxed, "RelaxedPrecision"),
        (saturated, "SaturatedToLargestFloat8NormalConversionEXT"),
    ] {
        if set {
            module.decorations += &format!("{:15}OpDecorate {id} {name}\n", "");
        }
    }
}
