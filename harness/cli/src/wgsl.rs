//! WGSL to SPIR-V, through naga.

use crate::exit::{Failure, usage};
use naga::{
    back::spv,
    valid::{Capabilities, ValidationFlags, Validator},
};

/// The words that naga makes of a shader, with the lines that they come from; `name` is what messages call it.
pub(crate) fn compile(text: &str, name: &str) -> Result<Vec<u32>, Failure> {
    let parsed = naga::front::wgsl::parse_str(text);
    let module = parsed.map_err(|error| refused(&error.emit_to_string_with_path(text, name), name))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| refused(&error.emit_to_string_with_path(text, name), name))?;
    let mut options = spv::Options {
        lang_version: (1, 3),
        debug_info: Some(spv::DebugInfo {
            source_code: text,
            file_name: name,
            language: naga::back::spv::SourceLanguage::WGSL,
        }),
        // The shader is to be seen as it is written.
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    options.flags |= spv::WriterFlags::DEBUG;
    spv::write_vec(&module, &info, &options, None).map_err(|error| usage(format!("{name}: {error}")))
}

/// naga's message without the heading that ours has already.
fn refused(message: &str, name: &str) -> Failure {
    usage(format!("{name}: {}", message.trim().trim_start_matches("error: ")))
}
