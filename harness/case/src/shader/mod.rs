//! Shaders of the precision cases: templates from `shaders/precision/` with filled placeholders.

mod case_requirements;
mod module_text;
mod scalar_access;
mod tested_instruction;

pub use case_requirements::ShaderError;

use crate::case::{Case, OperandSource};
use crate::columns::Columns;
use assay_precision::{Call, Op, Scalar, SpirvForm, Type};
use module_text::{ModuleText, literal};
use scalar_access::ColumnLayout;
use tested_instruction::ComputedResults;

const BUFFER: &str = include_str!("../../shaders/buffer.spvasm");
const CONSTANT: &str = include_str!("../../shaders/constant.spvasm");
const SUBGROUP: &str = include_str!("../../shaders/subgroup.spvasm");

/// A shader that computes the results of a case row by row. It has two storage buffers in set 0
/// with the layout of [`Columns`]: operands (binding 0) and results (binding 1).
#[derive(Clone, Debug)]
pub struct CaseShader {
    /// SPIR-V assembly.
    pub text: String,
    /// Values of specialisation constants.
    pub specialization: Vec<Specialization>,
    rows_per_group: Option<u32>,
}

/// The value of one specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// Its `SpecId`.
    pub id: u32,
    /// Its width in bits.
    pub width: u32,
    /// Its value.
    pub bits: u64,
}

/// Returns true if an instruction can be tested with operands from that source. Subgroup operations
/// and atomics need values of invocations or memory.
pub(crate) fn takes_source(op: Op, source: OperandSource) -> bool {
    op.not_in_compute().is_none()
        && match op.form() {
            SpirvForm::Vote | SpirvForm::Reduction | SpirvForm::Atomic => source == OperandSource::Buffer,
            SpirvForm::Operands | SpirvForm::Pointer | SpirvForm::Struct | SpirvForm::Word => true,
        }
}

impl CaseShader {
    /// Returns the shader of a case with operands from a buffer, for columns of that capacity.
    pub fn buffer(case: &Case, capacity: usize) -> CaseShader {
        let call = &case.call;
        let operands = ColumnLayout::new(call.operand_slots(), capacity as u32);
        let results = ColumnLayout::new(call.result_slots(), capacity as u32);
        if call.op.form().crosses_invocations() {
            return subgroup(call, &operands, &results);
        }
        let mut module = ModuleText::new(BUFFER);
        tested_instruction::declare(&mut module, call);
        let mut load = String::new();
        let computed = if call.op.form() == SpirvForm::Atomic {
            // The second result is the value left in memory.
            atomic(&mut module, call, &operands, &results)
        } else {
            let values = load_operands(&mut module, call, &operands);
            load = module.take_text();
            tested_instruction::emit(&mut module, call, &values)
        };
        let operation = module.take_text();
        store_results(&mut module, call, &results, "%row", &computed);
        let store = module.take_text();
        let text = module.fill(&[("load", &load), ("operation", &operation), ("store", &store)]);
        CaseShader { text, specialization: Vec::new(), rows_per_group: Some(64) }
    }

    /// Returns the shader of a case with constant operands. It computes all rows in use of
    /// `constants`, with results in columns of the same capacity.
    pub fn constant(case: &Case, constants: &Columns) -> CaseShader {
        let call = &case.call;
        let mut module = ModuleText::new(CONSTANT);
        tested_instruction::declare(&mut module, call);
        let results = ColumnLayout::new(call.result_slots(), constants.capacity() as u32);
        let mut specialization = Vec::new();
        let mut bits = vec![0; constants.slots()];
        for row in 0..constants.rows() {
            constants.row(row, &mut bits);
            let mut slot = 0;
            let mut operands = Vec::new();
            for &ty in &call.operands {
                let bits = &bits[slot..slot + ty.len()];
                slot += ty.len();
                operands.push(match case.source {
                    OperandSource::SpecConstant => spec_constant(&mut module, ty, bits, &mut specialization),
                    OperandSource::Buffer | OperandSource::Constant => constant(&mut module, ty, bits),
                });
            }
            module.line(&format!("; row {row}"));
            let computed = tested_instruction::emit(&mut module, call, &operands);
            let row = module.word(row as u32);
            store_results(&mut module, call, &results, &row, &computed);
        }
        let operation = module.take_text();
        let text = module.fill(&[("operation", &operation)]);
        CaseShader { text, specialization, rows_per_group: None }
    }

    /// Returns the number of workgroups for that many rows. They may also compute further rows, up
    /// to the next multiple of 64.
    pub fn groups(&self, rows: usize) -> u32 {
        self.rows_per_group.map_or(1, |each| (rows as u32).div_ceil(each))
    }
}

fn load_operands(module: &mut ModuleText, call: &Call, layout: &ColumnLayout) -> Vec<String> {
    let mut slot = 0;
    let mut values = Vec::new();
    for &ty in &call.operands {
        let scalars: Vec<String> =
            (0..ty.len()).map(|i| scalar_access::load(module, layout, slot + i, "%row", ty.scalar)).collect();
        slot += ty.len();
        values.push(scalar_access::compose(module, ty, &scalars));
    }
    values
}

fn store_results(module: &mut ModuleText, call: &Call, layout: &ColumnLayout, row: &str, computed: &ComputedResults) {
    let values = match computed {
        ComputedResults::Values(values) => values,
        ComputedResults::Packed(word) => {
            let slots: Vec<Scalar> = call.result_slots().collect();
            for (slot, scalar) in slots.into_iter().enumerate() {
                let (offset, count) = (module.word(slot as u32 * scalar.width()), module.word(scalar.width()));
                let part = module.value("OpBitFieldUExtract", "%u32", &format!("{word} {offset} {count}"));
                scalar_access::store_word(module, layout, slot, row, &part);
            }
            return;
        }
    };
    let mut slot = 0;
    for (&ty, value) in call.results.iter().zip(values) {
        for scalar in scalar_access::decompose(module, ty, value) {
            scalar_access::store(module, layout, slot, row, ty.scalar, &scalar);
            slot += 1;
        }
    }
}

/// Writes an atomic instruction on the result slot that contains the value in memory; the returned
/// value is the first result. The memory is set as an integer word, and the instruction accesses it
/// through a second view of the buffer.
fn atomic(module: &mut ModuleText, call: &Call, operands: &ColumnLayout, results: &ColumnLayout) -> ComputedResults {
    let scalar = call.operands[0].scalar;
    let id = module.scalar(scalar);
    let bytes = scalar.width() / 8;
    module.decorations += &format!("{:15}OpDecorate %results Aliased\n", "");
    module.decorations += &format!(
        "{0:15}OpDecorate %elements ArrayStride {bytes}\n{0:15}OpDecorate %element_block Block\n\
         {0:15}OpMemberDecorate %element_block 0 Offset 0\n{0:15}OpDecorate %memory DescriptorSet 0\n\
         {0:15}OpDecorate %memory Binding 1\n{0:15}OpDecorate %memory Aliased\n",
        ""
    );
    module.declare("%elements".into(), || format!("OpTypeRuntimeArray {id}"));
    module.declare("%element_block".into(), || "OpTypeStruct %elements".into());
    module.declare("%element_block_ptr".into(), || "OpTypePointer StorageBuffer %element_block".into());
    module.declare("%element_ptr".into(), || format!("OpTypePointer StorageBuffer {id}"));
    module.declare("%memory".into(), || "OpVariable %element_block_ptr StorageBuffer".into());
    scalar_access::copy(module, operands, 0, results, 1, "%row");
    let others: Vec<String> =
        (1..call.operands.len()).map(|slot| scalar_access::load(module, operands, slot, "%row", scalar)).collect();
    // Elements of 64 bits are pairs of words, and elements of 16 bits are halves.
    let base = module.word(results.offset(1) * 4 / bytes);
    let row = match scalar.width() {
        16 => module.value("OpIAdd", "%u32", "%row %row"),
        _ => "%row".into(),
    };
    let index = module.value("OpIAdd", "%u32", &format!("{base} {row}"));
    let zero = module.word(0);
    let pointer = module.value("OpAccessChain", "%element_ptr", &format!("%memory {zero} {index}"));
    // Scope Device, without ordering of other memory: no other invocation accesses the element.
    let device = module.word(1);
    let semantics = if call.op == Op::AtomicCompareExchange { format!("{zero} {zero}") } else { zero };
    let operands = [pointer, device, semantics].into_iter().chain(others).collect::<Vec<_>>();
    tested_instruction::emit(module, call, &operands)
}

/// Returns the shader of a subgroup operation. Both invocations of a pair load both operands, and
/// each contributes one.
fn subgroup(call: &Call, operands: &ColumnLayout, results: &ColumnLayout) -> CaseShader {
    let mut module = ModuleText::new(SUBGROUP);
    tested_instruction::declare(&mut module, call);
    let values = load_operands(&mut module, call, operands);
    let ty = call.operands[0];
    let id = module.ty(ty);
    // Before SPIR-V 1.4, the condition for selecting vectors is a vector.
    let condition = if ty.is_scalar() {
        "%even".to_owned()
    } else {
        let conditions = module.ty(Type::vector(Scalar::Bool, ty.rows));
        module.value("OpCompositeConstruct", &conditions, &vec!["%even"; ty.len()].join(" "))
    };
    let own = module.value("OpSelect", &id, &format!("{condition} {} {}", values[0], values[1]));
    let load = module.take_text();
    let computed = tested_instruction::emit(&mut module, call, &[own]);
    let operation = module.take_text();
    store_results(&mut module, call, results, "%row", &computed);
    let store = module.take_text();
    let text = module.fill(&[("load", &load), ("operation", &operation), ("store", &store)]);
    CaseShader { text, specialization: Vec::new(), rows_per_group: Some(32) }
}

/// Returns a value as a constant of the module.
fn constant(module: &mut ModuleText, ty: Type, bits: &[u64]) -> String {
    let scalars: Vec<String> = bits.iter().map(|&bits| module.constant(ty.scalar, bits)).collect();
    composite(module, "OpConstantComposite", ty, &scalars)
}

/// Returns a value as specialisation constants, one for each scalar.
fn spec_constant(module: &mut ModuleText, ty: Type, bits: &[u64], values: &mut Vec<Specialization>) -> String {
    let id = module.scalar(ty.scalar);
    let scalars: Vec<String> = bits
        .iter()
        .map(|&bits| {
            let spec = values.len() as u32;
            values.push(Specialization { id: spec, width: ty.scalar.width(), bits });
            let name = format!("%s{spec}");
            module.decorations += &format!("{:15}OpDecorate {name} SpecId {spec}\n", "");
            module.declare(name, || match ty.scalar {
                Scalar::Bool => format!("OpSpecConstantFalse {id}"),
                scalar => format!("OpSpecConstant {id} {}", literal(scalar, 0)),
            })
        })
        .collect();
    composite(module, "OpSpecConstantComposite", ty, &scalars)
}

fn composite(module: &mut ModuleText, opcode: &str, ty: Type, scalars: &[String]) -> String {
    let declare = |module: &mut ModuleText, ty: Type, parts: &[String]| {
        let id = module.ty(ty);
        // Named after its parts, so that equal constants are shared.
        let name = format!("%k_{}_{}", &id[1..], parts.iter().map(|part| &part[1..]).collect::<Vec<_>>().join("_"));
        module.declare(name, || format!("{opcode} {id} {}", parts.join(" ")))
    };
    if ty.is_scalar() {
        return scalars[0].clone();
    }
    if ty.columns == 1 {
        return declare(module, ty, scalars);
    }
    let column = Type::vector(ty.scalar, ty.rows);
    let columns: Vec<String> = scalars.chunks(ty.rows as usize).map(|part| declare(module, column, part)).collect();
    declare(module, ty, &columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn cases() -> BTreeMap<String, Case> {
        crate::load().unwrap().into_iter().map(|case| (case.name.clone(), case)).collect()
    }

    #[test]
    fn needs_are_those_of_the_module() {
        let cases = cases();
        let needs = |name: &str| {
            let requirements = cases[name].requirements().unwrap();
            let rest = requirements.items.iter().filter(|item| !item.imposed_by.starts_with("workgroup size"));
            rest.map(|item| format!("{}: {}", item.imposed_by, item.expression)).collect::<Vec<_>>()
        };
        let every = ["SPIR-V 1.3: Vulkan 1.1", "capability Shader: Vulkan 1.0"];
        assert_eq!(needs("precision.f32.packsnorm4x8.scalar.default"), every);
        let fast = needs("precision.f16.fadd.scalar.fast_math_nsz");
        for expected in [
            "capability Float16: extension VK_AMD_gpu_shader_half_float or feature shaderFloat16",
            "property shaderSignedZeroInfNanPreserveFloat16",
        ] {
            assert!(fast.iter().any(|requirements| requirements.contains(expected)), "{expected}: {fast:?}");
        }
        let subgroup = needs("precision.f32.groupnonuniformfmin.scalar.default");
        let sizes = "a shader for subgroups of at most 64 invocations: property maxSubgroupSize of at most 64";
        assert!(subgroup.iter().any(|requirements| requirements == sizes), "{subgroup:?}");
    }

    #[test]
    fn every_case_has_a_module_and_asks_for_nothing_that_no_device_has() {
        // A subset that contains each kind, because there are a hundred thousand cases.
        for (name, case) in cases().into_iter().step_by(23) {
            let requirements = case.requirements().unwrap_or_else(|error| panic!("{name}: {error}"));
            let never = requirements
                .items
                .iter()
                .find(|item| matches!(item.expression, assay_spirv_rules::requirements::Condition::Unsatisfiable(_)));
            assert!(never.is_none(), "{name}: {never:?}");
        }
    }

    #[test]
    fn a_mode_is_declared_once_for_each_width() {
        let shader = CaseShader::buffer(&cases()["precision.f32.packhalf2x16.scalar.rounding_mode_rte"], 64);
        for width in [16, 32] {
            assert_eq!(shader.text.matches(&format!("RoundingModeRTE {width}\n")).count(), 1);
        }
    }
}
