//! Functions, blocks and branches.

use super::{Decoder, Result};
use crate::control_flow::{Block, Construct, Decider, Edge, End, LiveRegisters};
use crate::inst::Inst;
use assay_spirv::module::{self, BlockIndex, ConstructKind, Function, Instruction, Type};
use assay_spirv::tables::Op;
use std::collections::HashMap;

impl Decoder<'_> {
    pub(super) fn function(&mut self, number: usize, function: &Function) -> Result {
        let module = self.module;
        let flow = module.flow(function);
        let order: Vec<BlockIndex> = flow.order().to_vec();
        let places: HashMap<u32, u32> = order.iter().zip(0..).map(|(b, i)| (module.block(*b).label, i)).collect();
        if order.is_empty() {
            return self.invalid("a function without body");
        }
        for &b in &order {
            let block = module.block(b);
            let start = self.code.len() as u32;
            if b == order[0] {
                for i in module.instructions_in(function.parameters.clone()) {
                    self.here = i.index;
                    self.relax_parameter(i)?;
                }
            }
            for i in module.instructions_in(block.body()) {
                self.here = i.index;
                self.instruction(i)?;
            }
            let last = module.instruction(block.terminator());
            self.here = last.index;
            let end = self.end(last, block.label, &places)?;
            let code = start..self.code.len() as u32;
            let at = self.place();
            let construct = flow.innermost_construct(b).map(|construct| construct as u32);
            self.functions[number].blocks.push(Block { code, end, at, construct, live: LiveRegisters::default() });
        }
        let place = |block| places.get(&module.block(block).label).copied();
        let construct = |construct: &module::Construct| Construct {
            merge: place(construct.merge),
            parent: construct.parent.map(|parent| parent as u32),
            header: place(construct.header).filter(|_| construct.kind == ConstructKind::Selection),
        };
        self.functions[number].constructs = flow.constructs().iter().map(construct).collect();
        Ok(())
    }

    fn end(&mut self, last: Instruction, from: u32, places: &HashMap<u32, u32>) -> Result<End> {
        let operands = last.operands();
        Ok(match (last.op, operands) {
            (Some(Op::Branch), [to, ..]) => End::Jump(self.edge(from, *to, places)?),
            (Some(Op::BranchConditional), [condition, then, other, ..]) => End::If {
                condition: self.decider(*condition)?,
                then: self.edge(from, *then, places)?,
                other: self.edge(from, *other, places)?,
            },
            (Some(Op::Switch), [selector, default, rest @ ..]) => {
                let words = self.module.switch_literal_words(last);
                let width = self.val(*selector).map(|selector| self.kind(&selector).width())?;
                let selector = self.decider(*selector)?;
                let mut edges = vec![self.edge(from, *default, places)?];
                let mut cases = Vec::new();
                for case in rest.chunks_exact(words + 1) {
                    let literal = case[..words].iter().rev().fold(0u64, |bits, word| bits << 32 | u64::from(*word));
                    cases.push((literal & crate::ty::mask(width), edges.len() as u32));
                    edges.push(self.edge(from, case[words], places)?);
                }
                End::Switch { selector, cases: cases.into(), edges: edges.into() }
            }
            (Some(Op::Return), _) => End::Return { value: None },
            (Some(Op::ReturnValue), [value, ..]) => End::Return { value: Some(self.val(*value)?.reg) },
            (Some(Op::Unreachable), _) => End::Unreachable,
            _ => return self.unsupported_op(last),
        })
    }

    fn decider(&mut self, word: u32) -> Result<Decider> {
        let made = self.module.definition_of(word).and_then(|made| made.op);
        Ok(Decider { reg: self.val(word)?.reg, is_undef: made == Some(Op::Undef) })
    }

    fn edge(&mut self, from: u32, to: u32, places: &HashMap<u32, u32>) -> Result<Edge> {
        let module = self.module;
        let Some(&block) = places.get(&to) else { return self.invalid("a branch to no block of the function") };
        let Some(target) = module.block_of(to) else { return self.invalid("a branch to no block") };
        let mut phis = Vec::new();
        for i in module.instructions_in(module.block(target).body()) {
            match i.op {
                Some(Op::Phi) => {
                    let dst = self.result(i)?;
                    let pair = i.operands().chunks_exact(2).find(|pair| pair[1] == from);
                    let Some(pair) = pair else { return self.invalid("an OpPhi without value for a predecessor") };
                    let src = self.val(pair[0])?;
                    phis.push((dst.reg, src.reg, dst.n));
                }
                Some(Op::Line | Op::NoLine) => {}
                _ => break,
            }
        }
        Ok(Edge { block, phis: phis.into() })
    }

    pub(super) fn call(&mut self, i: Instruction) -> Result {
        let callee = self.word(i, 0)?;
        let Some(&number) = self.numbers.get(&callee) else { return self.invalid("a call of no function") };
        let Some(function) = self.module.function(callee) else { return self.invalid("a call of no function") };
        let parameters: Vec<u32> = self
            .module
            .instructions_in(function.parameters.clone())
            .filter(|p| p.op == Some(Op::FunctionParameter))
            .filter_map(|p| p.result())
            .collect();
        let given = i.operands().get(1..).unwrap_or_default();
        if parameters.len() != given.len() {
            return self.invalid("a call with another number of arguments than the function has parameters");
        }
        let mut args = Vec::new();
        for (parameter, argument) in parameters.iter().zip(given) {
            let (parameter, argument) = (self.val(*parameter)?, self.val(*argument)?);
            args.push((parameter.reg, argument.reg, parameter.n));
        }
        self.emit(Inst::Call { function: number, args: args.into() });
        let returns = i.result_type().and_then(|ty| self.module.type_declared(ty));
        if returns.is_some_and(|ty| *self.module.ty(ty) != Type::Void) {
            let dst = self.result(i)?;
            let src = self.functions[number as usize].result;
            self.emit(Inst::Copy { dst: dst.reg, src, n: dst.n, load: false });
        }
        Ok(())
    }
}
