//! Tests of bundles: their contents, and the reproduction of the failure.

use crate::support::{SyntheticTarget, wgsl};
use assay_check::{BundleDestination, Check, CheckError, MutatingTarget, Mutation, Options, bundle};
use assay_events::Status;
use assay_oracle::Limits;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(1) @binding(3) var<uniform> factor: vec4<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] = data[id.x] * factor.x + factor.y;
}";

#[test]
fn a_bundle_reproduces_the_failure() {
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &Options { seed: 3, ..Options::default() }).unwrap();
    let mutation: Mutation = "off-by-one@OpIMul".parse().unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let target = MutatingTarget::new(SyntheticTarget::default(), planted.clone());
    let result = check.run(&target).unwrap();
    assert_eq!(result.status, Status::Fail);
    let folder = tempfile::tempdir().unwrap();
    let command = ["assay".to_owned(), "check".to_owned(), "test.wgsl".to_owned()];
    let to = BundleDestination { folder: folder.path(), command: &command, mutation: Some(&mutation) };
    check.write_bundle(&to, &result, &target).unwrap();

    let read = bundle::read(folder.path(), None).unwrap();
    assert!(read.result.mismatches == result.mismatches && read.result.reason == result.reason);
    assert_eq!(read.device.name, "synthetic");
    assert_eq!(read.manifest.mutation.as_deref(), Some("off-by-one@OpIMul"));
    assert_eq!(read.shader.source.module.words(), shader.source.module.words(), "the very words");
    let words: Vec<u8> = shader.source.module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(std::fs::read(folder.path().join("shader.spv")).unwrap(), words);
    let readme = std::fs::read_to_string(folder.path().join("README.txt")).unwrap();
    let version = shader.source.module.words()[1] >> 8 & 0xff;
    assert!(readme.contains(&format!("--target-env spv1.{version}`")), "{readme}");
    // What the shader wrote is in the words of the bundle and in its result.
    let writes = result.writes.as_ref().unwrap();
    assert!(
        writes.written > 0 && readme.contains(&format!("The shader {writes}; {}.", result.rounds_text())),
        "{readme}"
    );
    assert_eq!(read.result.writes, result.writes);
    let again = Check::new(&read.shader, &read.options).unwrap();
    let found = again.run(&target).unwrap();
    assert_eq!(found.status, Status::Fail);
    // The round of the first mismatch, bit by bit.
    let of_round = result.mismatches.iter().filter(|m| m.round == result.mismatches[0].round);
    let same = of_round.map(|m| (&m.offset, &m.got)).eq(found.mismatches.iter().map(|m| (&m.offset, &m.got)));
    assert!(same, "{found:?}");
    assert_eq!(
        again.run(&SyntheticTarget::default()).unwrap().status,
        Status::Pass,
        "not on a device without the error"
    );
    let expected = std::fs::read_to_string(folder.path().join("expected.txt")).unwrap();
    assert_eq!(expected.lines().filter(|line| line.ends_with("(not permitted)")).count(), 128, "{expected}");

    // A bundle can be written over itself. Other files stay, and no further file appears.
    check.write_bundle(&to, &result, &target).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    bundle::remove(folder.path()).unwrap();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
    std::fs::write(folder.path().join("shader.spvasm"), "mine").unwrap();
    bundle::remove(folder.path()).unwrap();
    assert!(folder.path().join("shader.spvasm").exists());
}

#[test]
fn an_unreadable_bundle_is_reported_with_the_reason() {
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &Options::default()).unwrap();
    let target = SyntheticTarget::default();
    let result = check.run(&target).unwrap();
    for (file, from, to, expected) in [
        ("bundle.json", "\"schema\": 2", "\"schema\": 4", "use a newer version"),
        ("bundle.json", "\"schema\": 2,", "", "lacks the key `schema`"),
        ("bundle.json", "\"entry\"", "\"entrance\"", "malformed"),
        ("bundle.json", "\"input-0.0.0.hex\"", "\"../input-0.0.0.hex\"", "not a file of the bundle"),
        ("bundle.json", "\"input-0.0.0.hex\"", "\"input-9.hex\"", "cannot be read"),
        ("bundle.json", "\"workgroups\": [\n    4", "\"workgroups\": [\n    0", "each number must be at least 1"),
        ("bundle.json", "\"0.0[0]\": \"input-0.0.0.hex\",", "", "lacks the contents of set 0 binding 0 (data)"),
        ("input-0.0.0.hex", "0", "x", "line 1"),
        ("shader.spvasm", "OpCapability Shader", "OpCapability Shadr", "Shadr"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        check
            .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
            .unwrap();
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = bundle::read(folder.path(), None).unwrap_err();
        assert!(error.to_string().contains(expected), "{file}, {to}: {error}");
        assert!(matches!(error, CheckError::Bundle { .. } | CheckError::Shader { .. }), "{error:?}");
    }
    assert!(bundle::read(std::path::Path::new("/nonexistent"), None).is_err());
}

/// A bundle uses the patience of the original check. A shader that has been made endless since is
/// reported.
#[test]
fn a_bundle_uses_the_patience_of_the_original_check() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    for times in [1, 3, bundle::MAX_PATIENCE] {
        let options = Options { limits: Limits::default().patient(times), ..Options::default() };
        let check = Check::new(&shader, &options).unwrap();
        let result = check.run(&target).unwrap();
        let folder = tempfile::tempdir().unwrap();
        check
            .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
            .unwrap();
        let read = bundle::read(folder.path(), None).unwrap();
        assert_eq!(read.options.limits.patience(), times);
    }
    let endless = wgsl(&SHADER.replace("data[id.x] =", "loop {} data[id.x] ="));
    let folder = tempfile::tempdir().unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&target).unwrap();
    check
        .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
        .unwrap();
    std::fs::write(folder.path().join("shader.spvasm"), endless.source.disassemble().unwrap()).unwrap();
    let read = bundle::read(folder.path(), None).unwrap();
    let error = Check::new(&read.shader, &read.options).unwrap().run(&target).unwrap_err();
    assert!(error.to_string().contains("endless loop"), "{error}");
    // `assay repro` does not have the options that `assay check` would advise here.
    assert!(!error.to_string().contains("--"), "{error}");
}

/// Regression test: an endless loop with unlimited patience kept `assay repro` running for ever.
#[test]
fn a_bundle_cannot_request_unlimited_patience() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    let options = Options { limits: Limits::default().patient(u64::MAX), ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    let result = check.run(&target).unwrap();
    let folder = tempfile::tempdir().unwrap();
    check
        .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
        .unwrap();
    let error = bundle::read(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("times the default patience") && error.contains("choose it with --patience N"), "{error}");
    assert!(!error.contains("  "), "{error}");
    // With the most that a bundle may request, an endless loop ends in less than a minute.
    assert_eq!(bundle::MAX_PATIENCE, 10);
    let read = bundle::read(folder.path(), Some(200)).unwrap();
    assert_eq!(read.options.limits.patience(), 200);
}

/// A `bundle.json` of 800 MB took 9.4 GB, and ended the process where there was less.
#[test]
fn a_bundle_is_read_up_to_a_limit_for_each_file() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&target).unwrap();
    for (file, limit) in [
        ("bundle.json", 16u64 << 20),
        ("device.json", 4 << 20),
        ("result.json", 4 << 20),
        ("shader.spvasm", 256 << 20),
        ("input-0.0.0.hex", 1 << 30),
    ] {
        let folder = tempfile::tempdir().unwrap();
        check
            .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
            .unwrap();
        std::fs::File::options().write(true).open(folder.path().join(file)).unwrap().set_len(limit + 1).unwrap();
        let error = bundle::read(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains(file) && error.contains(&format!("longer than {limit} bytes")), "{file}: {error}");
    }
    // The schema is found after any other keys, however deeply they nest.
    let folder = tempfile::tempdir().unwrap();
    check
        .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
        .unwrap();
    let path = folder.path().join("bundle.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, expected) in [
        ("{", "{\"later\": [[{}]], ", None),
        ("\"schema\": 2", "\"later\": {\"schema\": 2}", Some("lacks the key `schema`")),
        ("\"schema\": 2", "\"schema\": \"2\"", Some("lacks the key `schema`")),
        ("\"schema\": 2", "\"schema\": 2,,", Some("is not valid JSON")),
    ] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let read = bundle::read(folder.path(), None).map(drop).map_err(|error| error.to_string());
        match expected {
            None => read.unwrap(),
            Some(expected) => assert!(read.clone().unwrap_err().contains(expected), "{to}: {read:?}"),
        }
    }
}

/// Links at the names of the bundle's files are not followed.
#[test]
#[cfg(unix)]
fn a_bundle_is_not_written_through_links() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&target).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (folder, victim) = (dir.path().join("bundle"), dir.path().join("victim"));
    let to = BundleDestination { folder: &folder, command: &[], mutation: None };
    check.write_bundle(&to, &result, &target).unwrap();
    std::fs::write(&victim, "theirs").unwrap();
    for name in ["bundle.json", "shader.spv", "input-0.0.0.hex"] {
        let path = folder.join(name);
        let text = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("../victim", &path).unwrap();
        let error = check.write_bundle(&to, &result, &target).unwrap_err().to_string();
        assert!(error.contains(&format!("{name} is in the way")), "{error}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "theirs", "{name}");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    check.write_bundle(&to, &result, &target).unwrap();
}

#[test]
fn a_bundle_does_not_overwrite_foreign_files() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&target).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("README.txt");
    std::fs::write(&theirs, "theirs").unwrap();
    let to = BundleDestination { folder: folder.path(), command: &[], mutation: None };
    let error = check.write_bundle(&to, &result, &target).unwrap_err().to_string();
    assert!(error.contains("is in the way"), "{error}");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
#[cfg(unix)]
fn a_bundle_is_read_from_regular_files_in_its_directory_only() {
    let shader = wgsl(SHADER);
    let target = SyntheticTarget::default();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&target).unwrap();
    let secret = tempfile::tempdir().unwrap();
    let secret = secret.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    for (file, to, expected) in [
        ("bundle.json", "/dev/zero", "leads out of the folder"),
        ("input-0.0.0.hex", secret.to_str().unwrap(), "leads out of the folder"),
        ("shader.spvasm", secret.to_str().unwrap(), "leads out of the folder"),
        ("device.json", "fifo", "not a regular file"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        check
            .write_bundle(&BundleDestination { folder: folder.path(), command: &[], mutation: None }, &result, &target)
            .unwrap();
        let path = folder.path().join(file);
        std::fs::remove_file(&path).unwrap();
        if to == "fifo" {
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        } else {
            std::os::unix::fs::symlink(to, &path).unwrap();
        }
        let error = bundle::read(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("secret\n"), "{file}: {error}");
    }
}
