//! Effects of the environment on a result: the sign of zero, flushing, overflow.

use super::{Evaluation, has_infinity};
use crate::{environment::Flush, float8::OverflowPolicy};
use assay_float::{Format, RankRange, Set};

const OVERFLOW: &str =
    "a permitted result overflows while NotInf is assumed: the text may leave the whole result undefined";

impl Evaluation<'_> {
    /// Applies the environment to a result: the sign of zero, flushing, overflow. `tiny`: the
    /// infinitely precise result is non-zero and below the smallest normal.
    pub(crate) fn finish(&self, set: Set, tiny: bool) -> Set {
        let Some(format) = self.slot.result.format() else { return set };
        let env = &self.slot.env;
        let mut set = match self.slot.overflow_policy {
            Some(overflow_policy) => self.apply_overflow_policy(overflow_policy, set, format),
            None => set,
        };
        let zeros = RankRange::new(-1, 0);
        if set.has_nan() && env.not_nan {
            self.derivation
                .note(|| "a permitted result is a NaN, which is assumed not to occur: anything is permitted".into());
            return Set::anything();
        }
        if env.nsz && set.meets(zeros) {
            set.insert(zeros);
        }
        let edge = format.min_normal();
        let denormal = tiny || set.meets(RankRange::new(1, edge - 1)) || set.meets(RankRange::new(-edge, -2));
        let set = self.flush(set, denormal, env.flush_results);
        if has_infinity(&set, format) {
            if env.overflow_is_anything() {
                self.derivation.note(|| "a permitted result overflows: an indeterminate value".into());
                return Set::anything();
            }
            if self.lenient && env.not_inf {
                self.doubt.set(Some(OVERFLOW));
                return Set::anything();
            }
        }
        set
    }

    /// Treatment of values out of range in a conversion to float8.
    fn apply_overflow_policy(&self, overflow_policy: OverflowPolicy, set: Set, format: Format) -> Set {
        if has_infinity(&set, format) {
            self.derivation.note(|| overflow_policy.words().into());
        }
        overflow_policy.applied(set, format)
    }

    /// Flushes a result that may be denormal.
    pub(super) fn flush(&self, mut set: Set, denormal: bool, flush: Flush) -> Set {
        if !denormal || set.is_anything() {
            return set;
        }
        match flush {
            Flush::Never => {}
            Flush::May => {
                self.derivation.note(|| "a denormal result may be flushed: zero joins, with either sign".into());
                set.insert(RankRange::new(-1, 0));
            }
            Flush::Must if self.lenient && self.slot.demanded_zero_in_doubt().is_some() => {
                self.doubt.set(self.slot.demanded_zero_in_doubt());
                set.insert(RankRange::new(-1, 0));
            }
            Flush::Must => {
                self.derivation.note(|| "DenormFlushToZero: a denormal result must be zero, with either sign".into());
                let edge = self.slot.env.format.min_normal();
                set.remove(RankRange::new(-edge, edge - 1));
                if self.half(&[0]).is_some() {
                    set = Set::empty();
                }
                set.insert(RankRange::new(-1, 0));
            }
        }
        set
    }
}
