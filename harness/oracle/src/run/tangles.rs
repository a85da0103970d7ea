//! Which invocations execute the same dynamic instance of an instruction: a tangle.
//!
//! SPIR-V, "Dynamic Instance": invocations execute the same dynamic instances as long as they follow the same path. Those that part come
//! together again where control flow reconverges to be uniform: at the merge block of a construct that the whole workgroup entered together,
//! and that all of it leaves there ("Uniform Control Flow"); and nowhere else for certain.
//!
//! Where the shader asks for maximal reconvergence, those that execute a block together are one tangle, but that "invocations with different
//! 'Selector' values executing the same 'case construct' may be partitioned into the same tangle" (SPV_KHR_maximal_reconvergence): or not.

use crate::inst::Function;
use std::collections::{BTreeSet, HashMap};

/// The tangle of the whole workgroup.
const WHOLE: u32 = 0;

/// The tangles of a workgroup.
#[derive(Debug, Default)]
pub(crate) struct Tangles {
    /// Each lane's; empty where nobody asks.
    of: Vec<u32>,
    /// Where each lane left the whole: how deep in calls, and in which construct of the function.
    parted: Vec<Option<(u32, u32)>>,
    /// With maximal reconvergence, the switches that each lane is in: how deep in calls, by which construct, and the selector.
    cases: Option<Vec<Vec<(u32, u32, u64)>>>,
    last: u32,
    depth: u32,
}

impl Tangles {
    /// Begins a workgroup with room for so many lanes, which reconverge at most, or as the core specification says.
    pub(super) fn begin(&mut self, lanes: usize, maximally: bool) {
        let cases = maximally.then(|| vec![Vec::new(); lanes]);
        *self = Tangles { of: vec![WHOLE; lanes], parted: vec![None; lanes], cases, last: WHOLE, depth: 0 };
    }

    /// Whether all of these lanes, which execute an instruction together, are for certain in one tangle.
    pub(super) fn are_one(&self, lanes: impl IntoIterator<Item = usize>) -> bool {
        let mut lanes = lanes.into_iter();
        let Some(first) = lanes.next() else { return true };
        lanes.all(|lane| match &self.cases {
            Some(cases) => cases[lane] == cases[first],
            None => self.of(lane) == self.of(first),
        })
    }

    /// A tangle that the lane is in for certain; the same of all where nobody asks.
    pub(super) fn of(&self, lane: usize) -> u32 {
        self.of.get(lane).copied().unwrap_or(WHOLE)
    }

    /// A lane takes a case of a switch, which a construct begins with.
    pub(super) fn choose(&mut self, lane: usize, construct: Option<u32>, selector: u64) {
        if let (Some(cases), Some(construct)) = (&mut self.cases, construct) {
            cases[lane].push((self.depth, construct, selector));
        }
    }

    /// Lanes part at the end of a block in a construct: some to each of these blocks. Several cases may lead to one.
    pub(super) fn part<'l>(&mut self, ways: impl Iterator<Item = (u32, &'l Vec<u32>)> + Clone, construct: Option<u32>) {
        if self.of.is_empty() {
            return;
        }
        let mut taken: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        for (block, way) in ways.clone() {
            for lane in way {
                taken.entry(self.of[*lane as usize]).or_default().insert(block);
            }
        }
        let mut new: HashMap<(u32, u32), u32> = HashMap::new();
        for (block, way) in ways {
            for &lane in way {
                let tangle = self.of[lane as usize];
                if taken.get(&tangle).is_none_or(|taken| taken.len() < 2) {
                    continue;
                }
                if tangle == WHOLE {
                    self.parted[lane as usize] = construct.map(|construct| (self.depth, construct));
                }
                self.of[lane as usize] = *new.entry((tangle, block)).or_insert_with(|| {
                    self.last += 1;
                    self.last
                });
            }
        }
    }

    /// Lanes arrive at a block. If they are the `whole` workgroup, and all of it entered the construct together that ends there, it is
    /// together again.
    pub(super) fn arrive(&mut self, function: &Function, block: u32, lanes: &[u32], whole: bool) {
        let depth = self.depth;
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
        for lane in lanes {
            let parted = &mut self.parted[*lane as usize];
            // Who leaves a construct, but not where it ends, parts from the others in the one around it.
            while let Some((at, construct)) = *parted
                && at == depth
                && !function.is_inside(block, construct)
                && !function.ends_at(construct, block)
            {
                let around = function.constructs.get(construct as usize).and_then(|construct| construct.parent);
                *parted = around.map(|around| (depth, around));
            }
        }
        let ends = |(at, construct): (u32, u32)| at == depth && function.ends_at(construct, block);
        let back = |lane: &u32| {
            let lane = *lane as usize;
            self.of[lane] == WHOLE || self.parted[lane].is_some_and(ends)
        };
        if whole && lanes.iter().all(back) {
            for lane in lanes.iter().map(|lane| *lane as usize) {
                (self.of[lane], self.parted[lane]) = (WHOLE, None);
            }
        }
    }

    /// What lanes are in when a function is called: [`Tangles::returned`] takes it.
    pub(super) fn call(&mut self, lanes: &[u32]) -> Vec<(u32, Option<(u32, u32)>)> {
        self.depth += 1;
        if self.of.is_empty() {
            return Vec::new();
        }
        lanes.iter().map(|lane| (self.of[*lane as usize], self.parted[*lane as usize])).collect()
    }

    /// All have returned: the call is one instruction of a block, which they execute as they began it.
    pub(super) fn returned(&mut self, lanes: &[u32], were: &[(u32, Option<(u32, u32)>)]) {
        let depth = self.depth;
        self.depth -= 1;
        for (lane, were) in lanes.iter().zip(were) {
            (self.of[*lane as usize], self.parted[*lane as usize]) = *were;
            if let Some(cases) = &mut self.cases {
                cases[*lane as usize].retain(|(at, ..)| *at < depth);
            }
        }
    }

    /// A second lane of an invocation.
    pub(super) fn fork(&mut self, lane: usize, new: usize) {
        if !self.of.is_empty() {
            (self.of[new], self.parted[new]) = (self.of[lane], self.parted[lane]);
        }
        if let Some(cases) = &mut self.cases {
            cases[new] = cases[lane].clone();
        }
    }

    /// Two lanes of an invocation become one.
    pub(super) fn join(&mut self, stays: usize, goes: usize) {
        if !self.of.is_empty() && self.of[stays] != self.of[goes] {
            self.last += 1;
            self.of[stays] = self.last;
            self.parted[stays] = self.parted[stays].or(self.parted[goes]);
        }
    }
}
