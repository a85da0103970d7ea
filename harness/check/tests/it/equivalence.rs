//! Tests of the equivalence check of two translations.

use crate::support::{SyntheticTarget, on_words, spirv, wgsl};
use assay_check::{
    Check, CompileOptions, Expectation, ImageConfig, Options, ShaderSource, check_equivalence, interpret_only,
    load_translation, translation_options,
};
use assay_events::{CheckResult, Status};
use assay_testkit::Shader;

fn shader(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
         @group(0) @binding(1) var<storage, read_write> whole: array<u32>;
         @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
    )
}

/// Returns the result of checking `other` against `this` with options.
fn check_against(this: &ShaderSource, other: &ShaderSource, options: &Options) -> CheckResult {
    let check = Check::new(this, options).unwrap();
    let other = Check::new(other, &translation_options(&check, other, options)).unwrap();
    check_equivalence(&check, &other, &SyntheticTarget::default()).unwrap()
}

/// Returns the status of checking the second body against the first.
fn status_of(first: &str, second: &str) -> Status {
    let options = Options { rounds: 1, ..Options::default() };
    check_against(&wgsl(&shader(first)), &wgsl(&shader(second)), &options).status
}

#[test]
fn equal_or_smaller_permitted_sets_pass() {
    let both = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u;";
    let shift = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] << 3u;";
    assert_eq!(status_of(both, both), Status::Pass);
    assert_eq!(status_of(both, shift), Status::Pass);
}

#[test]
fn disjoint_permitted_sets_fail_and_larger_ones_warn() {
    let product = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u;";
    let other = "data[id.x] = data[id.x] * 3.0; whole[id.x] = whole[id.x] * 8u + 1u;";
    let wider = "data[id.x] = exp2(data[id.x] / 8.0); whole[id.x] = whole[id.x] * 8u;";
    assert_eq!(status_of(product, other), Status::Fail);
    assert_eq!(status_of(product, wider), Status::Fail);
    // Two operations may round separately; an exact doubling may not.
    let exact = "data[id.x] = data[id.x] * 2.0;";
    let loose = "data[id.x] = data[id.x] * 3.0 - data[id.x];";
    assert_eq!(status_of(exact, exact), Status::Pass);
    assert_eq!(status_of(loose, loose), Status::Pass);
    assert_eq!(status_of(exact, loose), Status::QualityWarning);
}

/// By the letter of the specification, bit-preserving operations need not keep the sign of zero.
#[test]
fn a_difference_only_under_literal_copies_is_not_a_failure() {
    let signed = "data[id.x] = bitcast<f32>(whole[id.x] & 0x80000000u);";
    assert_eq!(status_of(signed, "data[id.x] = bitcast<f32>(whole[id.x] & 0u);"), Status::Pass);
    assert_eq!(status_of(signed, "data[id.x] = bitcast<f32>(whole[id.x] & 1u);"), Status::Fail);
    let magnitude = "let x = data[id.x]; data[id.x] = select(x, -x, x < 0.0);";
    assert_eq!(status_of(magnitude, "data[id.x] = abs(data[id.x]);"), Status::Pass);
}

/// For a number as well as for a set.
#[test]
fn a_result_permitted_by_a_lenient_reading_is_not_a_failure() {
    let shader = |body: &str| {
        wgsl(&format!(
            "@group(0) @binding(0) var texels: texture_2d<f32>;
             @group(0) @binding(1) var<storage, read_write> data: array<f32>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ data[id.x] = {body}; }}"
        ))
    };
    let texel = shader("textureLoad(texels, vec2(0, 0), 0).x");
    let form = ImageConfig { size: Some(vec![1, 1]), format: Some("Rgba8".into()), ..ImageConfig::default() };
    let options = Options {
        images: vec![("texels".parse().unwrap(), form)],
        inputs: vec![("texels".parse().unwrap(), "=60".parse().unwrap())],
        ..Options::default()
    };
    assert_eq!(check_against(&texel, &texel, &options).status, Status::Pass);
    // 60/255 is 0x3e70f0f1, rounded to nearest.
    for (body, status) in [
        ("bitcast<f32>(0x3e70f0f1u)", Status::Pass),
        ("bitcast<f32>(0x3e70f0f5u + (id.x & 0u))", Status::QualityWarning),
        ("bitcast<f32>(0x3e70f0f8u + (id.x & 0u)) * exp2(0.0 * f32(id.x))", Status::QualityWarning),
        ("bitcast<f32>(0x3e80f0f8u + (id.x & 0u)) * exp2(0.0 * f32(id.x))", Status::Fail),
    ] {
        let result = check_against(&texel, &shader(body), &options);
        assert_eq!(result.status, status, "{body}: {:?}", result.mismatches.first());
    }
}

/// An element that only the first module constrains is a warning; an element that is only read is
/// not a result.
#[test]
fn an_element_without_requirements_does_not_pass() {
    let one = "let x = data[id.x]; data[id.x] = 5.0;";
    let open = "let x = data[id.x]; data[id.x] = (x * 0.0) / (x * 0.0);";
    let (one, open) = (wgsl(&shader(one)), wgsl(&shader(open)));
    let options = Options { rounds: 1, ..Options::default() };
    let wider = check_against(&one, &open, &options);
    assert_eq!((wider.status, wider.elements_checked), (Status::QualityWarning, 128));
    assert_eq!(wider.mismatches[0].got, "anything");

    let read = shader("data[id.x] = f32(whole[id.x]) * 0.0 / (f32(whole[id.x]) * 0.0);").replacen(
        "read_write> whole",
        "read> whole",
        1,
    );
    let five = shader("data[id.x] = 5.0 + 0.0 * f32(whole[id.x]);").replacen("read_write> whole", "read> whole", 1);
    let nothing = check_against(&wgsl(&read), &wgsl(&five), &options);
    assert_eq!((nothing.status, nothing.elements_checked), (Status::Undetermined, 0), "{:?}", nothing.reason);
}

/// A shader that stores one float, under rules that preserve NaN.
fn stores(value: &str) -> ShaderSource {
    spirv(&Shader {
        head: "OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\"",
        modes: "OpExecutionMode %main SignedZeroInfNanPreserve 32",
        buffers: &[("%data", "%fblocks")],
        declared: "%f0 = OpConstant %float 0\n%f1 = OpConstant %float 1",
        body: &format!(
            "%to = OpAccessChain %pfloat %data %zero %zero
            %nan = OpFDiv %float %f0 %f0
            OpStore %to {value}"
        ),
        ..Shader::default()
    })
}

#[test]
fn a_nan_is_not_within_a_set_of_numbers() {
    let (one, nan) = (stores("%f1"), stores("%nan"));
    let options = Options { groups: Some([1; 3]), ..Options::default() };
    for (this, other, status) in
        [(&one, &nan, Status::Fail), (&nan, &one, Status::Fail), (&one, &one, Status::Pass), (&nan, &nan, Status::Pass)]
    {
        let result = check_against(this, other, &options);
        assert_eq!(result.status, status, "{result:?}");
    }
}

/// Two translations that write nothing are not equivalent.
#[test]
fn translations_that_write_nothing_are_not_equivalent() {
    let (this, other) = ("if whole[id.x] > 100u { data[id.x] = 5.0; }", "if whole[id.x] > 100u { data[id.x] = 6.0; }");
    let (this, other) = (shader(this), shader(other));
    let options = |value: &str| Options {
        inputs: vec![("whole".parse().unwrap(), value.parse().unwrap())],
        rounds: 1,
        ..Options::default()
    };
    let result = check_against(&wgsl(&this), &wgsl(&other), &options("ones"));
    assert_eq!(result.status, Status::Undetermined, "{result:?}");
    assert!(result.reason.unwrap().contains("wrote none of "));
    assert_eq!(check_against(&wgsl(&this), &wgsl(&other), &options("=200")).status, Status::Fail);
}

/// Expected values are compared with the permitted sets of the first shader.
#[test]
fn expected_values_are_compared_with_the_oracle() {
    let text = shader("data[id.x] = f32(whole[id.x]) + 0.5; data[id.x + 128u] = log(-1.0 - f32(whole[id.x]));");
    let shader = wgsl(&text);
    let with = |expected: &[(&str, &str)]| {
        let expectation = |(element, value): &(&str, &str)| Expectation {
            binding: "data".into(),
            element: (*element).to_owned(),
            value: (*value).to_owned(),
        };
        let options = Options {
            rounds: 1,
            groups: Some([2, 1, 1]),
            inputs: vec![("whole".parse().unwrap(), "index".parse().unwrap())],
            elements: vec![(None, 256)],
            expectations: expected.iter().map(expectation).collect(),
            ..Options::default()
        };
        let result = check_against(&shader, &shader, &options);
        let told = result.notes.iter().find(|note| note.contains("the case file's expectations"));
        (result.status, told.cloned().unwrap_or_default(), result)
    };
    let (status, told, _) = with(&[("[3]", "3.5"), ("[4]", "4..5")]);
    assert!(
        told.starts_with("the case file's expectations, counted in each round: 2 of 2 permitted by test.wgsl"),
        "{told}"
    );
    assert_eq!(status, Status::Pass);
    let (status, told, result) = with(&[("[3]", "3.5"), ("[4]", "4.25"), ("[130]", "7")]);
    assert!(told.contains(": 1 of 3 ") && told.contains("1 is not, 1 names an undetermined element"), "{told}");
    assert_eq!((status, result.elements_failing), (Status::Fail, 1));
    assert!(result.fails_only_the_case(), "{result:?}");
    assert!(
        result.reason.as_deref().unwrap().starts_with("1 expectation of the case file cannot be met"),
        "{result:?}"
    );
    let first = &result.mismatches[0];
    assert_eq!((first.element.as_str(), first.by.as_str(), first.got.as_str()), ("[4]", "case", "0x40900000"));
    assert_eq!(first.permitted, [["0x40880000".to_owned(), "0x40880000".to_owned()]]);
    // An expectation that the oracle cannot decide is not met.
    let (status, told, result) = with(&[("[130]", "7")]);
    assert!(told.contains(": 0 of 1 ") && told.contains("1 names an undetermined element"), "{told}");
    assert_eq!(status, Status::Undetermined, "{result:?}");
}

/// A value that an element has before the dispatch says nothing of a shader that does not write it.
#[test]
fn an_expectation_of_an_element_that_nothing_writes_is_not_a_pass() {
    let shader = wgsl(&shader("if (whole[id.x] > 1000000u) { data[id.x] = 1.0; }"));
    let options = |value: &str| Options {
        rounds: 1,
        groups: Some([2, 1, 1]),
        inputs: vec![
            ("whole".parse().unwrap(), "zeros".parse().unwrap()),
            ("data".parse().unwrap(), "zeros".parse().unwrap()),
        ],
        expectations: vec![Expectation { binding: "data".into(), element: "[0]".into(), value: value.to_owned() }],
        ..Options::default()
    };
    let result = check_against(&shader, &shader, &options("0"));
    assert_eq!(result.status, Status::Undetermined, "{result:?}");
    assert!(result.notes.iter().any(|note| note.contains("1 names an element that nothing writes")), "{result:?}");
    assert_eq!(check_against(&shader, &shader, &options("1")).status, Status::Fail);
}

/// A translation that lost a guard: the round that shows it is reported.
#[test]
fn undefined_behaviour_that_a_translation_adds_is_reported() {
    let guarded = "var i = whole[id.x]; if (i >= 64u) { i = 0u; } data[id.x] = f32(whole[i]);";
    let bare = "var i = whole[id.x]; data[id.x] = f32(whole[i]);";
    let readable = |text: &str| wgsl(&shader(text).replacen("read_write> whole", "read> whole", 1));
    let (guarded, bare) = (readable(guarded), readable(bare));
    let mut options = Options { groups: Some([2, 1, 1]), ..Options::default() };
    let result = check_against(&guarded, &bare, &options);
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(result.reason.unwrap().contains("has undefined behaviour"));
    assert!(
        result.unjudged.iter().any(|one| one.why.contains("test.wgsl has undefined behaviour: ")),
        "{:?}",
        result.unjudged
    );
    options.inputs.push(("whole".parse().unwrap(), "zeros".parse().unwrap()));
    assert_eq!(check_against(&guarded, &bare, &options).status, Status::Pass);
}

/// Constants get the same values in both modules, whatever their names in the other.
#[test]
fn both_translations_get_the_same_constants() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, text: &str, this: &Check<'_>, options: &Options| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        load_translation(&path, this, options).unwrap()
    };
    let text = |declared: &str| {
        format!(
            "{declared}
             @group(0) @binding(0) var<storage, read_write> data: array<f32>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ data[id.x] *= scale; }}"
        )
    };
    let numbered = text("@id(7) override scale: f32 = 3; override other: u32 = 1;");
    let specs = [("7", "5"), ("other", "2")].map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let compile = CompileOptions { specs, ..CompileOptions::default() };
    let this = ShaderSource::read_with("this.wgsl", numbered.as_bytes(), &compile).unwrap();
    let options = Options::default();
    let check = Check::new(&this, &options).unwrap();
    let status_against = |other: &ShaderSource| {
        let theirs = Check::new(other, &translation_options(&check, other, &options)).unwrap();
        check_equivalence(&check, &theirs, &SyntheticTarget::default()).unwrap().status
    };
    for (declared, status) in [
        ("@id(7) override scale: f32 = 3; override other: u32 = 1;", Status::Pass),
        ("@id(7) override scale: f32;", Status::Pass),
        ("override scale: f32 = 3;", Status::Pass),
        ("const scale = 5.0;", Status::Pass),
        ("const scale = 3.0;", Status::Fail),
    ] {
        assert_eq!(status_against(&read("other.wgsl", &text(declared), &check, &options)), status, "{declared}");
    }
}

/// A translation may lack names, constants and images of the original.
#[test]
fn options_for_resources_that_a_translation_lacks_are_left_out() {
    let source = |entry: &str, names: &str, factor: &str| {
        let body = "%to = OpAccessChain %puint %data %zero %zero
            %old = OpLoad %uint %to
            %new = OpIMul %uint %old %factor
            OpStore %to %new";
        let text = Shader { modes: names, ..on_words(1, factor, "", body) }.text();
        ShaderSource::read("test.spvasm", text.replace("\"main\"", &format!("\"{entry}\"")).as_bytes()).unwrap()
    };
    let names = "OpName %factor \"scale\"\nOpName %data \"data\"\nOpDecorate %factor SpecId 4";
    let this = source("main", names, "%factor = OpSpecConstant %uint 3");
    let options = Options {
        entry: Some("main".into()),
        groups: Some([1; 3]),
        specs: vec![("scale".into(), "9".into())],
        inputs: vec![("data".parse().unwrap(), "=2".parse().unwrap())],
        ..Options::default()
    };
    let stripped = source("other", "OpDecorate %factor SpecId 4", "%factor = OpSpecConstant %uint 3");
    assert_eq!(check_against(&this, &stripped, &options).status, Status::Pass);
    let folded = |factor: u32| source("other", "", &format!("%factor = OpConstant %uint {factor}"));
    assert_eq!(check_against(&this, &folded(9), &options).status, Status::Pass);
    assert_eq!(check_against(&this, &folded(3), &options).status, Status::Fail);

    let shader = |body: &str| {
        wgsl(&format!(
            "@group(0) @binding(0) var texels: texture_2d<f32>;
             @group(0) @binding(1) var nearest: sampler;
             @group(0) @binding(2) var<storage, read_write> data: array<f32>;
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 let zeros = textureSampleLevel(texels, nearest, vec2(0.5), 0.0).x * 0.0;
                 data[id.x] = {body};
             }}"
        ))
    };
    let options = Options {
        images: vec![("texels".parse().unwrap(), ImageConfig { size: Some(vec![1, 1]), ..ImageConfig::default() })],
        samplers: vec![("nearest".parse().unwrap(), Default::default())],
        ..Options::default()
    };
    let this = shader("select(2.0, 2.0, zeros > 1.0)");
    let other = wgsl(
        "@group(0) @binding(2) var<storage, read_write> data: array<f32>;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = 2.0; }",
    );
    assert_eq!(check_against(&this, &other, &options).status, Status::Pass);
}

/// Only the second round has very large floats.
#[test]
fn undefined_behaviour_of_one_round_is_told_without_a_device() {
    let text = |at: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> source: array<f32>;
            @group(0) @binding(1) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                if abs(source[id.x]) > 1e30 {{ data[{at}] = id.x; }}
            }}"
        )
    };
    let reason = |text: &str| {
        let shader = wgsl(text);
        let check = Check::new(&shader, &Options { rounds: 2, ..Options::default() }).unwrap();
        interpret_only(&check, &SyntheticTarget::default()).unwrap().reason.unwrap_or_default()
    };
    let racing = reason(&text("id.x / 64u"));
    let what = "no device ran; the shader has undefined behaviour with the inputs of 1 of 2 rounds: test.wgsl:4:";
    assert!(racing.starts_with(what) && racing.contains("data race on set 0 binding 1"), "{racing}");
    assert_eq!(reason(&text("id.x")), "no device ran; the shader has no undefined behaviour with these inputs");
}

/// The device's verdict would be a QualityWarning, too.
#[test]
fn a_benign_race_is_told_without_a_device() {
    let shader = wgsl(&shader("data[0] = 7.0;"));
    let interpreted = |expectations: Vec<Expectation>| {
        let options = Options { rounds: 1, benign_races: true, expectations, ..Options::default() };
        let check = Check::new(&shader, &options).unwrap();
        interpret_only(&check, &SyntheticTarget::default()).unwrap()
    };
    let seven = Expectation { binding: "data".into(), element: "[0]".into(), value: "7".into() };
    for (expectations, status) in [(vec![seven], Status::QualityWarning), (Vec::new(), Status::Undetermined)] {
        let result = interpreted(expectations);
        let reason = result.reason.unwrap_or_default();
        assert_eq!(result.status, status, "{reason}");
        assert!(reason.contains("benign races are undefined behaviour"), "{reason}");
    }
}
