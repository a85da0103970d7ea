//! Data of the atlas: the result of each precision case on each device, in a few bytes.

use super::case_parts::{FORMATS, format_of, shape_of};
use crate::{
    case_table::NATIVE,
    causes::{CauseCollector, Causes, Failure},
    name_arena::NameArena,
    read::{LineRange, LocatedLine, ReadError, ResultDir},
    scalar_types::width,
    text_table::TextTable,
};
use assay_events::{
    AtlasClass, AtlasDevice, AtlasInstruction, AtlasOther, AtlasResult, AtlasRun, CaseResult, Cause, Event, Status,
    TableRow, rerun_command,
};
use rayon::prelude::*;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    ops::Range,
};

/// Number of results that are read again at a time.
const BATCH: usize = 2_000;

/// Folder of the pages of instructions.
pub(super) const PAGE_FOLDER: &str = "instructions";

/// Result of a case on a device. Strings are interned.
#[derive(Debug)]
pub(super) struct StoredResult {
    /// Index of the name.
    name: u32,
    pub(super) run: u16,
    /// Index of the instruction.
    pub(super) instruction: u32,
    /// Index in [`FORMATS`].
    pub(super) format: u8,
    types: u32,
    shape: u32,
    modes: u32,
    source: u32,
    pub(super) status: Status,
    pub(super) margin: Option<f64>,
    pub(super) inputs: u64,
    pub(super) failing: u64,
    /// Set if every possible input was run.
    pub(super) exhaustive: bool,
    place: LineRange,
    /// Results of the case on the device that this one replaces.
    pub(super) others: Box<[AtlasOther]>,
}

/// Data of an atlas.
pub(super) struct AtlasData<'a> {
    dirs: &'a [ResultDir],
    pub(super) devices: Vec<AtlasDevice>,
    pub(super) runs: Vec<AtlasRun>,
    pub(super) instructions: Vec<AtlasInstruction>,
    /// Results by instruction, format, types, shape, device, modes and source.
    results: Vec<StoredResult>,
    /// Results of each instruction.
    of_instruction: Vec<Range<usize>>,
    /// Causes of the failures on each device.
    pub(super) causes: Vec<Causes>,
    texts: Texts,
}

/// Strings of the results.
#[derive(Default)]
struct Texts {
    names: NameArena,
    instructions: TextTable,
    types: TextTable,
    shapes: TextTable,
    modes: TextTable,
    sources: TextTable,
}

/// Fields of a result line.
struct CaseLine {
    name: String,
    instruction: String,
    types: String,
    shape: String,
    modes: String,
    source: String,
    status: Status,
    margin: Option<f64>,
    inputs: u64,
    failing: u64,
    exhaustive: bool,
    place: LineRange,
}

impl CaseLine {
    /// Returns a finished precision case; `None` for any other line.
    fn of(line: &LocatedLine<'_>) -> Option<CaseLine> {
        let brief = &line.brief;
        // The result of a check has no types.
        let shape = shape_of(&brief.name, &brief.instruction).filter(|_| brief.types.contains(" <- "))?;
        Some(CaseLine {
            shape: shape.to_owned(),
            status: brief.final_status()?,
            margin: brief.margin(),
            inputs: brief.inputs_tested,
            failing: brief.failing_inputs,
            exhaustive: brief.coverage == "every input",
            name: brief.name.to_string(),
            instruction: brief.instruction.to_string(),
            types: brief.types.to_string(),
            modes: brief.modes.to_string(),
            source: brief.source.to_string(),
            place: line.place(),
        })
    }
}

impl<'a> AtlasData<'a> {
    /// Reads the results of runs; `rows` is the precision table. Of several results of a case on a device, the one with the most
    /// inputs is kept; of equal ones the latest.
    ///
    /// # Errors
    /// The results of a run cannot be read, or it has two results of a case.
    pub(super) fn read(dirs: &'a [ResultDir], rows: &[TableRow]) -> Result<AtlasData<'a>, ReadError> {
        let mut devices: Vec<AtlasDevice> = Vec::new();
        let mut runs = Vec::new();
        let (mut texts, mut results) = (Texts::default(), Vec::new());
        for (run, dir) in dirs.iter().enumerate() {
            let device = device_of(dir);
            let place = devices.iter().position(|known| *known == device).unwrap_or_else(|| {
                devices.push(device);
                devices.len() - 1
            });
            let range = dir.run.known_settings().range;
            let before = results.len();
            dir.each(
                |line| CaseLine::of(&line),
                |some| {
                    let whole = range.is_none();
                    results.extend(some.into_iter().flatten().map(|case| texts.stored(case, run, whole)));
                },
            )?;
            runs.push(AtlasRun {
                device: place,
                folder: dir.path.display().to_string(),
                started: dir.run.started.clone(),
                budget: dir.run.budget.clone(),
                seed: dir.run.seed,
                range,
                version: dir.run.version.clone(),
                specification: dir.run.specification.clone(),
                cases: results.len() - before,
                shown: 0,
            });
        }
        let mut results = best(results, &texts, &runs, dirs)?;
        results.iter().for_each(|result| runs[usize::from(result.run)].shown += 1);
        let instructions = instructions(&texts, &mut results, rows);
        texts.sort(&mut results, &runs);
        let of_instruction = (0..instructions.len() as u32).map(|at| {
            let start = results.partition_point(|result| result.instruction < at);
            start..results.partition_point(|result| result.instruction <= at)
        });
        let of_instruction = of_instruction.collect();
        let mut data =
            AtlasData { dirs, devices, runs, instructions, results, of_instruction, causes: Vec::new(), texts };
        data.causes = data.read_causes()?;
        Ok(data)
    }

    /// Returns the results of an instruction, in order.
    pub(super) fn results_of(&self, instruction: usize) -> &[StoredResult] {
        &self.results[self.of_instruction[instruction].clone()]
    }

    /// Returns all results, in order.
    pub(super) fn results(&self) -> &[StoredResult] {
        &self.results
    }

    /// Returns the index of the device of a result.
    pub(super) fn device(&self, result: &StoredResult) -> usize {
        self.runs[usize::from(result.run)].device
    }

    /// Returns the name of the case.
    pub(super) fn name(&self, result: &StoredResult) -> &str {
        self.texts.names.get(result.name as usize)
    }

    /// Returns the types of the case.
    pub(super) fn types(&self, result: &StoredResult) -> &str {
        self.texts.types.get(result.types)
    }

    /// Returns the shape of the case.
    pub(super) fn shape(&self, result: &StoredResult) -> &str {
        self.texts.shapes.get(result.shape)
    }

    /// Returns the modes of the case.
    pub(super) fn modes(&self, result: &StoredResult) -> &str {
        self.texts.modes.get(result.modes)
    }

    /// Returns the source of the operands.
    pub(super) fn source(&self, result: &StoredResult) -> &str {
        self.texts.sources.get(result.source)
    }

    /// Returns the name of a device with its driver.
    pub(super) fn driver(&self, device: usize) -> String {
        let device = &self.devices[device];
        format!("{} {}", device.driver_name, device.driver_info).trim().to_owned()
    }

    /// Returns the options of a selection: modes, shapes or sources of the results, in order.
    pub(super) fn options<'s>(&'s self, of: impl Fn(&'s StoredResult) -> &'s str) -> Vec<&'s str> {
        let all: BTreeSet<&str> = self.results.iter().map(of).collect();
        let mut all: Vec<&str> = all.into_iter().collect();
        all.sort_by_key(|text| (mode_rank(text), *text));
        all
    }

    /// Reads results again, whole. Their order is kept.
    ///
    /// # Errors
    /// The results cannot be read, or have changed.
    pub(super) fn cases(&self, of: &[&StoredResult]) -> Result<Vec<CaseResult>, ReadError> {
        let mut by_run: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        of.iter().enumerate().for_each(|(at, result)| by_run.entry(result.run).or_default().push(at));
        let mut cases: Vec<(usize, CaseResult)> = Vec::with_capacity(of.len());
        for (run, places) in by_run {
            let lines: Vec<LineRange> = places.iter().map(|&at| of[at].place).collect();
            let dir = &self.dirs[usize::from(run)];
            for (at, event) in places.into_iter().zip(dir.read_events(&lines)?) {
                let Event::CaseFinished(case) = event else {
                    let source = io::Error::other("it has changed while the atlas was made");
                    return Err(ReadError::Read { path: dir.file(), source });
                };
                cases.push((at, *case));
            }
        }
        cases.sort_unstable_by_key(|(at, _)| *at);
        Ok(cases.into_iter().map(|(_, case)| case).collect())
    }

    /// Applies `take` to each result, whole, and passes the values to `put`, in order.
    ///
    /// # Errors
    /// The results cannot be read, or `put` fails.
    pub(super) fn each_result<T: Send>(
        &self,
        take: impl Fn(AtlasResult) -> T + Sync,
        mut put: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        for batch in self.results.chunks(BATCH) {
            let cases = self.cases(&batch.iter().collect::<Vec<_>>()).map_err(io::Error::other)?;
            let taken: Vec<T> =
                batch.par_iter().zip(cases).map(|(result, case)| take(self.whole(result, case))).collect();
            taken.into_iter().try_for_each(&mut put)?;
        }
        Ok(())
    }

    fn whole(&self, result: &StoredResult, case: CaseResult) -> AtlasResult {
        let run = usize::from(result.run);
        let classes = case.classes.into_iter();
        AtlasResult {
            format: FORMATS[usize::from(result.format)].to_owned(),
            shape: self.shape(result).to_owned(),
            device: self.device(result),
            run,
            command: self.rerun(result),
            classes: classes.map(|of| AtlasClass { status: of.status, class: of.class, count: of.count }).collect(),
            others: result.others.to_vec(),
            instruction: case.instruction,
            types: case.types,
            modes: case.modes,
            source: case.source,
            case: case.name,
            status: case.status,
            reason: case.reason,
            rule: case.rule,
            clause: case.clause,
            inputs_tested: case.inputs_tested,
            inputs_possible: case.inputs_possible,
            coverage: case.coverage,
            failing_inputs: case.failing_inputs,
            warning_inputs: case.warning_inputs,
            worst: case.worst,
            profile: case.profile,
        }
    }

    /// Returns the causes of an instruction's failures on a device, each with the command that repeats
    /// its simplest case.
    pub(super) fn causes_of(&self, device: usize, instruction: usize) -> impl Iterator<Item = (&Cause, String)> {
        let name = &self.instructions[instruction].name;
        let causes = self.causes[device].list.iter().filter(move |cause| cause.instruction == *name);
        causes.map(move |cause| {
            let case = &cause.representative.case;
            let is_it = |result: &&StoredResult| self.device(result) == device && self.name(result) == case;
            let found = self.results_of(instruction).iter().find(is_it);
            (cause, found.map_or_else(String::new, |result| self.rerun(result)))
        })
    }

    /// Returns the command that repeats a case.
    pub(super) fn rerun(&self, result: &StoredResult) -> String {
        rerun_command(&self.dirs[usize::from(result.run)].run, self.name(result))
    }

    /// Groups the failures of each device by cause.
    fn read_causes(&self) -> Result<Vec<Causes>, ReadError> {
        let mut collectors = vec![CauseCollector::default(); self.devices.len()];
        for result in self.results.iter().filter(|result| result.status.is_checked()) {
            let instruction = &self.instructions[result.instruction as usize].name;
            collectors[self.device(result)].count_checked(self.name(result), instruction, NATIVE);
        }
        let failing: Vec<&StoredResult> = self.results.iter().filter(|result| result.status.is_failure()).collect();
        for batch in failing.chunks(BATCH) {
            for (result, case) in batch.iter().zip(self.cases(batch)?) {
                if let Some(failure) = Failure::of_case(&case) {
                    collectors[self.device(result)].add(failure, true);
                }
            }
        }
        Ok(collectors.iter().map(CauseCollector::causes).collect())
    }
}

impl Texts {
    /// Stores a case. `whole` is true if the run did not restrict the inputs to a range.
    fn stored(&mut self, case: CaseLine, run: usize, whole: bool) -> StoredResult {
        self.names.push(&case.name);
        StoredResult {
            name: self.names.len() as u32 - 1,
            run: run as u16,
            instruction: self.instructions.number(&case.instruction),
            format: format_of(&case.types),
            types: self.types.number(&case.types),
            shape: self.shapes.number(&case.shape),
            modes: self.modes.number(&case.modes),
            source: self.sources.number(&case.source),
            status: case.status,
            margin: case.margin,
            inputs: case.inputs,
            failing: case.failing,
            exhaustive: case.exhaustive && whole,
            place: case.place,
            others: Box::default(),
        }
    }

    /// Sorts results by instruction, format, types, shape, device, modes and source.
    fn sort(&self, results: &mut [StoredResult], runs: &[AtlasRun]) {
        let key = |result: &StoredResult| {
            let shape = self.shapes.get(result.shape);
            let modes = self.modes.get(result.modes);
            (
                (result.instruction, result.format, width(self.types.get(result.types)), mode_rank(shape), shape),
                (self.types.get(result.types), runs[usize::from(result.run)].device, mode_rank(modes), modes),
                (self.sources.get(result.source), self.names.get(result.name as usize)),
            )
        };
        results.par_sort_by_cached_key(key);
    }
}

/// Returns a rank that puts plain choices first: `default`, `scalar` and `buffer`, then single modes,
/// then combinations.
fn mode_rank(text: &str) -> usize {
    if ["default", "scalar", "buffer"].contains(&text) { 0 } else { 1 + text.matches('+').count() }
}

/// Returns the device of a run.
fn device_of(dir: &ResultDir) -> AtlasDevice {
    let device = &dir.run.device;
    AtlasDevice {
        name: device.name.clone(),
        api: device.api.clone(),
        driver_name: device.driver_name.clone(),
        driver_info: device.driver_info.clone(),
        driver_version: device.driver_version,
        processor: (device.kind == "cpu").then(|| device.host_cpu.clone()),
    }
}

/// Keeps the best result of each case on each device.
fn best(
    mut results: Vec<StoredResult>,
    texts: &Texts,
    runs: &[AtlasRun],
    dirs: &[ResultDir],
) -> Result<Vec<StoredResult>, ReadError> {
    let run = |result: &StoredResult| &runs[usize::from(result.run)];
    let case = |result: &StoredResult| (run(result).device, texts.names.get(result.name as usize));
    results.par_sort_by(|a, b| {
        let rank = |result: &StoredResult| Reverse((result.inputs, run(result).started.clone(), result.run));
        case(a).cmp(&case(b)).then_with(|| rank(a).cmp(&rank(b)))
    });
    let mut kept: Vec<StoredResult> = Vec::new();
    for result in results {
        let Some(best) = kept.last_mut().filter(|best| case(best) == case(&result)) else {
            kept.push(result);
            continue;
        };
        let run = usize::from(result.run);
        if best.run == result.run || best.others.iter().any(|other| other.run == run) {
            let name = texts.names.get(result.name as usize).to_owned();
            return Err(ReadError::Twice { path: dirs[run].file(), name });
        }
        let mut others = std::mem::take(&mut best.others).into_vec();
        others.push(AtlasOther { run, status: result.status, inputs_tested: result.inputs });
        best.others = others.into();
    }
    Ok(kept)
}

/// Returns the instructions that have results, in the order of the table, and numbers the results
/// accordingly. Instructions that the table does not have follow by name.
fn instructions(texts: &Texts, results: &mut [StoredResult], rows: &[TableRow]) -> Vec<AtlasInstruction> {
    let mut places: HashMap<&str, (usize, &str)> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        places.entry(&row.instruction).or_insert((place, &row.family));
    }
    let used: BTreeSet<u32> = results.iter().map(|result| result.instruction).collect();
    let mut order: Vec<u32> = used.into_iter().collect();
    let place = |number: u32| {
        let name = texts.instructions.get(number);
        (places.get(name).map_or(usize::MAX, |(place, _)| *place), name)
    };
    order.sort_by_key(|&number| place(number));
    let mut number_of = vec![0; texts.instructions.list.len()];
    order.iter().enumerate().for_each(|(new, &old)| number_of[old as usize] = new as u32);
    results.iter_mut().for_each(|result| result.instruction = number_of[result.instruction as usize]);
    let mut pages = PageNames::default();
    order
        .into_iter()
        .map(|number| {
            let name = texts.instructions.get(number);
            AtlasInstruction {
                name: name.to_owned(),
                family: places.get(name).map_or("other", |(_, family)| *family).to_owned(),
                page: pages.page(name),
            }
        })
        .collect()
}

/// Names of pages that were given.
#[derive(Default)]
struct PageNames(BTreeSet<String>);

impl PageNames {
    /// Returns the path of the page of an instruction: safe in any file system and address, and
    /// distinct.
    fn page(&mut self, instruction: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let stem: String = instruction.chars().take(60).map(plain).collect();
        let stem = if stem.is_empty() { "_".to_owned() } else { stem };
        let names = (0..).map(|n| if n == 0 { stem.clone() } else { format!("{stem}-{n}") });
        let name = names.into_iter().find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(name.clone());
        format!("{PAGE_FOLDER}/{name}.html")
    }
}
