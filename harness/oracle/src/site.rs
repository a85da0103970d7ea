//! Floating-point instructions as the precision table calls them.

use crate::direct::Direct;
use crate::ty::{Fmt, Kind};
use assay_precision::{Call, FastMath, Modes, Op, Reference, Rules, Scalar};

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
    pub(crate) freedom: Freedom,
    /// Whether an operation that uses the result may be rearranged with it: it is not decorated `NoContraction`.
    pub(crate) followed: bool,
    /// How it is done without the table, if it can be.
    pub(crate) direct: Option<Direct>,
}

/// What an operation may be together with those that produce its operands; these "do not need to be decorated to allow this
/// transformation" (SPV_KHR_float_controls2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freedom {
    /// Roundings may be left out.
    pub(crate) contracts: bool,
    /// Sums and products may be reordered.
    pub(crate) reorders: bool,
    /// Whatever real numbers have in common with it: products of sums may be multiplied out, and factors taken out.
    pub(crate) transforms: bool,
}

impl Freedom {
    fn of(modes: &Modes) -> Freedom {
        let allows = |flag: fn(FastMath) -> bool| !modes.no_contraction && modes.fast_math.is_none_or(flag);
        Freedom {
            contracts: allows(|flags| flags.allow_contract || flags.allow_transform),
            reorders: allows(|flags| flags.allow_reassoc || flags.allow_transform),
            transforms: allows(|flags| flags.allow_transform),
        }
    }

    /// Whether it is more than itself.
    pub(crate) fn any(self) -> bool {
        self.contracts || self.reorders
    }
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

    /// How it is done if all that it may be beside itself is a sum or a product whose operands are not rounded. Quotients and instructions
    /// that are sums of products themselves round more than once.
    pub(crate) fn contracted(&self) -> Option<Direct> {
        let single = matches!(self.call.op, Op::FAdd | Op::FSub | Op::FMul | Op::FNegate);
        self.direct.filter(|_| single && !self.freedom.reorders)
    }

    /// The sum of products that a result is, if it is one.
    pub(crate) fn chain(&self, slot: usize) -> Option<Chain> {
        let wide = |i: usize| self.widths[i] as usize;
        Some(match self.call.op {
            Op::FAdd => vec![(0, None, false), (1, None, false)],
            Op::FSub => vec![(0, None, false), (1, None, true)],
            Op::FNegate => vec![(0, None, true)],
            Op::FMul => vec![(0, Some(1), false)],
            Op::Cross => {
                let (i, j) = ((slot + 1) % 3, (slot + 2) % 3);
                vec![(i, Some(3 + j), false), (j, Some(3 + i), true)]
            }
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
        let (freedom, followed) = (Freedom::of(&call.modes), !call.modes.no_contraction);
        let widths = call.operands.iter().map(|t| t.len() as u32).collect();
        let reference = call.reference();
        let direct = Direct::new(&call, reference.environment(0), &operands, &results);
        // Of denormals WGSL permits more than these do, in one reading or in both.
        let wider = call.rules == Rules::Wgsl && matches!(call.op, Op::FMin | Op::FMax | Op::FClamp | Op::FConvert);
        let direct = direct.filter(|_| !wider);
        self.all.push(Site { reference, components, widths, operands, results, freedom, followed, direct, call });
        Some(self.all.len() as u32 - 1)
    }

    pub(crate) fn finish(self) -> Vec<Site> {
        self.all
    }
}
