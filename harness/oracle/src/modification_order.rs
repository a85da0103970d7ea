//! Modification orders of atomic locations, as Eulerian trails in a directed multigraph.
//!
//! Vulkan, appendix "Memory Model", section "Scoped Modification Order": "all atomic writes that
//! are mutually-ordered with A occur in an order known as A's scoped modification order". Each
//! atomic that reads and writes finds the value that the one before it in this order left, and a
//! load finds the value that the latest write left. The recorded values of a device are possible
//! only if such an order exists.
//!
//! # Criterion
//!
//! Take values as vertices, and each atomic as an edge from the value that it found to the value
//! that it left ([`Step`]). A sequence of all atomics in which each finds the value that the one
//! before it left, and the first one the initial value, is a trail from the initial value that uses
//! every edge once: an Eulerian trail. It exists exactly if
//!
//! * *degrees*: the out-degree of each vertex equals its in-degree, except that with different ends
//!   the start has one more edge out and the end one more edge in (Euler 1736; for directed graphs
//!   Knuth, *The Art of Computer Programming*, volume 1, section 2.3.4.2), and
//! * *connectivity*: all edges lie in one component, edges being taken in either direction.
//!
//! Necessity is plain. Sufficiency is Hierholzer's construction (1873): follow unused edges from
//! the start until none leaves, which by the degrees happens at the end; then insert circuits at
//! vertices of the trail that have unused edges left. By connectivity no edge remains. The trail
//! itself is not needed, so [`last_value`] only tests the criterion, in time `n log n`. With
//! balanced degrees, connected in either direction implies strongly connected.
//!
//! *Multiple edges* are several atomics that found and left equal values. Each is an edge of its
//! own and counts in the degrees: two increments that both found 0 leave vertex 0 with two edges
//! out, and without an edge back to 0 there is no trail. This is a lost update. *Loops* are atomics
//! that change nothing, such as loads. They do not affect the degrees, but their value must be
//! connected.
//!
//! *Stores* do not record the value that they found ([`last_value_with_stores`]): an edge from an
//! unknown vertex. Let the surplus of a vertex be its arrivals (edges in, stores of that value, and
//! 1 for the initial value) less its edges out. The surpluses add up to the number of stores and 1,
//! for the end. A trail exists exactly if no surplus is negative, and each component of the edges
//! contains the initial value or a stored one: the edges within a component cancel in the sum of
//! its surpluses, so that the component of the initial value has a surplus for the first store, and
//! each component that a store leads to has one for the next store or the end.
//!
//! # Limits
//!
//! Only the multiset of found and left values of one location is checked. The order is not compared
//! with the program order of the invocations or with other locations, which in general is
//! NP-complete (Gibbons & Korach, "Testing Shared Memories", SIAM J. Comput. 26, 1997; Cantin,
//! Lipasti & Smith, "The Complexity of Verifying Memory Coherence and Consistency", IEEE TPDS 16,
//! 2005). An impossible history may therefore pass, but a possible one is never rejected.

use std::collections::{BTreeMap, BTreeSet};

/// One atomic operation: the value that it found and the value that it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicStep {
    /// The bits that it found.
    pub found: u64,
    /// The bits that it left: the found ones, if it only loads or changes nothing.
    pub left: u64,
}

/// No modification order contains all of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoModificationOrder;

/// The out-degree less the in-degree of each value: the number of operations that find it less the
/// number that leave it.
pub fn balance(steps: &[AtomicStep]) -> BTreeMap<u64, i64> {
    let mut balance = BTreeMap::new();
    for step in steps {
        *balance.entry(step.found).or_default() += 1;
        *balance.entry(step.left).or_default() -= 1;
    }
    balance
}

/// The component of `start`, or else of the first operation: the values that are connected with it
/// by edges in either direction.
pub fn reached(steps: &[AtomicStep], start: Option<u64>) -> BTreeSet<u64> {
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
/// determined. `start` and `end` are the values at its ends, if they are known. An `end` without a
/// `start` is not compared with the values of a circuit, which may end at any of them.
///
/// # Errors
/// There is no such trail.
pub fn last_value(
    steps: &[AtomicStep],
    start: Option<u64>,
    end: Option<u64>,
) -> Result<Option<u64>, NoModificationOrder> {
    let balance = balance(steps);
    let with = |n: i64| balance.iter().filter(move |(_, b)| **b == n).map(|(value, _)| *value);
    let (mut sources, mut sinks) = (with(1), with(-1));
    let (source, sink) = (sources.next(), sinks.next());
    let even = sources.next().is_none() && sinks.next().is_none() && balance.values().all(|b| b.abs() <= 1);
    // If all degrees are balanced, the trail is a circuit, which ends where it began.
    let ends = sink.or(start);
    let starts = source.is_none_or(|source| start.is_none_or(|start| start == source));
    let right = end.is_none_or(|end| ends.is_none_or(|ends| ends == end));
    let reached = reached(steps, start);
    let connected = steps.iter().all(|step| reached.contains(&step.found));
    if even && starts && right && connected { Ok(ends) } else { Err(NoModificationOrder) }
}

/// Variant of [`last_value`] that admits stores, whose found values are unknown. `stores` are the
/// values that they left.
///
/// # Errors
/// There is no such trail.
pub fn last_value_with_stores(
    steps: &[AtomicStep],
    stores: &[u64],
    start: u64,
) -> Result<Option<u64>, NoModificationOrder> {
    if stores.is_empty() {
        return last_value(steps, Some(start), None);
    }
    // The surplus of each value: after each surplus arrival comes a store, or the end.
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
        return Err(NoModificationOrder);
    }
    let mut ends = over.into_iter().filter(|(_, over)| *over > 0).map(|(value, _)| value);
    Ok(match (stores, ends.next(), ends.next()) {
        (_, end, None) => end,
        // Values that are reached only through the store come after it.
        ([one], Some(a), Some(b)) if !first.contains(one) => Some(if first.contains(&a) { b } else { a }),
        _ => None,
    })
}
