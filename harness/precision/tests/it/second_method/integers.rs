//! Instructions on integers and booleans, whose results are single bit patterns.

use crate::second_method::{environment::Value, rules::Outcome};
use assay_float::Set;
use assay_precision::{Call, Op, Scalar};

/// Rule of an instruction without a floating-point operand or result; `None` for others.
pub(crate) fn rule(call: &Call, slot: usize, v: &[Value]) -> Option<Outcome> {
    let bits: Vec<u64> = v.iter().map_while(|v| if let Value::Integer(b) = v { Some(*b) } else { None }).collect();
    if bits.len() != v.len() || call.results[0].scalar.format().is_some() {
        return None;
    }
    let width = call.operands[0].scalar.width();
    let signed: Vec<i128> = bits.iter().map(|&b| i128::from(b) - (i128::from(b >> (width - 1)) << width)).collect();
    let unsigned: Vec<i128> = bits.iter().map(|&b| b.into()).collect();
    // "Interpreted as" signed or unsigned, whatever the type.
    let (x, is_clamp) = match call.op {
        Op::SAbs | Op::SSign | Op::SMin | Op::SMax | Op::FindSMsb => (signed, false),
        Op::SClamp => (signed, true),
        Op::UClamp => (unsigned, true),
        _ => (unsigned, false),
    };
    if is_clamp && x[1] > x[2] {
        return Some(Outcome::Anything);
    }
    let result = match call.op {
        Op::SAbs if x[0] >= 0 => x[0],
        Op::SAbs => -x[0],
        Op::SSign => x[0].signum(),
        Op::SMin | Op::UMin => x[0].min(x[1]),
        Op::SMax | Op::UMax => x[0].max(x[1]),
        Op::SClamp | Op::UClamp => x[0].max(x[1]).min(x[2]),
        Op::FindILsb => (0..width).find(|k| bits[0] >> k & 1 == 1).map_or(-1, i128::from),
        Op::FindUMsb => (0..width).rev().find(|k| bits[0] >> k & 1 == 1).map_or(-1, i128::from),
        // Of negative numbers the most significant 0-bit.
        Op::FindSMsb => {
            let wanted = u64::from(x[0] >= 0);
            (0..width).rev().find(|k| bits[0] >> k & 1 == wanted).map_or(-1, i128::from)
        }
        Op::SubgroupAllEqualKHR => i128::from(x[0] == x[1]),
        // The original value, and the new one: Value if the original equals Comparator.
        // OpAtomicCompareExchangeWeak "has the same semantics".
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak if slot == 0 => x[0],
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => x[usize::from(x[0] == x[2])],
        _ => return None,
    };
    let mask = match call.results[0].scalar {
        Scalar::Bool => 1,
        scalar => u64::MAX >> (64 - scalar.width()),
    };
    Some(Outcome::Bits(Set::point((result as u64 & mask).cast_signed())))
}
