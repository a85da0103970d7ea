//! Requirements that depend on the shader stages that execute an instruction.

use super::PropertyCondition;
use super::derivation::{Derivation, feature, property};
use super::instructions::is_subgroup_operation;
use assay_spirv::module::Module;
use assay_spirv::reflect::{EntryPointUses, may_be_written};
use assay_spirv::tables::{Capability, ExecutionModel, Op};

/// A group of instructions that devices support in certain stages only.
struct StageRestriction {
    /// Name of the group in messages.
    name: &'static str,
    is: fn(Op) -> bool,
    /// The property with the supported stages, and its rule.
    stages: &'static str,
    rule: &'static str,
}

const STAGE_RESTRICTIONS: [StageRestriction; 3] = [
    StageRestriction {
        name: "group operations",
        is: is_subgroup_operation,
        stages: "subgroupSupportedStages",
        rule: "VUID-RuntimeSpirv-None-06343",
    },
    StageRestriction {
        name: "OpCooperativeMatrix..",
        // The NV extension, from which the KHR extension derives, has its own property.
        is: |op| op.name().starts_with("OpCooperativeMatrix") && op.name().ends_with("KHR"),
        stages: "cooperativeMatrixSupportedStages",
        rule: "VUID-RuntimeSpirv-cooperativeMatrixSupportedStages-08985",
    },
    StageRestriction {
        name: "OpCooperativeVector..",
        is: |op| op.name().starts_with("OpCooperativeVector"),
        stages: "cooperativeVectorSupportedStages",
        rule: "VUID-RuntimeSpirv-cooperativeVectorSupportedStages-10091",
    },
];

/// For each function, its first instruction of each group, as the index of its first word.
pub(super) struct FirstUses(Vec<[Option<usize>; STAGE_RESTRICTIONS.len()]>);

impl FirstUses {
    pub(super) fn of(module: &Module) -> FirstUses {
        let of_function = |range| {
            let mut firsts = [None; STAGE_RESTRICTIONS.len()];
            for instruction in module.instructions_in(range) {
                let Some(op) = instruction.op else { continue };
                for (first, listed) in firsts.iter_mut().zip(&STAGE_RESTRICTIONS) {
                    if first.is_none() && (listed.is)(op) {
                        *first = Some(instruction.at);
                    }
                }
            }
            firsts
        };
        FirstUses(module.functions().iter().map(|function| of_function(function.instructions.clone())).collect())
    }
}

impl Derivation<'_> {
    /// Adds the requirements of an entry point that depend on its stage.
    pub(super) fn stages(&mut self, usage: &EntryPointUses, firsts: &FirstUses) {
        let Some(model) = usage.model else { return };
        if let Some((bit, name)) = stage_bit(model) {
            for (i, listed) in STAGE_RESTRICTIONS.iter().enumerate() {
                let first = usage.functions.iter().find_map(|function| firsts.0[*function][i]);
                if let Some(at) = first {
                    let imposed_by = format!("{} in {model}", listed.name);
                    self.push(
                        at,
                        imposed_by,
                        Some(listed.rule),
                        property(listed.stages, PropertyCondition::Bits(bit, name)),
                    );
                }
            }
        }
        if model == ExecutionModel::Fragment {
            self.fragment(usage);
        }
    }

    fn fragment(&mut self, usage: &EntryPointUses) {
        if let Some(at) = self.declaration(Capability::TileShadingQCOM) {
            let rule = Some("VUID-RuntimeSpirv-TileShadingQCOM-10699");
            let imposed_by = "capability TileShadingQCOM in Fragment".to_owned();
            self.push(at, imposed_by, rule, feature("tileShadingFragmentStage"));
        }
        let module = self.module;
        let writable = usage.globals.iter().map(|id| module.raw_id(*id)).filter(|word| may_be_written(module, *word));
        for variable in writable.filter_map(|word| module.definition_of(word)) {
            let rule = Some("VUID-RuntimeSpirv-NonWritable-06340");
            let name = module.names().display(variable.result().unwrap_or_default());
            let imposed_by = format!("{name} without NonWritable in a Fragment entry point");
            self.push(variable.at, imposed_by, rule, feature("fragmentStoresAndAtomics"));
        }
    }
}

fn stage_bit(model: ExecutionModel) -> Option<(u64, &'static str)> {
    Some(match model {
        ExecutionModel::Vertex => (0x1, "VK_SHADER_STAGE_VERTEX_BIT"),
        ExecutionModel::TessellationControl => (0x2, "VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT"),
        ExecutionModel::TessellationEvaluation => (0x4, "VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT"),
        ExecutionModel::Geometry => (0x8, "VK_SHADER_STAGE_GEOMETRY_BIT"),
        ExecutionModel::Fragment => (0x10, "VK_SHADER_STAGE_FRAGMENT_BIT"),
        ExecutionModel::GLCompute => (0x20, "VK_SHADER_STAGE_COMPUTE_BIT"),
        ExecutionModel::TaskEXT => (0x40, "VK_SHADER_STAGE_TASK_BIT_EXT"),
        ExecutionModel::MeshEXT => (0x80, "VK_SHADER_STAGE_MESH_BIT_EXT"),
        _ => return None,
    })
}
