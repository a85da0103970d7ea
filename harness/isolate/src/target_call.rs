//! Calls of a [`Target`](assay_exec::Target) by a worker on another machine.
//!
//! They contain the modules and the contents of memory, so they are sent in postcard's binary form.

use crate::message_frame::MAX_DATA_BYTES;
use assay_exec::{
    AllocatedDispatch, Descriptor, DispatchRequest, ExecError, PassAttachment, PassBuffer, PassForm, PassStep,
    SpecValue, SubgroupControl, TilePass, Wgsl,
};
use assay_oracle::{Dispatch, Resource, Robustness, Slot};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// A call. The answer is a `Result<_, TargetError>` of what the method returns.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum TargetCall {
    /// [`Target::capabilities`](assay_exec::Target::capabilities).
    Capabilities,
    /// [`Target::allocate`](assay_exec::Target::allocate); the answer has the addresses. The caller numbers
    /// the memory.
    Allocate { memory: u64, request: SentRequest },
    /// [`Target::run`](assay_exec::Target::run), with the description of the call for the coordinator and the
    /// number of the allocated memory.
    Run { doing: String, excuse: Option<String>, memory: Option<u64>, request: SentRequest },
    /// [`Target::clear_workgroup_memory`](assay_exec::Target::clear_workgroup_memory).
    ClearWorkgroupMemory,
    /// [`Target::run_tile_pass`](assay_exec::Target::run_tile_pass).
    TilePass(SentPass),
}

/// A [`DispatchRequest`] without what only the oracle reads.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SentRequest {
    /// WGSL text and the values of its overrides.
    wgsl: Option<(String, Vec<(String, f64)>)>,
    words: Vec<u32>,
    entry: String,
    specs: Vec<SpecValue>,
    subgroup_control: SubgroupControl,
    descriptors: Vec<Descriptor>,
    groups: [u32; 3],
    push_constants: Vec<u8>,
    bindings: BTreeMap<Slot, Resource>,
    robustness: Robustness,
}

impl SentRequest {
    pub(crate) fn of(request: &DispatchRequest<'_>) -> SentRequest {
        // Every field is named, so that whoever adds one decides here.
        let Dispatch {
            groups,
            push_constants,
            bindings,
            robustness,
            subgroup_size: _,
            subgroup_sizes: _,
            layout: _,
            robust_alignment: _,
            filtering: _,
            offsets: _,
            depth_swizzle_one: _,
            copies: _,
            maintenance8: _,
            tile: _,
            kernel: _,
            only: _,
            atomic_order: _,
            results: _,
            benign_races: _,
        } = request.dispatch;
        SentRequest {
            wgsl: request.wgsl.map(|wgsl| (wgsl.text.to_owned(), wgsl.overrides.to_vec())),
            words: request.words.to_vec(),
            entry: request.entry.to_owned(),
            specs: request.specs.to_vec(),
            subgroup_control: request.subgroup_control,
            descriptors: request.descriptors.to_vec(),
            groups: *groups,
            push_constants: push_constants.clone(),
            bindings: bindings.clone(),
            robustness: *robustness,
        }
    }

    /// Calls `work` with the request.
    pub(crate) fn with<T>(
        mut self,
        allocated: Option<&AllocatedDispatch>,
        work: impl FnOnce(&DispatchRequest<'_>) -> T,
    ) -> T {
        let dispatch = Dispatch {
            groups: self.groups,
            push_constants: std::mem::take(&mut self.push_constants),
            bindings: std::mem::take(&mut self.bindings),
            robustness: self.robustness,
            ..Dispatch::default()
        };
        work(&DispatchRequest {
            wgsl: self.wgsl.as_ref().map(|(text, overrides)| Wgsl { text, overrides }),
            words: &self.words,
            entry: &self.entry,
            specs: &self.specs,
            subgroup_control: self.subgroup_control,
            descriptors: &self.descriptors,
            dispatch: &dispatch,
            allocated,
        })
    }
}

/// A [`TilePass`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SentPass {
    form: PassForm,
    extent: [u32; 2],
    layers: u32,
    area: [[u32; 2]; 2],
    apron: [u32; 2],
    attachments: Vec<PassAttachment>,
    buffers: Vec<PassBuffer>,
    steps: Vec<PassStep>,
}

impl SentPass {
    pub(crate) fn of(pass: &TilePass<'_>) -> SentPass {
        let &TilePass { form, extent, layers, area, apron, attachments, buffers, steps } = pass;
        let (attachments, buffers, steps) = (attachments.to_vec(), buffers.to_vec(), steps.to_vec());
        SentPass { form, extent, layers, area, apron, attachments, buffers, steps }
    }

    pub(crate) fn pass(&self) -> TilePass<'_> {
        let SentPass { form, extent, layers, area, apron, attachments, buffers, steps } = self;
        let (&form, &extent, &layers, &area, &apron) = (form, extent, layers, area, apron);
        TilePass { form, extent, layers, area, apron, attachments, buffers, steps }
    }
}

/// Returns the binary form of a call or an answer.
///
/// # Errors
/// It is larger than a message may be.
pub(crate) fn to_bytes(sent: &impl Serialize) -> Result<Vec<u8>, ExecError> {
    let bytes = postcard::to_allocvec(sent).map_err(|error| ExecError::Internal(error.to_string()))?;
    if bytes.len() as u64 > MAX_DATA_BYTES {
        let (size, limit) = (bytes.len() >> 20, MAX_DATA_BYTES >> 20);
        let reason = format!("its memory has {size} MiB, and a message between two machines at most {limit} MiB");
        return Err(ExecError::OutOfMemory(reason));
    }
    Ok(bytes)
}

/// Returns what these bytes are the binary form of.
///
/// # Errors
/// They are of another form.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ExecError> {
    postcard::from_bytes(bytes).map_err(|error| ExecError::Internal(format!("a call that is not understood: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_exec::{AttachmentRole, ImageAccess, ImageShape, StepStage, TargetError};
    use assay_oracle::{Buffer, Image};
    use assay_spirv::{
        reflect::DescriptorKind,
        tables::{Dim, ImageFormat},
    };
    use assay_texture::{ImageView, Sampler, TexelFormat};

    fn image() -> Image {
        Image {
            dim: Dim::Dim2D,
            extent: [4, 2, 1],
            layers: 3,
            levels: 1,
            samples: 1,
            format: ImageFormat::R8ui,
            depth: false,
            view: ImageView::ALL,
            data: (0..24).collect(),
        }
    }

    #[test]
    fn a_request_arrives_with_everything_that_a_device_reads() {
        let buffer = Buffer { data: vec![255, 0, 7], address: Some(1 << 40) };
        let resources = [
            Resource::Buffer(buffer),
            Resource::Image(image()),
            Resource::CombinedImageSampler(image(), Sampler { linear: true, ..Sampler::NEAREST }),
            Resource::Sampler(Sampler::NEAREST),
        ];
        let dispatch = Dispatch {
            groups: [3, 2, 1],
            push_constants: vec![1, 2, 3, 4],
            bindings: (0..).map(|binding| Slot::new(1, binding)).zip(resources).collect(),
            robustness: Robustness::Access2,
            ..Dispatch::default()
        };
        let descriptor = Descriptor {
            slot: Slot { set: 1, binding: 1, element: 5 },
            name: Some("texels".to_owned()),
            kind: DescriptorKind::StorageImage,
            block: None,
            texels: ImageShape::new(image(), true),
            compares_depth: false,
            may_be_written: true,
            bytes: 24,
        };
        let request = DispatchRequest {
            wgsl: Some(Wgsl { text: "fn", overrides: &[("a".to_owned(), -0.5)] }),
            words: &[0x0723_0203, u32::MAX],
            entry: "main",
            specs: &[SpecValue { id: 3, width: 64, bits: u64::MAX }],
            subgroup_control: SubgroupControl { size: Some(8), full: true },
            descriptors: &[descriptor],
            dispatch: &dispatch,
            allocated: None,
        };
        let bytes = to_bytes(&SentRequest::of(&request)).unwrap();
        let arrived = from_bytes::<SentRequest>(&bytes).unwrap();
        arrived.with(None, |arrived| assert_eq!(format!("{arrived:?}"), format!("{request:?}")));
        for end in 0..bytes.len() {
            assert!(from_bytes::<SentRequest>(&bytes[..end]).is_err(), "{end} bytes of {}", bytes.len());
        }
    }

    #[test]
    fn a_pass_and_an_error_arrive_unchanged() {
        let attachment = PassAttachment {
            role: AttachmentRole::DepthStencil,
            format: TexelFormat::Depth32,
            bindings: vec![(2, ImageAccess::Sampled)],
            data: vec![9; 16],
        };
        let step = PassStep { words: vec![5], stage: StepStage::Compute { texels: [8, 8, 1] }, barrier: true };
        let pass = TilePass {
            form: PassForm::Dynamic,
            extent: [2, 2],
            layers: 1,
            area: [[0, 0], [2, 1]],
            apron: [1, 0],
            attachments: &[attachment],
            buffers: &[PassBuffer { binding: 7, data: vec![1] }],
            steps: &[step],
        };
        let bytes = to_bytes(&SentPass::of(&pass)).unwrap();
        assert_eq!(format!("{:?}", from_bytes::<SentPass>(&bytes).unwrap().pass()), format!("{pass:?}"));
        let failed: Result<(), TargetError> = Err(ExecError::DeviceLost("gone".to_owned()).into());
        assert_eq!(from_bytes::<Result<(), TargetError>>(&to_bytes(&failed).unwrap()).unwrap(), failed);
    }
}
