//! Recorder of the steps of a derivation.

use std::cell::RefCell;

/// One step of a derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Nesting: 0 for the instruction itself, deeper for the operations of a formula.
    pub depth: usize,
    /// Change of the set, and its reason.
    pub text: String,
}

/// Records the steps of one evaluation, or ignores them.
#[derive(Debug, Default)]
pub(crate) struct Derivation {
    steps: Option<RefCell<Vec<Step>>>,
    depth: std::cell::Cell<usize>,
}

impl Derivation {
    /// Recorder that ignores everything.
    pub(crate) fn disabled() -> Derivation {
        Derivation::default()
    }

    /// Recorder that keeps the steps.
    pub(crate) fn recording() -> Derivation {
        Derivation { steps: Some(RefCell::default()), ..Derivation::default() }
    }

    /// Returns true if steps are kept.
    pub(crate) fn is_recording(&self) -> bool {
        self.steps.is_some()
    }

    /// Records a step. The text is only formatted if steps are kept.
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if let Some(steps) = &self.steps {
            steps.borrow_mut().push(Step { depth: self.depth.get(), text: text() });
        }
    }

    /// Evaluates `f` one level deeper.
    pub(crate) fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        self.depth.set(self.depth.get() + 1);
        let result = f();
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// Current position, for [`Derivation::rewind`].
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.steps.as_ref().map_or(0, |s| s.borrow().len()), self.depth.get())
    }

    /// Removes the steps of an attempt that was undecided.
    pub(crate) fn rewind(&self, (len, depth): (usize, usize)) {
        if let Some(steps) = &self.steps {
            steps.borrow_mut().truncate(len);
        }
        self.depth.set(depth);
    }

    /// The recorded steps.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps.map(RefCell::into_inner).unwrap_or_default()
    }
}
