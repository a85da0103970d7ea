//! Floating-point instructions and the environment that the module declares for them.

use super::{Decoder, Result, Val};
use crate::inst::{Inst, Reg};
use crate::ty::{Fmt, Kind};
use assay_precision::{Call, Denormals, FastMath, Modes, Op as Row, Rounding, Scalar, Shape};
use assay_spirv::module::{Instruction, Module, Section, Type, TypeId};
use assay_spirv::tables::{Decoration, ExecutionMode, FPFastMathMode, FPRoundingMode, Op};

/// The float declarations of an entry point, by width: 16, 32 and 64 bits.
#[derive(Debug, Default)]
pub(crate) struct FloatDeclarations {
    modes: [Modes; 3],
    /// Default flags of types: the words of the type and of the constant that holds the flags.
    defaults: Vec<(u32, u32)>,
    /// `ContractionOff`, for kernels.
    contraction_off: bool,
}

fn place(width: u32) -> usize {
    match width {
        16 => 0,
        64 => 2,
        _ => 1,
    }
}

impl FloatDeclarations {
    pub(super) fn new(module: &Module, function: u32) -> FloatDeclarations {
        let mut declared = FloatDeclarations::default();
        for i in module.section(Section::ExecutionModes).filter(|i| i.operand(0) == Some(function)) {
            let Some(mode) = i.operand(1).and_then(ExecutionMode::from_word) else { continue };
            let first = i.operand(2).unwrap_or_default();
            let modes = &mut declared.modes[place(first)];
            match mode {
                ExecutionMode::DenormPreserve => modes.denormals = Denormals::Preserve,
                ExecutionMode::DenormFlushToZero => modes.denormals = Denormals::FlushToZero,
                ExecutionMode::SignedZeroInfNanPreserve => modes.preserve_special = true,
                ExecutionMode::RoundingModeRTE => modes.rounding = Rounding::Rte,
                ExecutionMode::RoundingModeRTZ => modes.rounding = Rounding::Rtz,
                ExecutionMode::FPFastMathDefault => {
                    declared.defaults.push((first, i.operand(3).unwrap_or_default()));
                }
                ExecutionMode::ContractionOff => declared.contraction_off = true,
                _ => {}
            }
        }
        declared
    }
}

fn flags(bits: u32) -> FastMath {
    let has = |flag| FPFastMathMode(bits).contains(flag);
    let fast = has(FPFastMathMode::FAST);
    FastMath {
        not_nan: has(FPFastMathMode::NOT_NA_N) || fast,
        not_inf: has(FPFastMathMode::NOT_INF) || fast,
        nsz: has(FPFastMathMode::NSZ) || fast,
        allow_recip: has(FPFastMathMode::ALLOW_RECIP) || fast,
        allow_contract: has(FPFastMathMode::ALLOW_CONTRACT) || fast,
        allow_reassoc: has(FPFastMathMode::ALLOW_REASSOC) || fast,
        allow_transform: has(FPFastMathMode::ALLOW_TRANSFORM) || fast,
    }
}

impl Decoder<'_> {
    /// The environment of the instruction with the result word `result` and floats of these types.
    pub(super) fn modes(&mut self, result: u32, types: &[TypeId]) -> Result<Modes> {
        let floats = types.iter().filter_map(|ty| match self.scalar_kind(*ty) {
            Kind::Float(fmt) => Some(fmt.format()),
            _ => None,
        });
        // The modes apply to the IEEE 754 encodings. The first type is the result's unless that has
        // another encoding, and the modes of its width hold. Special values are preserved only if
        // all widths do so. Denormal results follow the mode of the result's width, operands that
        // of their own.
        let widths: Vec<u32> = floats.filter(|format| format.is_ieee_754()).map(|format| format.width).collect();
        let declared = |width: &u32| self.environment.modes[place(*width)];
        let mut modes = widths.first().map(declared).unwrap_or_default();
        modes.preserve_special &= widths.iter().all(|w| self.environment.modes[place(*w)].preserve_special);
        let of_operands = widths.last().map(declared).unwrap_or_default().denormals;
        modes.operand_denormals = Some(of_operands).filter(|declared| *declared != modes.denormals);
        let mut stated = None;
        for d in self.module.decorations(result).filter(|d| d.member.is_none()) {
            match d.decoration {
                Some(Decoration::NoContraction) => modes.no_contraction = true,
                Some(Decoration::RelaxedPrecision) => modes.relaxed = true,
                Some(Decoration::FPFastMathMode) => stated = d.operands.first().copied(),
                Some(Decoration::FPRoundingMode) => {
                    modes.rounding = match d.operands.first().and_then(|w| FPRoundingMode::from_word(*w)) {
                        Some(FPRoundingMode::RTE) => Rounding::Rte,
                        Some(FPRoundingMode::RTZ) => Rounding::Rtz,
                        _ => return self.unsupported("FPRoundingMode RTP or RTN"),
                    };
                }
                _ => {}
            }
        }
        if let Some(bits) = stated {
            modes.fast_math = Some(flags(bits));
        } else if !self.environment.defaults.is_empty() {
            // Types without a default have no flags. The flags of all types of the instruction are
            // united.
            let mut bits = 0;
            for (ty, word) in self.environment.defaults.clone() {
                let declared = self.module.type_declared(ty);
                if types.iter().any(|ty| self.scalar_type(*ty) == declared) {
                    bits |= self.constant(word)? as u32;
                }
            }
            modes.fast_math = Some(flags(bits));
        }
        if modes.fast_math.is_some() {
            modes.preserve_special = false;
            modes.no_contraction = false;
        }
        modes.no_contraction |= self.environment.contraction_off;
        Ok(modes)
    }

    /// The environment of an instruction that packs or unpacks halves, from that of its 32-bit
    /// types.
    pub(super) fn of_halves(&self, modes: Modes) -> Modes {
        let denormals = self.environment.modes[place(16)].denormals;
        Modes { denormals, operand_denormals: Some(modes.denormals).filter(|single| *single != denormals), ..modes }
    }

    /// The flags of bit-preserving operations on each format by the letter of the text: those that
    /// the module states, else all that the environment assumes.
    pub(super) fn copied(&mut self) -> Result<Vec<(Fmt, FastMath)>> {
        let types: Vec<TypeId> = self.module.types().map(|(ty, _)| ty).collect();
        let mut copied = Vec::new();
        for ty in types {
            if let (Type::Float { .. }, Kind::Float(fmt)) = (self.module.ty(ty), self.scalar_kind(ty)) {
                let modes = self.modes(0, &[ty])?;
                let assumed = !modes.preserve_special;
                let flags = FastMath { not_nan: assumed, not_inf: assumed, nsz: assumed, ..FastMath::default() };
                copied.push((fmt, modes.fast_math.unwrap_or(flags)));
            }
        }
        Ok(copied)
    }

    /// The flags of `OpBitcast` from or to each format by the letter of the text. It is neither
    /// bit-preserving nor listed, so the mode `SignedZeroInfNanPreserve` does not speak of it.
    pub(super) fn cast(&mut self) -> Result<Vec<(Fmt, FastMath)>> {
        let types: Vec<TypeId> = self.module.types().map(|(ty, _)| ty).collect();
        let mut cast = Vec::new();
        for ty in types {
            if let (Type::Float { .. }, Kind::Float(fmt)) = (self.module.ty(ty), self.scalar_kind(ty)) {
                let flags = FastMath { not_nan: true, not_inf: true, nsz: true, ..FastMath::default() };
                cast.push((fmt, self.modes(0, &[ty])?.fast_math.unwrap_or(flags)));
            }
        }
        Ok(cast)
    }

    fn scalar_type(&self, ty: TypeId) -> Option<TypeId> {
        match *self.module.ty(ty) {
            Type::Vector { component, .. } => Some(component),
            Type::Matrix { column, .. } => self.scalar_type(column),
            Type::Struct { .. } => self.scalar_type(*self.module.members(ty).first()?),
            _ => Some(ty),
        }
    }

    fn scalar_kind(&self, ty: TypeId) -> Kind {
        self.scalar_type(ty).and_then(|ty| self.layouts.kind(ty).ok()).unwrap_or(Kind::Handle)
    }

    /// The shape of a value in the precision table.
    pub(super) fn shape(&self, val: &Val) -> Shape {
        match *self.module.ty(val.ty) {
            Type::Vector { count, .. } => Shape::Vector(count),
            Type::Matrix { column, count } => match *self.module.ty(column) {
                Type::Vector { count: rows, .. } => Shape::Matrix { columns: count, rows },
                _ => Shape::Vector(count),
            },
            _ => Shape::Scalar,
        }
    }

    /// The type of a value's scalars in the precision table.
    pub(super) fn scalar(&self, val: &Val) -> Scalar {
        match self.kind(val) {
            Kind::Bool => Scalar::Bool,
            Kind::Int { width, signed } => Scalar::Int { width: u32::from(width), signed },
            Kind::Float(fmt) => Scalar::Float(fmt.format()),
            Kind::Pointer | Kind::Handle => Scalar::Int { width: 64, signed: false },
        }
    }

    pub(super) fn float(&mut self, i: Instruction, op: Op) -> Result {
        let Ok(row) = Row::from_name(op.name()) else { return self.unsupported(op.name()) };
        let dst = self.result(i)?;
        let mut args = Vec::new();
        for k in 0..i.operands().len() {
            args.push(self.operand(i, k)?);
        }
        let types: Vec<TypeId> = std::iter::once(dst.ty).chain(args.iter().map(|a| a.ty)).collect();
        let modes = self.modes(i.result().unwrap_or_default(), &types)?;
        let regs: Vec<Reg> = args.iter().map(|a| a.reg).collect();
        let Some(first) = args.first() else { return self.invalid("no operands") };
        let (scalar, shape) = (self.scalar(first), self.shape(first));
        match row {
            Row::VectorTimesScalar | Row::MatrixTimesScalar => {
                // Component by component this is a product.
                self.map(Row::VectorTimesScalar, modes, scalar, (dst.reg, dst.n), regs, 0b10)
            }
            Row::Dot | Row::MatrixTimesVector => self.whole(row, modes, scalar, shape, dst.reg, regs),
            Row::VectorTimesMatrix => {
                let shape = self.shape(&args[1]);
                self.whole(row, modes, scalar, shape, dst.reg, regs)
            }
            Row::OuterProduct => {
                let shape = self.shape(&dst);
                self.whole(row, modes, scalar, shape, dst.reg, regs)
            }
            Row::MatrixTimesMatrix => self.matrix_product(modes, &args, &dst),
            _ => {
                let scalar = match row {
                    Row::ConvertFToU | Row::ConvertFToS | Row::ConvertSToF | Row::ConvertUToF | Row::FConvert => {
                        self.scalar(&dst)
                    }
                    _ => scalar,
                };
                self.map(row, modes, scalar, (dst.reg, dst.n), regs, 0)
            }
        }
    }

    /// A product of matrices, column by column: each column is a product of a matrix and a vector.
    fn matrix_product(&mut self, modes: Modes, args: &[Val], dst: &Val) -> Result {
        let (a, b) = (&args[0], &args[1]);
        let (scalar, shape) = (self.scalar(a), self.shape(a));
        let Shape::Matrix { columns: inner, rows } = shape else { return self.invalid("a matrix product of vectors") };
        for c in 0..dst.n / rows.max(1) {
            let regs = vec![a.reg, b.reg + c * inner];
            self.whole(Row::MatrixTimesVector, modes, scalar, shape, dst.reg + c * rows, regs)?;
        }
        Ok(())
    }

    /// An instruction that works component by component on `n` components. Operands whose bit in
    /// the mask is set are scalars.
    pub(super) fn map(
        &mut self,
        row: Row,
        modes: Modes,
        scalar: Scalar,
        (dst, n): (Reg, u32),
        args: Vec<Reg>,
        same: u8,
    ) -> Result {
        let from = self.source(row, args[0]);
        let call = if row == Row::VectorTimesScalar {
            // The table has it for vectors only. One of its components is a product.
            Call::new(Row::FMul, scalar, Shape::Scalar, None, modes)
        } else if matches!(row, Row::ConvertFToU | Row::ConvertFToS | Row::ConvertSToF | Row::ConvertUToF) {
            // The table has the signedness in the type, SPIR-V in the instruction.
            let signed = matches!(row, Row::ConvertFToS | Row::ConvertSToF);
            let fix = |scalar| match scalar {
                Scalar::Int { width, .. } => Scalar::Int { width, signed },
                other => other,
            };
            Call::new(row, fix(scalar), Shape::Scalar, from.map(fix), modes)
        } else {
            Call::new(row, scalar, Shape::Scalar, from, modes)
        };
        let call = call.or_else(|error| self.unsupported(error.to_string()))?;
        let Some(float_op) = self.float_ops.add(call, Some((n, same))) else { return self.unsupported(row.name()) };
        self.emit(Inst::Float { float_op, dst, args: args.into() });
        Ok(())
    }

    fn source(&self, row: Row, arg: Reg) -> Option<Scalar> {
        let converts =
            matches!(row, Row::ConvertFToU | Row::ConvertFToS | Row::ConvertSToF | Row::ConvertUToF | Row::FConvert);
        converts.then(|| match self.kinds[arg as usize] {
            Kind::Float(fmt) => Scalar::Float(Fmt::format(fmt)),
            Kind::Int { width, signed } => Scalar::Int { width: u32::from(width), signed },
            Kind::Bool | Kind::Pointer | Kind::Handle => Scalar::Bool,
        })
    }

    /// An instruction on whole vectors or matrices.
    pub(super) fn whole(
        &mut self,
        row: Row,
        modes: Modes,
        scalar: Scalar,
        shape: Shape,
        dst: Reg,
        args: Vec<Reg>,
    ) -> Result {
        let call = Call::new(row, scalar, shape, None, modes);
        let call = call.or_else(|error| self.unsupported(error.to_string()))?;
        let Some(float_op) = self.float_ops.add(call, None) else { return self.unsupported(row.name()) };
        self.emit(Inst::Float { float_op, dst, args: args.into() });
        Ok(())
    }
}
