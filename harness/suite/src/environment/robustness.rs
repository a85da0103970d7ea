//! Accesses beyond the end of buffers and images, and before their beginning, on a device that was opened with the features that say
//! what they do. (Of uniform buffers: `uniform.rs`.)
//!
//! The buffer or image in question is between two others. Under either promise these keep what they hold, whatever is stored beyond
//! the end, and nothing of them is ever loaded: each is filled with a byte of its own.

use super::about;
use super::apply::{Ty, U32};
use crate::bytes::{given, name, pattern};
use crate::write::{SIGNED, Shader, UNSIGNED};
use crate::{About, Case, Program};
use assay_check::{ImageForm, Options};
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

pub(super) const CLAUSE: &str = "Vulkan, shader out-of-bounds memory access; robustBufferAccess2, robustImageAccess2";

/// Bindings: a neighbour, what is accessed, the other neighbour, indices, results.
pub(super) const BEFORE: u32 = 0;
pub(super) const TARGET: u32 = 1;
pub(super) const AFTER: u32 = 2;
pub(super) const INDICES: u32 = 3;
pub(super) const RESULTS: u32 = 4;

/// What the buffers are filled with. Of the target all bytes are the same, so that any part of it is known.
pub(super) const HELD: u8 = 0xa5;
pub(super) const NEIGHBOURS: [u8; 2] = [0xc3, 0x3c];

/// Bytes of the target: a multiple of every alignment of buffers, so that its memory ends where it does.
pub(super) const BYTES: u32 = 4096;

/// Invocations, each with an index.
pub(super) const LOCAL: u32 = 64;

/// What is done beyond the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    Add,
    Exchange,
}

const ACCESSES: [Access; 4] = [Access::Load, Access::Store, Access::Add, Access::Exchange];

impl Access {
    fn name(self) -> &'static str {
        match self {
            Access::Load => "load",
            Access::Store => "store",
            Access::Add => "atomic_add",
            Access::Exchange => "atomic_exchange",
        }
    }

    fn about(self, level: Robustness, types: String) -> About {
        let (op, rule) = match (self, level) {
            (Access::Load, Robustness::Access2) => ("OpLoad", "a load beyond the end gives zero"),
            (Access::Load, _) => ("OpLoad", "a load beyond the end gives zero or what is in the buffer"),
            (Access::Store, Robustness::Access2) => ("OpStore", "a store beyond the end changes nothing"),
            (Access::Store, _) => ("OpStore", "a store beyond the end changes no other memory"),
            (Access::Add, _) => ("OpAtomicIAdd", "an atomic operation beyond the end changes no other memory"),
            (Access::Exchange, _) => ("OpAtomicExchange", "an atomic operation beyond the end changes no other memory"),
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

/// On which side of the buffer accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Behind,
    /// At indices below zero: an access chain takes its indices as signed.
    Before,
}

impl Side {
    /// The indices of the invocations' elements of `size` bytes. The first four are inside.
    fn indices(self, size: u32) -> Vec<u32> {
        match self {
            Side::Behind => behind(size),
            Side::Before => before(size),
        }
    }
}

/// How far before the beginning: next to it, around powers of two, where the neighbours would be if they lay side by side, and as far
/// as 31 bits of offset reach. Those inside are far enough from the beginning to be right under either promise.
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

/// How far beyond the end of the buffer, in elements of `size` bytes: next to it, around powers of two, and as far as 32 bits of
/// offset reach. Those that are inside are far enough from the end to be right under either promise.
fn behind(size: u32) -> Vec<u32> {
    let end = BYTES / size;
    let mut list = vec![0, 1, end / 2, end - 64 / size.min(16) - 1];
    list.extend([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 64].map(|more| end + more));
    list.extend((13..31).map(|power| (1u32 << power) / size + end));
    // Where the neighbours would be, if they lay side by side.
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
                    Access::Add | Access::Exchange if width < 32 => {}
                    _ => {
                        cases.push(buffer(level, access, (ty, 1), Side::Behind));
                        if !signed {
                            cases.push(buffer(level, access, (ty, 1), Side::Before));
                        }
                    }
                }
            }
            if matches!(access, Access::Load | Access::Store) {
                for shape in [2, 4] {
                    cases.push(buffer(level, access, (U32, shape), Side::Behind));
                    cases.push(buffer(level, access, (U32, shape), Side::Before));
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

/// A run-time array of the neighbours' kind, and a word of each, so that they are there.
pub(super) fn neighbours(shader: &mut Shader) -> [String; 2] {
    let u32 = shader.u32();
    [BEFORE, AFTER].map(|binding| {
        let array = shader.runtime_array(&u32, 4);
        let block = shader.block(&[(array, 0)], "Block");
        shader.resource("StorageBuffer", &block, binding)
    })
}

fn buffer(level: Robustness, access: Access, (ty, shape): (Ty, u32), side: Side) -> Case {
    let types = if shape == 1 { ty.name() } else { format!("{}.vec{shape}", ty.name()) };
    let end = if side == Side::Before { ".negative" } else { "" };
    let name = format!("environment.robustness.{}.buffer.{}.{types}{end}", level_name(level), access.name());
    Case::core(name, access.about(level, format!("{types} <- {types}")), move || {
        let size = ty.bytes() * shape;
        let mut shader = Shader::new([LOCAL, 1, 1]);
        if ty.width() == 64 && matches!(access, Access::Add | Access::Exchange) {
            shader.capability("Int64Atomics");
        }
        let scalar = ty.declare(&mut shader);
        let value = shader.vector(&scalar, shape);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let [before, after] = neighbours(&mut shader);
        let array = shader.runtime_array(&value, size);
        let block = shader.block(&[(array, 0)], "Block");
        let target = shader.resource("StorageBuffer", &block, TARGET);
        if access == Access::Load {
            // What is in it is then known.
            shader.decorate(format!("{target} NonWritable"));
        }
        let number = if side == Side::Before { shader.int(32, SIGNED) } else { u32.clone() };
        let array = shader.array(&number, LOCAL, Some(4));
        let block = shader.block(&[(array, 0)], "Block");
        let list = shader.resource("StorageBuffer", &block, INDICES);
        // What is returned, and a word of each neighbour.
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
            Access::Load => {
                let loaded = shader.op(&value, "OpLoad", place);
                let to = shader.access("StorageBuffer", &value, &output, &[&zero, &own]);
                shader.run(format_args!("OpStore {to} {loaded}"));
            }
            Access::Store => {
                let stored = match shape {
                    1 => byte,
                    n => shader.op(&value, "OpCompositeConstruct", vec![byte.as_str(); n as usize].join(" ")),
                };
                shader.run(format_args!("OpStore {place} {stored}"));
            }
            // What they return is undefined.
            Access::Add => drop(shader.op(&value, "OpAtomicIAdd", format_args!("{place} {scope} {zero} {byte}"))),
            Access::Exchange => {
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

        let mut options = Options { groups: Some([1; 3]), padding: true, robustness: level, ..Options::default() };
        let list = side.indices(size);
        // Several invocations must not meet inside.
        let list: Vec<u32> = match access {
            _ if side == Side::Before || access == Access::Load => list,
            _ => {
                (0..LOCAL).map(|i| if i < 4 { list[i as usize] } else { list[i as usize].max(BYTES / size) }).collect()
            }
        };
        for (binding, byte) in [BEFORE, AFTER].into_iter().zip(NEIGHBOURS) {
            options.inputs.push(given(binding, filled(byte, BYTES)));
        }
        options.inputs.push(given(TARGET, filled(HELD, BYTES)));
        options.inputs.push(given(INDICES, list.iter().flat_map(|index| index.to_le_bytes()).collect()));
        let results = pattern(words_at + LOCAL * 4, 0x29);
        options.inputs.push(given(RESULTS, results.clone()));
        Program::new(shader.finish(), options).with_second(move |_| {
            let (mut target, mut results) = (filled(HELD, BYTES), results.clone());
            for (i, index) in list.iter().enumerate() {
                let at = *index as usize * size as usize;
                let inside = at + size as usize <= BYTES as usize;
                let part = if inside { at..at + size as usize } else { 0..0 };
                let bits = 0x5eed_f00d_0bad_cafe_u64.to_le_bytes();
                let scalars = target[part].chunks_exact_mut(ty.bytes() as usize);
                match access {
                    Access::Load => {
                        let byte = if inside { HELD } else { 0 };
                        results[i * size as usize..(i + 1) * size as usize].fill(byte);
                    }
                    Access::Store | Access::Exchange => scalars.for_each(|s| s.copy_from_slice(&bits[..s.len()])),
                    Access::Add => scalars.for_each(|s| {
                        let sum = u64::from_le_bytes([HELD; 8]).wrapping_add(u64::from_le_bytes(bits));
                        // The low words of sums are sums of low words.
                        s.copy_from_slice(&sum.to_le_bytes()[..s.len()]);
                    }),
                }
                let word = [NEIGHBOURS[0] ^ NEIGHBOURS[1]; 4];
                results[words_at as usize + i * 4..][..4].copy_from_slice(&word);
            }
            // What the looser promise leaves open is held against nothing.
            BTreeMap::from([(Slot::new(0, TARGET), target), (Slot::new(0, RESULTS), results)])
        })
    })
}

/// A format with and without what a texel beyond the edge is completed by: name, channels, bytes, and its type.
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

/// Texels of the image along x and y: no power of two, so that what is beyond may be inside its memory.
const SIDES: [u32; 2] = [16, 13];

/// Coordinates beyond and at the edges, and some inside.
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
    let about = match is_load {
        true => about("OpImageRead", types, "a texel beyond the edge is zero, completed as the format says", CLAUSE),
        false => about("OpImageWrite", types, "a texel beyond the edge is not written, and no other is", CLAUSE),
    };
    Case::core(title, about, move || {
        let mut shader = Shader::new([LOCAL, 1, 1]);
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
        // What is written is read from a neighbour, so that both are there.
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
        let mut options = Options { groups: Some([1; 3]), padding: true, robustness: level, ..Options::default() };
        let size = SIDES.iter().product::<u32>() * texel.bytes;
        let places = coordinates();
        // Each texel inside is written by one invocation only, with the first four of the list.
        for (binding, byte) in IMAGES {
            options.inputs.push(given(binding, filled(byte, size)));
            let form = ImageForm { size: Some(vec![SIDES[0], SIDES[1], 1]), ..ImageForm::default() };
            options.images.push((name(binding), form));
        }
        let words = places.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        options.inputs.push(given(INDICES, words));
        options.inputs.push(given(RESULTS, pattern(LOCAL * 16, 0x1d)));
        let program = Program::new(shader.finish(), options);
        match texel.ty {
            Ty::Int { .. } => program.with_second(move |_| left(texel, is_load)),
            Ty::Float { .. } => program,
        }
    })
}

/// What the three images are filled with: of floats, normal numbers.
const IMAGES: [(u32, u8); 3] = [(BEFORE, 0x41), (TARGET, 0x42), (AFTER, 0x40)];

impl Texel {
    /// Four integers of 32 bits as a shader sees a texel that is filled with a byte, or one beyond the edge.
    fn seen(&self, byte: Option<u8>) -> Vec<u8> {
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

/// What a program of integer texels leaves, under either promise.
fn left(texel: &Texel, is_load: bool) -> BTreeMap<Slot, Vec<u8>> {
    let bytes = texel.bytes as usize;
    let [before, held, after] = IMAGES.map(|(_, byte)| byte);
    let mut target = filled(held, SIDES.iter().product::<u32>() * texel.bytes);
    let mut results = Vec::new();
    for [x, y] in coordinates() {
        let [w, h] = SIDES.map(u32::cast_signed);
        let inside = (0..w).contains(&x) && (0..h).contains(&y);
        if is_load {
            results.extend(texel.seen(inside.then_some(held)));
        } else {
            results.extend(texel.seen(Some(after)));
            if inside {
                let at = (y * w + x) as usize * bytes;
                target[at..at + bytes].fill(before);
            }
        }
    }
    BTreeMap::from([(Slot::new(0, TARGET), target), (Slot::new(0, RESULTS), results)])
}
