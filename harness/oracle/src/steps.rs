//! Modification orders of atomic locations, as Eulerian trails.
//!
//! Each atomic finds the value that another one left. Take the values as vertices and each atomic
//! as an edge from the value that it found to the value that it left: the atomics on a location
//! have a modification order exactly if their edges form an Eulerian trail from the initial value
//! (Euler 1736; Hierholzer 1873). Gibbons and Korach ("Testing Shared Memories", SIAM J. Comput.
//! 26, 1997) treat the general problem.
//!
//! Limits: only the multiset of values is checked. The trail is not checked against the program
//! order of the invocations, or against the order of other locations.

use std::collections::{BTreeMap, BTreeSet};

/// One atomic operation: the value that it found and the value that it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The bits that it found.
    pub found: u64,
    /// The bits that it left: the found ones, if it only loads or changes nothing.
    pub left: u64,
}

/// No modification order contains all of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTrail;

/// For each value, the number of operations that find it less the number that leave it.
pub fn balance(steps: &[Step]) -> BTreeMap<u64, i64> {
    let mut balance = BTreeMap::new();
    for step in steps {
        *balance.entry(step.found).or_default() += 1;
        *balance.entry(step.left).or_default() -= 1;
    }
    balance
}

/// The values that are connected with `start`, or else with the first operation, by edges in either
/// direction.
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

/// Returns the last value of a trail that uses every operation once, or `None` if it is not
/// determined. `start` and `end` are the values at its ends, if they are known.
///
/// # Errors
/// There is no such trail.
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

/// Variant of [`trail`] that admits stores, whose found values are unknown. `stores` are the values
/// that they left.
///
/// # Errors
/// There is no such trail.
pub fn trail_with_stores(steps: &[Step], stores: &[u64], start: u64) -> Result<Option<u64>, NoTrail> {
    if stores.is_empty() {
        return trail(steps, Some(start), None);
    }
    // Surplus of arrivals at a value over departures. After each of them comes a store, or the end.
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
        // Values that are reached only through the store come after it.
        ([one], Some(a), Some(b)) if !first.contains(one) => Some(if first.contains(&a) { b } else { a }),
        _ => None,
    })
}
