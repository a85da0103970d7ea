//! Floating-point instructions as the precision table calls them.

use crate::ty::{Fmt, Kind};
use assay_precision::{Call, Reference, Scalar};

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
}

impl Site {
    /// The format of its float results or, if it has none, operands.
    pub(crate) fn fmt(&self) -> Option<Fmt> {
        let float = |kind: &Kind| if let Kind::Float(fmt) = kind { Some(*fmt) } else { None };
        self.results.iter().chain(&self.operands).find_map(float)
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
    all: Vec<Site>,
}

impl Sites {
    /// The number of a site, made if there is none like it.
    pub(crate) fn add(&mut self, call: Call, components: Option<(u32, u8)>) -> Option<u32> {
        let same = |site: &Site| site.call == call && site.components == components;
        if let Some(known) = self.all.iter().position(same) {
            return Some(known as u32);
        }
        let operands = call.operand_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let results = call.result_slots().map(kind).collect::<Option<Vec<_>>>()?;
        let widths = call.operands.iter().map(|t| t.len() as u32).collect();
        self.all.push(Site { reference: call.reference(), components, widths, operands, results, call });
        Some(self.all.len() as u32 - 1)
    }

    pub(crate) fn finish(self) -> Vec<Site> {
        self.all
    }
}
