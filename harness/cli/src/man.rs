//! Manual pages, generated from the definitions of the arguments.

use crate::{
    exit::{self, Failure, WithCode},
    output_file,
};
use std::path::Path;

/// Writes a page for the program and one for each command that help lists, under names such as
/// `assay-check.1`.
pub(crate) fn write_pages(program: clap::Command, folder: &Path) -> Result<u8, Failure> {
    let mut program = program.disable_help_subcommand(true);
    // Usage lines and names of the pages contain the names of the parents.
    program.build();
    write_page(program, folder)?;
    Ok(exit::OK)
}

fn write_page(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        write_page(child.clone(), folder)?;
    }
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text).code(exit::INTERNAL)?;
    output_file::write(&folder.join(page.get_filename()), text)
}
