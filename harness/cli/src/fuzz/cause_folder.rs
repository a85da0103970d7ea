//! Folders of the causes of a campaign: program, bundle, reduction, case and draft of a finding.

use super::{Campaign, subject};
use crate::{
    exit::{self, Failure, WithCode, usage},
    note, output_file,
};
use anyhow::Context;
use assay_check::{BUNDLE_FOLDER, bundle, write_case};
use assay_events::{CheckResult, group_digits};
use assay_files::input;
use assay_fuzz::FailureSignature;
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Subfolder with a folder for each group of failures.
const CAUSES: &str = "causes";

/// Largest number of groups that are reduced.
const REDUCED: usize = 40;

/// Reads the groups that have a finding, and their notes.
pub(super) fn read_known(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct KnownFile {
        known: BTreeMap<String, String>,
    }
    let text = input::read_text(path, input::MAX_DESCRIPTION_BYTES)
        .with_context(|| format!("cannot read {}", path.display()))
        .code(exit::USAGE)?;
    let file: KnownFile = toml::from_str(&text).map_err(|error| {
        usage(format!("{}: {}; expected [known] with lines \"GROUP\" = \"NOTE\"", path.display(), error.message()))
    })?;
    Ok(file.known)
}

/// Writes the folder of each group that is not known. Returns lines that say where they are.
pub(super) fn write_all(
    folder: &Path,
    campaign: &Campaign,
    known: &BTreeMap<String, String>,
) -> Result<String, Failure> {
    let mut text = String::new();
    let new = campaign.groups.iter().filter(|(signature, _)| !known.contains_key(&signature.to_string()));
    for (number, (signature, checks)) in new.enumerate() {
        if number == REDUCED {
            note(&format!("only the first {REDUCED} groups of failures are reduced"));
            break;
        }
        // Without a wrong instruction the subject is a sentence.
        let name = match signature.status.as_str() {
            "Fail" => signature.subject.split(' ').next().unwrap_or_default(),
            status => status,
        };
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let own = folder.join(CAUSES).join(format!("{:02}-{}", number + 1, plain.to_lowercase()));
        let outcome = write_one(&own, campaign, signature, checks)?;
        _ = writeln!(text, "{signature}: {outcome}");
    }
    Ok(text)
}

fn write_one(
    folder: &Path,
    campaign: &Campaign,
    signature: &FailureSignature,
    checks: &[CheckResult],
) -> Result<String, Failure> {
    let first = &checks[0];
    let (shader, options) = subject(&first.name)?;
    let why = format!("Random program {}: {signature}.", first.name);
    let case = write_case(&folder.join("program"), &shader, &options, &why)?;
    let Some(case) = case else { return Ok(format!("{} is not expressible as a case", first.name)) };
    let device = &campaign.results.run.device;
    let selector = campaign.results.run.known_settings().device.unwrap_or_else(|| device.name.clone());
    let mut check = Command::new(std::env::current_exe().code(exit::INTERNAL)?);
    check.arg("check").arg(&case).args(["--reduce", "--device", &selector, "--out"]).arg(folder);
    let ended = check.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let ended = ended.context("cannot start `assay check`").code(exit::INTERNAL)?;
    if ended.code() == Some(exit::OK.into()) {
        return Ok(format!("{} passes when it is checked again: see {}", first.name, folder.display()));
    }
    let reduced = ["reduced", BUNDLE_FOLDER].iter().find_map(|name| bundle::read(&folder.join(name), None).ok());
    let mut result = first.clone();
    if let Some(bundle) = reduced {
        write_case(&folder.join("case"), &bundle.shader, &bundle.options, &why)?;
        result = bundle.result;
    }
    output_file::write(&folder.join("finding.md"), draft(campaign, signature, checks, &result, &selector))?;
    Ok(format!("bundle, case and draft in {}", folder.display()))
}

/// Returns the draft of a finding in the form of `reports/findings`.
fn draft(
    campaign: &Campaign,
    signature: &FailureSignature,
    checks: &[CheckResult],
    reduced: &CheckResult,
    selector: &str,
) -> String {
    let device = &campaign.results.run.device;
    let first = &checks[0];
    let mut worst = "not traced".to_owned();
    let (mut expected, mut got) = (String::new(), String::new());
    let ranges = |permitted: &[[String; 2]]| {
        let texts: Vec<String> = permitted.iter().map(|[lo, hi]| format!("`{lo}` to `{hi}`")).collect();
        texts.join(" or ")
    };
    if let Some(blame) = reduced.blamed.first() {
        let example = &blame.example;
        let operands: Vec<String> = example.operands.iter().map(|operand| operand.join(" ")).collect();
        worst = format!("`{}`, component {} of the result", operands.join(", "), example.component);
        (expected, got) = (ranges(&example.permitted), format!("`{}`", example.got));
    } else if let Some(mismatch) = reduced.mismatches.first() {
        (expected, got) = (ranges(&mismatch.permitted), format!("`{}`", mismatch.got));
    }
    let classes: Vec<String> = reduced.classes.iter().map(|class| format!("{} {}", class.count, class.class)).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "# {signature}\n\n**Draft of `assay fuzz`. Nothing below has been verified, and nobody is accused.**\n\n\
         | | |\n|---|---|\n\
         | Driver | {} {}, {} |\n\
         | Instruction | {} |\n\
         | Mode | as the module declares |\n\
         | Inputs | {} failing of {} elements of the reduced program; {} of the campaign {} in this way |\n\
         | Worst | {worst} |\n\
         | Expected | {expected} |\n\
         | Got | {got} |\n\
         | Classes | {} |\n\
         | Rule | to be filled in |\n\
         | Found with | version {version}, random program {} |\n\n\
         ## Reproduce\n\n```sh\nassay check case/case.toml --device '{selector}'\nassay run {} --device '{selector}'\n```\n\n\
         ## Verification\n\nNot done. Before this is written up:\n\n\
         1. Suspect the generator: is the program legal (`spirv-val`) and free of undefined behaviour?\n\
         2. Suspect the interpreter: derive the expected value by hand from the text of the clause.\n\
         3. Run it with `--validation`, and on another driver.\n\
         4. Compute the exact value by means that are independent of Assay.\n\n\
         ## Cause\n\nNot traced.\n\n## Reported\n\nNot yet.\n",
        device.driver_name,
        device.driver_info,
        device.name,
        signature.subject,
        group_digits(reduced.elements_failing),
        group_digits(reduced.elements_checked),
        assay_reports::counted(checks.len() as u64, "program"),
        assay_reports::plural(checks.len(), "fails", "fail"),
        classes.join(", "),
        first.name,
        first.name,
    )
}
