//! Floats that operations of WGSL pass on without computing. WGSL, "Differences from IEEE-754": "Any inputs or outputs of operations
//! listed in [Floating Point Accuracy] may be flushed to zero", and intermediate results of bit reinterpretation; and "implementations may
//! assume that overflow, infinities, and NaNs are not present".

use super::Run;
use super::lanes::Lanes;
use super::subgroups::is_ordinary;
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::site::Reading;
use crate::ty::Kind;
use crate::value::{Floats, Value};
use assay_float::RankRange;

impl Run<'_> {
    /// What becomes of a register of floats. `signs`: zeros may come with either sign; else only a lenient reading says so.
    pub(super) fn pass(&mut self, reg: Reg, signs: bool, lanes: Lanes) {
        let Kind::Float(fmt) = self.program.kinds[reg as usize] else { return };
        let format = fmt.format();
        let (edge, zeros) = (format.min_normal(), RankRange::new(-1, 0));
        let mut d = self.take(reg);
        for l in lanes.iter() {
            let bits = d.bits[l];
            if *d.value(l) == Value::Bits && is_ordinary(format, bits) {
                continue;
            }
            let floats = match d.value(l).floats(bits, fmt) {
                Ok(floats) => floats,
                Err(_) if matches!(d.value(l), Value::Any(_)) => continue,
                Err(_) => {
                    d.set(l, 0, Value::Any(self.cause(CauseKind::Precision)));
                    continue;
                }
            };
            let set = floats.set();
            let (least, greatest) = (RankRange::point(format.neg_infinity()), RankRange::point(format.infinity()));
            if floats.nan || set.meets(least) || set.meets(greatest) {
                d.set(l, 0, Value::Any(self.cause(CauseKind::NoRequirement)));
                continue;
            }
            let denormal = set.meets(RankRange::new(1, edge - 1)) || set.meets(RankRange::new(-edge, -2));
            let zero = set.meets(zeros);
            self.readings_differ |= zero && !denormal && !signs;
            if denormal || zero && (signs || self.reading == Reading::Lenient) {
                // It came about as before, and is another value.
                let form = d.form(l).copied().map(|form| self.numbered_form(form));
                d.set_made(l, Value::of_floats(floats.union(&Floats::range(fmt, -1, 0))), form);
            }
        }
        self.give(reg, d);
    }
}
