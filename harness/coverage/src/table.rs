//! The table: each statement with what covers it.

use crate::CoverageError;
use crate::evidence::{Evidence, Fate, Ruled};
use crate::statement::{Document, List, Statement, Without};
use assay_oracle::Watch;
use assay_precision::{Call, Modes, Op, Scalar, Shape};
use assay_spirv::tables::{CAPABILITY_ENABLING, EXTENSION_ENABLING};
use std::collections::BTreeSet;

/// How a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A rule, a case or the reference covers it.
    Covered,
    /// Nothing does, and the row says why.
    Explained,
    /// Nothing does, and nothing says why.
    Hole,
}

/// A statement with what covers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The statement's name.
    pub name: String,
    /// What it asks for.
    pub says: String,
    /// Rules that decide it.
    pub rules: Vec<String>,
    /// Groups of cases.
    pub cases: Vec<String>,
    /// What computes what it permits.
    pub functions: Vec<String>,
    /// Why nothing covers it.
    pub reason: Option<String>,
    /// What its cover does not show.
    pub note: Option<String>,
    /// Planted violations that its cover is shown to catch, in words.
    pub proofs: Vec<String>,
    /// Reason for which no violation is planted.
    pub unplanted: Option<String>,
}

impl Row {
    /// Returns true if something covers the row and no planted violation shows that this can fail.
    pub fn is_unproven(&self) -> bool {
        self.standing() == Standing::Covered && self.proofs.is_empty()
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        match self {
            Row { rules, cases, functions, .. } if !(rules.is_empty() && cases.is_empty() && functions.is_empty()) => {
                Standing::Covered
            }
            Row { reason: Some(_), .. } => Standing::Explained,
            _ => Standing::Hole,
        }
    }
}

/// Rows under one heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading.
    pub name: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A document's rows.
#[derive(Clone, Debug)]
pub struct Covered {
    /// The document's name.
    pub name: String,
    /// What is to be known of all of its rows.
    pub about: String,
    /// Its rows, by section.
    pub sections: Vec<Section>,
}

/// All documents' rows.
#[derive(Clone, Debug)]
pub struct Table {
    /// The documents.
    pub documents: Vec<Covered>,
    /// How many cases there were to look for cover in.
    pub cases: usize,
}

impl Table {
    /// The table of these documents.
    ///
    /// # Errors
    /// A statement or a case names what does not exist.
    pub fn new(documents: &[Document], evidence: &Evidence) -> Result<Table, CoverageError> {
        let names: BTreeSet<String> =
            documents.iter().flat_map(|d| d.statements.iter().map(move |s| format!("{}/{}", d.name, s.id))).collect();
        for seen in &evidence.programs {
            if let Some(name) = seen.covers.iter().find(|name| !names.contains(**name)) {
                return Err(CoverageError::Unknown { case: seen.name.clone(), name: (*name).to_owned() });
            }
        }
        let documents = documents.iter().map(|document| covered(document, evidence)).collect::<Result<_, _>>()?;
        Ok(Table { documents, cases: evidence.cases })
    }

    /// Every row.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.documents.iter().flat_map(|document| &document.sections).flat_map(|section| &section.rows)
    }

    /// How many rows stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.rows().filter(|row| row.standing() == standing).count()
    }
}

fn covered(document: &Document, evidence: &Evidence) -> Result<Covered, CoverageError> {
    let mut sections: Vec<Section> = Vec::new();
    for statement in &document.statements {
        let row = row(document, statement, evidence)?;
        match sections.last_mut().filter(|section| section.name == statement.section) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section { name: statement.section.clone(), rows: vec![row] }),
        }
    }
    sections.extend(document.lists.iter().map(|list| listed(*list, &document.without, evidence)));
    Ok(Covered { name: document.name.clone(), about: document.about.clone(), sections })
}

fn row(document: &Document, statement: &Statement, evidence: &Evidence) -> Result<Row, CoverageError> {
    let dangling = |what: &'static str, name: &str| CoverageError::Dangling {
        document: document.name.clone(),
        statement: statement.id.clone(),
        what,
        name: name.to_owned(),
    };
    let mut row = Row {
        name: statement.id.clone(),
        says: statement.says.clone(),
        functions: statement.functions.clone(),
        reason: statement.why.clone(),
        note: statement.note.clone(),
        proofs: statement.proofs(),
        unplanted: statement.unplanted.clone(),
        ..Row::default()
    };
    for id in &statement.rules {
        let rule = evidence.rule(id).ok_or_else(|| dangling("the rule", id))?;
        decide(&mut row, rule);
    }
    let own = format!("{}/{}", document.name, statement.id);
    if let Some(suite) = statement.suites.iter().find(|name| !assay_suite::all().iter().any(|s| s.name() == **name)) {
        return Err(dangling("the suite", suite));
    }
    row.cases = evidence.groups(|seen| seen.covers(&own, statement));
    for name in &statement.ops {
        let op =
            Op::ALL.iter().copied().find(|op| op.name() == name).ok_or_else(|| dangling("the instruction", name))?;
        instruction(&mut row, op, evidence);
    }
    for name in &statement.modes {
        let mode = Modes::NAMES.into_iter().find(|mode| mode == name).ok_or_else(|| dangling("the mode", name))?;
        if evidence.modes.contains(mode) {
            row.cases.push(format!("precision.* with {mode}"));
        }
    }
    for format in &statement.formats {
        let prefix = format!("precision.{format}");
        if !evidence.precision.values().any(|measured| measured.formats.contains(format)) {
            return Err(dangling("the format", format));
        }
        row.cases.push(prefix);
    }
    Ok(row)
}

/// Adds a rule of the text, or why it covers nothing.
fn decide(row: &mut Row, rule: &Ruled) {
    let mut because = |why: &str| {
        row.reason.get_or_insert_with(|| why.to_owned());
    };
    match rule.fate {
        Fate::Checked(name) => row.rules.push(format!("`{name}`")),
        Fate::Need => row.rules.push("a need of the module".to_owned()),
        Fate::Implied(by) => row.rules.push(format!("implied by {by}")),
        Fate::NotChecked(why) => because(why),
        Fate::RunTime(watch) => match watch {
            Watch::Enforced(function) | Watch::Followed(function) => row.functions.push(function.to_owned()),
            Watch::Elsewhere(function) => row.functions.push(function.to_owned()),
            Watch::Refused(what) => because(&format!("the reference refuses such modules: {what}")),
            Watch::Cannot(why) => because(why),
            Watch::Open(why) => because(why),
        },
    }
}

/// Adds a row of the precision table: its rule in words, and its cases.
fn instruction(row: &mut Row, op: Op, evidence: &Evidence) {
    let words = |format| {
        let call = Call::shapes(op).iter().find_map(|shape: &Shape| {
            let scalar = Call::scalars(op).iter().copied().find(|scalar| *scalar == Scalar::Float(format));
            let scalar = scalar.or_else(|| Call::scalars(op).first().copied())?;
            Call::new(
                op,
                scalar,
                *shape,
                Call::sources(op).iter().copied().find(|from| *from != scalar),
                Modes::default(),
            )
            .ok()
        })?;
        Some(call.rule())
    };
    let (single, half) = (words(assay_float::F32), words(assay_float::F16));
    let said = match (single, half) {
        (Some(single), Some(half)) if single != half => format!("{single}; half: {half}"),
        (Some(single), _) => single,
        (None, half) => half.unwrap_or_default(),
    };
    if !row.says.contains(&said) {
        let before = if row.says.is_empty() { "" } else { "; " };
        row.says += &format!("{before}{said}");
    }
    row.functions.push(format!("precision::table::of {}", op.name()));
    match evidence.precision.get(&op) {
        Some(measured) => {
            let formats: Vec<&str> = measured.formats.iter().map(String::as_str).collect();
            let formats = if formats.len() == 1 { formats[0].to_owned() } else { format!("{{{}}}", formats.join(",")) };
            row.cases.push(format!("precision.{formats}.{}", op.case_name()));
        }
        None => {
            let note = row.note.get_or_insert_default();
            let before = if note.is_empty() { "" } else { "; " };
            *note += &format!("{before}no case runs {}", op.name());
        }
    }
}

fn listed(list: List, without: &[Without], evidence: &Evidence) -> Section {
    let rules = |prefix: &str| -> Vec<Row> {
        let ours = evidence.rules.iter().filter(|rule| rule.id.starts_with(prefix));
        let row = |rule: &Ruled| {
            let name = rule.id.strip_prefix(prefix).unwrap_or(&rule.id).to_owned();
            let mut row = Row { name, says: rule.says.to_owned(), ..Row::default() };
            decide(&mut row, rule);
            row.proofs.extend(rule.fate.proof().map(str::to_owned));
            row
        };
        ours.map(row).collect()
    };
    // Each is a need of the modules that declare it: what is asked here is whether a device is ever given one.
    let needed = |name: &str, op: &str| {
        let mut row = Row {
            name: name.to_owned(),
            says: "a device that offers what Vulkan lists for it takes modules that declare it".to_owned(),
            cases: evidence.groups(|seen| seen.words.contains(&format!("{op} {name}"))),
            reason: without.iter().find(|w| w.names.iter().any(|n| n == name)).map(|w| w.why.clone()),
            ..Row::default()
        };
        if !row.cases.is_empty() {
            // A module that declares it and no more does not use it.
            let declares = |group: &String| group.starts_with("environment.capability");
            let why = row.reason.take().filter(|_| row.cases.iter().all(declares));
            row.note = why.map(|why| format!("declared only: {why}"));
        }
        row
    };
    match list {
        List::Capabilities => {
            let rows = CAPABILITY_ENABLING.iter().map(|row| needed(row.name, "OpCapability")).collect();
            Section { name: "The table of capabilities".to_owned(), rows }
        }
        List::Extensions => {
            let rows = EXTENSION_ENABLING.iter().map(|row| needed(row.name, "OpExtension")).collect();
            Section { name: "The table of SPIR-V extensions".to_owned(), rows }
        }
        List::Standalone => Section {
            name: "Standalone SPIR-V Validation: VUID-StandaloneSpirv-".to_owned(),
            rows: rules("VUID-StandaloneSpirv-"),
        },
        List::Runtime => Section {
            name: "Runtime SPIR-V Validation: VUID-RuntimeSpirv-".to_owned(),
            rows: rules("VUID-RuntimeSpirv-"),
        },
    }
}
