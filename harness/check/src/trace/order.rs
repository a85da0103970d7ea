//! What a place in memory that invocations share went through, and whether it can have.
//!
//! Barriers divide what the invocations of a workgroup do into epochs. Without data races an epoch in which somebody stores is that
//! invocation's own, and in any other only atomics change the place, one after the other: each finds what the one before left. So there
//! must be an order in which what they found and left makes a chain, an Eulerian trail through the values.

use assay_oracle::steps::{self, NoTrail, Step};
use std::collections::BTreeSet;

/// What an invocation did to the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The invocation.
    pub(super) by: u64,
    /// Barriers that it had come through.
    pub(super) epoch: u32,
    /// When, among what it did itself.
    pub(super) time: u32,
    /// The instruction, by its place in the module.
    pub(super) instruction: u32,
    /// What it did.
    pub(super) what: What,
}

/// Bits that were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A load, of these.
    Load(u64),
    /// A store, of these.
    Store(u64),
    /// An atomic, which found some and left others; one that only loads left the same.
    Update { found: u64, left: u64 },
}

/// What cannot have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Whose fault it is.
    pub(super) culprit: Culprit,
    /// The atomic that explains it as well, if its change was lost.
    pub(super) or: Option<u32>,
    /// An invocation that it shows in.
    pub(super) by: u64,
    /// What is there.
    pub(super) got: u64,
    /// What must be.
    pub(super) expected: u64,
}

/// Whose fault something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Culprit {
    /// An instruction's, by its place in the module.
    Instruction(u32),
    /// A barrier's: one behind which an invocation was in an epoch after the first and up to the second.
    Barrier(u32, u32),
}

/// What the place holds, and since when.
#[derive(Clone, Copy, Debug)]
struct State {
    value: u64,
    /// The epoch in which it was changed last.
    since: u32,
    /// The invocation that changed it, if it was one alone.
    by: Option<u64>,
    /// The atomic that may have changed it last, and what it found.
    update: Option<(u32, u64, u64)>,
}

/// What is wrong of all that happened to a place which held `first` and holds `last`, as far as that is known.
pub(super) fn judge(mut events: Vec<Event>, first: Option<u64>, last: Option<u64>) -> Vec<Wrong> {
    events.sort_by_key(|event| (event.epoch, event.by, event.time, event.instruction));
    let mut state = first.map(|value| State { value, since: 0, by: None, update: None });
    let mut wrong = Vec::new();
    let mut past: BTreeSet<u64> = first.into_iter().collect();
    let mut groups = events.chunk_by(|a, b| a.epoch == b.epoch).peekable();
    while let Some(epoch) = groups.next() {
        let end = last.filter(|_| groups.peek().is_none());
        let alone = epoch.iter().all(|event| event.by == epoch[0].by);
        let stores = epoch.iter().any(|event| matches!(event.what, What::Store(_)));
        let updates = epoch.iter().any(|event| matches!(event.what, What::Update { .. }));
        if alone && end.is_none() {
            state = one_after_the_other(epoch, state, &events, &past, &mut wrong);
        } else if stores {
            // Ordered by something else than barriers, or not at all.
            state = None;
        } else if updates {
            state = chained(epoch, state, end, &past, &mut wrong);
        } else if let Some(state) = state {
            let loads = epoch.iter().filter_map(|event| loaded(event, state, epoch, &events, &past));
            wrong.extend(loads);
        }
        past.extend(epoch.iter().filter_map(|event| match event.what {
            What::Load(_) => None,
            What::Store(bits) | What::Update { left: bits, .. } => Some(bits),
        }));
    }
    wrong
}

/// What one invocation did in an epoch that was its own.
fn one_after_the_other(
    epoch: &[Event],
    mut state: Option<State>,
    all: &[Event],
    past: &BTreeSet<u64>,
    wrong: &mut Vec<Wrong>,
) -> Option<State> {
    for event in epoch {
        let found = match event.what {
            What::Load(bits) | What::Update { found: bits, .. } => Some(bits),
            What::Store(_) => None,
        };
        if let (Some(state), Some(_)) = (state, found) {
            wrong.extend(loaded(event, state, epoch, all, past));
        }
        let changed = |value| State { value, since: event.epoch, by: Some(event.by), update: None };
        match event.what {
            What::Store(bits) => state = Some(changed(bits)),
            What::Update { found, left } if found != left => {
                state = Some(State { update: Some((event.instruction, event.by, found)), ..changed(left) });
            }
            What::Load(bits) | What::Update { left: bits, .. } => state = state.or(Some(changed(bits))),
        }
    }
    state
}

/// What is wrong of an event that must have found what the place holds.
fn loaded(event: &Event, state: State, epoch: &[Event], all: &[Event], past: &BTreeSet<u64>) -> Option<Wrong> {
    let (What::Load(got) | What::Update { found: got, .. }) = event.what else { return None };
    if got == state.value {
        return None;
    }
    let others = |other: &&Event| other.by != event.by;
    let later = all.iter().filter(others).find(|other| match other.what {
        What::Store(bits) | What::Update { left: bits, .. } => bits == got && other.epoch > event.epoch,
        What::Load(_) => false,
    });
    // An atomic of which the invocation itself sees nothing did not happen.
    let lost = state.update.filter(|&(_, by, found)| {
        found == got
            && epoch.iter().any(|own| {
                own.by == by && matches!(own.what, What::Load(bits) | What::Update { found: bits, .. } if bits == got)
            })
    });
    let culprit = if let Some((instruction, ..)) = lost {
        Culprit::Instruction(instruction)
    } else if state.since < event.epoch && state.by != Some(event.by) && past.contains(&got) {
        Culprit::Barrier(state.since, event.epoch)
    } else if let Some(later) = later {
        Culprit::Barrier(event.epoch, later.epoch)
    } else {
        Culprit::Instruction(event.instruction)
    };
    let or = state.update.filter(|(_, _, found)| *found == got).map(|(instruction, ..)| instruction);
    Some(Wrong { culprit, or, by: event.by, got, expected: state.value })
}

/// What atomics of several invocations left, if they can have been executed in some order; if not, what is wrong of them.
fn chained(
    epoch: &[Event],
    state: Option<State>,
    end: Option<u64>,
    past: &BTreeSet<u64>,
    wrong: &mut Vec<Wrong>,
) -> Option<State> {
    let edges: Vec<Edge> = epoch.iter().filter_map(Edge::of).collect();
    let start = state.map(|state| state.value);
    if let Ok(left) = trail(&edges, start, end) {
        // Which one came last is known where only one can have left that.
        let mut last = edges.iter().filter(|edge| Some(edge.left) == left && edge.found != edge.left);
        let only = last.next().filter(|_| last.next().is_none());
        let since = epoch[0].epoch;
        return left.map(|value| {
            let update = only.map(|edge| (edge.instruction, edge.by, edge.found));
            if edges.iter().all(|edge| edge.found == edge.left) {
                return State { value, ..state.unwrap_or(State { value, since, by: None, update: None }) };
            }
            State { value, since, by: only.map(|edge| edge.by), update }
        });
    }
    wrong.extend(match state.and_then(|state| stale(&edges, state, epoch[0].epoch, end, past)) {
        Some(stale) => vec![stale],
        None => blame(&edges, start, end),
    });
    None
}

/// A barrier, if there is a chain, from what was there before the last change.
fn stale(edges: &[Edge], state: State, epoch: u32, end: Option<u64>, past: &BTreeSet<u64>) -> Option<Wrong> {
    trail(edges, None, end).ok()?;
    let balance = steps::balance(&steps(edges));
    let first = |edge: &&Edge| balance.get(&edge.found) == Some(&1) && past.contains(&edge.found);
    let edge = edges.iter().find(first).filter(|_| state.since < epoch)?;
    let culprit = Culprit::Barrier(state.since, epoch);
    let or = state.update.filter(|(_, _, found)| *found == edge.found).map(|(instruction, ..)| instruction);
    Some(Wrong { culprit, or, by: edge.by, got: edge.found, expected: state.value })
}

/// A step from one value to the next.
#[derive(Clone, Copy, Debug)]
struct Edge {
    by: u64,
    instruction: u32,
    found: u64,
    left: u64,
}

impl Edge {
    fn of(event: &Event) -> Option<Edge> {
        let What::Update { found, left } = event.what else { return None };
        Some(Edge { by: event.by, instruction: event.instruction, found, left })
    }
}

fn steps(edges: &[Edge]) -> Vec<Step> {
    edges.iter().map(|edge| Step { found: edge.found, left: edge.left }).collect()
}

fn trail(edges: &[Edge], start: Option<u64>, end: Option<u64>) -> Result<Option<u64>, NoTrail> {
    steps::trail(&steps(edges), start, end)
}

/// Which atomics are to blame that there is no chain: those without whose changes, or some of them, there is one; if there are none,
/// those that found what too many others found, or what nothing leads to; or else all.
fn blame(edges: &[Edge], start: Option<u64>, end: Option<u64>) -> Vec<Wrong> {
    let changing = |edge: &&Edge| edge.found != edge.left;
    let instructions: BTreeSet<u32> = edges.iter().filter(changing).map(|edge| edge.instruction).collect();
    let without = instructions.iter().flat_map(|&instruction| lost(edges, instruction, start, end)).collect();
    let steps = steps(edges);
    let (balance, reached) = (steps::balance(&steps), steps::reached(&steps, start));
    let many = |edge: &&Edge| balance.get(&edge.found).is_some_and(|b| *b > i64::from(start == Some(edge.found)));
    let surplus = edges.iter().filter(changing).filter(many).copied().collect();
    let apart = edges.iter().filter(|edge| !reached.contains(&edge.found)).copied().collect();
    let suspects: [Vec<Edge>; 3] = [without, surplus, apart];
    let suspects = suspects.into_iter().find(|edges| !edges.is_empty()).unwrap_or_else(|| edges.to_vec());
    let wrong = |edge: &Edge| Wrong {
        culprit: Culprit::Instruction(edge.instruction),
        or: None,
        by: edge.by,
        got: edge.found,
        expected: edge.left,
    };
    suspects.iter().map(wrong).collect()
}

/// The changes of an instruction that did not happen, if there is a chain without them.
fn lost(edges: &[Edge], instruction: u32, start: Option<u64>, end: Option<u64>) -> Vec<Edge> {
    let mine = |edge: &Edge| edge.instruction == instruction && edge.found != edge.left;
    let without = |lost: &[bool]| -> Vec<Edge> {
        edges
            .iter()
            .zip(lost)
            .map(|(edge, lost)| if *lost { Edge { left: edge.found, ..*edge } } else { *edge })
            .collect()
    };
    let chosen = |lost: &[bool]| edges.iter().zip(lost).filter(|(_, lost)| **lost).map(|(edge, _)| *edge).collect();
    // One after the other of those from a value that too many found; else all of them.
    let mut some = vec![false; edges.len()];
    loop {
        let rest = without(&some);
        if trail(&rest, start, end).is_ok() {
            return chosen(&some);
        }
        let balance = steps::balance(&steps(&rest));
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

    fn event(by: u64, epoch: u32, instruction: u32, what: What) -> Event {
        Event { by, epoch, time: instruction, instruction, what }
    }

    fn add(by: u64, instruction: u32, found: u64, amount: u64) -> Event {
        event(by, 0, instruction, What::Update { found, left: found + amount })
    }

    fn culprits(wrong: &[Wrong]) -> BTreeSet<Culprit> {
        wrong.iter().map(|wrong| wrong.culprit).collect()
    }

    /// Sums in every order of three invocations are chains; without one of the changes none is.
    #[test]
    fn atomics_make_a_chain() {
        let orders = [[0usize, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            let mut value = 10;
            let mut events = Vec::new();
            for &i in &order {
                events.push(add(i as u64, 7, value, i as u64 + 1));
                value += i as u64 + 1;
            }
            assert_eq!(judge(events.clone(), Some(10), Some(value)), [], "{order:?}");
            assert_eq!(judge(events.clone(), Some(10), None), [], "{order:?}");
            assert!(!judge(events.clone(), Some(10), Some(value - 1)).is_empty(), "{order:?}");
            assert!(!judge(events.clone(), Some(11), None).is_empty(), "{order:?}");
        }
    }

    /// Of two instructions the one is named whose changes are missing.
    #[test]
    fn the_atomic_whose_changes_are_lost_is_named() {
        // Instruction 5 adds 3 and is lost; instruction 6 adds 1.
        let (mut value, mut events) = (0, Vec::new());
        for by in 0..8 {
            events.push(add(by, 5, value, 3));
            events.push(add(by, 6, value, 1));
            value += 1;
        }
        assert_eq!(culprits(&judge(events, Some(0), Some(value))), BTreeSet::from([Culprit::Instruction(5)]));
        // Of many changes of one instruction one is lost.
        let events = vec![add(0, 5, 0, 1), add(1, 5, 1, 1), add(2, 5, 1, 1), add(3, 5, 2, 1)];
        let wrong = judge(events, Some(0), Some(3));
        assert_eq!((wrong.len(), culprits(&wrong)), (1, BTreeSet::from([Culprit::Instruction(5)])));
        // A loop through values that is not connected to what was there before.
        let apart = vec![add(0, 5, 0, 1), event(1, 0, 6, What::Update { found: 9, left: 9 })];
        assert_eq!(culprits(&judge(apart, Some(0), Some(1))), BTreeSet::from([Culprit::Instruction(6)]));
    }

    /// What another invocation stored before a barrier must be there behind it.
    #[test]
    fn a_barrier_orders_stores_and_loads() {
        let stored = [event(9, 0, 1, What::Store(0)), event(9, 1, 2, What::Store(7))];
        let with = |loads: &[Event]| judge([&stored[..], loads].concat(), None, None);
        assert_eq!(with(&[event(1, 2, 3, What::Load(7)), event(9, 2, 3, What::Load(7))]), []);
        let stale = with(&[event(1, 2, 3, What::Load(0)), event(9, 2, 3, What::Load(7))]);
        assert_eq!(stale, [Wrong { culprit: Culprit::Barrier(1, 2), or: None, by: 1, got: 0, expected: 7 }]);
        // Neither what was there before nor what comes later.
        let strange = with(&[event(1, 2, 3, What::Load(5)), event(2, 2, 3, What::Load(7))]);
        assert_eq!(culprits(&strange), BTreeSet::from([Culprit::Instruction(3)]));
        let early =
            with(&[event(1, 2, 3, What::Load(4)), event(2, 2, 3, What::Load(7)), event(5, 4, 4, What::Store(4))]);
        assert_eq!(culprits(&early), BTreeSet::from([Culprit::Barrier(2, 4)]));
        // Atomics that begin with what was there before.
        let atomics = [(1, 0, 1), (2, 1, 2)].map(|(by, found, left)| event(by, 2, 3, What::Update { found, left }));
        assert_eq!(culprits(&with(&atomics)), BTreeSet::from([Culprit::Barrier(1, 2)]));
        // The invocation's own.
        assert_eq!(
            culprits(&with(&[event(9, 1, 3, What::Load(0))])),
            BTreeSet::from([Culprit::Instruction(3)]),
            "no barrier lies between"
        );
    }

    /// Whatever is ordered otherwise, or was not seen, is nobody's fault.
    #[test]
    fn what_is_not_known_is_not_blamed() {
        let mixed = vec![event(1, 0, 1, What::Store(3)), event(2, 0, 2, What::Load(0)), event(2, 1, 2, What::Load(9))];
        assert_eq!(judge(mixed, Some(0), None), []);
        assert_eq!(judge(vec![event(1, 3, 1, What::Load(3)), event(2, 3, 1, What::Load(4))], None, None), []);
        assert_eq!(judge(vec![add(1, 1, 5, 1), add(2, 1, 6, 2)], None, None), []);
        assert_eq!(judge(vec![add(1, 1, 5, 0), add(2, 1, 5, 0)], None, Some(5)), []);
    }
}
