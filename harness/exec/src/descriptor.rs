//! Interface of a shader, as a device needs it: descriptors, specialisation constants and subgroup
//! options.

use crate::ImageShape;
use assay_oracle::Slot;
use assay_spirv::reflect::{DescriptorKind, TypeLayout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Set number of buffers without a descriptor, which no device supports.
const ADDRESSED_SET: u32 = u32::MAX;

/// A specialisation constant with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecValue {
    /// Its `SpecId`.
    pub id: u32,
    /// Width in bits; 32 for booleans.
    pub width: u32,
    /// Bits of the value.
    pub bits: u64,
}

/// Subgroup options of a pipeline (`VK_EXT_subgroup_size_control`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubgroupControl {
    /// Required subgroup size: a power of two.
    pub size: Option<u32>,
    /// Set if every subgroup must be full.
    pub full: bool,
}

impl SubgroupControl {
    /// Returns whether the options leave everything to the device.
    pub fn is_default(self) -> bool {
        self == SubgroupControl::default()
    }
}

/// A descriptor of the shader's interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Descriptor {
    /// Set, binding and array element.
    pub slot: Slot,
    /// Name of the variable.
    pub name: Option<String>,
    /// Kind of the descriptor.
    pub kind: DescriptorKind,
    /// Layout of a buffer's contents. It is not serialised: no device needs it.
    #[serde(skip)]
    pub block: Option<Arc<TypeLayout>>,
    /// Shape of an image or texel buffer.
    pub texels: Option<ImageShape>,
    /// Set if it is used with a depth comparison.
    pub compares_depth: bool,
    /// Set if the shader may write it.
    pub may_be_written: bool,
    /// Size of the buffer or of all texels in bytes.
    pub bytes: u64,
}

impl Descriptor {
    /// Returns a label such as `set 0 binding 1 (sums)`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) if self.is_addressed() => format!("buffer {name}"),
            Some(name) => format!("{} ({name})", self.slot),
            None => self.slot.to_string(),
        }
    }

    /// Returns whether it is a buffer without a descriptor, which the shader reaches by its device
    /// address only.
    pub fn is_addressed(&self) -> bool {
        self.slot.set == ADDRESSED_SET
    }

    /// Returns whether its contents can be written and read back: a storage buffer, storage image
    /// or storage texel buffer.
    pub fn is_read_back(&self) -> bool {
        use DescriptorKind as K;
        matches!(self.kind, K::StorageBuffer | K::StorageImage | K::StorageTexelBuffer)
    }
}

/// Returns the slot of a buffer without a descriptor, by its number.
pub fn addressed_slot(number: u32) -> Slot {
    Slot::new(ADDRESSED_SET, number)
}

/// Returns distinct addresses for buffers that no device has allocated, far from 0 and so far from
/// each other that an access beyond one buffer does not reach the next.
pub fn synthetic_addresses<'a>(descriptors: impl IntoIterator<Item = &'a Descriptor>) -> BTreeMap<Slot, u64> {
    const FIRST: u64 = 1 << 32;
    const ALIGN: u64 = 1 << 12;
    const APART: u64 = 1 << 32;
    let mut next = FIRST;
    let addressed = descriptors.into_iter().filter(|d| d.is_addressed());
    let place = |d: &Descriptor| {
        let here = next;
        next = (here + d.bytes).next_multiple_of(ALIGN) + APART;
        (d.slot, here)
    };
    addressed.map(place).collect()
}
