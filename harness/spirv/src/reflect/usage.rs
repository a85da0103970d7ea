//! Which functions and global variables an entry point reaches.

use std::collections::BTreeSet;

use crate::module::{Id, Module};
use crate::tables::{ExecutionModel, Op};
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
    /// Its functions, by their place in [`Module::functions`], in that order.
    pub functions: Vec<usize>,
    /// Module-scope ids (variables, constants) that instructions of its functions name, in the order of the ids.
    pub globals: Vec<Id>,
}

/// Entry points in order, each with what it statically uses.
pub fn usages(module: &Module) -> Vec<Usage> {
    let mut reach = Reach::new(module);
    let entry_points = module.section(crate::module::Section::EntryPoints);
    entry_points
        .filter(|i| i.op == Some(Op::EntryPoint))
        .filter_map(|i| {
            let [model, function, rest @ ..] = i.operands() else { return None };
            let (name, words) = string(rest)?;
            let (functions, globals) = reach.from(*function);
            Some(Usage {
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

/// What functions name: each function is read once, however many entry points reach it.
struct Reach<'a> {
    module: &'a Module,
    /// Ids that are made before this instruction are the module's own.
    globals_end: u32,
    /// What each function that has been reached names, without repetitions.
    named: Vec<Option<Named>>,
    /// The last function or entry point, by its number, that named an id.
    last: Vec<u32>,
    number: u32,
}

#[derive(Default)]
struct Named {
    functions: Vec<usize>,
    globals: Vec<Id>,
}

impl<'a> Reach<'a> {
    fn new(module: &'a Module) -> Self {
        let globals_end = module.functions().first().map_or(u32::MAX, |f| f.instructions.start);
        Reach {
            module,
            globals_end,
            named: module.functions().iter().map(|_| None).collect(),
            last: vec![0; module.id_count()],
            number: 0,
        }
    }

    /// Functions and module-scope ids that the function of that word reaches.
    fn from(&mut self, word: u32) -> (Vec<usize>, Vec<Id>) {
        let mut functions = BTreeSet::new();
        let mut globals = Vec::new();
        let mut waiting: Vec<usize> = self.module.function_place(word).into_iter().collect();
        while let Some(function) = waiting.pop() {
            if !functions.insert(function) {
                continue;
            }
            let named = match self.named[function].take() {
                Some(named) => named,
                None => self.read(function),
            };
            waiting.extend(&named.functions);
            globals.extend(&named.globals);
            self.named[function] = Some(named);
        }
        // Functions repeat what others name.
        self.number += 1;
        let (last, number) = (&mut self.last, self.number);
        globals.retain(|id: &Id| std::mem::replace(&mut last[id.0 as usize], number) != number);
        globals.sort_unstable();
        globals.shrink_to_fit();
        (functions.into_iter().collect(), globals)
    }

    fn read(&mut self, function: usize) -> Named {
        self.number += 1;
        let (module, number, last) = (self.module, self.number, &mut self.last);
        let mut named = Named::default();
        for instruction in module.instructions_in(module.functions()[function].instructions.clone()) {
            module.uses(instruction, |word| {
                let Some(id) = module.id(word) else { return };
                if std::mem::replace(&mut last[id.0 as usize], number) == number {
                    return;
                }
                match module.definition(id) {
                    Some(d) if d.op == Some(Op::Function) => named.functions.extend(module.function_place(word)),
                    Some(d) if d.index.0 < self.globals_end => named.globals.push(id),
                    _ => {}
                }
            });
        }
        named
    }
}
