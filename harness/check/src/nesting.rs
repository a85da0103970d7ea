//! Limits on nesting and length for modules that naga processes.
//!
//! naga's front ends, validator and writers recurse over the operands of an expression, over `else
//! if` and over control flow. naga limits the nesting of brackets and blocks. It does not limit the
//! length of a chain such as `a + b + …`, `a.x.x…` or `if … else if …`, or the nesting of SPIR-V's
//! control flow, and a stack overflow ends the process. Assay therefore refuses shaders beyond
//! these limits, and runs naga with a stack that is large enough for all others.
//!
//! Two more limits concern long texts:
//!
//! * naga 30 sorts the declarations at module scope by recursion along their dependencies: one
//!   million constants, each the value of the next, overflow the stack, four hundred thousand do
//!   not. It also keeps an entry for each pair of a function and a global variable. A text has at
//!   most [`MAX_DECLARATIONS`].
//! * naga 30 takes quadratic time in the expressions of one function (`Typifier::grow` iterates
//!   over all that already have a type), and in the statements and bytes of the text
//!   (`Span::location` counts lines from the start of the text). A text takes at most
//!   [`MAX_WORK`], about ten seconds; [`Extent`] describes the estimate.

use assay_spirv::Module;
use assay_spirv::tables::Op;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread;

/// Largest number of operators in an expression of WGSL, or of branches in a chain of `else if`. An
/// index or a call counts as an operator.
const MAX_OPERATORS: usize = 20_000;

/// Largest number of declarations at module scope of a WGSL text.
const MAX_DECLARATIONS: usize = 20_000;

/// Largest estimated time of naga for a WGSL text, in nanoseconds: see [`Extent`].
const MAX_WORK: u64 = 10_000_000_000;

/// Largest nesting of SPIR-V's control flow: the universal limit "Control-flow nesting depth".
const MAX_CONTROL_FLOW: usize = 1_023;

/// Size of naga's stack in bytes. The deepest shaders within the limits need less than a tenth of
/// it.
const STACK: usize = 256 << 20;

/// Runs a closure on a thread with a deep stack, and waits for it. A panic continues in the caller.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = spawned.expect("a thread can be started: its stack is only reserved");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Returns why a WGSL text nests too deeply or is too long for naga; `None` if it is neither.
pub(crate) fn too_deep(text: &str) -> Option<String> {
    nests_too_deep(text).or_else(|| too_long(text))
}

/// Returns why a WGSL text would take naga too long or has too many declarations; `None` if
/// neither.
fn too_long(text: &str) -> Option<String> {
    let extent = extent(text.as_bytes());
    if let Some(line) = extent.excess {
        let declarations = extent.declarations;
        return Some(format!(
            "line {line}: it has {declarations} declarations at module scope, and naga receives at most {MAX_DECLARATIONS}; \
             split it into several files"
        ));
    }
    if extent.nanoseconds(text.len()) <= MAX_WORK {
        return None;
    }
    let (bytes, statements, Part { operators, line, .. }) = (text.len(), extent.statements, extent.largest);
    Some(format!(
        "line {line}: naga would take too long: the declaration that starts here has {operators} operators and statements, and the \
         text {statements} statements in {bytes} bytes; naga's time is quadratic in them; split it into smaller \
         functions, or into several files"
    ))
}

fn nests_too_deep(text: &str) -> Option<String> {
    let line = deepest(text.as_bytes()).filter(|deepest| deepest.operators > MAX_OPERATORS)?.line;
    Some(format!(
        "line {line}: an expression or a chain of `else if` has more than {MAX_OPERATORS} operators or branches, \
         which naga cannot parse; split it with variables or functions"
    ))
}

/// Returns why a module's control flow nests too deeply for naga; `None` if it does not.
pub fn control_flow_too_deep(module: &Module) -> Option<String> {
    let (mut open, mut order) = (HashSet::new(), Vec::new());
    for i in module.instructions() {
        match (i.op, i.result(), i.operand(0)) {
            (Some(Op::SelectionMerge | Op::LoopMerge), _, Some(merge)) => {
                open.insert(merge);
                order.push(merge);
            }
            (Some(Op::Label), Some(label), _) if open.contains(&label) => {
                // Inner constructs end with the outer one.
                while let Some(ended) = order.pop() {
                    open.remove(&ended);
                    if ended == label {
                        break;
                    }
                }
            }
            (Some(Op::FunctionEnd), ..) => {
                open.clear();
                order.clear();
            }
            _ => {}
        }
        if order.len() > MAX_CONTROL_FLOW {
            return Some(format!("its control flow is nested more than {MAX_CONTROL_FLOW} constructs deep"));
        }
    }
    None
}

/// The position with the most nested operators.
#[derive(Clone, Copy)]
struct DeepestNesting {
    operators: usize,
    line: usize,
}

/// Returns an upper bound on the nesting of operators. For each open bracket, it counts the
/// operators since the last comma or semicolon.
fn deepest(text: &[u8]) -> Option<DeepestNesting> {
    let mut deepest = None;
    // Operators in each open bracket, their sum, and whether a block has just ended.
    let (mut open, mut sum, mut block_ended) = (vec![0usize], 0usize, false);
    let (mut at, mut line) = (0, 1);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let mut length = 1;
        let mut operator = false;
        let restart = |open: &mut Vec<usize>, sum: &mut usize| *sum -= open.last_mut().map_or(0, std::mem::take);
        match byte {
            b'\n' => line += 1,
            b' ' | b'\t' | b'\r' => {}
            b'/' if rest.starts_with(b"//") => {
                length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            b'/' if rest.starts_with(b"/*") => {
                length = comment(rest);
                line += rest[..length].iter().filter(|byte| **byte == b'\n').count();
            }
            _ => {
                let is_else = rest.starts_with(b"else") && !rest.get(4).is_some_and(|byte| is_word(*byte));
                if std::mem::take(&mut block_ended) && !is_else {
                    restart(&mut open, &mut sum);
                }
                match byte {
                    b'(' | b'[' | b'{' => {
                        operator = byte != b'{';
                        open.push(0);
                    }
                    b')' | b']' | b'}' => {
                        if open.len() > 1 {
                            restart(&mut open, &mut sum);
                            open.pop();
                        }
                        block_ended = byte == b'}';
                    }
                    b',' | b';' => restart(&mut open, &mut sum),
                    b'.' => operator = rest.get(1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_'),
                    b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!' | b'~' => {
                        operator = true;
                        let doubled = [&b"&&"[..], b"||", b"<<", b">>", b"<=", b">=", b"==", b"!="];
                        length = if doubled.iter().any(|pair| rest.starts_with(pair)) { 2 } else { 1 };
                    }
                    _ if is_word(byte) => {
                        operator = is_else;
                        length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                    }
                    _ => {}
                }
            }
        }
        if operator {
            // An opening bracket is an operator of the enclosing level: in `a[i][j]`, one access is
            // the operand of the other.
            let bracket = usize::from(matches!(byte, b'(' | b'['));
            let level = open.len().saturating_sub(1 + bracket);
            open[level] += 1;
            sum += 1;
            if deepest.is_none_or(|known: DeepestNesting| sum > known.operators) {
                deepest = Some(DeepestNesting { operators: sum, line });
            }
        }
        at += length;
    }
    deepest
}

/// Counts from which naga's time for a WGSL text is estimated.
///
/// Let `m` be the operators, calls, indices and statements of a function, and `w` its names and
/// literals. naga requests the type of about `m` expressions among `m + w`, and iterates over all
/// of them each time: `m * (m + w)` steps of about one nanosecond. Constants at module scope count
/// as one function. For the position of each statement, naga scans the text up to it, at three
/// bytes per nanosecond. Measured on texts of one kind of statement each (stores, branches, loops,
/// calls, tables in constants and in variables), the estimate is at most a quarter too low; for
/// lists of constants it is up to ten times too high.
#[derive(Default)]
struct Extent {
    /// Declarations at module scope.
    declarations: usize,
    /// Line of the first declaration beyond [`MAX_DECLARATIONS`].
    excess: Option<usize>,
    /// Statements and blocks.
    statements: u64,
    /// Steps for types of expressions.
    steps: u64,
    /// Declaration with the most operators.
    largest: Part,
}

/// Part of a text whose expressions are in one of naga's arenas.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Operators, calls, indices and statements.
    operators: u64,
    /// Names and literals.
    operands: u64,
    /// Line on which it begins.
    line: usize,
}

impl Part {
    fn steps(self) -> u64 {
        self.operators.saturating_mul(self.operators + self.operands)
    }
}

impl Extent {
    /// Returns the estimated time of naga for a text of this size.
    fn nanoseconds(&self, bytes: usize) -> u64 {
        self.steps.saturating_add(self.statements.saturating_mul(bytes as u64) / 3)
    }

    /// Adds a complete declaration.
    fn add(&mut self, one: Part) {
        self.declarations += 1;
        if self.declarations == MAX_DECLARATIONS + 1 {
            self.excess = Some(one.line);
        }
        if one.operators >= self.largest.operators {
            self.largest = one;
        }
    }
}

/// Counts the parts of a WGSL text, which may be invalid.
fn extent(text: &[u8]) -> Extent {
    let mut extent = Extent::default();
    // The current declaration, whether it has a block, and all constants at module scope.
    let (mut one, mut has_block, mut constants) = (Part::default(), false, Part::default());
    let (mut at, mut line, mut depth, mut after_operand) = (0, 1, 0usize, false);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let mut length = 1;
        match byte {
            b'\n' => line += 1,
            b' ' | b'\t' | b'\r' => {}
            b'/' if rest.starts_with(b"//") => {
                length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            b'/' if rest.starts_with(b"/*") => {
                length = comment(rest);
                line += rest[..length].iter().filter(|byte| **byte == b'\n').count();
            }
            _ => {
                if one.line == 0 {
                    one.line = line;
                }
                let next = rest.get(1).copied().unwrap_or(0);
                if is_word(byte) {
                    one.operands += 1;
                    // The point of a number is a part of it.
                    let is_part = |other: u8| is_word(other) || (other == b'.' && byte.is_ascii_digit());
                    length = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
                }
                let is_operator = match byte {
                    b'(' | b'[' | b';' | b'+' | b'*' | b'/' | b'%' | b'^' | b'~' | b'=' | b'!' | b'&' | b'|' => true,
                    // A literal with its sign is one.
                    b'-' => after_operand || !next.is_ascii_digit(),
                    b'.' => next.is_ascii_alphabetic() || next == b'_',
                    // Single ones enclose types far more often than they compare.
                    b'<' | b'>' => next == byte || next == b'=',
                    _ => false,
                };
                if is_operator {
                    one.operators += 1;
                    let doubled =
                        (next == byte && b"&|<>=".contains(&byte)) || (next == b'=' && b"<>!".contains(&byte));
                    length = if doubled { 2 } else { 1 };
                }
                extent.statements += u64::from(matches!(byte, b';' | b'{'));
                after_operand = is_word(byte) || matches!(byte, b')' | b']');
                match byte {
                    b'{' => (depth, has_block) = (depth + 1, true),
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && matches!(byte, b';' | b'}') {
                    extent.add(one);
                    if has_block {
                        extent.steps = extent.steps.saturating_add(one.steps());
                    } else {
                        constants.operators += one.operators;
                        constants.operands += one.operands;
                    }
                    (one, has_block) = (Part::default(), false);
                }
            }
        }
        at += length;
    }
    extent.steps = extent.steps.saturating_add(constants.steps()).saturating_add(one.steps());
    if one.operators > extent.largest.operators {
        extent.largest = one;
    }
    extent
}

/// Returns the length of a block comment, with nested ones; up to the end of the text if it is not
/// closed.
fn comment(text: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at.min(text.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckError, ShaderSource};
    use assay_testkit::Shader;

    fn operators(text: &str) -> usize {
        deepest(text.as_bytes()).map_or(0, |deepest| deepest.operators)
    }

    fn shader(value: &str) -> String {
        format!(
            "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@compute @workgroup_size(1) fn main() {{\ny[0] = {value}; }}"
        )
    }

    fn refusal(text: &str) -> String {
        match ShaderSource::read("a.wgsl", text.as_bytes()) {
            Err(CheckError::Shader { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operators_are_counted_along_the_longest_chain() {
        for (text, count) in [
            ("a + b + c", 2),
            ("f(a + b, c + d + e)", 3),
            ("a + b; c + d + e; f", 2),
            ("1.5 + 2.5", 1),
            ("a.x.y[1][2]", 4),
            ("a && b || !c", 3),
            ("a + // + + +\n b /* + /* + */ + */", 1),
            ("if a { b = 1; } else if c { d = 1; } else { e = 1; } g = 2;", 3),
            ("{ a + b } { c + d } { e + f }", 1),
            ("))]} a + b", 1),
            ("/* + +", 0),
        ] {
            assert_eq!(operators(text), count, "{text}");
        }
    }

    #[test]
    fn only_too_deep_nesting_is_refused_with_its_line() {
        let many = |part: &str, count: usize| vec![part; count].join("+");
        let branches = |count: usize| {
            let branch = |i: usize| format!("if (y[1] == {i}u) {{ y[0] = {i}u; }}");
            let branches: Vec<String> = (0..count).map(branch).collect();
            shader("1u").replace("y[0] = 1u;", &branches.join(" else "))
        };
        for deep in [
            shader(&many("y[1]", 200_000)),
            shader(&format!("vec4(y[1]){}.x", ".xyzw".repeat(200_000))),
            shader(&format!("u32({})", vec!["y[1] == 1u"; 200_000].join("&&"))),
            branches(100_000),
        ] {
            let refused = refusal(&deep);
            assert!(refused.starts_with("line 3: ") && refused.contains("more than 20000 operators"), "{refused}");
        }
        // Each of these overflowed the stack of a test thread, which is 2 MiB.
        for fits in
            [shader(&many("y[1]", 9_000)), branches(5_000), shader(&format!("vec4(y[1]){}.x", ".xyzw".repeat(19_000)))]
        {
            ShaderSource::read("a.wgsl", fits.as_bytes()).unwrap();
        }
        // naga itself refuses deeply nested brackets.
        for deep in [format!("{}y[1]{}", "(".repeat(100_000), ")".repeat(100_000)), format!("{}1", "-".repeat(100_000))]
        {
            refusal(&shader(&deep));
        }
    }

    #[test]
    fn operators_operands_and_statements_are_counted_for_each_declaration() {
        let text = "const a = vec2(-1.5, a.x - 2); // = = =\nstruct S { a: u32 }\n\n/* ;\n */ fn f(x: array<vec2<f32>, 4>) {\n\
            if x[0] <= 1.5e3 && b { y += 1; } }\nvar<private> c = 1";
        let extent = extent(text.as_bytes());
        assert_eq!((extent.declarations, extent.excess), (3, None));
        assert_eq!(extent.statements, 5, "blocks and semicolons");
        // `(`, `[`, `<=`, `&&`, `+`, `=` and `;`; fn f x array vec2 f32 4 if x 0 1.5e3 b y 1.
        assert_eq!((extent.largest.operators, extent.largest.operands, extent.largest.line), (7, 14, 5));
        // The constants: `=`, `(`, `.`, `-`, `;`; const a vec2 1.5 a x 2.
        assert_eq!(extent.steps, 7 * (7 + 14) + 5 * (5 + 7) + (1 + 4));
    }

    /// A million constants ended the process; 50,000 statements of one function took most of a
    /// minute.
    #[test]
    fn too_long_shaders_are_refused_with_a_line_and_others_compile() {
        let each = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
        let constants = |count: usize| {
            shader("a0")
                + "\n"
                + &each(count, &|i| format!("const a{i} = a{};\n", i + 1))
                + &format!("const a{count} = 1u;")
        };
        for count in [MAX_DECLARATIONS, 100_000] {
            let refused = refusal(&constants(count));
            // Before them are the buffer and the function, which end on line 3.
            let line = MAX_DECLARATIONS + 2;
            assert!(refused.starts_with(&format!("line {line}: it has {} declarations", count + 3)), "{refused}");
            assert!(refused.contains("at most 20000"), "{refused}");
        }
        ShaderSource::read("a.wgsl", constants(MAX_DECLARATIONS - 3).as_bytes()).unwrap();

        let body = |statements: &str| shader(&format!("1u; {statements} y[1] = 1u"));
        let lets = |count: usize| {
            body(&("let a0 = y[1];".to_owned() + &each(count, &|i| format!("let a{} = a{i} + 1u;\n", i + 1))))
        };
        let ifs = |count: usize| body(&each(count, &|i| format!("if y[1] == {i}u {{ y[0] = y[0] + 1u; }}\n")));
        let function =
            |i: usize| format!("fn f{i}() {{ {} }}\n", each(3_000, &|i| format!("y[{i}] = y[0] * 3u + y[1];")));
        let far = |lines: usize, count: usize| "/*".to_owned() + &"\n".repeat(lines) + "*/" + &ifs(count);
        for (long, line) in [
            (lets(50_000), 2),
            (ifs(12_500), 2),
            (ifs(12_500).replace('\n', " "), 1),
            (shader("1u") + "\n" + &each(100, &function), 103),
            (far(3_000_000, 7_000), 3_000_002),
        ] {
            let refused = refusal(&long);
            assert!(refused.starts_with(&format!("line {line}: naga would take too long")), "{refused}");
        }
        // Ordinary shaders and tables are not refused.
        let vectors = |count: usize| each(count, &|i| format!("vec4<f32>({i}.5, 1.0, -2.0, 3.0),"));
        let words = |count: usize| each(count, &|i| format!("-{i}.5,"));
        for fits in [
            lets(2_000),
            ifs(1_000),
            far(500_000, 1),
            shader("u32(t[y[1]].x)") + &format!("const t = array<vec4<f32>, 10000>({});", vectors(10_000)),
            shader("u32(t[y[1]])") + &format!("const t = array<f32, 60000>({});", words(60_000)),
        ] {
            ShaderSource::read("a.wgsl", fits.as_bytes()).unwrap();
        }
    }

    #[test]
    fn nested_control_flow_is_counted() {
        let module = |nested: usize, after: usize| {
            let mut body = String::new();
            let begin = |name: &str, i: usize| {
                format!(
                    "OpSelectionMerge %{name}{i} None\nOpBranchConditional %true %t{name}{i} %{name}{i}\n%t{name}{i} = OpLabel\n"
                )
            };
            let end = |name: &str, i: usize| format!("OpBranch %{name}{i}\n%{name}{i} = OpLabel\n");
            body.extend((0..nested).map(|i| begin("n", i)));
            body.extend((0..nested).rev().map(|i| end("n", i)));
            body.extend((0..after).map(|i| begin("s", i) + &end("s", i)));
            Shader { declared: "%true = OpConstantTrue %bool", body: &body, ..Shader::default() }.module()
        };
        assert_eq!(control_flow_too_deep(&module(MAX_CONTROL_FLOW, 3_000)), None);
        assert!(control_flow_too_deep(&module(MAX_CONTROL_FLOW + 1, 0)).unwrap().contains("1023"));
    }
}
