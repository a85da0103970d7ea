//! Paths in the documents refer to existing files.

use crate::root;
use std::fs;
use std::path::PathBuf;

/// Returns every `.md` file outside build output and findings, which quote paths of drivers.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if entry.is_dir() && !name.starts_with('.') && !name.starts_with("assay-out") && name != "target" {
                folders.push(entry);
            } else if name.ends_with(".md") && !folder.ends_with("reports/findings") {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

/// Returns the targets of links to files, relative to the document.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or(target)).collect()
}

/// Returns the paths in code spans that begin with a top-level directory, without patterns.
fn spans(text: &str) -> Vec<&str> {
    let top = ["harness/", "reports/", "cases/", "shaders/", "scripts/"];
    let spans = text.split('`').skip(1).step_by(2);
    let paths = spans.filter(|span| top.iter().any(|folder| span.starts_with(folder)));
    paths
        .filter(|span| !span.contains(['*', '{', ' ', '<']) && !span.contains("NAME") && !span.contains("GROUP"))
        .collect()
}

#[test]
fn documents_name_files_that_exist() {
    let mut missing = Vec::new();
    let mut named = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a text");
        let folder = document.parent().expect("a folder");
        let links = links(&text).into_iter().map(|target| (target, folder.join(target)));
        let spans = spans(&text).into_iter().map(|target| (target, root().join(target)));
        for (target, path) in links.chain(spans) {
            named += 1;
            if !path.exists() {
                missing.push(format!("{}: {target}", document.strip_prefix(root()).unwrap_or(&document).display()));
            }
        }
    }
    assert!(named > 100, "only {named} paths are found in the documents");
    assert!(missing.is_empty(), "documents name files that do not exist:\n{}", missing.join("\n"));
}
