//! Instructions that compute values from values.

use super::types::{I32, Scalar, Type, U32};
use super::{Generator, Value};

/// Restriction on an operand of an extended instruction of floats.
#[derive(Clone, Copy)]
enum Shape {
    /// No restriction.
    Any,
    /// Not negative.
    Magnitude,
    /// Positive, and not small.
    Positive,
    /// At least 1.
    AboveOne,
    /// Between -1 and 1, without the ends.
    Unit,
    /// Between -8 and 8.
    Small,
    /// Between -3 and 3, since nothing is required of a sine beyond pi.
    Angle,
}

/// Extended instructions of one operand that every width has, without rounding.
const EXACT: [&str; 7] = ["FAbs", "FSign", "Floor", "Ceil", "Trunc", "RoundEven", "Round"];

/// Extended instructions of one operand that every width has.
const ROUNDED: [(&str, Shape); 3] =
    [("Fract", Shape::Any), ("Sqrt", Shape::Magnitude), ("InverseSqrt", Shape::Positive)];

/// Extended instructions of one operand of 16 or 32 bits.
const TRANSCENDENTAL: [(&str, Shape); 19] = [
    ("Radians", Shape::Any),
    ("Degrees", Shape::Any),
    ("Sin", Shape::Angle),
    ("Cos", Shape::Angle),
    ("Tan", Shape::Unit),
    ("Asin", Shape::Unit),
    ("Acos", Shape::Unit),
    ("Atan", Shape::Any),
    ("Sinh", Shape::Small),
    ("Cosh", Shape::Small),
    ("Tanh", Shape::Small),
    ("Asinh", Shape::Small),
    ("Acosh", Shape::AboveOne),
    ("Atanh", Shape::Unit),
    ("Exp", Shape::Small),
    ("Exp2", Shape::Small),
    ("Log", Shape::Positive),
    ("Log2", Shape::Positive),
    ("Exp2", Shape::Any),
];

impl Generator {
    /// Adds a random instruction, whose result becomes a value in scope. `whole` is set where all
    /// invocations are and every result can be stored, so that results may be undecided.
    pub(super) fn operation(&mut self, whole: bool) {
        self.is_finite = true;
        match self.rng.u32(..20) {
            0..=5 => self.integer(),
            6 | 7 => self.truth(),
            8 | 9 if self.features.floats => self.arithmetic(),
            10 | 11 if self.features.floats => self.with_finite(Self::function_of_reals),
            12 if self.features.matrices => self.matrix(),
            13 if self.features.floats && whole => self.undecided(),
            14 => self.selection(),
            15 => self.composite(),
            16 => self.conversion(),
            17 if self.features.floats => self.with_finite(|generator| generator.packing(whole)),
            18 if self.features.floats => self.with_finite(|generator| generator.split(whole)),
            _ => self.integer(),
        }
        self.is_finite = false;
    }

    /// Returns the operands as text, and the largest number of roundings among them.
    fn operands<const N: usize>(&mut self, ty: &Type) -> (String, u32) {
        let all: Vec<Value> = (0..N).map(|_| self.operand(ty)).collect();
        let roundings = all.iter().map(|value| value.roundings).max().unwrap_or(0);
        (all.iter().map(|value| value.id.as_str()).collect::<Vec<_>>().join(" "), roundings)
    }

    fn integer(&mut self) {
        let scalar = self.int();
        let ty = scalar.times(self.count());
        let (width, word) = (scalar.width(), scalar.width() == 32);
        let signed = matches!(scalar, Scalar::Int { signed: true, .. });
        let id = match self.rng.u32(..17) {
            0..=4 => {
                let opcode = self.pick(&["OpIAdd", "OpISub", "OpIMul", "OpBitwiseAnd", "OpBitwiseOr", "OpBitwiseXor"]);
                let (operands, _) = self.operands::<2>(&ty);
                self.op(&ty, opcode, operands)
            }
            5 => {
                let opcode = self.pick(&["OpSNegate", "OpNot"]);
                let (operands, _) = self.operands::<1>(&ty);
                self.op(&ty, opcode, operands)
            }
            6 | 7 => {
                let opcode = self.pick(&["OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic"]);
                let amount = if self.chance(2) { scalar } else { U32 };
                let amounts = amount.times(ty.components().map_or(1, |(_, count)| count));
                let mask = self.literal(&amounts, &(width.min(amount.width()) - 1).to_string());
                let (base, by) = (self.operand(&ty).id, self.operand(&amounts).id);
                let by = self.op(&amounts, "OpBitwiseAnd", format!("{by} {mask}"));
                self.op(&ty, opcode, format!("{base} {by}"))
            }
            8 | 9 => self.division(&ty, signed),
            10 if word => {
                let opcode = self.pick(&["OpBitReverse", "OpBitCount"]);
                let (operands, _) = self.operands::<1>(&ty);
                self.op(&ty, opcode, operands)
            }
            11 if word => {
                let part = Type::Scalar(U32);
                let mask = self.module.constant_u32(15);
                let mut limited = || {
                    let any = self.operand(&part).id;
                    self.op(&part, "OpBitwiseAnd", format!("{any} {mask}"))
                };
                let (offset, count) = (limited(), limited());
                let opcode = self.pick(&["OpBitFieldInsert", "OpBitFieldSExtract", "OpBitFieldUExtract"]);
                let (base, insert) = (self.operand(&ty).id, self.operand(&ty).id);
                let insert = if opcode == "OpBitFieldInsert" { format!("{insert} ") } else { String::new() };
                self.op(&ty, opcode, format!("{base} {insert}{offset} {count}"))
            }
            12 if word => {
                let name = self.pick(&["FindILsb", "FindSMsb", "FindUMsb"]);
                let (operands, _) = self.operands::<1>(&ty);
                self.extended(&ty, name, operands)
            }
            13 => {
                let name = self.pick(&["SAbs", "SSign"]);
                let (operands, _) = self.operands::<1>(&ty);
                self.extended(&ty, name, operands)
            }
            14 => {
                let name = self.pick(&["SMin", "UMin", "SMax", "UMax"]);
                let (operands, _) = self.operands::<2>(&ty);
                self.extended(&ty, name, operands)
            }
            15 => {
                let name = self.pick(&["SClamp", "UClamp"]);
                let (lo, hi) = (self.literal(&ty, "3"), self.literal(&ty, "100"));
                let (operands, _) = self.operands::<1>(&ty);
                self.extended(&ty, name, format!("{operands} {lo} {hi}"))
            }
            16 => return self.extended_arithmetic(),
            _ => {
                let (operands, _) = self.operands::<2>(&ty);
                self.op(&ty, "OpIMul", operands)
            }
        };
        self.push(id, ty, 0);
    }

    /// Adds a division whose divisor is neither 0 nor -1.
    fn division(&mut self, ty: &Type, signed: bool) -> String {
        let (dividend, divisor) = (self.operand(ty).id, self.operand(ty).id);
        let one = self.literal(ty, "1");
        if !signed && self.chance(2) {
            let divisor = self.op(ty, "OpBitwiseOr", format!("{divisor} {one}"));
            let opcode = self.pick(&["OpUDiv", "OpUMod"]);
            return self.op(ty, opcode, format!("{dividend} {divisor}"));
        }
        let mask = self.literal(ty, "63");
        let small = self.op(ty, "OpBitwiseAnd", format!("{divisor} {mask}"));
        let opcode = self.pick(&["OpSDiv", "OpSRem", "OpSMod"]);
        if opcode == "OpSDiv" && self.chance(2) {
            // -2 and below.
            let complement = self.op(ty, "OpNot", small);
            let divisor = self.op(ty, "OpISub", format!("{complement} {one}"));
            return self.op(ty, opcode, format!("{dividend} {divisor}"));
        }
        let divisor = self.op(ty, "OpBitwiseOr", format!("{small} {one}"));
        let dividend = if opcode == "OpSDiv" {
            dividend
        } else {
            // Vulkan leaves the remainder of a negative number undefined.
            self.op(ty, "OpShiftRightLogical", format!("{dividend} {one}"))
        };
        self.op(ty, opcode, format!("{dividend} {divisor}"))
    }

    /// Adds an instruction with a structure of two results.
    fn extended_arithmetic(&mut self) {
        let opcode = self.pick(&["OpIAddCarry", "OpISubBorrow", "OpUMulExtended", "OpSMulExtended"]);
        let signed = opcode == "OpSMulExtended" && self.chance(2);
        let part = Scalar::Int { width: 32, signed }.times(self.count());
        let pair = Type::Struct([part.clone(), part.clone()].into());
        let (operands, _) = self.operands::<2>(&part);
        let id = self.op(&pair, opcode, operands);
        for index in 0..2 {
            let result = self.op(&part, "OpCompositeExtract", format!("{id} {index}"));
            self.push(result, part.clone(), 0);
        }
        self.push(id, pair, 0);
    }

    fn truth(&mut self) {
        let count = self.count();
        let ty = Scalar::Bool.times(count);
        let id = match self.rng.u32(..8) {
            0..=4 => {
                let of = self.int().times(count);
                let opcode = self.pick(&[
                    "OpIEqual",
                    "OpINotEqual",
                    "OpULessThan",
                    "OpULessThanEqual",
                    "OpUGreaterThan",
                    "OpUGreaterThanEqual",
                    "OpSLessThan",
                    "OpSLessThanEqual",
                    "OpSGreaterThan",
                    "OpSGreaterThanEqual",
                ]);
                let (operands, _) = self.operands::<2>(&of);
                self.op(&ty, opcode, operands)
            }
            5 => {
                let opcode = self.pick(&["OpLogicalAnd", "OpLogicalOr", "OpLogicalEqual", "OpLogicalNotEqual"]);
                let (operands, _) = self.operands::<2>(&ty);
                self.op(&ty, opcode, operands)
            }
            6 if count > 1 => {
                let opcode = self.pick(&["OpAny", "OpAll"]);
                let (operands, _) = self.operands::<1>(&ty);
                let ty = Type::Scalar(Scalar::Bool);
                let id = self.op(&ty, opcode, operands);
                return self.push(id, ty, 0);
            }
            _ => {
                let (operands, _) = self.operands::<1>(&ty);
                self.op(&ty, "OpLogicalNot", operands)
            }
        };
        self.push(id, ty, 0);
    }

    /// Returns an operand of a shape, and its roundings. Now and then the shape is not enforced, so
    /// that operands outside the domain occur.
    fn shaped(&mut self, ty: &Type, shape: Shape) -> (String, u32) {
        let Value { id, roundings, .. } = self.with_finite(|generator| generator.operand(ty));
        if self.features.unshaped && self.chance(4) {
            return (id, roundings);
        }
        let clamped = |generator: &mut Generator, lo: &str, hi: &str| {
            let (lo, hi) = (generator.literal(ty, lo), generator.literal(ty, hi));
            generator.extended(ty, "NClamp", format!("{id} {lo} {hi}"))
        };
        match shape {
            Shape::Any => (id, roundings),
            Shape::Magnitude => (self.extended(ty, "FAbs", id), roundings),
            Shape::Positive => (clamped(self, "0.25", "1024.0"), roundings),
            Shape::AboveOne => (clamped(self, "1.0", "1024.0"), roundings),
            Shape::Unit => (clamped(self, "-0.875", "0.875"), roundings),
            Shape::Small => (clamped(self, "-8.0", "8.0"), roundings),
            Shape::Angle => (clamped(self, "-3.0", "3.0"), roundings),
        }
    }

    /// Decorates a result NoContraction now and then.
    fn contraction(&mut self, id: &str) {
        if self.features.no_contraction && self.chance(2) {
            self.module.decorate(format!("{id} NoContraction"));
        }
    }

    /// Adds an instruction of IEEE 754, which takes infinities and NaNs where they are preserved.
    fn arithmetic(&mut self) {
        let scalar = self.float();
        let ty = scalar.times(self.count());
        let (id, roundings) = match self.rng.u32(..6) {
            0..=3 => {
                let opcode = self.pick(&["OpFAdd", "OpFSub", "OpFMul"]);
                let (operands, roundings) = self.operands::<2>(&ty);
                let id = self.op(&ty, opcode, operands);
                self.contraction(&id);
                (id, roundings + 1)
            }
            4 => {
                let (dividend, first) = self.operands::<1>(&ty);
                let (divisor, second) = self.shaped(&ty, Shape::Positive);
                let id = self.op(&ty, "OpFDiv", format!("{dividend} {divisor}"));
                (id, first.max(second) + 1)
            }
            _ => {
                let (operands, roundings) = self.operands::<1>(&ty);
                (self.op(&ty, "OpFNegate", operands), roundings)
            }
        };
        self.push(id, ty, roundings);
    }

    /// Adds an extended instruction of floats.
    fn function_of_reals(&mut self) {
        let scalar = self.float();
        let ty = scalar.times(self.count());
        let small = scalar.width() < 64;
        let (id, roundings) = match self.rng.u32(..10) {
            0 | 1 => {
                let name = self.pick(&EXACT);
                let (operands, roundings) = self.operands::<1>(&ty);
                // A rounded operand may be on either side of an integer.
                (self.extended(&ty, name, operands), roundings + u32::from(roundings > 0))
            }
            2 | 3 => {
                let small = small && self.chance(2);
                let (name, shape) = if small { self.pick(&TRANSCENDENTAL) } else { self.pick(&ROUNDED) };
                let (operands, roundings) = self.shaped(&ty, shape);
                (self.extended(&ty, name, operands), roundings + 2)
            }
            4 => {
                let name = self.pick(&["FMin", "FMax", "NMin", "NMax", "Step"]);
                let (operands, roundings) = self.operands::<2>(&ty);
                (self.extended(&ty, name, operands), roundings + 1)
            }
            5 => {
                let name = self.pick(&["Fma", "FMix"]);
                let (operands, roundings) = self.operands::<3>(&ty);
                let id = self.extended(&ty, name, operands);
                (id, roundings + 2)
            }
            6 => {
                let name = self.pick(&["FClamp", "NClamp", "SmoothStep"]);
                let (lo, hi) = (self.literal(&ty, "-1.0"), self.literal(&ty, "2.0"));
                let (operands, roundings) = self.operands::<1>(&ty);
                let text = if name == "SmoothStep" {
                    format!("{lo} {hi} {operands}")
                } else {
                    format!("{operands} {lo} {hi}")
                };
                (self.extended(&ty, name, text), roundings + 1)
            }
            7 if small => {
                let (first, second) = (self.shaped(&ty, Shape::Any), self.shaped(&ty, Shape::Any));
                if self.chance(2) {
                    (self.extended(&ty, "Atan2", format!("{} {}", first.0, second.0)), first.1.max(second.1) + 2)
                } else {
                    let first = self.shaped(&ty, Shape::Positive);
                    let second = self.shaped(&ty, Shape::Unit);
                    (self.extended(&ty, "Pow", format!("{} {}", first.0, second.0)), first.1.max(second.1) + 2)
                }
            }
            8 => return self.geometry(scalar),
            _ => {
                let count = ty.components().map_or(1, |(_, count)| count);
                let width = if self.chance(4) { self.pick(&self.features.ints.clone()) } else { 32 };
                let exponent = self.signed_between(width, count, -8, 8);
                let (operands, roundings) = self.operands::<1>(&ty);
                (self.extended(&ty, "Ldexp", format!("{operands} {exponent}")), roundings + 1)
            }
        };
        self.push(id, ty, roundings);
    }

    /// Adds an instruction of vectors of floats.
    fn geometry(&mut self, scalar: Scalar) {
        let count = self.rng.u32(2..=4);
        let (vector, single) = (scalar.times(count), Type::Scalar(scalar));
        let (first, second) = (self.operand(&vector), self.operand(&vector));
        let roundings = first.roundings.max(second.roundings) + 2;
        let both = format!("{} {}", first.id, second.id);
        let (id, ty) = match self.rng.u32(..8) {
            0 | 1 => (self.op(&single, "OpDot", both), single),
            2 => (self.extended(&single, "Length", first.id), single),
            3 => (self.extended(&single, "Distance", both), single),
            4 if count == 3 => (self.extended(&vector, "Cross", both), vector),
            5 => (self.extended(&vector, "Reflect", both), vector),
            6 => {
                let scale = self.operand(&single);
                let id = self.op(&vector, "OpVectorTimesScalar", format!("{} {}", first.id, scale.id));
                self.contraction(&id);
                return self.push(id, vector, roundings.max(scale.roundings + 1));
            }
            _ => {
                let unit = self.shaped(&vector, Shape::Positive).0;
                (self.extended(&vector, "Normalize", unit), vector)
            }
        };
        self.push(id, ty, roundings);
    }

    fn matrix(&mut self) {
        let scalar = self.float();
        let width = scalar.width();
        let (columns, rows, other) = (self.rng.u32(2..=4), self.rng.u32(2..=4), self.rng.u32(2..=4));
        let ty = Type::Matrix { width, columns, rows };
        let matrix = self.operand(&ty);
        let (opcode, ty, text, roundings) = match self.rng.u32(..7) {
            0 => {
                let scale = self.operand(&Type::Scalar(scalar));
                ("OpMatrixTimesScalar", ty, format!("{} {}", matrix.id, scale.id), scale.roundings + 1)
            }
            1 => {
                let vector = self.operand(&scalar.times(rows));
                let text = format!("{} {}", vector.id, matrix.id);
                ("OpVectorTimesMatrix", scalar.times(columns), text, vector.roundings + 2)
            }
            2 => {
                let vector = self.operand(&scalar.times(columns));
                let text = format!("{} {}", matrix.id, vector.id);
                ("OpMatrixTimesVector", scalar.times(rows), text, vector.roundings + 2)
            }
            3 => {
                let right = self.operand(&Type::Matrix { width, columns: other, rows: columns });
                let text = format!("{} {}", matrix.id, right.id);
                ("OpMatrixTimesMatrix", Type::Matrix { width, columns: other, rows }, text, right.roundings + 2)
            }
            4 => {
                let (left, right) = (self.operand(&scalar.times(rows)), self.operand(&scalar.times(columns)));
                let text = format!("{} {}", left.id, right.id);
                ("OpOuterProduct", ty, text, left.roundings.max(right.roundings) + 1)
            }
            // No precision is stated, so any result is permitted.
            5 if self.chance(8) => {
                let of = self.operand(&Type::Matrix { width, columns, rows: columns });
                let single = Type::Scalar(scalar);
                let id = self.extended(&single, "Determinant", of.id);
                return self.push(id, single, of.roundings + 3);
            }
            _ => ("OpTranspose", Type::Matrix { width, columns: rows, rows: columns }, matrix.id, 0),
        };
        let id = self.op(&ty, opcode, text);
        self.push(id, ty, roundings.max(matrix.roundings));
    }

    /// Adds an instruction that turns floats into integers or booleans, whose result may be undecided.
    fn undecided(&mut self) {
        let scalar = self.float();
        let count = self.count();
        let of = scalar.times(count);
        let (id, ty) = match self.rng.u32(..4) {
            0 => {
                let truth = Scalar::Bool.times(count);
                let opcode = self.pick(&["OpIsNan", "OpIsInf"]);
                let (operands, _) = self.operands::<1>(&of);
                (self.op(&truth, opcode, operands), truth)
            }
            1 | 2 => {
                let truth = Scalar::Bool.times(count);
                let order = self.pick(&["Ord", "Unord"]);
                let relation =
                    self.pick(&["Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual"]);
                let (first, second) = (self.exact_operand(&of), self.exact_operand(&of));
                (self.op(&truth, &format!("OpF{order}{relation}"), format!("{} {}", first.id, second.id)), truth)
            }
            _ => {
                let Scalar::Int { width, signed } = self.int() else { return };
                let whole = Scalar::Int { width, signed }.times(count);
                let value = self.with_finite(|generator| generator.exact_operand(&of)).id;
                let (lo, hi) = (self.literal(&of, if signed { "-100.0" } else { "0.0" }), self.literal(&of, "100.0"));
                let small = self.extended(&of, "NClamp", format!("{value} {lo} {hi}"));
                let opcode = if signed { "OpConvertFToS" } else { "OpConvertFToU" };
                (self.op(&whole, opcode, small), whole)
            }
        };
        self.results.push(Value { id, ty, roundings: 0 });
    }

    fn selection(&mut self) {
        let ty = self.any_type(true);
        let (first, second) = (self.operand(&ty), self.operand(&ty));
        let condition = match ty.components() {
            // Before SPIR-V 1.4 a vector needs a condition for each component.
            Some((_, count)) if count == 1 || !self.features.new || self.chance(2) => Scalar::Bool.times(count),
            Some(_) => Type::Scalar(Scalar::Bool),
            None if self.features.new => Type::Scalar(Scalar::Bool),
            None => return self.composite(),
        };
        let condition = self.exact_operand(&condition).id;
        let id = self.op(&ty, "OpSelect", format!("{condition} {} {}", first.id, second.id));
        self.push(id, ty, first.roundings.max(second.roundings));
    }

    /// Adds an instruction that moves the parts of composites.
    fn composite(&mut self) {
        let ty = self.any_type(true);
        let value = self.operand(&ty);
        if let (Some((scalar, count)), true) = (ty.components(), self.chance(2))
            && count > 1
        {
            return self.vector_moves(&value, scalar, count);
        }
        if ty.constituents().is_empty() {
            let id = self.op(&ty, "OpCopyObject", value.id);
            return self.push(id, ty, value.roundings);
        }
        let (mut part, mut path) = (ty.clone(), Vec::new());
        while !part.constituents().is_empty() && (path.is_empty() || self.chance(2)) {
            let parts = part.constituents();
            let index = self.rng.usize(..parts.len());
            path.push(index.to_string());
            part = parts[index].clone();
        }
        let path = path.join(" ");
        if self.chance(2) {
            let id = self.op(&part, "OpCompositeExtract", format!("{} {path}", value.id));
            self.push(id, part, value.roundings);
        } else {
            let insert = self.operand(&part);
            let id = self.op(&ty, "OpCompositeInsert", format!("{} {} {path}", insert.id, value.id));
            self.push(id, ty, value.roundings.max(insert.roundings));
        }
    }

    fn vector_moves(&mut self, value: &Value, scalar: Scalar, count: u32) {
        let single = Type::Scalar(scalar);
        match self.rng.u32(..3) {
            0 => {
                let index = self.index_below(count);
                let id = self.op(&single, "OpVectorExtractDynamic", format!("{} {index}", value.id));
                self.push(id, single, value.roundings);
            }
            1 => {
                let insert = self.operand(&single);
                let index = self.index_below(count);
                let id = self.op(&value.ty, "OpVectorInsertDynamic", format!("{} {} {index}", value.id, insert.id));
                self.push(id, value.ty.clone(), value.roundings.max(insert.roundings));
            }
            _ => {
                let others = self.rng.u32(2..=4);
                let other = self.operand(&scalar.times(others));
                let result = scalar.times(self.rng.u32(2..=4));
                let size = result.size();
                let parts: Vec<String> = (0..size).map(|_| self.rng.u32(..count + others).to_string()).collect();
                let id = self.op(&result, "OpVectorShuffle", format!("{} {} {}", value.id, other.id, parts.join(" ")));
                self.push(id, result, value.roundings.max(other.roundings));
            }
        }
    }

    /// Adds a conversion between numbers of different widths or kinds.
    fn conversion(&mut self) {
        let count = self.count();
        let (from, to) = (self.number(), self.number());
        // A conversion takes infinities and NaNs if both widths preserve them, a quantization never does.
        let of = from.times(count);
        let value = if from == to || !self.preserves(from) || !self.preserves(to) {
            self.with_finite(|generator| generator.operand(&of))
        } else {
            self.operand(&of)
        };
        let ty = to.times(count);
        let (opcode, roundings) = match (from, to) {
            (Scalar::Int { width: a, .. }, Scalar::Int { width: b, signed }) if a != b => {
                (if !signed && self.chance(2) { "OpUConvert" } else { "OpSConvert" }, 0)
            }
            (Scalar::Int { .. }, Scalar::Float(_)) => (self.pick(&["OpConvertSToF", "OpConvertUToF"]), 1),
            (Scalar::Float(a), Scalar::Float(b)) if a != b => ("OpFConvert", value.roundings + 1),
            (Scalar::Float(32), Scalar::Float(_)) => ("OpQuantizeToF16", value.roundings + 1),
            (Scalar::Int { .. }, Scalar::Int { .. }) if from != to => ("OpBitcast", 0),
            _ => return self.integer(),
        };
        let id = self.op(&ty, opcode, value.id);
        self.push(id, ty, roundings);
    }

    /// Adds an instruction that packs floats into a word, or unpacks a word.
    fn packing(&mut self, whole: bool) {
        let word = Type::Scalar(U32);
        let f32 = Scalar::Float(32);
        if whole && self.chance(2) {
            let (name, count) = self.pick(&[
                ("PackSnorm4x8", 4),
                ("PackUnorm4x8", 4),
                ("PackSnorm2x16", 2),
                ("PackUnorm2x16", 2),
                ("PackHalf2x16", 2),
            ]);
            let value = self.exact_operand(&f32.times(count)).id;
            let id = self.extended(&word, name, value);
            return self.results.push(Value { id, ty: word, roundings: 0 });
        }
        let (name, count, roundings) = self.pick(&[
            ("UnpackSnorm4x8", 4, 1),
            ("UnpackUnorm4x8", 4, 1),
            ("UnpackSnorm2x16", 2, 1),
            ("UnpackUnorm2x16", 2, 1),
            ("UnpackHalf2x16", 2, 0),
        ]);
        let mut value = self.operand(&word).id;
        if name == "UnpackHalf2x16" {
            // Without the highest bit of its exponent, a half is neither an infinity nor a NaN.
            let mask = self.module.constant_u32(0xbfff_bfff);
            value = self.op(&word, "OpBitwiseAnd", format!("{value} {mask}"));
        }
        let id = self.extended(&f32.times(count), name, value);
        // Half denormals may be flushed.
        self.push(id, f32.times(count), roundings.max(1));
    }

    /// Adds an instruction that splits a float: `FrexpStruct` or `ModfStruct`.
    fn split(&mut self, whole: bool) {
        let count = self.count();
        let of = self.float().times(count);
        // The exponent of an infinity or a NaN is undefined.
        let is_finite = !of.has(&|scalar| self.preserves(scalar));
        let value = if is_finite && self.chance(2) {
            self.exact_operand(&of)
        } else {
            let (id, roundings) = self.shaped(&of, Shape::Small);
            Value { id, ty: of.clone(), roundings }
        };
        if self.chance(2) {
            let pair = Type::Struct([of.clone(), of.clone()].into());
            let id = self.extended(&pair, "ModfStruct", value.id);
            for index in 0..2 {
                let part = self.op(&of, "OpCompositeExtract", format!("{id} {index}"));
                self.push(part, of.clone(), value.roundings + 1);
            }
        } else {
            let exponent = I32.times(count);
            let pair = Type::Struct([of.clone(), exponent.clone()].into());
            let id = self.extended(&pair, "FrexpStruct", value.id);
            let part = self.op(&of, "OpCompositeExtract", format!("{id} 0"));
            self.push(part, of, value.roundings + 1);
            if whole {
                let id = self.op(&exponent, "OpCompositeExtract", format!("{id} 1"));
                self.results.push(Value { id, ty: exponent, roundings: 0 });
            }
        }
    }
}
