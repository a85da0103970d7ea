//! Tests of buffers that shaders reach by device addresses.

use crate::support::{SyntheticTarget, on_each_driver};
use assay_check::{
    AddressWord, BundleDestination, CaseFile, Check, CheckError, MutatingTarget, Mutation, Options, ReductionLimits,
    ShaderSource, bundle, reduce,
};
use assay_events::Status;
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
    for (from, elements) in [(LIST, 16 + 12), (POINTERS, 16 + 12), (RECORDS, 2 + 33 * 6), (ARRAY, 20 * 3 + 20 * 3)] {
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
