//! An ssh daemon on the loopback that accepts one key.

use super::driver_variables;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// A daemon that accepts one key, made for the test.
pub(crate) struct SshDaemon {
    folder: TempDir,
    process: Child,
    port: u16,
}

impl SshDaemon {
    /// Starts the daemon. Returns `None`, and says why, if it does not run here.
    pub(crate) fn start() -> Option<SshDaemon> {
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
        fs::write(folder.path().join("config"), config).unwrap();
        let process = start_daemon(folder.path());
        let mut daemon = SshDaemon { folder, process, port };
        if !daemon.listens() {
            let log = fs::read_to_string(daemon.folder.path().join("log")).unwrap_or_default();
            assay_testkit::skip(&format!("sshd does not run here: {}", log.trim()));
            return None;
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

    /// Waits until the daemon accepts connections; returns false if it ended or needs too long.
    fn listens(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if self.process.try_wait().unwrap().is_some() || Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the prefix that starts a program through the daemon, with the environment that
    /// selects the driver.
    pub(crate) fn prefix(&self) -> String {
        self.prefix_through(self.port)
    }

    /// Returns the prefix for another port that leads to the daemon.
    pub(crate) fn prefix_through(&self, port: u16) -> String {
        let key = self.folder.path().join("user");
        format!(
            "ssh -q -p {port} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 env {}",
            key.display(),
            driver_variables()
        )
    }

    /// Kills the processes of all connections; returns false if there is none.
    fn cut(&self) -> bool {
        let killed = Command::new("pkill").args(["-KILL", "-P", &self.process.id().to_string()]).status();
        killed.expect("pkill").success()
    }

    /// Kills the daemon and all connections, and starts it again. Returns false if there is no connection.
    pub(crate) fn restart(&mut self) -> bool {
        let had_connections = self.cut();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process = start_daemon(self.folder.path());
        assert!(self.listens(), "sshd starts again");
        had_connections
    }
}

/// Starts the daemon with the configuration in a folder.
fn start_daemon(folder: &Path) -> Child {
    let mut command = Command::new(SSHD);
    command.arg("-D").arg("-f").arg(folder.join("config")).arg("-E").arg(folder.join("log"));
    command.stdin(Stdio::null()).spawn().expect("sshd starts")
}

impl Drop for SshDaemon {
    fn drop(&mut self) {
        self.cut();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
