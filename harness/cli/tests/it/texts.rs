//! Snapshots of the texts that a user reads: help, refusals, derivations, verdicts.
//!
//! `INSTA_UPDATE=always cargo nextest run -p assay-cli texts::` writes `tests/it/snapshots/` again;
//! the difference of the snapshots is the review of a change of texts.

use crate::support::assay_with;
use crate::support::device::device;
use std::{fmt::Write as _, fs, path::Path};

/// Environment without a Vulkan driver.
const NO_DRIVER: [(&str, &str); 2] = [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

/// Commands and their output, as a terminal would show them. `DIR` in an argument means `folder`.
fn session(folder: &Path, environment: &[(&str, &str)], commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let arguments: Vec<String> = command.split(' ').map(|argument| place(argument, folder)).collect();
        let arguments: Vec<&str> =
            arguments.iter().map(String::as_str).filter(|argument| !argument.is_empty()).collect();
        let output = assay_with(&arguments, environment);
        _ = writeln!(text, "$ assay {command}\n{}", output.stdout.trim_end());
        if !output.stderr.is_empty() {
            _ = writeln!(text, "[stderr]\n{}", output.stderr.trim_end());
        }
        _ = writeln!(text, "[exit code {}]\n", output.code);
    }
    text
}

/// Replaces `DIR` in an argument.
fn place(argument: &str, folder: &Path) -> String {
    argument.replace("DIR", folder.to_str().expect("a UTF-8 path"))
}

/// Compares a session with its snapshot, without the parts that differ from machine to machine.
fn compare(name: &str, folder: &Path, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(&regex_of(folder.to_str().expect("a UTF-8 path")), "DIR");
    settings.add_filter(r"/private/DIR", "DIR");
    settings.add_filter(r"assay 0\.\d+\.\d+\S*( \([^)]*\))?", "assay VERSION");
    settings.add_filter(r"llvmpipe \(LLVM [^)]*\)", "llvmpipe (LLVM VERSION)");
    settings.add_filter(r"Mesa \d+\.\d+\.\d+\S*( \(LLVM [^)]*\))?", "Mesa VERSION");
    settings.add_filter(r", Vulkan \d+\.\d+\.\d+", ", Vulkan VERSION");
    settings.add_filter(r"\d{4}-\d{2}-\d{2}(T[\d:.]+Z| \d{2}:\d{2} UTC)", "DATE");
    settings.add_filter(r"\b\d+(\.\d+)? (ms|s|min|h)\b", "TIME");
    // Threads decide which of several inputs with the same margin is the worst.
    settings.add_filter(r"(margin 0 at|- +0) ( *)0x[0-9a-f]+ = \S+", "$1 ${2}INPUT");
    settings.add_filter(r"on \d+ cores?", "on CORES");
    settings.add_filter(r"\d[\d.,]* (M|k|G)?( ?results| ?cases)?/s", "RATE");
    settings.bind(|| insta::assert_snapshot!(name.replace(' ', "_"), text));
}

/// A regular expression that matches just this text.
fn regex_of(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_alphanumeric() || c == '/' { vec![c] } else { vec!['\\', c] }).collect()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file of the test");
    }
}

#[test]
fn help_of_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for command in [
        "",
        "devices",
        "list",
        "run",
        "check",
        "fuzz",
        "repro",
        "inspect",
        "explain",
        "report",
        "atlas",
        "diff",
        "merge",
        "history",
        "history add",
        "history show",
        "table",
        "coverage",
        "completions",
        "man",
    ] {
        let help = session(dir.path(), &[], &[format!("{command} --help").trim_start()]);
        let name = if command.is_empty() { "assay" } else { command };
        compare(&format!("help {name}"), dir.path(), &help);
    }
}

#[test]
fn rules_and_doubts_of_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let text = session(dir.path(), &NO_DRIVER, &["table Exp2 OpFDiv", "table SmoothStep Frexp --doubts"]);
    compare("table of rules", dir.path(), &text);
}

/// Each doubt has an input for which its readings differ.
#[test]
fn table_as_json_holds_rules_and_doubts() {
    let output = assay_with(&["table", "FDiv", "Sqrt", "SmoothStep", "--json"], &NO_DRIVER);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let table: assay_events::PrecisionTable = serde_json::from_str(&output.stdout).unwrap();
    let half = |row: &&assay_events::TableRow| row.instruction == "OpFDiv" && row.results == ["f16"];
    let row = table.rows.iter().find(half).expect("a row of OpFDiv");
    assert!(row.rule.contains("2.5 ULP") && row.lists.contains(&"DenormFlushToZero".to_owned()), "{row:?}");
    assert!(row.wgsl.as_ref().is_some_and(|wgsl| wgsl.rule.contains("2.5 ULP")), "{row:?}");
    assert!(!table.doubts.is_empty());
    for doubt in &table.doubts {
        assert_ne!(doubt.example.strict, doubt.example.lenient, "{doubt:?}");
        assert!(!doubt.instructions.is_empty() && doubt.example.explain.starts_with("assay explain "), "{doubt:?}");
    }
}

#[test]
fn refused_arguments() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("empty.toml", "why = 'nothing'\ncases = []\n")]);
    let commands = [
        "rum",
        "run --budget huge",
        "run --range 1",
        "run --range -0x1p3..one",
        "run --jobs 0",
        "run --jobs -1",
        "run --timeout -1",
        "run --timeout 0",
        "run --timeout 1e300",
        "run --seed -1",
        "run --seed x",
        "run --memory 0",
        "run --path reference --device all",
        "run --partition hash:5/4",
        "run --partition slice:1",
        "run no.such.case",
        "run DIR/empty.toml",
        "run DIR/missing.toml",
        "run storage8 --api wgpu",
        "run precision.f32.exp2 --cases DIR/missing.txt",
        "run --resume DIR",
        "run --resume DIR --seed 3",
        "run precision.f32.exp2.scalar.default --baseline DIR/missing.csv",
        "list no.such.case",
        "table Expp2",
        "explain Exp2",
        "explain Expp2 --in 1",
        "explain Exp2 --format f23 --in 1",
        "explain OpFConvert --from float --in 1",
        "explain Exp2 --in -0x",
        "explain Exp2 --in 1 2",
        "explain Exp2 --in 1 --mode RoundingModeRTW",
        "explain Exp2 --in 1 --mode DenormPreserve,DenormFlushToZero",
        "explain Exp2 --in 1 --mode NSZ --mode NoContraction",
        "explain Exp2 --in 1 --got zero",
        "explain OpFmaKHR -f bf16 --in 1 1 1",
        "completions sh",
        "report DIR",
        "report DIR/missing",
        "diff DIR DIR",
        "merge DIR --out DIR/merged",
        "history add DIR --db DIR/db",
        "history show --db DIR/missing.db",
        "coverage DIR",
        "repro DIR",
        "devices --device no-such-device",
    ];
    compare("refused arguments", dir.path(), &session(dir.path(), &NO_DRIVER, &commands));
}

/// Doubles a buffer of words.
const DOUBLE: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  data[id.x] = data[id.x] * 2u;
}
";

#[test]
fn refused_shaders() {
    let dir = tempfile::tempdir().unwrap();
    let compute = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                   OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n\
                   %main = OpFunction %void None %type\n%label = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let nested = format!("{}1u{}", "(".repeat(5000), ")".repeat(5000));
    write(
        dir.path(),
        &[
            ("double.wgsl", DOUBLE),
            ("type.wgsl", &DOUBLE.replace("2u", "2.5")),
            ("syntax.wgsl", "fn main( {"),
            ("nested.wgsl", &DOUBLE.replace("2u", &nested)),
            ("word.spv", "abc"),
            ("empty.spv", ""),
            ("opcode.spvasm", "OpCapability Shader\nOpMemoryModl Logical GLSL450\n"),
            ("operand.spvasm", "OpCapability Shadr\n"),
            ("legal.spvasm", compute),
            ("size.spvasm", &compute.replace("LocalSize 1 1 1", "LocalSize 0 1 1")),
            ("kernel.spvasm", &compute.replace("OpCapability Shader", "OpCapability Shader\nOpCapability Kernel")),
            ("missing.toml", "shader = 'nowhere.wgsl'\n"),
            ("outside.toml", "shader = '../double.wgsl'\n"),
            ("type.toml", "shader = 1\n"),
            ("unknown.toml", "shader = 'double.wgsl'\nworkgroup = [1]\n"),
            ("binding.toml", "shader = 'double.wgsl'\n[input]\ndta = 'index'\n"),
            ("expect.toml", "shader = 'double.wgsl'\n[[expect]]\nbinding = 'data'\nelement = '[x]'\nvalue = '7'\n"),
        ],
    );
    let commands = [
        "inspect DIR/type.wgsl",
        "inspect DIR/syntax.wgsl",
        "inspect DIR/nested.wgsl",
        "inspect DIR/word.spv",
        "inspect DIR/empty.spv",
        "inspect DIR/opcode.spvasm",
        "inspect DIR/operand.spvasm",
        "inspect DIR/legal.spvasm",
        "inspect DIR/size.spvasm",
        "inspect DIR/kernel.spvasm",
        "inspect DIR/missing.wgsl",
        "inspect DIR",
        "check DIR/type.wgsl",
        "check DIR/size.spvasm",
        "check DIR/missing.toml",
        "check DIR/outside.toml",
        "check DIR/type.toml",
        "check DIR/unknown.toml",
        "check DIR/binding.toml",
        "check DIR/expect.toml",
        "check DIR/double.wgsl --input 7=zeros",
        "check DIR/double.wgsl --input data=nothing",
        "check DIR/double.wgsl --input data=DIR/missing.bin",
        "check DIR/double.wgsl --workgroups 0",
        "check DIR/double.wgsl --elements none",
        "check DIR/double.wgsl --elements nosuch=10",
        "check DIR/double.wgsl --input data=zeros --input 0=ones",
        "check DIR/double.wgsl --spec n=4",
        "check DIR/double.wgsl --mutate ulp",
        "check DIR/double.wgsl --mutate ulp:4@OpFMul",
        "check DIR/double.wgsl --against DIR/type.wgsl",
        "check DIR/double.wgsl --against DIR/legal.spvasm",
        "check DIR/double.wgsl --entry nosuch",
        "check DIR/double.wgsl --out DIR/double.wgsl",
        "check DIR/double.wgsl",
    ];
    compare("refused shaders", dir.path(), &session(dir.path(), &NO_DRIVER, &commands));
}

#[test]
fn derivations() {
    let dir = tempfile::tempdir().unwrap();
    let commands = [
        "explain Exp2 --format f32 --in 0x3f9d70a4 --got 0x40161f7c",
        "explain Exp2 --format f32 --in 1.23 --got 2.345668",
        "explain OpFDiv --format f16 --in 1 3",
        "explain OpFAdd --format f32 --in 0x1p-127 0x1p-130 --mode DenormFlushToZero --got 0x00000000",
        "explain Tan --format f32 --in 1.5",
        "explain Sqrt --format f32 --in -1 --got NaN",
        "explain Sin --mode RelaxedPrecision --in 0.5",
        "explain SmoothStep --format f32 --in 0 1 0.3",
        "explain Normalize --format f32 --shape vec3 --in 1,2,3",
        "explain OpFConvert --format f16 --from f32 --in 1.0005 --mode RoundingModeRTZ",
        "explain OpFConvert --format bf16 --from f32 --in 1.0005",
        "explain Acos --in 0.999 --api both",
        "explain FindUMsb --format u32 --in 12",
        "explain OpIMul --format i32 --in 3 4 --got 12",
    ];
    compare("derivations", dir.path(), &session(dir.path(), &NO_DRIVER, &commands));
}

/// Writes another buffer than [`DOUBLE`], with the same results.
const OTHER: &str = "@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 2u; }
";

/// Verdicts that every correct driver gets, whatever its version.
#[test]
fn verdicts_of_shaders() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let body = |text: &str| DOUBLE.replace("data[id.x] = data[id.x] * 2u;", text);
    write(
        dir.path(),
        &[
            ("double.wgsl", DOUBLE),
            ("other.wgsl", OTHER),
            ("nothing.wgsl", &body("if data[id.x] == 7777u && id.x > 70000u { data[id.x] = 1u; }")),
            ("race.wgsl", &body("data[0] = id.x;")),
            ("outside.wgsl", &body("data[id.x + 4u] = 1u;")),
            ("endless.wgsl", &body("loop { data[id.x] = 1u; }")),
            ("no_output.wgsl", "@compute @workgroup_size(64) fn main() { }"),
            (
                "sum.wgsl",
                "@group(0) @binding(0) var<storage, read_write> n: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) { order[id.x] = atomicAdd(&n, 1u); }",
            ),
            (
                "expected.toml",
                "shader = 'double.wgsl'\nworkgroups = [1]\nrounds = 1\n[input]\ndata = 'index'\n\
              [[expect]]\nbinding = 'data'\nelement = '[3]'\nvalue = '7'\n",
            ),
        ],
    );
    let commands = [
        "check DIR/double.wgsl --device llvmpipe",
        "check DIR/double.wgsl --device llvmpipe --mutate off-by-one@OpIMul --explain --reduce --out DIR/found",
        "check DIR/double.wgsl --device llvmpipe --mutate off-by-one@OpIMul --no-trace",
        "check DIR/double.wgsl --device llvmpipe --mutate ulp:4@OpIMul",
        "repro DIR/found/bundle --device llvmpipe",
        "check DIR/nothing.wgsl --device llvmpipe",
        "check DIR/race.wgsl --device llvmpipe",
        "check DIR/outside.wgsl --device llvmpipe --no-search",
        "check DIR/outside.wgsl --device llvmpipe",
        "check DIR/outside.wgsl --device llvmpipe --robustness access2",
        "check DIR/endless.wgsl --device llvmpipe",
        "check DIR/no_output.wgsl --device llvmpipe",
        "check DIR/sum.wgsl --device llvmpipe",
        "check DIR/expected.toml --device llvmpipe",
        "check DIR/expected.toml --against DIR/double.wgsl",
        "check DIR/double.wgsl --against DIR/other.wgsl",
        "check DIR/double.wgsl --device llvmpipe --workgroups 1,1,4000000000 --elements 4",
        "check DIR/double.wgsl --device llvmpipe --workgroups 1000000",
        "check DIR/double.wgsl --device no-such-device",
        "check DIR/double.wgsl --api both --device llvmpipe",
    ];
    compare("verdicts of shaders", dir.path(), &session(dir.path(), &[], &commands));
}

#[test]
fn tables_of_runs() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("known.csv", "precision.f32.fnegate.scalar.default,Fail\nprecision.f32.gone,Fail\n")]);
    let commands = [
        "list precision.f32.exp2.scalar.default",
        "run precision.f32.fnegate.scalar.default precision.f32.fnegate.vec2.default --device llvmpipe --out DIR/first",
        "run precision.f32.fnegate.scalar.default --device llvmpipe --out DIR/second",
        "run precision.f32.fnegate.scalar.default --device llvmpipe --baseline DIR/known.csv --out DIR/third",
        "run gather.core.plain.u32.0 --path reference --out DIR/reference",
        "report DIR/first",
        "diff DIR/first DIR/second",
        "diff DIR/first DIR/first",
        "history add DIR/first --db DIR/db",
        "history add DIR/first --db DIR/db",
        "history show --db DIR/db",
        "run --resume DIR/first",
        "run --resume DIR/first --seed 3",
    ];
    compare("tables of runs", dir.path(), &session(dir.path(), &[], &commands));
}
