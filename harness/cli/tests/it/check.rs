//! `assay check` on lavapipe.

use crate::support::device::device;
use crate::support::{Output, assay, assay_with};
use assay_events::Event;

const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  data[id.x] = data[id.x] * 2u;
}
";

/// Runs `assay check` on a file with a name and text.
fn check(name: &str, text: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut all = vec!["check", path.to_str().unwrap()];
    all.extend(arguments);
    assay(&all)
}

#[test]
fn a_shader_passes_and_a_case_file_with_wrong_expectations_fails() {
    if !device() {
        return;
    }
    let output = check("a.wgsl", SHADER, &[]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("compared  512 elements, 0 not permitted"), "{output:?}");
    for (options, lines) in [(&["--json"][..], 3), (&["--json", "--no-device"], 1)] {
        let output = check("a.wgsl", SHADER, options);
        let events: Vec<Event> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((output.code, events.len()), (0, lines), "{output:?}");
        let result = events.iter().find_map(|e| if let Event::CheckFinished(check) = e { Some(check) } else { None });
        assert_eq!(result.expect("the verdict").elements_checked, 512, "{output:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wgsl"), SHADER).unwrap();
    let case = "shader = 'a.wgsl'\nworkgroups = [1]\n[input]\ndata = 'index'\n\
                [[expect]]\nbinding = 'data'\nelement = '[3]'\nvalue = '7'\n";
    let path = folder.path().join("a.toml");
    std::fs::write(&path, case).unwrap();
    let output = assay(&["check", path.to_str().unwrap()]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("set 0 binding 0 (data)[3]"), "{output:?}");
    assert!(output.stdout.contains("source    the case file's expectation"), "{output:?}");
}

/// With default inputs no invocation passes the guard. The check is not a Pass, with or without a
/// planted error.
#[test]
fn a_check_that_writes_nothing_is_not_a_pass() {
    if !device() {
        return;
    }
    let guarded = |guard: &str| {
        format!(
            "struct Params {{ n: u32 }}
            @group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @group(0) @binding(1) var<uniform> p: Params;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let i = id.x;
                if ({guard}) {{ return; }}
                data[i] = f32(i) * 1.5;
            }}"
        )
    };
    let text = guarded("p.n < 777u || i >= p.n");
    for mutate in [&[][..], &["--mutate", "ulp:1000@OpFMul"]] {
        let arguments = [&["--rounds", "1", "--no-search"], mutate].concat();
        let output = check("guard.wgsl", &text, &arguments);
        assert_eq!(output.code, 3, "{output:?}");
        assert!(output.stdout.contains("the shader wrote none of 256 elements"), "{output:?}");
        assert!(output.stdout.contains(", 1 round; round 0 wrote nothing"), "{output:?}");
    }
    // The search finds a size with which it writes. An error planted there is found.
    for (mutate, code) in [(&[][..], 0), (&["--mutate", "ulp:1000@OpFMul"], 1)] {
        let output = check("guard.wgsl", &text, mutate);
        assert_eq!(output.code, code, "{output:?}");
        assert!(output.stdout.contains("chosen    --input p.n=1024 (by Assay)"), "{output:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["--rounds", "1", "--input", "p==5", "--elements", "256", "--out", out.to_str().unwrap()];
    let output = check("guard.wgsl", &guarded("i >= p.n"), &arguments);
    assert_eq!(output.code, 0, "{output:?}");
    let counts = "\n  code      executed 11 of 11 instructions\n  output    wrote 5 of 256 elements in 1 of 1 binding\n  errors    \
                  the output shows 2 of 2 errors planted in float computations and 1 of 1 in integer ones\n";
    assert!(output.stdout.contains(counts), "{output:?}");
    assert!(output.stdout.contains("warning: the shader wrote only 5 of the 256 elements"), "{output:?}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("wrote 5 of 256 elements"), "{page}");
}

/// Expected values are compared with the permitted sets, without a device.
#[test]
fn expected_values_are_compared_with_the_permitted_sets() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a.wgsl"), SHADER).unwrap();
    for (value, code, said) in [
        ("6", 0, "the case file's expectations, counted in each round: 1 of 1 permitted by"),
        ("7", 1, "1 expectation of the case file cannot be met"),
    ] {
        let case = format!(
            "shader = 'a.wgsl'\nworkgroups = [1]\nrounds = 1\n[input]\ndata = 'index'\n\
             [[expect]]\nbinding = 'data'\nelement = '[3]'\nvalue = '{value}'\n"
        );
        std::fs::write(path("a.toml"), case).unwrap();
        let arguments = ["check", &path("a.toml"), "--against", &path("a.wgsl")];
        let output =
            assay_with(&arguments, &[("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")]);
        assert_eq!(output.code, code, "{output:?}");
        assert!(output.stdout.contains(said), "{output:?}");
    }
}

#[test]
fn errors_in_inputs_get_one_message_and_code_2() {
    for (name, text, arguments, expected) in [
        ("a.wgsl", SHADER.replace("2u", "2.5"), &[][..], "a.wgsl:3:"),
        ("a.wgsl", SHADER.into(), &["--input", "7=zeros"], "no binding `7`"),
        ("a.wgsl", SHADER.into(), &["--workgroups", "0"], "workgroups"),
        ("a.wgsl", SHADER.into(), &["--elements", "none"], "--elements none"),
        ("a.wgsl", SHADER.into(), &["--elements", "1"], "out of bounds"),
        ("a.toml", "why = 'x'\nshader = 'nowhere.wgsl'".into(), &[], "a.toml:2: cannot read"),
        ("a.toml", "shader = 1".into(), &[], "a.toml:1:"),
        ("a.wgsl", SHADER.into(), &["--elements", "nosuch=10"], "no run-time array `nosuch`"),
        (
            "a.wgsl",
            SHADER.into(),
            &["--input", "data=zeros", "--input", "data=ones"],
            "--input data=zeros and --input data=ones",
        ),
        (
            "a.wgsl",
            SHADER.into(),
            &["--input", "data=zeros", "--input", "0=ones"],
            "--input data=zeros and --input 0=ones",
        ),
        ("a.wgsl", SHADER.into(), &["--elements", "300", "--elements", "400"], "--elements 300 and --elements 400"),
        ("a.wgsl", SHADER.into(), &["--against", "b.wgsl", "--out", "out"], "--out"),
        ("a.wgsl", SHADER.into(), &["--against", "spirv-opt", "--device", "all"], "--against takes one --device"),
        ("a.wgsl", SHADER.into(), &["--timeout", "1e300"], "above 0 and at most 1e9"),
    ] {
        if expected == "out of bounds" && !device() {
            continue;
        }
        let output = check(name, &text, arguments);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.stderr.contains(expected), "expected {expected}: {output:?}");
    }
    assert_eq!(assay(&["check", "/nonexistent.wgsl"]).code, 2);
}

/// Endless shaders, files of the wrong size and dispatches beyond the device's limits are refused
/// before the device runs anything.
#[test]
fn dispatches_that_must_not_run_get_one_message_and_code_2() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |bytes: usize| {
        let path = folder.path().join(format!("{bytes}.bin"));
        std::fs::write(&path, vec![1; bytes]).unwrap();
        format!("data={}", path.display())
    };
    let (short, odd, few, one) = (file(3), file(1026), file(16), file(1024));
    let endless = SHADER.replace("data[id.x] = data[id.x] * 2u;", "loop { data[id.x] = 1u; }");
    let counts = SHADER
        .replace("64", "1")
        .replace("data[id.x] = data[id.x] * 2u;", "var k = 0u; loop { k++; if k == 0u { break; } } data[id.x] = k;");
    let spins = SHADER.replace("data[id.x] =", "while data[id.x] < 5u { data[id.x] = 1u; } data[id.x] =");
    let sized = SHADER.replace("@compute @workgroup_size(64)", "override n = 64u; @compute @workgroup_size(n)");
    for (text, arguments, expected) in [
        (&endless, &[][..], "endless loop"),
        (&endless, &["--workgroups", "1000"], "a state that repeats"),
        (&counts, &["--workgroups", "1"], "--patience"),
        (&spins, &["--input", "data=zeros"], "endless loop"),
        (&SHADER.to_owned(), &["--input", &short], "only 3 bytes"),
        (&SHADER.to_owned(), &["--input", &odd], "1026 bytes, 2 more than 256 elements take"),
        (&SHADER.to_owned(), &["--input", &few], "its length of 4 follows from the size of"),
        (&SHADER.to_owned(), &["--input", &one, "--elements", "data=300"], "take 1200 bytes, but"),
        (&SHADER.to_owned(), &["--workgroups", "1,1,4000000000", "--elements", "4"], "maxComputeWorkGroupCountZ"),
        (&sized, &["--spec", "n=4000000"], "Workgroup size is out of range"),
    ] {
        let output = check("a.wgsl", text, &[&["--device", "llvmpipe"], arguments].concat());
        assert_eq!(output.code, 2, "{expected}: {output:?}");
        assert!(output.stderr.contains(expected), "expected {expected}: {output:?}");
    }
}

/// Options of the command line define buffers that the shader reaches by device address.
#[test]
fn buffers_reached_by_device_address_are_checked() {
    if !device() {
        return;
    }
    let shader = include_str!("../../../../shaders/compute/address/linked_list.spvasm");
    let nodes = ["--device", "llvmpipe", "--workgroups", "1", "--buffer", "nodes=2*value:f32,next:u64"];
    let ring = ["--address", "push@0=nodes", "--address", "nodes@8=nodes+16", "--address", "nodes@24=nodes"];
    let output = check("a.spvasm", shader, &[&nodes[..], &ring[..]].concat());
    assert_eq!(output.code, 0, "{output:?}");
    let ends = check("a.spvasm", shader, &[&nodes[..], &ring[..4], &["--address", "nodes@24=null"]].concat());
    assert_eq!(ends.code, 2, "{ends:?}");
    assert!(ends.stderr.contains("at address 0x0 lie in no buffer"), "{ends:?}");
    let nowhere = check("a.spvasm", shader, &[&nodes[..], &["--address", "nodes@9=nodes"]].concat());
    assert!(nowhere.code == 2 && nowhere.stderr.contains("nodes@9"), "{nowhere:?}");
}

/// With --robustness, accesses out of bounds are checked. Results that depend on the subgroup
/// layout are checked under the one that the shader or an instrumented variant records.
#[test]
fn robustness_and_recorded_subgroups_are_options() {
    if !device() {
        return;
    }
    let on = ["--device", "llvmpipe"];
    let apart = "@group(0) @binding(0) var<storage> given: array<u32>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { to[id.x] = given[id.x + 4u]; }";
    assert_eq!(check("a.wgsl", apart, &[&on[..], &["--no-search"]].concat()).code, 2);
    let grown = check("a.wgsl", apart, &on);
    assert!(grown.code == 0 && grown.stdout.contains("chosen    --elements given=260 (by Assay)"), "{grown:?}");
    let robust = check("a.wgsl", apart, &[&on[..], &["--robustness", "access2"]].concat());
    assert!(robust.code == 0 && robust.stdout.contains("compared  512 elements"), "{robust:?}");
    let seats = "@group(0) @binding(0) var<storage, read_write> seats: array<array<u32, 3>>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(32) fn main(
            @builtin(global_invocation_id) at: vec3u, @builtin(subgroup_id) id: u32,
            @builtin(subgroup_invocation_id) place: u32, @builtin(subgroup_size) size: u32,
        ) {
            seats[at.x] = array(id, place, size);
            to[at.x] = subgroupExclusiveAdd(at.x);
        }";
    let automatic = check("a.wgsl", seats, &on);
    let observed =
        "depend on the subgroup layout; they were checked against the layout observed in an instrumented run";
    assert!(automatic.code == 0 && automatic.stdout.contains(observed), "{automatic:?}");
    let sampled = check("a.wgsl", seats, &[&on[..], &["--workgroups", "8", "--sample", "64"]].concat());
    let open = "depends on the subgroup layout, which is unknown (record it with --subgroups)";
    assert!(sampled.stdout.contains(open), "{sampled:?}");
    let sized = check("a.wgsl", seats, &[&on[..], &["--subgroup-size", "8", "--full-subgroups"]].concat());
    assert!(sized.stdout.contains("PASS") || sized.stdout.contains("NotSupported"), "{sized:?}");
    let odd = check("a.wgsl", seats, &[&on[..], &["--subgroup-size", "12"]].concat());
    assert!(odd.code == 2 && odd.stderr.contains("a power of two from 1 to 128"), "{odd:?}");
    let race = seats.replace("to[at.x] =", "to[0] = 5u; to[at.x + 1u] =");
    let refused = check("a.wgsl", &race, &[&on[..], &["--no-search", "--elements", "to=200"]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("data race"), "{refused:?}");
    let permitted = check("a.wgsl", &race, &[&on[..], &["--elements", "to=200", "--benign-races"]].concat());
    assert!(permitted.code == 0 && permitted.stdout.contains("benign races are undefined behaviour"), "{permitted:?}");
    let recorded = check("a.wgsl", seats, &[&on[..], &["--subgroups", "seats"]].concat());
    assert!(recorded.code == 0 && recorded.stdout.contains("compared  1,024 elements"), "{recorded:?}");
    // Elements after the records are not read. A buffer without the records is an error in the
    // input, not a failure.
    let longer = check("a.wgsl", seats, &[&on[..], &["--subgroups", "seats", "--elements", "seats=200"]].concat());
    assert!(longer.code == 0 && longer.stdout.contains("0 not permitted"), "{longer:?}");
    let other = check("a.wgsl", seats, &[&on[..], &["--subgroups", "to"]].concat());
    assert!(other.code == 2 && other.stderr.contains("does not store the record of invocation"), "{other:?}");
    let nowhere = check("a.wgsl", seats, &[&on[..], &["--subgroups", "5"]].concat());
    assert!(nowhere.code == 2 && nowhere.stderr.contains("no storage buffer `5`"), "{nowhere:?}");
    let both = check("a.wgsl", apart, &["--robustness", "access", "--api", "both"]);
    assert!(both.code == 2 && both.stdout.is_empty(), "{both:?}");
}

/// The search must not choose a setting that wgpu lacks, and that the user would have to remove.
#[test]
fn the_search_chooses_robustness_for_vulkan_only() {
    if !device() {
        return;
    }
    let filter = "@group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var result: texture_storage_2d<r32float, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = vec2<i32>(id.xy);
            textureStore(result, at, textureLoad(source, at - 1, 0));
        }";
    let chosen = check("a.wgsl", filter, &["--device", "llvmpipe"]);
    assert!(
        chosen.code == 0 && chosen.stdout.contains("chose these options; without --robustness, accesses"),
        "{chosen:?}"
    );
    // WGSL defines such a read, Vulkan without robustness does not.
    let passes = check("a.wgsl", filter, &["--api", "wgpu"]);
    assert!(passes.code == 0 && !passes.stdout.contains("search"), "{passes:?}");
    let refused = check("a.wgsl", filter, &["--api", "both"]);
    assert!(refused.code == 2 && refused.stderr.contains("out of bounds: texel [-1, "), "{refused:?}");
}

#[test]
fn without_a_driver_the_check_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wgsl");
    std::fs::write(&path, SHADER).unwrap();
    let output = assay_with(&["check", path.to_str().unwrap()], &[("VK_DRIVER_FILES", "/nonexistent")]);
    assert_eq!(output.code, 4, "{output:?}");
    // An unwritable result folder is reported before a missing device. Without a device no folder
    // remains.
    let out = |out: &std::path::Path| {
        let arguments = ["check", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
        assay_with(&arguments, &[("VK_DRIVER_FILES", "/nonexistent")])
    };
    let output = out(&path);
    assert!(output.code == 2 && output.stderr.contains("cannot create the result folder"), "{output:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), SHADER);
    assert_eq!(out(&folder.path().join("new/out")).code, 4);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_family_of_cases_runs_by_its_file_name() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let family = "why = 'negation changes one bit'\n[[cases]]\ninstructions = ['OpFNegate']\nscalars = ['f32']\n\
                  shapes = ['scalar']\nmodes = ['default']\nsources = ['buffer']\n";
    std::fs::write(&path, family).unwrap();
    let out = folder.path().join("out");
    for arguments in
        [&["run", path.to_str().unwrap(), "--out", out.to_str().unwrap()][..], &["list", path.to_str().unwrap()]]
    {
        let output = assay(arguments);
        assert_eq!(output.code, 0, "{output:?}");
        assert!(
            output.stdout.contains(if arguments[0] == "run" { "1 of 1" } else { "mine.f32.fnegate" }),
            "{output:?}"
        );
    }
    // `assay check` also runs it, and writes a folder that `assay run` can resume.
    let checked = folder.path().join("checked");
    let output = assay(&["check", path.to_str().unwrap(), "--out", checked.to_str().unwrap(), "--seed", "3"]);
    assert!(output.code == 0 && output.stdout.contains("seed 3"), "{output:?}");
    assert!(checked.join("report.html").is_file(), "{output:?}");
    let output = assay(&["run", "--resume", checked.to_str().unwrap()]);
    assert!(output.code == 0 && output.stderr.contains("the run is complete"), "{output:?}");
    // Options of shaders are refused, not ignored.
    let output = assay(&["check", path.to_str().unwrap(), "--rounds", "3", "--reduce", "--spec", "1=2"]);
    assert_eq!(output.code, 2, "{output:?}");
    for part in ["mine.toml is a family", "--spec, --rounds, --reduce apply to a single shader only", "`assay run "] {
        assert!(output.stderr.contains(part), "{part}: {output:?}");
    }
    std::fs::write(&path, family.replace("OpFNegate", "OpFNegat")).unwrap();
    let output = assay(&["check", path.to_str().unwrap()]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("mine.toml:3:"), "{output:?}");
}

#[test]
fn a_planted_error_is_traced_bundled_and_reproduced() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = check("a.wgsl", SHADER, &["--mutate", "off-by-one@OpIMul", "--out", out.to_str().unwrap()]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.ends_with("was planted: the device is not at fault.\n"), "{output:?}");
    for part in ["wrong instruction: OpIMul at ", "a.wgsl:3:16", "256 of 256 recorded executions", "got       0x"] {
        assert!(output.stdout.contains(part), "{part}: {output:?}");
    }
    assert!(out.join("device.json").exists());
    for report in ["results.jsonl", "junit.xml", "report.html"] {
        let text = std::fs::read_to_string(out.join(report)).unwrap();
        assert!(text.contains("with off-by-one@OpIMul planted"), "{report}");
    }
    let bundle = out.join("bundle");
    let output = assay(&["repro", bundle.to_str().unwrap()]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(
        output.stderr.contains("planted off-by-one@OpIMul") && output.stdout.contains("the device is not at fault"),
        "{output:?}"
    );
    assert!(output.stdout.contains("reproduced, with the same bits"), "{output:?}");
    // Without the planted error it does not fail.
    let manifest = bundle.join("bundle.json");
    let text = std::fs::read_to_string(&manifest)
        .unwrap()
        .replace("\"mutation\": \"off-by-one@OpIMul\"", "\"mutation\": null");
    std::fs::write(&manifest, text).unwrap();
    let output = assay(&["repro", bundle.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains(": not reproduced\n"), "{output:?}");
    assert_eq!(assay(&["repro", "/nonexistent"]).code, 2);
    assert_eq!(check("a.wgsl", SHADER, &["--mutate", "ulp@OpFMul"]).code, 2);
}

/// The note on a planted error gives the option that plants it. If no element leaves its permitted set, a
/// note gives other instructions.
#[test]
fn a_planted_error_without_effect_is_noted_with_other_instructions() {
    if !device() {
        return;
    }
    let quoted = |text: &str| text.split('\'').find(|text| text.contains("@word ")).map(str::to_owned);
    let hidden = SHADER.replace("= data[id.x] * 2u", "= ((data[id.x] * 2u) & 0u) + 4u");
    let on = ["--device", "llvmpipe", "--no-trace"];
    let passes = check("a.wgsl", &hidden, &[&on[..], &["--mutate", "off-by-one@OpIMul"]].concat());
    assert_eq!(passes.code, 0, "{passes:?}");
    let thin = ", although off-by-one@OpIMul was planted; 1 verdict says little about its shader.\n";
    assert!(passes.stdout.ends_with(thin), "{passes:?}");
    let line = passes
        .stdout
        .lines()
        .find(|line| line.contains("no checked element leaves its permitted set"))
        .expect("a note");
    let elsewhere = quoted(line).expect("another instruction");
    let fails = check("a.wgsl", &hidden, &[&on[..], &["--mutate", &elsewhere]].concat());
    assert_eq!(fails.code, 1, "{fails:?}");
    let accused = fails.stdout.lines().last().unwrap();
    assert!(accused.ends_with(": the device is not at fault.") && accused.contains(&elsewhere), "{fails:?}");
    // The instruction that the first note names.
    let named = quoted(&passes.stderr).expect("an instruction");
    let again = check("a.wgsl", &hidden, &[&on[..], &["--mutate", &named]].concat());
    assert!(again.code == 0 && again.stderr.contains(&format!("planted {named} in")), "{again:?}");
    let nowhere = check("a.wgsl", &hidden, &["--mutate", "off-by-one@word 1"]);
    assert!(nowhere.code == 2 && quoted(&nowhere.stderr).is_some(), "{nowhere:?}");
}

/// Only the failures in the bundle's round are compared, because the number of warnings kept
/// depends on the other rounds.
#[test]
fn failures_among_warnings_are_reproduced() {
    if !device() {
        return;
    }
    let shader = "@group(0) @binding(0) var texels: texture_2d<f32>;
        @group(0) @binding(1) var nearest: sampler;
        @group(0) @binding(2) var<storage, read_write> data: array<vec4f>;
        @group(0) @binding(3) var image: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3u) {
            let i = id.y * 4u + id.x;
            data[i * 2u] = textureLoad(texels, id.xy % textureDimensions(texels), 0);
            data[i * 2u + 1u] = textureSampleLevel(texels, nearest, (vec2f(id.xy) + 0.5) / 4.0, 0.0);
            textureStore(image, id.xy, vec4f(f32(i) / 15.0, 0.0, 1.0, 0.25));
        }";
    let case =
        "shader = 'a.wgsl'\nworkgroups = [1]\n[elements]\ndata = 32\n[image.texels]\nsize = [4, 4]\nformat = 'Rgba8'\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wgsl"), shader).unwrap();
    let (file, out) = (folder.path().join("a.toml"), folder.path().join("out"));
    std::fs::write(&file, case).unwrap();
    let on = ["--device", "llvmpipe"];
    let planted = ["--mutate", "ulp:9999999@OpFDiv", "--no-trace", "--out", out.to_str().unwrap()];
    let output = assay(&[&["check", file.to_str().unwrap()], &on[..], &planted].concat());
    assert_eq!(output.code, 1, "{output:?}");
    let output = assay(&[&["repro", out.join("bundle").to_str().unwrap()], &on[..]].concat());
    assert!(output.code == 1 && output.stdout.contains("reproduced, with the same bits"), "{output:?}");
}

/// A barrier has no result id. The bundle of the reduced shader still names the right one of
/// several.
#[test]
fn a_reduced_bundle_names_the_missing_barrier() {
    if !device() {
        return;
    }
    let text = "@group(0) @binding(0) var<storage, read> given: array<u32>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        var<workgroup> words: array<u32, 32>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) at: vec3u, @builtin(local_invocation_index) i: u32) {
            words[i] = given[at.x];
            workgroupBarrier();
            to[at.x] = words[31u - i];
        }";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["--mutate", "missing-barrier@last", "--reduce", "--out", out.to_str().unwrap()];
    let output = check("a.wgsl", text, &[&["--device", "llvmpipe"], &arguments[..]].concat());
    assert!(output.code == 1 && output.stdout.contains("note: reduced from "), "{output:?}");
    let output = assay(&["repro", out.join("reduced").to_str().unwrap(), "--device", "llvmpipe"]);
    // A new process has no leftovers in workgroup memory.
    assert!(output.code == 1 && output.stdout.contains("in the bundle: Fail"), "{output:?}");
    let readme = std::fs::read_to_string(out.join("reduced/README.txt")).unwrap();
    assert!(readme.contains("OpControlBarrier"), "{readme}");
}

#[test]
fn a_failure_is_reduced_and_another_translation_is_compared() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["--mutate", "off-by-one@OpIMul", "--reduce", "--out", out.to_str().unwrap()];
    let output = check("a.wgsl", SHADER, &arguments);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("note: reduced from "), "{output:?}");
    assert!(out.join("reduced/bundle.json").exists() && out.join("bundle/bundle.json").exists());
    let output = assay(&["repro", out.join("reduced").to_str().unwrap()]);
    assert!(output.code == 1 && output.stdout.contains("reproduced, with the same bits"), "{output:?}");
    // Another check with the same folder removes these bundles and no other files.
    std::fs::write(out.join("bundle/notes.txt"), "mine").unwrap();
    let output = check("a.wgsl", SHADER, &["--out", out.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{output:?}");
    let left: Vec<_> = std::fs::read_dir(out.join("bundle")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    assert!(!out.join("reduced").exists());

    let other = folder.path().join("b.wgsl");
    let other = |text: String| {
        std::fs::write(&other, text).unwrap();
        check("a.wgsl", SHADER, &["--against", other.to_str().unwrap()])
    };
    let same = other(SHADER.replace("* 2u", "<< 1u"));
    assert_eq!(same.code, 0, "{same:?}");
    let changed = other(SHADER.replace("* 2u", "* 3u"));
    assert!(changed.code == 1 && changed.stdout.contains("Changed"), "{changed:?}");
    assert!(changed.stdout.contains("    may be    0x") && !changed.stdout.contains("    got "), "{changed:?}");
}

#[test]
fn a_derivation_shows_each_step_of_the_first_wrong_element() {
    if !device() {
        return;
    }
    let output = check("a.wgsl", SHADER, &["--mutate", "off-by-one@OpIMul", "--explain"]);
    assert_eq!(output.code, 1, "{output:?}");
    for part in ["recorded computation of the first of these", "! OpIMul(0x", "by        invocation 0"] {
        assert!(output.stdout.contains(part), "{part}: {output:?}");
    }
}

/// A descriptor array that is indexed without the required capability gives a warning and is
/// checked; `--strict` refuses it. The bundle records the SPIR-V version of the original.
#[test]
fn a_warning_is_noted_and_the_shader_is_checked() {
    const INDEXED: &str = include_str!("shaders/indexed_buffers.spvasm");
    let warning = "descriptor array indexed with a non-constant; this requires StorageBufferArrayDynamicIndexing";
    let refused = check("indexed.spvasm", INDEXED, &["--workgroups", "1", "--strict"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("breaks rules") && refused.stderr.contains(warning), "{refused:?}");
    assert_eq!(refused.stderr.matches("indexed.spvasm:").count(), 1, "{refused:?}");
    if !device() {
        return;
    }
    let passes = check("indexed.spvasm", INDEXED, &["--workgroups", "1"]);
    assert_eq!(passes.code, 0, "{passes:?}");
    assert!(passes.stdout.contains("warning: ") && passes.stdout.contains(warning), "{passes:?}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let planted =
        ["--workgroups", "1", "--target-env", "vulkan1.2", "--mutate", "off-by-one@OpIMul", "--no-trace", "--out"];
    let fails = check("indexed.spvasm", INDEXED, &[&planted[..], &[out.to_str().unwrap()]].concat());
    assert_eq!(fails.code, 1, "{fails:?}");
    let read = |name: &str| std::fs::read_to_string(out.join("bundle").join(name)).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&read("bundle.json")).unwrap();
    assert_eq!(manifest["target_env"], "vulkan1.2");
    assert!(read("shader.spvasm").contains("; Version: 1.5\n"));
    let again = assay(&["repro", out.join("bundle").to_str().unwrap()]);
    assert!(again.stdout.contains("reproduced, with the same bits"), "{again:?}");
}
