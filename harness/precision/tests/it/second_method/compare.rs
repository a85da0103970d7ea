//! Comparison of both methods on equal inputs.

use crate::second_method::environment::permitted;
use assay_float::{Format, Set};
use assay_precision::{Call, Modes, Op, Permitted, Reference, Scalar, Shape};

/// Environments: each mode alone, the common combinations, and the flags of float_controls2.
pub(crate) const MODES: &[&[&str]] = &[
    &[],
    &["DenormPreserve"],
    &["DenormFlushToZero"],
    &["RoundingModeRTE"],
    &["RoundingModeRTZ"],
    &["SignedZeroInfNanPreserve"],
    &["DenormPreserve", "RoundingModeRTE", "SignedZeroInfNanPreserve"],
    &["DenormFlushToZero", "RoundingModeRTZ", "SignedZeroInfNanPreserve"],
    &["None"],
    &["None", "DenormPreserve"],
    &["None", "DenormFlushToZero", "RoundingModeRTE"],
    &["NotNaN"],
    &["NotInf"],
    &["NSZ"],
    &["AllowRecip"],
    &["AllowContract"],
    &["AllowReassoc"],
    &["AllowTransform"],
    &["NoContraction"],
];

/// Environment of these names.
pub(crate) fn modes(names: &[&str]) -> Modes {
    names.iter().fold(Modes::default(), |m, name| m.with(name).unwrap())
}

/// Stride of the inputs: the value of `ASSAY_FULL` if that is a number, 1 if it is set otherwise, and
/// `usual` if it is not set.
pub(crate) fn stride(usual: usize) -> usize {
    match std::env::var("ASSAY_FULL") {
        Ok(every) => every.parse().unwrap_or(1),
        Err(_) => usual,
    }
}

/// Number of samples: `full` if `ASSAY_FULL` is set, otherwise the 32nd part.
pub(crate) fn share(full: usize) -> usize {
    if std::env::var_os("ASSAY_FULL").is_some() { full } else { full.div_ceil(32) }
}

/// A call, with its row of the table prepared for many evaluations.
pub(crate) struct PreparedCall {
    pub(crate) call: Call,
    reference: Reference,
}

impl PreparedCall {
    pub(crate) fn new(op: Op, scalar: Scalar, shape: Shape, from: Option<Scalar>, modes: Modes) -> PreparedCall {
        let call = Call::new(op, scalar, shape, from, modes).unwrap();
        PreparedCall { reference: call.reference(), call }
    }
}

/// Result of a comparison.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) compared: u64,
    /// Compared sets that require something.
    pub(crate) required: u64,
    pub(crate) differences: Vec<String>,
}

impl Tally {
    /// Compares every result slot of a call on some operands.
    pub(crate) fn compare(&mut self, PreparedCall { call, reference }: &PreparedCall, operands: &[u64]) {
        for slot in 0..call.result_slots().count() {
            self.same(call, slot, operands, false, &reference.permitted(slot, operands).usual);
        }
    }

    /// Compares both readings of the one result slot of a call, for which this method has both.
    pub(crate) fn compare_readings(&mut self, PreparedCall { call, reference }: &PreparedCall, operands: &[u64]) {
        let Permitted { usual, lenient } = reference.permitted(0, operands);
        self.same(call, 0, operands, false, &usual);
        self.same(call, 0, operands, true, &lenient.map_or(usual, |lenient| lenient.set));
    }

    fn same(&mut self, call: &Call, slot: usize, operands: &[u64], lenient: bool, theirs: &Set) {
        let Some(ours) = permitted(call, slot, operands, lenient) else { panic!("no rule for {}", call.op) };
        self.compared += 1;
        self.required += u64::from(!theirs.is_anything());
        if ours != *theirs {
            self.differences.push(format!(
                "{} {:?} from {:?} {} slot {slot} {}{}: second method {}, reference {}",
                call.op,
                call.results[0].scalar,
                call.operands[0].scalar,
                call.modes,
                operands.iter().map(|b| format!("{b:x}")).collect::<Vec<_>>().join(" "),
                if lenient { " leniently" } else { "" },
                show(&ours),
                show(theirs)
            ));
        }
    }

    /// # Panics
    /// Panics if there was a difference.
    pub(crate) fn done(self, what: &str) {
        let worst = self.differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.differences.is_empty(), "{what}: {} of {} differ\n{worst}", self.differences.len(), self.compared);
        assert!(self.compared > 0);
    }
}

pub(crate) fn show(set: &Set) -> String {
    if set.is_anything() {
        return "anything".into();
    }
    let ranges: Vec<String> = set.ranges().iter().map(|r| format!("{}..={}", r.lo, r.hi)).collect();
    format!("{{{}}}{}", ranges.join(", "), if set.has_nan() { " and NaN" } else { "" })
}

/// A scalar call.
pub(crate) fn scalar(op: Op, f: Format, names: &[&str]) -> PreparedCall {
    PreparedCall::new(op, Scalar::Float(f), Shape::Scalar, None, modes(names))
}
