//! Findings that depend on the opcode of an instruction alone.

use assay_spirv::tables::Op;
use std::cell::Cell;

/// Flags of each opcode, computed at its first occurrence.
pub(crate) struct OpcodeCache(Vec<Cell<u8>>);

/// Marks flags that are computed.
const KNOWN: u8 = 1 << 7;

impl Default for OpcodeCache {
    fn default() -> Self {
        let last = assay_spirv::grammar::INSTRUCTIONS.last().map_or(0, |row| row.op as usize);
        OpcodeCache(vec![Cell::new(0); last + 1])
    }
}

impl OpcodeCache {
    /// Returns the flags of an opcode, which `compute` returns at its first occurrence. The highest
    /// bit is the cache's own.
    pub(crate) fn get_or_init(&self, op: Op, compute: impl FnOnce() -> u8) -> u8 {
        let cell = self.0.get(op as usize);
        let known = cell.map_or(0, Cell::get);
        if known & KNOWN != 0 {
            return known;
        }
        let found = KNOWN | compute();
        if let Some(cell) = cell {
            cell.set(found);
        }
        found
    }
}
