//! Where bytes can lie: storage classes, what they need, and the programs' two buffers.

use crate::bytes::{From, given, pattern};
use crate::write::Shader;
use assay_check::{Options, Source};

/// Where a program reads bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Ssbo,
    /// A storage buffer as SPIR-V 1.0 has it: `BufferBlock` in Uniform, under the second capability.
    Block,
    Ubo,
    Push,
}

/// The binding of what is read, and of what is written.
pub(super) const INPUT: u32 = 0;
pub(super) const OUTPUT: u32 = 1;

impl Storage {
    pub(super) const ALL: [Storage; 4] = [Storage::Ssbo, Storage::Block, Storage::Ubo, Storage::Push];

    pub(super) fn name(self) -> &'static str {
        match self {
            Storage::Ssbo => "ssbo",
            Storage::Block => "bufferblock",
            Storage::Ubo => "ubo",
            Storage::Push => "push",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Storage::Ssbo => "StorageBuffer",
            Storage::Block | Storage::Ubo => "Uniform",
            Storage::Push => "PushConstant",
        }
    }

    pub(super) fn from(self) -> From {
        match self {
            Storage::Ssbo | Storage::Block | Storage::Ubo => From::Binding(INPUT),
            Storage::Push => From::Push,
        }
    }

    /// What 16-bit members of it need, beside those of 8 bits.
    pub(super) fn sixteen(self) -> &'static str {
        match self {
            Storage::Ssbo => "StorageBuffer16BitAccess",
            Storage::Block | Storage::Ubo => "UniformAndStorageBuffer16BitAccess",
            Storage::Push => "StoragePushConstant16",
        }
    }

    /// Declares what its bytes need.
    pub(super) fn enable(self, shader: &mut Shader) {
        shader.extension("SPV_KHR_8bit_storage");
        shader.capability(match self {
            Storage::Ssbo => "StorageBuffer8BitAccess",
            Storage::Block | Storage::Ubo => "UniformAndStorageBuffer8BitAccess",
            Storage::Push => "StoragePushConstant8",
        });
    }

    /// What is read: a block with those members.
    pub(super) fn input(self, shader: &mut Shader, members: &[(String, u32)]) -> String {
        let decoration = if self == Storage::Block { "BufferBlock" } else { "Block" };
        let block = shader.block(members, decoration);
        match self {
            Storage::Push => shader.variable(self.class(), &block),
            Storage::Ssbo | Storage::Block | Storage::Ubo => shader.resource(self.class(), &block, INPUT),
        }
    }

    /// Puts its contents into options.
    pub(super) fn fill(self, options: &mut Options, mut contents: Vec<u8>) {
        match self {
            Storage::Push => {
                contents.resize(contents.len().next_multiple_of(4), 0);
                options.push = Some(Source::Bytes(contents));
            }
            Storage::Ssbo | Storage::Block | Storage::Ubo => {
                // A buffer has at least a word.
                contents.resize(contents.len().max(4), 0);
                options.inputs.push(given(INPUT, contents));
            }
        }
    }
}

/// What is written: a storage buffer with those members.
pub(super) fn output(shader: &mut Shader, members: &[(String, u32)]) -> String {
    let block = shader.block(members, "Block");
    shader.resource("StorageBuffer", &block, OUTPUT)
}

/// Options of a program with that many workgroups, whose output has so many bytes, all of which hold something before and
/// are looked at.
pub(super) fn options(groups: u32, output: u32) -> Options {
    let inputs = vec![given(OUTPUT, pattern(output, 0x51))];
    Options { groups: Some([groups, 1, 1]), inputs, padding: true, ..Options::default() }
}
