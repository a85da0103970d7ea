//! A map from ids to small values, whose memory is bounded by the module's size and not by the largest id.

use std::collections::HashMap;

/// Small ids index an array; the rest, which a dense module does not have, go into a map.
pub(crate) struct IdTable<T> {
    dense: Vec<T>,
    sparse: HashMap<u32, T>,
    dense_limit: u32,
}

impl<T: Copy + Default> IdTable<T> {
    /// A table in which every id has the default value; ids below `dense_limit` are fast.
    pub(crate) fn new(dense_limit: usize) -> Self {
        let dense_limit = u32::try_from(dense_limit).unwrap_or(u32::MAX);
        IdTable { dense: Vec::new(), sparse: HashMap::new(), dense_limit }
    }

    pub(crate) fn get(&self, id: u32) -> T {
        match self.dense.get(id as usize) {
            Some(&value) => value,
            None if id < self.dense_limit => T::default(),
            None => self.sparse.get(&id).copied().unwrap_or_default(),
        }
    }

    pub(crate) fn set(&mut self, id: u32, value: T) {
        if id >= self.dense_limit {
            self.sparse.insert(id, value);
            return;
        }
        let index = id as usize;
        if index >= self.dense.len() {
            self.dense.resize(index + 1, T::default());
        }
        self.dense[index] = value;
    }
}
