//! Pointers as values: null, comparisons, differences, and pointers to matrices.

use crate::support::*;
use assay_oracle::{CauseKind, Expected, FaultKind, Outcome};

/// Four invocations with their number `%i` and a pointer `%own` to their word of `%data`. `%twin`
/// is another variable of its binding, `%other` one of another binding, and `%pair` two arrays of
/// two words.
fn of(body: &str) -> Outcome {
    let body = format!("%i = OpLoad %uint %index\n%own = OpAccessChain %puint %data %zero %i\n{body}");
    let module = Shader {
        head: "OpCapability VariablePointers",
        interface: "%twin %push",
        local_size: 4,
        inputs: &[("%index", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks"), ("%other", "%ublocks"), ("%pair", "%pairblocks")],
        decorations: "OpDecorate %puint ArrayStride 4
            OpDecorate %pairs ArrayStride 4
            OpDecorate %pairblock Block
            OpMemberDecorate %pairblock 0 Offset 0
            OpMemberDecorate %pairblock 1 Offset 10
            OpDecorate %pushed Block
            OpMemberDecorate %pushed 0 Offset 0
            OpDecorate %twin DescriptorSet 0
            OpDecorate %twin Binding 0
            OpDecorate %twin Aliased
            OpDecorate %data Aliased",
        declared: "%pairs = OpTypeArray %uint %two
            %pairblock = OpTypeStruct %pairs %pairs
            %pairblocks = OpTypePointer StorageBuffer %pairblock
            %pushed = OpTypeStruct %uint
            %ppushed = OpTypePointer PushConstant %pushed
            %null = OpConstantNull %puint
            %twin = OpVariable %ublocks StorageBuffer
            %push = OpVariable %ppushed PushConstant",
        body: &body,
        ..Shader::default()
    }
    .module();
    run(&module, [1; 3], vec![words(&[5; 4]), words(&[6; 4]), words(&[7; 5])])
}

fn fault_of(body: &str) -> (FaultKind, [u32; 3], String) {
    let outcome = of(body);
    let [fault] = &outcome.faults[..] else { panic!("one fault, not {:?}, of {body}", outcome.faults) };
    (fault.kind, fault.invocation, fault.detail.clone())
}

#[test]
fn nothing_is_behind_null() {
    let third = "%chosen = OpIEqual %bool %i %two\n%at = OpSelect %puint %chosen %null %own\n";
    let null = (FaultKind::OutOfBounds, [2, 0, 0], "a null pointer".to_owned());
    assert_eq!(fault_of(&format!("{third}%x = OpLoad %uint %at")), null);
    assert_eq!(fault_of(&format!("{third}OpStore %at %i")), null);
    // It equals itself only.
    let compared = "%same = OpPtrEqual %bool %at %null\n%x = OpSelect %uint %same %one %zero\nOpStore %own %x";
    assert_eq!(exact(&of(&format!("{third}{compared}")), 0), [0, 0, 1, 0]);
    // A chain that begins at null gives any pointer, and refers to no memory either.
    let chain = format!("{third}%after = OpPtrAccessChain %puint %at %one\n");
    let outcome = of(&format!("{chain}{}", compared.replace("%at", "%after")));
    assert_eq!((word(&outcome, 0, 1), cause(&outcome, 0, 2)), (Expected::Exact(0), CauseKind::Unspecified));
    assert_eq!(fault_of(&format!("{chain}%x = OpLoad %uint %after")).2, "a null pointer");
}

/// Vulkan environment for SPIR-V, "Buffer Indexing Calculations": indices are signed, whatever type they have.
#[test]
fn indices_of_chains_are_signed() {
    let back = "%back = OpISub %uint %zero %i\n%first = OpPtrAccessChain %puint %own %back\n";
    let apart = format!("{back}%x = OpPtrDiff %uint %own %first\nOpStore %own %x");
    assert_eq!(exact(&of(&apart), 0), [0, 1, 2, 3]);
    let loaded = format!("{back}%there = OpPtrAccessChain %puint %first %i\nOpStore %there %i\n%x = OpLoad %uint %own");
    let outcome = of(&loaded);
    assert_eq!((outcome.faults.len(), exact(&outcome, 0)), (0, vec![0, 1, 2, 3]));
}

#[test]
fn two_variables_of_a_binding_point_at_the_same() {
    let to = |variable: &str| {
        let at = format!("%there = OpAccessChain %puint {variable} %zero %one\n");
        at + "%same = OpPtrEqual %bool %own %there\n%x = OpSelect %uint %same %one %zero\nOpStore %own %x"
    };
    assert_eq!(exact(&of(&to("%twin")), 0), [0, 1, 0, 0]);
    assert_eq!(exact(&of(&to("%other")), 0), [0; 4]);
    let apart = "%there = OpAccessChain %puint %twin %zero %zero\n%x = OpPtrDiff %uint %own %there\nOpStore %own %x";
    assert_eq!(exact(&of(apart), 0), [0, 1, 2, 3]);
}

#[test]
fn pointers_into_different_arrays_have_no_difference() {
    let from = |there: &str| format!("%there = OpAccessChain %puint {there}\n%x = OpPtrDiff %int %own %there");
    let (kind, invocation, detail) = fault_of(&from("%other %zero %zero"));
    assert_eq!((kind, invocation), (FaultKind::Pointer, [0; 3]));
    assert!(detail.contains("OpPtrDiff"), "{detail}");
    // Not a whole number of elements apart.
    let first = "%first = OpAccessChain %puint %pair %zero %zero\n%there = OpAccessChain %puint %pair %one %zero\n";
    assert_eq!(fault_of(&format!("{first}%x = OpPtrDiff %int %there %first")).0, FaultKind::Pointer);
    // Beyond the array.
    let beyond = format!("{first}%end = OpAccessChain %puint %pair %zero %two\n%x = OpPtrDiff %int %end %first");
    assert_eq!(fault_of(&beyond).2, "index 2 of an array of 2");
    let end = format!("{first}%end = OpPtrAccessChain %puint %first %two\n%x = OpPtrDiff %uint %end %first\n");
    assert_eq!(exact(&of(&format!("{end}OpStore %own %x")), 0), [2; 4]);
}

/// The value `%v` that `body` computes from a matrix of two columns and three rows, stored row by
/// row with 16 bytes each.
fn of_matrix(functions: &str, body: &str) -> Result<f32, String> {
    let body = format!(
        "%to = OpAccessChain %pfloat %data %zero %zero
        %old = OpLoad %float %to
        %fzero = OpBitcast %float %zero
        %chosen = OpFOrdEqual %bool %old %fzero
        %in_row = OpAccessChain %pmatrix %row %zero
        %in_column = OpAccessChain %pmatrix %column %zero
        {body}
        OpStore %to %v"
    );
    let module = Shader {
        head: "OpCapability VariablePointers",
        buffers: &[("%data", "%fblocks"), ("%row", "%prows"), ("%column", "%pcolumns")],
        decorations: "OpDecorate %rows Block
            OpMemberDecorate %rows 0 Offset 0
            OpMemberDecorate %rows 0 RowMajor
            OpMemberDecorate %rows 0 MatrixStride 16
            OpDecorate %columns Block
            OpMemberDecorate %columns 0 Offset 0
            OpMemberDecorate %columns 0 ColMajor
            OpMemberDecorate %columns 0 MatrixStride 16",
        declared: "%vector = OpTypeVector %float 3
            %matrix = OpTypeMatrix %vector 2
            %rows = OpTypeStruct %matrix
            %columns = OpTypeStruct %matrix
            %prows = OpTypePointer StorageBuffer %rows
            %pcolumns = OpTypePointer StorageBuffer %columns
            %pmatrix = OpTypePointer StorageBuffer %matrix
            %read = OpTypeFunction %float %pmatrix",
        functions,
        body: &body,
        ..Shader::default()
    }
    .module();
    let program = assay_oracle::Program::new(&module, "main", &Default::default()).map_err(|e| e.to_string())?;
    let numbers: Vec<f32> = (0..12u8).map(f32::from).collect();
    let outcome = run_program(&program, [1; 3], vec![floats(&[1.0]), floats(&numbers), floats(&numbers)]);
    Ok(f32::from_bits(exact(&outcome, 0)[0]))
}

/// Also through a function and a selection. (Only physical pointers to matrices may come from a
/// selection, but that does not matter here.) If two structures differ, the module is refused by
/// name.
#[test]
fn a_matrix_lies_as_the_structure_says_that_it_is_in() {
    let load = "%at = OpAccessChain %pfloat %it %one %two\n%v = OpLoad %float %at";
    let copied = |from: &str| format!("%it = OpCopyObject %pmatrix {from}\n{load}");
    assert_eq!(of_matrix("", &copied("%in_row")), Ok(9.0));
    assert_eq!(of_matrix("", &copied("%in_column")), Ok(6.0));
    let select = |other: &str| format!("%it = OpSelect %pmatrix %chosen {other} %in_row\n{load}");
    assert_eq!(of_matrix("", &select("%in_row")), Ok(9.0));
    assert!(of_matrix("", &select("%in_column")).is_err_and(|error| error.contains("a pointer to a matrix")));
    let function = format!(
        "%reads = OpFunction %float None %read\n%it = OpFunctionParameter %pmatrix\n%first = OpLabel\n{load}\n\
         OpReturnValue %v\nOpFunctionEnd"
    )
    .replace("%v", "%given");
    assert_eq!(of_matrix(&function, "%v = OpFunctionCall %float %reads %in_column"), Ok(6.0));
    assert_eq!(of_matrix(&function, "%v = OpFunctionCall %float %reads %in_row"), Ok(9.0));
    let both = "%w = OpFunctionCall %float %reads %in_row\n%v = OpFunctionCall %float %reads %in_column";
    assert!(of_matrix(&function, both).is_err_and(|error| error.contains("a pointer to a matrix")));
}

/// Workgroup blocks are laid out as decorated, whatever part of them a function gets.
#[test]
fn a_part_of_a_workgroup_block_lies_as_decorated() {
    let module = Shader {
        head: "OpCapability WorkgroupMemoryExplicitLayoutKHR
            OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"",
        buffers: &[("%data", "%ublocks")],
        decorations: "OpMemberDecorate %part 0 Offset 0
            OpMemberDecorate %part 1 Offset 16
            OpDecorate %whole Block
            OpMemberDecorate %whole 0 Offset 0",
        declared: "%n7 = OpConstant %uint 7
            %part = OpTypeStruct %uint %uint
            %whole = OpTypeStruct %part
            %pwhole = OpTypePointer Workgroup %whole
            %ppart = OpTypePointer Workgroup %part
            %pshared = OpTypePointer Workgroup %uint
            %writes = OpTypeFunction %void %ppart
            %shared = OpVariable %pwhole Workgroup",
        functions: "%write = OpFunction %void None %writes
            %it = OpFunctionParameter %ppart
            %first = OpLabel
            %second = OpAccessChain %pshared %it %one
            OpStore %second %n7
            OpReturn
            OpFunctionEnd",
        body: "%of = OpAccessChain %ppart %shared %zero
            %called = OpFunctionCall %void %write %of
            %there = OpAccessChain %pshared %shared %zero %one
            %x = OpLoad %uint %there
            %to = OpAccessChain %puint %data %zero %zero
            OpStore %to %x",
        ..Shader::default()
    }
    .module();
    assert_eq!(exact(&run(&module, [1; 3], vec![words(&[0])]), 0), [7]);
}
