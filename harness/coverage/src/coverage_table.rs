//! The coverage table: each statement with its rules, cases and functions.

use crate::CoverageError;
use crate::document_rules::{RuleDisposition, RuleEvidence};
use crate::evidence::{Evidence, groups};
use crate::statement::{Document, GeneratedList, NotApplicable, Statement};
use assay_oracle::RuleEnforcement;
use assay_precision::{Call, Modes, Op, Scalar, Shape};
use assay_spirv::tables::{CAPABILITY_ENABLING, EXTENSION_ENABLING};
use std::collections::BTreeSet;

/// Status of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowStatus {
    /// A rule, a case or the reference covers it.
    Covered,
    /// Not covered, with a reason.
    Explained,
    /// Not covered, without a reason.
    Uncovered,
}

/// A statement with its coverage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageRow {
    /// The statement's name.
    pub name: String,
    /// The requirement, in our own words.
    pub text: String,
    /// Rules that check it.
    pub rules: Vec<String>,
    /// Groups of cases.
    pub cases: Vec<String>,
    /// Functions that compute the permitted results or enforce the statement.
    pub functions: Vec<String>,
    /// Reason why nothing covers it.
    pub reason: Option<String>,
    /// Limits of its coverage.
    pub note: Option<String>,
    /// Planted violations that its cover is shown to catch, in words.
    pub proofs: Vec<String>,
    /// Reason for which no violation is planted.
    pub unplanted: Option<String>,
}

impl CoverageRow {
    /// Returns true if the row is covered and no planted violation shows that its coverage can fail.
    pub fn is_unproven(&self) -> bool {
        self.status() == RowStatus::Covered && self.proofs.is_empty()
    }

    /// Returns the row's status.
    pub fn status(&self) -> RowStatus {
        match self {
            CoverageRow { rules, cases, functions, .. }
                if !(rules.is_empty() && cases.is_empty() && functions.is_empty()) =>
            {
                RowStatus::Covered
            }
            CoverageRow { reason: Some(_), .. } => RowStatus::Explained,
            _ => RowStatus::Uncovered,
        }
    }
}

/// Rows under one heading.
#[derive(Clone, Debug)]
pub struct CoverageSection {
    /// The heading.
    pub name: String,
    /// The rows.
    pub rows: Vec<CoverageRow>,
}

/// The rows of a document.
#[derive(Clone, Debug)]
pub struct DocumentRows {
    /// The document's name.
    pub name: String,
    /// Remarks on all of its rows.
    pub about: String,
    /// The rows, by section.
    pub sections: Vec<CoverageSection>,
}

/// The coverage table: the rows of all documents.
#[derive(Clone, Debug)]
pub struct CoverageTable {
    /// The documents.
    pub documents: Vec<DocumentRows>,
    /// Number of cases in the evidence.
    pub cases: usize,
}

impl CoverageTable {
    /// Computes the table of some documents.
    ///
    /// # Errors
    /// A statement or a case names something that does not exist.
    pub fn new(documents: &[Document], evidence: &Evidence) -> Result<CoverageTable, CoverageError> {
        let names: BTreeSet<String> =
            documents.iter().flat_map(|d| d.statements.iter().map(move |s| format!("{}/{}", d.name, s.id))).collect();
        for case in &evidence.programs {
            if let Some(name) = case.covers.iter().find(|name| !names.contains(**name)) {
                return Err(CoverageError::Unknown { case: case.name.clone(), name: (*name).to_owned() });
            }
        }
        let documents = documents.iter().map(|document| document_rows(document, evidence)).collect::<Result<_, _>>()?;
        Ok(CoverageTable { documents, cases: evidence.cases })
    }

    /// Returns all rows.
    pub fn rows(&self) -> impl Iterator<Item = &CoverageRow> {
        self.documents.iter().flat_map(|document| &document.sections).flat_map(|section| &section.rows)
    }

    /// Returns the number of rows with a status.
    pub fn count(&self, status: RowStatus) -> usize {
        self.rows().filter(|row| row.status() == status).count()
    }
}

fn document_rows(document: &Document, evidence: &Evidence) -> Result<DocumentRows, CoverageError> {
    let mut sections: Vec<CoverageSection> = Vec::new();
    for statement in &document.statements {
        let row = row(document, statement, evidence)?;
        match sections.last_mut().filter(|section| section.name == statement.section) {
            Some(section) => section.rows.push(row),
            None => sections.push(CoverageSection { name: statement.section.clone(), rows: vec![row] }),
        }
    }
    sections.extend(document.lists.iter().map(|list| listed_section(*list, &document.without, evidence)));
    Ok(DocumentRows { name: document.name.clone(), about: document.about.clone(), sections })
}

fn row(document: &Document, statement: &Statement, evidence: &Evidence) -> Result<CoverageRow, CoverageError> {
    let dangling = |what: &'static str, name: &str| CoverageError::Dangling {
        document: document.name.clone(),
        statement: statement.id.clone(),
        what,
        name: name.to_owned(),
    };
    let mut row = CoverageRow {
        name: statement.id.clone(),
        text: statement.says.clone(),
        functions: statement.functions.clone(),
        reason: statement.why.clone(),
        note: statement.note.clone(),
        proofs: statement.proofs(),
        unplanted: statement.unplanted.clone(),
        ..CoverageRow::default()
    };
    for id in &statement.rules {
        let rule = evidence.rules.find(id).ok_or_else(|| dangling("the rule", id))?;
        add_rule(&mut row, rule);
    }
    let own = format!("{}/{}", document.name, statement.id);
    if let Some(suite) = statement.suites.iter().find(|name| !assay_suite::all().iter().any(|s| s.name() == **name)) {
        return Err(dangling("the suite", suite));
    }
    row.cases = groups(&evidence.cases_of(&own, statement));
    for name in &statement.ops {
        let op =
            Op::ALL.iter().copied().find(|op| op.name() == name).ok_or_else(|| dangling("the instruction", name))?;
        add_instruction(&mut row, op, evidence);
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

/// Adds a rule of the text to a row, or the reason why the rule is not checked.
fn add_rule(row: &mut CoverageRow, rule: &RuleEvidence) {
    let mut because = |why: &str| {
        row.reason.get_or_insert_with(|| why.to_owned());
    };
    match rule.disposition {
        RuleDisposition::Checked(name) => row.rules.push(format!("`{name}`")),
        RuleDisposition::Requirement => row.rules.push("a requirement of the module".to_owned()),
        RuleDisposition::Implied(by) => row.rules.push(format!("implied by {by}")),
        RuleDisposition::NotChecked(why) => because(why),
        RuleDisposition::RunTime(watch) => match watch {
            RuleEnforcement::Enforced(function) | RuleEnforcement::Followed(function) => {
                row.functions.push(function.to_owned())
            }
            RuleEnforcement::Elsewhere(function) => row.functions.push(function.to_owned()),
            RuleEnforcement::Refused(what) => because(&format!("the interpreter rejects such modules: {what}")),
            RuleEnforcement::Cannot(why) => because(why),
            RuleEnforcement::Open(why) => because(why),
        },
    }
}

/// Adds an instruction of the precision table to a row: its rule in words, and its cases.
fn add_instruction(row: &mut CoverageRow, op: Op, evidence: &Evidence) {
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
    if !row.text.contains(&said) {
        let before = if row.text.is_empty() { "" } else { "; " };
        row.text += &format!("{before}{said}");
    }
    row.functions.push(format!("precision::instructions::row {}", op.name()));
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

/// Returns the rows of a list that is a table elsewhere in the project.
fn listed_section(list: GeneratedList, without: &[NotApplicable], evidence: &Evidence) -> CoverageSection {
    let rules = |prefix: &str| -> Vec<CoverageRow> {
        let ours = evidence.rules.list.iter().filter(|rule| rule.id.starts_with(prefix));
        let row = |rule: &RuleEvidence| {
            let name = rule.id.strip_prefix(prefix).unwrap_or(&rule.id).to_owned();
            let mut row = CoverageRow { name, text: rule.requirement.to_owned(), ..CoverageRow::default() };
            add_rule(&mut row, rule);
            row.proofs.extend(rule.disposition.proof().map(str::to_owned));
            row
        };
        ours.map(row).collect()
    };
    // Each row is a requirement of the modules that declare it. The question is whether any case
    // declares it.
    let needed = |name: &str, op: &str| {
        let declaring = evidence.programs_with(&format!("{op} {name}")).map(|case| &*case.name).collect();
        let mut row = CoverageRow {
            name: name.to_owned(),
            text: "a device with the features that Vulkan lists for it accepts modules that declare it".to_owned(),
            cases: groups(&declaring),
            reason: without.iter().find(|w| w.names.iter().any(|n| n == name)).map(|w| w.why.clone()),
            ..CoverageRow::default()
        };
        if !row.cases.is_empty() {
            // A module that only declares the capability does not use it.
            let declares = |group: &String| group.starts_with("environment.capability");
            let why = row.reason.take().filter(|_| row.cases.iter().all(declares));
            row.note = why.map(|why| format!("declared but not used: {why}"));
        }
        row
    };
    match list {
        GeneratedList::Capabilities => {
            let rows = CAPABILITY_ENABLING.iter().map(|row| needed(row.name, "OpCapability")).collect();
            CoverageSection { name: "The table of capabilities".to_owned(), rows }
        }
        GeneratedList::Extensions => {
            let rows = EXTENSION_ENABLING.iter().map(|row| needed(row.name, "OpExtension")).collect();
            CoverageSection { name: "The table of SPIR-V extensions".to_owned(), rows }
        }
        GeneratedList::Standalone => CoverageSection {
            name: "Standalone SPIR-V Validation: VUID-StandaloneSpirv-".to_owned(),
            rows: rules("VUID-StandaloneSpirv-"),
        },
        GeneratedList::Runtime => CoverageSection {
            name: "Runtime SPIR-V Validation: VUID-RuntimeSpirv-".to_owned(),
            rows: rules("VUID-RuntimeSpirv-"),
        },
    }
}
