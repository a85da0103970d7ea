//! A map from raw ids to small values. Its memory is bounded by the module's size, not by the
//! largest id.

use std::collections::HashMap;

/// Map from raw ids to values. Small ids index an array; larger ones, which a dense module does not
/// have, are in a hash map.
pub(crate) struct IdTable<T> {
    dense: Vec<T>,
    sparse: HashMap<u32, T>,
    dense_limit: u32,
}

impl<T: Copy + Default> IdTable<T> {
    /// Creates a table that maps every id to the default value. Ids below `dense_limit` use the
    /// array.
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
