//! Details of cases that fail or warn, and of shaders.

use super::{
    Derive,
    page_data::{Margin, short},
    page_rows::{DetailCandidate, PageRow, PageRows, STANDINGS, STATUSES, is_of_scalar},
};
use crate::{
    causes::Causes,
    check_text, describe,
    read::{ReadError, ResultDir},
    scalar_types::{parse_types, permitted_texts, result_type, value},
};
use anstream::adapter::strip_str;
use assay_events::{CaseResult, Event, Example, Picture, PngLayout, Profile, Status};
use rayon::prelude::*;
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

/// Largest number of cases with details in a page. The details of further cases are in
/// `results.jsonl` only.
const DETAILS: usize = 400;

/// Details of a case. Those of a check of a shader are its text on the console, and its picture.
#[derive(Default, Serialize)]
pub(super) struct CaseDetail {
    text: String,
    rule: String,
    clause: String,
    coverage: String,
    why: Option<String>,
    classes: Vec<ClassJson>,
    operand: String,
    profile: Option<Profile>,
    picture: Option<PictureJson>,
}

/// Picture of a failing image: expected, got, difference.
#[derive(Serialize)]
struct PictureJson {
    /// PNG as a `data:` URI.
    png: String,
    layout: PngLayout,
    #[serde(flatten)]
    texels: Picture,
}

#[derive(Serialize)]
struct ClassJson {
    status: Status,
    class: String,
    count: u64,
    examples: Vec<ExampleJson>,
}

#[derive(Serialize)]
pub(super) struct ExampleJson {
    operands: String,
    got: String,
    permitted: Vec<String>,
    margin: Margin,
    explain: Option<String>,
    derivation: Option<String>,
}

/// Returns details by row number, and the number of cases without details.
///
/// # Errors
/// The results of a run cannot be read again.
pub(super) fn details(
    rows: &PageRows,
    causes: &[Causes],
    result_dir: &[ResultDir],
    derive: Derive<'_>,
) -> Result<(HashMap<u32, CaseDetail>, usize), ReadError> {
    let mut found: Vec<&DetailCandidate> = rows.interesting.iter().collect();
    let row = |of: &DetailCandidate| &rows.rows[of.row as usize];
    let representatives: Vec<HashSet<&str>> = causes
        .iter()
        .map(|causes| causes.list.iter().map(|cause| cause.representative.case.as_str()).collect())
        .collect();
    let is_representative =
        |of: &DetailCandidate| representatives[usize::from(row(of).run)].contains(rows.names.get(of.row as usize));
    let rank = |row: &PageRow| {
        let unexpected = STANDINGS[row.standing as usize].is_none_or(|standing| !standing.is_success());
        (Reverse(unexpected), Reverse(STATUSES[row.status as usize].is_failure()))
    };
    let margin = |row: &PageRow| row.margin.unwrap_or(f64::INFINITY);
    let name = |of: &DetailCandidate| rows.names.get(of.row as usize);
    found.sort_by(|a, b| {
        let order = is_representative(b).cmp(&is_representative(a));
        let order =
            order.then_with(|| rank(row(a)).cmp(&rank(row(b)))).then_with(|| margin(row(b)).total_cmp(&margin(row(a))));
        order.then_with(|| (name(a), row(a).run).cmp(&(name(b), row(b).run)))
    });
    let left_out = found.len().saturating_sub(DETAILS);
    found.truncate(DETAILS);
    let mut details = HashMap::new();
    for (run, result_dir) in result_dir.iter().enumerate() {
        let of_run: Vec<&DetailCandidate> =
            found.iter().copied().filter(|of| usize::from(row(of).run) == run).collect();
        let places: Vec<_> = of_run.iter().map(|of| of.place()).collect();
        let pairs: Vec<_> = of_run.into_iter().zip(result_dir.read_events(&places)?).collect();
        details.par_extend(pairs.into_par_iter().filter_map(|(of, event)| match event {
            Event::CaseFinished(case) => Some((of.row, detail(&case, of.why.clone(), derive))),
            Event::CheckFinished(check) => Some((
                of.row,
                CaseDetail {
                    text: strip_str(&check_text(&check)).to_string(),
                    why: of.why.clone(),
                    picture: check.picture.as_deref().and_then(picture),
                    ..CaseDetail::default()
                },
            )),
            // Other events are not results.
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => None,
        }));
    }
    Ok((details, left_out))
}

fn detail(case: &CaseResult, why: Option<String>, derive: Derive<'_>) -> CaseDetail {
    let classes = case.classes.iter().map(|class| {
        // The same numbers in two invocations are one example.
        let mut seen = HashSet::new();
        let distinct = class.examples.iter().filter(|x| seen.insert((&x.operands, &x.got, x.slot)));
        ClassJson {
            status: class.status,
            class: class.class.clone(),
            count: class.count,
            // The derivation of the worst example suffices; the other examples show further locations.
            examples: distinct.enumerate().map(|(i, x)| shown(&case.types, x, derive, i == 0)).collect(),
        }
    });
    let profile = case.profile.clone().filter(|_| is_of_scalar(&case.types));
    CaseDetail {
        rule: case.rule.clone(),
        clause: case.clause.clone(),
        coverage: case.coverage.clone(),
        why,
        classes: classes.collect(),
        operand: profile.as_ref().map(|profile| profile.operand.clone()).unwrap_or_default(),
        profile,
        picture: case.picture.as_deref().and_then(picture),
        ..CaseDetail::default()
    }
}

fn picture(texels: &Picture) -> Option<PictureJson> {
    Some(PictureJson { png: texels.data_uri()?, layout: texels.layout(), texels: texels.clone() })
}

/// Returns an example in the page's JSON, if `derived` with its derivation.
pub(super) fn shown(types: &str, example: &Example, derive: Derive<'_>, derived: bool) -> ExampleJson {
    let (results, operands) = parse_types(types);
    let slot = result_type(example, types);
    let of_several = results.len() > 1 && example.scalar.is_none();
    let component = if of_several { format!("component {}: ", example.slot) } else { String::new() };
    ExampleJson {
        operands: describe(&example.operands, &operands),
        got: format!("{component}{}", value(slot, &example.got)),
        permitted: permitted_texts(example, types),
        margin: Margin(example.margin.map(short)),
        explain: example.explain_command(),
        derivation: if derived { derive(example) } else { None },
    }
}
