//! Infinities and NaNs that are constants of a shader, such as the `-inf` with which a maximum begins.

use assay_float::{F16, F32, F64};
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, ScalarOrVector};
use assay_spirv::tables::Op;

/// Returns the first infinity or NaN among the constants of a module, as a text. Without the
/// execution mode `SignedZeroInfNanPreserve`, implementations may assume that operands and results
/// are neither (Vulkan environment for SPIR-V, "Precision and Operation of SPIR-V Instructions").
pub(crate) fn infinite_constant(module: &Module) -> Option<&'static str> {
    module.instructions().find_map(|i| {
        let ty = ScalarOrVector::of_value(module, i.result()?).filter(|ty| ty.kind == ComponentKind::Float)?;
        let bits = match (i.op?, i.operands()) {
            (Op::Constant, words) => words,
            // `uintBitsToFloat(0xff800000u)`
            (Op::Bitcast, &[value]) => {
                module.definition_of(value).filter(|constant| constant.op == Some(Op::Constant))?.operands()
            }
            _ => return None,
        };
        let bits = bits.iter().rev().fold(0, |bits, word| bits << 32 | u64::from(*word));
        let format = match ty.width {
            16 => F16,
            32 => F32,
            _ => F64,
        };
        match (format.is_nan(bits), format.is_infinite(bits), format.is_negative(bits)) {
            (true, ..) => Some("NaN"),
            (_, true, true) => Some("-inf"),
            (_, true, false) => Some("inf"),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::assemble;

    #[test]
    fn an_infinity_is_found_as_a_float_and_as_bits() {
        let of = |float: &str, bits: &str| {
            let text = format!(
                "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                 OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                 %float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n%a = OpConstant %float {float}\n\
                 %b = OpConstant %uint {bits}\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                 %c = OpBitcast %float %b\nOpReturn\nOpFunctionEnd\n"
            );
            infinite_constant(&Module::parse(assemble(&text).unwrap()).unwrap())
        };
        assert_eq!(of("1.5", "1"), None);
        assert_eq!(of("1.5", "0xff800000"), Some("-inf"));
        assert_eq!(of("1.5", "0x7fc00000"), Some("NaN"));
        assert_eq!(of("0x1p+128", "1"), Some("inf"));
    }
}
