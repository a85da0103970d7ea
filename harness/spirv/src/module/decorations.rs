//! Decorations and debug names, indexed by target id.

use super::{DenseId, Instruction, InstructionIndex, Module};
use crate::tables::{Decoration, Op};
use crate::words::string;

/// A decoration of an id or of one of its members.
#[derive(Clone, Copy, Debug)]
pub struct DecorationRef<'a> {
    /// Decorated member; `None` if the id itself is decorated.
    pub member: Option<u32>,
    /// The decoration; `None` if the grammar does not define the word.
    pub decoration: Option<Decoration>,
    /// The decoration's own operands.
    pub operands: &'a [u32],
    /// The decorating instruction; for a decoration group, the one that decorates the group.
    pub instruction: Instruction<'a>,
}

/// Decorations and debug names, by target.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    decorations: ByTarget,
    names: ByTarget,
}

/// An id or member that an instruction annotates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Annotation {
    target: DenseId,
    /// Member index plus one; 0 for the id itself.
    member: u32,
    instruction: InstructionIndex,
}

/// Annotating instructions, grouped by the id that they annotate.
#[derive(Debug, Default)]
struct ByTarget {
    /// Sorted entries.
    entries: Vec<Annotation>,
    /// For each id, the index of its first entry, followed by the number of entries. It ends at the
    /// last annotated id. Annotations precede all definitions, so annotated ids have the lowest
    /// dense numbers.
    starts: Vec<u32>,
}

impl ByTarget {
    fn push(&mut self, target: DenseId, member: u32, instruction: InstructionIndex) {
        self.entries.push(Annotation { target, member, instruction });
    }

    fn sort(&mut self) {
        self.entries.sort_unstable();
        self.starts.clear();
        for (i, entry) in self.entries.iter().enumerate() {
            self.starts.resize(self.starts.len().max(entry.target.0 as usize + 1), i as u32);
        }
        self.starts.push(self.entries.len() as u32);
    }

    fn of(&self, id: DenseId) -> &[Annotation] {
        let at = id.0 as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.entries[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

impl Annotations {
    /// Collects the annotations of a module that is complete except for its annotations.
    pub(super) fn collect(module: &Module) -> Annotations {
        let mut all = Annotations::default();
        let mut grouped = Vec::new();
        let early = module.instructions_in(0..module.sections[super::Section::Globals as usize]);
        for instruction in early {
            let Some(op) = instruction.op else { continue };
            let Some(target) = instruction.words.get(1).and_then(|word| module.dense_id(*word)) else { continue };
            let member = instruction.words.get(2).copied().unwrap_or(0).saturating_add(1);
            match op {
                Op::Name => all.names.push(target, 0, instruction.index),
                Op::MemberName => all.names.push(target, member, instruction.index),
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    all.decorations.push(target, 0, instruction.index);
                }
                Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
                    all.decorations.push(target, member, instruction.index);
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
            all.decorations.entries.extend(resolved);
            all.decorations.sort();
        }
        all.names.sort();
        all
    }

    fn resolve_group(&self, module: &Module, instruction: Instruction, resolved: &mut Vec<Annotation>) {
        let [_, group, targets @ ..] = instruction.words else { return };
        let Some(group) = module.dense_id(*group) else { return };
        let group_decorations = self.decorations.of(group);
        let step = if instruction.op == Some(Op::GroupMemberDecorate) { 2 } else { 1 };
        for target in targets.chunks(step) {
            let Some(id) = module.dense_id(target[0]) else { continue };
            let member = target.get(1).map_or(0, |m| m.saturating_add(1));
            // A group cannot be applied to a group, so one pass is enough.
            resolved.extend(group_decorations.iter().map(|entry| Annotation { target: id, member, ..*entry }));
        }
    }

    pub(super) fn all<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = (u32, DecorationRef<'a>)> {
        let entries = self.decorations.entries.iter();
        entries
            .map(|entry| (module.raw_id(entry.target), decorated(module.instruction(entry.instruction), entry.member)))
    }

    pub(super) fn of<'a>(&'a self, module: &'a Module, word: u32) -> impl Iterator<Item = DecorationRef<'a>> {
        let found = module.dense_id(word).map_or(&[][..], |id| self.decorations.of(id));
        found.iter().map(move |entry| decorated(module.instruction(entry.instruction), entry.member))
    }
}

fn decorated(instruction: Instruction<'_>, member: u32) -> DecorationRef<'_> {
    let skip = match instruction.op {
        Some(Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT) => 3,
        _ => 2,
    };
    DecorationRef {
        member: member.checked_sub(1),
        decoration: instruction.words.get(skip).and_then(|word| Decoration::from_word(*word)),
        operands: instruction.words.get(skip + 1..).unwrap_or_default(),
        instruction,
    }
}

/// Debug names of a module.
#[derive(Clone, Copy)]
pub struct DebugNames<'a> {
    module: &'a Module,
}

impl<'a> DebugNames<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        DebugNames { module }
    }

    fn find(&self, word: u32, member: u32) -> Option<String> {
        let annotations = &self.module.annotations;
        let found = annotations.names.of(self.module.dense_id(word)?);
        let entry = found.iter().find(|entry| entry.member == member)?;
        let skip = if member == 0 { 2 } else { 3 };
        let (name, _) = string(self.module.instruction(entry.instruction).words.get(skip..)?)?;
        Some(name).filter(|n| !n.is_empty())
    }

    /// Returns the debug name of an id.
    pub fn of(&self, word: u32) -> Option<String> {
        self.find(word, 0)
    }

    /// Returns the debug name of a structure's member.
    pub fn of_member(&self, word: u32, member: u32) -> Option<String> {
        self.find(word, member.saturating_add(1))
    }

    /// Returns the name of an id for messages: `%name`, or `%12` if it has no debug name.
    pub fn display(&self, word: u32) -> String {
        self.of(word).map_or_else(|| format!("%{word}"), |name| format!("%{name}"))
    }
}
