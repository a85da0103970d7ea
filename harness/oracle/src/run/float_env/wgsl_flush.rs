//! Floats that operations of WGSL pass on without computing.
//!
//! WGSL, "Differences from IEEE-754": "Any inputs or outputs of operations listed in [Floating
//! Point Accuracy] may be flushed to zero", and intermediate results of bit reinterpretation; and
//! "implementations may assume that overflow, infinities, and NaNs are not present".

use crate::abstract_value::{AbstractValue, FloatSet};
use crate::float_op::Reading;
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::run::Run;
use crate::run::lanes::Lanes;
use crate::run::subgroups::is_ordinary;
use crate::ty::Kind;
use assay_float::RankRange;

impl Run<'_> {
    /// Applies these rules to a float register. `signs`: zeros may take either sign; otherwise only
    /// the lenient reading permits that.
    pub(in crate::run) fn pass(&mut self, reg: Reg, signs: bool, lanes: Lanes) {
        let Kind::Float(fmt) = self.program.kinds[reg as usize] else { return };
        let format = fmt.format();
        let (edge, zeros) = (format.min_normal(), RankRange::new(-1, 0));
        let mut d = self.take(reg);
        for l in lanes.iter() {
            let bits = d.bits[l];
            if *d.value(l) == AbstractValue::Bits && is_ordinary(format, bits) {
                continue;
            }
            let floats = match d.value(l).floats(bits, fmt) {
                Ok(floats) => floats,
                Err(_) if matches!(d.value(l), AbstractValue::Unknown(_)) => continue,
                Err(_) => {
                    d.set(l, 0, AbstractValue::Unknown(self.cause(CauseKind::Precision)));
                    continue;
                }
            };
            let set = floats.set();
            let (least, greatest) = (RankRange::point(format.neg_infinity()), RankRange::point(format.infinity()));
            if floats.nan || set.meets(least) || set.meets(greatest) {
                d.set(l, 0, AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)));
                continue;
            }
            let denormal = set.meets(RankRange::new(1, edge - 1)) || set.meets(RankRange::new(-edge, -2));
            let zero = set.meets(zeros);
            self.readings_differ |= zero && !denormal && !signs;
            if denormal || zero && (signs || self.reading == Reading::Lenient) {
                // The expression bound stays, but the value is a new one.
                let bound = d.bound(l).copied().map(|bound| self.numbered_bound(bound));
                d.set_made(l, AbstractValue::of_floats(floats.union(&FloatSet::range(fmt, -1, 0))), bound);
            }
        }
        self.give(reg, d);
    }
}
