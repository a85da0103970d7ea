//! Storage classes that can hold bytes, their capabilities, and the two buffers of a program.

use crate::bytes::{MoveSource, add_addressed_buffer, bytes_input, pattern};
use crate::module_builder::ModuleBuilder;
use assay_check::{BindingSource, Options};

/// The storage from which a program reads bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteStorage {
    Ssbo,
    /// A storage buffer in SPIR-V 1.0 style: `BufferBlock` in `Uniform`, with a capability of its
    /// own.
    Block,
    Ubo,
    Push,
    /// A buffer that is reached only by its device address, which is in the push constants.
    Address,
}

/// The bindings of the input and the output.
pub(super) const INPUT: u32 = 0;
pub(super) const OUTPUT: u32 = 1;

impl ByteStorage {
    pub(super) const ALL: [ByteStorage; 5] =
        [ByteStorage::Ssbo, ByteStorage::Block, ByteStorage::Ubo, ByteStorage::Push, ByteStorage::Address];

    pub(super) fn name(self) -> &'static str {
        match self {
            ByteStorage::Ssbo => "ssbo",
            ByteStorage::Block => "bufferblock",
            ByteStorage::Ubo => "ubo",
            ByteStorage::Push => "push",
            ByteStorage::Address => "address",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            ByteStorage::Ssbo => "StorageBuffer",
            ByteStorage::Block | ByteStorage::Ubo => "Uniform",
            ByteStorage::Push => "PushConstant",
            ByteStorage::Address => "PhysicalStorageBuffer",
        }
    }

    pub(super) fn from(self) -> MoveSource {
        match self {
            ByteStorage::Ssbo | ByteStorage::Block | ByteStorage::Ubo => MoveSource::Binding(INPUT),
            ByteStorage::Push => MoveSource::Push,
            ByteStorage::Address => MoveSource::Pointed(0),
        }
    }

    /// Capabilities for 16-bit members, in addition to those for 8 bits.
    pub(super) fn capabilities_16bit(self) -> &'static [&'static str] {
        match self {
            ByteStorage::Ssbo => &["StorageBuffer16BitAccess"],
            // For the second, see [`ByteStorage::enable`].
            ByteStorage::Address => &["StorageBuffer16BitAccess", "StoragePushConstant16"],
            ByteStorage::Block | ByteStorage::Ubo => &["UniformAndStorageBuffer16BitAccess"],
            ByteStorage::Push => &["StoragePushConstant16"],
        }
    }

    /// Declares the capabilities and extensions for bytes in this storage.
    pub(super) fn enable(self, shader: &mut ModuleBuilder) {
        shader.extension("SPV_KHR_8bit_storage");
        if self == ByteStorage::Address {
            shader.extension("SPV_KHR_physical_storage_buffer");
            shader.capability("PhysicalStorageBufferAddresses");
            shader.memory_model("PhysicalStorageBuffer64 GLSL450");
            // Some validators count bytes behind a pointer as part of the block that holds the
            // pointer.
            shader.capability("StoragePushConstant8");
        }
        shader.capability(match self {
            ByteStorage::Ssbo | ByteStorage::Address => "StorageBuffer8BitAccess",
            ByteStorage::Block | ByteStorage::Ubo => "UniformAndStorageBuffer8BitAccess",
            ByteStorage::Push => "StoragePushConstant8",
        });
    }

    /// Declares the input: a block with these members.
    pub(super) fn input(self, shader: &mut ModuleBuilder, members: &[(String, u32)]) -> String {
        let decoration = if self == ByteStorage::Block { "BufferBlock" } else { "Block" };
        let block = shader.block(members, decoration);
        match self {
            ByteStorage::Push => shader.variable(self.class(), &block),
            ByteStorage::Address => address(shader, &block),
            ByteStorage::Ssbo | ByteStorage::Block | ByteStorage::Ubo => shader.resource(self.class(), &block, INPUT),
        }
    }

    /// Emits a load of an object with this alignment. Only physical pointers require the alignment
    /// to be stated.
    pub(super) fn load(self, shader: &mut ModuleBuilder, ty: &str, from: &str, aligned: u32) -> String {
        match self {
            ByteStorage::Address => shader.op(ty, "OpLoad", format_args!("{from} Aligned {aligned}")),
            ByteStorage::Ssbo | ByteStorage::Block | ByteStorage::Ubo | ByteStorage::Push => {
                shader.op(ty, "OpLoad", from)
            }
        }
    }

    /// Adds the input's contents to the options.
    pub(super) fn fill(self, options: &mut Options, mut contents: Vec<u8>) {
        match self {
            ByteStorage::Push => {
                contents.resize(contents.len().next_multiple_of(4), 0);
                options.push = Some(BindingSource::Bytes(contents));
            }
            ByteStorage::Address => drop(add_addressed_buffer(options, "input", contents, (0, 0))),
            ByteStorage::Ssbo | ByteStorage::Block | ByteStorage::Ubo => {
                // A buffer has at least four bytes.
                contents.resize(contents.len().max(4), 0);
                options.inputs.push(bytes_input(INPUT, contents));
            }
        }
    }
}

/// Emits a load of a pointer to a block from the push constants.
pub(super) fn address(shader: &mut ModuleBuilder, block: &str) -> String {
    let pointer = shader.pointer("PhysicalStorageBuffer", block);
    let push = shader.block(&[(pointer.clone(), 0)], "Block");
    let push = shader.variable("PushConstant", &push);
    let zero = shader.constant_u32(0);
    let from = shader.access("PushConstant", &pointer, &push, &[&zero]);
    shader.op(&pointer, "OpLoad", from)
}

/// Declares the output: a storage buffer with these members.
pub(super) fn output(shader: &mut ModuleBuilder, members: &[(String, u32)]) -> String {
    let block = shader.block(members, "Block");
    shader.resource("StorageBuffer", &block, OUTPUT)
}

/// Options of a program with this many workgroups and an output of this size. All of the output has
/// initial contents and is checked.
pub(super) fn options(groups: u32, output: u32) -> Options {
    let inputs = vec![bytes_input(OUTPUT, pattern(output, 0x51))];
    Options { groups: Some([groups, 1, 1]), inputs, padding: true, ..Options::default() }
}
