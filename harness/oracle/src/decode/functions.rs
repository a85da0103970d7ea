//! Declaration of the functions that an entry point reaches, and the limit on the depth of their
//! calls.

use super::{Decoder, Result};
use crate::control_flow::Function;
use crate::inst::Inst;
use assay_spirv::module::Type;
use assay_spirv::tables::Op;

/// Largest nesting depth of calls.
const CALLS: u32 = 256;

impl Decoder<'_> {
    /// Decodes the functions that the entry point reaches, and returns the entry point's number.
    pub(super) fn all_functions(&mut self) -> Result<u32> {
        let module = self.module;
        let reached = self.usage.functions.clone();
        for (number, &f) in reached.iter().enumerate() {
            self.numbers.insert(module.functions()[f].id, number as u32);
        }
        self.functions = vec![Function::default(); reached.len()];
        // Calls and phis refer to results that are declared later.
        for (number, &f) in reached.iter().enumerate() {
            self.declare_function(number, &module.functions()[f])?;
        }
        self.in_function = true;
        for (number, &f) in reached.iter().enumerate() {
            self.function(number, &module.functions()[f])?;
        }
        self.refuse_recursion()?;
        match self.numbers.get(&self.usage.function) {
            Some(entry) => Ok(*entry),
            None => self.invalid("an entry point that is no function"),
        }
    }

    fn declare_function(&mut self, number: usize, function: &assay_spirv::module::Function) -> Result {
        let module = self.module;
        for i in module.instructions_in(function.instructions.clone()) {
            self.here = i.index;
            let (Some(result), Some(ty)) = (i.result(), i.result_type()) else { continue };
            let Some(ty) = module.type_declared(ty) else { continue };
            if i.op == Some(Op::Function) {
                if *module.ty(ty) != Type::Void {
                    let kinds = self.scalars(ty)?;
                    self.functions[number].result_scalars = kinds.len() as u32;
                    self.functions[number].result = self.registers(kinds)?;
                }
                continue;
            }
            if *module.ty(ty) == Type::Void {
                continue;
            }
            match i.op {
                Some(Op::Variable) => self.local_variable(result, ty)?,
                _ => drop(self.declare(result, ty)?),
            }
        }
        Ok(())
    }

    fn refuse_recursion(&self) -> Result {
        /// Marks of functions that are not visited yet, and of those being visited; other numbers
        /// are heights.
        const NEW: u32 = 0;
        const OPEN: u32 = u32::MAX;
        /// Number of functions on the longest path of calls from a function, itself included.
        /// `None` if there are too many, or the function is on the path twice. The interpreter
        /// nests its own calls as deep.
        fn height(functions: &[Function], code: &[Inst], f: usize, depth: u32, heights: &mut [u32]) -> Option<u32> {
            match heights[f] {
                OPEN => return None,
                NEW if depth > CALLS => return None,
                NEW => {}
                known => return Some(known),
            }
            heights[f] = OPEN;
            let mut inner = 0;
            for block in &functions[f].blocks {
                for inst in &code[block.code.start as usize..block.code.end as usize] {
                    if let Inst::Call { function, .. } = inst {
                        inner = inner.max(height(functions, code, *function as usize, depth + 1, heights)?);
                    }
                }
            }
            heights[f] = inner + 1;
            (inner <= CALLS).then_some(inner + 1)
        }
        let mut heights = vec![NEW; self.functions.len()];
        let fine = (0..self.functions.len()).all(|f| height(&self.functions, &self.code, f, 0, &mut heights).is_some());
        if fine { Ok(()) } else { self.unsupported("functions that call each other in a circle, or too deep") }
    }
}
