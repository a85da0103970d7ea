//! Builder of SPIR-V modules in text form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

/// A compute shader under construction. Types and constants are declared at their first use.
#[derive(Debug)]
pub struct ModuleBuilder {
    version: &'static str,
    capabilities: BTreeSet<String>,
    extensions: BTreeSet<String>,
    addressing: &'static str,
    glsl: bool,
    modes: String,
    interface: Vec<String>,
    decorations: String,
    /// Text of the declarations in order, and the ids of those that are shared, by key.
    globals: String,
    made: BTreeMap<String, String>,
    body: String,
    ids: u32,
    local: [u32; 3],
    /// Types and ids of a kernel's parameters; `None` for a shader.
    parameters: Option<Vec<(String, String)>>,
    /// Text of the functions other than the entry point.
    functions: String,
}

/// Signedness of a signed integer type.
pub const SIGNED: bool = true;
/// Signedness of an unsigned integer type.
pub const UNSIGNED: bool = false;

impl ModuleBuilder {
    /// An empty shader with this workgroup size.
    pub fn new(local: [u32; 3]) -> ModuleBuilder {
        let mut shader = ModuleBuilder {
            version: "1.3",
            capabilities: BTreeSet::new(),
            extensions: BTreeSet::new(),
            addressing: "Logical GLSL450",
            glsl: false,
            modes: String::new(),
            interface: Vec::new(),
            decorations: String::new(),
            globals: String::new(),
            made: BTreeMap::new(),
            body: String::new(),
            ids: 0,
            local,
            parameters: None,
            functions: String::new(),
        };
        shader.capability("Shader");
        shader
    }

    /// An empty OpenCL kernel with this workgroup size and 32- or 64-bit addresses.
    pub fn kernel(local: [u32; 3], wide: bool) -> ModuleBuilder {
        let mut shader = ModuleBuilder::new(local);
        shader.capabilities = BTreeSet::from(["Addresses".to_owned(), "Kernel".to_owned()]);
        shader.addressing = if wide { "Physical64 OpenCL" } else { "Physical32 OpenCL" };
        shader.parameters = Some(Vec::new());
        shader
    }

    /// Adds a parameter to a kernel.
    pub fn parameter(&mut self, ty: &str) -> String {
        let id = self.fresh();
        self.parameters.get_or_insert_default().push((ty.to_owned(), id.clone()));
        id
    }

    /// Adds a complete function, from `OpFunction` to `OpFunctionEnd`.
    pub fn function(&mut self, text: impl Display) {
        _ = writeln!(self.functions, "{text}");
    }

    /// Sets a SPIR-V version other than 1.3. All global variables are then listed in the entry
    /// point's interface.
    pub fn version(&mut self, version: &'static str) {
        self.version = version;
    }

    /// Declares a capability.
    pub fn capability(&mut self, name: &str) {
        self.capabilities.insert(name.to_owned());
    }

    /// Declares an extension.
    pub fn extension(&mut self, name: &str) {
        self.extensions.insert(name.to_owned());
    }

    /// Sets the addressing and memory models.
    pub fn memory_model(&mut self, model: &'static str) {
        self.addressing = model;
    }

    /// Adds an execution mode of the entry point.
    pub fn mode(&mut self, text: &str) {
        _ = writeln!(self.modes, "OpExecutionMode %main {text}");
    }

    /// Imports GLSL.std.450 and returns its id.
    pub fn glsl(&mut self) -> &'static str {
        self.glsl = true;
        "%glsl"
    }

    /// Adds a decoration: `%block Block`.
    pub fn decorate(&mut self, text: impl Display) {
        _ = writeln!(self.decorations, "OpDecorate {text}");
    }

    /// Adds a member decoration: `%block 0 Offset 4`.
    pub fn decorate_member(&mut self, text: impl Display) {
        _ = writeln!(self.decorations, "OpMemberDecorate {text}");
    }

    fn fresh(&mut self) -> String {
        self.ids += 1;
        format!("%{}", self.ids)
    }

    /// Returns the id of a declaration; equal texts share one id.
    pub fn declare(&mut self, text: &str) -> String {
        if let Some(id) = self.made.get(text) {
            return id.clone();
        }
        let id = self.declare_new(text);
        self.made.insert(text.to_owned(), id.clone());
        id
    }

    /// Adds a declaration with an id of its own.
    pub fn declare_new(&mut self, text: &str) -> String {
        let id = self.fresh();
        _ = writeln!(self.globals, "{id} = {text}");
        id
    }

    /// An integer type, with the capability of its width. For 8 bits `Int8` is not declared,
    /// because storage does not require it.
    pub fn int(&mut self, width: u32, signed: bool) -> String {
        match width {
            16 => self.capability("Int16"),
            64 => self.capability("Int64"),
            _ => {}
        }
        self.storage_int(width, signed)
    }

    /// An integer type that is only stored, without the capability of its width.
    pub fn storage_int(&mut self, width: u32, signed: bool) -> String {
        self.declare(&format!("OpTypeInt {width} {}", u32::from(signed)))
    }

    /// The 32-bit unsigned integer type.
    pub fn u32(&mut self) -> String {
        self.int(32, UNSIGNED)
    }

    /// A floating-point type, with the capability of its width.
    pub fn float(&mut self, width: u32) -> String {
        match width {
            16 => self.capability("Float16"),
            64 => self.capability("Float64"),
            _ => {}
        }
        self.declare(&format!("OpTypeFloat {width}"))
    }

    /// The boolean type.
    pub fn bool(&mut self) -> String {
        self.declare("OpTypeBool")
    }

    /// A vector type; for a count of 1, the component type.
    pub fn vector(&mut self, component: &str, count: u32) -> String {
        match count {
            1 => component.to_owned(),
            _ => self.declare(&format!("OpTypeVector {component} {count}")),
        }
    }

    /// An array type. Arrays with different strides are different types; `None` is for memory
    /// without explicit layout.
    pub fn array(&mut self, element: &str, count: u32, stride: Option<u32>) -> String {
        let length = self.constant_u32(count);
        let key = format!("array {element} {count} {stride:?}");
        self.strided(key, &format!("OpTypeArray {element} {length}"), stride)
    }

    /// A runtime array type.
    pub fn runtime_array(&mut self, element: &str, stride: u32) -> String {
        let key = format!("runtime {element} {stride}");
        self.strided(key, &format!("OpTypeRuntimeArray {element}"), Some(stride))
    }

    fn strided(&mut self, key: String, text: &str, stride: Option<u32>) -> String {
        if let Some(id) = self.made.get(&key) {
            return id.clone();
        }
        let id = self.declare_new(text);
        if let Some(stride) = stride {
            self.decorate(format!("{id} ArrayStride {stride}"));
        }
        self.made.insert(key, id.clone());
        id
    }

    /// A structure type with explicit layout, from its members' types and offsets. Equal structures
    /// share one id.
    pub fn structure(&mut self, members: &[(String, u32)]) -> String {
        let key = format!("struct {members:?}");
        if let Some(id) = self.made.get(&key) {
            return id.clone();
        }
        let id = self.structure_new(members);
        self.made.insert(key, id.clone());
        id
    }

    /// A structure type with explicit layout and an id of its own.
    pub fn structure_new(&mut self, members: &[(String, u32)]) -> String {
        let types: Vec<&str> = members.iter().map(|(ty, _)| ty.as_str()).collect();
        let id = self.declare_new(&format!("OpTypeStruct {}", types.join(" ")));
        for (i, (_, offset)) in members.iter().enumerate() {
            self.decorate_member(format!("{id} {i} Offset {offset}"));
        }
        id
    }

    /// A block type with an id of its own.
    pub fn block(&mut self, members: &[(String, u32)], decoration: &str) -> String {
        let id = self.structure_new(members);
        self.decorate(format!("{id} {decoration}"));
        id
    }

    /// A pointer type.
    pub fn pointer(&mut self, class: &str, to: &str) -> String {
        self.declare(&format!("OpTypePointer {class} {to}"))
    }

    /// A variable in a storage class.
    pub fn variable(&mut self, class: &str, ty: &str) -> String {
        self.initialised_variable(class, ty, "")
    }

    /// A variable in a storage class with this constant as its first value; empty for none.
    pub fn initialised_variable(&mut self, class: &str, ty: &str, value: &str) -> String {
        let pointer = self.pointer(class, ty);
        let id = self.declare_new(format!("OpVariable {pointer} {class} {value}").trim_end());
        if self.version != "1.3" {
            self.interface.push(id.clone());
        }
        id
    }

    /// A variable bound at `binding` of set 0.
    pub fn resource(&mut self, class: &str, ty: &str, binding: u32) -> String {
        let id = self.variable(class, ty);
        self.decorate(format!("{id} DescriptorSet 0"));
        self.decorate(format!("{id} Binding {binding}"));
        id
    }

    /// The variable of a built-in input.
    pub fn builtin(&mut self, name: &str, ty: &str) -> String {
        let key = format!("builtin {name}");
        if let Some(id) = self.made.get(&key) {
            return id.clone();
        }
        let pointer = self.pointer("Input", ty);
        let id = self.declare_new(&format!("OpVariable {pointer} Input"));
        self.decorate(format!("{id} BuiltIn {name}"));
        self.interface.push(id.clone());
        self.made.insert(key, id.clone());
        id
    }

    /// A constant; `value` is the literal of `OpConstant`.
    pub fn constant(&mut self, ty: &str, value: impl Display) -> String {
        self.declare(&format!("OpConstant {ty} {value}"))
    }

    /// A 32-bit unsigned constant.
    pub fn constant_u32(&mut self, value: u32) -> String {
        let ty = self.u32();
        self.constant(&ty, value)
    }

    /// An instruction with a result; returns the result's id.
    pub fn op(&mut self, ty: &str, op: &str, operands: impl Display) -> String {
        let id = self.fresh();
        _ = writeln!(self.body, "{id} = {op} {ty} {operands}");
        id
    }

    /// An instruction without a result.
    pub fn run(&mut self, text: impl Display) {
        _ = writeln!(self.body, "{text}");
    }

    /// A new id, for a label.
    pub fn label(&mut self) -> String {
        self.fresh()
    }

    /// Adds a comment to the text.
    pub fn comment(&mut self, text: impl Display) {
        _ = writeln!(self.body, "; {text}");
    }

    /// Emits an access chain from `base`; `indices` are ids. Returns the pointer to an object of
    /// type `to`.
    pub fn access(&mut self, class: &str, to: &str, base: &str, indices: &[&str]) -> String {
        let pointer = self.pointer(class, to);
        self.op(&pointer, "OpAccessChain", format_args!("{base} {}", indices.join(" ")))
    }

    /// The x component of `GlobalInvocationId`.
    pub fn global_x(&mut self) -> String {
        self.builtin_component("GlobalInvocationId", 0)
    }

    /// A component of a built-in vector of three unsigned integers.
    pub fn builtin_component(&mut self, name: &str, component: u32) -> String {
        let u32 = self.u32();
        let v3 = self.vector(&u32, 3);
        let variable = self.builtin(name, &v3);
        let ids = self.op(&v3, "OpLoad", variable);
        self.op(&u32, "OpCompositeExtract", format_args!("{ids} {component}"))
    }

    /// Assembles the text of the module.
    pub fn finish(mut self) -> String {
        let void = self.declare("OpTypeVoid");
        let parameters = self.parameters.take();
        let types: Vec<&str> = parameters.iter().flatten().map(|(ty, _)| ty.as_str()).collect();
        let function = self.declare(format!("OpTypeFunction {void} {}", types.join(" ")).trim_end());
        let start = self.fresh();
        let [x, y, z] = self.local;
        let mut text = format!("; SPIR-V\n; Version: {}\n", self.version);
        for capability in &self.capabilities {
            _ = writeln!(text, "OpCapability {capability}");
        }
        for extension in &self.extensions {
            _ = writeln!(text, "OpExtension \"{extension}\"");
        }
        if self.glsl {
            text += "%glsl = OpExtInstImport \"GLSL.std.450\"\n";
        }
        _ = writeln!(text, "OpMemoryModel {}", self.addressing);
        let model = if parameters.is_some() { "Kernel" } else { "GLCompute" };
        _ = writeln!(text, "OpEntryPoint {model} %main \"main\" {}", self.interface.join(" "));
        _ = writeln!(text, "OpExecutionMode %main LocalSize {x} {y} {z}");
        text += &self.modes;
        text += &self.decorations;
        text += &self.globals;
        _ = writeln!(text, "%main = OpFunction {void} None {function}");
        for (ty, id) in parameters.iter().flatten() {
            _ = writeln!(text, "{id} = OpFunctionParameter {ty}");
        }
        _ = writeln!(text, "{start} = OpLabel");
        text += &self.body;
        text += "OpReturn\nOpFunctionEnd\n";
        text += &self.functions;
        text
    }
}
