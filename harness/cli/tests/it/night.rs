//! Runs with workers elsewhere while everything that takes part is killed in turn: no result is lost, none differs from
//! that of a local run, and no case is charged with what was killed.
//!
//! Usual runs take some cases and kill each once. `ASSAY_FULL=1` takes all cases and kills each ten times, which needs half
//! an hour with `--cargo-profile release`.
//!
//! Skipped without a device, and without sshd or Slurm.

#![cfg(unix)]

use crate::isolate::untimed_results;
use crate::support::assay;
use crate::support::device::device;
use crate::support::proxy::Proxy;
use crate::support::slurm_cluster::Slurm;
use crate::support::ssh_daemon::SshDaemon;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Precision cases, programs, and cases that fail on lavapipe.
const SOME: [&str; 4] = ["precision.f32.fnegate.*", "precision.f32.fadd.*", "precision.f32.frexp.*", "storage8.whole"];

const BINARY: &str = env!("CARGO_BIN_EXE_assay");

/// A process or a link that a test ends with force.
struct Victim<'a> {
    name: &'a str,
    /// Ends it, and starts it again where nothing else does. Returns false if it is not there now.
    kill: Box<dyn FnMut() -> bool + 'a>,
}

impl<'a> Victim<'a> {
    fn new(name: &'a str, kill: impl FnMut() -> bool + 'a) -> Victim<'a> {
        Victim { name, kill: Box::new(kill) }
    }
}

/// A run, its folder and its variables.
struct Night {
    folder: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Night {
    fn start(&self, arguments: &[String]) -> Child {
        let mut command = Command::new(BINARY);
        command.arg("run").args(arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        let log = fs::File::options().create(true).append(true).open(self.folder.with_extension("log")).unwrap();
        command.stdout(Stdio::null()).stderr(log).spawn().expect("the run starts")
    }

    fn results(&self) -> usize {
        let journal = fs::read_to_string(self.folder.join("results.jsonl.partial")).unwrap_or_default();
        journal.matches(r#""event":"case_finished""#).count()
    }

    /// Runs to the end while the coordinator and each victim is killed `times` times, one after `each` more results.
    /// Returns the exit code.
    #[expect(clippy::print_stderr, reason = "the test with all cases is run for its figures")]
    fn run(&self, victims: &mut [Victim], times: usize, each: usize) -> i32 {
        let folder = self.folder.to_str().unwrap().to_owned();
        let mut run = self.start(&[&self.arguments[..], &["--out".to_owned(), folder.clone()]].concat());
        let kinds = victims.len() + 1;
        let (mut kills, mut known, mut log) = (0, 0, Vec::new());
        let code = loop {
            std::thread::sleep(Duration::from_millis(20));
            if let Some(status) = run.try_wait().unwrap() {
                break status.code().expect("it exits");
            }
            if kills == kinds * times || self.results() < known + each {
                continue;
            }
            if let Some(victim) = victims.get_mut(kills % kinds) {
                if !(victim.kill)() {
                    continue;
                }
                log.push(format!("killed {} after {} results", victim.name, self.results()));
            } else {
                run.kill().unwrap();
                run.wait().unwrap();
                log.push(format!("killed the coordinator after {} results", self.results()));
                run = self.start(&["--resume".to_owned(), folder.clone()]);
            }
            (kills, known) = (kills + 1, self.results());
        };
        log.push(fs::read_to_string(self.folder.with_extension("log")).unwrap());
        eprintln!("{}", log.join("\n"));
        assert_eq!(kills, kinds * times, "the run ended too early");
        code
    }
}

/// Finds the `assay worker` processes whose environment has a word: those that talk to the coordinator, and those that
/// these watch, which open the driver.
fn workers(word: &str) -> (Vec<u32>, Vec<u32>) {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let has = |bytes: &[u8], word: &str| bytes.split(|&byte| byte == 0).any(|part| part == word.as_bytes());
        let arguments = read("cmdline");
        if arguments.starts_with(BINARY.as_bytes()) && has(&arguments, "worker") && has(&read("environ"), word) {
            let status = String::from_utf8(read("status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok());
            found.push((id, parent.unwrap_or(0)));
        }
    }
    let is_watched = |(_, parent): &&(u32, u32)| found.iter().any(|(id, _)| id == parent);
    let (watched, talking): (Vec<_>, Vec<_>) = found.iter().partition(is_watched);
    let ids = |list: Vec<&(u32, u32)>| list.into_iter().map(|(id, _)| *id).collect();
    (ids(talking), ids(watched))
}

/// Kills the first of some processes; returns false if there is none.
fn kill(processes: &[u32]) -> bool {
    let Some(process) = processes.first() else { return false };
    let killed = Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status();
    killed.expect("kill").success()
}

/// Cases, kills of each victim, and results between two kills.
fn extent(kinds: usize) -> (Vec<String>, usize, usize) {
    if std::env::var_os("ASSAY_FULL").is_some() {
        return (Vec::new(), 10, 12_000 / (10 * kinds));
    }
    (SOME.map(str::to_owned).to_vec(), 1, 2)
}

/// Runs some cases on this machine, and the same ones with workers elsewhere and kills.
fn equals_a_local_run(dir: &Path, via: &[String], variables: Vec<(&'static str, PathBuf)>, victims: &mut [Victim]) {
    let (cases, times, each) = extent(victims.len() + 1);
    let local = dir.join("local");
    let mut command = vec!["run", "--quiet", "--out", local.to_str().unwrap()];
    command.extend(cases.iter().map(String::as_str));
    let expected = assay(&command);
    let via = via.iter().flat_map(|prefix| ["--via".to_owned(), prefix.clone()]);
    let binary = ["--via-binary".to_owned(), BINARY.to_owned()];
    let arguments = cases.into_iter().chain(via).chain(binary).collect();
    let night = Night { folder: dir.join("night"), arguments, variables };
    let code = night.run(victims, times, each);
    assert_eq!(code, expected.code);
    let [expected, found] = [local, night.folder].map(|folder| untimed_results(&folder));
    assert!(expected.len() > 10);
    for (name, result) in &expected {
        assert_eq!(found.get(name), Some(result), "{name}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn a_night_over_ssh_loses_nothing() {
    if !device() {
        return;
    }
    let Some(mut daemon) = SshDaemon::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let word = format!("ASSAY_TEST_NIGHT={}", dir.path().display());
    let proxy = Proxy::start(daemon.port(), Duration::from_millis(2));
    let via = [daemon.port(), proxy.port()].map(|port| format!("{} {word}", daemon.prefix_through(port)));
    let mut victims = vec![
        Victim::new("a link, in a message", || proxy.cut()),
        Victim::new("a worker", || kill(&workers(&word).0)),
        Victim::new("a process with the driver", || kill(&workers(&word).1)),
        Victim::new("sshd", || daemon.restart()),
    ];
    // A link that falls silent counts as lost after a minute.
    if std::env::var_os("ASSAY_FULL").is_some() {
        victims.push(Victim::new("a link, which falls silent", || proxy.stall()));
    }
    equals_a_local_run(dir.path(), &via, Vec::new(), &mut victims);
}

#[test]
fn a_night_over_slurm_loses_nothing() {
    if !device() {
        return;
    }
    let Some(mut slurm) = Slurm::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let word = format!("ASSAY_TEST_NIGHT={}", dir.path().display());
    let via = [0; 2].map(|_| format!("srun --quiet -n1 env {word}"));
    let variables = vec![("SLURM_CONF", slurm.configuration())];
    let mut victims = [
        Victim::new("a worker", || kill(&workers(&word).0)),
        Victim::new("a process with the driver", || kill(&workers(&word).1)),
        Victim::new("slurmd and its jobs", || slurm.restart_node()),
    ];
    equals_a_local_run(dir.path(), &via, variables, &mut victims);
}
