//! Errors in the arguments: messages and exit codes.

use crate::support::{assay, assay_with};
use std::process::Command;

#[test]
fn help_and_version_are_not_errors() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["explain", "--help"], &["help", "list"]] {
        let output = assay(arguments);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
    assert!(assay(&["--help"]).stdout.contains("Exit codes:"));
}

#[test]
fn help_fits_a_terminal_of_eighty_columns() {
    for command in ["run", "explain", "list"] {
        let help = assay(&[command, "--help"]).stdout;
        let own = help.lines().skip_while(|line| !line.starts_with("Filters:") && !line.starts_with("Operands"));
        assert!(own.clone().count() > 5);
        for line in own {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn errors_in_arguments_exit_with_2_and_name_the_expected_value() {
    for (arguments, said) in [
        (&[][..], "Usage: assay"),
        (&["rum"], "run"),
        (&["run", "--budget", "huge"], "expected quick, sampled, exhaustive or hunt"),
        (&["run", "--time", "5"], "it requires --budget hunt, not quick"),
        (&["run", "--range", "1"], "expected LO..HI"),
        (&["run", "--range", "-0x1p3..one"], "`one`"),
        (&["run", "--jobs", "0"], "--jobs"),
        (&["run", "--timeout", "-1"], "'-1' for '--timeout"),
        (&["run", "--seed", "-1"], "'-1' for '--seed"),
        (&["explain", "Exp2", "--in", "-0x"], "`-0x`"),
        (&["run", "--path", "reference", "--device", "all"], "--path reference takes no --device"),
        (&["run", "--timeout", "0"], "expected a number of seconds above 0"),
        (&["run", "--seed", "x"], "--seed"),
        (&["completions", "sh"], "bash"),
        (&["explain", "Exp2"], "--in"),
        (&["explain", "Expp2", "--in", "1"], "Exp2"),
        (&["explain", "Exp2", "--format", "f23", "--in", "1"], "f32"),
        (&["explain", "OpFConvert", "--from", "float", "--in", "1"], "unknown type `float`"),
        (&["explain", "Exp2", "--in", "1", "--mode", "RoundingModeRTW"], "RoundingModeRTE"),
        (&["explain", "Exp2", "--in", "1", "--mode", "DenormPreserve,DenormFlushToZero"], "exclude each other"),
        (&["explain", "Exp2", "--in", "1", "--mode", "NSZ", "--mode", "NoContraction"], "exclude"),
    ] {
        let output = assay(arguments);
        assert_eq!(output.code, 2, "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(said), "{arguments:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_folder_without_a_slash_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("kernels");
    std::fs::create_dir(&folder).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_assay")).args(["list", "kernels"]).current_dir(dir.path()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("to check the shaders in this folder, write `kernels/`"), "{stderr}");
}

#[test]
fn a_filter_without_a_match_exits_with_3() {
    for command in ["list", "run"] {
        let output = assay(&[command, "precision.f32.no_such_thing"]);
        assert_eq!((output.code, output.stdout.as_str()), (3, ""), "{output:?}");
        assert!(output.stderr.contains("no case matches `precision.f32.no_such_thing`"), "{output:?}");
    }
}

#[test]
fn a_case_file_is_read_strictly_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    let file = path.to_str().unwrap();
    std::fs::write(&path, "why = 'nothing'\ncases = []\n").unwrap();
    for command in ["list", "run"] {
        let output = assay(&[command, file]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output:?}");
        assert!(output.stderr.contains("mine.toml:2: `cases` is empty"), "{output:?}");
    }
    let block =
        "instructions = ['Exp2']\nscalars = ['f32']\nshapes = ['vec2']\nmodes = ['default']\nsources = ['buffer']\n";
    std::fs::write(&path, format!("why = 'one'\n[[cases]]\n{block}")).unwrap();
    let once = assay(&["list", file]);
    assert_eq!((once.code, once.stdout.as_str()), (0, "mine.f32.exp2.vec2.default\n"));
    assert_eq!(assay(&["list", file, file]).stdout, once.stdout);
    // The case file of a shader is a case of its own, with the path as its name.
    std::fs::write(&path, "shader = 'a.wgsl'\n").unwrap();
    let output = assay(&["list", file]);
    assert_eq!((output.code, output.stdout), (0, format!("{file}\n")), "{}", output.stderr);
}

#[test]
fn without_a_device_the_message_names_the_packages_to_install() {
    let none = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    for arguments in [&["devices"][..], &["devices", "--json"], &["run"]] {
        let output = assay_with(arguments, &none);
        assert_eq!((output.code, output.stdout.as_str()), (4, ""), "{output:?}");
        assert!(output.stderr.contains("apt install"), "{output:?}");
    }
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = assay(&["completions", shell]);
        assert_eq!(output.code, 0);
        assert!(output.stdout.contains("explain"), "{shell}");
    }
}

#[test]
fn every_command_of_the_help_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = assay(&["man", folder.path().to_str().unwrap()]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let page = |name: &str| std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
    assert!(page("assay").contains("assay\\-check(1)"), "{}", page("assay"));
    assert!(page("assay-check").contains("\\-\\-workgroups"), "{}", page("assay-check"));
    assert!(page("assay-history-add").contains("assay history add"), "{}", page("assay-history-add"));
    assert!(!folder.path().join("assay-worker.1").exists());
    let nowhere = folder.path().join("none");
    let refused = assay(&["man", nowhere.to_str().unwrap()]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("none"), "{refused:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_not() {
    use std::process::{Command, Stdio};
    for arguments in [&["completions", "bash"][..], &["--help"], &["run", "--help"], &["--version"]] {
        let run = |stdout: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
            let output = command.args(arguments).stdout(stdout).stderr(Stdio::piped()).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, stderr) = run(full.into());
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(stderr.contains("cannot write to stdout") && stderr.contains("No space left"), "{stderr}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(run(writer.into()), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn list_states_the_inputs_of_a_budget() {
    let case = "precision.f32.exp2.scalar.default";
    let text = assay(&["list", case, "--budget", "exhaustive"]);
    assert_eq!(text.stdout.lines().next(), Some(&*format!("{case}  4,294,967,296 inputs")), "{text:?}");
    let json = assay(&["list", case, "storage8", "--json", "--budget", "quick"]);
    let lines: Vec<serde_json::Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name);
    let exp2 = of(case).unwrap();
    assert_eq!((exp2["instruction"].as_str(), exp2["inputs_possible"].as_str()), (Some("Exp2"), Some("4294967296")));
    assert!(exp2["inputs"].as_u64().is_some_and(|inputs| inputs > 1000), "{exp2}");
    assert!(lines.iter().any(|line| line["name"].as_str().is_some_and(|name| name.starts_with("storage8."))));
    let all = assay(&["list", case]);
    assert_eq!(all.stdout.lines().next(), Some(case), "{all:?}");
}
