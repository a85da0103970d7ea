//! Semantics of operations on integers and booleans, for one scalar.

use crate::inst::{Arithmetic, IntOp, WrapDecorations};
use crate::pointer::counted;
use crate::ty::mask;

/// The reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UndefinedResult {
    /// Undefined behaviour: division by zero, or of the least value by -1.
    Division,
    /// Undefined behaviour: an operation decorated `NoSignedWrap` or `NoUnsignedWrap` wraps.
    Wrap,
    /// Undefined behaviour: the pointers do not point into one array.
    Apart,
    /// Only the value is undefined.
    Value,
}

/// The low `width` bits as a number in two's complement.
#[inline(always)]
pub(crate) const fn signed(width: u32, bits: u64) -> i64 {
    (bits << (64 - width)).cast_signed() >> (64 - width)
}

impl IntOp {
    /// Number of operands.
    pub(crate) const fn arity(self) -> usize {
        match self {
            IntOp::Neg
            | IntOp::Not
            | IntOp::BitReverse
            | IntOp::BitCount
            | IntOp::ZeroExtend
            | IntOp::SignExtend
            | IntOp::SAbs
            | IntOp::SSign
            | IntOp::FindILsb
            | IntOp::FindSMsb
            | IntOp::FindUMsb
            | IntOp::NoWrap(Arithmetic::Neg | Arithmetic::Abs, _) => 1,
            IntOp::BitSExtract | IntOp::BitUExtract | IntOp::UClamp | IntOp::SClamp | IntOp::Apart => 3,
            IntOp::BitInsert => 4,
            IntOp::Add
            | IntOp::Sub
            | IntOp::Mul
            | IntOp::UDiv
            | IntOp::SDiv
            | IntOp::UMod
            | IntOp::SRem
            | IntOp::SMod
            | IntOp::And
            | IntOp::Or
            | IntOp::Xor
            | IntOp::Shl
            | IntOp::Shr
            | IntOp::Sar
            | IntOp::Eq
            | IntOp::Ne
            | IntOp::ULt
            | IntOp::ULe
            | IntOp::UGt
            | IntOp::UGe
            | IntOp::SLt
            | IntOp::SLe
            | IntOp::SGt
            | IntOp::SGe
            | IntOp::Carry
            | IntOp::Borrow
            | IntOp::UMulHigh
            | IntOp::SMulHigh
            | IntOp::UMin
            | IntOp::UMax
            | IntOp::SMin
            | IntOp::SMax
            | IntOp::UAddSat
            | IntOp::SAddSat
            | IntOp::UAddExact
            | IntOp::SAddExact
            | IntOp::UMulExact
            | IntOp::SMulExact
            | IntOp::SUMulExact
            | IntOp::NoWrap(..) => 2,
        }
    }

    /// The operation decorated not to wrap; `None` if it cannot be.
    pub(crate) fn without_wrap(self, fits: WrapDecorations) -> Option<IntOp> {
        let of = match self {
            IntOp::Neg => Arithmetic::Neg,
            IntOp::Add => Arithmetic::Add,
            IntOp::Sub => Arithmetic::Sub,
            IntOp::Mul => Arithmetic::Mul,
            IntOp::Shl => Arithmetic::Shl,
            IntOp::SAbs => Arithmetic::Abs,
            _ => return None,
        };
        Some(IntOp::NoWrap(of, fits))
    }

    /// The result for operands of `width` bits (canonical), not truncated to the result's width.
    /// `poison_negative`: `OpSRem` and `OpSMod` of a negative operand have no value (without
    /// `maintenance8`).
    #[inline(always)]
    pub(crate) fn eval(self, width: u32, x: [u64; 4], poison_negative: bool) -> Result<u64, UndefinedResult> {
        let [a, b, c, d] = x;
        let s = |bits| signed(width, bits);
        let least = signed(width, 1 << (width - 1));
        Ok(match self {
            IntOp::Add => a.wrapping_add(b),
            IntOp::Sub => a.wrapping_sub(b),
            IntOp::Mul => a.wrapping_mul(b),
            IntOp::UDiv | IntOp::UMod if b == 0 => return Err(UndefinedResult::Division),
            IntOp::UDiv => a / b,
            IntOp::UMod => a % b,
            IntOp::SDiv | IntOp::SRem | IntOp::SMod if b == 0 || (s(b) == -1 && s(a) == least) => {
                return Err(UndefinedResult::Division);
            }
            IntOp::SRem | IntOp::SMod if poison_negative && (s(a) < 0 || s(b) < 0) => {
                return Err(UndefinedResult::Value);
            }
            IntOp::SDiv => (s(a) / s(b)).cast_unsigned(),
            IntOp::SRem => (s(a) % s(b)).cast_unsigned(),
            IntOp::SMod => {
                let rest = s(a) % s(b);
                let wrong = rest != 0 && (rest < 0) != (s(b) < 0);
                (if wrong { rest + s(b) } else { rest }).cast_unsigned()
            }
            IntOp::Neg => a.wrapping_neg(),
            IntOp::Not => !a,
            IntOp::And => a & b,
            IntOp::Or => a | b,
            IntOp::Xor => a ^ b,
            IntOp::Shl | IntOp::Shr | IntOp::Sar if b >= u64::from(width) => return Err(UndefinedResult::Value),
            IntOp::Shl => a << b,
            IntOp::Shr => a >> b,
            IntOp::Sar => (s(a) >> b).cast_unsigned(),
            IntOp::Eq => u64::from(a == b),
            IntOp::Ne => u64::from(a != b),
            IntOp::ULt => u64::from(a < b),
            IntOp::ULe => u64::from(a <= b),
            IntOp::UGt => u64::from(a > b),
            IntOp::UGe => u64::from(a >= b),
            IntOp::SLt => u64::from(s(a) < s(b)),
            IntOp::SLe => u64::from(s(a) <= s(b)),
            IntOp::SGt => u64::from(s(a) > s(b)),
            IntOp::SGe => u64::from(s(a) >= s(b)),
            IntOp::BitInsert => {
                let field = field(width, c, d)?;
                a & !field | b.checked_shl(c as u32).unwrap_or(0) & field
            }
            IntOp::BitSExtract | IntOp::BitUExtract if field(width, b, c)? == 0 => 0,
            IntOp::BitUExtract => (a >> b) & mask(c as u32),
            IntOp::BitSExtract => signed(c as u32, a >> b).cast_unsigned(),
            IntOp::BitReverse => a.reverse_bits() >> (64 - width),
            IntOp::BitCount => u64::from(a.count_ones()),
            IntOp::Carry => u64::from(u128::from(a) + u128::from(b) > u128::from(mask(width))),
            IntOp::Borrow => u64::from(a < b),
            IntOp::UMulHigh => ((u128::from(a) * u128::from(b)) >> width) as u64,
            IntOp::SMulHigh => ((i128::from(s(a)) * i128::from(s(b))) >> width) as u64,
            IntOp::ZeroExtend => a,
            IntOp::SignExtend => s(a).cast_unsigned(),
            IntOp::SAbs => s(a).wrapping_abs().cast_unsigned(),
            IntOp::SSign => s(a).signum().cast_unsigned(),
            IntOp::UMin => a.min(b),
            IntOp::UMax => a.max(b),
            IntOp::SMin => s(a).min(s(b)).cast_unsigned(),
            IntOp::SMax => s(a).max(s(b)).cast_unsigned(),
            IntOp::UClamp if b > c => return Err(UndefinedResult::Value),
            IntOp::SClamp if s(b) > s(c) => return Err(UndefinedResult::Value),
            IntOp::UClamp => a.clamp(b, c),
            IntOp::SClamp => s(a).clamp(s(b), s(c)).cast_unsigned(),
            IntOp::FindILsb => {
                if a == 0 {
                    u64::MAX
                } else {
                    u64::from(a.trailing_zeros())
                }
            }
            IntOp::FindUMsb => highest(a),
            IntOp::FindSMsb => highest(if s(a) < 0 { !a & mask(width) } else { a }),
            IntOp::UAddSat => u128::from(mask(width)).min(u128::from(a) + u128::from(b)) as u64,
            IntOp::SAddSat => {
                let most = i128::from(mask(width - 1));
                (i128::from(s(a)) + i128::from(s(b))).clamp(-most - 1, most) as u64
            }
            IntOp::UAddExact => unsigned_fit(width, u128::from(a) + u128::from(b))?,
            IntOp::UMulExact => unsigned_fit(width, u128::from(a) * u128::from(b))?,
            IntOp::SAddExact => signed_fit(width, i128::from(s(a)) + i128::from(s(b)))?,
            IntOp::SMulExact => signed_fit(width, i128::from(s(a)) * i128::from(s(b)))?,
            IntOp::SUMulExact => signed_fit(width, i128::from(s(a)) * i128::from(b))?,
            IntOp::Apart => {
                let between = a.wrapping_sub(b).cast_signed();
                if counted(a).0 != counted(b).0 || between % c.cast_signed() != 0 {
                    return Err(UndefinedResult::Apart);
                }
                (between / c.cast_signed()).cast_unsigned()
            }
            IntOp::NoWrap(Arithmetic::Shl, _) if b >= u64::from(width) => return Err(UndefinedResult::Value),
            IntOp::NoWrap(of, fits) => {
                // The shift count is unsigned.
                let other = if of == Arithmetic::Shl { i128::from(b) } else { i128::from(s(b)) };
                let signed = of.exact(i128::from(s(a)), other);
                let unsigned = of.exact(i128::from(a), i128::from(b));
                let is_signed = signed.is_some_and(|n| signed_fit(width, n).is_ok());
                let is_unsigned = unsigned.is_some_and(|n| (0..=i128::from(mask(width))).contains(&n));
                if (fits.signed && !is_signed) || (fits.unsigned && !is_unsigned) {
                    return Err(UndefinedResult::Wrap);
                }
                // Both have the same low bits.
                signed.or(unsigned).unwrap_or_default() as u64
            }
        })
    }
}

impl Arithmetic {
    /// The exact result; `None` beyond 128 bits.
    fn exact(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Arithmetic::Neg => Some(-a),
            Arithmetic::Add => Some(a + b),
            Arithmetic::Sub => Some(a - b),
            Arithmetic::Mul => a.checked_mul(b),
            Arithmetic::Shl => Some(a << b),
            Arithmetic::Abs => Some(a.abs()),
        }
    }
}

/// The number if it fits `width` bits, unsigned.
fn unsigned_fit(width: u32, exact: u128) -> Result<u64, UndefinedResult> {
    if exact <= u128::from(mask(width)) { Ok(exact as u64) } else { Err(UndefinedResult::Value) }
}

/// The number if it fits `width` bits in two's complement.
fn signed_fit(width: u32, exact: i128) -> Result<u64, UndefinedResult> {
    let bits = exact as u64 & mask(width);
    if i128::from(signed(width, bits)) == exact { Ok(bits) } else { Err(UndefinedResult::Value) }
}

/// Mask of the bit field at `offset`, if it lies within the word.
fn field(width: u32, offset: u64, count: u64) -> Result<u64, UndefinedResult> {
    match (offset.checked_add(count), count) {
        (Some(end), _) if end > u64::from(width) => Err(UndefinedResult::Value),
        (None, _) => Err(UndefinedResult::Value),
        (_, 0) => Ok(0),
        _ => Ok(mask(count as u32) << offset),
    }
}

/// Position of the highest set bit; -1 if there is none.
fn highest(bits: u64) -> u64 {
    if bits == 0 { u64::MAX } else { 63 - u64::from(bits.leading_zeros()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(op: IntOp, width: u32, x: [u64; 4]) -> Result<u64, UndefinedResult> {
        op.eval(width, x, false).map(|bits| bits & mask(width))
    }

    #[test]
    fn agrees_with_the_host_at_eight_bits() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let (sa, sb) = (a.cast_signed(), b.cast_signed());
                let x = [u64::from(a), u64::from(b), 0, 0];
                let signed = |value: i8| u64::from(value.cast_unsigned());
                assert_eq!(eval(IntOp::Add, 8, x), Ok(u64::from(a.wrapping_add(b))));
                assert_eq!(eval(IntOp::Mul, 8, x), Ok(u64::from(a.wrapping_mul(b))));
                assert_eq!(eval(IntOp::SDiv, 8, x).ok(), sa.checked_div(sb).map(signed));
                assert_eq!(eval(IntOp::SRem, 8, x).ok(), sa.checked_rem(sb).map(signed));
                assert_eq!(eval(IntOp::SMulHigh, 8, x), Ok(((i16::from(sa) * i16::from(sb)) >> 8) as u64 & 0xff));
                assert_eq!(eval(IntOp::SAddSat, 8, x), Ok(signed(sa.saturating_add(sb))));
                assert_eq!(eval(IntOp::Carry, 8, x), Ok(u64::from(a.checked_add(b).is_none())));
                assert_eq!(eval(IntOp::SLt, 8, x), Ok(u64::from(sa < sb)));
                let fits = |signed, unsigned| WrapDecorations { signed, unsigned };
                let kept = |of, signed, unsigned| eval(IntOp::NoWrap(of, fits(signed, unsigned)), 8, x).ok();
                assert_eq!(kept(Arithmetic::Add, true, false), sa.checked_add(sb).map(signed));
                assert_eq!(kept(Arithmetic::Add, false, true), a.checked_add(b).map(u64::from));
                assert_eq!(kept(Arithmetic::Sub, true, false), sa.checked_sub(sb).map(signed));
                assert_eq!(kept(Arithmetic::Sub, false, true), a.checked_sub(b).map(u64::from));
                assert_eq!(kept(Arithmetic::Mul, true, false), sa.checked_mul(sb).map(signed));
                assert_eq!(kept(Arithmetic::Mul, false, true), a.checked_mul(b).map(u64::from));
                let both = sa.checked_mul(sb).and(a.checked_mul(b)).map(u64::from);
                assert_eq!(kept(Arithmetic::Mul, true, true), both);
                assert_eq!(kept(Arithmetic::Neg, true, false), sa.checked_neg().map(signed));
                assert_eq!(kept(Arithmetic::Abs, true, false), sa.checked_abs().map(signed));
                let power = |most: i32| (b < 8).then(|| 1i32 << b).filter(|power| i32::from(a) * power <= most);
                assert_eq!(kept(Arithmetic::Shl, false, true), power(255).map(|_| u64::from(a << b)));
                let shifted = i32::from(sa) * (1 << b.min(8));
                assert_eq!(
                    kept(Arithmetic::Shl, true, false),
                    i8::try_from(shifted).ok().filter(|_| b < 8).map(signed)
                );
                assert_eq!(eval(IntOp::Sar, 8, x).ok(), sa.checked_shr(b.into()).map(signed));
                assert_eq!(eval(IntOp::Shl, 8, x).ok(), a.checked_shl(b.into()).map(u64::from));
                if let Ok(modulus) = eval(IntOp::SMod, 8, x) {
                    let modulus = i64::from((modulus as u8).cast_signed());
                    assert!((i64::from(sa) - modulus) % i64::from(sb) == 0);
                    assert!(modulus == 0 || (modulus < 0) == (sb < 0));
                }
            }
        }
    }

    #[test]
    fn bit_fields_and_searches() {
        assert_eq!(eval(IntOp::BitInsert, 32, [0xffff_ffff, 0, 8, 8]), Ok(0xffff_00ff));
        assert_eq!(eval(IntOp::BitInsert, 32, [7, 1, 32, 0]), Ok(7));
        assert_eq!(eval(IntOp::BitInsert, 32, [7, 1, 31, 2]), Err(UndefinedResult::Value));
        assert_eq!(eval(IntOp::BitInsert, 64, [0, u64::MAX, 0, 64]), Ok(u64::MAX));
        assert_eq!(eval(IntOp::BitSExtract, 32, [0x80, 4, 4, 0]), Ok(0xffff_fff8));
        assert_eq!(eval(IntOp::BitUExtract, 32, [0x80, 4, 4, 0]), Ok(8));
        assert_eq!(eval(IntOp::FindSMsb, 32, [0xffff_fffe, 0, 0, 0]), Ok(0));
        assert_eq!(eval(IntOp::FindSMsb, 32, [0xffff_ffff, 0, 0, 0]), Ok(0xffff_ffff));
        assert_eq!(eval(IntOp::FindUMsb, 32, [0, 0, 0, 0]), Ok(0xffff_ffff));
        assert_eq!(eval(IntOp::BitReverse, 16, [1, 0, 0, 0]), Ok(0x8000));
        assert_eq!(IntOp::SRem.eval(32, [0xffff_fff9, 3, 0, 0], true), Err(UndefinedResult::Value));
    }

    #[test]
    fn remainders_of_negative_operands_are_poison_unless_a_feature_defines_them() {
        let (minus_seven, three) = (0xffff_fff9, 3);
        for (op, of_negative, by_negative) in [(IntOp::SRem, 0xffff_ffff, 1), (IntOp::SMod, 2, 0xffff_fffe)] {
            for (x, defined) in [([minus_seven, three, 0, 0], of_negative), ([7, 0xffff_fffd, 0, 0], by_negative)] {
                assert_eq!(op.eval(32, x, true), Err(UndefinedResult::Value), "{op:?}");
                assert_eq!(op.eval(32, x, false).map(|bits| bits & 0xffff_ffff), Ok(defined), "{op:?}");
            }
            assert_eq!(op.eval(32, [7, three, 0, 0], true), Ok(1), "{op:?}");
        }
    }

    #[test]
    fn the_greatest_numbers_do_not_wrap_unnoticed() {
        let greatest = [u64::MAX, u64::MAX, 0, 0];
        let fits = WrapDecorations { signed: false, unsigned: true };
        assert_eq!(eval(IntOp::NoWrap(Arithmetic::Mul, fits), 64, greatest), Err(UndefinedResult::Wrap));
        assert_eq!(eval(IntOp::NoWrap(Arithmetic::Shl, fits), 64, [u64::MAX, 63, 0, 0]), Err(UndefinedResult::Wrap));
        assert_eq!(eval(IntOp::NoWrap(Arithmetic::Shl, fits), 64, [1, 64, 0, 0]), Err(UndefinedResult::Value));
        let fits = WrapDecorations { signed: true, unsigned: false };
        assert_eq!(eval(IntOp::NoWrap(Arithmetic::Mul, fits), 64, greatest), Ok(1));
    }
}
