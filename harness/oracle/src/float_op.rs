//! Floating-point instructions, resolved to calls of the precision table.

use crate::fast_path::FastPath;
use crate::ty::{Fmt, Kind};
use assay_precision::{Call, FastMath, Modes, Op, Reference, Scalar, Specification};

/// The reading of the text that a run follows where there are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Usual,
    Lenient,
}

/// A floating-point instruction on concrete types in its environment.
#[derive(Clone, Debug)]
pub(crate) struct FloatOp {
    pub(crate) call: Call,
    pub(crate) reference: Reference,
    /// For an instruction that works component by component, the number of components, and a mask
    /// of the operands that are the same for all of them. The call is that of one component.
    pub(crate) components: Option<(u32, u8)>,
    /// Number of scalars of each operand.
    pub(crate) widths: Vec<u32>,
    /// Kinds of the scalars of all operands, in order.
    pub(crate) operands: Vec<Kind>,
    /// Kinds of the scalars of the call's results.
    pub(crate) results: Vec<Kind>,
    pub(crate) freedom: RewriteFreedom,
    /// Set if an operation that uses the result may be rearranged with it: the instruction is not
    /// decorated `NoContraction`.
    pub(crate) followed: bool,
    /// The fast path, if there is one.
    pub(crate) fast_path: Option<FastPath>,
}

/// Rewrites that an operation permits together with the operations that compute its operands; these
/// "do not need to be decorated to allow this transformation" (SPV_KHR_float_controls2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RewriteFreedom {
    /// Roundings may be left out (AllowContract).
    pub(crate) contracts: bool,
    /// Sums and products may be reordered (AllowReassoc).
    pub(crate) reorders: bool,
    /// Every identity of real arithmetic may be used (AllowTransform): products of sums may be
    /// multiplied out, and common factors taken out.
    pub(crate) transforms: bool,
}

impl RewriteFreedom {
    fn of(modes: &Modes) -> RewriteFreedom {
        let allows = |flag: fn(FastMath) -> bool| !modes.no_contraction && modes.fast_math.is_none_or(flag);
        RewriteFreedom {
            contracts: allows(|flags| flags.allow_contract || flags.allow_transform),
            reorders: allows(|flags| flags.allow_reassoc || flags.allow_transform),
            transforms: allows(|flags| flags.allow_transform),
        }
    }

    /// Returns true if any rewrite is permitted.
    pub(crate) fn any(self) -> bool {
        self.contracts || self.reorders
    }
}

/// A product in a sum of products of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignedProduct {
    /// Position of the first factor among the operands.
    pub(crate) factor: usize,
    /// Position of the second factor; `None` for a single operand.
    pub(crate) other: Option<usize>,
    /// Set if the product is subtracted.
    pub(crate) negative: bool,
}

impl FloatOp {
    /// The format of the float results, or of the float operands if no result is a float.
    pub(crate) fn fmt(&self) -> Option<Fmt> {
        let float = |kind: &Kind| if let Kind::Float(fmt) = kind { Some(*fmt) } else { None };
        self.results.iter().chain(&self.operands).find_map(float)
    }

    /// Returns true for a conversion to an integer, which is undefined for some values.
    pub(crate) fn converts_to_integer(&self) -> bool {
        matches!(self.call.op, Op::ConvertFToU | Op::ConvertFToS)
    }

    /// The fast path of a sum or product for which the only permitted rewrite is not rounding its
    /// operands. Quotients, and instructions that are sums of products themselves, round more than
    /// once.
    pub(crate) fn contracted(&self) -> Option<FastPath> {
        let single = matches!(self.call.op, Op::FAdd | Op::FSub | Op::FMul | Op::FNegate);
        self.fast_path.filter(|_| single && !self.freedom.reorders)
    }

    /// The sum of products that a result is; `None` if it is not one.
    pub(crate) fn chain(&self, slot: usize) -> Option<Vec<SignedProduct>> {
        let wide = |i: usize| self.widths[i] as usize;
        let single = |factor: usize, negative: bool| SignedProduct { factor, other: None, negative };
        let product = |factor: usize, other: usize| SignedProduct { factor, other: Some(other), negative: false };
        Some(match self.call.op {
            Op::FAdd => vec![single(0, false), single(1, false)],
            Op::FSub => vec![single(0, false), single(1, true)],
            Op::FNegate => vec![single(0, true)],
            Op::FMul => vec![product(0, 1)],
            Op::Cross => {
                let (i, j) = ((slot + 1) % 3, (slot + 2) % 3);
                vec![product(i, 3 + j), SignedProduct { negative: true, ..product(j, 3 + i) }]
            }
            Op::FmaKHR | Op::Fma => vec![product(0, 1), single(2, false)],
            Op::Dot => (0..wide(0)).map(|i| product(i, wide(0) + i)).collect(),
            Op::OuterProduct => vec![product(slot % wide(0), wide(0) + slot / wide(0))],
            Op::MatrixTimesVector => {
                let (columns, rows) = (wide(1), wide(0) / wide(1));
                (0..columns).map(|c| product(c * rows + slot, wide(0) + c)).collect()
            }
            Op::VectorTimesMatrix => {
                let n = wide(0);
                (0..n).map(|i| product(i, n + slot * n + i)).collect()
            }
            _ => return None,
        })
    }
}

/// The kind of a scalar of the precision table; `None` for a format that the oracle does not
/// interpret.
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

/// The floating-point instructions of a program while it is decoded, each distinct one once.
#[derive(Debug, Default)]
pub(crate) struct FloatOps {
    specification: Specification,
    all: Vec<FloatOp>,
}

impl FloatOps {
    pub(crate) fn under(specification: Specification) -> FloatOps {
        FloatOps { specification, all: Vec::new() }
    }

    /// The call under the specification in force. Calls without a counterpart among WGSL's
    /// expressions stay as they are.
    fn ruled(&self, call: Call) -> Call {
        match self.specification {
            Specification::Vulkan => call,
            Specification::Wgsl => call.in_wgsl().unwrap_or(call),
        }
    }

    /// Adds an instruction unless an equal one exists, and returns its number. `None` if a type is
    /// not interpreted.
    pub(crate) fn add(&mut self, call: Call, components: Option<(u32, u8)>) -> Option<u32> {
        let call = self.ruled(call);
        let same = |float_op: &FloatOp| float_op.call == call && float_op.components == components;
        if let Some(known) = self.all.iter().position(same) {
            return Some(known as u32);
        }
        let operands = call.operand_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let results = call.result_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let (freedom, followed) = (RewriteFreedom::of(&call.modes), !call.modes.no_contraction);
        let widths = call.operands.iter().map(|t| t.len() as u32).collect();
        let reference = call.reference();
        let fast_path = FastPath::new(&call, reference.environment(0), &operands, &results);
        // WGSL permits more for denormals than the fast path of these, in one reading or in both.
        let wider = call.specification == Specification::Wgsl
            && matches!(call.op, Op::FMin | Op::FMax | Op::FClamp | Op::FConvert);
        let fast_path = fast_path.filter(|_| !wider);
        self.all.push(FloatOp { reference, components, widths, operands, results, freedom, followed, fast_path, call });
        Some(self.all.len() as u32 - 1)
    }

    pub(crate) fn finish(self) -> Vec<FloatOp> {
        self.all
    }
}
