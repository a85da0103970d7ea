//! The tested instruction: its kind of shader, and its text.

use super::module_text::ModuleText;
use assay_float::BF16;
use assay_precision::{Call, FastMath, Modes, Op, Scalar, Type};

/// Form in which an instruction is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestForm {
    /// A core instruction with its operands in order.
    Core,
    /// An instruction of GLSL.std.450 with its operands in order.
    Glsl,
    /// An instruction of GLSL.std.450 with a last operand that points to the second result.
    GlslPointer,
    /// An instruction of GLSL.std.450 whose result is a structure of both results.
    GlslStruct,
    /// An instruction of GLSL.std.450 whose result is a word with several parts, which are separate
    /// results.
    GlslPack,
    /// A reduction or vote over two invocations, with one operand each.
    Subgroup,
    /// A read-modify-write of an element of the results buffer, which no other invocation accesses.
    Atomic,
    /// No case runs it, for this reason.
    None(&'static str),
}

/// Returns the form in which an instruction is tested.
pub(crate) const fn test_form(op: Op) -> TestForm {
    match op {
        Op::FNegate
        | Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FRem
        | Op::FMod
        | Op::FmaKHR
        | Op::VectorTimesScalar
        | Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix
        | Op::OuterProduct
        | Op::Dot
        | Op::IsNan
        | Op::IsInf
        | Op::FOrdEqual
        | Op::FUnordEqual
        | Op::FOrdNotEqual
        | Op::FUnordNotEqual
        | Op::FOrdLessThan
        | Op::FUnordLessThan
        | Op::FOrdGreaterThan
        | Op::FUnordGreaterThan
        | Op::FOrdLessThanEqual
        | Op::FUnordLessThanEqual
        | Op::FOrdGreaterThanEqual
        | Op::FUnordGreaterThanEqual
        | Op::ConvertFToU
        | Op::ConvertFToS
        | Op::ConvertSToF
        | Op::ConvertUToF
        | Op::FConvert
        | Op::QuantizeToF16 => TestForm::Core,
        Op::DPdx
        | Op::DPdy
        | Op::Fwidth
        | Op::DPdxFine
        | Op::DPdyFine
        | Op::FwidthFine
        | Op::DPdxCoarse
        | Op::DPdyCoarse
        | Op::FwidthCoarse => TestForm::None(
            "derivatives exist in fragment shaders; in compute shaders only with VK_KHR_compute_shader_derivatives",
        ),
        Op::GroupNonUniformAllEqual
        | Op::GroupNonUniformFMin
        | Op::GroupNonUniformFMax
        | Op::GroupNonUniformFAdd
        | Op::GroupNonUniformFMul => TestForm::Subgroup,
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicCompareExchange => TestForm::Atomic,
        Op::AtomicCompareExchangeWeak => TestForm::None("it needs the capability Kernel, which Vulkan does not have"),
        Op::SubgroupAllEqualKHR => TestForm::None("it takes a boolean, so that no floating-point value reaches it"),
        Op::Modf | Op::Frexp => TestForm::GlslPointer,
        Op::ModfStruct | Op::FrexpStruct => TestForm::GlslStruct,
        Op::PackSnorm4x8 | Op::PackUnorm4x8 | Op::PackSnorm2x16 | Op::PackUnorm2x16 | Op::PackHalf2x16 => {
            TestForm::GlslPack
        }
        Op::InterpolateAtCentroid | Op::InterpolateAtSample | Op::InterpolateAtOffset => {
            TestForm::None("interpolation exists in fragment shaders only")
        }
        Op::Round
        | Op::RoundEven
        | Op::Trunc
        | Op::FAbs
        | Op::SAbs
        | Op::FSign
        | Op::SSign
        | Op::Floor
        | Op::Ceil
        | Op::Fract
        | Op::Radians
        | Op::Degrees
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::Sinh
        | Op::Cosh
        | Op::Tanh
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Atan2
        | Op::Pow
        | Op::Exp
        | Op::Log
        | Op::Exp2
        | Op::Log2
        | Op::Sqrt
        | Op::InverseSqrt
        | Op::Determinant
        | Op::MatrixInverse
        | Op::FMin
        | Op::UMin
        | Op::SMin
        | Op::FMax
        | Op::UMax
        | Op::SMax
        | Op::FClamp
        | Op::UClamp
        | Op::SClamp
        | Op::FMix
        | Op::Step
        | Op::SmoothStep
        | Op::Fma
        | Op::Ldexp
        | Op::PackDouble2x32
        | Op::UnpackSnorm2x16
        | Op::UnpackUnorm2x16
        | Op::UnpackHalf2x16
        | Op::UnpackSnorm4x8
        | Op::UnpackUnorm4x8
        | Op::UnpackDouble2x32
        | Op::Length
        | Op::Distance
        | Op::Cross
        | Op::Normalize
        | Op::FaceForward
        | Op::Reflect
        | Op::Refract
        | Op::FindILsb
        | Op::FindSMsb
        | Op::FindUMsb
        | Op::NMin
        | Op::NMax
        | Op::NClamp => TestForm::Glsl,
    }
}

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
    if test_form(call.op) == TestForm::Atomic && width == 16 {
        module.capability("StorageBuffer16BitAccess");
    }
}

/// Returns the types of operands and results in the shader. The parts of a packed word are not
/// among them.
pub(super) fn types_in_shader(call: &Call) -> impl Iterator<Item = Type> + '_ {
    let results = if test_form(call.op) == TestForm::GlslPack { &[] } else { &call.results[..] };
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
    if test_form(call.op) == TestForm::GlslPack {
        let word = module.value("OpExtInst", "%u32", &format!("%glsl {name} {arguments}"));
        decorate(module, call, &word);
        return ComputedResults::Packed(word);
    }
    let types: Vec<String> = call.results.iter().map(|&ty| module.ty(ty)).collect();
    let result = match test_form(call.op) {
        TestForm::Core | TestForm::Atomic => module.value(name, &types[0], &arguments),
        TestForm::Glsl | TestForm::GlslPack => {
            module.value("OpExtInst", &types[0], &format!("%glsl {name} {arguments}"))
        }
        TestForm::GlslPointer => {
            let pointer = module
                .declare(format!("%function_{}", &types[1][1..]), || format!("OpTypePointer Function {}", types[1]));
            module.variables = format!("{:>12} = OpVariable {pointer} Function\n", "%second");
            let first = module.value("OpExtInst", &types[0], &format!("%glsl {name} {arguments} %second"));
            decorate(module, call, &first);
            return ComputedResults::Values(vec![first, module.value("OpLoad", &types[1], "%second")]);
        }
        TestForm::GlslStruct => {
            let both = module.declare("%both".into(), || format!("OpTypeStruct {} {}", types[0], types[1]));
            let result = module.value("OpExtInst", &both, &format!("%glsl {name} {arguments}"));
            decorate(module, call, &result);
            let mut part = |i: usize| module.value("OpCompositeExtract", &types[i], &format!("{result} {i}"));
            return ComputedResults::Values(vec![part(0), part(1)]);
        }
        TestForm::Subgroup => {
            let group = if call.op == Op::GroupNonUniformAllEqual { "%scope" } else { "%scope Reduce" };
            module.value(name, &types[0], &format!("{group} {arguments}"))
        }
        TestForm::None(why) => unreachable!("families do not list {name}: {why}"),
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
