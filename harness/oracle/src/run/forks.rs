//! Lanes for undecided branches: an invocation that may go both ways goes on as two lanes until they meet.

/// Which lanes belong to which invocation.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// The invocation of each lane.
    family: Vec<u32>,
    /// How many lanes each invocation has.
    members: Vec<u32>,
    /// When each lane was made; 0 for the first of its invocation.
    birth: Vec<u32>,
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
        self.members[self.family[lane] as usize] += 1;
        Some(new)
    }

    /// Two lanes of an invocation become one: gives the one that stays (the older) and the one that goes.
    pub(crate) fn join(&mut self, a: usize, b: usize) -> (usize, usize) {
        let (stays, goes) = if self.birth[a] <= self.birth[b] { (a, b) } else { (b, a) };
        self.members[self.family[goes] as usize] -= 1;
        self.family[goes] = goes as u32;
        self.in_use -= 1;
        self.free.push(goes as u32);
        (stays, goes)
    }
}
