//! Error plots: the errors of all cases of an instruction on a device.

use super::{
    page_data::{Margin, greater, short},
    page_rows::TextTable,
};
use assay_events::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// Accumulated plots by run, instruction and types.
#[derive(Default)]
pub(super) struct Plots(BTreeMap<(usize, u32, u32), PlotSum>);

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
    /// Adds a case. The key holds the run and the interned instruction and types.
    pub(super) fn add(&mut self, of: (usize, u32, u32), profile: Profile, margin: Option<f64>) {
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
            .map(|(&(run, instruction, ty), sum)| {
                (run, instructions.list[instruction as usize].as_str(), types.list[ty as usize].as_str(), sum)
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
