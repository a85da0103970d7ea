//! Changes of the floats in composites: in results, operands, constants and copies of memory.

use crate::floats::{FloatChange, Masks, changed_constant};
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::Instruction;
use assay_spirv::tables::{Decoration, Op};

/// Maximum number of members of a composite that is taken apart.
const MEMBERS: usize = 64;

/// Returns code that defines `result` as the value, of this type, with all its floats changed;
/// `None` for types without floats.
pub(crate) fn value(
    editor: &mut Editor<'_>,
    ty: u32,
    change: FloatChange,
    (value, result): (u32, u32),
) -> Option<Vec<u32>> {
    let module = editor.module();
    if let Some(of) = floats(module, ty) {
        return Some(change.code(editor, of, value, result));
    }
    let (mut code, mut parts, mut has_floats) = (Vec::new(), vec![ty, result], false);
    for (member, i) in members(module, ty)?.into_iter().zip(0..) {
        let [part, changed] = [editor.id(), editor.id()];
        code.extend(instruction(Op::CompositeExtract, &[member, part, value, i]));
        let inside = self::value(editor, member, change, (part, changed));
        has_floats |= inside.is_some();
        parts.push(if inside.is_some() { changed } else { part });
        code.extend(inside.unwrap_or_default());
    }
    code.extend(instruction(Op::CompositeConstruct, &parts));
    has_floats.then_some(code)
}

/// Returns a scalar or vector type of floats, and its masks.
fn floats(module: &Module, ty: u32) -> Option<(ScalarOrVector, Masks)> {
    let plain =
        ScalarOrVector::of(module, module.type_declared(ty)?).filter(|plain| plain.kind == ComponentKind::Float)?;
    Some((plain, Masks::of(plain.width)?))
}

/// Returns the member types of a matrix, an array or a structure, as words, because two types may
/// differ only in decorations.
fn members(module: &Module, ty: u32) -> Option<Vec<u32>> {
    let definition = module.definition_of(ty)?;
    let operands = definition.operands();
    let alike = |of: u32, count: usize| (count <= MEMBERS).then(|| vec![of; count]);
    match (definition.op?, operands) {
        (Op::TypeMatrix, [column, count]) => alike(*column, *count as usize),
        (Op::TypeArray, [element, length]) => alike(*element, usize::try_from(module.constant_int(*length)?).ok()?),
        (Op::TypeStruct, members) if members.len() <= MEMBERS => Some(members.to_vec()),
        _ => None,
    }
}

/// Changes the scalars of a composite constant. Constituents that are composites are separate
/// constants.
pub(crate) fn constant(editor: &mut Editor<'_>, i: &Instruction<'_>, change: FloatChange) -> Option<()> {
    let module = editor.module();
    let (mut words, mut code) = (i.words.to_vec(), Vec::new());
    for word in words.iter_mut().skip(3) {
        let Some(part) = module.definition_of(*word) else { continue };
        let is_specialized = module.decorations(*word).any(|d| d.decoration == Some(Decoration::SpecId));
        if is_specialized || !matches!(part.op, Some(Op::Constant | Op::SpecConstant)) {
            continue;
        }
        if let Some(changed) = changed_constant(module, &part, change).filter(|changed| changed != part.words) {
            *word = editor.id();
            let mut operands = changed[1..].to_vec();
            operands[1] = *word;
            code.extend(instruction(Op::Constant, &operands));
        }
    }
    if code.is_empty() {
        return None;
    }
    code.extend(words);
    editor.replace(i.at, code);
    Some(())
}

/// Replaces a copy of memory by a load, the change and a store, unless it has memory operands.
pub(crate) fn memory(editor: &mut Editor<'_>, i: &Instruction<'_>, change: FloatChange) -> Option<()> {
    let &[to, from] = i.operands() else { return None };
    let module = editor.module();
    let ty = module.pointee(module.definition_of(from)?)?;
    let [loaded, changed] = [editor.id(), editor.id()];
    let mut code = instruction(Op::Load, &[ty, loaded, from]);
    code.extend(value(editor, ty, change, (loaded, changed))?);
    code.extend(instruction(Op::Store, &[to, changed]));
    editor.replace(i.at, code);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::DriverFault;
    use assay_spirv_rules::inspect::{ModuleSource, Report};
    use assay_testkit::Shader;

    /// A shader that moves a structure with an array of matrices, copies memory, and stores a
    /// constant matrix of a denormal, a negative zero, an infinity and a NaN.
    const SHADER: Shader<'_> = Shader {
        version: "1.4",
        buffers: &[("%in", "%to_block"), ("%out", "%to_block")],
        decorations: "OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %inner 0 Offset 0
            OpMemberDecorate %inner 1 Offset 4
            OpMemberDecorate %inner 1 ColMajor
            OpMemberDecorate %inner 1 MatrixStride 8
            OpDecorate %array ArrayStride 16",
        declared: "%v2 = OpTypeVector %float 2
            %m2 = OpTypeMatrix %v2 2
            %array = OpTypeArray %m2 %two
            %inner = OpTypeStruct %uint %array
            %block = OpTypeStruct %inner
            %denormal = OpConstant %float 0x1p-149
            %minus = OpConstant %float -0x0p-149
            %infinity = OpConstant %float -0x800000p+105
            %nan = OpConstant %float 0x800001p+105
            %low = OpConstantComposite %v2 %denormal %minus
            %high = OpConstantComposite %v2 %infinity %nan
            %matrix = OpConstantComposite %m2 %low %high
            %to_block = OpTypePointer StorageBuffer %block
            %to_inner = OpTypePointer StorageBuffer %inner
            %to_m2 = OpTypePointer StorageBuffer %m2",
        body: "%1 = OpAccessChain %to_inner %in %zero
            %2 = OpLoad %inner %1
            %3 = OpAccessChain %to_inner %out %zero
            OpStore %3 %2
            OpCopyMemory %out %in
            %4 = OpAccessChain %to_m2 %in %zero %one %one
            %5 = OpLoad %m2 %4
            %6 = OpTranspose %m2 %5
            %7 = OpAccessChain %to_m2 %out %zero %one %zero
            OpStore %7 %6
            %8 = OpAccessChain %to_m2 %out %zero %one %one
            OpStore %8 %matrix",
        ..Shader::DEFAULT
    };

    #[test]
    fn faults_in_composites_are_legal_and_change_the_module() {
        let module = SHADER.module();
        for change in ["flush", "positive-zero", "plain-nan", "finite"] {
            for op in ["OpLoad", "OpStore", "OpCopyMemory", "OpTranspose", "OpConstantComposite"] {
                let fault: DriverFault = format!("{change}@{op}").parse().unwrap();
                let planted = fault.plant(&module);
                assert_ne!(planted, module.words(), "{fault}");
                let bytes: Vec<u8> = planted.iter().flat_map(|word| word.to_le_bytes()).collect();
                let report = Report::new(&ModuleSource::read(&bytes).unwrap());
                assert!(report.is_legal(), "{fault}: {:?}", report.violations);
            }
            // The shader has no such instruction.
            let nowhere: DriverFault = format!("{change}@OpCopyObject").parse().unwrap();
            assert_eq!(nowhere.plant(&module), module.words());
        }
    }
}
