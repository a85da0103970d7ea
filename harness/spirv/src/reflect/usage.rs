//! Which functions and global variables an entry point reaches.

use std::collections::BTreeSet;

use crate::module::{Id, Module};
use crate::tables::{ExecutionModel, Kind, Op};
use crate::words::string;

/// An entry point and what it statically uses.
#[derive(Clone, Debug)]
pub struct Usage {
    /// Its execution model; `None` where the grammar does not know the word.
    pub model: Option<ExecutionModel>,
    /// The word of its function's id.
    pub function: u32,
    /// Its name.
    pub name: String,
    /// The words of the ids in its interface.
    pub interface: Vec<u32>,
    /// Its functions, by their place in [`Module::functions`].
    pub functions: BTreeSet<usize>,
    /// Module-scope ids (variables, constants) that instructions of its functions name.
    pub globals: BTreeSet<Id>,
}

/// Entry points in order, each with what it statically uses.
pub fn usages(module: &Module) -> Vec<Usage> {
    let entry_points = module.section(crate::module::Section::EntryPoints);
    entry_points
        .filter(|i| i.op == Some(Op::EntryPoint))
        .filter_map(|i| {
            let [model, function, rest @ ..] = i.operands() else { return None };
            let (name, words) = string(rest)?;
            let mut usage = Usage {
                model: ExecutionModel::from_word(*model),
                function: *function,
                name,
                interface: rest[words..].to_vec(),
                functions: BTreeSet::new(),
                globals: BTreeSet::new(),
            };
            usage.reach(module);
            Some(usage)
        })
        .collect()
}

impl Usage {
    fn reach(&mut self, module: &Module) {
        let place = |word: u32| {
            let start = module.definition_of_word(word)?.index.0;
            module.functions().binary_search_by_key(&start, |f| f.instructions.start).ok()
        };
        let globals_end = module.functions().first().map_or(u32::MAX, |f| f.instructions.start);
        let mut seen = vec![false; module.id_count()];
        let mut waiting: Vec<usize> = place(self.function).into_iter().collect();
        while let Some(function) = waiting.pop() {
            if !self.functions.insert(function) {
                continue;
            }
            for instruction in module.instructions_in(module.functions()[function].instructions.clone()) {
                // What stands behind an operand newer than the tables cannot be known.
                let _newer = module.operands(instruction, |operand| {
                    if !matches!(operand.kind, Kind::IdRef | Kind::IdScope | Kind::IdMemorySemantics) {
                        return;
                    }
                    let word = instruction.words[operand.at];
                    let Some(id) = module.id(word).filter(|id| !std::mem::replace(&mut seen[id.0 as usize], true))
                    else {
                        return;
                    };
                    match module.definition(id) {
                        Some(d) if d.op == Some(Op::Function) => waiting.extend(place(word)),
                        Some(d) if d.index.0 < globals_end => {
                            self.globals.insert(id);
                        }
                        _ => {}
                    }
                });
            }
        }
    }
}
