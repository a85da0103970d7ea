//! Lanes for undecided branches: an invocation that may go both ways goes on as two lanes until they meet.

use crate::few::Choice;

/// Which lanes belong to which invocation.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// The invocation of each lane.
    family: Vec<u32>,
    /// How many lanes each invocation has.
    members: Vec<u32>,
    /// When each lane was made; 0 for the first of its invocation.
    birth: Vec<u32>,
    /// What has been decided in each lane, where another lane of its invocation decided otherwise.
    decided: Vec<Vec<Choice>>,
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

    /// Whether the lane is one of several that its invocation may be.
    #[inline]
    pub(crate) fn is_weak(&self, lane: usize) -> bool {
        self.in_use > 0 && self.members[self.family[lane] as usize] > 1
    }

    /// The first lane of a lane's invocation.
    pub(crate) fn original(&self, lane: usize) -> usize {
        self.family[lane] as usize
    }

    /// A second lane for a lane's invocation.
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

    /// In this lane only these alternatives of a decision are left.
    pub(crate) fn decide(&mut self, lane: usize, choice: Choice) {
        let decided = &mut self.decided[lane];
        match decided.iter_mut().find(|known| known.number == choice.number) {
            Some(known) => known.left &= choice.left,
            None => decided.push(choice),
        }
    }

    /// What two lanes of an invocation decided otherwise: the alternatives that are left in the one, and in the other.
    pub(crate) fn parted_by(&self, a: usize, b: usize) -> Option<(Choice, Choice)> {
        let pairs = self.decided[a].iter().filter_map(|one| {
            let other = self.decided[b].iter().find(|other| other.number == one.number)?;
            Some((*one, *other))
        });
        pairs.into_iter().find(|(one, other)| one.left & other.left == 0)
    }

    /// Two lanes of an invocation become one: gives the one that stays (the older) and the one that goes.
    pub(crate) fn join(&mut self, a: usize, b: usize) -> (usize, usize) {
        let (stays, goes) = if self.birth[a] <= self.birth[b] { (a, b) } else { (b, a) };
        self.members[self.family[goes] as usize] -= 1;
        let gone = std::mem::take(&mut self.decided[goes]);
        self.decided[stays].retain_mut(|known| {
            let other = gone.iter().find(|other| other.number == known.number);
            known.left |= other.map_or(0, |other| other.left);
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
