//! Tests of the atlas on synthetic results.

use super::Atlas;
use crate::{
    ResultDir,
    test_contrast::{colour, contrast, schemes},
    test_events::{case, folder_of, run},
};
use assay_events::{
    CaseResult, Doubt, DoubtExample, PermittedText, PrecisionTable, Profile, RunInfo, Status, TABLE_SCHEMA, TableRow,
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

const EXP2: &str = "precision.f32.exp2.scalar.default";

/// Returns a table with rows for `OpFAdd`, `Exp2` and `Log`.
fn table() -> PrecisionTable {
    let row = |instruction: &str, family: &str| TableRow {
        instruction: instruction.to_owned(),
        family: family.to_owned(),
        operands: vec!["f32".to_owned()],
        results: vec!["f32".to_owned()],
        rule: format!("rule of {instruction}"),
        clause: "a-clause".to_owned(),
        lists: vec!["DenormPreserve".to_owned()],
        wgsl: None,
    };
    let text = |end: &str| PermittedText { ranges: vec![[end.to_owned(), end.to_owned()]], nan: false, any: false };
    let doubt = Doubt {
        doubt: "a text of two readings".to_owned(),
        specification: "Vulkan".to_owned(),
        clause: "a-clause".to_owned(),
        instructions: vec!["Exp2".to_owned()],
        example: DoubtExample {
            case: EXP2.to_owned(),
            operands: vec!["0x00000001".to_owned()],
            slot: 0,
            strict: text("0x1"),
            lenient: text("0x2"),
            explain: "assay explain Exp2 --in 0x00000001".to_owned(),
        },
    };
    PrecisionTable {
        schema: TABLE_SCHEMA,
        vulkan: String::new(),
        wgsl: String::new(),
        rows: vec![row("OpFAdd", "arithmetic"), row("Exp2", "exponential"), row("Log", "exponential")],
        doubts: vec![doubt],
    }
}

/// Returns a case of `Exp2` with a profile of this many parts, one of which exceeds the bound if the
/// case fails.
pub(super) fn plotted(name: &str, status: Status, parts: usize) -> CaseResult {
    let mut worst = vec![Some(0.5); parts];
    if status == Status::Fail {
        // The part of 0.0625, above the middle.
        worst[parts / 2 + parts * 123 / 512] = Some(3.21);
    }
    let mut errors = vec![0; 20];
    (errors[0], errors[10]) = (70, 30);
    CaseResult { profile: Some(Profile { operand: "f32".to_owned(), worst, errors }), ..case(name, status) }
}

/// Returns a case of this instruction.
pub(super) fn case_of(instruction: &str, name: &str, modes: &str, status: Status) -> CaseResult {
    CaseResult { instruction: instruction.to_owned(), modes: modes.to_owned(), ..case(name, status) }
}

/// Writes the atlas of runs that are given by their folders.
pub(super) fn write(folders: &[PathBuf], site: &Path) -> Result<(), super::AtlasError> {
    let runs: Vec<ResultDir> = folders.iter().map(|path| ResultDir::open(path).unwrap()).collect();
    Atlas::read(&runs, &table().rows).and_then(|atlas| atlas.write(site, &table()))
}

/// Writes the atlas of some cases of two devices, and returns its folder.
pub(crate) fn site(dir: &Path) -> PathBuf {
    let cases = [
        plotted(EXP2, Status::Fail, 512),
        CaseResult { types: "f16 <- f16".to_owned(), ..case("precision.f16.exp2.scalar.default", Status::Pass) },
        case_of("OpFAdd", "precision.f32.fadd.scalar.rounding_mode_rte", "RoundingModeRTE", Status::QualityWarning),
        case_of("OpFAdd", "precision.f32.fadd.scalar.default", "default", Status::Pass),
        case_of("Log", "precision.f32.log.scalar.default", "default", Status::NotSupported),
        case_of("OpUConvert", "environment.integer.uconvert.u32.scalar", "default", Status::Fail),
        CaseResult { partial: true, ..case("precision.f32.exp2.vec2.default", Status::Pass) },
    ];
    let mut other = run(1);
    other.device.driver_info = "Mesa 25".to_owned();
    let folders = [
        folder_of(&dir.join("first"), run(cases.len()), &cases, false),
        folder_of(&dir.join("second"), other, &[plotted(EXP2, Status::Pass, 128)], false),
    ];
    let site = dir.join("site");
    write(&folders, &site).unwrap();
    site
}

fn json(site: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(site.join("atlas.json")).unwrap()).unwrap()
}

fn page(site: &Path, name: &str) -> String {
    fs::read_to_string(site.join(name)).unwrap()
}

#[test]
fn a_site_has_the_precision_cases_of_every_device() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let atlas = json(&site);
    let names: Vec<&str> =
        atlas["instructions"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["OpFAdd", "Exp2", "Log"], "in the order of the table, without cases of suites");
    let results = atlas["results"].as_array().unwrap();
    assert_eq!(results.len(), 6, "a case that was cut short has no result");
    assert_eq!((&results[2]["format"], &results[2]["device"]), (&"f16".into(), &0.into()));
    assert_eq!(atlas["devices"][1]["driver_info"], "Mesa 25", "a driver version is a device");
    assert!(results.iter().all(|of| of["command"].as_str().unwrap().starts_with("assay run precision.")));
    let csv = page(&site, "atlas.csv");
    assert_eq!(csv.lines().count(), 1 + results.len());
    assert!(
        csv.starts_with("instruction,format,types,") && csv.contains("\nOpFAdd,f32,f32 <- f32,scalar,default,buffer,")
    );
    let table: PrecisionTable = serde_json::from_str(&page(&site, "table.json")).unwrap();
    assert_eq!(table.rows.len(), 3);
}

#[test]
fn a_page_tells_what_is_wrong_where_and_how_to_reproduce_it() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let exp2 = page(&site, "instructions/exp2.html");
    for text in [
        "rule of Exp2",
        "a text of two readings",
        "Exp2: moderate operands, FewUlp",
        "<code>0.0625 .. 0.12499999</code>, margin up to 3.21",
        "12 of the inputs (0.02 %) fail: 65,536 of 2^32 inputs",
        "0x40161f99 = ",
        "assay explain Exp2 --format f32 --shape scalar --in 0x3f9d70a4 --got 0x40161f99",
        "assay run precision.f32.exp2.scalar.default --device",
        "testpipe Mesa 25",
    ] {
        assert!(exp2.contains(text), "{text}: {exp2}");
    }
    // Folders of earlier versions have profiles of 128 parts.
    assert_eq!(exp2.matches("Greatest error divided by its bound").count(), 2);
    let index = page(&site, "index.html");
    assert!(index.contains("<a href=\"instructions/exp2.html\">Exp2</a> (f32)"), "{index}");
    assert!(index.contains("Exp2: moderate operands, FewUlp"));
    let warned = page(&site, "instructions/opfadd.html");
    assert!(warned.contains("Permitted only by a lenient reading") && warned.contains("fadd.scalar.rounding_mode_rte"));
}

#[test]
fn pages_link_to_the_site_only() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    for name in ["index.html", "instructions/exp2.html", "instructions/log.html"] {
        let (text, folder) = (page(&site, name), site.join(name).parent().unwrap().to_owned());
        for part in text.split("href=\"").skip(1).chain(text.split("src=\"").skip(1)) {
            let to = part.split('"').next().unwrap();
            let inside = to.starts_with('#') || to == "data:," || folder.join(to).is_file();
            assert!(inside, "{name}: {to}");
        }
    }
}

#[test]
fn the_result_with_the_most_inputs_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let all = CaseResult { inputs_tested: 1 << 32, coverage: "every input".to_owned(), ..case(EXP2, Status::Fail) };
    let board = |uuid: &str, budget: &str| {
        let mut run = RunInfo { budget: budget.to_owned(), ..run(1) };
        run.device.uuid = uuid.to_owned();
        run
    };
    let folders = [
        folder_of(&dir.path().join("quick"), board("aa", "quick"), &[case(EXP2, Status::Pass)], false),
        folder_of(&dir.path().join("exhaustive"), board("bb", "exhaustive"), &[all], false),
    ];
    let site = dir.path().join("site");
    write(&folders, &site).unwrap();
    let atlas = json(&site);
    assert_eq!(atlas["devices"].as_array().unwrap().len(), 1, "two boards of one model are one device");
    let result = &atlas["results"][0];
    assert_eq!((&result["status"], &result["run"]), (&"Fail".into(), &1.into()));
    assert_eq!(result["others"][0], serde_json::json!({ "run": 0, "status": "Pass", "inputs_tested": 65_536 }));
    assert_eq!((&atlas["runs"][0]["shown"], &atlas["runs"][1]["shown"]), (&0.into(), &1.into()));
    let exp2 = page(&site, "instructions/exp2.html");
    assert!(exp2.contains("fail: all 4,294,967,296 inputs") && exp2.contains("also run in <code>"), "{exp2}");
    // Of equal ones, the latest.
    let late = RunInfo { started: "2027-01-01T00:00:00Z".to_owned(), ..run(1) };
    let again =
        [folder_of(&dir.path().join("late"), late, &[case(EXP2, Status::QualityWarning)], false), folders[0].clone()];
    write(&again, &site).unwrap();
    assert_eq!(json(&site)["results"][0]["status"], "QualityWarning");
}

#[test]
fn two_results_of_a_case_in_one_folder_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [case(EXP2, Status::Pass), case(EXP2, Status::Fail)];
    let folder = folder_of(&dir.path().join("run"), run(2), &cases, false);
    let error = write(&[folder], &dir.path().join("site")).unwrap_err().to_string();
    assert!(error.contains("two results of `precision.f32.exp2.scalar.default`"), "{error}");
    assert!(!dir.path().join("site").exists());
}

#[test]
fn files_of_others_are_kept_and_stale_pages_removed() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(dir.path());
    let notes = site.join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    let log = case_of("Log", "precision.f32.log.scalar.default", "default", Status::Pass);
    let folder = folder_of(&dir.path().join("log"), run(1), &[log], false);
    write(std::slice::from_ref(&folder), &site).unwrap();
    assert!(!site.join("instructions/exp2.html").exists() && site.join("instructions/log.html").exists());
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
    // A site of someone else.
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("index.html"), "theirs").unwrap();
    let error = write(&[folder], &theirs).unwrap_err().to_string();
    assert!(error.contains("cannot write the atlas to") && error.contains("index.html is in the way"), "{error}");
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1, "nothing else is written");
    assert_eq!(page(&theirs, "index.html"), "theirs");
}

#[test]
fn hostile_names_are_inert() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "</script><img src=x onerror=alert(1)>";
    let cases = [
        case_of(hostile, &format!("p.f32.{hostile}.scalar.default"), "<b>", Status::Fail),
        case_of("", "p.f32..scalar.default", "default", Status::Pass),
        case_of("../../x", "p.f32.x.scalar.default", "default", Status::Pass),
    ];
    let mut hostile_run = run(3);
    hostile_run.device.name = hostile.to_owned();
    let folder = folder_of(&dir.path().join("run"), hostile_run, &cases, false);
    let site = dir.path().join("site");
    write(&[folder], &site).unwrap();
    let pages: Vec<PathBuf> =
        fs::read_dir(site.join("instructions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(pages.len(), 2, "{pages:?}");
    for page in pages.iter().chain([&site.join("index.html")]) {
        let text = fs::read_to_string(page).unwrap();
        assert!(!text.contains("<img") && !text.contains("<b>") && text.contains("&lt;img"), "{}", page.display());
    }
}

#[test]
fn margins_are_readable_in_both_schemes() {
    for scheme in schemes(super::ATLAS_STYLE) {
        for step in ["m0", "m1", "m2", "m3", "m4"] {
            let contrast = contrast(colour(scheme, step), colour(scheme, "ink"));
            assert!(contrast >= 4.5, "{step}: {contrast:.2}");
        }
    }
}
