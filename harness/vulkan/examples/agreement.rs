//! Compares our parser, assembler and rules with spirv-as, spirv-val and the validator inside the
//! validation layer.
//!
//! `cargo run -p assay-vulkan --example agreement -- [MUTATIONS [SEED [SECONDS]]]` with the
//! environment of `scripts/test` and `VK_DRIVER_FILES="$ASSAY_MOCK_ICD"`: the mock driver
//! advertises every extension and does nothing with a module.
//!
//! The modules are the cases of the rules, the examples of `shaders/inspect`, naga's output for the
//! corpus, and mutations of all of them, one change each. Disagreements are counted by the reason
//! of the judge that refuses. A disagreement that `explained.rs` does not explain ends the program
//! with an error. If `ASSAY_AGREEMENT_ONLY` is set to the start of a module's name, only that
//! module is judged and shown.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use assay_spirv::{Module, Style, assemble, disassemble};
use assay_spirv_rules::rules::{self, Environment};
use assay_vulkan::{Device, DeviceOptions, Instance};

#[path = "../../spirv-rules/tests/it/support/mod.rs"]
#[expect(dead_code, reason = "the tests of the grammar need more of it")]
mod support;

use support::corpus;
use support::explained::{Judge, why_accepted, why_refused};
use support::mutate::{Random, change};

/// Text of the layer's message when its validator refuses a module.
const REFUSED: &str = "(spirv-val produced an error)";

/// Returns the output of a tool that reads standard input; the error is its complaint.
fn run(tool: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let seconds = PATIENCE.as_secs().to_string();
    let child = Command::new("timeout")
        .args([&seconds, tool])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| format!("{tool}: {error}")).expect("spirv-tools are installed");
    if let Some(mut stdin) = child.stdin.take() {
        // If a tool stops reading early, its output below gives the reason.
        let _closed = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout))
}

/// Verdict of one judge on a module.
#[derive(Debug)]
enum Verdict {
    Accepted,
    /// Names of the broken rules, or the complaint.
    Refused(Vec<String>),
}

/// Returns our own verdict.
fn ours(words: &[u32]) -> Verdict {
    let module = match Module::parse(words.to_vec()) {
        Ok(module) => module,
        Err(error) => return Verdict::Refused(vec![format!("no module: {}", kind(&error.to_string()))]),
    };
    let mut names: Vec<String> =
        rules::violations(&module, Environment::Vulkan).iter().map(|v| v.rule.name.to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    if module.unknown_instructions() > 0 {
        names.push("newer than the tables".to_owned());
    }
    if names.is_empty() { Verdict::Accepted } else { Verdict::Refused(names) }
}

/// Reduces a complaint to a category without the details of the module: its VUID, or its first
/// words.
fn kind(complaint: &str) -> String {
    if let Some(at) = complaint.find("VUID-StandaloneSpirv").or_else(|| complaint.find("VUID-RuntimeSpirv")) {
        return complaint[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    }
    if let Some((what, capabilities)) = complaint.split_once("requires one of these capabilities:") {
        let what = what.split_once("perand ").map_or(what, |(_, what)| what);
        let what: Vec<&str> = what.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic)).collect();
        let capabilities: Vec<&str> =
            capabilities.lines().next().unwrap_or_default().split_whitespace().take(6).collect();
        return format!("Operand {} requires one of these capabilities: {}", what.join(" "), capabilities.join(" "));
    }
    let message = complaint.split_once("error: ").map_or(complaint, |(_, rest)| rest);
    let message = message.rsplit_once("produced an error):").map_or(message, |(_, rest)| rest.trim());
    // For a complaint about a layout, only the part about the error matters.
    let message = message.rsplit_once("layout rules: ").map_or(message, |(_, what)| what);
    let words =
        message.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit() || "'%<[".contains(c)));
    words.take(9).collect::<Vec<_>>().join(" ")
}

/// Agreements and disagreements between us and one other judge.
struct Tally {
    judge: Judge,
    legal: u64,
    illegal: u64,
    /// Modules that we refuse and the other judge accepts, and the reverse.
    ours_only: Differences,
    theirs_only: Differences,
}

/// For each reason of a refusal that the other judge does not share: the count, the first such
/// module, and the explanation.
#[derive(Default)]
struct Differences(BTreeMap<String, (u64, String, Option<&'static str>)>);

impl Differences {
    fn note(&mut self, reason: String, name: &str, why: Option<&'static str>) {
        self.0.entry(reason).or_insert_with(|| (0, name.to_owned(), why)).0 += 1;
    }

    fn all(&self) -> u64 {
        self.0.values().map(|(count, ..)| count).sum()
    }

    fn unexplained(&self) -> u64 {
        self.0.values().filter(|(.., why)| why.is_none()).map(|(count, ..)| count).sum()
    }
}

impl Tally {
    fn new(judge: Judge) -> Tally {
        let (ours_only, theirs_only) = (Differences::default(), Differences::default());
        Tally { judge, legal: 0, illegal: 0, ours_only, theirs_only }
    }

    fn add(&mut self, name: &str, ours: &Verdict, theirs: &Verdict) {
        match (ours, theirs) {
            (Verdict::Accepted, Verdict::Accepted) => self.legal += 1,
            (Verdict::Refused(_), Verdict::Refused(_)) => self.illegal += 1,
            (Verdict::Refused(rules), Verdict::Accepted) => {
                // The disagreement is explained if every rule of it is.
                let why = rules.iter().map(|rule| why_accepted(self.judge, rule)).reduce(|a, b| a.and(b)).flatten();
                self.ours_only.note(rules.join(" + "), name, why);
            }
            (Verdict::Accepted, Verdict::Refused(complaints)) => {
                let complaint = complaints.join(" + ");
                let why = why_refused(self.judge, &complaint);
                self.theirs_only.note(complaint, name, why);
            }
        }
    }

    fn unexplained(&self) -> u64 {
        self.ours_only.unexplained() + self.theirs_only.unexplained()
    }

    fn print(&self, name: &str) {
        let (only, others) = (self.ours_only.all(), self.theirs_only.all());
        println!(
            "\n{name}: {} compared; {} legal and {} illegal to both; {only} illegal to us alone, {others} to it alone: {} explained, \
             {} not",
            self.legal + self.illegal + only + others,
            self.legal,
            self.illegal,
            only + others - self.unexplained(),
            self.unexplained()
        );
        for (who, list) in [("ours", &self.ours_only), ("its", &self.theirs_only)] {
            for (reason, (count, first, why)) in &list.0 {
                println!(
                    "  {who:>5} {count:>6}  {reason}   e.g. {first}\n                {}",
                    why.unwrap_or("NOT EXPLAINED")
                );
            }
        }
    }
}

/// The validation layer in a process of its own, because some modules end its process or make it
/// run forever.
struct Layer {
    child: Child,
    answers: Receiver<String>,
    ended_over: Vec<String>,
}

/// Words of a module's header.
const HEADER: usize = 5;

/// Time limit for one judge and one module.
const PATIENCE: Duration = Duration::from_secs(5);

/// The argument with which this program runs as the process behind [`Layer`].
const WORKER: &str = "--layer";

impl Layer {
    fn start() -> Layer {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        let mut child = command
            .arg(WORKER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if std::env::var("ASSAY_AGREEMENT_ONLY").is_ok() { Stdio::inherit() } else { Stdio::null() })
            .spawn()
            .expect("this program starts again");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, answers) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Layer { child, answers, ended_over: Vec::new() }
    }

    /// Returns `None` if the layer ended its process or did not answer in time.
    fn judge(&mut self, name: &str, words: &[u32]) -> Option<Verdict> {
        let mut message = (words.len() as u32).to_le_bytes().to_vec();
        message.extend(bytes(words));
        let input = self.child.stdin.as_mut().expect("it is piped");
        let sent = input.write_all(&message).and_then(|()| input.flush());
        let Some(answer) = sent.ok().and_then(|()| self.answers.recv_timeout(PATIENCE).ok()) else {
            let _gone = self.child.kill().and_then(|()| self.child.wait());
            let mut ended_over = std::mem::take(&mut self.ended_over);
            ended_over.push(name.to_owned());
            *self = Layer { ended_over, ..Layer::start() };
            return None;
        };
        Some(match answer.trim() {
            "" => Verdict::Accepted,
            complaint => Verdict::Refused(vec![complaint.to_owned()]),
        })
    }
}

/// Reads modules from standard input and prints one line for each: the complaint of the layer's
/// validator, or nothing.
fn worker() {
    let instance = Instance::new(true).expect("the validation layer is set up");
    let physical = instance.select(None).expect("a device");
    let device = Device::open(&physical, &DeviceOptions::default()).expect("it opens");
    let mut input = std::io::stdin().lock();
    let mut count = [0; 4];
    while input.read_exact(&mut count).is_ok() {
        let mut module = vec![0; u32::from_le_bytes(count) as usize * 4];
        input.read_exact(&mut module).expect("a whole module");
        let words: Vec<u32> = module.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let messages = device.validate(&words).expect("the mock driver takes all");
        // Other messages concern features that the device lacks.
        let refused = messages.iter().find(|message| message.text.contains(REFUSED));
        let complaint = refused.map(|m| if m.id.contains("Spirv-") { m.id.clone() } else { kind(&m.text) });
        let complaint = complaint.unwrap_or_default();
        println!("{complaint}");
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns true if this environment of spirv-val accepts modules of this version.
fn takes(minor: u32, words: &[u32]) -> bool {
    let version = words.get(1).copied().unwrap_or_default();
    let newest = [0x0001_0000, 0x0001_0300, 0x0001_0500, 0x0001_0600][minor as usize];
    version <= newest
}

/// Returns true if the words divide into whole instructions. The layer reads past the end of other
/// modules and ends its process.
fn splits(words: &[u32]) -> bool {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(first) = rest.first() {
        match rest.get((*first >> 16) as usize..) {
            Some(next) if next.len() < rest.len() => rest = next,
            _ => return false,
        }
    }
    words.len() > HEADER
}

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == WORKER) {
        return worker();
    }
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (count, seed) = (arguments.next().unwrap_or(2_000), arguments.next().unwrap_or(1));
    let limit = Duration::from_secs(arguments.next().unwrap_or(u64::from(u32::MAX)));
    let started = Instant::now();
    let only = std::env::var("ASSAY_AGREEMENT_ONLY").ok();
    let mut layer = Layer::start();

    let cases = support::cases::cases();
    let vulkan = cases.iter().filter(|case| case.vulkan);
    let cases =
        vulkan.flat_map(|case| [true, false].map(|broken| (format!("{} {broken}", case.rule), case.text(broken))));
    let examples = support::EXAMPLES.iter().enumerate().map(|(i, text)| (format!("example {i}"), (*text).to_owned()));
    let assembled = cases.chain(examples).map(|(name, text)| (name, assemble(&text).expect("a seed assembles")));
    let seeds: Vec<(String, Vec<u32>)> = assembled.chain(corpus::modules()).collect();
    let mutations = (0..count).map(|number| {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(number));
        let (name, words) = &seeds[random.below(seeds.len())];
        let mut words = words.clone();
        let header = words[..HEADER].to_vec();
        change(&mut words, &mut random);
        // No rule concerns a bound of billions, and the layer allocates tables of that size.
        words[..HEADER].copy_from_slice(&header);
        (format!("mutation {number} of {name}"), words)
    });
    let modules: Vec<(String, Vec<u32>)> = seeds.iter().cloned().chain(mutations).collect();

    let mut by_val: Vec<Tally> = (0..4).map(|_| Tally::new(Judge::SpirvVal)).collect();
    let (mut by_layer, mut text, mut unread, mut malformed) = (Tally::new(Judge::Layer), (0u64, 0u64), 0u64, 0u64);
    let (mut judged, mut unsplit) = (0, 0);
    for (name, words) in &modules {
        if started.elapsed() > limit {
            break;
        }
        judged += 1;
        if only.as_ref().is_some_and(|only| !name.starts_with(only.as_str())) {
            continue;
        }
        let ours = ours(words);
        // Text: spirv-as must assemble our text to the same words.
        let shown = disassemble(words, Style::Plain).ok();
        // The text form cannot express operands for which the grammar has no room.
        malformed += u64::from(shown.as_ref().is_some_and(|text| text.contains('!')));
        if let Some(shown) = shown.filter(|text| !text.contains('!')) {
            match run("spirv-as", &["--preserve-numeric-ids", "-o", "-", "-"], shown.as_bytes()) {
                Ok(theirs) if theirs.get(20..) == bytes(words).get(20..) => text.0 += 1,
                Ok(_) => {
                    text.1 += 1;
                    println!("spirv-as reads otherwise: {name}");
                }
                Err(_) => unread += 1,
            }
        }
        for minor in (0..4u32).filter(|minor| takes(*minor, words)) {
            let environment = format!("vulkan1.{minor}");
            let theirs = match run("spirv-val", &["--target-env", &environment, "-"], &bytes(words)) {
                Ok(_) => Verdict::Accepted,
                Err(complaint) => Verdict::Refused(vec![kind(&complaint)]),
            };
            by_val[minor as usize].add(name, &ours, &theirs);
        }
        if !splits(words) {
            unsplit += 1;
            continue;
        }
        let theirs = layer.judge(name, words);
        if only.is_some() {
            eprintln!("{name}\n{}", disassemble(words, Style::Indented).unwrap_or_default());
            eprintln!("ours: {ours:?}\nthe layer: {theirs:?}");
        }
        let Some(theirs) = theirs else { continue };
        by_layer.add(name, &ours, &theirs);
    }
    println!("{judged} modules, {} of them mutations", judged - seeds.len().min(judged));
    println!(
        "spirv-as: {} texts read as we do, {} otherwise, {unread} not read by it, {malformed} malformed",
        text.0, text.1
    );
    for (minor, tally) in by_val.iter().enumerate() {
        tally.print(&format!("spirv-val, vulkan1.{minor}"));
    }
    by_layer.print("the validation layer");
    println!("  {unsplit} not given to it: their words are not instructions one after the other");
    println!(
        "  it ended its process or gave no answer over {}, the first of them {}",
        layer.ended_over.len(),
        layer.ended_over.first().map_or("none", String::as_str)
    );
    let all = || by_val.iter().chain([&by_layer]);
    let compared: u64 = all().map(|t| t.legal + t.illegal + t.ours_only.all() + t.theirs_only.all()).sum();
    let differences: u64 = all().map(|t| t.ours_only.all() + t.theirs_only.all()).sum();
    let unexplained: u64 = all().map(Tally::unexplained).sum();
    println!(
        "\n{compared} verdicts compared, {differences} differences, {} explained, {unexplained} not",
        differences - unexplained
    );
    if unexplained + text.1 > 0 {
        std::process::exit(1);
    }
}
