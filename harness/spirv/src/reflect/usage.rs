//! Functions and global variables that each entry point statically uses.

use std::collections::BTreeSet;

use crate::module::{DenseId, Module};
use crate::tables::{ExecutionModel, Op};
use crate::words::string;

/// An entry point and its static uses.
#[derive(Clone, Debug)]
pub struct EntryPointUses {
    /// Its execution model; `None` if the grammar does not define the word.
    pub model: Option<ExecutionModel>,
    /// The raw id of its function.
    pub function: u32,
    /// Its name.
    pub name: String,
    /// The raw ids in its interface.
    pub interface: Vec<u32>,
    /// Indices in [`Module::functions`] of the functions that it reaches, in ascending order.
    pub functions: Vec<usize>,
    /// Module-scope ids (variables, constants) that instructions of its functions use, in ascending
    /// order.
    pub globals: Vec<DenseId>,
}

/// Returns the entry points in order, each with its static uses.
pub fn static_uses(module: &Module) -> Vec<EntryPointUses> {
    let mut collector = ReferenceCollector::new(module);
    let entry_points = module.section(crate::module::Section::EntryPoints);
    entry_points
        .filter(|i| i.op == Some(Op::EntryPoint))
        .filter_map(|i| {
            let [model, function, rest @ ..] = i.operands() else { return None };
            let (name, words) = string(rest)?;
            let (functions, globals) = collector.reachable_from(*function);
            Some(EntryPointUses {
                model: ExecutionModel::from_word(*model),
                function: *function,
                name,
                interface: rest[words..].to_vec(),
                functions,
                globals,
            })
        })
        .collect()
}

/// Collects the references of functions. Each function is read once, even if several entry points
/// reach it.
struct ReferenceCollector<'a> {
    module: &'a Module,
    /// Index of the first instruction of a function: ids defined before it are module-scope.
    globals_end: u32,
    /// References of each function that has been read.
    references: Vec<Option<References>>,
    /// For each id, the number of the last function or entry point that referred to it.
    last: Vec<u32>,
    number: u32,
}

#[derive(Default)]
struct References {
    functions: Vec<usize>,
    globals: Vec<DenseId>,
}

impl<'a> ReferenceCollector<'a> {
    fn new(module: &'a Module) -> Self {
        let globals_end = module.functions().first().map_or(u32::MAX, |f| f.instructions.start);
        ReferenceCollector {
            module,
            globals_end,
            references: module.functions().iter().map(|_| None).collect(),
            last: vec![0; module.id_count()],
            number: 0,
        }
    }

    /// Returns the functions that the function with this raw id reaches, and the module-scope ids
    /// that they use.
    fn reachable_from(&mut self, word: u32) -> (Vec<usize>, Vec<DenseId>) {
        let mut functions = BTreeSet::new();
        let mut globals = Vec::new();
        let mut waiting: Vec<usize> = self.module.function_index(word).into_iter().collect();
        while let Some(function) = waiting.pop() {
            if !functions.insert(function) {
                continue;
            }
            let references = match self.references[function].take() {
                Some(references) => references,
                None => self.read(function),
            };
            waiting.extend(&references.functions);
            globals.extend(&references.globals);
            self.references[function] = Some(references);
        }
        // Remove ids that several functions use.
        self.number += 1;
        let (last, number) = (&mut self.last, self.number);
        globals.retain(|id: &DenseId| std::mem::replace(&mut last[id.0 as usize], number) != number);
        globals.sort_unstable();
        globals.shrink_to_fit();
        (functions.into_iter().collect(), globals)
    }

    fn read(&mut self, function: usize) -> References {
        self.number += 1;
        let (module, number, last) = (self.module, self.number, &mut self.last);
        let mut references = References::default();
        for instruction in module.instructions_in(module.functions()[function].instructions.clone()) {
            module.uses(instruction, |word| {
                let Some(id) = module.dense_id(word) else { return };
                if std::mem::replace(&mut last[id.0 as usize], number) == number {
                    return;
                }
                match module.definition(id) {
                    Some(d) if d.op == Some(Op::Function) => references.functions.extend(module.function_index(word)),
                    Some(d) if d.index.0 < self.globals_end => references.globals.push(id),
                    _ => {}
                }
            });
        }
        references
    }
}
