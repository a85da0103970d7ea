//! Decorations and debug names, by the id that they are about.

use super::{Id, Index, Instruction, Module};
use crate::tables::{Decoration, Op};
use crate::words::string;

/// A decoration of an id or of one of its members.
#[derive(Clone, Copy, Debug)]
pub struct Decorated<'a> {
    /// The member that is decorated; `None` for the id itself.
    pub member: Option<u32>,
    /// The decoration; `None` where the grammar does not know the word.
    pub decoration: Option<Decoration>,
    /// The decoration's own operands.
    pub operands: &'a [u32],
    /// The instruction that says so (of a group: the one that decorates the group).
    pub instruction: Instruction<'a>,
}

/// Decorating instructions and names, by target.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    decorations: ByTarget,
    names: ByTarget,
}

/// What is said of ids and their members.
#[derive(Debug, Default)]
struct ByTarget {
    /// Target, member plus one (0: the id itself), instruction; sorted.
    rows: Vec<(Id, u32, Index)>,
    /// The first row of each id and the end, up to the last id that has any: annotations come before what they are about, so
    /// that these are the first ids.
    starts: Vec<u32>,
}

impl ByTarget {
    fn sort(&mut self) {
        self.rows.sort_unstable();
        self.starts.clear();
        for (row, (target, ..)) in self.rows.iter().enumerate() {
            self.starts.resize(self.starts.len().max(target.0 as usize + 1), row as u32);
        }
        self.starts.push(self.rows.len() as u32);
    }

    fn of(&self, id: Id) -> &[(Id, u32, Index)] {
        let at = id.0 as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.rows[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

impl Annotations {
    /// Collects from the module's instructions; the module is complete but for this.
    pub(super) fn collect(module: &Module) -> Annotations {
        let mut all = Annotations::default();
        let mut grouped = Vec::new();
        let early = module.instructions_in(0..module.sections[super::Section::Globals as usize]);
        for instruction in early {
            let Some(op) = instruction.op else { continue };
            let Some(target) = instruction.words.get(1).and_then(|word| module.id(*word)) else { continue };
            let member = instruction.words.get(2).copied().unwrap_or(0).saturating_add(1);
            match op {
                Op::Name => all.names.rows.push((target, 0, instruction.index)),
                Op::MemberName => all.names.rows.push((target, member, instruction.index)),
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    all.decorations.rows.push((target, 0, instruction.index));
                }
                Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
                    all.decorations.rows.push((target, member, instruction.index));
                }
                Op::GroupDecorate | Op::GroupMemberDecorate => grouped.push(instruction.index),
                _ => {}
            }
        }
        all.decorations.sort();
        if !grouped.is_empty() {
            let mut resolved = Vec::new();
            for index in grouped {
                all.resolve_group(module, module.instruction(index), &mut resolved);
            }
            all.decorations.rows.extend(resolved);
            all.decorations.sort();
        }
        all.names.sort();
        all
    }

    fn resolve_group(&self, module: &Module, instruction: Instruction, resolved: &mut Vec<(Id, u32, Index)>) {
        let [_, group, targets @ ..] = instruction.words else { return };
        let Some(group) = module.id(*group) else { return };
        let said = self.decorations.of(group);
        let step = if instruction.op == Some(Op::GroupMemberDecorate) { 2 } else { 1 };
        for target in targets.chunks(step) {
            let Some(id) = module.id(target[0]) else { continue };
            let member = target.get(1).map_or(0, |m| m.saturating_add(1));
            // A group cannot be decorated through a group, so one pass is enough.
            resolved.extend(said.iter().map(|(_, _, index)| (id, member, *index)));
        }
    }

    pub(super) fn all<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, Decorated<'a>)> {
        let decorated =
            |(id, member, index): &(Id, u32, Index)| (module.word(*id), decorated(module.instruction(*index), *member));
        self.decorations.rows.iter().map(decorated)
    }

    pub(super) fn of<'a>(&'a self, module: &'a Module, word: u32) -> impl Iterator<Item = Decorated<'a>> {
        let found = module.id(word).map_or(&[][..], |id| self.decorations.of(id));
        found.iter().map(move |(_, member, index)| decorated(module.instruction(*index), *member))
    }
}

fn decorated(instruction: Instruction<'_>, member: u32) -> Decorated<'_> {
    let skip = match instruction.op {
        Some(Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT) => 3,
        _ => 2,
    };
    Decorated {
        member: member.checked_sub(1),
        decoration: instruction.words.get(skip).and_then(|word| Decoration::from_word(*word)),
        operands: instruction.words.get(skip + 1..).unwrap_or_default(),
        instruction,
    }
}

/// Debug names of a module.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    module: &'a Module,
}

impl<'a> Names<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        Names { module }
    }

    fn find(&self, word: u32, member: u32) -> Option<String> {
        let annotations = &self.module.annotations;
        let found = annotations.names.of(self.module.id(word)?);
        let (_, _, index) = found.iter().find(|(_, m, _)| *m == member)?;
        let skip = if member == 0 { 2 } else { 3 };
        let (name, _) = string(self.module.instruction(*index).words.get(skip..)?)?;
        Some(name).filter(|n| !n.is_empty())
    }

    /// The debug name of an id.
    pub fn of(&self, word: u32) -> Option<String> {
        self.find(word, 0)
    }

    /// The debug name of a structure's member.
    pub fn of_member(&self, word: u32, member: u32) -> Option<String> {
        self.find(word, member.saturating_add(1))
    }

    /// `%name` or `%12`: how messages call an id.
    pub fn display(&self, word: u32) -> String {
        self.of(word).map_or_else(|| format!("%{word}"), |name| format!("%{name}"))
    }
}
