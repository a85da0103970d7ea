//! Workers behind a real ssh daemon on the loopback. Skipped without a device or without sshd.

#![cfg(unix)]

use crate::isolate::untimed_results;
use crate::support::assay;
use crate::support::device::device;
use crate::support::ssh_daemon::SshDaemon;
use std::fs;

/// The binary is copied there first, and only the device is there.
#[test]
fn a_device_over_ssh_whose_results_are_checked_here_gives_local_results() {
    if !device() {
        return;
    }
    let Some(daemon) = SshDaemon::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (local, remote) = (dir.path().join("local"), dir.path().join("remote"));
    let run = ["run", "precision.f32.fnegate.*", "precision.f32.fadd.*", "storage8.whole", "--out"];
    let found = assay(&[&run[..], &[local.to_str().unwrap()]].concat());
    let (prefix, binary, pushed) = (daemon.prefix(), env!("CARGO_BIN_EXE_assay"), dir.path().join("pushed"));
    let copied = ["--via", &prefix, "--push-binary", binary, "--via-binary", pushed.to_str().unwrap()];
    let output = assay(&[&run[..], &[remote.to_str().unwrap(), "--check", "here"], &copied].concat());
    assert_eq!(output.code, found.code, "{output:?}");
    assert_eq!(fs::read(pushed).unwrap(), fs::read(binary).unwrap());
    let [local, remote] = [local, remote].map(|folder| untimed_results(&folder));
    assert!(local.len() > 10 && local == remote);
}
