//! Floating-point instructions as the precision table calls them.

use crate::direct::Direct;
use crate::ty::{Fmt, Kind};
use assay_precision::{Call, Op, Reference, Rules, Scalar};

/// Which reading of the text a run follows where there are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Usual,
    Lenient,
}

/// A floating-point instruction on concrete types in its environment.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) call: Call,
    pub(crate) reference: Reference,
    /// Of an instruction that works component by component: how many there are; an operand whose bit is set is the same
    /// for all. The call is that of one component.
    pub(crate) components: Option<(u32, u8)>,
    /// Scalars of each operand.
    pub(crate) widths: Vec<u32>,
    /// Scalars of all operands, in order.
    pub(crate) operands: Vec<Kind>,
    /// What the results are, of the call.
    pub(crate) results: Vec<Kind>,
    /// Whether it may be contracted and rearranged with others.
    pub(crate) free: bool,
    /// How it is done without the table, if it can be.
    pub(crate) direct: Option<Direct>,
}

/// A sum of products of operands: the places of one or two factors, and whether it is subtracted.
pub(crate) type Chain = Vec<(usize, Option<usize>, bool)>;

impl Site {
    /// The format of its float results or, if it has none, operands.
    pub(crate) fn fmt(&self) -> Option<Fmt> {
        let float = |kind: &Kind| if let Kind::Float(fmt) = kind { Some(*fmt) } else { None };
        self.results.iter().chain(&self.operands).find_map(float)
    }

    /// Whether it converts to an integer, where not every value has one.
    pub(crate) fn converts_to_integer(&self) -> bool {
        matches!(self.call.op, Op::ConvertFToU | Op::ConvertFToS)
    }

    /// The sum of products that a result is, if it is one.
    pub(crate) fn chain(&self, slot: usize) -> Option<Chain> {
        let wide = |i: usize| self.widths[i] as usize;
        Some(match self.call.op {
            Op::FAdd => vec![(0, None, false), (1, None, false)],
            Op::FSub => vec![(0, None, false), (1, None, true)],
            Op::FNegate => vec![(0, None, true)],
            Op::FMul => vec![(0, Some(1), false)],
            Op::FmaKHR | Op::Fma => vec![(0, Some(1), false), (2, None, false)],
            Op::Dot => (0..wide(0)).map(|i| (i, Some(wide(0) + i), false)).collect(),
            Op::OuterProduct => vec![(slot % wide(0), Some(wide(0) + slot / wide(0)), false)],
            Op::MatrixTimesVector => {
                let (columns, rows) = (wide(1), wide(0) / wide(1));
                (0..columns).map(|c| (c * rows + slot, Some(wide(0) + c), false)).collect()
            }
            Op::VectorTimesMatrix => {
                let n = wide(0);
                (0..n).map(|i| (i, Some(n + slot * n + i), false)).collect()
            }
            _ => return None,
        })
    }
}

/// The kind of a scalar of the table.
pub(crate) fn kind(scalar: Scalar) -> Option<Kind> {
    Some(match scalar {
        Scalar::Bool => Kind::Bool,
        Scalar::Int { width, signed } => Kind::Int { width: width as u8, signed },
        Scalar::Float(format) => {
            let known = [Fmt::F16, Fmt::BF16, Fmt::F32, Fmt::F64];
            Kind::Float(known.into_iter().find(|fmt| fmt.format() == format)?)
        }
    })
}

/// The sites of a program while it is decoded.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    rules: Rules,
    all: Vec<Site>,
}

impl Sites {
    pub(crate) fn under(rules: Rules) -> Sites {
        Sites { rules, all: Vec::new() }
    }

    /// The call by the rules that hold: what is no counterpart of an expression of WGSL stays what it is.
    fn ruled(&self, call: Call) -> Call {
        match self.rules {
            Rules::Vulkan => call,
            Rules::Wgsl => call.in_wgsl().unwrap_or(call),
        }
    }

    /// The number of a site, made if there is none like it.
    pub(crate) fn add(&mut self, call: Call, components: Option<(u32, u8)>) -> Option<u32> {
        let call = self.ruled(call);
        let same = |site: &Site| site.call == call && site.components == components;
        if let Some(known) = self.all.iter().position(same) {
            return Some(known as u32);
        }
        let operands = call.operand_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let results = call.result_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let modes = call.modes;
        let allowed = modes.fast_math.is_none_or(|f| f.allow_contract || f.allow_reassoc || f.allow_transform);
        let free = !modes.no_contraction && allowed && (is_ring(call.op) || call.op == Op::FDiv);
        let widths = call.operands.iter().map(|t| t.len() as u32).collect();
        let reference = call.reference();
        let direct = Direct::new(&call, reference.environment(0), &operands, &results);
        // Of denormals WGSL permits more than these do, in one reading or in both.
        let wider = call.rules == Rules::Wgsl && matches!(call.op, Op::FMin | Op::FMax | Op::FClamp | Op::FConvert);
        let direct = direct.filter(|_| !wider);
        self.all.push(Site { reference, components, widths, operands, results, free, direct, call });
        Some(self.all.len() as u32 - 1)
    }

    pub(crate) fn finish(self) -> Vec<Site> {
        self.all
    }
}

/// Sums and products.
fn is_ring(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FNegate
            | Op::FmaKHR
            | Op::Fma
            | Op::OuterProduct
            | Op::Dot
            | Op::MatrixTimesVector
            | Op::VectorTimesMatrix
    )
}
