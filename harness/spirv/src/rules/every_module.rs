//! Rules of the core specification that a module has to keep before it may reach a driver.

use std::collections::HashSet;

use super::facts::{Entry, Facts};
use super::{On, Rule};
use crate::grammar::Version;
use crate::module::Section;
use crate::tables::{Op, StorageClass};

/// Storage class of a module-scope variable; `None` for other ids, and for classes that the tables do not know.
fn global_class(facts: &Facts, word: u32) -> Option<StorageClass> {
    let definition = facts.module.definition_of_word(word)?;
    let variable = matches!(definition.op, Some(Op::Variable | Op::UntypedVariableKHR));
    let class = definition.operand(0).filter(|_| variable).and_then(StorageClass::from_word)?;
    (class != StorageClass::Function).then_some(class)
}

/// Whether an interface lists variables of every storage class, not only inputs and outputs.
fn lists_all(facts: &Facts) -> bool {
    facts.module.version() >= Version { major: 1, minor: 4 }
}

fn is_listed_early(class: StorageClass) -> bool {
    matches!(class, StorageClass::Input | StorageClass::Output)
}

/// The variables that an entry point's functions name and that its interface would have to list.
fn missing(facts: &Facts, entry: &Entry) -> Vec<u32> {
    let listed: HashSet<u32> = entry.usage.interface.iter().copied().collect();
    let words = entry.usage.globals.iter().map(|id| facts.module.word(*id));
    words
        .filter(|word| !listed.contains(word))
        .filter(|word| global_class(facts, *word).is_some_and(|class| lists_all(facts) || is_listed_early(class)))
        .collect()
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "one-memory-model",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: the single required OpMemoryModel",
        says: "a module has one OpMemoryModel",
        on: On::Module(|facts, found| {
            let mut models = facts.module.section(Section::MemoryModel).filter(|i| i.op == Some(Op::MemoryModel));
            match (models.next(), models.next()) {
                (None, _) => {
                    // Told of where the module starts; one without instructions has no entry point to run either.
                    if let Some(first) = facts.module.instructions().next() {
                        found.at(first, "the module has no OpMemoryModel, expected one");
                    }
                }
                (Some(_), Some(second)) => found.at(second, "a second OpMemoryModel, expected one"),
                (Some(_), None) => {}
            }
        }),
    },
    Rule {
        name: "interface-complete",
        id: "SPIR-V specification, OpEntryPoint: Interface is a superset of the variables that the call tree references (before 1.4: of Input and Output)",
        says: "an entry point's interface lists each module-scope variable that its functions use (before SPIR-V 1.4: each Input and Output)",
        on: On::EntryPoints(|facts, entry, found| {
            let missing = missing(facts, entry);
            let Some((first, rest)) = missing.split_first() else { return };
            let class = global_class(facts, *first).map_or_else(String::new, |class| format!(" ({class})"));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            found.at(
                entry.instruction,
                format!("{}{class}{more}: used, but not in the interface of {}", facts.name(*first), entry.usage.name),
            );
        }),
    },
    Rule {
        name: "interface-classes",
        id: "SPIR-V specification, OpEntryPoint: Interface is global variables (before 1.4: Input and Output)",
        says: "an interface lists module-scope variables and nothing else (before SPIR-V 1.4: Input and Output ones)",
        on: On::EntryPoints(|facts, entry, found| {
            for word in &entry.usage.interface {
                let definition = facts.module.definition_of_word(*word).and_then(|definition| definition.op);
                // Graphs and their likes list what is no variable; the tables may not know them.
                let what = match (definition, global_class(facts, *word)) {
                    (None, _) => continue,
                    (Some(_), Some(class)) if lists_all(facts) || is_listed_early(class) => continue,
                    (Some(_), Some(class)) => format!("is in {class}, which interfaces list from SPIR-V 1.4 on"),
                    (Some(Op::Variable | Op::UntypedVariableKHR), None) => "is no module-scope variable".to_owned(),
                    (Some(op), None) => format!("is made by {}, expected a module-scope variable", op.name()),
                };
                found.at(entry.instruction, format!("{} in the interface {what}", facts.name(*word)));
                return;
            }
        }),
    },
    Rule {
        name: "interface-repeated",
        id: "SPIR-V specification, OpEntryPoint: from 1.4 on an Interface id must not appear more than once",
        says: "from SPIR-V 1.4 on an interface lists a variable once",
        on: On::EntryPoints(|facts, entry, found| {
            let mut seen = HashSet::new();
            let twice = entry.usage.interface.iter().find(|word| !seen.insert(**word));
            if let Some(word) = twice.filter(|_| lists_all(facts)) {
                found.at(entry.instruction, format!("{} twice in the interface", facts.name(*word)));
            }
        }),
    },
];
