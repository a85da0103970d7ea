//! Requirements of a case: those of its module, determined in the same way as for all modules, and
//! those of its template.

use super::CaseShader;
use crate::case::{Case, OperandSource};
use crate::columns::Columns;
use assay_spirv::{AssembleError, Module, ModuleError};
use assay_spirv_rules::requirements::{Condition, DeviceCondition, PropertyCondition, RequirementItem, Requirements};

/// Largest subgroup size for `shaders/precision/subgroup.spvasm`: the size of its workgroup.
const LARGEST_SUBGROUP: u64 = 64;

/// Reason why a case has no module: a defect of this crate or of a template, never of a device.
#[derive(Debug, thiserror::Error)]
pub enum ShaderError {
    /// The text does not assemble.
    #[error("the shader does not assemble: {0}")]
    Text(#[from] AssembleError),
    /// The words are not a module.
    #[error("the shader is no module: {0}")]
    Module(#[from] ModuleError),
}

impl Case {
    /// Returns the requirements of the case, which do not depend on the number and the values of
    /// its rows.
    ///
    /// # Errors
    /// The case's shader is not a module.
    pub fn requirements(&self) -> Result<Requirements, ShaderError> {
        let module = Module::parse(assay_spirv::assemble(&self.shader_of_one_row().text)?)?;
        let mut requirements = Requirements::of(&module);
        if self.call.op.form().crosses_invocations() {
            let at_most = DeviceCondition::Property("maxSubgroupSize", PropertyCondition::AtMost(LARGEST_SUBGROUP));
            requirements.items.push(RequirementItem {
                expression: Condition::Atom(at_most),
                imposed_by: format!("a shader for subgroups of at most {LARGEST_SUBGROUP} invocations"),
                rule: None,
                at: 0,
            });
        }
        Ok(requirements)
    }

    fn shader_of_one_row(&self) -> CaseShader {
        match self.source {
            OperandSource::Buffer => CaseShader::buffer(self, Columns::ALIGN),
            OperandSource::Constant | OperandSource::SpecConstant => {
                let mut one = Columns::new(self.call.operand_slots(), 1);
                one.set_rows(1);
                CaseShader::constant(self, &one)
            }
        }
    }
}
