//! Compute pipelines.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::{ExecutionMode, Op};

use crate::device::{Device, DeviceShared};
use crate::error::Error;
use crate::layout_cache::{LayoutKey, descriptor_type};
use crate::resource::BindingLayout;

/// The value of one specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    id: u32,
    bits: u64,
    size: usize,
}

impl SpecConstant {
    /// Returns an 8-bit constant with the `SpecId` `id`.
    #[must_use]
    pub fn bits8(id: u32, bits: u8) -> Self {
        Self { id, bits: bits.into(), size: 1 }
    }

    /// Returns a 16-bit constant; `f16` by its bits.
    #[must_use]
    pub fn bits16(id: u32, bits: u16) -> Self {
        Self { id, bits: bits.into(), size: 2 }
    }

    /// Returns a 32-bit constant; `f32` by its bits, a boolean as 0 or 1.
    #[must_use]
    pub fn bits32(id: u32, bits: u32) -> Self {
        Self { id, bits: bits.into(), size: 4 }
    }

    /// Returns a 64-bit constant; `f64` by its bits.
    #[must_use]
    pub fn bits64(id: u32, bits: u64) -> Self {
        Self { id, bits, size: 8 }
    }
}

/// The bindings of a pipeline's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bindings<'a> {
    /// This number of storage buffers in set 0, from binding 0 on.
    Buffers(u32),
    /// The listed bindings, in any order; each set and binding occurs once.
    Listed(&'a [BindingLayout]),
}

/// Description of a compute pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineDesc<'a> {
    /// The SPIR-V module, in the host's byte order.
    pub code: &'a [u32],
    /// The entry point, of execution model `GLCompute`.
    pub entry: &'a str,
    /// Bindings of the pipeline layout.
    pub bindings: Bindings<'a>,
    /// Bytes of push constants; a multiple of 4.
    pub push_constants: u32,
    /// Values of specialisation constants; the others keep the module's defaults.
    pub specialization: &'a [SpecConstant],
    /// Required number of invocations in a subgroup (needs `subgroupSizeControl`).
    pub subgroup_size: Option<u32>,
    /// Requires full subgroups (needs `computeFullSubgroups`). The size of a workgroup along x must
    /// then be a multiple of the subgroup size.
    pub full_subgroups: bool,
}

impl<'a> PipelineDesc<'a> {
    /// Describes the entry point `main` of `code` with `buffers` storage buffers, without push
    /// constants and specialisation.
    #[must_use]
    pub fn new(code: &'a [u32], buffers: u32) -> Self {
        Self {
            code,
            entry: "main",
            bindings: Bindings::Buffers(buffers),
            push_constants: 0,
            specialization: &[],
            subgroup_size: None,
            full_subgroups: false,
        }
    }
}

/// A compute pipeline, cheap to clone. It is destroyed when no clone and no work in flight uses it.
#[derive(Clone)]
pub struct Pipeline {
    pub(crate) shared: Arc<PipelineShared>,
}

pub(crate) struct PipelineShared {
    pub(crate) device: Arc<DeviceShared>,
    pub(crate) raw: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) key: LayoutKey,
    /// Depth in layers of the blocks in which a tile is shaded, if the module declares it.
    pub(crate) shading_depth: Option<u32>,
    /// Set once a dispatch has ended, so that the driver has compiled the shader.
    pub(crate) compiled: AtomicBool,
}

impl Drop for PipelineShared {
    fn drop(&mut self) {
        // SAFETY: a slot in flight holds an Arc of this, so no work uses the pipeline.
        unsafe { self.device.raw.destroy_pipeline(self.raw, None) };
    }
}

const MAGIC: u32 = 0x0723_0203;

/// Returns the last operand of the module's `TileShadingRateQCOM` execution mode, if it has one.
fn shading_depth(code: &[u32]) -> Option<u32> {
    let mut rest = code.get(5..)?;
    while let [first, ..] = rest {
        let length = (first >> 16) as usize;
        let (instruction, after) = rest.split_at_checked(length.max(1))?;
        if let [_, _, mode, _, _, depth] = *instruction
            && Op::from_opcode(*first as u16) == Some(Op::ExecutionMode)
            && mode == ExecutionMode::TileShadingRateQCOM.word()
        {
            return Some(depth);
        }
        rest = after;
    }
    None
}

impl Pipeline {
    /// Returns true if it was created on `device`.
    #[must_use]
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.shared.device, device.shared())
    }

    pub(crate) fn new(device: &Arc<DeviceShared>, description: &PipelineDesc<'_>) -> Result<Self, Error> {
        device.check_alive("vkCreateComputePipelines")?;
        let entry = check(device, description)?;
        let key = match description.bindings {
            Bindings::Buffers(count) => LayoutKey::buffers(count, description.push_constants),
            Bindings::Listed(bindings) => {
                let mut bindings = bindings.to_vec();
                bindings.sort_unstable();
                LayoutKey { bindings, push_constants: description.push_constants }
            }
        };
        let layout = device.layout(&key)?.pipeline;

        let mut data = Vec::new();
        let mut entries = Vec::new();
        for constant in description.specialization {
            entries.push(vk::SpecializationMapEntry {
                constant_id: constant.id,
                offset: data.len() as u32,
                size: constant.size,
            });
            match constant.size {
                1 => data.extend((constant.bits as u8).to_ne_bytes()),
                2 => data.extend((constant.bits as u16).to_ne_bytes()),
                4 => data.extend((constant.bits as u32).to_ne_bytes()),
                _ => data.extend(constant.bits.to_ne_bytes()),
            }
        }
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
            .required_subgroup_size(description.subgroup_size.unwrap_or_default());

        let module_info = vk::ShaderModuleCreateInfo::default().code(description.code);
        // SAFETY: the device is alive; the words live until the call returns.
        let module = unsafe { device.raw.create_shader_module(&module_info, None) };
        let module = device.check(module, "vkCreateShaderModule")?;
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&entry);
        if !entries.is_empty() {
            stage = stage.specialization_info(&specialization);
        }
        if description.subgroup_size.is_some() {
            stage = stage.push_next(&mut size);
        }
        if description.full_subgroups {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        // SAFETY: everything that `info` refers to lives until the call returns. Without a cache
        // object, the driver accepts concurrent calls. The module is not needed afterwards.
        let result = unsafe {
            let result = device.raw.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            device.raw.destroy_shader_module(module, None);
            result
        };
        let made = device.check(result.map_err(|(_, error)| error), "vkCreateComputePipelines")?;
        let raw = made.first().copied().unwrap_or_default();
        Ok(Self {
            shared: Arc::new(PipelineShared {
                device: device.clone(),
                raw,
                layout,
                key,
                shading_depth: shading_depth(description.code),
                compiled: AtomicBool::new(false),
            }),
        })
    }
}

/// Checks everything except the module; returns the name of the entry point.
fn check(device: &DeviceShared, description: &PipelineDesc<'_>) -> Result<CString, Error> {
    if description.code.len() < 5 || description.code[0] != MAGIC {
        return Err(Error::invalid("not a SPIR-V module: it does not begin with 0x07230203"));
    }
    let entry = CString::new(description.entry)
        .map_err(|_| Error::invalid(format!("the entry point {:?} has a NUL in it", description.entry)))?;
    let limits = &device.properties.limits;
    check_bindings(device, description.bindings)?;
    if !description.push_constants.is_multiple_of(4) {
        return Err(Error::invalid(format!(
            "{} bytes of push constants: the size must be a multiple of 4",
            description.push_constants
        )));
    }
    if description.push_constants > limits.max_push_constants {
        return Err(device.unsupported(format!(
            "{} bytes of push constants (maxPushConstantsSize is {})",
            description.push_constants, limits.max_push_constants
        )));
    }
    let mut ids: Vec<_> = description.specialization.iter().map(|c| c.id).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|w| w[0] == w[1]) {
        return Err(Error::invalid(format!("the specialisation constant {} is given twice", twice[0])));
    }
    if let Some(size) = description.subgroup_size {
        let subgroup = device.properties.subgroup.as_ref().filter(|s| {
            device.capabilities.has_feature("subgroupSizeControl")
                && vk::ShaderStageFlags::from_raw(s.required_size_stages).contains(vk::ShaderStageFlags::COMPUTE)
        });
        let Some(subgroup) = subgroup else {
            return Err(
                device.unsupported("a required subgroup size (subgroupSizeControl, requiredSubgroupSizeStages)")
            );
        };
        if !size.is_power_of_two() || size < subgroup.min_size || size > subgroup.max_size {
            return Err(device.unsupported(format!(
                "subgroups of {size} (a power of two from {} to {})",
                subgroup.min_size, subgroup.max_size
            )));
        }
    }
    if description.full_subgroups && !device.capabilities.has_feature("computeFullSubgroups") {
        return Err(device.unsupported("full subgroups (computeFullSubgroups)"));
    }
    Ok(entry)
}

/// Checks that the device supports such a layout.
fn check_bindings(device: &DeviceShared, bindings: Bindings<'_>) -> Result<(), Error> {
    let limits = &device.properties.limits;
    let buffers = match bindings {
        Bindings::Buffers(count) => count,
        Bindings::Listed(bindings) => {
            for (i, b) in bindings.iter().enumerate() {
                let place = format!("set {}, binding {}", b.set, b.binding);
                if bindings[..i].iter().any(|other| (other.set, other.binding) == (b.set, b.binding)) {
                    return Err(Error::invalid(format!("{place} is listed twice")));
                }
                if b.count == 0 {
                    return Err(Error::invalid(format!("{place} has no descriptors")));
                }
                if descriptor_type(b.kind).is_none() {
                    return Err(Error::invalid(format!("{place}: this program makes no {:?}", b.kind)));
                }
                if b.set >= limits.max_sets {
                    return Err(device.unsupported(format!("{place} (maxBoundDescriptorSets is {})", limits.max_sets)));
                }
            }
            let storage = bindings.iter().filter(|b| b.kind == DescriptorKind::StorageBuffer);
            storage.fold(0u32, |sum, b| sum.saturating_add(b.count))
        }
    };
    let all = match bindings {
        Bindings::Buffers(count) => count,
        Bindings::Listed(bindings) => bindings.iter().fold(0u32, |sum, b| sum.saturating_add(b.count)),
    };
    if buffers > limits.max_storage_buffers {
        let most = limits.max_storage_buffers;
        return Err(
            device.unsupported(format!("{buffers} storage buffers (maxPerStageDescriptorStorageBuffers is {most})"))
        );
    }
    if all > limits.max_resources {
        let most = limits.max_resources;
        return Err(device.unsupported(format!("{all} descriptors (maxPerStageResources is {most})")));
    }
    Ok(())
}
