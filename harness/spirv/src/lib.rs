//! SPIR-V grammar tables, text, module and environment rules.
