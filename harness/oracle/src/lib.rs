//! A reference interpreter of SPIR-V compute shaders over permitted sets.
//!
//! * [`Program`]: an entry point, specialised and translated. What is legal but not implemented is
//!   [`ProgramError::Unsupported`], by name and place.
//! * [`Dispatch`]: what it is run with; [`Limits`]: what that may cost.
//! * [`Outcome`]: memory after the dispatch. Each value is exact bits, or a set of permitted ones, or not determined with
//!   its cause; and the undefined behaviour of the shader, which is no driver's fault.
//!
//! # Values
//!
//! A value is split into scalars, each a register with a column of lanes: the invocations of a workgroup run together. A lane of
//! a register is bits; beside them it may have a few alternatives (at most 8 patterns), a set of floats, or "anything" with its
//! cause. Where no lane of a register has any of these there is nothing beside the bits, and integer code does not pay.
//!
//! *Alternatives* of integers, booleans and pointers are indexed by the decisions that they come from (a conversion, a comparison, a load of
//! several patterns: one decision each time that it is executed). Values of one decision are combined alternative by alternative, values of
//! several for every combination, and what no longer varies is exact: through arithmetic, selections, copies, variables, tables and
//! phis. Where a branch depends on a decision, only the alternatives that lead there are left in it, and what the branches join to goes
//! with the decision again. Limits: beyond 64 combinations a value is a decision of its own; so it is after it has been in memory
//! other than variables of the invocation. Sets of floats go with no decision, so an integer that is converted to a float and back is
//! another one.
//!
//! # Floats
//!
//! Sums, products, comparisons, minima and conversions of ordinary 16- and 32-bit operands are done in `f64` with directed
//! rounding; everything else goes to the precision table (`assay_precision`), sets over sets included. Ranges that an operation
//! returns are kept as ranges: what an implementation returns lies in them, not all of them need be attainable. Several ranges stay
//! apart: an operation is done on each choice of one range of every operand, and beyond what the table does so on their hulls. Where nothing
//! may be rearranged and the members are few, each is a range of its own. What rearranging a chain may give is one range, but for zeros.
//!
//! *One value used twice* is known by number: `x - x` is zero, `x * x` no product of two independent values. This is about
//! the results of instructions, copied or kept in variables; the same expression computed twice is two values.
//!
//! *Contraction and rearrangement.* Without `NoContraction` (or with the flags of float_controls2 that allow it) a chain of sums,
//! products and quotients may be fused, reordered, distributed and factored. Fusing one product with a sum stays within either neighbour at
//! every step. For longer chains every value also carries the enclosure `x` of what the chain is in real arithmetic and the
//! sum of its summands' magnitudes, from which follows the error `E` that any arrangement may have; permitted is what the
//! operations give one after another, and `[x - E, x + E]`. Where a sum may be a product of sums (`x^2 - y^2`), `E` is that of the product,
//! multiplied out. A chain goes through what computes nothing of its own: selections, copies, magnitudes, minima and maxima, scaling by a
//! power of two, and memory, as long as an invocation loads what it stored itself and nobody has written since. Of several values that one
//! may be, it came about as any of them. An operation is rearranged with those that produce its operands as its own flags allow: what is
//! only contracted has operands between what they are rounded to and what they are; what is only reordered is neither fused nor multiplied
//! out. Producers need no flags, but `NoContraction` ends a chain. A comparison is rearranged like the difference of its operands;
//! conversions and rounding functions may take a product before it is rounded. A product is rounded as often as it has operations, or
//! zero where a part of it may be flushed. A quotient is not determined if its divisor may be zero and may be gone
//! once it is rearranged; in a sum it may be a product with one over its divisor, fused. With an operation of relaxed precision in it a chain
//! has errors of relaxed precision, and is not determined where sums may cancel, or leave the range that relaxed precision has.
//!
//! Instructions of GLSL.std.450 and remainders that are computed by a formula (`SmoothStep`, `Distance`, `FRem`, ..) are rearranged with
//! their operands inside the formula in the lenient reading; `FMix`, `Cross`, `Fma`, `Dot` and `Reflect` are sums of products like any others.
//! What goes through an image or an atomic has been rounded to what is there, and so has what was converted to another format; roots and
//! other functions are not taken apart by the laws that hold for them.
//!
//! Where a chain is cut, all of it on the side of sets that are too small:
//!
//! * a product of sums is multiplied out if that gives at most 8 summands, of 64 factors (a divisor counts for each of its
//!   roundings), in the lenient reading 4096 (64 in 16 bits); of longer ones the factors are taken as they are computed;
//! * what `Ldexp` scales is not taken out of a sum, and is exact unless it underflows itself;
//! * that a sum may be a product of sums is noticed by differences of squares, and sums and differences of cubes, among its first 8 summands.
//!
//! *Two readings.* Where the text can be read in two ways the dispatch is run twice, once in each, and what differs is in
//! [`Cell::lenient`]. Bit-preserving operations (loads, stores, copies, ..) preserve bits in both, unless the caller wants the letter
//! of the text for them: [`Copies`].
//!
//! *Cost.* Where the table has to search for the extremes of a formula (`Tanh`, `Asin`, `SmoothStep`, .. of sets), a search may take
//! long; [`Limits::searches`] bounds them together, after which they are enclosed, too. Vector lengths and products of sets are enclosed instead of searched, which
//! may give somewhat more than the union over all members.
//!
//! # Decisions
//!
//! A branch on a set that spans the decision is followed both ways: the invocation goes on as two lanes that are joined (the union
//! of all registers) as soon as they wait at the same block. What such lanes write is written perhaps. Beyond
//! [`Limits::forks`] and [`Limits::undecided_blocks`] the workgroup is given up: all that the shader may write is undetermined.
//!
//! # Images
//!
//! A coordinate next to a boundary between texels may go to either side: [`sample::select`] has how near that is. Gathers and
//! nearest samples are the union over all texels that may be selected; linear filtering is what the weights' fraction bits
//! leave open, and in the lenient reading all that lies between the texels, for no precision is stated. The lenient reading asks of
//! every result of the arithmetic around texels 1 part in 10^5 only, and nothing where a number beyond 2^32 comes in. The border has
//! the channels of the format, then the view's swizzle; where the text leaves it undefined, so it is here.
//!
//! A depth comparison replaces the depth before the view's swizzle, which may show another component. Of a linear sampler its result
//! is in the lenient reading anything from 0 to 1. Of cube map faces that a direction may as well mean, the usual reading takes z before
//! y before x, the lenient one any. Beyond an edge, where the device is robust, reads and atomics give zero, and what the format lacks;
//! stores and atomics change nothing.
//!
//! # Memory, order and undefined behaviour
//!
//! Workgroups run as if one after another, invocations in lockstep; that order must not show. Where there is much to do, parts of
//! the workgroups run on threads of their own, each on memory as it was before the dispatch. If one part wrote what another one
//! accessed they are run again in order; so the outcome is the same for any number of threads. Conflicting accesses that nothing orders
//! are data races, found by epochs that control barriers end. Where atomics or fences with acquire or release semantics might
//! order them, the values are undetermined instead. What an atomic operation returns is exact only if no other invocation
//! changes the location without order; what several leave behind is exact if their operations commute, and of sums of floats what adding
//! them in any order gives. Where the caller knows what atomics
//! found on a device ([`Dispatch::observed`]), they give that here, too, and leave what the order that there must have been leaves; if
//! there can have been none, that is said ([`Outcome::disorder`]).
//!
//! What is wrong (division by zero, an index beyond the end, a race) for some alternatives of a value, and not for all of them, is no
//! fault: what is read so is not determined, nor is anything that may have been written over.
//!
//! What robustness leaves open ([`Dispatch::robustness`]) is not determined: what an invocation stored beyond an end and loads again, the
//! range of a buffer that is rounded up, parts of an access of which another part is beyond the end, and with `robustBufferAccess` loads
//! less than 16 bytes from one beyond the end.
//!
//! Memory that is reached by two variables of one descriptor, and written by one of them, is undefined behaviour unless both are decorated
//! `Aliased`. Whether an address leads to what a variable names is not watched.
//!
//! A value that nothing has written is a fault once it decides a branch or an address; one that an instruction leaves undefined, once it
//! decides an address: a branch that it decides may go either way. Left in memory it is not determined: "poison values
//! made available to the host (..) behave as undefined values".
//!
//! An index beyond its array is a fault of the access chain, used or not, unless robustness is asked for; of a physical pointer it is
//! arithmetic, and the access is what has to be in a buffer. Nothing is behind the null pointer. What is decorated `NoSignedWrap` or
//! `NoUnsignedWrap` must not wrap. `OpPtrDiff` takes pointers into one array: those into different buffers, or no whole number of elements
//! apart, are a fault, while two arrays of one structure and two workgroup variables are not told apart; nor is `OpPtrAccessChain` watched.
//!
//! Results of subgroup instructions are exact where the caller vouches for the layout ([`Dispatch::layout`]) and it is certain who takes part:
//! those that have followed the same path since the whole workgroup was together; who leaves a function on several ways has not, but for
//! barriers. Elsewhere only what any layout gives is determined.
//!
//! # Tile shading
//!
//! A dispatch of a shader with `TileShadingQCOM` runs for one [`Tile`]. Loads outside the tile and its apron, and stores and atomics
//! outside the tile, all within the render area, break a rule (`VUID-RuntimeSpirv-Coordinate-10713`). What other tiles do is
//! the caller's: the texels of a tile attachment are what this tile sees. A shader with a shading rate has an invocation for every
//! block ([`Program::tile_shading_rate`], [`Tile::blocks`]), whatever [`Dispatch::groups`] says.
//!
//! # Kernels
//!
//! A kernel gets its arguments and the meaning of its handles from [`Dispatch::kernel`]. Its pointers are buffers and offsets, never
//! numbers; memory is laid out as C does it. A handle is converted where the instruction stands: one that names nothing, or an
//! image of another dimensionality, is a fault there, used or not. Floats have the permitted sets of Vulkan, in whose terms kernels
//! are run here.
//!
//! # Rules that only running shows
//!
//! [`run_time_rules`] says of each who sees to it. A resource that differs between invocations of a workgroup is taken to differ within a
//! subgroup where the layout of subgroups is not known: such a shader is wrong on some device.
//!
//! # Not implemented
//!
//! Of the Vulkan memory model: accesses to images are taken to be non-private; where accesses make something available or visible by
//! themselves, what a barrier orders is taken to be; a value that a barrier orders, but makes neither, is undetermined. Of fences that not all
//! invocations of a workgroup execute together it is only known that they may order something. Two parameters of a function that point at
//! one object without `Aliased` are not seen.
//!
//! Gathers of cubes, multisampled and sparse images, untyped pointers, cooperative matrices and vectors, ray
//! queries; `RelaxedPrecision` of atomics, accumulating dot products and extremes over subgroups; of kernels, constant memory, pointers in
//! memory or as numbers, OpenCL.std: all refused by name.

mod decode;
mod direct;
mod dispatch;
mod error;
mod few;
mod form;
mod inst;
mod integer;
mod layout;
mod memory;
mod observed;
mod outcome;
mod program;
mod round;
mod run;
pub mod sample;
mod site;
pub mod steps;
mod symbol;
mod texel;
mod ty;
mod value;
mod watch;

pub use decode::folded;
pub use dispatch::{
    Buffer, Copies, Dispatch, Filtering, Image, Limits, Offsets, Resource, RobustAlignment, Robustness, Slot,
    SpecValues, Tile,
};
pub use error::{Place, ProgramError, RunError};
pub use layout::{Layout, Seat};
pub use observed::{Execution, Observed};
pub use outcome::{Cause, CauseKind, Cell, Disorder, Expected, Fault, FaultKind, Given, Memory, Outcome, Standing};
pub use program::Program;
pub use run::left_by_atomic;
pub use texel::texel_scalars;
pub use watch::{Watch, run_time_rules};
