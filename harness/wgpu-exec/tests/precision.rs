//! Precision cases through wgpu on the installed drivers; skipped if there are none.

use assay_case::{Case, Columns, OperandSource};
use assay_events::Status;
use assay_exec::{ExecError, Executor};
use assay_precision::{CheckCounts, Checker, Specification, Verdict};
use assay_testkit::Shader;
use assay_vulkan::Instance;
use assay_wgpu_exec::{CaseBuffer, WgpuDevice, WgpuExecutor, WgpuTarget, shader, to_wgsl};
use std::collections::BTreeMap;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Returns an executor for every device.
fn executors() -> Vec<WgpuExecutor> {
    let devices = Instance::new(false).and_then(|instance| instance.devices()).unwrap_or_default();
    if devices.is_empty() {
        assay_testkit::skip_missing("no Vulkan device");
    }
    let open = |device| {
        let device = WgpuDevice::of(device, &devices).expect("wgpu offers every device that Vulkan lists here");
        WgpuExecutor::new(device, LIMIT).expect("wgpu opens it")
    };
    devices.iter().map(open).collect()
}

fn cases() -> BTreeMap<String, Case> {
    assay_case::load().expect("cases").into_iter().map(|case| (case.name.clone(), case)).collect()
}

/// Returns the operands and results of a case for some rows of operands.
fn run(executor: &dyn Executor, case: &Case, rows: &[Vec<u64>]) -> Result<(Columns, Columns), ExecError> {
    let mut operands = Columns::new(case.call.operand_slots(), rows.len());
    let mut results = Columns::new(case.call.result_slots(), rows.len());
    operands.set_rows(rows.len());
    rows.iter().enumerate().for_each(|(at, row)| operands.set_row(at, row));
    executor.build(case, rows.len(), None)?.run(&operands, &mut results)?;
    Ok((operands, results))
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

/// One case for each instruction, on few operands: wgpu accepts the text, and results arrive in the
/// right positions.
#[test]
fn every_instruction_of_wgsl_runs_and_what_comes_back_is_in_its_place() {
    let cases = cases();
    for executor in executors() {
        let mut ran = 0;
        for case in
            cases.values().filter(|case| case.source == OperandSource::Buffer && case.name.ends_with(".default"))
        {
            let Ok(case) = to_wgsl(case) else { continue };
            // For each instruction scalars, and the largest shapes, which have the most positions.
            let whole = ["scalar", "vec4", "mat3x4", "mat4x4", "vec3"].contains(&case.shape.to_string().as_str());
            if !whole || executor.missing(&case).is_some() {
                continue;
            }
            let slots: Vec<_> = case.call.operand_slots().collect();
            let rows: Vec<Vec<u64>> = (0..3u64)
                .map(|row| {
                    let value = |(k, slot): (usize, &assay_precision::Scalar)| match slot.format() {
                        // Between one half and one, different in every position.
                        Some(f) => (f.rank_of_one() as u64 - 1) - ((row * 31 + k as u64 * 7) << (f.fraction_bits - 8)),
                        None => (row + 2 + k as u64) & 1 | 2,
                    };
                    slots.iter().enumerate().map(value).collect()
                })
                .collect();
            let (operands, results) = match run(&executor, &case, &rows) {
                Ok(ran) => ran,
                // naga 30 gives the exponent of a half 16 bits, the specification 32.
                Err(ExecError::Pipeline(what)) if case.name.starts_with("precision.f16.frexpstruct.") => {
                    assert!(what.contains("wgpu refuses valid WGSL") && what.contains("result.exp"), "{what}");
                    continue;
                }
                Err(error) => panic!("{}: {error}", case.name),
            };
            let mut counts = CheckCounts::default();
            let (given, got) = (operands.columns(0, operands.rows()), results.columns(0, results.rows()));
            Checker::new(case.call.clone()).check(&given, &got, &mut counts);
            assert_eq!(counts.failing_inputs, 0, "{} on {}: {:?}", case.name, executor.info().name, counts.examples);
            ran += 1;
        }
        assert!(ran > 120, "{ran} cases on {}", executor.info().name);
    }
}

#[test]
fn conversions_saturate_and_exchanged_limits_are_defined() {
    let cases = cases();
    for executor in executors() {
        let judged = |name: &str, rows: &[Vec<u64>]| -> Vec<(u64, Verdict)> {
            let case = to_wgsl(&cases[name]).expect("WGSL has it");
            let (_, results) = run(&executor, &case, rows).expect("it runs");
            let mut got = vec![0];
            rows.iter()
                .enumerate()
                .map(|(row, operands)| {
                    results.row(row, &mut got);
                    (got[0], case.call.judge(operands, &got)[0].verdict)
                })
                .collect()
        };
        let far = judged("precision.u32.convertftou.scalar.default.from_f32", &[vec![bits(1e20)], vec![bits(-5.0)]]);
        assert_eq!(far, [(4_294_967_040, Verdict::Pass), (0, Verdict::Pass)], "{}", executor.info().name);
        let limits = judged("precision.i32.sclamp.scalar.default", &[vec![7, 9, 3], vec![1, 9, 3]]);
        assert!(limits.iter().all(|(_, verdict)| *verdict == Verdict::Pass), "{limits:?}");
    }
}

#[test]
fn a_device_is_the_one_that_vulkan_lists() {
    for executor in executors() {
        let info = executor.info();
        assert_eq!(info.api, "wgpu");
        let plain = info.name.strip_suffix(", wgpu").expect("the API is a part of the name");
        let again = WgpuDevice::select(Some(plain)).expect("the same name selects it");
        assert_eq!(again.info(), info);
        assert_eq!(info.properties["wgpu"], assay_wgpu_exec::WGPU_VERSION);
    }
}

#[test]
fn cases_that_cannot_run_through_wgpu_have_a_reason() {
    let cases = cases();
    let why = |name: &str| to_wgsl(&cases[name]).expect_err(name).to_string();
    for (name, expected) in [
        ("precision.f64.fadd.scalar.default", "it has no f64"),
        ("precision.f32.fadd.scalar.rounding_mode_rte", "declares no floating-point modes"),
        ("precision.f32.fmod.scalar.default", "rounds down"),
        ("precision.f32.fadd.scalar.default.constant", "operands from a constant"),
        ("precision.f32.isnan.scalar.default", "no classification"),
        ("precision.i16.sabs.scalar.default", "it has no i16"),
    ] {
        assert!(why(name).contains(expected), "{name}: {}", why(name));
    }
    for executor in executors() {
        let case = &cases["precision.f64.fadd.scalar.default"];
        assert!(executor.missing(case).is_some_and(|why| why.contains("f64")));
        // A case that WGSL can express does not run before it is translated.
        assert!(executor.missing(&cases["precision.f32.fadd.scalar.default"]).is_some());
        let half = to_wgsl(&cases["precision.f16.fadd.scalar.default"]).expect("WGSL has it");
        let missing = executor.missing(&half);
        assert_eq!(missing.is_none(), executor.device().has_f16(), "{missing:?}");
    }
}

#[test]
fn a_shader_is_what_a_person_would_write() {
    let case = to_wgsl(&cases()["precision.f32.modfstruct.scalar.default"]).expect("WGSL has it");
    assert_eq!(case.call.specification, Specification::Wgsl);
    let written = shader(&case, 64).expect("a shader");
    assert_eq!(written.bindings, [CaseBuffer::Operands, CaseBuffer::Results]);
    let body: Vec<&str> = written.text.lines().map(str::trim).skip_while(|line| !line.starts_with("let x")).collect();
    let expected = [
        "let x = bitcast<f32>(operands[0u + row]);",
        "let result = modf(x);",
        "results[0u + row] = bitcast<u32>(result.fract);",
        "results[64u + row] = bitcast<u32>(result.whole);",
        "}",
    ];
    assert_eq!(body, expected);
    // Halves always have bindings of their own.
    let half = to_wgsl(&cases()["precision.f16.frexpstruct.scalar.default"]).expect("WGSL has it");
    let written = shader(&half, 64).expect("a shader");
    assert_eq!(written.bindings, [CaseBuffer::Results, CaseBuffer::OperandHalves, CaseBuffer::ResultHalves]);
    for line in ["let x = operand_halves[0u + 2u * row];", "result_halves[0u + 2u * row] = result.fract;"] {
        assert!(written.text.contains(line), "{}", written.text);
    }
    assert!(written.text.contains("results[64u + row] = bitcast<u32>(result.exp);"), "{}", written.text);
}

/// WGSL with buffers, textures and samplers, through the same check as for Vulkan devices.
#[test]
fn shaders_are_checked_and_a_wrong_one_is_found() {
    use assay_check::{Check, Options, ShaderSource};
    const TEXT: &str = "
        @group(0) @binding(0) var<storage, read_write> sums: array<f32>;
        @group(0) @binding(1) var picture: texture_2d<f32>;
        @group(0) @binding(2) var<uniform> scale: vec4<f32>;
        @group(0) @binding(3) var result: texture_storage_2d<rgba32float, write>;
        @group(1) @binding(0) var<storage, read> given: array<vec4<f32>>;
        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let texel = textureLoad(picture, id.xy, 0);
            sums[id.x] = dot(given[id.x], texel) * scale.x;
            textureStore(result, id.xy, texel);
        }";
    let devices = Instance::new(false).and_then(|instance| instance.devices()).unwrap_or_default();
    let subject = ShaderSource::read("shader.wgsl", TEXT.as_bytes()).expect("a shader");
    for physical in &devices {
        let device = WgpuDevice::of(physical, &devices).expect("a device");
        let caps = physical.capabilities().device_caps();
        let target = WgpuTarget::new(device, caps, LIMIT).expect("opened").with_spirv();
        let options = Options { rules: Specification::Wgsl, ..Options::default() };
        let check = Check::new(&subject, &options).expect("ready");
        let result = check.run(&target).expect("checked");
        assert_eq!(result.status, Status::Pass, "{:?} {:?}", result.reason, result.mismatches.first());
        assert!(result.elements_checked > 20, "{result:?}");
        // The device runs another shader than the one that is checked.
        let spoilt =
            ShaderSource::read("shader.wgsl", TEXT.replace("* scale.x", "+ scale.x").as_bytes()).expect("a shader");
        let wrong = Check::new(&spoilt, &options)
            .expect("ready")
            .run(&OtherShader { target: &target, text: TEXT, overrides: None })
            .expect("checked");
        assert_eq!(wrong.status, Status::Fail, "{:?}", wrong.reason);
        assert!(wrong.mismatches.iter().all(|m| m.buffer.contains("sums")), "{:?}", wrong.mismatches.first());
    }
}

/// Overrides of WGSL and specialisation constants of SPIR-V keep their values through wgpu.
#[test]
fn constants_that_a_pipeline_sets_reach_the_device() {
    use assay_check::{Check, CheckError, CompileOptions, Options, ShaderSource};
    const TEXT: &str = "
        override scale: f32 = 3.0;
        @id(7) override more: i32;
        override lanes: u32 = 8;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(lanes)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = f32(id.x) * scale + f32(more); }";
    const SPIRV: Shader<'_> = Shader {
        version: "1.3",
        buffers: &[("%buffer", "%blocks")],
        decorations: "OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpDecorate %given SpecId 3",
        declared: "%given = OpSpecConstant %int 5
            %block = OpTypeStruct %int
            %blocks = OpTypePointer StorageBuffer %block
            %pint = OpTypePointer StorageBuffer %int",
        body: "%word = OpAccessChain %pint %buffer %zero
            OpStore %word %given",
        ..Shader::DEFAULT
    };
    let given = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let dir = std::env::temp_dir().join(format!("assay-overrides-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let file = dir.join("shader.wgsl");
    std::fs::write(&file, TEXT).expect("written");
    let load = |all: &[(&str, &str)]| {
        ShaderSource::load(&file, &CompileOptions { specs: given(all), ..CompileOptions::default() })
    };
    for (wrong, what) in [
        (&[("7", "1"), ("scales", "1")][..], "no override `scales`; the shader has scale, 7, lanes"),
        (&[("7", "many")], "override `7`: `many` is not a finite number"),
        (&[("7", "1e30")], "doesn't fit"),
    ] {
        let error: CheckError = load(wrong).expect_err("it is wrong");
        assert!(error.to_string().contains(what), "{error}");
    }
    let subject = load(&[("7", "-2"), ("scale", "0.5"), ("lanes", "4")]).expect("a shader");
    std::fs::remove_dir_all(&dir).expect("removed");
    let words = ShaderSource::read("shader.spvasm", SPIRV.text().as_bytes()).expect("a shader");
    let devices = Instance::new(false).and_then(|instance| instance.devices()).unwrap_or_default();
    for physical in &devices {
        let device = WgpuDevice::of(physical, &devices).expect("a device");
        let target =
            WgpuTarget::new(device, physical.capabilities().device_caps(), LIMIT).expect("opened").with_spirv();
        let options = Options { rules: Specification::Wgsl, ..Options::default() };
        let check = Check::new(&subject, &options).expect("ready");
        assert_eq!(check.setup.local, [4, 1, 1]);
        let result = check.run(&target).expect("checked");
        assert_eq!((result.status, result.elements_failing), (Status::Pass, 0), "{:?}", result.reason);
        // With the default values, the device computes other results.
        let compile = CompileOptions { specs: given(&[("7", "0")]), ..CompileOptions::default() };
        let other = ShaderSource::read_with("other.wgsl", TEXT.as_bytes(), &compile).expect("a shader");
        let wrong = Check::new(&other, &options).expect("ready");
        let overrides = &subject.overrides;
        let wrong =
            wrong.run(&OtherShader { target: &target, text: TEXT, overrides: Some(overrides) }).expect("checked");
        assert_eq!(wrong.status, Status::Fail, "{:?}", wrong.reason);
        let options = Options { specs: given(&[("3", "-9")]), groups: Some([1, 1, 1]), ..options };
        let result = Check::new(&words, &options).expect("ready").run(&target).expect("checked");
        assert_eq!(result.status, Status::Pass, "{:?} {:?}", result.reason, result.mismatches.first());
    }
}

/// A dispatch that exceeds the time limit is a timeout, and the next one finds the device open
/// again.
#[test]
fn a_dispatch_over_the_time_limit_is_a_timeout() {
    use assay_check::{Check, Options, ShaderSource};
    // Drivers may end loops after 65,535 rounds in total, so most of the work is in the body of one
    // round.
    const STEP: &str = "x = (x ^ (x << 13u)) * 1664525u + k;\n";
    let slow = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(256)
        fn main(@builtin(local_invocation_id) id: vec3<u32>) {{
            var x = data[0] + id.x;
            for (var k = 0u; k < 60000u; k++) {{
                {}
            }}
            if id.x == 0u {{ data[0] = x; }}
        }}",
        STEP.repeat(200)
    );
    const QUICK: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1) fn main() { data[0] = 7u; }";
    let devices = Instance::new(false).and_then(|instance| instance.devices()).unwrap_or_default();
    let quick = ShaderSource::read("quick.wgsl", QUICK.as_bytes()).expect("a shader");
    for physical in &devices {
        let device = WgpuDevice::of(physical, &devices).expect("a device");
        let caps = physical.capabilities().device_caps();
        let limit = Duration::from_millis(20);
        let target = WgpuTarget::new(device, caps, limit).expect("opened");
        let options = Options { rules: Specification::Wgsl, groups: Some([1, 1, 1]), ..Options::default() };
        let check = Check::new(&quick, &options).expect("ready");
        let slow = check.run(&OtherShader { target: &target, text: &slow, overrides: None }).expect("checked");
        assert_eq!(slow.status, Status::Timeout, "{:?}", slow.reason);
        // A busy machine may not compile it in the limit of that, which is five times as long.
        let reason = slow.reason.unwrap_or_default();
        assert!(reason.contains("0.02 s") || reason.contains("0.1 s"), "{reason}");
    }
}

/// `pack4xU8` does not require the capability `Int8`: naga avoids it if wgpu requests that.
#[test]
fn bytes_are_asked_of_devices_that_have_them_only() {
    use assay_check::{Check, Options, ShaderSource};
    use assay_events::DeviceInfo;
    use assay_spirv::Module;
    use assay_spirv::tables::{Capability, Op};
    use assay_wgpu_exec::{NagaInput, naga_spirv};
    const PACKS: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1) fn main() { data[0] = pack4xU8(unpack4xU8(data[0]) + vec4(1u)); }";
    let dot = PACKS.replace("vec4(1u)", "vec4(dot4U8Packed(data[0], 3u))");
    let dot = ShaderSource::read("dot.wgsl", dot.as_bytes()).expect("a shader");
    let declares = |module: &Module, capability: Capability| {
        let declared = module.instructions().filter(|i| i.op == Some(Op::Capability));
        declared.into_iter().any(|i| i.operand(0) == Some(capability as u32))
    };
    let subject = ShaderSource::read("packs.wgsl", PACKS.as_bytes()).expect("a shader");
    assert!(!declares(&subject.source.module, Capability::Int8));
    let devices = Instance::new(false).and_then(|instance| instance.devices()).unwrap_or_default();
    for physical in &devices {
        let device = WgpuDevice::of(physical, &devices).expect("a device");
        for features in [&[][..], &["shaderInt8"], &["shaderIntegerDotProduct", "shaderInt8"]] {
            let features: Vec<String> = features.iter().map(|name| (*name).to_owned()).collect();
            let info = DeviceInfo { features: features.clone(), ..device.info().clone() };
            let words = naga_spirv(NagaInput::Wgsl(dot.wgsl().expect("WGSL")), &info).expect("translated");
            let module = Module::parse(words).expect("a module");
            for (capability, feature) in
                [(Capability::Int8, "shaderInt8"), (Capability::DotProduct, "shaderIntegerDotProduct")]
            {
                let has = features.iter().any(|name| name == feature);
                assert_eq!(declares(&module, capability), has, "{feature} of {features:?}");
            }
        }
        let caps = physical.capabilities().device_caps();
        let target = WgpuTarget::new(device, caps, Duration::from_secs(20)).expect("opened");
        let options = Options { rules: Specification::Wgsl, groups: Some([1; 3]), ..Options::default() };
        let result = Check::new(&subject, &options).expect("ready").run(&target).expect("checked");
        assert_eq!(result.status, Status::Pass, "{:?}", result.reason);
    }
}

/// A target that runs another text.
struct OtherShader<'a> {
    target: &'a WgpuTarget,
    text: &'a str,
    /// OtherShader values of overrides.
    overrides: Option<&'a [(String, f64)]>,
}

impl assay_exec::Target for OtherShader<'_> {
    fn info(&self) -> &assay_events::DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &assay_spirv_rules::requirements::DeviceCaps {
        self.target.capabilities()
    }

    fn run(
        &self,
        request: &assay_exec::DispatchRequest<'_>,
    ) -> Result<assay_exec::DispatchOutput, assay_exec::TargetError> {
        let wgsl = request
            .wgsl
            .map(|wgsl| assay_exec::Wgsl { text: self.text, overrides: self.overrides.unwrap_or(wgsl.overrides) });
        self.target.run(&assay_exec::DispatchRequest { wgsl, ..*request })
    }
}
