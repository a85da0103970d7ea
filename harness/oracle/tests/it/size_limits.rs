//! Modules whose values, memory or calls exceed a limit are refused before they are laid out.

use crate::support::*;
use assay_oracle::{Program, ProgramError, SpecValues};

/// A shader with these declarations and this body.
fn program(declared: &str, functions: &str, body: &str) -> Result<Program, ProgramError> {
    let module = Shader { declared, functions, body, ..Shader::default() }.module();
    Program::new(&module, "main", &SpecValues::new())
}

/// A use of the variable: unused workgroup memory takes no space.
const USE: &str = "%q = OpCopyObject %p %v";

fn refused(result: Result<Program, ProgramError>) -> String {
    match result {
        Err(error @ ProgramError::TooLarge { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Nested structures, each of which has two members of the one before.
fn doubled(innermost: &str, class: &str) -> String {
    let mut text = format!("%s0 = OpTypeStruct {innermost}\n");
    text.extend((1..=64).map(|i| format!("%s{i} = OpTypeStruct %s{} %s{}\n", i - 1, i - 1)));
    text + &format!("%p = OpTypePointer {class} %s64\n")
}

/// A walk over all scalars takes time that doubles with each level.
#[test]
fn structures_that_double_are_refused_without_being_walked() {
    for innermost in ["%uint %uint", ""] {
        let global = |class: &str| doubled(innermost, class) + &format!("%v = OpVariable %p {class}");
        assert!(refused(program(&global("Private"), "", USE)).contains("scalars of a value"));
        let local = program(&doubled(innermost, "Function"), "", "%v = OpVariable %p Function");
        assert!(refused(local).contains("scalars of a value"));
    }
    let shared = doubled("%uint %uint", "Workgroup") + "%v = OpVariable %p Workgroup";
    assert!(refused(program(&shared, "", USE)).contains("bytes of workgroup memory"));
    let null = doubled("%uint %uint", "Private") + "%n = OpConstantNull %s64";
    assert!(refused(program(&null, "", "")).contains("scalars of a value"));
}

/// A list of the elements would exceed the memory of the host.
#[test]
fn arrays_are_refused_without_listing_their_elements() {
    let array = |class: &str| {
        format!("%n = OpConstant %uint 4294967295\n%a = OpTypeArray %uint %n\n%p = OpTypePointer {class} %a\n")
    };
    let local = refused(program(&array("Function"), "", "%v = OpVariable %p Function"));
    assert!(local.contains("scalars of a value: 4294967295, the limit is"), "{local}");
    for class in ["Private", "Workgroup"] {
        refused(program(&(array(class) + &format!("%v = OpVariable %p {class}")), "", USE));
    }
}

/// The depth of calls is limited whether callees are declared before or after their callers.
#[test]
fn chains_of_calls_are_limited_in_whatever_order_they_are_declared() {
    let function = |i: usize, calls: &str| {
        format!("%f{i} = OpFunction %void None %fn\n%l{i} = OpLabel\n{calls}OpReturn\nOpFunctionEnd\n")
    };
    let chain = |count: usize, callees_first: bool| {
        let call = |i: usize| format!("%r{i} = OpFunctionCall %void %f{}\n", i - 1);
        let mut functions: Vec<String> =
            (0..count).map(|i| function(i, &if i > 0 { call(i) } else { String::new() })).collect();
        if !callees_first {
            functions.reverse();
        }
        program("", &functions.concat(), &format!("%r = OpFunctionCall %void %f{}", count - 1))
    };
    for callees_first in [true, false] {
        chain(200, callees_first).unwrap();
        let error = chain(10_000, callees_first).unwrap_err().to_string();
        assert!(error.contains("too deep"), "{error}");
    }
}
