//! Statements, structured control flow, and functions.

use super::types::{Scalar, Type, U32};
use super::{Function, Generator, Parameter, Value};
use std::fmt::Write;

/// Deepest nesting of control flow.
const MAX_DEPTH: u32 = 3;

/// Exits that a branch of a selection may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// To the next block only.
    Next,
    /// It may also return, because another way leads to the merge block.
    NextOrReturn,
}

/// A branch of a selection: its text, and the block from which it goes on with its values for the
/// phis; `None` if it leaves the function.
struct Branch {
    text: String,
    end: Option<(String, Vec<Value>)>,
}

impl Generator {
    /// Adds a statement. `whole` is set in the entry point outside control flow.
    pub(super) fn statement(&mut self, depth: u32, whole: bool) {
        self.budget = self.budget.saturating_sub(1);
        let nested = self.features.control && depth < MAX_DEPTH && self.budget > 0;
        match self.rng.u32(..24) {
            0 | 1 if nested => self.condition(depth),
            2 if nested => self.switch(depth),
            3 | 4 if nested => self.repetition(depth),
            5 | 6 if self.features.functions => self.call(),
            7..=10 if self.features.variables => self.memory(),
            11 if self.features.atomics => self.atomic(),
            11 if self.features.wild && self.result.is_none() => self.wild_atomic(),
            12 if self.features.addresses && self.result.is_none() => self.reach(),
            12 if whole && self.features.workgroup => self.exchange(),
            13 | 14 if whole && self.features.subgroups => self.subgroup(),
            15..=18 if self.features.images => self.image(whole),
            _ => {
                // A compiler evaluates constants by code of its own.
                self.folds = self.features.folded && self.chance(4);
                self.operation(whole);
                self.folds = false;
            }
        }
    }

    /// Adds up to three statements.
    fn statements(&mut self, depth: u32) {
        for _ in 0..self.rng.u32(1..=3) {
            self.statement(depth, false);
        }
    }

    /// Starts a block.
    pub(super) fn start_block(&mut self, label: &str) {
        self.line(&format!("{label} = OpLabel"));
        label.clone_into(&mut self.block);
    }

    /// Generates blocks on their own, with the scope of this place. Returns their text.
    fn apart<T>(&mut self, generate: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let (outer, visible) = (std::mem::take(&mut self.body), self.scope.len());
        let made = generate(self);
        self.scope.truncate(visible);
        (std::mem::replace(&mut self.body, outer), made)
    }

    /// Adds the branches of a selection, in any order if several of them lead to the merge block. A
    /// single one dominates that block, which must not come first.
    fn place(&mut self, mut texts: Vec<String>, parents: usize) {
        let reordered = self.features.reordered && parents > 1;
        if reordered {
            self.rng.shuffle(&mut texts);
        }
        for text in texts {
            if reordered && self.chance(2) {
                self.deferred.push(text);
            } else {
                self.body += &text;
            }
        }
    }

    /// Returns the types of the phis at the end of a selection.
    fn phi_types(&mut self) -> Vec<Type> {
        (0..self.rng.u32(0..=3)).map(|_| self.any_type(true)).collect()
    }

    /// Adds the phis of a block with these predecessors, and their values to the scope.
    fn phis(&mut self, types: &[Type], parents: &[(String, Vec<Value>)]) {
        let mut made = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let mut pairs = String::new();
            for (block, values) in parents {
                _ = write!(pairs, "{} {block} ", values[index].id);
            }
            let id = self.op(ty, "OpPhi", pairs.trim_end());
            let roundings = parents.iter().map(|(_, values)| values[index].roundings).max().unwrap_or(0);
            self.note_nonfinite(&id, ty);
            made.push(Value { id, ty: ty.clone(), roundings });
        }
        self.scope.extend(made);
    }

    fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.operand(ty)).collect()
    }

    /// Generates a branch of a selection from its label to its branch to `to`.
    fn branch(
        &mut self,
        (label, to): (&str, &str),
        types: &[Type],
        depth: u32,
        parents: &[(String, Vec<Value>)],
        exit: Exit,
    ) -> Branch {
        let (text, end) = self.apart(|generator| {
            generator.start_block(label);
            if parents.len() > 1 {
                generator.phis(types, parents);
            }
            generator.statements(depth + 1);
            if let Some(result) = generator.result.clone()
                && exit == Exit::NextOrReturn
                && generator.chance(4)
            {
                let value = generator.operand(&result).id;
                generator.line(&format!("OpReturnValue {value}"));
                return None;
            }
            let values = generator.values(types);
            generator.line(&format!("OpBranch {to}"));
            Some((generator.block.clone(), values))
        });
        Branch { text, end }
    }

    fn condition(&mut self, depth: u32) {
        let types = self.phi_types();
        let before = self.values(&types);
        let condition = self.exact_operand(&Type::Scalar(Scalar::Bool)).id;
        let (merge, then, other) = (self.module.label(), self.module.label(), self.module.label());
        let has_other = self.chance(2);
        let control = self.pick(&["None", "None", "Flatten", "DontFlatten"]);
        self.line(&format!("OpSelectionMerge {merge} {control}"));
        let start = self.block.clone();
        let first = if has_other { &other } else { &merge };
        let targets = if self.chance(2) { format!("{then} {first}") } else { format!("{first} {then}") };
        self.line(&format!("OpBranchConditional {condition} {targets}"));
        let mut branches = vec![self.branch((&then, &merge), &types, depth, &[], Exit::NextOrReturn)];
        if has_other {
            branches.push(self.branch((&other, &merge), &types, depth, &[], Exit::Next));
        }
        let mut parents: Vec<(String, Vec<Value>)> =
            branches.iter_mut().filter_map(|branch| branch.end.take()).collect();
        if !has_other {
            parents.push((start, before));
        }
        self.place(branches.into_iter().map(|branch| branch.text).collect(), parents.len());
        self.start_block(&merge);
        self.phis(&types, &parents);
    }

    fn switch(&mut self, depth: u32) {
        let types = self.phi_types();
        let before = self.values(&types);
        let scalar = if self.chance(4) { self.int() } else { U32 };
        let mut selector = self.operand(&Type::Scalar(scalar)).id;
        if !self.chance(4) {
            let mask = self.literal(&Type::Scalar(scalar), "7");
            selector = self.op(&Type::Scalar(scalar), "OpBitwiseAnd", format!("{selector} {mask}"));
        }
        let merge = self.module.label();
        let labels: Vec<String> = (0..self.rng.usize(1..=4)).map(|_| self.module.label()).collect();
        let default = self.chance(2).then(|| self.module.label());
        let mut literals: Vec<u32> = (0..8).collect();
        self.rng.shuffle(&mut literals);
        let mut targets = String::new();
        for (index, label) in labels.iter().enumerate() {
            // Literals of one label stand together.
            _ = write!(targets, " {} {label}", literals[2 * (index % 4)]);
            if self.chance(3) {
                _ = write!(targets, " {} {label}", literals[2 * (index % 4) + 1]);
            }
        }
        self.line(&format!("OpSelectionMerge {merge} None"));
        let start = self.block.clone();
        self.line(&format!("OpSwitch {selector} {}{targets}", default.as_ref().unwrap_or(&merge)));
        let (mut texts, mut parents) = (Vec::new(), Vec::new());
        let mut falls: Option<(String, Vec<Value>)> = None;
        for (index, label) in labels.iter().enumerate() {
            let next = labels.get(index + 1).filter(|_| self.chance(3)).cloned();
            let mut from = vec![(start.clone(), before.clone())];
            from.extend(falls.take());
            let exit = if default.is_none() { Exit::NextOrReturn } else { Exit::Next };
            let to = next.as_ref().unwrap_or(&merge);
            let Branch { text, end } = self.branch((label, to), &types, depth, &from, exit);
            texts.push(text);
            if next.is_some() {
                falls = end;
            } else {
                parents.extend(end);
            }
        }
        match &default {
            Some(label) => {
                let Branch { text, end } = self.branch((label, &merge), &types, depth, &[], Exit::Next);
                texts.push(text);
                parents.extend(end);
            }
            None => parents.push((start, before)),
        }
        self.place(texts, parents.len());
        self.start_block(&merge);
        self.phis(&types, &parents);
    }

    /// Adds a loop with a counter and a web of phis.
    fn repetition(&mut self, depth: u32) {
        let u32 = Type::Scalar(U32);
        let is_long = self.features.long_loop && depth == 0;
        let turns = match self.rng.u32(..4) {
            _ if is_long => {
                self.features.long_loop = false;
                let turns = self.rng.u32(1 << 12..1 << 17);
                self.module.constant_u32(turns)
            }
            0 | 1 => {
                let turns = self.rng.u32(1..6);
                self.module.constant_u32(turns)
            }
            _ => self.index_below(8),
        };
        let shared = self.any_type(true);
        let same = self.chance(2);
        let types: Vec<Type> =
            (0..self.rng.u32(0..=4)).map(|_| if same { shared.clone() } else { self.any_type(true) }).collect();
        let first = self.values(&types);
        let [header, test, body, again, merge] = std::array::from_fn(|_| self.module.label());
        let (counter, next) = (self.module.label(), self.module.label());
        let before = self.block.clone();
        let (zero, one) = (self.module.constant_u32(0), self.module.constant_u32(1));
        // A float may be rounded in every iteration, so no condition may depend on it.
        let variables: Vec<Value> = types
            .iter()
            .map(|ty| Value { id: self.module.label(), ty: ty.clone(), roundings: if ty.has_float() { 3 } else { 0 } })
            .collect();
        variables.iter().for_each(|value| self.note_nonfinite(&value.id, &value.ty));
        let bottom = self.chance(4);
        let visible = self.scope.len();
        self.scope.push(Value { id: counter.clone(), ty: u32.clone(), roundings: 0 });
        self.scope.extend(variables.iter().cloned());
        let (text, (values, first_block)) = self.apart(|generator| {
            generator.start_block(&body);
            let visible = generator.scope.len();
            for _ in 0..generator.rng.u32(0..=2) {
                generator.operation(false);
            }
            if generator.features.subgroups && generator.chance(2) {
                let turn = Value { id: counter.clone(), ty: u32.clone(), roundings: 0 };
                generator.agreement(&turn);
            }
            let first_block: Vec<Value> = generator.scope[visible..].to_vec();
            // Decided here, because later blocks need not lead to the next iteration.
            let values: Vec<Value> = types
                .iter()
                .map(|ty| {
                    let moved: Vec<&Value> = variables.iter().filter(|value| value.ty == *ty).collect();
                    if generator.chance(2) {
                        moved[generator.rng.usize(..moved.len())].clone()
                    } else {
                        generator.operand(ty)
                    }
                })
                .collect();
            if generator.chance(3) {
                let condition = generator.exact_operand(&Type::Scalar(Scalar::Bool)).id;
                let (leave, rest) = (if generator.chance(2) { &merge } else { &again }, generator.module.label());
                let leave = if bottom { &again } else { leave };
                generator.line(&format!("OpBranchConditional {condition} {leave} {rest}"));
                generator.start_block(&rest);
            }
            generator.statements(depth + 1);
            generator.line(&format!("OpBranch {again}"));
            (values, first_block)
        });
        self.scope.truncate(visible);
        // A driver that unrolls so many turns as it is told takes all memory.
        let control = if is_long { "None" } else { self.pick(&["None", "None", "Unroll", "DontUnroll"]) };
        self.line(&format!("OpBranch {header}"));
        self.start_block(&header);
        let u32_id = self.module.u32();
        self.line(&format!("{counter} = OpPhi {u32_id} {zero} {before} {next} {again}"));
        for ((variable, first), value) in variables.iter().zip(&first).zip(&values) {
            let ty = self.type_id(&variable.ty);
            self.line(&format!("{} = OpPhi {ty} {} {before} {} {again}", variable.id, first.id, value.id));
        }
        self.line(&format!("OpLoopMerge {merge} {again} {control}"));
        if bottom {
            self.line(&format!("OpBranch {body}"));
            self.body += &text;
            self.start_block(&again);
            self.line(&format!("{next} = OpIAdd {u32_id} {counter} {one}"));
            let more = self.op(&Type::Scalar(Scalar::Bool), "OpULessThan", format!("{next} {turns}"));
            self.line(&format!("OpBranchConditional {more} {header} {merge}"));
        } else {
            self.line(&format!("OpBranch {test}"));
            self.start_block(&test);
            let more = self.op(&Type::Scalar(Scalar::Bool), "OpULessThan", format!("{counter} {turns}"));
            self.line(&format!("OpBranchConditional {more} {body} {merge}"));
            self.body += &text;
            self.start_block(&again);
            self.line(&format!("{next} = OpIAdd {u32_id} {counter} {one}"));
            self.line(&format!("OpBranch {header}"));
        }
        self.start_block(&merge);
        self.push(counter, u32, 0);
        self.scope.extend(variables);
        if bottom {
            // The body has run at least once, and its first block dominates what follows.
            let after = |value: Value| Value { roundings: if value.ty.has_float() { 3 } else { 0 }, ..value };
            self.scope.extend(first_block.into_iter().map(after));
        }
    }

    /// Adds a function of values and pointers.
    pub(super) fn function(&mut self) {
        let count = self.rng.usize(1..=3);
        let parameters: Vec<Parameter> = (0..count)
            .map(|_| {
                let ty = self.any_type(true);
                let pointer = (self.features.variables && self.chance(4)).then_some("Function");
                Parameter { ty, pointer }
            })
            .collect();
        let result = self.any_type(true);
        self.result = Some(result.clone());
        let outer = std::mem::take(&mut self.used);
        let mut text = String::new();
        let mut types = vec![self.type_id(&result)];
        for parameter in &parameters {
            let (id, mut ty) = (self.module.label(), self.type_id(&parameter.ty));
            if let Some(class) = parameter.pointer {
                ty = self.module.pointer(class, &ty);
                self.variables.push(super::Variable { id: id.clone(), ty: parameter.ty.clone(), class });
            } else {
                let roundings = if parameter.ty.has_float() { 2 } else { 0 };
                self.push(id.clone(), parameter.ty.clone(), roundings);
            }
            _ = writeln!(text, "{id} = OpFunctionParameter {ty}");
            types.push(ty);
        }
        let (function, label) = (self.module.label(), self.module.label());
        let signature = self.module.declare(&format!("OpTypeFunction {}", types.join(" ")));
        self.block.clone_from(&label);
        for _ in 0..self.rng.u32(1..=5) {
            self.statement(1, false);
        }
        let value = self.operand(&result).id;
        self.line(&format!("OpReturnValue {value}"));
        let body = self.take_function();
        let control = self.pick(&["None", "None", "Inline", "DontInline"]);
        self.module.function(format!(
            "{function} = OpFunction {} {control} {signature}\n{text}{label} = OpLabel\n{body}OpFunctionEnd",
            types[0]
        ));
        let used = std::mem::replace(&mut self.used, outer);
        self.functions.push(Function { id: function, parameters, result, used });
        self.result = None;
    }

    fn call(&mut self) {
        let Some(function) = (!self.functions.is_empty()).then(|| self.rng.usize(..self.functions.len())) else {
            return self.operation(false);
        };
        let Function { id, parameters, result, used } = self.functions[function].clone();
        self.used.extend(used);
        let arguments: Vec<String> = parameters
            .iter()
            .map(|parameter| match parameter.pointer {
                Some(_) => self.fresh_variable(&parameter.ty).id,
                None => self.operand(&parameter.ty).id,
            })
            .collect();
        let value = self.op(&result, "OpFunctionCall", format!("{id} {}", arguments.join(" ")));
        let roundings = if result.has_float() { 3 } else { 0 };
        self.push(value, result, roundings);
    }
}
