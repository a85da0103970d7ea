//! Error plots: the errors of all cases of an instruction on a device.

use super::page_data::{Margin, greater, short};
use crate::text_table::TextTable;
use assay_events::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// Accumulated plots by run, instruction and types.
#[derive(Default)]
pub(super) struct Plots(BTreeMap<PlotKey, PlotSum>);

/// Run of a plot, with its instruction and types in their tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlotKey {
    pub(super) run: usize,
    pub(super) instruction: u32,
    pub(super) types: u32,
}

struct PlotSum {
    operand: String,
    cases: usize,
    margin: Option<f64>,
    worst: Vec<Option<f64>>,
    errors: Vec<u64>,
}

/// A plot in the page's JSON.
#[derive(Serialize)]
pub(super) struct Plot<'a> {
    run: usize,
    instruction: &'a str,
    types: &'a str,
    operand: &'a str,
    cases: usize,
    margin: Margin,
    worst: &'a [Option<f64>],
    errors: &'a [u64],
}

impl Plots {
    /// Adds a case.
    pub(super) fn add(&mut self, of: PlotKey, profile: Profile, margin: Option<f64>) {
        let Profile { operand, worst, errors } = profile;
        let sum = self.0.entry(of).or_insert_with(|| PlotSum {
            operand,
            cases: 0,
            margin: None,
            worst: vec![None; worst.len()],
            errors: vec![0; errors.len()],
        });
        sum.cases += 1;
        sum.margin = greater(sum.margin, margin);
        for (known, new) in sum.worst.iter_mut().zip(worst) {
            *known = greater(*known, new);
        }
        for (known, new) in sum.errors.iter_mut().zip(errors) {
            *known += new;
        }
    }

    /// Returns the plots, greatest error first.
    pub(super) fn sorted<'a>(&'a self, instructions: &'a TextTable, types: &'a TextTable) -> Vec<Plot<'a>> {
        let mut sums: Vec<(usize, &str, &str, &PlotSum)> = self
            .0
            .iter()
            .map(|(key, sum)| {
                let name = instructions.list[key.instruction as usize].as_str();
                (key.run, name, types.list[key.types as usize].as_str(), sum)
            })
            .collect();
        let margin = |sum: &PlotSum| sum.margin.unwrap_or(0.0);
        sums.sort_by(|a, b| margin(b.3).total_cmp(&margin(a.3)).then_with(|| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2))));
        let plot = |(run, instruction, types, sum): (usize, &'a str, &'a str, &'a PlotSum)| Plot {
            run,
            instruction,
            types,
            operand: &sum.operand,
            cases: sum.cases,
            margin: Margin(sum.margin.map(short)),
            worst: &sum.worst,
            errors: &sum.errors,
        };
        sums.into_iter().map(plot).collect()
    }
}
