//! Pipelines of recent dispatches. The rounds of a shader share one, because some drivers take
//! minutes to compile a long shader.

use assay_vulkan::{BindingLayout, Bindings, Device, Pipeline, PipelineDesc, SpecConstant};
use std::collections::VecDeque;

/// Number of pipelines that are kept.
const KEPT: usize = 8;

/// The pipelines of recent dispatches, the latest last.
#[derive(Default)]
pub(crate) struct PipelineCache(VecDeque<KeptPipeline>);

struct KeptPipeline {
    code: Vec<u32>,
    entry: String,
    bindings: Vec<BindingLayout>,
    push_constants: u32,
    specialization: Vec<SpecConstant>,
    subgroup_size: Option<u32>,
    full_subgroups: bool,
    pipeline: Pipeline,
}

impl KeptPipeline {
    fn new(of: &PipelineDesc<'_>, bindings: &[BindingLayout], pipeline: Pipeline) -> KeptPipeline {
        KeptPipeline {
            code: of.code.to_vec(),
            entry: of.entry.to_owned(),
            bindings: bindings.to_vec(),
            push_constants: of.push_constants,
            specialization: of.specialization.to_vec(),
            subgroup_size: of.subgroup_size,
            full_subgroups: of.full_subgroups,
            pipeline,
        }
    }

    fn description(&self) -> PipelineDesc<'_> {
        PipelineDesc {
            code: &self.code,
            entry: &self.entry,
            bindings: Bindings::Listed(&self.bindings),
            push_constants: self.push_constants,
            specialization: &self.specialization,
            subgroup_size: self.subgroup_size,
            full_subgroups: self.full_subgroups,
        }
    }
}

impl PipelineCache {
    /// Returns the pipeline of a recent dispatch on `device` with this description.
    pub(crate) fn get(&self, device: &Device, description: &PipelineDesc<'_>) -> Option<Pipeline> {
        let kept = self.0.iter().find(|kept| kept.pipeline.is_of(device) && kept.description() == *description);
        kept.map(|kept| kept.pipeline.clone())
    }

    /// Keeps a pipeline with these bindings in place of the oldest.
    pub(crate) fn keep(&mut self, description: &PipelineDesc<'_>, bindings: &[BindingLayout], pipeline: &Pipeline) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(KeptPipeline::new(description, bindings, pipeline.clone()));
    }

    /// Drops all pipelines, so that their devices can be closed.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
