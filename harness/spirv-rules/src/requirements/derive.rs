//! Derivation of a module's device requirements.

use std::collections::HashSet;

use super::derivation::{Derivation, api, capability_needs, enabled_by, extension, feature, property};
use super::stages::FirstUses;
use super::{Condition, PropertyCondition, RequirementItem, Requirements};
use crate::rules::LISTED_BY_EXTENSION;
use assay_spirv::grammar::{self, Version};
use assay_spirv::module::{Instruction, Module, Section, Type, TypeId};
use assay_spirv::reflect::{self, EntryPointUses, Modes};
use assay_spirv::tables::{Capability, Decoration, Dim, ExecutionMode, ExecutionModel, ImageFormat, Op, StorageClass};

impl Requirements {
    /// Returns the device requirements of a module.
    pub fn of(module: &Module) -> Requirements {
        let mut derive = Derivation::new(module);
        derive.version();
        derive.capabilities();
        derive.extensions();
        let (modes, firsts) = (Modes::new(module), FirstUses::of(module));
        for usage in reflect::static_uses(module) {
            derive.entry_point(&usage, &modes, &firsts);
        }
        for instruction in module.section(Section::Globals) {
            derive.global(instruction);
            derive.type_limits(instruction);
            derive.unsized_uniform(instruction);
            derive.block_layout(instruction);
        }
        derive.fast_math_decorations();
        derive.physical_pointers();
        for instruction in module.section(Section::Functions) {
            derive.body(instruction);
        }
        let mut items = derive.items;
        items.sort_by_key(|item| item.at);
        items.dedup_by(|b, a| a.expression == b.expression && a.imposed_by == b.imposed_by);
        Requirements { items }
    }
}

impl Requirements {
    /// Returns the device requirements of a capability; empty if every device supports it.
    pub fn of_capability(capability: Capability) -> Requirements {
        let item = capability_needs(capability).map(|expression| RequirementItem {
            expression,
            imposed_by: format!("capability {capability}"),
            rule: None,
            at: 0,
        });
        Requirements { items: item.into_iter().collect() }
    }
}

fn any(names: &[&'static str]) -> Condition {
    Condition::Any(names.iter().map(|name| feature(name)).collect())
}

/// Workgroup limits with their rules: x, y, z, and the number of invocations.
const WORKGROUP_LIMITS: [(&str, &str); 4] = [
    ("maxComputeWorkGroupSizeX", "VUID-RuntimeSpirv-x-06429"),
    ("maxComputeWorkGroupSizeY", "VUID-RuntimeSpirv-y-06430"),
    ("maxComputeWorkGroupSizeZ", "VUID-RuntimeSpirv-z-06431"),
    ("maxComputeWorkGroupInvocations", "VUID-RuntimeSpirv-x-06432"),
];

impl Derivation<'_> {
    fn version(&mut self) {
        let version = self.module.version();
        let needs = match (version.major, version.minor) {
            (1, 0) => return,
            (1, 1..=3) => api(1),
            (1, 4) => Condition::Any(vec![api(2), extension("VK_KHR_spirv_1_4")]),
            (1, 5) => api(2),
            (1, 6) => api(3),
            _ => Condition::Unsatisfiable(format!(
                "a newer version of Vulkan than 1.4, which supports SPIR-V up to {}",
                Version::NEWEST
            )),
        };
        self.push(1, format!("SPIR-V {version}"), None, needs);
    }

    fn capabilities(&mut self) {
        let module = self.module;
        for instruction in module.section(Section::Capabilities).filter(|i| i.op == Some(Op::Capability)) {
            let Some(word) = instruction.operand(0) else { continue };
            let Some(capability) = Capability::from_word(word) else {
                let why = Condition::Unsatisfiable("a newer grammar: the tables do not define it".to_owned());
                self.push(instruction.at, format!("capability {word}"), None, why);
                continue;
            };
            let (unlisted, brought_by) = LISTED_BY_EXTENSION;
            let mut extensions = module.section(Section::Extensions).map(|i| module.string_at(i, 0));
            // The requirements of the extension are added at its declaration.
            if capability == unlisted && extensions.any(|name| name == brought_by) {
                continue;
            }
            let Some(needs) = capability_needs(capability) else { continue };
            self.push(instruction.at, format!("capability {capability}"), None, needs);
        }
    }

    fn extensions(&mut self) {
        let module = self.module;
        for instruction in module.section(Section::Extensions) {
            let name = module.string_at(instruction, 0);
            let needs = match grammar::extension_conditions(&name) {
                Some(ways) => enabled_by(ways),
                None => Condition::Unsatisfiable("an API other than Vulkan, which does not list it".to_owned()),
            };
            self.push(instruction.at, format!("extension {name}"), None, needs);
        }
    }

    fn entry_point(&mut self, usage: &EntryPointUses, all: &Modes, firsts: &FirstUses) {
        let modes = all.of(usage.function);
        self.float_controls(modes);
        self.fast_math_defaults(modes);
        for mode in modes {
            match (mode.mode, &mode.operands[..]) {
                (Some(ExecutionMode::LocalSizeId), _) => {
                    let rule = Some("VUID-RuntimeSpirv-LocalSizeId-06434");
                    self.push(mode.at, "execution mode LocalSizeId".to_owned(), rule, feature("maintenance4"));
                }
                (Some(ExecutionMode::TileShadingRateQCOM), rate @ [_, _, _]) => {
                    let limits = [
                        ("maxTileShadingRateX", "VUID-RuntimeSpirv-x-10702"),
                        ("maxTileShadingRateY", "VUID-RuntimeSpirv-y-10703"),
                    ];
                    for (i, (limit, rule)) in limits.into_iter().enumerate() {
                        let imposed_by = format!("tile shading rate {} in {}", rate[i], ["x", "y"][i]);
                        self.push(
                            mode.at,
                            imposed_by,
                            Some(rule),
                            property(limit, PropertyCondition::AtLeast(u64::from(rate[i]))),
                        );
                    }
                }
                (Some(ExecutionMode::SubgroupUniformControlFlowKHR), _) => {
                    let rule = Some("VUID-RuntimeSpirv-SubgroupUniformControlFlowKHR-06379");
                    self.push(
                        mode.at,
                        "execution mode SubgroupUniformControlFlowKHR".to_owned(),
                        rule,
                        feature("shaderSubgroupUniformControlFlow"),
                    );
                }
                _ => {}
            }
        }
        if usage.model == Some(ExecutionModel::GLCompute) {
            self.workgroup(usage, all);
        }
        self.stages(usage, firsts);
    }

    fn workgroup(&mut self, usage: &EntryPointUses, modes: &Modes) {
        let at = self.module.definition_of(usage.function).map_or(0, |d| d.at);
        if let Some(found) = modes.workgroup_size(self.module, usage.function) {
            let product = found.size.iter().fold(1u64, |product, n| product.saturating_mul(u64::from(*n)));
            let [x, y, z] = found.size.map(u64::from);
            for ((name, rule), size) in WORKGROUP_LIMITS.into_iter().zip([x, y, z, product]) {
                // Every device reports these limits, so common sizes add requirements that always
                // hold.
                let imposed_by = format!("workgroup size {x} x {y} x {z}");
                self.push(at, imposed_by, Some(rule), property(name, PropertyCondition::AtLeast(size)));
            }
        }
        let mut layouts = reflect::Layouts::new(self.module);
        let (mut shared, mut pushed) = (0u64, 0u64);
        for id in &usage.globals {
            match reflect::variable(self.module, self.module.raw_id(*id)) {
                Some((StorageClass::Workgroup, ty)) => shared = shared.saturating_add(layouts.type_layout(ty).size()),
                Some((StorageClass::PushConstant, ty)) => pushed = pushed.max(layouts.type_layout(ty).size()),
                _ => {}
            }
        }
        if shared > 0 {
            let needs = property("maxComputeSharedMemorySize", PropertyCondition::AtLeast(shared));
            self.push(
                at,
                format!("{shared} bytes of workgroup memory"),
                Some("VUID-RuntimeSpirv-Workgroup-06530"),
                needs,
            );
        }
        if pushed > 0 {
            let needs = property("maxPushConstantsSize", PropertyCondition::AtLeast(pushed));
            self.push(at, format!("{pushed} bytes of push constants"), None, needs);
        }
    }

    /// Adds the requirements of a variable that follow from its type.
    fn global(&mut self, instruction: Instruction) {
        let module = self.module;
        let Some(word) = instruction.result() else { return };
        let Some((class, ty)) = reflect::variable(module, word) else { return };
        let name = module.names().display(word);
        if class == StorageClass::Workgroup && instruction.operand(1).is_some() {
            let rule = Some("VUID-RuntimeSpirv-shaderZeroInitializeWorkgroupMemory-06372");
            let needs = feature("shaderZeroInitializeWorkgroupMemory");
            self.push(instruction.at, format!("initializer of Workgroup {name}"), rule, needs);
        }
        if let Some(width) = self.narrowest(ty) {
            self.narrow_storage(instruction.at, &name, class, width, ty);
        }
        let (element, _) = reflect::elements(module, ty);
        let Type::Image(image) = module.ty(element) else { return };
        if image.sampled == 2 && image.format == Some(ImageFormat::Unknown) && image.dim != Some(Dim::SubpassData) {
            let unformatted = |feature_name| {
                Condition::Any(vec![api(3), extension("VK_KHR_format_feature_flags2"), feature(feature_name)])
            };
            if !reflect::has_decoration(module, word, Decoration::NonWritable) {
                let rule = Some("VUID-RuntimeSpirv-apiVersion-07954");
                let imposed_by = format!("writable storage image {name} without a format");
                self.push(instruction.at, imposed_by, rule, unformatted("shaderStorageImageWriteWithoutFormat"));
            }
            if !reflect::has_decoration(module, word, Decoration::NonReadable) {
                let rule = Some("VUID-RuntimeSpirv-apiVersion-07955");
                let imposed_by = format!("readable storage image {name} without a format");
                self.push(instruction.at, imposed_by, rule, unformatted("shaderStorageImageReadWithoutFormat"));
            }
        }
    }

    /// Adds the requirements of physical pointers that follow from their pointees. Types without a
    /// pointer in a function are not accessed.
    fn physical_pointers(&mut self) {
        let module = self.module;
        let mut seen = HashSet::new();
        for instruction in module.section(Section::Functions) {
            let Some(word) = instruction.result_type() else { continue };
            let Some(ty) = module.type_declared(word).filter(|ty| seen.insert(*ty)) else { continue };
            let Type::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee: Some(pointee) } = *module.ty(ty)
            else {
                continue;
            };
            if let Some(width) = self.narrowest(pointee) {
                let name = module.names().display(word);
                self.narrow_storage(instruction.at, &name, StorageClass::PhysicalStorageBuffer, width, pointee);
            }
        }
    }

    /// Returns the width of the narrowest number in a type, if it is below 32 bits.
    fn narrowest(&self, ty: TypeId) -> Option<u32> {
        let mut seen = HashSet::new();
        let mut waiting = vec![ty];
        let mut narrowest = None;
        while let Some(ty) = waiting.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match *self.module.ty(ty) {
                Type::Int { width, .. } | Type::Float { width, .. } if width < 32 => {
                    narrowest = Some(narrowest.unwrap_or(width).min(width));
                }
                Type::Vector { component: inner, .. }
                | Type::Matrix { column: inner, .. }
                | Type::Array { element: inner, .. }
                | Type::RuntimeArray { element: inner } => waiting.push(inner),
                Type::Struct { .. } => waiting.extend(self.module.members(ty)),
                _ => {}
            }
        }
        narrowest
    }

    fn narrow_storage(&mut self, at: usize, name: &str, class: StorageClass, width: u32, ty: TypeId) {
        let imposed_by = format!("{width}-bit values in {class} {name}");
        if class == StorageClass::Workgroup && self.has_block(ty) {
            if let Some((needs, rule)) = self.narrow_workgroup(width) {
                self.push(at, imposed_by, Some(rule), needs);
            }
            return;
        }
        let buffer = matches!(
            class,
            StorageClass::StorageBuffer | StorageClass::ShaderRecordBufferKHR | StorageClass::PhysicalStorageBuffer
        ) || (class == StorageClass::Uniform && self.is_buffer_block(ty));
        let (features, rule) = match (class, width) {
            (_, 8) if buffer => (&["storageBuffer8BitAccess"][..], "VUID-RuntimeSpirv-storageBuffer8BitAccess-06328"),
            (StorageClass::Uniform, 8) => (
                &["uniformAndStorageBuffer8BitAccess"][..],
                "VUID-RuntimeSpirv-uniformAndStorageBuffer8BitAccess-06329",
            ),
            (StorageClass::PushConstant, 8) => {
                (&["storagePushConstant8"][..], "VUID-RuntimeSpirv-storagePushConstant8-06330")
            }
            (_, 16) if buffer => (
                &["storageBuffer16BitAccess", "storageBuffer8BitAccess"][..],
                "VUID-RuntimeSpirv-storageBuffer16BitAccess-11161",
            ),
            (StorageClass::Uniform, 16) => (
                &["uniformAndStorageBuffer16BitAccess", "uniformAndStorageBuffer8BitAccess"][..],
                "VUID-RuntimeSpirv-uniformAndStorageBuffer16BitAccess-06332",
            ),
            (StorageClass::PushConstant, 16) => (
                &["storagePushConstant16", "storagePushConstant8"][..],
                "VUID-RuntimeSpirv-storagePushConstant16-06333",
            ),
            (StorageClass::Input | StorageClass::Output, 16) => {
                (&["storageInputOutput16"][..], "VUID-RuntimeSpirv-storageInputOutput16-11162")
            }
            _ => return,
        };
        self.push(at, imposed_by, Some(rule), any(features));
    }
}
