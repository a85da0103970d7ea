//! A Slurm cluster of one node on this machine.

use super::{Output, assay_with};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest time for a daemon to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A cluster of one node on this machine.
pub(crate) struct Slurm {
    folder: TempDir,
    node: Child,
    /// The daemons of authentication and of the cluster.
    others: Vec<Child>,
}

impl Slurm {
    /// Starts the daemons. Returns `None`, and says why, if they do not run here.
    pub(crate) fn start() -> Option<Slurm> {
        let is_there = |program: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).chain(["/usr/sbin".into()]).any(|folder| folder.join(program).exists())
        };
        if let Some(missing) = ["munged", "slurmctld", "slurmd", "srun", "sbatch"].iter().find(|one| !is_there(one)) {
            assay_testkit::skip(&format!("no {missing}"));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        write_configuration(folder.path(), host.trim().split('.').next().unwrap_or_default());
        let munge = start_daemon(
            folder.path(),
            "munged",
            &["--foreground", "--force", "--key-file=key", "--socket=munge.sock", "--pid-file=munge.pid"],
        );
        let socket = folder.path().join("munge.sock");
        wait_until(|| socket.exists());
        let cluster = start_daemon(folder.path(), "slurmctld", &["-D"]);
        let node = start_node(folder.path());
        let slurm = Slurm { folder, node, others: vec![munge, cluster] };
        let runs =
            || slurm.command("srun", &["--quiet", "-n1", "--immediate=20", "true"]).status().is_ok_and(|s| s.success());
        if !wait_until(|| slurm.is_idle()) || !runs() {
            let log = |name: &str| fs::read_to_string(slurm.folder.path().join(name)).unwrap_or_default();
            let logs = ["munged.log", "slurmctld.log", "slurmd.log"].map(log).concat();
            assay_testkit::skip(&format!("Slurm does not run here: {logs}"));
            return None;
        }
        Some(slurm)
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn is_idle(&self) -> bool {
        let output = self.command("sinfo", &["-h", "-o", "%T"]).output().expect("sinfo");
        output.stdout.starts_with(b"idle")
    }

    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.configuration());
        command
    }

    /// Runs `assay`, whose launchers find this cluster.
    pub(crate) fn assay(&self, arguments: &[&str]) -> Output {
        assay_with(arguments, &[("SLURM_CONF", self.configuration().to_str().unwrap())])
    }

    /// Kills the daemon of the node and all jobs, and starts it again. Returns false if the node was idle.
    pub(crate) fn restart_node(&mut self) -> bool {
        let had_jobs = !self.is_idle();
        self.node.kill().unwrap();
        self.node.wait().unwrap();
        self.node = start_node(self.folder.path());
        self.kill_jobs();
        had_jobs
    }

    fn kill_jobs(&self) {
        let partition = ["--partition=all", "--signal=KILL", "--full"];
        self.command("scancel", &partition).status().expect("scancel");
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.kill_jobs();
        wait_until(|| self.is_idle());
        for daemon in self.others.iter_mut().chain([&mut self.node]) {
            _ = daemon.kill();
            _ = daemon.wait();
        }
    }
}

/// Writes the key and the configuration of a cluster whose only node is this machine.
fn write_configuration(folder: &Path, host: &str) {
    let key: Vec<u8> = (0..1024u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(folder.join("key"), key).unwrap();
    Command::new("chmod").args(["600", "key"]).current_dir(folder).status().expect("chmod");
    for name in ["state", "spool"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let listeners = [0; 2].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    let [cluster, node] = listeners.map(|listener| listener.local_addr().unwrap().port());
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    let user = String::from_utf8(user).unwrap();
    let (user, at) = (user.trim(), folder.display());
    let configuration = format!(
        "ClusterName=assay\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.sock\nSlurmctldPort={cluster}\nSlurmdPort={node}\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/slurmctld.pid\n\
         SlurmdPidFile={at}/slurmd.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\nMpiDefault=none\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE\n"
    );
    fs::write(folder.join("slurm.conf"), configuration).unwrap();
}

/// Starts a daemon in the foreground; its output goes to a log.
fn start_daemon(folder: &Path, program: &str, arguments: &[&str]) -> Child {
    let log = || fs::File::options().create(true).append(true).open(folder.join(format!("{program}.log"))).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PATH", format!("{path}:/usr/sbin"));
    command.env("SLURM_CONF", folder.join("slurm.conf")).stdin(Stdio::null());
    command.stdout(log()).stderr(log()).spawn().expect("the daemon starts")
}

fn start_node(folder: &Path) -> Child {
    start_daemon(folder, "slurmd", &["-D"])
}

/// Waits until something is true; returns false after [`PATIENCE`].
pub(crate) fn wait_until(is_true: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}
