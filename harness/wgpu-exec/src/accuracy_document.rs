//! Both accuracy tables side by side, as a document.

use assay_events::{SPECIFICATION, WGSL_SPECIFICATION};
use assay_float::{F16, F32};
use assay_precision::{Call, Modes, Op, Scalar, Specification, Spelling};
use std::fmt::Write;

/// Returns `reports/wgsl-accuracy.md`: every instruction with Vulkan's rule and WGSL's.
pub fn accuracy_document() -> String {
    let mut text = format!(
        "# What WGSL permits, beside what Vulkan does\n\n\
         Generated from the precision table (`cargo run -p assay-wgpu-exec --example accuracy`), which `assay run --api wgpu` judges by. \
         {SPECIFICATION}: \"Precision and Operation of SPIR-V Instructions\". {WGSL_SPECIFICATION}: \"Floating Point \
         Evaluation\". Vulkan's rules are those without declared modes, which WGSL cannot declare. `f16` is named where its rule is \
         another than that of `f32`.\n\n{ENVIRONMENT}\n## Instructions\n\n\
         | instruction | WGSL | Vulkan | WGSL's accuracy | clause |\n|---|---|---|---|---|\n"
    );
    let mut without = String::new();
    for &op in Op::ALL {
        match op.in_wgsl() {
            Ok(spelling) => {
                let single = call(op, Scalar::Float(F32));
                let Some(call) = single.clone().or_else(|| any(op)) else { continue };
                let half = single.and_then(|_| self::call(op, Scalar::Float(F16)));
                let rule = |specification: Specification| {
                    let words = Call { specification, ..call.clone() }.rule();
                    match half.as_ref().map(|half| Call { specification, ..half.clone() }.rule()) {
                        Some(other) if other != words => format!("{words}; f16: {other}"),
                        _ => words,
                    }
                };
                let names = ["x", "y", "z"];
                let expression = spelling.expression(&names[..call.operands.len().min(3)]);
                let (vulkan, wgsl) = (cell(&rule(Specification::Vulkan)), cell(&rule(Specification::Wgsl)));
                let clause = call.clause();
                _ = writeln!(text, "| {op} | `{expression}` | {vulkan} | {wgsl} | {clause} |");
            }
            Err(error) => _ = writeln!(without, "| {op} | {} |", cell(&error.why)),
        }
    }
    text += "\n## What WGSL cannot express\n\n| instruction | why |\n|---|---|\n";
    text += &without;
    let has_row = |name: &str| {
        let named = |spelling| match spelling {
            Spelling::Function(of) | Spelling::Members(of, _) => of == name,
            Spelling::Infix(_) | Spelling::Prefix(_) | Spelling::Conversion => false,
        };
        Op::ALL.iter().any(|op| op.in_wgsl().is_ok_and(named))
    };
    let rest: Vec<String> =
        FUNCTIONS.split_whitespace().filter(|name| !has_row(name)).map(|name| format!("`{name}`")).collect();
    _ = write!(
        text,
        "\n## Functions of WGSL without a row\n\nNo precision case runs them. {NO_PRECISION}\n\n{}.\n",
        rest.join(", ")
    );
    text + REFERENCE
}

/// The functions of WGSL that compute or pass values (WGSL, "Built-in Functions", without textures,
/// atomics and synchronisation).
const FUNCTIONS: &str = "bitcast all any select abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh countLeadingZeros \
    countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed dot4I8Packed exp exp2 extractBits faceForward \
    firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix modf normalize pow \
    quantizeToF16 radians reflect refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc dpdx \
    dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine pack4x8snorm pack4x8unorm pack4xI8 pack4xU8 \
    pack4xI8Clamp pack4xU8Clamp pack2x16snorm pack2x16unorm pack2x16float unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 \
    unpack2x16snorm unpack2x16unorm unpack2x16float subgroupAdd subgroupExclusiveAdd subgroupInclusiveAdd subgroupAll subgroupAnd \
    subgroupAny subgroupBallot subgroupBroadcast subgroupBroadcastFirst subgroupElect subgroupMax subgroupMin subgroupMul \
    subgroupExclusiveMul subgroupInclusiveMul subgroupOr subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor \
    subgroupXor quadBroadcast quadSwapDiagonal quadSwapX quadSwapY";

const NO_PRECISION: &str = "Shaders that call them are checked by `assay check` as SPIR-V means what naga makes of them; `transpose`, `bitcast` and copies \
    between invocations may flush as WGSL says.";

/// Limits of the reference.
const REFERENCE: &str = "\
\n## What `assay check --api wgpu` takes for right\n\n\
The reference is not WGSL but naga's own SPIR-V for it. Its floating-point instructions are judged by the rows above, and where SPIR-V says \
less than WGSL (shifts, clamps and remainders of integers, integers stored to textures, texels and elements out of range, what may be \
flushed), WGSL's words hold. All else means what SPIR-V says. So a mistake of naga's front end or of its evaluation of constants, which is \
the same in the reference and on the device, is not seen.\n";

/// Rules that apply to all rows.
const ENVIRONMENT: &str = "\
## Around every row

| | Vulkan, no modes declared | WGSL |
|---|---|---|
| rounding of a correctly rounded result | either neighbour | either neighbour |
| denormal operands and results | may be flushed | may be flushed; of conversions kept, and flushed in the laxest reading |
| sign of a zero | free | free; of an integer zero's conversion plus, and free in the laxest reading |
| NaN or infinity as an operand | assumed not to occur: anything | assumed not to be present: an indeterminate value |
| overflow | the infinity or the largest finite value; in the laxest reading anything | an indeterminate value |
| an inherited accuracy | as far from the exact result, on either side, as any equivalent formula | the same |
| float to integer, out of range | undefined behaviour, never sent to a device | the nearest value of both types |
| `clamp` with its limits exchanged | undefined | `min(max(x, low), high)`, of floats also the median |
| `min`, `max` of two subnormal operands, and in `clamp` | as of other numbers | either |
| `fract` of a negative subnormal number | not negative | not negative; in the laxest reading the number, if only `floor` flushes it |
| `frexp(0)` | zero, and an exponent of zero | zero; in the laxest reading any exponent |
| `smoothstep` with its edges exchanged | undefined | by its formula |
| `sqrt(0)`, `log(1)` | zero by the instruction set, the table's rule in the laxest reading | by the table's rule: anything, and an \
absolute error |
| packing to normalised integers | rounded, halves either way | `floor(0.5 + k * x)`: halves up; in the laxest reading either way |
";

fn call(op: Op, scalar: Scalar) -> Option<Call> {
    let sources = Call::sources(op);
    let from = sources.iter().copied().map(Some).chain(sources.is_empty().then_some(None));
    let calls = from.flat_map(|from| Call::shapes(op).iter().map(move |&shape| (shape, from)));
    let mut calls = calls.filter_map(|(shape, from)| Call::new(op, scalar, shape, from, Modes::default()).ok());
    calls.find_map(|call| call.in_wgsl().ok())
}

fn any(op: Op) -> Option<Call> {
    Call::scalars(op).iter().find_map(|&scalar| call(op, scalar))
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_is_that_of_the_table() {
        let written = include_str!("../../../reports/wgsl-accuracy.md");
        assert!(
            written == super::accuracy_document(),
            "write it again: cargo run -p assay-wgpu-exec --example accuracy > reports/wgsl-accuracy.md"
        );
    }
}
