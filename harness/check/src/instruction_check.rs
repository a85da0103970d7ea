//! Check of a shader's instructions by themselves, where its output says little.
//!
//! Errors of many instructions add up, and a branch on a result with several permitted values may
//! go either way, so that the permitted output of some shaders is nearly anything: noise functions,
//! path tracers, simulations. Each of their instructions is still well defined for its own operands.
//! Instrumented variants record the operands and the results of all computations
//! ([`crate::instrument`]), and each result is compared with the permitted ones for its recorded
//! operands. Loads, stores and control flow are not checked.
//!
//! If the shader may have undefined behaviour, which would make every record right, the variants
//! are those of a shader without it ([`crate::defined_variant`]), run with robust buffer access.
//!
//! A variant records some of the instructions, since drivers take long to compile many stores. Their
//! number follows from the time that the last variant took. Once one has taken long, the loops of the
//! others are not unrolled ([`crate::rolled_loops`]). Rounds with different modes
//! ([`crate::parameter_search`]) execute different instructions: each records those that no earlier one
//! executed.

use crate::check::Check;
use crate::defined_variant::DefinedVariants;
use crate::instrument::{JudgedProbe, ProbeSelection, computations, instrument, name};
use crate::observed_choices::VariantRun;
use crate::rolled_loops::rolled;
use crate::status;
use assay_events::{Blame, CheckResult, Status, TracedInstructions, Writes, group_digits};
use assay_exec::Target;
use assay_oracle::{Place, Robustness};
use assay_precision::Specification;
use assay_spirv::Module;
use assay_spirv::module::InstructionIndex;
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Instructions that the first variant records, and the most that one records.
const PROBES: (usize, usize) = (4, 32);

/// Time of a variant below which the next one records twice as many instructions. One that takes longer
/// is followed by one that records a quarter of them, with loops that are not unrolled: the time grows
/// with a power of the number.
const QUICK: Duration = Duration::from_secs(2);

/// Records of all instructions together that are checked.
const ROWS: u64 = 1 << 18;

/// Least number of records of an instruction that are checked, if there are as many.
const LEAST_ROWS: u64 = 256;

/// Time after which no further variant is run, with the usual patience, if half of the computations are
/// checked. Until then, twice as much is permitted.
const TIME: Duration = Duration::from_secs(60);

/// Time that the device took for the shader, in seconds, above which the loops of all variants are not
/// unrolled, and above which no variant is run: it takes several times as long for one.
const SLOW: [f64; 2] = [4.0, 30.0];

/// The instrumented variants of one module.
#[derive(Clone, Copy)]
struct Variants<'a> {
    /// The shader, perhaps with guards.
    of: &'a Module,
    robustness: Robustness,
}

/// Judged instructions of some rounds.
#[derive(Default)]
struct JudgedInstructions {
    traced: TracedInstructions,
    /// Largest number of lenient results of an instruction.
    most_lenient: u64,
    /// Number of instructions with at least [`Writes::FEW`] results that could have come out wrong.
    frequent: u64,
    /// Instructions that were executed.
    executed: BTreeSet<u32>,
    /// The executed instructions of which no result could have come out wrong, as they are named to users.
    open: Vec<String>,
    /// The instructions that were not executed, as they are named to users.
    unexecuted: Vec<String>,
    /// The first wrong instruction.
    wrong: Option<Blame>,
    /// Reason why a wrong instruction proves nothing.
    doubt: Option<String>,
    /// Reason why some instructions were not judged.
    stopped: Option<String>,
    /// The instructions for which the time did not suffice, as they are named to users.
    late: Vec<String>,
}

impl Check<'_> {
    /// Checks the instructions of a shader whose output says little by themselves, and adds what that
    /// shows to the result. A variant that is not possible becomes a note.
    ///
    /// Through wgpu, naga translates the variant and drops what forbids contraction, so that its
    /// records would prove nothing.
    pub(crate) fn check_instructions(&self, result: &mut CheckResult, target: &dyn Target) {
        // The oracle may have given up long before the end of a shader that writes something.
        let did_much = |written| result.executed.as_ref().is_some_and(|executed| executed.did_much(written));
        let writes =
            |of: &Writes| of.written > 0 && (did_much(of.written) || Writes::is_enough(of.written, of.elements));
        let writes = result.writes.as_ref().is_some_and(writes);
        let is_open = matches!(result.status, Status::Pass | Status::QualityWarning | Status::Undetermined);
        let device_time = result.times.wall - result.times.check;
        let module = &self.shader.source.module;
        let is_exact = self.setup.rules == Specification::Vulkan && self.expectations.is_empty();
        if !is_open {
            return;
        }
        let obstacle = match () {
            () if !writes => Some("the shader wrote too few elements"),
            () if device_time > SLOW[1] => Some("a variant would take the device too long"),
            () if self.benign_races => Some("with a benign race they prove nothing"),
            () if !is_exact => Some("that is done under Vulkan's rules without expectations"),
            () => None,
        };
        if let Some(why) = obstacle {
            result.notes.push(format!("the instructions were not checked by themselves: {why}"));
            return;
        }
        // The rounds that ran, and those that wrote something, if there are any. A later one has only the
        // instructions that no earlier one executed.
        let is_left_out = |round: u32, reasons: &[&str]| {
            let why = result.unjudged.iter().filter(|one| one.round == round).map(|one| &one.why);
            why.into_iter().any(|why| reasons.iter().any(|reason| why.starts_with(reason)))
        };
        let rounds = |reasons: &[&str]| -> Vec<u32> {
            (0..self.setup.rounds).filter(|round| !is_left_out(*round, reasons)).collect()
        };
        let written = rounds(&["was not", "wrote nothing"]);
        let rounds = if written.is_empty() { rounds(&["was not"]) } else { written };
        if rounds.is_empty() {
            return;
        }
        let defined = DefinedVariants::new(module, &self.setup);
        // The invocations outside of a subset may have any.
        let of_others = self.sample.is_some().then(|| defined.excluding_all());
        let guarded = match (&result.possible_fault, of_others) {
            (Some(fault), of_others) => {
                Some((fault.to_string(), fault.clause(), of_others.unwrap_or(fault.excluded_by)))
            }
            (None, Some(by)) => {
                let fault = "undefined behaviour of invocations outside of the subset".to_owned();
                let clause = format!("the shader may have {fault}");
                Some((fault, clause, by))
            }
            (None, None) => None,
        };
        let guarded = guarded.map(|(fault, clause, by)| (fault, clause, by, defined.variant(by)));
        let variants = match &guarded {
            None => Variants { of: module, robustness: self.robustness },
            Some((.., Ok(guarded))) => {
                let robustness = match self.robustness {
                    Robustness::None => Robustness::Access,
                    robustness => robustness,
                };
                Variants { of: guarded, robustness }
            }
            Some((_, clause, _, Err(why))) => {
                result.notes.push(format!(
                    "the instructions were not checked by themselves, which would prove nothing: {clause}, and {why}"
                ));
                return;
            }
        };
        let slow = (device_time > SLOW[0]).then(|| rolled(variants.of)).flatten();
        let variants = Variants { of: slow.as_ref().unwrap_or(variants.of), ..variants };
        let JudgedInstructions { traced, frequent, wrong, doubt, stopped, late, open, unexecuted, .. } =
            self.judge_instructions(&rounds, target, variants);
        let not_judged = |why: String| format!("some instructions could not be checked by themselves: {why}");
        result.notes.extend(stopped.map(not_judged));
        let advice = self.advice(" (--patience 4 permits more)").unwrap_or_default();
        result.notes.extend(some(&late, &format!("for which the time did not suffice{advice}")));
        if let (Some((fault, _, Some(by), _)), true) = (&guarded, traced.results > 0) {
            result.notes.push(format!(
                "Assay does not know enough to rule out {fault}, so it checked the instructions in a variant with \
                 {by}, which exclude it"
            ));
        }
        if doubt.is_some() {
            result.notes.extend(doubt);
            return;
        }
        let writes_few = |of: &Writes| of.written < Writes::FEW && !Writes::is_enough(of.written, of.elements);
        let wrote_few = result.writes.as_ref().is_none_or(writes_few);
        if wrote_few && 2 * frequent <= traced.of && wrong.is_none() {
            result.notes.push(format!(
                "{traced} were checked by themselves and are permitted, but that says little: most of the computations \
                 gave fewer than {} results",
                Writes::FEW
            ));
            return;
        }
        if traced.results > 0 {
            let open = some(&open, "of which Assay knows no wrong result");
            result.notes.extend(open.into_iter().chain(some(&unexecuted, "that no invocation of the device executed")));
        }
        if wrong.is_some() || traced.is_meaningful() {
            let warnings = status::thin_warnings(result, self.advice_to_vary().as_deref());
            result.notes.retain(|note| !warnings.contains(note));
        }
        status::by_instructions(result, traced, wrong);
    }

    /// Runs the variants of the rounds until one has a wrong instruction.
    fn judge_instructions(&self, rounds: &[u32], target: &dyn Target, variants: Variants<'_>) -> JudgedInstructions {
        let started = Instant::now();
        let rolled = LazyCell::new(|| rolled(variants.of));
        let (mut indices, unrecorded) = computations(variants.of, &self.setup.entry, self.id_bound());
        let reachable = self.program.reachable_instructions();
        indices.retain(|index| reachable.contains(&self.original(variants.of, *index)));
        let rows = (ROWS / (indices.len() as u64).max(1)).max(LEAST_ROWS);
        let traced = TracedInstructions { of: indices.len() as u64, unrecorded, ..TracedInstructions::default() };
        let mut found = JudgedInstructions { traced, ..JudgedInstructions::default() };
        let (mut probes, mut last) = (PROBES.0, Duration::ZERO);
        let mut current = variants;
        let mut rounds = rounds.iter().copied();
        let (mut round, mut rest) = (rounds.next().unwrap_or(0), indices.clone());
        loop {
            if rest.is_empty() {
                let Some(next) = rounds.next() else { break };
                round = next;
                rest = indices.iter().copied().filter(|index| !found.executed.contains(index)).collect();
                continue;
            }
            // The next variant takes at most about as long as the last one, for as many instructions.
            // Few instructions make no verdict, which is worth twice the time.
            let time = self.variants_time() * if found.traced.is_meaningful() { 1 } else { 2 };
            if started.elapsed() + last > time {
                found.late = rest.iter().map(|index| self.titled(variants.of, *index)).collect();
                break;
            }
            // The range of a variant has no instructions that an earlier round executed.
            let has_executed = |pair: &[u32]| found.executed.range(pair[0]..pair[1]).next().is_some();
            let run = rest.windows(2).position(has_executed).map_or(rest.len(), |at| at + 1);
            let part: Vec<u32> = rest.drain(..probes.min(run)).collect();
            let before = Instant::now();
            let judged = self.judge_part(part[0]..part[part.len() - 1] + 1, (round, rows), target, current);
            last = before.elapsed();
            if last < QUICK {
                probes = (2 * probes).min(PROBES.1);
            } else {
                (probes, last) = ((probes / 4).max(1), last / 4);
                current.of = rolled.as_ref().unwrap_or(variants.of);
            }
            let judged = match judged {
                Ok(judged) => judged,
                Err(why) => {
                    found.stopped = Some(why);
                    break;
                }
            };
            for (instruction, probe) in &judged {
                found.executed.insert(*instruction);
                found.frequent += u64::from(probe.results >= Writes::FEW);
                if probe.results == 0 {
                    found.open.push(probe.title.clone());
                }
                found.traced.instructions += u64::from(probe.results > 0);
                found.traced.results += probe.results;
                found.traced.lenient += probe.lenient;
                if probe.lenient > found.most_lenient {
                    found.most_lenient = probe.lenient;
                    found.traced.most_lenient = Some(probe.title.clone());
                }
            }
            let blamed: Vec<Blame> = judged.into_iter().filter_map(|(_, probe)| probe.blame).collect();
            let Some(first) = blamed.first() else { continue };
            // Alone, an instruction has its records elsewhere: an access of the shader that Assay
            // did not follow may have damaged them.
            let is_wrong_alone = |blame: &&Blame| {
                let made = self.shader.source.module.instruction(InstructionIndex(blame.instruction)).result();
                let Some(at) = made.and_then(|result| variants.of.definition_index(result)) else { return false };
                let alone = at.0..at.0 + 1;
                let judged = self.judge_part(alone, (round, rows), target, current);
                judged.is_ok_and(|judged| judged.iter().any(|(_, probe)| probe.blame.is_some()))
            };
            found.wrong = blamed.iter().find(is_wrong_alone).cloned();
            if found.wrong.is_none() {
                found.doubt = Some(format!(
                    "{} at {} gave results that are not permitted for its operands in one instrumented variant of the \
                     shader, but not in another that records it alone, so the instructions are not judged",
                    first.name, first.place
                ));
            }
            break;
        }
        if found.stopped.is_none() && found.late.is_empty() && found.wrong.is_none() && found.doubt.is_none() {
            let left_out = indices.into_iter().filter(|index| !found.executed.contains(index));
            found.unexecuted = left_out.map(|index| self.titled(variants.of, index)).collect();
            found.traced.unexecuted = found.unexecuted.len() as u64;
        }
        found
    }

    /// Returns the time after which no further variant is run.
    fn variants_time(&self) -> Duration {
        TIME.saturating_mul(u32::try_from(self.limits.patience()).unwrap_or(u32::MAX))
    }

    /// Returns an instruction of a variant as it is named to users: `OpFDiv at blur.comp:3:4: x / y`.
    fn titled(&self, variant: &Module, index: u32) -> String {
        let place = Place { instruction: self.original(variant, index), line: None };
        let name = name(&variant.instruction(InstructionIndex(index)));
        format!("{name} at {}", self.shader.location(place))
    }

    /// Runs the variant that records the computations in a range of instructions, and judges about
    /// this number of records of each. Returns the executed ones by their instructions in the variants'
    /// module.
    fn judge_part(
        &self,
        Range { start: from, end: to }: Range<u32>,
        (round, rows): (u32, u64),
        target: &dyn Target,
        variants: Variants<'_>,
    ) -> Result<Vec<(u32, JudgedProbe)>, String> {
        let module = variants.of;
        let recorded = ProbeSelection::Computations { from, to, bound: self.id_bound() };
        let instrumented = instrument(module, &self.setup, recorded).map_err(|error| error.to_string())?;
        let VariantRun { given, output } = self.run_variant(&instrumented, round, target, variants.robustness)?;
        let place = |index: u32| self.shader.location(Place { instruction: self.original(module, index), line: None });
        let reader = instrumented.reader(module, &self.setup, &given, &output, &place);
        let reader = reader.ok_or("the device returned no records")?;
        let mut judged: Vec<(u32, JudgedProbe)> = reader.judged_computations(rows).collect();
        for blame in judged.iter_mut().filter_map(|(_, probe)| probe.blame.as_mut()) {
            blame.instruction = self.original(module, blame.instruction).0;
        }
        Ok(judged)
    }

    /// Returns the shader's instruction that makes the result of an instruction of a variant: guards have
    /// moved it.
    fn original(&self, variant: &Module, index: u32) -> InstructionIndex {
        let result = variant.instruction(InstructionIndex(index)).result();
        let found = result.and_then(|result| self.shader.source.module.definition_index(result));
        found.unwrap_or(InstructionIndex(index))
    }

    /// Returns the bound of the ids of the shader, without those that a variant adds: they are no computations
    /// of the shader.
    fn id_bound(&self) -> u32 {
        self.shader.own_ids.unwrap_or(self.shader.source.module.header().bound)
    }
}

/// Largest number of instructions that a note names.
const NAMED: usize = 3;

/// Returns a note on some computations, of each of which the clause holds; `None` without any.
fn some(computations: &[String], clause: &str) -> Option<String> {
    let plural = if computations.len() == 1 { "" } else { "s" };
    let named = computations.get(..NAMED).unwrap_or(computations).join("; ");
    let more = match computations.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {} more", group_digits(more)),
    };
    (!computations.is_empty())
        .then(|| format!("{} computation{plural} {clause} could not be checked: {named}{more}", computations.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, ShaderSource};
    use assay_spirv::tables::{Decoration, Op};

    #[test]
    fn a_note_names_some_computations() {
        let all: Vec<String> = (1..=5).map(|line| format!("OpFMul at a.comp:{line}")).collect();
        assert_eq!(some(&all[..0], "that no invocation of the device executed"), None);
        let one = "1 computation that no invocation of the device executed could not be checked: OpFMul at a.comp:1";
        assert_eq!(some(&all[..1], "that no invocation of the device executed").as_deref(), Some(one));
        let five = "5 computations that no invocation of the device executed could not be checked: OpFMul at a.comp:1; OpFMul at \
                    a.comp:2; OpFMul at a.comp:3; and 2 more";
        assert_eq!(some(&all, "that no invocation of the device executed").as_deref(), Some(five));
    }

    /// A recorded comparison must not be rearranged with a product that another variant records.
    #[test]
    fn a_variant_forbids_contraction_of_what_it_does_not_record() {
        let text = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let x = data[id.x] * 1.5 + data[id.x + 4u];
                if x - 2.0 < data[id.x] * 0.25 { data[id.x] = x; }
            }";
        let shader = ShaderSource::read("test.wgsl", text.as_bytes()).unwrap();
        let check = Check::new(&shader, &Options::default()).unwrap();
        let (indices, _) = computations(&shader.source.module, "main", u32::MAX);
        let last = *indices.last().unwrap();
        let recorded = ProbeSelection::Computations { from: last, to: last + 1, bound: u32::MAX };
        let variant = instrument(&shader.source.module, &check.setup, recorded).unwrap();
        let module = Module::parse(variant.words).unwrap();
        let is_float = |op| matches!(op, Some(Op::FAdd | Op::FSub | Op::FMul));
        let floats: Vec<u32> = module.instructions().filter(|i| is_float(i.op)).filter_map(|i| i.result()).collect();
        assert_eq!(floats.len(), 4);
        for id in floats {
            let forbidden = module.decorations(id).filter(|d| d.decoration == Some(Decoration::NoContraction));
            assert_eq!(forbidden.count(), 1, "%{id}");
        }
    }
}
