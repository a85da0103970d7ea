//! Shaders, drivers and tools for the tests of several crates.

mod drivers;
mod shader;
mod tools;

pub use drivers::on_software_drivers;
pub use shader::Shader;
pub use tools::{required_variable, spirv_val};

use assay_spirv::{Module, assemble};
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Prints that a test, or a part of one, is skipped.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn skip(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

/// Skips a test that needs something which `scripts/setup --tests` provides.
///
/// # Panics
///
/// Panics with `ASSAY_TEST_ALL_DRIVERS=1`, as `scripts/test` sets it.
pub fn skip_missing(missing: &str) {
    assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none_or(|value| value != "1"), "{missing}");
    skip(&format!("{missing} (scripts/setup --tests installs it)"));
}

/// Assembles a module.
pub fn spirv(text: &str) -> Module {
    Module::parse(assemble(text).unwrap_or_else(|e| panic!("{e}\n{text}"))).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Compiles WGSL with naga to a module with source lines. Loops are not bounded and workgroup
/// memory is not initialised.
pub fn wgsl(text: &str) -> Module {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).expect("valid WGSL");
    let mut options = spv::Options {
        lang_version: (1, 3),
        debug_info: Some(spv::DebugInfo {
            source_code: text,
            file_name: "test.wgsl",
            language: spv::SourceLanguage::WGSL,
        }),
        force_loop_bounding: false,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    options.flags |= spv::WriterFlags::DEBUG;
    Module::parse(spv::write_vec(&module, &info, &options, None).expect("SPIR-V")).expect("a module")
}
