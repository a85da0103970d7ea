//! Comparisons of each instruction with the table: the types, shapes, environments and operands.

use crate::second_method::{
    compare::{MODES, PreparedCall, Tally, modes, share, stride},
    samples::{Random, known_values},
};
use assay_float::{BF16, F16, F32, F64, Format};
use assay_precision::{
    Call,
    Op::{self, *},
    Scalar, Shape,
};

/// Test that makes a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    HalvesOfDiscreteInstructions,
    HalvesOfFunctionsWithAStatedBound,
    HalvesOfShortFormulas,
    HalvesOfHyperbolicFunctions,
    HalvesOfInverseHyperbolicFunctions,
    HalvesOfLongFormulas,
    Integers,
    PackedWords,
    SamplesOfArithmetic,
    SamplesOfConversions,
    SamplesAcrossInvocations,
    SamplesOfFunctionsAndFormulasOfScalars,
    SamplesOfVectorsAndMatrices,
    UnstatedPrecision,
}

/// Comparison of an instruction on some types, in some environments, on some operands.
pub(crate) struct Comparison {
    pub(crate) test: Test,
    pub(crate) scalars: Vec<Scalar>,
    /// Types that a conversion converts from.
    pub(crate) sources: Vec<Scalar>,
    pub(crate) shape: Shape,
    pub(crate) modes: &'static [&'static [&'static str]],
    pub(crate) operands: Operands,
}

/// Operands of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operands {
    /// All 16-bit values of the only operand. A word has them in both parts, so that each byte has
    /// every value too. A plain run takes every n-th, another selection in each environment.
    All(usize),
    /// Pairs of special values if there are at most two operands, and this many random operands of
    /// several kinds; fewer of both in a plain run.
    Samples(usize),
}

impl Test {
    fn all(self, scalar: Scalar, every: usize) -> Comparison {
        Comparison { operands: Operands::All(every), ..self.samples(&[scalar], 0) }
    }

    fn samples(self, scalars: &[Scalar], count: usize) -> Comparison {
        Comparison {
            test: self,
            scalars: scalars.to_vec(),
            sources: Vec::new(),
            shape: Shape::Scalar,
            modes: MODES,
            operands: Operands::Samples(count),
        }
    }

    fn floats(self, formats: &[Format], count: usize) -> Comparison {
        self.samples(&floats(formats), count)
    }
}

impl Comparison {
    fn shaped(self, shape: Shape) -> Comparison {
        Comparison { shape, ..self }
    }

    /// The comparison of conversions from these types.
    fn converting(self, sources: &[Scalar]) -> Comparison {
        Comparison { sources: sources.to_vec(), ..self }
    }

    /// The comparison in the first `count` environments only.
    fn in_modes(self, count: usize) -> Comparison {
        Comparison { modes: &MODES[..count], ..self }
    }

    /// Compares an instruction on one of the types, converted from a type if it is a conversion.
    ///
    /// # Panics
    /// Panics if there is a difference.
    pub(crate) fn make(&self, op: Op, scalar: Scalar, from: Option<Scalar>) {
        let mut tally = Tally::default();
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (op as u64) << 32 ^ u64::from(scalar.width()));
        for (k, names) in self.modes.iter().enumerate() {
            let call = PreparedCall::new(op, scalar, self.shape, from, modes(names));
            match self.operands {
                Operands::All(every) => compare_all(&mut tally, &call, k, stride(every)),
                Operands::Samples(count) => compare_samples(&mut tally, &call, &mut random, k, share(count)),
            }
        }
        let is_required = tally.required > 0;
        tally.done(&format!("{op} {scalar} {}", self.shape));
        assert_eq!(is_required, self.test != Test::UnstatedPrecision, "{op}: something is required");
    }
}

/// Compares all 16-bit values of the operand from the `first`-th on, and always the ends and special
/// values of halves.
fn compare_all(tally: &mut Tally, prepared: &PreparedCall, first: usize, step: usize) {
    let is_word = prepared.call.operand_slots().next().is_some_and(|slot| slot.width() == 32);
    // An odd factor permutes the 16-bit values.
    let operand = |x: u64| if is_word { x | ((x * 0x9e37 + 1) & 0xffff) << 16 } else { x };
    let some = (first % step..0x1_0000).step_by(step).map(|x| x as u64);
    let halves = [0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00];
    let halves = halves.into_iter().flat_map(|x| [x, x ^ 0x8000]).filter(|_| step > 1);
    some.chain(halves).for_each(|x| tally.compare(prepared, &[operand(x)]));
}

/// Compares pairs of known values from the `first`-th on, if there are at most two operands, and
/// `count` random operands.
fn compare_samples(tally: &mut Tally, prepared: &PreparedCall, random: &mut Random, first: usize, count: usize) {
    let slots: Vec<Scalar> = prepared.call.operand_slots().collect();
    let known: Vec<Vec<u64>> = slots.iter().map(|&slot| known_values(slot)).collect();
    let mut compare = |x: &[u64]| match prepared.call.op {
        Op::SmoothStep => tally.compare_readings(prepared, x),
        _ => tally.compare(prepared, x),
    };
    // A plain run takes a part of the known values, another one in each environment.
    if let [only] = &known[..] {
        let step = stride(2);
        only.iter().skip(first % step).step_by(step).for_each(|&x| compare(&[x]));
    }
    if let [a, b] = &known[..] {
        let step = stride(11.max(a.len() * b.len() / 4_000));
        let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| [x, y]));
        pairs.skip(first % step).step_by(step).for_each(|pair| compare(&pair));
    }
    for _ in 0..count {
        let operands = slots.iter().zip(&known).map(|(&slot, known)| random.operand(slot, known));
        let mut operands: Vec<u64> = operands.collect();
        compare(&operands);
        // An exchange asks for equal integers.
        if let ([first, _, third], Scalar::Int { .. }) = (&mut operands[..], slots[0]) {
            *third = *first;
            compare(&operands);
        }
    }
}

fn floats(formats: &[Format]) -> Vec<Scalar> {
    formats.iter().map(|&f| Scalar::Float(f)).collect()
}

const IEEE: &[Format] = &[F16, F32, F64];
const PAIR: Shape = Shape::Vector(2);

/// Comparisons of an instruction; none is left without.
pub(crate) fn comparisons(op: Op) -> Vec<Comparison> {
    // Types of the table's row.
    let types = Call::scalars(op);
    let half = Scalar::Float(F16);
    let functions = Test::SamplesOfFunctionsAndFormulasOfScalars;
    let vectors = Test::SamplesOfVectorsAndMatrices;
    match op {
        FNegate | FAbs | FSign | Round | RoundEven | Trunc | Floor | Ceil | Fract | Modf | ModfStruct | Frexp
        | FrexpStruct | IsNan | IsInf => {
            vec![Test::HalvesOfDiscreteInstructions.all(half, 127), Test::SamplesOfArithmetic.floats(&[F32, F64], 60)]
        }
        Exp | Exp2 | Log | Log2 | Sin | Cos | Atan => {
            vec![Test::HalvesOfFunctionsWithAStatedBound.all(half, 997), functions.floats(&[F32], 60)]
        }
        InverseSqrt => {
            vec![Test::HalvesOfFunctionsWithAStatedBound.all(half, 997), functions.floats(&[F32, F64], 60)]
        }
        Radians | Degrees => vec![Test::HalvesOfShortFormulas.all(half, 509), functions.floats(&[F32], 20)],
        Sqrt => vec![Test::HalvesOfShortFormulas.all(half, 509), functions.floats(&[F32, F64], 20)],
        Length | Normalize => {
            vec![Test::HalvesOfShortFormulas.all(half, 509), vectors.floats(&[F16, F32], 20).shaped(PAIR).in_modes(4)]
        }
        Sinh | Cosh => {
            vec![Test::HalvesOfHyperbolicFunctions.all(half, 16381), functions.floats(&[F32], 20).in_modes(4)]
        }
        Asinh | Acosh | Atanh => {
            vec![Test::HalvesOfInverseHyperbolicFunctions.all(half, 16381), functions.floats(&[F32], 20).in_modes(4)]
        }
        Tan => vec![functions.floats(&[F32], 20).in_modes(4)],
        Asin | Acos | Tanh => {
            vec![Test::HalvesOfLongFormulas.all(half, 16381), functions.floats(&[F32], 20).in_modes(4)]
        }
        FRem | FMod | FMix => vec![functions.floats(IEEE, 20).in_modes(8)],
        SmoothStep => vec![functions.floats(&[F16, F32], 20)],
        Atan2 => vec![functions.floats(&[F16, F32], 20).in_modes(4)],
        Pow => vec![functions.floats(&[F16, F32], 6).in_modes(2)],
        FAdd
        | FSub
        | FMul
        | FDiv
        | FmaKHR
        | Fma
        | FMin
        | FMax
        | NMin
        | NMax
        | FClamp
        | NClamp
        | Step
        | FOrdEqual
        | FUnordEqual
        | FOrdNotEqual
        | FUnordNotEqual
        | FOrdLessThan
        | FUnordLessThan
        | FOrdGreaterThan
        | FUnordGreaterThan
        | FOrdLessThanEqual
        | FUnordLessThanEqual
        | FOrdGreaterThanEqual
        | FUnordGreaterThanEqual => vec![Test::SamplesOfArithmetic.floats(IEEE, 60)],
        DPdx | DPdy | DPdxFine | DPdyFine | DPdxCoarse | DPdyCoarse | Fwidth | FwidthFine | FwidthCoarse => {
            vec![Test::SamplesOfArithmetic.floats(&[F32], 200)]
        }
        GroupNonUniformAllEqual
        | GroupNonUniformFMin
        | GroupNonUniformFMax
        | AtomicFAddEXT
        | AtomicFMinEXT
        | AtomicFMaxEXT
        | SubgroupAllEqualKHR => vec![Test::SamplesAcrossInvocations.samples(types, 60)],
        VectorTimesScalar => vec![vectors.floats(IEEE, 20).shaped(Shape::Vector(3))],
        MatrixTimesScalar | MatrixTimesVector | VectorTimesMatrix | MatrixTimesMatrix | OuterProduct => {
            vec![vectors.floats(&[F16, F32], 10).shaped(Shape::Matrix { columns: 2, rows: 3 })]
        }
        Dot | Distance | Reflect | FaceForward => vec![vectors.floats(&[F16, F32], 20).shaped(PAIR)],
        Refract => vec![vectors.floats(&[F16, F32], 6).shaped(PAIR).in_modes(8)],
        Cross => vec![vectors.floats(&[F16, F32], 20).shaped(Shape::Vector(3))],
        FConvert => {
            let formats = &[F16, BF16, F32, F64];
            vec![Test::SamplesOfConversions.floats(formats, 100).converting(&floats(formats))]
        }
        ConvertSToF | ConvertUToF => {
            let to = Test::SamplesOfConversions.floats(&[F16, BF16, F32, F64], 20);
            vec![to.converting(Call::sources(op)).in_modes(5)]
        }
        ConvertFToS | ConvertFToU => {
            vec![Test::SamplesOfConversions.samples(types, 20).converting(Call::sources(op)).in_modes(5)]
        }
        QuantizeToF16 => vec![Test::SamplesOfConversions.floats(&[F32], 100)],
        Ldexp => vec![Test::SamplesOfConversions.floats(IEEE, 60).in_modes(5)],
        SAbs | SSign => {
            let short = Scalar::Int { width: 16, signed: true };
            vec![Test::Integers.all(short, 19), Test::Integers.samples(types, 60)]
        }
        UMin
        | SMin
        | UMax
        | SMax
        | UClamp
        | SClamp
        | FindILsb
        | FindSMsb
        | FindUMsb
        | AtomicCompareExchange
        | AtomicCompareExchangeWeak => vec![Test::Integers.samples(types, 400)],
        PackSnorm4x8 | PackUnorm4x8 | PackSnorm2x16 | PackUnorm2x16 | PackHalf2x16 | PackDouble2x32
        | UnpackDouble2x32 => vec![Test::PackedWords.samples(types, 200)],
        UnpackSnorm4x8 | UnpackUnorm4x8 | UnpackSnorm2x16 | UnpackUnorm2x16 => {
            vec![Test::PackedWords.all(Scalar::Float(F32), 127)]
        }
        UnpackHalf2x16 => vec![Test::PackedWords.all(Scalar::Float(F32), 19)],
        GroupNonUniformFAdd
        | GroupNonUniformFMul
        | InterpolateAtCentroid
        | InterpolateAtSample
        | InterpolateAtOffset => vec![Test::UnstatedPrecision.samples(types, 8)],
        Determinant | MatrixInverse => {
            vec![Test::UnstatedPrecision.samples(types, 8).shaped(Shape::Matrix { columns: 2, rows: 2 })]
        }
    }
}
