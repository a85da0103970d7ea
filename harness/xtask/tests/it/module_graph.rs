//! Imports between the modules of a crate.
//!
//! Reads paths in `use` declarations and elsewhere in the code that begin with `crate`, `self`,
//! `super` or the name of a child module. Names that a module re-exports count as names of the
//! module that declares them. Comments, literals and items under `#[cfg(test)]` are skipped.
//!
//! A module that uses its own submodules adds no edge: a parent puts its parts together, and the
//! parts may use what it declares.
//!
//! # Limits
//!
//! Macros are not expanded. Paths that begin with an imported name add no edge beyond the import.
//! Glob imports count as imports of the module alone. Inline modules belong to their file. Methods
//! are not followed: an `impl` block of a type in another module is an edge to the type's module
//! only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Path of a module below the crate root; empty for the root.
pub(crate) type ModulePath = Vec<String>;

/// Imports of a crate: for each module, the modules that it uses.
pub(crate) type Graph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// A module's source as far as it matters.
#[derive(Default)]
struct ModuleSource {
    /// Paths that the module names.
    paths: Vec<Vec<String>>,
    /// Paths that it re-exports, by name.
    reexports: BTreeMap<String, Vec<String>>,
}

/// Returns the imports between the modules of the crate whose sources are in a folder.
pub(crate) fn graph(src: &Path) -> Graph {
    let mut sources = BTreeMap::new();
    let root = if src.join("lib.rs").exists() { "lib.rs" } else { "main.rs" };
    read_module(src, &src.join(root), Vec::new(), &mut sources);
    let names: BTreeSet<ModulePath> = sources.keys().cloned().collect();
    let edges = |(at, source): (&ModulePath, &ModuleSource)| {
        let used = source.paths.iter().filter_map(|path| resolve(at, path, &names, &sources, 0));
        (at.clone(), used.filter(|to| !to.starts_with(at)).collect())
    };
    sources.iter().map(edges).collect()
}

/// Reads a module and its children.
fn read_module(folder: &Path, file: &Path, at: ModulePath, sources: &mut BTreeMap<ModulePath, ModuleSource>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (source, children) = parse(&tokens(&text));
    sources.insert(at.clone(), source);
    for child in children {
        let file = [folder.join(format!("{child}.rs")), folder.join(&child).join("mod.rs")];
        let Some(file) = file.iter().find(|file| file.exists()) else { continue };
        let path = [at.clone(), vec![child.clone()]].concat();
        read_module(&folder.join(&child), file, path, sources);
    }
}

/// Returns the module that declares what a path in the module `at` names.
fn resolve(
    at: &ModulePath,
    path: &[String],
    names: &BTreeSet<ModulePath>,
    sources: &BTreeMap<ModulePath, ModuleSource>,
    depth: usize,
) -> Option<ModulePath> {
    let mut module = at.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => (module, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                module.pop()?;
                rest = &rest[1..];
            }
        }
        first => {
            let child = [at.clone(), vec![first.to_owned()]].concat();
            let known = names.contains(&child) || (depth > 0 && sources[at].reexports.contains_key(first));
            if !known {
                return None;
            }
        }
    }
    for (i, segment) in rest.iter().enumerate() {
        let child = [module.clone(), vec![segment.clone()]].concat();
        if names.contains(&child) {
            module = child;
            continue;
        }
        // A chain of re-exports is short; a longer one is a cycle of them.
        if let Some(target) = sources[&module].reexports.get(segment).filter(|_| depth < 8) {
            let whole = [target.clone(), rest[i + 1..].to_vec()].concat();
            return resolve(&module, &whole, names, sources, depth + 1).or(Some(module));
        }
        break;
    }
    Some(module)
}

/// Splits a source into identifiers and punctuation, without comments, literals and lifetimes. `::`
/// is one token.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    while let Some(&c) = chars.get(at) {
        if starts(at, "//") {
            while chars.get(at).is_some_and(|&c| c != '\n') {
                at += 1;
            }
        } else if starts(at, "/*") {
            let mut depth = 0;
            while at < chars.len() {
                if starts(at, "/*") {
                    (depth, at) = (depth + 1, at + 2);
                } else if starts(at, "*/") {
                    (depth, at) = (depth - 1, at + 2);
                    if depth == 0 {
                        break;
                    }
                } else {
                    at += 1;
                }
            }
        } else if c == '"' {
            at += 1;
            while chars.get(at).is_some_and(|&c| c != '"') {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' {
            // A character ends with a quote, a lifetime does not.
            if chars.get(at + 1) == Some(&'\\') {
                at += 3;
                while chars.get(at).is_some_and(|&c| c != '\'') {
                    at += 1;
                }
                at += 1;
            } else {
                at += if chars.get(at + 2) == Some(&'\'') { 3 } else { 1 };
            }
        } else if c.is_alphabetic() || c == '_' {
            let start = at;
            while chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                at += 1;
            }
            let word: String = chars[start..at].iter().collect();
            let raw = matches!(word.as_str(), "r" | "br" | "cr") && matches!(chars.get(at), Some('"' | '#'));
            if raw {
                let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
                if chars.get(at + hashes) == Some(&'"') {
                    let end = format!("\"{}", "#".repeat(hashes));
                    at += hashes + 1;
                    while at < chars.len() && !starts(at, &end) {
                        at += 1;
                    }
                    at += end.len();
                    continue;
                }
            }
            found.push(word);
        } else if starts(at, "::") {
            found.push("::".to_owned());
            at += 2;
        } else {
            if !c.is_whitespace() && !c.is_numeric() {
                found.push(c.to_string());
            }
            at += 1;
        }
    }
    found
}

/// Returns the paths of a module, and its child modules that are not tests.
fn parse(tokens: &[String]) -> (ModuleSource, Vec<String>) {
    let (mut source, mut children) = (ModuleSource::default(), Vec::new());
    let mut at = 0;
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    while at < tokens.len() {
        if ["#", "[", "cfg", "(", "test", ")", "]"].iter().enumerate().all(|(i, what)| is(at + i, what)) {
            at = end_of_item(tokens, at + 7);
        } else if is(at, "mod") && is(at + 2, ";") {
            children.push(tokens[at + 1].clone());
            at += 3;
        } else if is(at, "use") {
            let exported = at > 0 && (is(at - 1, "pub") || is(at - 1, ")"));
            let end = at + tokens[at..].iter().position(|token| token == ";").unwrap_or(tokens.len() - at);
            let mut leaves = Vec::new();
            use_tree(&tokens[at + 1..end], &mut Vec::new(), &mut leaves);
            for (path, name) in leaves {
                match exported {
                    true => _ = source.reexports.insert(name, path),
                    false => source.paths.push(path),
                }
            }
            at = end + 1;
        } else if is(at + 1, "::") && (at == 0 || !is(at - 1, "::")) {
            let mut path = vec![tokens[at].clone()];
            at += 1;
            while is(at, "::") && tokens.get(at + 1).is_some_and(|token| token.starts_with(char::is_alphabetic)) {
                path.push(tokens[at + 1].clone());
                at += 2;
            }
            source.paths.push(path);
            at += usize::from(is(at, "::"));
        } else {
            at += 1;
        }
    }
    (source, children)
}

/// Returns the index after the item that begins at a token: after its first semicolon outside
/// brackets, or after its block.
fn end_of_item(tokens: &[String], start: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Adds the paths of a `use` tree, each with the name that it introduces.
fn use_tree(tokens: &[String], prefix: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    let kept = prefix.len();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "::" => at += 1,
            "{" => {
                let (mut depth, mut start) = (0, at + 1);
                for (i, token) in tokens.iter().enumerate().skip(at) {
                    match token.as_str() {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 || (depth == 1 && token == ",") {
                        if start < i {
                            use_tree(&tokens[start..i], prefix, leaves);
                        }
                        start = i + 1;
                    }
                    if depth == 0 {
                        break;
                    }
                }
                prefix.truncate(kept);
                return;
            }
            "as" => break,
            "*" => at += 1,
            segment => {
                prefix.push(segment.to_owned());
                at += 1;
            }
        }
    }
    let mut path = prefix.clone();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let renamed = tokens.iter().position(|token| token == "as").and_then(|at| tokens.get(at + 1));
    let name = renamed.or(path.last()).cloned().unwrap_or_default();
    leaves.push((path, name));
    prefix.truncate(kept);
}

/// Returns the strongly connected components with more than one module, by Tarjan's algorithm.
pub(crate) fn cycles(graph: &Graph) -> Vec<BTreeSet<ModulePath>> {
    #[derive(Default)]
    struct Search<'a> {
        order: BTreeMap<&'a ModulePath, usize>,
        lowest: BTreeMap<&'a ModulePath, usize>,
        stack: Vec<&'a ModulePath>,
        found: Vec<BTreeSet<ModulePath>>,
    }
    fn visit<'a>(search: &mut Search<'a>, graph: &'a Graph, at: &'a ModulePath) {
        let number = search.order.len();
        search.order.insert(at, number);
        search.lowest.insert(at, number);
        search.stack.push(at);
        for to in &graph[at] {
            let reached = match search.order.get(to) {
                None => {
                    visit(search, graph, to);
                    search.lowest[to]
                }
                Some(&number) if search.stack.contains(&to) => number,
                Some(_) => continue,
            };
            let lowest = search.lowest.get_mut(at).expect("visited");
            *lowest = reached.min(*lowest);
        }
        if search.lowest[at] == number {
            let start = search.stack.iter().position(|on| *on == at).expect("on the stack");
            let component: BTreeSet<ModulePath> = search.stack.drain(start..).cloned().collect();
            if component.len() > 1 {
                search.found.push(component);
            }
        }
    }
    let mut search = Search::default();
    for at in graph.keys() {
        if !search.order.contains_key(at) {
            visit(&mut search, graph, at);
        }
    }
    search.found
}
