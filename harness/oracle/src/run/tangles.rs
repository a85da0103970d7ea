//! Which invocations execute the same dynamic instance of an instruction: a tangle.
//!
//! SPIR-V, "Dynamic Instance": invocations execute the same dynamic instances as long as they follow the same path. Those that part come
//! together again where control flow reconverges to be uniform: at the merge block of a construct that the whole workgroup entered together,
//! and that all of it leaves there ("Uniform Control Flow"); and nowhere else for certain.
//!
//! Those that leave a function on several ways are therefore apart until such a merge block, for all that is certain. But everybody takes
//! the call for an instruction that they are through with together, and nobody's barriers would be legal otherwise.
//!
//! Where the shader asks for maximal reconvergence, those that execute a block together are one tangle, but that "invocations with different
//! 'Selector' values executing the same 'case construct' may be partitioned into the same tangle" (SPV_KHR_maximal_reconvergence): or not.

use crate::inst::Function;
use std::collections::{BTreeSet, HashMap};

/// The tangle of the whole workgroup.
const WHOLE: u32 = 0;

/// Where a lane stands among all that began together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Those of one number are together.
    tangle: u32,
    /// Where it left the whole: how deep in calls, and in which construct of the function.
    left: Option<(u32, u32)>,
}

/// What lanes are in when they call a function.
pub(super) struct Call {
    ways: Vec<Way>,
    construct: Option<u32>,
}

/// The tangles of a workgroup.
#[derive(Debug, Default)]
pub(crate) struct Tangles {
    /// Each lane's, as branches have them; empty where nobody asks.
    branches: Vec<Way>,
    /// The same, as functions have them that lanes left on several ways.
    calls: Vec<Way>,
    /// With maximal reconvergence, the switches that each lane is in: how deep in calls, by which construct, and the selector.
    cases: Option<Vec<Vec<(u32, u32, u64)>>>,
    last: u32,
    depth: u32,
    /// The construct that runs now: it was entered before the block was.
    construct: Option<u32>,
}

impl Tangles {
    /// Begins a workgroup with room for so many lanes, which reconverge at most, or as the core specification says.
    pub(super) fn begin(&mut self, lanes: usize, maximally: bool) {
        let ways = || vec![Way::default(); lanes];
        let cases = maximally.then(|| vec![Vec::new(); lanes]);
        *self = Tangles { branches: ways(), calls: ways(), cases, ..Tangles::default() };
    }

    /// Whether all of these lanes, which execute an instruction together, are for certain in one tangle.
    pub(super) fn are_one(&self, lanes: impl IntoIterator<Item = usize>) -> bool {
        self.agree(lanes, |lane| self.of(lane))
    }

    /// Whether all of these lanes, which execute a barrier together, are in one tangle: for certain, but for calls.
    pub(super) fn meet(&self, lanes: impl IntoIterator<Item = usize>) -> bool {
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

    /// A tangle that the lane is in for certain; the same of all where nobody asks.
    pub(super) fn of(&self, lane: usize) -> (u32, u32) {
        let of = |ways: &[Way]| ways.get(lane).map_or(WHOLE, |way| way.tangle);
        (of(&self.branches), of(&self.calls))
    }

    /// A lane takes a case of a switch, which a construct begins with.
    pub(super) fn choose(&mut self, lane: usize, construct: Option<u32>, selector: u64) {
        if let (Some(cases), Some(construct)) = (&mut self.cases, construct) {
            cases[lane].push((self.depth, construct, selector));
        }
    }

    /// Lanes part at the end of a block in a construct: some to each of these blocks. Several cases may lead to one.
    pub(super) fn part<'l>(&mut self, ways: impl Iterator<Item = (u32, &'l Vec<u32>)> + Clone, construct: Option<u32>) {
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

    /// Lanes arrive at a block. If they are the `whole` workgroup, and all of it entered the construct together that ends there, it is
    /// together again.
    pub(super) fn arrive(&mut self, function: &Function, block: u32, lanes: &[u32], whole: bool) {
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
        let together = |ways: &mut [Way]| {
            lanes.iter().for_each(|lane| ways[*lane as usize].climb(function, depth, block));
            whole
                && lanes
                    .iter()
                    .map(|lane| ways[*lane as usize])
                    .all(|way| way.tangle == WHOLE || way.left.is_some_and(ends))
        };
        let (branches, calls) = (together(&mut self.branches), together(&mut self.calls));
        if branches && !calls {
            // Who was apart as the construct was entered is not together where it ends: less so who parted in it.
            let mut new = HashMap::new();
            for lane in lanes.iter().map(|lane| *lane as usize).filter(|lane| self.branches[*lane].tangle != WHOLE) {
                let key = (self.calls[lane].tangle, self.branches[lane].tangle);
                self.calls[lane].leave(key, self.branches[lane].left, &mut new, &mut self.last);
            }
        }
        for (back, ways) in [(branches, &mut self.branches), (calls, &mut self.calls)] {
            if back {
                lanes.iter().for_each(|lane| ways[*lane as usize] = Way::default());
            }
        }
    }

    /// What lanes are in when a function is called: [`Tangles::returned`] takes it.
    pub(super) fn call(&mut self, lanes: &[u32]) -> Call {
        self.depth += 1;
        let ways = match self.branches.is_empty() {
            true => Vec::new(),
            false => lanes.iter().map(|lane| self.branches[*lane as usize]).collect(),
        };
        Call { ways, construct: self.construct.take() }
    }

    /// All have returned: the branches of the function are behind them, and who left it on another way is apart.
    pub(super) fn returned(&mut self, lanes: &[u32], call: Call) {
        let depth = self.depth;
        self.depth -= 1;
        self.construct = call.construct;
        let left = self.construct.map(|construct| (self.depth, construct));
        // Where nobody parted, which is the rule, nobody is asked.
        let stays = |(lane, before): (&u32, &Way)| self.branches[*lane as usize].tangle == before.tangle;
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

    /// A second lane of an invocation.
    pub(super) fn fork(&mut self, lane: usize, new: usize) {
        for ways in [&mut self.branches, &mut self.calls] {
            if !ways.is_empty() {
                ways[new] = ways[lane];
            }
        }
        if let Some(cases) = &mut self.cases {
            cases[new] = cases[lane].clone();
        }
    }

    /// Two lanes of an invocation become one.
    pub(super) fn join(&mut self, stays: usize, goes: usize) {
        for ways in [&mut self.branches, &mut self.calls] {
            if !ways.is_empty() && ways[stays].tangle != ways[goes].tangle {
                self.last += 1;
                ways[stays] = Way { tangle: self.last, left: ways[stays].left.or(ways[goes].left) };
            }
        }
    }
}

impl Way {
    /// Parts from others: all of one key go together, and leave the whole there if they were in it.
    fn leave(&mut self, key: (u32, u32), left: Option<(u32, u32)>, new: &mut HashMap<(u32, u32), u32>, last: &mut u32) {
        if self.tangle == WHOLE {
            self.left = left;
        }
        self.tangle = *new.entry(key).or_insert_with(|| {
            *last += 1;
            *last
        });
    }

    /// Who leaves a construct, but not where it ends, parts from the others in the one around it.
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
