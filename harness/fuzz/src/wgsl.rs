//! Generator of WGSL: typed expressions, control flow, memory, functions, vectors, several widths.
//!
//! Nondeterminism other than that of floating-point results is excluded: indices are masked,
//! divisors are not zero, loops are bounded, barriers are in uniform control flow, and results of
//! atomics are not used.

use fastrand::Rng;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F32,
}

use Scalar::{Bool, F32, I32, I64, U32, U64};

/// A scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Type {
    scalar: Scalar,
    count: u32,
}

impl Type {
    const fn of(scalar: Scalar) -> Type {
        Type { scalar, count: 1 }
    }

    fn name(self) -> String {
        let scalar = match self.scalar {
            Bool => "bool",
            I32 => "i32",
            U32 => "u32",
            I64 => "i64",
            U64 => "u64",
            F32 => "f32",
        };
        if self.count == 1 { scalar.to_owned() } else { format!("vec{}<{scalar}>", self.count) }
    }

    fn is_float(self) -> bool {
        self.scalar == F32
    }

    fn is_signed(self) -> bool {
        matches!(self.scalar, I32 | I64 | F32)
    }
}

/// A variable in scope.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Type,
    mutable: bool,
}

/// A function of two scalars.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    ty: Type,
}

struct Generator {
    rng: Rng,
    text: String,
    indent: usize,
    scope: Vec<Variable>,
    functions: Vec<Function>,
    names: usize,
    /// Remaining number of statements.
    budget: u32,
    /// Set to use 64-bit integers, and to use floats.
    wide: bool,
    floats: bool,
}

/// Returns a shader with inputs at bindings 0 to 2 and outputs at 3 and 4. Their lengths follow
/// from the dispatch.
pub(crate) fn shader(mut rng: Rng) -> String {
    let (wide, floats) = (rng.u32(..4) == 0, rng.u32(..3) > 0);
    let budget = rng.u32(6..22);
    let mut generator = Generator {
        rng,
        text: String::new(),
        indent: 0,
        scope: Vec::new(),
        functions: Vec::new(),
        names: 0,
        budget,
        wide,
        floats,
    };
    generator.module();
    generator.text
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * self.indent);
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.rng.u32(..one_in) == 0
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn scalar(&mut self) -> Scalar {
        match self.rng.u32(..12) {
            0..=3 => U32,
            4..=6 => I32,
            7 => Bool,
            8 if self.wide => U64,
            9 if self.wide => I64,
            _ if self.floats => F32,
            _ => U32,
        }
    }

    fn ty(&mut self) -> Type {
        let scalar = self.scalar();
        let count = if self.chance(4) { self.rng.u32(2..=4) } else { 1 };
        Type { scalar, count }
    }

    fn module(&mut self) {
        self.line("struct Out {");
        self.line("    words: vec4<u32>,\n    sign: i32,\n    real: f32,\n    pair: vec2<f32>,\n}\n");
        self.line("@group(0) @binding(0) var<storage, read> words: array<u32>;");
        self.line("@group(0) @binding(1) var<storage, read> signs: array<i32>;");
        self.line("@group(0) @binding(2) var<storage, read> reals: array<f32>;");
        self.line("@group(0) @binding(3) var<storage, read_write> out: array<Out>;");
        self.line("@group(0) @binding(4) var<storage, read_write> counts: array<atomic<u32>, 8>;");
        self.line("var<workgroup> shared_words: array<u32, 32>;\n");
        for _ in 0..self.rng.u32(..3) {
            self.function();
        }
        self.line("@compute @workgroup_size(32)");
        self.open("fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {");
        self.line("let i = id.x;");
        self.scope.clear();
        for (name, ty, value) in [
            ("w", U32, "words[i]"),
            ("s", I32, "signs[i]"),
            ("r", F32, "reals[i]"),
            ("w2", U32, "words[i ^ 1u]"),
            ("s2", I32, "signs[i ^ 2u]"),
            ("r2", F32, "reals[i ^ 3u]"),
        ] {
            self.line(&format!("var {name} = {value};"));
            self.scope.push(Variable { name: name.to_owned(), ty: Type::of(ty), mutable: true });
        }
        self.scope.push(Variable { name: "k".to_owned(), ty: Type::of(U32), mutable: false });
        self.line("var list = array<u32, 8>(w, w2, k, 3u, w ^ w2, 5u, 6u, w + 7u);");
        while self.budget > 0 {
            if self.chance(8) {
                self.exchange();
            } else {
                self.statement(0);
            }
        }
        let words: Vec<String> = (0..4).map(|_| self.expression(Type::of(U32), 3)).collect();
        let (sign, real) = (self.expression(Type::of(I32), 3), self.expression(Type::of(F32), 2));
        let pair = self.expression(Type { scalar: F32, count: 2 }, 2);
        let last = self.expression(Type::of(U32), 1);
        self.line(&format!("out[i] = Out(vec4<u32>({}), {sign}, {real}, {pair});", words.join(", ")));
        self.line(&format!("out[i].words[{last} & 3u] ^= list[w & 7u];"));
        self.close();
    }

    /// Adds a pure function of two parameters of one type.
    fn function(&mut self) {
        let ty = Type::of(self.scalar());
        let name = self.fresh("f");
        self.scope = ["x", "y"].map(|n| Variable { name: n.to_owned(), ty, mutable: false }).to_vec();
        self.open(&format!("fn {name}(x: {0}, y: {0}) -> {0} {{", ty.name()));
        let condition = self.expression(Type::of(Bool), 1);
        let early = self.expression(ty, 2);
        self.line(&format!("if ({condition}) {{ return {early}; }}"));
        let result = self.expression(ty, 3);
        self.line(&format!("return {result};"));
        self.close();
        self.line("");
        self.functions.push(Function { name, ty });
    }

    /// Adds an exchange of words between all invocations through workgroup memory.
    fn exchange(&mut self) {
        self.budget -= 1;
        let value = self.expression(Type::of(U32), 2);
        let name = self.fresh("v");
        let distance = self.rng.u32(1..32);
        self.line(&format!("shared_words[k] = {value};"));
        self.line("workgroupBarrier();");
        self.line(&format!("let {name} = shared_words[(k + {distance}u) & 31u];"));
        self.line("workgroupBarrier();");
        self.scope.push(Variable { name, ty: Type::of(U32), mutable: false });
    }

    fn block(&mut self, depth: u32) {
        let visible = self.scope.len();
        for _ in 0..self.rng.u32(1..4) {
            self.statement(depth + 1);
        }
        self.scope.truncate(visible);
    }

    fn statement(&mut self, depth: u32) {
        self.budget = self.budget.saturating_sub(1);
        let simple = depth > 2 || self.budget == 0;
        match self.rng.u32(..if simple { 7 } else { 12 }) {
            0 | 1 => self.declaration(),
            2..=4 => self.assignment(),
            5 => {
                let (index, value) = (self.expression(Type::of(U32), 1), self.expression(Type::of(U32), 2));
                self.line(&format!("list[{index} & 7u] = {value};"));
            }
            6 => {
                let (index, value) = (self.expression(Type::of(U32), 1), self.expression(Type::of(U32), 2));
                // One kind of atomic for each word; with several, the result would depend on the
                // order.
                let kinds = [
                    ("Add", None),
                    ("Sub", None),
                    ("Max", Some(4)),
                    ("Min", Some(5)),
                    ("Xor", Some(6)),
                    ("Or", Some(7)),
                ];
                let (operation, word) = kinds[self.rng.usize(..6)];
                let word = word.map_or(format!("{index} & 3u"), |word: u32| format!("{word}u"));
                self.line(&format!("atomic{operation}(&counts[{word}], {value});"));
            }
            7 | 8 => {
                let condition = self.expression(Type::of(Bool), 2);
                self.open(&format!("if ({condition}) {{"));
                self.block(depth);
                if self.chance(2) {
                    self.indent -= 1;
                    self.open("} else {");
                    self.block(depth);
                }
                self.close();
            }
            9 => self.for_loop(depth),
            10 => {
                let selector = self.expression(Type::of(U32), 1);
                self.open(&format!("switch ({selector} % 5u) {{"));
                for label in ["case 0u", "case 1u, 3u", "default"] {
                    self.open(&format!("{label}: {{"));
                    self.block(depth);
                    self.close();
                }
                self.close();
            }
            _ => self.while_loop(depth),
        }
    }

    fn for_loop(&mut self, depth: u32) {
        let name = self.fresh("n");
        let turns = if self.chance(2) {
            format!("{}u", self.rng.u32(1..6))
        } else {
            format!("({} & 7u)", self.expression(Type::of(U32), 1))
        };
        // The bound is computed before the loop, because the body may change its operands.
        let bound = self.fresh("bound");
        self.line(&format!("let {bound} = {turns};"));
        self.open(&format!("for (var {name} = 0u; {name} < {bound}; {name}++) {{"));
        self.scope.push(Variable { name, ty: Type::of(U32), mutable: false });
        if self.chance(3) {
            let (condition, leave) = (self.expression(Type::of(Bool), 1), ["break", "continue"][self.rng.usize(..2)]);
            self.line(&format!("if ({condition}) {{ {leave}; }}"));
        }
        self.block(depth);
        self.scope.pop();
        self.close();
    }

    fn while_loop(&mut self, depth: u32) {
        let name = self.fresh("left");
        let start = self.expression(Type::of(U32), 1);
        self.line(&format!("var {name} = {start} & 15u;"));
        self.open(&format!("while ({name} > 2u) {{"));
        self.line(&format!("{name} = {name} >> 1u;"));
        self.block(depth);
        self.close();
    }

    fn declaration(&mut self) {
        let ty = self.ty();
        let value = self.expression(ty, 3);
        let mutable = self.chance(2);
        let name = self.fresh("v");
        self.line(&format!("{} {name}: {} = {value};", if mutable { "var" } else { "let" }, ty.name()));
        self.scope.push(Variable { name, ty, mutable });
    }

    fn assignment(&mut self) {
        let targets: Vec<Variable> = self.scope.iter().filter(|v| v.mutable).cloned().collect();
        if targets.is_empty() {
            return self.declaration();
        }
        let target = &targets[self.rng.usize(..targets.len())];
        let value = self.expression(target.ty, 3);
        let numeric = target.ty.scalar != Bool;
        let operator = if numeric { ["=", "=", "+=", "-=", "*="][self.rng.usize(..5)] } else { "=" };
        // A product in a loop soon becomes infinite.
        let operator = if target.ty.is_float() && operator != "=" { "=" } else { operator };
        if target.ty.count > 1 && numeric && self.chance(3) {
            let component = ["x", "y"][self.rng.usize(..2)];
            let part = self.expression(Type::of(target.ty.scalar), 2);
            self.line(&format!("{}.{component} {operator} {part};", target.name));
        } else {
            self.line(&format!("{} {operator} {value};", target.name));
        }
    }

    /// Returns a value of the type from a variable in scope, never a constant.
    fn leaf(&mut self, ty: Type) -> String {
        let fitting: Vec<String> = self.scope.iter().filter(|v| v.ty == ty).map(|v| v.name.clone()).collect();
        if !fitting.is_empty() && !self.chance(8) {
            return fitting[self.rng.usize(..fitting.len())].clone();
        }
        if ty.count > 1 {
            let part = Type::of(ty.scalar);
            let parts: Vec<String> = (0..ty.count).map(|_| self.leaf(part)).collect();
            return format!("{}({})", ty.name(), parts.join(", "));
        }
        // A float variable is used in float computations only, so that integers stay determined.
        let usable = |v: &&Variable| v.ty.count == 1 && (ty.is_float() || !v.ty.is_float());
        let mut scalars: Vec<Variable> = self.scope.iter().filter(usable).cloned().collect();
        if scalars.is_empty() {
            scalars.extend(self.scope.iter().filter(|v| v.ty.count == 1).cloned());
        }
        let source = &scalars[self.rng.usize(..scalars.len())];
        self.converted(&source.name, source.ty.scalar, ty.scalar)
    }

    fn converted(&mut self, value: &str, from: Scalar, to: Scalar) -> String {
        match (from, to) {
            _ if from == to => value.to_owned(),
            (F32, Bool) => format!("({value} < 1.5)"),
            (_, F32) if from != Bool => {
                // Small integers, whose sums and products stay exact for a while.
                let small = if matches!(from, I32 | I64) { format!("{value} % 64") } else { format!("{value} & 63") };
                let small = match from {
                    U32 => small + "u",
                    I64 => small + "li",
                    U64 => small + "lu",
                    _ => small,
                };
                format!("f32({small})")
            }
            (_, to) => format!("{}({value})", Type::of(to).name()),
        }
    }

    fn literal(&mut self, ty: Type) -> String {
        if ty.count > 1 {
            let parts: Vec<String> = (0..ty.count).map(|_| self.literal(Type::of(ty.scalar))).collect();
            return format!("{}({})", ty.name(), parts.join(", "));
        }
        let word = [0, 1, 2, 3, 7, 31, 255, 0xffff, 0x8000_0000, 0xffff_ffff, self.rng.u32(..)][self.rng.usize(..11)];
        match ty.scalar {
            Bool => ["true", "false"][self.rng.usize(..2)].to_owned(),
            I32 => format!("{}", (word >> 1).cast_signed() - 5),
            U32 => format!("{word}u"),
            I64 => format!("{}li", i64::from(word) * 77 - 1000),
            U64 => format!("{}lu", u64::from(word) * 0x1_0000_0001),
            F32 => ["0.5", "1.0", "2.0", "-1.25", "0.1", "3.0"][self.rng.usize(..6)].to_owned(),
        }
    }

    /// Returns a right operand, which may be a constant.
    fn right(&mut self, ty: Type, depth: u32) -> String {
        if self.chance(3) { self.literal(ty) } else { self.expression(ty, depth) }
    }

    fn expression(&mut self, ty: Type, depth: u32) -> String {
        if depth == 0 || self.chance(6) {
            return self.leaf(ty);
        }
        let d = depth - 1;
        if let Some(call) = self.call(ty, d) {
            return call;
        }
        match ty.scalar {
            Bool => self.truth(ty, d),
            F32 => self.real(ty, d),
            I32 | U32 | I64 | U64 => self.integer(ty, d),
        }
    }

    fn call(&mut self, ty: Type, depth: u32) -> Option<String> {
        let fitting: Vec<Function> = self.functions.iter().filter(|f| f.ty == ty).cloned().collect();
        if fitting.is_empty() || !self.chance(6) {
            return None;
        }
        let function = &fitting[self.rng.usize(..fitting.len())];
        let (a, b) = (self.expression(ty, depth), self.right(ty, depth));
        Some(format!("{}({a}, {b})", function.name))
    }

    fn truth(&mut self, ty: Type, depth: u32) -> String {
        if ty.count > 1 {
            let of = Type { scalar: [I32, U32][self.rng.usize(..2)], count: ty.count };
            let (a, b) = (self.expression(of, depth), self.right(of, depth));
            return format!("({a} {} {b})", ["<", "==", ">="][self.rng.usize(..3)]);
        }
        match self.rng.u32(..6) {
            0 => format!("(!{})", self.expression(ty, depth)),
            1 => format!("({} && {})", self.expression(ty, depth), self.expression(ty, depth)),
            2 => format!("({} || {})", self.expression(ty, depth), self.expression(ty, depth)),
            _ => {
                let mut of = Type::of(self.scalar());
                if of.scalar == Bool {
                    of = Type::of(U32);
                }
                // A branch on a computed float may be undecided, so most branches depend on inputs.
                let depth = if of.is_float() { 0 } else { depth };
                let (a, b) = (self.expression(of, depth), self.right(of, depth));
                format!("({a} {} {b})", ["<", "<=", "==", "!=", ">", ">="][self.rng.usize(..6)])
            }
        }
    }

    fn integer(&mut self, ty: Type, depth: u32) -> String {
        let a = self.expression(ty, depth);
        match self.rng.u32(..16) {
            0..=4 => format!("({a} {} {})", ["+", "-", "*", "^", "&"][self.rng.usize(..5)], self.right(ty, depth)),
            5 => format!("({a} | {})", self.right(ty, depth)),
            6 => {
                // naga passes the shift amount on unchanged.
                let of = Type { scalar: U32, count: ty.count };
                let mask = self.literal_of(of, "31");
                let amount = format!("{} & {mask}", self.expression(of, depth.min(1)));
                format!("({a} {} ({amount}))", ["<<", ">>"][self.rng.usize(..2)])
            }
            7 => {
                // Neither 0 nor -1, for which naga's translation is undefined in SPIR-V.
                let (low, one) = (self.literal_of(ty, "127"), self.literal_of(ty, "1"));
                let divisor = format!("(({} & {low}) | {one})", self.expression(ty, depth));
                format!("({a} {} {divisor})", ["/", "%"][self.rng.usize(..2)])
            }
            8 => format!("{}({a}, {})", ["min", "max"][self.rng.usize(..2)], self.right(ty, depth)),
            9 => format!("(~{a})"),
            10 if ty.is_signed() => format!("(-{a})"),
            11 if ty.is_signed() => format!("abs({a})"),
            12 => {
                let b = self.right(ty, depth);
                format!("select({a}, {b}, {})", self.expression(Type::of(Bool), depth.min(1)))
            }
            13 if matches!(ty.scalar, U32 | I32) => {
                let function = ["countOneBits", "reverseBits", "firstLeadingBit", "firstTrailingBit"];
                format!("{}({a})", function[self.rng.usize(..4)])
            }
            14 if ty.scalar == U32 && ty.count == 1 && self.scope.iter().any(|v| v.name == "w") => {
                format!("list[{a} & 7u]")
            }
            15 if ty.count == 1 => {
                let of = [I32, U32, Bool][self.rng.usize(..3)];
                let value = self.expression(Type::of(of), depth);
                self.converted(&value, of, ty.scalar)
            }
            _ => format!("({a} + {})", self.right(ty, depth)),
        }
    }

    fn real(&mut self, ty: Type, depth: u32) -> String {
        let a = self.expression(ty, depth);
        match self.rng.u32(..14) {
            0..=2 => format!("({a} {} {})", ["+", "-", "*"][self.rng.usize(..3)], self.right(ty, depth)),
            3 => format!("{}({a}, {})", ["min", "max"][self.rng.usize(..2)], self.right(ty, depth)),
            4 => format!("abs({a})"),
            5 => format!("(-{a})"),
            6 => format!("({a} * {})", self.literal(Type::of(F32))),
            7 => format!("{}({a})", ["floor", "ceil", "trunc"][self.rng.usize(..3)]),
            8 => format!("sqrt(abs({a}) + {})", self.literal_of(ty, "0.5")),
            9 => format!("fma({a}, {}, {})", self.right(ty, depth), self.right(ty, 0)),
            10 => format!("clamp({a}, {}, {})", self.literal_of(ty, "-4.0"), self.literal_of(ty, "16.0")),
            11 => {
                let b = self.right(ty, depth);
                format!("select({a}, {b}, {})", self.expression(Type::of(Bool), depth.min(1)))
            }
            12 if ty.count == 1 => {
                let of = [I32, U32][self.rng.usize(..2)];
                let value = self.leaf(Type::of(of));
                self.converted(&value, of, F32)
            }
            _ => format!("({a} + {})", self.right(ty, depth)),
        }
    }

    /// Returns a number as a literal of the type.
    fn literal_of(&self, ty: Type, value: &str) -> String {
        let suffix = match ty.scalar {
            Bool | I32 | F32 => "",
            U32 => "u",
            I64 => "li",
            U64 => "lu",
        };
        if ty.count == 1 { format!("{value}{suffix}") } else { format!("{}({value}{suffix})", ty.name()) }
    }
}
