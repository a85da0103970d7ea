//! A reference interpreter of SPIR-V compute shaders over permitted sets.
//!
//! It is an abstract interpreter (Cousot & Cousot, POPL 1977): it executes a shader over sets of
//! values and computes, for every element of memory, the set of values that the specification
//! permits.
//!
//! * [`Program`]: an entry point, specialised and translated. Legal features that are not
//!   implemented are refused with [`ProgramError::Unsupported`], by name and place.
//! * [`Dispatch`]: the inputs of a run. [`Limits`]: its budget.
//! * [`Outcome`]: memory after the dispatch, and the undefined behaviour of the shader, for which
//!   no driver is at fault. Each value is exact bits, a permitted set, or undetermined with a
//!   cause.
//!
//! # Values
//!
//! A value is split into scalars. Each scalar is a register with a column of lanes, because the
//! invocations of a workgroup run together. A lane of a register holds bits. Its abstract value may
//! also be a small set of patterns (at most 8), a set of floats, or unknown with a cause. A
//! register in which every lane is exact stores bits only, so integer code does not pay for the
//! rest.
//!
//! *Correlated sets.* Sets of integers, booleans and pointers are indexed by the nondeterministic
//! choices that they come from: a conversion, a comparison, or a load of several patterns is one
//! choice each time it is executed. Values of one choice are combined alternative by alternative,
//! values of several choices for every combination, and a value that no longer varies is exact.
//! This works through arithmetic, selections, copies, variables, tables and phis. Where a branch
//! depends on a choice, only the alternatives that lead to a side remain there, and the values that
//! the branches join to depend on the choice again. Limits: beyond 64 combinations a value becomes
//! a choice of its own, and so does a value that was in memory other than variables of the
//! invocation. Sets of floats are not correlated, so an integer that is converted to a float and
//! back is another one.
//!
//! # Floats
//!
//! Sums, products, comparisons, minima and conversions of ordinary 16- and 32-bit operands are
//! computed in `f64` with directed rounding. Everything else goes to the precision table
//! (`assay_precision`), sets over sets included. Ranges that an operation returns are kept as
//! ranges: the results of an implementation lie in them, but not all members need be attainable.
//! Several ranges stay separate: an operation is applied to each choice of one range of every
//! operand, and to their hulls if the choices exceed those of the table. Where nothing may be
//! rearranged and the members are few, each is a range of its own. Rearranging a chain gives one
//! range, apart from zeros.
//!
//! *One value used twice* is recognised by number: `x - x` is zero, and `x * x` is not a product of
//! two independent values. This holds for results of instructions, copied or kept in variables. The
//! same expression computed twice is two values.
//!
//! *Contraction and rearrangement.* Without `NoContraction` (or with the flags of float_controls2
//! that allow it) a chain of sums, products and quotients may be fused, reordered, distributed and
//! factored. Fusing one product with a sum stays within the neighbours at every step. For longer
//! chains every value also carries an expression bound: an enclosure of the chain's value `x` in
//! real arithmetic and the sum of the magnitudes of its summands. From these follows a bound `E` on
//! the error of every rearrangement. Permitted are the results of the operations in sequence, and
//! `[x - E, x + E]`. Where a sum may be factored (`x^2 - y^2`), `E` is that of the product,
//! multiplied out.
//!
//! * A chain continues through operations that compute nothing themselves: selections, copies,
//!   magnitudes, minima and maxima, scaling by a power of two, and memory, as long as an invocation
//!   loads its own store and no other has written since. The bound of a value that may be any of
//!   several holds for all of them.
//! * An operation is rearranged with the producers of its operands as its own flags allow. If it is
//!   only contracted, its operands lie between their rounded and their exact values. If it is only
//!   reordered, it is neither fused nor multiplied out. Producers need no flags, but
//!   `NoContraction` ends a chain.
//! * A comparison is rearranged like the difference of its operands. Conversions and rounding
//!   functions may take a product before it is rounded.
//! * A product is rounded as often as it has operations, or is zero where a part of it may be
//!   flushed.
//! * A quotient is undetermined if its divisor may be zero and may disappear by rearranging. In a
//!   sum it may be a product with the inverse of its divisor, fused.
//! * A chain with an operation of relaxed precision has errors of relaxed precision. It is
//!   undetermined if sums may cancel, or leave the range of relaxed precision.
//!
//! Instructions of GLSL.std.450 and remainders that are computed by a formula (`SmoothStep`,
//! `Distance`, `FRem`, ..) are rearranged with their operands inside the formula in the lenient
//! reading. `FMix`, `Cross`, `Fma`, `Dot` and `Reflect` are sums of products like any others. A
//! value that goes through an image or an atomic has been rounded to its content, and so has a
//! value that was converted to another format. Roots and other functions are not rearranged by
//! their own laws.
//!
//! A chain is truncated in these places. Each of them makes the permitted set smaller than the text
//! does:
//!
//! * A product of sums is multiplied out if that gives at most 8 summands of 64 factors (a divisor
//!   counts for each of its roundings), in the lenient reading 4096 (64 in 16 bits). The factors of
//!   longer ones are taken as they are computed.
//! * The operand that `Ldexp` scales is not moved out of a sum, and is exact unless it underflows
//!   itself.
//! * Factoring is recognised for differences of squares, and sums and differences of cubes, among
//!   the first 8 summands.
//!
//! *Two readings.* Where the text can be read in two ways, the dispatch is run twice, once in each
//! reading, and differences are reported in [`Cell::lenient`]. Bit-preserving operations (loads,
//! stores, copies, ..) preserve bits in both, unless the caller asks for the letter of the text:
//! [`Copies`].
//!
//! *Cost.* The table may have to search for the extremes of a formula over sets (`Tanh`, `Asin`,
//! `SmoothStep`, ..), which may take long. [`Limits::searches`] bounds all searches of a run;
//! results beyond it are enclosed. Vector lengths and products of sets are always enclosed, which
//! may give somewhat more than the union over all members.
//!
//! # Undecided branches
//!
//! A branch on a set that contains values for both sides is followed both ways: the invocation
//! continues as two lanes, which are joined (the union of all registers) as soon as they wait at
//! the same block. Memory that such lanes write is possibly written. Beyond [`Limits::forks`] and
//! [`Limits::undecided_blocks`] the workgroup is given up, and all memory that the shader may write
//! is undetermined.
//!
//! # Images
//!
//! A coordinate near a boundary between texels may go to either side; [`sample::select`] defines
//! how near. Gathers and nearest samples are the union over all texels that may be selected. Linear
//! filtering gives the results that the fraction bits of the weights permit, and in the lenient
//! reading everything between the texels, because no precision is stated. The lenient reading
//! requires 1 part in 10^5 of every result of the arithmetic around texels, and nothing if a number
//! beyond 2^32 occurs. The border has the channels of the format, then the view's swizzle; it is
//! undefined where the text leaves it undefined.
//!
//! A depth comparison replaces the depth before the view's swizzle, which may show another
//! component. With a linear sampler its result is in the lenient reading anything from 0 to 1. If a
//! direction selects several faces of a cube map equally, the usual reading prefers z to y to x,
//! and the lenient reading takes any. Beyond an edge of a robust image, reads and atomics return
//! zero, and the defaults for components that the format lacks; stores and atomics change nothing.
//!
//! # Memory, order and undefined behaviour
//!
//! Workgroups run as if one after another, with invocations in lockstep, and results must not
//! depend on that order. Large dispatches run on several threads, each with a part of the
//! workgroups and a copy of the memory before the dispatch. If one part wrote memory that another
//! accessed, they run again in order, so the outcome does not depend on the number of threads.
//!
//! Conflicting accesses that happens-before does not order are data races; epochs that control
//! barriers end detect them. If atomics or fences with acquire or release semantics might order the
//! accesses, the values are undetermined instead. An atomic operation returns an exact value only
//! if no other invocation modifies the location without order. The final content is exact if the
//! operations commute, and for sums of floats it covers every order of addition. If the caller
//! knows the values that atomics found on a device ([`AtomicOrder::Recorded`]), they return those here
//! too, and leave the content of the modification order that explains them. If there is none,
//! [`Outcome::disorder`] reports that.
//!
//! An error (division by zero, an index beyond the end, a race) for some alternatives of a value
//! but not for all is not a fault. The value read is undetermined, and so is all memory that may
//! have been overwritten.
//!
//! Results that robustness leaves open ([`Dispatch::robustness`]) are undetermined: a value that an
//! invocation stored beyond an end and loads again, the range by which a buffer is rounded up,
//! parts of an access of which another part is beyond the end, and with `robustBufferAccess` loads
//! less than 16 bytes from one beyond the end.
//!
//! Memory that is reached by two variables of one descriptor, and written by one of them, is
//! undefined behaviour unless both are decorated `Aliased`. Accesses by address to memory that a
//! variable names are not checked.
//!
//! An undefined value is a fault once it decides an address. A branch that it decides may go either
//! way, unless the operand of the branch is an `OpUndef` itself, which is undefined behaviour. Left
//! in memory an undefined value is undetermined: "poison values made available to the host (..)
//! behave as undefined values".
//!
//! An index beyond its array is a fault of the access chain, used or not, unless robustness is
//! asked for. For a physical pointer it is arithmetic, and the access must lie in a buffer. The
//! null pointer refers to no memory. Operations decorated `NoSignedWrap` or `NoUnsignedWrap` must
//! not wrap. `OpPtrDiff` takes pointers into one array: pointers into different buffers, or a
//! distance that is not a whole number of elements, are a fault. Two arrays of one structure, and
//! two workgroup variables, are not told apart. `OpPtrAccessChain` is not checked.
//!
//! Results of subgroup instructions are exact if the caller guarantees the layout
//! ([`Dispatch::layout`]) and the participants are certain: the invocations that have followed the
//! same path since the whole workgroup was together. Invocations that leave a function on several
//! paths are not together, except for barriers. Otherwise only results that every layout gives are
//! determined.
//!
//! # Tile shading
//!
//! A dispatch of a shader with `TileShadingQCOM` runs for one [`Tile`]. Loads outside the tile and
//! its apron, and stores and atomics outside the tile, all within the render area, break a rule
//! (`VUID-RuntimeSpirv-Coordinate-10713`). The caller accounts for other tiles: the texels of a
//! tile attachment are those that this tile sees. A shader with a shading rate has an invocation
//! for every block ([`Program::tile_shading_rate`], [`Tile::blocks`]), whatever
//! [`Dispatch::groups`] says.
//!
//! # Kernels
//!
//! A kernel gets its arguments and the meaning of its handles from [`Dispatch::kernel`]. Its
//! pointers are buffers and offsets, never numbers, and memory has the layout of C. A handle is
//! converted at the instruction: one that names nothing, or an image of another dimensionality, is
//! a fault there, used or not. Floats have the permitted sets of Vulkan, because kernels run in its
//! terms here.
//!
//! # Run-time rules
//!
//! [`run_time_rules`] gives the place where each rule is enforced. With an unknown layout of
//! subgroups, a resource that differs between invocations of a workgroup counts as differing within
//! a subgroup: such a shader is wrong on some device.
//!
//! # Not implemented
//!
//! Vulkan memory model: accesses to images count as non-private. If accesses make memory available
//! or visible themselves, memory that a barrier orders counts as available and visible. A value
//! that a barrier orders without making it available or visible is undetermined. A fence that not
//! all invocations of a workgroup execute together is only known to order something possibly. Two
//! parameters of a function that point at one object without `Aliased` are not detected.
//!
//! The following are refused by name: gathers of cubes, sparse images, untyped
//! pointers, cooperative matrices and vectors, ray queries; `RelaxedPrecision` of atomics,
//! accumulating dot products and extremes over subgroups; in kernels, constant memory, pointers in
//! memory or as numbers, and OpenCL.std.

mod abstract_value;
mod atomic_history;
mod control_flow;
mod correlated_set;
mod coverage;
mod decode;
mod dispatch;
mod error;
mod executed_blocks;
mod expr_bound;
mod fast_path;
mod float_op;
mod inst;
mod integer;
mod memory;
pub mod modification_order;
mod monomial;
mod outcome;
mod pointer;
mod possible_values;
mod program;
mod residual;
mod rule_enforcement;
mod run;
pub mod sample;
mod subgroup_layout;
mod texel;
mod ty;

pub use atomic_history::{AtomicExecution, AtomicHistory, AtomicOrder};
pub use coverage::{Coverage, SkippedCode};
pub use decode::folded;
pub use dispatch::{
    Buffer, Copies, Dispatch, Filtering, FollowedResults, Image, InvocationSubset, Limits, Offsets, Resource,
    RobustAlignment, Robustness, Slot, SpecValues, Tile,
};
pub use error::{Place, ProgramError, RunError};
pub use executed_blocks::ExecutedBlocks;
pub use outcome::{
    Cause, CauseKind, Cell, Disorder, Expected, Fault, FaultKind, FaultMemory, IndicesBeyond, Memory, Outcome,
    PossibleFault, Standing, UninitializedDecision, WrongOperand,
};
pub use program::Program;
pub use rule_enforcement::{RuleEnforcement, run_time_rules};
pub use run::left_by_atomic;
pub use subgroup_layout::{SubgroupLayout, SubgroupPosition};
pub use texel::texel_scalars;
