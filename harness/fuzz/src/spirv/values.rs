//! Values in scope, constants, and operands.

use super::types::{Scalar, Type, U32};
use super::{Generator, Value};

/// Largest number of roundings in a row on the way to a value that becomes an operand again.
const MAX_ROUNDINGS: u32 = 4;

impl Generator {
    /// Adds an instruction with a result, and returns its id.
    pub(super) fn op(&mut self, ty: &Type, opcode: &str, operands: impl AsRef<str>) -> String {
        let (id, ty) = (self.module.label(), self.type_id(ty));
        self.line(&format!("{id} = {opcode} {ty} {}", operands.as_ref()));
        id
    }

    /// Adds an extended instruction, and returns its id.
    pub(super) fn extended(&mut self, ty: &Type, name: &str, operands: impl AsRef<str>) -> String {
        let set = self.module.glsl();
        self.op(ty, "OpExtInst", format!("{set} {name} {}", operands.as_ref()))
    }

    /// Adds a value to the scope.
    pub(super) fn push(&mut self, id: String, ty: Type, roundings: u32) {
        if !self.is_finite {
            self.note_nonfinite(&id, &ty);
        }
        self.scope.push(Value { id, ty, roundings });
    }

    /// Returns true for a float whose infinities and NaNs are preserved.
    pub(super) fn preserves(&self, scalar: Scalar) -> bool {
        matches!(scalar, Scalar::Float(width) if self.preserved.contains(&width))
    }

    /// Notes a value that may be an infinity or a NaN, if its type preserves them.
    pub(super) fn note_nonfinite(&mut self, id: &str, ty: &Type) {
        if ty.has(&|scalar| self.preserves(scalar)) {
            self.nonfinite.insert(id.to_owned());
        }
    }

    /// Chooses operands for an instruction of which nothing is required if one is an infinity or a NaN.
    /// Now and then it gets one nevertheless.
    pub(super) fn with_finite<T>(&mut self, choose: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.needs_finite, !self.features.unshaped);
        let chosen = choose(self);
        self.needs_finite = outer;
        chosen
    }

    /// Returns a value of a type: one in scope, a constant, or one that is made for it.
    pub(super) fn operand(&mut self, ty: &Type) -> Value {
        self.operand_that(ty, &|_| true)
    }

    /// Returns a value of a type that is exact, so that conditions may depend on it.
    pub(super) fn exact_operand(&mut self, ty: &Type) -> Value {
        self.operand_that(ty, &|value| value.roundings == 0)
    }

    /// Returns an exact value of a type, often one that may be an infinity or a NaN.
    pub(super) fn open_operand(&mut self, ty: &Type) -> Value {
        let is_open = |value: &&Value| value.ty == *ty && value.roundings == 0 && self.nonfinite.contains(&value.id);
        let open: Vec<Value> = self.scope.iter().filter(is_open).cloned().collect();
        if open.is_empty() || self.folds || self.chance(2) {
            return self.exact_operand(ty);
        }
        open[self.rng.usize(..open.len())].clone()
    }

    fn operand_that(&mut self, ty: &Type, is: &dyn Fn(&Value) -> bool) -> Value {
        if self.folds {
            return Value { id: self.plain_constant(ty), ty: ty.clone(), roundings: 0 };
        }
        let is_open = |value: &Value| self.needs_finite && self.nonfinite.contains(&value.id);
        let fits = |value: &&Value| value.ty == *ty && value.roundings < MAX_ROUNDINGS && is(value) && !is_open(value);
        let fitting: Vec<Value> = self.scope.iter().filter(fits).cloned().collect();
        if !fitting.is_empty() && !self.chance(4) {
            // Later values more often, so that chains grow.
            let (a, b) = (self.rng.usize(..fitting.len()), self.rng.usize(..fitting.len()));
            let chosen = fitting[a.max(b)].clone();
            self.is_finite &= !self.nonfinite.contains(&chosen.id);
            return chosen;
        }
        if self.chance(3) {
            return self.constant(ty);
        }
        self.made(ty)
    }

    /// Makes a value of a type from values of other types.
    fn made(&mut self, ty: &Type) -> Value {
        let Type::Scalar(scalar) = *ty else {
            let parts: Vec<Value> = ty.constituents().iter().map(|part| self.operand(part)).collect();
            let ids: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
            let roundings = parts.iter().map(|part| part.roundings).max().unwrap_or(0);
            let id = self.op(ty, "OpCompositeConstruct", ids.join(" "));
            return Value { id, ty: ty.clone(), roundings };
        };
        let ints: Vec<(Value, u32)> = self
            .scope
            .iter()
            .filter_map(|value| match value.ty {
                Type::Scalar(Scalar::Int { width, .. }) => Some((value.clone(), width)),
                _ => None,
            })
            .collect();
        if ints.is_empty() {
            return self.constant(ty);
        }
        let (from, from_width) = ints[self.rng.usize(..ints.len())].clone();
        let id = match scalar {
            Scalar::Bool => {
                let other = self.constant(&from.ty);
                let opcode =
                    self.pick(&["OpIEqual", "OpINotEqual", "OpULessThan", "OpSLessThan", "OpUGreaterThanEqual"]);
                self.op(ty, opcode, format!("{} {}", from.id, other.id))
            }
            Scalar::Int { .. } if from.ty == *ty => from.id,
            Scalar::Int { width, .. } if width == from_width => self.op(ty, "OpBitcast", from.id),
            Scalar::Int { signed: false, .. } if self.chance(2) => self.op(ty, "OpUConvert", from.id),
            Scalar::Int { .. } => self.op(ty, "OpSConvert", from.id),
            Scalar::Float(_) => {
                // Small numbers, whose sums and products stay exact for a while.
                let mask = self.literal(&from.ty, "63");
                let small = self.op(&from.ty, "OpBitwiseAnd", format!("{} {mask}", from.id));
                let opcode = self.pick(&["OpConvertUToF", "OpConvertSToF"]);
                self.op(ty, opcode, small)
            }
        };
        Value { id, ty: ty.clone(), roundings: 0 }
    }

    /// Returns a constant of a type. A scalar may be a specialisation constant.
    pub(super) fn constant(&mut self, ty: &Type) -> Value {
        if let (Type::Scalar(scalar), true) = (ty, self.features.specialisation && self.chance(8)) {
            let (number, id) = (self.specialisations, self.type_id(ty));
            self.specialisations += 1;
            let id = match scalar {
                Scalar::Bool => self.module.declare_new(&format!("OpSpecConstantTrue {id}")),
                _ => {
                    let value = self.number_text(*scalar);
                    self.module.declare_new(&format!("OpSpecConstant {id} {value}"))
                }
            };
            self.module.decorate(format!("{id} SpecId {number}"));
            return Value { id, ty: ty.clone(), roundings: 0 };
        }
        Value { id: self.plain_constant(ty), ty: ty.clone(), roundings: 0 }
    }

    /// Returns the id of a constant that is not a specialisation constant.
    pub(super) fn plain_constant(&mut self, ty: &Type) -> String {
        let id = self.type_id(ty);
        if self.chance(8) {
            return self.module.declare(&format!("OpConstantNull {id}"));
        }
        match ty {
            Type::Scalar(Scalar::Bool) => {
                let value = self.pick(&["OpConstantTrue", "OpConstantFalse"]);
                self.module.declare(&format!("{value} {id}"))
            }
            Type::Scalar(scalar) => {
                let value = self.number_text(*scalar);
                self.module.constant(&id, value)
            }
            _ => {
                let parts: Vec<String> = ty.constituents().iter().map(|part| self.plain_constant(part)).collect();
                self.module.declare(&format!("OpConstantComposite {id} {}", parts.join(" ")))
            }
        }
    }

    /// Returns the id of a constant with this number in each component.
    pub(super) fn literal(&mut self, ty: &Type, number: &str) -> String {
        let id = self.type_id(ty);
        match ty {
            Type::Vector(scalar, count) => {
                let part = self.literal(&Type::Scalar(*scalar), number);
                let parts = vec![part; *count as usize];
                self.module.declare(&format!("OpConstantComposite {id} {}", parts.join(" ")))
            }
            _ => self.module.constant(&id, number),
        }
    }

    /// Returns a random number as text.
    fn number_text(&mut self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => "0".to_owned(),
            Scalar::Int { width, signed } => {
                let any = self.rng.u64(..);
                let few =
                    self.pick(&[0, 1, 2, 3, 5, 7, 15, 31, 100, 127, 128, 255, 256, 1000, 0x7fff, 0xffff, any >> 40]);
                let word =
                    self.pick(&[few, few, 1 << (width - 1), (1 << (width - 1)) - 1, u64::MAX, u64::MAX - 1, any]);
                let word = word & (u64::MAX >> (64 - width));
                if signed {
                    format!("{}", (word << (64 - width)).cast_signed() >> (64 - width))
                } else {
                    word.to_string()
                }
            }
            Scalar::Float(width) => {
                let common = ["0.0", "-0.0", "0.5", "1.0", "-1.0", "1.5", "2.0", "-2.0", "3.0", "0.1", "-1.25", "10.0"];
                let wide = ["1e-10", "16777216.0", "-100000.0", "0.33333334"];
                if width > 16 && self.chance(5) { self.pick(&wide).to_owned() } else { self.pick(&common).to_owned() }
            }
        }
    }

    /// Returns a 32-bit unsigned operand below a bound.
    pub(super) fn index_below(&mut self, bound: u32) -> String {
        let u32 = Type::Scalar(U32);
        if self.chance(3) {
            let constant = self.rng.u32(..bound);
            return self.module.constant_u32(constant);
        }
        let any = self.operand(&u32).id;
        if bound.is_power_of_two() {
            let mask = self.module.constant_u32(bound - 1);
            self.op(&u32, "OpBitwiseAnd", format!("{any} {mask}"))
        } else {
            let bound = self.module.constant_u32(bound);
            self.op(&u32, "OpUMod", format!("{any} {bound}"))
        }
    }

    /// Returns a signed operand between these bounds.
    pub(super) fn signed_between(&mut self, width: u32, ty_count: u32, lo: i32, hi: i32) -> String {
        let ty = Scalar::Int { width, signed: true }.times(ty_count);
        let any = self.operand(&ty).id;
        let (lo, hi) = (self.literal(&ty, &lo.to_string()), self.literal(&ty, &hi.to_string()));
        self.extended(&ty, "SClamp", format!("{any} {lo} {hi}"))
    }
}
