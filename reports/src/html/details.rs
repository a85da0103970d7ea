//! All that is known of cases that fail or warn.

use super::{
    Derive,
    data::{Margin, short},
    rows::{Interesting, Row, Rows, STANDINGS, STATUSES, is_of_scalar},
};
use crate::{
    describe,
    load::{LoadError, Opened},
    operands::{result_slot, slots, value},
};
use assay_runner::{CaseResult, Event, Example, Profile, Status};
use rayon::prelude::*;
use serde::Serialize;
use std::{cmp::Reverse, collections::HashMap};

/// Cases whose details are in a page; the others are in `results.jsonl` still.
const DETAILS: usize = 400;

#[derive(Serialize)]
pub(super) struct Detail {
    rule: String,
    clause: String,
    coverage: String,
    why: Option<String>,
    classes: Vec<Class>,
    operand: String,
    profile: Option<Profile>,
    picture: Option<Drawn>,
}

/// Expected, got and difference of a failing image.
#[derive(Serialize)]
struct Drawn {
    /// A PNG, as a `data:` address.
    png: String,
    caption: String,
}

#[derive(Serialize)]
struct Class {
    status: Status,
    class: String,
    count: u64,
    examples: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    operands: String,
    got: String,
    permitted: Vec<String>,
    margin: Margin,
    explain: String,
    derivation: Option<String>,
}

/// The details of a page by the numbers of their rows, and how many are left out.
///
/// # Errors
/// The results of a run cannot be read again.
pub(super) fn details(
    rows: &Rows,
    opened: &[Opened],
    derive: Derive<'_>,
) -> Result<(HashMap<u32, Detail>, usize), LoadError> {
    let mut found: Vec<&Interesting> = rows.interesting.iter().collect();
    let row = |of: &Interesting| &rows.rows[of.row as usize];
    let rank = |row: &Row| {
        let unexpected = STANDINGS[row.standing as usize].is_none_or(|standing| !standing.is_success());
        (Reverse(unexpected), Reverse(STATUSES[row.status as usize].is_failure()))
    };
    let margin = |row: &Row| row.margin.unwrap_or(f64::INFINITY);
    let name = |of: &Interesting| rows.names.get(of.row as usize);
    found.sort_by(|a, b| {
        let order = rank(row(a)).cmp(&rank(row(b))).then_with(|| margin(row(b)).total_cmp(&margin(row(a))));
        order.then_with(|| (name(a), row(a).run).cmp(&(name(b), row(b).run)))
    });
    let left_out = found.len().saturating_sub(DETAILS);
    found.truncate(DETAILS);
    let mut details = HashMap::new();
    for (run, opened) in opened.iter().enumerate() {
        let of_run: Vec<&Interesting> = found.iter().copied().filter(|of| usize::from(row(of).run) == run).collect();
        let places: Vec<_> = of_run.iter().map(|of| of.place()).collect();
        let pairs: Vec<_> = of_run.into_iter().zip(opened.again(&places)?).collect();
        details.par_extend(pairs.into_par_iter().filter_map(|(of, event)| match event {
            Event::CaseFinished(case) => Some((of.row, detail(&case, of.why.clone(), derive))),
            // A check has no details of this kind; other events are no results.
            Event::CheckFinished(_)
            | Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => None,
        }));
    }
    Ok((details, left_out))
}

fn detail(case: &CaseResult, why: Option<String>, derive: Derive<'_>) -> Detail {
    let classes = case.classes.iter().map(|class| Class {
        status: class.status,
        class: class.class.clone(),
        count: class.count,
        // The worst is derived; the others show where else it goes wrong.
        examples: class.examples.iter().enumerate().map(|(i, x)| shown(case, x, derive, i == 0)).collect(),
    });
    let profile = case.profile.clone().filter(|_| is_of_scalar(&case.types));
    Detail {
        rule: case.rule.clone(),
        clause: case.clause.clone(),
        coverage: case.coverage.clone(),
        why,
        classes: classes.collect(),
        operand: profile.as_ref().map(|profile| profile.operand.clone()).unwrap_or_default(),
        profile,
        picture: case
            .picture
            .as_ref()
            .and_then(|picture| Some(Drawn { png: picture.data_uri()?, caption: picture.caption.clone() })),
    }
}

fn shown(case: &CaseResult, example: &Example, derive: Derive<'_>, derived: bool) -> Shown {
    let (_, operands) = slots(&case.types);
    let slot = result_slot(example, &case.types);
    let range = |[lo, hi]: &[String; 2]| match (lo.as_str(), lo == hi) {
        ("nan", _) => "any NaN".to_owned(),
        (_, true) => value(slot, lo),
        (_, false) => format!("{} .. {}", value(slot, lo), value(slot, hi)),
    };
    Shown {
        operands: describe(&example.operands, &operands),
        got: value(slot, &example.got),
        permitted: example.permitted.iter().map(range).collect(),
        margin: Margin(example.margin.map(short)),
        explain: example.explain.clone(),
        derivation: if derived { derive(&example.explain) } else { None },
    }
}
