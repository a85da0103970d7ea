//! Writes the modules of programs as text that can be read and assembled.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};

/// A compute shader that is being written. Types and constants are declared when they are first asked for.
#[derive(Debug)]
pub struct Shader {
    version: &'static str,
    capabilities: BTreeSet<String>,
    extensions: BTreeSet<String>,
    addressing: &'static str,
    glsl: bool,
    modes: String,
    interface: Vec<String>,
    decorations: String,
    /// Declarations in order, and their ids by what they declare.
    globals: String,
    made: BTreeMap<String, String>,
    body: String,
    ids: u32,
    local: [u32; 3],
    /// Of a kernel: its parameters' types and ids.
    parameters: Option<Vec<(String, String)>>,
    /// Functions beside the entry point.
    functions: String,
}

/// Whether an integer type is signed: it is.
pub const SIGNED: bool = true;
/// Whether an integer type is signed: it is not.
pub const UNSIGNED: bool = false;

impl Shader {
    /// An empty one with workgroups of that size.
    pub fn new(local: [u32; 3]) -> Shader {
        let mut shader = Shader {
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

    /// An empty kernel of OpenCL's kind, with workgroups of that size, and addresses of 32 or 64 bits.
    pub fn kernel(local: [u32; 3], wide: bool) -> Shader {
        let mut shader = Shader::new(local);
        shader.capabilities = BTreeSet::from(["Addresses".to_owned(), "Kernel".to_owned()]);
        shader.addressing = if wide { "Physical64 OpenCL" } else { "Physical32 OpenCL" };
        shader.parameters = Some(Vec::new());
        shader
    }

    /// A parameter of a kernel.
    pub fn parameter(&mut self, ty: &str) -> String {
        let id = self.fresh();
        self.parameters.get_or_insert_default().push((ty.to_owned(), id.clone()));
        id
    }

    /// A whole function beside the entry point, `OpFunction` to `OpFunctionEnd`.
    pub fn function(&mut self, text: impl Display) {
        _ = writeln!(self.functions, "{text}");
    }

    /// Of another version than 1.3, in which all interface variables need not be listed.
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

    /// Sets addressing and memory model.
    pub fn memory_model(&mut self, model: &'static str) {
        self.addressing = model;
    }

    /// Adds an execution mode of the entry point.
    pub fn mode(&mut self, text: &str) {
        _ = writeln!(self.modes, "OpExecutionMode %main {text}");
    }

    /// The id of GLSL.std.450.
    pub fn glsl(&mut self) -> &'static str {
        self.glsl = true;
        "%glsl"
    }

    /// Adds a decoration: `%block Block`.
    pub fn decorate(&mut self, text: impl Display) {
        _ = writeln!(self.decorations, "OpDecorate {text}");
    }

    /// Adds a decoration of a member: `%block 0 Offset 4`.
    pub fn decorate_member(&mut self, text: impl Display) {
        _ = writeln!(self.decorations, "OpMemberDecorate {text}");
    }

    fn fresh(&mut self) -> String {
        self.ids += 1;
        format!("%{}", self.ids)
    }

    /// The id of a declaration; the same text gives the same id.
    pub fn declare(&mut self, text: &str) -> String {
        if let Some(id) = self.made.get(text) {
            return id.clone();
        }
        let id = self.declare_new(text);
        self.made.insert(text.to_owned(), id.clone());
        id
    }

    /// The id of a declaration of its own.
    pub fn declare_new(&mut self, text: &str) -> String {
        let id = self.fresh();
        _ = writeln!(self.globals, "{id} = {text}");
        id
    }

    /// An integer type, with the capability of its width; of 8 bits without, as storage needs none of Int8.
    pub fn int(&mut self, width: u32, signed: bool) -> String {
        match width {
            16 => self.capability("Int16"),
            64 => self.capability("Int64"),
            _ => {}
        }
        self.storage_int(width, signed)
    }

    /// An integer type that is only stored: it brings no capability for its width.
    pub fn storage_int(&mut self, width: u32, signed: bool) -> String {
        self.declare(&format!("OpTypeInt {width} {}", u32::from(signed)))
    }

    /// The unsigned integer of 32 bits.
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

    /// The type itself, or a vector of it.
    pub fn vector(&mut self, component: &str, count: u32) -> String {
        match count {
            1 => component.to_owned(),
            _ => self.declare(&format!("OpTypeVector {component} {count}")),
        }
    }

    /// An array with a stride, which belongs to buffers; of another stride it is another type.
    pub fn array(&mut self, element: &str, count: u32, stride: Option<u32>) -> String {
        let length = self.constant_u32(count);
        let key = format!("array {element} {count} {stride:?}");
        self.strided(key, &format!("OpTypeArray {element} {length}"), stride)
    }

    /// An array whose length is the buffer's.
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

    /// A structure for buffers: types of members and their offsets. The same again is the same type.
    pub fn structure(&mut self, members: &[(String, u32)]) -> String {
        let key = format!("struct {members:?}");
        if let Some(id) = self.made.get(&key) {
            return id.clone();
        }
        let id = self.structure_new(members);
        self.made.insert(key, id.clone());
        id
    }

    fn structure_new(&mut self, members: &[(String, u32)]) -> String {
        let types: Vec<&str> = members.iter().map(|(ty, _)| ty.as_str()).collect();
        let id = self.declare_new(&format!("OpTypeStruct {}", types.join(" ")));
        for (i, (_, offset)) in members.iter().enumerate() {
            self.decorate_member(format!("{id} {i} Offset {offset}"));
        }
        id
    }

    /// A block of its own.
    pub fn block(&mut self, members: &[(String, u32)], decoration: &str) -> String {
        let id = self.structure_new(members);
        self.decorate(format!("{id} {decoration}"));
        id
    }

    /// A pointer type.
    pub fn pointer(&mut self, class: &str, to: &str) -> String {
        self.declare(&format!("OpTypePointer {class} {to}"))
    }

    /// A variable of a storage class.
    pub fn variable(&mut self, class: &str, ty: &str) -> String {
        let pointer = self.pointer(class, ty);
        let id = self.declare_new(&format!("OpVariable {pointer} {class}"));
        if self.version != "1.3" {
            self.interface.push(id.clone());
        }
        id
    }

    /// A buffer or other resource of set 0.
    pub fn resource(&mut self, class: &str, ty: &str, binding: u32) -> String {
        let id = self.variable(class, ty);
        self.decorate(format!("{id} DescriptorSet 0"));
        self.decorate(format!("{id} Binding {binding}"));
        id
    }

    /// A built-in input: its variable.
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

    /// A constant: `value` as `OpConstant` takes it.
    pub fn constant(&mut self, ty: &str, value: impl Display) -> String {
        self.declare(&format!("OpConstant {ty} {value}"))
    }

    /// An unsigned constant of 32 bits.
    pub fn constant_u32(&mut self, value: u32) -> String {
        let ty = self.u32();
        self.constant(&ty, value)
    }

    /// An instruction with a result: `op` without the result type.
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

    /// Says what follows, for whoever reads the text.
    pub fn comment(&mut self, text: impl Display) {
        _ = writeln!(self.body, "; {text}");
    }

    /// A pointer into a variable: `indices` are ids.
    pub fn access(&mut self, class: &str, to: &str, base: &str, indices: &[&str]) -> String {
        let pointer = self.pointer(class, to);
        self.op(&pointer, "OpAccessChain", format_args!("{base} {}", indices.join(" ")))
    }

    /// The invocation's global index along x.
    pub fn global_x(&mut self) -> String {
        self.builtin_component("GlobalInvocationId", 0)
    }

    /// A component of a built-in of three unsigned integers.
    pub fn builtin_component(&mut self, name: &str, component: u32) -> String {
        let u32 = self.u32();
        let v3 = self.vector(&u32, 3);
        let variable = self.builtin(name, &v3);
        let ids = self.op(&v3, "OpLoad", variable);
        self.op(&u32, "OpCompositeExtract", format_args!("{ids} {component}"))
    }

    /// The text of the module.
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
