//! Requirements of float controls and fast-math flags.

use super::PropertyCondition;
use super::derivation::{Derivation, property};
use assay_spirv::module::{Instruction, Module, Type, TypeId};
use assay_spirv::reflect::ExecutionModeUse;
use assay_spirv::tables::{Decoration, ExecutionMode, FPFastMathMode};

/// Float-controls modes and widths, each with its property and rule.
const FLOAT_CONTROLS: [(ExecutionMode, u32, &str, &str); 15] = {
    use ExecutionMode::{
        DenormFlushToZero, DenormPreserve, RoundingModeRTE, RoundingModeRTZ, SignedZeroInfNanPreserve,
    };
    [
        (
            SignedZeroInfNanPreserve,
            16,
            "shaderSignedZeroInfNanPreserveFloat16",
            "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-06293",
        ),
        (
            SignedZeroInfNanPreserve,
            32,
            "shaderSignedZeroInfNanPreserveFloat32",
            "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-06294",
        ),
        (
            SignedZeroInfNanPreserve,
            64,
            "shaderSignedZeroInfNanPreserveFloat64",
            "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-06295",
        ),
        (DenormPreserve, 16, "shaderDenormPreserveFloat16", "VUID-RuntimeSpirv-shaderDenormPreserveFloat16-06296"),
        (DenormPreserve, 32, "shaderDenormPreserveFloat32", "VUID-RuntimeSpirv-shaderDenormPreserveFloat32-06297"),
        (DenormPreserve, 64, "shaderDenormPreserveFloat64", "VUID-RuntimeSpirv-shaderDenormPreserveFloat64-06298"),
        (
            DenormFlushToZero,
            16,
            "shaderDenormFlushToZeroFloat16",
            "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat16-06299",
        ),
        (
            DenormFlushToZero,
            32,
            "shaderDenormFlushToZeroFloat32",
            "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat32-06300",
        ),
        (
            DenormFlushToZero,
            64,
            "shaderDenormFlushToZeroFloat64",
            "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat64-06301",
        ),
        (RoundingModeRTE, 16, "shaderRoundingModeRTEFloat16", "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat16-06302"),
        (RoundingModeRTE, 32, "shaderRoundingModeRTEFloat32", "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat32-06303"),
        (RoundingModeRTE, 64, "shaderRoundingModeRTEFloat64", "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat64-06304"),
        (RoundingModeRTZ, 16, "shaderRoundingModeRTZFloat16", "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat16-06305"),
        (RoundingModeRTZ, 32, "shaderRoundingModeRTZFloat32", "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat32-06306"),
        (RoundingModeRTZ, 64, "shaderRoundingModeRTZFloat64", "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat64-06307"),
    ]
};

/// Values of `VkShaderFloatControlsIndependence`.
const INDEPENDENCE_32_BIT_ONLY: u64 = 0;
const INDEPENDENCE_ALL: u64 = 1;

/// The property that permits preserving signed zeros, infinities and NaNs, for each width, with the
/// rules for default flags and for decorations.
const SPECIAL_VALUES: [(u32, &str, &str, &str); 3] = [
    (
        16,
        "shaderSignedZeroInfNanPreserveFloat16",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09559",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09560",
    ),
    (
        32,
        "shaderSignedZeroInfNanPreserveFloat32",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09561",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09562",
    ),
    (
        64,
        "shaderSignedZeroInfNanPreserveFloat64",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09563",
        "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09564",
    ),
];

/// Returns true if the flags preserve signed zeros, infinities or NaNs.
fn keeps_special_values(flags: u32) -> bool {
    let given_up = FPFastMathMode::NSZ.0 | FPFastMathMode::NOT_INF.0 | FPFastMathMode::NOT_NA_N.0;
    flags & given_up != given_up
}

fn uses_float(module: &Module, width: u32) -> bool {
    module.types().any(|(_, ty)| *ty == Type::Float { width, encoding: None })
}

impl Derivation<'_> {
    pub(super) fn float_controls(&mut self, modes: &[ExecutionModeUse]) {
        let widths = |mode: ExecutionMode| {
            let named = modes.iter().filter(move |m| m.mode == Some(mode));
            named.filter_map(|m| m.operands.first().copied()).collect::<Vec<_>>()
        };
        for mode in modes {
            for (named, width, name, rule) in FLOAT_CONTROLS {
                if mode.mode == Some(named) && mode.operands.first() == Some(&width) {
                    self.push(
                        mode.at,
                        format!("execution mode {named} {width}"),
                        Some(rule),
                        property(name, PropertyCondition::True),
                    );
                }
            }
        }
        let denorms = [ExecutionMode::DenormPreserve, ExecutionMode::DenormFlushToZero];
        let roundings = [ExecutionMode::RoundingModeRTE, ExecutionMode::RoundingModeRTZ];
        let rules = [
            (
                denorms,
                "denormBehaviorIndependence",
                [
                    "VUID-RuntimeSpirv-denormBehaviorIndependence-06290",
                    "VUID-RuntimeSpirv-denormBehaviorIndependence-06289",
                ],
            ),
            (
                roundings,
                "roundingModeIndependence",
                [
                    "VUID-RuntimeSpirv-roundingModeIndependence-06292",
                    "VUID-RuntimeSpirv-roundingModeIndependence-06291",
                ],
            ),
        ];
        for (pair, name, [all_same, both_same]) in rules {
            let Some(at) = modes.iter().find(|m| m.mode.is_some_and(|mode| pair.contains(&mode))).map(|m| m.at) else {
                continue;
            };
            // The mode of each width: 16, 32, 64. Widths of which the module has no types are not
            // restricted.
            let used = *self.floats.get_or_init(|| [16, 32, 64].map(|width| uses_float(self.module, width)));
            let of = [16, 32, 64].map(|width| pair.into_iter().find(|mode| widths(*mode).contains(&width)));
            let differ = |a: usize, b: usize| used[a] && used[b] && of[a] != of[b];
            let imposed_by = format!("execution modes {} or {} that differ by width", pair[0], pair[1]);
            if differ(0, 2) {
                self.push(
                    at,
                    imposed_by,
                    Some(both_same),
                    property(name, PropertyCondition::OneOf(&[INDEPENDENCE_ALL])),
                );
            } else if differ(0, 1) || differ(1, 2) {
                let either = PropertyCondition::OneOf(&[INDEPENDENCE_32_BIT_ONLY, INDEPENDENCE_ALL]);
                self.push(at, imposed_by, Some(all_same), property(name, either));
            }
        }
    }

    /// Adds the requirements of default fast-math flags that preserve special values.
    pub(super) fn fast_math_defaults(&mut self, modes: &[ExecutionModeUse]) {
        for mode in modes.iter().filter(|mode| mode.mode == Some(ExecutionMode::FPFastMathDefault)) {
            let [ty, flags] = mode.operands[..] else { continue };
            let flags = self.module.constant_int(flags).and_then(|flags| u32::try_from(flags).ok());
            let width = self.module.type_declared(ty).and_then(|ty| self.ieee_width(ty));
            let Some((flags, width)) = flags.zip(width) else { continue };
            for (of, name, rule, _) in SPECIAL_VALUES {
                if of == width && keeps_special_values(flags) {
                    let imposed_by = format!(
                        "execution mode FPFastMathDefault of {width}-bit floats, which preserves special values"
                    );
                    self.push(mode.at, imposed_by, Some(rule), property(name, PropertyCondition::True));
                }
            }
        }
    }

    /// Adds the requirements of fast-math decorations that preserve special values.
    pub(super) fn fast_math_decorations(&mut self) {
        let module = self.module;
        for (target, decorated) in module.all_decorations() {
            let (Some(Decoration::FPFastMathMode), [flags, ..]) = (decorated.decoration, decorated.operands) else {
                continue;
            };
            let Some(instruction) = module.definition_of(target).filter(|_| keeps_special_values(*flags)) else {
                continue;
            };
            let widths = self.float_widths(instruction);
            for (width, name, _, rule) in SPECIAL_VALUES {
                if widths.contains(&width) {
                    let imposed_by = format!("FPFastMathMode on {width}-bit floats, which preserves special values");
                    self.push(
                        decorated.instruction.at,
                        imposed_by,
                        Some(rule),
                        property(name, PropertyCondition::True),
                    );
                }
            }
        }
    }

    /// Returns the widths of IEEE 754 floats among an instruction's result and operands.
    fn float_widths(&self, instruction: Instruction) -> Vec<u32> {
        let operands = self.module.id_operands(instruction);
        let types = operands.iter().filter_map(|word| self.module.type_of(*word));
        let result = instruction.result_type().and_then(|ty| self.module.type_declared(ty));
        types.chain(result).filter_map(|ty| self.ieee_width(ty)).collect()
    }

    fn ieee_width(&self, ty: TypeId) -> Option<u32> {
        match *self.module.ty(ty) {
            Type::Float { width, encoding: None } => Some(width),
            Type::Vector { component: inner, .. } | Type::Matrix { column: inner, .. } => self.ieee_width(inner),
            _ => None,
        }
    }
}
