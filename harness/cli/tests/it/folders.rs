//! Commands on result folders: merge, diff, report, atlas and history. The tests write the folders
//! themselves and need no device.

use crate::support::{Output, assay};
use assay_events::{DeviceInfo, Event, RunInfo, RunPart, RunSettings, SCHEMA};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Writes a result folder with cases: name, status and margin.
fn folder(path: &Path, part: Option<&str>, cases: &[(String, &str, f64)]) -> PathBuf {
    fs::create_dir_all(path).unwrap();
    let device = DeviceInfo {
        name: "a device".to_owned(),
        api: "vulkan".to_owned(),
        kind: "cpu".to_owned(),
        vendor_id: 1,
        device_id: 2,
        uuid: "00".repeat(16),
        driver_name: "a driver".to_owned(),
        driver_info: "1.0".to_owned(),
        driver_version: 1,
        api_version: "1.3.0".to_owned(),
        conformance_version: "1.3.0.0".to_owned(),
        host_cpu: "a processor".to_owned(),
        ..DeviceInfo::default()
    };
    let run = RunInfo {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        specification: "Vulkan 1.4.360".to_owned(),
        device,
        budget: "quick".to_owned(),
        seed: 0,
        cases: cases.len(),
        command: ["assay", "run"]
            .map(str::to_owned)
            .into_iter()
            .chain(part.map(|of| format!("--partition={of}")))
            .collect(),
        settings: Some(Box::new(RunSettings { partition: part.map(str::to_owned), ..RunSettings::default() })),
        started: "2026-11-21T03:00:00Z".to_owned(),
        host: String::new(),
        selection: String::new(),
        part: part.map(|of| RunPart { of: vec![of.to_owned()], cases: 4, selection: "0".to_owned() }),
    };
    let mut lines = vec![serde_json::to_value(Event::RunStarted(Box::new(run))).unwrap()];
    lines.extend(cases.iter().map(|(name, status, margin)| result(name, status, *margin)));
    lines.push(serde_json::to_value(Event::RunFinished { interrupted: false, wall: 1.5 }).unwrap());
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    fs::write(path.join("results.jsonl"), text).unwrap();
    let rows = cases.iter().map(|(name, status, _)| format!("{name},{status},0.5\n")).collect::<String>();
    fs::write(path.join("results.csv"), rows).unwrap();
    path.to_owned()
}

fn result(name: &str, status: &str, margin: f64) -> Value {
    let example = json!({
        "operands": ["0x3f9d70a4"], "slot": 0, "got": "0x40161f99", "permitted": [["0x40161f70", "0x40161f7c"]],
        "margin": margin, "call": {"op": "Exp2", "format": "f32", "shape": "scalar"},
    });
    let fails = status == "Fail";
    let class = json!({"status": "Fail", "class": "FewUlp", "count": 12, "examples": [example.clone()]});
    let worst: Vec<Value> =
        (0..128).map(|i| if i % 7 == 0 { Value::Null } else { json!(margin * f64::from(i) / 127.0) }).collect();
    json!({
        "event": "case_finished", "name": name, "status": status,
        "reason": fails.then_some("12 of 2048 inputs have results that are not permitted"),
        "instruction": "Exp2", "types": "f32 <- f32", "modes": "default", "source": "buffer", "api": "vulkan",
        "path": "native", "rule": "3 + 2 * |x| ULP", "clause": "spirvenv-precision-operation", "inputs_tested": 2048,
        "inputs_possible": "4294967296", "coverage": "specials", "failing_inputs": if fails { 12 } else { 0 },
        "warning_inputs": 0, "scalars_checked": 2000, "scalars_unchecked": 48, "worst": example,
        "classes": if fails { vec![class] } else { vec![] },
        "profile": {"operand": "f32", "worst": worst, "errors": vec![9; 20]},
        "seed": 0, "times": {"wall": 0.5, "build": 0.1, "device": 0.1, "check": 0.1, "overlap": 0.0},
    })
}

fn cases(list: &[(&str, &'static str, f64)]) -> Vec<(String, &'static str, f64)> {
    list.iter().map(|&(name, status, margin)| (name.to_owned(), status, margin)).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn parts_are_merged_if_they_are_complete_and_do_not_overlap() {
    let dir = tempfile::tempdir().unwrap();
    let one = folder(
        &dir.path().join("one"),
        Some("slice:1/2"),
        &cases(&[("p.f32.a", "Pass", 0.5), ("p.f32.c", "Fail", 3.0)]),
    );
    let two = folder(
        &dir.path().join("two"),
        Some("slice:2/2"),
        &cases(&[("p.f32.b", "Pass", 0.5), ("p.f32.d", "Pass", 0.5)]),
    );
    let out = dir.path().join("out");
    let merge = |folders: &[&Path], more: &[&str]| {
        let folders: Vec<&str> = folders.iter().map(|path| text(path)).collect();
        assay(&[&["merge", "--out", text(&out)], folders.as_slice(), more].concat())
    };
    let refused = |output: Output, said: &str| {
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output:?}");
        assert!(output.stderr.contains(said), "{said}: {}", output.stderr);
        assert!(!out.exists(), "a refused merge leaves no folder");
    };
    refused(merge(&[&one, &one], &["--partial"]), "overlap: both have results of `p.f32.a` and 1 more");
    refused(merge(&[&one], &[]), "results are missing: part slice:2/2 is missing");
    refused(merge(&[&one, dir.path()], &[]), "no results.jsonl in");
    let output = merge(&[&two, &one], &[]);
    assert_eq!(output.code, 0, "{output:?}");
    let dates = "4 cases from 2 folders, begun from 2026-11-21T03:00:00Z to 2026-11-21T03:00:00Z\n";
    assert!(output.stdout.ends_with(dates), "{output:?}");
    assert_eq!(fs::read_to_string(out.join("failures.csv")).unwrap(), "p.f32.c,Fail\n");
    assert!(merge(&[&two, &one], &[]).stderr.contains("already holds results"));
    // The joined folder has a report but cannot be resumed.
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains("p.f32.c"));
    let before = fs::read_to_string(out.join("results.jsonl")).unwrap();
    let output = assay(&["run", "--resume", text(&out)]);
    assert!(output.code == 2 && output.stderr.contains("`assay merge` joined it from several runs"), "{output:?}");
    assert!(!output.stderr.contains("note:"), "{output:?}");
    assert_eq!(fs::read_to_string(out.join("results.jsonl")).unwrap(), before);
    // Other commands accept the joined folder.
    let diff = assay(&["diff", text(&out), text(&out)]);
    assert_eq!(diff.code, 0, "{diff:?}");
    assert!(diff.stdout.contains("NOT WORSE: 4 unchanged"), "{diff:?}");
}

#[test]
fn runs_are_compared_as_text_json_and_html() {
    let dir = tempfile::tempdir().unwrap();
    let old = folder(
        &dir.path().join("old"),
        None,
        &cases(&[("p.f32.a", "Pass", 0.5), ("p.f32.b", "Fail", 3.0), ("p.f32.c", "Pass", 0.5)]),
    );
    let new = folder(
        &dir.path().join("new"),
        None,
        &cases(&[("p.f32.a", "Fail", 2.0), ("p.f32.b", "Pass", 0.9), ("p.f32.c", "Pass", 0.8)]),
    );
    let page = dir.path().join("diff.html");
    let output = assay(&["diff", text(&old), text(&new), "--html", text(&page)]);
    assert_eq!(output.code, 1, "{output:?}");
    for said in [
        "1 new failure\n  p.f32.a  Pass 0.500 -> Fail (FewUlp) 2.00",
        "1 fixed case\n  p.f32.b",
        "1 changed margin\n  p.f32.c",
    ] {
        assert!(output.stdout.contains(said), "{said}: {}", output.stdout);
    }
    assert!(fs::read_to_string(&page).unwrap().contains("<strong>Worse</strong>"));
    let json: Value = serde_json::from_str(&assay(&["diff", text(&old), text(&new), "--json"]).stdout).unwrap();
    assert_eq!(json["changes"][0]["kind"], "new_failure");
    assert_eq!(assay(&["diff", text(&new), text(&new), "--json"]).code, 0);
    let wrong = assay(&["diff", text(&old), text(&new), "--margin", "0.5"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    // A folder of a newer version is refused.
    let file = new.join("results.jsonl");
    let later = fs::read_to_string(&file).unwrap().replacen(&format!("\"schema\":{SCHEMA}"), "\"schema\":7", 1);
    fs::write(&file, later).unwrap();
    let output = assay(&["diff", text(&old), text(&new)]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output:?}");
    assert!(output.stderr.contains("schema 7 is newer than this Assay supports"), "{output:?}");
}

#[test]
fn damaged_folders_are_refused_without_output() {
    let dir = tempfile::tempdir().unwrap();
    let good = folder(&dir.path().join("good"), None, &cases(&[("p.a", "Pass", 0.5)]));
    let newer = folder(&dir.path().join("newer"), None, &cases(&[("p.a", "Pass", 0.5)]));
    let damaged = folder(&dir.path().join("damaged"), None, &cases(&[("p.a", "Pass", 0.5)]));
    let change = |folder: &Path, from: &str, to: &str| {
        let path = folder.join("results.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    change(&newer, &format!("\"schema\":{SCHEMA}"), "\"schema\":99");
    change(&damaged, "\"name\":\"p.a\"", "\"nam\":\"p.a\"");
    let out = dir.path().join("out");
    let [good, newer, damaged, out] = [&good, &newer, &damaged, &out].map(|path| text(path).to_owned());
    for (bad, what) in [(&newer, "schema 99 is newer than this Assay supports"), (&damaged, "results.jsonl:2: ")] {
        for arguments in [
            &["merge", bad, &good, "--out", &out][..],
            &["diff", &good, bad, "--html", &out],
            &["report", bad, &good, "--out", &out],
            &["history", "add", &good, bad, "--db", &out],
            &["atlas", &good, bad, "--out", &out],
        ] {
            let output = assay(arguments);
            assert!(output.code == 2 && output.stderr.contains(what), "{arguments:?}: {output:?}");
            assert_eq!(output.stderr.matches("error:").count(), 1, "{output:?}");
            assert!(output.stdout.is_empty() && !Path::new(&out).exists(), "{arguments:?}: {output:?}");
            assert!(!Path::new(&format!("{out}.partial")).exists(), "{arguments:?}");
        }
    }
    // The system's error message is printed once.
    let output = assay(&["run", "precision.f32.fnegate", "--baseline", "/nowhere/list"]);
    assert!(output.code == 2 && output.stderr.matches("No such file").count() == 1, "{output:?}");
}

/// Schema 1 had command lines where there is data now.
#[test]
fn a_folder_of_schema_1_has_the_report_of_a_new_one() {
    const EXPLAIN: &str = "assay explain Exp2 --format f32 --shape scalar --in 0x3f9d70a4 --got 0x40161f99";
    let dir = tempfile::tempdir().unwrap();
    let list = cases(&[("p.f32.a", "Pass", 0.5), ("p.f32.b", "Fail", 3.0)]);
    let new = folder(&dir.path().join("new"), None, &list);
    let old = folder(&dir.path().join("old"), None, &list);
    let file = old.join("results.jsonl");
    let (mut lines, mut converted) = (String::new(), 0);
    for line in fs::read_to_string(&file).unwrap().lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "run_started" {
            event["schema"] = 1.into();
            event.as_object_mut().unwrap().remove("settings").unwrap();
            let command = event["command"].as_array_mut().unwrap();
            command.extend(["--timeout", "5"].map(Value::from));
        }
        for pointer in ["/worst", "/classes/0/examples/0"] {
            if let Some(example) = event.pointer_mut(pointer).and_then(Value::as_object_mut) {
                example.remove("call").unwrap();
                example.insert("explain".to_owned(), EXPLAIN.into());
                converted += 1;
            }
        }
        lines += &format!("{event}\n");
    }
    assert_eq!(converted, 3);
    fs::write(&file, lines).unwrap();
    // Its report derives the permitted set, and repeats cases with the options of the command line.
    let page = |folder: &Path| {
        let output = assay(&["report", text(folder)]);
        assert_eq!(output.code, 0, "{output:?}");
        fs::read_to_string(folder.join("report.html")).unwrap()
    };
    for (folder, options) in [(&old, "--budget quick --seed 0 --timeout 5\""), (&new, "--budget quick --seed 0\"")] {
        let page = page(folder);
        assert!(page.contains(EXPLAIN) && page.contains("derivation\":\"Exp2"), "{page}");
        assert!(page.contains(options), "{page}");
    }
    assert_eq!(assay(&["diff", text(&old), text(&new)]).code, 0);
}

#[test]
fn an_atlas_shows_precision_cases_and_refuses_folders_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let name = "precision.f32.exp2.scalar.default";
    let run = folder(&dir.path().join("run"), None, &cases(&[(name, "Fail", 3.0), ("suite.a", "Pass", 0.5)]));
    let site = dir.path().join("site");
    let output = assay(&["atlas", text(&run), "--out", text(&site)]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.ends_with("index.html: 1 instruction on 1 device, 1 result\n"), "{}", output.stdout);
    let page = fs::read_to_string(site.join("instructions/exp2.html")).unwrap();
    // The rule comes from the precision table, for types that it has.
    assert!(page.contains("3 + 2 * |x| ULP") && page.contains("exponential") && page.contains("a driver 1.0"));
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("atlas.csv"), "mine").unwrap();
    let refused = assay(&["atlas", text(&run), "--out", text(&other)]);
    assert!(refused.code == 2 && refused.stderr.contains("atlas.csv is in the way"), "{}", refused.stderr);
    let none = folder(&dir.path().join("none"), None, &cases(&[("suite.a", "Pass", 0.5)]));
    let refused = assay(&["atlas", text(&none), "--out", text(&dir.path().join("nothing"))]);
    assert!(refused.code == 3 && refused.stderr.contains("no result of a precision case"), "{}", refused.stderr);
    assert!(!dir.path().join("nothing").exists());
}

#[test]
fn a_history_follows_margins() {
    let dir = tempfile::tempdir().unwrap();
    let run = folder(&dir.path().join("run"), None, &cases(&[("p.f32.a", "Pass", 0.5)]));
    let db = dir.path().join("h.sqlite");
    let show = |more: &[&str]| assay(&[&["history", "show", "--db", text(&db)], more].concat());
    assert!(show(&[]).stderr.contains(" does not exist; create it with"));
    assert_eq!(assay(&["history", "add", text(&run), "--db", text(&db)]).code, 0);
    assert_eq!(assay(&["history", "add", text(&run), "--db", text(&db)]).code, 2, "twice");
    let picture = dir.path().join("h.svg");
    let output = show(&["p.f32", "--svg", text(&picture)]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("▄  p.f32.a") && output.stdout.contains("Pass 0.500  a driver 1.0"), "{output:?}");
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    assert_eq!(show(&["p.f64"]).code, 3);
    assert_eq!(show(&["--changed"]).stdout, "1 case: none changed\n");
    let json: Value = serde_json::from_str(&show(&["--json"]).stdout).unwrap();
    assert_eq!(json[0]["points"][0]["margin"], 0.5);
}

/// Returns Chromium, which renders the page as a user sees it; `None` with a message if it is
/// missing.
fn chromium() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    });
    if found.is_none() {
        assay_testkit::skip_missing("Chromium is missing");
    }
    found
}

/// Returns the document of a page after its scripts ran, and the browser's log.
fn rendered(browser: &str, page: &Path) -> (String, String) {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.args(["--virtual-time-budget=10000", "--dump-dom"]).arg(format!("file://{}", page.display()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the browser starts");
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut from, &mut text).expect("its output is read");
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(Box::new(child.stdout.take().expect("a pipe")));
    let err = read(Box::new(child.stderr.take().expect("a pipe")));
    let deadline = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().expect("the browser is ended");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    (out.join().unwrap(), err.join().unwrap())
}

#[test]
fn the_page_renders_and_filters_without_console_messages() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut list: Vec<(String, &str, f64)> =
        (0..3_000).map(|i| (format!("p.f32.op{i:04}.scalar.default"), "Pass", 0.5)).collect();
    list.push(("p.f16.</script><i>odd.scalar".to_owned(), "Fail", 3.5));
    list.push(("gather.d.plain.u32.0".to_owned(), "Fail", 2.0));
    let run = folder(&dir.path().join("run"), None, &list);
    let output = assay(&["report", text(&run)]);
    assert_eq!(output.code, 0, "{output:?}");
    let page = run.join("report.html");
    // A script filters and opens rows as a reader would; the document is captured after that.
    let mut html = fs::read_to_string(&page).unwrap();
    let script = "<script>{
        const input = document.getElementById('filter');
        const shown = () => document.getElementById('shown').textContent;
        const seen = [shown()];
        for (const text of ['op2999', 'p.f16*odd', 'nothing like it']) {
            input.value = text;
            input.dispatchEvent(new Event('input'));
            seen.push(shown());
        }
        input.value = '';
        input.dispatchEvent(new Event('input'));
        const rows = document.querySelectorAll('#space .row').length;
        document.querySelector('#head [data-column=margin] button').click();
        const first = document.querySelector('#space .row .mono').textContent;
        const view = document.getElementById('view');
        view.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
        view.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        const detail = document.getElementById('detail').textContent;
        dispatchEvent(new Event('beforeprint'));
        document.body.dataset.seen = JSON.stringify({ seen, rows, first, detail: detail.includes('derivation'),
            texels: document.querySelectorAll('#footprints:not([hidden]) .texel').length,
            plots: document.querySelectorAll('.plot svg').length });
    }</script></body>";
    html = html.replace("</body>", script);
    fs::write(&page, html).unwrap();
    let (document, console) = rendered(browser, &page);
    let said: Vec<&str> = console.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "{said:?}");
    let attribute = document.split_once("data-seen=\"").expect("the scripts ran").1.split_once('"').unwrap().0;
    let seen: Value = serde_json::from_str(
        &attribute.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"),
    )
    .unwrap();
    assert_eq!(seen["seen"], json!(["3,002 of 3,002", "1 of 3,002", "1 of 3,002", "0 of 3,002"]));
    assert!(seen["rows"].as_u64().unwrap() < 100, "only the rows in view are in the document: {seen}");
    assert_eq!(seen["first"], "p.f16.</script><i>odd.scalar");
    assert_eq!((&seen["detail"], &seen["plots"]), (&json!(true), &json!(1)), "{seen}");
    assert_eq!(seen["texels"], json!(4), "the four texels of the gather that fails");
}

/// The target of a symbolic link is replaced, not the link. A pipe is written to.
#[cfg(unix)]
#[test]
fn a_report_replaces_the_target_of_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let run = folder(&dir.path().join("run"), None, &[("p.a".to_owned(), "Pass", 0.5)]);
    let (page, link) = (dir.path().join("page.html"), dir.path().join("latest.html"));
    fs::write(&page, "yesterday").unwrap();
    std::os::unix::fs::symlink("page.html", &link).unwrap();
    let written = assay(&["report", text(&run), "--out", text(&link)]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&page).unwrap().contains("<html"));
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    let written = assay(&["report", text(&run), "--out", text(&pipe)]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert!(reader.join().unwrap().contains("<html"));
    assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());
}
