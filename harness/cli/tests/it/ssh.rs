//! Workers behind a real ssh daemon on the loopback: their results equal local ones, also if
//! connections are killed. Skipped without a device or without sshd.

#![cfg(unix)]

use crate::isolate::untimed_results;
use crate::support::device::device;
use crate::support::{assay, assay_with};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// A daemon that accepts one key, made for the test.
struct SshDaemon {
    folder: TempDir,
    process: Child,
    port: u16,
}

impl SshDaemon {
    /// Starts the daemon. Returns `None`, and says why, if it does not run here.
    fn start() -> Option<SshDaemon> {
        if !Path::new(SSHD).exists() {
            assay_testkit::skip(&format!("no {SSHD}"));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        for key in ["host", "user"] {
            let file = folder.path().join(key);
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
            assert!(made.expect("ssh-keygen").success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = folder.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\n\
             PasswordAuthentication no\nStrictModes no\nUsePAM no\nPidFile none\n"
        );
        let file = folder.path().join("config");
        fs::write(&file, config).unwrap();
        let mut command = Command::new(SSHD);
        command.arg("-D").arg("-f").arg(&file).arg("-E").arg(folder.path().join("log"));
        let process = command.stdin(Stdio::null()).spawn().expect("sshd starts");
        let mut daemon = SshDaemon { folder, process, port };
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if daemon.process.try_wait().unwrap().is_some() || Instant::now() > deadline {
                let log = fs::read_to_string(daemon.folder.path().join("log")).unwrap_or_default();
                assay_testkit::skip(&format!("sshd does not run here: {}", log.trim()));
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let line = daemon.prefix();
        let mut words = line.split(' ');
        let runs = Command::new(words.next().unwrap_or_default()).args(words).arg("true").status();
        if !runs.is_ok_and(|status| status.success()) {
            let log = fs::read_to_string(daemon.folder.path().join("log")).unwrap_or_default();
            assay_testkit::skip(&format!("sshd lets nobody in here: {}", log.trim()));
            return None;
        }
        Some(daemon)
    }

    /// Returns the prefix that starts a program through the daemon, with the environment that
    /// selects the driver.
    fn prefix(&self) -> String {
        let key = self.folder.path().join("user");
        let variables = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "MESA_SHADER_CACHE_DISABLE"];
        let variables = variables.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
        format!(
            "ssh -q -p {} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 env {}",
            self.port,
            key.display(),
            variables.collect::<Vec<_>>().join(" ")
        )
    }

    /// Kills the processes of all connections.
    fn cut(&self) -> bool {
        let killed = Command::new("pkill").args(["-KILL", "-P", &self.process.id().to_string()]).status();
        killed.expect("pkill").success()
    }
}

impl Drop for SshDaemon {
    fn drop(&mut self) {
        self.cut();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn workers_over_ssh_give_the_results_of_local_ones_although_links_are_cut() {
    if !device() {
        return;
    }
    let Some(daemon) = SshDaemon::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    let run = ["run", "precision.f32.fnegate.*", "precision.f32.fadd.*", "storage8.whole", "--out"];
    let local = assay(&[&run[..], &[here.to_str().unwrap()]].concat());
    let prefix = daemon.prefix();
    let binary = env!("CARGO_BIN_EXE_assay");
    let elsewhere = ["--via", &prefix, "--via", &prefix, "--via-binary", binary];
    let remote = std::thread::scope(|scope| {
        let run = scope.spawn(|| assay_with(&[&run[..], &[there.to_str().unwrap()], &elsewhere].concat(), &[]));
        let (mut cuts, mut known) = (0, 1);
        while !run.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            // A prefix that never reaches a worker is an error, and five losses without a result
            // end it.
            let lines = fs::read_to_string(there.join("results.jsonl.partial")).unwrap_or_default().lines().count();
            if cuts < 3 && lines > known + 2 && daemon.cut() {
                (cuts, known) = (cuts + 1, lines);
            }
        }
        assert!(cuts > 0, "no connection was cut");
        run.join().unwrap()
    });
    assert_eq!(remote.code, local.code, "{remote:?}");
    let checked_here = dir.path().join("checked-here");
    // The binary is copied there first, and only the device is there.
    let pushed = dir.path().join("pushed");
    let pushed = pushed.to_str().unwrap();
    let elsewhere = ["--via", &prefix, "--push-binary", binary, "--via-binary", pushed, "--check", "here"];
    let remote = assay_with(&[&run[..], &[checked_here.to_str().unwrap()], &elsewhere].concat(), &[]);
    assert_eq!(remote.code, local.code, "{remote:?}");
    assert_eq!(fs::read(pushed).unwrap(), fs::read(binary).unwrap());
    let [here, there, checked_here] = [here, there, checked_here].map(|folder| untimed_results(&folder));
    assert!(here.len() > 10 && here == there && here == checked_here);
}
