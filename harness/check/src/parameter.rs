//! Values of single scalars of the push constants and of buffers: parameters such as sizes and
//! strides, beside contents that are given or generated as a whole.
//!
//! A parameter is named by its path (`size[0]`, `params.count`) or by its byte offset (`@16`,
//! `0.1@16`). A path to a vector, an array or a structure names all scalars in it. Its value is a
//! number, one for each of the scalars (`32,16`), or several numbers that serve the rounds in turn:
//! `0/1/2`.

use crate::memory_layout::{
    MemoryContents, PathStep, is_within, path_text, size_with_elements, walk_scalars, write_bits,
};
use crate::scalar_text::scalar_from_text;
use assay_exec::Descriptor;
use assay_oracle::{Dispatch, Resource, Slot};
use assay_precision::Scalar;
use std::fmt::Write;

/// A scalar in memory with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterValue {
    /// Buffer; `None` for the push constants.
    pub(crate) place: Option<Slot>,
    /// Offset in bytes.
    pub(crate) offset: u64,
    /// Width in bits.
    width: u32,
    /// Bits of the values, which serve the rounds in turn.
    bits: Vec<u64>,
}

impl ParameterValue {
    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.bits.len()
    }
}

/// Separator of the values of the scalars at a path, such as the components of a vector.
pub(crate) const LIST: char = ',';

/// Separator of the values that serve the rounds in turn.
pub(crate) const IN_TURN: char = '/';

/// Returns the part of a text with values in turn that serves a round.
pub(crate) fn in_round(text: &str, round: u32) -> &str {
    let number = text.split(IN_TURN).count();
    text.split(IN_TURN).nth(round as usize % number).unwrap_or(text).trim()
}

/// Largest number of scalars that a message lists.
const LISTED: usize = 8;

/// Returns the ways to split a name into that of a binding and the path of a parameter in it. The
/// longest binding comes first.
pub(crate) fn splits(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let starts_path = |c: char| matches!(c, '.' | '[' | '@');
    name.rmatch_indices(starts_path).map(|(at, _)| name.split_at(at)).filter(|(binding, _)| !binding.is_empty())
}

/// Returns whether the block of a buffer has the member with which a path begins.
pub(crate) fn has_member(descriptor: &Descriptor, path: &str) -> bool {
    let Some(block) = descriptor.block.as_deref() else { return false };
    let first = path.split(['.', '[', '@']).next();
    let mut has_member = false;
    walk_scalars(block, size_with_elements(block, 1), &mut |_, steps| {
        let begin = steps.iter().find_map(|step| if let PathStep::Member(_, name) = step { Some(*name) } else { None });
        has_member |= begin.flatten().is_some() && begin.flatten() == first;
    });
    has_member
}

/// Reason, as a phrase, for which a path and a text give no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParameterError {
    /// The path names no scalar.
    #[error("{0}")]
    NoScalar(String),
    /// The text gives no values for the scalars of the path.
    #[error("{0}")]
    Wrong(String),
}

/// Returns the values of each scalar at a path in memory of `bytes` bytes.
///
/// # Errors
/// The path names no scalar, or the text is not a value of its type.
pub(crate) fn values_at(
    contents: MemoryContents<'_>,
    bytes: u64,
    place: Option<Slot>,
    (path, text): (&str, &str),
) -> Result<Vec<ParameterValue>, ParameterError> {
    use ParameterError::{NoScalar, Wrong};
    let offset = path.strip_prefix('@').map(|offset| offset.trim().parse::<u64>());
    if let Some(Err(_)) = offset {
        return Err(Wrong(format!("`{path}`: expected a byte offset after `@`")));
    }
    let path = if path.starts_with(['.', '[', '@']) { path.to_owned() } else { format!(".{path}") };
    let (mut found, mut wrong, mut there, mut count) = (Vec::new(), None, Vec::new(), 0);
    let components: Vec<&str> = text.split(LIST).collect();
    contents.walk_scalars(bytes, &mut |element, steps| {
        let is_named = match &offset {
            Some(offset) => offset.as_ref() == Ok(&element.offset),
            None => {
                if there.len() < LISTED {
                    there.push(path_text(steps));
                }
                is_within(steps, &path)
            }
        };
        count += 1;
        if is_named {
            let text = components.get(found.len() % components.len()).copied().unwrap_or(text);
            let bits: Option<Vec<u64>> =
                text.split(IN_TURN).map(|number| scalar_from_text(element.scalar, number.trim())).collect();
            if bits.is_none() {
                wrong.get_or_insert(element.scalar);
            }
            let (offset, width) = (element.offset, element.scalar.width());
            found.push(ParameterValue { place, offset, width, bits: bits.unwrap_or_default() });
        }
    });
    if let Some(scalar) = wrong {
        return Err(Wrong(format!("`{path}`: `{text}` is not a value of type {scalar}")));
    }
    if components.len() > 1 && !found.is_empty() && found.len() != components.len() {
        let (scalars, numbers) = (found.len(), components.len());
        return Err(Wrong(format!("`{path}` has {scalars} scalars, and `{text}` are {numbers} numbers")));
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if offset.is_some() {
        return Err(NoScalar(format!("no scalar begins at byte {}", &path[1..])));
    }
    let mut known = there.join(", ");
    if let Some(more) = (count as usize).checked_sub(there.len()).filter(|&more| more > 0) {
        _ = write!(known, " and {more} more");
    }
    Err(NoScalar(format!("no scalar `{path}`; there are {known}")))
}

/// Writes the values of a round into the memory of its dispatch.
pub(crate) fn put(values: &[ParameterValue], round: u32, dispatch: &mut Dispatch) {
    for value in values {
        let memory = match value.place {
            None => &mut dispatch.push_constants,
            Some(slot) => match dispatch.bindings.get_mut(&slot) {
                Some(Resource::Buffer(buffer)) => &mut buffer.data,
                _ => continue,
            },
        };
        let bits = value.bits[round as usize % value.bits.len()];
        write_bits(memory, value.offset, value.width, bits);
    }
}

/// Returns whether a non-negative number is a value of an integer type.
pub(crate) fn width_permits(scalar: Scalar, number: u64) -> bool {
    scalar_from_text(scalar, &number.to_string()).is_some()
}

/// Text of `--push`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PushText<'a> {
    /// Contents of all push constants, in the form of a source.
    pub(crate) contents: Option<&'a str>,
    /// Values of single push constants, by path or offset.
    pub(crate) values: Vec<(String, String)>,
}

/// Splits the text of `--push` into contents for all of the push constants, if there are any, and
/// values of parameters: `zeros,ne=2048,size[0]=16`. The name of an existing file is taken whole.
///
/// # Errors
/// A phrase if there are several contents.
pub(crate) fn split_push(text: &str) -> Result<PushText<'_>, String> {
    if std::path::Path::new(text).exists() {
        return Ok(PushText { contents: Some(text), values: Vec::new() });
    }
    let mut push = PushText { contents: None, values: Vec::new() };
    for part in text.split(',').map(str::trim) {
        match part.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                push.values.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ if push.contents.is_none() => push.contents = Some(part),
            _ => return Err(format!("`{text}`: expected at most one CONTENTS, and NAME=VALUE for parameters")),
        }
    }
    Ok(push)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::reflect::{Member, TypeLayout};
    use std::sync::Arc;

    fn block() -> TypeLayout {
        let u32 = Arc::new(TypeLayout::Int { width: 32, signed: false });
        let f32 = Arc::new(TypeLayout::Float { width: 32, encoding: None });
        let vec2 = Arc::new(TypeLayout::Vector { component: u32.clone(), count: 2 });
        let member = |name: &str, offset, shape: &Arc<TypeLayout>| Member {
            name: Some(name.into()),
            offset: Some(offset),
            shape: shape.clone(),
        };
        TypeLayout::structure(None, vec![member("ne", 0, &u32), member("size", 8, &vec2), member("nest", 16, &f32)])
    }

    #[test]
    fn parameters_are_found_by_path_and_by_offset() {
        let block = block();
        let find = |path: &str, text: &str| {
            let found = values_at(MemoryContents::Block(&block), 20, None, (path, text));
            let found = found.map_err(|error| error.to_string())?;
            Ok::<_, String>(found.into_iter().map(|value| (value.offset, value.bits[0])).collect::<Vec<_>>())
        };
        for path in ["ne", ".ne", "@0"] {
            assert_eq!(find(path, "7").unwrap(), [(0, 7)], "{path}");
        }
        assert_eq!(find("size", "0x10").unwrap(), [(8, 16), (12, 16)]);
        assert_eq!(find("size[1]", "3").unwrap(), [(12, 3)]);
        assert_eq!(find("nest", "1").unwrap(), [(16, 0x3f80_0000)]);
        assert_eq!(find("n", "1").unwrap_err(), "no scalar `.n`; there are .ne, .size[0], .size[1], .nest");
        assert!(find("@4", "1").unwrap_err().contains("no scalar begins at byte 4"));
        assert!(find("@x", "1").unwrap_err().contains("byte offset"));
        assert!(find("ne", "-1").unwrap_err().contains("`-1` is not a value of type u32"));
    }

    #[test]
    fn values_replace_single_scalars_of_a_dispatch() {
        let values = values_at(MemoryContents::Block(&block()), 20, None, ("size[0]", "258 / 3")).unwrap();
        let mut dispatch = Dispatch { push_constants: vec![0xff; 20], ..Dispatch::default() };
        for (round, expected) in [[2, 1], [3, 0], [2, 1]].into_iter().enumerate() {
            put(&values, round as u32, &mut dispatch);
            assert_eq!(dispatch.push_constants[7..13], [0xff, expected[0], expected[1], 0, 0, 0xff]);
        }
    }

    #[test]
    fn names_and_texts_are_split() {
        assert_eq!(splits("0.1@8").collect::<Vec<_>>(), [("0.1", "@8"), ("0", ".1@8")]);
        assert_eq!(splits("p.size[2]").collect::<Vec<_>>(), [("p.size", "[2]"), ("p", ".size[2]")]);
        assert_eq!(splits("data").count(), 0);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let values = vec![pair("ne", "2048"), pair("@16", "4")];
        assert_eq!(split_push("hard, ne=2048,@16 = 4").unwrap(), PushText { contents: Some("hard"), values });
        assert_eq!(split_push("=5").unwrap(), PushText { contents: Some("=5"), values: Vec::new() });
        assert!(split_push("zeros,ones").is_err());
    }
}
