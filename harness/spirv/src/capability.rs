//! Capabilities that a module declares.

use crate::Module;
use crate::grammar::Kind;
use crate::module::Section;
use crate::tables::{Capability, Op};

impl Capability {
    /// Returns the capabilities that it declares implicitly, without those that they declare in
    /// turn.
    pub fn implicitly_declared(self) -> &'static [Capability] {
        Kind::Capability.enumerant(self.word()).map_or(&[], |row| row.capabilities)
    }

    /// Returns whether its declaration also declares `wanted`.
    fn declares(self, wanted: Capability) -> bool {
        self == wanted || self.implicitly_declared().iter().any(|implied| implied.declares(wanted))
    }
}

impl Module {
    /// Returns whether a capability is declared, explicitly or implicitly.
    pub fn declares(&self, wanted: Capability) -> bool {
        let declarations = self.section(Section::Capabilities).filter(|i| i.op == Some(Op::Capability));
        let mut declared = declarations.filter_map(|i| Capability::from_word(i.operand(0)?));
        declared.any(|capability| capability.declares(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_declare_others_through_several_steps() {
        let text = "OpCapability ClipDistance\nOpMemoryModel Logical GLSL450\n";
        let module = Module::parse(crate::assemble(text).unwrap()).unwrap();
        for declared in [Capability::ClipDistance, Capability::Shader, Capability::Matrix] {
            assert!(module.declares(declared), "{declared}");
        }
        assert!(!module.declares(Capability::GroupNonUniform));
    }
}
