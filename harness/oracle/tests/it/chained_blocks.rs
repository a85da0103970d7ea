//! Functions with very many successive blocks: time and stack must grow at most linearly with their
//! number.
//!
//! Nothing here is timed. A pass that walks all blocks for each block takes minutes for these
//! functions, and one that recurses along them overflows the stack of a test.

use crate::support::{self, Shader, exact, words};
use assay_spirv_rules::inspect::{ModuleSource, Report};

/// Number of blocks in each function.
const BLOCKS: u32 = 100_000;

/// Inspects and runs a function with this body, after a load of word 0 as `%x0`. Returns words 0
/// and 1.
fn run(body: &str) -> [u32; 2] {
    let declared = "%true = OpConstantTrue %bool";
    let body = format!(
        "%first = OpAccessChain %puint %data %zero %zero\n%second = OpAccessChain %puint %data %zero %one\n\
         %x0 = OpLoad %uint %first\n{body}"
    );
    let shader = Shader { buffers: &[("%data", "%ublocks")], declared, body: &body, ..Shader::default() };
    let module = shader.module();
    let bytes: Vec<u8> = module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let report = Report::new(&ModuleSource::read(&bytes).unwrap());
    assert!(report.is_legal(), "{:?}", report.violations);
    let outcome = support::run(&module, [1, 1, 1], vec![words(&[7, 0])]);
    exact(&outcome, 0).try_into().unwrap()
}

#[test]
fn blocks_that_branch_to_the_next_one() {
    let blocks: String = (1..=BLOCKS).map(|i| format!("OpBranch %b{i}\n%b{i} = OpLabel\n")).collect();
    assert_eq!(run(&(blocks + "OpStore %second %x0")), [7, 7]);
}

#[test]
fn selections_on_values_stored_before() {
    let selection = |i: u32| {
        format!(
            "%y{i} = OpLoad %uint %second\n%c{i} = OpULessThan %bool %y{i} %x0\nOpSelectionMerge %m{i} None\n\
             OpBranchConditional %c{i} %t{i} %m{i}\n%t{i} = OpLabel\n%z{i} = OpIAdd %uint %y{i} %one\n\
             OpStore %second %z{i}\nOpBranch %m{i}\n%m{i} = OpLabel\n"
        )
    };
    assert_eq!(run(&(0..BLOCKS / 2).map(selection).collect::<String>()), [7, 7]);
}

#[test]
fn long_chains_of_phis_are_interpreted() {
    let selection = |i: u32| {
        format!(
            "OpSelectionMerge %m{i} None\nOpBranchConditional %true %t{i} %e{i}\n%t{i} = OpLabel\n\
             %y{i} = OpIAdd %uint %x{i} %one\nOpBranch %m{i}\n%e{i} = OpLabel\nOpBranch %m{i}\n%m{i} = OpLabel\n\
             %x{} = OpPhi %uint %y{i} %t{i} %x{i} %e{i}\n",
            i + 1
        )
    };
    let count = BLOCKS / 3;
    let body = (0..count).map(selection).collect::<String>() + &format!("OpStore %second %x{count}");
    assert_eq!(run(&body), [7, 7 + count]);
}
