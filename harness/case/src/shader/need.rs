//! What a case needs of a device: what its module does, by the one way from modules to needs, and what its template takes
//! for granted.

use super::{Form, Shader, form};
use crate::case::{Case, Source};
use crate::columns::Columns;
use assay_spirv::need::{Expression, Need, NeedItem, Requirement, Test};
use assay_spirv::{AssembleError, Module, ModuleError};

/// The largest subgroup that `shaders/precision/subgroup.spvasm` copes with: its workgroup has as many invocations.
const LARGEST_SUBGROUP: u64 = 64;

/// Why a case has no module to ask: a mistake of this crate's or of a template's, never of a device.
#[derive(Debug, thiserror::Error)]
pub enum ShaderError {
    /// The text does not assemble.
    #[error("the shader does not assemble: {0}")]
    Text(#[from] AssembleError),
    /// The words are no module.
    #[error("the shader is no module: {0}")]
    Module(#[from] ModuleError),
}

impl Case {
    /// What the case needs of a device. It does not depend on how many rows there are, nor on their values.
    ///
    /// # Errors
    /// The case's shader is no module.
    pub fn need(&self) -> Result<Need, ShaderError> {
        let module = Module::parse(assay_spirv::assemble(&self.shader_of_one_row().text)?)?;
        let mut need = Need::of(&module);
        if form(self.call.op) == Form::Subgroup {
            let at_most = Requirement::Property("maxSubgroupSize", Test::AtMost(LARGEST_SUBGROUP));
            need.items.push(NeedItem {
                expression: Expression::One(at_most),
                because: format!("a shader for subgroups of at most {LARGEST_SUBGROUP} invocations"),
                rule: None,
                at: 0,
            });
        }
        Ok(need)
    }

    fn shader_of_one_row(&self) -> Shader {
        match self.source {
            Source::Buffer => Shader::buffer(self, Columns::ALIGN),
            Source::Constant | Source::SpecConstant => {
                let mut one = Columns::new(self.call.operand_slots(), 1);
                one.set_rows(1);
                Shader::constant(self, &one)
            }
        }
    }
}
