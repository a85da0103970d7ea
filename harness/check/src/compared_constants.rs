//! Constants with which a shader compares values from memory: a kind of cell, or of material.

use crate::base_variable::slot_of;
use crate::provenance::{DataFlow, FaultSources, used};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;
use std::collections::BTreeSet;

/// Largest divisor whose remainders count as constants.
const DIVISOR: i64 = 4;

/// A value that the shader tests for equality with constants.
pub(crate) struct ComparedValue {
    /// Memory from which it is computed.
    pub(crate) sources: FaultSources,
    /// Bindings from which it is computed.
    pub(crate) slots: BTreeSet<Slot>,
    /// The constants.
    pub(crate) numbers: Vec<String>,
}

impl DataFlow<'_> {
    /// Returns the values that the shader tests for equality with constants.
    pub(crate) fn compared_values(&self) -> Vec<ComparedValue> {
        let module = self.module();
        let functions = module.functions().iter();
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        let values = instructions.filter_map(|i| tested(module, i)).map(|(value, numbers)| {
            let slice = self.slice(vec![value], used);
            let is_variable = |id: &u32| module.definition_of(*id).and_then(|d| d.op) == Some(Op::Variable);
            let variables = slice.ids.into_iter().filter(is_variable);
            let slots = variables.filter_map(|variable| slot_of(module, variable)).collect();
            ComparedValue { sources: FaultSources::of_operand(slice.sources), slots, numbers }
        });
        values.collect()
    }
}

/// Returns the value that an instruction tests for equality, and the numbers; `None` for other
/// instructions.
fn tested(module: &Module, i: Instruction<'_>) -> Option<(u32, Vec<String>)> {
    match (i.op?, i.operands()) {
        (
            Op::IEqual | Op::INotEqual | Op::FOrdEqual | Op::FUnordEqual | Op::FOrdNotEqual | Op::FUnordNotEqual,
            &[a, b],
        ) => match (number(module, a), number(module, b)) {
            (None, Some(number)) => Some((a, [Some(number), mask(module, a)].into_iter().flatten().collect())),
            (Some(number), None) => Some((b, [Some(number), mask(module, b)].into_iter().flatten().collect())),
            (None, None) => {
                let of = |value, remainder| Some((value, remainders(module, remainder)?));
                of(a, b).or_else(|| of(b, a))
            }
            _ => None,
        },
        (Op::Switch, [value, _, cases @ ..]) if module.switch_literal_words(i) == 1 => {
            Some((*value, cases.iter().step_by(2).map(|literal| (*literal as i32).to_string()).collect()))
        }
        _ => None,
    }
}

/// Returns the constant with which bits of a value were selected.
fn mask(module: &Module, value: u32) -> Option<String> {
    let selected = module.definition_of(value).filter(|definition| definition.op == Some(Op::BitwiseAnd))?;
    selected.operands().iter().find_map(|operand| number(module, *operand))
}

/// Returns the possible remainders of a value that is one of a division by a small constant: a shader
/// may colour cells by `(x + y) % 2`, and compute those of one colour.
fn remainders(module: &Module, value: u32) -> Option<Vec<String>> {
    let definition = module.definition_of(value)?;
    let is_remainder = |op| matches!(op, Some(Op::UMod | Op::SMod | Op::SRem));
    let divides = match definition.op {
        // naga divides in a function that excludes zero.
        Some(Op::FunctionCall) => {
            let callee = module.function(definition.operand(0)?)?;
            module.instructions_in(callee.instructions.clone()).any(|i| is_remainder(i.op))
        }
        op => is_remainder(op),
    };
    let divisor = definition.operands().last().filter(|_| divides)?;
    let divisor = module.constant_int(*divisor).filter(|divisor| (2..=DIVISOR).contains(divisor))?;
    Some((0..divisor).map(|remainder| remainder.to_string()).collect())
}

/// Returns the number of a scalar constant with at most 32 bits.
fn number(module: &Module, id: u32) -> Option<String> {
    let definition = module.definition_of(id).filter(|definition| definition.op == Some(Op::Constant))?;
    if let Some(number) = module.constant_int(id) {
        return Some(number.to_string());
    }
    let is_f32 = module.type_definition(module.type_declared(definition.result_type()?)?).operands() == [32];
    let value = f32::from_bits(definition.operand(0).filter(|_| is_f32)?);
    value.is_finite().then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_belong_to_the_bindings_of_the_values() {
        let shader = "@group(0) @binding(0) var cells: texture_2d<f32>;
            @group(0) @binding(1) var<storage> kinds: array<u32>;
            @group(0) @binding(2) var<storage, read_write> found: array<f32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let cell = textureLoad(cells, id.xy, 0).x;
                switch kinds[id.x] {
                    case 7u: { found[id.x] = cell; }
                    default: { if id.z % 2u == kinds[1] { found[0] = cell; }
                        if cell == -1.0 && id.y != 3u && (kinds[0] & 4u) != 0u { found[id.x] = 2.0; } }
                }
            }";
        let words = crate::wgsl::compile(assay_exec::Wgsl { text: shader, overrides: &[] }, "a.wgsl").unwrap();
        let module = Module::parse(words).unwrap();
        let values = DataFlow::new(&module).compared_values();
        let texts = |binding: u32| -> BTreeSet<String> {
            let of_binding = values.iter().filter(|value| value.slots.contains(&Slot::new(0, binding)));
            of_binding.flat_map(|value| value.numbers.clone()).collect()
        };
        assert_eq!(texts(0), BTreeSet::from(["-1".to_owned()]));
        assert_eq!(texts(1), ["0", "1", "4", "7"].map(str::to_owned).into());
        assert_eq!(texts(2), BTreeSet::new());
    }
}
