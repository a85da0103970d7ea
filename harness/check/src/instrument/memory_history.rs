//! Consistency check of the accesses to one scalar of shared memory.
//!
//! Barriers divide the accesses of a workgroup into epochs. Without data races, an epoch in which
//! an invocation stores to a location contains accesses of that invocation only; in any other epoch
//! only atomics change the location. Accesses of an invocation's own epoch are replayed in program
//! order.
//!
//! Atomics of several invocations must have a modification order (Vulkan memory model, "Scoped
//! Modification Order"): a sequence in which each one finds the value that the one before left.
//! Such a sequence is an Eulerian trail in the graph whose edges lead from the value found to the
//! value left ([`assay_oracle::steps`]). This is a special case of verifying a shared memory
//! against a history of reads and writes (Gibbons and Korach, "Testing Shared Memories", SIAM J.
//! Comput. 26, 1997).
//!
//! # Limits
//!
//! * An epoch that mixes stores with accesses of other invocations makes the value of the location
//!   unknown: such accesses are ordered by other means than barriers, or are not ordered.
//! * A trail says that some order explains the values, not that it was the order.
//! * The instruction or barrier named is the simplest explanation; several may fit.

use assay_oracle::modification_order::{self, AtomicStep, NoModificationOrder};
use std::collections::BTreeSet;

/// One access to the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessEvent {
    /// Index of the invocation.
    pub(super) by: u64,
    /// Number of barriers that the invocation has passed.
    pub(super) epoch: u32,
    /// Time in the invocation.
    pub(super) time: u32,
    /// Index of the instruction in the module.
    pub(super) instruction: u32,
    /// The access and its bits.
    pub(super) effect: Effect,
}

/// Kind of an access, with the bits that it read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A load of these bits.
    Load(u64),
    /// A store of these bits.
    Store(u64),
    /// An atomic, with the bits that it found and left; the two are equal for an atomic load.
    Update { found: u64, left: u64 },
}

/// An access that no consistent history explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    /// The instruction or barrier at fault.
    pub(super) culprit: Culprit,
    /// An atomic whose lost change would explain it as well.
    pub(super) lost_update: Option<u32>,
    /// Index of an invocation that observed it.
    pub(super) by: u64,
    /// Bits that were found.
    pub(super) got: u64,
    /// Bits that the location must have held.
    pub(super) expected: u64,
}

/// Instruction or barrier at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Culprit {
    /// Index of an instruction in the module.
    Instruction(u32),
    /// A barrier that an invocation passed after the first epoch and up to the second.
    Barrier(u32, u32),
}

/// State of the location.
#[derive(Clone, Copy, Debug)]
struct LocationState {
    value: u64,
    /// Epoch of the last change.
    since: u32,
    /// Invocation that made the last change; `None` if that is not known.
    by: Option<u64>,
    /// Atomic that may have made the last change.
    update: Option<Edge>,
}

/// Checks the accesses to a location. `first` and `last` are its contents before and after the
/// dispatch, where they are known.
pub(super) fn contradictions(
    mut events: Vec<AccessEvent>,
    first: Option<u64>,
    last: Option<u64>,
) -> Vec<Contradiction> {
    events.sort_by_key(|event| (event.epoch, event.by, event.time, event.instruction));
    let mut state = first.map(|value| LocationState { value, since: 0, by: None, update: None });
    let mut wrong = Vec::new();
    let mut past: BTreeSet<u64> = first.into_iter().collect();
    let mut groups = events.chunk_by(|a, b| a.epoch == b.epoch).peekable();
    while let Some(epoch) = groups.next() {
        let end = last.filter(|_| groups.peek().is_none());
        let alone = epoch.iter().all(|event| event.by == epoch[0].by);
        let stores = epoch.iter().any(|event| matches!(event.effect, Effect::Store(_)));
        let updates = epoch.iter().any(|event| matches!(event.effect, Effect::Update { .. }));
        if alone && end.is_none() {
            state = sequential_accesses(epoch, state, &events, &past, &mut wrong);
        } else if stores {
            // Stores beside accesses of others: ordered by something other than barriers, or not
            // ordered.
            state = None;
        } else if updates {
            state = concurrent_atomics(epoch, state, end, &past, &mut wrong);
        } else if let Some(state) = state {
            let loads = epoch.iter().filter_map(|event| check_read(event, state, epoch, &events, &past));
            wrong.extend(loads);
        }
        past.extend(epoch.iter().filter_map(|event| match event.effect {
            Effect::Load(_) => None,
            Effect::Store(bits) | Effect::Update { left: bits, .. } => Some(bits),
        }));
    }
    wrong
}

/// Replays an epoch in which one invocation alone accesses the location, in program order.
fn sequential_accesses(
    epoch: &[AccessEvent],
    mut state: Option<LocationState>,
    all: &[AccessEvent],
    past: &BTreeSet<u64>,
    wrong: &mut Vec<Contradiction>,
) -> Option<LocationState> {
    for event in epoch {
        let found = match event.effect {
            Effect::Load(bits) | Effect::Update { found: bits, .. } => Some(bits),
            Effect::Store(_) => None,
        };
        if let (Some(state), Some(_)) = (state, found) {
            wrong.extend(check_read(event, state, epoch, all, past));
        }
        let changed = |value| LocationState { value, since: event.epoch, by: Some(event.by), update: None };
        match event.effect {
            Effect::Store(bits) => state = Some(changed(bits)),
            Effect::Update { found, left } if found != left => {
                let edge = Edge { by: event.by, instruction: event.instruction, found, left };
                state = Some(LocationState { update: Some(edge), ..changed(left) });
            }
            Effect::Load(bits) | Effect::Update { left: bits, .. } => state = state.or(Some(changed(bits))),
        }
    }
    state
}

/// Checks that a read found the bits of the state. Returns a contradiction otherwise.
fn check_read(
    event: &AccessEvent,
    state: LocationState,
    epoch: &[AccessEvent],
    all: &[AccessEvent],
    past: &BTreeSet<u64>,
) -> Option<Contradiction> {
    let (Effect::Load(got) | Effect::Update { found: got, .. }) = event.effect else { return None };
    if got == state.value {
        return None;
    }
    let others = |other: &&AccessEvent| other.by != event.by;
    let later = all.iter().filter(others).find(|other| match other.effect {
        Effect::Store(bits) | Effect::Update { left: bits, .. } => bits == got && other.epoch > event.epoch,
        Effect::Load(_) => false,
    });
    // The atomic changed nothing, as its own invocation still finds the bits from before it.
    let lost = state.update.filter(|edge| {
        edge.found == got
            && epoch.iter().any(|own| {
                own.by == edge.by
                    && matches!(own.effect, Effect::Load(bits) | Effect::Update { found: bits, .. } if bits == got)
            })
    });
    let culprit = if let Some(edge) = lost {
        Culprit::Instruction(edge.instruction)
    } else if state.since < event.epoch && state.by != Some(event.by) && past.contains(&got) {
        Culprit::Barrier(state.since, event.epoch)
    } else if let Some(later) = later {
        Culprit::Barrier(event.epoch, later.epoch)
    } else {
        Culprit::Instruction(event.instruction)
    };
    let lost_update = state.update.filter(|edge| edge.found == got).map(|edge| edge.instruction);
    Some(Contradiction { culprit, lost_update, by: event.by, got, expected: state.value })
}

/// Checks an epoch in which several invocations access the location by atomics: searches for a
/// modification order. Returns the state after it.
fn concurrent_atomics(
    epoch: &[AccessEvent],
    state: Option<LocationState>,
    end: Option<u64>,
    past: &BTreeSet<u64>,
    wrong: &mut Vec<Contradiction>,
) -> Option<LocationState> {
    let edges: Vec<Edge> = epoch.iter().filter_map(Edge::of).collect();
    let start = state.map(|state| state.value);
    if let Ok(left) = trail(&edges, start, end) {
        // The last atomic is known if a single one left the final bits.
        let mut last = edges.iter().filter(|edge| Some(edge.left) == left && edge.found != edge.left);
        let only = last.next().filter(|_| last.next().is_none());
        let since = epoch[0].epoch;
        return left.map(|value| {
            if edges.iter().all(|edge| edge.found == edge.left) {
                return LocationState {
                    value,
                    ..state.unwrap_or(LocationState { value, since, by: None, update: None })
                };
            }
            LocationState { value, since, by: only.map(|edge| edge.by), update: only.copied() }
        });
    }
    wrong.extend(match state.and_then(|state| stale(&edges, state, epoch[0].epoch, end, past)) {
        Some(stale) => vec![stale],
        None => suspects(&edges, start, end),
    });
    None
}

/// Returns a barrier as culprit if there is a modification order that starts from bits that the
/// location held before its last change.
fn stale(
    edges: &[Edge],
    state: LocationState,
    epoch: u32,
    end: Option<u64>,
    past: &BTreeSet<u64>,
) -> Option<Contradiction> {
    trail(edges, None, end).ok()?;
    let balance = modification_order::balance(&steps(edges));
    let first = |edge: &&Edge| balance.get(&edge.found) == Some(&1) && past.contains(&edge.found);
    let edge = edges.iter().find(first).filter(|_| state.since < epoch)?;
    let culprit = Culprit::Barrier(state.since, epoch);
    let lost_update = state.update.filter(|update| update.found == edge.found).map(|update| update.instruction);
    Some(Contradiction { culprit, lost_update, by: edge.by, got: edge.found, expected: state.value })
}

/// A change from one value to another, by an atomic.
#[derive(Clone, Copy, Debug)]
struct Edge {
    by: u64,
    instruction: u32,
    found: u64,
    left: u64,
}

impl Edge {
    fn of(event: &AccessEvent) -> Option<Edge> {
        let Effect::Update { found, left } = event.effect else { return None };
        Some(Edge { by: event.by, instruction: event.instruction, found, left })
    }
}

fn steps(edges: &[Edge]) -> Vec<AtomicStep> {
    edges.iter().map(|edge| AtomicStep { found: edge.found, left: edge.left }).collect()
}

fn trail(edges: &[Edge], start: Option<u64>, end: Option<u64>) -> Result<Option<u64>, NoModificationOrder> {
    modification_order::last_value(&steps(edges), start, end)
}

/// Returns the atomics at fault if there is no modification order. In order of preference:
///
/// 1. an instruction without whose changes, or some of them, an order exists;
/// 2. atomics that found a value which too many others also found;
/// 3. atomics that found a value which no change leads to;
/// 4. all of them.
fn suspects(edges: &[Edge], start: Option<u64>, end: Option<u64>) -> Vec<Contradiction> {
    let changing = |edge: &&Edge| edge.found != edge.left;
    let instructions: BTreeSet<u32> = edges.iter().filter(changing).map(|edge| edge.instruction).collect();
    let without = instructions.iter().flat_map(|&instruction| lost_changes(edges, instruction, start, end)).collect();
    let steps = steps(edges);
    let (balance, reached) = (modification_order::balance(&steps), modification_order::reached(&steps, start));
    let many = |edge: &&Edge| balance.get(&edge.found).is_some_and(|b| *b > i64::from(start == Some(edge.found)));
    let surplus = edges.iter().filter(changing).filter(many).copied().collect();
    let apart = edges.iter().filter(|edge| !reached.contains(&edge.found)).copied().collect();
    let suspects: [Vec<Edge>; 3] = [without, surplus, apart];
    let suspects = suspects.into_iter().find(|edges| !edges.is_empty()).unwrap_or_else(|| edges.to_vec());
    let wrong = |edge: &Edge| Contradiction {
        culprit: Culprit::Instruction(edge.instruction),
        lost_update: None,
        by: edge.by,
        got: edge.found,
        expected: edge.left,
    };
    suspects.iter().map(wrong).collect()
}

/// Returns changes of an instruction without which a modification order exists; empty if there are
/// none.
fn lost_changes(edges: &[Edge], instruction: u32, start: Option<u64>, end: Option<u64>) -> Vec<Edge> {
    let mine = |edge: &Edge| edge.instruction == instruction && edge.found != edge.left;
    let without = |lost: &[bool]| -> Vec<Edge> {
        edges
            .iter()
            .zip(lost)
            .map(|(edge, lost)| if *lost { Edge { left: edge.found, ..*edge } } else { *edge })
            .collect()
    };
    let chosen = |lost: &[bool]| edges.iter().zip(lost).filter(|(_, lost)| **lost).map(|(edge, _)| *edge).collect();
    // Drops changes one by one, each from a value that too many atomics found; then tries all of
    // them.
    let mut some = vec![false; edges.len()];
    loop {
        let rest = without(&some);
        if trail(&rest, start, end).is_ok() {
            return chosen(&some);
        }
        let balance = modification_order::balance(&steps(&rest));
        let next = edges.iter().enumerate().position(|(i, edge)| {
            let many = balance.get(&edge.found).is_some_and(|b| *b > i64::from(start.is_none_or(|s| s == edge.found)));
            !some[i] && mine(edge) && many
        });
        match next {
            Some(next) => some[next] = true,
            None => break,
        }
    }
    let all: Vec<bool> = edges.iter().map(mine).collect();
    if trail(&without(&all), start, end).is_ok() { chosen(&all) } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(by: u64, epoch: u32, instruction: u32, effect: Effect) -> AccessEvent {
        AccessEvent { by, epoch, time: instruction, instruction, effect }
    }

    fn add(by: u64, instruction: u32, found: u64, amount: u64) -> AccessEvent {
        event(by, 0, instruction, Effect::Update { found, left: found + amount })
    }

    fn culprits(wrong: &[Contradiction]) -> BTreeSet<Culprit> {
        wrong.iter().map(|wrong| wrong.culprit).collect()
    }

    /// Sums in any order of three invocations have a modification order; without one of the changes
    /// they do not.
    #[test]
    fn atomics_have_a_modification_order() {
        let orders = [[0usize, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            let mut value = 10;
            let mut events = Vec::new();
            for &i in &order {
                events.push(add(i as u64, 7, value, i as u64 + 1));
                value += i as u64 + 1;
            }
            assert_eq!(contradictions(events.clone(), Some(10), Some(value)), [], "{order:?}");
            assert_eq!(contradictions(events.clone(), Some(10), None), [], "{order:?}");
            assert!(!contradictions(events.clone(), Some(10), Some(value - 1)).is_empty(), "{order:?}");
            assert!(!contradictions(events.clone(), Some(11), None).is_empty(), "{order:?}");
        }
    }

    /// The instruction whose changes are missing is named, not the other one.
    #[test]
    fn the_atomic_whose_changes_are_lost_is_named() {
        // Instruction 5 adds 3 and is lost; instruction 6 adds 1.
        let (mut value, mut events) = (0, Vec::new());
        for by in 0..8 {
            events.push(add(by, 5, value, 3));
            events.push(add(by, 6, value, 1));
            value += 1;
        }
        assert_eq!(culprits(&contradictions(events, Some(0), Some(value))), BTreeSet::from([Culprit::Instruction(5)]));
        // One of several changes of an instruction is lost.
        let events = vec![add(0, 5, 0, 1), add(1, 5, 1, 1), add(2, 5, 1, 1), add(3, 5, 2, 1)];
        let wrong = contradictions(events, Some(0), Some(3));
        assert_eq!((wrong.len(), culprits(&wrong)), (1, BTreeSet::from([Culprit::Instruction(5)])));
        // A cycle of values that is not connected to the initial contents.
        let apart = vec![add(0, 5, 0, 1), event(1, 0, 6, Effect::Update { found: 9, left: 9 })];
        assert_eq!(culprits(&contradictions(apart, Some(0), Some(1))), BTreeSet::from([Culprit::Instruction(6)]));
    }

    /// A store of another invocation before a barrier is visible after it.
    #[test]
    fn a_store_before_a_barrier_is_visible_after_it() {
        let stored = [event(9, 0, 1, Effect::Store(0)), event(9, 1, 2, Effect::Store(7))];
        let with = |loads: &[AccessEvent]| contradictions([&stored[..], loads].concat(), None, None);
        assert_eq!(with(&[event(1, 2, 3, Effect::Load(7)), event(9, 2, 3, Effect::Load(7))]), []);
        let stale = with(&[event(1, 2, 3, Effect::Load(0)), event(9, 2, 3, Effect::Load(7))]);
        assert_eq!(
            stale,
            [Contradiction { culprit: Culprit::Barrier(1, 2), lost_update: None, by: 1, got: 0, expected: 7 }]
        );
        // Bits that the location never held, and bits that it holds only later.
        let strange = with(&[event(1, 2, 3, Effect::Load(5)), event(2, 2, 3, Effect::Load(7))]);
        assert_eq!(culprits(&strange), BTreeSet::from([Culprit::Instruction(3)]));
        let early =
            with(&[event(1, 2, 3, Effect::Load(4)), event(2, 2, 3, Effect::Load(7)), event(5, 4, 4, Effect::Store(4))]);
        assert_eq!(culprits(&early), BTreeSet::from([Culprit::Barrier(2, 4)]));
        // Atomics that start from the contents before the last store.
        let atomics = [(1, 0, 1), (2, 1, 2)].map(|(by, found, left)| event(by, 2, 3, Effect::Update { found, left }));
        assert_eq!(culprits(&with(&atomics)), BTreeSet::from([Culprit::Barrier(1, 2)]));
        // The invocation's own store.
        assert_eq!(
            culprits(&with(&[event(9, 1, 3, Effect::Load(0))])),
            BTreeSet::from([Culprit::Instruction(3)]),
            "no barrier lies between"
        );
    }

    /// Accesses in an unknown order, and accesses to unknown contents, are not blamed.
    #[test]
    fn accesses_in_unknown_order_are_not_blamed() {
        let mixed =
            vec![event(1, 0, 1, Effect::Store(3)), event(2, 0, 2, Effect::Load(0)), event(2, 1, 2, Effect::Load(9))];
        assert_eq!(contradictions(mixed, Some(0), None), []);
        assert_eq!(
            contradictions(vec![event(1, 3, 1, Effect::Load(3)), event(2, 3, 1, Effect::Load(4))], None, None),
            []
        );
        assert_eq!(contradictions(vec![add(1, 1, 5, 1), add(2, 1, 6, 2)], None, None), []);
        assert_eq!(contradictions(vec![add(1, 1, 5, 0), add(2, 1, 5, 0)], None, Some(5)), []);
    }
}
