//! Constants with which a shader compares values from memory: a kind of cell, or of material.

use crate::base_variable::slot_of;
use crate::provenance::{DataFlow, used};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of constants of one binding.
const CONSTANTS: usize = 16;

impl DataFlow<'_> {
    /// Returns the numbers for whose equality the shader tests values, by the bindings from which
    /// these are computed.
    pub(crate) fn compared_constants(&self) -> BTreeMap<Slot, BTreeSet<String>> {
        let module = self.module();
        let mut constants: BTreeMap<Slot, BTreeSet<String>> = BTreeMap::new();
        let functions = module.functions().iter();
        for i in functions.flat_map(|f| module.instructions_in(f.instructions.clone())) {
            let Some((value, numbers)) = tested(module, i) else { continue };
            let ids = self.slice(vec![value], used).ids;
            let variables = ids.iter().filter(|id| module.definition_of(**id).and_then(|d| d.op) == Some(Op::Variable));
            for slot in variables.filter_map(|variable| slot_of(module, *variable)) {
                let known = constants.entry(slot).or_default();
                known.extend(numbers.iter().take(CONSTANTS.saturating_sub(known.len())).cloned());
            }
        }
        constants
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
            (None, Some(number)) => Some((a, vec![number])),
            (Some(number), None) => Some((b, vec![number])),
            _ => None,
        },
        (Op::Switch, [value, _, cases @ ..]) if module.switch_literal_words(i) == 1 => {
            Some((*value, cases.iter().step_by(2).map(|literal| (*literal as i32).to_string()).collect()))
        }
        _ => None,
    }
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
                    default: { if cell == -1.0 && id.y != 3u { found[id.x] = 2.0; } }
                }
            }";
        let words = crate::wgsl::compile(assay_exec::Wgsl { text: shader, overrides: &[] }, "a.wgsl").unwrap();
        let module = Module::parse(words).unwrap();
        let constants = DataFlow::new(&module).compared_constants();
        let texts = |binding: u32| constants.get(&Slot::new(0, binding)).cloned().unwrap_or_default();
        assert_eq!(texts(0), BTreeSet::from(["-1".to_owned()]));
        assert_eq!(texts(1), BTreeSet::from(["7".to_owned()]));
        assert_eq!(texts(2), BTreeSet::new());
    }
}
