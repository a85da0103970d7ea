//! The errors of an instruction, of all its cases on a device together.

use super::{
    data::{Margin, greater, short},
    rows::Texts,
};
use assay_runner::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// Plots by run, instruction and types, as they come together from cases.
#[derive(Default)]
pub(super) struct Plots(BTreeMap<(usize, u32, u32), Sum>);

struct Sum {
    operand: String,
    cases: usize,
    margin: Option<f64>,
    worst: Vec<Option<f64>>,
    errors: Vec<u64>,
}

/// A plot as the page has it.
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
    /// Adds a case: of a run, an instruction and types by their numbers.
    pub(super) fn add(&mut self, of: (usize, u32, u32), profile: Profile, margin: Option<f64>) {
        let Profile { operand, worst, errors } = profile;
        let sum = self.0.entry(of).or_insert_with(|| Sum {
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

    /// The greatest error first.
    pub(super) fn sorted<'a>(&'a self, instructions: &'a Texts, types: &'a Texts) -> Vec<Plot<'a>> {
        let mut sums: Vec<(usize, &str, &str, &Sum)> = self
            .0
            .iter()
            .map(|(&(run, instruction, ty), sum)| {
                (run, instructions.list[instruction as usize].as_str(), types.list[ty as usize].as_str(), sum)
            })
            .collect();
        let margin = |sum: &Sum| sum.margin.unwrap_or(0.0);
        sums.sort_by(|a, b| margin(b.3).total_cmp(&margin(a.3)).then_with(|| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2))));
        let plot = |(run, instruction, types, sum): (usize, &'a str, &'a str, &'a Sum)| Plot {
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
