//! Choosing cases by name.

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
