//! Tangles: the invocations that certainly execute the same dynamic instance of an instruction.
//!
//! # Terms
//!
//! SPV_KHR_maximal_reconvergence names what SPIR-V describes in "Dynamic Instance" and "Uniform
//! Control Flow":
//!
//! * *Tangle*: "the set of invocations that execute the same dynamic instance of an instruction".
//! * *Divergence* "occurs when executing I if the invocations in T(I) do not all have the same
//!   dynamic successor".
//! * *Reconvergence*: invocations that diverged "rejoin a common tangle".
//!
//! # Invariant
//!
//! Each lane has two numbers, by its branches and by its calls ([`Tangles::of`]). Lanes whose
//! numbers are equal have executed the same sequence of blocks since the whole workgroup was last
//! in one tangle. They are therefore certainly in one tangle. The converse does not hold: lanes
//! with different numbers may be in one tangle on some implementation. [`WHOLE`] is the number of
//! the lanes that have not left the whole workgroup; no other number is used twice in a workgroup.
//!
//! * A divergence ([`Tangles::part`]) gives a new number to each pair of an old number and a target
//!   block. A branch on which all lanes of one number agree changes nothing.
//! * Without maximal reconvergence SPIR-V guarantees reconvergence only where control flow becomes
//!   uniform again: at the merge block of a construct that the whole workgroup entered together, if
//!   all of it leaves the construct there ([`Tangles::arrive`]). Each lane therefore knows the
//!   construct in which it left the workgroup ([`LanePath::left`]), which becomes the enclosing one
//!   ([`LanePath::climb`]) when the lane leaves it other than at its end. At the common merge block
//!   all numbers become [`WHOLE`]. Nothing joins two numbers short of that.
//! * The two lanes of an invocation that took both sides of an undecided branch get a new number
//!   when they are joined ([`Tangles::join`]): no other lane is certainly in their tangle.
//!
//! # Calls
//!
//! By the letter, invocations that leave a function on several paths reconverge only at a merge
//! block as above. Implementations and shaders nevertheless treat a call like one instruction,
//! after which the callers are together (maximal reconvergence requires it), and few barriers would
//! be legal otherwise. The divergence is therefore kept apart, in the second number
//! ([`Tangles::returned`]). Barriers, whose divergence is a fault, do not look at it
//! ([`Tangles::meet`]); subgroup instructions, whose results would be taken for certain, do
//! ([`Tangles::are_one`]).
//!
//! # Maximal reconvergence
//!
//! Invocations reconverge at merge blocks, continue targets and returns, and only these and the
//! targets of switches may have several predecessors. Lanes that execute a block together are
//! therefore one tangle. This includes blocks that only lead out of a loop ("break blocks"), which
//! are executed "as if they were still diverged according to the loop iteration": all blocks of a
//! loop precede its continue target in the order of blocks, so that the lanes of one iteration have
//! left the loop before the next iteration begins.
//!
//! One exception is tracked ([`Tangles::cases`]): "invocations with different 'Selector' values
//! executing the same 'case construct' may be partitioned into the same tangle", or not. Lanes with
//! different selectors are not certainly together.

use crate::control_flow::Function;
use std::collections::{BTreeSet, HashMap};

/// The tangle of the whole workgroup.
const WHOLE: u32 = 0;

/// The path of a lane relative to the lanes that began together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct LanePath {
    /// Number of the tangle; lanes with one number are together.
    tangle: u32,
    /// The call depth, and the construct of the function, in which the lane left the whole
    /// workgroup.
    left: Option<(u32, u32)>,
}

/// The state of lanes at a function call.
pub(in crate::run) struct Call {
    ways: Vec<LanePath>,
    construct: Option<u32>,
}

/// The tangles of a workgroup.
#[derive(Debug, Default)]
pub(crate) struct Tangles {
    /// The path of each lane by its branches; empty if the program does not depend on tangles.
    branches: Vec<LanePath>,
    /// The path of each lane by the functions that it left on different paths than others.
    calls: Vec<LanePath>,
    /// With maximal reconvergence, the switches that each lane is in: call depth, construct and
    /// selector.
    cases: Option<Vec<Vec<(u32, u32, u64)>>>,
    last: u32,
    depth: u32,
    /// The construct that is being executed: it was entered before the current block.
    construct: Option<u32>,
}

impl Tangles {
    /// Begins a workgroup with room for `lanes` lanes. `maximally` selects maximal reconvergence.
    pub(in crate::run) fn begin(&mut self, lanes: usize, maximally: bool) {
        let ways = || vec![LanePath::default(); lanes];
        let cases = maximally.then(|| vec![Vec::new(); lanes]);
        *self = Tangles { branches: ways(), calls: ways(), cases, ..Tangles::default() };
    }

    /// Returns true if all of these lanes, which execute an instruction together, are certainly in
    /// one tangle.
    pub(in crate::run) fn are_one(&self, lanes: impl IntoIterator<Item = usize>) -> bool {
        self.agree(lanes, |lane| self.of(lane))
    }

    /// Returns true if all of these lanes, which execute a barrier together, are certainly in one
    /// tangle when calls are treated as single instructions.
    pub(in crate::run) fn meet(&self, lanes: impl IntoIterator<Item = usize>) -> bool {
        self.agree(lanes, |lane| self.of(lane).0)
    }

    fn agree<T: PartialEq>(&self, lanes: impl IntoIterator<Item = usize>, of: impl Fn(usize) -> T) -> bool {
        let mut lanes = lanes.into_iter();
        let Some(first) = lanes.next() else { return true };
        lanes.all(|lane| match &self.cases {
            Some(cases) => cases[lane] == cases[first],
            None => of(lane) == of(first),
        })
    }

    /// A tangle that the lane is certainly in; the same for all lanes if the program does not
    /// depend on tangles.
    pub(in crate::run) fn of(&self, lane: usize) -> (u32, u32) {
        let of = |ways: &[LanePath]| ways.get(lane).map_or(WHOLE, |way| way.tangle);
        (of(&self.branches), of(&self.calls))
    }

    /// Records the case that a lane takes of the switch that begins `construct`.
    pub(in crate::run) fn choose(&mut self, lane: usize, construct: Option<u32>, selector: u64) {
        if let (Some(cases), Some(construct)) = (&mut self.cases, construct) {
            cases[lane].push((self.depth, construct, selector));
        }
    }

    /// Separates lanes that diverge at the end of a block of a construct, some to each of these
    /// blocks. Several cases may lead to one block.
    pub(in crate::run) fn part<'l>(
        &mut self,
        ways: impl Iterator<Item = (u32, &'l Vec<u32>)> + Clone,
        construct: Option<u32>,
    ) {
        if self.branches.is_empty() {
            return;
        }
        let mut taken: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        for (block, way) in ways.clone() {
            for lane in way {
                taken.entry(self.branches[*lane as usize].tangle).or_default().insert(block);
            }
        }
        let left = construct.map(|construct| (self.depth, construct));
        let mut new = HashMap::new();
        for (block, way) in ways {
            for &lane in way {
                let way = &mut self.branches[lane as usize];
                if taken.get(&way.tangle).is_some_and(|taken| taken.len() > 1) {
                    way.leave((way.tangle, block), left, &mut new, &mut self.last);
                }
            }
        }
    }

    /// Lets lanes arrive at a block. If they are the `whole` workgroup, and all of it entered the
    /// construct that ends there together, it reconverges.
    pub(in crate::run) fn arrive(&mut self, function: &Function, block: u32, lanes: &[u32], whole: bool) {
        let depth = self.depth;
        self.construct = function.entered_before(block);
        if let Some(cases) = &mut self.cases {
            let left =
                |(at, construct, _): &mut (u32, u32, u64)| *at == depth && !function.is_inside(block, *construct);
            for lane in lanes {
                while cases[*lane as usize].pop_if(left).is_some() {}
            }
        }
        if self.last == WHOLE {
            return;
        }
        let ends = |(at, construct): (u32, u32)| at == depth && function.ends_at(construct, block);
        let together = |ways: &mut [LanePath]| {
            lanes.iter().for_each(|lane| ways[*lane as usize].climb(function, depth, block));
            whole
                && lanes
                    .iter()
                    .map(|lane| ways[*lane as usize])
                    .all(|way| way.tangle == WHOLE || way.left.is_some_and(ends))
        };
        let (branches, calls) = (together(&mut self.branches), together(&mut self.calls));
        if branches && !calls {
            // Lanes that were apart when the construct was entered are not together at its end.
            // Lanes that diverged inside are even less so.
            let mut new = HashMap::new();
            for lane in lanes.iter().map(|lane| *lane as usize).filter(|lane| self.branches[*lane].tangle != WHOLE) {
                let key = (self.calls[lane].tangle, self.branches[lane].tangle);
                self.calls[lane].leave(key, self.branches[lane].left, &mut new, &mut self.last);
            }
        }
        for (back, ways) in [(branches, &mut self.branches), (calls, &mut self.calls)] {
            if back {
                lanes.iter().for_each(|lane| ways[*lane as usize] = LanePath::default());
            }
        }
    }

    /// Enters a function, and returns the state of the lanes for [`Tangles::returned`].
    pub(in crate::run) fn call(&mut self, lanes: &[u32]) -> Call {
        self.depth += 1;
        let ways = match self.branches.is_empty() {
            true => Vec::new(),
            false => lanes.iter().map(|lane| self.branches[*lane as usize]).collect(),
        };
        Call { ways, construct: self.construct.take() }
    }

    /// Returns from a function. Its branches no longer count, and lanes that left it on different
    /// paths are apart.
    pub(in crate::run) fn returned(&mut self, lanes: &[u32], call: Call) {
        let depth = self.depth;
        self.depth -= 1;
        self.construct = call.construct;
        let left = self.construct.map(|construct| (self.depth, construct));
        // Common case: no lane diverged in the function.
        let stays = |(lane, before): (&u32, &LanePath)| self.branches[*lane as usize].tangle == before.tangle;
        if self.last != WHOLE && !lanes.iter().zip(&call.ways).all(stays) {
            let mut ends: HashMap<u32, BTreeSet<u32>> = HashMap::new();
            for (lane, before) in lanes.iter().zip(&call.ways) {
                ends.entry(before.tangle).or_default().insert(self.branches[*lane as usize].tangle);
            }
            let mut new = HashMap::new();
            for (lane, before) in lanes.iter().map(|lane| *lane as usize).zip(&call.ways) {
                if ends.get(&before.tangle).is_some_and(|ends| ends.len() > 1) {
                    let key = (self.calls[lane].tangle, self.branches[lane].tangle);
                    self.calls[lane].leave(key, left, &mut new, &mut self.last);
                }
            }
        }
        for (lane, before) in lanes.iter().map(|lane| *lane as usize).zip(call.ways) {
            self.branches[lane] = before;
            let way = &mut self.calls[lane];
            if way.left.is_some_and(|(at, _)| at == depth) {
                way.left = left;
            }
        }
        if let Some(cases) = &mut self.cases {
            for lane in lanes {
                cases[*lane as usize].retain(|(at, ..)| *at < depth);
            }
        }
    }

    /// Copies the state of a lane to the second lane of its invocation.
    pub(in crate::run) fn fork(&mut self, lane: usize, new: usize) {
        for ways in [&mut self.branches, &mut self.calls] {
            if !ways.is_empty() {
                ways[new] = ways[lane];
            }
        }
        if let Some(cases) = &mut self.cases {
            cases[new] = cases[lane].clone();
        }
    }

    /// Merges the states of two lanes of an invocation.
    pub(in crate::run) fn join(&mut self, stays: usize, goes: usize) {
        for ways in [&mut self.branches, &mut self.calls] {
            if !ways.is_empty() && ways[stays].tangle != ways[goes].tangle {
                self.last += 1;
                ways[stays] = LanePath { tangle: self.last, left: ways[stays].left.or(ways[goes].left) };
            }
        }
    }
}

impl LanePath {
    /// Separates the lane from others: lanes with one key stay together. A lane that was with the
    /// whole workgroup leaves it at `left`.
    fn leave(&mut self, key: (u32, u32), left: Option<(u32, u32)>, new: &mut HashMap<(u32, u32), u32>, last: &mut u32) {
        if self.tangle == WHOLE {
            self.left = left;
        }
        self.tangle = *new.entry(key).or_insert_with(|| {
            *last += 1;
            *last
        });
    }

    /// Moves the point of leaving outwards: a lane that leaves a construct other than at its end is
    /// apart from the others in the enclosing construct.
    fn climb(&mut self, function: &Function, depth: u32, block: u32) {
        while let Some((at, construct)) = self.left
            && at == depth
            && !function.is_inside(block, construct)
            && !function.ends_at(construct, block)
        {
            let around = function.constructs.get(construct as usize).and_then(|construct| construct.parent);
            self.left = around.map(|around| (depth, around));
        }
    }
}
