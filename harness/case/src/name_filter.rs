//! Selection of cases by name.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A pattern for dotted case names. A pattern with `*` (any characters, including dots) must match
/// the whole name. Without `*`, it names one case or, as a prefix of whole components, a group of
/// cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameFilter {
    /// In lower case unless it is a path, with a single star for consecutive ones.
    pattern: String,
    /// Length without stars, in bytes; no shorter name matches.
    least: usize,
}

impl NameFilter {
    /// Creates the filter for a pattern. It is matched regardless of case, unless it is a path, with a
    /// `/`: names of built-in cases are in lower case, those of files are not. A pattern without
    /// stars is one of built-in cases.
    pub fn new(pattern: &str) -> NameFilter {
        let pattern = pattern.trim_end_matches('.');
        let mut pattern = if pattern.contains('/') { pattern.to_owned() } else { pattern.to_ascii_lowercase() };
        let mut after_star = false;
        pattern.retain(|c| !std::mem::replace(&mut after_star, c == '*') || c != '*');
        let least = pattern.bytes().filter(|byte| *byte != b'*').count();
        NameFilter { pattern, least }
    }

    /// Returns the pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns true if the name matches.
    pub fn matches(&self, name: &str) -> bool {
        if name.len() < self.least {
            return false;
        }
        if self.is_starred() {
            let is_path = self.pattern.contains('/');
            return wildcard(self.pattern.as_bytes(), name.as_bytes(), |a, b| {
                a == b || !is_path && a == b.to_ascii_lowercase()
            });
        }
        name.strip_prefix(&self.pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    fn is_starred(&self) -> bool {
        self.least < self.pattern.len()
    }

    /// Returns true if the pattern is the whole name, which selects even a case that a budget would
    /// leave out.
    pub fn names_exactly(&self, name: &str) -> bool {
        self.pattern == name
    }

    /// Returns the three names most similar to the pattern by their components, best first, for a
    /// message when nothing matches. Returns none for a pattern that resembles no name, as it is
    /// longer or has more parts than any: comparing each part with each name would take long.
    pub fn similar_names<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        const MAX_PARTS: usize = 32;
        const MAX_BYTES: usize = 512;
        let parts = || self.pattern.split(['.', '*']).filter(|part| !part.is_empty());
        if self.pattern.len() > MAX_BYTES || parts().nth(MAX_PARTS).is_some() {
            return Vec::new();
        }
        let wanted: Vec<&str> = parts().collect();
        let prefix = |part: &str, other: &str| part.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let likeness =
            |part: &str, other: &str| -> usize { if part == other { 2 * part.len() + 2 } else { prefix(part, other) } };
        let sum = |name: &str, measure: &dyn Fn(&str, &str) -> usize| -> usize {
            wanted.iter().map(|part| name.split('.').map(|other| measure(part, other)).max().unwrap_or(0)).sum()
        };
        let mut scored: Vec<(usize, &str)> = names.map(|name| (sum(name, &likeness), name)).collect();
        scored.sort_by_key(|&(score, name)| (std::cmp::Reverse(score), name.len()));
        let bytes: usize = wanted.iter().map(|part| part.len()).sum();
        let is_close = |name: &str| 2 * sum(name, &prefix) > bytes;
        scored.into_iter().map(|(_, name)| name).take(3).filter(|name| is_close(name)).map(str::to_owned).collect()
    }
}

/// A list of filters, one of which has to match. Patterns without stars are looked up by the
/// components of a name, so that their number does not matter.
#[derive(Clone, Debug, Default)]
pub struct NameFilters {
    /// The distinct filters, in the given order.
    list: Vec<NameFilter>,
    /// Indices of the filters without stars, by pattern.
    plain: HashMap<String, usize>,
    /// Lengths of their patterns in bytes.
    plain_lengths: BTreeSet<usize>,
    starred: Vec<usize>,
    /// Patterns of the filters with stars.
    starred_patterns: HashSet<String>,
}

impl NameFilters {
    /// Creates the filters for the given patterns.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> NameFilters {
        let mut filters = NameFilters::default();
        for pattern in patterns {
            let (filter, number) = (NameFilter::new(pattern.as_ref()), filters.list.len());
            let is_known = filters.plain.contains_key(&filter.pattern);
            if is_known || filters.starred_patterns.contains(&filter.pattern) {
                continue;
            }
            if filter.is_starred() {
                filters.starred.push(number);
                filters.starred_patterns.insert(filter.pattern.clone());
            } else {
                filters.plain_lengths.insert(filter.pattern.len());
                filters.plain.insert(filter.pattern.clone(), number);
            }
            filters.list.push(filter);
        }
        filters
    }

    /// Returns true if there are no filters.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if a filter matches the name.
    pub fn matches(&self, name: &str) -> bool {
        let starred = || self.starred.iter().filter_map(|number| self.list.get(*number)).any(|one| one.matches(name));
        self.plain_matches(name).next().is_some() || starred()
    }

    /// Returns true if a pattern is the whole name; see [`NameFilter::names_exactly`].
    pub fn names_exactly(&self, name: &str) -> bool {
        self.plain.contains_key(name)
    }

    /// Returns the number of different filters.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the filters that match no name, in the given order.
    pub fn unmatched<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<&NameFilter> {
        let mut without: BTreeSet<usize> = (0..self.list.len()).collect();
        let mut starred: Vec<usize> = self.starred.clone();
        for name in names {
            self.plain_matches(name).for_each(|number| _ = without.remove(&number));
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
        without.into_iter().filter_map(|number| self.list.get(number)).collect()
    }

    /// Returns the indices of the filters without stars that match a name: their patterns are the
    /// name, or groups that contain it.
    fn plain_matches(&self, name: &str) -> impl Iterator<Item = usize> {
        let ends_group = |length: &&usize| name.as_bytes().get(**length).is_none_or(|byte| *byte == b'.');
        let lengths = self.plain_lengths.range(..=name.len()).filter(ends_group);
        lengths.filter_map(|length| self.plain.get(&name[..*length]).copied())
    }
}

/// Returns true if the pattern, in which `*` stands for any characters, matches the whole text.
/// `equal` compares a character of the pattern with one of the text. The search backtracks only to
/// the last star.
fn wildcard(pattern: &[u8], text: &[u8], equal: impl Fn(u8, u8) -> bool) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|wanted| equal(*wanted, text[t])) {
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
        assert_eq!(NameFilter::new("no.such.case").similar_names(names.into_iter()), [""; 0]);
        assert_eq!(NameFilter::new("precision.f32.exp3").similar_names(names.into_iter())[0], names[1]);
    }

    /// Each of the parts was compared with each component of each name, which took minutes.
    #[test]
    fn patterns_with_many_parts_have_no_near_misses() {
        let names: Vec<String> = (0..50_000).map(|i| format!("precision.f32.exp2.scalar.n{i}")).collect();
        let nearest = |pattern: &str| NameFilter::new(pattern).similar_names(names.iter().map(String::as_str));
        for pattern in ["*a".repeat(50_000), "a.".repeat(33) + "b", "a".repeat(1_000_000)] {
            assert!(nearest(&pattern).is_empty());
        }
        assert_eq!(nearest("*precision*exp2*n49999*x")[0], "precision.f32.exp2.scalar.n49999");
    }

    /// Looking up a name takes the same time for any number of patterns without stars.
    #[test]
    fn many_filters_match_what_each_alone_does() {
        let names = ["a.b.c", "a.bc", "b", "b.c.d", "a.b.c.d", ""];
        let patterns = ["a.b", "A.B.C", "*.d", "b.c.d.", "nothing", "a.*.d", "nothing*"];
        for count in 0..=patterns.len() {
            let (each, all) =
                (patterns[..count].iter().map(|p| NameFilter::new(p)), NameFilters::new(&patterns[..count]));
            let each: Vec<NameFilter> = each.collect();
            for name in names {
                assert_eq!(all.matches(name), each.iter().any(|one| one.matches(name)), "{name} {count}");
                assert_eq!(all.names_exactly(name), each.iter().any(|one| one.names_exactly(name)), "{name} {count}");
            }
            let without = each.iter().filter(|one| !names.iter().any(|name| one.matches(name)));
            let without: Vec<&NameFilter> = without.collect();
            assert_eq!(all.unmatched(names.into_iter()), without, "{count}");
        }
        let many = NameFilters::new((0..100_000).map(|number| format!("a.{number}")));
        assert!((0..100_000).all(|number| many.matches(&format!("a.{number}.b"))));
        assert_eq!(NameFilters::new(["a", "a.", "*", "*"]).list.len(), 2);
    }

    /// Each star was one to go on from, for each name: so many took seconds for each of the thousands of names.
    #[test]
    fn stars_in_a_row_are_one_and_long_patterns_match_no_short_name() {
        // Names of files keep their case, which only a path has to repeat.
        assert!(NameFilter::new("*Marching*").matches("./a/MarchingCubes.compute"));
        assert!(!NameFilter::new("./a/marching*").matches("./a/MarchingCubes.compute"));
        let stars = "*".repeat(10_000_000);
        assert_eq!(NameFilter::new(&stars), NameFilter::new("*"));
        assert_eq!(NameFilter::new(&format!("a{stars}b{stars}")), NameFilter::new("a*b*"));
        let long = NameFilter::new(&"*a".repeat(5_000_000));
        assert!((0..1_000_000).all(|_| !long.matches("precision.f32.exp2.scalar.default")));
        let many = NameFilters::new((0..200_000).map(|number| format!("{number}*")));
        assert_eq!(many.list.len(), 200_000);
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
            assert!(NameFilter::new(yes).matches(name), "{yes}");
        }
        for no in
            ["precision.f32.exp", "precision.f3", "*.f16.*", "*.constant", "exp2", "precision.f32.exp2.*.constant"]
        {
            assert!(!NameFilter::new(no).matches(name), "{no}");
        }
        assert!(NameFilter::new(name).names_exactly(name) && !NameFilter::new("precision").names_exactly(name));
    }
}
