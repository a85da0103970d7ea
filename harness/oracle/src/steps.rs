//! The values that atomic instructions took a place in memory through: each found what another one had left. So what they found and
//! left makes a chain in some order, an Eulerian trail through the values.

use std::collections::{BTreeMap, BTreeSet};

/// What one atomic instruction found, and what it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The bits that it found.
    pub found: u64,
    /// The bits that it left: the same, if it only loads or changed nothing.
    pub left: u64,
}

/// There is no order in which all of them can have been executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTrail;

/// How many more steps leave a value than lead to it.
pub fn balance(steps: &[Step]) -> BTreeMap<u64, i64> {
    let mut balance = BTreeMap::new();
    for step in steps {
        *balance.entry(step.found).or_default() += 1;
        *balance.entry(step.left).or_default() -= 1;
    }
    balance
}

/// The values that can be come to along steps, in whatever direction, from the start or else from any of them.
pub fn reached(steps: &[Step], start: Option<u64>) -> BTreeSet<u64> {
    let mut neighbours: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for step in steps {
        neighbours.entry(step.found).or_default().push(step.left);
        neighbours.entry(step.left).or_default().push(step.found);
    }
    let mut waiting: Vec<u64> = start.or_else(|| steps.first().map(|step| step.found)).into_iter().collect();
    let mut reached: BTreeSet<u64> = waiting.iter().copied().collect();
    while let Some(value) = waiting.pop() {
        let new = neighbours.get(&value).into_iter().flatten().copied().filter(|n| reached.insert(*n));
        waiting.extend(new.collect::<Vec<_>>());
    }
    reached
}

/// Where a way along all steps, each once, ends, if that is certain; `start` and `end` as far as they are known.
///
/// # Errors
/// There is no such way.
pub fn trail(steps: &[Step], start: Option<u64>, end: Option<u64>) -> Result<Option<u64>, NoTrail> {
    let balance = balance(steps);
    let with = |n: i64| balance.iter().filter(move |(_, b)| **b == n).map(|(value, _)| *value);
    let (mut sources, mut sinks) = (with(1), with(-1));
    let (source, sink) = (sources.next(), sinks.next());
    let even = sources.next().is_none() && sinks.next().is_none() && balance.values().all(|b| b.abs() <= 1);
    // A circuit ends where it began.
    let ends = sink.or(start);
    let starts = source.is_none_or(|source| start.is_none_or(|start| start == source));
    let right = end.is_none_or(|end| ends.is_none_or(|ends| ends == end));
    let reached = reached(steps, start);
    let connected = steps.iter().all(|step| reached.contains(&step.found));
    if even && starts && right && connected { Ok(ends) } else { Err(NoTrail) }
}

/// As [`trail`], with stores on the way, of which it is not known what they found: the values that they left.
///
/// # Errors
/// There is no such way.
pub fn trail_with_stores(steps: &[Step], stores: &[u64], start: u64) -> Result<Option<u64>, NoTrail> {
    if stores.is_empty() {
        return trail(steps, Some(start), None);
    }
    // How often more the way comes to a value than steps lead on from it: a store comes next, or the end.
    let mut over: BTreeMap<u64, i64> = balance(steps).into_iter().map(|(value, more)| (value, -more)).collect();
    for value in stores.iter().copied().chain([start]) {
        *over.entry(value).or_default() += 1;
    }
    let first = reached(steps, Some(start));
    let mut all = first.clone();
    for value in stores.iter().copied() {
        if !all.contains(&value) {
            all.extend(reached(steps, Some(value)));
        }
    }
    if over.values().any(|over| *over < 0) || !steps.iter().all(|step| all.contains(&step.found)) {
        return Err(NoTrail);
    }
    let mut ends = over.into_iter().filter(|(_, over)| *over > 0).map(|(value, _)| value);
    Ok(match (stores, ends.next(), ends.next()) {
        (_, end, None) => end,
        // What can only be come to by the store comes after it.
        ([one], Some(a), Some(b)) if !first.contains(one) => Some(if first.contains(&a) { b } else { a }),
        _ => None,
    })
}
