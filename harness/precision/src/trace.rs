//! Recording the steps of a derivation, for those who ask.

use crate::call::Step;
use std::cell::RefCell;

/// Takes the steps of one evaluation, or ignores them.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    steps: Option<RefCell<Vec<Step>>>,
    depth: std::cell::Cell<usize>,
}

impl Trace {
    /// Ignores everything.
    pub(crate) fn off() -> Trace {
        Trace::default()
    }

    /// Records.
    pub(crate) fn on() -> Trace {
        Trace { steps: Some(RefCell::default()), ..Trace::default() }
    }

    /// Whether someone listens.
    pub(crate) fn is_on(&self) -> bool {
        self.steps.is_some()
    }

    /// Records a step; the text is only made if someone listens.
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if let Some(steps) = &self.steps {
            steps.borrow_mut().push(Step { depth: self.depth.get(), text: text() });
        }
    }

    /// Evaluates something one level deeper.
    pub(crate) fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        self.depth.set(self.depth.get() + 1);
        let result = f();
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// How many steps there are: a mark to return to by [`Trace::rewind`].
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.steps.as_ref().map_or(0, |s| s.borrow().len()), self.depth.get())
    }

    /// Forgets the steps of an attempt that could not decide.
    pub(crate) fn rewind(&self, (len, depth): (usize, usize)) {
        if let Some(steps) = &self.steps {
            steps.borrow_mut().truncate(len);
        }
        self.depth.set(depth);
    }

    /// The steps.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps.map(RefCell::into_inner).unwrap_or_default()
    }
}
