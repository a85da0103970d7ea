//! Lane forks: an invocation that may take both sides of a branch continues as two lanes until they
//! meet, in the manner of symbolic execution (King, CACM 1976).

use crate::correlated_set::NondetChoice;

/// The assignment of lanes to invocations.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// The invocation of each lane.
    family: Vec<u32>,
    /// Number of lanes of each invocation.
    members: Vec<u32>,
    /// Serial number of each lane's creation; 0 for the first lane of an invocation.
    birth: Vec<u32>,
    /// The choices of each lane that another lane of its invocation decided differently, by number.
    decided: Vec<Vec<NondetChoice>>,
    free: Vec<u32>,
    births: u32,
    pub(crate) in_use: usize,
    pub(crate) total: u64,
}

impl Forks {
    pub(crate) fn new(lanes: usize, capacity: usize) -> Forks {
        Forks {
            family: (0..capacity as u32).collect(),
            members: vec![1; lanes],
            birth: vec![0; capacity],
            decided: vec![Vec::new(); capacity],
            free: (lanes as u32..capacity as u32).rev().collect(),
            births: 0,
            in_use: 0,
            total: 0,
        }
    }

    /// Begins a workgroup: every invocation is one lane again.
    pub(crate) fn reset(&mut self, lanes: usize) {
        let (capacity, total) = (self.family.len(), self.total);
        *self = Forks { total, ..Forks::new(lanes, capacity) };
    }

    /// Returns true if the invocation has several lanes, so this one is possibly not executed.
    #[inline]
    pub(crate) fn is_weak(&self, lane: usize) -> bool {
        self.in_use > 0 && self.members[self.family[lane] as usize] > 1
    }

    /// The first lane of a lane's invocation.
    pub(crate) fn original(&self, lane: usize) -> usize {
        self.family[lane] as usize
    }

    /// Creates a second lane for a lane's invocation; `None` if no lane is free.
    pub(crate) fn fork(&mut self, lane: usize) -> Option<usize> {
        let new = self.free.pop()? as usize;
        self.births += 1;
        self.total += 1;
        self.in_use += 1;
        self.family[new] = self.family[lane];
        self.birth[new] = self.births;
        self.decided[new] = self.decided[lane].clone();
        self.members[self.family[lane] as usize] += 1;
        Some(new)
    }

    /// Restricts a choice to the remaining alternatives in this lane.
    pub(crate) fn decide(&mut self, lane: usize, choice: NondetChoice) {
        let decided = &mut self.decided[lane];
        match decided.binary_search_by_key(&choice.number, |known| known.number) {
            Ok(known) => decided[known].remaining &= choice.remaining,
            Err(at) => decided.insert(at, choice),
        }
    }

    /// A choice that separates two lanes of an invocation: the remaining alternatives in each of
    /// them.
    pub(crate) fn parted_by(&self, a: usize, b: usize) -> Option<(NondetChoice, NondetChoice)> {
        let mut others = self.decided[b].iter().peekable();
        let mut pairs = self.decided[a].iter().filter_map(|one| {
            while others.next_if(|other| other.number < one.number).is_some() {}
            Some((*one, **others.peek().filter(|other| other.number == one.number)?))
        });
        pairs.find(|(one, other)| one.remaining & other.remaining == 0)
    }

    /// Merges two lanes of an invocation. Returns the lane that stays (the older one) and the one
    /// that goes.
    pub(crate) fn join(&mut self, a: usize, b: usize) -> (usize, usize) {
        let (stays, goes) = if self.birth[a] <= self.birth[b] { (a, b) } else { (b, a) };
        self.members[self.family[goes] as usize] -= 1;
        let gone = std::mem::take(&mut self.decided[goes]);
        let mut others = gone.iter().peekable();
        self.decided[stays].retain_mut(|known| {
            while others.next_if(|other| other.number < known.number).is_some() {}
            let other = others.peek().filter(|other| other.number == known.number);
            known.remaining |= other.map_or(0, |other| other.remaining);
            other.is_some()
        });
        if !self.is_weak(stays) {
            self.decided[stays].clear();
        }
        self.family[goes] = goes as u32;
        self.in_use -= 1;
        self.free.push(goes as u32);
        (stays, goes)
    }
}
