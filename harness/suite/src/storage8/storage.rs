//! Where bytes can lie: storage classes, what they need, and the programs' two buffers.

use crate::bytes::{From, given, pattern, pointed};
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
    /// A buffer that no descriptor binds, by its device address, which is in the push constants.
    Address,
}

/// The binding of what is read, and of what is written.
pub(super) const INPUT: u32 = 0;
pub(super) const OUTPUT: u32 = 1;

impl Storage {
    pub(super) const ALL: [Storage; 5] = [Storage::Ssbo, Storage::Block, Storage::Ubo, Storage::Push, Storage::Address];

    pub(super) fn name(self) -> &'static str {
        match self {
            Storage::Ssbo => "ssbo",
            Storage::Block => "bufferblock",
            Storage::Ubo => "ubo",
            Storage::Push => "push",
            Storage::Address => "address",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Storage::Ssbo => "StorageBuffer",
            Storage::Block | Storage::Ubo => "Uniform",
            Storage::Push => "PushConstant",
            Storage::Address => "PhysicalStorageBuffer",
        }
    }

    pub(super) fn from(self) -> From {
        match self {
            Storage::Ssbo | Storage::Block | Storage::Ubo => From::Binding(INPUT),
            Storage::Push => From::Push,
            Storage::Address => From::Pointed(0),
        }
    }

    /// What 16-bit members of it need, beside those of 8 bits.
    pub(super) fn sixteen(self) -> &'static [&'static str] {
        match self {
            Storage::Ssbo => &["StorageBuffer16BitAccess"],
            // The second for the same reason as that of 8 bits.
            Storage::Address => &["StorageBuffer16BitAccess", "StoragePushConstant16"],
            Storage::Block | Storage::Ubo => &["UniformAndStorageBuffer16BitAccess"],
            Storage::Push => &["StoragePushConstant16"],
        }
    }

    /// Declares what its bytes need.
    pub(super) fn enable(self, shader: &mut Shader) {
        shader.extension("SPV_KHR_8bit_storage");
        if self == Storage::Address {
            shader.extension("SPV_KHR_physical_storage_buffer");
            shader.capability("PhysicalStorageBufferAddresses");
            shader.memory_model("PhysicalStorageBuffer64 GLSL450");
            // Bytes behind a pointer count as bytes of what holds it to some validators.
            shader.capability("StoragePushConstant8");
        }
        shader.capability(match self {
            Storage::Ssbo | Storage::Address => "StorageBuffer8BitAccess",
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
            Storage::Address => address(shader, &block),
            Storage::Ssbo | Storage::Block | Storage::Ubo => shader.resource(self.class(), &block, INPUT),
        }
    }

    /// A load, of what is aligned to so many bytes: only pointers that are addresses have to say that.
    pub(super) fn load(self, shader: &mut Shader, ty: &str, from: &str, aligned: u32) -> String {
        match self {
            Storage::Address => shader.op(ty, "OpLoad", format_args!("{from} Aligned {aligned}")),
            Storage::Ssbo | Storage::Block | Storage::Ubo | Storage::Push => shader.op(ty, "OpLoad", from),
        }
    }

    /// Puts its contents into options.
    pub(super) fn fill(self, options: &mut Options, mut contents: Vec<u8>) {
        match self {
            Storage::Push => {
                contents.resize(contents.len().next_multiple_of(4), 0);
                options.push = Some(Source::Bytes(contents));
            }
            Storage::Address => drop(pointed(options, "input", contents, (0, 0))),
            Storage::Ssbo | Storage::Block | Storage::Ubo => {
                // A buffer has at least a word.
                contents.resize(contents.len().max(4), 0);
                options.inputs.push(given(INPUT, contents));
            }
        }
    }
}

/// A pointer to a block whose address is the push constants.
pub(super) fn address(shader: &mut Shader, block: &str) -> String {
    let pointer = shader.pointer("PhysicalStorageBuffer", block);
    let push = shader.block(&[(pointer.clone(), 0)], "Block");
    let push = shader.variable("PushConstant", &push);
    let zero = shader.constant_u32(0);
    let from = shader.access("PushConstant", &pointer, &push, &[&zero]);
    shader.op(&pointer, "OpLoad", from)
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
