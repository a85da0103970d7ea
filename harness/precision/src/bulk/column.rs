//! Operands and results of many invocations.

/// Values of one operand or result scalar for many invocations, in the layout of the device's
/// buffers.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Scalars of up to 32 bits, each right-aligned in a word.
    Words(&'a [u32]),
    /// 64-bit scalars.
    Wide(&'a [u64]),
}

impl Column<'_> {
    /// Bits of one invocation.
    pub fn get(self, index: usize) -> u64 {
        match self {
            Column::Words(words) => u64::from(words[index]),
            Column::Wide(words) => words[index],
        }
    }

    /// Number of invocations.
    pub fn len(self) -> usize {
        match self {
            Column::Words(words) => words.len(),
            Column::Wide(words) => words.len(),
        }
    }

    /// Returns true if there are no invocations.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
