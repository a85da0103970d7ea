//! Out-of-bounds accesses to buffers and images, on a device with robust access features. (For
//! uniform buffers, see `uniform_bounds.rs`.)
//!
//! The accessed buffer or image is bound between two others, each filled with a byte of its own.
//! With either robustness level these keep their contents under any out-of-bounds store, and no
//! out-of-bounds load returns their contents.

use super::about;
use super::operand_rows::{Ty, U32};
use crate::bytes::{binding_name, bytes_input, pattern};
use crate::module_builder::{ModuleBuilder, SIGNED, UNSIGNED};
use crate::{Case, CaseSubject, Program};
use assay_check::{ImageConfig, Options};
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

pub(super) const CLAUSE: &str = "Vulkan, shader out-of-bounds memory access; robustBufferAccess2, robustImageAccess2";

/// Bindings: neighbour, accessed resource, other neighbour, indices, results.
pub(super) const BEFORE: u32 = 0;
pub(super) const TARGET: u32 = 1;
pub(super) const AFTER: u32 = 2;
pub(super) const INDICES: u32 = 3;
pub(super) const RESULTS: u32 = 4;

/// Fill bytes of the accessed buffer and its neighbours. A uniform fill makes every part of the
/// buffer known.
pub(super) const FILL: u8 = 0xa5;
pub(super) const NEIGHBOUR_FILLS: [u8; 2] = [0xc3, 0x3c];

/// Size of the accessed buffer in bytes: a multiple of every buffer alignment, so that its memory
/// ends where it does.
pub(super) const BYTES: u32 = 4096;

/// Number of invocations; each has an index.
pub(super) const LOCAL: u32 = 64;

/// The out-of-bounds operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutOfBoundsAccess {
    Load,
    Store,
    Add,
    Exchange,
}

const ACCESSES: [OutOfBoundsAccess; 4] =
    [OutOfBoundsAccess::Load, OutOfBoundsAccess::Store, OutOfBoundsAccess::Add, OutOfBoundsAccess::Exchange];

impl OutOfBoundsAccess {
    fn name(self) -> &'static str {
        match self {
            OutOfBoundsAccess::Load => "load",
            OutOfBoundsAccess::Store => "store",
            OutOfBoundsAccess::Add => "atomic_add",
            OutOfBoundsAccess::Exchange => "atomic_exchange",
        }
    }

    fn about(self, level: Robustness, types: String) -> CaseSubject {
        let (op, rule) = match (self, level) {
            (OutOfBoundsAccess::Load, Robustness::Access2) => ("OpLoad", "an out-of-bounds load returns zero"),
            (OutOfBoundsAccess::Load, _) => ("OpLoad", "an out-of-bounds load returns zero or a value from the buffer"),
            (OutOfBoundsAccess::Store, Robustness::Access2) => ("OpStore", "an out-of-bounds store is discarded"),
            (OutOfBoundsAccess::Store, _) => ("OpStore", "an out-of-bounds store changes no memory outside the buffer"),
            (OutOfBoundsAccess::Add, _) => {
                ("OpAtomicIAdd", "an out-of-bounds atomic changes no memory outside the buffer")
            }
            (OutOfBoundsAccess::Exchange, _) => {
                ("OpAtomicExchange", "an out-of-bounds atomic changes no memory outside the buffer")
            }
        };
        about(op, types, rule, CLAUSE)
    }
}

pub(super) fn level_name(level: Robustness) -> &'static str {
    match level {
        Robustness::Access2 => "strict",
        Robustness::None | Robustness::Access => "loose",
    }
}

/// The side of the buffer on which the accesses lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BufferSide {
    Behind,
    /// Negative indices; an access chain interprets its indices as signed.
    Before,
}

impl BufferSide {
    /// The index of each invocation for elements of `size` bytes. The first four are in bounds.
    fn indices(self, size: u32) -> Vec<u32> {
        match self {
            BufferSide::Behind => behind(size),
            BufferSide::Before => before(size),
        }
    }
}

/// Negative indices: adjacent to the beginning, around powers of two, where the neighbours would be
/// if the buffers were contiguous, and up to 31-bit offsets. The in-bounds indices are far enough
/// from the beginning to be exact under either level.
fn before(size: u32) -> Vec<u32> {
    let end = BYTES / size;
    let mut list = vec![64 / size.min(16) + 1, end / 4, end / 2, end - 1];
    let next = [1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 64];
    let powers = (8..32).flat_map(|power| [(1u32 << power) / size, (1u32 << power) / size - 1]);
    let beside = [1, 2, 3, 5].map(|times| end * times - 5);
    let all = next.into_iter().chain(beside).chain(powers).filter(|back| *back > 0);
    list.extend(all.map(u32::wrapping_neg));
    list.truncate(LOCAL as usize);
    list.resize(LOCAL as usize, (end + 9).wrapping_neg());
    list
}

/// Indices beyond the end, for elements of `size` bytes: adjacent to the end, around powers of two,
/// and up to 32-bit offsets. The in-bounds indices are far enough from the end to be exact under
/// either level.
fn behind(size: u32) -> Vec<u32> {
    let end = BYTES / size;
    let mut list = vec![0, 1, end / 2, end - 64 / size.min(16) - 1];
    list.extend([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 64].map(|more| end + more));
    list.extend((13..31).map(|power| (1u32 << power) / size + end));
    // Positions of the neighbours if the buffers were contiguous.
    list.extend([1, 2, 3, 5].map(|times| end * times + 5));
    list.extend(
        [0xffff_f000 / size - 1, 0x8000_0000 / size, 0x7fff_fff0 / size, 0xc000_0000 / size]
            .map(|far| far.min(0x7fff_ffff)),
    );
    list.resize(LOCAL as usize, end + 9);
    list
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let scalars = [(8, UNSIGNED), (16, SIGNED), (32, UNSIGNED), (32, SIGNED), (64, UNSIGNED)];
    for level in [Robustness::Access, Robustness::Access2] {
        for access in ACCESSES {
            for (width, signed) in scalars {
                let ty = Ty::Int { width, signed };
                match access {
                    OutOfBoundsAccess::Add | OutOfBoundsAccess::Exchange if width < 32 => {}
                    _ => {
                        cases.push(buffer(level, access, (ty, 1), BufferSide::Behind));
                        if !signed {
                            cases.push(buffer(level, access, (ty, 1), BufferSide::Before));
                        }
                    }
                }
            }
            if matches!(access, OutOfBoundsAccess::Load | OutOfBoundsAccess::Store) {
                for shape in [2, 4] {
                    cases.push(buffer(level, access, (U32, shape), BufferSide::Behind));
                    cases.push(buffer(level, access, (U32, shape), BufferSide::Before));
                }
            }
        }
        for texel in &TEXELS {
            cases.push(image(level, texel, true));
            cases.push(image(level, texel, false));
        }
    }
    cases
}

pub(super) fn filled(byte: u8, bytes: u32) -> Vec<u8> {
    vec![byte; bytes as usize]
}

/// Declares a runtime array for each neighbour.
pub(super) fn neighbours(shader: &mut ModuleBuilder) -> [String; 2] {
    let u32 = shader.u32();
    [BEFORE, AFTER].map(|binding| {
        let array = shader.runtime_array(&u32, 4);
        let block = shader.block(&[(array, 0)], "Block");
        shader.resource("StorageBuffer", &block, binding)
    })
}

fn buffer(level: Robustness, access: OutOfBoundsAccess, (ty, shape): (Ty, u32), side: BufferSide) -> Case {
    let types = if shape == 1 { ty.name() } else { format!("{}.vec{shape}", ty.name()) };
    let end = if side == BufferSide::Before { ".negative" } else { "" };
    let name = format!("environment.robustness.{}.buffer.{}.{types}{end}", level_name(level), access.name());
    Case::core(name, access.about(level, format!("{types} <- {types}")), move || {
        let size = ty.bytes() * shape;
        let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
        if ty.width() == 64 && matches!(access, OutOfBoundsAccess::Add | OutOfBoundsAccess::Exchange) {
            shader.capability("Int64Atomics");
        }
        let scalar = ty.declare(&mut shader);
        let value = shader.vector(&scalar, shape);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let [before, after] = neighbours(&mut shader);
        let array = shader.runtime_array(&value, size);
        let block = shader.block(&[(array, 0)], "Block");
        let target = shader.resource("StorageBuffer", &block, TARGET);
        if access == OutOfBoundsAccess::Load {
            // A read-only buffer has known contents.
            shader.decorate(format!("{target} NonWritable"));
        }
        let number = if side == BufferSide::Before { shader.int(32, SIGNED) } else { u32.clone() };
        let array = shader.array(&number, LOCAL, Some(4));
        let block = shader.block(&[(array, 0)], "Block");
        let list = shader.resource("StorageBuffer", &block, INDICES);
        // The loaded values, and a word from the neighbours for each invocation.
        let results = shader.array(&value, LOCAL, Some(size));
        let words = shader.array(&u32, LOCAL, Some(4));
        let words_at = LOCAL * size;
        let block = shader.block(&[(results, 0), (words, words_at)], "Block");
        let output = shader.resource("StorageBuffer", &block, RESULTS);
        let own = shader.global_x();
        let from = shader.access("StorageBuffer", &number, &list, &[&zero, &own]);
        let index = shader.op(&number, "OpLoad", from);
        let place = shader.access("StorageBuffer", &value, &target, &[&zero, &index]);
        let byte = ty.constant(&mut shader, 0x5eed_f00d_0bad_cafe & (u64::MAX >> (64 - ty.width())));
        let scope = shader.constant_u32(1);
        match access {
            OutOfBoundsAccess::Load => {
                let loaded = shader.op(&value, "OpLoad", place);
                let to = shader.access("StorageBuffer", &value, &output, &[&zero, &own]);
                shader.run(format_args!("OpStore {to} {loaded}"));
            }
            OutOfBoundsAccess::Store => {
                let stored = match shape {
                    1 => byte,
                    n => shader.op(&value, "OpCompositeConstruct", vec![byte.as_str(); n as usize].join(" ")),
                };
                shader.run(format_args!("OpStore {place} {stored}"));
            }
            // The returned values are undefined.
            OutOfBoundsAccess::Add => {
                drop(shader.op(&value, "OpAtomicIAdd", format_args!("{place} {scope} {zero} {byte}")))
            }
            OutOfBoundsAccess::Exchange => {
                drop(shader.op(&value, "OpAtomicExchange", format_args!("{place} {scope} {zero} {byte}")))
            }
        }
        let one = shader.constant_u32(1);
        let mut seen = Vec::new();
        for neighbour in [&before, &after] {
            let from = shader.access("StorageBuffer", &u32, neighbour, &[&zero, &own]);
            seen.push(shader.op(&u32, "OpLoad", from));
        }
        let both = shader.op(&u32, "OpBitwiseXor", seen.join(" "));
        let to = shader.access("StorageBuffer", &u32, &output, &[&one, &own]);
        shader.run(format_args!("OpStore {to} {both}"));

        let mut options =
            Options { groups: Some([1; 3]), padding: true, robustness: Some(level), ..Options::default() };
        let list = side.indices(size);
        // Two invocations must not write to the same in-bounds element.
        let list: Vec<u32> = match access {
            _ if side == BufferSide::Before || access == OutOfBoundsAccess::Load => list,
            _ => {
                (0..LOCAL).map(|i| if i < 4 { list[i as usize] } else { list[i as usize].max(BYTES / size) }).collect()
            }
        };
        for (binding, byte) in [BEFORE, AFTER].into_iter().zip(NEIGHBOUR_FILLS) {
            options.inputs.push(bytes_input(binding, filled(byte, BYTES)));
        }
        options.inputs.push(bytes_input(TARGET, filled(FILL, BYTES)));
        options.inputs.push(bytes_input(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
        let results = pattern(words_at + LOCAL * 4, 0x29);
        options.inputs.push(bytes_input(RESULTS, results.clone()));
        Program::new(shader.finish(), options).with_reference(move |_| {
            let (mut target, mut results) = (filled(FILL, BYTES), results.clone());
            for (i, index) in list.iter().enumerate() {
                let at = *index as usize * size as usize;
                let inside = at + size as usize <= BYTES as usize;
                let part = if inside { at..at + size as usize } else { 0..0 };
                let bits = 0x5eed_f00d_0bad_cafe_u64.to_le_bytes();
                let scalars = target[part].chunks_exact_mut(ty.bytes() as usize);
                match access {
                    OutOfBoundsAccess::Load => {
                        let byte = if inside { FILL } else { 0 };
                        results[i * size as usize..(i + 1) * size as usize].fill(byte);
                    }
                    OutOfBoundsAccess::Store | OutOfBoundsAccess::Exchange => {
                        scalars.for_each(|s| s.copy_from_slice(&bits[..s.len()]))
                    }
                    OutOfBoundsAccess::Add => scalars.for_each(|s| {
                        let sum = u64::from_le_bytes([FILL; 8]).wrapping_add(u64::from_le_bytes(bits));
                        // The low bytes of the sum depend only on the low bytes of the operands.
                        s.copy_from_slice(&sum.to_le_bytes()[..s.len()]);
                    }),
                }
                let word = [NEIGHBOUR_FILLS[0] ^ NEIGHBOUR_FILLS[1]; 4];
                results[words_at as usize + i * 4..][..4].copy_from_slice(&word);
            }
            // Elements that the weaker level leaves open are not compared.
            BTreeMap::from([(Slot::new(0, TARGET), target), (Slot::new(0, RESULTS), results)])
        })
    })
}

/// An image format: name, channels, bytes of a texel, and channel type in a shader. Absent channels
/// of an out-of-bounds texel take their defaults.
struct Texel {
    format: &'static str,
    channels: usize,
    bytes: u32,
    ty: Ty,
    extended: bool,
}

const TEXELS: [Texel; 6] = [
    Texel { format: "Rgba32ui", channels: 4, bytes: 16, ty: U32, extended: false },
    Texel { format: "Rgba8i", channels: 4, bytes: 4, ty: Ty::Int { width: 32, signed: true }, extended: false },
    Texel { format: "R32ui", channels: 1, bytes: 4, ty: U32, extended: false },
    Texel { format: "Rg16ui", channels: 2, bytes: 4, ty: U32, extended: true },
    Texel { format: "Rgba16f", channels: 4, bytes: 8, ty: Ty::Float { width: 32 }, extended: false },
    Texel { format: "R32f", channels: 1, bytes: 4, ty: Ty::Float { width: 32 }, extended: false },
];

/// Width and height of the image. The height is not a power of two, so an out-of-bounds texel may
/// lie within the image's memory.
const SIDES: [u32; 2] = [16, 13];

/// Coordinates beyond and at the edges, and some in bounds.
fn coordinates() -> Vec<[i32; 2]> {
    let [w, h] = SIDES.map(u32::cast_signed);
    let mut list = vec![[0, 0], [w - 1, h - 1], [3, 7], [w - 1, 0]];
    let far = [w, w + 1, 2 * w, 1 << 12, 1 << 20, i32::MAX, -1, -2, -w, i32::MIN, -(1 << 16)];
    list.extend(far.map(|x| [x, 2]));
    list.extend(far.map(|x| [2, x.saturating_add(h - w)]));
    list.extend(far.map(|x| [x, x]));
    list.resize(LOCAL as usize, [w, h]);
    list
}

fn image(level: Robustness, texel: &'static Texel, is_load: bool) -> Case {
    let what = if is_load { "load" } else { "store" };
    let title =
        format!("environment.robustness.{}.image.{what}.{}", level_name(level), texel.format.to_ascii_lowercase());
    let types = format!("{0} <- {0}", texel.ty.name());
    let subject = match is_load {
        true => about(
            "OpImageRead",
            types,
            "an out-of-bounds texel load returns zero, with the format's default for absent channels",
            CLAUSE,
        ),
        false => about("OpImageWrite", types, "an out-of-bounds texel store changes no texel", CLAUSE),
    };
    Case::core(title, subject, move || {
        let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
        if texel.extended {
            shader.capability("StorageImageExtendedFormats");
        }
        let scalar = texel.ty.declare(&mut shader);
        let vector = shader.vector(&scalar, 4);
        let ty = shader.declare(&format!("OpTypeImage {scalar} 2D 0 0 0 2 {}", texel.format));
        let [before, target, after] =
            [BEFORE, TARGET, AFTER].map(|binding| shader.resource("UniformConstant", &ty, binding));
        let (i32, zero) = (shader.int(32, SIGNED), shader.constant_u32(0));
        let pair = shader.vector(&i32, 2);
        let array = shader.array(&pair, LOCAL, Some(8));
        let block = shader.block(&[(array, 0)], "Block");
        let list = shader.resource("StorageBuffer", &block, INDICES);
        let results = shader.array(&vector, LOCAL, Some(16));
        let block = shader.block(&[(results, 0)], "Block");
        let output = shader.resource("StorageBuffer", &block, RESULTS);
        let own = shader.global_x();
        let from = shader.access("StorageBuffer", &pair, &list, &[&zero, &own]);
        let at = shader.op(&pair, "OpLoad", from);
        let image = shader.op(&ty, "OpLoad", &target);
        let to = shader.access("StorageBuffer", &vector, &output, &[&zero, &own]);
        // Stored texels come from a neighbour, so that both neighbours are used.
        let corner = shader.declare(&format!("OpConstantNull {pair}"));
        let [first, second] = [&before, &after].map(|neighbour| {
            let image = shader.op(&ty, "OpLoad", neighbour);
            shader.op(&vector, "OpImageRead", format_args!("{image} {corner}"))
        });
        if is_load {
            let read = shader.op(&vector, "OpImageRead", format_args!("{image} {at}"));
            shader.run(format_args!("OpStore {to} {read}"));
        } else {
            shader.run(format_args!("OpImageWrite {image} {at} {first}"));
            shader.run(format_args!("OpStore {to} {second}"));
        }
        let mut options =
            Options { groups: Some([1; 3]), padding: true, robustness: Some(level), ..Options::default() };
        let size = SIDES.iter().product::<u32>() * texel.bytes;
        let places = coordinates();
        // Only the first four coordinates are in bounds, so each texel is written by one invocation
        // only.
        for (binding, byte) in IMAGES {
            options.inputs.push(bytes_input(binding, filled(byte, size)));
            let form = ImageConfig { size: Some(vec![SIDES[0], SIDES[1], 1]), ..ImageConfig::default() };
            options.images.push((binding_name(binding), form));
        }
        let words = places.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        options.inputs.push(bytes_input(INDICES, words));
        options.inputs.push(bytes_input(RESULTS, pattern(LOCAL * 16, 0x1d)));
        let program = Program::new(shader.finish(), options);
        match texel.ty {
            Ty::Int { .. } => program.with_reference(move |_| integer_results(texel, is_load)),
            Ty::Float { .. } => program,
        }
    })
}

/// Fill bytes of the three images; as floats they give normal numbers.
const IMAGES: [(u32, u8); 3] = [(BEFORE, 0x41), (TARGET, 0x42), (AFTER, 0x40)];

impl Texel {
    /// Four 32-bit integers that a shader reads from a texel filled with `byte`; `None` is a texel
    /// out of bounds.
    fn loaded(&self, byte: Option<u8>) -> Vec<u8> {
        let width = self.bytes as usize / self.channels;
        let channel = |i: usize| -> u32 {
            match byte {
                Some(byte) if i < self.channels => (0..width).fold(0, |all, _| all << 8 | u32::from(byte)),
                _ => u32::from(i == 3 && self.channels < 4),
            }
        };
        (0..4).flat_map(|i| channel(i).to_le_bytes()).collect()
    }
}

/// The expected results for integer texels, under either level.
fn integer_results(texel: &Texel, is_load: bool) -> BTreeMap<Slot, Vec<u8>> {
    let bytes = texel.bytes as usize;
    let [before, held, after] = IMAGES.map(|(_, byte)| byte);
    let mut target = filled(held, SIDES.iter().product::<u32>() * texel.bytes);
    let mut results = Vec::new();
    for [x, y] in coordinates() {
        let [w, h] = SIDES.map(u32::cast_signed);
        let inside = (0..w).contains(&x) && (0..h).contains(&y);
        if is_load {
            results.extend(texel.loaded(inside.then_some(held)));
        } else {
            results.extend(texel.loaded(Some(after)));
            if inside {
                let at = (y * w + x) as usize * bytes;
                target[at..at + bytes].fill(before);
            }
        }
    }
    BTreeMap::from([(Slot::new(0, TARGET), target), (Slot::new(0, RESULTS), results)])
}
