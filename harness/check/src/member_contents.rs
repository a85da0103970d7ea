//! Contents of members of the elements of an array: those of the positions of all vertices, for example.

use crate::memory_layout::{MemoryContents, PathStep};
use crate::options::BindingSource;
use assay_oracle::Slot;

/// Contents of the scalars at a path of a buffer. A path without an index of an array (`vertices.position`)
/// names all of its elements.
#[derive(Clone, Debug)]
pub(crate) struct MemberContents {
    pub(crate) slot: Slot,
    /// The path as text.
    text: String,
    path: Vec<Step>,
    pub(crate) source: BindingSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Index(u64),
}

impl MemberContents {
    /// Returns the contents of some scalars of a buffer of `bytes` bytes; `None` if the path names no scalar
    /// of it.
    pub(crate) fn new(
        (contents, bytes, slot): (MemoryContents<'_>, u64, Slot),
        path: &str,
        source: &BindingSource,
    ) -> Option<MemberContents> {
        let of = MemberContents { slot, text: path.to_owned(), path: steps(path)?, source: source.clone() };
        let mut names_any = false;
        contents.walk_scalars(bytes, &mut |_, steps| names_any |= of.covers(steps));
        names_any.then_some(of)
    }

    /// Returns the path as text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the path names a scalar or the value that it is a part of.
    pub(crate) fn covers(&self, steps: &[PathStep<'_>]) -> bool {
        let mut rest = &self.path[..];
        for step in steps {
            let Some((wanted, after)) = rest.split_first() else { return true };
            rest = match (step, wanted) {
                (PathStep::Member(_, Some(name)), Step::Member(wanted)) if name == wanted => after,
                (PathStep::Member(at, None), Step::Member(wanted)) if at.to_string() == *wanted => after,
                (PathStep::Index(at) | PathStep::Column(at), Step::Index(wanted)) if at == wanted => after,
                (PathStep::Index(_) | PathStep::Column(_), Step::Member(_)) => rest,
                _ => return false,
            };
        }
        rest.is_empty()
    }
}

/// Returns the steps of a path such as `.lights[3].color`; `None` if it is no path.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(index) => {
                let (index, after) = index.split_once(']')?;
                (Step::Index(index.trim().parse().ok()?), after)
            }
            None => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                (Step::Member(rest[..end].to_owned()), &rest[end..])
            }
        };
        steps.push(step);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_an_index_names_all_elements() {
        let covers = |path: &str, place: &[PathStep<'_>]| {
            let (text, path) = (path.to_owned(), steps(path).expect("a path"));
            MemberContents { slot: Slot::new(0, 0), text, path, source: BindingSource::Index }.covers(place)
        };
        let member = |name| PathStep::Member(0, Some(name));
        let place = [member("lights"), PathStep::Index(3), member("color"), PathStep::Index(1)];
        for path in ["lights", "lights.color", ".lights[3].color", "lights[3]", "lights.color[1]"] {
            assert!(covers(path, &place), "{path}");
        }
        for path in ["light", "color", "lights[2].color", "lights.color[0]", "lights.color.x", "lights.col"] {
            assert!(!covers(path, &place), "{path}");
        }
        for bad in ["lights[", "lights[x]", "a[-1]"] {
            assert_eq!(steps(bad), None, "{bad}");
        }
    }
}
