//! Tests of buffers that shaders reach by device addresses.

use crate::support::{SyntheticTarget, on_each_driver};
use assay_check::{
    AddressWord, BundleDestination, CaseFile, Check, CheckError, CheckSession, CompileOptions, MutatingTarget,
    Mutation, Options, ReductionLimits, SessionOutput, ShaderSource, bundle, reduce,
};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_spirv_rules::requirements::Requirements;
use std::path::Path;
use std::time::Duration;

const LIST: (&str, &str) = (
    include_str!("../../../../shaders/compute/address/linked_list.spvasm"),
    include_str!("../../../../shaders/compute/address/linked_list.toml"),
);

/// As [`LIST`], with pointers in place of integers, declared before the type that they point to.
const POINTERS: (&str, &str) = (include_str!("list_by_pointer.spvasm"), LIST.1);

/// A shader that every tested driver supports: without 64-bit integers and forward pointers.
const ARRAY: (&str, &str) = (
    include_str!("../../../../shaders/compute/address/array_behind_pointer.spvasm"),
    include_str!("../../../../shaders/compute/address/array_behind_pointer.toml"),
);

const RECORDS: (&str, &str) = (
    include_str!("../../../../shaders/compute/address/records_by_offset.spvasm"),
    include_str!("../../../../shaders/compute/address/records_by_offset.toml"),
);

fn case((text, case): (&str, &str)) -> (ShaderSource, Options) {
    let options = CaseFile::parse("case.toml", case, Path::new("")).unwrap().options;
    (ShaderSource::read("test.spvasm", text.as_bytes()).unwrap(), options)
}

/// Returns whether a target lacks the features of a shader.
fn lacks(target: &dyn Target, shader: &ShaderSource) -> bool {
    !Requirements::of(&shader.source.module).check(target.capabilities()).may_run()
}

#[test]
fn buffers_behind_addresses_are_checked_on_every_driver() {
    for (from, elements) in [(LIST, 16), (POINTERS, 16), (RECORDS, 33 * 3), (ARRAY, 20 * 3 + 20 * 3)] {
        let (shader, options) = case(from);
        let check = Check::new(&shader, &Options { rounds: 2, ..options }).unwrap();
        let pass = |target: &dyn Target| {
            let result = check.run(target).unwrap();
            if lacks(target, &shader) {
                assert_eq!(result.status, Status::NotSupported);
                let why = result.reason.unwrap_or_default();
                return assert!(why.contains("Int64"), "{why}");
            }
            assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None), "{:?}", result.mismatches);
            assert_eq!((result.elements_checked, result.elements_undetermined), (2 * elements, 0));
        };
        pass(&SyntheticTarget::default());
        on_each_driver(|target| {
            // SwiftShader crashes on forward pointers.
            if from != POINTERS || !target.info().name.contains("SwiftShader") {
                pass(target);
            }
        });
    }
}

/// A wrong result behind an address is found, and reported with the name of the buffer.
#[test]
fn a_wrong_element_behind_an_address_is_found_and_bundled() {
    let (shader, options) = case(RECORDS);
    let check = Check::new(&shader, &options).unwrap();
    let slot = check.setup.descriptors.iter().find(|d| d.name.as_deref() == Some("wide")).unwrap().slot;
    let target = SyntheticTarget::spoilt(|output| output.memory.get_mut(&slot).unwrap()[24] ^= 1);
    let result = check.run(&target).unwrap();
    assert_eq!(result.status, Status::Fail);
    let found: Vec<_> = result.mismatches.iter().map(|m| (m.buffer.as_str(), m.element.as_str())).collect();
    assert_eq!(found, [("buffer wide", "[1].tag"), ("buffer wide", "[1].tag")]);

    let folder = tempfile::tempdir().unwrap();
    check
        .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
        .unwrap();
    let expected = std::fs::read_to_string(folder.path().join("expected.txt")).unwrap();
    assert!(expected.contains("buffer wide") && expected.contains("(not permitted)"), "{expected}");
    let manifest = std::fs::read_to_string(folder.path().join("bundle.json")).unwrap();
    assert!(manifest.contains("\"schema\": 3") && manifest.contains("\"where@8\": \"wide+16\""), "{manifest}");
    let bundle = bundle::read(folder.path(), None).unwrap();
    let again = Check::new(&bundle.shader, &bundle.options).unwrap();
    let (again, right) = (again.run(&target).unwrap(), again.run(&SyntheticTarget::default()).unwrap());
    assert_eq!((again.mismatches[0].got.as_str(), right.status), (result.mismatches[0].got.as_str(), Status::Pass));
}

#[test]
fn an_access_outside_an_addressed_buffer_is_a_fault_of_the_shader() {
    // One record too few to read, one too few to write, an offset that is one byte off, and an
    // invalid `next`.
    let cases = [
        (RECORDS, "where@0", "narrow+24", "lie in no buffer"),
        (RECORDS, "where@8", "wide+32", "lie in no buffer"),
        (RECORDS, "where@8", "wide+17", "is not aligned"),
        (LIST, "nodes@24", "nodes+96", "lie in no buffer"),
    ];
    for (from, place, value, why) in cases {
        let (shader, mut options) = case(from);
        options.addresses.push(AddressWord::parse(place, value).unwrap());
        let check = Check::new(&shader, &options).unwrap();
        let refused = |target: &dyn Target| {
            if lacks(target, &shader) {
                return;
            }
            let error = check.run(target).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, CheckError::Undefined { .. }) && text.contains(why), "{place}={value}: {text}");
        };
        refused(&SyntheticTarget::spoilt(|_| panic!("nothing is sent to a device")));
        on_each_driver(|target| refused(target));
    }
}

#[test]
fn missing_address_words_and_buffers_are_named() {
    let (shader, options) = case(LIST);
    for (place, value, why) in [
        ("push@8", "nodes", "which has 8"),
        ("push@0", "knots", "declared: nodes"),
        ("0.7@0", "nodes", "no buffer `0.7`"),
        ("nodes@96", "nodes", "which has 96"),
    ] {
        let mut options = options.clone();
        options.addresses.push(AddressWord::parse(place, value).unwrap());
        let error = Check::new(&shader, &options).unwrap_err().to_string();
        assert!(error.contains(why), "{place}={value}: {error}");
    }
    for name in ["push", "null", "sums", "a b", ""] {
        let mut options = options.clone();
        options.buffers.push((name.to_owned(), "4*u32".parse().unwrap()));
        assert!(Check::new(&shader, &options).is_err(), "{name}");
    }
}

#[test]
fn a_failure_behind_an_address_is_traced_and_reduced() {
    let (shader, options) = case(RECORDS);
    let check = Check::new(&shader, &Options { rounds: 1, ..options }).unwrap();
    let mutation: Mutation = "ulp:9@OpVectorTimesScalar".parse().unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let target = MutatingTarget::new(SyntheticTarget::default(), planted);
    let mut result = check.run(&target).unwrap();
    check.explain(&mut result, &target, false);
    assert_eq!(result.blamed.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["OpVectorTimesScalar"]);
    let reduced =
        reduce(&check, &result, &target, ReductionLimits { candidates: 120, time: Duration::from_secs(300) }).unwrap();
    assert!(reduced.instructions[1] < reduced.instructions[0]);
    assert_eq!(reduced.result.status, Status::Fail);
    assert!(!reduced.options.buffers.is_empty());
}

/// Pointers in arrays of a storage buffer, to matrices and vectors with a large alignment.
const TABLE: &str = "#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;
struct Light { mat3 m; float w[2]; };
layout(buffer_reference, std430, buffer_reference_align = 256) buffer Out { vec3 data[]; };
layout(buffer_reference, std430, buffer_reference_align = 256) readonly buffer In { Light lights[]; };
layout(std430, binding = 1) readonly buffer Table { In inputs[2]; Out outs[3]; } table;
void main() {
    uint i = gl_GlobalInvocationID.x;
    Light l = table.inputs[i & 1u].lights[i];
    table.outs[i % 3u].data[i] = l.m * vec3(l.w[0], l.w[1], 1.0);
}";

/// A list that the shader follows for some steps, and one that it follows to its end.
const RING: &str = "for (int i = 0; i < 6; i++) { sum += node.value; node = node.next; }";
const ENDED: &str = "while (uvec2(node) != uvec2(0)) { sum += node.value; node = node.next; }";

fn list(walk: &str) -> String {
    format!(
        "#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 64) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {{ uint value; Node next; }};
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Sums {{ uint sums[]; }};
layout(push_constant) uniform Push {{ Node head; Sums dst; }};
void main() {{
    uint sum = gl_GlobalInvocationID.x;
    Node node = head;
    {walk}
    dst.sums[gl_GlobalInvocationID.x] = sum * 3u;
}}"
    )
}

/// Pairs of words as addresses, with an offset in bytes from another buffer.
const OFFSETS: &str = "#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer From { uint data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer To { uint data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Offset { uint bytes; };
layout(push_constant) uniform Push { uvec2 from; To to; Offset offset; };
void main() {
    uint carry;
    uint low = uaddCarry(from.x, offset.bytes, carry);
    From at = From(uvec2(low, from.y + carry));
    to.data[gl_GlobalInvocationID.x] = at.data[gl_GlobalInvocationID.x] * 5u;
}";

/// Compiles GLSL; `None`, with a line on the terminal, if no compiler is installed.
fn glsl(text: &str) -> Option<ShaderSource> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.comp");
    std::fs::write(&path, text).unwrap();
    match ShaderSource::load(&path, &CompileOptions::default()) {
        Err(error) if error.to_string().contains("none of its compilers is installed") => {
            assay_testkit::skip_missing(&error.to_string());
            None
        }
        shader => Some(shader.unwrap()),
    }
}

/// Searches for parameters, writes the case file, and checks the shader on a target.
fn searched(shader: ShaderSource, target: &dyn Target, folder: &Path) -> CheckResult {
    let mut session = CheckSession::new(shader, Options::default());
    session.search(target, &|| ()).unwrap();
    let check = session.check().unwrap();
    let mut result = check.run(target).unwrap();
    let output = SessionOutput { folder: Some(folder), command: &[] };
    session.conclude(&check, &mut result, target.info(), output).unwrap();
    result
}

/// Only the shader says which buffers are behind its addresses. A verdict rests on written
/// elements, a planted error is found, and the case file repeats the check.
#[test]
fn buffers_behind_addresses_follow_from_the_shader() {
    let (ring, ended) = (list(RING), list(ENDED));
    let record = "--buffer head=4*%Node --buffer dst=256*%Sums --address push@0=head --address push@8=dst \
                  --address head@8=head+16 --address head@24=head+32 --address head@40=head+48 --address head@56=";
    let linked = |last: &str| format!("{record}{last}");
    let cases = [
        (TABLE, "ulp:9@OpMatrixTimesVector", 3, "--address 0.1@32=table.outs.2".to_owned()),
        (&ring, "off-by-one@OpIMul", 1, linked("head")),
        (&ended, "off-by-one@OpIMul", 1, linked("null")),
        (
            OFFSETS,
            "off-by-one@OpIMul",
            1,
            "--buffer to=128*%To --buffer offset=%Offset --address push@0=from".to_owned(),
        ),
    ];
    for (text, mutation, bindings, options) in cases {
        let Some(shader) = glsl(text) else { return };
        let planted = mutation.parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let target = SyntheticTarget::default();
        let result = searched(glsl(text).unwrap(), &target, folder.path());
        let writes = result.writes.clone().unwrap();
        assert_eq!((result.status, writes.bindings.len()), (Status::Pass, bindings), "{text}: {result:?}");
        assert!(writes.falsifiable * 4 >= writes.elements, "{text}: {writes}");
        assert!(result.notes.iter().any(|note| note.contains(&options)), "{options}: {:?}", result.notes);

        let case = CaseFile::load(&folder.path().join("case/case.toml")).unwrap().unwrap();
        let again = ShaderSource::load(&case.shader, &CompileOptions::default()).unwrap();
        let check = Check::new(&again, &case.options).unwrap();
        let repeated = check.run(&target).unwrap();
        assert_eq!((&repeated.writes, repeated.status), (&result.writes, Status::Pass));
        assert_eq!(repeated.elements_checked, result.elements_checked);
        assert!(!repeated.notes.iter().any(|note| note.contains("follows from the shader")), "{:?}", repeated.notes);

        let broken = check.run(&MutatingTarget::new(SyntheticTarget::default(), planted)).unwrap();
        assert_eq!(broken.status, Status::Fail, "{text}");
        assert!(broken.mismatches[0].buffer.starts_with("buffer "), "{:?}", broken.mismatches[0]);
        on_each_driver(|target| {
            // SwiftShader crashes on forward pointers to types with such pointers.
            if lacks(target, &shader) || target.info().name.contains("SwiftShader") && text.contains("Node next") {
                return;
            }
            let folder = tempfile::tempdir().unwrap();
            let result = searched(glsl(text).unwrap(), target, folder.path());
            assert_eq!((result.status, result.elements_failing), (Status::Pass, 0), "{text}: {result:?}");
        });
    }
}

/// Integers to which an index is added lead to buffers with a record for each invocation.
#[test]
fn addresses_computed_from_integers_lead_to_buffers() {
    let shader = ShaderSource::read("test.spvasm", RECORDS.0.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let result = searched(shader, &SyntheticTarget::default(), folder.path());
    assert_eq!(result.status, Status::Pass, "{result:?}");
    let options = "--address 0.0@0=where.from --address 0.0@8=where.to";
    assert!(result.notes.iter().any(|note| note.contains(options)), "{:?}", result.notes);
}

/// The options win, also over single words.
#[test]
fn words_that_the_options_set_are_kept() {
    let Some(shader) = glsl(&list(RING)) else { return };
    let mut options = Options::default();
    options.addresses.push(AddressWord::parse("head@24", "null").unwrap());
    options.elements.push((Some("dst".parse().unwrap()), 300));
    let check = Check::new(&shader, &options).unwrap();
    let error = check.run(&SyntheticTarget::default()).unwrap_err().to_string();
    assert!(error.contains("lie in no buffer"), "{error}");
    options.addresses[0] = AddressWord::parse("head@24", "head").unwrap();
    let result = Check::new(&shader, &options).unwrap().run(&SyntheticTarget::default()).unwrap();
    assert_eq!((result.status, result.elements_checked), (Status::Pass, 2 * 300), "{result:?}");
}

/// A shader whose addresses are unknown is no shader without output.
#[test]
fn addresses_of_unknown_origin_are_named_as_the_reason() {
    let text = "#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 16) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Out { uint data[]; };
layout(push_constant) uniform Push { uint low; uint high; };
void main() { Out(uvec2(low ^ 5u, high)).data[gl_GlobalInvocationID.x] = 1u; }";
    let Some(shader) = glsl(text) else { return };
    let result = Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default()).unwrap();
    let reason = result.reason.unwrap();
    assert_eq!(result.status, Status::Undetermined);
    assert!(reason.contains("--buffer NAME=COUNT*TYPE") && reason.contains("--address"), "{reason}");
}

/// A driver may crash on an access through an address beyond its buffer, so a shader whose accesses
/// depend on the subgroup layout only runs if they are defined in the usual one.
#[test]
fn accesses_that_depend_on_the_subgroup_layout_are_interpreted_in_the_usual_one() {
    let text = "#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 16) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer From { uint data[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer To { uint data[]; };
layout(push_constant) uniform Push { From from; To to; };
void main() { to.data[gl_GlobalInvocationID.x] = from.data[(1u + gl_SubgroupInvocationID) << 28]; }";
    let Some(shader) = glsl(text) else { return };
    on_each_driver(|target| {
        if lacks(target, &shader) {
            return;
        }
        match Check::new(&shader, &Options::default()).unwrap().run(target) {
            Err(error) => assert!(error.to_string().contains("lie in no buffer"), "{error}"),
            Ok(result) => {
                let reason = result.reason.unwrap_or_default();
                assert_eq!((result.status, result.rounds_checked), (Status::Undetermined, 0));
                assert!(reason.contains("might crash the driver"), "{reason}");
            }
        }
    });
}
