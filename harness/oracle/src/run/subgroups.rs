//! Subgroup instructions.
//!
//! Results are exact if the layout of subgroups is known and so are the participants: the
//! invocations of the subgroup that are in one tangle, or with maximal reconvergence those that the
//! structure defines. Otherwise only results that every layout gives are determined.

use super::Run;
use super::lanes::Lanes;
use crate::abstract_value::AbstractValue;
use crate::dispatch::Dispatch;
use crate::expr_bound::ExprBound;
use crate::inst::{Fold, IntOp, Reach, Reg, SubgroupOp};
use crate::outcome::CauseKind;
use crate::subgroup_layout::{SubgroupLayout, SubgroupPosition};
use crate::ty::{Kind, mask};
use assay_float::Format;
use std::collections::BTreeMap;

/// The result of an instruction for one lane.
enum LaneResult {
    /// The bits of each scalar.
    Bits([u64; 4]),
    /// One of two values, depending on the reading of the text.
    Either(u64, u64),
    /// The value of another lane.
    Of(usize),
    Nothing(CauseKind),
}

/// A value, its bits, and its expression bound if it is a computed float.
type Scalar = (AbstractValue, u64, Option<ExprBound>);

impl Run<'_> {
    /// The position of a lane in the subgroups of its workgroup; `None` if the layout is unknown.
    pub(super) fn seat(&self, lane: usize) -> Option<SubgroupPosition> {
        let Dispatch { layout, subgroup_size, .. } = self.dispatch;
        layout.seat(
            self.group_number(u64::from(self.place)) as usize,
            self.lanes,
            self.forks.original(lane),
            *subgroup_size,
        )
    }

    /// Counts the invocations of each subgroup of the workgroup, and passes the layout to the race
    /// detector.
    pub(super) fn begin_subgroups(&mut self) {
        self.subgroups.clear();
        // With an unknown layout any two invocations may share a subgroup.
        let of: Vec<u32> = (0..self.lanes).map(|lane| self.seat(lane).map_or(0, |seat| seat.subgroup)).collect();
        if self.dispatch.layout != SubgroupLayout::Unknown {
            of.iter().for_each(|subgroup| *self.subgroups.entry(*subgroup).or_default() += 1);
        }
        self.races.subgroup_of = of;
        self.races.subgroups_known = self.dispatch.layout != SubgroupLayout::Unknown;
    }

    pub(super) fn subgroup(&mut self, op: SubgroupOp, dst: Reg, (value, n): (Reg, u32), second: Reg, lanes: Lanes) {
        let weak = lanes.iter().any(|l| self.forks.is_weak(l));
        let list: Vec<usize> = lanes.iter().collect();
        let mut parts: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        list.iter().for_each(|l| parts.entry(self.seat(*l).map(|seat| seat.subgroup)).or_default().push(*l));
        let mut results: Vec<(usize, Vec<Scalar>)> = Vec::new();
        let count = op.results(n);
        for (subgroup, members) in parts {
            let known = subgroup.is_some_and(|subgroup| self.subgroups.contains_key(&subgroup));
            let together = self.tangles.are_one(members.iter().copied());
            for &l in &members {
                let mut out = Vec::new();
                for i in 0..count {
                    let given = if weak {
                        LaneResult::Nothing(CauseKind::Budget)
                    } else if known && together {
                        self.together(op, (value, n, i), second, &members, l)
                    } else if self.any_layout(op, value + i, &list) {
                        LaneResult::Of(l)
                    } else if known {
                        LaneResult::Nothing(CauseKind::Reconvergence)
                    } else {
                        LaneResult::Nothing(CauseKind::SubgroupLayout)
                    };
                    out.push(match given {
                        LaneResult::Bits(bits) => {
                            (AbstractValue::Bits, bits[if op == SubgroupOp::Ballot { i as usize } else { 0 }], None)
                        }
                        LaneResult::Either(a, b) => {
                            let (value, bits) =
                                AbstractValue::of_patterns(vec![a, b]).unwrap_or((AbstractValue::Bits, a));
                            (value, bits, None)
                        }
                        LaneResult::Of(from) => {
                            let bound = self.columns[(value + i) as usize].bound(from).copied();
                            let (value, bits) = self.scalar(value + i, from);
                            (value, bits, bound.map(|bound| self.numbered_bound(bound)))
                        }
                        LaneResult::Nothing(kind) => (AbstractValue::Unknown(self.cause(kind)), 0, None),
                    });
                }
                results.push((l, out));
            }
        }
        for (l, out) in results {
            for (i, (value, bits, bound)) in out.into_iter().enumerate() {
                self.columns[dst as usize + i].set_made(l, (value, bits), bound);
            }
        }
    }

    /// The exact bits of a lane's register; `None` if they are not exact.
    fn exact(&self, reg: Reg, lane: usize) -> Option<u64> {
        let column = &self.columns[reg as usize];
        (*column.value(lane) == AbstractValue::Bits).then(|| column.bits[lane])
    }

    /// Returns true if the instruction returns the common value of all lanes under every layout.
    fn any_layout(&self, op: SubgroupOp, reg: Reg, all: &[usize]) -> bool {
        let uniform = || {
            let first = self.exact(reg, all[0])?;
            Some(all.iter().all(|l| self.exact(reg, *l) == Some(first)))
        };
        let keeps = matches!(
            op,
            SubgroupOp::All
                | SubgroupOp::Any
                | SubgroupOp::BroadcastFirst
                | SubgroupOp::Fold {
                    fold: Fold::And | Fold::Or | Fold::SMin | Fold::SMax | Fold::UMin | Fold::UMax,
                    reach: Reach::All | Reach::Cluster(_) | Reach::Before { own: true },
                }
        );
        keeps && uniform() == Some(true)
    }

    /// The result of the instruction for a lane of a subgroup whose members are known. `i` is the
    /// index of the scalar.
    fn together(
        &self,
        op: SubgroupOp,
        (value, n, i): (Reg, u32, u32),
        second: Reg,
        members: &[usize],
        lane: usize,
    ) -> LaneResult {
        let size = self.dispatch.subgroup_size as usize;
        let within = |l: usize| self.seat(l).map_or(0, |seat| seat.place as usize);
        let own = within(lane);
        let at = |place: usize| members.iter().copied().find(|l| within(*l) == place);
        let from = |place: Option<usize>| match place.and_then(at) {
            Some(lane) => LaneResult::Of(lane),
            // The value of an inactive or missing invocation is undefined.
            None => LaneResult::Nothing(CauseKind::Unspecified),
        };
        let index = || self.exact(second, lane).map(|bits| bits as usize);
        // The active invocation with the lowest number.
        let lowest = || members.iter().copied().min_by_key(|l| within(*l)).unwrap_or(lane);
        let one = |bits: u64| LaneResult::Bits([bits; 4]);
        let all_exact = |reg: Reg| members.iter().map(|l| self.exact(reg, *l)).collect::<Option<Vec<u64>>>();
        let unknown = || LaneResult::Nothing(CauseKind::Precision);
        let ballot = |l: usize| -> Option<[u64; 4]> {
            let words = (0..n.min(4)).map(|w| self.exact(value + w, l)).collect::<Option<Vec<u64>>>()?;
            Some(std::array::from_fn(|w| words.get(w).copied().unwrap_or(0)))
        };
        let bit = |words: &[u64; 4], place: usize| place < size && words[place / 32] >> (place % 32) & 1 == 1;
        match op {
            SubgroupOp::Elect => one(u64::from(lowest() == lane)),
            SubgroupOp::All | SubgroupOp::Any => match all_exact(value) {
                Some(all) if op == SubgroupOp::All => one(u64::from(all.iter().all(|b| *b != 0))),
                Some(all) => one(u64::from(all.iter().any(|b| *b != 0))),
                None => unknown(),
            },
            SubgroupOp::AllEqual => {
                let float = matches!(self.program.kinds[value as usize], Kind::Float(_));
                let columns = (0..n).map(|k| all_exact(value + k)).collect::<Option<Vec<_>>>();
                match columns {
                    // Ordinary numbers are equal if and only if their bits are. Others may be NaNs,
                    // zeros of either sign, or flushed.
                    Some(columns) => {
                        let same = columns.iter().all(|column| column.iter().all(|bits| *bits == column[0]));
                        let decided = !float || columns.iter().flatten().all(|bits| self.is_ordinary(value, *bits));
                        if decided { one(u64::from(same)) } else { unknown() }
                    }
                    None => unknown(),
                }
            }
            SubgroupOp::Broadcast | SubgroupOp::Shuffle => from(index()),
            // "The Index must be the same for all active invocations in the subgroup, otherwise the
            // results are undefined."
            SubgroupOp::ReadInvocation => match all_exact(second) {
                Some(all) if all.iter().all(|index| *index == all[0]) => from(index()),
                Some(_) => LaneResult::Nothing(CauseKind::Unspecified),
                None => unknown(),
            },
            SubgroupOp::BroadcastFirst => LaneResult::Of(lowest()),
            SubgroupOp::ShuffleXor => from(index().map(|mask| own ^ mask)),
            SubgroupOp::ShuffleUp => from(index().and_then(|by| own.checked_sub(by))),
            SubgroupOp::ShuffleDown => from(index().and_then(|by| own.checked_add(by)).filter(|p| *p < size)),
            SubgroupOp::Rotate { cluster } => {
                let cluster = cluster.map_or(size, |cluster| cluster.max(1) as usize);
                from(index().map(|by| own / cluster * cluster + (own % cluster + by % cluster) % cluster))
            }
            SubgroupOp::QuadBroadcast => from(index().filter(|k| *k < 4).map(|k| own / 4 * 4 + k)),
            // Directions: 0 horizontal, 1 vertical, 2 diagonal.
            SubgroupOp::QuadSwap { direction } => from(Some(own ^ (direction as usize + 1))),
            SubgroupOp::Ballot => {
                let Some(all) = all_exact(value) else { return unknown() };
                let mut words = [0u64; 4];
                for (l, bits) in members.iter().zip(all) {
                    let place = within(*l);
                    words[place / 32] |= u64::from(bits != 0) << (place % 32);
                }
                LaneResult::Bits(words)
            }
            SubgroupOp::InverseBallot => ballot(lane).map_or_else(unknown, |words| one(u64::from(bit(&words, own)))),
            SubgroupOp::BallotBitExtract => match (ballot(lane), index()) {
                (Some(_), Some(place)) if place >= size => LaneResult::Nothing(CauseKind::Unspecified),
                (Some(words), Some(place)) => one(u64::from(bit(&words, place))),
                _ => unknown(),
            },
            SubgroupOp::BallotBitCount { .. } | SubgroupOp::BallotFindLsb | SubgroupOp::BallotFindMsb => {
                let Some(words) = ballot(lane) else { return unknown() };
                // "Considering only the bits in Value required to represent all bits of the scope
                // restricted tangle": the bits up to the last invocation of the tangle, or of the
                // subgroup.
                let last = members.iter().map(|l| within(*l) + 1).max().unwrap_or(size);
                let considering = |size: usize| {
                    let mut set = (0..size).filter(|p| bit(&words, *p));
                    match op {
                        SubgroupOp::BallotFindLsb => set.next(),
                        SubgroupOp::BallotFindMsb => set.next_back(),
                        SubgroupOp::BallotBitCount { reach } => Some(set.filter(|p| reaches(reach, own, *p)).count()),
                        _ => None,
                    }
                };
                match (considering(last), considering(size)) {
                    (Some(few), Some(all)) if few != all => LaneResult::Either(few as u64, all as u64),
                    (Some(few), Some(_)) => one(few as u64),
                    // If no bit is set, the value is undefined.
                    _ => LaneResult::Nothing(CauseKind::Unspecified),
                }
            }
            SubgroupOp::Fold { fold: Fold::Measured, .. } => LaneResult::Nothing(CauseKind::NoRequirement),
            SubgroupOp::Fold { fold, reach } => {
                let reg = value + i;
                let kind = self.program.kinds[reg as usize];
                let taking = members.iter().filter(|l| reaches(reach, own, within(**l)));
                let values = taking.map(|l| self.exact(reg, *l)).collect::<Option<Vec<u64>>>();
                let Some(values) = values else { return unknown() };
                folded(fold, kind, &values).map_or_else(unknown, one)
            }
        }
    }

    /// Returns true if bits of a float register are a normal number.
    fn is_ordinary(&self, reg: Reg, bits: u64) -> bool {
        let Kind::Float(fmt) = self.program.kinds[reg as usize] else { return false };
        is_ordinary(fmt.format(), bits)
    }
}

/// Returns true if bits are a normal number.
pub(super) fn is_ordinary(format: Format, bits: u64) -> bool {
    format.is_finite(bits) && !format.is_denormal(bits) && !format.is_zero(bits)
}

fn reaches(reach: Reach, own: usize, other: usize) -> bool {
    match reach {
        Reach::All => true,
        Reach::Before { own: true } => other <= own,
        Reach::Before { own: false } => other < own,
        Reach::Cluster(size) => other / (size.max(1) as usize) == own / (size.max(1) as usize),
    }
}

/// The values folded from the identity on. `None` if floats are not finite, or the extreme of them
/// is not a normal number.
fn folded(fold: Fold, kind: Kind, values: &[u64]) -> Option<u64> {
    let width = kind.width();
    let (op, identity) = match fold {
        Fold::Add => (IntOp::Add, 0),
        Fold::Mul => (IntOp::Mul, 1),
        Fold::SMin => (IntOp::SMin, mask(width) >> 1),
        Fold::UMin => (IntOp::UMin, mask(width)),
        Fold::SMax => (IntOp::SMax, 1 << (width - 1)),
        Fold::UMax => (IntOp::UMax, 0),
        Fold::And => (IntOp::And, mask(width)),
        Fold::Or => (IntOp::Or, 0),
        Fold::Xor => (IntOp::Xor, 0),
        Fold::FMin | Fold::FMax => return extreme(fold, kind, values),
        Fold::Measured => return None,
    };
    let step = |all, bits: &u64| op.eval(width, [all, *bits, 0, 0], false).map_or(0, |bits| bits & mask(width));
    Some(values.iter().fold(identity, step))
}

fn extreme(fold: Fold, kind: Kind, values: &[u64]) -> Option<u64> {
    let Kind::Float(fmt) = kind else { return None };
    let format = fmt.format();
    if !values.iter().all(|bits| format.is_finite(*bits)) {
        return None;
    }
    let rank = |bits: &u64| format.rank(*bits);
    let values = values.iter().copied();
    let found = if fold == Fold::FMin { values.min_by_key(rank) } else { values.max_by_key(rank) };
    // A zero or a denormal, flushed or not, does not exceed any normal number beyond it.
    found.filter(|bits| is_ordinary(format, *bits))
}
