//! Choosing cases by name.

use std::collections::{BTreeSet, HashMap};

/// A pattern over dotted case names: with `*` (any characters, dots too) it must match the whole name; without, it names
/// one case or, as a prefix of whole components, a group of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    pattern: String,
}

impl Filter {
    /// The filter of that pattern, matched without case.
    pub fn new(pattern: &str) -> Filter {
        Filter { pattern: pattern.trim_end_matches('.').to_ascii_lowercase() }
    }

    /// The pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether the name matches.
    pub fn matches(&self, name: &str) -> bool {
        if self.pattern.contains('*') {
            return wildcard(self.pattern.as_bytes(), name.as_bytes());
        }
        name.strip_prefix(&self.pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether the pattern is the whole name, which asks even for a case that a budget would leave out.
    pub fn names_exactly(&self, name: &str) -> bool {
        self.pattern == name
    }

    /// The names that share the most whole components with the pattern, best first, for a message when nothing matches.
    pub fn nearest<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let wanted: Vec<&str> = self.pattern.split(['.', '*']).filter(|part| !part.is_empty()).collect();
        let likeness = |part: &str, other: &str| -> usize {
            let prefix = part.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            if part == other { 2 * part.len() + 2 } else { prefix }
        };
        let score = |name: &str| -> usize {
            wanted.iter().map(|part| name.split('.').map(|other| likeness(part, other)).max().unwrap_or(0)).sum()
        };
        let mut scored: Vec<(usize, &str)> = names.map(|name| (score(name), name)).collect();
        scored.sort_by_key(|&(score, name)| (std::cmp::Reverse(score), name.len()));
        scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
    }
}

/// Filters, of which a name has to match one. However many there are without stars, a name is looked up by its components.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Each once, in the order in which they were given.
    list: Vec<Filter>,
    /// Those without stars, by their patterns.
    plain: HashMap<String, usize>,
    starred: Vec<usize>,
}

impl Filters {
    /// The filters of those patterns.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Filters {
        let mut filters = Filters::default();
        for pattern in patterns {
            let (filter, number) = (Filter::new(pattern.as_ref()), filters.list.len());
            if filters.list_has(&filter) {
                continue;
            }
            match filter.pattern.contains('*') {
                true => filters.starred.push(number),
                false => _ = filters.plain.insert(filter.pattern.clone(), number),
            }
            filters.list.push(filter);
        }
        filters
    }

    fn list_has(&self, filter: &Filter) -> bool {
        let starred = || self.starred.iter().filter_map(|number| self.list.get(*number)).any(|known| known == filter);
        self.plain.contains_key(&filter.pattern) || starred()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one matches the name.
    pub fn matches(&self, name: &str) -> bool {
        let starred = || self.starred.iter().filter_map(|number| self.list.get(*number)).any(|one| one.matches(name));
        groups(name).any(|group| self.plain.contains_key(group)) || starred()
    }

    /// Whether one of the patterns is the whole name: [`Filter::names_exactly`].
    pub fn names_exactly(&self, name: &str) -> bool {
        self.plain.contains_key(name)
    }

    /// The first that matches none of the names.
    pub fn without_match<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<&Filter> {
        let mut without: BTreeSet<usize> = (0..self.list.len()).collect();
        let mut starred: Vec<usize> = self.starred.clone();
        for name in names {
            groups(name).filter_map(|group| self.plain.get(group)).for_each(|number| _ = without.remove(number));
            starred.retain(|number| {
                let matches = self.list.get(*number).is_some_and(|one| one.matches(name));
                if matches {
                    without.remove(number);
                }
                !matches
            });
            if without.is_empty() {
                break;
            }
        }
        without.first().and_then(|number| self.list.get(*number))
    }
}

/// The groups that a case is in by its name, and the name itself.
fn groups(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').map(|(at, _)| &name[..at]).chain([name])
}

/// Whether the pattern matches the whole text, `*` standing for any characters; linear but for the last star.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, from)) = star {
            (p, t) = (after, from + 1);
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_offered() {
        let names = [
            "precision.f16.exp.scalar.default",
            "precision.f32.exp2.scalar.default",
            "precision.f32.log.scalar.default",
        ];
        assert_eq!(Filter::new("precision.f32.exp3").nearest(names.into_iter())[0], names[1]);
    }

    /// And patterns are read once, so that a list of as many as there are cases takes no longer for each.
    #[test]
    fn many_filters_match_what_each_alone_does() {
        let names = ["a.b.c", "a.bc", "b", "b.c.d", "a.b.c.d", ""];
        let patterns = ["a.b", "A.B.C", "*.d", "b.c.d.", "nothing", "a.*.d", "nothing*"];
        for count in 0..=patterns.len() {
            let (each, all) = (patterns[..count].iter().map(|p| Filter::new(p)), Filters::new(&patterns[..count]));
            let each: Vec<Filter> = each.collect();
            for name in names {
                assert_eq!(all.matches(name), each.iter().any(|one| one.matches(name)), "{name} {count}");
                assert_eq!(all.names_exactly(name), each.iter().any(|one| one.names_exactly(name)), "{name} {count}");
            }
            let without = each.iter().find(|one| !names.iter().any(|name| one.matches(name)));
            assert_eq!(all.without_match(names.into_iter()), without, "{count}");
        }
        let many = Filters::new((0..100_000).map(|number| format!("a.{number}")));
        assert!((0..100_000).all(|number| many.matches(&format!("a.{number}.b"))));
        assert_eq!(Filters::new(["a", "a.", "*", "*"]).list.len(), 2);
    }

    #[test]
    fn a_filter_names_a_case_or_a_group_or_a_pattern() {
        let name = "precision.f32.exp2.scalar.default";
        for yes in [
            name,
            "precision",
            "precision.f32.",
            "Precision.F32.Exp2",
            "*",
            "precision.*.default",
            "*exp2*",
            "precision.f32.exp2.*",
        ] {
            assert!(Filter::new(yes).matches(name), "{yes}");
        }
        for no in
            ["precision.f32.exp", "precision.f3", "*.f16.*", "*.constant", "exp2", "precision.f32.exp2.*.constant"]
        {
            assert!(!Filter::new(no).matches(name), "{no}");
        }
        assert!(Filter::new(name).names_exactly(name) && !Filter::new("precision").names_exactly(name));
    }
}
