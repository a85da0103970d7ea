//! Pipelines of AmberScript.

use super::ScriptError;
use super::amber_script::Parser;
use super::lexer::Word;
use crate::sequence::{MemoryBinding, RequiredSubgroupSize, SequenceDispatch, SequencePush};
use assay_oracle::Slot;
use assay_precision::Scalar;

/// Kinds of bindings of a compute pipeline.
const BINDING_KINDS: [&str; 9] = [
    "uniform",
    "uniform_dynamic",
    "storage",
    "storage_dynamic",
    "storage_image",
    "sampled_image",
    "combined_image_sampler",
    "uniform_texel_buffer",
    "storage_texel_buffer",
];

/// A compute pipeline.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    /// Set if a shader is attached.
    pub(super) is_complete: bool,
    /// Dispatch without its workgroups.
    pub(super) dispatch: SequenceDispatch,
}

impl Parser<'_> {
    /// Parses the commands of a pipeline up to `END`.
    pub(super) fn pipeline_body(&mut self, mut pipeline: Pipeline) -> Result<Pipeline, ScriptError> {
        loop {
            let Some(command) = self.lexer.next_word() else {
                return Err(self.lexer.error("END of the pipeline is missing"));
            };
            match command.text.as_str() {
                "END" => return Ok(pipeline),
                "ATTACH" => self.attach(&mut pipeline)?,
                "BIND" => self.bind(&mut pipeline.dispatch)?,
                "SUBGROUP" => self.subgroup(&mut pipeline.dispatch)?,
                "COMPILE_OPTIONS" => return Err(self.unsupported(&command, "compile options are for OpenCL C")),
                "SHADER_OPTIMIZATION" => {
                    return Err(self.unsupported(&command, "the passes of spirv-opt are not run"));
                }
                "SET" => return Err(self.unsupported(&command, "kernel arguments are for OpenCL C")),
                other => {
                    let what = format!("`{other}` is not a command of a compute pipeline");
                    return Err(ScriptError { line: command.line, what });
                }
            }
        }
    }

    /// `ATTACH shader [TYPE compute] [ENTRY_POINT name] [SPECIALIZE id AS type value]..`
    fn attach(&mut self, pipeline: &mut Pipeline) -> Result<(), ScriptError> {
        let shader = self.lexer.expect("the name of a shader")?;
        let mut entry = None;
        let dispatch = &mut pipeline.dispatch;
        while let Some(word) = self.lexer.word() {
            match word.text.as_str() {
                "TYPE" => {
                    let ty = self.lexer.expect("the type of the shader")?;
                    if ty.text != "compute" {
                        return Err(self.lexer.error(format!("a compute pipeline takes no {} shader", ty.text)));
                    }
                }
                "ENTRY_POINT" => entry = Some(self.lexer.expect("the name of the entry point")?.text),
                "SPECIALIZE" => {
                    let id = self.lexer.expect("the id of a constant")?.text;
                    self.lexer.must_take("AS")?;
                    let ty = self.lexer.expect("the type of the constant")?.text;
                    let value = self.lexer.expect("the value of the constant")?.text;
                    let scalar = super::data_type::scalar(&ty).filter(|scalar: &Scalar| scalar.width() == 32);
                    let bits = scalar.and_then(|scalar| super::data_type::bits(scalar, &value));
                    let bits = bits
                        .ok_or_else(|| self.lexer.error(format!("`{value}` is not a value of a 32-bit type {ty}")))?;
                    dispatch.specs.push((id, format!("{bits:#x}")));
                }
                other => return Err(self.lexer.error(format!("ATTACH: unexpected `{other}`"))),
            }
        }
        dispatch.shader = self.shader(&shader, entry.as_deref())?;
        dispatch.entry = entry.or_else(|| Some("main".to_owned()));
        pipeline.is_complete = true;
        Ok(())
    }

    /// `BIND BUFFER|BUFFER_ARRAY|SAMPLER|SAMPLER_ARRAY name.. ..`
    fn bind(&mut self, dispatch: &mut SequenceDispatch) -> Result<(), ScriptError> {
        let what = self.lexer.expect("BUFFER or SAMPLER")?;
        let is_array = what.text.ends_with("_ARRAY");
        let is_sampler = match what.text.as_str() {
            "BUFFER" | "BUFFER_ARRAY" => false,
            "SAMPLER" | "SAMPLER_ARRAY" => true,
            "ACCELERATION_STRUCTURE" => return Err(self.unsupported(&what, "acceleration structures")),
            other => return Err(self.lexer.error(format!("BIND: unexpected `{other}`"))),
        };
        let mut names = Vec::new();
        while let Some(word) = self.lexer.peek() {
            if ["AS", "DESCRIPTOR_SET", "KERNEL"].contains(&word.text.as_str()) || (!is_array && names.len() == 1) {
                break;
            }
            names.extend(self.lexer.word());
        }
        if is_sampler {
            let slot = self.slot()?;
            self.lexer.end_line()?;
            for (element, name) in (0..).zip(&names) {
                let sampler = self.sampler(name)?;
                bind_sampler(dispatch, Slot { element, ..slot }, sampler);
            }
            return Ok(());
        }
        let memories = names.iter().map(|name| self.memory(name)).collect::<Result<Vec<_>, _>>()?;
        if self.lexer.peek().is_some_and(|word| word.text == "KERNEL") {
            return Err(self.unsupported(&what, "kernel arguments are for OpenCL C"));
        }
        self.lexer.must_take("AS")?;
        let kind = self.lexer.expect("the kind of the binding")?;
        if kind.text == "push_constant" {
            dispatch.push = memories.first().copied().map(SequencePush::Memory);
            return self.lexer.end_line();
        }
        if !BINDING_KINDS.contains(&kind.text.as_str()) {
            return Err(self.lexer.error(format!("`{}` is not a binding of a compute pipeline", kind.text)));
        }
        let mut samplers = Vec::new();
        if self.lexer.takes("SAMPLER") {
            while let Some(word) = self.lexer.peek().filter(|word| word.text != "DESCRIPTOR_SET") {
                samplers.push(self.sampler(&word)?);
                self.lexer.word();
            }
        }
        let slot = self.slot()?;
        let (mut starts, mut ranges) = (vec![0u64; memories.len()], vec![None; memories.len()]);
        while let Some(word) = self.lexer.word() {
            match word.text.as_str() {
                "OFFSET" | "DESCRIPTOR_OFFSET" => {
                    for start in &mut starts {
                        let offset = self.lexer.number::<u64>("an offset for each buffer")?;
                        *start = start.saturating_add(offset);
                    }
                }
                "DESCRIPTOR_RANGE" => {
                    for range in &mut ranges {
                        let given = self.lexer.number::<i64>("a range for each buffer")?;
                        *range = u64::try_from(given).ok();
                    }
                }
                "BASE_MIP_LEVEL" => {
                    if self.lexer.number::<u32>("a mip level")? != 0 {
                        return Err(self.unsupported(&word, "mip levels"));
                    }
                }
                other => return Err(self.lexer.error(format!("BIND: unexpected `{other}`"))),
            }
        }
        for (element, memory) in (0..).zip(memories) {
            let slot = Slot { element, ..slot };
            let (offset, range) = (starts[element as usize], ranges[element as usize]);
            dispatch.bindings.retain(|binding| binding.place != slot.into());
            dispatch.bindings.push(MemoryBinding { place: slot.into(), memory, offset, range });
            if let Some(sampler) = samplers.get(element as usize).or(samplers.first()) {
                bind_sampler(dispatch, slot, sampler.clone());
            }
        }
        Ok(())
    }

    /// `DESCRIPTOR_SET set BINDING binding`
    fn slot(&mut self) -> Result<Slot, ScriptError> {
        self.lexer.must_take("DESCRIPTOR_SET")?;
        let set = self.lexer.number("the descriptor set")?;
        self.lexer.must_take("BINDING")?;
        Ok(Slot::new(set, self.lexer.number("the binding")?))
    }

    /// `SUBGROUP shader`, options, `END`
    fn subgroup(&mut self, dispatch: &mut SequenceDispatch) -> Result<(), ScriptError> {
        self.lexer.expect("the name of a shader")?;
        loop {
            let Some(option) = self.lexer.next_word() else {
                return Err(self.lexer.error("END of SUBGROUP is missing"));
            };
            if option.text == "END" {
                return Ok(());
            }
            let value = self.lexer.expect("the value of the option")?;
            match (option.text.as_str(), value.text.as_str()) {
                ("FULLY_POPULATED", "on") => dispatch.full_subgroups = true,
                ("FULLY_POPULATED", "off") => dispatch.full_subgroups = false,
                ("VARYING_SIZE", "off") => {}
                ("VARYING_SIZE", "on") => {
                    return Err(self.unsupported(&option, "pipelines with varying subgroup sizes"));
                }
                ("REQUIRED_SIZE", "MIN") => dispatch.subgroup_size = Some(RequiredSubgroupSize::Least),
                ("REQUIRED_SIZE", "MAX") => dispatch.subgroup_size = Some(RequiredSubgroupSize::Greatest),
                ("REQUIRED_SIZE", size) => {
                    let size =
                        size.parse().map_err(|_| self.lexer.error(format!("`{size}` is not a subgroup size")))?;
                    dispatch.subgroup_size = Some(RequiredSubgroupSize::Of(size));
                }
                (option, value) => return Err(self.lexer.error(format!("SUBGROUP: unexpected `{option} {value}`"))),
            }
        }
    }

    /// Returns an error for something that is not supported.
    pub(super) fn unsupported(&self, word: &Word, why: &str) -> ScriptError {
        ScriptError { line: word.line, what: format!("`{}` is not supported: {why}", word.text) }
    }
}

/// Binds a sampler in place of an earlier one.
fn bind_sampler(dispatch: &mut SequenceDispatch, slot: Slot, sampler: crate::SamplerConfig) {
    dispatch.samplers.retain(|(place, _)| *place != slot.into());
    dispatch.samplers.push((slot.into(), sampler));
}
