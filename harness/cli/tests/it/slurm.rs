//! Workers and parts of a run on a real Slurm with one node, which the test starts: their results equal local ones,
//! also if the node's daemon and jobs are killed. Skipped without a device or without Slurm.

#![cfg(unix)]

use crate::isolate::untimed_results;
use crate::support::device::device;
use crate::support::{Output, assay, assay_with};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Cases of all kinds: precision cases and programs of a suite.
const SOME: [&str; 3] = ["precision.f32.fnegate.*", "precision.f32.fadd.*", "storage8.whole"];

/// Longest time for a daemon to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A cluster of one node on this machine.
struct Slurm {
    folder: TempDir,
    node: Child,
    /// The daemons of authentication and of the cluster.
    others: Vec<Child>,
}

impl Slurm {
    /// Starts the daemons. Returns `None`, and says why, if they do not run here.
    fn start() -> Option<Slurm> {
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

    fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn is_idle(&self) -> bool {
        let output = self.command("sinfo", &["-h", "-o", "%T"]).output().expect("sinfo");
        output.stdout.starts_with(b"idle")
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.configuration());
        command
    }

    fn assay(&self, arguments: &[&str]) -> Output {
        assay_with(arguments, &[("SLURM_CONF", self.configuration().to_str().unwrap())])
    }

    /// Kills the daemon of the node and starts it again, and kills all jobs.
    fn shake(&mut self) {
        self.node.kill().unwrap();
        self.node.wait().unwrap();
        self.node = start_node(self.folder.path());
        self.kill_jobs();
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
fn wait_until(is_true: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

#[test]
fn slurm_gives_the_results_of_local_workers_although_its_node_is_killed() {
    if !device() {
        return;
    }
    let Some(mut slurm) = Slurm::start() else { return };
    let binary = env!("CARGO_BIN_EXE_assay");
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let local = assay(&[&["run", "--out", &folder("local")], &SOME[..]].concat());
    let run = |out: &str, how: &[&str]| slurm_run(&slurm, &folder(out), how);
    let via = ["--via", "srun --quiet -n1", "--via", "srun --quiet -n1", "--via-binary", binary];
    let there = run("there", &via);
    let here = run("here", &["--via", "srun --quiet -n1", "--via-binary", binary, "--check", "here"]);
    for remote in [&there, &here] {
        assert_eq!(remote.code, local.code, "{remote:?}");
    }
    let expected = untimed_results(Path::new(&folder("local")));
    assert!(expected.len() > 10);
    for name in ["there", "here"] {
        assert!(untimed_results(Path::new(&folder(name))) == expected, "{name}");
    }

    // Failures are confirmed although the node has no place for a third process, and no job is left.
    let frexp = ["run", "precision.f32.frexp.*", "--out"];
    let local_failures = assay(&[&frexp[..], &[&folder("failures")]].concat());
    let confirmed = slurm.assay(&[&frexp[..], &[&folder("confirmed")], &via].concat());
    assert_eq!((confirmed.code, local_failures.code), (1, 1), "{confirmed:?}");
    let [confirmed, failures] = ["confirmed", "failures"].map(|name| untimed_results(Path::new(&folder(name))));
    assert_eq!(confirmed, failures);
    let has_no_job = || slurm.command("squeue", &["-h"]).output().expect("squeue").stdout.is_empty();
    assert!(wait_until(has_no_job), "a job is left");

    // An interrupted run leaves no job either.
    let (configuration, interrupted) = (slurm.configuration(), folder("interrupted"));
    let mut command = Command::new(binary);
    command.args(["run", "precision.f32", "--out", &interrupted]).args(via).env("SLURM_CONF", &configuration);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = Path::new(&interrupted).join("results.jsonl.partial");
    assert!(wait_until(|| fs::read_to_string(&journal).unwrap_or_default().lines().count() > 2), "the run begins");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(wait_until(has_no_job), "a job is left after an interruption");

    // The array of jobs, and its merge.
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lab/slurm");
    let log = format!("--output={}", folder("job-%a.log"));
    let submit = ["--wait", "--array=1-2", &log, recipe, &folder("parts")];
    let submitted = slurm.command("sbatch", &[&submit[..], &SOME[..]].concat()).env("ASSAY", binary).output().unwrap();
    assert!(submitted.status.success(), "{submitted:?}");
    let parts: Vec<String> = ["part-1-of-2", "part-2-of-2"].map(|part| format!("{}/{part}", folder("parts"))).to_vec();
    let merged = assay(&["merge", &parts[0], &parts[1], "--out", &folder("merged")]);
    assert_eq!(merged.code, local.code, "{merged:?}");
    assert!(untimed_results(Path::new(&folder("merged"))) == expected, "merged");

    // The daemon of the node dies, and so do the jobs.
    let shaken = folder("shaken");
    let run = std::thread::spawn({
        let out = shaken.clone();
        move || {
            let command = [&["run", "--out", &out], &SOME[..], &via].concat();
            assay_with(&command, &[("SLURM_CONF", configuration.to_str().unwrap())])
        }
    });
    let (mut shakes, mut known) = (0, 1);
    while !run.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let journal = fs::read_to_string(Path::new(&shaken).join("results.jsonl.partial")).unwrap_or_default();
        let lines = journal.lines().count();
        if shakes < 2 && lines > known + 2 {
            slurm.shake();
            (shakes, known) = (shakes + 1, lines);
        }
    }
    let output = run.join().unwrap();
    assert!(shakes > 0, "the node was not killed");
    assert_eq!(output.code, local.code, "{output:?}");
    assert!(untimed_results(Path::new(&shaken)) == expected, "shaken");
}

fn slurm_run(slurm: &Slurm, out: &str, how: &[&str]) -> Output {
    slurm.assay(&[&["run", "--out", out], &SOME[..], how].concat())
}
