//! Faults, by name.

use crate::floats::{self, FloatChange};
use crate::indices;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::grammar::instruction_named;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::tables::Op;
use std::fmt;
use std::str::FromStr;

/// A fault to plant in a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverFault(pub(crate) FaultKind);

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// An instruction changes floats whose bits it must preserve.
    Floats { change: FloatChange, op: Op },
    /// `shader64BitIndexing` is offered.
    Indexing(IndexingFault),
    /// Push constants beyond the first bytes are lost.
    ShortPush,
    /// Samplers treat unnormalised coordinates as normalised.
    NormalizedSamplers,
    /// The texels of a gather from a depth image are in reverse order.
    ReversedDepthGathers,
}

/// Implementation of `shader64BitIndexing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexingFault {
    /// Correct: the wrapped driver lacks the feature, and this is not a fault.
    Right,
    /// Indices are truncated to 32 bits.
    CutIndices,
    /// The upper word of a length is not set.
    LooseLengths,
}

/// Faults whose names do not contain an instruction.
const NAMED_FAULTS: [(&str, FaultKind); 6] = [
    ("64bit-indexing", FaultKind::Indexing(IndexingFault::Right)),
    ("cut-64bit-indices", FaultKind::Indexing(IndexingFault::CutIndices)),
    ("loose-64bit-lengths", FaultKind::Indexing(IndexingFault::LooseLengths)),
    ("short-push", FaultKind::ShortPush),
    ("normalized-samplers", FaultKind::NormalizedSamplers),
    ("reversed-depth-gathers", FaultKind::ReversedDepthGathers),
];

/// Changes of floats, whose names are combined with that of an instruction.
const CHANGES: [(&str, FloatChange); 4] = [
    ("flush", FloatChange::Flush),
    ("positive-zero", FloatChange::PositiveZero),
    ("plain-nan", FloatChange::PlainNan),
    ("finite", FloatChange::Finite),
];

/// A text that is not the name of a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a fault: expected {names}, or CHANGE@INSTRUCTION, CHANGE one of {changes}",
    names = NAMED_FAULTS.map(|(name, _)| name).join(", "),
    changes = CHANGES.map(|(name, _)| name).join(", ")
)]
pub struct UnknownFault(String);

impl FromStr for DriverFault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<DriverFault, UnknownFault> {
        let plain = NAMED_FAULTS.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind);
        let of_floats = || {
            let (name, op) = text.split_once('@')?;
            let (_, change) = CHANGES.iter().find(|(known, _)| *known == name)?;
            Some(FaultKind::Floats { change: *change, op: instruction_named(op)?.op })
        };
        plain.or_else(of_floats).map(DriverFault).ok_or_else(|| UnknownFault(text.to_owned()))
    }
}

impl fmt::Display for DriverFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let FaultKind::Floats { change, op } = self.0 {
            let name = CHANGES.iter().find(|(_, of)| *of == change).map_or("", |(name, _)| name);
            return write!(f, "{name}@{}", op.name());
        }
        f.write_str(NAMED_FAULTS.iter().find(|(_, kind)| *kind == self.0).map_or("", |(name, _)| name))
    }
}

impl DriverFault {
    /// Returns the words of a module as the wrapped driver receives them.
    pub fn plant(self, module: &Module) -> Vec<u32> {
        match self.0 {
            FaultKind::Floats { change, op } => floats::change_all(module, change, op),
            FaultKind::Indexing(indexing) if indices::declares(module) => indices::lower(module, indexing),
            FaultKind::ReversedDepthGathers => reverse_depth_gathers(module),
            FaultKind::Indexing(_) | FaultKind::ShortPush | FaultKind::NormalizedSamplers => module.words().to_vec(),
        }
    }

    /// Returns true if the device offers `shader64BitIndexing`.
    pub(crate) fn offers_indexing(self) -> bool {
        matches!(self.0, FaultKind::Indexing(_))
    }
}

/// Reverses the results of gathers from depth images.
fn reverse_depth_gathers(module: &Module) -> Vec<u32> {
    let mut editor = Editor::new(module);
    let of_depths = |i: &Instruction<'_>| {
        let ty = module.ty(module.type_of(i.operand(0)?)?);
        let Type::SampledImage { image } = *ty else { return None };
        Some(matches!(module.ty(image), Type::Image(image) if image.depth == 1))
    };
    for i in module.instructions().filter(|i| i.op == Some(Op::ImageGather) && of_depths(i) == Some(true)) {
        editor.wrap_result(&i, |_, kept, result| {
            Some(instruction(Op::VectorShuffle, &[i.result_type()?, result, kept, kept, 3, 2, 1, 0]))
        });
    }
    editor.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::assemble;
    use assay_spirv_rules::inspect::{ModuleSource, Report};

    #[test]
    fn fault_names_survive_parsing() {
        for (name, _) in NAMED_FAULTS {
            assert_eq!(name.parse::<DriverFault>().unwrap().to_string(), name);
        }
        assert_eq!("flush@OpBitcast".parse::<DriverFault>().unwrap().to_string(), "flush@OpBitcast");
        for wrong in ["", "flush", "flush@", "flush@OpNothing", "drain@OpBitcast"] {
            let said = wrong.parse::<DriverFault>().unwrap_err().to_string();
            assert!(said.contains(&format!("`{wrong}` is not a fault")), "{said}");
        }
    }

    /// Returns a shader that copies a scalar and a vector of a width from one buffer to another.
    fn copies(width: u32) -> String {
        let (capability, bytes) = match width {
            16 => ("OpCapability Float16\nOpCapability Int16\nOpCapability StorageBuffer16BitAccess\n", 2),
            64 => ("OpCapability Float64\nOpCapability Int64\n", 8),
            _ => ("", 4),
        };
        format!(
            "; SPIR-V\n; Version: 1.3\nOpCapability Shader\n{capability}OpMemoryModel Logical GLSL450\n\
             OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
             OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset {}\n\
             OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\n\
             OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n\
             %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%f = OpTypeFloat {width}\n%v = OpTypeVector %f 2\n\
             %u32 = OpTypeInt 32 0\n%c0 = OpConstant %u32 0\n%c1 = OpConstant %u32 1\n%half = OpConstant %f 0.5\n\
             %block = OpTypeStruct %f %v\n%to_block = OpTypePointer StorageBuffer %block\n\
             %to_f = OpTypePointer StorageBuffer %f\n%to_v = OpTypePointer StorageBuffer %v\n\
             %in = OpVariable %to_block StorageBuffer\n%out = OpVariable %to_block StorageBuffer\n\
             %main = OpFunction %void None %fn\n%start = OpLabel\n\
             %1 = OpAccessChain %to_f %in %c0\n%2 = OpLoad %f %1\n%3 = OpCopyObject %f %2\n%4 = OpFAdd %f %3 %half\n\
             %5 = OpAccessChain %to_f %out %c0\nOpStore %5 %4\n\
             %6 = OpAccessChain %to_v %in %c1\n%7 = OpLoad %v %6\n%8 = OpCopyObject %v %7\n\
             %9 = OpAccessChain %to_v %out %c1\nOpStore %9 %8\nOpReturn\nOpFunctionEnd\n",
            2 * bytes
        )
    }

    /// A module with a planted fault is legal, and differs from the original.
    #[test]
    fn planted_modules_are_legal() {
        for width in [16, 32, 64] {
            let module = Module::parse(assemble(&copies(width)).unwrap()).unwrap();
            for (change, _) in CHANGES {
                for op in ["OpLoad", "OpCopyObject", "OpStore", "OpFAdd", "OpConstant"] {
                    let fault: DriverFault = format!("{change}@{op}").parse().unwrap();
                    let planted = fault.plant(&module);
                    // 0.5 is not among the values that are changed.
                    assert_eq!(planted == module.words(), op == "OpConstant", "{fault}");
                    let bytes: Vec<u8> = planted.iter().flat_map(|word| word.to_le_bytes()).collect();
                    let report = Report::new(&ModuleSource::read(&bytes).unwrap());
                    assert!(report.is_legal(), "{fault}: {:?}", report.violations);
                }
            }
        }
    }
}
