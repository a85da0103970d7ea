//! Scalar kinds, and layouts of types: in registers, in memory without an explicit layout, and as
//! decorated.

use assay_float::{BF16, F16, F32, F64, Format};
use assay_spirv::module::{Module, Type, TypeId};
use assay_spirv::tables::{Decoration, FPEncoding};
use std::collections::HashMap;
use std::rc::Rc;

/// Floating-point formats of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fmt {
    F16,
    BF16,
    F32,
    F64,
}

impl Fmt {
    pub(crate) fn format(self) -> Format {
        match self {
            Fmt::F16 => F16,
            Fmt::BF16 => BF16,
            Fmt::F32 => F32,
            Fmt::F64 => F64,
        }
    }
}

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Bool,
    Int {
        width: u8,
        signed: bool,
    },
    Float(Fmt),
    /// A pointer: object and offset, or an address.
    Pointer,
    /// An image, a sampler, or both, by descriptor.
    Handle,
}

impl Kind {
    /// Number of bits in a register; a boolean is 0 or 1.
    pub(crate) fn width(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::Int { width, .. } => u32::from(width),
            Kind::Float(fmt) => fmt.format().width,
            Kind::Pointer | Kind::Handle => 64,
        }
    }

    /// Size in memory in bytes.
    pub(crate) fn bytes(self) -> u64 {
        if self == Kind::Bool { 4 } else { u64::from(self.width()) / 8 }
    }
}

/// Mask of the low `width` bits.
pub(crate) const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The layout of a type: scalars at offsets.
#[derive(Debug)]
pub(crate) enum Layout {
    Scalar(Kind),
    /// A vector, matrix or array. `count` is `None` for run-time arrays.
    Many {
        count: Option<u64>,
        stride: u64,
        of: Rc<Layout>,
    },
    Struct(Members),
}

/// The members of a structure at their offsets, with sums over all of them: structures share their
/// members, so that a walk over n levels could take 2^n steps.
#[derive(Debug)]
pub(crate) struct Members {
    members: Vec<(u64, Rc<Layout>)>,
    size: u64,
    alignment: u64,
    parts: u64,
}

impl Members {
    fn new(members: Vec<(u64, Rc<Layout>)>, mode: Mode) -> Members {
        let end = |(offset, of): &(u64, Rc<Layout>)| offset.saturating_add(of.size(mode));
        Members {
            size: members.iter().map(end).max().unwrap_or(0),
            alignment: members.iter().map(|(_, of)| of.alignment()).max().unwrap_or(1),
            parts: members.iter().fold(1, |parts, (_, of)| parts.saturating_add(of.parts())),
            members,
        }
    }
}

/// A scalar of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) offset: u64,
    pub(crate) kind: Kind,
}

impl Layout {
    /// Upper bound on the steps of a walk over its scalars: scalars and structures.
    pub(crate) fn parts(&self) -> u64 {
        match self {
            Layout::Scalar(_) => 1,
            Layout::Many { count, of, .. } => count.unwrap_or(0).saturating_mul(of.parts()),
            Layout::Struct(members) => members.parts,
        }
    }

    /// The scalars, in the order of registers; a run-time array has none. [`Self::parts`] says how
    /// long that takes.
    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.collect(0, &mut out);
        out
    }

    fn collect(&self, at: u64, out: &mut Vec<Leaf>) {
        match self {
            Layout::Scalar(kind) => out.push(Leaf { offset: at, kind: *kind }),
            Layout::Many { count, stride, of } => {
                for i in 0..count.unwrap_or(0) {
                    of.collect(at + i * stride, out);
                }
            }
            Layout::Struct(members) => {
                for (offset, member) in &members.members {
                    member.collect(at + offset, out);
                }
            }
        }
    }

    /// Units (registers or bytes) up to the end of the last scalar, in the mode that the layout was
    /// made for.
    pub(crate) fn size(&self, mode: Mode) -> u64 {
        match self {
            Layout::Scalar(kind) => mode.scalar(*kind),
            Layout::Many { count, stride, of } => match count.unwrap_or(0) {
                0 => 0,
                n => stride.saturating_mul(n - 1).saturating_add(of.size(mode)),
            },
            Layout::Struct(members) => members.size,
        }
    }

    /// The offset and layout of the element or member that an index selects.
    pub(crate) fn part(&self, index: u64) -> Option<(u64, Rc<Layout>)> {
        match self {
            Layout::Scalar(_) => None,
            Layout::Many { stride, of, .. } => Some((index.checked_mul(*stride)?, of.clone())),
            Layout::Struct(members) => members.members.get(usize::try_from(index).ok()?).cloned(),
        }
    }

    /// Alignment in bytes, by the rules of C.
    pub(crate) fn alignment(&self) -> u64 {
        match self {
            Layout::Scalar(kind) => kind.bytes(),
            Layout::Many { of, .. } => of.alignment(),
            Layout::Struct(members) => members.alignment,
        }
    }
}

/// The placement of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// Consecutive, one unit each: registers.
    Leaves,
    /// Consecutive bytes, each scalar aligned to its size: memory that is not visible outside the
    /// shader.
    Tight,
    /// As decorated.
    Explicit,
}

impl Mode {
    fn scalar(self, kind: Kind) -> u64 {
        if self == Mode::Leaves { 1 } else { kind.bytes() }
    }
}

/// The matrix decorations of a structure member.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct MatrixLayout {
    stride: u64,
    row_major: bool,
}

/// The layouts of a module's types, with specialised array lengths.
pub(crate) struct Layouts<'a> {
    module: &'a Module,
    /// Values of integer constants by the word of their id, specialised.
    lengths: HashMap<u32, u64>,
    known: HashMap<(TypeId, Mode, MatrixLayout), Rc<Layout>>,
}

impl<'a> Layouts<'a> {
    pub(crate) fn new(module: &'a Module) -> Layouts<'a> {
        Layouts { module, lengths: HashMap::new(), known: HashMap::new() }
    }

    /// Sets the value of an integer constant, for array lengths.
    pub(crate) fn set_constant(&mut self, word: u32, value: u64) {
        self.lengths.insert(word, value);
    }

    /// The layout of a type. The error names the type without a layout.
    pub(crate) fn get(&mut self, ty: TypeId, mode: Mode) -> Result<Rc<Layout>, String> {
        self.within(ty, mode, MatrixLayout::default())
    }

    /// The kind of a scalar type.
    pub(crate) fn kind(&self, ty: TypeId) -> Result<Kind, String> {
        Ok(match *self.module.ty(ty) {
            Type::Bool => Kind::Bool,
            Type::Int { width: width @ (8 | 16 | 32 | 64), signed } => Kind::Int { width: width as u8, signed },
            Type::Float { width: 16, encoding: None } => Kind::Float(Fmt::F16),
            Type::Float { width: 32, encoding: None } => Kind::Float(Fmt::F32),
            Type::Float { width: 64, encoding: None } => Kind::Float(Fmt::F64),
            Type::Float { width: 16, encoding: Some(FPEncoding::BFloat16KHR) } => Kind::Float(Fmt::BF16),
            Type::Pointer { .. } => Kind::Pointer,
            Type::Image(_) | Type::Sampler | Type::SampledImage { .. } => Kind::Handle,
            Type::Float { width, encoding: Some(encoding) } => {
                return Err(format!("OpTypeFloat {width} {encoding:?}"));
            }
            _ => {
                let declared = self.module.type_definition(ty);
                return Err(declared.op.map_or_else(|| "an unknown type".into(), |op| format!("{op} of this kind")));
            }
        })
    }

    /// The layout of a type whose matrices are decorated like `matrix`.
    pub(crate) fn within(&mut self, ty: TypeId, mode: Mode, matrix: MatrixLayout) -> Result<Rc<Layout>, String> {
        if let Some(known) = self.known.get(&(ty, mode, matrix)) {
            return Ok(known.clone());
        }
        let layout = Rc::new(self.make(ty, mode, matrix)?);
        self.known.insert((ty, mode, matrix), layout.clone());
        Ok(layout)
    }

    fn make(&mut self, ty: TypeId, mode: Mode, matrix: MatrixLayout) -> Result<Layout, String> {
        let module = self.module;
        Ok(match module.ty(ty).clone() {
            Type::Vector { component, count } => {
                let kind = self.kind(component)?;
                let of = Rc::new(Layout::Scalar(kind));
                Layout::Many { count: Some(u64::from(count)), stride: mode.scalar(kind), of }
            }
            Type::Matrix { column, count } => {
                let Type::Vector { component, count: rows } = *module.ty(column) else {
                    return Err("a matrix without vectors".into());
                };
                let kind = self.kind(component)?;
                let scalar = mode.scalar(kind);
                let rows = u64::from(rows);
                let (across, down) = match mode {
                    Mode::Explicit if matrix.row_major => (scalar, matrix.stride),
                    Mode::Explicit if matrix.stride > 0 => (matrix.stride, scalar),
                    _ => (scalar * rows, scalar),
                };
                let of = Rc::new(Layout::Many { count: Some(rows), stride: down, of: Rc::new(Layout::Scalar(kind)) });
                Layout::Many { count: Some(u64::from(count)), stride: across, of }
            }
            Type::Array { element, length } => {
                let length = match self.lengths.get(&length) {
                    Some(length) => Some(*length),
                    None => module.constant_int(length).and_then(|n| u64::try_from(n).ok()),
                };
                let count = length.ok_or("an array whose length is no constant")?;
                // "It must be at least 1". No validation sees the specialised length.
                if count == 0 {
                    return Err("an array whose length is zero".into());
                }
                let of = self.within(element, mode, matrix)?;
                Layout::Many { count: Some(count), stride: self.stride(ty, &of, mode), of }
            }
            Type::RuntimeArray { element } => {
                let of = self.within(element, mode, matrix)?;
                Layout::Many { count: None, stride: self.stride(ty, &of, mode), of }
            }
            Type::Struct { .. } => self.structure(ty, mode)?,
            _ => Layout::Scalar(self.kind(ty)?),
        })
    }

    fn stride(&self, ty: TypeId, of: &Layout, mode: Mode) -> u64 {
        let tight = of.size(mode);
        match mode {
            Mode::Leaves => tight,
            Mode::Tight => tight.checked_next_multiple_of(of.alignment()).unwrap_or(u64::MAX),
            Mode::Explicit => {
                let word = self.module.type_definition(ty).result().unwrap_or_default();
                let stated = self.module.decorations(word).find(|d| d.decoration == Some(Decoration::ArrayStride));
                stated.and_then(|d| d.operands.first().copied()).map_or(tight, u64::from)
            }
        }
    }

    /// The matrix decorations of a member of a structure.
    pub(crate) fn matrix_in(&self, ty: TypeId, member: u32) -> MatrixLayout {
        let word = self.module.type_definition(ty).result().unwrap_or_default();
        let mut matrix = MatrixLayout::default();
        for d in self.module.decorations(word).filter(|d| d.member == Some(member)) {
            match d.decoration {
                Some(Decoration::MatrixStride) => matrix.stride = d.operands.first().copied().map_or(0, u64::from),
                Some(Decoration::RowMajor) => matrix.row_major = true,
                _ => {}
            }
        }
        matrix
    }

    fn structure(&mut self, ty: TypeId, mode: Mode) -> Result<Layout, String> {
        let module = self.module;
        let word = module.type_definition(ty).result().unwrap_or_default();
        let mut offsets = HashMap::new();
        for d in module.decorations(word).filter(|d| d.decoration == Some(Decoration::Offset)) {
            let Some(member) = d.member else { continue };
            offsets.insert(member, d.operands.first().copied().map_or(0, u64::from));
        }
        let mut members = Vec::new();
        let mut end = 0;
        for (i, &member) in module.members(ty).iter().enumerate() {
            let i = i as u32;
            let matrix = if mode == Mode::Explicit { self.matrix_in(ty, i) } else { MatrixLayout::default() };
            let of = self.within(member, mode, matrix)?;
            let at = match (mode, offsets.get(&i)) {
                (Mode::Explicit, Some(offset)) => *offset,
                (Mode::Leaves, _) => end,
                (Mode::Explicit | Mode::Tight, _) => {
                    u64::checked_next_multiple_of(end, of.alignment()).unwrap_or(u64::MAX)
                }
            };
            end = at.saturating_add(of.size(mode));
            members.push((at, of));
        }
        Ok(Layout::Struct(Members::new(members, mode)))
    }
}
