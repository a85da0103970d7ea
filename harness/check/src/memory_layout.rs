//! Layout of a binding's memory: its scalars, each with an offset and a path.

use assay_exec::{Descriptor, ImageShape};
use assay_float::{BF16, F16, F32, F64, Format};
use assay_precision::Scalar;
use assay_spirv::reflect::TypeLayout;
use std::fmt::Write;

/// A step from a value to one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// A member of a structure: its index, and its name if it has one.
    Member(usize, Option<&'a str>),
    /// An element of an array, or a component of a vector.
    Index(u64),
    /// A column of a matrix. The step to one of its components follows.
    Column(u64),
    /// A texel of an image, or a sample of it.
    Texel {
        /// Its coordinates, the layer last.
        at: [u32; 4],
        /// Number of coordinates.
        axes: usize,
        /// Its mip level.
        level: u32,
        /// Number of its sample, if the image is multisampled.
        sample: Option<u32>,
    },
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Offset in bytes.
    pub offset: u64,
    /// Its type. A type without rules (8-bit floats) is an integer of the same width.
    pub scalar: Scalar,
}

impl Element {
    /// Returns the size in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.scalar.width() / 8)
    }

    /// Returns the bits in memory, right-aligned; `None` beyond its end.
    pub fn read(self, memory: &[u8]) -> Option<u64> {
        read_bits(memory, self.offset, self.scalar.width())
    }
}

/// Returns `width` bits at an offset, right-aligned; `None` beyond the end.
pub(crate) fn read_bits(memory: &[u8], offset: u64, width: u32) -> Option<u64> {
    let start = usize::try_from(offset).ok()?;
    let bytes = memory.get(start..start.checked_add(width as usize / 8)?)?;
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}

/// Writes `width` bits at an offset, if they fit.
pub(crate) fn write_bits(memory: &mut [u8], offset: u64, width: u32, bits: u64) {
    let bytes = bits.to_le_bytes();
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    if let Some(target) = memory.get_mut(start..start.saturating_add(width as usize / 8)) {
        target.copy_from_slice(&bytes[..width as usize / 8]);
    }
    debug_assert!(read_bits(memory, offset, width).is_some());
}

/// Kind of a binding's memory.
#[derive(Clone, Copy, Debug)]
pub enum MemoryContents<'a> {
    /// Block of a buffer.
    Block(&'a TypeLayout),
    /// Texels of an image or texel buffer.
    Texels(&'a ImageShape),
}

impl<'a> MemoryContents<'a> {
    /// Returns the kind of a descriptor's memory; `None` for samplers and for kinds that are not
    /// supported.
    pub fn of(descriptor: &'a Descriptor) -> Option<MemoryContents<'a>> {
        let block = descriptor.block.as_deref().map(MemoryContents::Block);
        block.or_else(|| descriptor.texels.as_ref().map(MemoryContents::Texels))
    }

    /// Visits every scalar in `size` bytes in the order of memory; see [`walk_scalars`].
    pub fn walk_scalars(self, size: u64, visit: &mut dyn FnMut(Element, &[PathStep<'a>])) {
        match self {
            MemoryContents::Block(shape) => walk_scalars(shape, size, visit),
            MemoryContents::Texels(texels) => walk_texels(texels, size, visit),
        }
    }
}

/// Visits every scalar of an image in `size` bytes in the order of memory: by level, layer and row.
/// The samples of a texel follow one another.
pub(crate) fn walk_texels<'a>(texels: &ImageShape, size: u64, visit: &mut dyn FnMut(Element, &[PathStep<'a>])) {
    const NAMES: [&str; 4] = ["r", "g", "b", "a"];
    let (image, scalars) = (texels.without_contents(), texels.scalars());
    let axes = image.axes() as usize;
    let layered = image.layers > 1 || texels.is_arrayed();
    let mut offset = 0;
    for level in 0..image.levels {
        let [w, h, d] = image.extent_of(level);
        for texel in 0..u64::from(image.layers) * u64::from(d) * u64::from(h) * u64::from(w) {
            let (row, x) = (texel / u64::from(w), (texel % u64::from(w)) as u32);
            let (slice, y) = (row / u64::from(h), (row % u64::from(h)) as u32);
            let (layer, z) = ((slice / u64::from(d)) as u32, (slice % u64::from(d)) as u32);
            let mut at = [x, y, z, 0];
            if layered {
                at[axes] = layer;
            }
            let axes = axes + usize::from(layered);
            for sample in 0..image.samples {
                let sample = (image.samples > 1).then_some(sample);
                let place = PathStep::Texel { at, axes, level, sample };
                for (i, &scalar) in scalars.iter().enumerate() {
                    let element = Element { offset, scalar };
                    offset += element.bytes();
                    if offset > size {
                        return;
                    }
                    let channel = PathStep::Member(i, NAMES.get(i).copied());
                    let path = [place, channel];
                    visit(element, if scalars.len() > 1 { &path } else { &path[..1] });
                }
            }
        }
    }
}

/// Visits every scalar of a value in `size` bytes in the order of memory, with its path. A run-time
/// array has as many elements as fit. A block's single member without a name is not part of the
/// path.
pub fn walk_scalars<'a>(shape: &'a TypeLayout, size: u64, visit: &mut dyn FnMut(Element, &[PathStep<'a>])) {
    let mut path = Vec::new();
    match shape {
        // A wrapper that the translator adds around the declared type.
        TypeLayout::Struct { members, .. } if members.len() == 1 && is_wrapper(members[0].name.as_deref()) => {
            let start = members[0].offset.map_or(0, u64::from);
            within(&members[0].shape, start, size, &mut path, visit);
        }
        other => within(other, 0, size, &mut path, visit),
    }
}

fn within<'a>(
    shape: &'a TypeLayout,
    at: u64,
    end: u64,
    path: &mut Vec<PathStep<'a>>,
    visit: &mut dyn FnMut(Element, &[PathStep<'a>]),
) {
    let mut scalar = |scalar: Scalar, path: &[PathStep<'a>]| {
        let element = Element { offset: at, scalar };
        if at + element.bytes() <= end {
            visit(element, path);
        }
    };
    match shape {
        TypeLayout::Bool => scalar(Scalar::Int { width: 32, signed: false }, path),
        TypeLayout::Int { width, signed } => scalar(Scalar::Int { width: *width, signed: *signed }, path),
        TypeLayout::Float { width, encoding } => {
            let format: Option<Format> = match (width, encoding) {
                (16, None) => Some(F16),
                (32, None) => Some(F32),
                (64, None) => Some(F64),
                (16, Some(assay_spirv::tables::FPEncoding::BFloat16KHR)) => Some(BF16),
                _ => None,
            };
            let other = Scalar::Int { width: *width, signed: false };
            scalar(format.map_or(other, Scalar::Float), path);
        }
        TypeLayout::Vector { component, count } => {
            for i in 0..u64::from(*count) {
                part(component, at + i * component.size(), end, PathStep::Index(i), path, visit);
            }
        }
        TypeLayout::Matrix { component, columns, rows, stride, row_major } => {
            for column in 0..u64::from(*columns) {
                for row in 0..u64::from(*rows) {
                    let (line, place, length) = if *row_major { (row, column, *columns) } else { (column, row, *rows) };
                    let stride = stride.map_or(component.size() * u64::from(length), u64::from);
                    let offset = at + line * stride + place * component.size();
                    path.push(PathStep::Column(column));
                    part(component, offset, end, PathStep::Index(row), path, visit);
                    path.pop();
                }
            }
        }
        TypeLayout::Array { element, count, stride } => {
            let stride = stride.map_or(element.size(), u64::from);
            let fit = end.saturating_sub(at).checked_div(stride).unwrap_or(0);
            for i in 0..count.unwrap_or(fit) {
                part(element, at + i * stride, end, PathStep::Index(i), path, visit);
            }
        }
        TypeLayout::Struct { members, .. } => {
            let mut next = at;
            for (i, member) in members.iter().enumerate() {
                let start = member.offset.map_or(next, |offset| at + u64::from(offset));
                next = start + member.shape.size();
                part(&member.shape, start, end, PathStep::Member(i, member.name.as_deref()), path, visit);
            }
        }
        TypeLayout::Pointer { .. } => scalar(Scalar::Int { width: 64, signed: false }, path),
        TypeLayout::Opaque => {}
    }
}

fn part<'a>(
    shape: &'a TypeLayout,
    at: u64,
    end: u64,
    step: PathStep<'a>,
    path: &mut Vec<PathStep<'a>>,
    visit: &mut dyn FnMut(Element, &[PathStep<'a>]),
) {
    path.push(step);
    within(shape, at, end, path, visit);
    path.pop();
}

/// Returns a path as text, such as `.lights[3].colour[0]`.
pub fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        _ = match step {
            PathStep::Member(_, Some(name)) => write!(text, ".{name}"),
            PathStep::Member(i, None) => write!(text, ".{i}"),
            PathStep::Index(i) | PathStep::Column(i) => write!(text, "[{i}]"),
            PathStep::Texel { at, axes, level, sample } => {
                let at: Vec<String> = at.iter().take(*axes).map(u32::to_string).collect();
                let level = if *level > 0 { format!("level {level} ") } else { String::new() };
                let sample = sample.map_or_else(String::new, |sample| format!("sample {sample} "));
                write!(text, "{level}{sample}({})", at.join(", "))
            }
        };
    }
    text
}

/// Returns whether the text of a path in a block ([`path_text`]) is `named`, or leads on from there.
pub(crate) fn is_within(path: &[PathStep], named: &str) -> bool {
    let mut rest = named;
    for step in path {
        let number = |text: &'_ str, i: u64| -> Option<usize> {
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let is_same = text[..digits].parse() == Ok(i) && (digits == 1 || !text.starts_with('0'));
            is_same.then_some(digits)
        };
        let after = match step {
            // The text of a texel begins with its coordinates.
            PathStep::Texel { .. } => return false,
            _ if rest.is_empty() => return true,
            PathStep::Member(_, Some(name)) => rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(name)),
            PathStep::Member(i, None) => {
                rest.strip_prefix('.').and_then(|rest| Some(&rest[number(rest, *i as u64)?..]))
            }
            PathStep::Index(i) | PathStep::Column(i) => rest
                .strip_prefix('[')
                .and_then(|rest| Some(&rest[number(rest, *i)?..]))
                .and_then(|rest| rest.strip_prefix(']')),
        };
        let Some(after) = after else { return false };
        rest = after;
    }
    rest.is_empty()
}

/// Returns whether a translator gives this name to the only member of a block: naga gives none, glslang
/// `@data` and slangc `__member0` to the elements of a structured buffer in HLSL.
fn is_wrapper(name: Option<&str>) -> bool {
    name.is_none_or(|name| ["@data", "__member0"].contains(&name))
}

/// Returns the size in bytes of a value whose run-time array, if any, has `elements` elements.
pub fn size_with_elements(shape: &TypeLayout, elements: u64) -> u64 {
    match shape {
        // Only the last member can be or contain a run-time array.
        TypeLayout::Struct { members, .. } => {
            let Some(last) = members.last().filter(|_| runtime_stride(shape).is_some()) else { return shape.size() };
            let start = last.offset.map_or_else(|| shape.size(), u64::from);
            shape.size().max(start.saturating_add(size_with_elements(&last.shape, elements)))
        }
        TypeLayout::Array { element, count: None, stride } => {
            stride.map_or(element.size(), u64::from).saturating_mul(elements)
        }
        other => other.size(),
    }
}

/// Returns the stride of the run-time array that a block ends with, if any.
pub fn runtime_stride(shape: &TypeLayout) -> Option<u64> {
    match shape {
        TypeLayout::Struct { members, .. } => members.last().and_then(|last| runtime_stride(&last.shape)),
        TypeLayout::Array { element, count: None, stride } => Some(stride.map_or(element.size(), u64::from)),
        _ => None,
    }
}

/// Returns memory with every scalar computed from its index. Padding is zero.
pub(crate) fn scalars(
    contents: MemoryContents<'_>,
    bytes: u64,
    bits: impl FnMut(Element, Scalar, u64) -> u64,
) -> Vec<u8> {
    let mut data = vec![0u8; bytes as usize];
    put_scalars(contents, (&mut data, &|_| true), bits);
    data
}

/// Memory, and the scalars in it, by their paths, that form a part of it.
pub(crate) type MemoryPart<'a> = (&'a mut [u8], &'a dyn Fn(&[PathStep<'_>]) -> bool);

/// Writes the scalars that `is_part` selects by their paths, each computed from its index among them.
pub(crate) fn put_scalars(
    contents: MemoryContents<'_>,
    (data, is_part): MemoryPart<'_>,
    mut bits: impl FnMut(Element, Scalar, u64) -> u64,
) {
    let mut index = 0;
    contents.walk_scalars(data.len() as u64, &mut |element, path| {
        if is_part(path) {
            let value = bits(element, element.scalar, index);
            index += 1;
            write_bits(data, element.offset, element.scalar.width(), value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Image;
    use assay_spirv::reflect::Member;
    use assay_spirv::tables::{Dim, ImageFormat};
    use assay_texture::ImageView;
    use std::sync::Arc;

    #[test]
    fn structure_sizes_are_multiples_of_the_alignment() {
        let f32 = Arc::new(TypeLayout::Float { width: 32, encoding: None });
        let vec3 = Arc::new(TypeLayout::Vector { component: f32.clone(), count: 3 });
        let block = |shape: &Arc<TypeLayout>| {
            let members = vec![Member { name: None, offset: Some(0), shape: shape.clone() }];
            Arc::new(TypeLayout::structure(None, members))
        };
        // A single value has no padding.
        assert_eq!(block(&vec3).padded_size(), 12);
        let light = block(&vec3);
        assert_eq!((size_with_elements(&block(&light), 1), block(&light).padded_size()), (12, 16));
        assert_eq!(block(&block(&f32)).padded_size(), 4);
    }

    #[test]
    fn scalars_are_visited_at_the_offsets_of_the_layout() {
        let f32 = Arc::new(TypeLayout::Float { width: 32, encoding: None });
        let u16 = Arc::new(TypeLayout::Int { width: 16, signed: false });
        let matrix =
            TypeLayout::Matrix { component: f32.clone(), columns: 2, rows: 3, stride: Some(8), row_major: true };
        let vec2 = TypeLayout::Vector { component: f32, count: 2 };
        let array = TypeLayout::Array { element: Arc::new(vec2), count: None, stride: Some(16) };
        let member = |name: &str, offset, shape| Member { name: Some(name.into()), offset: Some(offset), shape };
        let members = vec![member("h", 0, u16), member("m", 8, Arc::new(matrix)), member("v", 32, Arc::new(array))];
        let block = TypeLayout::structure(None, members);
        let mut found = Vec::new();
        walk_scalars(&block, 60, &mut |element, path| found.push((element.offset, path_text(path))));
        let expected = [
            (0, ".h"),
            (8, ".m[0][0]"),
            (16, ".m[0][1]"),
            (24, ".m[0][2]"),
            (12, ".m[1][0]"),
            (20, ".m[1][1]"),
            (28, ".m[1][2]"),
            (32, ".v[0][0]"),
            (36, ".v[0][1]"),
        ];
        assert_eq!(found, expected.map(|(at, path)| (at, path.to_owned())));
        assert_eq!((size_with_elements(&block, 3), runtime_stride(&block)), (80, Some(16)));
        assert_eq!(read_bits(&[1, 2, 3, 4], 1, 16), Some(0x0302));
        assert_eq!(read_bits(&[1, 2], 1, 16), None);
    }

    #[test]
    fn texels_are_ordered_by_level_layer_and_row() {
        let (dim, extent, format, view) = (Dim::Dim2D, [3, 2, 1], ImageFormat::Rg16f, ImageView::ALL);
        let image =
            Image { dim, extent, layers: 2, levels: 2, samples: 1, format, depth: false, view, data: Vec::new() };
        let texels = ImageShape::new(image, true).expect("a format of memory");
        let mut found = Vec::new();
        walk_texels(&texels, texels.bytes(), &mut |element, path| found.push((element.offset, path_text(path))));
        assert_eq!((found.len() as u64 * 2, texels.bytes()), (56, 56));
        let place = |n: usize| (found[n].0, found[n].1.as_str());
        assert_eq!(place(1), (2, "(0, 0, 0).g"));
        assert_eq!(place(2 * 4), (16, "(1, 1, 0).r"));
        assert_eq!(place(2 * 11), (44, "(2, 1, 1).r"));
        assert_eq!(place(2 * 13), (52, "level 1 (0, 0, 1).r"));
    }

    #[test]
    fn a_path_is_within_those_that_its_text_leads_on_from() {
        let paths: [&[PathStep]; 4] = [
            &[PathStep::Member(0, Some("lights")), PathStep::Index(12), PathStep::Member(3, None)],
            &[PathStep::Member(1, Some("m")), PathStep::Column(1), PathStep::Index(0)],
            &[PathStep::Index(12)],
            &[],
        ];
        for path in paths {
            let text = path_text(path);
            let named = (0..=text.len()).map(|end| text[..end].to_owned());
            for named in
                named.chain([".l", ".lights[1]", ".lights[012]", ".lights[12].30", "[12][0]"].map(str::to_owned))
            {
                let rest = text.strip_prefix(named.as_str());
                let expected = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
                assert_eq!(is_within(path, &named), expected, "{text}: {named}");
            }
        }
    }
}
