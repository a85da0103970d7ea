//! Ranges of bit patterns: integer arithmetic on the bits of floats that form a large set.
//!
//! Shaders approximate a reciprocal or a root by arithmetic on the bits of a float (Blinn,
//! "Floating-Point Tricks", IEEE CG&A 17, 1997). The bits of positive floats ascend with their value,
//! those of negative ones descend, so that a range of floats without a change of sign is a range of
//! integers. Interval arithmetic (Moore, *Interval Analysis*, 1966) on these encloses the possible
//! results; a result that represents a range of floats again, or a few patterns, stays a known set.
//!
//! A range has no correlation with other values, and an operation that wraps for some of its operands
//! only gives nothing.

use crate::abstract_value::{ALTERNATIVES, AbstractValue, FloatSet};
use crate::inst::IntOp;
use crate::integer::signed;
use crate::ty::{Fmt, mask};

/// The unsigned integers from `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BitRange {
    least: u64,
    most: u64,
}

/// Encloses the results of an operation on `width` bits, one of whose operands is a large set of
/// floats. `None` if the results are not a known set.
pub(super) fn enclose(op: IntOp, width: u32, operands: &[(&AbstractValue, u64)]) -> Option<(AbstractValue, u64)> {
    let fmt = operands.iter().find_map(|operand| match operand.0 {
        AbstractValue::Float(floats) if floats.fmt.format().width == width => Some(floats.fmt),
        _ => None,
    })?;
    let operands =
        operands.iter().map(|(value, bits)| BitRange::of(value, *bits)).collect::<Option<Vec<BitRange>>>()?;
    match operands[..] {
        [a] => a.unary(op, width)?.into_value(fmt),
        [a, b] => match a.compared(op, width, b) {
            Some(possible) => AbstractValue::of_patterns(possible),
            None => a.binary(op, width, b)?.into_value(fmt),
        },
        _ => None,
    }
}

impl BitRange {
    fn new(least: u64, most: u64) -> BitRange {
        BitRange { least, most }
    }

    /// The least range around the patterns of a value; `None` if it is unknown, contains a NaN, or
    /// floats of both signs.
    fn of(value: &AbstractValue, bits: u64) -> Option<BitRange> {
        match value {
            AbstractValue::Bits => Some(BitRange::new(bits, bits)),
            AbstractValue::OneOf(few) => {
                let all = few.distinct();
                Some(BitRange::new(*all.first()?, *all.last()?))
            }
            AbstractValue::Float(floats) => {
                let (lo, hi) = floats.hull().filter(|(lo, hi)| !floats.nan && (*lo < 0) == (*hi < 0))?;
                let (a, b) = (floats.fmt.format().bits(lo), floats.fmt.format().bits(hi));
                Some(BitRange::new(a.min(b), a.max(b)))
            }
            AbstractValue::Unknown(_) => None,
        }
    }

    /// The range as a value of a few patterns or a range of floats; `None` if it contains NaNs or floats
    /// of both signs.
    fn into_value(self, fmt: Fmt) -> Option<(AbstractValue, u64)> {
        if self.most - self.least < ALTERNATIVES as u64 {
            return AbstractValue::of_patterns((self.least..=self.most).collect());
        }
        let format = fmt.format();
        let is_negative = self.least >= format.sign_mask();
        let largest = format.bits(if is_negative { format.neg_infinity() } else { format.infinity() });
        if self.most > largest {
            return None;
        }
        let (a, b) = (format.rank(self.least), format.rank(self.most));
        Some(AbstractValue::of_floats(FloatSet::range(fmt, a.min(b), a.max(b))))
    }

    fn single(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }

    /// The range of integers as numbers in two's complement; `None` if the sign changes.
    fn signed(self, width: u32) -> Option<(i64, i64)> {
        let (least, most) = (signed(width, self.least), signed(width, self.most));
        (least <= most).then_some((least, most))
    }

    /// The results of an operation with one operand.
    fn unary(self, op: IntOp, width: u32) -> Option<BitRange> {
        let all = mask(width);
        match op {
            IntOp::Not => Some(BitRange::new(all - self.most, all - self.least)),
            IntOp::Neg => BitRange::new(0, 0).binary(IntOp::Sub, width, self),
            _ => None,
        }
    }

    /// The possible results of a comparison; `None` for another operation.
    fn compared(self, op: IntOp, width: u32, b: BitRange) -> Option<Vec<u64>> {
        let a = self;
        let order = |is_less: bool, is_greater: bool| match (is_less, is_greater) {
            (true, _) => vec![1],
            (_, true) => vec![0],
            _ => vec![0, 1],
        };
        let of_signed = |f: &dyn Fn((i64, i64), (i64, i64)) -> Vec<u64>| match (a.signed(width), b.signed(width)) {
            (Some(a), Some(b)) => f(a, b),
            _ => vec![0, 1],
        };
        Some(match op {
            IntOp::Eq => order(false, a.most < b.least || b.most < a.least),
            IntOp::Ne => order(a.most < b.least || b.most < a.least, false),
            IntOp::ULt => order(a.most < b.least, a.least >= b.most),
            IntOp::ULe => order(a.most <= b.least, a.least > b.most),
            IntOp::UGt => order(a.least > b.most, a.most <= b.least),
            IntOp::UGe => order(a.least >= b.most, a.most < b.least),
            IntOp::SLt => of_signed(&|a, b| order(a.1 < b.0, a.0 >= b.1)),
            IntOp::SLe => of_signed(&|a, b| order(a.1 <= b.0, a.0 > b.1)),
            IntOp::SGt => of_signed(&|a, b| order(a.0 > b.1, a.1 <= b.0)),
            IntOp::SGe => of_signed(&|a, b| order(a.0 >= b.1, a.1 < b.0)),
            _ => return None,
        })
    }

    /// The results of an operation with two operands; `None` if some wrap and others do not, or if the
    /// operation is not monotonic.
    fn binary(self, op: IntOp, width: u32, b: BitRange) -> Option<BitRange> {
        let (a, all) = (self, mask(width));
        // Both ends wrap as often, so that the results between them are in order.
        let wrapped = |least: i128, most: i128| {
            let turns = |n: i128| n.div_euclid(i128::from(all) + 1);
            (turns(least) == turns(most)).then(|| BitRange::new(least as u64 & all, most as u64 & all))
        };
        let wide = |n: u64| i128::from(n);
        match op {
            IntOp::Add => wrapped(wide(a.least) + wide(b.least), wide(a.most) + wide(b.most)),
            IntOp::Sub => wrapped(wide(a.least) - wide(b.most), wide(a.most) - wide(b.least)),
            IntOp::UMin => Some(BitRange::new(a.least.min(b.least), a.most.min(b.most))),
            IntOp::UMax => Some(BitRange::new(a.least.max(b.least), a.most.max(b.most))),
            IntOp::SMin | IntOp::SMax => {
                let (x, y) = (a.signed(width)?, b.signed(width)?);
                let (least, most) = match op {
                    IntOp::SMin => (x.0.min(y.0), x.1.min(y.1)),
                    _ => (x.0.max(y.0), x.1.max(y.1)),
                };
                let is_one_sign = (least < 0) == (most < 0);
                is_one_sign.then(|| BitRange::new(least.cast_unsigned() & all, most.cast_unsigned() & all))
            }
            IntOp::Mul => {
                let most = u128::from(a.most) * u128::from(b.most);
                (most <= u128::from(all)).then(|| BitRange::new(a.least * b.least, a.most * b.most))
            }
            IntOp::UDiv => b.single().filter(|by| *by > 0).map(|by| BitRange::new(a.least / by, a.most / by)),
            IntOp::Shr | IntOp::Sar | IntOp::Shl => a.shifted(op, width, b.single()?),
            IntOp::And => match (a.single(), b.single()) {
                (_, Some(kept)) => a.masked(kept, |bits| bits & kept, false),
                (Some(kept), _) => b.masked(kept, |bits| bits & kept, false),
                _ => None,
            },
            IntOp::Or => match (a.single(), b.single()) {
                (_, Some(set)) => a.masked(set, |bits| bits | set, true),
                (Some(set), _) => b.masked(set, |bits| bits | set, true),
                _ => None,
            },
            IntOp::Xor => match (a.single(), b.single()) {
                (_, Some(bits)) => a.flipped(bits),
                (Some(bits), _) => b.flipped(bits),
                _ => None,
            },
            _ => None,
        }
    }

    fn shifted(self, op: IntOp, width: u32, by: u64) -> Option<BitRange> {
        if by >= u64::from(width) {
            return None;
        }
        match op {
            IntOp::Shr => Some(BitRange::new(self.least >> by, self.most >> by)),
            IntOp::Shl => {
                let most = u128::from(self.most) << by;
                (most <= u128::from(mask(width))).then(|| BitRange::new(self.least << by, self.most << by))
            }
            _ => {
                let (least, most) = self.signed(width)?;
                let shifted = |n: i64| (n >> by).cast_unsigned() & mask(width);
                ((least < 0) == (most < 0)).then(|| BitRange::new(shifted(least), shifted(most)))
            }
        }
    }

    /// The bits in which members differ, and all bits below these.
    fn varied(self) -> u64 {
        u64::MAX.checked_shr((self.least ^ self.most).leading_zeros()).unwrap_or(0)
    }

    /// The results of an operation that sets bits to those of `mask` where they are `set`, or else
    /// clears the others. It is monotonic if, of the varied bits, only the lowest lose their value.
    fn masked(self, mask: u64, eval: impl Fn(u64) -> u64, set: bool) -> Option<BitRange> {
        let lost = self.varied() & if set { mask } else { !mask };
        (lost & lost.wrapping_add(1) == 0).then(|| BitRange::new(eval(self.least), eval(self.most)))
    }

    /// The results of flipping bits: monotonic if of the varied bits none is flipped, or all are.
    fn flipped(self, bits: u64) -> Option<BitRange> {
        let varied = self.varied();
        let (a, b) = (self.least ^ bits, self.most ^ bits);
        (bits & varied == 0 || bits & varied == varied).then(|| BitRange::new(a.min(b), a.max(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that [`BitRange::binary`] or [`BitRange::compared`] encloses.
    const BINARY: [IntOp; 24] = [
        IntOp::Add,
        IntOp::Sub,
        IntOp::Mul,
        IntOp::UDiv,
        IntOp::UMin,
        IntOp::UMax,
        IntOp::SMin,
        IntOp::SMax,
        IntOp::Shl,
        IntOp::Shr,
        IntOp::Sar,
        IntOp::And,
        IntOp::Or,
        IntOp::Xor,
        IntOp::Eq,
        IntOp::Ne,
        IntOp::ULt,
        IntOp::ULe,
        IntOp::UGt,
        IntOp::UGe,
        IntOp::SLt,
        IntOp::SLe,
        IntOp::SGt,
        IntOp::SGe,
    ];

    #[test]
    fn every_result_on_four_bits_is_enclosed() {
        let ranges: Vec<BitRange> =
            (0..16).flat_map(|least| (least..16).map(move |most| BitRange::new(least, most))).collect();
        let mut enclosed = 0;
        for op in BINARY {
            for a in &ranges {
                for b in &ranges {
                    let possible = a.compared(op, 4, *b);
                    let range = if possible.is_some() { None } else { a.binary(op, 4, *b) };
                    enclosed += u32::from(range.is_some());
                    for x in a.least..=a.most {
                        for y in b.least..=b.most {
                            let Ok(result) = op.eval(4, [x, y, 0, 0], false) else {
                                assert_eq!((&possible, range), (&None, None), "{op:?} {a:?} {b:?}");
                                continue;
                            };
                            let result = result & 15;
                            if let Some(possible) = &possible {
                                assert!(possible.contains(&result), "{op:?} {a:?} {b:?}: {result}");
                            }
                            if let Some(range) = range {
                                assert!((range.least..=range.most).contains(&result), "{op:?} {a:?} {b:?}: {result}");
                            }
                        }
                    }
                }
            }
        }
        assert!(enclosed > 20_000, "{enclosed}");
        for (op, a) in [IntOp::Not, IntOp::Neg].into_iter().flat_map(|op| ranges.iter().map(move |a| (op, a))) {
            let range = a.unary(op, 4);
            assert!(range.is_some() || a.least == 0, "{op:?} {a:?}");
            for x in a.least..=a.most {
                let result = op.eval(4, [x, 0, 0, 0], false).unwrap() & 15;
                let holds = |range: BitRange| (range.least..=range.most).contains(&result);
                assert!(range.is_none_or(holds), "{op:?} {a:?}: {result}");
            }
        }
    }
}
